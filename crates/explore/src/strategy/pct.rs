//! Probabilistic concurrency testing: *A randomized scheduler with probabilistic guarantees of
//! finding bugs* (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! The points of change are drawn among as many steps as the longest execution so far has. The
//! depth cycles through 2 to 5, with 3 twice, since most bugs have a small depth and none is known
//! beforehand.

use serde::{Deserialize, Serialize};

use super::sampler::Seeds;
use super::{Progress, Strategy};
use crate::choice::Tail;
use crate::order::Order;
use crate::trace::TraceView;

const DEPTHS: [u32; 5] = [3, 2, 4, 3, 5];

/// PCT that determines depth and length itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PctSampling {
    seeds: Seeds,
    length: u32,
}

impl PctSampling {
    /// All randomness comes from `seed`.
    pub fn new(seed: u64) -> PctSampling {
        PctSampling { seeds: Seeds::new(seed), length: 32 }
    }
}

impl Strategy for PctSampling {
    fn name(&self) -> &'static str {
        "pct"
    }

    fn next(&mut self) -> Option<Order> {
        let (id, seed) = self.seeds.draw();
        let depth = DEPTHS[id as usize % DEPTHS.len()];
        Some(Order::free(id, Tail::Pct { seed, depth, length: self.length }))
    }

    fn observe(&mut self, _order: &Order, trace: TraceView<'_>) {
        self.seeds.observed();
        self.witness(trace);
    }

    fn witness(&mut self, trace: TraceView<'_>) {
        self.length = self.length.max(trace.steps.len() as u32);
    }

    fn progress(&self) -> Progress {
        self.seeds.progress()
    }

    fn resume(&mut self) {
        self.seeds.resume();
    }
}
