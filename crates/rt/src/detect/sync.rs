//! The effect of synchronisation on clocks and locksets.
//!
//! In hb mode a lock passes its clock from holder to holder (4.4.1: writer to reader and writer,
//! reader to writer). In hybrid and fast mode it only enters the lockset, unless it was declared to
//! order.

use core::sync::atomic::{AtomicBool, Ordering::*};

use super::held_locks::{self, HeldEntry, HoldMode};
use super::objects::{self, Creation, Object};
use super::thread::{Current, Thread};
use super::trace::LockEvent;
use super::{depot, flush, hand_over, settings};
use crate::hub::log;
use crate::trace::plain;
use raddle_explore::OpKind;
use raddle_wire::record::{HeldLock, LockKind, Record};

/// A thread of unknown origin becomes known by its first synchronisation.
#[inline(always)]
fn is_known(t: Current) -> bool {
    if !t.known {
        crate::interpose::thread::adopt(t);
    }
    t.known
}

/// True if the thread's synchronisation counts. Makes the thread known.
#[inline(always)]
fn orders(t: Current) -> bool {
    is_known(t) && t.ignore_sync == 0
}

/// SIGNAL: hands what this thread has done so far to whoever acquires `key`.
pub fn release(mut t: Current, key: usize) {
    if plain::is_on() {
        return plain::step(&mut t, OpKind::CondSignal, key, 0);
    }
    if orders(t) {
        release_known(&mut t, key);
    }
}

/// [`release`] for a known thread whose synchronisation counts.
pub fn release_known(t: &mut Thread, key: usize) {
    let _inside = t.enter();
    flush::if_requested();
    objects::with(key, |o| o.clock.join(t.stamp()));
    t.advance();
}

/// [`release`] that takes the place of whatever others have released into `key`.
pub fn release_alone(mut t: Current, key: usize) {
    if plain::is_on() || !orders(t) {
        return release(t, key);
    }
    let t = &mut *t;
    let _inside = t.enter();
    flush::if_requested();
    objects::with(key, |o| o.clock.assign(t.stamp()));
    t.advance();
}

/// Hands what this thread has done so far to whoever acquires one of `keys`.
pub fn release_into(mut t: Current, keys: &[usize]) {
    if plain::is_on() {
        return keys.iter().for_each(|key| plain::step(&mut t, OpKind::CondSignal, *key, 0));
    }
    if !orders(t) || keys.is_empty() {
        return;
    }
    let t = &mut *t;
    let _inside = t.enter();
    flush::if_requested();
    for key in keys {
        objects::with(*key, |o| o.clock.join(t.stamp()));
    }
    t.advance();
}

/// [`release_into`] as the last deed of a context. No new segment begins, so whoever acquires it
/// has seen the sid to its end, and can take it.
pub fn release_at_end(mut t: Current, keys: &[usize]) {
    if plain::is_on() || !orders(t) {
        return release_into(t, keys);
    }
    let t = &mut *t;
    let _inside = t.enter();
    flush::if_requested();
    for key in keys {
        objects::with(*key, |o| o.clock.join(t.stamp()));
    }
}

/// WAIT: this thread has seen everything that was released into `key`.
pub fn acquire(mut t: Current, key: usize) {
    if plain::is_on() {
        return plain::step(&mut t, OpKind::CondWake, key, 0);
    }
    if orders(t) {
        acquire_known(&mut t, key);
    }
}

/// [`acquire`] for a known thread whose synchronisation counts.
pub fn acquire_known(t: &mut Thread, key: usize) {
    let _inside = t.enter();
    // The object is held, as everywhere: see `atomics`.
    objects::with_existing(key, |o| t.learn(&mut o.clock));
}

/// True if something was released into `key`.
pub fn has_clock(mut t: Current, key: usize) -> bool {
    let _inside = t.enter();
    objects::with_existing(key, |o| !o.clock.is_empty()).unwrap_or(false)
}

/// The bit of a thread in the `heads` of a file's object, which say who has written the file.
fn writer(t: &Thread) -> u64 {
    1 << (t.id() % 64)
}

/// [`release`] by a thread that writes a file.
pub fn release_as_writer(mut t: Current, key: usize) {
    if plain::is_on() || !orders(t) {
        return release(t, key);
    }
    let t = &mut *t;
    let _inside = t.enter();
    flush::if_requested();
    let own = writer(t);
    objects::with(key, |o| {
        o.clock.join(t.stamp());
        o.heads |= own;
    });
    t.advance();
}

