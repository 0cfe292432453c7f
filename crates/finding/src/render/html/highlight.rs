//! Syntax highlighting: comments, strings, numbers, keywords, types and calls of C, C++, Rust and
//! C#.
//!
//! This is a scanner, not a parser. It sees an excerpt, which may begin inside a comment: a line
//! with `*/` and no `/*` before it is a comment up to there. The concatenated tokens are the line.

use std::ops::Range;

/// What a token is. The letter is its class in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenClass {
    Plain,
    Comment,
    Text,
    Number,
    Keyword,
    Type,
    Call,
    Preprocessor,
}

impl TokenClass {
    pub fn letter(self) -> &'static str {
        match self {
            TokenClass::Plain => "",
            TokenClass::Comment => "c",
            TokenClass::Text => "s",
            TokenClass::Number => "n",
            TokenClass::Keyword => "k",
            TokenClass::Type => "t",
            TokenClass::Call => "f",
            TokenClass::Preprocessor => "p",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceLanguage {
    C,
    Rust,
    CSharp,
}

impl SourceLanguage {
    /// By the name of the file. Everything unknown counts as C or C++.
    pub fn of(file: &str) -> SourceLanguage {
        match file.rsplit('.').next() {
            Some("rs") => SourceLanguage::Rust,
            Some("cs") => SourceLanguage::CSharp,
            _ => SourceLanguage::C,
        }
    }

    fn keywords(self) -> &'static str {
        match self {
            SourceLanguage::C => C_KEYWORDS,
            SourceLanguage::Rust => RUST_KEYWORDS,
            SourceLanguage::CSharp => CSHARP_KEYWORDS,
        }
    }

    fn types(self) -> &'static str {
        match self {
            SourceLanguage::C => C_TYPES,
            SourceLanguage::Rust => RUST_TYPES,
            SourceLanguage::CSharp => CSHARP_TYPES,
        }
    }
}

/// Scans the lines of an excerpt in order.
pub(super) struct Highlighter {
    language: SourceLanguage,
    in_comment: bool,
}

pub(super) type MarkedText<'a> = (TokenClass, &'a str);

impl Highlighter {
    pub fn new(language: SourceLanguage) -> Highlighter {
        Highlighter { language, in_comment: false }
    }

    /// Marks a gap in the excerpt.
    pub fn skip(&mut self) {
        self.in_comment = false;
    }

    pub fn line<'a>(&mut self, line: &'a str) -> Vec<MarkedText<'a>> {
        // The comment began above the excerpt.
        if let Some(end) = line.find("*/")
            && !line[..end].contains("/*")
            && !line[..end].contains("//")
        {
            self.in_comment = true;
        }
        let directive = self.language != SourceLanguage::Rust && line.trim_start().starts_with('#');
        let mut ranges: Vec<(TokenClass, Range<usize>)> = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            let (class, length) = if self.in_comment { self.comment(rest) } else { self.token(rest) };
            let class = match class {
                TokenClass::Plain | TokenClass::Keyword | TokenClass::Call if directive => {
                    TokenClass::Preprocessor
                }
                class => class,
            };
            let end = at + length;
            match ranges.last_mut() {
                Some((last, range)) if *last == class => range.end = end,
                _ => ranges.push((class, at..end)),
            }
            at = end;
        }
        ranges.into_iter().map(|(class, range)| (class, &line[range])).collect()
    }

    fn comment(&mut self, rest: &str) -> (TokenClass, usize) {
        let length = match rest.find("*/") {
            Some(end) => {
                self.in_comment = false;
                end + 2
            }
            None => rest.len(),
        };
        (TokenClass::Comment, length)
    }

    fn token(&mut self, rest: &str) -> (TokenClass, usize) {
        if rest.starts_with("//") {
            return (TokenClass::Comment, rest.len());
        }
        if let Some(inside) = rest.strip_prefix("/*") {
            self.in_comment = true;
            let (_, length) = self.comment(inside);
            return (TokenClass::Comment, length + 2);
        }
        let first = rest.chars().next().unwrap_or(' ');
        match first {
            '"' => (TokenClass::Text, quoted(rest, '"')),
            '\'' => self.apostrophe(rest),
            '0'..='9' => {
                let end =
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_' && c != '\'');
                (TokenClass::Number, end.unwrap_or(rest.len()))
            }
            c if c.is_alphabetic() || c == '_' => self.word(rest),
            c => (TokenClass::Plain, c.len_utf8()),
        }
    }

    /// A character literal, or a Rust lifetime.
    fn apostrophe(&self, rest: &str) -> (TokenClass, usize) {
        let name = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len() - 1);
        let closes = rest[1 + name..].starts_with('\'');
        if self.language == SourceLanguage::Rust && name > 0 && !closes {
            return (TokenClass::Type, 1 + name);
        }
        (TokenClass::Text, quoted(rest, '\''))
    }

    fn word(&self, rest: &str) -> (TokenClass, usize) {
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let is_in = |list: &str| list.split(' ').any(|known| known == word);
        let class = if is_in(self.language.keywords()) {
            TokenClass::Keyword
        } else if is_in(self.language.types()) || word.ends_with("_t") {
            TokenClass::Type
        } else if after.starts_with('(') || (self.language == SourceLanguage::Rust && after.starts_with("!("))
        {
            TokenClass::Call
        } else if self.language != SourceLanguage::C && word.starts_with(char::is_uppercase) {
            TokenClass::Type
        } else {
            TokenClass::Plain
        };
        (class, length)
    }
}

