//! Functions: parameters, prologue, and which variables stay out of memory.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Home, Lower, Open, Scope, Variable};
use crate::c::ast::{Expr, ExprKind, FunctionDef, Init, OmpKind, Stmt, StmtKind};
use crate::c::token::Sym;
use crate::c::types::{CType, Type, Types};
use crate::ir::build::Builder;
use crate::ir::{AccessClass, Instr, Scalar, UnitFunction};

impl Lower<'_> {
    pub(super) fn function(&mut self, f: &FunctionDef) {
        let index = self.unit.functions.len() as u32;
        let expected = self.own_functions.get(&f.name).copied();
        let own = expected.map(|s| &self.unit.symbols[s as usize]);
        // The second definition of a name, while one is being turned into the other. The first one
        // stays.
        if own.is_none_or(|s| *s != crate::ir::SymbolRef::OwnFunction(index)) {
            return;
        }
        let mut uses = Uses::default();
        uses.block(&f.body);
        let result = self.types().as_function(f.ty).map_or(Types::INT, |t| t.result);
        let variadic = self.types().as_function(f.ty).is_some_and(|t| t.variadic && !f.params.is_empty());
        self.open.push(Open {
            b: Builder::at(f.pos),
            scopes: vec![Scope::default()],
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            labels: FxHashMap::default(),
            taken_labels: Vec::new(),
            result,
            result_slot: None,
            name: self.name(f.name),
            addressed: uses.addressed,
            shared: uses.parallel,
            team: None,
        });
        if uses.parallel {
            // Offset 0 of a shared frame links to the frame outside it.
            self.f().b.frame(8);
        }
        let params = self.parameters(f, result);
        self.statements(&f.body);
        let open = self.open.pop().expect("opened above");
        let mut done = self.close(open, f);
        done.params = params;
        done.variadic = variadic;
        done.load_hook = f.load_hook;
        done.param_objects = f.params.iter().map(|p| self.object_behind(p.1)).collect();
        done.end_line = f.end_line;
        self.unit.functions.push(done);
    }

    fn close(&mut self, mut open: Open, f: &FunctionDef) -> UnitFunction {
        self.finish_computed_gotos(&mut open);
        let linkage = self.linkage(f);
        let name = open.name.clone();
        open.b.finish(name, linkage, f.pos)
    }

    /// Parameters are the first locals. Those that need memory are moved there.
    fn parameters(&mut self, f: &FunctionDef, result: CType) -> u32 {
        let mut count = 0;
        if self.types().is_aggregate(result) {
            self.f().result_slot = self.f().b.local();
            count += 1;
        }
        let slots: Vec<_> = f.params.iter().map(|p| (p, self.f().b.local())).collect();
        count += f.params.len() as u32;
        for ((name, ty, pos), slot) in slots {
            let Some(slot) = slot else { continue };
            self.at(*pos);
            let home = self.parameter_home(*name, *ty, slot);
            self.declare(*name, Variable { home, ty: *ty });
        }
        count
    }

    fn parameter_home(&mut self, name: Sym, ty: CType, slot: u16) -> Home {
        if self.types().is_aggregate(ty) {
            let at = self.f().b.frame(8);
            self.emit(Instr::FrameAddr(at));
            self.emit(Instr::Get(slot));
            self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
            return Home::Indirect(at);
        }
        if !self.needs_memory(name, ty) {
            return Home::Slot(slot);
        }
        let size = self.types().size(ty).unwrap_or(8);
        let scalar = self.types().scalar(ty).unwrap_or(Scalar::U64);
        let at = self.f().b.frame(size);
        self.emit(Instr::FrameAddr(at));
        self.emit(Instr::Get(slot));
        self.emit(Instr::Store(scalar, AccessClass::Hidden));
        Home::Frame(at)
    }

    /// The size of the record that a pointer parameter points to, 0 if there is none.
    fn object_behind(&self, ty: CType) -> u32 {
        match self.types().element(ty) {
            Some(to) if matches!(self.types().get(to), Type::Record(_)) => {
                self.types().size(to).filter(|s| *s < 1 << 20).unwrap_or(0) as u32
            }
            _ => 0,
        }
    }

    pub(super) fn needs_memory(&mut self, name: Sym, ty: CType) -> bool {
        let aggregate = self.types().is_aggregate(ty);
        let f = self.f();
        aggregate || f.shared || ty.is_volatile() || ty.is_atomic() || f.addressed.contains(&name)
    }

    pub(super) fn declare(&mut self, name: Sym, variable: Variable) {
        if let Some(scope) = self.f().scopes.last_mut() {
            scope.variables.insert(name, variable);
        }
    }

    /// Finds a local variable, and how many functions further out it lives.
    pub(super) fn find_local(&self, name: Sym) -> Option<(Variable, usize)> {
        self.open.iter().rev().enumerate().find_map(|(level, f)| {
            f.scopes.iter().rev().find_map(|s| s.variables.get(&name)).map(|v| (*v, level))
        })
    }
}