/// [`acquire`], unless this thread has written the file itself.
pub fn acquire_from_other_writers(mut t: Current, key: usize) {
    if plain::is_on() || !orders(t) {
        return;
    }
    let t = &mut *t;
    let _inside = t.enter();
    let own = writer(t);
    objects::with_existing(key, |o| {
        if o.heads & own == 0 {
            t.learn(&mut o.clock);
        }
    });
}

/// How a lock came to be held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Taking {
    pub mode: HoldMode,
    pub what: LockKind,
    pub pc: usize,
}

/// The thread is about to wait for the lock at `key`. This is a lock-order edge even if the thread
/// never gets the lock.
pub fn locking(t: &mut Thread, key: usize, taking: Taking) {
    if !settings().lock_order || t.held.is_empty() || !t.known || t.held.holds(key) {
        return;
    }
    let _inside = t.enter();
    let stack = depot::current(t, taking.pc);
    let uid = number(key, taking.what);
    super::report::lock_edge(t, HeldEntry { key, uid, stack, mode: taking.mode, is_mutex: false, times: 1 });
}

/// The lock's number in reports. A new number is written to the log.
pub fn number(key: usize, what: LockKind) -> u32 {
    let (uid, new) = objects::with(key, Object::lock_number);
    if new {
        log::write(&Record::Lock { lock: uid as u64, address: key as u64, what });
    }
    uid
}

/// The lock at `key` was just taken.
pub fn locked(mut t: Current, key: usize, taking: Taking) {
    if plain::is_on() {
        let kind = if taking.mode == HoldMode::Read { OpKind::ReadLock } else { OpKind::Lock };
        return plain::step(&mut t, kind, key, 0);
    }
    if !is_known(t) {
        return;
    }
    let t = &mut *t;
    let _inside = t.enter();
    if t.held.again(key) {
        return;
    }
    let stack = depot::current(t, taking.pc);
    let hybrid = settings().hybrid;
    let (uid, new) = objects::with(key, |o| {
        t.catch_up();
        if (!hybrid && !o.only_held || o.orders) && t.ignore_sync == 0 {
            t.learn(&mut o.clock);
            if let (HoldMode::Write, Some(more)) = (taking.mode, o.more()) {
                t.learn(&mut more.second);
            }
        }
        if taking.mode == HoldMode::Write {
            o.writer = true;
        }
        o.lock_number()
    });
    if new {
        log::write(&Record::Lock { lock: uid as u64, address: key as u64, what: taking.what });
    }
    let is_mutex = taking.what == LockKind::Mutex;
    let lock = HeldEntry { key, uid, stack, mode: taking.mode, is_mutex, times: 1 };
    t.held.push(lock);
    t.trace.lock(t.sp, &t.held, LockEvent::Taken, taking.mode, key, stack);
    if hybrid {
        held_locks::changed(t);
        hand_over::taken(t, key, stack);
    }
}

/// The lock at `key` is about to be released.
pub fn unlocking(mut t: Current, key: usize) {
    if plain::is_on() {
        return plain::step(&mut t, OpKind::Unlock, key, 0);
    }
    if !is_known(t) {
        return;
    }
    let t = &mut *t;
    let _inside = t.enter();
    flush::if_requested();
    let Some(lock) = t.held.pop(key) else {
        // The lock was not seen being taken (handed over between threads, or taken before raddle
        // looked), or it is still held.
        if !t.held.holds(key) {
            hand_on(t, key, HoldMode::Write, false);
        }
        return;
    };
    t.trace.lock(t.sp, &t.held, LockEvent::Released, lock.mode, key, 0);
    hand_on(t, key, lock.mode, true);
    if settings().hybrid {
        hand_over::let_go(t, key);
        held_locks::changed(t);
    }
}

/// `held`: the thread was seen to take the lock, so it has seen everything that the lock knew.
fn hand_on(t: &mut Thread, key: usize, mode: HoldMode, held: bool) {
    let hybrid = settings().hybrid;
    let handed = objects::with(key, |o| {
        if mode == HoldMode::Write {
            o.writer = false;
        }
        if (hybrid || o.only_held) && !o.orders || t.ignore_sync != 0 {
            return false;
        }
        match mode {
            HoldMode::Write if held => o.clock.assign(t.stamp()),
            HoldMode::Write => o.clock.join(t.stamp()),
            HoldMode::Read => o.make_more().second.join(t.stamp()),
        }
        true
    });
    if handed {
        t.advance();
    }
}

