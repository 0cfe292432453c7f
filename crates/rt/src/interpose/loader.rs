//! The loader's list of files, which it walks under a lock of its own.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};

use super::interpose;
use crate::explore;
use crate::explore::sync::{self, Until};

/// Stands for the loader's lock while a program is explored. The loader keeps its own while it
/// calls the program, and whoever waits for that one waits in the kernel, where the scheduler does
/// not see it. A recursive mutex of the C library, in memory that is put back after each execution.
struct Lock(UnsafeCell<[u32; 10]>);

// SAFETY: only the C library's functions touch it.
unsafe impl Sync for Lock {}

static LOCK: Lock = Lock(UnsafeCell::new({
    const KIND: usize = 4;
    let mut words = [0; 10];
    words[KIND] = libc::PTHREAD_MUTEX_RECURSIVE as u32;
    words
}));

interpose! {
    fn dl_iterate_phdr(visit: usize, data: *mut c_void) -> c_int, |t, pc, real| { real(visit, data) }
    record real, tsvd real, explore {
        if !explore::is_running() {
            return real(visit, data);
        }
        let lock = LOCK.0.get() as usize;
        sync::mutex_lock(lock, Until::NEVER, pc);
        let r = real(visit, data);
        sync::mutex_unlock(lock, pc);
        r
    }
}
