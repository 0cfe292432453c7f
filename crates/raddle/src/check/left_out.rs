//! Sentences about files that were not checked, or not fully.

use std::collections::BTreeSet;
use std::path::Path;

use raddle_check::CheckOutcome;
use raddle_harness::say::say;

/// The most sentences that are printed.
const MOST: usize = 100;

#[derive(Debug, Default)]
pub struct LeftOut {
    sentences: Vec<String>,
    /// Files that never reached the checker.
    files: BTreeSet<String>,
    /// Files that the checker itself left out.
    by_checker: u64,
}

impl LeftOut {
    /// Records a file that is left out entirely.
    pub fn file(&mut self, path: &Path, why: &str) {
        let path = path.display().to_string();
        self.sentences.push(format!("{path} {why}"));
        self.files.insert(path);
    }

    /// Records something that the user should know, although no file is left out.
    pub fn note(&mut self, about: &str, what: &str) {
        self.sentences.push(format!("{about}: {what}"));
    }

    /// Takes in what the checker itself left out.
    pub fn take(&mut self, outcome: &mut CheckOutcome) {
        self.by_checker += outcome.stats.files_left_out;
        for (path, why) in std::mem::take(&mut outcome.left_out) {
            self.sentences.push(format!("{path} {why}"));
        }
    }

    /// Records a few places that could not be parsed: without the headers of a library there may be
    /// many.
    pub fn unparsed(&mut self, outcome: &CheckOutcome) {
        const MOST_UNPARSED: usize = 5;
        for (path, what) in outcome.unparsed.iter().take(MOST_UNPARSED) {
            self.sentences.push(format!("{path} {what}"));
        }
        if let Some(more) = outcome.unparsed.len().checked_sub(MOST_UNPARSED).filter(|n| *n > 0) {
            self.sentences.push(format!("{more} more files have places that could not be parsed"));
        }
    }

    pub fn before_reading(&self) -> u64 {
        self.files.len() as u64
    }

    pub fn files(&self) -> u64 {
        self.before_reading() + self.by_checker
    }

    /// All sentences for the report; `None` if there are none.
    pub fn summary(&self) -> Option<String> {
        (!self.sentences.is_empty()).then(|| self.shown().join("\n"))
    }

    pub fn print(&self) {
        self.shown().iter().for_each(|s| say!("{s}"));
    }

    fn shown(&self) -> Vec<String> {
        let mut out: Vec<String> = self.sentences.iter().take(MOST).map(|s| one_line(s)).collect();
        if self.sentences.len() > MOST {
            out.push(format!("and {} more like these", self.sentences.len() - MOST));
        }
        out
    }
}

/// Names come from the project; unprintable characters in them must not reach a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_one_line_each_and_not_without_end() {
        let mut left = LeftOut::default();
        left.file(Path::new("a\n\u{1b}[31m.c"), "is a binary file");
        for i in 0..200 {
            left.note(&format!("f{i}"), "x");
        }
        assert_eq!(left.shown()[0], "a??[31m.c is a binary file");
        assert_eq!(left.shown().len(), MOST + 1);
        assert_eq!(left.shown()[MOST], "and 101 more like these");
        assert_eq!(left.files(), 1);
    }
}
