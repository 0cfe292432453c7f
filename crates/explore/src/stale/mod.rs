//! Stale values, as C11 allows them: what else a load could have read.
//!
//! After C11Tester (Luo, Demsky, *C11Tester: A Race Detector for C/C++ Atomics*, ASPLOS 2021) and
//! loom. Threads run one at a time, and memory holds the newest values. In addition, the model
//! keeps the last stores to each atomic object. A load may read any of them that the rules below do
//! not forbid, and which one is a choice like that of the next thread. So an execution is an
//! interleaving with older values at some loads: enough to show what a missing acquire or release
//! does.
//!
//! The rules, as in C++20 (C11 with the repairs of P0668), with *clocks* for happens-before:
//!
//! - **Coherence.** A load reads no store older than one that happened before it, or than one that
//!   was read by something that happened before it. Each store has the event that made it and, by
//!   thread, the first event that read it. Going back from the newest store, the first one with
//!   such an event in the thread's clock is the last that may be read.
//! - **Release and acquire.** A release store carries its thread's clock; an acquire load that
//!   reads it joins that clock. A relaxed store carries the clock of its thread's last release
//!   fence; what a relaxed load reads is kept for the next acquire fence. A read-modify-write
//!   passes on what the store it reads carried: the release sequence.
//! - **seq_cst.** The order of the execution is the total order S. An operation of S reads nothing
//!   older than what an earlier one of S has written or read in the same object. A fence of S
//!   orders both sides: everything that happened before a fence is seen after a later fence and by
//!   later loads of S, and what S has written or read before a fence is seen after it. For the
//!   values of atomics this is the same as if fences synchronised with each other, since the only
//!   use of a clock here is to say which stores can be read.
//! - **Read-modify-writes** read the newest store: nothing may come between.
//! - **Other synchronisation** ([`Model::acquire`], [`Model::release`], [`Model::create`],
//!   [`Model::join`]) joins clocks as well.
//!
//! Every execution of the model is one that C++20 allows (except for deviations 2 and 3, which only
//! leave some out). Tests on random programs check that the stores a load may read are exactly
//! those that the axioms allow, for the modification order and S of the execution.
//!
//! Deviations. All of them leave out behaviours; none adds one.
//! 1. Modification order is the order of the execution, and a load reads from stores that came
//!    before it. So load buffering and the weak outcome of 2+2W are never seen. C11Tester covers
//!    more of the second, with a graph of constraints.
//! 2. A compare-and-exchange that fails reads the newest value too.
//! 3. The last [`HISTORY`] stores of each object are kept. A thread reads something older than the
//!    newest at most [`PATIENCE`] times in a row, so that loops that wait for a value end: the
//!    standard asks that stores become visible in a reasonable time.
//! 4. `consume` is `acquire`, as in every compiler.
//! 5. Objects that are accessed in more than one size, or for which there is no room, are not
//!    modelled: loads read the current value, and every access synchronises with every other. The
//!    same holds for locks and the like for which there is no room, which count as one. With more
//!    than [`THREADS`] threads only the newest value is read.
//! 6. A plain write begins an object anew: see [`Model::forget`]. So does an unseen write by
//!    uninstrumented code; since it may have been a release, it carries what all threads have done.
//! 7. Two seq_cst loads count as independent in the search, but the value of a store that is not
//!    seq_cst, once read by one, binds the other; the opposite order may be left out. Acquire and
//!    release fences concern only their own thread and are not separate steps.

mod location;
mod table;

use crate::clock::Clock;
use crate::state_key::{KeyHash, SetHash};
use location::{AtomicLocation, AtomicStore};
use table::KeyTable;

pub use crate::clock::THREADS;

/// The number of stores kept for an object.
pub const HISTORY: usize = 8;
/// The maximum number of stale reads in a row.
pub const PATIENCE: u8 = 3;

const LOCATIONS: usize = 512;
const OBJECTS: usize = 512;
const FILTER: usize = 64;
/// Objects that are not modelled synchronise by blocks of 16 bytes: no access spans two.
const BLOCK: u64 = 1 << 62;

