//! The trace: enough of a thread's recent past to restore the stack and the locks of an earlier
//! access.
//!
//! Each thread has two pieces of memory. The **shadow call stack** holds the return address of each
//! active call; `__tsan_func_entry` pushes it and `__tsan_func_exit` pops it. The **ring** holds
//! events of one or two words. Their fields, from the top bit of the first word, with their bits:
//!
//! - 0, write 1, pc 32, depth 6, byte 3, log2 of the size 2, granule hash 19: an access that was
//!   recorded in shadow.
//! - 100, depth 14, pc 47: a call, by its return address.
//! - 101, state 32: a new segment.
//! - 110, kind 3, pc 32, depth 6; then granule 44, granules 20: a range was accessed, allocated or
//!   freed.
//! - 111, lock event 2, read 1, stack 32; then lock 64: a lock was taken or released, or was held
//!   when the part began.
//!
//! Deviations from the paper, which keeps one context per segment (4.3): (1) contexts are kept for
//! accesses, not segments. So history 1 is as precise as the paper's 2 for the first access of a
//! segment to a granule, at less cost. (2) The ring bounds the past: an access whose events were
//! overwritten has no stack in its report.
//!
//! Calls enter the ring only when an access below them does (bit 63 of a stack entry: already
//! there). Returns never enter it: an access says how deep it is. A **part** of the ring can be
//! read without the earlier ones: it begins with the segment and the locks held, and all active
//! calls are entered again when needed.
//!
//! An access keeps only the low half of its program counter; a report finds the module in which it
//! makes sense.

use super::held_locks::{HoldMode, ThreadLocks};
use crate::sys::{self, Shared, Spin};
use raddle_wire::record::AccessKind;

pub const PART: usize = 1 << 13;
/// Room for a ring. History 2, where each access leaves an event, uses all of it. History 1, where
/// only a segment's first access to a granule does, uses half: memory is touched as it is used.
const RING: usize = PART * 16;

/// Bit 63 of a shadow-stack entry: this call is in the current part.
pub const ENTERED: usize = 1 << 63;

/// More than the frames of a report, much less than a part.
const ENTER_AT_ONCE: usize = 512;

/// A page below the bottom of the shadow stack, so that reading the top of an empty one is
/// harmless.
const BELOW: usize = 4096;
const SMALLEST_STACK: usize = 256 << 10;
const LARGEST_STACK: usize = 1 << 30;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct AccessTrace {
    /// The next event; null: no trace is kept (history 0).
    pos: *mut u64,
    /// The last word of the part: an access may be entered before it. Null like `pos`.
    last: *mut u64,
    ring: *mut u64,
    /// The bottom of the current shadow call stack.
    pub stack: *mut usize,
    stack_bytes: usize,
    wrapped: bool,
    /// The number of parts in use.
    parts: u32,
    /// The current segment, for the beginning of a part.
    state: u32,
}

/// An event, read back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RingEvent {
    Access {
        shape: AccessShape,
        pc: u32,
        depth: u32,
        byte: u32,
        hash: u32,
    },
    Call {
        depth: usize,
        pc: u64,
    },
    Segment(u32),
    Range {
        kind: AccessKind,
        pc: u32,
        depth: u32,
        granule: u64,
        granules: u64,
    },
    Lock {
        what: LockEvent,
        read: bool,
        stack: u32,
        lock: u64,
    },
    /// A part begins: the locks held follow.
    Part,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LockEvent {
    Taken = 0,
    Released = 1,
    /// No event. Padding keeps a two-word event from crossing into the next part.
    Padding = 2,
    /// A part begins: the locks held follow.
    Part = 3,
}

const CALL: u64 = 0b100 << 61;
const SEGMENT: u64 = 0b101 << 61;
const RANGE: u64 = 0b110 << 61;
const LOCK: u64 = 0b111 << 61;

/// 19 bits that tell granules apart, by their slots.
#[inline(always)]
pub fn granule_hash(slots: *const u8) -> u64 {
    (slots as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 45
}

/// The last word of the part in which `pos` is. Parts are aligned to their size.
fn last_of_part(pos: *mut u64) -> *mut u64 {
    ((pos as usize | (PART * 8 - 1)) & !7) as *mut u64
}

/// The kind of an access, as far as its event says: whether it writes, and the logarithm of its
/// size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessShape {
    pub write: bool,
    pub log2: u32,
}

