//! The path to a place that starts a thread, for starts in the middle.
//!
//! A function is started in the middle for the threads it starts, and may test its input dozens of
//! times before it starts one. Until the first thread runs, branches of the function prefer the
//! side from which such a place can still be reached. In every second run, calls in the function
//! are not entered but give unknowns. Callees that synchronise are still entered, so that no lock
//! is missed.

use crate::entries::MethodCallers;
use crate::ir::{Instr, Program, SyncOp, cfg};

/// How to get from the beginning of a function to where it starts threads.
#[derive(Debug, Default, Clone)]
pub struct Route {
    /// The function that starts threads, and the function around it if it is nested.
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
