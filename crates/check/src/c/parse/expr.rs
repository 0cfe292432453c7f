//! Expressions.

use super::{Confused, Meaning, Parse, Parser, Word};
use crate::c::ast::{Expr, ExprKind};
use crate::c::literal;
use crate::c::token::{Punct, Token, TokenKind};
use crate::c::types::{CType, Types};
use crate::ir::{Bin, Pos};

fn boxed(e: Expr) -> Box<Expr> {
    Box::new(e)
}

fn expr(pos: Pos, kind: ExprKind) -> Expr {
    Expr { pos, kind }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let mut e = self.assignment()?;
        while self.is(Punct::Comma) {
            self.link()?;
            let pos = self.next().pos;
            let right = self.assignment()?;
            e = expr(pos, ExprKind::Comma(boxed(e), boxed(right)));
        }
        Ok(e)
    }

    pub(super) fn assignment(&mut self) -> Parse<Expr> {
        self.deeper(|p| {
            let left = p.conditional()?;
            let Some(op) = assignment_operator(&p.peek()) else { return Ok(left) };
            p.at += 1;
            let right = p.assignment()?;
            // The position of an assignment is its target, because the target is written.
            Ok(expr(left.pos, ExprKind::Assign(op, boxed(left), boxed(right))))
        })
    }

    fn conditional(&mut self) -> Parse<Expr> {
        let condition = self.binary(0)?;
        if !self.is(Punct::Question) {
            return Ok(condition);
        }
        let pos = self.next().pos;
        let yes = if self.is(Punct::Colon) { None } else { Some(boxed(self.expression()?)) };
        self.expect(Punct::Colon)?;
        let no = self.deeper(Self::conditional)?;
        Ok(expr(pos, ExprKind::Conditional(boxed(condition), yes, boxed(no))))
    }

    fn binary(&mut self, least: u8) -> Parse<Expr> {
        let mut left = self.cast()?;
        while let Some((op, strength)) = binary_operator(&self.peek()) {
            if strength < least {
                break;
            }
            self.link()?;
            let pos = self.next().pos;
            let right = self.deeper(|p| p.binary(strength + 1))?;
            let (a, b) = (boxed(left), boxed(right));
            left = expr(
                pos,
                match op {
                    Operator::Bin(op) => ExprKind::Binary(op, a, b),
                    Operator::And => ExprKind::And(a, b),
                    Operator::Or => ExprKind::Or(a, b),
                },
            );
        }
        Ok(left)
    }

    /// True if the parenthesis here contains a type.
    fn is_type_in_parens(&self) -> bool {
        let t = self.ahead(1);
        if self.starts_type(&t) {
            return true;
        }
        if !self.is_plain_ident(&t) || self.scopes.meaning(t.sym).is_some() {
            return false;
        }
        // An undeclared name: `(T *)x` and `(T)x` are casts. `(f)(x)` stays a call, unless it is
        // named like a type.
        let mut n = 2;
        while self.ahead(n).is(Punct::Star) {
            n += 1;
        }
        if !self.ahead(n).is(Punct::RParen) {
            return false;
        }
        let after = self.ahead(n + 1);
        match after.kind {
            TokenKind::Ident => self.word_of(&after).is_none_or(|w| w == Word::Sizeof),
            TokenKind::Number | TokenKind::Str | TokenKind::Char => true,
            TokenKind::Punct(Punct::LParen | Punct::LBrace) => n > 2 || self.text(t.sym).ends_with("_t"),
            TokenKind::Punct(Punct::And | Punct::Star) => n > 2,
            _ => n > 2,
        }
    }

    fn cast(&mut self) -> Parse<Expr> {
        if !(self.is(Punct::LParen) && self.is_type_in_parens()) {
            return self.unary();
        }
        let pos = self.next().pos;
        let ty = self.deeper(Self::type_name)?;
        self.expect(Punct::RParen)?;
        if self.is(Punct::LBrace) {
            let e = self.compound(ty, pos)?;
            return self.postfix(e);
        }
        let e = self.deeper(Self::cast)?;
        Ok(expr(pos, ExprKind::Cast(ty, boxed(e))))
    }

    fn compound(&mut self, ty: CType, pos: Pos) -> Parse<Expr> {
        let init = self.deeper(Self::initialiser)?;
        let ty = self.complete_array(ty, &init);
        Ok(expr(pos, ExprKind::Compound(ty, Box::new(init))))
    }

    fn unary(&mut self) -> Parse<Expr> {
        let t = self.peek();
        let wrap: fn(Box<Expr>) -> ExprKind = match t.kind {
            TokenKind::Punct(Punct::And) => ExprKind::AddressOf,
            TokenKind::Punct(Punct::Star) => ExprKind::Deref,
            TokenKind::Punct(Punct::Minus) => ExprKind::Neg,
            TokenKind::Punct(Punct::Plus) => ExprKind::Plus,
            TokenKind::Punct(Punct::Tilde) => ExprKind::BitNot,
            TokenKind::Punct(Punct::Not) => ExprKind::Not,
            TokenKind::Punct(Punct::Inc) => |e| ExprKind::Step(e, 1, false),
            TokenKind::Punct(Punct::Dec) => |e| ExprKind::Step(e, -1, false),
            TokenKind::Punct(Punct::AndAnd) => {
                self.at += 1;
                let (label, _) = self.ident()?;
                return Ok(expr(t.pos, ExprKind::LabelAddress(label)));
            }
            _ => return self.unary_word(),
        };
        self.at += 1;
        let operand = self.deeper(Self::cast)?;
        // `*p` is reported at the position of `p`, `++x` at that of `x`.
        let pos =
            if matches!(t.kind, TokenKind::Punct(Punct::Inc | Punct::Dec)) { operand.pos } else { t.pos };
        Ok(expr(pos, wrap(boxed(operand))))
    }

    fn unary_word(&mut self) -> Parse<Expr> {
        let pos = self.peek().pos;
        match self.word() {
            Some(Word::Sizeof) => {
                self.at += 1;
                if self.is(Punct::LParen) && self.is_type_in_parens_of_sizeof() {
                    self.at += 1;
                    let ty = self.deeper(Self::type_name)?;
                    self.expect(Punct::RParen)?;
                    if self.is(Punct::LBrace) {
                        let e = self.compound(ty, pos)?;
                        return Ok(expr(pos, ExprKind::SizeofExpr(boxed(e))));
                    }
                    return Ok(expr(pos, ExprKind::SizeofType(ty)));
                }
                let e = self.deeper(Self::unary)?;
                Ok(expr(pos, ExprKind::SizeofExpr(boxed(e))))
            }
            Some(Word::Alignof) => {
                self.at += 1;
                self.skip_balanced();
                Ok(expr(pos, ExprKind::Int(8, Types::ULONG)))
            }
            Some(Word::Extension) => {
                self.at += 1;
                self.deeper(Self::cast)
            }
            _ => {
                let e = self.primary()?;
                self.postfix(e)
            }
        }
    }

    fn is_type_in_parens_of_sizeof(&self) -> bool {
        let t = self.ahead(1);
        self.starts_type(&t)
            || self.is_plain_ident(&t)
                && self.scopes.meaning(t.sym).is_none()
                && (self.ahead(2).is(Punct::RParen) || self.is_unknown_type(1))
    }

    fn primary(&mut self) -> Parse<Expr> {
        let t = self.peek();
        let kind = match t.kind {
            TokenKind::Number => {
                self.at += 1;
                self.number(&t)
            }
            TokenKind::Char => {
                self.at += 1;
                ExprKind::Int(literal::character(self.text(t.sym)) as u64, Types::INT)
            }
            TokenKind::Str => self.string(),
            TokenKind::Punct(Punct::LParen) => return self.parenthesised(),
            TokenKind::Ident => match self.word() {
                Some(word) => return self.builtin(word, t.pos),
                None => {
                    self.at += 1;
                    match self.scopes.meaning(t.sym) {
                        Some(Meaning::Constant(v)) => {
                            let ty = if i32::try_from(v).is_ok() { Types::INT } else { Types::LONG };
                            ExprKind::Int(v as u64, ty)
                        }
                        Some(Meaning::Typedef(_)) => return Err(Confused),
                        Some(Meaning::Object(_)) => ExprKind::Name(t.sym),
                        // Macros of many a library's headers.
                        None if self.is(Punct::LParen) => ExprKind::Name(t.sym),
                        None if self.text(t.sym) == "TRUE" => ExprKind::Int(1, Types::INT),
                        None if self.text(t.sym) == "FALSE" => ExprKind::Int(0, Types::INT),
                        None => ExprKind::Name(t.sym),
                    }
                }
            },
            _ => return Err(Confused),
        };
        Ok(expr(t.pos, kind))
    }

    fn number(&self, t: &Token) -> ExprKind {
        let text = self.text(t.sym);
        if let Some(i) = literal::integer(text) {
            return ExprKind::Int(i.value, integer_type(i));
        }
        match literal::float(text) {
            Some((v, single)) => ExprKind::Float(v, if single { Types::FLOAT } else { Types::DOUBLE }),
            None => ExprKind::Error,
        }
    }

    /// Parses a string; adjacent strings are one.
    fn string(&mut self) -> ExprKind {
        let mut bytes = Vec::new();
        while self.peek().kind == TokenKind::Str {
            let t = self.next();
            bytes.extend(literal::unescape(self.text(t.sym)));
            // `"%" PRIu64` without its header: the name represents a string.
            while self.is_plain_ident(&self.peek())
                && self.scopes.meaning(self.peek().sym).is_none()
                && (self.ahead(1).kind == TokenKind::Str || self.text(self.peek().sym).starts_with("PRI"))
            {
                self.at += 1;
            }
        }
        ExprKind::Str(bytes, Types::CHAR)
    }

    fn parenthesised(&mut self) -> Parse<Expr> {
        let pos = self.next().pos;
        if self.is(Punct::LBrace) {
            let body = self.deeper(|p| p.block())?;
            self.expect(Punct::RParen)?;
            return Ok(expr(pos, ExprKind::Statement(body)));
        }
        let e = self.deeper(Self::expression)?;
        self.expect(Punct::RParen)?;
        Ok(e)
    }

    fn builtin(&mut self, word: Word, pos: Pos) -> Parse<Expr> {
        match word {
            Word::Generic => self.generic(pos),
            Word::VaArg => {
                self.at += 1;
                self.expect(Punct::LParen)?;
                let list = self.assignment()?;
                self.expect(Punct::Comma)?;
                let ty = self.deeper(Self::type_name)?;
                self.expect(Punct::RParen)?;
                Ok(expr(pos, ExprKind::VaArg(boxed(list), ty)))
            }
            Word::Offsetof => self.offsetof(pos),
            Word::TypesCompatible => {
                self.at += 1;
                self.skip_balanced();
                Ok(expr(pos, ExprKind::Int(1, Types::INT)))
            }
            Word::ChooseExpr => {
                self.at += 1;
                self.expect(Punct::LParen)?;
                let c = self.assignment()?;
                self.expect(Punct::Comma)?;
                let a = self.assignment()?;
                self.expect(Punct::Comma)?;
                let b = self.assignment()?;
                self.expect(Punct::RParen)?;
                Ok(if self.constant(&c) == Some(0) { b } else { a })
            }
            _ => Err(Confused),
        }
    }

    fn offsetof(&mut self, pos: Pos) -> Parse<Expr> {
        self.at += 1;
        self.expect(Punct::LParen)?;
        let mut ty = self.deeper(Self::type_name)?;
        self.expect(Punct::Comma)?;
        let mut offset = Some(0u64);
        loop {
            if self.eat(Punct::LBracket) {
                let e = self.expression()?;
                self.expect(Punct::RBracket)?;
                let of = self.scopes.types.element(ty).unwrap_or(Types::UNKNOWN);
                let step = self.scopes.types.size(of).zip(self.constant(&e));
                offset = offset.zip(step).map(|(o, (s, i))| o.wrapping_add(s.wrapping_mul(i as u64)));
                ty = of;
            } else {
                let (name, _) = self.ident()?;
                let member = self.scopes.types.member(ty, name);
                offset = offset.zip(member).map(|(o, m)| o + m.offset);
                ty = member.map_or(Types::UNKNOWN, |m| m.ty);
            }
            if !self.eat(Punct::Dot) && !self.is(Punct::LBracket) {
                break;
            }
        }
        self.expect(Punct::RParen)?;
        Ok(expr(pos, offset.map_or(ExprKind::Opaque, |o| ExprKind::Int(o, Types::ULONG))))
    }

    fn generic(&mut self, pos: Pos) -> Parse<Expr> {
        self.at += 1;
        self.expect(Punct::LParen)?;
        let control = self.assignment()?;
        let mut cases = Vec::new();
        while self.eat(Punct::Comma) {
            let ty = if self.eat_word(Word::Default) { None } else { Some(self.deeper(Self::type_name)?) };
            self.expect(Punct::Colon)?;
            cases.push((ty, self.assignment()?));
        }
        self.expect(Punct::RParen)?;
        Ok(expr(pos, ExprKind::Generic(boxed(control), cases)))
    }

    fn postfix(&mut self, mut e: Expr) -> Parse<Expr> {
        loop {
            let t = self.peek();
            if matches!(t.kind, TokenKind::Punct(_)) {
                self.link()?;
            }
            match t.kind {
                TokenKind::Punct(Punct::LParen) => {
                    self.at += 1;
                    let arguments = self.arguments()?;
                    let pos = e.pos;
                    e = expr(pos, ExprKind::Call(boxed(e), arguments));
                }
                TokenKind::Punct(Punct::LBracket) => {
                    self.at += 1;
                    let index = self.deeper(Self::expression)?;
                    self.expect(Punct::RBracket)?;
                    let pos = e.pos;
                    e = expr(pos, ExprKind::Index(boxed(e), boxed(index)));
                }
                TokenKind::Punct(p @ (Punct::Dot | Punct::Arrow)) => {
                    self.at += 1;
                    let (name, _) = self.ident()?;
                    let pos = e.pos;
                    e = expr(pos, ExprKind::Member(boxed(e), name, p == Punct::Arrow));
                }
                TokenKind::Punct(p @ (Punct::Inc | Punct::Dec)) => {
                    self.at += 1;
                    let by = if p == Punct::Inc { 1 } else { -1 };
                    e = expr(e.pos, ExprKind::Step(boxed(e), by, true));
                }
                _ => return Ok(e),
            }
        }
    }

    fn arguments(&mut self) -> Parse<Vec<Expr>> {
        let mut out = Vec::new();
        if self.eat(Punct::RParen) {
            return Ok(out);
        }
        loop {
            // A macro whose header is missing may be called with a type: `list_entry(p, struct s,
            // m)`.
            if self.starts_type(&self.peek()) && !self.is(Punct::LParen) {
                let pos = self.peek().pos;
                self.deeper(Self::type_name)?;
                out.push(expr(pos, ExprKind::Opaque));
            } else {
                out.push(self.assignment()?);
            }
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RParen)?;
        Ok(out)
    }
}

