//! What registers and stack slots hold along straight-line code, as linear forms over symbols.
//!
//! A symbol is a value that is not decomposed further. At each block with more than one
//! predecessor, the analysis starts with new symbols. So an instruction is passed at most once
//! between two uses of a symbol, and no symbol stands for two values. Two equal forms are therefore
//! equal addresses. (`form` and `transfer` serve the slicer, which may be wrong at times; this
//! module may not.)

use iced_x86::{
    Instruction, InstructionInfoFactory, MemorySize, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};
use rustc_hash::FxHashMap as HashMap;

use super::form::Form;
use super::places::CLOBBERED;

const RSP: usize = 4;
const RBP: usize = 5;
/// A form with more terms becomes a new symbol.
const MOST_TERMS: usize = 4;

/// Eight or four bytes of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot {
    /// The symbol of rsp or rbp where the analysis started.
    base: u32,
    at: i64,
    size: i64,
}

#[derive(Debug, Clone)]
pub(super) struct Values {
    registers: [Form; 16],
    slots: Vec<(Slot, Form)>,
    /// The symbols that slots are relative to.
    bases: [u32; 2],
    /// Whether slots are followed.
    frame: FrameState,
}

/// What is known about a function's frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameState {
    /// The frame's address is used for more than direct accesses, so other code may write to the
    /// frame.
    Shared,
    /// Only the function itself accesses the frame, relative to rsp.
    Own,
    /// The same, also relative to rbp.
    OwnWithPointer,
}

/// The symbols of one function.
pub(super) struct Symbols {
    count: u32,
    results: HashMap<(iced_x86::Code, Vec<Form>, u64), u32>,
    info: InstructionInfoFactory,
}

impl Symbols {
    pub(super) fn new() -> Self {
        Self { count: 0, results: HashMap::default(), info: InstructionInfoFactory::new() }
    }

    fn fresh(&mut self) -> Form {
        self.count += 1;
        Form::root(self.count - 1)
    }

    /// The result of an operation. The same operation on the same values has the same result.
    fn result(&mut self, operation: (iced_x86::Code, Vec<Form>, u64)) -> Form {
        let count = &mut self.count;
        let symbol = *self.results.entry(operation).or_insert_with(|| {
            *count += 1;
            *count - 1
        });
        Form::root(symbol)
    }

    /// The addresses that an instruction accesses, except those of globals and of the frame, which
    /// are always mapped.
    pub(super) fn touched(&mut self, instruction: &Instruction, values: &Values) -> Vec<Form> {
        let address = |memory: &UsedMemory| {
            let mut form = Form::constant(memory.displacement() as i64);
            for (register, times) in [(memory.base(), 1), (memory.index(), i64::from(memory.scale()))] {
                if let Some(n) = number(register) {
                    form.add(&values.registers[n], times);
                }
            }
            form
        };
        let touches = |memory: &&UsedMemory| {
            memory.access() != OpAccess::NoMemAccess && number(memory.base()) != Some(RSP)
        };
        let used = self.info.info(instruction).used_memory().iter().filter(touches).map(address);
        used.filter(|form| !form.terms.is_empty() && values.slot(form, 8).is_none()).collect()
    }

    /// Processes one instruction that is not a call.
    pub(super) fn pass(&mut self, instruction: &Instruction, values: &mut Values) {
        let before = Before::new(instruction, values);
        let exact = self.exact(instruction, values);
        let info = self.info.info(instruction);
        let written: Vec<usize> = info
            .used_registers()
            .iter()
            .filter(|used| writes(used.access()))
            .filter_map(|used| number(used.register()))
            .collect();
        let stores: Vec<UsedMemory> =
            info.used_memory().iter().filter(|used| writes(used.access())).copied().collect();
        for store in stores {
            values.store(instruction, &store, &before);
        }
        for register in written {
            values.registers[register] = match &exact {
                Some((known, form)) if *known == register => form.clone(),
                _ if register == RSP => match moved_stack(instruction, &before) {
                    Some(form) => form,
                    None => self.fresh(),
                },
                _ => self.fresh(),
            };
            if register == RSP && values.slot(&values.registers[RSP], 8).is_none() {
                // rsp was realigned, or moved by an unknown amount.
                values.frame = FrameState::Shared;
                values.slots.clear();
            }
        }
        self.stored_value(instruction, values, &before);
    }

