//! What a call in the code of a module is: of a listed method, of an awaiter, or nothing of
//! interest.

use crate::il::code;
use crate::lists::{ObjectPosition, Operation, is_awaiter};
use crate::metadata::{Import, MemberRef, table};
use crate::order::event;
use crate::profiling::MetadataToken;
use crate::session::session;
use crate::signature::{self, MethodSignature, TypeArguments};

/// A call that is of interest.
#[derive(Clone)]
pub struct WatchedCall {
    /// `System.Collections.Generic.List`1.Add`.
    pub callee: String,
    pub class: String,
    pub what: CallKind,
    pub is_constructor: bool,
    pub method: MethodSignature,
    /// The type of what the method is called on.
    pub this: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    Point(Operation),
    /// `IsCompleted` of an awaiter, of a `Task` or of a `ValueTask`.
    Completed {
        of_value: bool,
    },
    /// It orders what comes before and after it.
    Orders(Orders),
    /// It is given a delegate that is called as a new piece of work. Whether it gives the task that
    /// does that.
    Starts(StartedWork),
    /// It calls what nobody knows before it runs. Why that is no point.
    Unseen(&'static str),
}

/// What a call does to the order of others (see `order`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// Told before the call, of the object that it is made on or of its first argument.
    Before(u32),
    /// Told after it.
    After(u32),
    /// Told after it, of the same object, if it answers that it has failed; the next event if not.
    AfterAnswer(u32),
    /// Told before it, of no object.
    BeforeAny(u32),
    /// Told after it, of no object.
    AfterAny(u32),
    /// A semaphore, a mutex or a source of a task is made, which means this event if it is made
    /// with nothing else than what this code loads; none: it always does.
    Made { event: u32, code: Option<u16> },
    /// A mutex is made, which its maker owns unless the first argument is false.
    MadeMutexOwned,
    /// A semaphore is waited for, without a limit.
    SemaphoreWaits,
    /// A semaphore is waited for, and the task that the call gives ends when it was got.
    SemaphoreAwaits,
    /// A participant of a barrier signals that it has come to the end of a phase, and waits for the
    /// others.
    PhaseEnds,
    /// It gives the task of the source that it is made on.
    TaskOfSource,
    /// The task that it is made on has been started.
    TaskStarts,
    /// The task that it is made on has ended.
    TaskEnded,
    /// The task that an awaiter, a structure, is of has ended.
    AwaitedEnded,
    /// All tasks of an array have ended.
    AllEnded,
    /// The task that it gives ends after all tasks of an array.
    AllAwaited,
    /// A part of an asynchronous method ends: for good, or it goes on later.
    PartEnds { goes_on: bool },
}

/// What a call that starts a piece of work gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StartedWork {
    /// Nothing that tells what was started.
    Nothing,
    /// The task.
    Task,
    /// The task, which runs after the one that the call is made on.
    Continuation,
}

/// Element types of signatures.
const VOID: u8 = 0x01;
const BOOL: u8 = 0x02;
const CLASS: u8 = 0x12;
const VECTOR: u8 = 0x1D;

impl Orders {
    fn of(class: &str, method: &str, signature: impl FnOnce() -> Option<MethodSignature>) -> Option<Orders> {
        if let Some(class) = class.strip_prefix("System.Threading.Tasks.") {
            Orders::of_task(class, method, &signature()?)
        } else if let Some(class) = class.strip_prefix("System.Threading.") {
            let of = signature()?;
            Orders::of_lock(class, method, &of).or_else(|| Orders::of_event(class, method, &of))
        } else if class == "System.Transactions.TransactionScope" {
            Orders::of_transaction(method)
        } else {
            Orders::of_await(class, method)
        }
    }

    /// A scope must be disposed of by the thread that made it. That is mostly a call of
    /// `IDisposable`, which does not tell whose it is, and code between `Complete` and the end of
    /// the scope may wait. So the thread counts as holding the scope until the thread ends.
    fn of_transaction(method: &str) -> Option<Orders> {
        (method == ".ctor").then_some(Orders::AfterAny(event::HOLDS))
    }

