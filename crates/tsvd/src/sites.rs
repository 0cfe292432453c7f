//! What is known of each call site: coverage, its probability, and the pairs it is in.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

/// Call sites that can be told apart. Points of others are not looked at.
pub const MAX_SITES: u32 = 1 << 18;

/// How a site was reached: the coverage that the paper's users liked (5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub hit: bool,
    /// Hit at least once in a concurrent phase.
    pub concurrent: bool,
}

#[derive(Default)]
#[repr(C)]
pub(crate) struct Site {
    coverage: AtomicU32,
    /// P_loc: the greatest probability of its pairs for which a delay here is of use.
    pub probability: AtomicU32,
    /// The first of its pairs, as the trap set numbers them from one.
    pub pairs: AtomicU32,
    /// Sampled next by `static-random`.
    pub armed: AtomicU32,
}

const HIT: u32 = 1;
const CONCURRENT: u32 = 2;

#[repr(C)]
pub(crate) struct Sites([Site; MAX_SITES as usize]);

impl Sites {
    #[inline]
    pub(crate) fn get(&self, site: u32) -> &Site {
        &self.0[site as usize]
    }

    pub(crate) fn coverage(&self, site: u32) -> Coverage {
        let bits = self.0.get(site as usize).map_or(0, |site| site.coverage.load(Relaxed));
        Coverage { hit: bits & HIT != 0, concurrent: bits & CONCURRENT != 0 }
    }
}

impl Site {
    /// Notes a hit; whether it was the first.
    #[inline]
    pub(crate) fn hit(&self, concurrent: bool) -> bool {
        let (old, new) = (self.coverage.load(Relaxed), if concurrent { HIT | CONCURRENT } else { HIT });
        if old | new == old {
            return false;
        }
        self.coverage.fetch_or(new, Relaxed) & HIT == 0
    }
}
