//! Dynamic partial-order reduction: one execution of each class of equivalent ones.
//!
//! *Source Sets: A Foundation for Optimal Dynamic Partial Order Reduction* (Abdulla, Aronsson,
//! Jonsson, Sagonas, JACM 2017), the algorithm Source-DPOR. At first each state is left by one
//! thread only. For every two steps of an execution that depend on each other and are not ordered
//! by others, a thread with which the other order begins is added to the state before the first of
//! the two. Sleep sets (see [`DepthFirst`](super::DepthFirst)) keep what was explored from being
//! explored again. So steps that have nothing to do with each other are executed in one order, in
//! contrast to a search that remembers states, which executes something for each state between
//! them. It ends when it has made an execution of each class; that is all that there is.
//!
//! # When it gives up
//! The argument needs that a step can only be enabled or disabled by steps that depend on it. That
//! is not so where time passes, where fairness holds threads back, and where an execution ends
//! before its threads do: then nobody knows what these would have done. At the first such execution
//! the search gives up for good and never claims to have ended ([`Dpor::has_given_up`]). Other
//! strategies go on.
//!
//! A trace does not say what a reluctant thread is about to do: to wake up spuriously, which is
//! supported, or to time out, which is not. So each is executed once, in the first state of its wait
//! in which it is offered.
//!
//! # Deviations
//! 1. A lock that a thread takes disables the others' steps. The paper's races are between steps
//!    with nothing in between. Here, a pair also counts if the first step happens before the second
//!    through others, but not before the step that the second one's thread made last. This includes
//!    two acquisitions with a release between them.
//! 2. Happens-before of the second step is taken from the trace, where it includes the first step.
//!    So there may be fewer initials than in the reversed execution, and more is explored.
//! 3. The order of explorations is free: deepest first, but several may be in flight. Who is asleep
//!    depends on the order in which threads were added to a state, and not on when they are
//!    explored. A thread is asleep only behind one that was added before it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::reversals::{Reversals, Set, THREADS, depends, members, one};
use super::{Progress, Strategy};
use crate::choice::{Choice, Next, Tail};
use crate::op::{Op, OpKind};
use crate::order::Order;
use crate::step::{Step, StepFlags};
use crate::thread::ThreadId;
use crate::trace::{Outcome, TraceView, choice_of};
use crate::upcoming::Upcoming;

type NodeId = u32;
const NONE: NodeId = u32::MAX;

/// The most numbers that the clocks of one execution may have.
const MOST_CLOCKS: usize = 1 << 23;

/// A state that some execution has come to, as long as something below it is left to explore.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Node {
    parent: NodeId,
    depth: u32,
    /// What leads here from the parent.
    into: Choice,
    /// The number of children and of items that are not done.
    live: u32,
    eligible: Set,
    /// Threads that were explored from here or will be.
    added: Set,
    sleep: Set,
}

/// An execution to make: to the state, and then this.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Item {
    /// [`NONE`]: the first execution.
    node: NodeId,
    choice: Choice,
    /// Who is asleep before the choice.
    sleep: Set,
    retried: bool,
}

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dpor {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// By depth, and then by number.
    todo: BTreeMap<(u32, u64), Item>,
    numbers: u64,
    in_flight: FxHashMap<u64, Item>,
    next_id: u64,
    schedules: u64,
    pruned: u64,
    lost: u64,
    has_given_up: bool,
    #[serde(skip)]
    scratch: Scratch,
}

/// Tables that are reused for each trace.
#[derive(Debug, Default)]
struct Scratch {
    reversals: Reversals,
    upcoming: Upcoming,
    found: Vec<usize>,
    path: Vec<NodeId>,
}

impl Clone for Scratch {
    fn clone(&self) -> Scratch {
        Scratch::default()
    }
}

impl Default for Dpor {
    fn default() -> Dpor {
        Dpor::new()
    }
}

impl Dpor {
    /// Unbounded: it ends when every class of executions has been made, or gives up.
    pub fn new() -> Dpor {
        let first = Item { node: NONE, choice: Choice::default(), sleep: 0, retried: false };
        Dpor {
            nodes: Vec::new(),
            free: Vec::new(),
            todo: BTreeMap::from([((0, 0), first)]),
            numbers: 1,
            in_flight: FxHashMap::default(),
            next_id: 0,
            schedules: 0,
            pruned: 0,
            lost: 0,
            has_given_up: false,
            scratch: Scratch::default(),
        }
    }

    /// Whether it will not come to an end; see the module.
    pub fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// Stops for good, with nothing claimed.
    pub fn give_up(&mut self) {
        let id = self.next_id;
        *self = Dpor { has_given_up: true, next_id: id, schedules: self.schedules, ..Dpor::new() };
        self.todo.clear();
    }

