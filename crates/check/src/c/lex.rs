//! Splits bytes into preprocessing tokens: line splices, comments, and a token for every byte,
//! sensible or not.

use super::token::{Interner, PUNCTS, Punct, Sym, Token, TokenKind};
use crate::ir::Pos;

/// For each byte, the punctuators that start with it, one bit each. Every second token is a
/// punctuator, and there are fifty of them.
const STARTING_WITH: [u64; 256] = {
    assert!(PUNCTS.len() <= 64);
    let mut table = [0; 256];
    let mut i = 0;
    while i < PUNCTS.len() {
        table[PUNCTS[i].0.as_bytes()[0] as usize] |= 1 << i;
        i += 1;
    }
    table
};

/// Splits a file. Never fails: an unterminated string ends with its line, an unterminated comment
/// with the file.
pub fn lex(text: &[u8], file: u16, interner: &mut Interner) -> Vec<Token> {
    let puncts = std::array::from_fn(|i| interner.intern(PUNCTS[i].0));
    let mut lexer =
        Lexer { text, at: 0, line: 1, line_start: 0, file, interner, puncts, spelling: String::new() };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut bol = true;
    loop {
        let (newline, space) = lexer.skip_space();
        bol |= newline;
        if lexer.at >= text.len() {
            return tokens;
        }
        let pos = lexer.pos();
        let (kind, sym) = lexer.token();
        tokens.push(Token { kind, bol, space: space || bol, painted: false, sym, pos });
        bol = false;
    }
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
    file: u16,
    interner: &'a mut Interner,
    puncts: [Sym; PUNCTS.len()],
    spelling: String,
}

