//! The trap set (3.4.1): pairs of call sites that may well be called at once, with the probability
//! of a delay.
//!
//! A near miss adds a pair with probability one. The pair leaves when its sites turn out to be
//! ordered (3.4.4), when its probability has decayed to zero (3.4.5), or when it is caught. It is
//! never forgotten: a pair that left does not come back in the same run. Otherwise a lock-protected
//! pair, which has near misses all the time, would be delayed for ever.
//!
//! With extension 2, an end of a pair is delayed only while that end is *fresh*. A near miss makes
//! both ends fresh, and a delay uses up its own; a site that conflicts with itself has two. If the
//! other site of a pair from an earlier run has not been reached in this run, it may still come:
//! the end stays fresh, and is tried again when the run has lasted twice as long. While one end of
//! a pair is held, the other is not: a held thread can neither come nor be seen to wait.
//!
//! Look-ups are atomic loads; changes, which are few, are made one at a time. Each site has a list
//! of its pairs, and keeps the greatest probability among them where the hot path reads it.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::params::ONE;
use crate::sites::Sites;
use crate::spin::Spin;
use crate::{Host, Params};

const CAPACITY: usize = 1 << 14;
/// A full neighbourhood counts as a full table, so that a look-up is never long.
const PROBES: usize = 64;

/// Where a pair stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PairState {
    /// In the trap set.
    Dangerous = 1,
    /// Left it: the sites were seen to be ordered.
    Ordered = 2,
    /// Left it: delays have failed too often.
    Decayed = 3,
    /// Left it: caught, now or in an earlier run.
    Found = 4,
}

impl PairState {
    /// For a state that crosses a process boundary as a number. None: no state has this number.
    pub fn from_number(number: u32) -> Option<PairState> {
        use PairState::*;
        [Dangerous, Ordered, Decayed, Found].into_iter().find(|state| *state as u32 == number)
    }
}

/// A pair of sites as it is kept between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TrapPair {
    /// Not greater than `site_b`.
    pub site_a: u32,
    /// The same site as `site_a` if two threads conflict at one call.
    pub site_b: u32,
    /// Parts of [`ONE`]; of no meaning unless the pair is dangerous.
    pub probability: u32,
    /// Where the pair stood at the end of its run.
    pub state: PairState,
    /// The nearest that the two came, in microseconds; zero: not known.
    pub gap: u32,
}

#[derive(Default)]
#[repr(C)]
struct Slot {
    /// `(site_a + 1) << 32 | (site_b + 1)`; zero: free.
    key: AtomicU64,
    /// `flags | state << 24 | flags | probability`.
    status: AtomicU32,
    /// As in [`TrapPair`].
    gap: AtomicU32,
    /// At which end not before the run has lasted so many milliseconds.
    not_before: [AtomicU32; 2],
    /// The next pairs of `site_a` and of `site_b`, numbered from one.
    next: [AtomicU32; 2],
}

/// As many failed delays does a wait count for that another run may have otherwise (see
/// `inference`). Two such waits, with the delays at both ends, take a pair out of the set.
pub(crate) const DOUBT: u32 = 4;

/// Flags of a status: the ends of a pair that are fresh, whether a delay has failed, whether one is
/// being made, whether the pair was doubted because of the last one, and whether it had a near miss
/// that no wait explains, after which it is not doubted.
const FRESH: [u32; 2] = [1 << 20, 1 << 21];
const TRIED: u32 = 1 << 22;
const HELD: u32 = 1 << 23;
const DOUBTED: u32 = 1 << 27;
const UNEXPLAINED: u32 = 1 << 28;
const STATE: u32 = 7;
const PROBABILITY: u32 = (1 << 20) - 1;
const _: () = assert!(ONE <= PROBABILITY);

#[repr(C)]
pub(crate) struct TrapSet {
    lock: Spin,
    len: AtomicU32,
    slots: [Slot; CAPACITY],
}

