//! Potential deadlocks: cycles in the order in which locks are taken.
//!
//! After GoodLock (Havelund, *Using runtime analysis to guide model checking of Java programs*,
//! SPIN 2000), for cycles of any length (Bensalem and Havelund, *Dynamic deadlock analysis of
//! multi-threaded programs*, HVC 2005; Agarwal and Stoller, *Run-time detection of potential
//! deadlocks for programs with locks, semaphores, and condition variables*, PADTAD 2006).
//!
//! # The algorithm
//! When a thread takes a lock while it holds others, an [`Edge`] records the thread, the locks
//! held, the lock wanted, and the segment of the thread. A *segment* here is the part of a thread
//! between two thread creations or joins. Only creation and joining order segments. A signal or an
//! unlock orders nothing: another run might have it at another time, and the purpose is to predict.
//! A *cycle* is a sequence of edges in which each edge wants a lock that the next one holds. It is
//! a potential deadlock if all its edges can be in progress at once:
//! - their threads are pairwise different;
//! - no two of them hold the same lock (a *gate* lock, which admits one at a time), unless both
//!   hold it for reading. This includes the locks of the cycle: two threads cannot hold those at
//!   once;
//! - no edge's segment precedes another's by creation and joining;
//! - each wanted lock would really be waited for: a reader does not wait for a reader.
//!
//! Cycles of the same locks, taken in the same contexts, are one cycle.
//!
//! # Choices
//! 1. *Readers do not wait for readers.* This is right for glibc's default rwlock, and for
//!    recursive read locking anywhere. With a rwlock that prefers waiting writers, a reader may
//!    wait behind a writer that waits for another reader; such deadlocks need a third thread, and
//!    are not predicted.
//! 2. A try-lock never waits, so it makes no edge into the lock it tries. After it has succeeded
//!    the lock is held, and makes edges to locks taken later.
//! 3. Taking a lock that the thread already holds makes no edge. If the lock is recursive, nothing
//!    waits. If it is not, this is a double lock, which is another kind of finding. The same
//!    applies to a reader that upgrades; the lock then counts as held for writing until it is
//!    released completely.
//! 4. An unlock of a lock that is not held is ignored. Locks may be released in any order.
//! 5. The search is bounded ([`SearchLimits`]) and finds the shortest cycles first. The result says
//!    if the search did not finish: the number of cycles is exponential in the worst case.
//! 6. A task or a section of OpenMP counts as a thread of its own, whichever thread happened to run
//!    it. What OpenMP orders (a task and its creator, `taskwait`, dependences, barriers …) comes
//!    with each edge ([`Moment`]), and two edges that it orders are not in progress at once. An edge
//!    without a place in this order is judged by its system thread alone.

mod fork_join;
mod search;

use crate::event::{EventSource, LockId, LockMode};
use fork_join::ForkJoin;
use raddle_base::clock::ThreadId;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// A lock taken, or wanted: which, how, where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Acquisition {
    /// Which lock.
    pub lock: LockId,
    /// How it is held or wanted. A reader that upgrades holds it for writing.
    pub mode: LockMode,
    /// Where it was first taken.
    pub context: EventSource,
}

/// A thread took a lock while holding others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// Who took the lock.
    pub thread: ThreadId,
    /// What the thread held at that time.
    pub held: Vec<Acquisition>,
    /// What it took. A lock that is also among `held` makes no cycle by this edge.
    pub acquired: Acquisition,
    /// How many threads this one had created or joined: [`LockOrder::segment`] at that time.
    pub segment: u32,
    /// Where it is in the order of OpenMP.
    pub moment: Moment,
}

/// Where an edge is in the order that OpenMP makes (choice 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Moment {
    /// `None`: the edge has no place in that order.
    pub number: Option<u32>,
    /// The task or section that made it; 0: none, the thread itself.
    pub context: u32,
    /// A bit for each edge, by its number, that comes before it.
    pub before: [u64; 4],
}

impl Moment {
    /// Whether this order has something to say about the two: one of them at least is an edge of a
    /// task or a section. An edge of a task for which there was no number left counts as ordered.
    fn counts_with(&self, other: &Moment) -> bool {
        let has_no_number_left = |m: &Moment| m.context != 0 && m.number.is_none();
        let have_numbers = self.number.is_some() && other.number.is_some();
        have_numbers && (self.context != 0 || other.context != 0)
            || has_no_number_left(self)
            || has_no_number_left(other)
    }

    fn is_ordered(&self, other: &Moment) -> bool {
        let comes_before = |edge: &Moment, later: &Moment| {
            let word = |n: u32| later.before.get(n as usize / 64).copied().unwrap_or(u64::MAX);
            edge.number.is_none_or(|n| word(n) & 1 << (n % 64) != 0)
        };
        comes_before(self, other) || comes_before(other, self)
    }
}

