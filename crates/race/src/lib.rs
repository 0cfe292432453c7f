//! Data races and lock-order cycles, as pure functions of a sequence of events.
//!
//! - [`machine`]: the state machines of *ThreadSanitizer – data race detection in practice* (Serebryany and
//!   Iskhodzhanov, WBIA 2009): hybrid, pure happens-before, fast. Start there; its essay lists every deviation
//!   from the paper and states what is proved about the machines by the tests.
//! - [`event`]: what the machines consume. [`report`]: what they produce.
//! - [`atomics`]: which atomic operations synchronise, after C++11.
//! - [`lock_order`]: potential deadlocks, after GoodLock.
//! - [`segment`], [`segment_set`], [`lockset`]: the paper's definitions (4.1), one file each.
//!
//! Nothing here opens a file, starts a thread or reads a clock. Clarity comes before speed: this is
//! the oracle that a fast implementation is compared with, event by event.

pub mod atomics;
pub mod event;
pub mod lock_order;
pub mod lockset;
pub mod machine;
pub mod report;
pub mod segment;
pub mod segment_set;

mod annotations;
mod memory;
mod ownership;
mod sync;

pub use event::{
    Annotation, AtomicOp, ByteRange, Context, Event, EventKind, LockId, LockMode, MemoryOrder, SyncId,
};
pub use machine::{Config, Granule, History, Machine, Mode};
pub use raddle_base::clock::ThreadId;
pub use report::{Access, Race};
