//! A callee as one call sees it: constant arguments decide some of its branches.
//!
//! Without optimisation, `flag.load(Acquire)` calls a function that chooses among all orderings.
//! Only one of its loads belongs to this call, and the choice is not a condition of the program.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::function::MachineFunction;
use super::places::{ARGUMENTS, Storage};
use super::tested::Builder;
use super::view::View;

/// Larger functions, by number of blocks, are not specialised. Functions that choose by a constant
/// are small.
const MAX_BLOCKS: usize = 100;

/// The live part of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Live {
    /// Blocks that can run.
    blocks: Vec<bool>,
    /// Blocks whose branch always goes the same way.
    decided: Vec<bool>,
}

/// The arguments of a call that are constants, in the order of their registers.
pub(super) type Constants = [Option<i64>; ARGUMENTS.len()];

/// The live parts of functions, by entry and constants.
pub(super) type Lives = FxHashMap<(u64, Constants), Option<Rc<Live>>>;

/// The constants that a call passes, in a function that was itself entered with `outer`.
pub(super) fn constants(view: &View, call: u32, outer: &Constants) -> Constants {
    let builder = outer.iter().any(Option::is_some).then(|| Builder::with_constants(view, outer));
    ARGUMENTS.map(|register| {
        let form = view.form(call, register);
        if form.terms.is_empty() {
            return Some(form.constant);
        }
        let handed_on = builder.as_ref()?.place(call, Storage::whole(register), 0)?;
        handed_on.evaluate(&|_| None).map(|value| value as i64)
    })
}

impl Live {
    /// The part of a function that constant arguments leave live. `None` if that is all of it.
    /// Computed once for each function and its constants.
    pub(super) fn of(view: &View, constants: &Constants) -> Option<Rc<Self>> {
        let blocks = view.function.blocks.len();
        if !(2..=MAX_BLOCKS).contains(&blocks) || constants.iter().all(Option::is_none) {
            return None;
        }
        let key = (view.function.entry(), *constants);
        if let Some(known) = view.program.lives.borrow().get(&key) {
            return known.clone();
        }
        let found = Self::in_builder(&Builder::with_constants(view, constants)).map(Rc::new);
        view.program.lives.borrow_mut().insert(key, found.clone());
        found
    }

    fn in_builder(builder: &Builder) -> Option<Self> {
        let function = &builder.view.function;
        let blocks = function.blocks.len();
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

    pub(super) fn is_live(&self, function: &MachineFunction, index: u32) -> bool {
        self.blocks[function.block_of(index) as usize]
    }

    pub(super) fn is_decided(&self, block: u32) -> bool {
        self.decided[block as usize]
    }
}

/// The edge by which control always leaves a block.
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
    let definition = |index: u32, register: Register| view.only_definition(index, Storage::of(register)?);
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
