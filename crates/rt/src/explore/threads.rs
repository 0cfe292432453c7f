//! Logical threads.
//!
//! Donors are made before the first execution and park themselves at once. A new logical thread
//! takes the next donor. None is used twice in one execution, so the n-th thread always has the
//! same stack, the same handle and the same thread-local storage. A donor that is first switched to
//! lives the life of one thread ([`donate`]). It never reaches its end, because a thread's last
//! step is to switch away.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering::*};

use raddle_explore::{MAX_THREADS, Op, OpKind};
use raddle_wire::explore::Status;

use super::circle::Circle;
use super::point::{Breaks, WaitEnd, leave_for_good, point, wait};
use super::switch::{Context, park};
use super::{Wait, called_imports, exits, memory, op, os_threads, serve, state, sync, time};
use crate::detect::thread::{Current, Thread, current};
use crate::handle::Handle;
use crate::interpose::Real;
use crate::interpose::stack_size::with_room;
use crate::sys;

/// One logical thread.
#[derive(Clone, Copy)]
pub struct Logical {
    pub context: Context,
    pub wait: Wait,
    /// When the wait may time out, in virtual time; None: never. See `time`.
    pub due: Option<u64>,
    /// When the wait began, and how many yields had been made by then.
    pub began: u64,
    pub yields_before: u64,
    /// How much time had passed by reading clocks when this thread last read one: see `time`.
    pub looked_at: u64,
    /// It sleeps until then.
    pub sleeps_until: Option<u64>,
    /// What may break off the wait.
    pub breaks: Breaks,
    /// The thread was chosen to time out.
    pub gives_up: bool,
    /// Whether the wait may end spuriously, and whether it just did.
    pub may_wake: bool,
    pub spurious: bool,
    /// What it waited for has happened: see [`Wait::Told`].
    pub told: bool,
    /// It had the mutex when it began to wait for a condition variable.
    pub owned: bool,
    pub ended: bool,
    pub detached: bool,
    pub joined: bool,
    /// The thread that joined it, if it waited without a time-out.
    pub joiner: Option<usize>,
    /// C11's start functions return an int.
    pub gives_int: bool,
    /// The step that it means to make, and whether its pending step is a different one: a time-out,
    /// or a handler.
    pub meant: Op,
    pub altered: bool,
    pub role: Role,
    /// The callback that it is to run, and its argument.
    pub job: (usize, usize),
    /// The location of its pending step.
    pub pc: usize,
    pub function: usize,
    pub argument: usize,
    pub result: usize,
    /// The handle that the program knows.
    pub handle: usize,
    pub kernel_id: u32,
    /// The step before the last, and how often the last ones were repeated: see `point::spins`.
    pub recent: Op,
    pub looks: u32,
    /// A hash of its registers and stack one lap before the last look, and whether it was the same
    /// in the end.
    pub look_state: u64,
    pub idles: bool,
    pub circle: Circle,
    /// The program's frames lie below this.
    pub stack_top: usize,
    /// It has passed a seq_cst fence since its last step.
    pub fenced: bool,
    /// The signals that it blocks, and those that have arrived.
    pub mask: u64,
    pub arrived: u64,
    /// A handler has run since this was last cleared.
    pub handled: bool,
    /// The number of handlers that it is in.
    pub handling: u32,
    /// The fault that one of them handles, and the stack that handlers may use.
    pub fault: Option<super::faults::Fault>,
    pub handler_stack: super::faults::HandlerStack,
    /// It was asked to end; cancellation is disabled; and a wait was broken off for it.
    pub cancelled: bool,
    pub never_cancelled: bool,
    pub cut_short: bool,
    /// It may be ended at any moment.
    pub asynchronous: bool,
    /// The number of the C library's locks that it holds, for which another thread would block for
    /// real.
    pub uninterrupted: i32,
    /// When it began to wait for [`Wait::Told`]: the longest waiter is told first.
    pub since: u64,
    /// The reader-writer lock for which it queues as a writer, so that readers wait.
    pub queues_at: usize,
    /// Where a function of the C library last began to write, in a separate step.
    pub fills_at: usize,
    /// The number of quiet operations since its last step.
    pub quiet: u32,
    /// It is about to end the process, and how many steps it has let others make first.
    pub ends_process: bool,
    pub lets_pass: u32,
    /// Initialisers that it has begun but not passed: it is inside them, or they threw.
    pub initialisers: [usize; 4],
    /// Its name; empty: that of the process. See `names`.
    pub name: [u8; super::names::LEN],
    /// The last keys for thread-specific values that it made.
    pub last_keys: [Option<u32>; 2],
}

