//! What the driver asks the target to execute.

use serde::{Deserialize, Serialize};

use crate::choice::{Choice, Constraint, Next, OrderHeader, Tail, Weight};
use crate::pilot::Course;

/// One execution to make. The runtime gets everything but `id`, which belongs to the strategy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Tells the strategy which of its orders this was.
    pub id: u64,
    /// The choices to follow. If one is not possible, the execution diverges and the tail takes
    /// over.
    pub prefix: Vec<Choice>,
    /// What decides after the prefix.
    pub tail: Tail,
    /// By thread. Empty unless the tail is [`Tail::Surw`].
    pub weights: Vec<Weight>,
    /// Empty unless the tail is [`Tail::Constrained`].
    pub constraints: Vec<Constraint>,
}

impl Order {
    /// No prefix: the tail decides everything.
    pub fn free(id: u64, tail: Tail) -> Order {
        Order::after(id, Vec::new(), tail)
    }

    /// A prefix and a tail that needs neither weights nor constraints.
    pub fn after(id: u64, prefix: Vec<Choice>, tail: Tail) -> Order {
        Order { id, prefix, tail, weights: Vec::new(), constraints: Vec::new() }
    }

    /// Repeats an execution, choice for choice.
    pub fn replay(choices: impl IntoIterator<Item = Choice>) -> Order {
        Order::after(0, choices.into_iter().collect(), Tail::NonPreemptive { next: Next::Lowest })
    }

    /// The header that precedes the prefix, the weights and the constraints when the order is sent
    /// to the target.
    pub fn header(&self, max_steps: u32) -> OrderHeader {
        OrderHeader {
            id: self.id,
            tail: self.tail.to_words(),
            prefix: self.prefix.len() as u32,
            weights: self.weights.len() as u32,
            constraints: self.constraints.len() as u32,
            max_steps,
        }
    }

    /// The order without its prefix, for the pilot.
    pub fn course(&self) -> Course<'_> {
        Course { tail: self.tail, weights: &self.weights, constraints: &self.constraints }
    }
}
