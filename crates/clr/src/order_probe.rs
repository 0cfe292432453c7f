//! The methods of the probe's class that tell of order:
//!
//! ```text
//! void Happened(object on, int what) { happened(on, RuntimeHelpers.GetHashCode(on), what); }
//! void TaskHappened(object task, int what) { if (task != null) task_happened(task.Id, what); }
//! void AllDone(object[] tasks, int i) { for (; i < tasks.Length; i++) TaskHappened(tasks[i], DONE); }
//! void AllContinue(object[] tasks, object task, int i) { for (; i < tasks.Length; i++) EndsAfter(tasks[i], task); }
//! void HandsOver() { hands_over(); }
//! void Suspends(int depth) { suspends(depth); }
//! void Awaits(object semaphore, object task) { awaits(hash of semaphore, task.Id); }
//! void EndsWith(object source, object task) { ends_with(hash of source, task.Id); }
//! void SignalsPhase(object barrier, int phase) { signals_phase(hash of barrier, phase); }
//! void PhaseEnded(object barrier, int phase) { phase_ended(hash of barrier, phase); }
//! int BeginsClass(int number) { return begins_class(number); }
//! void Continues(object before, object task) { if (before != null) continues(before.Id, task.Id); }
//! void EndsAfter(object before, object task) { if (before != null) ends_after(before.Id, task.Id); }
//! int Begins() { return begins(Task.CurrentId.GetValueOrDefault(), hash of Thread.CurrentThread); }
//! int Resumes(object task) { if (task == null) { Begin(); return 0; } return resumes(task.Id); }
//! void Ends(int depth) { ends(depth); }
//!
//! object Box(object function) { var box = new object[] { function }; gives(hash of box); return box; }
//! Task Given(object box) {
//!     int depth = begins_given(hash of box, Task.CurrentId.GetValueOrDefault());
//!     Task task = ((Func<Task>)box[0])();
//!     if (task != null) made_by_given(hash of box, task.Id);
//!     ends(depth);
//!     return task;
//! }
//! void RunsGiven(object box, object task) { runs_given(hash of box, task.Id); }
//! ```
//!
//! `Given` stands for any `Func<Task<T>>`, too: what it gives is what the function in the box gave.
//!
//! The native functions are those of [`crate::order`], called as managed code is.

use crate::il::{self, code};
use crate::metadata::{Emit, Import};
use crate::order::{self, event};
use crate::probe::{LOAD_0, LOAD_1, call, call_native};
use crate::profiling::{MetadataToken, ModuleId};
use crate::rewrite;
use crate::session::session;
use crate::signature::put_number;

/// The tokens of the methods in a module.
#[derive(Clone, Copy)]
pub struct OrderProbe {
    pub happened: MetadataToken,
    pub task_happened: MetadataToken,
    pub all_done: MetadataToken,
    pub all_continue: MetadataToken,
    pub hands_over: MetadataToken,
    pub suspends: MetadataToken,
    pub awaits: MetadataToken,
    pub ends_with: MetadataToken,
    pub signals_phase: MetadataToken,
    pub phase_ended: MetadataToken,
    pub begins_class: MetadataToken,
    pub continues: MetadataToken,
    pub ends_after: MetadataToken,
    pub begins: MetadataToken,
    pub resumes: MetadataToken,
    pub ends: MetadataToken,
    pub boxes: MetadataToken,
    pub given: MetadataToken,
    pub runs_given: MetadataToken,
}

/// What the methods, and `Raddle.Probe.Completed`, call. A trimmed framework may have lost them.
const CALLED: [(&str, &str); 6] = [
    ("System.Threading.Tasks.Task", "get_Id"),
    ("System.Threading.Tasks.Task", "get_CurrentId"),
    ("System.Threading.Thread", "get_CurrentThread"),
    ("System.Nullable`1", "GetValueOrDefault"),
    ("System.Func`1", "Invoke"),
    ("System.Threading.ExecutionContext", "IsFlowSuppressed"),
];

/// Whether the library that the runtime is made with has all that the methods call.
pub fn is_possible(library: Import) -> bool {
    CALLED.iter().all(|(class, method)| library.has_method(class, method))
}

/// Element types of signatures.
const VOID: u8 = 0x01;
const INT: u8 = 0x08;
const OBJECT: u8 = 0x1C;
const CLASS: u8 = 0x12;
const VALUE: u8 = 0x11;
const INSTANCE_OF: u8 = 0x15;