impl Lexer<'_> {
    fn pos(&self) -> Pos {
        let col = (self.at - self.line_start + 1).min(usize::from(u16::MAX)) as u16;
        Pos { file: self.file, col, line: self.line }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Skips a line splice: a backslash at the end of a line joins it to the next.
    fn splice(&mut self) -> bool {
        if self.peek(0) != b'\\' {
            return false;
        }
        let mut n = 1;
        while matches!(self.peek(n), b' ' | b'\t' | b'\r') {
            n += 1;
        }
        if self.peek(n) != b'\n' {
            return false;
        }
        self.at += n;
        self.newline();
        true
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    /// Returns whether a line ended and whether there was any white space.
    fn skip_space(&mut self) -> (bool, bool) {
        let (mut newline, start) = (false, self.at);
        while self.at < self.text.len() {
            match self.peek(0) {
                b'\n' => {
                    self.newline();
                    newline = true;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.splice() => {}
                b'/' if self.peek(1) == b'/' => self.line_comment(),
                b'/' if self.peek(1) == b'*' => self.block_comment(),
                _ => break,
            }
        }
        (newline, self.at > start)
    }

    fn line_comment(&mut self) {
        while self.at < self.text.len() && self.peek(0) != b'\n' {
            if !self.splice() {
                self.at += 1;
            }
        }
    }

    fn block_comment(&mut self) {
        self.at += 2;
        while self.at < self.text.len() {
            match self.peek(0) {
                b'*' if self.peek(1) == b'/' => {
                    self.at += 2;
                    return;
                }
                b'\n' => self.newline(),
                _ => self.at += 1,
            }
        }
    }

    fn token(&mut self) -> (TokenKind, Sym) {
        let b = self.peek(0);
        if is_ident_start(b) {
            return self.ident_or_prefixed();
        }
        if b.is_ascii_digit() || b == b'.' && self.peek(1).is_ascii_digit() {
            return self.number();
        }
        if b == b'"' || b == b'\'' {
            return self.quoted(b);
        }
        self.punct()
    }

    fn ident_or_prefixed(&mut self) -> (TokenKind, Sym) {
        let start = self.at;
        let mut spliced = false;
        self.spelling.clear();
        loop {
            let from = self.at;
            while is_ident(self.peek(0)) {
                self.at += 1;
            }
            let part = &self.text[from..self.at];
            if self.peek(0) == b'\\' && self.splice() {
                spliced = true;
                push_lossy(&mut self.spelling, part);
                continue;
            }
            if spliced {
                push_lossy(&mut self.spelling, part);
            }
            break;
        }
        if !spliced {
            let word = &self.text[start..self.at];
            let quote = self.peek(0);
            if (quote == b'"' || quote == b'\'') && matches!(word, b"L" | b"u" | b"U" | b"u8") {
                return self.quoted(quote);
            }
            if let Ok(word) = std::str::from_utf8(word) {
                return (TokenKind::Ident, self.interner.intern(word));
            }
            push_lossy(&mut self.spelling, word);
        }
        (TokenKind::Ident, self.interner.intern(&self.spelling))
    }

    fn number(&mut self) -> (TokenKind, Sym) {
        let start = self.at;
        loop {
            let b = self.peek(0);
            let sign = matches!(self.peek(1), b'+' | b'-') && matches!(b, b'e' | b'E' | b'p' | b'P');
            // A hexadecimal integer ends before its sign: `0xE+1` is a sum for people, but one
            // token for the standard.
            let hex = self.text[start..].starts_with(b"0x") || self.text[start..].starts_with(b"0X");
            if sign && !(hex && matches!(b, b'e' | b'E')) {
                self.at += 2;
            } else if is_ident(b) || b == b'.' || b == b'\'' && is_ident(self.peek(1)) && self.at > start {
                self.at += 1;
            } else {
                break;
            }
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        (TokenKind::Number, self.interner.intern(&text))
    }

    /// Keeps the quotes and escapes, which the parser decodes. Bytes above 127 become code points
    /// of the same number, so that nothing is lost and the spelling is still a `str`.
    fn quoted(&mut self, quote: u8) -> (TokenKind, Sym) {
        self.spelling.clear();
        self.spelling.push(quote as char);
        self.at += 1;
        while self.at < self.text.len() {
            let b = self.peek(0);
            if b == b'\\' && self.splice() {
                continue;
            }
            if b == b'\n' {
                break;
            }
            self.at += 1;
            self.spelling.push(char::from(b));
            if b == quote {
                break;
            }
            if b == b'\\' && self.at < self.text.len() && self.peek(0) != b'\n' {
                self.spelling.push(char::from(self.peek(0)));
                self.at += 1;
            }
        }
        let kind = if quote == b'"' { TokenKind::Str } else { TokenKind::Char };
        (kind, self.interner.intern(&self.spelling))
    }

    fn punct(&mut self) -> (TokenKind, Sym) {
        let rest = &self.text[self.at..];
        let mut candidates = STARTING_WITH[usize::from(rest[0])];
        while candidates != 0 {
            let i = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let (text, punct) = PUNCTS[i];
            if rest.starts_with(text.as_bytes()) {
                self.at += text.len();
                return (TokenKind::Punct(undo_digraph(punct)), self.puncts[i]);
            }
        }
        self.at += 1;
        (TokenKind::Other, self.interner.intern("?"))
    }
}

fn undo_digraph(p: Punct) -> Punct {
    match p {
        Punct::DiLBracket => Punct::LBracket,
        Punct::DiRBracket => Punct::RBracket,
        Punct::DiLBrace => Punct::LBrace,
        Punct::DiRBrace => Punct::RBrace,
        Punct::DiHash => Punct::Hash,
        Punct::DigraphPaste => Punct::Paste,
        other => other,
    }
}

fn push_lossy(to: &mut String, bytes: &[u8]) {
    to.push_str(&String::from_utf8_lossy(bytes));
}

fn is_ident_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b == b'$' || b >= 0x80
}

fn is_ident(b: u8) -> bool {
    is_ident_start(b) || b.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(text: &str) -> Vec<String> {
        let mut interner = Interner::default();
        let tokens = lex(text.as_bytes(), 0, &mut interner);
        tokens.iter().map(|t| interner.name(t.sym).to_string()).collect()
    }

    #[test]
    fn splits_operators_greedily() {
        assert_eq!(spellings("a+++b<<=c->d"), ["a", "++", "+", "b", "<<=", "c", "->", "d"]);
    }

    #[test]
    fn comments_and_splices_are_white_space() {
        assert_eq!(spellings("a/* x\n y */b // c \\\n d\nfo\\\no"), ["a", "b", "foo"]);
    }

    #[test]
    fn places_count_lines_through_splices_and_comments() {
        let mut interner = Interner::default();
        let tokens = lex(b"/*\n*/ a \\\n b\n  c", 3, &mut interner);
        let at: Vec<_> = tokens.iter().map(|t| (t.pos.line, t.pos.col, t.bol)).collect();
        assert_eq!(at, [(2, 4, true), (3, 2, false), (4, 3, true)]);
    }

    #[test]
    fn numbers_keep_their_suffixes_and_exponents() {
        assert_eq!(spellings("0x1FUL 1.5e-3f 0xE+1 .5"), ["0x1FUL", "1.5e-3f", "0xE", "+", "1", ".5"]);
    }

    #[test]
    fn an_unterminated_string_ends_with_its_line() {
        assert_eq!(spellings("\"abc\nx"), ["\"abc", "x"]);
    }

    #[test]
    fn any_bytes_give_tokens() {
        let mut interner = Interner::default();
        let all: Vec<u8> = (0..=255).collect();
        assert!(!lex(&all, 0, &mut interner).is_empty());
    }
}
