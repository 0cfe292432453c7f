//! The accesses to each piece of shared memory in a traced run, as far as they are needed to find
//! out what a read could have read instead.
//!
//! A trace may have millions of accesses, and thousands to one variable, most of them alike. Each
//! granule of 8 bytes keeps a few: for each place in the program the first ones, those with another
//! value, and the last. So the analyses need memory and time linear in the trace, with a small
//! constant. Lost are further pairs of the same two places, which no report would distinguish, and
//! some of their values, perhaps the only one that leads to a site.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::counts::{Decrements, Turn};
use crate::critical_sections::{OpenSections, Sections};
use crate::event::{Cell, TraceEvent, What};
use crate::hand_over::HandOvers;
use crate::order::{HappensBefore, TraceMoment, flags_as_locks, semaphores_as_locks};

/// An access that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub(crate) stamp: TraceMoment,
    /// Where in the program, as in [`TraceEvent::site`].
    pub site: u32,
    /// What was accessed, with the value read or written.
    pub cell: Cell,
    pub(crate) sections: Sections,
}

impl Point {
    /// The thread that made the access.
    pub fn thread(&self) -> u16 {
        self.stamp.thread
    }

    /// The position of its event in the trace.
    pub fn index(&self) -> u32 {
        self.stamp.index
    }

    /// The value that this write left in the bytes of `cell`, if it covers them all.
    pub(crate) fn value_for(&self, cell: &Cell) -> Option<u64> {
        let (own, wanted) = (self.cell, cell);
        let covers = own.address <= wanted.address
            && wanted.address + u64::from(wanted.size) <= own.address + u64::from(own.size);
        let shift = (wanted.address.wrapping_sub(own.address) & 7) * 8;
        covers.then(|| own.value >> shift & mask(wanted.size))
    }

    pub(crate) fn overlaps(&self, other: &Point) -> bool {
        let end = |c: &Cell| c.address + u64::from(c.size);
        self.cell.address < end(&other.cell) && other.cell.address < end(&self.cell)
    }
}

fn mask(size: u8) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (size * 8)) - 1 }
}

#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub point: Point,
    /// The locks under which the same thread wrote here again before it released them: no thread
    /// that needs one of them ever sees this value.
    pub hidden_under: Vec<u64>,
}

/// A read that is kept, with what is needed to judge it.
#[derive(Clone, Debug)]
pub struct Read {
    /// The read itself, with the value that it got.
    pub point: Point,
    /// The write whose value it got. `None`: the initial value.
    pub from: Option<Point>,
    /// The thread's own last write to the granule before it. `None`: there was none.
    pub own: Option<Point>,
    /// Whether the same instruction also wrote.
    pub updates: bool,
    /// The thread's next write here, if there is one.
    pub next_own: Option<Point>,
}

/// Two accesses of a thread with none of its own in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConsecutiveAccesses {
    pub first: Point,
    pub first_writes: bool,
    pub second: Point,
    pub second_writes: bool,
}

/// What is known about a granule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Granule {
    /// The initial value, as a read of these bytes would have returned it.
    pub initial: Vec<Cell>,
    pub writes: Vec<Write>,
    pub reads: Vec<Read>,
    /// Consecutive accesses of one thread, each pair of places once per thread.
    pub pairs: Vec<ConsecutiveAccesses>,
    /// Where it was freed, if it was.
    pub freed: Option<Point>,
    /// The last access of each place and thread. Acquiring or releasing a lock or semaphore here
    /// counts as an access, too.
    pub used: Vec<Point>,
    /// Each thread's last access, and whether it wrote.
    latest: Vec<(Point, bool)>,
    last: Option<Point>,
    /// Each thread's last write, and its index in `writes`.
    own: Vec<(Point, Option<usize>)>,
    threads: Vec<u16>,
}

impl Granule {
    pub fn is_shared(&self) -> bool {
        self.threads.len() > 1
    }

