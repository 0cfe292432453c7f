//! Answers the questions of processes: which of their call sites and functions are points, and who
//! has just called such a function.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use raddle_binary::Movable;
use raddle_tsvd::TrapPair;
use raddle_wire::tsvd::{About, Contents, EntryCall, Hook, Question, RedirectSite, StartingPair, site_flag};

use super::api::SymbolPaths;
use super::modules::{self, Loaded, MappedFile, Modules, PointedFunction};
use super::session::{Common, special_site};
use super::site_cache;
use super::sites::{self, CallRole, Numbered, Registry};
use raddle_harness::questions::Questions;

/// Analysed files, kept from run to run.
#[derive(Default)]
pub struct AnalysedFiles {
    pub looked: HashMap<sites::Version, sites::AnalysedFile>,
    pub modules: Modules,
    /// Listed functions that programs have looked up by name, with the operation of each.
    pub asked: BTreeMap<String, usize>,
}

pub struct Planner {
    pub questions: Questions,
    pub common: Arc<Common>,
    pub files: AnalysedFiles,
}

impl Planner {
    pub fn serve(mut self, stop: &AtomicBool) -> AnalysedFiles {
        while let Some(bytes) = self.questions.next::<{ Question::LEN }>(stop) {
            self.answer(Question::decode(bytes));
        }
        self.files
    }

    fn answer(&mut self, question: Question) {
        let plan = match question.about {
            About::Mapped => self.plan(question.pid),
            About::Call(caller) => self.plan_of_call(question.pid, caller),
            About::Name(hash) => self.plan_of_name(question.pid, hash),
        };
        self.questions.answer(question.pid, Some(question.number), &plan);
    }

    /// All files that a process has mapped.
    fn mapped(&mut self, pid: u32) -> Vec<Loaded> {
        let mapped: Vec<MappedFile> = modules::mapped_files(pid);
        let not_ours = mapped.iter().filter(|m| !m.path.starts_with(&self.common.own));
        not_ours.filter_map(|m| self.files.modules.load(m)).collect()
    }