/// The memory orders of C11, without consume (deviation 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicOrder {
    /// Orders nothing.
    Relaxed,
    /// Synchronises with the release that is read.
    Acquire,
    /// Carries what the thread did before.
    Release,
    /// Acquires and releases.
    AcqRel,
    /// Acquires and releases, and has a place in S.
    SeqCst,
}

impl AtomicOrder {
    /// By the numbers of the compilers' `__ATOMIC_*`, which may have hints in higher bits.
    pub fn from_number(n: i32) -> AtomicOrder {
        match n & 7 {
            0 => AtomicOrder::Relaxed,
            1 | 2 => AtomicOrder::Acquire,
            3 => AtomicOrder::Release,
            4 => AtomicOrder::AcqRel,
            _ => AtomicOrder::SeqCst,
        }
    }

    /// Whether a load or a fence of this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, AtomicOrder::Acquire | AtomicOrder::AcqRel | AtomicOrder::SeqCst)
    }

    /// Whether a store or a fence of this order releases.
    pub fn releases(self) -> bool {
        matches!(self, AtomicOrder::Release | AtomicOrder::AcqRel | AtomicOrder::SeqCst)
    }
}

/// An atomic object, and its value in memory before the operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicObject {
    /// Its address.
    pub address: u64,
    /// Its size in bytes, up to 16.
    pub size: u8,
    /// Zero beyond the size.
    pub value: u128,
}

#[derive(Clone, Copy)]
struct Thread {
    /// What has happened before its next event.
    now: Clock,
    /// What its relaxed loads have read; an acquire fence joins it.
    read: Clock,
    /// Its clock at the last release fence, which relaxed stores carry.
    released: Clock,
}

impl Thread {
    const EMPTY: Thread = Thread { now: Clock::EMPTY, read: Clock::EMPTY, released: Clock::EMPTY };
}

/// The atomics of one execution. [`Model::reset`] begins each execution; all zero is equal to a
/// model that was reset.
pub struct Model {
    threads: [Thread; THREADS],
    /// The number of threads whose state may differ from [`Thread::EMPTY`].
    count: usize,
    /// There are too many threads: nothing is modelled any more.
    off: bool,
    /// The current time of S.
    time: u32,
    /// What has happened before some fence of S.
    fences: Clock,
    table: KeyTable<LOCATIONS>,
    /// A bit for each block of 16 bytes that may contain a location, by hash: most memory that is
    /// written has none.
    filter: [u64; FILTER],
    locations: [AtomicLocation; LOCATIONS],
    objects: KeyTable<OBJECTS>,
    clocks: [Clock; OBJECTS],
    /// The clock of all objects for which there was no room.
    rest: Clock,
    /// There was no room for some location: what was released at it is in `clocks` or `rest`.
    crowded: bool,
}

impl Model {
    /// No threads and no objects.
    pub const EMPTY: Model = Model {
        threads: [Thread::EMPTY; THREADS],
        count: 0,
        off: false,
        time: 0,
        fences: Clock::EMPTY,
        table: KeyTable::EMPTY,
        filter: [0; FILTER],
        locations: [AtomicLocation::EMPTY; LOCATIONS],
        objects: KeyTable::EMPTY,
        clocks: [Clock::EMPTY; OBJECTS],
        rest: Clock::EMPTY,
        crowded: false,
    };

    /// Forgets everything. The cost is proportional to what was used.
    pub fn reset(&mut self) {
        self.threads[..self.count].fill(Thread::EMPTY);
        (self.count, self.off, self.time, self.crowded) = (0, false, 0, false);
        (self.fences, self.rest) = (Clock::EMPTY, Clock::EMPTY);
        self.table.clear();
        self.filter.fill(0);
        self.objects.clear();
    }

    /// The number of stores that the load may read. 1: only the newest.
    pub fn candidates(&mut self, thread: usize, place: AtomicObject, order: AtomicOrder) -> usize {
        if !self.knows(thread) {
            return 1;
        }
        let Some(bucket) = self.locate(place) else { return 1 };
        let location = &self.locations[bucket];
        if location.mixed || location.stale[thread] >= PATIENCE {
            return 1;
        }
        location.readable(&self.threads[thread].now, &self.fences, order)
    }

