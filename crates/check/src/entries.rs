//! Where interpretation starts (section 4.1).
//!
//! 1. `main`, when there is one.
//! 2. Test functions: those that a framework's registration leads to are reached from `main` or are named here by the
//!    usual prefixes, in files that look like tests.
//! 3. Without `main`, every function that others can call, one after the other from a fresh state; never concurrently,
//!    for nothing says that a library is thread-safe.
//! 4. In the middle: functions that themselves start threads, when no run before has come to all the places where they
//!    do: a function that was entered need not have got that far. Their callers, which
//!    the paper takes too, are left out: in a large program they are thousands, and reach the same code.
//!    They run with unknown globals and parameters, which makes them the least certain, and they come last.

use rustc_hash::FxHashSet;

use crate::interp::{Start, named};
use crate::ir::{Instr, Program, SyncOp};

/// The most starts in the middle of one program.
const MOST_MIDDLE: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    Main,
    Test,
    Exported,
    Middle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub kind: EntryKind,
    pub start: Start,
    /// By what it calls it may come to start a thread. Through function pointers it may do so even
    /// when this is false.
    pub may_start: bool,
    /// The function whose thread starts it is there for.
    pub about: u32,
}

/// For each function whether it can come to start a thread, a timer or a handler.
pub fn concurrent_functions(program: &Program) -> Vec<bool> {
    let n = program.functions.len();
    // Which method an object has is known when it runs.
    if !program.classes.all.is_empty() {
        return vec![true; n];
    }
    let mut starts = vec![false; n];
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| f.defined) {
        for instr in &program.code[f.entry as usize..f.end as usize] {
            match instr {
                Instr::Sync(SyncOp::Start | SyncOp::StartMember | SyncOp::TimerStart | SyncOp::Interrupt) => {
                    starts[i] = true;
                }
                Instr::Call(callee, _) => {
                    let callee_function = &program.functions[*callee as usize];
                    starts[i] |= !callee_function.defined && named::starts_thread(&callee_function.name);
                    callers[*callee as usize].push(i as u32);
                }
                _ => {}
            }
        }
    }
    let mut todo: Vec<u32> = (0..n as u32).filter(|i| starts[*i as usize]).collect();
    while let Some(f) = todo.pop() {
        for caller in std::mem::take(&mut callers[f as usize]) {
            if !std::mem::replace(&mut starts[caller as usize], true) {
                todo.push(caller);
            }
        }
    }
    starts
}

/// The entries of a program, the most certain first.
pub fn entries(program: &Program) -> Vec<Entry> {
    let concurrent = concurrent_functions(program);
    let mut out = Vec::new();
    let own = |i: usize| {
        program.functions[i].defined && !program.functions[i].builtin && !program.functions[i].outlined
    };
    let mut add = |kind, function: usize, in_the_middle| {
        let start = Start { function: function as u32, in_the_middle };
        out.push(Entry { kind, start, may_start: concurrent[function], about: start.function });
    };
    for e in program.entry_points.iter().filter(|e| e.kind != EntryKind::Middle) {
        add(e.kind, e.function as usize, false);
    }
    let functions = || (0..program.functions.len()).filter(|i| own(*i) && program.entry_points.is_empty());
    let main: Vec<usize> = functions().filter(|i| &*program.functions[*i].name == "main").collect();
    for i in &main {
        add(EntryKind::Main, *i, false);
    }
    let tests: Vec<usize> = functions().filter(|i| is_test(program, *i)).collect();
    for i in &tests {
        add(EntryKind::Test, *i, false);
    }
    if main.is_empty() {
        for i in
            functions().filter(|i| program.functions[*i].external && !tests.contains(i) && concurrent[*i])
        {
            add(EntryKind::Exported, i, false);
        }
    }
    let sites = start_sites(program);
    let starters: FxHashSet<u32> = sites.iter().map(|pc| program.function_of(*pc)).collect();
    let prepared = program.entry_points.iter().filter(|e| e.kind == EntryKind::Middle);
    for e in prepared.filter(|e| starters.contains(&e.about)).take(MOST_MIDDLE) {
        // The front end has made the objects; static fields have their initial values.
        let start = Start { function: e.function, in_the_middle: false };
        out.push(Entry { kind: EntryKind::Middle, start, may_start: true, about: e.about });
    }
    for i in functions().filter(|i| starters.contains(&(*i as u32))).take(MOST_MIDDLE) {
        let start = Start { function: i as u32, in_the_middle: true };
        out.push(Entry { kind: EntryKind::Middle, start, may_start: true, about: i as u32 });
    }
    out
}

