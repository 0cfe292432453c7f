//! What the program's own synchronisation says of the order of calls, so that no delay is wasted on
//! two calls that can never meet (extension 9 of `raddle_tsvd`).
//!
//! # What is an edge
//! Two kinds of knowledge make a pair of calls ordered.
//!
//! **A common lock.** Both calls were made while their threads held the lock of one object
//! (`Monitor`, `lock`), or had a semaphore that one may have at a time (`semaphores`), which an
//! asynchronous method keeps across `await`. That excludes them in every schedule. Nothing else is
//! taken from locks: that one thread had a lock before another is chance, and the next run may have
//! it the other way.
//!
//! **A hand-over.** A task or thread gets what its creator did before; who waits for it gets what it
//! did. What is handed over is a [`Past`]: for each thread a span of time, *since* its piece of work
//! began *until* it handed over.
//!
//! | event | what is handed over |
//! |---|---|
//! | `Thread.Start` | from the creator to the thread |
//! | `Thread.Join()` | from the thread to who joins it |
//! | `Task.Run`, `TaskFactory.StartNew`, `Task.Start` | from the creator to the task |
//! | `Task.Wait()`, `Result`, `Task.WaitAll(tasks)`, the end of an `await` | from the task to who waits |
//! | `ContinueWith` | from the creator and from the task before to the continuation |
//! | `Task.WhenAll(tasks)` of an array | from the tasks to who waits for all of them |
//! | `CountdownEvent` | from all who signal to who waits |
//! | `ManualResetEvent`, `ManualResetEventSlim` | from the only one who sets it to who waits |
//! | a part of an asynchronous method ends at an `await` or for good | from the part to the next one and to who awaits the method |
//!
//! A *piece* of work is a run of a task, a part of an asynchronous method, or the life of a thread.
//! The parts of an asynchronous method are one *flow*: the task of its builder, which is known where
//! `MoveNext` begins in all parts but the first, and that one runs in its caller's piece.
//!
//! # What can make it wrong
//! An edge too many hides a violation, one too few costs a delay. So in doubt there is none:
//! - A thread of a pool knows nothing between pieces. A piece that begins unseen (a delegate that
//!   came from elsewhere, PLINQ) knows nothing and hands nothing over.
//! - Only the innermost piece counts, with the locks that it took itself. A task that runs inside of
//!   `Wait` of another task, or what follows an `await` inside of `SetResult`, could have run
//!   elsewhere; and who waits for the outer piece does not wait for the inner one.
//! - Of the pieces that one task has, as a task of `Parallel.For`, and of those of a thread that are
//!   of no task, only the first is known by the task or thread. The others know nothing.
//! - An event that began as set, that several have set, or that was reset says nothing: who waited
//!   need not have waited for all of them.
//! - Waits with a limit, `WaitAny`, `WhenAny`, other events and semaphores, barriers, reader and
//!   writer locks, `Monitor.TryEnter`, and tasks that a `TaskCompletionSource` or an
//!   asynchronous lambda in `Task.Run` made are no edges.
//! - A semaphore that the first part of an asynchronous method got is not held by its next parts:
//!   the piece that it is in may have others.
//! - Whoever waits in vain, because an exception came, gets nothing.
//! - A piece that an exception ended is forgotten when the next one begins at its depth of the
//!   stack or an outer one ends. If a piece begins unseen before that, it is taken for the old one.
//! - Tasks are known by their number, which no other has. Locks and threads are known by their
//!   hash: two of them have one hash once in some 60 million.
//! - The table of hand-overs is bounded; a part of it that is full begins anew.
//!
//! A task's creator learns the task's number only when `Task.Run` returns, and the task may have
//! begun. So a piece keeps the number, and looks at what was handed over when a near miss is in
//! question, not when it begins. What was handed over ends before the call.
//!
//! `oracle` holds all of this against a graph of random programs.
//!
//! # What it costs
//! Nothing at a point that a pass lets by; elsewhere a word more is stored. A near miss in question
//! looks at up to 32 spans, half of them in a table. A lock costs a hash and a call of native code, a hand-over the
//! clock and a lock of its own.

use raddle_tsvd::{Past, Span};

