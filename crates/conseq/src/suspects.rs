//! Suspicious interleavings: reads that could get another value (section 7 of the paper).
//!
//! **Algorithm 1.** In the run, a read `r` got the value of a write `w`. Could it get that of another write `w'` to the same memory? Not if
//!
//! 1. `r` comes before `w'` in every run ([`Refusal::TooEarly`]);
//! 2. `w'` comes before some other write, and that before `r` ([`Refusal::Overwritten`]; figures 6a and 6b);
//! 3. `r` lies in a critical section after a write of its own thread, and `w'` in a section that the lock keeps apart
//!    ([`Refusal::OwnWriteFirst`]);
//! 4. `w'` lies in a critical section before a write of its own thread, and `r` in one that the lock keeps apart
//!    ([`Refusal::HiddenByLock`]; figure 6c).
//!
//! In all other cases it is feasible, as far as the trace can tell. The extensions of 7.2: a value that is the same is of no
//! interest, nor one that does not lead to the error site; a loop hangs only if nothing comes later that ends it; and a read may come
//! too early, and get what was there at the beginning. Past the paper: memory that another thread frees, with nothing that makes it wait
//! for an access, may be gone when it is accessed.
//!
//! Deviations: (1) The paper looks at the write that `r` read; rule 2 is asked of every write that is known. (2) The
//! value at the beginning is a write like any other, by nobody and before everything. (3) Which error sites a read matters to
//! comes from the caller ([`Judge`]): with critical reads off, every read matters.

use crate::event::Cell;
use crate::history::{Granule, History, Point, Read, Write};

/// Why a read can not get a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    TooEarly,
    Overwritten,
    OwnWriteFirst,
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

/// A read that could get another value.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    pub read: Point,
    /// What it read in the run: nothing is the value at the beginning.
    pub from: Option<Point>,
    pub instead: Instead,
    /// The value it would get.
    pub value: u64,
    /// The error site that this matters to, by the caller's number.
    pub site: Option<u32>,
    /// The locks that the read, and what comes instead, were made under.
    pub locks: [Vec<u64>; 2],
}

impl Suspect {
    /// The same for suspects that a report would not tell apart.
    pub fn key(&self) -> (u32, u8, u32, Option<u32>) {
        let (kind, other) = match self.instead {
            Instead::Initial => (0, 0),
            Instead::Write(w) => (1, w.site),
            Instead::Freed(f) => (2, f.site),
        };
        (self.read.site, kind, other, self.site)
    }
}

/// What the caller knows of a read: whether a value there could lead to an error site.
pub trait Judge {
    /// The error sites that `value` at `read` could lead to, `None` among them for a read that matters as such.
    fn sites(&self, read: &Read, value: u64, history: &History) -> Vec<Option<u32>>;

    /// The error sites that memory gone at `access` could lead to.
    fn sites_if_freed(&self, _access: &Point) -> Vec<Option<u32>> {
        vec![None]
    }

    /// Whether the site is a loop that `value` keeps going.
    fn is_loop(&self, _site: u32) -> bool {
        false
    }
}

/// Critical reads off: every read matters, whatever it gets.
pub struct Everything;

impl Judge for Everything {
    fn sites(&self, _: &Read, _: u64, _: &History) -> Vec<Option<u32>> {
        vec![None]
    }
}

/// What came of looking: the suspects, and how many pairs were refused by each rule.
#[derive(Default)]
pub struct Found {
    pub suspects: Vec<Suspect>,
    pub refused: [u64; 4],
    pub same_value: u64,
    pub harmless: u64,
}

/// All that the trace shows, each pair of places with each site once.
pub fn find(history: &History, judge: &dyn Judge) -> Found {
    let mut found = Found::default();
    let mut met = rustc_hash::FxHashSet::default();
    for granule in history.granules.iter().filter(|g| g.is_shared()) {
        let mut suspects = if_freed(history, granule, judge);
        for read in &granule.reads {
            for write in granule.writes.iter().map(Some).chain([None]) {
                suspects.extend(consider(history, granule, read, write, judge, &mut found));
            }
        }
        found.suspects.extend(suspects.into_iter().filter(|s| met.insert(s.key())));
    }
    found
}

