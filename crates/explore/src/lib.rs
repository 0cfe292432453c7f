//! Which interleaving next: the search of `raddle explore` after CHESS (*Finding and reproducing Heisenbugs in
//! concurrent programs*, OSDI 2008).
//!
//! The target executes *orders*, the driver searches. An order is a prefix of choices and a [`Tail`]; the
//! [`Pilot`](pilot::Pilot) in the target follows the prefix, lets the tail decide the rest, and records every
//! [`Step`]. A strategy in the driver reads the trace and makes further orders. Many orders are under way at
//! once, so strategies hand out several before they see a result, and take results in any order.
//!
//! Two layers: the pilot and the types it shares with the driver need neither std nor an allocator; what searches
//! is behind the feature `std`. All of it is pure: no file, no thread, no clock, no randomness but from seeds.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

pub mod choice;
pub mod fair;
pub mod op;
pub mod pilot;
pub mod rng;
pub mod step;
pub mod thread;

#[cfg(feature = "std")]
pub mod explain;
#[cfg(feature = "std")]
pub mod fingerprint;
#[cfg(feature = "std")]
pub mod order;
#[cfg(feature = "std")]
pub mod pairs;
#[cfg(feature = "std")]
pub mod points;
#[cfg(feature = "std")]
pub mod portfolio;
#[cfg(feature = "std")]
pub mod relaxed;
#[cfg(feature = "std")]
pub mod shrink;
#[cfg(feature = "std")]
pub mod strategy;
#[cfg(feature = "std")]
pub mod trace;
#[cfg(feature = "std")]
pub mod upcoming;
#[cfg(feature = "std")]
pub mod visited;

pub use choice::{Choice, Constraint, MAX_CONSTRAINTS, Next, OrderHeader, Tail, TailWords, Weight};
pub use op::{Op, OpKind, dependent, dependent_when_fair};
pub use pilot::{Course, Pilot, View};
pub use step::{Step, StepFlags, TraceBuf, TraceFull};
pub use thread::{MAX_THREADS, ThreadId, ThreadSet};

#[cfg(feature = "std")]
pub use order::Order;
#[cfg(feature = "std")]
pub use portfolio::Portfolio;
#[cfg(feature = "std")]
pub use strategy::{AnyStrategy, Limits, Progress, Strategy};
#[cfg(feature = "std")]
pub use trace::{Outcome, Trace, TraceView};
