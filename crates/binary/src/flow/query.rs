//! What the search for error sites asks about a function.

use std::rc::Rc;

use iced_x86::Register;

use super::data::ENTRY;
use super::form::{Form, Root};
use super::function::MachineFunction;
use super::loops::Nest;
use super::places::{ARGUMENTS, RAX, Storage, XMM0};
use super::program::{Callee, MachineProgram};
use super::slice::{Deciding, SliceStart};
use super::view::{SharedRead, View};
use super::wait::only_waits;

/// The most calls that pass a stream on, as `std::cout << a << b` does.
const MAX_CHAIN: u32 = 64;
/// The number of bytes of an object in the frame that a pointer to it stands for.
const OBJECT: i32 = 48;

/// The most objects that one call is given.
const MAX_OBJECTS: usize = 16;

/// A loop of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowLoop {
    nest: Nest,
    pub exits: Vec<Exit>,
    /// The loop only waits.
    pub waits: bool,
}

impl FlowLoop {
    pub(crate) fn contains_block(&self, block: u32) -> bool {
        self.nest.contains(block)
    }
}

/// A conditional jump that leaves a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    pub branch: u32,
    /// Whether the loop continues when the jump is taken.
    pub stays_when_taken: bool,
}

/// An access through a pointer that was read from shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dereference {
    pub index: u32,
    /// The address that identifies the read of the pointer, as in [`super::SlicedRead`].
    pub read: u64,
    pub instrumented: bool,
    pub atomic: bool,
    pub variable: Option<u64>,
    /// What is added to the pointer.
    pub offset: i64,
    /// Whether anything other than constants is added: an index.
    pub indexed: bool,
}

/// A function to ask questions about.
pub struct Query<'p, 'm> {
    view: View<'p, 'm>,
}

impl<'p, 'm> Query<'p, 'm> {
    pub fn new(program: &'p MachineProgram<'m>, function: Rc<MachineFunction<'m>>) -> Self {
        Self { view: View { program, function } }
    }

