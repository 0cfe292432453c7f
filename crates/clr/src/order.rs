//! What the program's own synchronisation says of the order of calls, so that no delay is wasted on
//! two calls that can never meet (extension 9 of `raddle_tsvd`).
//!
//! # What is an edge
//! Two kinds of knowledge make a pair of calls ordered.
//!
//! **A common lock.** Both calls were made while their threads held the lock of one object
//! (`Monitor`, `lock`), or had a semaphore that one may have at a time (`semaphores`), which an
//! asynchronous method keeps across `await`, or a `ReaderWriterLockSlim` in ways that exclude each
//! other (`locks`). That excludes them in every schedule. Nothing else is
//! taken from locks: that one thread had a lock before another is chance, and the next run may have
//! it the other way.
//!
//! **A hand-over.** A task or thread gets what its creator did before; who waits for it gets what
//! it did. What is handed over is a [`Past`]: for each thread a span of time, *since* its piece of
//! work began *until* it handed over.
//!
//! | event | what is handed over |
//! |---|---|
//! | `Thread.Start` | from the creator to the thread |
//! | `Thread.Join()` | from the thread to who joins it |
//! | `Task.Run`, `TaskFactory.StartNew`, `Task.Start` | from the creator to the task |
//! | `Task.Run(async …)` | from the creator to what it is given, and from the task which that makes to who waits |
//! | `Task.Wait()`, `Result`, `Task.WaitAll(tasks)`, the end of an `await` | from the task to who waits |
//! | `ContinueWith` | from the creator and from the task before to the continuation |
//! | `Task.WhenAll(tasks)` of an array | from the tasks to who waits for all of them |
//! | `CountdownEvent` | from all who signal to who waits |
//! | `TaskCompletionSource.SetResult`, `SetException`, `SetCanceled`, `SetFromTask` | from the only one who sets it to who waits for its task |
//! | `Barrier.SignalAndWait()` | from all who signal in a phase to all who waited in it |
//! | a static constructor | from it to who uses a static field of its class (`class_constructors`) |
//! | a part of an asynchronous method ends at an `await` or for good | from the part to the next one and to who awaits the method |
//!
//! A *piece* of work is a run of a task, a part of an asynchronous method, or the life of a thread.
//! The parts of an asynchronous method are one *flow*: the task of its builder, which is known
//! where `MoveNext` begins in all parts but the first, and that one runs in its caller's piece.
//!
//! # What can make it wrong
//! An edge too many hides a violation, one too few costs a delay. So in doubt there is none:
//! - A thread of a pool knows nothing between pieces. A piece that begins unseen (a delegate that
//!   came from elsewhere, PLINQ) knows nothing and hands nothing over.
//! - Only the innermost piece counts, with the locks that it took itself. A task that runs inside
//!   of `Wait` of another task, or what follows an `await` inside of `SetResult`, could have run
//!   elsewhere; and who waits for the outer piece does not wait for the inner one.
//! - Of the pieces that one task has, as a task of `Parallel.For`, and of those of a thread that
//!   are of no task, only the first is known by the task or thread. The others know nothing.
//! - `ManualResetEvent`, `ManualResetEventSlim` and `AutoResetEvent` say nothing. That one thread
//!   alone has set an event so far is chance: another one may set it later, and the next time
//!   before. A wait for one explains why a thread did nothing for a while. That makes the core
//!   doubt the pair, and orders nothing ([`raddle_tsvd::Host::has_waited_by_chance`]).
//!   `TaskCompletionSource.TrySet…` says nothing either, of which one may follow another. Who calls
//!   `SetResult` and its like and is not the first gets an exception, so there is one such call in
//!   a right program. Where several have set a source it says nothing. Where a delegate was made of
//!   a method that sets one, or `TrySet…` is called anywhere, no source does from then on. A
//!   `CountdownEvent` throws too if it is signalled more often than it counts. A program that
//!   catches these exceptions and goes on may have an order that is only chance.
//! - Where a delegate was made of a method that releases a lock, whose calls are not seen, or one
//!   is called with the prefix `tail.`, locks of that kind are no edges from then on. A release by
//!   reflection, through `dynamic` or in a module that is not rewritten is not seen, and the lock
//!   counts as held.
//! - A `Mutex` is no edge: `SignalAndWait` and another object with its name release it as well.
//! - A continuation that is cancelled may end before the task before it. So nothing comes from that
//!   task by way of a continuation that has not begun.
//! - Waits with a limit, `WaitAny`, `WhenAny`, other semaphores, `ReaderWriterLock`, `TryEnter…`
//!   and `Unwrap` are no edges. Neither are channels: that what a thread has read was written by
//!   this one and no other is chance, as it is with events.
//! - A semaphore that the first part of an asynchronous method got is not held by its next parts:
//!   the piece that it is in may have others.
//! - Whoever waits in vain, because an exception came, gets nothing.
//! - A piece that an exception ended is forgotten when the next one begins at its depth of the
//!   stack or an outer one ends. If a piece begins unseen before that, it is taken for the old one.
//! - Tasks are known by their number, which no other has. Locks and threads are known by their
//!   hash: two of them have one hash once in some 60 million.
//! - The table of hand-overs is bounded; a part of it that is full begins anew.
//!
//! `Task.Run` makes two tasks of an asynchronous lambda: one runs the lambda, and the one that it
//! gives ends with the lambda's own task. Nothing leads from one to the other. So it is given
//! another delegate, which calls the first and is known by the box that has it (`order_probe`).
//!
//! A task's creator learns the task's number only when `Task.Run` returns, and the task may have
//! begun. So a piece keeps the number, and looks at what was handed over when a near miss is in
//! question, not when it begins. What was handed over ends before the call.
//!
//! `oracle` holds all of this against a graph of random programs.
//!
//! # What it costs
//! Nothing at a point that a pass lets by; elsewhere a word more is stored. A near miss in question
//! looks at up to 32 spans, half of them in a table. A lock costs a hash and a call of native code,
//! a hand-over the clock and a lock of its own.

