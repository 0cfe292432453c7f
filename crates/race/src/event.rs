//! The events of a run (paper, 4.1 and 5), and the names that occur in them.
//!
//! The paper's event is a triple {type, Tid, ID}. Here the triple is [`Event`]: who ([`ThreadId`]),
//! what with which ID ([`EventKind`]), and where ([`EventSource`]), which the paper calls the event
//! context and leaves to the observing framework. Thread creation and joining are not event types
//! of their own: like the paper, they are a SIGNAL and a WAIT ([`Event::thread_started`],
//! [`Event::thread_joined`]).
//!
//! # Deviations from the paper
//! 1. A memory access names a range of bytes; the paper's names one ID, which is one byte.
//! 2. C++11 atomics and fences are events ([`EventKind::Atomic`], [`EventKind::Fence`]); the paper
//!    has none.
//! 3. Allocation and release of memory are events; the paper leaves them to the implementation.

use raddle_base::clock::ThreadId;
use std::fmt;

/// Where an event came from: a stack trace's number, a place in the source. Opaque here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventSource(pub u64);

/// A lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockId(pub u64);

impl fmt::Display for LockId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "L{}", self.0)
    }
}

/// How a lock is held or wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockMode {
    /// Several threads may hold the lock in this mode at once.
    Read,
    /// One thread at a time holds the lock in this mode. A mutex is always in it.
    Write,
}

impl LockMode {
    /// Whether one thread in this mode keeps out another in that mode.
    pub fn excludes(self, other: Self) -> bool {
        self == Self::Write || other == Self::Write
    }
}

/// The ID at which a SIGNAL and a WAIT meet. Objects of the program and lives of threads have
/// separate names, so that no address of the program can collide with a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncId {
    /// An object of the program, by its address: a condition variable, a semaphore, an annotation.
    Object(u64),
    /// Where the creation of this thread meets the thread's first event.
    ThreadStart(ThreadId),
    /// Where the end of this thread meets whoever joins it.
    ThreadEnd(ThreadId),
}

/// The bytes `[start, start + size)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    /// The lowest address.
    pub start: u64,
    /// In bytes. A range of size zero contains no byte and overlaps nothing.
    pub size: u64,
}

impl ByteRange {
    /// No check is made: a range that goes past the top of the address space ends there.
    pub const fn new(start: u64, size: u64) -> Self {
        Self { start, size }
    }

    /// The first address after the range. A range cannot wrap: it ends at the top of the address
    /// space.
    pub fn end(self) -> u64 {
        self.start.saturating_add(self.size)
    }

    /// Every address in the range, in ascending order.
    pub fn bytes(self) -> std::ops::Range<u64> {
        self.start..self.end()
    }

    /// Whether `byte` is an address in the range.
    pub fn contains(self, byte: u64) -> bool {
        self.bytes().contains(&byte)
    }

    /// Whether the two have a byte in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.start.max(other.start) < self.end().min(other.end())
    }

    /// What is left of this range without the other: nothing, one piece or two.
    pub fn without(self, other: Self) -> impl Iterator<Item = Self> {
        let below = self.start..self.end().min(other.start).max(self.start);
        let above = self.start.max(other.end()).min(self.end())..self.end();
        // Without overlap both pieces would be the whole; the first one says it all.
        let pieces = if self.overlaps(other) { [below, above] } else { [self.bytes(), 0..0] };
        pieces.into_iter().filter(|piece| !piece.is_empty()).map(|p| Self::new(p.start, p.end - p.start))
    }
}

/// The memory orders of C++11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// Orders nothing.
    Relaxed,
    /// Treated as [`MemoryOrder::Acquire`].
    Consume,
    /// A read sees what the writer did before its release.
    Acquire,
    /// A write hands over what the thread did before it.
    Release,
    /// A read-modify-write or a fence that does both.
    AcqRel,
    /// Acquires and releases. The single total order of these operations adds no happens-before.
    SeqCst,
}

impl MemoryOrder {
    /// Whether a read (or fence) of this order acquires. Consume counts as acquire, as all
    /// compilers do it.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Consume | Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether a write (or fence) of this order releases.
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

/// An operation on an atomic object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Reads the object. An order that only releases acts as relaxed.
    Load(MemoryOrder),
    /// Writes the object. An order that only acquires acts as relaxed.
    Store(MemoryOrder),
    /// A read-modify-write that always writes: exchange, fetch-add and their like.
    Rmw(MemoryOrder),
    /// One that fails is a load with the order for failure, and writes nothing.
    CompareExchange {
        /// Applies if the exchange succeeds.
        success: MemoryOrder,
        /// Applies if it fails.
        failure: MemoryOrder,
        /// Whether the value was exchanged in the observed run.
        succeeded: bool,
    },
}