    /// What it does to a lock, a semaphore or a thread.
    fn of_lock(class: &str, method: &str, of: &MethodSignature) -> Option<Orders> {
        let parameters = of.parameters.len();
        Some(match (class, method) {
            ("Monitor", "Enter") => Orders::After(event::LOCKED),
            ("Monitor", "TryEnter") if of.result == [BOOL] => Orders::AfterAnswer(event::TRIED),
            // Whether it was got is in an argument, and it counts as held if it was not.
            ("Monitor", "TryEnter") => Orders::AfterAny(event::HOLDS),
            ("SpinLock", "Enter" | "TryEnter") => Orders::AfterAny(event::HOLDS),
            ("SpinLock", "Exit") => Orders::BeforeAny(event::LETS_GO),
            ("ReaderWriterLock", "AcquireReaderLock" | "AcquireWriterLock" | "RestoreLock") => {
                Orders::AfterAny(event::HOLDS)
            }
            ("ReaderWriterLock", "ReleaseReaderLock" | "ReleaseWriterLock" | "ReleaseLock") => {
                Orders::BeforeAny(event::LETS_GO)
            }
            ("ReaderWriterLockSlim", _) if method.starts_with("TryEnter") => {
                Orders::AfterAnswer(event::TRIED)
            }
            ("Monitor", "Exit") => Orders::Before(event::UNLOCKS),
            ("Mutex", ".ctor") if parameters > 0 => Orders::MadeMutexOwned,
            ("Mutex", ".ctor") => Orders::Made { event: event::MADE_MUTEX, code: None },
            ("Mutex", "ReleaseMutex") => Orders::Before(event::RELEASES_MUTEX),
            ("ReaderWriterLockSlim", "EnterReadLock") => Orders::After(event::READS),
            ("ReaderWriterLockSlim", "EnterUpgradeableReadLock") => Orders::After(event::READS_TO_UPGRADE),
            ("ReaderWriterLockSlim", "EnterWriteLock") => Orders::After(event::WRITES),
            ("ReaderWriterLockSlim", "ExitReadLock") => Orders::Before(event::READ),
            ("ReaderWriterLockSlim", "ExitUpgradeableReadLock") => Orders::Before(event::READ_TO_UPGRADE),
            ("ReaderWriterLockSlim", "ExitWriteLock") => Orders::Before(event::WROTE),
            ("SemaphoreSlim", ".ctor") => Orders::Made { event: event::MADE, code: Some(code::LOAD_ONE) },
            // With a limit they say whether it was got.
            ("SemaphoreSlim", "Wait") if of.result == [VOID] => Orders::SemaphoreWaits,
            ("SemaphoreSlim", "WaitAsync") if of.result.first() == Some(&CLASS) => Orders::SemaphoreAwaits,
            ("SemaphoreSlim", "Release") if parameters == 0 => Orders::Before(event::RELEASES),
            ("SemaphoreSlim", "Release") => Orders::Before(event::RELEASES_SEVERAL),
            ("Thread", "Start") => Orders::Before(event::STARTS),
            // With a limit it says whether the thread has ended.
            ("Thread", "Join") if parameters == 0 => Orders::After(event::JOINED),
            _ => return None,
        })
    }

    /// What it does to an event or a barrier.
    fn of_event(class: &str, method: &str, of: &MethodSignature) -> Option<Orders> {
        Some(match (class, method) {
            ("ManualResetEventSlim" | "EventWaitHandle", "Set") => Orders::Before(event::SETS_BY_CHANCE),
            ("ManualResetEventSlim", "Wait") if of.result == [VOID] => Orders::After(event::WAITED_BY_CHANCE),
            // Also of a `Mutex`, which its class tells.
            ("WaitHandle", "WaitOne") if of.parameters.is_empty() => Orders::After(event::WAITED_BY_CHANCE),
            ("WaitHandle", "WaitOne") => Orders::AfterAnswer(event::WAITED_IN_VAIN),
            // Which mutexes are among the handles is not looked for.
            ("WaitHandle", "WaitAny" | "WaitAll" | "SignalAndWait") => {
                Orders::AfterAny(event::WAITED_FOR_SEVERAL)
            }
            ("CountdownEvent", "Reset") => Orders::Before(event::RESETS),
            ("CountdownEvent", "Signal") => Orders::Before(event::SIGNALS),
            // With a limit it says whether all have signalled.
            ("CountdownEvent", "Wait") if of.result == [VOID] => Orders::After(event::WAITED),
            // With a limit it says whether the others have come.
            ("Barrier", "SignalAndWait") if of.result == [VOID] => Orders::PhaseEnds,
            _ => return None,
        })
    }

