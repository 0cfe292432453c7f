//! Whether the consequence of an execution is certainly wrong.
//!
//! A failed assertion, a panic, a crash, an endless loop and an access to freed memory are certainly wrong:
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
//! Nothing is certain that needs threads to stand still for seconds ([`Consequence::is_remote`]): the
//! scheduler allows it, and no user may ever see it. Neither is a hang in a call for which the
//! scheduler does not stand in: another thread, which did not get to run, might have ended it.
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

/// The places that add to a variable, by its address: the read and the write.
pub type Additions = HashMap<u64, Vec<(u32, u32)>>;

/// Whether the consequence is wrong in any correct program and was seen more than once. `is_cause`:
/// whether something tends to go wrong when a suspect comes about. `tells_atomics`: what was executed
/// says which accesses are atomic. If not, a race or a lost update may be none.
pub fn is_certain(
    c: &Consequence,
    suspects: &[Suspect],
    is_cause: &dyn Fn(usize) -> bool,
    additions: &Additions,
    (usual, tells_atomics): (&Usual, bool),
) -> bool {
    if !c.is_by_delays() && (c.again != Again::Yes || c.is_remote) {
        return false;
    }
    let is_racy = || {
        let of_causes = granules(c, suspects, &|i| c.complains || is_cause(i));
        let of_all = granules(c, suspects, &|_| true);
        tells_atomics && (has_race(c, &of_causes) || has_lost_update(c, &of_all, additions))
    };
    match c.failure.kind {
        Kind::Hang => false,
        // A status that is usually a failure may be a result.
        Kind::ExitStatus => usual.status == 0 && (c.complains || is_racy()),
        Kind::Output | Kind::ErrorMessage => is_racy(),
        Kind::Invariant => {
            let Some(Check::Invariant(guard)) = &c.check else { return false };
            let about = guard.invariant.variables().iter().map(|v| v.address & !7).collect();
            let is_racy = has_race(c, &about) || has_lost_update(c, &about, additions);
            tells_atomics && guard.invariant.is_strong() && is_racy
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
        let of = additions.iter().filter(|(address, _)| *address & !7 == *granule);
        of.flat_map(|(address, places)| places.iter().map(move |p| (*address, *p)))
            .any(|(address, places)| loses_update(steps, address, places))
    })
}

/// What the traced runs add to: the same thread reads a value and writes it again, always with the
/// same difference, from at least two different values, and without another write in between. An
/// atomic update goes by the value that it replaces and is none of these, unless it is one of the
/// `exchanges`, which write whatever they replace. These are asked for only if they matter. After
/// the deadline, only a little of each run is read.
pub fn additions(runs: &[Run], exchanges: impl FnOnce() -> HashSet<u32>, deadline: Instant) -> Additions {
    const EACH: usize = 1 << 13;
    #[derive(Default)]
    struct Pair {
        from: BTreeSet<u64>,
        added: BTreeSet<u64>,
        is_update: bool,
    }
    let mut pairs: HashMap<(u64, u32, u32), Pair> = HashMap::new();
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
    let has_updates = pairs.values().any(|pair| pair.is_update);
    let exchanges = if has_updates { exchanges() } else { HashSet::new() };
    let mut additions = Additions::new();
    for ((address, read, write), pair) in pairs {
        if !pair.is_update || exchanges.contains(&write) {
            additions.entry(address).or_default().push((read, write));
        }
    }
    additions
}

