//! Bodies of static functions in headers, which are parsed only if something uses them.
//!
//! A file includes dozens of inline functions for each one that it calls, and parsing and lowering
//! them all is most of the work on a large project. So the parser skips their bodies. At the end of
//! the file it parses those whose names occur in parsed code, or in each other. Functions of the
//! file itself are never deferred: an uncalled thread function is what somebody is writing just
//! now.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Meaning, Parser, Scopes};
use crate::c::ast::{FunctionDef, Item};
use crate::c::token::{Punct, Sym, TokenKind};

/// A function without its body, and the position of the body among the tokens.
pub(super) struct Deferred {
    function: FunctionDef,
    body: std::ops::Range<usize>,
}

impl Parser<'_> {
    /// Skips the body at the current token, if it can wait and its end is clear.
    pub(super) fn defer(&mut self, function: FunctionDef) -> Result<(), FunctionDef> {
        let waits = function.is_static && function.pos.file != 0 && !function.load_hook;
        let Some(end) = waits.then(|| self.end_of_body()).flatten() else { return Err(function) };
        self.deferred.push(Deferred { function, body: self.at..end });
        self.at = end;
        Ok(())
    }

    /// The token after the brace that closes the one at the current token.
    fn end_of_body(&self) -> Option<usize> {
        let mut depth = 0;
        for (i, t) in self.tokens[self.at..].iter().enumerate() {
            match t.kind {
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(self.at + i + 1);
            }
        }
        None
    }

    /// Parses the bodies that are needed.
    pub(super) fn parse_deferred(&mut self) {
        let deferred = std::mem::take(&mut self.deferred);
        if deferred.is_empty() {
            return;
        }
        let mut by_name: FxHashMap<Sym, Vec<usize>> = FxHashMap::default();
        for (i, d) in deferred.iter().enumerate() {
            by_name.entry(d.function.name).or_default().push(i);
        }
        let mut needed = Needed { by_name, seen: FxHashSet::default(), order: Vec::new() };
        let mut at = 0;
        for d in &deferred {
            // Its own declarator does not count as a use.
            needed.mention(&self.tokens[at..d.body.start], Some(d.function.name));
            at = d.body.end;
        }
        needed.mention(&self.tokens[at..], None);
        let mut next = 0;
        while let Some(i) = needed.order.get(next).copied() {
            next += 1;
            needed.mention(&self.tokens[deferred[i].body.clone()], None);
        }
        let mut deferred: Vec<Option<Deferred>> = deferred.into_iter().map(Some).collect();
        for i in needed.order {
            if let Some(d) = deferred[i].take() {
                self.parse_body(d);
            }
        }
    }

    fn parse_body(&mut self, d: Deferred) {
        let mut function = d.function;
        self.at = d.body.start;
        let params = function.params.iter().map(|(name, ty, _)| (*name, *ty));
        open_with(&mut self.scopes, params);
        self.in_body = true;
        let body = self.block();
        self.in_body = false;
        self.scopes.close();
        match body {
            Ok(body) => {
                function.body = body;
                self.items.push(Item::Function(function));
            }
            Err(_) => self.error(),
        }
        self.at = self.tokens.len();
    }
}

/// Opens the scope of a function's parameters.
pub(super) fn open_with(scopes: &mut Scopes, params: impl Iterator<Item = (Sym, crate::c::types::CType)>) {
    scopes.open();
    for (name, ty) in params {
        scopes.declare(name, Meaning::Object(ty));
    }
}

struct Needed {
    by_name: FxHashMap<Sym, Vec<usize>>,
    seen: FxHashSet<Sym>,
    order: Vec<usize>,
}

impl Needed {
    /// Records the names in a range of tokens, except the last mention of `own`.
    fn mention(&mut self, tokens: &[crate::c::token::Token], own: Option<Sym>) {
        let skip =
            own.and_then(|own| tokens.iter().rposition(|t| t.kind == TokenKind::Ident && t.sym == own));
        for (i, t) in tokens.iter().enumerate() {
            if t.kind == TokenKind::Ident
                && Some(i) != skip
                && let Some(functions) = self.by_name.get(&t.sym)
                && self.seen.insert(t.sym)
            {
                self.order.extend(functions);
            }
        }
    }
}
