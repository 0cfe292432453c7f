//! Scheduling points: every thread passes one before each step that others could see.

use raddle_explore::{LogicalThread, Op, OpKind, Unknowable, View, op::LIBRARY_STATE};
use raddle_wire::explore::{ExecutionEnd, Outside, flag, gap, point as of_table};

use super::known_places::AtomicKind;
use super::signals::Ran;
use super::switch::switch;
use super::threads::Role;
use super::{
    Wait, cancel, circle, fatal, fork, has, hidden, known_places, memory as c11, op, os_threads, outsiders,
    races, serve, signals, state, states, threads, time, timers,
};
use crate::relocated::updates;
use crate::trace;

/// What may end a wait early.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Breaks {
    Nothing,
    /// Cancellation, for a condition wait or a join.
    Cancel,
    /// Cancellation, and a handler that was not installed with `SA_RESTART`.
    Handler,
    /// Cancellation, and any handler.
    AnyHandler,
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    Over,
    GaveUp,
    Broken,
}

/// The running thread is about to make the step `op`, which `wait` may delay. Returns when the
/// thread is scheduled.
#[inline]
pub fn point(op: Op, wait: Wait, pc: usize) {
    let s = state();
    if !s.running {
        return;
    }
    let me = s.current;
    let is_uninterrupted = s.threads[me].uninterrupted > 0;
    // What the C library frees is its own.
    if is_uninterrupted && op.kind() != OpKind::Free {
        hidden::note(gap::UNINTERRUPTED);
    }
    if is_uninterrupted && wait.is_over(me) {
        c11::did(&op);
        trace::step(&op, wait != Wait::Nothing);
        return;
    }
    if s.joined + 1 == s.count && goes_alone(&op, wait) {
        c11::did(&op);
        trace::step(&op, wait != Wait::Nothing);
        return;
    }
    let op = circle::pass(op);
    loop {
        let mut s = state();
        s.pending[me] = op;
        let t = &mut s.threads[me];
        t.meant = op;
        t.altered = false;
        t.wait = wait;
        t.due = None;
        t.pc = pc;
        schedule();
        let step = state().serve.last_step();
        still_there(&op, pc);
        c11::did(&op);
        trace::step(&op, wait != Wait::Nothing);
        // A handler may have run first, and consumed what was waited for.
        let spurious = state().threads[me].spurious;
        if signals::run_handlers() == Ran::Nothing || wait.is_over(me) || spurious {
            state().serve.is_at(step);
            return;
        }
    }
}

/// Reports a lock, a condition variable or a semaphore that was freed before the step on it.
/// Leaving a condition variable or a barrier is not checked: it may be destroyed as soon as its
/// waiters have been told to go on.
#[inline]
fn still_there(op: &Op, pc: usize) {
    use OpKind::*;
    let object = match op.kind() {
        Lock | TryLock | TimedLock | Unlock | ReadLock | WriteLock | CondWait | CondSignal
        | CondBroadcast | SemWait | SemPost | Reset => op.object,
        CondWake => op.other,
        _ => return,
    };
    if super::heap::is_freed(object as usize) {
        fatal::use_after_free(object as usize, pc);
    }
}

/// After this many steps alone, further steps are recorded: they identify an execution that does
/// not end.
const MOST_ALONE: u32 = 1000;

/// True if the step needs no scheduling. All other threads have been joined, so there is no choice,
/// and nobody could see the step. Reads, creation and exits are recorded anyway: they tell
/// executions apart.
fn goes_alone(op: &Op, wait: Wait) -> bool {
    use OpKind::*;
    let mut s = state();
    let told = matches!(op.kind(), Create | Exit | Join | AtomicLoad | DataRead | Choose);
    s.alone += 1;
    let signals = s.arrived | s.threads[s.current].arrived;
    !told && s.alone < MOST_ALONE && signals == 0 && wait.is_over(s.current)
}

/// The running thread takes (1) or releases (-1) a lock of the C library.
pub fn uninterrupted(by: i32) {
    let mut s = state();
    s.current_thread_mut().uninterrupted += by;
}

