//! Little concurrent programs as data, executed under the pilot: what the runtime and a target are
//! to the strategies, in a few hundred lines. Also every outcome of such a program by brute force,
//! as the oracle.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod programs;

use std::collections::{BTreeSet, HashSet};
use std::hash::{Hash, Hasher};

use raddle_explore::hidden::{Act, HiddenRaces, Live};
use raddle_explore::state_key::KeyHash;
use raddle_explore::{
    LogicalThread, Op, OpKind, Order, Outcome, Pilot, StateKey, Step, Tail, ThreadSet, Trace, TraceBuf,
    TraceView, View,
};

/// One instruction. Those on registers alone are no scheduling points: they run along with the one
/// before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ins {
    Lock(usize),
    Unlock(usize),
    /// Register := whether the lock was taken.
    TryLock(usize, usize),
    Load(usize, usize),
    /// Cell := register + constant.
    Store(usize, usize, i64),
    StoreConst(usize, i64),
    /// Register := cell, cell += constant, at once.
    Rmw(usize, usize, i64),
    /// Cell, register with what is expected, constant to store, register := whether it was stored.
    Cas(usize, usize, i64, usize),
    /// Condition variable, lock.
    Wait(usize, usize),
    Signal(usize),
    Broadcast(usize),
    SemWait(usize),
    SemPost(usize),
    Yield,
    Spawn(usize),
    Join(usize),
    /// To the target if the register equals the constant.
    JumpIf(usize, i64, usize),
    JumpIfNot(usize, i64, usize),
    Jump(usize),
    Assert(usize, i64),
    /// Register a must be register b + constant.
    AssertSum(usize, usize, i64),
    Fail,
    Set(usize, i64),
    Add(usize, i64),
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub name: String,
    /// Pieces of code; threads run one of them, and may share it.
    pub codes: Vec<Vec<Ins>>,
    /// The code of each thread; thread 0 is running at first.
    pub threads: Vec<usize>,
    pub semaphores: Vec<i64>,
    /// Each wait may end once for no reason.
    pub spurious: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Status {
    Unborn,
    Starting,
    Running,
    /// On this condition variable, with this lock to take again; whether a spurious wake-up is
    /// still possible.
    Waiting(usize, usize, bool),
    Woken(usize, usize),
    Ended,
}

const REGISTERS: usize = 4;
const OBJECTS: usize = 16;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Thread {
    status: Status,
    pc: usize,
    registers: [i64; REGISTERS],
}

/// The state of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    threads: Vec<Thread>,
    cells: [i64; OBJECTS],
    locks: [Option<usize>; OBJECTS],
    semaphores: Vec<i64>,
    failed: bool,
}

/// Feeds what is hashed into a key.
struct Words(KeyHash);

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0.finish().0[0]
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.0.add((*b).into()));
    }
}

/// How an execution ended, with all that it computed.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Result {
    pub outcome: String,
    pub cells: Vec<i64>,
    pub registers: Vec<i64>,
}

// Objects are numbered apart, as addresses are.
const CELL: u64 = 0x1000;
const LOCK: u64 = 0x2000;
const COND: u64 = 0x3000;
const SEM: u64 = 0x4000;
/// The longest execution.
pub const MAX_STEPS: usize = 4000;

fn object(space: u64, i: usize) -> u64 {
    space + 8 * i as u64
}

impl State {
    pub fn new(program: &Program) -> State {
        let thread = |i: usize| Thread {
            status: if i == 0 { Status::Running } else { Status::Unborn },
            pc: 0,
            registers: [0; REGISTERS],
        };
        let mut state = State {
            threads: (0..program.threads.len()).map(thread).collect(),
            cells: [0; OBJECTS],
            locks: [None; OBJECTS],
            semaphores: program.semaphores.clone(),
            failed: false,
        };
        state.run_local(program, 0);
        state
    }

    /// The key of the program's state alone.
    fn key(&self) -> KeyHash {
        let mut hasher = Words(KeyHash::new(0));
        self.hash(&mut hasher);
        hasher.0
    }

