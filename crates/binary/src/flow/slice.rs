//! Backward slices over machine code, with the distance of each read.
//!
//! This follows section 6 of *ConSeq* (ASPLOS 2011). A slice is a search from an instruction back
//! along its dependences, nearest first. It follows three relations. Control: which branches decide
//! whether an instruction runs. Data: which instructions define what it uses. Calls: into a callee
//! for what it returns or writes through a pointer parameter; out of a callee to the arguments of
//! the call that entered it; and, on request, to the callers of the function in which the slice
//! began.
//!
//! Distance. A control step, an arithmetic step, or a step to the address of a load costs 1.
//! Copies, spills, comparisons, jumps and the passing of arguments and results cost nothing,
//! because how often a value is moved depends on the compiler more than on the program.
//!
//! Deviations from the paper:
//! 1. CodeSurfer/x86 counts each data-dependence edge, so a copy costs 1 there. With such
//!    distances, one bound cannot serve both `-O0` and `-O2`.
//! 2. Loads and stores of the same address outside the frame are related only within a function, by
//!    the linear form of the address. There is no points-to analysis.
//! 3. Control dependence leaves out paths into code that only fails (see `control.rs`).

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::data::ENTRY;
use super::effects::Role;
use super::outlets::Outlets;
use super::places::{ARGUMENTS, RAX, RDX, Storage, XMM0};
use super::program::MachineProgram;
use super::query::FlowLoop;
use super::specialise::{Constants, Live, constants};
use super::view::{SharedRead, View};

/// The limits of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceLimits {
    pub distance: u32,
    /// The depth of nested calls to enter.
    pub depth: u32,
    /// The number of search steps. The nearest reads are found first.
    pub steps: u32,
    /// Whether to continue from the start of the first function to its callers.
    pub callers: bool,
}

/// Where a slice begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceStart {
    /// What decides whether the instruction runs.
    Control(u32),
    /// What a conditional jump tests.
    Branch(u32),
    /// An argument of a call, counted from 0, in an integer register.
    Argument(u32, u8),
    /// An argument of a call in a vector register, counted from 0.
    FloatArgument(u32, u8),
    /// A word of the frame, as a call finds it.
    Slot(u32, i32),
    /// The address that an instruction accesses.
    Pointer(u32),
    /// Everything that an instruction uses, and the instruction itself.
    Instruction(u32),
}

/// The branch through which a read matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deciding {
    /// The function's entry.
    pub function: u64,
    pub branch: u32,
    /// Whether the path towards the start of the slice takes the jump. `None` for a jump table.
    pub taken: Option<bool>,
}

/// A read in a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlicedRead {
    pub address: u64,
    pub instrumented: bool,
    pub size: u8,
    pub atomic: bool,
    pub variable: Option<u64>,
    /// A local to which other threads may have a pointer. A run has to show whether they do.
    pub local: bool,
    pub distance: u32,
    /// The last branch on the path. `None` if there is none between the read and the start.
    pub deciding: Option<Deciding>,
    /// The instruction of the first function through which the slice got here: the read, or the
    /// call that leads to it. `None` if it lies in a caller.
    pub outermost: Option<u32>,
    /// Which of the starts led here.
    pub start: usize,
}

/// A slice: its reads and the branches that it passed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sliced {
    /// Sorted by distance and address.
    pub reads: Vec<SlicedRead>,
    /// With the distance of each, nearest first.
    pub branches: Vec<(Deciding, u32)>,
}

/// A dependence that still has to be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Want {
    Control(u32),
    Instruction(u32),
    Value(u32, Storage),
    /// What a call leaves in a register.
    Result(u32, Storage),
    /// What the function writes through a pointer parameter: register, distance, bytes.
    Written(u8, i64, u32),
}

