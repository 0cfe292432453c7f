//! What a thread knows of order, compared with what holds in every schedule.
//!
//! Random programs are run in random schedules: tasks, threads, items of a pool, parts of
//! asynchronous methods, the calls of a task of `Parallel.For`, locks. The oracle is the graph of
//! what the program says: what one piece of work does in its order, who made whom, who has waited
//! for whom. Threads are not in it, since which thread does what is chance.
//!
//! Two accesses that a thread takes for ordered must be connected in the graph, or both must be made
//! under a lock that their own piece of work has taken.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{Known, THREAD, task};
use crate::hand_overs::Key;

/// Numbers of tasks and hashes of threads that no other test has.
static NUMBERS: AtomicU32 = AtomicU32::new(1 << 24);

fn new_number() -> u32 {
    NUMBERS.fetch_add(1, Relaxed)
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Main,
    Task,
    Thread,
    /// Given to the pool, with nothing to wait for it by.
    Item,
    /// One of several calls that the task with this number makes, one after the other.
    Call(u32),
    /// What follows the first part of an asynchronous method.
    Flow,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Done,
}

/// A piece of work, as the program has it.
struct Work {
    kind: Kind,
    number: u32,
    state: State,
    /// The last thing that it did, or that its creator did before.
    last: usize,
}

/// A method that is on the stack of a thread.
struct Frame {
    work: usize,
    depth: u32,
    /// Whether the piece has called it, as it may call any method.
    is_called: bool,
    locks: Vec<u32>,
    awaited: Option<usize>,
}

struct Thread {
    hash: u32,
    known: Known,
    frames: Vec<Frame>,
    /// A task that it has made, and has not told of.
    untold: Option<Untold>,
    is_pool: bool,
}

#[derive(Clone, Copy)]
enum Untold {
    Forked(Key),
    Suspended(Key),
}

struct Access {
    thread: usize,
    time: u64,
    mark: u64,
    event: usize,
    locks: Vec<u32>,
}

struct Schedule {
    random: Random,
    time: u64,
    works: Vec<Work>,
    threads: Vec<Thread>,
    /// For each event those that come before it.
    before: Vec<Vec<bool>>,
    accesses: Vec<Access>,
    /// Who has a lock, and how often.
    owners: HashMap<u32, (usize, u32)>,
    locks: Vec<u32>,
    /// Which thread runs the calls of a task.
    bound: HashMap<u32, usize>,
    known: usize,
    ordered: usize,
}

impl Schedule {
    fn new(seed: u64) -> Schedule {
        let mut schedule = Schedule {
            random: Random(seed),
            time: 10,
            works: Vec::new(),
            threads: Vec::new(),
            before: Vec::new(),
            accesses: Vec::new(),
            owners: HashMap::new(),
            locks: (0..3).map(|_| new_number()).collect(),
            bound: HashMap::new(),
            known: 0,
            ordered: 0,
        };
        let first = schedule.event(&[]);
        schedule.works.push(Work { kind: Kind::Main, number: 0, state: State::Running, last: first });
        schedule.add_thread(false);
        schedule.threads[0].known = Known::of_main(0);
        schedule.push_frame(0, 0, 1, false);
        for _ in 0..3 {
            schedule.add_thread(true);
        }
        schedule
    }

