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
//! That is a change for each execution, and a search hands over executions of many thousand
//! segments: threads that wait by yielding are preempted at each look. So windows of segments come
//! first, from half of the schedule downwards, as in delta debugging (Zeller, Hildebrandt, TSE
//! 2002). A window is left out, which is right for rounds of a loop that have nothing to do with
//! the failure, or its segments are sorted by thread, which keeps all steps and joins what can be
//! joined at once. One execution halves a schedule where a pair of segments takes one away.
//!
//! Then, with the rest of the budget, preemption bounding looks for the failure below the number of
//! preemptions reached. If it finds one, that one has the fewest; if it ends without, the current
//! one has.

use crate::choice::{Choice, Next, Tail};
use crate::order::Order;
use crate::strategy::{Limits, PreemptionBounding, Strategy};
use crate::thread::LogicalThread;
use crate::trace::{Outcome, Trace, choice_of};

/// The narrowest window of segments that is left out as a whole: below that, joining two segments is
/// as good.
const NARROWEST: usize = 4;
/// The most places at which one attempt after the other cuts a schedule off. A long one is cut at
/// some of its switches only, or nothing else would get a turn.
const MOST_CUTS: usize = 40;

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

/// Shrinks `failing`, with at most `budget` executions. `execute` gives none if the time is over.
pub fn shrink(failing: Trace, budget: u64, execute: &mut dyn FnMut(&Order) -> Option<Trace>) -> Shrunk {
    let mut shrinker = Shrinker { outcome: failing.outcome, best: failing, executions: 0, budget, execute };
    shrinker.thin_out();
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
    execute: &'a mut dyn FnMut(&Order) -> Option<Trace>,
}

/// Simpler traces are smaller.
fn size(trace: &Trace) -> (usize, usize, usize) {
    (trace.view().preemptions(), trace.view().switches(), trace.steps.len())
}

impl Shrinker<'_> {
    fn is_spent(&self) -> bool {
        self.executions >= self.budget
    }

    /// Executes an order. None, now and from now on: the budget is spent, or the time is over.
    fn execute(&mut self, order: &Order) -> Option<Trace> {
        if self.is_spent() {
            return None;
        }
        let trace = (self.execute)(order);
        match trace {
            Some(_) => self.executions += 1,
            None => self.budget = self.executions,
        }
        trace
    }

    /// Executes an order, and keeps the result if it is simpler.
    fn attempt(&mut self, order: &Order) -> bool {
        let Some(trace) = self.execute(order) else { return false };
        let simpler = trace.outcome == self.outcome && size(&trace) < size(&self.best);
        if simpler {
            self.best = Trace { divergence: None, ..trace };
        }
        simpler
    }

    /// Leaves out windows of segments, or sorts them by thread, the widest first.
    fn thin_out(&mut self) {
        let mut segments = segments(&self.best);
        let mut width = segments.len() / 2;
        while width >= NARROWEST && !self.is_spent() {
            let mut at = 0;
            while at < segments.len() {
                let end = (at + width).min(segments.len());
                let (before, window, after) = (&segments[..at], &segments[at..end], &segments[end..]);
                if self.attempt_segments(&[before, after])
                    || self.attempt_segments(&[before, &by_thread(window), after])
                {
                    // What comes next has moved up to here.
                    segments = self::segments(&self.best);
                } else {
                    at = end;
                }
            }
            width = (width / 2).min(segments.len() / 2);
        }
    }

    fn attempt_segments(&mut self, parts: &[&[Segment]]) -> bool {
        // Making an order of many steps takes time as well.
        if self.is_spent() {
            return false;
        }
        let prefix = parts.iter().copied().flatten().flat_map(|s| s.1.iter().copied()).collect();
        self.attempt(&Order::after(0, prefix, Tail::NonPreemptive { next: Next::Lowest }))
    }

    /// Lets everything after some switch run without preemption, the earliest first.
    fn cut(&mut self) -> bool {
        let steps = &self.best.steps;
        let switches: Vec<usize> =
            (1..steps.len()).filter(|i| steps[*i].thread != steps[i - 1].thread).collect();
        let stride = switches.len().div_ceil(MOST_CUTS).max(1);
        let cuts: Vec<usize> = std::iter::once(0).chain(switches.into_iter().step_by(stride)).collect();
        for cut in cuts {
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

    /// Joins two segments of a thread, the last first, as often as that works.
    fn join_segments(&mut self) -> bool {
        let mut segments = segments(&self.best);
        let (mut i, mut has_joined) = (segments.len(), false);
        while i > 0 && !self.is_spent() {
            i = (i - 1).min(segments.len().saturating_sub(1));
            while self.joins_with_next(&segments, i) {
                has_joined = true;
                segments = self::segments(&self.best);
                i = i.min(segments.len().saturating_sub(1));
            }
        }
        has_joined
    }

    /// Joins a segment and the next one of its thread, at the place of either.
    fn joins_with_next(&mut self, segments: &[Segment], i: usize) -> bool {
        let Some((thread, _)) = segments.get(i) else { return false };
        let Some(j) = (i + 1..segments.len()).find(|j| segments[*j].0 == *thread) else { return false };
        let (before, between, after) = (&segments[..i], &segments[i + 1..j], &segments[j + 1..]);
        let (this, next) = (&segments[i..=i], &segments[j..=j]);
        self.attempt_segments(&[before, this, next, between, after])
            || self.attempt_segments(&[before, between, this, next, after])
    }

    /// Looks for the failure with fewer preemptions. True if there is none with fewer than now.
    fn look_below(&mut self) -> bool {
        let Some(bound) = self.best.view().preemptions().checked_sub(1) else { return true };
        let limits = Limits { bound: bound as u32, ..Limits::default() };
        let mut search = PreemptionBounding::new(limits);
        while self.executions < self.budget {
            let Some(order) = search.next() else { return search.progress().lost == 0 };
            let Some(trace) = self.execute(&order) else { return false };
            search.observe(&order, trace.view());
            if trace.outcome == self.outcome && size(&trace) < size(&self.best) {
                self.best = Trace { divergence: None, ..trace };
                return search.progress().lost == 0;
            }
        }
        false
    }
}

/// A run of steps of one thread.
type Segment = (LogicalThread, Vec<Choice>);

/// The schedule, cut where the thread changes.
fn segments(trace: &Trace) -> Vec<Segment> {
    let same = |a: &crate::step::Step, b: &crate::step::Step| a.thread == b.thread;
    trace.steps.chunk_by(same).map(|s| (s[0].thread, s.iter().map(choice_of).collect())).collect()
}

/// The segments sorted by thread, in the order in which the threads first come.
fn by_thread(window: &[Segment]) -> Vec<Segment> {
    let first = |thread| window.iter().position(|s| s.0 == thread);
    let mut sorted = window.to_vec();
    sorted.sort_by_key(|s| first(s.0));
    sorted
}
