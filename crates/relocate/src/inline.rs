//! The check of a probe in the code: what `rt::relocated::thunks` does when it is called, without
//! the call.
//!
//! The granule's four slots are loaded at once and compared with the slot that this access would
//! leave, which the thread keeps in four lanes. If one is equal there is nothing to do. Otherwise,
//! and if the address is not a multiple of the size, the cold part calls the runtime. Accesses of
//! 1, 2 and 4 bytes compare only the bits that count for them: all but the other bytes, and for a
//! read all but READ, since an own write stands for a read.
//!
//! It takes one general register for 8 and 16 bytes and two for fewer, and one or two vector
//! registers. [`choose`] takes those that nobody looks at again ([`liveness`](crate::liveness)). Of
//! others the values are kept: those of general registers in vector registers if some are left,
//! which leaves the stack pointer alone, all others on the stack, beyond the red zone. Flags that
//! are looked at again are kept in rax.

use std::collections::VecDeque;

use iced_x86::{Code as Opcode, Instruction, MemoryOperand, Register};
use raddle_wire::relocated::{shadow, slot};

use crate::emit::{RED_ZONE, made, move_stack};
use crate::liveness::Set;

/// The registers of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRegisters {
    pub address: Register,
    /// For fewer than 8 bytes: which of the granule's.
    offset: Register,
    slots: Register,
    /// For fewer than 8 bytes, and for 16.
    other: Register,
    /// Flags are kept in rax.
    keeps_flags: bool,
    /// General registers and where they are kept.
    kept: Vec<(Register, Register)>,
    /// Registers that are kept on the stack.
    stacked: Vec<Register>,
}

impl CheckRegisters {
    /// How much lower the stack pointer is during the check.
    pub fn pushed(&self) -> i64 {
        if self.stacked.is_empty() { 0 } else { RED_ZONE + STACKED * self.stacked.len() as i64 }
    }
}

/// The room of one register.
const STACKED: i64 = 16;

/// In the order in which they are taken. rax comes late: compilers set parts of it, and the next
/// such instruction would wait for the check.
const CALLER_SAVED: [Register; 9] = [
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::RAX,
];
/// Taken if they are dead, never kept elsewhere: an unwinder may look for them at any moment.
const CALLEE_SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// Registers for the check of an access of `size` bytes to what `operand` names, where `live` are
/// looked at again. The program uses none of `unused`.
pub fn choose(size: u32, live: Set, operand: Set, unused: &[Register]) -> CheckRegisters {
    let dead = (0..16).map(|n| Register::XMM0 + n).filter(|r| !live.has(*r) && !unused.contains(r));
    let mut spare: VecDeque<Register> = unused.iter().copied().chain(dead).collect();
    let (mut kept, mut stacked) = (Vec::new(), Vec::new());
    let mut taken = [Register::None; 2];
    for (n, vector) in taken.iter_mut().enumerate().take(if size == 8 { 1 } else { 2 }) {
        *vector = spare.pop_front().unwrap_or_else(|| {
            stacked.push(Register::XMM0 + n as u32);
            Register::XMM0 + n as u32
        });
    }
    let [slots, other] = taken;
    let mut keep = |register: Register| match spare.pop_front() {
        Some(vector) => kept.push((register, vector)),
        None => stacked.push(register),
    };
    let keeps_flags = live.has_flags();
    if keeps_flags && live.has(Register::RAX) {
        keep(Register::RAX);
    }
    let is_free = |r: &Register| !(operand.has(*r) || keeps_flags && *r == Register::RAX);
    let is_dead = |r: &Register| is_free(r) && !live.has(*r);
    let is_live = |r: &Register| is_free(r) && live.has(*r);
    let saved = || CALLER_SAVED.into_iter();
    let mut order = saved().chain(CALLEE_SAVED).filter(is_dead).chain(saved().filter(is_live));
    let mut take = || {
        let register = order.next().unwrap_or_else(|| unreachable!("an address has two registers"));
        if live.has(register) {
            keep(register);
        }
        register
    };
    let address = take();
    let offset = if size >= 8 { Register::None } else { take() };
    CheckRegisters { address, offset, slots, other, keeps_flags, kept, stacked }
}

