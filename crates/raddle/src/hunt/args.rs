//! The command line of `raddle hunt`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::suite::Shard;
use crate::report;

/// Find and prove concurrency bugs with all detectors, within a time limit
///
/// Raddle collects suspicions from all its detectors (`run`, `check`, `conseq`, `tsvd`), takes
/// control of the program's threads to settle each one, and searches other interleavings with the
/// time that is left. It reports only bugs that it saw happen twice. One paragraph says what goes
/// wrong and what would fix it. Build the program with `raddle cc`, `raddle c++`, `raddle rustc`,
/// `cargo raddle` or `raddle build`; raddle itself builds a C or C++ source file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle hunt -- ./queue_test                # a program; of a test program, its tests one by one
  raddle hunt bank.c                         # a source file: built, checked, hunted
  raddle hunt --minutes 30 -- ./queue_test
  raddle hunt --minutes 30 --since origin/main -- ./queue_test   # what has changed first
  raddle hunt --ctest build                  # every test that CTest knows; --meson for Meson's
  raddle hunt --minutes 10 -- make check     # every instrumented program that a command starts
  cargo raddle hunt --minutes 5 -- --release # every test of a crate; words after -- are cargo's
  raddle list                                # what hunts have found in this project

Exit status: 0 when nothing is confirmed, 66 when something is, 2 when raddle could not do its job.")]
pub struct Args {
    /// Stop after this many minutes [default: 1]
    #[arg(long, value_name = "N", value_parser = number, help_heading = "Hunt")]
    pub minutes: Option<f64>,

    /// Stop after this many seconds
    #[arg(long, value_name = "N", value_parser = number, conflicts_with = "minutes", help_heading = "Hunt")]
    pub seconds: Option<f64>,

    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Hunt")]
    pub seed: u64,

    /// Number of workers that share a search
    #[arg(long, short, value_name = "N", default_value_t = 1, help_heading = "Hunt",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,

    /// Hunt a test program as a whole instead of test by test
    #[arg(long, help_heading = "Hunt")]
    pub whole: bool,

    /// Take in the tests that are ignored: #[ignore] of Rust, DISABLED_ of GoogleTest, and the like
    #[arg(long, conflicts_with = "whole", help_heading = "Hunt")]
    pub include_ignored: bool,

    /// Keep the refutations of the last hunt of the same build, and search with another seed
    #[arg(long, help_heading = "Hunt")]
    pub resume: bool,

    /// Hunt every test that CTest knows in this build folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command", help_heading = "Hunt")]
    pub ctest: Option<PathBuf>,

    /// Hunt every test that Meson knows in this build folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["command", "ctest"], help_heading = "Hunt")]
    pub meson: Option<PathBuf>,

    /// Standard input of every execution: a file, or - for all that raddle can read from its own
    /// [default: the file that raddle's standard input is redirected from, or nothing]
    #[arg(long, value_name = "FILE", help_heading = "Hunt")]
    pub stdin: Option<PathBuf>,

    /// Begin with tests and suspicions that concern lines changed since this git revision
    #[arg(long, value_name = "REV", help_heading = "Hunt")]
    pub since: Option<String>,

    /// Hunt only this part of a suite, for example 3/8; `raddle merge` joins the stores of all
    /// parts
    #[arg(long, value_name = "K/N", help_heading = "Hunt")]
    pub shard: Option<Shard>,

    /// The words are cargo's, for `cargo test`: set by `cargo raddle hunt`
    #[arg(long, hide = true)]
    pub cargo: bool,

    /// Also list suspicions that are not confirmed, with the reason or with what was tried
    #[arg(long, help_heading = "Report")]
    pub suspects: bool,

    /// Folder for the .raddle files
    #[arg(long, value_name = "FOLDER", default_value = ".", help_heading = "Report")]
    pub schedules_to: PathBuf,

    #[command(flatten)]
    pub report: report::ReportOptions,

    /// The program and its arguments, or a C or C++ source file and options for its compiler
    #[arg(trailing_var_arg = true, required_unless_present_any = ["ctest", "meson", "cargo"], value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

impl Args {
    /// The time for everything.
    pub fn limit(&self) -> Duration {
        let seconds = self.minutes.map(|m| m * 60.0).or(self.seconds).unwrap_or(60.0);
        Duration::from_secs_f64(seconds)
    }
}

fn number(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "a number, as in 30 or 0.5")?;
    if number > 0.0 && number <= 1e6 { Ok(number) } else { Err("a number above 0".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_above_zero() {
        assert_eq!(number("0.5"), Ok(0.5));
        for bad in ["0", "-1", "soon", "inf", "NaN", ""] {
            assert!(number(bad).is_err(), "{bad}");
        }
    }
}
