//! PCT: *A randomized scheduler with probabilistic guarantees of finding bugs* (Burckhardt,
//! Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Threads have random priorities, and the highest runs. At `depth - 1` steps chosen at random
//! among `length`, the running thread's priority falls below all others. A bug of depth `d` among
//! `n` threads and `k` steps is found with probability at least `1 / (n * k^(d-1))`.
//!
//! Deviation: a thread's priority is a hash of the seed and its id rather than a position in a
//! permutation, so that the number of threads need not be known. Ties have probability 2^-50.

use crate::thread::{LogicalThread, MAX_THREADS, ThreadSet};
use raddle_base::rng::{Rng, mix};

const MAX_POINTS: usize = 32;

#[derive(Debug)]
pub(super) struct Pct {
    seed: u64,
    points: [u32; MAX_POINTS],
    n_points: usize,
    /// Threads that have been lowered; the later, the lower.
    lowered: ThreadSet,
    rank: [u8; MAX_THREADS],
    next_rank: u8,
}

impl Pct {
    pub(super) const fn new() -> Pct {
        Pct {
            seed: 0,
            points: [0; MAX_POINTS],
            n_points: 0,
            lowered: ThreadSet::new(),
            rank: [0; MAX_THREADS],
            next_rank: 0,
        }
    }

    pub(super) fn begin(&mut self, seed: u64, depth: u32, length: u32) {
        self.seed = mix(seed ^ 0x5ca1_ab1e);
        self.n_points = (depth.saturating_sub(1) as usize).min(MAX_POINTS);
        let mut rng = Rng::new(self.seed);
        self.points[..self.n_points].fill_with(|| rng.below(length.max(1)));
        self.lowered.clear();
        self.next_rank = MAX_POINTS as u8 + 1;
    }

    /// Step number `step` belongs to `thread`. If it is a point of change, the thread runs this
    /// step and then falls.
    #[inline]
    pub(super) fn stepped(&mut self, step: u32, thread: LogicalThread) {
        if self.points[..self.n_points].contains(&step) && thread.index() < MAX_THREADS {
            self.next_rank = self.next_rank.saturating_sub(1);
            self.rank[thread.index()] = self.next_rank;
            self.lowered.insert(thread);
        }
    }

    #[inline]
    pub(super) fn choose(&self, candidates: &ThreadSet) -> Option<LogicalThread> {
        candidates.iter().max_by_key(|t| self.priority(*t))
    }

    #[inline]
    fn priority(&self, t: LogicalThread) -> u64 {
        if self.lowered.contains(t) {
            return u64::from(self.rank[t.index()]);
        }
        mix(self.seed ^ u64::from(t.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1 << 63
    }
}
