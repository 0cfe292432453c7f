//! Messages besides the report, and errors.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{Context, Result};
use thiserror::Error;

use super::api::Catalogue;
use super::args::DelayOptions;
use super::coverage::Covered;
use super::planner::AnalysedFiles;
use super::session::Common;
use super::sites::{CallRole, Registry};
use raddle_binary::plain_path;
use raddle_harness::say::{count, say};
use raddle_harness::target::TargetProgram;
use raddle_tsvd::Stats;

/// Why nothing could be watched. Each is one sentence with its remedy.
#[derive(Debug, Error)]
pub enum TsvdError {
    #[error(
        "nothing in `{0}` or in the processes it started calls a function of the lists from code that raddle looks into: for a system program give --module, for functions of your own a list in raddle.toml, for C++ that was optimised build with `raddle c++ --tsvd`"
    )]
    NoSites(String),
    #[error(
        "nothing could be watched: {0}, but a compiler has inlined all of their methods, so raddle saw no call: build with `raddle c++ --tsvd`"
    )]
    AllInlined(String),
    #[error(
        "no process that `{0}` started took raddle's runtime in: statically linked and set-user-id programs do not"
    )]
    NoProcess(String),
}

/// The lists of the project and of the command line, with their texts.
pub fn lists(api: &[PathBuf]) -> Result<Vec<(PathBuf, String)>> {
    let folder = std::env::current_dir().unwrap_or_default();
    let project = raddle_store::home::project_root(&folder).join("raddle.toml");
    let mut texts = Vec::new();
    if project.is_file() {
        texts.push(project);
    }
    texts.extend(api.iter().cloned());
    let mut read = Vec::new();
    for path in texts {
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read the list of functions {}", path.display()))?;
        read.push((path, text));
    }
    Ok(read)
}

/// Checks after the runs that there was something to watch in some process. Points that no run has
/// reached do not count if a compiler has inlined what would have been reached.
pub fn complain(
    program: &TargetProgram,
    common: &Common,
    files: &AnalysedFiles,
    (covered, has_clr): (&[Covered], bool),
    processes: usize,
) -> Result<(), TsvdError> {
    let registry = common.registry.lock().expect("nobody panics with the registry");
    let name = program.path.display().to_string();
    let inlined: Vec<String> = inlined(&common.catalogue, files).collect();
    if !inlined.is_empty() && covered.iter().all(|c| !c.hit) {
        return Err(TsvdError::AllInlined(inlined.join("; ")));
    }
    if !registry.has_points(&common.catalogue) && !has_clr {
        return Err(TsvdError::NoSites(name));
    }
    if processes == 0 {
        return Err(TsvdError::NoProcess(name));
    }
    Ok(())
}

/// The files that use classes whose methods a compiler has all inlined: "FILE uses CLASSES".
fn inlined<'a>(catalogue: &'a Catalogue, files: &'a AnalysedFiles) -> impl Iterator<Item = String> {
    let of_file = files.looked.iter().filter(|(_, file)| !file.found.inlined.is_empty());
    of_file.map(|((path, ..), file)| {
        // The first of several classes built from the same parts stands for all.
        let mut parts = HashSet::new();
        let classes = file.found.inlined.iter().map(|c| &catalogue.classes[*c]);
        let names: Vec<&str> = classes.filter(|c| parts.insert(&c.traces)).map(|c| c.name.as_str()).collect();
        format!("{} uses {} or their kin", path.display(), names.join(", "))
    })
}

/// The same for the report of a hunt, which says what was not covered.
pub fn not_seen(catalogue: &Catalogue, files: &AnalysedFiles) -> Vec<String> {
    let calls = inlined_calls(catalogue, files).map(|calls| format!("{calls}; {BUILD_WITHOUT_INLINING}"));
    inlined(catalogue, files).map(|uses| inlined_sentence(&uses)).chain(calls).collect()
}

const BUILD_WITHOUT_INLINING: &str =
    "a build without inlining shows them: `raddle c++ --tsvd`, and for Rust one without optimisation";

/// The files of which a compiler has inlined some of the calls: how many, and of which functions.
/// Files of which it has inlined all are told in another sentence.
fn inlined_calls<'a>(catalogue: &'a Catalogue, files: &'a AnalysedFiles) -> impl Iterator<Item = String> {
    let found = files.looked.iter().map(|((path, ..), file)| (path, &file.found));
    let some = found.filter(|(_, found)| found.inlined.is_empty() && !found.inlined_calls.is_empty());
    some.map(|(path, found)| {
        let calls = u64::from(found.inlined_calls.values().sum::<u32>());
        let mut functions: Vec<(&usize, &u32)> = found.inlined_calls.iter().collect();
        functions.sort_by_key(|(operation, calls)| (std::cmp::Reverse(**calls), **operation));
        let pattern = |(operation, _): (&usize, &u32)| catalogue.operations[*operation].pattern.clone();
        format!(
            "{}: a compiler has inlined {} of {}, which are not seen",
            path.display(),
            count(calls, "call", "calls"),
            some_names(&functions.into_iter().map(pattern).collect::<Vec<_>>())
        )
    })
}

