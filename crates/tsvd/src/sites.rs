//! What is known about each call site: coverage, its probability, and its pairs.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::passes::TICK;

/// The maximum number of distinct call sites. Points of others are not examined.
pub const MAX_SITES: u32 = 1 << 18;

/// How a site was reached: the coverage that the paper's users liked (5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteCoverage {
    /// Some thread came to the site.
    pub hit: bool,
    /// Hit at least once in a concurrent phase.
    pub concurrent: bool,
}

#[derive(Default)]
#[repr(C)]
pub(crate) struct SiteState {
    pub coverage: AtomicU32,
    /// P_loc: the greatest probability of those of its pairs for which a delay here is useful.
    probability: AtomicU32,
    /// The first of its pairs, as the trap set numbers them from one.
    pub pairs: AtomicU32,
    /// Sampled next by `static-random`.
    pub armed: AtomicU32,
}

pub(crate) const HIT: u32 = 1;
const CONCURRENT: u32 = 2;

#[repr(C, align(64))]
pub(crate) struct Sites {
    /// Passes of an earlier epoch are void (see `passes`). Never zero.
    pub epoch: AtomicU32,
    /// The time at which the epoch began, in ticks.
    tick: AtomicU32,
    /// When an epoch was last begun because passes for one object became void.
    nudged: AtomicU64,
    pub table: [SiteState; MAX_SITES as usize],
}

impl Sites {
    #[inline]
    pub(crate) fn get(&self, site: u32) -> &SiteState {
        &self.table[site as usize]
    }

    /// Makes all passes void.
    pub(crate) fn new_epoch(&self) {
        self.epoch.fetch_add(1, Relaxed);
    }

    /// Makes all passes void that are older than a tick.
    #[inline]
    pub(crate) fn time_goes_on(&self, now: u64) {
        let tick = (now >> TICK) as u32;
        if tick > self.tick.load(Relaxed) {
            self.tick.store(tick, Relaxed);
            self.new_epoch();
        }
    }

    /// Passes for one object are void. Code that checks only the epoch must notice it, but not too
    /// often: otherwise objects that threads pass to each other would leave no thread a pass.
    pub(crate) fn nudge(&self, now: u64) {
        const AT_MOST_EVERY: u64 = 100_000;
        if now.saturating_sub(self.nudged.load(Relaxed)) >= AT_MOST_EVERY {
            self.nudged.store(now, Relaxed);
            self.new_epoch();
        }
    }

    /// Sets a probability. When a site becomes dangerous, its next visit counts.
    pub(crate) fn set_probability(&self, site: u32, probability: u32) {
        let before = self.get(site).probability.swap(probability, Relaxed);
        if before == 0 && probability != 0 {
            self.new_epoch();
        }
    }

    pub(crate) fn coverage(&self, site: u32) -> SiteCoverage {
        let bits = self.table.get(site as usize).map_or(0, |site| site.coverage.load(Relaxed));
        SiteCoverage { hit: bits & HIT != 0, concurrent: bits & CONCURRENT != 0 }
    }
}

impl SiteState {
    #[inline]
    pub(crate) fn probability(&self) -> u32 {
        self.probability.load(Relaxed)
    }

    #[inline]
    pub(crate) fn is_hit(&self) -> bool {
        self.coverage.load(Relaxed) & HIT != 0
    }

    /// Records a hit. Returns whether it was the first.
    #[inline]
    pub(crate) fn hit(&self, concurrent: bool) -> bool {
        let (old, new) = (self.coverage.load(Relaxed), if concurrent { HIT | CONCURRENT } else { HIT });
        if old | new == old {
            return false;
        }
        self.coverage.fetch_or(new, Relaxed) & HIT == 0
    }
}