impl TrapSet {
    /// A pair had a near miss, so many microseconds apart (zero: not known), with what a thread did
    /// at a time. Whether the pair is dangerous: it is new, or it is not settled yet.
    #[inline]
    pub(crate) fn add(
        &self,
        sites: &Sites,
        (a, b): (u32, u32),
        (gap, (thread, time)): (u32, (u32, u64)),
        host: &mut impl Host,
    ) -> bool {
        match self.find(key(a, b)) {
            Some(slot) => {
                let is_dangerous = slot.state() == PairState::Dangerous;
                if slot.learns_from(gap) {
                    self.renew(sites, slot, gap, host);
                }
                if is_dangerous && !slot.has(UNEXPLAINED) && !host.has_waited_by_chance(thread, time) {
                    slot.status.fetch_or(UNEXPLAINED, Relaxed);
                }
                is_dangerous
            }
            None => {
                let explained = host.has_waited_by_chance(thread, time);
                let _held = self.lock.hold(host);
                self.enter(sites, &new_pair(a, b, PairState::Dangerous, gap), explained)
            }
        }
    }

    #[cold]
    fn renew(&self, sites: &Sites, slot: &Slot, gap: u32, host: &mut impl Host) {
        let _held = self.lock.hold(host);
        let Some(pair) = slot.pair().filter(|pair| pair.state == PairState::Dangerous) else { return };
        slot.status.fetch_or(FRESH[0] | FRESH[1], Relaxed);
        slot.not_before.iter().for_each(|at| at.store(0, Relaxed));
        let nearest = [pair.gap, gap].into_iter().filter(|gap| *gap != 0).min();
        slot.gap.store(nearest.unwrap_or(0), Relaxed);
        self.refresh(sites, pair.site_a);
        self.refresh(sites, pair.site_b);
    }

    /// Takes a pair away for good, whether it was in the set or not, and says where it stood.
    pub(crate) fn settle(
        &self,
        sites: &Sites,
        (a, b): (u32, u32),
        state: PairState,
        host: &mut impl Host,
    ) -> Option<PairState> {
        let known = self.find(key(a, b)).map(|slot| slot.state());
        if known == Some(state) || known == Some(PairState::Found) {
            return known;
        }
        let _held = self.lock.hold(host);
        match self.find(key(a, b)) {
            None => _ = self.enter(sites, &TrapPair { probability: 0, ..new_pair(a, b, state, 0) }, false),
            Some(slot) => {
                slot.set(state, 0, 0);
                self.refresh(sites, a);
                self.refresh(sites, b);
            }
        }
        known
    }

    /// How long a delay at `site` is to be: as its near pairs want it, or the nearest of the others
    /// if there are none. The run has lasted `elapsed` milliseconds. None: all are to wait.
    #[cold]
    pub(crate) fn length(&self, sites: &Sites, params: &Params, (site, elapsed): (u32, u32)) -> Option<u64> {
        let wanted = |slot: &Slot| slot.length(params);
        let may = |slot: &&Slot| slot.is_usable(site) && slot.not_before(site).load(Relaxed) <= elapsed;
        let usable = || self.pairs_of(sites, site).filter(may).map(wanted);
        let near = usable().filter(|length| *length <= params.delay).max();
        near.or(usable().min())
    }

    /// A delay at `site` begins, which will end when the run has lasted `elapsed` milliseconds. It
    /// uses up what made its pairs fresh there (extension 2).
    pub(crate) fn spend(&self, sites: &Sites, (site, elapsed): (u32, u32), host: &mut impl Host) {
        let _held = self.lock.hold(host);
        for slot in self.pairs_of(sites, site) {
            let Some(pair) = slot.pair().filter(|_| slot.is_usable(site)) else { continue };
            let other = if pair.site_a == site { pair.site_b } else { pair.site_a };
            if sites.coverage(other).hit {
                let fresh = slot.status.load(Relaxed) & ends(&pair, site);
                // A pair of one site with itself has two ends there, and a delay is at one of them.
                let spent = if fresh == FRESH[0] | FRESH[1] { FRESH[1] } else { fresh };
                slot.status.fetch_and(!spent, Relaxed);
            } else {
                slot.not_before(site).store(elapsed.saturating_mul(2), Relaxed);
            }
            slot.status.fetch_or(HELD, Relaxed);
            self.refresh(sites, pair.site_a);
            self.refresh(sites, pair.site_b);
        }
    }