/// The first names of a list, and how many more there are.
fn some_names(names: &[String]) -> String {
    const NAMED: usize = 3;
    let mut said: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let others = names.len().saturating_sub(NAMED) as u64;
    if others > 0 {
        said.push(count(others, "other function", "other functions"));
    }
    match said.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => said.concat(),
    }
}

pub fn inlined_sentence(uses: &str) -> String {
    format!(
        "{uses}, but a compiler has inlined all of their methods: two threads inside of one are not seen, and a build \
         with -fno-inline shows them"
    )
}

/// A sentence about how much was watched, which gives "no findings" its meaning.
pub fn summary(covered: &[Covered], files: usize, stats: &Stats) -> String {
    let those = |f: fn(&Covered) -> bool| covered.iter().filter(|c| f(c)).count();
    let hit = those(|c| c.hit);
    let points = count(covered.len() as u64, "point", "points");
    let watched = format!("watched {points} in {}", count(files as u64, "file", "files"));
    if hit == 0 {
        return format!("{watched}: none was reached, so nothing could be found");
    }
    format!(
        "{watched}: {hit} reached by {}, {} of them in a concurrent phase; {}",
        count(stats.points, "call", "calls"),
        those(|c| c.concurrent),
        count(stats.delays, "delay", "delays")
    )
}

/// Prints what may be worth knowing, one line each.
pub fn warn(common: &Common, options: &DelayOptions, files: &AnalysedFiles, stats: &Stats) {
    let registry = common.registry.lock().expect("nobody panics with the registry");
    let catalogue = &common.catalogue;
    for (path, (_, has_symbols)) in &registry.files {
        if !has_symbols {
            say!(
                "{} is stripped: calls between its own functions are not seen, only those into other libraries",
                path.display()
            );
        }
    }
    for uses in inlined(catalogue, files) {
        say!(
            "{uses}, but a compiler has inlined all of their methods, so no call is seen: build with `raddle c++ --tsvd`"
        );
    }
    for calls in inlined_calls(catalogue, files) {
        say!("{calls}; {BUILD_WITHOUT_INLINING}");
    }
    let looked = files.looked.values();
    let seen: HashSet<usize> = looked
        .clone()
        .flat_map(|f| &f.found.sites)
        .filter_map(|s| match s.what {
            CallRole::Point(operation) => Some(operation),
            CallRole::Async | CallRole::Lookup => None,
        })
        .chain(looked.flat_map(|f| f.found.taken.values().copied()))
        .chain(files.asked.values().copied())
        .collect();
    for (number, operation) in catalogue.operations.iter().enumerate() {
        if catalogue.classes[operation.class].of_project && !seen.contains(&number) {
            say!("the pattern `{}` of your list matches no call in the program", operation.pattern);
        }
    }
    say_unwatched(&registry);
    if registry.left_out > 0 {
        say!("{} call sites are more than raddle can tell apart, and are not watched", registry.left_out);
    }
    let traps = common.traps.lock().expect("nobody panics with the traps");
    let strangers = traps.strangers();
    if strangers > 0 && options.trap_file.is_some() {
        say!(
            "{strangers} of {} pairs in the trap file name places that this build does not have, and are ignored",
            traps.named()
        );
    }
    if stats.refused > 0 {
        say!(
            "some delays were skipped so that no test times out; --share, --thread-cap, --test-cap and --run-cap set the limits"
        );
    }
}

/// Names the functions that could not be hooked.
pub fn say_unwatched(registry: &Registry) {
    if !registry.unwatched.is_empty() {
        // Instances of one generic function have one name.
        let mut names: Vec<String> = registry.unwatched.iter().map(|raw| plain_path(raw)).collect();
        names.sort();
        names.dedup();
        say!(
            "calls of {} through pointers are not seen: the first instructions of {} cannot be moved",
            some_names(&names),
            if names.len() == 1 { "this function" } else { "these functions" }
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_functions_is_cut() {
        let names: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
        assert_eq!(some_names(&names[..1]), "`a`");
        assert_eq!(some_names(&names[..3]), "`a`, `b` and `c`");
        assert_eq!(some_names(&names[..4]), "`a`, `b`, `c` and 1 other function");
        assert_eq!(some_names(&names), "`a`, `b`, `c` and 2 other functions");
    }

    #[test]
    fn the_summary_counts() {
        let seen = |hit, concurrent| Covered { hit, concurrent };
        let covered = [seen(true, true), seen(true, false), seen(false, false)];
        let stats = Stats { delays: 4, points: 70, ..Stats::default() };
        let expected =
            "watched 3 points in 2 files: 2 reached by 70 calls, 1 of them in a concurrent phase; 4 delays";
        assert_eq!(summary(&covered, 2, &stats), expected);
        let none = "watched 1 point in 1 file: none was reached, so nothing could be found";
        assert_eq!(summary(&covered[2..], 1, &Stats::default()), none);
    }
}
