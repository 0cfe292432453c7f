//! Calls and returns.

use super::context::{ContextId, ROOT};
use super::step::HAVOC;
use super::thread::CallFrame;
use super::value::{is_unknown, mix, number, unknown};
use super::{Machine, RunEnd};
use crate::ir::{Program, Scalar};

impl Machine<'_> {
    /// Calls a function whose `n` arguments are on the stack. False ends the thread's turn.
    #[inline]
    pub(super) fn call(&mut self, ti: usize, f: u32, n: usize, pc: u32) -> bool {
        let function = &self.program.functions[f as usize];
        if let Some(what) = self.named[f as usize] {
            return self.call_named(ti, what, n, pc);
        }
        if !function.defined {
            // The call is made again when the callback has returned, and then gives an unknown.
            if self.call_back_argument(ti, n, f, pc) {
                return true;
            }
            self.call_unknown(ti, n, u64::from(f), pc);
            if self.never_null[f as usize] {
                self.witness.settle(number(self.threads[ti].top()));
            }
            return true;
        }
        if self.skips_call(f) {
            self.call_unknown(ti, n, u64::from(f), pc);
            return true;
        }
        if self.threads[ti].frames.len() >= self.bounds.call_depth {
            // Endless recursion, or recursion on an unknown: this branch of it ends here.
            self.call_unknown(ti, n, u64::from(f), pc);
            return true;
        }
        let (params, locals, frame_size) = (function.params as usize, function.locals, function.frame_size);
        let variadic = function.variadic;
        let mut varargs = 0;
        if n != params {
            varargs = self.adjust_arguments(ti, n, params, variadic);
        }
        let memory = if frame_size > 0 {
            match self.memory.allocate_frame(frame_size) {
                Some(m) => m,
                None => {
                    self.end = Some(RunEnd::Memory);
                    return false;
                }
            }
        } else {
            0
        };
        self.knowledge.entered[f as usize] = true;
        if self.program.functions[f as usize].builtin {
            self.note_site(pc);
        }
        if self.uncalled.is_some() && self.is_goal(f) {
            self.uncalled = None;
        }
        let t = &mut self.threads[ti];
        let base = t.stack.len() - params;
        t.stack.resize(base + locals.max(params as u32) as usize, 0);
        t.frames.push(CallFrame {
            function: f,
            return_pc: pc + 1,
            base: base as u32,
            memory,
            memory_size: frame_size,
            context: 0,
            varargs,
            discard: false,
        });
        t.pc = self.program.functions[f as usize].entry;
        true
    }

    /// Remembers that a run came to a place that starts a thread through the library.
    #[inline]
    pub(super) fn note_site(&mut self, pc: u32) {
        if self.sites.binary_search(&pc).is_ok() {
            self.knowledge.started.insert(pc);
        }
    }

    /// On the way to the first start of a thread, every second run leaves out what the entry calls
    /// and can do without.
    #[inline(always)]
    fn skips_call(&self, f: u32) -> bool {
        let Some(route) = &self.route else { return false };
        self.seed & 1 == 0
            && self.threads.len() == 1
            && self.threads[0].frames.last().is_some_and(|frame| route.passes(frame.function))
            && route.may_skip(f)
            && !route.passes(f)
    }

    /// Too many or too few arguments: the rest goes to memory, what is missing is unknown.
    fn adjust_arguments(&mut self, ti: usize, n: usize, params: usize, variadic: bool) -> u32 {
        if n < params {
            for _ in n..params {
                let v = self.fresh_unknown();
                self.push(ti, v);
            }
            return 0;
        }
        let extra: Vec<u64> = {
            let t = &mut self.threads[ti];
            let at = t.stack.len() - (n - params);
            t.stack.split_off(at)
        };
        if !variadic {
            return 0;
        }
        let Some(block) = self.memory.allocate_frame(extra.len() as u32 * 8) else { return 0 };
        for (i, v) in extra.iter().enumerate() {
            if let Ok(at) = self.memory.index(u64::from(block) + i as u64 * 8, 8) {
                self.memory.store(at, Scalar::U64, *v);
            }
        }
        let depth = self.threads[ti].frames.len() as u32 + 1;
        self.threads[ti].frame_blocks.push((depth, block, extra.len() as u32 * 8));
        block
    }

    pub(super) fn call_pointer(&mut self, ti: usize, address: u64, n: usize, pc: u32) -> bool {
        if !is_unknown(address)
            && let Some(f) = self.program.function_at(address)
        {
            let goes_on = self.call(ti, f, n, pc);
            // A lock or a join that is known by its name blocks, and is called again later.
            if self.threads[ti].pc == pc {
                self.push(ti, address);
            }
            return goes_on;
        }
        if address < u64::from(Program::GLOBALS_BASE) {
            self.end = Some(RunEnd::Crashed);
            return false;
        }
        self.call_unknown(ti, n, address, pc);
        true
    }

    /// A function of which nothing is known: it gives an unknown, and may have changed what its
    /// arguments lead to.
    pub(super) fn call_unknown(&mut self, ti: usize, n: usize, what: u64, pc: u32) {
        let at = self.threads[ti].stack.len() - n;
        let args = self.threads[ti].stack.split_off(at);
        self.forget_elsewhere(ti);
        let most = self.sizes_of_arguments(pc, n);
        for (i, a) in args.iter().enumerate() {
            self.forget_behind(ti, *a, most.get(i).copied().unwrap_or(u64::MAX));
        }
        self.approximate |= args.iter().any(|a| self.memory.index(*a, 1).is_ok());
        self.fresh = self.fresh.wrapping_add(1);
        let v = unknown(mix(401, what, u64::from(self.fresh)));
        self.push(ti, v);
    }

    /// Makes unknown what a pointer leads to, up to the end of its block and at most so many bytes.
    pub(super) fn forget_behind(&mut self, ti: usize, pointer: u64, most: u64) {
        if is_unknown(pointer) {
            return;
        }
        let size = match self.memory.block(pointer) {
            Some(b) => u64::from(b.address) + u64::from(b.size) - pointer,
            None => self.size_behind(pointer),
        };
        let size = size.min(HAVOC).min(most);
        if let Ok(at) = self.memory.index(pointer, size) {
            self.hand_over(ti, pointer, at, size as usize);
        }
    }

    /// Makes unknown the scalar that a pointer leads to.
    pub(super) fn forget_scalar(&mut self, pointer: u64) {
        let size = self.size_behind(pointer).min(8 - pointer % 8);
        if let Ok(at) = self.memory.index(pointer, size) {
            self.fresh = self.fresh.wrapping_add(1);
            self.make_unknown(at, size as usize, u64::from(self.fresh));
        }
    }

    /// The scalar that a pointer most likely leads to.
    pub(super) fn scalar_behind(&self, pointer: u64) -> Scalar {
        match self.memory.block(pointer).map_or_else(|| self.size_behind(pointer), |_| 4) {
            1 => Scalar::U8,
            2 => Scalar::U16,
            8 if pointer.is_multiple_of(8) && self.is_global(pointer) => Scalar::U64,
            _ => Scalar::I32,
        }
    }

    pub(super) fn is_global(&self, pointer: u64) -> bool {
        let last = self.program.globals.last();
        last.is_some_and(|g| pointer < u64::from(g.address) + u64::from(g.size))
    }

    /// How much of a global follows an address. Of frames nothing is forgotten but one scalar:
    /// their variables' borders are not known here, and neighbours must stay what they are.
    fn size_behind(&self, pointer: u64) -> u64 {
        let globals = &self.program.globals;
        let i = globals.partition_point(|g| u64::from(g.address) <= pointer);
        match i.checked_sub(1).map(|i| &globals[i]) {
            Some(g) if pointer < u64::from(g.address + g.size) => {
                // Constants do not change, whoever gets their address.
                let mutable = self.program.image_mutable.binary_search_by_key(&g.address, |r| r.0).is_ok();
                if mutable { u64::from(g.address + g.size) - pointer } else { 0 }
            }
            _ => 8 - pointer % 8,
        }
    }

    pub(super) fn ret(&mut self, ti: usize) {
        let t = &mut self.threads[ti];
        let result = t.stack.pop().unwrap_or(0);
        let Some(frame) = self.pop_frame(ti) else { return };
        let t = &mut self.threads[ti];
        if t.frames.is_empty() {
            t.result = result;
            self.outermost_returned(ti);
            return;
        }
        t.pc = frame.return_pc;
        if !frame.discard {
            t.stack.push(result);
        }
    }

    /// Ends a thread's innermost frame, with all that lives as long as it.
    #[inline]
    pub(super) fn pop_frame(&mut self, ti: usize) -> Option<CallFrame> {
        let t = &mut self.threads[ti];
        let frame = t.frames.pop()?;
        t.stack.truncate(frame.base as usize);
        if frame.memory != 0 {
            self.memory.free_frame(frame.memory, frame.memory_size);
        }
        let depth = t.frames.len() as u32 + 1;
        while let Some((_, address, size)) = t.frame_blocks.pop_if(|b| b.0 >= depth) {
            self.memory.free_frame(address, size);
        }
        Some(frame)
    }

    /// Makes a thread call a function as if it had called it itself, and come back to the
    /// instruction at `pc`.
    pub(super) fn call_back(&mut self, ti: usize, f: u32, args: &[u64], return_pc: u32) -> bool {
        self.threads[ti].stack.extend_from_slice(args);
        let depth = self.threads[ti].frames.len();
        if !self.call(ti, f, args.len(), return_pc.wrapping_sub(1)) {
            return false;
        }
        let t = &mut self.threads[ti];
        if t.frames.len() > depth {
            if let Some(frame) = t.frames.last_mut() {
                frame.discard = true;
            }
            true
        } else {
            // Undefined: it has "returned" an unknown.
            t.stack.pop();
            false
        }
    }

    /// The context of a thread's innermost frame.
    #[inline(always)]
    pub(super) fn context(&mut self, ti: usize) -> ContextId {
        match self.threads[ti].frames.last() {
            Some(f) if f.context != 0 => f.context,
            _ => self.compute_context(ti),
        }
    }

    #[cold]
    fn compute_context(&mut self, ti: usize) -> ContextId {
        let t = &mut self.threads[ti];
        let known = t.frames.iter().rposition(|f| f.context != 0);
        let mut context = known.map_or(0, |i| t.frames[i].context);
        for frame in &mut t.frames[known.map_or(0, |i| i + 1)..] {
            context = match context {
                0 => ROOT,
                parent => self.contexts.child(parent, frame.return_pc.wrapping_sub(1)),
            };
            frame.context = context;
        }
        context.max(ROOT)
    }
}
