//! The methods of the probe's class that tell of order:
//!
//! ```text
//! void Happened(object on, int what) { happened(on, RuntimeHelpers.GetHashCode(on), what); }
//! void TaskHappened(object task, int what) { if (task != null) task_happened(task.Id, what); }
//! void AllDone(object[] tasks, int i) { for (; i < tasks.Length; i++) TaskHappened(tasks[i], DONE); }
//! void AllContinue(object[] tasks, object task, int i) { for (; i < tasks.Length; i++) Continues(tasks[i], task); }
//! void HandsOver() { hands_over(); }
//! void Suspends(int depth) { suspends(depth); }
//! void Awaits(object semaphore, object task) { awaits(hash of semaphore, task.Id); }
//! void EndsWith(object source, object task) { ends_with(hash of source, task.Id); }
//! void SignalsPhase(object barrier, int phase) { signals_phase(hash of barrier, phase); }
//! void PhaseEnded(object barrier, int phase) { phase_ended(hash of barrier, phase); }
//! int BeginsClass(int number) { return begins_class(number); }
//! void Continues(object before, object task) { if (before != null) continues(before.Id, task.Id); }
//! int Begins() { return begins(Task.CurrentId.GetValueOrDefault(), hash of Thread.CurrentThread); }
//! int Resumes(object task) { if (task == null) { Begin(); return 0; } return resumes(task.Id); }
//! void Ends(int depth) { ends(depth); }
//! ```
//!
//! The native functions are those of [`crate::order`], called as managed code is.

use crate::il::{self, code};
use crate::metadata::{Emit, Import};
use crate::order::{self, event};
use crate::probe::{LOAD_0, LOAD_1, call, call_native};
use crate::profiling::{ModuleId, Token};
use crate::rewrite;
use crate::session::session;
use crate::signature::put_number;

/// The tokens of the methods in a module.
#[derive(Clone, Copy)]
pub struct OrderProbe {
    pub happened: Token,
    pub task_happened: Token,
    pub all_done: Token,
    pub all_continue: Token,
    pub hands_over: Token,
    pub suspends: Token,
    pub awaits: Token,
    pub ends_with: Token,
    pub signals_phase: Token,
    pub phase_ended: Token,
    pub begins_class: Token,
    pub continues: Token,
    pub begins: Token,
    pub resumes: Token,
    pub ends: Token,
}

/// What the methods call. A trimmed framework may have lost them.
const CALLED: [(&str, &str); 4] = [
    ("System.Threading.Tasks.Task", "get_Id"),
    ("System.Threading.Tasks.Task", "get_CurrentId"),
    ("System.Threading.Thread", "get_CurrentThread"),
    ("System.Nullable`1", "GetValueOrDefault"),
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
    hash: Token,
    id: Token,
    current_id: Token,
    value: Token,
    current_thread: Token,
    /// Of one local variable for what `CurrentId` gives.
    locals: Token,
}

impl References {
    fn add(emit: Emit, library: Token, hash: Token) -> Option<References> {
        let task = emit.type_ref(library, CALLED[0].0)?;
        let thread = emit.type_ref(library, CALLED[2].0)?;
        let nullable = emit.type_ref(library, CALLED[3].0)?;
        let coded = |kind: u8, class: Token| {
            const TYPE_REF: u32 = 1;
            let mut bytes = vec![kind];
            put_number(&mut bytes, (class & 0xFF_FFFF) << 2 | TYPE_REF);
            bytes
        };
        let maybe = [&[INSTANCE_OF], &coded(VALUE, nullable)[..], &[1, INT]].concat();
        let gives = |kind: &[u8]| [&[0, 0], kind].concat();
        Some(References {
            hash,
            id: emit.member_ref(task, CALLED[0].1, &[0x20, 0, INT])?,
            current_id: emit.member_ref(task, CALLED[1].1, &gives(&maybe))?,
            // The value of the first type parameter.
            value: emit.member_ref(emit.type_spec(&maybe)?, CALLED[3].1, &[0x20, 0, 0x13, 0])?,
            current_thread: emit.member_ref(thread, CALLED[2].1, &gives(&coded(CLASS, thread)))?,
            locals: emit.signature(&[&[0x07, 1], &maybe[..]].concat())?,
        })
    }
}

