//! Where values live: registers, flags, stack slots, and recognisable memory.

use iced_x86::Register;

/// A place that holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Storage {
    /// A general register (0 to 15) or vector register (16 to 47), and the number of its bytes.
    Register {
        number: u8,
        size: u8,
    },
    Flags,
    /// Bytes of the frame. `at` is the distance from the stack pointer at entry: the return address
    /// is at 0, the locals are below.
    Slot {
        at: i32,
        size: u32,
    },
    /// Other memory, by the linear form of its address (see `form.rs`).
    Memory {
        form: u32,
        size: u32,
    },
}

/// The bytes of a vector register, which counts as one place.
const VECTOR: u8 = 64;

pub(crate) const RAX: u8 = 0;
pub(crate) const RCX: u8 = 1;
pub(crate) const RDX: u8 = 2;
pub(crate) const RSP: u8 = 4;
pub(crate) const RSI: u8 = 6;
pub(crate) const RDI: u8 = 7;
/// The first vector register.
pub(crate) const XMM0: u8 = 16;
/// The registers that carry integer arguments (System V ABI), in order.
pub(crate) const ARGUMENTS: [u8; 6] = [RDI, RSI, RDX, RCX, 8, 9];
/// General registers that a callee need not preserve.
pub(crate) const CLOBBERED: [u8; 9] = [RAX, RCX, RDX, RSI, RDI, 8, 9, 10, 11];

/// How much of a place a definition writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cover {
    Nothing,
    Part,
    All,
}

impl Storage {
    /// A whole general register.
    pub(crate) fn whole(number: u8) -> Self {
        Self::Register { number, size: if number < XMM0 { 8 } else { VECTOR } }
    }

    /// The place of a register operand. None for the instruction pointer, segments and the like.
    pub(crate) fn of(register: Register) -> Option<Self> {
        let full = register.full_register();
        if full.is_gpr64() {
            Some(Self::Register { number: full.number() as u8, size: register.size() as u8 })
        } else if full.is_vector_register() {
            Some(Self::Register { number: XMM0 + full.number() as u8, size: VECTOR })
        } else {
            None
        }
    }

    /// How much of `wanted` a write of this place covers.
    pub(crate) fn covers(self, wanted: Self) -> Cover {
        let cover = |whole: bool| if whole { Cover::All } else { Cover::Part };
        match (self, wanted) {
            (Self::Register { number: a, size }, Self::Register { number: b, size: needed }) if a == b => {
                cover(size >= needed)
            }
            (Self::Flags, Self::Flags) => Cover::All,
            (Self::Slot { at, size }, Self::Slot { at: other, size: needed }) => {
                let (end, other_end) =
                    (i64::from(at) + i64::from(size), i64::from(other) + i64::from(needed));
                let apart = end <= i64::from(other) || other_end <= i64::from(at);
                if apart { Cover::Nothing } else { cover(at <= other && end >= other_end) }
            }
            // Other code may write there too, so no write covers the place completely.
            (Self::Memory { form: a, .. }, Self::Memory { form: b, .. }) if a == b => Cover::Part,
            _ => Cover::Nothing,
        }
    }

    pub(crate) fn is_memory(self) -> bool {
        matches!(self, Self::Slot { .. } | Self::Memory { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_known_by_number_and_width() {
        assert_eq!(Storage::of(Register::EAX), Some(Storage::Register { number: RAX, size: 4 }));
        assert_eq!(Storage::of(Register::DIL), Some(Storage::Register { number: RDI, size: 1 }));
        assert_eq!(Storage::of(Register::XMM3), Storage::of(Register::YMM3));
        assert_eq!(Storage::of(Register::RIP), None);
        assert_eq!(Storage::of(Register::None), None);
        assert_eq!(Storage::of(Register::RSP), Some(Storage::whole(RSP)));
    }

    #[test]
    fn a_write_covers_what_it_is_as_wide_as() {
        let (byte, whole) = (Storage::Register { number: 0, size: 1 }, Storage::whole(0));
        assert_eq!(whole.covers(byte), Cover::All);
        assert_eq!(byte.covers(whole), Cover::Part);
        assert_eq!(whole.covers(Storage::whole(1)), Cover::Nothing);
    }

    #[test]
    fn slots_overlap() {
        let slot = |at, size| Storage::Slot { at, size };
        assert_eq!(slot(-16, 8).covers(slot(-12, 4)), Cover::All);
        assert_eq!(slot(-16, 4).covers(slot(-16, 8)), Cover::Part);
        assert_eq!(slot(-16, 4).covers(slot(-12, 4)), Cover::Nothing);
        let memory = Storage::Memory { form: 1, size: 4 };
        assert_eq!(memory.covers(memory), Cover::Part);
        assert_eq!(memory.covers(slot(0, 8)), Cover::Nothing);
    }
}
