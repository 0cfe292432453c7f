//! One access against one granule: the state machine of 4.2 in shadow slots.
//!
//! The probes of `tsan_abi` return if a slot already records this access. Everything else comes to
//! [`access`]: it looks for slots that are neither ordered before this access nor excused, then
//! records it.

use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::thread::{Current, Thread, gate};
use super::trace::AccessShape;
use super::{flush, hand_over, held_locks, report, settings};
use crate::explore;
use crate::layout::*;
use crate::trace;

type Slots = __m128i;

#[inline(always)]
fn load(p: *const u8) -> Slots {
    // SAFETY: shadow is mapped, and granules are 16-byte aligned.
    unsafe { _mm_load_si128(p.cast()) }
}

/// Stores the whole granule at once: a later whole load is forwarded from it without a stall.
#[inline(always)]
pub fn store(p: *mut u8, v: Slots) {
    // SAFETY: as for `load`.
    unsafe { _mm_store_si128(p.cast(), v) }
}

// SSE2 is part of x86-64, and none of these touch memory.
#[inline(always)]
fn all(v: u32) -> Slots {
    unsafe { _mm_set1_epi32(v as i32) }
}
#[inline(always)]
fn and(a: Slots, b: Slots) -> Slots {
    unsafe { _mm_and_si128(a, b) }
}
#[inline(always)]
fn or(a: Slots, b: Slots) -> Slots {
    unsafe { _mm_or_si128(a, b) }
}
#[inline(always)]
fn equal(a: Slots, b: Slots) -> Slots {
    unsafe { _mm_cmpeq_epi32(a, b) }
}
#[inline(always)]
fn is_zero(a: Slots) -> Slots {
    unsafe { _mm_cmpeq_epi32(a, _mm_setzero_si128()) }
}
/// READ of each slot, moved to the position of ATOMIC.
#[inline(always)]
fn reads(v: Slots) -> Slots {
    unsafe { _mm_slli_epi32(v, 1) }
}
/// Ones in lanes whose topmost bit is set.
#[inline(always)]
fn spread(v: Slots) -> Slots {
    unsafe { _mm_srai_epi32(v, 31) }
}
/// The topmost bit of each lane.
#[inline(always)]
fn lanes(v: Slots) -> u32 {
    unsafe { _mm_movemask_ps(_mm_castsi128_ps(v)) as u32 }
}
#[inline(always)]
pub fn first_lane(v: u32) -> Slots {
    unsafe { _mm_cvtsi32_si128(v as i32) }
}
#[inline(always)]
fn to_array(v: Slots) -> [u32; SLOTS] {
    unsafe { core::mem::transmute(v) }
}
#[repr(align(16))]
struct Lanes([[u32; 4]; 4]);
static LANE: Lanes = Lanes([[!0, 0, 0, 0], [0, !0, 0, 0], [0, 0, !0, 0], [0, 0, 0, !0]]);
static BUT_LANE_3: Lanes = Lanes([[!0, !0, !0, 0], [0; 4], [0; 4], [0; 4]]);

#[inline(always)]
fn lane(i: u32) -> Slots {
    load(LANE.0[i as usize & 3].as_ptr().cast())
}

/// Ones in the first of the lanes that a mask of lanes names.
static FIRST_OF: [Lane; 16] = first_of();
#[repr(align(16))]
#[derive(Clone, Copy)]
struct Lane([u32; 4]);

const fn first_of() -> [Lane; 16] {
    let mut all = [Lane([0; 4]); 16];
    let mut lanes = 1usize;
    while lanes < 16 {
        all[lanes].0[lanes.trailing_zeros() as usize] = !0;
        lanes += 1;
    }
    all
}

#[inline(always)]
fn first_of_lanes(lanes: u32) -> Slots {
    load(FIRST_OF[lanes as usize & 0xf].0.as_ptr().cast())
}

/// Checks `current` (mask, state and flags) against the granule, which this thread does not own,
/// and records it.
#[inline(always)]
pub fn check<const WRITE: bool, const FULL: bool>(t: &mut Thread, address: usize, pc: usize, current: u32) {
    if settings().owners {
        check_slots::<WRITE, FULL, 0b0111>(t, address, pc, current);
    } else {
        check_slots::<WRITE, FULL, 0b1111>(t, address, pc, current);
    }
}

