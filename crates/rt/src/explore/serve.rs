//! Orders in, traces out: the loop that runs on the scheduler's own stack.
//!
//! The first `pthread_create` of the program does not return in the ordinary sense. It makes the
//! donors, saves the first thread's context, and enters [`serve`]. That takes the snapshot and then
//! resumes the saved context for each order: `pthread_create` returns once for each execution. An
//! execution ends in [`finish`], which jumps back here.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::*;

use raddle_explore::op::{LIBRARY_STATE, SEES_OUTSIDE};
use raddle_explore::{
    Choice, Course, MAX_CONSTRAINTS, Next, Op, OpKind, StateKey, StepFlags, Tail, TraceBuf,
};
use raddle_wire::explore::{
    Cannot, ENDS, ExecutionEnd, FRAMES, Header, Outside, Parts, Slot, Stack, Status, awaits, flag, gap,
    parts, point,
};

use super::exits::{self, Exits};
use super::files::OpenFiles;
use super::switch::{Context, jump, park, switch};
use super::{
    Logical, called_imports, fatal, found_functions, has, heap, hidden, leaks, memory, os_threads, output,
    races, state, threads, time,
};
use crate::interpose::Real;
use crate::relocated::updates;
use crate::sys;

/// How long a state in which all threads wait for the outside world is watched before it counts as
/// a deadlock.
pub const PATIENCE_MS: u32 = 250;
/// The same for a state in which a child process is waited for: it may have much to do.
pub const PATIENCE_WITH_CHILDREN_MS: u32 = 5000;

const STACK: usize = 256 << 10;

/// After this many recorded steps, memory for as many more is requested.
const POPULATED: usize = 1 << 14;

/// The executions of this process.
pub struct Serve {
    pub begun: bool,
    /// This process is a child made for one order.
    child: bool,
    order: u32,
    slot: *mut Slot,
    prefix: (*const Choice, usize),
    steps: (*mut raddle_explore::Step, usize),
    wide: (*mut u64, usize),
    stacks: (*mut Stack, usize),
    keys: (*mut StateKey, usize),
    /// The order asks for the keys of states.
    keyed: bool,
    len: usize,
    wide_len: usize,
    /// The step in whose midst the running thread is, plus 1; 0 if it was not recorded.
    step: usize,
    pub max_steps: u32,
    points: (*const u64, usize),
    /// Where the loop continues, and where the program does.
    scheduler: Context,
    program: Context,
    time: time::Time,
    pub exits: Exits,
    /// The first thread's mask when the first execution begins.
    mask: u64,
    arrived: u64,
    pub main_has_left: bool,
    /// The program has forked.
    pub has_forked: bool,
    shares_memory: bool,
    /// It has mapped a file with `MAP_SHARED`.
    pub maps_file: bool,
    /// The program has opened a device that gives random numbers.
    pub reads_random_device: bool,
    files: OpenFiles,
    /// `main` has begun; and libtest was refused a thread.
    in_main: bool,
    has_declined: bool,
}

impl Serve {
    pub fn slot(&mut self) -> &mut Slot {
        // SAFETY: the slot of the current order, in the mapped file; only this process writes to
        // it.
        unsafe { &mut *self.slot }
    }

