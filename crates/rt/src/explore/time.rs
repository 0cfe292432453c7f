//! Time that passes only when somebody waits for it: a sleep is a step, and the clock moves on by
//! what was slept.
//!
//! When a wait with a time-out can give up, and a timer can expire ([`horizon`]):
//!
//! 1. While a thread can go on, no more than [`SLOWEST`] passes between two of its steps. So what is due within that time may come at
//!    any moment, and what is due later may not: a time-out of days does not come between two lines.
//! 2. Where nobody can go on, time passes until the first of all that is due: a wait, a timer, the end of a sleep. What is due within
//!    [`SLOWEST`] of that may come too.
//! 3. A thread that yields [`PATIENCE`] times while another waits may be waiting for that one's time-out, which then may come. A thread
//!    that polls moves the clock little or not at all.
//! 4. What has passed because other threads looked at clocks since a thread last did so itself, when it made its deadline, does not
//!    bring its time-out nearer: a look takes no time, and a program may look thousands of times.
//!
//! Deviation: a sleep may end at any moment, however long it is. A program that works until its
//! main thread has slept for a minute would otherwise have to work for a minute.

use core::sync::atomic::{AtomicU64, Ordering::*};

use raddle_explore::OpKind;
use raddle_wire::explore::{flag, gap};

use super::point::point;
use super::{Wait, cancel, circle, has, hidden, is_running, op, state};
use crate::sys;

/// What has passed since the process began, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub struct Time {
    pub passed: u64,
    looks: u32,
    /// How much of it has passed only because clocks were looked at.
    looked: u64,
}

impl Time {
    /// How often a clock was looked at.
    pub fn looks(&self) -> u32 {
        self.looks
    }
}

/// Less than this passes between two steps of a thread that can go on: tests wait ten seconds for
/// what never takes so long.
pub const SLOWEST: u64 = 6_000_000_000;
/// Yields during a wait after which it may be given up whenever it is due.
const PATIENCE: u64 = 1000;

/// Until when what is due may come. `awake`: a thread can go on and does not sleep; `first`: what
/// is due first.
pub fn horizon(awake: bool, first: Option<u64>) -> u64 {
    let passed = state().time.passed;
    let from = if awake { passed } else { first.unwrap_or(0).max(passed) };
    from.saturating_add(SLOWEST - 1)
}

/// Have others yielded so often since the thread began to wait that this may be what they wait for?
pub fn is_awaited(thread: usize) -> bool {
    let s = state();
    s.yields - s.threads[thread].yields_before >= PATIENCE
}

/// Each look at a clock moves it a little, and the more the more looks there were: a loop until
/// some moment comes to its end.
const LOOK: u64 = 1000;
/// After so many looks each is twice as long, until it has doubled so often: 16 ms.
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
    // A round number: the same in every process of a search would be better still, but certificates
    // expire.
    REAL_AT_START.store(real(libc::CLOCK_REALTIME) / 1_000_000_000 * 1_000_000_000, Relaxed);
    MONOTONIC_AT_START.store(1_000_000_000_000, Relaxed);
}

/// What the clock shows.
pub fn now(clock: libc::c_int) -> u64 {
    let mut s = state();
    let takes = LOOK << (s.time.looks / LOOKS).min(DOUBLED);
    (s.time.passed, s.time.looked) = (s.time.passed + takes, s.time.looked + takes);
    s.time.looks = s.time.looks.saturating_add(1);
    circle::looks_at_clock();
    shows(clock)
}

/// The same, for a deadline that is to be made of it: no look of the program's.
pub fn shows(clock: libc::c_int) -> u64 {
    let mut s = state();
    s.current_thread_mut().looked_at = s.time.looked;
    at_start(clock) + s.time.passed
}

/// May a wait of the thread be given up, which is due then? See rule 4. `awake`: another can go on.
pub fn may_come(thread: usize, due: u64, horizon: u64, awake: bool) -> bool {
    let s = state();
    let looked = if awake { s.time.looked.saturating_sub(s.threads[thread].looked_at) } else { 0 };
    let comes = due <= horizon.saturating_sub(looked);
    if !comes && due <= horizon {
        hidden::note(gap::CLOCK);
    }
    comes
}

/// What the clock showed when the process began.
pub fn at_start(clock: libc::c_int) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM | libc::CLOCK_TAI => {
            REAL_AT_START.load(Relaxed)
        }
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => 0,
        _ => MONOTONIC_AT_START.load(Relaxed),
    }
}

/// At least so much has passed.
pub fn pass_until(passed: u64) {
    let mut s = state();
    s.time.passed = s.time.passed.max(passed);
}

/// Sleeps for so long. A handler that runs, or cancellation, ends it early: what is left, then.
pub fn sleep(nanoseconds: u64, pc: usize) -> Result<(), u64> {
    let until = state().time.passed.saturating_add(nanoseconds);
    if is_running() {
        let o = op(OpKind::Sleep, 0, pc).with_yields(!has(flag::SLEEP_IS_NOT_YIELD));
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

/// The thread has given up a wait: the clock shows at least `until` of `clock`.
pub fn reach(clock: libc::c_int, until: u64) {
    let shows = shows(clock);
    state().time.passed += until.saturating_sub(shows);
}
