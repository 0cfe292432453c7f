//! The step loop: one instruction after the other of one thread, until its turn is over.

use super::clock::Epoch;
use super::history::{Cell, HANDLER, VOLATILE, WRITE};
use super::memory::Bad;
use super::value::{self, is_unknown, mix, number, unknown};
use super::{End, Machine};
use crate::ir::{Access, Instr, Scalar, SwitchTable};

/// Calls of unknown functions with pointers forget at most this much of what lies behind each.
pub(super) const HAVOC: u64 = 4096;

impl Machine<'_> {
    /// Runs a thread for at most `fuel` instructions.
    pub(super) fn run_thread(&mut self, ti: usize, fuel: u64) {
        let fuel = fuel.min(self.step_limit.saturating_sub(self.steps));
        let mut left = fuel;
        let code = &self.program.code[..];
        macro_rules! t {
            () => {
                self.threads[ti]
            };
        }
        macro_rules! push {
            ($v:expr) => {{
                let v = $v;
                t!().stack.push(v)
            }};
        }
        macro_rules! pop {
            () => {
                t!().stack.pop().unwrap_or(0)
            };
        }
        while left > 0 {
            left -= 1;
            let pc = t!().pc;
            let instr = code[pc as usize];
            t!().pc = pc + 1;
            match instr {
                Instr::Nop | Instr::Gap => {}
                Instr::Int(v) => push!(i64::from(v) as u64),
                Instr::Get(n) => {
                    let th = &mut t!();
                    let base = th.frames.last().map_or(0, |f| f.base) as usize;
                    let v = th.stack[base + usize::from(n)];
                    th.stack.push(v);
                }
                Instr::Set(n) => {
                    let th = &mut t!();
                    let v = th.stack.pop().unwrap_or(0);
                    let base = th.frames.last().map_or(0, |f| f.base) as usize;
                    th.stack[base + usize::from(n)] = v;
                }
                Instr::Tee(n) => {
                    let th = &mut t!();
                    let v = th.stack.last().copied().unwrap_or(0);
                    let base = th.frames.last().map_or(0, |f| f.base) as usize;
                    th.stack[base + usize::from(n)] = v;
                }
                Instr::Bin(op, ty) => {
                    let th = &mut t!();
                    let b = th.stack.pop().unwrap_or(0);
                    if let Some(a) = th.stack.last_mut() {
                        *a = value::bin(op, ty, *a, b);
                    }
                }
                Instr::Un(op, ty) => {
                    if let Some(a) = t!().stack.last_mut() {
                        *a = value::un(op, ty, *a);
                    }
                }
                Instr::Conv(from, to) => {
                    if let Some(a) = t!().stack.last_mut() {
                        *a = value::conv(from, to, *a);
                    }
                }
                Instr::Load(ty, access) => {
                    let address = pop!();
                    let v = self.load(ti, pc, address, ty, access);
                    push!(v);
                    if self.turn_over {
                        break;
                    }
                }
                Instr::Store(ty, access) => {
                    let v = pop!();
                    let address = pop!();
                    self.store(ti, pc, address, ty, access, v);
                    if self.turn_over {
                        break;
                    }
                }
                Instr::StoreTee(ty, access) => {
                    let v = pop!();
                    let address = pop!();
                    self.store(ti, pc, address, ty, access, v);
                    push!(ty.wrap_known(v));
                    if self.turn_over {
                        break;
                    }
                }
                Instr::FrameAddr(n) => {
                    let base = t!().frames.last().map_or(0, |f| f.memory);
                    push!(u64::from(base) + u64::from(n));
                }
                Instr::GlobalAddr(a) => push!(u64::from(a)),
                Instr::Index(n) => {
                    let i = pop!();
                    if let Some(a) = t!().stack.last_mut() {
                        let to = index(*a, i, u64::from(n));
                        let lost = self.memory.leaves_guess(*a, to, u64::from(n));
                        *a = if lost { unknown_index(*a, i, u64::from(n)) } else { to };
                    }
                }
                Instr::Field(n) => {
                    if let Some(a) = t!().stack.last_mut() {
                        *a = index(*a, u64::from(n), 1);
                    }
                }
                Instr::Jump(to) => t!().pc = to,
                Instr::JumpIf(to) => {
                    let v = pop!();
                    let taken = if is_unknown(v) { self.decide(v, pc) } else { v != 0 };
                    if taken {
                        t!().pc = to;
                    }
                }
                Instr::JumpIfNot(to) => {
                    let v = pop!();
                    let taken = if is_unknown(v) { self.decide(v, pc) } else { v != 0 };
                    if !taken {
                        t!().pc = to;
                    }
                }
                Instr::Dup => {
                    let v = t!().stack.last().copied().unwrap_or(0);
                    push!(v);
                }
                Instr::Drop => {
                    pop!();
                }
                Instr::Swap => {
                    let th = &mut t!();
                    let n = th.stack.len();
                    th.stack.swap(n - 1, n - 2);
                }
                Instr::Call(f, n) => {
                    if !self.call(ti, f, usize::from(n), pc) {
                        break;
                    }
                }
                Instr::Return => {
                    self.ret(ti);
                    if self.end.is_some() || t!().frames.is_empty() {
                        break;
                    }
                }
                Instr::Sync(op) => {
                    if !self.sync(ti, op, pc) {
                        break;
                    }
                }
                other => {
                    if !self.rare(ti, pc, other) {
                        break;
                    }
                }
            }
        }
        self.turn_over = false;
        self.steps += fuel - left;
    }

    /// Instructions that need not be fast. False ends the thread's turn.
    fn rare(&mut self, ti: usize, pc: u32, instr: Instr) -> bool {
        match instr {
            Instr::Const(n) => self.push(ti, self.program.constants[n as usize]),
            Instr::Unknown => {
                let v = self.fresh_unknown();
                self.push(ti, v);
            }
            Instr::FuncAddr(f) => self.push(ti, crate::ir::Program::function_address(f)),
            Instr::TlsAddr(n) => self.push(ti, u64::from(self.threads[ti].tls) + u64::from(n)),
            Instr::LoadBits(ty, at, width) => {
                let address = self.pop(ti);
                let whole = self.load(ti, pc, address, ty, Access::Plain);
                self.push(ti, extract(whole, ty, at, width));
            }
            Instr::StoreBits(ty, at, width) => self.store_bits(ti, pc, ty, at, width),
            Instr::Copy(size) => {
                let (from, to) = (self.pop(ti), self.pop(ti));
                self.copy(ti, pc, to, from, u64::from(size));
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
                let v = if is_unknown(a) || is_unknown(b) {
                    value::unknown_bin(crate::ir::Bin::Sub, a, b)
                } else {
                    ((a.wrapping_sub(b) as i64) / i64::from(size.max(1))) as u64
                };
                self.push(ti, v);
            }
            Instr::Switch(table) => {
                let v = self.pop(ti);
                let program = self.program;
                let to = self.switch_target(&program.switches[table as usize], v, pc);
                self.threads[ti].pc = to;
            }
            Instr::CallPtr(n) => {
                let f = self.pop(ti);
                return self.call_pointer(ti, f, usize::from(n), pc);
            }
            Instr::Atomic(op, ty, order) => return self.atomic(ti, pc, op, ty, order),
            Instr::Fence(order) => self.fence(ti, order),
            Instr::Intrinsic(op) => self.intrinsic(ti, pc, op),
            Instr::VarArgs => {
                let v = self.threads[ti].frames.last().map_or(0, |f| f.varargs);
                self.push(ti, u64::from(v));
            }
            _ => {}
        }
        self.end.is_none()
    }

    pub(super) fn push(&mut self, ti: usize, v: u64) {
        self.threads[ti].stack.push(v);
    }

    pub(super) fn pop(&mut self, ti: usize) -> u64 {
        self.threads[ti].stack.pop().unwrap_or(0)
    }

    fn switch_target(&mut self, table: &SwitchTable, v: u64, pc: u32) -> u32 {
        if !is_unknown(v) {
            let v = v as i64;
            return table
                .cases
                .iter()
                .find(|(lo, hi, _)| *lo <= v && v <= *hi)
                .map_or(table.default, |c| c.2);
        }
        // Asks for each case in turn, from a random one on, as a chain of comparisons would.
        let n = table.cases.len();
        let first = self.rng.below(n as u64) as usize;
        for i in 0..n.min(64) {
            let (lo, _, to) = table.cases[(first + i) % n];
            let same = value::unknown_bin(crate::ir::Bin::Eq, v, lo as u64);
            let likely =
                self.decisions.contains_key(&(number(same) >> 1)) || self.rng.below(n as u64 + 1) < 2;
            if likely && self.decide(same, pc.wrapping_add(to << 8)) {
                return to;
            }
        }
        table.default
    }

    #[inline(always)]
    pub(super) fn load(&mut self, ti: usize, pc: u32, address: u64, ty: Scalar, access: Access) -> u64 {
        let at = match self.memory.index(address, u64::from(ty.size())) {
            Ok(at) => at,
            Err(bad) => return self.bad_load(ti, address, bad),
        };
        if self.watching && access != Access::Hidden {
            self.watch(ti, pc, at, ty.size(), if access == Access::Volatile { VOLATILE } else { 0 });
        }
        self.memory.load(at, ty)
    }

    #[cold]
    fn bad_load(&mut self, _: usize, address: u64, bad: Bad) -> u64 {
        if bad == Bad::Null && !is_unknown(address) {
            self.end = Some(End::Crashed);
            self.turn_over = true;
        }
        unknown(mix(304, address, 0))
    }

    #[inline(always)]
    pub(super) fn store(&mut self, ti: usize, pc: u32, address: u64, ty: Scalar, access: Access, v: u64) {
        match self.memory.index(address, u64::from(ty.size())) {
            Ok(at) => {
                if self.watching && access != Access::Hidden {
                    let flags = if access == Access::Volatile { WRITE | VOLATILE } else { WRITE };
                    self.watch(ti, pc, at, ty.size(), flags);
                }
                self.memory.store(at, ty, v);
            }
            Err(bad) => {
                self.bad_load(ti, address, bad);
            }
        }
    }

    fn store_bits(&mut self, ti: usize, pc: u32, ty: Scalar, at: u8, width: u8) {
        let (v, address) = (self.pop(ti), self.pop(ti));
        // The bits around are not accessed for the reader, but a bit-field's neighbours do share its memory
        // location (C11 3.14), so that the write covers the whole unit.
        let whole = self.load(ti, pc, address, ty, Access::Hidden);
        let mask = field_mask(width) << at;
        let new = if is_unknown(v) || is_unknown(whole) {
            unknown(mix(305, v, whole))
        } else {
            ty.wrap(whole & !mask | (v << at) & mask)
        };
        self.store(ti, pc, address, ty, Access::Plain, new);
        let kept = if is_unknown(v) { v } else { extract(v << at, ty, at, width) };
        self.push(ti, kept);
    }

    /// Records an access of at most eight bytes and looks for a race.
    #[inline(always)]
    pub(super) fn watch(&mut self, ti: usize, pc: u32, at: usize, size: u32, flags: u8) {
        if self.knowledge.hot[pc as usize] {
            self.at_hot_access(ti);
        }
        let cell = self.cell(ti, pc, flags);
        let (granule, shift) = (at / 8, at % 8);
        let mask = (0xFFu16 >> (8 - size)) << shift;
        self.record(ti, granule, Cell { mask: mask as u8, ..cell }, size);
        if mask > 0xFF {
            self.record(ti, granule + 1, Cell { mask: (mask >> 8) as u8, ..cell }, size);
        }
    }

    #[inline(always)]
    fn cell(&mut self, ti: usize, pc: u32, flags: u8) -> Cell {
        let context = self.context(ti);
        let t = &self.threads[ti];
        let handler = if t.interrupts.is_some() { HANDLER } else { 0 };
        Cell {
            epoch: Epoch::new(ti, t.clock.get(ti)),
            pc,
            context,
            lockset: t.lockset,
            mask: 0,
            flags: flags | handler,
        }
    }

    #[inline(always)]
    fn record(&mut self, ti: usize, granule: usize, cell: Cell, size: u32) {
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
        if !self.watching || size == 0 {
            return;
        }
        let cell = self.cell(ti, pc, flags);
        let (first, last) = (at / 8, (at + size - 1) / 8);
        for granule in first..=last {
            let from = if granule == first { at % 8 } else { 0 };
            let to = if granule == last { (at + size - 1) % 8 } else { 7 };
            let mask = (0xFFu8 << from) & (0xFFu8 >> (7 - to));
            self.record(ti, granule, Cell { mask, ..cell }, size.min(u32::MAX as usize) as u32);
        }
    }

    /// `to` and `from` may be unknown; then the copy does nothing, or leaves unknowns.
    pub(super) fn copy(&mut self, ti: usize, pc: u32, to: u64, from: u64, size: u64) {
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
        match self.memory.index(from, size) {
            Ok(from_at) if !is_unknown(from) => {
                self.watch_range(ti, pc, from_at, size as usize, 0);
                self.watch_range(ti, pc, to_at, size as usize, WRITE);
                self.memory.copy(to_at, from_at, size as usize);
            }
            result => {
                if let Err(Bad::Null) = result
                    && !is_unknown(from)
                {
                    self.end = Some(End::Crashed);
                    return;
                }
                self.watch_range(ti, pc, to_at, size as usize, WRITE);
                self.fresh = self.fresh.wrapping_add(1);
                self.memory.havoc(to_at, size as usize, u64::from(self.fresh));
            }
        }
    }
}

impl Scalar {
    /// Wraps unless the value is unknown.
    #[inline(always)]
    fn wrap_known(self, v: u64) -> u64 {
        if is_unknown(v) { v } else { self.wrap(v) }
    }
}

#[inline(always)]
fn index(a: u64, i: u64, n: u64) -> u64 {
    if is_unknown(a) || is_unknown(i) {
        return unknown_index(a, i, n);
    }
    a.wrapping_add(i.wrapping_mul(n))
}

#[cold]
fn unknown_index(a: u64, i: u64, n: u64) -> u64 {
    unknown(mix(306, a, i.wrapping_mul(31).wrapping_add(n)))
}

fn field_mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

fn extract(whole: u64, ty: Scalar, at: u8, width: u8) -> u64 {
    if is_unknown(whole) {
        return unknown(mix(307, whole, u64::from(at)));
    }
    let bits = whole >> at & field_mask(width);
    if ty.is_signed() && width < 64 && bits >> (width - 1) & 1 == 1 {
        bits | !field_mask(width)
    } else {
        bits
    }
}
