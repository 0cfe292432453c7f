//! Recognises copies of a variable by the code between their two probes.
//!
//! gcc puts both probes of a copy (`a = b`, where these are structs of at most eight bytes) before
//! it, that of the write first. So between the probe of the write and that of the read the program
//! writes to no memory but its frame. Between a probe of a write that is no copy and the next probe
//! lies that write.
//!
//! Loads between them tell nothing: the program may load the address of what it copies from, which
//! the compiler takes for a constant and reports with no probe. Code made with `-fPIC` loads it from
//! the global offset table. Where the first call cannot be named (a file without symbols), it may be
//! the probe of a read, and a load from memory that the program can write to is that read.
//!
//! The frame is what is addressed by `rsp`, and by `rbp` where that is the frame pointer. Elsewhere
//! `rbp` is a register like any other, and what it points to may be any variable. The exception
//! tables tell: they compute the frame of the caller from the frame pointer, if there is one.
//!
//! A scheduling point need not be a probe: `malloc` is one, if the first use of the block races, and
//! so is an atomic operation. A call that is known to be of such a function announces no access of
//! the program's.

use std::ops::Range;

use crate::calls::Targets;
use crate::module::{Address, Module};
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register,
    UsedMemory,
};

/// How much code there may be between the two probes of a copy.
const BETWEEN: u64 = 160;

/// What the call before a scheduling point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    WriteProbe,
    ReadProbe,
    /// A function with a name that is no probe of an access.
    Other,
    Unknown,
}

/// What is needed of a file to recognise copies in it.
pub struct CopyFinder {
    writes: Targets,
    reads: Targets,
    /// Finds thread-local variables.
    finds: Targets,
    /// Memory that is read-only once the file is loaded: its global offset table and constants.
    constants: Vec<Range<u64>>,
}

impl CopyFinder {
    pub fn of(module: &Module) -> CopyFinder {
        let probes = |what: &'static str| module.targets(move |name| is_probe_of(name, what));
        CopyFinder {
            writes: probes("write"),
            reads: probes("read"),
            finds: module.targets(|name| name == "__tls_get_addr"),
            constants: [module.offset_tables(), module.relocated_constants()].concat(),
        }
    }

    /// Whether a copy has its two probes right before these two places.
    pub fn is_copy(&self, module: &Module, first: Address, second: Address) -> bool {
        let address = |at| module.virtual_address(at);
        let (Some(begin), Some(end)) = (address(first), address(second)) else { return false };
        if end <= begin || end - begin > BETWEEN {
            return false;
        }
        let Some(code) = module.code_from(begin).and_then(|code| code.get(..(end - begin) as usize)) else {
            return false;
        };
        let is_constant = |address| {
            self.constants.iter().any(|range| range.contains(&address)) || !module.is_writable(address)
        };
        let finds_variable = |call: &Instruction| self.finds.of(call).is_some();
        let between = Between { first: self.first(module, begin), is_constant, finds_variable };
        between.is_of_copy(code, begin, || module.has_frame_pointer(first))
    }

    /// The call that returns to this address.
    fn first(&self, module: &Module, returns_to: u64) -> First {
        let Some(call) = call_before(module, returns_to) else { return First::Unknown };
        match (self.writes.of(&call), self.reads.of(&call)) {
            (Some(_), None) => First::WriteProbe,
            (None, Some(_)) => First::ReadProbe,
            // Two functions may be one in the file, which has both names.
            (Some(_), Some(_)) => First::Unknown,
            (None, None) => {
                let target = call.near_branch_target();
                let symbol = module.symbols().function_at(target).filter(|s| s.address == target);
                // Where two functions are one, a probe may have the name of another part of the
                // runtime.
                match symbol.is_some_and(|s| !s.name.contains("raddle") && !is_probe(s.name)) {
                    true => First::Other,
                    false => First::Unknown,
                }
            }
        }
    }
}

/// An atomic operation is made by the call itself.
fn is_probe(name: &str) -> bool {
    name.starts_with("__tsan_") && !name.starts_with("__tsan_atomic")
}

/// `__tsan_write8`, `__tsan_unaligned_write8`, `__tsan_volatile_write8`, `__tsan_write_range`.
fn is_probe_of(name: &str, what: &str) -> bool {
    let Some(rest) = name.strip_prefix("__tsan_") else { return false };
    let rest = rest.strip_prefix("unaligned_").unwrap_or(rest);
    rest.strip_prefix("volatile_").unwrap_or(rest).starts_with(what)
}

/// The call that returns there: a direct one, or one through a slot of the global offset table.
fn call_before(module: &Module, returns_to: u64) -> Option<Instruction> {
    const DIRECT: u64 = 5;
    const BY_SLOT: u64 = 6;
    let decoded = |len: u64| {
        let code = module.code_from(returns_to.checked_sub(len)?)?.get(..len as usize)?;
        let instruction = Decoder::with_ip(64, code, returns_to - len, DecoderOptions::NONE).decode();
        (instruction.len() as u64 == len && is_call(&instruction)).then_some(instruction)
    };
    decoded(DIRECT).or_else(|| decoded(BY_SLOT))
}

fn is_call(instruction: &Instruction) -> bool {
    let by_slot = instruction.code() == Code::Call_rm64 && instruction.is_ip_rel_memory_operand();
    instruction.code() == Code::Call_rel32_64 || by_slot
}

/// Code that begins after one call and ends with another.
struct Between<C, F> {
    first: First,
    is_constant: C,
    finds_variable: F,
}

