//! A simulated garbage collector (section 4.2). It finalizes unreachable objects that have a
//! finalizer, one after the other, on a thread of its own.
//!
//! Reachability is conservative: any word on a stack, in a global or in an object that equals an
//! object's address keeps that object alive.

use rustc_hash::FxHashSet;

use super::Machine;
use super::thread::State;
use super::value::is_unknown;
use crate::ir::{Program, Scalar};

impl Machine<'_> {
    pub(super) fn collect(&mut self, ti: usize, pc: u32) {
        if self.finalizable.is_empty() {
            return;
        }
        let live = self.reachable(self.roots());
        let (kept, lost): (Vec<u64>, Vec<u64>) =
            std::mem::take(&mut self.finalizable).into_iter().partition(|o| live.contains(o));
        self.finalizable = kept;
        for object in lost {
            let class = self.class_of(object);
            let finalizer = class.and_then(|c| self.program.classes.all[c as usize].finalizer);
            if let Some(f) = finalizer {
                self.forget_accesses(object, &live);
                self.start_finalizer(ti, f, object, pc);
            }
        }
    }

    /// There is one thread for finalizers, so each one comes after the one before it.
    fn start_finalizer(&mut self, ti: usize, f: u32, object: u64, pc: u32) {
        let before = self.threads.iter().rposition(|t| t.finalizes);
        let n = self.threads.len();
        self.start_function(ti, f, object, pc);
        if self.threads.len() == n {
            return;
        }
        self.threads[n].finalizes = true;
        match before {
            Some(b) if self.threads[b].ended() => self.learn_from_finalizer(n, b),
            Some(b) => self.threads[n].state = State::Join { thread: b },
            None => {}
        }
    }

    /// The next finalizer comes after one that has ended.
    pub(super) fn learn_from_finalizer(&mut self, next: usize, ended: usize) {
        let clock = self.threads[ended].clock.clone();
        self.threads[next].clock.join(&clock);
    }

    /// Threads' accesses to an object, and to blocks that only it reaches, happen before its
    /// finalizer: the collector has seen that no thread can access them again. Accesses to anything
    /// else are not ordered, because the object could have been collected earlier.
    fn forget_accesses(&mut self, object: u64, live: &FxHashSet<u64>) {
        for block in self.reachable(vec![object]) {
            let size = self.memory.block(block).map_or(0, |b| u64::from(b.size));
            if let (false, Ok(at)) = (live.contains(&block), self.memory.index(block, size)) {
                self.memory.history.forget(at / 8, (at + size as usize) / 8);
            }
        }
    }

    fn roots(&self) -> Vec<u64> {
        let mut roots: Vec<u64> = self.threads.iter().flat_map(|t| t.stack.iter().copied()).collect();
        for global in &self.program.globals {
            let words = u64::from(global.size) / 8;
            roots.extend((0..words).filter_map(|i| self.raw_word(u64::from(global.address) + i * 8)));
        }
        roots
    }

    /// The blocks reachable from some words.
    fn reachable(&self, mut todo: Vec<u64>) -> FxHashSet<u64> {
        let base = u64::from(Program::GLOBALS_BASE);
        let mut live = FxHashSet::default();
        while let Some(v) = todo.pop() {
            if is_unknown(v) || v < base {
                continue;
            }
            let Some(block) = self.memory.block(v) else { continue };
            let start = u64::from(block.address);
            if live.insert(start) {
                todo.extend((0..u64::from(block.size) / 8).filter_map(|i| self.raw_word(start + i * 8)));
            }
        }
        live
    }

    fn raw_word(&self, address: u64) -> Option<u64> {
        let at = self.memory.index(address, 8).ok()?;
        Some(self.memory.load(at, Scalar::U64))
    }
}
