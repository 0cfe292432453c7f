//! The verdict on an execution: passed, or failed in which way.
//!
//! Strategies see a failure as a number that is the same for the same failure. The shrinker
//! preserves it, and a search that continues after a failure reports each number once.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;

use raddle_base::hash::Fnv32;
use raddle_explore::{LogicalThread, OpKind, Outcome, Step, Trace};
use raddle_finding::Kind;
use raddle_wire::explore::{End, ExecutionEnd, Stack, awaits};

use crate::crew::{in_words, signal_name};
use crate::describe::locks::{TakenLock, cycle, held};
use crate::describe::message::Said;
use crate::describe::steps::lock_of;
use crate::monitors::{self, Observation};
use crate::worker::{Ending, Execution};

/// How the program ends when nothing is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usual {
    pub status: i32,
    /// The fewest panics seen in an execution that ended well.
    pub panics: Option<u32>,
    /// The program is in Rust: [`PANIC_STATUS`] means that it panicked.
    pub rust: bool,
    /// A hash of what the first execution that ended well printed, if output is compared.
    pub output: Option<u64>,
}

/// The sentence for a panic of which nothing more is known.
pub const PANICS: &str = "a thread panics";
/// The status of a Rust program whose first thread panics.
const PANIC_STATUS: i32 = 101;

/// What an execution left behind besides its trace.
#[derive(Clone)]
pub struct ExecutionFacts {
    /// One sentence.
    pub sentence: String,
    /// The thread that failed.
    pub thread: u16,
    pub address: u64,
    pub ends: Vec<End>,
    /// The call stack of each step; empty if it was not asked for.
    pub stacks: Vec<Stack>,
    /// What a monitor saw, if a monitor found the failure.
    pub seen: Option<Observation>,
    /// What the program printed about its failure.
    pub said: Option<Said>,
}

/// An execution that failed.
#[derive(Clone)]
pub struct Failure {
    pub kind: Kind,
    /// The same number for the same failure.
    pub what: u32,
    pub facts: ExecutionFacts,
    pub trace: Trace,
    /// How many schedules had been executed when it was found, including this one.
    pub after: u64,
    /// Flags of this execution in addition to the common ones.
    pub flags: u32,
    /// The scheduling points of this execution, where they differ from the recipe's.
    pub points: Option<Arc<[u64]>>,
}

/// How an execution ended, for the strategies; and the kind of failure, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionVerdict {
    pub outcome: Outcome,
    pub kind: Option<Kind>,
}

const PASSED: ExecutionVerdict = ExecutionVerdict { outcome: Outcome::Passed, kind: None };
const CUT_OFF: ExecutionVerdict = ExecutionVerdict { outcome: Outcome::StepLimit, kind: None };
/// Neither passed nor failed. Strategies treat it as cut off: see [`waits_for_outside`].
const AWAITS_OUTSIDE: ExecutionVerdict = CUT_OFF;

/// Whether the only thing left was to wait for a signal or a client from outside. Threads that wait
/// for each other's locks in a cycle are a deadlock, whatever other threads wait for.
pub fn waits_for_outside(e: &Execution<'_>) -> bool {
    let mut bits = awaits::SIGNAL | awaits::CONNECTION | awaits::PROCESS;
    match e.slot.outcome() {
        Some(ExecutionEnd::Deadlock) => {}
        Some(ExecutionEnd::StepLimit) if endless(e.steps, e.slot.unchanged as usize).is_some() => {
            bits = awaits::HANDLER
        }
        _ => return false,
    }
    e.ending == Ending::Finished && e.slot.awaits & bits != 0 && !has_circle(e)
}

fn has_circle(e: &Execution<'_>) -> bool {
    let held = held(e.steps);
    let live = ends(e).iter().filter(|end| end.ended == 0);
    let waits: Vec<_> = live.map(|end| (end.thread, awaited(&held, end))).collect();
    cycle(&waits).is_some()
}

/// The threads that a thread waits for, as far as is known.
pub fn awaited(held: &[TakenLock], end: &End) -> Vec<LogicalThread> {
    if end.pending.kind() == OpKind::Join {
        return vec![LogicalThread(end.pending.object as u16)];
    }
    let Some(lock) = lock_of(&end.pending) else { return Vec::new() };
    held.iter().filter(|h| h.lock == lock).map(|h| h.thread).collect()
}

