//! Signals between the threads of an explored program.
//!
//! The kernel knows one thread, the carrier, so it cannot keep the threads' masks or tell them
//! apart. So raddle keeps the signals that threads send each other: a signal arrives at a logical
//! thread, and its handler runs in that thread when it is next scheduled. A pending signal makes a
//! waiting thread schedulable. Signals from outside go to whichever thread runs, as the program
//! asked for.
//!
//! A signal to the process goes to one thread that accepts it; while all block it, it waits for the
//! first that does not.
//!
//! Real-time signals are queued, up to [`QUEUE`] in all; others are pending or not.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use raddle_explore::OpKind;
use raddle_wire::explore::{Cannot, ExecutionEnd, Status};

use super::point::{Breaks, WaitEnd, point, wait as wait_for};
use super::serve::give_up_worker;
use super::{Logical, Wait, cancel, fatal, memory, op, state, threads, time};
use crate::handle::Handle;
use crate::sys;

const SIGNALS: usize = 65;

pub type Action = libc::sigaction;

/// The program's actions. Part of the snapshot.
static ACTIONS: sys::Shared<[Option<Action>; SIGNALS]> = sys::Shared::new([None; SIGNALS]);

fn action(signal: c_int) -> Handle<Option<Action>> {
    // SAFETY: one thread runs at a time; the number was checked.
    unsafe { Handle::new(&raw mut (*ACTIONS.get())[signal as usize]) }
}

/// The data of a signal: why it was sent, and a value.
#[derive(Clone, Copy)]
pub struct Parcel {
    pub code: c_int,
    pub value: usize,
}

/// The data of the last signal of each number. Part of the snapshot.
static PARCELS: sys::Shared<[Parcel; SIGNALS]> =
    sys::Shared::new([Parcel { code: libc::SI_USER, value: 0 }; SIGNALS]);

fn parcel(signal: c_int) -> Handle<Parcel> {
    // SAFETY: one thread runs at a time; the number was checked.
    unsafe { Handle::new(&raw mut (*PARCELS.get())[signal as usize]) }
}

/// Real-time signals that were not accepted yet, in the order in which they were sent. Part of the
/// snapshot.
static QUEUED: sys::Shared<Queue> = sys::Shared::new(Queue { len: 0, of: [Queued::NONE; QUEUE] });
const QUEUE: usize = 256;
/// The first number that is queued: earlier ones are reserved for the C library.
const FIRST_QUEUED: c_int = 34;

struct Queue {
    len: usize,
    of: [Queued; QUEUE],
}

#[derive(Clone, Copy)]
struct Queued {
    signal: c_int,
    /// The target thread; None: whichever accepts it.
    to: Option<usize>,
    parcel: Parcel,
}

impl Queued {
    const NONE: Queued = Queued { signal: 0, to: None, parcel: PLAIN };
}

fn queue() -> Handle<Queue> {
    // SAFETY: one thread runs at a time.
    unsafe { Handle::new(QUEUED.get()) }
}

/// The running thread accepts a signal that has arrived at it or at the process. Another one of the
/// same number may remain.
fn take(signal: c_int) {
    let mut s = state();
    let at_thread = s.threads[s.current].arrived & bit(signal) != 0;
    let to = at_thread.then_some(s.current);
    let mut q = queue();
    let is_it = |e: &Queued| e.signal == signal && e.to == to;
    if let Some(i) = q.of[..q.len].iter().position(is_it) {
        *parcel(signal) = q.of[i].parcel;
        let len = q.len;
        q.of.copy_within(i + 1..len, i);
        q.len -= 1;
    }
    if q.of[..q.len].iter().any(is_it) {
        return;
    }
    if at_thread {
        s.current_thread_mut().arrived &= !bit(signal);
    } else {
        s.arrived &= !bit(signal);
    }
}

