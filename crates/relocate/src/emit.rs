//! The copy of one function after the other, with probes.
//!
//! Around a probe everything that the program could notice stays as it was. Nothing is kept outside
//! of the stack and the registers, so a signal may come at any moment.
//!
//! A probe of up to 16 bytes is a check in the code ([`inline`]), in registers that nobody looks at
//! again if possible, and a call in the cold part of the copy if the check fails. For longer
//! accesses, outside of the loops of large programs, for atomic accesses and for calls of functions
//! the probe is a call: the red zone below the stack pointer is stepped over by `lea`, which
//! changes no flags, the argument register is pushed and popped, and what is called preserves all
//! other registers and the flags.
//!
//! # Where the time goes
//!
//! Samples of the benchmark's kernels while each check was a call (`perf record -e cpu-clock`): the
//! checks that find nothing to do took 44% of `sort`, 55% of `tree`, 38% of `rwtable` and 20% of
//! `stencil`, the largest part of it to save and restore what the checks use. The slow halves took
//! 13% of `sort`, 20% of `rwtable`, 60% of `stencil` and 35% of `atomics`, of which keeping all
//! vector registers was 14% in `stencil` and 13% in `atomics`. So the check comes first; it does
//! not help `atomics`, nor the slow halves.

use std::collections::HashMap;

use iced_x86::{
    Code as Opcode, FlowControl, Instruction, InstructionInfoFactory, MemoryOperand, OpAccess, OpKind,
    Register,
};
use raddle_wire::relocated::{LOOP_LENGTH_BITS, SHORT_LOOPS, scheduled, slot};

use crate::access::{InstructionAccess, can_acquire_after};
use crate::code::{Code, FunctionCode};
use crate::inline::{self, CheckWriter};
use crate::liveness::{self, Set};
use crate::loops::{Finder, Loop, Strided};
use crate::merge::{self, Entries, Probe};

/// Labels of copies: the original address and this bit. The encoder takes a data operand that
/// equals an instruction's address for a reference to it, so they must not be addresses of the
/// program.
pub const LABEL: u64 = 1 << 61;
/// Instead of it: what is behind the probe of the instruction at the original address, and what its
/// check goes to if it fails.
const BEHIND_PROBE: u64 = 1 << 60;
const SLOW: u64 = 1 << 59;
/// Added to these in the copy of a loop that is checked as it is left.
const LATE: u64 = 1 << 57;
/// Where the jump at the original address leaves such a loop; what is behind the gate to it.
const EXIT: u64 = 1 << 56;
const BEHIND_GATE: u64 = 1 << 55;
pub const RED_ZONE: i64 = 128;

/// A program of at least so many instructions has checks in its loops only, and calls elsewhere: a
/// check with its cold part is three times as many instructions as a call, and to encode them takes
/// time and memory (git, 670,000 instructions: 2.3 s and 1.0 GB; in loops only 1.7 s and 0.7 GB;
/// calls alone 1.0 s and 0.5 GB).
const SMALL: usize = 150_000;
/// Such a loop is not longer. Longer ones are outer ones, or none: a jump back from a cold part.
const LONGEST_LOOP: usize = 64;

