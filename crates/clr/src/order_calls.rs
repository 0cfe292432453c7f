//! Adds to a method what tells of order: around calls of `Monitor`, `Thread` and `Task`, where a
//! piece of work begins and ends, and where a part of an asynchronous method does (see `order`).
//!
//! What a call is made on, or its first argument, goes to a local variable if it is needed after
//! the call. What is told after a call is not told if the call ends with an exception.

use crate::calls::{Orders, StartedWork, WatchedCall, is_task_builder};
use crate::class_constructors::ClassNumber;
use crate::il::{self, Body, code};
use crate::metadata::{Import, table};
use crate::order::{self, event};
use crate::order_probe::OrderProbe;
use crate::profiling::MetadataToken;
use crate::rewrite::{CallPosition, Locals};
use crate::signature;

const LOAD_0: u8 = 0x02;
const OBJECT: u8 = 0x1C;
const INT: u8 = 0x08;

/// Local variables that are for no argument.
mod local {
    pub const ON: usize = usize::MAX;
    pub const RESULT: usize = usize::MAX - 1;
    pub const DEPTH: usize = usize::MAX - 2;
    pub const PHASE: usize = usize::MAX - 3;
    pub const GIVEN: usize = usize::MAX - 4;
    pub const ANSWER: usize = usize::MAX - 5;
}

fn call(token: MetadataToken) -> Vec<u8> {
    il::with_token(code::CALL as u8, token)
}

fn call_with(token: MetadataToken, event: u32) -> Vec<u8> {
    [il::load_int(event), call(token)].concat()
}

/// Whether an instruction puts one value onto the stack and takes none: arguments, local variables
/// and their addresses, null, strings, and static fields.
fn only_loads(code: u16) -> bool {
    matches!(code, 0x02..=0x09 | 0x0E | 0x0F | 0x11 | 0x12 | 0x14 | 0x72 | 0x7E | 0x7F)
}

impl CallPosition<'_> {
    fn before(&mut self, text: &[u8]) {
        let first = self.body.first_prefix(self.at);
        self.body.instructions[first].before.extend(text);
    }

    fn after(&mut self, text: &[u8]) {
        self.body.instructions[self.at].after.extend(text);
    }

    /// A call that is the last thing its method does leaves no room behind it.
    fn has_prefix(&self) -> bool {
        self.body.first_prefix(self.at) != self.at
    }

    /// Whether all arguments are one constant for certain: it is loaded just before the call, and
    /// no branch leads to behind that.
    fn is_called_with(&self, arguments: usize, constant: u16) -> bool {
        let Some(first) = self.at.checked_sub(arguments) else { return false };
        let reached = (first + 1..=self.at).any(|at| self.body.is_target(at));
        let loaded = &self.body.instructions[first..self.at];
        !reached && loaded.iter().all(|instruction| instruction.code == constant)
    }

    /// Whether the first argument is false for certain: it is loaded as a constant, each of the
    /// others is loaded by one instruction, and no branch leads to behind the first.
    fn is_called_with_false(&self, arguments: usize) -> bool {
        let Some(first) = self.at.checked_sub(arguments) else { return false };
        let reached = (first + 1..=self.at).any(|at| self.body.is_target(at));
        let loaded = self.body.instructions[first..self.at].iter().map(|i| i.code).collect::<Vec<_>>();
        !reached && loaded[0] == code::LOAD_ZERO && loaded[1..].iter().all(|code| only_loads(*code))
    }

    /// Does something with a copy of what the call is made on, or of its first argument.
    fn with_object(&mut self, call: &WatchedCall, text: &[u8]) {
        let parameters = call.method.parameters.iter().enumerate();
        let above = parameters.skip(usize::from(!call.method.has_this));
        let saved: Vec<u16> = above.map(|(i, kind)| self.locals.for_argument(i, kind)).collect();
        let stores = saved.iter().rev().flat_map(|local| il::store_local(*local)).collect::<Vec<_>>();
        let loads = saved.iter().flat_map(|local| il::load_local(*local)).collect::<Vec<_>>();
        self.before(&[&stores[..], &[code::DUPLICATE], text, &loads].concat());
    }

    /// Keeps it for after the call. `load` makes the object of it.
    fn keep_object(&mut self, call: &WatchedCall, load: &[u8]) -> u16 {
        let local = self.locals.for_argument(local::ON, &[OBJECT]);
        self.with_object(call, &[load, &il::store_local(local)].concat());
        local
    }

    /// After the call, does something with what was kept and a copy of what the call gives.
    fn after_with_result(&mut self, kept: u16, text: &[u8]) {
        let result = self.locals.for_argument(local::RESULT, &[OBJECT]);
        let keep = [&[code::DUPLICATE], &il::store_local(result)[..]].concat();
        self.after(&[&keep, &il::load_local(kept)[..], &il::load_local(result), text].concat());
    }
}

