//! Processes: fork, exec, exit, and order that comes through other processes.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};

use super::access::Call;
use super::exit_wait::{let_threads_run, unloading};
use super::interpose;
use crate::detect::thread::{Current, cards, current};
use crate::detect::{
    contexts, depot, flush, handlers, held_locks, object_clock, objects, quarantine, report, sids, sync,
    task_order, trace,
};
use crate::explore;
use crate::hub::{annotations, init, is_active, log, modules, session};
use crate::{sys, tsvd};

/// All order through other processes is one object: what goes out to any may come back from any.
const WORLD: usize = 0x4900_0000_0000;

pub fn world_release(t: Current) {
    sync::release(t, WORLD);
}

pub fn world_acquire(t: Current) {
    sync::acquire(t, WORLD);
}

/// What was done before the process made others comes before what they send back.
const SENT_OUT: usize = 0x4900_0000_0008;
static HAS_SENT_OUT: AtomicBool = AtomicBool::new(false);

/// The thread is about to make a process, which may write into what other threads read.
pub fn sends_out(t: Current) {
    sync::release(t, SENT_OUT);
    HAS_SENT_OUT.store(true, Relaxed);
}

/// The thread has read what no thread of this process has written.
pub fn from_outside(t: Current) {
    if HAS_SENT_OUT.load(Relaxed) {
        sync::acquire(t, SENT_OUT);
    }
}

/// The process has made another one.
static CHILDREN: AtomicBool = AtomicBool::new(false);

/// The process began as a fork of a watched one, and has not executed another program since.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

pub fn is_forked_child() -> bool {
    IS_CHILD.load(Relaxed)
}

pub fn has_had_children() -> bool {
    CHILDREN.load(Relaxed)
}

/// In the child: one thread is left, the locks that the others held are free, and it gets its own
/// log.
fn in_child(mut t: Current) {
    IS_CHILD.store(true, Relaxed);
    objects::reset_locks();
    depot::reset_after_fork();
    report::reset_after_fork();
    sids::reset_lock();
    task_order::reset_lock();
    object_clock::reset_lock();
    held_locks::reset_lock();
    contexts::reset_lock();
    super::openmp::reset_locks();
    quarantine::reset_locks();
    trace::reset_lock();
    crate::trace::plain::in_child();
    flush::reset_lock();
    annotations::reset_lock();
    super::thread::reset_after_fork();
    super::context::reset_lock();
    sys::ARENA.reset_lock();
    for card in cards() {
        if !core::ptr::eq(card, t.card) {
            card.ended.store(1, Relaxed);
            // Nobody here could join it.
            card.joined.store(true, Relaxed);
            card.live.store(core::ptr::null_mut(), Relaxed);
        }
    }
    // This memory is a copy: whatever the others did to it, locked or not, happened before, and
    // they cannot do more.
    let sid = t.sid();
    t.acquire(&sids::outlived_by(sid));
    init::new_log(t);
}

/// Calls `make`, which makes a child, and in the child `arrived`. The process id identifies the
/// child: `daemon` returns nothing else, and only there.
fn makes_child(make: impl FnOnce() -> c_int, arrived: impl FnOnce()) -> c_int {
    CHILDREN.store(true, Relaxed);
    let before = sys::pid();
    log::awaits_child();
    let r = make();
    if sys::pid() != before {
        arrived();
    } else if r < 0 {
        log::awaits_no_child();
    }
    r
}

/// The key through which what happened before a child was made comes before its end, for whoever
/// waits for that.
fn key_of_child(pid: c_int) -> usize {
    const CHILDREN: usize = 0x4901_0000_0000;
    CHILDREN + pid as usize * 8
}

/// The number of calls that are about to make a child. Its process id, which is the key of its
/// order, is known only when they return.
static MAKING: AtomicU32 = AtomicU32::new(0);
/// The thread that made the last such call.
static MAKER: AtomicU32 = AtomicU32::new(0);

/// The thread is about to make a child.
fn is_making(t: Current) {
    sends_out(t);
    MAKING.fetch_add(1, SeqCst);
    MAKER.store(sys::thread_id(), SeqCst);
}

