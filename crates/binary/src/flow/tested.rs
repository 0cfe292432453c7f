//! From a conditional jump back to what it tests, as an [`Expression`] over shared reads.
//!
//! Only certain values are followed: a place with one definition. A callee is entered if all its
//! exits return the same expression, because getters and atomics are separate functions at `-O0`.

use std::rc::Rc;

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};

use super::data::ENTRY;
use super::effects::{Operand, is_zero};
use super::expression::{Expression, Operator, Predicate};
use super::function::MachineFunction;
use super::places::{ARGUMENTS, Cover, RAX, Storage};
use super::program::MachineProgram;
use super::specialise::{Constants, Live, constants};
use super::transfer::is_immediate;
use super::view::View;

/// The maximal length of a chain of definitions.
const MAX_DEPTH: u32 = 40;
/// All bytes of a value.
const WHOLE: u8 = 8;
/// The depth of nested calls to enter.
const MAX_CALLS: u32 = 3;

/// What the conditional jump tests: 1 if it is taken.
pub fn tested<'m>(
    program: &MachineProgram<'m>,
    function: &Rc<MachineFunction<'m>>,
    branch: u32,
) -> Option<Expression> {
    let view = View { program, function: function.clone() };
    let builder = Builder::new(&view, None, 0);
    let code = view.instruction(branch).condition_code();
    builder.condition(branch, code, 0)
}

/// A function in which expressions are built, and the call that entered it.
pub(super) struct Builder<'a, 'p, 'm> {
    pub(super) view: &'a View<'p, 'm>,
    caller: Option<(&'a Builder<'a, 'p, 'm>, u32)>,
    calls: u32,
    /// The constant arguments, and the part of the function that they leave live.
    constants: Constants,
    live: Option<Rc<Live>>,
}

impl<'a, 'p, 'm> Builder<'a, 'p, 'm> {
    pub(super) fn new(
        view: &'a View<'p, 'm>,
        caller: Option<(&'a Builder<'a, 'p, 'm>, u32)>,
        calls: u32,
    ) -> Self {
        let passed = |(outer, call): (&Builder, u32)| constants(outer.view, call, &outer.constants);
        let constants = caller.map(passed).unwrap_or_default();
        Self { view, caller, calls, constants, live: Live::of(view, &constants) }
    }

    /// For a function of which only constant arguments are known. Its own calls are not entered;
    /// otherwise a recursive function would be entered for ever.
    pub(super) fn with_constants(view: &'a View<'p, 'm>, constants: &Constants) -> Self {
        Self { view, caller: None, calls: MAX_CALLS, constants: *constants, live: None }
    }

    /// The condition of a jump or `set` at `index`.
    pub(super) fn condition(&self, index: u32, code: ConditionCode, depth: u32) -> Option<Expression> {
        let definition = self.view.only_definition(index, Storage::Flags)?;
        let instruction = self.view.instruction(definition);
        let (width, left, right) = match instruction.mnemonic() {
            Mnemonic::Cmp => (
                width(instruction, 0)?,
                self.operand(definition, 0, depth)?,
                self.operand(definition, 1, depth)?,
            ),
            Mnemonic::Bt => {
                let bit = self.operand(definition, 1, depth)?;
                let width = width(instruction, 0)?;
                let shifted =
                    operation(Operator::ShiftRight, width, self.operand(definition, 0, depth)?, bit);
                let low = operation(Operator::And, width, shifted, Expression::Constant(1));
                let predicate = match code {
                    ConditionCode::b => Predicate::NotEqual,
                    ConditionCode::ae => Predicate::Equal,
                    _ => return None,
                };
                return Some(comparison(predicate, width, low, Expression::Constant(0)));
            }
            // All other instructions set the flags by their result; carry and overflow are not
            // followed.
            mnemonic => {
                let result = if mnemonic == Mnemonic::Test {
                    self.binary(definition, Operator::And, WHOLE, depth)?
                } else {
                    self.computed(definition, WHOLE, depth)?
                };
                let predicate = match code {
                    ConditionCode::e => Predicate::Equal,
                    ConditionCode::ne => Predicate::NotEqual,
                    ConditionCode::s => Predicate::Less,
                    ConditionCode::ns => Predicate::GreaterOrEqual,
                    // `test` clears carry and overflow.
                    ConditionCode::le if mnemonic == Mnemonic::Test => Predicate::LessOrEqual,
                    ConditionCode::g if mnemonic == Mnemonic::Test => Predicate::Greater,
                    ConditionCode::l if mnemonic == Mnemonic::Test => Predicate::Less,
                    ConditionCode::ge if mnemonic == Mnemonic::Test => Predicate::GreaterOrEqual,
                    _ => return None,
                };
                return Some(comparison(predicate, width(instruction, 0)?, result, Expression::Constant(0)));
            }
        };
        Some(comparison(predicate_of(code, &right)?, width, left, right))
    }

