//! What executions print, and whether one printed something that the others did not.
//!
//! Lines are compared as sets: threads may well print in another order. Which lines are usual is learned from the training runs; a
//! line that differs between them but for its numbers is known to vary, and nothing is said about it.

use std::collections::{BTreeMap, BTreeSet};

use crate::explore::watch::Watched;

/// The lines that an execution wrote to its standard output and standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    out: Vec<String>,
    err: Vec<String>,
}

/// Where a line was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    Out,
    Err,
}

/// A line that makes the difference.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Line {
    pub stream: Stream,
    pub text: String,
    /// It is printed, where it usually is not; false: it is missing.
    pub appears: bool,
    /// What is usually printed in its place, where that can be told.
    #[serde(default)]
    pub usually: Option<String>,
}

impl Printed {
    pub fn of(watched: &Watched) -> Printed {
        Printed::from_bytes(&watched.output(0), &watched.output(1))
    }

    pub fn from_bytes(out: &[u8], err: &[u8]) -> Printed {
        let lines =
            |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
        Printed { out: lines(out), err: lines(err) }
    }

    fn lines(&self, stream: Stream) -> &[String] {
        match stream {
            Stream::Out => &self.out,
            Stream::Err => &self.err,
        }
    }

    /// Whether the line makes the same difference here.
    pub fn shows(&self, line: &Line) -> bool {
        self.lines(line.stream).contains(&line.text) == line.appears
    }
}

/// What the training runs printed.
#[derive(Default)]
pub struct Usual {
    runs: u32,
    streams: BTreeMap<Stream, Lines>,
}

#[derive(Default)]
struct Lines {
    /// In how many runs each was printed.
    seen: BTreeMap<String, u32>,
}

/// The line without its numbers: what its program text would say.
pub fn masked(line: &str) -> String {
    let mut text = String::new();
    let mut digits = false;
    for c in line.chars() {
        let digit = c.is_ascii_digit();
        match (digit, digits) {
            (true, false) => text.push('#'),
            (true, true) => {}
            (false, _) => text.push(c),
        }
        digits = digit;
    }
    text
}

impl Usual {
    pub fn learn(&mut self, printed: &Printed) {
        self.runs += 1;
        for stream in [Stream::Out, Stream::Err] {
            let distinct: BTreeSet<&String> = printed.lines(stream).iter().collect();
            let lines = self.streams.entry(stream).or_default();
            for line in distinct {
                *lines.seen.entry(line.clone()).or_default() += 1;
            }
        }
    }

    /// The first line that is unusual: on standard error before standard output, one that appears before one that is missing.
    pub fn unusual(&self, printed: &Printed) -> Option<Line> {
        [Stream::Err, Stream::Out].into_iter().find_map(|s| self.unusual_in(s, printed.lines(s)))
    }

    fn unusual_in(&self, stream: Stream, lines: &[String]) -> Option<Line> {
        if self.runs == 0 {
            return None;
        }
        let none = Lines::default();
        let usual = self.streams.get(&stream).unwrap_or(&none);
        let varies = |mask: &str| usual.seen.iter().any(|(l, n)| *n < self.runs && masked(l) == mask);
        let here: BTreeSet<&String> = lines.iter().collect();
        let missing =
            || usual.seen.iter().filter(|(l, n)| **n == self.runs && !here.contains(l)).map(|(l, _)| l);
        let new = here.iter().find(|l| !usual.seen.contains_key(**l) && !varies(&masked(l)));
        if let Some(text) = new {
            let mask = masked(text);
            let usually = missing().find(|l| masked(l) == mask).cloned();
            return Some(Line { stream, text: (*text).clone(), appears: true, usually });
        }
        let gone = missing().find(|l| !varies(&masked(l)))?;
        Some(Line { stream, text: gone.clone(), appears: false, usually: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(text: &str) -> Printed {
        Printed::from_bytes(text.as_bytes(), b"")
    }

    fn usual(texts: &[&str]) -> Usual {
        let mut usual = Usual::default();
        texts.iter().for_each(|t| usual.learn(&out(t)));
        usual
    }

    #[test]
    fn a_wrong_number_is_told_beside_the_right_one() {
        let usual = usual(&["total 10\ndone\n", "done\ntotal 10\n"]);
        assert_eq!(usual.unusual(&out("done\ntotal 10\n")), None);
        let line = usual.unusual(&out("total 7\ndone\n")).unwrap();
        assert_eq!((line.text.as_str(), line.appears), ("total 7", true));
        assert_eq!(line.usually.as_deref(), Some("total 10"));
        assert!(out("total 7\n").shows(&line) && !out("total 10\n").shows(&line));
    }

    #[test]
    fn a_missing_line_is_told() {
        let usual = usual(&["a\nb\n"]);
        let line = usual.unusual(&out("a\n")).unwrap();
        assert_eq!((line.text.as_str(), line.appears), ("b", false));
        assert!(out("a\n").shows(&line) && !out("a\nb\n").shows(&line));
    }

    #[test]
    fn what_varies_anyway_is_of_no_interest() {
        let usual = usual(&["took 3 ms\nok\n", "took 4 ms\nok\n"]);
        assert_eq!(usual.unusual(&out("took 17 ms\nok\n")), None);
        assert!(usual.unusual(&out("took 17 ms\nfailed\n")).is_some());
    }

    #[test]
    fn errors_come_first() {
        let usual = usual(&["a\n"]);
        let line = usual.unusual(&Printed::from_bytes(b"b\n", b"broken\n")).unwrap();
        assert_eq!((line.stream, line.text.as_str()), (Stream::Err, "broken"));
        assert_eq!(Usual::default().unusual(&out("x\n")), None);
    }

    #[test]
    fn numbers_are_masked() {
        assert_eq!(masked("a1b22 333"), "a#b# #");
    }
}