    /// A delay at `site` has ended. Every pair of it that is still dangerous was not caught by it,
    /// and decays (3.4.5): once for each time of a usual delay. One that wants a longer delay than
    /// this has learned nothing.
    pub(crate) fn decay(
        &self,
        sites: &Sites,
        params: &Params,
        (site, nanos): (u32, u64),
        host: &mut impl Host,
    ) {
        let times = nanos.div_ceil(params.delay.max(1)).max(1);
        let step = u32::try_from(u64::from(params.decay) * times).unwrap_or(ONE);
        let _held = self.lock.hold(host);
        for slot in self.pairs_of(sites, site) {
            let Some(pair) = slot.pair().filter(|pair| pair.state == PairState::Dangerous) else { continue };
            let kept = FRESH[0] | FRESH[1] | UNEXPLAINED;
            let flags = slot.status.fetch_and(!(HELD | DOUBTED), Relaxed) & kept;
            match pair.probability.saturating_sub(step) {
                _ if slot.length(params) > nanos => {}
                0 => slot.set(PairState::Decayed, 0, 0),
                rest => slot.set(PairState::Dangerous, flags | TRIED, rest),
            }
            self.refresh(sites, pair.site_a);
            self.refresh(sites, pair.site_b);
        }
    }

    /// A thread came to one site of a pair after it had waited for a delay at the other, for a
    /// reason that need not be there the next time.
    pub(crate) fn doubt(&self, sites: &Sites, params: &Params, (a, b): (u32, u32), host: &mut impl Host) {
        let _held = self.lock.hold(host);
        let Some(slot) = self.find(key(a, b)) else { return };
        if slot.state() != PairState::Dangerous || slot.has(DOUBTED) || slot.has(UNEXPLAINED) {
            return;
        }
        let status = slot.status.load(Relaxed);
        match slot.probability().saturating_sub(params.decay.saturating_mul(DOUBT)) {
            0 => slot.set(PairState::Decayed, 0, 0),
            rest => slot.status.store(status & !PROBABILITY | DOUBTED | rest, Relaxed),
        }
        self.refresh(sites, a);
        self.refresh(sites, b);
    }

    /// What an earlier run left.
    pub(crate) fn seed(&self, sites: &Sites, pair: &TrapPair, host: &mut impl Host) -> bool {
        let _held = self.lock.hold(host);
        self.enter(sites, pair, false)
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = TrapPair> {
        self.slots.iter().filter_map(Slot::pair)
    }

    /// For the child of a fork.
    pub(crate) fn break_open(&self) {
        self.lock.break_open();
    }

    /// With the lock held. `explained`: a wait explains the near miss that it comes from.
    fn enter(&self, sites: &Sites, pair: &TrapPair, explained: bool) -> bool {
        let (a, b) = (pair.site_a.min(pair.site_b), pair.site_a.max(pair.site_b));
        let key = key(a, b);
        let slots = probe(key);
        let Some(index) =
            slots.into_iter().find(|i| matches!(self.slots[*i].key.load(Relaxed), k if k == 0 || k == key))
        else {
            return false;
        };
        let slot = &self.slots[index];
        if slot.key.load(Relaxed) == key {
            return false;
        }
        let near_miss = if explained { 0 } else { UNEXPLAINED };
        slot.set(pair.state, FRESH[0] | FRESH[1] | near_miss, pair.probability.min(ONE));
        slot.gap.store(pair.gap, Relaxed);
        for (site, next) in [a, b].into_iter().zip(&slot.next).take(if a == b { 1 } else { 2 }) {
            next.store(sites.get(site).pairs.swap(index as u32 + 1, Relaxed), Relaxed);
        }
        slot.key.store(key, Release);
        self.len.fetch_add(1, Relaxed);
        self.refresh(sites, a);
        self.refresh(sites, b);
        true
    }

    fn refresh(&self, sites: &Sites, site: u32) {
        let usable = self.pairs_of(sites, site).filter(|slot| slot.is_usable(site));
        let greatest = usable.map(|slot| slot.probability()).max().unwrap_or(0);
        sites.set_probability(site, greatest);
    }

    fn pairs_of<'a>(&'a self, sites: &Sites, site: u32) -> impl Iterator<Item = &'a Slot> {
        let mut next = sites.get(site).pairs.load(Relaxed);
        core::iter::from_fn(move || {
            let slot = self.slots.get(next.checked_sub(1)? as usize)?;
            let first = slot.key.load(Relaxed) >> 32 == u64::from(site) + 1;
            next = slot.next[usize::from(!first)].load(Relaxed);
            Some(slot)
        })
    }

    #[inline]
    fn find(&self, key: u64) -> Option<&Slot> {
        for index in probe(key) {
            let slot = &self.slots[index];
            match slot.key.load(Acquire) {
                0 => return None,
                found if found == key => return Some(slot),
                _ => {}
            }
        }
        None
    }
}