    /// Processes a call. `keeps_frame`: it does not touch the frame.
    pub(super) fn pass_call(&mut self, values: &mut Values, keeps_frame: bool) {
        for register in CLOBBERED {
            values.registers[usize::from(register)] = self.fresh();
        }
        let top = values.slot(&values.registers[RSP], 8);
        match top.filter(|_| keeps_frame) {
            Some(top) => values.slots.retain(|(slot, _)| slot.base != top.base || slot.at >= top.at),
            None => values.slots.clear(),
        }
    }

    /// The register whose new value is known exactly, and the value.
    fn exact(&mut self, instruction: &Instruction, values: &mut Values) -> Option<(usize, Form)> {
        use Mnemonic::{Add, Dec, Inc, Lea, Leave, Mov, Pop, Shl, Sub, Xor};
        let mnemonic = instruction.mnemonic();
        if mnemonic == Leave {
            // `moved_stack` handles rsp.
            let slot = values.slot(&values.registers[RBP], 8)?;
            return Some((RBP, self.load(values, slot)));
        }
        if instruction.op_count() == 0 || instruction.op0_kind() != OpKind::Register {
            return None;
        }
        let to = instruction.op0_register();
        let register = number(to)?;
        let wide = to.size() == 8;
        if mnemonic == Pop && wide && register != RSP {
            let slot = values.slot(&values.registers[RSP], 8)?;
            return Some((register, self.load(values, slot)));
        }
        if !wide && to.size() != 4 {
            return None;
        }
        let second = (instruction.op_count() > 1).then(|| instruction.op1_kind());
        let form = match (mnemonic, second) {
            (Mov, Some(OpKind::Memory)) => {
                let slot = values.slot(&values.address(instruction)?, to.size() as i64)?;
                self.load(values, slot)
            }
            (Mov, Some(OpKind::Register)) if wide => values.value(instruction.op1_register())?,
            (Mov, Some(kind)) if is_immediate(kind) => {
                let value = instruction.immediate(1) as i64;
                Form::constant(if wide { value } else { i64::from(value as u32) })
            }
            (Lea, _) if wide => values.address(instruction)?,
            (Xor, Some(OpKind::Register)) if to == instruction.op1_register() => Form::constant(0),
            (Add | Sub, Some(kind)) if wide && (kind == OpKind::Register || is_immediate(kind)) => {
                let times = if mnemonic == Add { 1 } else { -1 };
                let other = match kind {
                    OpKind::Register => values.value(instruction.op1_register())?,
                    _ => Form::constant(instruction.immediate(1) as i64),
                };
                values.registers[register].plus(&other, times)
            }
            (Inc, _) if wide => values.registers[register].plus(&Form::constant(1), 1),
            (Dec, _) if wide => values.registers[register].plus(&Form::constant(1), -1),
            (Shl, Some(OpKind::Immediate8)) if wide && instruction.immediate(1) < 8 => {
                values.registers[register].scaled(1 << instruction.immediate(1))
            }
            _ => self.computed(instruction, values)?,
        };
        Some((register, if form.terms.len() <= MOST_TERMS { form } else { self.fresh() }))
    }

    /// The result of an operation on registers and constants only.
    fn computed(&mut self, instruction: &Instruction, values: &Values) -> Option<Form> {
        use Mnemonic::*;
        let mnemonic = instruction.mnemonic();
        let replaces = matches!(mnemonic, Mov | Movsx | Movzx | Movsxd | Lea)
            || (mnemonic == Imul && instruction.op_count() == 3);
        let known = replaces
            || matches!(mnemonic, Add | Sub | And | Or | Xor | Shl | Shr | Sar | Neg | Not | Inc | Dec)
            || (mnemonic == Imul && instruction.op_count() == 2);
        if !known {
            return None;
        }
        let mut inputs = Vec::new();
        let mut constant = 0;
        for operand in 0..instruction.op_count() {
            match instruction.op_kind(operand) {
                OpKind::Register if operand == 0 && replaces => {}
                OpKind::Register => inputs.push(values.part(instruction.op_register(operand))?),
                OpKind::Memory if mnemonic == Lea => inputs.push(values.address(instruction)?),
                kind if is_immediate(kind) => constant = instruction.immediate(operand),
                _ => return None,
            }
        }
        Some(self.result((instruction.code(), inputs, constant)))
    }

    fn load(&mut self, values: &mut Values, slot: Slot) -> Form {
        if let Some((_, form)) = values.slots.iter().find(|(known, _)| *known == slot) {
            return form.clone();
        }
        let form = self.fresh();
        values.slots.push((slot, form.clone()));
        form
    }