    pub fn prefix(&self) -> &'static [Choice] {
        // SAFETY: the order's prefix, which nobody changes while the order runs.
        unsafe { core::slice::from_raw_parts(self.prefix.0, self.prefix.1) }
    }

    pub fn trace(&self) -> TraceBuf<'static> {
        // SAFETY: the trace's memory is this order's.
        unsafe {
            TraceBuf::resume(
                core::slice::from_raw_parts_mut(self.steps.0, self.steps.1),
                core::slice::from_raw_parts_mut(self.wide.0, self.wide.1),
                self.len,
                self.wide_len,
            )
        }
    }

    /// The step that was recorded last, for [`Serve::is_at`].
    pub fn last_step(&self) -> usize {
        self.len
    }

    /// The running thread is about to do what `step` stands for. 0: that was not recorded.
    pub fn is_at(&mut self, step: usize) {
        self.step = step;
    }

    /// What the running thread's atomic update turned out to be.
    #[cold]
    pub fn mark_update(&mut self, flag: StepFlags) {
        self.mark_update_at(self.step, flag);
    }

    /// The same of the step that [`Serve::is_at`] was told.
    #[cold]
    pub fn mark_update_at(&mut self, step: usize, flag: StepFlags) {
        if let Some(at) = step.checked_sub(1) {
            self.trace().mark_update(at, flag);
        }
    }

    /// What [`Serve::is_at`] was told last.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Makes the recorded steps visible to the driver, even if the process dies now.
    pub fn recorded(&mut self, trace: &TraceBuf<'_>) {
        self.len = trace.len();
        if self.len.is_multiple_of(POPULATED) {
            self.populate();
        }
        self.wide_len = trace.wide_len();
        let (steps, wide) = (self.len as u32, self.wide_len as u32);
        let slot = self.slot();
        slot.steps = steps;
        slot.wide = wide;
    }

    /// Requests the pages of the next steps at once: in a long execution, a page fault for each of
    /// them is a fifth of a step's cost.
    #[cold]
    fn populate(&self) {
        if self.len + POPULATED <= self.steps.1 {
            let at = self.steps.0.wrapping_add(self.len) as usize;
            let low = at.next_multiple_of(4096);
            sys::populate(low, (POPULATED * size_of::<raddle_explore::Step>()).saturating_sub(8192));
        }
    }

    /// Notes the stack of the step that was recorded last: thread `i`, at `pc`.
    #[inline]
    pub fn note_stack(&self, i: usize, pc: usize) {
        if self.len.wrapping_sub(1) < self.stacks.1 {
            let mut frames = [0; size_of::<Stack>() / 8];
            threads::frames(i, pc, &mut frames);
            // SAFETY: below the length; the order's memory.
            unsafe { *self.stacks.0.add(self.len - 1) = frames };
        }
    }

    /// True if the order asks for the keys of states.
    #[inline]
    pub fn is_keyed(&self) -> bool {
        self.keyed
    }

    /// True if the tail chose the step that was recorded last, or the prefix ends before it.
    pub fn is_after_prefix(&self) -> bool {
        self.len > self.prefix.1
    }

    /// Notes the key of the state before the step that was recorded last.
    pub fn note_key(&self, key: StateKey) {
        if self.len.wrapping_sub(1) < self.keys.1 {
            // SAFETY: below the length; the order's memory.
            unsafe { *self.keys.0.add(self.len - 1) = key };
        }
    }

    /// The number of Rust threads that have panicked.
    pub fn panics(&self) -> u64 {
        // SAFETY: as in `slot`.
        unsafe { (*self.slot).panics.into() }
    }

    /// The time when an execution begins.
    pub fn time_at_start(&self) -> u64 {
        self.time.passed
    }

    /// The snapshot has the first thread's stack from here on.
    pub fn main_stack(&self) -> usize {
        self.program.stack() & !63
    }

    /// True if this process was made for one order.
    pub fn is_child(&self) -> bool {
        self.child
    }

    pub fn has_points(&self) -> bool {
        self.points.1 > 0
    }

    /// True if the access whose probe returns to `pc` is a scheduling point.
    pub fn is_point(&self, pc: usize) -> bool {
        self.point_at(pc).is_some()
    }

    /// Its entry in the header's table, if it is one.
    pub fn point_at(&self, pc: usize) -> Option<u64> {
        // SAFETY: the header's table.
        let points = unsafe { core::slice::from_raw_parts(self.points.0, self.points.1) };
        points.binary_search_by_key(&(pc as u64), |p| point::address(*p)).ok().map(|i| points[i])
    }
}

/// How far down the first thread has used its stack, as far as the program can tell. Everything, if
/// it has ended.
pub fn main_stack_in_use() -> usize {
    let s = state();
    if s.threads[0].ended { super::circle::main_top() } else { threads::own(0).kept[0] }
}

fn header() -> &'static Header {
    // SAFETY: the mapped header lives as long as the process.
    unsafe { &*state().header }
}

/// Called at the start of the process, so that all other exit handlers run before this one.
pub fn prepare() {
    exits::prepare();
    let mut t = crate::detect::thread::current();
    t.trace.open(8 << 20);
    t.sp = t.trace.stack;
    t.always_look();
}

pub fn say(what: Status, detail: u64) {
    header().detail.store(detail, Relaxed);
    header().status.store(what.number(), Release);
    wake_driver();
}

fn wake_driver() {
    header().driver_sleeps.store(0, Relaxed);
    sys::futex_wake(header().done.as_ptr(), i32::MAX);
}

