//! The allocator of an explored program.
//!
//! Each logical thread allocates from its own memory, one block after the other, and a freed block
//! is not reused in that execution. So an address depends only on what its thread allocated before:
//! it names the same object in every schedule, and an access to a freed block is detected. A thread
//! that has used up its arena gets the blocks that were freed first, as it would without raddle;
//! the search is not complete then.

use core::ffi::c_void;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering::*};

use raddle_explore::{MAX_THREADS, OpKind};
use raddle_wire::explore::gap;

use super::point::{point, uninterrupted};
use super::{Wait, fatal, hidden, is_on, known_places, leaks, op, races, state};
use crate::handle::Handle;
use crate::hub::modules;
use crate::{sys, trace};

const LOG2_ARENA: usize = 32;
pub const RANGE: Range<usize> = 0x7a00_0000_0000..0x7a00_0000_0000 + (MAX_THREADS << LOG2_ARENA);
/// A bit for each 16 bytes of the range, set if they are freed.
pub const FREED: Range<usize> = 0x7900_0000_0000..0x7900_0000_0000 + (MAX_THREADS << LOG2_ARENA) / 128;

/// The header of each block. 16 bytes.
#[repr(C)]
struct Head {
    size: usize,
    state: usize,
}

const LIVE: usize = 0x6576_696c;
const GONE: usize = 0x656e_6f67;
/// Additional flag: the C library has allocated the block, for itself or for the program.
const OF_LIBC: usize = 1 << 32;
const HEAD: usize = size_of::<Head>();
/// How far a wrong program may write past the end of a block.
const OVERRUN: usize = 4096;

impl Head {
    fn is_live(&self) -> bool {
        self.state & !OF_LIBC == LIVE
    }
}

/// The header of each arena: how much of it is used, and how far the list of freed blocks was
/// searched for one that fits. The snapshot restores it.
#[repr(C)]
struct Arena {
    used: usize,
    looked_through: usize,
}

/// The C library returns blocks of at least this size to the kernel at once.
const LARGE: usize = 128 << 10;
const PAGE: usize = 4096;

/// Blocks freed so far: their bits are cleared after an execution.
static LIST: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static KEPT: AtomicUsize = AtomicUsize::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);
/// By thread: the end of what any execution has used of its arena. Everything beyond is zero.
/// Stored outside the snapshot.
static HIGHEST: AtomicUsize = AtomicUsize::new(0);
const MOST_FREED: usize = 1 << 22;

pub fn prepare() {
    for range in [RANGE, FREED] {
        if sys::reserve(range.start, range.len()).is_err() {
            sys::die(b"raddle: no room for the heap of an explored program (run `raddle doctor`)\n");
        }
    }
    LIST.store(sys::pages(MOST_FREED * 16) as usize, Relaxed);
    HIGHEST.store(sys::pages(MAX_THREADS * size_of::<usize>()) as usize, Relaxed);
}

fn arena(thread: usize) -> Handle<Arena> {
    // SAFETY: reserved, initially zero, and used only by its thread.
    unsafe { Handle::new((RANGE.start + (thread << LOG2_ARENA)) as *mut Arena) }
}

fn highest(thread: usize) -> Handle<usize> {
    // SAFETY: one word for each thread, used only by it.
    unsafe { Handle::new((HIGHEST.load(Relaxed) as *mut usize).add(thread)) }
}

pub fn is_ours(p: usize) -> bool {
    RANGE.contains(&p)
}

/// The memory in use, by thread.
pub fn used() -> impl Iterator<Item = (usize, usize)> {
    (0..MAX_THREADS).filter_map(|t| {
        // Only the first thread has allocated anything when the snapshot is taken.
        if t > 0 {
            return None;
        }
        let a = arena(t);
        let at = &raw const *a as usize;
        Some((at, at + a.used.max(size_of::<Arena>())))
    })
}

/// What was allocated before the first execution.
pub fn before_execution() -> (usize, usize) {
    (RANGE.start, RANGE.start + USED.load(Relaxed))
}

/// What a thread has allocated in the current execution.
pub fn since_begin(thread: usize) -> (usize, usize) {
    let base = RANGE.start + (thread << LOG2_ARENA);
    let begin = if thread == 0 { before_execution().1 } else { base };
    (begin, base + arena(thread).used)
}

/// Blocks freed from now on are restored after each execution.
pub fn keep() {
    USED.store(arena(0).used, Relaxed);
    KEPT.store(COUNT.load(Relaxed), Relaxed);
}

