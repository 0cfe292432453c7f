//! Happens-before, and `--memory c11`: which of the values that the C11 model allows a load
//! returns.
//!
//! The model is [`raddle_explore::stale`]; this module tells it what happens. It exists if stale
//! values are asked for, or data races ([`super::races`]), which need only its clocks. Program
//! memory always has the newest values, and only the loading thread gets a stale one. So everything
//! but an atomic operation of instrumented code (plain accesses, system calls, the C library) sees
//! the newest values. The model's memory lies outside the snapshot.
//!
//! Other synchronisation enters the model at its scheduling point ([`did`]). If it is not certain
//! that something orders two threads (a semaphore's `getvalue`, two readers of one lock, a futex),
//! it counts as if it did. That hides stale reads and races, and never invents one.

use core::ffi::c_int;

use raddle_explore::op::{LIBRARY_STATE, SEES_OUTSIDE};
use raddle_explore::races::Deed;
use raddle_explore::stale::{AtomicObject, AtomicOrder, Model};
use raddle_explore::{Op, OpKind, StepFlags};
use raddle_wire::explore::{flag, gap};

use super::point::point;
use super::sync::choose_by;
use super::{Wait, has, hidden, op, races, state};
use crate::detect::thread::current;
use crate::handle::Handle;
use crate::interpose::channel;
use crate::sys;

/// Signals, timers that send one, and requests to cancel. Who handles one comes after all who have
/// sent one: a signal to the process, or one of a queue, does not say whose it is. The order may be
/// too much, so a search in which one arrives is not complete (`gap::SIGNAL`).
const SIGNALS: u64 = 1 << 61;
const ANNOTATIONS: u64 = 1 << 60;
/// What is outside memory: files by name and content, message queues, names of semaphores. Each call
/// that sees or changes it may hand over by it, and is ordered after all such calls before it. That
/// may be too much: if the program fixes the order of two calls by other means, it hides a race in
/// all schedules. So a search is not complete once such an order came from another thread.
const OUTSIDE: u64 = 1 << 59;
/// The content of any file that is written by a descriptor.
const WRITTEN: u64 = 1 << 58;

/// The model, if it is in use and an execution runs.
#[inline(always)]
pub(super) fn model() -> Option<Handle<Model>> {
    let s = state();
    if s.memory.is_null() || !s.running {
        return None;
    }
    // SAFETY: the model's own memory; one thread runs at a time, and no reference is kept across a
    // point.
    unsafe { Handle::or_none(s.memory) }
}

/// At the start of the process.
pub fn prepare() {
    if has(flag::C11 | flag::RACES) {
        // Zeros are an empty model.
        state().memory = sys::pages(size_of::<Model>()).cast();
    }
}

/// An execution begins.
pub fn begin() {
    // SAFETY: null, or as above.
    if let Some(model) = unsafe { state().memory.as_mut() } {
        model.reset();
    }
}

/// What the thread loads at `address`, where memory has `now`. None means `now`.
#[inline]
pub fn load<T: Into<u128>>(address: usize, size: usize, order: c_int, now: T, pc: usize) -> Option<u128> {
    if state().memory.is_null() {
        return None;
    }
    load_of_several(place(address, size, now.into()), AtomicOrder::from_number(order), pc)
}

#[cold]
fn load_of_several(place: AtomicObject, order: AtomicOrder, pc: usize) -> Option<u128> {
    let me = state().current;
    let count = model()?.clock(me).map(|c| c.next(me));
    let n = if has(flag::C11) { model()?.candidates(me, place, order) } else { 1 };
    let granule = place.address & !7;
    let back = choose_by(n, op(OpKind::Choose, granule as usize, pc).with_other(place.address));
    let value = model()?.load(me, place, order, back);
    races::atomic(Deed::Load, &place, count, pc);
    Some(value)
}