fn makes_known_child(mut t: Current, make: impl FnOnce() -> c_int) -> c_int {
    is_making(t);
    let child = {
        let _inside = t.enter();
        makes_child(make, || in_child(t))
    };
    if child == 0 {
        // The child, in which there is nobody else.
        MAKING.store(0, SeqCst);
        return child;
    }
    made(t, child);
    child
}

type Run = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// What a child of `clone` is to run.
struct Cloned {
    run: Run,
    data: *mut c_void,
}

/// Calls `make`, whose child begins in [`in_clone`].
fn makes_cloned(make: impl FnOnce() -> c_int) -> c_int {
    CHILDREN.store(true, Relaxed);
    log::awaits_child();
    let r = make();
    if r < 0 {
        log::awaits_no_child();
    }
    r
}

/// The child begins, in its copy of the maker's memory. The program made its stack as large as its
/// own function needs, so the runtime uses another one.
unsafe extern "C-unwind" fn in_clone(cloned: *mut c_void) -> c_int {
    #[repr(align(16))]
    struct Stack(UnsafeCell<[u8; 128 << 10]>);
    // SAFETY: only the one thread of a new process uses it.
    unsafe impl Sync for Stack {}
    static STACK: Stack = Stack(UnsafeCell::new([0; 128 << 10]));
    // SAFETY: the copy of the maker's frame.
    let Cloned { run, data } = unsafe { cloned.cast::<Cloned>().read() };
    let top = STACK.0.get() as usize + size_of::<Stack>();
    // SAFETY: a call on another stack, which is aligned as the convention wants it.
    unsafe {
        core::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {begins}",
            "mov rsp, r12",
            top = in(reg) top,
            begins = sym cloned_begins,
            out("r12") _,
            clobber_abi("C"),
        );
    }
    // SAFETY: the program's function.
    unsafe { run(data) }
}

extern "C" fn cloned_begins() {
    if tsvd::is_on() {
        tsvd::in_child();
    } else if explore::is_on() {
        explore::fork::in_child();
    } else {
        let mut t = current();
        {
            let _inside = t.enter();
            in_child(t);
        }
        MAKING.store(0, SeqCst);
    }
}

/// The process has made this child, or none.
fn made(t: Current, child: c_int) {
    if child > 0 {
        sync::release(t, key_of_child(child));
    }
    MAKING.fetch_sub(1, SeqCst);
}

/// Called after a wait for children. The ended child may be so new that its maker has not published
/// it yet. If a signal handler interrupted exactly that, the maker is this thread, or patience runs
/// out.
fn reaped(t: Current, child: c_int) -> c_int {
    const PATIENCE: u32 = 100;
    if child > 0 {
        for _ in 0..PATIENCE {
            if MAKING.load(SeqCst) == 0 || MAKER.load(SeqCst) == sys::thread_id() {
                break;
            }
            sys::sleep_ms(1);
        }
        sync::acquire(t, key_of_child(child));
    }
    child
}

/// How the child ended was written, if one has.
fn told(t: Current, pc: usize, status: *const c_int, child: c_int) -> c_int {
    Call::new(t, pc).wrote_if(child > 0, status);
    child
}

/// A copy of `environment` with what a watched process needs, if it is missing. A program that
/// cleans its environment before it starts another does not mean to escape raddle.
unsafe fn with_session(environment: *const *const c_char) -> *const *const c_char {
    let wanted = session::remembered();
    let mut n = 0;
    let mut missing = [core::ptr::null::<c_char>(); session::VARIABLES];
    let mut count = 0;
    // SAFETY: the environment is null, or ends in a null pointer; its strings end in zero.
    unsafe {
        while !environment.is_null() && !(*environment.add(n)).is_null() {
            n += 1;
        }
        for variable in wanted.iter().filter(|v| !v.is_null()) {
            let same_name = |entry: *const c_char| {
                let mut i = 0;
                while *variable.add(i) == *entry.add(i) && *entry.add(i) != b'=' as c_char {
                    i += 1;
                }
                *variable.add(i) == b'=' as c_char && *entry.add(i) == b'=' as c_char
            };
            if !(0..n).any(|i| same_name(*environment.add(i))) {
                missing[count] = *variable;
                count += 1;
            }
        }
        if count == 0 {
            return environment;
        }
        // Not from the allocator: between fork and exec anybody may hold its locks.
        let pointers = sys::pages((n + count + 1) * size_of::<usize>()).cast::<*const c_char>();
        for i in 0..n {
            *pointers.add(i) = *environment.add(i);
        }
        for (i, variable) in missing[..count].iter().enumerate() {
            *pointers.add(n + i) = *variable;
        }
        pointers
    }
}