    /// What it does to a task or the source of one.
    fn of_task(class: &str, method: &str, of: &MethodSignature) -> Option<Orders> {
        let parameters = of.parameters.len();
        Some(match (class.trim_end_matches("`1"), method) {
            ("Task", "Start") => Orders::TaskStarts,
            ("Task", "Wait" | "get_Result") if of.has_this && parameters == 0 => Orders::TaskEnded,
            ("Task", "WaitAll") if parameters == 1 => Orders::AllEnded,
            ("Task", "WhenAll") if of.parameters.iter().all(|p| p[..1] == [VECTOR]) => Orders::AllAwaited,
            ("TaskCompletionSource", ".ctor") => Orders::Made { event: event::MADE_SOURCE, code: None },
            ("TaskCompletionSource", "get_Task") => Orders::TaskOfSource,
            ("TaskCompletionSource", "SetResult" | "SetException" | "SetCanceled" | "SetFromTask") => {
                Orders::Before(event::SETS)
            }
            ("TaskCompletionSource", _) if method.starts_with("TrySet") => {
                Orders::Before(event::TRIES_TO_SET)
            }
            _ => return None,
        })
    }

    /// What it does to an asynchronous method.
    fn of_await(class: &str, method: &str) -> Option<Orders> {
        Some(match method {
            "GetResult" if is_task_awaiter(class) && session().has_known_enumerators => Orders::AwaitedEnded,
            "SetResult" | "SetException" if is_task_builder(class) => Orders::PartEnds { goes_on: false },
            "AwaitUnsafeOnCompleted" | "AwaitOnCompleted" if is_task_builder(class) => {
                Orders::PartEnds { goes_on: true }
            }
            _ => return None,
        })
    }
}

/// Structures whose first field is the task.
fn is_task_awaiter(class: &str) -> bool {
    let class = class.strip_prefix("System.Runtime.CompilerServices.").unwrap_or_default();
    matches!(
        class,
        "TaskAwaiter"
            | "TaskAwaiter`1"
            | "ConfiguredTaskAwaitable/ConfiguredTaskAwaiter"
            | "ConfiguredTaskAwaitable`1/ConfiguredTaskAwaiter"
    )
}

/// What makes the task of an asynchronous method. Their first field is the task, too.
pub fn is_task_builder(class: &str) -> bool {
    let class = class.strip_prefix("System.Runtime.CompilerServices.").unwrap_or_default();
    matches!(class, "AsyncTaskMethodBuilder" | "AsyncTaskMethodBuilder`1")
}

/// Whether a call of `Task.Run` is given a function that makes a task, and gives a task that ends
/// with that one: `Task.Run(async () => …)`. Neither `Run<Task>(Func<Task>)`, which gives a task of
/// a task, nor a function with another result is that.
pub fn runs_asynchronous(import: Import, call: &WatchedCall) -> bool {
    let name = |coded: u32| {
        let tables = [table::TYPE_DEF, table::TYPE_REF, table::TYPE_SPEC];
        let token = tables.get(coded as usize & 3)? << 24 | coded >> 2;
        import.type_name(token)
    };
    let is_function = |kind: &Vec<u8>| {
        let Some((function, arguments)) = signature::class_arguments(kind) else { return false };
        name(function).is_some_and(|name| name == "System.Func`1")
            && arguments == [call.method.result.clone()]
    };
    call.callee == "System.Threading.Tasks.Task.Run"
        && call.method.parameters.first().is_some_and(is_function)
}