impl AccessTrace {
    /// Gets the memory, reused or new.
    pub fn open(&mut self, thread_stack: usize) {
        // The smallest frame is a return address and the padding that keeps the stack aligned.
        let bytes = (thread_stack / 2).clamp(SMALLEST_STACK, LARGEST_STACK).next_multiple_of(4096);
        *self = reuse(bytes).unwrap_or_else(|| fresh(bytes));
        // SAFETY: the page below the stack is mapped.
        unsafe { *self.stack.sub(1) = ENTERED };
        let history = super::settings().history;
        self.parts = parts(history);
        if history == 0 {
            (self.pos, self.last) = (core::ptr::null_mut(), core::ptr::null_mut());
        } else {
            (self.pos, self.last) = (self.ring, last_of_part(self.ring));
        }
    }

    #[inline(always)]
    fn room(&self) -> usize {
        // Parts are aligned to their size.
        PART - (self.pos as usize / 8) % PART
    }

    /// Enters an access that goes into the shadow. False: call [`prepare`](Self::prepare) first.
    /// `slots` are those of the granule. This function calls nothing, so that the slow path of a
    /// probe needs no frame.
    #[inline(always)]
    pub fn try_access(
        &mut self,
        sp: *mut usize,
        address: usize,
        slots: *const u8,
        pc: usize,
        shape: AccessShape,
    ) -> bool {
        if self.pos >= self.last {
            return self.pos.is_null();
        }
        // SAFETY: the entry below sp always exists; pos is inside the ring.
        unsafe {
            if *sp.sub(1) & ENTERED == 0 {
                return false;
            }
            let depth = (sp as u64 >> 3) & 63;
            *self.pos = (shape.write as u64) << 62
                | (pc as u64 & 0xffff_ffff) << 30
                | depth << 24
                | (address as u64 & 7) << 21
                | (shape.log2 as u64) << 19
                | granule_hash(slots);
            self.pos = self.pos.add(1);
        }
        true
    }

    /// Enters the active calls that are not in this part yet, or begins the next part.
    #[cold]
    #[inline(never)]
    pub fn prepare(&mut self, sp: *mut usize, held: &ThreadLocks) {
        // SAFETY: entries from the bottom sentinel up to sp are valid, and pos stays inside the
        // ring.
        unsafe {
            let mut entry = sp;
            // No deeper than a report shows, so that all of it fits into a part, however deep the
            // recursion.
            while *entry.sub(1) & ENTERED == 0 && (sp as usize - entry as usize) / 8 < ENTER_AT_ONCE {
                entry = entry.sub(1);
            }
            while entry < sp && self.room() >= 2 {
                let depth = entry.offset_from(self.stack) as u64;
                *self.pos = CALL | (depth & 0x3fff) << 47 | *entry as u64 & ((1 << 47) - 1);
                self.pos = self.pos.add(1);
                *entry |= ENTERED;
                entry = entry.add(1);
            }
        }
        if self.room() < 2 {
            self.next_part(sp, held);
        }
    }

    fn next_part(&mut self, sp: *mut usize, held: &ThreadLocks) {
        // SAFETY: as in `prepare`; the ring has whole parts.
        unsafe {
            while self.room() != PART {
                *self.pos = LOCK | (LockEvent::Padding as u64) << 59;
                self.pos = self.pos.add(1);
            }
            if self.pos == self.ring.add(PART * self.parts as usize) {
                self.pos = self.ring;
                self.wrapped = true;
            }
            self.last = last_of_part(self.pos);
            let mut entry = self.stack;
            while entry < sp {
                *entry &= !ENTERED;
                entry = entry.add(1);
            }
            *self.pos = SEGMENT | self.state as u64;
            *self.pos.add(1) = LOCK | (LockEvent::Part as u64) << 59;
            self.pos = self.pos.add(2);
        }
        for lock in held.iter() {
            self.two(lock_word(LockEvent::Taken, lock.mode, lock.stack), lock.key as u64);
        }
    }

    fn two(&mut self, a: u64, b: u64) {
        // SAFETY: the caller has ensured that there is room for two words.
        unsafe {
            *self.pos = a;
            *self.pos.add(1) = b;
            self.pos = self.pos.add(2);
        }
    }

    /// Enters a new segment. It may use the last word of a part, never more: it needs no calls or
    /// locks.
    pub fn segment(&mut self, state: u32) {
        self.state = state;
        if self.pos.is_null() {
            return;
        }
        if self.room() < 2 {
            // `prepare` runs before the next access and enters the segment.
            return;
        }
        // SAFETY: there is room.
        unsafe {
            *self.pos = SEGMENT | state as u64;
            self.pos = self.pos.add(1);
        }
    }

