//! A pointer to something that exists once, used like a reference.
//!
//! The runtime is re-entered on one stack: an interposed function calls the C library, which calls
//! an interposed function; a scheduling point runs a signal handler. Each finds the same
//! thread-local block and the same state. A function that returned `&'static mut` to them would
//! hand out aliasing references, and the compiler may assume that there are none.
//!
//! A [`Handle`] is a pointer. Each access through it makes its own reference, which ends with the
//! expression, the block or the call that it is made for. Code that keeps such a reference longer
//! must make sure that nobody asks for another meanwhile. This costs nothing: no count, no flag. A
//! handle stays in its thread, because a pointer cannot be sent.

/// See the module.
pub struct Handle<T>(*mut T);

impl<T> Clone for Handle<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> Handle<T> {
    /// # Safety
    /// The target lives as long as anybody uses the handle, and other threads do not touch it
    /// meanwhile.
    #[inline(always)]
    pub unsafe fn new(at: *mut T) -> Handle<T> {
        Handle(at)
    }

    /// None for null.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    #[inline(always)]
    pub unsafe fn or_none(at: *mut T) -> Option<Handle<T>> {
        if at.is_null() { None } else { Some(Handle(at)) }
    }

    pub fn as_ptr(self) -> *mut T {
        self.0
    }
}

impl<T> core::ops::Deref for Handle<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: as `new` demands. The reference is short-lived, as the module says.
        unsafe { &*self.0 }
    }
}

impl<T> core::ops::DerefMut for Handle<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0 }
    }
}
