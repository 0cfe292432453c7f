//! Iterative delay bounding: *Delay-bounded scheduling* (Emmi, Qadeer, Rakamarić, POPL 2011).
//!
//! There is one default schedule: the running thread goes on while it can, then the next in turn
//! runs. Each thread that is skipped in favour of the one after it is a delay. Unlike with
//! preemptions, bound 0 has a single schedule, however many threads there are. So with many
//! threads, bugs are found at smaller bounds.

use serde::{Deserialize, Serialize};

use super::tree::{Limits, Pricing, Tree};
use super::{Progress, Strategy};
use crate::order::Order;
use crate::trace::TraceView;

/// See the module; `tree` implements the search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DelayBounding {
    tree: Tree,
}

impl DelayBounding {
    /// Begins with no delay, and goes up to the bound in `limits`.
    pub fn new(limits: Limits) -> DelayBounding {
        DelayBounding { tree: Tree::new(Pricing::Delay, limits) }
    }
}

impl Strategy for DelayBounding {
    fn name(&self) -> &'static str {
        "delay"
    }

    fn next(&mut self) -> Option<Order> {
        self.tree.next()
    }

    fn observe(&mut self, order: &Order, trace: TraceView<'_>) {
        self.tree.observe(order, trace);
    }

    fn progress(&self) -> Progress {
        self.tree.progress()
    }

    fn resume(&mut self) {
        self.tree.resume();
    }
}
