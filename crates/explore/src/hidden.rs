//! Hidden races: pairs of conflicting accesses, not both scheduling points, that no scheduling
//! points order.
//!
//! # Why
//! A search is complete if every execution of the program, at the granularity of single accesses,
//! is equivalent to one that the search has made. The search switches threads only at scheduling
//! points, and any other access runs together with the step before it. Section 3.5 of the CHESS
//! paper argues why that is enough: if, in every execution that the search made, points order all
//! conflicting accesses that are not points, then no other order of them exists. (Take the shortest
//! execution with a hidden race. Without its last access it has none, so it is equivalent to the
//! beginning of an execution that the search made, and in that one the race shows.)
//!
//! So this detector runs in every execution of a search that may claim to be complete. When it sees
//! a hidden race, the race's two sites become points, and the search begins anew.
//!
//! # The order
//! It is exactly the order that the search itself uses: program order, and the order of
//! [dependent](crate::op::dependent) steps. Other synchronisation (an atomic operation that is no
//! step, an annotation) orders nothing here: the search does not try the opposite order, so it must
//! not be relied on. [`crate::races`] answers another question, the data races of the language, and
//! uses another order.
//!
//! Each thread counts its steps. Others see what it accesses between step `k` and the next only
//! through step `k + 1`; they see the access that a step itself makes through step `k`. A vector
//! clock says which steps of others come before.
//!
//! # Forgetting
//! Storage is fixed. If something had to be forgotten, [`HiddenRaces::forgot`] says so, and nothing
//! may be claimed. An access can be dropped without loss if a later one represents it: ordered
//! after it, to at least as many bytes, conflicting with as much. Whatever is not ordered with the
//! earlier one is not ordered with the later one either.
//!
//! # The state
//! A search that recognises states ([`crate::strategy::States`]) must recognise the detector's too:
//! two executions may reach the same memory, and a race may follow one of them only.
//! [`HiddenRaces::add_state`] adds to a key what later detections depend on. The numbers of steps
//! differ from path to path and are left out. What counts is, for each access that is kept, *which
//! clocks cover it*: those of the threads, of the objects, and of the last step that depends on
//! everything. This is enough. A step joins clocks, and a join covers what one of its parts covers;
//! it counts its thread's steps on, after which the thread's own accesses are covered by its own
//! clock; and a new access is compared with the cover of the old ones. So what the detector says
//! next is a function of these relations, and so are the relations after it. An access is left out
//! if the clock of every thread that may still run covers it: it cannot race, since threads that
//! start later come after one of these.

use crate::clock::{Clock, THREADS};
use crate::op::{Class, Op, OpKind};
use crate::state_key::{KeyHash, SetHash};

/// The accesses kept for a granule: reads of at least this many threads.
const KEPT: usize = 16;
const SETS: usize = 1 << 12;
const WAYS: usize = 8;
const OBJECTS: usize = 1 << 12;

const _: () = assert!(THREADS <= 64 && SETS * WAYS <= 1 << 16 && OBJECTS <= 1 << 16);

/// An access within one granule of 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Touch {
    /// The program counter.
    pub pc: u64,
    /// Others know of it if they know of this step of its thread.
    since: u32,
    thread: u16,
    /// One bit for each byte of the granule.
    bytes: u8,
    flags: u8,
}

const WRITES: u8 = 1;
const ATOMIC: u8 = 2;
const STEP: u8 = 4;
const FREES: u8 = 8;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// An atomic operation that changes nothing.
    AtomicRead,
    /// An atomic operation that may change something.
    AtomicWrite,
    /// The block that contains the bytes is freed.
    Free,
}

impl Touch {
    /// Whether the access was a separate step.
    pub fn is_step(&self) -> bool {
        self.flags & STEP != 0
    }

    /// Two atomic accesses never conflict.
    pub fn is_atomic(&self) -> bool {
        self.flags & ATOMIC != 0
    }

