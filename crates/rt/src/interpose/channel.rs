//! Synchronisation through descriptors: what is written into a pipe, a socket or an eventfd happens
//! before what its reader does.
//!
//! A descriptor has a **channel**. The two ends of a socket pair share one, and duplicates inherit
//! it. All sockets that were connected or accepted share a single one, since it is not known which
//! end talks to which. The ends of a pipe have one inode, which is their channel. So the channel is
//! known for any descriptor, however the program got it: opened by name, duplicated, closed and
//! made anew by a FILE, received through a socket ([`found`]). A program may only wait for
//! readiness (`poll`, `select`, `epoll_wait`), so each write into a channel is also released to
//! everyone who waits. A writer that waits for room comes after the reader that makes it
//! ([`room`](super::room)).
//!
//! A file is a channel too, known by its inode: whoever reads what was written, through any
//! descriptor, comes after the writer. So does a thread that asks how long the file is, by its name
//! or by a descriptor that only reads, if it has not written it itself ([`length_told`]). Writers
//! alone are not ordered, nor are readers. `flock`, and locks of an open file (`F_OFD_SETLK`),
//! order by the same inode; those of `fcntl` and `lockf` belong to the process and exclude no two
//! threads.

use core::ffi::{c_char, c_int, c_uint};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*};

use super::{descriptor_use, process};
use crate::detect::sync;
use crate::detect::thread::{Current, current};
use crate::explore;
use crate::sys;
use crate::trace::plain;

const MOST: usize = 1 << 16;
pub(super) static CHANNELS: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];
/// The first number of a channel that a call of the program has made.
const FIRST: u32 = 8;
static NEXT: AtomicU32 = AtomicU32::new(FIRST);
pub(super) const SOCKETS: u32 = 1;
pub(super) const READINESS: u32 = 2;
/// Terminals, and what the kernel has no better name for.
pub(super) const OTHERS: u32 = 3;
pub(super) const SIGNALS: u32 = 4;
/// Channels of queues and semaphores that have their own ids, and of inodes.
pub const BY_ID: u32 = 1 << 30;
/// A channel of an eventfd.
pub(super) const EVENTS: u32 = 1 << 29;
pub(super) const BY_INODE: u32 = 1 << 31;
/// Inodes of files. Inodes are stored with the descriptor until it is closed or replaced, so that
/// the kernel is asked once, not for each line read.
const FILES: u32 = BY_INODE | BY_ID;

pub(super) fn is_file(channel: u32) -> bool {
    channel & FILES == FILES
}

pub(super) fn is_events(channel: u32) -> bool {
    channel & (FILES | EVENTS) == EVENTS
}

pub(super) fn is_pipe(channel: u32) -> bool {
    channel & FILES == BY_INODE
}

/// The object that stands for a descriptor's channel while the program is explored; 0: none.
pub fn channel_of(fd: c_int) -> usize {
    let channel = channel(fd);
    if channel == 0 || is_file(channel) { 0 } else { key(channel) }
}

/// The object that stands for the file of a descriptor; 0: it is no file.
pub fn file_of(fd: c_int) -> usize {
    let channel = channel(fd);
    if is_file(channel) { key(channel) } else { 0 }
}

/// Whether [`file_of`] has returned it.
pub fn is_file_object(object: usize) -> bool {
    (key(FILES)..=key(u32::MAX)).contains(&object)
}

/// The object for waits for any of several descriptors.
pub const ANY_READY: usize = key(READINESS);

/// While the program is explored, a call that is no step has told the other end something.
pub(super) fn told(fd: c_int) {
    let channel = channel_of(fd);
    if channel != 0 {
        explore::memory::released(channel);
        explore::memory::released(ANY_READY);
    }
}

/// Keys of channels lie where the target has no memory.
pub(super) const fn key(channel: u32) -> usize {
    0x4000_0000_0000 + channel as usize * 16
}