impl Logical {
    pub const FIRST: Logical = Logical {
        context: Context::NONE,
        wait: Wait::Nothing,
        due: None,
        began: 0,
        yields_before: 0,
        looked_at: 0,
        sleeps_until: None,
        breaks: Breaks::Nothing,
        gives_up: false,
        may_wake: false,
        spurious: false,
        told: false,
        owned: false,
        ended: false,
        detached: false,
        joined: false,
        joiner: None,
        gives_int: false,
        meant: Op::new(OpKind::Start, 0, 0),
        altered: false,
        role: Role::Ordinary,
        job: (0, 0),
        pc: 0,
        function: 0,
        argument: 0,
        result: 0,
        handle: 0,
        kernel_id: 0,
        recent: Op::new(OpKind::Start, 0, 0),
        looks: 0,
        look_state: 0,
        idles: false,
        circle: Circle::NONE,
        stack_top: 0,
        fenced: false,
        mask: 0,
        arrived: 0,
        handled: false,
        handling: 0,
        fault: None,
        handler_stack: super::faults::HandlerStack::NONE,
        cancelled: false,
        never_cancelled: false,
        cut_short: false,
        asynchronous: false,
        uninterrupted: 0,
        since: 0,
        queues_at: 0,
        fills_at: 0,
        quiet: 0,
        ends_process: false,
        lets_pass: 0,
        initialisers: [0; 4],
        name: [0; super::names::LEN],
        last_keys: [None; 2],
    };

    /// True for a timer's thread that has nothing to do: it neither keeps the process alive nor
    /// disturbs others.
    pub fn is_idle(&self) -> bool {
        matches!(self.wait, Wait::Timer(_) | Wait::Callback)
    }
}

/// The purpose of a logical thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A thread of the program itself.
    Ordinary,
    /// It stands for a timer.
    Timer,
    /// It runs a timer's callbacks.
    Callback,
}

/// A parked donor.
#[derive(Clone, Copy)]
struct Donor {
    context: Context,
    handle: usize,
    kernel_id: u32,
    /// Its stack, which ends with its thread-local storage.
    low: usize,
    top: usize,
    /// The kernel's list of its robust mutexes. Its address does not change, and asking each time
    /// would cost more than ending a thread.
    robust: *const isize,
    /// A larger stack that it was given once: address and size.
    large: (usize, usize),
}

const PARKING: usize = 4096;

static READY: AtomicU32 = AtomicU32::new(0);
static DONORS: sys::Shared<[Donor; MAX_THREADS]> = sys::Shared::new(
    [Donor {
        context: Context::NONE,
        handle: 0,
        kernel_id: 0,
        low: 0,
        top: 0,
        robust: core::ptr::null(),
        large: (0, 0),
    }; MAX_THREADS],
);
static COUNT: AtomicU32 = AtomicU32::new(0);

fn donor(i: usize) -> Handle<Donor> {
    // SAFETY: a donor writes its own entry before it is ready, and nobody after.
    unsafe { Handle::new(&raw mut (*DONORS.get())[i]) }
}

static CREATE: Real = Real::new(c"pthread_create", None);
type Create = unsafe extern "C" fn(*mut usize, *const c_void, usize, usize) -> c_int;

/// Makes `n` donors. Each parks before the next is made.
pub fn make_donors(n: usize) {
    let mask = sys::block_signals();
    let mut made = 0;
    for i in 0..n.min(MAX_THREADS - 1) {
        // SAFETY: the C library's function; the start function takes a number.
        let create = unsafe { core::mem::transmute::<usize, Create>(CREATE.get()) };
        let create = |attributes| {
            // SAFETY: as above.
            unsafe { create(&mut donor(i).handle, attributes, donate as *const () as usize, i) }
        };
        // SAFETY: no attributes.
        if unsafe { with_room(core::ptr::null(), create) } != 0 {
            break;
        }
        made += 1;
        // One after the other: each allocates, and the allocator supports only one running thread
        // at a time.
        while READY.load(Acquire) < made {
            sys::yield_now();
        }
    }
    COUNT.store(made, Relaxed);
    sys::set_blocked_signals(mask);
    let first = &mut state().threads[0];
    first.kernel_id = sys::thread_id();
    // SAFETY: a plain call.
    first.handle = unsafe { libc::pthread_self() } as usize;
}