pub struct Emitter<'a> {
    code: &'a Code,
    /// None: each access keeps its probe.
    entries: Option<Entries>,
    infos: InstructionInfoFactory,
    /// Where the slots are, and what is known of loops that were short.
    slots: u64,
    short: u64,
    /// The number of loops that are checked as they are left, of functions before this one.
    pub late_loops: usize,
    /// What is special about the probes of the function at hand, by instruction.
    merged: HashMap<usize, Probe>,
    /// What is looked at again, before each instruction of the function at hand.
    live: Vec<Set>,
    /// Whether each instruction of the function at hand is in a loop.
    in_loop: Vec<bool>,
    /// The first instruction of the function at hand.
    first: usize,
    /// Checks are in the code wherever they can be, and not only in loops.
    is_small: bool,
    /// All of the program's code is known.
    is_whole: bool,
    /// Vector registers that the program does not use.
    unused: Vec<Register>,
    /// Loops of the function at hand that are checked as they are left.
    loops: Vec<Loop>,
    /// Registers that the copy of such a loop keeps values in, while it is emitted.
    kept: Option<Vec<Register>>,
    /// The copies, then those loops, then what is seldom executed.
    pub hot: Vec<Instruction>,
    pub late: Vec<Instruction>,
    pub cold: Vec<Instruction>,
    /// For each original instruction that was copied: its index, and that of the first instruction
    /// of its copy.
    pub copies: Vec<(usize, usize)>,
    /// Parts of `late` and of `cold`, in their order: the index of the original instruction, and
    /// that of the first.
    pub late_parts: Vec<(usize, usize)>,
    pub cold_parts: Vec<(usize, usize)>,
    /// For each load: what its probe returns to, and the index in `cold` of its other way.
    pub loads: Vec<(EmittedInstruction, usize)>,
    pub probed: u64,
    /// The copy is for a scheduler: see [`crate::CopyOptions::scheduled`].
    pub scheduled: bool,
}

/// An instruction of the copy.
#[derive(Clone, Copy, Debug)]
pub enum EmittedInstruction {
    Hot(usize),
    Cold(usize),
}

pub fn made(result: Result<Instruction, iced_x86::IcedError>) -> Instruction {
    result.unwrap_or_else(|e| unreachable!("an instruction of a fixed form: {e}"))
}

pub fn move_stack(by: i64) -> Instruction {
    let to = MemoryOperand::with_base_displ_size(Register::RSP, by, 8);
    made(Instruction::with2(Opcode::Lea_r64_m, Register::RSP, to))
}

fn push(register: Register) -> Instruction {
    made(Instruction::with1(Opcode::Push_r64, register))
}

fn pop(register: Register) -> Instruction {
    made(Instruction::with1(Opcode::Pop_r64, register))
}

fn jump(target: u64) -> Instruction {
    made(Instruction::with_branch(Opcode::Jmp_rel32_64, target))
}

/// The memory operand of `i`, where the stack pointer is `pushed` bytes lower.
fn operand(i: &Instruction, pushed: i64) -> MemoryOperand {
    let (base, index) = (i.memory_base(), i.memory_index());
    let moved = if base == Register::RSP { pushed } else { 0 };
    let displacement = (i.memory_displacement64() as i64).wrapping_add(moved);
    let is_bare = matches!(base, Register::None | Register::RIP);
    let size = if displacement == 0 && !is_bare { 0 } else { 8 };
    MemoryOperand::new(base, index, i.memory_index_scale(), displacement, size, false, Register::None)
}

