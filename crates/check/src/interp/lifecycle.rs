//! The start and end of threads, interrupts by handlers, ticks of timers, and the destruction of
//! thread-specific values.

use super::clock::{MOST_THREADS, SimulatedClock};
use super::sync::Flow;
use super::thread::{SimulatedThread, State};
use super::value::is_unknown;
use super::{Machine, RunEnd};

/// The number of ticks of a periodic timer in one run.
const TICKS: u8 = 3;
/// Rounds of destructors at the end of a thread, as in POSIX.
const DESTRUCTOR_ROUNDS: u8 = 4;

/// A function that may interrupt any thread.
#[derive(Debug)]
pub(super) struct InterruptSource {
    pub function: u64,
    pub argument: u64,
    /// The clock of the thread that set it up.
    pub clock: SimulatedClock,
}

/// The value that identifies a thread in the program.
pub(super) fn handle(thread: usize) -> u64 {
    0x7000_0000 + thread as u64 * 0x1000
}

pub(super) fn of_handle(handle: u64) -> Option<usize> {
    let offset = handle.checked_sub(0x7000_0000)?;
    (offset % 0x1000 == 0).then_some((offset / 0x1000) as usize)
}

impl Machine<'_> {
    pub(super) fn start_main(&mut self, function: u32) {
        let mut t = SimulatedThread::new(function, None);
        t.clock.tick(0);
        self.threads.push(t);
        self.give_tls(0);
        let params = self.program.functions[function as usize].params as usize;
        let objects = self.program.functions[function as usize].param_objects.clone();
        let skip = params - objects.len().min(params);
        self.entry_arguments.clear();
        for i in 0..params {
            let size = i.checked_sub(skip).and_then(|i| objects.get(i)).copied().unwrap_or(0);
            let v = self.entry_argument(size);
            self.entry_arguments.push(v);
            self.push(0, v);
        }
        self.call(0, function, params, u32::MAX - 1);
    }

    /// An entry's parameter: a fresh object behind a pointer to a record, else unknown.
    fn entry_argument(&mut self, size: u32) -> u64 {
        if size > 0 {
            let block =
                super::memory::Block { address: 0, size, freed: false, thread: 0, pc: u32::MAX, context: 1 };
            if let Some(address) = self.memory.allocate(u64::from(size), false, block) {
                let start = u64::from(address);
                self.arguments.push((start, start + u64::from(size)));
                return start;
            }
        }
        self.fresh_unknown()
    }

    fn give_tls(&mut self, ti: usize) {
        let size = self.program.tls.len() as u32;
        if size == 0 {
            return;
        }
        let Some(address) = self.memory.allocate_frame(size) else { return };
        let program = self.program;
        if let Ok(at) = self.memory.index(u64::from(address), u64::from(size)) {
            for (i, b) in program.tls.iter().enumerate() {
                self.memory.store(at + i, crate::ir::Scalar::U8, u64::from(*b));
            }
        }
        self.threads[ti].tls = address;
    }

    /// To the program, a handler is the thread on whose stack it runs.
    pub(super) fn identity(&self, ti: usize) -> usize {
        self.threads[ti].interrupts.unwrap_or(ti)
    }

    pub(super) fn start(
        &mut self,
        ti: usize,
        function: u64,
        argument: u64,
        pc: u32,
        member: (u64, u64),
    ) -> Flow {
        self.note_start(ti, argument, pc);
        let defined =
            self.program.function_at(function).filter(|f| self.program.functions[*f as usize].defined);
        let Some(f) = defined.filter(|_| !is_unknown(function)) else {
            // Section 3.5: the start of an unknown function is ignored.
            self.forget_behind(ti, argument, u64::MAX);
            let v = self.fresh_unknown();
            return Flow::Done(v);
        };
        match self.new_thread(ti, f, argument, pc) {
            Some(new) => {
                self.threads[new].member = member;
                self.note(ti, 1);
                Flow::Done(handle(new))
            }
            None => Flow::Done(self.fresh_unknown()),
        }
    }

    /// Records the place in the program's own code that starts a thread.
    fn note_start(&mut self, ti: usize, argument: u64, pc: u32) {
        let program = self.program;
        let is_own = |pc: &u32| {
            program.pos_of.get(*pc as usize).is_some_and(|pos| pos.line > 0 && !program.is_builtin(*pos))
        };
        let frames = self.threads[ti].frames.iter().rev();
        let own = [pc].into_iter().chain(frames.map(|f| f.return_pc.wrapping_sub(1))).find(is_own);
        self.knowledge.started.extend(own);
        if !is_unknown(argument) {
            self.knowledge.started_with_known.extend(own);
        }
    }

    /// Creates a thread that begins with a call and inherits its parent's clock.
    fn new_thread(&mut self, parent: usize, f: u32, argument: u64, pc: u32) -> Option<usize> {
        let new = self.threads.len();
        if new > self.bounds.threads || new >= MOST_THREADS {
            // Few programs handle a failed start. What the others would then do wrong does not
            // happen in practice.
            self.end = Some(RunEnd::Memory);
            return None;
        }
        let context = self.context(parent);
        let mut t = SimulatedThread::new(f, Some(parent));
        t.clock.assign(&self.threads[parent].clock);
        t.clock.tick(new);
        t.started_at = pc;
        t.started_in = context;
        t.mask = self.threads[parent].mask;
        t.argument = argument;
        self.threads.push(t);
        self.threads[parent].clock.tick(parent);
        self.watching = true;
        self.give_tls(new);
        self.push(new, argument);
        self.call(new, f, 1, u32::MAX - 1);
        Some(new)
    }

    pub(super) fn join(&mut self, ti: usize, handle: u64) -> Flow {
        // What a handle was before counts only if it was one: the unknown function may have set it.
        let before = self.as_before(handle);
        let named = of_handle(before).filter(|t| *t < self.threads.len());
        if named.is_none() && is_unknown(handle) {
            return self.join_any(ti);
        }
        let Some(target) = named else { return Flow::Done(0) };
        if target == ti {
            return Flow::Done(35);
        }
        if !self.threads[target].ended() {
            return Flow::Block(State::Join { thread: target });
        }
        self.learn_from_ended(ti, target);
        self.threads[target].joined_by_name = true;
        Flow::Done(self.threads[target].result)
    }

    /// Joins an unknown thread. Most likely it is one that this thread started, in the order of
    /// their start, as loops do it. Until all are joined, it may have been another one.
    fn join_any(&mut self, ti: usize) -> Flow {
        let own = |t: &SimulatedThread| {
            t.parent == Some(ti) && !t.joined && t.interrupts.is_none() && t.timer.is_none()
        };
        let Some(target) = self.threads.iter().position(own) else { return Flow::Done(0) };
        if !self.threads[target].ended() {
            self.approximate = true;
            self.threads[ti].vague = true;
            return Flow::Block(State::Join { thread: target });
        }
        self.learn_from_ended(ti, target);
        self.threads[target].joined_by_guess = true;
        let others_are_left = self.threads.iter().any(own);
        self.pass_join(ti, others_are_left);
        Flow::Done(self.fresh_unknown())
    }

    /// Whether a thread that does the same as `other` has not been joined, whichever threads the
    /// joins of unknown handles in `ti` meant: there are more such threads than such joins.
    pub(super) fn one_like_it_is_left(&self, ti: usize, other: usize) -> bool {
        let o = &self.threads[other];
        let own = || self.threads.iter().filter(|t| t.parent == Some(ti) && t.interrupts.is_none());
        let is_like_it =
            |t: &&SimulatedThread| t.function == o.function && t.argument == o.argument && !t.joined_by_name;
        o.parent == Some(ti) && own().filter(is_like_it).count() > own().filter(|t| t.joined_by_guess).count()
    }

    pub(super) fn try_join(&mut self, ti: usize, handle: u64) -> Flow {
        let Some(target) = of_handle(handle).filter(|t| *t < self.threads.len()) else {
            return Flow::Done(0);
        };
        if !self.threads[target].ended() {
            return Flow::Done(1);
        }
        self.learn_from_ended(ti, target);
        self.threads[target].joined_by_name = true;
        Flow::Done(0)
    }

    fn learn_from_ended(&mut self, ti: usize, target: usize) {
        let clock = std::mem::take(&mut self.threads[target].clock);
        self.threads[ti].clock.join(&clock);
        self.threads[target].clock = clock;
        self.threads[target].joined = true;
    }

    pub(super) fn cancel(&mut self, handle: u64, function: u64) -> Flow {
        let target = of_handle(handle).filter(|t| *t < self.threads.len() && !self.threads[*t].ended());
        if let Some(target) = target {
            let t = &mut self.threads[target];
            (t.cancelled, t.on_cancel) = (true, function);
            // A waiting thread retries its operation, and ends there.
            let blocked = matches!(
                t.state,
                State::Condition { .. }
                    | State::Semaphore { .. }
                    | State::Sleeping
                    | State::Pausing
                    | State::Join { .. }
            );
            if let State::Condition { condition, .. } = t.state
                && let Some(o) = self.objects.get_mut(&condition)
            {
                o.waiting.retain(|w| *w != target);
            }
            if blocked {
                self.threads[target].state = State::Runnable;
            }
        }
        Flow::Done(0)
    }

    pub(super) fn exit_thread(&mut self, ti: usize, result: u64) -> Flow {
        let t = &mut self.threads[ti];
        while let Some(f) = t.frames.pop() {
            if f.memory != 0 {
                self.memory.free_frame(f.memory, f.memory_size);
            }
        }
        t.stack.clear();
        t.result = result;
        if ti == 0 {
            // `main` ends but its program goes on.
            self.end_thread(ti);
        } else {
            self.outermost_returned(ti);
        }
        Flow::Elsewhere
    }

    /// Called when the last frame of a thread has returned: runs destructors, then ends the thread.
    pub(super) fn outermost_returned(&mut self, ti: usize) {
        if ti == 0 {
            self.end.get_or_insert(RunEnd::Finished);
            return;
        }
        if self.run_destructor(ti) {
            return;
        }
        self.end_thread(ti);
    }

    /// Calls the destructor of one remaining thread-specific value.
    fn run_destructor(&mut self, ti: usize) -> bool {
        let left = (0..self.threads[ti].keys.len()).find(|k| {
            let value = self.threads[ti].keys[*k];
            value != 0 && self.destructors.get(*k).is_some_and(|d| *d != 0)
        });
        let Some(key) = left else { return false };
        let t = &mut self.threads[ti];
        if t.destructor_rounds >= DESTRUCTOR_ROUNDS * 4 {
            return false;
        }
        t.destructor_rounds += 1;
        let value = std::mem::replace(&mut t.keys[key], 0);
        t.stack.clear();
        match self.program.function_at(self.destructors[key]) {
            Some(f) if self.program.functions[f as usize].defined => {
                self.push(ti, value);
                self.call(ti, f, 1, u32::MAX - 1)
            }
            _ => self.run_destructor(ti),
        }
    }

    fn end_thread(&mut self, ti: usize) {
        let t = &mut self.threads[ti];
        t.state = State::Ended;
        t.stack.clear();
        t.frames.clear();
        self.look_for_leaks(ti);
        for waiting in 0..self.threads.len() {
            if self.threads[waiting].state == (State::Join { thread: ti }) {
                self.threads[waiting].state = State::Runnable;
                if self.threads[waiting].finalizes && self.threads[ti].finalizes {
                    self.learn_from_finalizer(waiting, ti);
                }
            }
        }
        if let Some(under) = self.threads[ti].interrupts {
            self.handler_returned(ti, under);
        }
        if let Some(timer) = self.threads[ti].timer {
            self.tick_ended(ti, timer);
        }
        self.note(ti, 2);
    }

    pub(super) fn key_get(&self, ti: usize, key: u64) -> u64 {
        self.threads[ti].keys.get(key as usize).copied().unwrap_or(0)
    }

    pub(super) fn key_set(&mut self, ti: usize, key: u64, value: u64) -> Flow {
        if key < self.destructors.len() as u64 {
            let keys = &mut self.threads[ti].keys;
            if keys.len() <= key as usize {
                keys.resize(key as usize + 1, 0);
            }
            keys[key as usize] = value;
        }
        Flow::Done(0)
    }

    pub(super) fn interrupt_on(&mut self, ti: usize, function: u64, argument: u64) -> Flow {
        if self.program.function_at(function).is_some_and(|f| self.program.functions[f as usize].defined) {
            self.interrupt_off(ti, argument);
            let mut clock = self.threads[ti].clock.clone();
            // If the function also handles another signal, it keeps what that registration knew.
            self.interrupts.iter().filter(|i| i.function == function).for_each(|i| clock.join(&i.clock));
            for other in self.interrupts.iter_mut().filter(|i| i.function == function) {
                other.clock.assign(&clock);
            }
            self.interrupts.push(InterruptSource { function, argument, clock });
            self.interruptible = true;
            self.threads[ti].clock.tick(ti);
            self.watching = true;
        }
        Flow::Done(0)
    }

    /// Removes a handler. The thread that does so is ordered after the handler's last run.
    pub(super) fn interrupt_off(&mut self, ti: usize, argument: u64) {
        let before = self.interrupts.len();
        self.interrupts.retain(|i| i.argument != argument);
        if self.interrupts.len() < before {
            self.threads[ti].clock.join(&self.handlers);
        }
    }

    /// At a switch: occasionally runs a handler on some thread.
    pub(super) fn maybe_interrupt(&mut self) {
        if self.interrupts.is_empty() || self.interrupts_left == 0 {
            return;
        }
        let is_soon = std::mem::take(&mut self.interrupt_soon) && self.rng.below(4) == 0;
        if !is_soon && (self.steps < self.interrupt_from || !self.interrupt_now()) {
            return;
        }
        let runnable: Vec<usize> = (0..self.threads.len())
            .filter(|t| self.threads[*t].state == State::Runnable && self.threads[*t].interrupts.is_none())
            .filter(|t| self.interrupts.iter().any(|i| self.may_interrupt(i, *t)))
            .collect();
        if !runnable.is_empty() {
            let t = runnable[self.rng.below(runnable.len() as u64) as usize];
            self.interrupt(t);
        }
    }

    /// If nothing runs, an interrupt may be what all threads wait for.
    pub(super) fn deliver_interrupt_to_waiter(&mut self) -> bool {
        if self.interrupts.is_empty() || self.interrupts_left == 0 {
            return false;
        }
        let waiting = (0..self.threads.len()).find(|t| {
            !matches!(self.threads[*t].state, State::Ended | State::Interrupted { .. })
                && self.threads[*t].interrupts.is_none()
                && self.interrupts.iter().any(|i| self.may_interrupt(i, *t))
        });
        waiting.is_some_and(|t| self.interrupt(t))
    }

    /// Whether a thread lets this interrupt in now.
    fn may_interrupt(&self, source: &InterruptSource, ti: usize) -> bool {
        let mask = self.threads[ti].mask;
        let number = source.argument.wrapping_sub(1);
        mask == 0 || !is_unknown(mask) && number < 64 && mask >> number & 1 == 0
    }

    /// Sets the mask of blocked interrupts. A thread that blocks interrupts is ordered with those
    /// that it lets in before and after.
    pub(super) fn set_mask(&mut self, ti: usize, mask: u64) -> u64 {
        let t = &mut self.threads[ti];
        let old = std::mem::replace(&mut t.mask, mask);
        if old == mask {
            return old;
        }
        let opens = is_unknown(old) || (!is_unknown(mask) && old & !mask != 0);
        if opens {
            t.let_in.assign(&t.clock);
            t.clock.tick(ti);
        } else {
            t.clock.join(&self.handlers);
        }
        old
    }

    fn interrupt(&mut self, under: usize) -> bool {
        let open: Vec<usize> =
            (0..self.interrupts.len()).filter(|i| self.may_interrupt(&self.interrupts[*i], under)).collect();
        let source = open.get(self.rng.below(open.len().max(1) as u64) as usize).copied();
        source.is_some_and(|source| self.deliver(under, source))
    }

    /// Occasionally runs a handler just before it is removed, which would otherwise be rare.
    /// Returns its thread.
    pub(super) fn interrupt_for_the_last_time(&mut self, ti: usize, argument: u64) -> Option<usize> {
        let source = self.interrupts.iter().position(|i| i.argument == argument)?;
        let may = self.interrupts_left > 0
            && self.threads[ti].interrupts.is_none()
            && self.may_interrupt(&self.interrupts[source], ti)
            && self.rng.below(4) == 0;
        (may && self.deliver(ti, source)).then(|| self.threads.len() - 1)
    }

    fn deliver(&mut self, under: usize, source: usize) -> bool {
        let (function, argument) = (self.interrupts[source].function, self.interrupts[source].argument);
        // A signal is blocked while its own handler runs.
        let running = self.threads.iter().any(|t| t.interrupts.is_some() && !t.ended());
        let Some(f) = self.program.function_at(function).filter(|_| !running) else { return false };
        let new = self.threads.len();
        if new >= MOST_THREADS {
            return false;
        }
        self.interrupts_left -= 1;
        let mut t = SimulatedThread::new(f, Some(under));
        t.clock.assign(&self.interrupts[source].clock);
        t.clock.join(&self.handlers);
        t.clock.join(&self.threads[under].let_in);
        t.clock.tick(new);
        t.interrupts = Some(under);
        t.started_at = self.threads[under].pc;
        t.started_in = self.context(under);
        t.tls = self.threads[under].tls;
        t.timer = None;
        self.threads.push(t);
        self.threads[under].state = State::Interrupted { by: new };
        self.watching = true;
        self.push(new, argument);
        self.call(new, f, 1, u32::MAX - 1)
    }

    fn handler_returned(&mut self, ti: usize, under: usize) {
        // A thread that waited tries again: its condition may have become true meanwhile.
        if self.threads[under].state == (State::Interrupted { by: ti }) {
            self.threads[under].state = State::Runnable;
        }
        self.handlers.join(&self.threads[ti].clock);
    }

    /// Whether a thread is the only one, so that every handler runs on its stack.
    pub(super) fn is_only_thread(&self, ti: usize) -> bool {
        let is_other = |(i, t): (usize, &SimulatedThread)| i != ti && t.interrupts.is_none() && !t.ended();
        !self.threads.iter().enumerate().any(is_other)
    }

    pub(super) fn timer_start(&mut self, ti: usize, operands: &[u64; 4], pc: u32) -> Flow {
        let [timer, function, argument, periodic] = *operands;
        let Some(f) =
            self.program.function_at(function).filter(|f| self.program.functions[*f as usize].defined)
        else {
            return Flow::Done(0);
        };
        self.timer_stop(timer);
        self.note_start(ti, argument, pc);
        if let Some(new) = self.new_thread(ti, f, argument, pc) {
            let t = &mut self.threads[new];
            t.timer = Some(timer);
            t.tick_began.assign(&t.clock);
            // The tick itself comes after that.
            t.clock.tick(new);
            t.member = (argument, if periodic == 0 { 1 } else { u64::from(TICKS) });
        }
        Flow::Done(0)
    }

    pub(super) fn timer_stop(&mut self, timer: u64) {
        for t in self.threads.iter_mut().filter(|t| t.timer == Some(timer)) {
            t.timer = None;
        }
    }

    /// Ends a timer for good. A tick that ends it does not know whether the next one has begun:
    /// .NET lets ticks overlap, and lets one come after `Dispose`. Other overlaps are not looked
    /// for.
    pub(super) fn timer_end(&mut self, ti: usize, timer: u64) {
        let t = &self.threads[ti];
        if t.timer == Some(timer) && t.member.1 > 1 {
            let (f, argument, parent) = (t.tick, t.member.0, t.parent);
            let (began, place) = (t.tick_began.clone(), (t.started_at, t.started_in));
            if let Some(new) = self.new_thread(ti, f, argument, place.0) {
                let t = &mut self.threads[new];
                t.clock.assign(&began);
                t.clock.tick(new);
                (t.parent, t.started_in) = (parent, place.1);
            }
        }
        self.timer_stop(timer);
    }

    /// Ends a tick. A periodic timer ticks again, on the same thread.
    fn tick_ended(&mut self, ti: usize, _timer: u64) {
        let (argument, left) = self.threads[ti].member;
        let f = self.threads[ti].tick;
        if left <= 1 || self.end.is_some() {
            return;
        }
        let t = &mut self.threads[ti];
        t.member.1 -= 1;
        t.state = State::Runnable;
        t.tick_began.assign(&t.clock);
        t.clock.tick(ti);
        self.push(ti, argument);
        self.call(ti, f, 1, u32::MAX - 1);
    }
}
