//! Mutexes and reader-writer locks.

use raddle_finding::{AccessOp, Kind};

use super::context::LockHold;
use super::sync::Flow;
use super::thread::State;
use super::value::is_unknown;
use super::waits::{PASSED_BARRIER, PASSED_JOIN, is_passage};
use super::{Machine, RunEnd};

/// The result of a failed attempt.
const BUSY: u64 = 1;

/// The maximum number of locks that a thread holds at once, because each set of them is kept.
const MOST_HELD: usize = 128;

/// The result of taking a lock whose owner ended while holding it.
const ABANDONED: u64 = 2;

impl Machine<'_> {
    pub(super) fn lock_init(&mut self, ti: usize, lock: u64, flags: u64, pc: u32) -> Flow {
        let context = self.context(ti);
        let o = self.objects.entry(lock).or_default();
        let clock = std::mem::take(&mut o.clock);
        let by_another = o.owner.is_some_and(|owner| owner != ti);
        let initialised_again = if by_another { Some((ti, pc, context)) } else { None };
        *o = super::sync::SyncObject {
            recursive: flags & 1 != 0,
            checked: flags & 2 != 0,
            robust: flags & 4 != 0,
            initialised: true,
            is_state_known: true,
            initialised_again,
            clock,
            ..Default::default()
        };
        Flow::Done(0)
    }

    /// Sets the kind of a lock that no call has initialised.
    pub(super) fn lock_static(&mut self, lock: u64, flags: u64) -> Flow {
        let o = self.objects.entry(lock).or_default();
        if !std::mem::replace(&mut o.initialised, true) {
            (o.recursive, o.checked) = (flags & 1 != 0, flags & 2 != 0);
        }
        Flow::Done(0)
    }

    pub(super) fn lock_destroy(&mut self, lock: u64) -> Flow {
        if let Some(o) = self.objects.get(&lock)
            && o.owner.is_none()
            && o.readers.is_empty()
        {
            self.objects.remove(&lock);
        }
        Flow::Done(0)
    }

    /// Takes the exclusive side.
    pub(super) fn lock(&mut self, ti: usize, lock: u64, timed: bool, pc: u32) -> Flow {
        let o = self.objects.entry(lock).or_default();
        match o.owner {
            Some(owner) if owner == ti && o.recursive => {
                o.depth += 1;
                return Flow::Done(0);
            }
            Some(owner) if owner == ti => {
                if o.checked || timed {
                    return Flow::Done(BUSY);
                }
                return self.taken_twice(ti, lock, pc);
            }
            None if o.readers.is_empty() => {
                let abandoned = std::mem::take(&mut o.abandoned);
                self.take(ti, lock, false, pc);
                return Flow::Done(if abandoned { ABANDONED } else { 0 });
            }
            None if o.readers.iter().all(|r| *r == ti) && !timed => return self.taken_twice(ti, lock, pc),
            _ => {}
        }
        if timed && self.threads[ti].expired {
            return Flow::Done(BUSY);
        }
        Flow::Block(State::Lock { lock, shared: false, timed })
    }

    pub(super) fn try_lock(&mut self, ti: usize, lock: u64, pc: u32) -> Flow {
        let o = self.objects.entry(lock).or_default();
        if o.owner == Some(ti) && o.recursive {
            o.depth += 1;
            return Flow::Done(0);
        }
        if o.owner.is_some() || !o.readers.is_empty() {
            self.gave_way(ti);
            return Flow::Done(BUSY);
        }
        self.take(ti, lock, false, pc);
        Flow::Done(0)
    }

    pub(super) fn read_lock(&mut self, ti: usize, lock: u64, timed: bool, pc: u32) -> Flow {
        let o = self.objects.entry(lock).or_default();
        match o.owner {
            None => {
                self.take(ti, lock, true, pc);
                Flow::Done(0)
            }
            Some(owner) if owner == ti && !timed => self.taken_twice(ti, lock, pc),
            Some(_) if timed && self.threads[ti].expired => Flow::Done(BUSY),
            Some(_) => Flow::Block(State::Lock { lock, shared: true, timed }),
        }
    }

    pub(super) fn try_read_lock(&mut self, ti: usize, lock: u64, pc: u32) -> Flow {
        let o = self.objects.entry(lock).or_default();
        if o.owner.is_some() {
            return Flow::Done(BUSY);
        }
        self.take(ti, lock, true, pc);
        Flow::Done(0)
    }

    pub(super) fn take(&mut self, ti: usize, lock: u64, shared: bool, pc: u32) {
        let context = self.context(ti);
        let o = self.objects.entry(lock).or_default();
        o.taken_by_first |= ti == 0;
        o.is_state_known = true;
        let clock = &mut self.threads[ti].clock;
        clock.join(&o.clock);
        if shared {
            o.readers.push(ti);
        } else {
            clock.join(&o.read_clock);
            o.owner = Some(ti);
            o.depth = 1;
            o.released_under = o.released_under.filter(|t| *t != ti);
        }
        let held = LockHold { lock, shared, pc, context };
        self.threads[ti].held.push(held);
        if ti != 0 && !self.callers_locks.others.is_empty() {
            self.note_taken(ti, held);
        }
        if self.threads[ti].held.len() > MOST_HELD {
            self.end = Some(RunEnd::Memory);
        }
        self.relock(ti);
        self.note(ti, lock);
    }

    /// From now on, the thread counts as holding an unknown lock.
    pub(super) fn hold_unknown(&mut self, ti: usize, pc: u32) {
        self.threads[ti].vague = true;
        if self.threads[ti].held.iter().all(|h| !is_unknown(h.lock) || is_passage(h.lock)) {
            let (lock, context) = (self.fresh_unknown(), self.context(ti));
            self.threads[ti].held.push(LockHold { lock, shared: false, pc, context });
            self.relock(ti);
        }
    }

    /// From now on, what the thread does may be ordered by a barrier that nobody waited at. See
    /// [`PASSED_BARRIER`].
    pub(super) fn pass_barrier(&mut self, ti: usize, pc: u32) {
        self.pass(ti, PASSED_BARRIER, pc);
    }

    /// What the thread does may be ordered by a join of another thread than the one that it was
    /// taken for, as long as there are several.
    pub(super) fn pass_join(&mut self, ti: usize, others_are_left: bool) {
        if others_are_left {
            self.pass(ti, PASSED_JOIN, self.threads[ti].pc);
        } else if self.threads[ti].held.iter().any(|h| h.lock == PASSED_JOIN) {
            self.threads[ti].held.retain(|h| h.lock != PASSED_JOIN);
            self.relock(ti);
        }
    }

    fn pass(&mut self, ti: usize, what: u64, pc: u32) {
        self.approximate = true;
        if self.threads[ti].held.iter().all(|h| h.lock != what) {
            let context = self.context(ti);
            self.threads[ti].held.push(LockHold { lock: what, shared: true, pc, context });
            self.relock(ti);
        }
    }

    /// Updates the lock set after the held locks changed.
    fn relock(&mut self, ti: usize) {
        self.threads[ti].lockset = self.contexts.lockset(&self.threads[ti].held);
    }

    fn drop_held(&mut self, ti: usize, lock: u64) {
        let held = &mut self.threads[ti].held;
        if let Some(i) = held.iter().rposition(|h| h.lock == lock) {
            held.remove(i);
        }
        self.relock(ti);
    }

    pub(super) fn unlock(&mut self, ti: usize, lock: u64, pc: u32) -> Flow {
        let o = self.objects.entry(lock).or_default();
        if o.owner != Some(ti) {
            return self.not_held(ti, lock, pc);
        }
        o.depth -= 1;
        if o.depth == 0 {
            self.give_up(ti, lock);
        }
        Flow::Done(0)
    }

    /// Releases the exclusive side, whatever its depth.
    pub(super) fn give_up(&mut self, ti: usize, lock: u64) {
        if let Some(o) = self.objects.get_mut(&lock) {
            o.owner = None;
            o.depth = 0;
        }
        self.release(ti, lock);
        self.drop_held(ti, lock);
        self.wake_waiters(lock);
    }

    pub(super) fn rw_unlock(&mut self, ti: usize, lock: u64, pc: u32) -> Flow {
        let o = self.objects.entry(lock).or_default();
        if o.owner == Some(ti) {
            return self.unlock(ti, lock, pc);
        }
        let Some(i) = o.readers.iter().position(|r| *r == ti) else {
            return self.not_held(ti, lock, pc);
        };
        o.readers.swap_remove(i);
        o.read_clock.join(&self.threads[ti].clock);
        self.threads[ti].clock.tick(ti);
        self.drop_held(ti, lock);
        self.wake_waiters(lock);
        Flow::Done(0)
    }

    fn not_held(&mut self, ti: usize, lock: u64, pc: u32) -> Flow {
        self.released_callers |= ti == 0;
        let checked = self.objects.get(&lock).is_some_and(|o| o.checked);
        // Another thread's release was reported. This one belongs to a lock that was taken.
        let was_mine = self.objects.get(&lock).is_some_and(|o| o.released_under == Some(ti));
        if was_mine {
            self.objects.entry(lock).or_default().released_under = None;
            return Flow::Done(0);
        }
        if !Self::is_certain(lock) {
            self.threads[ti].vague = true;
        } else if !checked && !self.threads[ti].vague && self.is_main_or_started(ti) {
            // Earlier code may have left it taken, and a flag that says so.
            let is_known = self.objects.get(&lock).is_some_and(|o| o.is_state_known);
            let is_earlier = self.start.in_the_middle
                && ti != 0
                && !is_known
                && crate::callers::may_be_taken(self.program, &self.locking, lock);
            let guess = is_earlier || self.may_be_callers(ti, lock);
            self.report_lock(Kind::UnlockNotHeld, AccessOp::Unlock, ti, lock, pc, guess);
        }
        // A mutex of the default kind is released all the same. Without that, whoever waits for it
        // would be in a deadlock that no system has.
        let is_default = |o: &&super::sync::SyncObject| !o.checked && !o.recursive;
        let owner = self.objects.get(&lock).filter(is_default).and_then(|o| o.owner);
        if let Some(owner) = owner.filter(|_| Self::is_certain(lock)) {
            self.drop_held(owner, lock);
            self.give_up(ti, lock);
            self.objects.entry(lock).or_default().released_under = Some(owner);
            return Flow::Done(0);
        }
        Flow::Done(BUSY)
    }

    /// Whether a lock may have been taken before a start in the middle, by code that was not run.
    fn may_be_callers(&mut self, ti: usize, lock: u64) -> bool {
        let taken = self.objects.get(&lock).is_some_and(|o| o.taken_by_first);
        if !self.start.in_the_middle || ti != 0 || taken {
            return false;
        }
        let (program, locking, function) = (self.program, &self.locking, self.start.function);
        let ask = || crate::callers::may_hold(program, locking, function, lock);
        *self.callers_may_hold.entry((function, lock)).or_insert_with(ask)
    }

    fn is_main_or_started(&self, ti: usize) -> bool {
        self.threads[ti].interrupts.is_none()
    }

    fn taken_twice(&mut self, ti: usize, lock: u64, pc: u32) -> Flow {
        if Self::is_certain(lock) && !self.threads[ti].vague {
            self.report_lock(Kind::DoubleLock, AccessOp::Lock, ti, lock, pc, false);
        }
        // A real thread would block here forever.
        self.end = Some(RunEnd::Crashed);
        Flow::Done(BUSY)
    }

    /// Tells the next thread that takes a robust lock that its owner has ended.
    fn abandon_robust(&mut self, ti: usize) {
        for held in self.threads[ti].held.clone() {
            if let Some(o) = self.objects.get_mut(&held.lock).filter(|o| o.robust) {
                o.abandoned = true;
                self.give_up(ti, held.lock);
            }
        }
    }

    /// Reports the locks that a thread still holds when it ends.
    pub(super) fn look_for_leaks(&mut self, ti: usize) {
        self.abandon_robust(ti);
        let t = &self.threads[ti];
        if t.vague || t.cancelled || t.interrupts.is_some() {
            return;
        }
        for held in t.held.clone() {
            // If a lock is handed to another thread like a semaphore, it is unlocked and reported
            // there. A lock that was initialised again was reported when it was released.
            let again = self.objects.get(&held.lock).is_some_and(|o| o.initialised_again.is_some());
            let is_callers = self.objects.get(&held.lock).is_some_and(|o| o.is_callers);
            // What frees the object that a lock is part of ends the lock.
            let is_gone = self.memory.block(held.lock).is_some_and(|b| b.freed);
            if Self::is_certain(held.lock) && !again && !is_callers && !is_gone {
                self.report_leak(ti, held);
            }
        }
    }
}
