//! Depth-first search of the graph of states.
//!
//! The other searches compare orders of steps. A loop of twenty rounds under a mutex, in two
//! threads, has more than 10^11 of them, and some thousand states. This one asks the target for a
//! [key](crate::StateKey) of the state at each choice, and explores the choices of each state once.
//! Rounds of loops add up and do not multiply.
//!
//! # The search
//! An *edge* is a state with a choice at it. An execution follows a prefix to an edge that nobody
//! has taken and goes on without preemption. Its trace has the key of the state before each step at
//! which there was a choice, from the end of the prefix on. A state that is new is *expanded*: the
//! choices that the execution did not take become edges to take. At the first state that was
//! expanded before, the walk along the trace ends. So there are at most as many executions as
//! edges, and nothing is left when each edge between states that can be reached was taken.
//!
//! The target keeps a few keys, too. It computes no more of them in an execution that came to one
//! that it gave before, since computing them is what costs. If the search does not know that state
//! yet, or if keys are missing for another reason, then the choice that was taken at the last state
//! with a key is left to do like the others.
//!
//! # The claim
//! Let the *whole state* be that of the program and of the monitors that a claim rests on: memory
//! as far as threads can read it, registers, who waits for what, and the detectors of [hidden
//! races](crate::hidden) and [data races](crate::races). The claim is:
//!
//! > If the target's keys are equal only for whole states between which no monitor can tell the
//! > difference, later on and whatever is chosen, and the search ends without giving up, then each
//! > step that any schedule can make, from whole states that can be reached, was made in some
//! > execution from an equivalent state.
//!
//! So what a step alone shows (a failed assertion, a deadlock, a race, a call) was seen if any
//! schedule shows it. The proof is by induction over the length of a schedule. Its first state is
//! that of every execution. If its state before step `n` is equivalent to one with an expanded key,
//! then the same choice was taken there. The target is deterministic, so that execution came to an
//! equivalent state after the step, and to an equivalent one at the next choice. That one was
//! expanded, then or before: a walk that ends earlier ends at a state that was expanded before, and
//! then the argument begins anew from there, with the rest of the schedule.
//!
//! Why equal keys are equivalent states:
//! - *Memory, registers, the runtime's state.* A step is a function of them, as far as the target
//!   [knows what the program does](crate::StateKey); what it does not know is not eligible.
//! - *Detectors.* The argument of [`crate::hidden`] is about executions, not about states: "take
//!   the shortest execution with a hidden race". Two executions may come to the same memory by
//!   different orders, and a race follow one of them only. So what the detectors remember is part
//!   of the key, in a form without counts of steps: which clocks cover which access.
//! - *What is left out.* Preferences of tails. Circles and fairness, see below.
//!
//! # Yields and loops
//! Fair scheduling holds back threads that yield, and what it remembers is not part of the key. So
//! the search gives up if a step yields, in any execution. Without yields every enabled thread is
//! eligible, so each choice is explored in each state, which includes all that fair scheduling
//! would allow.
//!
//! A search that does not return to known states cannot see a thread that loops for ever by itself.
//! If the graph has a cycle, some schedule does not end, and the search gives up when it has
//! nothing else to do. Without a cycle each schedule ends: there are finitely many states, and
//! between two choices the target has run to the next one or to the end.
//!
//! # Giving up
//! The target says if it cannot know its states ([`TraceView::unknowable`]). Then, and if an
//! execution was cut off, did not follow its prefix or was lost, this search makes no more orders
//! and never says that it is exhausted. The others go on.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::bases::{BaseId, Bases, NO_BASE};
use super::{Progress, Strategy};
use crate::choice::{Choice, Tail};
use crate::order::Order;
use crate::state_key::{StateKey, Unknowable};
use crate::step::{Step, StepFlags};
use crate::trace::{Outcome, TraceView, choice_of};

/// The states that it has room for: some 200 MB with their edges.
const MOST: usize = 2_000_000;
/// How often an execution is repeated that has no key at its first choice. The first executions of
/// a worker write to memory of which it has no copy yet.
const RETRIES: u32 = 20;

/// An edge to take: the first `keep` choices of an execution, and another.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Edge {
    base: BaseId,
    keep: u32,
    choice: Option<Choice>,
    /// The number of the state that it leaves.
    from: Option<u32>,
    retries: u32,
}

