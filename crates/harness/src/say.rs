//! Sentences on stderr, and text on stdout.
//!
//! Names of files and functions come from strangers, and the reader of a pipe may close it. So
//! nothing here lets text move a terminal's cursor, and nothing fails: `eprintln!` and `println!`
//! panic on a closed pipe, so raddle uses neither.

use std::fmt::Arguments;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard};

use raddle_base::grouped::Grouped;

/// Prints `raddle: ` and a sentence on stderr. Takes what `format!` takes.
#[macro_export]
#[doc(hidden)]
macro_rules! __say {
    ($($part:tt)*) => { $crate::say::sentence(format_args!($($part)*)) };
}
pub use __say as say;

/// Sentences are wrapped here on wider terminals, and in a pipe: long lines are hard to read.
const WIDEST: usize = 100;

/// A terminal with fewer columns than this is not one that somebody reads.
const NARROWEST: usize = 20;

/// The notes that `--quiet` has suppressed.
static UNSAID: Mutex<Option<String>> = Mutex::new(None);

fn unsaid() -> MutexGuard<'static, Option<String>> {
    UNSAID.lock().unwrap_or_else(|e| e.into_inner())
}

/// Prints no notes from now on, only failures.
pub fn be_quiet() {
    unsaid().get_or_insert_default();
}

/// Whether notes and progress are suppressed.
pub fn is_quiet() -> bool {
    unsaid().is_some()
}

/// Prints the suppressed notes. When raddle could not do its job, they say why.
pub fn speak_up() {
    if let Some(notes) = unsaid().take() {
        error(&notes);
    }
}

/// Prints `raddle: ` and a note, unless [`be_quiet`] was called.
pub fn sentence(text: Arguments<'_>) {
    let text = prefixed(text);
    match &mut *unsaid() {
        Some(notes) => notes.push_str(&text),
        None => error(&text),
    }
}

/// Prints `raddle: ` and a part of the answer, even after [`be_quiet`].
pub fn answer(text: Arguments<'_>) {
    error(&prefixed(text));
}

/// Prints `raddle: ` and what keeps raddle from doing its job, even after [`be_quiet`].
pub fn failure(text: Arguments<'_>) {
    error(&prefixed(text));
}

fn prefixed(text: Arguments<'_>) -> String {
    let lines: Vec<String> = text.to_string().lines().map(raddle_finding::visible).collect();
    wrapped(&format!("raddle: {}\n", lines.join("\n")), columns(&std::io::stderr()).unwrap_or(WIDEST))
}

/// The columns of a terminal, at most [`WIDEST`], or those that `COLUMNS` gives a pipe or a file.
/// Whoever wants one sentence a line in a log sets a large number. `None` if neither says anything.
pub fn columns(to: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if to.is_terminal() {
        let size = rustix::termios::tcgetwinsize(to).ok()?;
        return (size.ws_col > 0).then(|| usize::from(size.ws_col).min(WIDEST));
    }
    columns_of_variable(std::env::var("COLUMNS").ok().as_deref())
}

fn columns_of_variable(value: Option<&str>) -> Option<usize> {
    value?.trim().parse().ok().filter(|columns| *columns >= NARROWEST)
}

/// Breaks wide lines between words, but never inside backticks: that text is meant to be copied.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        out.push_str(&line[..indent]);
        out.push_str(&broken(line.trim_start(), width, indent, indent + HANG));
        out.push('\n');
    }
    out
}

/// Breaks a text that begins at column `from`; its further lines are indented by `hang`.
pub fn broken(text: &str, width: usize, from: usize, hang: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut used = from;
    for (at, word) in words(text).enumerate() {
        let columns = word.chars().count();
        if at > 0 && used + 1 + columns > width {
            out.push('\n');
            out.push_str(&" ".repeat(hang));
            used = hang;
        } else if at > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += columns;
    }
    out
}

/// How far the continuation of a broken line is indented.
const HANG: usize = 4;

/// The words of a line; text in backticks is one word.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |c| {
        is_quoted ^= c == '`';
        c == ' ' && !is_quoted
    })
}

/// Writes raddle's own text to stderr, unchanged.
pub fn error(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Writes raddle's own text to stdout, unchanged.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints a list to stdout. A terminal gets long lines broken between words. A pipe gets one line
/// an entry, whatever its width: programs read it.
pub fn print_lines(text: &str) {
    let stdout = std::io::stdout();
    match columns(&stdout).filter(|_| stdout.is_terminal()) {
        Some(width) => print(&wrapped(text, width)),
        None => print(text),
    }
}

/// `1 file`, `3 files`.
pub fn count(n: impl Into<u64>, one: &str, several: &str) -> String {
    let n = n.into();
    format!("{} {}", Grouped(n), if n == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_broken_between_words_and_not_in_a_command() {
        let text = "raddle: one two three `raddle build -- make` four\n  a b\n\n";
        assert_eq!(wrapped(text, 80), text);
        assert_eq!(
            wrapped(text, 20),
            "raddle: one two\n    three\n    `raddle build -- make`\n    four\n  a b\n\n"
        );
        // A word that is wider than the terminal stays whole.
        assert_eq!(wrapped("raddle: /a/long/path\n", 10), "raddle:\n    /a/long/path\n");
    }

    #[test]
    fn a_pipe_has_the_columns_that_the_variable_says() {
        assert_eq!(columns_of_variable(Some("72")), Some(72));
        assert_eq!(columns_of_variable(Some("1000")), Some(1000));
        for ignored in [None, Some(""), Some("0"), Some("7"), Some("-80"), Some("wide")] {
            assert_eq!(columns_of_variable(ignored), None, "{ignored:?}");
        }
    }

    #[test]
    fn a_text_in_a_column_hangs_under_its_beginning() {
        assert_eq!(broken("one two three", 16, 8, 8), "one two\n        three");
        assert_eq!(broken("one", 4, 8, 2), "one");
        assert_eq!(broken("", 4, 8, 2), "");
    }

    #[test]
    fn one_is_not_several() {
        assert_eq!(count(7177u32, "file", "files"), "7,177 files");
        assert_eq!([0u32, 1, 2].map(|n| count(n, "file", "files")), ["0 files", "1 file", "2 files"]);
    }
}