pub fn judge(e: &Execution<'_>, usual: &Usual) -> ExecutionVerdict {
    let kind = match e.ending {
        // It exited by a raw system call, which raddle does not intercept.
        Ending::Died(Some(how)) if how.code().is_some_and(|c| c == 0 || c == usual.status) => return PASSED,
        Ending::Died(Some(how)) if how.code().is_some() => Kind::ExitStatus,
        Ending::Died(_) => Kind::Crash,
        Ending::Hung => Kind::Hang,
        Ending::Slow => return CUT_OFF,
        Ending::Finished => match e.slot.outcome() {
            Some(ExecutionEnd::Exit) => match exit_kind(e, usual) {
                Some(kind) => kind,
                // It ended only because the scheduler forced it to let other threads run.
                None if e.slot.spins_at != 0 => Kind::Starvation,
                None => return PASSED,
            },
            Some(ExecutionEnd::Abort | ExecutionEnd::Signal) => {
                // Rust aborts on a panic that cannot be caught.
                if panicked(e, usual) { Kind::Assertion } else { Kind::Crash }
            }
            Some(ExecutionEnd::Assertion | ExecutionEnd::Exception) => Kind::Assertion,
            Some(ExecutionEnd::Deadlock) if waits_for_outside(e) => return AWAITS_OUTSIDE,
            Some(ExecutionEnd::Deadlock) => Kind::Deadlock,
            Some(ExecutionEnd::UseAfterFree) => Kind::UseAfterFree,
            Some(ExecutionEnd::DoubleFree) => Kind::DoubleFree,
            Some(ExecutionEnd::StepLimit) => match endless(e.steps, e.slot.unchanged as usize) {
                Some(_) if e.slot.awaits & awaits::HANDLER != 0 => return AWAITS_OUTSIDE,
                Some(kind) => kind,
                None => return CUT_OFF,
            },
            // The order must be executed again; the crew does that.
            _ => return ExecutionVerdict { outcome: Outcome::Lost, kind: None },
        },
    };
    ExecutionVerdict { outcome: Outcome::Failed { what: number(kind, e) }, kind: Some(kind) }
}

fn panicked(e: &Execution<'_>, usual: &Usual) -> bool {
    e.slot.panics > usual.panics.unwrap_or(0)
}

/// Whether it ended by `exit` with an acceptable status.
pub fn ends_as_usual(e: &Execution<'_>, usual: &Usual) -> bool {
    let status = status(e);
    let exits = e.ending == Ending::Finished && e.slot.outcome() == Some(ExecutionEnd::Exit);
    exits && (status == 0 || status == usual.status)
}

fn status(e: &Execution<'_>) -> i32 {
    e.slot.detail as i32 & 0xff
}

fn exit_kind(e: &Execution<'_>, usual: &Usual) -> Option<Kind> {
    let unusual = !ends_as_usual(e, usual);
    // A panic in an execution that ends well counts if other executions have none.
    let panicked = panicked(e, usual) && (unusual || usual.panics.is_some());
    let panicked = panicked || (usual.rust && unusual && status(e) == PANIC_STATUS);
    // The program's own `SIGABRT` handler has ended it.
    let asserted = unusual && e.slot.message_len > 0;
    let panicked = panicked || asserted;
    match (unusual, panicked) {
        (_, true) => Some(Kind::Assertion),
        (true, false) => Some(Kind::ExitStatus),
        (false, false) => None,
    }
}

/// The least number of last steps by which an execution that was cut off is judged.
const TAIL: usize = 2000;
/// The most places in a loop without progress.
const LOOP: usize = 64;

/// The last steps, if they repeat a few places.
pub fn circling(steps: &[Step]) -> Option<&[Step]> {
    let tail = &steps[steps.len().checked_sub(TAIL.max(steps.len() / 4 * 3))?..];
    let mut places: Vec<(u16, u32, u64)> =
        tail.iter().map(|s| (s.thread.0, s.op.site, s.op.object)).collect();
    places.sort_unstable();
    places.dedup();
    (places.len() <= LOOP).then_some(tail)
}