use crate::force_async;
use crate::hand_overs::{
    Awaits, EVENT, Event, Kept, Key, THREAD, begin_once, handed_over, keep, take_awaits, take_holds, task,
};
use crate::point::{now, with_order};
use crate::semaphores::{self, Hold};
use crate::session::session;

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
    /// The part of an asynchronous method that the thread is in goes on later, and this is its task.
    pub const SUSPENDED: u32 = 7;
    /// A semaphore was made that one may have at a time.
    pub const MADE: u32 = 8;
    /// A semaphore is about to be waited for.
    pub const WAITS: u32 = 9;
    /// A semaphore was waited for.
    pub const GOT: u32 = 10;
    pub const RELEASES: u32 = 11;
    pub const RELEASES_SEVERAL: u32 = 12;
    /// An event was made that is not set.
    pub const MADE_EVENT: u32 = 13;
    /// An event is about to be set.
    pub const SETS: u32 = 14;
    /// One of the signals that are counted is about to be given.
    pub const SIGNALS: u32 = 15;
    /// An event is about to be reset.
    pub const RESETS: u32 = 16;
    /// An event was waited for.
    pub const WAITED: u32 = 17;
}

/// A piece of work that the thread is in.
struct Piece {
    /// Where the stack was when it began.
    stack: usize,
    began: u64,
    /// Since when no other piece has run inside of it. What it did before is in its past.
    since: u64,
    /// The task or thread that it is of, by which more may still be handed over; zero: none.
    key: Key,
    /// When it last was about to hand something over.
    handing: u64,
    past: Past,
    /// Locks that the thread held when it began, which are not its own.
    outer_locks: usize,
    holds: Vec<Hold>,
    awaits: Option<Awaits>,
}

/// Where the stack of a piece begins that is the main thread's whole life.
const WHOLE_LIFE: usize = usize::MAX;

/// What a thread knows of order.
pub struct Known {
    number: u32,
    pieces: Vec<Piece>,
    /// Locks that it holds.
    locks: Vec<u32>,
    /// Whether it has begun a piece that is of no task.
    has_run: bool,
}

