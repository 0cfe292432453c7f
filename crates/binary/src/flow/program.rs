//! All functions of a module, and the calls between them.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use object::{Object as _, ObjectSymbol as _, ObjectSymbolTable as _};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::fingerprint::Fingerprint;
use super::function::MachineFunction;
use super::noreturn::never_returns;
use super::pointers::{Pointer, Pointers};
use super::specialise::Lives;
use crate::calls::Targets;
use crate::module::Module;

/// A larger function is left out. It is a table of data that looks like code, or a generated
/// interpreter whose slices would say nothing.
const MAX_INSTRUCTIONS: usize = 200_000;
/// Analysed functions are cached up to this many instructions in total (about 700 MB).
const KEPT_INSTRUCTIONS: usize = 1_200_000;
/// How deep `returns` follows nested calls.
const RETURN_DEPTH: u32 = 16;

/// A function of up to this many bytes is entered even if it has no probes.
const SMALL: u64 = 256;

/// The target of a call or a tail jump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Callee<'m> {
    /// The raw name, if a symbol has it.
    pub name: Option<&'m str>,
    /// The function's entry, if it belongs to this module.
    pub entry: Option<u64>,
}

impl Callee<'_> {
    /// The name after `__tsan_`, if this is a probe.
    pub fn probe(&self) -> Option<&str> {
        self.name.and_then(|name| name.strip_prefix("__tsan_"))
    }
}

/// A function before its analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline<'m> {
    pub range: Range<u64>,
    pub name: Option<&'m str>,
    /// A part of another function that the compiler moved elsewhere.
    pub cold: bool,
}

/// A call, as a scan over all code sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScannedCall<'m> {
    pub address: u64,
    pub callee: Callee<'m>,
}

/// A module's code. Functions are decoded and analysed on demand.
pub struct MachineProgram<'m> {
    module: &'m Module,
    outlines: Vec<Outline<'m>>,
    targets: Targets,
    /// Words that hold an address of this module once it is loaded.
    local_slots: HashMap<u64, u64>,
    by_name: HashMap<&'m str, u64>,
    returns: RefCell<HashMap<u64, bool>>,
    kept: RefCell<Kept<'m>>,
    landing_tables: HashMap<u64, u64>,
    offset_tables: Vec<Range<u64>>,
    instrumented: bool,
    callers: OnceCell<HashMap<u64, Vec<(u64, u64)>>>,
    worth: RefCell<HashMap<u64, bool>>,
    pub(super) fingerprints: RefCell<HashMap<u64, Option<Fingerprint>>>,
    pub(super) looks: RefCell<HashMap<u64, Fingerprint>>,
    looked_at: RefCell<HashSet<AnalysisRequest>>,
    pub(super) lives: RefCell<Lives>,
}

/// A request that an analysis has made of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnalysisRequest {
    /// The function itself.
    Function(u64),
    /// The callers of this function.
    Callers(u64),
}

#[derive(Default)]
struct Kept<'m> {
    functions: HashMap<u64, Option<Rc<MachineFunction<'m>>>>,
    instructions: usize,
}

impl<'m> MachineProgram<'m> {
    pub fn new(module: &'m Module) -> Self {
        // Unwind tables describe the stubs of the procedure linkage table as one function.
        let stubs = module.stub_ranges();
        let mut outlines: Vec<Outline> = module
            .raw_functions()
            .into_iter()
            .filter(|(range, _)| !stubs.iter().any(|stubs| stubs.contains(&range.start)))
            .map(|(range, name)| Outline { range, name, cold: name.is_some_and(is_cold_part) })
            .collect();
        mark_nameless_parts(module, &mut outlines);
        let mut by_name = HashMap::default();
        if let Some(table) = module.elf.dynamic_symbol_table() {
            for symbol in table.symbols().filter(|symbol| symbol.is_definition()) {
                if let Ok(name) = symbol.name() {
                    by_name.insert(name, symbol.address());
                }
            }
        }
        Self {
            module,
            outlines,
            targets: module.targets(|_| true),
            local_slots: local_slots(module),
            by_name,
            returns: RefCell::default(),
            kept: RefCell::default(),
            landing_tables: module.landing_tables(),
            offset_tables: module.offset_tables(),
            instrumented: !module.targets(is_access_probe).is_empty(),
            callers: OnceCell::new(),
            worth: RefCell::default(),
            fingerprints: RefCell::default(),
            looks: RefCell::default(),
            looked_at: RefCell::default(),
            lives: RefCell::default(),
        }
    }

    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Whether probes announce the program's accesses.
    pub fn is_instrumented(&self) -> bool {
        self.instrumented
    }

