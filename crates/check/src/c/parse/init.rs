//! Initialisers, and the array lengths that follow from them.

use super::{Parse, Parser};
use crate::c::ast::{Designator, ExprKind, Init};
use crate::c::token::{Punct, TokenKind};
use crate::c::types::{CType, Type};

impl Parser<'_> {
    /// Gives an array its length from its initialiser.
    pub(super) fn complete_array(&mut self, ty: CType, init: &Init) -> CType {
        let Type::Array(of, None) = *self.scopes.types.get(ty) else { return ty };
        let length = match init {
            Init::Expr(e) => match &e.kind {
                ExprKind::Str(bytes, _) => bytes.len() as u64 + 1,
                _ => return ty,
            },
            Init::List(items) => {
                if let [(_, Init::Expr(e))] = items.as_slice()
                    && let ExprKind::Str(bytes, _) = &e.kind
                    && self.scopes.types.size(of) == Some(1)
                {
                    bytes.len() as u64 + 1
                } else {
                    self.list_length(of, items)
                }
            }
        };
        self.scopes.types.make(Type::Array(of, Some(length))).qualified_like(ty)
    }

    /// The highest index that a list reaches. Without inner braces each scalar of an aggregate
    /// takes one item.
    fn list_length(&self, of: CType, items: &[(Vec<Designator>, Init)]) -> u64 {
        let per_element = self.scalars_in(of).max(1);
        let (mut at, mut most, mut loose) = (0u64, 0u64, 0u64);
        for (designators, init) in items {
            match designators.first() {
                Some(Designator::Index(i)) => (at, loose) = (*i, 0),
                Some(Designator::Range(_, hi)) => (at, loose) = (*hi, 0),
                _ => {}
            }
            let whole = matches!(init, Init::List(_)) || per_element == 1 || !designators.is_empty();
            if whole || self.is_aggregate_value(init) {
                at += 1;
            } else {
                loose += 1;
                if loose == per_element {
                    (at, loose) = (at + 1, 0);
                }
            }
            most = most.max(at + u64::from(loose > 0));
        }
        most.min(1 << 32)
    }

    fn is_aggregate_value(&self, init: &Init) -> bool {
        match init {
            Init::Expr(e) => matches!(e.kind, ExprKind::Compound(..)),
            Init::List(_) => true,
        }
    }

    fn scalars_in(&self, ty: CType) -> u64 {
        match self.scopes.types.get(ty) {
            Type::Array(of, n) => self.scalars_in(*of).saturating_mul(n.unwrap_or(1)),
            Type::Record(r) => {
                let r = &self.scopes.types.records[*r as usize];
                let each = r.members.iter().map(|m| self.scalars_in(m.ty));
                if r.union { each.take(1).sum() } else { each.sum() }
            }
            _ => 1,
        }
    }

    pub(super) fn initialiser(&mut self) -> Parse<Init> {
        self.links = 0;
        if !self.eat(Punct::LBrace) {
            return Ok(Init::Expr(self.assignment()?));
        }
        let mut items = Vec::new();
        while !self.is(Punct::RBrace) {
            let designators = self.designators()?;
            items.push((designators, self.deeper(Self::initialiser)?));
            if self.eat(Punct::Comma) || self.is(Punct::RBrace) {
                continue;
            }
            // An undefined macro may represent an item and the comma after it.
            let goes_on = self.is(Punct::LBrace) || self.is(Punct::Dot) || self.starts_item();
            if !goes_on {
                break;
            }
            self.error();
        }
        self.expect(Punct::RBrace)?;
        Ok(Init::List(items))
    }

    /// Whether a token begins a value and cannot continue the previous one.
    fn starts_item(&self) -> bool {
        matches!(self.peek().kind, TokenKind::Ident | TokenKind::Number | TokenKind::Str | TokenKind::Char)
    }

    fn designators(&mut self) -> Parse<Vec<Designator>> {
        let mut out = Vec::new();
        // The old GNU form `name: value`.
        if self.is_plain_ident(&self.peek()) && self.ahead(1).is(Punct::Colon) {
            out.push(Designator::Member(self.ident()?.0));
            self.at += 1;
            return Ok(out);
        }
        loop {
            if self.eat(Punct::Dot) {
                out.push(Designator::Member(self.ident()?.0));
            } else if self.is(Punct::LBracket) {
                self.at += 1;
                let e = self.assignment()?;
                let lo = self.constant(&e).unwrap_or(0).max(0) as u64;
                if self.eat(Punct::Ellipsis) {
                    let e = self.assignment()?;
                    let hi = self.constant(&e).unwrap_or(0).max(0) as u64;
                    out.push(Designator::Range(lo, hi));
                } else {
                    out.push(Designator::Index(lo));
                }
                self.expect(Punct::RBracket)?;
            } else {
                break;
            }
        }
        if !out.is_empty() {
            self.eat(Punct::Eq);
        }
        Ok(out)
    }
}
