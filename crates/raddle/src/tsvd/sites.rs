//! Finds the call sites of files, once per file, and numbers them for all processes and runs.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use raddle_binary::{CallSite, Calls, Module};
use raddle_tsvd::MAX_SITES;
use raddle_wire::tsvd::{ObjectOperand, RedirectSite};
use serde::{Deserialize, Serialize};

use super::api::{Catalogue, SymbolPaths};

/// Identifies the content of a file, as far as the system tells.
pub type Version = (PathBuf, u64, i64);

/// A call of a listed function in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSite {
    pub address: u64,
    pub len: u8,
    pub bytes: u64,
    pub tail: bool,
    pub slot: bool,
    /// The result is returned through a hidden first argument, which the list does not count.
    pub by_memory: bool,
    /// The function called, by its raw name.
    pub callee: String,
    /// Stable across builds: the calling function, the called function, and which of these calls it
    /// is.
    pub name: String,
    pub what: CallRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallRole {
    /// An operation of the catalogue.
    Point(usize),
    /// `std::async` with a policy as its second argument.
    Async,
    /// `dlsym` and the like, with a name as the second argument.
    Lookup,
}

/// What is known of a file.
pub struct AnalysedFile {
    path: PathBuf,
    /// Opened on first use. `None`: it cannot be read.
    module: OnceCell<Option<Module>>,
    pub found: FileAnalysis,
}

/// The results of analysing a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAnalysis {
    pub sites: Vec<FileSite>,
    /// Whether it has the names of its own functions. Without them, only calls into other libraries
    /// are found.
    pub has_symbols: bool,
    /// Classes that it uses without calling them: a compiler has inlined all their functions.
    pub inlined: Vec<usize>,
    /// Listed functions of which a compiler has inlined calls, with the number of these calls.
    pub inlined_calls: BTreeMap<usize, u32>,
    /// Listed functions whose addresses it takes, by raw name, with the operation of each.
    pub taken: BTreeMap<String, usize>,
    /// Those of them that return their result through a hidden first argument.
    pub by_memory: HashSet<String>,
    /// The return addresses of direct calls, including those internal to the library.
    pub returns: HashSet<u64>,
}

impl AnalysedFile {
    pub fn new(path: &Path, found: FileAnalysis) -> AnalysedFile {
        AnalysedFile { path: path.into(), module: OnceCell::new(), found }
    }

    pub fn module(&self) -> Option<&Module> {
        self.module.get_or_init(|| Module::open(&self.path).ok()).as_ref()
    }

    /// The name of the site that called a function through a pointer and returns to `place`.
    /// `None`: the call was direct, or is internal to the library.
    pub fn name_of_call(
        &self,
        place: u64,
        callee: &str,
        operation: usize,
        catalogue: &Catalogue,
    ) -> Option<String> {
        if self.found.returns.contains(&place) {
            return None;
        }
        let call = self.module()?.call_before(place)?;
        let paths = SymbolPaths::default();
        let own = |name: &Option<String>| {
            name.as_deref().is_some_and(|name| catalogue.is_own(name, operation, &paths))
        };
        // A function that makes a tail call leaves its caller's return address. Then that function
        // is the caller.
        if own(&call.caller) || own(&call.callee) {
            return None;
        }
        Some(match call.caller {
            Some(caller) => format!("{caller} > *{callee} in call {}", call.nth),
            None => format!("{place:#x} > *{callee}"),
        })
    }
}

/// An empty site.
pub fn blank_site() -> RedirectSite {
    RedirectSite {
        address: 0,
        bytes: 0,
        len: 0,
        flags: 0,
        object: ObjectOperand::Library,
        class: 0,
        id: 0,
        field: None,
        via: 0,
        safe_if: 0,
    }
}