    /// The requests since the last call of this function, in order, each once.
    pub fn looked_at(&self) -> Vec<AnalysisRequest> {
        let mut looked: Vec<AnalysisRequest> =
            std::mem::take(&mut *self.looked_at.borrow_mut()).into_iter().collect();
        looked.sort_unstable();
        looked
    }

    /// The callers of a function: their entries and the addresses of the calls.
    pub fn callers(&self, entry: u64) -> &[(u64, u64)] {
        self.looked_at.borrow_mut().insert(AnalysisRequest::Callers(entry));
        let index = self.callers.get_or_init(|| {
            let mut index: HashMap<u64, Vec<(u64, u64)>> = HashMap::default();
            for outline in self.outlines.iter().filter(|outline| !outline.cold) {
                for call in self.calls(outline) {
                    if let Some(callee) = call.callee.entry.filter(|_| call.callee.probe().is_none()) {
                        index.entry(callee).or_default().push((outline.range.start, call.address));
                    }
                }
            }
            index
        });
        index.get(&entry).map_or(&[], Vec::as_slice)
    }

    /// Whether a slice learns anything inside a function. In a program with probes, the function
    /// must have probes, or be so small that it can only pass on what it is given. The runtime's
    /// own functions and uninstrumented libraries are neither.
    pub(crate) fn is_worth_entering(&self, entry: u64) -> bool {
        if let Some(&known) = self.worth.borrow().get(&entry) {
            return known;
        }
        let worth = !self.instrumented
            || self.outline_at(entry).is_some_and(|outline| {
                let calls = self.calls(outline);
                let small = outline.range.end - outline.range.start < SMALL && calls.is_empty();
                small || calls.iter().any(|call| call.callee.probe().is_some())
            });
        self.worth.borrow_mut().insert(entry, worth);
        worth
    }

    /// All functions, sorted by address.
    pub fn outlines(&self) -> &[Outline<'m>] {
        &self.outlines
    }