/// An execution that was cut off: does it go round in circles? Only if no thread has changed
/// anything in the last `unchanged` steps, which are most of them: threads that change something
/// are at work, however long that takes. Nobody was kept out, for a thread that goes round is made
/// to let others in. So it is a livelock; or, where one only looks and lets nobody in, starvation.
/// Neither, if only a scheduler that keeps step for ever keeps the threads there ([`backs_off`]).
pub fn endless(steps: &[Step], unchanged: usize) -> Option<Kind> {
    let tail = circling(steps).filter(|tail| unchanged >= tail.len() && !backs_off(tail))?;
    let looks = |s: &Step| {
        matches!(s.op.kind(), OpKind::AtomicLoad | OpKind::DataRead | OpKind::AtomicRmw) && !s.op.yields()
    };
    let alone = tail.iter().all(|s| s.thread == tail[0].thread && looks(s));
    Some(if alone { Kind::Starvation } else { Kind::Livelock })
}

/// Whether all that the threads do is to back off: each tries locks, hardly ever gets one, and each
/// of these locks is given back by another thread in the circle. Then a schedule that is not in
/// step leads out: `std::lock` backs off this way, and is correct. A program that yields or sleeps
/// while it holds a lock may keep its threads in step by itself.
fn backs_off(tail: &[Step]) -> bool {
    // The way out may be the last that an execution does before it is cut off.
    const HARDLY: usize = 20;
    let by = |s: &Step| (s.thread.0, s.op.object);
    // What a thread does next with a lock that it tried says whether it got it.
    let mut next = BTreeMap::new();
    let mut takes = vec![false; tail.len()];
    for (i, s) in tail.iter().enumerate().rev() {
        if matches!(s.op.kind(), OpKind::Lock | OpKind::TryLock | OpKind::Unlock) {
            let unlocks = next.insert(by(s), s.op.kind()) == Some(OpKind::Unlock);
            takes[i] = s.op.kind() == OpKind::Lock || unlocks && s.op.kind() == OpKind::TryLock;
        }
    }
    let (mut held, mut given_back, mut tried) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // Tries, and those that succeed, of each thread.
    let mut tries: BTreeMap<u16, [usize; 2]> = tail.iter().map(|s| (s.thread.0, [0; 2])).collect();
    for (s, takes) in tail.iter().zip(takes) {
        let thread = s.thread.0;
        if takes {
            held.insert(by(s));
        }
        match s.op.kind() {
            OpKind::TryLock => {
                let [all, got] = tries.entry(thread).or_default();
                (*all, *got) = (*all + 1, *got + usize::from(takes));
                tried.insert(by(s));
            }
            OpKind::Unlock => {
                held.remove(&by(s));
                given_back.insert(by(s));
            }
            OpKind::Yield | OpKind::Sleep if held.iter().any(|(by, _)| *by == thread) => return false,
            _ => {}
        }
    }
    let by_another = |(thread, lock): &(u16, u64)| given_back.iter().any(|(by, l)| l == lock && by != thread);
    tries.values().all(|[all, got]| *all > 0 && got * HARDLY <= *all) && tried.iter().all(by_another)
}

/// A number that is the same for the same failure, and very likely different for different ones.
fn number(kind: Kind, e: &Execution<'_>) -> u32 {
    let mut hash = Fnv32::new();
    hash.write(kind.name().as_bytes());
    match kind {
        Kind::ExitStatus => match e.ending {
            Ending::Died(Some(how)) => hash.write(&how.into_raw().to_le_bytes()),
            _ => hash.write(&e.slot.detail.to_le_bytes()),
        },
        Kind::Deadlock => {
            let waiting = ends(e).iter().filter(|end| end.ended == 0);
            let mut sites: Vec<u32> = waiting.map(|end| end.pending.site).collect();
            sites.sort_unstable();
            sites.iter().for_each(|site| hash.write(&site.to_le_bytes()));
        }
        Kind::Assertion if e.slot.message_len > 0 => hash.write(message(e).as_bytes()),
        Kind::Starvation if e.slot.outcome() == Some(ExecutionEnd::Exit) => {
            hash.write(&e.slot.spins_at.to_le_bytes())
        }
        Kind::Livelock | Kind::Starvation | Kind::Hang => {}
        // The place of the first panic.
        Kind::Assertion if e.slot.outcome() == Some(ExecutionEnd::Exit) => {
            hash.write(&e.slot.address.to_le_bytes())
        }
        _ => {
            let failed = ends(e).iter().find(|end| u32::from(end.thread.0) == e.slot.thread);
            hash.write(&failed.map_or(0, |end| end.frames[0]).to_le_bytes());
        }
    }
    hash.finish()
}

