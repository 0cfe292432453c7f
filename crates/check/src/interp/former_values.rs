//! What a shared object held before an unknown function got it.
//!
//! An unknown function may change the object that it gets, so what was known of the object becomes
//! unknown. But if other threads use the object too, a run that takes the change for granted
//! contradicts itself: one thread takes the locks of one kind of object and releases those of
//! another, or two threads own what a flag gives to one. Such a change is a guess. So:
//!
//! 1. When an unknown function gets a *shared* object, each scalar in it becomes a new unknown that
//!    remembers its *former value*: a number, or another unknown with all that was assumed of it.
//! 2. A branch on such unknowns is decided by their former values. What these leave open is open.
//! 3. One run in [`ONE_IN`] may decide against them. From there on, the run *assumes a change*, and
//!    what it finds is a guess (`--all` lists these).
//! 4. A thread that asks in a loop whether to stay in it waits for the change. After
//!    [`PATIENCE`] such decisions the value has changed, and that is no guess.
//!
//! What has changed stays changed: later unknown functions find it so. And a change agrees with all
//! that was decided by the former value before, until an unknown function gets the object again.
//!
//! An object is shared if several threads exist, and another thread than the one that calls has
//! accessed it, has allocated it, or was started with it. Part of a frame counts by itself, because
//! its neighbours are other variables. If nobody else had used the object, its former values count
//! once another thread finds it: the thread that calls may have published it before. So what a
//! thread prepares with the help of unknown functions is as open as before, to itself: results
//! behind pointers to local variables, objects that it has just made, and all that happens before
//! the first start of a thread. But what it had read of the object before counts if it holds a lock
//! then: that may have decided which one.
//!
//! A join of a handle that became unknown is one of its former value.

use rustc_hash::FxHashMap;

use super::Machine;
use super::clock::SimulatedClock;
use super::history::{HistoryCell, WRITE};
use super::memory::Memory;
use super::value::{is_unknown, number};
use super::witness::ConditionStatus;
use crate::ir::cfg::successors;
use crate::ir::{Bin, Scalar, SwitchTable};

/// One run in this many may assume that an unknown function has changed a shared object.
const ONE_IN: u64 = 4;

/// The number of decisions to stay in a loop after which a value has changed.
const PATIENCE: u32 = 100;

/// The content of eight bytes, and which of them are unknown.
pub type GranuleContent = ([u8; 8], u8);

#[derive(Debug, Clone, Copy)]
struct FormerContent {
    content: GranuleContent,
    /// What the unknown function left there. Another content was stored since.
    now: [u8; 8],
    /// The bytes that it may have changed, one bit each.
    bytes: u8,
    /// The only thread that had used the object, for which the change is no guess.
    own: Option<usize>,
    by: HandedOver,
}

/// Which thread an unknown function got an object from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HandedOver {
    thread: usize,
    /// It held a lock then.
    locked: bool,
    /// The bytes that it had read before.
    read: u8,
}

impl HandedOver {
    /// Whether some of these bytes may have decided which lock the thread held.
    fn may_have_chosen_lock(self, mask: u8) -> bool {
        self.locked && self.read & mask != 0
    }
}

/// The former value of an unknown, and where it was loaded from.
#[derive(Debug, Clone, Copy)]
struct MetValue {
    /// `None` if the run has assumed that it changed.
    former: Option<u64>,
    at: usize,
    ty: Scalar,
}

/// A change that the run has taken for granted.
#[derive(Debug)]
struct Change {
    /// The bytes that have changed, one bit each.
    bytes: u8,
    thread: usize,
    /// What happened before it.
    clock: SimulatedClock,
}

