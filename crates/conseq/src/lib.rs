//! What could go wrong under another interleaving, and why.
//!
//! After *ConSeq: Detecting Concurrency Bugs through Sequential Errors* (Zhang, Lim, Olichandran,
//! Scherpelz, Jin, Lu and Reps, ASPLOS 2011). The static half starts from what a user would see go
//! wrong, the error sites of section 5, and walks back to the reads of shared memory that can make
//! it so, the critical reads of section 6.
//!
//! - [`analyse`]: from a module to its [`Analysis`]; [`analyse_with`]: the same, with a [`Cache`] of functions that
//!   have not changed since the last build.
//! - [`analysis`]: sites, reads, and the conditions between them.
//! - [`options`]: which sites, and how far back.
//! - `sites`: the kinds of error sites, one a file. `reads`: the rules of section 6.1.
//!
//! The dynamic half reads a trace of one correct run (sections 7 and 8):
//!
//! - [`event`]: what a trace consists of.
//! - `order`, `critical_sections`: what must come before what, and what locks keep apart.
//! - `counts`: references that are counted, and the order which that makes.
//! - [`history`]: what was done to each piece of shared memory.
//! - [`invariants`]: what held in all training runs.
//! - [`atomicity`]: accesses that another could come between.
//! - [`suspects`]: the reads that could get another value, Algorithm 1.
//!
//! Deviations from the paper:
//! 1. Copies cost no distance (see `raddle_binary::flow`), so reads are nearer than in the paper's figure 5: 1 and 3
//!    where it has 1 and 4.
//! 2. A site is looked at from its function's callers only if it depends on no shared read of its own function,
//!    unless [`Callers::Always`] asks for more. The paper's slicer can do it and its evaluation does not say when.
//! 3. Pointers (the paper leaves them to ConMem) are sites at their first use, and where their block is given back.
//! 4. Code of Rust's standard library itself has no sites, although it is instrumented; what it instantiates for
//!    the program has.
//! 5. The tester schedules; the paper's delays are the second way, by choice or where a program can not be scheduled (`raddle::conseq::delays`).
//! 6. Traced runs are scheduled, one thread at a time, so that a trace is one stream, not a file a thread: there is
//!    nobody to wait for, and the order of events is what a merge of files would have to find out (`raddle_rt::trace`). Where
//!    a program can not be scheduled it is traced as it runs (`raddle_rt::trace::plain`).
//!
//! Price, by the example `sites` on two busy cores, all kinds but invariants: gdb, whose text is
//! 9.4 MB without probes and without symbols, 6 s of processor time and 0.9 GB; a Rust program with
//! 11.6 MB of text 18 s and 1.1 GB. With the cache filled, gdb takes 40% of that: 178 of its 20,316
//! functions are looked at again, the rest are only recognised.
//!
//! Nothing here opens a file, starts a thread or reads a clock. What is known of machine code is in
//! `raddle_binary::flow`.

#![warn(missing_docs)]

pub mod analysis;
pub mod atomicity;
pub mod event;
pub mod history;
pub mod invariants;
pub mod options;
pub mod shared;
pub mod suspects;

mod analyse;
mod cache;
mod counts;
mod critical_sections;
mod order;
mod reads;
mod sites;

pub use analyse::{analyse, analyse_with};
pub use analysis::{Analysis, Condition, CriticalRead, FunctionName, Note, Relation, Site, SiteKind};
pub use cache::Cache;
pub use options::{Callers, CustomNames, Options};
