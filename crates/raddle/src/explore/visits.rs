//! Which places on which objects ordinary runs suspect, and which of them a search comes to.
//!
//! An ordinary run may take a path that no schedule takes, for example by the real time, which a
//! search replaces by its own. The code alone does not tell: the same function may be called for
//! another object. Globals have the same addresses in ordinary runs and in a search, so a place
//! counts only together with its object. A block of the heap has another address in a search, so no
//! visit matches it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use raddle_explore::TraceView;
use raddle_harness::collect::Process;
use raddle_wire::record::{AddressKind, HeldLock};

/// A place in the code, and the object that is used there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visit {
    /// The low half of a program counter. 0: unknown.
    pub site: u32,
    /// The granule of an access, or the address of a lock.
    pub object: u64,
}

/// What ordinary runs suspect.
#[derive(Clone, Debug, Default)]
pub struct Suspected {
    /// The ends of races on variables that are not on a heap or a stack.
    pub races: BTreeSet<Visit>,
    /// Where the locks of cycles are requested.
    pub locks: BTreeSet<Visit>,
}

impl Suspected {
    pub fn of(processes: &[Process]) -> Suspected {
        let mut all = Suspected::default();
        for process in processes {
            let site = |stack: u64| {
                process.stacks.get(&stack).and_then(|s| s.pcs.first()).map_or(0, |pc| *pc as u32)
            };
            for race in process.races.iter().filter(|r| r.place == AddressKind::Unknown) {
                let ends = [&race.now, &race.before];
                all.races.extend(ends.map(|e| Visit { site: site(e.stack), object: e.address & !7 }));
            }
            let visit = |held: &HeldLock| Visit {
                site: site(held.stack),
                object: process.locks.get(&held.lock).map_or(0, |l| l.address),
            };
            let edges: Vec<(u64, u64)> =
                process.edges.iter().flat_map(|e| e.held.iter().map(|h| (h.lock, e.acquired.lock))).collect();
            let cyclic = in_cycles(&edges);
            for edge in &process.edges {
                for held in edge.held.iter().filter(|h| cyclic.contains(&(h.lock, edge.acquired.lock))) {
                    all.locks.extend([visit(held), visit(&edge.acquired)]);
                }
            }
        }
        all
    }

    pub fn extend(&mut self, other: Suspected) {
        self.races.extend(other.races);
        self.locks.extend(other.locks);
    }
}

/// The edges that are part of a cycle.
fn in_cycles(edges: &[(u64, u64)]) -> BTreeSet<(u64, u64)> {
    let mut next: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(*from).or_default().insert(*to);
    }
    let leads_to = |from: u64, to: u64| {
        let (mut seen, mut left) = (BTreeSet::from([from]), vec![from]);
        while let Some(lock) = left.pop() {
            left.extend(next.get(&lock).into_iter().flatten().copied().filter(|n| seen.insert(*n)));
        }
        seen.contains(&to)
    };
    let distinct: BTreeSet<(u64, u64)> = edges.iter().copied().collect();
    distinct.into_iter().filter(|(from, to)| leads_to(*to, *from)).collect()
}

/// What the executions of a search have come to. Nothing is noted unless somebody will ask: it
/// costs half as much as a step.
#[derive(Clone, Debug, Default)]
pub struct Visited {
    is_noted: bool,
    visits: HashSet<Visit>,
    chooses_values: bool,
}

impl Visited {
    pub fn noted() -> Visited {
        Visited { is_noted: true, ..Visited::default() }
    }

    pub fn note(&mut self, view: &TraceView<'_>) {
        if !self.is_noted {
            return;
        }
        self.chooses_values |= view.steps.iter().any(|step| step.is_value() && step.op.other != 0);
        for op in view.steps.iter().map(|step| step.op).filter(|op| op.site != 0) {
            self.visits.insert(Visit { site: op.site, object: op.object });
            if op.other != 0 {
                self.visits.insert(Visit { site: op.site, object: op.other });
            }
        }
    }

    /// Whether an atomic load could read one of several values in some execution, whatever that
    /// came to.
    pub fn chooses_values(&self) -> bool {
        self.chooses_values
    }

    pub fn has_all(&self, visits: &BTreeSet<Visit>) -> bool {
        visits.iter().all(|v| self.visits.contains(v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{LogicalThread, Op, OpKind, Outcome, Step};

    #[test]
    fn a_place_counts_only_together_with_its_object() {
        let mut visited = Visited::noted();
        let mut comes_to = |site, object| {
            let steps = [Step::bare(LogicalThread(1), Op::new(OpKind::DataWrite, object, site))];
            let view = TraceView::new(&steps, &[], Outcome::Passed, None);
            visited.note(&view);
            visited.has_all(&BTreeSet::from([Visit { site: 3, object: 8 }, Visit { site: 7, object: 8 }]))
        };
        let came = [(3, 8), (7, 16), (4, 8), (7, 8), (4, 8)].map(|(site, object)| comes_to(site, object));
        assert_eq!(came, [false, false, false, true, true]);
        assert!(!visited.has_all(&BTreeSet::from([Visit { site: 0, object: 8 }])), "an unknown place");
    }

    #[test]
    fn a_choice_of_values_is_noted_also_of_an_execution_that_fails() {
        let note = |n_values, other| {
            let op = Op::new(OpKind::Choose, 8, 3).with_other(other);
            let mut step = Step::bare(LogicalThread(1), op);
            step.n_values = n_values;
            let mut visited = Visited::noted();
            visited.note(&TraceView::new(&[step], &[], Outcome::Failed { what: 1 }, None));
            visited.chooses_values()
        };
        assert!(note(2, 1));
        assert!(!note(2, 0), "a choice of a waiter");
        assert!(!note(0, 1), "a choice of a thread");
    }

    #[test]
    fn only_edges_of_cycles_are_asked_for() {
        let edges = [(1, 2), (2, 3), (3, 1), (3, 4), (5, 3), (1, 2)];
        assert_eq!(in_cycles(&edges), BTreeSet::from([(1, 2), (2, 3), (3, 1)]));
        assert!(in_cycles(&[(1, 2), (1, 3)]).is_empty());
    }
}
