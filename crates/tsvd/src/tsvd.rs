//! `OnCall` (3.1, Figure 5), and what the policies make of it.

use core::sync::atomic::Ordering::{Acquire, Relaxed};
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::budget::DelayBudget;
use crate::inference::{self, Delays, Wait};
use crate::objects::{Objects, PastAccess};
use crate::order::SyncOrder;
use crate::params::{MAX_HISTORY, technique};
use crate::passes::VisitedObject;
use crate::phase::Phase;
use crate::sampler::Sampler;
use crate::sites::{MAX_SITES, SiteCoverage, Sites};
use crate::threads::{ThreadState, Threads};
use crate::trap::{Trap, Traps};
use crate::trap_set::{PairState, TrapPair, TrapSet};
use crate::{ApiPoint, Delay, Host, Params, Policy, Violation};

/// The whole state of one process. Several threads call it at once. See the crate for how it is
/// used, and [`Tsvd::place`] for where it lives.
#[repr(C)]
pub struct Tsvd {
    pub(crate) params: Params,
    phase: Phase,
    budget: DelayBudget,
    delays: Delays,
    made: AtomicU64,
    /// Since when there was no delay: its end, or the first point.
    quiet: AtomicU64,
    /// When the first point was.
    begin: AtomicU64,
    pub(crate) traps: Traps,
    pub(crate) threads: Threads,
    pub(crate) sites: Sites,
    pairs: TrapSet,
    pub(crate) objects: Objects,
    sampler: Sampler,
    order: SyncOrder,
    /// Not zero: no point goes by without being looked at.
    pub(crate) all_wanted: AtomicU32,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Points passed, with those that a pass let by.
    pub points: u64,
    /// Points in a concurrent phase.
    pub concurrent: u64,
    /// Delays that were made.
    pub delays: u64,
    /// Nanoseconds of delay.
    pub delayed: u64,
    /// Delays that the caps did not allow, of a thread at most one in the time of a delay.
    pub refused: u64,
    /// Edges of happens-before for which `tsvd-hb` had no room.
    pub edges_lost: u64,
}

impl Tsvd {
    /// What the state was made with.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// `OnCall`: a thread is about to make a call. If the answer is a delay, the caller sets the
    /// trap ([`Tsvd::trap_set`]), sleeps holding nothing, and comes back ([`Tsvd::delay_done`])
    /// before the call is made. Time must not be zero and should not run backwards.
    #[inline]
    pub fn on_call(&self, now: u64, point: &ApiPoint, host: &mut impl Host) -> Option<Delay> {
        if point.site >= MAX_SITES {
            return None;
        }
        let sprung = self.traps.any() && self.check_for_trap(point, host);
        let thread = self.thread(point.thread);
        let went_by = self.went_by(point);
        let concurrent = self.phase.enter(point.thread, self.params.buffer);
        thread.count(concurrent, went_by);
        let first = self.sites.get(point.site).hit(concurrent);
        match self.params.policy {
            Policy::Tsvd => {
                self.sites.time_goes_on(now);
                self.infer_order(now, point, thread, host);
                self.near_misses(now, point, (thread, concurrent), host);
            }
            Policy::TsvdHb => self.unordered(now, point, concurrent, host),
            Policy::DynamicRandom | Policy::StaticRandom => {}
        }
        // A thread that has just sprung a trap has shown what a delay would.
        if sprung {
            return None;
        }
        let nanos = match self.params.policy {
            Policy::Tsvd | Policy::TsvdHb => self.at_dangerous_site(now, point, thread),
            Policy::DynamicRandom => self.at_random(thread),
            Policy::StaticRandom => self.at_sample(point, thread, first),
        }?;
        self.delay(now, point, thread, nanos)
    }

    /// Whether the call can be made at once: nothing can come of looking at it (see `passes`). If
    /// so it counts as a point, and [`Tsvd::on_call`] is not called. `ends`: as if
    /// [`Tsvd::object_gone`] had been called afterwards.
    #[inline]
    pub fn passes(&self, point: &ApiPoint, ends: bool) -> bool {
        if point.site >= MAX_SITES || self.all_wanted.load(Relaxed) != 0 {
            return false;
        }
        let lane = self.threads.lane(point.thread);
        if lane.owner.load(Relaxed) != point.thread.wrapping_add(1) {
            return false;
        }
        if !self.threads.is_alone(point.thread) {
            let pass = lane.pass(point);
            let way = &self.objects.ways[pass.way()];
            let (version, epoch) = (way.version.load(Relaxed), self.sites.epoch.load(Relaxed));
            if way.object.load(Relaxed) != point.object || !pass.admits(point.site, version, epoch) {
                return false;
            }
            // Others may have passes for it too, and read it.
            if way.ended.load(Relaxed) != u32::from(ends) {
                way.ended.store(u32::from(ends), Relaxed);
            }
        } else if !self.sites.get(point.site).is_hit() {
            return false;
        }
        lane.count();
        true
    }

