//! Mutexes of every type, and spinlocks.

use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
use core::ffi::{c_int, c_void};

use super::interpose;
use crate::detect::held_locks::HoldMode;
use crate::detect::misuse;
use crate::detect::sync::{self, Taking};
use crate::detect::thread::Current;
use crate::explore::sync::{self as sync_explore, Until};
use crate::sys;
use crate::tsvd::sync as tsvd_sync;
use raddle_explore::OpKind;
use raddle_wire::record::{LockKind, MisuseKind};

/// A robust mutex whose owner died is held by the thread that gets this result.
pub fn is_held(result: c_int) -> bool {
    result == 0 || result == libc::EOWNERDEAD
}

pub fn taken(t: Current, m: *mut c_void, result: c_int, pc: usize) {
    if is_held(result) && !t.openmp.within_lock {
        if is_shared(m) {
            super::process::world_acquire(t);
        }
        sync::locked(t, m as usize, Taking { mode: HoldMode::Write, what: LockKind::Mutex, pc });
    }
}

/// Before the mutex is taken, or tried.
#[inline]
pub fn using(mut t: Current, m: *mut c_void, pc: usize) {
    touching(t, m, pc);
    if !t.openmp.within_lock && is_filled_with_ones(m) {
        misuse::of_lock(&mut t, MisuseKind::UsedUninitialised, m as usize, LockKind::Mutex, pc);
    }
}

/// Before the mutex is taken, tried or released.
#[inline]
fn touching(mut t: Current, m: *mut c_void, pc: usize) {
    if !t.openmp.within_lock {
        // The mutex and its shadow usually come from another processor: fetch both at once.
        // SAFETY: a hint.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(m.cast()) };
        misuse::used(&mut t, m as usize, pc);
        if is_destroyed(m) {
            misuse::of_lock(&mut t, MisuseKind::UsedDestroyed, m as usize, LockKind::Mutex, pc);
        }
    }
}

/// Before a wait for the mutex or spinlock.
pub fn taking(mut t: Current, m: *mut c_void, what: LockKind, pc: usize) {
    if !t.openmp.within_lock {
        if t.held.holds(m as usize) && waits_for_itself(m, what) {
            misuse::of_lock(&mut t, MisuseKind::DoubleLock, m as usize, what, pc);
        }
        sync::locking(&mut t, m as usize, Taking { mode: HoldMode::Write, what, pc });
    }
}

/// glibc's layout of a mutex.
mod field {
    pub const LOCK: usize = 0;
    pub const OWNER: usize = 8;
    pub const KIND: usize = 16;
    /// The kind of a mutex that was destroyed.
    pub const DESTROYED: u32 = !0;
    pub const ROBUST: u32 = 16;
}

fn field(m: *const c_void, at: usize) -> u32 {
    // SAFETY: glibc keeps words at these offsets of a mutex.
    unsafe { *m.byte_add(at).cast::<u32>() }
}

/// Memory that was filled with ones is no mutex that was destroyed: that would be free.
fn is_filled_with_ones(m: *const c_void) -> bool {
    field(m, field::KIND) == field::DESTROYED && field(m, field::LOCK) == !0
}

fn is_destroyed(m: *const c_void) -> bool {
    field(m, field::KIND) == field::DESTROYED && !is_filled_with_ones(m)
}

/// Recursive mutexes may be taken again, and error-checking ones report it to the program.
fn waits_for_itself(m: *const c_void, what: LockKind) -> bool {
    let kind = field(m, field::KIND) as c_int & 3;
    what == LockKind::Spinlock
        || matches!(kind, libc::PTHREAD_MUTEX_NORMAL | libc::PTHREAD_MUTEX_ADAPTIVE_NP)
            && field(m, field::OWNER) == sys::thread_id()
}

/// True if the mutex at `key` is locked by the running thread, which ends, and neither robust nor
/// shared between processes. Its memory may be gone, so the kernel reads it.
pub fn is_left(key: usize) -> bool {
    let mut copy = [0u32; 6];
    let n = size_of_val(&copy);
    let to = [copy.as_mut_ptr() as usize, n];
    let from = [key, n];
    let (to, from) = (&raw const to as usize, &raw const from as usize);
    if sys::syscall(libc::SYS_process_vm_readv, [sys::pid() as usize, to, 1, from, 1, 0]) != n as isize {
        return false;
    }
    let m = copy.as_mut_ptr().cast::<c_void>();
    let kind = field(m, field::KIND);
    let apart = kind != field::DESTROYED && kind & field::ROBUST == 0 && !is_shared(m);
    apart && field(m, field::OWNER) == sys::thread_id()
}

