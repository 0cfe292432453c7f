//! Whether some caller of a function may hold a lock that the function releases and has not taken.
//!
//! A start in the middle calls a function without its callers, so the release of a caller's lock
//! looks wrong. What callers certainly hold is the question of [`crate::entry_locks`].

use rustc_hash::FxHashMap;

use crate::ir::{Instr, Program, cfg};
use crate::locking::Locking;

/// The maximum length of a chain of wrappers around a lock.
const LONGEST_CHAIN: u32 = 4;
/// The maximum number of instructions of a caller.
const LARGEST: u32 = 20_000;
/// The maximum length of a chain of calls that is followed to a release.
const DEEPEST: u32 = 32;

/// A lock, as far as the code of a caller tells which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PossibleLock {
    Global(u64),
    BehindPointer,
    /// A function took it that does not tell which one.
    Unknown,
}

impl PossibleLock {
    /// Whether it may be the lock at an address. A lock behind a pointer is rather part of an
    /// object than a variable of its own.
    fn may_be(self, program: &Program, lock: u64) -> bool {
        match self {
            // A function that gets an object takes a lock in it.
            Self::Global(address) => {
                address == lock || global_at(program, address) == global_at(program, lock)
            }
            Self::BehindPointer => !is_variable(program, lock),
            Self::Unknown => true,
        }
    }
}

/// The size of the largest kind of lock.
const LARGEST_LOCK: u32 = 56;

/// Whether a lock is a global variable of its own.
fn is_variable(program: &Program, lock: u64) -> bool {
    let found = program.globals.binary_search_by_key(&lock, |g| u64::from(g.address));
    found.is_ok_and(|i| program.globals[i].size <= LARGEST_LOCK)
}

/// The last global that does not begin after an address.
fn global_at(program: &Program, address: u64) -> usize {
    program.globals.partition_point(|g| u64::from(g.address) <= address)
}

/// Whether a caller of a function may hold a lock when it calls it. True as well if nobody knows
/// who calls the function.
pub fn may_hold(program: &Program, locking: &Locking, function: u32, lock: u64) -> bool {
    let mut held = LockHold::new(program, locking);
    let mut todo = vec![function];
    let mut i = 0;
    while let Some(function) = todo.get(i).copied() {
        i += 1;
        let callers = callers_of(program, function);
        let is_main = &*program.functions[function as usize].name == "main";
        if locking.is_address_taken(function) || callers.is_empty() && !is_main {
            return true;
        }
        for caller in callers {
            let own = held.within(caller, Paths::Any, 0);
            let entry = program.functions[caller as usize].entry;
            let mut calls = (0..own.len()).filter(|at| is_call(&program.code[entry as usize + at], function));
            if calls.any(|at| own[at].iter().flatten().any(|l| l.may_be(program, lock))) {
                return true;
            }
            if !todo.contains(&caller) {
                todo.push(caller);
            }
        }
    }
    false
}

/// Whether code of the program may take a lock: it uses the lock's variable other than for a
/// release, or the lock is none.
pub fn may_be_taken(program: &Program, locking: &Locking, lock: u64) -> bool {
    if !is_variable(program, lock) {
        return true;
    }
    let is_it = |pc: &u32| matches!(program.code[*pc as usize], Instr::GlobalAddr(a) if u64::from(a) == lock);
    let is_released = |pc: u32| pc + 1 < program.code.len() as u32 && locking.unlocks_at(program, pc + 1);
    let own = program.functions.iter().filter(|f| f.defined && !f.builtin);
    own.flat_map(|f| f.entry..f.end).filter(is_it).any(|pc| !is_released(pc))
}

fn is_call(instr: &Instr, function: u32) -> bool {
    matches!(instr, Instr::Call(g, _) if *g == function)
}

/// The other functions of the program that call a function.
fn callers_of(program: &Program, function: u32) -> Vec<u32> {
    let calls = |(i, f): &(usize, &crate::ir::Function)| {
        let code = || &program.code[f.entry as usize..f.end as usize];
        f.defined && !f.builtin && *i as u32 != function && code().iter().any(|c| is_call(c, function))
    };
    program.functions.iter().enumerate().filter(calls).map(|(i, _)| i as u32).collect()
}

