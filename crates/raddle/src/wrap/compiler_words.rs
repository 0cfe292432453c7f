//! The words of `RADDLE_CC`, `RADDLE_CXX` and `--use`.
//!
//! They are split as a shell splits them: white space separates words, single quotes keep all that
//! is between them, double quotes keep all but a backslash before `"`, `\`, `$` and a backquote,
//! and elsewhere a backslash keeps the next character. Nothing is expanded.
//!
//! People also write a path with a blank and no quotes, as in `RADDLE_CC="/a b/gcc -O1"`. So where
//! a word begins that has a slash, the longest piece of the text that is the name of an executable
//! file is one word, whatever characters it has. This takes nothing from the shell's rules unless
//! such a file exists.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A quote has no end.
#[derive(Debug, PartialEq, Eq)]
pub struct OpenQuote;

/// Splits `text` into words. `is_program` says whether a path is an executable file.
pub fn split(text: &OsStr, is_program: &dyn Fn(&OsStr) -> bool) -> Result<Vec<OsString>, OpenQuote> {
    let mut words = Vec::new();
    let mut rest = text.as_bytes().trim_ascii();
    while !rest.is_empty() {
        let length = match unquoted_program(rest, is_program) {
            Some(length) => {
                words.push(rest[..length].to_vec());
                length
            }
            None => {
                let (word, length) = shell_word(rest)?;
                words.push(word);
                length
            }
        };
        rest = rest[length..].trim_ascii_start();
    }
    Ok(words.into_iter().map(OsString::from_vec).collect())
}

/// The length of the longest path at the beginning of `text` that is a program. It ends where a
/// blank or the text does.
fn unquoted_program(text: &[u8], is_program: &dyn Fn(&OsStr) -> bool) -> Option<usize> {
    let first_end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    if text[0] == b'-' || !text[..first_end].contains(&b'/') {
        return None;
    }
    let is_end = |at: &usize| text.get(*at).is_none_or(u8::is_ascii_whitespace);
    let mut ends = (first_end..=text.len()).rev().filter(is_end);
    ends.find(|end| is_program(OsStr::from_bytes(&text[..*end])))
}

/// The first word of `text`, which begins with no blank, and how many bytes stand for it.
fn shell_word(text: &[u8]) -> Result<(Vec<u8>, usize), OpenQuote> {
    let mut word = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at).filter(|b| !b.is_ascii_whitespace()) {
        match byte {
            b'\'' => {
                let length = text[at + 1..].iter().position(|b| *b == b'\'').ok_or(OpenQuote)?;
                word.extend_from_slice(&text[at + 1..][..length]);
                at += length + 2;
            }
            b'"' => at = double_quoted(text, at + 1, &mut word)?,
            // A backslash at the end stands for itself.
            b'\\' if at + 1 < text.len() => {
                word.push(text[at + 1]);
                at += 2;
            }
            _ => {
                word.push(byte);
                at += 1;
            }
        }
    }
    Ok((word, at))
}

/// Adds what is between double quotes to `word`; `at` is behind the first. Returns where it goes
/// on.
fn double_quoted(text: &[u8], mut at: usize, word: &mut Vec<u8>) -> Result<usize, OpenQuote> {
    loop {
        match text.get(at..).unwrap_or_default() {
            [] => return Err(OpenQuote),
            [b'"', ..] => return Ok(at + 1),
            [b'\\', kept @ (b'"' | b'\\' | b'$' | b'`'), ..] => {
                word.push(*kept);
                at += 2;
            }
            [byte, ..] => {
                word.push(*byte);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, programs: &[&str]) -> Vec<String> {
        let is_program = |path: &OsStr| programs.iter().any(|p| path == *p);
        let words = split(OsStr::new(text), &is_program).unwrap();
        words.into_iter().map(|w| w.into_string().unwrap()).collect()
    }

    #[test]
    fn plain_words() {
        assert_eq!(words(" ccache  clang-19\t", &[]), ["ccache", "clang-19"]);
        assert!(words("", &[]).is_empty());
        assert!(words(" \n", &[]).is_empty());
    }

    #[test]
    fn quotes_and_backslashes_are_a_shells() {
        assert_eq!(words(r#"ccache "/a b/gcc""#, &[]), ["ccache", "/a b/gcc"]);
        assert_eq!(words("'/a b/gcc' -O1", &[]), ["/a b/gcc", "-O1"]);
        assert_eq!(words(r"/a\ b/gcc -O1", &[]), ["/a b/gcc", "-O1"]);
        assert_eq!(words(r#"gcc -DX='"y z"' -DE="" ''"#, &[]), ["gcc", "-DX=\"y z\"", "-DE=", ""]);
        assert_eq!(words(r#""\"\\\$\`\n" '\"' \" a\"#, &[]), ["\"\\$`\\n", "\\\"", "\"", "a\\"]);
        assert_eq!(words(r#"/a" "b/'gcc'"#, &[]), ["/a b/gcc"]);
    }

    #[test]
    fn a_quote_without_its_end_is_refused() {
        for text in ["'gcc", "gcc \"-O1", "gcc \"-O1\\\"", "\""] {
            assert_eq!(split(OsStr::new(text), &|_| false), Err(OpenQuote), "{text}");
        }
    }

    #[test]
    fn an_unquoted_path_with_blanks_is_the_longest_program() {
        assert_eq!(words("/a b/gcc -O1", &["/a b/gcc"]), ["/a b/gcc", "-O1"]);
        assert_eq!(words("/a b/gcc", &["/a b/gcc"]), ["/a b/gcc"]);
        assert_eq!(words("ccache /a b/gcc -O1", &["/a b/gcc"]), ["ccache", "/a b/gcc", "-O1"]);
        // The shorter one is a program as well.
        assert_eq!(words("/a b/gcc 9 -O1", &["/a", "/a b/gcc 9"]), ["/a b/gcc 9", "-O1"]);
        assert_eq!(words("./a  b -c", &["./a  b"]), ["./a  b", "-c"]);
        // In the name of an existing file a quote is a quote.
        assert_eq!(words("/o'brien/gcc -g", &["/o'brien/gcc"]), ["/o'brien/gcc", "-g"]);
        // Not where no such program is, and not within an option.
        assert_eq!(words("/a b/gcc -O1", &[]), ["/a", "b/gcc", "-O1"]);
        assert_eq!(words("gcc -B/a b/gcc", &["-B/a b/gcc"]), ["gcc", "-B/a", "b/gcc"]);
    }
}
