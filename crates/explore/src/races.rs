//! Data races in the current execution: plain accesses that happens-before does not order.
//!
//! This is the pure happens-before detector of section 4 of *ThreadSanitizer: data race detection
//! in practice* (2009), in fixed storage, so that it can run in every explored execution (section
//! 3.5 of the CHESS paper runs one in some). The clocks of [`crate::stale::Model`] say who comes
//! after whom; this module knows who has accessed which memory. Each granule of 8 bytes has a cell
//! with the last accesses to it. An access that conflicts with a new one and that the new one's
//! clock does not cover is a race. One thread runs at a time, so what is seen is certain, and is
//! seen again in every replay.
//!
//! Guarantee: what is reported is a race of this execution. Some races are missed:
//! 1. A cell keeps [`KEPT`] accesses. One can be dropped without loss if a later one represents it:
//!    the same or a later access that is ordered after it, to at least as many bytes, that
//!    conflicts with as much. If there is none, one is forgotten.
//! 2. There is room for some thousand granules, in sets of a few by address. If there is no room, a
//!    granule is forgotten.
//! 3. Among similar accesses of one thread between two of its synchronisation operations, the first
//!    represents all.
//!
//! Forgetting never invents a race: both accesses of a race are stored. [`Races::forgot`] says
//! whether something was forgotten in the current execution.
//!
//! [`Races::add_state`] adds to a key what later detections depend on, by the same argument as
//! [`crate::hidden`]: for each access that is kept, which clocks of the model cover it.

use crate::clock::Clock;
use crate::stale::Model;
use crate::state_key::{KeyHash, SetHash};

/// The number of accesses kept for a granule.
pub const KEPT: usize = 4;
/// The number of callers kept with an access.
pub const CALLERS: usize = 7;

const SETS: usize = 1 << 11;
const WAYS: usize = 8;

/// An access within one granule of 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct GranuleAccess {
    /// The event number within its thread.
    count: u32,
    /// The logical thread.
    pub thread: u16,
    /// One bit for each byte of the granule.
    pub bytes: u8,
    flags: u8,
    /// The number of steps made in the execution by then.
    pub step: u32,
    reserved: u32,
    /// Program counters, innermost first; 0: no further caller.
    pub frames: [u64; 1 + CALLERS],
}

const WRITES: u8 = 1;
const ATOMIC: u8 = 2;
const FREES: u8 = 4;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// The block that contains the bytes is freed.
    Free,
    /// Atomic, and changes nothing.
    Load,
    /// Atomic, and changes something.
    Store,
}

impl GranuleAccess {
    /// An access at event `count` of the thread: [`Clock::next`], taken before the access itself
    /// orders anything.
    pub fn new(thread: usize, count: u32, step: u32, deed: Deed) -> GranuleAccess {
        let flags = match deed {
            Deed::Read => 0,
            Deed::Write => WRITES,
            Deed::Free => WRITES | FREES,
            Deed::Load => ATOMIC,
            Deed::Store => ATOMIC | WRITES,
        };
        let (bytes, frames) = (0, [0; 1 + CALLERS]);
        GranuleAccess { count, thread: thread as u16, bytes, flags, step, reserved: 0, frames }
    }

    /// The access, restricted to these bytes of a granule.
    pub fn of(self, bytes: u8) -> GranuleAccess {
        GranuleAccess { bytes, ..self }
    }

    /// Whether it frees the block.
    pub fn frees(&self) -> bool {
        self.flags & FREES != 0
    }

    /// Whether it changes the bytes; a free does.
    pub fn writes(&self) -> bool {
        self.flags & WRITES != 0
    }

    /// Two atomic accesses never race.
    pub fn is_atomic(&self) -> bool {
        self.flags & ATOMIC != 0
    }

    fn conflicts(&self, other: &GranuleAccess) -> bool {
        self.thread != other.thread
            && self.bytes & other.bytes != 0
            && (self.flags | other.flags) & WRITES != 0
            && self.flags & other.flags & ATOMIC == 0
    }

    /// True if everything that conflicts with `other` conflicts with this too.
    fn stands_for(&self, other: &GranuleAccess) -> bool {
        other.bytes & !self.bytes == 0
            && (self.writes() || !other.writes())
            && (other.is_atomic() || !self.is_atomic())
    }
}

#[derive(Clone, Copy)]
struct Cell {
    granule: u64,
    /// The execution in which it is in use.
    execution: u32,
    used: u32,
    kept: [GranuleAccess; KEPT],
}

/// The accesses of one execution. All zero is empty.
pub struct Races {
    execution: u32,
    forgot: bool,
    cells_used: usize,
    /// The sets and ways of the cells in use.
    cell_list: [u16; SETS * WAYS],
    cells: [[Cell; WAYS]; SETS],
}

impl Races {
    /// Forgets everything, in constant time.
    pub fn reset(&mut self) {
        if self.execution == u32::MAX {
            // This happens so late that its cost does not matter; a cell must not look like one of
            // the first executions.
            self.cells.iter_mut().flatten().for_each(|c| c.execution = 0);
            self.execution = 0;
        }
        self.execution += 1;
        (self.forgot, self.cells_used) = (false, 0);
    }

