//! The built-in preprocessor, for text that no compiler has preprocessed.
//!
//! It follows the standard's phases on tokens: directives, macro expansion with the usual painting
//! of names that are being expanded, `#` and `##`, conditionals. It differs where a checker must:
//!
//! 1. A missing include is skipped. The declarations of the common headers are built in
//!    (`c/models`), the rest is unknown.
//! 2. An expanded token has the position of the macro's use, because the reader looks there.
//! 3. `#pragma omp` survives as tokens for the parser; all other pragmas vanish.
//! 4. `# 12 "file.c"` (the output of a real preprocessor) sets the position, so preprocessed text
//!    takes the same path.
//! 5. [`PreprocessorLimits`] bounds everything: include cycles, macros that double each time,
//!    endless text.

mod cond;
mod configuration;
mod directive;
mod expand;

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::lex::lex;
use super::token::{Interner, Punct, Sym, Token, TokenKind};
use crate::ir::{Pos, SourceFile};

/// Where `#include` finds its files. The checker itself opens none.
pub trait Includes {
    /// The path and text of the file that `name` refers to when included from `from`; `angled` for
    /// `<name>`.
    fn find(&self, from: &str, name: &str, angled: bool) -> Option<(Arc<str>, Arc<[u8]>)>;
}

/// No file is ever found.
pub struct NoIncludes;

impl Includes for NoIncludes {
    fn find(&self, _: &str, _: &str, _: bool) -> Option<(Arc<str>, Arc<[u8]>)> {
        None
    }
}

#[derive(Debug, Clone, Copy)]
pub struct PreprocessorLimits {
    /// The maximum number of tokens passed to the parser from one file and all its includes.
    pub tokens: usize,
    /// The maximum number of bytes read.
    pub bytes: usize,
    pub include_depth: usize,
    /// The maximum number of tokens produced by macro expansion.
    pub expansions: usize,
}

impl Default for PreprocessorLimits {
    fn default() -> Self {
        Self { tokens: 8_000_000, bytes: 32 << 20, include_depth: 100, expansions: 16_000_000 }
    }
}

#[derive(Debug, Clone)]
pub struct Macro {
    /// `None`: an object-like macro.
    pub params: Option<Vec<Sym>>,
    pub variadic: bool,
    pub body: Rc<[Token]>,
}

/// Macro definitions and spellings that carry over from one text to the next.
#[derive(Debug, Clone, Default)]
pub struct MacroState {
    /// A build has said what it defines.
    pub from_build: bool,
    pub interner: Interner,
    pub macros: FxHashMap<Sym, Rc<Macro>>,
}

/// The output, and what the reader should know about it.
#[derive(Debug)]
pub struct Preprocessed {
    pub tokens: Vec<Token>,
    pub files: Vec<SourceFile>,
    /// Sentences for limits that were reached.
    pub cut_short: Vec<String>,
    /// Names of includes that were not found.
    pub missing: Vec<Arc<str>>,
}

/// A source of tokens: a file, or the body of a macro.
pub(super) struct Stream {
    tokens: Rc<[Token]>,
    at: usize,
    /// The macro whose expansion this is.
    of: Option<Sym>,
    /// A file's number, for its includes.
    file: Option<u16>,
    /// Conditionals open when the file began.
    conditionals: usize,
}

/// One `#if` … `#endif`.
pub(super) struct Conditional {
    active: bool,
    /// Some branch was taken.
    taken: bool,
    /// The whole conditional lies in skipped text.
    dead: bool,
}

pub struct Preprocessor<'a> {
    pub state: MacroState,
    includes: &'a dyn Includes,
    limits: PreprocessorLimits,
    files: Vec<SourceFile>,
    streams: Vec<Stream>,
    conditionals: Vec<Conditional>,
    /// Files that said `#pragma once`.
    once: Vec<Arc<str>>,
    /// A header named after a configuration was found.
    is_configured: bool,
    /// One of the program's own was not.
    lacks_configuration: bool,
    bytes: usize,
    expanded: usize,
    /// The nesting depth of macro calls in arguments.
    argument_depth: usize,
    /// From `# 12 "file.c"`: the real file, and the offset of line numbers.
    renamed: FxHashMap<u16, (u16, i64)>,
    stopped: bool,
    out: Preprocessed,
    names: Names,
}

/// Frequently compared spellings.
#[derive(Clone, Copy)]
pub(super) struct Names {
    defined: Sym,
    va_args: Sym,
    va_opt: Sym,
    line: Sym,
    file: Sym,
    counter: Sym,
    has_include: Sym,
    pragma: Sym,
}

