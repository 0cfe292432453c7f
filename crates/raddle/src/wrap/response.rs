//! Response files: `@FILE` on a command line stands for the words in FILE.
//!
//! Raddle reads them only to know what a command line does; the compiler gets the original `@FILE`.
//! The rules are those of libiberty's `expandargv`, which gcc and (for this syntax) clang follow:
//! words are split at white space, quotes of either kind group, a backslash takes the next
//! character literally, and an `@FILE` that cannot be read is an ordinary word.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The deepest nesting of files; libiberty's limit of 2000 expansions has the same purpose.
const MAX_DEPTH: usize = 32;

/// `args` with each response file replaced by its words. `read` returns a file's bytes.
pub fn expand(args: &[OsString], read: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Vec<OsString> {
    let mut out = Vec::with_capacity(args.len());
    expand_into(args, read, MAX_DEPTH, &mut out);
    out
}

fn expand_into(
    args: &[OsString],
    read: &dyn Fn(&Path) -> Option<Vec<u8>>,
    depth: usize,
    out: &mut Vec<OsString>,
) {
    for arg in args {
        let content = match arg.as_bytes() {
            [b'@', path @ ..] if depth > 0 && !path.is_empty() => {
                read(Path::new(std::ffi::OsStr::from_bytes(path)))
            }
            _ => None,
        };
        match content {
            Some(bytes) => expand_into(&split(&bytes), read, depth - 1, out),
            None => out.push(arg.clone()),
        }
    }
}

/// Splits the content of a response file into words.
fn split(content: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(content: &str) -> Vec<String> {
        split(content.as_bytes()).into_iter().map(|w| w.into_string().unwrap()).collect()
    }

    #[test]
    fn splits_as_libiberty_does() {
        assert_eq!(words("-c a.c\n\t-o a.o\n"), ["-c", "a.c", "-o", "a.o"]);
        assert_eq!(words(r#""a b.c" 'c d' e\ f"#), ["a b.c", "c d", "e f"]);
        assert_eq!(words(r#"-DX=\"y\" """#), ["-DX=\"y\"", ""]);
        assert_eq!(words(r#"'a\'b'"#), ["a'b"]);
        assert!(words(" \n ").is_empty());
    }

    #[test]
    fn nests_and_leaves_unreadable_ones_alone() {
        let read = |path: &Path| match path.to_str()? {
            "outer" => Some(b"-c @inner".to_vec()),
            "inner" => Some(b"x.c".to_vec()),
            "loop" => Some(b"@loop".to_vec()),
            _ => None,
        };
        let of = |args: &[&str]| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            expand(&args, &read)
        };
        assert_eq!(of(&["-g", "@outer", "-O2"]), ["-g", "-c", "x.c", "-O2"]);
        assert_eq!(of(&["@missing", "@"]), ["@missing", "@"]);
        assert_eq!(of(&["@loop"]), ["@loop"]);
    }
}
