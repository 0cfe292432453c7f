//! What an instruction that is no jump and no call does to values and to the frame.

use iced_x86::{Instruction, Mnemonic, OpAccess, OpKind, Register, UsedMemory};

use super::Walk;
use super::numbers::{FRAME, Number, Origin, Root};

impl Walk<'_> {
    /// An instruction that is no jump and no call.
    pub(super) fn step(&mut self, instruction: &Instruction) {
        let info = self.factory.info(instruction);
        let memory: Vec<UsedMemory> = info.used_memory().to_vec();
        let written: Vec<Register> = info
            .used_registers()
            .iter()
            .filter(|used| writes(used.access()))
            .map(|used| used.register().full_register())
            .collect();
        let read: Vec<Register> = (0..instruction.op_count())
            .filter(|i| instruction.op_kind(*i) == OpKind::Register && reads(info.op_access(*i)))
            .map(|i| instruction.op_register(i).full_register())
            .collect();
        if instruction.is_string_instruction() {
            return self.copy(instruction, &written);
        }
        // A struct is passed as it is. A sum is the address of a part of an object.
        let is_sum = matches!(instruction.mnemonic(), Mnemonic::Add | Mnemonic::Sub | Mnemonic::Lea);
        let mut is_silent = !is_sum && read.iter().any(|r| self.holds_silent(*r));
        let mut loaded = None;
        let mut is_vtable = false;
        let mut stores = Vec::new();
        for used in &memory {
            let place = self.place(used);
            let size = used.memory_size().size();
            if reads(used.access())
                && let Some(place) = place
            {
                is_vtable |= self.is_vptr(place, size);
                if self.reads_silently(place, size) {
                    is_silent |= !is_sum;
                    self.reads_odd(instruction.ip(), place, size);
                    self.silent_loads.push((place, size));
                } else if self.announced.back().is_some_and(|last| last.has(place, size)) {
                    self.unread = None;
                }
                loaded = Some((place, size));
            }
            if writes(used.access())
                && let Some(place) = place
            {
                stores.push((place, size));
            }
        }
        let result = self.result(instruction, &memory, loaded, is_silent);
        if let Root::Value(id) = result.root
            && is_vtable
        {
            self.vtables.insert(id);
        }
        for (place, size) in stores {
            self.writes_silently(instruction.ip(), place, size);
            self.store(instruction, place, size, is_silent);
        }
        self.assign(instruction, &written, result, is_silent);
    }

    /// A copy of many words, or another string instruction.
    pub(super) fn copy(&mut self, instruction: &Instruction, written: &[Register]) {
        use Mnemonic::{Movsb, Movsd, Movsq, Movsw};
        let (to, from) = (self.register(Register::RDI), self.register(Register::RSI));
        if matches!(instruction.mnemonic(), Movsb | Movsw | Movsd | Movsq) {
            self.is_on_stack |= to.root == Root::Frame && self.reads_silently(from, 1);
        }
        if to.root == Root::Frame {
            self.slots.clear();
        }
        for register in written {
            let number = self.fresh();
            self.registers.insert(*register, number);
        }
    }

    /// The value that an instruction computes for its first operand.
    pub(super) fn result(
        &mut self,
        instruction: &Instruction,
        memory: &[UsedMemory],
        loaded: Option<(Number, usize)>,
        is_silent: bool,
    ) -> Number {
        use Mnemonic::{Add, And, Lea, Mov, Or, Shl, Shr, Sub};
        let is_wide = instruction.op0_register().size() == 8;
        match instruction.mnemonic() {
            Lea => {
                let offset = instruction.memory_displacement64() as i64;
                let (base, index) = (instruction.memory_base(), instruction.memory_index());
                let sum = self.sum(base, index, instruction.memory_index_scale(), offset);
                return sum.unwrap_or_else(|| self.fresh());
            }
            Mov if instruction.op1_kind() == OpKind::Register && is_wide => {
                return self.register(instruction.op1_register());
            }
            Mov if is_immediate(instruction.op1_kind()) => {
                return self.literal(instruction.immediate(1) as i64);
            }
            Add | Sub if is_wide && is_immediate(instruction.op1_kind()) => {
                let change = instruction.immediate(1) as i64;
                let change = match instruction.mnemonic() {
                    Add => self.literal(change),
                    _ => Number { root: Root::Zero, offset: change.wrapping_neg() },
                };
                let value = self.register(instruction.op0_register());
                return self.added(value, change, 1);
            }
            Add if is_wide && instruction.op1_kind() == OpKind::Register => {
                let (a, b) =
                    (self.register(instruction.op0_register()), self.register(instruction.op1_register()));
                return self.added(a, b, 1);
            }
            // Room for an array whose size is not known.
            Sub if is_wide && instruction.op1_kind() == OpKind::Register => {
                let (a, b) =
                    (self.register(instruction.op0_register()), self.register(instruction.op1_register()));
                if a.root == Root::Frame && b.root != Root::Frame {
                    return FRAME;
                }
            }
            Shl if is_wide && is_immediate(instruction.op1_kind()) && instruction.immediate(1) < 32 => {
                let value = self.register(instruction.op0_register());
                let zero = Number { root: Root::Zero, offset: 0 };
                return self.added(zero, value, 1 << instruction.immediate(1));
            }
            _ => {}
        }
        if memory.iter().any(|m| matches!(m.segment(), Register::FS | Register::GS)) {
            return FRAME;
        }
        if let Some((place, size)) = loaded {
            let is_move = instruction.op_count() == 2 && instruction.op1_kind() == OpKind::Memory;
            return match (place.root, is_move && !is_silent) {
                (Root::Frame, true) => match self.slots.get(&(place.offset, size)) {
                    Some(known) => *known,
                    None => {
                        let number = self.fresh();
                        self.slots.insert((place.offset, size), number);
                        number
                    }
                },
                (Root::Image, true) if self.is_constant(place) => {
                    self.computed(Origin::Constant(place.offset, size))
                }
                _ => self.fresh(),
            };
        }
        if !memory.is_empty() || is_silent {
            return self.fresh();
        }
        let info = self.factory.info(instruction);
        let used: Vec<u32> = (0..instruction.op_count()).filter(|i| reads(info.op_access(*i))).collect();
        let operands: Vec<Number> = used.into_iter().map(|i| self.operand(instruction, i)).collect();
        // An address that is rounded for the sake of alignment.
        if matches!(instruction.mnemonic(), And | Or | Shr) && operands.iter().any(|n| n.root == Root::Frame)
        {
            return FRAME;
        }
        self.computed(Origin::Operation(instruction.code() as u32, operands))
    }

    pub(super) fn operand(&mut self, instruction: &Instruction, i: u32) -> Number {
        match instruction.op_kind(i) {
            OpKind::Register => self.register(instruction.op_register(i)),
            kind if is_immediate(kind) => {
                Number { root: Root::Zero, offset: instruction.immediate(i) as i64 }
            }
            _ => self.fresh(),
        }
    }

    pub(super) fn store(&mut self, instruction: &Instruction, place: Number, size: usize, is_silent: bool) {
        if place.root != Root::Frame {
            return;
        }
        self.is_on_stack |= is_silent;
        let end = place.offset.wrapping_add(size as i64);
        self.slots.retain(|(at, len), _| *at >= end || at.wrapping_add(*len as i64) <= place.offset);
        let is_move = instruction.mnemonic() == Mnemonic::Mov && instruction.op1_kind() == OpKind::Register;
        if is_move && !is_silent {
            let value = self.register(instruction.op1_register());
            self.slots.insert((place.offset, size), value);
        }
    }

    pub(super) fn assign(
        &mut self,
        instruction: &Instruction,
        written: &[Register],
        result: Number,
        is_silent: bool,
    ) {
        let first = match instruction.op0_kind() {
            OpKind::Register => instruction.op0_register().full_register(),
            _ => Register::None,
        };
        for register in written {
            let number = match register {
                Register::RSP if instruction.stack_pointer_increment() != 0 => {
                    let depth = self.register(Register::RSP);
                    depth.plus(i64::from(instruction.stack_pointer_increment()))
                }
                Register::RSP if result.root != Root::Frame => FRAME,
                register if *register == first && instruction.mnemonic() != Mnemonic::Pop => result,
                Register::RSP => FRAME,
                Register::RAX if matches!(instruction.mnemonic(), Mnemonic::Cdqe | Mnemonic::Cwde) => {
                    let from = self.register(Register::RAX);
                    self.computed(Origin::Operation(instruction.code() as u32, vec![from]))
                }
                _ => self.fresh(),
            };
            if is_silent {
                self.mark_silent(number);
            }
            self.registers.insert(*register, number);
        }
    }
}

pub(super) fn reads(access: OpAccess) -> bool {
    use OpAccess::*;
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

pub(super) fn writes(access: OpAccess) -> bool {
    use OpAccess::*;
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

pub(super) fn is_immediate(kind: OpKind) -> bool {
    use OpKind::*;
    matches!(
        kind,
        Immediate8
            | Immediate16
            | Immediate32
            | Immediate64
            | Immediate8to16
            | Immediate8to32
            | Immediate8to64
            | Immediate32to64
    )
}