    /// An operand of an instruction, as a value of its width.
    fn operand(&self, index: u32, operand: u32, depth: u32) -> Option<Expression> {
        let instruction = self.view.instruction(index);
        if depth > MAX_DEPTH {
            return None;
        }
        if is_immediate(instruction, operand) {
            return Some(Expression::Constant(instruction.immediate(operand)));
        }
        match instruction.op_kind(operand) {
            OpKind::Register => self.register(index, instruction.op_register(operand), depth + 1),
            OpKind::Memory => {
                let (operand, place) = self.view.operands(index).find(|(operand, _)| operand.reads)?;
                self.loaded(index, &operand, place, depth + 1)
            }
            _ => None,
        }
    }

    /// An operand of which only the low bytes are needed: after `setne %bl`, `%ebx` has no single
    /// definition.
    fn narrow(&self, index: u32, operand: u32, needed: u8, depth: u32) -> Option<Expression> {
        let instruction = self.view.instruction(index);
        let register = instruction.op_register(operand);
        if instruction.op_kind(operand) == OpKind::Register
            && let Some(Storage::Register { number, size }) = Storage::of(register)
            && needed < size
            && register.is_gpr()
            && depth <= MAX_DEPTH
        {
            return Some(low(
                self.place(index, Storage::Register { number, size: needed }, depth + 1)?,
                needed,
            ));
        }
        self.operand(index, operand, depth)
    }

    /// The value of a register before an instruction.
    pub(super) fn register(&self, index: u32, register: Register, depth: u32) -> Option<Expression> {
        let place = Storage::of(register).filter(|_| register.is_gpr())?;
        if is_high_byte(register) {
            let whole = self.place(index, Storage::of(register.full_register())?, depth)?;
            return Some(Expression::Part { from: 1, count: 1, of: Box::new(whole) });
        }
        let value = self.place(index, place, depth)?;
        Some(low(value, register.size() as u8))
    }

    /// The value of a place before an instruction. At least the bytes of the place are right.
    pub(super) fn place(&self, index: u32, place: Storage, depth: u32) -> Option<Expression> {
        let definitions = self.view.reaching(index, place);
        let mut alive = definitions.iter().copied().filter(|definition| self.is_live(*definition));
        let (Some(definition), None) = (alive.next(), alive.next()) else { return None };
        if definition == ENTRY {
            return self.parameter(place, depth);
        }
        let covered = self.view.data().effects[definition as usize]
            .definitions
            .iter()
            .any(|d| d.sure && d.place.covers(place) == Cover::All);
        if !covered {
            return None;
        }
        if self.view.is_call(definition) {
            return self.result(definition, place, depth + 1);
        }
        match place {
            Storage::Slot { at, size } => self.stored(definition, at, size, depth + 1),
            Storage::Register { size, .. } => self.computed(definition, size, depth + 1),
            _ => None,
        }
    }

    fn is_live(&self, definition: u32) -> bool {
        definition == ENTRY
            || self.live.as_ref().is_none_or(|live| live.is_live(&self.view.function, definition))
    }

    /// A parameter, if the call is known.
    fn parameter(&self, place: Storage, depth: u32) -> Option<Expression> {
        let Storage::Register { number, .. } = place else { return None };
        let argument = ARGUMENTS.iter().position(|register| *register == number)?;
        if let Some(constant) = self.constants[argument] {
            return Some(Expression::Constant(constant as u64));
        }
        let (caller, call) = self.caller?;
        caller.place(call, place, depth + 1)
    }

    /// The bytes from `at` on of what a store has written to the frame.
    fn stored(&self, index: u32, at: i32, size: u32, depth: u32) -> Option<Expression> {
        let instruction = self.view.instruction(index);
        let source = match instruction.mnemonic() {
            Mnemonic::Mov => 1,
            Mnemonic::Push => 0,
            _ => return None,
        };
        let written = self.view.operands(index).find_map(|(operand, place)| match place {
            Some(Storage::Slot { at, .. }) if operand.writes => Some(at),
            _ => None,
        })?;
        let value = self.operand(index, source, depth)?;
        let (from, count) = (u8::try_from(at - written).ok()?, u8::try_from(size).ok()?);
        Some(if from == 0 {
            low(value, count)
        } else {
            Expression::Part { from, count, of: Box::new(value) }
        })
    }

