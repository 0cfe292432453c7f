//! What each thread does next, at each point of a trace.

use crate::step::Step;
use crate::thread::LogicalThread;

const NONE: u32 = u32::MAX;

/// A cursor through a trace that knows the next step of every thread. Until a thread makes that
/// step, it is the thread's pending operation. So a trace tells what the threads not chosen would
/// have done.
#[derive(Clone, Debug, Default)]
pub struct Upcoming {
    next: Vec<u32>,
    following: Vec<u32>,
}

impl Upcoming {
    /// Moves to the beginning of the trace.
    pub fn begin(&mut self, steps: &[Step]) {
        self.next.clear();
        self.following.clear();
        self.following.resize(steps.len(), NONE);
        for (i, step) in steps.iter().enumerate().rev() {
            let t = step.thread.index();
            if t >= self.next.len() {
                self.next.resize(t + 1, NONE);
            }
            self.following[i] = self.next[t];
            self.next[t] = i as u32;
        }
    }

    /// Moves past step `i`, which must be the next of the trace.
    #[inline]
    pub fn pass(&mut self, i: usize, step: &Step) {
        self.next[step.thread.index()] = self.following[i];
    }

    /// The index of the thread's next step, if it makes one.
    #[inline]
    pub fn next(&self, t: LogicalThread) -> Option<usize> {
        self.next.get(t.index()).filter(|i| **i != NONE).map(|i| *i as usize)
    }

    /// The index of the step of the same thread after step `i`.
    #[inline]
    pub fn after(&self, i: usize) -> Option<usize> {
        self.following.get(i).filter(|i| **i != NONE).map(|i| *i as usize)
    }

    /// The thread's pending step, if it makes one. A waiting thread's next step can change without
    /// its doing (a signal turns a time-out into a wake-up), but not its objects: the kind may be
    /// wrong, the objects are right.
    #[inline]
    pub fn pending<'a>(&self, t: LogicalThread, steps: &'a [Step]) -> Option<&'a Step> {
        Some(&steps[self.next(t)?])
    }
}
