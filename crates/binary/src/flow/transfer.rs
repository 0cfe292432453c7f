//! The form of a register: what its definition computes, as far as that is linear.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::data::{DataFlow, ENTRY};
use super::effects::is_zero;
use super::form::{Form, Root};
use super::function::MachineFunction;
use super::places::{RSP, Storage};
use super::program::MachineProgram;

/// The maximal length of a chain of definitions. Chains of spills at `-O0` are the longest.
const MAX_DEPTH: u32 = 24;

/// The form of a register before an instruction.
pub(super) fn form_of<'m>(
    flow: &DataFlow,
    program: &MachineProgram<'m>,
    function: &MachineFunction<'m>,
    index: u32,
    register: Register,
    depth: u32,
) -> Form {
    match Storage::of(register) {
        Some(Storage::Register { number, .. }) => {
            form_of_number(flow, program, function, index, number, depth)
        }
        _ => Form::default(),
    }
}

pub(super) fn form_of_number<'m>(
    flow: &DataFlow,
    program: &MachineProgram<'m>,
    function: &MachineFunction<'m>,
    index: u32,
    number: u8,
    depth: u32,
) -> Form {
    if number == RSP {
        let root = flow.forms.borrow_mut().root_number(Root::StackPointer);
        let mut form = Form::root(root);
        form.constant = i64::from(flow.heights[index as usize].unwrap_or(0));
        return form;
    }
    let definitions = flow.reaching(function, index, Storage::whole(number));
    let root = match definitions[..] {
        [ENTRY] => Root::Parameter(number),
        [definition] if depth < MAX_DEPTH => {
            return form_of_definition(flow, program, function, definition, number, depth);
        }
        _ => Root::Register { number, definitions: definitions.to_vec() },
    };
    Form::root(flow.forms.borrow_mut().root_number(root))
}

/// The form that one definition leaves in a register.
fn form_of_definition<'m>(
    flow: &DataFlow,
    program: &MachineProgram<'m>,
    function: &MachineFunction<'m>,
    definition: u32,
    number: u8,
    depth: u32,
) -> Form {
    if let Some(known) = flow.form_of_definition.borrow().get(&(definition, number)) {
        return known.clone();
    }
    let context = Context { flow, program, function, index: definition, depth: depth + 1 };
    let computed = context.computed(number).unwrap_or_else(|| {
        let root = Root::Register { number, definitions: vec![definition] };
        Form::root(flow.forms.borrow_mut().root_number(root))
    });
    flow.form_of_definition.borrow_mut().insert((definition, number), computed.clone());
    computed
}

/// One instruction, seen as a computation.
struct Context<'a, 'm> {
    flow: &'a DataFlow,
    program: &'a MachineProgram<'m>,
    function: &'a MachineFunction<'m>,
    index: u32,
    depth: u32,
}

impl Context<'_, '_> {
    fn instruction(&self) -> &Instruction {
        &self.function.code[self.index as usize]
    }

    fn register(&self, register: Register) -> Form {
        form_of(self.flow, self.program, self.function, self.index, register, self.depth)
    }

