//! Fair scheduling: *Fair stateless model checking* (Musuvathi, Qadeer, PLDI 2008), section 4.3 of
//! the CHESS paper.
//!
//! A thread that yields says that it cannot make progress. The scheduler keeps a priority relation
//! `P`: while `(t, u)` is in it and `u` is enabled, `t` may not run. For each thread `u` it watches
//! the *window* since `u` last yielded:
//!
//! - `E(u)`: the threads enabled throughout the window;
//! - `D(u)`: the threads that a step of `u` has disabled in it;
//! - `S(u)`: the threads that made a step in it.
//!
//! When `t` makes a step, all pairs `(_, t)` leave `P`. When that step yields, `t` falls below
//! `(E(t) ∪ D(t)) \ S(t)`: the threads that it kept waiting although they wanted to run. Then a new
//! window begins. `P` is acyclic, so some enabled thread may always run. A thread that yields in a
//! loop is held back until the threads that it starves have run: a spin loop ends if others can end
//! it.
//!
//! If a thread yields only when it cannot make progress, no safety violation is missed (section
//! 4.3). A thread's first yield only opens its window, so a spin loop goes round once more before
//! it gives way.
//!
//! Which yields count is the pilot's choice: a program that yields a few times and then blocks
//! yields although it can make progress, so that a safety violation can be missed after all.
//!
//! Deviation: a window exists only from a thread's first yield on. The paper begins with `S(u)` =
//! all threads, so that the first yield adds nothing to `P`. The effect is the same, at no cost for
//! programs that never yield.

use crate::thread::{LogicalThread, MAX_THREADS, ThreadSet};

/// The state of the fair scheduler. Rows are valid only for members of `windows` and `lowered`, so
/// that starting a new execution only clears two sets.
#[derive(Debug)]
pub struct Fair {
    windows: ThreadSet,
    /// Threads `t` whose row of `P` may not be empty.
    lowered: ThreadSet,
    below: [ThreadSet; MAX_THREADS],
    enabled_throughout: [ThreadSet; MAX_THREADS],
    disabled_by: [ThreadSet; MAX_THREADS],
    scheduled: [ThreadSet; MAX_THREADS],
}

impl Default for Fair {
    fn default() -> Fair {
        Fair::new()
    }
}

impl Fair {
    /// No thread has yielded: all may run.
    pub const fn new() -> Fair {
        Fair {
            windows: ThreadSet::new(),
            lowered: ThreadSet::new(),
            below: [ThreadSet::new(); MAX_THREADS],
            enabled_throughout: [ThreadSet::new(); MAX_THREADS],
            disabled_by: [ThreadSet::new(); MAX_THREADS],
            scheduled: [ThreadSet::new(); MAX_THREADS],
        }
    }

    /// A new execution begins.
    pub fn reset(&mut self) {
        self.windows.clear();
        self.lowered.clear();
    }

    /// `t` has made a step, from a state where `before` were enabled to one where `after` are.
    #[inline]
    pub fn stepped(&mut self, t: LogicalThread, yielded: bool, before: &ThreadSet, after: &ThreadSet) {
        if yielded || !self.windows.is_empty() {
            self.update(t, yielded, before, after);
        }
    }

    #[cold]
    fn update(&mut self, t: LogicalThread, yielded: bool, before: &ThreadSet, after: &ThreadSet) {
        for u in self.lowered.iter() {
            self.below[u.index()].remove(t);
        }
        for u in self.windows.iter() {
            self.enabled_throughout[u.index()].intersect_with(after);
            self.scheduled[u.index()].insert(t);
        }
        let i = t.index();
        if i >= MAX_THREADS {
            return;
        }
        if self.windows.contains(t) {
            let mut disabled = *before;
            disabled.subtract(after);
            self.disabled_by[i].union_with(&disabled);
        }
        if !yielded {
            return;
        }
        if !self.lowered.contains(t) {
            self.below[i].clear();
        }
        if self.windows.contains(t) {
            let mut starved = self.enabled_throughout[i];
            starved.union_with(&self.disabled_by[i]);
            starved.subtract(&self.scheduled[i]);
            self.below[i].union_with(&starved);
            self.lowered.insert(t);
        }
        self.enabled_throughout[i].assign(after);
        self.disabled_by[i].clear();
        self.scheduled[i].clear();
        self.windows.insert(t);
    }

    /// Removes from the enabled `threads` those that may not run. True if there were any.
    #[inline]
    pub fn filter(&self, threads: &mut ThreadSet) -> bool {
        !self.lowered.is_empty() && self.hold_back(threads)
    }

    #[cold]
    fn hold_back(&self, threads: &mut ThreadSet) -> bool {
        let enabled = *threads;
        for t in self.lowered.iter() {
            if self.below[t.index()].intersects(&enabled) {
                threads.remove(t);
            }
        }
        *threads != enabled
    }
}
