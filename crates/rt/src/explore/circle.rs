//! Threads that go round without changing anything.
//!
//! A thread that comes back to a step of its own in the very state in which it made it before can
//! do no more by itself: it polls, and waits for others. That is as good as a yield (section 4.3 of
//! the paper), so such a step is marked as one, and fair scheduling lets the others in. `for (;;) {
//! lock; if (ready) break; unlock; }` is the example. A loop that counts is in another state each
//! time.
//!
//! The state is the registers that a call keeps, what lies on the stack from the call on ([`STACK`]
//! bytes of it), and the words elsewhere that the thread has written to since: each must have its
//! old value when the step comes round again. Of what a lap consists is told by its steps, no more
//! than [`LONGEST`].
//!
//! What is not seen: writes by code that is not instrumented. In a program that is not instrumented
//! at all a thread must therefore go round [`MANY`] times. [`super::State::progressed`] has the
//! last step that was no such lap: by this the driver tells a livelock from work that takes long.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

use raddle_explore::{Op, OpKind};
use raddle_wire::explore::flag;

use super::{has, state};
use crate::detect::thread::{KEPT, current};

/// Steps of one lap, at most.
const LONGEST: u32 = 64;
/// Words written in one lap, at most.
const WORDS: usize = 12;
/// How much of the stack is compared.
const STACK: usize = 16 << 10;
/// How far below the stack pointer calls reach.
const BELOW: usize = 64 << 10;
/// Laps after which a program that is not instrumented is believed to change nothing.
const MANY: u32 = 20;

/// A lap in which the thread looks at a clock is progress, until there have been so many looks: by
/// then more time has passed than [`super::time::SLOWEST`], and the thread does not wait for a
/// moment.
const CLOCK_LOOKS: u32 = 2000;

/// How a thread goes round.
#[derive(Clone, Copy)]
pub struct Circle {
    /// The step at which laps begin, and the state in which it was last made.
    from: Op,
    private: u64,
    /// Steps since, and laps without a change.
    steps: u32,
    laps: u32,
    /// It has looked at a clock since.
    looked: bool,
    /// Granules written since the first lap, and what the first `known` of them held when the last
    /// lap ended.
    count: u32,
    known: u32,
    at: [usize; WORDS],
    held: [u64; WORDS],
}

impl Circle {
    pub const NONE: Circle = Circle {
        from: Op::new(OpKind::Start, 0, 0),
        private: 0,
        steps: 0,
        laps: 0,
        looked: false,
        count: 0,
        known: 0,
        at: [0; WORDS],
        held: [0; WORDS],
    };

    fn begin(&mut self, from: Op, private: u64) {
        *self = Circle { from, private, ..Circle::NONE };
    }

    fn is_over(&self, op: &Op) -> bool {
        (op.kind(), op.object, op.site) == (self.from.kind(), self.from.object, self.from.site)
    }

    fn write(&mut self, address: usize) {
        let granule = address & !7;
        let n = self.count as usize;
        if n > WORDS || self.at[..n].contains(&granule) {
            return;
        }
        if n < WORDS {
            // Not read now: the write may be the one that the program crashes at.
            self.at[n] = granule;
        }
        self.count += 1;
    }

    /// The step has come round: one more lap without a change, or none. `private`: what
    /// [`private_state`] says now; `clock_looks`: how often anybody has looked at a clock.
    fn come_round(&mut self, private: u64, clock_looks: u32) {
        let timed = self.looked && clock_looks < CLOCK_LOOKS;
        let overflown = self.count as usize > WORDS;
        if overflown {
            // Not all of them are listed.
            (self.count, self.known) = (0, 0);
        }
        let mut same = private == self.private && !overflown && !timed && self.known == self.count;
        for i in 0..self.count as usize {
            let now = read(self.at[i]);
            same &= now == self.held[i];
            self.held[i] = now;
        }
        self.known = self.count;
        (self.private, self.steps, self.looked) = (private, 0, false);
        self.laps = if same { self.laps + 1 } else { 0 };
    }
}

/// The frames of `main` lie below this.
static MAIN_TOP: AtomicUsize = AtomicUsize::new(0);

/// Where `main` is.
static MAIN: AtomicUsize = AtomicUsize::new(0);

/// `main` is about to be called from a frame that has this in it.
pub fn main_begins(main: usize, frame: usize) {
    MAIN.store(main, Relaxed);
    MAIN_TOP.store(frame, Relaxed);
}

/// The program's `main`; 0: it has not begun.
pub fn main_at() -> usize {
    MAIN.load(Relaxed)
}

