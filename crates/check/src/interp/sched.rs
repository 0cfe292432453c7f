//! Which thread runs next, and for how long.
//!
//! Each run has a strategy, chosen by its seed. All of them are random; they differ in what they
//! make likely:
//!
//! - [`ScheduleKind::Random`]: any thread, for a random number of steps around a mean. Short means
//!   interleave accesses, long ones let threads meet only at synchronisation.
//! - [`ScheduleKind::Priority`]: the thread with the highest priority. Priorities change at a few
//!   random steps (PCT; Burckhardt and others, ASPLOS 2010). This reaches orders in which one
//!   thread is far ahead of the others.
//! - [`ScheduleKind::HoldAndWait`]: a thread that holds a lock and asks for another goes last.
//!   Every thread that can hold one lock of a cycle comes to hold it, so a possible deadlock
//!   happens soon.
//!
//! In all strategies a turn often ends at an instruction that was an end of a race in an earlier
//! run, and the thread may be delayed there. If the effect depends on the value read (a
//! notification that comes too early), the switch has to be exactly there.

use super::thread::State;
use super::{Machine, RunEnd, XorShift};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ScheduleKind {
    #[default]
    Random,
    Priority,
    HoldAndWait,
}

#[derive(Debug, Clone, Default)]
pub struct SwitchStrategy {
    pub kind: ScheduleKind,
    /// The mean number of steps between switches.
    mean: u64,
    /// One synchronisation in this many ends a thread's turn.
    sync_switch: u64,
    /// For the priority strategy: each thread's priority, and the steps at which the running thread
    /// falls to the bottom.
    priorities: Vec<u64>,
    drops: Vec<u64>,
}

impl SwitchStrategy {
    pub fn choose(seed: u64, rng: &mut XorShift) -> Self {
        let kind = match seed % 4 {
            0 | 2 => ScheduleKind::Random,
            1 => ScheduleKind::HoldAndWait,
            _ => ScheduleKind::Priority,
        };
        let mean = [4, 16, 64, 300, 2000][rng.below(5) as usize];
        let sync_switch = [1, 2, 3, 8][rng.below(4) as usize];
        let drops = (0..3).map(|_| rng.below(4000)).collect();
        Self { kind, mean, sync_switch, priorities: Vec::new(), drops }
    }
}

/// The number of consecutive wakes of sleeping threads, with nothing else to run, that ends a run.
const IDLE: u32 = 60;