    fn code<'p>(&self, program: &'p Program, t: usize) -> Option<&'p Ins> {
        program.codes[program.threads[t]].get(self.threads[t].pc)
    }

    /// What the thread does next, if it is alive.
    pub fn pending(&self, program: &Program, t: usize) -> Option<Op> {
        use Ins::*;
        let site = (program.threads[t] * 1000 + self.threads[t].pc + 1) as u32;
        let op = |kind, space, i| Op::new(kind, object(space, i), site);
        Some(match self.threads[t].status {
            Status::Unborn | Status::Ended => return None,
            Status::Starting => Op::new(OpKind::Start, t as u64, site),
            Status::Waiting(c, m, _) => op(OpKind::Spurious, COND, c).with_other(object(LOCK, m)),
            Status::Woken(c, m) => op(OpKind::CondWake, COND, c).with_other(object(LOCK, m)),
            Status::Running => match self.code(program, t) {
                None => Op::new(OpKind::Exit, t as u64, site),
                Some(ins) => match *ins {
                    Lock(m) => op(OpKind::Lock, LOCK, m),
                    Unlock(m) => op(OpKind::Unlock, LOCK, m),
                    TryLock(m, _) => op(OpKind::TryLock, LOCK, m),
                    Load(c, _) => op(OpKind::DataRead, CELL, c),
                    Store(c, _, _) | StoreConst(c, _) => op(OpKind::DataWrite, CELL, c),
                    Rmw(c, _, _) | Cas(c, _, _, _) => op(OpKind::AtomicRmw, CELL, c),
                    Wait(c, m) => op(OpKind::CondWait, COND, c).with_other(object(LOCK, m)),
                    Signal(c) => op(OpKind::CondSignal, COND, c),
                    Broadcast(c) => op(OpKind::CondBroadcast, COND, c),
                    SemWait(s) => op(OpKind::SemWait, SEM, s),
                    SemPost(s) => op(OpKind::SemPost, SEM, s),
                    Yield => Op::new(OpKind::Yield, 0, site),
                    Spawn(u) => Op::new(OpKind::Create, u as u64, site),
                    Join(u) => Op::new(OpKind::Join, u as u64, site),
                    _ => unreachable!("local instructions are never pending"),
                },
            },
        })
    }

    /// The plain access that the thread makes next, if that is what it does.
    fn plain(&self, program: &Program, t: usize) -> Option<Op> {
        let data = |op: &Op| matches!(op.kind(), OpKind::DataRead | OpKind::DataWrite);
        self.pending(program, t).filter(|op| !self.is_over() && data(op))
    }

    /// Whether anybody but the thread is.
    fn is_under_way(&self, t: usize) -> bool {
        let live = |(i, u): &(usize, &Thread)| *i != t && !matches!(u.status, Status::Unborn | Status::Ended);
        self.threads.iter().enumerate().any(|u| live(&u))
    }

    pub fn is_enabled(&self, program: &Program, t: usize) -> bool {
        match self.threads[t].status {
            Status::Unborn | Status::Ended => false,
            Status::Starting => true,
            Status::Waiting(_, _, can_wake) => can_wake,
            Status::Woken(_, m) => self.locks[m].is_none(),
            Status::Running => match self.code(program, t) {
                Some(Ins::Lock(m)) => self.locks[*m].is_none(),
                Some(Ins::SemWait(s)) => self.semaphores[*s] > 0,
                Some(Ins::Join(u)) => self.threads[*u].status == Status::Ended,
                _ => true,
            },
        }
    }

    fn is_reluctant(&self, t: usize) -> bool {
        matches!(self.threads[t].status, Status::Waiting(..))
    }

    pub fn is_over(&self) -> bool {
        self.failed || self.threads[0].status == Status::Ended
    }

    /// The thread makes its pending step; `choose` decides between so many values.
    pub fn step(&mut self, program: &Program, t: usize, choose: &mut dyn FnMut(u16) -> u16) {
        match self.threads[t].status {
            Status::Starting => self.threads[t].status = Status::Running,
            Status::Waiting(c, m, _) => self.threads[t].status = Status::Woken(c, m),
            Status::Woken(_, m) => {
                self.locks[m] = Some(t);
                self.threads[t].status = Status::Running;
            }
            Status::Running => match self.code(program, t).copied() {
                None => self.threads[t].status = Status::Ended,
                Some(ins) => {
                    self.threads[t].pc += 1;
                    self.execute(program, t, ins, choose);
                }
            },
            Status::Unborn | Status::Ended => unreachable!("not alive"),
        }
        if self.threads[t].status == Status::Running {
            self.run_local(program, t);
        }
    }

    fn execute(&mut self, program: &Program, t: usize, ins: Ins, choose: &mut dyn FnMut(u16) -> u16) {
        use Ins::*;
        let spurious = program.spurious;
        let r = &mut self.threads[t].registers;
        match ins {
            Lock(m) => self.locks[m] = Some(t),
            Unlock(m) => self.locks[m] = None,
            TryLock(m, x) => {
                r[x] = i64::from(self.locks[m].is_none());
                self.locks[m] = self.locks[m].or(Some(t));
            }
            Load(c, x) => r[x] = self.cells[c],
            Store(c, x, k) => self.cells[c] = r[x] + k,
            StoreConst(c, k) => self.cells[c] = k,
            Rmw(c, x, k) => {
                r[x] = self.cells[c];
                self.cells[c] += k;
            }
            Cas(c, x, k, y) => {
                r[y] = i64::from(self.cells[c] == r[x]);
                self.cells[c] = if r[y] == 1 { k } else { self.cells[c] };
            }
            Wait(c, m) => {
                self.locks[m] = None;
                self.threads[t].status = Status::Waiting(c, m, spurious);
            }
            Signal(c) => {
                let waiters = self.waiters(c);
                let n = waiters.len() as u16;
                let which = if n > 1 { choose(n) } else { 0 };
                if let Some(&u) = waiters.get(usize::from(which)) {
                    self.wake(u);
                }
            }
            Broadcast(c) => self.waiters(c).into_iter().for_each(|u| self.wake(u)),
            SemWait(s) => self.semaphores[s] -= 1,
            SemPost(s) => self.semaphores[s] += 1,
            Spawn(u) => self.threads[u].status = Status::Starting,
            _ => {}
        }
    }

    fn waiters(&self, cond: usize) -> Vec<usize> {
        let waits = |t: &usize| matches!(self.threads[*t].status, Status::Waiting(c, _, _) if c == cond);
        (0..self.threads.len()).filter(waits).collect()
    }

    fn wake(&mut self, t: usize) {
        if let Status::Waiting(c, m, _) = self.threads[t].status {
            self.threads[t].status = Status::Woken(c, m);
        }
    }

    fn run_local(&mut self, program: &Program, t: usize) {
        use Ins::*;
        while let (false, Some(ins)) = (self.failed, self.code(program, t).copied()) {
            let thread = &mut self.threads[t];
            let r = &mut thread.registers;
            let mut to = thread.pc + 1;
            match ins {
                JumpIf(x, k, target) if r[x] == k => to = target,
                JumpIfNot(x, k, target) if r[x] != k => to = target,
                JumpIf(..) | JumpIfNot(..) => {}
                Jump(target) => to = target,
                Assert(x, k) => self.failed = r[x] != k,
                AssertSum(a, b, k) => self.failed = r[a] != r[b] + k,
                Fail => self.failed = true,
                Set(x, k) => r[x] = k,
                Add(x, k) => r[x] += k,
                _ => return,
            }
            self.threads[t].pc = to;
        }
    }

    pub fn result(&self, outcome: &str) -> Result {
        Result {
            outcome: outcome.to_string(),
            cells: self.cells.to_vec(),
            registers: self.threads.iter().flat_map(|t| t.registers).collect(),
        }
    }
}

