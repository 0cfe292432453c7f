//! Conditional compilation. Lines that are left out, and the directives themselves, become blanks.
//! So every place keeps its line and column, and the parser sees no directive.

use std::collections::HashSet;

/// Symbols that a current build defines. `DEBUG` and `TRACE` are defined in a developer's build.
const DEFINED: &[&str] = &[
    "DEBUG",
    "TRACE",
    "NET",
    "NETCOREAPP",
    "NET5_0_OR_GREATER",
    "NET6_0_OR_GREATER",
    "NET7_0_OR_GREATER",
    "NET8_0_OR_GREATER",
    "NETCOREAPP3_1_OR_GREATER",
    "NETSTANDARD2_0_OR_GREATER",
];

/// An open `#if`.
struct Open {
    /// The current branch is taken.
    active: bool,
    /// Some branch was taken.
    taken: bool,
    /// The surrounding text is active.
    outer: bool,
}

/// Blanks what is not compiled. `symbols` are those of the project.
pub fn apply(text: &str, symbols: &[String]) -> String {
    let mut defined: HashSet<String> = DEFINED.iter().map(ToString::to_string).collect();
    defined.extend(symbols.iter().cloned());
    let mut out = String::with_capacity(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut lexer = Lexer::default();
    for line in text.split_inclusive('\n') {
        let active = open.last().is_none_or(|o| o.active);
        let word = line.trim_start();
        if word.starts_with('#') && !lexer.inside {
            directive(word[1..].trim(), &mut open, &mut defined);
            blank(line, &mut out);
        } else if active {
            lexer.line(line);
            out.push_str(line);
        } else {
            blank(line, &mut out);
        }
    }
    out
}

fn blank(line: &str, out: &mut String) {
    // One blank for each byte, because columns are bytes.
    out.extend(line.bytes().map(|b| if b == b'\n' || b == b'\r' { b as char } else { ' ' }));
}

fn directive(text: &str, open: &mut Vec<Open>, defined: &mut HashSet<String>) {
    let text = text.split("//").next().unwrap_or("").trim();
    let (word, rest) = text.split_once(|c: char| c.is_whitespace() || c == '(').unwrap_or((text, ""));
    let rest = if text[word.len()..].starts_with('(') { &text[word.len()..] } else { rest };
    let outer = open.last().is_none_or(|o| o.active);
    match word {
        "if" => {
            let active = outer && Condition::new(rest, defined).value();
            open.push(Open { active, taken: active, outer });
        }
        "elif" => {
            if let Some(o) = open.last_mut() {
                o.active = o.outer && !o.taken && Condition::new(rest, defined).value();
                o.taken |= o.active;
            }
        }
        "else" => {
            if let Some(o) = open.last_mut() {
                o.active = o.outer && !o.taken;
                o.taken = true;
            }
        }
        "endif" => {
            open.pop();
        }
        "define" if outer => {
            defined.insert(rest.trim().into());
        }
        "undef" if outer => {
            defined.remove(rest.trim());
        }
        _ => {}
    }
}

/// Tracks whether a line begins inside a comment or a multi-line string, where `#` means nothing.
#[derive(Default)]
struct Lexer {
    inside: bool,
    /// The bytes that end it.
    end: Vec<u8>,
}

impl Lexer {
    fn line(&mut self, line: &str) {
        let bytes = line.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            let rest = &bytes[i..];
            if self.inside {
                if self.end == b"\"" && rest.starts_with(b"\"\"") {
                    i += 2;
                } else if rest.starts_with(&self.end) {
                    i += self.end.len();
                    self.inside = false;
                } else {
                    i += 1;
                }
                continue;
            }
            i += match rest {
                [b'/', b'/', ..] => return,
                [b'/', b'*', ..] => self.enter(b"*/", 2),
                [b'"', b'"', b'"', ..] => {
                    let quotes = rest.iter().take_while(|b| **b == b'"').count();
                    self.enter(&b"\"".repeat(quotes), quotes)
                }
                [b'@', b'"', ..] => self.enter(b"\"", 2),
                [b'@', b'$', b'"', ..] | [b'$', b'@', b'"', ..] => self.enter(b"\"", 3),
                [b'"', ..] => skip_quoted(rest, b'"'),
                [b'\'', ..] => skip_quoted(rest, b'\''),
                _ => 1,
            };
        }
    }

    fn enter(&mut self, end: &[u8], length: usize) -> usize {
        self.inside = true;
        self.end = end.to_vec();
        length
    }
}

