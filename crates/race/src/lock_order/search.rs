//! The search for cycles, shortest first.
//!
//! Edges that differ only in their thread, their time and the other locks held form one *class*:
//! they make the same report. The search walks over classes and checks at each step whether the
//! path has pairwise compatible edges, one of each class. So a loop that takes two locks a thousand
//! times in a hundred threads costs as much as two edges. Before that, locks on no cycle are left
//! out (strongly connected components), so a large program with a lock order costs one pass.

use super::fork_join::{ForkJoin, SegmentClock};
use super::{Acquisition, Cycle, CycleEdge, Cycles, Edge, SearchLimits};
use crate::event::{EventSource, LockId, LockMode};
use raddle_base::clock::ThreadId;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

pub fn cycles(edges: &[Arc<Edge>], order: &ForkJoin, limits: SearchLimits) -> Cycles {
    let graph = Graph::new(edges);
    let mut search = Search {
        graph: &graph,
        edges,
        segments: edges.iter().map(|edge| order.segment_clock(edge.thread, edge.segment)).collect(),
        limits,
        steps: 0,
        found: Cycles::default(),
        keys: HashSet::new(),
        path: Vec::new(),
    };
    search.run();
    search.found
}

/// What the edges of a class have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ClassKey {
    from: LockId,
    to: LockId,
    held_mode: LockMode,
    wanted_mode: LockMode,
    context: EventSource,
}

/// An edge seen as an arc from one of its held locks.
#[derive(Clone, Copy)]
struct Arm {
    edge: usize,
    held: Acquisition,
}

/// A thread, or a task or section of it.
type Runner = (ThreadId, u32);

fn runner(edge: &Edge) -> Runner {
    // One without a place in the order of tasks is judged by its thread.
    (edge.thread, edge.moment.number.map_or(0, |_| edge.moment.context))
}

struct Class {
    key: ClassKey,
    /// The locks of the key, numbered.
    from: usize,
    to: usize,
    arms: Vec<(Runner, Vec<Arm>)>,
}

/// The classes that lie on some cycle of locks. Locks are numbered in their order.
struct Graph {
    classes: Vec<Class>,
    /// The classes that start at each lock.
    out: Vec<Vec<usize>>,
    /// The locks from which some class leads to each lock.
    into: Vec<Vec<usize>>,
    threads: usize,
}

impl Graph {
    fn new(edges: &[Arc<Edge>]) -> Self {
        let mut arcs: BTreeMap<ClassKey, BTreeMap<Runner, Vec<Arm>>> = BTreeMap::new();
        for (index, edge) in edges.iter().enumerate() {
            let wanted = edge.acquired;
            for held in edge.held.iter().filter(|held| held.lock != wanted.lock) {
                let key = ClassKey {
                    from: held.lock,
                    to: wanted.lock,
                    held_mode: held.mode,
                    wanted_mode: wanted.mode,
                    context: wanted.context,
                };
                let arm = Arm { edge: index, held: *held };
                arcs.entry(key).or_default().entry(runner(edge)).or_default().push(arm);
            }
        }
        let component = components(arcs.keys().map(|key| (key.from, key.to)));
        arcs.retain(|key, _| component[&key.from] == component[&key.to]);
        let locks: BTreeSet<LockId> = arcs.keys().map(|key| key.from).collect();
        let number: HashMap<LockId, usize> = locks.iter().copied().zip(0..).collect();
        let mut graph = Self {
            classes: Vec::new(),
            out: vec![Vec::new(); locks.len()],
            into: vec![Vec::new(); locks.len()],
            threads: 0,
        };
        let mut threads = BTreeSet::new();
        for (key, arms) in arcs {
            threads.extend(arms.keys().copied());
            let (from, to) = (number[&key.from], number[&key.to]);
            graph.out[from].push(graph.classes.len());
            // Classes come sorted by their start, so parallel ones are neighbours here.
            if graph.into[to].last() != Some(&from) {
                graph.into[to].push(from);
            }
            graph.classes.push(Class { key, from, to, arms: arms.into_iter().collect() });
        }
        graph.threads = threads.len();
        graph
    }
}

