//! The locks that the callers of a function hold when they call it, in that function's own terms.
//!
//! A start in the middle calls a function without its callers. If each of them holds a lock, the
//! function's accesses are guarded by a lock that the run has never seen. So the run begins with
//! it. Given `lock(&pool->lock); grow(pool);`, a start of `grow` holds the lock of the object that
//! it was given. Names do not matter: `lock(&a.lock); grow(&b);` holds the lock of `a`.
//!
//! A *context* is one way to the function: a call, and a call of its caller, up to
//! [`LONGEST_CHAIN`] callers. A lock counts if every path of the caller takes it before the call
//! ([`crate::guards::flow`]). A function whose address is taken, or that nobody calls, has one
//! context without locks.
//!
//! 1. What is held in all contexts, and leads from a parameter or a global to one address, is held
//!    at the start, for reading only if one context holds it so.
//! 2. Other locks remain with their context. If in each context one of them may be a lock that the
//!    other thread of a race has taken, the race is a guess: the code does not say whether it is
//!    the same lock. If one context has no such lock, the race stands.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::guards::flow::Flow;
use crate::guards::paths::{Path, PathStep};
use crate::ir::{Instr, MemberId, Program};
use crate::locking::Locking;

/// The maximum number of callers in a context.
const LONGEST_CHAIN: u32 = 4;
/// The maximum number of contexts of a function. With more, none is known.
const MOST_CONTEXTS: usize = 64;

/// How to get to a lock from what a function is given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockPlace {
    pub base: Base,
    pub hops: Vec<Hop>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    Global(u32),
    Param(u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hop {
    Plus(u32),
    /// On to where the pointer here leads.
    Load,
}

/// What two names of one lock have in common, whatever leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockName {
    Member(MemberId),
    /// A global, or an element of it.
    Global(u32),
    Any,
}

impl LockName {
    /// Whether both may name one lock.
    pub fn may_be(self, other: LockName) -> bool {
        self == other || self == Self::Any || other == Self::Any
    }
}

/// A lock that a caller holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallersLock {
    pub place: Option<LockPlace>,
    pub name: LockName,
    pub shared: bool,
    /// Where the caller took it.
    pub pc: u32,
}

/// The locks at the beginning of a function.
#[derive(Debug, Default)]
pub struct AtEntry {
    /// Held in all contexts.
    pub held: Vec<CallersLock>,
    /// For each context, the others that it holds.
    pub others: Vec<Vec<CallersLock>>,
}

/// A lock in a context, before it is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Fact {
    /// In the terms of the function that the context leads to.
    path: Option<Path>,
    name: LockName,
    shared: bool,
    pc: u32,
}

pub struct EntryLocks<'p> {
    program: &'p Program,
    locking: Arc<Locking>,
    callers: Arc<[Vec<u32>]>,
    flow: Option<Flow<'p>>,
    known: FxHashMap<u32, Arc<AtEntry>>,
}

/// For each function, the other functions of the program that call it.
pub fn callers(program: &Program) -> Arc<[Vec<u32>]> {
    let mut out: Vec<Vec<u32>> = vec![Vec::new(); program.functions.len()];
    for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| f.defined && !f.builtin) {
        for instr in &program.code[f.entry as usize..f.end as usize] {
            if let Instr::Call(callee, _) = instr
                && *callee != i as u32
                && out[*callee as usize].last() != Some(&(i as u32))
            {
                out[*callee as usize].push(i as u32);
            }
        }
    }
    out.into()
}

impl<'p> EntryLocks<'p> {
    pub fn new(program: &'p Program, locking: Arc<Locking>, callers: Arc<[Vec<u32>]>) -> Self {
        Self { program, locking, callers, flow: None, known: FxHashMap::default() }
    }

    /// The locks at the beginning of a function.
    pub fn of(&mut self, function: u32) -> Arc<AtEntry> {
        if let Some(known) = self.known.get(&function) {
            return known.clone();
        }
        let mut flow = self.flow.take().unwrap_or_else(|| Flow::new(self.program));
        let contexts = self.contexts(&mut flow, function, LONGEST_CHAIN);
        let at_entry = Arc::new(meet(&flow, &contexts));
        self.flow = Some(flow);
        self.known.insert(function, at_entry.clone());
        at_entry
    }

    /// Whether other functions of the program call a function, and nobody else can.
    pub fn has_all_callers(&self, function: u32, has_main: bool) -> bool {
        let f = &self.program.functions[function as usize];
        !self.locking.is_address_taken(function) && (!f.external || has_main)
    }

    fn contexts(&self, flow: &mut Flow<'p>, function: u32, chain: u32) -> Vec<Vec<Fact>> {
        let callers = &self.callers[function as usize];
        if chain == 0 || callers.is_empty() || self.locking.is_address_taken(function) {
            return vec![Vec::new()];
        }
        let mut out: FxHashSet<Vec<Fact>> = FxHashSet::default();
        let mut in_order = Vec::new();
        for caller in callers {
            for context in self.through(flow, *caller, function, chain) {
                if out.insert(context.clone()) {
                    in_order.push(context);
                }
            }
            if in_order.len() > MOST_CONTEXTS {
                return vec![Vec::new()];
            }
        }
        in_order
    }

