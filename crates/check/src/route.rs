//! The path to a place that starts a thread, for starts in the middle.
//!
//! A function is started in the middle for the threads it starts, and may test its input dozens of
//! times before it starts one. Until the first thread runs, branches of the function prefer the
//! side from which such a place can still be reached. In every second run, calls in the function
//! are not entered but give unknowns. Callees that synchronise are still entered, so that no lock
//! is missed.
//!
//! The start may be further up, at a caller of that function or a caller's caller. Then the path
//! leads through all functions on shortest ways between the two, so that the function is called as
//! the program calls it: with the locks that its callers hold and the objects that they made.

use crate::entries::MethodCallers;
use crate::ir::{Instr, Program, SyncOp, cfg};

/// How to get from the beginning of a function to where it starts threads.
#[derive(Debug, Default, Clone)]
pub struct Route {
    /// The function that starts threads, then the functions that lead to it.
    stretches: Vec<Stretch>,
    /// Functions that neither synchronise nor start anything.
    skippable: std::sync::Arc<[bool]>,
}

/// The instructions of a function.
#[derive(Debug, Default, Clone)]
struct Stretch {
    function: u32,
    first: u32,
    /// For each instruction, whether a start can be reached from it.
    leads: Vec<bool>,
}

impl Stretch {
    fn new(program: &Program, function: u32, is_goal: impl Fn(u32) -> bool) -> Self {
        let f = &program.functions[function as usize];
        let mut leads: Vec<bool> = (f.entry..f.end).map(is_goal).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for pc in (f.entry..f.end).rev() {
                let at = (pc - f.entry) as usize;
                let next = || cfg::successors(&program.code, &program.switches, pc);
                let onward = |n: &u32| f.entry <= *n && *n < f.end && leads[(*n - f.entry) as usize];
                if !leads[at] && next().iter().any(onward) {
                    leads[at] = true;
                    changed = true;
                }
            }
        }
        Self { function, first: f.entry, leads }
    }
}

impl Route {
    /// The path through `function`, and through `around` to where that mentions `function`.
    pub fn new(
        program: &Program,
        function: u32,
        around: Option<u32>,
        sites: &[u32],
        skippable: std::sync::Arc<[bool]>,
    ) -> Self {
        let mentions = |pc: u32| program.code[pc as usize] == Instr::FuncAddr(function);
        let mut stretches = vec![Stretch::new(program, function, |pc| sites.contains(&pc))];
        stretches.extend(around.map(|f| Stretch::new(program, f, mentions)));
        Self { stretches, skippable }
    }

    /// The path along ways to `function`, and through that to where it starts threads.
    pub fn from_above(
        program: &Program,
        ways: &Ways,
        function: u32,
        sites: &[u32],
        skippable: std::sync::Arc<[bool]>,
    ) -> Self {
        let mut stretches = vec![Stretch::new(program, function, |pc| sites.contains(&pc))];
        for (caller, distance) in ways.between(program) {
            let leads_on = |pc: u32| match program.code[pc as usize] {
                Instr::Call(callee, _) => ways.distance(callee).is_some_and(|d| d < distance),
                _ => false,
            };
            stretches.push(Stretch::new(program, caller, leads_on));
        }
        Self { stretches, skippable }
    }

    fn leads(&self, pc: u32) -> Option<bool> {
        self.stretches.iter().find_map(|s| s.leads.get(pc.checked_sub(s.first)? as usize).copied())
    }

    /// The function that starts threads.
    pub fn goal(&self) -> Option<u32> {
        self.stretches.first().map(|s| s.function)
    }

    /// Whether the path leads through a function.
    pub fn passes(&self, function: u32) -> bool {
        self.stretches.iter().any(|s| s.function == function)
    }

    /// The truth value of the branch at `pc` that leads on, if exactly one does.
    pub fn side(&self, program: &Program, pc: u32) -> Option<bool> {
        let (to, when) = match program.code.get(pc as usize)? {
            Instr::JumpIf(to) => (*to, true),
            Instr::JumpIfNot(to) => (*to, false),
            _ => return None,
        };
        match (self.leads(to)?, self.leads(pc + 1)?) {
            (true, false) => Some(when),
            (false, true) => Some(!when),
            _ => None,
        }
    }

    pub fn may_skip(&self, function: u32) -> bool {
        self.skippable.get(function as usize).copied().unwrap_or(false)
    }
}

/// The maximum number of calls between a start and the function that starts threads.
const LONGEST_CHAIN: u32 = 6;
/// The maximum number of functions from which ways lead to one that starts threads.
const MOST_FUNCTIONS: usize = 200;
/// The maximum number of functions at one distance that are tried as starts.
const MOST_TOPS: usize = 3;
/// The distance of a function that nobody calls.
pub const ROOT: u32 = u32::MAX;