/// [`point`] for a wait that may time out when it is `due`, or be broken off.
pub fn wait(op: Op, wait: Wait, due: Option<u64>, breaks: Breaks, pc: usize) -> WaitEnd {
    let mut s = state();
    let me = s.current;
    if !s.running {
        return if wait.is_over(me) || due.is_none() { WaitEnd::Over } else { WaitEnd::GaveUp };
    }
    if s.threads[me].uninterrupted > 0 {
        hidden::note(gap::UNINTERRUPTED);
        if wait.is_over(me) {
            return WaitEnd::Over;
        }
    }
    (s.threads[me].began, s.threads[me].yields_before) = (s.time.passed, s.yields);
    let op = circle::pass(op);
    loop {
        let mut s = state();
        s.pending[me] = op;
        let t = &mut s.threads[me];
        (t.meant, t.altered) = (op, false);
        (t.wait, t.due, t.breaks) = (wait, due, breaks);
        t.pc = pc;
        schedule();
        let t = &mut state().threads[me];
        let (gave_up, spurious) = (t.gives_up, t.spurious);
        (t.due, t.gives_up, t.breaks) = (None, false, Breaks::Nothing);
        let ran = signals::run_handlers();
        if gave_up {
            trace::gave_up(&op);
            return WaitEnd::GaveUp;
        }
        if spurious || wait.is_over(me) {
            still_there(&op, pc);
            c11::did(&op);
            trace::step(&op, wait != Wait::Nothing);
            return WaitEnd::Over;
        }
        if breaks > Breaks::Nothing && cancel::is_due(me) {
            state().threads[me].cut_short = true;
            c11::handles_signal();
            return WaitEnd::Broken;
        }
        let enough = if breaks == Breaks::AnyHandler { Ran::Restarting } else { Ran::Breaking };
        if breaks >= Breaks::Handler && ran >= enough {
            return WaitEnd::Broken;
        }
    }
}

/// The pilot chooses the next thread; the running thread returns when it is chosen.
pub fn schedule() {
    let mut s = state();
    let me = s.current;
    let next = decide();
    if next != me {
        s.current = next;
        trace::turn(next);
        if os_threads::are_used() {
            os_threads::hand_over(me, next);
            return circle::goes_on();
        }
        let (from, to) = (&raw mut s.threads[me].context, &raw const s.threads[next].context);
        // SAFETY: contexts of threads of this execution, each left by `switch` or `park`.
        unsafe { switch(from, to) };
        circle::goes_on();
    }
}

/// [`schedule`] for a thread that has ended.
pub fn leave_for_good() -> ! {
    let next = decide();
    let mut s = state();
    s.current = next;
    trace::turn(next);
    if os_threads::are_used() {
        os_threads::hand_over_for_good(next);
    }
    // SAFETY: as above; nobody comes back here.
    unsafe { super::switch::jump(&s.threads[next].context) }
}

/// Chooses the next thread. Ends the execution if no thread can go on, or if it has run for too
/// long.
fn decide() -> usize {
    updates::settle();
    trace::settle();
    find_enabled();
    let mut s = state();
    if s.enabled.is_empty() && !sees_outside() {
        fatal::ends(ExecutionEnd::Deadlock, s.current);
    }
    let s = &mut *s;
    let order = s.serve.prefix();
    let view = View { enabled: &s.enabled, reluctant: &s.reluctant, pending: &s.pending[..s.count] };
    let next = s.pilot.choose(order, &view);
    let mut trace = s.serve.trace();
    let full = s.pilot.record(&view, &mut trace).is_err();
    s.serve.recorded(&trace);
    let is_choice = s.pilot.eligible().len() > 1;
    states::stepping(next, is_choice);
    let mut s = state();
    let step = s.pending[next.index()];
    hidden::stepped(next.index(), &step);
    s.serve.note_stack(next.index(), s.threads[next.index()].pc);
    if full || s.pilot.steps() >= s.serve.max_steps {
        fatal::ends(ExecutionEnd::StepLimit, next.index());
    }
    let s = &mut *s;
    if s.ending > 0 {
        s.threads[..s.count].iter_mut().filter(|t| t.ends_process).for_each(|t| t.lets_pass += 1);
    }
    let t = &mut s.threads[next.index()];
    let kind = s.pending[next.index()].kind();
    if s.fruitless > 0
        && t.role == Role::Ordinary
        && t.handling == 0
        && !(t.altered && kind == OpKind::Signal)
    {
        s.fruitless = 0;
    }
    s.yields += u64::from(kind == OpKind::TimeOut || s.pending[next.index()].yields());
    t.gives_up = kind == OpKind::TimeOut;
    t.spurious = kind == OpKind::Spurious;
    if t.spurious {
        s.spurious -= 1;
    }
    next.index()
}

