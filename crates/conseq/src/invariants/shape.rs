//! What an invariant can state.

use serde::{Deserialize, Serialize};

use super::sample::KnownMemory;

/// A piece of memory with a fixed address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variable {
    /// The first byte, in the address space of the training runs.
    pub address: u64,
    /// Bytes, from 1 to 8.
    pub size: u8,
}

impl Variable {
    /// The bits as a signed number.
    pub fn signed(self, bits: u64) -> i64 {
        let unused = 64 - 8 * u32::from(self.size.clamp(1, 8));
        (bits << unused) as i64 >> unused
    }
}

/// Something that has a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Term {
    /// One variable.
    Cell(Variable),
    /// The sum over the elements of an array, or over one field of its structures.
    Sum(Vec<Variable>),
}

impl Term {
    /// Its value, if all its variables are known.
    pub fn value(&self, memory: &KnownMemory) -> Option<i64> {
        match self {
            Term::Cell(v) => memory.value(*v),
            Term::Sum(of) => {
                of.iter().map(|v| memory.value(*v)).try_fold(0i64, |s, v| Some(s.wrapping_add(v?)))
            }
        }
    }

    /// All variables that contribute to the value.
    pub fn variables(&self) -> &[Variable] {
        match self {
            Term::Cell(v) => std::slice::from_ref(v),
            Term::Sum(of) => of,
        }
    }
}

/// What holds for the value `x` that a read returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// `x == c`
    Constant(i64),
    /// `x` is one of a few values.
    OneOf(Vec<i64>),
    /// `low <= x <= high`
    Range(i64, i64),
    /// `x != 0`
    NotNull,
    /// `x == y`
    Equal(Term),
    /// `x <= y`
    AtMost(Term),
    /// `x >= y`
    AtLeast(Term),
    /// `x == a * y + b`
    Linear(i64, Term, i64),
}

impl Shape {
    /// Whether it holds. `None`: a value that it needs is unknown.
    pub fn holds(&self, x: i64, memory: &KnownMemory) -> Option<bool> {
        Some(match self {
            Shape::Constant(c) => x == *c,
            Shape::OneOf(values) => values.contains(&x),
            Shape::Range(low, high) => (*low..=*high).contains(&x),
            Shape::NotNull => x != 0,
            Shape::Equal(y) => x == y.value(memory)?,
            Shape::AtMost(y) => x <= y.value(memory)?,
            Shape::AtLeast(y) => x >= y.value(memory)?,
            Shape::Linear(a, y, b) => x == a.wrapping_mul(y.value(memory)?).wrapping_add(*b),
        })
    }

    /// The other side of a relation.
    pub fn term(&self) -> Option<&Term> {
        match self {
            Shape::Equal(y) | Shape::AtMost(y) | Shape::AtLeast(y) | Shape::Linear(_, y, _) => Some(y),
            _ => None,
        }
    }

    /// The invariant in words; the caller names `x` and the other side.
    pub fn describe(&self, x: &str, name: &mut dyn FnMut(&Term) -> String) -> String {
        match self {
            Shape::Constant(c) => format!("{x} == {c}"),
            Shape::OneOf(values) => {
                let values: Vec<String> = values.iter().map(i64::to_string).collect();
                format!("{x} is one of {}", values.join(", "))
            }
            Shape::Range(low, high) => format!("{low} <= {x} <= {high}"),
            Shape::NotNull => format!("{x} != 0"),
            Shape::Equal(y) => format!("{x} == {}", name(y)),
            Shape::AtMost(y) => format!("{x} <= {}", name(y)),
            Shape::AtLeast(y) => format!("{x} >= {}", name(y)),
            Shape::Linear(1, y, b) => format!("{x} == {} {}", name(y), signed(*b)),
            Shape::Linear(a, y, 0) => format!("{x} == {a} * {}", name(y)),
            Shape::Linear(a, y, b) => format!("{x} == {a} * {} {}", name(y), signed(*b)),
        }
    }
}

/// `+ 3`, `- 3`.
fn signed(b: i64) -> String {
    if b < 0 { format!("- {}", b.unsigned_abs()) } else { format!("+ {b}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(address: u64) -> Variable {
        Variable { address, size: 4 }
    }

    fn memory() -> KnownMemory {
        let mut memory = KnownMemory::default();
        memory.store(at(8), 3);
        memory.store(at(12), -2i32 as u32 as u64);
        memory
    }

    #[test]
    fn bits_have_signs() {
        assert_eq!(at(0).signed(0xffff_ffff), -1);
        assert_eq!(Variable { address: 0, size: 8 }.signed(7), 7);
        assert_eq!(Variable { address: 0, size: 1 }.signed(0x80), -128);
    }

    #[test]
    fn relations_are_between_what_is_known() {
        let (m, sum) = (memory(), Term::Sum(vec![at(8), at(12)]));
        assert_eq!(Shape::Equal(sum.clone()).holds(1, &m), Some(true));
        assert_eq!(Shape::Linear(2, Term::Cell(at(8)), 1).holds(7, &m), Some(true));
        assert_eq!(Shape::AtMost(Term::Cell(at(12))).holds(-2, &m), Some(true));
        assert_eq!(Shape::AtLeast(Term::Cell(at(64))).holds(0, &m), None);
        assert_eq!(Shape::Equal(Term::Sum(vec![at(8), at(64)])).holds(3, &m), None);
    }

    #[test]
    fn values_alone() {
        let m = KnownMemory::default();
        let holds = |s: Shape, x| s.holds(x, &m).unwrap();
        assert!(holds(Shape::Constant(3), 3) && !holds(Shape::Constant(3), 0));
        assert!(holds(Shape::OneOf(vec![1, 5]), 5) && !holds(Shape::OneOf(vec![1, 5]), 2));
        assert!(holds(Shape::Range(-1, 4), 4) && !holds(Shape::Range(-1, 4), 5));
        assert!(!holds(Shape::NotNull, 0));
    }

    #[test]
    fn told_in_words() {
        let mut name = |_: &Term| "y".to_owned();
        let y = || Term::Cell(at(8));
        let told: Vec<String> =
            [Shape::Linear(2, y(), -3), Shape::Linear(1, y(), 4), Shape::Linear(3, y(), 0)]
                .iter()
                .map(|s| s.describe("x", &mut name))
                .collect();
        assert_eq!(told, ["x == 2 * y - 3", "x == y + 4", "x == 3 * y"]);
        assert_eq!(Shape::OneOf(vec![1, 2]).describe("x", &mut name), "x is one of 1, 2");
    }
}
