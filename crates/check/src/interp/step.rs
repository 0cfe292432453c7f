//! The step loop: one instruction after the other of one thread, until its turn is over.

use super::clock::PackedEpoch;
use super::history::{HANDLER, HistoryCell, VOLATILE, WRITE};
use super::memory::Bad;
use super::thread::{SimulatedThread, State};
use super::value::{self, is_unknown, mix, unknown};
use super::{Machine, RunEnd};
use crate::ir::{AccessClass, Bin, Instr, Scalar, Un};

/// A call of an unknown function with pointers forgets at most this many bytes behind each.
pub(super) const HAVOC: u64 = 4096;

/// The number of reads of a volatile object at one place before its value changes.
const POLLS: u32 = 200;

/// A value that a thread stored through an unknown pointer or in an object of unknown type. The
/// same thread finds it there a few times, until it synchronises, calls an unknown function, or
/// stores through another unknown pointer, which may be the same: `*thread = handle; if (!*thread)
/// …` has only one path. Volatile objects may change by themselves.
#[derive(Debug, Clone, Copy)]
pub struct StoredElsewhere {
    thread: usize,
    ty: Scalar,
    value: u64,
    /// How often it is still found. A thread that keeps looking waits for another thread's store.
    looks: u8,
}

/// How often a thread finds what it stored itself. See [`StoredElsewhere::looks`].
const LOOKS: u8 = 8;

impl StoredElsewhere {
    fn seen_by(&mut self, thread: usize, ty: Scalar) -> Option<u64> {
        let is_whole =
            self.thread == thread && self.ty.size() == ty.size() && !ty.is_float() && self.looks > 0;
        self.looks = self.looks.saturating_sub(1);
        let value = if is_unknown(self.value) { self.value } else { ty.wrap(self.value) };
        is_whole.then_some(value)
    }
}