/// Why the search has given up. As text it is the rest of a sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum GaveUp {
    /// States are not known: the target's number for the reason.
    Unknowable(u32),
    /// Keys were missing again and again.
    NoKeys,
    /// An execution was cut off or lost, did not follow its prefix, or held a thread back.
    Execution,
    /// A schedule returns to a state.
    Cycle,
    /// There are too many states.
    Many,
}

impl std::fmt::Display for GaveUp {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            GaveUp::Unknowable(why) => Unknowable::text(*why),
            GaveUp::NoKeys => "executions write to new memory again and again",
            GaveUp::Execution => "an execution was cut off, was lost, or held a thread back",
            GaveUp::Cycle => "a schedule returns to a state, and may do so for ever",
            GaveUp::Many => "there are too many states",
        })
    }
}

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct States {
    edges: Vec<Edge>,
    in_flight: FxHashMap<u64, Edge>,
    next_id: u64,
    bases: Bases,
    /// The states that were expanded, by number.
    numbers: FxHashMap<StateKey, u32>,
    /// From which state to which.
    graph: Vec<(u32, u32)>,
    /// The graph had no cycle when nothing was left.
    has_no_cycle: bool,
    gave_up: Option<GaveUp>,
    schedules: u64,
    pruned: u64,
    lost: u64,
}

impl Default for States {
    fn default() -> States {
        States::new()
    }
}

impl States {
    /// Ends when each choice of each state has been made.
    pub fn new() -> States {
        let root = Edge { base: NO_BASE, keep: 0, choice: None, from: None, retries: 0 };
        States {
            edges: vec![root],
            in_flight: FxHashMap::default(),
            next_id: 0,
            bases: Bases::default(),
            numbers: FxHashMap::default(),
            graph: Vec::new(),
            has_no_cycle: false,
            gave_up: None,
            schedules: 0,
            pruned: 0,
            lost: 0,
        }
    }

    /// The number of states that were expanded.
    pub fn states(&self) -> usize {
        self.numbers.len()
    }

    /// Why the search has given up, if it has.
    pub fn gave_up(&self) -> Option<GaveUp> {
        self.gave_up
    }

    fn give_up(&mut self, why: GaveUp) {
        self.gave_up = Some(why);
        (self.edges, self.numbers, self.graph) = (Vec::new(), FxHashMap::default(), Vec::new());
        self.bases.clear();
    }

    /// Walks along the trace of an edge and expands what is new.
    fn expand(&mut self, edge: &Edge, from: usize, trace: &TraceView<'_>) {
        let mut walk = Walk { base: NO_BASE, last: edge.from, at: None };
        for i in from..trace.steps.len() {
            if !is_choice(&trace.steps[i], trace.wide) {
                continue;
            }
            let key = trace.keys.get(i).copied().unwrap_or_default();
            if !key.is_known() {
                return self.take_again(edge, &walk, trace);
            }
            let new = self.numbers.len() as u32;
            let number = *self.numbers.entry(key).or_insert(new);
            self.graph.extend(walk.last.map(|last| (last, number)));
            if number != new {
                self.pruned += 1;
                return;
            }
            (walk.last, walk.at) = (Some(number), Some(i));
            let step = &trace.steps[i];
            for choice in others(step, trace.wide) {
                self.push(&mut walk.base, i, choice, number, trace);
            }
        }
    }

    /// The choice that led to a state without a key is left to do.
    fn take_again(&mut self, edge: &Edge, walk: &Walk, trace: &TraceView<'_>) {
        let (Some(at), Some(from)) = (walk.at, walk.last) else {
            if edge.retries == RETRIES {
                return self.give_up(GaveUp::NoKeys);
            }
            self.bases.hold(edge.base);
            self.edges.push(Edge { retries: edge.retries + 1, ..edge.clone() });
            return;
        };
        let mut base = walk.base;
        self.push(&mut base, at, choice_of(&trace.steps[at]), from, trace);
    }

    fn push(&mut self, base: &mut BaseId, at: usize, choice: Choice, from: u32, trace: &TraceView<'_>) {
        if *base == NO_BASE {
            *base = self.bases.add(trace.choices());
        }
        self.bases.hold(*base);
        let edge = Edge { base: *base, keep: at as u32, choice: Some(choice), from: Some(from), retries: 0 };
        self.edges.push(edge);
    }

