//! Atomic operations and fences: the C++11 rules, on clocks.
//!
//! Each atomic location that was ever released into has an object. Its clock is what an acquire of
//! the current value learns. The operation runs while the object is held, so that values and clocks
//! stay together.
//!
//! - A release store heads a new release sequence: its clock replaces the object's.
//! - A read-modify-write of any order continues the sequence; a release joins its clock.
//! - A relaxed store continues a sequence that its own thread heads (C++11), and breaks any other;
//!   after a release fence it publishes what that fence saw.
//! - An acquire joins the object's clock. A relaxed (or release-only) read puts it into
//!   `seen_relaxed`, where an acquire fence finds it; a program without fences ([`fences`]) skips
//!   that.
//!
//! Deviations: (1) consume is acquire. (2) seq_cst adds no order beyond acquire and release; fences
//! of that order are both. (3) A location that nothing was released into has no object. A relaxed
//! store there, at the moment when another thread creates one, may leave that thread's clock in
//! place. This can hide a race but not invent one. (4) Once the process has called `membarrier`,
//! relaxed loads acquire: the barrier of one thread stands for a fence in each other one, which
//! raddle does not see. What another thread does after the barrier, but before it synchronises
//! itself, counts as done before. Both can hide a race but not invent one.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::clock::SidClock;
use super::objects::{self, Object};
use super::thread::{Thread, gate};
use super::trace::AccessShape;
use super::{check, flush, sids};
use crate::hub::fences;
use crate::layout::{ATOMIC, READ, is_watchable, shadow_of};
use crate::sys;

/// C's memory_order as a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OrderNumber(pub c_int);

impl OrderNumber {
    /// The number may carry hints above the order itself.
    fn is(self, set: u32) -> bool {
        set >> (self.0 & 7) & 1 == 1
    }
    #[inline(always)]
    pub fn acquires(self) -> bool {
        self.is(0b110110) // consume 1, acquire 2, acq_rel 4, seq_cst 5
    }
    #[inline(always)]
    pub fn releases(self) -> bool {
        self.is(0b111000) // release 3, acq_rel 4, seq_cst 5
    }
    #[inline(always)]
    pub fn is_seq_cst(self) -> bool {
        self.is(0b100000)
    }
}

/// The order that counts: relaxed while the thread's synchronisation is ignored.
#[inline(always)]
fn counted(t: &Thread, order: OrderNumber) -> OrderNumber {
    if t.ignore_sync == 0 { order } else { OrderNumber(0) }
}

/// Reads with `op`.
#[inline]
pub fn load<R>(
    t: &mut Thread,
    address: usize,
    size: usize,
    order: OrderNumber,
    pc: usize,
    op: impl Fn() -> R,
) -> R {
    if !t.known {
        return op();
    }
    let _inside = t.enter();
    let order = counted(t, order);
    let value = op();
    if !order.acquires() && !fences::are_used() {
        touch::<false>(t, address, size, pc);
        return value;
    }
    // Read again under the object's lock, so that the clock belongs to the value.
    let seen = objects::with_existing(address, |o| {
        let value = op();
        see(t, o, order);
        touch::<false>(t, address, size, pc);
        value
    });
    seen.unwrap_or_else(|| {
        touch::<false>(t, address, size, pc);
        value
    })
}

/// The thread learns the object's clock, as far as `order` allows.
#[inline]
fn see(t: &mut Thread, o: &mut Object, order: OrderNumber) {
    if order.acquires() || BARRIERS.load(Relaxed) {
        t.learn(&mut o.clock);
    } else if fences::are_used() && !o.clock.is_empty() {
        t.catch_up();
        o.clock.teach(clock_at(&mut t.seen_relaxed), t.generation, |_, _| ());
    }
}

/// Writes with `op`.
#[inline]
pub fn store(t: &mut Thread, address: usize, size: usize, order: OrderNumber, pc: usize, op: impl FnOnce()) {
    if !t.known {
        return op();
    }
    let _inside = t.enter();
    let order = counted(t, order);
    flush::if_requested();
    if order.releases() {
        let head = head(t);
        objects::with(address, |o| {
            touch::<true>(t, address, size, pc);
            op();
            o.clock.assign(t.stamp());
            o.heads = head;
        });
        return t.advance();
    }
    touch::<true>(t, address, size, pc);
    if t.fenced.is_null() {
        let mut op = Some(op);
        objects::with_existing(address, |o| {
            if let Some(op) = op.take() {
                op();
            }
            relaxed_store(t, o);
        });
        if let Some(op) = op {
            op();
        }
    } else {
        objects::with(address, |o| {
            op();
            relaxed_store(t, o);
        });
    }
}

fn relaxed_store(t: &mut Thread, o: &mut Object) {
    t.catch_up();
    let me = head(t);
    if o.heads & me == 0 {
        o.clock.clear();
    }
    o.heads &= me;
    // SAFETY: null or this thread's own clock.
    if let Some(fenced) = unsafe { t.fenced.as_ref() } {
        o.clock.join_clock(fenced, t.generation);
        o.heads = me;
    }
}

