//! How values flow through one function: which definitions reach which uses.
//!
//! Definitions are computed on demand, walking back from the use, and cached. Memory takes two
//! passes. To know which slot an operand addresses, one must know the registers it is made of, and
//! those may have been spilled to slots. The first pass finds slots by registers alone. The second
//! follows spilled values through the slots, and numbers all other memory by the form of its
//! address.
//!
//! A call may write a slot whose address it is given. A pointer to a slot that is stored and used
//! later is not followed, so writes through it are not seen.

use std::cell::{OnceCell, RefCell};

use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use iced_x86::{InstructionInfoFactory, Register};

use super::effects::{Definition, Effects, Operand};
use super::form::{Form, Forms};
use super::function::{MachineFunction, is_call};
use super::outlets::Outlets;
use super::places::{ARGUMENTS, Cover, Storage};
use super::probes::Probes;
use super::program::MachineProgram;
use super::stack::heights;
use super::transfer;

/// The state at the function's entry, as the caller left it.
pub(crate) const ENTRY: u32 = u32::MAX;
/// How much of a frame a callee may write through a pointer into it.
const ESCAPED: u32 = 256;

/// The instructions that define a place, or [`ENTRY`].
pub(crate) type Definitions = Rc<[u32]>;

/// Data flow of one function.
pub(crate) struct DataFlow {
    pub(crate) effects: Vec<Effects>,
    pub(crate) heights: Vec<Option<i32>>,
    /// The places of memory operands, parallel to `effects[i].operands`.
    pub(crate) operand_places: Vec<Vec<Option<Storage>>>,
    pub(crate) forms: RefCell<Forms>,
    /// For each block: instructions that define memory.
    memory_definitions: Vec<Vec<u32>>,
    /// For each block: which registers (by number) and flags (bit 63) it defines.
    defined: Vec<u64>,
    /// The predecessors of each block, including paths through exceptions.
    before: Vec<Vec<u32>>,
    reaching: RefCell<HashMap<(u32, Storage), Definitions>>,
    pub(super) form_of_definition: RefCell<HashMap<(u32, u8), Form>>,
    probes: OnceCell<Probes>,
    pub(super) outlets: OnceCell<Outlets>,
    /// Whether forms are followed through slots. True in the second pass.
    pub(super) through_slots: bool,
}

