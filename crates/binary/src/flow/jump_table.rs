//! The targets of a `switch`: the tables behind indirect jumps.
//!
//! Compilers generate two forms: a table of 32-bit distances from its own start
//! (position-independent code, gcc, clang and rustc), and a table of addresses (fixed addresses,
//! computed goto). A search backward from the jump finds the address that is loaded. The length of
//! the table comes from the comparison that guards it, or else from the first entry that leads out
//! of the function.

use std::ops::Range;

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::program::MachineProgram;

/// How many instructions before the jump the table's address and the bound are searched.
const REACH: usize = 24;
/// The maximal length of a table.
const MAX_ENTRIES: u64 = 4096;

/// The targets of the indirect jump at `code[at]` that lie within `parts`, in the table's order.
pub(super) fn targets(
    program: &MachineProgram,
    code: &[Instruction],
    at: usize,
    parts: &[Range<u64>],
) -> Vec<u64> {
    let jump = &code[at];
    let before = &code[at.saturating_sub(REACH)..at];
    let limit = bound(before).map_or(MAX_ENTRIES, |bound| bound.saturating_add(1).min(MAX_ENTRIES));
    let inside = |target: &u64| parts.iter().any(|part| part.contains(target));
    // jmp *table(,%rax,8)
    if jump.op0_kind() == OpKind::Memory && jump.memory_base() == Register::None {
        let table = jump.memory_displacement64();
        return addresses(program, table).take(limit as usize).take_while(inside).collect();
    }
    for instruction in before.iter().rev() {
        let table = match instruction.mnemonic() {
            Mnemonic::Lea if instruction.is_ip_rel_memory_operand() => instruction.ip_rel_memory_address(),
            Mnemonic::Mov if fixed_table(instruction) => instruction.memory_displacement64(),
            _ => continue,
        };
        if inside(&table) {
            continue;
        }
        let near = distances(program, table).take(limit as usize).take_while(inside).collect::<Vec<_>>();
        if !near.is_empty() {
            return near;
        }
        let far = addresses(program, table).take(limit as usize).take_while(inside).collect::<Vec<_>>();
        if !far.is_empty() {
            return far;
        }
    }
    Vec::new()
}

/// `mov table(,%rax,8), %rax`
fn fixed_table(instruction: &Instruction) -> bool {
    instruction.op1_kind() == OpKind::Memory
        && instruction.memory_base() == Register::None
        && instruction.memory_index() != Register::None
}

/// The constant that guards the jump: `cmp $n, %eax; ja default`.
fn bound(before: &[Instruction]) -> Option<u64> {
    let guard = before.iter().rposition(|i| i.flow_control() == FlowControl::ConditionalBranch)?;
    let comparison = before[..guard].iter().rev().take(3).find(|i| i.mnemonic() == Mnemonic::Cmp)?;
    let immediate = matches!(
        comparison.op1_kind(),
        OpKind::Immediate8
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate32to64
    );
    immediate.then(|| comparison.immediate(1))
}

fn distances<'p>(program: &'p MachineProgram, table: u64) -> impl Iterator<Item = u64> + 'p {
    (0..MAX_ENTRIES).map_while(move |entry| {
        let word = program.module().bytes_at(table.checked_add(entry * 4)?, 4)?;
        let distance = i32::from_le_bytes(word.try_into().ok()?);
        Some(table.wrapping_add(i64::from(distance) as u64))
    })
}

fn addresses<'p>(program: &'p MachineProgram, table: u64) -> impl Iterator<Item = u64> + 'p {
    (0..MAX_ENTRIES).map_while(move |entry| {
        let slot = table.checked_add(entry * 8)?;
        program.word(slot).or_else(|| {
            let word = program.module().bytes_at(slot, 8)?;
            Some(u64::from_le_bytes(word.try_into().ok()?))
        })
    })
}
