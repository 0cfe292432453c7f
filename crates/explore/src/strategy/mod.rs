//! Strategies: one per file, behind one small trait.
//!
//! A strategy hands out orders and reads traces. It is asked for several orders before it sees a
//! result, and sees results in any order. Orders that it has handed out and not seen again are *in
//! flight*. [`Strategy::next`] returns None if there is nothing to do *now*: only
//! [`Progress::exhausted`] says that there never will be.
//!
//! Every strategy is plain data with serde. After it is written to disk and read back, it continues
//! where it was, once [`Strategy::resume`] has taken back what was in flight.

mod aim;
mod bases;
mod delay;
mod depth_first;
mod pct;
mod pos;
mod preemption;
mod random;
mod rff;
mod sampler;
mod states;
mod surw;
pub(crate) mod tree;

pub use aim::Aim;
pub use delay::DelayBounding;
pub use depth_first::DepthFirst;
pub use pct::PctSampling;
pub use pos::PosSampling;
pub use preemption::PreemptionBounding;
pub use random::RandomWalk;
pub use rff::Rff;
pub use states::{GaveUp, States};
pub use surw::SurwSampling;
pub use tree::Limits;

use std::fmt;

use raddle_base::grouped::Grouped;
use serde::{Deserialize, Serialize};

use crate::order::Order;
use crate::trace::TraceView;

/// A way to search.
pub trait Strategy {
    /// The name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// The next execution to make, if there is one now.
    fn next(&mut self) -> Option<Order>;

    /// An order of this strategy has been executed.
    fn observe(&mut self, order: &Order, trace: TraceView<'_>);

    /// Another strategy's order has been executed: nothing is required, but something may be
    /// learnt.
    fn witness(&mut self, _trace: TraceView<'_>) {}

    /// The current progress. Cheap enough to query after each execution.
    fn progress(&self) -> Progress;

    /// Orders in flight will not come back (the search was stopped and is resumed): they must be
    /// made again.
    fn resume(&mut self);
}

/// The progress of a strategy.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Executions observed.
    pub schedules: u64,
    /// Orders handed out and not observed yet.
    pub in_flight: u64,
    /// The bound being explored; all below it are complete.
    pub bound: Option<u32>,
    /// Executions observed in the current bound.
    pub in_bound: Option<u64>,
    /// Executions known to be left in the current bound.
    pub left: Option<u64>,
    /// How much of the current bound is done, by the weight of its subtrees.
    pub fraction: Option<f64>,
    /// The estimated number of executions in the current bound.
    pub estimate: Option<f64>,
    /// Executions skipped because an equivalent one has been or will be made.
    pub pruned: u64,
    /// Executions abandoned because the target did not follow (section 4.2).
    pub lost: u64,
    /// There are schedules beyond the highest bound, which are not made.
    pub bounded: bool,
    /// There is nothing left to do, and not because everything was done.
    pub gave_up: bool,
    /// There is nothing left to do, in any bound that was asked for. Whether that is everything
    /// there is depends on more: see [`crate::hidden`].
    pub exhausted: bool,
}

impl Progress {
    /// A sampler: it counts, and never ends.
    pub(crate) fn sampling(schedules: u64, in_flight: u64) -> Progress {
        Progress { schedules, in_flight, ..Progress::default() }
    }
}

impl fmt::Display for Progress {
    /// For human readers: `5,310 schedules; bound 2: 1,204 made, 331 known to be left, 62% done,
    /// about 1,900 in all`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.schedules == 1 { "schedule" } else { "schedules" };
        if self.exhausted {
            write!(out, "complete after {} {noun}", Grouped(self.schedules))?;
            if let Some(bound) = self.bound {
                write!(out, ", bound {bound}")?;
            }
        } else {
            write!(out, "{} {noun}", Grouped(self.schedules))?;
            match self.gave_up {
                true => write!(out, ", given up")?,
                false => self.fmt_bound(out)?,
            }
        }
        if self.pruned > 0 {
            write!(out, ", {} pruned", Grouped(self.pruned))?;
        }
        if self.lost > 0 {
            write!(out, ", {} lost to divergence", Grouped(self.lost))?;
        }
        Ok(())
    }
}

impl Progress {
    /// Everything refers to the current bound, and is consistent: what is made and left does not
    /// exceed the total.
    fn fmt_bound(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(made), Some(left)) = (self.in_bound, self.left) else { return Ok(()) };
        match self.bound {
            Some(bound) => write!(out, "; bound {bound}: {} made, ", Grouped(made))?,
            None => write!(out, ", ")?,
        }
        // The search ended, or is, between two bounds.
        if left == 0 {
            return write!(out, "none known to be left, and the next bound is not begun");
        }
        write!(out, "{} known to be left", Grouped(left))?;
        let Some(estimate) = self.estimate.filter(|_| made > 0) else { return Ok(()) };
        let estimate = estimate.max((made + left) as f64);
        let percent = (made as f64 / estimate * 100.0).floor();
        // Nobody counts as far as 10^15, and u64 does not go much further.
        match estimate {
            e if e >= 1e15 => write!(out, ", {percent}% done, about 10^{:.0} in all", e.log10()),
            e => {
                let all = two_digits(e).max(made + left);
                write!(out, ", {percent}% done, about {} in all", Grouped(all))
            }
        }
    }
}

