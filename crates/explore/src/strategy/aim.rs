//! Aimed preemptions: one switch at a time, where it promises most.
//!
//! This is not from a paper. It combines the small changes of preemption bounding with RFF's
//! feedback (ASPLOS 2024), and predicts the outcome of a switch from a trace, as predictive
//! analyses do, instead of trying all of them. From an execution that showed something new,
//! consider each point `i` and each thread `u` that could have run there instead of `t`:
//!
//! - if `u` runs from `i` on until it must wait for a lock held at `i`, and then `t` goes on, which
//!   [pairs](crate::pairs) come about that no execution has shown? (Assuming that the two keep
//!   doing what they did in the trace.)
//! - which locks would be taken while which others are held, as no execution has shown?
//! - would they wait for each other's locks in a circle? That is a deadlock.
//!
//! A value not yet chosen at its site is a candidate too. Points with the same sites in the program
//! count as one, and of a hundred equal threads one is as good as another. So there are few
//! candidates, however large the program. The best is executed first. What it shows is branched
//! from in turn, which gives second and third preemptions. A predicted pair that does not come
//! about is tried [`ATTEMPTS`] times. So the strategy ends by itself, often after a few dozen
//! executions; it finds much and proves nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::bases::{BaseId, Bases, NO_BASE};
use super::{Progress, Strategy};
use crate::choice::{Choice, Next, Tail};
use crate::fingerprint::fold;
use crate::op::{Op, OpKind};
use crate::order::Order;
use crate::pairs::{Lasts, Pair, choice, deadlock, overlap, place, worth};
use crate::step::Step;
use crate::thread::LogicalThread;
use crate::trace::{Outcome, TraceView, choice_of};
use crate::upcoming::Upcoming;

/// How often a predicted pair is aimed at.
const ATTEMPTS: u32 = 8;
/// A pair that has been aimed at once is worth half, and so on; in whole numbers.
const SCALE: u32 = 16;
/// The number of points with the same sites that are considered in one trace.
const OCCURRENCES: u32 = 3;
/// How far ahead a prediction looks, in steps of each thread.
const HORIZON: usize = 256;
/// Only this many steps of a longer trace are considered.
const LONGEST: usize = 20_000;
/// This many traces are branched from even if they show nothing new: the plain one may be among
/// them, and is the best.
const FIRST: u64 = 4;
/// The most switches considered in one trace.
const POINTS: usize = 1024;
/// The most candidates kept.
const CANDIDATES: usize = 4096;

/// A switch that promises something. Ordered by promise, then by how early it comes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct Candidate {
    score: u32,
    keep: Reverse<u32>,
    alt: Reverse<Choice>,
    base: BaseId,
    pairs: Vec<Pair>,
}

/// See the module.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Aim {
    seen: FxHashSet<Pair>,
    attempts: FxHashMap<Pair, u32>,
    /// Scores only fall, so a stored score is at least the true one.
    candidates: BinaryHeap<Candidate>,
    bases: Bases,
    started: bool,
    considered: u64,
    in_flight: u64,
    next_id: u64,
    schedules: u64,
    #[serde(skip)]
    lasts: Lasts,
}

impl Aim {
    /// Starts without a base: its first order is the plain execution, unless [`Aim::begin_from`]
    /// gets one.
    pub fn new() -> Aim {
        Aim::default()
    }

    /// The plain execution, without a preemption, is already known and need not be made.
    pub fn begin_from(&mut self, plain: TraceView<'_>) {
        self.take_in(&plain);
    }

    /// An upper bound of what the best candidate promises; 0 if there is none.
    pub fn promise(&self) -> u32 {
        self.candidates.peek().map_or(0, |c| c.score)
    }

    fn is_open(&self, pair: Pair) -> bool {
        !self.seen.contains(&pair) && self.attempts.get(&pair).is_none_or(|n| *n < ATTEMPTS)
    }

    fn score(&self, pairs: &[Pair]) -> u32 {
        let score = |p: &Pair| SCALE * worth(*p) / (1 + self.attempts.get(p).copied().unwrap_or(0));
        pairs.iter().filter(|p| self.is_open(**p)).map(score).sum()
    }

    /// Learns what a trace shows. True if it was something new.
    fn learn(&mut self, trace: &TraceView<'_>) -> bool {
        self.lasts.clear();
        let mut held: Vec<(u64, LogicalThread, u64)> = Vec::new();
        let mut new = false;
        for step in trace.steps.iter().take(LONGEST) {
            if step.is_value() {
                new |= self.seen.insert(choice(place(&step.op), step.value));
            }
            if let Some(lock) = acquires(&step.op) {
                for (_, _, held_at) in held.iter().filter(|(_, h, _)| *h != step.thread) {
                    new |= self.seen.insert(overlap(*held_at, place(&step.op)));
                }
                held.push((lock, step.thread, place(&step.op)));
            }
            if let Some(lock) = releases(&step.op) {
                held.retain(|(l, _, _)| *l != lock);
            }
            for pair in self.lasts.step(step.thread, &step.op).into_iter().flatten() {
                new |= self.seen.insert(pair);
            }
        }
        new
    }