/// Called after an execution: empties the other threads' arenas and restores the blocks freed in
/// it.
pub fn put_back() {
    for t in 1..state().count {
        (arena(t).used, arena(t).looked_through) = (0, 0);
    }
    let (from, to) = (KEPT.load(Relaxed), COUNT.load(Relaxed));
    for i in from..to.min(MOST_FREED) {
        let (p, n) = *freed_block(i);
        mark(p, n, false);
    }
    COUNT.store(from, Relaxed);
    if to > MOST_FREED {
        // Blocks that did not fit into the list.
        for t in 0..MAX_THREADS {
            let base = RANGE.start + (t << LOG2_ARENA);
            mark(base, highest(t).saturating_sub(base), false);
        }
        for i in 0..from.min(MOST_FREED) {
            let (p, n) = *freed_block(i);
            mark(p, n, true);
        }
    }
}

/// An entry of the list: the block's address and size. The address of a block that was reused is 0.
fn freed_block(i: usize) -> Handle<(usize, usize)> {
    // SAFETY: the list has room for `MOST_FREED`, and one thread runs at a time.
    unsafe { Handle::new((LIST.load(Relaxed) as *mut (usize, usize)).add(i)) }
}

/// A block of the arena that was freed in this execution and has room for `n` bytes. It is the
/// first that was freed of those not considered yet, not the last, so that a use of freed memory is
/// still detected for some time.
#[cold]
fn freed_before(thread: usize, n: usize, align: usize) -> Option<usize> {
    let mut a = arena(thread);
    let (from, to) = (KEPT.load(Relaxed), COUNT.load(Relaxed).min(MOST_FREED));
    let fits = |i: &usize| {
        let (p, size) = *freed_block(*i);
        p != 0 && owner(p) == thread && size >= n && p.is_multiple_of(align.max(16))
    };
    let start = a.looked_through.clamp(from, to);
    let others = || (start..to).chain(from..start);
    // Do not use a large block for a small one while there is another.
    const FEW: usize = 1 << 16;
    let close = others().take(FEW).find(|i| fits(i) && freed_block(*i).1 / 2 <= n);
    let i = close.or_else(|| others().find(fits))?;
    a.looked_through = i + 1;
    let (p, size) = core::mem::take(&mut *freed_block(i));
    mark(p, size, false);
    // What was there was another object.
    hidden::unmapped(p, size);
    races::unmapped(p, size);
    super::circle::forget();
    Some(p)
}

pub fn allocate(n: usize, align: usize, pc: usize) -> *mut c_void {
    let thread = state().current;
    let mut a = arena(thread);
    let base = &raw mut *a as usize;
    let start = base + a.used.max(size_of::<Arena>()) + HEAD;
    let p = start.next_multiple_of(align.max(16));
    let size = n.max(1).next_multiple_of(16);
    let is_full = n > 1 << LOG2_ARENA || p + size > base + (1 << LOG2_ARENA);
    let (p, stale) = if is_full {
        let Some(p) = freed_before(thread, n, align) else { return core::ptr::null_mut() };
        hidden::note(gap::FORGOT);
        (p, size)
    } else {
        a.used = p + size - base;
        let mut highest = highest(thread);
        // Clear what is left of an earlier execution, and what the previous block may have overrun.
        let stale = highest.saturating_sub(p).max(OVERRUN).min(size);
        *highest = (*highest).max(p + size);
        (p, stale)
    };
    // SAFETY: inside the arena, behind all blocks or in place of one that was freed.
    unsafe {
        let state = if known_places::is_of_libc(pc) { LIVE | OF_LIBC } else { LIVE };
        *((p - HEAD) as *mut Head) = Head { size: n, state };
        clear(p, stale);
    }
    leaks::allocated(p, n);
    if state().running {
        trace::allocated(p, n, pc);
    }
    hidden::hands_out();
    p as *mut c_void
}

/// Fills a part of the arena with zeros. Pages of a large part are given back instead, since most
/// programs touch few of them.
///
/// # Safety
/// Nobody uses the memory.
unsafe fn clear(p: usize, n: usize) {
    let zero = |from: usize, to: usize| {
        // SAFETY: a part of it.
        unsafe { core::ptr::write_bytes(from as *mut u8, 0, to - from) }
    };
    if n < LARGE || !give_back(p, n, zero) {
        zero(p, p + n);
    }
}