/// The list of a logical thread's robust mutexes, or null.
pub fn robust_list(i: usize) -> *const isize {
    match i.checked_sub(1).map(|i| donor(i).robust) {
        Some(list) if !list.is_null() => list,
        _ => asked_robust_list(state().threads[i].kernel_id),
    }
}

fn asked_robust_list(kernel_id: u32) -> *const isize {
    let (mut head, mut len) = (core::ptr::null::<isize>(), 0usize);
    let args = [kernel_id as usize, &raw mut head as usize, &raw mut len as usize, 0, 0, 0];
    let failed = sys::syscall(libc::SYS_get_robust_list, args) != 0;
    if failed { core::ptr::null() } else { head }
}

/// The used part of each of the first `n` donors' stacks.
pub fn stacks(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).map(|i| (donor(i).context.stack(), donor(i).top))
}

pub fn donors() -> usize {
    COUNT.load(Relaxed) as usize
}

/// The memory of logical thread `i`, which is not the first and has used its stack down to `at`:
/// the stack with its thread-local storage and its descriptor. For an ended thread, only the
/// descriptor.
pub fn memory_of(i: usize, at: usize) -> [(usize, usize); 2] {
    const NOTHING: (usize, usize) = (0, 0);
    let (t, d) = (&state().threads[i], donor(i - 1));
    let descriptor = (d.context.thread_pointer(), d.top);
    let end = d.large.0 + d.large.1;
    if t.ended {
        [descriptor, NOTHING]
    } else if (d.low..d.top).contains(&at) {
        [(at, d.top), NOTHING]
    } else if (d.large.0..end).contains(&at) {
        [(at, end), descriptor]
    } else {
        // A stack provided by the program is ordinary memory of the program.
        [descriptor, NOTHING]
    }
}

/// How far down a thread that does not run has used its stack.
pub fn stack_in_use(i: usize) -> usize {
    state().threads[i].context.stack()
}

/// The whole stacks of the donors.
pub fn whole_stacks() -> impl Iterator<Item = (usize, usize)> {
    (0..donors()).map(|i| (donor(i).low, donor(i).top))
}

extern "C" fn donate(i: usize) -> usize {
    let mut t = current();
    t.trace.open(1 << 20);
    t.sp = t.trace.stack;
    t.always_look();
    let mut d = donor(i);
    d.kernel_id = sys::thread_id();
    d.robust = asked_robust_list(d.kernel_id);
    let stack = crate::interpose::thread::own_stack();
    (d.low, d.top) = stack;
    let parking = sys::pages(PARKING) as usize + PARKING;
    // SAFETY: the parking stack is fresh; the context is this donor's.
    unsafe { park(&mut d.context, parking, wait_for_ever, 0) };
    live()
}

extern "C" fn wait_for_ever(_: usize) -> ! {
    READY.fetch_add(1, Release);
    let never = 0u32;
    loop {
        sys::futex_wait(&never, 0);
    }
}

/// The life of a logical thread, on the carrier.
pub fn live() -> ! {
    let Logical { function, argument, gives_int, .. } = *state().current_thread();
    let mut bottom = Bottom { words: [0; 32], unwound: 0 };
    state().current_thread_mut().stack_top = &raw const bottom as usize;
    // SAFETY: the program's start function.
    let mut result = unsafe { call_with_bottom(function, argument, &mut bottom) };
    if bottom.unwound == 1 {
        result = state().current_thread().result;
    } else if gives_int {
        result = result as c_int as usize;
    }
    end(result)
}

/// Where unwinding by `pthread_exit` ends: glibc's buffer for clean-up handlers, and whether it was
/// used.
#[repr(C, align(16))]
struct Bottom {
    words: [usize; 32],
    unwound: usize,
}

/// Calls `function(argument)`. If `pthread_exit` leaves it, everything in between is unwound, as at
/// the bottom of a real thread, and this returns as well.
#[unsafe(naked)]
unsafe extern "C" fn call_with_bottom(function: usize, argument: usize, bottom: *mut Bottom) -> usize {
    core::arch::naked_asm!(
        "push rbp", "push rbx", "push r12", "push r13", "push r14", "push r15", "sub rsp, 8",
        "mov r12, rdi", "mov r13, rsi", "mov r14, rdx",
        "mov rdi, r14", "xor esi, esi",
        "call {setjmp}",
        "test eax, eax", "jnz 2f",
        "mov rdi, r14",
        "call {register}",
        "mov rdi, r13",
        "call r12",
        "mov r13, rax",
        "mov rdi, r14",
        "call {unregister}",
        "mov rax, r13",
        "jmp 3f",
        // The registers are those of the call to setjmp.
        "2: mov qword ptr [r14 + {unwound}], 1",
        "xor eax, eax",
        "3: add rsp, 8", "pop r15", "pop r14", "pop r13", "pop r12", "pop rbx", "pop rbp",
        "ret",
        setjmp = sym __sigsetjmp,
        register = sym __pthread_register_cancel,
        unregister = sym __pthread_unregister_cancel,
        unwound = const core::mem::offset_of!(Bottom, unwound),
    )
}

