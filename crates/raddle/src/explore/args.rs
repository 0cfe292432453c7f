//! The command line of `raddle explore`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::search::Searcher;
use crate::report;

/// Search the interleavings of a program for one that fails
///
/// The program is run again and again from the moment at which it creates its first thread, each time with another
/// interleaving of its threads. It is taken as it is, built with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo
/// raddle`; one that is not instrumented is explored as far as it can be seen. Each test of a libtest, GoogleTest or
/// Catch2 program is explored by itself. A failure (a deadlock, a failed assertion, a panic, a crash, a use after free …) is written to a file
/// from which `raddle replay` brings it back every time.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle explore -- ./queue_test
  raddle explore --seconds 600 --jobs 4 --keep-going -- ./queue_test
  raddle explore --strategy preemption --bound 2 -- ./queue_test      # all there is, up to the bound
  raddle explore --races --leaks -- ./queue_test                      # monitors in every schedule
  raddle replay queue_test-deadlock-1.raddle                          # the same failure again

Interleavings are explored under sequential consistency, unless --memory c11 is given.

Exit status: 0 when nothing is found, 66 when something is, 2 when raddle could not do its job.")]
pub struct Args {
    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub report: report::Options,

    /// The program and its arguments; put `--` before it if its name could be an option
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

#[derive(Clone, Debug, clap::Args)]
pub struct SearchArgs {
    /// End after so many seconds [default: 60, unless --schedules or --bound is given]
    #[arg(long, value_name = "N", help_heading = "Search", value_parser = seconds)]
    pub seconds: Option<f64>,

    /// End after so many schedules
    #[arg(long, value_name = "N", help_heading = "Search", value_parser = clap::value_parser!(u64).range(1..))]
    pub schedules: Option<u64>,

    /// Explore schedules with at most so many preemptions (or delays)
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub bound: Option<u32>,

    /// So many workers that share the search
    #[arg(long, short, value_name = "N", default_value_t = 1, help_heading = "Search",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,

    /// How to search
    #[arg(long, value_name = "NAME", default_value = "portfolio", help_heading = "Search",
          value_parser = clap::builder::PossibleValuesParser::new(Searcher::names()))]
    pub strategy: String,

    /// What the strategies that draw lots begin with
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Search")]
    pub seed: u64,

    /// Explore a test program as one, not each of its tests by itself
    #[arg(long, help_heading = "Search")]
    pub whole: bool,

    /// Go on after a failure, and report each once
    #[arg(long, help_heading = "Search")]
    pub keep_going: bool,

    /// Go on where a search of the same program was interrupted
    #[arg(long, help_heading = "Search")]
    pub resume: bool,

    /// The most steps of one execution [default: 20000, and up to a hundred times as many where no execution ends within them]
    #[arg(long, value_name = "N", help_heading = "Execution",
          value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub max_steps: Option<u32>,

    /// How many seconds a thread may make no step and use no processor before the execution counts as hung
    #[arg(long, value_name = "N", default_value_t = 10.0, help_heading = "Execution", value_parser = seconds)]
    pub patience: f64,

    /// A sleep does not say that the thread waits for others: for tests peppered with sleeps
    #[arg(long, help_heading = "Execution")]
    pub sleep_is_not_yield: bool,

    /// Waits on condition variables and futexes never return for no reason
    #[arg(long, help_heading = "Execution")]
    pub no_spurious: bool,

    /// What atomic loads may read: the newest value (sc), or any that C11 allows (c11)
    #[arg(long, value_name = "MODEL", default_value = "sc", help_heading = "Execution")]
    pub memory: Memory,

    /// A process of its own for each schedule, from the start
    #[arg(long, help_heading = "Execution")]
    pub fork: bool,

    /// Threads of the system rather than one carrier for all: the same schedules, much slower
    #[arg(long, help_heading = "Execution")]
    pub os_threads: bool,

    /// Preempt only in fun:NAME, file:PATH or module:NAME, with * (may be repeated)
    #[arg(long, value_name = "PATTERN", help_heading = "Execution")]
    pub only: Vec<String>,

    /// Do not preempt in fun:NAME, file:PATH or module:NAME (may be repeated)
    #[arg(long, value_name = "PATTERN", help_heading = "Execution")]
    pub skip: Vec<String>,

    /// Look for data races in every schedule
    #[arg(long, help_heading = "Monitors")]
    pub races: bool,

    /// Look for heap blocks that are lost when the program ends
    #[arg(long, help_heading = "Monitors")]
    pub leaks: bool,

    /// What is printed on standard output must be the same in every schedule
    #[arg(long, help_heading = "Monitors")]
    pub same_output: bool,

    /// Where the .raddle files go
    #[arg(long, value_name = "FOLDER", default_value = ".", help_heading = "Report")]
    pub schedules_to: PathBuf,
}

/// The memory model under which executions are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Memory {
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

fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds, as in 30 or 0.5")?;
    if number > 0.0 && number <= 1e9 { Ok(number) } else { Err("a number of seconds above 0".into()) }
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

    #[test]
    fn seconds_are_numbers_above_zero() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for bad in ["0", "-1", "soon", "inf", "NaN", ""] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