impl Want {
    /// The instruction that it refers to.
    fn index(self) -> Option<u32> {
        match self {
            Self::Control(index)
            | Self::Instruction(index)
            | Self::Value(index, _)
            | Self::Result(index, _) => Some(index),
            Self::Written(..) => None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Step {
    distance: u32,
    function: u32,
    want: Want,
    context: u32,
    deciding: Option<Deciding>,
    outermost: Option<u32>,
    start: usize,
}

/// A call that was entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Entered {
    outer: u32,
    function: u32,
    call: u32,
    depth: u32,
}

/// No call was entered.
const TOP: u32 = u32::MAX;

/// The state of one slice.
struct Slice<'p, 'm> {
    program: &'p MachineProgram<'m>,
    limits: SliceLimits,
    views: Vec<View<'p, 'm>>,
    numbers: HashMap<u64, Option<u32>>,
    contexts: Vec<Entered>,
    /// For each context, the constants that the call passes, and what they leave of the function.
    live: Vec<(Constants, Option<Rc<Live>>)>,
    context_numbers: HashMap<Entered, u32>,
    /// Unresolved dependences, by distance.
    queue: Vec<Vec<Step>>,
    within: Option<&'p FlowLoop>,
    seen: HashSet<(u32, Want, u32)>,
    found: BTreeMap<u64, SlicedRead>,
    branches: Vec<(Deciding, u32)>,
}

/// What the starts depend on. Each start has an initial distance. `within` keeps the slice inside a
/// loop of the first function and the functions called there.
pub fn slice<'p>(
    program: &'p MachineProgram,
    entry: u64,
    starts: &[(SliceStart, u32)],
    limits: SliceLimits,
    within: Option<&'p FlowLoop>,
) -> Sliced {
    let mut slice = Slice {
        program,
        limits,
        views: Vec::new(),
        numbers: HashMap::default(),
        contexts: Vec::new(),
        live: Vec::new(),
        context_numbers: HashMap::default(),
        queue: vec![Vec::new(); limits.distance as usize + 1],
        within,
        seen: HashSet::default(),
        found: BTreeMap::new(),
        branches: Vec::new(),
    };
    let Some(function) = slice.number(entry) else { return Sliced::default() };
    for (number, (start, distance)) in starts.iter().enumerate() {
        slice.begin(function, *start, *distance, number);
    }
    slice.search();
    let mut reads: Vec<SlicedRead> = slice.found.into_values().collect();
    reads.sort_by_key(|found| (found.distance, found.address));
    Sliced { reads, branches: slice.branches }
}

impl<'p, 'm> Slice<'p, 'm> {
    /// Resolves the nearest dependences first, until none is left or the limits are reached.
    fn search(&mut self) {
        let mut steps = 0;
        for distance in 0..self.queue.len() {
            while let Some(step) = self.queue[distance].pop() {
                if self.seen.insert((step.function, step.want, step.context)) {
                    steps += 1;
                    if steps > self.limits.steps {
                        return;
                    }
                    self.explain(step);
                }
            }
        }
    }

    fn number(&mut self, entry: u64) -> Option<u32> {
        if let Some(known) = self.numbers.get(&entry) {
            return *known;
        }
        let number = View::new(self.program, entry).map(|view| {
            self.views.push(view);
            self.views.len() as u32 - 1
        });
        self.numbers.insert(entry, number);
        number
    }

    fn view(&self, function: u32) -> &View<'p, 'm> {
        &self.views[function as usize]
    }

    fn begin(&mut self, function: u32, start: SliceStart, distance: u32, number: usize) {
        let register = |call, place| Want::Value(call, Storage::whole(place));
        let view = self.view(function);
        let index = match start {
            SliceStart::Control(index)
            | SliceStart::Branch(index)
            | SliceStart::Pointer(index)
            | SliceStart::Instruction(index) => index,
            SliceStart::Argument(index, _)
            | SliceStart::FloatArgument(index, _)
            | SliceStart::Slot(index, _) => index,
        };
        let mut deciding = None;
        let mut wants = Vec::new();
        match start {
            SliceStart::Control(_) => wants.push(Want::Control(index)),
            SliceStart::Instruction(_) => wants.push(Want::Instruction(index)),
            SliceStart::Branch(_) => {
                let own = Deciding { function: view.function.entry(), branch: index, taken: None };
                deciding = Some(own);
                self.branches.push((own, distance));
                wants.extend(self.used(function, index, Role::Value));
            }
            SliceStart::Argument(_, argument) => {
                wants.extend(ARGUMENTS.get(argument as usize).map(|place| register(index, *place)));
            }
            SliceStart::FloatArgument(_, argument) => wants.push(register(index, XMM0 + argument)),
            SliceStart::Slot(_, at) => wants.push(Want::Value(index, Storage::Slot { at, size: 8 })),
            SliceStart::Pointer(_) => wants.extend(self.used(function, index, Role::Address)),
        }
        for want in wants {
            let outermost = Some(index);
            self.push(Step { distance, function, want, context: TOP, deciding, outermost, start: number });
        }
    }

