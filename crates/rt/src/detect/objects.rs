//! Synchronisation objects by address: mutexes, semaphores, atomics, anything that passes a clock
//! from thread to thread.
//!
//! A hash table of chains. A bucket stays locked while one of its objects is used, so that an
//! object can be removed when its memory is freed. There are enough buckets that threads seldom
//! contend for one. A bit for each 8 bytes of memory says where objects are, so that freeing a
//! block costs a look at a few words.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

use super::object_clock::Kept;
use crate::layout::sync_bit;
use crate::sys::{self, Shared, Spin};

/// One cache line: a program may have a million of them, and threads that contend for one pass it
/// back and forth.
#[repr(C)]
pub struct Object {
    pub key: usize,
    next: *mut Object,
    /// What a release hands to an acquire. For a reader-writer lock: what writers hand over.
    pub clock: Kept,
    /// The threads that head release sequences to which the current value belongs (C++11), by their
    /// ids modulo 64.
    pub heads: u64,
    /// State that few objects need. Null until needed; stays with the object when it is reused for
    /// another key.
    more: *mut More,
    /// The number of the lock; 0 if the object was never used as one.
    pub uid: u32,
    /// This lock orders even in hybrid mode.
    pub orders: bool,
    /// This lock never orders, in any mode.
    pub only_held: bool,
    /// What an annotation said when the lock was made.
    pub creation: Creation,
    /// A writer holds the lock: tells the two kinds of `pthread_rwlock_unlock` apart.
    pub writer: bool,
}

const _: () = assert!(size_of::<Object>() == 64);

/// What was known about an object when it was made.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Creation {
    #[default]
    Plain,
    /// The linker initialised it.
    LinkerInitialised,
    NotStatic,
    /// Not a lock, but an atomic variable that orders nothing (`crate::relocated`).
    Relaxed,
}

#[repr(C)]
pub struct More {
    /// What readers of a reader-writer lock hand to writers; the other phase of a barrier.
    pub second: Kept,
    pub barrier: Barrier,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Barrier {
    pub count: u32,
    pub arrived: u32,
    pub phase: u32,
    /// The number of threads that arrived in a phase of this parity and have not passed yet.
    pub inside: [u32; 2],
}

struct Bucket {
    lock: Spin,
    head: Shared<*mut Object>,
}

/// Enough for a graph with an atomic in each vertex; only the buckets in use cost memory.
const BUCKETS: usize = 1 << 19;
static TABLE: [Bucket; BUCKETS] =
    [const { Bucket { lock: Spin::new(), head: Shared::new(core::ptr::null_mut()) } }; BUCKETS];

/// Objects to reuse.
static FREE_LOCK: Spin = Spin::new();
static FREE: Shared<*mut Object> = Shared::new(core::ptr::null_mut());
static LOCKS: AtomicU32 = AtomicU32::new(1);

/// Objects of one granule share a bit and a bucket. Those of 512 bytes are in 64 adjacent buckets,
/// so that an array of atomics touches few pages of the table. Neighbours are two cache lines
/// apart, since threads often use one each.
#[inline]
fn bucket(key: usize) -> &'static Bucket {
    let (granule, region) = (key >> 3, key >> 9);
    let first = region.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 45;
    &TABLE[(first + ((granule & 7) << 3 | granule >> 3 & 7)) % BUCKETS]
}

/// Uses the object at `key`, creating it if there is none.
#[inline]
pub fn with<R>(key: usize, f: impl FnOnce(&mut Object) -> R) -> R {
    let bucket = bucket(key);
    let _guard = bucket.lock.lock();
    // SAFETY: the chain is only walked and changed under the bucket's lock.
    unsafe {
        let object = match find(*bucket.head.get(), key) {
            found if found.is_null() => add(bucket, key),
            found => found,
        };
        f(&mut *object)
    }
}

/// Uses the object at `key` if there is one.
#[inline]
pub fn with_existing<R>(key: usize, f: impl FnOnce(&mut Object) -> R) -> Option<R> {
    if !is_marked(key) {
        return None;
    }
    let bucket = bucket(key);
    let _guard = bucket.lock.lock();
    // SAFETY: as in `with`.
    unsafe { find(*bucket.head.get(), key).as_mut().map(f) }
}