/// The former values of one run.
#[derive(Debug, Default)]
pub struct FormerValues {
    granules: FxHashMap<usize, FormerContent>,
    /// The unknowns that were loaded from there.
    of: FxHashMap<u32, MetValue>,
    /// How often each thread decided at a place to stay in its loop.
    stayed: FxHashMap<(usize, u32), u32>,
    /// The granules that have changed.
    changes: FxHashMap<usize, Change>,
    /// For a branch, the side that leaves its loop, if it is in one.
    leaves: FxHashMap<u32, Option<bool>>,
    may_assume_change: bool,
    /// The run has assumed a change, so what it finds from now on is a guess.
    assumes_change: bool,
}

impl FormerValues {
    pub fn clear(&mut self, seed: u64) {
        self.granules.clear();
        self.of.clear();
        self.stayed.clear();
        self.changes.clear();
        // Neighbouring seeds have different strategies, which must not go along with this.
        self.may_assume_change = (seed / 4) % ONE_IN == ONE_IN - 1;
        self.assumes_change = false;
    }

    pub fn assumes_change(&self) -> bool {
        self.assumes_change
    }

    /// Remembers a range that is about to become unknown. What has become unknown before and was
    /// not stored to since keeps its older value.
    fn remember(&mut self, memory: &Memory, at: usize, size: usize, own: Option<usize>, by: HandedOver) {
        for granule in at / 8..(at + size).div_ceil(8) {
            let range = at.max(granule * 8) - granule * 8..(at + size).min(granule * 8 + 8) - granule * 8;
            let mask = (0xFFu8 << range.start) & (0xFFu8 >> (8 - range.end));
            let (bytes, holes) = memory.granule(granule);
            let is_read = |c: &HistoryCell| c.epoch.thread() == by.thread && c.flags & WRITE == 0;
            let by = HandedOver { read: memory.history.bytes_used(granule, is_read), ..by };
            let new = FormerContent { content: (bytes, holes), now: bytes, bytes: 0, own, by };
            let former = self.granules.entry(granule).or_insert(new);
            if former.now != bytes || former.bytes & holes & mask != mask {
                for i in range {
                    let is_old =
                        former.bytes >> i & 1 == 1 && holes >> i & 1 == 1 && former.now[i] == bytes[i];
                    if !is_old {
                        former.content.0[i] = bytes[i];
                        former.content.1 = former.content.1 & !(1 << i) | holes & 1 << i;
                    }
                }
                former.bytes |= mask;
            }
            (former.own, former.by) = (own, by);
        }
    }

    /// Notes what the range became.
    fn note_change(&mut self, memory: &Memory, at: usize, size: usize) {
        for granule in at / 8..(at + size).div_ceil(8) {
            if let Some(former) = self.granules.get_mut(&granule) {
                former.now = memory.granule(granule).0;
            }
        }
    }

    /// The former value of the scalar at a place, if an unknown function may have changed it and
    /// nothing was stored there since.
    fn at(&self, memory: &Memory, at: usize, ty: Scalar, thread: usize) -> Option<u64> {
        let size = ty.size() as usize;
        if at % 8 + size > 8 {
            return None;
        }
        let mask = mask_of(at, ty);
        let is_open = |f: &&FormerContent| f.own == Some(thread) && !f.by.may_have_chosen_lock(mask);
        let former = self.granules.get(&(at / 8)).filter(|f| !is_open(f))?;
        let (bytes, holes) = memory.granule(at / 8);
        let is_same =
            holes & former.bytes & mask == mask && (at % 8..at % 8 + size).all(|i| bytes[i] == former.now[i]);
        is_same.then(|| memory.value_of_content(at, ty, former.content))
    }
}

/// The bytes of its granule that a scalar has.
fn mask_of(at: usize, ty: Scalar) -> u8 {
    ((0xFFu16 >> (8 - ty.size())) << (at % 8)) as u8
}