    /// Enters a range of memory, rounded to whole granules.
    pub fn range(
        &mut self,
        sp: *mut usize,
        held: &ThreadLocks,
        kind: AccessKind,
        address: usize,
        len: usize,
        pc: usize,
    ) {
        if self.pos.is_null() {
            return;
        }
        // SAFETY: the entry below sp always exists.
        while unsafe { *sp.sub(1) } & ENTERED == 0 || self.room() < 3 {
            if self.room() < 3 {
                self.next_part(sp, held);
            } else {
                self.prepare(sp, held);
            }
        }
        let depth = (sp as u64 >> 3) & 63;
        let granules = ((address & 7) + len).div_ceil(8).min((1 << 20) - 1) as u64;
        self.two(
            RANGE | (kind as u64) << 58 | (pc as u64 & 0xffff_ffff) << 26 | depth << 20,
            (address as u64 >> 3) << 20 | granules,
        );
    }

    pub fn lock(
        &mut self,
        sp: *mut usize,
        held: &ThreadLocks,
        what: LockEvent,
        mode: HoldMode,
        key: usize,
        stack: u32,
    ) {
        if self.pos.is_null() {
            return;
        }
        if self.room() < 3 {
            // The new part enters the held locks, including this one if it was taken.
            return self.next_part(sp, held);
        }
        self.two(lock_word(what, mode, stack), key as u64);
    }

    /// The thread continues on another call stack (a user-level context).
    pub fn switch_stack(&mut self, stack: *mut usize, sp: *mut usize) {
        self.stack = stack;
        let mut entry = stack;
        while entry < sp {
            // SAFETY: entries of a live shadow stack.
            unsafe {
                *entry &= !ENTERED;
                entry = entry.add(1);
            }
        }
    }

    /// Passes all events to `see`, oldest first. The thread may write them meanwhile, which garbles
    /// at most one.
    pub fn replay(&self, mut see: impl FnMut(RingEvent)) {
        if self.pos.is_null() {
            return;
        }
        // SAFETY: pos is inside the ring or at its end.
        let now = unsafe { self.pos.offset_from(self.ring) } as usize;
        let in_use = self.parts as usize;
        let part = now / PART % in_use;
        // Before the first wrap only the parts up to this one hold anything.
        let first = if self.wrapped { part + 1 } else { 0 };
        let parts = if self.wrapped { in_use } else { part + 1 };
        for i in 0..parts {
            let p = (first + i) % in_use;
            let end = if p == part { now - p * PART } else { PART };
            // SAFETY: a part of the ring.
            self.part(
                unsafe { core::slice::from_raw_parts(self.ring.add(p * PART), end.min(PART)) },
                &mut see,
            );
        }
    }

    fn part(&self, words: &[u64], see: &mut impl FnMut(RingEvent)) {
        let mut i = 0;
        while i < words.len() {
            let w = words[i];
            let next = words.get(i + 1).copied().unwrap_or(0);
            let (event, len) = decode(w, next);
            event.map(&mut *see);
            i += len;
        }
    }
}

fn lock_word(what: LockEvent, mode: HoldMode, stack: u32) -> u64 {
    LOCK | (what as u64) << 59 | ((mode == HoldMode::Read) as u64) << 58 | stack as u64
}

fn decode(w: u64, next: u64) -> (Option<RingEvent>, usize) {
    if w >> 63 == 0 {
        let event = RingEvent::Access {
            shape: AccessShape { write: w >> 62 & 1 == 1, log2: (w >> 19) as u32 & 3 },
            pc: (w >> 30) as u32,
            depth: (w >> 24) as u32 & 63,
            byte: (w >> 21) as u32 & 7,
            hash: w as u32 & 0x7_ffff,
        };
        return (Some(event), 1);
    }
    match w & 0b111 << 61 {
        CALL => (Some(RingEvent::Call { depth: (w >> 47) as usize & 0x3fff, pc: w & ((1 << 47) - 1) }), 1),
        SEGMENT => (Some(RingEvent::Segment(w as u32)), 1),
        RANGE => {
            let range = AccessKind::from_number(w >> 58 & 7).map(|kind| RingEvent::Range {
                kind,
                pc: (w >> 26) as u32,
                depth: (w >> 20) as u32 & 63,
                granule: next >> 20,
                granules: next & 0xf_ffff,
            });
            (range, 2)
        }
        _ => {
            let what = match w >> 59 & 3 {
                0 => LockEvent::Taken,
                1 => LockEvent::Released,
                2 => return (None, 1),
                _ => return (Some(RingEvent::Part), 1),
            };
            (Some(RingEvent::Lock { what, read: w >> 58 & 1 == 1, stack: w as u32, lock: next }), 2)
        }
    }
}

