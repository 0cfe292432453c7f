//! Interposed functions of the C and C++ libraries, one family a file.
//!
//! [`interpose!`] writes what they have in common: an entry that stores the caller's address in the
//! thread, the call of the real function, and nothing but that call while no driver watches.

mod access;
mod aio;
mod alloc;
mod at_thread_exit;
mod barrier;
mod c11;
mod caller;
mod cancel;
pub mod channel;
mod clocks;
mod condvar;
mod context;
mod cookies;
mod cxx;
mod descriptor;
pub mod descriptor_use;
pub mod exit_wait;
pub mod fifo;
mod file_changes;
mod files;
mod format;
mod fortified;
mod jump;
mod loader;
mod long_double;
pub mod memory;
mod memory_streams;
mod messages;
pub mod mutex;
mod obstack;
mod once;
pub mod openmp;
mod patterns;
mod positioned;
pub mod process;
mod processors;
mod readiness;
mod room;
mod rwlock;
mod scheduled;
mod search;
mod semaphore;
mod signal;
pub mod stack_size;
mod stdio;
mod string;
mod system;
pub mod thread;
mod thread_slots;
mod timers;
mod transfer;
mod wide;
mod xdr;

pub use jump::Jumps;
pub use once::Pending as Once;
pub use openmp::OpenMp;
pub use signal::Pending;

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering::*};

use crate::detect::thread::current;
use crate::sys;

/// A function of the C library, looked up when it is first needed.
pub struct Real {
    name: &'static CStr,
    /// The version to look up, if the plain name gives an older function: condition variables had
    /// another layout before 2.3.2.
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
        // The lookup may call interposed functions.
        let (kept, arguments) = (current().kept, current().arguments);
        // SAFETY: plain lookups by name, in the libraries after the runtime. This does not `dlopen`
        // a handle of the C library: that allocates, and an allocator of the program may lock a
        // mutex and come back here.
        let at = unsafe {
            let mut at = match self.version {
                Some(v) => sys::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), v.as_ptr()),
                None => core::ptr::null_mut(),
            };
            if at.is_null() {
                at = sys::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
            }
            if at.is_null() {
                // A function of a library that the linker has left out: the program needs it for
                // nothing that the runtime does not define. Allocators do not call those.
                at = beside_libc(self.name);
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
        (current().kept, current().arguments) = (kept, arguments);
        at
    }
}

/// A function of one of the C library's companions.
fn beside_libc(name: &CStr) -> *mut core::ffi::c_void {
    // SAFETY: plain lookups by name.
    let look = |library: &CStr| unsafe {
        let library = sys::dlopen(library.as_ptr(), libc::RTLD_LAZY);
        if library.is_null() { library } else { sys::dlsym(library, name.as_ptr()) }
    };
    let libraries = [c"libm.so.6", c"libresolv.so.2", c"libcrypt.so.1", c"libcrypt.so.2"];
    libraries.into_iter().map(look).find(|at| !at.is_null()).unwrap_or_default()
}

