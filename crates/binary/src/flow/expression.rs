//! What a branch tests, as an expression over the values that shared reads return.
//!
//! ConSeq prunes a suspect by asking whether the value that a read could get would satisfy the
//! condition of the error site (*ConSeq*, ASPLOS 2011, section 7.2: "a symbolic-execution module").
//! An [`Expression`] is enough for this: it is what the machine computes from the reads to the
//! flags, along copies, extensions, arithmetic and comparisons. If the value of an operand depends
//! on the path, or comes from something that is not a read, there is no expression. Nothing is
//! guessed.

use serde::{Deserialize, Serialize};

/// A value of up to 64 bits. The result of each operation is truncated to its width, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expression {
    /// What a read returned: the address that names the read (see `CriticalRead::address` of
    /// the crate `conseq`), and the bytes read.
    Read {
        address: u64,
        size: u8,
    },
    Constant(u64),
    /// The low `from` bytes, widened with copies of the sign bit.
    SignExtended {
        from: u8,
        of: Box<Expression>,
    },
    /// `count` bytes from byte `from` on, widened with zeros.
    Part {
        from: u8,
        count: u8,
        of: Box<Expression>,
    },
    Operation {
        operator: Operator,
        width: u8,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// 1 if the comparison holds and 0 otherwise.
    Comparison {
        predicate: Predicate,
        width: u8,
        left: Box<Expression>,
        right: Box<Expression>,
    },
}

/// Integer operations whose results are used as values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
}

/// How two integers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Predicate {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Below,
    BelowOrEqual,
    Above,
    AboveOrEqual,
}

impl Predicate {
    /// The predicate that holds exactly when this one does not.
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
            Self::Below => Self::AboveOrEqual,
            Self::BelowOrEqual => Self::Above,
            Self::Above => Self::BelowOrEqual,
            Self::AboveOrEqual => Self::Below,
        }
    }

    fn holds(self, width: u8, left: u64, right: u64) -> bool {
        let (l, r) = (cut(left, width), cut(right, width));
        let (sl, sr) = (sign_extended(l, width), sign_extended(r, width));
        match self {
            Self::Equal => l == r,
            Self::NotEqual => l != r,
            Self::Less => sl < sr,
            Self::LessOrEqual => sl <= sr,
            Self::Greater => sl > sr,
            Self::GreaterOrEqual => sl >= sr,
            Self::Below => l < r,
            Self::BelowOrEqual => l <= r,
            Self::Above => l > r,
            Self::AboveOrEqual => l >= r,
        }
    }
}

impl Expression {
    /// The value, given the values of the reads. `None` if one of them is not known.
    pub fn evaluate(&self, read: &dyn Fn(u64) -> Option<u64>) -> Option<u64> {
        Some(match self {
            Self::Read { address, size } => cut(read(*address)?, *size),
            Self::Constant(value) => *value,
            Self::SignExtended { from, of } => sign_extended(of.evaluate(read)?, *from) as u64,
            Self::Part { from, count, of } => {
                cut(of.evaluate(read)?.checked_shr(u32::from(*from) * 8).unwrap_or(0), *count)
            }
            Self::Operation { operator, width, left, right } => {
                operator.apply(*width, left.evaluate(read)?, right.evaluate(read)?)
            }
            Self::Comparison { predicate, width, left, right } => {
                u64::from(predicate.holds(*width, left.evaluate(read)?, right.evaluate(read)?))
            }
        })
    }

    /// The reads that it depends on, each once.
    pub fn reads(&self) -> Vec<u64> {
        let mut reads = Vec::new();
        self.collect_reads(&mut reads);
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    fn collect_reads(&self, into: &mut Vec<u64>) {
        match self {
            Self::Read { address, .. } => into.push(*address),
            Self::Constant(_) => {}
            Self::SignExtended { of, .. } | Self::Part { of, .. } => of.collect_reads(into),
            Self::Operation { left, right, .. } | Self::Comparison { left, right, .. } => {
                left.collect_reads(into);
                right.collect_reads(into);
            }
        }
    }
}

impl Operator {
    fn apply(self, width: u8, left: u64, right: u64) -> u64 {
        // The processor takes shift counts modulo 32, or 64 for the widest operands.
        let count = (right & if width == 8 { 63 } else { 31 }) as u32;
        let left = cut(left, width);
        let result = match self {
            Self::Add => left.wrapping_add(right),
            Self::Subtract => left.wrapping_sub(right),
            Self::Multiply => left.wrapping_mul(right),
            Self::And => left & right,
            Self::Or => left | right,
            Self::Xor => left ^ right,
            Self::ShiftLeft => left << count,
            Self::ShiftRight => left >> count,
            Self::ShiftRightSigned => (sign_extended(left, width) >> count) as u64,
        };
        cut(result, width)
    }
}

/// The low `width` bytes.
fn cut(value: u64, width: u8) -> u64 {
    if width >= 8 { value } else { value & ((1 << (u32::from(width) * 8)) - 1) }
}

fn sign_extended(value: u64, width: u8) -> i64 {
    let unused = 64 - u32::from(width.clamp(1, 8)) * 8;
    ((value << unused) as i64) >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: u64, size: u8) -> Box<Expression> {
        Box::new(Expression::Read { address, size })
    }

