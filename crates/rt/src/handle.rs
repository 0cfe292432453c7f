//! A pointer to something that there is one of, used like a reference.
//!
//! The runtime is entered again and again on one stack: an interposed function calls the C library,
//! which calls an interposed function; a scheduling point runs a signal handler. Each finds the same
//! thread-local block and the same state. A function that returned `&'static mut` to them would hand
//! out references that alias, and the compiler may rely on it that none do.
//!
//! A [`Handle`] is a pointer. Each access through it makes a reference of its own, which ends with
//! the expression, the block or the call that it is made for. Whoever makes such a reference last
//! longer sees to it that nobody asks for another meanwhile. It costs nothing: no count, no flag. It
//! stays in its thread, because a pointer cannot be sent.

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
    /// What it points to lives as long as anybody uses the handle, and other threads leave it alone
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
