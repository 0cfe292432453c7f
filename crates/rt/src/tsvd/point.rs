//! One call of a thread-unsafe function that is about to be made.

use core::ffi::c_char;
use core::num::NonZero;
use core::sync::atomic::{AtomicU32, Ordering::*};

use super::redirect::{self, LIBRARY, RedirectedSite};
use super::state::tsvd;
use super::stub::CallRegisters;
use super::{callers, names, pass};
use crate::detect::thread::current;
use crate::hub::{log, modules};
use crate::interpose::Real;
use crate::sys;
use raddle_tsvd::{ApiPoint, Delay, Host, Tsvd, Violation};
use raddle_wire::record::{CaughtThread, REGISTERS, Record};
use raddle_wire::tsvd::site_flag;

/// The policy number of `std::launch::async`.
const LAUNCH_ASYNC: u64 = 1;

/// Called for every call that did not take the fast path (see [`super::pass`]). Leaves the address
/// of the intended function in `frame.word`.
pub extern "C" fn arrive(frame: &mut CallRegisters) {
    let entry = redirect::entry(frame.word);
    let slot = entry.flags & site_flag::SLOT != 0;
    // SAFETY: a slot of the global offset table, which the loader has filled.
    frame.word = if slot { unsafe { *(entry.target as *const u64) } } else { entry.target as u64 };
    let (stack, return_address) = (&raw const frame.return_address as u64, frame.return_address);
    if entry.flags & site_flag::HOOK != 0 {
        return arrive_at_entry(frame, entry, (stack, return_address));
    }
    let own = &mut current().tsvd;
    own.passed = (stack, return_address);
    if own.inside {
        return;
    }
    own.inside = true;
    super::loading::look_if_pending();
    go_on(frame, entry, CallPlace { site: entry.id, started: None });
    current().tsvd.inside = false;
}

/// A call that arrives at a watched entry, perhaps through a pointer.
#[inline(never)]
fn arrive_at_entry(frame: &mut CallRegisters, entry: &'static RedirectedSite, call: (u64, u64)) {
    if !callers::is_watched(call.1) {
        return begin(frame, entry);
    }
    let own = &mut current().tsvd;
    if own.inside || own.passed == call {
        return;
    }
    own.inside = true;
    if let Some(site) = callers::site(entry.id, call.1) {
        go_on(frame, entry, CallPlace { site, started: None });
    }
    current().tsvd.inside = false;
}

/// A call from unwatched code. It is a point only if watched code created the thread to run this
/// function.
#[cold]
#[inline(never)]
fn begin(frame: &mut CallRegisters, entry: &'static RedirectedSite) {
    let own = &mut current().tsvd;
    let Some(started) = own.take_start(entry.behind as u64) else { return };
    if own.inside || !callers::is_watched(started.get()) {
        return;
    }
    own.inside = true;
    if let Some(site) = callers::site(entry.id, started.get()) {
        go_on(frame, entry, CallPlace { site, started: Some(started) });
    }
    current().tsvd.inside = false;
}

/// The site of a call.
#[derive(Clone, Copy)]
struct CallPlace {
    site: u32,
    /// If set, the call is not made by the program's code: a thread that was created there begins
    /// with it.
    started: Option<NonZero<u64>>,
}

#[inline(always)]
fn go_on(frame: &mut CallRegisters, entry: &'static RedirectedSite, place: CallPlace) {
    let own = &mut current().tsvd;
    if entry.flags & site_flag::ASYNC != 0 {
        if entry.flags & site_flag::LOOKUP == site_flag::LOOKUP {
            names::look_up(frame.arguments[1] as *const c_char);
        } else {
            frame.arguments[1] = LAUNCH_ASYNC;
        }
    } else if let (Some(object), Some(tsvd)) = (object(frame, entry), tsvd()) {
        let write = entry.flags & site_flag::WRITE != 0;
        let thread = own.number();
        own.lane = tsvd.lane(thread) as usize;
        let point = ApiPoint { thread, site: place.site, object: key(object, entry.mix), write };
        let mut here = Here { frame, entry, place, object };
        if let Some(delay) = tsvd.on_call(now(), &point, &mut here) {
            hold(tsvd, &delay, &mut here);
        }
        if here.entry.flags & site_flag::ENDS != 0 {
            tsvd.object_gone(point.object);
        }
        pass::renew(&mut current().tsvd, tsvd, thread);
    }
}

/// The object of the call. None if others cannot have it, or if the library lets them share it.
#[inline(always)]
fn object(frame: &CallRegisters, entry: &RedirectedSite) -> Option<u64> {
    if entry.object == LIBRARY {
        return Some(1);
    }
    let mut object = frame.arguments[entry.object as usize];
    if object == 0 {
        return None;
    }
    let stack = &raw const frame.return_address as u64;
    if entry.flags & site_flag::OFTEN_LOCAL != 0 && object.wrapping_sub(stack) < NEAR_FRAMES {
        return None;
    }
    if entry.flags & site_flag::EXEMPTS != 0 && redirect::is_exempt(object) {
        return None;
    }
    if entry.field >= 0 {
        // SAFETY: the list says that the object is at least this long; the callee would read it as
        // well.
        object = unsafe { *((object + entry.field as u64) as *const u64) };
    }
    if entry.via | entry.safe_if == 0 {
        return (object != 0).then_some(object);
    }
    ask_library(object, entry)
}

/// How far up the stack an object counts as the caller's own.
pub const NEAR_FRAMES: u64 = 64 << 10;

