//! Iterative preemption bounding: *Iterative context bounding for systematic testing of
//! multithreaded programs* (Musuvathi, Qadeer, PLDI 2007), and section 4.4.1 of the CHESS paper.
//!
//! Switching away from a thread that could go on costs 1; when the running thread has blocked,
//! yielded or ended, any other may run at no cost. All schedules with no preemption come first,
//! then those with one, and so on.

use serde::{Deserialize, Serialize};

use super::tree::{Limits, Pricing, Tree};
use super::{Progress, Strategy};
use crate::order::Order;
use crate::trace::TraceView;

/// See the module; `tree` implements the search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PreemptionBounding {
    tree: Tree,
}

impl PreemptionBounding {
    /// Begins with no preemption, and goes up to the bound in `limits`.
    pub fn new(limits: Limits) -> PreemptionBounding {
        PreemptionBounding { tree: Tree::new(Pricing::Preemption, limits) }
    }
}

impl Strategy for PreemptionBounding {
    fn name(&self) -> &'static str {
        "preemption"
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