/// The length of a quotation that begins `rest`, up to the end of the line if it is not closed.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

const C_KEYWORDS: &str = "alignas alignof and auto break case catch class co_await co_return co_yield \
    concept const constexpr consteval continue decltype default delete do else enum explicit extern \
    final for friend goto if inline namespace new noexcept not nullptr operator or override private \
    protected public register requires restrict return sizeof static static_assert struct switch \
    template this thread_local throw try typedef typename union using virtual volatile while true \
    false NULL _Atomic _Thread_local __thread";
const C_TYPES: &str = "void bool char short int long float double signed unsigned FILE string vector \
    atomic mutex thread unique_lock lock_guard shared_ptr unique_ptr _Bool";
const RUST_KEYWORDS: &str = "as async await break const continue crate dyn else enum extern false fn \
    for if impl in let loop match mod move mut pub ref return self Self static struct super trait \
    true type unsafe use where while";
const RUST_TYPES: &str = "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize";
const CSHARP_KEYWORDS: &str = "abstract as async await base break case catch checked class const \
    continue default delegate do else enum event explicit extern false finally fixed for foreach get \
    goto if implicit in interface internal is lock namespace new null operator out override params \
    private protected public readonly record ref return sealed set sizeof stackalloc static struct \
    switch this throw true try typeof unchecked unsafe using var virtual volatile when where while \
    yield";
const CSHARP_TYPES: &str =
    "bool byte char decimal double float int long object sbyte short string uint ulong ushort void";

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &str, lines: &[&str]) -> Vec<String> {
        let mut highlighter = Highlighter::new(SourceLanguage::of(file));
        let told = |line: &&str| {
            let tokens = highlighter.line(line);
            assert_eq!(tokens.iter().map(|(_, text)| *text).collect::<String>(), **line);
            let told: Vec<String> = tokens
                .iter()
                .filter(|(class, _)| *class != TokenClass::Plain)
                .map(|(class, text)| format!("{}:{text}", class.letter()))
                .collect();
            told.join(" ")
        };
        lines.iter().map(told).collect()
    }

    #[test]
    fn each_language_has_its_words() {
        assert_eq!(
            of("a.cc", &["if (lock(&mu) == 0x1f) return \"a\\\"b\"; // c", "#include <x.h>"]),
            ["k:if f:lock n:0x1f k:return s:\"a\\\"b\" c:// c", "p:#include <x.h>"]
        );
        assert_eq!(
            of("a.rs", &["fn f<'a>(x: &'a Mutex<u64>) { println!(\"{x}\", 'c') }"]),
            ["k:fn t:'a t:'a t:Mutex t:u64 f:println s:\"{x}\" s:'c'"]
        );
        assert_eq!(of("A.cs", &["lock (this) { count += 1; }"]), ["k:lock k:this n:1"]);
    }

    #[test]
    fn comments_go_over_lines_and_may_have_begun_above() {
        assert_eq!(
            of("a.c", &["a /* b", "int c", "d */ int e; /* f */ g"]),
            ["c:/* b", "c:int c", "c:d */ t:int c:/* f */"]
        );
        assert_eq!(of("a.c", &["and so on */ int a;"]), ["c:and so on */ t:int"]);
    }

    #[test]
    fn anything_is_taken() {
        for line in ["\"open", "'", "'\\", "/*", "ä'ö\"ü", "\u{1f980}", "r#\"x\"#", "1'000'000ull"] {
            for file in ["a.c", "a.rs", "a.cs", "?"] {
                of(file, &[line, line]);
            }
        }
    }
}