/// Classifies the threads: able to go on, able to stop waiting, waiting.
fn find_enabled() {
    let mut s = state();
    s.enabled.clear();
    s.reluctant.clear();
    let (mut able, mut awake, mut timed) = (false, false, false);
    let mut first: Option<u64> = None;
    let mut is_due = |due: u64| first = Some(first.map_or(due, |f| f.min(due)));
    for i in 0..s.count {
        let t = &s.threads[i];
        if t.ended {
            continue;
        }
        let id = LogicalThread(i as u16);
        let (altered, meant, sleeps_until, due) = (t.altered, t.meant, t.sleeps_until, t.due);
        if t.wait.is_over(i) {
            s.enabled.insert(id);
            able = true;
            match sleeps_until {
                Some(until) => is_due(until),
                None => awake = true,
            }
            if altered {
                // It was told while it could have timed out: it now does what it first meant to do.
                s.pending[i] = meant;
                s.threads[i].altered = false;
            }
        } else if signals::is_interrupted(i) {
            // It can run a handler, and then continues to wait.
            s.pending[i] = Op::new(OpKind::Signal, i as u64, meant.site);
            s.threads[i].altered = true;
            s.enabled.insert(id);
            (able, awake) = (true, true);
        } else if let Some(due) = due {
            timed = true;
            is_due(due);
        }
    }
    if able && s.ending > 0 {
        hold_back_exit();
    }
    let timer = if s.timers > 0 { timers::first(able) } else { None };
    timer.inspect(|t| is_due(t.due));
    if timed || timer.is_some() {
        let horizon = time::horizon(awake, first);
        if let Some(t) = timer.filter(|t| t.due <= horizon) {
            give_up(t.thread, OpKind::TimeOut, t.due > s.time.passed);
        }
        if timed {
            let waiting = (0..s.count).filter(|i| may_give_up(*i, horizon, awake));
            waiting.for_each(|i| give_up(i, OpKind::TimeOut, true));
        }
    }
    // A spurious wake-up is no way out of a deadlock.
    if s.spurious > 0 && able {
        for i in 0..s.count {
            let t = &s.threads[i];
            if !t.ended && t.may_wake && t.due.is_none() && !t.wait.is_over(i) {
                give_up(i, OpKind::Spurious, true);
            }
        }
    }
}

/// True if the waiting thread, which is not enabled otherwise, may time out. One that was signalled
/// has its signal and only waits for the mutex.
fn may_give_up(i: usize, horizon: u64, awake: bool) -> bool {
    let t = &state().threads[i];
    let is_told = t.told && matches!(t.wait, Wait::ToldAndMutex(..));
    let is_due = t.due.is_some_and(|due| time::may_come(i, due, horizon, awake) || time::is_awaited(i));
    !t.ended && is_due && !is_told && !state().enabled.contains(LogicalThread(i as u16)) && !t.wait.is_over(i)
}

/// The number of steps for which a thread that ends the process lets others go first.
const LAST_STEPS: u32 = 300;

/// A program that ends while its threads run usually means to let them finish their work. So ending
/// it now is a reluctant choice, for a while. Some threads never end.
fn hold_back_exit() {
    let mut s = state();
    for i in 0..s.count {
        if !s.threads[i].ends_process || s.threads[i].ended {
            continue;
        }
        let others = (0..s.count).any(|o| o != i && s.enabled.contains(LogicalThread(o as u16)));
        if others && s.threads[i].lets_pass < LAST_STEPS {
            s.reluctant.insert(LogicalThread(i as u16));
        }
    }
}

fn give_up(i: usize, kind: OpKind, reluctant: bool) {
    let mut s = state();
    let meant = s.threads[i].meant;
    let o = Op::new(kind, meant.object, meant.site).with_other(meant.other);
    let t = &s.threads[i];
    s.pending[i] = match t.due {
        Some(due) if kind == OpKind::TimeOut => o.with_duration(due.saturating_sub(t.began)),
        _ => o,
    };
    s.threads[i].altered = true;
    s.enabled.insert(LogicalThread(i as u16));
    if reluctant {
        s.reluctant.insert(LogicalThread(i as u16));
    }
}