type Texts = *const *const c_char;

interpose! {
    fn fork() -> c_int, |t, pc, real| {
        makes_known_child(t, || real())
    } record as detect, tsvd {
        makes_child(|| real(), tsvd::in_child)
    } explore {
        explore::fork::forks(pc);
        let child = real();
        if child > 0 {
            explore::fork::made(child);
        }
        child
    }
    /// A child with its own memory is as one of `fork`. One that shares memory is a thread that
    /// raddle does not know; whoever makes such threads synchronises them himself.
    fn clone(run: Run, stack: *mut c_void, flags: c_int, data: *mut c_void, parent: usize, tls: usize, child: usize) -> c_int, |t, pc, real| {
        if flags & libc::CLONE_VM != 0 {
            return real(run, stack, flags, data, parent, tls, child);
        }
        is_making(t);
        let mut cloned = Cloned { run, data };
        let r = makes_cloned(|| real(in_clone, stack, flags, (&raw mut cloned).cast(), parent, tls, child));
        made(t, r);
        r
    } record as detect, tsvd {
        if flags & libc::CLONE_VM != 0 {
            return real(run, stack, flags, data, parent, tls, child);
        }
        let mut cloned = Cloned { run, data };
        makes_cloned(|| real(in_clone, stack, flags, (&raw mut cloned).cast(), parent, tls, child))
    } explore {
        if flags & libc::CLONE_VM != 0 {
            return real(run, stack, flags, data, parent, tls, child);
        }
        explore::fork::forks(pc);
        let mut cloned = Cloned { run, data };
        real(in_clone, stack, flags, (&raw mut cloned).cast(), parent, tls, child)
    }
    fn wait(status: *mut c_int) -> c_int, |t, pc, real| { told(t, pc, status, reaped(t, real(status))) } record as detect, tsvd real, explore cancels {
        if !explore::fork::waits(-1, 0, pc) {
            return -1;
        }
        told(t, pc, status, real(status))
    }
    fn waitpid(which: c_int, status: *mut c_int, options: c_int) -> c_int, |t, pc, real| {
        told(t, pc, status, reaped(t, real(which, status, options)))
    } record as detect, tsvd real, explore cancels {
        if !explore::fork::waits(which, options, pc) {
            return -1;
        }
        told(t, pc, status, real(which, status, options))
    }
    fn wait3(status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int, |t, pc, real| {
        told(t, pc, status, reaped(t, real(status, options, usage)))
    } record as detect, tsvd real, explore cancels {
        if !explore::fork::waits(-1, options, pc) {
            return -1;
        }
        told(t, pc, status, real(status, options, usage))
    }
    fn wait4(which: c_int, status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int, |t, pc, real| {
        told(t, pc, status, reaped(t, real(which, status, options, usage)))
    } record as detect, tsvd real, explore cancels {
        if !explore::fork::waits(which, options, pc) {
            return -1;
        }
        told(t, pc, status, real(which, status, options, usage))
    }
    fn waitid(kind: u32, id: u32, info: *mut c_void, options: c_int) -> c_int, |t, pc, real| {
        let r = real(kind, id, info, options);
        // Success may also mean that there was nobody to wait for.
        if r == 0 && !info.is_null() {
            reaped(t, (*info.cast::<libc::siginfo_t>()).si_pid());
        }
        r
    } record as detect, tsvd real, explore cancels {
        let which = match kind {
            libc::P_PID => id as c_int,
            libc::P_PGID => -(id as c_int),
            _ => -1,
        };
        if !explore::fork::waits(which, options, pc) {
            return -1;
        }
        real(kind, id, info, options)
    }
    fn _Fork() -> c_int, |t, pc, real| {
        makes_known_child(t, || real())
    } record as detect, tsvd {
        makes_child(|| real(), tsvd::in_child)
    } explore {
        explore::fork::forks(pc);
        real()
    }
    /// The C library's own fork in here is not interposed. It returns in the child.
    fn daemon(stay: c_int, open: c_int) -> c_int, |t, pc, real| {
        makes_known_child(t, || real(stay, open))
    } record as detect, tsvd {
        makes_child(|| real(stay, open), tsvd::in_child)
    } explore {
        explore::fork::forks(pc);
        real(stay, open)
    }
    fn forkpty(master: *mut c_int, name: *mut c_char, termios: *const c_void, size: *const c_void) -> c_int, |t, pc, real| {
        makes_known_child(t, || real(master, name, termios, size))
    } record as detect, tsvd {
        makes_child(|| real(master, name, termios, size), tsvd::in_child)
    } explore {
        explore::fork::forks(pc);
        real(master, name, termios, size)
    }
    fn dlclose(handle: *mut c_void) -> c_int, |t, pc, real| {
        // Stacks into the library are named by what is known of it now.
        modules::refresh();
        let r = unloading(|| real(handle));
        modules::forget_unmapped();
        r
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        explore::locks::loads_files(pc, || real(handle))
    }
    /// One thread may register a handler and another may run it. The latter ends the process, by a
    /// call or by an unseen return from main.
    fn __cxa_atexit(function: usize, argument: *mut c_void, dso: *mut c_void) -> c_int, |t, pc, real| {
        sync::release(t, AT_EXIT);
        real(run_at_exit as *const () as usize, keep_at_exit(function, argument), dso)
    } record as detect, tsvd real, explore { explore::exits::registers(pc); real(function, argument, dso) }
    fn on_exit(function: usize, argument: *mut c_void) -> c_int, |t, pc, real| {
        sync::release(t, AT_EXIT);
        real(run_on_exit as *const () as usize, keep_at_exit(function, argument))
    } record as detect, tsvd real, explore { explore::exits::registers(pc); real(function, argument) }
    fn __cxa_at_quick_exit(function: usize, dso: *mut c_void) -> c_int, |t, pc, real| {
        sync::release(t, AT_EXIT);
        real(function, dso)
    } record as detect, tsvd real, explore { explore::exits::registers(pc); real(function, dso) }
    fn exit(status: c_int), |t, pc, real| {
        let_threads_run();
        sync::acquire(t, AT_EXIT);
        // If called from within a handler: what destructors free must not be one finding each.
        handlers::left(&mut t, 0);
        finish_reports();
        real(status)
    } record as detect, tsvd real, explore {
        explore::exits(status, pc);
        real(status)
    }
    fn _exit(status: c_int), |t, pc, real| {
        finish_reports();
        real(status)
    } record as detect, tsvd real, explore {
        explore::exits_at_once(status, pc)
    }
    fn _Exit(status: c_int), |t, pc, real| {
        finish_reports();
        real(status)
    } record as detect, tsvd real, explore {
        explore::exits_at_once(status, pc)
    }
    fn quick_exit(status: c_int), |t, pc, real| {
        sync::acquire(t, AT_EXIT);
        finish_reports();
        real(status)
    } record as detect, tsvd real, explore {
        explore::exits_quickly(status, pc);
        real(status)
    }
    fn abort(), |t, pc, real| {
        finish_reports();
        real()
    } record as detect, tsvd real, explore {
        explore::aborts(pc);
        real()
    }
}

/// Functions that start other programs, watched or not: `$real` gets an environment that names the
/// session.
macro_rules! exec {
    ($($name:ident($($a:ident: $ty:ty),*) -> c_int, |$real:ident: $like:literal($($like_ty:ty),*)| $body:expr)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("__interpose_", stringify!($name)))]
            unsafe extern "C" fn body($($a: $ty),*) -> c_int {
                static REAL: super::Real = super::Real::new($like, None);
                // SAFETY: the C library's function of that name has this type; the arguments are
                // the caller's.
                unsafe {
                    let $real = core::mem::transmute::<usize, unsafe extern "C" fn($($like_ty),*) -> c_int>(REAL.get());
                    $body
                }
            }
        };
    )*};
}

