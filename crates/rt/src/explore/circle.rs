//! Threads that loop without changing anything.
//!
//! If a thread comes back to one of its own steps in exactly the same state as before, it can do no
//! more by itself: it polls, and waits for others. That is as good as a yield (section 4.3 of the
//! paper). So such a step is marked as one, and fair scheduling lets the others run. An example is
//! `for (;;) { lock; if (ready) break; unlock; }`. A loop that counts is in a different state each
//! time.
//!
//! The state consists of the callee-saved registers, the stack from the call on ([`STACK`] bytes of
//! it), and the other words that the thread has written since. Each must have its old value when
//! the step comes round again. A lap is identified by its steps, at most [`LONGEST`].
//!
//! Writes by uninstrumented code are not seen. So in an entirely uninstrumented program a thread
//! must loop [`MANY`] times. [`super::ExplorationState::progressed`] has the last step that was not such a
//! lap: with it the driver distinguishes a livelock from long work.

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
/// Laps after which an uninstrumented program is believed to change nothing.
const MANY: u32 = 20;

/// A lap in which the thread reads a clock is progress, until clocks were read this often. By then
/// more time has passed than [`super::time::SLOWEST`], so the thread does not wait for a point in
/// time.
const CLOCK_LOOKS: u32 = 2000;

/// The current loop of a thread.
#[derive(Clone, Copy)]
pub struct Circle {
    /// The step at which laps begin, and the state at its last occurrence.
    from: Op,
    private: u64,
    /// Steps since, and laps without a change.
    steps: u32,
    laps: u32,
    /// It has read a clock since.
    looked: bool,
    /// Granules written since the first lap, and the values of the first `known` of them at the end
    /// of the last lap.
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
            // Do not read it now: the program may crash at this write.
            self.at[n] = granule;
        }
        self.count += 1;
    }

    /// The step has come round: counts one more lap without a change, or starts over. `private` is
    /// the current [`private_state`]; `clock_looks` is how often anybody has read a clock.
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

/// The frames of `main` lie below this.
pub fn main_top() -> usize {
    MAIN_TOP.load(Relaxed)
}

/// The address of `main`.
static MAIN: AtomicUsize = AtomicUsize::new(0);

/// `main` is about to be called from a frame that contains this address.
pub fn main_begins(main: usize, frame: usize) {
    MAIN.store(main, Relaxed);
    MAIN_TOP.store(frame, Relaxed);
}

/// The address of the program's `main`; 0 if it has not begun.
pub fn main_at() -> usize {
    MAIN.load(Relaxed)
}

/// True if writes of the running thread count because it is in a lap.
static WATCHED: Alone = Alone(AtomicBool::new(false));

/// A word of its own: `states` leaves it out.
#[repr(align(8))]
struct Alone(AtomicBool);

/// The address of a word that depends on who runs.
pub fn watched_at() -> usize {
    &raw const WATCHED as usize
}

/// The running thread is about to write.
#[inline(always)]
pub fn writes(address: usize) {
    if WATCHED.0.load(Relaxed) {
        write(address);
    }
}

#[cold]
#[inline(never)]
fn write(address: usize) {
    let mut s = state();
    // The thread's own stack is compared as a whole. What lies below belongs to calls that will
    // have returned.
    let low = current().kept[0].wrapping_sub(BELOW);
    if s.running && address.wrapping_sub(low) >= STACK + BELOW {
        s.current_thread_mut().circle.write(address);
    }
}

/// The running thread is about to write this many bytes. More than a few words are not compared.
#[inline]
pub fn writes_bytes(address: usize, len: usize) {
    if len <= 8 {
        writes(address);
    } else if WATCHED.0.load(Relaxed) {
        let mut s = state();
        s.current_thread_mut().circle.count = WORDS as u32 + 1;
    }
}

/// The running thread is about to make the step `op`. Returns it, marked as a yield if the thread
/// has only looped.
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
    WATCHED.0.store(s.current_thread().circle.steps < LONGEST, Relaxed);
    op.with_yields(op.yields() || waits)
}

/// The program is about to unmap memory: all threads start their laps anew.
pub fn forget() {
    let mut s = state();
    let count = s.count;
    s.threads[..count].iter_mut().for_each(|t| t.circle = Circle { steps: LONGEST, ..Circle::NONE });
}

/// The running thread reads a clock.
pub fn looks_at_clock() {
    let mut s = state();
    s.current_thread_mut().circle.looked = true;
}

/// The running thread resumes.
#[inline]
pub fn goes_on() {
    let s = state();
    WATCHED.0.store(s.threads[s.current].circle.steps < LONGEST, Relaxed);
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
    /// The word that is its object may have a different value afterwards.
    Writes,
    /// Others can see the change.
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
    // stay until the execution ends, and when the program unmaps memory, all threads begin anew
    // (`forget`).
    unsafe { (granule as *const u64).read_volatile() }
}

/// A hash of the registers and the stack at the call that the running thread is in.
pub fn private_state() -> u64 {
    let t = current();
    let mut hash = 0u64;
    let mut add = |word: u64| hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let kept: [usize; KEPT] = t.kept;
    kept.iter().for_each(|r| add(*r as u64));
    let sp = kept[0] & !7;
    let s = state();
    let top = if s.current == 0 { MAIN_TOP.load(Relaxed) } else { s.threads[s.current].stack_top };
    // A handler may run on its own stack.
    let other = s.threads[s.current].handler_stack;
    let top = if other.contains(sp) { other.low + other.len } else { top };
    for at in (sp..top.min(sp + STACK)).step_by(8) {
        // SAFETY: the thread's own stack, above the stack pointer.
        add(unsafe { (at as *const u64).read_volatile() });
    }
    hash
}
