//! Critical sections and the locks of `omp.h`: a word that is 0 while the lock is free.

use raddle_explore::OpKind;

use crate::explore::{Wait, op, point, state};
use crate::sys::Shared;

pub static UNNAMED: Shared<u32> = Shared::new(0);
pub static ATOMIC: Shared<u32> = Shared::new(0);

/// libgomp's layout of `omp_nest_lock_t`.
#[repr(C)]
pub struct NestLock {
    word: u32,
    count: u32,
    owner: usize,
}

impl NestLock {
    pub const FREE: NestLock = NestLock { word: 0, count: 0, owner: 0 };
}

/// SAFETY: `word` is the lock's first word.
pub unsafe fn lock(word: *mut u32, pc: usize) {
    point(op(OpKind::Lock, word as usize, pc), Wait::Word(word as usize), pc);
    // SAFETY: by the caller's contract.
    unsafe { *word = 1 };
}

/// SAFETY: as for [`lock`].
pub unsafe fn unlock(word: *mut u32, pc: usize) {
    point(op(OpKind::Unlock, word as usize, pc), Wait::Nothing, pc);
    // SAFETY: by the caller's contract.
    unsafe { *word = 0 };
}

/// SAFETY: as for [`lock`].
pub unsafe fn test(word: *mut u32, pc: usize) -> bool {
    point(op(OpKind::TryLock, word as usize, pc), Wait::Nothing, pc);
    // SAFETY: by the caller's contract.
    unsafe { core::mem::replace(&mut *word, 1) == 0 }
}

/// The running thread as an owner; 0 is nobody.
fn me() -> usize {
    state().current + 1
}

/// SAFETY: the program's lock.
pub unsafe fn nest_lock(l: *mut NestLock, pc: usize) {
    // SAFETY: by the caller's contract.
    unsafe {
        if (*l).owner != me() {
            lock(&raw mut (*l).word, pc);
            (*l).owner = me();
            (*l).count = 0;
        }
        (*l).count += 1;
    }
}

/// How often the lock is held now; 0 if another thread holds it. SAFETY: as for [`nest_lock`].
pub unsafe fn nest_test(l: *mut NestLock, pc: usize) -> u32 {
    // SAFETY: by the caller's contract.
    unsafe {
        if (*l).owner != me() {
            if !test(&raw mut (*l).word, pc) {
                return 0;
            }
            (*l).owner = me();
            (*l).count = 0;
        }
        (*l).count += 1;
        (*l).count
    }
}

/// SAFETY: as for [`nest_lock`].
pub unsafe fn nest_unlock(l: *mut NestLock, pc: usize) {
    // SAFETY: by the caller's contract.
    unsafe {
        (*l).count = (*l).count.saturating_sub(1);
        if (*l).count == 0 {
            (*l).owner = 0;
            unlock(&raw mut (*l).word, pc);
        }
    }
}