/// Reads and writes with `op`, which returns whether it wrote. A failed compare-exchange is a load
/// with its own order.
#[inline]
pub fn update<R>(
    t: &mut Thread,
    address: usize,
    size: usize,
    orders: (OrderNumber, OrderNumber),
    pc: usize,
    op: impl FnOnce() -> (R, bool),
) -> R {
    if !t.known {
        return op().0;
    }
    let _inside = t.enter();
    flush::if_requested();
    let (order, failed) = (counted(t, orders.0), counted(t, orders.1));
    let mut op = Some(op);
    let mut run = |t: &mut Thread, o: &mut Object| {
        let (value, wrote) = op.take()?();
        see(t, o, if wrote { order } else { failed });
        touch_update(t, address, size, pc, wrote);
        if wrote {
            continue_sequence(t, o, order);
        }
        Some((value, wrote))
    };
    let done = if order.releases() || !t.fenced.is_null() {
        objects::with(address, |o| run(t, o))
    } else if order.acquires() || failed.acquires() || fences::are_used() {
        objects::with_existing(address, |o| run(t, o)).flatten()
    } else {
        None
    };
    if let Some((value, wrote)) = done {
        if wrote && order.releases() {
            t.advance();
        }
        return value;
    }
    // Nothing that this thread could learn was ever released here, and nothing is released now.
    let (value, wrote) = op.map_or_else(|| unreachable!(), |op| op());
    touch_update(t, address, size, pc, wrote);
    value
}

fn continue_sequence(t: &mut Thread, o: &mut Object, order: OrderNumber) {
    if order.releases() {
        o.heads |= head(t);
        o.clock.join(t.stamp());
        return;
    }
    t.catch_up();
    // SAFETY: null or this thread's own clock.
    if let Some(fenced) = unsafe { t.fenced.as_ref() } {
        o.clock.join_clock(fenced, t.generation);
        o.heads |= head(t);
    }
}

/// The bit of this thread in [`Object::heads`].
fn head(t: &Thread) -> u64 {
    1 << (t.id() % 64)
}

pub fn fence(t: &mut Thread, order: OrderNumber) {
    if !t.known {
        return;
    }
    let _inside = t.enter();
    let order = counted(t, order);
    t.catch_up();
    if fences::is_news() {
        t.acquire(&sids::published());
    }
    if order.acquires() {
        // SAFETY: null or this thread's own clock.
        if let Some(seen) = unsafe { t.seen_relaxed.as_ref() } {
            let seen = *seen;
            t.acquire(&seen);
        }
    }
    if order.releases() {
        let clock = *t.publish();
        clock_at(&mut t.fenced).copy(&clock);
        t.advance();
    }
}

/// The thread has made all threads pass a barrier at some moment (`membarrier`): what they did
/// before comes before what it does now. Their relaxed loads need no fence of their own afterwards
/// to see what comes before the barrier in this thread.
pub fn barrier_of_all(t: &mut Thread) {
    BARRIERS.store(true, Relaxed);
    fence(t, OrderNumber(5));
    if t.known && t.ignore_sync == 0 {
        let _inside = t.enter();
        t.catch_up();
        t.acquire(&sids::begun());
    }
}

/// The process has used `membarrier`.
static BARRIERS: AtomicBool = AtomicBool::new(false);

fn clock_at(at: &mut *mut SidClock) -> &mut SidClock {
    if at.is_null() {
        *at = sys::ARENA.take(size_of::<SidClock>()).cast();
    }
    // SAFETY: fresh zeroed memory, or what was put there before; only its thread uses it.
    unsafe { &mut **at }
}

/// An update that did not write is a read.
#[inline]
fn touch_update(t: &mut Thread, address: usize, size: usize, pc: usize, wrote: bool) {
    if wrote { touch::<true>(t, address, size, pc) } else { touch::<false>(t, address, size, pc) }
}

/// The access itself: atomics race with plain accesses, not with each other. An acquire has taken
/// effect before the access is checked, and a release covers it. All this happens while the object
/// is held: a thread that sees the new value and frees the memory comes later.
#[inline]
pub fn touch<const WRITE: bool>(t: &mut Thread, address: usize, size: usize, pc: usize) {
    if (t.gate != gate::OPEN && check::is_ignored::<WRITE>(t, pc)) || !is_watchable(address) {
        return;
    }
    let flags = t.state | ATOMIC | if WRITE { 0 } else { READ };
    let mut at = address;
    while at < address + size {
        let n = (8 - (at & 7)).min(address + size - at);
        let current = flags | ((1u32 << n) - 1) << (at & 7);
        if check::is_recorded(t, at, current) || check::is_own(t, at) {
            at += n;
            continue;
        }
        while !t.trace.try_access(t.sp, at, shadow_of(at), pc, AccessShape { write: WRITE, log2: n.ilog2() })
        {
            t.trace.prepare(t.sp, &t.held);
        }
        check::check::<WRITE, false>(t, at, pc, current);
        at += n;
    }
}