    /// The function that an address lies in.
    pub fn outline_at(&self, address: u64) -> Option<&Outline<'m>> {
        let after = self.outlines.partition_point(|outline| outline.range.start <= address);
        self.outlines[..after].last().filter(|outline| outline.range.contains(&address))
    }

    /// Whether a function begins there.
    fn is_entry(&self, address: u64) -> bool {
        self.outlines.binary_search_by_key(&address, |outline| outline.range.start).is_ok()
    }

    /// The table that says where exceptions thrown in a function land.
    pub(crate) fn landing_table(&self, entry: u64) -> Option<u64> {
        self.landing_tables.get(&entry).copied()
    }

    /// The address that a word of the global offset table, or of a table of pointers, will hold.
    pub(crate) fn word(&self, slot: u64) -> Option<u64> {
        self.local_slots.get(&slot).copied()
    }

    pub(crate) fn is_offset_table(&self, address: u64) -> bool {
        self.offset_tables.iter().any(|table| table.contains(&address))
    }

    /// The raw name of what a word refers to that the loader fills in: a slot of the global offset
    /// table, or a variable that is copied from a library.
    pub(crate) fn word_name(&self, slot: u64) -> Option<&'m str> {
        self.targets.slot(slot)
    }

    /// The target of a call or jump. None for jumps within a function and unknown targets.
    pub(super) fn callee(&self, instruction: &Instruction, pointers: &Pointers) -> Option<Callee<'m>> {
        let pointer = match instruction.op0_kind() {
            OpKind::NearBranch64 => Pointer::Address(instruction.near_branch_target()),
            OpKind::Memory if instruction.memory_base() == Register::RIP => {
                Pointer::Word(instruction.ip_rel_memory_address())
            }
            _ => pointers.target(instruction)?,
        };
        let (name, target): (Option<&'m str>, _) = match pointer {
            Pointer::Address(address) => (self.targets.entry(address), Some(address)),
            Pointer::Word(slot) => (self.targets.slot(slot), self.word(slot)),
        };
        // A library calls its own functions through stubs when others may replace them.
        let own = || name.and_then(|name| self.by_name.get(name).copied());
        let entry = target.filter(|target| self.is_entry(*target)).or_else(own);
        (name.is_some() || entry.is_some()).then_some(Callee { name, entry })
    }

    /// All calls and tail jumps of one function's main part, without analysing it.
    pub fn calls(&self, outline: &Outline) -> Vec<ScannedCall<'m>> {
        let mut calls = Vec::new();
        let mut pointers = Pointers::default();
        let mut decoder = self.decoder(&outline.range);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            let leaves = match instruction.flow_control() {
                FlowControl::Call | FlowControl::IndirectCall => true,
                FlowControl::UnconditionalBranch => {
                    !outline.range.contains(&instruction.near_branch_target())
                }
                FlowControl::IndirectBranch => true,
                _ => false,
            };
            if leaves && let Some(callee) = self.callee(&instruction, &pointers) {
                calls.push(ScannedCall { address: instruction.ip(), callee });
            }
            pointers.pass(&instruction);
        }
        calls
    }

    pub(crate) fn decoder(&self, range: &Range<u64>) -> Decoder<'m> {
        decoder(self.module, range)
    }

    /// The analysed function that begins at `entry`; `None` if there is none or it is too large.
    pub fn function(&self, entry: u64) -> Option<Rc<MachineFunction<'m>>> {
        self.looked_at.borrow_mut().insert(AnalysisRequest::Function(entry));
        if let Some(known) = self.kept.borrow().functions.get(&entry) {
            return known.clone();
        }
        let at = self.outlines.binary_search_by_key(&entry, |outline| outline.range.start).ok()?;
        let built = MachineFunction::new(self, &self.outlines[at], MAX_INSTRUCTIONS).map(Rc::new);
        let mut kept = self.kept.borrow_mut();
        let size = built.as_ref().map_or(1, |function| function.len());
        if kept.instructions + size > KEPT_INSTRUCTIONS {
            *kept = Kept::default();
        }
        kept.instructions += size;
        kept.functions.insert(entry, built.clone());
        built
    }

    /// Whether a callee can return.
    pub(crate) fn callee_returns(&self, callee: &Callee) -> bool {
        if callee.probe().is_some() {
            return true;
        }
        if callee.name.is_some_and(never_returns) {
            return false;
        }
        callee.entry.is_none_or(|entry| self.returns(entry, RETURN_DEPTH))
    }

    /// Whether a function has a path to its end. A function whose answer is still being computed is
    /// assumed to return.
    fn returns(&self, entry: u64, depth: u32) -> bool {
        if let Some(&known) = self.returns.borrow().get(&entry) {
            return known;
        }
        self.returns.borrow_mut().insert(entry, true);
        let found = depth == 0 || self.finds_way_out(entry, depth);
        self.returns.borrow_mut().insert(entry, found);
        found
    }

    fn finds_way_out(&self, entry: u64, depth: u32) -> bool {
        let Some(own) = self.outline_at(entry) else { return true };
        let mut starts = vec![entry];
        let mut seen = HashSet::default();
        while let Some(start) = starts.pop() {
            let Some(part) = self.outline_at(start) else { return true };
            let mut decoder = self.decoder(&(start..part.range.end));
            let mut instruction = Instruction::default();
            let mut pointers = Pointers::default();
            while decoder.can_decode() {
                pointers.pass(&instruction);
                decoder.decode_out(&mut instruction);
                if !seen.insert(instruction.ip()) {
                    break;
                }
                match instruction.flow_control() {
                    FlowControl::Next | FlowControl::XbeginXabortXend => {}
                    FlowControl::Call | FlowControl::IndirectCall => {
                        if self.stops(&instruction, &pointers, depth) {
                            break;
                        }
                    }
                    FlowControl::ConditionalBranch => starts.push(instruction.near_branch_target()),
                    FlowControl::UnconditionalBranch => {
                        let target = instruction.near_branch_target();
                        let inside = own.range.contains(&target)
                            || self.outline_at(target).is_some_and(|part| part.cold);
                        if inside {
                            starts.push(target);
                        } else if !self.stops(&instruction, &pointers, depth) {
                            return true;
                        }
                        break;
                    }
                    FlowControl::Exception => break,
                    FlowControl::IndirectBranch if self.stops(&instruction, &pointers, depth) => break,
                    FlowControl::Return | FlowControl::IndirectBranch | FlowControl::Interrupt => {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Whether a call or tail jump never returns.
    fn stops(&self, instruction: &Instruction, pointers: &Pointers, depth: u32) -> bool {
        let Some(callee) = self.callee(instruction, pointers) else { return false };
        if callee.probe().is_some() {
            return false;
        }
        callee.name.is_some_and(never_returns)
            || callee.entry.is_some_and(|entry| !self.returns(entry, depth - 1))
    }
}

fn decoder<'m>(module: &'m Module, range: &Range<u64>) -> Decoder<'m> {
    let code = module.code_from(range.start).unwrap_or(&[]);
    let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0).min(code.len());
    Decoder::with_ip(64, &code[..length], range.start, DecoderOptions::NONE)
}

/// In a stripped file, a range belongs to another function if that function jumps to its start on a
/// condition, because compilers do not generate conditional tail calls.
fn mark_nameless_parts(module: &Module, outlines: &mut [Outline]) {
    if outlines.iter().all(|outline| outline.name.is_some()) {
        return;
    }
    let mut parts = Vec::new();
    for outline in outlines.iter() {
        for instruction in &mut decoder(module, &outline.range) {
            let jumps = instruction.flow_control() == FlowControl::ConditionalBranch;
            let target = instruction.near_branch_target();
            if jumps && !outline.range.contains(&target) {
                parts.push(target);
            }
        }
    }
    parts.sort_unstable();
    for outline in outlines.iter_mut().filter(|outline| outline.name.is_none()) {
        outline.cold = parts.binary_search(&outline.range.start).is_ok();
    }
}

fn is_access_probe(name: &str) -> bool {
    name.strip_prefix("__tsan_").is_some_and(|probe| super::probes::announced(probe).is_some())
}

/// gcc and clang call the rarely used part of `f` `f.cold`, and may number it.
fn is_cold_part(name: &str) -> bool {
    name.ends_with(".cold") || name.contains(".cold.")
}

/// The words in which relocations, or the file itself in a program at fixed addresses, put local
/// addresses.
fn local_slots(module: &Module) -> HashMap<u64, u64> {
    let names = module.elf.dynamic_symbol_table();
    let mut slots = HashMap::default();
    for (slot, relocation) in module.elf.dynamic_relocations().into_iter().flatten() {
        match relocation.target() {
            object::RelocationTarget::Symbol(index) => {
                let symbol = names.as_ref().and_then(|table| table.symbol_by_index(index).ok());
                if let Some(symbol) = symbol.filter(|symbol| symbol.is_definition()) {
                    slots.insert(slot, symbol.address().wrapping_add(relocation.addend() as u64));
                }
            }
            _ => {
                slots.insert(slot, relocation.addend() as u64);
            }
        }
    }
    if module.is_fixed() {
        for (slot, value) in module.words_of(".got") {
            slots.entry(slot).or_insert(value);
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::is_cold_part;

    #[test]
    fn cold_parts_are_known_by_name() {
        assert!(is_cold_part("f.cold") && is_cold_part("f.part.0.cold") && is_cold_part("f.cold.1"));
        assert!(!is_cold_part("cold") && !is_cold_part("f.coldest"));
    }
}
