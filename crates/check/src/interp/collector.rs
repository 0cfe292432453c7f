//! A simulated collector (section 4.2): objects with a finalizer that nothing leads to any more are
//! finalized, on a thread of the collector's own, one after the other.
//!
//! What leads to an object is decided conservatively: any word on a stack, in a global or in an
//! object that is its address.

use rustc_hash::FxHashSet;

use super::Machine;
use super::value::is_unknown;
use crate::ir::{Program, Scalar};

impl Machine<'_> {
    pub(super) fn collect(&mut self, ti: usize, pc: u32) {
        if self.finalizable.is_empty() {
            return;
        }
        let live = self.reachable();
        let (kept, lost): (Vec<u64>, Vec<u64>) =
            std::mem::take(&mut self.finalizable).into_iter().partition(|o| live.contains(o));
        self.finalizable = kept;
        for object in lost {
            let class = self.class_of(object);
            let finalizer = class.and_then(|c| self.program.classes.all[c as usize].finalizer);
            if let Some(f) = finalizer {
                self.start_finalizer(ti, f, object, pc);
            }
        }
    }

    /// What the thread that let go of an object last did to it is before its finalizer; nothing
    /// else is.
    fn start_finalizer(&mut self, ti: usize, f: u32, object: u64, pc: u32) {
        self.start_function(ti, f, object, pc);
    }

    fn reachable(&self) -> FxHashSet<u64> {
        let mut todo: Vec<u64> = self.threads.iter().flat_map(|t| t.stack.iter().copied()).collect();
        let base = u64::from(Program::GLOBALS_BASE);
        for global in &self.program.globals {
            let words = u64::from(global.size) / 8;
            todo.extend((0..words).filter_map(|i| self.raw_word(u64::from(global.address) + i * 8)));
        }
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
