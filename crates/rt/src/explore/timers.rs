//! Timers, in virtual time: `timer_create`, `setitimer`, `alarm`, `timerfd`.
//!
//! An armed timer is a logical thread whose pending step is an expiry. Like a time-out, this can
//! happen at any moment and rarely does, so it is a reluctant step ([`OpKind::TimeOut`] on the
//! timer). If chosen, it advances the clock to when it was due. Then it does what the timer is for:
//! it lets a thread run the callback, sends the signal, or writes to the eventfd that stands for a
//! timerfd. Callbacks run in their own threads, so that two expiries of one timer may overlap. A
//! thread that has finished a callback takes the next, as a pool would.
//!
//! When a timer may expire ([`first`]):
//!
//! 1. Timers expire in the order in which they are due.
//! 2. A timer that is due already (somebody slept past it) is an ordinary step.
//! 3. Before that, it may expire only as early as a wait may time out ([`time::horizon`]).
//! 4. A signal that would end the process is a watchdog against hanging: it does not come before it
//!    is due. If no other thread can go on, there is a deadlock, which is a better description.
//! 5. After [`FEW`] expiries ([`MANY`] if no other thread can go on) without a step of the
//!    program's own threads, there are no more: a periodic timer neither goes on for ever nor hides
//!    a deadlock.
//!
//! Deviations: (1) processor time (`ITIMER_PROF`, CPU clocks) is virtual time too. (2) A watchdog
//! that is set before the first thread never expires.

use core::ffi::{c_int, c_void};

use raddle_explore::OpKind;
use raddle_wire::explore::Outside;

use super::point::{Breaks, point, wait};
use super::signals::{self, Parcel};
use super::threads::{self, Role};
use super::{Wait, begin, is_running, memory, op, retry_with_fork, state, time};
use crate::handle::Handle;
use crate::sys;

const MOST: usize = 64;
/// The first ones are `ITIMER_REAL`, `ITIMER_VIRTUAL` and `ITIMER_PROF`.
const OF_PROCESS: usize = 3;

const FEW: u32 = 3;
const MANY: u32 = 200;

/// What happens at an expiry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Notify {
    Nothing,
    Thread {
        function: usize,
        value: usize,
    },
    /// A signal to a thread, or to the process.
    Signal {
        number: c_int,
        value: usize,
        to: Option<usize>,
    },
    Descriptor(c_int),
}

#[derive(Clone, Copy)]
struct Timer {
    used: bool,
    clock: c_int,
    notify: Notify,
    /// In virtual time; None: it is not armed.
    due: Option<u64>,
    interval: u64,
    /// How often it was set. If this changes, an expiry that is under way is obsolete.
    set: u32,
    overrun: c_int,
    /// The thread that stands for it; 0: none yet.
    thread: usize,
}

impl Timer {
    const UNUSED: Timer = Timer {
        used: false,
        clock: 0,
        notify: Notify::Nothing,
        due: None,
        interval: 0,
        set: 0,
        overrun: 0,
        thread: 0,
    };
}

/// When a timer expires: first, and then periodically.
#[derive(Clone, Copy, Default)]
pub struct Setting {
    pub first: u64,
    pub interval: u64,
}

/// Part of the snapshot.
static TIMERS: sys::Shared<[Timer; MOST]> = sys::Shared::new([Timer::UNUSED; MOST]);

fn timer(n: usize) -> Handle<Timer> {
    // SAFETY: one thread runs at a time; the number is of the table.
    unsafe { Handle::new(&raw mut (*TIMERS.get())[n]) }
}

/// The name by which the scheduler and the program know the timer.
fn object(n: usize) -> usize {
    (raddle_explore::TIMERS.start + n as u64 * raddle_explore::TIMER_STEP) as usize
}

/// The timer with this handle.
pub fn by_handle(handle: usize) -> Option<usize> {
    (OF_PROCESS..MOST).find(|n| object(*n) == handle && timer(*n).used)
}

pub fn by_descriptor(fd: c_int) -> Option<usize> {
    (OF_PROCESS..MOST).find(|n| timer(*n).used && timer(*n).notify == Notify::Descriptor(fd))
}

/// `timer_create`. Returns the timer's handle, or None if there are too many.
///
/// # Safety
/// `event` is null or the program's `sigevent`.
pub unsafe fn create(clock: c_int, event: *const c_void, pc: usize) -> Option<usize> {
    begin(pc);
    let n = free()?;
    // SAFETY: by the caller's contract.
    let notify = match unsafe { event.cast::<SigEvent>().as_ref() } {
        None => Notify::Signal { number: libc::SIGALRM, value: object(n), to: None },
        Some(e) => match e.notify {
            libc::SIGEV_THREAD => Notify::Thread { function: e.function, value: e.value },
            libc::SIGEV_SIGNAL => Notify::Signal { number: e.signal, value: e.value, to: None },
            libc::SIGEV_THREAD_ID => {
                let to = threads::by_number(e.function as c_int);
                Notify::Signal { number: e.signal, value: e.value, to }
            }
            _ => Notify::Nothing,
        },
    };
    claim(n, clock, notify);
    Some(object(n))
}