/// What a finished state is called; nothing while it can go on.
fn verdict(state: &State, enabled: &ThreadSet, reluctant: &ThreadSet) -> Option<Outcome> {
    if state.failed {
        return Some(Outcome::Failed { what: 1 });
    }
    if state.is_over() {
        return Some(Outcome::Passed);
    }
    let mut able = *enabled;
    able.subtract(reluctant);
    able.is_empty().then_some(Outcome::Deadlock)
}

fn sets(program: &Program, state: &State) -> (ThreadSet, ThreadSet) {
    let all = || 0..program.threads.len();
    let id = |t: usize| LogicalThread(t as u16);
    let enabled = all().filter(|t| state.is_enabled(program, *t)).map(id).collect();
    let reluctant = all().filter(|t| state.is_reluctant(*t)).map(id).collect();
    (enabled, reluctant)
}

/// Which plain accesses are points, and what is seen of the others.
pub struct Watch {
    pub points: HashSet<u32>,
    pub hidden: Box<HiddenRaces>,
    /// Places of accesses that race and are no points.
    pub found: BTreeSet<u32>,
    /// Races of accesses that are points already, which there must not be.
    pub unordered: bool,
    pub early: bool,
    pub forgot: bool,
}

impl Watch {
    pub fn new() -> Watch {
        let mut hidden = Box::<HiddenRaces>::new_uninit();
        // SAFETY: zeros are an empty detector.
        let hidden = unsafe {
            hidden.as_mut_ptr().write_bytes(0, 1);
            hidden.assume_init()
        };
        let (points, found) = (HashSet::new(), BTreeSet::new());
        Watch { points, hidden, found, unordered: false, early: false, forgot: false }
    }

