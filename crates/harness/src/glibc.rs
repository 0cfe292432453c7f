//! The C library that programs of this system run with, and whether the runtime loads on it.
//!
//! On an older one, programs that were built with raddle may run, but the dynamic linker refuses
//! the libraries of the runtime. The program then ends before its first instruction, and "no
//! findings" would be a lie.

use memchr::memmem;

/// The oldest glibc that the runtime loads on, as 2.34; a test of the runtime's symbols checks it.
pub const OLDEST: (u32, u32) = (2, 34);
/// Where distributions keep the C library of 64-bit programs.
const PLACES: [&str; 4] =
    ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6"];

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this system has glibc {}.{}, and raddle's runtime needs {}.{} or later: `raddle doctor` checks what works here",
    found.0, found.1, OLDEST.0, OLDEST.1
)]
pub struct TooOld {
    found: (u32, u32),
}

/// The version, if the library is where distributions keep it.
pub fn version() -> Option<(u32, u32)> {
    PLACES.iter().find_map(|path| version_of(&std::fs::read(path).ok()?))
}

/// Refuses a system on which the runtime does not load. One without a known version may have it.
pub fn require() -> Result<(), TooOld> {
    require_version(version())
}

fn require_version(version: Option<(u32, u32)>) -> Result<(), TooOld> {
    match version {
        Some(found) if found < OLDEST => Err(TooOld { found }),
        _ => Ok(()),
    }
}

/// Reads the version from the sentence that the library prints when it is run, `… release version
/// 2.36.`
fn version_of(library: &[u8]) -> Option<(u32, u32)> {
    const BEFORE: &[u8] = b"release version ";
    let at = memmem::find(library, BEFORE)? + BEFORE.len();
    let text = std::str::from_utf8(library.get(at..at + 8)?).ok()?;
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_sentence() {
        let of = |text: &str| version_of(text.as_bytes());
        assert_eq!(
            of("GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\nCopyright"),
            Some((2, 36))
        );
        assert_eq!(of("release version 2.5, by Roland"), Some((2, 5)));
        assert_eq!((of("musl libc"), of("release version x.yyyyyy")), (None, None));
    }

    #[test]
    fn an_old_one_is_refused_and_an_unknown_one_is_not() {
        let said = require_version(Some((2, 31))).unwrap_err().to_string();
        assert!(
            said.starts_with("this system has glibc 2.31, and raddle's runtime needs 2.34 or later"),
            "{said}"
        );
        assert_eq!(require_version(Some((2, 34))), Ok(()));
        assert_eq!(require_version(None), Ok(()));
        assert_eq!(require(), Ok(()), "tests run on a newer one");
    }
}
