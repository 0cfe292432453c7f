//! Mutexes of every type, and spinlocks.

use core::ffi::{c_int, c_void};

use super::interpose;
use crate::detect::held::Mode;
use crate::detect::sync::{self, Taking};
use crate::detect::thread::Thread;
use crate::explore::sync::{self as sync_explore, Until};
use crate::tsvd::sync as tsvd_sync;
use raddle_explore::OpKind;
use raddle_wire::record::lock_kind;

/// A robust mutex whose owner died is held by whoever is told so.
pub fn is_held(result: c_int) -> bool {
    result == 0 || result == libc::EOWNERDEAD
}

pub fn taken(t: &mut Thread, m: *mut c_void, result: c_int, pc: usize) {
    if is_held(result) && !t.openmp.within_lock {
        if is_shared(m) {
            super::process::world_acquire(t);
        }
        sync::locked(t, m as usize, Taking { mode: Mode::Write, what: lock_kind::MUTEX, pc });
    }
}

/// Before a wait for the mutex.
pub fn taking(t: &mut Thread, m: *mut c_void, what: u64, pc: usize) {
    if !t.openmp.within_lock {
        sync::locking(t, m as usize, Taking { mode: Mode::Write, what, pc });
    }
}

/// A mutex that other processes may use too: an order may come through them.
fn is_shared(m: *mut c_void) -> bool {
    const KIND: usize = 16;
    const SHARED: u32 = 128;
    // SAFETY: glibc keeps the type and the process-shared bit at this offset of a mutex.
    unsafe { *m.byte_add(KIND).cast::<u32>() & SHARED != 0 }
}

pub fn letting_go(t: &mut Thread, m: *mut c_void) {
    if t.openmp.within_lock {
        return;
    }
    if is_shared(m) {
        super::process::world_release(t);
    }
    sync::unlocking(t, m as usize);
}

interpose! {
    fn pthread_mutex_lock(m: *mut c_void) -> c_int, |t, pc, real| {
        taking(t, m, lock_kind::MUTEX, pc);
        let r = real(m);
        taken(t, m, r, pc);
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m)) } explore {
        sync_explore::mutex_lock(m as usize, Until::NEVER, pc)
    }
    fn pthread_mutex_trylock(m: *mut c_void) -> c_int, |t, pc, real| {
        let r = real(m);
        taken(t, m, r, pc);
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m)) } explore {
        sync_explore::mutex_trylock(m as usize, pc)
    }
    fn pthread_mutex_timedlock(m: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        // It gives up in time: no edge, no deadlock.
        let r = real(m, until);
        taken(t, m, r, pc);
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m, until)) } explore {
        sync_explore::mutex_lock(m as usize, Until::new(libc::CLOCK_REALTIME, until), pc)
    }
    fn pthread_mutex_clocklock(m: *mut c_void, clock: c_int, until: *const c_void) -> c_int, |t, pc, real| {
        let r = real(m, clock, until);
        taken(t, m, r, pc);
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m, clock, until)) } explore {
        sync_explore::mutex_lock(m as usize, Until::new(clock, until), pc)
    }
    fn pthread_mutex_unlock(m: *mut c_void) -> c_int, |t, pc, real| {
        letting_go(t, m);
        real(m)
    } record as detect, tsvd {
        tsvd_sync::released(m as usize);
        real(m)
    } explore {
        sync_explore::mutex_unlock(m as usize, pc)
    }
    fn pthread_mutex_destroy(m: *mut c_void) -> c_int, |t, pc, real| {
        let r = real(m);
        if r == 0 {
            sync::destroyed(m as usize);
        }
        r
    } record as detect, tsvd real, explore real
    fn pthread_mutex_init(m: *mut c_void, attributes: *const c_void) -> c_int, |t, pc, real| {
        sync::destroyed(m as usize);
        real(m, attributes)
    } record as detect, tsvd real, explore real

    fn pthread_spin_lock(m: *mut c_void) -> c_int, |t, pc, real| {
        taking(t, m, lock_kind::SPINLOCK, pc);
        let r = real(m);
        if r == 0 {
            sync::locked(t, m as usize, Taking { mode: Mode::Write, what: lock_kind::SPINLOCK, pc });
        }
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m)) } explore {
        sync_explore::spin_lock(m as usize, pc)
    }
    fn pthread_spin_trylock(m: *mut c_void) -> c_int, |t, pc, real| {
        let r = real(m);
        if r == 0 {
            sync::locked(t, m as usize, Taking { mode: Mode::Write, what: lock_kind::SPINLOCK, pc });
        }
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m)) } explore {
        sync_explore::step(OpKind::TryLock, m as usize, pc, || real(m))
    }
    fn pthread_spin_unlock(m: *mut c_void) -> c_int, |t, pc, real| {
        sync::unlocking(t, m as usize);
        real(m)
    } record as detect, tsvd {
        tsvd_sync::released(m as usize);
        real(m)
    } explore {
        sync_explore::step(OpKind::Unlock, m as usize, pc, || real(m))
    }
    fn pthread_spin_destroy(m: *mut c_void) -> c_int, |t, pc, real| {
        sync::destroyed(m as usize);
        real(m)
    } record as detect, tsvd real, explore real
}