/// Fills in what a handler or `sigwaitinfo` receives.
///
/// # Safety
/// `info` has room for a description, or is null.
pub unsafe fn describe(signal: c_int, info: *mut libc::siginfo_t) {
    /// The offset of the value, after the fields that identify the sender.
    const VALUE: usize = 24;
    if info.is_null() {
        return;
    }
    // SAFETY: by the caller's contract; zero is a valid description.
    unsafe {
        *info = core::mem::zeroed();
        (*info).si_signo = signal;
        (*info).si_code = parcel(signal).code;
        *info.byte_add(VALUE).cast::<usize>() = parcel(signal).value;
    }
}

fn is_signal(signal: c_int) -> bool {
    signal > 0 && (signal as usize) < SIGNALS
}

const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Failures of the program, which the scheduler sees first while an execution runs: see
/// [`super::faults`].
fn is_ours(signal: c_int) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGABRT)
}

/// `sigaction`. Calls `real` for signals that may come from outside.
pub unsafe fn install(
    signal: c_int,
    new: *const Action,
    old: *mut Action,
    real: impl FnOnce(*const Action) -> c_int,
) -> c_int {
    if !is_signal(signal) {
        return real(new);
    }
    // SAFETY: the program's pointers; zero is a valid action.
    unsafe {
        let before = action(signal).unwrap_or_else(|| {
            let mut none = core::mem::zeroed::<Action>();
            // This is how Rust's std asks whether to install its handler for stack overflows, which
            // is useless here.
            if is_ours(signal) && new.is_null() {
                none.sa_sigaction = libc::SIG_IGN;
            }
            none
        });
        let result = match new.as_ref() {
            None => 0,
            Some(_) if is_ours(signal) && state().running => 0,
            Some(_) => real(new),
        };
        if result == 0 {
            if let Some(new) = new.as_ref() {
                *action(signal) = Some(*new);
            }
            if let Some(old) = old.as_mut() {
                *old = before;
            }
        }
        result
    }
}

/// Changes the running thread's mask. Returns the previous one.
pub fn change_mask(how: c_int, set: Option<u64>) -> Option<u64> {
    let mut s = state();
    let t = s.current_thread_mut();
    let before = t.mask;
    if let Some(set) = set {
        t.mask = match how {
            libc::SIG_BLOCK => before | set,
            libc::SIG_UNBLOCK => before & !set,
            libc::SIG_SETMASK => set,
            _ => return None,
        };
        run_handlers();
    }
    Some(before)
}

/// Sends to a thread. None if raddle does not control it.
pub fn send_to(handle: usize, signal: c_int, pc: usize) -> Option<c_int> {
    let to = threads::by_handle(handle)?;
    if !is_signal(signal) {
        return Some(if signal == 0 { 0 } else { libc::EINVAL });
    }
    send(to, signal, PLAIN, pc);
    Some(0)
}

/// The data of a signal sent by `kill` and the like.
pub const PLAIN: Parcel = Parcel { code: libc::SI_USER, value: 0 };

/// Sends to the process: the first thread that does not block the signal accepts it.
pub fn send_to_process(signal: c_int, parcel: Parcel, pc: usize) {
    if !is_signal(signal) {
        return;
    }
    let to = taker(signal);
    point(op(OpKind::Signal, to.unwrap_or(0), pc), Wait::Nothing, pc);
    // A thread that waits for it accepts the first of those queued for all threads.
    let queued = signal >= FIRST_QUEUED;
    arrives(to.filter(|i| !queued || state().threads[*i].mask & bit(signal) == 0), signal, parcel);
}

/// Signals that the program reads from descriptors, by the bits of a mask.
static BY_DESCRIPTOR: AtomicU64 = AtomicU64::new(0);

/// The program makes a descriptor from which it reads the signals of the mask.
pub fn read_by_descriptor(mask: u64) {
    BY_DESCRIPTOR.fetch_or(mask, Relaxed);
}

