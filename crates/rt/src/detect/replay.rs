//! Reads back from the traces who made the access in a shadow slot, where, and with which locks.

use super::thread::{Card, card};
use super::trace::{AccessShape, LockEvent, RingEvent, granule_hash};
use super::{objects, sids};
use crate::hub::modules;
use crate::layout::{ATOMIC, READ, epoch, shadow_of, sid};
use crate::sys::Shared;
use raddle_wire::record::{AccessKind, HeldLock};

pub const DEEPEST: usize = 128;
const LOCKS: usize = 16;

/// An earlier access.
pub struct Earlier {
    pub thread: u32,
    pub kind: AccessKind,
    /// The bytes of the granule that it touched; 0 if only the slot knows.
    pub bytes: u32,
    pub frames: [u64; DEEPEST],
    pub depth: usize,
    pub locks: [HeldLock; LOCKS],
    pub locks_held: usize,
}

/// The calls of the replayed thread by depth.
static CALLS: Shared<[u64; 1 << 14]> = Shared::new([0; 1 << 14]);

struct Replay<'a> {
    out: &'a mut Earlier,
    slot: u32,
    address: usize,
    /// The bytes that the two accesses share.
    overlap: u32,
    hash: u32,
    in_segment: bool,
    top: usize,
    /// How well the best match so far fits. Later matches win ties; a range that covers the granule
    /// is certain.
    fit: u32,
    held: [(u64, HeldLock); LOCKS],
    held_n: usize,
}

/// Fills `out` with what is known of `slot`'s access to the bytes `overlap` of the granule at
/// `address`. The caller holds the lock on reports, which keeps that thread alive and protects
/// [`CALLS`].
pub fn find(slot: u32, address: usize, overlap: u32, out: &mut Earlier) {
    out.kind = kind_of(slot);
    out.bytes = 0;
    out.depth = 0;
    out.locks_held = 0;
    let Some(thread) = sids::user(sid(slot), epoch(slot)) else {
        out.thread = u32::MAX;
        return;
    };
    out.thread = thread;
    let Some(card) = card(thread) else { return };
    let mut replay = Replay {
        out,
        slot,
        address,
        overlap,
        hash: granule_hash(shadow_of(address)) as u32,
        in_segment: false,
        top: 0,
        fit: 0,
        held: [(0, HeldLock { lock: 0, read: 0, stack: 0 }); LOCKS],
        held_n: 0,
    };
    trace_of(card).replay(|event| replay.see(event));
}

/// The trace of a thread. If the thread runs, it keeps writing meanwhile.
fn trace_of(card: &Card) -> super::trace::AccessTrace {
    let live = card.live.load(core::sync::atomic::Ordering::Acquire);
    // SAFETY: a thread takes its pointer back under the lock on reports, which is held.
    if live.is_null() { card.trace.get() } else { unsafe { (*live).trace } }
}

pub fn kind_of(slot: u32) -> AccessKind {
    match (slot & READ != 0, slot & ATOMIC != 0) {
        (true, false) => AccessKind::Read,
        (false, false) => AccessKind::Write,
        (true, true) => AccessKind::AtomicRead,
        (false, true) => AccessKind::AtomicWrite,
    }
}

impl Replay<'_> {
    fn see(&mut self, event: RingEvent) {
        match event {
            RingEvent::Segment(state) => self.in_segment = state == self.slot & 0x3fff_ff00,
            RingEvent::Call { depth, pc } => {
                // SAFETY: CALLS is used under the lock on reports only.
                unsafe { (*CALLS.get())[depth] = pc };
                self.top = depth + 1;
            }
            RingEvent::Lock { what: LockEvent::Taken, read, stack, lock } => self.take(lock, read, stack),
            RingEvent::Lock { lock, .. } => self.let_go(lock),
            RingEvent::Part => self.held_n = 0,
            RingEvent::Access { shape, pc, depth, byte, hash } if self.in_segment && hash == self.hash => {
                let fit = self.fit_of(shape, byte);
                if fit > 0 && fit >= self.fit {
                    self.fit = fit;
                    // Replaces the allocation, if that was the best match so far.
                    self.out.kind = kind_of(self.slot);
                    self.out.bytes = ((1 << (1 << shape.log2)) - 1) << byte;
                    self.keep(pc, depth);
                }
            }
            RingEvent::Range { kind, pc, depth, granule, granules } if self.in_segment => {
                let at = self.address as u64 >> 3;
                let writes = !matches!(kind, AccessKind::Read);
                if at >= granule && at < granule + granules && writes == (self.slot & READ == 0) {
                    self.fit = 2;
                    self.out.kind = kind;
                    self.out.bytes = 0;
                    self.keep(pc, depth);
                }
            }
            _ => {}
        }
    }

    /// 2 if the access covers a byte that both share; 0 if it cannot be the one.
    fn fit_of(&self, shape: AccessShape, byte: u32) -> u32 {
        let bytes = ((1u32 << (1 << shape.log2)) - 1) << byte;
        let fits = shape.write == (self.slot & READ == 0) && bytes & self.overlap != 0;
        fits as u32 * 2
    }

    fn keep(&mut self, pc: u32, depth: u32) {
        // The access may come after returns, which the trace does not record. Its depth is the
        // deepest one that ends in these bits and is no deeper than the calls entered.
        let below = self.top & 63;
        let depth = depth as usize;
        let depth = if below >= depth {
            self.top - (below - depth)
        } else {
            (self.top + depth).saturating_sub(below + 64)
        };
        self.out.frames[0] = modules::complete(pc);
        let n = depth.min(DEEPEST - 1);
        for i in 0..n {
            // SAFETY: under the lock on reports.
            self.out.frames[i + 1] = unsafe { (*CALLS.get())[(depth - 1 - i) & 0x3fff] };
        }
        self.out.depth = n + 1;
        self.out.locks_held = self.held_n;
        for (to, (_, from)) in self.out.locks.iter_mut().zip(&self.held[..self.held_n]) {
            *to = *from;
        }
    }

    fn take(&mut self, key: u64, read: bool, stack: u32) {
        if self.held[..self.held_n].iter().any(|h| h.0 == key) || self.held_n == LOCKS {
            return;
        }
        let uid = objects::peek_lock_number(key as usize);
        if uid != 0 {
            let lock = HeldLock { lock: uid as u64, read: read as u64, stack: stack as u64 };
            self.held[self.held_n] = (key, lock);
            self.held_n += 1;
        }
    }

    fn let_go(&mut self, key: u64) {
        if let Some(at) = self.held[..self.held_n].iter().position(|h| h.0 == key) {
            self.held.copy_within(at + 1..self.held_n, at);
            self.held_n -= 1;
        }
    }
}