/// Adds them to the probe's class. None: nothing will be known of order.
pub fn add(
    module: ModuleId,
    emit: Emit,
    (class, library, hash): (Token, Token, Token),
    begin: Token,
) -> Option<OrderProbe> {
    if !rewrite::order_is_possible() {
        return None;
    }
    let references = References::add(emit, library, hash)?;
    let add = |name: &str, signature: &[u8]| emit.static_method(class, name, signature);
    let probe = OrderProbe {
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
        begins: add("Begins", &[0, 0, INT])?,
        resumes: add("Resumes", &[0, 1, INT, OBJECT])?,
        ends: add("Ends", &[0, 1, VOID, INT])?,
    };
    let native = |function: *const (), signature: &[u8]| {
        emit.signature(signature).map(|token| call_native(function, token))
    };
    let happened = native(order::happened as *const (), &[0, 3, VOID, OBJECT, INT, INT])?;
    let task_happened = native(order::task_happened as *const (), &[0, 2, VOID, INT, INT])?;
    let hands_over = native(order::hands_over as *const (), &[0, 0, VOID])?;
    let suspends = native(order::suspends as *const (), &[0, 1, VOID, INT])?;
    let awaits = native(order::awaits as *const (), &[0, 2, VOID, INT, INT])?;
    let ends_with = native(order::ends_with as *const (), &[0, 2, VOID, INT, INT])?;
    let signals_phase = native(order::signals_phase as *const (), &[0, 2, VOID, INT, INT])?;
    let phase_ended = native(order::phase_ended as *const (), &[0, 2, VOID, INT, INT])?;
    let begins_class = native(order::begins_class as *const (), &[0, 1, INT, INT])?;
    let continues = native(order::continues as *const (), &[0, 2, VOID, INT, INT])?;
    let begins = native(order::begins as *const (), &[0, 2, INT, INT, INT])?;
    let resumes = native(order::resumes as *const (), &[0, 1, INT, INT])?;
    let ends = native(order::ends as *const (), &[0, 1, VOID, INT])?;
    let id = il::with_token(code::CALL_VIRTUAL as u8, references.id);
    let ret = [code::RETURN];
    let set = |method, text: &[&[u8]]| set_body(module, method, &il::plain_body(&text.concat()));
    let done = set(probe.happened, &[&[LOAD_0, LOAD_0], &call(references.hash), &[LOAD_1], &happened, &ret])
        && set(probe.task_happened, &[&UNLESS_NULL, &[LOAD_0], &id, &[LOAD_1], &task_happened, &ret])
        && set(probe.all_done, &[&all_done(probe.task_happened)])
        && set(probe.all_continue, &[&all_continue(probe.continues)])
        && set(probe.hands_over, &[&hands_over, &ret])
        && set(probe.suspends, &[&[LOAD_0], &suspends, &ret])
        && set(probe.awaits, &[&[LOAD_0], &call(references.hash), &[LOAD_1], &id, &awaits, &ret])
        && set(probe.ends_with, &[&[LOAD_0], &call(references.hash), &[LOAD_1], &id, &ends_with, &ret])
        && set(probe.signals_phase, &[&[LOAD_0], &call(references.hash), &[LOAD_1], &signals_phase, &ret])
        && set(probe.phase_ended, &[&[LOAD_0], &call(references.hash), &[LOAD_1], &phase_ended, &ret])
        && set(probe.begins_class, &[&[LOAD_0], &begins_class, &ret])
        && set(probe.continues, &[&UNLESS_NULL, &[LOAD_0], &id, &[LOAD_1], &id, &continues, &ret])
        && set(probe.resumes, &[&first_part(begin), &[LOAD_0], &id, &resumes, &ret])
        && set(probe.ends, &[&[LOAD_0], &ends, &ret]);
    // stloc.0; ldloca.s 0
    let text = [
        &call(references.current_id)[..],
        &[0x0A, 0x12, 0],
        &call(references.value),
        &call(references.current_thread),
        &call(references.hash),
        &begins,
        &ret,
    ];
    let body = il::body_with_locals(&text.concat(), references.locals);
    (done && set_body(module, probe.begins, &body)).then_some(probe)
}

fn set_body(module: ModuleId, method: Token, body: &[u8]) -> bool {
    session().info.set_body(module, method, body)
}

/// `if (task == null) return;`
const UNLESS_NULL: [u8; 4] = [LOAD_0, code::BRANCH_TRUE, 1, code::RETURN];

/// `if (task == null) { Begin(); return 0; }`
fn first_part(begin: Token) -> Vec<u8> {
    let text = [&call(begin)[..], &[0x16, code::RETURN]].concat();
    [&[LOAD_0, code::BRANCH_TRUE, text.len() as u8], &text[..]].concat()
}

fn all_done(task_happened: Token) -> Vec<u8> {
    for_each(1, &[il::load_int(event::DONE), call(task_happened)].concat())
}

fn all_continue(continues: Token) -> Vec<u8> {
    for_each(2, &[&[LOAD_1], &call(continues)[..]].concat())
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
