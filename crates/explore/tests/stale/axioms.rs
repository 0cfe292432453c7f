//! The model held against the axioms of C++20 (\[intro.races\], \[atomics.order\]), on random
//! executions.
//!
//! An execution of the model is a sequence of events with reads-from. Happens-before is computed
//! anew, as a closure over all pairs, and for the next load each store is tried: the axioms allow
//! it if and only if the model does.

use proptest::prelude::*;
use raddle_explore::stale::AtomicOrder::{self, *};

use crate::machine::{Do, Machine, Made};

const THREADS: usize = 3;

#[derive(Clone, Debug)]
struct Event {
    thread: usize,
    what: Do,
    /// The event whose store it reads; none: the initial value.
    from: Option<usize>,
}

impl Event {
    fn order(&self) -> AtomicOrder {
        match self.what {
            Do::Store(_, _, o) | Do::Load(_, o) | Do::Add(_, _, o) | Do::Fence(o) => o,
            Do::Take(_) | Do::Give(_) => Relaxed,
        }
    }

    fn location(&self) -> Option<usize> {
        match self.what {
            Do::Store(at, ..) | Do::Load(at, _) | Do::Add(at, ..) => Some(at),
            _ => None,
        }
    }

    fn writes(&self) -> bool {
        matches!(self.what, Do::Store(..) | Do::Add(..))
    }

    fn reads(&self) -> bool {
        matches!(self.what, Do::Load(..) | Do::Add(..))
    }

    fn is_fence(&self) -> bool {
        matches!(self.what, Do::Fence(_))
    }
}

struct Execution {
    events: Vec<Event>,
}

impl Execution {
    /// The release sequence that the store belongs to, from the store back to its head.
    fn sequence(&self, store: usize) -> Vec<usize> {
        let mut found = vec![store];
        let mut at = store;
        while let (Do::Add(..), Some(from)) = (self.events[at].what, self.events[at].from) {
            found.push(from);
            at = from;
        }
        found
    }

    /// Does a synchronise with b?
    fn synchronises(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.events[a], &self.events[b]);
        if let (Do::Give(m), Do::Take(n)) = (x.what, y.what) {
            return m == n && a < b;
        }
        if !x.order().releases() || !y.order().acquires() {
            return false;
        }
        // The reads that b stands for: itself, or those before a fence. The same for the stores of
        // a.
        let reads = (0..=b).filter(|r| {
            let e = &self.events[*r];
            e.reads() && (*r == b || (y.is_fence() && e.thread == y.thread))
        });
        reads.filter_map(|r| self.events[r].from).flat_map(|w| self.sequence(w)).any(|w| {
            let e = &self.events[w];
            w == a && e.writes() || (x.is_fence() && w > a && e.thread == x.thread)
        })
    }

    fn happens_before(&self) -> Vec<Vec<bool>> {
        let n = self.events.len();
        let directly = |a: usize, b: usize| {
            a < b && (self.events[a].thread == self.events[b].thread || self.synchronises(a, b))
        };
        let mut hb: Vec<Vec<bool>> = (0..n).map(|a| (0..n).map(|b| directly(a, b)).collect()).collect();
        for k in 0..n {
            for a in 0..n {
                for b in 0..n {
                    hb[a][b] |= hb[a][k] && hb[k][b];
                }
            }
        }
        hb
    }

    /// May the last event, a load, read what it reads? Modification order and S are the order of
    /// the events.
    fn is_allowed(&self) -> bool {
        let hb = self.happens_before();
        let load = self.events.len() - 1;
        let last = &self.events[load];
        let newer = |w: Option<usize>| w.is_some() && w > last.from;
        // All that the load would be coherence-ordered before.
        let after = (0..load).filter(|e| {
            let event = &self.events[*e];
            event.location() == last.location()
                && (event.writes() && newer(Some(*e)) || event.reads() && newer(event.from))
        });
        let sc = |e: usize| self.events[e].order() == SeqCst;
        let fence = |e: &usize| self.events[*e].is_fence() && sc(*e);
        for b in after {
            if hb[b][load] {
                return false;
            }
            let starts: Vec<usize> =
                (0..=load).filter(|x| *x == load && sc(load) || fence(x) && hb[*x][load]).collect();
            let mut ends = (0..load).filter(|y| *y == b && sc(b) || fence(y) && hb[b][*y]);
            if ends.any(|y| starts.iter().any(|x| y <= *x)) {
                return false;
            }
        }
        true
    }

    /// The stores of the location, newest first; the initial value is the last.
    fn stores(&self, location: usize) -> Vec<Option<usize>> {
        let writes = |i: &usize| self.events[*i].writes() && self.events[*i].location() == Some(location);
        (0..self.events.len()).rev().filter(writes).map(Some).chain([None]).collect()
    }
}

