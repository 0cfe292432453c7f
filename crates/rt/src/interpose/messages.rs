//! Queues and semaphores that the kernel keeps by id: POSIX message queues, System V messages and
//! semaphores. Also the calls that move data between descriptors without a buffer of the program,
//! or move several messages at once.
//!
//! While the program is explored these calls are scheduling points. A thread waits for a queue or a
//! semaphore as for a pipe. Others that wait are taken for a hang.

use core::ffi::{c_int, c_long, c_uint, c_void};

use super::access::Call;
use super::channel::{BY_ID, key, moves, put, received, sending, taken};
use super::room::{Queue, Writing};
use super::transfer::{gathers, receives, sends, total};
use super::{interpose, room};
use crate::detect::sync;
use crate::detect::thread::{Current, current};
use crate::explore::{
    self,
    by_id::{self, ById},
    sync::Until,
};
use crate::sys;

/// Ids of different kinds may share a channel, which is one order too many.
fn channel(id: c_int) -> u32 {
    BY_ID | (id as u32 & (BY_ID - 1))
}

/// The objects of one semaphore of a set: of its value, and of its being zero. They lie where the
/// target has no memory. Semaphores may share them, which is one order too many.
fn semaphore(id: c_int, number: u16) -> (usize, usize) {
    const SEMAPHORES: usize = 0x4a00_0000_0000;
    let mixed = (u64::from(id as u32) << 16 | u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = SEMAPHORES + (mixed >> 34) as usize * 16;
    (value, value + 8)
}

/// Incrementing counts before the call: waiters go on. Decrementing counts after it, and before it
/// for whoever waits for zero.
unsafe fn operating(
    t: Current,
    id: c_int,
    ops: *const libc::sembuf,
    n: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // The kernel rejects a null pointer.
    let ops = match ops.is_null() {
        true => &[],
        // SAFETY: the caller's array.
        false => unsafe { core::slice::from_raw_parts(ops, n) },
    };
    for o in ops.iter().filter(|o| o.sem_op != 0) {
        let (value, zero) = semaphore(id, o.sem_num);
        sync::release(t, if o.sem_op > 0 { value } else { zero });
    }
    let r = real();
    for o in ops.iter().filter(|o| r == 0 && o.sem_op <= 0) {
        let (value, zero) = semaphore(id, o.sem_num);
        sync::acquire(current(), if o.sem_op < 0 { value } else { zero });
    }
    r
}

/// The operations of an explored thread.
fn explored(
    pc: usize,
    id: c_int,
    (ops, n): (*mut libc::sembuf, usize),
    until: Until,
    real: impl Fn(*mut libc::sembuf) -> c_int,
) -> c_int {
    /// More than the kernel takes, unless it is told otherwise.
    const MOST: usize = 512;
    if ops.is_null() || n == 0 || n > MOST {
        // The kernel rejects them.
        return real(ops);
    }
    explore::memory::acquired(key(channel(id)));
    explore::memory::released(key(channel(id)));
    // SAFETY: the caller's array.
    let given = unsafe { core::slice::from_raw_parts(ops, n) };
    let waits = given.iter().any(|o| o.sem_flg as c_int & libc::IPC_NOWAIT == 0);
    by_id::calls(ById::Operations(id, ops as usize, n), (waits, until), pc, |at_once| {
        if !at_once {
            return real(ops);
        }
        let mut copy = [libc::sembuf { sem_num: 0, sem_op: 0, sem_flg: 0 }; MOST];
        for (to, from) in copy.iter_mut().zip(given) {
            *to = libc::sembuf { sem_flg: from.sem_flg | libc::IPC_NOWAIT as i16, ..*from };
        }
        real(copy.as_mut_ptr())
    })
}

/// How full the POSIX queue is.
fn filled(q: c_int) -> Option<Queue> {
    // SAFETY: zero is a valid description.
    let mut told = unsafe { core::mem::zeroed::<libc::mq_attr>() };
    let args = [q as usize, 0, &raw mut told as usize, 0, 0, 0];
    (sys::syscall(libc::SYS_mq_getsetattr, args) == 0)
        .then_some(Queue { has: told.mq_curmsgs, most: told.mq_maxmsg })
}

/// How many bytes the queue of System V holds.
fn room_of(q: c_int) -> Option<usize> {
    // SAFETY: zero is a valid description.
    let mut told = unsafe { core::mem::zeroed::<libc::msqid_ds>() };
    let args = [q as usize, libc::IPC_STAT as usize, &raw mut told as usize, 0, 0, 0];
    (sys::syscall(libc::SYS_msgctl, args) == 0).then_some(told.msg_qbytes as usize)
}

/// A message is sent, when the queue has room for it.
fn sent(t: Current, writing: Writing, real: impl FnOnce() -> c_int) -> c_int {
    let r = real();
    writing.done(t, r == 0, true);
    r
}

/// Data was moved from one descriptor into another.
fn moving(t: Current, from: c_int, to: c_int, real: impl FnOnce() -> isize) -> isize {
    // The reader of `to` must learn what the first reader of `from` would learn.
    moves(from, to);
    received(t, from);
    sending(t, to);
    room::making(t, from);
    let writing = Writing::new(to, usize::MAX);
    let r = real();
    writing.done(t, r >= 0, true);
    if r > 0 {
        // It may have waited here.
        received(current(), from);
        sending(current(), to);
    }
    r
}

/// Until when the kernel is to wait: not at all, if the scheduler has.
fn unless_waited(until: Time) -> Time {
    static PAST: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    if explore::is_running() { (&raw const PAST).cast() } else { until }
}

/// An explored thread has got a message, or none.
fn has_come(t: Current, pc: usize, q: c_int, (text, got): (Text, isize), priority: *mut c_uint) -> isize {
    if got >= 0 {
        explore::memory::acquired(key(channel(q)));
        Call::new(t, pc).wrote(text, got as usize);
        Call::new(t, pc).wrote_one(priority);
    }
    got
}

type Text = *mut c_void;
type Time = *const c_void;

interpose! {
    fn mq_send(q: c_int, text: Text, n: usize, priority: c_uint) -> c_int, |t, pc, real| {
        Call::new(t, pc).reads(text, n);
        put(t, channel(q));
        sent(t, Writing::into_queue(channel(q), filled(q)), || real(q, text, n, priority))
    } record as detect, tsvd real, explore {
        Call::new(t, pc).reads(text, n);
        if !explore::sync::queue(q, libc::POLLOUT, Until::NEVER, pc) {
            return -1;
        }
        explore::memory::released(key(channel(q)));
        real(q, text, n, priority)
    }
    fn mq_timedsend(q: c_int, text: Text, n: usize, priority: c_uint, until: Time) -> c_int, |t, pc, real| {
        Call::new(t, pc).reads(text, n);
        put(t, channel(q));
        sent(t, Writing::into_queue(channel(q), filled(q)), || real(q, text, n, priority, until))
    } record as detect, tsvd real, explore {
        Call::new(t, pc).reads(text, n);
        if !explore::sync::queue(q, libc::POLLOUT, Until::new(libc::CLOCK_REALTIME, until), pc) {
            return -1;
        }
        explore::memory::released(key(channel(q)));
        real(q, text, n, priority, unless_waited(until))
    }
    fn mq_receive(q: c_int, text: Text, n: usize, priority: *mut c_uint) -> isize, |t, pc, real| {
        room::making_in(t, channel(q));
        let got = real(q, text, n, priority);
        if got >= 0 {
            taken(current(), channel(q));
            Call::new(t, pc).wrote(text, got as usize);
            Call::new(t, pc).wrote_one(priority);
        }
        got
    } record as detect, tsvd real, explore {
        if !explore::sync::queue(q, libc::POLLIN, Until::NEVER, pc) {
            return -1;
        }
        let got = real(q, text, n, priority);
        has_come(t, pc, q, (text, got), priority)
    }
    fn mq_timedreceive(q: c_int, text: Text, n: usize, priority: *mut c_uint, until: Time) -> isize, |t, pc, real| {
        room::making_in(t, channel(q));
        let got = real(q, text, n, priority, until);
        if got >= 0 {
            taken(current(), channel(q));
            Call::new(t, pc).wrote(text, got as usize);
            Call::new(t, pc).wrote_one(priority);
        }
        got
    } record as detect, tsvd real, explore {
        if !explore::sync::queue(q, libc::POLLIN, Until::new(libc::CLOCK_REALTIME, until), pc) {
            return -1;
        }
        let got = real(q, text, n, priority, unless_waited(until));
        has_come(t, pc, q, (text, got), priority)
    }
    fn msgget(key: libc::key_t, flags: c_int) -> c_int, |_t, _pc, real| { real(key, flags) } record as detect, tsvd real, explore {
        let looks_up = || real(key, flags & !libc::IPC_CREAT);
        by_id::make((key, flags), libc::SYS_msgctl, looks_up, || real(key, flags))
    }
    fn semget(key: libc::key_t, n: c_int, flags: c_int) -> c_int, |_t, _pc, real| { real(key, n, flags) } record as detect, tsvd real, explore {
        let looks_up = || real(key, 0, flags & !libc::IPC_CREAT);
        by_id::make((key, flags), libc::SYS_semctl, looks_up, || real(key, n, flags))
    }
    fn shmget(key: libc::key_t, n: usize, flags: c_int) -> c_int, |_t, _pc, real| { real(key, n, flags) } record as detect, tsvd real, explore {
        let looks_up = || real(key, 0, flags & !libc::IPC_CREAT);
        by_id::make((key, flags), libc::SYS_shmctl, looks_up, || real(key, n, flags))
    }
    fn msgsnd(q: c_int, text: Text, n: usize, flags: c_int) -> c_int, |t, pc, real| {
        Call::new(t, pc).reads(text, size_of::<c_long>() + n);
        put(t, channel(q));
        sent(t, Writing::into_bytes(channel(q), n, room_of(q)), || real(q, text, n, flags))
    } record as detect, tsvd real, explore {
        Call::new(t, pc).reads(text, size_of::<c_long>() + n);
        let waits = flags & libc::IPC_NOWAIT == 0;
        by_id::calls(ById::Room(q, n), (waits, Until::NEVER), pc, |at_once| {
            explore::memory::released(key(channel(q)));
            real(q, text, n, if at_once { flags | libc::IPC_NOWAIT } else { flags })
        })
    }
    fn msgrcv(q: c_int, text: Text, n: usize, kind: c_long, flags: c_int) -> isize, |t, pc, real| {
        room::making_in(t, channel(q));
        let got = real(q, text, n, kind, flags);
        if got >= 0 {
            taken(current(), channel(q));
            Call::new(t, pc).wrote(text, size_of::<c_long>() + got as usize);
        }
        got
    } record as detect, tsvd real, explore {
        let waits = flags & libc::IPC_NOWAIT == 0;
        let got = by_id::calls(ById::Message(q, kind, flags), (waits, Until::NEVER), pc, |at_once| {
            real(q, text, n, kind, if at_once { flags | libc::IPC_NOWAIT } else { flags })
        });
        if got >= 0 {
            explore::memory::acquired(key(channel(q)));
            Call::new(t, pc).wrote(text, size_of::<c_long>() + got as usize);
        }
        got
    }
    fn semop(id: c_int, ops: *mut libc::sembuf, n: usize) -> c_int, |t, pc, real| { operating(t, id, ops, n, || real(id, ops, n)) } record as detect, tsvd real, explore {
        explored(pc, id, (ops, n), Until::NEVER, |ops| real(id, ops, n))
    }
    fn semtimedop(id: c_int, ops: *mut libc::sembuf, n: usize, until: Time) -> c_int, |t, pc, real| {
        operating(t, id, ops, n, || real(id, ops, n, until))
    } record as detect, tsvd real, explore {
        explored(pc, id, (ops, n), Until::after(until), |ops| real(id, ops, n, until))
    }
    fn sendmmsg(fd: c_int, messages: *mut libc::mmsghdr, n: c_uint, flags: c_int) -> c_int, |t, pc, real| {
        (0..n as usize).for_each(|i| sends(&mut Call::new(t, pc), &raw const (*messages.add(i)).msg_hdr));
        sending(t, fd);
        let writing = Writing::new(fd, usize::MAX);
        let r = real(fd, messages, n, flags);
        writing.done(t, r >= 0, true);
        r
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(fd, messages, n, flags) }
    fn recvmmsg(fd: c_int, messages: *mut libc::mmsghdr, n: c_uint, flags: c_int, until: Text) -> c_int, |t, pc, real| {
        room::making(t, fd);
        let got = real(fd, messages, n, flags, until);
        if got > 0 {
            received(current(), fd);
            for message in core::slice::from_raw_parts(messages, got as usize) {
                receives(&mut Call::new(t, pc), &raw const message.msg_hdr, message.msg_len as usize);
                Call::new(t, pc).wrote_one(&raw const message.msg_len);
            }
        }
        got
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(fd, messages, n, flags, until) }
    fn splice(from: c_int, at: Text, to: c_int, there: Text, n: usize, flags: c_uint) -> isize, |t, pc, real| {
        moving(t, from, to, || real(from, at, to, there, n, flags))
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(from, at, to, there, n, flags) }
    fn tee(from: c_int, to: c_int, n: usize, flags: c_uint) -> isize, |t, pc, real| { moving(t, from, to, || real(from, to, n, flags)) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(from, to, n, flags) }
    fn sendfile(to: c_int, from: c_int, at: Text, n: usize) -> isize, |t, pc, real| { moving(t, from, to, || real(to, from, at, n)) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(to, from, at, n) }
    fn sendfile64(to: c_int, from: c_int, at: Text, n: usize) -> isize, |t, pc, real| { moving(t, from, to, || real(to, from, at, n)) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(to, from, at, n) }
    fn copy_file_range(from: c_int, at: Text, to: c_int, there: Text, n: usize, flags: c_uint) -> isize, |t, pc, real| {
        moving(t, from, to, || real(from, at, to, there, n, flags))
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(from, at, to, there, n, flags) }
    fn vmsplice(fd: c_int, parts: Text, n: usize, flags: c_uint) -> isize, |t, pc, real| {
        gathers(&mut Call::new(t, pc), parts.cast(), n);
        sending(t, fd);
        let bytes = total(parts.cast(), n);
        let writing = Writing::new(fd, bytes);
        let r = real(fd, parts, n, flags);
        writing.done(t, r >= 0, r == bytes as isize);
        r
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(fd, parts, n, flags) }
}
