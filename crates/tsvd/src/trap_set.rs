//! The trap set (3.4.1): pairs of call sites that may well be called at once, with the probability of a delay.
//!
//! A pair enters by a near miss with probability one. It leaves when the two were seen to be ordered (3.4.4), when its
//! probability has decayed to nothing (3.4.5), or when it was caught. It is never forgotten: a pair that left does not
//! come back in the same run, or a lock-protected pair, which has near misses all the time, would be delayed for ever.
//!
//! Look-ups are atomic loads; changes, which are few, are made one at a time. Each site has a list of its pairs, and
//! keeps the greatest probability among them where the hot path reads it.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::Host;
use crate::params::ONE;
use crate::sites::Sites;
use crate::spin::Spin;

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
    pub site_b: u32,
    /// Parts of [`ONE`]; of no meaning unless the pair is dangerous.
    pub probability: u32,
    pub state: PairState,
}

#[derive(Default)]
#[repr(C)]
struct Slot {
    /// `(site_a + 1) << 32 | (site_b + 1)`; zero: free.
    key: AtomicU64,
    /// `state << 24 | probability`.
    status: AtomicU32,
    /// The next pairs of `site_a` and of `site_b`, numbered from one.
    next: [AtomicU32; 2],
}

#[repr(C)]
pub(crate) struct TrapSet {
    lock: Spin,
    len: AtomicU32,
    slots: [Slot; CAPACITY],
}

impl TrapSet {
    /// Adds a pair that had a near miss. False: it was known already, or there is no room.
    pub(crate) fn add(&self, sites: &Sites, a: u32, b: u32, host: &mut impl Host) -> bool {
        if self.find(key(a, b)).is_some() {
            return false;
        }
        let _held = self.lock.hold(host);
        self.enter(sites, a, b, PairState::Dangerous, ONE)
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
            None => _ = self.enter(sites, a, b, state, 0),
            Some(slot) => {
                slot.set(state, 0);
                self.refresh(sites, a);
                self.refresh(sites, b);
            }
        }
        known
    }

    /// A delay at `site` has ended. Every pair of it that is still dangerous was not caught by it, and decays (3.4.5).
    pub(crate) fn decay(&self, sites: &Sites, site: u32, step: u32, host: &mut impl Host) {
        let _held = self.lock.hold(host);
        for slot in self.pairs_of(sites, site) {
            let Some(pair) = slot.pair().filter(|pair| pair.state == PairState::Dangerous) else { continue };
            match pair.probability.saturating_sub(step) {
                0 => slot.set(PairState::Decayed, 0),
                rest => slot.set(PairState::Dangerous, rest),
            }
            self.refresh(sites, pair.site_a);
            self.refresh(sites, pair.site_b);
        }
    }

    /// What an earlier run left.
    pub(crate) fn seed(&self, sites: &Sites, pair: &TrapPair, host: &mut impl Host) -> bool {
        let _held = self.lock.hold(host);
        self.enter(sites, pair.site_a, pair.site_b, pair.state, pair.probability.min(ONE))
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = TrapPair> {
        self.slots.iter().filter_map(Slot::pair)
    }

    /// For the child of a fork.
    pub(crate) fn break_open(&self) {
        self.lock.break_open();
    }

    /// With the lock held.
    fn enter(&self, sites: &Sites, a: u32, b: u32, state: PairState, probability: u32) -> bool {
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
        slot.set(state, probability);
        let (a, b) = (a.min(b), a.max(b));
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
        let dangerous = self.pairs_of(sites, site).filter(|slot| slot.state() == PairState::Dangerous);
        let greatest = dangerous.map(|slot| slot.probability()).max().unwrap_or(0);
        sites.get(site).probability.store(greatest, Relaxed);
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
        PairState::from_number(self.status.load(Relaxed) >> 24).unwrap_or(PairState::Ordered)
    }

    fn probability(&self) -> u32 {
        self.status.load(Relaxed) & 0xff_ffff
    }

    fn set(&self, state: PairState, probability: u32) {
        self.status.store((state as u32) << 24 | probability, Relaxed);
    }

    fn pair(&self) -> Option<TrapPair> {
        let key = self.key.load(Acquire);
        (key != 0).then(|| TrapPair {
            site_a: (key >> 32) as u32 - 1,
            site_b: key as u32 - 1,
            probability: self.probability(),
            state: self.state(),
        })
    }
}
