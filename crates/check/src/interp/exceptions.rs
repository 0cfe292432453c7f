//! Exceptions: a thread leaves functions until one handles the exception.

use super::{Machine, RunEnd};
use crate::ir::{Instr, SyncOp};

impl Machine<'_> {
    /// Throws a value at an instruction. False ends the thread's turn.
    pub(super) fn throw(&mut self, ti: usize, pc: u32, exception: u64) -> bool {
        let mut at = pc;
        loop {
            let t = &mut self.threads[ti];
            let Some(frame) = t.frames.last() else { break };
            let function = &self.program.functions[frame.function as usize];
            if let Some(h) = function.handlers.iter().find(|h| h.start <= at && at < h.end) {
                let top = frame.base + function.locals.max(function.params);
                t.stack.truncate(top as usize);
                t.stack.push(exception);
                t.pc = h.target;
                return true;
            }
            let back = frame.return_pc;
            at = back.wrapping_sub(1);
            self.pop_frame(ti);
            if matches!(self.program.code.get(back as usize), Some(Instr::Sync(SyncOp::Once))) {
                self.once_failed(ti);
            }
        }
        // Nobody handles it. A real program ends here.
        self.end = Some(RunEnd::Crashed);
        false
    }

    /// Throws the exception for a member access through null.
    pub(super) fn null(&mut self, ti: usize, pc: u32) -> bool {
        let exception = self.some_object();
        self.throw(ti, pc, exception)
    }
}