    fn conflicts(&self, other: &Touch) -> bool {
        let both = self.flags & other.flags;
        // Atomic operations that are no steps belong to the standard library, and commute. A free
        // and any other step are dependent, anywhere in the block.
        let excused = both & ATOMIC != 0 || both & STEP != 0 && (self.flags | other.flags) & FREES != 0;
        self.thread != other.thread
            && self.bytes & other.bytes != 0
            && (self.flags | other.flags) & WRITES != 0
            && !excused
    }

    /// True if everything that conflicts with `other` conflicts with this too.
    fn stands_for(&self, other: &Touch) -> bool {
        other.bytes & !self.bytes == 0
            && (self.flags & WRITES != 0 || other.flags & WRITES == 0)
            && (other.is_atomic() || !self.is_atomic())
            && (other.is_step() || !self.is_step())
    }
}

/// The accesses to one granule.
#[derive(Clone, Copy)]
struct Cell {
    used: usize,
    kept: [Touch; KEPT],
}

/// Cells that share a hash. Their granules are stored together at the front, so that a search
/// touches little memory.
#[derive(Clone, Copy)]
struct Set {
    granules: [u64; WAYS],
    /// The executions in which the cells are in use.
    executions: [u32; WAYS],
    cells: [Cell; WAYS],
}

#[derive(Clone, Copy)]
struct Object {
    key: u64,
    execution: u32,
    written: Clock,
    read: Clock,
}

/// The accesses and steps of one execution. All zero is the state before the first
/// [`HiddenRaces::reset`].
pub struct HiddenRaces {
    execution: u32,
    forgot: bool,
    /// The number of threads that have made a step.
    count: usize,
    clocks: [Clock; THREADS],
    /// All steps so far, and those before the last step that depends on everything.
    all: Clock,
    global: Clock,
    objects_used: usize,
    /// Where the objects are that are in use.
    object_list: [u16; OBJECTS],
    objects: [Object; OBJECTS],
    /// The sets and ways of the cells in use.
    cells_used: usize,
    cell_list: [u16; SETS * WAYS],
    sets: [Set; SETS],
}

/// A thread that may make further steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Live {
    /// It has made its first step.
    Begun(usize),
    /// It has been created and will make its first step, which is one on the object with its
    /// number.
    Created(usize),
}

impl HiddenRaces {
    /// A new execution begins. The cost is proportional to the number of threads.
    pub fn reset(&mut self) {
        if self.execution == u32::MAX {
            // Tags of the first executions must not recur.
            self.sets.iter_mut().for_each(|s| s.executions = [0; WAYS]);
            self.objects.iter_mut().for_each(|o| o.execution = 0);
            self.execution = 0;
        }
        self.execution += 1;
        self.clocks[..self.count].iter_mut().for_each(Clock::clear);
        (self.forgot, self.count, self.objects_used, self.cells_used) = (false, 0, 0, 0);
        self.all.clear();
        self.global.clear();
    }

    /// True if there was not enough room: races of this execution may have been missed.
    pub fn forgot(&self) -> bool {
        self.forgot
    }

    /// The thread makes this step.
    pub fn step(&mut self, thread: usize, op: &Op) {
        if !self.knows(thread) {
            return;
        }
        let now = &mut self.clocks[thread];
        let count = now.tick(thread);
        now.join(&self.global);
        self.all.raise(thread, count);
        match op.class() {
            Class::Local => {}
            Class::Global => {
                now.join(&self.all);
                self.global.assign(now);
            }
            // It depends on all accesses within the block, and they on it: see `Touch::conflicts`.
            _ if op.kind() == OpKind::Free => {}
            class => {
                for key in op.keys().into_iter().filter(|k| *k != 0) {
                    self.meet(key, class == Class::Writes, thread);
                }
            }
        }
    }

    fn meet(&mut self, key: u64, writes: bool, thread: usize) {
        let Some(at) = self.object(key) else {
            self.forgot = true;
            return;
        };
        let (now, object) = (&mut self.clocks[thread], &mut self.objects[at]);
        now.join(&object.written);
        if writes {
            now.join(&object.read);
            object.written.join(now);
        } else {
            object.read.join(now);
        }
    }

