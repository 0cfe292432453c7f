//! Adds points to the methods of a user's module as they are compiled.
//!
//! Before a listed call the arguments above the object go to new local variables; `dup`, the site's
//! number and a call of the probe follow; and the arguments come back. What is on the stack may be
//! something else than the object:
//!
//! | on the stack | what is done |
//! |---|---|
//! | the address of a reference or of a structure, in a call that is constrained to a type parameter | it is loaded and boxed, which does nothing to a reference |
//! | the address of a structure whose first field is the object: an enumerator | the field is loaded |
//! | the address of a variable: `Array.Resize` | the variable is loaded |
//!
//! `Array.Resize` of a static field gets two points: one reads the old array, and one replaces what
//! the field refers to.
//!
//! Where a delegate is made of a listed method, it is made of a static method of the probe's class
//! instead, whose first argument is the object, and which comes to a point and then calls the
//! method (`delegates`).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};

use crate::calls::{CallKind, Orders, WatchedCall, runs_asynchronous};
use crate::class_constructors::{self, ClassNumber};
use crate::com::IID_METADATA_IMPORT2;
use crate::delegates::Thunks;
use crate::il::{self, Body, Built, code};
use crate::lists::{ObjectPosition, Operation};
use crate::metadata::{Emit, Import, table};
use crate::order::{self, event};
use crate::order_calls::PieceOf;
use crate::probe::{self, Completed, ProbeMethods};
use crate::profiling::{FunctionId, MetadataToken, ModuleId};
use crate::session::session;
use crate::sites::{self, ClrSite};
use crate::{force_async, order_calls, order_probe, ownership, point, signature};

/// A module that is looked into.
struct Module {
    import: Import,
    emit: Emit,
    probe: ProbeMethods,
    /// What calls of each token are, as far as they were met.
    calls: HashMap<MetadataToken, Option<WatchedCall>>,
    /// Methods that delegates are made of in place of listed ones.
    thunks: Thunks,
    /// Methods that delegates are made of which begin a piece of work, as far as they were met.
    begins: HashSet<MetadataToken>,
    /// Classes whose static fields were met: the number of each that has a static constructor.
    static_classes: HashMap<MetadataToken, Option<ClassNumber>>,
    /// Methods that were looked at, and whether each has points.
    methods: HashMap<MetadataToken, bool>,
}

static MODULES: LazyLock<Mutex<HashMap<ModuleId, Module>>> = LazyLock::new(Mutex::default);
/// Where instructions of rewritten methods were, and are.
static PLACES: LazyLock<Mutex<HashMap<(ModuleId, MetadataToken), Places>>> = LazyLock::new(Mutex::default);

type Places = Vec<(u32, u32)>;

/// Whether the framework has what is needed to know of order.
static ORDER_IS_POSSIBLE: AtomicBool = AtomicBool::new(false);

pub fn order_is_possible() -> bool {
    ORDER_IS_POSSIBLE.load(Relaxed)
}

/// A module was loaded.
pub fn load(module: ModuleId) {
    note_library(module);
    let is_users = |path: &String| ownership::is_users(path, &session().modules);
    let Some(path) = session().info.module_path(module).filter(is_users) else { return };
    match prepare(module, &path) {
        Some(prepared) => drop(lock(&MODULES).insert(module, prepared)),
        None if path.starts_with('/') => {
            sites::note_unseen(&path, "modules whose metadata cannot be added to")
        }
        None => sites::note_unseen(&path, "code that was made at run time"),
    }
}