    /// The files whose calls count; analyses each.
    fn watched<'a>(&mut self, all: &'a [Loaded]) -> Vec<&'a Loaded> {
        let watched: Vec<&Loaded> = all.iter().filter(|l| self.is_looked_at(&l.version.0)).collect();
        for loaded in &watched {
            let looked = &mut self.files.looked;
            if !looked.contains_key(&loaded.version) {
                let file = site_cache::look(&loaded.version.0, &self.common.catalogue);
                looked.insert(loaded.version.clone(), file);
            }
        }
        watched
    }

    /// The sites of all files that a process has mapped.
    fn plan(&mut self, pid: u32) -> Vec<u8> {
        let all = self.mapped(pid);
        let watched = self.watched(&all);
        let AnalysedFiles { looked, modules, asked } = &mut self.files;
        let common = &self.common;
        let mut registry = common.registry.lock().expect("nobody panics with the registry");
        let mut plan = Vec::new();
        for loaded in &watched {
            let file = &looked[&loaded.version].found;
            let path = &loaded.version.0;
            registry.files.insert(path.clone(), (file.sites.len(), file.has_symbols));
            let mut helper =
                |name: &Option<String>| name.as_ref().map_or(0, |name| modules.function(name, &all));
            for site in &file.sites {
                let site = match site.what {
                    CallRole::Point(operation) => {
                        common.point(&mut registry, path, site, operation, &mut helper)
                    }
                    CallRole::Async => common.force_async.then(|| special_site(site, site_flag::ASYNC)),
                    CallRole::Lookup => Some(special_site(site, site_flag::LOOKUP)),
                };
                plan.extend(site.map(|s| RedirectSite { address: s.address.wrapping_add(loaded.bias), ..s }));
            }
        }
        let hooks = hooks(common, &mut registry, looked, modules, asked, &all);
        let code: Vec<_> = watched.iter().flat_map(|loaded| modules.code(loaded)).collect();
        let exempt = common.catalogue.classes.iter().flat_map(|c| &c.exempt);
        let exempt: Vec<u64> = exempt.filter_map(|name| modules.variable(name, &all)).collect();
        let pairs = pairs(common, &registry);
        Contents { sites: &plan, pairs: &pairs, exempt: &exempt, hooks: &hooks, watched: &code }.encode()
    }

    /// The functions to hook, when the program is about to look up one of this name. Sites of
    /// libraries that were loaded in the meantime are not included: the runtime asks for those
    /// itself.
    fn plan_of_name(&mut self, pid: u32, hash: u64) -> Vec<u8> {
        let all = self.mapped(pid);
        let paths = SymbolPaths::default();
        let names: HashSet<String> =
            all.iter().filter_map(|loaded| self.files.modules.exported(loaded, hash)).collect();
        let listed: Vec<(String, usize)> = names
            .into_iter()
            .filter_map(|name| self.common.catalogue.find(&name, &paths).map(|operation| (name, operation)))
            .collect();
        if listed.is_empty() {
            return Contents::default().encode();
        }
        self.files.asked.extend(listed);
        let watched = self.watched(&all);
        let AnalysedFiles { looked, modules, asked } = &mut self.files;
        let mut registry = self.common.registry.lock().expect("nobody panics with the registry");
        let hooks = hooks(&self.common, &mut registry, looked, modules, asked, &all);
        let code: Vec<_> = watched.iter().flat_map(|loaded| modules.code(loaded)).collect();
        Contents { hooks: &hooks, watched: &code, ..Contents::default() }.encode()
    }

    /// The site of a call that arrived at a function's entry, if it counts.
    fn plan_of_call(&mut self, pid: u32, caller: EntryCall) -> Vec<u8> {
        let Some(id) = self.number_of_call(pid, caller) else { return Contents::default().encode() };
        let site = RedirectSite { id, ..sites::blank_site() };
        let registry = self.common.registry.lock().expect("nobody panics with the registry");
        let pairs = pairs(&self.common, &registry);
        Contents { sites: &[site], pairs: &pairs, ..Contents::default() }.encode()
    }

    fn number_of_call(&mut self, pid: u32, caller: EntryCall) -> Option<u32> {
        let mapped = modules::mapped_at(pid, caller.return_address)?;
        let loaded = self.files.modules.load(&mapped)?;
        let file = self.files.looked.get(&loaded.version)?;
        let place = caller.return_address.wrapping_sub(loaded.bias);
        let mut registry = self.common.registry.lock().expect("nobody panics with the registry");
        let hook = registry.hooks.get(caller.hook as usize)?.clone();
        let name = file.name_of_call(place, &hook.callee, hook.operation, &self.common.catalogue)?;
        let path = &loaded.version.0;
        registry.number_pointer(path, place, caller.hook, || Numbered {
            path: path.clone(),
            address: place,
            len: 0,
            operation: hook.operation,
            tail: false,
            callee: hook.callee,
            name: format!("{}: {name}", path.file_name().unwrap_or_default().to_string_lossy()),
        })
    }

    /// Programs and libraries of the system are skipped unless they are asked for.
    fn is_looked_at(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        !is_system(&text) || self.common.modules.iter().any(|p| raddle_binary::matches_glob(p, &text))
    }
}

pub fn is_system(path: &str) -> bool {
    const SYSTEM: [&str; 6] = ["/usr/", "/lib/", "/lib32/", "/lib64/", "/bin/", "/sbin/"];
    SYSTEM.iter().any(|prefix| path.starts_with(prefix)) && !path.starts_with("/usr/local/") || is_clr(path)
}

/// Whether a file belongs to the .NET runtime or its launcher, wherever it is, even in the folder
/// of a program that carries it. The calls in it are internal to .NET.
fn is_clr(path: &str) -> bool {
    const CARRIED: [&str; 6] =
        ["libhostfxr.", "libhostpolicy.", "libcoreclr", "libclr", "libSystem.", "libmscord"];
    let file = path.rsplit('/').next().unwrap_or(path);
    // Until .NET 5 these had no `lib` before their names.
    let is_old = file.starts_with("System.") && file.contains(".Native.") && file.ends_with(".so");
    let is_carried = is_old || CARRIED.iter().any(|prefix| file.starts_with(prefix));
    let is_in_place = path.contains("/Microsoft.NETCore.App/") || path.contains("/host/fxr/");
    let is_library = file.contains(".so");
    is_carried || is_in_place || file == "dotnet" || starts_assembly(path) || !is_library && is_bundle(path)
}