/// The thread is about to store `value`.
#[inline]
pub fn store<T: Into<u128>>(address: usize, size: usize, order: c_int, value: T) {
    if let Some(mut model) = model() {
        let (before, me) = (place(address, size, word(address, size)), state().current);
        let count = model.clock(me).map(|c| c.next(me));
        model.store(me, before, AtomicOrder::from_number(order), value.into());
        races::atomic(Deed::Store, &before, count, current().caller);
    }
}

/// The thread has read `old` and, if it `wrote`, has stored the current value. The second order
/// applies if it did not write.
#[inline]
pub fn updated<T: Into<u128>>(address: usize, size: usize, orders: (c_int, c_int), old: T, wrote: bool) {
    let old = old.into();
    if state().running && (!wrote || word(address, size) == old) {
        let flag = if wrote { StepFlags::SAME_VALUE } else { StepFlags::UNCHANGED };
        state().serve.mark_update(flag);
    }
    if let Some(mut model) = model() {
        let (before, me) = (place(address, size, old), state().current);
        let count = model.clock(me).map(|c| c.next(me));
        let deed = if wrote { Deed::Store } else { Deed::Load };
        if wrote {
            model.rmw(me, before, AtomicOrder::from_number(orders.0), word(address, size));
        } else {
            model.load(me, before, AtomicOrder::from_number(orders.1), 0);
        }
        races::atomic(deed, &before, count, current().caller);
    }
}

/// A fence. A seq_cst fence is a step, ordered with those of the other threads.
pub fn fence(order: c_int, pc: usize) {
    let mut order = AtomicOrder::from_number(order);
    if order == AtomicOrder::SeqCst && has(flag::C11) {
        point(op(OpKind::Fence, 0, pc), Wait::Nothing, pc);
    } else if order == AtomicOrder::SeqCst {
        state().current_thread_mut().fenced = true;
        // Two of them do not synchronise by themselves.
        order = AtomicOrder::AcqRel;
    }
    if let Some(mut model) = model() {
        model.fence(state().current, order);
    }
}

/// True if the running thread has passed a seq_cst fence since its last step. Without the model a
/// fence is no step, but it decides whether loads could have passed stores.
#[inline]
pub fn has_fenced() -> bool {
    let mut s = state();
    core::mem::take(&mut s.current_thread_mut().fenced)
}

/// The running thread makes this step.
#[inline]
pub fn did(o: &Op) {
    if !state().memory.is_null() {
        synchronises(o);
    }
}

#[cold]
fn synchronises(o: &Op) {
    use OpKind::*;
    let Some(mut model) = model() else { return };
    let s = state();
    let me = s.current;
    if s.threads[me].arrived | s.arrived != 0 {
        model.acquire(me, SIGNALS);
    }
    match o.kind() {
        Lock | TryLock | TimedLock | ReadLock | WriteLock | SemWait | FutexWait | Once => {
            model.acquire(me, o.object)
        }
        CondWake => model.acquire(me, o.other),
        CondWait => model.release(me, o.other),
        Unlock | SemPost | FutexWake => model.release(me, o.object),
        Barrier => {
            model.acquire(me, o.object);
            model.release(me, o.object);
        }
        Io => {
            for key in o.keys().into_iter().filter(|k| *k != 0) {
                model.acquire(me, key);
                model.release(me, key);
            }
            if channel::passes_descriptors() {
                // Two numbers may stand for one thing.
                model.acquire(me, channel::ANY_READY as u64);
            }
            after_what_is_outside(me);
            model.release(me, channel::ANY_READY as u64);
        }
        // It keeps its own state, and hands nothing over.
        Other if o.object == LIBRARY_STATE && o.other != SEES_OUTSIDE => {
            model.acquire(me, channel::ANY_READY as u64)
        }
        // Who reads a file comes after who wrote it.
        Other if channel::is_file_object(o.object as usize) => {
            model.acquire(me, channel::ANY_READY as u64);
            after_what_is_outside(me);
            if o.other == 0 {
                model.acquire(me, o.object);
            } else {
                // Who writes has noted that already.
                model.release(me, o.object);
                model.release(me, WRITTEN);
            }
        }
        Other => {
            model.acquire(me, channel::ANY_READY as u64);
            after_what_is_outside(me);
            model.release(me, OUTSIDE);
            state().outside_by |= by(me);
        }
        Timer => {
            model.acquire(me, o.object);
            model.release(me, o.object);
            model.release(me, SIGNALS);
        }
        Signal => {
            model.acquire(me, SIGNALS);
            model.release(me, SIGNALS);
        }
        Join if s.threads[o.object as usize].ended => model.join(me, o.object as usize),
        Free => model.forget(o.object, o.other),
        _ => {}
    }
}