    fn touch(&mut self, point: Point) {
        let same = |p: &&mut Point| p.site == point.site && p.thread() == point.thread();
        match self.used.iter_mut().find(same) {
            Some(last) => *last = point,
            None => self.used.push(point),
        }
    }

    /// Takes in an access of a thread, which forms a pair with its last one.
    fn follow(&mut self, point: Point, writes: bool) {
        self.touch(point);
        let Some(i) = self.latest.iter().position(|(p, _)| p.thread() == point.thread()) else {
            return self.latest.push((point, writes));
        };
        let (first, first_writes) = std::mem::replace(&mut self.latest[i], (point, writes));
        let pair = ConsecutiveAccesses { first, first_writes, second: point, second_writes: writes };
        let key = |p: &ConsecutiveAccesses| (p.first.site, p.second.site, p.second_writes, p.first.thread());
        let room = self.pairs.len() < PAIRS && first.overlaps(&point);
        if room && !self.pairs.iter().any(|p| key(p) == key(&pair)) {
            self.pairs.push(pair);
        }
    }

    /// The initial value in the bytes of `cell`.
    pub fn initial_for(&self, cell: &Cell) -> Option<u64> {
        self.initial.iter().find_map(|c| {
            let offset = cell.address.checked_sub(c.address)?;
            let fits = offset + u64::from(cell.size) <= u64::from(c.size);
            fits.then(|| c.value >> (offset * 8) & mask(cell.size))
        })
    }
}

/// How many accesses are kept per place and value.
const ALIKE: usize = 2;
/// How many accesses are kept per place.
const OF_A_PLACE: usize = 6;
/// How many pairs are kept per granule.
const PAIRS: usize = 64;

/// All granules, with the order and the locks of the run.
pub struct History {
    pub(crate) granules: Vec<Granule>,
    pub(crate) order: HappensBefore,
    pub(crate) held: OpenSections,
    pub(crate) hand_overs: HandOvers,
    flags_as_locks: FxHashSet<u64>,
    freed: Freed,
    /// The granules at each address: one for each time that the memory was handed out.
    at: FxHashMap<u64, Vec<u32>>,
    /// How many events of the trace were read: all, unless [`History::until`] ended early.
    pub events: usize,
    live: FxHashMap<u64, usize>,
    spinning: FxHashMap<u16, Spin>,
    /// Where in the trace a thread read at a place, and which value, in trace order.
    read_at: FxHashMap<(u32, u16), Vec<(u32, u64)>>,
}

/// The blocks that were freed. A program may free thousands, and each value that a pointer could
/// have is looked up.
#[derive(Default)]
struct Freed {
    begins: FxHashSet<u64>,
    /// The first address of each block and the first one after it. Once sorted, they are apart.
    ranges: Vec<(u64, u64)>,
}

impl Freed {
    fn add(&mut self, from: u64, to: u64) {
        if self.ranges.last() != Some(&(from, to)) {
            self.ranges.push((from, to));
        }
        self.begins.insert(from);
    }

    fn sort(&mut self) {
        self.ranges.sort_unstable();
        let mut apart: Vec<(u64, u64)> = Vec::new();
        for (from, to) in self.ranges.drain(..) {
            match apart.last_mut() {
                Some((_, end)) if from <= *end => *end = (*end).max(to),
                _ => apart.push((from, to)),
            }
        }
        self.ranges = apart;
    }

    fn contains(&self, address: u64) -> bool {
        let after = self.ranges.partition_point(|(from, _)| *from <= address);
        after.checked_sub(1).is_some_and(|at| address < self.ranges[at].1)
    }
}

/// The last read of a thread, to recognise repeated reads.
struct Spin {
    site: u32,
    address: u64,
    value: u64,
}

impl History {
    /// Reads a trace. `waits` returns whether a place is the read of a loop that does nothing but
    /// wait.
    pub fn of(events: &[TraceEvent], waits: &dyn Fn(u32) -> bool) -> History {
        History::until(events, waits, &|| false)
    }

