//! Finds reads that no probe announces: those of structs that are passed by value.
//!
//! A compiler puts a probe before each access of its intermediate code. Passing a struct by value
//! is no access there, but an operand of the call. gcc loads such a struct into registers or copies
//! it onto the stack right before the call, and clang copies it onto the stack, both without a
//! probe. (rustc copies it to the frame first, with a probe.)
//!
//! The search goes through each function that calls probes, from label to label. It numbers values,
//! so that two computations of one address have one number: unoptimised code computes the address
//! for the probe and again for the access. A load is *silent* if it reads memory that the program
//! can write, not the frame, and no probe since the last label has announced it. A silent load
//! counts if its value is an argument, in a register or on the stack, of the next call.
//!
//! Not found: structs in the frame of the caller, though other threads may have their address;
//! loads that a jump separates from the call. A silent load may be of memory that no other thread
//! writes to.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register, UsedMemory,
};

use crate::calls::Targets;
use crate::flow::announced;
use crate::module::Module;

const PROBE: &str = "__tsan_";
/// Gives the address of a thread's own variable.
const THREAD_LOCAL: &str = "__tls_get_addr";

/// Arguments are passed in these registers.
const ARGUMENTS: [Register; 14] = [
    Register::RDI,
    Register::RSI,
    Register::RDX,
    Register::RCX,
    Register::R8,
    Register::R9,
    Register::ZMM0,
    Register::ZMM1,
    Register::ZMM2,
    Register::ZMM3,
    Register::ZMM4,
    Register::ZMM5,
    Register::ZMM6,
    Register::ZMM7,
];

/// A call keeps these registers.
const KEPT: [Register; 7] =
    [Register::RBX, Register::RBP, Register::RSP, Register::R12, Register::R13, Register::R14, Register::R15];

/// Probes announce at most this many bytes if their length is not a constant.
const ANY_LENGTH: i64 = i64::MAX / 4;