/// References to what the methods call, as tokens of a module.
struct References {
    hash: MetadataToken,
    id: MetadataToken,
    current_id: MetadataToken,
    value: MetadataToken,
    current_thread: MetadataToken,
    /// Of one local variable for what `CurrentId` gives.
    locals: MetadataToken,
    object: MetadataToken,
    /// `Func<Task>.Invoke`.
    invoke: MetadataToken,
    /// Of local variables for what `CurrentId` gives, a task and a number.
    given_locals: MetadataToken,
}

impl References {
    fn add(emit: Emit, library: MetadataToken, hash: MetadataToken) -> Option<References> {
        let task = emit.type_ref(library, CALLED[0].0)?;
        let thread = emit.type_ref(library, CALLED[2].0)?;
        let nullable = emit.type_ref(library, CALLED[3].0)?;
        let coded = |kind: u8, class: MetadataToken| {
            const TYPE_REF: u32 = 1;
            let mut bytes = vec![kind];
            put_number(&mut bytes, (class & 0xFF_FFFF) << 2 | TYPE_REF);
            bytes
        };
        let maybe = [&[INSTANCE_OF], &coded(VALUE, nullable)[..], &[1, INT]].concat();
        let gives = |kind: &[u8]| [&[0, 0], kind].concat();
        let function = emit.type_ref(library, CALLED[4].0)?;
        let function = [&[INSTANCE_OF], &coded(CLASS, function)[..], &[1], &coded(CLASS, task)].concat();
        Some(References {
            hash,
            id: emit.member_ref(task, CALLED[0].1, &[0x20, 0, INT])?,
            current_id: emit.member_ref(task, CALLED[1].1, &gives(&maybe))?,
            // The value of the first type parameter.
            value: emit.member_ref(emit.type_spec(&maybe)?, CALLED[3].1, &[0x20, 0, 0x13, 0])?,
            current_thread: emit.member_ref(thread, CALLED[2].1, &gives(&coded(CLASS, thread)))?,
            locals: emit.signature(&[&[0x07, 1], &maybe[..]].concat())?,
            object: emit.type_ref(library, "System.Object")?,
            invoke: emit.member_ref(emit.type_spec(&function)?, CALLED[4].1, &[0x20, 0, 0x13, 0])?,
            given_locals: emit.signature(&[&[0x07, 3], &maybe[..], &[OBJECT, INT]].concat())?,
        })
    }
}

/// Adds them to the probe's class. None: nothing will be known of order.
pub fn add(
    module: ModuleId,
    emit: Emit,
    (class, library, hash): (MetadataToken, MetadataToken, MetadataToken),
    begin: MetadataToken,
) -> Option<OrderProbe> {
    if !rewrite::order_is_possible() {
        return None;
    }
    let references = References::add(emit, library, hash)?;
    let probe = declare(emit, class)?;
    define(module, emit, &references, (probe, begin)).then_some(probe)
}

/// The methods, without bodies.
fn declare(emit: Emit, class: MetadataToken) -> Option<OrderProbe> {
    let add = |name: &str, signature: &[u8]| emit.static_method(class, name, signature);
    Some(OrderProbe {
        happened: add("Happened", &[0, 2, VOID, OBJECT, INT])?,
        task_happened: add("TaskHappened", &[0, 2, VOID, OBJECT, INT])?,
        all_done: add("AllDone", &[0, 2, VOID, OBJECT, INT])?,
        all_continue: add("AllContinue", &[0, 3, VOID, OBJECT, OBJECT, INT])?,
        hands_over: add("HandsOver", &[0, 0, VOID])?,
        suspends: add("Suspends", &[0, 1, VOID, INT])?,
        awaits: add("Awaits", &[0, 2, VOID, OBJECT, OBJECT])?,
        ends_with: add("EndsWith", &[0, 2, VOID, OBJECT, OBJECT])?,
        signals_phase: add("SignalsPhase", &[0, 2, VOID, OBJECT, INT])?,
        phase_ended: add("PhaseEnded", &[0, 2, VOID, OBJECT, INT])?,
        begins_class: add("BeginsClass", &[0, 1, INT, INT])?,
        continues: add("Continues", &[0, 2, VOID, OBJECT, OBJECT])?,
        ends_after: add("EndsAfter", &[0, 2, VOID, OBJECT, OBJECT])?,
        begins: add("Begins", &[0, 0, INT])?,
        resumes: add("Resumes", &[0, 1, INT, OBJECT])?,
        ends: add("Ends", &[0, 1, VOID, INT])?,
        boxes: add("Box", &[0, 1, OBJECT, OBJECT])?,
        given: add("Given", &[0, 1, OBJECT, OBJECT])?,
        runs_given: add("RunsGiven", &[0, 2, VOID, OBJECT, OBJECT])?,
    })
}

