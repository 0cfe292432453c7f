//! Tokens of C, and the table of their spellings.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ir::Pos;

/// A spelling, by its number in an [`Interner`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(pub u32);

#[derive(Debug, Clone, Default)]
pub struct Interner {
    numbers: FxHashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

impl Interner {
    pub fn intern(&mut self, name: &str) -> Sym {
        if let Some(n) = self.numbers.get(name) {
            return Sym(*n);
        }
        let name: Arc<str> = name.into();
        let n = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, n);
        Sym(n)
    }

    pub fn find(&self, name: &str) -> Option<Sym> {
        self.numbers.get(name).copied().map(Sym)
    }

    pub fn name(&self, sym: Sym) -> &Arc<str> {
        &self.names[sym.0 as usize]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    Ident,
    /// A preprocessing number. The parser computes its value from its spelling.
    Number,
    Char,
    Str,
    Punct(Punct),
    /// `#pragma omp`; its words follow, up to [`TokenKind::PragmaEnd`].
    PragmaOmp,
    PragmaEnd,
    /// A byte that starts no token.
    Other,
    Eof,
}

#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub kind: TokenKind,
    /// First on its line.
    pub bol: bool,
    /// Preceded by white space.
    pub space: bool,
    /// Seen while its macro was being expanded, so it is never expanded again.
    pub painted: bool,
    pub sym: Sym,
    pub pos: Pos,
}

impl Token {
    pub fn is(&self, p: Punct) -> bool {
        self.kind == TokenKind::Punct(p)
    }
}

macro_rules! puncts {
    ($($name:ident $text:literal),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Punct { $($name),* }
        /// Longest first, so that the first match is the right one.
        pub const PUNCTS: &[(&str, Punct)] = &[$(($text, Punct::$name)),*];
    };
}

puncts! {
    ShlEq "<<=", ShrEq ">>=", Ellipsis "...", DigraphPaste "%:%:",
    Arrow "->", Inc "++", Dec "--", Shl "<<", Shr ">>", Le "<=", Ge ">=", EqEq "==", Ne "!=", AndAnd "&&", OrOr "||",
    MulEq "*=", DivEq "/=", RemEq "%=", AddEq "+=", SubEq "-=", AndEq "&=", XorEq "^=", OrEq "|=", Paste "##",
    DiLBracket "<:", DiRBracket ":>", DiLBrace "<%", DiRBrace "%>", DiHash "%:", ColonColon "::",
    LBracket "[", RBracket "]", LParen "(", RParen ")", LBrace "{", RBrace "}", Dot ".", And "&", Star "*", Plus "+",
    Minus "-", Tilde "~", Not "!", Slash "/", Percent "%", Lt "<", Gt ">", Caret "^", Or "|", Question "?", Colon ":",
    Semi ";", Eq "=", Comma ",", Hash "#",
}