/// The ways that lead to a function through calls.
#[derive(Debug, Clone)]
pub struct Ways {
    /// The functions that lead to it, and the number of calls in between. Nearest first.
    distances: Vec<(u32, u32)>,
    /// The function at which the way begins.
    top: u32,
}

impl Ways {
    fn upwards(function: u32, callers: &[Vec<u32>], is_root: &dyn Fn(u32) -> bool) -> Vec<(u32, u32)> {
        let mut distances = vec![(function, 0)];
        let mut i = 0;
        while let Some((f, distance)) = distances.get(i).copied() {
            i += 1;
            if distance >= LONGEST_CHAIN || is_root(f) {
                continue;
            }
            for caller in &callers[f as usize] {
                if distances.len() < MOST_FUNCTIONS && distances.iter().all(|d| d.0 != *caller) {
                    distances.push((*caller, distance + 1));
                }
            }
        }
        distances
    }

    /// Where to start in order to reach a function as the program does, and the number of calls in
    /// between: the nearest functions above it that nobody calls or that others may call by a
    /// pointer ([`ROOT`]), then callers of its callers, then its callers.
    pub fn tops(
        function: u32,
        callers: &[Vec<u32>],
        is_address_taken: &dyn Fn(u32) -> bool,
    ) -> Vec<(u32, u32)> {
        let is_root = |f: u32| callers[f as usize].is_empty() || is_address_taken(f);
        if is_root(function) {
            return Vec::new();
        }
        let above = Self::upwards(function, callers, &is_root);
        let roots = above.iter().filter(|d| is_root(d.0)).map(|d| (d.0, ROOT)).take(MOST_TOPS);
        let inner = |distance: u32| {
            let at = above.iter().filter(move |d| d.1 == distance && !is_root(d.0));
            at.copied().take(MOST_TOPS)
        };
        roots.chain(inner(2)).chain(inner(1)).collect()
    }

    /// The ways from `top` to `function`.
    pub fn between_functions(top: u32, function: u32, callers: &[Vec<u32>]) -> Self {
        Self { distances: Self::upwards(function, callers, &|f| f == top), top }
    }

    fn distance(&self, function: u32) -> Option<u32> {
        self.distances.iter().find(|d| d.0 == function).map(|d| d.1)
    }

    /// The functions on shortest ways from the top, without the last one.
    fn between(&self, program: &Program) -> Vec<(u32, u32)> {
        let mut todo = vec![self.top];
        let mut out = Vec::new();
        let mut i = 0;
        while let Some(f) = todo.get(i).copied() {
            i += 1;
            let Some(distance) = self.distance(f).filter(|d| *d > 0) else { continue };
            out.push((f, distance));
            let info = &program.functions[f as usize];
            for instr in &program.code[info.entry as usize..info.end as usize] {
                if let Instr::Call(callee, _) = instr
                    && self.distance(*callee).is_some_and(|d| d < distance)
                    && !todo.contains(callee)
                {
                    todo.push(*callee);
                }
            }
        }
        out
    }
}

/// The maximum number of instructions in a function that does little more than call another.
const WRAPPER: u32 = 60;

/// For each function, whether it can be skipped without missing a lock, a start or the program's
/// end.
pub fn skippable(program: &Program) -> std::sync::Arc<[bool]> {
    let n = program.functions.len();
    let mut matters: Vec<bool> = program.functions.iter().map(|f| !f.defined).collect();
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut by_key = MethodCallers::new(program);
    for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| f.defined) {
        for instr in &program.code[f.entry as usize..f.end as usize] {
            match instr {
                Instr::Sync(SyncOp::Yield | SyncOp::Sleep | SyncOp::Current | SyncOp::ExitProcess) => {}
                Instr::Sync(_) => matters[i] = true,
                // A short function with a call through a pointer or an atomic may be a lock.
                Instr::CallPtr(_) | Instr::Atomic(..) => matters[i] |= f.end - f.entry < WRAPPER,
                Instr::Call(callee, _) => callers[*callee as usize].push(i as u32),
                other => by_key.add(program, i as u32, other),
            }
        }
    }
    // An undefined function does not synchronise, unless its name says so.
    for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| !f.defined) {
        matters[i] = crate::interp::named::named(&f.name).is_some();
    }
    let mut todo: Vec<u32> = (0..n as u32).filter(|i| matters[*i as usize]).collect();
    while let Some(f) = todo.pop() {
        let callers = std::mem::take(&mut callers[f as usize]);
        for caller in callers.into_iter().chain(by_key.of(f)) {
            if !std::mem::replace(&mut matters[caller as usize], true) {
                todo.push(caller);
            }
        }
    }
    program.functions.iter().zip(matters).map(|(f, m)| f.defined && !f.builtin && !m).collect()
}
