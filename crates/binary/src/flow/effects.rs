//! What each instruction reads and writes: registers and flags, and its memory operands as written,
//! before it is known what they address.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedMemory};

use super::function::is_call;
use super::places::{CLOBBERED, RSP, Storage, XMM0};

/// Why an instruction reads a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Value,
    /// The place is part of the address of a memory operand.
    Address,
}

/// A read of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) place: Storage,
    pub(crate) role: Role,
}

/// A write of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) place: Storage,
    /// Whether it certainly happens.
    pub(crate) sure: bool,
}

/// A memory operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) base: Register,
    pub(crate) index: Register,
    pub(crate) scale: i64,
    pub(crate) displacement: i64,
    /// The size in bytes. 0 if it is known only at run time.
    pub(crate) size: u32,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// Relative to a segment: thread-local, or the stack protector's canary.
    pub(crate) segment: bool,
}

/// The effects of one instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    pub(crate) uses: Vec<Use>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) operands: Vec<Operand>,
}

impl Effects {
    pub(crate) fn of(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> Self {
        if is_call(instruction) {
            return Self::of_call();
        }
        let mut effects = Self::default();
        let info = factory.info(instruction);
        let operand_reads =
            |operand: u32| !matches!(info.op_access(operand), OpAccess::Write | OpAccess::None);
        if !is_nop(instruction) {
            for memory in info.used_memory() {
                effects.operands.extend(operand(instruction, memory));
            }
        }
        let addressing = |register: Register| {
            effects.operands.iter().any(|o| same(o.base, register) || same(o.index, register))
        };
        let conditional_move = is_conditional_move(instruction);
        let zero = is_zero(instruction);
        let (mut uses, mut definitions) = (Vec::new(), Vec::new());
        for used in info.used_registers() {
            let Some(place) = Storage::of(used.register()).filter(|place| !is_stack_pointer(*place)) else {
                continue;
            };
            let (reads, writes, sure) = match used.access() {
                OpAccess::Read | OpAccess::CondRead => (true, false, false),
                OpAccess::Write => (false, true, true),
                OpAccess::CondWrite => (false, true, conditional_move),
                OpAccess::ReadWrite => (true, true, true),
                OpAccess::ReadCondWrite => (true, true, conditional_move),
                _ => continue,
            };
            if reads && !zero {
                // A register that is both, as in `mov %rax, (%rax)`, counts as the value.
                let value = is_value(instruction, used.register(), operand_reads);
                let role = if addressing(used.register()) && !value { Role::Address } else { Role::Value };
                uses.push(Use { place, role });
            }
            if writes {
                if conditional_move && !reads {
                    uses.push(Use { place, role: Role::Value });
                }
                definitions.push(Definition { place: widened(place), sure });
            }
        }
        if instruction.rflags_read() != 0 {
            uses.push(Use { place: Storage::Flags, role: Role::Value });
        }
        if instruction.rflags_modified() != 0 {
            definitions.push(Definition { place: Storage::Flags, sure: true });
        }
        uses.dedup();
        effects.uses = uses;
        effects.definitions = definitions;
        effects
    }

    /// The registers that a callee need not preserve. Its arguments are examined only if a slice
    /// needs them.
    fn of_call() -> Self {
        let registers = CLOBBERED.into_iter().chain(XMM0..XMM0 + 16).map(Storage::whole);
        let places = registers.chain([Storage::Flags]);
        let definitions = places.map(|place| Definition { place, sure: true }).collect();
        Self { definitions, ..Self::default() }
    }
}

fn operand(instruction: &Instruction, memory: &UsedMemory) -> Option<Operand> {
    let (reads, writes) = match memory.access() {
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write | OpAccess::CondWrite => (false, true),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        _ => return None,
    };
    let segment = matches!(memory.segment(), Register::FS | Register::GS);
    let relative = instruction.is_ip_rel_memory_operand() && memory.index() == Register::None;
    let (base, displacement) = if relative && !is_implicit_stack(instruction, memory) {
        (Register::None, instruction.ip_rel_memory_address())
    } else {
        (memory.base(), memory.displacement())
    };
    Some(Operand {
        base,
        index: memory.index(),
        scale: i64::from(memory.scale()),
        displacement: displacement as i64,
        size: memory.memory_size().size() as u32,
        reads,
        writes,
        segment,
    })
}

/// The implicit stack access of `push table(%rip)`, in addition to its explicit operand.
fn is_implicit_stack(instruction: &Instruction, memory: &UsedMemory) -> bool {
    memory.base() == Register::RSP && instruction.memory_base() != Register::RSP
}

fn same(a: Register, b: Register) -> bool {
    a != Register::None && a.full_register() == b.full_register()
}

/// Whether a register is itself an operand that is read, and not only part of an address.
fn is_value(instruction: &Instruction, register: Register, read: impl Fn(u32) -> bool) -> bool {
    (0..instruction.op_count()).any(|operand| {
        read(operand)
            && instruction.op_kind(operand) == OpKind::Register
            && same(instruction.op_register(operand), register)
    })
}

fn is_stack_pointer(place: Storage) -> bool {
    matches!(place, Storage::Register { number: RSP, .. })
}

/// Writing half of a general register clears the other half.
fn widened(place: Storage) -> Storage {
    match place {
        Storage::Register { number, size: 4 } => Storage::whole(number),
        other => other,
    }
}

/// `xor %eax, %eax` and similar instructions depend on nothing.
pub(crate) fn is_zero(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Xor | Mnemonic::Sub | Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Vpxor | Mnemonic::Xorpd
    ) && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
        && (instruction.op_count() == 2
            || instruction.op2_kind() == OpKind::Register
                && instruction.op2_register() == instruction.op1_register())
}