    /// Reads a trace until `is_over`, which is called now and then. [`History::events`] says how
    /// much was read.
    pub fn until(events: &[TraceEvent], waits: &dyn Fn(u32) -> bool, is_over: &dyn Fn() -> bool) -> History {
        const EACH: usize = 1 << 13;
        let semaphores = semaphores_as_locks(events);
        let mut history = History {
            granules: Vec::new(),
            order: HappensBefore::new(semaphores.clone()),
            held: OpenSections::new(events, semaphores),
            hand_overs: HandOvers::of(events),
            flags_as_locks: flags_as_locks(events, waits),
            freed: Freed::default(),
            at: FxHashMap::default(),
            events: events.len(),
            live: FxHashMap::default(),
            spinning: FxHashMap::default(),
            read_at: FxHashMap::default(),
        };
        let counts = Decrements::of(events);
        for (i, e) in events.iter().enumerate() {
            if i % EACH == EACH - 1 && is_over() {
                history.events = i;
                break;
            }
            let turn = counts.turn(i);
            if let Some(last @ Turn::Last(_)) = turn {
                history.order.count(e.thread, last);
            }
            history.pass(i, e, waits);
            if let Some(lets_go @ Turn::LetsGo(_)) = turn {
                history.order.count(e.thread, lets_go);
            }
        }
        history.index_reads();
        history.freed.sort();
        history
    }

    /// Whether `address` is inside of a block that was freed.
    pub fn was_freed(&self, address: u64) -> bool {
        self.freed.contains(address)
    }

    /// Whether a block that begins at `address` was freed.
    pub fn was_freed_from(&self, address: u64) -> bool {
        self.freed.begins.contains(&address)
    }