/// A site with its number.
#[derive(Debug, Clone)]
pub struct Numbered {
    pub path: PathBuf,
    pub address: u64,
    pub len: u8,
    pub operation: usize,
    pub tail: bool,
    /// The function called, by its raw name.
    pub callee: String,
    /// [`FileSite::name`] with the name of the file.
    pub name: String,
}

/// A function that is hooked at its entry.
#[derive(Debug, Clone)]
pub struct NumberedHook {
    pub callee: String,
    pub operation: usize,
}

/// All sites that the processes of a run have had.
#[derive(Default)]
pub struct Registry {
    numbers: HashMap<(PathBuf, u64), u32>,
    /// Numbers of calls through pointers, by return address and by the hook they arrived at.
    pointers: HashMap<(PathBuf, u64, u32), u32>,
    pub sites: Vec<Numbered>,
    hook_numbers: HashMap<(PathBuf, u64), u32>,
    /// Functions that are hooked at their entries.
    pub hooks: Vec<NumberedHook>,
    /// Functions whose addresses are taken but whose first instructions cannot be moved, by raw
    /// name.
    pub unwatched: BTreeSet<String>,
    /// The number of sites beyond what the core can distinguish.
    pub left_out: usize,
    /// The analysed files: how many sites each has, and whether it has symbols.
    pub files: HashMap<PathBuf, (usize, bool)>,
}

impl Registry {
    /// Whether a function other than a destructor is called or hooked. Destructors alone never meet
    /// anything that they would conflict with.
    pub fn has_points(&self, catalogue: &Catalogue) -> bool {
        let sites = self.sites.iter().map(|site| site.operation);
        let mut all = sites.chain(self.hooks.iter().map(|hook| hook.operation));
        all.any(|operation| !catalogue.operations[operation].is_destructor())
    }

    pub fn numbers_by_name(&self) -> HashMap<&str, u32> {
        self.sites.iter().zip(0..).map(|(site, number)| (site.name.as_str(), number)).collect()
    }

    pub fn number(&mut self, path: &Path, address: u64, new: impl FnOnce() -> Numbered) -> Option<u32> {
        if let Some(number) = self.numbers.get(&(path.to_path_buf(), address)) {
            return Some(*number);
        }
        let number = self.next()?;
        self.numbers.insert((path.to_path_buf(), address), number);
        self.sites.push(new());
        Some(number)
    }

    /// The number of a call through a pointer that returns to `place`. One such call may arrive at
    /// several functions.
    pub fn number_pointer(
        &mut self,
        path: &Path,
        place: u64,
        hook: u32,
        new: impl FnOnce() -> Numbered,
    ) -> Option<u32> {
        let key = (path.to_path_buf(), place, hook);
        if let Some(number) = self.pointers.get(&key) {
            return Some(*number);
        }
        let number = self.next()?;
        self.pointers.insert(key, number);
        self.sites.push(new());
        Some(number)
    }

    fn next(&mut self) -> Option<u32> {
        let number = self.sites.len() as u32;
        if number >= MAX_SITES {
            self.left_out += 1;
            return None;
        }
        Some(number)
    }

    pub fn number_hook(&mut self, path: &Path, address: u64, callee: &str, operation: usize) -> Option<u32> {
        /// The capacity of the runtime's table of callers.
        const MOST: u32 = u16::MAX as u32 - 1;
        let key = (path.to_path_buf(), address);
        if let Some(number) = self.hook_numbers.get(&key) {
            return Some(*number);
        }
        let number = self.hooks.len() as u32;
        if number >= MOST {
            return None;
        }
        self.hook_numbers.insert(key, number);
        self.hooks.push(NumberedHook { callee: callee.into(), operation });
        Some(number)
    }
}