    /// Remembers what a slot holds after a `mov` or `push`.
    fn stored_value(&mut self, instruction: &Instruction, values: &mut Values, before: &Before) {
        let Some(value) = before.stored.clone() else { return };
        let slot = if instruction.mnemonic() == Mnemonic::Push {
            values.slot(&values.registers[RSP], 8)
        } else {
            let size = instruction.memory_size().size() as i64;
            before.address.as_ref().and_then(|form| values.slot(form, size))
        };
        let Some(slot) = slot else { return };
        let form = match (stored_register(instruction).size(), slot.size) {
            (8, 8) => value,
            // A later load extends it.
            (4, 4) => self.result((iced_x86::Code::Mov_r32_rm32, vec![value], 0)),
            _ => return,
        };
        values.slots.retain(|(known, _)| *known != slot);
        values.slots.push((slot, form));
    }
}

/// The values before an instruction.
struct Before {
    rsp: Form,
    rbp: Form,
    /// The address of its memory operand.
    address: Option<Form>,
    /// The value that it stores, if that comes from a register.
    stored: Option<Form>,
}

impl Before {
    fn new(instruction: &Instruction, values: &Values) -> Self {
        let memory = (0..instruction.op_count()).any(|n| instruction.op_kind(n) == OpKind::Memory);
        let stored = number(stored_register(instruction)).map(|n| values.registers[n].clone());
        Self {
            rsp: values.registers[RSP].clone(),
            rbp: values.registers[RBP].clone(),
            address: if memory { values.address(instruction) } else { None },
            stored,
        }
    }
}

/// The register that `push` or `mov` to memory stores.
fn stored_register(instruction: &Instruction) -> Register {
    match instruction.mnemonic() {
        Mnemonic::Push => instruction.op0_register(),
        Mnemonic::Mov if instruction.op0_kind() == OpKind::Memory => instruction.op1_register(),
        _ => Register::None,
    }
}

impl Values {
    /// Nothing is known except the symbols.
    pub(super) fn new(symbols: &mut Symbols, frame: FrameState) -> Self {
        let registers: [Form; 16] = std::array::from_fn(|_| symbols.fresh());
        let bases = [registers[RSP].terms[0].0, registers[RBP].terms[0].0];
        Self { registers, slots: Vec::new(), bases, frame }
    }

    pub(super) fn register(&self, number: u8) -> &Form {
        &self.registers[usize::from(number)]
    }

    fn value(&self, register: Register) -> Option<Form> {
        (register.size() == 8).then(|| self.part(register)).flatten()
    }

    /// The whole register of which an operand is the low part.
    fn part(&self, register: Register) -> Option<Form> {
        let high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
        number(register).filter(|_| !high).map(|n| self.registers[n].clone())
    }

    /// The address of the memory operand.
    fn address(&self, instruction: &Instruction) -> Option<Form> {
        if matches!(instruction.memory_segment(), Register::FS | Register::GS) {
            return None;
        }
        if instruction.is_ip_rel_memory_operand() {
            return Some(Form::constant(instruction.ip_rel_memory_address() as i64));
        }
        let mut form = Form::constant(instruction.memory_displacement64() as i64);
        let scale = i64::from(instruction.memory_index_scale());
        for (register, times) in [(instruction.memory_base(), 1), (instruction.memory_index(), scale)] {
            if register != Register::None {
                form.add(&self.value(register)?, times);
            }
        }
        Some(form)
    }

    /// The symbols that the frame's addresses are relative to.
    fn bases(&self) -> &[u32] {
        match self.frame {
            FrameState::Shared => &[],
            FrameState::Own => &self.bases[..1],
            FrameState::OwnWithPointer => &self.bases,
        }
    }

    /// The slot at an address, if slots are followed and the address is one.
    fn slot(&self, address: &Form, size: i64) -> Option<Slot> {
        let [(base, 1)] = address.terms[..] else { return None };
        (self.bases().contains(&base) && matches!(size, 4 | 8)).then_some(Slot {
            base,
            at: address.constant,
            size,
        })
    }

