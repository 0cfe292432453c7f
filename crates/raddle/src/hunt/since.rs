//! `raddle hunt --since REV`: hunts changed code first.
//!
//! Git says which lines have changed. Tests are ordered by how closely they seem related to these
//! lines, and suspicions that touch such a line are settled first. Nothing is left out: with enough
//! time, a hunt covers the same as without this option.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use raddle_binary::Symbolizer;
use raddle_finding::{Finding, Frame};

use super::prey::Prey;

/// The lines that differ from a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    files: BTreeMap<PathBuf, Vec<RangeInclusive<u32>>>,
    /// The changed lines and the functions that git names for them, to find tests by name.
    text: String,
}

impl Changes {
    pub fn since(revision: &str) -> Result<Changes> {
        let root = PathBuf::from(git(Path::new("."), &["rev-parse", "--show-toplevel"])?.trim_end());
        let diff = ["diff", "--unified=0", "--no-color", "--no-ext-diff", "--end-of-options", revision, "--"];
        let mut changes = Changes::parse(&git(&root, &diff)?, &root);
        for new in git(&root, &["ls-files", "--others", "--exclude-standard"])?.lines() {
            changes.files.insert(root.join(new), vec![0..=u32::MAX]);
        }
        Ok(changes)
    }

    fn parse(diff: &str, root: &Path) -> Changes {
        let mut changes = Changes::default();
        let mut file = None;
        for line in diff.lines() {
            if let Some(name) = line.strip_prefix("+++ ") {
                file = name.strip_prefix("b/").map(|name| root.join(name));
            } else if let (Some(hunk), Some(file)) = (line.strip_prefix("@@ "), &file) {
                changes.files.entry(file.clone()).or_default().extend(lines_of(hunk));
                changes.text += line;
                changes.text.push('\n');
            } else if line.starts_with('+') || line.starts_with('-') && !line.starts_with("--- ") {
                changes.text += line;
                changes.text.push('\n');
            }
        }
        changes
    }

    /// Whether one of the finding's stacks passes through a changed line.
    pub fn touches(&self, finding: &Finding) -> bool {
        finding.accesses.iter().flat_map(|a| &a.stack).any(|frame| self.has(frame))
    }

    fn has(&self, frame: &Frame) -> bool {
        let (Some(file), Some(line)) = (frame.file.as_deref(), frame.line) else { return false };
        let real = raddle_store::home::real(Path::new(file));
        self.files.get(&real).is_some_and(|ranges| ranges.iter().any(|r| r.contains(&line)))
    }

    /// The tests in the order in which to hunt them, and how many seem related to a change.
    pub fn first(&self, mut preys: Vec<Prey>) -> (Vec<Prey>, usize) {
        let mut folders = BTreeMap::new();
        let mut scores: Vec<u8> = preys.iter().map(|prey| self.score(prey, &mut folders)).collect();
        let concerned = scores.iter().filter(|score| **score > 0).count();
        let mut scored: Vec<(u8, Prey)> = scores.drain(..).zip(preys.drain(..)).collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        (scored.into_iter().map(|(_, prey)| prey).collect(), concerned)
    }

    /// 2: a changed line contains its name, or it has the name of a changed file. 1: its program is
    /// built from a folder that contains a change.
    fn score(&self, prey: &Prey, folders: &mut BTreeMap<PathBuf, Vec<PathBuf>>) -> u8 {
        let program = prey.words.first().map(PathBuf::from).unwrap_or_default();
        let stem = |path: &Path| path.file_stem().map(|s| s.to_string_lossy().into_owned());
        let test = prey.name.as_deref().and_then(|n| n.rsplit([':', '.', '/']).next());
        let named = test.is_some_and(|test| !test.is_empty() && has_word(&self.text, test));
        let own = |file: &PathBuf| {
            let file = stem(file);
            file.is_some() && (file == stem(&program) || file.as_deref() == test)
        };
        if named || self.files.keys().any(own) {
            return 2;
        }
        let built_from = folders.entry(program.clone()).or_insert_with(|| source_folders(&program));
        let in_folder = |file: &PathBuf| file.parent().is_some_and(|f| built_from.iter().any(|b| b == f));
        u8::from(self.files.keys().any(in_folder))
    }