    /// The thread loads the store `back` positions before the newest; `back` is below
    /// [`Model::candidates`].
    pub fn load(&mut self, thread: usize, place: AtomicObject, order: AtomicOrder, back: usize) -> u128 {
        if !self.knows(thread) {
            return place.value;
        }
        let Some(bucket) = self.modelled(thread, place) else { return place.value };
        self.read(thread, bucket, back, order);
        let location = &mut self.locations[bucket];
        location.stale[thread] = if back == 0 { 0 } else { location.stale[thread] + 1 };
        location.store(back).value
    }

    /// The thread stores `value`.
    pub fn store(&mut self, thread: usize, place: AtomicObject, order: AtomicOrder, value: u128) {
        if !self.knows(thread) {
            return;
        }
        if let Some(bucket) = self.modelled(thread, place) {
            self.write(thread, bucket, order, value, Clock::EMPTY);
        }
    }

    /// The thread reads the newest store and replaces it by `value`.
    pub fn rmw(&mut self, thread: usize, place: AtomicObject, order: AtomicOrder, value: u128) {
        if !self.knows(thread) {
            return;
        }
        if let Some(bucket) = self.modelled(thread, place) {
            self.read(thread, bucket, 0, order);
            let carried = self.locations[bucket].newest().sync;
            self.write(thread, bucket, order, value, carried);
        }
    }

    /// An acquire, release or seq_cst fence of the thread. A relaxed one does nothing.
    pub fn fence(&mut self, thread: usize, order: AtomicOrder) {
        if !self.knows(thread) {
            return;
        }
        let time = self.time + 1;
        let t = &mut self.threads[thread];
        if order.acquires() {
            t.now.join(&t.read);
        }
        if order == AtomicOrder::SeqCst {
            self.time = time;
            t.now.join(&self.fences);
            t.now.fenced = time;
            self.fences.join(&t.now);
        }
        if order.releases() {
            t.now.tick(thread);
            t.released = t.now;
        }
    }

    /// What has happened before the thread's next event. None if there are too many threads.
    ///
    /// If accesses are numbered with [`Clock::next`], [`Clock::covers`] tells whether one happened
    /// before another: everything that releases is a separate event.
    pub fn clock(&mut self, thread: usize) -> Option<&Clock> {
        self.knows(thread).then(|| &self.threads[thread].now)
    }

    /// Whether event `count` of `of` has happened before the next event of `thread`.
    pub fn has_happened(&self, thread: usize, of: usize, count: u32) -> bool {
        self.threads[thread].now.covers(of, count)
    }

    /// Whether clocks say everything: no object is without room, or accessed in several sizes.
    pub fn is_exact(&self) -> bool {
        let mixed = |bucket: usize| self.table.key(bucket).is_some() && self.locations[bucket].mixed;
        !self.off && !self.crowded && self.rest == Clock::EMPTY && !(0..LOCATIONS).any(mixed)
    }

    /// Adds to a key which clocks cover event `count` of `thread`, and what is known of atomics as
    /// far as it decides about later clocks. If only the newest values are read and the model
    /// [is exact](Model::is_exact), only the newest store of each object matters.
    pub fn add_relations(&self, thread: usize, count: u32, key: &mut KeyHash) {
        let covers = |clock: &Clock| clock.covers(thread, count);
        key.add(u64::from(self.threads[thread].now.next(thread) == count));
        for clocks in self.threads[..self.count].chunks(16) {
            let set = clocks.iter().fold(0, |set, t| {
                set << 3
                    | u64::from(covers(&t.now)) << 2
                    | u64::from(covers(&t.read)) << 1
                    | u64::from(covers(&t.released))
            });
            key.add(set);
        }
        key.add(u64::from(covers(&self.fences)));
        let mut holders = SetHash::default();
        for bucket in 0..OBJECTS {
            if let Some(object) = self.objects.key(bucket).filter(|_| covers(&self.clocks[bucket])) {
                holders.add(KeyHash::new(object));
            }
        }
        for bucket in 0..LOCATIONS {
            let newest = |b: usize| covers(&self.locations[b].newest().sync);
            if let Some(address) = self.table.key(bucket).filter(|_| newest(bucket)) {
                holders.add(KeyHash::new(!address));
            }
        }
        holders.into(key);
    }

