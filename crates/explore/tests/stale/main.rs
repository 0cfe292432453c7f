//! The model of stale reads: litmus tests by enumeration of everything it allows, and the axioms of
//! C++20 as an oracle.

mod axioms;
mod bounds;
mod litmus;
mod machine;