/// True if a slot already records the atomic access `current`. The probes of plain accesses check
/// this themselves.
#[inline(always)]
pub fn is_recorded(t: &Thread, address: usize, current: u32) -> bool {
    let slots = load(shadow_of(address));
    let c = all(current);
    // SAFETY: SSE2.
    let differs = unsafe { _mm_xor_si128(slots, c) };
    // An own write covers a read. Bytes that are not touched do not count.
    let counts = all(!0xff & !(current & READ) | current & 0xff);
    t.hot[0] != !0 && lanes(is_zero(and(differs, counts))) != 0
}

#[inline(always)]
fn check_slots<const WRITE: bool, const FULL: bool, const USABLE: u32>(
    t: &mut Thread,
    address: usize,
    pc: usize,
    current: u32,
) {
    let p = shadow_of(address);
    let slots = load(p);
    if USABLE == 0b1111 && lanes(is_zero(slots)) == 0b1111 {
        return first_touch(t, address, pc, current);
    }
    if has_unordered(t, p, slots, current) {
        return unordered(t, address, pc, current);
    }
    if WRITE && FULL && current & ATOMIC == 0 {
        // All earlier accesses are ordered before this write: whatever races with them races with
        // this write too.
        let owner = if USABLE == 0b1111 { first_lane(0) } else { and(slots, lane(3)) };
        return store(p, or(first_lane(current), owner));
    }
    record::<WRITE, FULL, USABLE>(t, p, slots, current);
}

/// Nobody has touched the granule yet. Threads that start on fresh memory come here at the same
/// time, and a page fault on the shadow gives each ample time to overlook the other. So either the
/// slot goes in atomically, or the other access is seen.
#[inline(never)]
fn first_touch(t: &mut Thread, address: usize, pc: usize, current: u32) {
    let p = shadow_of(address);
    if is_at_page_start(p) {
        write_fault_next_page(p);
    }
    if !compare_exchange_empty(p, current) {
        let slots = load(p);
        if has_unordered(t, p, slots, current) {
            return unordered(t, address, pc, current);
        }
        record::<true, false, 0b1111>(t, p, slots, current);
    }
}

/// A probe loads the slots before anything is stored there. In a fresh page of shadow the load is a
/// page fault that maps the page of zeros, and the first store is another one. Most memory is first
/// touched from its beginning to its end, so whoever begins a page stores into the next one before
/// anybody loads from it.
///
/// Tried instead: to have the kernel map 64 KiB at once (`MADV_POPULATE_WRITE`) costs 1.56 µs a
/// page in place of 1.78, but a program may forbid that system call to itself.
fn write_fault_next_page(p: *mut u8) {
    let next = p.wrapping_add(PAGE);
    if SHADOW.contains(&(next as usize)) {
        // In asm, since an atomic operation of Rust that changes nothing becomes a load. SAFETY:
        // mapped shadow, which stays as it is.
        unsafe { core::arch::asm!("lock or dword ptr [{0}], 0", in(reg) next, options(nostack)) };
    }
}

const PAGE: usize = 4096;

/// True for the first four granules of a page of shadow: a structure that begins there may be
/// touched from another word than its first.
#[inline(always)]
fn is_at_page_start(p: *mut u8) -> bool {
    p as usize % PAGE < 4 * size_of::<Slots>()
}

/// Puts `slot` into an empty granule. False if it is no longer empty.
fn compare_exchange_empty(p: *mut u8, slot: u32) -> bool {
    let empty: u8;
    // SAFETY: a mapped, aligned granule. rbx is reserved by the compiler, so it is saved; the other
    // registers are named, or one of them might be rbx.
    unsafe {
        core::arch::asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "sete r8b",
            "mov rbx, rsi",
            inout("rsi") slot as u64 => _,
            in("rdi") p,
            lateout("r8b") empty,
            in("rcx") 0,
            inout("rax") 0u64 => _,
            inout("rdx") 0u64 => _,
            options(nostack),
        );
    }
    empty == 1
}