/// No thread can go on, but one waits for a descriptor, for a child, or for something that a child
/// shares: the outside world may help (4.2). False if it did not.
#[cold]
fn sees_outside() -> bool {
    let s = state();
    let is_private = |w: Wait| matches!(w, Wait::Descriptor(..) | Wait::Several(_)) && !outsiders::may_end(w);
    let patience = |w: Wait| match w {
        w if is_private(w) => outsiders::patience(),
        Wait::Descriptor(..) | Wait::Partner(..) | Wait::Several(_) => serve::PATIENCE_MS,
        Wait::Child(_) => serve::PATIENCE_WITH_CHILDREN_MS,
        Wait::ById(_) if fork::is_any_child_alive() => serve::PATIENCE_WITH_CHILDREN_MS,
        Wait::ById(which) if which.may_be_ended_outside() => serve::PATIENCE_MS,
        Wait::ById(_) => 0,
        other => match other.object() {
            Some(object) if fork::may_change(object) => serve::PATIENCE_WITH_CHILDREN_MS,
            _ => 0,
        },
    };
    let live = |i: &usize| !s.threads[*i].ended;
    let most = (0..s.count).filter(live).map(|i| patience(s.threads[i].wait)).max().unwrap_or(0);
    let has_private = (0..s.count).filter(live).any(|i| is_private(s.threads[i].wait));
    for _ in 0..most {
        crate::sys::sleep_ms(1);
        fork::wakes_who_share();
        find_enabled();
        if !state().enabled.is_empty() {
            outsiders::came();
            return true;
        }
    }
    if has_private && most > 0 {
        outsiders::stayed_away();
    }
    // A child may have helped and ended meanwhile.
    fork::wakes_who_share();
    find_enabled();
    !state().enabled.is_empty()
}

/// Before an atomic operation. `drains`: it is a seq_cst store.
#[inline]
pub fn atomic(kind: OpKind, address: usize, size: usize, drains: bool, pc: usize) {
    if !state().running {
        return;
    }
    state().serve.is_at(0);
    let (place, site) = known_places::place(pc);
    match place {
        AtomicKind::Ordinary => {}
        AtomicKind::Mutex(kind) => return mutex(kind, address, site),
        AtomicKind::Quiet => {
            if super::heap::is_freed(address) {
                fatal::use_after_free(address, pc);
            }
            return hidden::atomic(kind, address, size, false, pc);
        }
    }
    if size > size_of::<usize>() {
        // Its value does not fit into one register.
        states::give_up(Unknowable::Step);
    }
    let granule = address & !7;
    let other = if (address + size - 1) & !7 != granule { granule + 8 } else { 0 };
    let o = op(kind, granule, pc).with_other(other as u64).with_bytes(address as u64, size);
    let o = o.with_drain(drains);
    memory(if known_places::may_wait() { o.with_yields(true) } else { o }, Wait::Nothing, address, pc);
    hidden::atomic(kind, address, size, true, pc);
    if size == size_of::<usize>() {
        // SAFETY: the program is about to access it.
        hidden::holds(unsafe { (address as *const usize).read_volatile() });
    }
}

/// Before an operation on a Rust mutex. Other atomic operations on it are named by its granule.
#[inline]
fn mutex(kind: OpKind, address: usize, pc: usize) {
    let granule = address & !7;
    let other = if granule != address { granule } else { 0 };
    let wait = if kind == OpKind::Lock { Wait::Word(address) } else { Wait::Nothing };
    memory(op(kind, address, pc).with_other(other as u64), wait, address, pc);
    hidden::atomic(OpKind::AtomicRmw, address, 4, true, pc);
}

/// Before a plain access of `len` bytes. Accesses that the detector found racy are scheduling
/// points (3.5). `counts`: the program does not ask to ignore it.
#[cold]
#[inline(never)]
pub fn data(write: bool, address: usize, len: usize, counts: bool, pc: usize) {
    let s = state();
    if !s.running {
        return;
    }
    let known = s.serve.point_at(pc);
    let step = known.is_some() || has(flag::ALL_DATA);
    if step {
        let width = known.and_then(of_table::width_read_first).filter(|_| write);
        let old = width.map(|width| reads_word(address, len, width, pc));
        let kind = if write { OpKind::DataWrite } else { OpKind::DataRead };
        let (first, last) = (address & !7, (address + len.max(1) - 1) & !7);
        let wide = last != first;
        // No instruction moves three or five bytes: the compiler uses several.
        if wide || !len.is_power_of_two() {
            hidden::note(gap::WIDE);
        }
        let o = op(kind, first, pc).with_bytes(address as u64, len);
        let o = o.with_other(if wide { last as u64 } else { 0 }).with_global(wide);
        memory(o, Wait::Nothing, address, pc);
        if let (Some(old), Some(width)) = (old, width) {
            // After this probe the program reads what it would have read then.
            // SAFETY: the word that the program is about to read and write.
            unsafe {
                core::ptr::copy_nonoverlapping(old.as_ptr(), word_of(address, width) as *mut u8, width)
            };
        }
    } else if let Some(freed) = super::heap::freed_within(address, len) {
        fatal::use_after_free(freed, pc);
    } else if let Some(whose) = threads::ended_with_stack(address) {
        fatal::use_of_left_stack(address, whose, pc);
    }
    if write {
        circle::writes_bytes(address, len);
        c11::written(address, 1);
    }
    hidden::plain(write, address, len, step, pc);
    if counts {
        races::plain(write, address, len, pc);
    }
}

