//! Partial-order sampling: *Partial order aware concurrency sampling* (Yuan, Yang, Gu, CAV 2018).

use serde::{Deserialize, Serialize};

use super::sampler::Seeds;
use super::{Progress, Strategy};
use crate::choice::Tail;
use crate::order::Order;
use crate::trace::TraceView;

/// See [`Tail::Pos`] for what a step does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PosSampling {
    seeds: Seeds,
}

impl PosSampling {
    /// All randomness comes from `seed`.
    pub fn new(seed: u64) -> PosSampling {
        PosSampling { seeds: Seeds::new(seed) }
    }
}

impl Strategy for PosSampling {
    fn name(&self) -> &'static str {
        "pos"
    }

    fn next(&mut self) -> Option<Order> {
        let (id, seed) = self.seeds.draw();
        // Threads are created first in every other execution, beginning with the first.
        Some(Order::free(id, Tail::Pos { seed: seed & !1 | id & 1 }))
    }

    fn observe(&mut self, _order: &Order, _trace: TraceView<'_>) {
        self.seeds.observed();
    }

    fn progress(&self) -> Progress {
        self.seeds.progress()
    }

    fn resume(&mut self) {
        self.seeds.resume();
    }
}