/// Fast mode and the initialization state: accesses to memory that one thread owns are forgotten
/// and leave no event. Lane 3 names the owner or says "shared". The shared mark has an empty mask,
/// so as a slot it conflicts with nothing.
#[inline(always)]
pub fn is_own(t: &Thread, address: usize) -> bool {
    may_be_own(address) && is_private(address, owned(t.sid()))
}

#[inline(always)]
fn may_be_own(address: usize) -> bool {
    settings().owners && owner_lane(address).load(Relaxed) != SHARED
}

/// True if a slot conflicts with `current` and did not happen before it.
#[inline(always)]
fn has_unordered(t: &Thread, p: *const u8, slots: Slots, current: u32) -> bool {
    let c = all(current);
    let (xor, both) = (unsafe { _mm_xor_si128(slots, c) }, and(slots, c));
    let same_sid = is_zero(and(xor, all(0xff00)));
    let apart = is_zero(and(both, all(0xff)));
    let excused = or(or(same_sid, apart), and(both, all(READ | ATOMIC)));
    is_one_unordered(t, p, lanes(is_zero(excused)))
}

/// The bits of the epoch in the upper half of a slot.
const EPOCH_BITS: u16 = 0x3fff;

/// True if one of the slots `rest` of the granule at `p` did not happen before.
#[inline(always)]
fn is_one_unordered(t: &Thread, p: *const u8, mut rest: u32) -> bool {
    while rest != 0 {
        // Reading memory again is cheaper than extracting a lane from a register and taking it
        // apart. `unordered` starts afresh. SAFETY: a slot of the granule.
        let (sid, epoch) = unsafe {
            let other = p.add(rest.trailing_zeros() as usize * 4);
            (*other.add(1), *other.add(2).cast::<u16>() & EPOCH_BITS)
        };
        if t.clock.0[sid as usize] < epoch {
            return true;
        }
        rest &= rest - 1;
    }
    false
}

/// An earlier access is not ordered before this one: a race, unless they share a lock.
#[cold]
#[inline(never)]
fn unordered(t: &mut Thread, address: usize, pc: usize, current: u32) {
    let p = shadow_of(address);
    let sequence = flush::sequence();
    let usable = if settings().owners { 3 } else { SLOTS };
    let slots = load(p);
    if let [FREED, by, ..] = to_array(slots) {
        // Slots that a flush has forgotten are not judged.
        if !flush::is_leftover(by) {
            after_free(t, address, pc, current, by);
        }
        return;
    }
    let slots = without_leftovers(slots, usable);
    for other in to_array(slots).into_iter().take(usable) {
        let excused = other & current & 0xff == 0
            || (other ^ current) & 0xff00 == 0
            || other & current & (READ | ATOMIC) != 0
            || t.clock.get(sid(other)) >= epoch(other);
        let guarded = settings().hybrid && held_locks::common(t, current, other);
        if guarded && !excused {
            hand_over::sees(t, other);
        }
        let certain = sequence.is_multiple_of(2) && sequence == flush::sequence();
        if !excused && !guarded && certain {
            report::race(t, address, pc, current, other);
        }
    }
    match (current & READ == 0, settings().owners) {
        (true, false) => record::<true, false, 0b1111>(t, p, slots, current),
        (false, false) => record::<false, false, 0b1111>(t, p, slots, current),
        (true, true) => record::<true, false, 0b0111>(t, p, slots, current),
        (false, true) => record::<false, false, 0b0111>(t, p, slots, current),
    }
}

/// The thread of state `by` has freed the block, which is in quarantine, and this access came
/// later. If nothing orders the two, it is an ordinary race.
#[cold]
fn after_free(t: &mut Thread, address: usize, pc: usize, current: u32, by: u32) {
    let free = by | 0xff;
    let ordered = (free ^ current) & 0xff00 == 0 || t.clock.get(sid(by)) >= epoch(by);
    let guarded = settings().hybrid && held_locks::common(t, current, free);
    if ordered || guarded {
        report::use_after_free(t, address, pc, current, free);
    } else {
        report::race(t, address, pc, current, free);
    }
}

