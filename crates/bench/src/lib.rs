//! What raddle and its peers cost, as ratios to the plain program.
//!
//! ThreadSanitizer's paper (Serebryany and Iskhodzhanov, WBIA 2009) gives its cost in section 7.2
//! as slowdown and memory over the native run, for each mode, beside those of other tools. This
//! crate does the same for raddle. It has eleven kernels with two threads each, in the manner of
//! Splash and PARSEC, built by two compilers. It runs them natively, under both compilers' own
//! ThreadSanitizer, under helgrind and drd, and under raddle's modes with and without history.
//!
//! How the figures are made, and what they promise:
//!
//! 1. **Same program on both sides.** A ratio compares runs of one kernel, one compiler, one size.
//!    Valgrind's tools take minutes at the full size, so they run a reduced size and are compared
//!    with the native run of that size.
//! 2. **The target's own time and memory.** Every run goes through the launcher of [`measure`],
//!    which reads the resource usage of the target process alone. Raddle's driver symbolises after
//!    the target has ended. That time is recorded separately (`command_seconds`), because the
//!    peers' symboliser is switched off (`report_bugs=0`).
//! 3. **Noise only adds.** Tools take turns within each kernel and each round. The least time of
//!    the rounds counts, and the median of the peak memory. The report prints the spread, so a
//!    noisy run is visible.
//! 4. **A broken run has no time.** Each kernel prints a checksum that depends on its arguments
//!    alone. A run is a failure, listed in the report, if its checksum differs from the native one,
//!    if it fails, or if it exceeds the limit.
//! 5. **Nothing is left out silently.** The report names each absent tool, each failed kernel and
//!    each missed target.
//!
//! Where things are: [`kernel`] has the programs, [`tool`] what can be run. [`compile`] and
//! [`measure`] do the work, and [`runner`] orders it. [`results`] is the record, [`stats`] and
//! [`verdict`] the arithmetic. [`table`], [`report`] and [`compare`] write for people. [`options`]
//! is the command line. [`recording`] makes README's picture, [`bars`] those of the pages.
//! [`explore`] contains two separate benches, [`tsvd`] and [`conseq`] one each.

pub mod bars;
pub mod compare;
pub mod compile;
pub mod conseq;
pub mod error;
pub mod explore;
pub mod kernel;
pub mod machine;
pub mod measure;
pub mod options;
pub mod recording;
pub mod report;
pub mod results;
pub mod runner;
pub mod stats;
pub mod table;
pub mod tool;
pub mod tsvd;
pub mod verdict;