    /// What a load returns: a slot's value, or a shared read.
    fn loaded(
        &self,
        index: u32,
        operand: &Operand,
        place: Option<Storage>,
        depth: u32,
    ) -> Option<Expression> {
        if let Some(place @ Storage::Slot { .. }) = place {
            return self.place(index, place, depth);
        }
        if let Some(value) = self.in_caller(index, operand, depth) {
            return Some(value);
        }
        let read = self.view.shared_read(index, operand, place)?;
        (operand.size <= 8).then_some(Expression::Read { address: read.address, size: operand.size as u8 })
    }

    /// A load through a pointer parameter into the caller's frame.
    fn in_caller(&self, index: u32, operand: &Operand, depth: u32) -> Option<Expression> {
        let (caller, call) = self.caller?;
        let form = self.view.address(index, operand);
        let (register, distance) = self.view.data().forms.borrow().parameter(&form)?;
        let slot = caller.view.pointed_slot(call, register)?;
        let at = slot.checked_add(i32::try_from(distance).ok()?)?;
        caller.place(call, Storage::Slot { at, size: operand.size.max(1) }, depth + 1)
    }

    /// What a call returns.
    fn result(&self, call: u32, place: Storage, depth: u32) -> Option<Expression> {
        if !matches!(place, Storage::Register { number: RAX, .. }) {
            return None;
        }
        if let Some(announced) = self.view.announced(call) {
            let read = self.view.read_by_call(call)?;
            let returns_it = !self.view.callee(call)?.probe()?.contains("compare_exchange");
            return (returns_it && announced.size <= 8)
                .then_some(Expression::Read { address: read.address, size: announced.size });
        }
        let entry = self.view.callee(call)?.entry?;
        if self.calls == MAX_CALLS || !self.view.program.is_worth_entering(entry) {
            return None;
        }
        let inner = View::new(self.view.program, entry)?;
        let builder = Builder::new(&inner, Some((self, call)), self.calls + 1);
        let mut values = inner.function.exits().filter(|exit| builder.is_live(*exit)).map(|exit| match inner
            .callee(exit)
        {
            Some(_) => builder.result(exit, place, depth + 1),
            None => builder.place(exit, place, depth + 1),
        });
        let first = values.next()??;
        values.all(|value| value.as_ref() == Some(&first)).then_some(first)
    }

    /// The result of an arithmetic instruction or a copy, of which the low `needed` bytes must be
    /// right.
    fn computed(&self, index: u32, needed: u8, depth: u32) -> Option<Expression> {
        let instruction = self.view.instruction(index);
        if depth > MAX_DEPTH {
            return None;
        }
        if is_zero(instruction) {
            return Some(Expression::Constant(0));
        }
        let one = |operator| {
            let value = self.operand(index, 0, depth)?;
            Some(operation(operator, width(instruction, 0)?, value, Expression::Constant(1)))
        };
        match instruction.mnemonic() {
            Mnemonic::Mov => self.narrow(index, 1, needed, depth),
            Mnemonic::Movzx => Some(low(self.operand(index, 1, depth)?, width(instruction, 1)?)),
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                Some(sign_extended(self.operand(index, 1, depth)?, width(instruction, 1)?))
            }
            Mnemonic::Cdqe => Some(sign_extended(self.register(index, Register::EAX, depth)?, 4)),
            Mnemonic::Cwde => Some(sign_extended(self.register(index, Register::AX, depth)?, 2)),
            Mnemonic::Pop => {
                let (operand, place) = self.view.operands(index).find(|(operand, _)| operand.reads)?;
                self.loaded(index, &operand, place, depth)
            }
            Mnemonic::Add => self.binary(index, Operator::Add, needed, depth),
            Mnemonic::Sub => self.binary(index, Operator::Subtract, needed, depth),
            Mnemonic::And => self.binary(index, Operator::And, needed, depth),
            Mnemonic::Or => self.binary(index, Operator::Or, needed, depth),
            Mnemonic::Xor => self.binary(index, Operator::Xor, needed, depth),
            Mnemonic::Shl => self.binary(index, Operator::ShiftLeft, needed, depth),
            Mnemonic::Shr => self.binary(index, Operator::ShiftRight, needed, depth),
            Mnemonic::Sar => self.binary(index, Operator::ShiftRightSigned, needed, depth),
            Mnemonic::Imul if instruction.op_count() == 2 => {
                self.binary(index, Operator::Multiply, needed, depth)
            }
            Mnemonic::Imul if instruction.op_count() == 3 => {
                let (left, right) = (self.operand(index, 1, depth)?, self.operand(index, 2, depth)?);
                Some(operation(Operator::Multiply, width(instruction, 0)?, left, right))
            }
            Mnemonic::Inc => one(Operator::Add),
            Mnemonic::Dec => one(Operator::Subtract),
            Mnemonic::Neg => {
                let value = self.operand(index, 0, depth)?;
                Some(operation(Operator::Subtract, width(instruction, 0)?, Expression::Constant(0), value))
            }
            Mnemonic::Not => {
                let value = self.operand(index, 0, depth)?;
                Some(operation(Operator::Xor, width(instruction, 0)?, value, Expression::Constant(u64::MAX)))
            }
            Mnemonic::Lea => self.address(index, depth),
            _ if is_set(instruction) => self.condition(index, instruction.condition_code(), depth + 1),
            _ => None,
        }
    }

    fn binary(&self, index: u32, operator: Operator, needed: u8, depth: u32) -> Option<Expression> {
        let instruction = self.view.instruction(index);
        let width = width(instruction, 0)?;
        let same = instruction.op0_kind() == OpKind::Register
            && instruction.op1_kind() == OpKind::Register
            && instruction.op0_register() == instruction.op1_register();
        // A right shift moves bits down from above. All other operations carry upwards only.
        let down = matches!(operator, Operator::ShiftRight | Operator::ShiftRightSigned);
        let needed = if down { WHOLE } else { needed };
        let left = self.narrow(index, 0, needed, depth)?;
        if same && matches!(operator, Operator::And | Operator::Or) {
            return Some(low(left, width));
        }
        Some(operation(operator, width, left, self.narrow(index, 1, needed, depth)?))
    }

    fn address(&self, index: u32, depth: u32) -> Option<Expression> {
        let instruction = self.view.instruction(index);
        let width = instruction.op0_register().size() as u8;
        if instruction.is_ip_rel_memory_operand() {
            return Some(Expression::Constant(instruction.ip_rel_memory_address()));
        }
        let mut sum = Expression::Constant(instruction.memory_displacement64());
        for (register, scale) in
            [(instruction.memory_base(), 1), (instruction.memory_index(), instruction.memory_index_scale())]
        {
            if register == Register::None {
                continue;
            }
            let value = self.register(index, register, depth + 1)?;
            let term = match scale {
                1 => value,
                _ => operation(Operator::Multiply, width, value, Expression::Constant(u64::from(scale))),
            };
            sum = match sum {
                Expression::Constant(0) => term,
                sum => operation(Operator::Add, width, sum, term),
            };
        }
        Some(sum)
    }
}