/// The paths from a function's beginning on which a lock must be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paths {
    Every,
    Any,
}

struct LockHold<'p> {
    program: &'p Program,
    locking: &'p Locking,
    /// For each function that was asked for, whether it may release a lock that it has not taken.
    releases: FxHashMap<u32, bool>,
    /// For each function that was asked for, the locks that it may hold when it returns.
    left: FxHashMap<u32, Vec<PossibleLock>>,
}

impl<'p> LockHold<'p> {
    fn new(program: &'p Program, locking: &'p Locking) -> Self {
        Self { program, locking, releases: FxHashMap::default(), left: FxHashMap::default() }
    }

    /// Whether the instruction at `pc` calls a function of the program that may release a lock
    /// which it has not taken.
    fn call_releases(&mut self, pc: u32, depth: u32) -> bool {
        let program = self.program;
        let Instr::Call(callee, _) = program.code[pc as usize] else { return false };
        let f = &program.functions[callee as usize];
        if !f.defined || f.builtin {
            return false;
        }
        if let Some(known) = self.releases.get(&callee) {
            return *known;
        }
        // True for a call of a function that is being looked at.
        self.releases.insert(callee, true);
        let releases = depth > DEEPEST || self.releases_of_others(callee, depth + 1);
        self.releases.insert(callee, releases);
        releases
    }

    /// The locks that a function of the program, called at `pc`, may hold when it returns. One that
    /// releases on an error what it took is no plain wrapper of a lock.
    fn left_locked(&mut self, pc: u32, depth: u32) -> Vec<PossibleLock> {
        let program = self.program;
        let Instr::Call(callee, _) = program.code[pc as usize] else { return Vec::new() };
        let f = &program.functions[callee as usize];
        if !f.defined || f.builtin || depth > DEEPEST {
            return Vec::new();
        }
        if let Some(known) = self.left.get(&callee) {
            return known.clone();
        }
        self.left.insert(callee, Vec::new());
        let own = self.within(callee, Paths::Any, depth + 1);
        let is_return = |at: &usize| matches!(program.code[f.entry as usize + at], Instr::Return);
        let at_returns = (0..own.len()).filter(is_return).filter_map(|at| own[at].as_deref());
        let left = sorted(at_returns.flatten().copied().collect());
        self.left.insert(callee, left.clone());
        left
    }

    fn releases_of_others(&mut self, function: u32, depth: u32) -> bool {
        let (program, locking) = (self.program, self.locking);
        let f = &program.functions[function as usize];
        if (f.entry..f.end).any(|pc| self.call_releases(pc, depth)) {
            return true;
        }
        let unlocks: Vec<u32> = (f.entry..f.end).filter(|pc| locking.unlocks_at(program, *pc)).collect();
        if unlocks.is_empty() {
            return false;
        }
        let own = self.within(function, Paths::Every, depth);
        unlocks.into_iter().any(|pc| {
            let lock = lock_at(program, locking, pc, LONGEST_CHAIN);
            let is_own =
                |held: &Vec<PossibleLock>| matches!(lock, PossibleLock::Global(_)) && held.contains(&lock);
            own[(pc - f.entry) as usize].as_ref().is_some_and(|held| !is_own(held))
        })
    }

