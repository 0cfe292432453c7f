//! Sentences on stderr, and text on stdout.
//!
//! Names of files and functions come from strangers, and the reader of a pipe may close it. So
//! nothing here lets text move a terminal's cursor, and nothing fails: `eprintln!` and `println!`
//! panic on a closed pipe, so raddle uses neither.

use std::fmt::Arguments;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard};

use raddle_base::grouped::Grouped;

/// Prints `raddle: ` and a sentence on stderr. Takes what `format!` takes.
#[macro_export]
#[doc(hidden)]
macro_rules! __say {
    ($($part:tt)*) => { $crate::say::sentence(format_args!($($part)*)) };
}
pub use __say as say;

/// Sentences are wrapped here on wider terminals: long lines are hard to read.
const WIDEST: usize = 100;

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

/// Prints `raddle: ` and what keeps raddle from doing its job, even after [`be_quiet`].
pub fn failure(text: Arguments<'_>) {
    error(&prefixed(text));
}

fn prefixed(text: Arguments<'_>) -> String {
    let lines: Vec<String> = text.to_string().lines().map(raddle_finding::visible).collect();
    let text = format!("raddle: {}\n", lines.join("\n"));
    match terminal_width() {
        Some(width) => wrapped(&text, width.min(WIDEST)),
        // A log has one sentence per line.
        None => text,
    }
}

/// The columns of stderr, if it is a terminal.
fn terminal_width() -> Option<usize> {
    let stderr = std::io::stderr();
    let size = stderr.is_terminal().then(|| rustix::termios::tcgetwinsize(&stderr).ok())??;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Breaks wide lines between words, but never inside backticks: that text is meant to be copied.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let mut used = 0;
        for word in words(line.trim_start()) {
            let columns = word.chars().count();
            if used == 0 {
                out.push_str(&line[..indent]);
                used = indent;
            } else if used + 1 + columns > width {
                out.push('\n');
                out.push_str(&" ".repeat(indent + HANG));
                used = indent + HANG;
            } else {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += columns;
        }
        out.push('\n');
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

/// Prints a list to stdout, one line an entry. A terminal gets long lines broken between words.
pub fn print_lines(text: &str) {
    let stdout = std::io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten();
    match size.filter(|size| size.ws_col > 0) {
        Some(size) => print(&wrapped(text, usize::from(size.ws_col))),
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
    fn one_is_not_several() {
        assert_eq!(count(7177u32, "file", "files"), "7,177 files");
        assert_eq!([0u32, 1, 2].map(|n| count(n, "file", "files")), ["0 files", "1 file", "2 files"]);
    }
}