/// Called before each creation of a thread. Only the first call does anything.
pub fn begin(_pc: usize) {
    let mut s = state();
    if s.serve.begun {
        return;
    }
    s.serve.begun = true;
    if !s.serve.child && !is_owner() {
        return super::turn_off();
    }
    if s.serve.has_forked && !has(flag::FORK_AT_START) {
        give_up_worker(Status::NeedsFork, Outside::Process.number());
    }
    if s.serve.shares_memory && !has(flag::FORK_AT_START) {
        give_up_worker(Status::NeedsFork, Outside::SharedMemory.number());
    }
    if !super::switch::is_possible() && !os_threads::are_used() {
        say(Status::Cannot, Cannot::NoFsgsbase.number());
        leave(0);
    }
    called_imports::prepare();
    prepare_threads();
    if has(flag::FORK_AT_START) {
        if !s.serve.in_main {
            // A constructor of a global creates the thread. What the program did before is the same
            // for all executions, but they may share what came of it.
            enter_loop();
            state().serve.slot().gaps |= gap::OUTSIDE;
        }
        // The order is known by now: this is its first choice.
        return start_execution();
    }
    enter_loop();
}

/// One process executes orders: the first that comes here, or the next if that one is gone (a
/// debugger runs the program again).
fn is_owner() -> bool {
    let me = u64::from(sys::pid());
    let owner = &header().owner;
    match owner.compare_exchange(0, me, Relaxed, Relaxed) {
        Ok(_) => true,
        Err(other) if other == me => true,
        Err(other) => !exists(other) && owner.compare_exchange(other, me, Relaxed, Relaxed).is_ok(),
    }
}

/// True if no other process executes orders.
pub fn may_be_owner() -> bool {
    let owner = header().owner.load(Relaxed);
    owner == 0 || owner == u64::from(sys::pid())
}

fn exists(pid: u64) -> bool {
    sys::syscall(libc::SYS_kill, [pid as usize, 0, 0, 0, 0, 0]) != -(libc::ESRCH as isize)
}

fn enter_loop() {
    let mut s = state();
    s.serve.time = s.time;
    s.serve.mask = s.threads[0].mask;
    s.serve.arrived = s.arrived;
    let stack = sys::pages(STACK) as usize + STACK;
    // SAFETY: a fresh stack.
    unsafe { park(&mut s.threads[0].context, stack, serve, 0) };
}

/// Prepares everything that must exist before the first scheduling point.
fn prepare_threads() {
    prime_unwinding();
    let mut s = state();
    threads::make_donors(if os_threads::are_used() { 0 } else { header().donors as usize });
    fatal::catch_signals();
    // SAFETY: the table lies behind the header.
    s.serve.points = (unsafe { s.header.byte_add(header().points_at()).cast() }, header().points as usize);
    super::watch_accesses();
}

/// The first `pthread_exit` loads the unwinder under the loader's lock; a switch in there would
/// block others for real. So load it now, with a function that does the same.
fn prime_unwinding() {
    unsafe extern "C" {
        fn backtrace(to: *mut *mut c_void, most: c_int) -> c_int;
    }
    let mut frame = core::ptr::null_mut();
    // SAFETY: room for one.
    unsafe { backtrace(&mut frame, 1) };
}

/// True if this is libtest's thread for its test. libtest asks for one first of all, and without
/// one it runs the test itself.
pub fn declines_thread() -> bool {
    let mut s = state();
    let declines = super::is_on() && has(flag::LIBTEST) && s.serve.in_main && !s.serve.begun;
    declines && !core::mem::replace(&mut s.serve.has_declined, true)
}

/// Called before `main`. With [`flag::FORK_AT_START`] each execution begins here, in its own
/// process, unless it has begun: a constructor of a global may create threads.
pub fn before_main() {
    state().serve.in_main = true;
    if has(flag::FORK_AT_START) && !state().serve.begun {
        if !is_owner() {
            return super::turn_off();
        }
        enter_loop();
    }
}

