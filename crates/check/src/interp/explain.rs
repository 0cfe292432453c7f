//! Turns what the machine found into raw findings: stacks, locks, threads, places.

use raddle_finding::{AccessOp, Kind};

use super::Machine;
use super::context::{ContextId, LockHold};
use super::history::{ATOMIC, FREE, HANDLER, HistoryCell, WRITE};
use super::raw::{FindingKey, RawAccess, RawFinding, RawHeld, RawPlace, RawThread};
use super::thread::State;
use super::value::is_unknown;
use super::waits::{PASSED_JOIN, is_passage};
use crate::ir::Program;

impl Machine<'_> {
    /// Counts a finding by its places. Returns its key if it is new.
    fn first_met(&mut self, kind: Kind, a: u32, b: u32, guess: &mut bool) -> Option<FindingKey> {
        *guess |= self.former_values.assumes_change();
        let key = (kind, a.min(b), a.max(b));
        *self.knowledge.met.entry(key).or_default() += 1;
        let known = if *guess { &mut self.knowledge.guessed } else { &mut self.knowledge.seen };
        known.insert(key).then_some(key)
    }

    #[cold]
    pub(super) fn report_race(&mut self, old: HistoryCell, new: HistoryCell, granule: usize, size: u32) {
        // A lock at an unknown address may be a lock that the other thread holds as well.
        let is_lock = |h: &LockHold| is_unknown(h.lock) && !is_passage(h.lock);
        let vague = |c: &HistoryCell| self.contexts.held(c.lockset).iter().any(is_lock);
        let first = (old.mask & new.mask).trailing_zeros();
        let address = u64::from(Program::GLOBALS_BASE) + granule as u64 * 8 + u64::from(first);
        // A handler shares the thread-local storage of the thread under it, and puts `errno` back.
        let handled = (old.flags | new.flags) & HANDLER != 0 && self.is_thread_local(address);
        let benign = self.benign.iter().any(|b| b.0 <= address && address < b.1);
        if benign || vague(&old) || vague(&new) || handled {
            return;
        }
        // A handler that ran on the stack of the only thread has returned. Whether it could also
        // run after this access another run must show.
        let is_handler = |c: &HistoryCell| c.flags & HANDLER != 0;
        if is_handler(&old) && !is_handler(&new) && self.is_only_thread(new.epoch.thread()) {
            self.knowledge.hot[new.pc as usize] = true;
            return;
        }
        // The first word of an object stands for all of it, and only the library touches it.
        let whole = self.class_of(address).is_some();
        let kind = if whole { Kind::ThreadSafetyViolation } else { Kind::DataRace };
        let passed = |c: HistoryCell, other: HistoryCell| {
            let (thread, other) = (c.epoch.thread(), other.epoch.thread());
            let settled = |h: &LockHold| h.lock == PASSED_JOIN && self.one_like_it_is_left(thread, other);
            self.contexts.held(c.lockset).iter().any(|h| is_passage(h.lock) && !settled(h))
        };
        let mut guess = passed(old, new) || passed(new, old) || self.callers_may_guard(old, new);
        let Some(key) = self.first_met(kind, old.pc, new.pc, &mut guess) else { return };
        self.knowledge.hot[old.pc as usize] = true;
        self.knowledge.hot[new.pc as usize] = true;
        let sizes = [size, old.mask.count_ones()];
        let accesses = [new, old].iter().zip(sizes).map(|(c, size)| self.access_of(*c, size)).collect();
        let place = self.place_of(address);
        self.add(key, accesses, Some(address), place, Vec::new(), guess);
    }

    fn is_thread_local(&self, address: u64) -> bool {
        let size = self.program.tls.len() as u64;
        self.threads.iter().any(|t| t.tls != 0 && address.wrapping_sub(u64::from(t.tls)) < size)
    }

    fn access_of(&self, c: HistoryCell, size: u32) -> RawAccess {
        let op = match (c.flags & FREE != 0, c.flags & WRITE != 0, c.flags & ATOMIC != 0) {
            (true, ..) => AccessOp::Free,
            (_, true, true) => AccessOp::AtomicWrite,
            (_, true, false) => AccessOp::Write,
            (_, false, true) => AccessOp::AtomicRead,
            (_, false, false) => AccessOp::Read,
        };
        RawAccess {
            op,
            size,
            thread: c.epoch.thread(),
            stack: self.stack_of(c.pc, c.context),
            locks: self.held_of(self.contexts.held(c.lockset)),
        }
    }

    fn held_of(&self, held: &[LockHold]) -> Vec<RawHeld> {
        held.iter()
            .filter(|h| !is_passage(h.lock))
            .map(|h| RawHeld { lock: h.lock, shared: h.shared, stack: self.stack_of(h.pc, h.context) })
            .collect()
    }

    pub(super) fn stack_of(&self, pc: u32, context: ContextId) -> Vec<u32> {
        let mut stack = vec![pc];
        stack.extend(self.contexts.calls(context));
        stack
    }

    /// The current stack of a thread, its current instruction first.
    fn current_stack(&mut self, ti: usize, pc: u32) -> Vec<u32> {
        let context = self.context(ti);
        self.stack_of(pc, context)
    }

    /// The innermost place of a stack that belongs to the program, not to the library.
    fn own_pc(&self, stack: &[u32]) -> u32 {
        let own = |pc: &&u32| {
            let pos = self.program.pos_of.get(**pc as usize);
            pos.is_some_and(|pos| pos.line > 0 && !self.program.is_builtin(*pos))
        };
        stack.iter().find(own).or(stack.first()).copied().unwrap_or(0)
    }

    pub(super) fn report_lock(
        &mut self,
        kind: Kind,
        op: AccessOp,
        ti: usize,
        lock: u64,
        pc: u32,
        mut guess: bool,
    ) {
        let taken = self.threads[ti].held.iter().rev().find(|h| h.lock == lock).copied();
        let stack = self.current_stack(ti, pc);
        let taken_at = taken.map(|h| self.stack_of(h.pc, h.context));
        let ends = (self.own_pc(&stack), taken_at.as_deref().map_or(0, |s| self.own_pc(s)));
        let Some(key) = self.first_met(kind, ends.0, ends.1, &mut guess) else { return };
        let locks = self.held_of(&self.threads[ti].held);
        let mut accesses = vec![RawAccess { op, size: 0, thread: ti, stack, locks }];
        if let Some(stack) = taken_at {
            accesses.push(RawAccess { op: AccessOp::Lock, size: 0, thread: ti, stack, locks: Vec::new() });
        }
        let place = self.place_of(lock);
        let waits = self.initialised_again(lock);
        self.add(key, accesses, Some(lock), place, waits, guess);
    }

    /// A sentence that says which thread initialised a lock while another thread held it.
    fn initialised_again(&self, lock: u64) -> Vec<String> {
        let Some((thread, pc, context)) = self.objects.get(&lock).and_then(|o| o.initialised_again) else {
            return Vec::new();
        };
        let pos = self.program.pos_of[self.own_pc(&self.stack_of(pc, context)) as usize];
        let path = self.program.files.get(usize::from(pos.file)).map_or("?", |f| &f.path);
        vec![format!("T{thread} initialised it again at {path}:{} while it was held", pos.line)]
    }

    pub(super) fn report_leak(&mut self, ti: usize, held: LockHold) {
        let stack = self.stack_of(held.pc, held.context);
        let mut guess = false;
        let Some(key) = self.first_met(Kind::LockLeak, self.own_pc(&stack), 0, &mut guess) else { return };
        let access = RawAccess { op: AccessOp::Lock, size: 0, thread: ti, stack, locks: Vec::new() };
        let place = self.place_of(held.lock);
        self.add(key, vec![access], Some(held.lock), place, Vec::new(), guess);
    }

    pub(super) fn report_deadlock(&mut self, kind: Kind, threads: &[usize]) {
        let stacks: Vec<Vec<u32>> =
            threads.iter().map(|t| self.current_stack(*t, self.threads[*t].pc)).collect();
        let pcs: Vec<u32> = stacks.iter().map(|s| self.own_pc(s)).collect();
        let (lo, hi) = (pcs.iter().min().copied().unwrap_or(0), pcs.iter().max().copied().unwrap_or(0));
        let has_passed = |t: &usize| self.threads[*t].held.iter().any(|h| is_passage(h.lock));
        let mut guess = threads.iter().any(has_passed) || self.is_under_callers_lock(threads);
        let Some(key) = self.first_met(kind, lo, hi, &mut guess) else { return };
        let mut accesses = Vec::new();
        let mut waits = Vec::new();
        for (t, stack) in threads.iter().zip(stacks) {
            let (op, what) = self.wait_in_words(*t);
            let locks = self.held_of(&self.threads[*t].held);
            accesses.push(RawAccess { op, size: 0, thread: *t, stack, locks });
            waits.push(what);
        }
        let address = threads.iter().find_map(|t| match self.threads[*t].state {
            State::Lock { lock, .. } => Some(lock),
            _ => None,
        });
        let place = address.map_or(RawPlace::Unknown, |a| self.place_of(a));
        self.add(key, accesses, address, place, waits, guess);
    }

    fn wait_in_words(&self, ti: usize) -> (AccessOp, String) {
        let name = |a: u64| super::super::report::place_name(self.program, &self.place_of(a));
        match self.threads[ti].state {
            State::Lock { lock, shared, .. } => {
                let side = if shared { " for reading" } else { "" };
                (AccessOp::Lock, format!("waits for {}{side}", name(lock)))
            }
            State::Condition { condition, .. } => {
                (AccessOp::Call, format!("waits for a notification of {}", name(condition)))
            }
            State::Semaphore { semaphore, .. } => {
                (AccessOp::Call, format!("waits for semaphore {}", name(semaphore)))
            }
            State::Barrier { barrier } => (AccessOp::Call, format!("waits at barrier {}", name(barrier))),
            State::Join { thread } => (AccessOp::Call, format!("waits for T{thread} to end")),
            State::Once { once } => (AccessOp::Call, format!("waits for {} to be done", name(once))),
            State::Interrupted { by } => {
                (AccessOp::Call, format!("was interrupted here by T{by}, and goes on when that returns"))
            }
            _ => (AccessOp::Call, "waits".into()),
        }
    }

    fn add(
        &mut self,
        key: FindingKey,
        accesses: Vec<RawAccess>,
        address: Option<u64>,
        place: RawPlace,
        waits: Vec<String>,
        guess: bool,
    ) {
        let mut wanted: Vec<usize> = accesses.iter().map(|a| a.thread).collect();
        // The threads that started them, all the way up.
        let mut i = 0;
        while i < wanted.len() {
            if let Some(p) = self.threads[wanted[i]].parent
                && !wanted.contains(&p)
            {
                wanted.push(p);
            }
            i += 1;
        }
        wanted.sort_unstable();
        wanted.dedup();
        let threads: Vec<RawThread> = wanted.into_iter().map(|t| self.thread_of(t)).collect();
        let mut locks: Vec<(u64, RawPlace)> = Vec::new();
        for h in accesses.iter().flat_map(|a| &a.locks) {
            if !locks.iter().any(|l| l.0 == h.lock) {
                locks.push((h.lock, self.place_of(h.lock)));
            }
        }
        let (entry, seed) = (self.start, self.seed);
        let known = if guess { &mut self.knowledge.guesses } else { &mut self.knowledge.findings };
        known.push(RawFinding {
            kind: key.0,
            key,
            accesses,
            address,
            place,
            threads,
            locks,
            waits,
            entry,
            seed,
        });
    }

    fn thread_of(&self, index: usize) -> RawThread {
        let t = &self.threads[index];
        let stack = if t.parent.is_some() { self.stack_of(t.started_at, t.started_in) } else { Vec::new() };
        RawThread {
            index,
            function: t.function,
            parent: t.parent,
            stack,
            running: !t.ended(),
            handler: t.interrupts.is_some(),
            timer: t.timer.is_some(),
        }
    }

    pub(super) fn place_of(&self, address: u64) -> RawPlace {
        if is_unknown(address) {
            return RawPlace::Unknown;
        }
        if let Some(b) = self.memory.block(address) {
            return RawPlace::Heap {
                offset: (address - u64::from(b.address)) as u32,
                size: b.size,
                thread: usize::from(b.thread),
                stack: if b.pc == u32::MAX { Vec::new() } else { self.stack_of(b.pc, b.context) },
                part: self.object_part(u64::from(b.address), (address - u64::from(b.address)) as u32),
            };
        }
        let globals = &self.program.globals;
        let i = globals.partition_point(|g| u64::from(g.address) <= address);
        if let Some(i) = i.checked_sub(1)
            && address < u64::from(globals[i].address) + u64::from(globals[i].size)
        {
            return RawPlace::Global { index: i, offset: (address - u64::from(globals[i].address)) as u32 };
        }
        for (ti, t) in self.threads.iter().enumerate() {
            let tls = u64::from(t.tls);
            if t.tls != 0 && address >= tls && address < tls + self.program.tls.len() as u64 {
                return RawPlace::Tls { thread: ti, offset: (address - tls) as u32 };
            }
            for f in &t.frames {
                let memory = u64::from(f.memory);
                if f.memory != 0 && address >= memory && address < memory + u64::from(f.memory_size) {
                    return RawPlace::Stack {
                        thread: ti,
                        function: f.function,
                        offset: (address - memory) as u32,
                    };
                }
            }
        }
        RawPlace::Unknown
    }
}
