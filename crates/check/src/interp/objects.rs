//! Objects with runtime types: members, methods, delegates, arrays. [`crate::ir::objects`]
//! describes their layout in memory.

use super::Machine;
use super::history::WRITE;
use super::memory::Block;
use super::named::{MOST_CALLBACKS, Named, named};
use super::value::{is_unknown, mix, unknown};
use super::{RunEnd, sync::Flow};
use crate::ir::objects::{
    ARRAY, ARRAY_FIRST, ARRAY_LENGTH, ARRAY_STRIDE, DELEGATE, DELEGATE_CAPTURED, DELEGATE_FUNCTION,
    FIRST_FIELD, class_of_tag, tag,
};
use crate::ir::{AccessClass, AtomicInstr, Instr, MemoryOrdering, Scalar};
use crate::route::Route;

/// The maximum number of elements in an array's layout. Accesses beyond are to unknown places.
const MOST_ELEMENTS: u64 = 1 << 16;

/// Whether an access to a field creates order, because the field or the access is volatile.
fn is_volatile(slot: &crate::ir::objects::FieldSlot, access: AccessClass) -> bool {
    access != AccessClass::Hidden && (slot.volatile || access == AccessClass::Volatile)
}

impl Machine<'_> {
    /// Executes instructions on objects. False ends the thread's turn.
    pub(super) fn object(&mut self, ti: usize, pc: u32, instr: Instr) -> bool {
        match instr {
            Instr::New(class) => {
                let size = self.program.classes.all[class as usize].size;
                self.new_object(ti, pc, class, u64::from(size));
            }
            Instr::NewArray => {
                let length = self.pop(ti);
                self.new_array(ti, pc, length, 0);
            }
            Instr::NewGrid => {
                let (columns, rows) = (self.pop(ti), self.pop(ti));
                let length = self.bin(crate::ir::Bin::Mul, Scalar::I64, rows, columns);
                self.new_array(ti, pc, length, columns);
            }
            Instr::NewDelegate(captured) => self.new_delegate(ti, pc, usize::from(captured)),
            Instr::GetMember(name, access) => return self.get_member(ti, pc, name, access),
            Instr::SetMember(name, access) => return self.set_member(ti, pc, name, access),
            Instr::MemberAddr(name) => {
                let object = self.pop(ti);
                let Some(address) = self.member_address(ti, pc, object, name) else { return false };
                self.push(ti, address);
            }
            Instr::ElementAddr => {
                let (index, array) = (self.pop(ti), self.pop(ti));
                return self.element_address(ti, pc, array, index);
            }
            Instr::GridAddr => {
                let (column, row, array) = (self.pop(ti), self.pop(ti), self.pop(ti));
                let stride = self.word(array, ARRAY_STRIDE).unwrap_or_else(|| self.fresh_unknown());
                let before = self.bin(crate::ir::Bin::Mul, Scalar::I64, row, stride);
                let index = self.bin(crate::ir::Bin::Add, Scalar::I64, before, column);
                return self.element_address(ti, pc, array, index);
            }
            Instr::ArrayLength => {
                let array = self.pop(ti);
                if array == 0 {
                    return self.null(ti, pc);
                }
                let v = match self.class_of(array) {
                    Some(ARRAY) => self.word(array, ARRAY_LENGTH).unwrap_or(0),
                    _ => unknown(mix(311, array, 0)),
                };
                self.push(ti, v);
            }
            Instr::CallMethod(site) => return self.call_method(ti, pc, site & 0x00FF_FFFF),
            Instr::CallDelegate(n) => return self.call_delegate(ti, pc, usize::from(n)),
            Instr::CallNothing(n) => self.call_nothing(ti, usize::from(n), pc),
            Instr::IsInstance(class) => {
                let object = self.pop(ti);
                let v = match self.class_of(object) {
                    Some(_) if class == u32::MAX => 1,
                    Some(c) => u64::from(self.program.classes.all[c as usize].supers.contains(&class)),
                    None if is_unknown(object) => unknown(mix(310, object, u64::from(class))),
                    None => 0,
                };
                self.push(ti, v);
            }
            Instr::Touch(write) => self.touch_object(ti, pc, write),
            Instr::SomeObject => {
                let v = self.some_object();
                self.push(ti, v);
            }
            Instr::Throw => {
                let exception = self.pop(ti);
                return self.throw(ti, pc, exception);
            }
            Instr::Await(slot) => return self.await_task(ti, pc, slot),
            Instr::AwaitTimed => return self.await_timed(ti, pc),
            Instr::SuppressFinalizer => {
                let object = self.pop(ti);
                self.finalizable.retain(|o| *o != object);
            }
            Instr::Collect if self.call_uncalled(ti, pc) => return true,
            Instr::Collect => {
                self.collect(ti, pc);
                self.push(ti, 0);
            }
            _ => {}
        }
        self.end.is_none() && !self.turn_over
    }

    /// The class of an object; `None` for anything else.
    pub(super) fn class_of(&self, object: u64) -> Option<u32> {
        if is_unknown(object) || !object.is_multiple_of(8) {
            return None;
        }
        let at = self.memory.index(object, 8).ok()?;
        class_of_tag(self.memory.load(at, Scalar::U64))
            .filter(|c| (*c as usize) < self.program.classes.all.len())
    }

    /// A word of an object, without a trace in the access history.
    pub(super) fn word(&self, object: u64, offset: u32) -> Option<u64> {
        self.class_of(object)?;
        let at = self.memory.index(object + u64::from(offset), 8).ok()?;
        Some(self.memory.load(at, Scalar::U64))
    }

    pub(super) fn set_word(&mut self, object: u64, offset: u32, v: u64) {
        if let Ok(at) = self.memory.index(object + u64::from(offset), 8) {
            self.memory.store(at, Scalar::U64, v);
        }
    }

    pub(super) fn some_object(&mut self) -> u64 {
        let v = self.fresh_unknown();
        self.witness.settle(super::value::number(v));
        v
    }

    fn new_object(&mut self, ti: usize, pc: u32, class: u32, size: u64) -> u64 {
        let (pc, context) = self.own_place(ti, pc);
        let block = Block { address: 0, size: 0, freed: false, thread: ti as u8, pc, context };
        let Some(address) = self.memory.allocate(size, true, block) else {
            self.end = Some(RunEnd::Memory);
            return 0;
        };
        let object = u64::from(address);
        self.set_word(object, 0, tag(class));
        if self.program.classes.all[class as usize].finalizer.is_some() {
            self.finalizable.push(object);
        }
        self.push(ti, object);
        object
    }

    fn new_array(&mut self, ti: usize, pc: u32, length: u64, stride: u64) {
        let elements = if is_unknown(length) { 0 } else { length.min(MOST_ELEMENTS) };
        let size = u64::from(ARRAY_FIRST) + elements * 8;
        let array = self.new_object(ti, pc, ARRAY, size);
        if array != 0 {
            self.set_word(array, ARRAY_LENGTH, length);
            self.set_word(array, ARRAY_STRIDE, stride);
        }
    }

    fn new_delegate(&mut self, ti: usize, pc: u32, captured: usize) {
        let at = self.threads[ti].stack.len() - captured - 2;
        let parts = self.threads[ti].stack.split_off(at);
        let size = u64::from(DELEGATE_CAPTURED) + captured as u64 * 8;
        let delegate = self.new_object(ti, pc, DELEGATE, size);
        if delegate != 0 {
            for (i, part) in parts.iter().enumerate() {
                self.set_word(delegate, DELEGATE_FUNCTION + i as u32 * 8, *part);
            }
            if self.route.is_some() && self.program.function_at(parts[0]).is_some_and(|f| self.is_goal(f)) {
                self.uncalled = Some(delegate);
            }
        }
    }

    /// The address of a field; an unknown place if the object is unknown. `None` if the thread
    /// continues elsewhere.
    fn member_address(&mut self, ti: usize, pc: u32, object: u64, name: u32) -> Option<u64> {
        if object == 0 {
            self.null(ti, pc);
            return None;
        }
        let slot = self
            .class_of(object)
            .and_then(|c| self.program.classes.all[c as usize].fields.get(&name).copied());
        Some(match slot {
            Some(slot) => object + u64::from(slot.offset),
            None => self.witness.index(object, u64::from(name) * 8 + 4096, 1),
        })
    }

    fn get_member(&mut self, ti: usize, pc: u32, name: u32, access: AccessClass) -> bool {
        let object = self.pop(ti);
        if object == 0 {
            return self.null(ti, pc);
        }
        if let Some(c) = self.class_of(object) {
            let class = &self.program.classes.all[c as usize];
            if let Some(slot) = class.fields.get(&name) {
                let address = object + u64::from(slot.offset);
                if is_volatile(slot, access) {
                    self.push(ti, address);
                    return self.atomic(ti, pc, AtomicInstr::Load, Scalar::U64, MemoryOrdering::SeqCst);
                }
                let v = self.load(ti, pc, address, Scalar::U64, access);
                self.push(ti, v);
                return !self.turn_over;
            }
            let getter = self.program.classes.properties[name as usize][0];
            if let Some(f) = class.methods.get(&getter).copied() {
                self.push(ti, object);
                return self.call(ti, f, 1, pc);
            }
        }
        // The unknown value is the same each time, and the access implies that the object is not
        // null.
        let address = self.witness.index(object, u64::from(name) * 8 + 4096, 1);
        let v = self.load(ti, pc, address, Scalar::U64, AccessClass::Hidden);
        self.push(ti, v);
        self.end.is_none()
    }

    fn set_member(&mut self, ti: usize, pc: u32, name: u32, access: AccessClass) -> bool {
        let (v, object) = (self.pop(ti), self.pop(ti));
        if object == 0 {
            return self.null(ti, pc);
        }
        let Some(c) = self.class_of(object) else { return true };
        let class = &self.program.classes.all[c as usize];
        if let Some(slot) = class.fields.get(&name) {
            let address = object + u64::from(slot.offset);
            if is_volatile(slot, access) {
                self.push(ti, address);
                self.push(ti, v);
                return self.atomic(ti, pc, AtomicInstr::Store, Scalar::U64, MemoryOrdering::SeqCst);
            }
            self.store(ti, pc, address, Scalar::U64, access, v);
            return !self.turn_over;
        }
        let setter = self.program.classes.properties[name as usize][1];
        if let Some(f) = class.methods.get(&setter).copied() {
            let depth = self.threads[ti].frames.len();
            self.push(ti, object);
            self.push(ti, v);
            let goes_on = self.call(ti, f, 2, pc);
            let t = &mut self.threads[ti];
            if t.frames.len() <= depth {
                t.stack.pop();
            } else if let Some(frame) = t.frames.last_mut() {
                frame.discard = true;
            }
            return goes_on;
        }
        true
    }

    fn element_address(&mut self, ti: usize, pc: u32, array: u64, index: u64) -> bool {
        if array == 0 {
            return self.null(ti, pc);
        }
        let first = array.wrapping_add(u64::from(ARRAY_FIRST));
        let v = match self.class_of(array) {
            Some(ARRAY) if !is_unknown(index) => {
                let length = self.word(array, ARRAY_LENGTH).unwrap_or(0);
                if !is_unknown(length) && index >= length {
                    let exception = self.some_object();
                    return self.throw(ti, pc, exception);
                }
                let size = self.memory.block(array).map_or(0, |b| u64::from(b.size));
                // Of an unknown length any index is possible, negative ones too.
                let at = index.checked_mul(8).and_then(|at| at.checked_add(u64::from(ARRAY_FIRST)));
                match at.filter(|at| *at < size) {
                    Some(at) => array + at,
                    None => self.witness.index(unknown(mix(312, array, 0)), index, 8),
                }
            }
            Some(ARRAY) => self.witness.index(first, index, 8),
            _ => self.witness.index(array, index, 8),
        };
        self.push(ti, v);
        true
    }

    fn call_method(&mut self, ti: usize, pc: u32, site: u32) -> bool {
        let program = self.program;
        let site = &program.classes.calls[site as usize];
        let n = usize::from(site.arguments);
        let at = self.threads[ti].stack.len() - n;
        let object = self.threads[ti].stack[at];
        if object == 0 {
            self.threads[ti].stack.truncate(at);
            return self.null(ti, pc);
        }
        if let Some(c) = self.class_of(object) {
            let methods = &program.classes.all[c as usize].methods;
            if let Some(f) = site.keys.iter().find_map(|k| methods.get(k)).copied() {
                return self.call(ti, f, n, pc);
            }
        } else if is_unknown(object) {
            self.note_site(pc);
            if let Some(f) = site.keys.iter().find_map(|k| program.classes.on_unknown.get(k)).copied() {
                return self.call(ti, f, n, pc);
            }
            if let Some(what) = synchronises(&site.name) {
                return self.call_named(ti, what, n, pc);
            }
        }
        self.call_nothing(ti, n, pc);
        true
    }

    fn call_delegate(&mut self, ti: usize, pc: u32, n: usize) -> bool {
        let at = self.threads[ti].stack.len() - n - 1;
        let delegate = self.threads[ti].stack[at];
        if delegate == 0 {
            self.threads[ti].stack.truncate(at);
            return self.null(ti, pc);
        }
        if self.class_of(delegate) == Some(DELEGATE)
            && let Some(f) = self.word(delegate, DELEGATE_FUNCTION).and_then(|f| self.program.function_at(f))
        {
            let is_own = !self.program.functions[f as usize].builtin;
            let t = &mut self.threads[ti];
            if is_own && self.program.functions[t.function as usize].builtin {
                t.function = f;
            }
            return self.call(ti, f, n + 1, pc);
        }
        self.call_nothing(ti, n + 1, pc);
        true
    }

    /// A call of an unknown function. Its effect on its arguments is unknown, but a delegate may do
    /// what another thread waits for.
    fn call_nothing(&mut self, ti: usize, n: usize, pc: u32) {
        let at = self.threads[ti].stack.len() - n;
        let args = self.threads[ti].stack.split_off(at);
        self.approximate |= args.iter().any(|a| {
            self.class_of(*a).is_some_and(|c| c != ARRAY && !self.program.classes.all[c as usize].builtin)
                || self.class_of(*a) == Some(DELEGATE)
        });
        let v = self.fresh_unknown();
        self.push(ti, v);
        // Until there are threads, it does no harm to call a delegate now instead of later, unless
        // the caller holds a lock.
        let alone = self.threads.len() == 1 && self.threads[ti].held.is_empty() && !self.threads[ti].vague;
        if let Some(delegate) = args.into_iter().find(|a| alone && self.class_of(*a) == Some(DELEGATE)) {
            self.call_now(ti, delegate, pc.wrapping_add(1));
        }
    }

    /// Calls a delegate with unknown arguments and drops its result. False if it cannot be called,
    /// or was already called at this place.
    fn call_now(&mut self, ti: usize, delegate: u64, return_pc: u32) -> bool {
        let function = self.word(delegate, DELEGATE_FUNCTION).and_then(|f| self.program.function_at(f));
        let is_own = function.is_some_and(|f| !self.program.functions[f as usize].builtin);
        let Some(by) = self.program.classes.call_back.filter(|_| is_own) else { return false };
        let called = &mut self.threads[ti].called_back;
        if called.contains(&return_pc) || called.len() > MOST_CALLBACKS {
            return false;
        }
        called.push(return_pc);
        self.call_back(ti, by, &[delegate], return_pc)
    }

    /// Whether a function is the goal of the current start in the middle.
    pub(super) fn is_goal(&self, f: u32) -> bool {
        self.route.as_ref().and_then(Route::goal) == Some(f)
    }

    /// At the end of a start in the middle: calls the nested function that is its goal, if its
    /// delegate was made but never called.
    fn call_uncalled(&mut self, ti: usize, pc: u32) -> bool {
        let Some(delegate) = self.uncalled.take().filter(|_| self.threads.len() == 1) else { return false };
        self.call_now(ti, delegate, pc)
    }

    /// The innermost place of the program's own code, and its context. The library's actions count
    /// as done there.
    pub(super) fn own_place(&mut self, ti: usize, pc: u32) -> (u32, super::context::ContextId) {
        let program = self.program;
        let is_own = |pc: u32| {
            program.pos_of.get(pc as usize).is_some_and(|pos| pos.line > 0 && !program.is_builtin(*pos))
        };
        let innermost = self.context(ti);
        if is_own(pc) {
            return (pc, innermost);
        }
        let frames = &self.threads[ti].frames;
        for i in (1..frames.len()).rev() {
            let call = frames[i].return_pc.wrapping_sub(1);
            if is_own(call) {
                return (call, frames[i - 1].context);
            }
        }
        (pc, innermost)
    }

    /// Records that a library method uses an object that only one thread may use at a time.
    fn touch_object(&mut self, ti: usize, pc: u32, write: bool) {
        let object = self.pop(ti);
        let Ok(at) = self.memory.index(object, 8) else { return };
        if !self.watching || is_unknown(object) || self.class_of(object).is_none() {
            return;
        }
        let (pc, context) = self.own_place(ti, pc);
        let kept = self.threads[ti].frames.last().map_or(0, |f| f.context);
        if let Some(f) = self.threads[ti].frames.last_mut() {
            f.context = context;
        }
        self.watch(ti, pc, at, 8, if write { WRITE } else { 0 });
        if let Some(f) = self.threads[ti].frames.last_mut() {
            f.context = kept;
        }
    }

    /// The name of a part of an object, for reports.
    pub(super) fn object_part(&self, block: u64, offset: u32) -> Option<super::raw::ObjectPart> {
        let number = self.class_of(block)?;
        let class = &self.program.classes.all[number as usize];
        let name = match number {
            ARRAY if offset >= ARRAY_FIRST => format!("element {} of an array", (offset - ARRAY_FIRST) / 8),
            _ if offset < FIRST_FIELD => return Some(super::raw::ObjectPart { class: number, name: None }),
            _ => class.field_at(offset / 8 * 8)?.to_string(),
        };
        Some(super::raw::ObjectPart { class: number, name: Some(name) })
    }

    /// Blocks a thread on an instruction that it will retry.
    pub(super) fn block_here(&mut self, ti: usize, pc: u32, state: super::thread::State) -> bool {
        let t = &mut self.threads[ti];
        (t.state, t.pc) = (state, pc);
        self.look_for_deadlock(ti);
        false
    }

    /// Starts a builtin function with an argument on a new thread.
    pub(super) fn start_function(&mut self, ti: usize, f: u32, argument: u64, pc: u32) {
        let address = crate::ir::Program::function_address(f);
        if let Flow::Done(_) = self.start(ti, address, argument, pc, (0, 1)) {}
    }
}

/// What a method does to an unknown object, judged by its name. A method that waits may guard
/// whatever follows: nothing is reported about that until the guard is released.
fn synchronises(name: &str) -> Option<Named> {
    let begins = |words: &[&str]| words.iter().any(|w| name.starts_with(w));
    match named(name) {
        Some(what @ (Named::Lock | Named::ReadLock | Named::Unlock)) => Some(what),
        _ if begins(&["Wait", "Enter", "TryEnter", "Acquire", "TryAcquire", "Join"]) => Some(Named::Lock),
        _ if begins(&["Release", "Exit"]) => Some(Named::Unlock),
        _ => None,
    }
}
