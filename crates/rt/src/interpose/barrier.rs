//! Barriers: everything that any of the threads did before happens before everything that any does
//! after.

use core::ffi::{c_int, c_void};

use super::interpose;
use crate::detect::{misuse, objects, sync};
use crate::explore::sync as sync_explore;
use crate::tsvd::sync as tsvd_sync;
use raddle_explore::OpKind;

interpose! {
    fn pthread_barrier_init(b: *mut c_void, attributes: *const c_void, count: u32) -> c_int, |t, pc, real| {
        sync::destroyed(b as usize);
        misuse::made_or_destroyed(t, b as usize, pc);
        objects::with(b as usize, |o| o.make_more().barrier.count = count);
        real(b, attributes, count)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, b as usize, pc, || sync_explore::barrier_init(b as usize, count))
    }
    fn pthread_barrier_wait(b: *mut c_void) -> c_int, |t, pc, real| {
        misuse::used(&mut t, b as usize, pc);
        let phase = sync::barrier_arrived(t, b as usize);
        let r = real(b);
        sync::barrier_passed(t, b as usize, phase);
        r
    } record as detect, tsvd {
        tsvd_sync::released(b as usize);
        let r = real(b);
        tsvd_sync::acquired(b as usize, 0);
        r
    } explore {
        sync_explore::barrier_wait(b as usize, pc)
    }
    fn pthread_barrier_destroy(b: *mut c_void) -> c_int, |t, pc, real| {
        misuse::made_or_destroyed(t, b as usize, pc);
        let r = real(b);
        sync::destroyed(b as usize);
        r
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, b as usize, pc, || 0)
    }
}
