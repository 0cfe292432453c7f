//! Small programs in simulated time: threads that compute, lock and call. What it adds to single
//! calls is the program's answer to a delay: a thread that is held keeps its locks, and others wait
//! for them.

use raddle_tsvd::{ApiPoint, Delay, Host, Tsvd, Violation};

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000 * US;

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Work(u64),
    Lock(usize),
    Unlock(usize),
    Call { site: u32, object: u64, write: bool },
}

/// How long a call itself takes.
const CALL: u64 = US;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Waiting(usize),
    Held,
    Done,
}

struct Thread {
    ops: Vec<Op>,
    next: usize,
    at: u64,
    state: State,
    delay: Option<Delay>,
}

/// What came of a run.
#[derive(Default, Debug)]
pub struct Outcome {
    pub violations: Vec<Violation>,
    /// How long it took.
    pub time: u64,
    /// The most that any thread was held.
    pub longest_held: u64,
    pub held: u64,
    /// Violations whose trapped thread was not being held at that moment, as seen from outside.
    pub untrue: usize,
    /// Calls that were not looked at.
    pub passed: usize,
}

/// Who is held at which point, as the simulation knows it.
#[derive(Default)]
struct Watcher {
    held: Vec<(ApiPoint, u64)>,
    outcome: Outcome,
}

impl Host for Watcher {
    fn violation(&mut self, violation: &Violation) {
        let there = self.held.contains(&(violation.trapped, violation.cookie));
        self.outcome.untrue += usize::from(!there || !violation.trapped.conflicts_with(&violation.caller));
        self.outcome.violations.push(*violation);
    }
}

/// Runs the threads to their ends, always going on with the one whose time is least.
pub fn run(tsvd: &Tsvd, programs: &[Vec<Op>]) -> Outcome {
    let mut threads: Vec<Thread> = programs.iter().map(|ops| Thread::new(ops)).collect();
    let mut locks = [const { None::<usize> }; 8];
    let mut watcher = Watcher::default();
    let mut held = vec![0; threads.len()];
    let runnable = |thread: &Thread| matches!(thread.state, State::Ready | State::Held);
    while let Some(i) =
        (0..threads.len()).filter(|i| runnable(&threads[*i])).min_by_key(|i| (threads[*i].at, *i))
    {
        let now = threads[i].at;
        watcher.outcome.time = watcher.outcome.time.max(now);
        if let Some(delay) = threads[i].delay.take() {
            watcher.held.retain(|(point, _)| *point != delay.point);
            tsvd.delay_done(now, &delay, &mut watcher);
            held[i] += delay.nanos;
            threads[i].call_made();
            continue;
        }
        let Some(op) = threads[i].ops.get(threads[i].next).copied() else {
            threads[i].state = State::Done;
            continue;
        };
        match op {
            Op::Work(nanos) => threads[i].go_on(nanos),
            Op::Lock(lock) if locks[lock].is_some() => threads[i].state = State::Waiting(lock),
            Op::Lock(lock) => {
                locks[lock] = Some(i);
                threads[i].go_on(0);
            }
            Op::Unlock(lock) => {
                locks[lock] = None;
                threads[i].go_on(1);
                // The first that waited takes it when its time comes.
                let waiting = threads.iter_mut().filter(|thread| thread.state == State::Waiting(lock));
                waiting.for_each(|thread| (thread.state, thread.at) = (State::Ready, now));
            }
            Op::Call { site, object, write } => {
                let point = ApiPoint { thread: i as u32, site, object, write };
                if tsvd.passes(&point, false) {
                    watcher.outcome.passed += 1;
                    threads[i].call_made();
                    continue;
                }
                match tsvd.on_call(now, &point, &mut watcher) {
                    Some(delay) if tsvd.trap_set(&delay, now, &mut watcher) => {
                        watcher.held.push((point, now));
                        threads[i].at = now + delay.nanos;
                        (threads[i].state, threads[i].delay) = (State::Held, Some(delay));
                    }
                    _ => threads[i].call_made(),
                }
            }
        }
    }
    watcher.outcome.longest_held = held.iter().copied().max().unwrap_or(0);
    watcher.outcome.held = held.iter().sum();
    watcher.outcome
}

impl Thread {
    fn new(ops: &[Op]) -> Thread {
        // Not zero, which is no time.
        Thread { ops: ops.to_vec(), next: 0, at: MS, state: State::Ready, delay: None }
    }

    fn go_on(&mut self, nanos: u64) {
        self.next += 1;
        self.at += nanos;
        self.state = State::Ready;
    }

    fn call_made(&mut self) {
        self.go_on(CALL);
    }
}