type Text = *const c_char;
type Word = *const c_void;

exec! {
    execve(path: Text, arguments: Texts, environment: Texts) -> c_int, |real: c"execve"(Text, Texts, Texts)|
        becomes(environment, |e| real(path, arguments, e))
    execvpe(file: Text, arguments: Texts, environment: Texts) -> c_int, |real: c"execvpe"(Text, Texts, Texts)|
        becomes(environment, |e| real(file, arguments, e))
    execv(path: Text, arguments: Texts) -> c_int, |real: c"execve"(Text, Texts, Texts)|
        becomes(sys::environ, |e| real(path, arguments, e))
    execvp(file: Text, arguments: Texts) -> c_int, |real: c"execvpe"(Text, Texts, Texts)|
        becomes(sys::environ, |e| real(file, arguments, e))
    fexecve(fd: c_int, arguments: Texts, environment: Texts) -> c_int, |real: c"fexecve"(c_int, Texts, Texts)|
        becomes(environment, |e| real(fd, arguments, e))
    posix_spawn(pid: *mut c_int, path: Text, actions: Word, attributes: Word, arguments: Texts, environment: Texts) -> c_int,
        |real: c"posix_spawn"(*mut c_int, Text, Word, Word, Texts, Texts)|
        { spawns(); spawned(pid, real(pid, path, actions, attributes, arguments, with_session(environment))) }
    posix_spawnp(pid: *mut c_int, file: Text, actions: Word, attributes: Word, arguments: Texts, environment: Texts) -> c_int,
        |real: c"posix_spawnp"(*mut c_int, Text, Word, Word, Texts, Texts)|
        { spawns(); spawned(pid, real(pid, file, actions, attributes, arguments, with_session(environment))) }
}

