//! Streams whose file is memory of the program.
//!
//! `open_memstream` gets the places for the address and the size of what was written. It fills them
//! in when the stream is flushed or closed, so another thread may read them only after that. Only
//! closing counts here: two threads may flush one stream, which has its own lock, and it is not
//! known what that lock orders. For `fmemopen`, only what it does at once is known: a stream
//! decides itself when to write what it holds into the caller's memory.

use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering::*};

use super::access::{Call, Text, accesses};

type File = *mut c_void;

/// A stream, and where it leaves the address and the number of its characters, of `width` bytes
/// each. Stream 0: a free entry.
struct Place {
    stream: AtomicUsize,
    address: AtomicUsize,
    size: AtomicUsize,
    width: AtomicUsize,
}

/// The number of streams that are tracked.
const MOST: usize = 64;

static PLACES: [Place; MOST] = [const {
    Place {
        stream: AtomicUsize::new(0),
        address: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        width: AtomicUsize::new(0),
    }
}; MOST];

fn opened(file: File, address: *const *mut c_void, size: *const usize, width: usize) {
    /// Taken, but not readable yet.
    const TAKEN: usize = 1;
    let free = |p: &&Place| p.stream.compare_exchange(0, TAKEN, Relaxed, Relaxed).is_ok();
    if file.is_null() {
        return;
    }
    if let Some(place) = PLACES.iter().find(free) {
        place.address.store(address as usize, Relaxed);
        place.size.store(size as usize, Relaxed);
        place.width.store(width, Relaxed);
        place.stream.store(file as usize, Release);
    }
}

/// The stream is now closed: what was written is where its opener wanted it.
pub unsafe fn closed(c: &mut Call, file: File) {
    let known = |p: &&Place| p.stream.load(Acquire) == file as usize;
    let Some(place) = PLACES.iter().find(known).filter(|_| !file.is_null()) else { return };
    let address = place.address.load(Relaxed) as *const *mut c_void;
    let (size, width) = (place.size.load(Relaxed) as *const usize, place.width.load(Relaxed));
    c.wrote_one(address);
    c.wrote_one(size);
    // Only the zero after the text is written for certain.
    // SAFETY: the C library has just written both.
    unsafe { c.wrote((*address).byte_add(*size * width), width) };
    place.stream.store(0, Relaxed);
}

accesses! {
    fn open_memstream(address: *mut *mut c_void, size: *mut usize) -> File, |c| { c.changes_outside() } then |file| {
        opened(file, address, size, 1)
    }
    fn open_wmemstream(address: *mut *mut c_void, size: *mut usize) -> File, |c| { c.changes_outside() } then |file| {
        opened(file, address, size, size_of::<u32>())
    }
    /// A stream for reading ends at the first zero, if there is one.
    fn fmemopen(memory: *mut c_void, n: usize, mode: Text) -> File = c"GLIBC_2.22", |c| {
        c.changes_outside();
        c.text(mode);
        if !mode.is_null() && *mode == b'a' as _ { c.text_within(memory.cast(), n); }
    }
    fn setbuffer(file: File, room: *mut c_void, n: usize), |c| { c.uses_stream(file) }
}