impl<'a> Emitter<'a> {
    pub fn new(code: &'a Code, entries: Option<Entries>, slots: u64, short: u64) -> Emitter<'a> {
        let is_whole = code.undecoded == 0;
        Emitter {
            code,
            entries,
            live: vec![],
            in_loop: vec![],
            first: 0,
            is_small: code.instructions.len() < SMALL,
            is_whole,
            unused: if is_whole { liveness::unused_vectors(&code.instructions) } else { vec![] },
            infos: InstructionInfoFactory::new(),
            slots,
            short,
            late_loops: 0,
            merged: HashMap::new(),
            loops: vec![],
            kept: None,
            hot: inline::constants(),
            late: vec![],
            cold: vec![],
            copies: vec![],
            late_parts: vec![],
            cold_parts: vec![],
            loads: vec![],
            probed: 0,
            scheduled: false,
        }
    }

    /// Whether the program may use one of xmm8 to xmm15.
    pub fn uses_high_vectors(&self) -> bool {
        self.unused.len() < 8
    }

    fn call(&self, slot: usize) -> Instruction {
        let at = MemoryOperand::with_base_displ(Register::RIP, (self.slots + 8 * slot as u64) as i64);
        made(Instruction::with1(Opcode::Call_rm64, at))
    }

    pub fn function(&mut self, function: &FunctionCode) {
        if let Some(entries) = &self.entries {
            self.merged = merge::probes(self.code, function, entries, &mut self.infos);
        }
        let body = function.body.clone();
        let inside =
            |address: u64| self.code.find(address).filter(|n| body.contains(n)).map(|n| n - body.start);
        self.first = body.start;
        self.in_loop = in_loop(&self.code.instructions[body.clone()], inside);
        self.live = liveness::before(&self.code.instructions[body.clone()], &mut self.infos, inside);
        self.loops = self.find_loops(function);
        for n in body.clone() {
            let first = self.hot.len();
            self.copies.push((n, first));
            if let Some(number) = self.loops.iter().position(|l| l.body.start == n) {
                self.gate(number);
            }
            self.instruction(n);
            self.hot[first].set_ip(self.code.instructions[n].ip() | LABEL);
        }
        for l in std::mem::take(&mut self.loops) {
            self.late_loop(&l);
            self.late_loops += 1;
        }
        let last = &self.code.instructions[function.body.end - 1];
        let ends = matches!(
            last.flow_control(),
            FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch
        );
        if !ends {
            self.hot.push(jump(self.target(last.next_ip())));
        }
    }

    /// The copy of what is at `address`, if there is one.
    fn target(&self, address: u64) -> u64 {
        if self.code.find(address).is_some() { address | LABEL } else { address }
    }

    fn instruction(&mut self, n: usize) {
        let i = self.code.instructions[n];
        self.probed +=
            u64::from(!matches!(self.code.accesses[n], InstructionAccess::None | InstructionAccess::Unknown));
        if self.scheduled {
            self.announce(&i, self.code.accesses[n]);
            return self.original(&i);
        }
        match self.code.accesses[n] {
            InstructionAccess::None | InstructionAccess::Unknown | InstructionAccess::Relaxed => {}
            InstructionAccess::RelaxedAtomic => self.addressed(&i, slot::RELAXED),
            InstructionAccess::AtomicStore => self.addressed(&i, slot::RELEASE),
            InstructionAccess::AtomicLoad => {
                let returns_to = EmittedInstruction::Hot(self.addressed_returning(&i, slot::LOAD));
                self.acquiring_way(n, returns_to);
            }
            InstructionAccess::Read { size } => self.plain(n, slot::READ, size),
            InstructionAccess::Write { size } => self.plain(n, slot::WRITE, size),
            InstructionAccess::String(operation) => self.ranged(slot::STRING, operation, None),
            InstructionAccess::Atomic => {
                self.addressed(&i, slot::RELEASE);
                self.hot.push(copy(&i));
                return self.addressed(&i, slot::ACQUIRE);
            }
        }
        self.original(&i);
    }

    /// The probe of a copy that is scheduled: what the instruction is about to do, as
    /// [`scheduled`] says.
    fn announce(&mut self, i: &Instruction, access: InstructionAccess) {
        let size = i.memory_size().size() as u32;
        // Compilers make one instruction of a relaxed load and a store: others may come between.
        let is_merged = matches!(access, InstructionAccess::AtomicStore | InstructionAccess::Relaxed)
            && self.reads_first(i) != 0;
        let what = match access {
            InstructionAccess::None | InstructionAccess::Unknown => return,
            _ if is_merged => size | scheduled::WRITES | scheduled::READS_FIRST,
            InstructionAccess::String(operation) => return self.ranged(slot::STRING, operation, None),
            InstructionAccess::Read { .. } => size,
            InstructionAccess::Write { .. } => size | scheduled::WRITES | self.reads_first(i),
            InstructionAccess::Atomic | InstructionAccess::RelaxedAtomic => {
                size | scheduled::ATOMIC | scheduled::WRITES | scheduled::READS_FIRST
            }
            InstructionAccess::AtomicLoad => size | scheduled::ATOMIC,
            InstructionAccess::AtomicStore => size | scheduled::ATOMIC | scheduled::WRITES,
            InstructionAccess::Relaxed => {
                size | scheduled::ATOMIC | if self.writes(i) { scheduled::WRITES } else { 0 }
            }
        };
        self.ranged(slot::SCHEDULED, what, Some(i));
    }

    fn writes(&mut self, i: &Instruction) -> bool {
        use OpAccess::*;
        matches!(self.access_of_memory(i), Write | CondWrite | ReadWrite | ReadCondWrite)
    }

    fn reads_first(&mut self, i: &Instruction) -> u32 {
        match self.access_of_memory(i) {
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => scheduled::READS_FIRST,
            _ => 0,
        }
    }

    fn access_of_memory(&mut self, i: &Instruction) -> OpAccess {
        let operand = (0..i.op_count()).find(|o| i.op_kind(*o) == OpKind::Memory);
        operand.map_or(OpAccess::None, |o| self.infos.info(i).op_access(o))
    }

    fn plain(&mut self, n: usize, kind: usize, size: u32) {
        let (mut i, mut size) = (self.code.instructions[n], size);
        match self.merged.get(&n).filter(|_| self.kept.is_none()) {
            Some(Probe::None) => return,
            Some(Probe::Wide { displacement, len }) => {
                i.set_memory_displacement64(*displacement as u64);
                size = *len;
            }
            None => {}
        }
        let is_range = !matches!(size, 1 | 2 | 4 | 8 | 16);
        let mut live = self.live[n - self.first];
        if let Some(kept) = &self.kept {
            live = live.with(kept);
        }
        if !is_range && (self.is_small || self.in_loop[n - self.first] || self.kept.is_some()) {
            let operand = [i.memory_base(), i.memory_index()].into_iter().collect();
            let registers = inline::choose(size, live, operand, &self.unused);
            return self.checked(n, &i, &registers, kind == slot::WRITE, size);
        }
        let mut slot = kind + if is_range { slot::RANGE } else { size.ilog2() as usize };
        slot += if live.has_flags() { 0 } else { slot::FLAGS_DEAD };
        let is_free = |r: Register| self.unused.contains(&r);
        slot += if is_free(Register::XMM14) && is_free(Register::XMM15) { slot::VECTORS_FREE } else { 0 };
        if is_range {
            return self.ranged(slot, size, Some(&i));
        }
        let returns_to = EmittedInstruction::Hot(self.addressed_returning(&i, slot));
        if kind == slot::READ && size <= 8 && can_acquire_after(&i) {
            self.acquiring_way(n, returns_to);
        }
    }

    /// A probe with its check in the code.
    fn checked(
        &mut self,
        n: usize,
        i: &Instruction,
        registers: &inline::CheckRegisters,
        write: bool,
        size: u32,
    ) {
        let original = &self.code.instructions[n];
        let late = if self.kept.is_some() { LATE } else { 0 };
        let (slow, behind) = (original.ip() | SLOW | late, original.ip() | BEHIND_PROBE | late);
        let mut check = CheckWriter { to: &mut self.hot, registers, header: self.slots, otherwise: slow };
        check.keep_registers();
        address(check.to, i, registers.address, registers.pushed());
        check.keep_flags();
        check.check(size, write);
        check.restore();
        // Something to jump to.
        let mut end = Instruction::with(Opcode::Zero_bytes);
        end.set_ip(behind);
        self.hot.push(end);

        let first = self.cold.len();
        self.cold_parts.push((n, first));
        CheckWriter { to: &mut self.cold, registers, header: self.slots, otherwise: slow }.restore();
        let kind = match (self.kept.is_some(), write) {
            (false, false) => slot::SLOW,
            (false, true) => slot::SLOW_WRITE,
            (true, false) => slot::SLOW_LATE,
            (true, true) => slot::SLOW_LATE_WRITE,
        };
        let call = self.call(kind + size.ilog2() as usize);
        let returns_to = addressed(&mut self.cold, i, call);
        self.cold.push(jump(behind));
        self.cold[first].set_ip(slow);
        if !write && size <= 8 && can_acquire_after(original) {
            self.acquiring_way(n, EmittedInstruction::Cold(returns_to));
        }
    }

    /// A probe that gets the address that `i` accesses.
    fn addressed(&mut self, i: &Instruction, slot: usize) {
        self.addressed_returning(i, slot);
    }

    /// Gives the index of what is behind the call.
    fn addressed_returning(&mut self, i: &Instruction, slot: usize) -> usize {
        let call = self.call(slot);
        addressed(&mut self.hot, i, call)
    }

    /// A probe that gets the address that `i` accesses, or what rdi has, and a number.
    fn ranged(&mut self, slot: usize, number: u32, i: Option<&Instruction>) {
        self.hot.push(move_stack(-RED_ZONE));
        self.hot.push(push(Register::RDI));
        self.hot.push(push(Register::RSI));
        if let Some(i) = i {
            address(&mut self.hot, i, Register::RDI, RED_ZONE + 16);
        }
        self.hot.push(made(Instruction::with2(Opcode::Mov_r32_imm32, Register::ESI, number)));
        self.hot.push(self.call(slot));
        self.hot.push(pop(Register::RSI));
        self.hot.push(pop(Register::RDI));
        self.hot.push(move_stack(RED_ZONE));
    }

    /// Where the runtime lets the probe of a load return to if the variable synchronises: what the
    /// load sees may be newer than the probe, so the acquire comes after it.
    fn acquiring_way(&mut self, n: usize, returns_to: EmittedInstruction) {
        // In a loop that is checked as it is left no variable synchronises.
        if self.kept.is_some() {
            return;
        }
        let i = &self.code.instructions[n];
        self.loads.push((returns_to, self.cold.len()));
        self.cold_parts.push((n, self.cold.len()));
        self.cold.push(pop(Register::RDI));
        self.cold.push(move_stack(RED_ZONE));
        self.cold.push(copy(i));
        self.cold.push(move_stack(-RED_ZONE));
        self.cold.push(push(Register::RDI));
        self.cold.push(self.call(slot::ACQUIRE_LOADED));
        self.cold.push(pop(Register::RDI));
        self.cold.push(move_stack(RED_ZONE));
        self.cold.push(jump(self.target(i.next_ip())));
    }

    fn original(&mut self, i: &Instruction) {
        match i.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall if i.mnemonic() == iced_x86::Mnemonic::Call => {
                self.hot.push(self.call(slot::ENTER));
                self.hot.push(self.branch(i));
                self.hot.push(self.call(slot::LEAVE));
            }
            FlowControl::IndirectBranch if !is_import(i) => self.indirect_jump(i),
            _ => {
                // The encoder makes several instructions of these, which then have no one address.
                if i.is_jcx_short() || i.is_loop() || i.is_loopcc() {
                    self.hot.push(Instruction::with(Opcode::Nopd));
                }
                self.hot.push(self.branch(i));
            }
        }
    }

