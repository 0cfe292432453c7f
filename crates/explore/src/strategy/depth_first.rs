//! Depth-first search of all schedules, with sleep sets: *Partial-Order Methods for the
//! Verification of Concurrent Systems* (Godefroid, LNCS 1032, 1996), chapter 5.
//!
//! If a state has independent choices `a` and `b`, exploring `a b` makes `b a` redundant. So after
//! `a` has been explored from a state, `a` goes to *sleep* in the subtrees of its siblings, and
//! wakes when a step that depends on it is made. A sleeping thread is not chosen. So one schedule
//! of each equivalence class is explored to its end, without remembering states.
//!
//! The tail of an execution does not know who sleeps. If it runs a sleeping thread, the rest of
//! that execution is covered elsewhere and is not branched from; only the execution itself was
//! wasted.
//!
//! A sleeping thread's operation is its next one in the trace. If there is none, the thread is
//! woken: this is sound, and rare. It makes no difference that a wait may end in another way than
//! it did in the trace: whatever changes that is an operation on what the thread waits for, and
//! wakes it.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::bases::{BaseId, Bases, NO_BASE};
use super::{Progress, Strategy};
use crate::choice::{Choice, Next, Tail};
use crate::op::{Op, dependent_when_fair};
use crate::order::Order;
use crate::step::Step;
use crate::thread::LogicalThread;
use crate::trace::{Outcome, TraceView};
use crate::upcoming::Upcoming;

/// A schedule to explore, and who sleeps after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Item {
    base: BaseId,
    keep: u32,
    alt: Option<Choice>,
    sleep: Box<[LogicalThread]>,
    weight: f64,
    retried: bool,
}

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DepthFirst {
    frontier: Vec<Item>,
    in_flight: FxHashMap<u64, Item>,
    next_id: u64,
    bases: Bases,
    sleep_sets: bool,
    schedules: u64,
    done: f64,
    pruned: u64,
    lost: u64,
}

impl Default for DepthFirst {
    fn default() -> DepthFirst {
        DepthFirst::new()
    }
}

impl DepthFirst {
    /// Unbounded: it ends when every schedule has been made.
    pub fn new() -> DepthFirst {
        let root =
            Item { base: NO_BASE, keep: 0, alt: None, sleep: Box::new([]), weight: 1.0, retried: false };
        DepthFirst {
            frontier: vec![root],
            in_flight: FxHashMap::default(),
            next_id: 0,
            bases: Bases::default(),
            sleep_sets: true,
            schedules: 0,
            done: 0.0,
            pruned: 0,
            lost: 0,
        }
    }

    /// Every schedule, equivalent or not: for tests, and to count them.
    pub fn without_sleep_sets() -> DepthFirst {
        DepthFirst { sleep_sets: false, ..DepthFirst::new() }
    }

    fn expand(&mut self, item: &Item, from: usize, trace: &TraceView<'_>) -> f64 {
        let steps = trace.steps;
        let mut upcoming = Upcoming::default();
        upcoming.begin(steps);
        let mut walk = Walk { base: NO_BASE, sleep: item.sleep.to_vec(), weight: item.weight };
        for (i, step) in steps.iter().enumerate() {
            if i >= from {
                self.branch(&mut walk, i, trace, &upcoming);
                if !step.is_value() {
                    if walk.sleep.contains(&step.thread) {
                        self.pruned += 1;
                        break;
                    }
                    walk.sleep.retain(|q| *q != step.thread && stays_asleep(*q, &step.op, &upcoming, steps));
                }
            }
            upcoming.pass(i, step);
        }
        walk.weight
    }

