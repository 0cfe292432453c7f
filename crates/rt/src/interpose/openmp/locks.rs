//! `critical`, `atomic` for which the machine has no instruction, and the locks of `omp.h`.

use core::ffi::{c_int, c_void};

use crate::detect::held_locks::HoldMode;
use crate::detect::sync::{self, Taking};
use crate::detect::thread::{Current, current};
use crate::explore::openmp as explored;
use crate::interpose::interpose;
use raddle_wire::record::LockKind;

/// All unnamed critical sections are one lock, all atomic blocks another.
static UNNAMED: u64 = 0;
static ATOMIC: u64 = 0;

fn taking(pc: usize) -> Taking {
    Taking { mode: HoldMode::Write, what: LockKind::OpenMp, pc }
}

fn within<R>(mut t: Current, real: impl FnOnce() -> R) -> R {
    t.openmp.within_lock = true;
    let r = real();
    current().openmp.within_lock = false;
    r
}

fn wait_for(mut t: Current, key: usize, pc: usize, real: impl FnOnce()) {
    sync::locking(&mut t, key, taking(pc));
    within(t, real);
    sync::locked(current(), key, taking(pc));
}

fn tried(t: Current, key: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    let result = within(t, real);
    if result != 0 {
        sync::locked(current(), key, taking(pc));
    }
    result
}

fn let_go(t: Current, key: usize, real: impl FnOnce()) {
    sync::unlocking(t, key);
    within(t, real);
}

interpose! {
    fn GOMP_critical_start(), |t, pc, real| { wait_for(t, &raw const UNNAMED as usize, pc, || real()) } record as detect, tsvd real, explore { explored::lock(explored::UNNAMED.get(), pc) }
    fn GOMP_critical_end(), |t, pc, real| {
        let_go(t, &raw const UNNAMED as usize, || real())
    } record as detect, tsvd real, explore { explored::unlock(explored::UNNAMED.get(), pc) }
    fn GOMP_critical_name_start(name: *mut c_void), |t, pc, real| { wait_for(t, name as usize, pc, || real(name)) } record as detect, tsvd real, explore { explored::lock(name.cast(), pc) }
    fn GOMP_critical_name_end(name: *mut c_void), |t, pc, real| {
        let_go(t, name as usize, || real(name))
    } record as detect, tsvd real, explore { explored::unlock(name.cast(), pc) }
    fn GOMP_atomic_start(), |t, pc, real| { wait_for(t, &raw const ATOMIC as usize, pc, || real()) } record as detect, tsvd real, explore { explored::lock(explored::ATOMIC.get(), pc) }
    fn GOMP_atomic_end(), |t, pc, real| {
        let_go(t, &raw const ATOMIC as usize, || real())
    } record as detect, tsvd real, explore { explored::unlock(explored::ATOMIC.get(), pc) }
    fn omp_init_lock(lock: *mut c_void), |t, pc, real| {
        sync::destroyed(lock as usize);
        real(lock)
    } record as detect, tsvd real, explore { *lock.cast::<u32>() = 0 }
    fn omp_destroy_lock(lock: *mut c_void), |t, pc, real| {
        sync::destroyed(lock as usize);
        real(lock)
    } record as detect, tsvd real, explore {  }
    fn omp_set_lock(lock: *mut c_void), |t, pc, real| { wait_for(t, lock as usize, pc, || real(lock)) } record as detect, tsvd real, explore { explored::lock(lock.cast(), pc) }
    fn omp_unset_lock(lock: *mut c_void), |t, pc, real| {
        let_go(t, lock as usize, || real(lock))
    } record as detect, tsvd real, explore { explored::unlock(lock.cast(), pc) }
    fn omp_test_lock(lock: *mut c_void) -> c_int, |t, pc, real| { tried(t, lock as usize, pc, || real(lock)) } record as detect, tsvd real, explore { c_int::from(explored::test(lock.cast(), pc)) }
    fn omp_init_nest_lock(lock: *mut c_void), |t, pc, real| {
        sync::destroyed(lock as usize);
        real(lock)
    } record as detect, tsvd real, explore { *lock.cast() = explored::NestLock::FREE }
    fn omp_destroy_nest_lock(lock: *mut c_void), |t, pc, real| {
        sync::destroyed(lock as usize);
        real(lock)
    } record as detect, tsvd real, explore {  }
    fn omp_set_nest_lock(lock: *mut c_void), |t, pc, real| { wait_for(t, lock as usize, pc, || real(lock)) } record as detect, tsvd real, explore { explored::nest_lock(lock.cast(), pc) }
    fn omp_unset_nest_lock(lock: *mut c_void), |t, pc, real| {
        let_go(t, lock as usize, || real(lock))
    } record as detect, tsvd real, explore { explored::nest_unlock(lock.cast(), pc) }
    fn omp_test_nest_lock(lock: *mut c_void) -> c_int, |t, pc, real| { tried(t, lock as usize, pc, || real(lock)) } record as detect, tsvd real, explore { explored::nest_test(lock.cast(), pc) as c_int }
}
