//! Whether the consequence of an execution is certainly wrong.
//!
//! A failed assertion, a panic, a crash, a hang and an access to freed memory are certainly wrong:
//! no correct program has them. An unusual line, an unusual exit status and a broken invariant of
//! the training runs are not wrong by themselves. A program may print its progress, report that it
//! failed to get a lock and tries again, or return which thread was first. Its words prove nothing:
//! a retry and a bug may print the same line. Such a consequence is certain if one of these holds:
//!
//! 1. The execution has a data race on the memory in question ([`points::racy`]).
//! 2. It loses an update: a thread adds to a value that another has changed since it was read.
//! 3. The program itself says twice that it failed: it prints a line that says so, which no
//!    training run printed, and it ends with a failing status, where the usual status is 0.
//!
//! The memory in question is that of the suspects that came about in this execution. For a race, a
//! consequence must occur in at least a third of the executions in which the suspect comes about: a
//! race that is there whether the line is printed or not did not cause the line. If a program
//! prints many different unusual lines, this share says nothing: threads mix the pieces of its
//! lines, or the lines tell who was first. A line that reports a failure needs no such share.
//!
//! Everything else that was made to happen is listed among the suspects, on request, and is not a
//! finding. Neither is anything that did not happen again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use raddle_conseq::event::{TraceEvent, What};
use raddle_conseq::suspects::Suspect;
use raddle_explore::{OpKind, Step, points};
use raddle_finding::Kind;

use super::tester::{Again, Consequence};
use super::traced_runs::Run;
use raddle_harness::check::Check;
use raddle_harness::verdict::Usual;

/// What the program adds to.
#[derive(Default)]
pub struct Additions {
    /// The places that add to a variable, by its address: the read and the write.
    places: HashMap<u64, Vec<(u32, u32)>>,
    /// The places of atomic updates that write whatever they find.
    always_write: HashSet<u32>,
}

/// The places of atomic updates that do not compare.
#[derive(Default)]
pub struct Updates {
    /// Those that write whatever they replace.
    pub exchanges: HashSet<u32>,
    /// These, and those that compute from what they replace.
    pub all: HashSet<u32>,
}

/// Whether the consequence is wrong in any correct program and was seen more than once. `is_cause`:
/// whether something tends to go wrong when a suspect comes about.
pub fn is_certain(
    c: &Consequence,
    suspects: &[Suspect],
    is_cause: &dyn Fn(usize) -> bool,
    additions: &Additions,
    usual: &Usual,
) -> bool {
    if !c.is_by_delays() && c.again != Again::Yes {
        return false;
    }
    let is_racy = || {
        has_race(c, &granules(c, suspects, &|i| c.complains || is_cause(i)))
            || has_lost_update(c, &granules(c, suspects, &|_| true), additions)
    };
    match c.failure.kind {
        // A status that is usually a failure may be a result.
        Kind::ExitStatus => usual.status == 0 && (c.complains || is_racy()),
        Kind::Output | Kind::ErrorMessage => is_racy(),
        Kind::Invariant => {
            let Some(Check::Invariant(guard)) = &c.check else { return false };
            let about = guard.invariant.variables().iter().map(|v| v.address & !7).collect();
            guard.invariant.is_strong() && (has_race(c, &about) || has_lost_update(c, &about, additions))
        }
        _ => true,
    }
}

/// The memory of the suspects behind a consequence.
fn granules(c: &Consequence, suspects: &[Suspect], is_cause: &dyn Fn(usize) -> bool) -> BTreeSet<u64> {
    let causes = c.suspects.iter().filter(|i| is_cause(**i)).filter_map(|i| suspects.get(*i));
    causes.map(|s| s.read.cell.address & !7).collect()
}

fn has_race(c: &Consequence, about: &BTreeSet<u64>) -> bool {
    points::racy(c.failure.trace.view()).iter().any(|granule| about.contains(granule))
}

fn has_lost_update(c: &Consequence, about: &BTreeSet<u64>, additions: &Additions) -> bool {
    let steps = &c.failure.trace.steps;
    about.iter().any(|granule| {
        let of = additions.places.iter().filter(|(address, _)| *address & !7 == *granule);
        of.flat_map(|(address, places)| places.iter().map(move |p| (*address, *p)))
            .any(|(address, places)| loses_update(steps, address, places, &additions.always_write))
    })
}

