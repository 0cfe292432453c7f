//! Room in pipes and queues. A thread that waits until there is room to write comes after the
//! reader that made it.
//!
//! A reader releases before it reads, and closing the end that reads counts too. Sockets are left
//! out: both directions of a connection share a channel, and a thread that reads from one end makes
//! no room for another that writes to the same end. A writer acquires only if it
//! has waited: otherwise each write would come after every read before it, and the races of
//! threads that talk through a pipe would be hidden. It has waited if
//!
//! 1. nothing could be written before the call (`poll`), or another thread was writing into the
//!    same pipe at some moment between that look and the end of the call, and may have taken the
//!    room that there was; or
//! 2. the call writes more than what is certain to fit, and the thread has given up its processor
//!    in it (`getrusage`, which costs some microseconds); or
//! 3. an earlier call of the thread was refused, or has written less than it was asked to, and this
//!    one was not: a descriptor that does not wait.
//!
//! It also acquires
//!
//! 4. if what it has written and the write before do not fit together: whether it waited or not,
//!    somebody has begun to read that one, so such a pipe or queue can be a lock; or
//! 5. if the pipe has one page, and it is not the first write: how much fits into such a page
//!    depends on how it was written (`O_DIRECT`, `vmsplice`), and a program has asked for such a
//!    pipe; or
//! 6. if it is told that nobody reads any more (`EPIPE`): it comes after whoever closed the other
//!    end, also of a socket.
//!
//! While threads write into one pipe at the same time, rule 1 may order one too many. A write of
//! that found room at once comes after the reads that made it, too, once more was written than
//! fits. Beside rules 4 and 5 that is not known here: a program that counts on it is reported
//! wrongly.
//!
//! The count of an eventfd is full if nothing can be added to it. Once the program has added more
//! than half of the most to one, who adds comes after all who have read before.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};

use super::channel::{channel, is_events, is_pipe, key, may_read, orders};
use super::readiness::Polled;
use crate::detect::sync;
use crate::detect::thread::Current;
use crate::sys;
use crate::trace::plain;

/// What can be written at once if anything can: `PIPE_BUF`.
const CERTAIN: usize = 4096;

/// The object of a channel's room, beside that of its data.
fn room(channel: u32) -> usize {
    key(channel) + 8
}

/// Writes so far into channels that hash to one of these. A write that does not return, because its
/// thread is cancelled, overlaps all later ones: they may be ordered too much.
struct Writes {
    begun: AtomicU32,
    ended: AtomicU32,
    /// The bytes of the last one.
    last: AtomicUsize,
}

static WRITES: [Writes; 1024] =
    [const { Writes { begun: AtomicU32::new(0), ended: AtomicU32::new(0), last: AtomicUsize::new(0) } };
        1024];

fn writes(channel: u32) -> &'static Writes {
    &WRITES[(channel.wrapping_mul(0x9e37_79b9) >> 22) as usize]
}

/// A queue's messages, and how many it holds.
#[derive(Clone, Copy)]
pub struct Queue {
    pub has: i64,
    pub most: i64,
}

/// How a write began.
pub struct Writing {
    /// 0: never waits.
    channel: u32,
    was_full: bool,
    switches: Option<i64>,
    /// How many bytes are to be written; 0: it is not known.
    bytes: usize,
    /// All of them, and those of the write before, do not fit.
    fills: bool,
    /// The writes that had begun before it, if all of them had ended.
    before: Option<u32>,
    /// The channel of what is no pipe.
    socket: u32,
}

impl Writing {
    const NEVER_WAITS: Self =
        Self { channel: 0, was_full: false, switches: None, bytes: 0, fills: false, before: None, socket: 0 };

    /// The thread is about to write `n` bytes, or as many as the library likes (0).
    pub fn new(fd: c_int, n: usize) -> Self {
        let channel = channel(fd);
        if !is_pipe(channel) || !has_room(channel) {
            return Self { socket: channel, ..Self::NEVER_WAITS };
        }
        let is_later = writes(channel).begun.load(Relaxed) > 0;
        let most = capacity(fd);
        let writing = Self::into_channel(channel, || is_full(fd), n > CERTAIN).of(n, most);
        Self { fills: writing.fills || is_later && most == Some(CERTAIN), ..writing }
    }

    /// It writes `bytes` into what holds `most` bytes.
    fn of(self, bytes: usize, most: Option<usize>) -> Self {
        let last = writes(self.channel).last.load(Relaxed);
        let fills = bytes > 0 && most.is_some_and(|most| bytes.saturating_add(last.max(1)) > most);
        Self { bytes, fills, ..self }
    }

    /// The thread is about to send a message to a queue, of which it may be known how full it is.
    /// Threads may use a queue of one message as a lock: each message but the first comes after
    /// the one before it was received.
    pub fn into_queue(channel: u32, known: Option<Queue>) -> Self {
        if !has_room(channel) {
            return Self::NEVER_WAITS;
        }
        let is_later = writes(channel).begun.load(Relaxed) > 0;
        let was_full = known.is_some_and(|queue| match queue.most {
            1 => is_later,
            most => queue.has >= most,
        });
        Self::into_channel(channel, || was_full, known.is_none())
    }

    /// The thread is about to send a message of `n` bytes to a queue of System V, of which it may
    /// be known how many bytes it holds.
    pub fn into_bytes(channel: u32, n: usize, most: Option<usize>) -> Self {
        if !has_room(channel) {
            return Self::NEVER_WAITS;
        }
        Self::into_channel(channel, || false, true).of(n, most)
    }

