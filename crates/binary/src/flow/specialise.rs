//! A callee as one call sees it: with constant arguments some of its branches are decided.
//!
//! Without optimisation, `flag.load(Acquire)` calls a function that chooses among all orderings. Only one of its
//! loads is that of this call, and what chooses is no condition of the program.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::function::Function;
use super::places::Place;
use super::tested::Builder;
use super::view::View;

/// Functions with more blocks are not looked at: those that choose by a constant are small.
const MAX_BLOCKS: usize = 100;

/// What is left of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Live {
    /// Blocks that can run.
    blocks: Vec<bool>,
    /// Blocks whose branch always goes the same way.
    decided: Vec<bool>,
}

impl Live {
    /// What is left of the function that the last call of a chain enters: views, outermost first, each with the
    /// call by which the next one is entered; `None` if all of it is.
    pub(super) fn of<'p, 'm>(chain: &[(&View<'p, 'm>, u32)]) -> Option<Self> {
        let last = chain.last()?.0;
        if last.function.blocks.len() > MAX_BLOCKS || last.function.blocks.len() < 2 {
            return None;
        }
        with_builder(chain, None, 0)
    }

    pub(super) fn in_builder(builder: &Builder) -> Option<Self> {
        let function = &builder.view.function;
        let blocks = function.blocks.len();
        if !(2..=MAX_BLOCKS).contains(&blocks) {
            return None;
        }
        let mut live = Self { blocks: vec![false; blocks], decided: vec![false; blocks] };
        let mut work = vec![function.entry_block()];
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut live.blocks[block as usize], true) {
                continue;
            }
            let successors = function.graph.successors(block);
            match (successors.len() > 1).then(|| chosen(builder, block)).flatten() {
                Some(edge) if (edge as usize) < successors.len() => {
                    live.decided[block as usize] = true;
                    work.push(successors[edge as usize]);
                }
                _ => work.extend(successors),
            }
            work.extend(function.unwinding.iter().filter(|(from, _)| *from == block).map(|(_, pad)| *pad));
        }
        live.decided.contains(&true).then_some(live)
    }

    pub(super) fn is_live(&self, function: &Function, index: u32) -> bool {
        self.blocks[function.block_of(index) as usize]
    }

    pub(super) fn is_decided(&self, block: u32) -> bool {
        self.decided[block as usize]
    }
}

/// Nests the builders of a chain, each with its caller.
fn with_builder<'p, 'm>(
    chain: &[(&View<'p, 'm>, u32)],
    caller: Option<(&Builder<'_, 'p, 'm>, u32)>,
    calls: u32,
) -> Option<Live> {
    let ((view, call), inner) = chain.split_first()?;
    let builder = Builder::new(view, caller, calls);
    if inner.is_empty() {
        return Live::in_builder(&builder);
    }
    with_builder(inner, Some((&builder, *call)), calls + 1)
}

/// The edge by which a block is always left.
fn chosen(builder: &Builder, block: u32) -> Option<u32> {
    let function = &builder.view.function;
    let branch = function.last_of(block);
    let instruction = builder.view.instruction(branch);
    if instruction.is_jcc_short_or_near() {
        let taken = builder.condition(branch, instruction.condition_code(), 0)?.evaluate(&|_| None)?;
        return Some(u32::from(taken == 0));
    }
    let (at, index) = table_index(builder.view, branch)?;
    let value = builder.register(at, index, 0)?.evaluate(&|_| None)?;
    u32::try_from(value).ok()
}

/// The register that indexes the table behind an indirect jump, and where it does.
fn table_index(view: &View, jump: u32) -> Option<(u32, Register)> {
    let scaled = |index: u32, scale: u32| {
        let instruction: &Instruction = view.instruction(index);
        let indexed =
            instruction.memory_index() != Register::None && instruction.memory_index_scale() == scale;
        indexed.then(|| (index, instruction.memory_index()))
    };
    if view.instruction(jump).op0_kind() == OpKind::Memory {
        return scaled(jump, 8);
    }
    let definition = |index: u32, register: Register| view.only_definition(index, Place::of(register)?);
    let sum = definition(jump, view.instruction(jump).op0_register())?;
    let instruction = view.instruction(sum);
    if instruction.mnemonic() != Mnemonic::Add {
        return scaled(sum, 8);
    }
    [instruction.op0_register(), instruction.op1_register()]
        .into_iter()
        .filter_map(|register| definition(sum, register))
        .find_map(|load| scaled(load, 4))
}
