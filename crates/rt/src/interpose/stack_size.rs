//! Room for the runtime on the stacks of the program's threads, like ThreadSanitizer's
//! `AdjustStackSize`.
//!
//! The runtime works on the stack of the thread that it watches, and its thread-local storage lies
//! there too. A thread with a small stack gets that much more, so that what the program measured
//! for itself still suffices. The program's attributes do not change; a stack at an address chosen
//! by the program cannot grow.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use libc::pthread_attr_t;

use super::Real;

unsafe extern "C" {
    fn pthread_attr_getstack(a: *const pthread_attr_t, at: *mut usize, size: *mut usize) -> c_int;
    fn pthread_attr_setstacksize(a: *mut pthread_attr_t, size: usize) -> c_int;
    fn pthread_attr_destroy(a: *mut pthread_attr_t) -> c_int;
}

// Found by name: a program that imports them changes what its threads see, and is asked about it.
static GET_DEFAULT: Real = Real::new(c"pthread_getattr_default_np", None);
static SET_DEFAULT: Real = Real::new(c"pthread_setattr_default_np", None);

unsafe fn pthread_getattr_default_np(a: *mut pthread_attr_t) -> c_int {
    type Function = unsafe extern "C" fn(*mut pthread_attr_t) -> c_int;
    // SAFETY: the C library's function of that name.
    unsafe { core::mem::transmute::<usize, Function>(GET_DEFAULT.get())(a) }
}

unsafe fn pthread_setattr_default_np(a: *const pthread_attr_t) -> c_int {
    type Function = unsafe extern "C" fn(*const pthread_attr_t) -> c_int;
    // SAFETY: as above.
    unsafe { core::mem::transmute::<usize, Function>(SET_DEFAULT.get())(a) }
}

/// As much as ThreadSanitizer has for all of a thread. Threads that lock, allocate and race were
/// measured to need less than 16 KiB for the runtime, of which 9 KiB are its thread-local storage.
const ROOM: usize = 128 << 10;

/// A default size, which nobody measured for a thread, is left alone if it is at least this.
const ENOUGH: usize = 256 << 10;

/// Calls `create` with the program's attributes but more stack.
pub unsafe fn with_room(attributes: *const c_void, create: impl FnOnce(*const c_void) -> c_int) -> c_int {
    let attributes = attributes.cast::<pthread_attr_t>();
    // SAFETY: the program's attributes, which nobody changes during the call. The copy is not
    // destroyed: what it points to belongs to the original.
    unsafe {
        let asked = if attributes.is_null() { Stack::Default } else { stack_of(attributes) };
        match asked {
            Stack::Own => create(attributes.cast()),
            Stack::Size(size) => {
                let mut copy = attributes.read();
                pthread_attr_setstacksize(&mut copy, size.saturating_add(ROOM));
                create((&raw const copy).cast())
            }
            Stack::Default => match small_default() {
                None => create(attributes.cast()),
                Some((mut default, size)) if attributes.is_null() => {
                    pthread_attr_setstacksize(&mut default, size + ROOM);
                    let r = create((&raw const default).cast());
                    pthread_attr_destroy(&mut default);
                    r
                }
                Some((mut default, size)) => {
                    pthread_attr_destroy(&mut default);
                    let mut copy = attributes.read();
                    pthread_attr_setstacksize(&mut copy, size + ROOM);
                    create((&raw const copy).cast())
                }
            },
        }
    }
}

/// For C11 threads, which have no attributes.
pub fn make_room_by_default() {
    if let Some((mut default, size)) = small_default() {
        // SAFETY: attributes that the C library has just given.
        unsafe {
            pthread_attr_setstacksize(&mut default, size + ROOM);
            pthread_setattr_default_np(&default);
            pthread_attr_destroy(&mut default);
        }
    }
}

#[derive(Debug, PartialEq)]
enum Stack {
    /// At an address chosen by the program.
    Own,
    Size(usize),
    Default,
}

unsafe fn stack_of(attributes: *const pthread_attr_t) -> Stack {
    let (mut at, mut size) = (0usize, 0);
    // SAFETY: the program's attributes.
    if unsafe { pthread_attr_getstack(attributes, &mut at, &mut size) } != 0 {
        return Stack::Own;
    }
    // glibc keeps the end, which is null if no address was given, and counts back from there.
    match (at.wrapping_add(size), size) {
        (0, 0) => Stack::Default,
        (0, size) => Stack::Size(size),
        _ => Stack::Own,
    }
}

/// The attributes of threads created without any, if their stacks are small, as with a small
/// `ulimit -s`. The caller must destroy them.
fn small_default() -> Option<(pthread_attr_t, usize)> {
    let mut default = MaybeUninit::<pthread_attr_t>::uninit();
    // SAFETY: the C library fills them if it says so.
    unsafe {
        if pthread_getattr_default_np(default.as_mut_ptr()) != 0 {
            return None;
        }
        let mut default = default.assume_init();
        match stack_of(&default) {
            Stack::Size(size) if size < ENOUGH => Some((default, size)),
            _ => {
                pthread_attr_destroy(&mut default);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the thread would be created with.
    fn made(attributes: *const pthread_attr_t) -> Stack {
        let mut made = Stack::Own;
        let create = |a: *const c_void| {
            // SAFETY: the attributes are valid during the call.
            made = if a.is_null() { Stack::Default } else { unsafe { stack_of(a.cast()) } };
            7
        };
        // SAFETY: the caller's attributes, or none.
        assert_eq!(unsafe { with_room(attributes.cast(), create) }, 7);
        made
    }

    #[test]
    fn stacks_grow_but_for_those_at_an_address() {
        // SAFETY: attributes made and destroyed here; no thread is created with them.
        unsafe {
            let mut a = MaybeUninit::<pthread_attr_t>::uninit();
            assert_eq!(libc::pthread_attr_init(a.as_mut_ptr()), 0);
            let mut a = a.assume_init();
            assert_eq!(made(&a), Stack::Default);
            assert_eq!(made(core::ptr::null()), Stack::Default);
            for size in [16 << 10, 64 << 10, 8 << 20] {
                assert_eq!(pthread_attr_setstacksize(&mut a, size), 0);
                assert_eq!(made(&a), Stack::Size(size + ROOM));
                assert_eq!(stack_of(&a), Stack::Size(size), "the program's attributes have changed");
            }
            assert_eq!(libc::pthread_attr_setstack(&mut a, 0x10000 as *mut c_void, 16 << 10), 0);
            assert_eq!(made(&a), Stack::Own);
            pthread_attr_destroy(&mut a);
        }
    }
}
