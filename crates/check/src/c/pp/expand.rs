//! Macro expansion.

use std::rc::Rc;

use super::{Macro, Preprocessor, Stream};
use crate::c::lex::lex;
use crate::c::token::{Punct, Sym, Token, TokenKind};
use crate::ir::Pos;

/// Deeper expansions are given up.
const DEPTH: usize = 400;
/// The maximum nesting of macro calls in arguments. Deeper calls stay unexpanded.
const ARGUMENT_DEPTH: usize = 64;

impl Preprocessor<'_> {
    /// Replaces a name by its expansion, as a new stream. False if it is not expanded.
    pub(super) fn expand(&mut self, token: Token) -> bool {
        if token.painted {
            return false;
        }
        if let Some(special) = self.special(token) {
            self.push_expansion(vec![special], None);
            return true;
        }
        if token.sym == self.names.pragma {
            return self.skip_pragma_operator();
        }
        let Some(definition) = self.state.macros.get(&token.sym).cloned() else { return false };
        if self.streams.iter().any(|s| s.of == Some(token.sym)) {
            self.push_expansion(vec![Token { painted: true, ..token }], None);
            return true;
        }
        if self.streams.len() > DEPTH {
            self.stop(format!("macro `{}` nests deeper than {DEPTH}", self.name(&token)));
            return true;
        }
        let body = match &definition.params {
            None => self.paste(&definition.body.clone(), token),
            Some(_) => {
                let Some(arguments) = self.arguments(&definition) else { return false };
                self.substitute(&definition, &arguments, token)
            }
        };
        self.push_expansion(body, Some(token.sym));
        true
    }

    fn push_expansion(&mut self, tokens: Vec<Token>, of: Option<Sym>) {
        self.expanded += tokens.len() + 1;
        if self.expanded > self.limits.expansions {
            let limit = self.limits.expansions;
            self.stop(format!("macros expand to more than {limit} tokens"));
            return;
        }
        let conditionals = self.conditionals.len();
        self.streams.push(Stream { tokens: tokens.into(), at: 0, of, file: None, conditionals });
    }

    fn special(&mut self, token: Token) -> Option<Token> {
        if token.sym == self.names.line {
            return Some(self.make(TokenKind::Number, &token.pos.line.to_string(), token.pos));
        }
        if token.sym == self.names.file {
            let path =
                self.files.get(usize::from(token.pos.file)).map(|f| f.path.clone()).unwrap_or_default();
            return Some(self.make(TokenKind::Str, &format!("\"{path}\""), token.pos));
        }
        if token.sym == self.names.counter {
            return Some(self.make(TokenKind::Number, &self.expanded.to_string(), token.pos));
        }
        None
    }

    fn skip_pragma_operator(&mut self) -> bool {
        if !self.peek_is(Punct::LParen) {
            return false;
        }
        let mut depth = 0;
        while let Some(t) = self.raw() {
            depth += i32::from(t.is(Punct::LParen)) - i32::from(t.is(Punct::RParen));
            if depth == 0 {
                break;
            }
        }
        true
    }

    /// Whether the next token, from any stream, is this one. False if a directive is in between.
    fn peek_is(&self, p: Punct) -> bool {
        for s in self.streams.iter().rev() {
            if let Some(t) = s.tokens.get(s.at) {
                return t.is(p);
            }
        }
        false
    }

    /// The unexpanded arguments of a call; `None` if no call follows.
    fn arguments(&mut self, m: &Macro) -> Option<Vec<Vec<Token>>> {
        if !self.peek_is(Punct::LParen) {
            return None;
        }
        self.raw();
        let wanted = m.params.as_ref().map_or(0, Vec::len);
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        let mut collected = 0;
        while let Some(t) = self.raw() {
            if t.bol && t.is(Punct::Hash) && self.streams.last().is_some_and(|s| s.file.is_some()) {
                // Directives among arguments: conditionals are common, and dropping the line is
                // close enough.
                self.rest_of_line();
                continue;
            }
            collected += 1;
            if collected > self.limits.tokens {
                break;
            }
            match t.kind {
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) if depth == 0 => break,
                TokenKind::Punct(Punct::RParen) => depth -= 1,
                TokenKind::Punct(Punct::Comma) if depth == 0 => {
                    let last_takes_all = m.variadic && arguments.len() == wanted;
                    if !last_takes_all {
                        arguments.push(Vec::new());
                        continue;
                    }
                }
                _ => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push(Token { bol: false, ..t });
            }
        }
        arguments.resize(wanted.max(arguments.len()), Vec::new());
        Some(arguments)
    }

    fn substitute(&mut self, m: &Macro, arguments: &[Vec<Token>], at: Token) -> Vec<Token> {
        let params = m.params.clone().unwrap_or_default();
        let body = m.body.clone();
        let mut expanded: Vec<Option<Rc<[Token]>>> = vec![None; arguments.len()];
        let mut out: Vec<Token> = Vec::new();
        let mut i = 0;
        while i < body.len() {
            let t = body[i];
            let param = params.iter().position(|p| t.kind == TokenKind::Ident && *p == t.sym);
            let after_paste = i > 0 && body[i - 1].is(Punct::Paste);
            let before_paste = body.get(i + 1).is_some_and(|n| n.is(Punct::Paste));
            if t.is(Punct::Hash)
                && let Some(n) = body.get(i + 1).and_then(|n| params.iter().position(|p| *p == n.sym))
            {
                let text = self.stringify(arguments.get(n).map_or(&[], Vec::as_slice));
                out.push(self.make(TokenKind::Str, &text, at.pos));
                i += 2;
                continue;
            }
            if t.sym == self.names.va_opt && body.get(i + 1).is_some_and(|n| n.is(Punct::LParen)) {
                let close = matching(&body, i + 1);
                if arguments.last().is_some_and(|a| !a.is_empty()) {
                    out.extend(
                        body[i + 2..close.min(body.len())].iter().map(|b| Token { pos: at.pos, ..*b }),
                    );
                }
                i = close + 1;
                continue;
            }
            match param {
                Some(n) => {
                    let raw = arguments.get(n).map_or(&[][..], Vec::as_slice);
                    if after_paste || before_paste {
                        // An empty `__VA_ARGS__` in `, ## __VA_ARGS__` removes the comma.
                        if raw.is_empty() && after_paste {
                            drop_pasted_comma(&mut out);
                        }
                        push_argument(&mut out, raw, at.pos, t.space, raw.is_empty());
                    } else {
                        if expanded[n].is_none() {
                            expanded[n] = Some(self.expand_all(raw).into());
                        }
                        let e = expanded[n].clone().unwrap_or_else(|| Rc::from([]));
                        push_argument(&mut out, &e, at.pos, t.space, false);
                    }
                }
                None => out.push(Token { pos: at.pos, bol: false, ..t }),
            }
            i += 1;
        }
        self.paste(&out, at)
    }

    /// Performs `##`, and gives all tokens the position of the macro's use.
    fn paste(&mut self, body: &[Token], at: Token) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::with_capacity(body.len());
        let mut i = 0;
        while i < body.len() {
            let t = Token { pos: at.pos, bol: false, ..body[i] };
            if t.is(Punct::Paste) && !out.is_empty() && i + 1 < body.len() {
                let left = out.pop().map(|l| self.name(&l).to_string()).unwrap_or_default();
                let text = left + self.name(&body[i + 1]);
                let made = lex(text.as_bytes(), at.pos.file, &mut self.state.interner);
                out.extend(made.into_iter().map(|m| Token { pos: at.pos, bol: false, ..m }));
                i += 2;
                continue;
            }
            if !t.is(Punct::Paste) && t.kind != TokenKind::Other {
                out.push(t);
            }
            i += 1;
        }
        out
    }

    fn stringify(&self, tokens: &[Token]) -> String {
        let mut text = String::from("\"");
        for (i, t) in tokens.iter().enumerate() {
            if i > 0 && t.space {
                text.push(' ');
            }
            for c in self.name(t).chars() {
                if matches!(t.kind, TokenKind::Str | TokenKind::Char) && matches!(c, '"' | '\\') {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        text.push('"');
        text
    }

    /// Expands a list of tokens completely, independently of everything else.
    pub(super) fn expand_all(&mut self, tokens: &[Token]) -> Vec<Token> {
        if !tokens.iter().any(|t| t.kind == TokenKind::Ident) || self.argument_depth >= ARGUMENT_DEPTH {
            return tokens.to_vec();
        }
        self.argument_depth += 1;
        // Names being expanded outside stay painted inside: keep their streams, but hide their
        // tokens.
        let outer = std::mem::take(&mut self.streams);
        let names: Vec<Stream> = outer
            .iter()
            .filter(|s| s.of.is_some())
            .map(|s| Stream {
                tokens: Rc::from([]),
                at: 0,
                of: s.of,
                file: None,
                conditionals: s.conditionals,
            })
            .collect();
        let guard = names.len();
        self.streams = names;
        let conditionals = self.conditionals.len();
        // Streams without tokens pop as soon as they are reached, so the argument goes on top of
        // them.
        self.streams.push(Stream { tokens: tokens.into(), at: 0, of: None, file: None, conditionals });
        let mut out = Vec::new();
        while self.streams.len() > guard {
            let exhausted = self.streams.last().is_some_and(|s| s.at >= s.tokens.len());
            if exhausted {
                self.streams.pop();
                continue;
            }
            let Some(t) = self.raw() else { break };
            if t.kind == TokenKind::Ident && self.expand(t) {
                continue;
            }
            out.push(t);
        }
        self.argument_depth -= 1;
        if self.stopped {
            self.streams.clear();
        } else {
            self.streams = outer;
        }
        out
    }
}

fn matching(body: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (i, t) in body.iter().enumerate().skip(open) {
        depth += i32::from(t.is(Punct::LParen)) - i32::from(t.is(Punct::RParen));
        if depth == 0 {
            return i;
        }
    }
    body.len()
}

fn drop_pasted_comma(out: &mut Vec<Token>) {
    let n = out.len();
    if n >= 2 && out[n - 1].is(Punct::Paste) && out[n - 2].is(Punct::Comma) {
        out.truncate(n - 2);
    }
}

/// Pushes an argument. An empty one beside `##` leaves a place marker, which
/// [`Preprocessor::paste`] removes again.
fn push_argument(out: &mut Vec<Token>, tokens: &[Token], pos: Pos, space: bool, marker: bool) {
    if marker && out.last().is_some_and(|t| t.is(Punct::Paste)) {
        out.pop();
        return;
    }
    for (i, t) in tokens.iter().enumerate() {
        out.push(Token { pos, bol: false, space: if i == 0 { space } else { t.space }, ..*t });
    }
}
