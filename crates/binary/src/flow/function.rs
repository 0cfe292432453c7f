//! One function: its instructions, its blocks, and what decides whether they run.
//!
//! A function is the range that symbols or unwind tables give it, and every part that the compiler
//! has moved elsewhere: `NAME.cold`, or in a stripped file a nameless range into which it jumps.
//! Edges are the control flow of one thread: jumps, jump tables, fall-through, and the return of a
//! call if the callee returns. Paths through exceptions (`unwinding`) are kept separate. Data flows
//! along them, but they decide nothing; otherwise all code after a call that might throw would
//! depend on that call.

use std::cell::OnceCell;
use std::ops::Range;

use iced_x86::{FlowControl, Instruction, Mnemonic};
use rustc_hash::FxHashMap as HashMap;

use super::control::{Decision, control_dependence, doomed};
use super::data::DataFlow;
use super::graph::Graph;
use super::jump_table;
use super::loops::{Nest, loops};
use super::pointers::Pointers;
use super::program::{Callee, MachineProgram, Outline};

/// A decoded function. Instructions are identified by their index.
pub struct MachineFunction<'m> {
    entry: u64,
    name: Option<&'m str>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) blocks: Vec<CodeBlock>,
    block_of: Vec<u32>,
    pub(crate) graph: Graph,
    /// From the block that a call ends to the block where its exceptions land.
    pub(crate) unwinding: Vec<(u32, u32)>,
    /// Calls and tail jumps to known functions, by instruction.
    pub(crate) callees: HashMap<u32, Callee<'m>>,
    /// Blocks whose every path ends in a call that does not return.
    doomed: Vec<bool>,
    decisions: OnceCell<Vec<Vec<Decision>>>,
    data: OnceCell<DataFlow>,
}

/// A sequence of instructions without branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeBlock {
    pub(crate) first: u32,
    /// One past the last instruction.
    pub(crate) end: u32,
}

