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
//! can write, not the frame, and no read probe has announced it since the last label and the last
//! call that is no such probe. A probe announces one read: a second one of the same bytes is silent.
//! A silent load counts if its value is an argument, in a register or on the stack, of the next
//! call, also behind a jump forwards.
//!
//! Not found: structs in the frame of the caller, though other threads may have their address;
//! loads that a jump backwards separates from the call. A silent load may be of memory that no other
//! thread writes to.

use std::collections::{HashMap, HashSet, VecDeque};
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

/// A load follows its probe soon. Earlier announcements are dropped, and loads of theirs are silent.
const MOST_ANNOUNCED: usize = 128;

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
        let constant = Constants { words: constant, tables: self.relocated_tables() };
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

/// Writable memory that nobody writes to after the loader.
struct Constants {
    words: Vec<Range<u64>>,
    /// Those of them that have arrays. An index may begin below 0, so that the address without it is
    /// before the array: of memory that borders on variables, none is here.
    tables: Vec<Range<u64>>,
}

/// What a probe of a read announces.
struct Announcement {
    at: Number,
    length: i64,
    /// Bytes of it were read, from the first to the last one.
    read: Option<Range<i64>>,
    /// It is the pointer to a virtual table.
    is_vptr: bool,
}

/// Where silent values are when a jump reaches its label.
#[derive(Default)]
struct Carried {
    registers: HashSet<Register>,
    is_on_stack: bool,
}

/// What a number is relative to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Root {
    /// Nothing: a constant.
    Zero,
    /// The module: the address of a variable.
    Image,
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
    constant: &'a Constants,
    range: Range<u64>,
    factory: InstructionInfoFactory,
    next: u32,
    origins: HashMap<Origin, u32>,
    registers: HashMap<Register, Number>,
    /// Words of the frame, by offset and size.
    slots: HashMap<(i64, usize), Number>,
    /// What probes have announced since the last label or other call.
    announced: VecDeque<Announcement>,
    /// Sums of an address in the module and an index.
    elements: HashSet<u32>,
    /// Addresses of virtual tables.
    vtables: HashSet<u32>,
    /// Values that come from silent loads since the last call.
    silent: HashSet<u32>,
    /// Such a value is on the stack.
    is_on_stack: bool,
    /// The addresses and sizes of all silent loads since the last call.
    silent_loads: Vec<(Number, usize)>,
    /// How many bytes the last call announced, if that was a probe of a read through a pointer and
    /// none of these were read since.
    unread: Option<i64>,
    has_frame_pointer: bool,
    /// Registers that calls keep and that have one value in the whole function.
    steady: HashMap<Register, Number>,
    /// The depth of the stack at labels.
    depths: HashMap<u64, Number>,
    /// What jumps carry to labels.
    carried: HashMap<u64, Carried>,
}