/// glibc's `sigevent`.
#[repr(C)]
struct SigEvent {
    value: usize,
    signal: c_int,
    notify: c_int,
    /// The function, or the number of a thread.
    function: usize,
}

fn free() -> Option<usize> {
    (OF_PROCESS..MOST).find(|n| !timer(*n).used)
}

/// Initialises a timer. It keeps the thread that stood for its predecessor.
fn claim(n: usize, clock: c_int, notify: Notify) {
    let mut t = timer(n);
    *t = Timer { used: true, clock, notify, thread: t.thread, set: t.set + 1, ..Timer::UNUSED };
}

/// `timerfd_create`: an eventfd.
pub fn create_descriptor(clock: c_int, flags: c_int, pc: usize) -> Result<c_int, c_int> {
    begin(pc);
    retry_with_fork(Outside::Timer);
    let n = free().ok_or(libc::EMFILE)?;
    let fd = sys::syscall(libc::SYS_eventfd2, [0, flags as usize, 0, 0, 0, 0]) as c_int;
    if fd < 0 {
        return Err(-fd);
    }
    claim(n, clock, Notify::Descriptor(fd));
    Ok(fd)
}

/// A descriptor is closed.
pub fn closed(fd: c_int, pc: usize) {
    if let Some(n) = by_descriptor(fd) {
        delete(n, pc);
    }
}

pub fn delete(n: usize, pc: usize) {
    point(op(OpKind::Timer, object(n), pc), Wait::Nothing, pc);
    let mut t = timer(n);
    (t.used, t.due) = (false, None);
    t.set += 1;
}

/// Arms the timer, or stops it if `new.first` is 0. Returns the time that was left.
pub fn set(n: usize, new: Setting, absolute: bool, pc: usize) -> Setting {
    point(op(OpKind::Timer, object(n), pc), Wait::Nothing, pc);
    let before = left(n);
    let mut t = timer(n);
    let passed = state().time.passed;
    t.set += 1;
    t.overrun = 0;
    t.interval = new.interval;
    t.due = match new.first {
        0 => None,
        at if absolute => Some(at.saturating_sub(time::at_start(t.clock))),
        after => Some(passed.saturating_add(after)),
    };
    if let Notify::Descriptor(fd) = t.notify {
        drain(fd);
    }
    if t.due.is_some() && t.thread == 0 && t.notify != Notify::Nothing && is_running() {
        let first = (op(OpKind::Timer, object(n), pc), Wait::Timer(n));
        state().timers += 1;
        t.thread = threads::add(live as *const () as usize, n, Role::Timer, first, pc);
    }
    before
}

/// Discards unread expiries of an earlier setting.
fn drain(fd: c_int) {
    let mut count = 0u64;
    if super::sync::is_ready(fd, libc::POLLIN) {
        sys::syscall(libc::SYS_read, [fd as usize, &raw mut count as usize, 8, 0, 0, 0]);
    }
}

pub fn get(n: usize, pc: usize) -> Setting {
    point(op(OpKind::Timer, object(n), pc), Wait::Nothing, pc);
    left(n)
}

pub fn overrun(n: usize, pc: usize) -> c_int {
    point(op(OpKind::Timer, object(n), pc), Wait::Nothing, pc);
    timer(n).overrun
}

fn left(n: usize) -> Setting {
    let t = timer(n);
    let passed = state().time.passed;
    let Some(due) = t.due else { return Setting { first: 0, interval: t.interval } };
    let first = match passed.checked_sub(due) {
        // An armed timer never shows 0.
        None => due - passed,
        Some(late) if t.interval > 0 => t.interval - late % t.interval,
        // Nobody waits for it.
        Some(_) if t.notify == Notify::Nothing => 0,
        Some(_) => 1,
    };
    Setting { first, interval: t.interval }
}

/// `setitimer` and `alarm`. Returns the time that was left.
pub fn set_of_process(which: usize, new: Setting, pc: usize) -> Setting {
    let number = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF][which];
    if new.first > 0 && !signals::is_fatal(number) {
        begin(pc);
    }
    if !timer(which).used {
        claim(which, libc::CLOCK_MONOTONIC, Notify::Signal { number, value: 0, to: None });
    }
    set(which, new, false, pc)
}

pub fn get_of_process(which: usize, pc: usize) -> Setting {
    if timer(which).used { get(which, pc) } else { Setting::default() }
}