    /// Adds the choices not taken at step `i` to the frontier.
    fn branch(&mut self, walk: &mut Walk, i: usize, trace: &TraceView<'_>, upcoming: &Upcoming) {
        let step = &trace.steps[i];
        let mut items: Vec<(Choice, Vec<LogicalThread>)> = Vec::new();
        if step.is_value() {
            let others = (0..step.n_values).filter(|v| *v != step.value);
            items.extend(others.map(|v| (Choice::value(v), walk.sleep.clone())));
        } else {
            let mut explored = walk.sleep.clone();
            explored.push(step.thread);
            for t in step.eligible(trace.wide).filter(|t| *t != step.thread) {
                if walk.sleep.contains(&t) {
                    self.pruned += 1;
                    continue;
                }
                items.push((Choice::thread(t), self.asleep_after(t, &explored, upcoming, trace.steps)));
                explored.push(t);
            }
        }
        let share = walk.weight / (items.len() + 1) as f64;
        walk.weight = share;
        // The last pushed is explored first. This does not affect the sleep sets: they say who will
        // be explored, not who has been.
        for (alt, sleep) in items {
            if walk.base == NO_BASE {
                walk.base = self.bases.add(trace.choices());
            }
            self.bases.hold(walk.base);
            self.frontier.push(Item {
                base: walk.base,
                keep: i as u32,
                alt: Some(alt),
                sleep: sleep.into(),
                weight: share,
                retried: false,
            });
        }
    }

    fn asleep_after(
        &self,
        t: LogicalThread,
        explored: &[LogicalThread],
        upcoming: &Upcoming,
        steps: &[Step],
    ) -> Vec<LogicalThread> {
        let Some(next) = upcoming.pending(t, steps).filter(|_| self.sleep_sets) else { return Vec::new() };
        explored.iter().copied().filter(|q| stays_asleep(*q, &next.op, upcoming, steps)).collect()
    }
}

/// The state of a walk along one trace.
struct Walk {
    base: BaseId,
    sleep: Vec<LogicalThread>,
    weight: f64,
}

/// Whether `q` stays asleep when `op` is executed.
fn stays_asleep(q: LogicalThread, op: &Op, upcoming: &Upcoming, steps: &[Step]) -> bool {
    upcoming.pending(q, steps).is_some_and(|s| !dependent_when_fair(&s.op, op))
}

impl Strategy for DepthFirst {
    fn name(&self) -> &'static str {
        "dfs"
    }

    fn next(&mut self) -> Option<Order> {
        let item = self.frontier.pop()?;
        let prefix = self.bases.prefix(item.base, item.keep, item.alt);
        let id = self.next_id;
        self.next_id += 1;
        self.in_flight.insert(id, item);
        Some(Order::after(id, prefix, Tail::NonPreemptive { next: Next::Lowest }))
    }

    fn observe(&mut self, order: &Order, trace: TraceView<'_>) {
        let Some(mut item) = self.in_flight.remove(&order.id) else { return };
        self.schedules += 1;
        let failed = trace.divergence.is_some() || trace.outcome == Outcome::Lost;
        if failed && !item.retried {
            item.retried = true;
            self.frontier.push(item);
            return;
        }
        let rest = if failed {
            self.lost += 1;
            item.weight
        } else {
            self.expand(&item, order.prefix.len(), &trace)
        };
        self.done += rest;
        self.bases.release(item.base);
    }

    fn progress(&self) -> Progress {
        let in_flight = self.in_flight.len() as u64;
        Progress {
            schedules: self.schedules,
            in_flight,
            bound: None,
            in_bound: Some(self.schedules),
            left: Some(self.frontier.len() as u64 + in_flight),
            fraction: Some(self.done.min(1.0)),
            estimate: (self.done > 0.0).then(|| self.schedules as f64 / self.done.min(1.0)),
            pruned: self.pruned,
            lost: self.lost,
            bounded: false,
            gave_up: false,
            exhausted: self.frontier.is_empty() && in_flight == 0,
        }
    }

    fn resume(&mut self) {
        let mut back: Vec<(u64, Item)> = self.in_flight.drain().collect();
        back.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
        self.frontier.extend(back.into_iter().map(|(_, item)| item));
    }
}
