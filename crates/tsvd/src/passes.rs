//! The fast path of a point. A loop over a container comes to the same few points millions of times
//! a second, and all visits after the first few teach nothing. So a visit that taught nothing
//! leaves a *pass*: the next visits by the same thread, from the same site, on the same object,
//! continue after a handful of loads ([`Tsvd::passes`](crate::Tsvd::passes)).
//!
//! A visit teaches nothing if it has no dangerous pair: no conflicting access of another thread is
//! near, or what is near was settled before. A pass becomes void as soon as the next visit could
//! teach something:
//! - A trap is set. This begins an epoch, and there is no new pass for its object while it is set.
//! - Another thread, or another site of another thread, comes to the object. This changes `version`
//!   of its way, and the holders of passes see that access in the object's history at their next
//!   visit.
//! - The object's history was given to another object.
//! - Its *epoch* is over. A new epoch begins when time advances by [`TICK`], when a site becomes
//!   dangerous, when a delay begins or ends (so that a thread that continues meanwhile is
//!   distinguished from one that waits, see `inference`), and when a thread is created. What the
//!   creator did before the creation happens before what the new thread does, and what it does
//!   afterwards does not, so the time of its next access counts.
//! - It was used as often as the object is visited in [`SPAN`], at the rate last seen. So the time
//!   of the last access in the history is at most that far behind while the loop runs. Rare visits
//!   get no pass; they cost almost nothing anyway.
//!
//! What may be lost: suppose the loop of a thread pauses, its process meanwhile comes to no point
//! without a pass, and the thread makes one more visit with an old pass. Then the history has an
//! old time for it. A conflicting access soon afterwards is still a near miss if the thread comes
//! back within the window; if it never does, this run does not see that near miss.
//!
//! The only thread of a process needs no pass ([`Lane::points`] still counts its visits): whatever
//! it does happens before everything done by the threads that it creates (deviation 8 of the
//! crate).
//!
//! Each thread reads and writes its own passes; only the way is shared. A runtime may make the same
//! loads in assembly, with the offsets in [`layout`].

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use crate::ApiPoint;

/// The number of passes that a thread can hold, one for each site and object that do not collide.
pub(crate) const PASSES: usize = 128;
/// Objects are usually at multiples of this.
pub(crate) const OBJECT_SHIFT: u32 = 4;

/// The duration of an epoch, as a shift: 8 ms. It is well below any window, and long enough that
/// the one visit it costs each site does not matter.
pub(crate) const TICK: u32 = 23;
/// The maximum time that the visits of one pass may take, at the rate last seen.
const SPAN: u64 = 1_000_000;
/// The maximum number of visits of one pass. A visit without one costs some thirty times as much.
const MOST: u16 = 1024;
/// The maximum number of visits of a pass that is given because delays are currently not allowed.
const MOST_REFUSED: u16 = 64;

/// What is remembered about the thread's last visit to an object from a site.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Pass {
    site: AtomicU32,
    /// The number of the object's way in the table of objects.
    way: AtomicU16,
    /// How often the object was visited in a [`SPAN`], up to a limit.
    rate: AtomicU16,
    version: AtomicU32,
    epoch: AtomicU32,
    /// The number of visits that may still pass.
    left: AtomicU32,
    granted: AtomicU32,
    /// The time of the last visit that was examined.
    time: AtomicU64,
}

/// A thread's own part of the fast path.
#[repr(C, align(64))]
pub(crate) struct Lane {
    /// `thread + 1`; zero: no thread's.
    pub owner: AtomicU32,
    /// The number of visits that passed, of all threads that have had the lane.
    pub points: AtomicU64,
    passes: [Pass; PASSES],
}

impl Lane {
    #[inline]
    pub(crate) fn pass(&self, point: &ApiPoint) -> &Pass {
        let object = (point.object >> OBJECT_SHIFT) as usize;
        &self.passes[object.wrapping_add(point.site as usize) % PASSES]
    }

    #[inline]
    pub(crate) fn count(&self) {
        // Not a read-modify-write: nobody else writes.
        self.points.store(self.points.load(Relaxed) + 1, Relaxed);
    }
}