impl Machine<'_> {
    /// The next thread and the number of its steps. `None` if nothing can run.
    pub(super) fn pick(&mut self) -> Option<(usize, u64)> {
        self.maybe_interrupt();
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        let held_back = if self.steps < self.delayed.1 { self.delayed.0 } else { usize::MAX };
        let runnable = |t: &usize| self.threads[*t].state == State::Runnable;
        ready.extend((0..self.threads.len()).filter(|t| runnable(t) && *t != held_back));
        if ready.is_empty() {
            ready.extend((0..self.threads.len()).filter(runnable));
        }
        let picked = self.pick_from(&ready);
        self.ready = ready;
        picked
    }

    fn pick_from(&mut self, candidates: &[usize]) -> Option<(usize, u64)> {
        let fuel = 1 + self.rng.below(self.strategy.mean * 2);
        match candidates {
            [] => None,
            [only] => {
                // Sleepers and timed waiters wake as others make progress.
                self.wake_somebody();
                let alone = self.threads.len() == 1 && self.interrupts.is_empty();
                Some((*only, if alone { 1 << 16 } else { fuel }))
            }
            _ => {
                let chosen = match self.strategy.kind {
                    ScheduleKind::Random => candidates[self.rng.below(candidates.len() as u64) as usize],
                    ScheduleKind::HoldAndWait => self.least_greedy(candidates),
                    ScheduleKind::Priority => self.most_urgent(candidates),
                };
                if self.rng.below(8) == 0 {
                    self.wake_somebody();
                }
                Some((chosen, fuel))
            }
        }
    }

    /// Any thread, but one that is about to wait while holding a lock only if there is no other.
    fn least_greedy(&mut self, candidates: &[usize]) -> usize {
        let others: Vec<usize> = candidates.iter().copied().filter(|t| !self.is_greedy(*t)).collect();
        let from = if others.is_empty() { candidates } else { &others };
        from[self.rng.below(from.len() as u64) as usize]
    }

    fn is_greedy(&self, thread: usize) -> bool {
        use crate::ir::{Instr, SyncOp};
        let t = &self.threads[thread];
        let next = self.program.code.get(t.pc as usize);
        let asks = matches!(
            next,
            Some(Instr::Sync(SyncOp::Lock | SyncOp::ReadLock | SyncOp::WriteLock | SyncOp::SemWait))
        );
        asks && !t.held.is_empty()
    }

    fn most_urgent(&mut self, candidates: &[usize]) -> usize {
        while self.strategy.priorities.len() < self.threads.len() {
            let p = 1000 + self.rng.below(1 << 20);
            self.strategy.priorities.push(p);
        }
        let best = |s: &SwitchStrategy| {
            candidates.iter().copied().max_by_key(|t| s.priorities[*t]).unwrap_or(candidates[0])
        };
        let chosen = best(&self.strategy);
        let steps = self.steps;
        if self.strategy.drops.iter().any(|d| *d <= steps) {
            self.strategy.drops.retain(|d| *d > steps);
            self.strategy.priorities[chosen] = self.strategy.drops.len() as u64;
            return best(&self.strategy);
        }
        chosen
    }

    /// Whether a thread's turn ends at this synchronisation.
    pub(super) fn switch_at_sync(&mut self) -> bool {
        self.threads.len() > 1 && self.rng.below(self.strategy.sync_switch) == 0
    }

    /// At an instruction that was an end of a race: occasionally stops the thread there for a
    /// while. What the others do meanwhile then decides the effect of the value it has just read or
    /// written.
    pub(super) fn at_hot_access(&mut self, thread: usize) {
        self.interrupt_soon = !self.interrupts.is_empty();
        match self.rng.below(4) {
            0 => self.turn_over = true,
            1 => {
                self.turn_over = true;
                self.delayed = (thread, self.steps + self.rng.below(1000));
            }
            _ => {}
        }
    }

    /// A spinning thread must not keep the processor, so its priority falls.
    pub(super) fn gave_way(&mut self, thread: usize) {
        if let Some(p) = self.strategy.priorities.get_mut(thread) {
            *p = self.rng.below(1000);
        }
    }

    /// Lets one sleeping or timed thread continue, if there is one.
    pub(super) fn wake_somebody(&mut self) -> bool {
        let waiting: Vec<usize> = (0..self.threads.len()).filter(|t| self.can_time_out(*t)).collect();
        if waiting.is_empty() {
            return false;
        }
        let t = waiting[self.rng.below(waiting.len() as u64) as usize];
        self.time_out(t);
        true
    }

    fn can_time_out(&self, thread: usize) -> bool {
        match self.threads[thread].state {
            State::Sleeping | State::Pausing => true,
            State::Lock { timed, .. } | State::Condition { timed, .. } | State::Semaphore { timed, .. } => {
                timed
            }
            _ => false,
        }
    }

    fn time_out(&mut self, thread: usize) {
        let t = &mut self.threads[thread];
        if let State::Condition { condition, .. } = t.state {
            t.wait = super::thread::WaitPhase::TimedOut;
            if let Some(o) = self.objects.get_mut(&condition) {
                o.waiting.retain(|w| *w != thread);
            }
        } else {
            t.expired = !matches!(t.state, State::Sleeping | State::Pausing);
        }
        self.threads[thread].state = State::Runnable;
    }

    /// No thread is runnable: either time passes, or the run is stuck.
    pub(super) fn nothing_runs(&mut self) {
        self.idle_wakes += 1;
        if self.idle_wakes < IDLE && self.wake_somebody() {
            return;
        }
        if self.idle_wakes < IDLE && self.deliver_interrupt_to_waiter() {
            return;
        }
        let timed = (0..self.threads.len()).any(|t| self.can_time_out(t));
        if !timed {
            self.report_stuck();
        }
        self.end = Some(RunEnd::Stuck);
    }

    /// Randomly decides whether an interrupt comes at this switch.
    pub(super) fn interrupt_now(&mut self) -> bool {
        self.rng.below(self.interrupt_chance) == 0
    }
}
