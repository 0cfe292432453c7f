//! Which shared libraries are watched in copies of their machine code, and what became of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use raddle_binary::{Instrumentation, inspect};
use raddle_wire::relocated::{CopyCounts, LIBRARY, left};

use super::{Prepared, Probes, prepare_object, share_in_words};
use crate::collect::Process;

/// The runtime stands in for what these do, or is itself among them. They are never copied.
const NEVER: [&str; 14] = [
    "ld-linux",
    "libc.so",
    "libm.so",
    "libmvec.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "libgcc_s.so",
    "libraddle",
    "libtsan.so",
    "libasan.so",
    "libubsan.so",
    "libclang_rt",
    "linux-vdso",
];

/// Copied only if so wanted: they synchronise by atomic loads and stores that look like plain ones
/// in machine code, or let threads race on purpose (caches of locales in the C++ library), and the
/// runtime knows by other means what they order.
const ONLY_IF_WANTED: [&str; 11] = [
    "libstdc++.so",
    "libc++.so",
    "libc++abi.so",
    "libgomp.so",
    "libomp.so",
    "libiomp5.so",
    "libtbb",
    "libatomic.so",
    "libstd-",
    "libjemalloc.so",
    "libtcmalloc",
];

/// Virtual machines compare program counters with places in their own code, which copies are not.
const MACHINES: [&str; 7] =
    ["libjvm.so", "libcoreclr.so", "libclrjit.so", "libmono", "libv8", "libnode.so", "libmozjs"];

/// Which libraries are to be watched.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Libraries {
    #[default]
    None,
    /// Those of a program that is watched in a copy of its own code, but for [`ONLY_IF_WANTED`].
    Usual,
    All,
    /// Those with one of these file names; `*` stands for anything.
    Named(Vec<String>),
}

impl Libraries {
    /// Whether this one is; None: it never is, and nobody expects it.
    fn wants(&self, path: &Path) -> Option<bool> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_one_of = |names: &[&str]| names.iter().any(|n| name.starts_with(n));
        if is_one_of(&NEVER) {
            return None;
        }
        match self {
            Libraries::None => None,
            Libraries::Usual => Some(!is_one_of(&ONLY_IF_WANTED)),
            Libraries::All => Some(true),
            Libraries::Named(patterns) => {
                patterns.iter().any(|p| raddle_binary::matches_glob(p, &name)).then_some(true)
            }
        }
    }
}

/// Whether a library of a program that is watched in a copy is watched too, unless something else
/// is wanted.
pub fn is_watched_by_default(path: &Path) -> bool {
    Libraries::Usual.wants(path) == Some(true)
}

/// The libraries that the loader will map for this program. The loader is asked: it knows all the
/// places to look at, and runs nothing of theirs.
pub fn needed(program: &Path) -> Vec<PathBuf> {
    let Some(loader) = inspect(program).ok().and_then(|i| i.interpreter) else { return Vec::new() };
    let list = Command::new(loader).arg("--list").arg(program).stdin(Stdio::null()).output();
    let list = list.map(|output| output.stdout).unwrap_or_default();
    let paths = list.split(|&b| b == b'\n').filter_map(|line| {
        let (path, _address) = std::str::from_utf8(line).ok()?.split_once(" => ")?.1.rsplit_once(" (0x")?;
        Some(PathBuf::from(path))
    });
    paths.collect()
}

/// What became of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Library {
    Watched(CopyCounts),
    /// By default.
    NotWanted,
    /// In one sentence.
    Refused(String),
}

/// Makes the copies that runtimes ask for.
pub struct Copies {
    dir: PathBuf,
    wanted: Libraries,
    probes: Probes,
    /// By path: what was answered.
    answers: BTreeMap<PathBuf, String>,
    seen: BTreeMap<PathBuf, Library>,
}

impl Copies {
    pub fn new(dir: &Path, wanted: Libraries, probes: Probes) -> Copies {
        Copies { dir: dir.into(), wanted, probes, answers: BTreeMap::new(), seen: BTreeMap::new() }
    }