/// The library that the runtime is made with is loaded before any other.
fn note_library(module: ModuleId) {
    if order_is_possible() {
        return;
    }
    let path = session().info.module_path(module).unwrap_or_default();
    if path.ends_with("/System.Private.CoreLib.dll") {
        let import = || session().info.metadata(module, false, &IID_METADATA_IMPORT2).map(Import);
        // Nobody trims the framework that all programs share. To look it up takes 3 ms.
        let is_possible =
            ownership::is_shared_framework(&path) || import().is_some_and(order_probe::is_possible);
        ORDER_IS_POSSIBLE.store(is_possible, Relaxed);
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic would end the process: nobody leaves half a change behind.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn prepare(module: ModuleId, path: &str) -> Option<Module> {
    let import = Import(session().info.metadata(module, false, &IID_METADATA_IMPORT2)?);
    let (probe, emit) = probe::add(module, import)?;
    let thunks = Thunks::prepare(module, path, import, (probe, emit));
    Some(Module {
        import,
        emit,
        probe,
        calls: HashMap::new(),
        thunks,
        begins: HashSet::new(),
        static_classes: HashMap::new(),
        methods: HashMap::new(),
    })
}

/// A module is unloaded.
pub fn unload(module: ModuleId) {
    lock(&MODULES).remove(&module);
    lock(&PLACES).retain(|(of, _), _| *of != module);
    sites::forget(module);
    class_constructors::forget(module);
}

/// Rewrites a method, once, before it is compiled. Whether it has points.
pub fn method(module: ModuleId, method: MetadataToken) -> bool {
    let mut modules = lock(&MODULES);
    let Some(of) = modules.get_mut(&module) else { return false };
    if let Some(known) = of.methods.get(&method) {
        return *known;
    }
    let done = of.rewrite(module, method);
    if let Outcome::Failed(why) = done {
        sites::note_unseen(&sites::method_name(of.import, method), why);
    }
    let has_points = matches!(done, Outcome::Rewritten);
    of.methods.insert(method, has_points);
    has_points
}

/// Tells the runtime where the instructions of a rewritten method are now.
pub fn tell_places(function: FunctionId, module: ModuleId, method: MetadataToken) {
    if let Some(places) = lock(&PLACES).get(&(module, method)) {
        session().info.set_map(function, places);
    }
}

/// Whether a method was looked at already.
pub fn is_known(module: ModuleId, method: MetadataToken) -> bool {
    lock(&MODULES).get(&module).is_some_and(|of| of.methods.contains_key(&method))
}

pub fn is_watched(module: ModuleId) -> bool {
    lock(&MODULES).contains_key(&module)
}

/// Why a method is left alone: an operand that is cut off, an unknown instruction, a branch into
/// the middle of one. Code that is protected looks like this until it is decrypted.
const UNDECODABLE: &str = "methods whose IL cannot be decoded (damaged, obfuscated or encrypted)";

enum Outcome {
    Rewritten,
    Nothing,
    Failed(&'static str),
}

/// A call in a method that is being rewritten.
pub struct CallPosition<'a> {
    pub body: &'a mut Body,
    pub at: usize,
    pub locals: &'a mut Locals,
    /// In the parts of an asynchronous method, the field that its task is in.
    pub flow: Option<MetadataToken>,
    /// Of a call of `Barrier.SignalAndWait`: what tells the number of the phase.
    pub current_phase: Option<MetadataToken>,
    /// Of a call of `Task.Run(async …)`: what makes a delegate of the kind that it is given.
    pub given: Option<MetadataToken>,
}

/// The local variables of a method, to which some are added.
pub struct Locals {
    count: u32,
    signature: Vec<u8>,
    /// Those that were added, by type and which argument they are for.
    added: HashMap<(usize, Vec<u8>), u16>,
}

impl Locals {
    fn of(import: Import, token: MetadataToken) -> Option<Locals> {
        let (count, signature) = if token == 0 {
            (0, Vec::new())
        } else {
            let (count, rest) = signature::number(import.signature(token)?.get(1..)?)?;
            (count, rest.to_vec())
        };
        Some(Locals { count, signature, added: HashMap::new() })
    }

    /// One for an argument of a call, by its position; those of one type share it.
    pub fn for_argument(&mut self, position: usize, kind: &[u8]) -> u16 {
        *self.added.entry((position, kind.to_vec())).or_insert_with(|| {
            self.signature.extend(kind);
            self.count += 1;
            (self.count - 1) as u16
        })
    }

    fn token(self, emit: Emit) -> Option<MetadataToken> {
        let mut signature = vec![0x07];
        signature::put_number(&mut signature, self.count);
        signature.extend(self.signature);
        emit.signature(&signature)
    }
}

impl Module {
    fn rewrite(&mut self, module: ModuleId, method: MetadataToken) -> Outcome {
        // A delegate's own call of the listed method is behind its point.
        if self.import.method(method).is_some_and(|member| member.parent == self.probe.class) {
            return Outcome::Nothing;
        }
        let Some(bytes) = session().info.body(module, method) else { return Outcome::Nothing };
        let Some(mut body) = Body::parse(bytes) else { return Outcome::Failed(UNDECODABLE) };
        let Some(mut locals) = Locals::of(self.import, body.locals) else {
            return Outcome::Failed(UNDECODABLE);
        };
        let static_uses = self.static_uses(module, &body);
        let mut of = Rewriting { module, method, ordinals: HashMap::new(), flow: None, static_uses };
        let mut changed = self.add_piece(&mut body, &mut locals, &mut of);
        changed |= self.add_synchronized(&mut body, method);
        for at in 0..body.instructions.len() {
            changed |= if body.instructions[at].loads_function() {
                self.replace_function(&mut body, at, &mut of)
            } else {
                body.instructions[at].is_call() && self.add_point(&mut body, at, &mut locals, &mut of)
            };
        }
        if !changed {
            return Outcome::Nothing;
        }
        if !locals.added.is_empty() {
            let Some(token) = locals.token(self.emit) else {
                return Outcome::Failed("methods that cannot get more local variables");
            };
            body.locals = token;
        }
        let Some(Built { bytes, places }) = body.build() else {
            return Outcome::Failed(UNDECODABLE);
        };
        if !session().info.set_body(module, method, &bytes) {
            return Outcome::Failed("methods whose new code the runtime refuses");
        }
        lock(&PLACES).insert((module, method), places);
        Outcome::Rewritten
    }

    fn look_at(&mut self, token: MetadataToken) -> Option<&WatchedCall> {
        let import = self.import;
        self.calls.entry(token).or_insert_with(|| WatchedCall::look_at(import, token)).as_ref()
    }

    fn add_point(&mut self, body: &mut Body, at: usize, locals: &mut Locals, of: &mut Rewriting) -> bool {
        let probe = self.probe;
        let token = body.instructions[at].token();
        let is_new = body.instructions[at].code == code::NEW_OBJECT;
        let Some(call) = self.look_at(token).filter(|call| call.is_constructor == is_new) else {
            return false;
        };
        let operation = match call.what {
            CallKind::Point(operation) => operation,
            CallKind::Completed { of_value } => {
                let Some(Completed { of_task, of_value_task }) = probe.completed else { return false };
                let completed = if of_value { of_value_task } else { of_task };
                if of_value {
                    body.instructions[at].before.push(code::DUPLICATE);
                }
                let after = &mut body.instructions[at].after;
                after.extend(il::load_int(force_async::new_site(of.flow.is_some())));
                after.extend(il::with_token(code::CALL as u8, completed));
                return true;
            }
            CallKind::Orders(orders) => {
                let Some(order) = probe.order else { return false };
                if orders == Orders::Before(event::TRIES_TO_SET) {
                    order::forget_setters();
                }
                let call = call.clone();
                let current_phase =
                    if orders == Orders::PhaseEnds { self.current_phase(token) } else { None };
                let mut place = CallPosition { current_phase, ..of.place(body, at, locals) };
                return order_calls::add(order, orders, &call, &mut place);
            }
            CallKind::Starts(started) => {
                let (order, call) = (probe.order, call.clone());
                self.note_begins(body, at);
                let Some(order) = order else { return false };
                let mut place = CallPosition { given: self.given(&call), ..of.place(body, at, locals) };
                return order_calls::add_started(order, started, &call, &mut place);
            }
            CallKind::Unseen(why) => {
                sites::note_unseen(&sites::method_name(self.import, of.method), why);
                return false;
            }
        };
        let call = call.clone();
        let mut points = vec![operation.on_old_object()];
        if operation.replaces && self.gives_static_field(body, at) {
            points.push(operation);
        }
        let first = body.first_prefix(at);
        let constrained = (first..at).find(|i| body.instructions[*i].code == code::CONSTRAINED);
        let constrained = constrained.map(|i| body.instructions[i].token());
        let Some(load) = self.load_object(&call, operation, constrained) else { return false };
        // What is above the object.
        let above = match operation.object {
            ObjectPosition::Argument(n) => usize::from(n) + 1,
            ObjectPosition::This | ObjectPosition::FirstField => 0,
        };
        let above = call.method.parameters.iter().enumerate().skip(above);
        let saved: Vec<u16> = above.map(|(i, kind)| locals.for_argument(i, kind)).collect();
        let checked = operation.checked || constrained.is_some();
        let target = if checked { probe.through } else { probe.point };
        let mut text: Vec<u8> = saved.iter().rev().flat_map(|local| il::store_local(*local)).collect();
        for operation in points {
            let number = of.site(body.instructions[at].offset, &call, operation);
            of.note_ready_classes(body, at, number);
            text.push(code::DUPLICATE);
            text.extend(&load);
            text.extend(il::load_int(point::site_word(number, operation)));
            text.extend(il::with_token(code::CALL as u8, target));
        }
        text.extend(saved.iter().flat_map(|local| il::load_local(*local)));
        body.instructions[first].before.extend(text);
        true
    }

    /// Whether a call that replaces what a variable refers to is given a static field. A local
    /// variable, or a field of an object that another thread may not have, may be the thread's own:
    /// that is how a program makes a longer copy of an array that others go on reading.
    fn gives_static_field(&self, body: &Body, at: usize) -> bool {
        const VECTOR: u8 = 0x1D;
        let kind = |token: MetadataToken| match table::of(token) {
            table::FIELD => self.import.field(token).map(|(_, kind)| kind),
            // Behind a byte that says that it is a field.
            _ => self.import.member_ref(token).and_then(|member| member.signature.get(1..)),
        };
        let before = body.instructions[..at].iter().enumerate().rev();
        let Some((given, address)) = before.clone().find(|(_, one)| one.loads_address()) else {
            return false;
        };
        let is_straight = (given + 1..=at).all(|between| !body.is_target(between));
        let is_array = || kind(address.token()).is_some_and(|kind| kind.starts_with(&[VECTOR]));
        address.code == code::LOAD_STATIC_ADDRESS && is_straight && is_array()
    }

    /// Whether a method is the one in which a compiler has put the body of an asynchronous method:
    /// its parts run as pieces of work of their own. That of an iterator, which has the same name,
    /// returns something.
    fn goes_on_later(&self, method: MetadataToken) -> bool {
        const INSTANCE_VOID: [u8; 3] = [0x20, 0, 0x01];
        let Some(member) = self.import.method(method) else { return false };
        let is_made = || self.import.type_def(member.parent).is_some_and(|name| is_asynchronous(&name));
        member.name == "MoveNext" && member.signature == INSTANCE_VOID && is_made()
    }

    /// If the method is one that begins a piece of work, tells where that begins and ends.
    fn add_piece(&self, body: &mut Body, locals: &mut Locals, of: &mut Rewriting) -> bool {
        if let (Some(class), Some(order)) = (self.constructed_class(of), self.probe.order) {
            order_calls::add_piece(order, PieceOf::Class(class), body, locals);
            return true;
        }
        if self.is_finalizer(of.method) {
            body.instructions[0].before.extend(il::with_token(code::CALL as u8, self.probe.begin));
            return true;
        }
        let goes_on = self.goes_on_later(of.method);
        if !goes_on && !self.begins.contains(&of.method) {
            return false;
        }
        if goes_on && session().has_known_enumerators {
            of.flow = order_calls::builder(self.import, body);
        }
        let piece = if goes_on { of.flow.map(PieceOf::Flow) } else { Some(PieceOf::Work) };
        match (self.probe.order, piece) {
            (Some(order), Some(piece)) => order_calls::add_piece(order, piece, body, locals),
            _ => body.instructions[0].before.extend(il::with_token(code::CALL as u8, self.probe.begin)),
        }
        true
    }

    /// If the runtime takes a lock for a method (`MethodImplOptions.Synchronized`), tells of that.
    fn add_synchronized(&self, body: &mut Body, method: MetadataToken) -> bool {
        let Some(order) = self.probe.order.filter(|_| self.import.is_synchronized(method)) else {
            return false;
        };
        order_calls::add_synchronized(order, body);
        true
    }

    /// Whether a method is what the collector's thread calls for an object that is gone.
    fn is_finalizer(&self, method: MetadataToken) -> bool {
        const INSTANCE_VOID: [u8; 3] = [0x20, 0, 0x01];
        let member = self.import.method(method);
        member.is_some_and(|member| member.name == "Finalize" && member.signature == INSTANCE_VOID)
    }

    /// The class that a method is the static constructor of. Those of a compiler's own classes,
    /// which keep lambdas, do nothing of interest.
    fn constructed_class(&self, of: &Rewriting) -> Option<ClassNumber> {
        let member = self.import.method(of.method).filter(|member| member.name == ".cctor")?;
        let class = self.import.type_def(member.parent)?;
        let is_made = class.rsplit('/').next().is_some_and(|name| name.starts_with('<'));
        (!is_made).then(|| class_constructors::number(of.module, member.parent))
    }

    /// Instructions that use static fields of this module's classes with static constructors.
    /// Fields of generic classes have other tokens.
    fn static_uses(&mut self, module: ModuleId, body: &Body) -> HashMap<usize, ClassNumber> {
        let import = self.import;
        let mut number = |class: MetadataToken| {
            *self.static_classes.entry(class).or_insert_with(|| {
                import.has_static_constructor(class).then(|| class_constructors::number(module, class))
            })
        };
        let uses =
            body.instructions.iter().enumerate().filter(|(_, instruction)| instruction.uses_static_field());
        let own = uses.filter(|(_, instruction)| table::of(instruction.token()) == table::FIELD);
        own.filter_map(|(at, use_of)| Some((at, number(import.class_of_field(use_of.token())?)?))).collect()
    }

    /// The method by which a barrier tells the number of its phase, for a call of another of its
    /// methods.
    fn current_phase(&self, token: MetadataToken) -> Option<MetadataToken> {
        const LONG: u8 = 0x0A;
        let barrier = self.import.member_ref(token)?.parent;
        self.emit.member_ref(barrier, "get_CurrentPhaseNumber", &[0x20, 0, LONG])
    }

    /// The constructor of the delegate that a call of `Task.Run(async …)` takes.
    fn given(&self, call: &WatchedCall) -> Option<MetadataToken> {
        const CONSTRUCTOR: [u8; 5] = [0x20, 2, 0x01, 0x1C, 0x18];
        let function = call.method.parameters.first().filter(|_| runs_asynchronous(self.import, call))?;
        self.emit.member_ref(self.emit.type_spec(function)?, ".ctor", &CONSTRUCTOR)
    }

    /// The methods of this module of which delegates were made just before a call that takes them
    /// as pieces of work.
    fn note_begins(&mut self, body: &Body, at: usize) {
        /// A delegate that is kept for the next time takes eight instructions.
        const NEAR: usize = 24;
        let near = &body.instructions[at.saturating_sub(NEAR)..at];
        let taken = near.iter().filter(|instruction| instruction.loads_function()).map(|i| i.token());
        self.begins.extend(taken.filter(|token| table::of(*token) == table::METHOD_DEF));
    }

    /// What makes the object of what is on the stack. None: the call is left alone.
    fn load_object(
        &self,
        call: &WatchedCall,
        operation: Operation,
        constrained: Option<MetadataToken>,
    ) -> Option<Vec<u8>> {
        if let Some(kind) = constrained {
            // Of a structure this makes a copy, so it is for type parameters alone, and not for
            // what is called all the time.
            let is_parameter = table::of(kind) == table::TYPE_SPEC
                && self.import.type_spec(kind).is_some_and(signature::is_parameter);
            let is_rare = !["System.Object", "System.Collections.IEnumerator"].contains(&call.class.as_str());
            let load = [il::with_token(code::LOAD_OBJECT, kind), il::with_token(code::BOX, kind)].concat();
            return (is_parameter && is_rare).then_some(load);
        }
        Some(match operation.object {
            ObjectPosition::This => vec![],
            ObjectPosition::FirstField => vec![code::LOAD_REFERENCE],
            ObjectPosition::Argument(n) => {
                let by_reference = signature::by_reference(&call.method.parameters[usize::from(n)]).is_some();
                if by_reference { vec![code::LOAD_REFERENCE] } else { vec![] }
            }
        })
    }

    /// A delegate is made of a listed method.
    fn replace_function(&mut self, body: &mut Body, at: usize, of: &mut Rewriting) -> bool {
        let (token, offset) = (body.instructions[at].token(), body.instructions[at].offset);
        let Some(call) = self.look_at(token).cloned() else { return false };
        if let CallKind::Orders(Orders::Before(event)) = call.what {
            order::will_not_see(event);
        }
        let CallKind::Point(operation) = call.what else { return false };
        let makes_delegate = body.instructions.get(at + 1).is_some_and(|next| next.code == code::NEW_OBJECT);
        let to = (of.module, self.probe);
        let new_site = || of.site(offset, &call, operation);
        let thunk = if makes_delegate { self.thunks.of(token, &call, to, new_site) } else { None };
        match thunk {
            Some(thunk) => body.instructions[at].load_other_function(thunk),
            None => sites::note_unseen(&call.callee, "delegates made of a listed method of a generic type"),
        }
        thunk.is_some()
    }
}

/// Whether a class is one that a compiler makes of an asynchronous method, `<Load>d__3`, or of a
/// lambda or local function, `<<Load>b__0>d`, or of an iterator.
fn is_asynchronous(class: &str) -> bool {
    let name = class.rsplit('/').next().unwrap_or_default();
    let name = name.split('`').next().unwrap_or_default();
    name.starts_with('<') && (name.contains(">d__") || name.ends_with(">d"))
}

/// A method that is being rewritten.
struct Rewriting {
    module: ModuleId,
    method: MetadataToken,
    /// How many points at calls of each callee there were so far.
    ordinals: HashMap<String, u32>,
    /// In the parts of an asynchronous method, the field that its task is in.
    flow: Option<MetadataToken>,
    /// Instructions that use static fields, and of which class.
    static_uses: HashMap<usize, ClassNumber>,
}

impl Rewriting {
    fn place<'a>(&self, body: &'a mut Body, at: usize, locals: &'a mut Locals) -> CallPosition<'a> {
        CallPosition { body, at, locals, flow: self.flow, current_phase: None, given: None }
    }

    /// Tells which static constructors have ended when a site is reached.
    fn note_ready_classes(&self, body: &Body, at: usize, site: u32) {
        if self.static_uses.is_empty() {
            return;
        }
        let mut ready: Vec<ClassNumber> =
            body.ran_before(at).iter().filter_map(|i| self.static_uses.get(i).copied()).collect();
        ready.sort_unstable();
        ready.dedup();
        if !ready.is_empty() {
            class_constructors::note_site(site, ready);
        }
    }

    fn site(&mut self, offset: u32, call: &WatchedCall, operation: Operation) -> u32 {
        let ordinal = self.ordinals.entry(call.callee.clone()).or_insert(0);
        *ordinal += 1;
        sites::add(ClrSite {
            module: self.module,
            method: self.method,
            offset,
            callee: call.callee.clone(),
            class: call.class.clone(),
            write: operation.write,
            ordinal: *ordinal,
        })
    }
}

/// The offset in a method's code as it was written, from one that the runtime tells. `told`: all
/// that it tells of the method. A runtime that uses what [`tell_places`] said tells offsets as they
/// were written, as 3.1 does, and not those in the code as it is.
pub fn written_offset(module: ModuleId, method: MetadataToken, at: u32, told: &[u32]) -> u32 {
    lock(&PLACES).get(&(module, method)).map_or(at, |places| written(places, at, told))
}

fn written(places: &[(u32, u32)], at: u32, told: &[u32]) -> u32 {
    if told.iter().all(|told| places.binary_search_by_key(told, |place| place.0).is_ok()) {
        return at;
    }
    places[..places.partition_point(|place| place.1 <= at)].last().map_or(0, |place| place.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_as_written_and_as_they_are() {
        let places = [(0, 0), (1, 9), (6, 14), (7, 30)];
        assert_eq!(written(&places, 6, &[0, 6, 7]), 6, "the runtime has the places");
        assert_eq!(written(&places, 14, &[0, 9, 14, 30]), 6, "it has not");
        assert_eq!(written(&places, 20, &[0, 9, 20]), 6, "in what was added before the next one");
    }

    #[test]
    fn classes_of_asynchronous_methods() {
        let made = ["Shop/<Load>d__3", "Shop`1/<Load>d__3`1", "Shop/<>c/<<Load>b__0_1>d", "A/<<Map>b__0>d`2"];
        assert!(made.into_iter().all(is_asynchronous));
        let others = ["Shop", "Shop/<>c", "Shop/<>c__DisplayClass1_0", "Shop/Mad", "Generic`1"];
        assert!(!others.into_iter().any(is_asynchronous));
    }
}