impl Machine<'_> {
    /// Runs a thread for at most `fuel` instructions.
    pub(super) fn run_thread(&mut self, ti: usize, fuel: u64) {
        let fuel = fuel.min(self.step_limit.saturating_sub(self.steps));
        let mut left = fuel;
        let code = &self.program.code[..];
        while left > 0 {
            left -= 1;
            let pc = self.threads[ti].pc;
            self.threads[ti].pc = pc + 1;
            if !self.step(ti, pc, code[pc as usize]) {
                break;
            }
        }
        self.turn_over = false;
        self.steps += fuel - left;
    }

    /// Runs one instruction. False ends the thread's turn.
    #[inline(always)]
    fn step(&mut self, ti: usize, pc: u32, instr: Instr) -> bool {
        let t = &mut self.threads[ti];
        match instr {
            Instr::Nop | Instr::Gap => {}
            Instr::Int(v) => t.push(i64::from(v) as u64),
            Instr::Get(n) => t.push(t.local(n)),
            Instr::Set(n) => {
                let v = t.pop();
                t.set_local(n, v);
            }
            Instr::Tee(n) => {
                let v = t.top();
                t.set_local(n, v);
            }
            Instr::FrameAddr(n) => t.push(u64::from(t.frames.last().map_or(0, |f| f.memory)) + u64::from(n)),
            Instr::GlobalAddr(a) => t.push(u64::from(a)),
            Instr::Jump(to) => t.pc = to,
            Instr::Dup => t.push(t.top()),
            Instr::Drop => {
                t.pop();
            }
            Instr::Swap => {
                let n = t.stack.len();
                t.stack.swap(n - 1, n - 2);
            }
            Instr::Bin(..) | Instr::Un(..) | Instr::Conv(..) | Instr::Index(_) | Instr::Field(_) => {
                self.compute(ti, instr);
            }
            Instr::Load(..) | Instr::Store(..) | Instr::StoreTee(..) => return self.access(ti, pc, instr),
            Instr::JumpIf(to) | Instr::JumpIfNot(to) => {
                let v = t.pop();
                let truth = if is_unknown(v) { self.decide(ti, v, pc) } else { v != 0 };
                if truth == matches!(instr, Instr::JumpIf(_)) {
                    self.threads[ti].pc = to;
                }
            }
            Instr::Call(f, n) => return self.call(ti, f, usize::from(n), pc),
            Instr::Return => {
                self.ret(ti);
                return self.end.is_none() && !self.threads[ti].frames.is_empty();
            }
            Instr::Sync(op) => return self.sync(ti, op, pc),
            other => return self.rare(ti, pc, other),
        }
        true
    }

    /// Executes instructions that compute a value from others.
    #[inline(always)]
    fn compute(&mut self, ti: usize, instr: Instr) {
        let t = &mut self.threads[ti];
        let b = if matches!(instr, Instr::Bin(..) | Instr::Index(_)) { t.pop() } else { 0 };
        let a = t.pop();
        let v = match instr {
            Instr::Bin(op, ty) => self.bin(op, ty, a, b),
            Instr::Un(op, ty) => self.un(op, ty, a),
            Instr::Conv(from, to) => self.conv(from, to, a),
            Instr::Index(n) => self.element(a, b, u64::from(n)),
            Instr::Field(n) => self.field(a, u64::from(n)),
            _ => a,
        };
        self.threads[ti].push(v);
    }

    #[inline(always)]
    pub(super) fn bin(&mut self, op: Bin, ty: Scalar, a: u64, b: u64) -> u64 {
        if is_unknown(a) || is_unknown(b) {
            return self.witness.bin(op, ty, a, b);
        }
        value::known_bin(op, ty, a, b)
    }

    #[inline(always)]
    pub(super) fn un(&mut self, op: Un, ty: Scalar, a: u64) -> u64 {
        if is_unknown(a) { self.witness.un(op, ty, a) } else { value::known_un(op, ty, a) }
    }

    #[inline(always)]
    fn conv(&mut self, from: Scalar, to: Scalar, a: u64) -> u64 {
        if is_unknown(a) { self.witness.conv(from, to, a) } else { value::known_conv(from, to, a) }
    }

    /// The address of an element of `size` bytes. An address outside its object is unknown: a loop
    /// with an unknown bound, or an object of guessed size, must not reach into another object.
    #[inline(always)]
    fn element(&mut self, a: u64, i: u64, size: u64) -> u64 {
        if is_unknown(a) || is_unknown(i) {
            return self.witness.index(a, i, size);
        }
        let to = a.wrapping_add(i.wrapping_mul(size));
        let (start, end) = self.last_object;
        let stays = a >= start && a <= end && to >= start && to <= end;
        if stays || self.stays_in_object(a, to) { to } else { self.witness.index(a, i, size) }
    }

    #[inline(always)]
    fn field(&mut self, a: u64, offset: u64) -> u64 {
        self.element(a, offset, 1)
    }

    /// Whether two addresses lie in one object or just behind it. True for addresses in no known
    /// object.
    #[cold]
    fn stays_in_object(&mut self, a: u64, to: u64) -> bool {
        let Some((start, end)) = self.object_around(a) else { return true };
        self.last_object = (start, end);
        start <= to && to <= end
    }

    /// The start and end of the object around an address: a global, a heap block, a frame.
    pub(super) fn object_around(&self, a: u64) -> Option<(u64, u64)> {
        let globals = &self.program.globals;
        let global =
            globals.partition_point(|g| u64::from(g.address) <= a).checked_sub(1).map(|i| &globals[i]);
        match global.map(|g| (u64::from(g.address), u64::from(g.address) + u64::from(g.size))) {
            Some((start, end)) if a < end => Some((start, end)),
            // The heap may begin just behind the last global.
            Some((start, end)) if a == end => self.memory.extent_around(a).or(Some((start, end))),
            _ => self.memory.extent_around(a),
        }
    }

    /// The number of bytes of a range that lie in the object in which it begins.
    pub(super) fn within_object(&self, address: u64, size: u64) -> u64 {
        match self.object_around(address) {
            Some((_, end)) => size.min(end - address),
            None => size,
        }
    }

    /// Executes loads and stores. False ends the thread's turn.
    #[inline(always)]
    fn access(&mut self, ti: usize, pc: u32, instr: Instr) -> bool {
        match instr {
            Instr::Load(ty, access) => {
                let address = self.pop(ti);
                let v = self.load(ti, pc, address, ty, access);
                self.push(ti, v);
            }
            Instr::Store(ty, access) | Instr::StoreTee(ty, access) => {
                let v = self.pop(ti);
                let address = self.pop(ti);
                self.store(ti, pc, address, ty, access, v);
                if matches!(instr, Instr::StoreTee(..)) {
                    self.push(ti, ty.wrap_known(v));
                }
            }
            _ => {}
        }
        !self.turn_over
    }

    /// Executes instructions that need not be fast. False ends the thread's turn.
    fn rare(&mut self, ti: usize, pc: u32, instr: Instr) -> bool {
        let may_store = matches!(
            instr,
            Instr::Copy(_) | Instr::CopyAtomic(_) | Instr::Atomic(..) | Instr::Assembly | Instr::Intrinsic(_)
        );
        if may_store {
            self.forget_elsewhere(ti);
        }
        match instr {
            Instr::Const(n) => self.push(ti, self.program.constants[n as usize]),
            Instr::Unknown => {
                let v = self.fresh_unknown();
                self.push(ti, v);
            }
            Instr::FuncAddr(f) => self.push(ti, crate::ir::Program::function_address(f)),
            Instr::TlsAddr(n) => self.push(ti, u64::from(self.threads[ti].tls) + u64::from(n)),
            Instr::LoadBits(ty, at, width) => {
                let (ty, at, offset) = ty.around_bits(at, width);
                let address = self.pop(ti);
                let address = self.field(address, offset);
                let whole = self.load(ti, pc, address, ty, AccessClass::Plain);
                let v = self.extract(whole, ty, at, width);
                self.push(ti, v);
            }
            Instr::StoreBits(ty, at, width) => self.store_bits(ti, pc, ty, at, width),
            Instr::Copy(size) => {
                let (from, to) = (self.pop(ti), self.pop(ti));
                self.copy(ti, pc, to, from, u64::from(size), 0);
            }
            Instr::CopyAtomic(size) => {
                let (from, to) = (self.pop(ti), self.pop(ti));
                self.copy_atomically(ti, pc, to, from, u64::from(size));
            }
            Instr::Zero(size) => {
                let address = self.pop(ti);
                if !is_unknown(address)
                    && let Ok(at) = self.memory.index(address, u64::from(size))
                {
                    self.memory.fill(at, size as usize, 0);
                }
            }
            Instr::UnknownField(name) => {
                let a = self.pop(ti);
                self.push(ti, unknown(mix(303, a, u64::from(name))));
            }
            Instr::PtrDiff(size) => {
                let (b, a) = (self.pop(ti), self.pop(ti));
                let bytes = self.bin(Bin::Sub, Scalar::I64, a, b);
                let v = self.bin(Bin::Div, Scalar::I64, bytes, u64::from(size.max(1)));
                self.push(ti, v);
            }
            Instr::Switch(table) => {
                let v = self.pop(ti);
                let program = self.program;
                let to = self.switch_target(ti, &program.switches[table as usize], v);
                self.threads[ti].pc = to;
            }
            Instr::CallPtr(n) => {
                let f = self.pop(ti);
                return self.call_pointer(ti, f, usize::from(n), pc);
            }
            Instr::Atomic(op, ty, order) => return self.atomic(ti, pc, op, ty, order),
            Instr::Fence(order) => self.fence(ti, order),
            Instr::Assembly => self.assembly(ti, pc),
            Instr::Intrinsic(op) => self.intrinsic(ti, pc, op),
            Instr::VarArgs => {
                let v = self.threads[ti].frames.last().map_or(0, |f| f.varargs);
                self.push(ti, u64::from(v));
            }
            other => return self.object(ti, pc, other),
        }
        self.end.is_none() && !self.turn_over
    }

    pub(super) fn push(&mut self, ti: usize, v: u64) {
        self.threads[ti].push(v);
    }

    pub(super) fn pop(&mut self, ti: usize) -> u64 {
        self.threads[ti].pop()
    }

    #[inline(always)]
    pub(super) fn load(&mut self, ti: usize, pc: u32, address: u64, ty: Scalar, access: AccessClass) -> u64 {
        let at = match self.memory.index(address, u64::from(ty.size())) {
            Ok(at) => at,
            Err(bad) => return self.load_elsewhere(ti, address, ty, access, bad),
        };
        if self.watching && access != AccessClass::Hidden {
            self.watch(ti, pc, at, ty.size(), if access == AccessClass::Volatile { VOLATILE } else { 0 });
        }
        if access == AccessClass::Volatile && self.is_polled_in_vain(ti, pc, address) {
            return self.fresh_unknown();
        }
        self.load_from(ti, at, ty)
    }

    /// What a thread finds at a place in memory.
    #[inline(always)]
    pub(super) fn load_from(&mut self, ti: usize, at: usize, ty: Scalar) -> u64 {
        let v = self.memory.load(at, ty);
        if is_unknown(v) && self.has_former_values() {
            self.meet_former_value(ti, at, ty, v);
        }
        v
    }

    /// Whether a thread has long read a volatile object that the entry was given, and no other
    /// thread can change it: `while (registers->control & BUSY) {}`. Then the object belongs to a
    /// device.
    #[cold]
    fn is_polled_in_vain(&mut self, ti: usize, pc: u32, address: u64) -> bool {
        if !self.arguments.iter().any(|(start, end)| *start <= address && address < *end) {
            return false;
        }
        let polls = self.polls.entry((ti, pc)).or_insert(0);
        *polls += 1;
        let is_ready = |(i, t): (usize, &SimulatedThread)| i != ti && t.state == State::Runnable;
        *polls > POLLS && !self.threads.iter().enumerate().any(is_ready)
    }

    /// Forgets what a thread stored through unknown pointers, because others may have changed it.
    pub(super) fn forget_elsewhere(&mut self, ti: usize) {
        if !self.stored_elsewhere.is_empty() {
            self.stored_elsewhere.retain(|_, s| s.thread != ti);
        }
    }

    /// A load from an address where nothing is known. It finds what this thread has just stored
    /// there.
    #[cold]
    fn load_elsewhere(&mut self, ti: usize, address: u64, ty: Scalar, access: AccessClass, bad: Bad) -> u64 {
        let other = self.bad_load(ti, address, bad);
        if access == AccessClass::Volatile {
            return other;
        }
        self.stored_elsewhere.get_mut(&address).and_then(|s| s.seen_by(ti, ty)).unwrap_or(other)
    }

    /// A store to an address where nothing is known. Through an unknown pointer, it is remembered
    /// for a while.
    #[cold]
    fn store_elsewhere(&mut self, ti: usize, address: u64, ty: Scalar, v: u64, bad: Bad) {
        self.bad_load(ti, address, bad);
        self.forget_elsewhere(ti);
        if is_unknown(address) {
            let stored = StoredElsewhere { thread: ti, ty, value: ty.wrap_known(v), looks: LOOKS };
            self.stored_elsewhere.insert(address, stored);
        }
    }

    #[cold]
    fn bad_load(&mut self, _: usize, address: u64, bad: Bad) -> u64 {
        let is_null = if is_unknown(address) { self.is_null(address) } else { bad == Bad::Null };
        if is_null {
            self.end = Some(RunEnd::Crashed);
            self.turn_over = true;
        }
        unknown(mix(304, address, 0))
    }

    /// Whether an address is null. An access through an unknown pointer implies that it is not
    /// null, unless it was found to be.
    fn is_null(&mut self, address: u64) -> bool {
        let base = self.witness.base_of(address);
        if !is_unknown(base) {
            return false;
        }
        let (name, negated) = self.witness.strip(base);
        let known = self.witness.is_decided(name);
        let truth = if known { self.witness.truth(name) } else { self.witness.assume(name, !negated) };
        truth == negated
    }

    #[inline(always)]
    pub(super) fn store(
        &mut self,
        ti: usize,
        pc: u32,
        address: u64,
        ty: Scalar,
        access: AccessClass,
        v: u64,
    ) {
        match self.memory.index(address, u64::from(ty.size())) {
            Ok(at) => {
                if self.watching && access != AccessClass::Hidden {
                    let flags = if access == AccessClass::Volatile { WRITE | VOLATILE } else { WRITE };
                    self.watch(ti, pc, at, ty.size(), flags);
                }
                self.memory.store(at, ty, v);
            }
            Err(bad) => self.store_elsewhere(ti, address, ty, v, bad),
        }
    }

    fn store_bits(&mut self, ti: usize, pc: u32, ty: Scalar, at: u8, width: u8) {
        let (v, address) = (self.pop(ti), self.pop(ti));
        let (ty, at, offset) = ty.around_bits(at, width);
        let address = self.field(address, offset);
        // To the reader the surrounding bits are not accessed. But a bit-field's neighbours do
        // share its memory location (C11 3.14), so the write covers the surrounding bytes.
        let whole = self.load(ti, pc, address, ty, AccessClass::Hidden);
        let mask = field_mask(width) << at;
        let kept = self.bin(Bin::And, Scalar::U64, whole, ty.unsigned_mask() & !mask);
        let shifted = self.bin(Bin::Shl, Scalar::U64, v, u64::from(at));
        let put = self.bin(Bin::And, Scalar::U64, shifted, mask);
        let new = self.bin(Bin::Or, Scalar::U64, kept, put);
        self.store(ti, pc, address, ty, AccessClass::Plain, ty.wrap_known(new));
        let result = self.extract(put, ty, at, width);
        self.push(ti, result);
    }

    /// Extracts a bit-field of a scalar.
    fn extract(&mut self, whole: u64, ty: Scalar, at: u8, width: u8) -> u64 {
        let shifted = self.bin(Bin::Shr, Scalar::U64, whole, u64::from(at));
        let bits = self.bin(Bin::And, Scalar::U64, shifted, field_mask(width));
        if !ty.is_signed() || width >= 64 || width == 0 {
            return bits;
        }
        let up = u64::from(64 - width);
        let high = self.bin(Bin::Shl, Scalar::I64, bits, up);
        self.bin(Bin::Shr, Scalar::I64, high, up)
    }

    /// Records an access of at most eight bytes and checks for a race.
    #[inline(always)]
    pub(super) fn watch(&mut self, ti: usize, pc: u32, at: usize, size: u32, flags: u8) {
        if self.knowledge.hot[pc as usize] {
            self.at_hot_access(ti);
        }
        if self.threads[ti].ignores[usize::from(flags & WRITE != 0)] > 0 {
            return;
        }
        let cell = self.cell(ti, pc, flags);
        let (granule, shift) = (at / 8, at % 8);
        let mask = (0xFFu16 >> (8 - size)) << shift;
        self.record(ti, granule, HistoryCell { mask: mask as u8, ..cell }, size);
        if mask > 0xFF {
            self.record(ti, granule + 1, HistoryCell { mask: (mask >> 8) as u8, ..cell }, size);
        }
    }

    #[inline(always)]
    fn cell(&mut self, ti: usize, pc: u32, flags: u8) -> HistoryCell {
        let context = self.context(ti);
        let t = &self.threads[ti];
        let handler = if t.interrupts.is_some() { HANDLER } else { 0 };
        HistoryCell {
            epoch: PackedEpoch::new(ti, t.clock.get(ti)),
            pc,
            context,
            lockset: t.lockset,
            mask: 0,
            flags: flags | handler,
        }
    }

    #[inline(always)]
    fn record(&mut self, ti: usize, granule: usize, cell: HistoryCell, size: u32) {
        self.memory.touch(granule * 8, 8);
        let clock = &self.threads[ti].clock;
        let race = if cell.flags & WRITE != 0 {
            self.memory.history.write(granule, cell, clock)
        } else {
            self.memory.history.read(granule, cell, clock)
        };
        if race {
            for old in std::mem::take(&mut self.memory.history.races) {
                self.report_race(old, cell, granule, size);
            }
        }
    }

    /// Records an access to a range of any length.
    pub(super) fn watch_range(&mut self, ti: usize, pc: u32, at: usize, size: usize, flags: u8) {
        let ignored = self.threads[ti].ignores[usize::from(flags & WRITE != 0)] > 0;
        if !self.watching || size == 0 || ignored {
            return;
        }
        if self.knowledge.hot[pc as usize] {
            self.at_hot_access(ti);
        }
        let cell = self.cell(ti, pc, flags);
        let (first, last) = (at / 8, (at + size - 1) / 8);
        for granule in first..=last {
            let from = if granule == first { at % 8 } else { 0 };
            let to = if granule == last { (at + size - 1) % 8 } else { 7 };
            let mask = (0xFFu8 << from) & (0xFFu8 >> (7 - to));
            self.record(ti, granule, HistoryCell { mask, ..cell }, size.min(u32::MAX as usize) as u32);
        }
    }

    /// `to` and `from` may be unknown. Then the copy does nothing, or leaves unknowns.
    pub(super) fn copy(&mut self, ti: usize, pc: u32, to: u64, from: u64, size: u64, flags: u8) {
        let size = self.within_object(from, self.within_object(to, size));
        if size == 0 || is_unknown(to) {
            return;
        }
        let to_at = match self.memory.index(to, size) {
            Ok(at) => at,
            Err(bad) => {
                self.bad_load(ti, to, bad);
                return;
            }
        };
        self.pay_for(size);
        match self.memory.index(from, size) {
            Ok(from_at) if !is_unknown(from) => {
                self.watch_range(ti, pc, from_at, size as usize, flags);
                self.watch_range(ti, pc, to_at, size as usize, flags | WRITE);
                self.memory.copy(to_at, from_at, size as usize);
            }
            result => {
                if let Err(Bad::Null) = result
                    && !is_unknown(from)
                {
                    self.end = Some(RunEnd::Crashed);
                    return;
                }
                self.watch_range(ti, pc, to_at, size as usize, flags | WRITE);
                self.fresh = self.fresh.wrapping_add(1);
                self.make_unknown(to_at, size as usize, u64::from(self.fresh));
            }
        }
    }
}

impl Scalar {
    /// A mask of the type's bits.
    const fn unsigned_mask(self) -> u64 {
        if self.size() == 8 { u64::MAX } else { (1 << (self.size() * 8)) - 1 }
    }

    /// The smallest scalar within this one that contains the given bits: its type, the first bit in
    /// it, its offset. The neighbour of a bit-field in its unit need not be a bit-field.
    fn around_bits(self, at: u8, width: u8) -> (Self, u8, u64) {
        let last = at + width.max(1) - 1;
        let signed = self.is_signed();
        let narrower = [(Self::I8, Self::U8), (Self::I16, Self::U16), (Self::I32, Self::U32)];
        for (bits, (i, u)) in [8, 16, 32].into_iter().zip(narrower) {
            if u32::from(bits) < self.size() * 8 && at / bits == last / bits {
                return (if signed { i } else { u }, at % bits, u64::from(at / bits * (bits / 8)));
            }
        }
        (self, at, 0)
    }

    /// Wraps unless the value is unknown.
    #[inline(always)]
    fn wrap_known(self, v: u64) -> u64 {
        if is_unknown(v) { v } else { self.wrap(v) }
    }
}

fn field_mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}
