//! Opening a FIFO. Who opens one end waits for somebody to open the other: what each did before
//! comes before what the other does afterwards. Two threads that open the same end are not ordered
//! by it, and neither is one that does not wait (`O_NONBLOCK`, `O_RDWR`).

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
    /// The end that it waits for; 0: none.
    other: usize,
}

impl Ends {
    /// Of the FIFO with this channel, by the flags of `open`.
    pub fn new(channel: u32, flags: c_int) -> Self {
        let (own, other): (&[usize], usize) = match flags & libc::O_ACCMODE {
            libc::O_RDONLY => (&[READERS], WRITERS),
            libc::O_WRONLY => (&[WRITERS], READERS),
            _ => (&[READERS, WRITERS], 0),
        };
        Self { channel, own, other: if flags & libc::O_NONBLOCK == 0 { other } else { 0 } }
    }

    /// The ends that opening it waits for, if it is a FIFO and does so.
    pub unsafe fn that_wait(at: c_int, path: Text, flags: c_int) -> Option<Self> {
        // SAFETY: the caller's string.
        let ends = Self::new(unsafe { fifo_at(at, path) }, flags);
        (ends.channel != 0 && ends.other != 0).then_some(ends)
    }

    pub fn channel(&self) -> u32 {
        self.channel
    }

    /// For the object of each end that is opened.
    pub fn own(&self, each: impl Fn(usize)) {
        self.own.iter().for_each(|end| each(key(self.channel) + end));
    }

    /// The object of the end that is waited for.
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
        let ends = Ends::new(unsafe { fifo_at(at, path) }, flags);
        if ends.channel == 0 {
            return Self(None);
        }
        ends.own(|end| sync::release(t, end));
        Self(Some(ends))
    }

    /// True if it is no FIFO: opening it may create the file.
    pub fn is_of_file(&self) -> bool {
        self.0.is_none()
    }

    /// It is open.
    pub fn done(self, t: Current) {
        if let Some(ends) = self.0.filter(|ends| ends.other != 0) {
            sync::acquire(t, ends.other());
        }
    }
}

/// The channel of the FIFO of this name; 0: it is none.
unsafe fn fifo_at(at: c_int, path: Text) -> u32 {
    // SAFETY: zero is a valid description.
    let mut told = unsafe { core::mem::zeroed::<libc::stat>() };
    let args = [at as usize, path as usize, &raw mut told as usize, 0, 0, 0];
    match sys::syscall(libc::SYS_newfstatat, args) {
        0 => channel_of_fifo(&told),
        _ => 0,
    }
}