impl<C: Fn(u64) -> bool, F: Fn(&Instruction) -> bool> Between<C, F> {
    /// `has_frame_pointer` is asked if that makes a difference: see [`Module::has_frame_pointer`].
    fn is_of_copy(&self, code: &[u8], address: u64, has_frame_pointer: impl FnOnce() -> bool) -> bool {
        if matches!(self.first, First::ReadProbe | First::Other) {
            return false;
        }
        let mut needs_frame_pointer = false;
        let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let mut factory = InstructionInfoFactory::new();
        while decoder.can_decode() {
            let instruction = decoder.decode();
            if decoder.position() == code.len() {
                return is_call(&instruction) && (!needs_frame_pointer || has_frame_pointer());
            }
            let goes_on = instruction.flow_control() == FlowControl::Next
                || self.first == First::WriteProbe && (self.finds_variable)(&instruction);
            if instruction.is_invalid() || !goes_on {
                return false;
            }
            for memory in factory.info(&instruction).used_memory() {
                match memory.base() {
                    Register::RSP => {}
                    _ if !self.is_telling(memory) => {}
                    Register::RBP => needs_frame_pointer = true,
                    _ => return false,
                }
            }
        }
        false
    }

    /// Whether the access, if it is not in the frame, is the one that the first probe announces.
    fn is_telling(&self, memory: &UsedMemory) -> bool {
        use OpAccess::{CondRead, Read};
        if !matches!(memory.access(), Read | CondRead) {
            return true;
        }
        let is_of_constant = || match (memory.base(), memory.segment()) {
            (_, Register::FS) => true,
            (Register::RIP | Register::None, _) => (self.is_constant)(memory.displacement()),
            _ => false,
        };
        self.first == First::Unknown && !is_of_constant()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: [u8; 5] = [0xe8, 0, 1, 0, 0];
    /// What `mov rax, [rip + 256]` at 0x1000 loads from.
    const SLOT: u64 = 0x1107;

    fn is_between(first: First, between: &[u8], has_frame_pointer: bool) -> bool {
        let code = [between, &CALL].concat();
        let finds_variable = |call: &Instruction| call.near_branch_target() == 0x2000;
        let between = Between { first, is_constant: |address| address == SLOT, finds_variable };
        between.is_of_copy(&code, 0x1000, || has_frame_pointer)
    }

    fn is_copy(between: &[u8]) -> bool {
        let [unknown, write] = [First::Unknown, First::WriteProbe].map(|f| is_between(f, between, true));
        assert_eq!(unknown, write);
        assert!(!is_between(First::ReadProbe, between, true), "the write has the first probe");
        assert!(!is_between(First::Other, between, true));
        write
    }

    #[test]
    fn only_the_frame_is_touched_between_the_probes_of_a_copy() {
        assert!(is_copy(&[0x48, 0x8d, 0x3d, 0, 1, 0, 0]), "lea rdi, [rip + 256]");
        assert!(is_copy(&[0x48, 0x8b, 0x45, 0xf8, 0x48, 0x89, 0xc7]), "mov rax, [rbp - 8]; mov rdi, rax");
        assert!(is_copy(&[]));
    }

    #[test]
    fn the_address_of_what_is_copied_may_be_loaded() {
        assert!(is_copy(&[0x48, 0x8b, 0x05, 0, 1, 0, 0]), "mov rax, [rip + 256], a slot");
        assert!(is_copy(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0]), "mov rax, fs:[0]");
        let from_variable = [0x48, 0x8b, 0x05, 0, 2, 0, 0];
        assert!(is_between(First::WriteProbe, &from_variable, true));
        assert!(!is_between(First::Unknown, &from_variable, true), "what the probe of a read announces");
        let finds = [0xe8, 0xfb, 0x0f, 0, 0];
        assert!(is_between(First::WriteProbe, &finds, true), "call __tls_get_addr");
        assert!(!is_copy(&[0x48, 0x89, 0x05, 0, 1, 0, 0]), "mov [rip + 256], rax");
    }

    #[test]
    fn what_rbp_points_to_is_the_frame_only_if_it_is_the_frame_pointer() {
        let without = |between: &[u8]| is_between(First::Unknown, between, false);
        assert!(!without(&[0x48, 0x89, 0x5d, 0x00]), "mov [rbp], rbx");
        assert!(without(&[0x48, 0x8b, 0x44, 0x24, 0x08]), "mov rax, [rsp + 8]");
        assert!(without(&[0x48, 0x89, 0xef]), "mov rdi, rbp");
        assert!(without(&[0x48, 0x8d, 0x7d, 0x08]), "lea rdi, [rbp + 8]");
    }

    #[test]
    fn an_access_between_two_probes_is_no_copy() {
        assert!(!is_between(First::Unknown, &[0x48, 0x8b, 0x03], true), "mov rax, [rbx]");
        assert!(!is_copy(&[0x89, 0x05, 0, 1, 0, 0]), "mov [rip + 256], eax");
        assert!(!is_copy(&[0x83, 0x03, 1]), "add [rbx], 1");
        assert!(!is_copy(&[0x74, 0x02]), "a jump");
        assert!(!is_copy(&CALL), "another call");
        assert!(!is_copy(&[0x0f]));
    }

    #[test]
    fn probes_are_told_by_their_names() {
        assert!(
            is_probe_of("__tsan_unaligned_write8", "write") && is_probe_of("__tsan_write_range", "write")
        );
        assert!(is_probe_of("__tsan_volatile_read4", "read") && !is_probe_of("__tsan_read4", "write"));
        assert!(!is_probe_of("__tsan_atomic32_load", "read"));
    }
}
