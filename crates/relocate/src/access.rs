//! What one instruction does to memory that threads may share.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use raddle_wire::relocated::string;

use crate::program::RelocatedProgram;

/// An instruction's access, as far as probes are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionAccess {
    /// None, or to memory that only this thread uses or nobody writes.
    None,
    Read {
        size: u32,
    },
    /// Also a read that is followed by a write.
    Write {
        size: u32,
    },
    /// A LOCK prefix, or `xchg`.
    Atomic,
    /// The same, and known to be relaxed.
    RelaxedAtomic,
    /// Atomic loads and stores without either, as the debug information says. They acquire and
    /// release.
    AtomicLoad,
    AtomicStore,
    /// Such a load or store that is known to be relaxed.
    Relaxed,
    /// `movs` or `stos`, as [`string`] says.
    String(u32),
    /// No probe can be written for it.
    Unknown,
}

impl InstructionAccess {
    pub fn is_atomic(&self) -> bool {
        use InstructionAccess::*;
        matches!(self, Atomic | AtomicLoad | AtomicStore | Relaxed | RelaxedAtomic)
    }
}

/// What a function does with the address of its frame.
#[derive(Clone, Copy, Default, Debug)]
pub struct FrameUse {
    /// rbp holds the address of the frame.
    pub has_pointer: bool,
    /// The address leaves the two registers, so that other threads may know it.
    pub escapes: bool,
}

impl FrameUse {
    pub fn of(instructions: &[Instruction]) -> FrameUse {
        let sets = |i: &Instruction| {
            i.mnemonic() == Mnemonic::Mov
                && i.op0_register() == Register::RBP
                && i.op1_register() == Register::RSP
        };
        let has_pointer = instructions.iter().any(sets);
        let frame = FrameUse { has_pointer, escapes: false };
        FrameUse { escapes: instructions.iter().any(|i| frame.lets_escape(i)), ..frame }
    }

    fn is_address(self, register: Register) -> bool {
        register == Register::RSP || register == Register::RBP && self.has_pointer
    }