    /// Adds to a key what was stored last in each atomic object: a value that is there unseen
    /// counts as stored by everybody.
    pub fn add_values(&self, key: &mut KeyHash) {
        let mut all = SetHash::default();
        for bucket in 0..LOCATIONS {
            if let Some(address) = self.table.key(bucket) {
                let (location, mut one) = (&self.locations[bucket], KeyHash::new(address));
                let value = location.newest().value;
                one.add(u64::from(location.size));
                one.add(value as u64);
                one.add((value >> 64) as u64);
                all.add(one);
            }
        }
        all.into(key);
    }

    /// What was released at the object happens before whatever the thread does next. 0 is no
    /// object.
    pub fn acquire(&mut self, thread: usize, object: u64) {
        if object == 0 || !self.knows(thread) {
            return;
        }
        let carried = self.carried(object);
        self.threads[thread].now.join(&carried);
    }

    /// What was released at the object.
    fn carried(&self, object: u64) -> Clock {
        self.objects.find(object).map_or(self.rest, |bucket| self.clocks[bucket])
    }

    /// What the thread has done happens before whoever acquires the object after this.
    pub fn release(&mut self, thread: usize, object: u64) {
        if object == 0 || !self.knows(thread) {
            return;
        }
        self.threads[thread].now.tick(thread);
        let now = self.threads[thread].now;
        self.object(object).join(&now);
    }

    /// The thread `parent` creates `child`.
    pub fn create(&mut self, parent: usize, child: usize) {
        if self.knows(parent) && self.knows(child) {
            self.threads[parent].now.tick(parent);
            self.threads[child] = Thread { now: self.threads[parent].now, ..Thread::EMPTY };
        }
    }

    /// The thread waits for the end of another.
    pub fn join(&mut self, thread: usize, ended: usize) {
        if self.knows(thread) && self.knows(ended) {
            self.threads[ended].now.tick(ended);
            let last = self.threads[ended].now;
            self.threads[thread].now.join(&last);
        }
    }

    /// The memory is freed, or written by something other than an atomic operation: what is there
    /// next is the initial value.
    pub fn forget(&mut self, start: u64, end: u64) {
        const FEW: u64 = 64;
        let (first, last) = (start >> 4, end.max(start + 1).saturating_sub(1) >> 4);
        if self.table.is_empty() || last - first < FEW && !(first..=last).any(|block| self.may_have(block)) {
            return;
        }
        if end - start <= 1 {
            return self.forget_around(start);
        }
        for bucket in 0..LOCATIONS {
            let overlaps = |address: u64, size: u8| address < end && start < address + u64::from(size);
            let key = self.table.key(bucket);
            if key.is_some_and(|address| overlaps(address, self.locations[bucket].size)) {
                self.table.remove(bucket);
            }
        }
    }

    /// The bit of a block.
    fn bit(block: u64) -> (usize, u64) {
        let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
        (hash as usize / 64, 1 << (hash % 64))
    }

    fn may_have(&self, block: u64) -> bool {
        let (word, bit) = Self::bit(block);
        self.filter[word] & bit != 0
    }

    /// Forgets the objects that contain the byte.
    fn forget_around(&mut self, at: u64) {
        for start in [at, at & !1, at & !3, at & !7, at & !15] {
            if let Some(bucket) = self.table.find(start)
                && at < start + u64::from(self.locations[bucket].size)
            {
                self.table.remove(bucket);
            }
        }
    }

    fn knows(&mut self, thread: usize) -> bool {
        self.off |= thread >= THREADS;
        if !self.off {
            self.count = self.count.max(thread + 1);
        }
        !self.off
    }