/// The position of an object's history, and the version that passes for it must have.
#[derive(Clone, Copy)]
pub(crate) struct VisitedObject {
    pub way: u16,
    pub version: u32,
    pub epoch: u32,
}

impl Pass {
    #[inline]
    pub(crate) fn way(&self) -> usize {
        usize::from(self.way.load(Relaxed))
    }

    /// Whether the next visit may pass, as far as the pass itself says. The caller compares the
    /// object.
    #[inline]
    pub(crate) fn admits(&self, site: u32, version: u32, epoch: u32) -> bool {
        let left = self.left.load(Relaxed);
        let valid = self.site.load(Relaxed) == site
            && self.version.load(Relaxed) == version
            && self.epoch.load(Relaxed) == epoch
            && left != 0;
        if valid {
            self.left.store(left - 1, Relaxed);
        }
        valid
    }

    /// The number of visits that passed since the last examined one, if that was of this site. They
    /// are counted once.
    #[inline]
    pub(crate) fn take_used(&self, site: u32) -> u32 {
        let (granted, left) = (self.granted.load(Relaxed), self.left.load(Relaxed));
        if self.site.load(Relaxed) != site { 0 } else { granted.saturating_sub(left) }
    }

    /// Whether the thread has already visited the object from this site in this epoch.
    #[inline]
    pub(crate) fn is_of(&self, site: u32, way: u16, epoch: u32) -> bool {
        self.site.load(Relaxed) == site && self.way.load(Relaxed) == way && self.epoch.load(Relaxed) == epoch
    }

    /// Renews the pass after an examined visit. `grants`: it taught nothing. Returns whether later
    /// visits may pass.
    #[inline]
    pub(crate) fn renew(&self, now: u64, site: u32, visited: &VisitedObject, grants: bool) -> bool {
        let again = self.site.load(Relaxed) == site && self.way.load(Relaxed) == visited.way;
        let visits = u64::from(self.take_used(site)) + 1;
        let rate = if again { visits_in_span(now, self.time.load(Relaxed), visits) } else { 0 };
        self.site.store(site, Relaxed);
        self.way.store(visited.way, Relaxed);
        self.version.store(visited.version, Relaxed);
        self.epoch.store(visited.epoch, Relaxed);
        self.rate.store(rate, Relaxed);
        self.time.store(now, Relaxed);
        self.grant(if grants { rate } else { 0 })
    }

    /// Grants passes after an examined visit that asked for a delay that is not allowed. The next
    /// visits would ask the same.
    pub(crate) fn grant_refused(&self) -> bool {
        self.grant(self.rate.load(Relaxed).min(MOST_REFUSED))
    }

    #[inline]
    fn grant(&self, visits: u16) -> bool {
        self.left.store(u32::from(visits), Relaxed);
        self.granted.store(u32::from(visits), Relaxed);
        visits != 0
    }
}

/// The number of visits in a [`SPAN`], if there were `visits` since `last`.
#[inline]
fn visits_in_span(now: u64, last: u64, visits: u64) -> u16 {
    // The most common case, which saves the division.
    let took = now.saturating_sub(last).max(1);
    if took <= SPAN / u64::from(MOST) * visits {
        return MOST;
    }
    u16::try_from(SPAN * visits / took).unwrap_or(MOST).min(MOST)
}

/// The memory that [`Tsvd::passes`](crate::Tsvd::passes) reads, for a caller that does it in
/// assembly: the offsets, in bytes, of words in a state, in a lane, in a pass and in a way.
pub mod layout {
    use core::mem::{offset_of, size_of};

    use super::{Lane, Pass};
    use crate::objects::{Objects, Way};
    use crate::sites::{HIT, SiteState, Sites};
    use crate::threads::Threads;
    use crate::tsvd::Tsvd;