/// Where the constants are: labels that are no addresses of the program.
const CONSTANTS: u64 = 1 << 58;
const READ_BIT: u64 = CONSTANTS;
const START: u64 = CONSTANTS + 16;
const MASKS: u64 = CONSTANTS + 32;
const MASKS_LEN: u64 = 8 * 16;

fn masks(size: u32, write: bool) -> u64 {
    MASKS + MASKS_LEN * u64::from(2 * size.ilog2() + u32::from(write))
}

/// What the checks compare with, for the beginning of the code, which is aligned.
pub fn constants() -> Vec<Instruction> {
    let vector = |label: u64, low: u64, high: u64| {
        let mut data = Instruction::with_declare_qword_2(low, high);
        data.set_ip(label);
        data
    };
    let lanes = |label: u64, lane: u32| {
        let two = u64::from(lane) << 32 | u64::from(lane);
        vector(label, two, two)
    };
    let mut all = vec![lanes(READ_BIT, shadow::READ), vector(START, shadow::START, 0)];
    for (size, write) in [1, 2, 4].into_iter().flat_map(|size| [(size, false), (size, true)]) {
        let counts = !0xff & !if write { 0 } else { shadow::READ };
        let bytes = |n: u32| ((1u32 << size) - 1) << n & 0xff;
        all.extend((0..8).map(|n| lanes(masks(size, write) + 16 * u64::from(n), counts | bytes(n))));
    }
    all
}

/// Writes instructions.
pub struct CheckWriter<'a> {
    pub to: &'a mut Vec<Instruction>,
    pub registers: &'a CheckRegisters,
    /// Where the header's slots are.
    pub header: u64,
    /// The label to go to unless the access is recorded already.
    pub otherwise: u64,
}

