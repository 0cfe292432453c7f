//! Signals.
//!
//! The runtime stands between the kernel and each handler. A signal that arrives while the thread
//! is inside the runtime waits until it leaves: the handler may synchronise, and the thread may
//! hold a lock that this needs. Faults do not wait, since the instruction would only fault again.
//!
//! Sending a signal, or installing the handler, happens before the handler.

use core::ffi::{c_int, c_void};

use super::access::Call;
use super::interpose;
use crate::detect::thread::{Current, current};
use crate::detect::{handlers, sync};
use crate::explore::{
    self, Breaks,
    signals::{PLAIN, Parcel},
};
use crate::handle::Handle;
use crate::hub::plan;
use crate::relocated;
use crate::sys::{self, Shared};

const SIGNALS: usize = 65;
const QUEUED: usize = 16;

/// Signals that wait for the thread to leave the runtime.
#[repr(C)]
pub struct Pending {
    n: u32,
    of: [libc::siginfo_t; QUEUED],
}

impl Pending {
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.n != 0
    }

    fn push(&mut self, info: &libc::siginfo_t) {
        if (self.n as usize) < QUEUED {
            self.of[self.n as usize] = *info;
            self.n += 1;
        }
    }

    /// Sends the running thread's pending signals to it again, unchanged. The handler of the first
    /// runs before the second is sent, and others may have to wait meanwhile. So this uses a copy.
    #[cold]
    #[inline(never)]
    pub fn deliver() {
        let mut t = current();
        let (n, of) = (core::mem::take(&mut t.signals.n) as usize, t.signals.of);
        for info in &of[..n] {
            let (pid, tid) = (sys::pid() as usize, sys::thread_id() as usize);
            let at = &raw const *info as usize;
            sys::syscall(libc::SYS_rt_tgsigqueueinfo, [pid, tid, info.si_signo as usize, at, 0, 0]);
        }
    }
}

/// The action that the program asked for.
#[derive(Clone, Copy)]
struct Action {
    handler: usize,
    flags: c_int,
}

static ACTIONS: Shared<[Action; SIGNALS]> =
    Shared::new([Action { handler: libc::SIG_DFL, flags: 0 }; SIGNALS]);

fn action(signal: c_int) -> Option<Handle<Action>> {
    // SAFETY: a word-sized handler may be read while it is changed; a program that races here races
    // natively too.
    let signal = usize::try_from(signal).ok().filter(|s| *s < SIGNALS)?;
    unsafe { Some(Handle::new(&raw mut (*ACTIONS.get())[signal])) }
}

fn key(signal: c_int) -> usize {
    0x4800_0000_0000 + signal as usize * 16
}

fn is_fault(signal: c_int, info: &libc::siginfo_t) -> bool {
    // A positive code comes from the kernel itself: nobody sent the signal.
    matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP)
        && info.si_code > 0
}

unsafe extern "C-unwind" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let mut t = current();
    // SAFETY: the kernel hands over a valid siginfo.
    let fault = unsafe { is_fault(signal, &*info) };
    if t.inside > 0 && !fault {
        // SAFETY: as above.
        return t.signals.push(unsafe { &*info });
    }
    let Some(action) = action(signal).map(|a| *a).filter(|a| a.handler > 1) else { return };
    if t.inside == 0 {
        sync::acquire(t, key(signal));
    }
    let running = handlers::begin(&mut t, signal, action.handler);
    // SAFETY: the program's handler, of the kind its flags say.
    unsafe {
        if action.flags & libc::SA_SIGINFO != 0 {
            let f: unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                core::mem::transmute(action.handler);
            f(signal, info, context);
        } else {
            let f: unsafe extern "C-unwind" fn(c_int) = core::mem::transmute(action.handler);
            f(signal);
        }
    }
    if let Some(running) = running {
        handlers::end(&mut current(), running);
    }
}

fn sending(t: Current, signal: c_int) {
    if signal > 0 {
        sync::release(t, key(signal));
        super::channel::signal_sent(t);
    }
}

/// True if this is the handle of the calling thread.
fn is_self(thread: usize) -> bool {
    // SAFETY: a plain query.
    thread == unsafe { libc::pthread_self() } as usize
}

type SigAction = libc::sigaction;

/// Installs the runtime's handler in place of the program's, and tells the program its previous
/// one.
unsafe fn install(
    t: Current,
    signal: c_int,
    new: *const SigAction,
    old: *mut SigAction,
    real: unsafe extern "C-unwind" fn(c_int, *const SigAction, *mut SigAction) -> c_int,
) -> c_int {
    let before = action(signal).map(|a| *a);
    // SAFETY: the caller's pointers, null or valid.
    unsafe {
        let mut ours;
        let mut given = new;
        if let Some(new) = new.as_ref() {
            ours = *new;
            if new.sa_sigaction > 1 {
                relocated::check_no_loop_late();
                sending(t, signal);
                ours.sa_sigaction = on_signal as *const () as usize;
                ours.sa_flags |= libc::SA_SIGINFO;
            }
            if let Some(mut a) = action(signal) {
                *a = Action { handler: new.sa_sigaction, flags: new.sa_flags };
            }
            given = &ours;
        }
        let r = real(signal, given, old);
        keep_rust_from_watching_stacks(signal, new, old);
        if let (0, Some(old), Some(before)) = (r, old.as_mut(), before) {
            if old.sa_sigaction == on_signal as *const () as usize {
                old.sa_sigaction = before.handler;
                old.sa_flags = before.flags;
            }
        } else if let (true, Some(mut a), Some(before)) = (r != 0, action(signal), before) {
            *a = before;
        }
        r
    }
}

