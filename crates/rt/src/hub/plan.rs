//! The plan for this executable: which program counters are inside locks of a library, and which to
//! ignore.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

use super::session::{PathBuffer, dir, has_driver, is_empty_file, map_file};
use super::{covered, log};
use crate::detect::thread::Thread;
use crate::detect::trace::ENTERED;
use crate::sys;
use raddle_wire::plan::{LockOperation, Plan};
use raddle_wire::{ASK, Asked, PLAN};

/// How long the driver may take to read the debug information of the executable.
const PATIENCE_MS: i64 = 60_000;

static WORDS: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The load bias: what to add to an address of the file.
static BIAS: AtomicUsize = AtomicUsize::new(0);
/// Each atomic operation reads this, and most plans only have probes to leave out.
static HAS_SITES: AtomicBool = AtomicBool::new(false);

fn plan() -> Option<Plan<'static>> {
    let words = WORDS.load(Acquire);
    if words == 0 {
        return None;
    }
    // SAFETY: a mapping of that many words, which stays.
    Plan::decode(unsafe { core::slice::from_raw_parts(words as *const u64, COUNT.load(Relaxed)) })
}

/// Asks the driver and waits for its answer. The wait ends after a while, or when the driver is
/// gone.
pub fn ask(bias: usize) {
    let mut path = PathBuffer::new(dir());
    path.push(PLAN.as_bytes());
    path.number(sys::pid() as u64);
    // Before `exec`, this process may have left a plan of its own.
    sys::unlink(path.as_ptr());
    let mut fifo = PathBuffer::new(dir());
    fifo.push(ASK.as_bytes());
    let fd = sys::open(fifo.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return log::mark_without_plan();
    }
    sys::write(fd, &Asked { pid: sys::pid(), number: 0 }.encode());
    sys::close(fd);
    let mut waited = 0;
    while waited < PATIENCE_MS {
        if let Some((at, len)) = map_file(&path, 0) {
            sys::unlink(path.as_ptr());
            BIAS.store(bias, Relaxed);
            COUNT.store(len / 8, Relaxed);
            WORDS.store(at, Release);
            return HAS_SITES.store(plan().is_some_and(|p| !p.sites.is_empty()), Relaxed);
        }
        if is_empty_file(&path) || !has_driver() {
            break;
        }
        let nap = if waited < 100 { 1 } else { 10 };
        sys::sleep_ms(nap);
        waited += nap;
    }
    log::mark_without_plan();
}

/// Replaces covered probes by nops. Must be called before there is a second thread.
pub fn leave_out_covered() {
    if let Some(plan) = plan() {
        covered::leave_out(plan.covered, BIAS.load(Relaxed));
    }
}

/// Whether the executable has locks that only a plan knows: it is a Rust program that uses those of
/// std.
#[inline]
pub fn has_sites() -> bool {
    HAS_SITES.load(Relaxed)
}

/// The lock site of the atomic operation that `t` is about to execute at `pc`.
#[inline]
pub fn lock_site(t: &Thread, pc: usize) -> Option<LockOperation> {
    if !has_sites() {
        return None;
    }
    find(t, pc)
}

fn find(t: &Thread, pc: usize) -> Option<LockOperation> {
    let (plan, bias) = (plan()?, BIAS.load(Relaxed));
    let at = |pc: usize| plan.site(pc.wrapping_sub(bias) as u64);
    if let Some(site) = at(pc).filter(|s| s.depth == 0) {
        return Some(site);
    }
    // Unoptimised code wraps the operation in functions, so look at their return addresses.
    let mut frame = t.sp;
    for depth in 1..=3 {
        if frame <= t.trace.stack {
            break;
        }
        // SAFETY: between the bottom of the shadow stack and its top.
        let returns_to = unsafe {
            frame = frame.sub(1);
            *frame & !ENTERED
        };
        if let Some(site) = at(returns_to).filter(|s| s.depth == depth) {
            return Some(site);
        }
    }
    None
}

pub fn is_ignored(pc: usize) -> bool {
    plan().is_some_and(|p| p.is_ignored(pc.wrapping_sub(BIAS.load(Relaxed)) as u64 - 1))
}

pub fn ignores_some() -> bool {
    plan().is_some_and(|p| !p.ignored.is_empty())
}
