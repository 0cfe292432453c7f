//! Exceptions through copied code. The unwinder of libgcc looks for the description of the function
//! that an address is in: here it gets that of the original, and goes on with an address of the
//! original. A landing pad that it jumps to becomes its copy.
//!
//! Only the shared library exports these two (see the build of the runtime): a program that has the
//! runtime linked in may have the unwinder linked in as well. Where libraries of such a program
//! execute copies, the shared library is there too, and passes on what it is asked.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::detect::thread::current;
use crate::hub::init;
use crate::sys;

unsafe extern "C" {
    fn dlopen(name: *const core::ffi::c_char, flags: c_int) -> *mut c_void;
}

/// A function of libgcc, which the C library may have loaded for itself only. What comes next of
/// that name is this runtime's own, if it is both in the program and in the shared library.
fn real(cell: &AtomicUsize, name: &core::ffi::CStr) -> usize {
    let known = cell.load(Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: look-ups by name; libgcc is loaded, since it calls here.
    let found = unsafe {
        let libgcc = dlopen(c"libgcc_s.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        let mut found = if libgcc.is_null() { libgcc } else { sys::dlsym(libgcc, name.as_ptr()) };
        if found.is_null() && sys::dlsym(libc::RTLD_NEXT, c"__raddle_runtime".as_ptr()).is_null() {
            found = sys::dlsym(libc::RTLD_NEXT, name.as_ptr());
        }
        found as usize
    };
    if found == 0 {
        sys::die(b"raddle: the unwinder of this program is not libgcc's\n");
    }
    cell.store(found, Relaxed);
    found
}

/// The function of the runtime inside of the program, if there is one and this is not it.
fn of_program(cell: &AtomicUsize, name: &core::ffi::CStr) -> Option<usize> {
    const NOT_YET: usize = 0;
    const NONE: usize = 1;
    let mut known = cell.load(Relaxed);
    if known == NOT_YET {
        // SAFETY: a look-up by name.
        let find = || unsafe { sys::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
        known = if init::is_second_copy() { find().max(NONE) } else { NONE };
        cell.store(known, Relaxed);
    }
    (known != NONE).then_some(known)
}

/// `bases` is a part of the unwinder's context; two words before it is the return address.
#[unsafe(export_name = "__raddle_runtime_find_fde")]
unsafe extern "C" fn find_fde(pc: usize, bases: *mut usize) -> usize {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    static FIRST: AtomicUsize = AtomicUsize::new(0);
    type Find = unsafe extern "C" fn(usize, *mut usize) -> usize;
    if let Some(first) = of_program(&FIRST, c"__raddle_runtime_find_fde") {
        // SAFETY: this function of the other runtime, and its own arguments.
        return unsafe { core::mem::transmute::<usize, Find>(first)(pc, bases) };
    }
    // SAFETY: libgcc's function of that name.
    let function = unsafe { core::mem::transmute::<usize, Find>(real(&REAL, c"_Unwind_Find_FDE")) };
    let Some(original) = super::original(pc) else {
        // SAFETY: passed on.
        return unsafe { function(pc, bases) };
    };
    // SAFETY: the context of the unwinder, which is checked to be as expected.
    unsafe {
        let return_address = bases.sub(2);
        match (*return_address).wrapping_sub(pc) {
            // A call, looked at by its last byte. An address inside of the original instruction
            // means the call as well.
            1 => *return_address = original + 1,
            // A signal interrupted the instruction.
            0 => *return_address = original,
            _ => {}
        }
        function(original, bases)
    }
}

#[unsafe(export_name = "__raddle_runtime_set_ip")]
unsafe extern "C" fn set_ip(context: *mut c_void, to: usize) {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    static FIRST: AtomicUsize = AtomicUsize::new(0);
    type Set = unsafe extern "C" fn(*mut c_void, usize);
    if let Some(first) = of_program(&FIRST, c"__raddle_runtime_set_ip") {
        // SAFETY: this function of the other runtime, and its own arguments.
        return unsafe { core::mem::transmute::<usize, Set>(first)(context, to) };
    }
    let copy = super::copy(to);
    if copy != to {
        leave_calls(context);
    }
    // SAFETY: libgcc's function of that name, and its own arguments.
    unsafe {
        let at = real(&REAL, c"_Unwind_SetIP");
        core::mem::transmute::<usize, Set>(at)(context, copy);
    }
}

/// Takes the calls that an exception leaves from the shadow call stack: one for each copied
/// function between here and the one that it lands in, whose own call is the last.
fn leave_calls(landing: *mut c_void) {
    static BACKTRACE: AtomicUsize = AtomicUsize::new(0);
    type Visit = unsafe extern "C" fn(*mut c_void, *mut Left) -> c_int;
    let mut t = current();
    if t.sp.is_null() {
        return;
    }
    let mut left = Left { landing: frame_of(landing), calls: 0 };
    // SAFETY: libgcc's function of that name; the callback gets the pointer to `left`.
    unsafe {
        let at = real(&BACKTRACE, c"_Unwind_Backtrace");
        core::mem::transmute::<usize, unsafe extern "C" fn(Visit, *mut Left) -> c_int>(at)(
            visit,
            &raw mut left,
        );
    }
    let bottom = t.trace.stack as usize;
    t.sp = (t.sp as usize).saturating_sub(8 * left.calls).max(bottom) as *mut usize;
}

struct Left {
    landing: usize,
    calls: usize,
}

/// What tells a frame from others: its stack pointer at the call that it is in.
fn frame_of(context: *mut c_void) -> usize {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: libgcc's function of that name.
    unsafe {
        let at = real(&REAL, c"_Unwind_GetCFA");
        core::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void) -> usize>(at)(context)
    }
}

unsafe extern "C" fn visit(context: *mut c_void, left: *mut Left) -> c_int {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    const GO_ON: c_int = 0;
    const STOP: c_int = 5;
    // SAFETY: libgcc's function of that name; `left` is the one of `leave_calls`.
    unsafe {
        let at = real(&REAL, c"_Unwind_GetIP");
        let pc = core::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void) -> usize>(at)(context);
        // `find_fde` has made it an address behind the beginning of the original call.
        (*left).calls += usize::from(super::copy(pc - 1) != pc - 1);
        if frame_of(context) == (*left).landing { STOP } else { GO_ON }
    }
}