fn ends<'a>(e: &Execution<'a>) -> &'a [End] {
    if e.ending != Ending::Finished {
        return &[];
    }
    &e.slot.end[..(e.slot.ends as usize).min(e.slot.end.len())]
}

fn message(e: &Execution<'_>) -> String {
    let n = (e.slot.message_len as usize).min(e.slot.message.len());
    String::from_utf8_lossy(&e.slot.message[..n]).into_owned()
}

impl Failure {
    pub fn of(e: &Execution<'_>, verdict: ExecutionVerdict) -> Option<Failure> {
        let (kind, Outcome::Failed { what }) = (verdict.kind?, verdict.outcome) else { return None };
        let finished = e.ending == Ending::Finished;
        let last = e.steps.last().map_or(0, |s| s.thread.0);
        let panicked =
            kind == Kind::Assertion && e.slot.outcome() == Some(ExecutionEnd::Exit) && e.slot.panics > 0;
        let spins = kind == Kind::Starvation && e.slot.outcome() == Some(ExecutionEnd::Exit);
        let thread = match (panicked, spins) {
            (true, _) => e.slot.address as u16,
            (_, true) => e.slot.spins_by as u16,
            _ => e.slot.thread as u16,
        };
        let facts = ExecutionFacts {
            sentence: sentence(kind, e),
            thread: if finished { thread } else { last },
            address: e.slot.address,
            ends: ends(e).to_vec(),
            stacks: e.stacks.to_vec(),
            seen: None,
            said: None,
        };
        Some(Failure { kind, what, facts, trace: e.trace(verdict.outcome), after: 0, flags: 0, points: None })
    }

    /// For a caller that looks for failure `what`: that failure if the execution has it, else the
    /// failure that the execution ended with.
    pub fn wanted(e: &Execution<'_>, usual: &Usual, what: u32) -> Option<Failure> {
        let seen = monitors::seen(e, usual).into_iter().find(|f| f.what == what);
        seen.or_else(|| Failure::of(e, judge(e, usual)))
    }
}

fn sentence(kind: Kind, e: &Execution<'_>) -> String {
    match (kind, e.ending) {
        (Kind::ExitStatus, Ending::Died(Some(how))) => {
            format!("the program ends with status {}", how.code().unwrap_or_default())
        }
        (_, Ending::Died(Some(status))) => format!("the process died: {}", in_words(status)),
        (_, Ending::Died(None)) => "the process died".into(),
        (Kind::Starvation, Ending::Finished) if e.slot.outcome() == Some(ExecutionEnd::Exit) => {
            "a thread spins without a pause or a yield while it waits for another: on one processor it would keep that one out".into()
        }
        (Kind::Hang, _) => {
            "a thread makes no step and uses no processor: it is in a call that blocks and that raddle does not stand in for".into()
        }
        (Kind::Assertion, _) => assertion_sentence(e),
        (Kind::ExitStatus, _) => format!("the program ends with status {}", status(e)),
        (Kind::Crash, _) if e.slot.outcome() == Some(ExecutionEnd::Abort) => "the program aborts".into(),
        (Kind::Crash, _) => {
            let signal = signal_name(e.slot.detail as i32);
            match e.slot.detail as i32 {
                libc::SIGSEGV | libc::SIGBUS => {
                    format!("the program is ended by {signal} at address {:#x}", e.slot.address)
                }
                _ => format!("the program is ended by {signal}"),
            }
        }
        (Kind::Deadlock, _) => "no thread can go on".into(),
        (Kind::Livelock, _) => format!(
            "threads go round in circles, each giving way to the others, and none has changed anything in the last {} of {} steps",
            e.slot.unchanged,
            e.steps.len()
        ),
        (Kind::Starvation, _) => {
            "a thread spins without yielding, and waits for one that it does not let run".into()
        }
        (Kind::UseAfterFree, _) if e.slot.message_len > 0 => {
            format!("a variable on the stack of T{} is accessed, and that thread has ended", message(e))
        }
        (Kind::UseAfterFree, _) => "freed memory is accessed".into(),
        (Kind::DoubleFree, _) => "a block is freed twice".into(),
        _ => kind.title(),
    }
}