/// Finds the sites of a file. An unreadable file has none.
pub fn look(path: &Path, catalogue: &Catalogue) -> FileAnalysis {
    let Ok(module) = Module::open(path) else {
        return FileAnalysis { has_symbols: true, ..FileAnalysis::default() };
    };
    let mut known: HashMap<String, Option<CallRole>> = HashMap::new();
    let paths = SymbolPaths::default();
    let wanted = |name: &str| what(name, catalogue, &paths).is_some();
    let Calls { sites: found, taken } = module.calls(wanted);
    let returns = found.iter().filter(|s| !s.tail).map(|s| s.return_address).collect();
    let mut sites = Vec::new();
    let mut times = HashMap::new();
    // Calls by any code count, including the library's own. Destructors do not count: compilers
    // call them out of line, or pass their addresses to `atexit`, even if they have inlined
    // everything else.
    let mut called = HashSet::new();
    let mut inside: HashMap<String, bool> = HashMap::new();
    for site in found {
        let what = *known.entry(site.callee.clone()).or_insert_with(|| what(&site.callee, catalogue, &paths));
        let Some(what) = what else { continue };
        if let CallRole::Point(operation) = what
            && !catalogue.operations[operation].is_destructor()
        {
            called.insert(operation);
        }
        // A program may well have a function `gz_open` that calls zlib. It is internal to zlib only
        // if zlib is part of the file.
        let callee = &site.callee;
        let may_be_own = callee.starts_with('_')
            || *inside.entry(callee.clone()).or_insert_with(|| module.function_address(callee).is_some());
        let own = |operation| {
            may_be_own && site.caller.as_deref().is_some_and(|c| catalogue.is_own(c, operation, &paths))
        };
        if matches!(what, CallRole::Point(operation) if own(operation) || catalogue.is_over_own_type(callee))
        {
            continue;
        }
        let name = name(&site, &mut times);
        sites.push(FileSite {
            address: site.address,
            len: (site.return_address - site.address) as u8,
            bytes: site.bytes,
            tail: site.tail,
            slot: site.slot,
            by_memory: false,
            callee: site.callee,
            name,
            what,
        });
    }
    let taken: BTreeMap<String, usize> = taken
        .into_iter()
        .filter(|name| !catalogue.is_over_own_type(name))
        .filter_map(|name| match what(&name, catalogue, &paths)? {
            CallRole::Point(operation) => Some((name, operation)),
            CallRole::Async | CallRole::Lookup => None,
        })
        .collect();
    let by_memory = mark_results(&module, &mut sites, &taken);
    let has_symbols = module.has_symbols();
    called.extend(taken.values().filter(|operation| !catalogue.operations[**operation].is_destructor()));
    let inlined = inlined(&module, &called, catalogue, &paths);
    let inlined_calls = inlined_calls(&module, catalogue, &paths);
    FileAnalysis { sites, has_symbols, inlined, inlined_calls, taken, by_memory, returns }
}

/// The calls of listed functions that a compiler has inlined, but for calls by the library itself.
/// Destructors do not count, as above.
fn inlined_calls(module: &Module, catalogue: &Catalogue, paths: &SymbolPaths) -> BTreeMap<usize, u32> {
    let point = |name: &str| match what(name, catalogue, paths) {
        Some(CallRole::Point(operation)) if !catalogue.operations[operation].is_destructor() => {
            Some(operation)
        }
        _ => None,
    };
    let known: RefCell<HashMap<String, Option<usize>>> = RefCell::default();
    let point = |name: &str| *known.borrow_mut().entry(name.into()).or_insert_with(|| point(name));
    let mut calls = BTreeMap::new();
    for call in module.inlined_calls(|name| point(name).is_some()) {
        let is_own = |operation| {
            call.caller.as_deref().is_some_and(|caller| catalogue.is_own(caller, operation, paths))
                || catalogue.is_over_own_type(&call.callee)
        };
        if let Some(operation) = point(&call.callee).filter(|operation| !is_own(*operation)) {
            *calls.entry(operation).or_default() += 1;
        }
    }
    calls
}

/// The size of two registers: Rust returns anything larger through memory.
const IN_REGISTERS: u64 = 16;