impl Piece {
    fn new(stack: usize, began: u64, key: Key) -> Piece {
        Piece {
            stack,
            began,
            since: began,
            key,
            handing: 0,
            past: Past::default(),
            outer_locks: 0,
            holds: Vec::new(),
            awaits: None,
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
        Known { number, pieces: Vec::new(), locks: Vec::new(), has_run: false }
    }

    /// Two of its locks: the outermost, and the semaphore that it got last or the innermost.
    pub fn mark(&self) -> u64 {
        let semaphore = self.holds().map(|hold| hold.semaphore).last();
        let last = semaphore.or(self.own_locks().last().copied());
        u64::from(self.own_locks().first().copied().unwrap_or(0)) << 32 | u64::from(last.unwrap_or(0))
    }

    /// The locks of the piece that it is in. A piece that runs inside of another one, as a task does
    /// in `Wait` or what follows an `await` does in `SetResult`, has that one's locks by chance.
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
        let has = |lock| self.own_locks().contains(&lock) || self.holds().any(|hold| hold.semaphore == lock);
        let common = |lock: u32| lock != 0 && has(lock);
        if common(mark as u32) || common((mark >> 32) as u32) {
            return true;
        }
        let Some(piece) = self.pieces.last() else { return false };
        piece.past.has(thread, time)
            || piece.key != 0 && handed_over(piece.key).is_some_and(|past| past.has(thread, time))
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
    fn begin(&mut self, stack: usize, key: Key, now: u64) -> u32 {
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
        let key = if task_id != 0 { task(task_id) } else { THREAD | Key::from(thread_hash) };
        let is_mine = |piece: &Piece| piece.key == key || task_id == 0 && piece.stack == WHOLE_LIFE;
        if self.pieces.last().is_some_and(is_mine) {
            return 0;
        }
        // A thread of a pool does one thing after the other, and so does a task of `Parallel.For`.
        // Whatever the first one knew, the others need not come after it.
        let has_run = if task_id != 0 { begin_once(key) } else { std::mem::replace(&mut self.has_run, true) };
        self.begin(stack, if has_run { 0 } else { key }, now)
    }

    /// What a piece that began as `depth` did so far goes to those who wait for it, and it is over.
    fn end(&mut self, depth: u32, now: u64) {
        let Some(at) = (depth as usize).checked_sub(1) else { return };
        self.forget_inner(at + 1, now);
        if at + 1 == self.pieces.len() {
            self.hand_on(now);
            self.forget_inner(at, now);
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
    fn suspended(&mut self, flow: Key) {
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
    fn forked(&self, to: Key) {
        if let Some(piece) = self.pieces.last().filter(|piece| piece.key != to) {
            self.hand_over(to, piece.handing);
        }
    }

    fn hand_over(&self, to: Key, until: u64) {
        let Some(piece) = self.pieces.last() else { return };
        let mut past = piece.past;
        if piece.key != 0 && piece.key != to {
            past.join(&handed_over(piece.key).unwrap_or_default());
        }
        past.add(Span { thread: self.number, since: piece.since, until });
        keep(to, |kept| {
            if kept.event != Event::Void {
                kept.past.join(&past);
            }
        });
    }

    /// It sets an event. The first time is the one that others may have waited for.
    fn sets(&self, event: Key) {
        let mut is_first = false;
        let set = self.pieces.last().map_or(Event::Void, |piece| Event::Set(self.number, piece.began));
        keep(event, |kept| {
            is_first = kept.event == Event::Made;
            kept.event = if is_first || kept.event == set { set } else { Event::Void };
            if kept.event == Event::Void {
                kept.past = Past::default();
            }
        });
        if is_first {
            self.hand_over(event, now());
        }
    }

    fn take_over(&mut self, from: Key) {
        if let Some(piece) = self.pieces.last_mut()
            && let Some(past) = handed_over(from)
        {
            piece.past.join(&past);
        }
    }
}

/// Called as managed code is: a lock, a semaphore, an event or a thread, with its hash.
pub extern "C" fn happened(reference: usize, hash: u32, what: u32) {
    if reference == 0 {
        return;
    }
    // Not zero, which is no lock.
    let (lock, semaphore) = (hash | 1 << 31, hash | 1 << 30);
    let (thread, event_key) = (THREAD | Key::from(hash), EVENT | Key::from(hash));
    _ = with_order(|known| match what {
        event::LOCKED => known.lock(lock),
        event::UNLOCKS => known.unlock(lock),
        event::STARTS => known.hand_over(thread, now()),
        event::JOINED => known.take_over(thread),
        event::MADE_EVENT => keep(event_key, |kept| *kept = Kept { event: Event::Made, ..Kept::default() }),
        event::SETS => known.sets(event_key),
        event::SIGNALS => known.hand_over(event_key, now()),
        event::RESETS => keep(event_key, |kept| *kept = Kept { event: Event::Void, ..Kept::default() }),
        event::WAITED => known.take_over(event_key),
        event::MADE => semaphores::made(semaphore),
        event::WAITS => semaphores::waits(semaphore),
        event::GOT => known.got(semaphore),
        event::RELEASES | event::RELEASES_SEVERAL => known.releases(semaphore, what == event::RELEASES),
        _ => {}
    });
    match what {
        event::LOCKED => force_async::count_locks(1),
        event::UNLOCKS => force_async::count_locks(-1),
        _ => {}
    }
}

/// Called as managed code is: a task, by its number.
pub extern "C" fn task_happened(id: u32, what: u32) {
    _ = with_order(|known| match what {
        event::FORKED => known.forked(task(id)),
        event::DONE => known.done(id),
        event::SUSPENDED => known.suspended(task(id)),
        _ => {}
    });
}

/// Called as managed code is, before a call that makes a task or ends an asynchronous method.
pub extern "C" fn hands_over() {
    _ = with_order(|known| known.hands_over(now()));
}

/// Called as managed code is, before a part of an asynchronous method ends that goes on later.
/// `depth`: what [`resumes`] gave; zero: it is the first part.
pub extern "C" fn suspends(depth: u32) {
    _ = with_order(|known| known.suspends(depth == 0, now()));
}

/// Called as managed code is: a task ends when a semaphore, of which this is the hash, is got.
pub extern "C" fn awaits(hash: u32, id: u32) {
    _ = with_order(|known| {
        if let Some(piece) = known.pieces.last_mut() {
            piece.awaits = Some(Awaits { task: id, semaphore: hash | 1 << 30 });
        }
    });
}

/// Called as managed code is: a task was made that runs after another.
pub extern "C" fn continues(before: u32, id: u32) {
    /// Of many tasks the first ones will do.
    const MOST: usize = 16;
    keep(task(id), |kept| {
        if kept.after.len() < MOST {
            kept.after.push(task(before));
        }
    });
}

/// Called as managed code is, where a piece of work begins. What [`ends`] is to be called with.
pub extern "C" fn begins(task_id: u32, thread_hash: u32) -> u32 {
    let (on_stack, now) = (0_u8, now());
    begin(now, |known| known.begin_work(&raw const on_stack as usize, task_id, thread_hash, now))
}

/// Called as managed code is, where a part of an asynchronous method begins that is not its first.
pub extern "C" fn resumes(id: u32) -> u32 {
    let (on_stack, now) = (0_u8, now());
    begin(now, |known| known.begin(&raw const on_stack as usize, task(id), now))
}

fn begin(now: u64, begin: impl FnOnce(&mut Known) -> u32) -> u32 {
    let begun = with_order(|known| {
        let depth = begin(known);
        if depth != 0 {
            session().core.work_begins(now, known.number);
        }
        depth
    });
    begun.unwrap_or(0)
}

/// Called as managed code is, where a piece of work ends.
pub extern "C" fn ends(depth: u32) {
    if depth != 0 {
        _ = with_order(|known| known.end(depth, now()));
    }
}

#[cfg(test)]
mod oracle;

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(number: u32) -> Known {
        Known::of_pool(number)
    }

    #[test]
    fn a_common_lock_excludes() {
        let (mut one, mut two) = (thread(1), thread(2));
        one.lock(7);
        one.lock(8);
        one.lock(9);
        two.lock(9);
        assert!(two.is_ordered(1, 5, one.mark()), "the innermost");
        two.unlock(9);
        assert!(!two.is_ordered(1, 5, one.mark()));
        two.lock(7);
        assert!(two.is_ordered(1, 5, one.mark()), "the outermost");
        one.unlock(7);
        assert!(!two.is_ordered(1, 5, one.mark()));
        one.unlock(70);
        assert_eq!(one.locks, [8, 9]);
        assert!(!thread(3).is_ordered(1, 5, thread(2).mark()), "no lock is not a common lock");
    }

    #[test]
    fn a_lock_that_was_taken_twice_is_released_twice() {
        let mut one = thread(1);
        one.lock(7);
        one.lock(7);
        one.unlock(7);
        assert_eq!(one.mark(), 7 << 32 | 7);
        one.unlock(7);
        assert_eq!(one.mark(), 0);
    }

    #[test]
    fn who_waits_for_a_task_comes_after_it_and_after_nothing_else() {
        let (mut pool, mut waits) = (thread(11), thread(12));
        let key = task(1001);
        let first = pool.begin(1000, task(1000), 10);
        pool.end(first, 20);
        let second = pool.begin(1000, key, 30);
        pool.end(second, 40);
        waits.begin(2000, task(1002), 5);
        assert!(!waits.is_ordered(11, 35, 0), "it has not waited");
        waits.take_over(key);
        assert!(waits.is_ordered(11, 35, 0));
        assert!(!waits.is_ordered(11, 15, 0), "another task in the same thread");
        assert!(!waits.is_ordered(11, 45, 0), "what comes later");
    }

    #[test]
    fn a_task_comes_after_what_its_creator_did_before() {
        let (mut parent, mut child) = (thread(21), thread(22));
        parent.begin(1000, task(1010), 10);
        child.begin(1000, task(1011), 30);
        assert!(!child.is_ordered(21, 15, 0));
        parent.hand_over(task(1011), 25);
        assert!(child.is_ordered(21, 15, 0), "although it has begun already");
        assert!(!child.is_ordered(21, 28, 0));
        let mut grandchild = thread(23);
        child.hand_over(task(1012), 40);
        grandchild.begin(1000, task(1012), 41);
        assert!(grandchild.is_ordered(21, 15, 0) && grandchild.is_ordered(22, 35, 0));
    }

    #[test]
    fn a_continuation_comes_after_the_task_before_it() {
        let (mut one, mut two) = (thread(31), thread(32));
        continues(1020, 1021);
        let depth = one.begin(1000, task(1020), 10);
        one.end(depth, 20);
        two.begin(1000, task(1021), 30);
        assert!(two.is_ordered(31, 15, 0));
        assert!(!two.is_ordered(31, 25, 0));
    }

    #[test]
    fn between_pieces_a_thread_knows_nothing() {
        let mut pool = thread(41);
        pool.hand_over(task(1030), 10);
        assert!(handed_over(task(1030)).is_none());
        let outer = pool.begin(2000, task(1031), 10);
        let inner = pool.begin(1000, task(1032), 20);
        pool.end(inner, 30);
        assert_eq!(pool.pieces.len(), 1);
        pool.begin(1000, task(1033), 40);
        pool.end(outer, 50);
        assert!(pool.pieces.is_empty(), "an exception has ended the inner one");
        pool.begin(1000, task(1034), 60);
        pool.begin(1500, task(1035), 70);
        assert_eq!(pool.pieces.len(), 1, "the first one is no longer on the stack");
    }

    #[test]
    fn a_semaphore_goes_with_its_flow_from_thread_to_thread() {
        let (mut one, mut two, mut other) = (thread(51), thread(52), thread(53));
        let (flow, semaphore) = (task(1040), 1 << 30 | 51);
        semaphores::made(semaphore);
        for _ in 0..3 {
            semaphores::waits(semaphore);
        }
        // It waits in its first part, in its caller's piece.
        one.begin(1000, task(1041), 1);
        one.pieces[0].awaits = Some(Awaits { task: 7, semaphore });
        one.suspends(true, 2);
        one.suspended(flow);
        two.begin(1000, flow, 3);
        two.done(8);
        assert_eq!(two.mark(), 0, "another task");
        assert!(one.mark() == 0 && two.is_ordered(51, 1, 0));
        one.suspends(true, 2);
        one.pieces[0].awaits = Some(Awaits { task: 7, semaphore });
        one.suspended(flow);
        two.done(7);
        assert_eq!(two.mark(), u64::from(semaphore));
        two.suspends(false, 4);
        assert_eq!(two.mark(), 0, "it is no longer the flow's thread");
        one.begin(900, flow, 5);
        assert_eq!(one.mark(), u64::from(semaphore));
        other.begin(1000, task(1042), 5);
        assert!(!other.is_ordered(51, 6, one.mark()));
        one.releases(semaphore, true);
        assert_eq!(one.mark(), 0);
        other.got(semaphore);
        assert!(other.is_ordered(51, 6, u64::from(semaphore)));
        other.suspends(true, 7);
        assert_eq!(other.mark(), 0, "whose it is from now on is not known");
    }

    #[test]
    fn an_event_says_something_if_one_thread_has_set_it() {
        let mut waits = thread(62);
        waits.begin(1000, task(1050), 1);
        let mut is_ordered_after = |setters: &[u32], event: Event| {
            let number = 1060 + setters.len() as u64 * 2 + u64::from(event == Event::Made);
            let key = EVENT | number;
            keep(key, |kept| kept.event = event);
            for number in setters {
                let mut sets = thread(*number);
                sets.begin(1000, task(1051), 1);
                sets.sets(key);
            }
            waits.pieces[0].past = Past::default();
            waits.take_over(key);
            waits.is_ordered(61, 2, 0)
        };
        assert!(is_ordered_after(&[61], Event::Made));
        assert!(is_ordered_after(&[61, 61], Event::Made));
        assert!(!is_ordered_after(&[61, 63, 61], Event::Made), "two have set it");
        assert!(!is_ordered_after(&[], Event::Made));
        assert!(!is_ordered_after(&[61], Event::Unknown), "it may have been set from the beginning");
    }
}