impl Module {
    /// The addresses of calls that get a struct by value, which the program reads from shared
    /// memory or through a pointer without announcing it. Sorted.
    pub fn silent_arguments(&self) -> Vec<u64> {
        let targets = self.targets(|name| name.starts_with(PROBE) || name == THREAD_LOCAL);
        let calls_probe = |i: &Instruction| {
            i.mnemonic() == Mnemonic::Call && targets.of(i).is_some_and(|name| name.starts_with(PROBE))
        };
        let mut constant = self.offset_tables();
        constant.extend(self.relocated_constants());
        let mut found = Vec::new();
        for (range, name) in self.raw_functions() {
            if range.end - range.start > MOST_CODE || name.is_some_and(is_left_out) {
                continue;
            }
            let instructions = self.decoded(&range);
            if instructions.iter().any(calls_probe) {
                let walk = Walk::new(self, &targets, &constant, range);
                found.extend(walk.through(&instructions));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn decoded(&self, range: &Range<u64>) -> Vec<Instruction> {
        let Some(code) = self.code_from(range.start) else { return Vec::new() };
        let code = &code[..code.len().min((range.end - range.start) as usize)];
        let mut decoder = Decoder::with_ip(64, code, range.start, DecoderOptions::NONE);
        decoder.iter().collect()
    }
}

/// Probes themselves; functions that rustc compiled, which has no such reads; functions of the C++
/// library, whose own reads by value are of what it does not share (`std::thread::joinable` without
/// optimisation).
fn is_left_out(raw: &str) -> bool {
    const OF_LIBRARY: [&str; 9] = ["St", "Sa", "Sb", "Ss", "Si", "So", "Sd", "9__gnu_cxx", "10__cxxabiv1"];
    if raw.starts_with(PROBE) || raw.starts_with("_R") {
        return true;
    }
    let Some(path) = raw.strip_prefix("_Z") else { return false };
    // `Z` begins the name of a function that something local belongs to.
    let path = path.trim_start_matches('Z');
    let path = path.strip_prefix('N').unwrap_or(path).trim_start_matches(['K', 'V', 'r']);
    OF_LIBRARY.iter().any(|name| path.starts_with(name)) || is_legacy_rust(raw)
}

/// Whether a name ends in the hash that rustc adds: `17h`, sixteen digits, `E`.
fn is_legacy_rust(raw: &str) -> bool {
    let hash = raw.rfind("17h").and_then(|at| raw.get(at + 3..at + 20));
    hash.is_some_and(|h| h.ends_with('E') && h[..16].bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Larger functions are not looked at: symbols of that size are no functions.
const MOST_CODE: u64 = 4 << 20;

/// What a number is relative to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Root {
    /// Nothing: a constant or the address of a variable.
    Zero,
    /// The function's frame.
    Frame,
    /// A value that is not known.
    Value(u32),
}

/// A value: a known distance from a root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Number {
    root: Root,
    offset: i64,
}

/// Somewhere in the frame, or among the thread's own variables.
const FRAME: Number = Number { root: Root::Frame, offset: i64::MIN / 2 };

impl Number {
    fn plus(self, offset: i64) -> Number {
        Number { offset: self.offset.wrapping_add(offset), ..self }
    }
}

/// How a value was computed, to give the same number to the same computation.
#[derive(PartialEq, Eq, Hash)]
enum Origin {
    Operation(u32, Vec<Number>),
    /// Two values, in a fixed order.
    Sum(Number, Number),
    Scaled(Number, u32),
    /// A word that nobody writes.
    Constant(i64, usize),
}

/// The walk through one function.
struct Walk<'a> {
    module: &'a Module,
    targets: &'a Targets,
    constant: &'a [Range<u64>],
    range: Range<u64>,
    factory: InstructionInfoFactory,
    next: u32,
    origins: HashMap<Origin, u32>,
    registers: HashMap<Register, Number>,
    /// Words of the frame, by offset and size.
    slots: HashMap<(i64, usize), Number>,
    /// What probes have announced since the last label: where, and how many bytes.
    announced: Vec<(Number, i64)>,
    /// Values that come from silent loads since the last call.
    silent: HashSet<u32>,
    /// Such a value is on the stack.
    is_on_stack: bool,
    /// The sizes of all silent loads since the last call.
    silent_sizes: Vec<usize>,
    /// How many bytes the last call announced, if that was a probe and none of these were read
    /// since.
    unread: Option<i64>,
    has_frame_pointer: bool,
    /// Registers that calls keep and that have one value in the whole function.
    steady: HashMap<Register, Number>,
    /// The depth of the stack at labels.
    depths: HashMap<u64, Number>,
}

impl<'a> Walk<'a> {
    fn new(module: &'a Module, targets: &'a Targets, constant: &'a [Range<u64>], range: Range<u64>) -> Self {
        Walk {
            module,
            targets,
            constant,
            range,
            factory: InstructionInfoFactory::new(),
            next: 0,
            origins: HashMap::new(),
            registers: HashMap::new(),
            slots: HashMap::new(),
            announced: Vec::new(),
            silent: HashSet::new(),
            is_on_stack: false,
            silent_sizes: Vec::new(),
            unread: None,
            has_frame_pointer: false,
            steady: HashMap::new(),
            depths: HashMap::new(),
        }
    }

    fn through(mut self, instructions: &[Instruction]) -> Vec<u64> {
        let labels: HashSet<u64> = instructions.iter().filter_map(branch_target).collect();
        self.learn_steady_registers(instructions);
        self.registers.insert(Register::RSP, Number { root: Root::Frame, offset: 0 });
        let mut found = Vec::new();
        let mut is_cut_off = false;
        for instruction in instructions {
            if std::mem::take(&mut is_cut_off) || labels.contains(&instruction.ip()) {
                self.forget(instruction.ip());
            }
            if instruction.is_invalid() {
                self.forget(instruction.ip());
                continue;
            }
            match instruction.flow_control() {
                FlowControl::Call | FlowControl::IndirectCall => {
                    if self.call(instruction) {
                        found.push(instruction.ip());
                    }
                }
                FlowControl::Next => self.step(instruction),
                flow => {
                    is_cut_off = flow != FlowControl::ConditionalBranch;
                    if let Some(target) = branch_target(instruction) {
                        let depth = self.register(Register::RSP);
                        if !self.range.contains(&target) {
                            // A tail call.
                            found.extend(self.passes_silent().then_some(instruction.ip()));
                        }
                        self.depths.entry(target).or_insert(depth);
                    }
                }
            }
        }
        found
    }

    /// At a label: the paths that lead there have done different things.
    fn forget(&mut self, label: u64) {
        let depth = self.depths.get(&label).copied().unwrap_or(FRAME);
        let frame = self.registers.get(&Register::RBP).copied().filter(|n| n.root == Root::Frame);
        self.registers.clear();
        self.registers.insert(Register::RSP, depth);
        if self.has_frame_pointer {
            self.registers.insert(Register::RBP, frame.unwrap_or(FRAME));
        }
        self.slots.clear();
        self.announced.clear();
        self.silent.clear();
        self.silent_sizes.clear();
        self.is_on_stack = false;
        self.unread = None;
    }

    /// Whether `rbp` is a frame pointer, and which registers have one value in the whole function.
    /// Optimised code keeps addresses in registers, from before a loop to its end.
    fn learn_steady_registers(&mut self, instructions: &[Instruction]) {
        let is_frame = |r: Register| r == Register::RSP || r == Register::RBP;
        let mut others = HashSet::new();
        for instruction in instructions {
            let base = instruction.memory_base();
            let given = match instruction.mnemonic() {
                Mnemonic::Pop => continue,
                Mnemonic::Lea if instruction.memory_index() != Register::None => None,
                Mnemonic::Lea if is_frame(base) => Some(FRAME),
                Mnemonic::Lea if base == Register::RIP => {
                    Some(Number { root: Root::Zero, offset: instruction.memory_displacement64() as i64 })
                }
                Mnemonic::Mov if is_immediate(instruction.op1_kind()) => {
                    Some(Number { root: Root::Zero, offset: instruction.immediate(1) as i64 })
                }
                Mnemonic::Mov if instruction.op1_kind() == OpKind::Register => {
                    is_frame(instruction.op1_register()).then_some(FRAME)
                }
                _ => None,
            };
            if let Some(given) = given
                && instruction.op0_kind() == OpKind::Register
            {
                let to = instruction.op0_register().full_register();
                self.has_frame_pointer |= to == Register::RBP && given == FRAME;
                if *self.steady.entry(to).or_insert(given) != given {
                    others.insert(to);
                }
                continue;
            }
            for used in self.factory.info(instruction).used_registers() {
                if writes(used.access()) {
                    others.insert(used.register().full_register());
                }
            }
        }
        self.steady.retain(|r, _| KEPT.contains(r) && !others.contains(r));
    }

    fn fresh(&mut self) -> Number {
        self.next += 1;
        Number { root: Root::Value(self.next), offset: 0 }
    }

    /// The number of a computation.
    fn computed(&mut self, origin: Origin) -> Number {
        let next = self.next + 1;
        let id = *self.origins.entry(origin).or_insert(next);
        self.next = self.next.max(id);
        Number { root: Root::Value(id), offset: 0 }
    }

    fn register(&mut self, register: Register) -> Number {
        let full = register.full_register();
        if let Some(known) = self.registers.get(&full) {
            return *known;
        }
        let number = match self.steady.get(&full) {
            Some(steady) => *steady,
            None => self.fresh(),
        };
        self.registers.insert(full, number);
        number
    }

    /// The address of an operand in memory. None for thread-local memory.
    fn place(&mut self, memory: &UsedMemory) -> Option<Number> {
        if matches!(memory.segment(), Register::FS | Register::GS) {
            return None;
        }
        let displacement = memory.displacement() as i64;
        self.sum(memory.base(), memory.index(), memory.scale(), displacement)
    }

    fn sum(&mut self, base: Register, index: Register, scale: u32, offset: i64) -> Option<Number> {
        let zero = Number { root: Root::Zero, offset: 0 };
        let base = match base {
            // The displacement is the address already.
            Register::None | Register::RIP => zero,
            base => self.register(base),
        };
        if index == Register::None {
            return Some(base.plus(offset));
        }
        let index = self.register(index);
        Some(self.added(base, index, scale).plus(offset))
    }

    fn added(&mut self, base: Number, index: Number, scale: u32) -> Number {
        if index.root == Root::Zero {
            return base.plus(index.offset.wrapping_mul(i64::from(scale)));
        }
        let offset = base.offset.wrapping_add(index.offset.wrapping_mul(i64::from(scale)));
        let (base, index) = (Number { offset: 0, ..base }, Number { offset: 0, ..index });
        if base.root == Root::Frame || index.root == Root::Frame {
            return FRAME;
        }
        let zero = Number { root: Root::Zero, offset: 0 };
        let index = if scale == 1 { index } else { self.computed(Origin::Scaled(index, scale)) };
        if base == zero {
            return index.plus(offset);
        }
        self.computed(Origin::Sum(base.min(index), base.max(index))).plus(offset)
    }

    /// A call. Returns whether it gets a silent argument.
    fn call(&mut self, instruction: &Instruction) -> bool {
        let callee = self.targets.of(instruction);
        let passes = callee.is_none() && self.passes_silent();
        let before = self.announced.len();
        if let Some(name) = callee.and_then(|name| name.strip_prefix(PROBE)) {
            self.announce(name);
        }
        self.unread = (self.announced.len() > before).then(|| self.announced[before].1);
        self.silent.clear();
        self.silent_sizes.clear();
        self.is_on_stack = false;
        self.registers.retain(|register, _| KEPT.contains(register));
        if callee == Some(THREAD_LOCAL) {
            self.registers.insert(Register::RAX, FRAME);
        }
        passes
    }

    fn announce(&mut self, name: &str) {
        let (to, from) = (self.register(Register::RDI), self.register(Register::RSI));
        let constant = |n: Number| if n.root == Root::Zero { n.offset } else { ANY_LENGTH };
        if matches!(name, "memcpy" | "memmove") {
            let length = self.register(Register::RDX);
            self.announced.push((from, constant(length)));
            self.announced.push((to, constant(length)));
        } else if let Some(announced) = announced(name) {
            let size = if announced.size == 0 { constant(from) } else { i64::from(announced.size) };
            self.announced.push((to, size));
        }
    }

    fn passes_silent(&self) -> bool {
        // The address of a probe may have been computed before the last label. Then the one load
        // after it is the one that it announces.
        if let ([size], Some(unread)) = (&self.silent_sizes[..], self.unread)
            && *size as i64 == unread
        {
            return false;
        }
        self.is_on_stack
            || ARGUMENTS.iter().any(|r| self.registers.get(r).is_some_and(|n| self.is_silent(*n)))
    }

    fn is_silent(&self, number: Number) -> bool {
        matches!(number.root, Root::Value(id) if self.silent.contains(&id))
    }

    /// Whether a read of `size` bytes there is neither announced nor of memory that nobody writes.
    fn reads_silently(&self, place: Number, size: usize) -> bool {
        place.root != Root::Frame && !self.is_constant(place) && !self.is_announced(place, size)
    }

    fn is_announced(&self, place: Number, size: usize) -> bool {
        // Several probes may announce the parts of one load.
        let mut parts: Vec<(i64, i64)> = self
            .announced
            .iter()
            .filter(|(start, _)| start.root == place.root)
            .map(|(start, length)| (start.offset, start.offset.saturating_add(*length)))
            .collect();
        parts.sort_unstable();
        let mut reached = place.offset;
        for (start, end) in parts {
            if start <= reached {
                reached = reached.max(end);
            }
        }
        reached >= place.offset.saturating_add(size as i64)
    }

    fn is_constant(&self, place: Number) -> bool {
        let address = place.offset as u64;
        place.root == Root::Zero
            && (!self.module.is_writable(address)
                || self.constant.iter().any(|range| range.contains(&address)))
    }

    /// An instruction that is no jump and no call.
    fn step(&mut self, instruction: &Instruction) {
        let info = self.factory.info(instruction);
        let memory: Vec<UsedMemory> = info.used_memory().to_vec();
        let written: Vec<Register> = info
            .used_registers()
            .iter()
            .filter(|used| writes(used.access()))
            .map(|used| used.register().full_register())
            .collect();
        let read: Vec<Register> = info
            .used_registers()
            .iter()
            .filter(|used| reads(used.access()))
            .map(|used| used.register())
            .collect();
        if instruction.is_string_instruction() {
            return self.copy(instruction, &written);
        }
        let mut is_silent =
            read.iter().any(|r| self.registers.get(&r.full_register()).is_some_and(|n| self.is_silent(*n)));
        let mut loaded = None;
        let mut stores = Vec::new();
        for used in &memory {
            let place = self.place(used);
            let size = used.memory_size().size();
            if reads(used.access())
                && let Some(place) = place
            {
                if self.reads_silently(place, size) {
                    is_silent = true;
                    self.silent_sizes.push(size);
                } else if self.announced.last().is_some_and(|last| is_within(place, size, last)) {
                    self.unread = None;
                }
                loaded = Some((place, size));
            }
            if writes(used.access())
                && let Some(place) = place
            {
                stores.push((place, size));
            }
        }
        let result = self.result(instruction, &memory, loaded, is_silent);
        for (place, size) in stores {
            self.store(instruction, place, size, is_silent);
        }
        self.assign(instruction, &written, result, is_silent);
    }

    /// A copy of many words, or another string instruction.
    fn copy(&mut self, instruction: &Instruction, written: &[Register]) {
        use Mnemonic::{Movsb, Movsd, Movsq, Movsw};
        let (to, from) = (self.register(Register::RDI), self.register(Register::RSI));
        if matches!(instruction.mnemonic(), Movsb | Movsw | Movsd | Movsq) {
            self.is_on_stack |= to.root == Root::Frame && self.reads_silently(from, 1);
        }
        if to.root == Root::Frame {
            self.slots.clear();
        }
        for register in written {
            let number = self.fresh();
            self.registers.insert(*register, number);
        }
    }

    /// The value that an instruction computes for its first operand.
    fn result(
        &mut self,
        instruction: &Instruction,
        memory: &[UsedMemory],
        loaded: Option<(Number, usize)>,
        is_silent: bool,
    ) -> Number {
        use Mnemonic::{Add, Lea, Mov, Shl, Sub};
        let is_wide = instruction.op0_register().size() == 8;
        match instruction.mnemonic() {
            Lea => {
                let offset = instruction.memory_displacement64() as i64;
                let (base, index) = (instruction.memory_base(), instruction.memory_index());
                let sum = self.sum(base, index, instruction.memory_index_scale(), offset);
                return sum.unwrap_or_else(|| self.fresh());
            }
            Mov if instruction.op1_kind() == OpKind::Register && is_wide => {
                return self.register(instruction.op1_register());
            }
            Mov if is_immediate(instruction.op1_kind()) => {
                return Number { root: Root::Zero, offset: instruction.immediate(1) as i64 };
            }
            Add | Sub if is_wide && is_immediate(instruction.op1_kind()) => {
                let change = instruction.immediate(1) as i64;
                let change = if instruction.mnemonic() == Add { change } else { change.wrapping_neg() };
                return self.register(instruction.op0_register()).plus(change);
            }
            Add if is_wide && instruction.op1_kind() == OpKind::Register => {
                let (a, b) =
                    (self.register(instruction.op0_register()), self.register(instruction.op1_register()));
                return self.added(a, b, 1);
            }
            Shl if is_wide && is_immediate(instruction.op1_kind()) && instruction.immediate(1) < 32 => {
                let value = self.register(instruction.op0_register());
                let zero = Number { root: Root::Zero, offset: 0 };
                return self.added(zero, value, 1 << instruction.immediate(1));
            }
            _ => {}
        }
        if memory.iter().any(|m| matches!(m.segment(), Register::FS | Register::GS)) {
            return FRAME;
        }
        if let Some((place, size)) = loaded {
            let is_move = instruction.op_count() == 2 && instruction.op1_kind() == OpKind::Memory;
            return match (place.root, is_move && !is_silent) {
                (Root::Frame, true) => match self.slots.get(&(place.offset, size)) {
                    Some(known) => *known,
                    None => {
                        let number = self.fresh();
                        self.slots.insert((place.offset, size), number);
                        number
                    }
                },
                (Root::Zero, true) if self.is_constant(place) => {
                    self.computed(Origin::Constant(place.offset, size))
                }
                _ => self.fresh(),
            };
        }
        if !memory.is_empty() || is_silent {
            return self.fresh();
        }
        let info = self.factory.info(instruction);
        let used: Vec<u32> = (0..instruction.op_count()).filter(|i| reads(info.op_access(*i))).collect();
        let operands = used.into_iter().map(|i| self.operand(instruction, i)).collect();
        self.computed(Origin::Operation(instruction.code() as u32, operands))
    }

    fn operand(&mut self, instruction: &Instruction, i: u32) -> Number {
        match instruction.op_kind(i) {
            OpKind::Register => self.register(instruction.op_register(i)),
            kind if is_immediate(kind) => {
                Number { root: Root::Zero, offset: instruction.immediate(i) as i64 }
            }
            _ => self.fresh(),
        }
    }

    fn store(&mut self, instruction: &Instruction, place: Number, size: usize, is_silent: bool) {
        if place.root != Root::Frame {
            return;
        }
        self.is_on_stack |= is_silent;
        let end = place.offset.wrapping_add(size as i64);
        self.slots.retain(|(at, len), _| *at >= end || at.wrapping_add(*len as i64) <= place.offset);
        let is_move = instruction.mnemonic() == Mnemonic::Mov && instruction.op1_kind() == OpKind::Register;
        if is_move && !is_silent {
            let value = self.register(instruction.op1_register());
            self.slots.insert((place.offset, size), value);
        }
    }

    fn assign(&mut self, instruction: &Instruction, written: &[Register], result: Number, is_silent: bool) {
        let first = match instruction.op0_kind() {
            OpKind::Register => instruction.op0_register().full_register(),
            _ => Register::None,
        };
        for register in written {
            let number = match register {
                Register::RSP if instruction.stack_pointer_increment() != 0 => {
                    let depth = self.register(Register::RSP);
                    depth.plus(i64::from(instruction.stack_pointer_increment()))
                }
                register if *register == first && instruction.mnemonic() != Mnemonic::Pop => result,
                Register::RSP => FRAME,
                Register::RAX if matches!(instruction.mnemonic(), Mnemonic::Cdqe | Mnemonic::Cwde) => {
                    let from = self.register(Register::RAX);
                    self.computed(Origin::Operation(instruction.code() as u32, vec![from]))
                }
                _ => self.fresh(),
            };
            if is_silent && let Root::Value(id) = number.root {
                self.silent.insert(id);
            }
            self.registers.insert(*register, number);
        }
    }
}

fn is_within(place: Number, size: usize, (start, length): &(Number, i64)) -> bool {
    let within = place.offset.wrapping_sub(start.offset);
    start.root == place.root && within >= 0 && within.saturating_add(size as i64) <= *length
}

/// The target of a jump, or of a branch.
fn branch_target(instruction: &Instruction) -> Option<u64> {
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
    );
    (jumps && instruction.op0_kind() == OpKind::NearBranch64).then(|| instruction.near_branch_target())
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::*;
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::*;
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

fn is_immediate(kind: OpKind) -> bool {
    use OpKind::*;
    matches!(
        kind,
        Immediate8
            | Immediate16
            | Immediate32
            | Immediate64
            | Immediate8to16
            | Immediate8to32
            | Immediate8to64
            | Immediate32to64
    )
}
