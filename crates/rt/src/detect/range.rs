//! Many bytes at once: unaligned accesses, `memcpy` and its kin, allocation and release.

use core::arch::x86_64::*;

use super::check::{check, ends_at_gate, first_lane, is_own, store};
use super::settings;
use super::thread::{Current, Thread, gate};
use crate::explore;
use crate::layout::*;
use crate::sys;
use raddle_wire::record::AccessKind;

/// Freeing a block marks this many bytes as written: enough to catch whoever still uses it.
const FREED_BYTES: usize = 1024;
/// A fresh block up to this size counts as written by the thread that got it; a larger one counts
/// as never touched.
const FRESH: usize = 4096;

/// A read or write of `len` bytes.
pub fn access<const WRITE: bool>(mut t: Current, address: usize, len: usize, pc: usize) {
    let kind = if WRITE { AccessKind::Write } else { AccessKind::Read };
    if WRITE && explore::is_on() {
        explore::memory::written(address, len);
    }
    if len == 0
        || (t.gate != gate::OPEN && ends_at_gate::<WRITE>(t, address, len, pc))
        || !is_watchable(address)
    {
        return crate::trace::range(WRITE, address, len, pc);
    }
    each_granule::<WRITE>(&mut t, address, len, pc, Some(kind));
}

/// `kind`: the event to put into the trace before the first granule that does not record the access
/// yet.
#[inline]
fn each_granule<const WRITE: bool>(
    t: &mut Thread,
    address: usize,
    len: usize,
    pc: usize,
    mut kind: Option<AccessKind>,
) {
    let flags = t.state | if WRITE { 0 } else { READ };
    let end = address.saturating_add(len);
    let mut a = address;
    loop {
        if a & 7 == 0 {
            a = skip_recorded::<WRITE>(t, a, end);
        }
        if a >= end {
            return;
        }
        let n = (8 - (a & 7)).min(end - a);
        let mask = ((1u32 << n) - 1) << (a & 7);
        // At whole granules `skip_recorded` has looked.
        if (n == 8 || !is_recorded::<WRITE>(t, a, mask)) && !is_own(t, a) {
            if let Some(kind) = kind.take() {
                t.trace.range(t.sp, &t.held, kind, address, len, pc);
            }
            if n == 8 {
                check::<WRITE, true>(t, a, pc, flags | 0xff);
            } else {
                check::<WRITE, false>(t, a, pc, flags | mask);
            }
        }
        a += n;
    }
}

/// The first granule that is partial, or that does not record the access yet. Most of what `memcpy`
/// reads was touched a moment before.
#[inline(always)]
fn skip_recorded<const WRITE: bool>(t: &Thread, mut a: usize, end: usize) -> usize {
    // SAFETY: as in `is_recorded`.
    unsafe {
        let read = _mm_set1_epi32(if WRITE { 0 } else { READ as i32 });
        let wanted = if WRITE { &t.hot_write8 } else { &t.hot_read8 };
        let wanted = _mm_load_si128(wanted.as_ptr().cast());
        let equal =
            |a: usize| _mm_cmpeq_epi32(_mm_or_si128(_mm_load_si128(shadow_of(a).cast()), read), wanted);
        // Four at once: a lane of each becomes a byte, and one of four must be set. Where one is
        // not recorded the next is mostly not either.
        while a + 32 <= end && _mm_movemask_epi8(equal(a)) != 0 {
            let both = _mm_packs_epi32(equal(a), equal(a + 8));
            let others = _mm_packs_epi32(equal(a + 16), equal(a + 24));
            let lanes = _mm_movemask_epi8(_mm_packs_epi16(both, others));
            let pairs = lanes | lanes >> 1;
            if (pairs | pairs >> 2) & 0x1111 != 0x1111 {
                break;
            }
            a += 32;
        }
        while a + 8 <= end {
            if _mm_movemask_epi8(equal(a)) == 0 {
                break;
            }
            a += 8;
        }
    }
    a
}

