//! `std::promise::set_value_at_thread_exit` and `std::packaged_task::make_ready_at_thread_exit`.
//!
//! The value is stored at once, by header code, which is instrumented. It becomes ready when the
//! thread ends, after the destructors of its thread-local variables. That happens in libstdc++,
//! which is not instrumented: a list entry has a function that stores the status and wakes the
//! waiters. Whoever gets the value loads that status in instrumented code. So the entry's function
//! is replaced by one that makes the store known and then calls the library's own.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::interpose;
use crate::detect::sync;
use crate::detect::thread::current;
use crate::explore;
use crate::hub::is_active;
use raddle_explore::OpKind;

/// An entry of the list: `__at_thread_exit_elt` and what `_Make_ready` adds to it. The layout is
/// part of the library's ABI.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    function: usize,
    state: *const State,
    owners: *mut Owners,
}

/// The state that promise and future share.
#[repr(C)]
struct State {
    table: usize,
    result: usize,
    status: u32,
}

/// The reference count of the state, in front of `std::shared_ptr`'s own deleter.
#[repr(C)]
struct Owners {
    table: usize,
    strong: c_int,
}

const IS_READY: u32 = 1;
const RELEASE: c_int = 3;

/// The library's function.
static MAKES_READY: AtomicUsize = AtomicUsize::new(0);

interpose! {
    fn _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(entry: *mut c_void), |t, pc, real| {
        real(entry);
        stand_in(entry.cast());
    } record as detect, tsvd real, explore {
        real(entry);
        stand_in(entry.cast());
    }
}

unsafe fn stand_in(entry: *mut Entry) {
    // SAFETY: the library has just put its function into this entry, which is the caller's.
    unsafe {
        MAKES_READY.store((*entry).function, Relaxed);
        (*entry).function = makes_ready as *const () as usize;
    }
}

unsafe extern "C-unwind" fn makes_ready(entry: *mut Entry) {
    // SAFETY: the entry is intact until this returns. Its owners' count outlives it.
    unsafe {
        let Entry { state, owners, .. } = entry.read();
        let status = &raw const (*state).status;
        if explore::is_on() {
            stores(status, &raw mut (*owners).strong);
        } else if is_active() && current().known {
            // A state that is already gone is not accessed.
            sync::release(current(), status as usize);
        }
        core::mem::transmute::<usize, unsafe extern "C-unwind" fn(*mut Entry)>(MAKES_READY.load(Relaxed))(
            entry,
        );
    }
}

/// Makes the step of the store, which the library then performs. Owns the state meanwhile. Nobody
/// else runs when this reference is given up. If it was the last one, the state leaks, since only
/// the library knows how to destroy it.
unsafe fn stores(status: *const u32, strong: *mut c_int) {
    // SAFETY: the count exists as long as the entry; the state exists as long as the count is not
    // zero.
    unsafe {
        if strong.is_null() || *strong == 0 {
            return;
        }
        *strong += 1;
        let pc = current().caller;
        explore::atomic(OpKind::AtomicRmw, status as usize, size_of::<u32>(), false, pc);
        explore::memory::store(status as usize, size_of::<u32>(), RELEASE, *status | IS_READY);
        if *strong > 1 {
            *strong -= 1;
        }
    }
}
