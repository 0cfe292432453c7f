//! How values and control flow through machine code: the slicer behind `raddle conseq`.
//!
//! This module takes the place of CodeSurfer/x86 in *ConSeq* (ASPLOS 2011, section 6.2), as far as
//! short slices need it. It leads from a [`MachineProgram`], which knows all functions and their
//! callers, to the reads of shared memory on which an instruction depends:
//!
//! | step | file |
//! |---|---|
//! | all functions and their callees; which of them return | `program`, `noreturn`, `pointers` |
//! | one function: instructions, moved parts, blocks | `function`, `jump_table`, `landing` |
//! | graphs: dominators, control dependence, loops | `graph`, `dominators`, `control`, `loops` |
//! | what each instruction reads and writes | `effects`, `places`, `stack` |
//! | which definition reaches which use, and the questions about it | `data`, `view` |
//! | addresses as linear forms, so that a load and its probe meet | `form`, `transfer`, `probes` |
//! | slices with distances, through calls | `slice`, `outlets`, `specialise` |
//! | what a branch tests, as an expression over reads | `tested`, `expression` |
//! | questions from the search for error sites | `query`, `wait` |
//! | probes that another probe makes superfluous | `covered`, `values` |
//! | the identity of a function, independent of its address | `fingerprint` |
//!
//! Instructions are identified by their index within their function. The analysis is not sound in a
//! compiler's sense: it relates memory outside the frame by the form of its address, and does not
//! follow a pointer to a slot that was stored. A missed dependence costs a finding; a superfluous
//! one costs time in the tester. `covered` and `values` are the exception: what they claim must
//! hold.

mod control;
mod covered;
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
mod values;
mod view;
mod wait;

pub use covered::CoveredCall;
pub use expression::{Expression, Operator, Predicate};
pub use fingerprint::Fingerprint;
pub use function::MachineFunction;
pub(crate) use probes::announced;
pub use program::{AnalysisRequest, Callee, MachineProgram, Outline, ScannedCall};
pub use query::{Dereference, Exit, FlowLoop, Query};
pub use slice::{Deciding, SliceLimits, SliceStart, Sliced, SlicedRead, slice};
pub use tested::tested;