/// True if a plain access at `pc` is a scheduling point.
pub fn is_point(pc: usize) -> bool {
    state().serve.is_point(pc) || has(flag::ALL_DATA)
}

/// Before a function of the C library accesses several bytes. It may do so one by one, and if it is
/// a step, others may see some of them.
#[cold]
pub fn in_pieces(pc: usize) {
    let s = state();
    if s.running && (s.serve.point_at(pc).is_some() || has(flag::ALL_DATA)) {
        hidden::note(gap::WIDE);
    }
}

/// A write to a bit-field reads its word first, after the probe. That is a separate step. Returns
/// what is read.
fn reads_word(address: usize, len: usize, width: usize, pc: usize) -> [u8; 8] {
    let at = word_of(address, width);
    // What it reads is kept in a variable of this function.
    states::give_up(Unknowable::Step);
    let o = op(OpKind::DataRead, at & !7, pc).with_bytes(at as u64, width);
    memory(o, Wait::Nothing, at, pc);
    hidden::plain(false, at, width, true, pc);
    if len > width {
        // One of several words.
        hidden::note(gap::WIDE);
    }
    let mut old = [0; 8];
    // SAFETY: the word that the program is about to read.
    unsafe { core::ptr::copy_nonoverlapping(at as *const u8, old.as_mut_ptr(), width) };
    old
}

fn word_of(address: usize, width: usize) -> usize {
    address & !(width - 1)
}

/// Before a function of the C library writes an unknown number of bytes at `address`. If this is a
/// point, it depends on everything.
pub fn fills(address: usize, pc: usize) {
    let s = state();
    if !s.running {
        return;
    }
    if s.serve.is_point(pc) || has(flag::ALL_DATA) {
        let o = op(OpKind::DataWrite, address & !7, pc).with_bytes(address as u64, 1).with_global(true);
        memory(o, Wait::Nothing, address, pc);
        let mut s = state();
        s.current_thread_mut().fills_at = pc;
    } else if super::heap::is_freed(address) {
        fatal::use_after_free(address, pc);
    }
    /// More than is compared: the thread counts as having changed something.
    const MUCH: usize = 16;
    circle::writes_bytes(address, MUCH);
}

/// Before a library function that keeps state between calls: its place among all steps matters.
pub fn keeps_state(pc: usize) {
    if super::is_running() {
        point(op(OpKind::Other, LIBRARY_STATE as usize, pc), Wait::Nothing, pc);
    }
}

/// The library has written to its own memory in that step.
pub fn library_wrote(address: usize, len: usize, pc: usize) {
    if super::is_running() {
        hidden::plain(true, address, len, true, pc);
    }
}

/// Before a stream is read or moved.
pub fn uses_stream(file: usize, pc: usize) {
    if super::is_running() {
        if !is_seekable(file) {
            super::retry_with_fork(Outside::PipeOrSocket);
        }
        point(op(OpKind::Io, file, pc), Wait::Nothing, pc);
    }
}

/// Before a stream is written to.
pub fn fills_stream(pc: usize) {
    if super::is_running() {
        super::retry_with_fork(Outside::Changes);
        // Another stream, a descriptor or the memory of `open_memstream` may refer to the same
        // file.
        hidden::note(gap::OUTSIDE);
        point(op(OpKind::Other, 0, pc), Wait::Nothing, pc);
    }
}