    /// The instruction, with its target moved.
    fn branch(&self, i: &Instruction) -> Instruction {
        let mut moved = copy(i);
        if i.op_count() > 0 && i.op0_kind() == OpKind::NearBranch64 {
            let repeats = self.loops.iter().any(|l| self.code.instructions[l.body.end - 1].ip() == i.ip());
            let target = i.near_branch_target();
            moved.set_near_branch64(if repeats { target | BEHIND_GATE } else { self.target(target) });
        }
        moved
    }

    fn find_loops(&mut self, function: &FunctionCode) -> Vec<Loop> {
        let has_room = self.late_loops < 1 << (31 - LOOP_LENGTH_BITS) >> 1;
        let Some(entries) = self.entries.as_ref().filter(|_| self.is_whole && has_room) else {
            return Vec::new();
        };
        let (code, live, unused) = (self.code, &self.live[..], &self.unused[..]);
        Finder { code, function, entries, live, unused, infos: &mut self.infos }.all()
    }

    /// In front of a loop: the way to its copy.
    fn gate(&mut self, number: usize) {
        let l = &self.loops[number];
        let ip = self.code.instructions[l.body.start].ip();
        let slot = if l.is_of_vectors { slot::LATE_VECTORS } else { slot::LATE };
        let may = MemoryOperand::with_base_displ(Register::RIP, (self.slots + 8 * slot as u64) as i64);
        self.hot.push(made(Instruction::with2(Opcode::Cmp_rm64_imm8, may, 0)));
        self.hot.push(made(Instruction::with_branch(Opcode::Je_rel32_64, ip | BEHIND_GATE)));
        let short = (self.short + 4 * (self.late_loops + number) as u64) as i64;
        let short = MemoryOperand::with_base_displ(Register::RIP, short);
        self.hot.push(made(Instruction::with2(Opcode::Cmp_rm32_imm8, short, SHORT_LOOPS)));
        self.hot.push(made(Instruction::with_branch(Opcode::Jae_rel32_64, ip | BEHIND_GATE)));
        for (register, vector) in &l.starts {
            self.hot.push(made(Instruction::with2(Opcode::Movq_xmm_rm64, *vector, *register)));
        }
        self.hot.push(jump(ip | LATE));
        let mut behind = Instruction::with(Opcode::Zero_bytes);
        behind.set_ip(ip | BEHIND_GATE);
        self.hot.push(behind);
    }