/// Gives the whole pages of a large block back, so that they are zero when they are touched next.
/// `rest` gets what is before and behind them. False: nothing was done, as blocks from before the
/// first execution are restored after it, so their memory must stay.
fn give_back(at: usize, n: usize, rest: impl Fn(usize, usize)) -> bool {
    if at < before_execution().1 {
        return false;
    }
    let (low, high) = (at.next_multiple_of(PAGE), (at + n) & !(PAGE - 1));
    sys::madvise(low, high - low, libc::MADV_DONTNEED);
    rest(at, low);
    rest(high, at + n);
    true
}

/// True if the block at `p` was not freed.
pub fn is_live(p: usize) -> bool {
    // SAFETY: each block has a head.
    unsafe { (*((p - HEAD) as *const Head)).is_live() }
}

/// The thread that allocated the block at `p`.
pub fn owner(p: usize) -> usize {
    (p - RANGE.start) >> LOG2_ARENA
}

/// The size of a block of this heap.
pub fn size(p: *mut c_void) -> usize {
    // SAFETY: each block has a head.
    unsafe { (*(p.byte_sub(HEAD).cast::<Head>())).size }
}

pub fn free(p: *mut c_void, pc: usize) {
    let at = p as usize;
    // SAFETY: each block has a head.
    let head = unsafe { &mut *p.byte_sub(HEAD).cast::<Head>() };
    if state().running {
        let n = head.size;
        let own = head.state & OF_LIBC != 0 && known_places::is_of_libc(pc);
        if !(own || known_places::frees_quietly(pc)) {
            // The C library's locks are real, and it may hold one.
            let held = i32::from(known_places::is_of_libc(pc));
            uninterrupted(held);
            point(op(OpKind::Free, at, pc).with_other((at + n) as u64), Wait::Nothing, pc);
            uninterrupted(-held);
            if head.is_live() {
                hidden::freed(at, n, pc);
            }
        }
        // The C++ library counts references with its own atomics, which raddle does not see, before
        // it frees.
        if head.is_live() && modules::is_instrumented(pc) {
            races::freed(at, n, pc);
        }
    }
    if !head.is_live() {
        if state().running {
            fatal::double_free(at, pc);
        }
        return;
    }
    head.state = GONE;
    hidden::gives_back(at);
    mark(at, head.size, true);
    let i = COUNT.fetch_add(1, Relaxed);
    if i < MOST_FREED {
        *freed_block(i) = (at, head.size);
    }
    if head.size >= LARGE {
        give_back(at, head.size, |_, _| ());
    }
}

pub fn reallocate(p: *mut c_void, n: usize, pc: usize) -> *mut c_void {
    let new = allocate(n, 16, pc);
    if !new.is_null() {
        let old = if is_ours(p as usize) { size(p) } else { unsafe { sys::block_size(p) } };
        // SAFETY: both blocks are that long.
        unsafe { core::ptr::copy_nonoverlapping(p.cast::<u8>(), new.cast::<u8>(), old.min(n)) };
        if is_ours(p as usize) {
            free(p, pc);
        }
    }
    new
}

fn bit(p: usize) -> (*mut u8, u8) {
    let i = (p - RANGE.start) / 16;
    ((FREED.start + i / 8) as *mut u8, 1 << (i % 8))
}

fn mark(p: usize, n: usize, freed: bool) {
    if n == 0 && !is_ours(p) {
        return;
    }
    let end = p + n.max(1);
    let mut at = p;
    while at < end {
        let (byte, mask) = bit(at);
        // Eight bits cover 128 bytes.
        let whole = if at.is_multiple_of(128) { (end - at) / 128 } else { 0 };
        // SAFETY: the bits of the whole range are reserved.
        unsafe {
            if whole > 0 {
                core::ptr::write_bytes(byte, if freed { 0xff } else { 0 }, whole);
                at += whole * 128;
            } else {
                *byte = if freed { *byte | mask } else { *byte & !mask };
                at += 16;
            }
        }
    }
}

/// True if the address lies in a freed block.
#[inline]
pub fn is_freed(p: usize) -> bool {
    if !is_ours(p) || !is_on() {
        return false;
    }
    let (byte, mask) = bit(p);
    // SAFETY: as above.
    unsafe { *byte & mask != 0 }
}

/// A freed byte at the beginning or the end of the range: blocks are not freed in part.
#[inline]
pub fn freed_within(p: usize, len: usize) -> Option<usize> {
    let last = p + len.max(1) - 1;
    if is_freed(p) { Some(p) } else { (len > 16 && is_freed(last)).then_some(last) }
}