unsafe extern "C" {
    fn __sigsetjmp(buffer: *mut c_void, mask: c_int) -> c_int;
    fn __pthread_register_cancel(buffer: *mut c_void);
    fn __pthread_unregister_cancel(buffer: *mut c_void);
}

/// The running thread's last step.
pub fn end(result: usize) -> ! {
    sync::run_thread_destructors();
    sync::abandon_robust_mutexes();
    let mut s = state();
    let me = s.current;
    // Before the step: what is left to do must not be in a register.
    s.threads[me].result = result;
    point(op(OpKind::Exit, me, 0), Wait::Nothing, 0);
    let mut s = state();
    s.threads[me].ended = true;
    leaves_stack(me);
    if me == 0 {
        // The first thread ended by `pthread_exit`; the process ends with the last thread.
        s.serve.main_has_left = true;
    }
    end_process_if_last();
    leave_for_good()
}

/// The stack of a thread that ends is unused from now on. A stack provided by the program belongs
/// to the program.
fn leaves_stack(i: usize) {
    if i == 0 || os_threads::are_used() {
        return;
    }
    let mut s = state();
    let (low, high) = donors_stack(i);
    s.left_stacks = match s.left_stacks {
        (0, 0) => (low, high),
        (least, most) => (least.min(low), most.max(high)),
    };
}

/// The part of the stack where the program's frames can be, without thread-local storage.
fn donors_stack(i: usize) -> (usize, usize) {
    let d = donor(i - 1);
    (d.low, d.context.stack())
}

/// The ended thread on whose stack the address lies.
#[inline]
pub fn ended_with_stack(address: usize) -> Option<usize> {
    let s = state();
    if address.wrapping_sub(s.left_stacks.0) >= s.left_stacks.1.wrapping_sub(s.left_stacks.0) {
        return None;
    }
    let is_on_stack = |i: &usize| {
        let (low, high) = donors_stack(*i);
        s.threads[*i].ended && (low..high).contains(&address)
    };
    (1..s.count).find(is_on_stack)
}

/// Ends the process with the last thread.
pub fn end_process_if_last() {
    let s = state();
    if (0..s.count).all(|i| s.threads[i].ended || s.threads[i].is_idle()) {
        exits::exits_as_last_thread();
    }
}

/// Creates a logical thread.
pub unsafe fn create(
    handle: *mut usize,
    attributes: *const c_void,
    function: usize,
    argument: usize,
    gives_int: bool,
    pc: usize,
) -> c_int {
    if serve::declines_thread() {
        return libc::EAGAIN;
    }
    super::begin(pc);
    if !super::is_on() {
        // SAFETY: the program's call, passed on. C11's start functions return an int in the same
        // register.
        return unsafe {
            core::mem::transmute::<usize, Create>(CREATE.get())(handle, attributes, function, argument)
        };
    }
    let i = next_id();
    point(op(OpKind::Create, i, pc), Wait::Nothing, pc);
    // Others may have created threads meanwhile.
    let i = next_id();
    // SAFETY: the program's attributes.
    let (context, new, kernel_id) = match unsafe { body_of(i, attributes) } {
        Ok(body) => body,
        Err(error) => return error,
    };
    let mut s = state();
    let name = s.threads[s.current].name;
    s.threads[i] = Logical {
        context,
        function,
        argument,
        gives_int,
        name,
        // SAFETY: the program's attributes.
        detached: unsafe { crate::interpose::thread::starts_detached(attributes) },
        handle: new,
        kernel_id,
        mask: s.threads[s.current].mask,
        ..Logical::FIRST
    };
    s.pending[i] = op(OpKind::Start, i, function);
    if s.joined + 1 == s.count {
        called_imports::begin();
    }
    s.count += 1;
    memory::created(i);
    // SAFETY: the program's variable.
    unsafe { *handle = new };
    0
}