    /// The copy of a loop that is checked as it is left.
    fn late_loop(&mut self, l: &Loop) {
        std::mem::swap(&mut self.hot, &mut self.late);
        let kept: Vec<Register> = l.starts.iter().map(|(_, vector)| *vector).collect();
        let others = self.unused.iter().copied().filter(|r| !kept.contains(r)).collect();
        let unused = std::mem::replace(&mut self.unused, others);
        self.kept = Some(kept);
        for n in l.body.clone() {
            let first = self.hot.len();
            self.late_parts.push((n, first));
            let i = self.code.instructions[n];
            match self.code.accesses[n] {
                InstructionAccess::Read { size } if !l.unprobed.contains(&n) => {
                    self.plain(n, slot::READ, size)
                }
                InstructionAccess::Write { size } if !l.unprobed.contains(&n) => {
                    self.plain(n, slot::WRITE, size)
                }
                _ => {}
            }
            let mut moved = copy(&i);
            if i.flow_control() != FlowControl::Next {
                let inside = self.code.find(i.near_branch_target()).is_some_and(|to| l.body.contains(&to));
                let target = if inside { i.near_branch_target() | LATE } else { i.ip() | EXIT };
                moved.set_near_branch64(target);
            }
            self.hot.push(moved);
            self.hot[first].set_ip(i.ip() | LATE);
        }
        // The last way out comes first: it is the one behind the loop.
        let mut exits: Vec<usize> = l.exits(self.code).collect();
        exits.reverse();
        let is_only = exits.len() == 1;
        for exit in exits {
            let first = self.hot.len();
            for range in &l.ranges {
                self.late_parts.push((range.named, self.hot.len()));
                if range.stride == 0 && is_only && matches!(range.len, 1 | 2 | 4 | 8 | 16) {
                    self.place_of_loop(l, range);
                } else {
                    self.range_of_loop(l, range, exit);
                }
            }
            let i = &self.code.instructions[exit];
            let is_last = exit + 1 == l.body.end;
            self.late_parts.push((exit, self.hot.len()));
            self.hot.push(jump(self.target(if is_last { i.next_ip() } else { i.near_branch_target() })));
            if !is_last {
                self.hot[first].set_ip(i.ip() | EXIT);
            }
        }
        self.kept = None;
        self.unused = unused;
        std::mem::swap(&mut self.hot, &mut self.late);
    }

