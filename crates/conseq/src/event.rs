//! What a traced run did, as the analyses of section 7 see it.

/// A thread, numbered from 0 in the order of creation.
pub type ThreadId = u16;

/// One event. A trace is a sequence of these, in the order in which they happened: one thread ran
/// at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub thread: ThreadId,
    /// Where in the program: a number that is the same in every run. The driver knows the program
    /// counter.
    pub site: u32,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A value read.
    Read(Cell),
    /// A value written. `before` is what was there, where that is known; `reads`: it was read in
    /// the same instant.
    Write {
        cell: Cell,
        before: Option<u64>,
        reads: bool,
    },
    /// A lock taken; `shared`: for reading.
    Acquire {
        lock: u64,
        shared: bool,
    },
    /// An attempt, which succeeded if the thread's next operation on the lock gives it back.
    Try {
        lock: u64,
    },
    Release {
        lock: u64,
    },
    Fork {
        child: ThreadId,
    },
    Join {
        child: ThreadId,
    },
    /// One of `count` threads comes to a barrier.
    Arrive {
        barrier: u64,
        count: u32,
    },
    /// One that waited there goes on.
    Leave {
        barrier: u64,
    },
    /// Something is announced to whoever [receives](What::Receive) it: a signal, a message.
    Send {
        channel: u64,
    },
    Receive {
        channel: u64,
    },
    /// A semaphore counts up, or down.
    Post {
        semaphore: u64,
    },
    Wait {
        semaphore: u64,
    },
    /// A block is given back; what is there afterwards is something else.
    Free {
        from: u64,
        to: u64,
    },
}

/// Bytes of memory and what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    pub address: u64,
    pub size: u8,
    pub value: u64,
    pub atomic: bool,
}
