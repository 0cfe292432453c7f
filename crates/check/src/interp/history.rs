//! Access histories and the race rule (section 3.3).
//!
//! Memory is watched in granules of eight bytes. Each access has a mask of the bytes it touches, so
//! that neighbouring fields and array elements do not conflict. The paper keeps all accesses of a
//! thread. Raddle keeps for each granule the last write and the last read, as FastTrack does.
//! Accesses that neither replaces (reads by several threads, partial overlaps) spill to a side
//! list. The fast path is [`AccessHistory::read`] and [`AccessHistory::write`].

use rustc_hash::FxHashMap;

use super::clock::{PackedEpoch, SimulatedClock};
use super::context::ContextId;

/// Set in [`HistoryCell::flags`].
pub const WRITE: u8 = 1;
pub const ATOMIC: u8 = 2;
pub const VOLATILE: u8 = 4;
/// Made by a handler that interrupts threads.
pub const HANDLER: u8 = 8;
/// The access frees the block.
pub const FREE: u8 = 16;
/// On a granule's write cell: more accesses are in the list.
const MORE: u8 = 128;

/// One access. Sixteen bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HistoryCell {
    pub epoch: PackedEpoch,
    pub pc: u32,
    pub context: ContextId,
    pub lockset: u16,
    pub mask: u8,
    pub flags: u8,
}

const _: () = assert!(size_of::<HistoryCell>() == 16);

#[derive(Debug, Clone, Copy, Default)]
struct Granule {
    write: HistoryCell,
    read: HistoryCell,
}

/// The maximum number of spilled accesses for one granule.
const MOST_SPILLED: usize = 24;

#[derive(Debug, Default)]
pub struct AccessHistory {
    granules: Vec<Granule>,
    spilled: FxHashMap<u32, Vec<HistoryCell>>,
    /// The accesses that the last access raced with. A caller that is told of a race takes them.
    pub races: Vec<HistoryCell>,
}

/// Two accesses race when they touch a common byte, one writes, not both are atomic, and neither
/// happened before.
#[inline(always)]
fn conflict(old: HistoryCell, new: &HistoryCell, clock: &SimulatedClock) -> bool {
    !old.epoch.is_never()
        && old.mask & new.mask != 0
        && !clock.covers(old.epoch)
        && conflict_of_kinds(old, new)
}

#[inline]
fn conflict_of_kinds(old: HistoryCell, new: &HistoryCell) -> bool {
    let both = old.flags & new.flags;
    let either = old.flags | new.flags;
    let atomic = both & ATOMIC != 0;
    // A volatile object may be shared with a handler, which may as well use it atomically.
    let is_whole = |cell: u8| cell & (VOLATILE | ATOMIC) != 0;
    let handled = is_whole(old.flags) && is_whole(new.flags) && either & HANDLER != 0;
    old.epoch.thread() != new.epoch.thread() && either & WRITE != 0 && !atomic && !handled
}

impl AccessHistory {
    /// Covers `granules` granules, all without history.
    pub fn reset(&mut self, granules: usize) {
        self.granules.clear();
        self.granules.resize(granules, Granule::default());
        self.spilled.clear();
    }

    /// Forgets everything from this granule on. Earlier granules are forgotten range by range.
    pub fn truncate(&mut self, granules: usize) {
        self.granules.truncate(granules);
        self.spilled.retain(|i, _| (*i as usize) < granules);
    }

    pub fn grow(&mut self, granules: usize) {
        self.granules.resize(granules, Granule::default());
    }

    /// Forgets a range whose memory is reused.
    pub fn forget(&mut self, from: usize, to: usize) {
        for (i, g) in self.granules[from..to].iter_mut().enumerate() {
            if g.write.flags & MORE != 0 {
                self.spilled.remove(&((from + i) as u32));
            }
            *g = Granule::default();
        }
    }

    /// Whether another thread than this one has accessed one of these granules.
    pub fn is_used_by_others(&self, granules: std::ops::Range<usize>, thread: usize) -> bool {
        let by_other = |c: &HistoryCell| !c.epoch.is_never() && c.epoch.thread() != thread;
        granules.into_iter().any(|i| {
            let Some(g) = self.granules.get(i) else { return false };
            let more = (g.write.flags & MORE != 0).then(|| self.spilled.get(&(i as u32))).flatten();
            by_other(&g.write) || by_other(&g.read) || more.is_some_and(|list| list.iter().any(by_other))
        })
    }

    /// The bytes of a granule with an access of this kind.
    pub fn bytes_used(&self, granule: usize, is_it: impl Fn(&HistoryCell) -> bool) -> u8 {
        let Some(g) = self.granules.get(granule) else { return 0 };
        let more = (g.write.flags & MORE != 0).then(|| self.spilled.get(&(granule as u32))).flatten();
        let cells = [&g.write, &g.read].into_iter().chain(more.into_iter().flatten());
        cells.filter(|c| !c.epoch.is_never() && is_it(c)).fold(0, |mask, c| mask | c.mask)
    }