/// The process becomes another program, with `real` and an environment, unless that fails.
unsafe fn becomes(environment: Texts, real: impl FnOnce(Texts) -> c_int) -> c_int {
    // SAFETY: the caller's environment.
    let environment = unsafe {
        match explore::exec::begins(0) {
            explore::exec::SessionPassing::Kept => with_session(environment),
            explore::exec::SessionPassing::Dropped => without_session(environment),
        }
    };
    let result = real(environment);
    explore::exec::failed();
    result
}

/// A copy of `environment` without what makes a process watched.
unsafe fn without_session(environment: Texts) -> Texts {
    // SAFETY: the environment is null, or ends in a null pointer; its strings end in zero.
    unsafe {
        let mut n = 0;
        while !environment.is_null() && !(*environment.add(n)).is_null() {
            n += 1;
        }
        let pointers = sys::pages((n + 1) * size_of::<usize>()).cast::<Text>();
        let mut kept = 0;
        for i in 0..n {
            let entry = *environment.add(i);
            if !core::ffi::CStr::from_ptr(entry).to_bytes().starts_with(b"RADDLE_SESSION=") {
                *pointers.add(kept) = entry;
                kept += 1;
            }
        }
        pointers
    }
}

/// `execl` and its kin take the arguments one by one: six words in registers, the rest on the
/// stack. This lays them out as an array.
macro_rules! exec_list {
    ($($name:literal => $body:path),* $(,)?) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("__interpose_", $name))]
            #[unsafe(naked)]
            unsafe extern "C" fn entry() {
                core::arch::naked_asm!(
                    "pop rax",
                    "push r9", "push r8", "push rcx", "push rdx", "push rsi",
                    "mov rsi, rsp",
                    "push rax",
                    "call {body}",
                    "pop rcx",
                    "add rsp, 40",
                    "push rcx",
                    "ret",
                    body = sym $body,
                )
            }
        };
    )*};
}
exec_list! {
    "execl" => execl,
    "execlp" => execlp,
    "execle" => execle,
}

unsafe extern "C" fn execl(path: Text, arguments: Texts) -> c_int {
    static REAL: super::Real = super::Real::new(c"execve", None);
    // SAFETY: the C library's function of that name has this type; the arguments are the caller's.
    unsafe {
        let real =
            core::mem::transmute::<usize, unsafe extern "C" fn(Text, Texts, Texts) -> c_int>(REAL.get());
        becomes(sys::environ, |e| real(path, arguments, e))
    }
}

