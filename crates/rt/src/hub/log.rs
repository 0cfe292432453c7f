//! Writes records into the log, which outlives the process.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};

use crate::sys;
use raddle_wire::log::{FILE_SIZE, Header, MAGIC};
use raddle_wire::record::{Count, PENDING, Record, Sink};

static LOG: AtomicPtr<Header> = AtomicPtr::new(core::ptr::null_mut());

fn header() -> Option<&'static Header> {
    // SAFETY: null or the beginning of the mapped log, which stays mapped.
    unsafe { LOG.load(Acquire).as_ref() }
}

/// Makes `DIR/PID.N.log`. False if that can not be done.
pub fn open(dir: &[u8]) -> bool {
    for n in 0..1000 {
        let mut path = super::session::Path::new(dir);
        path.number(sys::pid() as u64);
        path.push(b".");
        path.number(n);
        path.push(b".log");
        let fd =
            sys::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC, 0o600);
        if fd == -(libc::EEXIST as isize) {
            continue;
        }
        return fd >= 0 && map(fd);
    }
    false
}

fn map(fd: isize) -> bool {
    let ok = sys::syscall(libc::SYS_ftruncate, [fd as usize, FILE_SIZE, 0, 0, 0, 0]) == 0;
    let prot = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let at = sys::syscall(
        libc::SYS_mmap,
        [sys::place(FILE_SIZE), FILE_SIZE, prot, libc::MAP_SHARED as usize, fd as usize, 0],
    );
    sys::close(fd);
    if !ok || (at < 0 && at > -4096) {
        return false;
    }
    // The first touch would read ahead, which of an empty file is to clear a thousand pages: 2 ms of each process.
    sys::no_reading_ahead(at as usize, FILE_SIZE);
    let header = at as *mut Header;
    // SAFETY: a fresh mapping of at least a header's size.
    unsafe {
        (*header).magic = MAGIC;
        (*header).version = raddle_wire::VERSION;
        (*header).pid = sys::pid();
    }
    LOG.store(header, Release);
    true
}

/// Writes into the mapping.
struct Into(*mut u64);

impl Sink for Into {
    fn word(&mut self, w: u64) {
        // SAFETY: `write` has reserved as many words as the record counts.
        unsafe {
            *self.0 = w;
            self.0 = self.0.add(1);
        }
    }
}

pub fn write(record: &Record) {
    let Some(header) = header() else { return };
    let mut count = Count::default();
    record.body(&mut count);
    let bytes = (count.0 + 1) as u64 * 8;
    let at = header.used.fetch_add(bytes, Relaxed);
    if at + bytes > (FILE_SIZE - size_of::<Header>()) as u64 {
        header.used.fetch_sub(bytes, Relaxed);
        header.lost.fetch_add(1, Relaxed);
        return;
    }
    // SAFETY: the words from `at` on were just reserved, inside the mapping.
    unsafe {
        let first = (header as *const Header).add(1).cast_mut().cast::<u8>().add(at as usize).cast::<u64>();
        let head = AtomicU64::from_ptr(first);
        head.store(PENDING | count.0 as u64, Relaxed);
        record.body(&mut Into(first.add(1)));
        head.store(record.head(count.0), Release);
    }
}

pub fn count_race() {
    header().map(|h| h.races_seen.fetch_add(1, Relaxed));
}

pub fn count_flush() {
    header().map(|h| h.flushes.fetch_add(1, Relaxed));
}

pub fn count_untracked() {
    header().map(|h| h.threads_untracked.fetch_add(1, Relaxed));
}

pub fn count_thread() {
    header().map(|h| h.threads.fetch_add(1, Relaxed));
}

pub fn mark_instrumented() {
    if let Some(h) = header() {
        h.instrumented.store(1, Relaxed);
    }
}
