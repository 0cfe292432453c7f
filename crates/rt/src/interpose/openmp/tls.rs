//! The size of each thread's thread-local storage, for the modules loaded when the first region
//! begins. It lies right below the thread pointer, at the same distance in all threads.

use core::ffi::{c_int, c_void};

use crate::detect::contexts::thread_pointer;

/// A module's part is in static storage if it is this near; others are allocated when used.
const NEAR: usize = 1 << 24;

unsafe extern "C" fn visit(module: *mut libc::dl_phdr_info, _size: usize, farthest: *mut c_void) -> c_int {
    // SAFETY: the loader's description of a module, and what `size` passes.
    unsafe {
        let at = (*module).dlpi_tls_data as usize;
        let below = thread_pointer().wrapping_sub(at);
        let farthest = farthest.cast::<usize>();
        if at != 0 && below < NEAR && below > *farthest {
            *farthest = below;
        }
    }
    0
}

/// How many bytes below the thread pointer are thread-local storage.
pub fn size() -> usize {
    let mut farthest = 8usize;
    // SAFETY: the visitor respects the description. The program has called from its own code, so
    // the loader's lock is free, or this thread holds it.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut farthest).cast()) };
    farthest
}
