//! Writes findings into the log.
//!
//! A race in a loop occurs again and again. Restoring the earlier stack costs a walk through a
//! trace. So a pair is restored only until its later site has been seen often with that kind of
//! earlier access; the rest is counted.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::*};

use super::held_locks::HeldEntry;
use super::replay::{self, DEEPEST, Earlier};
use super::thread::{Card, Thread, cards, gate};
use super::{contexts, depot, heap, quarantine, task_order};
use crate::hub::{annotations, log};
use crate::interpose::descriptor_use;
use crate::sys::{self, Shared, Spin, SpinGuard};
use raddle_wire::record::{AccessEnd, AccessKind, AddressKind, HeldLock, Record};

static LOCK: Spin = Spin::new();
static EARLIER: Shared<Earlier> = Shared::new(Earlier {
    thread: 0,
    kind: AccessKind::Read,
    bytes: 0,
    frames: [0; DEEPEST],
    depth: 0,
    locks: [HeldLock { lock: 0, read: 0, stack: 0 }; 16],
    locks_held: 0,
});

/// How often a site may be restored as the later end, for each kind of earlier access.
const OFTEN: u8 = 8;
static PLACES: [AtomicU8; 1 << 16] = [const { AtomicU8::new(0) }; 1 << 16];
/// Pairs of sites and lock edges that are in the log.
static KNOWN: [AtomicU64; 1 << 16] = [const { AtomicU64::new(0) }; 1 << 16];

/// No report is made while the guard lives, so the caller may remove what reports look at.
pub fn pause() -> SpinGuard<'static> {
    LOCK.lock()
}

pub fn mix(words: &[u64]) -> u64 {
    words.iter().fold(7, |h: u64, w| (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31))
}

/// True the first time. False if the table is full.
pub fn is_new(key: u64) -> bool {
    let key = key | 1;
    for i in 0..64 {
        let at = &KNOWN[((key >> 40) as usize + i) & 0xffff];
        match at.compare_exchange(0, key, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(known) if known == key => return false,
            Err(_) => {}
        }
    }
    false
}

/// Whether reports are wanted (`ANNOTATE_ENABLE_RACE_DETECTION`).
static ENABLED: AtomicBool = AtomicBool::new(true);

pub fn enable(reports: bool) {
    ENABLED.store(reports, Relaxed);
}

/// At most this many pairs that turn out to be excused are restored: see [`is_excused`].
const MOST_EXCUSED: u32 = 10_000;
static EXCUSED: AtomicU32 = AtomicU32::new(0);

/// Counts a race whose later end is at this site, with accesses of these kinds. None if it was
/// restored often enough.
fn takes_place(pc: usize, current: u32, other: u32) -> Option<&'static AtomicU8> {
    let place = mix(&[pc as u64, (other >> 30) as u64, (current >> 30) as u64]) as usize & 0xffff;
    let place = &PLACES[place];
    place.fetch_update(Relaxed, Relaxed, |n| (n < OFTEN).then_some(n + 1)).ok().map(|_| place)
}

/// True if the pair is no race after all, now that the earlier access is known:
/// - If the sid has started over, a probe that the flush overtook may have put back an old slot.
///   Such a slot is in no trace.
/// - Both threads held a lock that does not order in hb mode (`ANNOTATE_NOT_HAPPENS_BEFORE_MUTEX`)
///   but still keeps them apart.
fn is_excused(t: &Thread, other: u32, earlier: &Earlier) -> bool {
    let is_restored = earlier.depth > 0 || super::settings().history == 0;
    if !is_restored && super::sids::has_started_over(crate::layout::sid(other)) {
        return true;
    }
    let same = |l: &HeldEntry, e: &HeldLock| e.lock == l.uid as u64 && (e.read == 0 || l.mode as u64 == 0);
    super::sync::some_only_hold()
        && earlier.locks[..earlier.locks_held]
            .iter()
            .any(|e| t.held.iter().any(|l| same(l, e) && super::sync::only_holds(l.key)))
}

/// The access `current` of `t` and the one in slot `other` are not ordered and share no lock.
#[cold]
#[inline(never)]
pub fn race(t: &mut Thread, address: usize, pc: usize, current: u32, other: u32) {
    if contexts::is_of_thread(t, address, other) {
        return;
    }
    pair(t, address, pc, current, other, true);
}

/// The access `current` of `t` touches a block that the earlier access in slot `free` has freed.
#[cold]
#[inline(never)]
pub fn use_after_free(t: &mut Thread, address: usize, pc: usize, current: u32, free: u32) {
    pair(t, address, pc, current, free, false);
}

fn pair(t: &mut Thread, address: usize, pc: usize, current: u32, other: u32, races: bool) {
    log::count_race();
    #[cfg(panic = "unwind")]
    super::testing::note(address, current, other);
    let overlap = current & other & 0xff;
    let at = (address & !7) + overlap.trailing_zeros() as usize;
    let _inside = t.enter();
    if t.gate & gate::OPEN == 0 || !ENABLED.load(Relaxed) || annotations::is_benign(at) {
        return;
    }
    let place = takes_place(pc, current, other);
    if place.is_none() && !annotations::is_awaited(at) {
        return;
    }
    t.gate &= !gate::OPEN;
    {
        let _guard = LOCK.lock();
        // SAFETY: EARLIER is used under LOCK.
        let earlier = unsafe { &mut *EARLIER.get() };
        replay::find(other, address, overlap, earlier);
        let excused = is_excused(t, other, earlier);
        if let (true, Some(place), true) =
            (excused, place, EXCUSED.fetch_add(excused as u32, Relaxed) < MOST_EXCUSED)
        {
            place.fetch_sub(1, Relaxed);
        }
        // Expected races are reported one by one: each may have another address.
        let expected = annotations::expects(at);
        let earlier_pc = if earlier.depth > 0 { earlier.frames[0] } else { 0 };
        // Elements of one heap block, or of blocks allocated at one place, are one variable.
        let variable = heap::find(at).map_or(at as u64 >> 3, |b| b.stack as u64);
        let told = races && excused;
        if !told && is_new(mix(&[pc as u64, earlier_pc, earlier.kind as u64, expected, variable])) {
            write_pair(t, address, pc, current, other, earlier, races);
        }
    }
    t.gate |= gate::OPEN;
}