impl Machine<'_> {
    /// Makes a range unknown that an unknown function got from a thread.
    pub(super) fn hand_over(&mut self, ti: usize, address: u64, at: usize, size: usize) {
        self.fresh = self.fresh.wrapping_add(1);
        let salt = u64::from(self.fresh);
        if !self.watching || size == 0 {
            return self.make_unknown(at, size, salt);
        }
        let own = (!self.is_shared(ti, address, size as u64)).then_some(ti);
        let is_frame = self.memory.block(address).is_none() && !self.is_global(address);
        let by = HandedOver { thread: ti, locked: !is_frame && !self.threads[ti].held.is_empty(), read: 0 };
        self.former_values.remember(&self.memory, at, size, own, by);
        self.make_unknown(at, size, salt);
        self.former_values.note_change(&self.memory, at, size);
    }

    /// Whether another thread uses the object around a range.
    fn is_shared(&self, ti: usize, address: u64, size: u64) -> bool {
        let block = self.memory.block(address);
        let (start, end) = match self.object_around(address) {
            Some(object) if block.is_some() || self.is_global(address) => object,
            _ => (address, address + size),
        };
        let is_given = |i: &usize| {
            let argument = self.threads[*i].argument;
            *i != ti && !is_unknown(argument) && start <= argument && argument < end
        };
        let end = end.min(start + super::step::HAVOC);
        let granules = match self.memory.index(start, end - start) {
            Ok(at) => at / 8..(at + (end - start) as usize).div_ceil(8),
            Err(_) => return false,
        };
        block.is_some_and(|b| usize::from(b.thread) != ti)
            || (1..self.threads.len()).any(|i| is_given(&i))
            || self.memory.history.is_used_by_others(granules, ti)
    }

    /// Remembers the former value of an unknown that was just loaded.
    #[cold]
    pub(super) fn meet_former_value(&mut self, ti: usize, at: usize, ty: Scalar, loaded: u64) {
        self.learn_change(ti, at, ty);
        let name = number(loaded);
        if !self.former_values.of.contains_key(&name)
            && let Some(former) = self.former_values.at(&self.memory, at, ty, ti)
            && former != loaded
            && !self.witness.has_assumed(name)
        {
            self.former_values.of.insert(name, MetValue { former: Some(former), at, ty });
        }
    }

    pub(super) fn has_former_values(&self) -> bool {
        !self.former_values.granules.is_empty()
    }

    /// What a value is if no unknown function has changed anything; `None` if that is the value
    /// itself.
    fn without_changes(&mut self, v: u64) -> Option<u64> {
        let of = &self.former_values.of;
        if of.is_empty() {
            return None;
        }
        self.witness.substitute(v, &|root| of.get(&root)?.former)
    }

    /// A value as it was before unknown functions may have changed it.
    pub(super) fn as_before(&mut self, v: u64) -> u64 {
        if is_unknown(v) { self.without_changes(v).unwrap_or(v) } else { v }
    }

    /// Decides a branch by former values. `None` if they do not decide it.
    pub(super) fn decide_as_before(&mut self, ti: usize, unknown: u64, pc: u32) -> Option<bool> {
        let before = self.without_changes(unknown)?;
        let (agreed, is_forced) = self.side_before(before, pc);
        if is_forced
            && self.former_values.may_assume_change
            && self.wanted_side(pc) != agreed
            && self.assume_side(unknown, !agreed)
        {
            self.former_values.assumes_change = true;
            self.settle_change(ti, unknown);
            return Some(!agreed);
        }
        if is_forced && self.leaving_side(pc) == Some(!agreed) && self.is_tired(ti, pc) {
            self.settle_change(ti, unknown);
            let (name, _) = self.witness.strip(unknown);
            self.witness.forget(name);
            return Some(self.assume_side(unknown, !agreed) != agreed);
        }
        // A change that is assumed later must agree with this.
        self.assume_side(unknown, agreed);
        Some(agreed)
    }

    /// Assumes a side of a branch on an unknown, if possible. Returns whether that is so.
    fn assume_side(&mut self, condition: u64, side: bool) -> bool {
        let (name, negated) = self.witness.strip(condition);
        (self.witness.assume(name, side != negated) != negated) == side
    }

    /// Whether a thread has long enough decided to stay in a loop.
    fn is_tired(&mut self, ti: usize, pc: u32) -> bool {
        let stayed = self.former_values.stayed.entry((ti, pc)).or_default();
        *stayed += 1;
        if *stayed > PATIENCE {
            *stayed = 0;
        }
        *stayed == 0
    }

    /// The side that a condition over former values takes, and whether it can take no other.
    fn side_before(&mut self, before: u64, pc: u32) -> (bool, bool) {
        if !is_unknown(before) {
            return (before != 0, true);
        }
        let (name, negated) = self.witness.strip(before);
        match self.witness.standing(name) {
            _ if self.witness.is_in_object(name) => (!negated, true),
            ConditionStatus::Decided(truth) | ConditionStatus::Overdue(truth) => (truth != negated, true),
            ConditionStatus::Open => {
                let wanted = self.wanted_side(pc);
                let side = self.witness.assume(name, wanted != negated) != negated;
                (side, side != wanted)
            }
        }
    }

    /// From now on, the unknowns in a condition have nothing to do with their former values,
    /// whoever finds them. What the thread did until now comes before that: it may have gone by the
    /// former values.
    fn settle_change(&mut self, ti: usize, condition: u64) {
        for root in self.witness.roots(condition) {
            let Some(met) = self.former_values.of.get_mut(&root) else { continue };
            met.former = None;
            let mask = mask_of(met.at, met.ty);
            let granule = met.at / 8;
            if let Some(former) = self.former_values.granules.get_mut(&granule) {
                former.bytes &= !mask;
            }
            let clock = self.threads[ti].clock.clone();
            let older = self.former_values.changes.get(&granule).map_or(0, |c| c.bytes);
            let change = Change { bytes: older | mask, thread: ti, clock };
            self.former_values.changes.insert(granule, change);
        }
        self.threads[ti].clock.tick(ti);
    }

    /// A thread that finds a change comes after what led to it.
    fn learn_change(&mut self, ti: usize, at: usize, ty: Scalar) {
        if let Some(change) = self.former_values.changes.get(&(at / 8))
            && change.thread != ti
            && change.bytes & mask_of(at, ty) != 0
        {
            self.threads[ti].clock.join(&change.clock);
        }
    }

    /// The value that decides a switch: the former one, unless this run assumes that it changed.
    pub(super) fn switched_as_before(&mut self, ti: usize, table: &SwitchTable, v: u64) -> u64 {
        let Some(before) = self.without_changes(v) else { return v };
        let changes =
            self.former_values.may_assume_change && self.rng.below(table.cases.len() as u64 + 1) == 0;
        if changes {
            self.former_values.assumes_change = true;
            self.settle_change(ti, v);
            return v;
        }
        let is_same = self.bin(Bin::Eq, Scalar::I64, v, before);
        self.assume_if_possible(is_same);
        before
    }

    /// The truth value with which a branch leaves the loop that it is in.
    fn leaving_side(&mut self, pc: u32) -> Option<bool> {
        if let Some(known) = self.former_values.leaves.get(&pc) {
            return *known;
        }
        let side = self.find_leaving_side(pc);
        self.former_values.leaves.insert(pc, side);
        side
    }

    fn find_leaving_side(&self, pc: u32) -> Option<bool> {
        let (to, when) = super::decide::jump_of(self.program, pc)?;
        match (self.comes_back(to, pc), self.comes_back(pc + 1, pc)) {
            (true, false) => Some(!when),
            (false, true) => Some(when),
            _ => None,
        }
    }

    /// Whether a function that goes on at `from` may come to `to` again.
    fn comes_back(&self, from: u32, to: u32) -> bool {
        let code = &self.program.code;
        let (mut seen, mut todo) = (rustc_hash::FxHashSet::default(), vec![from]);
        while let Some(pc) = todo.pop() {
            if pc == to {
                return true;
            }
            if seen.insert(pc) {
                todo.extend(successors(code, &self.program.switches, pc));
            }
        }
        false
    }
}
