//! Function pointers in registers, as far as a scan of the code from top to bottom tells.
//!
//! Without optimisation, rustc loads a function's address into a register and calls the register.
//! Finding the callee needs no data flow, because the load is a few instructions above.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::places::{CLOBBERED, Storage, XMM0};

/// What a register points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointer {
    /// To this address.
    Address(u64),
    /// To what the word at this address holds.
    Word(u64),
}

/// The pointers in general registers while code is read in order.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    known: [Option<Pointer>; XMM0 as usize],
}

impl Pointers {
    /// What the register operand of an indirect call or jump points to.
    pub(super) fn target(&self, instruction: &Instruction) -> Option<Pointer> {
        let indirect =
            matches!(instruction.flow_control(), FlowControl::IndirectCall | FlowControl::IndirectBranch);
        if !indirect || instruction.op0_kind() != OpKind::Register {
            return None;
        }
        self.known[general(instruction.op0_register())?]
    }

    /// Processes the next instruction.
    pub(super) fn pass(&mut self, instruction: &Instruction) {
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => {
                for number in CLOBBERED {
                    self.known[number as usize] = None;
                }
                return;
            }
            FlowControl::Return => return *self = Self::default(),
            _ => {}
        }
        if instruction.op_count() == 0 || instruction.op0_kind() != OpKind::Register {
            return;
        }
        let Some(number) = general(instruction.op0_register()) else { return };
        let relative = instruction.is_ip_rel_memory_operand() && instruction.op0_register().is_gpr64();
        self.known[number] = match instruction.mnemonic() {
            Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Push => self.known[number],
            Mnemonic::Mov if relative => Some(Pointer::Word(instruction.ip_rel_memory_address())),
            Mnemonic::Lea if relative => Some(Pointer::Address(instruction.ip_rel_memory_address())),
            _ => None,
        };
    }
}

fn general(register: Register) -> Option<usize> {
    match Storage::of(register)? {
        Storage::Register { number, .. } if number < XMM0 => Some(usize::from(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    /// The target of the last instruction of the code.
    fn target(code: &[u8]) -> Option<Pointer> {
        let mut pointers = Pointers::default();
        let mut last = None;
        for instruction in Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE) {
            last = pointers.target(&instruction);
            pointers.pass(&instruction);
        }
        last
    }

    const LOAD: [u8; 7] = [0x48, 0x8b, 0x05, 0x10, 0, 0, 0]; // mov 0x10(%rip), %rax
    const LEA: [u8; 7] = [0x48, 0x8d, 0x05, 0x10, 0, 0, 0]; // lea 0x10(%rip), %rax
    const CALL: [u8; 2] = [0xff, 0xd0]; // call *%rax

    #[test]
    fn what_was_loaded_is_what_is_called() {
        assert_eq!(target(&[&LOAD[..], &CALL].concat()), Some(Pointer::Word(0x1017)));
        assert_eq!(target(&[&LEA[..], &CALL].concat()), Some(Pointer::Address(0x1017)));
        assert_eq!(
            target(&[&LOAD[..], &[0x89, 0xcb], &CALL].concat()),
            Some(Pointer::Word(0x1017)),
            "mov %ecx, %ebx"
        );
        assert_eq!(
            target(&[&LOAD[..], &[0x48, 0x39, 0xc8], &CALL].concat()),
            Some(Pointer::Word(0x1017)),
            "cmp"
        );
    }

    #[test]
    fn what_was_overwritten_is_forgotten() {
        assert_eq!(target(&[&LOAD[..], &[0x48, 0x89, 0xc8], &CALL].concat()), None, "mov %rcx, %rax");
        assert_eq!(target(&[&LOAD[..], &[0xe8, 0, 0, 0, 0], &CALL].concat()), None, "a call");
        assert_eq!(target(&[&LOAD[..], &[0xc3], &CALL].concat()), None, "another function");
        assert_eq!(target(&CALL), None);
    }
}