    /// Where the thread's passes are, for a caller that does in assembly what [`Tsvd::passes`]
    /// does. It is the thread's while [`layout::LANE_OWNER`](crate::layout::LANE_OWNER) says so.
    pub fn lane(&self, thread: u32) -> *const u8 {
        (&raw const *self.threads.lane(thread)).cast()
    }

    /// Whether every point is to be told, until this is called again: no call passes.
    pub fn want_all(&self, all: bool) {
        self.all_wanted.store(u32::from(all), Relaxed);
        self.sites.new_epoch();
    }

    /// For a caller that lets some calls by on its own, after one that [`Tsvd::passes`] or its like
    /// has let by: it may do so a few times, for the same thread, site and object, while this stays
    /// the same. `layout::EPOCH` is where it is.
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.sites.epoch.load(Relaxed)
    }

    /// So many calls that were counted as passed have not been made.
    pub fn take_back(&self, thread: u32, calls: u64) {
        let points = &self.threads.lane(thread).points;
        points.store(points.load(Relaxed).saturating_sub(calls), Relaxed);
    }

    /// Sets the trap of a delay, in which `cookie` goes to whoever springs it. False: no room for
    /// it, and the caller does not sleep and does not come back.
    pub fn trap_set(&self, delay: &Delay, cookie: u64, host: &mut impl Host) -> bool {
        let point = &delay.point;
        let set = self.traps.set(point, cookie, host, |trap, host| self.report(trap, point, host));
        let thread = self.thread(point.thread);
        if set {
            self.sites.new_epoch();
            self.made.fetch_add(1, Relaxed);
            if self.params.has(technique::RENEWAL) {
                let end = self.elapsed(delay.start + delay.nanos);
                self.pairs.spend(&self.sites, (point.site, end), host);
            }
        } else {
            self.budget.refund(thread, delay.nanos);
        }
        set
    }

    /// The thread is awake again. Takes its trap away, learns from the delay, and says whether the
    /// trap was sprung.
    pub fn delay_done(&self, now: u64, delay: &Delay, host: &mut impl Host) -> bool {
        let point = &delay.point;
        let hits = self.traps.clear(point, host).unwrap_or(0);
        let thread = self.thread(point.thread);
        self.sites.new_epoch();
        self.budget.refund(thread, delay.nanos.saturating_sub(now.saturating_sub(delay.start)));
        match self.params.policy {
            Policy::Tsvd | Policy::TsvdHb => {
                self.delays.ended(point.thread, point.site, delay.nanos, now);
                self.quiet.store(now, Relaxed);
                // The access itself comes after the delay.
                thread.last.store(now, Relaxed);
                self.pairs.decay(&self.sites, &self.params, (point.site, delay.nanos), host);
            }
            Policy::StaticRandom => {
                thread.draw(|rng| self.sampler.next(&self.sites, self.params.chance, rng));
            }
            Policy::DynamicRandom => {}
        }
        hits > 0
    }

    /// The caller does not make a delay that [`Tsvd::on_call`] asked for: it counts as one that the
    /// caps did not allow.
    pub fn refuse(&self, delay: &Delay) {
        let thread = self.thread(delay.point.thread);
        self.budget.refund(thread, delay.nanos);
        self.budget.refuse(thread, delay.start, delay.nanos);
        self.pass_on(&delay.point);
    }

    /// A thread has ended, whatever it was doing: its traps must not outlive it.
    pub fn thread_gone(&self, thread: u32, host: &mut impl Host) {
        self.traps.clear_thread(thread, host);
        self.threads.died(thread);
    }

    /// The caller will tell of every thread before it runs ([`Tsvd::on_fork`]) and when it has
    /// ended ([`Tsvd::thread_gone`]): a thread that is alone then is not delayed (deviation 8 of
    /// the crate).
    pub fn watch_threads(&self) {
        self.threads.watch(self.params.policy == Policy::Tsvd);
    }

    /// A thread is about to be created; `child` has not run yet. Without this all works, but what a
    /// thread does before it creates another is taken for a near miss of what that one does first
    /// (deviation 7 of the crate).
    pub fn on_fork(&self, now: u64, parent: u32, child: u32, host: &mut impl Host) {
        if self.threads.is_alone(parent) {
            self.phase.fill(parent, self.params.buffer);
        }
        self.threads.born(parent, child, now, self.params.seed);
        self.sites.new_epoch();
        if self.params.policy == Policy::TsvdHb {
            self.order.with(host, |order| order.fork(parent, child));
        }
    }

    /// A thread begins another piece of work, as a thread of a pool does. What it did before says
    /// nothing of what it waits for: a gap that is blamed on a delay (3.4.4) begins here at the
    /// earliest. Without this a thread that had nothing to do while another was held is taken to
    /// have waited for it.
    pub fn work_begins(&self, now: u64, thread: u32) {
        let record = self.thread(thread);
        record.last.store(now, Relaxed);
        record.covered.store(0, Relaxed);
    }

    /// `parent` has waited for the end of `child` (extension 1 of the crate).
    pub fn on_join(&self, now: u64, parent: u32, child: u32, host: &mut impl Host) {
        if self.params.has(technique::JOINS) {
            self.threads.joined(parent, child, now);
        }
        if self.params.policy == Policy::TsvdHb {
            self.order.with(host, |order| order.join(parent, child));
        }
    }

    /// What follows is for `tsvd-hb` alone; other policies do nothing with it. `object` is anything
    /// that synchronises: what `thread` did before it released the object happens before what comes
    /// after its next acquisition.
    pub fn on_release(&self, thread: u32, object: u64, host: &mut impl Host) {
        if self.params.policy == Policy::TsvdHb {
            self.order.with(host, |order| order.release(thread, object));
        }
    }

    /// The other half of [`Tsvd::on_release`], called after the object was acquired.
    pub fn on_acquire(&self, thread: u32, object: u64, host: &mut impl Host) {
        if self.params.policy == Policy::TsvdHb {
            self.order.with(host, |order| order.acquire(thread, object));
        }
    }

    /// An object ends with the call that was just told of. Another object at its address is not
    /// near this one's accesses: without this, locals and results that are made again and again
    /// look like one object that all threads share.
    pub fn object_gone(&self, object: u64) {
        self.objects.forget(object);
    }

    /// A test begins: the cap of a test counts from here.
    pub fn new_test(&self) {
        self.budget.new_test();
    }

    /// For the child of a fork, before it does anything else: other threads, their traps and their
    /// locks are not there.
    pub fn forked(&self) {
        self.traps.forget();
        self.pairs.break_open();
        self.order.break_open();
        self.phase.forget();
        self.sites.new_epoch();
    }

    /// In memory that is zero.
    pub(crate) fn begin_with(&mut self, params: &Params) {
        self.params = *params;
        self.sites.new_epoch();
    }

    #[inline]
    fn thread(&self, number: u32) -> &ThreadState {
        self.threads.get(number, self.params.seed, || self.sites.new_epoch())
    }

    /// How many points like this one the thread has just made that were not looked at.
    #[inline]
    fn went_by(&self, point: &ApiPoint) -> u32 {
        let lane = self.threads.lane(point.thread);
        if lane.owner.load(Relaxed) != point.thread.wrapping_add(1) {
            return 0;
        }
        let points = lane.pass(point).take_used(point.site);
        if points != 0 {
            self.phase.skip(point.thread, points, self.params.buffer);
        }
        points
    }

    /// Notes the visit of an object, so that others hear of it who have passes for it, and gives a
    /// pass for the next ones if `taught` is false.
    #[inline]
    fn visit(&self, now: u64, point: &ApiPoint, way: usize, taught: bool) {
        let lane = self.threads.lane(point.thread);
        if lane.owner.load(Relaxed) != point.thread.wrapping_add(1) {
            // Passes of who had it before are void: a thread that takes a record begins an epoch.
            lane.owner.store(point.thread.wrapping_add(1), Relaxed);
        }
        let (pass, object) = (lane.pass(point), &self.objects.ways[way]);
        // Before the look at the traps: one that is set afterwards begins another epoch.
        let epoch = self.sites.epoch.load(Acquire);
        let grants = !taught && !self.traps.may_be_on(point.object);
        if !pass.is_of(point.site, way as u16, epoch) && object.arrive(point.thread) {
            self.sites.nudge(now);
        }
        let version = object.version.load(Relaxed);
        if pass.renew(now, point.site, &VisitedObject { way: way as u16, version, epoch }, grants) {
            object.hand_out(point.thread);
        }
    }

    /// A delay at a hot site was not allowed, and the next will not be for a while.
    fn pass_on(&self, point: &ApiPoint) {
        let pass = self.threads.lane(point.thread).pass(point);
        let may = self.params.policy == Policy::Tsvd && !self.traps.may_be_on(point.object);
        if may && pass.grant_refused() {
            self.objects.ways[pass.way()].hand_out(point.thread);
        }
    }

    /// Adds what an earlier run learned. Before the first point; false if there is no room, or the
    /// pair is there.
    pub fn seed(&self, pair: &TrapPair, host: &mut impl Host) -> bool {
        pair.site_a.max(pair.site_b) < MAX_SITES && self.pairs.seed(&self.sites, pair, host)
    }

    /// All pairs that were ever dangerous, ordered or found. Those still [`PairState::Dangerous`]
    /// are what the paper keeps in its trap file.
    pub fn pairs(&self) -> impl Iterator<Item = TrapPair> {
        self.pairs.pairs()
    }

    /// How the site was reached so far. One that is not below [`MAX_SITES`] counts as not hit.
    pub fn coverage(&self, site: u32) -> SiteCoverage {
        self.sites.coverage(site)
    }

    /// Sums up all threads. While threads run, the figures need not belong to one moment.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            delays: self.made.load(Relaxed),
            delayed: self.budget.spent(),
            refused: self.budget.refused.load(Relaxed),
            edges_lost: self.order.lost.load(Relaxed),
            ..Stats::default()
        };
        for (thread, lane) in self.threads.all() {
            stats.points += thread.points.load(Relaxed) + lane.points.load(Relaxed);
            stats.concurrent += thread.concurrent.load(Relaxed);
        }
        stats
    }

    #[cold]
    fn check_for_trap(&self, point: &ApiPoint, host: &mut impl Host) -> bool {
        self.traps.spring(point, host, |trap, host| self.report(trap, point, host)) != 0
    }

    /// False: the caller knows better, and there is nothing to report.
    fn report(&self, trap: &Trap, caller: &ApiPoint, host: &mut impl Host) -> bool {
        let sites = (trap.point.site, caller.site);
        let violation =
            Violation { trapped: trap.point, cookie: trap.cookie, caller: *caller, repeated: false };
        if !host.is_one_object(&violation) {
            return false;
        }
        let before = self.pairs.settle(&self.sites, sites, PairState::Found, host);
        host.violation(&Violation { repeated: before == Some(PairState::Found), ..violation });
        true
    }

    /// 3.4.4.
    #[inline]
    fn infer_order(&self, now: u64, point: &ApiPoint, thread: &ThreadState, host: &mut impl Host) {
        let who = (point.thread, self.threads.lane(point.thread).points.load(Relaxed));
        let knows = self.params.has(technique::KNOWN_ORDER);
        let why = |thread, time| match () {
            () if knows && host.is_ordered(thread, time, 0) => Wait::Known,
            () if knows && host.has_waited_by_chance(thread, time) => Wait::ByChance,
            () => Wait::Unknown,
        };
        let inferred = inference::ordered_after(&self.delays, &self.params, thread, who, now, why);
        let Some(inferred) = inferred.filter(|_| self.params.has(technique::HB_INFERENCE)) else { return };
        let pair = (inferred.site, point.site);
        if inferred.by_chance {
            self.pairs.doubt(&self.sites, &self.params, pair, host);
        } else {
            self.pairs.settle(&self.sites, pair, PairState::Ordered, host);
        }
    }

    /// 3.4.2, with the phase of 3.4.3.
    #[inline]
    fn near_misses(
        &self,
        now: u64,
        point: &ApiPoint,
        (thread, concurrent): (&ThreadState, bool),
        host: &mut impl Host,
    ) {
        let params = &self.params;
        let reach = self.reach(now);
        let window = if params.has(technique::WINDOW) { reach } else { u64::MAX };
        let concurrent = concurrent || !params.has(technique::PHASE);
        let knows = params.has(technique::KNOWN_ORDER);
        let mark = if knows { host.mark() } else { 0 };
        let this = PastAccess { mark, ..access(now, point, concurrent) };
        let mut last = None;
        let mut taught = self.sites.get(point.site).probability() != 0;
        let way = self.objects.access(point.object, this, params.history_kept(), |earlier| {
            let conflict = earlier.thread != point.thread && (earlier.write || point.write);
            let apart = now.abs_diff(earlier.time);
            let near = apart <= window && (concurrent || earlier.concurrent);
            // In a loop most of the history is one site.
            if conflict
                && near
                && last != Some(earlier.site)
                && !self.threads.is_before((earlier.thread, earlier.time), point.thread, thread)
                && !(knows && host.is_ordered(earlier.thread, earlier.time, earlier.mark))
            {
                let near_miss = (micros(apart), (earlier.thread, earlier.time));
                taught |= self.pairs.add(&self.sites, (earlier.site, point.site), near_miss, host);
                last = Some(earlier.site);
            }
        });
        self.visit(now, point, way, taught);
    }

    /// How far apart a near miss may be now. While somebody is held there is something better to
    /// wait for.
    #[inline]
    fn reach(&self, now: u64) -> u64 {
        let since = self.quiet.load(Relaxed);
        if since == 0 {
            self.quiet.store(now, Relaxed);
            self.begin.store(now, Relaxed);
        }
        let quiet = if since == 0 || self.traps.any() { 0 } else { now.saturating_sub(since) };
        self.params.reach(quiet)
    }

    /// 3.5: an earlier conflicting access that does not happen before this one makes a dangerous
    /// pair, however long ago it was made.
    fn unordered(&self, now: u64, point: &ApiPoint, concurrent: bool, host: &mut impl Host) {
        let mut pairs = [0; MAX_HISTORY as usize];
        let mut found = 0;
        self.order.with(host, |order| {
            let this = PastAccess { mark: order.tick(point.thread), ..access(now, point, concurrent) };
            self.objects.access(point.object, this, self.params.history_kept(), |earlier| {
                let conflict = earlier.thread != point.thread && (earlier.write || point.write);
                if conflict && !order.ordered(earlier.thread, earlier.mark, point.thread) {
                    pairs[found] = earlier.site;
                    found += 1;
                }
            });
        });
        for earlier in &pairs[..found] {
            self.pairs.add(&self.sites, (*earlier, point.site), (0, (point.thread, now)), host);
        }
    }

    /// 3.4.6: whenever a site of the trap set is about to be executed, with its probability.
    #[inline]
    fn at_dangerous_site(&self, now: u64, point: &ApiPoint, thread: &ThreadState) -> Option<u64> {
        let probability = self.sites.get(point.site).probability();
        if probability == 0 || !thread.draw(|rng| rng.chance(probability, crate::params::ONE)) {
            return None;
        }
        let may = self.params.has(technique::PARALLEL) || !self.traps.any();
        if !may || self.threads.is_one() {
            return None;
        }
        self.pairs.length(&self.sites, &self.params, (point.site, self.elapsed(now)))
    }

    /// Milliseconds since the first point.
    fn elapsed(&self, now: u64) -> u32 {
        let nanos = now.saturating_sub(self.begin.load(Relaxed));
        u32::try_from(nanos / 1_000_000).unwrap_or(u32::MAX)
    }

    #[inline]
    fn at_random(&self, thread: &ThreadState) -> Option<u64> {
        let longest = u32::try_from(self.params.delay / 1000).unwrap_or(u32::MAX);
        thread.draw(|rng| {
            rng.chance(self.params.chance, crate::params::ONE)
                .then(|| (u64::from(rng.below(longest)) + 1) * 1000)
        })
    }

    #[inline]
    fn at_sample(&self, point: &ApiPoint, thread: &ThreadState, first: bool) -> Option<u64> {
        thread.draw(|rng| {
            let chance = self.params.chance;
            if first {
                self.sampler.reached(&self.sites, point.site, chance, rng);
            }
            self.sampler.sample(&self.sites, point.site, chance, rng).then_some(self.params.delay)
        })
    }

    #[cold]
    fn delay(&self, now: u64, point: &ApiPoint, thread: &ThreadState, nanos: u64) -> Option<Delay> {
        if !self.budget.pay(&self.params, thread, now, nanos) {
            self.pass_on(point);
            return None;
        }
        Some(Delay { point: *point, start: now, nanos })
    }
}

/// For a pair; not zero, which is not known.
#[inline]
fn micros(nanos: u64) -> u32 {
    u32::try_from(nanos / 1000).unwrap_or(u32::MAX).max(1)
}

#[inline]
fn access(now: u64, point: &ApiPoint, concurrent: bool) -> PastAccess {
    let ApiPoint { thread, site, write, .. } = *point;
    PastAccess { time: now, thread, site, write, concurrent, mark: 0 }
}
