//! Processes that an explored program makes.
//!
//! A fork is a step of the thread that forks; the parent continues as one logical thread among the
//! others. The child has only that thread, as the C library specifies, and runs unexplored. It does
//! not outlive the execution, which may end while the child hangs.
//!
//! Waiting for a child is waiting for the outside world. The child's speed must not decide what can
//! be chosen. So a thread that begins to wait first gives the child some real time to end.

use core::ffi::{c_int, c_void};

use raddle_explore::OpKind;
use raddle_wire::explore::Outside;

use super::point::{Breaks, WaitEnd, point, wait};
use super::{Wait, is_on, op, retry_with_fork, state};
use crate::sys;

/// How long a child may take before others go first.
const GRACE_MS: u32 = 200;

unsafe extern "C" {
    fn __register_atfork(
        before: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        dso: *mut c_void,
    ) -> c_int;
}

/// Called before the program registers anything: child handlers run in the order of registration.
pub fn prepare() {
    // SAFETY: a handler that lives as long as the process.
    unsafe { __register_atfork(None, None, Some(in_child), core::ptr::null_mut()) };
}

/// The process is a child that the program has made. Nothing is explored in it.
pub extern "C" fn in_child() {
    if !is_on() {
        return;
    }
    super::turn_off();
    super::signals::give_back();
    sys::syscall(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
}

/// The running thread is about to fork.
pub fn forks(pc: usize) {
    // A child made before the first thread can be waited for only once.
    state().serve.has_forked = true;
    retry_with_fork(Outside::Process);
    point(op(OpKind::Other, 0, pc), Wait::Nothing, pc);
}

/// True if `waitpid` with this argument would return at once.
pub fn has_ended(which: c_int) -> bool {
    let (kind, id) = match which {
        -1 => (libc::P_ALL, 0),
        0 => (libc::P_PGID, 0),
        pid if pid > 0 => (libc::P_PID, pid),
        group => (libc::P_PGID, -group),
    };
    // SAFETY: zero is a valid description.
    let mut info = unsafe { core::mem::zeroed::<libc::siginfo_t>() };
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let args = [kind as usize, id as usize, &raw mut info as usize, how as usize, 0, 0];
    let r = sys::syscall(libc::SYS_waitid, args);
    // SAFETY: filled in, or zero.
    r != 0 || unsafe { info.si_pid() } != 0
}

/// True if a child runs that could change an object at this address.
#[cold]
pub fn may_change(address: usize) -> bool {
    is_any_child_alive() && super::snapshot::is_shared(address)
}

/// True if a child runs that `fork` made.
#[cold]
pub fn is_any_child_alive() -> bool {
    state().children.count > 0 && is_any_alive()
}

/// Children that share memory with the program: those that `fork` made.
pub struct Children {
    pids: [c_int; 16],
    count: usize,
}

/// The program, which continues, has forked a child.
pub fn made(pid: c_int) {
    if !is_on() {
        return;
    }
    let children = &mut state().children;
    if let Some(place) = children.pids.get_mut(children.count) {
        *place = pid;
    }
    children.count += 1;
}

fn is_any_alive() -> bool {
    let Children { pids, count } = &state().children;
    *count > pids.len() || pids[..*count].iter().any(|pid| !has_ended(*pid))
}

/// No thread can go on, and threads wait on condition variables in memory shared with children.
/// These may have signalled, which raddle does not see. A wait may return spuriously, and the
/// thread then looks for itself. False if that was tried often enough.
#[cold]
pub fn wakes_who_share() -> bool {
    const MOST: u32 = 2000;
    let mut s = state();
    let shares = |i: &usize| {
        let t = &state().threads[*i];
        let on_condition = !t.ended && t.meant.kind() == OpKind::CondWake && !t.told;
        matches!(t.wait, Wait::ToldAndMutex(c, _) if on_condition && super::snapshot::is_shared(c))
    };
    if s.children.count == 0 || s.shared_wakes >= MOST || !(0..s.count).any(|i| shares(&i)) {
        return false;
    }
    // A child that has ended can have signalled before.
    s.shared_wakes = if is_any_alive() { s.shared_wakes + 1 } else { MOST };
    (0..s.count).filter(shares).for_each(|i| state().threads[i].told = true);
    true
}

/// Before a call that waits for a child, unless it does not wait. False if the wait is broken off;
/// then `errno` is set.
#[must_use]
pub fn waits(which: c_int, options: c_int, pc: usize) -> bool {
    if !state().running {
        return true;
    }
    let mut left = GRACE_MS;
    while left > 0 && !has_ended(which) {
        sys::sleep_ms(1);
        left -= 1;
    }
    let what = if options & libc::WNOHANG != 0 { Wait::Nothing } else { Wait::Child(which) };
    let end = wait(op(OpKind::Other, 0, pc), what, None, Breaks::Handler, pc);
    if end == WaitEnd::Broken {
        sys::set_errno(libc::EINTR);
    }
    end != WaitEnd::Broken
}