/// Whether a thread writes a result computed from a value that another thread has replaced since.
/// If the thread has read again, or has waited on a condition variable, it may know the new value,
/// and this returns false. An atomic update elsewhere than at `write` reads the value that it
/// replaces: a compare-and-exchange with a stale value fails, and the thread tries again. An
/// exchange at `write` tells the thread what it has replaced. So it loses an update unless the
/// thread's next access to the variable may be one that mends this: any but another addition's
/// read. A compare-and-exchange that found another value has written nothing: it makes no other
/// thread's value stale, and tells its own thread the current one. An update that writes the value
/// it found makes no value stale either: some programs read by `compare_exchange(x, 0, 0)`.
fn loses_update(steps: &[Step], address: u64, (read, write): (u32, u32)) -> bool {
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
        if step.wrote() {
            let is_update = op.kind() == OpKind::AtomicRmw;
            let is_lost = op.site == write && stale.remove(&thread) == Some(true);
            if is_lost && !is_update {
                return true;
            }
            replaced.extend(is_lost.then_some(thread));
            if is_update {
                stale.remove(&thread);
            }
            if step.changed() {
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
    use raddle_explore::{LogicalThread, Op, StepFlags};

    fn step(thread: u16, kind: OpKind, site: u32) -> Step {
        let mut step = Step::default();
        (step.thread, step.op) = (LogicalThread(thread), Op::new(kind, 64, site).with_bytes(64, 4));
        step
    }

    #[test]
    fn an_update_is_lost_when_another_comes_between() {
        use OpKind::{AtomicLoad, AtomicRmw, AtomicStore};
        let lost = [(1, AtomicLoad, 3), (2, AtomicLoad, 3), (2, AtomicStore, 4), (1, AtomicStore, 4)];
        let kept = [(1, AtomicLoad, 3), (1, AtomicStore, 4), (2, AtomicLoad, 3), (2, AtomicStore, 4)];
        let steps = |of: [(u16, OpKind, u32); 4]| of.map(|(t, k, s)| step(t, k, s));
        assert!(loses_update(&steps(lost), 64, (3, 4)));
        assert!(!loses_update(&steps(kept), 64, (3, 4)));
        assert!(!loses_update(&steps(lost), 64, (3, 5)), "another place's write");
        let mut reads_again = steps(lost).to_vec();
        reads_again.insert(3, step(1, AtomicLoad, 9));
        assert!(!loses_update(&reads_again, 64, (3, 4)), "it may go by what it read last");
        let compared = [(1, AtomicLoad, 3), (2, AtomicLoad, 3), (2, AtomicRmw, 9), (1, AtomicStore, 4)];
        assert!(loses_update(&steps(compared), 64, (3, 4)), "it has written");
        let mut failed = steps(compared);
        failed[2].flags = StepFlags::UNCHANGED;
        assert!(!loses_update(&failed, 64, (3, 4)), "it has written nothing");
        failed[2].thread = LogicalThread(1);
        let told = [&failed[..2], &[step(2, AtomicStore, 9)], &failed[2..]].concat();
        assert!(!loses_update(&told, 64, (3, 4)), "the thread knows the current value");
        let exchange = lost.map(|(t, k, s)| (t, if k == AtomicStore { AtomicRmw } else { k }, s));
        assert!(loses_update(&steps(exchange), 64, (3, 4)), "an exchange writes whatever it replaces");
        assert!(!loses_update(&steps(exchange), 64, (3, 5)), "an update at another place");
        let then = |kind, site| [steps(exchange).to_vec(), vec![step(1, kind, site)]].concat();
        assert!(loses_update(&then(AtomicLoad, 3), 64, (3, 4)), "it goes on to add");
        assert!(!loses_update(&then(AtomicRmw, 9), 64, (3, 4)), "it may add what it has replaced");
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
        assert_eq!(additions(&[counts])[&64], [(3, 4)]);
        let turns = run([adds(1, 0, 2), adds(2, 2, 1)].concat());
        assert!(additions(&[turns]).is_empty(), "whose turn it is");
        let flag = run(adds(1, 0, 1).to_vec());
        assert!(additions(&[flag]).is_empty(), "a flag");
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
        assert!(additions(&runs, || HashSet::from([9]), Instant::now()).is_empty(), "one that compares");
        assert_eq!(additions(&runs, || HashSet::from([4]), Instant::now())[&64], [(3, 4)]);
    }
}
