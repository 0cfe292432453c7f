//! Which shared libraries are watched in copies of their machine code, and what became of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use raddle_binary::{Instrumentation, inspect};
use raddle_wire::relocated::{Counts, LIBRARY, left};

use super::{Prepared, Probes, prepare_object, share_in_words};
use crate::collect::Process;
use crate::say::say;

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

/// What became of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Library {
    Watched(Counts),
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

    /// The name of the copy of this library, for a process with this executable; empty: it has none.
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

/// How much of each library was watched, and which were not.
pub fn tell(seen: &BTreeMap<PathBuf, Library>, processes: &[Process]) {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for (path, library) in seen {
        match library {
            Library::Watched(counts) => {
                say!(
                    "{} is not instrumented: raddle watches a copy of its machine code, {}",
                    name(path),
                    share_in_words(*counts)
                );
            }
            Library::Refused(why) => say!("{} is not watched: {why}", path.display()),
            Library::NotWanted => {}
        }
    }
    let unwanted: Vec<String> =
        seen.iter().filter(|(_, l)| **l == Library::NotWanted).map(|(path, _)| name(path)).collect();
    if !unwanted.is_empty() {
        say!(
            "not watched, because atomic loads and stores look like plain ones there: {} (`--instrument all` watches them too)",
            unwanted.join(", ")
        );
    }
    for (p, (why, path)) in processes.iter().flat_map(|p| p.left.iter().map(move |left| (p, left))) {
        let library = path.display();
        match *why {
            left::NO_HOOK => say!(
                "libraries that the program loads while it runs are not watched: its loader is not glibc's, or it runs with a shadow stack"
            ),
            left::THREADS => say!(
                "libraries of {} are not watched: it had threads before raddle could begin",
                p.executable
            ),
            left::NO_ANSWER => say!("{library} is not watched: its copy was not ready in time"),
            left::CHANGED => say!("{library} is not watched: the file has changed since it was loaded"),
            left::TOO_MANY => say!("{library} is not watched: there are too many libraries"),
            _ => say!("{library} is not watched: there was no place for its copy near it"),
        }
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
}
