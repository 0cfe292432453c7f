//! One pass over all functions of a module.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use raddle_binary::flow::{MachineProgram, Outline, Query};
use raddle_binary::{Module, demangle};
use rustc_hash::FxHashMap as HashMap;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, CriticalRead, FunctionName, Note, Site, SiteKind};
use crate::cache::{Cache, Present, SitesWithReads};
use crate::extent::{CallGraph, Extent};
use crate::options::Options;
use crate::reads;
use crate::sites::{Candidate, Finder};

/// Finds the error sites of a module and the reads that can affect them.
pub fn analyse(module: &Module, options: &Options) -> Analysis {
    StaticHalf::new(module, options, KnownFunctions::default()).analyse(None, &Extent::whole())
}

/// The same with what is known from before, within an extent. `known` belongs to this very file and
/// these options. `cache` may be of an earlier build: what has not changed since is reused.
pub fn analyse_with(
    module: &Module,
    options: &Options,
    (known, cache): (&mut KnownFunctions, &mut Cache),
    extent: &Extent<'_>,
) -> Analysis {
    let mut half = StaticHalf::new(module, options, std::mem::take(known));
    let analysis = half.analyse(Some(cache), extent);
    *known = half.known;
    analysis
}

/// The sites of functions of one file, by the function's entry; `None` for a function that is too
/// large to analyse. The caller serialises and stores them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownFunctions(BTreeMap<u64, Option<SitesWithReads>>);

impl KnownFunctions {
    /// How many functions are known.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The analysis of one file with one set of options. It remembers what it has found out, so another
/// extent of the same file, such as that of another test, takes only what is new in it.
pub struct StaticHalf<'m> {
    program: MachineProgram<'m>,
    options: Options,
    known: KnownFunctions,
    /// Whether the cache held something of an earlier build at the first analysis. Only then it is
    /// worth to ask: what it learns here is known anyway.
    asks_cache: Option<bool>,
    /// Whether a function is analysed at all, by its entry.
    wanted: HashMap<u64, bool>,
    graph: OnceCell<CallGraph<'m>>,
}

impl<'m> StaticHalf<'m> {
    /// `known` belongs to this very file and these options.
    pub fn new(module: &'m Module, options: &Options, known: KnownFunctions) -> Self {
        Self {
            program: MachineProgram::new(module),
            options: options.clone(),
            known,
            asks_cache: None,
            wanted: HashMap::default(),
            graph: OnceCell::new(),
        }
    }

    /// The functions that are known by now.
    pub fn known(&self) -> &KnownFunctions {
        &self.known
    }

    /// The sites within an extent. `cache` may be of an earlier build.
    pub fn analyse(&mut self, mut cache: Option<&mut Cache>, extent: &Extent<'_>) -> Analysis {
        let Self { program, options, known, asks_cache, wanted, graph } = self;
        if let Some(cache) = cache.as_deref_mut() {
            cache.begin(options);
            asks_cache.get_or_insert(!cache.is_empty());
        }
        let finder = &Finder::new(options);
        let present = Present::default();
        let mut analysis = Analysis { notes: notes(program), ..Analysis::default() };
        let call_graph = || graph.get_or_init(|| CallGraph::new(program));
        let (outlines, executed) = extent.functions(program, options, &call_graph);
        let (mut done, mut left_out, mut unfinished) = (0, 0, 0);
        for (at, outline) in outlines.into_iter().enumerate() {
            let entry = outline.range.start;
            if !*wanted.entry(entry).or_insert_with(|| is_wanted(program, outline, finder)) {
                continue;
            }
            let is_other = at >= executed;
            if unfinished > 0 || (done > 0 && is_other && (extent.is_over)()) {
                unfinished += 1;
                continue;
            }
            done += 1;
            let found = known.0.entry(entry).or_insert_with(|| {
                let find = || of_function(program, outline, finder, options);
                match cache.as_deref_mut() {
                    Some(cache) => {
                        let present = Some(&present).filter(|_| *asks_cache == Some(true));
                        cached(program, (cache, present), entry, find)
                    }
                    None => find(),
                }
            });
            match found {
                Some(found) => {
                    found.iter().cloned().for_each(|(site, reads)| add(&mut analysis, site, reads))
                }
                None => left_out += 1,
            }
        }
        if let Some(cache) = cache.filter(|_| extent.executed.is_none()) {
            cache.end(&present);
        }
        if left_out > 0 {
            analysis.notes.push(Note::LeftOut { functions: left_out });
        }
        if unfinished > 0 {
            analysis.notes.push(Note::Unfinished { functions: unfinished });
        }
        number(&mut analysis);
        analysis
    }
}

/// What an earlier build knew of a function, if that is asked for, or what is found in it now.
fn cached(
    program: &MachineProgram,
    (cache, present): (&mut Cache, Option<&Present>),
    entry: u64,
    find: impl FnOnce() -> Option<SitesWithReads>,
) -> Option<SitesWithReads> {
    if let Some(reused) = present.and_then(|present| cache.get(program, present, entry)) {
        return Some(reused);
    }
    program.looked_at();
    let found = find()?;
    cache.put(program, entry, &program.looked_at(), &found);
    Some(found)
}

