//! When each step of a trace would be made if no thread stood still, and how long each one does.
//!
//! Steps take no time, sleeps and time-outs take theirs. A thread stands still from when it could
//! make a step until the last earlier step of another thread whose order with it matters.
//!
//! 1. A thread that waits does not stand still: for a lock that was taken by then, for a thread to
//!    end, a signal, a barrier, a message.
//! 2. A thread that could go on when the program fails stands still until then.
//! 3. A sleep ends when a signal arrives.

use std::collections::BTreeMap;
use std::time::Duration;

use raddle_explore::op::Class;
use raddle_explore::{LogicalThread, Op, OpKind, SYSTEM_V, Step, Trace, dependent};
use raddle_wire::explore::End;

/// The failure that a trace ends with.
#[derive(Clone, Copy)]
pub struct Last<'a> {
    pub thread: u16,
    /// Empty if the execution left none.
    pub ends: &'a [End],
}

/// The longest time that a thread stands still in all. `last`: see rule 2.
pub fn longest(trace: &Trace, last: Option<Last<'_>>) -> Duration {
    let mut pace = Pace { trace, times: Vec::new(), threads: Vec::new() };
    for i in 0..trace.steps.len() {
        pace.step(i);
    }
    last.inspect(|last| pace.fails(last));
    Duration::from_nanos(pace.threads.iter().map(|t| t.still).max().unwrap_or(0))
}

#[derive(Clone, Copy, Default)]
struct Thread {
    /// The time of its last step.
    now: u64,
    /// The index of the step after its last one.
    next: usize,
    still: u64,
}

/// All times are in nanoseconds.
struct Pace<'a> {
    trace: &'a Trace,
    /// Of each step so far.
    times: Vec<u64>,
    threads: Vec<Thread>,
}

