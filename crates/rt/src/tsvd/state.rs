//! The core's tables, in a file of the session: what was learned and covered is available to the
//! driver however the process ends.

use core::sync::atomic::{AtomicPtr, Ordering::*};

use super::point::Waiting;
use crate::hub::log;
use crate::hub::session::{PathBuffer, dir, map_file};
use crate::sys;
use raddle_tsvd::{PairState, Params, SIZE, TrapPair, Tsvd, layout};
use raddle_wire::log::fatal;
use raddle_wire::record::Record;
use raddle_wire::tsvd::{PARAMS_FILE, STATE_SUFFIX, StartingPair};

pub static STATE: AtomicPtr<Tsvd> = AtomicPtr::new(core::ptr::null_mut());

/// The address of the core's epoch: see [`super::pass`].
pub static EPOCH_AT: AtomicPtr<u32> = AtomicPtr::new(core::ptr::null_mut());

#[inline(always)]
pub fn tsvd() -> Option<&'static Tsvd> {
    // SAFETY: null or a mapping that stays.
    unsafe { STATE.load(Relaxed).as_ref() }
}

/// The parameters of the run. None if there are none, or if they have another layout.
fn params() -> Option<Params> {
    let mut path = PathBuffer::new(dir());
    path.push(PARAMS_FILE.as_bytes());
    let (at, len) = map_file(&path, 4096)?;
    // SAFETY: a mapping of at least that size; the driver wrote a valid value, as the equal length
    // shows.
    (len == size_of::<Params>()).then(|| unsafe { *(at as *const Params) })
}

/// Makes the tables of this process. False on failure.
pub fn open() -> bool {
    let Some(params) = params() else { return false };
    let Some(memory) = new_file() else { return false };
    // SAFETY: fresh pages of that size, zero, and used by nobody else.
    let state = unsafe { Tsvd::place(memory, &params) };
    state.watch_threads();
    state.want_all(super::loading::is_pending());
    EPOCH_AT.store((&raw const *state).wrapping_byte_add(layout::EPOCH).cast::<u32>().cast_mut(), Release);
    STATE.store((&raw const *state).cast_mut(), Release);
    true
}

/// In the child of a fork: makes its own tables, which begin with what its parent has learned.
pub fn reopen() -> bool {
    let parent = tsvd();
    if !open() {
        return false;
    }
    if let (Some(parent), Some(state)) = (parent, tsvd()) {
        for pair in parent.pairs() {
            state.seed(&pair, &mut Waiting);
        }
    }
    true
}

fn new_file() -> Option<*mut u8> {
    for n in 0..1000 {
        let mut path = PathBuffer::new(dir());
        path.number(u64::from(sys::pid()));
        path.push(b".");
        path.number(n);
        path.push(b".");
        path.push(STATE_SUFFIX.as_bytes());
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let fd = sys::open(path.as_ptr(), flags, 0o600);
        if fd == -(libc::EEXIST as isize) {
            continue;
        }
        return if fd < 0 { None } else { map_new(fd) };
    }
    None
}

fn map_new(fd: isize) -> Option<*mut u8> {
    // The tables are sparse. If there might be no room for them, nothing is watched: a page that
    // cannot be allocated ends the process.
    if !is_room_for(fd, SIZE) || sys::longest_file() < SIZE {
        sys::close(fd);
        log::write(&Record::Fatal { code: fatal::NO_ROOM, detail: b"" });
        return None;
    }
    let sized = sys::syscall(libc::SYS_ftruncate, [fd as usize, SIZE, 0, 0, 0, 0]) == 0;
    let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let at = sys::syscall(libc::SYS_mmap, [0, SIZE, access, libc::MAP_SHARED as usize, fd as usize, 0]);
    sys::close(fd);
    if !sized || (-4095..=0).contains(&at) {
        return None;
    }
    sys::no_reading_ahead(at as usize, SIZE);
    Some(at as *mut u8)
}

/// True if the disk of a file has this many bytes left.
fn is_room_for(fd: isize, bytes: usize) -> bool {
    // SAFETY: numbers, for which zero is valid.
    let mut disk = unsafe { core::mem::zeroed::<libc::statfs>() };
    let r = sys::syscall(libc::SYS_fstatfs, [fd as usize, &raw mut disk as usize, 0, 0, 0, 0]);
    // A tmpfs without a limit reports zero for everything.
    r != 0 || disk.f_blocks == 0 || disk.f_bavail.saturating_mul(disk.f_bsize as u64) >= bytes as u64
}

/// Adds a pair to begin with.
pub fn seed(pair: StartingPair) {
    let (Some(state), Some(of)) = (PairState::from_number(pair.state), tsvd()) else { return };
    let pair =
        TrapPair { site_a: pair.a, site_b: pair.b, probability: pair.probability, state, gap: pair.gap };
    of.seed(&pair, &mut Waiting);
}
