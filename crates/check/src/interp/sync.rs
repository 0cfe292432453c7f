//! Synchronisation operations: operands, results, and dispatch.
//!
//! A blocking operation leaves its operands on the stack and the thread's `pc` on itself. When the
//! thread is woken, it simply retries the operation. So each operation's rule has one place, and
//! spurious wakes are harmless.

use super::Machine;
use super::clock::SimulatedClock;
use super::thread::{State, WaitPhase};
use super::value::is_unknown;
use crate::ir::SyncOp;

/// A synchronisation object, with the state of locks, conditions, semaphores, barriers and once.
#[derive(Debug, Default)]
pub struct SyncObject {
    /// The exclusive owner, and its lock depth.
    pub owner: Option<usize>,
    pub depth: u32,
    /// The threads that hold it for reading.
    pub readers: Vec<usize>,
    /// What the last release (of the writing side) published.
    pub clock: SimulatedClock,
    /// What the releases of readers published.
    pub read_clock: SimulatedClock,
    pub count: i64,
    /// The unknown number of threads that a barrier is for.
    pub unknown_count: Option<u32>,
    /// Threads waiting for a notification or at a barrier.
    pub waiting: Vec<usize>,
    pub recursive: bool,
    /// Errors are returned to the program, which handles them.
    pub checked: bool,
    pub once: OnceState,
    /// Its owner may end while holding it …
    pub robust: bool,
    /// … and the last one did.
    pub abandoned: bool,
    /// The thread and the place that initialised it while another held it.
    pub initialised_again: Option<(usize, u32, super::context::ContextId)>,
    /// The first thread has taken it in this run.
    pub taken_by_first: bool,
    /// The run has initialised or taken it, so its state is known.
    pub is_state_known: bool,
    /// The callers of the entry hold it.
    pub is_callers: bool,
    /// The owner under which another thread released it.
    pub released_under: Option<usize>,
    /// The program initialised it; otherwise it was merely found.
    pub initialised: bool,
    /// Threads that took from a semaphore and have not given back.
    pub takers: Vec<usize>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum OnceState {
    #[default]
    Never,
    Running(usize),
    Done,
}

/// The outcome of an operation.
pub(super) enum Flow {
    /// It is done, with this result.
    Done(u64),
    /// The thread waits and will retry the operation.
    Block(State),
    /// The operation has arranged for the thread to continue elsewhere.
    Elsewhere,
}

impl Machine<'_> {
    /// Tries an operation. False ends the thread's turn.
    pub(super) fn sync(&mut self, ti: usize, op: SyncOp, pc: u32) -> bool {
        self.forget_elsewhere(ti);
        let arity = op.arity() as usize;
        let n = self.threads[ti].stack.len();
        let mut operands = [0u64; 4];
        operands[..arity].copy_from_slice(&self.threads[ti].stack[n - arity..]);
        let flow = match self.cancel_here(ti, op, &operands, pc) {
            Some(flow) => flow,
            None => self.perform(ti, op, &operands, pc),
        };
        match flow {
            Flow::Done(v) => {
                let t = &mut self.threads[ti];
                t.stack.truncate(n - arity);
                t.stack.push(v);
                t.expired = false;
                self.idle_wakes = match op {
                    SyncOp::Sleep | SyncOp::Yield | SyncOp::Pause => self.idle_wakes,
                    _ => 0,
                };
                // A start ends the turn, too, because turns are long while there is one thread.
                let give_way = matches!(
                    op,
                    SyncOp::Yield
                        | SyncOp::Sleep
                        | SyncOp::Start
                        | SyncOp::StartMember
                        | SyncOp::TimerStart
                        | SyncOp::Interrupt
                );
                self.end.is_none()
                    && self.threads[ti].state == State::Runnable
                    && !give_way
                    && !self.switch_at_sync()
            }
            Flow::Block(state) => {
                let t = &mut self.threads[ti];
                t.state = state;
                t.pc = pc;
                self.look_for_deadlock(ti);
                false
            }
            Flow::Elsewhere => false,
        }
    }