impl Pace<'_> {
    fn thread(&mut self, t: usize) -> &mut Thread {
        if self.threads.len() <= t {
            self.threads.resize(t + 1, Thread::default());
        }
        &mut self.threads[t]
    }

    fn step(&mut self, i: usize) {
        let step = &self.trace.steps[i];
        let own = step.thread.index();
        self.thread(own);
        let (ready, after) = (self.ready(i), self.latest(i));
        let time = ready.max(after);
        // Nothing is known about when a timer without a duration was due.
        let known = step.op.kind() != OpKind::TimeOut || step.op.duration().is_some();
        let still = if known { time - ready } else { 0 };
        let t = &mut self.threads[own];
        *t = Thread { now: time, next: i + 1, still: t.still.saturating_add(still) };
        if step.op.kind() == OpKind::Create {
            *self.thread(step.op.object as usize) = Thread { now: time, next: i + 1, still: 0 };
        }
        self.times.push(time);
    }

    /// When the thread could make this step.
    fn ready(&self, i: usize) -> u64 {
        let Step { op, thread, .. } = self.trace.steps[i];
        let Thread { now, next, .. } = self.threads[thread.index()];
        match op.kind() {
            OpKind::Sleep => {
                let until = now.saturating_add(op.duration().unwrap_or(0));
                let arrives = |j: &usize| {
                    let o = &self.trace.steps[*j].op;
                    o.kind() == OpKind::Signal && o.object == thread.index() as u64
                };
                let signal = (next..i).find(arrives);
                signal.map_or(until, |j| until.min(self.times[j].max(now)))
            }
            OpKind::TimeOut => now.saturating_add(op.duration().unwrap_or(0)),
            OpKind::Lock | OpKind::TimedLock | OpKind::ReadLock | OpKind::WriteLock | OpKind::SemWait => {
                self.free(op.object, now, self.enabled(i))
            }
            OpKind::CondWake => {
                let enabled = self.enabled(i);
                let tells = |j: &usize| {
                    let o = &self.trace.steps[*j].op;
                    o.object == op.object && matches!(o.kind(), OpKind::CondSignal | OpKind::CondBroadcast)
                };
                let told = (next..enabled).rfind(tells).map_or(0, |j| self.times[j]);
                self.free(op.other, now.max(told), enabled)
            }
            // The end of an initialiser is no step.
            OpKind::Once if self.enabled(i) > next => {
                self.latest(i).max(now).max(self.times[self.enabled(i) - 1])
            }
            _ if waits(&op, thread) => self.latest(i).max(now),
            _ => now,
        }
    }

    /// The first step that the thread could have made instead of this one, since its last.
    fn enabled(&self, i: usize) -> usize {
        let thread = self.trace.steps[i].thread;
        let first = self.threads[thread.index()].next;
        (first..i).find(|j| could_make(self.trace, &self.trace.steps[*j], thread)).unwrap_or(i)
    }

    /// When the lock or semaphore is free for a thread that comes at this time, by the steps before
    /// `end`.
    fn free(&self, lock: u64, now: u64, end: usize) -> u64 {
        // When each thread that holds it has taken it.
        let mut taken: BTreeMap<usize, u64> = BTreeMap::new();
        let mut free = now;
        for (step, time) in self.trace.steps[..end].iter().zip(&self.times) {
            let (kind, thread) = (step.op.kind(), step.thread.index());
            let of_wait = matches!(kind, OpKind::CondWait | OpKind::CondWake);
            if lock != if of_wait { step.op.other } else { step.op.object } {
                continue;
            }
            if takes(kind) {
                taken.insert(thread, *time);
            } else if matches!(kind, OpKind::Unlock | OpKind::SemPost | OpKind::CondWait) {
                // One that was taken only later could have been taken before.
                if taken.remove(&thread).is_none_or(|t| t <= free) {
                    free = free.max(*time);
                }
            }
        }
        free
    }

    /// The time of the last earlier step of another thread whose order with this step matters.
    fn latest(&self, i: usize) -> u64 {
        let step = &self.trace.steps[i];
        if step.op.class() == Class::Local {
            return 0;
        }
        let now = self.threads[step.thread.index()].now;
        let earlier = self.trace.steps[..i].iter().zip(&self.times);
        let later = earlier.filter(|(s, time)| **time > now && s.thread != step.thread);
        later.filter(|(s, _)| order_matters(&s.op, &step.op)).map(|(_, time)| *time).max().unwrap_or(0)
    }

    /// Rule 2.
    fn fails(&mut self, last: &Last<'_>) {
        let Some(failed) = self.threads.get(usize::from(last.thread)).map(|t| t.now) else { return };
        let Some(step) = self.trace.steps.last() else { return };
        for (t, thread) in self.threads.iter_mut().enumerate().filter(|(t, _)| *t != usize::from(last.thread))
        {
            let id = LogicalThread(t as u16);
            let end = last.ends.iter().find(|e| e.thread == id);
            let could = step.thread != id && could_make(self.trace, step, id);
            let ready = match end {
                Some(end) if end.ended != 0 => continue,
                Some(End { pending, .. }) => {
                    let may_wait = waits(pending, id) || takes(pending.kind());
                    if may_wait && (!could || order_matters(&step.op, pending)) {
                        continue;
                    }
                    let is_sleep = pending.kind() == OpKind::Sleep;
                    thread.now.saturating_add(pending.duration().filter(|_| is_sleep).unwrap_or(0))
                }
                None if could => thread.now,
                None => continue,
            };
            thread.still = thread.still.saturating_add(failed.saturating_sub(ready));
        }
    }
}

/// Whether the thread could have made this step, without giving up a wait.
fn could_make(trace: &Trace, step: &Step, thread: LogicalThread) -> bool {
    step.eligible(&trace.wide).any(|t| t == thread) && !step.is_reluctant(thread, &trace.wide)
}

fn takes(kind: OpKind) -> bool {
    use OpKind::{CondWake, Lock, ReadLock, SemWait, TimedLock, TryLock, WriteLock};
    matches!(kind, Lock | TryLock | TimedLock | ReadLock | WriteLock | SemWait | CondWake)
}