impl<'a> Walk<'a> {
    fn new(module: &'a Module, targets: &'a Targets, constant: &'a Constants, range: Range<u64>) -> Self {
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
            announced: VecDeque::new(),
            elements: HashSet::new(),
            vtables: HashSet::new(),
            silent: HashSet::new(),
            is_on_stack: false,
            silent_loads: Vec::new(),
            unread: None,
            has_frame_pointer: false,
            steady: HashMap::new(),
            depths: HashMap::new(),
            carried: HashMap::new(),
        }
    }

    fn through(mut self, instructions: &[Instruction]) -> Vec<u64> {
        let labels: HashSet<u64> = instructions.iter().filter_map(branch_target).collect();
        self.learn_steady_registers(instructions);
        self.registers.insert(Register::RSP, Number { root: Root::Frame, offset: 0 });
        let mut found = Vec::new();
        let mut is_cut_off = false;
        for instruction in instructions {
            let is_label = labels.contains(&instruction.ip());
            if is_label && !is_cut_off {
                self.carry(instruction.ip());
            }
            if std::mem::take(&mut is_cut_off) || is_label {
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
                            found.extend(self.passes_silent(None).then_some(instruction.ip()));
                        } else if target > instruction.ip() {
                            self.carry(target);
                        }
                        self.depths.entry(target).or_insert(depth);
                    }
                }
            }
        }
        found
    }

    /// Takes what is silent here to a label.
    fn carry(&mut self, label: u64) {
        if !self.passes_silent(None) {
            return;
        }
        let registers = ARGUMENTS.into_iter().filter(|r| self.holds_silent(*r)).collect::<Vec<_>>();
        let carried = self.carried.entry(label).or_default();
        carried.registers.extend(registers);
        carried.is_on_stack |= self.is_on_stack;
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
        self.silent_loads.clear();
        self.unread = None;
        let carried = self.carried.remove(&label).unwrap_or_default();
        self.is_on_stack = carried.is_on_stack;
        for register in carried.registers {
            let number = self.fresh();
            self.registers.insert(register, number);
            self.mark_silent(number);
        }
    }

    fn mark_silent(&mut self, number: Number) {
        if let Root::Value(id) = number.root {
            self.silent.insert(id);
        }
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
                    Some(Number { root: Root::Image, offset: instruction.memory_displacement64() as i64 })
                }
                Mnemonic::Mov if is_immediate(instruction.op1_kind()) => {
                    Some(self.literal(instruction.immediate(1) as i64))
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

    /// A number in the code. In a program with fixed addresses it may be one.
    fn literal(&self, offset: i64) -> Number {
        let is_address = self.module.is_fixed() && self.module.is_mapped(offset as u64);
        Number { root: if is_address { Root::Image } else { Root::Zero }, offset }
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
        let displacement = match base {
            // The displacement is the address already.
            Register::RIP => Number { root: Root::Image, offset },
            Register::None if index == Register::None => Number { root: Root::Image, offset },
            _ => self.literal(offset),
        };
        let mut sum = displacement;
        if !matches!(base, Register::None | Register::RIP) {
            let base = self.register(base);
            sum = self.added(base, displacement, 1);
        }
        if index != Register::None {
            let index = self.register(index);
            sum = self.added(sum, index, scale);
        }
        Some(sum)
    }

    fn added(&mut self, base: Number, index: Number, scale: u32) -> Number {
        if index.root == Root::Zero {
            return base.plus(index.offset.wrapping_mul(i64::from(scale)));
        }
        if base.root == Root::Zero && scale == 1 {
            return index.plus(base.offset);
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
        let sum = self.computed(Origin::Sum(base.min(index), base.max(index)));
        if let Root::Value(id) = sum.root
            && (self.is_of_image(base) || self.is_of_image(index))
        {
            self.elements.insert(id);
        }
        if let Root::Value(id) = sum.root
            && [base, index].iter().any(|n| matches!(n.root, Root::Value(id) if self.vtables.contains(&id)))
        {
            self.vtables.insert(id);
        }
        sum.plus(offset)
    }

    /// Whether a number has the address of a variable in it.
    fn is_of_image(&self, number: Number) -> bool {
        match number.root {
            Root::Image => true,
            Root::Value(id) => self.elements.contains(&id),
            Root::Zero | Root::Frame => false,
        }
    }

    /// A call. Returns whether it gets a silent argument.
    fn call(&mut self, instruction: &Instruction) -> bool {
        let callee = self.targets.of(instruction);
        if callee == Some(THREAD_LOCAL) {
            // No other thread runs meanwhile.
            self.registers.retain(|register, _| KEPT.contains(register));
            self.registers.insert(Register::RAX, FRAME);
            return false;
        }
        let through =
            (instruction.op0_kind() == OpKind::Register).then(|| instruction.op0_register().full_register());
        let passes = callee.is_none() && self.passes_silent(through);
        self.unread = None;
        match callee.and_then(|name| name.strip_prefix(PROBE)) {
            Some(name) => self.announce(name),
            None => self.announced.clear(),
        }
        self.silent.clear();
        self.silent_loads.clear();
        self.is_on_stack = false;
        self.registers.retain(|register, _| KEPT.contains(register));
        passes
    }

    /// A probe. Those of plain accesses keep what others have announced: the probes of a copy come
    /// before its loads and stores. An atomic operation is done inside its probe.
    fn announce(&mut self, name: &str) {
        let Some(probe) = announced(name).filter(|probe| !probe.atomic) else {
            if !name.starts_with("func_") {
                self.announced.clear();
            }
            return;
        };
        if !probe.reads {
            return;
        }
        let (at, length) = (self.register(Register::RDI), self.register(Register::RSI));
        let length = match (probe.size, length.root) {
            (0, Root::Zero) => length.offset,
            (0, _) => ANY_LENGTH,
            (size, _) => i64::from(size),
        };
        self.unread = matches!(at.root, Root::Value(_)).then_some(length);
        if self.announced.len() == MOST_ANNOUNCED {
            self.announced.pop_front();
        }
        let is_vptr = name.starts_with("vptr");
        self.announced.push_back(Announcement { at, length, read: None, is_vptr });
    }

    /// Whether a call now gets a silent argument. `through` has the address of the callee.
    fn passes_silent(&self, through: Option<Register>) -> bool {
        // The address of a probe may have been computed before the last label. Then the one load
        // after it is the one that it announces.
        if let ([(place, size)], Some(unread)) = (&self.silent_loads[..], self.unread)
            && matches!(place.root, Root::Value(_))
            && *size as i64 == unread
        {
            return false;
        }
        self.is_on_stack || ARGUMENTS.iter().any(|r| Some(*r) != through && self.holds_silent(*r))
    }

    fn holds_silent(&self, register: Register) -> bool {
        self.registers.get(&register).is_some_and(|number| self.is_silent(*number))
    }

    fn is_silent(&self, number: Number) -> bool {
        matches!(number.root, Root::Value(id) if self.silent.contains(&id))
    }

    /// Whether a read of `size` bytes there is neither announced nor of memory that nobody writes.
    fn reads_silently(&mut self, place: Number, size: usize) -> bool {
        place.root != Root::Frame && !self.is_constant(place) && !self.takes_announced(place, size)
    }

    /// Whether these bytes are announced, and some of them not yet read. Several probes may announce
    /// the parts of one load, and the loads of a copy may overlap.
    fn takes_announced(&mut self, place: Number, size: usize) -> bool {
        let end = place.offset.saturating_add(size as i64);
        let mut reached = place.offset;
        let mut is_new = false;
        let mut parts: Vec<&mut Announcement> = self
            .announced
            .iter_mut()
            .filter(|a| a.at.root == place.root && a.at.offset < end && a.end() > place.offset)
            .collect();
        parts.sort_by_key(|part| part.at.offset);
        for part in parts {
            if part.at.offset <= reached {
                reached = reached.max(part.end());
            }
            let bytes = part.at.offset.max(place.offset)..part.end().min(end);
            let read = part.read.get_or_insert(bytes.start..bytes.start);
            is_new |= bytes.start < read.start || bytes.end > read.end;
            *read = read.start.min(bytes.start)..read.end.max(bytes.end);
        }
        is_new && reached >= end
    }

    fn is_constant(&self, place: Number) -> bool {
        let address = place.offset as u64;
        let ranges = match place.root {
            Root::Image => &self.constant.words,
            Root::Value(id) if self.elements.contains(&id) => &self.constant.tables,
            Root::Value(id) => return self.vtables.contains(&id),
            Root::Zero | Root::Frame => return false,
        };
        !self.module.is_writable(address) || ranges.iter().any(|range| range.contains(&address))
    }

    /// Whether it is the pointer to a virtual table that a probe announced.
    fn is_vptr(&self, place: Number, size: usize) -> bool {
        size == 8 && self.announced.iter().any(|a| a.is_vptr && a.at == place)
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
        let read: Vec<Register> = (0..instruction.op_count())
            .filter(|i| instruction.op_kind(*i) == OpKind::Register && reads(info.op_access(*i)))
            .map(|i| instruction.op_register(i).full_register())
            .collect();
        if instruction.is_string_instruction() {
            return self.copy(instruction, &written);
        }
        // A struct is passed as it is. A sum is the address of a part of an object.
        let is_sum = matches!(instruction.mnemonic(), Mnemonic::Add | Mnemonic::Sub | Mnemonic::Lea);
        let mut is_silent = !is_sum && read.iter().any(|r| self.holds_silent(*r));
        let mut loaded = None;
        let mut is_vtable = false;
        let mut stores = Vec::new();
        for used in &memory {
            let place = self.place(used);
            let size = used.memory_size().size();
            if reads(used.access())
                && let Some(place) = place
            {
                is_vtable |= self.is_vptr(place, size);
                if self.reads_silently(place, size) {
                    is_silent |= !is_sum;
                    self.silent_loads.push((place, size));
                } else if self.announced.back().is_some_and(|last| last.has(place, size)) {
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
        if let Root::Value(id) = result.root
            && is_vtable
        {
            self.vtables.insert(id);
        }
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
        use Mnemonic::{Add, And, Lea, Mov, Or, Shl, Shr, Sub};
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
                return self.literal(instruction.immediate(1) as i64);
            }
            Add | Sub if is_wide && is_immediate(instruction.op1_kind()) => {
                let change = instruction.immediate(1) as i64;
                let change = match instruction.mnemonic() {
                    Add => self.literal(change),
                    _ => Number { root: Root::Zero, offset: change.wrapping_neg() },
                };
                let value = self.register(instruction.op0_register());
                return self.added(value, change, 1);
            }
            Add if is_wide && instruction.op1_kind() == OpKind::Register => {
                let (a, b) =
                    (self.register(instruction.op0_register()), self.register(instruction.op1_register()));
                return self.added(a, b, 1);
            }
            // Room for an array whose size is not known.
            Sub if is_wide && instruction.op1_kind() == OpKind::Register => {
                let (a, b) =
                    (self.register(instruction.op0_register()), self.register(instruction.op1_register()));
                if a.root == Root::Frame && b.root != Root::Frame {
                    return FRAME;
                }
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
                (Root::Image, true) if self.is_constant(place) => {
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
        let operands: Vec<Number> = used.into_iter().map(|i| self.operand(instruction, i)).collect();
        // An address that is rounded for the sake of alignment.
        if matches!(instruction.mnemonic(), And | Or | Shr) && operands.iter().any(|n| n.root == Root::Frame)
        {
            return FRAME;
        }
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
                Register::RSP if result.root != Root::Frame => FRAME,
                register if *register == first && instruction.mnemonic() != Mnemonic::Pop => result,
                Register::RSP => FRAME,
                Register::RAX if matches!(instruction.mnemonic(), Mnemonic::Cdqe | Mnemonic::Cwde) => {
                    let from = self.register(Register::RAX);
                    self.computed(Origin::Operation(instruction.code() as u32, vec![from]))
                }
                _ => self.fresh(),
            };
            if is_silent {
                self.mark_silent(number);
            }
            self.registers.insert(*register, number);
        }
    }
}

impl Announcement {
    fn end(&self) -> i64 {
        self.at.offset.saturating_add(self.length)
    }

    fn has(&self, place: Number, size: usize) -> bool {
        let end = place.offset.saturating_add(size as i64);
        self.at.root == place.root && self.at.offset <= place.offset && end <= self.end()
    }
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