/// Rust's std asks whether faults are handled before it installs its own handler against stack
/// overflow. With that handler comes a mutex that every thread takes when it starts and when it
/// ends. A thread that ends would happen before one that starts, and happens-before would miss each
/// race between two such threads. So std is told that somebody handles faults.
unsafe fn keep_rust_from_watching_stacks(signal: c_int, new: *const SigAction, old: *mut SigAction) {
    let asks = new.is_null() && matches!(signal, libc::SIGSEGV | libc::SIGBUS);
    // SAFETY: null, or just filled in.
    if let Some(old) = unsafe { old.as_mut() }
        && asks
        && old.sa_sigaction == libc::SIG_DFL
        && plan::has_sites()
    {
        old.sa_sigaction = libc::SIG_IGN;
    }
}

unsafe fn signal_like(t: Current, signal: c_int, handler: usize, flags: c_int) -> usize {
    unsafe extern "C-unwind" {
        /// glibc's function, under a name that is not interposed.
        fn __sigaction(signal: c_int, new: *const SigAction, old: *mut SigAction) -> c_int;
    }
    // SAFETY: plain values.
    unsafe {
        let mut new = core::mem::zeroed::<SigAction>();
        let mut old = core::mem::zeroed::<SigAction>();
        new.sa_sigaction = handler;
        new.sa_flags = flags;
        if install(t, signal, &new, &mut old, __sigaction) == 0 { old.sa_sigaction } else { libc::SIG_ERR }
    }
}

/// The result of a call that waits for a signal.
unsafe fn taken(got: Result<c_int, c_int>, info: *mut c_void) -> c_int {
    match got {
        Ok(signal) => {
            // SAFETY: null or the caller's room.
            unsafe { explore::signals::describe(signal, info.cast()) };
            signal
        }
        Err(why) => {
            sys::set_errno(why);
            -1
        }
    }
}

