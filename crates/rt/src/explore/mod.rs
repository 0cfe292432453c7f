//! Controlled scheduling: one logical thread runs at a time, and the driver's orders say which.
//!
//! After CHESS (Musuvathi et al., *Finding and reproducing Heisenbugs in concurrent programs*, OSDI
//! 2008, sections 3 and 4). Every operation that can block is a *scheduling point* here: the thread
//! says what it is about to do ([`Op`]) and what it waits for ([`Wait`]), and [`point`] lets the
//! [`Pilot`] choose among the threads that can go on. So nothing ever blocks, a state in which no
//! thread can go on is a deadlock, and the choices form a schedule that can be repeated.
//!
//! ```text
//! point     what every thread passes before a step that others could see
//! threads   logical threads, and the donors that lend them a stack and a thread pointer
//! switch    from one to another, in user space
//! os_threads  … or by the system, for debuggers
//! serve     orders in, traces out; the start and end of an execution
//! snapshot  saves the program's memory, and restores it after each execution
//! written   … as far as executions write to it
//! heap      an allocator whose addresses depend only on the allocating thread
//! sync      what each function that can block does instead
//! peek      whether a step would block, found by looking at the object
//! by_id     waits for message queues and semaphores of System V
//! locks     locks of the C library that it holds while it runs the program's code
//! fifo      opening a FIFO, which waits for the other end
//! long_writes writes of more than a pipe or a socket holds
//! openmp    what libgomp does, with logical threads
//! circle    threads that loop without changing anything
//! signals   signals that threads send each other
//! outsiders who else can make a descriptor ready
//! awaits    waits that only the outside world can end
//! cancel    a thread that asks another to end
//! timers    timers and their callbacks, which are logical threads too
//! files     files that were open before, which an execution may change
//! exec      a program that becomes another
//! exits     the end of the process, its handlers, and who sees what they did
//! fork      processes that the program makes, and waiting for them
//! memory    happens-before, and stale values, as the C11 model allows them
//! names     names of threads
//! leaks     blocks that nothing points to at the end
//! output    what is printed
//! found_functions functions of the C library, looked up once
//! known_places known sites: operations that are no scheduling points, Rust's locks
//! races     the data races of the current execution
//! called_imports which functions of other files are called
//! states    keys of states, for searches that recognise them
//! hidden    accesses that no scheduling points order, and other reasons why a search is incomplete
//! time      time that passes only when somebody waits for it
//! fatal     failures: assertions, signals, deadlocks, frees
//! faults    … that the program has handlers for
//! ```
//!
//! **Carrier.** Every logical thread is a real thread of the C library (a *donor*) that has parked
//! itself and lent its stack and thread pointer to the one thread that runs. This is the *carrier*,
//! the process's first thread. So `errno`, `pthread_self`, thread-local storage and the fields of
//! libc's thread descriptor are separate for each thread. Locks are taken with the real `try`
//! functions, which never block, so that every kind of mutex keeps its meaning. Whether a step
//! would block is decided beforehand by looking at the object.
//!
//! Invariants:
//! - All that is written here between two points of one execution lies in [`ExplorationState`], in
//!   the heap, or in memory that the snapshot restores. That state is never part of the snapshot.
//! - Nothing here calls into the C library while an execution runs, except functions that take no
//!   lock.
//! - Nobody holds a reference to [`ExplorationState`], or to a part of it, across a call that may
//!   ask for it again. [`state`] returns a [`Handle`], which is a pointer: each access through it
//!   makes its own reference. Where several parts are used together (`let s = &mut *s;`), only
//!   methods of those parts are called meanwhile, and these do not ask for the state. A method that
//!   must ask for it is a function that takes the handle instead.
//!
//! Deviations from the paper: (1) its scheduler controls all threads of the process; here a thread
//! that raddle did not see created (inside a library, by `clone`) runs freely. (2) Objects are
//! named by address, which is canonical because the heap and the stacks are; the paper names them
//! by the order in which they are met.

mod awaits;
pub mod by_id;
pub mod called_imports;
pub mod cancel;
mod circle;
pub mod exec;
pub mod exits;
mod fatal;
pub mod faults;
pub mod fifo;
mod files;
pub mod fork;
mod found_functions;
pub mod heap;
mod hidden;
mod known_places;
mod leaks;
pub mod locks;
pub mod long_writes;
pub mod memory;
pub mod names;
pub mod openmp;
mod os_threads;
mod output;
mod outsiders;
mod peek;
mod point;
mod races;
mod serve;
pub mod signals;
mod snapshot;
pub mod states;
mod switch;
pub mod sync;
pub mod threads;
pub mod time;
pub mod timers;
mod written;

use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering::*};