/// The lines of the message are: expression, file, line, function.
fn assertion_sentence(e: &Execution<'_>) -> String {
    match e.slot.outcome() {
        _ if e.slot.message_len > 0 => {
            let text = message(e);
            let mut lines = text.lines();
            let (expression, _file, _line, function) =
                (lines.next(), lines.next(), lines.next(), lines.next());
            let inside = function.filter(|f| !f.is_empty()).map_or(String::new(), |f| format!(" in {f}"));
            format!("assertion `{}` failed{inside}", expression.unwrap_or_default())
        }
        Some(ExecutionEnd::Exception) => "an exception of C++ is not caught".into(),
        _ => PANICS.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{exits, with_slot};
    use raddle_explore::Op;
    use raddle_wire::explore::Slot;

    fn kind(usual: Usual, set: impl FnOnce(&mut Slot)) -> Option<Kind> {
        with_slot(set, |e| judge(&e, &usual).kind)
    }

    #[test]
    fn a_status_counts_where_another_is_usual() {
        let usual = Usual::default();
        assert_eq!(kind(usual, exits(0, 0)), None);
        assert_eq!(kind(usual, exits(3, 0)), Some(Kind::ExitStatus));
        assert_eq!(kind(Usual { status: 3, ..usual }, exits(3, 0)), None);
        assert_eq!(kind(Usual { rust: true, ..usual }, exits(101, 0)), Some(Kind::Assertion));
    }

    #[test]
    fn an_assertion_that_a_handler_ends_counts_where_the_status_is_unusual() {
        let asserts = |status| {
            move |slot: &mut Slot| {
                exits(status, 0)(slot);
                slot.message[..8].copy_from_slice(b"a\nb\n1\nf\n");
                slot.message_len = 8;
            }
        };
        assert_eq!(kind(Usual::default(), asserts(3)), Some(Kind::Assertion));
        assert_eq!(kind(Usual { status: 3, ..Usual::default() }, asserts(3)), None);
    }

    #[test]
    fn a_panic_counts_where_others_do_without() {
        let usual = Usual::default();
        assert_eq!(kind(usual, exits(0, 1)), None);
        assert_eq!(kind(Usual { panics: Some(0), ..usual }, exits(0, 1)), Some(Kind::Assertion));
        assert_eq!(kind(Usual { panics: Some(1), ..usual }, exits(0, 1)), None);
        assert_eq!(kind(usual, exits(101, 1)), Some(Kind::Assertion));
    }

    #[test]
    fn every_outcome_has_its_kind() {
        let expected = [
            (ExecutionEnd::Abort, Kind::Crash),
            (ExecutionEnd::Signal, Kind::Crash),
            (ExecutionEnd::Assertion, Kind::Assertion),
            (ExecutionEnd::Exception, Kind::Assertion),
            (ExecutionEnd::Deadlock, Kind::Deadlock),
            (ExecutionEnd::UseAfterFree, Kind::UseAfterFree),
            (ExecutionEnd::DoubleFree, Kind::DoubleFree),
        ];
        for (end, expected) in expected {
            assert_eq!(kind(Usual::default(), |slot| slot.set_outcome(end)), Some(expected));
        }
        let verdict =
            with_slot(|slot| slot.set_outcome(ExecutionEnd::StepLimit), |e| judge(&e, &Usual::default()));
        assert_eq!(verdict, ExecutionVerdict { outcome: Outcome::StepLimit, kind: None });
    }

    #[test]
    fn an_assertion_is_told_by_its_words_and_known_by_them() {
        let failure = |text: &str| {
            let set = |slot: &mut Slot| {
                slot.set_outcome(ExecutionEnd::Assertion);
                slot.message[..text.len()].copy_from_slice(text.as_bytes());
                slot.message_len = text.len() as u64;
            };
            with_slot(set, |e| Failure::of(&e, judge(&e, &Usual::default())).unwrap())
        };
        let (one, two) = (failure("a == 1\na.c\n3\nf\n"), failure("b == 1\na.c\n4\nf\n"));
        assert_eq!(one.facts.sentence, "assertion `a == 1` failed in f");
        assert_ne!(one.what, two.what);
        assert_eq!(one.what, failure("a == 1\na.c\n3\nf\n").what);
    }

    fn step(thread: u16, kind: OpKind, site: u32) -> Step {
        Step::bare(LogicalThread(thread), Op::new(kind, 8, site))
    }

    #[test]
    fn circles_in_which_nothing_changes_are_livelocks_or_starvation() {
        let polite: Vec<Step> = (0..3000)
            .map(|i| step(i % 2, if i % 4 < 2 { OpKind::TryLock } else { OpKind::Yield }, u32::from(i) % 4))
            .collect();
        assert_eq!(endless(&polite, 3000), Some(Kind::Livelock));
        let in_step: Vec<Step> =
            [OpKind::Lock, OpKind::Yield, OpKind::TryLock, OpKind::Yield, OpKind::Unlock, OpKind::Yield]
                .chunks(2)
                .cycle()
                .take(1500)
                .enumerate()
                .flat_map(|(i, turn)| turn.iter().map(move |kind| step(i as u16 % 2, *kind, *kind as u32)))
                .collect();
        assert_eq!(endless(&in_step, 3000), Some(Kind::Livelock));
        let rude = vec![step(1, OpKind::AtomicLoad, 7); 3000];
        assert_eq!(endless(&rude, 3000), Some(Kind::Starvation));
    }

    /// One thread takes a lock and gives it back, the other only ever tries it meanwhile.
    #[test]
    fn backing_off_in_step_is_neither() {
        use OpKind::*;
        let round = |turns: &[(u16, OpKind, u64)]| -> Option<Kind> {
            let of = |(i, (t, kind, lock)): (usize, &(u16, OpKind, u64))| {
                let mut step = step(*t, *kind, i as u32);
                step.op.object = *lock;
                step
            };
            let steps: Vec<Step> = turns.iter().enumerate().map(of).collect();
            let steps: Vec<Step> = steps.into_iter().cycle().take(3000).collect();
            endless(&steps, 3000)
        };
        let both =
            [(0, Lock, 1), (1, Lock, 2), (0, TryLock, 2), (1, TryLock, 1), (0, Unlock, 1), (1, Unlock, 2)];
        assert_eq!(round(&both), None);
        // Nobody gives it back.
        assert_eq!(round(&[(0, TryLock, 1), (1, TryLock, 2)]), Some(Kind::Livelock));
        // One thread does not back off: it looks under the lock for what never happens.
        let polls = [(0, Lock, 1), (1, TryLock, 1), (0, DataRead, 9), (0, Unlock, 1)];
        assert_eq!(round(&polls), Some(Kind::Livelock));
        // A thread that gets the lock looks too.
        let gets = [(0, TryLock, 1), (0, Unlock, 1), (1, TryLock, 1), (1, Unlock, 1)];
        assert_eq!(round(&gets), Some(Kind::Livelock));
        // The program keeps its threads in step.
        let mut waits = both.to_vec();
        waits.insert(2, (0, Yield, 0));
        assert_eq!(round(&waits), Some(Kind::Livelock));
    }

    #[test]
    fn work_is_neither() {
        let busy: Vec<Step> = (0..3000).map(|i| step(1, OpKind::Lock, i)).collect();
        assert_eq!(endless(&busy, 3000), None);
        // A counter that goes up: the same places again and again, but never the same state.
        let counts = vec![step(1, OpKind::AtomicStore, 7); 3000];
        assert_eq!(endless(&counts, 10), None);
        assert_eq!(endless(&[], 0), None);
    }

    #[test]
    fn to_wait_for_a_signal_from_outside_is_no_deadlock() {
        let waits = |slot: &mut Slot| {
            slot.set_outcome(ExecutionEnd::Deadlock);
            slot.awaits = awaits::SIGNAL;
        };
        assert_eq!(kind(Usual::default(), waits), None);
        assert!(with_slot(waits, |e| waits_for_outside(&e)));
        // A handler alone is not something that a thread waits for.
        let handles = |slot: &mut Slot| {
            slot.set_outcome(ExecutionEnd::Deadlock);
            slot.awaits = awaits::HANDLER;
        };
        assert_eq!(kind(Usual::default(), handles), Some(Kind::Deadlock));
    }
}
