//! The way to a place that starts a thread, for starts in the middle.
//!
//! A function that is started in the middle is there for the threads it starts, and may ask dozens
//! of questions of its input before it does. Until the first thread runs, branches of the function
//! prefer the side from which such a place can still be reached, and in every second run the
//! function's calls are not entered but give unknowns, unless the callee synchronises: what it
//! would have locked must not be missed.

use crate::ir::{Instr, Program, SyncOp, cfg};

/// How to get from the beginning of a function to where it starts threads.
#[derive(Debug, Default, Clone)]
pub struct Route {
    /// The function's instructions.
    first: u32,
    /// For each of them whether a start can be reached from it.
    leads: Vec<bool>,
    /// Functions that neither synchronise nor start anything.
    skippable: std::sync::Arc<[bool]>,
}

impl Route {
    pub fn new(program: &Program, function: u32, sites: &[u32], skippable: std::sync::Arc<[bool]>) -> Self {
        let f = &program.functions[function as usize];
        let mut leads = vec![false; (f.end - f.entry) as usize];
        for pc in sites.iter().filter(|pc| f.entry <= **pc && **pc < f.end) {
            leads[(pc - f.entry) as usize] = true;
        }
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
        Self { first: f.entry, leads, skippable }
    }

    fn leads(&self, pc: u32) -> Option<bool> {
        self.leads.get(pc.checked_sub(self.first)? as usize).copied()
    }

    /// The truth value of the branch at `pc` that leads on, if just one does.
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

/// Instructions of a function that does little more than to call another.
const WRAPPER: u32 = 60;

/// For each function whether it can be left out without missing a lock, a start or the program's
/// end.
pub fn skippable(program: &Program) -> std::sync::Arc<[bool]> {
    let n = program.functions.len();
    let mut matters: Vec<bool> = program.functions.iter().map(|f| !f.defined).collect();
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| f.defined) {
        for instr in &program.code[f.entry as usize..f.end as usize] {
            match instr {
                Instr::Sync(SyncOp::Yield | SyncOp::Sleep | SyncOp::Current | SyncOp::ExitProcess) => {}
                Instr::Sync(_) => matters[i] = true,
                // A lock behind a pointer, or of atomics, has a short function around it.
                Instr::CallPtr(_) | Instr::Atomic(..) => matters[i] |= f.end - f.entry < WRAPPER,
                Instr::Call(callee, _) => callers[*callee as usize].push(i as u32),
                _ => {}
            }
        }
    }
    // What nobody defines does not synchronise, unless its name says so.
    for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| !f.defined) {
        matters[i] = crate::interp::named::named(&f.name).is_some();
    }
    let mut todo: Vec<u32> = (0..n as u32).filter(|i| matters[*i as usize]).collect();
    while let Some(f) = todo.pop() {
        for caller in std::mem::take(&mut callers[f as usize]) {
            if !std::mem::replace(&mut matters[caller as usize], true) {
                todo.push(caller);
            }
        }
    }
    program.functions.iter().zip(matters).map(|(f, m)| f.defined && !f.builtin && !m).collect()
}
