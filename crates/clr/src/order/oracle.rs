//! Compares what a thread knows about order with what holds in every schedule.
//!
//! Random programs are run in random schedules: tasks, threads, items of a pool, parts of
//! asynchronous methods, asynchronous lambdas that `Task.Run` was given, the calls of a task of
//! `Parallel.For`, locks, sources of tasks, barriers, static constructors. The oracle is the graph
//! of what the program says: what one piece of work does in its order, who made whom, who has
//! waited for whom or what, who uses a class after its static constructor. Threads are not in it,
//! since which thread does what is chance.
//!
//! Two accesses that a thread considers ordered must be connected in the graph, or both must be
//! made under a lock that their own piece of work has taken.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{
    Known, SignalState, THREAD, ends_with, given, made_by_given, make_void, phase_key, runs_given, task,
};
use crate::class_constructors::{self, ClassNumber};
use crate::hand_overs::{EVENT, HandOverKey, HandedOver, keep};

/// Numbers of tasks and hashes of threads that no other test uses.
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
    /// Given to the pool, with nothing to wait for.
    Item,
    /// One of several calls that the task with this number makes, one after the other.
    Call(u32),
    /// What follows the first part of an asynchronous method.
    Flow,
    /// The first part of an asynchronous lambda that `Task.Run` was given in the box with this
    /// hash.
    Given(u32),
    /// The static constructor of the class with this index.
    Constructor(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Done,
}

/// A piece of work, as the program defines it.
struct Work {
    kind: Kind,
    number: u32,
    state: State,
    /// Its last event, or the event of its creator before it.
    last: usize,
    /// What is to be waited for as well: of what `Task.Run` was given, the flow that it has made.
    flow: Option<usize>,
}

/// A method on the stack of a thread.
struct Frame {
    work: usize,
    depth: u32,
    /// Whether the piece has called it, as it may call any method.
    is_called: bool,
    locks: Vec<u32>,
    awaited: Option<Awaited>,
}

#[derive(Clone, Copy)]
enum Awaited {
    Work(usize),
    /// The task of the source.
    Source,
    /// The phase of the barrier with this number.
    Phase(usize),
}

/// A class with a static constructor, and a site that needs it.
struct Class {
    number: ClassNumber,
    site: u32,
    constructor: Option<usize>,
}

/// A source of a task, and a barrier for the main thread and another.
struct Signals {
    source_hash: u32,
    source_task: u32,
    /// Whether every setter sets the source only if it is not set yet. Then any of them may be the
    /// first, even one that comes after the end of the wait. Otherwise the first is the only one.
    is_tried: bool,
    completed: Option<usize>,
    barrier_hash: u32,
    participants: Vec<usize>,
    /// The events that end each phase.
    phases: Vec<Vec<usize>>,
}

impl Signals {
    fn new(is_tried: bool) -> Signals {
        let [source_hash, source_task, barrier_hash] = [(); 3].map(|()| new_number());
        keep(EVENT | HandOverKey::from(source_hash), |kept| *kept = HandedOver::of(SignalState::Made));
        ends_with(source_hash, source_task);
        Signals {
            source_hash,
            source_task,
            is_tried,
            completed: None,
            barrier_hash,
            participants: vec![0],
            phases: vec![Vec::new()],
        }
    }
}

struct Thread {
    hash: u32,
    known: Known,
    frames: Vec<Frame>,
    /// A task that it has made but not recorded yet.
    untold: Option<Untold>,
    is_pool: bool,
}

#[derive(Clone, Copy)]
enum Untold {
    Forked(HandOverKey),
    Suspended(HandOverKey),
    /// The box, and the task that `Task.Run` gives.
    Given(u32, u32),
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
    /// For each event, the events that come before it.
    before: Vec<Vec<bool>>,
    accesses: Vec<Access>,
    /// The owner of each lock, and how often it holds it.
    owners: HashMap<u32, (usize, u32)>,
    locks: Vec<u32>,
    classes: Vec<Class>,
    signals: Signals,
    /// The thread that runs the calls of a task.
    bound: HashMap<u32, usize>,
    known: usize,
    ordered: usize,
}