impl<'m> MachineFunction<'m> {
    /// Decodes a function; `None` when it has more than `limit` instructions, or none.
    pub(super) fn new(program: &MachineProgram<'m>, outline: &Outline<'m>, limit: usize) -> Option<Self> {
        let (code, parts) = decode(program, outline, limit)?;
        let index = |address: u64| code.binary_search_by_key(&address, Instruction::ip).ok();
        let entry_index = index(outline.range.start)?;
        let callees = callees(program, &code, &parts);
        let landings = landings(program, &parts);
        let ways: Vec<Ways> =
            (0..code.len()).map(|at| Ways::of(program, &code, at, &parts, &callees, &landings)).collect();
        let blocks = blocks(&code, &ways, entry_index, &index);
        let mut block_of = vec![0; code.len()];
        for (number, block) in blocks.iter().enumerate() {
            block_of[block.first as usize..block.end as usize].fill(number as u32);
        }
        let to_block = |address: &u64| index(*address).map(|at| block_of[at]);
        let mut successors = Vec::new();
        let mut unwinding = Vec::new();
        let mut ends = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let last = block.end as usize - 1;
            let mut targets: Vec<u32> = ways[last].targets.iter().filter_map(to_block).collect();
            if ways[last].falls_through && block.end < code.len() as u32 && follows(&code, last) {
                targets.push(block_of[last + 1]);
            }
            unwinding.extend(ways[last].pad.as_ref().and_then(to_block).map(|pad| (number as u32, pad)));
            ends.push(ways[last].never_returns);
            successors.push(targets);
        }
        let graph = Graph::new(successors);
        let doomed = doomed(&graph, &ends);
        Some(Self {
            entry: outline.range.start,
            name: outline.name,
            block_of,
            blocks,
            graph,
            unwinding,
            callees,
            doomed,
            decisions: OnceCell::new(),
            data: OnceCell::new(),
            code,
        })
    }

    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// The raw name, if a symbol has it.
    pub fn name(&self) -> Option<&'m str> {
        self.name
    }

    /// The number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.code.len()
    }

    /// The index of the instruction at an address.
    pub fn index_of(&self, address: u64) -> Option<u32> {
        self.code.binary_search_by_key(&address, Instruction::ip).ok().map(|at| at as u32)
    }

    /// The index of the instruction that ends at an address.
    pub fn index_before(&self, address: u64) -> Option<u32> {
        let after = self.code.partition_point(|instruction| instruction.ip() < address);
        let before = after.checked_sub(1)?;
        (self.code[before].next_ip() == address).then_some(before as u32)
    }

    /// The function of this module that an instruction calls.
    pub fn callee_entry(&self, index: u32) -> Option<u64> {
        self.callees.get(&index).filter(|callee| callee.probe().is_none()).and_then(|callee| callee.entry)
    }

    /// All calls of functions of this module, in order: index and entry.
    pub fn local_calls(&self) -> Vec<(u32, u64)> {
        let mut calls: Vec<(u32, u64)> =
            self.callees.keys().filter_map(|index| Some((*index, self.callee_entry(*index)?))).collect();
        calls.sort_unstable();
        calls
    }

    /// The address that an instruction refers to relative to itself, or the address that the word
    /// there will hold.
    pub fn reference(&self, program: &MachineProgram<'m>, index: u32) -> Option<u64> {
        let instruction = self.code.get(index as usize).filter(|i| i.is_ip_rel_memory_operand())?;
        let address = instruction.ip_rel_memory_address();
        let word = program.is_offset_table(address).then(|| program.word(address)).flatten();
        Some(word.unwrap_or(address))
    }

    /// All such references: index and address.
    pub fn references(&self, program: &MachineProgram<'m>) -> Vec<(u32, u64)> {
        let indices = 0..self.code.len() as u32;
        indices.filter_map(|index| Some((index, self.reference(program, index)?))).collect()
    }

    pub fn address_of(&self, index: u32) -> u64 {
        self.code[index as usize].ip()
    }

    /// The return address of a call.
    pub fn return_address(&self, index: u32) -> u64 {
        self.code[index as usize].next_ip()
    }

    pub(crate) fn entry_block(&self) -> u32 {
        self.index_of(self.entry).map_or(0, |at| self.block_of[at as usize])
    }

    pub(crate) fn block_of(&self, index: u32) -> u32 {
        self.block_of[index as usize]
    }

    /// The last instruction of a block: its branch, if it has one.
    pub(crate) fn last_of(&self, block: u32) -> u32 {
        self.blocks[block as usize].end - 1
    }

    pub(crate) fn callee(&self, index: u32) -> Option<&Callee<'m>> {
        self.callees.get(&index)
    }

    pub(crate) fn is_doomed(&self, block: u32) -> bool {
        self.doomed[block as usize]
    }

    /// The branches that decide whether a block runs.
    pub(crate) fn decisions(&self, block: u32) -> &[Decision] {
        let all = self.decisions.get_or_init(|| control_dependence(&self.graph, &self.doomed));
        &all[block as usize]
    }

    /// The loops of the function, outer ones first.
    pub(crate) fn nests(&self) -> Vec<Nest> {
        loops(&self.graph, self.entry_block())
    }

    /// The data flow of the function.
    pub(crate) fn data(&self, program: &MachineProgram<'m>) -> &DataFlow {
        self.data.get_or_init(|| DataFlow::new(program, self))
    }

    /// The instructions that end the function: returns and tail jumps.
    pub(crate) fn exits(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().map(|block| block.end - 1).filter(|last| {
            let instruction = &self.code[*last as usize];
            instruction.flow_control() == FlowControl::Return
                || (is_jump(instruction) && self.callees.contains_key(last))
        })
    }
}

pub(crate) fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

fn is_jump(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::UnconditionalBranch | FlowControl::IndirectBranch)
}

/// Whether the next instruction in the list is the next in memory. Parts may be far apart.
fn follows(code: &[Instruction], at: usize) -> bool {
    code.get(at + 1).is_some_and(|next| next.ip() == code[at].next_ip())
}

/// Decodes all parts, sorted by address.
fn decode(
    program: &MachineProgram,
    outline: &Outline,
    limit: usize,
) -> Option<(Vec<Instruction>, Vec<Range<u64>>)> {
    let mut code = Vec::new();
    let mut parts = vec![outline.range.clone()];
    let mut next = 0;
    while let Some(part) = parts.get(next).cloned() {
        next += 1;
        let from = code.len();
        for instruction in program.decoder(&part) {
            code.push(instruction);
            if code.len() > limit {
                return None;
            }
        }
        for instruction in &code[from..] {
            let conditional = match instruction.flow_control() {
                FlowControl::ConditionalBranch => true,
                FlowControl::UnconditionalBranch => false,
                _ => continue,
            };
            let target = instruction.near_branch_target();
            if parts.iter().any(|part| part.contains(&target)) {
                continue;
            }
            let Some(other) = program.outline_at(target) else { continue };
            let nameless = other.name.is_none() && (conditional || target != other.range.start);
            if other.cold || nameless {
                parts.push(other.range.clone());
            }
        }
    }
    code.sort_by_key(Instruction::ip);
    code.dedup_by_key(|instruction| instruction.ip());
    (!code.is_empty()).then_some((code, parts))
}

