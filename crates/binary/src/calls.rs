//! Where a module calls a function of a given name.
//!
//! All executable sections are decoded. Data between functions can derail a linear sweep, so the
//! sweep restarts at every function that symbols or unwind tables know. It follows three kinds of
//! calls: direct calls, calls through a stub of the procedure linkage table (plain, `-z now` and
//! IBT forms), and calls through a slot of the global offset table (`-fno-plt`, Rust). A tail call
//! is a jump instead. It does not follow calls through registers: `taken` says which functions may
//! be called that way. Only [`Module::calls_through_registers`] finds those whose register was
//! loaded from a slot just before.

use std::collections::HashMap;
use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, ObjectSymbolTable as _, SectionFlags, elf};

use crate::module::Module;

/// One call of a known function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The address of the call or jump instruction.
    pub address: u64,
    /// The address of the next instruction. If this is a call, the callee sees it as its return
    /// address.
    pub return_address: u64,
    /// The instruction's bytes, the first one lowest; its last four are the operand.
    pub bytes: u64,
    /// The raw name of the function called.
    pub callee: String,
    /// The raw name of the function that calls, if a symbol has it.
    pub caller: Option<String>,
    /// Whether the operand is the place of the target's address and not the target itself.
    pub slot: bool,
    /// Whether it is a jump that leaves the caller's own return address to the callee.
    pub tail: bool,
}

/// The addresses that stand for functions.
#[derive(Default)]
pub(crate) struct Targets {
    /// Code: the function itself or a stub that jumps to it.
    entries: HashMap<u64, &'static str>,
    /// Words that hold a function's address once the program is loaded.
    slots: HashMap<u64, &'static str>,
}

impl Targets {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.slots.is_empty()
    }

    /// Adds a function of this module by its address.
    pub(crate) fn add_entry(&mut self, address: u64, name: &'static str) {
        self.entries.insert(address, name);
    }

    /// The name of the function at an address, or of the one that the stub there jumps to.
    pub(crate) fn entry(&self, address: u64) -> Option<&'static str> {
        self.entries.get(&address).copied()
    }

    /// The name of the function whose address a word will hold.
    pub(crate) fn slot(&self, address: u64) -> Option<&'static str> {
        self.slots.get(&address).copied()
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = (u64, &'static str)> + '_ {
        self.slots.iter().map(|(slot, name)| (*slot, *name))
    }

    /// The function that an instruction transfers control to.
    pub(crate) fn of(&self, instruction: &Instruction) -> Option<&'static str> {
        match instruction.op0_kind() {
            OpKind::NearBranch64 => self.entries.get(&instruction.near_branch_target()).copied(),
            OpKind::Memory if instruction.memory_base() == Register::RIP => {
                self.slots.get(&instruction.ip_rel_memory_address()).copied()
            }
            _ => None,
        }
    }
}

/// The register into which an instruction loads a function's address from a slot.
fn loads(instruction: &Instruction, targets: &Targets) -> Option<(Register, &'static str)> {
    let is_load = instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Memory
        && instruction.memory_base() == Register::RIP;
    let name = if is_load { targets.slot(instruction.ip_rel_memory_address())? } else { return None };
    Some((instruction.op0_register(), name))
}

/// Whether an instruction is one of those that prepare the arguments of a call, and does not name
/// the register. These have no other effects on registers than what they name.
fn leaves_alone(instruction: &Instruction, register: Register) -> bool {
    use Mnemonic::{Add, And, Lea, Mov, Movaps, Movsx, Movsxd, Movups, Movzx, Sub, Xor};
    let is_simple = matches!(
        instruction.mnemonic(),
        Add | And | Lea | Mov | Movaps | Movsx | Movsxd | Movups | Movzx | Sub | Xor
    );
    let names = |i: u32| {
        instruction.op_kind(i) == OpKind::Register && instruction.op_register(i).full_register() == register
    };
    is_simple && !(0..instruction.op_count()).any(names)
}

impl Module {
    /// All calls and tail jumps to functions whose raw name is wanted, sorted by address.
    pub fn call_sites(&self, wanted: impl Fn(&str) -> bool) -> Vec<CallSite> {
        self.calls_of(&self.targets(wanted))
    }

