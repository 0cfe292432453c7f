//! Recognises writes to bit-fields by the code after their probe.
//!
//! A write to a bit-field reads the word, changes some bits and writes the word. gcc emits one
//! probe for it, of a write, and the read follows the probe. Every other write has read what it
//! needs before its probe, or is a [copy](crate::CopyFinder).

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess, Register, UsedMemory,
};

/// The most instructions between the probe and the store.
const MOST: usize = 24;

/// The size of the word in bytes, if the code after a probe, at `address`, reads the word that it
/// writes.
pub fn bit_field_write(code: &[u8], address: u64) -> Option<usize> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut factory = InstructionInfoFactory::new();
    let mut read: Vec<UsedMemory> = Vec::new();
    for _ in 0..MOST {
        if !decoder.can_decode() {
            return None;
        }
        let instruction = decoder.decode();
        if instruction.is_invalid() || instruction.flow_control() != FlowControl::Next {
            return None;
        }
        for memory in factory.info(&instruction).used_memory() {
            let (reads, writes) = effects(memory.access());
            if reads {
                read.push(*memory);
            }
            if !writes {
                continue;
            }
            if read.iter().any(|r| is_same(r, memory)) {
                return Some(memory.memory_size().size());
            }
            if !is_of_frame(memory) {
                return None;
            }
        }
    }
    None
}

fn effects(access: OpAccess) -> (bool, bool) {
    use OpAccess::*;
    (
        matches!(access, Read | CondRead | ReadWrite | ReadCondWrite),
        matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite),
    )
}

fn is_same(a: &UsedMemory, b: &UsedMemory) -> bool {
    let place = |m: &UsedMemory| (m.segment(), m.base(), m.index(), m.scale(), m.displacement());
    place(a) == place(b)
}

/// Whether it is a local variable; unoptimised code keeps everything there.
fn is_of_frame(memory: &UsedMemory) -> bool {
    matches!(memory.base(), Register::RBP | Register::RSP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_read_and_written_behind_the_probe() {
        // or byte ptr [rbx], 2
        assert_eq!(bit_field_write(&[0x80, 0x0b, 0x02, 0xc3], 0x1000), Some(1));
        // movzx eax, byte ptr [rip+0x10]; or eax, 1; mov [rip+6], al: the same address
        let apart = [0x0f, 0xb6, 0x05, 0x10, 0, 0, 0, 0x83, 0xc8, 0x01, 0x88, 0x05, 0x07, 0, 0, 0, 0xc3];
        assert_eq!(bit_field_write(&apart, 0x1000), Some(1));
        // mov eax, [rbx]; and eax, -8; or eax, edx; mov [rbx], eax
        let word = [0x8b, 0x03, 0x83, 0xe0, 0xf8, 0x09, 0xd0, 0x89, 0x03, 0xc3];
        assert_eq!(bit_field_write(&word, 0x1000), Some(4));
    }

    #[test]
    fn a_plain_store_is_none() {
        // mov dword ptr [rbx], 1
        assert_eq!(bit_field_write(&[0xc7, 0x03, 1, 0, 0, 0, 0xc3], 0x1000), None);
        // mov eax, [rbp-4]; mov [rip+0], eax
        assert_eq!(bit_field_write(&[0x8b, 0x45, 0xfc, 0x89, 0x05, 0, 0, 0, 0, 0xc3], 0x1000), None);
        assert_eq!(bit_field_write(&[0xc3], 0x1000), None);
        assert_eq!(bit_field_write(&[], 0x1000), None);
    }
}
