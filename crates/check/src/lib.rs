//! The static half of raddle: races and deadlocks in source code that need not build, run, or be
//! complete.
//!
//! The method is that of Bläser, "Practical Detection of Concurrency Issues at Coding Time" (ISSTA
//! 2018). Source is lowered to an intermediate stack code with instructions for concurrency
//! ([`ir`]). That code is interpreted many times, on a simulated heap, with simulated threads,
//! under random schedules, within bounds ([`interp`]). What goes wrong there is reported. The
//! method is unsound by design (what was not interpreted was not seen) and precise by design (what
//! was seen is an execution).
//!
//! The parts, and what is absent from each:
//!
//! - [`ir`]: the code. No language.
//! - [`interp`]: one run. No files, no clock, no language; randomness from a seed only.
//! - [`entries`]: where to start (section 4.1).
//! - `callers`: locks that some caller of a function may hold.
//! - `entry_locks`: locks that all callers of a function hold.
//! - [`locking`]: conditions that decide whether a lock is taken.
//! - `guards`: locks that the code holds around its data, without a run.
//! - [`explore`]: which runs to make within a budget.
//! - [`report`]: raw findings to [`raddle_finding::Finding`].
//! - [`c`]: the C front end. The only part that knows C.
//! - [`plan`]: the programs in a set of files, each checked by itself, and their combined result.
//! - [`session`]: files in, findings out, incrementally. Opens no file: text and includes come from
//!   the caller.

pub mod c;
mod callers;
pub mod csharp;
pub mod entries;
mod entry_locks;
pub mod explore;
mod guards;
pub mod ignore;
pub mod interp;
pub mod ir;
pub mod locking;
mod plan;
mod programs;
pub mod report;
mod route;
pub mod session;

pub use explore::Budget;
pub use plan::{CheckPlan, CheckedProgram};
pub use session::{CheckOptions, CheckOutcome, CheckStats, CheckedFunction, Session, Source, check_sources};
