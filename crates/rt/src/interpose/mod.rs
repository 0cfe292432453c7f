//! Functions of the C and C++ libraries in whose place the runtime stands, one family a file.
//!
//! [`interpose!`] writes what they have in common: an entry that leaves the caller's address with the thread, the way to
//! the real function, and nothing but that real function while no driver watches.

mod alloc;
mod barrier;
mod c11;
mod cancel;
mod condvar;
mod context;
mod cxx;
pub mod descriptor;
mod jump;
pub mod memory;
mod messages;
mod mutex;
mod once;
pub mod openmp;
mod process;
mod processors;
mod rwlock;
mod scheduled;
mod semaphore;
mod signal;
mod stdio;
mod string;
pub mod thread;
mod timers;

pub use jump::Jumps;
pub use once::Pending as Once;
pub use openmp::Place as OpenMp;
pub use signal::Pending;

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering::*};

use crate::sys;

/// A function of the C library, found when it is first wanted.
pub struct Real {
    name: &'static CStr,
    /// Where the plain name gives an older function: condition variables had another layout before 2.3.2.
    version: Option<&'static CStr>,
    at: AtomicUsize,
}

impl Real {
    pub const fn new(name: &'static CStr, version: Option<&'static CStr>) -> Real {
        Real { name, version, at: AtomicUsize::new(0) }
    }

    #[inline(always)]
    pub fn get(&self) -> usize {
        match self.at.load(Relaxed) {
            0 => self.find(),
            at => at,
        }
    }

    #[cold]
    #[inline(never)]
    fn find(&self) -> usize {
        // SAFETY: plain look-ups by name, in what comes behind the runtime. No `dlopen` for a handle of the C library: it
        // allocates, and an allocator of the program's own may lock a mutex and come back here.
        let at = unsafe {
            let mut at = match self.version {
                Some(v) => sys::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), v.as_ptr()),
                None => core::ptr::null_mut(),
            };
            if at.is_null() {
                at = sys::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
            }
            at as usize
        };
        if at == 0 {
            sys::write(2, b"raddle: the C library has no ");
            sys::write(2, self.name.to_bytes());
            sys::die(b"\n");
        }
        self.at.store(at, Relaxed);
        crate::explore::found(&self.at);
        at
    }
}

/// `fn NAME(ARGUMENTS) -> RESULT, |t, pc, real| { … } tsvd { … } explore { … }`: stands in the place of NAME. The first body
/// runs while a driver watches, the one behind `tsvd`, if there is one, under `raddle tsvd`, the last, if there is one, while the program is explored (`explore cancels`: it is a cancellation point); `t` is the thread (in the first), `pc` the
/// place of the call, `real` the function itself.
macro_rules! interpose {
    ($($(#[$meta:meta])* fn $name:ident($($a:ident: $ty:ty),* $(,)?) $(-> $r:ty)? $(= $version:literal)?, |$t:ident, $pc:ident, $real:ident| $body:block $(tsvd $tsvd:block)? $(explore $($cancels:ident)? $explore:block)?)*) => {$(
        const _: () = {
            $crate::entry::entry!(concat!("__interpose_", stringify!($name)), body);
            $(#[$meta])*
            unsafe extern "C-unwind" fn body($($a: $ty),*) $(-> $r)? {
                type Function = unsafe extern "C-unwind" fn($($ty),*) $(-> $r)?;
                const VERSION: Option<&core::ffi::CStr> = $crate::interpose::version!($($version)?);
                static REAL: $crate::interpose::Real = $crate::interpose::Real::new(
                    match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!(),
                    },
                    VERSION,
                );
                // First of all: looking for the real function may call others that are interposed.
                #[allow(unused_variables, reason = "not every body wants all three")]
                let $pc = $crate::detect::thread::current().caller;
                #[allow(unused_variables, reason = "not every body wants all three")]
                // SAFETY: the C library's function of that name has this type.
                let $real = unsafe { core::mem::transmute::<usize, Function>(REAL.get()) };
                $(if $crate::explore::is_on() {
                    #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe)]
                    // SAFETY: as for the body below; nothing that may block is called.
                    return unsafe { $crate::interpose::explored!($($cancels)? $explore) };
                })?
                $(if $crate::tsvd::is_on() {
                    #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe)]
                    // SAFETY: as for the body below.
                    return unsafe { $tsvd };
                })?
                if !$crate::hub::is_active() {
                    // SAFETY: the caller's call, passed on.
                    return unsafe { $real($($a),*) };
                }
                #[allow(unused_variables, reason = "not every body wants all three")]
                let $t = $crate::detect::thread::current();
                #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe)]
                // SAFETY: each body passes the caller's arguments on, and touches only what the function may touch.
                unsafe { $body }
            }
        };
    )*};
}
pub(crate) use interpose;

/// The body of a cancellation point: the thread may end before it and, when it was broken off for that, behind it. Behind any
/// other, one that may be ended at any moment. Here and not within, because frames of plain Rust can not be unwound.
macro_rules! explored {
    ($body:block) => {{
        #[allow(clippy::redundant_closure_call, reason = "the body returns from here")]
        let result = (move || $body)();
        #[allow(unreachable_code, reason = "some functions do not return")]
        {
            $crate::explore::cancel::behind_any();
            result
        }
    }};
    (cancels $body:block) => {{
        $crate::explore::cancel::before();
        #[allow(clippy::redundant_closure_call, reason = "the body returns from here")]
        let result = (move || $body)();
        $crate::explore::cancel::after();
        result
    }};
}
pub(crate) use explored;

macro_rules! version {
    () => {
        None
    };
    ($v:literal) => {
        Some($v)
    };
}
pub(crate) use version;