/// Asks functions of the library what the object belongs to and whether it may be shared.
#[cold]
fn ask_library(mut object: u64, entry: &RedirectedSite) -> Option<u64> {
    // SAFETY: the list names functions of the library with this type, which the driver has found in
    // it.
    let call = |function: usize, object: u64| unsafe {
        core::mem::transmute::<usize, extern "C" fn(u64) -> u64>(function)(object)
    };
    if entry.via != 0 && object != 0 {
        object = call(entry.via, object);
    }
    if object == 0 || entry.safe_if != 0 && call(entry.safe_if, object) != 0 {
        return None;
    }
    Some(object)
}

/// Objects of different classes may have the same address.
#[inline(always)]
fn key(object: u64, mix: u64) -> u64 {
    let key = object ^ mix;
    if key == 0 { 1 } else { key }
}

#[inline(always)]
pub fn now() -> u64 {
    static CLOCK: Real = Real::new(c"clock_gettime", None);
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the C library's function of that name has this type; it asks the vDSO, without a
    // system call.
    unsafe {
        let clock =
            core::mem::transmute::<usize, extern "C" fn(i32, *mut libc::timespec) -> i32>(CLOCK.get());
        clock(libc::CLOCK_MONOTONIC, &mut time);
    }
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The host for calls of the core that only wait for another thread.
pub struct Waiting;

impl Host for Waiting {
    fn violation(&mut self, _: &Violation) {}

    fn relax(&mut self) {
        sys::yield_now();
    }
}

/// A thread at its call, for the core and for the thread that springs its trap.
struct Here<'a> {
    frame: &'a CallRegisters,
    entry: &'static RedirectedSite,
    place: CallPlace,
    object: u64,
}

/// What a delayed thread leaves for the thread that springs its trap.
struct DelayedThread<'a> {
    here: &'a Here<'a>,
    name: [u8; 16],
}

impl Host for Here<'_> {
    fn violation(&mut self, violation: &Violation) {
        caught(self, violation);
    }

    fn relax(&mut self) {
        sys::yield_now();
    }
}

/// Sets the trap and sleeps to the end of the delay, caught or not: see deviation 1 of the module.
#[cold]
#[inline(never)]
fn hold(tsvd: &Tsvd, delay: &Delay, here: &mut Here) {
    if !super::pay(delay.start, delay.nanos) {
        tsvd.refuse(delay);
        return;
    }
    // While the trap is set, no handler may leave by a jump, and nobody may cancel the thread.
    let mask = sys::block_signals();
    let held = DelayedThread { here: &*here, name: thread_name() };
    let cookie = &raw const held as u64;
    let mut waiting = Here { ..*here };
    if tsvd.trap_set(delay, cookie, &mut waiting) {
        sleep_until(delay.start + delay.nanos);
        tsvd.delay_done(now(), delay, &mut waiting);
    }
    sys::set_blocked_signals(mask);
}

fn sleep_until(end: u64) {
    let time = libc::timespec { tv_sec: (end / 1_000_000_000) as i64, tv_nsec: (end % 1_000_000_000) as i64 };
    let (clock, absolute) = (libc::CLOCK_MONOTONIC as usize, libc::TIMER_ABSTIME as usize);
    while sys::syscall(libc::SYS_clock_nanosleep, [clock, absolute, &raw const time as usize, 0, 0, 0])
        == -(libc::EINTR as isize)
    {}
}

fn thread_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    let get = libc::PR_GET_NAME as usize;
    sys::syscall(libc::SYS_prctl, [get, name.as_mut_ptr() as usize, 0, 0, 0, 0]);
    name
}

/// Pairs that were caught before are reported again this often, perhaps with other stacks.
const MOST_AGAIN: u32 = 8;
static AGAIN: AtomicU32 = AtomicU32::new(0);

#[cold]
fn caught(here: &Here, violation: &Violation) {
    if violation.repeated && AGAIN.fetch_add(1, Relaxed) >= MOST_AGAIN {
        return;
    }
    // SAFETY: what the delayed thread passed to `trap_set`; it cannot continue before this returns.
    let held = unsafe { &*(violation.cookie as *const DelayedThread) };
    modules::refresh();
    let name = thread_name();
    log::write(&Record::Violation {
        object: here.object,
        now: describe(here, &name, violation.caller.thread),
        before: describe(held.here, &held.name, violation.trapped.thread),
    });
}

/// The maximum part of a stack that the driver gets.
const MOST_STACK: usize = 48 << 10;

fn describe<'a>(here: &Here<'a>, name: &'a [u8; 16], thread: u32) -> CaughtThread<'a> {
    let f = here.frame;
    // The stack pointer after the callee's return.
    let stack = &raw const f.return_address as usize + 8;
    // For a thread that begins here, report the site that created it: its stack has only the
    // runtime's own frames.
    let (from, most) = here.place.started.map_or((f.return_address, MOST_STACK), |from| (from.get(), 0));
    let registers: [u64; REGISTERS] = [from, stack as u64, f.rbp, f.rbx, f.r12, f.r13, f.r14, f.r15];
    let end = mapping_end(stack).min(stack + most);
    let name_len = name.iter().position(|b| *b == 0).unwrap_or(name.len());
    CaughtThread {
        thread: u64::from(thread),
        site: u64::from(here.place.site),
        name: &name[..name_len],
        registers,
        // SAFETY: mapped up to there; the thread is this one, or it is delayed.
        stack: unsafe { core::slice::from_raw_parts(stack as *const u8, end - stack) },
    }
}

/// The end of the mapping that contains `address`.
fn mapping_end(address: usize) -> usize {
    let mut found = address;
    modules::each_line(|line| {
        if let Some(((start, end), _)) = modules::parse_line(line)
            && (start..end).contains(&address)
        {
            found = end;
        }
    });
    found
}