/// A thread in a set of threads, of which the last stands for all above it.
fn by(thread: usize) -> u64 {
    1 << thread.min(63)
}

/// The running thread comes after all calls that may have changed what is outside memory.
fn after_what_is_outside(me: usize) {
    if let Some(mut model) = model() {
        model.acquire(me, OUTSIDE);
        model.acquire(me, WRITTEN);
    }
    if state().outside_by & !by(me) != 0 || me >= 63 {
        hidden::note(gap::OUTSIDE);
    }
}

/// The running thread is about to handle a signal, or to act on a request to cancel.
pub fn handles_signal() {
    if let Some(mut model) = model() {
        model.acquire(state().current, SIGNALS);
    }
}

/// The running thread has created `child`.
pub fn created(child: usize) {
    if let Some(mut model) = model() {
        model.create(state().current, child);
    }
}

/// The running thread passes an initialiser, or is about to run it. An initialiser that threw
/// happened before.
pub fn initialises(at: usize) {
    let mut s = state();
    let me = s.current;
    let Some(mut model) = model() else { return };
    for i in (0..s.count).filter(|i| *i != me && s.threads[*i].initialisers.contains(&at)) {
        model.join(me, i);
    }
    if let Some(free) = s.threads[me].initialisers.iter_mut().find(|i| **i == 0 || **i == at) {
        *free = at;
    }
}

/// The running thread comes after whoever has [`released`] this.
pub fn acquired(at: usize) {
    if let Some(mut model) = model() {
        model.acquire(state().current, at as u64);
    }
}

/// The running thread has passed an initialiser.
pub fn initialised(at: usize) {
    let mut s = state();
    s.current_thread_mut().initialisers.iter_mut().filter(|i| **i == at).for_each(|i| *i = 0);
    released(at);
}

/// The running thread has finished an initialiser, or ends and gives up a mutex or a FILE.
pub fn released(at: usize) {
    if let Some(mut model) = model() {
        model.release(state().current, at as u64);
    }
}

/// The running thread has made all threads pass a barrier (`membarrier`).
pub fn barrier_of_all() {
    let Some(mut model) = model() else { return };
    let s = state();
    for i in (0..s.count).filter(|i| *i != s.current) {
        model.join(s.current, i);
    }
    for i in (0..s.count).filter(|i| *i != s.current) {
        model.join(i, s.current);
    }
}

/// An annotation says that what the thread has done happens before whoever [`expects`] `key`.
pub fn promises(key: usize) {
    if let Some(mut model) = model() {
        model.release(state().current, ANNOTATIONS | key as u64);
    }
}

pub fn expects(key: usize) {
    if let Some(mut model) = model() {
        model.acquire(state().current, ANNOTATIONS | key as u64);
    }
}

/// A plain write of at least this many bytes.
#[inline]
pub fn written(address: usize, len: usize) {
    if let Some(mut model) = model() {
        model.forget(address as u64, (address + len) as u64);
    }
}

fn place(address: usize, size: usize, value: u128) -> AtomicObject {
    AtomicObject { address: address as u64, size: size as u8, value }
}

/// The value in memory. No other thread runs.
fn word(address: usize, size: usize) -> u128 {
    let mut bytes = [0u8; 16];
    // SAFETY: an atomic object of the program's, about to be accessed or just accessed by it.
    unsafe { core::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size.min(16)) };
    u128::from_le_bytes(bytes)
}