/// What the traced runs add to: the same thread reads a value and writes it again, always with the
/// same difference, from at least two different values, and without another write in between. An
/// atomic update goes by the value that it replaces and is none of these, unless it is one of the
/// exchanges, which write whatever they replace. Updates are asked for only if they matter. After
/// the deadline, only a little of each run is read.
pub fn additions(runs: &[Run], updates: impl FnOnce() -> Updates, deadline: Instant) -> Additions {
    const EACH: usize = 1 << 13;
    #[derive(Default)]
    struct Pair {
        from: BTreeSet<u64>,
        added: BTreeSet<u64>,
        is_update: bool,
    }
    let mut pairs: HashMap<(u64, u32, u32), Pair> = HashMap::new();
    let mut updated = HashSet::new();
    for run in runs.iter().filter(|r| r.is_correct()) {
        // By address: who has read which value, and where, since the last write.
        let mut last: HashMap<u64, Vec<(u16, u32, u64)>> = HashMap::new();
        for (i, TraceEvent { thread, site, what }) in run.events.iter().enumerate() {
            if i % EACH == EACH - 1 && Instant::now() >= deadline {
                break;
            }
            match what {
                What::Read(cell) => {
                    let readers = last.entry(cell.address).or_default();
                    readers.retain(|(reader, ..)| reader != thread);
                    readers.push((*thread, *site, cell.value));
                }
                What::Write { cell, reads, .. } => {
                    if *reads {
                        updated.insert(cell.address);
                    }
                    let readers = last.remove(&cell.address).unwrap_or_default();
                    let own = readers.into_iter().find(|(reader, ..)| reader == thread);
                    if let Some((_, read, value)) = own {
                        let bits = 64 - 8 * u32::from(cell.size.clamp(1, 8));
                        let pair = pairs.entry((cell.address, read, *site)).or_default();
                        pair.is_update |= *reads;
                        pair.from.insert(value);
                        pair.added.insert((cell.value.wrapping_sub(value) << bits) >> bits);
                    }
                }
                _ => {}
            }
        }
    }
    pairs.retain(|_, pair| pair.from.len() > 1 && pair.added.len() == 1 && !pair.added.contains(&0));
    let has_updates = pairs.keys().any(|(address, ..)| updated.contains(address));
    let updates = if has_updates { updates() } else { Updates::default() };
    let mut places: HashMap<u64, Vec<(u32, u32)>> = HashMap::new();
    for ((address, read, write), pair) in pairs {
        if !pair.is_update || updates.exchanges.contains(&write) {
            places.entry(address).or_default().push((read, write));
        }
    }
    Additions { places, always_write: updates.all }
}

