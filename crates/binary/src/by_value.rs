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
//! call that is no such probe. A probe announces one read: a second one of the same bytes is
//! silent. A silent load counts if its value is an argument, in a register or on the stack, of the
//! next call, also behind a jump forwards.
//!
//! The same walk finds [accesses of sizes that have no probe](odd_sizes).
//!
//! Not found: structs in the frame of the caller, though other threads may have their address;
//! loads that a jump backwards separates from the call. A silent load may be of memory that no
//! other thread writes to.

mod announcements;
mod instructions;
mod numbers;
mod odd_sizes;

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register,
};

use self::announcements::Announcement;
use self::numbers::{FRAME, Number, Origin, Root};
use crate::calls::Targets;
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

impl Module {
    /// The addresses of calls that get a struct by value, which the program reads from shared
    /// memory or through a pointer without announcing it. Sorted.
    pub fn silent_arguments(&self) -> Vec<u64> {
        let of_function =
            |walk: Walk<'_>, instructions: &[Instruction], name: Option<&str>, calls_probe: bool| {
                let is_of_interest = calls_probe && !name.is_some_and(is_left_out);
                if is_of_interest { walk.through(instructions).arguments } else { Vec::new() }
            };
        self.walked(of_function)
    }

    /// The addresses of writes, to memory that others may share, of a struct that a call has
    /// returned. gcc puts no probe before them. Nor does it before the writes of a function to the
    /// large struct that it returns itself: those behind a call are found as well, since the caller
    /// may have passed it the address of a variable. Sorted.
    pub fn silent_results(&self) -> Vec<u64> {
        let of_function =
            |walk: Walk<'_>, instructions: &[Instruction], name: Option<&str>, calls_probe: bool| {
                let is_of_interest = calls_probe && !name.is_some_and(is_left_out);
                if is_of_interest { walk.through(instructions).returned } else { Vec::new() }
            };
        self.walked(of_function)
    }

    /// What `of_function` finds in each function, which it gets with its name and whether it calls
    /// probes. Sorted.
    fn walked(
        &self,
        of_function: impl Fn(Walk<'_>, &[Instruction], Option<&str>, bool) -> Vec<u64>,
    ) -> Vec<u64> {
        let targets = self.targets(|name| name.starts_with(PROBE) || name == THREAD_LOCAL);
        let calls_probe = |i: &Instruction| {
            i.mnemonic() == Mnemonic::Call && targets.of(i).is_some_and(|name| name.starts_with(PROBE))
        };
        let mut constant = self.offset_tables();
        constant.extend(self.relocated_constants());
        let constant = Constants { words: constant, tables: self.relocated_tables() };
        let mut found = Vec::new();
        for (range, name) in self.raw_functions() {
            if range.end - range.start > MOST_CODE {
                continue;
            }
            let instructions = self.decoded(&range);
            let walk = Walk::new(self, &targets, &constant, range);
            found.extend(of_function(walk, &instructions, name, instructions.iter().any(calls_probe)));
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

fn is_rust(raw: &str) -> bool {
    raw.starts_with("_R") || is_legacy_rust(raw)
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
    /// Those of them that have arrays. An index may begin below 0, so that the address without it
    /// is before the array: of memory that borders on variables, none is here.
    tables: Vec<Range<u64>>,
}

/// What a walk has found.
#[derive(Default)]
struct Found {
    /// Calls that get a struct by value.
    arguments: Vec<u64>,
    /// Accesses of sizes that have no probe.
    odd: Vec<u64>,
    /// Writes of what a call has returned, without a probe.
    returned: Vec<u64>,
}

/// Where silent values are when a jump reaches its label.
#[derive(Default)]
struct Carried {
    registers: HashSet<Register>,
    is_on_stack: bool,
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
    /// The writes that probes have announced since the last label or other call.
    announced_writes: VecDeque<(Number, i64)>,
    /// The addresses and sizes of all silent stores since the last call.
    silent_stores: Vec<(Number, usize)>,
    /// Since the last label there was a call, and the last one was of no probe.
    is_after_call: bool,
    found: Found,
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
            announced_writes: VecDeque::new(),
            silent_stores: Vec::new(),
            is_after_call: false,
            found: Found::default(),
            unread: None,
            has_frame_pointer: false,
            steady: HashMap::new(),
            depths: HashMap::new(),
            carried: HashMap::new(),
        }
    }

    fn through(mut self, instructions: &[Instruction]) -> Found {
        let labels: HashSet<u64> = instructions.iter().filter_map(branch_target).collect();
        self.learn_steady_registers(instructions);
        self.registers.insert(Register::RSP, Number { root: Root::Frame, offset: 0 });
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
                        self.found.arguments.push(instruction.ip());
                    }
                }
                FlowControl::Next => self.step(instruction),
                flow => {
                    is_cut_off = flow != FlowControl::ConditionalBranch;
                    if let Some(target) = branch_target(instruction) {
                        let depth = self.register(Register::RSP);
                        if !self.range.contains(&target) {
                            // A tail call.
                            let passes = self.passes_silent(None);
                            self.found.arguments.extend(passes.then_some(instruction.ip()));
                        } else if target > instruction.ip() {
                            self.carry(target);
                        }
                        self.depths.entry(target).or_insert(depth);
                    }
                }
            }
        }
        self.found
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
        self.announced_writes.clear();
        self.silent.clear();
        self.silent_loads.clear();
        self.silent_stores.clear();
        self.is_after_call = false;
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
        self.is_after_call = !callee.is_some_and(|name| name.starts_with(PROBE));
        match callee.and_then(|name| name.strip_prefix(PROBE)) {
            Some(name) => self.announce(name),
            None => {
                self.announced.clear();
                self.announced_writes.clear();
            }
        }
        self.silent.clear();
        self.silent_loads.clear();
        self.silent_stores.clear();
        self.is_on_stack = false;
        self.registers.retain(|register, _| KEPT.contains(register));
        passes
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
}

/// The target of a jump, or of a branch.
fn branch_target(instruction: &Instruction) -> Option<u64> {
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
    );
    (jumps && instruction.op0_kind() == OpKind::NearBranch64).then(|| instruction.near_branch_target())
}