/// Numbers the strongly connected components (Kosaraju's two passes, without recursion).
fn components(arcs: impl Iterator<Item = (LockId, LockId)>) -> HashMap<LockId, usize> {
    let mut forward: BTreeMap<LockId, Vec<LockId>> = BTreeMap::new();
    let mut backward: BTreeMap<LockId, Vec<LockId>> = BTreeMap::new();
    for (from, to) in arcs {
        forward.entry(from).or_default().push(to);
        forward.entry(to).or_default();
        backward.entry(to).or_default().push(from);
    }
    let mut finished = Vec::new();
    let mut entered = HashSet::new();
    for &root in forward.keys() {
        let mut stack = vec![(root, 0)];
        if !entered.insert(root) {
            continue;
        }
        while let Some((lock, next)) = stack.last_mut() {
            let successor = forward[lock].get(*next).copied();
            *next += 1;
            match successor {
                Some(successor) if entered.insert(successor) => stack.push((successor, 0)),
                Some(_) => {}
                None => {
                    finished.push(*lock);
                    stack.pop();
                }
            }
        }
    }
    let mut component = HashMap::new();
    for (number, &root) in finished.iter().rev().enumerate() {
        let mut stack = vec![root];
        while let Some(lock) = stack.pop() {
            if let Entry::Vacant(free) = component.entry(lock) {
                free.insert(number);
                stack.extend(backward.get(&lock).into_iter().flatten());
            }
        }
    }
    component
}

struct Search<'a> {
    graph: &'a Graph,
    edges: &'a [Arc<Edge>],
    /// Of each edge, its segment.
    segments: Vec<SegmentClock<'a>>,
    limits: SearchLimits,
    steps: u64,
    found: Cycles,
    /// The locks and contexts of the cycles found.
    keys: HashSet<Vec<(LockId, EventSource)>>,
    /// The classes of the cycle being built.
    path: Vec<usize>,
}

/// How far each lock is from the start of a cycle, going backwards.
struct Reach {
    distance: Vec<usize>,
    /// The locks that have a distance.
    reached: Vec<usize>,
    /// Nothing lies beyond: a deeper search would see no more.
    complete: bool,
}

const FAR: usize = usize::MAX;