    /// The probe of what stays in its place, behind a loop that has no other way out.
    fn place_of_loop(&mut self, l: &Loop, range: &Strided) {
        let mut i = self.code.instructions[range.named];
        i.set_memory_displacement64(range.low as u64);
        let live = self.live.get(l.body.end - self.first).copied().unwrap_or(Set::ALL);
        let live = live.with(self.kept.as_deref().unwrap_or_default());
        let operand = [i.memory_base(), i.memory_index()].into_iter().collect();
        let size = range.len as u32;
        let registers = inline::choose(size, live, operand, &self.unused);
        self.checked(range.named, &i, &registers, range.write, size);
    }

    /// The probe of what `range` has touched, where the jump `exit` leaves the loop. The flags stay
    /// as they are.
    fn range_of_loop(&mut self, l: &Loop, range: &Strided, exit: usize) {
        let mut at = self.code.instructions[range.named];
        let (base, index) = (at.memory_base(), at.memory_index());
        let free = [Register::RAX, Register::RCX, Register::RDX, Register::R8];
        let mut free = free.into_iter().filter(|r| *r != base && *r != index);
        let mut take = || free.next().unwrap_or_else(|| unreachable!("an address has two registers"));
        let (first, last) = (take(), take());
        let pushed = [Register::RDI, Register::RSI, first, last];
        let lowered = RED_ZONE + 8 * pushed.len() as i64;
        self.hot.push(move_stack(-RED_ZONE));
        pushed.iter().for_each(|r| self.hot.push(push(*r)));
        at.set_memory_displacement64(l.last(self.code, range, exit) as u64);
        address(&mut self.hot, &at, last, lowered);
        let start = l.starts.iter().find(|(r, _)| *r == range.advancing);
        if let Some((advancing, start)) = start {
            at.set_memory_displacement64(range.low as u64);
            self.hot.push(made(Instruction::with2(Opcode::Movq_rm64_xmm, first, *start)));
            if index == *advancing {
                at.set_memory_index(first);
            } else {
                at.set_memory_base(first);
            }
            address(&mut self.hot, &at, first, lowered);
        } else {
            self.hot.push(made(Instruction::with2(Opcode::Mov_r64_rm64, first, last)));
        }
        let (low, high) = if range.stride > 0 { (first, last) } else { (last, first) };
        self.hot.push(made(Instruction::with2(Opcode::Mov_r64_rm64, Register::RDI, low)));
        self.hot.push(made(Instruction::with1(Opcode::Not_rm64, low)));
        let distance = MemoryOperand::new(high, low, 1, 1, 1, false, Register::None);
        self.hot.push(made(Instruction::with2(Opcode::Lea_r64_m, Register::RSI, distance)));
        // Few bytes are many iterations if the stride is small, and none tells if it is 0.
        let number = if range.stride.abs() < 4 { 0 } else { self.late_loops as i32 + 1 };
        let numbers = range.len as i32 | number << LOOP_LENGTH_BITS;
        self.hot.push(made(Instruction::with1(Opcode::Pushq_imm32, numbers)));
        self.hot.push(self.call(if range.write { slot::LOOP_WRITE } else { slot::LOOP_READ }));
        self.hot.push(move_stack(8));
        pushed.iter().rev().for_each(|r| self.hot.push(pop(*r)));
        self.hot.push(move_stack(RED_ZONE));
    }

