//! The locks that the callers of an entry hold; see [`crate::entry_locks`].

use std::sync::Arc;

use super::Machine;
use super::context::{LockHold, ROOT};
use super::history::{HANDLER, HistoryCell};
use super::value::is_unknown;
use crate::entry_locks::{AtEntry, Base, CallersLock, Hop, LockPlace};
use crate::ir::Scalar;

impl Machine<'_> {
    /// Begins a run with the locks that all callers of its entry hold.
    ///
    /// If code that is not there may call the entry, too, the locks are only possible: they are
    /// not held, and a race that they would prevent is a guess.
    pub(super) fn hold_callers_locks(&mut self) {
        self.callers_locks = Arc::default();
        let function = self.start.function;
        let is_main = &*self.program.functions[function as usize].name == "main";
        if !self.program.classes.all.is_empty() || is_main {
            return;
        }
        let at_entry = self.entry_locks.of(function);
        if at_entry.held.is_empty() && at_entry.others.iter().any(Vec::is_empty) {
            return;
        }
        let has_main = self.program.functions.iter().any(|f| f.defined && &*f.name == "main");
        let holds = self.start.in_the_middle && self.entry_locks.has_all_callers(function, has_main);
        let mut not_held = Vec::new();
        for lock in &at_entry.held {
            let address = lock.place.as_ref().and_then(|p| self.address_of_lock(p));
            match address.filter(|_| holds) {
                Some(address) => self.begin_with(address, lock),
                None => not_held.push(lock.clone()),
            }
        }
        let others: Vec<Vec<CallersLock>> =
            at_entry.others.iter().map(|c| c.iter().chain(&not_held).cloned().collect()).collect();
        self.callers_locks = Arc::new(AtEntry { held: Vec::new(), others });
    }

    fn begin_with(&mut self, address: u64, lock: &CallersLock) {
        self.take(0, address, lock.shared, lock.pc);
        if let Some(held) = self.threads[0].held.last_mut() {
            held.context = ROOT;
        }
        let o = self.objects.entry(address).or_default();
        // Whether the entry may take it again was decided where it was initialised.
        o.recursive = true;
        o.is_callers = true;
    }

    /// The address of a caller's lock, if it lies in an object of this run.
    fn address_of_lock(&self, place: &LockPlace) -> Option<u64> {
        let mut at = match place.base {
            Base::Global(a) => u64::from(a),
            Base::Param(n) => self.entry_arguments.get(usize::from(n)).copied()?,
        };
        for hop in &place.hops {
            if is_unknown(at) {
                return None;
            }
            at = match hop {
                Hop::Plus(n) => at + u64::from(*n),
                Hop::Load => self.memory.load(self.memory.index(at, 8).ok()?, Scalar::U64),
            };
        }
        (!is_unknown(at) && self.memory.index(at, 1).is_ok()).then_some(at)
    }

    /// Remembers that a thread has taken a lock that a caller may hold.
    pub(super) fn note_taken(&mut self, ti: usize, held: LockHold) {
        let taken = &mut self.threads[ti].taken;
        if taken.iter().all(|t| t.lock != held.lock || t.shared && !held.shared) {
            taken.push(held);
        }
    }

    /// Whether a race is one only if a caller of the entry holds no lock: in each context a caller
    /// holds one that the other thread has taken before, or that may be such a one.
    pub(super) fn callers_may_guard(&mut self, old: HistoryCell, new: HistoryCell) -> bool {
        let is_first = |c: HistoryCell| c.epoch.thread() == 0 && c.flags & HANDLER == 0;
        let other = match (is_first(old), is_first(new)) {
            (true, false) => new.epoch.thread(),
            (false, true) => old.epoch.thread(),
            _ => return false,
        };
        if self.released_callers || self.callers_locks.others.is_empty() {
            return false;
        }
        let callers = self.callers_locks.clone();
        let taken = self.threads[other].taken.clone();
        callers.others.iter().all(|c| c.iter().any(|l| taken.iter().any(|t| self.may_be(l, t))))
    }

    fn may_be(&mut self, lock: &CallersLock, taken: &LockHold) -> bool {
        if lock.shared && taken.shared {
            return false;
        }
        let address = lock.place.as_ref().and_then(|p| self.address_of_lock(p));
        if let Some(address) = address {
            return address == taken.lock;
        }
        let stack = self.stack_of(taken.pc, taken.context);
        let is_own = |pc: &&u32| {
            self.program.pos_of.get(**pc as usize).is_some_and(|p| p.line > 0 && !self.program.is_builtin(*p))
        };
        let own: Vec<u32> = stack.iter().filter(is_own).copied().collect();
        lock.name.may_be(self.entry_locks.name_of_taken(&own))
    }

    /// Whether one of these threads waits for a lock that the callers of the entry hold.
    pub(super) fn is_under_callers_lock(&self, threads: &[usize]) -> bool {
        let is_callers = |h: &LockHold| self.objects.get(&h.lock).is_some_and(|o| o.is_callers);
        threads.iter().any(|t| self.threads[*t].held.iter().any(is_callers))
    }
}