/// Empties the slots that a flush has forgotten and a probe has put back.
fn without_leftovers(slots: Slots, usable: usize) -> Slots {
    let mut s = to_array(slots);
    for slot in s[..usable].iter_mut().filter(|s| **s != 0 && flush::is_leftover(**s)) {
        *slot = 0;
    }
    // SAFETY: 16 bytes each.
    unsafe { core::mem::transmute::<[u32; SLOTS], Slots>(s) }
}

/// Puts `current` into a slot, replacing those that it makes redundant. `USABLE`: the lanes that
/// are slots.
#[inline(always)]
fn record<const WRITE: bool, const FULL: bool, const USABLE: u32>(
    t: &Thread,
    p: *mut u8,
    slots: Slots,
    mut current: u32,
) {
    let c = all(current);
    // SAFETY: SSE2.
    let xor = unsafe { _mm_xor_si128(slots, c) };
    let same_sid = is_zero(and(xor, all(0xff00)));
    // Drop our own slots that are no wider and no stronger.
    // SAFETY: SSE2.
    let subset = is_zero(and(unsafe { _mm_andnot_si128(c, slots) }, all(0xff)));
    let mut drop = and(same_sid, subset);
    if !WRITE {
        drop = and(drop, equal(and(slots, all(READ)), all(READ)));
    }
    if current & ATOMIC != 0 {
        // An atomic access excuses other atomics, so it cannot stand for a plain one.
        drop = and(drop, equal(and(slots, all(ATOMIC)), all(ATOMIC)));
    }
    if !FULL {
        // The same segment's access of the same kind to other bytes of the granule shares the slot.
        let twin = is_zero(and(xor, all(!0xff)));
        drop = or(drop, twin);
        // SAFETY: SSE2.
        unsafe {
            let bytes = and(twin, slots);
            let b = or(bytes, _mm_shuffle_epi32(bytes, 0b01_00_11_10));
            let b = or(b, _mm_shuffle_epi32(b, 0b10_11_00_01));
            current |= _mm_cvtsi128_si32(b) as u32 & 0xff;
        }
    }
    if USABLE != 0b1111 {
        drop = and(drop, load(BUT_LANE_3.0[0].as_ptr().cast()));
    }
    // SAFETY: SSE2.
    let keep = unsafe { _mm_andnot_si128(drop, slots) };
    let free = lanes(is_zero(keep)) & USABLE;
    if free == 0 {
        evict(t, p, keep, current, USABLE.count_ones() as usize);
    } else if current & ATOMIC == 0 {
        store(p, or(keep, and(lane(free.trailing_zeros()), all(current))));
    } else {
        // The data that a flag guards may lie beside it. A thread that spins on the flag must not
        // store the whole granule each time, nor into a slot that was free a moment ago: that would
        // undo what another thread records at that moment.
        let drop = lanes(drop);
        if drop == 0 {
            return take_free_lane(p, free, current);
        }
        store_lane(p, drop.trailing_zeros() as usize, current);
        if drop & (drop - 1) != 0 {
            empty_lanes(p, drop & (drop - 1));
        }
    }
}

/// Puts `slot` into one of the lanes `free` that still is. If none is, the slot is lost: an atomic
/// access does not displace others.
fn take_free_lane(p: *mut u8, mut free: u32, slot: u32) {
    while free != 0 {
        // SAFETY: a slot of a mapped granule.
        let lane = unsafe { &*p.cast::<AtomicU32>().add(free.trailing_zeros() as usize) };
        if replaces(lane, 0, slot) {
            return;
        }
        free &= free - 1;
    }
}

#[cold]
#[inline(never)]
fn empty_lanes(p: *mut u8, lanes: u32) {
    (0..SLOTS).filter(|lane| lanes >> lane & 1 == 1).for_each(|lane| store_lane(p, lane, 0));
}

#[inline(always)]
fn store_lane(p: *mut u8, lane: usize, slot: u32) {
    // SAFETY: a slot of a mapped granule.
    unsafe { p.cast::<u32>().add(lane).write_volatile(slot) }
}