/// Whether the thread may have to wait before this, for another reason than a lock.
fn waits(op: &Op, thread: LogicalThread) -> bool {
    use OpKind::{Barrier, FutexWait, Io, Join, Once, Other, Signal, Spurious, Start, TimeOut};
    match op.kind() {
        Start | Join | Barrier | Once | FutexWait | Spurious | TimeOut => true,
        Signal => op.object == thread.index() as u64,
        // Of a pipe or a socket, not of a file.
        Io => op.other != 0,
        Other => op.object == SYSTEM_V,
        _ => false,
    }
}

/// Whether a program can tell in which order two threads do this, as far as the objects show.
fn order_matters(a: &Op, b: &Op) -> bool {
    let ends_process = |op: &Op| op.kind() == OpKind::Exit && op.class() == Class::Global;
    if ends_process(a) || ends_process(b) {
        return true;
    }
    let (x, y) = (named(a), named(b));
    if x.class() == Class::Global || y.class() == Class::Global {
        let is_other = |op: &Op| op.kind() == OpKind::Other;
        return is_other(a) && is_other(b) && a.object == b.object;
    }
    // Two variables may share a granule.
    let apart = a.is_memory() && b.is_memory() && a.object == b.object && !a.touches(b.bytes());
    dependent(&x, &y) && !apart
}

