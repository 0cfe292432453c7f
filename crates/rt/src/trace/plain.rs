//! The traced run without a scheduler: for programs that [`crate::explore`] cannot control.
//!
//! This is closer to section 7.2 of the paper than the scheduled run: threads run freely, all at
//! once. Their events go into one stream behind a lock. The paper has one file per thread and sorts
//! them afterwards; one stream is in order, and its contents are in the file at any moment, however
//! the process ends.
//!
//! Guarantees are weaker than those of the scheduled run. (1) A write's probe comes before its
//! store. Its event is written at once, so that no read that follows the store comes before it in
//! the stream. Its value is filled in by whoever comes next: the thread at its next event (after
//! the read of what may be a copy), or another before it touches the same granule. There are a few
//! instructions between probe and store. A thread that reads in just that moment seems to read
//! after the new value's write and to get the old one. (2) Atomic operations run with the lock
//! held, and are exact. (3) A thread's own stack is left out, as in the paper. (4) Tracing begins
//! with the first thread, in the process that made it; a child by `fork` is traced if it is the
//! first to create threads. (5) Threads from number [`THREADS`] on are left out, and the trace
//! counts as cut short there.

use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering::*};

use raddle_explore::OpKind;
use raddle_wire::trace::{
    Encoder, LONGEST, RecordedEvent, SyncStep, TraceHeader, TracedAccess, VALUE, fill_in,
};

use super::{LOWEST, may_be_copy, pieces, value};
use crate::detect::thread::{Thread, current};
use crate::layout::is_watchable;
use crate::sys::{self, Shared, Spin};

/// If a block is copied or filled at once, this many bytes count.
const LARGEST: usize = 4096;
/// The number of threads that can have pending writes.
const THREADS: usize = 1024;
/// The number of pending writes for each. If a block is filled or copied at once, this many pieces
/// get their new values, and others the old ones.
const PIECES: usize = 16;

static HEADER: AtomicPtr<TraceHeader> = AtomicPtr::new(core::ptr::null_mut());
static RECORDS: AtomicBool = AtomicBool::new(false);
static LOCK: Spin = Spin::new();
static STATE: Shared<Stream> = Shared::new(Stream::EMPTY);

/// A write whose value is to be filled in at byte `at` of the stream.
#[derive(Clone, Copy)]
struct Pending {
    address: usize,
    size: usize,
    at: usize,
}

/// The pending writes of a thread.
#[derive(Clone, Copy)]
struct Own {
    n: usize,
    /// The program counter of the last write.
    pc: usize,
    of: [Pending; PIECES],
}

/// All fields are accessed with [`LOCK`] held.
struct Stream {
    used: usize,
    lost: u64,
    encoder: Encoder,
    thread: u32,
    pending: [Own; THREADS],
    /// The number of threads that may have pending writes.
    seen: usize,
}

impl Stream {
    const EMPTY: Stream = Stream {
        used: 0,
        lost: 0,
        encoder: Encoder::NEW,
        thread: u32::MAX,
        pending: [Own { n: 0, pc: 0, of: [Pending { address: 0, size: 0, at: 0 }; PIECES] }; THREADS],
        seen: 0,
    };
}

/// From now on this process may be traced.
pub fn turn_on(header: *mut TraceHeader) {
    HEADER.store(header, Release);
}

/// True if every access comes here, and none is checked for races.
#[inline(always)]
pub fn is_on() -> bool {
    !HEADER.load(Relaxed).is_null()
}

#[inline(always)]
fn records() -> bool {
    RECORDS.load(Relaxed)
}

/// A thread is about to be created: the first process that does so is traced.
pub fn first_thread() {
    let Some(header) = header() else { return };
    let pid = sys::pid() as u64;
    if !records() && header.process.compare_exchange(0, pid, AcqRel, Relaxed).is_ok() {
        RECORDS.store(true, Release);
    }
}

