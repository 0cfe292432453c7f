//! Probes that another probe of the same function makes superfluous.
//!
//! A probe is *covered* if on each path through it there is another probe of the same address, at
//! least as wide and at least as strong (a write covers a read), and nothing between the two can
//! synchronise. Then both are in one segment, and every access that races with one races with the
//! other.
//!
//! - The covering probe may come before, on all paths to the covered one: values and probes are
//!   followed only into blocks with one predecessor.
//! - Or it may come after, within the same block. gcc announces `x += y` as a read and a write. If
//!   the program died between the two, the report would be lost. So no instruction between them may
//!   divide, or access memory other than globals, the frame and the object of the probe.
//!
//! Every call except that of a probe counts as synchronisation, and so does each locked
//! instruction. A function is left out unless all paths into its blocks are known: if it has an
//! indirect jump, if the address of one of its blocks is taken, if it overlaps another function, if
//! its table of landing pads is damaged, or if its bytes are not all instructions. The same holds
//! for every function that is connected with it by jumps: a compiler puts cold parts of a function
//! elsewhere, and a jump table there leads back into it. Landing pads, and targets of jumps from
//! other functions, count as blocks that any code may enter.

use std::ops::Range;

use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::form::Form;
use super::function::is_call;
use super::places::RDI;
use super::values::{FrameState, Symbols, Values, frame_of};
use crate::calls::Targets;
use crate::module::Module;

/// More code than this is not analysed: it would take seconds.
const MOST_CODE: u64 = 48 << 20;
/// A function with more instructions is not analysed.
const MOST_INSTRUCTIONS: usize = 50_000;
/// The most probes that are remembered at once.
const MOST_FACTS: usize = 64;

/// A call of a probe that can be left out: `e8` and a distance, perhaps after a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoveredCall {
    /// The address of the call.
    pub address: u64,
    /// The length of the call instruction.
    pub length: u8,
    pub write: bool,
    /// The bytes that it announces: 1, 2, 4 or 8.
    pub size: u8,
}

/// An access that a probe announces.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Access {
    address: Form,
    write: bool,
    size: u8,
}

impl Access {
    /// Plain probes of an unaligned address stop at the end of its granule, so only the same
    /// address counts.
    fn covers(&self, other: &Self) -> bool {
        self.address == other.address && self.size >= other.size && (self.write || !other.write)
    }
}

enum Event {
    Probe {
        index: usize,
        access: Access,
    },
    /// Something that may synchronise.
    Barrier,
    /// An access to memory that may not be mapped.
    Touch(Form),
    /// A division.
    Divide,
}

impl Module {
    /// All covered probes, sorted by address.
    pub fn covered_probes(&self) -> Vec<CoveredCall> {
        let ranges = self.executable_ranges();
        if ranges.iter().map(|range| range.end - range.start).sum::<u64>() > MOST_CODE {
            return Vec::new();
        }
        let targets = self.targets(|name| name.starts_with("__tsan_"));
        if targets.is_empty() {
            return Vec::new();
        }
        let scan = Scan::new(self, &targets);
        let mut covered: Vec<CoveredCall> = scan
            .worthwhile()
            .filter_map(|range| Body::new(self, &targets, &scan, range))
            .flat_map(|body| body.covered())
            .collect();
        covered.sort_unstable();
        covered
    }
}

/// What is known about all functions before one of them is analysed.
struct Scan {
    /// Sorted by address.
    functions: Vec<Range<u64>>,
    /// How many probes each function has.
    probes: Vec<u32>,
    /// Functions whose control flow is unknown.
    unknown: HashSet<usize>,
    /// Which functions jump into which, in both directions.
    connected: HashMap<usize, Vec<usize>>,
    /// Addresses that are entered from elsewhere: by calls, by jumps, as landing pads.
    entered: HashSet<u64>,
    /// Those of them that are entered with the frame of another function: the code there may be a
    /// part of that function.
    continued: HashSet<u64>,
    offset_tables: Vec<Range<u64>>,
    /// Whether the program is loaded at the addresses in its file.
    fixed: bool,
}

