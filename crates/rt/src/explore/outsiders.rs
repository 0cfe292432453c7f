//! Whether somebody outside of the program can make a descriptor ready.
//!
//! A state in which all threads wait, one of them for a descriptor, is watched for a moment before it
//! counts as a deadlock: another process may write. To what a program has made for itself, such as
//! a pipe between two of its threads, nobody else can, as a rule. So the first such state of a
//! process is watched like all others, and if nobody came, the later ones are not: a search meets
//! thousands, and a failure is confirmed in a process of its own, where it is the first.
//!
//! A rule has exceptions. What the program had open when it began may have another end elsewhere,
//! and a process that it has made has what it had. Descriptors that came in a message, children that
//! were made by a raw system call, threads of the C library (`getaddrinfo_a`) and the kernel itself
//! (`io_submit`) are not noticed beforehand. Once somebody came, all states are watched.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use super::{Several, Wait, serve, state, timers};
use crate::sys;

const PIPES: i64 = 0x5049_5045;
const SOCKETS: i64 = 0x534f_434b;
/// Descriptors without a file: `eventfd`, `epoll`, timers.
const ANONYMOUS: i64 = 0x0904_1934;

/// The kinds of descriptors that were open when the program began, as bits of [`kind`].
static INHERITED: AtomicU32 = AtomicU32::new(0);
/// Standard input, output and error, which are not counted: see [`may_act_on`].
const STANDARD: c_int = 3;

/// Whether somebody came in a state in which nobody could, as it seemed.
static SEEN: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
const NOBODY: u8 = 1;
const SOMEBODY: u8 = 2;

/// How long a state is watched in which nobody outside can help, as it seems.
pub fn patience() -> u32 {
    if SEEN.load(Relaxed) == NOBODY { 0 } else { serve::PATIENCE_MS }
}

/// Such a state was watched, and nobody came.
pub fn stayed_away() {
    let _ = SEEN.compare_exchange(NOTHING, NOBODY, Relaxed, Relaxed);
}

/// Somebody came in a state that was watched.
pub fn came() {
    SEEN.store(SOMEBODY, Relaxed);
}

/// Notes what is open before the program has opened anything.
pub fn prepare() {
    /// What a program may open, unless it asks for more.
    const MOST: c_int = 1024;
    let kinds = (STANDARD..MOST).fold(0, |all, fd| all | kind(fd).unwrap_or(0));
    INHERITED.store(kinds, Relaxed);
}

/// A bit for pipes, sockets and descriptors without a file.
fn kind(fd: c_int) -> Option<u32> {
    // SAFETY: zero is a valid description, and the kernel fills it in.
    let system = unsafe {
        let mut told = core::mem::zeroed::<libc::statfs>();
        let r = sys::syscall(libc::SYS_fstatfs, [fd as usize, &raw mut told as usize, 0, 0, 0, 0]);
        (r == 0).then_some(told.f_type)?
    };
    [PIPES, SOCKETS, ANONYMOUS].iter().position(|k| *k == system).map(|bit| 1 << bit)
}

/// Whether somebody outside may end this wait, if it is one for descriptors.
#[cold]
pub fn may_end(wait: Wait) -> bool {
    match wait {
        Wait::Descriptor(fd, _) => may_act_on(fd, 0),
        Wait::Several(Several::Poll(epoll, 0)) => may_act_on(epoll as c_int, 0),
        Wait::Several(Several::Poll(fds, n)) => {
            // SAFETY: the program's array, which it waits with.
            let fds = unsafe { core::slice::from_raw_parts(fds as *const libc::pollfd, n) };
            fds.iter().any(|f| f.fd >= 0 && may_act_on(f.fd, 0))
        }
        Wait::Several(Several::Select(n, sets)) => {
            let is_in = |set: &usize, fd: c_int| {
                // SAFETY: null, or the program's set, of `n` descriptors.
                *set != 0 && unsafe { *(*set as *const u8).add(fd as usize / 8) } & 1 << (fd % 8) != 0
            };
            (0..n.min(1024)).any(|fd| sets.iter().any(|set| is_in(set, fd)) && may_act_on(fd, 0))
        }
        _ => true,
    }
}

/// `depth`: how many descriptors of `epoll` this one is in.
fn may_act_on(fd: c_int, depth: u32) -> bool {
    /// More than anybody nests.
    const DEEPEST: u32 = 4;
    if timers::by_descriptor(fd).is_some() {
        return false;
    }
    let Some(kind) = kind(fd).filter(|kind| INHERITED.load(Relaxed) & kind == 0) else { return true };
    if fd < STANDARD || depth > DEEPEST || state().serve.has_forked {
        return true;
    }
    match kind {
        1 => false,
        2 => !is_pair(fd),
        _ => may_act_on_anonymous(fd, depth),
    }
}

