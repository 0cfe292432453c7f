//! The class that each of the user's modules gets, whose static methods are called at points:
//!
//! ```text
//! void Raddle.Probe.Point(object on, int site) {
//!     again: if (fast(&on, RuntimeHelpers.GetHashCode(on), site) == 0) return;
//!            if (Held(&on, site) != 0) goto again;
//! }
//! int Raddle.Probe.Held(native int on, int site) { return slow(on, site); }
//!
//! void Raddle.Probe.Through(object on, int site) {          // the class of the object is not known
//!     again: int answer = known(&on);
//!     if (answer == 0) return;
//!     if (answer == 1) { …; return; }                       // the code of Point
//!     if (answer == 2) { Point(find(on), site); return; }
//!     Held(&on, site); goto again;
//! }
//!
//! void Raddle.Probe.Begin() { begin(); }                    // a piece of work begins
//!
//! bool Raddle.Probe.Completed(bool is, int site) {          // in place of what an awaiter answered
//!     if (!is) return false;
//!     if (SynchronizationContext.Current != null) return true;
//!     if (TaskScheduler.Current != TaskScheduler.Default) return true;
//!     if (ExecutionContext.IsFlowSuppressed()) return true;
//!     return forced(site) == 0;
//! }
//!
//! // The same of a `ValueTask`, whose first field is null, a task or a source.
//! bool Raddle.Probe.CompletedValue(ref object first, bool is, int site) {
//!     if (!is) return false;
//!     if (first != null && !(first is Task)) return true;
//!     return Completed(is, site);
//! }
//! ```
//!
//! Those that tell of order are in `order_probe`.
//!
//! All native functions but `slow` are called as managed code is, so the thread stays in
//! cooperative mode and references may be read; `slow` is called as native code is, so a collection
//! need not wait for it. It is in a method of its own since a method that calls native code makes a
//! frame for that at every entry. They are in [`crate::point`] and [`crate::force_async`].

use crate::com::{IID_METADATA_ASSEMBLY_EMIT, IID_METADATA_EMIT};
use crate::il::{self, code};
use crate::metadata::{AssemblyEmit, Emit, Import};
use crate::order_probe::{self, OrderProbe};
use crate::profiling::{MetadataToken, ModuleId};
use crate::session::session;
use crate::{force_async, point};

pub const CLASS: &str = "Raddle.Probe";

/// The tokens of the probe's methods in a module.
#[derive(Clone, Copy)]
pub struct ProbeMethods {
    pub class: MetadataToken,
    pub point: MetadataToken,
    pub through: MetadataToken,
    pub begin: MetadataToken,
    /// None: this module's `await`s stay as they are.
    pub completed: Option<Completed>,
    /// None: nothing is known of order.
    pub order: Option<OrderProbe>,
}

/// What answers in place of an awaiter.
#[derive(Clone, Copy)]
pub struct Completed {
    pub of_task: MetadataToken,
    pub of_value_task: MetadataToken,
}

/// `int (object)`, `void (object, int)`, `int (native int, int)`; `bool (bool, int)` is below.
const HASH: [u8; 4] = [0, 1, 0x08, 0x1C];
const POINT: [u8; 5] = [0, 2, 0x01, 0x1C, 0x08];
const HELD: [u8; 5] = [0, 2, 0x08, 0x18, 0x08];
/// `void ()`.
const BEGIN: [u8; 3] = [0, 0, 0x01];
const COMPLETED: [u8; 5] = [0, 2, 0x02, 0x02, 0x08];
/// `bool (ref object, bool, int)`.
const COMPLETED_VALUE: [u8; 7] = [0, 3, 0x02, 0x10, 0x1C, 0x02, 0x08];

