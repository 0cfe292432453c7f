//! Where interpretation starts (section 4.1).
//!
//! 1. `main`, when there is one.
//! 2. Test functions. Those that a framework registers are reached from `main`. Others are
//!    recognised by the usual name prefixes, in files that look like tests.
//! 3. Without `main`, every function that others can call, one after the other from a fresh state.
//!    They never run concurrently, because nothing says that a library is thread-safe.
//! 4. In the middle: functions that start threads themselves, when no earlier run reached all the
//!    places where they do. That an earlier run entered the function is not enough. The paper also
//!    takes their callers. Raddle takes the nearest functions above them that nobody calls, up to
//!    three, and goes straight for the function that starts threads ([`crate::route`]). If that
//!    fails, it starts at callers, and at last at the function itself. These entries run with
//!    unknown globals (except for `main`) and parameters. They are the least certain and come last.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::interp::{EntryStart, Facts, named};
use crate::ir::{Instr, Program, SyncOp};
use crate::route::Ways;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    Main,
    Test,
    Exported,
    Middle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Entry {
    pub kind: EntryKind,
    pub start: EntryStart,
    /// True if the functions it calls may start a thread. Through function pointers it may do so
    /// even when this is false.
    pub may_start: bool,
    /// The function whose thread starts this entry is there to reach.
    pub about: u32,
    /// The number of calls between the start and that function; see [`crate::route::Ways::tops`].
    pub above: u32,
    /// Entries of one assembly share a budget.
    pub assembly: u32,
}

/// For each function, whether it can start a thread, a timer or a handler, itself or through
/// callees.
pub fn concurrent_functions(program: &Program) -> Vec<bool> {
    let n = program.functions.len();
    let mut starts = vec![false; n];
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut by_key = MethodCallers::new(program);
    for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| f.defined) {
        for instr in &program.code[f.entry as usize..f.end as usize] {
            match instr {
                Instr::Sync(SyncOp::Start | SyncOp::StartMember | SyncOp::TimerStart | SyncOp::Interrupt) => {
                    starts[i] = true;
                }
                // The code after an await may continue on a thread of its own.
                Instr::Await(slot) => starts[i] |= *slot != u16::MAX,
                Instr::Call(callee, _) => {
                    let callee_function = &program.functions[*callee as usize];
                    starts[i] |= !callee_function.defined && named::starts_thread(&callee_function.name);
                    callers[*callee as usize].push(i as u32);
                }
                // A function that makes a delegate, or has a class initialised, may have it called.
                Instr::FuncAddr(f) => callers[*f as usize].push(i as u32),
                Instr::New(class) if program.classes.all[*class as usize].finalizer.is_some() => {
                    starts[i] = true;
                }
                other => by_key.add(program, i as u32, other),
            }
        }
    }
    let mut todo: Vec<u32> = (0..n as u32).filter(|i| starts[*i as usize]).collect();
    while let Some(f) = todo.pop() {
        let callers = std::mem::take(&mut callers[f as usize]);
        for caller in callers.into_iter().chain(by_key.of(f)) {
            if !std::mem::replace(&mut starts[caller as usize], true) {
                todo.push(caller);
            }
        }
    }
    starts
}

/// The callers of methods, by the keys under which classes have them. The method of an object is
/// known only at run time, so any class with a method under the key counts.
pub(crate) struct MethodCallers {
    callers: FxHashMap<u32, Vec<u32>>,
    keys: FxHashMap<u32, Vec<u32>>,
}

impl MethodCallers {
    pub(crate) fn new(program: &Program) -> Self {
        let mut keys: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (key, f) in program.classes.all.iter().flat_map(|c| &c.methods) {
            keys.entry(*f).or_default().push(*key);
        }
        Self { callers: FxHashMap::default(), keys }
    }

    pub(crate) fn add(&mut self, program: &Program, caller: u32, instr: &Instr) {
        let classes = &program.classes;
        let keys = match instr {
            Instr::CallMethod(site) => classes.calls[(site & 0x00FF_FFFF) as usize].keys,
            Instr::GetMember(name, _) => [classes.properties[*name as usize][0]; 2],
            Instr::SetMember(name, _) => [classes.properties[*name as usize][1]; 2],
            _ => return,
        };
        for key in keys {
            let callers = self.callers.entry(key).or_default();
            if callers.last() != Some(&caller) {
                callers.push(caller);
            }
        }
    }

