//! Values.

use super::Lower;
use super::place::{CONTENT, Place, PlaceKind};
use crate::c::ast::{Expr, ExprKind, StmtKind};
use crate::c::types::{CType, Type, Types};
use crate::ir::build::Label;
use crate::ir::{AtomicInstr, Bin, Instr, MemoryOrdering, Scalar, Un};

impl Lower<'_> {
    /// Pushes the value of an expression and returns its type.
    pub(super) fn value(&mut self, e: &Expr) -> CType {
        self.at(e.pos);
        match &e.kind {
            ExprKind::Error | ExprKind::Opaque => {
                self.emit(Instr::Unknown);
                Types::UNKNOWN
            }
            ExprKind::Int(v, ty) => {
                self.int(*v);
                *ty
            }
            ExprKind::Float(v, ty) => {
                let bits = if *ty == Types::FLOAT { u64::from((*v as f32).to_bits()) } else { v.to_bits() };
                self.int(bits);
                *ty
            }
            ExprKind::Str(bytes, of) => {
                let symbol = self.string(bytes);
                self.emit(Instr::GlobalAddr(symbol));
                self.scopes.types.pointer(*of)
            }
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member(..) | ExprKind::Compound(..) => {
                let p = self.place(e);
                self.at(e.pos);
                self.load(p)
            }
            ExprKind::Deref(_) => {
                let p = self.place(e);
                self.at(e.pos);
                self.load(p)
            }
            ExprKind::AddressOf(a) => self.address_of(a),
            ExprKind::Call(f, args) => self.call(f, args, e.pos),
            ExprKind::Neg(a) => self.arithmetic_unary(a, Un::Neg),
            ExprKind::BitNot(a) => self.arithmetic_unary(a, Un::Not),
            ExprKind::Plus(a) => {
                let ty = self.value(a);
                let to = self.types().promote(ty);
                self.convert(ty, to);
                to
            }
            ExprKind::Not(a) => {
                let ty = self.value(a);
                let scalar = self.scalar(ty);
                self.emit(Instr::Un(Un::IsZero, scalar));
                Types::INT
            }
            ExprKind::Step(a, by, post) => self.step(a, *by, *post, true),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e),
            ExprKind::And(..) | ExprKind::Or(..) => self.logical(e),
            ExprKind::Assign(op, a, b) => self.assign(*op, a, b, true),
            ExprKind::Conditional(c, a, b) => self.conditional(c, a.as_deref(), b),
            ExprKind::Cast(ty, a) => self.cast(*ty, a),
            ExprKind::SizeofType(ty) => {
                self.size_of_type(*ty);
                Types::ULONG
            }
            ExprKind::SizeofExpr(a) => {
                match self.constant(e) {
                    Some(n) => self.int(n as u64),
                    None => {
                        let ty = self.static_type(a);
                        self.size_of_type(ty);
                    }
                }
                Types::ULONG
            }
            ExprKind::Comma(a, b) => {
                self.effect(a);
                self.value(b)
            }
            ExprKind::Statement(body) => self.statement_value(body),
            ExprKind::Generic(control, cases) => self.generic(control, cases),
            ExprKind::VaArg(list, ty) => self.va_arg(list, *ty),
            ExprKind::LabelAddress(label) => {
                let n = self.label_number(*label);
                self.int(n);
                self.scopes.types.pointer(Types::VOID)
            }
        }
    }

    /// Evaluates an expression for its side effects.
    pub(super) fn effect(&mut self, e: &Expr) {
        self.at(e.pos);
        match &e.kind {
            ExprKind::Assign(op, a, b) => {
                self.assign(*op, a, b, false);
            }
            ExprKind::Step(a, by, _) => {
                self.step(a, *by, false, false);
            }
            ExprKind::Comma(a, b) => {
                self.effect(a);
                self.effect(b);
            }
            ExprKind::Cast(ty, a) if *ty == Types::VOID => self.effect(a),
            ExprKind::Conditional(c, Some(a), b) => {
                let (no, end) = (self.f().b.label(), self.f().b.label());
                self.jump_unless(c, no);
                self.effect(a);
                self.f().b.jump(end);
                self.f().b.place(no);
                self.effect(b);
                self.f().b.place(end);
            }
            _ => {
                self.value(e);
                self.emit(Instr::Drop);
            }
        }
    }

    pub(super) fn scalar(&self, ty: CType) -> Scalar {
        self.types().scalar(ty).unwrap_or(Scalar::U64)
    }

    /// Converts the value on the stack.
    pub(super) fn convert(&mut self, from: CType, to: CType) {
        if matches!(self.types().get(to), Type::Bool) {
            if !matches!(self.types().get(from), Type::Bool) {
                let scalar = self.scalar(from);
                self.emit(Instr::Un(Un::Truth, scalar));
            }
            return;
        }
        if self.types().is_unknown(to) && self.scalar(from).is_float() {
            // Whether the fraction is kept is unknown, and so is the value.
            self.emit(Instr::UnknownField(CONTENT));
            return;
        }
        if self.types().is_aggregate(to) || self.types().is_unknown(to) || self.types().is_unknown(from) {
            return;
        }
        let (from, to) = (self.scalar(from), self.scalar(to));
        let same_bits =
            from == to || matches!((from, to), (Scalar::I64, Scalar::U64) | (Scalar::U64, Scalar::I64));
        if !same_bits {
            self.emit(Instr::Conv(from, to));
        }
    }

    fn cast(&mut self, to: CType, a: &Expr) -> CType {
        let from = self.value(a);
        self.convert(from, to);
        if self.types().is_aggregate(to) { from } else { to.bare() }
    }

    fn address_of(&mut self, a: &Expr) -> CType {
        let p = self.place(a);
        match p.kind {
            // Impossible: a variable whose address is taken is not in a slot. An error in the
            // source is harmless.
            PlaceKind::Slot(_) => self.emit(Instr::Unknown),
            PlaceKind::Memory | PlaceKind::Bits(..) | PlaceKind::Unknown | PlaceKind::UnknownObject => {}
        }
        if self.types().as_function(p.ty).is_some() && self.types().element(p.ty).is_some() {
            return p.ty;
        }
        self.scopes.types.pointer(p.ty)
    }

    fn arithmetic_unary(&mut self, a: &Expr, op: Un) -> CType {
        let ty = self.value(a);
        let to = self.types().promote(ty);
        self.convert(ty, to);
        let scalar = self.scalar(to);
        self.emit(Instr::Un(op, scalar));
        to
    }

    fn is_pointer(&self, ty: CType) -> bool {
        self.types().element(ty).is_some()
    }

    fn binary(&mut self, op: Bin, a: &Expr, b: &Expr, e: &Expr) -> CType {
        let left = self.value(a);
        if self.is_pointer(left) && matches!(op, Bin::Add | Bin::Sub) {
            return self.pointer_arithmetic(op, left, b, e);
        }
        let static_right = self.static_type(b);
        if self.is_pointer(static_right) && op == Bin::Add {
            // `1 + p`
            let right = self.value(b);
            self.emit(Instr::Swap);
            let of = self.types().element(right).unwrap_or(Types::CHAR);
            self.scale(of);
            return right;
        }
        let compares = matches!(op, Bin::Eq | Bin::Ne | Bin::Lt | Bin::Le | Bin::Gt | Bin::Ge);
        let common = match op {
            Bin::Shl | Bin::Shr => self.types().promote(left),
            _ if self.is_pointer(left) || self.is_pointer(static_right) => Types::ULONG,
            _ => self.types().common(left, static_right),
        };
        self.convert(left, common);
        let right = self.value(b);
        if !matches!(op, Bin::Shl | Bin::Shr) {
            self.convert(right, common);
        }
        self.at(e.pos);
        let scalar = self.scalar(common);
        self.emit(Instr::Bin(op, scalar));
        if compares { Types::INT } else { common }
    }

    /// Lowers arithmetic on the pointer on the stack.
    fn pointer_arithmetic(&mut self, op: Bin, left: CType, b: &Expr, e: &Expr) -> CType {
        let right = self.value(b);
        self.at(e.pos);
        let of = self.types().element(left).unwrap_or(Types::CHAR);
        if self.is_pointer(right) {
            let size = self.types().size(of).unwrap_or(1).max(1);
            self.emit(Instr::PtrDiff(u32::try_from(size).unwrap_or(1)));
            return Types::LONG;
        }
        self.convert(right, Types::LONG);
        if op == Bin::Sub {
            self.emit(Instr::Un(Un::Neg, Scalar::I64));
        }
        self.scale(of);
        left
    }

    fn logical(&mut self, e: &Expr) -> CType {
        let (no, end) = (self.f().b.label(), self.f().b.label());
        self.jump_unless(e, no);
        self.emit(Instr::Int(1));
        self.f().b.jump(end);
        self.f().b.place(no);
        self.emit(Instr::Int(0));
        self.f().b.place(end);
        Types::INT
    }

    /// Jumps when the condition is false.
    pub(super) fn jump_unless(&mut self, e: &Expr, to: Label) {
        match &e.kind {
            ExprKind::And(a, b) => {
                self.jump_unless(a, to);
                self.jump_unless(b, to);
            }
            ExprKind::Or(a, b) => {
                let yes = self.f().b.label();
                self.jump_if(a, yes);
                self.jump_unless(b, to);
                self.f().b.place(yes);
            }
            ExprKind::Not(a) => self.jump_if(a, to),
            _ => {
                let ty = self.value(e);
                self.float_truth(ty);
                self.at(e.pos);
                self.f().b.jump_if_not(to);
            }
        }
    }

    /// Jumps when the condition is true.
    pub(super) fn jump_if(&mut self, e: &Expr, to: Label) {
        match &e.kind {
            ExprKind::And(a, b) => {
                let no = self.f().b.label();
                self.jump_unless(a, no);
                self.jump_if(b, to);
                self.f().b.place(no);
            }
            ExprKind::Or(a, b) => {
                self.jump_if(a, to);
                self.jump_if(b, to);
            }
            ExprKind::Not(a) => self.jump_unless(a, to),
            _ => {
                let ty = self.value(e);
                self.float_truth(ty);
                self.at(e.pos);
                self.f().b.jump_if(to);
            }
        }
    }

    /// Jumps test all bits; −0.0 has one set.
    fn float_truth(&mut self, ty: CType) {
        let scalar = self.scalar(ty);
        if scalar.is_float() {
            self.emit(Instr::Un(Un::Truth, scalar));
        }
    }

    fn conditional(&mut self, c: &Expr, a: Option<&Expr>, b: &Expr) -> CType {
        let (no, end) = (self.f().b.label(), self.f().b.label());
        let yes_type = match a {
            Some(a) => self.static_type(a),
            None => self.static_type(c),
        };
        let no_type = self.static_type(b);
        let common = self.conditional_type(yes_type, no_type);
        let common = self.decay(common);
        let Some(a) = a else {
            // `c ?: b`
            let ty = self.value(c);
            self.emit(Instr::Dup);
            self.f().b.jump_if_not(no);
            self.convert(ty, common);
            self.f().b.jump(end);
            self.f().b.place(no);
            self.emit(Instr::Drop);
            let ty = self.value(b);
            self.convert(ty, common);
            self.f().b.place(end);
            return common;
        };
        self.jump_unless(c, no);
        let ty = self.value(a);
        self.convert(ty, common);
        self.f().b.jump(end);
        self.f().b.place(no);
        let ty = self.value(b);
        self.convert(ty, common);
        self.f().b.place(end);
        common
    }

    pub(super) fn conditional_type(&self, a: CType, b: CType) -> CType {
        if self.types().is_aggregate(a) && !self.is_pointer(a) {
            return a;
        }
        match (self.is_pointer(a), self.is_pointer(b)) {
            (true, true) => match self.types().element(a) {
                Some(t) if t.bare() == Types::VOID => b,
                _ => a,
            },
            (true, false) => a,
            (false, true) => b,
            (false, false) if a == Types::VOID || b == Types::VOID => Types::VOID,
            (false, false) => self.types().common(a, b),
        }
    }

    fn statement_value(&mut self, body: &[crate::c::ast::Stmt]) -> CType {
        self.f().scopes.push(super::Scope::default());
        let ty = match body.split_last() {
            Some((last, rest)) => {
                self.statements(rest);
                match &last.kind {
                    StmtKind::Expr(e) => self.value(e),
                    _ => {
                        self.statement(last);
                        self.emit(Instr::Int(0));
                        Types::VOID
                    }
                }
            }
            None => {
                self.emit(Instr::Int(0));
                Types::VOID
            }
        };
        self.leave_scope();
        ty
    }

    fn generic(&mut self, control: &Expr, cases: &[(Option<CType>, Expr)]) -> CType {
        let ty = self.static_type(control);
        let ty = self.decay(ty);
        let chosen = cases.iter().find(|(t, _)| t.is_some_and(|t| t.bare() == ty));
        match chosen.or_else(|| cases.iter().find(|(t, _)| t.is_none())) {
            Some((_, e)) => self.value(e),
            None => {
                self.emit(Instr::Unknown);
                Types::UNKNOWN
            }
        }
    }

    /// `a = b` or `a op= b`. Leaves the value on the stack if `keep`, else nothing.
    pub(super) fn assign(&mut self, op: Option<Bin>, a: &Expr, b: &Expr, keep: bool) -> CType {
        let p = self.place(a);
        if let Some(op) = op {
            return self.compound_assign(op, p, a, b, keep);
        }
        if self.types().is_aggregate(p.ty) && p.kind == PlaceKind::Memory {
            if keep {
                self.emit(Instr::Dup);
            }
            let from = self.value(b);
            self.at(a.pos);
            let size = self.types().size(p.ty).unwrap_or(0);
            let size = u32::try_from(size).unwrap_or(0);
            let atomic = p.ty.is_atomic() || from.is_atomic();
            self.emit(if atomic { Instr::CopyAtomic(size) } else { Instr::Copy(size) });
            return p.ty;
        }
        let ty = self.value(b);
        self.convert(ty, p.ty);
        self.at(a.pos);
        self.store(p, keep);
        p.ty.bare()
    }

    fn compound_assign(&mut self, op: Bin, p: Place, a: &Expr, b: &Expr, keep: bool) -> CType {
        if p.ty.is_atomic() && p.kind == PlaceKind::Memory && !self.is_pointer(p.ty) {
            return self.atomic_assign(op, p, b, keep);
        }
        if !matches!(p.kind, PlaceKind::Slot(_)) {
            self.emit(Instr::Dup);
        }
        self.at(a.pos);
        let left = self.load(p);
        if self.is_pointer(left) && matches!(op, Bin::Add | Bin::Sub) {
            let right = self.value(b);
            self.convert(right, Types::LONG);
            if op == Bin::Sub {
                self.emit(Instr::Un(Un::Neg, Scalar::I64));
            }
            let of = self.types().element(left).unwrap_or(Types::CHAR);
            self.scale(of);
        } else {
            let right = self.static_type(b);
            let common = match op {
                Bin::Shl | Bin::Shr => self.types().promote(left),
                _ => self.types().common(left, right),
            };
            self.convert(left, common);
            let right = self.value(b);
            if !matches!(op, Bin::Shl | Bin::Shr) {
                self.convert(right, common);
            }
            let scalar = self.scalar(common);
            self.emit(Instr::Bin(op, scalar));
            self.convert(common, p.ty);
        }
        self.at(a.pos);
        self.store(p, keep);
        p.ty.bare()
    }

    /// Lowers an atomic `a op= b` whose address is on the stack.
    fn atomic_assign(&mut self, op: Bin, p: Place, b: &Expr, keep: bool) -> CType {
        let ty = self.value(b);
        self.convert(ty, p.ty);
        let scalar = self.scalar(p.ty);
        let slot = if keep { self.f().b.local() } else { None };
        if let Some(slot) = slot {
            self.emit(Instr::Tee(slot));
        }
        self.emit(Instr::Atomic(AtomicInstr::Rmw(op), scalar, MemoryOrdering::SeqCst));
        match slot {
            Some(slot) => {
                self.emit(Instr::Get(slot));
                self.emit(Instr::Bin(op, scalar));
            }
            None if keep => {}
            None => self.emit(Instr::Drop),
        }
        p.ty.bare()
    }

    fn step(&mut self, a: &Expr, by: i32, post: bool, keep: bool) -> CType {
        let one = Expr { pos: a.pos, kind: ExprKind::Int(1, Types::INT) };
        let op = if by > 0 { Bin::Add } else { Bin::Sub };
        let ty = self.assign(Some(op), a, &one, keep);
        if !(keep && post) {
            return ty;
        }
        // The old value is the new one stepped back.
        if self.is_pointer(ty) {
            self.emit(Instr::Int(-by));
            let of = self.types().element(ty).unwrap_or(Types::CHAR);
            self.scale(of);
            return ty;
        }
        let scalar = self.scalar(ty);
        match scalar {
            Scalar::F64 => self.int(1f64.to_bits()),
            Scalar::F32 => self.int(u64::from(1f32.to_bits())),
            _ => self.emit(Instr::Int(1)),
        }
        self.emit(Instr::Bin(if by > 0 { Bin::Sub } else { Bin::Add }, scalar));
        ty
    }

    pub(super) fn size_of_type(&mut self, ty: CType) {
        if let Some(size) = self.types().size(ty) {
            self.int(size);
            return;
        }
        let Type::Vla(of, length) = *self.types().get(ty) else {
            self.emit(Instr::Unknown);
            return;
        };
        self.size_of_type(of);
        // Evaluated again: the length's expression is nearly always a plain variable.
        let e = self.scopes.lengths[length as usize].clone();
        let ty = self.value(&e);
        self.convert(ty, Types::LONG);
        self.emit(Instr::Bin(Bin::Mul, Scalar::I64));
    }

    /// The type an expression will have, without emitting code.
    pub(super) fn static_type(&self, e: &Expr) -> CType {
        let types = self.types();
        match &e.kind {
            ExprKind::Int(_, ty) | ExprKind::Float(_, ty) | ExprKind::Cast(ty, _) => *ty,
            ExprKind::Compound(ty, _) | ExprKind::VaArg(_, ty) => *ty,
            ExprKind::Str(_, of) => types.find_pointer(*of).unwrap_or(Types::ULONG),
            ExprKind::Name(n) => {
                if let Some((v, _)) = self.find_local(*n) {
                    return v.ty;
                }
                self.declared_type(*n).unwrap_or(Types::UNKNOWN)
            }
            ExprKind::Call(f, args) => self.call_type(f, args),
            ExprKind::Index(a, i) => self.pointee(a).or_else(|| self.pointee(i)).unwrap_or(Types::UNKNOWN),
            ExprKind::Deref(a) => {
                // `*&x` is `x`, as in `pointee`. The operand's type is computed once: `****p` would
                // double the work with each star.
                if let ExprKind::AddressOf(x) = &a.kind {
                    return self.static_type(x);
                }
                let ty = self.static_type(a);
                match types.as_function(ty) {
                    Some(_) => ty,
                    None => types.element(ty).unwrap_or(Types::UNKNOWN),
                }
            }
            ExprKind::Member(a, name, arrow) => {
                let ty = if *arrow { self.pointee(a).unwrap_or(Types::UNKNOWN) } else { self.static_type(a) };
                types.member(ty, *name).map_or(Types::UNKNOWN, |m| m.ty)
            }
            ExprKind::AddressOf(a) => {
                types.find_pointer(self.static_type(a)).unwrap_or_else(|| self.any_pointer())
            }
            ExprKind::Neg(a) | ExprKind::BitNot(a) | ExprKind::Plus(a) => types.promote(self.static_type(a)),
            ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => Types::INT,
            ExprKind::Step(a, ..) | ExprKind::Assign(_, a, _) => self.static_type(a).bare(),
            ExprKind::Binary(op, a, b) => self.static_binary(*op, a, b),
            ExprKind::Conditional(_, Some(a), b) => {
                self.conditional_type(self.static_type(a), self.static_type(b))
            }
            ExprKind::Conditional(a, None, b) => {
                self.conditional_type(self.static_type(a), self.static_type(b))
            }
            ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => Types::ULONG,
            ExprKind::Comma(_, b) => self.static_type(b),
            ExprKind::Statement(body) => match body.last().map(|s| &s.kind) {
                Some(StmtKind::Expr(e)) => self.statement_type(body, e),
                _ => Types::VOID,
            },
            ExprKind::Generic(_, cases) => cases.first().map_or(Types::UNKNOWN, |(_, e)| self.static_type(e)),
            ExprKind::LabelAddress(_) => self.any_pointer(),
            ExprKind::Error | ExprKind::Opaque => Types::UNKNOWN,
        }
    }

    /// The type that an expression points to. `&x` is looked through, because its type may not
    /// exist yet.
    pub(super) fn pointee(&self, e: &Expr) -> Option<CType> {
        match &e.kind {
            ExprKind::AddressOf(a) => Some(self.static_type(a)),
            _ => self.types().element(self.static_type(e)),
        }
    }

    /// The type of a statement expression. Its last expression often names a variable declared in
    /// it.
    fn statement_type(&self, body: &[crate::c::ast::Stmt], e: &Expr) -> CType {
        if let ExprKind::Name(n) = &e.kind {
            for s in body.iter().rev() {
                if let StmtKind::Decl(vars) = &s.kind
                    && let Some(v) = vars.iter().find(|v| v.name == *n)
                {
                    return v.ty;
                }
            }
        }
        self.static_type(e)
    }

    /// Any pointer type, where only "is a pointer" matters.
    fn any_pointer(&self) -> CType {
        self.types().find_pointer(Types::VOID).unwrap_or(Types::ULONG)
    }

    fn static_binary(&self, op: Bin, a: &Expr, b: &Expr) -> CType {
        if matches!(op, Bin::Eq | Bin::Ne | Bin::Lt | Bin::Le | Bin::Gt | Bin::Ge) {
            return Types::INT;
        }
        let (a, b) = (self.static_type(a), self.static_type(b));
        match (self.is_pointer(a), self.is_pointer(b)) {
            (true, true) => Types::LONG,
            (true, false) => a,
            (false, true) => b,
            _ if matches!(op, Bin::Shl | Bin::Shr) => self.types().promote(a),
            _ => self.types().common(a, b),
        }
    }
}
