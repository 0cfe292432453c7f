//! What could go wrong under another interleaving, and why.
//!
//! After *ConSeq: Detecting Concurrency Bugs through Sequential Errors* (Zhang, Lim, Olichandran,
//! Scherpelz, Jin, Lu and Reps, ASPLOS 2011). The static half starts from failures that a user
//! would see, the error sites of section 5, and follows dependences back to the reads of shared
//! memory that can cause them, the critical reads of section 6.
//!
//! - [`analyse`]: from a module to its [`Analysis`]. [`analyse_with`] also uses what is
//!   [`KnownFunctions`] of the file and a [`Cache`] of functions that have not changed since the
//!   last build, and leaves out what traced runs cannot ask about ([`Extent`]).
//! - [`analysis`]: sites, reads, and the conditions between them.
//! - [`options`]: which sites, and how far back.
//! - `sites`: the kinds of error sites, one a file. `reads`: the rules of section 6.1.
//!
//! The dynamic half reads a trace of one correct run (sections 7 and 8):
//!
//! - [`event`]: the events of a trace.
//! - `order`, `critical_sections`: what must precede what, and what locks keep apart.
//! - `counts`: reference counts, and the order that they imply.
//! - [`history`]: the accesses to each piece of shared memory.
//! - [`invariants`]: what held in all training runs.
//! - [`atomicity`]: pairs of accesses that another access could separate.
//! - [`suspects`]: the reads that could get another value, Algorithm 1.
//!
//! Deviations from the paper:
//! 1. Copies cost no distance (see `raddle_binary::flow`), so reads are nearer than in the paper's
//!    figure 5: 1 and 3 where it has 1 and 4.
//! 2. The slice of a site enters its function's callers only if the site depends on no shared read
//!    of its own function, unless [`Callers::Always`] asks for more. The paper's slicer can do it,
//!    and its evaluation does not say when.
//! 3. Pointers, which the paper leaves to ConMem, are sites at their first use and where their
//!    block is freed.
//! 4. Code of Rust's standard library has no sites, although it is instrumented. Code that it
//!    instantiates for the program has.
//! 5. The tester schedules. The paper's delays are the alternative, by choice or for programs that
//!    cannot be scheduled (`raddle::conseq::delays`).
//! 6. Traced runs are scheduled, one thread at a time, so a trace is one stream and not a file per
//!    thread. Recording needs no synchronisation, and no files have to be merged
//!    (`raddle_rt::trace`). A program that cannot be scheduled is traced in ordinary runs
//!    (`raddle_rt::trace::plain`).
//!
//! Cost, measured by the example `sites` on two busy cores, for all kinds but invariants: gdb,
//! whose text is 9.4 MB without probes and without symbols, takes 6 s of processor time and 0.9 GB;
//! a Rust program with 11.6 MB of text takes 18 s and 1.1 GB. With a full cache, gdb takes 40% of
//! that: 178 of its 20,316 functions are analysed again, the others are only recognised.
//!
//! Nothing here opens a file, starts a thread or reads a clock. `raddle_binary::flow` has all that
//! is specific to machine code.
#![warn(missing_docs)]

pub mod analysis;
pub mod atomicity;
pub mod event;
pub mod history;
pub mod invariants;
pub mod late_stores;
pub mod options;
pub mod shared;
pub mod suspects;

mod analyse;
mod cache;
mod counts;
mod critical_sections;
mod extent;
mod hand_over;
mod order;
mod reads;
mod sites;

pub use analyse::{KnownFunctions, StaticHalf, analyse, analyse_with};
pub use analysis::{Analysis, Condition, CriticalRead, FunctionName, Note, Relation, Site, SiteKind};
pub use cache::Cache;
pub use extent::Extent;
pub use options::{Callers, CustomNames, Options};