    fn access(&mut self, t: usize, op: &Op, step: bool) {
        let atomic = op.kind() == OpKind::AtomicRmw;
        let act = match (atomic, op.is_memory_write()) {
            (true, _) => Act::AtomicWrite,
            (false, true) => Act::Write,
            (false, false) => Act::Read,
        };
        if let Some(pair) = self.hidden.access(t, op.object, 0xff, (act, step), u64::from(op.site)) {
            let places: Vec<u32> = pair.iter().filter(|a| !a.is_step()).map(|a| a.pc as u32).collect();
            self.unordered |= places.is_empty();
            self.found.extend(places);
        }
    }
}

/// What looks on while a machine runs.
trait Watcher {
    /// The thread has made this step.
    fn after(&mut self, program: &Program, state: &mut State, t: usize, op: &Op);

    fn key(&self, program: &Program, state: &State) -> StateKey;
}

struct Unwatched;

impl Watcher for Unwatched {
    fn after(&mut self, _: &Program, _: &mut State, _: usize, _: &Op) {}

    fn key(&self, _: &Program, state: &State) -> StateKey {
        state.key().finish()
    }
}

impl Watcher for Watch {
    fn after(&mut self, program: &Program, state: &mut State, t: usize, op: &Op) {
        self.hidden.step(t, op);
        if op.is_memory_read() || op.is_memory_write() {
            self.access(t, op, true);
        }
        while let Some(next) = state.plain(program, t).filter(|o| !self.points.contains(&o.site)) {
            state.step(program, t, &mut |_| unreachable!("an access chooses nothing"));
            self.access(t, &next, false);
        }
        self.early |= state.failed && state.is_under_way(t);
    }

    fn key(&self, _: &Program, state: &State) -> StateKey {
        let live = state.threads.iter().enumerate().filter_map(|(i, t)| match t.status {
            Status::Unborn | Status::Ended => None,
            Status::Starting => Some(Live::Created(i)),
            _ => Some(Live::Begun(i)),
        });
        let mut key = state.key();
        self.hidden.add_state(live, &mut key);
        key.finish()
    }
}

/// The state in the midst of a step of the thread.
fn amid(StateKey([a, b]): StateKey, t: LogicalThread) -> StateKey {
    let mut key = KeyHash::new(a);
    key.add(b);
    key.add(u64::from(t.0));
    key.finish()
}

