//! What executions print, and whether one printed something unusual.
//!
//! Lines are compared as sets, since threads may print in another order. The training runs show
//! which lines are usual. A line that only some training runs print is known to vary, with any
//! numbers in it, and is not reported. The time of day is removed from lines, since all training
//! runs happen within a second.

use std::collections::{BTreeMap, BTreeSet};

use crate::watch::Watched;

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
pub struct PrintedLine {
    pub stream: Stream,
    pub text: String,
    /// True: the line is printed and usually is not. False: it is missing.
    pub appears: bool,
    /// What is usually printed in its place, if known.
    #[serde(default)]
    pub usually: Option<String>,
}

impl Printed {
    pub fn of(watched: &Watched) -> Printed {
        Printed::from_bytes(&watched.output(0), &watched.output(1))
    }

    pub fn from_bytes(out: &[u8], err: &[u8]) -> Printed {
        Printed { out: lines(out), err: lines(err) }
    }

    fn lines(&self, stream: Stream) -> &[String] {
        match stream {
            Stream::Out => &self.out,
            Stream::Err => &self.err,
        }
    }

    /// Whether this output shows the difference too.
    pub fn shows(&self, line: &PrintedLine) -> bool {
        self.lines(line.stream).contains(&line.text) == line.appears
    }
}

/// A longer line is compared by its beginning.
const LONGEST: usize = 4096;

/// Splits output into lines. A carriage return ends a line too: a terminal shows what follows as
/// another line, as with a progress bar.
fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let ends = text.split_terminator(['\n', '\r']);
    // `\r\n` is one end.
    let lines = ends.filter(|line| !line.is_empty());
    lines.map(|line| without_clock(&shortened(line, LONGEST))).collect()
}

/// The text, cut to `most` characters with a sign that there was more.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether the line reports a failure. A line that says that nothing failed does not.
fn signals_failure(line: &str) -> bool {
    const FAILURES: [&str; 20] = [
        "error",
        "fail",
        "fatal",
        "panic",
        "abort",
        "assert",
        "corrupt",
        "broken",
        "invalid",
        "cannot",
        "can't",
        "can not",
        "could not",
        "unable",
        "exception",
        "inconsisten",
        "mismatch",
        "wrong",
        "violat",
        "overflow",
    ];
    const NONE: [&str; 5] = ["no ", "0 ", "not ", "without ", "zero "];
    let text = line.to_lowercase();
    FAILURES.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            let begins = before.chars().last().is_none_or(|c| !c.is_alphanumeric());
            let denied = NONE.iter().any(|none| before.ends_with(none) && is_word(before, none));
            // `errors: 0`, `failed=0`
            let counts =
                after.trim_start_matches(|c: char| c.is_alphabetic()).trim_start_matches([':', '=', ' ']);
            let nothing = counts.starts_with('0') && !counts[1..].starts_with(|c: char| c.is_alphanumeric());
            begins && !denied && !nothing
        })
    })
}

/// Whether the text ends in that word, and not in a longer word or a larger number.
fn is_word(text: &str, ending: &str) -> bool {
    text[..text.len() - ending.len()].chars().last().is_none_or(|c| !c.is_alphanumeric())
}

/// What the training runs printed.
#[derive(Clone, Default)]
pub struct Usual {
    runs: u32,
    streams: BTreeMap<Stream, Lines>,
}

#[derive(Clone, Default)]
struct Lines {
    /// In how many runs each line was printed.
    seen: BTreeMap<String, u32>,
}

/// The line without its numbers, close to its format string.
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

/// The line with `<time>` for each time of day and the date written together with it.
fn without_clock(line: &str) -> String {
    let part_of_time = |c: char| c.is_ascii_digit() || matches!(c, ':' | '/' | '-' | '.');
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !part_of_time(c)).unwrap_or(from.len()));
        text.push_str(before);
        text.push_str(if has_clock(word) { "<time>" } else { word });
        rest = after;
    }
    text + rest
}

/// Whether the word contains hours, minutes and seconds.
fn has_clock(word: &str) -> bool {
    let pair = |b: &[u8]| b[0].is_ascii_digit() && b[1].is_ascii_digit();
    word.as_bytes()
        .windows(8)
        .any(|w| pair(w) && w[2] == b':' && pair(&w[3..]) && w[5] == b':' && pair(&w[6..]))
}

/// Whether the text is a prompt without a line end, such as `overwrite? `, and one of these lines
/// continues it. Which thread prints next is not part of the prompt.
fn is_asked<'a>(text: &str, mut lines: impl Iterator<Item = &'a String>) -> bool {
    text.ends_with(' ') && lines.any(|l| l.starts_with(text))
}

