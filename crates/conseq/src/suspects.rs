//! Suspicious interleavings: reads that could get another value (section 7 of the paper).
//!
//! **Algorithm 1.** In the run, a read `r` got the value of a write `w`. Could it get the value of
//! another write `w'` to the same memory? Not if
//!
//! 1. `r` precedes `w'` in every run ([`Infeasible::TooEarly`]);
//! 2. `w'` precedes some other write, and that write precedes `r` ([`Infeasible::Overwritten`];
//!    figures 6a and 6b);
//! 3. `r` follows a write of its own thread in the same critical section, and the lock excludes
//!    `w'` from that section ([`Infeasible::OwnWriteFirst`]);
//! 4. a write of its own thread follows `w'` in the same critical section, and the lock excludes
//!    `r` from that section ([`Infeasible::HiddenByLock`]; figure 6c).
//!
//! In all other cases it is feasible, as far as the trace shows. Section 7.2 adds: an equal value
//! is of no interest, nor is one that does not lead to the error site; a loop hangs only if nothing
//! comes later that ends it; a read may come too early and get the initial value. Beyond the paper:
//! if another thread frees the memory and nothing makes it wait for an access, the access may find
//! it freed. If a block was handed over, its free comes after what the giver did before
//! (`hand_over`).
//!
//! Deviations:
//! 1. The paper looks at the write that `r` read; here rule 2 considers every known write.
//! 2. The initial value is a write like any other, by no thread and before everything.
//! 3. The caller decides which error sites a read matters to ([`Judge`]). With critical reads off,
//!    every read matters.

use crate::event::Cell;
use crate::history::{Granule, History, Point, Read, Write};

/// Why a read cannot get a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Infeasible {
    /// The read precedes the write in every run (rule 1).
    TooEarly,
    /// In every run another write comes between the two (rule 2).
    Overwritten,
    /// The reader wrote the memory itself earlier in its critical section (rule 3).
    OwnWriteFirst,
    /// The writer writes the memory again before it leaves its critical section (rule 4).
    HiddenByLock,
}

/// What a read could find instead of what it found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instead {
    /// The value of another write.
    Write(Point),
    /// What was there at the beginning.
    Initial,
    /// Nothing: the memory has been freed.
    Freed(Point),
}

/// What a wrong value could lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorSite {
    /// A place in the code, by the caller's number.
    Code(u32),
    /// An invariant of the training runs that would be broken, by its place in the caller's list.
    Invariant(u32),
}

impl ErrorSite {
    /// The number of the invariant, if it is one.
    pub fn invariant(self) -> Option<usize> {
        match self {
            ErrorSite::Code(_) => None,
            ErrorSite::Invariant(i) => Some(i as usize),
        }
    }
}

/// A read that could get another value.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The read, with the value that it got in the run.
    pub read: Point,
    /// The write whose value it got in the run. `None`: the initial value.
    pub from: Option<Point>,
    /// What it could find in another run.
    pub instead: Instead,
    /// The value it would get.
    pub value: u64,
    /// The error site that this matters to. `None`: the read matters as such.
    pub site: Option<ErrorSite>,
    /// The locks held at the read, and at the write or free that comes instead or too late.
    pub locks: [Vec<u64>; 2],
}

impl Suspect {
    /// A key that is the same for suspects that a report would not tell apart.
    pub fn key(&self) -> (u32, u8, u32, Option<ErrorSite>) {
        let (kind, other) = match self.instead {
            Instead::Initial => (0, 0),
            Instead::Write(w) => (1, w.site),
            Instead::Freed(f) => (2, f.site),
        };
        (self.read.site, kind, other, self.site)
    }
}

/// What the caller knows about a read: whether a value there could lead to an error site.
pub trait Judge {
    /// The error sites that `value` at `read` could lead to; `None` in the list means that the read
    /// matters as such.
    fn sites(&self, read: &Read, value: u64, history: &History) -> Vec<Option<ErrorSite>>;

    /// The error sites that freed memory at `access` could lead to.
    fn sites_if_freed(&self, _access: &Point) -> Vec<Option<ErrorSite>> {
        vec![None]
    }

    /// Whether the site is a loop that `value` keeps going.
    fn is_loop(&self, _site: ErrorSite) -> bool {
        false
    }
}

/// Critical reads off: every read matters, whatever its value.
pub struct Everything;

impl Judge for Everything {
    fn sites(&self, _: &Read, _: u64, _: &History) -> Vec<Option<ErrorSite>> {
        vec![None]
    }
}

