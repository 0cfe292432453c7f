//! Logical threads: OpenMP's tasks and sections. Each has its own clock, sid and locks, whichever
//! thread runs it.
//!
//! A system thread runs tasks one after the other, and nested in one another. That is an accident:
//! nothing in the program orders two tasks because one thread ran both. So a thread that starts a
//! task puts its own **context** aside (clock, sid, locks held, what fences and relaxed loads have
//! left), and the task begins with only what its creator had done. At the end the task's sid is
//! free for others, and the thread resumes the context it had put aside. Whoever waits for the task
//! learns its clock from the objects of `interpose::openmp`, as from any other.
//!
//! **Memory that belongs to the thread.** Two tasks that ran on one thread may touch the same bytes
//! although two threads never could: a stack frame that is used again, thread-local storage, an
//! element that `omp_get_thread_num` chose. There the order in which the thread ran the tasks does
//! count. The **carrier** of a thread is the clock of everything its contexts have done or seen. A
//! conflict with an access that the carrier knows, in memory that belongs to the thread, is no race
//! ([`is_of_thread`]):
//! 1. The address lies in the thread's stack, in a frame that was left since: below the *floor*,
//!    the highest stack pointer at which a context began or ended on the thread since the
//!    earlier access. A
//!    variable above the floor belongs to a function that still runs, and tasks share it. This rule
//!    holds for anybody who touches the stack of a thread, for example a child of the task whose
//!    frame it is.
//! 2. It lies in the thread's thread-local storage ([`thread_storage`]).
//! 3. Both contexts have asked for the thread's number in the team (`omp_get_thread_num`) or its
//!    slot of a key, or touched thread-local storage, and may have found the memory by it (a
//!    scratch buffer, a cache, an element of an array on the stack of the function with the
//!    region). Whether storage was touched is read from its shadow, each time that
//!    the thread turns to another context, since a child of the context may write there next and so
//!    take the place of what the context left. In `fast` and with the initialization state, what
//!    one sid alone has touched has its owner's mark and no slots; the mark counts too.
//! 4. Sections run in the frame of their region. There the floor is the beginning of the region,
//!    and a heap block that the thread allocated inside the region counts as its own.
//! 5. A heap block that the thread allocated also counts as its own if both contexts have asked for
//!    the thread's id (`pthread_self`, `gettid`), as in a map from ids to buffers. Other memory
//!    does not: ids are asked for to log, or to know an owner, far more often than to find memory.
//! 6. The access is made by a handler of a signal, which may be one that this thread alone gets.
//!
//! If it is no longer known which context made an access, rules 1, 3 and 5 hold. All of this can
//! hide a race between tasks that ran on one thread, which another run may give to two. It cannot
//! invent one.
//!
//! **Bounds.** There are 254 sids. A context is made only while fewer than [`MOST_SIDS`] are in
//! use; beyond that a task runs as part of the thread, with the order that the thread happens to
//! give it. Tasks that no wait has ended keep separate sids until 64 are used; later ones take sids
//! in turn and share them ([`sids`]), so that two of them may not race. A task's sid is free for
//! whoever has waited for it, as the last thing that the task does is to release its last epoch.
//!
//! A program without tasks pays one flag test for each conflict.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

use super::clock::SidClock;
use super::heap::{self, HeapBlock};
use super::held_locks::{HoldMode, ThreadLocks};
use super::task_order::{self, EdgeSet, Position};
use super::thread::{Card, Current, Thread, cards, gate};
use super::trace::LockEvent;
use super::{depot, objects, settings, sids, thread_storage};
use crate::layout::{SID_MAX, epoch, sid};
use crate::mode;
use crate::sys::{self, Shared, Spin};

/// A context begins only while fewer sids are in use: the rest are for threads.
const MOST_SIDS: usize = 160;

/// The state that a thread has put aside.
#[repr(C)]
pub struct Context {
    /// The next one in the list of free contexts.
    next: *mut Context,
    state: u32,
    first_epoch: u32,
    generation: u32,
    forks: u32,
    seen_relaxed: *mut SidClock,
    fenced: *mut SidClock,
    /// Zeroed clocks for the same purpose, for the context that runs meanwhile.
    spare: [*mut SidClock; 2],
    clock: SidClock,
    /// What the contexts that ran meanwhile have done, if this one learns it afterwards.
    done: SidClock,
    done_generation: u32,
    done_edges: EdgeSet,
    position: Position,
    held: ThreadLocks,
}

