//! Locks of the C library that it holds while it runs the program's code: those of streams
//! (`flockfile`, the functions of `fopencookie`), that of the list of loaded files
//! (`dl_iterate_phdr`) and that of the loader (`dlopen` with constructors).
//!
//! They are real, and the one system thread of an explored program must not wait for them. So who is
//! about to take one that another logical thread has waits here first, until that one has given it
//! back. A thread that blocks while it has such a lock is a thread like any other.
//!
//! A stream shows who has its lock. The other two are in memory of the loader that nobody outside of
//! it knows, so who has them is kept here. An exception or a jump may leave the function that the
//! loader calls, past this module. It may also end within that function, so from then on nothing is
//! known of the thread's locks: others no longer wait for them.
//!
//! Deviation: a function that takes the lock of a stream for itself is not always a step, and nobody is
//! preempted while the program has one. So a search does not try every order of it, and says so
//! ([`gap::UNINTERRUPTED`]).

use raddle_explore::{OpKind, Unknowable};
use raddle_wire::explore::gap;

use super::{Wait, hidden, op, point, state, states, uninterrupted};

/// What the loader may make a thread wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Loader {
    /// The list of loaded files.
    List,
    /// That list, and another thread that loads or unloads a file.
    Files,
}

/// A lock of the loader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// How often its holder has taken it. 0: nobody has it.
    depth: u32,
    by: usize,
}

impl Held {
    pub const FREE: Held = Held { depth: 0, by: 0 };

    /// The thread that has it, if that is not `thread`.
    fn by_other(&self, thread: usize) -> Option<usize> {
        let s = state();
        (self.depth > 0 && self.by != thread && !s.threads[self.by].ended).then_some(self.by)
    }

    fn give_back(&mut self, by: usize) {
        if self.by == by {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}

/// The locks of the loader.
#[derive(Clone, Copy)]
pub struct LoaderLocks {
    list: Held,
    files: Held,
}

impl LoaderLocks {
    pub const FREE: LoaderLocks = LoaderLocks { list: Held::FREE, files: Held::FREE };
}

impl Loader {
    /// The thread for which `thread` has to wait.
    pub fn holder(self, thread: usize) -> Option<usize> {
        let LoaderLocks { list, files } = state().loader;
        let by_files = if self == Loader::Files { files.by_other(thread) } else { None };
        list.by_other(thread).or(by_files)
    }
}

/// Calls the loader, which runs the caller's function for each loaded file. `is_step`: when it does so
/// matters to others. What unwinds the stack only looks.
pub fn visits_files<R>(is_step: bool, pc: usize, call: impl FnOnce() -> R) -> R {
    if !super::is_running() {
        return call();
    }
    if is_step {
        point(op(OpKind::Other, 0, pc), Wait::Nothing, pc);
    }
    awaits(Wait::Loader(Loader::List), pc);
    takes(|l| &mut l.list);
    let r = call();
    let mut s = state();
    let me = s.current;
    s.loader.list.give_back(me);
    r
}

/// Calls the loader, which loads or unloads files and runs their constructors or destructors.
pub fn loads_files<R>(pc: usize, call: impl FnOnce() -> R) -> R {
    if !super::is_running() {
        return call();
    }
    awaits(Wait::Loader(Loader::Files), pc);
    takes(|l| &mut l.files);
    uninterrupted(1);
    let r = call();
    uninterrupted(-1);
    let mut s = state();
    let me = s.current;
    s.loader.files.give_back(me);
    r
}

fn takes(which: impl Fn(&mut LoaderLocks) -> &mut Held) {
    let mut s = state();
    let me = s.current;
    let held = which(&mut s.loader);
    if held.depth > 0 && held.by == me {
        held.depth += 1;
    } else {
        *held = Held { depth: 1, by: me };
    }
}

/// The running thread throws an exception or jumps: see the module.
pub fn may_leave() {
    let mut s = state();
    let me = s.current;
    let LoaderLocks { list, files } = &mut s.loader;
    for held in [list, files].into_iter().filter(|held| held.depth > 0 && held.by == me) {
        held.depth = 0;
        hidden::note(gap::UNINTERRUPTED);
    }
}

fn awaits(wait: Wait, pc: usize) {
    if !wait.is_over(state().current) {
        states::give_up(Unknowable::Waits);
        hidden::note(gap::UNINTERRUPTED);
        point(op(OpKind::Other, 0, pc), wait, pc);
    }
}

/// Before the program itself takes the lock of a stream, or an attempt to. When it does so matters to
/// others, unless the stream is only printed to.
pub fn takes_stream(file: usize, is_output: bool, pc: usize) {
    if super::is_running() && !is_output {
        point(op(OpKind::Other, 0, pc), Wait::Nothing, pc);
    }
    awaits_stream(file, pc);
}

/// Before a call that takes the lock of a stream.
pub fn awaits_stream(file: usize, pc: usize) {
    if super::is_running()
        && let Some(lock) = lock_of(file)
    {
        awaits(Wait::Stream(lock), pc);
    }
}

/// The offset of the pointer to its lock in a FILE, which has not changed since glibc 2.1.
const LOCK: usize = 136;
/// In the first word of a FILE: what each one has there, and that its callers do the locking.
const MAGIC: u32 = 0xfbad_0000;
const BY_CALLER: u32 = 0x8000;

fn lock_of(file: usize) -> Option<usize> {
    if file == 0 {
        return None;
    }
    // SAFETY: the program's FILE.
    let (flags, lock) = unsafe { ((file as *const u32).read_volatile(), *((file + LOCK) as *const usize)) };
    let locks = flags & 0xffff_0000 == MAGIC && flags & BY_CALLER == 0;
    (locks && lock != 0).then_some(lock)
}

/// The handle of the thread that has the lock of a stream; 0: nobody.
fn owner(lock: usize) -> usize {
    const OWNER: usize = 8;
    // SAFETY: the lock of one of the program's streams.
    unsafe {
        match (lock as *const u32).read_volatile() {
            0 => 0,
            _ => ((lock + OWNER) as *const usize).read_volatile(),
        }
    }
}

/// The logical thread that has the lock of a stream, if that is not `thread`. One that has ended may
/// have it for ever, and a thread that raddle does not control for a moment.
pub fn holder_of_stream(lock: usize, thread: usize) -> Option<usize> {
    let (s, owner) = (state(), owner(lock));
    let by = s.threads[..s.count].iter().position(|t| owner != 0 && t.handle == owner);
    by.filter(|by| *by != thread)
}
