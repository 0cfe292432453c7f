//! Calls.

use super::Lower;
use super::place::PlaceKind;
use crate::c::ast::{Expr, ExprKind};
use crate::c::types::{CType, Types};
use crate::interp::named::{BEHIND_A_POINTER, Named, named};
use crate::ir::{AccessClass, Bin, Instr, Intrinsic, Pos, Scalar, SymbolRef};

/// A macro that is not there, going by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Atomic,
    Unknown,
}

fn is_place(e: &Expr) -> bool {
    use ExprKind::{Deref, Index, Member, Name};
    matches!(e.kind, Name(_) | Deref(_) | Index(..) | Member(..))
}

impl Lower<'_> {
    pub(super) fn call(&mut self, f: &Expr, args: &[Expr], pos: Pos) -> CType {
        if let ExprKind::Name(name) = &f.kind
            && self.find_local(*name).is_none()
            && !self.own_functions.contains_key(name)
        {
            let text = self.name(*name);
            if let Some(ty) = self.builtin_call(&text, args, pos) {
                return ty;
            }
        }
        let is_atomic = self.is_atomic_section(f);
        if is_atomic {
            self.atomic_section("__VERIFIER_atomic_begin");
        }
        let ty = self.plain_call(f, args, pos);
        if is_atomic {
            self.atomic_section("__VERIFIER_atomic_end");
        }
        ty
    }

    /// By the rules of SV-COMP a function of such a name runs without interruption.
    fn is_atomic_section(&self, f: &Expr) -> bool {
        let ExprKind::Name(name) = &f.kind else { return false };
        let text = self.name(*name);
        let own = text.strip_prefix("__VERIFIER_atomic_");
        own.is_some_and(|n| n != "begin" && n != "end") && self.find_local(*name).is_none()
    }

    fn atomic_section(&mut self, what: &str) {
        if let Some(sym) = self.interner.find(what) {
            let symbol = self.function_symbol(sym);
            self.emit(Instr::Call(symbol, 0));
            self.emit(Instr::Drop);
        }
    }

    fn plain_call(&mut self, f: &Expr, args: &[Expr], pos: Pos) -> CType {
        let ty = self.static_type(f);
        let signature = self.types().as_function(ty).cloned();
        let result = signature.as_ref().map_or(Types::UNKNOWN, |s| s.result);
        let mut count = 0u32;
        let mut result_at = None;
        if self.types().is_aggregate(result) {
            let size = self.types().size(result).unwrap_or(64);
            let at = self.f().b.frame(size);
            self.emit(Instr::FrameAddr(at));
            result_at = Some(at);
            count += 1;
        }
        let missing = if signature.is_none() { self.missing_macro(f) } else { None };
        // More arguments than an instruction can count are dropped; nothing real has them.
        for (i, arg) in args.iter().enumerate().take(100) {
            let param = signature.as_ref().and_then(|s| s.params.get(i).copied());
            match missing {
                Some(what) if is_place(arg) => count += self.argument_of_macro(arg, what),
                _ => {
                    self.argument(arg, param);
                    count += 1;
                }
            }
        }
        self.at(pos);
        self.call_target(f, count as u8, pos);
        if let Some(at) = result_at {
            // An unknown function has not filled it in; its own address is a place all the same.
            self.emit(Instr::Drop);
            self.emit(Instr::FrameAddr(at));
        }
        if self.types().is_aggregate(result) { result } else { result.bare() }
    }

    fn call_target(&mut self, f: &Expr, count: u8, pos: Pos) {
        if let ExprKind::Name(name) = &f.kind
            && self.find_local(*name).is_none()
            && !self.file_scope.contains_key(name)
        {
            let symbol = self.function_symbol(*name);
            self.emit(Instr::Call(symbol, count));
            return;
        }
        self.value(f);
        self.at(pos);
        if let Some(symbol) = self.lock_behind_pointer(f) {
            self.call_by_pointer_or_name(count, symbol);
        } else {
            self.emit(Instr::CallPtr(count));
        }
    }

    /// `callbacks.lock(m)`: what the pointer leads to may be unknown, but its name says that it
    /// locks or unlocks. Gives a function of such a name, which nobody defines.
    fn lock_behind_pointer(&mut self, f: &Expr) -> Option<u32> {
        let ExprKind::Member(_, name, _) = &f.kind else { return None };
        let name = self.name(*name);
        match named(&name)? {
            Named::Lock | Named::ReadLock | Named::Unlock => {}
            _ => return None,
        }
        Some(self.symbol(SymbolRef::Function(format!("{name}{BEHIND_A_POINTER}").into())))
    }

    /// Calls the function whose address is on the stack, or the other one if it is unknown.
    fn call_by_pointer_or_name(&mut self, count: u8, symbol: u32) {
        let (known, end) = (self.f().b.label(), self.f().b.label());
        self.emit(Instr::Dup);
        self.emit(Instr::Intrinsic(Intrinsic::IsKnown));
        self.f().b.jump_if(known);
        self.emit(Instr::Drop);
        self.emit(Instr::Call(symbol, count));
        self.f().b.jump(end);
        self.f().b.place(known);
        self.emit(Instr::CallPtr(count));
        self.f().b.place(end);
    }

    /// What the call of a name is that only a header which is not there can define: a macro. In
    /// `ATOMIC_LOAD(used)` nobody knows how `used` is accessed.
    fn missing_macro(&self, f: &Expr) -> Option<Missing> {
        let ExprKind::Name(name) = &f.kind else { return None };
        let is_declared = self.find_local(*name).is_some()
            || self.file_scope.contains_key(name)
            || self.own_functions.contains_key(name);
        let text = self.name(*name);
        let is_loud = text.len() > 2
            && text.bytes().any(|b| b.is_ascii_uppercase())
            && !text.bytes().any(|b| b.is_ascii_lowercase());
        if is_declared || !is_loud {
            return None;
        }
        match named(&text) {
            Some(Named::Atomic(_)) => Some(Missing::Atomic),
            // By its value or address: what is a lock must stay one.
            Some(_) => None,
            None => Some(Missing::Unknown),
        }
    }

    /// Pushes an argument without an access. Gives the number of values: an atomic operation may be
    /// on the variable, or on what that points to.
    fn argument_of_macro(&mut self, arg: &Expr, what: Missing) -> u32 {
        let p = self.place(arg);
        let scalar = self.types().scalar(p.ty);
        let Some(scalar) = scalar.filter(|_| p.kind == PlaceKind::Memory && !p.ty.is_atomic()) else {
            self.load(p);
            return 1;
        };
        let is_pointer = self.types().element(p.ty).is_some();
        if what == Missing::Atomic && is_pointer {
            self.emit(Instr::Dup);
        }
        if what == Missing::Unknown || is_pointer {
            self.emit(Instr::Load(scalar, AccessClass::Hidden));
        }
        if what == Missing::Atomic && is_pointer { 2 } else { 1 }
    }

    fn argument(&mut self, arg: &Expr, param: Option<CType>) {
        let ty = self.value(arg);
        if self.types().is_aggregate(ty) {
            self.copy_to_temporary(ty, arg.pos);
            return;
        }
        match param {
            Some(to) => self.convert(ty, to),
            None if ty == Types::FLOAT => self.convert(ty, Types::DOUBLE),
            None => {
                let to = self.types().promote(ty);
                self.convert(ty, to);
            }
        }
    }

    /// The address of a record is on the stack; leaves the address of a copy that is the caller's
    /// own.
    pub(super) fn copy_to_temporary(&mut self, ty: CType, pos: Pos) {
        let size = self.types().size(ty).unwrap_or(0);
        let at = self.f().b.frame(size);
        self.at(pos);
        self.emit(Instr::FrameAddr(at));
        self.emit(Instr::Swap);
        let size = u32::try_from(size).unwrap_or(0);
        self.emit(if ty.is_atomic() { Instr::CopyAtomic(size) } else { Instr::Copy(size) });
        self.emit(Instr::FrameAddr(at));
    }

    pub(super) fn call_type(&self, f: &Expr, args: &[Expr]) -> CType {
        if let ExprKind::Name(name) = &f.kind
            && self.find_local(*name).is_none()
            && !self.own_functions.contains_key(name)
            && let Some(ty) = self.builtin_type(&self.name(*name), args)
        {
            return ty;
        }
        let ty = self.static_type(f);
        self.types().as_function(ty).map_or(Types::UNKNOWN, |s| s.result)
    }

    /// `va_arg`: the list is an array of one record whose first member is the next argument's
    /// address.
    pub(super) fn va_arg(&mut self, list: &Expr, ty: CType) -> CType {
        self.value(list);
        self.emit(Instr::Dup);
        self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
        let Some(slot) = self.f().b.local() else {
            return Types::UNKNOWN;
        };
        self.emit(Instr::Tee(slot));
        self.emit(Instr::Field(8));
        self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
        self.emit(Instr::Get(slot));
        let scalar = self.types().scalar(ty).unwrap_or(Scalar::U64);
        self.emit(Instr::Load(scalar, AccessClass::Hidden));
        if self.types().is_aggregate(ty) { ty } else { ty.bare() }
    }

    /// Pushes the arguments' values, converted to 64 bits.
    pub(super) fn plain_arguments(&mut self, args: &[Expr]) {
        for a in args {
            let ty = self.value(a);
            if self.types().scalar(ty).is_some_and(|s| !s.is_float()) {
                self.convert(ty, Types::LONG);
            }
        }
    }

    /// An arithmetic shift that keeps the sign, for overflow builtins.
    pub(super) fn overflow(&mut self, op: Bin, args: &[Expr]) -> CType {
        let [a, b, out] = args else {
            self.emit(Instr::Unknown);
            return Types::INT;
        };
        let to = self.pointee(out).unwrap_or(Types::LONG);
        self.value(out);
        let ty = self.value(a);
        self.convert(ty, to);
        let ty = self.value(b);
        self.convert(ty, to);
        let scalar = self.scalar(to);
        self.emit(Instr::Bin(op, scalar));
        self.emit(Instr::Store(scalar, AccessClass::Plain));
        self.emit(Instr::Int(0));
        Types::INT
    }
}