/// Everything that the contexts of a thread have done and seen.
#[repr(C)]
pub struct Carrier {
    clock: SidClock,
    generation: u32,
}

impl Carrier {
    fn knows(&self, slot: u32) -> bool {
        !sids::is_born_after(sid(slot), self.generation) && self.clock.get(sid(slot)) >= epoch(slot)
    }
}

/// The last context that used a sid, for contexts that run on the same thread afterwards.
struct User {
    /// The thread's number plus 1.
    thread: AtomicU32,
    first_epoch: AtomicU32,
    floor: AtomicUsize,
    asked: AtomicBool,
    knows_id: AtomicBool,
}

static USERS: [User; SID_MAX + 1] = [const {
    User {
        thread: AtomicU32::new(0),
        first_epoch: AtomicU32::new(0),
        floor: AtomicUsize::new(0),
        asked: AtomicBool::new(false),
        knows_id: AtomicBool::new(false),
    }
}; SID_MAX + 1];

/// Some thread has run a second context.
static ANY: AtomicBool = AtomicBool::new(false);

/// True if some thread has run a second context.
pub fn any() -> bool {
    ANY.load(Relaxed)
}

static FREE_LOCK: Spin = Spin::new();
static FREE: Shared<*mut Context> = Shared::new(core::ptr::null_mut());

fn take() -> *mut Context {
    let _guard = FREE_LOCK.lock();
    // SAFETY: the list is used under its lock; nobody uses what is in it.
    unsafe {
        let first = *FREE.get();
        if first.is_null() {
            // Zero is a valid context.
            return sys::ARENA.take(size_of::<Context>()).cast();
        }
        *FREE.get() = (*first).next;
        first
    }
}

fn give_back(c: *mut Context) {
    let _guard = FREE_LOCK.lock();
    // SAFETY: under the lock; the caller does not use it any more.
    unsafe {
        (*c).next = *FREE.get();
        *FREE.get() = c;
    }
}

/// In the child of a fork.
pub fn reset_lock() {
    FREE_LOCK.reset();
}

/// Puts the running context aside. The new one has seen only what `learn` acquires. `floor` is the
/// stack pointer. Null: the thread continues in its current context.
pub fn begin(mut t: Current, floor: usize, learn: impl FnOnce(Current)) -> *mut Context {
    let is_watched = t.known && t.gate & gate::OPEN != 0 && t.sid() != 0 && t.ignore_sync == 0;
    if !is_watched || mode::mode() != mode::Mode::Detect || sids::in_use() >= MOST_SIDS {
        return core::ptr::null_mut();
    }
    let _inside = t.enter();
    let c = take();
    t.publish();
    remember(&mut t, floor);
    // SAFETY: fresh, and this thread's until it is returned.
    let context = unsafe { &mut *c };
    let_go_in_trace(&mut t);
    context.state = t.state;
    context.first_epoch = t.first_epoch;
    context.generation = t.generation;
    context.forks = sids::forks();
    context.seen_relaxed = t.seen_relaxed;
    context.fenced = t.fenced;
    context.clock = t.clock;
    context.done = SidClock::ZERO;
    context.done_generation = t.generation;
    context.done_edges = EdgeSet::EMPTY;
    context.position = t.position;
    context.held = core::mem::replace(&mut t.held, ThreadLocks::EMPTY);
    start_anew(&mut t, context);
    learn(t);
    t.begin_sid();
    c
}

/// Ends the running context and begins another one before the thread resumes `c`. It begins with
/// the clock of `c`.
pub fn next(t: &mut Thread, c: *mut Context, floor: usize) {
    let _inside = t.enter();
    // SAFETY: what `begin` gave.
    let context = unsafe { &mut *c };
    close(t, context, floor, true);
    start_anew(t, context);
    begin_as(t, context);
    t.begin_sid();
}

/// Divides a context into parts: they are ordered after everything it did, but not after each
/// other. It learns what they did if [`end`] says so.
pub fn divide(mut t: Current, floor: usize) -> *mut Context {
    if t.known {
        // The parts do not know what it does later.
        t.publish();
        t.advance();
    }
    let (before, position) = (t.clock, t.position);
    begin(t, floor, |mut t| {
        t.acquire(&before);
        t.position.learn(position.before());
    })
}

fn begin_as(t: &mut Thread, context: &Context) {
    t.catch_up();
    let mut clock = context.clock;
    sids::correct(&mut clock, context.generation);
    t.acquire(&clock);
    t.position.learn(context.position.before());
}