interpose! {
    fn sigaction(signal: c_int, new: *const SigAction, old: *mut SigAction) -> c_int, |t, pc, real| {
        let mut c = Call::new(t, pc);
        c.reads_one(new);
        c.writes_one(old);
        install(t, signal, new, old, real)
    } record as detect, tsvd real, explore {
        match new.is_null() {
            true => explore::looks_outside(pc),
            false => explore::changes_process(pc),
        }
        explore::signals::install(signal, new, old, |new| real(signal, new, core::ptr::null_mut()))
    }
    fn signal(signal: c_int, handler: usize) -> usize, |t, pc, real| {
        signal_like(t, signal, handler, libc::SA_RESTART)
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        let mut new = core::mem::zeroed::<SigAction>();
        let mut old = core::mem::zeroed::<SigAction>();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        explore::signals::install(signal, &new, &mut old, |_| if real(signal, handler) == libc::SIG_ERR { -1 } else { 0 });
        old.sa_sigaction
    }
    fn bsd_signal(signal: c_int, handler: usize) -> usize, |t, pc, real| {
        signal_like(t, signal, handler, libc::SA_RESTART)
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        let mut new = core::mem::zeroed::<SigAction>();
        let mut old = core::mem::zeroed::<SigAction>();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        explore::signals::install(signal, &new, &mut old, |_| if real(signal, handler) == libc::SIG_ERR { -1 } else { 0 });
        old.sa_sigaction
    }
    fn kill(pid: c_int, signal: c_int) -> c_int, |t, pc, real| {
        sending(t, signal);
        handlers::while_sending(t, pid == sys::pid() as c_int, signal, || real(pid, signal))
    } record as detect, tsvd real, explore {
        if explore::is_running() && pid == sys::pid() as c_int && signal > 0 {
            explore::signals::send_to_process(signal, PLAIN, pc);
            return 0;
        }
        real(pid, signal)
    }
    fn raise(signal: c_int) -> c_int, |t, pc, real| {
        sending(t, signal);
        handlers::while_sending(t, true, signal, || real(signal))
    } record as detect, tsvd real, explore {
        if !explore::is_running() {
            return real(signal);
        }
        explore::signals::send(explore::state().current, signal, PLAIN, pc);
        0
    }
    fn pthread_kill(thread: usize, signal: c_int) -> c_int, |t, pc, real| {
        sending(t, signal);
        handlers::while_sending(t, is_self(thread), signal, || real(thread, signal))
    } record as detect, tsvd real, explore {
        explore::signals::send_to(thread, signal, pc).unwrap_or_else(|| real(thread, signal))
    }
    fn pthread_sigqueue(thread: usize, signal: c_int, value: usize) -> c_int, |t, pc, real| {
        sending(t, signal);
        handlers::while_sending(t, is_self(thread), signal, || real(thread, signal, value))
    } record as detect, tsvd real, explore {
        match explore::threads::by_handle(thread) {
            Some(to) if signal > 0 => {
                explore::signals::send(to, signal, Parcel { code: libc::SI_QUEUE, value }, pc);
                0
            }
            _ => real(thread, signal, value),
        }
    }
    fn sigqueue(pid: c_int, signal: c_int, value: usize) -> c_int, |t, pc, real| {
        sending(t, signal);
        handlers::while_sending(t, pid == sys::pid() as c_int, signal, || real(pid, signal, value))
    } record as detect, tsvd real, explore {
        if explore::is_running() && pid == sys::pid() as c_int && signal > 0 {
            explore::signals::send_to_process(signal, Parcel { code: libc::SI_QUEUE, value }, pc);
            return 0;
        }
        real(pid, signal, value)
    }
    fn tgkill(pid: c_int, tid: c_int, signal: c_int) -> c_int, |t, pc, real| {
        sending(t, signal);
        handlers::while_sending(t, tid == sys::thread_id() as c_int, signal, || real(pid, tid, signal))
    } record as detect, tsvd real, explore {
        match explore::threads::by_number(tid) {
            Some(to) if explore::is_running() && signal > 0 => {
                explore::signals::send(to, signal, PLAIN, pc);
                0
            }
            _ => real(pid, tid, signal),
        }
    }
    fn killpg(group: c_int, signal: c_int) -> c_int, |t, pc, real| {
        sending(t, signal);
        real(group, signal)
    } record as detect, tsvd real, explore { explore::changes_process(pc); real(group, signal) }
    fn sigwait(set: *const c_void, signal: *mut c_int) -> c_int, |t, pc, real| {
        let r = real(set, signal);
        if r == 0 {
            sync::acquire(t, key(*signal));
        }
        r
    } record as detect, tsvd real, explore cancels {
        if !explore::is_running() {
            return real(set, signal);
        }
        if let Ok(got) = explore::signals::wait(*set.cast(), None, Breaks::Cancel, pc) {
            *signal = got;
        }
        0
    }
    fn sigwaitinfo(set: *const c_void, info: *mut c_void) -> c_int, |t, pc, real| {
        let r = real(set, info);
        if r > 0 {
            sync::acquire(t, key(r));
        }
        r
    } record as detect, tsvd real, explore cancels {
        if !explore::is_running() {
            return real(set, info);
        }
        taken(explore::signals::wait(*set.cast(), None, Breaks::AnyHandler, pc), info)
    }
    fn sigtimedwait(set: *const c_void, info: *mut c_void, timeout: *const c_void) -> c_int, |t, pc, real| {
        let r = real(set, info, timeout);
        if r > 0 {
            sync::acquire(t, key(r));
        }
        r
    } record as detect, tsvd real, explore cancels {
        if !explore::is_running() {
            return real(set, info, timeout);
        }
        let most = timeout.cast::<libc::timespec>().as_ref().map(explore::sync::nanoseconds);
        taken(explore::signals::wait(*set.cast(), most, Breaks::AnyHandler, pc), info)
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    static SEEN: [AtomicU32; SIGNALS] = [const { AtomicU32::new(0) }; SIGNALS];

    /// While this runs, two more signals come and have to wait.
    extern "C" fn handler(signal: c_int) {
        SEEN[signal as usize].fetch_add(1, Relaxed);
        if signal == libc::SIGUSR1 {
            (0..2).for_each(|_| current().signals.push(&info(libc::SIGWINCH)));
        }
    }

    fn info(signal: c_int) -> libc::siginfo_t {
        // SAFETY: zeros are a description.
        let mut info: libc::siginfo_t = unsafe { core::mem::zeroed() };
        (info.si_signo, info.si_code) = (signal, libc::SI_QUEUE);
        info
    }

    #[test]
    fn signals_that_come_while_others_are_delivered_take_nobodys_place() {
        let all = [libc::SIGUSR1, libc::SIGUSR2, libc::SIGWINCH];
        for signal in all {
            // SAFETY: a handler that only counts.
            unsafe { libc::signal(signal, handler as *const () as usize) };
        }
        current().signals.push(&info(libc::SIGUSR1));
        current().signals.push(&info(libc::SIGUSR2));
        Pending::deliver();
        assert_eq!(all.map(|s| SEEN[s as usize].load(Relaxed)), [1, 1, 0]);
        assert_eq!(current().signals.n, 2);
        Pending::deliver();
        // A signal of this number is pending once.
        assert!(SEEN[libc::SIGWINCH as usize].load(Relaxed) >= 1);
        assert_eq!((SEEN[libc::SIGUSR2 as usize].load(Relaxed), current().signals.n), (1, 0));
    }
}
