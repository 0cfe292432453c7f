//! The command line of `raddle explore`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::search::Searcher;
use crate::option_values::seconds;
use crate::report;

/// Search the interleavings of a program for one that fails
///
/// Raddle runs the program many times from the point where it creates its first thread, each time
/// with another interleaving. When a schedule fails (a deadlock, an assertion, a panic, a crash, a
/// use after free), raddle writes it to a file, and `raddle replay` repeats it. Each test of a
/// libtest, GoogleTest or Catch2 program is explored separately.
///
/// Build the program with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`. If it was
/// built in another way, raddle schedules a copy of its machine code. If that cannot be copied,
/// raddle schedules only calls that synchronise.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle explore -- ./queue_test
  raddle explore --seconds 600 --jobs 4 --keep-going -- ./queue_test
  cargo raddle explore --seconds 300 -- --release   # every test of a crate; cargo's words after --
  raddle explore --strategy preemption --bound 2 -- ./queue_test    # all schedules up to the bound
  raddle explore --races --leaks -- ./queue_test                    # monitors in every schedule
  raddle replay queue_test-deadlock-1.raddle                        # the same failure again

Schedules are sequentially consistent unless you give --memory c11.

Exit status: 0 no findings, 66 findings, 2 raddle could not do its job.")]
pub struct Args {
    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub report: report::ReportOptions,

    /// The words are cargo's, for `cargo test`: set by `cargo raddle explore`
    #[arg(long, hide = true)]
    pub cargo: bool,

    /// The program and its arguments, after `--`
    #[arg(trailing_var_arg = true, required_unless_present = "cargo", value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

impl Args {
    /// What is explored, for the report.
    pub fn command_line(&self) -> Vec<String> {
        let cargo = self.cargo.then_some(["cargo", "raddle", "explore"]).into_iter().flatten();
        let words = self.command.iter().map(|w| w.to_string_lossy().into_owned());
        cargo.map(str::to_owned).chain(words).collect()
    }
}

#[derive(Clone, Debug, clap::Args)]
pub struct SearchArgs {
    /// Stop after this many seconds [default: 60, unless --schedules or --bound is given]
    #[arg(long, value_name = "N", help_heading = "Search", value_parser = seconds)]
    pub seconds: Option<f64>,

    /// Stop after this many schedules
    #[arg(long, value_name = "N", help_heading = "Search", value_parser = clap::value_parser!(u64).range(1..))]
    pub schedules: Option<u64>,

    /// Explore only schedules with at most this many preemptions (or delays)
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub bound: Option<u32>,

    /// Number of workers that share the search
    #[arg(long, short, value_name = "N", default_value_t = 1, help_heading = "Search",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,

    /// Search strategy
    #[arg(long, value_name = "NAME", default_value = "portfolio", help_heading = "Search",
          value_parser = clap::builder::PossibleValuesParser::new(Searcher::names()))]
    pub strategy: String,

    /// Seed of the random strategies
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Search")]
    pub seed: u64,

    /// Explore a test program as a whole instead of test by test
    #[arg(long, help_heading = "Search")]
    pub whole: bool,

    /// Take in the tests that are ignored: #[ignore] of Rust, DISABLED_ of GoogleTest, and the like
    #[arg(long, conflicts_with = "whole", help_heading = "Search")]
    pub include_ignored: bool,

    /// Continue after a failure; report each failure once
    #[arg(long, help_heading = "Search")]
    pub keep_going: bool,

    /// Continue an interrupted search of the same program
    #[arg(long, help_heading = "Search")]
    pub resume: bool,

    /// Longest execution, in steps [default: 20000, raised up to a hundredfold if no execution
    /// ends]
    #[arg(long, value_name = "N", help_heading = "Execution",
          value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub max_steps: Option<u32>,

    /// Seconds without a step and without processor time after which an execution counts as hung
    #[arg(long, value_name = "N", default_value_t = 10.0, help_heading = "Execution", value_parser = seconds)]
    pub patience: f64,

    /// Do not treat a sleep as a yield: for tests that sleep often
    #[arg(long, help_heading = "Execution")]
    pub sleep_is_not_yield: bool,

    /// Do not inject spurious wake-ups of condition variables and futexes
    #[arg(long, help_heading = "Execution")]
    pub no_spurious: bool,

    /// Memory model: atomic loads read the newest value (sc) or any value C11 allows (c11)
    #[arg(long, value_name = "MODEL", default_value = "sc", help_heading = "Execution")]
    pub memory: MemoryModel,

    /// Run each schedule in its own process, from the start of the program
    #[arg(long, help_heading = "Execution")]
    pub fork: bool,

    /// Use system threads instead of one carrier thread: same schedules, much slower
    #[arg(long, help_heading = "Execution")]
    pub os_threads: bool,

    /// Preempt only in fun:NAME, file:PATH or module:NAME, with * (repeatable)
    #[arg(long, value_name = "PATTERN", help_heading = "Execution")]
    pub only: Vec<String>,

    /// Do not preempt in fun:NAME, file:PATH or module:NAME (repeatable)
    #[arg(long, value_name = "PATTERN", help_heading = "Execution")]
    pub skip: Vec<String>,

    /// Report data races in every schedule
    #[arg(long, help_heading = "Monitors")]
    pub races: bool,

    /// Report heap blocks that are unreachable when the program ends
    #[arg(long, help_heading = "Monitors")]
    pub leaks: bool,

    /// Report schedules whose standard output differs
    #[arg(long, help_heading = "Monitors")]
    pub same_output: bool,

    /// Report threads that spin without a pause or a yield while they wait for others
    #[arg(long, help_heading = "Monitors")]
    pub spins: bool,

    /// Folder for the .raddle files
    #[arg(long, value_name = "FOLDER", default_value = ".", help_heading = "Report")]
    pub schedules_to: PathBuf,
}

/// The memory model under which executions are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum MemoryModel {
    Sc,
    C11,
}

impl SearchArgs {
    /// As a command line without a word has them.
    #[cfg(test)]
    pub fn defaults() -> SearchArgs {
        use clap::{Args as _, FromArgMatches};
        let line = SearchArgs::augment_args(clap::Command::new("explore")).no_binary_name(true);
        let matches = line.get_matches_from(std::iter::empty::<OsString>());
        SearchArgs::from_arg_matches(&matches).expect("every option has a default")
    }

    /// The seconds that the search may take.
    pub fn limit(&self) -> f64 {
        let bounded = self.schedules.is_some() || self.bound.is_some();
        self.seconds.unwrap_or(if bounded { f64::from(1 << 30) } else { 60.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_without_a_limit_ends_after_a_minute() {
        let mut args = SearchArgs::defaults();
        assert_eq!(args.limit(), 60.0);
        args.bound = Some(2);
        assert!(args.limit() > 1e6);
        args.seconds = Some(0.5);
        assert_eq!(args.limit(), 0.5);
    }
}
