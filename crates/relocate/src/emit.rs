//! The copy of one function after the other, with probes.
//!
//! A probe is a call. Around it, everything that the program could notice stays as it was: the red
//! zone below the stack pointer is stepped over by `lea`, which changes no flags, the argument
//! register is pushed and popped, and what is called preserves all other registers and the flags.
//! Nothing is kept outside of the stack, so a signal may come at any moment.

use std::collections::HashMap;

use iced_x86::{
    Code as Opcode, FlowControl, Instruction, InstructionInfoFactory, MemoryOperand, OpKind, Register,
};
use raddle_wire::relocated::slot;

use crate::access::{Access, can_acquire_after};
use crate::code::{Code, Function};
use crate::merge::{self, Entries, Probe};

/// Labels of copies: the original address and this bit. The encoder takes a data operand that
/// equals an instruction's address for a reference to it, so they must not be addresses of the
/// program.
pub const LABEL: u64 = 1 << 61;
const RED_ZONE: i64 = 128;

pub struct Emitter<'a> {
    code: &'a Code,
    /// None: each access keeps its probe.
    entries: Option<Entries>,
    infos: InstructionInfoFactory,
    /// Where the slots are.
    slots: u64,
    /// What is special about the probes of the function at hand, by instruction.
    merged: HashMap<usize, Probe>,
    /// The copies, then what is seldom executed.
    pub hot: Vec<Instruction>,
    pub cold: Vec<Instruction>,
    /// For each original instruction that was copied: its index, and that of the first instruction
    /// of its copy.
    pub copies: Vec<(usize, usize)>,
    /// For each load: the index in `hot` of what is behind the probe, and in `cold` of its other
    /// way.
    pub loads: Vec<(usize, usize)>,
    pub probed: u64,
}

fn made(result: Result<Instruction, iced_x86::IcedError>) -> Instruction {
    result.unwrap_or_else(|e| unreachable!("an instruction of a fixed form: {e}"))
}

fn move_stack(by: i64) -> Instruction {
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
    pub fn new(code: &'a Code, entries: Option<Entries>, slots: u64) -> Emitter<'a> {
        Emitter {
            code,
            entries,
            infos: InstructionInfoFactory::new(),
            slots,
            merged: HashMap::new(),
            hot: Vec::with_capacity(code.instructions.len() * 4),
            cold: vec![],
            copies: vec![],
            loads: vec![],
            probed: 0,
        }
    }

    fn call(&self, slot: usize) -> Instruction {
        let at = MemoryOperand::with_base_displ(Register::RIP, (self.slots + 8 * slot as u64) as i64);
        made(Instruction::with1(Opcode::Call_rm64, at))
    }

    pub fn function(&mut self, function: &Function) {
        if let Some(entries) = &self.entries {
            self.merged = merge::probes(self.code, function, entries, &mut self.infos);
        }
        for n in function.body.clone() {
            let first = self.hot.len();
            self.copies.push((n, first));
            self.instruction(n);
            self.hot[first].set_ip(self.code.instructions[n].ip() | LABEL);
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
        self.probed += u64::from(!matches!(self.code.accesses[n], Access::None | Access::Unknown));
        match self.code.accesses[n] {
            Access::None | Access::Unknown | Access::Relaxed => {}
            Access::RelaxedAtomic => self.addressed(&i, slot::RELAXED),
            Access::AtomicStore => self.addressed(&i, slot::RELEASE),
            Access::AtomicLoad => {
                let returns_to = self.addressed_returning(&i, slot::LOAD);
                self.acquiring_way(&i, returns_to);
            }
            Access::Read { size } => self.plain(n, slot::READ, size),
            Access::Write { size } => self.plain(n, slot::WRITE, size),
            Access::String(operation) => self.ranged(slot::STRING, operation, None),
            Access::Atomic => {
                self.addressed(&i, slot::RELEASE);
                self.hot.push(copy(&i));
                return self.addressed(&i, slot::ACQUIRE);
            }
        }
        self.original(&i);
    }

    fn plain(&mut self, n: usize, kind: usize, size: u32) {
        let (mut i, mut size) = (self.code.instructions[n], size);
        match self.merged.get(&n) {
            Some(Probe::None) => return,
            Some(Probe::Wide { displacement, len }) => {
                i.set_memory_displacement64(*displacement as u64);
                size = *len;
            }
            None => {}
        }
        let is_range = !matches!(size, 1 | 2 | 4 | 8 | 16);
        let mut slot = kind + if is_range { slot::RANGE } else { size.ilog2() as usize };
        slot += if self.code.flags_are_dead(n) { slot::FLAGS_DEAD } else { 0 };
        slot += if self.code.vectors_are_free { slot::VECTORS_FREE } else { 0 };
        if is_range {
            return self.ranged(slot, size, Some(&i));
        }
        let returns_to = self.addressed_returning(&i, slot);
        if kind == slot::READ && size <= 8 && can_acquire_after(&i) {
            self.acquiring_way(&i, returns_to);
        }
    }

    /// Puts the address that `i` accesses into rdi.
    fn address(&mut self, i: &Instruction, pushed: i64) {
        let mut of = operand(i, pushed);
        if i.memory_segment() == Register::FS {
            // The thread pointer points to itself.
            let none = Register::None;
            let pointer = MemoryOperand::new(none, none, 1, 0, 8, false, Register::FS);
            self.hot.push(made(Instruction::with2(Opcode::Mov_r64_rm64, Register::RDI, pointer)));
            of = match of.base {
                Register::None => MemoryOperand { base: Register::RDI, ..of },
                _ => MemoryOperand { index: Register::RDI, ..of },
            };
        }
        self.hot.push(made(Instruction::with2(Opcode::Lea_r64_m, Register::RDI, of)));
    }

    /// A probe that gets the address that `i` accesses.
    fn addressed(&mut self, i: &Instruction, slot: usize) {
        self.addressed_returning(i, slot);
    }

    /// Gives the index of what is behind the call.
    fn addressed_returning(&mut self, i: &Instruction, slot: usize) -> usize {
        self.hot.push(move_stack(-RED_ZONE));
        self.hot.push(push(Register::RDI));
        self.address(i, RED_ZONE + 8);
        self.hot.push(self.call(slot));
        let returns_to = self.hot.len();
        self.hot.push(pop(Register::RDI));
        self.hot.push(move_stack(RED_ZONE));
        returns_to
    }

    /// A probe that gets the address that `i` accesses, or what rdi has, and a number.
    fn ranged(&mut self, slot: usize, number: u32, i: Option<&Instruction>) {
        self.hot.push(move_stack(-RED_ZONE));
        self.hot.push(push(Register::RDI));
        self.hot.push(push(Register::RSI));
        if let Some(i) = i {
            self.address(i, RED_ZONE + 16);
        }
        self.hot.push(made(Instruction::with2(Opcode::Mov_r32_imm32, Register::ESI, number)));
        self.hot.push(self.call(slot));
        self.hot.push(pop(Register::RSI));
        self.hot.push(pop(Register::RDI));
        self.hot.push(move_stack(RED_ZONE));
    }

    /// Where the runtime lets the probe of a load return to if the variable synchronises: what the
    /// load sees may be newer than the probe, so the acquire comes after it.
    fn acquiring_way(&mut self, i: &Instruction, returns_to: usize) {
        self.loads.push((returns_to, self.cold.len()));
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
            moved.set_near_branch64(self.target(i.near_branch_target()));
        }
        moved
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