    /// For each instruction of a function, the locks that the function holds there on such paths
    /// from its beginning. `None` for code that nothing leads to.
    fn within(&mut self, function: u32, paths: Paths, depth: u32) -> Vec<Option<Vec<PossibleLock>>> {
        let program = self.program;
        let (entry, end) =
            (program.functions[function as usize].entry, program.functions[function as usize].end);
        let mut held: Vec<Option<Vec<PossibleLock>>> = vec![None; (end - entry) as usize];
        if end - entry > LARGEST {
            let any = if paths == Paths::Every { Vec::new() } else { vec![PossibleLock::Unknown] };
            return vec![Some(any); (end - entry) as usize];
        }
        let mut todo = vec![entry];
        held[0] = Some(Vec::new());
        while let Some(pc) = todo.pop() {
            let Some(mut after) = held[(pc - entry) as usize].clone() else { continue };
            self.step(pc, paths, depth, &mut after);
            for next in cfg::successors(&program.code, &program.switches, pc) {
                let Some(at) = next.checked_sub(entry).filter(|at| *at < end - entry) else { continue };
                let known = &mut held[at as usize];
                let meet = match (&known, paths) {
                    (None, _) => after.clone(),
                    (Some(known), Paths::Every) => {
                        known.iter().copied().filter(|l| after.contains(l)).collect()
                    }
                    (Some(known), Paths::Any) => sorted(known.iter().chain(&after).copied().collect()),
                };
                if known.as_ref() != Some(&meet) {
                    *known = Some(meet);
                    todo.push(next);
                }
            }
        }
        held
    }

    /// Changes the held locks by what the instruction at `pc` does.
    fn step(&mut self, pc: u32, paths: Paths, depth: u32, held: &mut Vec<PossibleLock>) {
        let (program, locking) = (self.program, self.locking);
        let is_unlock = locking.unlocks_at(program, pc);
        match paths {
            // Which one it releases is not always clear, so none is certain any more.
            Paths::Every if is_unlock || self.call_releases(pc, depth) => held.clear(),
            Paths::Any if is_unlock => {
                let released = lock_at(program, locking, pc, LONGEST_CHAIN);
                held.retain(|l| *l != released || !matches!(l, PossibleLock::Global(_)));
            }
            _ if locking.locks_at(program, pc) => {
                held.push(lock_at(program, locking, pc, LONGEST_CHAIN));
                *held = sorted(std::mem::take(held));
            }
            Paths::Any => {
                held.extend(self.left_locked(pc, depth));
                *held = sorted(std::mem::take(held));
            }
            _ => {}
        }
    }
}

fn sorted(mut locks: Vec<PossibleLock>) -> Vec<PossibleLock> {
    locks.sort_unstable();
    locks.dedup();
    locks
}

/// The lock that the instruction at `pc` takes or releases. A function of the program takes the one
/// that its own code names.
fn lock_at(program: &Program, locking: &Locking, pc: u32, chain: u32) -> PossibleLock {
    let argument = argument_at(program, pc);
    let Instr::Call(f, n) = program.code[pc as usize] else { return argument };
    let f = &program.functions[f as usize];
    if n == 0 && !f.defined {
        return PossibleLock::Unknown;
    }
    if !f.defined || f.builtin {
        return argument;
    }
    let is_meant = |pc: &u32| locking.locks_at(program, *pc) || locking.unlocks_at(program, *pc);
    let mut inner = (f.entry..f.end).filter(is_meant);
    let (Some(first), None) = (inner.next(), inner.next()) else { return PossibleLock::Unknown };
    let is_first_argument = n == 1 && is_plain_parameter(program, first);
    match argument {
        PossibleLock::Global(_) if is_first_argument => argument,
        _ if chain > 0 && !is_first_argument => lock_at(program, locking, first, chain - 1),
        _ => PossibleLock::Unknown,
    }
}

/// Whether the last argument of the call at `pc` is the first parameter of the function around it.
fn is_plain_parameter(program: &Program, pc: u32) -> bool {
    let mut before = program.code[..pc as usize].iter().rev().filter(|i| !matches!(i, Instr::Nop));
    matches!(before.next(), Some(Instr::Get(0)))
}

/// The lock whose address is the last argument of the instruction at `pc`.
fn argument_at(program: &Program, pc: u32) -> PossibleLock {
    let mut before = program.code[..pc as usize].iter().rev().filter(|i| !matches!(i, Instr::Nop));
    match (before.next(), before.next()) {
        (Some(Instr::GlobalAddr(a)), _) => PossibleLock::Global(u64::from(*a)),
        (Some(Instr::Field(offset)), Some(Instr::GlobalAddr(a))) => {
            PossibleLock::Global(u64::from(*a) + u64::from(*offset))
        }
        _ => PossibleLock::BehindPointer,
    }
}