/// The dynamic annotations of section 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// `ANNOTATE_HAPPENS_BEFORE(ptr)`: SIGNAL(ptr).
    HappensBefore(u64),
    /// `ANNOTATE_HAPPENS_AFTER(ptr)`: WAIT(ptr).
    HappensAfter(u64),
    /// `ANNOTATE_CONDVAR_LOCK_WAIT(cv, mu)`: WAIT(cv).
    CondvarLockWait {
        /// Its address.
        condvar: u64,
        /// The mutex that protects it. The machines do not use it.
        mutex: LockId,
    },
    /// `ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX(lock)`.
    PureHappensBeforeMutex(LockId),
    /// `ANNOTATE_NOT_HAPPENS_BEFORE_MUTEX(lock)`.
    NotHappensBeforeMutex(LockId),
    /// `ANNOTATE_BENIGN_RACE(ptr)`, with a size.
    BenignRace(ByteRange),
    /// The thread's reads do not count until the matching end. Regions nest.
    IgnoreReadsBegin,
    /// Without a matching begin it has no effect.
    IgnoreReadsEnd,
    /// Reads too: see deviation 14 of [`machine`](crate::machine).
    IgnoreWritesBegin,
    /// Without a matching begin it has no effect.
    IgnoreWritesEnd,
    /// What was known of a lock with this name is forgotten.
    RwlockCreate(LockId),
    /// Threads that still hold the lock no longer do.
    RwlockDestroy(LockId),
    /// The same as [`EventKind::WrLock`] or [`EventKind::RdLock`].
    RwlockAcquired(LockId, LockMode),
    /// The same as [`EventKind::WrUnlock`] or [`EventKind::RdUnlock`].
    RwlockReleased(LockId, LockMode),
    /// A SIGNAL that each later access to these bytes waits for.
    PublishMemoryRange(ByteRange),
    /// A WAIT for all remembered accesses to these bytes; it also undoes their publication.
    UnpublishMemoryRange(ByteRange),
    /// The same as [`EventKind::Alloc`].
    NewMemory(ByteRange),
    /// What reports call the thread; see [`Machine::thread_name`](crate::Machine::thread_name).
    ThreadName(String),
    /// `ANNOTATE_EXPECT_RACE(ptr)`, with a size.
    ExpectRace(ByteRange),
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An access marked `atomic` synchronises nothing (see [`EventKind::Atomic`] for that) and does
    /// not race with other atomic accesses.
    Read {
        /// What is read.
        bytes: ByteRange,
        /// Whether the program used an atomic instruction.
        atomic: bool,
    },
    /// The counterpart of [`EventKind::Read`], with the same meaning of `atomic`.
    Write {
        /// What is written.
        bytes: ByteRange,
        /// Whether the program used an atomic instruction.
        atomic: bool,
    },
    /// The thread has taken the lock for writing. Nested acquisitions are counted.
    WrLock(LockId),
    /// The thread has taken the lock for reading. Nested acquisitions are counted.
    RdLock(LockId),
    /// Undoes one [`EventKind::WrLock`]; ignored if the thread has none.
    WrUnlock(LockId),
    /// Undoes one [`EventKind::RdLock`]; ignored if the thread has none.
    RdUnlock(LockId),
    /// What the thread did so far happens before each later WAIT with this ID.
    Signal(SyncId),
    /// Every earlier SIGNAL with this ID happens before what the thread does from now on.
    Wait(SyncId),
    /// The bytes are fresh: what happened there before concerned another object.
    Alloc(ByteRange),
    /// The bytes are freed.
    Free(ByteRange),
    /// An access to an atomic object, with what it synchronises.
    Atomic {
        /// The object. Its identity is the start; see the limits in the essay of `atomics`.
        bytes: ByteRange,
        /// What is done to it, and with which memory order.
        op: AtomicOp,
    },
    /// A fence of the calling thread. A relaxed one has no effect.
    Fence(MemoryOrder),
    /// A dynamic annotation by the thread.
    Annotate(Annotation),
}

/// One event: who, where, what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who. A thread exists from its first event on.
    pub thread: ThreadId,
    /// Where, as reports will quote it.
    pub context: EventSource,
    /// What, with the objects concerned.
    pub kind: EventKind,
}

impl Event {
    /// Puts the parts together. [`Event::thread_started`] and [`Event::thread_joined`] make pairs.
    pub fn new(thread: ThreadId, context: EventSource, kind: EventKind) -> Self {
        Self { thread, context, kind }
    }

    /// `parent` creates `child`: what the parent did before precedes all that the child does.
    pub fn thread_started(parent: ThreadId, child: ThreadId, context: EventSource) -> [Self; 2] {
        let id = SyncId::ThreadStart(child);
        [Self::new(parent, context, EventKind::Signal(id)), Self::new(child, context, EventKind::Wait(id))]
    }

    /// `joiner` has joined `child`: all that the child did precedes what the joiner does from now
    /// on.
    pub fn thread_joined(joiner: ThreadId, child: ThreadId, context: EventSource) -> [Self; 2] {
        let id = SyncId::ThreadEnd(child);
        [Self::new(child, context, EventKind::Signal(id)), Self::new(joiner, context, EventKind::Wait(id))]
    }
}
