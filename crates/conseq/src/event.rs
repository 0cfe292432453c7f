//! What a traced run did, as the analyses of section 7 see it.

/// A thread, numbered from 0 in the order of creation.
pub type ThreadId = u16;

/// One event. A trace is a sequence of these, in the order in which they happened: one thread ran
/// at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// Who did it.
    pub thread: ThreadId,
    /// Where in the program: a number that is the same in every run. The driver knows the program
    /// counter.
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
        /// What was there before. None: the runtime did not look.
        before: Option<u64>,
        /// Whether the same instruction read it, as an exchange does.
        reads: bool,
    },
    /// A lock taken.
    Acquire {
        /// Which.
        lock: u64,
        /// Whether it was taken for reading, so that others may have it, too.
        shared: bool,
    },
    /// An attempt, which succeeded if the thread's next operation on the lock gives it back.
    Try {
        /// Which.
        lock: u64,
    },
    /// A lock given back, however it was taken.
    Release {
        /// Which.
        lock: u64,
    },
    /// A thread created. What comes before precedes all that the child does.
    Fork {
        /// The new thread.
        child: ThreadId,
    },
    /// A thread joined. All that the child did precedes what comes after.
    Join {
        /// The thread that has ended.
        child: ThreadId,
    },
    /// A thread comes to a barrier.
    Arrive {
        /// Which.
        barrier: u64,
        /// How many threads the barrier waits for, this one among them.
        count: u32,
    },
    /// One that waited there goes on.
    Leave {
        /// Which.
        barrier: u64,
    },
    /// Something is announced to whoever [receives](What::Receive) it: a signal, a message.
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
    /// A semaphore counts down: the thread has got what a [`What::Post`] gave.
    Wait {
        /// Which.
        semaphore: u64,
    },
    /// A block is handed out by the allocator. Not in every trace: who does not tell of it tells of
    /// no allocation.
    Allocate {
        /// The first address of the block.
        from: u64,
        /// The first address after it.
        to: u64,
    },
    /// A block is given back; what is there afterwards is something else.
    Free {
        /// The first address of the block.
        from: u64,
        /// The first address after it.
        to: u64,
    },
}

/// Bytes of memory and what they hold.
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