use std::sync::atomic::Ordering::Relaxed;

use raddle_tsvd::{Past, Span};

use crate::class_constructors::{self, ClassNumber};
use crate::hand_overs::{
    Awaits, HandOverKey, SignalState, THREAD, begin_once, handed_over, keep, take_awaits, take_holds, task,
};
use crate::locks;
use crate::semaphores::{self, Hold};

/// Events; what a probe is called with.
pub mod event {
    pub const LOCKED: u32 = 1;
    pub const UNLOCKS: u32 = 2;
    /// A thread is about to be started.
    pub const STARTS: u32 = 3;
    pub const JOINED: u32 = 4;
    /// A task was made by the call before which [`super::hands_over`] was called. Its number was
    /// not known then.
    pub const FORKED: u32 = 5;
    /// A task was waited for.
    pub const DONE: u32 = 6;
    /// The part of an asynchronous method that the thread is in goes on later, and this is its
    /// task.
    pub const SUSPENDED: u32 = 7;
    /// A semaphore was made that one may have at a time.
    pub const MADE: u32 = 8;
    /// A semaphore is about to be waited for.
    pub const WAITS: u32 = 9;
    /// A semaphore was waited for.
    pub const GOT: u32 = 10;
    pub const RELEASES: u32 = 11;
    pub const RELEASES_SEVERAL: u32 = 12;
    /// A source of a task was made.
    pub const MADE_SOURCE: u32 = 13;
    /// A source is about to be set, which is an error if it is set already.
    pub const SETS: u32 = 14;
    /// One of the signals that are counted is about to be given.
    pub const SIGNALS: u32 = 15;
    /// What counts them is about to be reset.
    pub const RESETS: u32 = 16;
    /// It was waited for.
    pub const WAITED: u32 = 17;
    /// A source is about to be set, unless it is set already.
    pub const TRIES_TO_SET: u32 = 18;
    /// A lock of readers and writers was entered.
    pub const READS: u32 = 19;
    pub const READS_TO_UPGRADE: u32 = 20;
    pub const WRITES: u32 = 21;
    /// It is about to be left.
    pub const READ: u32 = 22;
    pub const READ_TO_UPGRADE: u32 = 23;
    pub const WROTE: u32 = 24;
    /// An event is about to be set that others may set as well.
    pub const SETS_BY_CHANCE: u32 = 25;
    /// It was waited for, or a mutex was.
    pub const WAITED_BY_CHANCE: u32 = 26;
    pub const MADE_MUTEX: u32 = 27;
    pub const RELEASES_MUTEX: u32 = 28;
    /// A lock that orders nothing was taken, or may have been: only the thread may release it.
    pub const HOLDS: u32 = 29;
    /// It is about to be released.
    pub const LETS_GO: u32 = 30;
    /// A call with a limit has not got a lock. The next number: it has.
    pub const TRIED: u32 = 31;
    pub const GOT_LOCK: u32 = 32;
    /// A wait with a limit, perhaps for a mutex, was in vain. The next number: it was not.
    pub const WAITED_IN_VAIN: u32 = 33;
    pub const WAITED_WITH_LIMIT: u32 = 34;
    /// A call has waited for several handles, or for one after it has signalled another.
    pub const WAITED_FOR_SEVERAL: u32 = 35;
}

