//! Recognises copies of a variable by the code between their two probes.
//!
//! gcc puts both probes of a copy (`a = b`, where these are structs of at most eight bytes) before
//! it, that of the write first. So between the probe of the write and that of the read the program
//! touches no memory but its frame. Between two other probes lies the access that the first one
//! announces.
//!
//! The frame is what is addressed by `rsp`, and by `rbp` where that is the frame pointer. Elsewhere
//! `rbp` is a register like any other, and what it points to may be any variable. The exception
//! tables tell: they compute the frame of the caller from the frame pointer, if there is one.
//!
//! A scheduling point need not be a probe: `malloc` is one, if the first use of the block races, and
//! so is an atomic operation. A call that is known to be of such a function announces no access of
//! the program's.

use crate::module::{Address, Module};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, Register};

/// True if the program touches no memory but its frame in this code, at `address`, which begins
/// after one probe's call and ends with the call of another. `has_frame_pointer` is asked if that
/// makes a difference: see [`Module::has_frame_pointer`](crate::Module::has_frame_pointer).
pub fn is_between_probes_of_copy(
    code: &[u8],
    address: u64,
    has_frame_pointer: impl FnOnce() -> bool,
) -> bool {
    let mut needs_frame_pointer = false;
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut factory = InstructionInfoFactory::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if decoder.position() == code.len() {
            let ends_with_call = instruction.code() == Code::Call_rel32_64;
            return ends_with_call && (!needs_frame_pointer || has_frame_pointer());
        }
        if instruction.is_invalid() || instruction.flow_control() != FlowControl::Next {
            return false;
        }
        for memory in factory.info(&instruction).used_memory() {
            match memory.base() {
                Register::RSP => {}
                Register::RBP => needs_frame_pointer = true,
                _ => return false,
            }
        }
    }
    false
}

impl Module {
    /// Whether these bytes, which end at a place, are the call of a function of this file that is
    /// known by its name and is no probe.
    pub fn calls_no_probe(&self, call: &[u8], returns_to: Address) -> bool {
        let [0xe8, distance @ ..] = call else { return false };
        let (Ok(distance), Some(after)) = (distance.try_into(), self.virtual_address(returns_to)) else {
            return false;
        };
        let target = after.wrapping_add_signed(i32::from_le_bytes(distance).into());
        // An atomic operation is made by the call itself. Where two functions are one, a probe may
        // have the name of another part of the runtime.
        let is_probe = |name: &str| name.starts_with("__tsan_") && !name.starts_with("__tsan_atomic");
        let is_other = |name: &str| !is_probe(name) && !name.contains("raddle");
        let symbol = self.symbols().function_at(target).filter(|s| s.address == target);
        symbol.is_some_and(|s| is_other(s.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: [u8; 5] = [0xe8, 0, 1, 0, 0];

    fn is_copy(between: &[u8]) -> bool {
        is_between_probes_of_copy(&[between, &CALL].concat(), 0x1000, || true)
    }

    #[test]
    fn only_the_frame_is_touched_between_the_probes_of_a_copy() {
        assert!(is_copy(&[0x48, 0x8d, 0x3d, 0, 1, 0, 0]), "lea rdi, [rip + 256]");
        assert!(is_copy(&[0x48, 0x8b, 0x45, 0xf8, 0x48, 0x89, 0xc7]), "mov rax, [rbp - 8]; mov rdi, rax");
        assert!(is_copy(&[]));
    }

    #[test]
    fn what_rbp_points_to_is_the_frame_only_if_it_is_the_frame_pointer() {
        let without =
            |between: &[u8]| is_between_probes_of_copy(&[between, &CALL].concat(), 0x1000, || false);
        assert!(!without(&[0x48, 0x89, 0x5d, 0x00]), "mov [rbp], rbx");
        assert!(without(&[0x48, 0x8b, 0x44, 0x24, 0x08]), "mov rax, [rsp + 8]");
        assert!(without(&[0x48, 0x89, 0xef]), "mov rdi, rbp");
        assert!(without(&[0x48, 0x8d, 0x7d, 0x08]), "lea rdi, [rbp + 8]");
    }

    #[test]
    fn an_access_between_two_probes_is_no_copy() {
        assert!(!is_copy(&[0x48, 0x8b, 0x03]), "mov rax, [rbx]");
        assert!(!is_copy(&[0x89, 0x05, 0, 1, 0, 0]), "mov [rip + 256], eax");
        assert!(!is_copy(&[0x74, 0x02]), "a jump");
        assert!(!is_copy(&CALL), "another call");
        assert!(!is_between_probes_of_copy(&[0x48, 0x89, 0xc7], 0x1000, || true), "no call at all");
        assert!(!is_between_probes_of_copy(&[], 0x1000, || true));
        assert!(!is_between_probes_of_copy(&[0x0f], 0x1000, || true));
    }
}
