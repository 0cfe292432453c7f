//! Opening a FIFO. Who opens one end waits for somebody to open the other: what each did before
//! comes before what the other does afterwards. Two threads that open the same end are not ordered
//! by it, and neither is one that needs no other (`O_RDWR`, `O_RDONLY | O_NONBLOCK`). Who opens it
//! with `O_WRONLY | O_NONBLOCK` has found a reader.
//!
//! An end remembers only who opened it last. If two threads open it that nothing else orders, each
//! may be the first, and that one alone may be whom the other end has waited for. So whoever waits
//! is sure of no more than one of them, and a race with the other one is a race.

use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

use super::access::{FIFOS, Text};
use super::channel::{channel_of_fifo, key};
use crate::detect::sync;
use crate::detect::thread::Current;
use crate::mode::{Mode, mode};
use crate::sys;

/// The objects of the two ends, beside those of the data and of its room.
const READERS: usize = 4;
const WRITERS: usize = 12;

/// The ends of a FIFO that a thread is about to open.
#[derive(Clone, Copy)]
pub struct Ends {
    channel: u32,
    own: &'static [usize],
    /// The end without which opening it does not succeed; 0: none.
    other: usize,
    waits: bool,
}

impl Ends {
    /// Of the file of this name, by the flags of `open`. None: it is no FIFO.
    pub unsafe fn new(at: c_int, path: Text, flags: c_int) -> Option<Self> {
        if flags & libc::O_PATH != 0 {
            return None;
        }
        // SAFETY: the caller's string.
        let channel = unsafe { fifo_at(at, path) }?;
        let at_once = flags & libc::O_NONBLOCK != 0;
        let (own, other): (&[usize], usize) = match flags & libc::O_ACCMODE {
            libc::O_RDONLY => (&[READERS], if at_once { 0 } else { WRITERS }),
            libc::O_WRONLY => (&[WRITERS], READERS),
            _ => (&[READERS, WRITERS], 0),
        };
        Some(Self { channel, own, other, waits: other != 0 && !at_once })
    }

    /// True if the thread waits until the other end is open.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// True if the other end is open, or was, once this one is.
    pub fn has_other(&self) -> bool {
        self.other != 0
    }

    pub fn channel(&self) -> u32 {
        self.channel
    }

    /// For the object of each end that is opened.
    pub fn own(&self, each: impl Fn(usize)) {
        self.own.iter().for_each(|end| each(key(self.channel) + end));
    }

    /// The object of the other end, if it [has one](Self::has_other).
    pub fn other(&self) -> usize {
        key(self.channel) + self.other
    }
}

/// A file that a thread is about to open, which may be a FIFO.
pub struct Opening(Option<Ends>);

impl Opening {
    /// Before the file is opened. Not looked at before the process has made a FIFO.
    pub unsafe fn new(t: Current, at: c_int, path: Text, flags: c_int) -> Self {
        if !FIFOS.load(Relaxed) || mode() != Mode::Detect {
            return Self(None);
        }
        // SAFETY: the caller's string.
        let ends = unsafe { Ends::new(at, path, flags) };
        if let Some(ends) = ends {
            // SAFETY: as above.
            let succeeds = unsafe { succeeds(at, path, flags) };
            let release = if succeeds { sync::release_alone } else { sync::release };
            ends.own(|end| release(t, end));
        }
        Self(ends)
    }

    /// True if it is no FIFO: opening it may create the file.
    pub fn is_of_file(&self) -> bool {
        self.0.is_none()
    }

    /// It is open.
    pub fn done(self, t: Current) {
        if let Some(ends) = self.0.filter(Ends::has_other) {
            sync::acquire(t, ends.other());
        }
    }
}

/// True if opening the FIFO fails for nothing that is known before. Who fails takes nobody's place.
unsafe fn succeeds(at: c_int, path: Text, flags: c_int) -> bool {
    let harmless = libc::O_ACCMODE
        | libc::O_NONBLOCK
        | libc::O_CREAT
        | libc::O_TRUNC
        | libc::O_APPEND
        | libc::O_CLOEXEC
        | libc::O_NOCTTY;
    let needs_reader = flags & (libc::O_ACCMODE | libc::O_NONBLOCK) == libc::O_WRONLY | libc::O_NONBLOCK;
    let access = match flags & libc::O_ACCMODE {
        libc::O_RDONLY => libc::R_OK,
        libc::O_WRONLY => libc::W_OK,
        _ => libc::R_OK | libc::W_OK,
    };
    let args = [at as usize, path as usize, access as usize, libc::AT_EACCESS as usize, 0, 0];
    flags & !harmless == 0 && !needs_reader && sys::syscall(libc::SYS_faccessat2, args) == 0
}

/// The channel of the FIFO of this name.
unsafe fn fifo_at(at: c_int, path: Text) -> Option<u32> {
    // SAFETY: zero is a valid description.
    let mut told = unsafe { core::mem::zeroed::<libc::stat>() };
    let args = [at as usize, path as usize, &raw mut told as usize, 0, 0, 0];
    let found = sys::syscall(libc::SYS_newfstatat, args) == 0;
    found.then(|| channel_of_fifo(&told)).filter(|channel| *channel != 0)
}