/// The filter of the probes.
#[inline(always)]
fn is_recorded<const WRITE: bool>(t: &Thread, address: usize, mask: u32) -> bool {
    let counts = mask | if WRITE { !0xff } else { !(0xff | READ) };
    // SAFETY: shadow is mapped; the vectors of a thread are 16-byte aligned.
    unsafe {
        let slots = _mm_load_si128(shadow_of(address).cast());
        let wanted = _mm_or_si128(_mm_load_si128(t.hot.as_ptr().cast()), _mm_set1_epi32(mask as i32));
        let differs = _mm_and_si128(_mm_xor_si128(slots, wanted), _mm_set1_epi32(counts as i32));
        _mm_movemask_epi8(_mm_cmpeq_epi32(differs, _mm_setzero_si128())) != 0
    }
}

/// Memory that was just allocated: earlier accesses were to something else.
pub fn fresh(t: &mut Thread, address: usize, len: usize, pc: usize) {
    if !is_watchable(address) {
        return;
    }
    // Memory allocated while writes are ignored counts as never written.
    if t.gate & (gate::OPEN | gate::IGNORE_WRITES) != gate::OPEN || settings().owners || len > FRESH {
        return clear(address, len);
    }
    t.trace.range(t.sp, &t.held, AccessKind::Allocate, address, len, pc);
    let slots = first_lane(t.state | 0xff);
    let mut a = address & !7;
    while a < address + len {
        store(shadow_of(a), slots);
        a += 8;
    }
}

/// A block is freed: an access that is not ordered before is an ordinary race.
pub fn freed(t: &mut Thread, address: usize, len: usize, pc: usize) {
    let len = len.min(FREED_BYTES);
    if len == 0 || t.gate & (gate::OPEN | gate::IGNORE_WRITES) != gate::OPEN || !is_watchable(address) {
        return;
    }
    t.trace.range(t.sp, &t.held, AccessKind::Free, address, len, pc);
    each_granule::<true>(t, address, len, pc, None);
}

/// Marks a freed block that nobody else has got yet: each access to it comes after `free`. The
/// marks stay until the allocator hands the memory out again and [`fresh`] or [`clear`] is called.
pub fn mark_freed(t: &Thread, address: usize, len: usize) {
    if t.gate & (gate::OPEN | gate::IGNORE_WRITES) != gate::OPEN || !is_watchable(address) {
        return;
    }
    let owner = if settings().owners { SHARED } else { 0 };
    let end = address + len.min(FREED_BYTES);
    for granule in (address..end).step_by(8) {
        store(shadow_of(granule), four_lanes([FREED, t.state, 0, owner]));
    }
}

/// True if [`mark_freed`] marked the block at `address`, and it was not handed out again.
#[inline]
pub fn is_marked_freed(address: usize) -> bool {
    // SAFETY: the shadow of watchable memory is mapped.
    is_watchable(address) && unsafe { *shadow_of(address).cast::<u32>() } == FREED
}

fn four_lanes(slots: [u32; 4]) -> __m128i {
    // SAFETY: the same size, and all values are valid.
    unsafe { core::mem::transmute(slots) }
}

/// Marks all granules that overlap the range as never touched.
pub fn clear(address: usize, len: usize) {
    if len == 0 || !is_watchable(address) {
        return;
    }
    let (start, end) = (shadow_of(address) as usize, shadow_of(address + len - 1) as usize + 16);
    let (first, last) = (start.next_multiple_of(4096), end & !4095);
    // SAFETY: shadow is mapped.
    unsafe {
        if last > first + 16 * 4096 {
            core::ptr::write_bytes(start as *mut u8, 0, first - start);
            sys::discard(first, last - first);
            core::ptr::write_bytes(last as *mut u8, 0, end - last);
        } else {
            core::ptr::write_bytes(start as *mut u8, 0, end - start);
        }
    }
}