/// In the child of a fork.
pub fn in_child() {
    LOCK.reset();
    if records() {
        RECORDS.store(false, Relaxed);
    }
}

fn header() -> Option<&'static TraceHeader> {
    // SAFETY: null, or the mapped file, which stays mapped.
    unsafe { HEADER.load(Acquire).as_ref() }
}

impl Stream {
    /// The bytes of the stream at this offset.
    fn bytes<const N: usize>(header: &TraceHeader, at: usize) -> *mut [u8; N] {
        (&raw const *header).cast::<u8>().wrapping_add(header.stream_at() + at).cast_mut().cast()
    }

    /// True if there is room for one more event of the thread, and for one that switches to it.
    fn has_room(&mut self, header: &TraceHeader) -> bool {
        // As with a scheduler: after one lost event, all further ones are lost.
        if self.lost > 0 || self.used + 2 * LONGEST > header.room as usize {
            self.lost += 1;
            header.lost.store(self.lost, Relaxed);
            return false;
        }
        true
    }

    fn put(&mut self, header: &'static TraceHeader, event: &RecordedEvent) {
        // SAFETY: there is room for the longest event, and the lock is held.
        self.used += self.encoder.write(event, unsafe { &mut *Stream::bytes(header, self.used) });
    }

    /// Fills in the values of a thread's pending writes to these granules.
    fn settle(&mut self, header: &'static TraceHeader, thread: usize, within: impl Fn(usize) -> bool) {
        let own = &mut self.pending[thread];
        for i in (0..own.n).rev().filter(|i| *i < PIECES) {
            let Pending { address, size, at } = own.of[i];
            if within(address) {
                // SAFETY: within what was written before; the lock is held.
                fill_in(unsafe { &mut *Stream::bytes::<VALUE>(header, at) }, value(address, size));
                own.n -= 1;
                own.of[i] = own.of[own.n];
            }
        }
    }

    /// Somebody is about to touch this memory: reads what others have stored there before it
    /// changes.
    fn settle_at(&mut self, header: &'static TraceHeader, from: usize, to: usize) {
        for thread in 0..self.seen {
            if self.pending[thread].n > 0 {
                self.settle(header, thread, |address| address >> 3 >= from >> 3 && address < to);
            }
        }
    }

    /// Begins an event of the thread. False if there is no room.
    fn begin(&mut self, header: &'static TraceHeader, thread: u32) -> bool {
        let i = thread as usize;
        if i < THREADS {
            self.settle(header, i, |_| true);
        }
        self.begin_unsettled(header, thread)
    }

    /// Begins an access of the thread. The read of a copy comes before the store of its write.
    fn begin_access(&mut self, header: &'static TraceHeader, thread: u32, write: bool, pc: usize) -> bool {
        let Some(own) = self.pending.get_mut(thread as usize) else { return self.begin(header, thread) };
        if !write && may_be_copy(own.pc, pc) {
            return self.begin_unsettled(header, thread);
        }
        own.pc = if write { pc } else { 0 };
        self.begin(header, thread)
    }

    fn begin_unsettled(&mut self, header: &'static TraceHeader, thread: u32) -> bool {
        let i = thread as usize;
        if i < THREADS {
            self.seen = self.seen.max(i + 1);
        } else {
            self.lost += 1;
        }
        self.has_room(header)
    }

    fn turn_to(&mut self, header: &'static TraceHeader, thread: u32) {
        if self.thread != thread {
            self.thread = thread;
            self.put(header, &RecordedEvent::Thread(thread as u16));
        }
    }

    fn end(&mut self, header: &TraceHeader) {
        header.used.store(self.used as u64, Release);
    }