impl DataFlow {
    pub(super) fn new<'m>(program: &MachineProgram<'m>, function: &MachineFunction<'m>) -> Self {
        let mut factory = InstructionInfoFactory::new();
        let effects: Vec<Effects> = function.code.iter().map(|i| Effects::of(i, &mut factory)).collect();
        let mut before: Vec<Vec<u32>> = (0..function.blocks.len() as u32)
            .map(|block| function.graph.predecessors(block).to_vec())
            .collect();
        for &(from, pad) in &function.unwinding {
            before[pad as usize].push(from);
        }
        let operand_places = effects.iter().map(|effects| vec![None; effects.operands.len()]).collect();
        let mut flow = Self {
            effects,
            heights: heights(function),
            operand_places,
            forms: RefCell::default(),
            memory_definitions: vec![Vec::new(); function.blocks.len()],
            defined: vec![0; function.blocks.len()],
            before,
            reaching: RefCell::default(),
            form_of_definition: RefCell::default(),
            probes: OnceCell::new(),
            outlets: OnceCell::new(),
            through_slots: false,
        };
        flow.index_definitions(function);
        flow.find_slots(program, function);
        flow.index_definitions(function);
        flow.through_slots = true;
        flow.find_slots(program, function);
        flow.find_escapes(program, function);
        flow.index_definitions(function);
        flow
    }

    /// Rebuilds what `reaching` uses. Earlier answers become invalid.
    fn index_definitions(&mut self, function: &MachineFunction) {
        self.reaching.borrow_mut().clear();
        self.form_of_definition.borrow_mut().clear();
        for (number, block) in function.blocks.iter().enumerate() {
            let (mut mask, mut memory) = (0, Vec::new());
            for index in block.first..block.end {
                let definitions = &self.effects[index as usize].definitions;
                mask |= definitions.iter().fold(0, |mask, definition| mask | bit(definition.place));
                if definitions.iter().any(|definition| definition.place.is_memory()) {
                    memory.push(index);
                }
            }
            self.defined[number] = mask;
            self.memory_definitions[number] = memory;
        }
    }

    /// Gives operands their places, as far as the pass allows.
    fn find_slots<'m>(&mut self, program: &MachineProgram<'m>, function: &MachineFunction<'m>) {
        for index in 0..function.len() as u32 {
            let at = index as usize;
            if self.heights[at].is_none() {
                continue;
            }
            for number in 0..self.effects[at].operands.len() {
                if self.operand_places[at][number].is_some() {
                    continue;
                }
                let operand = self.effects[at].operands[number];
                let Some(place) = self.place_of(program, function, index, &operand) else { continue };
                self.operand_places[at][number] = Some(place);
                if operand.writes {
                    let sure = matches!(place, Storage::Slot { .. });
                    self.effects[at].definitions.push(Definition { place, sure });
                }
            }
        }
    }

    /// The place that a memory operand addresses: in the first pass, only slots.
    fn place_of<'m>(
        &self,
        program: &MachineProgram<'m>,
        function: &MachineFunction<'m>,
        index: u32,
        operand: &Operand,
    ) -> Option<Storage> {
        if operand.segment {
            return None;
        }
        let form = self.address(program, function, index, operand);
        let mut forms = self.forms.borrow_mut();
        match forms.stack_distance(&form) {
            Some(at) => Some(Storage::Slot { at, size: operand.size.max(1) }),
            None if self.through_slots => {
                let form = forms.number(form);
                Some(Storage::Memory { form, size: operand.size })
            }
            None => None,
        }
    }

    /// The form of the address of an operand.
    pub(crate) fn address<'m>(
        &self,
        program: &MachineProgram<'m>,
        function: &MachineFunction<'m>,
        index: u32,
        operand: &Operand,
    ) -> Form {
        // `push` writes below the current stack pointer.
        let mut form = Form::constant(operand.displacement);
        if operand.base != Register::None {
            form.add(&transfer::form_of(self, program, function, index, operand.base, 0), 1);
        }
        if operand.index != Register::None {
            form.add(&transfer::form_of(self, program, function, index, operand.index, 0), operand.scale);
        }
        form
    }

    /// Marks what calls may write: the slots to which they are given pointers.
    fn find_escapes<'m>(&mut self, program: &MachineProgram<'m>, function: &MachineFunction<'m>) {
        for index in 0..function.len() as u32 {
            let at = index as usize;
            let probe = function.callee(index).is_some_and(|callee| callee.probe().is_some_and(is_silent));
            if !is_call(&function.code[at]) || self.heights[at].is_none() || probe {
                continue;
            }
            for register in ARGUMENTS {
                if let Some(slot) = self.pointed_slot(program, function, index, register) {
                    let place = Storage::Slot { at: slot, size: ESCAPED };
                    self.effects[at].definitions.push(Definition { place, sure: false });
                }
            }
        }
    }

    /// The probes of the function.
    pub(crate) fn probes<'m>(&self, program: &MachineProgram<'m>, function: &MachineFunction<'m>) -> &Probes {
        self.probes.get_or_init(|| {
            Probes::new(function, |index, register| {
                transfer::form_of_number(self, program, function, index, register, 0)
            })
        })
    }

    /// The slot that a register points to before an instruction.
    pub(crate) fn pointed_slot<'m>(
        &self,
        program: &MachineProgram<'m>,
        function: &MachineFunction<'m>,
        index: u32,
        register: u8,
    ) -> Option<i32> {
        let form = transfer::form_of_number(self, program, function, index, register, 0);
        self.forms.borrow().stack_distance(&form)
    }

    /// The definitions of a place that reach the start of an instruction.
    pub(crate) fn reaching(&self, function: &MachineFunction, index: u32, place: Storage) -> Definitions {
        if let Some(known) = self.reaching.borrow().get(&(index, place)) {
            return known.clone();
        }
        let mut found = Vec::new();
        let mut entered = vec![0_u64; function.blocks.len().div_ceil(64)];
        let mut work = vec![(function.block_of(index), index)];
        while let Some((block, end)) = work.pop() {
            let first = function.blocks[block as usize].first;
            if self.scan(block, first..end, place, &mut found) {
                continue;
            }
            if block == function.entry_block() {
                found.push(ENTRY);
            }
            for &before in &self.before[block as usize] {
                let (word, bit) = (before as usize / 64, 1 << (before % 64));
                if entered[word] & bit == 0 {
                    entered[word] |= bit;
                    work.push((before, function.blocks[before as usize].end));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        let found: Definitions = found.into();
        self.reaching.borrow_mut().insert((index, place), found.clone());
        found
    }

    /// Collects the definitions in part of a block, last first; true when one covers the place.
    fn scan(&self, block: u32, range: std::ops::Range<u32>, place: Storage, found: &mut Vec<u32>) -> bool {
        if place.is_memory() {
            let inside = &self.memory_definitions[block as usize];
            let from = inside.partition_point(|index| *index < range.start);
            let to = inside.partition_point(|index| *index < range.end);
            return inside[from..to].iter().rev().any(|index| self.covers(*index, place, found));
        }
        if self.defined[block as usize] & bit(place) == 0 {
            return false;
        }
        range.rev().any(|index| self.covers(index, place, found))
    }

    fn covers(&self, index: u32, place: Storage, found: &mut Vec<u32>) -> bool {
        let mut all = false;
        for definition in &self.effects[index as usize].definitions {
            match definition.place.covers(place) {
                Cover::Nothing => continue,
                Cover::Part => {}
                Cover::All => all |= definition.sure,
            }
            found.push(index);
        }
        all
    }

    /// The definition that reaches, if there is only one and it is not a parameter.
    pub(crate) fn only_definition(
        &self,
        function: &MachineFunction,
        index: u32,
        place: Storage,
    ) -> Option<u32> {
        match self.reaching(function, index, place)[..] {
            [only] if only != ENTRY => Some(only),
            _ => None,
        }
    }
}

/// Probes that write nothing: all except the atomics that take a pointer to the expected value.
fn is_silent(probe: &str) -> bool {
    !probe.contains("compare_exchange") && !probe.starts_with("mem")
}

fn bit(place: Storage) -> u64 {
    match place {
        Storage::Register { number, .. } => 1 << number.min(62),
        Storage::Flags => 1 << 63,
        Storage::Slot { .. } | Storage::Memory { .. } => 0,
    }
}