/// Whether a program is only a launcher, with its assemblies appended to the same file.
fn is_bundle(path: &str) -> bool {
    /// .NET uses this signature to find the offset of the assemblies: the number before it.
    const SIGNATURE: [u8; 32] = [
        0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32, 0x13,
        0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
    ];
    /// The program itself has some 90 thousand bytes.
    const MOST: u64 = 1 << 18;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    let Some(at) = bytes.windows(SIGNATURE.len()).position(|window| window == SIGNATURE) else {
        return false;
    };
    read.is_ok() && at >= 8 && bytes[at - 8..at] != [0; 8]
}

/// Whether a program only starts the assembly of the same name beside it.
fn starts_assembly(path: &str) -> bool {
    let beside = |extension: &str| Path::new(&format!("{path}.{extension}")).is_file();
    beside("runtimeconfig.json") && beside("dll")
}

/// Hooks for the functions whose addresses analysed files take, or that were looked up by name,
/// wherever they are defined. A definition that another one hides is hooked in vain, which does no
/// harm.
fn hooks(
    common: &Common,
    registry: &mut Registry,
    looked: &HashMap<sites::Version, sites::AnalysedFile>,
    modules: &mut Modules,
    asked: &BTreeMap<String, usize>,
    all: &[Loaded],
) -> Vec<Hook> {
    let files = all.iter().filter_map(|loaded| looked.get(&loaded.version));
    let taken: BTreeMap<String, usize> =
        files.flat_map(|f| f.found.taken.clone()).chain(asked.clone()).collect();
    let mut hooks = Vec::new();
    if taken.is_empty() {
        return hooks;
    }
    for loaded in all {
        let file = looked.get(&loaded.version);
        let local = |name: &str| file.is_some_and(|f| f.found.taken.contains_key(name));
        for (callee, entry) in modules.entries(loaded, &taken, local) {
            let PointedFunction::At(movable) = entry else {
                registry.unwatched.insert(callee);
                continue;
            };
            let operation = taken[&callee];
            let mut helper =
                |name: &Option<String>| name.as_ref().map_or(0, |name| modules.function(name, all));
            let by_memory = file.is_some_and(|f| f.found.by_memory.contains(&callee));
            let Some(site) = common.shape(operation, by_memory, &mut helper) else { continue };
            let Some(id) = registry.number_hook(&loaded.version.0, movable.address, &callee, operation)
            else {
                continue;
            };
            let address = movable.address.wrapping_add(loaded.bias);
            let site = RedirectSite { address, id, ..site };
            hooks.push(hook(site, movable));
        }
    }
    hooks
}

pub fn hook(site: RedirectSite, movable: Movable) -> Hook {
    let Movable { bytes, len, code, code_len, relative, .. } = movable;
    Hook { site, bytes, len, code, code_len, relative }
}

fn pairs(common: &Common, registry: &Registry) -> Vec<StartingPair> {
    let pairs = common.traps.lock().expect("nobody panics with the traps").pairs(registry);
    pairs.iter().map(pair).collect()
}

fn pair(pair: &TrapPair) -> StartingPair {
    let TrapPair { site_a: a, site_b: b, probability, state, gap } = *pair;
    StartingPair { a, b, probability, state: state as u32, gap }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_the_runtime_of_dotnet() {
        let names =
            ["libSystem.Native.so", "System.Native.so", "System.Security.Cryptography.Native.OpenSsl.so"];
        assert!(names.iter().all(|name| is_system(&format!("/home/me/app/{name}"))));
        let others = ["System.Mine.so", "libmine.so", "Native.so", "app/System.Native.sorted"];
        assert!(!others.iter().any(|name| is_system(&format!("/home/me/app/{name}"))));
    }
}
