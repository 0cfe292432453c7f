//! Waits that only the outside world can end: for a signal that ends the program, for a client.
//!
//! Nobody outside acts while a program is explored. So a server that waits to be ended looks like a
//! deadlock, or like threads that loop for ever. This module tells the driver, which then does not
//! report one.

use core::ffi::c_int;

use raddle_wire::explore::awaits;

use super::{Several, Wait, signals, state};
use crate::sys;

/// Signals that people and service managers send.
const SENT: [c_int; 6] =
    [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// The [`awaits`] flags of all threads and of the program.
#[cold]
pub fn awaited() -> u32 {
    let s = state();
    let live = s.threads[..s.count].iter().filter(|t| !t.ended);
    let waiting = live.fold(0, |all, t| all | by_wait(t.wait) | by_child(t.wait));
    let handled = SENT.into_iter().any(is_handled_for_others);
    waiting | if handled { awaits::HANDLER } else { 0 }
}

/// True if the program has a handler for a signal that it does not send itself.
fn is_handled_for_others(signal: c_int) -> bool {
    signals::is_handled(signal) && !signals::was_sent(signal)
}

fn by_wait(wait: Wait) -> u32 {
    match wait {
        Wait::Signal(set) if SENT.into_iter().any(|n| set & 1 << (n - 1) != 0 && !signals::was_sent(n)) => {
            awaits::SIGNAL
        }
        Wait::Handler if SENT.into_iter().any(is_handled_for_others) => awaits::SIGNAL,
        Wait::Descriptor(fd, _) if listens(fd) => awaits::CONNECTION,
        Wait::Several(Several::Poll(fds, n)) if n > 0 => {
            // SAFETY: the program's array, which it waits with.
            let fds = unsafe { core::slice::from_raw_parts(fds as *const libc::pollfd, n) };
            if fds.iter().any(|f| listens(f.fd)) { awaits::CONNECTION } else { 0 }
        }
        Wait::Several(Several::Select(n, sets)) if sets[0] != 0 => {
            let listening = |fd: c_int| {
                // SAFETY: the program's set, of `n` descriptors.
                let byte = unsafe { *(sets[0] as *const u8).add(fd as usize / 8) };
                byte & 1 << (fd % 8) != 0 && listens(fd)
            };
            if (0..n.min(1024)).any(listening) { awaits::CONNECTION } else { 0 }
        }
        // There is no way to ask what an epoll descriptor watches, so check the first few
        // descriptors.
        Wait::Several(_) => {
            const FEW: c_int = 64;
            if (0..FEW).any(listens) { awaits::CONNECTION } else { 0 }
        }
        _ => 0,
    }
}

fn by_child(wait: Wait) -> u32 {
    let may_end = match wait {
        Wait::ById(which) => which.may_be_ended_outside(),
        other => other.object().is_some_and(super::fork::may_change),
    };
    if may_end { awaits::PROCESS } else { 0 }
}

/// True if it is a listening socket.
fn listens(fd: c_int) -> bool {
    let (mut listens, mut len): (c_int, u32) = (0, 4);
    let args = [
        fd as usize,
        libc::SOL_SOCKET as usize,
        libc::SO_ACCEPTCONN as usize,
        &raw mut listens as usize,
        &raw mut len as usize,
        0,
    ];
    sys::syscall(libc::SYS_getsockopt, args) == 0 && listens != 0
}