/// Gives the methods their bodies.
fn define(module: ModuleId, emit: Emit, references: &References, of: (OrderProbe, MetadataToken)) -> bool {
    let set = |(method, body): &(MetadataToken, Vec<u8>)| session().info.set_body(module, *method, body);
    bodies(emit, references, of).is_some_and(|bodies| bodies.iter().all(set))
}

fn bodies(
    emit: Emit,
    references: &References,
    (probe, begin): (OrderProbe, MetadataToken),
) -> Option<Vec<(MetadataToken, Vec<u8>)>> {
    let native = |function: *const (), signature: &[u8]| {
        emit.signature(signature).map(|token| call_native(function, token))
    };
    // `void (int, int)`, `int (int)`, `void (int)`, `void ()`.
    let of_two = |function| native(function, &[0, 2, VOID, INT, INT]);
    let begins_with = |function| native(function, &[0, 1, INT, INT]);
    let of_one = |function| native(function, &[0, 1, VOID, INT]);
    let id = il::with_token(code::CALL_VIRTUAL as u8, references.id);
    // The hash of the first argument, and the second one or the number of the task that it is.
    let hash = [&[LOAD_0], &call(references.hash)[..]].concat();
    let hash_and_int = [&hash[..], &[LOAD_1]].concat();
    let hash_and_id = [&hash[..], &[LOAD_1], &id].concat();
    let known_id = [&UNLESS_NULL[..], &[LOAD_0], &id, &[LOAD_1]].concat();
    let happened = native(order::happened as *const (), &[0, 3, VOID, OBJECT, INT, INT])?;
    let bodies = [
        (probe.happened, [&[LOAD_0], &hash_and_int[..], &happened].concat()),
        (probe.task_happened, [&known_id[..], &of_two(order::task_happened as *const ())?].concat()),
        (probe.all_done, all_done(probe.task_happened)),
        (probe.all_continue, all_continue(probe.ends_after)),
        (probe.hands_over, native(order::hands_over as *const (), &[0, 0, VOID])?),
        (probe.suspends, [&[LOAD_0], &of_one(order::suspends as *const ())?[..]].concat()),
        (probe.awaits, [&hash_and_id[..], &of_two(order::awaits as *const ())?].concat()),
        (probe.ends_with, [&hash_and_id[..], &of_two(order::ends_with as *const ())?].concat()),
        (probe.signals_phase, [&hash_and_int[..], &of_two(order::signals_phase as *const ())?].concat()),
        (probe.phase_ended, [&hash_and_int[..], &of_two(order::phase_ended as *const ())?].concat()),
        (probe.begins_class, [&[LOAD_0], &begins_with(order::begins_class as *const ())?[..]].concat()),
        (probe.continues, [&known_id[..], &id, &of_two(order::continues as *const ())?].concat()),
        (probe.ends_after, [&known_id[..], &id, &of_two(order::ends_after as *const ())?].concat()),
        (probe.resumes, {
            let resumes = begins_with(order::resumes as *const ())?;
            [&first_part(begin)[..], &[LOAD_0], &id, &resumes].concat()
        }),
        (probe.ends, [&[LOAD_0], &of_one(order::ends as *const ())?[..]].concat()),
        (probe.boxes, box_code(references, &of_one(order::gives as *const ())?)),
        (probe.runs_given, [&hash_and_id[..], &of_two(order::runs_given as *const ())?].concat()),
    ];
    let plain = |(method, text): (MetadataToken, Vec<u8>)| {
        (method, il::plain_body(&[&text[..], &[code::RETURN]].concat()))
    };
    let begins = (probe.begins, begins_body(emit, references)?);
    let given = (probe.given, given_body(emit, references, (&hash, &id), probe.ends)?);
    Some(bodies.into_iter().map(plain).chain([begins, given]).collect())
}

/// A box with the first argument.
fn box_code(references: &References, gives: &[u8]) -> Vec<u8> {
    const LOAD_CONSTANT_0: u8 = 0x16;
    const LOAD_CONSTANT_1: u8 = 0x17;
    const NEW_ARRAY: u8 = 0x8D;
    const STORE_ELEMENT: u8 = 0xA2;
    [
        &[LOAD_CONSTANT_1],
        &il::with_token(NEW_ARRAY, references.object)[..],
        &[code::DUPLICATE, LOAD_CONSTANT_0, LOAD_0, STORE_ELEMENT, code::DUPLICATE],
        &call(references.hash),
        gives,
    ]
    .concat()
}