/// The object at `key` of the chain that begins with `o`. Null: there is none.
unsafe fn find(mut o: *mut Object, key: usize) -> *mut Object {
    // SAFETY: objects of a chain are valid while its lock is held.
    unsafe {
        while !o.is_null() && (*o).key != key {
            o = (*o).next;
        }
    }
    o
}

#[cold]
#[inline(never)]
unsafe fn add(bucket: &Bucket, key: usize) -> *mut Object {
    let object = take();
    // SAFETY: fresh from the free list or the arena, and the bucket's lock is held.
    unsafe {
        (*object).key = key;
        (*object).next = *bucket.head.get();
        *bucket.head.get() = object;
        mark(key, true);
    }
    object
}

fn take() -> *mut Object {
    let guard = FREE_LOCK.lock();
    // SAFETY: FREE is used under its lock.
    unsafe {
        let object = *FREE.get();
        if object.is_null() {
            drop(guard);
            return sys::ARENA.take(size_of::<Object>()).cast();
        }
        *FREE.get() = (*object).next;
        object
    }
}

fn bit(key: usize) -> (&'static AtomicU64, u64) {
    let (word, mask) = sync_bit(key);
    // SAFETY: the bits of all watchable memory are reserved.
    (unsafe { AtomicU64::from_ptr(word) }, mask)
}

/// Keys that are not addresses of the target (descriptors, the runtime's own) have no bit and are
/// always looked up.
fn is_marked(key: usize) -> bool {
    if !crate::layout::is_watchable(key) || !crate::hub::is_active() {
        return true;
    }
    let (word, mask) = bit(key);
    word.load(Relaxed) & mask != 0
}

fn mark(key: usize, there: bool) {
    if !crate::layout::is_watchable(key) || !crate::hub::is_active() {
        return;
    }
    let (word, mask) = bit(key);
    if there {
        word.fetch_or(mask, Relaxed);
    } else {
        word.fetch_and(!mask, Relaxed);
    }
}

/// Removes the object because its memory is used for something else.
pub fn remove(key: usize) {
    remove_from_granule(key, |k| k == key);
}

/// Removes the objects of the granule around `key` whose keys satisfy `goes`.
fn remove_from_granule(key: usize, goes: impl Fn(usize) -> bool) {
    if !is_marked(key) {
        return;
    }
    let bucket = bucket(key);
    let _guard = bucket.lock.lock();
    let mut others = false;
    // SAFETY: the chain is changed under the bucket's lock.
    unsafe {
        let mut link = bucket.head.get();
        while !(*link).is_null() {
            let o = *link;
            let here = (*o).key >> 3 == key >> 3;
            if here && goes((*o).key) {
                *link = (*o).next;
                give_back(o);
            } else {
                others |= here;
                link = &raw mut (*o).next;
            }
        }
    }
    if !others {
        mark(key, false);
    }
}

/// SAFETY: the object is no longer in any chain.
unsafe fn give_back(o: *mut Object) {
    let _guard = FREE_LOCK.lock();
    // SAFETY: by the caller's contract; the free list is used under its lock.
    unsafe {
        (*o).forget_clocks();
        let more = (*o).more;
        core::ptr::write_bytes(o, 0, 1);
        if let Some(more) = more.as_mut() {
            more.barrier = Barrier::default();
        }
        (*o).more = more;
        (*o).next = *FREE.get();
        *FREE.get() = o;
    }
}

/// Removes all objects in this memory.
pub fn remove_range(address: usize, len: usize) {
    if !crate::layout::is_watchable(address) || !crate::hub::is_active() || len == 0 {
        return;
    }
    let range = address..address + len;
    // Whole words of bits cover 512 bytes each.
    for base in (address & !511..range.end).step_by(512) {
        let mut word = bit(base).0.load(Relaxed);
        while word != 0 {
            let granule = base + word.trailing_zeros() as usize * 8;
            remove_from_granule(granule, |k| range.contains(&k));
            word &= word - 1;
        }
    }
}