    fn object(&mut self, key: u64) -> Option<usize> {
        let start = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        for at in (start..start + OBJECTS).map(|i| i % OBJECTS) {
            let object = &mut self.objects[at];
            if object.execution != self.execution {
                if self.objects_used >= OBJECTS / 4 * 3 {
                    return None;
                }
                self.object_list[self.objects_used] = at as u16;
                self.objects_used += 1;
                (object.key, object.execution) = (key, self.execution);
                object.written.clear();
                object.read.clear();
                return Some(at);
            }
            if object.key == key {
                return Some(at);
            }
        }
        None
    }

    /// The thread accesses bytes of a granule, in a separate step or together with the last one.
    /// Returns an earlier access that nothing orders before this one, and this one.
    #[inline]
    pub fn access(
        &mut self,
        thread: usize,
        granule: u64,
        bytes: u8,
        (act, step): (Act, bool),
        pc: u64,
    ) -> Option<[Touch; 2]> {
        if !self.knows(thread) {
            return None;
        }
        let new = self.touch(thread, bytes, (act, step), pc);
        let now = &self.clocks[thread];
        let number = set_of(granule);
        let set = &mut self.sets[number];
        let cell = match set.find(granule, self.execution) {
            Some(at) => &mut set.cells[at],
            // A later access is detected because the memory is freed.
            None if act == Act::Free => return None,
            None => match set.take(granule, self.execution) {
                Some(at) => {
                    self.cell_list[self.cells_used] = (number * WAYS + at) as u16;
                    self.cells_used += 1;
                    &mut set.cells[at]
                }
                None => {
                    self.forgot = true;
                    return None;
                }
            },
        };
        let kept = &cell.kept[..cell.used];
        if kept.iter().any(|old| (old.thread, old.since) == (new.thread, new.since) && old.stands_for(&new)) {
            return None;
        }
        let unordered = |old: &&Touch| !now.covers(old.thread as usize, old.since);
        let race = kept.iter().filter(|old| old.conflicts(&new)).find(unordered).copied();
        self.forgot |= !cell.keep(new, now);
        race.map(|old| [old, new])
    }

    /// The number of granules that it has room for.
    pub const ROOM: usize = SETS * WAYS;

    /// The granule at one of [`ROOM`](Self::ROOM) positions, if it was accessed in this execution.
    pub fn granule(&self, place: usize) -> Option<u64> {
        let (set, way) = (&self.sets[place / WAYS], place % WAYS);
        (set.executions[way] == self.execution).then_some(set.granules[way])
    }

    /// Memory from `low` to `high` is unmapped: what is mapped there later is other memory.
    pub fn forget(&mut self, low: u64, high: u64) {
        for set in &mut self.sets {
            for (granule, cell) in set.granules.iter().zip(&mut set.cells) {
                if (low..high).contains(granule) {
                    cell.used = 0;
                }
            }
        }
    }

    /// Adds the detector's state to a key; see the module. `live` are the threads that have not
    /// ended.
    pub fn add_state(&self, live: impl Iterator<Item = Live> + Clone, key: &mut KeyHash) {
        let mut all = SetHash::default();
        for place in self.cell_list[..self.cells_used].iter().map(|p| *p as usize) {
            let set = &self.sets[place / WAYS];
            let cell = &set.cells[place % WAYS];
            for touch in &cell.kept[..cell.used] {
                let covers = |clock: &Clock| clock.covers(touch.thread as usize, touch.since);
                let is_past = live.clone().all(|t| match t {
                    Live::Begun(t) => covers(&self.clocks[t]),
                    Live::Created(t) => self.known_object(t as u64).is_some_and(|o| covers(&o.written)),
                });
                if !is_past {
                    all.add(self.relations(set.granules[place % WAYS], touch));
                }
            }
        }
        all.into(key);
    }