    /// Jump tables and computed gotos have addresses of the original, which are translated when
    /// they are used.
    fn indirect_jump(&mut self, i: &Instruction) {
        self.hot.push(move_stack(-RED_ZONE));
        self.hot.push(push(Register::RAX));
        self.hot.push(push(Register::RAX));
        self.hot.push(made(match i.op0_kind() {
            OpKind::Register => Instruction::with2(Opcode::Mov_r64_rm64, Register::RAX, i.op0_register()),
            _ => Instruction::with2(Opcode::Mov_r64_rm64, Register::RAX, operand(i, RED_ZONE + 16)),
        }));
        self.hot.push(self.call(slot::TRANSLATE));
        let place = MemoryOperand::with_base_displ_size(Register::RSP, 8, 1);
        self.hot.push(made(Instruction::with2(Opcode::Mov_rm64_r64, place, Register::RAX)));
        self.hot.push(pop(Register::RAX));
        self.hot.push(made(Instruction::with1(Opcode::Retnq_imm16, RED_ZONE as u32)));
    }
}

/// Which instructions are between a jump backwards and where it leads, if that is not far.
fn in_loop(body: &[Instruction], inside: impl Fn(u64) -> Option<usize>) -> Vec<bool> {
    let mut all = vec![false; body.len()];
    for (n, i) in body.iter().enumerate() {
        let is_jump =
            matches!(i.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch);
        if is_jump
            && i.op0_kind() == OpKind::NearBranch64
            && let Some(target) = inside(i.near_branch_target())
            && (n.saturating_sub(LONGEST_LOOP)..=n).contains(&target)
        {
            all[target..=n].fill(true);
        }
    }
    all
}

