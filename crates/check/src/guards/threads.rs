//! Which threads may run a function, and whether it can be entered without a lock.

use rustc_hash::FxHashSet;

use super::flow::Flow;
use super::paths::{Path, PathStep};
use super::phase;
use crate::entries::start_sites;
use crate::interp::named;
use crate::ir::{Function, Program};
use crate::locking::Locking;

/// Somebody who may call functions of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Caller {
    Main,
    /// A thread that begins with this function.
    Thread(u32),
    /// Whoever uses the program as a library.
    Outside,
}

/// A call of a function.
#[derive(Debug, Clone, Copy)]
pub struct FunctionCall {
    pub caller: u32,
    /// Its index among the calls of the caller.
    pub index: usize,
}

/// The longest way from a thread's beginning that is looked at.
const LONGEST: usize = 8;

pub struct Threads {
    pub callers: Vec<FxHashSet<Caller>>,
    pub sites: Vec<Vec<FunctionCall>>,
    /// Functions with which threads begin.
    roots: FxHashSet<u32>,
    /// Functions that others may call by a pointer.
    by_pointer: Vec<bool>,
    /// Functions that other programs of the project mention, which may do so under a lock.
    is_elsewhere: Vec<bool>,
    /// Functions that start a thread, or join one, themselves or by what they call.
    starts: Vec<bool>,
    joins: Vec<bool>,
    /// The folder of each `main`.
    main_folders: Vec<String>,
}

impl Threads {
    pub fn of(
        program: &Program,
        flow: &Flow<'_>,
        locking: &Locking,
        is_elsewhere: &dyn Fn(&str) -> bool,
    ) -> Self {
        let n = program.functions.len();
        let mut sites: Vec<Vec<FunctionCall>> = vec![Vec::new(); n];
        for (f, seen) in flow.seen.iter().enumerate() {
            for (index, call) in seen.iter().flat_map(|s| s.calls.iter().enumerate()) {
                sites[call.callee as usize].push(FunctionCall { caller: f as u32, index });
            }
        }
        let roots = roots(program, flow);
        let by_pointer: Vec<bool> = (0..n as u32).map(|f| locking.is_address_taken(f)).collect();
        let is_elsewhere = program.functions.iter().map(|f| f.external && is_elsewhere(&f.name)).collect();
        let starts = reaching(program, flow, &sites, |f| flow.starts_itself(f));
        let joins = reaching(program, flow, &sites, |f| flow.joins_itself(f));
        let mains = program.functions.iter().filter(|f| f.defined && !f.builtin && &*f.name == "main");
        let main_folders = mains.map(|f| folder_of(program, f)).collect();
        let mut out = Self {
            starts,
            joins,
            main_folders,
            callers: vec![FxHashSet::default(); n],
            sites,
            roots,
            by_pointer,
            is_elsewhere,
        };
        for f in 0..n as u32 {
            if let Some(caller) = out.begins(program, f) {
                out.spread(flow, f, caller);
            }
        }
        out
    }

    /// Who may enter a function directly, from outside the code that is there.
    fn begins(&self, program: &Program, f: u32) -> Option<Caller> {
        let info = &program.functions[f as usize];
        if !info.defined || info.builtin {
            return None;
        }
        if self.roots.contains(&f) {
            return Some(Caller::Thread(f));
        }
        if &*info.name == "main" {
            return Some(Caller::Main);
        }
        let is_called = self.sites[f as usize].iter().any(|s| s.caller != f);
        let is_known = is_called || self.by_pointer[f as usize] || self.is_elsewhere[f as usize];
        // A function beside or below `main` that nobody calls is of no use.
        let folder = folder_of(program, info);
        let is_application = self.main_folders.iter().any(|m| folder.starts_with(m));
        let outside = info.external && !is_known && !info.outlined && !is_application;
        outside.then_some(Caller::Outside)
    }

    /// Whether a function starts or joins a thread, itself or by what it calls.
    pub fn starts_or_joins(&self, f: u32) -> bool {
        self.starts[f as usize] || self.joins[f as usize]
    }

    /// Whether a thread begins with a function.
    pub fn is_root(&self, f: u32) -> bool {
        self.roots.contains(&f)
    }

    fn spread(&mut self, flow: &Flow<'_>, f: u32, caller: Caller) {
        let mut todo = vec![f];
        while let Some(f) = todo.pop() {
            if !self.callers[f as usize].insert(caller) {
                continue;
            }
            if let Some(seen) = &flow.seen[f as usize] {
                todo.extend(seen.calls.iter().map(|c| c.callee));
            }
        }
    }

