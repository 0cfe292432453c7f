//! SURW: *Selectively uniform concurrency testing* (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS
//! 2025).
//!
//! A random walk that picks threads evenly favours interleavings in which short threads come early.
//! If the number of operations left in each thread is known, and threads are picked in proportion
//! to it, every interleaving is equally likely. Doing this only for the *interesting* operations
//! keeps the rest from diluting it. The thread that makes the next interesting operation is
//! *intended* beforehand, by weight; the others may run, but wait before their own interesting
//! operations.
//!
//! A thread that does not exist yet lends its weight to the one that will create it. If all threads
//! that can run wait for an intended thread that cannot, the intention is drawn anew among those
//! that can.

use super::View;
use crate::choice::Weight;
use crate::op::Op;
use crate::thread::{LogicalThread, MAX_THREADS, ThreadSet};
use raddle_base::rng::Rng;

#[derive(Debug)]
pub(super) struct Surw {
    object: u64,
    intended: Option<LogicalThread>,
    seen: ThreadSet,
    n: usize,
    /// What a thread has left, including its descendants that do not exist yet.
    left: [u32; MAX_THREADS],
    parent: [LogicalThread; MAX_THREADS],
}

impl Surw {
    pub(super) const fn new() -> Surw {
        Surw {
            object: 0,
            intended: None,
            seen: ThreadSet::new(),
            n: 0,
            left: [0; MAX_THREADS],
            parent: [LogicalThread(0); MAX_THREADS],
        }
    }

    pub(super) fn begin(&mut self, object: u64, weights: &[Weight]) {
        self.object = object;
        self.intended = None;
        self.seen.clear();
        self.n = weights.len().min(MAX_THREADS);
        for (i, w) in weights.iter().take(self.n).enumerate() {
            self.left[i] = w.count;
            self.parent[i] = w.parent;
        }
        // A child's id is above its parent's, so one pass from the end sums up the descendants.
        for i in (0..self.n).rev() {
            let p = self.parent[i].index();
            if p < i {
                self.left[p] = self.left[p].saturating_add(self.left[i]);
            }
        }
    }

    #[inline]
    fn weight(&self, t: LogicalThread) -> u32 {
        if t.index() < self.n { self.left[t.index()] } else { 1 }
    }

    #[inline]
    fn interesting(&self, op: &Op) -> bool {
        self.object == 0 || op.keys().contains(&self.object)
    }

    #[inline]
    pub(super) fn update(&mut self, rng: &mut Rng, enabled: &ThreadSet) {
        for t in enabled.iter() {
            if !self.seen.contains(t) {
                self.seen.insert(t);
                let p = if t.index() < self.n { self.parent[t.index()].index() } else { t.index() };
                if p < t.index() {
                    self.left[p] = self.left[p].saturating_sub(self.left[t.index()]);
                }
            }
        }
        if self.intended.is_none() {
            self.intended = self.draw(rng, enabled);
        }
    }

    /// `thread` is about to make `op`.
    #[inline]
    pub(super) fn stepped(&mut self, rng: &mut Rng, thread: LogicalThread, op: &Op, enabled: &ThreadSet) {
        if !self.interesting(op) {
            return;
        }
        if thread.index() < self.n {
            self.left[thread.index()] = self.left[thread.index()].saturating_sub(1);
        }
        self.intended = self.draw(rng, enabled);
    }

    #[inline]
    pub(super) fn choose(
        &mut self,
        rng: &mut Rng,
        candidates: &ThreadSet,
        view: &View<'_>,
    ) -> Option<LogicalThread> {
        let free = |s: &Surw, t: LogicalThread| Some(t) == s.intended || !s.interesting(&view.pending(t));
        let n = candidates.iter().filter(|t| free(self, *t)).count() as u32;
        if n == 0 {
            self.intended = self.draw(rng, candidates);
            return self.intended;
        }
        let nth = rng.below(n) as usize;
        candidates.iter().filter(|t| free(self, *t)).nth(nth)
    }

    fn draw(&self, rng: &mut Rng, among: &ThreadSet) -> Option<LogicalThread> {
        let total: u64 = among.iter().map(|t| u64::from(self.weight(t))).sum();
        if total == 0 {
            // They do more than expected: each has equal probability.
            return among.nth(rng.below(among.len()));
        }
        let mut at = rng.draw() % total;
        among.iter().find(|t| {
            let w = u64::from(self.weight(*t));
            let here = at < w;
            at = at.wrapping_sub(w);
            here
        })
    }
}
