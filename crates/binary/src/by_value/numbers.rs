//! Values have numbers: two computations of one address have the same number.

use std::collections::HashSet;

use iced_x86::{Instruction, Mnemonic, OpKind, Register, UsedMemory};

use super::instructions::{is_immediate, writes};
use super::{KEPT, Walk};

/// What a number is relative to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Root {
    /// Nothing: a constant.
    Zero,
    /// The module: the address of a variable.
    Image,
    /// The function's frame.
    Frame,
    /// A value that is not known.
    Value(u32),
}

/// A value: a known distance from a root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Number {
    pub(super) root: Root,
    pub(super) offset: i64,
}

/// Somewhere in the frame, or among the thread's own variables.
pub(super) const FRAME: Number = Number { root: Root::Frame, offset: i64::MIN / 2 };

impl Number {
    pub(super) fn plus(self, offset: i64) -> Number {
        Number { offset: self.offset.wrapping_add(offset), ..self }
    }
}

/// How a value was computed, to give the same number to the same computation.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Origin {
    Operation(u32, Vec<Number>),
    /// Two values, in a fixed order.
    Sum(Number, Number),
    Scaled(Number, u32),
    /// A word that nobody writes.
    Constant(i64, usize),
}

impl Walk<'_> {
    /// Whether `rbp` is a frame pointer, and which registers have one value in the whole function.
    /// Optimised code keeps addresses in registers, from before a loop to its end.
    pub(super) fn learn_steady_registers(&mut self, instructions: &[Instruction]) {
        let is_frame = |r: Register| r == Register::RSP || r == Register::RBP;
        let mut others = HashSet::new();
        for instruction in instructions {
            let base = instruction.memory_base();
            let given = match instruction.mnemonic() {
                Mnemonic::Pop => continue,
                Mnemonic::Lea if instruction.memory_index() != Register::None => None,
                Mnemonic::Lea if is_frame(base) => Some(FRAME),
                Mnemonic::Lea if base == Register::RIP => {
                    Some(Number { root: Root::Image, offset: instruction.memory_displacement64() as i64 })
                }
                Mnemonic::Mov if is_immediate(instruction.op1_kind()) => {
                    Some(self.literal(instruction.immediate(1) as i64))
                }
                Mnemonic::Mov if instruction.op1_kind() == OpKind::Register => {
                    is_frame(instruction.op1_register()).then_some(FRAME)
                }
                _ => None,
            };
            if let Some(given) = given
                && instruction.op0_kind() == OpKind::Register
            {
                let to = instruction.op0_register().full_register();
                self.has_frame_pointer |= to == Register::RBP && given == FRAME;
                if *self.steady.entry(to).or_insert(given) != given {
                    others.insert(to);
                }
                continue;
            }
            for used in self.factory.info(instruction).used_registers() {
                if writes(used.access()) {
                    others.insert(used.register().full_register());
                }
            }
        }
        self.steady.retain(|r, _| KEPT.contains(r) && !others.contains(r));
    }

    /// A number in the code. In a program with fixed addresses it may be one.
    pub(super) fn literal(&self, offset: i64) -> Number {
        let is_address = self.module.is_fixed() && self.module.is_mapped(offset as u64);
        Number { root: if is_address { Root::Image } else { Root::Zero }, offset }
    }

    pub(super) fn fresh(&mut self) -> Number {
        self.next += 1;
        Number { root: Root::Value(self.next), offset: 0 }
    }

    /// The number of a computation.
    pub(super) fn computed(&mut self, origin: Origin) -> Number {
        let next = self.next + 1;
        let id = *self.origins.entry(origin).or_insert(next);
        self.next = self.next.max(id);
        Number { root: Root::Value(id), offset: 0 }
    }

    pub(super) fn register(&mut self, register: Register) -> Number {
        let full = register.full_register();
        if let Some(known) = self.registers.get(&full) {
            return *known;
        }
        let number = match self.steady.get(&full) {
            Some(steady) => *steady,
            None => self.fresh(),
        };
        self.registers.insert(full, number);
        number
    }

    /// The address of an operand in memory. None for thread-local memory.
    pub(super) fn place(&mut self, memory: &UsedMemory) -> Option<Number> {
        if matches!(memory.segment(), Register::FS | Register::GS) {
            return None;
        }
        let displacement = memory.displacement() as i64;
        self.sum(memory.base(), memory.index(), memory.scale(), displacement)
    }

    pub(super) fn sum(&mut self, base: Register, index: Register, scale: u32, offset: i64) -> Option<Number> {
        let displacement = match base {
            // The displacement is the address already.
            Register::RIP => Number { root: Root::Image, offset },
            Register::None if index == Register::None => Number { root: Root::Image, offset },
            _ => self.literal(offset),
        };
        let mut sum = displacement;
        if !matches!(base, Register::None | Register::RIP) {
            let base = self.register(base);
            sum = self.added(base, displacement, 1);
        }
        if index != Register::None {
            let index = self.register(index);
            sum = self.added(sum, index, scale);
        }
        Some(sum)
    }

    pub(super) fn added(&mut self, base: Number, index: Number, scale: u32) -> Number {
        if index.root == Root::Zero {
            return base.plus(index.offset.wrapping_mul(i64::from(scale)));
        }
        if base.root == Root::Zero && scale == 1 {
            return index.plus(base.offset);
        }
        let offset = base.offset.wrapping_add(index.offset.wrapping_mul(i64::from(scale)));
        let (base, index) = (Number { offset: 0, ..base }, Number { offset: 0, ..index });
        if base.root == Root::Frame || index.root == Root::Frame {
            return FRAME;
        }
        let zero = Number { root: Root::Zero, offset: 0 };
        let index = if scale == 1 { index } else { self.computed(Origin::Scaled(index, scale)) };
        if base == zero {
            return index.plus(offset);
        }
        let sum = self.computed(Origin::Sum(base.min(index), base.max(index)));
        if let Root::Value(id) = sum.root
            && (self.is_of_image(base) || self.is_of_image(index))
        {
            self.elements.insert(id);
        }
        if let Root::Value(id) = sum.root
            && [base, index].iter().any(|n| matches!(n.root, Root::Value(id) if self.vtables.contains(&id)))
        {
            self.vtables.insert(id);
        }
        sum.plus(offset)
    }

    /// Whether a number has the address of a variable in it.
    pub(super) fn is_of_image(&self, number: Number) -> bool {
        match number.root {
            Root::Image => true,
            Root::Value(id) => self.elements.contains(&id),
            Root::Zero | Root::Frame => false,
        }
    }
}