fn integer_type(i: literal::Integer) -> CType {
    let fits_int = i.value <= i32::MAX as u64;
    let fits_uint = i.value <= u64::from(u32::MAX);
    let fits_long = i.value <= i64::MAX as u64;
    match (i.unsigned, i.long) {
        (false, false) if fits_int => Types::INT,
        (false, false) if fits_uint && !i.decimal => Types::UINT,
        (true, false) if fits_uint => Types::UINT,
        (false, _) if fits_long => Types::LONG,
        _ => Types::ULONG,
    }
}

enum Operator {
    Bin(Bin),
    And,
    Or,
}

fn binary_operator(t: &Token) -> Option<(Operator, u8)> {
    let TokenKind::Punct(p) = t.kind else { return None };
    Some(match p {
        Punct::OrOr => (Operator::Or, 1),
        Punct::AndAnd => (Operator::And, 2),
        Punct::Or => (Operator::Bin(Bin::Or), 3),
        Punct::Caret => (Operator::Bin(Bin::Xor), 4),
        Punct::And => (Operator::Bin(Bin::And), 5),
        Punct::EqEq => (Operator::Bin(Bin::Eq), 6),
        Punct::Ne => (Operator::Bin(Bin::Ne), 6),
        Punct::Lt => (Operator::Bin(Bin::Lt), 7),
        Punct::Gt => (Operator::Bin(Bin::Gt), 7),
        Punct::Le => (Operator::Bin(Bin::Le), 7),
        Punct::Ge => (Operator::Bin(Bin::Ge), 7),
        Punct::Shl => (Operator::Bin(Bin::Shl), 8),
        Punct::Shr => (Operator::Bin(Bin::Shr), 8),
        Punct::Plus => (Operator::Bin(Bin::Add), 9),
        Punct::Minus => (Operator::Bin(Bin::Sub), 9),
        Punct::Star => (Operator::Bin(Bin::Mul), 10),
        Punct::Slash => (Operator::Bin(Bin::Div), 10),
        Punct::Percent => (Operator::Bin(Bin::Rem), 10),
        _ => return None,
    })
}

fn assignment_operator(t: &Token) -> Option<Option<Bin>> {
    let TokenKind::Punct(p) = t.kind else { return None };
    Some(match p {
        Punct::Eq => None,
        Punct::MulEq => Some(Bin::Mul),
        Punct::DivEq => Some(Bin::Div),
        Punct::RemEq => Some(Bin::Rem),
        Punct::AddEq => Some(Bin::Add),
        Punct::SubEq => Some(Bin::Sub),
        Punct::ShlEq => Some(Bin::Shl),
        Punct::ShrEq => Some(Bin::Shr),
        Punct::AndEq => Some(Bin::And),
        Punct::XorEq => Some(Bin::Xor),
        Punct::OrEq => Some(Bin::Or),
        _ => return None,
    })
}