/// What a call gives that starts a piece of work.
fn started(class: &str, method: &str) -> StartedWork {
    match (class, method) {
        (_, "ContinueWith") => StartedWork::Continuation,
        (_, "Run" | "StartNew") => StartedWork::Task,
        _ => StartedWork::Nothing,
    }
}

/// Whether a method or constructor hands a delegate to a pool, a timer or a new thread.
fn starts_work(class: &str, method: &str) -> bool {
    let methods: &[&str] = match class {
        "System.Threading.Tasks.Task" => &["Run", "ContinueWith", ".ctor"],
        "System.Threading.Tasks.Task`1" => &["ContinueWith", ".ctor"],
        "System.Threading.Tasks.TaskFactory" | "System.Threading.Tasks.TaskFactory`1" => {
            &["StartNew", "ContinueWhenAll", "ContinueWhenAny"]
        }
        "System.Threading.Tasks.Parallel" => &["For", "ForEach", "Invoke"],
        "System.Threading.ThreadPool" => &[
            "QueueUserWorkItem",
            "UnsafeQueueUserWorkItem",
            "RegisterWaitForSingleObject",
            "UnsafeRegisterWaitForSingleObject",
        ],
        "System.Threading.Thread" | "System.Threading.Timer" => &[".ctor"],
        _ => &[],
    };
    methods.contains(&method)
}

/// Why what a method calls cannot be watched.
fn hides_callee(class: &str, method: &str) -> Option<&'static str> {
    match (class, method) {
        ("Microsoft.CSharp.RuntimeBinder.Binder", "InvokeMember" | "GetIndex" | "SetIndex") => {
            Some("calls through `dynamic`")
        }
        ("System.Reflection.MethodBase" | "System.Reflection.MethodInfo", "Invoke")
        | ("System.Type", "InvokeMember")
        | ("System.Delegate", "DynamicInvoke") => Some("calls by reflection"),
        _ => None,
    }
}

impl WatchedCall {
    /// What a token stands for. None: nothing of interest.
    pub fn look_at(import: Import, token: MetadataToken) -> Option<WatchedCall> {
        let (token, of_method) = if table::of(token) == table::METHOD_SPEC {
            let (method, spec) = import.method_spec(token)?;
            (method, signature::method_arguments(spec)?)
        } else {
            (token, Vec::new())
        };
        let member = match table::of(token) {
            table::MEMBER_REF => import.member_ref(token)?,
            table::METHOD_DEF => import.method(token)?,
            _ => return None,
        };
        let (class, of_class, this) = class_of(import, &member)?;
        let with = TypeArguments { class: &of_class, method: &of_method };
        let method = || signature::method(member.signature, with);
        let of_value = class.contains("ValueTask");
        let completed = || {
            // What a `ValueTask` has to be asked about is in its first field.
            let is_known = !of_value || session().has_known_enumerators;
            session().force_async && member.name == "get_IsCompleted" && is_awaiter(&class) && is_known
        };
        if class == "System.Array" && is_of_part(&member, of_method.len()) {
            return None;
        }
        let what = match session().catalogue.find(&class, &member.name) {
            Some(operation) => CallKind::Point(operation),
            None if completed() => CallKind::Completed { of_value },
            None if starts_work(&class, &member.name) => CallKind::Starts(started(&class, &member.name)),
            None => match Orders::of(&class, &member.name, method) {
                Some(orders) => CallKind::Orders(orders),
                None => CallKind::Unseen(hides_callee(&class, &member.name)?),
            },
        };
        let method = method()?;
        let callee = format!("{class}.{}", member.name);
        let call = WatchedCall { callee, class, what, is_constructor: member.name == ".ctor", method, this };
        call.makes_sense().then_some(call)
    }