/// The instructions of own functions that start a thread or timer, themselves or through the
/// library but through no other own function.
pub fn start_sites(program: &Program) -> Vec<u32> {
    let calls = |i: usize, wanted: &dyn Fn(&Instr) -> bool| {
        let f = &program.functions[i];
        f.defined && program.code[f.entry as usize..f.end as usize].iter().any(wanted)
    };
    let starts =
        |i: &Instr| matches!(i, Instr::Sync(SyncOp::Start | SyncOp::StartMember | SyncOp::TimerStart));
    let mut library: FxHashSet<u32> = (0..program.functions.len())
        .filter(|i| program.functions[*i].builtin && calls(*i, &starts))
        .map(|i| i as u32)
        .collect();
    let by_method = methods_that_start(program, &mut library);
    let by_name = |f: u32| {
        let f = &program.functions[f as usize];
        !f.defined && named::starts_thread(&f.name)
    };
    let through = |i: &Instr| match i {
        Instr::Call(f, _) => library.contains(f) || by_name(*f),
        Instr::CallMethod(site) => by_method.contains(&(site & 0x00FF_FFFF)),
        other => starts(other),
    };
    let own = program.functions.iter().filter(|f| f.defined && !f.builtin);
    own.flat_map(|f| f.entry..f.end).filter(|pc| through(&program.code[*pc as usize])).collect()
}

/// Adds the functions of a library of classes that come to start a thread through others, and gives
/// the call sites that name such a method by its class.
fn methods_that_start(program: &Program, library: &mut FxHashSet<u32>) -> FxHashSet<u32> {
    let classes = &program.classes;
    let mut sites = FxHashSet::default();
    loop {
        let before = (library.len(), sites.len());
        for class in classes.all.iter().filter(|c| c.builtin) {
            for (number, site) in classes.calls.iter().enumerate() {
                let by_type = site.keys[0] != site.keys[1];
                if by_type && class.methods.get(&site.keys[0]).is_some_and(|f| library.contains(f)) {
                    sites.insert(number as u32);
                }
            }
        }
        let starts = |i: &Instr| match i {
            Instr::Call(f, _) => library.contains(f),
            Instr::CallMethod(site) => sites.contains(&(site & 0x00FF_FFFF)),
            _ => false,
        };
        let more: Vec<u32> = (0..program.functions.len() as u32)
            .filter(|f| {
                let f = &program.functions[*f as usize];
                f.builtin && f.defined && program.code[f.entry as usize..f.end as usize].iter().any(starts)
            })
            .collect();
        library.extend(more);
        if before == (library.len(), sites.len()) || classes.all.is_empty() {
            return sites;
        }
    }
}

/// Whether every place in a function that starts a thread has been come to.
pub fn all_started(program: &Program, function: u32, sites: &[u32], started: &FxHashSet<u32>) -> bool {
    let f = &program.functions[function as usize];
    sites.iter().filter(|pc| f.entry <= **pc && **pc < f.end).all(|pc| started.contains(pc))
}

/// `test_x` and `x_test` in a test file; Unity, Check (`START_TEST(x)` defines `x` or `x_fn`),
/// CMocka (takes a state pointer) and µnit (takes parameters and a fixture) all use functions of
/// these names by convention.
fn is_test(program: &Program, i: usize) -> bool {
    let f = &program.functions[i];
    let path = program.files.get(usize::from(f.pos.file)).map_or("", |p| &p.path);
    let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let in_tests = file.contains("test")
        || path.contains("/test")
        || path.contains("/tests/")
        || path.starts_with("test");
    let name = &*f.name;
    let named = name.starts_with("test_")
        || name.ends_with("_test")
        || name.starts_with("Test")
        || name.starts_with("test");
    in_tests && named && f.params <= 2 && name != "main"
}
