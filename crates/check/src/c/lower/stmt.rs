//! Statements.

use super::{Home, Lower, Open, Scope, Switch, Variable};
use crate::c::ast::{Assembly, Expr, Init, Stmt, StmtKind, Storage, VarDecl};
use crate::c::token::Sym;
use crate::c::types::Type;
use crate::ir::build::Label;
use crate::ir::{AccessClass, Instr, Intrinsic, MemoryOrdering, Scalar};

impl Lower<'_> {
    pub(super) fn statements(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.statement(s));
    }

    pub(super) fn statement(&mut self, s: &Stmt) {
        self.at(s.pos);
        match &s.kind {
            StmtKind::Error => self.emit(Instr::Gap),
            StmtKind::Empty | StmtKind::Asm(Assembly::Nothing) => {}
            StmtKind::Asm(Assembly::Fence) => self.emit(Instr::Fence(MemoryOrdering::SeqCst)),
            StmtKind::Asm(Assembly::Accesses) => self.emit(Instr::Assembly),
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::Decl(vars) => vars.iter().for_each(|v| self.local(v)),
            StmtKind::Block(body) => {
                self.f().scopes.push(Scope::default());
                self.statements(body);
                self.leave_scope();
            }
            StmtKind::If(c, yes, no) => self.if_statement(c, yes, no.as_deref()),
            StmtKind::While(c, body) => self.loop_statement(None, Some(c), None, body, false),
            StmtKind::DoWhile(body, c) => self.loop_statement(None, Some(c), None, body, true),
            StmtKind::For(init, c, step, body) => {
                self.f().scopes.push(Scope::default());
                self.loop_statement(init.as_deref(), c.as_ref(), step.as_ref(), body, false);
                self.leave_scope();
            }
            StmtKind::Return(value) => self.return_statement(value.as_ref()),
            StmtKind::Break => {
                let target = self.f().breaks.last().copied();
                self.leave_to(target);
            }
            StmtKind::Continue => {
                let target = self.f().continues.last().copied();
                self.leave_to(target);
            }
            StmtKind::Goto(label) => {
                let label = self.label(*label);
                self.f().b.jump(label);
            }
            StmtKind::GotoPointer(e) => {
                self.value(e);
                let dispatch = self.computed_goto_label();
                self.f().b.jump(dispatch);
            }
            StmtKind::Label(name, inner) => {
                let label = self.label(*name);
                self.f().b.place(label);
                self.statement(inner);
            }
            StmtKind::Switch(e, body) => self.switch(e, body),
            StmtKind::Case(lo, hi, inner) => {
                self.case(lo, hi.as_ref());
                self.statement(inner);
            }
            StmtKind::Default(inner) => {
                let label = self.f().b.label();
                self.f().b.place(label);
                if let Some(s) = self.f().switches.last_mut() {
                    s.default = Some(label);
                }
                self.statement(inner);
            }
            StmtKind::Omp(directive, body) => self.omp(directive, body.as_deref(), s.pos),
        }
    }

    fn if_statement(&mut self, c: &Expr, yes: &Stmt, no: Option<&Stmt>) {
        let (other, end) = (self.f().b.label(), self.f().b.label());
        self.jump_unless(c, other);
        self.statement(yes);
        if let Some(no) = no {
            self.f().b.jump(end);
            self.f().b.place(other);
            self.statement(no);
        } else {
            self.f().b.place(other);
        }
        self.f().b.place(end);
    }

    fn loop_statement(
        &mut self,
        init: Option<&Stmt>,
        c: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        body_first: bool,
    ) {
        if let Some(init) = init {
            self.statement(init);
        }
        let (top, next, end) = (self.f().b.label(), self.f().b.label(), self.f().b.label());
        let depth = self.f().scopes.len();
        self.f().b.place(top);
        if let (Some(c), false) = (c, body_first) {
            self.jump_unless(c, end);
        }
        self.f().breaks.push((end, depth));
        self.f().continues.push((next, depth));
        self.statement(body);
        self.f().breaks.pop();
        self.f().continues.pop();
        self.f().b.place(next);
        if let Some(step) = step {
            self.effect(step);
        }
        match c {
            Some(c) if body_first => self.jump_if(c, top),
            _ => self.f().b.jump(top),
        }
        self.f().b.place(end);
    }

    fn return_statement(&mut self, value: Option<&Expr>) {
        let result = self.f().result;
        match value {
            Some(e) if self.types().is_aggregate(result) => {
                let slot = self.f().result_slot;
                if let Some(slot) = slot {
                    self.emit(Instr::Get(slot));
                    self.value(e);
                    let size = self.types().size(result).unwrap_or(0);
                    self.emit(Instr::Copy(u32::try_from(size).unwrap_or(0)));
                    self.emit(Instr::Get(slot));
                } else {
                    self.value(e);
                }
            }
            Some(e) => {
                let ty = self.value(e);
                self.convert(ty, result);
            }
            None => self.emit(Instr::Int(0)),
        }
        self.run_cleanups(0);
        self.emit(Instr::Return);
    }

    /// Jumps out of scopes, running their cleanups.
    fn leave_to(&mut self, target: Option<(Label, usize)>) {
        if let Some((label, depth)) = target {
            self.run_cleanups(depth);
            self.f().b.jump(label);
        }
    }

    /// Emits the cleanups of all scopes above `depth`, innermost first.
    fn run_cleanups(&mut self, depth: usize) {
        let cleanups: Vec<_> =
            self.f().scopes[depth..].iter().rev().flat_map(|s| s.cleanups.iter().rev().copied()).collect();
        for (function, variable) in cleanups {
            self.variable_place(variable, 0);
            let symbol = self.function_symbol(function);
            self.emit(Instr::Call(symbol, 1));
            self.emit(Instr::Drop);
        }
    }

    pub(super) fn leave_scope(&mut self) {
        let depth = self.f().scopes.len() - 1;
        if !self.f().b.ends_block() {
            self.run_cleanups(depth);
        }
        self.f().scopes.pop();
    }

    fn label(&mut self, name: Sym) -> Label {
        if let Some(l) = self.f().labels.get(&name) {
            return *l;
        }
        let l = self.f().b.label();
        self.f().labels.insert(name, l);
        l
    }

    /// The number that represents a label's address, counted from 1.
    pub(super) fn label_number(&mut self, name: Sym) -> u64 {
        if self.open.is_empty() {
            return 0;
        }
        let f = self.f();
        if let Some(i) = f.taken_labels.iter().position(|l| *l == name) {
            return i as u64 + 1;
        }
        f.taken_labels.push(name);
        f.taken_labels.len() as u64
    }

    /// The label where all computed gotos of a function meet. It is laid out at the end of the
    /// function.
    fn computed_goto_label(&mut self) -> Label {
        let name = Sym(u32::MAX);
        self.label(name)
    }

    pub(super) fn finish_computed_gotos(&mut self, open: &mut Open) {
        let Some(dispatch) = open.labels.get(&Sym(u32::MAX)).copied() else { return };
        let end = open.b.label();
        open.b.emit(Instr::Int(0));
        open.b.emit(Instr::Return);
        open.b.place(dispatch);
        let taken = open.taken_labels.clone();
        let cases = taken
            .iter()
            .enumerate()
            .filter_map(|(i, name)| open.labels.get(name).map(|l| (i as i64 + 1, i as i64 + 1, *l)))
            .collect();
        open.b.switch(cases, end);
        open.b.place(end);
    }

    fn switch(&mut self, e: &Expr, body: &Stmt) {
        let ty = self.value(e);
        let promoted = self.types().promote(ty);
        self.convert(ty, promoted);
        let (dispatch, end) = (self.f().b.label(), self.f().b.label());
        let depth = self.f().scopes.len();
        self.f().b.jump(dispatch);
        self.f().switches.push(Switch::default());
        self.f().breaks.push((end, depth));
        self.statement(body);
        self.f().breaks.pop();
        let s = self.f().switches.pop().unwrap_or_default();
        self.f().b.jump(end);
        self.f().b.place(dispatch);
        self.at(e.pos);
        self.f().b.switch(s.cases, s.default.unwrap_or(end));
        self.f().b.place(end);
    }

    fn case(&mut self, lo: &Expr, hi: Option<&Expr>) {
        let label = self.f().b.label();
        self.f().b.place(label);
        let Some(lo) = self.constant(lo) else { return };
        let hi = hi.and_then(|h| self.constant(h)).unwrap_or(lo);
        if let Some(s) = self.f().switches.last_mut() {
            s.cases.push((lo, hi, label));
        }
    }

    fn local(&mut self, v: &VarDecl) {
        self.at(v.pos);
        match v.storage {
            Storage::Static => {
                let symbol = self.static_local(v);
                self.declare(v.name, Variable { home: Home::Symbol(symbol), ty: v.ty });
                return;
            }
            Storage::Extern => {
                if let Some(symbol) = self.file_scope.get(&v.name).copied() {
                    self.declare(v.name, Variable { home: Home::Symbol(symbol), ty: v.ty });
                } else {
                    let size = self.types().size(v.ty).unwrap_or(8);
                    let s = crate::ir::SymbolRef::Global(self.name(v.name), size);
                    let symbol = self.symbol(s);
                    self.declare(v.name, Variable { home: Home::Symbol(symbol), ty: v.ty });
                }
                return;
            }
            Storage::None | Storage::Typedef => {}
        }
        if matches!(self.types().get(v.ty), Type::Vla(..)) {
            self.variable_length(v);
            return;
        }
        if !self.needs_memory(v.name, v.ty)
            && let Some(slot) = self.f().b.local()
        {
            self.slot_variable(v, slot);
            return;
        }
        let size = self.types().size(v.ty).unwrap_or_else(|| self.types().room(v.ty).max(64));
        let at = self.f().b.frame(size);
        let variable = Variable { home: Home::Frame(at), ty: v.ty };
        self.declare(v.name, variable);
        if let Some(cleanup) = v.cleanup
            && let Some(scope) = self.f().scopes.last_mut()
        {
            scope.cleanups.push((cleanup, variable));
        }
        match &v.init {
            Some(init) => self.init_memory(v.ty, init, v.pos, &|l| l.emit(Instr::FrameAddr(at))),
            // When its lifetime begins again in a loop, it holds nothing.
            None => {
                self.emit(Instr::FrameAddr(at));
                self.int(size);
                self.emit(Instr::Intrinsic(Intrinsic::Havoc));
                self.emit(Instr::Drop);
            }
        }
    }

    fn slot_variable(&mut self, v: &VarDecl, slot: u16) {
        // Declared before its initialiser, which may name it: `T *p = malloc(sizeof *p);`
        self.declare(v.name, Variable { home: Home::Slot(slot), ty: v.ty });
        match &v.init {
            Some(Init::Expr(e)) => {
                let from = self.value(e);
                self.convert(from, v.ty);
                self.emit(Instr::Set(slot));
            }
            Some(Init::List(items)) => {
                match items.first() {
                    Some((_, Init::Expr(e))) => {
                        let from = self.value(e);
                        self.convert(from, v.ty);
                    }
                    _ => self.emit(Instr::Int(0)),
                }
                self.emit(Instr::Set(slot));
            }
            None => {
                self.emit(Instr::Unknown);
                self.emit(Instr::Set(slot));
            }
        }
    }

    fn variable_length(&mut self, v: &VarDecl) {
        let at = self.f().b.frame(8);
        self.emit(Instr::FrameAddr(at));
        self.size_of_type(v.ty);
        self.emit(Instr::Intrinsic(Intrinsic::AllocFrame));
        self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
        self.declare(v.name, Variable { home: Home::Indirect(at), ty: v.ty });
    }
}
