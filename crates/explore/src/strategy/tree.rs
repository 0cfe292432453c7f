//! The tree of schedules, searched bound by bound: the common part of preemption and delay
//! bounding.
//!
//! *Iterative context bounding* (Musuvathi, Qadeer, PLDI 2007): a choice that departs from the
//! default schedule has a cost, and schedules are explored in the order of their total cost. Each
//! execution follows its prefix and then the default. Each choice not taken after the prefix
//! becomes an *item* of the frontier, at its own cost. So every schedule is made exactly once, and
//! when the items of a bound are used up, the bound is complete.
//!
//! # Pruning (section 4.4.2)
//! When a state (see [`fingerprint`](crate::fingerprint)) is entered, all its choices go into the
//! frontier. If it is reached again at the same cost or more, everything that follows is covered,
//! and the rest of that execution is not branched from. The cost of a choice depends on the state
//! and on the running thread, so that thread is part of the key (for preemptions only if it can go
//! on). Since a choice never costs more than one preemption, the state reached with any other
//! thread running covers it too, if it cost one less. Bounds are explored in order, so a state is
//! first reached at its least cost; if results come out of order, the costs are compared anyway.
//!
//! The state *after* a choice can be predicted: a thread's next step in the trace is what it has
//! pending. An item whose state has been covered by the time its turn comes is dropped without an
//! execution. (If a wait would end in another way than it did in the trace, the predicted state is
//! one that cannot be reached: nothing is dropped.)
//!
//! If fair scheduling holds a thread back, the choices of a state depend on the past as well, and
//! the eligible threads are part of the key; the same state with nobody held back covers it. The
//! windows that fairness will look at later are *not* part of it (they would distinguish every
//! order of two spin loops). That loses no state in any program we know of, and is tested against
//! brute force on random programs with spin loops, but not proved.
//!
//! # Why there are no sleep sets here
//! Sleep sets and a bound do not simply combine: the equivalent schedule that covers a sleeping
//! thread's subtree may cost more, and lie outside the bound (Coons, Musuvathi, McKinley, *Bounded
//! partial-order reduction*, OOPSLA 2013). Caching states with their costs gives the same reduction
//! (section 4.4.2) without this problem. Sleep sets are in [`DepthFirst`](super::DepthFirst), which
//! has no bound.
//!
//! # Memory
//! Both tables are bounded. States past the limit are not remembered: less is pruned. Items past
//! the limit are dropped, and the first bound that misses some is begun again from the root, with
//! nothing remembered.
//!
//! # Deviations
//! 1. A value other than the ordinary one, and a step of a reluctant thread, cost 1 like a
//!    preemption: otherwise bound 0 would contain every combination of stale reads and time-outs.
//! 2. A schedule that the target does not follow is tried once more; then its subtree is abandoned
//!    and counted (section 4.2).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Progress;
use super::bases::{BaseId, Bases, NO_BASE};
use crate::choice::{Choice, Next, Tail};
use crate::fingerprint::{Fingerprinter, fold};
use crate::order::Order;
use crate::step::{Step, StepFlags};
use crate::thread::LogicalThread;
use crate::trace::{Outcome, TraceView};
use crate::upcoming::Upcoming;

/// The resources that a search may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// The highest bound to explore.
    pub bound: u32,
    /// States remembered, 8 bytes each; rounded up to a power of two.
    pub states: usize,
    /// Items kept, 32 bytes each.
    pub items: usize,
    /// Whether to prune. If not, every schedule is made: for tests.
    pub prune: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bound: u32::MAX, states: 1 << 24, items: 1 << 22, prune: true }
    }
}

/// How the cost of a choice is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Pricing {
    Preemption,
    Delay,
}

/// A schedule to explore: the first `keep` choices of a base, then another.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Item {
    /// The state after `alt`, if it can be predicted; else 0.
    state: u64,
    base: BaseId,
    keep: u32,
    alt: Option<Choice>,
    cost: u32,
    /// Its share of the current bound.
    weight: f32,
    thread: LogicalThread,
    retried: bool,
}