    /// Forgets the slots that a store may have overwritten.
    fn store(&mut self, instruction: &Instruction, memory: &UsedMemory, before: &Before) {
        let pushes = instruction.stack_pointer_increment() < 0 && memory.base() == Register::RSP;
        let address = if pushes {
            let distance = i64::from(instruction.stack_pointer_increment());
            Some(before.rsp.plus(&Form::constant(distance), 1))
        } else {
            before.address.clone()
        };
        let of_frame = match &address {
            Some(form) => form.terms.iter().any(|term| self.bases().contains(&term.0)),
            None => [memory.base(), memory.index()].iter().any(|r| matches!(number(*r), Some(RSP | RBP))),
        };
        if !of_frame {
            // No other code has the address of the frame.
            return;
        }
        let size = memory.memory_size();
        let bytes = if size == MemorySize::Unknown { 0 } else { size.size() as i64 };
        match address.and_then(|form| self.slot(&form, 8)).filter(|_| bytes > 0) {
            Some(written) => self.slots.retain(|(slot, _)| {
                slot.base == written.base
                    && (slot.at + slot.size <= written.at || written.at + bytes <= slot.at)
            }),
            None => self.slots.clear(),
        }
    }
}

/// rsp after an instruction that moves it by a known amount.
fn moved_stack(instruction: &Instruction, before: &Before) -> Option<Form> {
    match instruction.mnemonic() {
        Mnemonic::Leave => Some(before.rbp.plus(&Form::constant(8), 1)),
        Mnemonic::Push | Mnemonic::Pop => {
            let distance = i64::from(instruction.stack_pointer_increment());
            Some(before.rsp.plus(&Form::constant(distance), 1))
        }
        _ => None,
    }
}

/// What the code of a function says about its frame. `is_probe`: whether a call announces an
/// access.
pub(super) fn frame_of(code: &[Instruction], is_probe: impl Fn(&Instruction) -> bool) -> FrameState {
    let copies_stack = |i: &Instruction| {
        i.mnemonic() == Mnemonic::Mov
            && i.op0_kind() == OpKind::Register
            && i.op1_kind() == OpKind::Register
            && i.op0_register() == Register::RBP
            && i.op1_register() == Register::RSP
    };
    let mut info = InstructionInfoFactory::new();
    let mut restores = |i: &Instruction| {
        let writes = info
            .info(i)
            .used_registers()
            .iter()
            .any(|used| writes(used.access()) && number(used.register()) == Some(RBP));
        !writes || copies_stack(i) || matches!(i.mnemonic(), Mnemonic::Pop | Mnemonic::Leave)
    };
    let copies = code.iter().filter(|i| copies_stack(i)).count();
    let has_pointer = copies == 1 && code.iter().all(&mut restores);
    let escapes = code.iter().enumerate().any(|(at, i)| {
        let is_frame = |register: Register| {
            number(register) == Some(RSP) || (has_pointer && number(register) == Some(RBP))
        };
        if matches!(i.mnemonic(), Mnemonic::Push | Mnemonic::Pop | Mnemonic::Leave)
            || (has_pointer && copies_stack(i))
        {
            return i.mnemonic() == Mnemonic::Push && number(i.op0_register()) == Some(RSP);
        }
        if i.mnemonic() == Mnemonic::Lea {
            let to_frame = number(i.op0_register()) == Some(RSP);
            let announced = i.op0_register() == Register::RDI && announces(&code[at + 1..], &is_probe);
            return (is_frame(i.memory_base()) || is_frame(i.memory_index())) && !to_frame && !announced;
        }
        // Used as an operand, not only in an address. `sub $8, %rsp` does not count: its first
        // operand is rsp.
        (0..i.op_count()).any(|operand| {
            i.op_kind(operand) == OpKind::Register
                && is_frame(i.op_register(operand))
                && !(operand == 0 && number(i.op_register(0)) == Some(RSP))
        })
    });
    match (escapes, has_pointer) {
        (true, _) => FrameState::Shared,
        (false, true) => FrameState::OwnWithPointer,
        (false, false) => FrameState::Own,
    }
}

/// Whether the code reaches a probe without another use of rdi.
fn announces(code: &[Instruction], is_probe: &impl Fn(&Instruction) -> bool) -> bool {
    let mut info = InstructionInfoFactory::new();
    for i in code {
        if super::function::is_call(i) {
            return is_probe(i);
        }
        let uses = info.info(i).used_registers().iter().any(|used| number(used.register()) == Some(7));
        if uses || i.flow_control() != iced_x86::FlowControl::Next {
            return false;
        }
    }
    false
}

fn writes(access: OpAccess) -> bool {
    !matches!(access, OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess)
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
    )
}

/// The number of the general register that contains this register.
fn number(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register().number())
}