/// An estimate is no better than two digits.
fn two_digits(estimate: f64) -> u64 {
    let scale = 10f64.powf((estimate.max(1.0).log10().floor() - 1.0).max(0.0));
    ((estimate / scale).round() * scale) as u64
}

/// Any of the strategies, as data that can be stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AnyStrategy {
    /// Fewest preemptions first.
    Preemption(PreemptionBounding),
    /// Fewest delays first.
    Delay(DelayBounding),
    /// All schedules, without bound.
    DepthFirst(DepthFirst),
    /// All choices with equal probability.
    Random(RandomWalk),
    /// Random priorities.
    Pct(PctSampling),
    /// Partial-order sampling.
    Pos(PosSampling),
    /// Selectively uniform random walk.
    Surw(SurwSampling),
    /// Reads-from guided.
    Rff(Rff),
    /// Single switches predicted from known executions.
    Aim(Aim),
    /// Each choice of each state once.
    States(States),
}

impl AnyStrategy {
    /// The names that [`AnyStrategy::by_name`] knows.
    pub const NAMES: [&'static str; 10] =
        ["preemption", "delay", "dfs", "random", "pct", "pos", "surw", "rff", "aim", "states"];

    /// A strategy by its name; samplers draw from `seed`.
    pub fn by_name(name: &str, seed: u64, limits: Limits) -> Option<AnyStrategy> {
        Some(match name {
            "preemption" => AnyStrategy::Preemption(PreemptionBounding::new(limits)),
            "delay" => AnyStrategy::Delay(DelayBounding::new(limits)),
            "dfs" => AnyStrategy::DepthFirst(DepthFirst::new()),
            "random" => AnyStrategy::Random(RandomWalk::new(seed)),
            "pct" => AnyStrategy::Pct(PctSampling::new(seed)),
            "pos" => AnyStrategy::Pos(PosSampling::new(seed)),
            "surw" => AnyStrategy::Surw(SurwSampling::new(seed)),
            "rff" => AnyStrategy::Rff(Rff::new(seed)),
            "aim" => AnyStrategy::Aim(Aim::new()),
            "states" => AnyStrategy::States(States::new()),
            _ => return None,
        })
    }

    fn get(&self) -> &dyn Strategy {
        match self {
            AnyStrategy::Preemption(s) => s,
            AnyStrategy::Delay(s) => s,
            AnyStrategy::DepthFirst(s) => s,
            AnyStrategy::Random(s) => s,
            AnyStrategy::Pct(s) => s,
            AnyStrategy::Pos(s) => s,
            AnyStrategy::Surw(s) => s,
            AnyStrategy::Rff(s) => s,
            AnyStrategy::Aim(s) => s,
            AnyStrategy::States(s) => s,
        }
    }

    fn get_mut(&mut self) -> &mut dyn Strategy {
        match self {
            AnyStrategy::Preemption(s) => s,
            AnyStrategy::Delay(s) => s,
            AnyStrategy::DepthFirst(s) => s,
            AnyStrategy::Random(s) => s,
            AnyStrategy::Pct(s) => s,
            AnyStrategy::Pos(s) => s,
            AnyStrategy::Surw(s) => s,
            AnyStrategy::Rff(s) => s,
            AnyStrategy::Aim(s) => s,
            AnyStrategy::States(s) => s,
        }
    }
}

impl Strategy for AnyStrategy {
    fn name(&self) -> &'static str {
        self.get().name()
    }

    fn next(&mut self) -> Option<Order> {
        self.get_mut().next()
    }

    fn observe(&mut self, order: &Order, trace: TraceView<'_>) {
        self.get_mut().observe(order, trace);
    }

    fn witness(&mut self, trace: TraceView<'_>) {
        self.get_mut().witness(trace);
    }

    fn progress(&self) -> Progress {
        self.get().progress()
    }

    fn resume(&mut self) {
        self.get_mut().resume();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reads_well() {
        let mut progress = Progress {
            schedules: 1_204_331,
            bound: Some(2),
            in_bound: Some(1_204),
            left: Some(331),
            fraction: Some(0.624),
            estimate: Some(1_946.0),
            ..Progress::default()
        };
        let words =
            "1,204,331 schedules; bound 2: 1,204 made, 331 known to be left, 61% done, about 1,900 in all";
        assert_eq!(progress.to_string(), words);
        // An impossible estimate is not shown.
        let low = Progress { estimate: Some(1_300.0), ..progress.clone() };
        let words =
            "1,204,331 schedules; bound 2: 1,204 made, 331 known to be left, 78% done, about 1,535 in all";
        assert_eq!(low.to_string(), words);
        let endless = Progress { bound: None, estimate: Some(3.2e40), ..progress.clone() };
        assert_eq!(
            endless.to_string(),
            "1,204,331 schedules, 331 known to be left, 0% done, about 10^41 in all"
        );
        let between = Progress { left: Some(0), estimate: Some(1_204.0), ..progress.clone() };
        let words = "1,204,331 schedules; bound 2: 1,204 made, none known to be left, and the next bound is not begun";
        assert_eq!(between.to_string(), words);
        progress.exhausted = true;
        progress.pruned = 12;
        assert_eq!(progress.to_string(), "complete after 1,204,331 schedules, bound 2, 12 pruned");
        let sampler = Progress { lost: 1, ..Progress::sampling(999, 1) };
        assert_eq!(sampler.to_string(), "999 schedules, 1 lost to divergence");
    }
}