use raddle_explore::{Op, OpKind, Pilot, StepFlags, ThreadSet};
use raddle_wire::explore::{Header, flag};

pub use circle::{main_at, main_begins, writes};
pub use exits::{exits, exits_at_once, exits_quickly};
pub use fatal::{aborts, assertion, ends, use_after_free};
pub use found_functions::found;
pub use hidden::{asks_for_chance, changes_locale, makes_descriptor, reads_file};
pub use point::{
    Breaks, atomic, data, data_made, fills, fills_stream, in_pieces, is_point, keeps_state, library_wrote,
    point, uninterrupted, uses_stream,
};
pub use serve::{
    before_main, begin, changes_outside, changes_process, looks_outside, panics, prepare, retry_with_fork,
    shares_memory, unknown_call,
};
pub use snapshot::{mapped, mapping, mapping_again, protecting, replacing, unmapping};
pub use threads::Logical;

use crate::handle::Handle;
use crate::mode::{self, Mode};
use crate::relocated;
use crate::sys;

static STATE: AtomicPtr<ExplorationState> = AtomicPtr::new(core::ptr::null_mut());

/// True if the process is explored: the interposed functions then call this module, not the
/// detector.
#[inline(always)]
pub fn is_on() -> bool {
    mode::mode() == Mode::Explore
}

/// True while an execution runs: there may be more than one thread. Before the first one is
/// created, there is nothing to choose.
#[inline(always)]
pub fn is_running() -> bool {
    is_on() && state().running
}

/// The recorded step of the running thread's last atomic operation, for [`left_unchanged`].
pub fn step_of_atomic() -> usize {
    state().serve.step()
}

/// The atomic update that was this step has changed nothing.
pub fn left_unchanged(step: usize) {
    state().serve.mark_update_at(step, StepFlags::UNCHANGED);
}

/// Plain accesses matter only in freed memory: none of them is a scheduling point, and no monitor
/// looks at them.
static UNWATCHED: AtomicBool = AtomicBool::new(false);

/// True if a plain access of one to eight bytes at `address` needs no further work.
#[inline(always)]
pub fn passes(address: usize) -> bool {
    UNWATCHED.load(Relaxed) && !heap::is_freed(address)
}

/// Decides whether plain accesses are watched. Called once the points are known.
fn watch_accesses() {
    let s = state();
    let asked = has(flag::ALL_DATA) || s.serve.has_points() || !s.memory.is_null();
    let asked = asked || !s.races.is_null() || !s.hidden.is_null();
    UNWATCHED.store(!asked && !crate::trace::is_there(), Relaxed);
    crate::trace::has_company(asked);
}

/// What a thread waits for before it can make its pending step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Nothing,
    /// The mutex at this address is free, or the thread owns it and may take it again.
    Mutex(usize),
    Spin(usize),
    /// The word at this address is 0: a Rust mutex.
    Word(usize),
    /// A reader-writer lock can be taken, to read or to write.
    ReadLock(usize),
    WriteLock(usize),
    Semaphore(usize),
    /// A thread has ended.
    Thread(usize),
    /// Somebody has set [`Logical::told`]: a signal on a condition variable, a futex wake, a
    /// barrier's last arrival.
    Told(usize),
    /// `told` is set, and the mutex is free: a condition variable and its mutex.
    ToldAndMutex(usize, usize),
    /// The word at this address has lost the bit: another thread runs the initialiser.
    Initialiser(usize, u32),
    /// The descriptor is ready (`poll` events).
    Descriptor(i32, i16),
    /// For the other end of a FIFO: the descriptor, its events, and how many readers the FIFO of
    /// this channel had had.
    Partner(i32, i16, (u32, u32)),
    Several(Several),
    /// For a System V queue or semaphore.
    ById(by_id::ById),
    /// The lock of a stream, at this address, is free.
    Stream(usize),
    Loader(locks::Loader),
    /// A handler has run.
    Handler,
    /// One of these signals has arrived.
    Signal(u64),
    /// The timer expires; `timers::first` decides when.
    Timer(usize),
    /// A thread that runs callbacks has another one to run.
    Callback,
    /// A child process has ended, by the argument of `waitpid`.
    Child(i32),
}

/// Several descriptors, one of which must be ready.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Several {
    /// An array for `poll` and its length; length 0: a descriptor for `epoll`.
    Poll(usize, usize),
    /// How many, and the three sets of `select`.
    Select(i32, [usize; 3]),
}

