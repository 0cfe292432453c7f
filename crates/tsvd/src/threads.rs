//! The state of each thread. Only the thread itself writes its record.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::passes::Lane;
use raddle_base::rng::{Rng, mix};

/// Threads with equal numbers modulo this share a record, and take it from each other.
const THREADS: usize = 1 << 12;

#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct ThreadState {
    /// `thread + 1`; zero: no thread's.
    owner: AtomicU32,
    /// The site of the delay that this thread's last gap was blamed on, and how many accesses that
    /// still covers (3.4.4).
    pub blamed: AtomicU32,
    pub covered: AtomicU32,
    /// `thread + 1` of its creator, and when it was created; zero: unknown.
    parent: AtomicU32,
    born: AtomicU64,
    /// The time of its last access; zero: it has made none.
    pub last: AtomicU64,
    /// Its total delay.
    pub delayed: AtomicU64,
    rng: AtomicU64,
    /// The number of examined points of all threads that have had this record, and of all points in
    /// a concurrent phase.
    pub points: AtomicU64,
    pub concurrent: AtomicU64,
    /// [`Lane::points`] at its last examined access.
    pub went_by: AtomicU64,
    /// The time of its last counted refused delay; zero: never. It comes after everything that
    /// every point needs.
    pub refused: AtomicU64,
}

/// A thread that was joined. It is separate from the thread's record, which the thread writes at
/// every point, because others read it.
#[repr(C)]
struct Joined {
    /// Its `thread + 1` above that of its joiner.
    who: AtomicU64,
    when: AtomicU64,
}

#[repr(C)]
pub(crate) struct Threads {
    /// Not zero: the caller reports every created thread and every thread that ends.
    told: AtomicU32,
    /// The number of created threads that have not ended, as far as reported.
    created: AtomicU32,
    /// The number of threads that made points and whose creation was not reported: the main thread,
    /// and those created without the caller's knowledge.
    strangers: AtomicU32,
    /// `thread + 1` of the first of them.
    first: AtomicU32,
    /// Not zero: the points of an only thread need not be examined.
    lets_alone: AtomicU32,
    /// `thread + 1` of the only thread, if its points need not be examined; read at every point.
    pub alone: AtomicU32,
    joined: [Joined; THREADS],
    records: [ThreadState; THREADS],
    lanes: [Lane; THREADS],
}

impl Threads {
    /// The thread's record. `taken` is called if the record belonged to no thread, or to another.
    #[inline]
    pub(crate) fn get(&self, thread: u32, seed: u64, taken: impl FnOnce()) -> &ThreadState {
        let record = &self.records[thread as usize % THREADS];
        if record.owner.load(Relaxed) != thread.wrapping_add(1) {
            if self.strangers.fetch_add(1, Relaxed) == 0 {
                self.first.store(thread.wrapping_add(1), Relaxed);
            }
            record.take(thread, seed);
            self.note_alone();
            taken();
        }
        record
    }

    #[inline]
    pub(crate) fn lane(&self, thread: u32) -> &Lane {
        &self.lanes[thread as usize % THREADS]
    }

    #[inline]
    pub(crate) fn is_alone(&self, thread: u32) -> bool {
        self.alone.load(Relaxed) == thread.wrapping_add(1)
    }

    /// Updates `alone` after a change of the threads.
    fn note_alone(&self) {
        let alone = self.lets_alone.load(Relaxed) != 0 && self.is_one();
        self.alone.store(if alone { self.first.load(Relaxed) } else { 0 }, Relaxed);
    }

    /// Records a thread that is about to be created: it takes its record before it runs.
    pub(crate) fn born(&self, parent: u32, child: u32, now: u64, seed: u64) {
        let record = &self.records[child as usize % THREADS];
        record.take(child, seed);
        record.parent.store(parent.wrapping_add(1), Relaxed);
        record.born.store(now, Relaxed);
        self.created.fetch_add(1, Relaxed);
        self.note_alone();
    }

    /// Records a thread that has ended. If its record already belongs to another thread, its end is
    /// not counted, and no thread is ever alone again.
    pub(crate) fn died(&self, thread: u32) {
        let record = &self.records[thread as usize % THREADS];
        let is_its_own = record.owner.load(Relaxed) == thread.wrapping_add(1);
        if is_its_own && record.parent.swap(0, Relaxed) != 0 {
            self.created.fetch_sub(1, Relaxed);
            self.note_alone();
        }
    }

    /// Records that a thread was joined (extension 1).
    pub(crate) fn joined(&self, parent: u32, child: u32, now: u64) {
        let joined = &self.joined[child as usize % THREADS];
        joined.when.store(now, Relaxed);
        joined.who.store(both(child, parent), Relaxed);
    }

    /// Whether an access that `earlier` made at `time` is known to happen before what `thread`,
    /// whose record this is, does now: by its creation (deviation 7 of the crate), or by earlier
    /// joins that it or its creator made (extension 1).
    #[inline]
    pub(crate) fn is_before(&self, (earlier, time): (u32, u64), thread: u32, record: &ThreadState) -> bool {
        let (parent, born) = (record.parent.load(Relaxed), record.born.load(Relaxed));
        if parent == earlier.wrapping_add(1) && time <= born {
            return true;
        }
        let joined = &self.joined[earlier as usize % THREADS];
        let who = joined.who.load(Relaxed);
        who == both(earlier, thread)
            || parent != 0
                && who == both(earlier, parent.wrapping_sub(1))
                && joined.when.load(Relaxed) <= born
    }

    /// From now on, the caller reports all threads. `lets_alone`: an only thread need not be
    /// examined.
    pub(crate) fn watch(&self, lets_alone: bool) {
        self.told.store(1, Relaxed);
        self.lets_alone.store(u32::from(lets_alone), Relaxed);
        self.note_alone();
    }

    /// Whether there is only one thread, so that no other can spring its trap.
    pub(crate) fn is_one(&self) -> bool {
        let one = self.created.load(Relaxed) == 0 && self.strangers.load(Relaxed) <= 1;
        one && self.told.load(Relaxed) != 0
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&ThreadState, &Lane)> {
        self.records.iter().zip(&self.lanes)
    }
}

fn both(child: u32, parent: u32) -> u64 {
    u64::from(child.wrapping_add(1)) << 32 | u64::from(parent.wrapping_add(1))
}

impl ThreadState {
    #[cold]
    fn take(&self, thread: u32, seed: u64) {
        self.owner.store(thread.wrapping_add(1), Relaxed);
        self.covered.store(0, Relaxed);
        self.parent.store(0, Relaxed);
        self.last.store(0, Relaxed);
        self.delayed.store(0, Relaxed);
        self.refused.store(0, Relaxed);
        self.rng.store(mix(seed ^ u64::from(thread) << 32), Relaxed);
    }

    /// Draws from the thread's own random numbers, so that no thread's timing changes another's.
    #[inline]
    pub(crate) fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        let mut rng = Rng::new(self.rng.load(Relaxed));
        let drawn = draw(&mut rng);
        self.rng.store(rng.state(), Relaxed);
        drawn
    }

    #[inline]
    pub(crate) fn count(&self, concurrent: bool, went_by: u32) {
        // Not a read-modify-write: nobody else writes.
        self.points.store(self.points.load(Relaxed) + 1, Relaxed);
        if concurrent {
            let more = 1 + u64::from(went_by);
            self.concurrent.store(self.concurrent.load(Relaxed) + more, Relaxed);
        }
    }
}