    fn is_done(&self) -> bool {
        self.gave_up.is_none() && self.edges.is_empty() && self.in_flight.is_empty()
    }
}

/// The state of a walk along one trace.
struct Walk {
    base: BaseId,
    /// The last state with a key, and its step, if it is one of this walk.
    last: Option<u32>,
    at: Option<usize>,
}

fn is_choice(step: &Step, wide: &[u64]) -> bool {
    step.is_value() || step.eligible(wide).nth(1).is_some()
}

/// The choices that were not taken.
fn others<'a>(step: &'a Step, wide: &'a [u64]) -> impl Iterator<Item = Choice> + 'a {
    let values = (0..step.n_values).filter(|v| *v != step.value).map(Choice::value);
    let threads = step.eligible(wide).filter(|t| !step.is_value() && *t != step.thread).map(Choice::thread);
    values.chain(threads)
}

/// Whether the numbers below `n` can be ordered so that each edge leads onwards.
fn has_no_cycle(n: usize, graph: &[(u32, u32)]) -> bool {
    let mut enters = vec![0u32; n];
    let mut leaves: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (from, to) in graph {
        enters[*to as usize] += 1;
        leaves[*from as usize].push(*to);
    }
    let mut free: Vec<usize> = (0..n).filter(|i| enters[*i] == 0).collect();
    let mut ordered = 0;
    while let Some(i) = free.pop() {
        ordered += 1;
        for to in &leaves[i] {
            enters[*to as usize] -= 1;
            if enters[*to as usize] == 0 {
                free.push(*to as usize);
            }
        }
    }
    ordered == n
}

impl Strategy for States {
    fn name(&self) -> &'static str {
        "states"
    }

    fn next(&mut self) -> Option<Order> {
        let edge = self.edges.pop()?;
        let prefix = self.bases.prefix(edge.base, edge.keep, edge.choice);
        let id = self.next_id;
        self.next_id += 1;
        self.in_flight.insert(id, edge);
        Some(Order::after(id, prefix, Tail::Keyed))
    }

    fn observe(&mut self, order: &Order, trace: TraceView<'_>) {
        let Some(edge) = self.in_flight.remove(&order.id) else { return };
        self.schedules += 1;
        if self.gave_up.is_some() {
            return;
        }
        if trace.unknowable != 0 {
            return self.give_up(GaveUp::Unknowable(trace.unknowable));
        }
        let diverged = trace.divergence.is_some() || trace.outcome == Outcome::Lost;
        self.lost += u64::from(diverged);
        let cut_off = matches!(trace.outcome, Outcome::StepLimit | Outcome::Livelock);
        let held_back = |s: &Step| s.flags.has(StepFlags::HELD_BACK) || s.op.yields();
        if diverged || cut_off || trace.steps.iter().any(held_back) {
            return self.give_up(GaveUp::Execution);
        }
        if self.numbers.len() >= MOST {
            return self.give_up(GaveUp::Many);
        }
        self.expand(&edge, order.prefix.len(), &trace);
        if self.gave_up.is_some() {
            return;
        }
        self.bases.release(edge.base);
        if self.is_done() {
            self.has_no_cycle = has_no_cycle(self.numbers.len(), &self.graph);
            if !self.has_no_cycle {
                self.give_up(GaveUp::Cycle);
            }
        }
    }

    fn progress(&self) -> Progress {
        let in_flight = self.in_flight.len() as u64;
        Progress {
            schedules: self.schedules,
            in_flight,
            in_bound: Some(self.schedules),
            left: Some(self.edges.len() as u64 + in_flight),
            pruned: self.pruned,
            lost: self.lost,
            gave_up: self.gave_up.is_some(),
            exhausted: self.is_done() && self.has_no_cycle,
            ..Progress::default()
        }
    }

    fn resume(&mut self) {
        let mut back: Vec<(u64, Edge)> = self.in_flight.drain().collect();
        back.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
        if self.gave_up.is_none() {
            self.edges.extend(back.into_iter().map(|(_, edge)| edge));
        }
    }
}