    /// The places that an instruction uses in a role.
    fn used(&self, function: u32, index: u32, role: Role) -> Vec<Want> {
        let view = self.view(function);
        let uses = view.data().effects[index as usize].uses.iter().filter(|used| used.role == role);
        uses.map(|used| Want::Value(index, used.place)).collect()
    }

    fn go(&mut self, from: &Step, cost: u32, want: Want) {
        let mut step = Step { distance: from.distance + cost, want, ..*from };
        if step.context == TOP && step.outermost.is_some() {
            step.outermost = match want {
                Want::Control(index) | Want::Instruction(index) | Want::Result(index, _) => Some(index),
                Want::Value(..) | Want::Written(..) => step.outermost,
            };
        }
        self.push(step);
    }

    fn push(&mut self, step: Step) {
        let Some(queue) = self.queue.get_mut(step.distance as usize) else { return };
        if self.seen.contains(&(step.function, step.want, step.context)) {
            return;
        }
        if let (Some(within), TOP, Some(index)) = (self.within, step.context, step.want.index()) {
            let view = &self.views[step.function as usize];
            if !within.contains_block(view.function.block_of(index)) {
                return;
            }
        }
        queue.push(step);
    }

    fn explain(&mut self, step: Step) {
        match step.want {
            Want::Control(index) => self.explain_control(&step, index),
            Want::Instruction(index) => self.explain_instruction(&step, index),
            Want::Value(index, place) => self.explain_value(&step, index, place),
            Want::Result(index, place) => self.explain_result(&step, index, place),
            Want::Written(register, distance, size) => self.explain_written(&step, register, distance, size),
        }
    }

    fn explain_control(&mut self, step: &Step, index: u32) {
        let view = self.view(step.function);
        let function = &view.function;
        let decisions = function.decisions(function.block_of(index)).to_vec();
        let entry = function.entry();
        let live = self.live.get(step.context as usize).and_then(|live| live.1.clone());
        for decision in &decisions {
            if live.as_ref().is_some_and(|live| live.is_decided(decision.block)) {
                continue;
            }
            let branch = self.view(step.function).function.last_of(decision.block);
            let conditional = self.view(step.function).instruction(branch).is_jcc_short_or_near();
            let taken = conditional.then_some(decision.edge == 0);
            let deciding = Deciding { function: entry, branch, taken };
            if step.distance < self.limits.distance {
                self.branches.push((deciding, step.distance + 1));
            }
            self.go(&Step { deciding: Some(deciding), ..*step }, 1, Want::Instruction(branch));
        }
        if decisions.is_empty() && step.context == TOP && self.limits.callers {
            self.go_to_callers(step, entry, Want::Control);
        }
    }

    fn go_to_callers(&mut self, step: &Step, entry: u64, want: impl Fn(u32) -> Want) {
        for &(caller, call) in self.program.callers(entry) {
            let Some(function) = self.number(caller) else { continue };
            let Some(index) = self.view(function).function.index_of(call) else { continue };
            let distance = step.distance + 1;
            self.push(Step { distance, function, want: want(index), outermost: None, ..*step });
        }
    }

    fn explain_instruction(&mut self, step: &Step, index: u32) {
        self.go(step, 0, Want::Control(index));
        if self.view(step.function).is_call(index) {
            return self.go(step, 0, Want::Result(index, Storage::whole(RAX)));
        }
        let operands: Vec<_> = self.view(step.function).operands(index).collect();
        let mut outside = false;
        for (operand, place) in operands {
            outside |= !matches!(place, Some(Storage::Slot { .. }));
            if !operand.reads {
                continue;
            }
            let view = self.view(step.function);
            let from_caller = self.in_caller(step, index, &operand);
            let read = view.shared_read(index, &operand, place);
            let read = read.or_else(|| view.local_read(index, &operand, place));
            if let Some(caller_step) = from_caller {
                self.push(caller_step);
            } else if let Some(read) = read {
                self.record(step, read);
            }
            match place {
                Some(place @ Storage::Slot { .. }) => self.go(step, 0, Want::Value(index, place)),
                Some(place) => self.go(step, 1, Want::Value(index, place)),
                None => {}
            }
        }
        let uses = self.view(step.function).data().effects[index as usize].uses.clone();
        for used in uses {
            match used.role {
                Role::Value => self.go(step, 0, Want::Value(index, used.place)),
                Role::Address if outside => self.go(step, 1, Want::Value(index, used.place)),
                Role::Address => {}
            }
        }
    }

