//! Which interleaving to try next: the search of `raddle explore` after CHESS (*Finding and
//! reproducing Heisenbugs in concurrent programs*, OSDI 2008).
//!
//! The target executes *orders*, the driver searches. An order is a prefix of choices and a
//! [`Tail`]. The [`Pilot`] in the target follows the prefix, lets the tail decide the rest, and
//! records every [`Step`]. A strategy in the driver reads the trace and makes further orders. Many
//! orders run at once, so strategies hand out several before they see a result, and accept results
//! in any order.
//!
//! There are two layers. The pilot and the types that it shares with the driver need neither std
//! nor an allocator; the search is behind the feature `std`. All of it is pure: no file, no thread,
//! no clock, and randomness only from seeds.
//!
//! # Example
//! Two threads make one write each. The inner loop stands for the target.
//! ```
//! use raddle_explore::strategy::{DepthFirst, Strategy};
//! use raddle_explore::{Op, OpKind, Outcome, Pilot, Step};
//! use raddle_explore::{LogicalThread, ThreadSet, TraceBuf, TraceView, View};
//!
//! let mut strategy = DepthFirst::new();
//! let mut pilot = Box::new(Pilot::new());
//! let (mut steps, mut wide) = ([Step::default(); 8], [0; 8]);
//! let mut executions = 0;
//! while let Some(order) = strategy.next() {
//!     pilot.begin(&order.course());
//!     let mut trace = TraceBuf::new(&mut steps, &mut wide);
//!     let mut enabled: ThreadSet = [LogicalThread(0), LogicalThread(1)].into_iter().collect();
//!     let pending = [Op::new(OpKind::DataWrite, 8, 1), Op::new(OpKind::DataWrite, 8, 2)];
//!     while !enabled.is_empty() {
//!         let view = View { enabled: &enabled, reluctant: &ThreadSet::new(), pending: &pending };
//!         let next = pilot.choose(&order.prefix, &view);
//!         pilot.record(&view, &mut trace).unwrap();
//!         enabled.remove(next);
//!     }
//!     let n = trace.len();
//!     let divergence = pilot.divergence();
//!     let trace =
//!         TraceView::new(&steps[..n], &wide, Outcome::Passed, divergence);
//!     strategy.observe(&order, trace);
//!     executions += 1;
//! }
//! assert_eq!(executions, 2);
//! assert!(strategy.progress().exhausted);
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod choice;
pub mod clock;
mod fair;
pub mod hidden;
pub mod op;
pub mod pilot;
pub mod races;
pub mod stale;
pub mod state_key;
pub mod step;
pub mod thread;

#[cfg(feature = "std")]
pub mod explain;
#[cfg(feature = "std")]
pub mod fingerprint;
#[cfg(feature = "std")]
pub mod order;
#[cfg(feature = "std")]
mod pairs;
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
mod upcoming;
#[cfg(feature = "std")]
pub mod visited;

pub use choice::{Choice, Constraint, MAX_CONSTRAINTS, Next, OrderHeader, Tail, TailWords, Weight};
pub use op::{Op, OpKind, SYSTEM_V, TIMER_STEP, TIMERS, dependent, dependent_when_fair};
pub use pilot::{Course, Pilot, View};
pub use state_key::{StateKey, Unknowable};
pub use step::{Step, StepFlags, TraceBuf, TraceFull};
pub use thread::{LogicalThread, MAX_THREADS, ThreadSet};

#[cfg(feature = "std")]
pub use order::Order;
#[cfg(feature = "std")]
pub use portfolio::Portfolio;
#[cfg(feature = "std")]
pub use strategy::{AnyStrategy, Limits, Progress, Strategy};
#[cfg(feature = "std")]
pub use trace::{Outcome, Trace, TraceView};