    pub(crate) fn calls_of(&self, targets: &Targets) -> Vec<CallSite> {
        if targets.is_empty() { Vec::new() } else { self.calls_and_others(targets, |_| {}) }
    }

    /// The calls. All other instructions are passed to `other`.
    pub(crate) fn calls_and_others(
        &self,
        targets: &Targets,
        mut other: impl FnMut(&Instruction),
    ) -> Vec<CallSite> {
        let mut sites = Vec::new();
        self.each_instruction(|instruction| {
            let tail = match instruction.mnemonic() {
                Mnemonic::Call => false,
                Mnemonic::Jmp => true,
                _ => return other(instruction),
            };
            if let Some(callee) = targets.of(instruction) {
                let (address, return_address) = (instruction.ip(), instruction.next_ip());
                let slot = instruction.op0_kind() == OpKind::Memory;
                let bytes = self.packed_bytes(address, instruction.len());
                let callee = callee.to_string();
                let caller = self.symbols().function_at(address).map(|symbol| symbol.name.to_string());
                sites.push(CallSite { address, return_address, bytes, callee, caller, slot, tail });
            }
        });
        sites.sort_by_key(|site| site.address);
        sites.dedup_by_key(|site| site.address);
        sites
    }

    /// Calls through a register that was loaded from a slot just before: `mov slot(%rip),%rax; …;
    /// call *%rax`. Unoptimised Rust calls functions of other crates like this. They are no
    /// [call sites](Self::call_sites), since their instruction has no operand to replace.
    pub(crate) fn calls_through_registers(&self, targets: &Targets) -> Vec<CallSite> {
        let mut sites = Vec::new();
        if targets.slots.is_empty() {
            return sites;
        }
        let mut loaded: Option<(Register, &'static str)> = None;
        let mut next = 0;
        self.each_instruction(|instruction| {
            if std::mem::replace(&mut next, instruction.next_ip()) != instruction.ip() {
                loaded = None;
            }
            if instruction.mnemonic() == Mnemonic::Call {
                if let Some((register, callee)) = loaded.take()
                    && instruction.op0_kind() == OpKind::Register
                    && instruction.op0_register() == register
                {
                    let (address, return_address) = (instruction.ip(), instruction.next_ip());
                    let bytes = self.packed_bytes(address, instruction.len());
                    let caller = self.symbols().function_at(address).map(|symbol| symbol.name.to_string());
                    let callee = callee.to_string();
                    sites.push(CallSite {
                        address,
                        return_address,
                        bytes,
                        callee,
                        caller,
                        slot: false,
                        tail: false,
                    });
                }
            } else if let Some(now) = loads(instruction, targets) {
                loaded = Some(now);
            } else if loaded.is_some_and(|(register, _)| !leaves_alone(instruction, register)) {
                loaded = None;
            }
        });
        sites
    }

    /// Up to eight bytes of code as a number, the first one lowest.
    fn packed_bytes(&self, address: u64, len: usize) -> u64 {
        let code = self.code_from(address).unwrap_or_default();
        let mut word = [0; 8];
        let n = len.min(8).min(code.len());
        word[..n].copy_from_slice(&code[..n]);
        u64::from_le_bytes(word)
    }

    /// The address of the function with this raw name, from whichever table has it.
    pub fn function_address(&self, name: &str) -> Option<u64> {
        let symbols = self.elf.dynamic_symbols().chain(self.elf.symbols());
        symbols
            .filter(|s| !s.is_undefined() && s.name_bytes() == Ok(name.as_bytes()))
            .map(|s| s.address())
            .find(|a| self.is_code(*a))
    }

    /// The raw names of the module's functions.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.symbols().functions().iter().map(|symbol| symbol.name)
    }

    /// The address of the variable with this raw name, from whichever table has it.
    pub fn variable_address(&self, name: &str) -> Option<u64> {
        let mut symbols = self.elf.dynamic_symbols().chain(self.elf.symbols());
        let found = symbols.find(|s| {
            !s.is_undefined() && s.name_bytes() == Ok(name.as_bytes()) && s.kind() == object::SymbolKind::Data
        });
        found.map(|s| s.address())
    }