    /// u32: not zero if the caller wants to see every point.
    pub const ALL_WANTED: usize = offset_of!(Tsvd, all_wanted);
    /// u32: `thread + 1` of the only thread there is.
    pub const ALONE: usize = offset_of!(Tsvd, threads) + offset_of!(Threads, alone);
    /// u32.
    pub const EPOCH: usize = offset_of!(Tsvd, sites) + offset_of!(Sites, epoch);
    /// The first site's coverage, a u32 in which [`SITE_HIT`] is set once it was hit; [`SITE_SIZE`]
    /// bytes per site.
    pub const SITES: usize =
        offset_of!(Tsvd, sites) + offset_of!(Sites, table) + offset_of!(SiteState, coverage);
    /// From one site to the next, in bytes.
    pub const SITE_SIZE: usize = size_of::<SiteState>();
    /// The bit in a site's coverage that says that it was hit.
    pub const SITE_HIT: u32 = HIT;
    /// The first way; [`WAY_SIZE`] bytes each.
    pub const WAYS: usize = offset_of!(Tsvd, objects) + offset_of!(Objects, ways);
    /// From one way to the next, in bytes.
    pub const WAY_SIZE: usize = size_of::<Way>();
    /// In a way, u64: its object, as in [`crate::ApiPoint`].
    pub const WAY_OBJECT: usize = offset_of!(Way, object);
    /// In a way, u32.
    pub const WAY_VERSION: usize = offset_of!(Way, version);
    /// In a way, u32: a visit that passes stores whether the object ends with the call.
    pub const WAY_ENDED: usize = offset_of!(Way, ended);
    /// In a lane, u32: `thread + 1`.
    pub const LANE_OWNER: usize = offset_of!(Lane, owner);
    /// In a lane, u64: incremented for each visit that passes.
    pub const LANE_POINTS: usize = offset_of!(Lane, points);
    /// In a lane: its passes. The pass of a point has the number `(object >> OBJECT_SHIFT) + site`,
    /// modulo [`PASSES`].
    pub const LANE_PASSES: usize = offset_of!(Lane, passes);
    /// The number of passes of a lane. A power of two.
    pub const PASSES: usize = super::PASSES;
    /// How far an object is shifted to the right to find its pass.
    pub const OBJECT_SHIFT: u32 = super::OBJECT_SHIFT;
    /// From one pass to the next, in bytes.
    pub const PASS_SIZE: usize = size_of::<Pass>();
    /// In a pass, a u16.
    pub const PASS_WAY: usize = offset_of!(Pass, way);
    /// In a pass, u32: the site it is for.
    pub const PASS_SITE: usize = offset_of!(Pass, site);
    /// In a pass, u32: void if the way's version is another.
    pub const PASS_VERSION: usize = offset_of!(Pass, version);
    /// In a pass, u32: void if the current epoch is another.
    pub const PASS_EPOCH: usize = offset_of!(Pass, epoch);
    /// In a pass, u32: the number of visits that may still pass. Each takes one away.
    pub const PASS_LEFT: usize = offset_of!(Pass, left);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_for_what_is_visited_often() {
        assert_eq!(visits_in_span(1_000, 900, 1), MOST, "100 ns apart");
        assert_eq!(visits_in_span(10_000, 0, 1), 100, "10 µs apart");
        assert_eq!(visits_in_span(10_000_000, 0, 1000), 100);
        assert_eq!(visits_in_span(900_000, 0, 1), 1);
        assert_eq!(visits_in_span(1_100_000, 0, 1), 0, "further apart than a pass lasts");
        assert_eq!(visits_in_span(5, 5, 1), MOST);
        assert_eq!(visits_in_span(5, 9, 1), MOST, "another thread's clock may be ahead");
    }

    #[test]
    fn a_pass_is_for_one_site_one_version_and_one_epoch() {
        let pass = Pass::default();
        let visited = VisitedObject { way: 3, version: 1, epoch: 1 };
        assert!(!pass.renew(100, 7, &visited, true), "nothing is known of its rate");
        assert!(!pass.admits(7, 1, 1));
        assert!(pass.renew(200, 7, &visited, true));
        assert!(!pass.admits(8, 1, 1) && !pass.admits(7, 2, 1) && !pass.admits(7, 1, 2));
        assert_eq!((0..2000).filter(|_| pass.admits(7, 1, 1)).count(), MOST as usize);
        assert_eq!((pass.take_used(7), pass.take_used(8)), (u32::from(MOST), 0));
        assert!(!pass.renew(300, 7, &visited, false), "it taught something");
    }
}