    /// The thread is about to write into a channel, which may have been found full.
    pub fn into_channel(channel: u32, is_full: impl FnOnce() -> bool, may_wait: bool) -> Self {
        let writes = writes(channel);
        // Before the look: whoever takes the room afterwards is seen, here or at the end.
        let ended = writes.ended.load(SeqCst);
        let begun = writes.begun.fetch_add(1, SeqCst);
        let was_full = is_full();
        let switches = (!was_full && may_wait).then(switches);
        let before = (begun == ended).then_some(begun);
        Self { channel, was_full, switches, before, ..Self::NEVER_WAITS }
    }

    /// The call has returned; `all` if it has written all that it was asked to.
    pub fn done(self, mut t: Current, success: bool, all: bool) {
        let is_gone = !success && matches!(sys::errno(), libc::EPIPE | libc::ECONNRESET);
        if is_gone && orders(self.socket) {
            sync::acquire(t, key(self.socket));
        }
        if self.channel == 0 {
            return;
        }
        let writes = writes(self.channel);
        let begun = writes.begun.load(SeqCst);
        let overlapped = self.before.is_none_or(|before| begun != before.wrapping_add(1));
        if success {
            writes.last.store(if all { self.bytes } else { 0 }, Relaxed);
        }
        writes.ended.fetch_add(1, SeqCst);
        let filled = self.fills && success && all;
        let switched = self.switches.is_some_and(|before| switches() != before);
        let was_refused = success && t.refused == self.channel;
        if self.was_full || overlapped || switched || filled || was_refused || is_gone {
            sync::acquire(t, room(self.channel));
        }
        if !success && sys::errno() == libc::EAGAIN || success && !all {
            t.refused = self.channel;
        } else if was_refused {
            t.refused = 0;
        }
    }
}

fn has_room(channel: u32) -> bool {
    orders(channel) && !plain::is_on()
}

/// The program fills the counts of eventfds, so that who adds to one waits for a reader.
static FILLS: AtomicBool = AtomicBool::new(false);

/// True if it is an eventfd.
pub fn is_count(fd: c_int) -> bool {
    is_events(channel(fd))
}

/// The thread is about to add `n` to the count of an eventfd.
pub fn adding(fd: c_int, n: u64) {
    if n > u64::MAX / 2 && is_count(fd) {
        FILLS.store(true, Relaxed);
    }
}

/// The thread has written to a descriptor, which may be an eventfd. It may have waited until its
/// count was read.
pub fn added(t: Current, fd: c_int, success: bool) {
    if success && FILLS.load(Relaxed) && is_count(fd) && has_room(channel(fd)) {
        sync::acquire(t, room(channel(fd)));
    }
}

/// The thread is about to read, which makes room.
pub fn making(t: Current, fd: c_int) {
    let channel = channel(fd);
    if is_pipe(channel) || FILLS.load(Relaxed) && is_events(channel) {
        making_in(t, channel);
    }
}

/// The thread is about to close a descriptor. Who waits for room gives up if nobody can read.
pub fn closing(t: Current, fd: c_int) {
    if is_pipe(channel(fd)) && may_read(fd) {
        making(t, fd);
    }
}

/// [`making`] in a queue.
pub fn making_in(t: Current, channel: u32) {
    if has_room(channel) {
        sync::release(t, room(channel));
    }
}

/// True if nothing can be written to the descriptor now.
fn is_full(fd: c_int) -> bool {
    let mut asked = Polled { fd, events: libc::POLLOUT, revents: 0 };
    let args = [&raw mut asked as usize, 1, 0, 0, 0, 0];
    sys::syscall(libc::SYS_poll, args) == 0
}

/// How many bytes the pipe holds.
fn capacity(fd: c_int) -> Option<usize> {
    let held = sys::syscall(libc::SYS_fcntl, [fd as usize, libc::F_GETPIPE_SZ as usize, 0, 0, 0, 0]);
    (held > 0).then_some(held as usize)
}

/// How often the thread has waited in the kernel.
fn switches() -> i64 {
    // SAFETY: all zero is a valid value, and the kernel fills it in.
    let mut used: libc::rusage = unsafe { core::mem::zeroed() };
    sys::syscall(libc::SYS_getrusage, [libc::RUSAGE_THREAD as usize, &raw mut used as usize, 0, 0, 0, 0]);
    used.ru_nvcsw
}

/// The full descriptors among those that a thread waits for in `poll` or `select`: the first eight.
#[derive(Default)]
pub struct Full {
    fds: [c_int; 8],
    n: usize,
}

impl Full {
    pub fn among(fds: impl Iterator<Item = c_int>) -> Self {
        let mut full = Self::default();
        for fd in fds.filter(|_| !plain::is_on()) {
            if full.n < full.fds.len() && is_full(fd) {
                full.fds[full.n] = fd;
                full.n += 1;
            }
        }
        full
    }

    /// The wait is over. Somebody has read from those that can be written to now.
    pub fn waited(self, t: Current) {
        for fd in self.fds.into_iter().take(self.n).filter(|fd| !is_full(*fd)) {
            let channel = channel(fd);
            if is_pipe(channel) && has_room(channel) {
                sync::acquire(t, room(channel));
            }
        }
    }
}

/// `epoll` has told of a descriptor that can be written to, which may be the one that refused.
pub fn ready(t: Current) {
    if t.refused != 0 && has_room(t.refused) {
        sync::acquire(t, room(t.refused));
    }
}