/// True if the stream is seekable, or in memory, which needs nothing restored.
fn is_seekable(file: usize) -> bool {
    unsafe extern "C" {
        fn fileno_unlocked(file: *mut core::ffi::c_void) -> i32;
    }
    // SAFETY: the program's stream.
    let fd = unsafe { fileno_unlocked(file as *mut _) };
    let ask = [fd as usize, 0, libc::SEEK_CUR as usize, 0, 0, 0];
    fd < 0 || crate::sys::syscall(libc::SYS_lseek, ask) >= 0
}

/// After a plain access of `len` bytes by a function of the C library. It was part of the step in
/// [`fills`], if that was one.
pub fn data_made(write: bool, address: usize, len: usize, counts: bool, pc: usize) {
    if !state().running {
        return;
    }
    if let Some(freed) = super::heap::freed_within(address, len) {
        fatal::use_after_free(freed, pc);
    }
    if write {
        c11::written(address, len);
    }
    let s = state();
    let step = write && s.threads[s.current].fills_at == pc;
    if step && len > 1 {
        // The library may write byte by byte, and others may see some of them.
        hidden::note(gap::WIDE);
    }
    hidden::plain(write, address, len, step, pc);
    if counts {
        races::plain(write, address, len, pc);
    }
    trace::range(write, address, len, pc);
}

#[inline]
fn memory(o: Op, wait: Wait, address: usize, pc: usize) {
    match spins(&o) {
        Spin::No => point(o.with_fence(c11::has_fenced()), wait, pc),
        Spin::Again => {
            states::give_up(Unknowable::Waits);
            hidden::note(gap::REPEATED)
        }
        Spin::Long => {
            let mut s = state();
            if has(flag::SPINS) && s.threads[s.current].idles && !has_pause(pc) {
                let by = s.current as u32;
                let slot = s.serve.slot();
                (slot.spins_at, slot.spins_by) = (pc as u32, by);
            }
            point(o.with_yields(true), Wait::Nothing, pc)
        }
    }
    // Others may have freed it meanwhile.
    if super::heap::is_freed(address) {
        fatal::use_after_free(address, pc);
    }
    if let Some(whose) = threads::ended_with_stack(address) {
        fatal::use_of_left_stack(address, whose, pc);
    }
}

enum Spin {
    No,
    Again,
    Long,
}

/// True if there is a `pause` near the code at `pc`: the good Samaritan's way to spin.
#[cold]
fn has_pause(pc: usize) -> bool {
    const NEAR: usize = 80;
    let start = pc.saturating_sub(NEAR);
    // SAFETY: code around a place that runs; a function at the very edge of its pages is preceded
    // by others or by padding.
    let code = unsafe { core::slice::from_raw_parts(start as *const u8, 2 * NEAR) };
    code.windows(2).any(|w| w == [0xf3, 0x90])
}

/// After this many reads, a spinning thread lets others go first.
const PATIENCE: u32 = 200;
/// After this many reads it is at the same place again, whether it reads one location or two.
const LAP: u32 = 2;

/// Whether the thread reads again, at the same place, what it has just read (or the two locations
/// it has just read), and did nothing else in between: a loop that adds to a variable reads what it
/// has written. Then it waits for somebody to change them, without saying so: a `pause` is no call.
/// While nobody else runs, it reads the same values, so there is nothing to choose. A loop that
/// gives up after some time, as locks do, comes to its end.
fn spins(o: &Op) -> Spin {
    let mut s = state();
    let me = s.current;
    let same = |a: &Op| (a.kind(), a.address(), a.site) == (o.kind(), o.address(), o.site);
    let reads = |a: &Op| matches!(a.kind(), OpKind::AtomicLoad | OpKind::DataRead);
    let last = s.pending[me];
    let only_reads = reads(o) && reads(&last);
    let repeats = only_reads && (same(&last) || same(&s.threads[me].recent));
    if repeats && !same(&last) {
        // The other of two locations: the next read but one is this one again.
        s.threads[me].recent = last;
        s.pending[me] = *o;
    } else if !repeats {
        s.threads[me].recent = if only_reads { last } else { Op::default() };
        s.threads[me].looks = 0;
        return Spin::No;
    }
    s.threads[me].looks += 1;
    let looks = s.threads[me].looks;
    if looks == PATIENCE - LAP {
        s.threads[me].look_state = circle::private_state();
    }
    if looks >= PATIENCE {
        let idles = circle::private_state() == s.threads[me].look_state;
        // A thread that counts is at work, or gives up when it has counted enough.
        (s.threads[me].looks, s.threads[me].idles) = (0, idles);
        return Spin::Long;
    }
    Spin::Again
}