extern "C" fn serve(_: usize) -> ! {
    let mut s = state();
    s.serve.program = s.threads[0].context;
    heap::keep();
    found_functions::prepare();
    if !has(flag::FORK) {
        // A debugger can look at one process only.
        let (stack, may_watch) = (s.serve.program.stack(), !has(flag::TRAP_AT_FAILURE));
        s.snapshot.take(stack, may_watch);
        header().snapshot_bytes.store(s.snapshot.bytes() as u64, Relaxed);
    }
    let output = s.output;
    s.serve.files.note(output);
    say(Status::Ready, 0);
    loop {
        next_order();
        if has(flag::FORK) {
            match fork() {
                0 => {
                    // An execution must not outlive its worker.
                    let end = [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0];
                    sys::syscall(libc::SYS_prctl, end);
                    state().serve.child = true;
                }
                child if child > 0 => {
                    let mut ended = 0i32;
                    sys::syscall(libc::SYS_wait4, [child as usize, &raw mut ended as usize, 0, 0, 0, 0]);
                    note_end(ended);
                    found_functions::take_over();
                    if header().status.load(Relaxed) != Status::Ready.number() {
                        leave(0);
                    }
                    let lost = state().serve.files.put_back(false);
                    is_done();
                    give_up_for(lost);
                    continue;
                }
                _ => leave(2),
            }
        }
        execute();
        if state().serve.child {
            leave(0);
        }
        // The list of freed blocks is restored too.
        heap::put_back();
        let count = s.count;
        s.snapshot.put_back(count);
        let lost = state().serve.files.put_back(true);
        is_done();
        give_up_for(lost);
    }
}

/// Gives up this worker if something cannot be restored.
fn give_up_for(lost: Option<Outside>) {
    if let Some(why) = lost {
        give_up_worker(Status::NeedsFork, why.number());
    }
}

/// Notes how a child ended. If the process became another program, the execution ends as that
/// program does. If it left by its own system call or was killed, the execution ends as the system
/// says.
fn note_end(ended: i32) {
    let s = state();
    // SAFETY: the slot of the finished order, as the header says; the child that wrote to it has
    // ended.
    let slot = unsafe { parts(header(), s.header.cast::<u8>().add(header().slot_at(s.serve.order))) }.slot;
    let ready = header().status.load(Relaxed) == Status::Ready.number();
    if ready && matches!(slot.outcome(), Some(ExecutionEnd::Exec | ExecutionEnd::Unfinished)) {
        slot.awaits = if slot.outcome() == Some(ExecutionEnd::Exec) { awaits::OTHER_PROGRAM } else { 0 };
        let by_signal = libc::WIFSIGNALED(ended);
        slot.detail = if by_signal { libc::WTERMSIG(ended) } else { libc::WEXITSTATUS(ended) } as u64;
        slot.set_outcome(if by_signal { ExecutionEnd::Signal } else { ExecutionEnd::Exit });
    }
}

/// With donors, forks by system call: the C library's function would forget them.
fn fork() -> isize {
    static FORK: Real = Real::new(c"_Fork", None);
    if threads::donors() > 0 {
        return sys::syscall(libc::SYS_fork, [0; 6]);
    }
    // SAFETY: the C library's function takes nothing.
    unsafe { core::mem::transmute::<usize, extern "C" fn() -> c_int>(FORK.get())() as isize }
}

/// Waits for the next order.
fn next_order() {
    let s = state();
    let wanted = s.serve.order;
    loop {
        if header().stop.load(Acquire) != 0 {
            say(Status::Stopped, 0);
            leave(0);
        }
        let posted = header().posted.load(Acquire);
        if posted != wanted {
            return;
        }
        header().worker_sleeps.store(1, SeqCst);
        if header().posted.load(SeqCst) == wanted && header().stop.load(SeqCst) == 0 {
            if header().driver_sleeps.load(SeqCst) != 0 {
                wake_driver();
            }
            sys::futex_wait(header().posted.as_ptr(), wanted);
        }
        header().worker_sleeps.store(0, Relaxed);
    }
}

fn is_done() {
    let mut s = state();
    s.serve.order = s.serve.order.wrapping_add(1);
    header().done.store(s.serve.order, Release);
    // Wake the driver when half of what it can post is done, so that neither waits for the other.
    let sleeping = header().driver_sleeps.load(SeqCst);
    if sleeping != 0 && header().posted.load(Relaxed).wrapping_sub(s.serve.order) <= header().slots / 2 {
        wake_driver();
    }
}