const ROOT: Item = Item {
    state: 0,
    base: NO_BASE,
    keep: 0,
    alt: None,
    cost: 0,
    weight: 1.0,
    thread: LogicalThread(0),
    retried: false,
};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tree {
    pricing: Pricing,
    limits: Limits,
    bound: u32,
    now: Vec<Item>,
    later: BTreeMap<u32, Vec<Item>>,
    n_later: usize,
    /// The lowest bound of which an item was dropped for lack of room.
    incomplete: Option<u32>,
    /// A choice was left out because it costs more than the highest bound.
    bounded: bool,
    in_flight: FxHashMap<u64, Item>,
    next_id: u64,
    bases: Bases,
    visited: crate::visited::VisitedStates,
    schedules: u64,
    in_bound: u64,
    done: f64,
    pruned: u64,
    lost: u64,
    #[serde(skip)]
    scratch: Scratch,
}

/// Tables that are reused for each trace.
#[derive(Debug, Default)]
struct Scratch {
    prints: Fingerprinter,
    upcoming: Upcoming,
    found: Vec<(Choice, u32)>,
}

impl Clone for Scratch {
    fn clone(&self) -> Scratch {
        Scratch::default()
    }
}

impl Tree {
    pub(super) fn new(pricing: Pricing, limits: Limits) -> Tree {
        Tree {
            pricing,
            limits,
            bound: 0,
            now: vec![ROOT],
            later: BTreeMap::new(),
            n_later: 0,
            incomplete: None,
            bounded: false,
            in_flight: FxHashMap::default(),
            next_id: 0,
            bases: Bases::default(),
            visited: crate::visited::VisitedStates::new(limits.states),
            schedules: 0,
            in_bound: 0,
            done: 0.0,
            pruned: 0,
            lost: 0,
            scratch: Scratch::default(),
        }
    }

    pub(super) fn next(&mut self) -> Option<Order> {
        loop {
            while let Some(item) = self.now.pop() {
                if self.is_covered(&item) {
                    self.pruned += 1;
                    self.finish(&item, item.weight);
                    continue;
                }
                let prefix = self.bases.prefix(item.base, item.keep, item.alt);
                let id = self.next_id;
                self.next_id += 1;
                self.in_flight.insert(id, item);
                return Some(Order::after(id, prefix, self.tail()));
            }
            if !self.in_flight.is_empty() || !self.begin_next_bound() {
                return None;
            }
        }
    }

    fn tail(&self) -> Tail {
        match self.pricing {
            Pricing::Preemption => Tail::NonPreemptive { next: Next::Lowest },
            Pricing::Delay => Tail::NonPreemptive { next: Next::Round },
        }
    }

    fn begin_next_bound(&mut self) -> bool {
        let stored = self.later.keys().next().copied();
        let Some(bound) = [stored, self.incomplete].into_iter().flatten().min() else { return false };
        if bound > self.limits.bound {
            return false;
        }
        self.bound = bound;
        self.in_bound = 0;
        self.done = 0.0;
        if self.incomplete == Some(bound) {
            self.incomplete = None;
            self.later.clear();
            self.n_later = 0;
            self.bases.clear();
            self.visited.clear();
            self.now.push(ROOT);
            return true;
        }
        self.now = self.later.remove(&bound).unwrap_or_default();
        self.n_later -= self.now.len();
        let share = 1.0 / self.now.len() as f32;
        self.now.iter_mut().for_each(|item| item.weight = share);
        // The earliest found comes first.
        self.now.reverse();
        true
    }

    fn is_covered(&self, item: &Item) -> bool {
        if item.state == 0 || !self.limits.prune {
            return false;
        }
        // If the running thread cannot go on, every choice is free, which covers the case that it
        // can.
        let free = self.pricing == Pricing::Preemption && self.visited.covers(key(item.state, 0), item.cost);
        free || self.is_covered_by_another(item.state, item.cost)
            || self.visited.covers(key(item.state, mark(item.thread)), item.cost)
    }

