//! The few orderings that matter: what a failing execution did in another order than a passing one.
//!
//! Two dependent steps of different threads are ordered. If the failing execution orders them one
//! way and the passing one the other way, that may be the reason. Most such orderings follow from
//! others: if `a` comes before `b`, so does everything that precedes `a` in its thread, and `a`
//! comes before everything that follows `b`. Only those that follow from no other are returned. In
//! addition, there are the reads that got their value from another write, which is how an ordering
//! takes effect.
//!
//! A step of one execution is the same as one of the other if it has the same thread, the same
//! position in that thread, and the same operation. A failure cuts the execution short. What each
//! thread would have done next is taken from the passing execution, and counts as after the end.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::op::{Op, OpKind, dependent};
use crate::thread::LogicalThread;
use crate::trace::TraceView;

/// A step of the failing execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct At {
    /// Its number in the execution; if the failure came before it, the number of all steps.
    pub step: usize,
    /// The thread that makes the step.
    pub thread: LogicalThread,
    /// Its number among the steps of its thread.
    pub nth: u32,
    /// What the step does.
    pub op: Op,
}

/// `first` came before `then`; in the passing execution it was the other way round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ordering {
    /// The step that came first in the failing execution.
    pub first: At,
    /// The dependent step of another thread that came after it.
    pub then: At,
}

/// A read that got its value from another write than in the passing execution; None is the initial
/// value. The writes are steps of their own executions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherValue {
    /// The read, in the failing execution.
    pub read: At,
    /// The write that it read from in the failing execution. None: the initial value.
    pub from: Option<At>,
    /// The write that it read from in the passing execution. None: the initial value.
    pub passing_from: Option<At>,
}

/// Why a failing execution may have failed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// The orderings that follow from no other, in the order of the failing execution.
    pub orderings: Vec<Ordering>,
    /// The reads that got another value, in the order of the failing execution.
    pub reads: Vec<OtherValue>,
}

/// Compares a failing execution with a passing one.
pub fn explain(failing: TraceView<'_>, passing: TraceView<'_>) -> Explanation {
    let (failing, passing) = (Indexed::new(failing), Indexed::new(passing));
    let mut orderings = Vec::new();
    for then in failing.steps.iter().copied().chain(failing.cut_off(&passing)) {
        let Some(then_passing) = passing.find(&then) else { continue };
        for first in failing.dependencies(&then) {
            let reversed = passing.find(&first).is_some_and(|p| p.step > then_passing.step);
            if reversed {
                orderings.push(Ordering { first, then });
            }
        }
    }
    let reads = other_values(&failing, &passing);
    Explanation { orderings: strongest(&orderings), reads }
}

/// The passing execution with the fewest orderings reversed against the failing one: the best to
/// compare with.
pub fn nearest<'a>(
    failing: TraceView<'_>,
    passing: impl IntoIterator<Item = TraceView<'a>>,
) -> Option<usize> {
    let distance = |(i, trace): (usize, TraceView<'a>)| {
        let e = explain(failing, trace);
        (e.orderings.len() + e.reads.len(), i)
    };
    // An execution that is equal up to independent steps would explain nothing.
    passing.into_iter().enumerate().map(distance).filter(|(n, _)| *n > 0).min().map(|(_, i)| i)
}

/// The orderings that follow from no other.
///
/// Of two threads, an ordering follows from another one whose first step is not earlier and whose
/// second is not later. So only orderings of the same threads are compared, sorted so that each
/// needs one look at the best before it: an execution of a hundred threads has many thousands.
fn strongest(orderings: &[Ordering]) -> Vec<Ordering> {
    let mut by_threads: FxHashMap<(LogicalThread, LogicalThread), Vec<usize>> = FxHashMap::default();
    for (i, o) in orderings.iter().enumerate() {
        by_threads.entry((o.first.thread, o.then.thread)).or_default().push(i);
    }
    let mut is_kept = vec![false; orderings.len()];
    for mut of in by_threads.into_values() {
        of.sort_by_key(|i| (orderings[*i].then.nth, std::cmp::Reverse(orderings[*i].first.nth)));
        let mut best: Option<&Ordering> = None;
        for i in of {
            let o = &orderings[i];
            is_kept[i] = best.is_none_or(|b| o.first.nth > b.first.nth || o == b);
            if is_kept[i] {
                best = Some(o);
            }
        }
    }
    orderings.iter().zip(is_kept).filter(|(_, kept)| *kept).map(|(o, _)| *o).collect()
}

/// A trace whose steps can be found by thread and number.
struct Indexed {
    steps: Vec<At>,
    by_thread: FxHashMap<(LogicalThread, u32), usize>,
    by_object: FxHashMap<u64, Vec<usize>>,
}