    fn node(&mut self, new: Node) -> NodeId {
        if new.parent != NONE {
            self.nodes[new.parent as usize].live += 1;
        }
        match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = new;
                id
            }
            None => {
                self.nodes.push(new);
                (self.nodes.len() - 1) as NodeId
            }
        }
    }

    fn add(&mut self, node: NodeId, choice: Choice, sleep: Set) {
        let state = &mut self.nodes[node as usize];
        state.live += 1;
        let key = (state.depth, self.numbers);
        self.numbers += 1;
        self.todo.insert(key, Item { node, choice, sleep, retried: false });
    }

    /// Frees the state if nothing below it is left, and those above it likewise.
    fn close(&mut self, mut node: NodeId) {
        while node != NONE && self.nodes[node as usize].live == 0 {
            self.free.push(node);
            node = self.nodes[node as usize].parent;
            if node != NONE {
                self.nodes[node as usize].live -= 1;
            }
        }
    }

    fn prefix(&self, item: &Item) -> Vec<Choice> {
        if item.node == NONE {
            return Vec::new();
        }
        let mut prefix = vec![item.choice];
        let mut node = &self.nodes[item.node as usize];
        while node.parent != NONE {
            prefix.push(node.into);
            node = &self.nodes[node.parent as usize];
        }
        prefix.reverse();
        prefix
    }

    /// The states of the execution up to that of the item, and the item's itself, into `path`.
    fn path(&self, item: &Item, path: &mut Vec<NodeId>) {
        path.clear();
        let mut node = item.node;
        while node != NONE {
            path.push(node);
            node = self.nodes[node as usize].parent;
        }
        path.reverse();
    }

    /// Takes in an execution of an item.
    fn expand(&mut self, item: &Item, trace: &TraceView<'_>, scratch: &mut Scratch) {
        let Scratch { reversals, upcoming, found, path } = scratch;
        let steps = trace.steps;
        self.path(item, path);
        let from = path.len().saturating_sub(1);
        reversals.begin(trace.threads());
        upcoming.begin(steps);
        let mut sleep = item.sleep;
        // Reluctant threads that were offered before in their current wait.
        let mut offered: Set = 0;
        for (j, step) in steps.iter().enumerate() {
            let reluctant = step.reluctant_words(trace.wide).first().copied().unwrap_or(0);
            if j >= path.len() {
                let state = self.enter(j, sleep, path, trace);
                path.push(state);
                for t in members(reluctant & !offered & !sleep & !self.nodes[state as usize].added) {
                    self.explore(state, t);
                }
                if !step.is_value() && sleep & one(step.thread.index()) != 0 {
                    // What follows is explored elsewhere, and so is what another thread begins, or
                    // that is to be done yet.
                    self.pruned += 1;
                    let node = &self.nodes[state as usize];
                    let awake = node.eligible & !(sleep | node.added);
                    if let Some(t) = members(awake).next() {
                        self.explore(state, t);
                    }
                    break;
                }
            }
            reversals.pass(j, steps, found);
            if j >= from {
                for i in found.iter().copied() {
                    self.reverse(i, j, steps, path, reversals);
                }
                if !step.is_value() {
                    let stays = |q: usize| is_independent(q, &step.op, upcoming, steps);
                    sleep = members(sleep & !one(step.thread.index())).filter(|q| stays(*q)).fold(0, with);
                }
            }
            offered = (offered | reluctant) & !one(step.thread.index());
            upcoming.pass(j, step);
        }
        if let Some(last) = path.last().copied() {
            self.close(last);
        }
    }

    /// The execution comes to the state before step `j`.
    fn enter(&mut self, j: usize, sleep: Set, path: &[NodeId], trace: &TraceView<'_>) -> NodeId {
        let step = &trace.steps[j];
        let parent = path.last().copied().unwrap_or(NONE);
        let into = j.checked_sub(1).map_or(Choice::default(), |i| choice_of(&trace.steps[i]));
        let is_asleep = sleep & one(step.thread.index()) != 0;
        let eligible = step.eligible_words(trace.wide).first().copied().unwrap_or(0);
        let added = if step.is_value() || is_asleep { 0 } else { one(step.thread.index()) };
        let state = self.node(Node { parent, depth: j as u32, into, live: 0, eligible, added, sleep });
        for value in (0..step.n_values).filter(|v| *v != step.value) {
            self.add(state, Choice::value(value), sleep);
        }
        state
    }

    /// Explores a thread from a state, after those that were added before.
    fn explore(&mut self, state: NodeId, thread: usize) {
        let node = &mut self.nodes[state as usize];
        let sleep = node.sleep | node.added;
        node.added |= one(thread);
        self.add(state, Choice::thread(ThreadId(thread as u16)), sleep);
    }

    /// Sees to it that step `j` is also made before step `i`, if it can be.
    fn reverse(&mut self, i: usize, j: usize, steps: &[Step], path: &[NodeId], reversals: &Reversals) {
        if reversals.is_fixed(i, j, steps) {
            return;
        }
        let node = &self.nodes[path[i] as usize];
        let initials = reversals.initials(i, j, steps);
        if initials & (node.added | node.sleep) != 0 {
            return;
        }
        let wanted = steps[j].thread.index();
        let can = initials & node.eligible;
        if can & one(wanted) != 0 {
            self.explore(path[i], wanted);
        } else if let Some(t) = members(can).next() {
            self.explore(path[i], t);
        } else if initials != one(wanted) {
            // A step that does not need step `i` was not possible before it: the argument does not
            // hold for this program.
            self.has_given_up = true;
        }
        // Otherwise only step `j` itself is left, and it is not possible before step `i`.
    }
}