/// A call that orders others. Whether anything was added.
pub fn add(probe: OrderProbe, orders: Orders, of: &WatchedCall, place: &mut CallPosition) -> bool {
    if place.has_prefix() {
        if let Orders::Before(event) = orders {
            order::will_not_see(event);
        }
        return false;
    }
    let told = |event| call_with(probe.task_happened, event);
    match orders {
        Orders::Before(event) => place.with_object(of, &call_with(probe.happened, event)),
        Orders::After(event) => {
            let local = place.keep_object(of, &[]);
            place.after(&[il::load_local(local), call_with(probe.happened, event)].concat());
        }
        Orders::AfterAnswer(failed) => {
            let object = place.keep_object(of, &[]);
            let answer = place.locals.for_argument(local::ANSWER, &[INT]);
            let event = [&[code::DUPLICATE], &il::load_int(failed)[..], &[code::ADD]].concat();
            let event = [event, il::store_local(answer)].concat();
            place.after(
                &[event, il::load_local(object), il::load_local(answer), call(probe.happened)].concat(),
            );
        }
        Orders::BeforeAny(event) => place.before(&tell_of_none(probe, event)),
        Orders::AfterAny(event) => place.after(&tell_of_none(probe, event)),
        Orders::Made { event, code } => {
            if code.is_some_and(|code| !place.is_called_with(of.method.parameters.len(), code)) {
                return false;
            }
            place.after(&[&[code::DUPLICATE], &call_with(probe.happened, event)[..]].concat());
        }
        Orders::MadeMutexOwned => {
            let tell = |event| [&[code::DUPLICATE], &call_with(probe.happened, event)[..]].concat();
            place.after(&tell(event::MADE_MUTEX));
            if !place.is_called_with_false(of.method.parameters.len()) {
                place.after(&tell(event::WAITED_BY_CHANCE));
            }
        }
        Orders::SemaphoreWaits => {
            place.with_object(of, &call_with(probe.happened, event::WAITS));
            let local = place.keep_object(of, &[]);
            place.after(&[il::load_local(local), call_with(probe.happened, event::GOT)].concat());
        }
        Orders::SemaphoreAwaits => {
            place.with_object(of, &call_with(probe.happened, event::WAITS));
            let semaphore = place.keep_object(of, &[]);
            place.after_with_result(semaphore, &call(probe.awaits));
        }
        Orders::PhaseEnds => return add_phase(probe, of, place),
        Orders::TaskOfSource => {
            let source = place.keep_object(of, &[]);
            place.after_with_result(source, &call(probe.ends_with));
        }
        Orders::TaskStarts => {
            place.before(&call(probe.hands_over));
            place.with_object(of, &told(event::FORKED));
        }
        Orders::TaskEnded | Orders::AwaitedEnded => {
            let load: &[u8] = if orders == Orders::AwaitedEnded { &[code::LOAD_REFERENCE] } else { &[] };
            let local = place.keep_object(of, load);
            place.after(&[il::load_local(local), told(event::DONE)].concat());
        }
        Orders::AllEnded => {
            let local = place.keep_object(of, &[]);
            place.after(&[il::load_local(local), call_with(probe.all_done, 0)].concat());
        }
        Orders::AllAwaited => {
            let tasks = place.keep_object(of, &[]);
            place.after_with_result(tasks, &call_with(probe.all_continue, 0));
        }
        Orders::PartEnds { goes_on } => return add_part_end(probe, goes_on, place),
    }
    true
}

/// Tells of an event that is of no object.
fn tell_of_none(probe: OrderProbe, event: u32) -> Vec<u8> {
    [&[code::LOAD_NULL], &call_with(probe.happened, event)[..]].concat()
}

/// The method holds the lock of its object or class from its beginning to its end. If it ends with
/// an exception, the thread counts as holding it.
pub fn add_synchronized(probe: OrderProbe, body: &mut Body) {
    body.instructions[0].before.extend(tell_of_none(probe, event::HOLDS));
    for instruction in body.instructions.iter_mut().filter(|i| i.code == u16::from(code::RETURN)) {
        instruction.before.extend(tell_of_none(probe, event::LETS_GO));
    }
}

/// A participant of a barrier comes to the end of a phase. The number of the phase is asked for
/// before: it cannot end without this participant.
fn add_phase(probe: OrderProbe, of: &WatchedCall, place: &mut CallPosition) -> bool {
    let Some(current_phase) = place.current_phase else { return false };
    let barrier = place.keep_object(of, &[]);
    let phase = place.locals.for_argument(local::PHASE, &[INT]);
    let loads = [il::load_local(barrier), il::load_local(phase)].concat();
    let get = il::with_token(code::CALL_VIRTUAL as u8, current_phase);
    let get = [&get[..], &[code::CONVERT_TO_INT], &il::store_local(phase)].concat();
    place.with_object(of, &[&get, &loads[..], &call(probe.signals_phase)].concat());
    place.after(&[loads, call(probe.phase_ended)].concat());
    true
}