/// Before an unlock or a wait. The mutex's own state counts, since it may have been taken before
/// raddle looked. Robust, error-checking and process-shared mutexes are not checked.
pub fn check_unlock(mut t: Current, m: *mut c_void, pc: usize) {
    let (kind, owner) = (field(m, field::KIND), field(m, field::OWNER));
    let tells = kind as c_int & 3 == libc::PTHREAD_MUTEX_ERRORCHECK;
    if t.known && is_filled_with_ones(m) && !t.held.holds(m as usize) {
        return misuse::of_lock(&mut t, MisuseKind::UnlockUnlocked, m as usize, LockKind::Mutex, pc);
    }
    if !t.known || t.held.holds(m as usize) || tells || kind & field::ROBUST != 0 || is_shared(m) {
        return;
    }
    if field(m, field::LOCK) == 0 && owner == 0 {
        misuse::of_lock(&mut t, MisuseKind::UnlockUnlocked, m as usize, LockKind::Mutex, pc);
    } else if owner != 0 && owner != sys::thread_id() {
        misuse::of_lock(&mut t, MisuseKind::UnlockOfAnothers, m as usize, LockKind::Mutex, pc);
    }
}

/// Before a mutex is destroyed.
pub fn destroying(mut t: Current, m: *mut c_void, pc: usize) {
    if field(m, field::LOCK) != 0 && !is_shared(m) {
        misuse::of_lock(&mut t, MisuseKind::DestroyedLocked, m as usize, LockKind::Mutex, pc);
    }
    misuse::made_or_destroyed(t, m as usize, pc);
}

/// True if other processes may use the mutex too: an order may come through them.
fn is_shared(m: *mut c_void) -> bool {
    const SHARED: u32 = 128;
    field(m, field::KIND) & SHARED != 0
}

pub fn letting_go(t: Current, m: *mut c_void) {
    if t.openmp.within_lock {
        return;
    }
    let pc = t.caller;
    touching(t, m, pc);
    check_unlock(t, m, pc);
    if is_shared(m) {
        super::process::world_release(t);
    }
    sync::unlocking(t, m as usize);
}

interpose! {
    fn pthread_mutex_lock(m: *mut c_void) -> c_int, |t, pc, real| {
        using(t, m, pc);
        taking(t, m, LockKind::Mutex, pc);
        let r = real(m);
        taken(t, m, r, pc);
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m)) } explore {
        sync_explore::mutex_lock(m as usize, Until::NEVER, pc)
    }
    fn pthread_mutex_trylock(m: *mut c_void) -> c_int, |t, pc, real| {
        using(t, m, pc);
        let r = real(m);
        taken(t, m, r, pc);
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m)) } explore {
        sync_explore::mutex_trylock(m as usize, pc)
    }
    fn pthread_mutex_timedlock(m: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        using(t, m, pc);
        // It times out, so there is no edge and no deadlock.
        let r = real(m, until);
        taken(t, m, r, pc);
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m, until)) } explore {
        sync_explore::mutex_lock(m as usize, Until::new(libc::CLOCK_REALTIME, until), pc)
    }
    fn pthread_mutex_clocklock(m: *mut c_void, clock: c_int, until: *const c_void) -> c_int, |t, pc, real| {
        using(t, m, pc);
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
        destroying(t, m, pc);
        let r = real(m);
        if r == 0 {
            sync::destroyed(m as usize);
        }
        r
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, m as usize, pc, || real(m))
    }
    fn pthread_mutex_init(m: *mut c_void, attributes: *const c_void) -> c_int, |t, pc, real| {
        sync::destroyed(m as usize);
        misuse::made_or_destroyed(t, m as usize, pc);
        real(m, attributes)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, m as usize, pc, || real(m, attributes))
    }

    fn pthread_spin_init(m: *mut c_void, shared: c_int) -> c_int, |t, pc, real| {
        sync::destroyed(m as usize);
        misuse::made_or_destroyed(t, m as usize, pc);
        real(m, shared)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, m as usize, pc, || real(m, shared))
    }
    fn pthread_spin_lock(m: *mut c_void) -> c_int, |t, pc, real| {
        taking(t, m, LockKind::Spinlock, pc);
        misuse::used(&mut t, m as usize, pc);
        let r = real(m);
        if r == 0 {
            sync::locked(t, m as usize, Taking { mode: HoldMode::Write, what: LockKind::Spinlock, pc });
        }
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m)) } explore {
        sync_explore::spin_lock(m as usize, pc)
    }
    fn pthread_spin_trylock(m: *mut c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, m as usize, pc);
        let r = real(m);
        if r == 0 {
            sync::locked(t, m as usize, Taking { mode: HoldMode::Write, what: LockKind::Spinlock, pc });
        }
        r
    } record as detect, tsvd { tsvd_sync::acquired(m as usize, real(m)) } explore {
        sync_explore::step(OpKind::TryLock, m as usize, pc, || real(m))
    }
    fn pthread_spin_unlock(m: *mut c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, m as usize, pc);
        // glibc's value of a free spinlock is 1.
        if t.known && !t.held.holds(m as usize) && *m.cast::<c_int>() == 1 {
            misuse::of_lock(&mut t, MisuseKind::UnlockUnlocked, m as usize, LockKind::Spinlock, pc);
        }
        sync::unlocking(t, m as usize);
        real(m)
    } record as detect, tsvd {
        tsvd_sync::released(m as usize);
        real(m)
    } explore {
        sync_explore::step(OpKind::Unlock, m as usize, pc, || real(m))
    }
    fn pthread_spin_destroy(m: *mut c_void) -> c_int, |t, pc, real| {
        misuse::made_or_destroyed(t, m as usize, pc);
        sync::destroyed(m as usize);
        real(m)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, m as usize, pc, || real(m))
    }
}