/// The result: the suspects, and how many pairs each rule refused.
#[derive(Default)]
pub struct Suspects {
    /// Each [`Suspect::key`] once.
    pub suspects: Vec<Suspect>,
    /// How many pairs of a read and a write each rule has refused, indexed by [`Infeasible`].
    pub refused: [u64; 4],
    /// There was no time to examine the whole trace.
    pub cut_short: bool,
}

/// All suspects that the trace shows, each pair of places with each site once. Stops when
/// `is_over`.
pub fn find(history: &History, judge: &dyn Judge, is_over: &dyn Fn() -> bool) -> Suspects {
    let mut found = Suspects::default();
    let mut met = rustc_hash::FxHashSet::default();
    for granule in history.granules.iter().filter(|g| g.is_shared()) {
        let mut suspects = if_freed(history, granule, judge);
        // Pairs of places and values that are already suspects. If many threads are at one place,
        // most pairs are.
        let mut known = rustc_hash::FxHashSet::default();
        for read in &granule.reads {
            if is_over() {
                found.cut_short = true;
                break;
            }
            for write in granule.writes.iter().map(Some).chain([None]) {
                let places = (read.point.site, write.map(|w| w.point.site));
                let pair = (places, read.point.cell, write.map(|w| w.point.cell));
                if known.contains(&pair) {
                    continue;
                }
                let new = consider(history, granule, read, write, judge, &mut found);
                if !new.is_empty() {
                    known.insert(pair);
                    suspects.extend(new);
                }
            }
        }
        found.suspects.extend(suspects.into_iter().filter(|s| met.insert(s.key())));
    }
    found
}

/// Accesses that nothing orders before another thread's free of their memory.
fn if_freed(history: &History, granule: &Granule, judge: &dyn Judge) -> Vec<Suspect> {
    let Some(free) = granule.freed else { return Vec::new() };
    let same = |r: &Read, p: &Point| r.point.site == p.site && r.point.thread() == p.thread();
    let from = |p: &Point| granule.reads.iter().find(|r| same(r, p)).and_then(|r| r.from);
    let moment = |p: &Point| (p.thread(), p.index());
    let is_loose = |p: &&Point| {
        p.thread() != free.thread()
            && !history.order.before(p.stamp, free.stamp)
            && !history.hand_overs.orders(moment(p), moment(&free))
    };
    let loose = granule.used.iter().filter(is_loose).map(|p| (*p, from(p)));
    let make = |(read, from): (Point, Option<Point>)| {
        let sites = judge.sites_if_freed(&read);
        let locks = [locks_at(history, &read), locks_at(history, &free)];
        sites.into_iter().map(move |site| Suspect {
            read,
            from,
            instead: Instead::Freed(free),
            value: 0,
            site,
            locks: locks.clone(),
        })
    };
    loose.flat_map(make).collect()
}

/// The suspects of one pair: one for each site.
fn consider(
    history: &History,
    granule: &Granule,
    read: &Read,
    write: Option<&Write>,
    judge: &dyn Judge,
    found: &mut Suspects,
) -> Vec<Suspect> {
    let cell = &read.point.cell;
    let value = match write {
        Some(w) if !w.point.overlaps(&read.point) => return Vec::new(),
        Some(w) => w.point.value_for(cell),
        None => granule.initial_for(cell),
    };
    let Some(value) = value else { return Vec::new() };
    if read.from.map(|w| w.stamp) == write.map(|w| w.point.stamp) {
        return Vec::new();
    }
    if value == cell.value {
        return Vec::new();
    }
    if let Some(refusal) = refuse(history, granule, read, write) {
        found.refused[refusal as usize] += 1;
        return Vec::new();
    }
    let mut sites = judge.sites(read, value, history);
    sites.retain(|site| {
        site.is_none_or(|s| !judge.is_loop(s) || never_ends(history, granule, read, write, judge, s))
    });
    let instead = write.map_or(Instead::Initial, |w| Instead::Write(w.point));
    let other = write.map(|w| w.point).or(read.from);
    let held = [locks_at(history, &read.point), other.map_or(Vec::new(), |w| locks_at(history, &w))];
    let make =
        |site| Suspect { read: read.point, from: read.from, instead, value, site, locks: held.clone() };
    sites.into_iter().map(make).collect()
}

fn locks_at(history: &History, point: &Point) -> Vec<u64> {
    history.held.sections(point.sections).iter().map(|s| s.lock).collect()
}