/// One edge of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleEdge {
    /// The recorded edge; several cycles may share it.
    pub edge: Arc<Edge>,
    /// The lock held by this edge that the previous edge of the cycle wants.
    pub held: Acquisition,
}

/// A potential deadlock. Each edge wants the lock that the next one holds, and the last the
/// first's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// At least two, of pairwise different threads. The first holds the least lock of the cycle.
    pub edges: Vec<CycleEdge>,
}

impl Cycle {
    /// The locks of the cycle, in order, beginning with the least.
    pub fn locks(&self) -> Vec<LockId> {
        self.edges.iter().map(|step| step.held.lock).collect()
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// Shortest first.
    pub cycles: Vec<Cycle>,
    /// The search ended at a limit: there may be more.
    pub truncated: bool,
}

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Edges looked at. Optimised, a million took 20 to 40 ms on the project's machine.
    pub steps: u64,
    /// Cycles reported.
    pub cycles: usize,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { steps: 4_000_000, cycles: 1_000 }
    }
}

/// An edge names a segment that its thread never reached: creations and joins must be added first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSegment {
    /// The thread that the edge names.
    pub thread: ThreadId,
    /// The segment that the edge names, which is beyond the thread's last.
    pub segment: u32,
}

impl fmt::Display for UnknownSegment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, segment } = self;
        write!(out, "{thread} has no segment {segment}: it has not created and joined that many threads")
    }
}

impl std::error::Error for UnknownSegment {}

struct Holding {
    acquisition: Acquisition,
    depth: u32,
}

/// The lock-order graph of a run. Feed it the run's creations, joins, acquisitions and releases in
/// the order observed; or creations and joins first and then edges ([`LockOrder::edge`]), as read
/// from a log.
#[derive(Default)]
pub struct LockOrder {
    limits: SearchLimits,
    order: ForkJoin,
    held: BTreeMap<ThreadId, Vec<Holding>>,
    edges: Vec<Arc<Edge>>,
    seen: HashSet<Arc<Edge>>,
}

impl LockOrder {
    /// An empty graph with the default [`SearchLimits`].
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty graph whose search ends at these limits.
    pub fn with_limits(limits: SearchLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// `parent` has created `child`. Both are in new segments.
    pub fn thread_created(&mut self, parent: ThreadId, child: ThreadId) {
        self.order.created(parent, child);
    }

    /// `joiner` has joined `child`, and is in a new segment.
    pub fn thread_joined(&mut self, joiner: ThreadId, child: ThreadId) {
        self.order.joined(joiner, child);
    }

    /// The present segment of the thread: the number of threads it has created and joined.
    pub fn segment(&self, thread: ThreadId) -> u32 {
        self.order.segment(thread)
    }

    /// The thread has taken the lock, by waiting for it or (`tried`) by asking once.
    pub fn acquire(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        mode: LockMode,
        tried: bool,
        context: EventSource,
    ) {
        let segment = self.order.segment(thread);
        let holdings = self.held.entry(thread).or_default();
        if let Some(holding) = holdings.iter_mut().find(|holding| holding.acquisition.lock == lock) {
            holding.depth += 1;
            holding.acquisition.mode = holding.acquisition.mode.max(mode);
            return;
        }
        let acquisition = Acquisition { lock, mode, context };
        let held: Vec<Acquisition> = holdings.iter().map(|holding| holding.acquisition).collect();
        holdings.push(Holding { acquisition, depth: 1 });
        if !tried && !held.is_empty() {
            self.add(Edge { thread, held, acquired: acquisition, segment, moment: Moment::default() });
        }
    }

    /// The thread has released the lock.
    pub fn release(&mut self, thread: ThreadId, lock: LockId) {
        let holdings = self.held.entry(thread).or_default();
        if let Some(at) = holdings.iter().position(|holding| holding.acquisition.lock == lock) {
            holdings[at].depth -= 1;
            if holdings[at].depth == 0 {
                holdings.remove(at);
            }
        }
    }

    /// Adds an edge recorded elsewhere.
    pub fn edge(&mut self, edge: Edge) -> Result<(), UnknownSegment> {
        let Edge { thread, segment, .. } = edge;
        if segment > self.order.segment(thread) {
            return Err(UnknownSegment { thread, segment });
        }
        self.add(edge);
        Ok(())
    }

    /// The different edges recorded so far.
    pub fn edges(&self) -> &[Arc<Edge>] {
        &self.edges
    }

    /// Searches for potential deadlocks.
    pub fn cycles(&self) -> Cycles {
        search::cycles(&self.edges, &self.order, self.limits)
    }

    fn add(&mut self, edge: Edge) {
        let edge = Arc::new(edge);
        if self.seen.insert(edge.clone()) {
            self.edges.push(edge);
        }
    }
}
