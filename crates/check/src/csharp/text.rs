//! Decodes bytes to text: byte order marks, UTF-16, and whatever else is in a file.

/// The text of a file. Invalid bytes become U+FFFD.
pub fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        [0xFF, 0xFE, rest @ ..] => from_utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => from_utf16(rest, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Whether a file begins with the UTF-16 mark. Then zero bytes do not make it a binary file.
pub fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
}

fn from_utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|c| unit([c[0], c[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_understood() {
        assert_eq!(decode(b"\xEF\xBB\xBFclass"), "class");
        assert_eq!(decode(b"\xFF\xFEc\0l\0"), "cl");
        assert_eq!(decode(b"\xFE\xFF\0c\0l"), "cl");
        assert_eq!(decode(b"a\xFFb"), "a\u{FFFD}b");
        assert_eq!(decode(b"\xFF\xFEc"), "");
        assert!(is_utf16(b"\xFF\xFEc\0"));
    }
}