/// What logical thread `i` runs on: a donor, or a system thread.
unsafe fn body_of(i: usize, attributes: *const c_void) -> Result<(Context, usize, u32), c_int> {
    if os_threads::are_used() {
        // SAFETY: the program's attributes.
        return unsafe { os_threads::start(i, attributes) }.map(|handle| (Context::NONE, handle, 0));
    }
    let d = donor(i - 1);
    // SAFETY: the program's attributes.
    let context = match unsafe { stack_for(d, attributes) }? {
        Some(top) => d.context.moved_to(top, live_on_own_stack),
        None => d.context,
    };
    Ok((context.created_here(), d.handle, d.kernel_id))
}

/// The number of the next thread.
pub fn next_id() -> usize {
    let i = state().count;
    if i >= MAX_THREADS || (i > donors() && !os_threads::are_used()) {
        serve::give_up_worker(Status::MoreDonors, i as u64 * 2);
    }
    i
}

/// Creates a thread for a timer, which blocks all signals. Its first step is `first`.
pub fn add(function: usize, argument: usize, role: Role, first: (Op, Wait), pc: usize) -> usize {
    let i = next_id();
    // SAFETY: no attributes.
    let (context, handle, kernel_id) = match unsafe { body_of(i, core::ptr::null()) } {
        Ok(body) => body,
        Err(_) => sys::die(b"raddle: no thread for a timer\n"),
    };
    let mut s = state();
    s.threads[i] = Logical {
        context,
        function,
        argument,
        detached: true,
        handle,
        kernel_id,
        mask: u64::MAX,
        role,
        wait: first.1,
        meant: first.0,
        pc,
        ..Logical::FIRST
    };
    s.pending[i] = first.0;
    if s.joined + 1 == s.count {
        called_imports::begin();
    }
    s.count += 1;
    memory::created(i);
    i
}

/// The top of the stack for a new thread, if the donor's does not suffice: the program provides
/// one, or asks for more than the donor has. An error is what `pthread_create` returns.
unsafe fn stack_for(mut d: Handle<Donor>, attributes: *const c_void) -> Result<Option<usize>, c_int> {
    // SAFETY: the program's attributes.
    let own = unsafe { own_stack_of(attributes) };
    if own.is_some() || attributes.is_null() {
        return Ok(own);
    }
    let mut size: usize = 0;
    // SAFETY: the program's attributes.
    let r = unsafe { libc::pthread_attr_getstacksize(attributes.cast(), &mut size) };
    if r != 0 || size <= d.top - d.low {
        return Ok(None);
    }
    let size = size.checked_next_multiple_of(4096).and_then(|s| s.checked_add(ROOM)).ok_or(libc::EAGAIN)?;
    if d.large.1 < size {
        // Kept for the next executions: it is not part of the program's memory that is restored.
        d.large = (sys::try_pages(size).ok_or(libc::EAGAIN)? as usize, size);
        // An overflow must crash, as it would without raddle.
        sys::protect(d.large.0, 4096, libc::PROT_NONE);
    }
    Ok(Some(d.large.0 + d.large.1))
}

/// Room for the runtime on a stack whose size the program chose.
const ROOM: usize = 128 << 10;

/// The top of the stack that the program provides for its new thread, if it does.
unsafe fn own_stack_of(attributes: *const c_void) -> Option<usize> {
    let (mut at, mut size) = (core::ptr::null_mut(), 0);
    // SAFETY: the program's attributes.
    let r = unsafe {
        // A bit of the third word of glibc's structure says whether there is one.
        const HAS_STACK: u32 = 8;
        if attributes.is_null() || *attributes.cast::<u32>().add(2) & HAS_STACK == 0 {
            return None;
        }
        libc::pthread_attr_getstack(attributes.cast(), &mut at, &mut size)
    };
    (r == 0).then(|| at as usize + size)
}

extern "C" fn live_on_own_stack() -> ! {
    live()
}

/// Thread numbers of all but the first thread, which has the carrier's kernel number. They are the
/// same in every run, and larger than any number of the kernel.
const FIRST_NUMBER: c_int = 1 << 23;

/// The running thread's `gettid`. That of the first thread equals the process's: programs use this
/// to tell whether they are in it.
pub fn number() -> c_int {
    match state().current {
        _ if !super::is_on() => sys::thread_id() as c_int,
        0 => sys::pid() as c_int,
        i => FIRST_NUMBER + i as c_int,
    }
}

