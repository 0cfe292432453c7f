//! `static-random` (3.3): call sites sampled uniformly, however hot, as DataCollider (OSDI 2010)
//! samples instructions.
//!
//! Some sites are *armed*. The next thread to come to an armed site is delayed there, and another
//! site, drawn uniformly from those that this run has reached so far, is armed instead when the
//! delay ends. So a site in a hot loop is delayed as often as one that is reached now and then.
//!
//! DataCollider draws from all instructions of a program. This sampler leaves out sites that
//! were never reached: most belong to libraries that the test does not use. A site that is drawn
//! and not reached again within [`PATIENCE`] points is replaced by another.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use crate::params::ONE;
use crate::sites::{MAX_SITES, Sites};
use raddle_base::rng::Rng;

/// After this many points, one more site is armed. Small tests have a few hundred points in all,
/// and reach many of their sites once. With 1000, armed sites stayed armed to the end.
const PATIENCE: u32 = 50;

#[repr(C)]
pub(crate) struct Sampler {
    reached: AtomicU32,
    armed: AtomicU32,
    idle: AtomicU32,
    /// `site + 1`, in the order in which they were first reached; zero while one is being written.
    sites: [AtomicU32; MAX_SITES as usize],
}

impl Sampler {
    /// Records a site that was reached for the first time: there are more to sample from, and
    /// perhaps one more to arm.
    pub(crate) fn reached(&self, sites: &Sites, site: u32, chance: u32, rng: &mut Rng) {
        let index = self.reached.fetch_add(1, Relaxed);
        if let Some(slot) = self.sites.get(index as usize) {
            slot.store(site + 1, Relaxed);
        }
        self.top_up(sites, chance, rng);
    }

    /// Whether to delay at this site because it is armed. Disarms it.
    #[inline]
    pub(crate) fn sample(&self, sites: &Sites, site: u32, chance: u32, rng: &mut Rng) -> bool {
        let record = sites.get(site);
        if record.armed.load(Relaxed) == 0 {
            let idle = self.idle.load(Relaxed);
            self.idle.store(idle.wrapping_add(1), Relaxed);
            if idle >= PATIENCE {
                self.idle.store(0, Relaxed);
                self.armed.store(0, Relaxed);
                self.top_up(sites, chance, rng);
            }
            return false;
        }
        record.armed.swap(0, Relaxed) != 0
    }

    /// Arms another site after a delay has ended.
    pub(crate) fn next(&self, sites: &Sites, chance: u32, rng: &mut Rng) {
        _ = self.armed.fetch_update(Relaxed, Relaxed, |armed| armed.checked_sub(1));
        self.idle.store(0, Relaxed);
        self.top_up(sites, chance, rng);
    }

    fn top_up(&self, sites: &Sites, chance: u32, rng: &mut Rng) {
        let reached = self.reached.load(Relaxed).min(MAX_SITES);
        let wanted = (u64::from(reached) * u64::from(chance)).div_ceil(u64::from(ONE));
        if u64::from(self.armed.load(Relaxed)) >= wanted {
            return;
        }
        self.armed.fetch_add(1, Relaxed);
        let drawn = self.sites[rng.below(reached) as usize].load(Relaxed);
        if let Some(site) = drawn.checked_sub(1) {
            sites.get(site).armed.store(1, Relaxed);
        }
    }
}