fn new_pair(site_a: u32, site_b: u32, state: PairState, gap: u32) -> TrapPair {
    TrapPair { site_a, site_b, probability: ONE, state, gap }
}

/// The flags of a pair's end, or ends, at a site.
fn ends(pair: &TrapPair, site: u32) -> u32 {
    let at = |end: u32, flag: u32| if end == site { flag } else { 0 };
    at(pair.site_a, FRESH[0]) | at(pair.site_b, FRESH[1])
}

#[inline]
fn key(a: u32, b: u32) -> u64 {
    (u64::from(a.min(b)) + 1) << 32 | (u64::from(a.max(b)) + 1)
}

#[inline]
fn probe(key: u64) -> impl Iterator<Item = usize> {
    let first = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    (first..first + PROBES).map(|i| i % CAPACITY)
}

impl Slot {
    #[inline]
    fn state(&self) -> PairState {
        PairState::from_number(self.status.load(Relaxed) >> 24 & STATE).unwrap_or(PairState::Ordered)
    }

    #[inline]
    fn has(&self, flag: u32) -> bool {
        self.status.load(Relaxed) & flag != 0
    }

    fn probability(&self) -> u32 {
        self.status.load(Relaxed) & PROBABILITY
    }

    fn set(&self, state: PairState, flags: u32, probability: u32) {
        self.status.store((state as u32) << 24 | flags | probability, Relaxed);
    }

    /// Whether a near miss of the pair says anything new. Where all is known that is one look.
    #[inline]
    fn learns_from(&self, gap: u32) -> bool {
        if self.state() != PairState::Dangerous {
            return false;
        }
        let (status, nearest) = (self.status.load(Relaxed), self.gap.load(Relaxed));
        let waits = self.not_before.iter().any(|at| at.load(Relaxed) != 0);
        let fresh = status & FRESH[0] != 0 && status & FRESH[1] != 0 && !waits;
        !fresh || gap != 0 && (nearest == 0 || gap < nearest)
    }

    /// Whether a delay at the site is of use to the pair.
    fn is_usable(&self, site: u32) -> bool {
        let pair = self.pair().filter(|pair| pair.state == PairState::Dangerous);
        let status = self.status.load(Relaxed);
        pair.is_some_and(|pair| status & HELD == 0 && status & ends(&pair, site) != 0)
    }

    fn not_before(&self, site: u32) -> &AtomicU32 {
        let first = self.key.load(Relaxed) >> 32 == u64::from(site) + 1;
        &self.not_before[usize::from(!first)]
    }

    fn length(&self, params: &Params) -> u64 {
        let tried = self.status.load(Relaxed) & TRIED != 0;
        params.length(u64::from(self.gap.load(Relaxed)) * 1000, tried)
    }

    fn pair(&self) -> Option<TrapPair> {
        let key = self.key.load(Acquire);
        (key != 0).then(|| TrapPair {
            site_a: (key >> 32) as u32 - 1,
            site_b: key as u32 - 1,
            probability: self.probability(),
            state: self.state(),
            gap: self.gap.load(Relaxed),
        })
    }
}