    /// Records a read. True if it races; see [`AccessHistory::races`].
    #[inline(always)]
    pub fn read(&mut self, index: usize, new: HistoryCell, clock: &SimulatedClock) -> bool {
        let g = &mut self.granules[index];
        if g.write.flags & MORE == 0 && (g.write.epoch.is_never() || clock.covers(g.write.epoch)) {
            // No race with the write. The read cell is free, this thread's own, or in the past.
            if g.read.epoch == new.epoch && g.read.mask == new.mask && g.read.flags == new.flags {
                return false;
            }
            let replaceable = g.read.mask & !new.mask == 0 && clock.covers(g.read.epoch);
            if g.read.epoch.is_never() || replaceable {
                g.read = new;
                return false;
            }
        }
        self.slow(index, new, clock)
    }

    /// Records a write. True if it races.
    #[inline(always)]
    pub fn write(&mut self, index: usize, new: HistoryCell, clock: &SimulatedClock) -> bool {
        let g = &mut self.granules[index];
        let past = |c: HistoryCell| c.epoch.is_never() || clock.covers(c.epoch) && c.mask & !new.mask == 0;
        if g.write.flags & MORE == 0 && past(g.write) && past(g.read) {
            g.write = new;
            g.read.epoch = PackedEpoch::default();
            return false;
        }
        self.slow(index, new, clock)
    }

    #[cold]
    fn slow(&mut self, index: usize, new: HistoryCell, clock: &SimulatedClock) -> bool {
        let g = &mut self.granules[index];
        let had_more = g.write.flags & MORE != 0;
        g.write.flags &= !MORE;
        self.races.clear();
        let mut keep: Vec<HistoryCell> = Vec::new();
        let spilled = if had_more { self.spilled.remove(&(index as u32)) } else { None };
        for old in [g.write, g.read].into_iter().chain(spilled.into_iter().flatten()) {
            if old.epoch.is_never() {
                continue;
            }
            if conflict(old, &new, clock) {
                self.races.push(old);
            }
            if !superseded(old, &new, clock) {
                keep.push(old);
            }
        }
        keep.push(new);
        // Drop the oldest when there are too many.
        if keep.len() > MOST_SPILLED {
            keep.drain(..keep.len() - MOST_SPILLED);
        }
        let mut take_last = |write: bool| {
            let i = keep.iter().rposition(|c| (c.flags & WRITE != 0) == write)?;
            Some(keep.remove(i))
        };
        g.write = take_last(true).unwrap_or_default();
        g.read = take_last(false).unwrap_or_default();
        if !keep.is_empty() {
            g.write.flags |= MORE;
            self.spilled.insert(index as u32, keep);
        }
        !self.races.is_empty()
    }
}

