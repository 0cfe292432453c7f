//! Feedback-guided search after RFF: *Greybox fuzzing for concurrency testing* (Wolff, Shi, Duck,
//! Mathur, Roychoudhury, ASPLOS 2024).
//!
//! An *abstract schedule* is a set of constraints: this read gets, or does not get, its value from
//! that write, by sites in the program. Executions steer towards it ([`Tail::Constrained`]). An
//! abstract schedule whose execution showed a reads-from pair for the first time is kept. Further
//! ones are made from those kept by adding, replacing, negating and deleting constraints.
//!
//! Deviations:
//! 1. A new constraint is one not yet seen to hold, if there is one, rather than any; each is tried
//!    in turn.
//! 2. The paper gives each abstract schedule an energy by how rare the combinations that it showed
//!    are. Here those kept are drawn with a preference for the newest, which needs no counting of
//!    combinations.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::sampler::Seeds;
use super::{Progress, Strategy};
use crate::choice::{Constraint, Tail};
use crate::order::Order;
use crate::thread::LogicalThread;
use crate::trace::{Outcome, TraceView};
use raddle_base::rng::Rng;

/// The most constraints in an abstract schedule.
const LARGEST: usize = 6;
/// The most abstract schedules kept.
const KEPT: usize = 256;
/// The most pairs considered.
const PAIRS: usize = 1 << 14;

/// A read, and the write it gets its value from (0: the initial value).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct ReadsFrom {
    write: u32,
    read: u32,
}

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rff {
    seeds: Seeds,
    seen: FxHashSet<ReadsFrom>,
    /// Pairs on a common object, seen or not, with one such object.
    possible: Vec<(ReadsFrom, u64)>,
    known: FxHashSet<ReadsFrom>,
    kept: Vec<Vec<Constraint>>,
    /// Where in `possible` to look for the next unseen pair.
    turn: usize,
}

impl Rff {
    /// All randomness comes from `seed`.
    pub fn new(seed: u64) -> Rff {
        Rff {
            seeds: Seeds::new(seed),
            seen: FxHashSet::default(),
            possible: Vec::new(),
            known: FxHashSet::default(),
            kept: vec![Vec::new()],
            turn: 0,
        }
    }

    fn take_in(&mut self, trace: &TraceView<'_>) -> bool {
        if trace.outcome == Outcome::Lost {
            return false;
        }
        let mut accesses: FxHashMap<u64, Accesses> = FxHashMap::default();
        let mut new = false;
        for step in trace.steps {
            let op = &step.op;
            if op.site == 0 || op.object == 0 || !(op.is_memory_read() || op.is_memory_write()) {
                continue;
            }
            let object = accesses.entry(op.object).or_default();
            if op.is_memory_read() {
                new |= self.seen.insert(ReadsFrom { write: object.last, read: op.site });
                object.reads.insert((op.site, step.thread));
            }
            if op.is_memory_write() {
                object.last = op.site;
                object.writes.insert((op.site, step.thread));
            }
        }
        if new {
            self.note_possible(accesses);
        }
        new
    }

    fn note_possible(&mut self, accesses: FxHashMap<u64, Accesses>) {
        let mut objects: Vec<(u64, Accesses)> = accesses.into_iter().collect();
        objects.sort_unstable_by_key(|(object, _)| *object);
        for (object, of) in objects {
            let mut reads: Vec<_> = of.reads.into_iter().collect();
            let mut writes: Vec<_> = of.writes.into_iter().collect();
            reads.sort_unstable();
            writes.sort_unstable();
            for (read, reader) in reads {
                let others = writes.iter().filter(|(_, writer)| *writer != reader).map(|(site, _)| *site);
                for write in std::iter::once(0).chain(others) {
                    let pair = ReadsFrom { write, read };
                    if self.possible.len() < PAIRS && self.known.insert(pair) {
                        self.possible.push((pair, object));
                    }
                }
            }
        }
    }

    /// A constraint for an unseen pair, in turn; if there is none, or now and then, for any pair.
    fn draw(&mut self, rng: &mut Rng) -> Option<Constraint> {
        let n = self.possible.len();
        if n == 0 {
            return None;
        }
        let unseen = (0..n).map(|k| (self.turn + k) % n).find(|i| !self.seen.contains(&self.possible[*i].0));
        let at = match unseen {
            Some(i) if !rng.one_in(3) => {
                self.turn = i + 1;
                i
            }
            _ => rng.below(n as u32) as usize,
        };
        let (pair, object) = self.possible[at];
        let object = if pair.write == 0 { object } else { 0 };
        let wanted = u32::from(!rng.one_in(4));
        Some(Constraint { object, write: pair.write, read: pair.read, wanted, bytes: 0 })
    }

    fn mutate(&mut self, rng: &mut Rng) -> Vec<Constraint> {
        let n = self.kept.len() as u32;
        // The newer of two draws.
        let mut schedule = self.kept[rng.below(n).max(rng.below(n)) as usize].clone();
        let at = rng.below(schedule.len() as u32) as usize;
        match rng.below(6) {
            0 if !schedule.is_empty() => schedule[at].wanted ^= 1,
            1 if !schedule.is_empty() => drop(schedule.remove(at)),
            2 if !schedule.is_empty() => schedule[at] = self.draw(rng).unwrap_or(schedule[at]),
            _ if schedule.len() < LARGEST => schedule.extend(self.draw(rng)),
            _ => schedule[at] = self.draw(rng).unwrap_or(schedule[at]),
        }
        schedule
    }
}

/// Who reads and writes an object, and the last write.
#[derive(Default)]
struct Accesses {
    last: u32,
    reads: FxHashSet<(u32, LogicalThread)>,
    writes: FxHashSet<(u32, LogicalThread)>,
}

impl Strategy for Rff {
    fn name(&self) -> &'static str {
        "rff"
    }

    fn next(&mut self) -> Option<Order> {
        let (id, seed) = self.seeds.draw();
        let mut rng = Rng::new(seed ^ 0xf22);
        let mut order = Order::free(id, Tail::Constrained { seed });
        order.constraints = self.mutate(&mut rng);
        Some(order)
    }

    fn observe(&mut self, order: &Order, trace: TraceView<'_>) {
        self.seeds.observed();
        if self.take_in(&trace) && !self.kept.contains(&order.constraints) {
            if self.kept.len() >= KEPT {
                self.kept.remove(1);
            }
            self.kept.push(order.constraints.clone());
        }
    }

    fn witness(&mut self, trace: TraceView<'_>) {
        self.take_in(&trace);
    }

    fn progress(&self) -> Progress {
        self.seeds.progress()
    }

    fn resume(&mut self) {
        self.seeds.resume();
    }
}
