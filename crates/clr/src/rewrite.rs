//! Adds points to the methods of a user's module as they are compiled.
//!
//! Each such module gets a class with two static methods:
//!
//! ```text
//! void Raddle.Probe.Point(object on, int site) {
//!     again: if (fast(&on, RuntimeHelpers.GetHashCode(on), site) == 0) return;
//!            if (Held(&on, site) != 0) goto again;
//! }
//! int Raddle.Probe.Held(native int on, int site) { return slow(on, site); }
//! ```
//!
//! `fast` is called as managed code is, so the thread stays in cooperative mode and references may be read; `slow` is called
//! as native code is, so a collection need not wait for it. It is in a method of its own since a method that calls native code
//! makes a frame for that at every entry. Both are in [`crate::point`].
//!
//! Before a listed call the arguments above the object go to new local variables; `dup`, the site's number and a call of
//! `Point` follow; and the arguments come back.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use crate::com::{IID_METADATA_EMIT, IID_METADATA_IMPORT2};
use crate::il::{self, Body, Built, code};
use crate::lists::{Catalogue, Operation, is_awaiter};
use crate::metadata::{Emit, Import, table};
use crate::point;
use crate::profiling::{ModuleId, Token};
use crate::session::session;
use crate::signature::{self, Arguments};
use crate::sites::{self, Site};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::shipped);

pub fn catalogue() -> &'static Catalogue {
    &CATALOGUE
}

/// A module that is looked into.
struct Module {
    import: Import,
    emit: Emit,
    /// The token of `Point`.
    probe: Token,
    /// What calls of each token are, as far as they were met.
    calls: HashMap<Token, Option<Call>>,
    /// Methods that were looked at, and whether each has points.
    methods: HashMap<Token, bool>,
}

/// A call that is of interest.
#[derive(Clone)]
struct Call {
    /// `System.Collections.Generic.List`1.Add`.
    callee: String,
    what: What,
    /// The types of what is above the object on the stack.
    parameters: Vec<Vec<u8>>,
}

#[derive(Clone, Copy)]
enum What {
    Point(Operation),
    /// `IsCompleted` of an awaiter, to which the answer is to be no.
    Completed,
}

static MODULES: LazyLock<Mutex<HashMap<ModuleId, Module>>> = LazyLock::new(Mutex::default);
/// Where instructions of rewritten methods were, and are.
static PLACES: LazyLock<Mutex<HashMap<(ModuleId, Token), Places>>> = LazyLock::new(Mutex::default);

type Places = Vec<(u32, u32)>;

/// The user's: not of the framework.
fn is_users(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let framework = ["System.", "Microsoft.", "netstandard.", "mscorlib.", "WindowsBase."];
    !path.contains("/shared/Microsoft.") && !framework.iter().any(|prefix| file.starts_with(prefix))
}