    /// Adds an access. The thread's event has begun, and there is room.
    fn add(&mut self, header: &'static TraceHeader, thread: u32, access: &TracedAccess) {
        self.settle_at(header, access.address as usize, access.address as usize + 1);
        self.turn_to(header, thread);
        if access.write && !access.atomic {
            // SAFETY: as in `put`.
            let to = unsafe { &mut *Stream::bytes(header, self.used) };
            let (len, at) = self.encoder.write_later(access, to);
            let own = &mut self.pending[thread as usize];
            if let Some(to) = own.of.get_mut(own.n) {
                *to = Pending {
                    address: access.address as usize,
                    size: access.size.into(),
                    at: self.used + at,
                };
                own.n += 1;
            }
            self.used += len;
        } else {
            self.put(header, &RecordedEvent::Access(*access));
        }
        self.end(header);
    }

    fn step(&mut self, header: &'static TraceHeader, thread: u32, step: SyncStep) {
        if self.begin(header, thread) {
            self.turn_to(header, thread);
            self.put(header, &RecordedEvent::Step(step));
            self.end(header);
        }
    }
}

/// Runs `then` with exclusive access to the stream. Signals wait meanwhile: a handler may make
/// accesses itself.
fn with<R>(t: &mut Thread, then: impl FnOnce(&mut Stream, &'static TraceHeader, u32) -> R) -> Option<R> {
    let header = header()?;
    let id = t.id();
    let _inside = t.enter();
    let _guard = LOCK.lock();
    // SAFETY: the lock is held.
    Some(then(unsafe { &mut *STATE.get() }, header, id))
}

/// True if others may share the memory. A thread's own stack counts as unshared.
fn is_traced(t: &Thread, address: usize) -> bool {
    // SAFETY: a known thread has a card.
    let (low, high) = if t.card.is_null() { (0, 0) } else { unsafe { (*t.card).stack.get() } };
    address >= LOWEST && is_watchable(address) && !(low..high).contains(&address)
}

/// The running thread is about to access these bytes.
#[cold]
#[inline(never)]
pub fn access(write: bool, address: usize, len: usize, pc: usize) {
    let mut t = current();
    if !records() || t.inside != 0 || !t.known || !is_traced(&t, address) {
        return;
    }
    with(&mut t, |s, header, thread| {
        header.accesses.fetch_add(1, Relaxed);
        if !s.begin_access(header, thread, write, pc) {
            return;
        }
        for (at, size) in pieces(address, len.min(LARGEST)) {
            let seen = unsynchronised(write, at, size, pc);
            if s.has_room(header) {
                s.add(header, thread, &TracedAccess { before: write.then_some(seen.value), ..seen });
            }
        }
    });
}

/// The running thread makes an atomic operation with `op`, which returns the old value and whether
/// it wrote. `reads`: it looks at the old value.
#[inline]
pub fn atomic<T: Copy + Into<u128>>(
    address: usize,
    size: usize,
    reads: bool,
    pc: usize,
    op: impl FnOnce() -> (T, bool),
) -> T {
    let mut t = current();
    if !records() || t.inside != 0 || size > 8 || !is_traced(&t, address) {
        return op().0;
    }
    let made = |s: &mut Stream, header: &'static TraceHeader, thread| {
        header.accesses.fetch_add(1, Relaxed);
        s.settle_at(header, address, address + size);
        let (old, wrote) = op();
        let before = wrote.then_some(old.into() as u64);
        let seen = TracedAccess {
            atomic: true,
            updates: wrote && reads,
            before,
            ..unsynchronised(wrote, address, size, pc)
        };
        if s.begin(header, thread) {
            s.add(header, thread, &seen);
        }
        old
    };
    match with(&mut t, made) {
        Some(old) => old,
        // There is a header wherever something is recorded.
        None => sys::die(b"raddle: the trace is gone\n"),
    }
}

/// The running thread synchronises.
pub fn step(t: &mut Thread, kind: OpKind, object: usize, other: usize) {
    if records() && t.known {
        let step =
            SyncStep { kind: kind as u8, site: t.caller as u32, object: object as u64, other: other as u64 };
        with(t, |s, header, thread| s.step(header, thread, step));
    }
}