    /// The form that the instruction computes for a register; `None` if it is not linear.
    fn computed(&self, number: u8) -> Option<Form> {
        let instruction = self.instruction();
        if is_zero(instruction) {
            return Some(Form::constant(0));
        }
        match instruction.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movsxd | Mnemonic::Movsx | Mnemonic::Movzx | Mnemonic::Pop => {
                self.copied()
            }
            Mnemonic::Cdqe => Some(self.register(Register::RAX)),
            Mnemonic::Lea => Some(self.address()),
            Mnemonic::Add => self.sum(1),
            Mnemonic::Sub => self.sum(-1),
            Mnemonic::Inc if self.writes(number) => self.plus(instruction.op0_register(), 1),
            Mnemonic::Dec if self.writes(number) => self.plus(instruction.op0_register(), -1),
            Mnemonic::Shl if is_immediate(instruction, 1) && instruction.op0_kind() == OpKind::Register => {
                let count = instruction.immediate(1);
                (count < 32).then(|| self.register(instruction.op0_register()).scaled(1 << count))
            }
            Mnemonic::Imul if instruction.op_count() == 3 && instruction.op1_kind() == OpKind::Register => {
                Some(self.register(instruction.op1_register()).scaled(instruction.immediate(2) as i64))
            }
            _ => None,
        }
    }

    fn writes(&self, number: u8) -> bool {
        matches!(Storage::of(self.instruction().op0_register()), Some(Storage::Register { number: own, .. }) if own == number)
    }

    fn plus(&self, register: Register, constant: i64) -> Option<Form> {
        let mut form = self.register(register);
        form.constant = form.constant.wrapping_add(constant);
        Some(form)
    }

    fn sum(&self, times: i64) -> Option<Form> {
        let instruction = self.instruction();
        if instruction.op0_kind() != OpKind::Register {
            return None;
        }
        let mut form = self.register(instruction.op0_register());
        match instruction.op1_kind() {
            OpKind::Register => form.add(&self.register(instruction.op1_register()), times),
            _ if is_immediate(instruction, 1) => {
                form.add(&Form::constant(instruction.immediate(1) as i64), times);
            }
            _ => return None,
        }
        Some(form)
    }

    fn address(&self) -> Form {
        let instruction = self.instruction();
        if instruction.is_ip_rel_memory_operand() {
            return Form::constant(instruction.ip_rel_memory_address() as i64);
        }
        let mut form = Form::constant(instruction.memory_displacement64() as i64);
        if instruction.memory_base() != Register::None {
            form.add(&self.register(instruction.memory_base()), 1);
        }
        if instruction.memory_index() != Register::None {
            let scale = i64::from(instruction.memory_index_scale());
            form.add(&self.register(instruction.memory_index()), scale);
        }
        form
    }

    fn copied(&self) -> Option<Form> {
        let instruction = self.instruction();
        if instruction.op0_kind() != OpKind::Register || instruction.op0_register().size() < 4 {
            return None;
        }
        if instruction.mnemonic() == Mnemonic::Pop {
            return self.loaded();
        }
        match instruction.op1_kind() {
            OpKind::Register => Some(self.register(instruction.op1_register())),
            OpKind::Memory => self.loaded(),
            _ => Some(Form::constant(instruction.immediate(1) as i64)),
        }
    }

    /// A load from the global offset table, or of a spilled value.
    fn loaded(&self) -> Option<Form> {
        let instruction = self.instruction();
        if instruction.mnemonic() != Mnemonic::Pop && instruction.is_ip_rel_memory_operand() {
            let slot = instruction.ip_rel_memory_address();
            if !self.program.is_offset_table(slot) {
                return None;
            }
            return Some(match self.program.word(slot) {
                Some(address) => Form::constant(address as i64),
                None => Form::root(self.flow.forms.borrow_mut().root_number(Root::Offset(slot))),
            });
        }
        if !self.flow.through_slots {
            return None;
        }
        let place = self.flow.operand_places[self.index as usize].iter().flatten().next()?;
        let Storage::Slot { at, .. } = *place else { return None };
        let definitions = self.flow.reaching(self.function, self.index, *place);
        if let [store] = definitions[..]
            && store != ENTRY
            && self.depth < MAX_DEPTH
            && let Some(form) = (Context { index: store, depth: self.depth + 1, ..*self }).stored()
        {
            return Some(form);
        }
        let root = Root::Slot { at, definitions: definitions.to_vec() };
        Some(Form::root(self.flow.forms.borrow_mut().root_number(root)))
    }

    /// The form of what a store writes.
    fn stored(&self) -> Option<Form> {
        let instruction = self.instruction();
        let source = match instruction.mnemonic() {
            Mnemonic::Push => 0,
            Mnemonic::Mov => 1,
            _ => return None,
        };
        match instruction.op_kind(source) {
            OpKind::Register => Some(self.register(instruction.op_register(source))),
            _ if is_immediate(instruction, source) => {
                Some(Form::constant(instruction.immediate(source) as i64))
            }
            _ => None,
        }
    }
}

pub(super) fn is_immediate(instruction: &Instruction, operand: u32) -> bool {
    operand < instruction.op_count()
        && matches!(
            instruction.op_kind(operand),
            OpKind::Immediate8
                | OpKind::Immediate8to16
                | OpKind::Immediate8to32
                | OpKind::Immediate8to64
                | OpKind::Immediate16
                | OpKind::Immediate32
                | OpKind::Immediate32to64
                | OpKind::Immediate64
        )
}
