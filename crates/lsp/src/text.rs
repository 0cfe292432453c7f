//! Lines and columns: the protocol counts UTF-16 units from 0, the checker counts bytes from 1.
//!
//! A line ends at `\n`, and a `\r` before it belongs to the line ending. The protocol also accepts
//! a lone `\r` as a line ending, but neither the checker nor editors on the systems that raddle
//! supports do.
//!
//! Positions from a client are clamped to the text, as the protocol requires: a column beyond its
//! line is the line's end.

use std::sync::Arc;

use lsp_types::{Position, Range};

/// The byte offset of a position in a text.
pub fn offset(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text[start..].find('\n') {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let rest = &text[start..];
    let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
    let mut units = 0;
    for (at, c) in line.char_indices() {
        // A position inside a surrogate pair means the position before it.
        if units + c.len_utf16() as u32 > position.character {
            return start + at;
        }
        units += c.len_utf16() as u32;
    }
    // A column beyond the line means its end. A position right behind a `\r` is valid: Neovim
    // treats `\r` as an ordinary character.
    let end = if units == position.character { line } else { line.strip_suffix('\r').unwrap_or(line) };
    start + end.len()
}

/// A text split into lines.
#[derive(Debug, Clone)]
pub struct Lines {
    text: Arc<[u8]>,
    starts: Vec<usize>,
}

impl Lines {
    pub fn new(text: Arc<[u8]>) -> Lines {
        let after = text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after).collect();
        Lines { text, starts }
    }

    /// A line, from 1, without its ending.
    pub fn line(&self, number: u32) -> Option<&[u8]> {
        let index = (number as usize).checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        let line = &self.text[start..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The range to underline for a line and a column, both from 1: the variable, member or call at
    /// the column. If there is none, or if debug information points at an operator, it is the whole
    /// line without its indentation.
    pub fn range(&self, line: u32, column: Option<u32>) -> Range {
        let Some(bytes) = self.line(line) else {
            let end = Position::new(self.count().saturating_sub(1), 0);
            return Range::new(end, end);
        };
        // The checker's last column stands for any column from there on.
        let column = column.filter(|column| *column < u32::from(u16::MAX));
        let from = column.and_then(|column| (column as usize).checked_sub(1));
        let (start, end) =
            from.and_then(|from| Some((from, from + path(bytes.get(from..)?)?))).unwrap_or_else(|| {
                let indent = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
                (indent, bytes.trim_ascii_end().len().max(indent))
            });
        let at = |byte: usize| Position::new(line - 1, units(&bytes[..byte]));
        Range::new(at(start), at(end))
    }
}

/// The number of bytes at the start of a text that form one access: `s->list[i].next`, `*p`, `n`,
/// `f`. None for an operator.
fn path(text: &[u8]) -> Option<usize> {
    let word =
        |from: usize| text[from..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let stars = text.iter().take_while(|b| matches!(b, b'*' | b'&')).count();
    let first = word(stars);
    if first == 0 {
        return None;
    }
    let mut end = stars + first;
    loop {
        end += match &text[end..] {
            [b'-', b'>', ..] if word(end + 2) > 0 => 2 + word(end + 2),
            [b'.', ..] if word(end + 1) > 0 => 1 + word(end + 1),
            [b'[', rest @ ..] => match rest.iter().position(|b| *b == b']') {
                Some(close) => close + 2,
                None => return Some(end),
            },
            _ => return Some(end),
        };
    }
}

/// The number of UTF-16 units that a client counts for these bytes. Each invalid UTF-8 sequence is
/// one unit, as it is displayed.
pub fn units(bytes: &[u8]) -> u32 {
    if bytes.is_ascii() {
        return bytes.len() as u32;
    }
    String::from_utf8_lossy(bytes).chars().map(|c| c.len_utf16() as u32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Lines {
        Lines::new(text.as_bytes().into())
    }

    /// What is underlined.
    fn marked(text: &str, line: u32, column: Option<u32>) -> String {
        let range = lines(text).range(line, column);
        text[offset(text, range.start)..offset(text, range.end)].to_owned()
    }

    #[test]
    fn offsets_count_utf16() {
        // ü is one unit and two bytes, 😀 two units and four bytes.
        let text = "aü😀b\r\nc\n";
        let at = |line, character| offset(text, Position::new(line, character));
        assert_eq!([at(0, 0), at(0, 1), at(0, 2), at(0, 4), at(0, 5)], [0, 1, 3, 7, 8]);
        assert_eq!(at(0, 3), 3, "inside a pair");
        assert_eq!([at(0, 6), at(0, 99)], [9, 8], "behind the `\\r`, and before the line's ending");
        assert_eq!([at(1, 0), at(1, 1), at(1, 7)], [10, 11, 11]);
        assert_eq!([at(2, 0), at(9, 9)], [12, 12]);
        assert_eq!(offset("", Position::new(3, 3)), 0);
        assert_eq!(at(u32::MAX, u32::MAX), 12);
    }

    #[test]
    fn columns_come_out_in_utf16() {
        let text = "/* 😀ü */ n = 1;\n";
        let column = text.find("n =").unwrap() as u32 + 1;
        let range = lines(text).range(1, Some(column));
        assert_eq!((range.start, range.end), (Position::new(0, 10), Position::new(0, 11)));
        assert_eq!(marked(text, 1, Some(column)), "n");
    }

    #[test]
    fn the_access_is_underlined() {
        assert_eq!(marked("  s->list[i + 1].next = 0;\n", 1, Some(3)), "s->list[i + 1].next");
        assert_eq!(marked("x = *p;\n", 1, Some(5)), "*p");
        assert_eq!(marked("a[3", 1, Some(1)), "a");
        assert_eq!(marked("pthread_mutex_lock(&m);\n", 1, Some(1)), "pthread_mutex_lock");
    }

    #[test]
    fn without_an_access_the_line_is() {
        assert_eq!(marked("\tserved++;  \r\n", 1, Some(8)), "served++;");
        assert_eq!(marked("a\n\tserved++;\n", 2, None), "served++;");
        assert_eq!(marked("short\n", 1, Some(400)), "short");
        let long = format!("{}n = 1;", " ".repeat(70_000));
        assert_eq!(marked(&long, 1, Some(65_535)), "n = 1;");
        assert_eq!(marked("  \n", 1, None), "");
        assert_eq!(marked("a\n", 77, Some(1)), "");
    }

    #[test]
    fn bytes_that_are_no_text_have_places_too() {
        let lines = Lines::new(b"\xff\xfe n;\n\xff".as_slice().into());
        assert_eq!(lines.range(1, Some(4)).start, Position::new(0, 3));
        assert_eq!(lines.range(2, Some(1)).end, Position::new(1, 1));
        assert_eq!((lines.count(), lines.line(0), lines.line(3)), (2, None, None));
    }
}
