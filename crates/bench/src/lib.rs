//! What raddle and its peers cost, as ratios to the plain program.
//!
//! ThreadSanitizer's paper (Serebryany and Iskhodzhanov, WBIA 2009) gives its cost in section 7.2 as slowdown and memory
//! over the native run, for each mode, beside those of other tools. This crate does the same for raddle: eleven kernels
//! with two threads each, in the manner of Splash and PARSEC, built by two compilers, run natively, under both compilers'
//! own ThreadSanitizer, under helgrind and drd, and under raddle's modes with and without history.
//!
//! How the figures are made, and what they promise:
//!
//! 1. **Same program on both sides.** A ratio compares runs of one kernel, one compiler, one size. Valgrind's tools take
//!    minutes at the full size, so they run a reduced one and are held against the native run of that size.
//! 2. **The target's own time and memory.** Every run goes through the launcher of [`measure`], which reads the
//!    resource usage of the target process alone. Raddle's driver symbolises after the target has ended; that time
//!    is recorded apart (`command_seconds`), as the peers' symboliser is switched off (`report_bugs=0`).
//! 3. **Noise only adds.** Tools take turns within each kernel and each round, and the least time of the rounds counts;
//!    of the peak memory the median. The spread is printed, so that a noisy run shows as one.
//! 4. **A broken run has no time.** Each kernel prints a checksum that depends on its arguments alone. A run whose checksum
//!    differs from the native one, that fails, or that outlasts the limit is a failure, listed in the report.
//! 5. **Nothing is left out in silence.** A tool that is absent, a kernel that failed and a target that is missed are
//!    all named in the report.
//!
//! Where things are: [`kernel`] the programs, [`tool`] what can be run, [`compile`] and [`measure`] the doing, [`runner`]
//! the order of it, [`results`] the record, [`stats`] and [`verdict`] the arithmetic, [`table`], [`report`] and
//! [`compare`] what a person reads, [`options`] the command line. [`explore`] is two benches of its own, [`tsvd`] and [`conseq`] one each.

pub mod compare;
pub mod compile;
pub mod conseq;
pub mod error;
pub mod explore;
pub mod kernel;
pub mod machine;
pub mod measure;
pub mod options;
pub mod report;
pub mod results;
pub mod runner;
pub mod stats;
pub mod table;
pub mod tool;
pub mod tsvd;
pub mod verdict;