/// Adds the class to a module. None: the module's metadata cannot be added to.
pub fn add(module: ModuleId, import: Import) -> Option<(ProbeMethods, Emit)> {
    const HELPERS: &str = "System.Runtime.CompilerServices.RuntimeHelpers";
    let info = session().info;
    let emit = Emit(info.metadata(module, true, &IID_METADATA_EMIT)?);
    let is_object =
        |token: &MetadataToken| import.type_ref(*token).is_some_and(|(_, name)| name == "System.Object");
    let object = import.type_refs().into_iter().find(is_object)?;
    // The facade that has Object has RuntimeHelpers too, unless a trimmed program has lost what it
    // does not use. The library that all facades lead to always has it.
    let facade = import.type_ref(object)?.0;
    let library = core_library(module).unwrap_or(facade);
    let hash = emit.member_ref(emit.type_ref(library, HELPERS)?, "GetHashCode", &HASH)?;
    let class = emit.class(CLASS, object)?;
    let point = emit.static_method(class, "Point", &POINT)?;
    let held = emit.static_method(class, "Held", &HELD)?;
    let through = emit.static_method(class, "Through", &POINT)?;
    let begin = emit.static_method(class, "Begin", &BEGIN)?;
    let fast = emit.signature(&[0, 3, 0x08, 0x18, 0x08, 0x08])?;
    let slow = emit.signature(&[1, 2, 0x08, 0x18, 0x08])?;
    let known = emit.signature(&[0, 1, 0x08, 0x18])?;
    let find = emit.signature(&[0, 1, 0x1C, 0x1C])?;
    let nothing = emit.signature(&BEGIN)?;
    let one_int = emit.signature(&[0x07, 1, 0x08])?;
    let through_text = through_code((known, find), (hash, fast), point, held);
    let set = |method, text: &[u8]| info.set_body(module, method, &il::plain_body(text));
    let done = set(held, &held_code(slow))
        && set(point, &point_code(hash, fast, held))
        && info.set_body(module, through, &il::body_with_locals(&through_text, one_int))
        && set(begin, &[&call_native(point::begin as *const (), nothing)[..], &[code::RETURN]].concat());
    let forces = session().force_async;
    let completed = if forces { add_completed(module, emit, class) } else { None };
    let order = order_probe::add(module, emit, (class, library, hash), begin);
    // Without its locks a thread could be made to wait for ever.
    let completed = completed.filter(|_| order.is_some());
    done.then_some((ProbeMethods { class, point, through, begin, completed, order }, emit))
}

fn core_library(module: ModuleId) -> Option<MetadataToken> {
    AssemblyEmit(session().info.metadata(module, true, &IID_METADATA_ASSEMBLY_EMIT)?).core_library()
}

fn add_completed(module: ModuleId, emit: Emit, class: MetadataToken) -> Option<Completed> {
    // Facades differ in where they have these; the library that all of them lead to has them.
    let library = core_library(module)?;
    let context = emit.type_ref(library, "System.Threading.SynchronizationContext")?;
    let scheduler = emit.type_ref(library, "System.Threading.Tasks.TaskScheduler")?;
    let getter = |class: MetadataToken, name: &str| {
        const CLASS: u8 = 0x12;
        const TYPE_REF: u32 = 1;
        let mut signature = vec![0, 0, CLASS];
        crate::signature::put_number(&mut signature, (class & 0xFF_FFFF) << 2 | TYPE_REF);
        emit.member_ref(class, name, &signature)
    };
    let getters = [
        getter(context, "get_Current")?,
        getter(scheduler, "get_Current")?,
        getter(scheduler, "get_Default")?,
    ];
    let flow = emit.type_ref(library, "System.Threading.ExecutionContext")?;
    let suppressed = emit.member_ref(flow, "IsFlowSuppressed", &[0, 0, 0x02])?;
    let task = emit.type_ref(library, "System.Threading.Tasks.Task")?;
    let of_task = emit.static_method(class, "Completed", &COMPLETED)?;
    let of_value_task = emit.static_method(class, "CompletedValue", &COMPLETED_VALUE)?;
    let forced = emit.signature(&[0, 1, 0x08, 0x08])?;
    let set = |method, text: &[u8]| session().info.set_body(module, method, &il::plain_body(text));
    let done = set(of_task, &completed_code(getters, suppressed, forced))
        && set(of_value_task, &completed_value_code(task, of_task));
    done.then_some(Completed { of_task, of_value_task })
}

pub const LOAD_0: u8 = 0x02;
pub const LOAD_1: u8 = 0x03;
/// `ldarga.s 0; conv.u`: where the reference is.
const SLOT: [u8; 3] = [0x0F, 0, 0xE0];

pub fn call(token: MetadataToken) -> Vec<u8> {
    il::with_token(code::CALL as u8, token)
}

/// A call of native code at an address.
pub fn call_native(function: *const (), signature: MetadataToken) -> Vec<u8> {
    [il::load_pointer(function as usize), il::with_token(code::CALL_INDIRECT, signature)].concat()
}

fn held_code(slow: MetadataToken) -> Vec<u8> {
    [&[LOAD_0, LOAD_1], &call_native(point::slow as *const (), slow)[..], &[code::RETURN]].concat()
}