    fn constant(value: u64) -> Box<Expression> {
        Box::new(Expression::Constant(value))
    }

    fn compare(predicate: Predicate, width: u8, left: u64, right: u64) -> bool {
        let (left, right) = (constant(left), constant(right));
        Expression::Comparison { predicate, width, left, right }.evaluate(&|_| None) == Some(1)
    }

    #[test]
    fn comparisons_look_at_their_width_and_sign() {
        assert!(compare(Predicate::Less, 4, 0xffff_ffff, 0), "-1 < 0 as a signed int");
        assert!(!compare(Predicate::Less, 8, 0xffff_ffff, 0));
        assert!(compare(Predicate::Above, 4, 0xffff_ffff, 0));
        assert!(compare(Predicate::Equal, 1, 0x1_00, 0), "only the low byte counts");
        assert!(compare(Predicate::BelowOrEqual, 8, 7, 7));
    }

    #[test]
    fn a_negated_predicate_holds_exactly_when_the_other_does_not() {
        use Predicate::*;
        for predicate in [
            Equal,
            NotEqual,
            Less,
            LessOrEqual,
            Greater,
            GreaterOrEqual,
            Below,
            BelowOrEqual,
            Above,
            AboveOrEqual,
        ] {
            assert_eq!(predicate.negated().negated(), predicate);
            for (left, right) in [(0, 0), (0, 1), (1, 0), (u64::MAX, 0), (0, u64::MAX), (1 << 63, 1)] {
                let (yes, no) =
                    (compare(predicate, 8, left, right), compare(predicate.negated(), 8, left, right));
                assert_ne!(yes, no, "{predicate:?} {left} {right}");
            }
        }
    }

    #[test]
    fn operations_wrap_at_their_width() {
        let apply = Operator::apply;
        assert_eq!(apply(Operator::Add, 4, 0xffff_ffff, 2), 1);
        assert_eq!(apply(Operator::Subtract, 1, 0, 1), 0xff);
        assert_eq!(apply(Operator::ShiftRightSigned, 4, 0x8000_0000, 31), 0xffff_ffff);
        assert_eq!(apply(Operator::ShiftRight, 4, 0x8000_0000, 31), 1);
        assert_eq!(apply(Operator::ShiftLeft, 4, 1, 33), 2, "counts are taken modulo 32");
        assert_eq!(apply(Operator::Multiply, 8, 3, 5), 15);
        assert_eq!(
            apply(Operator::Xor, 8, 6, 3) + apply(Operator::Or, 8, 6, 3) + apply(Operator::And, 8, 6, 3),
            14
        );
    }

    #[test]
    fn a_condition_is_evaluated_over_its_reads() {
        // a * 2 + b > 9, of two ints
        let double = Expression::Operation {
            operator: Operator::ShiftLeft,
            width: 4,
            left: read(1, 4),
            right: constant(1),
        };
        let sum = Expression::Operation {
            operator: Operator::Add,
            width: 4,
            left: Box::new(double),
            right: read(2, 4),
        };
        let test = Expression::Comparison {
            predicate: Predicate::Greater,
            width: 4,
            left: Box::new(sum),
            right: constant(9),
        };
        let with = |a: u64, b: u64| test.evaluate(&move |read| Some(if read == 1 { a } else { b }));
        assert_eq!(with(4, 1), Some(0));
        assert_eq!(with(4, 2), Some(1));
        assert_eq!(with(u64::MAX, 0), Some(0), "-2 > 9");
        assert_eq!(test.evaluate(&|read| (read == 1).then_some(4)), None, "one value is not known");
        assert_eq!(test.reads(), vec![1, 2]);
    }

    #[test]
    fn parts_and_signs_are_widened() {
        let byte = Expression::Part { from: 1, count: 1, of: read(1, 4) };
        assert_eq!(byte.evaluate(&|_| Some(0x1234)), Some(0x12));
        let beyond = Expression::Part { from: 8, count: 1, of: read(1, 8) };
        assert_eq!(beyond.evaluate(&|_| Some(u64::MAX)), Some(0));
        let short = Expression::SignExtended { from: 2, of: read(1, 2) };
        assert_eq!(short.evaluate(&|_| Some(0xfffe)), Some(-2_i64 as u64));
    }
}
