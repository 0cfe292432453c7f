//! The memory of a state. A state consists of atomics and plain numbers, for which zero is a valid
//! value. So fresh pages from the system are already a state, and untouched pages cost nothing.

use core::mem::{align_of, size_of};

use crate::{Params, Tsvd};

/// The bytes that a state needs, all zero.
pub const SIZE: usize = size_of::<Tsvd>();
/// The address of a state is a multiple of this.
pub const ALIGN: usize = align_of::<Tsvd>();

impl Tsvd {
    /// Makes a state in memory that the caller gives up forever.
    ///
    /// # Safety
    /// `memory` is valid for reads and writes of [`SIZE`] bytes for the rest of the program,
    /// aligned to [`ALIGN`], all zero, and nobody else uses it.
    pub unsafe fn place<'a>(memory: *mut u8, params: &Params) -> &'a Tsvd {
        // SAFETY: the caller's promise; a state of zeroes is valid.
        let state = unsafe { &mut *memory.cast::<Tsvd>() };
        state.begin_with(params);
        state
    }

    /// A state on the heap, for tests and simulations.
    #[cfg(any(feature = "std", test))]
    pub fn boxed(params: &Params) -> Box<Tsvd> {
        // SAFETY: see the module; a policy of zero is valid too.
        let mut state: Box<Tsvd> = unsafe { zeroed_box() };
        state.begin_with(params);
        state
    }
}

/// # Safety
/// All zeroes is a value of `T`.
#[cfg(any(feature = "std", test))]
pub(crate) unsafe fn zeroed_box<T>() -> Box<T> {
    use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
    let layout = Layout::new::<T>();
    // A state is larger than a stack, so it cannot be made there and moved.
    // SAFETY: the states made here are not of size zero.
    let memory = unsafe { alloc_zeroed(layout) }.cast::<T>();
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: from the global allocator with the layout of `T`, and zeroes are a value by the
    // caller's promise.
    unsafe { Box::from_raw(memory) }
}
