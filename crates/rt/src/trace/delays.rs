//! The second tester of `raddle conseq`: delays, for runs that nobody schedules (section 8 of the
//! paper).
//!
//! Before the write, a thread waits for the read to arrive in another; before the read, for the
//! write. When both have arrived, the write goes first and the read right after it, while other
//! writes to the same memory wait. If one thread makes both, the write does not wait. Each wait is
//! bounded, and there are not many of them: if a run cannot be steered to the pair, it goes on as
//! it would.
//!
//! The write may be the release of a block: it waits for a reader of that very block, and what the
//! reader then touches is freed memory, whether this does harm or not.
//!
//! A probe comes before its access. So the read waits a little longer after the write's probe, for
//! the store itself: that is a delay too, not a guarantee.

use core::sync::atomic::{AtomicPtr, Ordering::*};

use raddle_wire::delays::{DelaysHeader, FRAMES};

use crate::detect::thread::current;
use crate::sys;

static HEADER: AtomicPtr<DelaysHeader> = AtomicPtr::new(core::ptr::null_mut());

/// The maximum number of waits in one run.
const MOST: u32 = 32;
/// Milliseconds within which a pending store happens.
const STORE: i64 = 2;

/// From now on, accesses are delayed as the file says.
pub fn turn_on(header: *mut DelaysHeader) {
    HEADER.store(header, Release);
}

/// True if every access comes here, and none is checked for races.
#[inline(always)]
pub fn is_on() -> bool {
    !HEADER.load(Relaxed).is_null()
}

/// The running thread is about to make the access at `pc`.
#[inline(always)]
pub fn access(address: usize, pc: usize) {
    // SAFETY: null, or the mapped file, which stays mapped.
    if let Some(header) = unsafe { HEADER.load(Relaxed).as_ref() } {
        at(header, address, pc as u64);
    }
}

#[cold]
#[inline(never)]
fn at(h: &'static DelaysHeader, address: usize, pc: u64) {
    if pc == h.read {
        if read(h, address as u64) {
            keep_stack(h, 0, pc);
        }
    } else if pc == h.write && h.frees == 0 {
        keep_stack(h, 1, pc);
        write(h);
    } else if others(h).contains(&pc) {
        other(h);
    }
}