/// The bytes of an operand that is a register or memory.
fn width(instruction: &Instruction, operand: u32) -> Option<u8> {
    let size = match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size(),
        OpKind::Memory => instruction.memory_size().size(),
        _ => return None,
    };
    u8::try_from(size).ok().filter(|size| (1..=8).contains(size))
}

/// `sete %al` and similar instructions.
fn is_set(instruction: &Instruction) -> bool {
    instruction.condition_code() != ConditionCode::None
        && instruction.op_count() == 1
        && matches!(instruction.op0_kind(), OpKind::Register | OpKind::Memory)
}

fn is_high_byte(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}

fn low(value: Expression, count: u8) -> Expression {
    match &value {
        Expression::Comparison { .. } => value,
        Expression::Read { size, .. } if *size <= count => value,
        Expression::Part { from: 0, count: own, .. } if *own <= count => value,
        Expression::Operation { width, .. } if *width <= count => value,
        Expression::Constant(_) if count == 8 => value,
        _ => Expression::Part { from: 0, count, of: Box::new(value) },
    }
}

fn sign_extended(value: Expression, from: u8) -> Expression {
    Expression::SignExtended { from, of: Box::new(value) }
}

fn operation(operator: Operator, width: u8, left: Expression, right: Expression) -> Expression {
    Expression::Operation { operator, width, left: Box::new(left), right: Box::new(right) }
}

fn comparison(predicate: Predicate, width: u8, left: Expression, right: Expression) -> Expression {
    Expression::Comparison { predicate, width, left: Box::new(left), right: Box::new(right) }
}

/// The meaning of a condition code after `cmp left, right`. The sign alone is that of the
/// difference. It is known to be the sign of the left side only if the right side is zero.
fn predicate_of(code: ConditionCode, right: &Expression) -> Option<Predicate> {
    let zero = *right == Expression::Constant(0);
    Some(match code {
        ConditionCode::e => Predicate::Equal,
        ConditionCode::ne => Predicate::NotEqual,
        ConditionCode::l => Predicate::Less,
        ConditionCode::le => Predicate::LessOrEqual,
        ConditionCode::g => Predicate::Greater,
        ConditionCode::ge => Predicate::GreaterOrEqual,
        ConditionCode::b => Predicate::Below,
        ConditionCode::be => Predicate::BelowOrEqual,
        ConditionCode::a => Predicate::Above,
        ConditionCode::ae => Predicate::AboveOrEqual,
        ConditionCode::s if zero => Predicate::Less,
        ConditionCode::ns if zero => Predicate::GreaterOrEqual,
        _ => return None,
    })
}