/// Runs one execution, from the program's context to [`finish`].
fn execute() {
    let mut s = state();
    // SAFETY: the slot of the next order, as the header says.
    let Parts { slot, prefix, steps, wide, stacks, keys } =
        unsafe { parts(header(), s.header.cast::<u8>().add(header().slot_at(s.serve.order))) };
    slot.steps = 0;
    slot.wide = 0;
    slot.set_outcome(ExecutionEnd::Unfinished);
    slot.diverged = 0;
    slot.panics = 0;
    slot.spins_at = 0;
    slot.unchanged = 0;
    slot.awaits = 0;
    slot.ends = 0;
    slot.unknowable = 0;
    slot.races = 0;
    slot.hiddens = 0;
    slot.gaps = 0;
    slot.called = 0;
    slot.leaks = 0;
    slot.output_len = 0;
    slot.output_hash = 0;
    slot.detail = 0;
    slot.address = 0;
    slot.message_len = 0;
    let spurious = u32::from(has(flag::SPURIOUS));
    let max_steps = header().max_steps;
    let part = &mut *s;
    let serve = &mut part.serve;
    serve.prefix = (prefix.as_ptr(), (slot.prefix as usize).min(prefix.len()));
    serve.steps = (steps.as_mut_ptr(), steps.len());
    serve.wide = (wide.as_mut_ptr(), wide.len());
    serve.stacks = (stacks.as_mut_ptr(), stacks.len());
    serve.keys = (keys.as_mut_ptr(), keys.len());
    serve.slot = slot;
    (serve.len, serve.wide_len, serve.step) = (0, 0, 0);
    serve.exits.begin();
    serve.max_steps = max_steps;
    serve.main_has_left = false;
    let tail = Tail::from_words(&slot.tail).unwrap_or(Tail::NonPreemptive { next: Next::Lowest });
    serve.keyed = tail == Tail::Keyed;
    part.pilot.begin(&Course {
        tail,
        weights: &slot.weight[..(slot.weights as usize).min(slot.weight.len())],
        constraints: &slot.constraint[..(slot.constraints as usize).min(MAX_CONSTRAINTS)],
    });
    let first = part.threads[0];
    part.threads[0] = Logical {
        context: serve.program,
        handle: first.handle,
        kernel_id: first.kernel_id,
        mask: serve.mask,
        ..Logical::FIRST
    };
    s.pending[0] = Op::default();
    (s.count, s.joined, s.alone) = (1, 0, 0);
    (s.shared_wakes, s.left_stacks) = (0, (0, 0));
    s.loader = super::locks::LoaderLocks::FREE;
    s.current = 0;
    s.spurious = spurious;
    s.fruitless = 0;
    s.yields = 0;
    s.outside_by = 0;
    s.progressed = 0;
    s.timers = 0;
    s.ending = 0;
    s.arrived = s.serve.arrived;
    s.sent = 0;
    s.time = s.serve.time;
    memory::begin();
    races::begin();
    hidden::begin();
    leaks::begin();
    output::begin();
    crate::trace::begin();
    updates::forget();
    let keyed = s.serve.keyed;
    super::states::begin(keyed);
    s.running = !has(flag::FORK_AT_START);
    // SAFETY: the program's context, with its stack unchanged.
    unsafe { switch(&mut s.serve.scheduler, &s.serve.program) };
}

/// The program creates its first thread, in a process made for one order. The first thread's number
/// stays as [`threads::make_donors`] noted it: if there were donors before the process was made, the
/// C library still has the number of the parent, and writes it into the mutexes that it locks.
fn start_execution() {
    heap::keep();
    state().running = true;
}

/// Ends the execution and writes what happened into the slot.
pub fn finish(what: ExecutionEnd) -> ! {
    updates::settle();
    crate::trace::end();
    let mut s = state();
    s.running = false;
    let count = s.count;
    let diverged = s.pilot.divergence().map_or(0, |d| d + 1);
    let unchanged = s.pilot.steps().saturating_sub(s.progressed);
    let awaited = if what == ExecutionEnd::Exit { 0 } else { super::awaits::awaited() };
    output::note();
    hidden::end(what);
    let has_forked = s.serve.has_forked;
    let slot = s.serve.slot();
    slot.threads = count as u32;
    slot.diverged = diverged;
    slot.gaps |= if has_forked { gap::PROCESS } else { 0 };
    (slot.unchanged, slot.awaits) = (unchanged, awaited);
    if what != ExecutionEnd::Exit {
        note_ends(count);
    }
    // What threads wait for is known by now.
    super::by_id::remove_made();
    s.serve.slot().set_outcome(what);
    if os_threads::are_used() {
        // Any system thread may come here, in a process made for this order.
        leave(0);
    }
    // SAFETY: the loop's context; nobody uses its stack meanwhile.
    unsafe { jump(&s.serve.scheduler) }
}

/// Notes where each thread is.
#[cold]
fn note_ends(count: usize) {
    for i in 0..count.min(ENDS) {
        note_thread(i, i);
    }
    state().serve.slot().ends = count.min(ENDS) as u32;
}

