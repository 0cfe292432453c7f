//! How long threads that could run must stand still for other threads' waits to time out.
//!
//! A scheduler may let any wait time out while another thread is about to end it. If the wait is
//! short, that is a real execution. If it takes seconds, once or repeatedly, nobody will ever see
//! it. A wait that nobody could have ended must time out, and does not count.
//!
//! 1. A sleeping thread counts as one that could run: fair scheduling holds it back, so it is not
//!    among the eligible threads.
//! 2. A scheduler may also end a sleep of a minute before one of a millisecond. Sleeps count by how
//!    long another thread stands still meanwhile: see `pace`.

use std::time::Duration;

use raddle_explore::{OpKind, Step, Trace};
use raddle_finding::{Confidence, Finding, Kind};

use super::pace::{Last, longest};
use crate::verdict::Failure;

/// The beginning of the note on a failure that needs threads to stand still for very long.
pub const STANDS_STILL: &str = "for this to happen, threads that could go on must stand still for ";
/// The time to compute how long threads stand still grows with the square of the number of steps.
/// In longer traces sleeps do not count.
const MOST_STEPS: usize = 10_000;
/// Longer than a thread waits for a processor on a busy machine.
const VERY_LONG: Duration = Duration::from_secs(5);

/// Whether another thread could have made this step.
fn could_be_another(trace: &Trace, step: &Step) -> bool {
    step.eligible(&trace.wide).any(|t| t != step.thread && !step.is_reluctant(t, &trace.wide))
}

/// The last sleep for which a thread that could run stands still: it runs only when the time has
/// passed. The program may count on what others do in that time.
pub fn last_sleep_of_others(trace: &Trace) -> Option<usize> {
    let is_one = |s: &Step| s.op.kind() == OpKind::Sleep && could_be_another(trace, s);
    trace.steps.iter().rposition(is_one)
}

/// The sum of all time-outs in the trace that happened while another thread could run.
fn times_out(trace: &Trace) -> Duration {
    // For each thread, whether its last step was a sleep.
    let mut sleeps: Vec<bool> = Vec::new();
    let mut all = Duration::ZERO;
    for step in &trace.steps {
        let own = step.thread.index();
        let somebody_sleeps = || sleeps.iter().enumerate().any(|(t, sleeps)| *sleeps && t != own);
        if step.op.kind() == OpKind::TimeOut && (could_be_another(trace, step) || somebody_sleeps()) {
            all = all.saturating_add(duration(step));
        }
        if sleeps.len() <= own {
            sleeps.resize(own + 1, false);
        }
        sleeps[own] = matches!(step.op.kind(), OpKind::Yield | OpKind::Sleep);
    }
    all
}

fn duration(step: &Step) -> Duration {
    let takes_time = matches!(step.op.kind(), OpKind::TimeOut | OpKind::Sleep);
    Duration::from_nanos(step.op.duration().filter(|_| takes_time).unwrap_or(0))
}

/// The longer of the two: how long threads stand still until waits time out, or sleeps end.
fn stands_still(trace: &Trace, last: Option<Last<'_>>) -> Duration {
    let slept = trace.steps.iter().map(duration).fold(Duration::ZERO, Duration::saturating_add);
    let is_short = trace.steps.len() <= MOST_STEPS;
    let still = if slept > VERY_LONG && is_short { longest(trace, last) } else { Duration::ZERO };
    times_out(trace).max(still)
}

/// How long threads stand still until this failure.
fn until(failure: &Failure) -> Duration {
    // What the others could do is no matter for a race, nor where nobody gets on.
    let at_any_time = matches!(
        failure.kind,
        Kind::DataRace | Kind::Deadlock | Kind::Livelock | Kind::Starvation | Kind::Hang
    );
    let last = Last { thread: failure.facts.thread, ends: &failure.facts.ends };
    stands_still(&failure.trace, Some(last).filter(|_| !at_any_time))
}

/// Whether threads must stand still for very long. Then the schedule shows what the scheduler
/// allows, and nothing shows that it happens to a user.
pub fn are_very_long(failure: &Failure) -> bool {
    until(failure) >= VERY_LONG
}

/// Adds the note if the time is very long.
pub fn note(failure: &Failure, finding: &mut Finding) {
    note_time(until(failure), finding);
}

