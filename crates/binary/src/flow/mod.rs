//! How values and control flow through machine code.

mod expression;

pub use expression::{Expression, Operator, Predicate};