    fn now(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    fn event(&mut self, after: &[usize]) -> usize {
        let mut before = vec![false; self.before.len()];
        for event in after {
            before[*event] = true;
            self.before[*event].iter().enumerate().for_each(|(at, is)| before[at] |= *is);
        }
        self.before.push(before);
        self.before.len() - 1
    }

    /// The next thing that the work does which is on top of a thread's stack.
    fn step(&mut self, thread: usize) -> usize {
        let work = self.top(thread).work;
        let event = self.event(&[self.works[work].last]);
        self.works[work].last = event;
        event
    }

    fn top(&mut self, thread: usize) -> &mut Frame {
        self.threads[thread].frames.last_mut().expect("it runs something")
    }

    fn add_thread(&mut self, is_pool: bool) -> usize {
        let known = Known::of_pool(self.threads.len() as u32);
        let hash = new_number();
        self.threads.push(Thread { hash, known, frames: Vec::new(), untold: None, is_pool });
        self.threads.len() - 1
    }

    fn add_work(&mut self, kind: Kind, number: u32, last: usize) -> usize {
        self.works.push(Work { kind, number, state: State::Waiting, last });
        self.works.len() - 1
    }

    fn push_frame(&mut self, thread: usize, work: usize, depth: u32, is_called: bool) {
        let frame = Frame { work, depth, is_called, locks: Vec::new(), awaited: None };
        self.threads[thread].frames.push(frame);
    }

    /// Runs a work on top of what the thread does.
    fn start(&mut self, thread: usize, work: usize) {
        let now = self.now();
        let stack = 100_000 - 100 * self.threads[thread].frames.len();
        let Work { kind, number, .. } = self.works[work];
        let hash = self.threads[thread].hash;
        let known = &mut self.threads[thread].known;
        let depth = match kind {
            Kind::Flow => known.begin(stack, task(number), now),
            Kind::Task | Kind::Call(_) => known.begin_work(stack, number, hash, now),
            Kind::Main | Kind::Thread | Kind::Item => known.begin_work(stack, 0, hash, now),
        };
        if let Kind::Call(number) = kind {
            self.bound.insert(number, thread);
        }
        self.works[work].state = State::Running;
        self.push_frame(thread, work, depth, false);
    }

    /// Works that the thread may begin now.
    fn startable(&self, thread: usize) -> Vec<usize> {
        let of = &self.threads[thread];
        let is_idle = of.frames.is_empty();
        let may = |work: &Work| match work.kind {
            Kind::Task | Kind::Item => is_idle && of.is_pool,
            Kind::Call(number) => {
                is_idle && of.is_pool && self.bound.get(&number).is_none_or(|bound| *bound == thread)
            }
            // Inside of whatever has made its task complete.
            Kind::Flow => of.is_pool,
            Kind::Main | Kind::Thread => false,
        };
        let waits = |work: &Work| work.state == State::Waiting && may(work);
        (0..self.works.len()).filter(|at| waits(&self.works[*at])).collect()
    }

    fn access(&mut self, thread: usize) {
        let (time, event) = (self.now(), self.step(thread));
        let work = self.top(thread).work;
        let frames = self.threads[thread].frames.iter().rev().take_while(|frame| frame.work == work);
        let locks: Vec<u32> = frames.flat_map(|frame| frame.locks.clone()).collect();
        let known = &self.threads[thread].known;
        for earlier in self.accesses.iter().filter(|access| access.thread != thread) {
            let excluded = earlier.locks.iter().any(|lock| locks.contains(lock));
            let ordered = excluded || self.before[event][earlier.event];
            let is_known = known.is_ordered(earlier.thread as u32, earlier.time, earlier.mark);
            assert!(ordered || !is_known, "an edge too many, {} and {time}", earlier.time);
            self.known += usize::from(is_known);
            self.ordered += usize::from(ordered);
        }
        let mark = known.mark();
        self.accesses.push(Access { thread, time, mark, event, locks });
    }

    fn make_task(&mut self, thread: usize) {
        let (now, event) = (self.now(), self.step(thread));
        self.threads[thread].known.hands_over(now);
        let number = new_number();
        self.add_work(Kind::Task, number, event);
        self.threads[thread].untold = Some(Untold::Forked(task(number)));
    }

    fn give_to_pool(&mut self, thread: usize) {
        let event = self.step(thread);
        if self.random.below(2) == 0 {
            self.add_work(Kind::Item, 0, event);
            return;
        }
        let number = new_number();
        for _ in 0..3 {
            self.add_work(Kind::Call(number), number, event);
        }
    }

    fn make_thread(&mut self, thread: usize) {
        let (now, event) = (self.now(), self.step(thread));
        let new = self.add_thread(false);
        let key = THREAD | Key::from(self.threads[new].hash);
        self.threads[thread].known.hand_over(key, now);
        let work = self.add_work(Kind::Thread, self.threads[new].hash, event);
        self.start(new, work);
    }

    /// Calls an asynchronous method, whose first part ends at once.
    fn call_asynchronous(&mut self, thread: usize) {
        let (now, event) = (self.now(), self.step(thread));
        self.threads[thread].known.suspends(true, now);
        let number = new_number();
        self.add_work(Kind::Flow, number, event);
        self.threads[thread].untold = Some(Untold::Suspended(task(number)));
    }

    /// Only for what was made later, so that nobody waits for ever.
    fn wait(&mut self, thread: usize) {
        let from = self.top(thread).work + 1;
        if from >= self.works.len() {
            return;
        }
        let work = from + self.random.below(self.works.len() - from);
        let Work { kind, state, .. } = self.works[work];
        if !matches!(kind, Kind::Task | Kind::Flow | Kind::Thread) {
            return;
        }
        self.top(thread).awaited = Some(work);
        if kind == Kind::Task && state == State::Waiting && self.random.below(2) == 0 {
            self.start(thread, work);
        }
    }

    fn waited(&mut self, thread: usize, work: usize) {
        let waiting = self.top(thread).work;
        let event = self.event(&[self.works[waiting].last, self.works[work].last]);
        self.works[waiting].last = event;
        let Work { kind, number, .. } = self.works[work];
        let known = &mut self.threads[thread].known;
        match kind {
            Kind::Thread => known.take_over(THREAD | Key::from(number)),
            _ => known.done(number),
        }
        self.top(thread).awaited = None;
    }

    fn lock(&mut self, thread: usize) {
        let lock = self.locks[self.random.below(3)];
        let (owner, count) = self.owners.entry(lock).or_insert((thread, 0));
        if *count == 0 || *owner == thread {
            (*owner, *count) = (thread, *count + 1);
            self.top(thread).locks.push(lock);
            self.threads[thread].known.lock(lock);
        }
    }

    fn unlock(&mut self, thread: usize) {
        if let Some(lock) = self.top(thread).locks.pop() {
            self.threads[thread].known.unlock(lock);
            self.owners.get_mut(&lock).expect("somebody has it").1 -= 1;
        }
    }

    /// The piece calls the method that it was made of, or another one's.
    fn call_method(&mut self, thread: usize) {
        let work = self.top(thread).work;
        let Work { kind, number, .. } = self.works[work];
        let current = if matches!(kind, Kind::Task | Kind::Call(_)) { number } else { 0 };
        let (now, stack) = (self.now(), 100_000 - 100 * self.threads[thread].frames.len());
        let hash = self.threads[thread].hash;
        let depth = self.threads[thread].known.begin_work(stack, current, hash, now);
        self.push_frame(thread, work, depth, true);
    }

    /// The method on top of the stack returns.
    fn finish(&mut self, thread: usize) {
        while !self.top(thread).locks.is_empty() {
            self.unlock(thread);
        }
        let (now, goes_on) = (self.now(), self.random.below(2) == 0);
        let Frame { work, depth, is_called, .. } = *self.top(thread);
        let mut state = State::Done;
        if !is_called && self.works[work].kind == Kind::Flow {
            if goes_on {
                self.threads[thread].known.suspends(false, now);
                state = State::Waiting;
            } else {
                self.threads[thread].known.hands_over(now);
            }
        }
        if !is_called {
            self.step(thread);
            self.works[work].state = state;
        }
        let now = self.now();
        let of = &mut self.threads[thread];
        if depth != 0 {
            of.known.end(depth, now);
        }
        of.frames.pop();
    }

    /// One thing that one thread does.
    fn go_on(&mut self) {
        let thread = self.random.below(self.threads.len());
        match self.threads[thread].untold.take() {
            Some(Untold::Forked(key)) => return self.threads[thread].known.forked(key),
            Some(Untold::Suspended(key)) => return self.threads[thread].known.suspended(key),
            None => {}
        }
        let startable = self.startable(thread);
        if !startable.is_empty() && self.random.below(3) == 0 {
            let work = startable[self.random.below(startable.len())];
            return self.start(thread, work);
        }
        let Some(frame) = self.threads[thread].frames.last() else { return };
        if let Some(work) = frame.awaited {
            if self.works[work].state == State::Done {
                self.waited(thread, work);
            }
            return;
        }
        match self.random.below(20) {
            0..=6 => self.access(thread),
            7 | 8 => self.make_task(thread),
            9 => self.give_to_pool(thread),
            10 if self.threads.len() < 7 => self.make_thread(thread),
            11 => self.call_asynchronous(thread),
            12 | 13 => self.wait(thread),
            14 => self.lock(thread),
            15 => self.unlock(thread),
            16 if self.threads[thread].frames.len() < 4 => self.call_method(thread),
            17..=19 if self.threads[thread].frames.len() > 1 || thread != 0 => self.finish(thread),
            _ => {}
        }
    }
}

#[test]
fn what_is_known_holds_in_every_schedule() {
    let (mut known, mut ordered) = (0, 0);
    for seed in 0..400 {
        let mut schedule = Schedule::new(seed);
        for _ in 0..300 {
            schedule.go_on();
        }
        known += schedule.known;
        ordered += schedule.ordered;
    }
    // Neither what the pool was given nor what fits in no span is known.
    assert!(known > ordered / 2, "only {known} of {ordered} are known");
}
