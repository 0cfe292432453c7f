//! Processes: fork, exec, exit, and what other processes hand on.

use core::ffi::{c_char, c_int, c_void};

use super::alloc::malloc;
use super::interpose;
use crate::detect::thread::{Thread, cards, current};
use crate::detect::{depot, flush, held, objects, report, sids, sync, trace};
use crate::hub::{annotations, init, is_active, modules, session};
use crate::sys;

/// Orders that come through other processes are one object: what goes out to any may come back from any.
const WORLD: usize = 0x4900_0000_0000;

pub fn world_release(t: &mut Thread) {
    sync::release(t, WORLD);
}

pub fn world_acquire(t: &mut Thread) {
    sync::acquire(t, WORLD);
}

/// In the child: one thread is left, whatever locks the others held are free, and the log is its own.
fn in_child(t: &mut Thread) {
    objects::reset_locks();
    depot::reset_after_fork();
    report::reset_after_fork();
    sids::reset_lock();
    held::reset_lock();
    trace::reset_lock();
    flush::reset_lock();
    annotations::reset_lock();
    super::thread::reset_after_fork();
    super::context::reset_lock();
    sys::ARENA.reset_lock();
    for card in cards() {
        if card as *mut _ != t.card {
            card.ended.store(1, core::sync::atomic::Ordering::Relaxed);
            card.live.store(core::ptr::null_mut(), core::sync::atomic::Ordering::Relaxed);
        }
    }
    init::new_log(t);
}

/// A copy of `environment` that names the session, if it does not already.
unsafe fn with_session(environment: *const *const c_char) -> *const *const c_char {
    let name = raddle_wire::SESSION_ENV.to_bytes();
    let dir = session::dir();
    let mut n = 0;
    // SAFETY: the environment is null, or ends in a null pointer; its strings end in zero.
    unsafe {
        while !environment.is_null() && !(*environment.add(n)).is_null() {
            let entry = *environment.add(n);
            if (0..name.len()).all(|i| *entry.add(i) as u8 == name[i]) {
                return environment;
            }
            n += 1;
        }
        let pointers = malloc((n + 2) * size_of::<usize>(), 0).cast::<*const c_char>();
        let text = malloc(name.len() + dir.len() + 2, 0).cast::<u8>();
        if pointers.is_null() || text.is_null() {
            return environment;
        }
        for i in 0..n {
            *pointers.add(i) = *environment.add(i);
        }
        for (i, b) in name.iter().chain(b"=").chain(dir).enumerate() {
            *text.add(i) = *b;
        }
        *text.add(name.len() + dir.len() + 1) = 0;
        *pointers.add(n) = text.cast();
        *pointers.add(n + 1) = core::ptr::null();
        pointers
    }
}

type Texts = *const *const c_char;

interpose! {
    fn fork() -> c_int, |t, pc, real| {
        let _inside = t.enter();
        let r = real();
        if r == 0 {
            in_child(t);
        }
        r
    }
    fn _Fork() -> c_int, |t, pc, real| {
        let _inside = t.enter();
        let r = real();
        if r == 0 {
            in_child(t);
        }
        r
    }
    fn execve(path: *const c_char, arguments: Texts, environment: Texts) -> c_int, |t, pc, real| {
        real(path, arguments, with_session(environment))
    }
    fn execvpe(file: *const c_char, arguments: Texts, environment: Texts) -> c_int, |t, pc, real| {
        real(file, arguments, with_session(environment))
    }
    fn fexecve(fd: c_int, arguments: Texts, environment: Texts) -> c_int, |t, pc, real| {
        real(fd, arguments, with_session(environment))
    }
    fn posix_spawn(pid: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: Texts, environment: Texts) -> c_int, |t, pc, real| {
        real(pid, path, actions, attributes, arguments, with_session(environment))
    }
    fn posix_spawnp(pid: *mut c_int, file: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: Texts, environment: Texts) -> c_int, |t, pc, real| {
        real(pid, file, actions, attributes, arguments, with_session(environment))
    }
    fn dlclose(handle: *mut c_void) -> c_int, |t, pc, real| {
        // Stacks into the library are named by what is known of it now.
        modules::refresh();
        let r = real(handle);
        modules::forget_unmapped();
        r
    }
    /// What is registered by one thread may be run by another, which ends the process.
    fn __cxa_atexit(function: usize, argument: *mut c_void, dso: *mut c_void) -> c_int, |t, pc, real| {
        sync::release(t, AT_EXIT);
        real(function, argument, dso)
    }
    fn exit(status: c_int), |t, pc, real| {
        sync::acquire(t, AT_EXIT);
        real(status)
    }
}

const AT_EXIT: usize = 0x4900_0000_0010;

unsafe extern "C" {
    /// glibc's fork, under a name that is not interposed.
    fn __fork() -> c_int;
}

/// A real vfork returns twice through the same frame, and its child shares our memory: both rule out standing in its
/// place. It becomes a fork, watched or not.
#[unsafe(export_name = "__interpose_vfork")]
extern "C" fn vfork() -> c_int {
    let t = current();
    // SAFETY: a plain call.
    if !is_active() {
        return unsafe { __fork() };
    }
    let _inside = t.enter();
    // SAFETY: a plain call.
    let r = unsafe { __fork() };
    if r == 0 {
        in_child(t);
    }
    r
}
