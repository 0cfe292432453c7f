//! Regions and barriers.
//!
//! Worker threads outlive the region, as libgomp's do: between regions they wait and do not
//! disturb. A team is free again when its creator has passed the barrier at the end. Others may
//! still be leaving that barrier, but they only read the number of barriers so far, which only
//! grows.

use core::cell::Cell;
use core::ffi::c_void;

use raddle_explore::{MAX_THREADS, OpKind};

use super::share::{LoopBounds, LoopShare, SHARES};
use super::tasks::{self, Task};
use super::{Own, handing};
use crate::detect::thread::current;
use crate::explore::sync::{begin_to_wait, tell};
use crate::explore::{Wait, memory, op, point, state, threads};
use crate::interpose::openmp::OutlinedFunction;
use crate::sys::Shared;

/// A program does not mean the machine's number of processors, and more threads would only make the
/// search longer.
const DEFAULT: u32 = 2;

/// All fields are cells: other threads change them at each scheduling point.
#[repr(C)]
pub struct Team {
    used: Cell<bool>,
    function: Cell<usize>,
    data: Cell<usize>,
    /// The number of threads. Its address is the object of the barriers, and of all waits in the
    /// team: a barrier's memory begins with its count.
    pub n: Cell<u32>,
    level: Cell<u32>,
    /// The region is one loop, or sections: its first share.
    is_share: Cell<bool>,
    arrived: Cell<u32>,
    /// The number of barriers that all threads have reached.
    passed: Cell<u32>,
    /// The number of unfinished deferred tasks.
    pub unfinished: Cell<u32>,
    /// The object of steps that change the tasks.
    queue: Cell<u32>,
    pub shares: [LoopShare; SHARES],
}

#[repr(C)]
struct Worker {
    /// Its logical thread; 0: not made yet.
    thread: Cell<usize>,
    /// The team that it is to join next, until it has joined.
    job: Cell<*const Team>,
    number: Cell<u32>,
    /// The team that it belongs to; null: the worker is free.
    of: Cell<*const Team>,
}

static TEAMS: Shared<[Team; MAX_THREADS]> = Shared::new(
    [const {
        Team {
            used: Cell::new(false),
            function: Cell::new(0),
            data: Cell::new(0),
            n: Cell::new(0),
            level: Cell::new(0),
            is_share: Cell::new(false),
            arrived: Cell::new(0),
            passed: Cell::new(0),
            unfinished: Cell::new(0),
            queue: Cell::new(0),
            shares: [const { LoopShare::new() }; SHARES],
        }
    }; MAX_THREADS],
);

static WORKERS: Shared<[Worker; MAX_THREADS]> = Shared::new(
    [const {
        Worker {
            thread: Cell::new(0),
            job: Cell::new(core::ptr::null()),
            number: Cell::new(0),
            of: Cell::new(core::ptr::null()),
        }
    }; MAX_THREADS],
);

fn workers() -> &'static [Worker; MAX_THREADS] {
    // SAFETY: one thread runs at a time, and everything is in cells.
    unsafe { &*WORKERS.get() }
}

impl Team {
    fn key(&self) -> usize {
        self.n.as_ptr() as usize
    }

    fn take() -> &'static Team {
        // SAFETY: one thread runs at a time, and everything is in cells.
        let teams = unsafe { &*TEAMS.get() };
        let Some(team) = teams.iter().find(|t| !t.used.get()) else { super::refuse() };
        team.used.set(true);
        team.arrived.set(0);
        team.unfinished.set(0);
        team.shares.iter().for_each(LoopShare::clear);
        team
    }

    /// Something has changed that threads of the team may wait for.
    pub fn changed(&self, pc: usize) {
        tell(self.key(), usize::MAX, pc);
    }

    /// Waits for the next change.
    pub fn wait_for_change(&self, pc: usize) {
        begin_to_wait(false);
        point(op(OpKind::AtomicRmw, self.queue.as_ptr() as usize, pc), Wait::Told(self.key()), pc);
    }

    /// Called before the tasks are read or changed.
    pub fn looks_at_tasks(&self, pc: usize) {
        point(op(OpKind::AtomicRmw, self.queue.as_ptr() as usize, pc), Wait::Nothing, pc);
    }

    /// A task is finished: the barrier may have waited for it.
    pub fn finished_task(&self, pc: usize) {
        self.looks_at_tasks(pc);
        memory::released(self.key());
        self.unfinished.set(self.unfinished.get() - 1);
        self.pass_if_all_there();
        self.changed(pc);
    }

    fn pass_if_all_there(&self) {
        if self.arrived.get() == self.n.get() && self.unfinished.get() == 0 {
            self.arrived.set(0);
            self.passed.set(self.passed.get().wrapping_add(1));
        }
    }
}

/// The number of threads of a region that asks for `asked` (0: no request).
fn threads_for(asked: u32) -> u32 {
    if current().explored_openmp.level > 0 {
        return 1;
    }
    if asked != 0 { asked } else { max_threads() }
}

pub fn max_threads() -> u32 {
    match current().explored_openmp.wanted {
        0 => from_environment().unwrap_or(DEFAULT),
        n => n,
    }
}