fn write_pair(
    t: &mut Thread,
    address: usize,
    pc: usize,
    current: u32,
    other: u32,
    earlier: &Earlier,
    races: bool,
) {
    let now_kind = if t.freeing { AccessKind::Free } else { replay::kind_of(current) };
    let mut held = [HeldLock::default(); 16];
    let mut n = 0;
    for (to, lock) in held.iter_mut().zip(t.held.iter()) {
        *to = lock.into();
        n += 1;
    }
    let mut earlier_locks = earlier.locks;
    let before_locks = &mut earlier_locks[..earlier.locks_held];
    for lock in held[..n].iter_mut().chain(before_locks.iter_mut()) {
        lock.stack = depot::logged(lock.stack as u32);
    }
    let now = AccessEnd {
        thread: t.id() as u64,
        kind: now_kind,
        stack: depot::logged(depot::current(t, pc)),
        locks: &held[..n],
        ..span(address, current)
    };
    let before = AccessEnd {
        thread: earlier.thread as u64,
        kind: earlier.kind,
        stack: depot::logged(depot::number(&earlier.frames[..earlier.depth])),
        locks: before_locks,
        // A slot may stand for several accesses; the event knows which one.
        ..span(address, if earlier.bytes != 0 { earlier.bytes } else { other })
    };
    let is_freed = now_kind == AccessKind::Free || earlier.kind == AccessKind::Free;
    let place = place_of(address, is_freed);
    log::write(&if races {
        Record::Race { now, before, place }
    } else {
        Record::UseAfterFree { now, before, place }
    });
    let at = now.address.max(before.address) as usize;
    if annotations::expects(at) != 0 {
        log::write(&Record::ExpectedSeen { address: annotations::expects(at) });
    }
}

/// The bytes of a slot as address and size.
fn span(address: usize, slot: u32) -> AccessEnd<'static> {
    let mask = slot & 0xff;
    let first = mask.trailing_zeros();
    AccessEnd {
        thread: 0,
        kind: AccessKind::Read,
        address: (address as u64 & !7) + first as u64,
        size: (mask >> first).trailing_ones() as u64,
        stack: 0,
        locks: &[],
    }
}

/// What is at `address`, which one of the two accesses has freed, or neither.
fn place_of(address: usize, is_freed: bool) -> AddressKind {
    if let Some(number) = descriptor_use::descriptor_at(address) {
        return AddressKind::Descriptor { number };
    }
    let has = |c: &&Card| (c.stack.get().0..c.stack.get().1).contains(&address);
    if let Some(card) = cards().find(|c| c.ended.load(Relaxed) == 0 && has(c)) {
        return AddressKind::Stack { thread: card.id as u64 };
    }
    let present = heap::find(address)
        // SAFETY: the block is allocated, or was a moment ago and its header is still there.
        .map(|block| (block, unsafe { sys::block_size(block.start as *mut _) }))
        .filter(|(block, size)| address < block.start + size);
    let former = || if is_freed { quarantine::large_at(address) } else { None };
    present.or_else(former).map_or(AddressKind::Unknown, |(block, size)| AddressKind::Heap {
        start: block.start as u64,
        size: size as u64,
        thread: block.thread as u64,
        stack: depot::logged(block.stack),
    })
}

/// `t` takes `lock` while it holds others.
pub fn lock_edge(t: &mut Thread, lock: HeldEntry) {
    let position = t.position.fingerprint();
    let held = t.held.iter().fold(0u64, |h, l| h.wrapping_add(mix(&[l.uid as u64, l.mode as u64])));
    let key = mix(&[
        t.id() as u64,
        t.fork_join as u64,
        lock.uid as u64,
        lock.mode as u64,
        lock.stack as u64,
        held,
        position,
    ]);
    if !is_new(key) {
        return;
    }
    let mut locks = [HeldLock::default(); 16];
    let mut n = 0;
    for (to, lock) in locks.iter_mut().zip(t.held.iter()) {
        *to = lock.into();
        to.stack = depot::logged(lock.stack);
        n += 1;
    }
    let mut acquired = HeldLock::from(&lock);
    acquired.stack = depot::logged(lock.stack);
    let moment = task_order::moment(t);
    log::write(&Record::LockEdge {
        thread: t.id() as u64,
        segment: t.fork_join as u64,
        moment,
        acquired,
        held: &locks[..n],
    });
}

/// In the child of a fork: its log is empty, so what the parent has reported may be reported again.
pub fn reset_after_fork() {
    LOCK.reset();
    KNOWN.iter().for_each(|k| k.store(0, Relaxed));
    PLACES.iter().for_each(|p| p.store(0, Relaxed));
}