/// Interposed functions, each with what it does in every [`Mode`](crate::mode::Mode):
///
/// ```text
/// fn NAME(ARGUMENTS) -> RESULT, |t, pc, real| { … } record as detect, tsvd real, explore { … }
/// ```
///
/// The first body is that of `detect`. The other modes follow in any order: a body, `as detect`, or
/// `real` for only the C library's function. `explore cancels { … }` is a cancellation point, and
/// `explore may_cancel { … }` is one where it waits. A missing mode is a compile error that names
/// the function and the mode. In a body, `t` is the thread, `pc` the call site and `real` the C
/// library's function.
macro_rules! interpose {
    () => {};
    ($(#[$meta:meta])* fn $name:ident($($a:ident: $ty:ty),* $(,)?) $(-> $r:ty)? $(= $version:literal)?,
     |$t:ident, $pc:ident, $real:ident| $detect:block $($rest:tt)*) => {
        $crate::interpose::modes! {
            { $(#[$meta])* $name ($($a: $ty),*) ($($r)?) ($($version)?) $t $pc $real $detect }
            [] [] [] $($rest)*
        }
    };
}
pub(crate) use interpose;

/// Sorts the modes of the first function: those as `detect`, those that are `real`, those with
/// bodies.
macro_rules! modes {
    ($f:tt [$($like:ident)*] $real:tt $own:tt $mode:ident as detect $($rest:tt)*) => {
        $crate::interpose::modes! { $f [$($like)* $mode] $real $own $($rest)* }
    };
    ($f:tt $like:tt [$($real:ident)*] $own:tt $mode:ident real $($rest:tt)*) => {
        $crate::interpose::modes! { $f $like [$($real)* $mode] $own $($rest)* }
    };
    ($f:tt $like:tt $real:tt [$($own:tt)*] explore cancels $body:block $($rest:tt)*) => {
        $crate::interpose::modes! {
            $f $like $real [$($own)* explore { $crate::interpose::explored!(cancels $body) }] $($rest)*
        }
    };
    ($f:tt $like:tt $real:tt [$($own:tt)*] explore may_cancel $body:block $($rest:tt)*) => {
        $crate::interpose::modes! {
            $f $like $real [$($own)* explore { $crate::interpose::explored!(may_cancel $body) }] $($rest)*
        }
    };
    ($f:tt $like:tt $real:tt [$($own:tt)*] explore $body:block $($rest:tt)*) => {
        $crate::interpose::modes! {
            $f $like $real [$($own)* explore { $crate::interpose::explored!($body) }] $($rest)*
        }
    };
    ($f:tt $like:tt $real:tt [$($own:tt)*] $mode:ident $body:block $($rest:tt)*) => {
        $crate::interpose::modes! { $f $like $real [$($own)* $mode $body] $($rest)* }
    };
    ($f:tt $like:tt $real:tt $own:tt , $($rest:tt)*) => {
        $crate::interpose::modes! { $f $like $real $own $($rest)* }
    };
    ($f:tt $like:tt $real:tt $own:tt $($rest:tt)*) => {
        $crate::interpose::function! { $f $like $real $own }
        $crate::interpose::interpose! { $($rest)* }
    };
}
pub(crate) use modes;

macro_rules! function {
    ({ $(#[$meta:meta])* $name:ident ($($a:ident: $ty:ty),*) ($($r:ty)?) ($($version:literal)?)
       $t:ident $pc:ident $real:ident $detect:block }
     [$($like:ident)*] [$($as_real:ident)*] [$($mode:ident $own:block)*]) => {
        const _: () = {
            $crate::entry::entry!(concat!("__interpose_", stringify!($name)), body);
            // The `match` below says which mode is missing; this says for which function.
            const NAMED: u32 = 0 $(| 1 << $crate::mode::word::$like as u32)*
                $(| 1 << $crate::mode::word::$as_real as u32)* $(| 1 << $crate::mode::word::$mode as u32)*;
            assert!(
                NAMED == $crate::mode::BESIDE_DETECT,
                concat!(stringify!($name), " does not say what it does in every mode of the runtime")
            );
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
                #[allow(unused_variables, unused_mut, reason = "not every body wants all three")]
                let mut $t = $crate::detect::thread::current();
                // Must come first: looking for the real function may call other interposed
                // functions.
                #[allow(unused_variables, reason = "not every body wants all three")]
                let $pc = $t.caller;
                if $crate::explore::is_on() {
                    use $crate::explore::states;
                    const LISTED: states::Listed = states::listed(stringify!($name));
                    const ARITY: usize = <[&str]>::len(&[$(stringify!($a)),*]);
                    states::calls(LISTED, ARITY);
                }
                #[allow(unused_variables, reason = "not every body wants all three")]
                // SAFETY: the C library's function of that name has this type.
                let $real = unsafe { core::mem::transmute::<usize, Function>(REAL.get()) };
                #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe)]
                // SAFETY: each body passes the caller's arguments on, and touches only what the
                // function may touch. While the program is explored, nothing that may block is
                // called.
                unsafe {
                    match $crate::mode::mode() {
                        $crate::mode::Mode::Off $(| $crate::mode::word::$as_real)* => $real($($a),*),
                        $crate::mode::word::detect $(| $crate::mode::word::$like)* => $detect,
                        $($crate::mode::word::$mode => $own,)*
                    }
                }
            }
        };
    };
}
pub(crate) use function;

/// The body of an explored function. At a cancellation point the thread may end before it and, if
/// it was broken off for that, after it. After any other function, a thread with asynchronous
/// cancellation may end. This is done here and not inside the body, because frames of plain Rust
/// cannot be unwound.
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
    (may_cancel $body:block) => {{
        #[allow(clippy::redundant_closure_call, reason = "the body returns from here")]
        let result = (move || $body)();
        $crate::explore::cancel::after();
        $crate::explore::cancel::behind_any();
        result
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