/// Executes orders; what the target is in earnest.
pub struct Machine {
    pilot: Box<Pilot>,
    steps: Vec<Step>,
    wide: Vec<u64>,
    pub executed: u64,
    /// The keys of the states before each step of the last watched execution.
    pub keys: Vec<StateKey>,
}

impl Machine {
    pub fn new() -> Machine {
        Machine {
            pilot: Box::new(Pilot::new()),
            steps: vec![Step::default(); 2 * MAX_STEPS],
            wide: vec![0; 64 * MAX_STEPS],
            executed: 0,
            keys: Vec::new(),
        }
    }

    /// The trace of the last execution, with its keys.
    pub fn view<'a>(&'a self, trace: &'a Trace) -> TraceView<'a> {
        TraceView { keys: &self.keys, ..trace.view() }
    }

    /// With a scheduling point at every access.
    pub fn run(&mut self, program: &Program, order: &Order) -> (Trace, Result) {
        self.run_with(program, order, &mut Unwatched)
    }

    /// As the runtime does it: plain accesses at other places than `watch.points` run along with
    /// the step before.
    pub fn run_watched(&mut self, program: &Program, order: &Order, watch: &mut Watch) -> (Trace, Result) {
        watch.hidden.reset();
        let (trace, result) = self.run_with(program, order, watch);
        watch.forgot |= watch.hidden.forgot();
        (trace, result)
    }

    fn run_with(&mut self, program: &Program, order: &Order, watcher: &mut dyn Watcher) -> (Trace, Result) {
        let Machine { pilot, steps, wide, executed, keys } = self;
        *executed += 1;
        keys.clear();
        let mut buf = TraceBuf::new(steps, wide);
        pilot.begin(&order.course());
        let mut state = State::new(program);
        let outcome = loop {
            let (enabled, reluctant) = sets(program, &state);
            if let Some(outcome) = verdict(&state, &enabled, &reluctant) {
                break outcome;
            }
            if buf.len() >= MAX_STEPS {
                break Outcome::StepLimit;
            }
            let pending: Vec<Op> =
                (0..program.threads.len()).map(|t| state.pending(program, t).unwrap_or_default()).collect();
            let view = View { enabled: &enabled, reluctant: &reluctant, pending: &pending };
            let t = pilot.choose(&order.prefix, &view);
            assert!(enabled.contains(t), "the pilot chose {t:?}, which is not enabled");
            pilot.record(&view, &mut buf).expect("the trace has room");
            let is_keyed = order.tail == Tail::Keyed;
            let key = if is_keyed { watcher.key(program, &state) } else { StateKey::NONE };
            keys.push(key);
            let site = pending[t.index()].site;
            state.step(program, t.index(), &mut |n| {
                let v = pilot.choose_value(&order.prefix, n);
                let op = Op::new(OpKind::Choose, 0, site);
                pilot.record_value(op, n, v, &mut buf).expect("the trace has room");
                keys.push(amid(key, t));
                v
            });
            watcher.after(program, &mut state, t.index(), &pending[t.index()]);
        };
        let (n, w) = (buf.len(), buf.wide_len());
        let trace = Trace {
            steps: steps[..n].to_vec(),
            wide: wide[..w].to_vec(),
            outcome,
            divergence: pilot.divergence(),
        };
        (trace, state.result(&format!("{outcome:?}")))
    }
}

/// Every way the program can end, by looking at every state. For programs without yields: this
/// knows no fairness.
pub fn brute_force(program: &Program) -> BTreeSet<Result> {
    let mut results = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut todo = vec![State::new(program)];
    while let Some(state) = todo.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let (enabled, reluctant) = sets(program, &state);
        if let Some(outcome) = verdict(&state, &enabled, &reluctant) {
            results.insert(state.result(&format!("{outcome:?}")));
            continue;
        }
        for t in enabled.iter() {
            let (mut value, mut of) = (0, 1);
            while value < of {
                let mut next = state.clone();
                next.step(program, t.index(), &mut |n| {
                    of = n;
                    value
                });
                todo.push(next);
                value += 1;
            }
        }
    }
    results
}