impl<'a> Preprocessor<'a> {
    pub fn new(mut state: MacroState, includes: &'a dyn Includes, limits: PreprocessorLimits) -> Self {
        let i = &mut state.interner;
        let names = Names {
            defined: i.intern("defined"),
            va_args: i.intern("__VA_ARGS__"),
            va_opt: i.intern("__VA_OPT__"),
            line: i.intern("__LINE__"),
            file: i.intern("__FILE__"),
            counter: i.intern("__COUNTER__"),
            has_include: i.intern("__has_include"),
            pragma: i.intern("_Pragma"),
        };
        Self {
            state,
            includes,
            limits,
            files: Vec::new(),
            streams: Vec::new(),
            conditionals: Vec::new(),
            once: Vec::new(),
            is_configured: false,
            lacks_configuration: false,
            bytes: 0,
            expanded: 0,
            argument_depth: 0,
            renamed: FxHashMap::default(),
            stopped: false,
            out: Preprocessed {
                tokens: Vec::new(),
                files: Vec::new(),
                cut_short: Vec::new(),
                missing: Vec::new(),
            },
            names,
        }
    }

    /// Preprocesses one text. `builtin` marks raddle's own.
    pub fn run(mut self, path: &str, text: &[u8], builtin: bool) -> (Preprocessed, MacroState) {
        self.files.push(SourceFile { path: path.into(), builtin });
        self.enter_file(text, 0);
        while let Some(token) = self.next() {
            if self.out.tokens.len() >= self.limits.tokens {
                self.stop(format!("more than {} tokens after preprocessing", self.limits.tokens));
                break;
            }
            self.out.tokens.push(token);
        }
        self.out.files = std::mem::take(&mut self.files);
        (self.out, self.state)
    }

    fn stop(&mut self, why: String) {
        if !self.stopped {
            self.out.cut_short.push(why);
        }
        self.stopped = true;
        self.streams.clear();
    }

    fn enter_file(&mut self, text: &[u8], file: u16) {
        self.bytes += text.len();
        if self.bytes > self.limits.bytes {
            self.stop(format!("more than {} MB of source with its includes", self.limits.bytes >> 20));
            return;
        }
        let tokens = lex(text, file, &mut self.state.interner).into();
        let conditionals = self.conditionals.len();
        self.streams.push(Stream { tokens, at: 0, of: None, file: Some(file), conditionals });
    }

    /// The next token of the innermost stream, unprocessed.
    fn raw(&mut self) -> Option<Token> {
        while let Some(top) = self.streams.last_mut() {
            if let Some(token) = top.tokens.get(top.at) {
                top.at += 1;
                return Some(*token);
            }
            let conditionals = top.conditionals;
            if top.file.is_some() {
                self.conditionals.truncate(conditionals);
            }
            self.streams.pop();
        }
        None
    }

    /// The next token of the program.
    fn next(&mut self) -> Option<Token> {
        loop {
            let token = self.raw()?;
            let in_file = self.streams.last().is_some_and(|s| s.file.is_some());
            if in_file && token.bol && token.is(Punct::Hash) {
                if let Some(pragma) = self.directive(token) {
                    return Some(pragma);
                }
                continue;
            }
            if in_file && self.conditionals.last().is_some_and(|c| !c.active) {
                self.skip_group();
                continue;
            }
            let token = if in_file { self.place(token) } else { token };
            if token.kind == TokenKind::Ident && self.expand(token) {
                continue;
            }
            return Some(token);
        }
    }

    /// Applies `# 12 "file.c"`.
    fn place(&self, mut token: Token) -> Token {
        if !self.renamed.is_empty()
            && let Some((file, delta)) = self.renamed.get(&token.pos.file)
        {
            token.pos.file = *file;
            token.pos.line = (i64::from(token.pos.line) + delta).clamp(1, i64::from(u32::MAX)) as u32;
        }
        token
    }

    /// Skips the rest of a skipped group without looking at it.
    fn skip_group(&mut self) {
        if let Some(top) = self.streams.last_mut() {
            while top.tokens.get(top.at).is_some_and(|t| !(t.bol && t.is(Punct::Hash))) {
                top.at += 1;
            }
        }
    }

    /// The rest of the directive's line.
    fn rest_of_line(&mut self) -> Vec<Token> {
        let Some(top) = self.streams.last_mut() else { return Vec::new() };
        let start = top.at;
        while top.tokens.get(top.at).is_some_and(|t| !t.bol) {
            top.at += 1;
        }
        top.tokens[start..top.at].to_vec()
    }

    fn name(&self, token: &Token) -> &str {
        self.state.interner.name(token.sym)
    }

    fn make(&mut self, kind: TokenKind, text: &str, pos: Pos) -> Token {
        let sym = self.state.interner.intern(text);
        Token { kind, bol: false, space: true, painted: false, sym, pos }
    }
}

#[cfg(test)]
mod tests;
