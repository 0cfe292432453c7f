//! The interface that gcc, clang and rustc compile calls to: `__tsan_*`.

pub mod access;
mod atomic;
mod misc;

pub use misc::__tsan_atomic_thread_fence as fence;
