//! Data races and lock-order cycles, as pure functions of a sequence of events.
//!
//! - [`machine`]: the state machines of *ThreadSanitizer – data race detection in practice*
//!   (Serebryany and Iskhodzhanov, WBIA 2009): hybrid, pure happens-before, fast. Start there: its
//!   essay lists every deviation from the paper and states which properties the tests check.
//! - [`event`]: what the machines consume. [`report`]: what they produce.
//! - `atomics`: which atomic operations synchronise, after C++11.
//! - [`lock_order`]: potential deadlocks, after GoodLock.
//! - `segment`, `segment_set`, `lockset`: the paper's definitions (4.1), one file each.
//!
//! Nothing here opens a file, starts a thread or reads a clock. The code prefers clarity to speed:
//! tests compare the fast implementation in the runtime with it, event by event.
#![warn(missing_docs)]

pub mod event;
pub mod lock_order;
pub mod machine;
pub mod report;

mod annotations;
mod atomics;
mod lockset;
mod memory;
mod ownership;
mod segment;
mod segment_set;
mod sync;

pub use event::{
    Annotation, AtomicOp, ByteRange, Event, EventKind, EventSource, LockId, LockMode, MemoryOrder, SyncId,
};
pub use lockset::LockSet;
pub use machine::{InitializationUnit, MachineConfig, RaceDetector, SegmentStart, StateMachine};
pub use raddle_base::clock::ThreadId;
pub use report::{Race, RacingAccess};