/// Return addresses from the top of a shadow stack, below `pc`.
pub fn frames(stack: *mut usize, sp: *mut usize, pc: usize, to: &mut [u64]) -> usize {
    let (mut n, mut next, mut entry) = (0, pc, sp);
    while n < to.len() {
        if next != 0 {
            to[n] = next as u64;
            n += 1;
        }
        if entry <= stack {
            break;
        }
        // SAFETY: entries between the bottom and sp are valid.
        unsafe {
            entry = entry.sub(1);
            next = *entry & !ENTERED;
        }
    }
    n
}

fn parts(history: u32) -> u32 {
    let most = (RING / PART) as u32;
    if history == 2 { most } else { most / 2 }
}

fn fresh(bytes: usize) -> AccessTrace {
    let raw = sys::pages((RING + PART) * 8) as usize;
    let ring = raw.next_multiple_of(PART * 8) as *mut u64;
    let stack = shadow_stack(bytes);
    AccessTrace {
        pos: ring,
        last: last_of_part(ring),
        ring,
        stack,
        stack_bytes: bytes,
        wrapped: false,
        parts: parts(1),
        state: 0,
    }
}

/// The bottom of a new shadow call stack. It is page-aligned, since the low bits of sp give the
/// depth of an access.
pub fn shadow_stack(bytes: usize) -> *mut usize {
    // SAFETY: the mapping has a page more than asked for.
    unsafe {
        let bottom = sys::pages(bytes + BELOW).add(BELOW).cast::<usize>();
        *bottom.sub(1) = ENTERED;
        bottom
    }
}

/// Traces of ended threads are kept for reports until there are this many; then the oldest is
/// reused.
const KEPT: usize = 64;
static LOCK_POOL: Spin = Spin::new();
static POOL: Shared<Pool> = Shared::new(Pool { cards: [core::ptr::null_mut(); KEPT], next: 0 });

struct Pool {
    cards: [*mut super::thread::Card; KEPT],
    next: usize,
}

/// Allows the trace of this card to be reused later.
pub fn retire(card: *mut super::thread::Card) {
    let _guard = LOCK_POOL.lock();
    // SAFETY: POOL is used under its lock; cards are never freed. The card that is dropped from the
    // pool loses its trace.
    unsafe {
        let pool = &mut *POOL.get();
        let at = pool.next % KEPT;
        let out = core::mem::replace(&mut pool.cards[at], card);
        pool.next += 1;
        if let Some(out) = out.as_ref() {
            (*SPARE.get()).put(out.trace.replace(NONE));
        }
    }
}

pub const NONE: AccessTrace = AccessTrace {
    pos: core::ptr::null_mut(),
    last: core::ptr::null_mut(),
    ring: core::ptr::null_mut(),
    stack: core::ptr::null_mut(),
    stack_bytes: 0,
    wrapped: false,
    parts: 0,
    state: 0,
};

struct Spare {
    traces: [AccessTrace; 32],
    n: usize,
}

static SPARE: Shared<Spare> = Shared::new(Spare { traces: [NONE; 32], n: 0 });

impl Spare {
    fn put(&mut self, t: AccessTrace) {
        if self.n < self.traces.len() {
            self.traces[self.n] = t;
            self.n += 1;
        } else {
            sys::discard(t.ring as usize, RING * 8);
            sys::discard(t.stack as usize, t.stack_bytes);
            sys::unmap(t.ring as usize, RING * 8);
            sys::unmap(t.stack as usize, t.stack_bytes);
        }
    }
}

fn reuse(bytes: usize) -> Option<AccessTrace> {
    let _guard = LOCK_POOL.lock();
    // SAFETY: under LOCK_POOL.
    let spare = unsafe { &mut *SPARE.get() };
    let at = spare.traces[..spare.n].iter().position(|t| t.stack_bytes >= bytes)?;
    spare.n -= 1;
    spare.traces.swap(at, spare.n);
    Some(AccessTrace { wrapped: false, ..spare.traces[spare.n] })
}