/// The signal arrives at a thread, or at the process if all threads block it. The kernel, which
/// knows of no such signal, would let nobody read it from a descriptor.
pub fn arrives(to: Option<usize>, signal: c_int, parcel: Parcel) {
    if BY_DESCRIPTOR.load(Relaxed) & bit(signal) != 0 {
        give_up_worker(Status::Cannot, Cannot::SignalDescriptor.number());
    }
    *self::parcel(signal) = parcel;
    state().sent |= bit(signal);
    let mut q = queue();
    if signal >= FIRST_QUEUED && q.len < QUEUE {
        let len = q.len;
        q.of[len] = Queued { signal, to, parcel };
        q.len += 1;
    }
    let mut s = state();
    match to {
        Some(to) => s.threads[to].arrived |= bit(signal),
        None => s.arrived |= bit(signal),
    }
    run_handlers();
}

/// The thread that accepts a signal to the process: one that waits for it, else one that does not
/// block it.
pub fn taker(signal: c_int) -> Option<usize> {
    let s = state();
    let live = |i: &usize| !s.threads[*i].ended && s.threads[*i].arrived & bit(signal) == 0;
    let waits =
        |i: &usize| live(i) && matches!(s.threads[*i].wait, Wait::Signal(set) if set & bit(signal) != 0);
    let takes = |i: &usize| !s.threads[*i].ended && s.threads[*i].mask & bit(signal) == 0;
    (0..s.count).find(waits).or_else(|| (0..s.count).find(takes))
}

pub fn send(to: usize, signal: c_int, parcel: Parcel, pc: usize) {
    point(op(OpKind::Signal, to, pc), Wait::Nothing, pc);
    arrives(Some(to), signal, parcel);
}

/// True if the signal has arrived and was not accepted yet.
pub fn is_pending(signal: c_int) -> bool {
    let s = state();
    is_signal(signal)
        && (s.arrived | s.threads[..s.count].iter().fold(0, |all, t| all | t.arrived)) & bit(signal) != 0
}

/// True if the signal would end the process.
pub fn is_fatal(signal: c_int) -> bool {
    is_signal(signal)
        && !is_harmless(signal)
        && action(signal).is_none_or(|a| a.sa_sigaction == libc::SIG_DFL)
        && !(0..state().count)
            .any(|i| matches!(state().threads[i].wait, Wait::Signal(s) if s & bit(signal) != 0))
        && (0..state().count).any(|i| !state().threads[i].ended && state().threads[i].mask & bit(signal) == 0)
}

/// True if a thread or a timer of the program has sent the signal in this execution.
pub fn was_sent(signal: c_int) -> bool {
    state().sent & bit(signal) != 0
}

/// True if the program has a handler for the signal.
pub fn is_handled(signal: c_int) -> bool {
    action(signal).is_some_and(|a| !matches!(a.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN))
}

/// True if something has arrived that the thread does not block.
pub fn is_interrupted(thread: usize) -> bool {
    let t = &state().threads[thread];
    (t.arrived | state().arrived) & !t.mask != 0 || t.breaks > Breaks::Nothing && cancel::is_due(thread)
}

/// What has run, ordered by how much it matters to a call that was waiting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ran {
    Nothing,
    /// An ignored signal arrived.
    Ignored,
    /// A handler with `SA_RESTART`.
    Restarting,
    /// A handler without it.
    Breaking,
}

/// Runs the handlers for what has arrived at the running thread.
pub fn run_handlers() -> Ran {
    let mut most = Ran::Nothing;
    loop {
        let s = state();
        let t = &s.threads[s.current];
        let ready = (t.arrived | s.arrived) & !t.mask;
        if ready == 0 {
            return most;
        }
        let signal = ready.trailing_zeros() as c_int + 1;
        take(signal);
        memory::handles_signal();
        most = most.max(handle(signal));
    }
}