    /// A list names methods, of which some overloads may be something else.
    fn makes_sense(&self) -> bool {
        let CallKind::Point(operation) = self.what else { return true };
        match operation.object {
            ObjectPosition::This => self.method.has_this && !self.is_constructor && is_object(&self.this),
            ObjectPosition::FirstField => self.method.has_this && session().has_known_enumerators,
            ObjectPosition::Argument(n) => {
                let is_function = !self.method.has_this || self.is_constructor;
                let kind = self.method.parameters.get(usize::from(n));
                let reads = |kind: &Vec<u8>| {
                    let kind = signature::by_reference(kind).unwrap_or(kind);
                    signature::is_reference(kind)
                };
                is_function && kind.is_some_and(reads)
            }
        }
    }
}

/// Whether a method of `Array` is given an index, so that it uses a part of the array: threads may
/// use different parts. `arguments`: how many type arguments the method has, which are no indices.
fn is_of_part(member: &MemberRef, arguments: usize) -> bool {
    const INT: u8 = 0x08;
    const OBJECT: u8 = 0x1C;
    let with = TypeArguments { class: &[], method: &vec![vec![OBJECT]; arguments] };
    let method = signature::method(member.signature, with);
    member.name != "Resize" && method.is_some_and(|method| method.parameters.contains(&vec![INT]))
}

/// Not a structure, as far as that can be told from its name.
fn is_object(this: &[u8]) -> bool {
    signature::is_reference(this)
}

/// The class of a method: its name, its type arguments, and its type.
fn class_of(import: Import, member: &MemberRef) -> Option<(String, Vec<Vec<u8>>, Vec<u8>)> {
    const VALUE_TYPE: u8 = 0x11;
    let parent = member.parent;
    if table::of(parent) == table::TYPE_SPEC {
        let spec = import.type_spec(parent)?;
        let (coded, arguments) = signature::class_arguments(spec)?;
        let tables = [table::TYPE_DEF, table::TYPE_REF, table::TYPE_SPEC];
        let token = tables.get(coded as usize & 3)? << 24 | coded >> 2;
        return Some((import.type_name(token)?, arguments, spec.to_vec()));
    }
    let is_structure = table::of(parent) == table::TYPE_DEF && import.is_structure(parent);
    let mut this = vec![if is_structure { VALUE_TYPE } else { CLASS }];
    let table = u32::from(table::of(parent) == table::TYPE_REF);
    signature::put_number(&mut this, (parent & 0xFF_FFFF) << 2 | table);
    Some((import.type_name(parent)?, Vec::new(), this))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_work() {
        assert!(
            starts_work("System.Threading.Tasks.Task", "Run")
                && starts_work("System.Threading.Thread", ".ctor")
        );
        assert!(!starts_work("System.Threading.Tasks.Task", "Wait") && !starts_work("Mine.Task", "Run"));
    }

    #[test]
    fn methods_of_parts_of_arrays() {
        let is_of_part = |name: &str, signature: &[u8], arguments| {
            is_of_part(&MemberRef { parent: 0, name: name.into(), signature }, arguments)
        };
        // `Sort<T>(T[])` and `Sort<T>(T[], int, int)`, `IndexOf<T>(T[], T)` and `IndexOf<T>(T[], T,
        // int)`.
        assert!(!is_of_part("Sort", &[0x10, 1, 1, 0x01, 0x1D, 0x1E, 0], 1));
        assert!(is_of_part("Sort", &[0x10, 1, 3, 0x01, 0x1D, 0x1E, 0, 0x08, 0x08], 1));
        assert!(!is_of_part("IndexOf", &[0x10, 1, 2, 0x08, 0x1D, 0x1E, 0, 0x1E, 0], 1));
        assert!(is_of_part("IndexOf", &[0x10, 1, 3, 0x08, 0x1D, 0x1E, 0, 0x1E, 0, 0x08], 1));
        assert!(!is_of_part("Resize", &[0x10, 1, 2, 0x01, 0x10, 0x1D, 0x1E, 0, 0x08], 1));
    }

    #[test]
    fn what_hides_whom_it_calls() {
        assert!(hides_callee("System.Reflection.MethodBase", "Invoke").is_some());
        assert!(hides_callee("Microsoft.CSharp.RuntimeBinder.Binder", "SetIndex").is_some());
        assert!(hides_callee("System.Action", "Invoke").is_none());
    }
}