/// The first number of `OMP_NUM_THREADS`.
fn from_environment() -> Option<u32> {
    // SAFETY: a read that takes no lock; the value is a string.
    let value = unsafe {
        let value = libc::getenv(c"OMP_NUM_THREADS".as_ptr());
        if value.is_null() { c"" } else { core::ffi::CStr::from_ptr(value) }
    };
    let digits = value.to_bytes().iter().take_while(|b| b.is_ascii_digit());
    let n = digits.fold(0u32, |n, d| n.saturating_mul(10).saturating_add(u32::from(d - b'0')));
    (n > 0).then_some(n)
}

pub fn set_threads(n: u32) {
    current().explored_openmp.wanted = n;
}

pub fn thread_number() -> u32 {
    current().explored_openmp.number
}

pub fn size() -> u32 {
    current().explored_openmp.team().map_or(1, |t| t.n.get())
}

pub fn level() -> u32 {
    current().explored_openmp.level
}

/// Runs `function(data)` in each thread of a team. `first`: the region is this one loop, or these
/// sections.
pub fn region(
    function: OutlinedFunction,
    data: *mut c_void,
    asked: u32,
    first: Option<&LoopBounds>,
    pc: usize,
) {
    let n = threads_for(asked);
    if n > 1 {
        crate::explore::begin(pc);
    }
    let team = Team::take();
    let before = current().explored_openmp;
    team.function.set(function as usize);
    team.data.set(data as usize);
    team.n.set(n);
    team.level.set(before.level + 1);
    team.is_share.set(first.is_some());
    if let Some(bounds) = first {
        team.shares[1].begin_first(bounds, n);
    }
    for number in 1..n {
        start_worker(team, number, pc);
    }
    run(team, 0, pc);
    for w in workers().iter().filter(|w| core::ptr::eq(w.of.get(), team)) {
        w.of.set(core::ptr::null());
    }
    team.used.set(false);
    current().explored_openmp = before;
}

/// Runs the part of one thread, with the barrier at the end.
fn run(team: &'static Team, number: u32, pc: usize) {
    let task = Task::begin(team);
    // The compiler's code for a region that is one loop asks for chunks at once.
    let first = team.is_share.get();
    current().explored_openmp = Own {
        team,
        number,
        wanted: current().explored_openmp.wanted,
        level: team.level.get(),
        shares: u32::from(first),
        share: if first { &team.shares[1] } else { core::ptr::null() },
        chunk: u64::MAX,
        task,
    };
    // SAFETY: the compiler's function and its data.
    unsafe {
        core::mem::transmute::<usize, OutlinedFunction>(team.function.get())(team.data.get() as *mut c_void);
    }
    barrier(pc);
    task.done();
    let mut t = current();
    let o = &mut t.explored_openmp;
    (o.team, o.task, o.level) = (core::ptr::null(), core::ptr::null(), 0);
}

fn start_worker(team: &'static Team, number: u32, pc: usize) {
    let Some(worker) = workers().iter().find(|w| w.of.get().is_null()) else { super::refuse() };
    worker.of.set(team);
    let at = &raw const *worker as usize;
    point(handing(OpKind::FutexWake, at, pc), Wait::Nothing, pc);
    worker.number.set(number);
    worker.job.set(team);
    if worker.thread.get() != 0 {
        state().threads[worker.thread.get()].told = true;
        return;
    }
    let mut handle = 0usize;
    // SAFETY: a function that takes the worker, and no attributes.
    let failed =
        unsafe { threads::create(&mut handle, core::ptr::null(), work as *const () as usize, at, false, pc) };
    let Some(thread) = threads::by_handle(handle).filter(|_| failed == 0) else { super::refuse() };
    worker.thread.set(thread);
    let mut s = state();
    s.threads[thread].detached = true;
    // Its first step is at the program's function.
    s.pending[thread] = op(OpKind::Start, thread, team.function.get());
}

/// The life of a worker.
extern "C-unwind" fn work(at: usize) -> usize {
    // SAFETY: the worker that this thread was made for.
    let worker = unsafe { &*(at as *const Worker) };
    loop {
        point(handing(OpKind::FutexWait, at, 0), Wait::Nothing, 0);
        while worker.job.get().is_null() {
            begin_to_wait(false);
            point(handing(OpKind::FutexWait, at, 0), Wait::Callback, 0);
        }
        // SAFETY: teams are never freed.
        let team = unsafe { &*worker.job.replace(core::ptr::null()) };
        // The location of a step is a return address.
        run(team, worker.number.get(), team.function.get() + 1);
    }
}

/// All threads of the team wait for each other and for the tasks, and run these meanwhile.
pub fn barrier(pc: usize) {
    let Some(team) = current().explored_openmp.team().filter(|t| t.n.get() > 1) else { return };
    let key = team.key();
    point(op(OpKind::Barrier, key, pc), Wait::Nothing, pc);
    if team.unfinished.get() != 0 {
        team.looks_at_tasks(pc);
    }
    let passed = team.passed.get();
    team.arrived.set(team.arrived.get() + 1);
    team.pass_if_all_there();
    team.changed(pc);
    while team.passed.get() == passed {
        if !tasks::run_one(team, tasks::TaskChoice::Any, pc) && team.passed.get() == passed {
            team.wait_for_change(pc);
        }
    }
    // A step with a wait is a departure; this wait is always over.
    point(op(OpKind::Barrier, key, pc), Wait::Initialiser(key, 0), pc);
}