/// A piece of work that the thread is in.
struct Piece {
    /// Where the stack was when it began.
    stack: usize,
    began: u64,
    /// Since when no other piece has run inside of it. What it did before is in its past.
    since: u64,
    /// The task or thread that it is of, by which more may still be handed over; zero: none.
    key: HandOverKey,
    /// When it last was about to hand something over.
    handing: u64,
    past: Past,
    /// What it has waited for in this run and need not wait for in another one.
    by_chance: Past,
    /// Locks that the thread held when it began, which are not its own.
    outer_locks: usize,
    holds: Vec<Hold>,
    awaits: Option<Awaits>,
    /// The class whose static constructor it is; zero: none.
    class: ClassNumber,
    /// The number of the task that runs what `Task.Run` was given; zero: it is something else.
    runs_in: u32,
}

/// Where the stack of a piece begins that is the main thread's whole life.
const WHOLE_LIFE: usize = usize::MAX;

/// What a thread knows of order.
pub struct Known {
    number: u32,
    pieces: Vec<Piece>,
    /// Locks that it holds.
    locks: Vec<u32>,
    /// The hashes of mutexes that it is known to hold, which order nothing.
    mutexes: Vec<u32>,
    /// Whether it has begun a piece that is of no task.
    has_run: bool,
}

impl Piece {
    fn new(stack: usize, began: u64, key: HandOverKey) -> Piece {
        Piece {
            stack,
            began,
            since: began,
            key,
            handing: 0,
            past: Past::default(),
            by_chance: Past::default(),
            outer_locks: 0,
            holds: Vec::new(),
            awaits: None,
            class: 0,
            runs_in: 0,
        }
    }
}

impl Known {
    /// Of a thread with this number, as in [`Point::thread`](raddle_tsvd::Point::thread).
    pub fn new(number: u32) -> Known {
        // SAFETY: they take nothing and cannot fail.
        let is_main = unsafe { libc::gettid() == libc::getpid() };
        if is_main { Known::of_main(number) } else { Known::of_pool(number) }
    }

    /// The main thread's life is one piece.
    fn of_main(number: u32) -> Known {
        Known { pieces: vec![Piece::new(WHOLE_LIFE, 1, 0)], ..Known::of_pool(number) }
    }

    fn of_pool(number: u32) -> Known {
        Known { number, pieces: Vec::new(), locks: Vec::new(), mutexes: Vec::new(), has_run: false }
    }

    /// Two of its locks: the outermost, and the semaphore that it got last or the innermost.
    pub fn mark(&self) -> u64 {
        let semaphore = self.holds().map(|hold| hold.semaphore).last();
        let last = semaphore.or(self.own_locks().last().copied());
        u64::from(self.own_locks().first().copied().unwrap_or(0)) << 32 | u64::from(last.unwrap_or(0))
    }

    /// The locks of the piece that it is in. A piece that runs inside of another one, as a task
    /// does in `Wait` or what follows an `await` does in `SetResult`, has that one's locks by
    /// chance.
    fn own_locks(&self) -> &[u32] {
        let outer = self.pieces.last().map_or(0, |piece| piece.outer_locks);
        self.locks.get(outer..).unwrap_or_default()
    }

    /// The good ones of the piece that it is in.
    fn holds(&self) -> impl Iterator<Item = &Hold> {
        let all = self.pieces.last().map_or(&[][..], |piece| &piece.holds);
        all.iter().filter(|hold| hold.is_good())
    }

    pub fn is_ordered(&self, thread: u32, time: u64, mark: u64) -> bool {
        let excluded = |lock: u32| {
            self.own_locks().iter().any(|own| locks::exclude(*own, lock))
                || self.holds().any(|hold| locks::exclude(hold.semaphore, lock))
        };
        if mark != 0 && (excluded(mark as u32) || excluded((mark >> 32) as u32)) {
            return true;
        }
        let Some(piece) = self.pieces.last() else { return false };
        piece.past.has(thread, time)
            || piece.key != 0 && handed_over(piece.key).is_some_and(|past| past.has(thread, time))
    }

    /// Whether it has waited for that in this run, for an event that others may set as well.
    pub fn has_waited_by_chance(&self, thread: u32, time: u64) -> bool {
        self.pieces.last().is_some_and(|piece| piece.by_chance.has(thread, time))
    }