/// Whether a thread writes a result computed from a value that another thread has replaced since.
/// If the thread has read again, or has waited on a condition variable, it may know the new value,
/// and this returns false. An atomic update elsewhere than at `write` reads the value that it
/// replaces: a compare-and-exchange with a stale value fails, and the thread tries again. An exchange
/// at `write` tells the thread what it has replaced. So it loses an update unless the thread's next
/// access to the variable may be one that mends this: any but another addition's read. An atomic
/// update that compares may have failed, and then it has written nothing, so it makes no other
/// thread's value stale.
fn loses_update(
    steps: &[Step],
    address: u64,
    (read, write): (u32, u32),
    always_write: &HashSet<u32>,
) -> bool {
    let (granule, byte) = (address & !7, 1u8 << (address & 7));
    // Threads that have read, and whether another thread has written since.
    let mut stale: HashMap<u16, bool> = HashMap::new();
    // Threads whose exchange has replaced an update, and which have not come back to it.
    let mut replaced: HashSet<u16> = HashSet::new();
    for step in steps.iter().filter(|s| !s.is_value()) {
        let (thread, op) = (step.thread.0, &step.op);
        if matches!(op.kind(), OpKind::CondWait | OpKind::CondWake) {
            stale.remove(&thread);
        }
        if !op.covers(granule, byte) {
            continue;
        }
        let adds_again = op.is_memory_read() && !op.is_memory_write() && op.site == read;
        if replaced.remove(&thread) && adds_again {
            return true;
        }
        if op.is_memory_write() {
            let is_update = op.kind() == OpKind::AtomicRmw;
            let is_lost = op.site == write && stale.remove(&thread) == Some(true);
            if is_lost && !is_update {
                return true;
            }
            replaced.extend(is_lost.then_some(thread));
            if is_update {
                stale.remove(&thread);
            }
            if !is_update || always_write.contains(&op.site) {
                stale.iter_mut().filter(|(t, _)| **t != thread).for_each(|(_, stale)| *stale = true);
            }
        } else if op.is_memory_read() && op.site == read {
            stale.insert(thread, false);
        } else if op.is_memory_read() {
            stale.remove(&thread);
        }
    }
    !replaced.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_conseq::event::Cell;
    use raddle_explore::{Op, ThreadId};

    fn step(thread: u16, kind: OpKind, site: u32) -> Step {
        let mut step = Step::default();
        (step.thread, step.op) = (ThreadId(thread), Op::new(kind, 64, site).with_bytes(64, 4));
        step
    }

    #[test]
    fn an_update_is_lost_when_another_comes_between() {
        use OpKind::{AtomicLoad, AtomicRmw, AtomicStore};
        let always = HashSet::from([4]);
        let lost = [(1, AtomicLoad, 3), (2, AtomicLoad, 3), (2, AtomicStore, 4), (1, AtomicStore, 4)];
        let kept = [(1, AtomicLoad, 3), (1, AtomicStore, 4), (2, AtomicLoad, 3), (2, AtomicStore, 4)];
        let steps = |of: [(u16, OpKind, u32); 4]| of.map(|(t, k, s)| step(t, k, s));
        assert!(loses_update(&steps(lost), 64, (3, 4), &always));
        assert!(!loses_update(&steps(kept), 64, (3, 4), &always));
        assert!(!loses_update(&steps(lost), 64, (3, 5), &always), "another place's write");
        let mut reads_again = steps(lost).to_vec();
        reads_again.insert(3, step(1, AtomicLoad, 9));
        assert!(!loses_update(&reads_again, 64, (3, 4), &always), "it may go by what it read last");
        let compared = [(1, AtomicLoad, 3), (2, AtomicLoad, 3), (2, AtomicRmw, 9), (1, AtomicStore, 4)];
        assert!(!loses_update(&steps(compared), 64, (3, 4), &always), "it may have failed");
        assert!(loses_update(&steps(compared), 64, (3, 4), &HashSet::from([9])), "it does not compare");
        let exchange = lost.map(|(t, k, s)| (t, if k == AtomicStore { AtomicRmw } else { k }, s));
        assert!(
            loses_update(&steps(exchange), 64, (3, 4), &always),
            "an exchange writes whatever it replaces"
        );
        assert!(!loses_update(&steps(exchange), 64, (3, 5), &always), "an update at another place");
        let then = |kind, site| [steps(exchange).to_vec(), vec![step(1, kind, site)]].concat();
        assert!(loses_update(&then(AtomicLoad, 3), 64, (3, 4), &always), "it goes on to add");
        assert!(!loses_update(&then(AtomicRmw, 9), 64, (3, 4), &always), "it may add what it has replaced");
    }

    fn run(events: Vec<TraceEvent>) -> Run {
        Run { events, ..Run::empty() }
    }

    fn adds(thread: u16, from: u64, to: u64) -> [TraceEvent; 2] {
        let cell = |value| Cell { address: 64, size: 4, value, atomic: true };
        let write = What::Write { cell: cell(to), before: None, reads: false };
        [
            TraceEvent { thread, site: 3, what: What::Read(cell(from)) },
            TraceEvent { thread, site: 4, what: write },
        ]
    }

    #[test]
    fn additions_have_one_difference_from_several_values() {
        let counts = run([adds(1, 0, 1), adds(2, 1, 2)].concat());
        let additions = |runs: &[Run]| additions(runs, || unreachable!("no updates"), Instant::now());
        assert_eq!(additions(&[counts]).places[&64], [(3, 4)]);
        let turns = run([adds(1, 0, 2), adds(2, 2, 1)].concat());
        assert!(additions(&[turns]).places.is_empty(), "whose turn it is");
        let flag = run(adds(1, 0, 1).to_vec());
        assert!(additions(&[flag]).places.is_empty(), "a flag");
    }

    #[test]
    fn an_atomic_update_is_an_addition_only_if_it_is_an_exchange() {
        let mut events = [adds(1, 0, 1), adds(2, 1, 2)].concat();
        for event in &mut events {
            if let What::Write { reads, .. } = &mut event.what {
                *reads = true;
            }
        }
        let runs = [run(events)];
        let exchanges = |at| Updates { exchanges: HashSet::from([at]), all: HashSet::from([at]) };
        assert!(additions(&runs, || exchanges(9), Instant::now()).places.is_empty(), "one that compares");
        assert_eq!(additions(&runs, || exchanges(4), Instant::now()).places[&64], [(3, 4)]);
    }
}