impl CheckWriter<'_> {
    fn put(&mut self, instruction: Result<Instruction, iced_x86::IcedError>) {
        self.to.push(made(instruction));
    }

    /// What is to be kept, but for the flags.
    pub fn keep_registers(&mut self) {
        for (register, at) in &self.registers.kept {
            self.to.push(made(Instruction::with2(Opcode::Movq_xmm_rm64, *at, *register)));
        }
        if self.registers.pushed() != 0 {
            self.to.push(move_stack(-self.registers.pushed()));
        }
        for (n, register) in self.registers.stacked.iter().enumerate() {
            let opcode = if register.is_xmm() { Opcode::Movups_xmmm128_xmm } else { Opcode::Mov_rm64_r64 };
            self.to.push(made(Instruction::with2(opcode, on_stack(n), *register)));
        }
    }

    /// Behind the load of the address, in which rax may have a part.
    pub fn keep_flags(&mut self) {
        if self.registers.keeps_flags {
            self.to.push(Instruction::with(Opcode::Lahf));
            self.put(Instruction::with1(Opcode::Seto_rm8, Register::AL));
        }
    }

    pub fn restore(&mut self) {
        if self.registers.keeps_flags {
            self.put(Instruction::with2(Opcode::Add_AL_imm8, Register::AL, 0x7f));
            self.to.push(Instruction::with(Opcode::Sahf));
        }
        for (register, at) in &self.registers.kept {
            self.to.push(made(Instruction::with2(Opcode::Movq_rm64_xmm, *register, *at)));
        }
        for (n, register) in self.registers.stacked.iter().enumerate() {
            let opcode = if register.is_xmm() { Opcode::Movups_xmm_xmmm128 } else { Opcode::Mov_r64_rm64 };
            self.to.push(made(Instruction::with2(opcode, *register, on_stack(n))));
        }
        if self.registers.pushed() != 0 {
            self.to.push(move_stack(self.registers.pushed()));
        }
    }

    /// The check itself. The address is in its register, which is overwritten like the others.
    pub fn check(&mut self, size: u32, write: bool) {
        let CheckRegisters { address, slots, other, .. } = *self.registers;
        if size > 1 {
            let bits = if size < 8 { size - 1 } else { 7 };
            let low = Register::AL + low_byte(address);
            self.put(Instruction::with2(Opcode::Test_rm8_imm8, low, bits));
            self.put(Instruction::with_branch(Opcode::Jne_rel32_64, self.otherwise));
        }
        let unused_bits = 64 - shadow::ADDRESS_BITS;
        self.put(Instruction::with2(Opcode::Shl_rm64_imm8, address, unused_bits));
        self.put(Instruction::with2(Opcode::Shr_rm64_imm8, address, unused_bits - 1));
        if size < 8 {
            self.part_of_granule(size, write);
        } else {
            self.granules(size, write);
        }
        let registers = [slots, other];
        for register in &registers[..if size == 16 { 2 } else { 1 }] {
            let lanes = address.full_register32();
            self.put(Instruction::with2(Opcode::Movmskps_r32_xmm, lanes, *register));
            self.put(Instruction::with2(Opcode::Test_rm32_r32, lanes, lanes));
            self.put(Instruction::with_branch(Opcode::Je_rel32_64, self.otherwise));
        }
    }

    fn constant(&self, at: u64) -> MemoryOperand {
        MemoryOperand::with_base_displ(Register::RIP, at as i64)
    }

    fn own(&self, slot: usize) -> MemoryOperand {
        self.constant(self.header + 8 * slot as u64)
    }

    fn of_thread(&self) -> MemoryOperand {
        let none = Register::None;
        MemoryOperand::new(self.registers.address, none, 1, 0, 0, false, Register::FS)
    }

    /// One or two whole granules: all bits count.
    fn granules(&mut self, size: u32, write: bool) {
        let CheckRegisters { address, slots, other, .. } = *self.registers;
        let both = [slots, other];
        let both = &both[..if size == 16 { 2 } else { 1 }];
        self.put(Instruction::with2(Opcode::Add_r64_rm64, address, self.constant(START)));
        for (n, register) in both.iter().enumerate() {
            let at = MemoryOperand::with_base_displ_size(address, 16 * n as i64, u32::from(n > 0));
            self.put(Instruction::with2(Opcode::Movdqa_xmm_xmmm128, *register, at));
        }
        if !write {
            for register in both {
                self.put(Instruction::with2(Opcode::Por_xmm_xmmm128, *register, self.constant(READ_BIT)));
            }
        }
        let own = self.own(if write { slot::OWN_WRITE } else { slot::OWN_READ });
        self.put(Instruction::with2(Opcode::Mov_r64_rm64, address, own));
        for register in both {
            self.put(Instruction::with2(Opcode::Pcmpeqd_xmm_xmmm128, *register, self.of_thread()));
        }
    }

    /// Fewer than 8 bytes, twice whose address is in its register.
    fn part_of_granule(&mut self, size: u32, write: bool) {
        let CheckRegisters { address, offset, slots, other, .. } = *self.registers;
        let (low, offset32) = (address.full_register32(), offset.full_register32());
        self.put(Instruction::with2(Opcode::Mov_r32_rm32, offset32, low));
        self.put(Instruction::with2(Opcode::And_rm32_imm8, offset32, 14));
        self.put(Instruction::with2(Opcode::Xor_r64_rm64, address, offset));
        self.put(Instruction::with2(Opcode::Add_r64_rm64, address, self.constant(START)));
        let granule = MemoryOperand::with_base(address);
        self.put(Instruction::with2(Opcode::Movdqa_xmm_xmmm128, slots, granule));
        let masks = self.constant(masks(size, write));
        self.put(Instruction::with2(Opcode::Lea_r64_m, address, masks));
        let mask = MemoryOperand::with_base_index_scale(address, offset, 8);
        self.put(Instruction::with2(Opcode::Movdqa_xmm_xmmm128, other, mask));
        self.put(Instruction::with2(Opcode::Pand_xmm_xmmm128, slots, other));
        let own = self.own(slot::OWN_WRITE);
        self.put(Instruction::with2(Opcode::Mov_r64_rm64, address, own));
        self.put(Instruction::with2(Opcode::Pand_xmm_xmmm128, other, self.of_thread()));
        self.put(Instruction::with2(Opcode::Pcmpeqd_xmm_xmmm128, slots, other));
    }
}

fn on_stack(n: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ_size(Register::RSP, STACKED * n as i64, u32::from(n > 0))
}

/// From `al` to the lowest byte of a register, in the order of `Register`: `ah` to `bh` come
/// between.
fn low_byte(register: Register) -> u32 {
    let number = register.number() as u32;
    if number < 4 { number } else { number + 4 }
}

#[cfg(test)]
mod tests;