fn point_code(hash: MetadataToken, fast: MetadataToken, held: MetadataToken) -> Vec<u8> {
    let mut text = [
        &SLOT[..],
        &[LOAD_0],
        &call(hash),
        &[LOAD_1],
        &call_native(point::fast as *const (), fast),
        &[code::BRANCH_TRUE, 1, code::RETURN],
        &SLOT,
        &[LOAD_1],
        &call(held),
    ]
    .concat();
    let back = -(text.len() as i8) - 2;
    text.extend([code::BRANCH_TRUE, back as u8, code::RETURN]);
    text
}

/// The point is not called but copied, and the local variable stays in a register: a call and a
/// `switch` cost 3 ns.
fn through_code(
    (known, find): (MetadataToken, MetadataToken),
    (hash, fast): (MetadataToken, MetadataToken),
    point: MetadataToken,
    held: MetadataToken,
) -> Vec<u8> {
    const BRANCH: u8 = 0x2B;
    const BRANCH_UNLESS_EQUAL: u8 = 0x33;
    const STORE_LOCAL_0: u8 = 0x0A;
    const LOAD_LOCAL_0: u8 = 0x06;
    const LOAD_CONSTANT_1: u8 = 0x17;
    const LOAD_CONSTANT_2: u8 = 0x18;
    let itself = point_code(hash, fast, held);
    let wrapped = [
        &[LOAD_0],
        &call_native(point::find as *const (), find)[..],
        &[LOAD_1],
        &call(point),
        &[code::RETURN],
    ]
    .concat();
    let mut text = [
        &SLOT[..],
        &call_native(point::known as *const (), known),
        &[STORE_LOCAL_0, LOAD_LOCAL_0, code::BRANCH_TRUE, 1, code::RETURN],
        &[LOAD_LOCAL_0, LOAD_CONSTANT_1, BRANCH_UNLESS_EQUAL, itself.len() as u8],
        &itself,
        &[LOAD_LOCAL_0, LOAD_CONSTANT_2, BRANCH_UNLESS_EQUAL, wrapped.len() as u8],
        &wrapped,
        &SLOT,
        &[LOAD_1],
        &call(held),
        &[code::POP],
    ]
    .concat();
    let back = -(text.len() as i8) - 2;
    text.extend([BRANCH, back as u8]);
    text
}

const FALSE_AND_RETURN: [u8; 2] = [0x16, code::RETURN];
const TRUE_AND_RETURN: [u8; 2] = [0x17, code::RETURN];
const BRANCH_FALSE: u8 = 0x2C;

fn completed_value_code(task: MetadataToken, completed: MetadataToken) -> Vec<u8> {
    const LOAD_2: u8 = 0x04;
    const IS_INSTANCE: u8 = 0x75;
    let is_other = [
        &[LOAD_0, code::LOAD_REFERENCE],
        &il::with_token(IS_INSTANCE, task)[..],
        &[code::BRANCH_TRUE, 2],
        &TRUE_AND_RETURN,
    ]
    .concat();
    [
        &[LOAD_1, code::BRANCH_TRUE, 2],
        &FALSE_AND_RETURN[..],
        &[LOAD_0, code::LOAD_REFERENCE, BRANCH_FALSE, is_other.len() as u8],
        &is_other,
        &[LOAD_1, LOAD_2],
        &call(completed),
        &[code::RETURN],
    ]
    .concat()
}

fn completed_code(
    [context, scheduler, default]: [MetadataToken; 3],
    suppressed: MetadataToken,
    forced: MetadataToken,
) -> Vec<u8> {
    const BRANCH_EQUAL: u8 = 0x2E;
    const COMPARE_EQUAL: [u8; 2] = [0xFE, 0x01];
    [
        &[LOAD_0, code::BRANCH_TRUE, 2],
        &FALSE_AND_RETURN[..],
        &call(context),
        &[BRANCH_FALSE, 2],
        &TRUE_AND_RETURN,
        &call(scheduler),
        &call(default),
        &[BRANCH_EQUAL, 2],
        &TRUE_AND_RETURN,
        &call(suppressed),
        &[BRANCH_FALSE, 2],
        &TRUE_AND_RETURN,
        &[LOAD_1],
        &call_native(force_async::forced as *const (), forced),
        &[0x16],
        &COMPARE_EQUAL,
        &[code::RETURN],
    ]
    .concat()
}