    fn relations(&self, granule: u64, touch: &Touch) -> KeyHash {
        let mut one = KeyHash::new(granule);
        one.add(touch.pc);
        one.add(u64::from(touch.thread) << 16 | u64::from(touch.bytes) << 8 | u64::from(touch.flags));
        // Whether it comes before, with or after the last step of its thread.
        let behind = self.clocks[touch.thread as usize].next(touch.thread as usize) - touch.since;
        one.add(u64::from(behind.min(2)));
        let covers = |clock: &Clock| clock.covers(touch.thread as usize, touch.since);
        let threads = self.clocks[..self.count].iter().enumerate();
        one.add(threads.fold(0, |set, (t, clock)| set | u64::from(covers(clock)) << t));
        one.add(u64::from(covers(&self.global)));
        let mut objects = SetHash::default();
        for object in self.object_list[..self.objects_used].iter().map(|o| &self.objects[*o as usize]) {
            let (written, read) = (covers(&object.written), covers(&object.read));
            if written || read {
                let mut holder = KeyHash::new(object.key);
                holder.add(u64::from(written) << 1 | u64::from(read));
                objects.add(holder);
            }
        }
        objects.into(&mut one);
        one
    }

    fn known_object(&self, key: u64) -> Option<&Object> {
        let used = self.object_list[..self.objects_used].iter();
        used.map(|o| &self.objects[*o as usize]).find(|o| o.key == key)
    }

    fn touch(&self, thread: usize, bytes: u8, (act, step): (Act, bool), pc: u64) -> Touch {
        let kind = match act {
            Act::Read => 0,
            Act::Write => WRITES,
            Act::AtomicRead => ATOMIC,
            Act::AtomicWrite => ATOMIC | WRITES,
            Act::Free => WRITES | FREES,
        };
        let next = self.clocks[thread].next(thread);
        let since = if step { next - 1 } else { next };
        let flags = kind | if step { STEP } else { 0 };
        Touch { pc, since, thread: thread as u16, bytes, flags }
    }

    #[inline]
    fn knows(&mut self, thread: usize) -> bool {
        if thread >= THREADS {
            self.forgot = true;
            return false;
        }
        self.count = self.count.max(thread + 1);
        true
    }
}

/// Neighbours are adjacent, but the same offsets of different stacks and arenas are not in one set.
fn set_of(granule: u64) -> usize {
    ((granule >> 3) as usize).wrapping_add((granule >> 18).wrapping_mul(0x9e37_79b9) as usize >> 4) % SETS
}

impl Set {
    fn find(&self, granule: u64, execution: u32) -> Option<usize> {
        (0..WAYS).find(|i| self.granules[*i] == granule && self.executions[*i] == execution)
    }

    /// An empty cell for a granule that has none.
    fn take(&mut self, granule: u64, execution: u32) -> Option<usize> {
        let at = (0..WAYS).find(|i| self.executions[*i] != execution)?;
        (self.granules[at], self.executions[at], self.cells[at].used) = (granule, execution, 0);
        Some(at)
    }
}