impl Scan {
    fn new(module: &Module, targets: &Targets) -> Self {
        let named = module.raw_functions();
        // A jump through a thunk is an indirect jump.
        let is_thunk = |name: &str| name.contains("indirect_thunk") || name.contains("retpoline");
        let thunks = named.iter().enumerate().filter(|(_, (_, name))| name.is_some_and(is_thunk));
        let unknown = thunks.map(|(at, _)| at).collect();
        let functions: Vec<Range<u64>> = named.into_iter().map(|(range, _)| range).collect();
        let probes = vec![0; functions.len()];
        let mut scan = Self {
            functions,
            probes,
            unknown,
            connected: HashMap::default(),
            entered: HashSet::default(),
            continued: HashSet::default(),
            offset_tables: module.offset_tables(),
            fixed: module.is_fixed(),
        };
        for at in 1..scan.functions.len() {
            if scan.functions[at].start < scan.functions[at - 1].end {
                scan.unknown.extend([at - 1, at]);
            }
        }
        for (start, table) in module.landing_tables() {
            match module.all_landings(start, table) {
                Some(landings) => {
                    let pads = landings.iter().map(|landing| landing.pad);
                    scan.entered.extend(pads.clone());
                    let own = scan.function_at(start);
                    let foreign = pads.filter(|pad| scan.function_at(*pad) != own).collect::<Vec<_>>();
                    for &pad in &foreign {
                        scan.connect(own, scan.function_at(pad));
                    }
                    scan.continued.extend(foreign);
                }
                None => scan.unknown.extend(scan.function_at(start)),
            }
        }
        module.each_instruction(|instruction| scan.see(instruction, targets));
        scan.spread_unknown();
        scan
    }

    fn connect(&mut self, from: Option<usize>, to: Option<usize>) {
        if let (Some(from), Some(to)) = (from, to) {
            self.connected.entry(from).or_default().push(to);
            self.connected.entry(to).or_default().push(from);
        }
    }

    /// Tail calls spread this further than necessary.
    fn spread_unknown(&mut self) {
        let mut work: Vec<usize> = self.unknown.iter().copied().collect();
        while let Some(at) = work.pop() {
            for next in self.connected.remove(&at).into_iter().flatten() {
                if self.unknown.insert(next) {
                    work.push(next);
                }
            }
        }
    }

    fn function_at(&self, address: u64) -> Option<usize> {
        let after = self.functions.partition_point(|range| range.start <= address);
        after.checked_sub(1).filter(|at| self.functions[*at].contains(&address))
    }

    fn see(&mut self, instruction: &Instruction, targets: &Targets) {
        let own = |scan: &Self| scan.function_at(instruction.ip());
        match instruction.flow_control() {
            FlowControl::Call if probe(instruction, targets).is_some() => {
                if let Some(at) = own(self) {
                    self.probes[at] += 1;
                }
            }
            // A tail call through the global offset table leaves the function for good.
            FlowControl::IndirectBranch => {
                let tail = instruction.is_ip_rel_memory_operand()
                    && self.offset_tables.iter().any(|t| t.contains(&instruction.ip_rel_memory_address()));
                if !tail {
                    self.unknown.extend(own(self));
                }
            }
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch | FlowControl::Call => {
                let target = instruction.near_branch_target();
                let calls = instruction.flow_control() == FlowControl::Call;
                let inside = own(self).is_some_and(|at| self.functions[at].contains(&target));
                if !inside || calls {
                    self.entered.insert(target);
                }
                if !inside && !calls {
                    self.continued.insert(target);
                    self.connect(own(self), self.function_at(target));
                }
            }
            FlowControl::XbeginXabortXend => self.unknown.extend(own(self)),
            _ => {}
        }
        if let Some(address) = reference(instruction, self.fixed)
            && let Some(at) = self.function_at(address)
            && self.functions[at].start != address
        {
            self.unknown.insert(at);
        }
    }

    fn worthwhile(&self) -> impl Iterator<Item = &Range<u64>> {
        let known = |at: &usize| self.probes[*at] > 1 && !self.unknown.contains(at);
        (0..self.functions.len()).filter(known).map(|at| &self.functions[at])
    }
}

/// The address that an instruction takes other than as a jump. In a program at a `fixed` address,
/// it may be a constant.
fn reference(instruction: &Instruction, fixed: bool) -> Option<u64> {
    if instruction.is_ip_rel_memory_operand() {
        return Some(instruction.ip_rel_memory_address());
    }
    if !fixed || !matches!(instruction.mnemonic(), Mnemonic::Mov | Mnemonic::Push) {
        return None;
    }
    let constant = |kind| matches!(kind, OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64);
    (0..instruction.op_count()).find(|n| constant(instruction.op_kind(*n))).map(|n| instruction.immediate(n))
}

/// Whether a probe writes, and its size; `None` for all other functions.
fn probe(instruction: &Instruction, targets: &Targets) -> Option<(bool, u8)> {
    let name = targets.of(instruction)?.strip_prefix("__tsan_")?;
    let plain = name.strip_prefix("volatile_").unwrap_or(name);
    let (write, size) = if let Some(size) = plain.strip_prefix("read_write") {
        (true, size)
    } else if let Some(size) = plain.strip_prefix("read") {
        (false, size)
    } else {
        (true, plain.strip_prefix("write")?)
    };
    let size = size.parse().ok()?;
    matches!(size, 1 | 2 | 4 | 8).then_some((write, size))
}