    fn perform(&mut self, ti: usize, op: SyncOp, operands: &[u64; 4], pc: u32) -> Flow {
        let a = operands[0];
        match op {
            SyncOp::Start => self.start(ti, a, operands[1], pc, (0, 1)),
            SyncOp::StartMember => self.start(ti, a, operands[1], pc, (operands[2], operands[3])),
            SyncOp::Join => self.join(ti, a),
            SyncOp::TryJoin => self.try_join(ti, a),
            SyncOp::Detach => Flow::Done(0),
            SyncOp::Cancel => self.cancel(a, operands[1]),
            SyncOp::ExitThread => self.exit_thread(ti, a),
            SyncOp::ExitProcess => {
                self.end = Some(super::RunEnd::Finished);
                Flow::Done(0)
            }
            SyncOp::Current => Flow::Done(super::lifecycle::handle(self.identity(ti))),
            SyncOp::TeamId => Flow::Done(self.threads[ti].member.0),
            SyncOp::TeamSize => Flow::Done(self.threads[ti].member.1),
            SyncOp::LockInit => self.lock_init(ti, a, operands[1], pc),
            SyncOp::LockStatic => self.lock_static(a, operands[1]),
            SyncOp::LockDestroy => self.lock_destroy(a),
            SyncOp::Lock | SyncOp::TimedLock => self.lock(ti, a, op == SyncOp::TimedLock, pc),
            SyncOp::TryLock => self.try_lock(ti, a, pc),
            SyncOp::Unlock => self.unlock(ti, a, pc),
            SyncOp::ReadLock | SyncOp::TimedReadLock => {
                self.read_lock(ti, a, op == SyncOp::TimedReadLock, pc)
            }
            SyncOp::TryReadLock => self.try_read_lock(ti, a, pc),
            SyncOp::WriteLock | SyncOp::TimedWriteLock => self.lock(ti, a, op == SyncOp::TimedWriteLock, pc),
            SyncOp::TryWriteLock => self.try_lock(ti, a, pc),
            SyncOp::RwUnlock => self.rw_unlock(ti, a, pc),
            SyncOp::Wait | SyncOp::TimedWait => self.wait(ti, a, operands[1], op == SyncOp::TimedWait, pc),
            SyncOp::NotifyOne => self.notify(ti, a, false),
            SyncOp::NotifyAll => self.notify(ti, a, true),
            SyncOp::SemInit => self.sem_init(a, operands[1]),
            SyncOp::SemWait | SyncOp::SemTimedWait => self.sem_wait(ti, a, op == SyncOp::SemTimedWait),
            SyncOp::SemTryWait => self.sem_try_wait(ti, a),
            SyncOp::SemPost => self.sem_post(ti, a),
            SyncOp::SemValue => Flow::Done(self.objects.get(&a).map_or(0, |o| o.count as u64)),
            SyncOp::BarrierInit => self.barrier_init(a, operands[1]),
            SyncOp::BarrierWait => self.barrier_wait(ti, a, pc),
            SyncOp::Once => self.once(ti, a, operands[1], pc),
            SyncOp::Yield => {
                self.gave_way(ti);
                Flow::Done(0)
            }
            SyncOp::Sleep => self.sleep(ti),
            SyncOp::Pause => self.pause(ti),
            SyncOp::KeyCreate => {
                self.destructors.push(a);
                Flow::Done(self.destructors.len() as u64 - 1)
            }
            SyncOp::KeyGet => Flow::Done(self.key_get(ti, a)),
            SyncOp::KeySet => self.key_set(ti, a, operands[1]),
            SyncOp::Interrupt => self.interrupt_on(ti, a, operands[1]),
            SyncOp::SetMask => Flow::Done(self.set_mask(ti, a)),
            SyncOp::SetJump => self.set_jump(ti, a, pc),
            SyncOp::Jump => self.jump(ti, a, operands[1]),
            SyncOp::GetMask => Flow::Done(self.threads[ti].mask),
            SyncOp::InterruptOff => {
                if let Some(by) = self.interrupt_for_the_last_time(ti, a) {
                    return Flow::Block(State::Interrupted { by });
                }
                self.interrupt_off(ti, a);
                Flow::Done(0)
            }
            SyncOp::Publish => {
                self.release(ti, a);
                Flow::Done(0)
            }
            SyncOp::Learn => {
                self.acquire(ti, a);
                Flow::Done(0)
            }
            SyncOp::Benign => {
                self.benign.push((a, a.saturating_add(operands[1])));
                Flow::Done(0)
            }
            SyncOp::Ignore => {
                let ignores = &mut self.threads[ti].ignores[usize::from(a != 0)];
                *ignores = ignores.saturating_add_signed((operands[1] as i64).clamp(-1, 1) as i32);
                Flow::Done(0)
            }
            SyncOp::TimerStart => self.timer_start(ti, operands, pc),
            SyncOp::TimerStop => {
                self.timer_stop(a);
                Flow::Done(0)
            }
            SyncOp::TimerEnd => {
                self.timer_end(ti, a);
                Flow::Done(0)
            }
        }
    }

    /// Cancels a thread at a cancellation point. A thread that waits for a condition first takes
    /// its lock again.
    fn cancel_here(&mut self, ti: usize, op: SyncOp, operands: &[u64; 4], pc: u32) -> Option<Flow> {
        let t = &mut self.threads[ti];
        if t.on_cancel == 0 || !op.is_cancellation_point() {
            return None;
        }
        let waiting = matches!(op, SyncOp::Wait | SyncOp::TimedWait) && t.wait != WaitPhase::None;
        if waiting {
            t.wait = WaitPhase::TimedOut;
            let flow = self.perform(ti, op, operands, pc);
            if !matches!(flow, Flow::Done(_)) {
                return Some(flow);
            }
        }
        let function = std::mem::take(&mut self.threads[ti].on_cancel);
        self.threads[ti].wait = WaitPhase::None;
        let f = self.program.function_at(function)?;
        self.call_back(ti, f, &[0], pc).then_some(Flow::Elsewhere)
    }

    /// Joins the clock published to an object into a thread's clock.
    pub(super) fn acquire(&mut self, ti: usize, object: u64) {
        if let Some(o) = self.objects.get(&object) {
            self.threads[ti].clock.join(&o.clock);
        }
    }

    /// Publishes a thread's clock to an object, and advances the thread's time.
    pub(super) fn release(&mut self, ti: usize, object: u64) {
        let o = self.objects.entry(object).or_default();
        o.clock.join(&self.threads[ti].clock);
        self.threads[ti].clock.tick(ti);
    }

    /// Wakes all threads that wait on an object. They retry their operations.
    pub(super) fn wake_waiters(&mut self, object: u64) {
        for t in &mut self.threads {
            let waits = match t.state {
                State::Lock { lock, .. } => lock == object,
                State::Semaphore { semaphore, .. } => semaphore == object,
                State::Once { once } => once == object,
                _ => false,
            };
            if waits {
                t.state = State::Runnable;
            }
        }
    }

    /// An object at an unknown or null address is not worth a finding.
    pub(super) fn is_certain(object: u64) -> bool {
        !is_unknown(object) && object >= 16
    }
}
