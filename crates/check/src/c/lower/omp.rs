//! OpenMP: parallel regions become functions that a team of threads runs.
//!
//! A function with directives keeps all its variables in its frame (see `needs_memory`). An
//! outlined region reaches them through the frame's address, which it gets with its place in the
//! team:
//!
//! - `parallel`: the team is started and joined; that is the implied barrier at the end.
//! - `for`: every member runs the loop's head. Member `i % size` runs the body of iteration `i`.
//!   That is one of the distributions that the standard allows, and for happens-before any one will
//!   do.
//! - `single`, `master`: one member. `sections`: section `i` by member `i % size`.
//! - `critical`, `atomic`, `ordered`: a lock each, by name. `reduction`: a private copy, combined
//!   under a lock at the end.
//! - `task`: run in place. That is an order the standard allows, so it invents no race.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::func::Uses;
use super::{Home, Lower, Open, Scope, Variable};
use crate::c::ast::{Expr, ExprKind, OmpDirective, OmpKind, ReductionOp, Stmt, StmtKind};
use crate::c::token::Sym;
use crate::c::types::{CType, Types};
use crate::ir::build::Builder;
use crate::ir::{AccessClass, Bin, Global, GlobalShape, Instr, Linkage, Pos, Scalar, SymbolRef, SyncOp};

/// The number of threads in a team, unless the program asks for fewer.
const TEAM: i64 = 3;
const MOST: i64 = 4;

/// What an outlined region knows about its team, as frame offsets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Team {
    /// Holds the address of the team's barrier.
    barrier: u32,
}