    /// The name of the copy of this library, for a process with this executable; empty: it has
    /// none.
    pub fn answer(&mut self, library: &Path, executable: Option<&Path>) -> String {
        if let Some(answer) = self.answers.get(library) {
            return answer.clone();
        }
        let answer = self.make(library, executable).unwrap_or_else(|error| {
            self.seen.insert(library.into(), Library::Refused(format!("{error:#}")));
            String::new()
        });
        self.answers.insert(library.into(), answer.clone());
        answer
    }

    fn make(&mut self, library: &Path, executable: Option<&Path>) -> Result<String> {
        match self.wanted.wants(library) {
            None => return Ok(String::new()),
            Some(false) => {
                self.seen.insert(library.into(), Library::NotWanted);
                return Ok(String::new());
            }
            Some(true) => {}
        }
        let file = library.file_name().unwrap_or_default().to_string_lossy();
        if MACHINES.iter().any(|n| file.starts_with(n)) {
            anyhow::bail!("it is a virtual machine, which looks for program counters in its own code");
        }
        if inspect(library)?.instrumentation != Instrumentation::None {
            return Ok(String::new());
        }
        if executable.is_some_and(has_own_unwinder) {
            anyhow::bail!(
                "the program carries its own copy of the exception unwinder (-static-libgcc), which would not find its way through copied code"
            );
        }
        let copy: Prepared = prepare_object(library, self.probes, true)?;
        let name = format!("{LIBRARY}{}", self.answers.len());
        copy.place(&self.dir.join(&name))?;
        self.seen.insert(library.into(), Library::Watched(copy.counts));
        Ok(name)
    }

    /// What became of each library.
    pub fn finish(self) -> BTreeMap<PathBuf, Library> {
        self.seen
    }
}

fn has_own_unwinder(executable: &Path) -> bool {
    super::map(executable).is_ok_and(|content| raddle_relocate::has_own_unwinder(&content))
}

/// More libraries than these are told of together.
const FEW: usize = 12;

/// How much of each library was watched, and which were not: one sentence each.
pub fn sentences(seen: &BTreeMap<PathBuf, Library>, processes: &[Process]) -> Vec<String> {
    let left = left_out(processes);
    let watched: Vec<(String, CopyCounts)> = watched(seen, &left);
    let mut told: Vec<String> = Vec::new();
    let is_whole = |c: &CopyCounts| c.functions == c.functions_copied && c.accesses == c.accesses_probed;
    let mut together = CopyCounts::default();
    let mut whole = 0;
    for (name, counts) in &watched {
        if watched.len() <= FEW || !is_whole(counts) {
            let share = share_in_words(*counts);
            told.push(format!(
                "{name} is not instrumented: raddle watches a copy of its machine code, {share}"
            ));
            continue;
        }
        whole += 1;
        together.functions += counts.functions;
        together.functions_copied += counts.functions_copied;
        together.accesses += counts.accesses;
        together.accesses_probed += counts.accesses_probed;
    }
    if whole > 0 {
        let share = share_in_words(together);
        told.push(format!(
            "{whole} libraries are not instrumented: raddle watches copies of their machine code, {share}; the report in JSON names them"
        ));
    }
    let refused = seen.iter().filter_map(|(path, library)| match library {
        Library::Refused(why) => Some(format!("{} is not watched: {why}", path.display())),
        _ => None,
    });
    told.extend(refused);
    let unwanted: Vec<String> =
        seen.iter().filter(|(_, l)| **l == Library::NotWanted).map(|(path, _)| name_of(path)).collect();
    if !unwanted.is_empty() {
        told.push(format!(
            "not watched, because atomic loads and stores look like plain ones there: {} (`raddle run --instrument all` watches them too)",
            unwanted.join(", ")
        ));
    }
    told.extend(left.into_iter().map(|(path, why)| why_left(&path, why)));
    told
}