/// Notes at `at` where thread `i` is.
fn note_thread(at: usize, i: usize) {
    let mut s = state();
    let mut frames = [0u64; FRAMES];
    let ended = s.threads[i].ended || s.threads[i].is_idle();
    let depth = if ended { 0 } else { threads::frames(i, s.threads[i].pc, &mut frames) };
    let pending = s.pending[i];
    let holder = if ended { 0 } else { holder(i, s.threads[i].wait) };
    let end = &mut s.serve.slot().end[at];
    end.thread = raddle_explore::LogicalThread(i as u16);
    end.ended = ended as u16;
    (end.depth, end.holder) = (depth as u16, holder);
    end.pending = pending;
    end.frames = frames;
}

/// Who holds the lock that a thread waits for, as [`End::holder`] has it. It may have been taken
/// before the first thread was created, when there were no steps yet, or in no step.
fn holder(thread: usize, wait: super::Wait) -> u16 {
    use super::{Wait, locks, peek};
    let s = state();
    let by = match wait {
        Wait::Mutex(at) => {
            let owner = peek::mutex_owner(at);
            s.threads[..s.count].iter().position(|t| owner != 0 && t.kernel_id == owner)
        }
        Wait::Stream(lock) => locks::holder_of_stream(lock, thread),
        Wait::Loader(what) => what.holder(thread),
        _ => None,
    };
    by.map_or(0, |i| i as u16 + 1)
}

/// The process ends with `code`.
pub fn finish_exit(code: i32) -> ! {
    let mut s = state();
    s.serve.slot().detail = code as u32 as u64;
    s.serve.slot().thread = s.current as u32;
    leaks::look();
    finish(ExecutionEnd::Exit)
}

/// This worker cannot go on; another one may.
pub fn give_up_worker(why: Status, detail: u64) -> ! {
    let mut s = state();
    if s.running {
        s.serve.slot().set_outcome(ExecutionEnd::Retry);
    }
    super::by_id::remove_made();
    say(why, detail);
    leave(0)
}

/// The program is about to do something that restoring memory cannot undo.
pub fn retry_with_fork(why: Outside) {
    let late = why.is_shared_with_forks() && !has(flag::FORK_AT_START);
    if super::is_running() && (!has(flag::FORK) || late) {
        give_up_worker(Status::NeedsFork, why.number());
    }
}

/// The program is about to change files or folders.
pub fn changes_outside(pc: usize) {
    changes(Outside::Changes, pc);
}

/// The program is about to close or duplicate a descriptor, or to change other state of the
/// process, such as its limits.
pub fn changes_process(pc: usize) {
    changes(Outside::File, pc);
}

fn changes(what: Outside, pc: usize) {
    if super::is_on() {
        retry_with_fork(what);
        hidden::note(gap::OUTSIDE);
        looks_outside(pc);
    }
}

/// The program is about to look at files or folders, which other threads may change: its place
/// among all steps matters.
pub fn looks_outside(pc: usize) {
    if super::is_running() {
        let looks = super::op(OpKind::Other, LIBRARY_STATE as usize, pc).with_other(SEES_OUTSIDE);
        super::point(looks, super::Wait::Nothing, pc);
    }
}

/// The program makes a system call by number, with unknown effects. If there is only one thread,
/// nobody can see it.
pub fn unknown_call(pc: usize) {
    if super::is_running() && state().joined + 1 < state().count {
        retry_with_fork(Outside::Changes);
        hidden::note(gap::SYSTEM_CALL);
        looks_outside(pc);
    }
}

/// The program shared memory with other processes, or with files, before its first thread.
pub fn shares_memory() {
    state().serve.shares_memory = true;
}

/// A Rust thread panics. For the first panic, notes where the thread is, and keeps it with a digest
/// of its stack: they distinguish two failures.
pub fn panics() {
    if !super::is_running() {
        return;
    }
    let mut s = state();
    let me = s.current;
    s.serve.slot().panics += 1;
    if s.serve.slot().panics == 1 {
        note_thread(0, me);
        let slot = s.serve.slot();
        // The first frame is that of the thread's last step; the callers are those of the panic.
        let end = &mut slot.end[0];
        end.frames.copy_within(1.., 0);
        end.frames[FRAMES - 1] = 0;
        end.depth = end.depth.saturating_sub(1);
        slot.ends = 1;
        let digest = |hash: u64, pc: &u64| (hash.rotate_left(5) ^ pc).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        slot.address = slot.end[0].frames.iter().fold(0, digest) & !0xffff | me as u64;
    }
}

pub fn leave(code: usize) -> ! {
    state().snapshot.end();
    loop {
        sys::syscall(libc::SYS_exit_group, [code, 0, 0, 0, 0, 0]);
    }
}