    fn consider(&mut self, trace: &TraceView<'_>) {
        let steps = &trace.steps[..trace.steps.len().min(LONGEST)];
        let mut ahead = Ahead::new(steps);
        let mut found: Vec<Candidate> = Vec::new();
        let mut points = points(steps, trace.wide).into_iter().peekable();
        for (i, step) in steps.iter().enumerate() {
            if step.is_value() {
                let others = (0..step.n_values).filter(|v| *v != step.value);
                let pairs = |v| vec![choice(place(&step.op), v)];
                found.extend(others.filter_map(|v| self.candidate(i, Choice::value(v), pairs(v))));
            }
            while let Some(point) = points.next_if(|p| p.at == i) {
                let pairs = ahead.predict(i, step.thread, point.next);
                found.extend(self.candidate(i, Choice::thread(steps[point.next].thread), pairs));
            }
            ahead.pass(i, step);
        }
        self.keep(found, steps);
    }

    /// A candidate, if it promises anything.
    fn candidate(&self, keep: usize, alt: Choice, mut pairs: Vec<Pair>) -> Option<Candidate> {
        pairs.retain(|p| self.is_open(*p));
        let score = self.score(&pairs);
        (score > 0).then_some(Candidate {
            score,
            keep: Reverse(keep as u32),
            alt: Reverse(alt),
            base: NO_BASE,
            pairs,
        })
    }

    fn keep(&mut self, mut found: Vec<Candidate>, steps: &[Step]) {
        if found.is_empty() {
            return;
        }
        found.sort_by(|a, b| b.cmp(a));
        found.truncate(CANDIDATES / 8);
        let base = self.bases.add(steps.iter().map(choice_of));
        for mut c in found {
            c.base = base;
            self.bases.hold(base);
            self.candidates.push(c);
        }
        if self.candidates.len() > CANDIDATES {
            let mut all = std::mem::take(&mut self.candidates).into_sorted_vec();
            for c in all.drain(..CANDIDATES / 2) {
                self.bases.release(c.base);
            }
            self.candidates = all.into();
        }
    }

    /// The best candidate by what is open now.
    fn best(&mut self) -> Option<Candidate> {
        loop {
            let mut c = self.candidates.pop()?;
            let score = self.score(&c.pairs);
            if score == 0 {
                self.bases.release(c.base);
            } else if score == c.score {
                return Some(c);
            } else {
                c.score = score;
                self.candidates.push(c);
            }
        }
    }

    fn take_in(&mut self, trace: &TraceView<'_>) {
        if trace.outcome != Outcome::Lost && (self.learn(trace) || self.considered < FIRST) {
            self.considered += 1;
            self.consider(trace);
        }
        self.started = true;
    }
}

impl Strategy for Aim {
    fn name(&self) -> &'static str {
        "aim"
    }

    fn next(&mut self) -> Option<Order> {
        let id = self.next_id;
        let tail = Tail::NonPreemptive { next: Next::Lowest };
        let order = if self.started {
            let best = self.best()?;
            for pair in &best.pairs {
                *self.attempts.entry(*pair).or_default() += 1;
            }
            let prefix = self.bases.prefix(best.base, best.keep.0, Some(best.alt.0));
            self.bases.release(best.base);
            Order::after(id, prefix, tail)
        } else {
            self.started = true;
            Order::free(id, tail)
        };
        self.next_id += 1;
        self.in_flight += 1;
        Some(order)
    }

    fn observe(&mut self, _order: &Order, trace: TraceView<'_>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.schedules += 1;
        self.take_in(&trace);
    }

    /// Considers others' executions only if there is nothing left to aim at. Random ones show so
    /// much at once that the results of small steps from the plain execution would be lost among
    /// it.
    fn witness(&mut self, trace: TraceView<'_>) {
        let begun = self.schedules > 0 || self.considered > 0;
        if begun && self.in_flight == 0 && self.candidates.is_empty() {
            self.take_in(&trace);
        }
    }

    fn progress(&self) -> Progress {
        let left = self.candidates.len() as u64;
        Progress {
            schedules: self.schedules,
            in_flight: self.in_flight,
            left: Some(left + self.in_flight),
            exhausted: self.started && left == 0 && self.in_flight == 0,
            ..Progress::default()
        }
    }

    /// What was in flight counts as an attempt. Other attempts will follow, unless it was the very
    /// first.
    fn resume(&mut self) {
        self.in_flight = 0;
        self.started = self.schedules > 0 || !self.seen.is_empty();
    }
}

/// A switch to consider: at step `at`, to the thread of step `next`, which is its next one.
struct Point {
    at: usize,
    next: usize,
}

