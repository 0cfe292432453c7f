//! Made-up executions, for tests of the code that judges them.

use raddle_wire::explore::{ExecutionEnd, Header, Slot, parts};

use crate::worker::{Ending, Execution};

/// An execution without steps, with a slot that `set` fills in.
pub fn with_slot<R>(set: impl FnOnce(&mut Slot), then: impl FnOnce(Execution<'_>) -> R) -> R {
    let header = Header::new(1, 1, 0, 1, 1);
    let mut memory = vec![0u64; header.slot_bytes() / 8];
    // SAFETY: the memory is one slot's, and used here only.
    let slot = unsafe { parts(&header, memory.as_mut_ptr().cast()) }.slot;
    set(slot);
    then(Execution {
        slot,
        steps: &[],
        wide: &[],
        stacks: &[],
        keys: &[],
        ending: Ending::Finished,
        watched: None,
    })
}

/// Sets an exit with this status and this number of panics.
pub fn exits(status: u64, panics: u32) -> impl FnOnce(&mut Slot) {
    move |slot| {
        slot.set_outcome(ExecutionEnd::Exit);
        (slot.detail, slot.panics) = (status, panics);
    }
}
