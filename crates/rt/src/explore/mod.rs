//! Taking control of threads: one logical thread runs at a time, and the driver's orders say which.
//!
//! After CHESS (Musuvathi et al., *Finding and reproducing Heisenbugs in concurrent programs*, OSDI
//! 2008), sections 3 and
//! 4. Everything that a program can block on is a *scheduling point* here: the thread says what it is about to do
//! ([`Op`]) and what it waits for ([`Wait`]), and [`point`] lets the [`Pilot`] choose among those
//! that can go on. So nothing ever blocks, a state in which nobody can go on is a deadlock, and the
//! choices are a schedule that can be repeated.
//!
//! ```text
//! threads   logical threads: their life, and the donors that lend them a stack and a thread pointer
//! switch    from one to another, in user space
//! os_threads  … or by the system, for debuggers
//! serve     orders in, traces out; the start of an execution and its end
//! snapshot  the program's memory put aside, and put back after each execution
//! written   … as far as executions write to it
//! heap      an allocator whose addresses depend on the allocating thread alone
//! sync      what each function that can block does instead
//! circle    threads that go round without changing anything
//! signals   what threads send each other
//! awaits    what only the world outside can give
//! cancel    a thread that asks another to end
//! timers    timers and their callbacks, which are logical threads too
//! files     files that were open before, which an execution may leave otherwise
//! exec      a program that becomes another
//! fork      processes that the program makes, and waiting for them
//! memory    happens-before, and stale values, as the C11 model allows them
//! names     of threads
//! leaks     blocks that nothing points to at the end
//! output    what is printed
//! found_functions functions of the C library, found once
//! known_places places that are known: operations that are no scheduling points, locks of Rust's
//! races     the data races of the execution under way
//! called_imports which functions of other files are called
//! hidden    accesses that no scheduling points order, and what else keeps a search from being complete
//! time      time that passes only when somebody waits for it
//! fatal     failures: assertions, signals, deadlocks, frees
//! faults    … that the program has handlers for
//! ```
//!
//! **Carrier.** Every logical thread is a real thread of the C library (a *donor*) that has parked itself and lent its
//! stack and thread pointer to the one thread that runs, the *carrier*, which is the process's
//! first. So `errno`, `pthread_self`, thread-local storage and the fields that libc keeps in its
//! thread descriptor are each thread's own. Locks are taken by the real `try` functions, which
//! never block, so that every kind of mutex means what it means; what would block is told apart
//! beforehand by a look at the object.
//!
//! Invariants:
//! - All that is written here between two points of one execution lies in [`State`], in the heap, or in memory that the
//!   snapshot puts back. `State` is never part of the snapshot.
//! - Nothing here calls into the C library while an execution runs, but for functions that take no lock.
//! - Nobody holds a reference to [`State`], or to a part of it, across a call that may ask for it
//!   again. [`state`] gives a [`Handle`], which is a pointer: each access through it makes a
//!   reference of its own. Where several parts are used together (`let s = &mut *s;`), nothing is
//!   called meanwhile but methods of those parts, and these do not ask for the state. A method that
//!   has to is a function that takes the handle.
//!
//! Deviations from the paper: (1) its scheduler has all threads of the process; a thread that
//! raddle did not see created (inside a library, by `clone`) runs freely. (2) Objects are named by
//! address, which is canonical because the heap and the stacks are; the paper names them by the
//! order in which they are met.

mod awaits;
pub mod called_imports;
pub mod cancel;
mod circle;
pub mod exec;
mod fatal;
pub mod faults;
mod files;
pub mod fork;
mod found_functions;
pub mod heap;
mod hidden;
mod known_places;
mod leaks;
pub mod memory;
pub mod names;
pub mod openmp;
mod os_threads;
mod output;
mod peek;
mod point;
mod races;
mod serve;
pub mod signals;
mod snapshot;
mod switch;
pub mod sync;
pub mod threads;
pub mod time;
pub mod timers;
mod written;

use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering::*};

use raddle_explore::{Op, OpKind, Pilot, ThreadSet};
use raddle_wire::explore::{Header, flag};

pub use circle::{main_at, main_begins, writes};
pub use fatal::{aborts, assertion, ends, use_after_free};
pub use found_functions::found;
pub use point::{
    Breaks, atomic, data, data_made, fills, fills_stream, in_pieces, keeps_state, library_wrote, point,
    uninterrupted, uses_stream,
};
pub use serve::{
    before_main, begin, changes_outside, changes_process, exits, exits_at_once, looks_outside, panics,
    prepare, retry_with_fork, shares_memory, unknown_call,
};
pub use snapshot::{mapped, mapping, mapping_again, protecting, replacing, unmapping};
pub use threads::Logical;

use crate::handle::Handle;
use crate::mode::{self, Mode};
use crate::sys;

static STATE: AtomicPtr<State> = AtomicPtr::new(core::ptr::null_mut());

/// The process is explored: the interposed functions ask here, not the detector.
#[inline(always)]
pub fn is_on() -> bool {
    mode::mode() == Mode::Explore
}

/// An execution is under way: there may be more than one thread. Before the first is created
/// nothing is a choice.
#[inline(always)]
pub fn is_running() -> bool {
    is_on() && state().running
}

/// Nobody asks for plain accesses, unless to memory that was freed: there are no points among them,
/// and no monitor looks at them.
static UNWATCHED: AtomicBool = AtomicBool::new(false);

/// Need no more be done for a plain access at `address`, of one to eight bytes?
#[inline(always)]
pub fn passes(address: usize) -> bool {
    UNWATCHED.load(Relaxed) && !heap::is_freed(address)
}