/// How a body uses names, found in one walk before lowering.
#[derive(Default)]
pub(super) struct Uses {
    pub addressed: FxHashSet<Sym>,
    pub parallel: bool,
}

impl Uses {
    pub fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Expr(e) | StmtKind::GotoPointer(e) => self.expr(e),
            StmtKind::Decl(vars) => {
                for v in vars {
                    if let Some(i) = &v.init {
                        self.init(i);
                    }
                    if v.cleanup.is_some() {
                        self.addressed.insert(v.name);
                    }
                }
            }
            StmtKind::Block(b) => self.block(b),
            StmtKind::If(c, a, b) => {
                self.expr(c);
                self.stmt(a);
                b.iter().for_each(|b| self.stmt(b));
            }
            StmtKind::While(c, b) | StmtKind::DoWhile(b, c) | StmtKind::Switch(c, b) => {
                self.expr(c);
                self.stmt(b);
            }
            StmtKind::For(i, c, n, b) => {
                i.iter().for_each(|s| self.stmt(s));
                c.iter().chain(n).for_each(|e| self.expr(e));
                self.stmt(b);
            }
            StmtKind::Return(Some(e)) => self.expr(e),
            StmtKind::Label(_, b) | StmtKind::Default(b) | StmtKind::Case(_, _, b) => self.stmt(b),
            StmtKind::Omp(d, b) => {
                self.parallel |= !matches!(d.kind, OmpKind::Other);
                b.iter().for_each(|s| self.stmt(s));
            }
            _ => {}
        }
    }

    fn init(&mut self, i: &Init) {
        match i {
            Init::Expr(e) => self.expr(e),
            Init::List(items) => items.iter().for_each(|(_, i)| self.init(i)),
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::AddressOf(a) => {
                if let Some(name) = root(a) {
                    self.addressed.insert(name);
                }
                self.expr(a);
            }
            ExprKind::Call(f, args) => {
                self.expr(f);
                args.iter().for_each(|a| self.expr(a));
            }
            ExprKind::Index(a, b)
            | ExprKind::Binary(_, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Comma(a, b)
            | ExprKind::Conditional(a, None, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Conditional(a, Some(b), c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
            ExprKind::Member(a, ..)
            | ExprKind::Deref(a)
            | ExprKind::Neg(a)
            | ExprKind::BitNot(a)
            | ExprKind::Not(a)
            | ExprKind::Plus(a)
            | ExprKind::Step(a, ..)
            | ExprKind::Cast(_, a)
            | ExprKind::VaArg(a, _) => self.expr(a),
            ExprKind::Compound(_, i) => self.init(i),
            ExprKind::Statement(b) => self.block(b),
            ExprKind::Generic(_, cases) => cases.iter().for_each(|(_, e)| self.expr(e)),
            _ => {}
        }
    }
}

/// The variable that `a.b[1].c` is part of.
fn root(e: &Expr) -> Option<Sym> {
    match &e.kind {
        ExprKind::Name(n) => Some(*n),
        ExprKind::Member(a, _, false) | ExprKind::Index(a, _) | ExprKind::Cast(_, a) => root(a),
        ExprKind::Generic(_, _) | ExprKind::Conditional(..) => None,
        _ => None,
    }
}
