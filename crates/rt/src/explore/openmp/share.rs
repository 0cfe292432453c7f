//! Work sharing: loops, sections, `single`.
//!
//! A thread that comes to the n-th such construct of its region uses the team's n-th share, whoever
//! came first. Threads need not be at the same one (`nowait`), so a team has several shares. A
//! share is reused when all threads have left it.

use core::cell::Cell;
use core::ffi::c_void;

use raddle_explore::OpKind;

use super::handing;
use super::team::Team;
use crate::detect::thread::current;
use crate::explore::sync::{begin_to_wait, tell};
use crate::explore::{Wait, memory, op, point};

/// How far apart threads of a team can be.
pub const SHARES: usize = 32;

#[repr(C)]
pub struct LoopShare {
    /// Its number in the region, from 1; 0: unused.
    index: Cell<u32>,
    /// The number of threads that are done with it.
    left: Cell<u32>,
    plan: Cell<Plan>,
    /// The next chunk that no thread has taken.
    next: Cell<u64>,
    /// The chunk whose turn it is, if chunks wait for those before them.
    turn: Cell<u64>,
    /// `copyprivate`: what one thread provides for all.
    copied: Cell<*mut c_void>,
}

/// Iterations in chunks, numbered from 0.
#[derive(Clone, Copy)]
struct Plan {
    start: u64,
    step: u64,
    total: u64,
    chunk: u64,
    /// Each thread has every n-th chunk, by its number.
    fixed: bool,
    ordered: bool,
}

const NOTHING: Plan = Plan { start: 0, step: 0, total: 0, chunk: 1, fixed: false, ordered: false };

/// A loop as written in the program.
pub struct LoopBounds {
    pub start: u64,
    pub end: u64,
    pub step: u64,
    pub up: bool,
    /// 0: as many chunks as threads.
    pub chunk: u64,
    pub fixed: bool,
    pub ordered: bool,
}

impl LoopShare {
    /// All zeros: there are many, and programs should not carry them in their files.
    pub const fn new() -> LoopShare {
        LoopShare {
            index: Cell::new(0),
            left: Cell::new(0),
            plan: Cell::new(Plan { chunk: 0, ..NOTHING }),
            next: Cell::new(0),
            turn: Cell::new(0),
            copied: Cell::new(core::ptr::null_mut()),
        }
    }

    pub fn clear(&self) {
        self.index.set(0);
    }

    pub fn is(&self, index: u32) -> bool {
        self.index.get() == index
    }

    /// Begins the only construct of a region with this many threads.
    pub fn begin_first(&self, bounds: &LoopBounds, threads: u32) {
        self.begin(1, bounds.plan(threads));
    }

    fn begin(&self, index: u32, plan: Plan) {
        self.index.set(index);
        self.left.set(0);
        self.plan.set(plan);
        self.next.set(0);
        self.turn.set(0);
        self.copied.set(core::ptr::null_mut());
    }

    fn at(&self) -> usize {
        &raw const *self as usize
    }

    fn turn_at(&self) -> usize {
        self.turn.as_ptr() as usize
    }

    /// The thread is done with it.
    fn leave(&self) {
        self.left.set(self.left.get() + 1);
    }
}

impl LoopBounds {
    fn plan(&self, threads: u32) -> Plan {
        let way = if self.up { self.end.wrapping_sub(self.start) } else { self.start.wrapping_sub(self.end) };
        let step = if self.up { self.step } else { self.step.wrapping_neg() }.max(1);
        // Signed. This is wrong only for the longest of unsigned loops, which nobody explores.
        let total = if (way as i64) <= 0 { 0 } else { way.div_ceil(step) };
        let chunk = if self.chunk != 0 { self.chunk } else { total.div_ceil(threads as u64).max(1) };
        let LoopBounds { start, step, fixed, ordered, .. } = *self;
        Plan { start, step, total, chunk, fixed, ordered }
    }

    /// Sections are numbered from 1.
    pub fn sections(n: u32) -> LoopBounds {
        let end = u64::from(n) + 1;
        LoopBounds { start: 1, end, step: 1, up: true, chunk: 1, fixed: false, ordered: false }
    }
}