fn order() -> impl Strategy<Value = AtomicOrder> {
    prop_oneof![3 => Just(Relaxed), 1 => Just(Acquire), 1 => Just(Release), 1 => Just(AcqRel), 2 => Just(SeqCst)]
}

fn instruction() -> impl Strategy<Value = Do> {
    let at = 0..2usize;
    prop_oneof![
        4 => (at.clone(), order()).prop_map(|(x, o)| Do::Load(x, o)),
        3 => (at.clone(), order()).prop_map(|(x, o)| Do::Store(x, 0, o)),
        1 => (at, order()).prop_map(|(x, o)| Do::Add(x, 1, o)),
        2 => order().prop_map(Do::Fence),
        1 => (1..3u64).prop_map(Do::Take),
        1 => (1..3u64).prop_map(Do::Give),
    ]
}

/// No store with `acquire` and the like: the parts that mean nothing are taken off.
fn sensible(what: Do, value: u8) -> Do {
    match what {
        Do::Load(x, Release) => Do::Load(x, Relaxed),
        Do::Load(x, AcqRel) => Do::Load(x, Acquire),
        Do::Store(x, _, Acquire) => Do::Store(x, value, Relaxed),
        Do::Store(x, _, AcqRel) => Do::Store(x, value, Release),
        Do::Store(x, _, o) => Do::Store(x, value, o),
        other => other,
    }
}

fn config() -> ProptestConfig {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(2021);
    ProptestConfig { cases: 3000, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn a_load_may_read_what_the_axioms_allow(
        program in proptest::collection::vec((0..THREADS, instruction(), any::<prop::sample::Index>()), 1..16)
    ) {
        let mut machine = Machine::new(THREADS);
        let mut execution = Execution { events: Vec::new() };
        let mut stored = 0;
        for (thread, what, choice) in program {
            // Distinct values, each larger than those before: a history is told by them.
            stored += 10;
            let what = sensible(what, stored);
            let from = |e: &Execution, back: usize| {
                Event { thread, what, from: what_location(what).and_then(|x| e.stores(x)[back]) }
            };
            let mut back = 0;
            if let Do::Load(at, _) = what {
                let n = machine.candidates(thread, what);
                let mut allowed = Vec::new();
                for b in 0..execution.stores(at).len().min(raddle_explore::stale::HISTORY) {
                    let event = from(&execution, b);
                    execution.events.push(event);
                    allowed.extend(execution.is_allowed().then_some(b));
                    execution.events.pop();
                }
                let patient = n > 1 || allowed.len() == 1 || is_out_of_patience(&execution, thread, at);
                prop_assert!(patient && (n == 1 || allowed == (0..n).collect::<Vec<_>>()),
                    "{n} candidates, allowed {allowed:?}, {what:?} by {thread} after {:#?}", execution.events);
                back = choice.index(n);
            }
            let event = from(&execution, back);
            machine.step(Made { thread, what, back });
            execution.events.push(event);
        }
    }
}

fn what_location(what: Do) -> Option<usize> {
    Event { thread: 0, what, from: None }.location().filter(|_| !matches!(what, Do::Store(..)))
}

/// Deviation 3: the thread's last loads of the location all read something older than the newest.
fn is_out_of_patience(execution: &Execution, thread: usize, at: usize) -> bool {
    let own = |e: &&Event| e.thread == thread && e.location() == Some(at);
    let last: Vec<&Event> = execution.events.iter().rev().filter(own).take(3).collect();
    last.len() == 3 && last.iter().all(|e| matches!(e.what, Do::Load(..)))
}