/// A part of an asynchronous method ends.
fn add_part_end(probe: OrderProbe, goes_on: bool, place: &mut CallPosition) -> bool {
    let Some(flow) = place.flow else { return false };
    if goes_on {
        let depth = place.locals.for_argument(local::DEPTH, &[INT]);
        place.before(&[il::load_local(depth), call(probe.suspends)].concat());
        place.after(&[load_task(flow), call_with(probe.task_happened, event::SUSPENDED)].concat());
    } else {
        place.before(&call(probe.hands_over));
    }
    true
}

/// A call that starts a piece of work. Whether anything was added.
pub fn add_started(
    probe: OrderProbe,
    started: StartedWork,
    of: &WatchedCall,
    place: &mut CallPosition,
) -> bool {
    if started == StartedWork::Nothing || place.has_prefix() {
        return false;
    }
    let before = (started == StartedWork::Continuation).then(|| place.keep_object(of, &[]));
    place.before(&call(probe.hands_over));
    place.after(&[&[code::DUPLICATE], &call_with(probe.task_happened, event::FORKED)[..]].concat());
    if let Some(function) = place.given {
        let given = add_given(probe, function, of, place);
        place.after_with_result(given, &call(probe.runs_given));
    }
    if let Some(before) = before {
        place.after_with_result(before, &call(probe.continues));
    }
    true
}

/// Gives `Task.Run` another function, which calls the one that it was given; `function` makes such
/// a delegate. Null stays null. Where the box with the first one is kept.
fn add_given(probe: OrderProbe, function: MetadataToken, of: &WatchedCall, place: &mut CallPosition) -> u16 {
    const BRANCH_FALSE: u8 = 0x2C;
    const LOAD_FUNCTION: [u8; 2] = [0xFE, 0x06];
    let local = place.locals.for_argument(local::GIVEN, &[OBJECT]);
    let replace = [
        &call(probe.boxes)[..],
        &[code::DUPLICATE],
        &il::store_local(local),
        &LOAD_FUNCTION,
        &probe.given.to_le_bytes(),
        &il::with_token(code::NEW_OBJECT as u8, function),
    ]
    .concat();
    let above = of.method.parameters.iter().enumerate().skip(1);
    let saved: Vec<u16> = above.map(|(i, kind)| place.locals.for_argument(i, kind)).collect();
    let stores = saved.iter().rev().flat_map(|local| il::store_local(*local)).collect::<Vec<_>>();
    let loads = saved.iter().flat_map(|local| il::load_local(*local)).collect::<Vec<_>>();
    let unless_null = [code::DUPLICATE, BRANCH_FALSE, replace.len() as u8];
    place.before(&[&stores[..], &unless_null, &replace, &loads].concat());
    local
}

/// `this.builder.task`: its first field.
fn load_task(builder: MetadataToken) -> Vec<u8> {
    let field = il::with_token(code::LOAD_FIELD_ADDRESS as u8, builder);
    [&[LOAD_0], &field[..], &[code::LOAD_REFERENCE]].concat()
}

/// What makes a method a piece of work.
#[derive(Clone, Copy)]
pub enum PieceOf {
    /// A task or a thread was made of it.
    Work,
    /// A compiler has put the parts of an asynchronous method into it; the field with the builder.
    Flow(MetadataToken),
    /// It is the static constructor of a class.
    Class(ClassNumber),
}

/// Tells where a piece of work begins and ends.
pub fn add_piece(probe: OrderProbe, of: PieceOf, body: &mut Body, locals: &mut Locals) {
    let depth = locals.for_argument(local::DEPTH, &[INT]);
    let begin = match of {
        PieceOf::Work => call(probe.begins),
        PieceOf::Flow(builder) => [load_task(builder), call(probe.resumes)].concat(),
        PieceOf::Class(number) => call_with(probe.begins_class, number),
    };
    body.instructions[0].before.extend([begin, il::store_local(depth)].concat());
    for at in 0..body.instructions.len() {
        // Nothing may come between a call in the place of the method itself and its return.
        let is_tail_call = at > 1 && body.instructions[at - 2].code == code::TAIL;
        if body.instructions[at].code == u16::from(code::RETURN) && !is_tail_call {
            let end = [il::load_local(depth), call(probe.ends)].concat();
            body.instructions[at].before.extend(end);
        }
    }
}

/// The field with the builder, by the token that the parts of an asynchronous method use for it.
/// None: its builder is not one that is known.
pub fn builder(import: Import, body: &Body) -> Option<MetadataToken> {
    const NAME: &str = "<>t__builder";
    let uses = body.instructions.iter().filter(|i| i.code == code::LOAD_FIELD_ADDRESS).map(|i| i.token());
    for token in uses {
        let (name, kind) = match table::of(token) {
            table::FIELD => import.field(token)?,
            table::MEMBER_REF => {
                let member = import.member_ref(token)?;
                (member.name, member.signature.get(1..)?)
            }
            _ => continue,
        };
        if name == NAME {
            let class = signature::value_type(kind).and_then(|class| import.type_name(class));
            return class.is_some_and(|class| is_task_builder(&class)).then_some(token);
        }
    }
    None
}
