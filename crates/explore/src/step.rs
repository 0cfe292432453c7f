//! One step of an execution, as the runtime records it and the strategies read it, without
//! conversion.

use crate::op::{Op, OpKind};
use crate::thread::{LogicalThread, Members, ThreadSet};

/// One step. At a choice of threads, `eligible` says who could have been chosen: the enabled
/// threads that fair scheduling lets run. At a choice of values ([`Step::n_values`] > 0) the thread
/// is the one that makes it.
///
/// Plain data: 40 bytes, no padding, and any bits are a valid step, though perhaps a wrong one. So
/// shared memory can be read in place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Step {
    /// What the thread did; at a choice of values, what the choice is about.
    pub op: Op,
    /// The thread that made the step.
    pub thread: LogicalThread,
    /// The number of values to choose from; 0 at a choice of threads.
    pub n_values: u16,
    /// The value chosen, below `n_values`.
    pub value: u16,
    /// How the choice came about.
    pub flags: StepFlags,
    /// Threads 0 to 63, or, with [`StepFlags::WIDE`], an index into the wide words and the number
    /// of words of a set.
    set: u64,
}

/// Further facts that the pilot knows about a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct StepFlags(pub u16);

impl StepFlags {
    /// The sets are in the wide words: first the eligible threads, then the reluctant ones among
    /// them.
    pub const WIDE: StepFlags = StepFlags(1);
    /// The prefix made the choice, not the tail.
    pub const FROM_PREFIX: StepFlags = StepFlags(2);
    /// The thread of the previous step could have gone on: it is eligible, did not yield, and is
    /// not reluctant. Choosing another is a preemption.
    pub const CAN_CONTINUE: StepFlags = StepFlags(4);
    /// It could have gone on, and another was chosen.
    pub const PREEMPTION: StepFlags = StepFlags(8);
    /// Fair scheduling holds back an enabled thread.
    pub const HELD_BACK: StepFlags = StepFlags(16);
    /// An `AtomicRmw` that wrote nothing: a compare-and-exchange that found another value.
    pub const UNCHANGED: StepFlags = StepFlags(32);
    /// An `AtomicRmw` that wrote the value it found.
    pub const SAME_VALUE: StepFlags = StepFlags(64);

    /// Whether any of the bits of `flag` is set.
    #[inline]
    pub const fn has(self, flag: StepFlags) -> bool {
        self.0 & flag.0 != 0
    }

    /// Adds the bits of `flag` if `on`; never removes any.
    #[inline]
    pub const fn with(self, flag: StepFlags, on: bool) -> StepFlags {
        if on { StepFlags(self.0 | flag.0) } else { self }
    }
}

impl Step {
    /// A step without further information.
    pub fn bare(thread: LogicalThread, op: Op) -> Step {
        Step { op, thread, ..Step::default() }
    }

    /// The eligible threads, as words of a set. `wide` belongs to the trace.
    #[inline]
    pub fn eligible_words<'a>(&'a self, wide: &'a [u64]) -> &'a [u64] {
        if !self.flags.has(StepFlags::WIDE) {
            return core::slice::from_ref(&self.set);
        }
        let (at, n) = self.wide_place();
        wide.get(at..at + n).unwrap_or(&[])
    }

    /// The eligible threads that are reluctant: about to time out, or to wake up spuriously.
    #[inline]
    pub fn reluctant_words<'a>(&self, wide: &'a [u64]) -> &'a [u64] {
        if !self.flags.has(StepFlags::WIDE) {
            return &[];
        }
        let (at, n) = self.wide_place();
        wide.get(at + n..at + 2 * n).unwrap_or(&[])
    }

    #[inline]
    fn wide_place(&self) -> (usize, usize) {
        ((self.set >> 8) as usize, (self.set & 0xff) as usize)
    }

    /// The threads that could have been chosen. `wide` belongs to the trace.
    #[inline]
    pub fn eligible<'a>(&'a self, wide: &'a [u64]) -> Members<'a> {
        Members::of(self.eligible_words(wide))
    }

    /// Whether the thread was eligible and reluctant. `wide` belongs to the trace.
    #[inline]
    pub fn is_reluctant(&self, t: LogicalThread, wide: &[u64]) -> bool {
        self.reluctant_words(wide).get(t.index() / 64).is_some_and(|w| w >> (t.0 % 64) & 1 != 0)
    }

    /// Whether this wrote to memory. A compare-and-exchange that found another value did not.
    #[inline]
    pub fn wrote(&self) -> bool {
        self.op.is_memory_write() && !self.flags.has(StepFlags::UNCHANGED)
    }

    /// Whether this may have given memory another value.
    #[inline]
    pub fn changed(&self) -> bool {
        self.wrote() && !self.flags.has(StepFlags::SAME_VALUE)
    }

    /// Whether this was a choice of values.
    #[inline]
    pub fn is_value(&self) -> bool {
        self.n_values > 0
    }
}

