//! Random walk: any eligible thread at each point, with equal probability.

use serde::{Deserialize, Serialize};

use super::sampler::Seeds;
use super::{Progress, Strategy};
use crate::choice::Tail;
use crate::order::Order;
use crate::trace::TraceView;

/// See the module. The 2014 and 2016 studies of SCTBench found it as good as most bounded searches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RandomWalk {
    seeds: Seeds,
}

impl RandomWalk {
    /// All randomness comes from `seed`.
    pub fn new(seed: u64) -> RandomWalk {
        RandomWalk { seeds: Seeds::new(seed) }
    }
}

impl Strategy for RandomWalk {
    fn name(&self) -> &'static str {
        "random"
    }

    fn next(&mut self) -> Option<Order> {
        let (id, seed) = self.seeds.draw();
        Some(Order::free(id, Tail::Random { seed }))
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