/// Puts the address that `i` accesses into `register`, where the stack pointer is `pushed` bytes
/// lower.
pub fn address(to: &mut Vec<Instruction>, i: &Instruction, register: Register, pushed: i64) {
    let mut of = operand(i, pushed);
    if i.memory_segment() == Register::FS {
        // The thread pointer points to itself.
        let none = Register::None;
        let pointer = MemoryOperand::new(none, none, 1, 0, 8, false, Register::FS);
        to.push(made(Instruction::with2(Opcode::Mov_r64_rm64, register, pointer)));
        of = match of.base {
            Register::None => MemoryOperand { base: register, ..of },
            _ => MemoryOperand { index: register, ..of },
        };
    }
    to.push(made(Instruction::with2(Opcode::Lea_r64_m, register, of)));
}

/// A call of a probe that gets the address that `i` accesses. Gives the index of what is behind the
/// call.
fn addressed(to: &mut Vec<Instruction>, i: &Instruction, call: Instruction) -> usize {
    to.push(move_stack(-RED_ZONE));
    to.push(push(Register::RDI));
    address(to, i, Register::RDI, RED_ZONE + 8);
    to.push(call);
    let returns_to = to.len();
    to.push(pop(Register::RDI));
    to.push(move_stack(RED_ZONE));
    returns_to
}

/// Without the address it had.
fn copy(i: &Instruction) -> Instruction {
    let mut copy = *i;
    copy.set_ip(0);
    copy
}

/// `jmp *GOT(%rip)`: a function of a library.
pub fn is_import(i: &Instruction) -> bool {
    i.op0_kind() == OpKind::Memory && i.memory_base() == Register::RIP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_ends_with_a_jump_backwards() {
        let jump = |opcode, target| Instruction::with_branch(opcode, target);
        let nop = || Ok(Instruction::with(Opcode::Nopd));
        let body = [
            jump(Opcode::Je_rel32_64, 3),
            nop(),
            nop(),
            jump(Opcode::Jne_rel32_64, 2),
            jump(Opcode::Call_rel32_64, 0),
            jump(Opcode::Jmp_rel32_64, 5),
            jump(Opcode::Jmp_rel32_64, 900),
        ]
        .map(made);
        let inside = |address: u64| (address < 7).then_some(address as usize);
        assert_eq!(in_loop(&body, inside), [false, false, true, true, false, true, false]);
    }
}