    /// A way from a thread's beginning, or from outside, to a function, on which certainly no lock
    /// is held, nothing is set up or torn down, and the object behind a parameter is not new.
    pub fn free_way(
        &self,
        program: &Program,
        flow: &Flow<'_>,
        f: u32,
        pc: u32,
        param: Option<u16>,
    ) -> Option<(Caller, Vec<u32>)> {
        let mut todo: Vec<(u32, Option<u16>, Vec<u32>)> = vec![(f, param, Vec::new())];
        let mut seen: FxHashSet<(u32, Option<u16>)> = FxHashSet::default();
        let mut i = 0;
        while let Some((f, param, way)) = todo.get(i).cloned() {
            i += 1;
            if !seen.insert((f, param))
                || way.len() > LONGEST
                || phase::is_exempt_on_the_way(program, flow, f)
            {
                continue;
            }
            match self.begins(program, f) {
                Some(Caller::Main) if !way.last().is_some_and(|pc| self.is_beside_threads(flow, f, *pc)) => {}
                None => {}
                // Before its loop and behind it, a thread sets up and tears down.
                Some(Caller::Thread(_)) if !is_in_loop(program, f, way.last().copied().unwrap_or(pc)) => {}
                Some(caller) => return Some((caller, way)),
            }
            for site in &self.sites[f as usize] {
                let Some(caller) = &flow.seen[site.caller as usize] else { continue };
                let call = &caller.calls[site.index];
                let is_unclear = caller.uncertain || caller.given_up || caller.releases_others();
                if !call.held.is_empty() || is_unclear {
                    continue;
                }
                let param = match param {
                    None => None,
                    Some(n) => match call.arguments.get(usize::from(n)).map(|p| shared(flow, *p)) {
                        Some(Escape::ByParam(n)) => Some(n),
                        Some(Escape::Yes) => None,
                        _ => continue,
                    },
                };
                let mut way = way.clone();
                way.push(call.pc);
                todo.push((site.caller, param, way));
            }
        }
        None
    }

    /// Whether a function has started a thread before a call, and joined none since, as its text
    /// goes.
    fn is_beside_threads(&self, flow: &Flow<'_>, f: u32, pc: u32) -> bool {
        let Some(seen) = &flow.seen[f as usize] else { return false };
        let mut beside = false;
        let mut calls: Vec<_> = seen.calls.iter().filter(|c| c.pc < pc).collect();
        calls.sort_by_key(|c| c.pc);
        for call in calls {
            if self.joins[call.callee as usize] {
                beside = false;
            } else if self.starts[call.callee as usize] {
                beside = true;
            }
        }
        beside
    }
}

/// Whether others may know the object that a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// It lies behind a global, or behind a pointer in such an object.
    Yes,
    /// If the one behind this parameter is shared.
    ByParam(u16),
    /// It may be new, or the function's own.
    Unclear,
}

pub fn shared(flow: &Flow<'_>, path: Path) -> Escape {
    match flow.paths.root(path) {
        PathStep::Global(a) if a != 0 => Escape::Yes,
        PathStep::Param(n) => Escape::ByParam(n),
        _ => Escape::Unclear,
    }
}

/// The functions from which one that is wanted can be reached.
fn reaching(
    program: &Program,
    flow: &Flow<'_>,
    sites: &[Vec<FunctionCall>],
    wanted: impl Fn(u32) -> bool,
) -> Vec<bool> {
    let direct = |f: &u32| wanted(*f);
    let mut out = vec![false; program.functions.len()];
    let mut todo: Vec<u32> = (0..program.functions.len() as u32).filter(direct).collect();
    while let Some(f) = todo.pop() {
        if !std::mem::replace(&mut out[f as usize], true) {
            todo.extend(
                sites[f as usize].iter().filter(|s| flow.seen[s.caller as usize].is_some()).map(|s| s.caller),
            );
        }
    }
    out
}

/// Whether an instruction lies between the beginning of a function's first loop and the end of its
/// last one. True if it has none.
fn is_in_loop(program: &Program, f: u32, pc: u32) -> bool {
    let f = &program.functions[f as usize];
    let back = (f.entry..f.end).filter_map(|at| {
        let to = program.code[at as usize].jump_target()?;
        (to <= at).then_some((to, at))
    });
    match back.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) {
        Some((begin, end)) => (begin..=end).contains(&pc),
        None => true,
    }
}

fn folder_of(program: &Program, f: &Function) -> String {
    let path = program.files.get(usize::from(f.pos.file)).map_or("", |f| &f.path);
    path.rfind('/').map_or(String::new(), |at| path[..=at].to_string())
}

/// The functions that are given to those that start threads.
fn roots(program: &Program, flow: &Flow<'_>) -> FxHashSet<u32> {
    let sites: FxHashSet<u32> = start_sites(program).into_iter().collect();
    // Own functions around a start, which may be given the function to run.
    let starters: FxHashSet<u32> = sites.iter().map(|pc| program.function_of(*pc)).collect();
    let mut out = FxHashSet::default();
    for seen in flow.seen.iter().flatten() {
        for call in &seen.calls {
            let callee = &program.functions[call.callee as usize];
            let by_name = named::starts_thread(&callee.name);
            if !sites.contains(&call.pc) && !starters.contains(&call.callee) && !by_name {
                continue;
            }
            for a in &call.arguments {
                if let PathStep::Function(f) = flow.paths.step(*a) {
                    out.insert(f);
                }
            }
        }
    }
    out
}
