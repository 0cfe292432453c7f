//! An error-tolerant recursive-descent parser that knows which names are types.
//!
//! Tree-sitter was considered and rejected: without typedefs `(T)(b)` is a call and `b * a;` a
//! product, and repairing its tree costs about as much as parsing. This parser keeps scopes while
//! parsing, and resolves types at once.
//!
//! Source that is being written is the normal case:
//!
//! - A statement that makes no sense is skipped to its `;` or to the end of its block, and becomes
//!   [`StmtKind::Error`]. The rest of the function is still checked.
//! - Inside a body, something in the first column that looks like the start of a function
//!   definition ends the body. A missing brace costs one function, not the rest of the file.
//! - An undeclared name in a type's place (its header is missing) becomes an unknown type: `foo_t
//!   *p;`, `foo_t x = f();`, `(foo_t *)q`.
//! - Recursion is bounded; what nests deeper is skipped.

mod consteval;
mod decl;
mod declarator;
mod deferred;
mod expr;
mod init;
mod omp;
mod record;
mod recover;
mod stmt;

use rustc_hash::FxHashMap;

use super::ast::{Expr, Item};
use super::token::{Interner, Punct, Sym, Token, TokenKind};
use super::types::{CType, Types};
use crate::ir::Pos;
pub use consteval::constant;
pub use words::{Word, Words};

mod words;

/// The meaning of an ordinary identifier in a scope.
#[derive(Debug, Clone, Copy)]
pub enum Meaning {
    Typedef(CType),
    /// A constant of an enumeration.
    Constant(i64),
    Object(CType),
}

/// Everything that carries over from the built-in headers to a file.
#[derive(Debug, Clone)]
pub struct Scopes {
    pub types: Types,
    names: Vec<FxHashMap<Sym, Meaning>>,
    tags: Vec<FxHashMap<Sym, CType>>,
    /// Expressions that variable-length arrays refer to.
    pub lengths: Vec<Expr>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self {
            types: Types::default(),
            names: vec![FxHashMap::default()],
            tags: vec![FxHashMap::default()],
            lengths: Vec::new(),
        }
    }
}

impl Scopes {
    pub fn meaning(&self, name: Sym) -> Option<Meaning> {
        self.names.iter().rev().find_map(|s| s.get(&name).copied())
    }

    fn declare(&mut self, name: Sym, meaning: Meaning) {
        if let Some(scope) = self.names.last_mut() {
            scope.insert(name, meaning);
        }
    }

    fn open(&mut self) {
        self.names.push(FxHashMap::default());
        self.tags.push(FxHashMap::default());
    }

    fn close(&mut self) {
        self.names.pop();
        self.tags.pop();
    }
}

/// Deeper nesting is skipped: the parser recurses, and stacks are finite.
const DEPTH: u32 = 120;
/// The maximum number of operators and suffixes in one expression; `a + a + a …` makes a tree as
/// deep as it is long.
const LINKS: u32 = 300;
/// After this many errors in one file, the rest is skipped.
const ERRORS: u32 = 10_000;

pub struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    interner: &'a Interner,
    words: &'a Words,
    pub scopes: Scopes,
    pub items: Vec<Item>,
    deferred: Vec<deferred::Deferred>,
    depth: u32,
    /// Links of the expression being parsed; see [`LINKS`].
    links: u32,
    errors: u32,
    /// The position of the first error.
    first_error: Option<Pos>,
    /// Inside a function's body.
    in_body: bool,
    eof: Token,
}

/// A parse error. Its position does not matter, because recovery starts at the current token.
pub(super) struct Confused;
type Parse<T> = Result<T, Confused>;

impl<'a> Parser<'a> {
    pub fn new(tokens: &'a [Token], interner: &'a Interner, words: &'a Words, scopes: Scopes) -> Self {
        let pos = tokens.last().map(|t| t.pos).unwrap_or_default();
        let eof = Token { kind: TokenKind::Eof, bol: true, space: true, painted: false, sym: Sym(0), pos };
        Self {
            tokens,
            at: 0,
            interner,
            words,
            scopes,
            items: Vec::new(),
            deferred: Vec::new(),
            depth: 0,
            links: 0,
            errors: 0,
            first_error: None,
            in_body: false,
            eof,
        }
    }

    /// Parses the whole file.
    pub fn run(&mut self) {
        while self.peek().kind != TokenKind::Eof && self.errors < ERRORS {
            let before = self.at;
            if self.external().is_err() {
                self.error();
                self.skip_external(before);
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.parse_deferred();
    }

    pub fn errors(&self) -> u32 {
        self.errors
    }

    /// The position of the first error.
    pub fn first_error(&self) -> Option<Pos> {
        self.first_error
    }

    /// Records that the text here makes no sense.
    fn error(&mut self) {
        self.errors += 1;
        let here = self.peek().pos;
        self.first_error.get_or_insert(here);
    }

    fn peek(&self) -> Token {
        self.tokens.get(self.at).copied().unwrap_or(self.eof)
    }

    fn ahead(&self, n: usize) -> Token {
        self.tokens.get(self.at + n).copied().unwrap_or(self.eof)
    }

    fn next(&mut self) -> Token {
        let t = self.peek();
        self.at += 1;
        t
    }

    fn is(&self, p: Punct) -> bool {
        self.peek().is(p)
    }

    fn eat(&mut self, p: Punct) -> bool {
        let yes = self.is(p);
        self.at += usize::from(yes);
        yes
    }

    fn expect(&mut self, p: Punct) -> Parse<()> {
        if self.eat(p) { Ok(()) } else { Err(Confused) }
    }

    fn word(&self) -> Option<Word> {
        self.word_of(&self.peek())
    }

    fn word_of(&self, t: &Token) -> Option<Word> {
        if t.kind == TokenKind::Ident { self.words.get(t.sym) } else { None }
    }

    fn eat_word(&mut self, w: Word) -> bool {
        let yes = self.word() == Some(w);
        self.at += usize::from(yes);
        yes
    }

    /// The current token as a name that is not a keyword.
    fn ident(&mut self) -> Parse<(Sym, Pos)> {
        let t = self.peek();
        if t.kind == TokenKind::Ident && self.words.get(t.sym).is_none() {
            self.at += 1;
            return Ok((t.sym, t.pos));
        }
        Err(Confused)
    }

    fn is_plain_ident(&self, t: &Token) -> bool {
        t.kind == TokenKind::Ident && self.words.get(t.sym).is_none()
    }

    fn text(&self, sym: Sym) -> &str {
        self.interner.name(sym)
    }

    /// Runs part of the grammar one level deeper.
    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEPTH {
            return Err(Confused);
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Adds one link to a chain.
    fn link(&mut self) -> Parse<()> {
        self.links += 1;
        if self.links > LINKS { Err(Confused) } else { Ok(()) }
    }

    /// Skips a balanced group that starts at the current opening bracket.
    fn skip_balanced(&mut self) {
        let mut depth = 0u32;
        while self.peek().kind != TokenKind::Eof {
            let t = self.next();
            match t.kind {
                TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace) => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