/// Algorithm 1: why `read` cannot get what `write` wrote; `None` if there is no reason.
fn refuse(history: &History, granule: &Granule, read: &Read, write: Option<&Write>) -> Option<Infeasible> {
    let (r, order, held) = (read.point, &history.order, &history.held);
    let Some(write) = write else {
        // The initial value precedes everything: any write that must precede the read hides it.
        let hidden =
            granule.writes.iter().any(|w| covers(&w.point, &r.cell) && order.before(w.point.stamp, r.stamp))
                || read.own.is_some();
        return hidden.then_some(Infeasible::Overwritten);
    };
    let w2 = write.point;
    if order.before(r.stamp, w2.stamp) {
        return Some(Infeasible::TooEarly);
    }
    let between = |w: &Point| {
        w.stamp != w2.stamp
            && covers(w, &r.cell)
            && order.before(w2.stamp, w.stamp)
            && order.before(w.stamp, r.stamp)
    };
    let known = granule.writes.iter().map(|w| &w.point).chain(&read.from).chain(&read.own);
    if known.into_iter().any(between) {
        return Some(Infeasible::Overwritten);
    }
    if w2.thread() == r.thread() {
        return None;
    }
    let sections = |set| held.sections(set).iter();
    if let Some(own) = read.own {
        let kept_apart =
            held.common(own.sections, r.sections).any(|s| sections(w2.sections).any(|t| t.excludes(&s)));
        if kept_apart {
            return Some(Infeasible::OwnWriteFirst);
        }
    }
    let hidden = write.hidden_under.iter().any(|lock| sections(r.sections).any(|s| s.lock == *lock));
    hidden.then_some(Infeasible::HiddenByLock)
}

fn covers(w: &Point, cell: &Cell) -> bool {
    w.value_for(cell).is_some()
}