/// The operation on the objects that it names, and no others. A wait that times out takes its mutex
/// in a later step.
fn named(op: &Op) -> Op {
    let other = if op.kind() == OpKind::TimeOut { 0 } else { op.other };
    Op::new(op.kind(), op.object, op.site).with_other(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::OpKind::*;
    use raddle_explore::{Outcome, StepFlags, ThreadSet, TraceBuf};

    const FLAG: u64 = 0x10_0000;
    const LOCK: u64 = 0x20_0000;
    const COND: u64 = 0x30_0000;

    /// A step of a thread, its object, and its seconds.
    type Made = (u16, OpKind, u64, u64);

    fn op(kind: OpKind, object: u64, seconds: u64) -> Op {
        let other = if matches!(kind, CondWait | CondWake) { LOCK } else { 0 };
        let op = Op::new(kind, object, 0).with_other(other);
        if seconds > 0 { op.with_duration(seconds * 1_000_000_000) } else { op }
    }

    fn trace(steps: &[Made]) -> Trace {
        let (mut made, mut wide) = (vec![Step::default(); steps.len()], vec![0; 64]);
        let mut buf = TraceBuf::new(&mut made, &mut wide);
        for (thread, kind, object, seconds) in steps {
            let eligible: ThreadSet = [LogicalThread(*thread)].into_iter().collect();
            let op = op(*kind, *object, *seconds);
            buf.push_thread(LogicalThread(*thread), op, StepFlags::default(), &eligible, &ThreadSet::new())
                .unwrap();
        }
        Trace { steps: made, wide, outcome: Outcome::Passed, divergence: None }
    }

    fn seconds(steps: &[Made]) -> u64 {
        longest(&trace(steps), None).as_secs()
    }

    #[test]
    fn threads_that_sleep_at_the_same_time_do_not_stand_still() {
        let update = [
            (1, Sleep, 0, 6),
            (1, AtomicLoad, FLAG, 0),
            (2, Sleep, 0, 6),
            (2, AtomicLoad, FLAG, 0),
            (2, AtomicStore, FLAG, 0),
            (1, AtomicStore, FLAG, 0),
        ];
        assert_eq!(seconds(&update), 0, "a lost update");
        let cycle = [(1, Sleep, 0, 6), (1, Lock, LOCK, 0), (2, Sleep, 0, 6), (2, Lock, FLAG, 0)];
        assert_eq!(seconds(&cycle), 0, "a deadlock");
    }

    #[test]
    fn a_thread_that_is_done_sleeping_stands_still_until_the_other_one_is() {
        let minute =
            |first, then| [(1, Sleep, 0, 60), (1, first, FLAG, 0), (0, Sleep, 0, 1), (0, then, FLAG, 0)];
        assert_eq!(seconds(&minute(AtomicStore, AtomicLoad)), 59);
        assert_eq!(seconds(&minute(AtomicRmw, AtomicRmw)), 59);
        assert_eq!(seconds(&minute(AtomicLoad, AtomicLoad)), 0, "two reads");
        let mut elsewhere = minute(AtomicStore, AtomicLoad);
        elsewhere[3].2 = FLAG + 8;
        assert_eq!(seconds(&elsewhere), 0);
        // The time is counted once, for each thread.
        let again = [
            (1, Sleep, 0, 6),
            (1, AtomicStore, FLAG, 0),
            (0, AtomicLoad, FLAG, 0),
            (0, AtomicLoad, FLAG, 0),
            (2, AtomicLoad, FLAG, 0),
        ];
        assert_eq!(seconds(&again), 6);
        let ends = [(1, Sleep, 0, 60), (1, AtomicStore, FLAG, 0), (0, TimeOut, FLAG, 2)];
        assert_eq!(seconds(&ends), 58, "a wait that times out too late");
    }

    #[test]
    fn a_thread_that_waits_does_not_stand_still() {
        let held = [
            (1, Lock, LOCK, 0),
            (1, Sleep, 0, 60),
            (1, AtomicStore, FLAG, 0),
            (1, Unlock, LOCK, 0),
            (0, Sleep, 0, 1),
            (0, Lock, LOCK, 0),
            (0, AtomicLoad, FLAG, 0),
        ];
        assert_eq!(seconds(&held), 0);
        let mut late = held;
        late.swap(0, 1);
        assert_eq!(seconds(&late), 59, "the lock was free when it came");
        let joined = [
            (0, Create, 1, 0),
            (1, Start, 1, 0),
            (1, Sleep, 0, 60),
            (1, AtomicStore, FLAG, 0),
            (1, Exit, 1, 0),
            (0, Join, 1, 0),
            (0, AtomicLoad, FLAG, 0),
        ];
        assert_eq!(seconds(&joined), 0);
        let posted = |kind, then| {
            [
                (1, Sleep, 0, 60),
                (1, AtomicStore, FLAG, 0),
                (1, kind, COND, 0),
                (0, then, COND, 0),
                (0, AtomicLoad, FLAG, 0),
            ]
        };
        assert_eq!(seconds(&posted(SemPost, SemWait)), 0);
        assert_eq!(seconds(&posted(Barrier, Barrier)), 0);
        let mut told = vec![(0, CondWait, COND, 0)];
        told.extend(posted(CondSignal, CondWake));
        assert_eq!(seconds(&told), 0);
        let created = [
            (0, Sleep, 0, 60),
            (0, AtomicStore, FLAG, 0),
            (0, Create, 1, 0),
            (1, Start, 1, 0),
            (1, AtomicLoad, FLAG, 0),
        ];
        assert_eq!(seconds(&created), 0, "it did not exist before");
    }

    #[test]
    fn a_signal_ends_a_sleep() {
        let steps =
            [(0, Signal, 1, 0), (1, Sleep, 0, 60), (1, AtomicStore, FLAG, 0), (0, AtomicLoad, FLAG, 0)];
        assert_eq!(seconds(&steps), 0);
        let mut other = steps;
        other[0].2 = 2;
        assert_eq!(seconds(&other), 60);
    }

    #[test]
    fn a_thread_that_could_go_on_stands_still_until_the_failure() {
        let steps = [(0, Create, 1, 0), (0, Create, 2, 0), (1, Start, 1, 0), (1, Sleep, 0, 60)];
        let still = |pending: Op| {
            let end =
                End { thread: LogicalThread(0), ended: 0, depth: 0, holder: 0, pending, frames: [0; _] };
            let ended = End { thread: LogicalThread(2), ended: 1, ..end };
            let last = Last { thread: 1, ends: &[end, ended] };
            longest(&trace(&steps), Some(last)).as_secs()
        };
        assert_eq!(still(op(AtomicStore, FLAG, 0)), 60);
        assert_eq!(still(op(Sleep, 0, 1)), 59);
        assert_eq!(still(op(Sleep, 0, 60)), 0, "it sleeps as long");
        assert_eq!(still(op(Join, 1, 0)), 0, "it waits");
        assert_eq!(longest(&trace(&steps), None).as_secs(), 0);
    }
}