/// The share of each library that was watched, for the report's statistics.
pub fn shares(seen: &BTreeMap<PathBuf, Library>, processes: &[Process]) -> String {
    let share = |(name, c): &(String, CopyCounts)| {
        let CopyCounts { functions, functions_copied, accesses, accesses_probed, unknown_code: _ } = c;
        format!("{name}: {functions_copied}/{functions} functions, {accesses_probed}/{accesses} accesses")
    };
    watched(seen, &left_out(processes)).iter().map(share).collect::<Vec<_>>().join("; ")
}

/// Those that have a copy, but for such as some process could not use.
fn watched(seen: &BTreeMap<PathBuf, Library>, left: &BTreeMap<PathBuf, u64>) -> Vec<(String, CopyCounts)> {
    let counted = seen.iter().filter_map(|(path, library)| match library {
        Library::Watched(counts) if !left.contains_key(path) => Some((name_of(path), *counts)),
        _ => None,
    });
    counted.collect()
}

fn left_out(processes: &[Process]) -> BTreeMap<PathBuf, u64> {
    processes.iter().flat_map(|p| &p.left).map(|(why, path)| (path.clone(), *why)).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn why_left(path: &Path, why: u64) -> String {
    let library = path.display();
    match why {
        left::NO_HOOK => "libraries that the program loads while it runs are not watched: its loader is not glibc's, or it runs with a shadow stack (CET)".into(),
        left::THREADS => "libraries are not watched: the program had threads before raddle could begin".into(),
        left::NO_ANSWER => format!("{library} is not watched: its copy was not ready in time"),
        left::CHANGED => format!("{library} is not watched: the file has changed since it was loaded"),
        left::TOO_MANY => format!("{library} is not watched: there are too many libraries"),
        _ => format!("{library} is not watched: there was no place for its copy within 2 GiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_by_name() {
        let libc = Path::new("/lib/x86_64-linux-gnu/libc.so.6");
        let cxx = Path::new("/lib/x86_64-linux-gnu/libstdc++.so.6.0.30");
        let bz2 = Path::new("/lib/x86_64-linux-gnu/libbz2.so.1.0.4");
        let named = Libraries::Named(vec!["libbz*".into(), "libc.so*".into()]);
        let of = |libraries: &Libraries| [libc, cxx, bz2].map(|path| libraries.wants(path));
        assert_eq!(of(&Libraries::None), [None, None, None]);
        assert_eq!(of(&Libraries::Usual), [None, Some(false), Some(true)]);
        assert_eq!(of(&Libraries::All), [None, Some(true), Some(true)]);
        assert_eq!(of(&named), [None, None, Some(true)]);
    }

    #[test]
    fn what_was_not_watched_is_never_told_as_watched() {
        let whole = CopyCounts {
            functions: 3,
            functions_copied: 3,
            accesses: 7,
            accesses_probed: 7,
            unknown_code: 0,
        };
        let part = CopyCounts { functions_copied: 2, ..whole };
        let mut seen: BTreeMap<PathBuf, Library> =
            (0..20).map(|n| (format!("/lib/lib{n}.so").into(), Library::Watched(whole))).collect();
        seen.insert("/lib/libpart.so".into(), Library::Watched(part));
        seen.insert("/lib/libold.so".into(), Library::Refused("it is old".into()));
        let left = vec![(left::NO_PLACE, PathBuf::from("/lib/lib5.so"))];
        let process = Process { left, ..Process::default() };
        let told = sentences(&seen, std::slice::from_ref(&process));
        let has = |part: &str| told.iter().any(|t| t.contains(part));
        assert!(has("19 libraries are not instrumented") && has("57 of 57"), "{told:?}");
        assert!(has("libpart.so is not instrumented") && has("2 of 3"), "{told:?}");
        assert!(
            has("/lib/libold.so is not watched: it is old")
                && has("lib5.so is not watched: there was no place"),
            "{told:?}"
        );
        let shares = shares(&seen, &[process]);
        assert!(
            shares.contains("libpart.so: 2/3 functions, 7/7 accesses") && !shares.contains("lib5.so"),
            "{shares}"
        );
    }
}