/// The points are known.
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
    /// The mutex at this address to be free, or the thread's own if it may take it again.
    Mutex(usize),
    Spin(usize),
    /// The word at this address to be 0: a mutex of Rust's.
    Word(usize),
    /// A reader-writer lock, to read or to write.
    ReadLock(usize),
    WriteLock(usize),
    Semaphore(usize),
    /// A thread to have ended.
    Thread(usize),
    /// To be told ([`Logical::told`]): a signal on a condition variable, a futex's wake, a
    /// barrier's last arrival.
    Told(usize),
    /// To be told, and the mutex to be free: a condition variable and its mutex.
    ToldAndMutex(usize, usize),
    /// The word at this address to have lost the bit: another thread runs the initialiser.
    Initialiser(usize, u32),
    /// The descriptor to be ready (`poll` events).
    Descriptor(i32, i16),
    Several(Several),
    /// A handler to have run.
    Handler,
    /// One of these signals to have arrived.
    Signal(u64),
    /// The timer to expire, which is told apart in `timers::first`.
    Timer(usize),
    /// A thread that runs callbacks: another one to run.
    Callback,
    /// A child process to have ended, by the argument of `waitpid`.
    Child(i32),
}

/// Several descriptors, of which one is to be ready.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Several {
    /// An array for `poll` and its length; length 0: a descriptor for `epoll`.
    Poll(usize, usize),
    /// How many, and the three sets of `select`.
    Select(i32, [usize; 3]),
}

/// Everything about the executions, in memory of its own.
pub struct State {
    pub header: *mut Header,
    /// Between the begin and the end of an execution.
    pub running: bool,
    pub current: usize,
    /// Threads that have existed in this execution.
    pub count: usize,
    /// Those of them that have ended and were joined.
    pub joined: usize,
    /// Steps made since when there was no other.
    alone: u32,
    pub threads: [Logical; raddle_explore::MAX_THREADS],
    pub pending: [Op; raddle_explore::MAX_THREADS],
    enabled: ThreadSet,
    reluctant: ThreadSet,
    pilot: Pilot,
    serve: serve::Serve,
    snapshot: snapshot::Snapshot,
    pub time: time::Time,
    /// Null: loads read the newest values, and nobody asks what happens before what.
    memory: *mut raddle_explore::stale::Model,
    /// Null: nobody asks for data races.
    races: *mut raddle_explore::races::Races,
    /// Null: the search claims nothing.
    hidden: *mut raddle_explore::hidden::HiddenRaces,
    reuse: hidden::Reuse,
    imports: called_imports::Imports,
    /// Null: nobody asks for leaks.
    leaks: *mut leaks::Leaks,
    quiet: known_places::Quiet,
    /// Null: executions are in place.
    found: *mut found_functions::List,
    /// A second name for what was descriptor 1; 0: nobody asks what is printed.
    output: usize,
    /// Spurious wake-ups that this execution may still have.
    pub spurious: u32,
    /// Yields and time-outs of this execution.
    pub yields: u64,
    /// The last step of a thread that did more than to come round: see `circle`.
    progressed: u32,
    /// Expiries of timers since the program's own threads last made a step.
    fruitless: u32,
    /// Logical threads that stand for timers.
    timers: u32,
    /// Threads that are about to end the process.
    ending: u32,
    children: fork::Children,
    /// How often threads that wait for another process were woken: see `fork`.
    shared_wakes: u32,
    /// The stacks of threads that have ended lie in here: see `threads::ended_with_stack`.
    left_stacks: (usize, usize),
    /// Signals to the process that every thread blocks.
    arrived: u64,
    /// Signals that the program has sent itself.
    sent: u64,
}

impl State {
    #[inline(always)]
    fn current_thread(&self) -> &Logical {
        &self.threads[self.current]
    }

    #[inline(always)]
    pub fn current_thread_mut(&mut self) -> &mut Logical {
        &mut self.threads[self.current]
    }
}

/// The one [`State`], set before [`is_on`]; see the invariants on references.
#[inline(always)]
pub fn state() -> Handle<State> {
    // SAFETY: never freed, and one thread runs at a time.
    unsafe { Handle::new(STATE.load(Relaxed)) }
}

/// The process is to be explored, by the orders in `header`. Not inlined: its frame has a megabyte,
/// which every process that is not explored would touch as well.
#[inline(never)]
pub fn turn_on(header: *mut Header) {
    let at = sys::pages(size_of::<State>()).cast::<State>();
    // SAFETY: fresh memory of the right size. All zero is a state but for the fields written here.
    // The pilot is not: it is large, and what is made and moved here would be pages of the stack
    // and of the state, which each fork copies the entries of.
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
    crate::trace::prepare();
    prepare();
    fork::prepare();
    mode::set(Mode::Explore);
}

/// The process runs as it is from now on: another one is explored, or this is a child of its.
pub fn turn_off() {
    mode::set(Mode::Off);
    UNWATCHED.store(false, Relaxed);
    state().running = false;
}

/// An operation at `pc`. The low half of a program counter is the same in every schedule, and the
/// driver knows the rest.
pub fn op(kind: OpKind, object: usize, pc: usize) -> Op {
    Op::new(kind, object as u64, pc as u32)
}

/// Is the flag set in the header?
pub fn has(flag: u32) -> bool {
    // SAFETY: the mapped header, whose flags do not change.
    unsafe { (*state().header).flags & flag != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_a_pilot_and_a_set() {
        // SAFETY: what is to be shown: the types have no values that zeros are not.
        let (pilot, set) =
            unsafe { (Box::<Pilot>::new_zeroed().assume_init(), core::mem::zeroed::<ThreadSet>()) };
        assert_eq!(format!("{pilot:?}"), format!("{:?}", Pilot::new()));
        assert_eq!(format!("{set:?}"), format!("{:?}", ThreadSet::new()));
    }
}