pub fn reset_lock() {
    LOCK_POOL.reset();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::shadow_of;

    const WRITE4: AccessShape = AccessShape { write: true, log2: 2 };

    fn enter(t: &mut AccessTrace, sp: *mut usize, address: usize, pc: usize) -> bool {
        t.try_access(sp, address, shadow_of(address), pc, WRITE4)
    }

    fn collect(t: &AccessTrace) -> Vec<RingEvent> {
        let mut v = Vec::new();
        t.replay(|e| v.push(e));
        v
    }

    #[test]
    fn an_access_comes_back_with_its_calls() {
        let mut t = fresh(SMALLEST_STACK);
        let held = ThreadLocks::EMPTY;
        t.segment(0x1234_5600);
        // SAFETY: the shadow stack has room.
        let sp = unsafe {
            *t.stack = 0x40_1000;
            *t.stack.add(1) = 0x40_2000;
            t.stack.add(2)
        };
        assert!(!enter(&mut t, sp, 0x7fff_1234_5674, 0x5555_0000_4321));
        t.prepare(sp, &held);
        assert!(enter(&mut t, sp, 0x7fff_1234_5674, 0x5555_0000_4321));
        let hash = granule_hash(shadow_of(0x7fff_1234_5670)) as u32;
        assert_eq!(
            collect(&t),
            [
                RingEvent::Segment(0x1234_5600),
                RingEvent::Call { depth: 0, pc: 0x40_1000 },
                RingEvent::Call { depth: 1, pc: 0x40_2000 },
                RingEvent::Access { shape: WRITE4, pc: 0x4321, depth: 2, byte: 4, hash },
            ]
        );
        t.range(sp, &held, AccessKind::Free, 0x1003, 70, 0x99);
        let granules = (3 + 70u64).div_ceil(8);
        let freed =
            RingEvent::Range { kind: AccessKind::Free, pc: 0x99, depth: 2, granule: 0x1003 >> 3, granules };
        assert_eq!(collect(&t).last(), Some(&freed));
        t.lock(sp, &held, LockEvent::Taken, HoldMode::Read, 0xabc0, 77);
        let taken = RingEvent::Lock { what: LockEvent::Taken, read: true, stack: 77, lock: 0xabc0 };
        assert_eq!(collect(&t).last(), Some(&taken));
    }

    #[test]
    fn a_recursion_deeper_than_a_part_is_entered_from_the_top() {
        let mut t = fresh(4 * PART * 8);
        let held = ThreadLocks::EMPTY;
        // SAFETY: the shadow stack has room.
        let sp = unsafe {
            (0..3 * PART).for_each(|i| *t.stack.add(i) = i + 1);
            t.stack.add(3 * PART)
        };
        while !enter(&mut t, sp, 0x1000, 0x99) {
            t.prepare(sp, &held);
        }
        let events = collect(&t);
        let top = 3 * PART - 1;
        assert_eq!(events[events.len() - 2], RingEvent::Call { depth: top & 0x3fff, pc: top as u64 + 1 });
        assert!(events.len() > ENTER_AT_ONCE);
    }

    #[test]
    fn each_part_can_be_read_alone() {
        let mut t = fresh(SMALLEST_STACK);
        let held = ThreadLocks::EMPTY;
        t.segment(0x700);
        // SAFETY: the shadow stack has room.
        let sp = unsafe {
            *t.stack = 0x40_1000;
            t.stack.add(1)
        };
        let ring = PART * t.parts as usize;
        // More than the whole ring.
        for i in 0..ring + 3 * PART {
            while !enter(&mut t, sp, i * 8, i) {
                t.prepare(sp, &held);
            }
        }
        let events = collect(&t);
        assert_eq!(events[0], RingEvent::Segment(0x700));
        assert_eq!(events[1..3], [RingEvent::Part, RingEvent::Call { depth: 0, pc: 0x40_1000 }]);
        let pcs: Vec<u32> = events
            .iter()
            .filter_map(|e| if let RingEvent::Access { pc, .. } = e { Some(*pc) } else { None })
            .collect();
        assert_eq!(*pcs.last().unwrap() as usize, ring + 3 * PART - 1);
        assert!(pcs.windows(2).all(|w| w[0] + 1 == w[1]), "a gap or a stale event");
        assert!(pcs.len() > ring - 2 * PART);
    }
}