/// Whether a call of the runtime neither synchronises nor writes to the program's memory.
fn is_quiet(name: &str) -> bool {
    let Some(name) = name.strip_prefix("__tsan_") else { return false };
    let plain = name.strip_prefix("unaligned_").unwrap_or(name);
    let plain = plain.strip_prefix("volatile_").unwrap_or(plain);
    let access = ["read_write", "read", "write"].iter().any(|kind| {
        plain.strip_prefix(kind).is_some_and(|size| matches!(size, "1" | "2" | "4" | "8" | "16" | "_range"))
    });
    access || matches!(name, "func_entry" | "func_exit" | "vptr_read" | "vptr_update")
}

/// One function whose control flow is known.
struct Body<'m> {
    targets: &'m Targets,
    code: Vec<Instruction>,
    /// The first instruction of each block, and the number of all.
    starts: Vec<usize>,
    /// The blocks with one predecessor, by that predecessor.
    next: HashMap<usize, Vec<usize>>,
    /// The blocks at which the analysis starts.
    roots: Vec<usize>,
    frame: FrameState,
}

impl<'m> Body<'m> {
    fn new(module: &Module, targets: &'m Targets, scan: &Scan, range: &Range<u64>) -> Option<Self> {
        let length = usize::try_from(range.end - range.start).ok()?;
        let bytes = module.bytes_at(range.start, length)?;
        let mut decoder = iced_x86::Decoder::with_ip(64, bytes, range.start, iced_x86::DecoderOptions::NONE);
        let code: Vec<Instruction> = decoder.iter().take(MOST_INSTRUCTIONS + 1).collect();
        let whole = code.last()?.next_ip() == range.end && code.len() <= MOST_INSTRUCTIONS;
        if !whole || code.iter().any(|instruction| instruction.code() == Code::INVALID) {
            return None;
        }
        let index: HashMap<u64, usize> = code.iter().enumerate().map(|(at, i)| (i.ip(), at)).collect();
        let mut leads = vec![false; code.len() + 1];
        let mut entered = vec![false; code.len()];
        let mut reached = vec![false; code.len() + 1];
        (leads[0], entered[0], reached[0]) = (true, true, true);
        for (at, instruction) in code.iter().enumerate() {
            if scan.entered.contains(&instruction.ip()) {
                (leads[at], entered[at], reached[at]) = (true, true, true);
            }
            if let Some(target) = jump(instruction).filter(|target| range.contains(target)) {
                // A jump into the middle of an instruction: this is not the code it seems to be.
                let to = *index.get(&target)?;
                (leads[to], reached[to]) = (true, true);
            }
            leads[at + 1] |= ends_block(instruction);
            reached[at + 1] |= falls_through(instruction);
        }
        let mut starts: Vec<usize> = (0..code.len()).filter(|at| leads[*at]).collect();
        let block_at = |at: usize| starts.partition_point(|start| *start <= at) - 1;
        let mut ways: Vec<Vec<usize>> = vec![Vec::new(); starts.len()];
        for block in 0..starts.len() {
            let last = starts.get(block + 1).copied().unwrap_or(code.len()) - 1;
            if let Some(to) = jump(&code[last]).and_then(|target| index.get(&target)) {
                ways[block_at(*to)].push(block);
            }
            // Padding before an aligned block does not lead into it.
            let padding = || !reached[starts[block]] && code[starts[block]..=last].iter().all(is_filler);
            if falls_through(&code[last]) && last + 1 < code.len() && !padding() {
                ways[block + 1].push(block);
            }
        }
        let mut next: HashMap<usize, Vec<usize>> = HashMap::default();
        let mut roots = Vec::new();
        for (block, from) in ways.iter().enumerate() {
            match from[..] {
                [only] if !entered[starts[block]] => next.entry(only).or_default().push(block),
                _ => roots.push(block),
            }
        }
        starts.push(code.len());
        // A part of the function that is elsewhere may do anything to the frame.
        let leaves = |i: &Instruction| {
            jump(i).is_some_and(|to| !range.contains(&to)) && !targets.of(i).is_some_and(is_quiet)
        };
        let in_parts = code.iter().any(|i| leaves(i) || scan.continued.contains(&i.ip()));
        let frame = if in_parts {
            FrameState::Shared
        } else {
            frame_of(&code, |call| targets.of(call).is_some_and(is_quiet))
        };
        Some(Self { targets, code, starts, next, roots, frame })
    }