fn handle(signal: c_int) -> Ran {
    let Some(action) = *action(signal) else { return by_default(signal) };
    match action.sa_sigaction {
        libc::SIG_IGN => Ran::Ignored,
        libc::SIG_DFL => by_default(signal),
        _ => {
            // SAFETY: the program's handler; zero is a valid description of a signal.
            unsafe {
                let mut info = core::mem::zeroed::<libc::siginfo_t>();
                describe(signal, &mut info);
                let mut context = interrupted_here();
                call_handler(signal, action, &mut info, (&raw mut context).cast());
            }
            if action.sa_flags & libc::SA_RESTART != 0 { Ran::Restarting } else { Ran::Breaking }
        }
    }
}

/// What a handler learns about where the running thread was: its program counter and its stack.
fn interrupted_here() -> libc::ucontext_t {
    let s = state();
    // SAFETY: zero is a valid description.
    let mut context = unsafe { core::mem::zeroed::<libc::ucontext_t>() };
    context.uc_mcontext.gregs[libc::REG_RIP as usize] = s.threads[s.current].pc as i64;
    context.uc_mcontext.gregs[libc::REG_RSP as usize] = &raw const context as i64;
    context
}

/// Runs a handler of the program in the running thread.
///
/// # Safety
/// The action has a handler, and the arguments fit it.
unsafe fn call_handler(signal: c_int, action: Action, info: *mut libc::siginfo_t, context: *mut c_void) {
    let mut s = state();
    let before = s.threads[s.current].mask;
    // SAFETY: the first word of a set contains all signals.
    let during = unsafe { *(&raw const action.sa_mask).cast::<u64>() };
    let itself = if action.sa_flags & libc::SA_NODEFER != 0 { 0 } else { bit(signal) };
    s.current_thread_mut().mask = before | during | itself;
    s.current_thread_mut().handling += 1;
    if action.sa_flags & libc::SA_RESETHAND != 0
        && let Some(action) = &mut *self::action(signal)
    {
        action.sa_sigaction = libc::SIG_DFL;
    }
    type Handler = unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    let other = s.threads[s.current].handler_stack;
    let here = &raw const before as usize;
    // SAFETY: by the caller's contract; the stack that the thread has set for this.
    unsafe {
        if action.sa_flags & libc::SA_ONSTACK != 0 && other.len > 0 && !other.contains(here) {
            call_on_stack(signal, info, context, action.sa_sigaction, other.low + other.len);
        } else {
            core::mem::transmute::<usize, Handler>(action.sa_sigaction)(signal, info, context);
        }
    }
    let mut s = state();
    let t = s.current_thread_mut();
    t.mask = before;
    t.handling -= 1;
    t.handled = true;
}

/// Calls `handler` with the first three arguments on the stack that ends at `top`.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_on_stack(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
    handler: usize,
    top: usize,
) {
    core::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov rsp, r8",
        "and rsp, -16",
        "call rcx",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
    )
}

/// True if a fault in the thread would run a handler of the program. A blocked fault ends the
/// process.
pub fn would_handle(thread: usize, signal: c_int) -> bool {
    is_handled(signal) && state().threads[thread].mask & bit(signal) == 0
}

/// True if the handler runs on the `sigaltstack`.
pub fn wants_stack(signal: c_int) -> bool {
    action(signal).is_some_and(|a| a.sa_flags & libc::SA_ONSTACK != 0)
}

/// Runs the handler for a fault. Others can see what it does only at its own steps.
///
/// # Safety
/// The kernel's descriptions of the fault; the program has a handler.
pub unsafe fn handle_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if let Some(action) = *action(signal) {
        // SAFETY: by the caller's contract.
        unsafe { call_handler(signal, action, info, context) };
    }
}

/// `abort`: the handler runs even if the signal is blocked, and if it returns, the process ends
/// anyway.
pub fn handle_abort() {
    let mut s = state();
    s.current_thread_mut().mask &= !bit(libc::SIGABRT);
    if is_handled(libc::SIGABRT) {
        handle(libc::SIGABRT);
    }
}

