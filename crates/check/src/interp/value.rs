//! Values, known and unknown (section 3.5).
//!
//! A value is 64 bits. An *uninterpreted* value has `TAG` as its upper half; its lower half is a
//! number that distinguishes it from others. The paper has one uninterpreted value. Raddle has
//! many, with these rules:
//!
//! 1. An operation on an unknown gives the unknown whose number is a hash of the operation and its
//!    operands. So the same expression over the same unknowns is the same unknown.
//! 2. [`super::witness`] remembers how an unknown was computed and what branches have assumed about
//!    it. `if (threaded) lock(); … if (threaded) unlock();` takes both or neither, and so does any
//!    other condition that follows from an earlier one. The paper decides each time anew, which it
//!    names as a source of false reports.
//!
//! A program's own number collides with an unknown once in 2³² random 64-bit values. It then counts
//! as unknown, which can hide a finding but not invent one.

use crate::ir::{Bin, Scalar, Un};

const TAG: u64 = 0xFFF4_5EED;

#[inline(always)]
pub fn is_unknown(v: u64) -> bool {
    v >> 32 == TAG
}

#[inline(always)]
pub const fn unknown(number: u32) -> u64 {
    TAG << 32 | number as u64
}

#[inline(always)]
pub fn number(v: u64) -> u32 {
    v as u32
}

/// The number of an unknown, computed from what identifies it.
#[inline]
pub fn mix(a: u64, b: u64, c: u64) -> u32 {
    let mut h = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.rotate_left(23).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    h ^= c.rotate_left(41).wrapping_mul(0xA076_1D64_78BD_642F);
    h ^= h >> 29;
    h = h.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (h >> 32) as u32
}

#[inline(always)]
pub fn known_bin(op: Bin, ty: Scalar, a: u64, b: u64) -> u64 {
    match ty {
        Scalar::F64 => float_bin(op, f64::from_bits(a), f64::from_bits(b), f64::to_bits),
        Scalar::F32 => {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            float_bin(op, f64::from(a), f64::from(b), |v| u64::from((v as f32).to_bits()))
        }
        _ => int_bin(op, ty, a, b),
    }
}

#[inline(always)]
fn int_bin(op: Bin, ty: Scalar, a: u64, b: u64) -> u64 {
    let signed = ty.is_signed();
    match op {
        Bin::Add => ty.wrap(a.wrapping_add(b)),
        Bin::Sub => ty.wrap(a.wrapping_sub(b)),
        Bin::Mul => ty.wrap(a.wrapping_mul(b)),
        // Division by zero ends a real program; here the result is merely unknown.
        Bin::Div | Bin::Rem if b == 0 => unknown(mix(op as u64, a, 0)),
        Bin::Div if signed => ty.wrap((a as i64).wrapping_div(b as i64) as u64),
        Bin::Rem if signed => ty.wrap((a as i64).wrapping_rem(b as i64) as u64),
        Bin::Div => ty.wrap(a / b),
        Bin::Rem => ty.wrap(a % b),
        Bin::And => a & b,
        Bin::Or => a | b,
        Bin::Xor => ty.wrap(a ^ b),
        // The type is wider than a value here (`__int128`); for all others the result is undefined.
        Bin::Shl | Bin::Shr if b >= 64 => unknown(mix(op as u64, a, b)),
        Bin::Shl => ty.wrap(a.wrapping_shl(b as u32)),
        Bin::Shr if signed => ty.wrap((a as i64).wrapping_shr(b as u32) as u64),
        Bin::Shr => ty.wrap(a.wrapping_shr(b as u32)),
        Bin::Eq => u64::from(a == b),
        Bin::Ne => u64::from(a != b),
        Bin::Lt => u64::from(if signed { (a as i64) < b as i64 } else { a < b }),
        Bin::Le => u64::from(if signed { a as i64 <= b as i64 } else { a <= b }),
        Bin::Gt => u64::from(if signed { a as i64 > b as i64 } else { a > b }),
        Bin::Ge => u64::from(if signed { a as i64 >= b as i64 } else { a >= b }),
    }
}

fn float_bin(op: Bin, a: f64, b: f64, out: impl Fn(f64) -> u64) -> u64 {
    match op {
        Bin::Add => out(a + b),
        Bin::Sub => out(a - b),
        Bin::Mul => out(a * b),
        Bin::Div => out(a / b),
        Bin::Rem => out(a % b),
        Bin::Eq => u64::from(a == b),
        Bin::Ne => u64::from(a != b),
        Bin::Lt => u64::from(a < b),
        Bin::Le => u64::from(a <= b),
        Bin::Gt => u64::from(a > b),
        Bin::Ge => u64::from(a >= b),
        Bin::And | Bin::Or | Bin::Xor | Bin::Shl | Bin::Shr => {
            unknown(mix(op as u64, a.to_bits(), b.to_bits()))
        }
    }
}

#[inline(always)]
pub fn known_un(op: Un, ty: Scalar, a: u64) -> u64 {
    let zero = match ty {
        Scalar::F64 => f64::from_bits(a) == 0.0,
        Scalar::F32 => f32::from_bits(a as u32) == 0.0,
        _ => a == 0,
    };
    match op {
        Un::IsZero => u64::from(zero),
        Un::Truth => u64::from(!zero),
        Un::Not => ty.wrap(!a),
        Un::Neg => match ty {
            Scalar::F64 => (-f64::from_bits(a)).to_bits(),
            Scalar::F32 => u64::from((-f32::from_bits(a as u32)).to_bits()),
            _ => ty.wrap(a.wrapping_neg()),
        },
    }
}

#[inline]
pub fn known_conv(from: Scalar, to: Scalar, a: u64) -> u64 {
    if !from.is_float() && !to.is_float() {
        return to.wrap(a);
    }
    let wide = match from {
        Scalar::F64 => f64::from_bits(a),
        Scalar::F32 => f64::from(f32::from_bits(a as u32)),
        _ if from.is_signed() => a as i64 as f64,
        _ => a as f64,
    };
    match to {
        Scalar::F64 => wide.to_bits(),
        Scalar::F32 => u64::from((wide as f32).to_bits()),
        Scalar::U64 => wide as u64,
        _ => to.wrap(wide as i64 as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_at_their_width() {
        assert_eq!(known_bin(Bin::Add, Scalar::I32, i32::MAX as u64, 1) as i64, i64::from(i32::MIN));
        assert_eq!(known_bin(Bin::Sub, Scalar::U32, 0, 1), u64::from(u32::MAX));
        assert_eq!(known_bin(Bin::Div, Scalar::I64, -7i64 as u64, 2) as i64, -3);
        assert_eq!(known_bin(Bin::Lt, Scalar::I64, -1i64 as u64, 0), 1);
        assert_eq!(known_bin(Bin::Lt, Scalar::U64, -1i64 as u64, 0), 0);
    }

    #[test]
    fn conversions() {
        assert_eq!(known_conv(Scalar::I32, Scalar::F64, -2i64 as u64), (-2f64).to_bits());
        assert_eq!(known_conv(Scalar::F64, Scalar::I32, 2.9f64.to_bits()), 2);
        assert_eq!(known_conv(Scalar::I32, Scalar::U8, 300), 44);
        assert_eq!(known_conv(Scalar::F32, Scalar::F64, u64::from(1.5f32.to_bits())), 1.5f64.to_bits());
    }
}