/// A trace that is being written, into memory of the caller.
#[derive(Debug)]
pub struct TraceBuf<'a> {
    steps: &'a mut [Step],
    wide: &'a mut [u64],
    len: usize,
    wide_len: usize,
}

/// The trace has no room for another step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceFull;

impl<'a> TraceBuf<'a> {
    /// Continues at `len` steps and `wide_len` wide words, where an earlier `TraceBuf` on the same
    /// memory stopped; 0 and 0 begin a trace.
    pub fn resume(steps: &'a mut [Step], wide: &'a mut [u64], len: usize, wide_len: usize) -> TraceBuf<'a> {
        TraceBuf { steps, wide, len, wide_len }
    }

    /// An empty trace. It has room for as many steps as the slice.
    pub fn new(steps: &'a mut [Step], wide: &'a mut [u64]) -> TraceBuf<'a> {
        TraceBuf::resume(steps, wide, 0, 0)
    }

    /// Steps so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no step yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Wide words so far, for [`TraceBuf::resume`].
    pub fn wide_len(&self) -> usize {
        self.wide_len
    }

    /// The step at `at`, if it is an atomic update, turns out to be [`StepFlags::UNCHANGED`] or
    /// [`StepFlags::SAME_VALUE`].
    pub fn mark_update(&mut self, at: usize, flag: StepFlags) {
        let step = self.steps[..self.len].get_mut(at).filter(|s| s.op.kind() == OpKind::AtomicRmw);
        if let Some(step) = step {
            step.flags = step.flags.with(flag, true);
        }
    }

    /// Adds a step that chose a thread. `reluctant` need not be a subset of `eligible`.
    #[inline]
    pub fn push_thread(
        &mut self,
        thread: LogicalThread,
        op: Op,
        flags: StepFlags,
        eligible: &ThreadSet,
        reluctant: &ThreadSet,
    ) -> Result<(), TraceFull> {
        let narrow = eligible.words().len() <= 1 && !eligible.intersects(reluctant);
        let (set, flags) = if narrow {
            (eligible.words().first().copied().unwrap_or(0), flags)
        } else {
            (self.push_wide(eligible, reluctant)?, flags.with(StepFlags::WIDE, true))
        };
        self.push(Step { op, thread, n_values: 0, value: 0, flags, set })
    }

    /// Adds a step that chose `value` of `n_values`.
    #[inline]
    pub fn push_value(
        &mut self,
        thread: LogicalThread,
        op: Op,
        flags: StepFlags,
        n_values: u16,
        value: u16,
    ) -> Result<(), TraceFull> {
        self.push(Step { op, thread, n_values, value, flags, set: 0 })
    }

    #[inline]
    fn push(&mut self, step: Step) -> Result<(), TraceFull> {
        *self.steps.get_mut(self.len).ok_or(TraceFull)? = step;
        self.len += 1;
        Ok(())
    }

    #[cold]
    fn push_wide(&mut self, eligible: &ThreadSet, reluctant: &ThreadSet) -> Result<u64, TraceFull> {
        let n = eligible.words().len().max(1);
        let at = self.wide_len;
        let room = self.wide.get_mut(at..at + 2 * n).ok_or(TraceFull)?;
        room.fill(0);
        room[..eligible.words().len()].copy_from_slice(eligible.words());
        for (i, r) in reluctant.words().iter().enumerate().take(n) {
            room[n + i] = room[i] & r;
        }
        self.wide_len += 2 * n;
        Ok((at as u64) << 8 | n as u64)
    }
}

const _: () = assert!(size_of::<Step>() == 40 && align_of::<Step>() == 8);
