//! Calls through pointers in copies of `raddle instrument`. Everything that a run would ask the
//! driver is prepared beforehand. Functions whose addresses the program and its libraries take are
//! hooked wherever they are defined, even in system libraries. Each call in the program and in its
//! own libraries is listed with its library. The calls that runs have seen are read from the file
//! that they share.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use raddle_binary::Module;
use raddle_tsvd::MAX_SITES;
use raddle_wire::tsvd::{FixedCaller, Hook, MOST_CALLERS, PointerCall, RedirectSite};

use super::api::{Catalogue, SymbolPaths};
use super::planner::hook;
use super::session::Common;
use super::sites::{AnalysedFile, Numbered, NumberedHook, Registry};

/// Functions by raw name, with the operation of each.
pub type OperationsByName = BTreeMap<String, usize>;

/// The hooks for the functions in `taken` that a file defines, by its own addresses. `file`: what
/// is known about it, if its calls count.
pub fn hooks(
    common: &Common,
    registry: &mut Registry,
    (path, module): (&Path, &Module),
    file: Option<&AnalysedFile>,
    taken: &OperationsByName,
    helper: &mut dyn FnMut(&Option<String>) -> u64,
) -> Vec<Hook> {
    let libraries = common.catalogue.libraries();
    let names: Vec<&str> = taken.keys().map(String::as_str).collect();
    let local = |name: &str| file.is_some_and(|f| f.found.taken.contains_key(name));
    let found = module.definitions(&names, local);
    let mut movable = module.movable(&found.concat()).into_iter();
    let mut hooks = Vec::new();
    for ((callee, &operation), addresses) in taken.iter().zip(&found) {
        for movable in movable.by_ref().take(addresses.len()) {
            let Some(movable) = movable else {
                registry.unwatched.insert(callee.clone());
                continue;
            };
            let by_memory = file.is_some_and(|f| f.found.by_memory.contains(callee));
            let Some(site) = common.shape(operation, by_memory, helper) else { continue };
            let id = registry.number_hook(path, movable.address, callee, operation);
            let Some(id) = id.filter(|id| *id < FixedCaller::MOST_HOOKS) else { continue };
            let library = libraries.iter().position(|name| *name == common.catalogue.library(operation));
            let bytes = library.map_or(0, |n| n as u64 + 1);
            hooks.push(hook(RedirectSite { address: movable.address, id, bytes, ..site }, movable));
        }
    }
    hooks
}

/// The places in a file that count, as [`PointerCall`]s.
pub fn places(file: &AnalysedFile, catalogue: &Catalogue) -> Vec<u8> {
    let Some(module) = file.module() else { return Vec::new() };
    let (paths, libraries) = (SymbolPaths::default(), catalogue.libraries());
    // `None`: the inside of a library, whose calls are not points.
    let mut known: HashMap<String, Option<u16>> = HashMap::new();
    let mut whose = |name: &str| {
        if let Some(known) = known.get(name) {
            return *known;
        }
        let library = catalogue.library_of(name, &paths);
        let number = library.and_then(|library| libraries.iter().position(|l| *l == library));
        let own = (!catalogue.is_own_of_all(name, &paths)).then(|| number.map_or(0, |n| n as u16 + 1));
        known.insert(name.to_string(), own);
        own
    };
    let mut words = Vec::new();
    module.each_call(|address, caller, callee| {
        let libraries = [caller, callee].map(|name| name.map_or(Some(0), &mut whose));
        if let [Some(a), Some(b)] = libraries
            && !file.found.returns.contains(&address)
        {
            words.extend(PointerCall { address, libraries: [a, b] }.encode());
        }
    });
    words.sort_unstable();
    words.dedup();
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// The empty file in which runs gather their calls. `None`: there are already too many sites.
pub fn callers(registry: &Registry) -> Option<Vec<u8>> {
    let first = registry.sites.len() as u64;
    let fits = first + MOST_CALLERS as u64 <= u64::from(MAX_SITES);
    fits.then(|| [first.to_le_bytes().to_vec(), vec![0; MOST_CALLERS * 8]].concat())
}

/// Gives the calls that runs have gathered the numbers they had there. `files`: the program and its
/// libraries.
pub fn number_callers(
    bytes: &[u8],
    registry: &mut Registry,
    catalogue: &Catalogue,
    hooks: &[(String, usize)],
    files: &[(PathBuf, AnalysedFile)],
) {
    registry.hooks =
        hooks.iter().map(|(callee, op)| NumberedHook { callee: callee.clone(), operation: *op }).collect();
    let (words, _) = bytes.as_chunks::<8>();
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
    if words.next() != Some(registry.sites.len() as u64) {
        return;
    }
    for FixedCaller { hook, file, place } in words.map_while(FixedCaller::decode) {
        let (Some((callee, operation)), Some((path, file))) =
            (hooks.get(hook as usize), files.get(file as usize))
        else {
            return;
        };
        let name = file.name_of_call(place, callee, *operation, catalogue);
        let name = name.unwrap_or_else(|| format!("{place:#x} > *{callee}"));
        registry.number_pointer(path, place, hook, || Numbered {
            path: path.clone(),
            address: place,
            len: 0,
            operation: *operation,
            tail: false,
            callee: callee.clone(),
            name: format!("{}: {name}", path.file_name().unwrap_or_default().to_string_lossy()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tsvd::sites::FileAnalysis;

    /// Calls of two functions from two places, as numbered by a registry that already has `first`
    /// sites.
    fn numbered(first: u64) -> Vec<String> {
        let hooks = [("strtok".to_string(), 0), ("deflate".to_string(), 1)];
        let path = PathBuf::from("/no such/prog");
        let files = [(path.clone(), AnalysedFile::new(&path, FileAnalysis::default()))];
        let call = |hook, place| FixedCaller { hook, file: 0, place }.encode().unwrap();
        // Words after an empty one do not count.
        let words = [first, call(0, 0x10), call(1, 0x10), call(1, 0x20), 0, call(0, 0x30)];
        let mut registry = Registry::default();
        let catalogue = Catalogue::load(&[]).unwrap();
        number_callers(&words.map(u64::to_le_bytes).concat(), &mut registry, &catalogue, &hooks, &files);
        assert_eq!(registry.hooks.len(), 2);
        registry.sites.into_iter().map(|site| site.name).collect()
    }

    #[test]
    fn calls_have_the_numbers_that_the_runtime_gave_them() {
        assert_eq!(numbered(0), ["prog: 0x10 > *strtok", "prog: 0x10 > *deflate", "prog: 0x20 > *deflate"]);
        assert!(numbered(5).is_empty(), "they are of another plan");
    }

    #[test]
    fn a_file_of_calls_is_empty_at_first_and_says_where_numbers_begin() {
        let bytes = callers(&Registry::default()).unwrap();
        assert_eq!(bytes.len(), (1 + MOST_CALLERS) * 8);
        assert!(bytes.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn places_are_in_order_and_those_of_a_library_s_inside_are_left_out() {
        let catalogue = Catalogue::load(&[]).unwrap();
        let file = AnalysedFile::new(&std::env::current_exe().unwrap(), FileAnalysis::default());
        let bytes = places(&file, &catalogue);
        let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
        assert!(words.len() > 1000 && words.is_sorted());
        let mut all = 0;
        file.module().unwrap().each_call(|_, _, _| all += 1);
        assert!(words.len() <= all);
        assert!(
            places(&AnalysedFile::new(Path::new("/no such"), FileAnalysis::default()), &catalogue).is_empty()
        );
    }
}
