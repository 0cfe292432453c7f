//! Functions of the C library that were looked up by name: later executions need not look them up
//! again.
//!
//! If executions run in place, the word that holds the address is excluded from what is restored.
//! An execution in its own process notes what it has found in memory shared with its parent, and
//! the parent takes it over before it makes the next one.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use raddle_wire::explore::flag;

use super::{has, is_running, state};
use crate::sys;

const MOST: usize = 254;

/// Fits into a page. Zeros are an empty list.
#[repr(C)]
pub struct List {
    count: usize,
    reserved: usize,
    /// A word of the runtime, and its value.
    of: [(usize, usize); MOST],
}

/// Called before the first execution.
pub fn prepare() {
    if has(flag::FORK) {
        state().found = sys::shared_pages(size_of::<List>()).cast();
    }
}

/// The word has just got its value.
pub fn found(word: &AtomicUsize) {
    if !is_running() {
        return;
    }
    // SAFETY: null, or shared memory of that size; one execution writes at a time.
    match unsafe { state().found.as_mut() } {
        None => state().snapshot.keep_word(word),
        Some(list) if list.count < MOST => {
            list.of[list.count] = (word.as_ptr() as usize, word.load(Relaxed));
            list.count += 1;
        }
        Some(_) => {}
    }
}

/// Called in the parent after an execution. An entry counts once it is complete, so it does not
/// matter how the child ended.
pub fn take_over() {
    // SAFETY: as above, and the child has ended.
    let Some(list) = (unsafe { state().found.as_mut() }) else { return };
    for (word, value) in list.of.iter().take(list.count.min(MOST)) {
        // SAFETY: a static of the runtime, which has the same address in both.
        unsafe { (*(*word as *const AtomicUsize)).store(*value, Relaxed) };
    }
    list.count = 0;
}
