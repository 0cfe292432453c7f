//! POS: *Partial order aware concurrency sampling* (Yuan, Yang, Gu, CAV 2018).
//!
//! Each pending operation has a random priority, and the highest is executed. After that, the
//! operations that race with it (those of other threads that depend on it) draw new priorities. So
//! for each pair of racing operations both orders stay likely, however the rest of the schedule
//! went.
//!
//! Deviation: with an even seed, threads are created and started before anything else, so that all
//! of them are there to race. Otherwise, the more threads there are, the more likely it is that the
//! first has ended before the last is created. An odd seed gives the paper's algorithm.

use super::View;
use crate::op::{Op, OpKind, dependent};
use crate::thread::{LogicalThread, MAX_THREADS, ThreadSet};
use raddle_base::rng::Rng;

#[derive(Debug)]
pub(super) struct Pos {
    /// By thread, for `known` threads.
    priority: [u64; MAX_THREADS],
    known: ThreadSet,
    births_first: bool,
}

impl Pos {
    pub(super) const fn new() -> Pos {
        Pos { priority: [0; MAX_THREADS], known: ThreadSet::new(), births_first: false }
    }

    pub(super) fn begin(&mut self, seed: u64) {
        self.births_first = seed.is_multiple_of(2);
        self.known.clear();
    }

    #[inline]
    pub(super) fn update(
        &mut self,
        rng: &mut Rng,
        done: Option<(LogicalThread, Op)>,
        enabled: &ThreadSet,
        view: &View<'_>,
    ) {
        for t in enabled.iter() {
            let fresh = !self.known.contains(t);
            let raced = done.is_some_and(|(by, op)| by == t || dependent(&op, &view.pending(t)));
            if fresh || raced {
                let birth = matches!(view.pending(t).kind(), OpKind::Create | OpKind::Start);
                let first = u64::from(birth && self.births_first) << 63;
                self.priority[t.index()] = rng.draw() >> 1 | first;
            }
        }
        self.known.union_with(enabled);
        // A thread that its own step has blocked draws again when it is next enabled.
        if let Some((t, _)) = done.filter(|(t, _)| !enabled.contains(*t)) {
            self.known.remove(t);
        }
    }

    #[inline]
    pub(super) fn choose(&self, candidates: &ThreadSet) -> Option<LogicalThread> {
        candidates.iter().max_by_key(|t| self.priority[t.index()])
    }
}
