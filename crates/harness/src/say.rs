//! Sentences on stderr, and text on stdout.
//!
//! Names of files and functions come from strangers, and a pipe may be closed by whoever reads it.
//! So nothing here moves the cursor of a terminal, and nothing fails: `eprintln!` and `println!`
//! panic on a closed pipe, and raddle uses neither.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::{Mutex, MutexGuard};

use raddle_base::grouped::Grouped;

/// `raddle: ` and a sentence, on stderr. Takes what `format!` takes.
#[macro_export]
#[doc(hidden)]
macro_rules! __say {
    ($($part:tt)*) => { $crate::say::sentence(format_args!($($part)*)) };
}
pub use __say as say;

/// Under `--quiet`: the notes that were not printed.
static UNSAID: Mutex<Option<String>> = Mutex::new(None);

fn unsaid() -> MutexGuard<'static, Option<String>> {
    UNSAID.lock().unwrap_or_else(|e| e.into_inner())
}

/// Prints no notes from now on, only failures.
pub fn be_quiet() {
    unsaid().get_or_insert_default();
}

/// Whether notes and progress are unwanted.
pub fn is_quiet() -> bool {
    unsaid().is_some()
}

/// Prints the notes that were kept back: when raddle could not do its job, they say why.
pub fn speak_up() {
    if let Some(notes) = unsaid().take() {
        error(&notes);
    }
}

/// `raddle: ` and a note, unless [`be_quiet`] was called.
pub fn sentence(text: Arguments<'_>) {
    let text = prefixed(text);
    match &mut *unsaid() {
        Some(notes) => notes.push_str(&text),
        None => error(&text),
    }
}

/// `raddle: ` and what keeps raddle from doing its job, which is always said.
pub fn failure(text: Arguments<'_>) {
    error(&prefixed(text));
}

fn prefixed(text: Arguments<'_>) -> String {
    let lines: Vec<String> = text.to_string().lines().map(raddle_finding::visible).collect();
    format!("raddle: {}\n", lines.join("\n"))
}

/// Text of raddle's own on stderr, as it is.
pub fn error(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Text of raddle's own on stdout, as it is.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
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
    fn one_is_not_several() {
        assert_eq!(count(7177u32, "file", "files"), "7,177 files");
        assert_eq!([0u32, 1, 2].map(|n| count(n, "file", "files")), ["0 files", "1 file", "2 files"]);
    }
}