/// The running thread jumps to where it was in `handling` handlers, with this mask if it was saved.
pub fn jumped(handling: u32, mask: Option<u64>) {
    let mut s = state();
    let t = s.current_thread_mut();
    if handling < t.handling {
        // It has recovered.
        t.fault = None;
        t.handled = true;
        s.serve.slot().message_len = 0;
    }
    let t = s.current_thread_mut();
    t.handling = handling;
    if let Some(mask) = mask {
        change_mask(libc::SIG_SETMASK, Some(mask));
    }
}

/// The number of handlers that the running thread is in, and its mask.
pub fn standing() -> (u32, u64) {
    let Logical { handling, mask, .. } = *state().current_thread();
    (handling, mask)
}

/// This process is no longer explored: restores its own handling of faults.
pub fn give_back() {
    for signal in (1..SIGNALS as c_int).filter(|s| is_ours(*s)) {
        // SAFETY: zero is the default; the C library passes it on to the kernel, and knows the
        // layout.
        unsafe {
            let wanted = action(signal).unwrap_or_else(|| core::mem::zeroed());
            static REAL: crate::interpose::Real = crate::interpose::Real::new(c"sigaction", None);
            type Install = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;
            core::mem::transmute::<usize, Install>(REAL.get())(signal, &wanted, core::ptr::null_mut());
        }
    }
}

fn is_harmless(signal: c_int) -> bool {
    matches!(signal, libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT)
}

fn by_default(signal: c_int) -> Ran {
    if !is_harmless(signal) && state().running {
        let mut s = state();
        s.serve.slot().detail = signal as u64;
        // A handler may report a fault and then end the process by it. In that case the fault is
        // reported.
        let t = s.current_thread_mut();
        if let Some(fault) = t.fault.filter(|f| f.signal == signal) {
            t.pc = fault.pc + 1;
            crate::detect::thread::current().sp = fault.shadow;
            s.serve.slot().address = fault.address as u64;
        }
        fatal::ends(ExecutionEnd::Signal, state().current);
    }
    Ran::Ignored
}

/// `sigwait` and its kin: the signal that arrived, or why none did. May time out after `most`
/// nanoseconds.
pub fn wait(set: u64, most: Option<u64>, breaks: Breaks, pc: usize) -> Result<c_int, c_int> {
    let passed = time::shows(libc::CLOCK_MONOTONIC) - time::at_start(libc::CLOCK_MONOTONIC);
    let due = most.map(|most| passed.saturating_add(most));
    let o = op(OpKind::Signal, state().current, pc);
    match wait_for(o, Wait::Signal(set), due, breaks, pc) {
        WaitEnd::Over => {}
        WaitEnd::GaveUp => {
            time::pass_until(due.unwrap_or(0));
            return Err(libc::EAGAIN);
        }
        WaitEnd::Broken => return Err(libc::EINTR),
    }
    let signal = (pending() & set).trailing_zeros() as c_int + 1;
    take(signal);
    Ok(signal)
}

/// `pause` and `sigsuspend`: waits until a handler has run, with this mask meanwhile.
pub fn pause(mask: Option<u64>, pc: usize) {
    let s = state();
    let me = s.current;
    let before = s.threads[me].mask;
    // Signals that arrived until now are handled before, and do not count.
    point(op(OpKind::Signal, me, pc), Wait::Nothing, pc);
    let mut s = state();
    s.threads[me].handled = false;
    s.threads[me].mask = mask.unwrap_or(before);
    wait_for(op(OpKind::Signal, me, pc), Wait::Handler, None, Breaks::Cancel, pc);
    state().threads[me].mask = before;
}

/// What has arrived and is blocked.
pub fn pending() -> u64 {
    let s = state();
    s.threads[s.current].arrived | s.arrived
}