fn note_time(all: Duration, finding: &mut Finding) {
    if all >= VERY_LONG {
        let text = format!("{STANDS_STILL}{} s in all, until waits time out or sleeps end", all.as_secs());
        finding.notes.push(text);
        finding.confidence = Confidence::Suspected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{LogicalThread, Op, Outcome, StepFlags, ThreadSet, TraceBuf};

    /// A step of a thread, the threads that were eligible, and the seconds of a time-out.
    fn trace(steps: &[(u16, OpKind, &[u16], u64)]) -> Trace {
        let (mut made, mut wide) = (vec![Step::default(); steps.len()], vec![0; 64]);
        let mut buf = TraceBuf::new(&mut made, &mut wide);
        for (thread, kind, eligible, seconds) in steps {
            let mut set = ThreadSet::new();
            for t in *eligible {
                set.insert(LogicalThread(*t));
            }
            let op = Op::new(*kind, 0x1000, 0).with_duration(seconds * 1_000_000_000);
            buf.push_thread(LogicalThread(*thread), op, StepFlags::default(), &set, &ThreadSet::new())
                .unwrap();
        }
        Trace { steps: made, wide, outcome: Outcome::Passed, divergence: None }
    }

    fn seconds(steps: &[(u16, OpKind, &[u16], u64)]) -> u64 {
        stands_still(&trace(steps), None).as_secs()
    }

    #[test]
    fn time_outs_add_up_where_somebody_could_go_on() {
        use OpKind::{Lock, Sleep, TimeOut, TryLock, Unlock, Yield};
        assert_eq!(seconds(&[(1, TimeOut, &[0, 1], 2), (1, TimeOut, &[0, 1], 3)]), 5);
        assert_eq!(seconds(&[(0, Lock, &[0, 1], 0), (1, TimeOut, &[1], 10)]), 0, "nobody could");
        // A thread that sleeps or yields is held back but could run.
        assert_eq!(seconds(&[(0, Sleep, &[0], 0), (1, TimeOut, &[1], 1), (1, TimeOut, &[1], 1)]), 2);
        assert_eq!(seconds(&[(0, Yield, &[0], 0), (0, Lock, &[0], 0), (1, TimeOut, &[1], 7)]), 0);
        assert_eq!(seconds(&[(1, Sleep, &[1], 0), (1, TimeOut, &[1], 7)]), 0, "its own sleep");
        assert_eq!(seconds(&[(1, Sleep, &[0, 1], 60)]), 0, "sleeps do not");
        let late: [(u16, OpKind, &[u16], u64); 3] =
            [(1, Sleep, &[0, 1], 60), (1, Unlock, &[0, 1], 0), (0, TryLock, &[0], 0)];
        assert_eq!(seconds(&late), 60, "unless another thread waits for them to end");
    }

    #[test]
    fn a_sleep_for_which_another_stands_still_is_found() {
        use OpKind::{Lock, Sleep, Start};
        let found = |steps: &[(u16, OpKind, &[u16], u64)]| last_sleep_of_others(&trace(steps));
        let late: [(u16, OpKind, &[u16], u64); 3] =
            [(2, Sleep, &[1, 2], 0), (1, Start, &[1], 0), (2, Sleep, &[2], 0)];
        assert_eq!(found(&late), Some(0), "T1 begins when the time has passed");
        assert_eq!(found(&late[1..]), None, "in the last one nobody else can run");
        assert_eq!(found(&[(2, Lock, &[1, 2], 0)]), None);
    }

    #[test]
    fn only_what_is_very_long_is_noted() {
        let notes = |seconds: u64| {
            let kind = Kind::Crash;
            let mut finding = Finding::new(kind, Confidence::Confirmed, "it aborts");
            let trace = trace(&[(1, OpKind::TimeOut, &[0, 1], seconds)]);
            note_time(stands_still(&trace, None), &mut finding);
            (finding.confidence, finding.notes)
        };
        let note =
            |seconds| vec![format!("{STANDS_STILL}{seconds} s in all, until waits time out or sleeps end")];
        assert_eq!(notes(10), (Confidence::Suspected, note(10)));
        assert_eq!(notes(5), (Confidence::Suspected, note(5)));
        assert_eq!(notes(4), (Confidence::Confirmed, Vec::new()));
    }
}