/// Accesses that nothing orders before the release of their memory by another thread.
fn if_freed(history: &History, granule: &Granule, judge: &dyn Judge) -> Vec<Suspect> {
    let Some(free) = granule.freed else { return Vec::new() };
    let reads = granule.reads.iter().map(|r| (r.point, r.from));
    let writes = granule.writes.iter().map(|w| (w.point, None));
    let loose = reads
        .chain(writes)
        .filter(|(p, _)| p.thread() != free.thread() && !history.order.before(p.stamp, free.stamp));
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

/// The suspects that one pair gives: one for each site.
fn consider(
    history: &History,
    granule: &Granule,
    read: &Read,
    write: Option<&Write>,
    judge: &dyn Judge,
    found: &mut Found,
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
        found.same_value += 1;
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
    if sites.is_empty() {
        found.harmless += 1;
    }
    let instead = write.map_or(Instead::Initial, |w| Instead::Write(w.point));
    let held = [locks_at(history, &read.point), write.map_or(Vec::new(), |w| locks_at(history, &w.point))];
    let make =
        |site| Suspect { read: read.point, from: read.from, instead, value, site, locks: held.clone() };
    sites.into_iter().map(make).collect()
}

fn locks_at(history: &History, point: &Point) -> Vec<u64> {
    history.held.sections(point.sections).iter().map(|s| s.lock).collect()
}

/// Algorithm 1: why `read` can not get what `write` wrote, if there is a reason.
pub fn refuse(history: &History, granule: &Granule, read: &Read, write: Option<&Write>) -> Option<Refusal> {
    let (r, order, held) = (read.point, &history.order, &history.held);
    let Some(write) = write else {
        // Before everything: any write that must come before the read hides it.
        let hidden =
            granule.writes.iter().any(|w| covers(&w.point, &r.cell) && order.before(w.point.stamp, r.stamp))
                || read.own.is_some();
        return hidden.then_some(Refusal::Overwritten);
    };
    let w2 = write.point;
    if order.before(r.stamp, w2.stamp) {
        return Some(Refusal::TooEarly);
    }
    let between = |w: &Point| {
        w.stamp != w2.stamp
            && covers(w, &r.cell)
            && order.before(w2.stamp, w.stamp)
            && order.before(w.stamp, r.stamp)
    };
    let known = granule.writes.iter().map(|w| &w.point).chain(&read.from).chain(&read.own);
    if known.into_iter().any(between) {
        return Some(Refusal::Overwritten);
    }
    if w2.thread() == r.thread() {
        return None;
    }
    let sections = |set| held.sections(set).iter();
    if let Some(own) = read.own {
        let kept_apart = held
            .common(own.sections, r.sections)
            .any(|s| sections(w2.sections).any(|t| t.lock == s.lock && !(t.shared && s.shared)));
        if kept_apart {
            return Some(Refusal::OwnWriteFirst);
        }
    }
    let hidden = write.hidden_under.iter().any(|lock| sections(r.sections).any(|s| s.lock == *lock));
    hidden.then_some(Refusal::HiddenByLock)
}

fn covers(w: &Point, cell: &Cell) -> bool {
    w.value_for(cell).is_some()
}

/// The infinite-loop rule: the value comes in the end, after whatever in this run ended the loop, or may.
fn never_ends(
    history: &History,
    granule: &Granule,
    read: &Read,
    write: Option<&Write>,
    judge: &dyn Judge,
    site: u32,
) -> bool {
    // What is there at the beginning goes away with the first write.
    let Some(write) = write else { return false };
    let ends = |w: &&Write| {
        let value = w.point.value_for(&read.point.cell);
        value.is_some_and(|v| !judge.sites(read, v, history).contains(&Some(site)))
    };
    granule.writes.iter().filter(ends).all(|w| !history.order.before(write.point.stamp, w.point.stamp))
}