    /// Finds the addresses that stand for the wanted functions: their own code, slots, and stubs.
    pub(crate) fn targets(&self, wanted: impl Fn(&str) -> bool) -> Targets {
        let mut targets = Targets::default();
        for symbol in self.symbols().functions().iter().filter(|symbol| wanted(symbol.name)) {
            targets.entries.insert(symbol.address, symbol.name);
        }
        // One address may have several names, of which the index keeps one.
        for symbol in self.elf.symbols().chain(self.elf.dynamic_symbols()) {
            if let Ok(name) = symbol.name()
                && !symbol.is_undefined()
                && self.is_code(symbol.address())
                && wanted(name)
            {
                targets.entries.insert(symbol.address(), name);
            }
        }
        self.add_slots(&mut targets, &wanted);
        self.add_stubs(&mut targets);
        targets
    }

    /// Adds the slots of this module's functions that are entries already.
    pub(crate) fn add_own_slots(&self, targets: &mut Targets) {
        self.add_slots(targets, &|_| false);
    }

    fn add_slots(&self, targets: &mut Targets, wanted: &impl Fn(&str) -> bool) {
        let names = self.elf.dynamic_symbol_table();
        for (slot, relocation) in self.elf.dynamic_relocations().into_iter().flatten() {
            let name = match relocation.target() {
                object::RelocationTarget::Symbol(index) => names
                    .as_ref()
                    .and_then(|table| table.symbol_by_index(index).ok())
                    .and_then(|symbol| symbol.name().ok())
                    .filter(|name| wanted(name)),
                // A relative relocation: the slot of a function of this module.
                _ => targets.entries.get(&(relocation.addend() as u64)).copied(),
            };
            if let Some(name) = name {
                targets.slots.insert(slot, name);
            }
        }
    }

    /// A stub is `jmp *slot(%rip)`, perhaps behind an `endbr64`.
    fn add_stubs(&self, targets: &mut Targets) {
        for section in self.elf.sections() {
            if !section.name().is_ok_and(|name| name.starts_with(".plt")) {
                continue;
            }
            let Ok(code) = section.data() else { continue };
            let mut start = None;
            for instruction in &mut Decoder::with_ip(64, code, section.address(), DecoderOptions::NONE) {
                if instruction.code() == iced_x86::Code::Endbr64 {
                    start = Some(instruction.ip());
                    continue;
                }
                if instruction.mnemonic() == Mnemonic::Jmp
                    && let Some(name) = targets.of(&instruction)
                {
                    targets.entries.insert(instruction.ip(), name);
                    targets.entries.insert(start.unwrap_or(instruction.ip()), name);
                }
                start = None;
            }
        }
    }

    /// Decodes all code but the stubs, function by function.
    pub(crate) fn each_instruction(&self, mut visit: impl FnMut(&Instruction)) {
        let starts: Vec<u64> = self.raw_functions().into_iter().map(|(range, _)| range.start).collect();
        for section in self.elf.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            let stubs = section.name().is_ok_and(|name| name.starts_with(".plt"));
            if sh_flags & u64::from(elf::SHF_EXECINSTR) == 0 || stubs {
                continue;
            }
            let Ok(code) = section.data() else { continue };
            let base = section.address();
            for piece in pieces(base..base.saturating_add(code.len() as u64), &starts) {
                let bytes = &code[(piece.start - base) as usize..(piece.end - base) as usize];
                let mut decoder = Decoder::with_ip(64, bytes, piece.start, DecoderOptions::NONE);
                let mut instruction = Instruction::default();
                while decoder.can_decode() {
                    decoder.decode_out(&mut instruction);
                    visit(&instruction);
                }
            }
        }
    }
}

/// Cuts a range at the given sorted places.
fn pieces(range: Range<u64>, cuts: &[u64]) -> Vec<Range<u64>> {
    let first = cuts.partition_point(|&cut| cut <= range.start);
    let inside = cuts[first..].iter().copied().take_while(|&cut| cut < range.end);
    let mut pieces = Vec::new();
    let mut start = range.start;
    for end in inside.chain([range.end]) {
        if end > start {
            pieces.push(start..end);
            start = end;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_cut_at_function_starts() {
        assert_eq!(pieces(10..20, &[1, 10, 12, 12, 15, 20, 30]), vec![10..12, 12..15, 15..20]);
        assert_eq!(pieces(10..20, &[]), vec![10..20]);
        assert_eq!(pieces(10..10, &[10]), Vec::<Range<u64>>::new());
    }
}