/// Calls the function in the box, and tells what task that gave.
fn given_body(
    emit: Emit,
    references: &References,
    (hash, id): (&[u8], &[u8]),
    ends: MetadataToken,
) -> Option<Vec<u8>> {
    const STORE_LOCAL: [u8; 3] = [0x0A, 0x0B, 0x0C];
    const LOAD_LOCAL: [u8; 3] = [0x06, 0x07, 0x08];
    const LOAD_LOCAL_ADDRESS: u8 = 0x12;
    const LOAD_ELEMENT_0: [u8; 2] = [0x16, 0x9A];
    const BRANCH_FALSE: u8 = 0x2C;
    let begins = call_native(order::begins_given as *const (), emit.signature(&[0, 2, INT, INT, INT])?);
    let made = call_native(order::made_by_given as *const (), emit.signature(&[0, 2, VOID, INT, INT])?);
    let tells = [hash, &[LOAD_LOCAL[1]], id, &made].concat();
    let text = [
        hash,
        &call(references.current_id),
        &[STORE_LOCAL[0], LOAD_LOCAL_ADDRESS, 0],
        &call(references.value),
        &begins,
        &[STORE_LOCAL[2], LOAD_0],
        &LOAD_ELEMENT_0,
        &il::with_token(code::CALL_VIRTUAL as u8, references.invoke),
        &[STORE_LOCAL[1], LOAD_LOCAL[1], BRANCH_FALSE, tells.len() as u8],
        &tells,
        &[LOAD_LOCAL[2]],
        &call(ends),
        &[LOAD_LOCAL[1], code::RETURN],
    ];
    Some(il::body_with_locals(&text.concat(), references.given_locals))
}

/// The number of the current task, if there is one, and the hash of the thread.
fn begins_body(emit: Emit, references: &References) -> Option<Vec<u8>> {
    const STORE_LOCAL_0: u8 = 0x0A;
    const LOAD_LOCAL_ADDRESS: u8 = 0x12;
    let begins = call_native(order::begins as *const (), emit.signature(&[0, 2, INT, INT, INT])?);
    let text = [
        &call(references.current_id)[..],
        &[STORE_LOCAL_0, LOAD_LOCAL_ADDRESS, 0],
        &call(references.value),
        &call(references.current_thread),
        &call(references.hash),
        &begins,
        &[code::RETURN],
    ];
    Some(il::body_with_locals(&text.concat(), references.locals))
}

/// `if (task == null) return;`
const UNLESS_NULL: [u8; 4] = [LOAD_0, code::BRANCH_TRUE, 1, code::RETURN];

/// `if (task == null) { Begin(); return 0; }`
fn first_part(begin: MetadataToken) -> Vec<u8> {
    let text = [&call(begin)[..], &[0x16, code::RETURN]].concat();
    [&[LOAD_0, code::BRANCH_TRUE, text.len() as u8], &text[..]].concat()
}

fn all_done(task_happened: MetadataToken) -> Vec<u8> {
    for_each(1, &[il::load_int(event::DONE), call(task_happened)].concat())
}

fn all_continue(ends_after: MetadataToken) -> Vec<u8> {
    for_each(2, &[&[LOAD_1], &call(ends_after)[..]].concat())
}

/// `for (; i < tasks.Length; i++) …`, with an element on the stack, where `tasks` is the first
/// argument and `i` another one.
fn for_each(i: u8, text: &[u8]) -> Vec<u8> {
    const BRANCH: u8 = 0x2B;
    const BRANCH_GREATER_OR_EQUAL: u8 = 0x2F;
    const STORE_ARGUMENT: u8 = 0x10;
    let load_i = LOAD_0 + i;
    // ldelem.ref; and ldc.i4.1; add
    let each = [&[LOAD_0, load_i, 0x9A], text, &[load_i, 0x17, 0x58, STORE_ARGUMENT, i]].concat();
    // ldlen; conv.i4
    let test = [load_i, LOAD_0, 0x8E, 0x69, BRANCH_GREATER_OR_EQUAL, each.len() as u8 + 2];
    let back = -((test.len() + each.len()) as i8) - 2;
    [&test[..], &each, &[BRANCH, back as u8, code::RETURN]].concat()
}
