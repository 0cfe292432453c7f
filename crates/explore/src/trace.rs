//! What an execution did, as strategies see it.

use serde::{Deserialize, Serialize};

use crate::choice::Choice;
use crate::state_key::StateKey;
use crate::step::{Step, StepFlags};

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// The program ended, and nothing was found.
    Passed,
    /// A monitor found something. `what` is the monitor's own number for the kind of failure.
    Failed {
        /// The monitor's number for the kind of failure.
        what: u32,
    },
    /// No thread is enabled, and not all have ended.
    Deadlock,
    /// The execution goes on, fairly, without progress.
    Livelock,
    /// Cut off after the maximum number of steps of an execution.
    StepLimit,
    /// The target vanished and left no trace to rely on.
    Lost,
}

impl Outcome {
    /// Whether the execution shows a bug. One that was cut off or lost does not.
    pub fn is_failure(self) -> bool {
        matches!(self, Outcome::Failed { .. } | Outcome::Deadlock | Outcome::Livelock)
    }
}

/// A trace, borrowed: straight from the memory that the runtime wrote it into.
#[derive(Clone, Copy, Debug)]
pub struct TraceView<'a> {
    /// In the order of the execution.
    pub steps: &'a [Step],
    /// Sets of threads that do not fit into a step.
    pub wide: &'a [u64],
    /// How it ended.
    pub outcome: Outcome,
    /// The step at which the order's prefix could not be followed.
    pub divergence: Option<u32>,
    /// The key of the state before each step, if [`Tail::Keyed`](crate::Tail::Keyed) asked for them
    /// and as far as they are known.
    pub keys: &'a [StateKey],
    /// Why states of this program are not known: the runtime's number for it. 0: they are.
    pub unknowable: u32,
}

/// An owned trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// In the order of the execution.
    pub steps: Vec<Step>,
    /// As in [`TraceView::wide`].
    pub wide: Vec<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// As in [`TraceView::divergence`].
    pub divergence: Option<u32>,
}

impl Trace {
    /// Borrows all of it.
    pub fn view(&self) -> TraceView<'_> {
        TraceView::new(&self.steps, &self.wide, self.outcome, self.divergence)
    }
}

impl<'a> TraceView<'a> {
    /// A trace without keys.
    pub fn new(
        steps: &'a [Step],
        wide: &'a [u64],
        outcome: Outcome,
        divergence: Option<u32>,
    ) -> TraceView<'a> {
        TraceView { steps, wide, outcome, divergence, keys: &[], unknowable: 0 }
    }

    /// Copies all of it.
    pub fn to_trace(&self) -> Trace {
        Trace {
            steps: self.steps.to_vec(),
            wide: self.wide.to_vec(),
            outcome: self.outcome,
            divergence: self.divergence,
        }
    }

    /// The choices that lead to this execution. As a prefix, with any tail, they lead to it again.
    pub fn choices(&self) -> impl Iterator<Item = Choice> + 'a {
        self.steps.iter().map(choice_of)
    }

    /// The number of switches away from a thread that could have gone on.
    pub fn preemptions(&self) -> usize {
        self.steps.iter().filter(|s| s.flags.has(StepFlags::PREEMPTION)).count()
    }

    /// How often the running thread changes.
    pub fn switches(&self) -> usize {
        self.steps.windows(2).filter(|w| w[0].thread != w[1].thread).count()
    }

    /// The number of threads that have made a step.
    pub fn threads(&self) -> usize {
        self.steps.iter().map(|s| s.thread.index() + 1).max().unwrap_or(0)
    }

    /// The first step at which another execution differs, if it does.
    pub fn first_difference(&self, other: &TraceView<'_>) -> Option<usize> {
        let same =
            |(a, b): &(&Step, &Step)| a.op == b.op && choice_of(a) == choice_of(b) && a.thread == b.thread;
        let common = self.steps.iter().zip(other.steps).take_while(same).count();
        let both_end = common == self.steps.len() && common == other.steps.len();
        (!both_end || self.outcome != other.outcome).then_some(common)
    }
}

/// The choice that a step represents.
#[inline]
pub fn choice_of(step: &Step) -> Choice {
    if step.is_value() { Choice::value(step.value) } else { Choice::thread(step.thread) }
}