/// Whether two executions printed the same pieces, but `line` is cut at another place: one has
/// `returned result` and `hello`, and the other `returned hello` and `result`. Another thread can
/// print between the pieces of a line, and that is only a matter of order. Pieces without a letter
/// do not count: a number is a value.
fn is_cut_otherwise(
    line: &str,
    mine: &[&String],
    others: &[&String],
    is_same: fn(&str, &str) -> bool,
) -> bool {
    let has_letter = |piece: &str| piece.chars().any(char::is_alphabetic);
    let is_line = |piece: &str, of: &[&String]| has_letter(piece) && of.iter().any(|l| is_same(l, piece));
    // Some line begins like this one, and its other half is a line of the other execution.
    let swaps = |first: &str, of: &[&String], halves: &[&String]| {
        has_letter(first) && of.iter().filter_map(|l| l.strip_prefix(first)).any(|rest| is_line(rest, halves))
    };
    let is_whole = line.char_indices().skip(1).any(|(at, _)| {
        let (first, second) = line.split_at(at);
        is_line(second, others) && swaps(first, others, mine)
    });
    let is_half = || {
        let mask = masked(line);
        others.iter().filter(|l| masked(l).ends_with(&mask)).any(|l| {
            let cuts = l.char_indices().skip(1).map(|(at, _)| l.split_at(at));
            has_letter(line)
                && cuts.into_iter().any(|(first, second)| is_same(second, line) && swaps(first, mine, others))
        })
    };
    is_whole || is_half()
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

    /// Whether some line reports a failure that no training run printed, even with other numbers.
    pub fn complains(&self, printed: &Printed) -> bool {
        [Stream::Out, Stream::Err].into_iter().any(|stream| {
            let usual = self.streams.get(&stream);
            let known = |mask: &str| usual.is_some_and(|u| u.seen.keys().any(|l| masked(l) == mask));
            printed.lines(stream).iter().any(|l| signals_failure(l) && !known(&masked(l)))
        })
    }

    /// The first unusual line in these streams, in their order. A line that appears comes before
    /// one that is missing.
    pub fn unusual(&self, printed: &Printed, streams: &[Stream]) -> Option<PrintedLine> {
        streams.iter().find_map(|s| self.unusual_in(*s, printed.lines(*s)))
    }

    fn unusual_in(&self, stream: Stream, lines: &[String]) -> Option<PrintedLine> {
        if self.runs == 0 {
            return None;
        }
        let none = Lines::default();
        let usual = self.streams.get(&stream).unwrap_or(&none);
        let varies = |mask: &str| usual.seen.iter().any(|(l, n)| *n < self.runs && masked(l) == mask);
        let here: BTreeSet<&String> = lines.iter().collect();
        let (all_here, known): (Vec<_>, Vec<_>) = (lines.iter().collect(), usual.seen.keys().collect());
        let missing =
            || usual.seen.iter().filter(|(l, n)| **n == self.runs && !here.contains(l)).map(|(l, _)| l);
        let new = here.iter().find(|l| {
            !usual.seen.contains_key(**l)
                && !varies(&masked(l))
                && !is_asked(l, usual.seen.keys())
                && !is_cut_otherwise(l, &all_here, &known, |a, b| a == b)
        });
        if let Some(text) = new {
            let mask = masked(text);
            let usually = missing().find(|l| masked(l) == mask).cloned();
            return Some(PrintedLine { stream, text: (*text).clone(), appears: true, usually });
        }
        let asks = |l: &String| here.iter().any(|asked| is_asked(asked, std::iter::once(l)));
        let is_cut = |l: &String| is_cut_otherwise(l, &known, &all_here, |a, b| masked(a) == masked(b));
        let gone = missing().find(|l| !varies(&masked(l)) && !asks(l) && !is_cut(l))?;
        Some(PrintedLine { stream, text: gone.clone(), appears: false, usually: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Stream; 2] = [Stream::Err, Stream::Out];

    fn out(text: &str) -> Printed {
        Printed::from_bytes(text.as_bytes(), b"")
    }

    fn usual(texts: &[&str]) -> Usual {
        let mut usual = Usual::default();
        texts.iter().for_each(|t| usual.learn(&out(t)));
        usual
    }

    #[test]
    fn what_comes_behind_a_question_is_no_part_of_it() {
        let known = usual(&["overwrite? (y/n) all done\n"; 2]);
        assert_eq!(
            known.unusual(&out("overwrite? (y/n) \nall done\n"), &BOTH).map(|l| l.text).as_deref(),
            Some("all done")
        );
        assert_eq!(known.unusual(&out("overwrite? (y/n) "), &BOTH), None);
        assert!(known.unusual(&out("overwrite!"), &BOTH).is_some());
    }

    #[test]
    fn lines_that_are_cut_at_other_places_are_usual() {
        let known = usual(&["returned hello 0\nresult\n", "returned hello 0\nresult\n"]);
        assert_eq!(known.unusual(&out("hello 0\nreturned result\n"), &BOTH), None);
        let whole = usual(&["hello 0\nreturned result\n"]);
        assert_eq!(whole.unusual(&out("returned hello 0\nresult\n"), &BOTH), None);
        // Another result, a missing piece and a number are not pieces in another order.
        for wrong in ["hello 0\nreturned nothing\n", "returned result\n", "hello 0\nreturned \n"] {
            assert!(known.unusual(&out(wrong), &BOTH).is_some(), "{wrong}");
        }
        let total = usual(&["total 2\n1\n"; 2]);
        assert!(total.unusual(&out("total 1\n2\n"), &BOTH).is_some_and(|l| l.appears));
    }

    #[test]
    fn a_wrong_number_is_told_beside_the_right_one() {
        let usual = usual(&["total 10\ndone\n", "done\ntotal 10\n"]);
        assert_eq!(usual.unusual(&out("done\ntotal 10\n"), &BOTH), None);
        let line = usual.unusual(&out("total 7\ndone\n"), &BOTH).unwrap();
        assert_eq!((line.text.as_str(), line.appears), ("total 7", true));
        assert_eq!(line.usually.as_deref(), Some("total 10"));
        assert!(out("total 7\n").shows(&line) && !out("total 10\n").shows(&line));
    }

    #[test]
    fn a_missing_line_is_told() {
        let usual = usual(&["a\nb\n"]);
        let line = usual.unusual(&out("a\n"), &BOTH).unwrap();
        assert_eq!((line.text.as_str(), line.appears), ("b", false));
        assert!(out("a\n").shows(&line) && !out("a\nb\n").shows(&line));
    }

    #[test]
    fn what_varies_anyway_is_of_no_interest() {
        let usual = usual(&["took 3 ms\nok\n", "took 4 ms\nok\n"]);
        assert_eq!(usual.unusual(&out("took 17 ms\nok\n"), &BOTH), None);
        assert!(usual.unusual(&out("took 17 ms\nfailed\n"), &BOTH).is_some());
    }

    #[test]
    fn errors_come_first() {
        let usual = usual(&["a\n"]);
        let line = usual.unusual(&Printed::from_bytes(b"b\n", b"broken\n"), &BOTH).unwrap();
        assert_eq!((line.stream, line.text.as_str()), (Stream::Err, "broken"));
        assert_eq!(Usual::default().unusual(&out("x\n"), &BOTH), None);
    }

    #[test]
    fn a_carriage_return_ends_a_line_and_a_long_line_is_cut() {
        assert_eq!(lines(b"10%\r20%\r100%\r\ndone\n"), ["10%", "20%", "100%", "done"]);
        let long = lines(&[b'a'; 3 * LONGEST]);
        assert_eq!((long.len(), long[0].chars().count()), (1, LONGEST + 1));
        assert_eq!(shortened("abc", 3), "abc");
    }

    #[test]
    fn failures_are_told_from_the_rest() {
        for line in [
            "error: connected to nowhere",
            "Assertion failed",
            "table is broken: 2 entries",
            "FATAL",
            "3 errors",
            "10 errors",
            "cannot open",
        ] {
            assert!(signals_failure(line), "{line}");
        }
        for line in [
            "progress 4",
            "0 errors",
            "no error",
            "failed: 0",
            "errors=0",
            "terror",
            "done",
            "without errors",
            "not broken",
        ] {
            assert!(!signals_failure(line), "{line}");
        }
    }

    #[test]
    fn a_line_that_training_has_printed_is_no_complaint() {
        let usual = usual(&["0 errors\n3 errors on purpose\n"]);
        assert!(usual.complains(&out("FAILED: 2 of 3\n")));
        assert!(!usual.complains(&out("4 errors on purpose\n")), "but for its number it is usual");
        assert!(!usual.complains(&out("0 errors\nfirst: 2\n")));
    }

    #[test]
    fn numbers_are_masked() {
        assert_eq!(masked("a1b22 333"), "a#b# #");
    }

    #[test]
    fn only_the_streams_that_are_asked_for() {
        let mut usual = Usual::default();
        usual.learn(&out("a\n"));
        assert_eq!(usual.unusual(&out("b\n"), &[Stream::Err]), None);
        assert!(usual.unusual(&out("b\n"), &[Stream::Out]).is_some());
    }

    #[test]
    fn the_time_of_day_is_no_part_of_a_line() {
        assert_eq!(without_clock("11/15/26-17:51:23: i=0 at 3:12"), "<time> i=0 at 3:12");
        assert_eq!(
            without_clock("[2026-11-15 07:01:02.5] 127.0.0.1:8080"),
            "[2026-11-15 <time>] 127.0.0.1:8080"
        );
        assert_eq!(without_clock("total 7, 12:3"), "total 7, 12:3");
    }
}