    /// The location with its history up to the value in memory. None if there is no room.
    fn locate(&mut self, place: AtomicObject) -> Option<usize> {
        let AtomicObject { address, size, value } = place;
        if let Some(bucket) = self.table.find(address) {
            let location = &mut self.locations[bucket];
            if location.size != size {
                self.mix(bucket, address);
            } else if !location.mixed && location.newest().value != value {
                // Uninstrumented code has written it unseen, which may well have been a release.
                location.begin(size, value);
                let all = &mut self.locations[bucket].store(0).sync;
                self.threads[..self.count].iter().for_each(|t| all.join(&t.now));
            }
            return Some(bucket);
        }
        let Some(bucket) = self.table.insert(address) else {
            self.crowded = true;
            return None;
        };
        for at in [address, address + u64::from(size).saturating_sub(1)] {
            let (word, bit) = Self::bit(at >> 4);
            self.filter[word] |= bit;
        }
        self.locations[bucket].begin(size, value);
        if self.crowded {
            // Memory was freed since, and there is room again. Its value may have been stored while
            // there was none, and by a release.
            let carried = self.carried(address >> 4 | BLOCK);
            self.locations[bucket].store(0).sync.join(&carried);
        }
        let (first, end) = (address.saturating_sub(15), address + u64::from(size));
        for other in (first..end).filter(|o| *o != address) {
            if let Some(found) = self.table.find(other)
                && address < other + u64::from(self.locations[found].size)
            {
                self.mix(found, other);
                self.mix(bucket, address);
            }
        }
        Some(bucket)
    }

    /// The location of an object that is modelled. Otherwise the thread synchronises with everyone
    /// that accesses it.
    fn modelled(&mut self, thread: usize, place: AtomicObject) -> Option<usize> {
        let bucket = self.locate(place).filter(|b| !self.locations[*b].mixed);
        if bucket.is_none() {
            let block = place.address >> 4 | BLOCK;
            self.acquire(thread, block);
            self.threads[thread].now.tick(thread);
            self.release(thread, block);
        }
        bucket
    }

    /// Stops modelling the location. What its stores carry is not lost.
    fn mix(&mut self, bucket: usize, address: u64) {
        if self.locations[bucket].mixed {
            return;
        }
        self.locations[bucket].mixed = true;
        let mut all = Clock::EMPTY;
        self.locations[bucket].stores().for_each(|s| all.join(&s.sync));
        self.object(address >> 4 | BLOCK).join(&all);
    }

    fn object(&mut self, object: u64) -> &mut Clock {
        if let Some(bucket) = self.objects.find(object) {
            return &mut self.clocks[bucket];
        }
        match self.objects.insert(object) {
            Some(bucket) => {
                self.clocks[bucket] = Clock::EMPTY;
                &mut self.clocks[bucket]
            }
            None => &mut self.rest,
        }
    }

    fn read(&mut self, thread: usize, bucket: usize, back: usize, order: AtomicOrder) {
        let t = &mut self.threads[thread];
        let count = t.now.tick(thread);
        let store = self.locations[bucket].store(back);
        if store.first_read[thread] == 0 {
            store.first_read[thread] = count;
        }
        if order.acquires() {
            t.now.join(&store.sync);
        } else {
            t.read.join(&store.sync);
        }
        if order == AtomicOrder::SeqCst {
            self.time += 1;
            if store.sc_at == 0 {
                store.sc_at = self.time;
            }
        }
    }

    fn write(&mut self, thread: usize, bucket: usize, order: AtomicOrder, value: u128, carried: Clock) {
        let t = &mut self.threads[thread];
        let count = t.now.tick(thread);
        let mut sync = if order.releases() { t.now } else { t.released };
        sync.join(&carried);
        let mut sc_at = 0;
        if order == AtomicOrder::SeqCst {
            self.time += 1;
            sc_at = self.time;
        }
        let location = &mut self.locations[bucket];
        location.push(AtomicStore {
            thread: thread as u16,
            count,
            sc_at,
            sync,
            ..AtomicStore::initial(value)
        });
        location.stale[thread] = 0;
    }
}