    /// The places that accessed the granule at `address`. A place may occur several times.
    pub fn sites_at(&self, address: u64) -> impl Iterator<Item = u32> + '_ {
        let granules = self.at.get(&(address & !7)).into_iter().flatten();
        granules.map(|at| &self.granules[*at as usize]).flat_map(|g| {
            let reads = g.reads.iter().map(|r| r.point.site);
            reads.chain(g.writes.iter().map(|w| w.point.site))
        })
    }

    /// What a thread read at a place nearest to a moment of the trace.
    pub fn value_near(&self, site: u32, thread: u16, index: u32) -> Option<u64> {
        let reads = self.read_at.get(&(site, thread))?;
        let after = reads.partition_point(|(at, _)| *at < index);
        let near = &reads[after.saturating_sub(1)..reads.len().min(after + 1)];
        near.iter().min_by_key(|(at, _)| at.abs_diff(index)).map(|(_, value)| *value)
    }

    fn index_reads(&mut self) {
        for read in self.granules.iter().flat_map(|g| &g.reads) {
            let Point { site, stamp, cell, .. } = read.point;
            self.read_at.entry((site, stamp.thread)).or_default().push((stamp.index, cell.value));
        }
        self.read_at.values_mut().for_each(|reads| reads.sort_unstable());
    }

    fn pass(&mut self, index: usize, e: &TraceEvent, waits: &dyn Fn(u32) -> bool) {
        match e.what {
            What::Read(cell) => {
                let point = self.point(index, e, cell);
                self.read(point, false);
                self.hand_over(&point, waits);
            }
            What::Write { cell, before, reads } => {
                let point = self.point(index, e, cell);
                if reads && let Some(value) = before {
                    self.read(Point { cell: Cell { value, ..cell }, ..point }, true);
                }
                self.write(point, before);
                self.spinning.remove(&e.thread);
            }
            What::Free { from, to } => {
                let nothing = Cell { address: from, size: 1, value: 0, atomic: false };
                let point = self.point(index, e, nothing);
                self.free(from, to, point);
            }
            _ => {
                self.held.pass(index, e);
                self.order.pass(e);
                self.use_lock(index, e);
            }
        }
    }

    /// An operation on a lock accesses its memory, which may be freed too early like any other.
    fn use_lock(&mut self, index: usize, e: &TraceEvent) {
        let (What::Acquire { lock: address, .. }
        | What::Release { lock: address }
        | What::Post { semaphore: address }
        | What::Wait { semaphore: address }) = e.what
        else {
            return;
        };
        let point = self.point(index, e, Cell { address, size: 1, value: 0, atomic: true });
        self.granule(&point).touch(point);
    }

    fn point(&mut self, index: usize, e: &TraceEvent, cell: Cell) -> Point {
        let stamp = self.order.stamp(e.thread, index as u32);
        Point { stamp, site: e.site, cell, sections: self.held.now(e.thread) }
    }

    fn granule(&mut self, point: &Point) -> &mut Granule {
        let at = self.place(point);
        &mut self.granules[at]
    }

    /// The index of the granule that `point` touches.
    fn place(&mut self, point: &Point) -> usize {
        let address = point.cell.address & !7;
        let next = self.granules.len();
        let at = *self.live.entry(address).or_insert(next);
        if at == next {
            self.granules.push(Granule::default());
            self.at.entry(address).or_default().push(at as u32);
        }
        let granule = &mut self.granules[at];
        if !granule.threads.contains(&point.thread()) {
            granule.threads.push(point.thread());
        }
        at
    }

    fn read(&mut self, point: Point, updates: bool) {
        let granule = self.granule(&point);
        let from = granule.last.filter(|w| w.overlaps(&point));
        if from.is_none() && granule.initial_for(&point.cell).is_none() && granule.last.is_none() {
            granule.initial.push(point.cell);
        }
        granule.follow(point, false);
        let own = granule.own.iter().map(|(p, _)| *p).find(|p| p.thread() == point.thread());
        let read = Read { point, from, own, updates, next_own: None };
        let from_site = |r: &Read| r.from.map(|w| w.site);
        let same = |r: &Read| r.point.site == point.site && r.point.thread() == point.thread();
        let alike =
            |r: &Read| same(r) && r.point.cell.value == point.cell.value && from_site(r) == from_site(&read);
        let full = granule.reads.iter().filter(|r| alike(r)).count() >= ALIKE
            || granule.reads.iter().filter(|r| same(r)).count() >= OF_A_PLACE;
        match granule.reads.iter_mut().rev().find(|r| full && alike(r)) {
            Some(last) => *last = read,
            None if full => {}
            None => granule.reads.push(read),
        }
    }

    fn write(&mut self, point: Point, before: Option<u64>) {
        let at = self.place(&point);
        let granule = &mut self.granules[at];
        if granule.last.is_none()
            && let Some(value) = before
            && granule.initial_for(&point.cell).is_none()
        {
            granule.initial.push(Cell { value, ..point.cell });
        }
        let earlier = granule.own.iter().position(|(p, _)| p.thread() == point.thread());
        if let Some(i) = earlier {
            let (own, kept) = granule.own[i];
            let hidden: Vec<u64> =
                self.held.common(own.sections, point.sections).map(|section| section.lock).collect();
            if let Some(write) = kept.and_then(|k| granule.writes.get_mut(k))
                && write.point == own
                && own.overlaps(&point)
            {
                write.hidden_under = hidden;
            }
        }
        for read in granule.reads.iter_mut().filter(|r| r.point.thread() == point.thread()) {
            read.next_own.get_or_insert(point);
        }
        granule.follow(point, true);
        let kept = keep(granule, point);
        match earlier {
            Some(i) => granule.own[i] = (point, kept),
            None => granule.own.push((point, kept)),
        }
        granule.last = Some(point);
    }

    fn free(&mut self, from: u64, to: u64, point: Point) {
        const MOST: u64 = 1 << 24;
        for address in (from & !7..to.min(from + MOST)).step_by(8) {
            if let Some(at) = self.live.remove(&address) {
                let granule = &mut self.granules[at];
                granule.freed = Some(point);
                if !granule.threads.contains(&point.thread()) {
                    granule.threads.push(point.thread());
                }
            }
        }
        self.freed.add(from, to);
    }

    /// A loop that waits for a value and gets it from another thread orders the two (section 7.2).
    fn hand_over(&mut self, point: &Point, waits: &dyn Fn(u32) -> bool) {
        let (site, Cell { address, value, .. }) = (point.site, point.cell);
        let before = self.spinning.insert(point.thread(), Spin { site, address, value });
        let spun = before.is_some_and(|s| (s.site, s.address) == (site, address) && s.value != value);
        if !(spun || waits(site)) || self.flags_as_locks.contains(&address) {
            return;
        }
        let from = self.live.get(&(address & !7)).and_then(|at| self.granules[*at].last);
        if let Some(from) = from.filter(|w| w.thread() != point.thread() && w.overlaps(point)) {
            self.order.handed_over(from.stamp, point.thread());
        }
    }
}

