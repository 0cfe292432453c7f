//! Declarators: `*name[3](int)`, and the types they build from a base type.

use super::{Confused, Meaning, Parse, Parser, Word};
use crate::c::token::{Punct, Sym, TokenKind};
use crate::c::types::{CType, Type, Types};
use crate::ir::Pos;

/// A name and its type. `params` are the names in the outermost parameter list.
pub(super) struct Declared {
    pub name: Option<(Sym, Pos)>,
    pub ty: CType,
    pub params: Vec<(Sym, CType, Pos)>,
}

/// A layer of a declarator; the innermost is applied last.
enum Layer {
    Pointer { quals: CType },
    Array(Option<u64>, Option<u32>),
    Function { params: Vec<(Option<(Sym, Pos)>, CType)>, variadic: bool },
}

impl Parser<'_> {
    /// Parses a declarator over a base type; `abstract_ok` allows it to have no name.
    pub(super) fn declarator(&mut self, base: CType, abstract_ok: bool) -> Parse<Declared> {
        let mut layers = Vec::new();
        let name = self.deeper(|p| p.declarator_layers(&mut layers, abstract_ok))?;
        let mut ty = base;
        let mut params = Vec::new();
        // Layers were collected from the name outwards; the type is built from the base inwards.
        for layer in layers.into_iter().rev() {
            ty = match layer {
                Layer::Pointer { quals } => self.scopes.types.pointer(ty).qualified_like(quals),
                Layer::Array(n, None) => self.scopes.types.make(Type::Array(ty, n)),
                Layer::Array(_, Some(length)) => self.scopes.types.make(Type::Vla(ty, length)),
                Layer::Function { params: list, variadic } => {
                    params = list.iter().filter_map(|(n, t)| n.map(|(s, p)| (s, *t, p))).collect();
                    let types = list.iter().map(|(_, t)| *t).collect();
                    self.scopes.types.function(ty, types, variadic)
                }
            };
        }
        Ok(Declared { name, ty, params })
    }

    fn declarator_layers(&mut self, layers: &mut Vec<Layer>, abstract_ok: bool) -> Parse<Option<(Sym, Pos)>> {
        let mut pointers = Vec::new();
        loop {
            self.attributes();
            if self.eat(Punct::Star) || self.eat(Punct::Caret) {
                pointers.push(Layer::Pointer { quals: self.qualifiers() });
            } else if self.is_unknown_convention() {
                self.at += 1;
            } else {
                break;
            }
        }
        self.qualifiers();
        let mut name = None;
        if self.is(Punct::LParen) && self.is_nested_declarator() {
            self.at += 1;
            name = self.deeper(|p| p.declarator_layers(layers, abstract_ok))?;
            self.expect(Punct::RParen)?;
        } else if self.is_plain_ident(&self.peek()) {
            name = Some(self.ident()?);
        } else if !abstract_ok {
            return Err(Confused);
        }
        loop {
            self.attributes();
            if self.is(Punct::LBracket) {
                let layer = self.array_layer()?;
                layers.push(layer);
            } else if self.is(Punct::LParen) {
                let layer = self.function_layer()?;
                layers.push(layer);
            } else {
                break;
            }
        }
        pointers.reverse();
        layers.extend(pointers);
        Ok(name)
    }

    /// Whether the next name is a macro that nobody defines before a declarator, as in `int CALL
    /// f(void)` or `void (CALL *p)(void)`.
    fn is_unknown_convention(&self) -> bool {
        if !self.is_unknown_capitals(0) {
            return false;
        }
        let next = self.ahead(1);
        // A declaration that is not finished can be followed by a name in the next line.
        let is_name = self.is_plain_ident(&next) && !self.is_unknown_capitals(1);
        next.is(Punct::Star) || is_name && (!next.bol || self.ahead(2).is(Punct::LParen))
    }

    /// Whether `(` starts a nested declarator and not a parameter list.
    fn is_nested_declarator(&self) -> bool {
        let t = self.ahead(1);
        match t.kind {
            TokenKind::Punct(Punct::Star | Punct::Caret | Punct::LParen | Punct::LBracket) => true,
            TokenKind::Ident => match self.words.get(t.sym) {
                Some(Word::Attribute) => true,
                Some(_) => false,
                None => !matches!(self.scopes.meaning(t.sym), Some(Meaning::Typedef(_))),
            },
            _ => false,
        }
    }

    fn array_layer(&mut self) -> Parse<Layer> {
        self.expect(Punct::LBracket)?;
        while self
            .word()
            .is_some_and(|w| matches!(w, Word::Static | Word::Const | Word::Restrict | Word::Volatile))
        {
            self.at += 1;
        }
        if self.eat(Punct::RBracket) {
            return Ok(Layer::Array(None, None));
        }
        if self.is(Punct::Star) && self.ahead(1).is(Punct::RBracket) {
            self.at += 2;
            return Ok(Layer::Array(None, None));
        }
        let length = self.assignment()?;
        self.expect(Punct::RBracket)?;
        match self.constant(&length) {
            Some(n) => Ok(Layer::Array(Some(n.max(0) as u64), None)),
            None if self.in_body => {
                self.scopes.lengths.push(length);
                Ok(Layer::Array(None, Some(self.scopes.lengths.len() as u32 - 1)))
            }
            None => Ok(Layer::Array(None, None)),
        }
    }

    fn function_layer(&mut self) -> Parse<Layer> {
        self.expect(Punct::LParen)?;
        let (mut params, mut variadic) = (Vec::new(), false);
        // Names of parameters are visible only in later parameters.
        self.scopes.open();
        let was_in_body = std::mem::replace(&mut self.in_body, false);
        let result = self.parameter_list(&mut params, &mut variadic);
        self.in_body = was_in_body;
        self.scopes.close();
        result?;
        Ok(Layer::Function { params, variadic })
    }

    fn parameter_list(
        &mut self,
        params: &mut Vec<(Option<(Sym, Pos)>, CType)>,
        variadic: &mut bool,
    ) -> Parse<()> {
        if self.eat(Punct::RParen) {
            *variadic = true;
            return Ok(());
        }
        if self.word() == Some(Word::Void) && self.ahead(1).is(Punct::RParen) {
            self.at += 2;
            return Ok(());
        }
        if self.is_identifier_list() {
            return self.identifier_list(params);
        }
        loop {
            if self.eat(Punct::Ellipsis) {
                *variadic = true;
            } else {
                let spec = self.specifiers()?;
                let d = self.declarator(spec.ty, true)?;
                self.attributes();
                let ty = self.adjust_parameter(d.ty);
                if let Some((name, _)) = d.name {
                    self.scopes.declare(name, Meaning::Object(ty));
                }
                params.push((d.name, ty));
            }
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RParen)
    }

    /// `f(a, b) int a, b; { … }`, the old style.
    fn is_identifier_list(&self) -> bool {
        let mut n = 0;
        loop {
            let t = self.ahead(n);
            let known = matches!(self.scopes.meaning(t.sym), Some(Meaning::Typedef(_)));
            if !self.is_plain_ident(&t) || known {
                return false;
            }
            match self.ahead(n + 1).kind {
                TokenKind::Punct(Punct::Comma) => n += 2,
                // A single unknown name is more likely a type whose header is missing.
                TokenKind::Punct(Punct::RParen) => return n > 0 || self.starts_type(&self.ahead(n + 2)),
                _ => return false,
            }
        }
    }

    fn identifier_list(&mut self, params: &mut Vec<(Option<(Sym, Pos)>, CType)>) -> Parse<()> {
        loop {
            let name = self.ident()?;
            params.push((Some(name), Types::INT));
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RParen)
    }

    pub(super) fn adjust_parameter(&mut self, ty: CType) -> CType {
        match *self.scopes.types.get(ty) {
            Type::Array(of, _) | Type::Vla(of, _) => self.scopes.types.pointer(of),
            Type::Function(_) => self.scopes.types.pointer(ty),
            _ => ty,
        }
    }

    /// Qualifiers after a `*`, as the qualifiers of an otherwise meaningless type.
    fn qualifiers(&mut self) -> CType {
        let mut quals = Types::UNKNOWN;
        loop {
            match self.word() {
                Some(Word::Const) => quals = quals.with_const(),
                Some(Word::Volatile) => quals = quals.with_volatile(),
                Some(Word::Atomic) if !self.ahead(1).is(Punct::LParen) => quals = quals.with_atomic(),
                Some(Word::Restrict | Word::Extension) => {}
                Some(Word::Attribute) => {
                    self.attributes();
                    continue;
                }
                _ => return quals,
            }
            self.at += 1;
        }
    }

    /// `int *` and the like, as in casts and `sizeof`.
    pub(super) fn type_name(&mut self) -> Parse<CType> {
        let spec = self.specifiers()?;
        Ok(self.declarator(spec.ty, true)?.ty)
    }
}