/// Everything about the executions, in its own memory.
pub struct ExplorationState {
    pub header: *mut Header,
    /// True between the beginning and the end of an execution.
    pub running: bool,
    pub current: usize,
    /// Threads that have existed in this execution.
    pub count: usize,
    /// The number of threads that have ended and were joined.
    pub joined: usize,
    /// Steps made while there was no other thread.
    alone: u32,
    pub threads: [Logical; raddle_explore::MAX_THREADS],
    pub pending: [Op; raddle_explore::MAX_THREADS],
    enabled: ThreadSet,
    reluctant: ThreadSet,
    pilot: Pilot,
    serve: serve::Serve,
    snapshot: snapshot::Snapshot,
    pub time: time::Time,
    /// Null: loads read the newest values, and nobody asks about happens-before.
    memory: *mut raddle_explore::stale::Model,
    /// Null: nobody asks for data races.
    races: *mut raddle_explore::races::Races,
    /// Null: the search does not claim to be complete.
    hidden: *mut raddle_explore::hidden::HiddenRaces,
    reuse: hidden::Reuse,
    imports: called_imports::Imports,
    /// Null: nobody asks for leaks.
    leaks: *mut leaks::Leaks,
    quiet: known_places::Quiet,
    /// Null: executions run in place.
    found: *mut found_functions::List,
    /// A duplicate of the original descriptor 1; 0: nobody asks what is printed.
    output: usize,
    /// Spurious wake-ups that this execution may still have.
    pub spurious: u32,
    /// Yields and time-outs of this execution.
    pub yields: u64,
    /// The threads that have called functions which may change what is outside memory: see `memory`.
    pub outside_by: u64,
    /// The last step of a thread that did more than loop: see `circle`.
    progressed: u32,
    /// Expiries of timers since one of the program's own threads last made a step.
    fruitless: u32,
    /// Logical threads that stand for timers.
    timers: u32,
    /// Threads that are about to end the process.
    ending: u32,
    children: fork::Children,
    loader: locks::LoaderLocks,
    /// How often threads that wait for another process were woken: see `fork`.
    shared_wakes: u32,
    /// The range that contains the stacks of ended threads: see `threads::ended_with_stack`.
    left_stacks: (usize, usize),
    /// Signals to the process that every thread blocks.
    arrived: u64,
    /// Signals that the program has sent itself.
    sent: u64,
    states: states::StateKeys,
}

impl ExplorationState {
    #[inline(always)]
    fn current_thread(&self) -> &Logical {
        &self.threads[self.current]
    }

    #[inline(always)]
    pub fn current_thread_mut(&mut self) -> &mut Logical {
        &mut self.threads[self.current]
    }
}

/// The one [`ExplorationState`], set before [`is_on`]; see the invariants on references.
#[inline(always)]
pub fn state() -> Handle<ExplorationState> {
    // SAFETY: never freed, and one thread runs at a time.
    unsafe { Handle::new(STATE.load(Relaxed)) }
}

/// Turns exploration on, with the orders in `header`. Not inlined: its frame has a megabyte, which
/// every process that is not explored would touch as well.
#[inline(never)]
pub fn turn_on(header: *mut Header) {
    let at = sys::pages(size_of::<ExplorationState>()).cast::<ExplorationState>();
    // SAFETY: fresh memory of the right size. All zero is a valid state except for the fields
    // written here. The pilot is not written: it is large, and making and moving it would touch
    // pages of the stack and of the state, whose page table entries each fork copies.
    unsafe {
        (*at).header = header;
        (&raw mut (*at).threads[0]).write(Logical::FIRST);
        (*at).count = 1;
    }
    STATE.store(at, Relaxed);
    heap::prepare();
    time::prepare();
    memory::prepare();
    known_places::prepare();
    races::prepare();
    hidden::prepare();
    leaks::prepare();
    output::prepare();
    outsiders::prepare();
    crate::trace::prepare();
    prepare();
    fork::prepare();
    mode::set(Mode::Explore);
}

/// The process runs uncontrolled from now on: another one is explored, or this is its child.
pub fn turn_off() {
    mode::set(Mode::Off);
    UNWATCHED.store(false, Relaxed);
    state().running = false;
}

/// An operation at `pc`. The low half of a program counter is the same in every schedule, and the
/// driver knows the rest.
pub fn op(kind: OpKind, object: usize, pc: usize) -> Op {
    Op::new(kind, object as u64, relocated::site(pc) as u32)
}

/// True if the flag is set in the header.
pub fn has(flag: u32) -> bool {
    // SAFETY: the mapped header, whose flags do not change.
    unsafe { (*state().header).flags & flag != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_a_pilot_and_a_set() {
        // SAFETY: this is what the test shows: all zero is valid for these types.
        let (pilot, set) =
            unsafe { (Box::<Pilot>::new_zeroed().assume_init(), core::mem::zeroed::<ThreadSet>()) };
        assert_eq!(format!("{pilot:?}"), format!("{:?}", Pilot::new()));
        assert_eq!(format!("{set:?}"), format!("{:?}", ThreadSet::new()));
    }
}
