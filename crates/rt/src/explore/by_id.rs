//! Waits for System V message queues and semaphores. The one system thread of an explored program
//! must not wait in the kernel, so the scheduler waits instead, until the kernel would not.
//!
//! The kernel is asked each time: other threads change these objects by calls that raddle does not
//! see, such as `semctl`, and so do other processes. A thread that waits for a message gets it when
//! it runs next, and not at the moment when it is sent, so another may take it first. That is the
//! same as if the thread had called later: waiting has no other effect.
//!
//! Where the kernel does not show messages without taking them (`MSG_COPY`), or where a message is
//! larger than usual, a wait for messages of one type ends as soon as there is any message.

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicUsize, Ordering::Relaxed};

use raddle_explore::{OpKind, SYSTEM_V};
use raddle_wire::explore::Outside;

use super::point::{Breaks, WaitEnd};
use super::sync::{Until, wait_until};
use super::{Wait, fork, hidden, op, retry_with_fork, serve::shares_memory, state};
use crate::sys;

/// What a thread waits for, by the object's id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ById {
    /// A message of this type, by the arguments of `msgrcv`.
    Message(c_int, c_long, c_int),
    /// Room for a message of this length.
    Room(c_int, usize),
    /// All of these operations, an array and its length, can be made.
    Operations(c_int, usize, usize),
}

/// The longest message that is looked at: what a kernel allows unless it is told otherwise.
const LONGEST: usize = 8192;

/// Makes a call that may wait if it `waits`: `real` makes it, without waiting if it is told so. The
/// kernel is asked first, as it refuses some calls at once, however full a queue is.
pub fn calls<R: Copy + PartialOrd + From<i8>>(
    what: ById,
    (waits, until): (bool, Until),
    pc: usize,
    real: impl Fn(bool) -> R,
) -> R {
    if !state().running {
        return real(false);
    }
    // They outlive the process.
    retry_with_fork(Outside::Changes);
    hidden::note(raddle_wire::explore::gap::OUTSIDE);
    let mut wait = Wait::Nothing;
    loop {
        match wait_until(op(OpKind::Other, SYSTEM_V as usize, pc), wait, until, Breaks::AnyHandler, pc) {
            WaitEnd::Over => {}
            WaitEnd::GaveUp => {
                sys::set_errno(libc::EAGAIN);
                return R::from(-1);
            }
            WaitEnd::Broken => {
                sys::set_errno(libc::EINTR);
                return R::from(-1);
            }
        }
        let made = real(true);
        if made >= R::from(0) || !waits || !matches!(sys::errno(), libc::EAGAIN | libc::ENOMSG) {
            return made;
        }
        wait = Wait::ById(what);
    }
}

/// The objects that this execution has made: the system call that removes one, and its id. Only one
/// thread runs at a time, in a process made for the execution.
static MADE: [(AtomicI64, AtomicI32); MOST] = [const { (AtomicI64::new(0), AtomicI32::new(0)) }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Those beyond this many stay behind.
const MOST: usize = 256;

/// `real` makes an object that outlives the process, or looks one up, as `looks_up` does. What this
/// makes is removed with the execution: the next one would find it, and a machine has room for some
/// thousands.
pub fn make(
    (key, flags): (libc::key_t, c_int),
    removes: c_long,
    looks_up: impl FnOnce() -> c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if !super::is_on() {
        return real();
    }
    retry_with_fork(Outside::Changes);
    if !state().serve.is_child() {
        // It is made before the first thread, and each execution needs its own.
        shares_memory();
    }
    let makes = key == libc::IPC_PRIVATE
        || flags & libc::IPC_CREAT != 0 && (flags & libc::IPC_EXCL != 0 || looks_up() < 0);
    let id = real();
    if id >= 0 && makes {
        let i = COUNT.fetch_add(1, Relaxed);
        if let Some((call, made)) = MADE.get(i) {
            call.store(removes, Relaxed);
            made.store(id, Relaxed);
        }
    }
    id
}

fn made() -> &'static [(AtomicI64, AtomicI32)] {
    &MADE[..COUNT.load(Relaxed).min(MOST)]
}

/// At the end of the execution. Those that the program has removed are unknown to the kernel.
pub fn remove_made() {
    for (removes, id) in made() {
        let (number, id) = (removes.load(Relaxed), id.load(Relaxed) as usize);
        // `semctl` has the number of a semaphore before the command.
        let command = libc::IPC_RMID as usize;
        match number {
            libc::SYS_semctl => call(number, [id, 0, command, 0, 0]),
            _ => call(number, [id, command, 0, 0, 0]),
        };
    }
    COUNT.store(0, Relaxed);
}

fn call(number: i64, args: [usize; 5]) -> isize {
    sys::syscall(number, [args[0], args[1], args[2], args[3], args[4], 0])
}