/// Writes of the running thread count: it is in a lap.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// The running thread is about to write.
#[inline(always)]
pub fn writes(address: usize) {
    if WATCHED.load(Relaxed) {
        write(address);
    }
}

#[cold]
#[inline(never)]
fn write(address: usize) {
    let mut s = state();
    // The own stack is compared as a whole, and what lies below belongs to calls that will have
    // returned.
    let low = current().kept[0].wrapping_sub(BELOW);
    if s.running && address.wrapping_sub(low) >= STACK + BELOW {
        s.current_thread_mut().circle.write(address);
    }
}

/// The running thread is about to write to so many bytes: more than a few words are not compared.
#[inline]
pub fn writes_bytes(address: usize, len: usize) {
    if len <= 8 {
        writes(address);
    } else if WATCHED.load(Relaxed) {
        let mut s = state();
        s.current_thread_mut().circle.count = WORDS as u32 + 1;
    }
}

/// The running thread is about to make the step `op`. The same, marked as a yield if the thread has
/// only gone round.
#[inline]
pub fn pass(op: Op) -> Op {
    let mut s = state();
    let waits = match effect(op.kind()) {
        Effect::Changes => {
            s.current_thread_mut().circle.steps = LONGEST;
            false
        }
        Effect::Writes => {
            s.current_thread_mut().circle.write(op.object as usize);
            goes_round(&op)
        }
        Effect::Nothing => goes_round(&op),
    };
    if !waits {
        s.progressed = s.pilot.steps();
    }
    WATCHED.store(s.current_thread().circle.steps < LONGEST, Relaxed);
    op.with_yields(op.yields() || waits)
}

/// The program is about to unmap memory.
pub fn forget() {
    let mut s = state();
    let count = s.count;
    s.threads[..count].iter_mut().for_each(|t| t.circle = Circle { steps: LONGEST, ..Circle::NONE });
}

/// The running thread looks at a clock.
pub fn looks_at_clock() {
    let mut s = state();
    s.current_thread_mut().circle.looked = true;
}

/// The running thread goes on.
#[inline]
pub fn goes_on() {
    let s = state();
    WATCHED.store(s.threads[s.current].circle.steps < LONGEST, Relaxed);
}

fn goes_round(op: &Op) -> bool {
    let mut s = state();
    let circle = &s.current_thread().circle;
    if circle.is_over(op) {
        let (private, clock_looks) = (private_state(), s.time.looks());
        s.current_thread_mut().circle.come_round(private, clock_looks);
    } else if circle.steps >= LONGEST {
        let private = private_state();
        s.current_thread_mut().circle.begin(*op, private);
    } else {
        s.current_thread_mut().circle.steps += 1;
    }
    s.current_thread().circle.laps >= if has(flag::PLAIN) { MANY } else { 1 }
}

enum Effect {
    Nothing,
    /// The word that is its object may have another value afterwards.
    Writes,
    /// Others can see it.
    Changes,
}

fn effect(kind: OpKind) -> Effect {
    use OpKind::*;
    match kind {
        Lock | TryLock | TimedLock | Unlock | ReadLock | WriteLock | CondWait | CondWake | FutexWait
        | AtomicLoad | DataRead | Yield | Sleep | Fence | Join | Choose => Effect::Nothing,
        AtomicStore | AtomicRmw | DataWrite | SemWait | SemPost => Effect::Writes,
        _ => Effect::Changes,
    }
}

fn read(granule: usize) -> u64 {
    // SAFETY: memory that the thread has written to since its first lap. It is still mapped: blocks
    // stay until the execution ends, and what the program unmaps makes all threads begin anew
    // (`forget`).
    unsafe { (granule as *const u64).read_volatile() }
}

/// Registers and stack at the call that the running thread is in.
pub fn private_state() -> u64 {
    let t = current();
    let mut hash = 0u64;
    let mut add = |word: u64| hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let kept: [usize; KEPT] = t.kept;
    kept.iter().for_each(|r| add(*r as u64));
    let sp = kept[0] & !7;
    let s = state();
    let top = if s.current == 0 { MAIN_TOP.load(Relaxed) } else { s.threads[s.current].stack_top };
    // A handler may run on a stack of its own.
    let other = s.threads[s.current].handler_stack;
    let top = if other.contains(sp) { other.low + other.len } else { top };
    for at in (sp..top.min(sp + STACK)).step_by(8) {
        // SAFETY: the thread's own stack, above what is in use.
        add(unsafe { (at as *const u64).read_volatile() });
    }
    hash
}