/// A condition variable releases the mutex completely, however often it is held. Returns how often.
pub fn unlocking_for_wait(t: Current, key: usize) -> u32 {
    let times = t.held.times(key);
    if settings().condvar_mutexes_order {
        order_by(key);
    }
    for _ in 0..times.max(1) {
        unlocking(t, key);
    }
    times
}

/// The wait is over and the mutex is held again.
pub fn locked_after_wait(t: Current, key: usize, times: u32, pc: usize) {
    let taking = Taking { mode: HoldMode::Write, what: LockKind::Mutex, pc };
    for _ in 0..times.max(1) {
        locked(t, key, taking);
    }
}

/// Makes this lock order from now on, in every mode (`ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX`).
pub fn order_by(key: usize) {
    objects::with(key, |o| (o.orders, o.only_held) = (true, false));
}

/// True if any thread holds the lock for writing.
pub fn is_held_by_writer(key: usize) -> bool {
    objects::with_existing(key, |o| o.writer).unwrap_or(false)
}

/// What an annotation said when the lock was made.
pub fn creation(key: usize) -> Creation {
    objects::with_existing(key, |o| o.creation).unwrap_or_default()
}

pub fn set_creation(key: usize, creation: Creation) {
    objects::with(key, |o| o.creation = creation);
}

/// True once a lock was declared not to order.
static SOME_ONLY_HOLD: AtomicBool = AtomicBool::new(false);

/// Makes this lock order nothing from now on, not even in hb mode. It still keeps its holders apart
/// (`ANNOTATE_NOT_HAPPENS_BEFORE_MUTEX`).
pub fn only_hold(key: usize) {
    SOME_ONLY_HOLD.store(true, Relaxed);
    objects::with(key, |o| (o.orders, o.only_held) = (false, true));
}

pub fn some_only_hold() -> bool {
    SOME_ONLY_HOLD.load(Relaxed)
}

pub fn only_holds(key: usize) -> bool {
    objects::with_existing(key, |o| o.only_held).unwrap_or(false)
}

/// Makes all locks that the thread holds order from now on.
pub fn order_by_held(t: &Thread) {
    t.held.iter().for_each(|l| order_by(l.key));
}

/// The memory of the object is about to be used for something else.
pub fn destroyed(key: usize) {
    hand_over::destroyed(key);
    objects::remove(key);
}

/// Arrives at a barrier. Returns the phase to give to [`barrier_passed`].
pub fn barrier_arrived(mut t: Current, key: usize) -> u32 {
    if !is_known(t) {
        return 0;
    }
    let t = &mut *t;
    let _inside = t.enter();
    if plain::is_on() {
        let count = objects::with(key, |o| o.make_more().barrier.count);
        plain::step(t, OpKind::Barrier, key, count.max(1) as usize);
        return 0;
    }
    flush::if_requested();
    let phase = objects::with(key, |o| {
        let (clock, more) = o.clock_and_more();
        let phase = more.barrier.phase;
        more.barrier.inside[phase as usize & 1] += 1;
        // If more threads use a barrier than it is for, one from two phases ago may still have to
        // learn its clock.
        let is_first = more.barrier.inside[phase as usize & 1] == 1;
        more.barrier.arrived += 1;
        if more.barrier.arrived >= more.barrier.count.max(1) {
            more.barrier.arrived = 0;
            more.barrier.phase += 1;
        }
        let into = if phase & 1 == 0 { clock } else { &mut more.second };
        if is_first {
            into.assign(t.stamp());
        } else {
            into.join(t.stamp());
        }
        phase
    });
    t.advance();
    phase
}

/// The thread has passed the barrier. The clock of this phase is still complete, since this thread
/// is inside.
pub fn barrier_passed(mut t: Current, key: usize, phase: u32) {
    if plain::is_on() {
        return plain::step(&mut t, OpKind::Barrier, key, 0);
    }
    if !is_known(t) {
        return;
    }
    let t = &mut *t;
    let _inside = t.enter();
    objects::with(key, |o: &mut Object| {
        let (clock, more) = o.clock_and_more();
        t.learn(if phase & 1 == 0 { clock } else { &mut more.second });
        let inside = &mut more.barrier.inside[phase as usize & 1];
        *inside = inside.saturating_sub(1);
    });
}

impl From<&HeldEntry> for HeldLock {
    fn from(l: &HeldEntry) -> HeldLock {
        HeldLock { lock: l.uid as u64, read: l.mode as u64, stack: l.stack as u64 }
    }
}