pub(super) fn channel(fd: c_int) -> u32 {
    match CHANNELS.get(fd as usize).map_or(0, |c| c.load(Relaxed)) {
        0 => found(fd),
        known => known,
    }
}

/// The channel of a descriptor whose creation was not seen. This is looked up anew each time, since
/// the number may refer to something else by now. Only files and pipes stay what they are until
/// they are closed or replaced. 0: a device that tells nobody anything.
fn found(fd: c_int) -> u32 {
    if is_output(fd) {
        return 0;
    }
    // SAFETY: all zero is a valid value, and the kernel fills it in.
    let mut file: libc::stat = unsafe { core::mem::zeroed() };
    if sys::syscall(libc::SYS_fstat, [fd as usize, &raw mut file as usize, 0, 0, 0, 0]) < 0 {
        return 0;
    }
    match file.st_mode & libc::S_IFMT {
        libc::S_IFIFO => kept(fd, BY_INODE | mixed(&file)),
        libc::S_IFSOCK => SOCKETS,
        // Terminals, and both ends of pseudo-terminals.
        libc::S_IFCHR if matches!(libc::major(file.st_rdev), 2..=5 | 128..=143) => OTHERS,
        0 => OTHERS,
        libc::S_IFREG => kept(fd, FILES | mixed(&file)),
        _ => 0,
    }
}

/// Stores the channel of an inode with its descriptor.
fn kept(fd: c_int, channel: u32) -> u32 {
    set_channel(fd, channel);
    channel
}

/// The channel of a FIFO; 0: it is something else.
pub(super) fn channel_of_fifo(file: &libc::stat) -> u32 {
    if file.st_mode & libc::S_IFMT == libc::S_IFIFO { BY_INODE | mixed(file) } else { 0 }
}

/// The thread has been told of a file.
pub fn saw_file(t: Current, mode: u32, ino: u64, dev: u64) {
    if mode & libc::S_IFMT == libc::S_IFREG {
        length_told(t, FILES | mixed_of(ino, dev));
    }
}

/// The thread has been told how long a file is. That is a hand-over only if it waits for another
/// thread to write the file. Threads that write it themselves, such as those of a log that is
/// rotated by its size, ask for other reasons: to order them would hide their races.
fn length_told(t: Current, channel: u32) {
    if orders(channel) {
        sync::acquire_from_other_writers(t, key(channel));
    }
}

/// Before the thread changes how long the file of this name is.
pub fn changes_length(t: Current, path: *const c_char) {
    // SAFETY: all zero is a valid value, and the kernel fills it in.
    let mut file: libc::stat = unsafe { core::mem::zeroed() };
    let found = sys::syscall(libc::SYS_stat, [path as usize, &raw mut file as usize, 0, 0, 0, 0]) == 0;
    if found && file.st_mode & libc::S_IFMT == libc::S_IFREG {
        written(t, FILES | mixed(&file));
    }
}

/// True if the descriptor is open for writing.
pub(super) fn may_write(fd: c_int) -> bool {
    access_mode(fd).is_some_and(|mode| mode != libc::O_RDONLY)
}

/// True if the descriptor is open for reading.
pub(super) fn may_read(fd: c_int) -> bool {
    access_mode(fd).is_some_and(|mode| mode != libc::O_WRONLY)
}

