//! The part of raddle that lives inside the target.
//!
//! The runtime is a guest in another program. It never symbolises, never calls the target's
//! `malloc`, never unwinds across the boundary, and takes no lock that the target could hold. It
//! writes its findings to a log that the driver reads.
//!
//! ```text
//! tsan_abi/    probes that the compilers call: accesses, atomics, function entry and exit
//! interpose/   C and C++ library functions that synchronise, allocate, copy, block or end threads
//! annotate/    annotations: dynamic (section 5 of the paper), helgrind's, TSan's public interface
//! detect/      the detector
//! explore/     the scheduler: one thread at a time, by the driver's orders
//! tsvd/        calls of thread-unsafe functions, redirected and delayed
//! trace/       what each access of an explored execution read or wrote, for `conseq`
//! relocated/   copied code of a program without probes: what it calls, how it is installed
//! hub/         session, config, plan, log, modules
//! mode         which of these the process is for
//! ```
//!
//! Invariants:
//! - The crate is one object, linked into the executable or made into `libraddle_rt.so`. A function
//!   that takes the place of `NAME` is called `__interpose_NAME` here. The build first points all
//!   references of the runtime itself to `memcpy` and similar functions at [`mem`], and then
//!   renames the function. So tests of this crate interpose nothing.
//! - As the runtime (profile `rt`, panic = abort), the crate uses neither the Rust standard library
//!   nor an allocator. Memory comes from [`sys::pages`] and [`sys::ARENA`] and is seldom returned.
//! - Thread state is in initial-exec thread-local storage. It is zero before the thread is known.
//! - A process that no driver watches pays for its probes, and nothing else happens.
#![cfg_attr(panic = "abort", no_std)]
// `interpose!` processes its functions one by one.
#![recursion_limit = "512"]
#![expect(
    clippy::not_unsafe_ptr_arg_deref,
    clippy::missing_safety_doc,
    reason = "modules are public for the tests of this crate; nobody else calls them"
)]

pub mod annotate;
pub mod detect;
mod entry;
pub mod explore;
pub mod handle;
pub mod hub;
pub mod interpose;
mod layout;
#[cfg(any(panic = "abort", test))]
mod mem;
pub mod mode;
mod relocated;
mod sys;
pub mod trace;
pub mod tsan_abi;
pub mod tsvd;

#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    sys::die(b"raddle: internal error in the runtime\n")
}