/// The infinite-loop rule: in the end the value is there, because it comes after everything that
/// ended the loop in this run, or may.
fn never_ends(
    history: &History,
    granule: &Granule,
    read: &Read,
    write: Option<&Write>,
    judge: &dyn Judge,
    site: ErrorSite,
) -> bool {
    // The first write replaces the initial value.
    let Some(write) = write else { return false };
    let ends = |w: &&Write| {
        let value = w.point.value_for(&read.point.cell);
        value.is_some_and(|v| !judge.sites(read, v, history).contains(&Some(site)))
    };
    granule.writes.iter().filter(ends).all(|w| !history.order.before(write.point.stamp, w.point.stamp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{TraceEvent, What};

    const X: u64 = 64;

    fn cell(value: u64) -> Cell {
        Cell { address: X, size: 4, value, atomic: false }
    }

    fn read(thread: u16, site: u32, value: u64) -> TraceEvent {
        TraceEvent { thread, site, what: What::Read(cell(value)) }
    }

    fn write(thread: u16, site: u32, value: u64) -> TraceEvent {
        TraceEvent { thread, site, what: What::Write { cell: cell(value), before: Some(0), reads: false } }
    }

    fn event(thread: u16, what: What) -> TraceEvent {
        TraceEvent { thread, site: 0, what }
    }

    fn lock(thread: u16) -> TraceEvent {
        event(thread, What::Acquire { lock: 8, shared: false })
    }

    fn unlock(thread: u16) -> TraceEvent {
        event(thread, What::Release { lock: 8 })
    }

    /// The suspects as (site of the read, site of the write or 0, value).
    fn found(events: &[TraceEvent]) -> Vec<(u32, u32, u64)> {
        let history = History::of(events, &|_| false);
        let other = |s: &Suspect| match s.instead {
            Instead::Write(w) => w.site,
            Instead::Initial => 0,
            Instead::Freed(f) => f.site,
        };
        find(&history, &Everything, &|| false)
            .suspects
            .iter()
            .map(|s| (s.read.site, other(s), s.value))
            .collect()
    }

    fn refused(events: &[TraceEvent]) -> [u64; 4] {
        find(&History::of(events, &|_| false), &Everything, &|| false).refused
    }

    #[test]
    fn a_read_could_get_what_nothing_keeps_away() {
        assert_eq!(found(&[write(1, 1, 5), write(1, 2, 6), read(2, 3, 6)]), [(3, 1, 5), (3, 0, 0)]);
    }

    #[test]
    fn rule_1_what_comes_later_in_every_run_is_never_read() {
        let events = [write(1, 1, 5), read(1, 2, 5), event(1, What::Fork { child: 2 }), write(2, 3, 6)];
        assert!(found(&events).is_empty());
        assert_eq!(refused(&events)[Infeasible::TooEarly as usize], 1);
    }

    #[test]
    fn rule_2_what_is_overwritten_in_every_run_is_never_read() {
        // Figure 6a: overwritten by the reader itself.
        let own = [write(2, 1, 5), write(2, 2, 6), read(2, 3, 6), read(1, 4, 6)];
        assert!(!found(&own).contains(&(3, 1, 5)), "{:?}", found(&own));
        // Figure 6b: overwritten by a thread that waits for the writer, and that the reader waits
        // for.
        let fork = |child| event(0, What::Fork { child });
        let join = |child| event(0, What::Join { child });
        let events = [fork(1), write(1, 1, 5), join(1), write(0, 2, 6), fork(2), read(2, 3, 6)];
        assert!(found(&events).is_empty(), "{:?}", found(&events));
    }

    #[test]
    fn rule_3_a_section_that_writes_first_reads_its_own() {
        let events = [lock(1), write(1, 1, 5), unlock(1), lock(2), write(2, 2, 6), read(2, 3, 6), unlock(2)];
        assert!(found(&events).is_empty(), "{:?}", found(&events));
        assert_eq!(refused(&events)[Infeasible::OwnWriteFirst as usize], 1);
        // In two sections, the other thread may come in between.
        let apart = [
            lock(1),
            write(1, 1, 5),
            unlock(1),
            lock(2),
            write(2, 2, 6),
            unlock(2),
            lock(2),
            read(2, 3, 6),
            unlock(2),
        ];
        assert_eq!(found(&apart), [(3, 1, 5)]);
    }

    #[test]
    fn rule_4_what_a_section_overwrites_is_seen_by_nobody_else() {
        let hidden = [lock(1), write(1, 1, 5), write(1, 2, 6), unlock(1), lock(2), read(2, 3, 6), unlock(2)];
        assert_eq!(found(&hidden), [(3, 0, 0)]);
        assert_eq!(refused(&hidden)[Infeasible::HiddenByLock as usize], 1);
        let bare = [lock(1), write(1, 1, 5), write(1, 2, 6), unlock(1), read(2, 3, 6)];
        assert!(found(&bare).contains(&(3, 1, 5)));
    }

    #[test]
    fn what_there_is_no_time_for_is_said() {
        let events = [write(1, 1, 5), write(1, 2, 6), read(2, 3, 6)];
        let found = find(&History::of(&events, &|_| false), &Everything, &|| true);
        assert!(found.cut_short && found.suspects.is_empty());
    }

    #[test]
    fn the_same_value_is_of_no_interest() {
        let events = [write(1, 1, 6), write(1, 2, 6), read(2, 3, 6)];
        assert_eq!(found(&events), [(3, 0, 0)]);
    }

    #[test]
    fn a_barrier_keeps_the_phases_apart() {
        let arrive = |t| event(t, What::Arrive { barrier: 16, count: 2 });
        let events =
            [write(1, 1, 5), arrive(1), arrive(2), event(1, What::Leave { barrier: 16 }), read(2, 2, 5)];
        assert!(found(&events).is_empty());
    }

    #[test]
    fn memory_that_nothing_protects_may_be_gone() {
        let free = TraceEvent { thread: 2, site: 9, what: What::Free { from: X, to: X + 8 } };
        let loose = [read(1, 1, 5), free];
        assert_eq!(found(&loose), [(1, 9, 0)]);
        let joined = [read(1, 1, 5), event(2, What::Join { child: 1 }), free];
        assert!(found(&joined).is_empty());
    }

    #[test]
    fn a_lock_that_nothing_protects_may_be_gone() {
        let free = TraceEvent { thread: 2, site: 9, what: What::Free { from: X, to: X + 8 } };
        let unlock = TraceEvent { thread: 1, site: 4, what: What::Release { lock: X } };
        assert_eq!(found(&[unlock, free]), [(4, 9, 0)]);
        assert!(found(&[unlock, event(2, What::Join { child: 1 }), free]).is_empty());
    }

    /// A loop that continues while it reads 1.
    struct WhileOne;

    impl Judge for WhileOne {
        fn sites(&self, read: &Read, value: u64, _: &History) -> Vec<Option<ErrorSite>> {
            if read.point.site == 3 && value == 1 { vec![Some(ErrorSite::Code(0))] } else { Vec::new() }
        }

        fn is_loop(&self, _: ErrorSite) -> bool {
            true
        }
    }

    fn hangs(events: &[TraceEvent]) -> bool {
        !find(&History::of(events, &|_| false), &WhileOne, &|| false).suspects.is_empty()
    }

    #[test]
    fn a_loop_hangs_if_what_ends_it_may_come_before_what_keeps_it_going() {
        // Figure 1b: set, cleared by another thread, and waited for; nothing orders the two.
        assert!(hangs(&[write(1, 1, 1), write(2, 2, 0), read(1, 3, 0)]));
        // What keeps the loop going comes first in every run: the loop ends.
        let fork = event(1, What::Fork { child: 2 });
        assert!(!hangs(&[write(1, 1, 1), fork, write(2, 2, 0), read(1, 3, 0)]));
    }
}