/// The sites of one function with their reads; `None` if it is too large to analyse.
fn of_function(
    program: &MachineProgram,
    outline: &Outline,
    finder: &Finder,
    options: &Options,
) -> Option<SitesWithReads> {
    let query = Query::new(program, program.function(outline.range.start)?);
    let mut found = Vec::new();
    for candidate in finder.sites(&query) {
        let reads = reads::critical_reads(&query, &candidate, options);
        // Most loops and accesses depend on nothing shared; all reporting calls are sites.
        if reads.is_empty() && matches!(candidate.kind, SiteKind::Loop | SiteKind::Memory) {
            continue;
        }
        found.push((site(&query, candidate), reads));
    }
    Some(found)
}

fn site(query: &Query, candidate: Candidate) -> Site {
    let function = query.function();
    Site {
        id: 0,
        kind: candidate.kind,
        address: function.address_of(candidate.index),
        function: FunctionName { address: function.entry(), name: function.name().map(demangle) },
        condition: reads::site_condition(query, &candidate),
        waits: candidate.exit.is_some_and(|exit| exit.waits),
        callee: candidate.callee,
    }
}

fn add(analysis: &mut Analysis, mut site: Site, reads: Vec<CriticalRead>) {
    let id = analysis.sites.len() as u32;
    site.id = id;
    analysis.sites.push(site);
    analysis.reads.extend(reads.into_iter().map(|read| CriticalRead { site: id, ..read }));
}

/// Sorts sites by address and gives them their numbers.
fn number(analysis: &mut Analysis) {
    let mut order: Vec<usize> = (0..analysis.sites.len()).collect();
    order.sort_by_key(|at| (analysis.sites[*at].address, analysis.sites[*at].kind));
    let mut new_id = vec![0; order.len()];
    for (id, &at) in order.iter().enumerate() {
        new_id[at] = id as u32;
        analysis.sites[at].id = id as u32;
    }
    analysis.sites.sort_by_key(|site| site.id);
    for read in &mut analysis.reads {
        read.site = new_id[read.site as usize];
    }
    analysis.reads.sort_by_key(|read| (read.site, read.distance, read.address));
}

/// In a program with probes, only code with probes can be traced; the rest is the runtime and
/// libraries. Functions with nothing to find are skipped early.
fn is_wanted(program: &MachineProgram, outline: &Outline, finder: &Finder) -> bool {
    if outline.cold || outline.name.is_some_and(|name| name.starts_with("__tsan_") || is_rust_std(name)) {
        return false;
    }
    if !program.is_instrumented() && finder.looks_at_everything() {
        return true;
    }
    let calls = program.calls(outline);
    let probed = !program.is_instrumented() || calls.iter().any(|call| call.callee.probe().is_some());
    // Cold parts contain most reporting calls, and are not scanned here.
    probed && (finder.looks_at_everything() || !calls.is_empty())
}

fn notes(program: &MachineProgram) -> Vec<Note> {
    let mut notes = Vec::new();
    if program.outlines().is_empty() {
        notes.push(Note::NoFunctions);
    } else if program.outlines().iter().all(|outline| outline.name.is_none()) {
        notes.push(Note::Stripped);
    }
    if !program.is_instrumented() {
        notes.push(Note::NotInstrumented);
    }
    notes
}

/// Whether it is code of Rust's standard library itself, which is instrumented too. Instances for
/// the program's own types have names that begin with these types, or with `core` and `alloc`, and
/// are kept.
fn is_rust_std(name: &str) -> bool {
    // Both of Rust's manglings: the older one is C++'s with a hash at the end.
    if !(name.starts_with("_R") || (name.starts_with("_ZN") && name.contains("17h"))) {
        return false;
    }
    const CRATES: [&str; 12] = [
        "std::",
        "core::fmt::",
        "core::num::",
        "core::str::",
        "core::unicode::",
        "core::char::",
        "gimli::",
        "addr2line::",
        "rustc_demangle::",
        "object::read::",
        "miniz_oxide::",
        "backtrace_rs::",
    ];
    let path = demangle(name);
    let own = path.trim_start_matches('<');
    // Instances for the program have the program's code inlined: a thread's closure is in std's
    // function that runs it.
    let serves_others = path.contains("__rust_begin_short_backtrace") || names_others(&path);
    !serves_others && CRATES.iter().any(|first| own.starts_with(first))
}

/// Whether the name of a function mentions something outside Rust's own crates: a type or function
/// for which it was instantiated.
fn names_others(path: &str) -> bool {
    const RUST: [&str; 9] = [
        "std",
        "core",
        "alloc",
        "hashbrown",
        "gimli",
        "addr2line",
        "rustc_demangle",
        "object",
        "miniz_oxide",
    ];
    let words = path.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let roots = words.filter_map(|word| word.split_once("::")).map(|(root, _)| root);
    roots.filter(|root| !root.is_empty()).any(|root| !RUST.contains(&root))
}

#[cfg(test)]
mod tests {
    use super::is_rust_std;

    #[test]
    fn the_library_is_told_from_the_program() {
        assert!(is_rust_std("_ZN3std2io5stdio6_print17h0123456789abcdefE"));
        assert!(is_rust_std("_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print"));
        assert!(!is_rust_std("_ZN4core6option15Option$LT$T$GT$6expect17h0123456789abcdefE"));
        assert!(super::names_others("std::thread::spawn_unchecked::<bank::work, ()>"));
        assert!(!super::names_others("<std::io::Stdout as core::fmt::Write>::write_str::<u8>"));
        assert!(!is_rust_std("_ZN4bank7depositEi") && !is_rust_std("main"));
        assert!(
            !is_rust_std("_ZNSt6vectorIiSaIiEE14_M_range_checkEm"),
            "C++ instantiates its library in the program"
        );
    }
}