    /// True if there was not enough room: races of this execution may have been missed.
    pub fn forgot(&self) -> bool {
        self.forgot
    }

    /// Adds the detector's state to a key. `live` are the threads that have not ended, whose clocks
    /// `model` has.
    pub fn add_state(&self, model: &Model, live: impl Iterator<Item = usize> + Clone, key: &mut KeyHash) {
        let mut all = SetHash::default();
        for place in self.cell_list[..self.cells_used].iter().map(|p| *p as usize) {
            let cell = &self.cells[place / WAYS][place % WAYS];
            for access in &cell.kept[..cell.used as usize] {
                let (thread, count) = (access.thread as usize, access.count);
                if live.clone().all(|t| model.has_happened(t, thread, count)) {
                    continue;
                }
                let mut one = KeyHash::new(cell.granule);
                one.add(access.frames[0]);
                one.add(
                    u64::from(access.thread) << 16 | u64::from(access.bytes) << 8 | u64::from(access.flags),
                );
                model.add_relations(thread, count, &mut one);
                all.add(one);
            }
        }
        all.into(key);
    }

    /// Records an access by a thread to which `now` happened before, and returns an earlier one
    /// with which it races. `frames` is called for the program counters only if they are kept.
    #[inline]
    pub fn access(
        &mut self,
        granule: u64,
        mut new: GranuleAccess,
        now: &Clock,
        frames: impl FnOnce(&mut [u64; 1 + CALLERS]),
    ) -> Option<GranuleAccess> {
        let cell = self.cell(granule);
        let kept = &mut cell.kept[..cell.used as usize];
        // Anything in between was compared with the one that is stored.
        if kept.iter().any(|old| (old.thread, old.count) == (new.thread, new.count) && old.stands_for(&new)) {
            return None;
        }
        frames(&mut new.frames);
        let unordered = |old: &&GranuleAccess| !now.covers(old.thread as usize, old.count);
        let race = kept.iter().filter(|old| old.conflicts(&new)).find(unordered).copied();
        let has_room = cell.keep(new, now);
        self.forgot |= !has_room;
        race
    }

    /// Memory from `low` to `high` is unmapped: what is mapped there later is other memory.
    pub fn forget(&mut self, low: u64, high: u64) {
        let within = |c: &&mut Cell| (low..high).contains(&c.granule);
        self.cells.iter_mut().flatten().filter(within).for_each(|c| c.used = 0);
    }

    fn cell(&mut self, granule: u64) -> &mut Cell {
        let execution = self.execution;
        let number = set_of(granule);
        let set = &mut self.cells[number];
        let known = set.iter().position(|c| c.granule == granule && c.execution == execution);
        let at = known.unwrap_or_else(|| {
            let free = set.iter().position(|c| c.execution != execution);
            // Any one will do, as long as it is the same in every replay.
            let at = free.unwrap_or((granule >> 3) as usize % WAYS);
            if free.is_some() {
                self.cell_list[self.cells_used] = (number * WAYS + at) as u16;
                self.cells_used += 1;
            } else {
                self.forgot = true;
            }
            (set[at].granule, set[at].execution, set[at].used) = (granule, execution, 0);
            at
        });
        &mut set[at]
    }
}

fn set_of(granule: u64) -> usize {
    (granule.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SETS
}

impl Cell {
    /// Keeps an access, in place of those that it represents. False if another had to be given up.
    fn keep(&mut self, new: GranuleAccess, now: &Clock) -> bool {
        let before =
            |old: &GranuleAccess| old.thread == new.thread || now.covers(old.thread as usize, old.count);
        let mut n = 0;
        for i in 0..self.used as usize {
            if !(before(&self.kept[i]) && new.stands_for(&self.kept[i])) {
                self.kept[n] = self.kept[i];
                n += 1;
            }
        }
        let has_room = n < KEPT;
        if !has_room {
            let given_up = self.least(&before);
            self.kept.copy_within(given_up + 1.., given_up);
            n -= 1;
        }
        self.kept[n] = new;
        self.used = n as u32 + 1;
        has_room
    }

    /// The access to drop: an atomic one, else one that is ordered before, else a read, else the
    /// oldest.
    fn least(&self, before: &dyn Fn(&GranuleAccess) -> bool) -> usize {
        let find = |wanted: &dyn Fn(&GranuleAccess) -> bool| self.kept.iter().position(wanted);
        find(&GranuleAccess::is_atomic)
            .or_else(|| find(before))
            .or_else(|| find(&|a| !a.writes()))
            .unwrap_or(0)
    }
}

/// A number for the race by the sites of its two accesses, the same in every execution.
pub fn number(one: u64, other: u64) -> u32 {
    let (low, high) = (one.min(other), one.max(other));
    let mixed = (low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (mixed >> 32) as u32
}