/// Finds Rust functions that return their result through memory, among those called and those whose
/// addresses are taken. Without debug information none is known. Such a call then has the place of
/// its result as its object, a local, which conflicts with nothing.
fn mark_results(module: &Module, sites: &mut [FileSite], taken: &BTreeMap<String, usize>) -> HashSet<String> {
    let names = sites.iter().map(|site| &site.callee).chain(taken.keys());
    let rust: HashSet<&str> = names.map(String::as_str).filter(|name| is_rust(name)).collect();
    let sizes = module.result_sizes(&rust);
    let by_memory = |name: &String| sizes.get(name).is_some_and(|size| *size > IN_REGISTERS);
    for site in sites {
        site.by_memory = by_memory(&site.callee);
    }
    taken.keys().filter(|name| by_memory(name)).cloned().collect()
}

/// Recognised by its mangling: v0, or the legacy one, which ends with a hash.
fn is_rust(raw: &str) -> bool {
    let hash = || raw.strip_suffix('E').and_then(|raw| raw.rsplit_once("17h"));
    let is_hash = |(_, hash): (&str, &str)| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    raw.starts_with("_R") || raw.starts_with("_ZN") && hash().is_some_and(is_hash)
}

/// Classes of which the file has the inner parts but no call. Classes that share those parts cannot
/// be told apart, so a call of one counts for all.
fn inlined(
    module: &Module,
    called: &HashSet<usize>,
    catalogue: &Catalogue,
    paths: &SymbolPaths,
) -> Vec<usize> {
    let called: HashSet<&[String]> = called
        .iter()
        .map(|operation| &catalogue.classes[catalogue.operations[*operation].class])
        .map(|c| c.traces.as_slice())
        .collect();
    let mut traced: Vec<usize> =
        module.function_names().flat_map(|name| catalogue.traced(name, paths)).collect();
    // The file contains the C++ library itself, which uses its own containers.
    if module.function_address("_ZSt9terminatev").is_some() {
        return Vec::new();
    }
    // Compilers that inline at all always inline these functions. So this file was built without
    // inlining, and the inlined parts come from a static library.
    if module.function_names().any(|name| name.starts_with("_ZNSt16allocator_traitsI")) {
        return Vec::new();
    }
    traced.sort_unstable();
    traced.dedup();
    traced.retain(|class| !called.contains(catalogue.classes[*class].traces.as_slice()));
    traced
}

/// `caller > callee #2`, or the address in the file if the caller has no name.
fn name(site: &CallSite, times: &mut HashMap<(String, String), u32>) -> String {
    let Some(caller) = &site.caller else { return format!("{:#x} > {}", site.address, site.callee) };
    let nth = times.entry((caller.clone(), site.callee.clone())).or_insert(0);
    *nth += 1;
    format!("{caller} > {} #{nth}", site.callee)
}

fn what(raw: &str, catalogue: &Catalogue, paths: &SymbolPaths) -> Option<CallRole> {
    if let Some(operation) = catalogue.find(raw, paths) {
        return Some(CallRole::Point(operation));
    }
    if ["dlsym", "dlvsym", "g_module_symbol"].contains(&raw) {
        return Some(CallRole::Lookup);
    }
    // std::async<F, A...>(std::launch, F&&, A&&...). The overload without a policy calls this one.
    let is_async = raw.starts_with("_ZSt5asyncI") && raw.contains("St6launch");
    is_async.then_some(CallRole::Async)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_is_told_by_its_mangling() {
        assert!(is_rust("_ZN5alloc3vec16Vec$LT$T$C$A$GT$3pop17h0123456789abcdefE"));
        assert!(is_rust("_RNvMs_NtCs1_5alloc3vecINtB4_3VecjE3pop"));
        assert!(!is_rust("_ZNSt6vectorIiSaIiEE9push_backERKi"));
        assert!(!is_rust("_ZN3app17handler17hasNoHashAtAllEE") && !is_rust("strtok"));
    }
}
