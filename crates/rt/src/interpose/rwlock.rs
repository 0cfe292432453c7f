//! Reader-writer locks.

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

fn taken(t: Current, l: *mut c_void, result: c_int, mode: HoldMode, pc: usize) -> c_int {
    if result == 0 {
        sync::locked(t, l as usize, Taking { mode, what: LockKind::Rwlock, pc });
    }
    result
}

/// Before an unlock. The lock's own state counts.
unsafe fn check_unlock(mut t: Current, l: *mut c_void, pc: usize) {
    const CURRENT_WRITER: usize = 24;
    const WRITE_LOCKED: u32 = 2;
    const READERS: u32 = 3;
    // SAFETY: glibc keeps the number of readers, above three flags, and the writer's thread at
    // these offsets.
    let (readers, writer) = unsafe { (*l.cast::<u32>(), *l.byte_add(CURRENT_WRITER).cast::<u32>()) };
    if !t.known || t.held.holds(l as usize) {
        return;
    }
    if readers >> READERS == 0 && readers & WRITE_LOCKED == 0 && writer == 0 {
        misuse::of_lock(&mut t, MisuseKind::UnlockUnlocked, l as usize, LockKind::Rwlock, pc);
    } else if writer != 0 && writer != sys::thread_id() {
        misuse::of_lock(&mut t, MisuseKind::UnlockOfAnothers, l as usize, LockKind::Rwlock, pc);
    }
}

fn taking(mut t: Current, l: *mut c_void, mode: HoldMode, pc: usize) {
    sync::locking(&mut t, l as usize, Taking { mode, what: LockKind::Rwlock, pc });
}

interpose! {
    fn pthread_rwlock_rdlock(l: *mut c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        taking(t, l, HoldMode::Read, pc);
        taken(t, l, real(l), HoldMode::Read, pc)
    } record as detect, tsvd { tsvd_sync::acquired(l as usize, real(l)) } explore {
        sync_explore::rwlock(l as usize, false, Until::NEVER, pc)
    }
    fn pthread_rwlock_tryrdlock(l: *mut c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        taken(t, l, real(l), HoldMode::Read, pc)
    } record as detect, tsvd { tsvd_sync::acquired(l as usize, real(l)) } explore {
        sync_explore::try_read(l as usize, pc, || real(l))
    }
    fn pthread_rwlock_timedrdlock(l: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        taken(t, l, real(l, until), HoldMode::Read, pc)
    } record as detect, tsvd { tsvd_sync::acquired(l as usize, real(l, until)) } explore {
        sync_explore::rwlock(l as usize, false, Until::new(libc::CLOCK_REALTIME, until), pc)
    }
    fn pthread_rwlock_clockrdlock(l: *mut c_void, clock: c_int, until: *const c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        taken(t, l, real(l, clock, until), HoldMode::Read, pc)
    } record as detect, tsvd { tsvd_sync::acquired(l as usize, real(l, clock, until)) } explore {
        sync_explore::rwlock(l as usize, false, Until::new(clock, until), pc)
    }
    fn pthread_rwlock_wrlock(l: *mut c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        taking(t, l, HoldMode::Write, pc);
        taken(t, l, real(l), HoldMode::Write, pc)
    } record as detect, tsvd { tsvd_sync::acquired(l as usize, real(l)) } explore {
        sync_explore::rwlock(l as usize, true, Until::NEVER, pc)
    }
    fn pthread_rwlock_trywrlock(l: *mut c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        taken(t, l, real(l), HoldMode::Write, pc)
    } record as detect, tsvd { tsvd_sync::acquired(l as usize, real(l)) } explore {
        sync_explore::step(OpKind::TryLock, l as usize, pc, || real(l))
    }
    fn pthread_rwlock_timedwrlock(l: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        taken(t, l, real(l, until), HoldMode::Write, pc)
    } record as detect, tsvd { tsvd_sync::acquired(l as usize, real(l, until)) } explore {
        sync_explore::rwlock(l as usize, true, Until::new(libc::CLOCK_REALTIME, until), pc)
    }
    fn pthread_rwlock_clockwrlock(l: *mut c_void, clock: c_int, until: *const c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        taken(t, l, real(l, clock, until), HoldMode::Write, pc)
    } record as detect, tsvd { tsvd_sync::acquired(l as usize, real(l, clock, until)) } explore {
        sync_explore::rwlock(l as usize, true, Until::new(clock, until), pc)
    }
    fn pthread_rwlock_unlock(l: *mut c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, l as usize, pc);
        check_unlock(t, l, pc);
        sync::unlocking(t, l as usize);
        real(l)
    } record as detect, tsvd {
        tsvd_sync::released(l as usize);
        real(l)
    } explore {
        sync_explore::step(OpKind::Unlock, l as usize, pc, || real(l))
    }
    fn pthread_rwlock_destroy(l: *mut c_void) -> c_int, |t, pc, real| {
        misuse::made_or_destroyed(t, l as usize, pc);
        sync::destroyed(l as usize);
        real(l)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, l as usize, pc, || real(l))
    }
    fn pthread_rwlock_init(l: *mut c_void, attributes: *const c_void) -> c_int, |t, pc, real| {
        sync::destroyed(l as usize);
        misuse::made_or_destroyed(t, l as usize, pc);
        real(l, attributes)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, l as usize, pc, || real(l, attributes))
    }
}
