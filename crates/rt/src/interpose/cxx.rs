//! C++: operators new and delete. They are interposed in addition to `malloc` and `free` because a
//! report names their caller, and because the standard library that calls `free` for them is not
//! instrumented.

use core::ffi::c_void;

use super::Real;
use super::alloc::{aligned, export, free, malloc};
use crate::detect::thread::current;

type Pointer = *mut c_void;

/// Out of memory: the real operator knows the new-handler and how to throw.
unsafe fn or_throw(p: Pointer, n: usize) -> Pointer {
    static REAL: Real = Real::new(c"_Znwm", None);
    if !p.is_null() {
        return p;
    }
    // SAFETY: the C++ library's operator new.
    unsafe { core::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize) -> Pointer>(REAL.get())(n) }
}

export! {
    _Znwm(n: usize) -> Pointer { or_throw(malloc(n.max(1), current().caller), n) }
    _Znam(n: usize) -> Pointer { or_throw(malloc(n.max(1), current().caller), n) }
    _ZnwmRKSt9nothrow_t(n: usize, _t: Pointer) -> Pointer { malloc(n.max(1), current().caller) }
    _ZnamRKSt9nothrow_t(n: usize, _t: Pointer) -> Pointer { malloc(n.max(1), current().caller) }
    _ZnwmSt11align_val_t(n: usize, a: usize) -> Pointer { or_throw(aligned(a, n.max(1), current().caller), n) }
    _ZnamSt11align_val_t(n: usize, a: usize) -> Pointer { or_throw(aligned(a, n.max(1), current().caller), n) }
    _ZnwmSt11align_val_tRKSt9nothrow_t(n: usize, a: usize, _t: Pointer) -> Pointer { aligned(a, n.max(1), current().caller) }
    _ZnamSt11align_val_tRKSt9nothrow_t(n: usize, a: usize, _t: Pointer) -> Pointer { aligned(a, n.max(1), current().caller) }
    _ZdlPv(p: Pointer) { free(p, current().caller) }
    _ZdaPv(p: Pointer) { free(p, current().caller) }
    _ZdlPvm(p: Pointer, _n: usize) { free(p, current().caller) }
    _ZdaPvm(p: Pointer, _n: usize) { free(p, current().caller) }
    _ZdlPvRKSt9nothrow_t(p: Pointer, _t: Pointer) { free(p, current().caller) }
    _ZdaPvRKSt9nothrow_t(p: Pointer, _t: Pointer) { free(p, current().caller) }
    _ZdlPvSt11align_val_t(p: Pointer, _a: usize) { free(p, current().caller) }
    _ZdaPvSt11align_val_t(p: Pointer, _a: usize) { free(p, current().caller) }
    _ZdlPvmSt11align_val_t(p: Pointer, _n: usize, _a: usize) { free(p, current().caller) }
    _ZdaPvmSt11align_val_t(p: Pointer, _n: usize, _a: usize) { free(p, current().caller) }
}
