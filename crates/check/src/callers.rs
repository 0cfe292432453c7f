//! Locks that all callers of a function hold when they call it.
//!
//! A start in the middle calls a function without its callers. If each of them holds a lock, the
//! function's own accesses are guarded by a lock that the run has never seen. A finding that says
//! otherwise rests on a guess.
//!
//! A lock counts as held at a call if every path of the caller takes it before and does not release
//! it, or if all callers of the caller hold it. So a caller that may have released it is one that
//! does not hold it, and the finding stands. So is a function whose address is taken, because then
//! nobody knows who calls it.

use crate::ir::{Instr, Program, cfg};
use crate::locking::Locking;

/// The maximum length of a chain of callers.
const LONGEST_CHAIN: u32 = 4;
/// The maximum number of instructions of a caller.
const LARGEST: u32 = 20_000;

/// A lock, as far as the code of a caller tells which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallersLock {
    Global(u64),
    BehindPointer,
}

impl CallersLock {
    /// Whether it may be the lock at an address. A lock behind a pointer is rather part of an object
    /// than a variable of its own.
    pub fn may_be(self, program: &Program, lock: u64) -> bool {
        match self {
            Self::Global(address) => address == lock,
            Self::BehindPointer => !is_variable(program, lock),
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

/// For each call of a function, the locks held at it. Empty if the function has no calls.
pub fn at_calls(program: &Program, locking: &Locking, function: u32) -> Vec<Vec<CallersLock>> {
    calls(program, locking, function, LONGEST_CHAIN)
}

fn calls(program: &Program, locking: &Locking, function: u32, chain: u32) -> Vec<Vec<CallersLock>> {
    let mut out = Vec::new();
    for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| f.defined && !f.builtin) {
        let code = &program.code[f.entry as usize..f.end as usize];
        if code.contains(&Instr::FuncAddr(function)) {
            out.push(Vec::new());
        }
        let is_call = |instr: &Instr| matches!(instr, Instr::Call(g, _) if *g == function);
        if i as u32 == function || !code.iter().any(is_call) {
            continue;
        }
        let own = within(program, locking, f.entry, f.end);
        let mut from_above: Option<Vec<CallersLock>> = None;
        for (at, _) in code.iter().enumerate().filter(|(_, instr)| is_call(instr)) {
            // Code that nothing leads to calls nothing.
            let Some(held) = &own[at] else { continue };
            if !held.is_empty() {
                out.push(held.clone());
                continue;
            }
            let above = from_above.get_or_insert_with(|| match chain {
                0 => Vec::new(),
                _ => common(calls(program, locking, i as u32, chain - 1)),
            });
            // What the caller itself releases was its callers'.
            out.push(if releases(program, locking, f.entry, f.end) { Vec::new() } else { above.clone() });
        }
    }
    out
}

/// The locks that are held at each of the calls.
fn common(calls: Vec<Vec<CallersLock>>) -> Vec<CallersLock> {
    calls.into_iter().reduce(|a, b| a.into_iter().filter(|l| b.contains(l)).collect()).unwrap_or_default()
}

fn releases(program: &Program, locking: &Locking, entry: u32, end: u32) -> bool {
    (entry..end).any(|pc| locking.unlocks_at(program, pc))
}

/// For each instruction of a function, the locks that the function holds there on every path from
/// its beginning. `None` for code that nothing leads to.
fn within(program: &Program, locking: &Locking, entry: u32, end: u32) -> Vec<Option<Vec<CallersLock>>> {
    let mut held: Vec<Option<Vec<CallersLock>>> = vec![None; (end - entry) as usize];
    if end - entry > LARGEST {
        return vec![Some(Vec::new()); (end - entry) as usize];
    }
    let mut todo = vec![entry];
    held[0] = Some(Vec::new());
    while let Some(pc) = todo.pop() {
        let Some(mut after) = held[(pc - entry) as usize].clone() else { continue };
        if locking.unlocks_at(program, pc) {
            // Which one it releases is not always clear, so none is certain any more.
            after.clear();
        } else if locking.locks_at(program, pc) {
            after.push(lock_at(program, locking, pc, LONGEST_CHAIN));
            after.sort_unstable();
            after.dedup();
        }
        for next in cfg::successors(&program.code, &program.switches, pc) {
            let Some(at) = next.checked_sub(entry).filter(|at| *at < end - entry) else { continue };
            let known = &mut held[at as usize];
            let meet = match known {
                None => after.clone(),
                Some(known) => known.iter().copied().filter(|l| after.contains(l)).collect(),
            };
            if known.as_ref() != Some(&meet) {
                *known = Some(meet);
                todo.push(next);
            }
        }
    }
    held
}

/// The lock that the instruction at `pc` takes. A function without arguments takes the one that its
/// own code names.
fn lock_at(program: &Program, locking: &Locking, pc: u32, chain: u32) -> CallersLock {
    if let Instr::Call(f, 0) = program.code[pc as usize] {
        let f = &program.functions[f as usize];
        let inner = (f.entry..f.end).find(|pc| f.defined && locking.locks_at(program, *pc));
        return match inner.filter(|_| chain > 0) {
            Some(inner) => lock_at(program, locking, inner, chain - 1),
            None => CallersLock::BehindPointer,
        };
    }
    let mut before = program.code[..pc as usize].iter().rev().filter(|i| !matches!(i, Instr::Nop));
    match (before.next(), before.next()) {
        (Some(Instr::GlobalAddr(a)), _) => CallersLock::Global(u64::from(*a)),
        (Some(Instr::Field(offset)), Some(Instr::GlobalAddr(a))) => {
            CallersLock::Global(u64::from(*a) + u64::from(*offset))
        }
        _ => CallersLock::BehindPointer,
    }
}
