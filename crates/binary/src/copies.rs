//! Recognises copies of a variable by the code between their two probes.
//!
//! gcc puts both probes of a copy (`a = b`, where these are structs of at most eight bytes) before
//! it, that of the write first. So between the probe of the write and that of the read the program
//! touches no memory but its frame. Between two other probes lies the access that the first one
//! announces.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, Register};

/// True if the program touches no memory but its frame in this code, at `address`, which begins
/// after one probe's call and ends with the call of another.
pub fn is_between_probes_of_copy(code: &[u8], address: u64) -> bool {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut factory = InstructionInfoFactory::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if decoder.position() == code.len() {
            return instruction.code() == Code::Call_rel32_64;
        }
        if instruction.is_invalid() || instruction.flow_control() != FlowControl::Next {
            return false;
        }
        let is_of_frame = |base| matches!(base, Register::RBP | Register::RSP);
        if factory.info(&instruction).used_memory().iter().any(|m| !is_of_frame(m.base())) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: [u8; 5] = [0xe8, 0, 1, 0, 0];

    fn is_copy(between: &[u8]) -> bool {
        is_between_probes_of_copy(&[between, &CALL].concat(), 0x1000)
    }

    #[test]
    fn only_the_frame_is_touched_between_the_probes_of_a_copy() {
        assert!(is_copy(&[0x48, 0x8d, 0x3d, 0, 1, 0, 0]), "lea rdi, [rip + 256]");
        assert!(is_copy(&[0x48, 0x8b, 0x45, 0xf8, 0x48, 0x89, 0xc7]), "mov rax, [rbp - 8]; mov rdi, rax");
        assert!(is_copy(&[]));
    }

    #[test]
    fn an_access_between_two_probes_is_no_copy() {
        assert!(!is_copy(&[0x48, 0x8b, 0x03]), "mov rax, [rbx]");
        assert!(!is_copy(&[0x89, 0x05, 0, 1, 0, 0]), "mov [rip + 256], eax");
        assert!(!is_copy(&[0x74, 0x02]), "a jump");
        assert!(!is_copy(&CALL), "another call");
        assert!(!is_between_probes_of_copy(&[0x48, 0x89, 0xc7], 0x1000), "no call at all");
        assert!(!is_between_probes_of_copy(&[], 0x1000) && !is_between_probes_of_copy(&[0x0f], 0x1000));
    }
}