/// The timer that expires next: when, and the thread that stands for it.
#[derive(Clone, Copy)]
pub struct First {
    pub due: u64,
    pub thread: usize,
}

/// The timer that expires next, if it may. `able`: others can go on. See the rules above.
pub fn first(able: bool) -> Option<First> {
    let s = state();
    let mut first: Option<(u64, usize)> = None;
    for t in &s.threads[..s.count] {
        if let (Wait::Timer(n), false) = (t.wait, t.ended)
            && let Some(due) = timer(n).due
            && first.is_none_or(|(before, _)| due < before)
            && !(due > s.time.passed && is_watchdog(n))
        {
            first = Some((due, n));
        }
    }
    let (due, n) = first?;
    let fruitless = s.fruitless >= if able { FEW } else { MANY };
    (!fruitless).then(|| First { due, thread: timer(n).thread })
}

fn is_watchdog(n: usize) -> bool {
    matches!(timer(n).notify, Notify::Signal { number, .. } if signals::is_fatal(number))
}

/// The life of a timer's thread. It is first switched to when the timer expires.
extern "C-unwind" fn live(n: usize) -> usize {
    let me = state().current;
    let pc = state().threads[me].pc;
    loop {
        expire(n, pc);
        wait(op(OpKind::Timer, object(n), pc), Wait::Timer(n), None, Breaks::Nothing, pc);
    }
}

fn expire(n: usize, pc: usize) {
    let mut s = state();
    s.current_thread_mut().gives_up = false;
    // The process stays alive because of what the thread does now, not because of what it waited
    // for.
    s.current_thread_mut().wait = Wait::Nothing;
    s.fruitless += 1;
    memory::acquired(object(n));
    let mut t = timer(n);
    let Some(due) = t.due else { return };
    time::pass_until(due);
    let late = (state().time.passed - due).checked_div(t.interval).unwrap_or(0);
    t.due = (t.interval > 0).then(|| due + (late + 1) * t.interval);
    let set = t.set;
    match t.notify {
        Notify::Nothing => {}
        Notify::Thread { function, value } => call_back(n, set, function, value, pc),
        Notify::Signal { number, value, to } => {
            let taker = to.or_else(|| signals::taker(number));
            point(op(OpKind::Signal, taker.unwrap_or(0), pc), Wait::Nothing, pc);
            let mut t = timer(n);
            if t.set != set {
                return;
            }
            if signals::is_pending(number) {
                t.overrun = t.overrun.saturating_add(late as c_int + 1);
                return;
            }
            t.overrun = late as c_int;
            signals::arrives(taker, number, Parcel { code: libc::SI_TIMER, value });
        }
        Notify::Descriptor(fd) => {
            point(op(OpKind::Io, fd as usize + 1, pc), Wait::Nothing, pc);
            if timer(n).set == set {
                let count = late + 1;
                sys::syscall(libc::SYS_write, [fd as usize, &raw const count as usize, 8, 0, 0, 0]);
            }
        }
    }
}

/// Lets a thread run the callback: one that has finished another, or a new one.
fn call_back(n: usize, set: u32, function: usize, value: usize, pc: usize) {
    let s = state();
    let idle = |i: &usize| !s.threads[*i].ended && s.threads[*i].wait == Wait::Callback;
    let resting = (0..s.count).find(|i| idle(i) && !s.threads[*i].told);
    let i = resting.unwrap_or_else(threads::next_id);
    point(op(OpKind::Create, i, pc), Wait::Nothing, pc);
    if timer(n).set != set {
        return;
    }
    let resting = resting.filter(|i| !state().threads[*i].told);
    let i = resting.unwrap_or_else(|| {
        let i = threads::next_id();
        let first = (op(OpKind::Start, i, function), Wait::Nothing);
        threads::add(run_callbacks as *const () as usize, 0, Role::Callback, first, pc)
    });
    let t = &mut state().threads[i];
    t.job = (function, value);
    t.told = true;
    memory::released(job_of(i));
}

/// The object through which a callback's thread gets its job.
fn job_of(thread: usize) -> usize {
    raddle_explore::TIMERS.end as usize + thread
}

/// The life of a thread that runs callbacks. A callback may leave it by `pthread_exit`.
extern "C-unwind" fn run_callbacks(_: usize) -> usize {
    loop {
        let s = state();
        let (function, value) = s.threads[s.current].job;
        // SAFETY: the program's callback.
        unsafe { core::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize)>(function)(value) };
        rest(function);
    }
}

fn rest(function: usize) {
    let s = state();
    let me = s.current;
    point(op(OpKind::Exit, me, 0), Wait::Nothing, 0);
    let t = &mut state().threads[me];
    t.told = false;
    t.wait = Wait::Callback;
    threads::end_process_if_last();
    point(op(OpKind::Start, me, function), Wait::Callback, 0);
    memory::acquired(job_of(me));
}