    /// Whether it comes to a site after something because of a static constructor. In a static
    /// constructor the runtime may let it use a class that is not ready.
    pub fn is_after_class(&self, site: u32, thread: u32, time: u64) -> bool {
        let is_ready = self.pieces.iter().all(|piece| piece.class == 0);
        is_ready && class_constructors::is_before(site, thread, time)
    }

    fn lock(&mut self, lock: u32) {
        /// A thread that holds more is one that is not seen to release them.
        const MOST: usize = 64;
        if self.locks.len() < MOST {
            self.locks.push(lock);
        }
    }

    fn unlock(&mut self, lock: u32) {
        if let Some(at) = self.locks.iter().rposition(|held| *held == lock) {
            self.locks.remove(at);
        }
    }

    /// A piece begins. What it is to be ended with.
    fn begin(&mut self, stack: usize, key: HandOverKey, now: u64) -> u32 {
        self.forget_ended(stack, now);
        // What runs inside of a piece need not do so: who waits for the piece does not wait for it.
        if let Some(outer) = self.pieces.last_mut() {
            outer.past.add(Span { thread: self.number, since: outer.since, until: now });
        }
        let (holds, outer_locks) = (take_holds(key), self.locks.len());
        self.pieces.push(Piece { holds, outer_locks, ..Piece::new(stack, now, key) });
        self.pieces.len() as u32
    }

    /// The stack grows downwards: forgets the pieces that an exception has ended.
    fn forget_ended(&mut self, stack: usize, now: u64) {
        let left = self.pieces.iter().rposition(|piece| piece.stack > stack).map_or(0, |last| last + 1);
        self.forget_inner(left, now);
    }

    /// Forgets all pieces but the outermost ones. What is left goes on now.
    fn forget_inner(&mut self, left: usize, now: u64) {
        if left < self.pieces.len() {
            self.pieces.truncate(left);
            if let Some(outer) = self.pieces.last_mut() {
                outer.since = now;
            }
        }
    }

    /// A method begins that a task, if there is one, or a thread was made of. Zero: it is called as
    /// any other, by the piece that the thread is in.
    fn begin_work(&mut self, stack: usize, task_id: u32, thread_hash: u32, now: u64) -> u32 {
        self.forget_ended(stack, now);
        let key = if task_id != 0 { task(task_id) } else { THREAD | HandOverKey::from(thread_hash) };
        let is_mine = |piece: &Piece| {
            piece.key == key
                || piece.runs_in == task_id && task_id != 0
                || task_id == 0 && piece.stack == WHOLE_LIFE
        };
        if self.pieces.last().is_some_and(is_mine) {
            return 0;
        }
        // A thread of a pool does one thing after the other, and so does a task of `Parallel.For`.
        // Whatever the first one knew, the others need not come after it.
        let has_run = if task_id != 0 { begin_once(key) } else { std::mem::replace(&mut self.has_run, true) };
        self.begin(stack, if has_run { 0 } else { key }, now)
    }

    /// What `Task.Run` was given begins, in a task whose number its creator does not know.
    fn begin_given(&mut self, stack: usize, given: HandOverKey, task_id: u32, now: u64) -> u32 {
        let depth = self.begin(stack, given, now);
        if let Some(piece) = self.pieces.last_mut() {
            piece.runs_in = task_id;
        }
        depth
    }

    /// A static constructor begins. Which thread runs it is chance.
    fn begin_class(&mut self, stack: usize, class: ClassNumber, now: u64) -> u32 {
        let depth = self.begin(stack, 0, now);
        if let Some(piece) = self.pieces.last_mut() {
            piece.class = class;
        }
        depth
    }

    /// Whether it is in a static constructor, for which others wait who use the class.
    pub fn is_in_class(&self) -> bool {
        self.pieces.iter().any(|piece| piece.class != 0)
    }

    /// What a piece that began as `depth` did so far goes to those who wait for it, and it is over.
    fn end(&mut self, depth: u32, now: u64) {
        let Some(at) = (depth as usize).checked_sub(1) else { return };
        self.forget_inner(at + 1, now);
        let Some(piece) = self.pieces.get(at) else { return };
        self.hand_on(now);
        let (class, past) = (piece.class, self.past_until(piece, now));
        self.forget_inner(at, now);
        if class != 0 {
            class_constructors::ended(class, past);
            // Whoever has run it was about to use the class.
            if let Some(outer) = self.pieces.last_mut() {
                outer.past.join(&past);
            }
        }
    }