impl Indexed {
    fn new(trace: TraceView<'_>) -> Indexed {
        let mut counts: FxHashMap<LogicalThread, u32> = FxHashMap::default();
        let mut this =
            Indexed { steps: Vec::new(), by_thread: FxHashMap::default(), by_object: FxHashMap::default() };
        for (step, s) in trace.steps.iter().enumerate() {
            let count = counts.entry(s.thread).or_default();
            this.by_thread.insert((s.thread, *count), step);
            for key in s.op.keys().into_iter().filter(|k| *k != 0) {
                this.by_object.entry(key).or_default().push(step);
            }
            this.steps.push(At { step, thread: s.thread, nth: *count, op: s.op });
            *count += 1;
        }
        this
    }

    fn find(&self, at: &At) -> Option<&At> {
        let i = self.by_thread.get(&(at.thread, at.nth))?;
        Some(&self.steps[*i]).filter(|found| found.op == at.op)
    }

    /// The step that each thread would have made next. One that has ended makes none.
    fn cut_off(&self, passing: &Indexed) -> Vec<At> {
        let end = self.steps.len();
        let is_next = |at: &&At| {
            let step = |nth| self.by_thread.get(&(at.thread, nth)).map(|i| &self.steps[*i]);
            let goes_on = |before: &At| before.op.kind() != OpKind::Exit;
            step(at.nth).is_none() && (at.nth == 0 || step(at.nth - 1).is_some_and(goes_on))
        };
        passing.steps.iter().filter(is_next).map(|at| At { step: end, ..*at }).collect()
    }

    /// For each other thread, its last step before this that it depends on.
    fn dependencies(&self, then: &At) -> Vec<At> {
        let mut found: Vec<At> = Vec::new();
        let mut known: FxHashSet<LogicalThread> = FxHashSet::default();
        for key in then.op.keys().into_iter().filter(|k| *k != 0) {
            let all = self.by_object.get(&key).map_or(&[][..], Vec::as_slice);
            for i in all.iter().rev().skip_while(|i| **i >= then.step) {
                let first = self.steps[*i];
                let is_other = first.thread != then.thread && !known.contains(&first.thread);
                if is_other && dependent(&first.op, &then.op) {
                    known.insert(first.thread);
                    found.push(first);
                }
            }
        }
        found
    }

    /// The write that a read gets its value from.
    fn source(&self, read: &At) -> Option<At> {
        let all = self.by_object.get(&read.op.object)?;
        let before = all.iter().rev().skip_while(|i| **i >= read.step);
        before.map(|i| self.steps[*i]).find(|w| w.op.is_memory_write())
    }
}

fn other_values(failing: &Indexed, passing: &Indexed) -> Vec<OtherValue> {
    let same = |a: &Option<At>, b: &Option<At>| match (a, b) {
        (Some(a), Some(b)) => (a.thread, a.nth) == (b.thread, b.nth),
        (None, None) => true,
        _ => false,
    };
    let reads = failing.steps.iter().filter(|s| s.op.is_memory_read());
    let both = reads.filter_map(|read| Some((read, passing.find(read)?)));
    let sources = both.map(|(read, p)| (read, failing.source(read), passing.source(p)));
    sources
        .filter(|(_, from, passing_from)| !same(from, passing_from))
        .map(|(read, from, passing_from)| OtherValue { read: *read, from, passing_from })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(thread: u16, nth: u32) -> At {
        At {
            step: 100 * usize::from(thread) + nth as usize,
            thread: LogicalThread(thread),
            nth,
            op: Op::new(OpKind::from_number(0), 0, 0),
        }
    }

    /// The definition, which compares each ordering with all others.
    fn follows_from_no_other(orderings: &[Ordering]) -> Vec<Ordering> {
        let implies = |a: &Ordering, b: &Ordering| {
            a != b
                && a.first.thread == b.first.thread
                && a.then.thread == b.then.thread
                && a.first.nth >= b.first.nth
                && a.then.nth <= b.then.nth
        };
        orderings.iter().filter(|b| !orderings.iter().any(|a| implies(a, b))).copied().collect()
    }

    proptest! {
        #[test]
        fn the_strongest_orderings_are_those_that_follow_from_no_other(
            all in proptest::collection::vec((0u16..3, 0u32..8, 0u16..3, 0u32..8), 0..60)
        ) {
            let orderings: Vec<Ordering> =
                all.iter().map(|&(t, n, u, m)| Ordering { first: at(t, n), then: at(u, m) }).collect();
            prop_assert_eq!(strongest(&orderings), follows_from_no_other(&orderings));
        }
    }
}
