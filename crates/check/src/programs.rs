//! Which files make a program.
//!
//! Nothing says how a project is linked: compile_commands.json lists only compilations. So each
//! file with a `main` is a program, together with the files that it uses by name. Files that no
//! program uses are a library. If several files define a name, raddle takes the one that a linker
//! would most likely have taken: of the same build target, then of the nearest folder, then the one
//! that has more of what is wanted, and less that is not.
//!
//! Two kinds of files are not linked with the others: those that mostly define functions of the C
//! library (replacements for systems that lack them), and those that lie in a folder for another
//! system and are in no list of compilations. The models say what those functions do.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::c::models;
use crate::ir::{Linkage, SymbolRef, Unit};

/// A lowered file, and what is known about where it belongs.
#[derive(Clone)]
pub(crate) struct Member {
    pub path: Arc<str>,
    /// The build target that it is compiled for.
    pub group: Option<Arc<str>>,
    pub unit: Arc<Unit>,
}

/// The programs among the files, as lists of their numbers.
pub(crate) fn programs(all: &[Member]) -> Vec<Vec<usize>> {
    let library = models::unit();
    let library: FxHashSet<&str> = library.functions.iter().map(|f| &*f.name).collect();
    let is_own = |m: &Member| !is_for_elsewhere(m) && !replaces(&library, &m.unit);
    let (own, replacements): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|i| is_own(&all[*i]));
    if own.is_empty() || replacements.is_empty() {
        return linked(all);
    }
    let members: Vec<Member> = own.iter().map(|i| all[*i].clone()).collect();
    let mut out: Vec<Vec<usize>> =
        linked(&members).into_iter().map(|p| p.into_iter().map(|i| own[i]).collect()).collect();
    out.push(replacements);
    out
}

/// Whether its folder is for another system and no build target includes it.
fn is_for_elsewhere(m: &Member) -> bool {
    m.group.is_none() && m.path.split('/').any(|part| ELSEWHERE.contains(&part.to_ascii_lowercase().as_str()))
}

/// Whether at least half of the names that a file exports are functions of the library.
fn replaces(library: &FxHashSet<&str>, unit: &Unit) -> bool {
    let exported = || unit.functions.iter().filter(|f| f.linkage != Linkage::Internal).map(|f| &*f.name);
    let (all, known) = exported().fold((0, 0), |n, f| (n.0 + 1, n.1 + usize::from(library.contains(f))));
    // A few tests define only `main` and a thread function.
    known > 0 && known * 2 >= all && !exported().any(|f| f == "main")
}

fn linked(all: &[Member]) -> Vec<Vec<usize>> {
    let has_main = |m: &Member| m.unit.functions.iter().any(|f| &*f.name == "main");
    let mains: Vec<usize> = (0..all.len()).filter(|i| has_main(&all[*i])).collect();
    if mains.len() < 2 {
        return if all.is_empty() { Vec::new() } else { vec![(0..all.len()).collect()] };
    }
    let definers = definers(all, &mains);
    let mut used = vec![false; all.len()];
    let mut out = Vec::new();
    for main in mains {
        let members = needed_by(all, main, &definers);
        members.iter().for_each(|m| used[*m] = true);
        out.push(members);
    }
    let rest: Vec<usize> = (0..all.len()).filter(|i| !used[*i]).collect();
    if !rest.is_empty() {
        out.push(rest);
    }
    out
}

/// The files that define each exported name. A file with a `main` of its own lends nothing to
/// others.
fn definers<'a>(all: &'a [Member], mains: &[usize]) -> FxHashMap<&'a str, Vec<usize>> {
    let mains: FxHashSet<usize> = mains.iter().copied().collect();
    let mut out: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (i, m) in all.iter().enumerate().filter(|(i, _)| !mains.contains(i)) {
        for name in defined(&m.unit) {
            let list = out.entry(name).or_default();
            if list.last() != Some(&i) {
                list.push(i);
            }
        }
    }
    out
}