fn others(h: &'static DelaysHeader) -> &'static [u64] {
    // SAFETY: the table lies behind the header, and the file is as long as both.
    unsafe { core::slice::from_raw_parts((&raw const *h).add(1).cast(), h.others as usize) }
}

/// The running thread is about to free a block of `len` bytes, with the call at `pc`.
#[inline(always)]
pub fn freeing(from: usize, len: usize, pc: usize) {
    // SAFETY: as above.
    if let Some(h) = unsafe { HEADER.load(Relaxed).as_ref() }
        && h.frees != 0
        && h.write == pc as u64
    {
        keep_stack(h, 1, pc as u64);
        free(h, from as u64, (from + len) as u64);
    }
}

/// Keeps the running thread's stack for the report.
fn keep_stack(h: &DelaysHeader, which: usize, pc: u64) {
    let mut frames = [0; FRAMES];
    let n = current().frames(pc as usize, &mut frames);
    if let Some(stack) = h.stacks.get(which) {
        stack.iter().zip(&frames[..n.min(FRAMES)]).for_each(|(to, pc)| to.store(*pc, Relaxed));
    }
}

/// True if this is the read that was to come after the write.
fn read(h: &DelaysHeader, address: u64) -> bool {
    if h.happened.load(Acquire) != 0 {
        return false;
    }
    if h.write == 0 {
        h.happened.store(1, Release);
        return true;
    }
    h.wanted.store(address, Release);
    h.readers.fetch_add(1, AcqRel);
    let came = wait(h, || h.written.load(Acquire) != 0);
    h.readers.fetch_sub(1, AcqRel);
    let [from, to] = [0, 1].map(|i: usize| h.freed[i].load(Acquire));
    // For a freed block, the address must be one of its bytes.
    let came = came && (h.frees == 0 || (from..to).contains(&address));
    if came {
        sys::sleep_ms(STORE);
        h.happened.store(1, Release);
    }
    came
}

/// A free waits for a reader of that very block.
fn free(h: &DelaysHeader, from: u64, to: u64) {
    if h.happened.load(Acquire) != 0 {
        return;
    }
    let is_wanted = || h.readers.load(Acquire) != 0 && (from..to).contains(&h.wanted.load(Acquire));
    if wait(h, is_wanted) {
        h.freed[0].store(from, Release);
        h.freed[1].store(to, Release);
        h.written.store(sys::thread_id(), Release);
    }
}

fn write(h: &DelaysHeader) {
    if h.happened.load(Acquire) != 0 {
        return;
    }
    if h.same_thread != 0 || wait(h, || h.readers.load(Acquire) != 0) {
        h.written.store(sys::thread_id(), Release);
    }
}

/// Another write to the same memory must not come between the two, nor before a read that is to
/// come first.
fn other(h: &DelaysHeader) {
    let writer = h.written.load(Acquire);
    // A thread that has made the write and is about to read must not wait for itself.
    let own = h.same_thread != 0 && writer == sys::thread_id();
    let between = (h.write == 0 || writer != 0) && !own;
    if between && h.happened.load(Acquire) == 0 && wait(h, || h.happened.load(Acquire) != 0) {
        sys::sleep_ms(STORE);
    }
}

/// Waits until `until` holds. False if the wait ended before that.
fn wait(h: &DelaysHeader, until: impl Fn() -> bool) -> bool {
    if until() {
        return true;
    }
    if h.delays.fetch_add(1, Relaxed) >= MOST {
        return false;
    }
    for _ in 0..h.limit {
        sys::sleep_ms(1);
        if until() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_one_thread_the_write_does_not_wait_and_the_read_has_happened() {
        let h = DelaysHeader::new(5, (10, 20), true, 0);
        write(&h);
        read(&h, 64);
        assert_eq!((h.happened.load(Relaxed), h.delays.load(Relaxed)), (1, 0));
    }

    #[test]
    fn a_block_is_given_back_under_its_reader_and_no_other() {
        let h = DelaysHeader { frees: 1, ..DelaysHeader::new(10_000, (10, 20), false, 0) };
        let came = std::thread::scope(|s| {
            let reader = s.spawn(|| read(&h, 64));
            s.spawn(|| free(&h, 48, 80));
            reader.join().unwrap()
        });
        assert!(came && h.happened.load(Relaxed) == 1);
        assert_eq!([0, 1].map(|i: usize| h.freed[i].load(Relaxed)), [48, 80]);
        let h = DelaysHeader { frees: 1, ..DelaysHeader::new(3, (10, 20), false, 0) };
        std::thread::scope(|s| {
            s.spawn(|| assert!(!read(&h, 64)));
            s.spawn(|| free(&h, 100, 200));
        });
        assert_eq!(h.happened.load(Relaxed), 0, "another block");
    }

    #[test]
    fn a_read_alone_goes_on_after_its_time() {
        let h = DelaysHeader::new(2, (10, 20), false, 0);
        read(&h, 64);
        assert_eq!((h.happened.load(Relaxed), h.readers.load(Relaxed), h.delays.load(Relaxed)), (0, 0, 1));
    }

    #[test]
    fn writer_and_reader_meet() {
        let h = DelaysHeader::new(10_000, (10, 20), false, 0);
        std::thread::scope(|s| {
            s.spawn(|| read(&h, 64));
            s.spawn(|| write(&h));
        });
        assert!(h.written.load(Relaxed) != 0 && h.happened.load(Relaxed) == 1);
    }

    #[test]
    fn other_writes_wait_for_a_read_that_is_to_come_first() {
        let h = DelaysHeader::new(10_000, (10, 0), false, 0);
        std::thread::scope(|s| {
            s.spawn(|| other(&h));
            s.spawn(|| read(&h, 64));
        });
        assert_eq!(h.happened.load(Relaxed), 1);
        let early = DelaysHeader::new(1, (10, 20), false, 0);
        other(&early);
        assert_eq!(early.delays.load(Relaxed), 0, "before the write nobody is in its way");
    }
}