impl Search<'_> {
    /// Looks for all cycles of two locks, then of three, and so on. Each cycle is found from its
    /// least lock. Threads differ, so no cycle is longer than there are threads.
    fn run(&mut self) {
        let graph = self.graph;
        let mut starts: Vec<usize> = (0..graph.out.len()).collect();
        let mut reach = Reach { distance: vec![FAR; starts.len()], reached: Vec::new(), complete: true };
        for length in 2..=graph.threads.min(starts.len()) {
            let mut alive = Vec::new();
            for start in starts {
                self.look_back(start, length - 1, &mut reach);
                if self.exhausted() {
                    return;
                }
                let closes = |class: &usize| reach.distance[graph.classes[*class].to] != FAR;
                let on_cycle = graph.out[start].iter().any(closes);
                if on_cycle {
                    self.extend(start, length, &reach);
                }
                if on_cycle || !reach.complete {
                    alive.push(start);
                }
            }
            starts = alive;
        }
    }

    /// Counts a step, and says whether the search has to end.
    fn exhausted(&mut self) -> bool {
        self.steps += 1;
        self.found.truncated |= self.steps > self.limits.steps;
        self.found.truncated
    }

    /// Finds the locks, none less than `start`, from which `start` can be reached in at most
    /// `depth` steps.
    fn look_back(&mut self, start: usize, depth: usize, reach: &mut Reach) {
        for lock in reach.reached.drain(..) {
            reach.distance[lock] = FAR;
        }
        reach.complete = true;
        reach.distance[start] = 0;
        reach.reached.push(start);
        let mut next = 0;
        while let Some(&lock) = reach.reached.get(next) {
            next += 1;
            for &from in &self.graph.into[lock] {
                if self.exhausted() {
                    return;
                }
                if from < start || reach.distance[from] != FAR {
                    continue;
                }
                if reach.distance[lock] == depth {
                    reach.complete = false;
                } else {
                    reach.distance[from] = reach.distance[lock] + 1;
                    reach.reached.push(from);
                }
            }
        }
    }

    /// Prolongs the path, which ends at the lock `at`, by exactly `left` classes that lead back to
    /// its start.
    fn extend(&mut self, at: usize, left: usize, reach: &Reach) {
        let graph = self.graph;
        for &class in &graph.out[at] {
            if self.exhausted() {
                return;
            }
            let to = graph.classes[class].to;
            let last = left == 1;
            let leads_back = reach.distance[to] < left;
            let visited = self.path.iter().any(|&on| graph.classes[on].from == to);
            if !leads_back || (visited && !last) || !self.waits(class, last) {
                continue;
            }
            self.path.push(class);
            if let Some(arms) = self.fill() {
                if last {
                    self.report(&arms);
                } else {
                    self.extend(to, left - 1, reach);
                }
            }
            self.path.pop();
        }
    }

    /// Whether the end of the path would wait for `class`, and `class`, if it closes the cycle, for
    /// the start.
    fn waits(&self, class: usize, closes: bool) -> bool {
        let key = |class: usize| self.graph.classes[class].key;
        let waits = |waiter: usize, holder: usize| key(waiter).wanted_mode.excludes(key(holder).held_mode);
        let before = self.path.last().is_none_or(|&end| waits(end, class));
        before && (!closes || self.path.first().is_none_or(|&first| waits(class, first)))
    }

    /// Chooses an arm for each class of the path, all compatible, if that can be done.
    fn fill(&mut self) -> Option<Vec<Arm>> {
        let mut chosen = Vec::with_capacity(self.path.len());
        self.fill_from(&mut chosen).then_some(chosen)
    }

    fn fill_from(&mut self, chosen: &mut Vec<Arm>) -> bool {
        let graph = self.graph;
        let Some(&class) = self.path.get(chosen.len()) else { return true };
        for (runner, arms) in &graph.classes[class].arms {
            if self.exhausted() {
                return false;
            }
            if chosen.iter().any(|other| self::runner(&self.edges[other.edge]) == *runner) {
                continue;
            }
            for arm in arms {
                if self.exhausted() {
                    return false;
                }
                if chosen.iter().all(|other| self.compatible(other, arm)) {
                    chosen.push(*arm);
                    if self.fill_from(chosen) {
                        return true;
                    }
                    chosen.pop();
                }
            }
        }
        false
    }

    /// Whether the two edges, of different threads or tasks, can be under way at once.
    fn compatible(&self, a: &Arm, b: &Arm) -> bool {
        let (one, two) = (&self.edges[a.edge], &self.edges[b.edge]);
        let (held, other) = (&one.held, &two.held);
        let is_ordered = match one.moment.counts_with(&two.moment) {
            true => one.moment.is_ordered(&two.moment),
            false => one.thread == two.thread,
        };
        let excludes = |mine: &Acquisition| {
            other.iter().any(|theirs| mine.lock == theirs.lock && mine.mode.excludes(theirs.mode))
        };
        // The segments of one thread are in order, which does not order the tasks that it ran.
        let in_order = || one.thread != two.thread && self.segments[a.edge].ordered(&self.segments[b.edge]);
        !is_ordered && !held.iter().any(excludes) && !in_order()
    }

    fn report(&mut self, arms: &[Arm]) {
        let edges: Vec<CycleEdge> =
            arms.iter().map(|arm| CycleEdge { edge: self.edges[arm.edge].clone(), held: arm.held }).collect();
        let key = edges.iter().map(|step| (step.held.lock, step.edge.acquired.context)).collect();
        if !self.keys.insert(key) {
            return;
        }
        if self.found.cycles.len() == self.limits.cycles {
            self.found.truncated = true;
        } else {
            self.found.cycles.push(Cycle { edges });
        }
    }
}
