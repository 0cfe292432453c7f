//! The command line of `raddle conseq`.

use std::ffi::OsString;
use std::path::PathBuf;

use raddle_conseq::SiteKind;

use crate::report;

/// Say what could go wrong under another interleaving, and make it happen
///
/// From a few correct runs raddle tells which assertion could fail, which error message could appear, which output could be
/// wrong and which loop could hang if threads were interleaved in another way; then it makes it happen. The program is built
/// with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`; a command that starts such programs, as `ctest`, is one campaign, and so is a
/// test program of GoogleTest, Catch2 or Rust: each of its tests is looked at by itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle conseq -- ./server_test
  raddle conseq -- ctest --test-dir build
  raddle conseq --sites assert,memory -- ./server_test
  raddle replay server_test-assert-1.raddle                           # the same failure again

Exit status: 0 when nothing is confirmed, 66 when something is, 2 when raddle could not do its job or was interrupted before
something was confirmed.")]
pub struct Args {
    /// The kinds of places at which something can be seen to go wrong
    #[arg(long, value_name = "KINDS", value_delimiter = ',', help_heading = "Sites", value_parser = kind,
          default_value = "assert,error,output,loop,memory,invariant")]
    pub sites: Vec<SiteKind>,

    /// How far from such a place a read may be to matter, in steps of dependence
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Sites",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub max_distance: u32,

    /// List the places and the reads that matter to them as text, and run nothing
    #[arg(long, help_heading = "Sites", conflicts_with_all = ["format", "output"])]
    pub sites_only: bool,

    /// Every read matters: critical reads off
    #[arg(long, help_heading = "Sites")]
    pub all_reads: bool,

    /// Tell accesses that another thread's could come between, with a result that no serial order has
    #[arg(long, help_heading = "Sites")]
    pub atomicity: bool,

    /// End after so many seconds
    #[arg(long, value_name = "N", default_value_t = 60.0, help_heading = "Runs", value_parser = seconds)]
    pub seconds: f64,

    /// Correct runs to trace and to learn from
    #[arg(long, value_name = "N", default_value_t = 6, help_heading = "Runs",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,

    /// List suspects without making them happen
    #[arg(long, help_heading = "Runs")]
    pub no_test: bool,

    /// List the suspects that are neither confirmed nor refuted, the worst first, with what was tried
    #[arg(long, help_heading = "Report")]
    pub suspects: bool,

    /// Take a test program of GoogleTest, Catch2 or Rust as one, not test by test
    #[arg(long, help_heading = "Runs")]
    pub whole: bool,

    /// Hold each trace against others of the same order, one recorded at once and one of all accesses: for tests
    #[arg(long, hide = true)]
    pub check_traces: bool,

    /// How suspects are made to happen
    #[arg(long, value_enum, default_value_t = Means::Schedule, value_name = "HOW", help_heading = "Runs")]
    pub tester: Means,

    /// The most steps of one execution
    #[arg(long, value_name = "N", default_value_t = 50_000, help_heading = "Runs",
          value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub max_steps: u32,

    /// How many seconds a thread may go on without a step before the execution counts as hung
    #[arg(long, value_name = "N", default_value_t = 5.0, help_heading = "Runs", value_parser = seconds)]
    pub patience: f64,

    /// Where the .raddle files go
    #[arg(long, value_name = "FOLDER", default_value = ".", help_heading = "Report")]
    pub schedules_to: PathBuf,

    #[command(flatten)]
    pub report: report::Options,

    /// The program and its arguments; put `--` before it if its name could be an option
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// How suspects are made to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Means {
    /// By the scheduler of `explore`: what is confirmed can be replayed
    Schedule,
    /// By delays in ordinary runs, as in the paper, and as in any case for what can not be scheduled: no schedule to replay
    Delays,
}

fn kind(text: &str) -> Result<SiteKind, String> {
    SiteKind::by_name(text).ok_or_else(|| {
        let names: Vec<&str> = SiteKind::ALL.iter().map(|k| k.name()).collect();
        format!("one or more of {}", names.join(", "))
    })
}

fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds, as in 30 or 0.5")?;
    if number > 0.0 && number <= 1e9 { Ok(number) } else { Err("a number of seconds above 0".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_words_with_commas() {
        assert_eq!(kind("loop"), Ok(SiteKind::Loop));
        assert!(kind("loops").unwrap_err().contains("assert, error"));
    }

    #[test]
    fn seconds_are_numbers_above_zero() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for bad in ["0", "-1", "soon", "inf", "NaN", ""] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
