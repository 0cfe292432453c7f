//! Recovery after an error.

use super::{Parser, Word};
use crate::c::token::{Punct, Token, TokenKind};

/// The maximum length of a function's head, in tokens.
const HEAD: usize = 120;

impl Parser<'_> {
    /// Skips a declaration at file level: to just after its `;` or body, or to the start of a new
    /// one.
    pub(super) fn skip_external(&mut self, start: usize) {
        if self.at == start {
            self.at += 1;
        }
        while self.peek().kind != TokenKind::Eof {
            if self.at > start && self.starts_function(self.at) {
                return;
            }
            match self.peek().kind {
                TokenKind::Punct(Punct::Semi) => {
                    self.at += 1;
                    return;
                }
                TokenKind::Punct(Punct::LBrace) => {
                    self.skip_block();
                    if !self.is(Punct::Semi) && !self.is_plain_ident(&self.peek()) {
                        return;
                    }
                    if self.peek().bol {
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// Skips a braced block, but not past the start of the next function.
    fn skip_block(&mut self) {
        let mut depth = 0u32;
        while self.peek().kind != TokenKind::Eof {
            if depth > 0 && self.starts_function(self.at) {
                return;
            }
            match self.next().kind {
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Skips a statement: to just after its `;`, or to the brace that ends its block.
    pub(super) fn skip_statement(&mut self, start: usize) {
        let mut depth = 0u32;
        if self.is_deeper_than(start) {
            // The error lies within braces of the statement itself, as in an initialiser: skip to
            // their end.
            self.at = start;
        }
        if self.at == start && !self.is(Punct::RBrace) {
            self.at += 1;
        }
        while self.peek().kind != TokenKind::Eof {
            if self.starts_function(self.at) {
                return;
            }
            let t = self.peek();
            // A statement keyword at the start of a line, outside all brackets, begins the next
            // statement.
            if depth == 0 && t.bol && self.at > start && self.starts_statement(&t) {
                return;
            }
            match t.kind {
                TokenKind::Punct(Punct::LBrace) => {
                    let is_value = self.at > 0 && self.tokens[self.at - 1].is(Punct::Eq);
                    self.skip_block();
                    if depth == 0 && !is_value {
                        return;
                    }
                    continue;
                }
                TokenKind::Punct(Punct::LParen | Punct::LBracket) => depth += 1,
                TokenKind::Punct(Punct::RParen | Punct::RBracket) => depth = depth.saturating_sub(1),
                TokenKind::Punct(Punct::RBrace) => return,
                // A `;` ends the statement even in open brackets, which were never closed, except
                // in a `for`.
                TokenKind::Punct(Punct::Semi) if depth == 0 || self.ahead(1).bol => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Whether the current token lies within braces opened since `start`.
    fn is_deeper_than(&self, start: usize) -> bool {
        let mut depth = 0i32;
        // A statement may be missing at the end of the text, and then begins behind the last token.
        for t in self.tokens.get(start..self.at.min(self.tokens.len())).unwrap_or_default() {
            match t.kind {
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) => depth -= 1,
                // In a block of statements, each one recovers by itself.
                TokenKind::Punct(Punct::Semi) => return false,
                _ => {}
            }
        }
        depth > 0
    }

    fn starts_statement(&self, t: &Token) -> bool {
        use Word::{Break, Case, Continue, Default, Do, For, Goto, If, Return, Switch, While};
        let control = [Break, Case, Continue, Default, Do, For, Goto, If, Return, Switch, While];
        self.word_of(t).is_some_and(|w| control.contains(&w))
    }

    /// True if the token at `i` is in the first column and a function's head with its `{` follows.
    /// Nothing else looks like that inside a body.
    pub(super) fn starts_function(&self, i: usize) -> bool {
        let Some(first) = self.tokens.get(i) else { return false };
        if !(first.bol && first.pos.col == 1 && first.kind == TokenKind::Ident)
            || self.starts_statement(first)
        {
            return false;
        }
        if self.word_of(first).is_some_and(|w| matches!(w, Word::Else | Word::Sizeof)) {
            return false;
        }
        let mut saw_list = false;
        let mut names = 0;
        let mut j = i;
        while let Some(t) = self.tokens.get(j).filter(|_| j < i + HEAD) {
            match t.kind {
                TokenKind::Ident => {
                    names += 1;
                    // Words between the list and the body are attributes. A name there is an
                    // old-style parameter.
                    if saw_list && self.word_of(t) != Some(Word::Attribute) {
                        return false;
                    }
                }
                TokenKind::Punct(Punct::Star) => {}
                TokenKind::Punct(Punct::LParen) if names >= 2 => {
                    j = self.closing(j);
                    saw_list = true;
                }
                TokenKind::Punct(Punct::LBrace) => return saw_list,
                _ => return false,
            }
            j += 1;
        }
        false
    }

    /// The index of the bracket that closes the one at `open`, or of the last token examined.
    pub(super) fn closing(&self, open: usize) -> usize {
        let mut depth = 0i32;
        for (j, t) in self.tokens.iter().enumerate().skip(open).take(4 * HEAD) {
            match t.kind {
                TokenKind::Punct(Punct::LParen | Punct::LBracket) => depth += 1,
                TokenKind::Punct(Punct::RParen | Punct::RBracket) => depth -= 1,
                TokenKind::Punct(Punct::LBrace | Punct::RBrace | Punct::Semi) => return j.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return j;
            }
        }
        open + 4 * HEAD
    }
}