/// The names that a file exports.
fn defined(unit: &Unit) -> impl Iterator<Item = &str> {
    let functions = unit.functions.iter().filter(|f| f.linkage != Linkage::Internal).map(|f| &*f.name);
    let globals =
        unit.globals.iter().filter(|g| g.linkage != Linkage::Internal && !g.declared_only).map(|g| &*g.name);
    functions.chain(globals)
}

/// The names that a file uses without defining them, and some that it does define.
fn wanted(unit: &Unit) -> impl Iterator<Item = &str> {
    let by_name = unit.symbols.iter().filter_map(|s| match s {
        SymbolRef::Function(name) | SymbolRef::Global(name, _) => Some(&**name),
        _ => None,
    });
    by_name.chain(unit.globals.iter().filter(|g| g.declared_only).map(|g| &*g.name))
}

/// A file and all files that it needs, directly or through others.
fn needed_by(all: &[Member], first: usize, definers: &FxHashMap<&str, Vec<usize>>) -> Vec<usize> {
    let mut members = vec![first];
    let mut is_member = vec![false; all.len()];
    is_member[first] = true;
    let own: FxHashSet<&str> = defined(&all[first].unit).collect();
    let mut at = 0;
    while at < members.len() {
        let user = &all[members[at]];
        at += 1;
        for name in wanted(&user.unit) {
            let Some(candidates) = definers.get(name).filter(|_| !own.contains(name)) else { continue };
            if candidates.iter().any(|c| is_member[*c]) {
                continue;
            }
            if let Some(best) = best(all, candidates, user) {
                is_member[best] = true;
                members.push(best);
            }
        }
    }
    members
}

/// The one of several defining files that `user` most likely means.
fn best(all: &[Member], candidates: &[usize], user: &Member) -> Option<usize> {
    if let [only] = candidates {
        return Some(*only);
    }
    let asked: FxHashSet<&str> = wanted(&user.unit).collect();
    candidates.iter().copied().max_by_key(|c| {
        let names = defined(&all[*c].unit).count();
        let useful = defined(&all[*c].unit).filter(|n| asked.contains(n)).count();
        (nearness(&all[*c], user), is_for_this_system(&all[*c]), useful, !names, !*c)
    })
}

/// Names of folders that hold files for other systems.
const ELSEWHERE: &[&str] = &[
    "windows",
    "win32",
    "win",
    "msvc",
    "darwin",
    "macos",
    "macosx",
    "mac",
    "solaris",
    "aix",
    "os2",
    "vms",
    "vxworks",
    "rtems",
    "freertos",
    "zephyr",
    "emscripten",
];

/// Names of folders that hold files for systems like this one.
const HERE: &[&str] = &["linux", "posix", "unix", "pthread", "pthreads"];

fn is_for_this_system(m: &Member) -> bool {
    m.path.split('/').any(|part| HERE.contains(&part.to_ascii_lowercase().as_str()))
}