    /// The functions that may call a method.
    pub(crate) fn of(&mut self, f: u32) -> Vec<u32> {
        let keys = self.keys.remove(&f).unwrap_or_default();
        keys.iter().filter_map(|k| self.callers.remove(k)).flatten().collect()
    }
}

/// The entries of a program, the most certain first.
pub fn entries(program: &Program, facts: &Facts) -> Vec<Entry> {
    let sites = &facts.sites;
    let concurrent = concurrent_functions(program);
    let mut out = Vec::new();
    let own = |i: usize| {
        program.functions[i].defined && !program.functions[i].builtin && !program.functions[i].outlined
    };
    let entry = |kind, function: u32, in_the_middle| {
        let start = EntryStart { function, in_the_middle };
        let may_start = in_the_middle || concurrent[function as usize];
        Entry { kind, start, may_start, about: function, above: 0, assembly: 0 }
    };
    for e in program.entry_points.iter().filter(|e| e.kind != EntryKind::Middle) {
        out.push(Entry { assembly: e.assembly, ..entry(e.kind, e.function, false) });
    }
    let functions = || (0..program.functions.len()).filter(|i| own(*i) && program.entry_points.is_empty());
    let main: Vec<usize> = functions().filter(|i| &*program.functions[*i].name == "main").collect();
    out.extend(main.iter().map(|i| entry(EntryKind::Main, *i as u32, false)));
    let tests: Vec<usize> = functions().filter(|i| is_test(program, *i)).collect();
    out.extend(tests.iter().map(|i| entry(EntryKind::Test, *i as u32, false)));
    if main.is_empty() {
        let exported =
            functions().filter(|i| program.functions[*i].external && !tests.contains(i) && concurrent[*i]);
        out.extend(exported.map(|i| entry(EntryKind::Exported, i as u32, false)));
    }
    let starters: BTreeSet<u32> = sites.iter().map(|pc| program.function_of(*pc)).collect();
    let prepared = program.entry_points.iter().filter(|e| e.kind == EntryKind::Middle);
    for e in prepared.filter(|e| e.about < program.functions.len() as u32) {
        // The front end has made the objects, and static fields have their initial values.
        let prepared = entry(EntryKind::Middle, e.function, false);
        for about in starters.iter().copied().filter(|s| *s == e.about || is_within(program, *s, e.about)) {
            out.push(Entry { may_start: true, about, assembly: e.assembly, ..prepared });
        }
    }
    for i in functions().filter(|i| starters.contains(&(*i as u32))) {
        let about = i as u32;
        let is_address_taken = |f: u32| facts.locking.is_address_taken(f);
        for (top, above) in Ways::tops(about, &facts.callers, &is_address_taken) {
            let is_main = &*program.functions[top as usize].name == "main";
            out.push(Entry { about, above, may_start: true, ..entry(EntryKind::Middle, top, !is_main) });
        }
        out.push(entry(EntryKind::Middle, about, true));
    }
    out
}

/// Whether a nested function's source lies within another function's.
fn is_within(program: &Program, inner: u32, outer: u32) -> bool {
    let (inner, outer) = (&program.functions[inner as usize], &program.functions[outer as usize]);
    let begins = (outer.pos.line, outer.pos.col) < (inner.pos.line, inner.pos.col);
    // Methods lie in classes and not in each other, so a function inside a method is nested. The
    // function that initialises a class is an exception: it spans the class.
    let is_method = !outer.name.ends_with(".static fields");
    inner.pos.file == outer.pos.file && begins && inner.end_line <= outer.end_line && is_method
}

/// The instructions of own functions that start a thread or timer, directly or through the library
/// but not through another own function.
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
    let sites = own.flat_map(|f| f.entry..f.end).filter(|pc| through(&program.code[*pc as usize]));
    // Code of the entries is not part of the source.
    sites.filter(|pc| program.pos_of[*pc as usize].line != 0).collect()
}

/// Adds the methods of the class library that start a thread through other functions. Returns the
/// call sites that name such a method by its class.
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

/// Whether every place in a function that starts a thread has been reached.
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