unsafe extern "C" fn execlp(file: Text, arguments: Texts) -> c_int {
    static REAL: super::Real = super::Real::new(c"execvpe", None);
    // SAFETY: as above.
    unsafe {
        let real =
            core::mem::transmute::<usize, unsafe extern "C" fn(Text, Texts, Texts) -> c_int>(REAL.get());
        becomes(sys::environ, |e| real(file, arguments, e))
    }
}

unsafe extern "C" fn execle(path: Text, arguments: Texts) -> c_int {
    static REAL: super::Real = super::Real::new(c"execve", None);
    // SAFETY: as above; the environment follows the null pointer that ends the arguments.
    unsafe {
        let mut n = 0;
        while !(*arguments.add(n)).is_null() {
            n += 1;
        }
        let environment = *arguments.add(n + 1).cast::<Texts>();
        let real =
            core::mem::transmute::<usize, unsafe extern "C" fn(Text, Texts, Texts) -> c_int>(REAL.get());
        becomes(environment, |e| real(path, arguments, e))
    }
}

fn spawns() {
    CHILDREN.store(true, Relaxed);
    if is_active() {
        is_making(current());
    }
    if explore::is_on() {
        explore::fork::forks(0);
    }
}

/// Takes and returns the result of `posix_spawn`.
unsafe fn spawned(child: *const c_int, failed: c_int) -> c_int {
    if is_active() {
        // SAFETY: null, or where the caller wants the process id.
        let child = unsafe { child.as_ref() }.copied().filter(|_| failed == 0);
        made(current(), child.unwrap_or(0));
    }
    failed
}

/// Waits for another thread that may be in the middle of a report.
pub extern "C" fn finish_reports() {
    drop(report::pause());
}

/// The C library registers handlers, and removes them again, under one lock.
pub const AT_EXIT: usize = 0x4900_0000_0010;

/// An exit handler of the program.
struct AtExit {
    function: usize,
    argument: *mut c_void,
}

/// Never freed: it lives until the process ends.
fn keep_at_exit(function: usize, argument: *mut c_void) -> *mut c_void {
    let it = sys::ARENA.take(size_of::<AtExit>()).cast::<AtExit>();
    // SAFETY: fresh memory of the right size.
    unsafe { it.write(AtExit { function, argument }) };
    it.cast()
}

/// glibc passes the status to all handlers, also to those that want one argument.
unsafe extern "C-unwind" fn run_at_exit(it: *mut AtExit, status: c_int) {
    let_threads_run();
    sync::acquire(current(), AT_EXIT);
    // SAFETY: made by `keep_at_exit`; the program's own function of that type.
    unsafe {
        let AtExit { function, argument } = it.read();
        core::mem::transmute::<usize, unsafe extern "C-unwind" fn(*mut c_void, c_int)>(function)(
            argument, status,
        )
    }
}

unsafe extern "C-unwind" fn run_on_exit(status: c_int, it: *mut AtExit) {
    let_threads_run();
    sync::acquire(current(), AT_EXIT);
    // SAFETY: as above.
    unsafe {
        let AtExit { function, argument } = it.read();
        core::mem::transmute::<usize, unsafe extern "C-unwind" fn(c_int, *mut c_void)>(function)(
            status, argument,
        )
    }
}

unsafe extern "C" {
    /// glibc's fork, under a name that is not interposed.
    fn __fork() -> c_int;
}

/// A real vfork returns twice through the same frame, and its child shares our memory. Both make
/// interposing it impossible, so it becomes a fork, watched or not.
#[unsafe(export_name = "__interpose_vfork")]
extern "C" fn vfork() -> c_int {
    let t = current();
    if explore::is_on() {
        explore::fork::forks(0);
    }
    // SAFETY: a plain call.
    let fork = || unsafe { __fork() };
    if tsvd::is_on() {
        return makes_child(fork, tsvd::in_child);
    }
    if !is_active() {
        return fork();
    }
    makes_known_child(t, fork)
}