/// The thread comes to the next share of its region, and begins it if it is the first there. True
/// if it is.
fn come_to(team: &'static Team, plan: Plan, pc: usize) -> bool {
    let mut t = current();
    t.explored_openmp.shares += 1;
    let index = t.explored_openmp.shares;
    let share = &team.shares[index as usize % SHARES];
    (t.explored_openmp.share, t.explored_openmp.chunk) = (share, u64::MAX);
    point(op(OpKind::AtomicRmw, share.at(), pc), Wait::Nothing, pc);
    if share.is(index) {
        return false;
    }
    if !share.is(0) && share.left.get() < team.n.get() {
        super::refuse();
    }
    share.begin(index, plan);
    true
}

/// The thread comes to a loop. Returns its first iterations.
pub fn start(bounds: &LoopBounds, pc: usize) -> Option<(u64, u64)> {
    let Some(team) = current().explored_openmp.team() else { super::refuse() };
    come_to(team, bounds.plan(team.n.get()), pc);
    next(pc)
}

/// The thread's next iterations: from and to.
pub fn next(pc: usize) -> Option<(u64, u64)> {
    let (Some(team), Some(share)) = (current().explored_openmp.team(), current().explored_openmp.share())
    else {
        super::refuse()
    };
    let (plan, had) = (share.plan.get(), current().explored_openmp.chunk);
    if plan.ordered && had != u64::MAX {
        wait_for_turn(share, pc);
        point(handing(OpKind::FutexWake, share.turn_at(), pc), Wait::Nothing, pc);
        share.turn.set(had + 1);
        tell(share.turn_at(), usize::MAX, pc);
    }
    let chunk = match (plan.fixed, had) {
        (true, u64::MAX) => u64::from(current().explored_openmp.number),
        (true, had) => had + u64::from(team.n.get()),
        (false, _) => {
            point(op(OpKind::AtomicRmw, share.at(), pc), Wait::Nothing, pc);
            let next = share.next.get();
            share.next.set(next + 1);
            next
        }
    };
    current().explored_openmp.chunk = chunk;
    let first = chunk.saturating_mul(plan.chunk);
    if first >= plan.total {
        return None;
    }
    let last = (first + plan.chunk).min(plan.total);
    let value = |i: u64| plan.start.wrapping_add(i.wrapping_mul(plan.step));
    Some((value(first), value(last)))
}

/// The thread is done with the loop or the sections.
pub fn ends() {
    if let Some(share) = current().explored_openmp.share() {
        share.leave();
        current().explored_openmp.share = core::ptr::null();
    }
}

/// True if the thread executes the `single` block.
pub fn single(pc: usize) -> bool {
    let Some(team) = current().explored_openmp.team() else { return true };
    let first = come_to(team, NOTHING, pc);
    ends();
    first
}

/// Null if the thread executes the block and must set the data for all. Otherwise the data that was
/// set.
pub fn copy_start(pc: usize) -> *mut c_void {
    let Some(team) = current().explored_openmp.team() else { return core::ptr::null_mut() };
    if come_to(team, NOTHING, pc) {
        return core::ptr::null_mut();
    }
    let Some(share) = current().explored_openmp.share() else { super::refuse() };
    let at = share.copied.as_ptr() as usize;
    point(handing(OpKind::FutexWait, at, pc), Wait::Nothing, pc);
    while share.copied.get().is_null() {
        begin_to_wait(false);
        point(handing(OpKind::FutexWait, at, pc), Wait::Told(at), pc);
    }
    ends();
    share.copied.get()
}

pub fn copy_end(data: *mut c_void, pc: usize) {
    let Some(share) = current().explored_openmp.share() else { return };
    let at = share.copied.as_ptr() as usize;
    point(handing(OpKind::FutexWake, at, pc), Wait::Nothing, pc);
    share.copied.set(data);
    tell(at, usize::MAX, pc);
    ends();
}

fn wait_for_turn(share: &LoopShare, pc: usize) {
    let at = share.turn_at();
    point(handing(OpKind::FutexWait, at, pc), Wait::Nothing, pc);
    while share.turn.get() != current().explored_openmp.chunk {
        begin_to_wait(false);
        point(handing(OpKind::FutexWait, at, pc), Wait::Told(at), pc);
    }
}

/// Begins the part of an iteration that comes after that of the previous iteration.
pub fn ordered_start(pc: usize) {
    if let Some(share) = current().explored_openmp.share().filter(|s| s.plan.get().ordered) {
        wait_for_turn(share, pc);
    }
}

pub fn ordered_end() {
    if let Some(share) = current().explored_openmp.share() {
        memory::released(share.turn_at());
    }
}
