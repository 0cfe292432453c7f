//! Waiting for a task or an event: an object with a field that says that it is done, and a field
//! that names the thread that will complete it.
//!
//! If a function awaits a task that is not done, it gives its caller a task of its own and
//! continues later, on any thread. Here it continues on a simulated thread that it gets at that
//! moment: its frame, and no other, moves there.

use super::Machine;
use super::clock::MOST_THREADS;
use super::lifecycle::{handle, of_handle};
use super::thread::{SimulatedThread, State, WaitPhase};
use super::value::is_unknown;
use crate::ir::Scalar;

impl Machine<'_> {
    fn named_word(&self, object: u64, name: u32) -> Option<u64> {
        let class = self.class_of(object)?;
        let slot = self.program.classes.all[class as usize].fields.get(&name)?;
        let at = self.memory.index(object + u64::from(slot.offset), 8).ok()?;
        Some(self.memory.load(at, Scalar::U64))
    }

    fn is_done(&self, object: u64) -> bool {
        match self.named_word(object, self.program.classes.done) {
            Some(v) => is_unknown(v) || v != 0,
            // An object that is neither a task nor an event cannot be waited for.
            None => true,
        }
    }

    /// Makes a thread wait for an object that is not done.
    fn wait_for(&mut self, ti: usize, pc: u32, object: u64, timed: bool) -> bool {
        let by = self.named_word(object, self.program.classes.handle).and_then(of_handle);
        match by.filter(|t| !timed && *t != ti && *t < self.threads.len() && !self.threads[*t].ended()) {
            Some(thread) => self.block_here(ti, pc, State::Join { thread }),
            None => {
                let o = self.objects.entry(object).or_default();
                if !o.waiting.contains(&ti) {
                    o.waiting.push(ti);
                }
                self.block_here(ti, pc, State::Condition { condition: object, timed })
            }
        }
    }

    /// Awaits the task on the stack, which stays there.
    pub(super) fn await_task(&mut self, ti: usize, pc: u32, slot: u16) -> bool {
        let task = self.threads[ti].top();
        if task == 0 {
            self.pop(ti);
            return self.null(ti, pc);
        }
        let alone = self.threads[ti].frames.len() == 1;
        self.threads[ti].wait = WaitPhase::None;
        if is_unknown(task) {
            // Half of the unknown tasks are done at once.
            self.approximate = true;
            self.gave_way(ti);
            if slot != u16::MAX && !alone && self.rng.below(2) == 0 {
                return self.go_on_elsewhere(ti, pc, slot);
            }
            return true;
        }
        if self.is_done(task) {
            self.acquire(ti, task);
            self.note(ti, task);
            return !self.switch_at_sync();
        }
        if slot != u16::MAX && !alone {
            return self.go_on_elsewhere(ti, pc, slot);
        }
        self.wait_for(ti, pc, task, false)
    }

    pub(super) fn await_timed(&mut self, ti: usize, pc: u32) -> bool {
        let object = self.threads[ti].top();
        let expired = std::mem::take(&mut self.threads[ti].wait) == WaitPhase::TimedOut;
        let done = is_unknown(object) || self.is_done(object);
        if done || expired {
            self.pop(ti);
            self.acquire(ti, object);
            let v = if is_unknown(object) { self.fresh_unknown() } else { u64::from(done) };
            self.push(ti, v);
            return !self.switch_at_sync();
        }
        self.wait_for(ti, pc, object, true)
    }

    /// Moves the innermost frame to a new thread. Its caller gets the task in the frame's local.
    fn go_on_elsewhere(&mut self, ti: usize, pc: u32, slot: u16) -> bool {
        let new = self.threads.len();
        if new > self.bounds.threads || new >= MOST_THREADS {
            self.end = Some(super::RunEnd::Memory);
            return false;
        }
        let context = self.context(ti);
        let own = self.threads[ti].local(slot);
        let Some(mut frame) = self.threads[ti].frames.pop() else { return false };
        let mut t = SimulatedThread::new(frame.function, Some(ti));
        t.stack = self.threads[ti].stack.split_off(frame.base as usize);
        t.clock.assign(&self.threads[ti].clock);
        t.clock.tick(new);
        (t.started_at, t.started_in, t.pc) = (pc, context, pc);
        t.tls = self.threads[ti].tls;
        let back = &mut self.threads[ti];
        back.pc = frame.return_pc;
        if !frame.discard {
            back.push(own);
        }
        back.clock.tick(ti);
        (frame.base, frame.return_pc, frame.discard) = (0, u32::MAX, false);
        t.frames.push(frame);
        self.threads.push(t);
        self.watching = true;
        if let Some(class) = self.class_of(own) {
            let name = self.program.classes.handle;
            if let Some(slot) = self.program.classes.all[class as usize].fields.get(&name).copied() {
                self.set_word(own, slot.offset, handle(new));
            }
        }
        self.note(ti, 3);
        false
    }
}
