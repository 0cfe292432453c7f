//! Directives: `#define`, `#include`, `#if` and company, line markers, pragmas.

use std::rc::Rc;
use std::sync::Arc;

use super::configuration::{names_configuration, shares_folder};
use super::{Conditional, Macro, Preprocessor, Stream};
use crate::c::token::{Punct, Sym, Token, TokenKind};
use crate::ir::SourceFile;

impl Preprocessor<'_> {
    /// Handles the directive after a `#`. Returns the first token of an OpenMP pragma.
    pub(super) fn directive(&mut self, hash: Token) -> Option<Token> {
        let line = self.rest_of_line();
        let (word, rest) = line.split_first()?;
        let skipping = self.conditionals.last().is_some_and(|c| !c.active);
        let name = self.name(word).to_string();
        match (word.kind, name.as_str()) {
            (TokenKind::Ident, "if" | "ifdef" | "ifndef") => self.open(&name, rest, skipping),
            (TokenKind::Ident, "elif" | "elifdef" | "elifndef" | "else") => self.alternative(&name, rest),
            (TokenKind::Ident, "endif") => {
                self.conditionals.pop();
            }
            _ if skipping => {}
            (TokenKind::Ident, "define") => self.define(rest),
            (TokenKind::Ident, "undef") => {
                if let Some(t) = rest.first() {
                    self.state.macros.remove(&t.sym);
                }
            }
            (TokenKind::Ident, "include" | "include_next" | "import") => self.include(rest, hash),
            (TokenKind::Ident, "pragma") => return self.pragma(rest, hash),
            (TokenKind::Ident, "line") => self.line_marker(rest, hash),
            (TokenKind::Number, _) => self.line_marker(&line, hash),
            _ => {}
        }
        None
    }

    fn open(&mut self, word: &str, rest: &[Token], skipping: bool) {
        let active = !skipping
            && (self.condition(word, rest)
                || word == "ifdef" && self.would_be_configured(rest)
                || self.asks_for_configuration(word, rest));
        self.conditionals.push(Conditional { active, taken: active, dead: skipping });
        if self.conditionals.len() > 10_000 {
            self.stop("more than 10,000 nested conditionals".into());
        }
    }

    fn condition(&mut self, word: &str, rest: &[Token]) -> bool {
        let defined = |pp: &Self| rest.first().is_some_and(|t| pp.is_defined(t.sym));
        match word {
            "ifdef" | "elifdef" => defined(self),
            "ifndef" | "elifndef" => !defined(self),
            _ => self.evaluate(rest),
        }
    }

    pub(super) fn is_defined(&self, name: Sym) -> bool {
        let n = &self.names;
        self.state.macros.contains_key(&name) || [n.line, n.file, n.counter, n.has_include].contains(&name)
    }

    fn alternative(&mut self, word: &str, rest: &[Token]) {
        let Some(last) = self.conditionals.last() else { return };
        let open = !last.taken && !last.dead;
        let active = open && (word == "else" || self.condition(word, rest));
        if let Some(last) = self.conditionals.last_mut() {
            last.active = active;
            last.taken |= active;
        }
    }

    fn define(&mut self, line: &[Token]) {
        let Some((name, mut rest)) = line.split_first() else { return };
        if name.kind != TokenKind::Ident {
            return;
        }
        let (mut params, mut variadic) = (None, false);
        if rest.first().is_some_and(|t| t.is(Punct::LParen) && !t.space) {
            let mut list = Vec::new();
            let close = rest.iter().position(|t| t.is(Punct::RParen)).unwrap_or(rest.len());
            for t in &rest[1..close] {
                match t.kind {
                    TokenKind::Ident => list.push(t.sym),
                    TokenKind::Punct(Punct::Ellipsis) => {
                        variadic = true;
                        // `args...` names the rest itself; a bare `...` is `__VA_ARGS__`.
                        let named = rest[1..close]
                            .windows(2)
                            .any(|w| w[0].kind == TokenKind::Ident && w[1].is(Punct::Ellipsis));
                        if !named {
                            list.push(self.names.va_args);
                        }
                    }
                    _ => {}
                }
            }
            params = Some(list);
            rest = rest.get(close + 1..).unwrap_or(&[]);
        }
        let body: Rc<[Token]> = rest.into();
        self.state.macros.insert(name.sym, Rc::new(Macro { params, variadic, body }));
    }

    fn include(&mut self, line: &[Token], hash: Token) {
        let Some((name, angled)) = self.include_name(line) else { return };
        if self.streams.len() > self.limits.include_depth {
            let depth = self.limits.include_depth;
            self.stop(format!("includes nest deeper than {depth}; `{name}` seems to include itself"));
            return;
        }
        let from = self.files.get(usize::from(hash.pos.file)).map(|f| f.path.clone()).unwrap_or_default();
        let found = self.includes.find(&from, &name, angled).filter(|(path, _)| {
            // A file found under another name must not be one that is being read.
            path.ends_with(&name) || !self.is_open(path)
        });
        let is_configuration = names_configuration(&name) && (!angled || shares_folder(&from, &name));
        let Some((path, text)) = found else {
            if is_configuration && !self.is_configured {
                self.configure();
            }
            self.out.missing.push(name.as_str().into());
            return;
        };
        self.is_configured |= is_configuration;
        if self.once.contains(&path) {
            return;
        }
        let file = self.file_number(path);
        self.enter_file(&text, file);
    }

    fn is_open(&self, path: &str) -> bool {
        let files = self.streams.iter().filter_map(|s| self.files.get(usize::from(s.file?)));
        files.into_iter().any(|f| &*f.path == path)
    }

    fn file_number(&mut self, path: Arc<str>) -> u16 {
        if let Some(n) = self.files.iter().position(|f| f.path == path) {
            return n as u16;
        }
        if self.files.len() >= usize::from(u16::MAX) {
            return u16::MAX - 1;
        }
        let builtin = self.files.first().is_some_and(|f| f.builtin);
        self.files.push(SourceFile { path, builtin });
        self.files.len() as u16 - 1
    }

    fn include_name(&mut self, line: &[Token]) -> Option<(String, bool)> {
        let first = line.first()?;
        match first.kind {
            TokenKind::Str => Some((self.name(first).trim_matches('"').to_string(), false)),
            TokenKind::Punct(Punct::Lt) => {
                let end = line.iter().position(|t| t.is(Punct::Gt))?;
                Some((line[1..end].iter().map(|t| self.name(t)).collect(), true))
            }
            TokenKind::Ident => {
                let expanded = self.expand_all(line);
                let first = expanded.first()?;
                let spelled = first.kind == TokenKind::Str || first.is(Punct::Lt);
                if spelled { self.include_name(&expanded) } else { None }
            }
            _ => None,
        }
    }

    fn line_marker(&mut self, line: &[Token], hash: Token) {
        let Some(number) = line.first().and_then(|t| self.name(t).parse::<i64>().ok()) else { return };
        let real = hash.pos.file;
        let file = match line.get(1) {
            Some(t) if t.kind == TokenKind::Str => {
                let path = self.name(t).trim_matches('"').replace("\\\\", "\\");
                // Names of generated parts, such as `<built-in>`, are not files of the user.
                self.file_number(path.into())
            }
            _ => self.renamed.get(&real).map_or(real, |r| r.0),
        };
        self.renamed.insert(real, (file, number - i64::from(hash.pos.line) - 1));
    }

    fn pragma(&mut self, line: &[Token], hash: Token) -> Option<Token> {
        let first = line.first()?;
        match self.name(first) {
            "once" => {
                let path = self.files.get(usize::from(hash.pos.file))?.path.clone();
                self.once.push(path);
                None
            }
            "omp" => {
                let hash = self.place(hash);
                let mut words = self.expand_all(&line[1..]);
                words.push(Token { kind: TokenKind::PragmaEnd, bol: false, pos: hash.pos, ..*first });
                let tokens: Rc<[Token]> = words.into_iter().map(|t| Token { bol: false, ..t }).collect();
                let conditionals = self.conditionals.len();
                self.streams.push(Stream { tokens, at: 0, of: None, file: None, conditionals });
                Some(Token { kind: TokenKind::PragmaOmp, pos: hash.pos, ..*first })
            }
            _ => None,
        }
    }
}
