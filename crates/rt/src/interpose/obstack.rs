//! Obstacks, as far as they are functions and not macros.

use core::ffi::{c_int, c_void};

use super::access::accesses;

/// The size of a chunk, the chunk, the growing object, its end and the end of the chunk.
type Head = [usize; 5];

accesses! {
    fn _obstack_begin(stack: *mut Head, size: c_int, alignment: c_int, take: usize, give: usize) -> c_int, |c| { c.changes_outside(); c.writes_one(stack) }
    fn _obstack_begin_1(stack: *mut Head, size: c_int, alignment: c_int, take: usize, give: usize, argument: *mut c_void) -> c_int, |c| {
        c.changes_outside();
        c.writes_one(stack)
    }
    fn _obstack_newchunk(stack: *mut Head, n: c_int), |c| {
        c.changes_outside();
        // The growing object moves to the new chunk.
        c.reads((*stack)[2] as *const u8, (*stack)[3] - (*stack)[2]);
        c.writes_one(&raw const (*stack)[1])
    }
}
