//! What a finding is about: the source files, or the command that fails.
//!
//! An id is made of functions, relative lines and the names of variables ([`crate::identity`]), so
//! that it survives edits. Two programs of one project can share all of that: each has a `main`
//! with an assertion in its fifth line, or a `worker` that races on `counter`. What is stored and
//! decided about a finding must not affect the other program, so it uses the [key](Finding::key):
//! the id and the subject.
//!
//! - A race, a deadlock, a misuse of memory or of a library is identified by the source files of
//!   its ends. A bug in a library is one bug, whichever test shows it.
//! - A failure (an assertion, a crash, an exit status, a wrong output, a hang), and whatever has an
//!   end without a file, is identified by the command. Its place is where the program noticed the
//!   failure, often a helper that all tests share, and says little about the cause.
//!
//! Files and programs inside the project are named relative to its root, so that another checkout
//! has the same subjects.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::model::{Finding, Kind};
use crate::place::place;

/// A command as the user gave it, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The folder in which it was started.
    pub folder: PathBuf,
    /// The root of the project.
    pub root: PathBuf,
}

impl UserCommand {
    /// The subject of a finding of this command.
    pub fn subject(&self, finding: &Finding) -> String {
        match self.files(finding) {
            Some(files) => files.into_iter().collect::<Vec<_>>().join(","),
            None => self.name(),
        }
    }

    /// The source files that a finding is about. `None` if it is about the command.
    fn files(&self, finding: &Finding) -> Option<BTreeSet<String>> {
        if is_failure(finding.kind) || finding.accesses.is_empty() {
            return None;
        }
        let file = |access: &crate::model::Access| {
            let file = place(&access.stack)?.file.as_deref()?;
            Some(self.within(Path::new(file)).to_string_lossy().into_owned())
        };
        finding.accesses.iter().map(file).collect()
    }

    /// The program within the project, and its arguments.
    fn name(&self) -> String {
        let Some((program, arguments)) = self.words.split_first() else { return "?".into() };
        let path = match program.contains('/') {
            true => self.within(Path::new(program)),
            false => PathBuf::from(program),
        };
        let mut words = vec![without_hash(&path)];
        words.extend(arguments.iter().cloned());
        words.join(" ")
    }

    /// The path relative to the root of the project, or absolute outside of it.
    fn within(&self, path: &Path) -> PathBuf {
        let path = clean(&self.folder.join(path));
        path.strip_prefix(&self.root).map(Path::to_path_buf).unwrap_or(path)
    }
}

/// Whether two findings can have one subject: the same subject, or a file in common.
pub fn overlap(a: &Finding, b: &Finding) -> bool {
    if a.subject == b.subject {
        return true;
    }
    let (Some(x), Some(y)) = (&a.subject, &b.subject) else { return false };
    let is_files = |f: &Finding| !is_failure(f.kind) && !f.accesses.is_empty();
    let files: BTreeSet<&str> = x.split(',').collect();
    is_files(a) && is_files(b) && y.split(',').any(|file| files.contains(file))
}

/// Whether it is seen where the program notices it, not where it goes wrong.
fn is_failure(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Assertion
            | Kind::Crash
            | Kind::ExitStatus
            | Kind::ErrorMessage
            | Kind::Output
            | Kind::Invariant
            | Kind::NonDeterminism
            | Kind::Hang
            | Kind::Livelock
            | Kind::Starvation
            | Kind::Leak
    )
}

/// Removes the hash in the names of cargo's test programs, which changes with the toolchain.
fn without_hash(path: &Path) -> String {
    let text = path.to_string_lossy().into_owned();
    let in_deps = path.parent().and_then(Path::file_name).is_some_and(|n| n == "deps");
    match text.rsplit_once('-') {
        Some((name, hash)) if in_deps && hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            name.to_owned()
        }
        _ => text,
    }
}

/// The path without `.` and `..`. Links are not resolved.
pub fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccessOp, Confidence};
    use crate::sample::{access, finding, frame};

    fn command(words: &[&str]) -> UserCommand {
        let words = words.iter().map(|w| (*w).to_owned()).collect();
        UserCommand { words, folder: "/p/build".into(), root: "/p".into() }
    }

    #[test]
    fn a_failure_is_known_by_its_command() {
        let assertion =
            finding(Kind::Assertion, vec![access(AccessOp::Call, "T0", vec![frame("main", "/p/a.c", 9, 5)])]);
        assert_eq!(command(&["./a", "-n", "3"]).subject(&assertion), "build/a -n 3");
        assert_eq!(command(&["../b/./a"]).subject(&assertion), "b/a");
        assert_eq!(command(&["/elsewhere/a"]).subject(&assertion), "/elsewhere/a");
        assert_eq!(command(&["a"]).subject(&assertion), "a");
        let exit = Finding::new(Kind::ExitStatus, Confidence::Confirmed, "it ends with 1");
        assert_eq!(command(&["./a"]).subject(&exit), "build/a");
        let deps = ["/p/target/debug/deps/queue-0123456789abcdef", "--exact", "t"];
        assert_eq!(command(&deps).subject(&exit), "target/debug/deps/queue --exact t");
    }

    #[test]
    fn a_race_is_known_by_its_files_where_all_are_known() {
        let end = |file: &str| access(AccessOp::Write, "T1", vec![frame("f", file, 9, 5)]);
        let race = finding(Kind::DataRace, vec![end("/p/src/q.c"), end("/p/src/a.c")]);
        assert_eq!(command(&["./a"]).subject(&race), "src/a.c,src/q.c");
        assert_eq!(command(&["./b"]).subject(&race), "src/a.c,src/q.c", "whichever program shows it");
        let half = finding(Kind::DataRace, vec![end("/p/src/q.c"), access(AccessOp::Write, "T1", vec![])]);
        assert_eq!(command(&["./b"]).subject(&half), "build/b");
    }

    #[test]
    fn subjects_overlap_by_a_common_file_but_never_by_a_common_command_word() {
        let with = |kind, subject: &str| {
            let mut finding = finding(kind, vec![access(AccessOp::Write, "T1", vec![])]);
            finding.subject = Some(subject.into());
            finding
        };
        assert!(overlap(&with(Kind::DataRace, "a.c,q.h"), &with(Kind::DataRace, "b.c,q.h")));
        assert!(!overlap(&with(Kind::DataRace, "a.c"), &with(Kind::DataRace, "b.c")));
        assert!(!overlap(&with(Kind::Assertion, "t 1,2"), &with(Kind::Assertion, "t 3,2")));
    }
}