    fn lets_escape(self, i: &Instruction) -> bool {
        let into = |r: Register| r != Register::RSP && !(r == Register::RBP && self.has_pointer);
        if i.mnemonic() == Mnemonic::Lea {
            return (self.is_address(i.memory_base()) || self.is_address(i.memory_index()))
                && into(i.op0_register());
        }
        if i.mnemonic() == Mnemonic::Push {
            return i.op0_register() == Register::RSP;
        }
        let from = i.op_count() >= 2 && i.op1_kind() == OpKind::Register && self.is_address(i.op1_register());
        from && !matches!(i.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
            && (i.op0_kind() == OpKind::Memory || into(i.op0_register()))
    }
}

/// The access of `i`, whose addresses are `bias` above those of the file.
pub fn of(
    i: &Instruction,
    program: &RelocatedProgram,
    bias: u64,
    frame: FrameUse,
    infos: &mut InstructionInfoFactory,
) -> InstructionAccess {
    let is_string =
        (0..i.op_count()).any(|o| matches!(i.op_kind(o), OpKind::MemoryESRDI | OpKind::MemorySegRSI));
    if is_string {
        return string_operation(i);
    }
    let Some(operand) = (0..i.op_count()).find(|o| i.op_kind(*o) == OpKind::Memory) else {
        return implicit(i);
    };
    let writes = match infos.info(i).op_access(operand) {
        OpAccess::None | OpAccess::NoMemAccess => return InstructionAccess::None,
        OpAccess::Read | OpAccess::CondRead => false,
        _ => true,
    };
    let base = i.memory_base();
    let is_foreign = match i.memory_segment() {
        Register::FS => !is_thread_local(i),
        segment => segment == Register::GS,
    };
    // A table in that storage, of which another thread may have the address.
    if is_foreign
        && i.memory_segment() == Register::FS
        && (base != Register::None || i.memory_index() != Register::None)
    {
        return InstructionAccess::Unknown;
    }
    if is_foreign || matches!(i.mnemonic(), Mnemonic::Nop | Mnemonic::Lea) {
        return InstructionAccess::None;
    }
    if base == Register::RIP && !writes && program.is_read_only(i.memory_displacement64().wrapping_sub(bias))
    {
        return InstructionAccess::None;
    }
    let is_atomic = i.has_lock_prefix() || i.mnemonic() == Mnemonic::Xchg;
    if frame.is_address(base) && (!frame.escapes || is_fence(i)) {
        return InstructionAccess::None;
    }
    let size = i.memory_size().size() as u32;
    if !is_expressible(i) || size == 0 || size > 64 {
        return InstructionAccess::Unknown;
    }
    let call = program.atomic_call(i.ip().wrapping_sub(bias));
    match (is_atomic, writes, call.map(|c| c.is_relaxed)) {
        (true, _, Some(true)) => InstructionAccess::RelaxedAtomic,
        (true, ..) => InstructionAccess::Atomic,
        (_, _, Some(true)) => InstructionAccess::Relaxed,
        (_, true, Some(false)) => InstructionAccess::AtomicStore,
        (_, false, Some(false)) if can_acquire_after(i) => InstructionAccess::AtomicLoad,
        (_, true, None) => InstructionAccess::Write { size },
        (_, false, _) => InstructionAccess::Read { size },
    }
}

/// `lock or [rsp + n], 0` and the like change nothing.
fn is_fence(i: &Instruction) -> bool {
    let is_zero = i.op_count() == 2 && i.try_immediate(1).is_ok_and(|immediate| immediate == 0);
    i.has_lock_prefix()
        && matches!(i.mnemonic(), Mnemonic::Or | Mnemonic::Add)
        && i.memory_base() == Register::RSP
        && is_zero
}

/// Something can come between the instruction and the next one.
pub fn can_acquire_after(i: &Instruction) -> bool {
    i.flow_control() == FlowControl::Next && !i.is_stack_instruction()
}

/// A variable in the storage that each thread has below its thread pointer: at a fixed distance, or
/// at one in a register. Above the pointer is the C library's own.
fn is_thread_local(i: &Instruction) -> bool {
    let is_fixed = i.memory_base() == Register::None && (i.memory_displacement64() as i64) < 0;
    let is_in_register = i.memory_base().size() == 8 && i.memory_base() != Register::RDI;
    i.memory_index() == Register::None && (is_fixed || is_in_register)
}

/// `lea` can compute the address, and all of the operand is accessed.
fn is_expressible(i: &Instruction) -> bool {
    let base = i.memory_base();
    let is_absolute = base == Register::None && i.memory_index() == Register::None;
    let displacement = i.memory_displacement64() as i64;
    let wide = |r: Register| r == Register::None || r == Register::RIP || r.size() == 8;
    !i.is_vsib()
        && i.op_mask() == Register::None
        && wide(base)
        && wide(i.memory_index())
        && !(is_absolute && displacement != i64::from(displacement as i32))
        && !(i.mnemonic() == Mnemonic::Pop && base == Register::RSP)
        && !matches!(
            i.mnemonic(),
            Mnemonic::Vmaskmovps | Mnemonic::Vmaskmovpd | Mnemonic::Vpmaskmovd | Mnemonic::Vpmaskmovq
        )
}

/// Instructions that access memory which no operand of the usual form names.
fn implicit(i: &Instruction) -> InstructionAccess {
    match i.mnemonic() {
        Mnemonic::Maskmovdqu | Mnemonic::Vmaskmovdqu | Mnemonic::Maskmovq | Mnemonic::Xlatb => {
            InstructionAccess::Unknown
        }
        _ => InstructionAccess::None,
    }
}

fn string_operation(i: &Instruction) -> InstructionAccess {
    let (log2, loads) = match i.mnemonic() {
        Mnemonic::Movsb => (0, true),
        Mnemonic::Movsw => (1, true),
        Mnemonic::Movsd => (2, true),
        Mnemonic::Movsq => (3, true),
        Mnemonic::Stosb => (0, false),
        Mnemonic::Stosw => (1, false),
        Mnemonic::Stosd => (2, false),
        Mnemonic::Stosq => (3, false),
        _ => return InstructionAccess::Unknown,
    };
    let repeats = i.has_rep_prefix() || i.has_repne_prefix();
    InstructionAccess::String(
        log2 | if loads { string::LOADS } else { 0 } | if repeats { string::REPEATS } else { 0 },
    )
}