/// The thread resumes `c`. If `learns`, `c` has seen what was done meanwhile.
pub fn end(t: &mut Thread, c: *mut Context, floor: usize, learns: bool) {
    let _inside = t.enter();
    // SAFETY: what `begin` gave.
    let context = unsafe { &mut *c };
    close(t, context, floor, learns);
    let last = (t.clock, t.generation);
    start_anew(t, context);
    t.seen_relaxed = context.seen_relaxed;
    t.fenced = context.fenced;
    t.held = core::mem::replace(&mut context.held, ThreadLocks::EMPTY);
    t.clock = context.clock;
    t.generation = context.generation;
    t.position = context.position;
    if context.forks == sids::forks() {
        t.gate |= gate::OPEN;
        t.first_epoch = context.first_epoch;
        t.set_state(context.state);
    } else {
        // In the child of a fork everything before is over, and the sid is worn out.
        t.catch_up();
        join_corrected(t, last.0, last.1);
        t.begin_sid();
    }
    t.catch_up();
    if learns {
        join_corrected(t, context.done, context.done_generation);
        t.position.learn(&context.done_edges);
    }
    for lock in t.held.iter() {
        t.trace.lock(t.sp, &t.held, LockEvent::Taken, lock.mode, lock.key, lock.stack);
    }
    give_back(c);
}

/// What a context had done and seen when it ended, for those who learn of its end later.
#[repr(C)]
pub struct EndedContext {
    clock: SidClock,
    generation: u32,
    edges: EdgeSet,
}

impl EndedContext {
    /// Takes it over from the running context, which is about to end.
    pub fn note(&mut self, t: &mut Thread) {
        let _inside = t.enter();
        self.clock = *t.publish();
        self.generation = t.generation;
        self.edges = *t.position.before();
    }

    /// Hands it to whoever acquires `key`, as [`release`](super::sync::release) would have done.
    pub fn release(&self, mut t: Current, key: usize) {
        let _inside = t.enter();
        t.catch_up();
        let mut clock = self.clock;
        sids::correct(&mut clock, self.generation);
        let generation = t.generation;
        objects::with(key, |o| o.clock.join_clock(&clock, generation));
        task_order::hand(&self.edges, key);
    }
}

fn join_corrected(t: &mut Thread, mut clock: SidClock, generation: u32) {
    t.catch_up();
    sids::correct(&mut clock, generation);
    t.acquire(&clock);
}

/// Ends the running context.
fn close(t: &mut Thread, context: &mut Context, floor: usize, learned: bool) {
    t.publish();
    remember(t, floor);
    if learned {
        sids::correct(&mut context.done, context.done_generation);
        context.done_generation = t.generation;
        context.done.join(&t.clock.0);
        context.done_edges.join(t.position.before());
    }
    let_go_in_trace(t);
    if t.sid() != 0 {
        sids::leave(t.sid(), t.max_epoch());
    }
    for (spare, used) in context.spare.iter_mut().zip([t.seen_relaxed, t.fenced]) {
        // SAFETY: null, or a clock of this context, which nobody needs any more.
        if let Some(clock) = unsafe { used.as_mut() } {
            *clock = SidClock::ZERO;
            *spare = used;
        }
    }
}

fn start_anew(t: &mut Thread, context: &Context) {
    t.drop_knowledge();
    t.state = 0;
    t.clock = SidClock::ZERO;
    t.held = ThreadLocks::EMPTY;
    t.position = Position::of_new_context();
    [t.seen_relaxed, t.fenced] = context.spare;
}

fn let_go_in_trace(t: &mut Thread) {
    for lock in t.held.iter() {
        t.trace.lock(t.sp, &t.held, LockEvent::Released, HoldMode::Write, lock.key, 0);
    }
}

/// The carrier learns what the running context has done and seen. The users of the thread's sids
/// learn the new floor of its frames.
fn remember(t: &mut Thread, floor: usize) {
    // SAFETY: a watched thread has a card.
    let card = unsafe { &*t.card };
    if card.carrier.load(Relaxed).is_null() {
        card.carrier.store(sys::ARENA.take(size_of::<Carrier>()).cast(), Relaxed);
        ANY.store(true, Relaxed);
    }
    // SAFETY: only this thread writes to it; zero is valid.
    let carrier = unsafe { &mut *card.carrier.load(Relaxed) };
    sids::correct(&mut carrier.clock, carrier.generation);
    carrier.generation = t.generation;
    carrier.clock.join(&t.clock.0);
    let own = t.id() + 1;
    // Frames further down are left for good, whoever used them.
    for user in USERS.iter().filter(|u| u.thread.load(Relaxed) == own) {
        user.floor.fetch_max(floor, Relaxed);
    }
    let (asked, knows_id) = (has_asked(t), knows_id(t));
    let user = &USERS[t.sid()];
    user.thread.store(own, Relaxed);
    user.first_epoch.store(t.first_epoch, Relaxed);
    user.floor.store(floor, Relaxed);
    user.asked.store(asked, Relaxed);
    user.knows_id.store(knows_id, Relaxed);
    if asked && settings().owners {
        thread_storage::disown(t);
    }
}

