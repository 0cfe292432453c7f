//! How values and control flow through machine code.

mod control;
mod data;
mod dominators;
mod effects;
mod expression;
mod form;
mod function;
mod graph;
mod jump_table;
mod landing;
mod loops;
mod noreturn;
mod places;
mod program;
mod stack;
mod transfer;

pub use expression::{Expression, Operator, Predicate};
pub use function::Function;
pub use program::{Call, Callee, Outline, Program};
