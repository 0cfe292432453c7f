//! Operators and assignments.

use super::Lowerer;
use super::target::AssignmentTarget;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::ir::{Bin, Instr, Scalar, Un};

fn bin_of(op: &str) -> Option<Bin> {
    Some(match op {
        "+" => Bin::Add,
        "-" => Bin::Sub,
        "*" => Bin::Mul,
        "/" => Bin::Div,
        "%" => Bin::Rem,
        "&" => Bin::And,
        "|" => Bin::Or,
        "^" => Bin::Xor,
        "<<" => Bin::Shl,
        ">>" | ">>>" => Bin::Shr,
        "==" => Bin::Eq,
        "!=" => Bin::Ne,
        "<" => Bin::Lt,
        "<=" => Bin::Le,
        ">" => Bin::Gt,
        ">=" => Bin::Ge,
        _ => return None,
    })
}

fn compares(op: Bin) -> bool {
    matches!(op, Bin::Eq | Bin::Ne | Bin::Lt | Bin::Le | Bin::Gt | Bin::Ge)
}

impl<'a> Lowerer<'_, 'a> {
    pub fn binary(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(left), Some(right)) = (s.field("left"), s.field("right")) else {
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        };
        let op = s.field("operator").map_or("", Syntax::str);
        match op {
            "&&" | "||" => self.logical(left, right, op == "||"),
            "??" => self.coalesce(left, right),
            _ => {
                let a = self.expression(left);
                let slot = self.temporary();
                self.emit(Instr::Set(slot));
                let b = self.expression(right);
                self.at(s);
                self.operate(op, slot, &a, &b)
            }
        }
    }

    fn logical(&mut self, left: Syntax<'a>, right: Syntax<'a>, or: bool) -> Ty {
        let (short, end) = (self.builder().label(), self.builder().label());
        self.expression(left);
        if or {
            self.builder().jump_if(short);
        } else {
            self.builder().jump_if_not(short);
        }
        self.expression(right);
        self.builder().jump(end);
        self.builder().place(short);
        self.int(i64::from(or));
        self.builder().place(end);
        Ty::Bool
    }

    fn coalesce(&mut self, left: Syntax<'a>, right: Syntax<'a>) -> Ty {
        let end = self.builder().label();
        let ty = self.expression(left);
        self.emit(Instr::Dup);
        self.builder().jump_if(end);
        self.emit(Instr::Drop);
        let inner = match &ty {
            Ty::Nullable(t) => (**t).clone(),
            t => t.clone(),
        };
        let other = self.expression_as(right, &inner);
        self.builder().place(end);
        if inner.is_known() { inner } else { other }
    }

    /// Applies an operator to the value in a local and the value on the stack.
    pub fn operate(&mut self, op: &str, left: u16, a: &Ty, b: &Ty) -> Ty {
        if let Some(m) = self.user_operator(op, a, b) {
            let right = self.temporary();
            self.emit(Instr::Set(right));
            self.emit(Instr::Get(left));
            self.emit(Instr::Get(right));
            self.emit(Instr::Call(m, 2));
            return self.world.methods[m as usize].ret.clone();
        }
        let Some(bin) = bin_of(op) else {
            self.emit(Instr::Drop);
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        };
        if bin == Bin::Add && (*a == Ty::Text || *b == Ty::Text) {
            self.emit(Instr::Drop);
            self.emit(Instr::SomeObject);
            return Ty::Text;
        }
        if matches!(a, Ty::Func(..)) && matches!(bin, Bin::Add | Bin::Sub) {
            return self.combine(left, bin == Bin::Add, a);
        }
        // Two values of unknown types may be strings, and the result of `+` on those is not a
        // number.
        let certain = a.is_number() || b.is_number() || self.world.is_enum(a) || self.world.is_enum(b);
        if !certain && !matches!(bin, Bin::Eq | Bin::Ne) {
            self.emit(Instr::Drop);
            self.emit(Instr::Unknown);
            return if compares(bin) { Ty::Bool } else { Ty::Unknown };
        }
        let ty = a.wider(b);
        let scalar = if matches!(bin, Bin::Shl | Bin::Shr) { a.scalar() } else { ty.scalar() };
        if scalar.is_float() {
            self.coerce(b, &ty);
            let right = self.temporary();
            self.emit(Instr::Set(right));
            self.emit(Instr::Get(left));
            self.coerce(a, &ty);
            self.emit(Instr::Get(right));
        } else {
            self.emit(Instr::Get(left));
            self.emit(Instr::Swap);
        }
        self.emit(Instr::Bin(bin, scalar));
        match () {
            () if compares(bin) => Ty::Bool,
            () if matches!((a, b), (Ty::Bool, Ty::Bool)) => Ty::Bool,
            () if self.world.is_enum(a) => a.clone(),
            () => ty,
        }
    }

    fn user_operator(&self, op: &str, a: &Ty, b: &Ty) -> Option<u32> {
        let name = format!("operator {op}");
        let classes = [a, b].into_iter().filter_map(Ty::class);
        classes.into_iter().find_map(|c| {
            let all = self.world.methods_named(c, &name);
            all.into_iter().find(|m| self.world.methods[*m as usize].params.len() == 2)
        })
    }

    /// `a + b` and `a - b` of delegates.
    fn combine(&mut self, left: u16, add: bool, ty: &Ty) -> Ty {
        let right = self.temporary();
        self.emit(Instr::Set(right));
        let delegate = crate::ir::objects::DELEGATE;
        let methods = self.world.methods_named(delegate, if add { "Combine" } else { "Remove" });
        match methods.first() {
            Some(m) => {
                self.emit(Instr::Get(left));
                self.emit(Instr::Get(right));
                self.emit(Instr::Call(*m, 2));
            }
            None => self.emit(Instr::Unknown),
        }
        ty.clone()
    }

    pub fn prefix(&mut self, s: Syntax<'a>) -> Ty {
        let op = s.tokens().first().copied().unwrap_or("");
        let Some(e) = s.first() else {
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        };
        match op {
            "++" | "--" => self.step(e, s, op == "++", true),
            "-" | "~" => {
                let ty = self.expression(e);
                if !ty.is_number() && !self.world.is_enum(&ty) {
                    self.emit(Instr::Drop);
                    self.emit(Instr::Unknown);
                    return ty;
                }
                let un = if op == "-" { Un::Neg } else { Un::Not };
                self.emit(Instr::Un(un, ty.scalar()));
                ty
            }
            "!" => {
                self.expression(e);
                self.emit(Instr::Un(Un::IsZero, Scalar::I64));
                Ty::Bool
            }
            "+" => self.expression(e),
            _ => {
                self.expression(e);
                self.emit(Instr::Drop);
                self.emit(Instr::Unknown);
                Ty::Unknown
            }
        }
    }

    pub fn postfix(&mut self, s: Syntax<'a>) -> Ty {
        let op = s.tokens().last().copied().unwrap_or("");
        match s.first() {
            Some(e) if op == "!" => self.expression(e),
            Some(e) => self.step(e, s, op == "++", false),
            None => {
                self.emit(Instr::Unknown);
                Ty::Unknown
            }
        }
    }

    /// Lowers `++` and `--`. The value before or after stays on the stack.
    fn step(&mut self, e: Syntax<'a>, s: Syntax<'a>, up: bool, after: bool) -> Ty {
        let (target, ty) = self.target(e);
        let old = self.temporary();
        self.load_target(&target, s);
        self.emit(Instr::Tee(old));
        let one = if ty.scalar().is_float() { 1f64.to_bits() } else { 1 };
        match ty.scalar() {
            Scalar::F32 => self.constant(u64::from(1f32.to_bits())),
            Scalar::F64 => self.constant(one),
            _ => self.emit(Instr::Int(1)),
        }
        self.emit(Instr::Bin(if up { Bin::Add } else { Bin::Sub }, ty.scalar()));
        if after {
            let new = self.temporary();
            self.emit(Instr::Tee(new));
            self.store_target(&target, s);
            self.emit(Instr::Get(new));
        } else {
            self.store_target(&target, s);
            self.emit(Instr::Get(old));
        }
        ty
    }

    pub fn assignment(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(left), Some(right)) = (s.field("left"), s.field("right")) else {
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        };
        let op = s
            .field("operator")
            .map_or_else(|| s.tokens().into_iter().find(|t| t.ends_with('=')).unwrap_or("="), Syntax::str);
        let value = self.temporary();
        match op {
            "=" => {
                let (target, ty) = self.target(left);
                let found = self.expression_as(right, &ty);
                self.emit(Instr::Tee(value));
                self.store_target(&target, left);
                self.emit(Instr::Get(value));
                if ty.is_known() { ty } else { found }
            }
            "??=" => {
                let (target, ty) = self.target(left);
                let end = self.builder().label();
                self.load_target(&target, left);
                self.emit(Instr::Tee(value));
                self.builder().jump_if(end);
                self.expression_as(right, &ty);
                self.emit(Instr::Tee(value));
                self.store_target(&target, left);
                self.builder().place(end);
                self.emit(Instr::Get(value));
                ty
            }
            _ => self.compound(left, right, op.trim_end_matches('='), value, s),
        }
    }

    fn compound(&mut self, left: Syntax<'a>, right: Syntax<'a>, op: &str, value: u16, s: Syntax<'a>) -> Ty {
        let (target, ty) = self.target(left);
        if let AssignmentTarget::Member { object, name, .. } = &target
            && let Some(done) = self.event(*object, name, &ty, op, right, s)
        {
            return done;
        }
        let old = self.temporary();
        self.load_target(&target, left);
        self.emit(Instr::Set(old));
        let b =
            if matches!(ty, Ty::Func(..)) { self.expression_as(right, &ty) } else { self.expression(right) };
        self.at(s);
        // A handler is added to an event of unknown type.
        let is_handler = matches!(b, Ty::Func(..));
        let a = if is_handler { b.clone() } else { ty.clone() };
        let found = self.operate(op, old, &a, &b);
        self.coerce(&found, &ty);
        if let (Ty::Int(to), Ty::Int(from)) = (&ty, &found)
            && to != from
        {
            self.emit(Instr::Conv(*from, *to));
        }
        self.emit(Instr::Tee(value));
        self.store_target(&target, left);
        self.emit(Instr::Get(value));
        ty
    }

    /// `+=` and `-=` on an event with accessors of its own.
    fn event(
        &mut self,
        object: u16,
        name: &str,
        ty: &Ty,
        op: &str,
        right: Syntax<'a>,
        s: Syntax<'a>,
    ) -> Option<Ty> {
        let word = match op {
            "+" => format!("add_{name}"),
            "-" => format!("remove_{name}"),
            _ => return None,
        };
        // Field-like events are fields.
        let known = self.world.methods.iter().any(|m| *m.name == *word);
        if !known {
            return None;
        }
        self.emit(Instr::Get(object));
        self.expression_as(right, ty);
        self.at(s);
        let site = self.tables.site(&word, 1, None);
        self.emit(Instr::CallMethod(site));
        Some(Ty::Void)
    }
}
