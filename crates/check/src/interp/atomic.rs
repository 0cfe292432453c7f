//! Atomic operations and fences.
//!
//! A release store publishes the thread's clock at its object; an acquire load of the object learns
//! it. A relaxed store breaks what was published there (and publishes what the last release fence
//! did); a read-modify-write of any order keeps it, which is C11's release sequence. A relaxed load
//! remembers what an acquire fence after it would learn.

use super::Machine;
use super::history::{ATOMIC, WRITE};
use super::named::Atomic;
use super::value::is_unknown;
use crate::ir::{AccessClass, AtomicInstr, Bin, MemoryOrdering, Scalar};

impl Machine<'_> {
    /// False ends the thread's turn.
    pub(super) fn atomic(
        &mut self,
        ti: usize,
        pc: u32,
        op: AtomicInstr,
        ty: Scalar,
        order: MemoryOrdering,
    ) -> bool {
        let (mut desired, mut operand) = (0, 0);
        match op {
            AtomicInstr::Load => {}
            AtomicInstr::CompareSwap => {
                desired = self.pop(ti);
                operand = self.pop(ti);
            }
            _ => operand = self.pop(ti),
        }
        let address = self.pop(ti);
        let reads = op != AtomicInstr::Store;
        let Ok(at) = self.memory.index(address, u64::from(ty.size())) else {
            let v = self.load(ti, pc, address, ty, AccessClass::Hidden);
            if reads {
                self.push(ti, v);
            }
            return self.end.is_none();
        };
        let old = self.load_from(ti, at, ty);
        let new = match op {
            AtomicInstr::Load => None,
            AtomicInstr::Store | AtomicInstr::Swap => Some(operand),
            AtomicInstr::Rmw(op) => Some(self.bin(op, ty, old, operand)),
            AtomicInstr::Nand => {
                let and = self.bin(Bin::And, ty, old, operand);
                Some(self.un(crate::ir::Un::Not, ty, and))
            }
            AtomicInstr::CompareSwap => {
                let same = self.bin(Bin::Eq, ty, old, operand);
                let same = if is_unknown(same) { self.decide(ti, same, pc) } else { same != 0 };
                same.then_some(desired)
            }
        };
        if self.watching {
            let flags = ATOMIC | if new.is_some() { WRITE } else { 0 };
            self.watch(ti, pc, at, ty.size(), flags);
            if reads {
                self.learn(ti, address, order);
            }
            if new.is_some() {
                self.publish(ti, address, order, reads);
            }
        }
        if let Some(new) = new {
            self.memory.store(at, ty, if is_unknown(new) { new } else { ty.wrap(new) });
            self.note(ti, address);
            self.idle_wakes = 0;
        }
        if reads {
            self.push(ti, old);
        }
        // A loop on an atomic waits for another thread; it must come to run.
        let spins = new.is_none();
        if spins {
            self.gave_way_a_little(ti);
        }
        !self.switch_at_sync()
    }

    /// Copies an object that is atomic as a whole, on either side.
    pub(super) fn copy_atomically(&mut self, ti: usize, pc: u32, to: u64, from: u64, size: u64) {
        if self.watching {
            self.learn(ti, from, MemoryOrdering::SeqCst);
        }
        self.copy(ti, pc, to, from, size, ATOMIC);
        if self.watching {
            self.publish(ti, to, MemoryOrdering::SeqCst, false);
        }
    }

    fn gave_way_a_little(&mut self, ti: usize) {
        if self.rng.below(16) == 0 {
            self.gave_way(ti);
        }
    }

    fn learn(&mut self, ti: usize, address: u64, order: MemoryOrdering) {
        let Some(published) = self.atomics.get(&address) else { return };
        let t = &mut self.threads[ti];
        if order.acquires() {
            t.clock.join(published);
        } else {
            t.seen.join(published);
        }
    }

    fn publish(&mut self, ti: usize, address: u64, order: MemoryOrdering, keeps: bool) {
        let slot = self.atomics.entry(address).or_default();
        let t = &mut self.threads[ti];
        if !keeps {
            slot.clear();
        }
        if order.releases() {
            slot.join(&t.clock);
            t.clock.tick(ti);
        } else if !t.released.is_empty() {
            slot.join(&t.released);
        }
    }

    /// Orders a thread by an operation on an object of which only the name is known: as strongly as
    /// such an operation can.
    pub(super) fn synchronise(&mut self, ti: usize, address: u64, what: Atomic) {
        if self.watching && what != Atomic::Store {
            self.learn(ti, address, MemoryOrdering::SeqCst);
        }
        if what == Atomic::Load {
            // A loop on an atomic waits for another thread.
            self.gave_way_a_little(ti);
            return;
        }
        if self.watching {
            self.publish(ti, address, MemoryOrdering::SeqCst, what != Atomic::Store);
        }
        self.note(ti, address);
        self.idle_wakes = 0;
    }

    pub(super) fn fence(&mut self, ti: usize, order: MemoryOrdering) {
        if !self.watching {
            return;
        }
        let t = &mut self.threads[ti];
        if order.acquires() {
            let seen = std::mem::take(&mut t.seen);
            t.clock.join(&seen);
        }
        if order.releases() {
            t.released.assign(&t.clock);
            t.clock.tick(ti);
        }
    }

    /// Assembly with operands in memory: what it loads and stores, and in what order, is not known.
    /// Locks and queues are made of such. What follows is as if under a lock that nobody can name,
    /// which the other thread may hold as well.
    pub(super) fn assembly(&mut self, ti: usize, pc: u32) {
        self.fence(ti, MemoryOrdering::SeqCst);
        if self.watching {
            self.hold_unknown(ti, pc);
        }
    }
}