    /// The contexts that lead through a caller.
    fn through(&self, flow: &mut Flow<'p>, caller: u32, function: u32, chain: u32) -> Vec<Vec<Fact>> {
        let seen = flow.of_function(caller).filter(|s| !s.given_up).cloned();
        let Some(seen) = seen else { return vec![Vec::new()] };
        // What the caller releases was its callers'.
        let above = match seen.releases_others() {
            true => vec![Vec::new()],
            false => self.contexts(flow, caller, chain - 1),
        };
        let mut out = Vec::new();
        for call in seen.calls.iter().filter(|c| c.callee == function) {
            let own = call.held.iter().filter(|h| h.always && !h.is_semaphore).map(|h| {
                let (path, name) = (Some(h.lock), name_of(flow, h.lock));
                Fact { path, name, shared: h.shared, pc: h.pc }
            });
            let own: Vec<Fact> = own.collect();
            for context in &above {
                let mut facts: Vec<Fact> = own.iter().chain(context).copied().collect();
                for fact in &mut facts {
                    fact.path = fact.path.and_then(|p| flow.paths.of_callee(p, &call.arguments, call.pc));
                }
                out.push(facts);
            }
        }
        out
    }

    /// The name of the lock that the call at `stack[0]`, in the program's own code, takes. The rest
    /// of the stack are the calls that lead to it, innermost first.
    pub fn name_of_taken(&mut self, stack: &[u32]) -> LockName {
        let mut flow = self.flow.take().unwrap_or_else(|| Flow::new(self.program));
        let name = self.taken(&mut flow, stack).unwrap_or(LockName::Any);
        self.flow = Some(flow);
        name
    }

    fn taken(&self, flow: &mut Flow<'p>, stack: &[u32]) -> Option<LockName> {
        let mut lock: Option<Path> = None;
        for pc in stack {
            let function = self.program.function_of(*pc);
            let calls = &flow.of_function(function)?.calls;
            let arguments = calls.iter().find(|c| c.pc == *pc)?.arguments.clone();
            let path = match lock {
                None => arguments.first().copied()?,
                Some(path) => flow.paths.of_caller(path, &arguments, *pc)?,
            };
            if flow.paths.last_member(path).is_some() || !matches!(flow.paths.root(path), PathStep::Param(_))
            {
                return Some(name_of(flow, path));
            }
            lock = Some(path);
        }
        None
    }
}

fn name_of(flow: &Flow<'_>, lock: Path) -> LockName {
    match (flow.paths.last_member(lock), flow.paths.root(lock)) {
        (Some(member), _) => LockName::Member(member),
        (None, PathStep::Global(a)) if a != 0 => LockName::Global(a),
        _ => LockName::Any,
    }
}

/// The place that a path leads to, in terms of parameters and globals.
fn place_of(flow: &Flow<'_>, path: Path) -> Option<LockPlace> {
    let step = flow.paths.step(path);
    let hop = match step {
        PathStep::Global(a) if a != 0 => return Some(LockPlace { base: Base::Global(a), hops: Vec::new() }),
        PathStep::Param(n) => return Some(LockPlace { base: Base::Param(n), hops: Vec::new() }),
        PathStep::Member(_, id) => Hop::Plus(flow.offset(id)?),
        PathStep::Element(_, Some(at)) => Hop::Plus(at),
        PathStep::Load(_) => Hop::Load,
        _ => return None,
    };
    let mut place = place_of(flow, flow.paths.parent(path)?)?;
    place.hops.push(hop);
    Some(place)
}

fn meet(flow: &Flow<'_>, contexts: &[Vec<Fact>]) -> AtEntry {
    let resolve = |fact: &Fact| CallersLock {
        place: fact.path.and_then(|p| place_of(flow, p)),
        name: fact.name,
        shared: fact.shared,
        pc: fact.pc,
    };
    let contexts: Vec<Vec<CallersLock>> =
        contexts.iter().map(|context| context.iter().map(resolve).collect()).collect();
    let mut held: Vec<CallersLock> = contexts.first().cloned().unwrap_or_default();
    held.retain(|h| h.place.is_some());
    held.dedup_by(|a, b| a.place == b.place);
    for context in contexts.iter().skip(1) {
        held.retain_mut(|h| match context.iter().find(|c| c.place == h.place) {
            Some(other) => {
                h.shared |= other.shared;
                true
            }
            None => false,
        });
    }
    let is_held = |l: &CallersLock| held.iter().any(|h| h.place == l.place);
    let others = contexts.into_iter().map(|c| c.into_iter().filter(|l| !is_held(l)).collect()).collect();
    AtEntry { held, others }
}