/// No slot is free. Gives up an access to the same bytes that happened before, since its races are
/// ours too; else an atomic one; else one that happened before; else any. Reads go before writes.
/// An atomic access is dropped rather than displace a plain one: otherwise a variable beside a busy
/// flag would lose its accesses to the flag's.
#[cold]
#[inline(never)]
fn evict(t: &Thread, p: *mut u8, slots: Slots, current: u32, usable: usize) {
    let (read, atomic) = (lanes(reads(slots)), lanes(slots));
    // SAFETY: SSE2.
    let within = lanes(is_zero(and(unsafe { _mm_andnot_si128(all(current), slots) }, all(0xff))));
    let before = to_array(slots)
        .into_iter()
        .enumerate()
        .fold(0, |before, (i, o)| before | ((t.clock.of_slot(o) >= epoch(o)) as u32) << i);
    let covered = before & within & if current & ATOMIC != 0 { atomic } else { 0b1111 };
    let find = |wanted: u32| {
        let wanted = wanted & ((1 << usable) - 1);
        (wanted != 0)
            .then(|| if wanted & read != 0 { wanted & read } else { wanted }.trailing_zeros() as usize)
    };
    let victim = match find(covered).or_else(|| find(atomic)) {
        Some(i) => i,
        None if current & ATOMIC != 0 => return,
        // SAFETY: reads a counter; any value will do.
        None => find(before).unwrap_or_else(|| (unsafe { _rdtsc() } as usize >> 4) % usable),
    };
    store_lane(p, victim, current);
}

fn owner_lane(granule: usize) -> &'static AtomicU32 {
    // SAFETY: lane 3 of a mapped granule; it is accessed only as a whole word or with the whole
    // granule.
    unsafe { &*shadow_of(granule).add(12).cast::<AtomicU32>() }
}

/// True if only this thread has touched the granule (or line) so far, so the access is to be
/// forgotten. Otherwise marks the granule as shared: from now on accesses count.
///
/// "Shared" is never taken back: a thread that spins on its own line comes here again and again
/// while another one marks the line, so an owner goes only where there was none.
fn is_private(address: usize, mine: u32) -> bool {
    let own = owner_lane(address);
    if !settings().lines {
        let private = is_or_becomes(own, mine);
        if !private {
            own.store(SHARED, Relaxed);
        }
        return private;
    }
    let line = address & !63;
    let head = owner_lane(line);
    if is_or_becomes(head, mine) {
        // The line is its owner's, whoever had the granule before.
        let before = own.load(Relaxed);
        return before == mine || before != SHARED && replaces(own, before, mine);
    }
    if head.load(Relaxed) == SHARED {
        // Fresh memory in a line that was shared before.
        own.store(SHARED, Relaxed);
    } else {
        (line..line + 64).step_by(8).for_each(|g| owner_lane(g).store(SHARED, Relaxed));
    }
    false
}

/// The granule is shared from now on if it belongs to `owner`, a value of [`owned`].
pub fn disown(address: usize, owner: u32) {
    replaces(owner_lane(address), owner, SHARED);
}

/// True if `lane` names the owner `mine`, which it does from now on if it was empty.
#[inline(always)]
fn is_or_becomes(lane: &AtomicU32, mine: u32) -> bool {
    let owner = lane.load(Relaxed);
    owner == mine || owner == 0 && replaces(lane, 0, mine)
}

#[inline(always)]
fn replaces(lane: &AtomicU32, before: u32, mine: u32) -> bool {
    lane.compare_exchange(before, mine, Relaxed, Relaxed).is_ok()
}

/// The slow path of a probe of `SIZE` bytes within one granule. Every call is in tail position, so
/// it needs no frame: pushes and pops would be a sixth of its instructions.
#[inline(always)]
pub fn access<const WRITE: bool, const SIZE: usize>(mut t: Current, address: usize, pc: usize) {
    if t.gate != gate::OPEN {
        return access_at_gate::<WRITE, SIZE>(t, address, pc);
    }
    watched_access::<WRITE, SIZE>(&mut t, address, pc);
}

