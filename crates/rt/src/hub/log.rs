//! Writes records into the log, which outlives the process.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};

use crate::sys;
use raddle_wire::log::{FILE_SIZE, LogHeader, MAGIC};
use raddle_wire::record::{Count, PENDING, Record, Sink};

static LOG: AtomicPtr<LogHeader> = AtomicPtr::new(core::ptr::null_mut());
/// The size of the file in bytes.
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// The number of bytes, from the beginning of the file, that are known to have room on the disk.
static READY: AtomicUsize = AtomicUsize::new(0);
/// The runtime reserves room in parts. A process writes little, and clearing the whole file would
/// take longer than the process runs.
const FIRST_PART: usize = 64 << 10;
const PART: usize = 256 << 10;

fn header() -> Option<&'static LogHeader> {
    // SAFETY: null or the beginning of the mapped log, which stays mapped.
    unsafe { LOG.load(Acquire).as_ref() }
}

/// Creates `DIR/PID.N.log`. Returns false on failure.
pub fn open(dir: &[u8]) -> bool {
    for n in 0..1000 {
        let mut path = super::session::PathBuffer::new(dir);
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
    // The program may have set a limit for itself.
    let size = FILE_SIZE.min(sys::longest_file()) & !4095;
    let ok = size >= FIRST_PART && sys::syscall(libc::SYS_ftruncate, [fd as usize, size, 0, 0, 0, 0]) == 0;
    let prot = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let at = sys::syscall(
        libc::SYS_mmap,
        [sys::place(FILE_SIZE), FILE_SIZE, prot, libc::MAP_SHARED as usize, fd as usize, 0],
    );
    sys::close(fd);
    if !ok || (at < 0 && at > -4096) {
        return false;
    }
    // The first touch would read ahead. For an empty file this clears a thousand pages, which costs
    // each process 2 ms.
    sys::no_reading_ahead(at as usize, FILE_SIZE);
    // An empty log tells the driver about it.
    if !sys::has_room(at as usize, FIRST_PART) {
        return false;
    }
    SIZE.store(size, Relaxed);
    READY.store(FIRST_PART, Relaxed);
    let header = at as *mut LogHeader;
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
    let end = size_of::<LogHeader>() as u64 + at + bytes;
    if end > SIZE.load(Relaxed) as u64 {
        header.used.fetch_sub(bytes, Relaxed);
        header.lost.fetch_add(1, Relaxed);
        return;
    }
    // The reservation stays: later records find no room either, and the driver stops reading at the
    // gap.
    if !is_ready(header, end as usize) {
        header.lost.fetch_add(1, Relaxed);
        return;
    }
    // SAFETY: the words from `at` on were just reserved, inside the mapping.
    unsafe {
        let first =
            (header as *const LogHeader).add(1).cast_mut().cast::<u8>().add(at as usize).cast::<u64>();
        let head = AtomicU64::from_ptr(first);
        head.store(PENDING | count.0 as u64, Relaxed);
        record.body(&mut Into(first.add(1)));
        head.store(record.head(count.0), Release);
    }
}

/// Whether the file has room up to byte `end`.
#[inline]
fn is_ready(header: &LogHeader, end: usize) -> bool {
    end <= READY.load(Relaxed) || get_ready(header, end)
}

#[cold]
#[inline(never)]
fn get_ready(header: &LogHeader, end: usize) -> bool {
    let ready = READY.load(Relaxed);
    let wanted = end.next_multiple_of(PART).min(SIZE.load(Relaxed));
    if wanted > ready && !sys::has_room(&raw const *header as usize + ready, wanted - ready) {
        return false;
    }
    READY.fetch_max(wanted, Relaxed);
    true
}

/// Announces a child. The driver waits for its log before it looks for processes that are left.
pub fn awaits_child() {
    header().map(|h| h.children_awaited.fetch_add(1, Relaxed));
}

/// Takes the announcement back, because there is no child.
pub fn awaits_no_child() {
    header().map(|h| h.children_awaited.fetch_sub(1, Relaxed));
}

/// Like [`open`], in a child that its parent has announced.
pub fn open_in_child(dir: &[u8]) -> bool {
    // The parent's log is mapped here as well.
    let parent = header();
    let opened = open(dir);
    parent.map(|h| h.children_awaited.fetch_sub(1, Relaxed));
    if !opened {
        // This process must not write to its parent's log.
        LOG.store(core::ptr::null_mut(), Release);
    }
    opened
}

pub fn mark_without_plan() {
    if let Some(h) = header() {
        h.without_plan.store(1, Relaxed);
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
        h.relocated.store(RELOCATED.load(Relaxed), Relaxed);
    }
}

/// 1: the process executes a copy of its code, and so do its children.
static RELOCATED: AtomicU32 = AtomicU32::new(0);

pub fn mark_relocated() {
    RELOCATED.store(1, Relaxed);
    mark_instrumented();
}
