//! How values and control flow through machine code.

mod control;
mod data;
mod dominators;
mod effects;
mod expression;
mod fingerprint;
mod form;
mod function;
mod graph;
mod jump_table;
mod landing;
mod loops;
mod noreturn;
mod outlets;
mod places;
mod pointers;
mod probes;
mod program;
mod query;
mod slice;
mod stack;
mod tested;
mod transfer;
mod view;
mod wait;

pub use expression::{Expression, Operator, Predicate};
pub use fingerprint::Fingerprint;
pub use function::Function;
pub use program::{Call, Callee, Looked, Outline, Program};
pub use query::{Dereference, Exit, Loop, Query};
pub use slice::{Deciding, Found, Limits, Sliced, Start, slice};
pub use tested::tested;
