//! The command line of `raddle conseq`.

use std::ffi::OsString;
use std::path::PathBuf;

use raddle_conseq::SiteKind;

use crate::option_values::seconds;
use crate::report;

/// Predict from passing runs what could fail under another schedule, and make it fail
///
/// Raddle traces a few passing runs and predicts which assertion could fail, which error message
/// could appear, which output could be wrong and which loop could hang under another schedule. Then
/// it forces each prediction.
///
/// Build the program with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`. If it was
/// built in another way, raddle watches a copy of its machine code. The tests of a GoogleTest,
/// Catch2 or Rust test program are analysed one by one; all programs that a command such as `ctest`
/// starts are analysed together.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle conseq -- ./server_test
  raddle conseq -- ctest --test-dir build
  raddle conseq --sites assert,memory -- ./server_test
  raddle replay server_test-assert-1.raddle                           # the same failure again

Exit status: 0 nothing confirmed, 66 confirmed findings, 2 raddle could not do its job or was
interrupted before it confirmed anything.")]
pub struct Args {
    /// Kinds of error sites to consider
    #[arg(long, value_name = "KINDS", value_delimiter = ',', help_heading = "Sites", value_parser = kind,
          default_value = "assert,error,output,loop,memory,invariant")]
    pub sites: Vec<SiteKind>,

    /// Longest chain of dependences from a read to an error site
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Sites",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub max_distance: u32,

    /// List error sites and their critical reads; run nothing
    #[arg(long, help_heading = "Sites", conflicts_with_all = ["format", "output"])]
    pub sites_only: bool,

    /// Consider every read, not only critical reads
    #[arg(long, help_heading = "Sites")]
    pub all_reads: bool,

    /// Also report unserialisable interleavings of accesses (atomicity violations)
    #[arg(long, help_heading = "Sites")]
    pub atomicity: bool,

    /// Stop after this many seconds
    #[arg(long, value_name = "N", default_value_t = 60.0, help_heading = "Runs", value_parser = seconds)]
    pub seconds: f64,

    /// Number of passing runs to trace
    #[arg(long, value_name = "N", default_value_t = 6, help_heading = "Runs",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,

    /// List suspects without testing them
    #[arg(long, help_heading = "Runs")]
    pub no_test: bool,

    /// List suspects that are neither confirmed nor refuted, worst first, with what was tried
    #[arg(long, help_heading = "Report")]
    pub suspects: bool,

    /// List suspects that are refuted, too, with the reason: for `raddle hunt`
    #[arg(long, hide = true)]
    pub dismissed: bool,

    /// Take a test program as a whole instead of test by test
    #[arg(long, help_heading = "Runs")]
    pub whole: bool,

    /// Take in the tests that are ignored: #[ignore] of Rust, DISABLED_ of GoogleTest, and the like
    #[arg(long, conflicts_with = "whole", help_heading = "Runs")]
    pub include_ignored: bool,

    /// Hold each trace against others of the same order, one recorded at once and one of all
    /// accesses: for tests
    #[arg(long, hide = true)]
    pub check_traces: bool,

    /// How to force suspects
    #[arg(long, value_enum, default_value_t = Means::Schedule, value_name = "HOW", help_heading = "Runs")]
    pub tester: Means,

    /// Longest execution, in steps
    #[arg(long, value_name = "N", default_value_t = 50_000, help_heading = "Runs",
          value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub max_steps: u32,

    /// Seconds without a step after which an execution counts as hung
    #[arg(long, value_name = "N", default_value_t = 5.0, help_heading = "Runs", value_parser = seconds)]
    pub patience: f64,

    /// Folder for the .raddle files
    #[arg(long, value_name = "FOLDER", default_value = ".", help_heading = "Report")]
    pub schedules_to: PathBuf,

    #[command(flatten)]
    pub report: report::ReportOptions,

    /// The program and its arguments, after `--`
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// How suspects are forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Means {
    /// With the scheduler of `explore`: confirmed findings can be replayed
    Schedule,
    /// With delays in ordinary runs, as in the paper: nothing to replay. Always used for programs
    /// that cannot be scheduled
    Delays,
}

fn kind(text: &str) -> Result<SiteKind, String> {
    SiteKind::by_name(text).ok_or_else(|| {
        let names: Vec<&str> = SiteKind::ALL.iter().map(|k| k.name()).collect();
        format!("one or more of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_words_with_commas() {
        assert_eq!(kind("loop"), Ok(SiteKind::Loop));
        assert!(kind("loops").unwrap_err().contains("assert, error"));
    }
}