    fn covered(&self) -> Vec<CoveredCall> {
        let mut symbols = Symbols::new();
        let mut covered = Vec::new();
        for &root in &self.roots {
            let mut work = vec![(root, Values::new(&mut symbols, self.frame), Vec::new())];
            while let Some((block, mut values, mut facts)) = work.pop() {
                let events = self.events(block, &mut symbols, &mut values);
                let redundant = forward(&events, &mut facts);
                covered.extend(redundant.into_iter().filter_map(|index| self.site(index)));
                for &next in self.next.get(&block).into_iter().flatten() {
                    work.push((next, values.clone(), facts.clone()));
                }
            }
        }
        covered
    }

    /// What happens in a block, in order. Updates `values` to those at its end.
    fn events(&self, block: usize, symbols: &mut Symbols, values: &mut Values) -> Vec<Event> {
        let mut events = Vec::new();
        for index in self.starts[block]..self.starts[block + 1] {
            let instruction = &self.code[index];
            if is_call(instruction) {
                let quiet = self.targets.of(instruction).is_some_and(is_quiet);
                if let Some((write, size)) = probe(instruction, self.targets) {
                    let access = Access { address: values.register(RDI).clone(), write, size };
                    events.push(Event::Probe { index, access });
                } else if !quiet {
                    events.push(Event::Barrier);
                }
                symbols.pass_call(values, quiet);
                continue;
            }
            if may_synchronise(instruction) {
                events.push(Event::Barrier);
            }
            if matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv) {
                events.push(Event::Divide);
            }
            events.extend(symbols.touched(instruction, values).into_iter().map(Event::Touch));
            symbols.pass(instruction, values);
        }
        events
    }

    /// The call, if it can be overwritten.
    fn site(&self, index: usize) -> Option<CoveredCall> {
        let call = &self.code[index];
        let (write, size) = probe(call, self.targets)?;
        let direct = call.op0_kind() == OpKind::NearBranch64 && matches!(call.len(), 5 | 6);
        direct.then_some(CoveredCall { address: call.ip(), length: call.len() as u8, write, size })
    }
}

/// The covered probes of a block. `facts`: the accesses announced so far with nothing in between;
/// updated to those at the end of this block.
fn forward(events: &[Event], facts: &mut Vec<Access>) -> Vec<usize> {
    let later = backward(events);
    let mut covered = Vec::new();
    for event in events {
        match event {
            Event::Barrier => facts.clear(),
            Event::Touch(_) | Event::Divide => {}
            Event::Probe { index, access } => {
                if later.contains(index) || facts.iter().any(|fact| fact.covers(access)) {
                    // It is not a fact itself: what covers it is one, now or soon.
                    covered.push(*index);
                } else if facts.len() < MOST_FACTS {
                    facts.push(access.clone());
                }
            }
        }
    }
    covered
}

/// The probes that a later probe of the block covers, where no other probe covers that one.
fn backward(events: &[Event]) -> HashSet<usize> {
    /// A probe that stays, and the memory that is accessed before it.
    struct Candidate<'e> {
        access: &'e Access,
        touched: Vec<&'e Form>,
    }
    let mut covered = HashSet::default();
    let mut candidates: Vec<Candidate> = Vec::new();
    for event in events.iter().rev() {
        match event {
            Event::Barrier | Event::Divide => candidates.clear(),
            Event::Touch(address) => candidates.iter_mut().for_each(|c| c.touched.push(address)),
            Event::Probe { index, access } => {
                let survives = |c: &Candidate| c.touched.iter().all(|at| is_near(at, &access.address));
                if candidates.iter().any(|c| c.access.covers(access) && survives(c)) {
                    covered.insert(*index);
                } else if candidates.len() < MOST_FACTS {
                    candidates.push(Candidate { access, touched: Vec::new() });
                }
            }
        }
    }
    covered
}

/// Whether two addresses are in one object, so that one is mapped if the other is.
fn is_near(a: &Form, b: &Form) -> bool {
    const PAGE: u64 = 4096;
    a.terms == b.terms && a.constant.abs_diff(b.constant) < PAGE
}

fn may_synchronise(instruction: &Instruction) -> bool {
    let exchanges = instruction.mnemonic() == Mnemonic::Xchg
        && (0..instruction.op_count()).any(|n| instruction.op_kind(n) == OpKind::Memory);
    instruction.has_lock_prefix()
        || exchanges
        || matches!(
            instruction.mnemonic(),
            Mnemonic::Mfence | Mnemonic::Lfence | Mnemonic::Sfence | Mnemonic::Syscall | Mnemonic::Cpuid
        )
        || instruction.flow_control() == FlowControl::Interrupt
}

/// The target of a direct jump.
fn jump(instruction: &Instruction) -> Option<u64> {
    matches!(instruction.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch)
        .then(|| instruction.near_branch_target())
}

fn ends_block(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall | FlowControl::Interrupt
    )
}

fn is_filler(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
}

fn falls_through(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Return
            | FlowControl::Exception
    )
}