/// The lock's number, read without the bucket's lock, since a report may be made while one is held.
/// If the chain changes during the walk, the walk ends somewhere and the report names one lock
/// less.
pub fn peek_lock_number(key: usize) -> u32 {
    const LONGEST: usize = 1000;
    // SAFETY: objects are never unmapped, and their links are null or an object.
    unsafe {
        let mut o = bucket(key).head.get().read_volatile();
        for _ in 0..LONGEST {
            if o.is_null() {
                break;
            }
            if (*o).key == key {
                return (*o).uid;
            }
            o = (&raw const (*o).next).read_volatile();
        }
    }
    0
}

/// Empties all clocks; locks keep their identity.
pub fn forget_clocks() {
    for bucket in &TABLE {
        // An object that is added just now has no earlier clock.
        // SAFETY: a racy look at a pointer.
        if unsafe { bucket.head.get().read_volatile() }.is_null() {
            continue;
        }
        let _guard = bucket.lock.lock();
        // SAFETY: under the bucket's lock.
        unsafe {
            let mut o = *bucket.head.get();
            while !o.is_null() {
                (*o).forget_clocks();
                o = (*o).next;
            }
        }
    }
}

impl Object {
    /// What [`make_more`](Self::make_more) has made.
    pub fn more(&mut self) -> Option<&mut More> {
        // SAFETY: null or memory of the arena that belongs to this object alone.
        unsafe { self.more.as_mut() }
    }

    pub fn make_more(&mut self) -> &mut More {
        self.clock_and_more().1
    }

    /// The clock and what [`make_more`](Self::make_more) makes, side by side.
    pub fn clock_and_more(&mut self) -> (&mut Kept, &mut More) {
        if self.more.is_null() {
            self.more = sys::ARENA.take(size_of::<More>()).cast();
        }
        // SAFETY: as in `more`; zero is valid.
        (&mut self.clock, unsafe { &mut *self.more })
    }

    fn forget_clocks(&mut self) {
        self.clock.clear();
        if let Some(more) = self.more() {
            more.second.clear();
        }
    }

    /// The number that stands for this lock in reports, and whether it is new.
    pub fn lock_number(&mut self) -> (u32, bool) {
        let new = self.uid == 0;
        if new {
            self.uid = LOCKS.fetch_add(1, Relaxed);
        }
        (self.uid, new)
    }
}

/// In the child of a fork.
pub fn reset_locks() {
    TABLE.iter().for_each(|b| b.lock.reset());
    FREE_LOCK.reset();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_the_same_until_it_is_removed() {
        let key = 0x7fff_dead_0000;
        with(key, |o| o.heads = 5);
        assert_eq!(with_existing(key, |o| o.heads), Some(5));
        let number = with(key, Object::lock_number);
        assert!(number.1 && with(key, Object::lock_number) == (number.0, false));
        remove(key);
        assert_eq!(with_existing(key, |o| o.heads), None);
        with(key, |o| assert_eq!((o.heads, o.uid), (0, 0)));
        remove(key);
    }

    #[test]
    fn an_array_of_atomics_has_buckets_of_its_own_that_lie_together() {
        let mut at: Vec<usize> =
            (0..64).map(|g| &raw const *bucket(0x7fff_dead_2000 + g * 8) as usize).collect();
        assert!(at[0].abs_diff(at[1]) >= 128);
        at.sort_unstable();
        at.dedup();
        assert_eq!(at.len(), 64);
        // The table may end in between.
        let wraps = at[63] - at[0] > BUCKETS * size_of::<Bucket>() / 2;
        assert!(wraps || at[63] - at[0] == 63 * size_of::<Bucket>());
    }

    #[test]
    fn neighbours_in_one_granule_are_apart() {
        let key = 0x7fff_dead_1000;
        with(key, |o| o.heads = 1);
        with(key + 4, |o| o.heads = 2);
        remove(key);
        assert_eq!(with_existing(key, |o| o.heads), None);
        assert_eq!(with_existing(key + 4, |o| o.heads), Some(2));
        with(key, |o| o.heads = 3);
        remove_from_granule(key, |k| k >= key && k < key + 8);
        assert_eq!((with_existing(key, |_| ()), with_existing(key + 4, |_| ())), (None, None));
    }
}