fn access_mode(fd: c_int) -> Option<c_int> {
    let flags = sys::syscall(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
    (flags >= 0).then_some(flags as c_int & libc::O_ACCMODE)
}

/// The end of a descriptor's file was looked for.
pub(super) fn end_found(t: Current, fd: c_int) {
    let channel = channel(fd);
    if is_file(channel) && !may_write(fd) {
        length_told(t, channel);
    }
}

fn mixed(file: &libc::stat) -> u32 {
    mixed_of(file.st_ino, file.st_dev)
}

/// 30 bits for an inode.
fn mixed_of(ino: u64, dev: u64) -> u32 {
    ((ino ^ dev << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 34) as u32
}

/// Standard output and error lead out of the process, unless it has replaced them by another
/// descriptor: a release for each line would only wear out epochs.
pub(super) fn is_output(fd: c_int) -> bool {
    matches!(fd, 1 | 2)
}

/// Something was put into a queue of the kernel, or taken out.
pub fn put(t: Current, channel: u32) {
    sync::release(t, key(channel));
}

pub fn taken(t: Current, channel: u32) {
    sync::acquire(t, key(channel));
}

/// A signal is sent, which a descriptor may report.
pub fn signal_sent(t: Current) {
    put(t, SIGNALS);
    put(t, READINESS);
}

pub(super) fn set_channel(fd: c_int, channel: u32) {
    if let Some(c) = CHANNELS.get(fd as usize) {
        c.store(channel, Relaxed);
    }
}

/// True if order may come through this descriptor by way of whoever has the other end.
pub(super) fn goes_through_others(fd: c_int) -> bool {
    let channel = channel(fd);
    channel == OTHERS || channel & BY_INODE != 0 && !is_file(channel)
}

/// The descriptor is closed, whoever closes it.
pub fn forget(fd: c_int) {
    set_channel(fd, 0);
    descriptor_use::forget(fd);
}

/// Some of these are closed. Only inodes must be forgotten: anything else that a number may refer
/// to later is seen being made, or looked up.
pub(super) fn forget_from(first: c_uint) {
    for channel in CHANNELS.iter().skip(first as usize) {
        let _ = channel.fetch_update(Relaxed, Relaxed, |c| (c & BY_INODE != 0).then_some(0));
    }
    descriptor_use::forget_from(first.min(c_int::MAX as c_uint) as c_int);
}

pub(super) fn new_channel() -> u32 {
    NEXT.fetch_add(1, Relaxed)
}

/// The process has connected a socket, perhaps to itself.
pub(super) static CONNECTED: AtomicBool = AtomicBool::new(false);

/// True if order comes through the channel. It is not known what a server's clients do between two
/// of its answers. The detector assumes that they pass on everything they got, so that it invents
/// no race. A trace that assumed this would find nothing in a server. So there, only a process that
/// has connected a socket itself is assumed to talk to itself.
pub(super) fn orders(channel: u32) -> bool {
    let talks_to_itself = !plain::is_on() || CONNECTED.load(Relaxed) && !is_file(channel);
    channel != 0 && (!is_file(channel) && channel != SOCKETS || talks_to_itself)
}

pub fn sending(t: Current, fd: c_int) {
    written(t, channel(fd));
}

/// The descriptor is about to be closed. The reader at the other end sees the end of the data. In a
/// file that changes nothing, but the thread may have written to it through a mapping, and gives up
/// its lock on it.
pub(super) fn sending_end(t: Current, fd: c_int) {
    let channel = channel(fd);
    if is_file(channel) {
        file_event(t);
    }
    if !is_file(channel) {
        written(t, channel);
    } else if orders(channel) && (LOCKS_FILES.load(Relaxed) || may_write(fd)) {
        sync::release(t, key(channel));
    }
}

/// Before a lock of a file is given up or weakened.
pub(super) fn unlocking(t: Current, fd: c_int) {
    let channel = channel(fd);
    if orders(channel) {
        LOCKS_FILES.store(true, Relaxed);
        sync::release(t, key(channel));
    }
}

/// The process has taken locks of files.
static LOCKS_FILES: AtomicBool = AtomicBool::new(false);

fn written(t: Current, channel: u32) {
    if orders(channel) {
        match is_file(channel) {
            true => sync::release_as_writer(t, key(channel)),
            false => sync::release(t, key(channel)),
        }
        // A file is always ready, but an `inotify` descriptor may report a change of it.
        if !is_file(channel) || INOTIFY.load(Relaxed) {
            sync::release(t, key(READINESS));
        }
        if is_file(channel) && INOTIFY.load(Relaxed) {
            sync::release(t, key(OTHERS));
        }
        if !plain::is_on() {
            aliases(channel).for_each(|other| sync::release(t, key(other)));
        }
    }
}

/// True if the process watches files.
pub(super) static INOTIFY: AtomicBool = AtomicBool::new(false);

/// The thread is about to do something to a file or a folder that an `inotify` descriptor may
/// report: open, read, change, move or remove it.
pub(super) fn file_event(t: Current) {
    if INOTIFY.load(Relaxed) && !plain::is_on() {
        sync::release(t, key(OTHERS));
        sync::release(t, key(READINESS));
    }
}

/// The process sends or receives descriptors through a socket.
static PASSES: AtomicBool = AtomicBool::new(false);

pub fn passes_descriptors() -> bool {
    PASSES.load(Relaxed)
}

/// The message may hold descriptors. What they refer to is not known where they arrive.
pub unsafe fn passes(message: *const libc::msghdr) {
    // SAFETY: null or the caller's message.
    if unsafe { message.as_ref() }.is_some_and(holds_descriptors) {
        PASSES.store(true, Relaxed);
        explore::makes_descriptor();
    }
}

/// Other control messages are credentials, times, addresses.
fn holds_descriptors(message: &libc::msghdr) -> bool {
    // SAFETY: the caller's message, whose control messages the C library's macros go through.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(message);
        while let Some(control) = at.as_ref() {
            if (control.cmsg_level, control.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                return true;
            }
            at = libc::CMSG_NXTHDR(message, at);
        }
    }
    false
}

/// The channels of the same thing where its descriptor was received ([`found`]).
fn aliases(channel: u32) -> impl Iterator<Item = u32> {
    let passed = PASSES.load(Relaxed) && (FIRST..BY_ID).contains(&channel);
    [OTHERS, SOCKETS].into_iter().filter(move |_| passed)
}

pub fn received(t: Current, fd: c_int) {
    let mut channel = channel(fd);
    if is_file(channel) {
        file_event(t);
    } else if !plain::is_on() && orders(channel) {
        if !sync::has_clock(t, key(channel)) {
            process::from_outside(t);
        }
        aliases(channel).for_each(|other| sync::acquire(t, key(other)));
    }
    // What is read may have been moved by several threads in a row.
    for _ in 0..4 {
        if !orders(channel) {
            return;
        }
        sync::acquire(t, key(channel));
        channel = source_of(channel);
    }
}

/// Where `splice` and its kin move data from, by where they move it to: 64 entries, the latest
/// counts. The mover may wait within the call, so the reader at the far end can arrive before
/// anything is known here.
static SOURCES: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
static MOVES: AtomicBool = AtomicBool::new(false);

fn source(channel: u32) -> &'static AtomicU64 {
    &SOURCES[(channel.wrapping_mul(0x9e37_79b9) >> 26) as usize]
}

/// From now on, what is read from `to` may come from `from`.
pub fn moves(from: c_int, to: c_int) {
    let (from, to) = (channel(from), channel(to));
    if from != to && orders(from) && orders(to) {
        source(to).store(u64::from(to) << 32 | u64::from(from), Relaxed);
        MOVES.store(true, Relaxed);
    }
}

/// The source; 0: nothing was moved into the channel.
fn source_of(channel: u32) -> u32 {
    if !MOVES.load(Relaxed) {
        return 0;
    }
    let source = source(channel).load(Relaxed);
    if (source >> 32) as u32 == channel { source as u32 } else { 0 }
}

pub fn ready(t: Current, result: c_int) -> c_int {
    if result > 0 {
        sync::acquire(t, key(READINESS));
    }
    result
}

/// What was written to the descriptor happens before what is read at the other end.
pub fn writing(fd: c_int) {
    if crate::hub::is_active() {
        sending(current(), fd);
    }
}

/// `got` bytes were read from the descriptor; the end of the data, 0, counts too.
pub fn has_read(fd: c_int, got: isize) {
    if got >= 0 && crate::hub::is_active() {
        received(current(), fd);
    }
}