/// A module was loaded.
pub fn load(module: ModuleId) {
    let Some(path) = session().info.module_path(module).filter(|path| is_users(path)) else { return };
    match prepare(module) {
        Some(prepared) => drop(lock(&MODULES).insert(module, prepared)),
        None => sites::note_unseen(&path, "its metadata can not be added to"),
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic would end the process: nobody leaves half a change behind.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Adds the probe.
fn prepare(module: ModuleId) -> Option<Module> {
    const HELPERS: &str = "System.Runtime.CompilerServices.RuntimeHelpers";
    /// `int (object)`, `void (object, int)`, `int (native int, int)`.
    const HASH: [u8; 4] = [0, 1, 0x08, 0x1C];
    const POINT: [u8; 5] = [0, 2, 0x01, 0x1C, 0x08];
    const HELD: [u8; 5] = [0, 2, 0x08, 0x18, 0x08];
    let info = session().info;
    let import = Import(info.metadata(module, false, &IID_METADATA_IMPORT2)?);
    let emit = Emit(info.metadata(module, true, &IID_METADATA_EMIT)?);
    let is_object = |token: &Token| import.type_ref(*token).is_some_and(|(_, name)| name == "System.Object");
    let object = import.type_refs().into_iter().find(is_object)?;
    // Whatever facade has Object has RuntimeHelpers too.
    let hash = emit.member_ref(emit.type_ref(import.type_ref(object)?.0, HELPERS)?, "GetHashCode", &HASH)?;
    let class = emit.class("Raddle.Probe", object)?;
    let probe = emit.static_method(class, "Point", &POINT)?;
    let held = emit.static_method(class, "Held", &HELD)?;
    // int fast(native int, int, int) as managed code, int slow(native int, int) as C.
    let fast = emit.signature(&[0, 3, 0x08, 0x18, 0x08, 0x08])?;
    let slow = emit.signature(&[1, 2, 0x08, 0x18, 0x08])?;
    let set = info.set_body(module, held, &il::plain_body(&held_code(slow)))
        && info.set_body(module, probe, &il::plain_body(&probe_code(hash, fast, held)));
    set.then(|| Module { import, emit, probe, calls: HashMap::new(), methods: HashMap::new() })
}

/// `ldarg.0; ldarg.1; calli slow; ret`.
fn held_code(slow: Token) -> Vec<u8> {
    let address = il::load_pointer(point::slow as *const () as usize);
    [&[0x02, 0x03], &address[..], &il::with_token(code::CALL_INDIRECT, slow), &[code::RETURN]].concat()
}

fn probe_code(hash: Token, fast: Token, held: Token) -> Vec<u8> {
    /// `ldarga.s 0; conv.u`: where the reference is.
    const SLOT: [u8; 3] = [0x0F, 0, 0xE0];
    let address = il::load_pointer(point::fast as *const () as usize);
    let call = |token| il::with_token(code::CALL as u8, token);
    let mut text = [
        &SLOT[..],
        &[0x02],
        &call(hash),
        &[0x03],
        &address,
        &il::with_token(code::CALL_INDIRECT, fast),
        &[code::BRANCH_TRUE, 1, code::RETURN],
        &SLOT,
        &[0x03],
        &call(held),
    ]
    .concat();
    let back = -(text.len() as i8) - 2;
    text.extend([code::BRANCH_TRUE, back as u8, code::RETURN]);
    text
}

/// What a call of a token is.
fn look_at_call(import: Import, token: Token) -> Option<Call> {
    let (token, of_method) = if table::of(token) == table::METHOD_SPEC {
        let (method, spec) = import.method_spec(token)?;
        (method, signature::method_arguments(spec)?)
    } else {
        (token, Vec::new())
    };
    if table::of(token) != table::MEMBER_REF {
        return None;
    }
    let member = import.member_ref(token)?;
    let (class, of_class) = if table::of(member.parent) == table::TYPE_SPEC {
        let (coded, arguments) = signature::class_arguments(import.type_spec(member.parent)?)?;
        let tables = [table::TYPE_DEF, table::TYPE_REF, table::TYPE_SPEC];
        let token = tables.get(coded as usize & 3)? << 24 | coded >> 2;
        (import.type_name(token)?, arguments)
    } else {
        (import.type_name(member.parent)?, Vec::new())
    };
    let completed = || session().force_async && member.name == "get_IsCompleted" && is_awaiter(&class);
    let what = match CATALOGUE.find(&class, &member.name) {
        Some(operation) => What::Point(operation),
        None if completed() => What::Completed,
        None => return None,
    };
    let with = Arguments { class: &of_class, method: &of_method };
    let method = signature::method(member.signature, with).filter(|method| method.has_this)?;
    Some(Call { callee: class + "." + &member.name, what, parameters: method.parameters })
}

/// Rewrites a method, once, before it is compiled. Whether it has points.
pub fn method(module: ModuleId, method: Token) -> bool {
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

/// Whether a method was looked at already.
pub fn is_known(module: ModuleId, method: Token) -> bool {
    lock(&MODULES).get(&module).is_some_and(|of| of.methods.contains_key(&method))
}

pub fn is_watched(module: ModuleId) -> bool {
    lock(&MODULES).contains_key(&module)
}

enum Outcome {
    Rewritten,
    Nothing,
    Failed(&'static str),
}

/// The local variables of a method, to which some are added.
struct Locals {
    count: u32,
    signature: Vec<u8>,
    /// Those that were added, by type and which argument they are for.
    added: HashMap<(usize, Vec<u8>), u16>,
}

impl Locals {
    fn of(import: Import, token: Token) -> Option<Locals> {
        let (count, signature) = if token == 0 {
            (0, Vec::new())
        } else {
            let (count, rest) = signature::number(import.signature(token)?.get(1..)?)?;
            (count, rest.to_vec())
        };
        Some(Locals { count, signature, added: HashMap::new() })
    }

    fn for_argument(&mut self, position: usize, kind: &[u8]) -> u16 {
        *self.added.entry((position, kind.to_vec())).or_insert_with(|| {
            self.signature.extend(kind);
            self.count += 1;
            (self.count - 1) as u16
        })
    }

    fn token(self, emit: Emit) -> Option<Token> {
        let mut signature = vec![0x07];
        signature::put_number(&mut signature, self.count);
        signature.extend(self.signature);
        emit.signature(&signature)
    }
}

impl Module {
    fn rewrite(&mut self, module: ModuleId, method: Token) -> Outcome {
        let Some(bytes) = session().info.body(module, method) else { return Outcome::Nothing };
        let Some(mut body) = Body::parse(bytes) else { return Outcome::Failed("its code is not understood") };
        let Some(mut locals) = Locals::of(self.import, body.locals) else {
            return Outcome::Failed("its local variables are not understood");
        };
        let mut changed = false;
        for at in 0..body.instructions.len() {
            changed |= self.add_point(&mut body, at, &mut locals, (module, method));
        }
        if !changed {
            return Outcome::Nothing;
        }
        if !locals.added.is_empty() {
            let Some(token) = locals.token(self.emit) else {
                return Outcome::Failed("it can not get more local variables");
            };
            body.locals = token;
        }
        let Some(Built { bytes, places }) = body.build() else {
            return Outcome::Failed("a branch of it leads into an instruction");
        };
        if !session().info.set_body(module, method, &bytes) {
            return Outcome::Failed("the runtime does not take its new code");
        }
        lock(&PLACES).insert((module, method), places);
        Outcome::Rewritten
    }

    fn add_point(
        &mut self,
        body: &mut Body,
        at: usize,
        locals: &mut Locals,
        (module, method): (ModuleId, Token),
    ) -> bool {
        if !body.instructions[at].is_call() {
            return false;
        }
        let (import, token) = (self.import, body.instructions[at].token());
        let call = self.calls.entry(token).or_insert_with(|| look_at_call(import, token));
        let Some(call) = call else { return false };
        let What::Point(operation) = call.what else {
            // What was answered goes, and no comes.
            body.instructions[at].after.extend([code::POP, 0x16]);
            return true;
        };
        let prefixes = (0..at).rev().take_while(|i| body.instructions[*i].is_prefix());
        let first = prefixes.last().unwrap_or(at);
        if (first..at).any(|i| body.instructions[i].code == code::CONSTRAINED) {
            // On the stack is the address of a reference, or of a structure.
            sites::note_unseen(&call.callee, "a call that is constrained to a type parameter");
            return false;
        }
        let offset = body.instructions[at].offset;
        let callee = call.callee.clone();
        let number = sites::add(Site { module, method, offset, callee, write: operation.write });
        let saved: Vec<u16> =
            call.parameters.iter().enumerate().map(|(i, kind)| locals.for_argument(i, kind)).collect();
        let before = &mut body.instructions[first].before;
        before.extend(saved.iter().rev().flat_map(|local| il::store_local(*local)));
        before.push(code::DUPLICATE);
        before.extend(il::load_int(point::site_word(number, operation)));
        before.extend(il::with_token(code::CALL as u8, self.probe));
        before.extend(saved.iter().flat_map(|local| il::load_local(*local)));
        true
    }
}

/// The offset in a method's code as it was written, from one in the code as it is.
pub fn written_offset(module: ModuleId, method: Token, now: u32) -> u32 {
    let places = lock(&PLACES);
    let Some(places) = places.get(&(module, method)) else { return now };
    places[..places.partition_point(|place| place.1 <= now)].last().map_or(0, |place| place.0)
}