/// The switches to consider in a trace: the first few of those with the same sites (of the step,
/// the one before, and the other thread's), and at most [`POINTS`] in all, evenly spread.
fn points(steps: &[Step], wide: &[u64]) -> Vec<Point> {
    let mut upcoming = Upcoming::default();
    upcoming.begin(steps);
    let mut met: FxHashMap<u64, u32> = FxHashMap::default();
    let mut points = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let before = at.checked_sub(1).filter(|b| steps[*b].thread == step.thread);
        let here = fold(place(&step.op), before.map_or(0, |b| place(&steps[b].op)));
        let others = step.eligible(wide).filter(|u| *u != step.thread && matters(&step.op));
        for next in others.filter_map(|u| upcoming.next(u)) {
            let times = met.entry(fold(here, place(&steps[next].op))).or_default();
            *times += 1;
            if *times <= OCCURRENCES {
                points.push(Point { at, next });
            }
        }
        upcoming.pass(at, step);
    }
    let every = points.len().div_ceil(POINTS).max(1);
    points.into_iter().step_by(every).collect()
}

/// Whether it can matter to run another thread before this operation. Creation and exit touch
/// nothing shared: switching before the next operation has the same effect.
fn matters(op: &Op) -> bool {
    use OpKind::*;
    !matches!(op.kind(), Choose | Create | Start | Exit | Join)
}

/// A walk along a trace that knows the past, the locks held, and what comes next.
struct Ahead<'a> {
    steps: &'a [Step],
    upcoming: Upcoming,
    lasts: Lasts,
    /// By lock, the holder and where it was taken.
    held: FxHashMap<u64, (LogicalThread, u64)>,
}

impl<'a> Ahead<'a> {
    fn new(steps: &'a [Step]) -> Ahead<'a> {
        let mut upcoming = Upcoming::default();
        upcoming.begin(steps);
        Ahead { steps, upcoming, lasts: Lasts::default(), held: FxHashMap::default() }
    }

    fn pass(&mut self, i: usize, step: &Step) {
        self.upcoming.pass(i, step);
        self.lasts.step(step.thread, &step.op);
        if let Some(lock) = acquires(&step.op) {
            self.held.insert(lock, (step.thread, place(&step.op)));
        }
        if let Some(lock) = releases(&step.op) {
            self.held.remove(&lock);
        }
    }

    /// The pairs that come about if the thread of step `next` runs at `i`, and then `t` goes on.
    fn predict(&self, i: usize, t: LogicalThread, next: usize) -> Vec<Pair> {
        let mut aside = Lasts::default();
        let mut pairs = Vec::new();
        let mut taken: Vec<u64> = Vec::new();
        let u = self.steps[next].thread;
        let mut at = Some(next);
        for _ in 0..HORIZON {
            let Some(op) = at.map(|i| &self.steps[i].op) else { break };
            if let Some(lock) = acquires(op) {
                let holder = self.held.get(&lock).filter(|(h, _)| *h != u);
                if let Some((holder, _)) = holder {
                    if self.is_circle(*holder, u, &taken) {
                        pairs.push(deadlock(place(op), place(&self.steps[i].op)));
                    }
                    break;
                }
                taken.push(lock);
                let others = self.held.values().filter(|(h, _)| *h != u);
                pairs.extend(others.map(|(_, held_at)| overlap(*held_at, place(op))));
            }
            if let Some(lock) = releases(op) {
                taken.retain(|l| *l != lock);
            }
            pairs.extend(self.lasts.step_aside(&mut aside, u, op).into_iter().flatten());
            at = at.and_then(|i| self.upcoming.after(i));
        }
        self.then(i, t, &mut aside, &mut pairs);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Whether `holder`, which holds a lock that `u` wants, itself waits for `u`, which has `taken`
    /// locks, or for someone who does.
    fn is_circle(&self, mut holder: LogicalThread, u: LogicalThread, taken: &[u64]) -> bool {
        for _ in 0..=self.held.len() {
            let wanted = self.upcoming.next(holder).and_then(|i| acquires(&self.steps[i].op));
            let Some(lock) = wanted else { return false };
            if taken.contains(&lock) {
                return true;
            }
            match self.held.get(&lock) {
                Some((h, _)) if *h == u => return true,
                Some((h, _)) => holder = *h,
                None => return false,
            }
        }
        false
    }

    fn then(&self, i: usize, t: LogicalThread, aside: &mut Lasts, pairs: &mut Vec<Pair>) {
        let mut at = Some(i);
        for _ in 0..HORIZON {
            let Some(op) = at.map(|i| &self.steps[i].op) else { break };
            pairs.extend(self.lasts.step_aside(aside, t, op).into_iter().flatten());
            at = at.and_then(|i| self.upcoming.after(i));
        }
    }
}

fn acquires(op: &Op) -> Option<u64> {
    use OpKind::*;
    match op.kind() {
        Lock | TimedLock | WriteLock => Some(op.object),
        CondWake => Some(op.other),
        _ => None,
    }
}

fn releases(op: &Op) -> Option<u64> {
    use OpKind::*;
    match op.kind() {
        Unlock => Some(op.object),
        CondWait => Some(op.other),
        _ => None,
    }
}
