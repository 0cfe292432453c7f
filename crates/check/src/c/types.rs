//! Types of C, their sizes and layouts (x86-64, System V).

use std::rc::Rc;

use super::token::Sym;
use crate::ir::Scalar;

/// A type with its qualifiers: an index into [`Types`], qualifiers in the top bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CType(u32);

const CONST: u32 = 1 << 31;
const VOLATILE: u32 = 1 << 30;
const ATOMIC: u32 = 1 << 29;
const INDEX: u32 = ATOMIC - 1;

impl CType {
    pub const fn bare(self) -> Self {
        Self(self.0 & INDEX)
    }
    pub const fn with_const(self) -> Self {
        Self(self.0 | CONST)
    }
    pub const fn with_volatile(self) -> Self {
        Self(self.0 | VOLATILE)
    }
    pub const fn with_atomic(self) -> Self {
        Self(self.0 | ATOMIC)
    }
    pub const fn is_const(self) -> bool {
        self.0 & CONST != 0
    }
    pub const fn is_volatile(self) -> bool {
        self.0 & VOLATILE != 0
    }
    pub const fn is_atomic(self) -> bool {
        self.0 & ATOMIC != 0
    }
    /// This type with the qualifiers of another added.
    pub const fn qualified_like(self, other: Self) -> Self {
        Self(self.0 | other.0 & !INDEX)
    }
    const fn index(self) -> usize {
        (self.0 & INDEX) as usize
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// An unknown type, from an undeclared name or a missing header. Everything about it is
    /// unknown.
    Unknown,
    Void,
    Bool,
    Int {
        size: u8,
        signed: bool,
    },
    Float {
        size: u8,
    },
    Pointer(CType),
    /// `None`: of unknown length.
    Array(CType, Option<u64>),
    /// Its length is known only when its lifetime begins. The number refers to the expression.
    Vla(CType, u32),
    Function(Rc<FunctionType>),
    Record(u32),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FunctionType {
    pub result: CType,
    pub params: Vec<CType>,
    pub variadic: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct RecordMember {
    /// `None`: an anonymous struct or union, whose members are found through it.
    pub name: Option<Sym>,
    pub ty: CType,
    pub offset: u64,
    /// First bit and width of a bit-field within the scalar at `offset`.
    pub bits: Option<(u8, u8)>,
}

#[derive(Debug, Clone)]
pub struct RecordType {
    pub tag: Option<Sym>,
    pub union: bool,
    pub members: Vec<RecordMember>,
    pub size: u64,
    pub align: u64,
    pub complete: bool,
}

/// All types of a unit.
#[derive(Debug, Clone)]
pub struct Types {
    all: Vec<Type>,
    numbers: rustc_hash::FxHashMap<Type, u32>,
    pub records: Vec<RecordType>,
}

impl Default for Types {
    fn default() -> Self {
        let mut t = Self { all: Vec::new(), numbers: Default::default(), records: Vec::new() };
        // In the order of the constants below.
        for ty in [
            Type::Unknown,
            Type::Void,
            Type::Bool,
            Type::Int { size: 1, signed: true },
            Type::Int { size: 1, signed: false },
            Type::Int { size: 2, signed: true },
            Type::Int { size: 2, signed: false },
            Type::Int { size: 4, signed: true },
            Type::Int { size: 4, signed: false },
            Type::Int { size: 8, signed: true },
            Type::Int { size: 8, signed: false },
            Type::Float { size: 4 },
            Type::Float { size: 8 },
            Type::Int { size: 16, signed: true },
        ] {
            t.make(ty);
        }
        t
    }
}

impl Types {
    pub const UNKNOWN: CType = CType(0);
    pub const VOID: CType = CType(1);
    pub const BOOL: CType = CType(2);
    pub const CHAR: CType = CType(3);
    pub const UCHAR: CType = CType(4);
    pub const SHORT: CType = CType(5);
    pub const USHORT: CType = CType(6);
    pub const INT: CType = CType(7);
    pub const UINT: CType = CType(8);
    pub const LONG: CType = CType(9);
    pub const ULONG: CType = CType(10);
    pub const FLOAT: CType = CType(11);
    pub const DOUBLE: CType = CType(12);

    pub fn make(&mut self, ty: Type) -> CType {
        if let Some(n) = self.numbers.get(&ty) {
            return CType(*n);
        }
        let n = self.all.len() as u32;
        self.all.push(ty.clone());
        self.numbers.insert(ty, n);
        CType(n)
    }

    pub fn get(&self, ty: CType) -> &Type {
        &self.all[ty.index()]
    }

    /// The pointer type to this one, if it already exists.
    pub fn find_pointer(&self, to: CType) -> Option<CType> {
        self.numbers.get(&Type::Pointer(to)).map(|n| CType(*n))
    }

    pub fn pointer(&mut self, to: CType) -> CType {
        self.make(Type::Pointer(to))
    }

    pub fn function(&mut self, result: CType, params: Vec<CType>, variadic: bool) -> CType {
        self.make(Type::Function(Rc::new(FunctionType { result, params, variadic })))
    }

    pub fn new_record(&mut self, union: bool) -> (u32, CType) {
        self.records.push(RecordType {
            tag: None,
            union,
            members: Vec::new(),
            size: 0,
            align: 1,
            complete: false,
        });
        let n = self.records.len() as u32 - 1;
        (n, self.make(Type::Record(n)))
    }

    /// The size in bytes; `None` if incomplete, unknown, or known only at run time.
    pub fn size(&self, ty: CType) -> Option<u64> {
        match self.get(ty) {
            Type::Unknown | Type::Vla(..) => None,
            Type::Void | Type::Function(_) | Type::Bool => Some(1),
            Type::Int { size, .. } | Type::Float { size } => Some(u64::from(*size)),
            Type::Pointer(_) => Some(8),
            Type::Array(of, n) => self.size(*of)?.checked_mul((*n)?).filter(|s| *s < 1 << 40),
            Type::Record(r) => {
                let r = &self.records[*r as usize];
                r.complete.then_some(r.size)
            }
        }
    }

    pub fn align(&self, ty: CType) -> u64 {
        match self.get(ty) {
            Type::Array(of, _) | Type::Vla(of, _) => self.align(*of),
            Type::Record(r) => self.records[*r as usize].align,
            _ => self.size(ty).unwrap_or(8).clamp(1, 16),
        }
    }

    /// How memory holds a value of this type; `None` for aggregates.
    pub fn scalar(&self, ty: CType) -> Option<Scalar> {
        Some(match self.get(ty) {
            Type::Bool => Scalar::U8,
            Type::Int { size, signed } => match (size, signed) {
                (1, true) => Scalar::I8,
                (1, false) => Scalar::U8,
                (2, true) => Scalar::I16,
                (2, false) => Scalar::U16,
                (4, true) => Scalar::I32,
                (4, false) => Scalar::U32,
                (_, true) => Scalar::I64,
                (_, false) => Scalar::U64,
            },
            Type::Float { size: 4 } => Scalar::F32,
            Type::Float { .. } => Scalar::F64,
            Type::Pointer(_) | Type::Function(_) | Type::Void | Type::Unknown => Scalar::U64,
            Type::Array(..) | Type::Vla(..) | Type::Record(_) => return None,
        })
    }

    pub fn is_aggregate(&self, ty: CType) -> bool {
        self.scalar(ty).is_none()
    }

    pub fn is_unknown(&self, ty: CType) -> bool {
        matches!(self.get(ty), Type::Unknown)
    }

    /// What a pointer points to or an array contains.
    pub fn element(&self, ty: CType) -> Option<CType> {
        match self.get(ty) {
            Type::Pointer(to) | Type::Array(to, _) | Type::Vla(to, _) => Some(*to),
            _ => None,
        }
    }

    pub fn as_function(&self, ty: CType) -> Option<&FunctionType> {
        match self.get(ty) {
            Type::Function(f) => Some(f),
            Type::Pointer(to) => match self.get(*to) {
                Type::Function(f) => Some(f),
                _ => None,
            },
            _ => None,
        }
    }

    /// Finds a member by name, including members of anonymous ones, with its offset from the start
    /// of the whole.
    pub fn member(&self, ty: CType, name: Sym) -> Option<RecordMember> {
        let Type::Record(r) = self.get(ty) else { return None };
        for m in &self.records[*r as usize].members {
            if m.name == Some(name) {
                return Some(RecordMember { ty: m.ty.qualified_like(ty), ..*m });
            }
            if m.name.is_none()
                && let Some(inner) = self.member(m.ty, name)
            {
                return Some(RecordMember { offset: m.offset + inner.offset, ..inner });
            }
        }
        None
    }

    /// The bytes from a member to the next one, or to the end of its record. `None` for a member
    /// that nothing bounds, such as an array of unknown length at the end, and for a first one that
    /// may be the base of the whole.
    pub fn extent(&self, record: CType, name: Sym) -> Option<u64> {
        let Type::Record(r) = self.get(record) else { return None };
        let record = &self.records[*r as usize];
        let member = record.members.iter().find(|m| m.name == Some(name))?;
        let later = record.members.iter().map(|m| m.offset).filter(|at| *at > member.offset).min();
        let end = later.unwrap_or(record.size);
        let is_bounded = match self.get(member.ty) {
            Type::Array(_, n) => later.is_some() || n.is_some_and(|n| n > 1),
            Type::Vla(..) => false,
            Type::Record(_) => member.offset > 0,
            _ => true,
        };
        end.checked_sub(member.offset).filter(|size| is_bounded && *size > 0)
    }

    /// Whether the type is an incomplete record, or an array of one. As a member by value it is an
    /// error; a record within itself is such a member.
    fn is_open(&self, ty: CType) -> bool {
        match self.get(ty) {
            Type::Record(r) => !self.records[*r as usize].complete,
            Type::Array(of, _) | Type::Vla(of, _) => self.is_open(*of),
            _ => false,
        }
    }

    /// The space that a variable or a member of unknown size gets. Another file may know the type
    /// and its size, and what it writes there must not reach the next one.
    pub fn room(&self, ty: CType) -> u64 {
        const ROOM: u64 = 4096;
        match self.get(ty) {
            Type::Array(_, None) | Type::Vla(..) => 0,
            _ => ROOM,
        }
    }

    /// Lays out a record's members in order. Bit-fields share units as the ABI says.
    pub fn complete(&mut self, record: u32, members: Vec<(Option<Sym>, CType, Option<u64>)>, packed: bool) {
        let union = self.records[record as usize].union;
        let mut out = Vec::with_capacity(members.len());
        let (mut bit, mut size, mut align) = (0u64, 0u64, 1u64);
        for (name, ty, width) in members {
            let ty = if self.is_open(ty) { Self::UNKNOWN } else { ty };
            let bytes = self.size(ty).unwrap_or_else(|| self.room(ty));
            let own = if packed { 1 } else { self.align(ty).max(1) };
            if union {
                bit = 0;
            }
            if let Some(width) = width {
                let unit = bytes.clamp(1, 8) * 8;
                let width = width.min(unit);
                if width == 0 || bit / unit != (bit + width - 1) / unit {
                    bit = bit.next_multiple_of(unit);
                }
                if width > 0 {
                    align = align.max(own);
                    if name.is_some() {
                        let at = bit / unit * (unit / 8);
                        out.push(RecordMember {
                            name,
                            ty,
                            offset: at,
                            bits: Some(((bit % unit) as u8, width as u8)),
                        });
                    }
                }
                bit += width;
            } else {
                let at = bit.div_ceil(8).next_multiple_of(own);
                align = align.max(own);
                out.push(RecordMember { name, ty, offset: at, bits: None });
                bit = at.saturating_add(bytes).saturating_mul(8).min(1 << 45);
            }
            size = size.max(bit.div_ceil(8));
        }
        let r = &mut self.records[record as usize];
        (r.members, r.size, r.align, r.complete) = (out, size.next_multiple_of(align), align, true);
    }

    /// The type after the integer promotions.
    pub fn promote(&self, ty: CType) -> CType {
        match self.get(ty) {
            Type::Bool => Self::INT,
            Type::Int { size, .. } if *size < 4 => Self::INT,
            _ => ty.bare(),
        }
    }

    /// The common type of two arithmetic operands.
    pub fn common(&self, a: CType, b: CType) -> CType {
        let (a, b) = (self.promote(a), self.promote(b));
        if self.is_unknown(a) || self.is_unknown(b) {
            return if self.is_unknown(a) { b } else { a };
        }
        let rank = |t: CType| match self.get(t) {
            Type::Float { size } => 100 + u32::from(*size),
            Type::Int { size, signed } => u32::from(*size) * 2 + u32::from(!signed),
            _ => 17,
        };
        if rank(a) >= rank(b) { a } else { b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_is_laid_out_as_the_abi_says() {
        let mut t = Types::default();
        let (n, ty) = t.new_record(false);
        let sym = |n| Some(Sym(n));
        let members = vec![
            (sym(1), Types::CHAR, None),
            (sym(2), Types::INT, None),
            (sym(3), Types::CHAR, None),
            (sym(4), Types::LONG, None),
        ];
        t.complete(n, members, false);
        assert_eq!(t.size(ty), Some(24));
        assert_eq!(t.member(ty, Sym(2)).map(|m| m.offset), Some(4));
        assert_eq!(t.member(ty, Sym(4)).map(|m| m.offset), Some(16));
    }

    #[test]
    fn bit_fields_share_their_unit() {
        let mut t = Types::default();
        let (n, ty) = t.new_record(false);
        let members = vec![
            (Some(Sym(1)), Types::UINT, Some(3)),
            (Some(Sym(2)), Types::UINT, Some(30)),
            (Some(Sym(3)), Types::UINT, Some(2)),
            (None, Types::UINT, Some(0)),
            (Some(Sym(4)), Types::UINT, Some(1)),
        ];
        t.complete(n, members, false);
        let at = |s| t.member(ty, Sym(s)).and_then(|m| m.bits.map(|b| (m.offset, b.0, b.1)));
        assert_eq!(at(1), Some((0, 0, 3)));
        assert_eq!(at(2), Some((4, 0, 30)));
        assert_eq!(at(3), Some((4, 30, 2)));
        assert_eq!(at(4), Some((8, 0, 1)));
        assert_eq!(t.size(ty), Some(12));
    }

    #[test]
    fn anonymous_members_are_looked_through() {
        let mut t = Types::default();
        let (inner, inner_ty) = t.new_record(true);
        t.complete(inner, vec![(Some(Sym(7)), Types::INT, None), (Some(Sym(8)), Types::LONG, None)], false);
        let (outer, outer_ty) = t.new_record(false);
        t.complete(outer, vec![(Some(Sym(1)), Types::INT, None), (None, inner_ty, None)], false);
        assert_eq!(t.member(outer_ty, Sym(7)).map(|m| m.offset), Some(8));
    }

    #[test]
    fn a_record_does_not_contain_itself() {
        let mut t = Types::default();
        let (n, ty) = t.new_record(false);
        let two = t.make(Type::Array(ty, Some(2)));
        t.complete(n, vec![(Some(Sym(1)), ty, None), (Some(Sym(2)), two, None)], false);
        assert!(t.is_unknown(t.member(ty, Sym(1)).expect("member").ty));
        assert!(t.is_unknown(t.member(ty, Sym(2)).expect("member").ty));
    }

    #[test]
    fn usual_conversions() {
        let t = Types::default();
        assert_eq!(t.common(Types::CHAR, Types::USHORT), Types::INT);
        assert_eq!(t.common(Types::INT, Types::UINT), Types::UINT);
        assert_eq!(t.common(Types::UINT, Types::LONG), Types::LONG);
        assert_eq!(t.common(Types::LONG, Types::FLOAT), Types::FLOAT);
    }
}