/// True of a Unix socket that is connected to another one of this process.
fn is_pair(fd: c_int) -> bool {
    let option = |name: c_int, value: &mut [u32; 3], len: u32| {
        let mut len = len;
        let (value, len) = (value.as_mut_ptr() as usize, &raw mut len as usize);
        let args = [fd as usize, libc::SOL_SOCKET as usize, name as usize, value, len, 0];
        sys::syscall(libc::SYS_getsockopt, args) == 0
    };
    let (mut listens, mut peer) = ([0; 3], [0; 3]);
    option(libc::SO_ACCEPTCONN, &mut listens, 4)
        && listens[0] == 0
        && option(libc::SO_PEERCRED, &mut peer, 12)
        && peer[0] == sys::pid()
}

/// The kernel says in `/proc` what such a descriptor is, and which ones `epoll` watches.
fn may_act_on_anonymous(fd: c_int, depth: u32) -> bool {
    let mut room = [0; 4096];
    let Some(told) = information(fd, &mut room) else { return true };
    let lines = || told.split(|byte| *byte == b'\n');
    if lines().any(|line| line.starts_with(b"eventfd-count:")) {
        return false;
    }
    let mut watched = lines().filter_map(|line| number(line.strip_prefix(b"tfd:")?)).peekable();
    watched.peek().is_none() || watched.any(|fd| may_act_on(fd, depth + 1))
}

/// The number after blanks.
fn number(text: &[u8]) -> Option<c_int> {
    let digits = text.trim_ascii_start().split(|byte| !byte.is_ascii_digit()).next()?;
    core::str::from_utf8(digits).ok()?.parse().ok()
}

fn information(fd: c_int, room: &mut [u8]) -> Option<&[u8]> {
    text_of(format_args!("/proc/self/fdinfo/{fd}"), room)
}

/// What the file of this name has. None: it cannot be read, or is longer than the room.
fn text_of<'r>(name: core::fmt::Arguments<'_>, room: &'r mut [u8]) -> Option<&'r [u8]> {
    let mut path = Path { text: [0; 40], len: 0 };
    core::fmt::Write::write_fmt(&mut path, name).ok()?;
    let file = sys::open(path.text.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if file < 0 {
        return None;
    }
    let mut len = 0;
    loop {
        let got = sys::read(file, &mut room[len..]);
        len += usize::try_from(got).unwrap_or(0);
        if got <= 0 || len == room.len() {
            break;
        }
    }
    sys::close(file);
    (len < room.len()).then_some(&room[..len])
}

/// A name that ends in zero.
struct Path {
    text: [u8; 40],
    len: usize,
}

impl core::fmt::Write for Path {
    fn write_str(&mut self, part: &str) -> core::fmt::Result {
        let end = self.len + part.len();
        if end >= self.text.len() {
            return Err(core::fmt::Error);
        }
        self.text[self.len..end].copy_from_slice(part.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_state_is_watched_and_all_are_once_somebody_came() {
        assert_eq!(patience(), serve::PATIENCE_MS);
        stayed_away();
        assert_eq!(patience(), 0);
        came();
        stayed_away();
        assert_eq!(patience(), serve::PATIENCE_MS);
    }

    #[test]
    fn numbers_follow_blanks() {
        assert_eq!(number(b"        5 events: 19 data: 5"), Some(5));
        assert_eq!(number(b" 12"), Some(12));
        assert_eq!(number(b" none"), None);
    }

    #[test]
    fn what_the_kernel_says_of_a_descriptor_is_read() {
        // SAFETY: plain system calls.
        let (event, epoll) = unsafe { (libc::eventfd(0, 0), libc::epoll_create1(0)) };
        let mut events = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        // SAFETY: as above.
        unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, event, &raw mut events) };
        let mut room = [0; 4096];
        let told = String::from_utf8_lossy(information(epoll, &mut room).unwrap()).into_owned();
        assert!(told.contains(&format!("tfd: {event:8}")), "{told}");
        assert!(information(epoll, &mut [0; 8]).is_none(), "longer than the room");
        assert_eq!((kind(event), kind(epoll)), (Some(4), Some(4)));
        // SAFETY: as above.
        unsafe { [libc::close(event), libc::close(epoll)] };
        assert!(information(event, &mut room).is_none());
    }

    #[test]
    fn the_two_ends_of_a_pair_are_of_this_process() {
        let mut ends = [0; 2];
        // SAFETY: plain system calls.
        unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, ends.as_mut_ptr()) };
        assert!(is_pair(ends[0]) && is_pair(ends[1]));
        assert_eq!(kind(ends[0]), Some(2));
        // SAFETY: as above.
        let inet = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0) };
        assert!(inet < 0 || !is_pair(inet));
        // SAFETY: as above.
        unsafe { [libc::close(ends[0]), libc::close(ends[1]), libc::close(inet)] };
    }
}
