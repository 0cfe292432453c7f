//! The patterns of suppression files, as sanitizer_common's `TemplateMatch` reads them.
//!
//! A pattern is found anywhere in the text. `*` stands for any run of characters; `^` at the start
//! and `$` at the end anchor it there. An empty text matches nothing.
//!
//! Two deviations, both towards what a pattern's author means:
//! 1. `TemplateMatch` takes the first place where a piece fits and never looks further, so `foo$`
//!    misses `foo_foo`. Here the last piece is searched at the end.
//! 2. There, a `$` in the middle ends the pattern. Here it is a literal `$`, as clang's lambdas
//!    (`$_0`) need.

/// A pattern, split at its stars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarPattern {
    text: String,
    pieces: Vec<String>,
    at_start: bool,
    at_end: bool,
}

impl StarPattern {
    /// Any text is a pattern.
    pub fn new(text: &str) -> StarPattern {
        let (at_start, body) = text.strip_prefix('^').map_or((false, text), |body| (true, body));
        let (at_end, body) = body.strip_suffix('$').map_or((false, body), |body| (true, body));
        let pieces: Vec<String> = body.split('*').map(str::to_owned).collect();
        StarPattern { text: text.to_owned(), pieces, at_start, at_end }
    }

    /// The original text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern occurs in `text`. False for an empty `text`.
    pub fn matches(&self, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        let (mut rest, mut pieces) = (text, self.pieces.as_slice());
        // Without an anchor, the outermost pieces are found anywhere, as if a star stood beside
        // them.
        if self.at_start {
            let (first, others) = pieces.split_first().expect("split gives at least one piece");
            if others.is_empty() && self.at_end {
                return text == first;
            }
            let Some(after) = rest.strip_prefix(first.as_str()) else { return false };
            (rest, pieces) = (after, others);
        }
        if self.at_end
            && let Some((last, others)) = pieces.split_last()
        {
            let Some(before) = rest.strip_suffix(last.as_str()) else { return false };
            (rest, pieces) = (before, others);
        }
        pieces.iter().all(|piece| match rest.find(piece.as_str()) {
            Some(at) => {
                rest = &rest[at + piece.len()..];
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let compiled = StarPattern::new(pattern);
        for text in yes {
            assert!(compiled.matches(text), "{pattern} should match {text}");
        }
        for text in no {
            assert!(!compiled.matches(text), "{pattern} should not match {text}");
        }
    }

    #[test]
    fn a_plain_pattern_is_a_substring() {
        check("bar", &["bar", "foobarbaz"], &["ba", "Bar", ""]);
    }

    #[test]
    fn anchors() {
        check("^foo", &["foo", "foobar"], &["afoo", ""]);
        check("foo$", &["foo", "barfoo", "foo_foo"], &["foob"]);
        check("^foo$", &["foo"], &["foofoo", "afoo"]);
    }

    #[test]
    fn stars() {
        check("a*b", &["ab", "axxb", "zaxxbz"], &["ba", "a"]);
        check("^a*b$", &["ab", "a_b_b"], &["ab_", "xab", "a"]);
        check("^*foo", &["xfoo", "foo"], &["fo"]);
        check("foo*$", &["foox", "foo"], &["fo"]);
        check("**a**", &["a", "bab"], &["b"]);
        check("*", &["anything"], &[""]);
        check("^a*a$", &["aa", "aba"], &["a"]);
    }

    #[test]
    fn a_dollar_inside_is_itself() {
        check("main::$_0::operator", &["main::$_0::operator()()"], &["main"]);
    }

    #[test]
    fn pieces_come_in_order() {
        check("foobar", &["foobar", "foobarbaz", "prefixfoobarbaz"], &["foo", "fooba"]);
        check("*foo*bar", &["foobar", "prefixfooabcbarpostfix"], &["foo", "bar"]);
        check("foo*bar", &["foobar", "foobazbar", "foo_bar_baz"], &["barfoo"]);
        check("^foobar", &["foobar", "foobarbaz"], &["a_foobar"]);
    }
}
