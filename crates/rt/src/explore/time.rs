//! Virtual time, which passes only when somebody waits for it: a sleep is a step, and advances the
//! clock by the time slept.
//!
//! When a wait may time out, and a timer may expire ([`horizon`]):
//!
//! 1. While a thread can go on, no more than [`SLOWEST`] passes between two of its steps. So what
//!    is due within that time may happen at any moment, and what is due later may not: a time-out
//!    of days does not happen between two lines.
//! 2. If no thread can go on, time passes until the first thing that is due: a wait, a timer, the
//!    end of a sleep. What is due within [`SLOWEST`] of that may happen too.
//! 3. If a thread yields [`PATIENCE`] times while another waits, it may be waiting for that one's
//!    time-out, which then may happen. A thread that polls advances the clock little or not at all.
//! 4. Reading a clock takes no real time, and a program may do so thousands of times. So clock
//!    reads of other threads, since a thread last read a clock itself to compute its deadline, do
//!    not bring its time-out nearer.
//!
//! The time that a thread reads depends on what others did to the clock before, and reading it is
//! no step. So a search that ends is not complete if one thread has read a clock, and another one
//! has read it or made time pass ([`touch`]).
//!
//! Deviation: a sleep may end at any moment, however long it is. A program that works until its
//! main thread has slept for a minute would otherwise have to work for a minute.

use core::sync::atomic::{AtomicU64, Ordering::*};

use raddle_explore::OpKind;
use raddle_wire::explore::{flag, gap};

use super::point::point;
use super::{Wait, cancel, circle, has, hidden, is_running, op, state};
use crate::sys;

/// Time since the process began, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub struct Time {
    pub passed: u64,
    looks: u32,
    /// The part that has passed only because clocks were read.
    looked: u64,
    /// The thread that read the clock or made time pass last, plus one; zero if none did beside
    /// others.
    toucher: u32,
    /// Several threads did.
    is_shared: bool,
    /// A thread has read it beside others.
    is_read: bool,
}

impl Time {
    /// How often a clock was read.
    pub fn looks(&self) -> u32 {
        self.looks
    }
}

/// Less than this passes between two steps of a thread that can go on: tests wait ten seconds for
/// what never takes so long.
pub const SLOWEST: u64 = 6_000_000_000;
/// The number of yields during a wait after which it may time out, whenever it is due.
const PATIENCE: u64 = 1000;

/// The time up to which due events may happen. `awake`: a thread can go on and does not sleep;
/// `first`: the earliest event.
pub fn horizon(awake: bool, first: Option<u64>) -> u64 {
    let passed = state().time.passed;
    let from = if awake { passed } else { first.unwrap_or(0).max(passed) };
    from.saturating_add(SLOWEST - 1)
}

/// True if others have yielded so often since the thread began to wait that they may wait for it.
pub fn is_awaited(thread: usize) -> bool {
    let s = state();
    s.yields - s.threads[thread].yields_before >= PATIENCE
}

/// Each read of a clock advances it a little, and more so the more reads there were: a loop until
/// some point in time ends.
const LOOK: u64 = 1000;
/// After this many reads, each takes twice as long. This doubles at most `DOUBLED` times, to 16 ms.
const LOOKS: u32 = 64;
const DOUBLED: u32 = 14;

static REAL_AT_START: AtomicU64 = AtomicU64::new(0);
static MONOTONIC_AT_START: AtomicU64 = AtomicU64::new(0);

fn real(clock: libc::c_int) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    sys::syscall(libc::SYS_clock_gettime, [clock as usize, &raw mut now as usize, 0, 0, 0, 0]);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

pub fn prepare() {
    // A round number. The same number in every process of a search would be better still, but
    // certificates expire.
    REAL_AT_START.store(real(libc::CLOCK_REALTIME) / 1_000_000_000 * 1_000_000_000, Relaxed);
    MONOTONIC_AT_START.store(1_000_000_000_000, Relaxed);
}

/// The time of the clock, read by the program.
pub fn now(clock: libc::c_int) -> u64 {
    let mut s = state();
    let takes = LOOK << (s.time.looks / LOOKS).min(DOUBLED);
    (s.time.passed, s.time.looked) = (s.time.passed + takes, s.time.looked + takes);
    s.time.looks = s.time.looks.saturating_add(1);
    touch(true);
    circle::looks_at_clock();
    shows(clock)
}

/// The running thread reads the clock, or makes time pass. A thread that is alone comes before or
/// after all that others do.
fn touch(reads: bool) {
    let mut s = state();
    if s.joined + 1 >= s.count {
        return;
    }
    let me = s.current as u32 + 1;
    s.time.is_shared |= s.time.toucher != 0 && s.time.toucher != me;
    s.time.is_read |= reads;
    s.time.toucher = me;
    if s.time.is_shared && s.time.is_read {
        hidden::note(gap::CLOCKS);
    }
}

/// The running thread has joined the last other one. What comes later is ordered after everything
/// that was done to the clock.
pub fn is_alone() {
    let mut s = state();
    (s.time.toucher, s.time.is_shared, s.time.is_read) = (0, false, false);
}

/// The time of the clock, for computing a deadline. Does not count as a read by the program.
pub fn shows(clock: libc::c_int) -> u64 {
    let mut s = state();
    s.current_thread_mut().looked_at = s.time.looked;
    at_start(clock) + s.time.passed
}

/// True if a wait of the thread that is due then may time out. See rule 4. `awake`: another thread
/// can go on.
pub fn may_come(thread: usize, due: u64, horizon: u64, awake: bool) -> bool {
    let s = state();
    let looked = if awake { s.time.looked.saturating_sub(s.threads[thread].looked_at) } else { 0 };
    let comes = due <= horizon.saturating_sub(looked);
    if !comes && due <= horizon {
        hidden::note(gap::CLOCK);
    }
    comes
}

/// The time of the clock when the process began.
pub fn at_start(clock: libc::c_int) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM | libc::CLOCK_TAI => {
            REAL_AT_START.load(Relaxed)
        }
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => 0,
        _ => MONOTONIC_AT_START.load(Relaxed),
    }
}

/// At least this much time has passed.
pub fn pass_until(passed: u64) {
    let mut s = state();
    if passed > s.time.passed {
        touch(false);
    }
    s.time.passed = s.time.passed.max(passed);
}

/// Sleeps for this long. A handler or cancellation ends the sleep early; the error is the remaining
/// time.
pub fn sleep(nanoseconds: u64, pc: usize) -> Result<(), u64> {
    let until = state().time.passed.saturating_add(nanoseconds);
    if is_running() {
        let o = op(OpKind::Sleep, 0, pc).with_duration(nanoseconds);
        let o = o.with_yields(!has(flag::SLEEP_IS_NOT_YIELD));
        let me = state().current;
        state().threads[me].handled = false;
        state().threads[me].sleeps_until = Some(until);
        point(o, Wait::Nothing, pc);
        let cut_short = cancel::is_due(me);
        let mut s = state();
        (s.threads[me].sleeps_until, s.threads[me].cut_short) = (None, cut_short);
        if s.threads[me].handled || cut_short {
            return Err(until.saturating_sub(s.time.passed));
        }
    }
    // Others may have slept at the same time.
    pass_until(until);
    Ok(())
}

/// The thread's wait has timed out: the clock shows at least `until`.
pub fn reach(clock: libc::c_int, until: u64) {
    let shows = shows(clock);
    if until > shows {
        touch(false);
    }
    state().time.passed += until.saturating_sub(shows);
}
