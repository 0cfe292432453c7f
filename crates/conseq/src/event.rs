//! What a traced run did, as the analyses of section 7 see it.

/// A thread, numbered from 0 in the order of creation.
pub type TracedThread = u16;

/// One event. A trace is a sequence of events in the order in which they happened: one thread ran
/// at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// The thread.
    pub thread: TracedThread,
    /// The place in the program: a number that is the same in every run. The driver knows the
    /// program counter.
    pub site: u32,
    /// What was done.
    pub what: What,
}

/// What a thread did. Locks, semaphores, barriers and channels are named by their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A value read.
    Read(Cell),
    /// A value written.
    Write {
        /// What is there afterwards.
        cell: Cell,
        /// The value before. `None`: the runtime did not look.
        before: Option<u64>,
        /// Whether the same instruction read it, as an exchange does.
        reads: bool,
    },
    /// A lock taken.
    Acquire {
        /// Which.
        lock: u64,
        /// Whether it was acquired for reading, so that other threads may have it, too.
        shared: bool,
    },
    /// An attempt to acquire a lock. It succeeded if the thread's next operation on the lock
    /// releases it.
    Try {
        /// Which.
        lock: u64,
    },
    /// A lock released, however it was acquired.
    Release {
        /// Which.
        lock: u64,
    },
    /// A thread created. Earlier events precede everything that the child does.
    Fork {
        /// The new thread.
        child: TracedThread,
    },
    /// A thread joined. Everything that the child did precedes later events.
    Join {
        /// The thread that has ended.
        child: TracedThread,
    },
    /// A thread arrives at a barrier.
    Arrive {
        /// Which.
        barrier: u64,
        /// How many threads the barrier waits for, including this one.
        count: u32,
    },
    /// A thread that waited at a barrier continues.
    Leave {
        /// Which.
        barrier: u64,
    },
    /// Something is announced to the thread that [receives](What::Receive) it: a signal, a message.
    Send {
        /// The condition variable, the pipe, or whatever carries it.
        channel: u64,
    },
    /// The latest [`What::Send`] on the channel precedes what comes after.
    Receive {
        /// As in [`What::Send`].
        channel: u64,
    },
    /// A semaphore counts up.
    Post {
        /// Which.
        semaphore: u64,
    },
    /// A semaphore counts down: the thread has received a [`What::Post`].
    Wait {
        /// Which.
        semaphore: u64,
    },
    /// The allocator hands out a block. Some traces have no allocations at all.
    Allocate {
        /// The first address of the block.
        from: u64,
        /// The first address after it.
        to: u64,
    },
    /// A block is freed; what is there afterwards is another object.
    Free {
        /// The first address of the block.
        from: u64,
        /// The first address after it.
        to: u64,
    },
}

/// Bytes of memory and their value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The first byte.
    pub address: u64,
    /// Bytes, from 1 to 8.
    pub size: u8,
    /// The bytes as a little-endian number.
    pub value: u64,
    /// Whether the program used an atomic operation.
    pub atomic: bool,
}