    /// A load through a pointer parameter that is known to point into the caller's frame. It is not
    /// a shared read, but reads a local of the caller.
    fn in_caller(&self, step: &Step, index: u32, operand: &super::effects::Operand) -> Option<Step> {
        let context = *self.contexts.get(step.context as usize)?;
        let view = self.view(step.function);
        let form = view.address(index, operand);
        let (register, distance) = view.data().forms.borrow().parameter(&form)?;
        if !ARGUMENTS.contains(&register) {
            return None;
        }
        let slot = self.view(context.function).pointed_slot(context.call, register)?;
        let at = slot.checked_add(i32::try_from(distance).ok()?)?;
        let want = Want::Value(context.call, Storage::Slot { at, size: operand.size.max(1) });
        Some(Step { function: context.function, context: context.outer, want, ..*step })
    }

    fn record(&mut self, step: &Step, read: SharedRead) {
        let found = SlicedRead {
            address: read.address,
            instrumented: read.instrumented,
            size: read.size,
            atomic: read.atomic,
            variable: read.variable,
            local: read.local,
            distance: step.distance,
            deciding: step.deciding,
            outermost: step.outermost,
            start: step.start,
        };
        // Steps come nearest first, so the first one stays.
        self.found.entry(read.address).or_insert(found);
    }

    fn explain_value(&mut self, step: &Step, index: u32, place: Storage) {
        let definitions = self.view(step.function).reaching(index, place);
        for &definition in definitions.iter() {
            if definition == ENTRY {
                self.explain_parameter(step, place);
                continue;
            }
            if !self.is_live(step, definition) {
                continue;
            }
            let view = self.view(step.function);
            if !view.is_call(definition) {
                let cost = u32::from(!view.is_free(definition));
                self.go(step, cost, Want::Instruction(definition));
                continue;
            }
            match place {
                Storage::Register { number: RAX | RDX, .. } => self.call_result(step, definition, place),
                Storage::Register { number, .. } if number == XMM0 || number == XMM0 + 1 => {
                    self.call_result(step, definition, place);
                }
                Storage::Slot { at, size } => self.explain_escaped(step, definition, at, size),
                _ => {}
            }
        }
    }

    fn call_result(&mut self, step: &Step, call: u32, place: Storage) {
        self.go(step, 0, Want::Control(call));
        self.go(step, 0, Want::Result(call, place));
    }

    /// A value that the function was entered with.
    fn explain_parameter(&mut self, step: &Step, place: Storage) {
        match place {
            Storage::Register { number, .. }
                if ARGUMENTS.contains(&number) || (XMM0..XMM0 + 8).contains(&number) => {}
            Storage::Slot { at, .. } if at >= 8 => {}
            _ => return,
        }
        if let Some(context) = self.contexts.get(step.context as usize).copied() {
            if let Some(place) = self.outside(context.function, context.call, place) {
                let want = Want::Value(context.call, place);
                self.push(Step { function: context.function, context: context.outer, want, ..*step });
            }
            return;
        }
        if self.limits.callers && matches!(place, Storage::Register { .. }) {
            let entry = self.view(step.function).function.entry();
            self.go_to_callers(step, entry, |call| Want::Value(call, place));
        }
    }

    /// A parameter as the caller sees it. The caller pushed what lies above the return address.
    fn outside(&self, caller: u32, call: u32, place: Storage) -> Option<Storage> {
        match place {
            Storage::Slot { at, size } => {
                let height = self.view(caller).data().heights[call as usize]?;
                Some(Storage::Slot { at: height.checked_add(at - 8)?, size })
            }
            other => Some(other),
        }
    }

    /// Enters a callee. Returns its number and the context within it.
    fn enter(&mut self, step: &Step, call: u32) -> Option<(u32, u32)> {
        let entry = self.view(step.function).callee(call)?.entry?;
        let depth = self.contexts.get(step.context as usize).map_or(0, |context| context.depth) + 1;
        if depth > self.limits.depth || !self.program.is_worth_entering(entry) {
            return None;
        }
        let inner = self.number(entry)?;
        let entered = Entered { outer: step.context, function: step.function, call, depth };
        if let Some(&known) = self.context_numbers.get(&entered) {
            return Some((inner, known));
        }
        let outer = self.live.get(step.context as usize).map(|live| live.0).unwrap_or_default();
        let constants = constants(self.view(step.function), call, &outer);
        let live = Live::of(self.view(inner), &constants);
        let number = self.contexts.len() as u32;
        self.contexts.push(entered);
        self.live.push((constants, live));
        self.context_numbers.insert(entered, number);
        Some((inner, number))
    }

