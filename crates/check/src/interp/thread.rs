//! Simulated threads and their call stacks.

use super::clock::SimulatedClock;
use super::context::{ContextId, LockHold};

#[derive(Debug, Clone, Copy)]
pub struct CallFrame {
    pub function: u32,
    /// Where the caller continues.
    pub return_pc: u32,
    /// Where this frame's locals begin in the thread's stack.
    pub base: u32,
    /// Address of the frame's memory, 0 if it has none.
    pub memory: u32,
    pub memory_size: u32,
    /// The call context of the frame; 0 until it is needed.
    pub context: ContextId,
    /// Address of the arguments beyond the declared ones.
    pub varargs: u32,
    /// The machine itself made this callback and drops its result.
    pub discard: bool,
}

/// Why a thread does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Runnable,
    /// Waits for a lock. `shared`: for its reading side. `timed`: it may give up.
    Lock {
        lock: u64,
        shared: bool,
        timed: bool,
    },
    /// Waits for a notification.
    Condition {
        condition: u64,
        timed: bool,
    },
    Semaphore {
        semaphore: u64,
        timed: bool,
    },
    Barrier {
        barrier: u64,
    },
    Join {
        thread: usize,
    },
    Once {
        once: u64,
    },
    /// Lets others go first.
    Sleeping,
    /// Waits for an interrupt, or anything else.
    Pausing,
    /// A handler runs on this thread's stack.
    Interrupted {
        by: usize,
    },
    Ended,
}

/// The progress of a wait on a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaitPhase {
    #[default]
    None,
    Waiting,
    /// Notified; the lock must be taken again.
    Notified,
    TimedOut,
}

#[derive(Debug)]
pub struct SimulatedThread {
    pub stack: Vec<u64>,
    pub frames: Vec<CallFrame>,
    pub pc: u32,
    pub state: State,
    pub clock: SimulatedClock,
    /// What its relaxed stores publish: its clock at the last release fence.
    pub released: SimulatedClock,
    /// What its relaxed loads have seen. The next acquire fence joins it.
    pub seen: SimulatedClock,
    pub held: Vec<LockHold>,
    /// The locks that it has taken so far, if the callers of the entry may hold one of them.
    pub taken: Vec<LockHold>,
    pub lockset: u16,
    pub function: u32,
    /// The thread that started it, and where.
    pub parent: Option<usize>,
    pub started_at: u32,
    pub started_in: ContextId,
    pub result: u64,
    pub joined: bool,
    /// A join of an unknown handle was taken for one of this thread.
    pub joined_by_guess: bool,
    /// It runs a finalizer.
    pub finalizes: bool,
    /// A join named this thread.
    pub joined_by_name: bool,
    /// What its function was called with.
    pub argument: u64,
    /// What the function that started it was given besides its function and argument, if only that
    /// function's name is known. A join may be given the same.
    pub known_by: Vec<u64>,
    pub tls: u32,
    pub keys: Vec<u64>,
    /// Rounds of destructors run so far.
    pub destructor_rounds: u8,
    pub wait: WaitPhase,
    /// A timed wait that may give up now.
    pub expired: bool,
    /// Its place in a team, and the team's size.
    pub member: (u64, u64),
    /// It is a handler on this thread's stack.
    pub interrupts: Option<usize>,
    /// The interrupts that it blocks, one bit each. An unknown set blocks all.
    pub mask: u64,
    /// Its clock when it last let interrupts in.
    pub let_in: SimulatedClock,
    /// Its jump targets, by the number that `SetJump` left in memory.
    pub jumps: Vec<super::jump::JumpTarget>,
    /// The timer whose ticks it runs, and its argument.
    pub timer: Option<u64>,
    /// The function that each tick calls. Reports may name another function, which that one calls.
    pub tick: u32,
    /// Its clock when its tick began.
    pub tick_began: SimulatedClock,
    /// An unlock of an unknown object was ignored, so the held locks are not certain.
    pub vague: bool,
    /// Calls of undefined functions that were replaced by a callback.
    pub called_back: Vec<u32>,
    /// How many times it has asked to ignore its reads, and its writes.
    pub ignores: [u32; 2],
    /// Blocks that live as long as a frame: depth, address and size.
    pub frame_blocks: Vec<(u32, u32, u32)>,
    /// It will be, or was, cancelled.
    pub cancelled: bool,
    /// The function it calls when it is cancelled; 0 after that.
    pub on_cancel: u64,
}

impl SimulatedThread {
    pub fn new(function: u32, parent: Option<usize>) -> Self {
        Self {
            stack: Vec::with_capacity(64),
            frames: Vec::with_capacity(8),
            pc: 0,
            state: State::Runnable,
            clock: SimulatedClock::default(),
            released: SimulatedClock::default(),
            seen: SimulatedClock::default(),
            held: Vec::new(),
            taken: Vec::new(),
            lockset: 0,
            function,
            parent,
            started_at: 0,
            started_in: 0,
            result: 0,
            joined: false,
            joined_by_guess: false,
            finalizes: false,
            joined_by_name: false,
            argument: 0,
            known_by: Vec::new(),
            tls: 0,
            keys: Vec::new(),
            destructor_rounds: 0,
            wait: WaitPhase::None,
            expired: false,
            member: (0, 1),
            interrupts: None,
            mask: 0,
            let_in: SimulatedClock::default(),
            jumps: Vec::new(),
            timer: None,
            tick: function,
            tick_began: SimulatedClock::default(),
            vague: false,
            called_back: Vec::new(),
            ignores: [0; 2],
            frame_blocks: Vec::new(),
            cancelled: false,
            on_cancel: 0,
        }
    }

    #[inline(always)]
    pub fn push(&mut self, v: u64) {
        self.stack.push(v);
    }

    #[inline(always)]
    pub fn pop(&mut self) -> u64 {
        self.stack.pop().unwrap_or(0)
    }

    #[inline(always)]
    pub fn top(&self) -> u64 {
        self.stack.last().copied().unwrap_or(0)
    }

    #[inline(always)]
    fn slot(&self, n: u16) -> usize {
        self.frames.last().map_or(0, |f| f.base) as usize + usize::from(n)
    }

    #[inline(always)]
    pub fn local(&self, n: u16) -> u64 {
        self.stack[self.slot(n)]
    }

    #[inline(always)]
    pub fn set_local(&mut self, n: u16, v: u64) {
        let slot = self.slot(n);
        self.stack[slot] = v;
    }

    pub fn ended(&self) -> bool {
        self.state == State::Ended
    }
}
