//! Constants and types of expressions, as far as declarations need them.

use super::{Meaning, Parser};
use crate::c::ast::{Expr, ExprKind};
use crate::c::types::{CType, Type, Types};
use crate::ir::Bin;

impl Parser<'_> {
    /// The value of an integer constant expression; `None` if it is not one.
    pub(super) fn constant(&self, e: &Expr) -> Option<i64> {
        constant(&self.scopes.types, e, &|e| self.type_of_expr(e))
    }

    /// The type of an expression; unknown if declarations alone do not tell.
    pub(super) fn type_of_expr(&self, e: &Expr) -> CType {
        let types = &self.scopes.types;
        match &e.kind {
            ExprKind::Int(_, ty)
            | ExprKind::Float(_, ty)
            | ExprKind::Cast(ty, _)
            | ExprKind::VaArg(_, ty) => *ty,
            ExprKind::Compound(ty, _) => *ty,
            ExprKind::Name(n) => match self.scopes.meaning(*n) {
                Some(Meaning::Object(ty)) => ty,
                _ => Types::UNKNOWN,
            },
            ExprKind::Index(a, _) => types.element(self.type_of_expr(a)).unwrap_or(Types::UNKNOWN),
            ExprKind::Deref(a) => {
                let ty = self.type_of_expr(a);
                match types.as_function(ty) {
                    Some(_) => ty,
                    None => types.element(ty).unwrap_or(Types::UNKNOWN),
                }
            }
            ExprKind::Member(a, name, arrow) => {
                let mut ty = self.type_of_expr(a);
                if *arrow {
                    ty = types.element(ty).unwrap_or(Types::UNKNOWN);
                }
                types.member(ty, *name).map_or(Types::UNKNOWN, |m| m.ty)
            }
            ExprKind::Call(f, _) => {
                let ty = self.type_of_expr(f);
                types.as_function(ty).map_or(Types::UNKNOWN, |f| f.result)
            }
            ExprKind::AddressOf(a) => {
                let ty = self.type_of_expr(a);
                types.find_pointer(ty).unwrap_or(Types::UNKNOWN)
            }
            ExprKind::SizeofExpr(_) | ExprKind::SizeofType(_) => Types::ULONG,
            ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) => Types::INT,
            ExprKind::Neg(a) | ExprKind::BitNot(a) | ExprKind::Plus(a) => types.promote(self.type_of_expr(a)),
            ExprKind::Step(a, ..) | ExprKind::Assign(_, a, _) => self.type_of_expr(a),
            ExprKind::Comma(_, b) => self.type_of_expr(b),
            ExprKind::Conditional(_, Some(b), _) => self.type_of_expr(b),
            ExprKind::Statement(body) => match body.last().map(|s| &s.kind) {
                Some(crate::c::ast::StmtKind::Expr(e)) => self.type_of_expr(e),
                _ => Types::UNKNOWN,
            },
            ExprKind::Binary(op, a, b) => {
                if matches!(op, Bin::Eq | Bin::Ne | Bin::Lt | Bin::Le | Bin::Gt | Bin::Ge) {
                    return Types::INT;
                }
                let (a, b) = (self.type_of_expr(a), self.type_of_expr(b));
                match (types.get(a), types.get(b)) {
                    (Type::Pointer(_) | Type::Array(..), Type::Pointer(_) | Type::Array(..)) => Types::LONG,
                    (Type::Pointer(_) | Type::Array(..), _) => a,
                    (_, Type::Pointer(_) | Type::Array(..)) => b,
                    _ => types.common(a, b),
                }
            }
            _ => Types::UNKNOWN,
        }
    }
}

/// Evaluates an integer constant expression. `type_of` gives the type for `sizeof x`.
pub fn constant(types: &Types, e: &Expr, type_of: &dyn Fn(&Expr) -> CType) -> Option<i64> {
    let value = |e: &Expr| constant(types, e, type_of);
    Some(match &e.kind {
        ExprKind::Int(v, _) => *v as i64,
        ExprKind::Float(v, _) => *v as i64,
        ExprKind::Plus(a) => value(a)?,
        ExprKind::Neg(a) => value(a)?.wrapping_neg(),
        ExprKind::BitNot(a) => !value(a)?,
        ExprKind::Not(a) => i64::from(value(a)? == 0),
        ExprKind::Cast(ty, a) => {
            let v = value(a)?;
            match types.get(*ty) {
                Type::Bool => i64::from(v != 0),
                Type::Int { .. } => types.scalar(*ty)?.wrap(v as u64) as i64,
                Type::Pointer(_) => v,
                _ => return None,
            }
        }
        ExprKind::SizeofType(ty) => types.size(*ty)? as i64,
        ExprKind::SizeofExpr(a) => match &a.kind {
            ExprKind::Str(bytes, _) => bytes.len() as i64 + 1,
            _ => types.size(type_of(a))? as i64,
        },
        ExprKind::Conditional(c, Some(t), f) => {
            if value(c)? != 0 {
                value(t)?
            } else {
                value(f)?
            }
        }
        ExprKind::And(a, b) => i64::from(value(a)? != 0 && value(b)? != 0),
        ExprKind::Or(a, b) => i64::from(value(a)? != 0 || value(b)? != 0),
        ExprKind::Binary(op, a, b) => {
            let unsigned = matches!(
                types.get(types.common(type_of(a), type_of(b))),
                Type::Int { size: 8, signed: false }
            );
            binary(*op, value(a)?, value(b)?, unsigned)?
        }
        _ => return None,
    })
}

fn binary(op: Bin, a: i64, b: i64, unsigned: bool) -> Option<i64> {
    let (ua, ub) = (a as u64, b as u64);
    Some(match op {
        Bin::Add => a.wrapping_add(b),
        Bin::Sub => a.wrapping_sub(b),
        Bin::Mul => a.wrapping_mul(b),
        Bin::Div if unsigned => ua.checked_div(ub)? as i64,
        Bin::Rem if unsigned => ua.checked_rem(ub)? as i64,
        Bin::Div => a.checked_div(b)?,
        Bin::Rem => a.checked_rem(b)?,
        Bin::And => a & b,
        Bin::Or => a | b,
        Bin::Xor => a ^ b,
        Bin::Shl => a.wrapping_shl(b as u32),
        Bin::Shr if unsigned => (ua >> (ub & 63)) as i64,
        Bin::Shr => a.wrapping_shr(b as u32),
        Bin::Eq => i64::from(a == b),
        Bin::Ne => i64::from(a != b),
        Bin::Lt => i64::from(if unsigned { ua < ub } else { a < b }),
        Bin::Le => i64::from(if unsigned { ua <= ub } else { a <= b }),
        Bin::Gt => i64::from(if unsigned { ua > ub } else { a > b }),
        Bin::Ge => i64::from(if unsigned { ua >= ub } else { a >= b }),
    })
}