    pub fn function(&self) -> &Rc<MachineFunction<'m>> {
        &self.view.function
    }

    pub fn program(&self) -> &'p MachineProgram<'m> {
        self.view.program
    }

    /// Its reachable calls and tail jumps, in order.
    pub fn calls(&self) -> Vec<(u32, Callee<'m>)> {
        let heights = &self.view.data().heights;
        let mut calls: Vec<_> = self
            .view
            .function
            .callees
            .iter()
            .filter(|(index, _)| heights[**index as usize].is_some())
            .map(|(index, callee)| (*index, *callee))
            .collect();
        calls.sort_unstable_by_key(|call| call.0);
        calls
    }

    /// The branches that decide directly whether an instruction runs.
    pub fn deciding(&self, index: u32) -> Vec<Deciding> {
        let function = &self.view.function;
        let decisions = function.decisions(function.block_of(index));
        decisions
            .iter()
            .map(|decision| {
                let branch = function.last_of(decision.block);
                let conditional = self.view.instruction(branch).is_jcc_short_or_near();
                let taken = conditional.then_some(decision.edge == 0);
                Deciding { function: function.entry(), branch, taken }
            })
            .collect()
    }

    /// Its loops, with those of their exits that do not lead to certain failure.
    pub fn loops(&self) -> Vec<FlowLoop> {
        let function = &self.view.function;
        let exits = |nest: &Nest| {
            let leaves = |block: &u32| {
                let branch = function.last_of(*block);
                if !self.view.instruction(branch).is_jcc_short_or_near() {
                    return None;
                }
                let [taken, other] = *function.graph.successors(*block) else { return None };
                let out = |to: u32| !nest.contains(to) && !function.is_doomed(to);
                match (nest.contains(taken), nest.contains(other)) {
                    (true, false) if out(other) => Some(Exit { branch, stays_when_taken: true }),
                    (false, true) if out(taken) => Some(Exit { branch, stays_when_taken: false }),
                    _ => None,
                }
            };
            nest.body.iter().filter_map(leaves).collect()
        };
        let waits = |nest: &Nest| only_waits(&self.view, nest);
        let nests = function.nests();
        nests.into_iter().map(|nest| FlowLoop { exits: exits(&nest), waits: waits(&nest), nest }).collect()
    }

    /// Whether an instruction is part of a loop.
    pub fn is_inside(&self, nest: &FlowLoop, index: u32) -> bool {
        nest.nest.contains(self.view.function.block_of(index))
    }

    /// All accesses through pointers that were read from shared memory, one for each read.
    pub fn dereferences(&self) -> Vec<Dereference> {
        let mut found: Vec<Dereference> = Vec::new();
        for index in 0..self.view.function.len() as u32 {
            if self.view.data().heights[index as usize].is_none() || self.view.is_call(index) {
                continue;
            }
            for (operand, place) in self.view.operands(index) {
                let Some(Storage::Memory { form, .. }) = place else { continue };
                let form = self.view.data().forms.borrow().form(form).clone();
                let base = Storage::of(operand.base).filter(|_| operand.base != Register::None);
                for (read, offset) in base.into_iter().flat_map(|_| self.pointers(&form)) {
                    let indexed = form.terms.len() > 1;
                    let SharedRead { address, instrumented, atomic, variable, .. } = read;
                    let known = found.iter().any(|other| other.read == address);
                    if !known {
                        found.push(Dereference {
                            index,
                            read: address,
                            instrumented,
                            atomic,
                            variable,
                            offset,
                            indexed,
                        });
                    }
                }
            }
        }
        found
    }

    /// The shared reads of whole words that an address is built on.
    fn pointers(&self, form: &Form) -> Vec<(SharedRead, i64)> {
        let mut reads = Vec::new();
        for &(root, factor) in &form.terms {
            if factor != 1 {
                continue;
            }
            let root = self.view.data().forms.borrow().root(root).clone();
            let Root::Register { definitions, .. } = root else { continue };
            for definition in definitions.into_iter().filter(|definition| *definition != ENTRY) {
                let read = if self.view.is_call(definition) {
                    self.view.read_by_call(definition).filter(|read| read.atomic)
                } else {
                    let mut loads = self.view.operands(definition).filter(|(operand, _)| operand.size == 8);
                    loads.find_map(|(operand, place)| self.view.shared_read(definition, &operand, place))
                };
                reads.extend(read.filter(|read| read.size == 8).map(|read| (read, form.constant)));
            }
        }
        reads
    }

    /// The instruction of the read with this identity, as in [`super::SlicedRead::address`].
    pub fn read_at(&self, address: u64) -> Option<u32> {
        let function = &self.view.function;
        let announces = |index: &u32| {
            function.return_address(*index) == address
                && self.view.announced(*index).is_some_and(|a| a.atomic)
        };
        if let Some(atomic) = function.callees.keys().find(|index| announces(index)) {
            return Some(*atomic);
        }
        (0..function.len() as u32).filter(|index| self.view.data().heights[*index as usize].is_some()).find(
            |index| {
                let mut operands = self.view.operands(*index);
                operands.any(|(operand, place)| {
                    self.view.shared_read(*index, &operand, place).is_some_and(|read| read.address == address)
                })
            },
        )
    }

    /// The raw name of the library object that an argument is, or was loaded from: `stderr`,
    /// `std::cerr`. A stream that one call returns and the next one uses is the same stream.
    pub fn object(&self, call: u32, argument: u8) -> Option<&'m str> {
        self.object_in(call, *ARGUMENTS.get(argument as usize)?, 0)
    }

    fn object_in(&self, index: u32, register: u8, depth: u32) -> Option<&'m str> {
        let form = self.view.form(index, register);
        let program = self.view.program;
        if form.terms.is_empty() {
            return self.named(form.constant as u64);
        }
        let [(root, 1)] = form.terms[..] else { return None };
        let root = self.view.data().forms.borrow().root(root).clone();
        match root {
            Root::Offset(slot) => program.word_name(slot),
            Root::Register { number, definitions } => {
                let [definition] = definitions[..] else { return None };
                if definition == ENTRY || depth > MAX_CHAIN {
                    return None;
                }
                if self.view.is_call(definition) {
                    let chain = number == RAX && self.view.callee(definition)?.name?.contains("ls");
                    return chain.then(|| self.object_in(definition, ARGUMENTS[0], depth + 1)).flatten();
                }
                let (operand, _) = self.view.operands(definition).find(|(operand, _)| operand.reads)?;
                let address = self.view.address(definition, &operand);
                let offset = match address.terms[..] {
                    [] => return self.named(address.constant as u64),
                    [(root, 1)] => match self.view.data().forms.borrow().root(root) {
                        Root::Offset(slot) => *slot,
                        _ => return None,
                    },
                    _ => return None,
                };
                program.word_name(offset)
            }
            _ => None,
        }
    }

    /// The name of a variable: copied from a library, or in the symbol table.
    fn named(&self, address: u64) -> Option<&'m str> {
        let program = self.view.program;
        let symbol = || program.module().symbols().data_at(address).map(|symbol| symbol.name);
        program.word_name(address).or_else(symbol)
    }

    /// The constant value of an argument.
    pub fn constant(&self, call: u32, argument: u8) -> Option<i64> {
        let form = self.view.form(call, *ARGUMENTS.get(argument as usize)?);
        form.terms.is_empty().then_some(form.constant)
    }

    /// The arguments of a call, from the given one on: registers that were set for this call, as
    /// opposed to values that an earlier call left in them.
    pub fn arguments(&self, call: u32, from: u8) -> Vec<SliceStart> {
        let set = |register: u8| {
            let definitions = self.view.reaching(call, Storage::whole(register));
            let by = |definition: &u32| *definition != ENTRY && !self.view.is_call(*definition);
            !definitions.is_empty() && definitions.iter().all(by)
        };
        let integers = (from..ARGUMENTS.len() as u8).filter(|at| set(ARGUMENTS[*at as usize]));
        let floats = (0..8).filter(|at| set(XMM0 + at));
        integers
            .map(|at| SliceStart::Argument(call, at))
            .chain(floats.map(|at| SliceStart::FloatArgument(call, at)))
            .collect()
    }

    /// The slots that a call's arguments reach through pointers into the frame, including pointers
    /// stored in those slots: what `println!` is given. Calls in between that only wrap such a
    /// pointer are looked through.
    pub fn frame_behind(&self, call: u32, wraps: impl Fn(&str) -> bool) -> Vec<SliceStart> {
        let mut work: Vec<i32> =
            ARGUMENTS[..2].iter().flat_map(|register| self.slots_behind(call, *register, &wraps)).collect();
        let mut objects: Vec<i32> = Vec::new();
        while let Some(slot) = work.pop() {
            if objects.contains(&slot) || objects.len() > MAX_OBJECTS {
                continue;
            }
            objects.push(slot);
            for at in (slot..slot + OBJECT).step_by(8) {
                for &store in self.view.reaching(call, Storage::Slot { at, size: 8 }).iter() {
                    if store == ENTRY {
                        continue;
                    }
                    if self.view.is_call(store) {
                        work.extend(self.wrapped(store, &wraps));
                        continue;
                    }
                    let source = Storage::of(self.view.instruction(store).op1_register());
                    if let Some(Storage::Register { number, .. }) = source {
                        work.extend(self.slots_behind(store, number, &wraps));
                    }
                }
            }
        }
        let words = objects.iter().flat_map(|slot| (*slot..*slot + OBJECT).step_by(8));
        words.map(|at| SliceStart::Slot(call, at)).collect()
    }

    /// The slot that a register points to, or the slots that were passed to the call that returned
    /// it.
    fn slots_behind(&self, index: u32, register: u8, wraps: &impl Fn(&str) -> bool) -> Vec<i32> {
        if let Some(slot) = self.view.pointed_slot(index, register) {
            return vec![slot];
        }
        let form = self.view.form(index, register);
        let [(root, 1)] = form.terms[..] else { return Vec::new() };
        let root = self.view.data().forms.borrow().root(root).clone();
        let definitions = match root {
            Root::Register { definitions, .. } | Root::Slot { definitions, .. } => definitions,
            _ => return Vec::new(),
        };
        let calls = definitions
            .into_iter()
            .filter(|definition| *definition != ENTRY && self.view.is_call(*definition));
        calls.flat_map(|call| self.wrapped(call, wraps)).collect()
    }

    /// The slots to which a wrapping call is given pointers.
    fn wrapped(&self, call: u32, wraps: &impl Fn(&str) -> bool) -> Vec<i32> {
        let name = self.view.callee(call).and_then(|callee| callee.name);
        if !name.is_some_and(wraps) {
            return Vec::new();
        }
        ARGUMENTS[..3].iter().filter_map(|register| self.view.pointed_slot(call, *register)).collect()
    }
}