    /// The sentence for the report.
    pub fn in_words(&self, revision: &str, concerned: usize, all: usize) -> String {
        let files = raddle_harness::say::count(self.files.len() as u64, "file has", "files have");
        match all {
            0 | 1 => format!("{files} changed since {revision}: suspicions in changed lines came first"),
            _ => format!(
                "{files} changed since {revision}: {concerned} of {all} tests have to do with them and came first"
            ),
        }
    }
}

fn source_folders(program: &Path) -> Vec<PathBuf> {
    let mut symbolizer = Symbolizer::new();
    let module = symbolizer.module(program).ok();
    module
        .map(|m| m.source_folders().into_iter().map(|f| raddle_store::home::real(&f)).collect())
        .unwrap_or_default()
}

/// The new lines of the hunk `-3,2 +5,4 @@ int f(void)`. A deletion touches the lines around it.
fn lines_of(hunk: &str) -> Option<RangeInclusive<u32>> {
    let new = hunk.split(' ').find_map(|w| w.strip_prefix('+'))?;
    let (first, n) = new.split_once(',').unwrap_or((new, "1"));
    let (first, n): (u32, u32) = (first.parse().ok()?, n.parse().ok()?);
    Some(if n == 0 { first..=first + 1 } else { first..=first + n - 1 })
}

fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(inside)
            && !text[at + word.len()..].chars().next().is_some_and(inside)
    })
}

fn git(folder: &Path, words: &[&str]) -> Result<String> {
    let out = Command::new("git").arg("-C").arg(folder).args(words).output();
    let out = out.context("cannot start git, which says what has changed")?;
    let said = String::from_utf8_lossy(&out.stderr);
    anyhow::ensure!(
        out.status.success(),
        "git does not say what has changed: {}",
        said.trim().replace('\n', "; ")
    );
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::{Access, AccessOp, Confidence, Kind};

    const DIFF: &str = "diff --git a/src/q.c b/src/q.c\n--- a/src/q.c\n+++ b/src/q.c\n@@ -3,2 +5,4 @@ int push(int x)\n-old\n+new line\n\
        @@ -20 +24,0 @@ void pop(void)\n-gone\n--- a/tests/t.rs\n+++ b/tests/t.rs\n@@ -1 +1 @@\n+fn empties_twice() {\n";

    fn changes() -> Changes {
        Changes::parse(DIFF, Path::new("/p"))
    }

    fn at(file: &str, line: u32) -> Finding {
        let mut finding = Finding::new(Kind::DataRace, Confidence::Suspected, "a race");
        let frame = Frame { file: Some(file.into()), line: Some(line), ..Frame::default() };
        let (thread, stack) = ("T1".into(), vec![frame]);
        finding.accesses =
            vec![Access { op: AccessOp::Write, size: 4, thread, locks: vec![], lock: None, stack }];
        finding
    }

    #[test]
    fn changed_lines_are_those_of_the_new_file() {
        let touched = |line| changes().touches(&at("/p/src/q.c", line));
        assert_eq!((4..10).filter(|l| touched(*l)).collect::<Vec<_>>(), [5, 6, 7, 8]);
        assert!(touched(24) && touched(25) && !touched(26), "the neighbours of what was taken out");
        assert!(!changes().touches(&at("/p/src/other.c", 5)));
    }

    #[test]
    fn tests_whose_names_are_in_changed_lines_come_first() {
        let prey =
            |name: &str| Prey { name: Some(name.into()), words: vec!["/p/none".into()], ..Prey::default() };
        let names = ["queue::fills", "queue::empties", "queue::empties_twice", "q"];
        let (order, concerned) = changes().first(names.into_iter().map(prey).collect());
        let order: Vec<String> = order.into_iter().filter_map(|p| p.name).collect();
        assert_eq!(order, ["queue::empties_twice", "q", "queue::fills", "queue::empties"]);
        assert_eq!(concerned, 2);
    }
}
