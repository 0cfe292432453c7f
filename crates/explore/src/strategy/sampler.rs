//! What samplers have in common: a seed for each execution, and a count.

use serde::{Deserialize, Serialize};

use super::Progress;
use raddle_base::rng::mix;

/// Seeds for successive executions, all derived from one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Seeds {
    seed: u64,
    handed_out: u64,
    observed: u64,
}

impl Seeds {
    pub(super) fn new(seed: u64) -> Seeds {
        Seeds { seed: mix(seed.wrapping_add(1)), handed_out: 0, observed: 0 }
    }

    /// The id and the seed of the next execution.
    pub(super) fn draw(&mut self) -> (u64, u64) {
        let id = self.handed_out;
        self.handed_out += 1;
        (id, mix(self.seed ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    pub(super) fn observed(&mut self) {
        self.observed += 1;
    }

    pub(super) fn progress(&self) -> Progress {
        Progress::sampling(self.observed, self.handed_out - self.observed)
    }

    /// What was in flight is drawn anew, with other seeds, which is as good.
    pub(super) fn resume(&mut self) {
        self.observed = self.handed_out;
    }
}