/// [`access`] for the common case: the gate is open, and [`is_plain`](super::is_plain). `p` points
/// to the granule's slots, which the probe has looked at.
#[inline(always)]
pub fn plain_access<const WRITE: bool, const SIZE: usize>(
    t: &mut Thread,
    address: usize,
    pc: usize,
    p: *mut u8,
) {
    if !t.trace.try_access(t.sp, address, p, pc, AccessShape { write: WRITE, log2: SIZE.ilog2() }) {
        return again::<WRITE, SIZE>(t, address, pc);
    }
    match (SIZE, WRITE) {
        (8, true) => plain_write8(t, address, pc, p),
        (8, false) => plain_read8(t, address, pc, p),
        _ => plain_part::<WRITE, SIZE>(t, address, pc, p),
    }
}

#[inline(always)]
fn plain_write8(t: &mut Thread, address: usize, pc: usize, p: *mut u8) {
    let (slots, c) = (load(p), load(t.hot_write8.as_ptr().cast()));
    let empty = is_zero(slots);
    if lanes(empty) == 0b1111 {
        return first_touch(t, address, pc, first_of_all(c));
    }
    if is_one_unordered(t, p, lanes(or(same_sid(slots, c), empty)) ^ 0b1111) {
        return unordered(t, address, pc, first_of_all(c));
    }
    // As in `check_slots`: whatever races with an earlier access races with this write.
    store(p, and(first_of_lanes(0b1111), c));
}

#[inline(always)]
fn plain_read8(t: &mut Thread, address: usize, pc: usize, p: *mut u8) {
    let (slots, c) = (load(p), load(t.hot_read8.as_ptr().cast()));
    let own = same_sid(slots, c);
    // READ of each slot less one: set in reads and in empty slots, not in writes.
    // SAFETY: SSE2.
    let harmless = reads(unsafe { _mm_add_epi32(slots, all(!0)) });
    if is_one_unordered(t, p, lanes(or(own, harmless)) ^ 0b1111) {
        return unordered(t, address, pc, first_of_all(c));
    }
    // Own reads are dropped, as in `record`.
    // SAFETY: SSE2.
    let keep = unsafe { _mm_andnot_si128(and(own, spread(reads(slots))), slots) };
    match lanes(is_zero(keep)) {
        0 => evict(t, p, keep, first_of_all(c), SLOTS),
        0b1111 if lanes(is_zero(slots)) == 0b1111 => first_touch(t, address, pc, first_of_all(c)),
        free => store(p, or(keep, and(first_of_lanes(free), c))),
    }
}

/// An access to less than a granule.
#[inline(always)]
fn plain_part<const WRITE: bool, const SIZE: usize>(t: &mut Thread, address: usize, pc: usize, p: *mut u8) {
    let current = t.state & !(READ | ATOMIC) | mask::<SIZE>(address) | if WRITE { 0 } else { READ };
    let slots = load(p);
    if lanes(is_zero(slots)) == 0b1111 {
        return first_touch(t, address, pc, current);
    }
    let c = all(current);
    let apart = is_zero(and(and(slots, c), all(0xff)));
    // The slots usually belong to this thread; then there is nothing to compare.
    let excused = or(or(same_sid(slots, c), apart), if WRITE { first_lane(0) } else { reads(slots) });
    if is_one_unordered(t, p, lanes(excused) ^ 0b1111) {
        return unordered(t, address, pc, current);
    }
    record::<WRITE, false, 0b1111>(t, p, slots, current);
}

/// Ones in the lanes whose slots have the same sid.
#[inline(always)]
fn same_sid(slots: Slots, c: Slots) -> Slots {
    // SAFETY: SSE2.
    is_zero(and(unsafe { _mm_xor_si128(slots, c) }, all(0xff00)))
}

#[inline(always)]
fn first_of_all(c: Slots) -> u32 {
    // SAFETY: SSE2.
    unsafe { _mm_cvtsi128_si32(c) as u32 }
}

#[inline(always)]
fn mask<const SIZE: usize>(address: usize) -> u32 {
    if SIZE == 8 { 0xff } else { (((1u32 << SIZE) - 1) << (address & 7)) & 0xff }
}