/// The running thread ends: its last stores have happened by now.
pub fn ends(t: &mut Thread) {
    if records() && t.known {
        with(t, |s, header, thread| {
            if (thread as usize) < THREADS {
                s.settle(header, thread as usize, |_| true);
            }
        });
    }
}

/// The call at `pc` is about to free a block.
pub fn free(t: &mut Thread, from: usize, len: usize, pc: usize) {
    if records() && t.known {
        let (object, other) = (from as u64, (from + len) as u64);
        let step = SyncStep { kind: OpKind::Free as u8, site: pc as u32, object, other };
        with(t, |s, header, thread| {
            s.settle_at(header, from, from + len);
            s.step(header, thread, step);
        });
    }
}

fn unsynchronised(write: bool, address: usize, size: usize, pc: usize) -> TracedAccess {
    TracedAccess {
        site: pc as u32,
        address: address as u64,
        size: size as u8,
        write,
        atomic: false,
        updates: false,
        value: value(address, size),
        before: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_wire::trace::{Decoder, Recording};

    /// A file of a trace in memory.
    fn file(room: u64) -> (&'static TraceHeader, Box<Stream>) {
        let header = TraceHeader::new(room, 0, Recording::All);
        let words = vec![0u64; header.bytes() / 8 + 1].leak();
        let at = words.as_mut_ptr().cast::<TraceHeader>();
        // SAFETY: leaked, long enough, aligned.
        unsafe {
            at.write(header);
            (&*at, Box::new(Stream::EMPTY))
        }
    }

    fn events(header: &'static TraceHeader) -> Vec<RecordedEvent> {
        let used = header.used.load(Relaxed) as usize;
        // SAFETY: within the file.
        let bytes = unsafe {
            core::slice::from_raw_parts((&raw const *header).cast::<u8>().add(header.stream_at()), used)
        };
        Decoder::new(bytes).collect()
    }

    fn write(s: &mut Stream, header: &'static TraceHeader, thread: u32, cell: &u64) {
        let seen = unsynchronised(true, &raw const *cell as usize, 8, 7);
        if s.begin(header, thread) {
            s.add(header, thread, &TracedAccess { before: Some(seen.value), ..seen });
        }
    }

    fn values(header: &'static TraceHeader) -> Vec<(bool, u64)> {
        let access =
            |e: RecordedEvent| if let RecordedEvent::Access(a) = e { Some((a.write, a.value)) } else { None };
        events(header).into_iter().filter_map(access).collect()
    }

    #[test]
    fn a_write_has_the_value_that_the_next_to_come_finds() {
        let (header, mut s) = file(4096);
        let mut cell = 1u64;
        write(&mut s, header, 0, &cell);
        cell = 2;
        let seen = unsynchronised(false, &raw const cell as usize, 8, 9);
        assert!(s.begin(header, 1));
        s.add(header, 1, &seen);
        cell = 3;
        s.begin(header, 0);
        assert_eq!(values(header), [(true, 2), (false, 2)], "not what a third has stored since");
        assert_eq!(cell, 3);
        assert_eq!(events(header)[0], RecordedEvent::Thread(0));
    }

    #[test]
    fn the_thread_itself_fills_in_its_value_at_its_next_event() {
        let (header, mut s) = file(4096);
        let mut cell = 1u64;
        write(&mut s, header, 3, &cell);
        cell = 5;
        assert_eq!(values(header), [(true, 1)]);
        s.begin(header, 3);
        assert_eq!(values(header), [(true, 5)]);
        assert_eq!(cell, 5);
    }

    #[test]
    fn without_room_and_with_too_many_threads_the_end_is_lost() {
        let (header, mut s) = file(128);
        let cell = 0u64;
        (0..9).for_each(|_| write(&mut s, header, 0, &cell));
        assert!(header.lost.load(Relaxed) > 0 && !events(header).is_empty());
        let (header, mut s) = file(4096);
        write(&mut s, header, THREADS as u32, &cell);
        assert_eq!((header.lost.load(Relaxed) > 0, events(header).len()), (true, 0));
    }
}
