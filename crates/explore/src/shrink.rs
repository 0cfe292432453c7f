//! The same failure with as few preemptions and switches as possible.
//!
//! After *A trace simplification technique for effective debugging of concurrent programs*
//! (Jalbert, Sen, FSE 2010): a schedule is a sequence of *segments*, each a run of steps of one
//! thread. Joining two segments of a thread removes a switch; cutting the schedule off and letting
//! the rest run without preemption removes all that follow. A change is kept if the target still
//! fails in the same way and the execution that it made is simpler. The execution counts, not the
//! order: an order that cannot be followed is abandoned on the way, and the result may be simpler
//! still.
//!
//! Then, with the rest of the budget, preemption bounding looks for the failure below the number of
//! preemptions reached. If it finds one, that one has the fewest; if it ends without, the current
//! one has.

use crate::choice::{Choice, Next, Tail};
use crate::order::Order;
use crate::strategy::{Limits, PreemptionBounding, Strategy};
use crate::thread::LogicalThread;
use crate::trace::{Outcome, Trace, choice_of};

/// The result of shrinking a failing execution.
#[derive(Clone, PartialEq, Debug)]
pub struct Shrunk {
    /// The simplest execution found that fails in the same way.
    pub trace: Trace,
    /// Executions made.
    pub executions: u64,
    /// No execution with fewer preemptions fails like this: all have been tried.
    pub fewest_preemptions: bool,
}

/// Shrinks `failing`, with at most `budget` executions.
pub fn shrink(failing: Trace, budget: u64, execute: &mut dyn FnMut(&Order) -> Trace) -> Shrunk {
    let mut shrinker = Shrinker { outcome: failing.outcome, best: failing, executions: 0, budget, execute };
    while shrinker.cut() || shrinker.join_segments() {}
    let fewest_preemptions = shrinker.look_below();
    while shrinker.cut() || shrinker.join_segments() {}
    Shrunk { trace: shrinker.best, executions: shrinker.executions, fewest_preemptions }
}

struct Shrinker<'a> {
    outcome: Outcome,
    best: Trace,
    executions: u64,
    budget: u64,
    execute: &'a mut dyn FnMut(&Order) -> Trace,
}

/// Simpler traces are smaller.
fn size(trace: &Trace) -> (usize, usize, usize) {
    (trace.view().preemptions(), trace.view().switches(), trace.steps.len())
}

impl Shrinker<'_> {
    fn is_spent(&self) -> bool {
        self.executions >= self.budget
    }

    /// Executes an order, and keeps the result if it is simpler.
    fn attempt(&mut self, order: &Order) -> bool {
        if self.is_spent() {
            return false;
        }
        self.executions += 1;
        let trace = (self.execute)(order);
        let simpler = trace.outcome == self.outcome && size(&trace) < size(&self.best);
        if simpler {
            self.best = Trace { divergence: None, ..trace };
        }
        simpler
    }

    /// Lets everything after some switch run without preemption, the earliest first.
    fn cut(&mut self) -> bool {
        let steps = &self.best.steps;
        let mut cuts = vec![0];
        cuts.extend((1..steps.len()).filter(|i| steps[*i].thread != steps[i - 1].thread));
        for cut in cuts {
            // Making an order of many steps takes time as well.
            if self.is_spent() {
                return false;
            }
            for next in [Next::Lowest, Next::Highest, Next::Round] {
                // Up to the switch, and including it.
                for keep in [cut, cut + 1] {
                    let prefix = self.best.steps.iter().take(keep).map(choice_of).collect();
                    if self.attempt(&Order::after(0, prefix, Tail::NonPreemptive { next })) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Joins two segments of a thread, the last first.
    fn join_segments(&mut self) -> bool {
        let segments = segments(&self.best);
        for i in (0..segments.len()).rev() {
            if self.is_spent() {
                return false;
            }
            let thread = segments[i].0;
            let Some(j) = (i + 1..segments.len()).find(|j| segments[*j].0 == thread) else { continue };
            let between: Vec<usize> = (i + 1..j).collect();
            let rest = j + 1..segments.len();
            let earlier: Vec<usize> = (0..=i).chain([j]).chain(between.clone()).chain(rest.clone()).collect();
            let later: Vec<usize> = (0..i).chain(between).chain([i, j]).chain(rest).collect();
            for sequence in [earlier, later] {
                let prefix = sequence.iter().flat_map(|s| segments[*s].1.iter().copied()).collect();
                if self.attempt(&Order::after(0, prefix, Tail::NonPreemptive { next: Next::Lowest })) {
                    return true;
                }
            }
        }
        false
    }

    /// Looks for the failure with fewer preemptions. True if there is none with fewer than now.
    fn look_below(&mut self) -> bool {
        let Some(bound) = self.best.view().preemptions().checked_sub(1) else { return true };
        let limits = Limits { bound: bound as u32, ..Limits::default() };
        let mut search = PreemptionBounding::new(limits);
        while self.executions < self.budget {
            let Some(order) = search.next() else { return search.progress().lost == 0 };
            self.executions += 1;
            let trace = (self.execute)(&order);
            search.observe(&order, trace.view());
            if trace.outcome == self.outcome && size(&trace) < size(&self.best) {
                self.best = Trace { divergence: None, ..trace };
                return search.progress().lost == 0;
            }
        }
        false
    }
}

/// The schedule, cut where the thread changes.
fn segments(trace: &Trace) -> Vec<(LogicalThread, Vec<Choice>)> {
    let same = |a: &crate::step::Step, b: &crate::step::Step| a.thread == b.thread;
    trace.steps.chunk_by(same).map(|s| (s[0].thread, s.iter().map(choice_of).collect())).collect()
}