impl Lower<'_> {
    pub(super) fn omp(&mut self, d: &OmpDirective, body: Option<&Stmt>, pos: Pos) {
        let in_team = self.f().team.is_some();
        match (d.kind, body) {
            (OmpKind::Parallel | OmpKind::ParallelFor | OmpKind::ParallelSections, Some(body)) => {
                self.parallel(d, body, pos);
            }
            (OmpKind::For, Some(body)) => self.work(d, body, |l| l.shared_loop(body, d)),
            (OmpKind::Sections, Some(body)) => self.work(d, body, |l| l.sections(body)),
            (OmpKind::Single, Some(body)) if in_team => self.work(d, body, |l| l.by_member(0, body)),
            (OmpKind::Master, Some(body)) if in_team => self.by_member(0, body),
            (OmpKind::Critical, Some(body)) => {
                let name = d.name.map_or_else(|| Arc::from("critical"), |n| self.name(n));
                self.locked(&format!("omp critical {name}"), body);
            }
            (OmpKind::Ordered, Some(body)) => self.locked("omp ordered", body),
            (OmpKind::Atomic, Some(body)) => self.locked("omp atomic", body),
            (OmpKind::Barrier, _) => self.team_barrier(),
            (_, Some(body)) => self.statement(body),
            (_, None) => {}
        }
    }

    /// Lowers work shared by a team, with its clauses and the barrier at its end.
    fn work(&mut self, d: &OmpDirective, _: &Stmt, inner: impl FnOnce(&mut Self)) {
        self.f().scopes.push(Scope::default());
        let reductions = self.privatise(d);
        inner(self);
        self.combine(&reductions);
        self.leave_scope();
        if !d.nowait {
            self.team_barrier();
        }
    }

    fn team_barrier(&mut self) {
        if let Some(team) = self.f().team {
            self.emit(Instr::FrameAddr(team.barrier));
            self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
            self.emit(Instr::Sync(SyncOp::BarrierWait));
            self.emit(Instr::Drop);
        }
    }

    /// Lowers a statement under a lock that the whole program knows by name.
    fn locked(&mut self, name: &str, body: &Stmt) {
        let symbol = self.hidden_global(name);
        self.emit(Instr::GlobalAddr(symbol));
        self.emit(Instr::Sync(SyncOp::Lock));
        self.emit(Instr::Drop);
        self.statement(body);
        self.emit(Instr::GlobalAddr(symbol));
        self.emit(Instr::Sync(SyncOp::Unlock));
        self.emit(Instr::Drop);
    }

    fn hidden_global(&mut self, name: &str) -> u32 {
        let known = self.unit.globals.iter().position(|g| &*g.name == name && g.linkage == Linkage::Weak);
        let index = known.unwrap_or_else(|| {
            self.unit.globals.push(Global {
                name: name.into(),
                linkage: Linkage::Weak,
                pos: Pos::default(),
                size: 8,
                init: None,
                relocs: Vec::new(),
                thread_local: false,
                constant: true,
                declared_only: false,
                shape: GlobalShape::default(),
            });
            self.unit.globals.len() - 1
        });
        self.symbol(SymbolRef::OwnGlobal(index as u32))
    }

    fn by_member(&mut self, member: i32, body: &Stmt) {
        let end = self.f().b.label();
        self.emit(Instr::Sync(SyncOp::TeamId));
        self.emit(Instr::Int(member));
        self.emit(Instr::Bin(Bin::Eq, Scalar::I64));
        self.f().b.jump_if_not(end);
        self.statement(body);
        self.f().b.place(end);
    }

    /// Runs `inner` if it is this member's turn by the counter.
    fn in_turn(&mut self, counter: u32, inner: impl FnOnce(&mut Self)) {
        let end = self.f().b.label();
        self.emit(Instr::FrameAddr(counter));
        self.emit(Instr::Load(Scalar::I64, AccessClass::Hidden));
        self.emit(Instr::Sync(SyncOp::TeamSize));
        self.emit(Instr::Bin(Bin::Rem, Scalar::I64));
        self.emit(Instr::Sync(SyncOp::TeamId));
        self.emit(Instr::Bin(Bin::Eq, Scalar::I64));
        self.emit(Instr::FrameAddr(counter));
        self.emit(Instr::Dup);
        self.emit(Instr::Load(Scalar::I64, AccessClass::Hidden));
        self.emit(Instr::Int(1));
        self.emit(Instr::Bin(Bin::Add, Scalar::I64));
        self.emit(Instr::Store(Scalar::I64, AccessClass::Hidden));
        self.f().b.jump_if_not(end);
        inner(self);
        self.f().b.place(end);
    }

    fn counter(&mut self) -> u32 {
        let counter = self.f().b.frame(8);
        self.emit(Instr::FrameAddr(counter));
        self.emit(Instr::Int(0));
        self.emit(Instr::Store(Scalar::I64, AccessClass::Hidden));
        counter
    }

    fn sections(&mut self, body: &Stmt) {
        let counter = self.counter();
        let parts = match &body.kind {
            StmtKind::Block(parts) => parts.as_slice(),
            _ => std::slice::from_ref(body),
        };
        for part in parts {
            let part = match &part.kind {
                StmtKind::Omp(d, Some(inner)) if d.kind == OmpKind::Section => inner,
                _ => part,
            };
            self.in_turn(counter, |l| l.statement(part));
        }
    }

    /// A `for` whose iterations the team shares. Its variable is private to each member.
    fn shared_loop(&mut self, body: &Stmt, d: &OmpDirective) {
        let StmtKind::For(init, condition, step, inner) = &body.kind else {
            self.statement(body);
            return;
        };
        self.f().scopes.push(Scope::default());
        self.private_loop_variable(init.as_deref());
        self.private_inner_variables(inner, d.collapse);
        let counter = self.counter();
        if let Some(init) = init {
            self.statement(init);
        }
        let (top, next, end) = (self.f().b.label(), self.f().b.label(), self.f().b.label());
        let depth = self.f().scopes.len();
        self.f().b.place(top);
        if let Some(c) = condition {
            self.jump_unless(c, end);
        }
        self.f().breaks.push((end, depth));
        self.f().continues.push((next, depth));
        self.in_turn(counter, |l| l.statement(inner));
        self.f().breaks.pop();
        self.f().continues.pop();
        self.f().b.place(next);
        if let Some(step) = step {
            self.effect(step);
        }
        self.f().b.jump(top);
        self.f().b.place(end);
        self.leave_scope();
    }

    fn private_loop_variable(&mut self, init: Option<&Stmt>) {
        if let Some(Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Assign(None, a, _), .. }), .. }) = init
            && let ExprKind::Name(n) = &a.kind
        {
            self.private_copy(*n);
        }
    }

    /// `collapse(n)` makes the variables of the inner loops private too.
    fn private_inner_variables(&mut self, body: &Stmt, collapse: u32) {
        if collapse < 2 {
            return;
        }
        match &body.kind {
            StmtKind::For(init, _, _, inner) => {
                self.private_loop_variable(init.as_deref());
                self.private_inner_variables(inner, collapse - 1);
            }
            StmtKind::Block(b) => b.iter().for_each(|s| self.private_inner_variables(s, collapse)),
            _ => {}
        }
    }

    /// Makes a variable of this member's own that hides the shared one. Returns the shared one.
    fn private_copy(&mut self, name: Sym) -> Option<Private> {
        let shared = self.find_local(name);
        let ty = match shared {
            Some((v, _)) => v.ty,
            None => self.declared_type(name)?,
        };
        let size = self.types().size(ty).unwrap_or(64);
        let at = self.f().b.frame(size);
        self.declare(name, Variable { home: Home::Frame(at), ty });
        Some(Private { ty, own: at, shared, file_scope: self.file_scope.get(&name).copied() })
    }

    /// Applies data-sharing clauses. Returns what must be combined at the end.
    fn privatise(&mut self, d: &OmpDirective) -> Vec<(ReductionOp, Private)> {
        for name in d.private.iter().chain(&d.lastprivate) {
            self.private_copy(*name);
        }
        for name in &d.firstprivate {
            if let Some(p) = self.private_copy(*name) {
                self.emit(Instr::FrameAddr(p.own));
                self.shared_address(&p);
                let size = self.types().size(p.ty).unwrap_or(0);
                self.emit(Instr::Copy(size as u32));
            }
        }
        let mut reductions = Vec::new();
        for (op, name) in &d.reduction {
            if let Some(p) = self.private_copy(*name) {
                self.start_reduction(*op, &p);
                reductions.push((*op, p));
            }
        }
        reductions
    }

    fn shared_address(&mut self, p: &Private) {
        match (p.shared, p.file_scope) {
            (Some((v, level)), _) => {
                self.variable_place(v, level);
            }
            (None, Some(symbol)) => self.emit(Instr::GlobalAddr(symbol)),
            (None, None) => self.emit(Instr::Unknown),
        }
    }

    fn start_reduction(&mut self, op: ReductionOp, p: &Private) {
        let Some(scalar) = self.types().scalar(p.ty) else { return };
        self.emit(Instr::FrameAddr(p.own));
        match op {
            ReductionOp::Min | ReductionOp::Max => {
                // Any value of the variable is neutral enough: start from the shared one.
                self.shared_address(p);
                self.emit(Instr::Load(scalar, AccessClass::Hidden));
            }
            _ => {
                let one = matches!(op, ReductionOp::Bin(Bin::Mul) | ReductionOp::LogicalAnd);
                let ones = matches!(op, ReductionOp::Bin(Bin::And));
                self.emit(Instr::Int(if ones { -1 } else { i32::from(one) }));
                self.convert(Types::INT, p.ty);
            }
        }
        self.emit(Instr::Store(scalar, AccessClass::Hidden));
    }

    fn combine(&mut self, reductions: &[(ReductionOp, Private)]) {
        if reductions.is_empty() {
            return;
        }
        let lock = self.hidden_global("omp reduction");
        self.emit(Instr::GlobalAddr(lock));
        self.emit(Instr::Sync(SyncOp::Lock));
        self.emit(Instr::Drop);
        for (op, p) in reductions {
            let Some(scalar) = self.types().scalar(p.ty) else { continue };
            self.shared_address(p);
            self.emit(Instr::Dup);
            self.emit(Instr::Load(scalar, AccessClass::Plain));
            self.emit(Instr::FrameAddr(p.own));
            self.emit(Instr::Load(scalar, AccessClass::Hidden));
            let op = match op {
                ReductionOp::Bin(Bin::Sub) => Bin::Add,
                ReductionOp::Bin(op) => *op,
                ReductionOp::LogicalAnd => Bin::And,
                ReductionOp::LogicalOr => Bin::Or,
                // The result is one of the two; which one does not matter for ordering.
                ReductionOp::Min | ReductionOp::Max => {
                    self.emit(Instr::Swap);
                    self.emit(Instr::Drop);
                    self.emit(Instr::Store(scalar, AccessClass::Plain));
                    continue;
                }
            };
            self.emit(Instr::Bin(op, scalar));
            self.emit(Instr::Store(scalar, AccessClass::Plain));
        }
        self.emit(Instr::GlobalAddr(lock));
        self.emit(Instr::Sync(SyncOp::Unlock));
        self.emit(Instr::Drop);
    }

    /// Outlines a region and runs it on a team.
    fn parallel(&mut self, d: &OmpDirective, body: &Stmt, pos: Pos) {
        let asked = d.num_threads.as_ref().and_then(|e| self.constant(e)).unwrap_or(TEAM);
        let size = asked.clamp(1, MOST) as i32;
        let function = self.outline(d, body, pos);
        self.at(pos);
        // The frame and the barrier, the same for each member.
        let packet = self.f().b.frame(16);
        let barrier = self.f().b.frame(8);
        for (offset, address) in [(0, 0), (8, barrier)] {
            self.emit(Instr::FrameAddr(packet));
            self.emit(Instr::Field(offset));
            self.emit(Instr::FrameAddr(address));
            self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
        }
        self.emit(Instr::FrameAddr(barrier));
        self.emit(Instr::Int(size));
        self.emit(Instr::Sync(SyncOp::BarrierInit));
        self.emit(Instr::Drop);
        let handles: Vec<u32> = (0..size).map(|_| self.f().b.frame(8)).collect();
        for (i, handle) in handles.iter().enumerate() {
            self.emit(Instr::FrameAddr(*handle));
            self.emit(Instr::FuncAddr(function));
            self.emit(Instr::FrameAddr(packet));
            self.emit(Instr::Int(i as i32));
            self.emit(Instr::Int(size));
            self.emit(Instr::Sync(SyncOp::StartMember));
            self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
        }
        for handle in handles {
            self.emit(Instr::FrameAddr(handle));
            self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
            self.emit(Instr::Sync(SyncOp::Join));
            self.emit(Instr::Drop);
        }
    }

    /// Lowers a region to a function of its own. Returns its symbol.
    fn outline(&mut self, d: &OmpDirective, body: &Stmt, pos: Pos) -> u32 {
        let mut uses = Uses::default();
        uses.block(std::slice::from_ref(body));
        let name: Arc<str> = format!("{} (parallel)", self.f().name).into();
        let mut b = Builder::at(pos);
        let link = b.frame(8);
        let barrier = b.frame(8);
        let slot = b.local().unwrap_or(0);
        for (offset, at) in [(0, link), (8, barrier)] {
            b.emit(Instr::FrameAddr(at));
            b.emit(Instr::Get(slot));
            b.emit(Instr::Field(offset));
            b.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
            b.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
        }
        self.open.push(Open {
            b,
            scopes: vec![Scope::default()],
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            labels: FxHashMap::default(),
            taken_labels: Vec::new(),
            result: Types::VOID,
            result_slot: None,
            name: name.clone(),
            addressed: uses.addressed,
            shared: true,
            team: Some(Team { barrier }),
        });
        let reductions = self.privatise(d);
        match d.kind {
            OmpKind::ParallelFor => self.shared_loop(body, d),
            OmpKind::ParallelSections => self.sections(body),
            _ => self.statement(body),
        }
        self.combine(&reductions);
        let mut open = self.open.pop().expect("opened above");
        self.finish_computed_gotos(&mut open);
        let mut f = open.b.finish(name, Linkage::Internal, pos);
        (f.params, f.outlined, f.param_objects) = (1, true, vec![0]);
        let index = self.own_functions.len() + self.outlined.len();
        self.outlined.push(f);
        self.symbol(SymbolRef::OwnFunction(index as u32))
    }
}

/// A private variable and what it hides.
#[derive(Clone, Copy)]
struct Private {
    ty: CType,
    own: u32,
    shared: Option<(Variable, usize)>,
    file_scope: Option<u32>,
}
