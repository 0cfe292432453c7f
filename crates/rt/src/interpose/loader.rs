//! The dynamic loader's lock, which is held while `dl_iterate_phdr` runs the caller's function: two
//! threads never run theirs at the same time.

use core::ffi::{c_int, c_void};

use super::interpose;
use crate::detect::sync;
use crate::detect::thread::current;
use crate::explore;
use crate::hub::modules;

/// The object that stands for the lock, at an address where the target has no memory.
const LOADER: usize = 0x4902_0000_0000;

type Visit = unsafe extern "C-unwind" fn(*mut c_void, usize, *mut c_void) -> c_int;

/// The caller's function and its argument.
struct Visitor {
    function: Visit,
    data: *mut c_void,
}

unsafe extern "C-unwind" fn visit(info: *mut c_void, size: usize, visitor: *mut c_void) -> c_int {
    // SAFETY: the visitor is in the frame of the call that is running.
    let visitor = unsafe { &*visitor.cast::<Visitor>() };
    // SAFETY: the caller's function, called as the C library would.
    under(LOADER, || unsafe { (visitor.function)(info, size, visitor.data) })
}

/// Calls a function of the program with a lock of the C library held, in detection and under a
/// search.
pub(super) fn under<R>(lock: usize, call: impl FnOnce() -> R) -> R {
    if !explore::is_on() {
        sync::acquire(current(), lock);
        let r = call();
        sync::release(current(), lock);
        return r;
    }
    explore::memory::acquired(lock);
    let r = call();
    explore::memory::released(lock);
    r
}

/// Uninstrumented code, such as that which unwinds the stack, needs no order.
fn visits(
    function: Visit,
    data: *mut c_void,
    pc: usize,
    real: impl Fn(Visit, *mut c_void) -> c_int,
) -> c_int {
    let mut visitor = Visitor { function, data };
    let is_judged = modules::is_judged(pc);
    let mut call = || match is_judged {
        true => real(visit, (&raw mut visitor).cast()),
        false => real(function, data),
    };
    if explore::is_on() { explore::locks::visits_files(is_judged, pc, call) } else { call() }
}

interpose! {
    fn dl_iterate_phdr(function: Visit, data: *mut c_void) -> c_int, |t, pc, real| {
        visits(function, data, pc, |f, d| real(f, d))
    } record as detect, tsvd real, explore { visits(function, data, pc, |f, d| real(f, d)) }
}