/// True if the running context has asked which thread it runs on, or touched thread-local storage:
/// now, or when its thread last turned to another context and back.
fn has_asked(t: &Thread) -> bool {
    t.openmp.asked || remembered(t).is_some_and(|u| u.asked.load(Relaxed)) || thread_storage::is_touched(t)
}

/// The same for the thread's id.
fn knows_id(t: &Thread) -> bool {
    t.openmp.knows_id || remembered(t).is_some_and(|u| u.knows_id.load(Relaxed))
}

/// What is remembered of the running context.
fn remembered(t: &Thread) -> Option<&'static User> {
    let user = &USERS[t.sid()];
    let is_its = user.thread.load(Relaxed) == t.id() + 1 && user.first_epoch.load(Relaxed) == t.first_epoch;
    is_its.then_some(user)
}

/// True if the running thread's access does not conflict with the one in `slot` after all, because
/// the memory belongs to the thread. See the module.
pub fn is_of_thread(t: &Thread, address: usize, slot: u32) -> bool {
    if !any() {
        return false;
    }
    // SAFETY: null, or the card of a thread that has begun.
    let Some(own) = (unsafe { t.card.as_ref() }) else { return false };
    let has = |card: &Card| (card.stack.get().0..card.stack.get().1).contains(&address);
    if thread_storage::is_in(address) {
        return knows(own, slot);
    }
    let is_alive = |c: &&Card| c.ended.load(Relaxed) == 0;
    let host = if has(own) { Some(own) } else { cards().find(|c| is_alive(c) && has(c)) };
    if host.is_some_and(|host| is_in_left_frame(host, address, slot)) {
        return true;
    }
    let ran_both = || sids::user(sid(slot), epoch(slot)).is_none_or(|thread| thread == own.id);
    if !knows(own, slot) || !ran_both() {
        return false;
    }
    let user = last_user(own, slot);
    let both_asked = || user.is_none_or(|u| u.asked.load(Relaxed)) && has_asked(t);
    let both_know_id = || user.is_none_or(|u| u.knows_id.load(Relaxed)) && knows_id(t);
    both_asked()
        || t.handlers.is_running()
        || t.openmp.is_in_section() && is_block_of_region(t, address)
        || both_know_id() && own_block(t, address).is_some()
}

/// True if a context of the thread has made or seen the access in `slot`.
fn knows(card: &Card, slot: u32) -> bool {
    // SAFETY: null, or a carrier, which is never freed. What its thread adds meanwhile, it has
    // done.
    unsafe { card.carrier.load(Relaxed).as_ref() }.is_some_and(|c| c.knows(slot))
}

/// True if the thread left the frame at `address`, on its stack, after the access in `slot`.
fn is_in_left_frame(card: &Card, address: usize, slot: u32) -> bool {
    knows(card, slot) && last_user(card, slot).is_none_or(|u| address < u.floor.load(Relaxed))
}

/// The context of the thread that made the access in `slot`. None if another thread made it, or if
/// it is no longer known.
fn last_user(card: &Card, slot: u32) -> Option<&'static User> {
    let user = &USERS[sid(slot)];
    let is_its = user.thread.load(Relaxed) == card.id + 1 && epoch(slot) >= user.first_epoch.load(Relaxed);
    is_its.then_some(user)
}

/// True if the thread allocated the heap block at `address` inside its region.
fn is_block_of_region(t: &Thread, address: usize) -> bool {
    own_block(t, address)
        .is_some_and(|block| depot::frames(block.stack).contains(&(t.openmp.region_pc() as u64)))
}

/// The heap block at `address`, if the thread allocated it.
fn own_block(t: &Thread, address: usize) -> Option<HeapBlock> {
    let block = heap::find(address)?;
    // SAFETY: the block is allocated, or was a moment ago and its header is still there.
    let len = unsafe { sys::block_size(block.start as *mut _) };
    (address < block.start + len && block.thread == t.id()).then_some(block)
}
