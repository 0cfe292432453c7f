//! Which functions a module calls, and which it may call through pointers. Their addresses are in
//! its data (tables, virtual tables), or its code loads them. A word of data that happens to look
//! like an address counts as one.

use std::collections::BTreeSet;
use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::{Object as _, ObjectSection as _, SectionFlags, SectionKind, elf};

use crate::calls::{CallSite, Targets};
use crate::module::Module;

/// The result of one pass over all code of a module.
#[derive(Debug, Default)]
pub struct Calls {
    /// Calls whose target is in the instruction, or in a slot that nobody writes after loading.
    pub sites: Vec<CallSite>,
    /// The raw names of wanted functions whose addresses are taken.
    pub taken: BTreeSet<String>,
}

/// The call that returns to a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBefore {
    /// The raw name of the function it is in, if a symbol has it.
    pub caller: Option<String>,
    /// The number of this call among the function's calls, counted from one.
    pub nth: u32,
    /// The raw name of the function called, if the instruction or a slot names it.
    pub callee: Option<String>,
}

impl Module {
    /// The calls of wanted functions, and which of these functions are reached through pointers.
    pub fn calls(&self, wanted: impl Fn(&str) -> bool) -> Calls {
        let targets = self.targets(wanted);
        if targets.is_empty() {
            return Calls::default();
        }
        let tables = Tables::of(self);
        let mut taken: BTreeSet<&'static str> = self.in_data(&targets, &tables);
        let sites = self.calls_and_others(&targets, |instruction| {
            taken.extend(self.loaded(instruction, &targets));
        });
        // A variable may hold another function by the time of the call.
        let (sites, variable): (Vec<CallSite>, Vec<CallSite>) =
            sites.into_iter().partition(|s| self.slot_of(s).is_none_or(|slot| tables.are_constant(slot)));
        let mut taken: BTreeSet<String> = taken.into_iter().map(str::to_string).collect();
        taken.extend(variable.into_iter().map(|site| site.callee));
        Calls { sites, taken }
    }

    /// The slot that a call's operand names.
    fn slot_of(&self, site: &CallSite) -> Option<u64> {
        let operand =
            site.bytes >> (8 * (site.return_address - site.address).saturating_sub(4).min(4)) as u32;
        site.slot.then(|| site.return_address.wrapping_add_signed(i64::from(operand as i32)))
    }

    /// The function whose address an instruction loads.
    fn loaded(&self, instruction: &Instruction, targets: &Targets) -> Option<&'static str> {
        if instruction.memory_base() == Register::RIP {
            let address = instruction.ip_rel_memory_address();
            return match instruction.mnemonic() {
                Mnemonic::Lea => targets.entry(address),
                _ => targets.slot(address),
            };
        }
        if !self.is_fixed() {
            return None;
        }
        let immediates = (0..instruction.op_count()).filter_map(|n| match instruction.op_kind(n) {
            OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64 => {
                Some(instruction.immediate(n))
            }
            _ => None,
        });
        immediates.filter_map(|value| targets.entry(value)).next()
    }

    /// Functions whose addresses are in the data, through a relocation or directly.
    fn in_data(&self, targets: &Targets, tables: &Tables) -> BTreeSet<&'static str> {
        let in_slots = targets.slots().filter(|(slot, _)| !tables.are_offsets(*slot)).map(|(_, name)| name);
        let mut found: BTreeSet<&'static str> = in_slots.collect();
        for section in self.elf.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            let writable = sh_flags & u64::from(elf::SHF_WRITE) != 0;
            let constant = self.is_fixed() && section.kind() == SectionKind::ReadOnlyData;
            if !writable && !constant || tables.are_offsets(section.address()) {
                continue;
            }
            for word in section.data().unwrap_or(&[]).chunks_exact(8) {
                let value = word.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                if value != 0 && self.is_code(value) {
                    found.extend(targets.entry(value));
                }
            }
        }
        found
    }

    /// The call that returns to this address, if the code decoded from the function's start has one
    /// there.
    pub fn call_before(&self, return_address: u64) -> Option<CallBefore> {
        let symbol = self.symbols().function_at(return_address.checked_sub(1)?);
        let start = match symbol {
            Some(symbol) => symbol.address,
            None => self.raw_functions().into_iter().rev().find(|(r, _)| r.start < return_address)?.0.start,
        };
        let code = self.code_from(start)?;
        let code = code.get(..(return_address - start) as usize)?;
        let mut nth = 0;
        for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
            if instruction.mnemonic() != Mnemonic::Call {
                continue;
            }
            nth += 1;
            if instruction.next_ip() == return_address {
                let callee = self.called(&instruction);
                return Some(CallBefore { caller: symbol.map(|s| s.name.to_string()), nth, callee });
            }
        }
        None
    }

    /// Visits every call: its return address, and the raw names of the calling function and of the
    /// function that the instruction names, as far as symbols have them.
    pub fn each_call(&self, mut visit: impl FnMut(u64, Option<&str>, Option<&str>)) {
        self.each_instruction(|instruction| {
            if instruction.mnemonic() == Mnemonic::Call {
                let caller = self.symbols().function_at(instruction.ip()).map(|s| s.name);
                visit(instruction.next_ip(), caller, self.called(instruction).as_deref());
            }
        });
    }

    fn called(&self, call: &Instruction) -> Option<String> {
        let at = (call.op0_kind() == OpKind::NearBranch64).then(|| call.near_branch_target())?;
        let symbol = self.symbols().function_at(at).filter(|s| s.address == at);
        symbol.map(|s| s.name.to_string())
    }
}

/// The words that keep the value they had after loading.
struct Tables {
    offsets: Vec<Range<u64>>,
    constant: Vec<Range<u64>>,
}

impl Tables {
    fn of(module: &Module) -> Tables {
        Tables { offsets: module.offset_tables(), constant: module.relocated_constants() }
    }

    /// Whether the slot is in the global offset table.
    fn are_offsets(&self, slot: u64) -> bool {
        self.offsets.iter().any(|range| range.contains(&slot))
    }

    fn are_constant(&self, slot: u64) -> bool {
        self.are_offsets(slot) || self.constant.iter().any(|range| range.contains(&slot))
    }
}