    /// It is about to make a task whose number is not known yet, or its asynchronous method ends.
    fn hands_over(&mut self, now: u64) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.handing = now;
        }
        self.hand_on(now);
    }

    /// Hands over to those who go on with the same piece, and to those who wait for it.
    fn hand_on(&self, now: u64) {
        if let Some(key) = self.pieces.last().map(|piece| piece.key).filter(|key| *key != 0) {
            self.hand_over(key, now);
        }
    }

    /// A part of an asynchronous method ends at an `await`. A part that is not the first is a piece
    /// of its own, and the next one goes on with what it has. The first one is in somebody else's
    /// piece.
    fn suspends(&mut self, is_first: bool, now: u64) {
        self.hand_on(now);
        let Some(piece) = self.pieces.last_mut() else { return };
        piece.handing = now;
        let holds = std::mem::take(&mut piece.holds);
        if !is_first && piece.key != 0 && (!holds.is_empty() || piece.awaits.is_some()) {
            let awaits = piece.awaits.take();
            keep(piece.key, |kept| (kept.holds, kept.awaits) = (holds, awaits));
        }
    }

    /// It has ended there, and this is its task.
    fn suspended(&mut self, flow: HandOverKey) {
        self.forked(flow);
        if let Some(awaits) = self.pieces.last_mut().and_then(|piece| piece.awaits.take()) {
            keep(flow, |kept| kept.awaits = Some(awaits));
        }
    }

    /// A task was waited for. If it has ended because of a semaphore, that one was got.
    fn done(&mut self, id: u32) {
        self.take_over(task(id));
        let Some(piece) = self.pieces.last_mut() else { return };
        let of_piece = piece.awaits.take_if(|awaits| awaits.task == id);
        let awaits = of_piece.or_else(|| take_awaits(piece.key).filter(|awaits| awaits.task == id));
        if let Some(hold) = awaits.and_then(|awaits| semaphores::got(awaits.semaphore)) {
            piece.holds.push(hold);
        }
    }

    /// It has waited for a semaphore.
    fn got(&mut self, semaphore: u32) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.holds.extend(semaphores::got(semaphore));
        }
    }

    /// It releases a semaphore, after which no hold of it is good.
    fn releases(&mut self, semaphore: u32, once: bool) {
        semaphores::releases(semaphore, once);
        if let Some(piece) = self.pieces.last_mut() {
            piece.holds.retain(|hold| hold.semaphore != semaphore);
        }
    }

    /// A task was made. A flow that goes on has been handed on before.
    fn forked(&self, to: HandOverKey) {
        if let Some(piece) = self.pieces.last().filter(|piece| piece.key != to) {
            self.hand_over(to, piece.handing);
        }
    }

    /// What a piece knows, with what it did until then.
    fn past_until(&self, piece: &Piece, until: u64) -> Past {
        let mut past = piece.past;
        past.add(self.span(piece, until));
        past
    }

    fn span(&self, piece: &Piece, until: u64) -> Span {
        Span { thread: self.number, since: piece.since, until }
    }

    fn hand_over(&self, to: HandOverKey, until: u64) {
        let Some(piece) = self.pieces.last() else { return };
        let mut past = self.past_until(piece, until);
        if piece.key != 0 && piece.key != to {
            past.join(&handed_over(piece.key).unwrap_or_default());
        }
        keep(to, |kept| {
            if kept.event != SignalState::Void {
                kept.past.join(&past);
            }
        });
    }

    /// It sets a source of a task.
    fn sets(&self, event: HandOverKey, now: u64) {
        let mut is_first = false;
        let piece = self.pieces.last().filter(|_| !SETTERS_ARE_UNKNOWN.load(Relaxed));
        let set = piece.map_or(SignalState::Void, |piece| SignalState::Set(self.number, piece.began));
        keep(event, |kept| {
            is_first = kept.event == SignalState::Made;
            kept.event = if is_first || kept.event == set { set } else { SignalState::Void };
            if kept.event == SignalState::Void {
                kept.past = Past::default();
            }
        });
        if is_first {
            self.hand_over(event, now);
        }
    }

    fn waited_by_chance(&mut self, event: HandOverKey) {
        if let Some(piece) = self.pieces.last_mut()
            && let Some(past) = handed_over(event)
        {
            piece.by_chance.join(&past);
        }
    }

    fn take_over(&mut self, from: HandOverKey) {
        if let Some(piece) = self.pieces.last_mut()
            && let Some(past) = handed_over(from)
        {
            piece.past.join(&past);
        }
    }
}

mod natives;

use natives::SETTERS_ARE_UNKNOWN;
pub use natives::*;

#[cfg(test)]
mod oracle;

#[cfg(test)]
mod tests;
