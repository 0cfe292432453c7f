//! How values and control flow through machine code: the slicer behind `raddle conseq`.
//!
//! What CodeSurfer/x86 is to *ConSeq* (ASPLOS 2011, section 6.2), in so far as short slices need it. From a
//! [`Program`], which knows all functions and who calls whom, to the reads of shared memory on which an instruction
//! depends:
//!
//! | step | file |
//! |---|---|
//! | all functions, callees by name, address and slot; which of them return | `program`, `noreturn`, `pointers` |
//! | one function: instructions, parts moved elsewhere, blocks | `function`, `jump_table`, `landing` |
//! | graphs: dominators, control dependence, loops | `graph`, `dominators`, `control`, `loops` |
//! | what each instruction reads and writes | `effects`, `places`, `stack` |
//! | which definition reaches which use | `data` |
//! | addresses as linear forms, so that a load and its probe meet | `form`, `transfer`, `probes` |
//! | slices with distances, through calls | `slice`, `outlets`, `specialise` |
//! | what a branch tests, as an expression over reads | `tested`, `expression` |
//! | questions of those who look for error sites | `query`, `wait` |
//! | what a function is, apart from where it lies | `fingerprint` |
//!
//! Instructions are named by their index within their function. Nothing here is sound in the sense of a
//! compiler: memory outside the frame is related by the look of its address, and a pointer to a slot that was
//! stored away is not followed. What is missed costs a finding; what is too much costs time in the tester.

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
mod specialise;
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
