//! The stack pointer at each instruction, relative to its value at the function's entry.
//!
//! Functions align their frames (`and $-32, %rsp`) and grow them (`sub %rax, %rsp`) by amounts that
//! are known only at run time. Such an instruction counts as changing nothing. Slots above it and
//! slots below it keep their distances among themselves, which is all that a slice needs.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::function::{MachineFunction, is_call};

/// The height before each instruction. `None` where the code is unreachable.
pub(super) fn heights(function: &MachineFunction) -> Vec<Option<i32>> {
    let mut heights = vec![None; function.len()];
    let mut frame = None;
    let mut entered = vec![false; function.blocks.len()];
    let mut work = vec![(function.entry_block(), 0)];
    while let Some((block, mut height)) = work.pop() {
        if std::mem::replace(&mut entered[block as usize], true) {
            continue;
        }
        let range = function.blocks[block as usize];
        for index in range.first..range.end {
            let instruction = &function.code[index as usize];
            heights[index as usize] = Some(height);
            if is_copy_to(instruction, Register::RBP, Register::RSP) {
                frame = Some(height);
            }
            height = after(instruction, height, frame);
        }
        let pads = function.unwinding.iter().filter(|(from, _)| *from == block).map(|(_, pad)| *pad);
        let next = function.graph.successors(block).iter().copied().chain(pads);
        work.extend(next.map(|block| (block, height)));
    }
    heights
}

/// The height after an instruction.
fn after(instruction: &Instruction, height: i32, frame: Option<i32>) -> i32 {
    if is_call(instruction) {
        return height;
    }
    if instruction.mnemonic() == Mnemonic::Leave {
        return frame.map_or(height, |frame| frame + 8);
    }
    if is_copy_to(instruction, Register::RSP, Register::RBP) {
        return frame.unwrap_or(height);
    }
    let writes_pointer = instruction.op_count() > 0
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register() == Register::RSP;
    if writes_pointer {
        let constant = || instruction.immediate(1) as i32;
        let immediate = matches!(
            instruction.op1_kind(),
            OpKind::Immediate8to64 | OpKind::Immediate32to64 | OpKind::Immediate8
        );
        let displacement = instruction.memory_displacement64() as i32;
        return match instruction.mnemonic() {
            Mnemonic::Sub if immediate => height.wrapping_sub(constant()),
            Mnemonic::Add if immediate => height.wrapping_add(constant()),
            Mnemonic::Lea if instruction.memory_base() == Register::RSP => height.wrapping_add(displacement),
            Mnemonic::Lea if instruction.memory_base() == Register::RBP => {
                frame.map_or(height, |frame| frame.wrapping_add(displacement))
            }
            _ => height,
        };
    }
    height.wrapping_add(instruction.stack_pointer_increment())
}

fn is_copy_to(instruction: &Instruction, to: Register, from: Register) -> bool {
    instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == to
        && instruction.op1_register() == from
}