    /// Whether an instruction can run when its function is entered in this context.
    fn is_live(&self, step: &Step, index: u32) -> bool {
        let live = self.live.get(step.context as usize).and_then(|live| live.1.as_ref());
        live.is_none_or(|live| live.is_live(&self.view(step.function).function, index))
    }

    fn explain_result(&mut self, step: &Step, call: u32, place: Storage) {
        let view = self.view(step.function);
        if let Some(read) = view.read_by_call(call) {
            let pointers = if read.atomic { 1 } else { 2 };
            self.record(step, read);
            for register in &ARGUMENTS[..pointers] {
                self.go(step, 1, Want::Value(call, Storage::whole(*register)));
            }
            return;
        }
        if view.callee(call).is_some_and(|callee| callee.probe().is_some()) {
            return;
        }
        let Some((function, context)) = self.enter(step, call) else { return };
        let exits: Vec<u32> = self.view(function).function.exits().collect();
        for exit in exits {
            let tail = self.view(function).callee(exit).is_some();
            let want = if tail { Want::Result(exit, place) } else { Want::Value(exit, place) };
            let inner = Step { function, context, want, ..*step };
            if self.is_live(&inner, exit) {
                self.push(inner);
            }
        }
    }

    /// A slot whose address was passed to a call.
    fn explain_escaped(&mut self, step: &Step, call: u32, at: i32, size: u32) {
        let view = self.view(step.function);
        if let Some(copy) = view.copy_by_call(call) {
            return self.explain_copy(step, call, copy, at, size);
        }
        if view.announced(call).is_some() {
            if let Some(read) = view.read_by_call(call) {
                self.record(step, read);
            }
            return;
        }
        let slots: Vec<(u8, i32)> = ARGUMENTS
            .into_iter()
            .filter_map(|register| Some((register, view.pointed_slot(call, register)?)))
            .filter(|(_, slot)| *slot <= at)
            .collect();
        // Of several pointers into one object, the closest one points to the part.
        let Some((register, slot)) = slots.into_iter().max_by_key(|(_, slot)| *slot) else { return };
        let Some((function, context)) = self.enter(step, call) else { return };
        let want = Want::Written(register, i64::from(at - slot), size);
        self.push(Step { function, context, want, ..*step });
        self.go(step, 0, Want::Control(call));
    }

    fn explain_copy(&mut self, step: &Step, call: u32, copy: super::view::Copy, at: i32, size: u32) {
        let Some(to) = copy.to else { return };
        let beyond = copy.length.is_some_and(|length| i64::from(at) >= i64::from(to) + i64::from(length));
        if at < to || beyond {
            return;
        }
        if let Some(from) = copy.from {
            return self.go(step, 0, Want::Value(call, Storage::Slot { at: from + (at - to), size }));
        }
        let view = self.view(step.function);
        let address = view.function.return_address(call);
        let instrumented = self.program.is_instrumented();
        let size = u8::try_from(copy.length.unwrap_or(0)).unwrap_or(0);
        self.record(
            step,
            SharedRead { address, instrumented, size, atomic: false, variable: None, local: false },
        );
        self.go(step, 0, Want::Control(call));
        self.go(step, 1, Want::Value(call, Storage::whole(ARGUMENTS[1])));
    }

    /// A callee's stores through a pointer parameter, and calls to which it passes the pointer on.
    fn explain_written(&mut self, step: &Step, register: u8, distance: i64, size: u32) {
        let view = self.view(step.function);
        let Outlets { stores, handed_on } = view.outlets();
        let apart =
            |at: i64, length: u32| at >= distance + i64::from(size) || at + i64::from(length) <= distance;
        let stores: Vec<u32> = stores
            .iter()
            .filter(|store| store.parameter == register && !apart(store.distance, store.size))
            .map(|store| store.index)
            .collect();
        let handed_on: Vec<(u32, u8, i64)> = handed_on
            .iter()
            .filter(|handed| handed.parameter == register && handed.distance <= distance)
            .map(|handed| (handed.index, handed.argument, handed.distance))
            .collect();
        for store in stores {
            self.go(step, 0, Want::Instruction(store));
        }
        for (call, argument, at) in handed_on {
            if let Some((function, context)) = self.enter(step, call) {
                let want = Want::Written(argument, distance - at, size);
                self.push(Step { function, context, want, ..*step });
            }
        }
    }
}