pub fn by_number(number: c_int) -> Option<usize> {
    if number == sys::pid() as c_int {
        return Some(0);
    }
    usize::try_from(number - FIRST_NUMBER).ok().filter(|i| *i > 0 && *i < state().count)
}

/// The kernel's number of the thread or process with this number.
pub fn kernel_number(number: c_int) -> c_int {
    let known = if super::is_on() && number >= FIRST_NUMBER { by_number(number) } else { None };
    known.map_or(number, |i| state().threads[i].kernel_id as c_int)
}

pub fn by_handle(handle: usize) -> Option<usize> {
    let s = state();
    (0..s.count).rev().find(|i| s.threads[*i].handle == handle)
}

/// How long to wait for a thread's end.
#[derive(Clone, Copy)]
pub enum WaitLimit {
    Endless,
    Until(sync::Until),
    None,
}

/// None if raddle does not control the thread.
pub fn join(handle: usize, patience: WaitLimit, pc: usize) -> Option<Result<usize, c_int>> {
    let i = by_handle(handle)?;
    let s = state();
    if i == s.current {
        return Some(Err(libc::EDEADLK));
    }
    if s.threads[i].detached || s.threads[i].joined {
        return Some(Err(libc::EINVAL));
    }
    let o = op(OpKind::Join, i, pc);
    match patience {
        WaitLimit::Endless => {
            if wait(o, Wait::Thread(i), None, Breaks::Cancel, pc) == WaitEnd::Broken {
                return Some(Err(libc::EINTR));
            }
        }
        WaitLimit::Until(until) => match sync::wait_until(o, Wait::Thread(i), until, Breaks::Cancel, pc) {
            WaitEnd::Over => {}
            WaitEnd::GaveUp => return Some(Err(libc::ETIMEDOUT)),
            WaitEnd::Broken => return Some(Err(libc::EINTR)),
        },
        WaitLimit::None => {
            point(o, Wait::Nothing, pc);
            if !state().threads[i].ended {
                return Some(Err(libc::EBUSY));
            }
        }
    }
    let mut s = state();
    s.joined += 1;
    if s.joined + 1 == s.count {
        called_imports::settle();
        time::is_alone();
    }
    let me = s.current;
    let t = &mut s.threads[i];
    t.joined = true;
    // A thread that may time out need not have waited.
    t.joiner = matches!(patience, WaitLimit::Endless).then_some(me);
    Some(Ok(t.result))
}

/// True if `by` has joined the thread, or one that had joined it, and so on. Then everything it did
/// came before.
pub fn has_joined(by: usize, thread: usize) -> bool {
    let s = state();
    let mut last = thread;
    while let Some(joiner) = s.threads.get(last).and_then(|t| t.joiner) {
        if joiner == by {
            return true;
        }
        last = joiner;
    }
    false
}

pub fn detach(handle: usize) -> Option<c_int> {
    let t = &mut state().threads[by_handle(handle)?];
    if t.detached || t.joined {
        return Some(libc::EINVAL);
    }
    t.detached = true;
    Some(0)
}

/// The frames of thread `i`, innermost first: its thread pointer leads to its shadow stack.
pub fn frames(i: usize, pc: usize, to: &mut [u64]) -> usize {
    let s = state();
    let here = current();
    if i == s.current {
        return here.frames(pc, to);
    }
    if s.threads[i].context.thread_pointer() == 0 {
        // A system thread that has not begun.
        to[0] = pc as u64;
        return 1;
    }
    own(i).frames(pc, to)
}

/// The thread-local state of logical thread `i`, which has begun.
pub fn own(i: usize) -> Current {
    // SAFETY: the thread-local storage of a donor, which has the same layout in every thread.
    unsafe { Handle::new(own_at(i) as *mut Thread) }
}

/// Where the thread-local state of logical thread `i` is. Of a donor without a thread: where it
/// will be.
pub fn own_at(i: usize) -> usize {
    let s = state();
    let here = &raw const *current() as usize;
    if i == s.current {
        return here;
    }
    let context = if i < s.count { s.threads[i].context } else { donor(i - 1).context };
    context.thread_pointer().wrapping_add(here.wrapping_sub(thread_pointer()))
}

fn thread_pointer() -> usize {
    let fs: usize;
    // SAFETY: the first word of a thread descriptor is its own address.
    unsafe { core::arch::asm!("mov {}, fs:[0]", out(reg) fs, options(nostack, pure, readonly)) };
    fs
}
