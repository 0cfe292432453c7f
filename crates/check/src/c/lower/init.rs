//! Initialisers: braces, designators, and strings, flattened to a list of places and values.

use super::Lower;
use crate::c::ast::{Designator, Expr, ExprKind, Init};
use crate::c::types::{CType, Type};
use crate::ir::{AccessClass, Instr, Pos, Scalar};

/// One scalar, record or string to be stored.
pub(super) struct Leaf<'e> {
    pub offset: u64,
    pub ty: CType,
    pub bits: Option<(u8, u8)>,
    pub value: &'e Expr,
}

/// Longer lists are cut; nobody writes them by hand.
const MOST_LEAVES: usize = 200_000;

impl Lower<'_> {
    pub(super) fn leaves<'e>(&mut self, ty: CType, init: &'e Init) -> Vec<Leaf<'e>> {
        let mut out = Vec::new();
        self.init_at(ty, init, 0, &mut out);
        if out.len() > MOST_LEAVES && self.cut_short.is_empty() {
            self.cut_short.push(format!("an initialiser has more than {MOST_LEAVES} values"));
        }
        out
    }

    fn init_at<'e>(&self, ty: CType, init: &'e Init, offset: u64, out: &mut Vec<Leaf<'e>>) {
        match init {
            Init::Expr(value) => out.push(Leaf { offset, ty, bits: None, value }),
            Init::List(items) => {
                // `char s[] = {"abc"}` and `int x = {1}`
                if let [(d, Init::Expr(e))] = items.as_slice()
                    && d.is_empty()
                    && (!self.types().is_aggregate(ty) || self.is_text(ty, e))
                {
                    out.push(Leaf { offset, ty, bits: None, value: e });
                    return;
                }
                let mut rest = items.as_slice();
                self.fill(ty, &mut rest, offset, true, out);
            }
        }
    }

    fn is_text(&self, ty: CType, e: &Expr) -> bool {
        matches!(self.types().get(ty), Type::Array(..)) && matches!(e.kind, ExprKind::Str(..))
    }

    /// Fills an aggregate from a list; `braced` if the list's braces are its own.
    fn fill<'e>(
        &self,
        ty: CType,
        rest: &mut &'e [(Vec<Designator>, Init)],
        offset: u64,
        braced: bool,
        out: &mut Vec<Leaf<'e>>,
    ) {
        let parts = self.parts(ty);
        let mut at = 0u64;
        while let Some(((designators, init), tail)) = rest.split_first() {
            if out.len() > MOST_LEAVES {
                return;
            }
            if !designators.is_empty() {
                if !braced {
                    return;
                }
                at = self.designated(ty, designators, init, offset, out);
                *rest = tail;
                continue;
            }
            let Some((part, part_offset, bits)) = parts.get(at) else {
                if braced {
                    *rest = tail;
                    continue;
                }
                return;
            };
            at += 1;
            self.part(part, offset + part_offset, bits, init, rest, tail, out);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one step of `fill`")]
    fn part<'e>(
        &self,
        ty: CType,
        offset: u64,
        bits: Option<(u8, u8)>,
        init: &'e Init,
        rest: &mut &'e [(Vec<Designator>, Init)],
        tail: &'e [(Vec<Designator>, Init)],
        out: &mut Vec<Leaf<'e>>,
    ) {
        match init {
            Init::Expr(value) => {
                let whole = matches!(self.parts(ty), Parts::Scalar(_))
                    || self.is_text(ty, value)
                    || matches!(self.types().get(ty), Type::Record(_))
                        && self.static_type(value).bare() == ty.bare();
                if whole {
                    *rest = tail;
                    out.push(Leaf { offset, ty, bits, value });
                } else {
                    // Without braces of its own, it takes as many items as it has members.
                    let before = rest.len();
                    self.fill(ty, rest, offset, false, out);
                    if rest.len() == before {
                        *rest = tail;
                    }
                }
            }
            Init::List(_) => {
                *rest = tail;
                self.init_at(ty, init, offset, out);
            }
        }
    }

    /// Follows designators. Returns the index of the part after the one they named.
    fn designated<'e>(
        &self,
        ty: CType,
        designators: &[Designator],
        init: &'e Init,
        offset: u64,
        out: &mut Vec<Leaf<'e>>,
    ) -> u64 {
        let (Some(first), rest) = (designators.first(), &designators[1..]) else { return 0 };
        let one = |index: u64, out: &mut Vec<Leaf<'e>>| {
            let Some((part, part_offset, bits)) = self.parts(ty).get(index) else { return };
            if !rest.is_empty() {
                self.designated(part, rest, init, offset + part_offset, out);
            } else if let (Init::Expr(value), Some(_)) = (init, bits) {
                out.push(Leaf { offset: offset + part_offset, ty: part, bits, value });
            } else {
                self.init_at(part, init, offset + part_offset, out);
            }
        };
        match first {
            Designator::Index(i) => {
                one(*i, out);
                i + 1
            }
            Designator::Range(lo, hi) => {
                for i in *lo..=(*hi).min(lo + 4096) {
                    one(i, out);
                }
                hi.saturating_add(1)
            }
            Designator::Member(name) => {
                let Some(index) = self.member_index(ty, *name) else { return 0 };
                // A member of an anonymous record is designated through that record.
                let direct = self.parts(ty).name(index) == Some(*name);
                if direct {
                    one(index, out);
                } else if let Some((part, part_offset, _)) = self.parts(ty).get(index) {
                    self.designated(part, designators, init, offset + part_offset, out);
                }
                index + 1
            }
        }
    }

    fn member_index(&self, ty: CType, name: crate::c::token::Sym) -> Option<u64> {
        let Type::Record(r) = self.types().get(ty) else { return None };
        let members = &self.types().records[*r as usize].members;
        members
            .iter()
            .position(|m| {
                m.name == Some(name) || m.name.is_none() && self.types().member(m.ty, name).is_some()
            })
            .map(|i| i as u64)
    }

    fn parts(&self, ty: CType) -> Parts<'_> {
        match self.types().get(ty) {
            Type::Array(of, n) => {
                Parts::Array { of: *of, size: self.types().size(*of).unwrap_or(0), count: *n }
            }
            Type::Record(r) => {
                let r = &self.types().records[*r as usize];
                Parts::Record { members: &r.members, union: r.union }
            }
            _ => Parts::Scalar(ty),
        }
    }

    /// Initialises the variable or temporary whose address `address` pushes.
    pub(super) fn init_memory(&mut self, ty: CType, init: &Init, pos: Pos, address: &dyn Fn(&mut Self)) {
        let size = self.types().size(ty).unwrap_or(0);
        let leaves = self.leaves(ty, init);
        let single = matches!(leaves.as_slice(), [l] if l.ty == ty && !self.is_text(ty, l.value));
        if !single {
            address(self);
            self.emit(Instr::Zero(u32::try_from(size).unwrap_or(0)));
        }
        for leaf in leaves {
            self.at(pos);
            address(self);
            if leaf.offset > 0 {
                self.emit(Instr::Field(leaf.offset as u32));
            }
            self.init_leaf(&leaf);
        }
    }

    /// Initialises a leaf whose address is on the stack.
    fn init_leaf(&mut self, leaf: &Leaf<'_>) {
        if let ExprKind::Str(bytes, _) = &leaf.value.kind
            && self.is_text(leaf.ty, leaf.value)
        {
            let room = self.types().size(leaf.ty).unwrap_or(bytes.len() as u64 + 1);
            let symbol = self.string(bytes);
            self.emit(Instr::GlobalAddr(symbol));
            self.emit(Instr::Copy(room.min(bytes.len() as u64 + 1) as u32));
            return;
        }
        let from = self.value(leaf.value);
        if self.types().is_aggregate(leaf.ty) {
            let size = self.types().size(leaf.ty).unwrap_or(0);
            let size = u32::try_from(size).unwrap_or(0);
            self.emit(if from.is_atomic() { Instr::CopyAtomic(size) } else { Instr::Copy(size) });
            return;
        }
        self.convert(from, leaf.ty);
        let scalar = self.types().scalar(leaf.ty).unwrap_or(Scalar::U64);
        match leaf.bits {
            Some((at, width)) => {
                self.emit(Instr::StoreBits(scalar, at, width));
                self.emit(Instr::Drop);
            }
            None => self.emit(Instr::Store(scalar, AccessClass::Plain)),
        }
    }

    /// Pushes the address of a compound literal.
    pub(super) fn compound(&mut self, ty: CType, init: &Init, pos: Pos) {
        let size = self.types().size(ty).unwrap_or(64);
        let at = self.f().b.frame(size);
        self.init_memory(ty, init, pos, &|l| l.emit(Instr::FrameAddr(at)));
        self.emit(Instr::FrameAddr(at));
    }
}

/// The type, offset and bits of a part of an aggregate.
type Part = (CType, u64, Option<(u8, u8)>);

enum Parts<'t> {
    Scalar(CType),
    Array { of: CType, size: u64, count: Option<u64> },
    Record { members: &'t [crate::c::types::RecordMember], union: bool },
}

impl Parts<'_> {
    fn get(&self, i: u64) -> Option<Part> {
        match self {
            Self::Scalar(ty) => (i == 0).then_some((*ty, 0, None)),
            Self::Array { of, size, count } => {
                count.is_none_or(|n| i < n).then_some((*of, i.wrapping_mul(*size), None))
            }
            Self::Record { members, union } => {
                if *union && i > 0 && members.len() as u64 <= i {
                    return None;
                }
                members.get(i as usize).map(|m| (m.ty, m.offset, m.bits))
            }
        }
    }

    fn name(&self, i: u64) -> Option<crate::c::token::Sym> {
        match self {
            Self::Record { members, .. } => members.get(i as usize).and_then(|m| m.name),
            _ => None,
        }
    }
}
