//! Statements with cleanup on exit: `try`, `lock`, `using`.

use std::collections::HashSet;
use std::rc::Rc;

use super::Lowerer;
use super::scope::Cleanup;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::ir::{Instr, SyncOp};

impl<'a> Lowerer<'_, 'a> {
    /// Lowers code with a cleanup after it, however the code is left. `code` is its source.
    fn guarded(&mut self, cleanup: Cleanup<'a>, code: &[Syntax<'a>], inner: impl FnOnce(&mut Self)) {
        let (start, end, failed, done) =
            (self.builder().label(), self.builder().label(), self.builder().label(), self.builder().label());
        self.context().cleanups.push(cleanup);
        self.context().guarded.push(Rc::new(labels_in(code)));
        self.builder().place(start);
        inner(self);
        self.emit(Instr::Nop);
        self.builder().place(end);
        self.context().cleanups.pop();
        self.context().guarded.pop();
        self.clean_up(cleanup);
        self.builder().jump(done);
        self.builder().place(failed);
        let exception = self.temporary();
        self.emit(Instr::Set(exception));
        self.clean_up(cleanup);
        self.emit(Instr::Get(exception));
        self.emit(Instr::Throw);
        self.builder().place(done);
        self.builder().handle(start, end, failed);
    }

    /// Jumps to a label, after the cleanups of the code that the jump leaves. No jump enters a block.
    pub fn jump_to_label(&mut self, name: &'a str) {
        let stays_in = self.context().guarded.iter().rposition(|labels| labels.contains(name));
        self.clean_up_to(stays_in.map_or(0, |i| i + 1));
        let label = self.label(name);
        self.builder().jump(label);
    }

    pub fn throw_statement(&mut self, s: Syntax<'a>) {
        match s.first() {
            Some(e) => {
                self.expression(e);
            }
            None => match self.find(RETHROWN) {
                Some((_, super::scope::Named::Var(v))) => self.emit(Instr::Get(v.slot)),
                _ => self.emit(Instr::SomeObject),
            },
        }
        self.at(s);
        self.emit(Instr::Throw);
    }

    pub fn try_statement(&mut self, s: Syntax<'a>) {
        let finally = s.child("finally_clause").and_then(|f| f.child("block"));
        match finally {
            Some(block) => self.guarded(Cleanup::Finally(block), &[s], |l| l.try_catch(s)),
            None => self.try_catch(s),
        }
    }

    fn try_catch(&mut self, s: Syntax<'a>) {
        let clauses: Vec<Syntax<'a>> =
            s.children().into_iter().filter(|c| c.kind() == "catch_clause").collect();
        let body = s.field("body");
        if clauses.is_empty() {
            if let Some(b) = body {
                self.statement(b);
            }
            return;
        }
        let (start, end, failed, done) =
            (self.builder().label(), self.builder().label(), self.builder().label(), self.builder().label());
        self.builder().place(start);
        if let Some(b) = body {
            self.statement(b);
        }
        self.emit(Instr::Nop);
        self.builder().place(end);
        self.builder().jump(done);
        self.builder().place(failed);
        let exception = self.temporary();
        self.emit(Instr::Set(exception));
        for c in clauses {
            self.catch_clause(c, exception, done);
        }
        self.emit(Instr::Get(exception));
        self.emit(Instr::Throw);
        self.builder().place(done);
        self.builder().handle(start, end, failed);
    }

    fn catch_clause(&mut self, c: Syntax<'a>, exception: u16, done: crate::ir::build::Label) {
        let next = self.builder().label();
        let declaration = c.child("catch_declaration");
        let ty = declaration.and_then(|d| d.field("type")).map(|t| self.ty(t));
        if let Some(ty) = &ty
            && !self.catches_all(ty)
        {
            self.is_of_type(exception, ty);
            self.builder().jump_if_not(next);
        }
        self.enter();
        let var =
            super::scope::Var { slot: exception, storage: super::scope::Storage::Plain, ty: Ty::Unknown };
        self.bind(RETHROWN, super::scope::Named::Var(var));
        if let Some(name) = declaration.and_then(|d| d.field("name")) {
            self.emit(Instr::Get(exception));
            self.declare(name.str(), ty.unwrap_or_default());
        }
        if let Some(filter) = c.child("catch_filter_clause").and_then(Syntax::first) {
            self.expression(filter);
            self.builder().jump_if_not(next);
        }
        if let Some(b) = c.field("body") {
            self.statement(b);
        }
        self.leave();
        self.builder().jump(done);
        self.builder().place(next);
    }

    fn catches_all(&self, ty: &Ty) -> bool {
        ty.class().is_some_and(|c| self.world.class(c).builtin && self.world.class(c).name == "Exception")
    }

    pub fn lock_statement(&mut self, s: Syntax<'a>) {
        let parts = s.children();
        let (Some(object), Some(body)) = (parts.first(), parts.last()) else { return };
        self.expression(*object);
        let slot = self.temporary();
        self.emit(Instr::Set(slot));
        self.at(s);
        self.enter_monitor(slot);
        let body = *body;
        self.guarded(Cleanup::Unlock(slot), &[body], |l| l.statement(body));
    }

    /// Takes the monitor of the object in a local. Its owner may take it again.
    pub fn enter_monitor(&mut self, slot: u16) {
        self.emit(Instr::Get(slot));
        self.emit(Instr::Int(1));
        self.emit(Instr::Sync(SyncOp::LockStatic));
        self.emit(Instr::Drop);
        self.emit(Instr::Get(slot));
        self.emit(Instr::Sync(SyncOp::Lock));
        self.emit(Instr::Drop);
    }

    pub fn using_statement(&mut self, s: Syntax<'a>) {
        self.enter();
        let slot = self.temporary();
        let parts = s.children();
        match s.child("variable_declaration") {
            Some(list) => self.variables_used(list, slot),
            None => {
                if let Some(e) = parts.first() {
                    self.expression(*e);
                    self.emit(Instr::Set(slot));
                }
            }
        }
        let body = s.field("body").or_else(|| parts.last().copied());
        self.guarded(Cleanup::Dispose(slot), &[s], |l| {
            if let Some(b) = body {
                l.statement(b);
            }
        });
        self.leave();
    }

    /// Lowers `using var x = …;` with the rest of its block.
    pub fn using_declaration(&mut self, s: Syntax<'a>, rest: &[Syntax<'a>]) {
        let slot = self.temporary();
        if let Some(list) = s.child("variable_declaration") {
            self.variables_used(list, slot);
        }
        self.guarded(Cleanup::Dispose(slot), rest, |l| l.block(rest));
    }

    fn variables_used(&mut self, list: Syntax<'a>, slot: u16) {
        self.variables(list);
        let name = list
            .children()
            .into_iter()
            .rfind(|c| c.kind() == "variable_declarator")
            .and_then(|v| v.field("name").or_else(|| v.first()));
        match name {
            Some(n) => {
                self.identifier(n);
            }
            None => self.emit(Instr::Int(0)),
        }
        self.emit(Instr::Set(slot));
    }
}

fn labels_in<'a>(code: &[Syntax<'a>]) -> HashSet<&'a str> {
    let mut labels = HashSet::new();
    for s in code.iter().filter(|s| s.str().contains("goto")) {
        s.visit(&mut |n| {
            if n.kind() == "labeled_statement" {
                labels.extend(n.children().first().map(|label| label.str()));
            }
            true
        });
    }
    labels
}

/// The name under which `throw;` finds the caught exception. No program has this name.
const RETHROWN: &str = "(caught)";
