//! Choices, and what decides when there are none left to follow.

use crate::thread::LogicalThread;

/// One choice of a schedule: the thread that makes the next step, or the value taken at a choice of
/// values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct Choice(u16);

const VALUE: u16 = 1 << 15;

impl Choice {
    /// The thread that makes the next step. `t` is below
    /// [`MAX_THREADS`](crate::thread::MAX_THREADS).
    pub const fn thread(t: LogicalThread) -> Choice {
        Choice(t.0)
    }

    /// Values from 2^15 on cannot be chosen; no choice has that many.
    pub const fn value(v: u16) -> Choice {
        Choice(v | VALUE)
    }

    /// None for a choice of a value.
    pub const fn as_thread(self) -> Option<LogicalThread> {
        if self.0 & VALUE == 0 { Some(LogicalThread(self.0)) } else { None }
    }

    /// None for a choice of a thread.
    pub const fn as_value(self) -> Option<u16> {
        if self.0 & VALUE != 0 { Some(self.0 & !VALUE) } else { None }
    }

    /// The choice as it is stored and as it crosses the process boundary.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// The inverse of [`Choice::to_bits`]. Any bits are a choice.
    pub const fn from_bits(bits: u16) -> Choice {
        Choice(bits)
    }
}

/// The next thread when the current one cannot go on, for the tails that do not preempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum Next {
    /// The lowest id.
    Lowest = 0,
    /// The highest id: the newest thread.
    Highest = 1,
    /// The next id, round-robin. Delays are counted against this one (Emmi, Qadeer, Rakamarić, POPL
    /// 2011).
    Round = 2,
}

/// What decides after the prefix.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
pub enum Tail {
    /// The current thread while it can go on (section 4.1).
    NonPreemptive {
        /// The next thread when it cannot.
        next: Next,
    },
    /// As [`Tail::NonPreemptive`] with [`Next::Lowest`], and the trace has the key of each state
    /// from the end of the prefix on: see [`crate::strategy::States`].
    Keyed,
    /// Any thread, with equal probability.
    Random {
        /// The source of all randomness, here and in the other tails.
        seed: u64,
    },
    /// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random priorities, and
    /// `depth - 1` points among `length` steps where the running thread's priority drops.
    Pct {
        /// See [`Tail::Random`].
        seed: u64,
        /// The number of ordering constraints that a bug is assumed to have.
        depth: u32,
        /// The expected number of steps of the execution.
        length: u32,
    },
    /// Partial-order sampling (Yuan, Yang, Gu, CAV 2018). With an even seed, all threads are
    /// created first.
    Pos {
        /// See [`Tail::Random`].
        seed: u64,
    },
    /// Selectively uniform random walk (Zhao et al., ASPLOS 2025): uniform over the interleavings
    /// of the operations on `object` (0: of all operations), given how many each thread makes
    /// ([`Weight`]).
    Surw {
        /// See [`Tail::Random`].
        seed: u64,
        /// As in [`Op::object`](crate::Op::object).
        object: u64,
    },
    /// Partial-order sampling that steers towards reads-from constraints (RFF, Wolff et al., ASPLOS
    /// 2024).
    Constrained {
        /// See [`Tail::Random`].
        seed: u64,
    },
}

/// How many interesting operations a thread is expected to make, and who creates it (itself:
/// nobody).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Weight {
    /// The number of operations that the walk counts.
    pub count: u32,
    /// The thread that creates it; its own id if none does.
    pub parent: LogicalThread,
    /// Always zero; fills the padding.
    pub reserved: u16,
}

/// A read at `read` should get (`wanted` = 1), or should not get (0), its value from a write at
/// `write`. Write 0 is the initial value of `object`; with another write, object 0 means any.
/// `bytes` are those of the object that count, one bit each; 0 means all of them. They exist
/// because two variables may share an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Constraint {
    /// The granule.
    pub object: u64,
    /// The [`Op::site`](crate::Op::site) of the write; 0: the initial value.
    pub write: u32,
    /// The [`Op::site`](crate::Op::site) of the read.
    pub read: u32,
    /// 1 or 0, as above.
    pub wanted: u32,
    /// A bit for each byte of the granule.
    pub bytes: u32,
}

/// The maximum number of constraints in an order.
pub const MAX_CONSTRAINTS: usize = 16;

/// A [`Tail`] as words that cross the process boundary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct TailWords {
    kind: u32,
    a: u32,
    b: u32,
    reserved: u32,
    seed: u64,
    object: u64,
}

/// The header of an order that crosses the process boundary, followed by the [`Choice`]s,
/// [`Weight`]s and [`Constraint`]s. Plain data without padding; any bits are a valid header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct OrderHeader {
    /// The driver's number for the order, which the target sends back.
    pub id: u64,
    /// What decides after the prefix.
    pub tail: TailWords,
    /// How many choices follow.
    pub prefix: u32,
    /// How many weights follow the choices.
    pub weights: u32,
    /// How many constraints follow the weights.
    pub constraints: u32,
    /// The execution is cut off after this many steps.
    pub max_steps: u32,
}

const _: () = assert!(size_of::<OrderHeader>() == 56);

impl Tail {
    /// The inverse of [`Tail::from_words`].
    pub fn to_words(self) -> TailWords {
        let none = TailWords::default();
        match self {
            Tail::NonPreemptive { next } => TailWords { kind: 1, a: next as u32, ..none },
            Tail::Keyed => TailWords { kind: 7, ..none },
            Tail::Random { seed } => TailWords { kind: 2, seed, ..none },
            Tail::Pct { seed, depth, length } => TailWords { kind: 3, a: depth, b: length, seed, ..none },
            Tail::Pos { seed } => TailWords { kind: 4, seed, ..none },
            Tail::Surw { seed, object } => TailWords { kind: 5, seed, object, ..none },
            Tail::Constrained { seed } => TailWords { kind: 6, seed, ..none },
        }
    }

    /// None for a kind that this version does not know.
    pub fn from_words(words: &TailWords) -> Option<Tail> {
        let TailWords { kind, a, b, seed, object, .. } = *words;
        Some(match kind {
            1 => {
                let next = match a {
                    0 => Next::Lowest,
                    1 => Next::Highest,
                    2 => Next::Round,
                    _ => return None,
                };
                Tail::NonPreemptive { next }
            }
            7 => Tail::Keyed,
            2 => Tail::Random { seed },
            3 => Tail::Pct { seed, depth: a, length: b },
            4 => Tail::Pos { seed },
            5 => Tail::Surw { seed, object },
            6 => Tail::Constrained { seed },
            _ => return None,
        })
    }
}