impl Class {
    fn new() -> Class {
        let site = new_number();
        let number = class_constructors::number(0, site);
        class_constructors::note_site(site, vec![number]);
        Class { number, site, constructor: None }
    }
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
            classes: (0..2).map(|_| Class::new()).collect(),
            signals: Signals::new(seed.is_multiple_of(2)),
            bound: HashMap::new(),
            known: 0,
            ordered: 0,
        };
        let first = schedule.event(&[]);
        schedule.works.push(Work {
            kind: Kind::Main,
            number: 0,
            state: State::Running,
            last: first,
            flow: None,
        });
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

    /// Adds the next event of the work on top of a thread's stack.
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
        self.works.push(Work { kind, number, state: State::Waiting, last, flow: None });
        self.works.len() - 1
    }

    fn push_frame(&mut self, thread: usize, work: usize, depth: u32, is_called: bool) {
        let frame = Frame { work, depth, is_called, locks: Vec::new(), awaited: None };
        self.threads[thread].frames.push(frame);
    }

    /// Runs a piece of work on top of what the thread does.
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
            Kind::Given(hash) => {
                // The task that runs it is another one than its creator gets. The lambda itself
                // tells that it begins, too.
                let runs_in = new_number();
                let depth = known.begin_given(stack, given(hash), runs_in, now);
                assert_eq!(known.begin_work(stack - 10, runs_in, 0, now), 0);
                depth
            }
            Kind::Constructor(class) => known.begin_class(stack, self.classes[class].number, now),
        };
        if let Kind::Call(number) = kind {
            self.bound.insert(number, thread);
        }
        self.works[work].state = State::Running;
        self.push_frame(thread, work, depth, false);
    }

    /// The pieces of work that the thread may begin now.
    fn startable(&self, thread: usize) -> Vec<usize> {
        let of = &self.threads[thread];
        let is_idle = of.frames.is_empty();
        let may = |work: &Work| match work.kind {
            Kind::Task | Kind::Item | Kind::Given(_) => is_idle && of.is_pool,
            Kind::Call(number) => {
                is_idle && of.is_pool && self.bound.get(&number).is_none_or(|bound| *bound == thread)
            }
            // Inside whatever completed its task.
            Kind::Flow => of.is_pool,
            Kind::Main | Kind::Thread | Kind::Constructor(_) => false,
        };
        let waits = |work: &Work| work.state == State::Waiting && may(work);
        (0..self.works.len()).filter(|at| waits(&self.works[*at])).collect()
    }

    /// An access in a block that uses no class, or this one.
    fn access(&mut self, thread: usize, class: Option<usize>) {
        let (time, event) = (self.now(), self.step(thread));
        let work = self.top(thread).work;
        let frames = self.threads[thread].frames.iter().rev().take_while(|frame| frame.work == work);
        let locks: Vec<u32> = frames.flat_map(|frame| frame.locks.clone()).collect();
        let known = &self.threads[thread].known;
        for earlier in self.accesses.iter().filter(|access| access.thread != thread) {
            let excluded = earlier.locks.iter().any(|lock| locks.contains(lock));
            let ordered = excluded || self.before[event][earlier.event];
            let before = (earlier.thread as u32, earlier.time);
            let is_after = |class: usize| known.is_after_class(self.classes[class].site, before.0, before.1);
            let is_known = known.is_ordered(before.0, before.1, earlier.mark) || class.is_some_and(is_after);
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

    /// `Task.Run(async () => …)`.
    fn run_asynchronous(&mut self, thread: usize) {
        let (now, event) = (self.now(), self.step(thread));
        let [hash, number] = [(); 2].map(|()| new_number());
        let known = &mut self.threads[thread].known;
        known.hands_over(now);
        known.hand_over(given(hash), now);
        self.add_work(Kind::Given(hash), number, event);
        self.threads[thread].untold = Some(Untold::Given(hash, number));
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
        let key = THREAD | HandOverKey::from(self.threads[new].hash);
        self.threads[thread].known.hand_over(key, now);
        let work = self.add_work(Kind::Thread, self.threads[new].hash, event);
        if self.signals.participants.len() < 2 {
            self.signals.participants.push(work);
        }
        self.start(new, work);
    }

    /// Uses a class, which runs its static constructor or waits for it, and then a site of it.
    fn use_class(&mut self, thread: usize) {
        let class = self.random.below(self.classes.len());
        let is_constructor = |frame: &Frame| matches!(self.works[frame.work].kind, Kind::Constructor(_));
        let constructs = self.threads[thread].frames.iter().any(is_constructor);
        let Some(work) = self.classes[class].constructor else {
            // Nothing that the thread did before comes before it in every schedule.
            let first = self.event(&[]);
            let work = self.add_work(Kind::Constructor(class), 0, first);
            self.classes[class].constructor = Some(work);
            self.top(thread).awaited = Some(Awaited::Work(work));
            return self.start(thread, work);
        };
        match self.works[work].state {
            State::Done => {
                let user = self.top(thread).work;
                self.works[user].last = self.event(&[self.works[user].last, self.works[work].last]);
                self.access(thread, Some(class));
            }
            // The runtime lets it continue, so that two static constructors do not wait for each
            // other.
            _ if constructs => self.access(thread, Some(class)),
            _ => self.top(thread).awaited = Some(Awaited::Work(work)),
        }
    }

    /// Sets the source.
    fn signal(&mut self, thread: usize) {
        let (now, event) = (self.now(), self.step(thread));
        let source = EVENT | HandOverKey::from(self.signals.source_hash);
        if self.signals.is_tried {
            make_void(source);
        } else {
            self.threads[thread].known.sets(source, now);
        }
        self.signals.completed.get_or_insert(event);
    }

    /// A participant of the barrier comes to the end of a phase.
    fn end_phase(&mut self, thread: usize) {
        let work = self.top(thread).work;
        if !self.signals.participants.contains(&work) {
            return;
        }
        let (now, event) = (self.now(), self.step(thread));
        let phase = self.signals.phases.len() - 1;
        let key = phase_key(self.signals.barrier_hash, phase as u32);
        self.threads[thread].known.hand_over(key, now);
        self.signals.phases[phase].push(event);
        if self.signals.phases[phase].len() == 2 {
            self.signals.phases.push(Vec::new());
        }
        self.top(thread).awaited = Some(Awaited::Phase(phase));
    }

    fn has_ended(&self, work: usize) -> bool {
        let Work { state, flow, .. } = self.works[work];
        state == State::Done && flow.is_none_or(|flow| self.works[flow].state == State::Done)
    }

    /// If what a thread waits for is there, tells so.
    fn wake(&mut self, thread: usize, awaited: Awaited) {
        let signals = &self.signals;
        let sources = match awaited {
            Awaited::Work(work) if self.has_ended(work) => return self.waited(thread, work),
            Awaited::Source => signals.completed.map(|set| if signals.is_tried { vec![] } else { vec![set] }),
            Awaited::Phase(phase) if signals.phases.len() > phase + 1 => Some(signals.phases[phase].clone()),
            Awaited::Work(_) | Awaited::Phase(_) => None,
        };
        let Some(mut sources) = sources else { return };
        let known = &mut self.threads[thread].known;
        match awaited {
            Awaited::Source => known.done(self.signals.source_task),
            Awaited::Phase(phase) => known.take_over(phase_key(self.signals.barrier_hash, phase as u32)),
            Awaited::Work(_) => {}
        }
        let work = self.top(thread).work;
        sources.push(self.works[work].last);
        self.works[work].last = self.event(&sources);
        self.top(thread).awaited = None;
    }

    /// Calls an asynchronous method, whose first part ends at once.
    fn call_asynchronous(&mut self, thread: usize) {
        let (now, event) = (self.now(), self.step(thread));
        self.threads[thread].known.suspends(true, now);
        let number = new_number();
        self.add_work(Kind::Flow, number, event);
        self.threads[thread].untold = Some(Untold::Suspended(task(number)));
    }

    /// Waits only for work that was made later, so that nobody waits forever.
    fn wait(&mut self, thread: usize) {
        if self.random.below(6) == 0 {
            self.top(thread).awaited = Some(Awaited::Source);
            return;
        }
        let from = self.top(thread).work + 1;
        if from >= self.works.len() {
            return;
        }
        let work = from + self.random.below(self.works.len() - from);
        let Work { kind, state, .. } = self.works[work];
        if !matches!(kind, Kind::Task | Kind::Flow | Kind::Thread | Kind::Given(_)) {
            return;
        }
        self.top(thread).awaited = Some(Awaited::Work(work));
        if kind == Kind::Task && state == State::Waiting && self.random.below(2) == 0 {
            self.start(thread, work);
        }
    }

    fn waited(&mut self, thread: usize, work: usize) {
        let waiting = self.top(thread).work;
        let Work { kind, number, last, flow, .. } = self.works[work];
        let ended = flow.map_or(last, |flow| self.works[flow].last);
        let event = self.event(&[self.works[waiting].last, last, ended]);
        self.works[waiting].last = event;
        let known = &mut self.threads[thread].known;
        match kind {
            Kind::Thread => known.take_over(THREAD | HandOverKey::from(number)),
            // It recorded its end already.
            Kind::Constructor(_) => {}
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
        if let (false, Kind::Given(hash)) = (is_called, self.works[work].kind) {
            self.end_first_part(thread, work, hash);
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

    /// What `Task.Run` was given comes to an `await`, or does not: then its task has ended, too.
    fn end_first_part(&mut self, thread: usize, work: usize, hash: u32) {
        if self.random.below(3) == 0 {
            return;
        }
        let (now, event, number) = (self.now(), self.step(thread), new_number());
        let known = &mut self.threads[thread].known;
        known.suspends(true, now);
        known.suspended(task(number));
        made_by_given(hash, number);
        let flow = self.add_work(Kind::Flow, number, event);
        self.works[work].flow = Some(flow);
    }

    /// One thing that one thread does.
    fn go_on(&mut self) {
        let thread = self.random.below(self.threads.len());
        match self.threads[thread].untold.take() {
            Some(Untold::Forked(key)) => return self.threads[thread].known.forked(key),
            Some(Untold::Suspended(key)) => return self.threads[thread].known.suspended(key),
            Some(Untold::Given(hash, number)) => {
                self.threads[thread].known.forked(task(number));
                return runs_given(hash, number);
            }
            None => {}
        }
        let startable = self.startable(thread);
        if !startable.is_empty() && self.random.below(3) == 0 {
            let work = startable[self.random.below(startable.len())];
            return self.start(thread, work);
        }
        let Some(frame) = self.threads[thread].frames.last() else { return };
        if let Some(awaited) = frame.awaited {
            return self.wake(thread, awaited);
        }
        match self.random.below(26) {
            25 => self.run_asynchronous(thread),
            0..=6 => self.access(thread, None),
            20 | 21 => self.use_class(thread),
            22 => self.signal(thread),
            23 | 24 => self.end_phase(thread),
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
    // Neither work given to the pool nor work that fits in no span is known.
    assert!(known > ordered / 2, "only {known} of {ordered} are known");
}
