//! Conditions, semaphores, barriers, once.

use super::Machine;
use super::sync::{Flow, OnceState};
use super::thread::{State, WaitPhase};
use super::value::{is_unknown, number};

/// Stands among a thread's held locks for a barrier that code outside the run initialised, and that
/// let the thread through. What follows may be ordered by it, so findings about it are guesses.
pub(super) const PASSED_BARRIER: u64 = super::value::unknown(0xBA44_1E44);

/// The same for a join of an unknown handle, while the thread has several threads that it can mean.
pub(super) const PASSED_JOIN: u64 = super::value::unknown(0x4A01_4E44);

/// Whether what a thread does may be ordered by something that it has passed, and not by a lock.
pub(super) fn is_passage(held: u64) -> bool {
    held == PASSED_BARRIER || held == PASSED_JOIN
}

impl Machine<'_> {
    /// Waits for a notification: releases the lock, waits, takes the lock again.
    pub(super) fn wait(&mut self, ti: usize, condition: u64, lock: u64, timed: bool, pc: u32) -> Flow {
        match self.threads[ti].wait {
            WaitPhase::None => {
                if self.objects.get(&lock).and_then(|o| o.owner) == Some(ti) {
                    self.give_up(ti, lock);
                }
                self.objects.entry(condition).or_default().waiting.push(ti);
                self.threads[ti].wait = WaitPhase::Waiting;
                Flow::Block(State::Condition { condition, timed })
            }
            WaitPhase::Waiting => Flow::Block(State::Condition { condition, timed }),
            phase @ (WaitPhase::Notified | WaitPhase::TimedOut) => match self.lock(ti, lock, false, pc) {
                Flow::Done(_) => {
                    self.threads[ti].wait = WaitPhase::None;
                    if phase == WaitPhase::Notified {
                        self.acquire(ti, condition);
                    }
                    Flow::Done(u64::from(phase == WaitPhase::TimedOut))
                }
                blocked => blocked,
            },
        }
    }

    /// Wakes one random waiter, or all.
    pub(super) fn notify(&mut self, ti: usize, condition: u64, all: bool) -> Flow {
        self.release(ti, condition);
        let waiting = self.objects.get(&condition).map_or(0, |o| o.waiting.len());
        let count = if all { waiting } else { waiting.min(1) };
        for _ in 0..count {
            let i =
                self.rng.below(self.objects.get(&condition).map_or(0, |o| o.waiting.len()) as u64) as usize;
            let Some(o) = self.objects.get_mut(&condition) else { break };
            let woken = o.waiting.swap_remove(i);
            self.threads[woken].wait = WaitPhase::Notified;
            self.threads[woken].state = State::Runnable;
            self.note(woken, condition);
        }
        Flow::Done(0)
    }

    pub(super) fn sem_init(&mut self, semaphore: u64, count: u64) -> Flow {
        let o = self.objects.entry(semaphore).or_default();
        // An unknown count lets everybody in.
        o.count = if is_unknown(count) { 1 << 30 } else { count as u32 as i64 };
        o.initialised = true;
        Flow::Done(0)
    }

    fn sem_take(&mut self, ti: usize, semaphore: u64) -> bool {
        // A semaphore that was not initialised here has an unknown count.
        let o = self.objects.entry(semaphore).or_default();
        if !o.initialised {
            o.count = 1 << 30;
            o.initialised = true;
        }
        if o.count <= 0 {
            return false;
        }
        o.count -= 1;
        o.takers.push(ti);
        self.acquire(ti, semaphore);
        self.note(ti, semaphore);
        true
    }

    pub(super) fn sem_wait(&mut self, ti: usize, semaphore: u64, timed: bool) -> Flow {
        if self.sem_take(ti, semaphore) {
            return Flow::Done(0);
        }
        if timed && self.threads[ti].expired {
            return Flow::Done(1);
        }
        Flow::Block(State::Semaphore { semaphore, timed })
    }

    pub(super) fn sem_try_wait(&mut self, ti: usize, semaphore: u64) -> Flow {
        Flow::Done(u64::from(!self.sem_take(ti, semaphore)))
    }

    pub(super) fn sem_post(&mut self, ti: usize, semaphore: u64) -> Flow {
        self.release(ti, semaphore);
        let o = self.objects.entry(semaphore).or_default();
        o.initialised = true;
        o.count += 1;
        if let Some(i) = o.takers.iter().position(|t| *t == ti) {
            o.takers.swap_remove(i);
        } else {
            o.takers.pop();
        }
        self.wake_waiters(semaphore);
        Flow::Done(0)
    }

    pub(super) fn barrier_init(&mut self, barrier: u64, count: u64) -> Flow {
        let o = self.objects.entry(barrier).or_default();
        (o.count, o.unknown_count) = match is_unknown(count) {
            true => (1, Some(number(count))),
            false => (count as u32 as i64, None),
        };
        o.initialised = true;
        Flow::Done(0)
    }

    pub(super) fn barrier_wait(&mut self, ti: usize, barrier: u64, pc: u32) -> Flow {
        if self.threads[ti].wait == WaitPhase::Notified {
            self.threads[ti].wait = WaitPhase::None;
            self.acquire(ti, barrier);
            return Flow::Done(0);
        }
        let o = self.objects.entry(barrier).or_default();
        if !o.initialised {
            // Code that was not run may have initialised it. How many it is for nobody knows.
            if self.is_state_unknown() {
                self.pass_barrier(ti, pc);
            }
            return Flow::Done(0);
        }
        if o.waiting.contains(&ti) {
            return Flow::Block(State::Barrier { barrier });
        }
        o.waiting.push(ti);
        // An unknown number agrees with what the loops that start threads have assumed so far.
        if let Some(count) = o.unknown_count {
            let count = self.witness.value_of(count);
            self.approximate = true;
            self.objects.entry(barrier).or_default().count = count as u32 as i64;
        }
        let complete = self.objects.get(&barrier).is_none_or(|o| o.waiting.len() as i64 >= o.count);
        self.release(ti, barrier);
        if !complete {
            return Flow::Block(State::Barrier { barrier });
        }
        // The last thread to arrive releases the others.
        let waiting =
            self.objects.get_mut(&barrier).map(|o| std::mem::take(&mut o.waiting)).unwrap_or_default();
        for w in waiting.into_iter().filter(|w| *w != ti) {
            self.threads[w].wait = WaitPhase::Notified;
            self.threads[w].state = State::Runnable;
        }
        self.acquire(ti, barrier);
        Flow::Done(1)
    }

    pub(super) fn once(&mut self, ti: usize, once: u64, function: u64, pc: u32) -> Flow {
        let state = self.objects.entry(once).or_default().once;
        match state {
            OnceState::Done => {
                self.acquire(ti, once);
                Flow::Done(0)
            }
            OnceState::Running(who) if who == ti => {
                // The function has returned.
                self.release(ti, once);
                self.objects.entry(once).or_default().once = OnceState::Done;
                self.wake_waiters(once);
                Flow::Done(0)
            }
            OnceState::Running(_) => Flow::Block(State::Once { once }),
            OnceState::Never => {
                self.objects.entry(once).or_default().once = OnceState::Running(ti);
                match self.program.function_at(function) {
                    Some(f) if self.call_back(ti, f, &[], pc) => Flow::Elsewhere,
                    _ => {
                        self.objects.entry(once).or_default().once = OnceState::Done;
                        Flow::Done(0)
                    }
                }
            }
        }
    }

    /// The once function has thrown; it is not retried. Its operands are on the stack.
    pub(super) fn once_failed(&mut self, ti: usize) {
        let stack = &self.threads[ti].stack;
        let Some(once) = stack.len().checked_sub(2).map(|i| stack[i]) else { return };
        self.release(ti, once);
        self.objects.entry(once).or_default().once = OnceState::Done;
        self.wake_waiters(once);
    }

    pub(super) fn sleep(&mut self, ti: usize) -> Flow {
        // The first time the thread goes to sleep, the second time it has woken.
        let t = &mut self.threads[ti];
        if t.wait == WaitPhase::Waiting {
            t.wait = WaitPhase::None;
            return Flow::Done(0);
        }
        if self.threads.len() == 1 && self.interrupts.is_empty() {
            self.idle_wakes = 0;
            return Flow::Done(0);
        }
        self.gave_way(ti);
        self.threads[ti].wait = WaitPhase::Waiting;
        Flow::Block(State::Sleeping)
    }

    pub(super) fn pause(&mut self, ti: usize) -> Flow {
        let t = &mut self.threads[ti];
        if t.wait == WaitPhase::Waiting {
            t.wait = WaitPhase::None;
            return Flow::Done(0);
        }
        t.wait = WaitPhase::Waiting;
        Flow::Block(State::Pausing)
    }
}
