//! The function of a copy that finds the copy of an address of the original, for jump tables and
//! computed gotos. Each file has its own, so that it need not look for the object first.

use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};
use raddle_wire::relocated::RelocatedHeader;

use crate::code::BIAS;
use crate::emit::LABEL;
use crate::program::RelocatedProgram;

/// Addresses of instructions are far above this.
const NOT_COPIED: u64 = LABEL | 1;

/// rax: an address, which becomes that of its copy if it has one. All else stays. `code`: where the
/// copies begin; the table is behind the header.
pub fn function(program: &RelocatedProgram, start: u64, code: u64) -> Vec<Instruction> {
    let map = start + size_of::<RelocatedHeader>() as u64;
    let len = program.code.len() as i32;
    try_function(program.text + BIAS, len, map, code)
        .unwrap_or_else(|e| unreachable!("instructions of fixed forms: {e}"))
}

fn try_function(text: u64, len: i32, map: u64, code: u64) -> Result<Vec<Instruction>, IcedError> {
    use Register::{ECX, RAX, RCX, RDX};
    let at = |address: u64| MemoryOperand::with_base_displ(Register::RIP, address as i64);
    let entry = MemoryOperand::with_base_index_scale(RDX, RCX, 4);
    let copy = MemoryOperand::with_base_index_scale_displ_size(RDX, RCX, 1, -1, 1);
    let mut last = Instruction::with1(Code::Pop_r64, RDX)?;
    last.set_ip(NOT_COPIED);
    Ok(vec![
        Instruction::with(Code::Pushfq),
        Instruction::with1(Code::Push_r64, RCX)?,
        Instruction::with1(Code::Push_r64, RDX)?,
        Instruction::with2(Code::Mov_r64_rm64, RCX, RAX)?,
        Instruction::with2(Code::Lea_r64_m, RDX, at(text))?,
        Instruction::with2(Code::Sub_r64_rm64, RCX, RDX)?,
        Instruction::with2(Code::Cmp_rm64_imm32, RCX, len)?,
        Instruction::with_branch(Code::Jae_rel32_64, NOT_COPIED)?,
        Instruction::with2(Code::Lea_r64_m, RDX, at(map))?,
        Instruction::with2(Code::Mov_r32_rm32, ECX, entry)?,
        Instruction::with2(Code::Test_rm32_r32, ECX, ECX)?,
        Instruction::with_branch(Code::Je_rel32_64, NOT_COPIED)?,
        Instruction::with2(Code::Lea_r64_m, RDX, at(code))?,
        Instruction::with2(Code::Lea_r64_m, RAX, copy)?,
        last,
        Instruction::with1(Code::Pop_r64, RCX)?,
        Instruction::with(Code::Popfq),
        Instruction::with(Code::Retnq),
    ])
}
