//! Finds what is still open at the end of a half-typed file.
//!
//! The parser gives up on a whole class if the file ends in the middle of a call inside a method.
//! With the open brackets closed, it finds everything that was typed.

/// The brackets that close what is open at the end of a text, if anything is.
pub fn closing(text: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = match first {
            b'/' if more.first() == Some(&b'/') => after(more, b"\n", false),
            b'/' if more.first() == Some(&b'*') => after(&more[1..], b"*/", false),
            b'@' if more.first() == Some(&b'"') => after(&more[1..], b"\"", false),
            b'"' if more.starts_with(b"\"\"") => after(&more[2..], b"\"\"\"", false),
            b'"' => after(more, b"\"", true),
            b'\'' => after(more, b"'", true),
            b'(' | b'[' | b'{' => {
                open.push(*first);
                more
            }
            b')' | b']' | b'}' => {
                let opener = if *first == b')' { b'(' } else { first - 2 };
                if open.last() == Some(&opener) {
                    open.pop();
                }
                more
            }
            _ => more,
        };
    }
    let mut out = String::new();
    for opener in open.iter().rev() {
        match opener {
            b'(' => out.push(')'),
            b'[' => out.push(']'),
            _ if out.ends_with('}') => out.push('}'),
            // A statement may end there.
            _ => out.push_str(";}"),
        }
    }
    (!out.is_empty()).then_some(out)
}

/// What follows the end of a string or comment. A newline ends a string that has escapes.
fn after<'a>(rest: &'a [u8], end: &[u8], has_escapes: bool) -> &'a [u8] {
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(end) {
            return &rest[at + end.len()..];
        }
        match rest[at] {
            b'\\' if has_escapes => at += 2,
            b'\n' if has_escapes => return &rest[at..],
            _ => at += 1,
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_closed() {
        for (text, closed) in [
            ("class A { void F() { G(() => { n++", Some(";});}}")),
            ("class A { int[] x = new[", Some("];}")),
            ("class A { string s = \"({[\"; // ((\n /* [ */ char c = '(';", Some(";}")),
            ("class A { string s = @\"\\\"; }", None),
            ("class A { string s = \"(\n; }", None),
            ("class A { }", None),
            (")]}", None),
            ("", None),
        ] {
            assert_eq!(closing(text).as_deref(), closed, "{text}");
        }
    }
}
