//! Likely happens-before, inferred from what delays do to others (3.4.4, Figure 6).
//!
//! If `loc1` happens before `loc2`, a delay before `loc1` delays `loc2` too. If a thread makes an
//! access at `t2` after a gap of at least δ delays, and a delay of another thread ended in that
//! gap, the thread has probably waited for it: its access, and the next k, are ordered after the
//! site of that delay. Of several such delays, the one that ended last is blamed.
//!
//! Deviation 3 (see the crate), in detail:
//! - A delay that has not ended is not blamed: the thread continued without waiting for its end.
//! - If calls were skipped after the last access that was looked at (see `passes`), a delay that
//!   had begun by then is not blamed: the thread continued meanwhile.
//! - A gap in which the thread itself was delayed starts at the end of that delay.
//! - A thread's first access ends no gap.
//!
//! With extension 9, a delayed call that the caller knows to come before this one is not blamed.
//! The thread has waited for it, but who knows that needs no inference, and it says nothing of the
//! next calls at the two sites: a task may well run beside a loop that waits for it at its end.
//!
//! The caller may also know that the thread has waited in this run by chance, as for an event that
//! others may set, too. That is what the paper takes for order, and often rightly. But another
//! thread may be first the next time. So the pair stays in the trap set, and is *doubted*: such a
//! wait counts as [`DOUBT`](crate::trap_set::DOUBT) failed delays, once for each delay. If the pair
//! ever had a near miss that no such wait explains, its sites are not ordered by these waits, and
//! it is not doubted. Nor is a pair of an earlier run, whose near misses are not known.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::Params;
use crate::params::technique;
use crate::threads::ThreadState;

/// Delays remembered. To find the last one of another thread this must exceed the delays that one
/// thread can end in a row without anybody else's; where it does not, an inference is missed.
const REMEMBERED: usize = 64;

#[derive(Default)]
#[repr(C)]
struct Ended {
    end: AtomicU64,
    /// `thread << 32 | site`.
    who: AtomicU64,
    length: AtomicU64,
}

/// The delays that ended last.
#[repr(C)]
pub(crate) struct Delays {
    next: AtomicU32,
    ended: [Ended; REMEMBERED],
}

impl Delays {
    pub(crate) fn ended(&self, thread: u32, site: u32, length: u64, now: u64) {
        let slot = &self.ended[self.next.fetch_add(1, Relaxed) as usize % REMEMBERED];
        slot.length.store(length, Relaxed);
        slot.who.store(u64::from(thread) << 32 | u64::from(site), Relaxed);
        slot.end.store(now, Release);
    }

    /// The delay of another thread that ended last, if it ended in the gap from `from` to `to`.
    fn to_blame(&self, thread: u32, from: u64, to: u64) -> Option<Blamed> {
        let told = |slot: &Ended| (slot.end.load(Acquire), slot.who.load(Relaxed), slot.length.load(Relaxed));
        let ended = self.ended.iter().map(told);
        let others = ended.filter(|(end, who, _)| (1..=to).contains(end) && (who >> 32) as u32 != thread);
        let (end, who, length) = others.max()?;
        (from <= end).then_some(Blamed { thread: (who >> 32) as u32, site: who as u32, end, length })
    }
}

/// A delay that a thread seems to have waited for.
struct Blamed {
    thread: u32,
    site: u32,
    end: u64,
    length: u64,
}

/// What the caller knows of a wait for what a thread did at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Unknown,
    /// It comes before this access in every run.
    Known,
    /// It comes before this access in this run.
    ByChance,
}

/// A delayed call that seems to come before an access.
pub(crate) struct Inferred {
    pub site: u32,
    /// Because of a wait that need not be there in another run.
    pub by_chance: bool,
}

/// In [`ThreadState::covered`], above the number of accesses.
const BY_CHANCE: u32 = 1 << 31;

/// An access of `thread` is made now; what it is inferred to be ordered after.
#[inline]
pub(crate) fn ordered_after(
    delays: &Delays,
    params: &Params,
    record: &ThreadState,
    (thread, went_by): (u32, u64),
    now: u64,
    why: impl FnOnce(u32, u64) -> Wait,
) -> Option<Inferred> {
    let last = record.last.load(Relaxed);
    record.last.store(now, Relaxed);
    // Not a read-modify-write: nobody else writes.
    let went_on = record.went_by.load(Relaxed) != went_by;
    record.went_by.store(went_by, Relaxed);
    if last != 0
        && now.saturating_sub(last) >= params.blamed_gap()
        && let Some(Blamed { thread, site, end, length }) = delays.to_blame(thread, last, now)
        && waited(params, (last, now), end, length)
        && !(went_on && end.saturating_sub(length) <= last)
        && let wait @ (Wait::Unknown | Wait::ByChance) = why(thread, end)
    {
        let by_chance = wait == Wait::ByChance;
        record.blamed.store(site, Relaxed);
        record.covered.store(params.inferred | if by_chance { BY_CHANCE } else { 0 }, Relaxed);
        return Some(Inferred { site, by_chance });
    }
    let covered = record.covered.load(Relaxed);
    if covered & !BY_CHANCE == 0 {
        return None;
    }
    record.covered.store(covered - 1, Relaxed);
    Some(Inferred { site: record.blamed.load(Relaxed), by_chance: covered & BY_CHANCE != 0 })
}

/// Whether a gap is one that the delay made. In the paper any gap is that is long enough; where a
/// thread's calls are far apart anyway, that takes pairs for ordered that are not. So with
/// extension 6 the access has to follow the end of the delay soon, as that of a thread that has
/// waited for it does, and a longer delay has to make a longer gap.
fn waited(params: &Params, (last, now): (u64, u64), end: u64, length: u64) -> bool {
    let at_least = params.part_of(length.max(params.delay));
    !params.has(technique::PROMPT)
        || now.saturating_sub(end) <= params.blamed_gap() && now.saturating_sub(last) >= at_least
}
