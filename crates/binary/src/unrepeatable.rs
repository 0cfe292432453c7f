//! Finds instructions that no probe tells of: those whose result no schedule decides (the time stamp
//! counter, the number of the processor, performance counters and random numbers), and fences that
//! the program writes as assembly.
//!
//! Nothing sees such an instruction when it executes. So it counts wherever it stands in a file,
//! executed or not. A file is searched for the bytes of the instructions first. Most files have few
//! places with such bytes, and only the functions around these are decoded. Bytes in an operand of
//! another instruction do not count. Bytes outside of every known function do, since there it is
//! not known where instructions begin.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::elf::SHF_EXECINSTR;
use object::{Object as _, ObjectSection as _, SectionFlags};

use crate::demangle::demangle;
use crate::module::Module;

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sought {
    Unrepeatable,
    Fence,
}

impl Module {
    /// The addresses of instructions whose result no schedule decides, each with the name of its
    /// function. Sorted.
    pub fn unrepeatable_instructions(&self) -> Vec<(u64, Option<String>)> {
        self.instructions(Sought::Unrepeatable)
    }

    /// The same for `mfence`, and for a locked operation on the stack, which serves as one. Compilers
    /// that instrument call a function for a fence of the language.
    pub fn fence_instructions(&self) -> Vec<(u64, Option<String>)> {
        self.instructions(Sought::Fence)
    }

    fn instructions(&self, sought: Sought) -> Vec<(u64, Option<String>)> {
        let candidates: Vec<u64> =
            self.code().into_iter().flat_map(|r| self.candidates(&r, sought)).collect();
        if candidates.is_empty() {
            return Vec::new();
        }
        let functions = self.raw_functions();
        let mut found = Vec::new();
        for at in candidates {
            // Symbols may overlap: one that has the instruction is enough.
            let around: Vec<_> = functions.iter().filter(|(range, _)| range.contains(&at)).collect();
            match around.iter().find(|(range, _)| self.has_sought(range, at, sought)) {
                Some((_, name)) => found.push((at, name.map(demangle))),
                None if around.is_empty() => found.push((at, None)),
                None => {}
            }
        }
        found
    }

    /// The ranges of code, except for the stubs that call other files. Of a file without section
    /// headers, all that is executable.
    fn code(&self) -> Vec<Range<u64>> {
        let executes = |flags| matches!(flags, SectionFlags::Elf { sh_flags } if sh_flags & u64::from(SHF_EXECINSTR) != 0);
        let is_stub = |name: object::Result<&str>| name.is_ok_and(|name| name.starts_with(".plt"));
        let sections = self.elf.sections().filter(|s| executes(s.flags()) && !is_stub(s.name()));
        let ranges: Vec<_> = sections.map(|s| s.address()..s.address().saturating_add(s.size())).collect();
        if ranges.is_empty() { self.executable_ranges() } else { ranges }
    }

    /// Where bytes are that may be the opcode of one.
    fn candidates(&self, range: &Range<u64>, sought: Sought) -> Vec<u64> {
        let Some(code) = self.code_from(range.start) else { return Vec::new() };
        let code = &code[..code.len().min((range.end - range.start) as usize)];
        let starts = (0..code.len()).filter(|at| match sought {
            Sought::Unrepeatable => is_opcode(&code[*at..]),
            Sought::Fence => is_fence(&code[*at..]),
        });
        starts.map(|at| range.start + at as u64).collect()
    }

    /// Whether the function has such an instruction whose opcode is at the address. True as well if
    /// something before it is no instruction, since then nobody knows where the next one begins.
    fn has_sought(&self, function: &Range<u64>, at: u64, sought: Sought) -> bool {
        let Some(code) = self.code_from(function.start) else { return false };
        let code = &code[..code.len().min((function.end - function.start) as usize)];
        let decoder = Decoder::with_ip(64, code, function.start, DecoderOptions::NONE);
        decoder.into_iter().take_while(|i| i.ip() <= at).any(|i| {
            let is_it = match sought {
                Sought::Unrepeatable => is_unrepeatable(i.mnemonic()),
                Sought::Fence => i.mnemonic() == Mnemonic::Mfence || i.has_lock_prefix(),
            };
            i.is_invalid() || at < i.next_ip() && is_it
        })
    }
}

/// Whether these bytes begin with the opcode of an instruction that is not repeatable.
fn is_opcode(code: &[u8]) -> bool {
    match code {
        // rdtsc, rdpmc
        [0x0f, 0x31 | 0x33, ..] => true,
        // rdtscp
        [0x0f, 0x01, 0xf9, ..] => true,
        // rdrand, rdseed and rdpid of a register
        [0x0f, 0xc7, operand, ..] => *operand >= 0xf0,
        _ => false,
    }
}

/// Whether these bytes begin like a fence.
fn is_fence(code: &[u8]) -> bool {
    match code {
        // mfence
        [0x0f, 0xae, 0xf0, ..] => true,
        // lock add or lock or of a constant and a word on the stack
        [0xf0, 0x83, 0x04 | 0x0c | 0x44 | 0x4c, 0x24, ..] => true,
        [0xf0, 0x48, 0x83, 0x04 | 0x0c | 0x44 | 0x4c, 0x24, ..] => true,
        _ => false,
    }
}

fn is_unrepeatable(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Rdtsc
            | Mnemonic::Rdtscp
            | Mnemonic::Rdpmc
            | Mnemonic::Rdpid
            | Mnemonic::Rdrand
            | Mnemonic::Rdseed
    )
}
