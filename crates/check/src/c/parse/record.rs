//! Structures, unions and enumerations.

use super::declarator::Declared;
use super::{Confused, Meaning, Parse, Parser, Word};
use crate::c::token::{Punct, Sym, TokenKind};
use crate::c::types::{CType, Type, Types};

impl Parser<'_> {
    pub(super) fn record(&mut self) -> Parse<CType> {
        let union = self.word() == Some(Word::Union);
        self.at += 1;
        let mut packed = self.attributes().packed;
        let tag = if self.is_plain_ident(&self.peek()) { Some(self.ident()?.0) } else { None };
        packed |= self.attributes().packed;
        if !self.is(Punct::LBrace) {
            return Ok(self.find_tag(tag, union));
        }
        self.at += 1;
        let ty = match tag {
            Some(tag) => self.own_tag(tag, union),
            None => self.scopes.types.new_record(union).1,
        };
        let Type::Record(n) = *self.scopes.types.get(ty) else { return Err(Confused) };
        let mut members = Vec::new();
        while !self.is(Punct::RBrace) && self.peek().kind != TokenKind::Eof {
            let before = self.at;
            if self.members(&mut members).is_err() {
                self.error();
                if self.starts_function(self.at) {
                    break;
                }
                self.skip_statement(before);
            }
        }
        self.eat(Punct::RBrace);
        packed |= self.attributes().packed;
        self.scopes.types.complete(n, members, packed);
        Ok(ty)
    }

    fn find_tag(&mut self, tag: Option<Sym>, union: bool) -> CType {
        let Some(tag) = tag else { return Types::UNKNOWN };
        if let Some(ty) = self.scopes.tags.iter().rev().find_map(|s| s.get(&tag)) {
            return *ty;
        }
        self.own_tag(tag, union)
    }

    /// The record of this scope with this tag if it still has no members, or a new one.
    fn own_tag(&mut self, tag: Sym, union: bool) -> CType {
        let open = self.scopes.tags.last().and_then(|s| s.get(&tag)).copied();
        if let Some(ty) = open
            && let Type::Record(n) = *self.scopes.types.get(ty)
            && !self.scopes.types.records[n as usize].complete
        {
            self.scopes.types.records[n as usize].union = union;
            return ty;
        }
        let (n, ty) = self.scopes.types.new_record(union);
        self.scopes.types.records[n as usize].tag = Some(tag);
        if let Some(scope) = self.scopes.tags.last_mut() {
            scope.insert(tag, ty);
        }
        ty
    }

    fn members(&mut self, members: &mut Vec<(Option<Sym>, CType, Option<u64>)>) -> Parse<()> {
        if self.eat(Punct::Semi) {
            return Ok(());
        }
        if self.eat_word(Word::StaticAssert) {
            self.skip_balanced();
            return self.expect(Punct::Semi);
        }
        let spec = self.specifiers()?;
        if self.eat(Punct::Semi) {
            if matches!(self.scopes.types.get(spec.ty), Type::Record(_)) {
                members.push((None, spec.ty, None));
            }
            return Ok(());
        }
        loop {
            let d = if self.is(Punct::Colon) {
                Declared { name: None, ty: spec.ty, params: Vec::new() }
            } else {
                self.declarator(spec.ty, false)?
            };
            let mut width = None;
            if self.eat(Punct::Colon) {
                let e = self.assignment()?;
                width = Some(self.constant(&e).unwrap_or(1).clamp(0, 64) as u64);
            }
            self.attributes();
            members.push((d.name.map(|n| n.0), d.ty, width));
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::Semi)
    }

    pub(super) fn enumeration(&mut self) -> Parse<CType> {
        self.at += 1;
        self.attributes();
        if self.is_plain_ident(&self.peek()) {
            self.at += 1;
        }
        self.attributes();
        if !self.eat(Punct::LBrace) {
            return Ok(Types::INT);
        }
        let mut value = 0i64;
        let mut wide = false;
        while !self.is(Punct::RBrace) {
            let (name, _) = self.ident()?;
            self.links = 0;
            self.attributes();
            if self.eat(Punct::Eq) {
                let e = self.assignment()?;
                value = self.constant(&e).unwrap_or(value);
            }
            wide |= i32::try_from(value).is_err() && u32::try_from(value).is_err();
            self.scopes.declare(name, Meaning::Constant(value));
            value = value.wrapping_add(1);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RBrace)?;
        self.attributes();
        Ok(if wide { Types::LONG } else { Types::INT })
    }
}