/// Keeps a write with those of its granule, if there is room for one like it. Returns its index.
fn keep(granule: &mut Granule, point: Point) -> Option<usize> {
    let same = |w: &Write| w.point.site == point.site && w.point.thread() == point.thread();
    let alike = |w: &Write| same(w) && w.point.cell.value == point.cell.value;
    let full = granule.writes.iter().filter(|w| alike(w)).count() >= ALIKE
        || granule.writes.iter().filter(|w| same(w)).count() >= OF_A_PLACE;
    let write = Write { point, hidden_under: Vec::new() };
    if !full {
        granule.writes.push(write);
        return Some(granule.writes.len() - 1);
    }
    let last = granule.writes.iter().rposition(same)?;
    granule.writes[last] = write;
    Some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(address: u64, value: u64) -> Cell {
        Cell { address, size: 4, value, atomic: false }
    }

    fn read(thread: u16, site: u32, address: u64, value: u64) -> TraceEvent {
        TraceEvent { thread, site, what: What::Read(cell(address, value)) }
    }

    fn write(thread: u16, site: u32, address: u64, value: u64) -> TraceEvent {
        let what = What::Write { cell: cell(address, value), before: Some(0), reads: false };
        TraceEvent { thread, site, what }
    }

    fn history(events: &[TraceEvent]) -> History {
        History::of(events, &|_| false)
    }

    /// The first granule at an address.
    fn granule(h: &History, address: u64) -> &Granule {
        &h.granules[h.at[&address][0] as usize]
    }

    #[test]
    fn a_read_knows_what_it_read() {
        let h = history(&[read(1, 1, 8, 0), write(2, 2, 8, 5), read(1, 3, 8, 5), write(1, 4, 12, 9)]);
        let g = &h.granules[0];
        assert!(g.is_shared() && g.reads[0].from.is_none());
        assert_eq!(g.reads[1].from.unwrap().site, 2);
        assert_eq!(g.initial_for(&cell(8, 1)), Some(0));
        assert_eq!(g.reads[1].next_own.unwrap().site, 4);
    }

    #[test]
    fn many_alike_take_little_room_and_the_last_is_kept() {
        let mut events = Vec::new();
        for i in 0..1000 {
            events.push(write(1, 1, 8, i));
            events.push(read(2, 2, 8, i));
            events.push(read(2, 3, 8, 7));
        }
        let h = history(&events);
        let g = &h.granules[0];
        assert!(g.writes.len() <= OF_A_PLACE && g.reads.len() <= 2 * OF_A_PLACE);
        assert_eq!(g.writes.last().unwrap().point.cell.value, 999);
        assert_eq!(g.reads.iter().filter(|r| r.point.site == 3).count(), ALIKE);
    }

    #[test]
    fn freed_memory_is_something_else_when_it_is_used_again() {
        let free = TraceEvent { thread: 1, site: 0, what: What::Free { from: 8, to: 16 } };
        let h = history(&[write(1, 1, 8, 1), free, write(2, 2, 8, 2), read(1, 3, 8, 2)]);
        assert_eq!(h.granules.len(), 2);
        assert!(!h.granules[0].is_shared() && h.granules[1].is_shared());
        assert!(h.granules[0].freed.is_some() && h.granules[1].freed.is_none());
        assert!(h.was_freed(8) && h.was_freed(15) && !h.was_freed(16) && !h.was_freed(7));
        assert!(h.was_freed_from(8) && !h.was_freed_from(9));
        assert_eq!(h.sites_at(12).collect::<Vec<u32>>(), [1, 3, 2], "of both blocks");
    }

    #[test]
    fn what_is_inside_of_a_freed_block_is_found_whatever_else_was_freed() {
        let blocks = [(64, 96), (8, 16), (80, 84), (96, 104), (0, 0), (16, 24), (8, 12)];
        let free = |(from, to)| TraceEvent { thread: 1, site: 0, what: What::Free { from, to } };
        let h = history(&blocks.map(free));
        for address in 0..120 {
            let inside = blocks.iter().any(|(from, to)| (*from..*to).contains(&address));
            assert_eq!(h.was_freed(address), inside, "{address}");
            assert_eq!(h.was_freed_from(address), blocks.iter().any(|(from, _)| *from == address));
        }
    }

    #[test]
    fn a_write_that_is_overwritten_under_the_lock_is_hidden() {
        let take = |thread| TraceEvent { thread, site: 0, what: What::Acquire { lock: 64, shared: false } };
        let give = |thread| TraceEvent { thread, site: 0, what: What::Release { lock: 64 } };
        let events =
            [take(1), write(1, 1, 8, 1), write(1, 2, 8, 2), give(1), take(1), write(1, 3, 8, 3), give(1)];
        let h = history(&events);
        let data = granule(&h, 8);
        let hidden: Vec<&[u64]> = data.writes.iter().map(|w| w.hidden_under.as_slice()).collect();
        assert_eq!(hidden, [&[64][..], &[], &[]]);
    }

    #[test]
    fn parts_of_a_word_have_their_own_values() {
        let wide = Point {
            cell: Cell { address: 8, size: 8, value: 0x0000_0007_0000_0003, atomic: false },
            ..point()
        };
        assert_eq!(wide.value_for(&cell(8, 0)), Some(3));
        assert_eq!(wide.value_for(&cell(12, 0)), Some(7));
        let narrow = Point { cell: cell(8, 3), ..point() };
        assert_eq!(narrow.value_for(&wide.cell), None);
        assert!(narrow.overlaps(&wide));
    }

    fn point() -> Point {
        Point { stamp: HappensBefore::default().stamp(1, 0), site: 0, cell: cell(8, 0), sections: 0 }
    }

    #[test]
    fn a_loop_that_waits_orders_what_it_waited_for() {
        let events =
            [write(1, 1, 64, 5), read(2, 3, 8, 0), write(1, 2, 8, 1), read(2, 3, 8, 1), read(2, 4, 64, 5)];
        let h = history(&events);
        let data = granule(&h, 64);
        assert!(h.order.before(data.writes[0].point.stamp, data.reads[0].point.stamp));
        // A value read only once is an ordinary read, unless the program's code says otherwise.
        let short = [events[0], events[2], events[3], events[4]];
        let ordered = |h: &History| {
            let data = granule(h, 64);
            h.order.before(data.writes[0].point.stamp, data.reads[0].point.stamp)
        };
        assert!(!ordered(&history(&short)));
        assert!(ordered(&History::of(&short, &|site| site == 3)));
    }

    #[test]
    fn a_flag_that_only_those_set_who_have_waited_for_it_is_a_lock() {
        // Each takes its ticket, waits until it is its turn, and lets the next one in.
        let turn = |t, own: u64| {
            [read(t, 3, 8, own), write(t, 1, 64, own + 5), read(t, 4, 64, own + 5), write(t, 2, 8, own + 1)]
        };
        let ordered = |events: &[TraceEvent]| {
            let h = History::of(events, &|site| site == 3);
            let data = granule(&h, 64);
            h.order.before(data.writes[0].point.stamp, data.reads[1].point.stamp)
        };
        let both = [turn(1, 0), turn(2, 1)].concat();
        assert!(!ordered(&both), "who is first is not the same in each run");
        // Somebody who has not waited starts it all.
        let started = [vec![write(1, 9, 8, 0)], both].concat();
        assert!(ordered(&started));
    }
}