pub(crate) fn is_conditional_move(instruction: &Instruction) -> bool {
    use Mnemonic::{
        Cmova, Cmovae, Cmovb, Cmovbe, Cmove, Cmovg, Cmovge, Cmovl, Cmovle, Cmovne, Cmovno, Cmovnp, Cmovns,
        Cmovo, Cmovp, Cmovs,
    };
    matches!(
        instruction.mnemonic(),
        Cmova
            | Cmovae
            | Cmovb
            | Cmovbe
            | Cmove
            | Cmovg
            | Cmovge
            | Cmovl
            | Cmovle
            | Cmovne
            | Cmovno
            | Cmovnp
            | Cmovns
            | Cmovo
            | Cmovp
            | Cmovs
    )
}

fn is_nop(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Lea)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::places::{RAX, RCX, RDI};
    use iced_x86::{Decoder, DecoderOptions};

    fn effects(bytes: &[u8]) -> Effects {
        let instruction = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode();
        Effects::of(&instruction, &mut InstructionInfoFactory::new())
    }

    fn uses(effects: &Effects) -> Vec<(Storage, Role)> {
        effects.uses.iter().map(|u| (u.place, u.role)).collect()
    }

    #[test]
    fn a_load_uses_its_address_and_defines_its_register() {
        let found = effects(&[0x8b, 0x47, 0x04]); // mov 4(%rdi), %eax
        assert_eq!(uses(&found), [(Storage::whole(RDI), Role::Address)]);
        assert_eq!(found.definitions, [Definition { place: Storage::whole(RAX), sure: true }]);
        let operand = found.operands[0];
        assert_eq!((operand.base, operand.displacement, operand.size), (Register::RDI, 4, 4));
        assert!(operand.reads && !operand.writes);
    }

    #[test]
    fn clearing_a_register_depends_on_nothing() {
        let found = effects(&[0x31, 0xc0]); // xor %eax, %eax
        assert!(found.uses.is_empty());
        assert!(found.definitions.iter().any(|d| d.place == Storage::Flags));
        let found = effects(&[0x31, 0xc8]); // xor %ecx, %eax
        assert_eq!(found.uses.len(), 2);
    }

    #[test]
    fn a_conditional_move_keeps_the_old_value_or_takes_the_new_one() {
        let found = effects(&[0x0f, 0x44, 0xc1]); // cmove %ecx, %eax
        let places: Vec<Storage> = found.uses.iter().map(|u| u.place).collect();
        assert!(places.contains(&Storage::Register { number: RAX, size: 4 }), "{places:?}");
        assert!(
            places.contains(&Storage::Register { number: RCX, size: 4 }) && places.contains(&Storage::Flags)
        );
        assert!(found.definitions.iter().all(|d| d.sure));
    }

    #[test]
    fn bytes_are_bytes_and_halves_are_whole() {
        let found = effects(&[0x0f, 0x94, 0xc0]); // sete %al
        assert_eq!(found.definitions[0].place, Storage::Register { number: RAX, size: 1 });
        assert_eq!(uses(&found), [(Storage::Flags, Role::Value)]);
    }

    #[test]
    fn calls_clobber_what_the_abi_lets_them() {
        let found = effects(&[0xe8, 0, 0, 0, 0]);
        assert!(found.uses.is_empty() && found.operands.is_empty());
        assert!(found.definitions.iter().any(|d| d.place == Storage::whole(RAX)));
        assert!(!found.definitions.iter().any(|d| d.place == Storage::whole(3)), "rbx is preserved");
    }

    #[test]
    fn addresses_are_computed_where_they_are_written() {
        let found = effects(&[0x8b, 0x05, 0x10, 0, 0, 0]); // mov 0x10(%rip), %eax
        assert_eq!((found.operands[0].base, found.operands[0].displacement), (Register::None, 0x1016));
        assert!(effects(&[0x48, 0x8d, 0x05, 0x10, 0, 0, 0]).operands.is_empty(), "lea reads no memory");
        assert!(
            effects(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]).operands[0].segment,
            "mov %fs:0x28, %rax"
        );
    }

    #[test]
    fn pushes_write_below_the_pointer_and_pops_read_at_it() {
        let push = effects(&[0x53]).operands[0]; // push %rbx
        assert_eq!((push.base, push.displacement, push.writes), (Register::RSP, -8, true));
        let pop = effects(&[0x5b]).operands[0];
        assert_eq!((pop.base, pop.displacement, pop.reads), (Register::RSP, 0, true));
    }

    #[test]
    fn a_store_of_its_own_address_uses_it_as_a_value() {
        let found = effects(&[0x48, 0x89, 0x00]); // mov %rax, (%rax)
        assert_eq!(uses(&found), [(Storage::whole(RAX), Role::Value)]);
        let found = effects(&[0x8b, 0x40, 0x04]); // mov 4(%rax), %eax
        assert_eq!(uses(&found), [(Storage::whole(RAX), Role::Address)], "the old value only says where");
    }
}