/// What the kernel says of a queue. None: it is gone.
fn queue(id: c_int) -> Option<libc::msqid_ds> {
    // SAFETY: zero is a valid description.
    let mut told = unsafe { core::mem::zeroed::<libc::msqid_ds>() };
    let args = [id as usize, libc::IPC_STAT as usize, &raw mut told as usize, 0, 0];
    (call(libc::SYS_msgctl, args) == 0).then_some(told)
}

impl ById {
    /// True if the kernel would not wait: it would do what was asked, or return an error.
    pub fn is_ready(self) -> bool {
        match self {
            ById::Message(id, kind, flags) => {
                queue(id).is_none_or(|q| q.msg_qnum > 0 && has_message(id, q.msg_qnum as usize, kind, flags))
            }
            ById::Room(id, n) => queue(id).is_none_or(|q| {
                let (used, most) = (q.__msg_cbytes as usize, q.msg_qbytes as usize);
                used + n <= most && (q.msg_qnum as usize) < most
            }),
            // SAFETY: the array of the waiting thread's call.
            ById::Operations(id, at, n) => unsafe {
                can_operate(id, core::slice::from_raw_parts(at as *const libc::sembuf, n))
            },
        }
    }

    /// True if another process may end the wait: one that runs, or one that finds the object by its
    /// key. Nobody else is taken to know of what this execution has made.
    pub fn may_be_ended_outside(self) -> bool {
        let (ById::Message(id, ..) | ById::Room(id, _) | ById::Operations(id, ..)) = self;
        fork::is_any_child_alive() || !made().iter().any(|(_, made)| made.load(Relaxed) == id)
    }
}

/// True if one of `n` messages is of this kind.
fn has_message(id: c_int, n: usize, kind: c_long, flags: c_int) -> bool {
    const COPY: usize = 0o40000;
    // `msgrcv` writes the type, and then the text.
    let mut message = [0u64; 1 + LONGEST / 8];
    kind == 0
        || (0..n).any(|i| {
            let how = libc::IPC_NOWAIT as usize | COPY | libc::MSG_NOERROR as usize;
            let args = [id as usize, message.as_mut_ptr() as usize, LONGEST, i, how];
            call(libc::SYS_msgrcv, args) < 0 || is_kind(message[0] as c_long, kind, flags)
        })
}

/// True if `msgrcv` with these arguments takes a message of type `found`.
fn is_kind(found: c_long, kind: c_long, flags: c_int) -> bool {
    match kind {
        0 => true,
        1.. if flags & libc::MSG_EXCEPT != 0 => found != kind,
        1.. => found == kind,
        _ => found <= kind.saturating_neg(),
    }
}

/// True if the kernel makes all operations, or returns an error, at once.
fn can_operate(id: c_int, operations: &[libc::sembuf]) -> bool {
    let value =
        |number: u16| call(libc::SYS_semctl, [id as usize, number as usize, libc::GETVAL as usize, 0, 0]);
    go_through(operations, value)
}

/// [`can_operate`] for semaphores of these values; a negative value is an error.
fn go_through(operations: &[libc::sembuf], value: impl Fn(u16) -> isize) -> bool {
    for (i, o) in operations.iter().enumerate() {
        let before = value(o.sem_num);
        if before < 0 {
            return true;
        }
        let earlier = operations[..i].iter().filter(|e| e.sem_num == o.sem_num);
        let before = before + earlier.map(|e| e.sem_op as isize).sum::<isize>();
        let waits = if o.sem_op == 0 { before != 0 } else { before + (o.sem_op as isize) < 0 };
        if waits {
            return o.sem_flg as c_int & libc::IPC_NOWAIT != 0;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_messages_are_matched_as_by_the_kernel() {
        assert!(is_kind(3, 0, 0) && is_kind(3, 3, 0) && !is_kind(3, 2, 0));
        assert!(is_kind(3, 2, libc::MSG_EXCEPT) && !is_kind(2, 2, libc::MSG_EXCEPT));
        assert!(is_kind(3, -3, 0) && is_kind(1, -3, 0) && !is_kind(4, -3, 0));
    }

    #[test]
    fn operations_are_made_together_or_not_at_all() {
        let op = |sem_num, sem_op, flags: c_int| libc::sembuf { sem_num, sem_op, sem_flg: flags as i16 };
        let values = |number: u16| [2, 0].get(number as usize).map_or(-1, |v| *v);
        let can = |operations: &[libc::sembuf]| go_through(operations, values);
        assert!(can(&[op(0, -2, 0)]) && !can(&[op(0, -3, 0)]));
        assert!(can(&[op(1, 0, 0)]) && !can(&[op(0, 0, 0)]), "waits for zero");
        assert!(!can(&[op(0, -1, 0), op(1, -1, 0)]), "one of them waits");
        assert!(can(&[op(1, 1, 0), op(1, -1, 0)]), "in their order");
        assert!(!can(&[op(0, -2, 0), op(0, -1, 0)]), "the first counts for the second");
        assert!(can(&[op(0, -3, libc::IPC_NOWAIT)]), "it fails at once");
        assert!(can(&[op(7, -3, 0)]), "there is no such semaphore");
    }
}
