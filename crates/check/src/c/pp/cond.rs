//! The arithmetic of `#if`.

use super::Preprocessor;
use crate::c::token::{Punct, Sym, Token, TokenKind};

impl Preprocessor<'_> {
    /// Whether the condition holds. Nonsense does not.
    pub(super) fn evaluate(&mut self, line: &[Token]) -> bool {
        let replaced = self.replace_defined(line);
        let expanded = self.expand_all(&replaced);
        let mut terms = Terms { pp: self, tokens: &expanded, at: 0, depth: 0, unknown: None };
        terms.conditional() != 0
    }

    /// Whether a header was not found that the checker has no declarations for.
    fn lacks_header(&self) -> bool {
        !self.out.missing.is_empty()
    }

    /// Replaces `defined X`, `defined(X)` and `__has_include(…)` by numbers before expansion.
    fn replace_defined(&mut self, line: &[Token]) -> Vec<Token> {
        let mut out = Vec::with_capacity(line.len());
        let mut i = 0;
        while i < line.len() {
            let t = line[i];
            let word = self.name(&t).to_string();
            if t.sym == self.names.defined {
                let open = line.get(i + 1).is_some_and(|n| n.is(Punct::LParen));
                let name = line.get(i + 1 + usize::from(open));
                let yes = name.is_some_and(|n| self.is_defined(n.sym));
                out.push(self.make(TokenKind::Number, if yes { "1" } else { "0" }, t.pos));
                i += if open { 4 } else { 2 };
            } else if word.starts_with("__has_") && line.get(i + 1).is_some_and(|n| n.is(Punct::LParen)) {
                // The models replace the headers and attributes that matter.
                let yes = t.sym == self.names.has_include;
                out.push(self.make(TokenKind::Number, if yes { "1" } else { "0" }, t.pos));
                let close = line[i..].iter().position(|n| n.is(Punct::RParen));
                i = close.map_or(line.len(), |c| i + c + 1);
            } else {
                out.push(t);
                i += 1;
            }
        }
        out
    }
}

struct Terms<'a, 'b> {
    pp: &'a Preprocessor<'b>,
    tokens: &'a [Token],
    at: usize,
    depth: u32,
    /// The name that the last operand was, if nothing defines it.
    unknown: Option<Sym>,
}

/// Deeper parentheses than this are nonsense.
const DEPTH: u32 = 200;

impl Terms<'_, '_> {
    fn eat(&mut self, p: Punct) -> bool {
        let yes = self.tokens.get(self.at).is_some_and(|t| t.is(p));
        self.at += usize::from(yes);
        yes
    }

    fn conditional(&mut self) -> i64 {
        let condition = self.binary(0);
        if !self.eat(Punct::Question) {
            return condition;
        }
        let yes = self.deeper(Self::conditional);
        self.eat(Punct::Colon);
        let no = self.deeper(Self::conditional);
        if condition != 0 { yes } else { no }
    }

    fn deeper(&mut self, part: impl FnOnce(&mut Self) -> i64) -> i64 {
        self.depth += 1;
        if self.depth > DEPTH {
            self.at = self.tokens.len();
            return 0;
        }
        let value = part(self);
        self.depth -= 1;
        value
    }

    fn binary(&mut self, least: u8) -> i64 {
        let mut left = self.unary();
        while let Some((op, strength)) = self.tokens.get(self.at).and_then(operator) {
            if strength < least {
                break;
            }
            self.at += 1;
            let before = self.unknown.take();
            let right = self.deeper(|t| t.binary(strength + 1));
            left = match (before, self.unknown.take()) {
                // `ARCH == ARCH_SPARC`, and the header that defines both was not found: they are
                // not equal for being both unknown.
                (Some(a), Some(b))
                    if matches!(op, Punct::EqEq | Punct::Ne) && a != b && self.pp.lacks_header() =>
                {
                    i64::from(op == Punct::Ne)
                }
                _ => apply(op, left, right),
            };
        }
        left
    }

    fn unary(&mut self) -> i64 {
        self.deeper(Self::primary)
    }

    /// An operand whose value is changed, so that it no longer stands for a name.
    fn known_unary(&mut self) -> i64 {
        let value = self.unary();
        self.unknown = None;
        value
    }

    fn primary(&mut self) -> i64 {
        let Some(t) = self.tokens.get(self.at).copied() else { return 0 };
        self.at += 1;
        self.unknown = None;
        match t.kind {
            TokenKind::Punct(Punct::Not) => i64::from(self.known_unary() == 0),
            TokenKind::Punct(Punct::Minus) => self.known_unary().wrapping_neg(),
            TokenKind::Punct(Punct::Plus) => self.unary(),
            TokenKind::Punct(Punct::Tilde) => !self.known_unary(),
            TokenKind::Punct(Punct::LParen) => {
                let v = self.conditional();
                self.eat(Punct::RParen);
                v
            }
            TokenKind::Number => crate::c::literal::integer(self.pp.name(&t)).map_or(0, |n| n.value as i64),
            TokenKind::Char => crate::c::literal::character(self.pp.name(&t)),
            TokenKind::Ident => {
                // An unknown function-like name: skip its arguments with it.
                if self.eat(Punct::LParen) {
                    self.conditional();
                    while self.eat(Punct::Comma) {
                        self.conditional();
                    }
                    self.eat(Punct::RParen);
                    self.unknown = None;
                } else if !matches!(self.pp.name(&t), "true" | "false") {
                    self.unknown = Some(t.sym);
                }
                0
            }
            _ => 0,
        }
    }
}

fn operator(t: &Token) -> Option<(Punct, u8)> {
    let TokenKind::Punct(p) = t.kind else { return None };
    let strength = match p {
        Punct::OrOr => 1,
        Punct::AndAnd => 2,
        Punct::Or => 3,
        Punct::Caret => 4,
        Punct::And => 5,
        Punct::EqEq | Punct::Ne => 6,
        Punct::Lt | Punct::Gt | Punct::Le | Punct::Ge => 7,
        Punct::Shl | Punct::Shr => 8,
        Punct::Plus | Punct::Minus => 9,
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        _ => return None,
    };
    Some((p, strength))
}

fn apply(op: Punct, a: i64, b: i64) -> i64 {
    match op {
        Punct::OrOr => i64::from(a != 0 || b != 0),
        Punct::AndAnd => i64::from(a != 0 && b != 0),
        Punct::Or => a | b,
        Punct::Caret => a ^ b,
        Punct::And => a & b,
        Punct::EqEq => i64::from(a == b),
        Punct::Ne => i64::from(a != b),
        Punct::Lt => i64::from(a < b),
        Punct::Gt => i64::from(a > b),
        Punct::Le => i64::from(a <= b),
        Punct::Ge => i64::from(a >= b),
        Punct::Shl => a.wrapping_shl(b as u32),
        Punct::Shr => a.wrapping_shr(b as u32),
        Punct::Plus => a.wrapping_add(b),
        Punct::Minus => a.wrapping_sub(b),
        Punct::Star => a.wrapping_mul(b),
        Punct::Slash => a.checked_div(b).unwrap_or(0),
        Punct::Percent => a.checked_rem(b).unwrap_or(0),
        _ => 0,
    }
}
