//! Places: what can be read, written, or have its address taken.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::{Home, Lower, Variable};
use crate::c::ast::{Expr, ExprKind};
use crate::c::token::Sym;
use crate::c::types::{CType, Type, Types};
use crate::ir::{
    AccessClass, AtomicInstr, Instr, MemberId, MemoryOrdering, Scalar, SymbolRef, UNKNOWN_ELEMENT,
};

/// Marks the unknown that represents the content of an unknown place; see [`Instr::UnknownField`].
pub(super) const CONTENT: u32 = 1;

#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub kind: PlaceKind,
    pub ty: CType,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PlaceKind {
    /// Nothing is on the stack.
    Slot(u16),
    /// The address is on the stack.
    Memory,
    /// Like `Memory`, but only these bits of the scalar there.
    Bits(u8, u8),
    /// The address is on the stack, but the type of the object there is unknown. Other objects may
    /// have the same address: elements of unknown size, and what lies behind an unknown pointer.
    Unknown,
    /// Like `Unknown`, but a single object has this address: a member of a known record, or a name.
    UnknownObject,
}

impl Lower<'_> {
    /// Pushes what is needed to use a place.
    pub(super) fn place(&mut self, e: &Expr) -> Place {
        match &e.kind {
            ExprKind::Name(n) => self.name_place(*n, e),
            ExprKind::Deref(a) => {
                let ty = self.value(a);
                self.at(e.pos);
                self.behind(ty)
            }
            ExprKind::Index(a, i) => self.index_place(a, i, e),
            ExprKind::Member(a, name, arrow) => self.member_place(a, *name, *arrow, e),
            ExprKind::Compound(ty, init) => {
                self.compound(*ty, init, e.pos);
                Place { kind: PlaceKind::Memory, ty: *ty }
            }
            ExprKind::Cast(ty, a) if self.types().size(*ty) == self.types().size(self.static_type(a)) => {
                // A GNU cast as a place, and `(T)record`.
                let p = self.place(a);
                Place { ty: *ty, ..p }
            }
            ExprKind::Comma(a, b) => {
                self.effect(a);
                self.place(b)
            }
            _ => {
                // Not a place: a copy of the value, as for `f().member`.
                let ty = self.value(e);
                if self.types().is_aggregate(ty) {
                    return Place { kind: PlaceKind::Memory, ty };
                }
                let at = self.f().b.frame(8);
                let scalar = self.types().scalar(ty).unwrap_or(Scalar::U64);
                self.emit(Instr::FrameAddr(at));
                self.emit(Instr::Swap);
                self.emit(Instr::Store(scalar, AccessClass::Hidden));
                self.emit(Instr::FrameAddr(at));
                Place { kind: PlaceKind::Memory, ty }
            }
        }
    }

    /// The place that the pointer on the stack points to.
    fn behind(&mut self, pointer: CType) -> Place {
        if self.types().as_function(pointer).is_some() {
            // A function's name, with or without a `*`, is its address.
            let ty = self.types().element(pointer).unwrap_or(pointer);
            return Place { kind: PlaceKind::Memory, ty };
        }
        match self.types().element(pointer) {
            Some(to) if !self.types().is_unknown(to) => Place { kind: PlaceKind::Memory, ty: to },
            _ => Place { kind: PlaceKind::Unknown, ty: Types::UNKNOWN },
        }
    }

    fn index_place(&mut self, a: &Expr, i: &Expr, e: &Expr) -> Place {
        let mut ty = self.value(a);
        let mut index = self.value(i);
        if self.types().element(ty).is_none() && self.types().element(index).is_some() {
            // `3[a]`
            self.emit(Instr::Swap);
            std::mem::swap(&mut ty, &mut index);
        }
        self.at(e.pos);
        let Some(of) = self.types().element(ty) else {
            self.emit(Instr::Index(8));
            return Place { kind: PlaceKind::Unknown, ty: Types::UNKNOWN };
        };
        self.scale(of);
        self.behind(ty)
    }

    /// Adds the index on the stack to the pointer below it.
    pub(super) fn scale(&mut self, of: CType) {
        match self.types().size(of) {
            Some(size) => self.emit(Instr::Index(u32::try_from(size).unwrap_or(u32::MAX))),
            None if matches!(self.types().get(of), Type::Vla(..)) => {
                self.size_of_type(of);
                self.emit(Instr::Bin(crate::ir::Bin::Mul, Scalar::I64));
                self.emit(Instr::Index(1));
            }
            None => {
                self.emit(Instr::Drop);
                self.emit(Instr::UnknownField(UNKNOWN_ELEMENT));
            }
        }
    }

    fn member_place(&mut self, a: &Expr, name: Sym, arrow: bool, e: &Expr) -> Place {
        let record = if arrow {
            let ty = self.value(a);
            self.types().element(ty).unwrap_or(Types::UNKNOWN)
        } else {
            let p = self.place(a);
            if let PlaceKind::Slot(slot) = p.kind {
                self.emit(Instr::Get(slot));
            }
            p.ty
        };
        self.at(e.pos);
        let Some(m) = self.types().member(record, name) else {
            self.emit(Instr::UnknownField(name.0 + 16));
            return Place { kind: PlaceKind::Unknown, ty: Types::UNKNOWN };
        };
        if m.offset > 0 {
            self.emit(Instr::Field(m.offset as u32));
        }
        self.note_member(record, name);
        let kind = match m.bits {
            Some((at, width)) => PlaceKind::Bits(at, width),
            None if self.types().is_unknown(m.ty) => PlaceKind::UnknownObject,
            None => PlaceKind::Memory,
        };
        Place { kind, ty: m.ty }
    }

    /// Notes which member the top of the stack is the address of.
    fn note_member(&mut self, record: CType, name: Sym) {
        let Type::Record(r) = *self.types().get(record) else { return };
        let of_record = match self.record_ids.get(&r) {
            Some(id) => *id,
            None => {
                let id = self.record_id(r);
                self.record_ids.insert(r, id);
                id
            }
        };
        let text = self.name(name);
        let mut hasher = FxHasher::default();
        (of_record, &*text).hash(&mut hasher);
        let id = MemberId(hasher.finish());
        self.unit.member_names.entry(id).or_insert(text);
        if let Some(size) = self.types().extent(record, name).and_then(|n| u32::try_from(n).ok()) {
            self.unit.member_sizes.insert(id, size);
        }
        self.f().b.is_member(id);
    }

    /// Equal for records with the same tag, the same size and the same members at the same places.
    fn record_id(&self, record: u32) -> u64 {
        let mut hasher = FxHasher::default();
        let record = &self.types().records[record as usize];
        (record.size, record.tag.map(|n| self.interner.name(n))).hash(&mut hasher);
        for m in &record.members {
            (m.offset, m.name.map(|n| self.interner.name(n))).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn name_place(&mut self, name: Sym, e: &Expr) -> Place {
        self.at(e.pos);
        if let Some((v, level)) = self.find_local(name) {
            return self.variable_place(v, level);
        }
        let ty = self.declared_type(name);
        if ty.is_some_and(|t| matches!(self.types().get(t), Type::Function(_)))
            || self.own_functions.contains_key(&name)
        {
            let symbol = self.function_symbol(name);
            self.emit(Instr::FuncAddr(symbol));
            return Place { kind: PlaceKind::Memory, ty: ty.unwrap_or(Types::UNKNOWN) };
        }
        if let Some(symbol) = self.file_scope.get(&name).copied() {
            self.emit(Instr::GlobalAddr(symbol));
            return Place { kind: PlaceKind::Memory, ty: ty.unwrap_or(Types::UNKNOWN) };
        }
        if let Some(ty) = ty {
            // Declared by a built-in header and defined by the models.
            let size = self.types().size(ty).unwrap_or(8);
            let s = SymbolRef::Global(self.name(name), size);
            let symbol = self.symbol(s);
            self.file_scope.insert(name, symbol);
            self.emit(Instr::GlobalAddr(symbol));
            return Place { kind: PlaceKind::Memory, ty };
        }
        // Undeclared: the same unknown each time.
        self.emit(Instr::Int(0));
        self.emit(Instr::UnknownField(name.0 + 16));
        Place { kind: PlaceKind::UnknownObject, ty: Types::UNKNOWN }
    }

    /// Pushes the place of a local variable that lives `level` functions further out.
    pub(super) fn variable_place(&mut self, v: Variable, level: usize) -> Place {
        match v.home {
            Home::Slot(slot) if level == 0 => return Place { kind: PlaceKind::Slot(slot), ty: v.ty },
            // A shared function has no variables in slots except its parameters' copies, which are
            // never named.
            Home::Slot(_) => {
                self.emit(Instr::Unknown);
                return Place { kind: PlaceKind::Unknown, ty: v.ty };
            }
            Home::Frame(at) => self.frame_address(at, level),
            Home::Indirect(at) => {
                self.frame_address(at, level);
                self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
            }
            Home::Symbol(symbol) => self.emit(Instr::GlobalAddr(symbol)),
        }
        Place { kind: PlaceKind::Memory, ty: v.ty }
    }

    /// Pushes the address of frame memory `level` functions further out, through the links at
    /// offset 0.
    fn frame_address(&mut self, at: u32, level: usize) {
        if level == 0 {
            self.emit(Instr::FrameAddr(at));
            return;
        }
        self.emit(Instr::FrameAddr(0));
        for _ in 0..level {
            self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
        }
        if at > 0 {
            self.emit(Instr::Field(at));
        }
    }

    pub(super) fn access(ty: CType) -> AccessClass {
        if ty.is_volatile() { AccessClass::Volatile } else { AccessClass::Plain }
    }

    /// Turns a place into its value. Arrays, records and functions are their own address.
    pub(super) fn load(&mut self, p: Place) -> CType {
        match p.kind {
            PlaceKind::Slot(slot) => self.emit(Instr::Get(slot)),
            PlaceKind::Unknown => self.emit(Instr::UnknownField(CONTENT)),
            // What the thread has just stored there is found again: the handle of a thread in a
            // member whose type is not declared.
            PlaceKind::UnknownObject => {
                self.emit(Instr::UnknownField(CONTENT));
                self.emit(Instr::Load(Scalar::U64, Self::access(p.ty)));
            }
            PlaceKind::Bits(at, width) => {
                let scalar = self.types().scalar(p.ty).unwrap_or(Scalar::U32);
                self.emit(Instr::LoadBits(scalar, at, width));
            }
            PlaceKind::Memory => match self.types().get(p.ty) {
                Type::Function(_) => {}
                _ => {
                    if let Some(scalar) = self.types().scalar(p.ty) {
                        self.emit(match p.ty.is_atomic() {
                            true => Instr::Atomic(AtomicInstr::Load, scalar, MemoryOrdering::SeqCst),
                            false => Instr::Load(scalar, Self::access(p.ty)),
                        });
                    }
                }
            },
        }
        self.decay(p.ty)
    }

    /// The type of a value read from a place of this type.
    pub(super) fn decay(&mut self, ty: CType) -> CType {
        match *self.types().get(ty) {
            Type::Array(of, _) | Type::Vla(of, _) => self.scopes.types.pointer(of),
            Type::Function(_) => self.scopes.types.pointer(ty.bare()),
            // Code that copies it must know that it is atomic as a whole.
            Type::Record(_) if ty.is_atomic() => ty,
            _ => ty.bare(),
        }
    }

    /// Stores the value on the stack, which is already converted; `keep` leaves it there.
    pub(super) fn store(&mut self, p: Place, keep: bool) {
        match p.kind {
            PlaceKind::Slot(slot) => self.emit(if keep { Instr::Tee(slot) } else { Instr::Set(slot) }),
            PlaceKind::Unknown => {
                self.emit(Instr::Swap);
                self.emit(Instr::Drop);
                if !keep {
                    self.emit(Instr::Drop);
                }
            }
            PlaceKind::UnknownObject => {
                self.emit(Instr::Swap);
                self.emit(Instr::UnknownField(CONTENT));
                self.emit(Instr::Swap);
                let access = Self::access(p.ty);
                self.emit(match keep {
                    true => Instr::StoreTee(Scalar::U64, access),
                    false => Instr::Store(Scalar::U64, access),
                });
            }
            PlaceKind::Bits(at, width) => {
                let scalar = self.types().scalar(p.ty).unwrap_or(Scalar::U32);
                self.emit(Instr::StoreBits(scalar, at, width));
                if !keep {
                    self.emit(Instr::Drop);
                }
            }
            PlaceKind::Memory => {
                let scalar = self.types().scalar(p.ty).unwrap_or(Scalar::U64);
                if p.ty.is_atomic() {
                    self.atomic_store(scalar, keep);
                    return;
                }
                let access = Self::access(p.ty);
                self.emit(if keep { Instr::StoreTee(scalar, access) } else { Instr::Store(scalar, access) });
            }
        }
    }

    fn atomic_store(&mut self, scalar: Scalar, keep: bool) {
        let slot = if keep { self.f().b.local() } else { None };
        if let Some(slot) = slot {
            self.emit(Instr::Tee(slot));
        }
        self.emit(Instr::Atomic(AtomicInstr::Store, scalar, MemoryOrdering::SeqCst));
        match slot {
            Some(slot) => self.emit(Instr::Get(slot)),
            None if keep => self.emit(Instr::Unknown),
            None => {}
        }
    }
}