#[inline(always)]
fn watched_access<const WRITE: bool, const SIZE: usize>(t: &mut Thread, address: usize, pc: usize) {
    if may_be_own(address) {
        return own_access::<WRITE, SIZE>(t, address, pc);
    }
    shared_access::<WRITE, SIZE>(t, address, pc);
}

#[inline(never)]
fn own_access<const WRITE: bool, const SIZE: usize>(t: &mut Thread, address: usize, pc: usize) {
    if !is_private(address, owned(t.sid())) {
        shared_access::<WRITE, SIZE>(t, address, pc);
    }
}

#[cold]
#[inline(never)]
fn access_at_gate<const WRITE: bool, const SIZE: usize>(mut t: Current, address: usize, pc: usize) {
    if ends_at_gate::<WRITE>(t, address, SIZE, pc) {
        return trace::access(WRITE, address, SIZE, pc);
    }
    watched_access::<WRITE, SIZE>(&mut t, address, pc);
}

#[inline(always)]
fn shared_access<const WRITE: bool, const SIZE: usize>(t: &mut Thread, address: usize, pc: usize) {
    let shape = AccessShape { write: WRITE, log2: SIZE.ilog2() };
    if !t.trace.try_access(t.sp, address, shadow_of(address), pc, shape) {
        return again::<WRITE, SIZE>(t, address, pc);
    }
    // The flags are never set here, but the compiler does not know that and would test whether the
    // access is atomic.
    let current = t.state & !(READ | ATOMIC) | mask::<SIZE>(address) | if WRITE { 0 } else { READ };
    if SIZE == 8 {
        check::<WRITE, true>(t, address, pc, current);
    } else {
        check::<WRITE, false>(t, address, pc, current);
    }
}

#[cold]
#[inline(never)]
fn again<const WRITE: bool, const SIZE: usize>(t: &mut Thread, address: usize, pc: usize) {
    t.trace.prepare(t.sp, &t.held);
    // Every thread comes by here now and then, whatever it does.
    flush::if_requested();
    watched_access::<WRITE, SIZE>(t, address, pc);
}

const fn ignore<const WRITE: bool>() -> u8 {
    if WRITE { gate::IGNORE_WRITES } else { gate::IGNORE_READS }
}

/// The gate is not exactly OPEN. Makes the scheduling point of an explored program. True if the
/// detector must skip this access.
#[cold]
#[inline(never)]
pub fn ends_at_gate<const WRITE: bool>(t: Current, address: usize, len: usize, pc: usize) -> bool {
    if explore::is_on() {
        explore::data(WRITE, address, len, t.gate & ignore::<WRITE>() == 0, pc);
        return true;
    }
    is_ignored::<WRITE>(&t, pc)
}

/// The gate is not exactly OPEN, and the program is not explored. True if the detector skips the
/// access.
#[cold]
pub fn is_ignored<const WRITE: bool>(t: &Thread, pc: usize) -> bool {
    t.gate & gate::OPEN == 0
        || t.gate & ignore::<WRITE>() != 0
        || (t.gate & gate::IGNORE_SOME != 0 && (trace::is_ordinary() || crate::hub::plan::is_ignored(pc)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testing::reserve_shadow;

    fn page_faults() -> i64 {
        // SAFETY: zero is valid for it, and the call fills it in.
        unsafe {
            let mut usage: libc::rusage = core::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            usage.ru_minflt
        }
    }

    /// How many page faults the first load from and the first store into the granule take.
    fn faults_of_first_use(granule: *mut u8) -> i64 {
        let before = page_faults();
        let empty = load(core::hint::black_box(granule));
        store(core::hint::black_box(granule), core::hint::black_box(empty));
        page_faults() - before
    }

    /// A load alone would leave one fault to the store.
    #[test]
    fn a_page_of_shadow_that_is_about_to_be_used_takes_no_fault_any_more() {
        reserve_shadow();
        let page = shadow_of(0x5a5a_5a00_0000);
        assert!(faults_of_first_use(page) > 0, "nobody has used this page");
        assert!(is_at_page_start(page) && !is_at_page_start(page.wrapping_add(64)));
        write_fault_next_page(page);
        assert_eq!(faults_of_first_use(page.wrapping_add(PAGE)), 0);
    }
}
