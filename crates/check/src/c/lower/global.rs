//! Globals, static locals and string literals: their bytes and the addresses in them.

use std::sync::Arc;

use super::Lower;
use crate::c::ast::{Expr, ExprKind, Init, VarDecl};
use crate::c::types::{CType, Type, Types};
use crate::ir::{Bin, BitField, Global, GlobalShape, Linkage, Pos, Reloc, SymbolRef};

/// A constant: a number, or a symbol's address plus a number.
struct Address {
    symbol: Option<u32>,
    addend: i64,
}

impl Lower<'_> {
    pub(super) fn define_global(&mut self, v: &VarDecl) {
        let (Some(init), Some(symbol)) = (&v.init, self.file_scope.get(&v.name).copied()) else { return };
        let SymbolRef::OwnGlobal(index) = self.unit.symbols[symbol as usize] else { return };
        self.fill_global(index, v.ty, init);
    }

    pub(super) fn fill_global(&mut self, index: u32, ty: CType, init: &Init) {
        let size = self.types().size(ty).unwrap_or(8).min(1 << 26) as usize;
        // An incomplete last array (`struct { int n; char text[]; } x = {1, "abc"}`) may reach past
        // the size.
        let mut bytes = vec![0u8; size];
        let mut relocs = Vec::new();
        let leaves: Vec<_> =
            self.leaves(ty, init).into_iter().map(|l| (l.offset, l.ty, l.bits, l.value.clone())).collect();
        for (offset, ty, bits, value) in leaves {
            self.static_leaf(&mut bytes, &mut relocs, offset, ty, bits, &value);
        }
        let g = &mut self.unit.globals[index as usize];
        g.size = g.size.max(bytes.len() as u32);
        g.init = Some(bytes);
        g.relocs = relocs;
        g.declared_only = false;
    }

    fn static_leaf(
        &mut self,
        bytes: &mut Vec<u8>,
        relocs: &mut Vec<Reloc>,
        offset: u64,
        ty: CType,
        bits: Option<(u8, u8)>,
        value: &Expr,
    ) {
        if let (ExprKind::Str(text, _), Type::Array(_, n)) = (&value.kind, self.types().get(ty)) {
            let room = n.unwrap_or(text.len() as u64 + 1).min(text.len() as u64 + 1) as usize;
            let mut text = text.clone();
            text.push(0);
            put(bytes, offset, &text[..room]);
            return;
        }
        if let ExprKind::Compound(inner, init) = &value.kind
            && self.types().is_aggregate(*inner)
            && matches!(self.types().get(ty), Type::Record(_))
        {
            let leaves: Vec<_> = self
                .leaves(*inner, init)
                .into_iter()
                .map(|l| (l.offset, l.ty, l.bits, l.value.clone()))
                .collect();
            for (o, ty, bits, value) in leaves {
                self.static_leaf(bytes, relocs, offset + o, ty, bits, &value);
            }
            return;
        }
        let size = self.types().size(ty).unwrap_or(8).min(8) as usize;
        if let Some(scalar) = self.types().scalar(ty).filter(|s| s.is_float()) {
            let v = self.constant_float(value).unwrap_or(0.0);
            match scalar.size() {
                4 => put(bytes, offset, &(v as f32).to_le_bytes()),
                _ => put(bytes, offset, &v.to_le_bytes()),
            }
            return;
        }
        let Some(a) = self.address(value) else { return };
        match (a.symbol, bits) {
            (Some(symbol), _) => relocs.push(Reloc { offset: offset as u32, symbol, addend: a.addend }),
            (None, Some((at, width))) => put_bits(bytes, offset, at, width, a.addend as u64),
            (None, None) => {
                let v = if matches!(self.types().get(ty), Type::Bool) {
                    i64::from(a.addend != 0)
                } else {
                    a.addend
                };
                put(bytes, offset, &v.to_le_bytes()[..size]);
            }
        }
    }

    fn constant_float(&self, e: &Expr) -> Option<f64> {
        Some(match &e.kind {
            ExprKind::Float(v, _) => *v,
            ExprKind::Neg(a) => -self.constant_float(a)?,
            ExprKind::Plus(a) | ExprKind::Cast(_, a) => self.constant_float(a)?,
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.constant_float(a)?, self.constant_float(b)?);
                match op {
                    Bin::Add => a + b,
                    Bin::Sub => a - b,
                    Bin::Mul => a * b,
                    Bin::Div => a / b,
                    _ => return None,
                }
            }
            _ => self.constant(e)? as f64,
        })
    }

    /// The value of a constant expression that may be an address.
    fn address(&mut self, e: &Expr) -> Option<Address> {
        if let Some(v) = self.constant(e) {
            return Some(Address { symbol: None, addend: v });
        }
        match &e.kind {
            ExprKind::Str(bytes, _) => Some(Address { symbol: Some(self.string(bytes)), addend: 0 }),
            ExprKind::Cast(_, a) => self.address(a),
            ExprKind::AddressOf(a) => self.place_address(a),
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) => {
                // Arrays and functions are their own address. Anything else has no constant value.
                let ty = self.static_type(e);
                let own = matches!(self.types().get(ty), Type::Array(..) | Type::Function(_) | Type::Unknown);
                if own { self.place_address(e) } else { None }
            }
            ExprKind::Binary(op @ (Bin::Add | Bin::Sub), a, b) => {
                let ty = self.static_type(a);
                let of = self.types().element(ty).unwrap_or(Types::CHAR);
                let size = self.types().size(of).unwrap_or(1) as i64;
                let n = self.constant(b)?.wrapping_mul(size);
                let base = self.address(a)?;
                let n = if *op == Bin::Add { n } else { n.wrapping_neg() };
                Some(Address { addend: base.addend.wrapping_add(n), ..base })
            }
            ExprKind::Compound(ty, init) => {
                let index = self.anonymous("compound literal", e.pos, *ty);
                self.fill_global(index, *ty, init);
                let symbol = self.symbol(SymbolRef::OwnGlobal(index));
                Some(Address { symbol: Some(symbol), addend: 0 })
            }
            ExprKind::LabelAddress(label) => {
                let n = self.label_number(*label);
                Some(Address { symbol: None, addend: n as i64 })
            }
            ExprKind::Conditional(c, Some(a), b) => {
                if self.constant(c)? != 0 {
                    self.address(a)
                } else {
                    self.address(b)
                }
            }
            _ => None,
        }
    }

    fn place_address(&mut self, e: &Expr) -> Option<Address> {
        match &e.kind {
            ExprKind::Name(n) => {
                if let Some((v, 0)) = self.find_local(*n) {
                    return match v.home {
                        super::Home::Symbol(s) => Some(Address { symbol: Some(s), addend: 0 }),
                        _ => None,
                    };
                }
                if let Some(s) = self.file_scope.get(n) {
                    return Some(Address { symbol: Some(*s), addend: 0 });
                }
                let symbol = self.function_symbol(*n);
                Some(Address { symbol: Some(symbol), addend: 0 })
            }
            ExprKind::Member(a, name, arrow) => {
                let base = if *arrow { self.address(a)? } else { self.place_address(a)? };
                let mut ty = self.static_type(a);
                if *arrow {
                    ty = self.types().element(ty)?;
                }
                let m = self.types().member(ty, *name)?;
                Some(Address { addend: base.addend.wrapping_add(m.offset as i64), ..base })
            }
            ExprKind::Index(a, i) => {
                let base = self.address(a)?;
                let ty = self.static_type(a);
                let of = self.types().element(ty)?;
                let n = self.constant(i)?.wrapping_mul(self.types().size(of)? as i64);
                Some(Address { addend: base.addend.wrapping_add(n), ..base })
            }
            ExprKind::Deref(a) => self.address(a),
            ExprKind::Compound(..) => self.address(e),
            _ => None,
        }
    }

    /// The names of a type's parts, for reports.
    pub(super) fn shape(&self, ty: CType) -> GlobalShape {
        let (mut element, mut stride) = (ty, 0);
        while let Type::Array(of, _) = self.types().get(element) {
            element = *of;
            stride = self.types().size(element).unwrap_or(0) as u32;
        }
        let mut shape = GlobalShape { stride, ..GlobalShape::default() };
        if !self.is_opaque(element) {
            self.member_names(element, 0, "", &mut shape);
        }
        shape.members.sort();
        shape.members.dedup_by_key(|m| m.0);
        shape
    }

    fn member_names(&self, ty: CType, offset: u64, prefix: &str, out: &mut GlobalShape) {
        /// The most names of one object. What comes after them has none, rather than the last.
        const MOST: usize = 2_000;
        let Type::Record(r) = self.types().get(ty) else { return };
        for m in &self.types().records[*r as usize].members {
            let name = m.name.map(|n| self.name(n)).unwrap_or_default();
            let path = match (prefix.is_empty(), name.is_empty()) {
                (true, _) => name.to_string(),
                (_, true) => prefix.to_string(),
                _ => format!("{prefix}.{name}"),
            };
            let at = (offset + m.offset) as u32;
            if out.members.len() >= MOST {
                out.members.push((at, "".into()));
                return;
            }
            if matches!(self.types().get(m.ty), Type::Record(_)) && !self.is_opaque(m.ty) {
                self.member_names(m.ty, offset + m.offset, &path, out);
                continue;
            }
            let path: Arc<str> = path.into();
            if let Some((first, width)) = m.bits {
                out.bits.push(BitField { offset: at, at: first, width, name: path.clone() });
            }
            out.members.push((at, path));
        }
    }

    /// Whether a record is the library's and its members mean nothing to the reader:
    /// `pthread_mutex_t`.
    fn is_opaque(&self, ty: CType) -> bool {
        let Type::Record(r) = self.types().get(ty) else { return false };
        let first = self.types().records[*r as usize].members.first().and_then(|m| m.name);
        first.is_some_and(|n| self.interner.name(n).starts_with("__"))
    }

    fn anonymous(&mut self, name: &str, pos: Pos, ty: CType) -> u32 {
        let size = self.types().size(ty).unwrap_or(8).clamp(1, 1 << 26) as u32;
        let shape = self.shape(ty);
        self.unit.globals.push(Global {
            name: name.into(),
            linkage: Linkage::Internal,
            pos,
            size,
            init: None,
            relocs: Vec::new(),
            thread_local: false,
            constant: ty.is_const(),
            declared_only: false,
            shape,
        });
        self.unit.globals.len() as u32 - 1
    }

    /// The symbol of a string literal. Equal literals share one.
    pub(super) fn string(&mut self, bytes: &[u8]) -> u32 {
        if let Some(s) = self.strings.get(bytes) {
            return *s;
        }
        let mut init = bytes.to_vec();
        init.push(0);
        self.unit.globals.push(Global {
            name: "string literal".into(),
            linkage: Linkage::Internal,
            pos: Pos::default(),
            size: init.len() as u32,
            init: Some(init),
            relocs: Vec::new(),
            thread_local: false,
            constant: true,
            declared_only: false,
            shape: GlobalShape::default(),
        });
        let index = self.unit.globals.len() as u32 - 1;
        let symbol = self.symbol(SymbolRef::OwnGlobal(index));
        self.strings.insert(bytes.to_vec(), symbol);
        symbol
    }

    /// A static variable of a function: a global that only the function can name.
    pub(super) fn static_local(&mut self, v: &VarDecl) -> u32 {
        self.static_count += 1;
        let name = self.name(v.name);
        let size = self.types().size(v.ty).unwrap_or_else(|| self.types().room(v.ty).max(64));
        let size = size.clamp(1, 1 << 26) as u32;
        let symbol = self.new_global(name, Linkage::Internal, v, size, false);
        if let (Some(init), SymbolRef::OwnGlobal(index)) = (&v.init, &self.unit.symbols[symbol as usize]) {
            let index = *index;
            self.fill_global(index, v.ty, init);
        }
        symbol
    }
}

fn put(bytes: &mut Vec<u8>, offset: u64, value: &[u8]) {
    let at = offset as usize;
    if at.saturating_add(value.len()) > 1 << 26 {
        return;
    }
    if bytes.len() < at + value.len() {
        bytes.resize(at + value.len(), 0);
    }
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn put_bits(bytes: &mut [u8], offset: u64, at: u8, width: u8, value: u64) {
    for i in 0..u64::from(width) {
        let bit = u64::from(at) + i;
        let index = (offset + bit / 8) as usize;
        if let Some(b) = bytes.get_mut(index)
            && value >> i & 1 == 1
        {
            *b |= 1 << (bit % 8);
        }
    }
}