    /// An item is finished; `weight` of its share has not been passed on.
    fn finish(&mut self, item: &Item, weight: f32) {
        self.done += f64::from(weight);
        self.bases.release(item.base);
    }

    pub(super) fn observe(&mut self, order: &Order, trace: TraceView<'_>) {
        let Some(mut item) = self.in_flight.remove(&order.id) else { return };
        self.schedules += 1;
        self.in_bound += 1;
        if trace.divergence.is_some() || trace.outcome == Outcome::Lost {
            if item.retried {
                self.lost += 1;
                self.finish(&item, item.weight);
            } else {
                item.retried = true;
                item.state = 0;
                self.now.push(item);
            }
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let rest = self.expand(&item, order.prefix.len(), &trace, &mut scratch);
        self.scratch = scratch;
        self.finish(&item, rest);
    }

    /// Adds the choices not taken after the prefix to the frontier. Returns the weight left for the
    /// execution itself.
    fn expand(&mut self, item: &Item, from: usize, trace: &TraceView<'_>, scratch: &mut Scratch) -> f32 {
        let Scratch { prints, upcoming, found } = scratch;
        prints.begin();
        upcoming.begin(trace.steps);
        let mut base = NO_BASE;
        let mut weight = item.weight;
        for (i, step) in trace.steps.iter().enumerate() {
            if i >= from {
                if self.limits.prune && !self.enter(prints.state(), trace, i, item.cost) {
                    self.pruned += 1;
                    break;
                }
                found.clear();
                self.price(trace, i, found);
                let in_bound = found.iter().filter(|(_, c)| item.cost + c <= self.bound).count();
                let share = weight / (in_bound + 1) as f32;
                weight = if in_bound > 0 { share } else { weight };
                for &(alt, cost) in found.iter() {
                    let (state, thread) = after(prints, upcoming, trace.steps, step, alt);
                    let cost = item.cost.saturating_add(cost);
                    let new = Item {
                        state,
                        base,
                        keep: i as u32,
                        alt: Some(alt),
                        cost,
                        weight: share,
                        thread,
                        retried: false,
                    };
                    self.push(new, &mut base, trace);
                }
            }
            prints.step(step);
            upcoming.pass(i, step);
        }
        weight
    }

    fn push(&mut self, mut item: Item, base: &mut BaseId, trace: &TraceView<'_>) {
        if item.cost > self.limits.bound {
            self.bounded = true;
            return;
        }
        let now = item.cost <= self.bound;
        if !now && self.n_later >= self.limits.items {
            self.incomplete = Some(self.incomplete.map_or(item.cost, |b| b.min(item.cost)));
            return;
        }
        if *base == NO_BASE {
            *base = self.bases.add(trace.choices());
        }
        item.base = *base;
        self.bases.hold(*base);
        if now {
            self.now.push(item);
        } else {
            self.later.entry(item.cost).or_default().push(item);
            self.n_later += 1;
        }
    }

    /// The state before step `i` is reached. False if it is covered.
    #[inline]
    fn enter(&mut self, state: u64, trace: &TraceView<'_>, i: usize, cost: u32) -> bool {
        let step = &trace.steps[i];
        if self.is_covered_by_another(state, cost) {
            return false;
        }
        let key = key(state, self.running(trace.steps, i));
        if !step.flags.has(StepFlags::HELD_BACK) {
            if self.pricing == Pricing::Preemption {
                self.visited.enter(self::key(state, ANY), cost);
            }
            return self.visited.enter(key, cost);
        }
        let eligible = step.eligible_words(trace.wide).iter().fold(key, |k, w| fold(k, *w));
        !self.visited.covers(key, cost) && self.visited.enter(eligible, cost)
    }

    /// Whoever runs, a choice costs at most one preemption. So the state, if reached at a cost of
    /// one less, covers it.
    #[inline]
    fn is_covered_by_another(&self, state: u64, cost: u32) -> bool {
        self.pricing == Pricing::Preemption && cost > 0 && self.visited.covers(key(state, ANY), cost - 1)
    }

    /// The part of a state's key that says who runs.
    #[inline]
    fn running(&self, steps: &[Step], i: usize) -> u64 {
        let step = &steps[i];
        if step.is_value() {
            return mark(step.thread);
        }
        let last = i.checked_sub(1).map_or(0, |i| mark(steps[i].thread));
        let matters = self.pricing == Pricing::Delay || step.flags.has(StepFlags::CAN_CONTINUE);
        if matters { last } else { 0 }
    }

    /// The choices not taken at step `i`, each with its cost.
    fn price(&self, trace: &TraceView<'_>, i: usize, found: &mut Vec<(Choice, u32)>) {
        let step = &trace.steps[i];
        if step.is_value() {
            let others = (0..step.n_values).filter(|v| *v != step.value);
            found.extend(others.map(|v| (Choice::value(v), u32::from(v != 0))));
            return;
        }
        let reluctant = |t| step.is_reluctant(t, trace.wide) && !step.is_reluctant(step.thread, trace.wide);
        let can_continue = step.flags.has(StepFlags::CAN_CONTINUE);
        match self.pricing {
            Pricing::Preemption => {
                let others = step.eligible(trace.wide).filter(|t| *t != step.thread);
                let cost = |t| u32::from(can_continue || reluctant(t));
                found.extend(others.map(|t| (Choice::thread(t), cost(t))));
            }
            Pricing::Delay => {
                // Going round from the default, each thread skipped is a delay.
                let default = step.thread;
                let behind = step.eligible(trace.wide).filter(|t| *t > default);
                let ahead = step.eligible(trace.wide).filter(|t| *t < default);
                let mut delays = 0;
                for t in behind.chain(ahead) {
                    delays += 1;
                    found.push((Choice::thread(t), delays));
                }
            }
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let in_flight = self.in_flight.len() as u64;
        let exhausted = self.now.is_empty()
            && in_flight == 0
            && self.later.keys().next().is_none_or(|b| *b > self.limits.bound)
            && self.incomplete.is_none_or(|b| b > self.limits.bound);
        let estimate =
            (self.done > 0.0).then(|| (self.in_bound as f64 / self.done).max(self.in_bound as f64));
        Progress {
            schedules: self.schedules,
            in_flight,
            bound: Some(self.bound),
            in_bound: Some(self.in_bound),
            left: Some(self.now.len() as u64 + in_flight),
            fraction: Some(self.done.min(1.0)),
            estimate,
            pruned: self.pruned,
            lost: self.lost,
            bounded: self.bounded,
            gave_up: false,
            exhausted,
        }
    }

    pub(super) fn resume(&mut self) {
        let mut back: Vec<(u64, Item)> = self.in_flight.drain().collect();
        // As if they had never been handed out: the last one is the first to be taken again.
        back.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
        self.now.extend(back.into_iter().map(|(_, item)| item));
    }
}

/// The state after `alt` was taken at `step`, as far as it can be predicted, and the thread that
/// takes it.
fn after(
    prints: &Fingerprinter,
    upcoming: &Upcoming,
    steps: &[Step],
    step: &Step,
    alt: Choice,
) -> (u64, LogicalThread) {
    match (alt.as_thread(), alt.as_value()) {
        (Some(t), _) => (upcoming.pending(t, steps).map_or(0, |s| prints.peek(s)), t),
        (None, v) => {
            let mut step = *step;
            step.value = v.unwrap_or(0);
            (prints.peek(&step), step.thread)
        }
    }
}

/// Stands for any thread in a key.
const ANY: u64 = u64::MAX;

#[inline]
fn mark(t: LogicalThread) -> u64 {
    u64::from(t.0) + 1
}

#[inline]
fn key(state: u64, running: u64) -> u64 {
    fold(state, running)
}
