//! The command line of `raddle check`.

use std::path::PathBuf;

use raddle_check::Budget;
use raddle_check::interp::Bounds;

use crate::option_values::{seconds, size};
use crate::report;

/// Find races and deadlocks in C and C# source, without building or running it
///
/// Raddle interprets the source many times, with simulated threads under random schedules. The
/// source need not compile, link or be complete. Raddle uses the include folders and macros of a
/// compile_commands.json (beside a file, in build/, or above), and runs nothing that it names.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle check                                  # every C and C# file below this folder
  raddle check src/pool.c src/queue.c           # as one program
  raddle check --total-steps 100000000 src      # ten times the default budget
  raddle check --format sarif -o races.sarif .
  raddle check --write-baseline known.json .    # once
  raddle check --baseline known.json .          # from then on, only what is new

A comment `// raddle: ignore REASON` on a line suppresses the findings with an end on that line.

Exit status: 0 when nothing is found, 66 when something is, 2 when raddle could not do its job.")]
pub struct Args {
    /// C and C# files, projects and solutions, or folders that contain them
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,

    #[command(flatten)]
    pub report: report::ReportOptions,

    /// Steps of one run; a step is one instruction of the intermediate code
    #[arg(long, value_name = "N", default_value_t = Bounds::default().steps, help_heading = "Bounds",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,

    /// Steps of all runs of a program; more than 20 programs share 20 times this number
    #[arg(long, value_name = "N", default_value_t = Budget::default().steps, help_heading = "Bounds",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub total_steps: u64,

    /// Stop after this many seconds, and report what was found and what was not checked
    #[arg(long, value_name = "N", default_value_t = 300.0, value_parser = seconds, help_heading = "Bounds")]
    pub seconds: f64,

    /// Size of the simulated heap of one run, for example 512K or 8M
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = size, help_heading = "Bounds")]
    pub heap: u64,

    /// Largest number of threads that a run may start
    #[arg(long, value_name = "N", default_value_t = Bounds::default().threads as u64, help_heading = "Bounds",
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub threads: u64,

    /// Leave out files larger than this
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = size, help_heading = "Bounds")]
    pub largest_file: u64,

    /// Seed of the schedules; the same seed gives the same findings
    #[arg(long, value_name = "N", default_value_t = Budget::default().seed, help_heading = "Bounds")]
    pub seed: u64,

    /// Number of threads of raddle itself [default: one for each core]
    #[arg(short, long, value_name = "N", help_heading = "Bounds",
          value_parser = clap::value_parser!(u64).range(1..=64))]
    pub jobs: Option<u64>,

    /// Use this file instead of searching for compile_commands.json
    #[arg(long, value_name = "FILE", help_heading = "Source")]
    pub compile_commands: Option<PathBuf>,

    /// Compiler whose preprocessor reads the files in compile_commands.json [default: the first of
    /// gcc, cc and clang that exists]
    #[arg(long, value_name = "PROGRAM", help_heading = "Source", conflicts_with = "raw")]
    pub preprocessor: Option<PathBuf>,

    /// Leave out findings whose ends are all in files or folders named after tests
    #[arg(long, help_heading = "Source")]
    pub no_tests: bool,

    /// Also list suspicions that rest on a guess about code that raddle did not simulate. It guesses
    /// that the callers of a function hold no lock, that a barrier initialised elsewhere orders
    /// nothing, that a join of an unknown handle is of another thread, or that a function needs the
    /// lock that other functions hold around the same data
    #[arg(long, help_heading = "Source")]
    pub all: bool,

    /// Start no compiler: read every file with raddle's own preprocessor
    #[arg(long, help_heading = "Source")]
    pub raw: bool,
}

impl Args {
    /// A larger total makes for more runs of an entry before it counts as exhausted.
    pub fn budget(&self) -> Budget {
        let usual = Budget::default();
        let factor = u32::try_from(self.total_steps / usual.steps).unwrap_or(u32::MAX).max(1);
        Budget {
            run: Bounds {
                steps: self.steps,
                heap: usize::try_from(self.heap).unwrap_or(usize::MAX),
                threads: self.threads as usize,
                ..usual.run
            },
            steps: self.total_steps,
            runs: usual.runs.saturating_mul(factor),
            quiet: usual.quiet.saturating_mul(factor),
            seed: self.seed,
            ..usual
        }
    }

    pub fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, |n| n.get().min(64));
        self.jobs.map_or_else(cores, |n| n as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Line::try_parse_from(std::iter::once("check").chain(line.split_whitespace())).map(|l| l.args)
    }

    #[test]
    fn without_words_it_is_this_folder_and_the_usual_budget() {
        let args = parse("").unwrap();
        assert_eq!(args.paths, [PathBuf::from(".")]);
        let (ours, usual) = (args.budget(), Budget::default());
        assert_eq!(
            (ours.steps, ours.runs, ours.quiet, ours.seed),
            (usual.steps, usual.runs, usual.quiet, usual.seed)
        );
        assert_eq!((ours.run.steps, ours.run.heap), (1_000_000, 8 << 20));
    }

    #[test]
    fn bounds_are_taken_and_a_larger_total_looks_longer() {
        let args = parse("--steps 5 --total-steps 30000000 --heap 1M --seed 9 --threads 3 a.c b").unwrap();
        let budget = args.budget();
        assert_eq!((budget.run.steps, budget.run.heap, budget.run.threads), (5, 1 << 20, 3));
        assert_eq!((budget.steps, budget.seed), (30_000_000, 9));
        assert_eq!(budget.quiet, 3 * Budget::default().quiet);
        assert_eq!(args.paths.len(), 2);
    }

    #[test]
    fn bounds_that_allow_nothing_are_refused() {
        for line in [
            "--steps 0",
            "--total-steps 0",
            "--heap 0",
            "--jobs 0",
            "--threads 0",
            "--seconds 0",
            "--raw --preprocessor x",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
