//! Statements.

use super::{Confused, Parse, Parser, Word};
use crate::c::ast::{Expr, ExprKind, Stmt, StmtKind, Storage, VarDecl};
use crate::c::token::{Punct, TokenKind};
use crate::ir::Pos;

impl Parser<'_> {
    /// Parses `{ … }`, with a scope of its own. Ends early where the next function must begin.
    pub(super) fn block(&mut self) -> Parse<Vec<Stmt>> {
        self.expect(Punct::LBrace)?;
        self.scopes.open();
        let mut out = Vec::new();
        while !self.is(Punct::RBrace) && self.peek().kind != TokenKind::Eof && !self.starts_function(self.at)
        {
            out.push(self.statement());
        }
        if !self.eat(Punct::RBrace) {
            self.error();
        }
        self.scopes.close();
        Ok(out)
    }

    /// Parses a statement. Always succeeds.
    pub(super) fn statement(&mut self) -> Stmt {
        let start = self.at;
        let pos = self.peek().pos;
        self.links = 0;
        match self.deeper(Self::try_statement) {
            Ok(kind) => Stmt { pos, kind },
            Err(Confused) => {
                self.error();
                self.skip_statement(start);
                Stmt { pos, kind: StmtKind::Error }
            }
        }
    }

    fn boxed_statement(&mut self) -> Box<Stmt> {
        // `if (x)` with nothing after it, at the end of a block.
        if self.is(Punct::RBrace) || self.peek().kind == TokenKind::Eof {
            self.error();
            return Box::new(Stmt { pos: self.peek().pos, kind: StmtKind::Error });
        }
        Box::new(self.statement())
    }

    fn try_statement(&mut self) -> Parse<StmtKind> {
        let t = self.peek();
        match t.kind {
            TokenKind::Punct(Punct::LBrace) => return Ok(StmtKind::Block(self.block()?)),
            TokenKind::Punct(Punct::Semi) => {
                self.at += 1;
                return Ok(StmtKind::Empty);
            }
            TokenKind::PragmaOmp => return self.omp(),
            TokenKind::PragmaEnd => {
                self.at += 1;
                return Ok(StmtKind::Empty);
            }
            _ => {}
        }
        if let Some(word) = self.word()
            && let Some(kind) = self.word_statement(word)?
        {
            return Ok(kind);
        }
        if self.is_plain_ident(&t) && self.ahead(1).is(Punct::Colon) && !self.ahead(2).is(Punct::Colon) {
            self.at += 2;
            self.attributes();
            let inner = if self.is(Punct::RBrace) { self.empty() } else { self.boxed_statement() };
            return Ok(StmtKind::Label(t.sym, inner));
        }
        if self.is_declaration() {
            return Ok(StmtKind::Decl(self.local_declaration()?));
        }
        let e = self.expression()?;
        self.end_of_statement(&e)?;
        Ok(StmtKind::Expr(e))
    }

    fn empty(&self) -> Box<Stmt> {
        Box::new(Stmt { pos: self.peek().pos, kind: StmtKind::Empty })
    }

    /// Ends a statement. A `;` may be missing at the end of a line or block; the statement still
    /// counts. A macro that expands to a whole statement needs none either.
    fn end_of_statement(&mut self, e: &Expr) -> Parse<()> {
        if self.eat(Punct::Semi) {
            return Ok(());
        }
        let t = self.peek();
        let call = matches!(e.kind, ExprKind::Call(..));
        if t.kind == TokenKind::Eof
            || self.is(Punct::RBrace)
            || t.bol && !self.is_operator()
            || call && self.is(Punct::LBrace)
        {
            if !call {
                self.error();
            }
            return Ok(());
        }
        Err(Confused)
    }

    fn is_operator(&self) -> bool {
        matches!(self.peek().kind, TokenKind::Punct(p) if !matches!(p, Punct::Star | Punct::LBrace | Punct::Inc | Punct::Dec))
    }

    fn is_declaration(&self) -> bool {
        let t = self.peek();
        if self.starts_type(&t) {
            return true;
        }
        // `T x`, `T *x;` with T undeclared. `a * b` with `a` declared is a product, because
        // `starts_type` says no.
        self.is_unknown_type(0) && !self.ahead(1).is(Punct::RParen) && !self.ahead(1).is(Punct::Comma)
    }

    pub(super) fn local_declaration(&mut self) -> Parse<Vec<VarDecl>> {
        let spec = self.specifiers()?;
        let mut out = Vec::new();
        if self.eat(Punct::Semi) {
            return Ok(out);
        }
        loop {
            let d = self.declarator(spec.ty, false)?;
            let attributes = self.attributes();
            if self.is(Punct::LBrace) {
                // A GNU nested function: its body is not checked.
                self.skip_balanced();
                return Ok(out);
            }
            let cleanup = attributes.cleanup.or(spec.attributes.cleanup);
            if let Some(mut var) = self.variable(&spec, d, attributes)? {
                var.cleanup = cleanup;
                if var.storage == Storage::None
                    || var.storage == Storage::Static
                    || var.storage == Storage::Extern
                {
                    out.push(var);
                }
            }
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        let t = self.peek();
        if self.eat(Punct::Semi) {
            return Ok(out);
        }
        if t.bol || self.is(Punct::RBrace) {
            self.error();
            return Ok(out);
        }
        Err(Confused)
    }

    fn condition(&mut self) -> Parse<Expr> {
        self.expect(Punct::LParen)?;
        let e = self.expression()?;
        self.expect(Punct::RParen)?;
        Ok(e)
    }

    fn word_statement(&mut self, word: Word) -> Parse<Option<StmtKind>> {
        let pos = self.peek().pos;
        Ok(Some(match word {
            Word::If => {
                self.at += 1;
                let c = self.condition()?;
                let yes = self.boxed_statement();
                let no = if self.eat_word(Word::Else) { Some(self.boxed_statement()) } else { None };
                StmtKind::If(c, yes, no)
            }
            Word::While => {
                self.at += 1;
                let c = self.condition()?;
                StmtKind::While(c, self.boxed_statement())
            }
            Word::Do => {
                self.at += 1;
                let body = self.boxed_statement();
                if !self.eat_word(Word::While) {
                    return Err(Confused);
                }
                let c = self.condition()?;
                self.eat(Punct::Semi);
                StmtKind::DoWhile(body, c)
            }
            Word::For => self.for_statement()?,
            Word::Return => {
                self.at += 1;
                let value = if self.is(Punct::Semi) || self.is(Punct::RBrace) {
                    None
                } else {
                    Some(self.expression()?)
                };
                self.end_of_jump();
                StmtKind::Return(value)
            }
            Word::Break => {
                self.at += 1;
                self.end_of_jump();
                StmtKind::Break
            }
            Word::Continue => {
                self.at += 1;
                self.end_of_jump();
                StmtKind::Continue
            }
            Word::Goto => {
                self.at += 1;
                if self.eat(Punct::Star) {
                    let e = self.expression()?;
                    self.end_of_jump();
                    return Ok(Some(StmtKind::GotoPointer(e)));
                }
                let (label, _) = self.ident()?;
                self.end_of_jump();
                StmtKind::Goto(label)
            }
            Word::Switch => {
                self.at += 1;
                let c = self.condition()?;
                StmtKind::Switch(c, self.boxed_statement())
            }
            Word::Case => self.case()?,
            Word::Default => {
                self.at += 1;
                self.expect(Punct::Colon)?;
                StmtKind::Default(self.after_label(pos))
            }
            Word::Asm => {
                let from = self.at;
                self.attributes();
                self.eat(Punct::Semi);
                StmtKind::Asm(self.assembly(from, self.at))
            }
            Word::StaticAssert => {
                self.at += 1;
                self.skip_balanced();
                self.eat(Punct::Semi);
                StmtKind::Empty
            }
            Word::LabelDecl => {
                while !self.eat(Punct::Semi) && self.peek().kind != TokenKind::Eof {
                    self.at += 1;
                }
                StmtKind::Empty
            }
            Word::Extension => {
                self.at += 1;
                return Ok(Some(self.deeper(Self::try_statement)?));
            }
            Word::Attribute if self.ahead(1).is(Punct::LParen) && self.is_attribute_statement() => {
                StmtKind::Empty
            }
            Word::Else => return Err(Confused),
            _ => return Ok(None),
        }))
    }

    /// `__attribute__((fallthrough));`
    fn is_attribute_statement(&mut self) -> bool {
        let start = self.at;
        self.attributes();
        if self.eat(Punct::Semi) {
            return true;
        }
        self.at = start;
        false
    }

    fn end_of_jump(&mut self) {
        if !self.eat(Punct::Semi) {
            self.error();
        }
    }

    fn case(&mut self) -> Parse<StmtKind> {
        let pos = self.next().pos;
        let lo = self.conditional_constant()?;
        let hi = if self.eat(Punct::Ellipsis) { Some(self.conditional_constant()?) } else { None };
        self.expect(Punct::Colon)?;
        Ok(StmtKind::Case(lo, hi, self.after_label(pos)))
    }

    fn conditional_constant(&mut self) -> Parse<Expr> {
        self.assignment()
    }

    /// Parses what follows `case x:`. Runs of labels are not nested in each other, so that
    /// generated switches with thousands of labels do not recurse.
    fn after_label(&mut self, pos: Pos) -> Box<Stmt> {
        let another = matches!(self.word(), Some(Word::Case | Word::Default));
        if another || self.is(Punct::RBrace) {
            return Box::new(Stmt { pos, kind: StmtKind::Empty });
        }
        self.boxed_statement()
    }

    fn for_statement(&mut self) -> Parse<StmtKind> {
        self.at += 1;
        self.expect(Punct::LParen)?;
        self.scopes.open();
        let parsed = self.for_rest();
        self.scopes.close();
        parsed
    }

    fn for_rest(&mut self) -> Parse<StmtKind> {
        let pos = self.peek().pos;
        let init = if self.eat(Punct::Semi) {
            None
        } else if self.is_declaration() {
            let d = self.local_declaration()?;
            Some(Box::new(Stmt { pos, kind: StmtKind::Decl(d) }))
        } else {
            let e = self.expression()?;
            self.expect(Punct::Semi)?;
            Some(Box::new(Stmt { pos, kind: StmtKind::Expr(e) }))
        };
        let condition = if self.is(Punct::Semi) { None } else { Some(self.expression()?) };
        self.expect(Punct::Semi)?;
        let step = if self.is(Punct::RParen) { None } else { Some(self.expression()?) };
        self.expect(Punct::RParen)?;
        let body = self.boxed_statement();
        Ok(StmtKind::For(init, condition, step, body))
    }
}