/// The length of an ordinary string or character literal, which ends on its line.
fn skip_quoted(rest: &[u8], quote: u8) -> usize {
    let mut i = 1;
    while i < rest.len() && rest[i] != quote {
        i += if rest[i] == b'\\' { 2 } else { 1 };
    }
    i + 1
}

/// `A && !(B || C) == true`, from left to right by precedence.
struct Condition<'a> {
    words: Vec<&'a str>,
    at: usize,
    defined: &'a HashSet<String>,
}

impl<'a> Condition<'a> {
    fn new(text: &'a str, defined: &'a HashSet<String>) -> Self {
        let mut words = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '&' | '|' | '=' => rest.len().min(2),
                '!' if rest.starts_with("!=") => 2,
                c if c.is_alphanumeric() || c == '_' => {
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
                }
                c => c.len_utf8(),
            };
            if !rest.is_char_boundary(length) {
                break;
            }
            words.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
        Self { words, at: 0, defined }
    }

    fn value(mut self) -> bool {
        self.or(0)
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn or(&mut self, depth: u32) -> bool {
        let mut v = self.and(depth);
        while self.eat("||") {
            v |= self.and(depth);
        }
        v
    }

    fn and(&mut self, depth: u32) -> bool {
        let mut v = self.equal(depth);
        while self.eat("&&") {
            v &= self.equal(depth);
        }
        v
    }

    fn equal(&mut self, depth: u32) -> bool {
        let mut v = self.primary(depth);
        loop {
            if self.eat("==") {
                v = v == self.primary(depth);
            } else if self.eat("!=") {
                v = v != self.primary(depth);
            } else {
                return v;
            }
        }
    }

    fn primary(&mut self, depth: u32) -> bool {
        if depth > 64 {
            return false;
        }
        if self.eat("!") {
            return !self.primary(depth + 1);
        }
        if self.eat("(") {
            let v = self.or(depth + 1);
            self.eat(")");
            return v;
        }
        let word = self.words.get(self.at).copied().unwrap_or("false");
        self.at += 1;
        word == "true" || self.defined.contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str, symbols: &[&str]) -> Vec<String> {
        let symbols: Vec<String> = symbols.iter().map(ToString::to_string).collect();
        let out = apply(text, &symbols);
        assert_eq!(out.len(), text.len());
        out.lines().map(str::trim).filter(|l| !l.is_empty()).map(Into::into).collect()
    }

    #[test]
    fn the_branch_that_is_compiled_is_kept() {
        let text = "#if A\na\n#elif B && !C\nb\n#else\nc\n#endif\nd\n";
        assert_eq!(kept(text, &["A"]), ["a", "d"]);
        assert_eq!(kept(text, &["B"]), ["b", "d"]);
        assert_eq!(kept(text, &["B", "C"]), ["c", "d"]);
        assert_eq!(kept("#if (X || Y) == true\nx\n#endif", &["Y"]), ["x"]);
        assert_eq!(kept("#define Q\n#if Q\nq\n#undef Q\n#endif\n#if Q\nr\n#endif", &[]), ["q"]);
        assert_eq!(kept("#if OUTER\n#if true\nx\n#endif\n#endif\ny", &[]), ["y"]);
    }

    #[test]
    fn texts_and_comments_hold_no_directives() {
        let text = "var s = @\"\n#if NO\nkept\"; // \"\n/*\n#else\n*/ x";
        assert_eq!(kept(text, &[]).len(), 6);
        assert_eq!(kept("var r = \"\"\"\n#if NO\n\"\"\";\ny", &[]).len(), 4);
        assert_eq!(kept("var c = '\"';\n#if NO\nx\n#endif", &[]), ["var c = '\"';"]);
    }

    #[test]
    fn what_is_not_closed_lasts_to_the_end() {
        assert!(kept("#if NO\nx\ny", &[]).is_empty());
        assert_eq!(kept("#endif\n#else\n#elif\nx\n#if\n#endif", &[]), ["x"]);
    }
}
