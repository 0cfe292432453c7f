//! Jumps out of functions: `setjmp` and `longjmp`, exceptions of other languages.
//!
//! The place in memory holds a number, so that it can be copied like the buffer it is. The thread
//! keeps the target for each number. A jump to a function that has returned, into another thread,
//! or through a place of unknown content has no known target: the run ends there.

use super::sync::Flow;
use super::value::is_unknown;
use super::{Machine, RunEnd};
use crate::ir::Scalar;

/// Distinguishes numbers of targets from other memory content.
const MARK: u64 = 0x6A75_6D70 << 32;

/// A program that sets places in a loop forgets the oldest.
const MOST: usize = 1 << 16;

/// The target of a jump.
#[derive(Debug, Clone, Copy)]
pub struct JumpTarget {
    depth: u32,
    function: u32,
    base: u32,
    stack: u32,
    pc: u32,
}

impl Machine<'_> {
    pub(super) fn set_jump(&mut self, ti: usize, place: u64, pc: u32) -> Flow {
        let t = &mut self.threads[ti];
        let Some(frame) = t.frames.last() else { return Flow::Done(0) };
        let target = JumpTarget {
            depth: t.frames.len() as u32,
            function: frame.function,
            base: frame.base,
            // Without the operand, which is still there.
            stack: t.stack.len() as u32 - 1,
            pc: pc + 1,
        };
        if t.jumps.len() >= MOST {
            return Flow::Done(0);
        }
        t.jumps.push(target);
        let number = MARK | (ti as u64) << 16 | (t.jumps.len() as u64 - 1);
        if !is_unknown(place)
            && let Ok(at) = self.memory.index(place, 8)
        {
            self.memory.store(at, Scalar::U64, number);
        }
        Flow::Done(0)
    }

    pub(super) fn jump(&mut self, ti: usize, place: u64, value: u64) -> Flow {
        let Some(target) = self.target(ti, place) else {
            self.end = Some(RunEnd::Finished);
            return Flow::Done(0);
        };
        while self.threads[ti].frames.len() > target.depth as usize {
            self.pop_frame(ti);
        }
        let t = &mut self.threads[ti];
        // A later call of the function at the same depth, which has not come as far.
        if t.stack.len() < target.stack as usize {
            self.end = Some(RunEnd::Finished);
            return Flow::Done(0);
        }
        t.stack.truncate(target.stack as usize);
        t.stack.push(value);
        t.pc = target.pc;
        Flow::Elsewhere
    }

    /// The target stored in a place, if its function is still running on this thread.
    fn target(&self, ti: usize, place: u64) -> Option<JumpTarget> {
        let at = self.memory.index(place, 8).ok().filter(|_| !is_unknown(place))?;
        let number = self.memory.load(at, Scalar::U64);
        let t = &self.threads[ti];
        let own = number & !0xFFFF == MARK | (ti as u64) << 16;
        let target = *t.jumps.get((number & 0xFFFF) as usize).filter(|_| own)?;
        let frame = t.frames.get(target.depth.checked_sub(1)? as usize)?;
        (frame.function == target.function && frame.base == target.base).then_some(target)
    }
}
