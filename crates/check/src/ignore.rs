//! `// raddle: ignore <reason>` on a line suppresses the findings with an end on that line.

use rustc_hash::FxHashMap;

const MARK: &[u8] = b"raddle: ignore";

/// The lines of a file that carry the mark with a reason, and the reasons.
pub fn ignored_lines(text: &[u8]) -> FxHashMap<u32, String> {
    let mut out = FxHashMap::default();
    // Nearly all files have no mark, and one search over the whole text is enough for those.
    if !text.windows(MARK.len()).any(|w| w == MARK) {
        return out;
    }
    for (i, line) in text.split(|b| *b == b'\n').enumerate() {
        let Some(at) = line.windows(MARK.len()).position(|w| w == MARK) else { continue };
        let before = &line[..at];
        let in_comment = before.ends_with(b"// ") || before.ends_with(b"//") || before.ends_with(b"/* ");
        let reason = String::from_utf8_lossy(&line[at + MARK.len()..])
            .trim()
            .trim_end_matches("*/")
            .trim()
            .to_string();
        // A mark without a reason does not count: the next reader must learn why.
        if in_comment && !reason.is_empty() {
            out.insert(i as u32 + 1, reason);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_a_comment_and_a_reason() {
        let text =
            b"a; // raddle: ignore counter is approximate\nb; // raddle: ignore\nc = \"raddle: ignore x\";\n\
            d; /* raddle: ignore old */\n";
        let lines = ignored_lines(text);
        assert_eq!(lines.get(&1).map(String::as_str), Some("counter is approximate"));
        assert_eq!(lines.get(&4).map(String::as_str), Some("old"));
        assert_eq!(lines.len(), 2);
    }
}