fn callees<'m>(
    program: &MachineProgram<'m>,
    code: &[Instruction],
    parts: &[Range<u64>],
) -> HashMap<u32, Callee<'m>> {
    let mut callees = HashMap::default();
    let mut pointers = Pointers::default();
    for (at, instruction) in code.iter().enumerate() {
        let leaves = match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall | FlowControl::IndirectBranch => true,
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
                !parts.iter().any(|part| part.contains(&instruction.near_branch_target()))
            }
            _ => false,
        };
        if leaves && let Some(callee) = program.callee(instruction, &pointers) {
            callees.insert(at as u32, callee);
        }
        pointers.pass(instruction);
    }
    callees
}

/// The landing pads of all parts, sorted by the calls' addresses.
fn landings(program: &MachineProgram, parts: &[Range<u64>]) -> Vec<super::landing::Landing> {
    let mut landings: Vec<_> = parts
        .iter()
        .filter_map(|part| Some((part.start, program.landing_table(part.start)?)))
        .flat_map(|(start, table)| program.module().landings(start, table))
        .collect();
    landings.sort_by_key(|landing| landing.calls.start);
    landings
}

/// Where control goes after one instruction.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ways {
    targets: Vec<u64>,
    falls_through: bool,
    pad: Option<u64>,
    never_returns: bool,
    ends_block: bool,
}

impl Ways {
    fn of(
        program: &MachineProgram,
        code: &[Instruction],
        at: usize,
        parts: &[Range<u64>],
        callees: &HashMap<u32, Callee>,
        landings: &[super::landing::Landing],
    ) -> Self {
        let instruction = &code[at];
        let callee = callees.get(&(at as u32));
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::XbeginXabortXend => {
                Self { falls_through: true, ..Self::default() }
            }
            // The taken branch comes first: `Decision::edge` 0 is "jumps".
            FlowControl::ConditionalBranch => Self {
                targets: vec![instruction.near_branch_target()],
                falls_through: true,
                ends_block: true,
                ..Self::default()
            },
            FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => {
                let targets = if instruction.flow_control() == FlowControl::IndirectBranch {
                    jump_table::targets(program, code, at, parts)
                } else {
                    vec![instruction.near_branch_target()]
                };
                let never_returns = callee.is_some_and(|callee| !program.callee_returns(callee));
                Self { targets, ends_block: true, never_returns, ..Self::default() }
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                let returns = callee.is_none_or(|callee| program.callee_returns(callee));
                let after = landings.partition_point(|l| l.calls.start <= instruction.ip());
                let pad =
                    landings[..after].last().filter(|l| l.calls.contains(&instruction.ip())).map(|l| l.pad);
                Self {
                    falls_through: returns,
                    pad,
                    never_returns: !returns,
                    ends_block: !returns || pad.is_some(),
                    ..Self::default()
                }
            }
            FlowControl::Exception => Self { never_returns: true, ends_block: true, ..Self::default() },
            // int3 is padding; other interrupts return.
            FlowControl::Interrupt if instruction.mnemonic() != Mnemonic::Int3 => {
                Self { falls_through: true, ..Self::default() }
            }
            FlowControl::Return | FlowControl::Interrupt => Self { ends_block: true, ..Self::default() },
        }
    }
}

fn blocks(
    code: &[Instruction],
    ways: &[Ways],
    entry: usize,
    index: &impl Fn(u64) -> Option<usize>,
) -> Vec<CodeBlock> {
    let mut leads = vec![false; code.len()];
    leads[entry] = true;
    leads[0] = true;
    for (at, ways) in ways.iter().enumerate() {
        for target in ways.targets.iter().chain(&ways.pad) {
            if let Some(target) = index(*target) {
                leads[target] = true;
            }
        }
        if at + 1 < code.len() && (ways.ends_block || !follows(code, at)) {
            leads[at + 1] = true;
        }
    }
    let starts: Vec<u32> = (0..code.len() as u32).filter(|at| leads[*at as usize]).collect();
    let ends = starts.iter().skip(1).copied().chain([code.len() as u32]);
    starts.iter().zip(ends).map(|(&first, end)| CodeBlock { first, end }).collect()
}