fn with(set: Set, thread: usize) -> Set {
    set | one(thread)
}

/// Whether the thread's next step does not depend on `op`. If it makes none, nobody knows.
fn is_independent(q: usize, op: &Op, upcoming: &Upcoming, steps: &[Step]) -> bool {
    upcoming.pending(ThreadId(q as u16), steps).is_some_and(|s| !depends(&s.op, op))
}

/// Whether the argument for leaving out executions holds for what this one has done: see the
/// module.
fn is_supported(trace: &TraceView<'_>) -> bool {
    let threads = trace.threads();
    if trace.outcome != Outcome::Passed || threads > THREADS || trace.steps.len() * threads > MOST_CLOCKS {
        return false;
    }
    let is_usual = |step: &Step| {
        let is_stale_read = step.is_value() && step.op.other != 0;
        let is_timed = matches!(
            step.op.kind(),
            OpKind::TimeOut | OpKind::Timer | OpKind::TimedLock | OpKind::Sleep | OpKind::Signal
        );
        let held_back = step.flags.has(StepFlags::HELD_BACK);
        let is_wide = step.eligible_words(trace.wide).len() > 1;
        !is_stale_read && !is_timed && !held_back && !is_wide && !step.op.yields()
    };
    trace.steps.iter().all(is_usual) && is_over(trace)
}

/// Whether every thread has ended, but for the one that made the last step.
fn is_over(trace: &TraceView<'_>) -> bool {
    let (mut known, mut ended): (Set, Set) = (0, 0);
    for step in trace.steps {
        known |= step.eligible_words(trace.wide).first().copied().unwrap_or(0);
        known |= one(step.thread.index());
        match step.op.kind() {
            OpKind::Exit => ended |= one(step.thread.index()),
            OpKind::Create if step.op.object < THREADS as u64 => known |= one(step.op.object as usize),
            OpKind::Create => return false,
            _ => {}
        }
    }
    let last = trace.steps.last().map_or(0, |s| one(s.thread.index()));
    known & !(ended | last) == 0
}

impl Strategy for Dpor {
    fn name(&self) -> &'static str {
        "dpor"
    }

    fn next(&mut self) -> Option<Order> {
        let (_, item) = self.todo.pop_last()?;
        let prefix = self.prefix(&item);
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
            let depth = if item.node == NONE { 0 } else { self.nodes[item.node as usize].depth };
            self.todo.insert((depth, self.numbers), item);
            self.numbers += 1;
            return;
        }
        if failed || !is_supported(&trace) {
            self.lost += u64::from(failed);
            self.give_up();
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        self.expand(&item, &trace, &mut scratch);
        self.scratch = scratch;
        if self.has_given_up {
            self.give_up();
        } else if item.node != NONE {
            self.nodes[item.node as usize].live -= 1;
            self.close(item.node);
        }
    }

    fn witness(&mut self, trace: TraceView<'_>) {
        let is_known = trace.divergence.is_none() && trace.outcome != Outcome::Lost;
        if !self.has_given_up && is_known && !is_supported(&trace) {
            self.give_up();
        }
    }

    fn progress(&self) -> Progress {
        let in_flight = self.in_flight.len() as u64;
        Progress {
            schedules: self.schedules,
            in_flight,
            in_bound: Some(self.schedules),
            left: Some(self.todo.len() as u64 + in_flight),
            pruned: self.pruned,
            lost: self.lost,
            exhausted: !self.has_given_up && self.todo.is_empty() && in_flight == 0,
            ..Progress::default()
        }
    }

    fn resume(&mut self) {
        let mut back: Vec<(u64, Item)> = self.in_flight.drain().collect();
        // As if they had never been handed out: the last one is the first to be taken again.
        back.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
        for (_, item) in back {
            let depth = if item.node == NONE { 0 } else { self.nodes[item.node as usize].depth };
            self.todo.insert((depth, self.numbers), item);
            self.numbers += 1;
        }
    }
}
