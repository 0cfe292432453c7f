//! What every other crate may use: [`clock`] (behind the feature of that name), [`rng`], [`hash`]
//! and [`grouped`].
//!
//! The crate is `no_std`. Without the feature `clock` it needs no allocator either, so the runtime
//! in the target can link it.
#![no_std]
#[cfg(feature = "clock")]
extern crate alloc;

#[cfg(feature = "clock")]
pub mod clock;
pub mod grouped;
pub mod hash;
pub mod rng;