/// How likely one file means the other: the same target counts first, then the number of common
/// folders.
fn nearness(one: &Member, other: &Member) -> (bool, usize) {
    let same = one.group.is_some() && one.group == other.group;
    let folders = |p: &Member| p.path.matches('/').count();
    let common = one
        .path
        .split('/')
        .zip(other.path.split('/'))
        .take(folders(one).min(folders(other)))
        .take_while(|(a, b)| a == b)
        .count();
    (same, common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckOptions, Source};

    fn members(files: &[(&str, Option<&str>, &str)]) -> Vec<Member> {
        let lower = |(path, group, text): &(&str, Option<&str>, &str)| Member {
            path: (*path).into(),
            group: group.map(Into::into),
            unit: Source::new(path, text).lower(&CheckOptions::default()).unit,
        };
        files.iter().map(lower).collect()
    }

    fn names(all: &[Member]) -> Vec<Vec<&str>> {
        programs(all).into_iter().map(|p| p.into_iter().map(|i| &*all[i].path).collect()).collect()
    }

    #[test]
    fn one_main_or_none_takes_everything() {
        let all = members(&[
            ("a.c", None, "int f(void) { return 1; }"),
            ("b.c", None, "int main(void) { return 0; }"),
        ]);
        assert_eq!(names(&all), [["a.c", "b.c"]]);
        assert_eq!(names(&all[..1]), [["a.c"]]);
        assert!(names(&[]).is_empty());
    }

    #[test]
    fn two_mains_take_what_they_use_and_the_rest_is_a_library() {
        let all = members(&[
            ("one.c", None, "int f(void); int main(void) { return f(); }"),
            ("two.c", None, "extern int g; int main(void) { return g; }"),
            ("f.c", None, "int h(void); int f(void) { return h(); }"),
            ("h.c", None, "int h(void) { return 2; }"),
            ("g.c", None, "int g = 1;"),
            ("rest.c", None, "int unused(void) { return 3; }"),
        ]);
        let expected: [&[&str]; 3] = [&["one.c", "f.c", "h.c"], &["two.c", "g.c"], &["rest.c"]];
        assert_eq!(names(&all), expected);
    }

    #[test]
    fn of_two_definitions_the_target_decides_then_the_folder() {
        let text = "int f(void); int main(void) { return f(); }";
        let all = members(&[
            ("x/one.c", Some("app"), text),
            ("y/two.c", None, text),
            ("y/f.c", Some("lib"), "int f(void) { return 1; }"),
            ("z/f.c", Some("app"), "int f(void) { return 2; }"),
        ]);
        assert_eq!(names(&all), [["x/one.c", "z/f.c"], ["y/two.c", "y/f.c"]]);
    }

    #[test]
    fn a_stand_in_is_taken_where_the_real_thing_is_not_needed() {
        let all = members(&[
            (
                "server.c",
                None,
                "void panic(void); void log_all(void); int main(void) { panic(); log_all(); }",
            ),
            ("tool.c", None, "void panic(void); int main(void) { panic(); }"),
            ("debug.c", None, "void panic(void) {} void log_all(void) {} void more(void) {}"),
            ("stand_in.c", None, "void panic(void) {}"),
        ]);
        assert_eq!(names(&all), [["server.c", "debug.c"], ["tool.c", "stand_in.c"]]);
    }

    #[test]
    fn a_replacement_of_the_library_stays_apart() {
        let all = members(&[
            ("main.c", None, "int main(void) { return usleep(1); }"),
            (
                "windows/posix.c",
                None,
                "int usleep(unsigned n) { return n; } int nanosleep(void *a, void *b) { return 0; }",
            ),
            (
                "util.c",
                None,
                "void warn(const char *f, ...) {} int a(void) { return 1; } int b(void) { return 1; }",
            ),
        ]);
        let expected: [&[&str]; 2] = [&["main.c", "util.c"], &["windows/posix.c"]];
        assert_eq!(names(&all), expected);
    }

    #[test]
    fn of_several_systems_this_one_is_meant() {
        let port = "int open_port(void) { return 1; }";
        let all = members(&[
            ("sample/main.c", None, "int open_port(void); int main(void) { return open_port(); }"),
            ("sample/other.c", None, "int main(void) { return 0; }"),
            ("contrib/erika/port.c", None, port),
            ("os/linux/port.c", None, port),
            ("os/rtk/port.c", None, port),
        ]);
        let with_main = names(&all).into_iter().find(|p| p.contains(&"sample/main.c"));
        assert_eq!(with_main.unwrap(), ["sample/main.c", "os/linux/port.c"]);
    }

    #[test]
    fn a_name_of_the_first_file_is_its_own() {
        let text = "int f(void) { return 0; } int main(void) { return f(); }";
        let all = members(&[
            ("one.c", None, text),
            ("two.c", None, text),
            ("f.c", None, "int f(void) { return 1; }"),
        ]);
        assert_eq!(names(&all), [["one.c"], ["two.c"], ["f.c"]]);
    }
}