impl Cell {
    /// Keeps an access, in place of those that it represents. False if there was no room.
    fn keep(&mut self, new: Touch, now: &Clock) -> bool {
        let before = |old: &Touch| old.thread == new.thread || now.covers(old.thread as usize, old.since);
        let mut n = 0;
        for i in 0..self.used {
            let old = self.kept[i];
            if !(before(&old) && new.stands_for(&old)) {
                self.kept[n] = old;
                n += 1;
            }
        }
        self.used = n;
        if n == KEPT {
            return false;
        }
        self.kept[n] = new;
        self.used += 1;
        true
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    fn detector() -> Box<HiddenRaces> {
        // It would be too large for the stack in a debug build; there is no unsafe code here.
        let empty = Object { key: 0, execution: 0, written: Clock::EMPTY, read: Clock::EMPTY };
        let set = Set {
            granules: [0; WAYS],
            executions: [0; WAYS],
            cells: [Cell { used: 0, kept: [Touch::default(); KEPT] }; WAYS],
        };
        let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(move || {
            let mut detector = Box::new(HiddenRaces {
                execution: 0,
                forgot: false,
                count: 0,
                clocks: [Clock::EMPTY; THREADS],
                all: Clock::EMPTY,
                global: Clock::EMPTY,
                objects_used: 0,
                object_list: [0; OBJECTS],
                objects: [empty; OBJECTS],
                cells_used: 0,
                cell_list: [0; SETS * WAYS],
                sets: [set; SETS],
            });
            detector.reset();
            detector
        });
        thread.unwrap().join().unwrap()
    }

    const WRITE: (Act, bool) = (Act::Write, false);
    const READ: (Act, bool) = (Act::Read, false);

    fn lock(d: &mut HiddenRaces, t: usize) {
        d.step(t, &Op::new(OpKind::Lock, 0x100, 1));
    }

    fn unlock(d: &mut HiddenRaces, t: usize) {
        d.step(t, &Op::new(OpKind::Unlock, 0x100, 2));
    }

    #[test]
    fn steps_on_one_object_order_and_others_do_not() {
        let mut d = detector();
        lock(&mut d, 1);
        assert_eq!(d.access(1, 8, 0xff, WRITE, 10), None);
        unlock(&mut d, 1);
        lock(&mut d, 2);
        assert_eq!(d.access(2, 8, 0xff, WRITE, 20), None);
        d.step(3, &Op::new(OpKind::Lock, 0x200, 3));
        let pair = d.access(3, 8, 0x0f, READ, 30).unwrap();
        assert_eq!(pair.map(|a| a.pc), [20, 30]);
    }

    #[test]
    fn what_follows_the_last_release_is_not_ordered() {
        let mut d = detector();
        lock(&mut d, 1);
        unlock(&mut d, 1);
        assert_eq!(d.access(1, 8, 0xff, WRITE, 10), None);
        lock(&mut d, 2);
        assert!(d.access(2, 8, 0xff, READ, 20).is_some());
    }

    #[test]
    fn bytes_tell_variables_of_one_granule_apart() {
        let mut d = detector();
        d.step(1, &Op::new(OpKind::Start, 1, 1));
        d.step(2, &Op::new(OpKind::Start, 2, 1));
        assert_eq!(d.access(1, 8, 0x0f, WRITE, 10), None);
        assert_eq!(d.access(2, 8, 0xf0, WRITE, 20), None);
        assert!(d.access(2, 8, 0x18, READ, 30).is_some());
    }

    #[test]
    fn an_access_that_is_a_step_orders_itself_and_not_what_follows() {
        let mut d = detector();
        d.step(1, &Op::new(OpKind::DataWrite, 8, 1));
        assert_eq!(d.access(1, 8, 0xff, (Act::Write, true), 10), None);
        assert_eq!(d.access(1, 8, 0xff, WRITE, 11), None);
        d.step(2, &Op::new(OpKind::DataRead, 8, 2));
        let pair = d.access(2, 8, 0xff, (Act::Read, true), 20).unwrap();
        assert_eq!(pair.map(|a| (a.pc, a.is_step())), [(11, false), (20, true)]);
    }

    #[test]
    fn a_free_and_an_access_that_is_no_step() {
        let mut d = detector();
        d.step(1, &Op::new(OpKind::Start, 1, 1));
        assert_eq!(d.access(1, 8, 0xff, READ, 10), None);
        d.step(2, &Op::new(OpKind::Free, 8, 2).with_other(24));
        assert!(d.access(2, 8, 0xff, (Act::Free, true), 20).is_some());
        assert_eq!(d.access(2, 16, 0xff, (Act::Free, true), 20), None);
    }

    #[test]
    fn more_than_there_is_room_for_is_told() {
        let mut d = detector();
        for granule in 0..(SETS * WAYS) as u64 {
            d.access(1, granule * 8, 0xff, READ, 10);
        }
        assert!(!d.forgot());
        d.access(1, (SETS * WAYS) as u64 * 8, 0xff, READ, 10);
        assert!(d.forgot());
        d.reset();
        assert!(!d.forgot());
        d.step(THREADS, &Op::new(OpKind::Start, 99, 1));
        assert!(d.forgot());
    }
}