/// An old access is redundant if a newer one of the same strength covers its bytes and comes after
/// it.
fn superseded(old: HistoryCell, new: &HistoryCell, clock: &SimulatedClock) -> bool {
    let covered = old.mask & !new.mask == 0;
    let as_strong = new.flags & WRITE >= old.flags & WRITE && (new.flags & ATOMIC <= old.flags & ATOMIC);
    let ordered = clock.covers(old.epoch);
    covered && ordered && (as_strong || old.epoch.thread() == new.epoch.thread() && new.flags == old.flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: &[(usize, u32)]) -> SimulatedClock {
        let mut c = SimulatedClock::default();
        for (t, n) in times {
            (0..*n).for_each(|_| c.tick(*t));
        }
        c
    }

    fn cell(thread: usize, time: u32, mask: u8, flags: u8) -> HistoryCell {
        HistoryCell { epoch: PackedEpoch::new(thread, time), pc: 7, context: 1, lockset: 0, mask, flags }
    }

    fn history() -> AccessHistory {
        let mut h = AccessHistory::default();
        h.reset(4);
        h
    }

    #[test]
    fn unordered_writes_race_and_ordered_ones_do_not() {
        let mut h = history();
        assert!(!h.write(0, cell(0, 1, 0xF, WRITE), &clock(&[(0, 1)])));
        assert!(h.write(0, cell(1, 1, 0xF, WRITE), &clock(&[(1, 1)])));
        let mut h = history();
        h.write(0, cell(0, 1, 0xF, WRITE), &clock(&[(0, 1)]));
        assert!(!h.write(0, cell(1, 1, 0xF, WRITE), &clock(&[(0, 1), (1, 1)])));
    }

    #[test]
    fn neighbouring_bytes_do_not_meet() {
        let mut h = history();
        h.write(0, cell(0, 1, 0x0F, WRITE), &clock(&[(0, 1)]));
        assert!(!h.write(0, cell(1, 1, 0xF0, WRITE), &clock(&[(1, 1)])));
        assert!(h.read(0, cell(2, 1, 0x01, 0), &clock(&[(2, 1)])));
        assert!(h.read(0, cell(2, 1, 0x10, 0), &clock(&[(2, 1)])));
    }

    #[test]
    fn all_concurrent_reads_are_remembered() {
        let mut h = history();
        for t in 0..3 {
            assert!(!h.read(0, cell(t, 1, 0xF, 0), &clock(&[(t, 1)])));
        }
        // Ordered after two of the three readers.
        assert!(h.write(0, cell(3, 1, 0xF, WRITE), &clock(&[(0, 1), (2, 1), (3, 1)])));
        assert_eq!(h.races.iter().map(|c| c.epoch.thread()).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn atomics_race_with_plain_accesses_only() {
        let mut h = history();
        h.write(0, cell(0, 1, 0xF, WRITE | ATOMIC), &clock(&[(0, 1)]));
        assert!(!h.write(0, cell(1, 1, 0xF, WRITE | ATOMIC), &clock(&[(1, 1)])));
        assert!(h.read(0, cell(2, 1, 0xF, 0), &clock(&[(2, 1)])));
    }

    #[test]
    fn a_volatile_object_may_be_shared_with_a_handler() {
        let mut h = history();
        h.write(0, cell(0, 1, 0xF, WRITE | VOLATILE), &clock(&[(0, 1)]));
        assert!(!h.write(0, cell(1, 1, 0xF, WRITE | VOLATILE | HANDLER), &clock(&[(1, 1)])));
        let mut h = history();
        h.write(0, cell(0, 1, 0xF, WRITE | VOLATILE), &clock(&[(0, 1)]));
        assert!(h.write(0, cell(1, 1, 0xF, WRITE | VOLATILE), &clock(&[(1, 1)])));
    }

    #[test]
    fn who_has_used_a_granule_is_known() {
        let mut h = history();
        assert!(!h.is_used_by_others(0..4, 0));
        h.read(2, cell(1, 1, 0x0F, 0), &clock(&[(1, 1)]));
        assert!(h.is_used_by_others(0..4, 0) && !h.is_used_by_others(0..2, 0));
        assert!(!h.is_used_by_others(0..4, 1));
        h.read(2, cell(0, 1, 0x0F, 0), &clock(&[(0, 1)]));
        assert!(h.is_used_by_others(2..3, 0) && h.is_used_by_others(2..3, 1));
    }

    #[test]
    fn which_bytes_were_used_is_known() {
        let mut h = history();
        h.read(2, cell(1, 1, 0x0F, 0), &clock(&[(1, 1)]));
        h.read(2, cell(0, 1, 0x30, 0), &clock(&[(0, 1)]));
        h.write(2, cell(1, 2, 0x40, WRITE), &clock(&[(1, 2)]));
        let by = |thread: usize| h.bytes_used(2, |c| c.epoch.thread() == thread);
        assert_eq!([by(0), by(1), by(2)], [0x30, 0x4F, 0]);
        assert_eq!(h.bytes_used(1, |_| true), 0);
    }

    #[test]
    fn a_forgotten_range_has_no_history() {
        let mut h = history();
        h.write(0, cell(0, 1, 0x0F, WRITE), &clock(&[(0, 1)]));
        h.write(0, cell(1, 1, 0xF0, WRITE), &clock(&[(1, 1)]));
        h.forget(0, 2);
        assert!(!h.write(0, cell(2, 1, 0xFF, WRITE), &clock(&[(2, 1)])));
    }

    /// Compares with the definition: every pair of accesses, with nothing forgotten.
    #[test]
    fn agrees_with_keeping_everything_on_whether_a_granule_is_raced_on() {
        let mut seed = 1u64;
        let mut next = move |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..2000 {
            let mut clocks: Vec<SimulatedClock> = (0..3).map(|t| clock(&[(t, 1)])).collect();
            let mut lock = SimulatedClock::default();
            let (mut h, mut all) = (history(), Vec::<HistoryCell>::new());
            let (mut found, mut expected) = (false, false);
            for _ in 0..12 {
                let t = next(3) as usize;
                match next(4) {
                    0 => lock.join(&clocks[t].clone()),
                    1 => {
                        let l = lock.clone();
                        clocks[t].join(&l);
                    }
                    kind => {
                        let mask = [0x0F, 0xF0, 0xFF][next(3) as usize];
                        let flags = if kind == 2 { WRITE } else { 0 };
                        let new = cell(t, clocks[t].get(t), mask, flags);
                        expected |= all.iter().any(|o| conflict(*o, &new, &clocks[t]));
                        all.push(new);
                        let c = clocks[t].clone();
                        found |= if flags == 0 { h.read(0, new, &c) } else { h.write(0, new, &c) };
                    }
                }
                clocks[t].tick(t);
            }
            assert_eq!(found, expected);
        }
    }
}
