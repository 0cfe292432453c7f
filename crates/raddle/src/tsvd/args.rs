//! The command line of `raddle tsvd`.

use std::ffi::OsString;
use std::path::PathBuf;

use raddle_tsvd::{ONE, Params, technique};

use super::experiment::{Experiment, PaperVariant};
use crate::report;

/// Catch thread-safety violations, where threads misuse a library, in ordinary test runs
///
/// Raddle delays calls of thread-unsafe functions (containers, strings, streams, handles of
/// libraries) now and then, and catches a second thread that makes a conflicting call during the
/// delay. It reports only violations that happened. The program needs no special build, but
/// optimised C++ inlines the methods of containers: use `raddle c++ --tsvd`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle tsvd -- ctest --output-on-failure
  raddle tsvd --runs 2 -- ./unit_tests
  raddle tsvd --collect unit_tests.tsvd       # what a copy of `raddle instrument` has caught
  raddle tsvd --trap-file traps.json --coverage=coverage.json -- make check

Exit status: 0 or the program's own when nothing is found, 66 when something is, 2 when raddle
could not do its job.")]
pub struct Args {
    #[command(flatten)]
    pub options: DelayOptions,

    /// Report what this copy, made by `raddle instrument`, has caught since the last time
    #[arg(long, value_name = "COPY", conflicts_with_all = ["command", "runs"])]
    pub collect: Option<PathBuf>,

    /// The program and its arguments; put `--` before it if its name could be an option
    #[arg(trailing_var_arg = true, required_unless_present = "collect", value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Write a copy of a program that runs `raddle tsvd` on itself, without raddle
///
/// The copy delays calls of thread-unsafe functions now and then, as under `raddle tsvd`. It writes
/// what it catches to the folder COPY.raddle beside it, and `raddle tsvd --collect COPY` reports
/// it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle instrument -o unit_tests.tsvd ./unit_tests
  ./unit_tests.tsvd                          # anywhere, as often as you like
  raddle tsvd --collect unit_tests.tsvd

Libraries that the program is linked with are watched too, except the system's, as long as they
stay the same files. Calls through pointers are watched; functions looked up by name are not.
Exit status: 0, or 2 when no copy can be made.")]
pub struct InstrumentArgs {
    /// The copy to write; the folder COPY.raddle beside it is replaced
    #[arg(short, long, value_name = "COPY")]
    pub output: PathBuf,

    #[command(flatten)]
    pub parameters: Parameters,

    /// Further lists of thread-unsafe functions, as in raddle.toml (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub api: Vec<PathBuf>,

    /// Also watch this library, which the program loads later (repeatable); libraries that it
    /// is linked with are watched anyway, except the system's
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub library: Vec<PathBuf>,

    /// The program
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
}

#[derive(Clone, Debug, clap::Args)]
pub struct DelayOptions {
    /// Number of runs; each run uses what the earlier ones learned
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Detection",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,

    #[command(flatten)]
    pub parameters: Parameters,

    /// Begin with the pairs in this file, if it exists, and write those of this run to it
    #[arg(long, value_name = "FILE", help_heading = "Traps")]
    pub trap_file: Option<PathBuf>,

    /// Begin with no pairs from earlier runs
    #[arg(long, help_heading = "Traps")]
    pub fresh: bool,

    /// If the command fails in a run with delays, do not run it again without them
    #[arg(long, help_heading = "Detection")]
    pub no_retry: bool,

    /// Further lists of thread-unsafe functions, as in raddle.toml (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub api: Vec<PathBuf>,

    /// Also watch system programs and libraries whose path matches, with * (repeatable)
    #[arg(long, value_name = "PATTERN", help_heading = "Selection")]
    pub module: Vec<String>,

    /// Report which points were hit, and which in a concurrent phase: on stderr, or as JSON in a
    /// file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-", help_heading = "Report")]
    pub coverage: Option<PathBuf>,

    #[command(flatten)]
    pub report: report::ReportOptions,
}

/// What the runtime is told, whoever starts the program.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Parameters {
    /// Length of a delay
    #[arg(long, value_name = "MS", default_value_t = 100.0, value_parser = milliseconds, help_heading = "Parameters")]
    pub delay: f64,

    /// Largest distance of two calls on one object that count as a near miss
    #[arg(long, value_name = "MS", default_value_t = 100.0, value_parser = milliseconds, help_heading = "Parameters")]
    pub window: f64,

    /// Cap on the delays of one thread
    #[arg(long, value_name = "MS", default_value_t = 3000.0, value_parser = milliseconds, help_heading = "Parameters")]
    pub thread_cap: f64,

    /// Cap on the delays of one process; with most test runners this is one test
    #[arg(long, value_name = "MS", default_value_t = 10_000.0, value_parser = milliseconds, help_heading = "Parameters")]
    pub test_cap: f64,

    /// Cap on the delays of one process, all its threads together, as a share of the time it has
    /// run (above 1 with several threads; 1000 is no cap); ten delays are always allowed
    #[arg(long, value_name = "PART", default_value_t = 0.4, value_parser = times, help_heading = "Parameters")]
    pub share: f64,

    /// Cap on the delays of one run, all its processes together
    #[arg(long, value_name = "MS", default_value_t = 120_000.0, value_parser = milliseconds, help_heading = "Parameters")]
    pub run_cap: f64,

    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Parameters")]
    pub seed: u64,

    /// Make `std::async` start a thread under every policy, and report at least four processors
    #[arg(long, help_heading = "Detection")]
    pub force_async: bool,

    /// .NET: let an `await` of a completed task continue at once; by default raddle makes it wait,
    /// as in production
    #[arg(long, help_heading = "Detection")]
    pub synchronous_await: bool,

    /// What an experiment changes: see [`Experiment::from_environment`].
    #[arg(skip)]
    pub experiment: Experiment,
}

impl Parameters {
    /// For the core. `run` makes what is left to chance differ from run to run.
    pub fn params(&self, run: u32) -> Params {
        let nanos = |ms: f64| (ms * 1e6) as u64;
        let parts = |part: f64| (part * f64::from(ONE)) as u32;
        let x = &self.experiment;
        let policy = x.policy.into();
        let base = if x.paper { Params::paper(policy) } else { Params::new(policy) };
        let extended = base.techniques != technique::PAPER;
        Params {
            delay: nanos(self.delay),
            window: nanos(self.window),
            thread_cap: nanos(self.thread_cap),
            test_cap: nanos(self.test_cap),
            run_cap: nanos(self.run_cap),
            seed: self.seed.wrapping_add(u64::from(run)),
            techniques: x.without.iter().fold(base.techniques, |bits, t| bits & !t.bit()),
            widening: if extended { parts(x.widening) } else { 0 },
            patience: if extended { x.patience } else { 0 },
            history: x.history,
            buffer: x.phase,
            gap: parts(x.gap),
            inferred: x.inferred,
            decay: parts(x.decay),
            chance: parts(x.chance),
            ..base
        }
    }
}

impl DelayOptions {
    /// [`Experiment::rest`] where it applies.
    pub fn rest(&self) -> u32 {
        let x = &self.parameters.experiment;
        if x.policy == PaperVariant::Tsvd && !x.paper { x.rest } else { 0 }
    }
}

fn milliseconds(text: &str) -> Result<f64, String> {
    const MOST: f64 = 86_400_000.0;
    let number = text.strip_suffix("ms").unwrap_or(text).parse::<f64>();
    number.ok().filter(|n| (0.0..=MOST).contains(n)).ok_or_else(|| "milliseconds, up to a day".to_owned())
}

pub fn part(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|n| (0.0..=1.0).contains(n))
        .ok_or_else(|| "a number from 0 to 1".to_owned())
}

/// Several threads may be held at once, so this goes above one.
fn times(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|n| (0.0..=1000.0).contains(n))
        .ok_or_else(|| "a number from 0 to 1000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tsvd::experiment::tests::experiment;
    use clap::{Args as _, FromArgMatches};

    fn options(line: &str) -> Result<DelayOptions, clap::Error> {
        let command = DelayOptions::augment_args(clap::Command::new("tsvd")).no_binary_name(true);
        DelayOptions::from_arg_matches(&command.try_get_matches_from(line.split_whitespace())?)
    }

    fn parse(line: &str) -> Result<Parameters, clap::Error> {
        options(line).map(|o| o.parameters)
    }

    fn with(line: &str) -> DelayOptions {
        let mut options = options("").unwrap();
        options.parameters.experiment = experiment(line).unwrap();
        options
    }

    #[test]
    fn the_defaults_are_those_of_the_paper() {
        assert_eq!(parse("").unwrap().params(0), Params::default());
    }

    #[test]
    fn the_paper_and_each_extension_of_it_can_be_had() {
        let params = |line: &str| with(line).parameters.params(0);
        assert_eq!(params("--paper"), Params::paper(raddle_tsvd::Policy::Tsvd));
        let extended = params("--widening 0.25 --patience 3 --without joins --without short-first");
        assert_eq!((extended.widening, extended.patience), (ONE / 4, 3));
        let rest = technique::RENEWAL | technique::PROMPT | technique::KNOWN_ORDER | technique::LAST_WRITE;
        assert_eq!(extended.techniques, technique::PAPER | rest);
        let other = params("--policy tsvd-hb --widening 0.25 --patience 3");
        assert_eq!(other, Params::paper(raddle_tsvd::Policy::TsvdHb), "the others are as in the paper");
        let rest = |line: &str| with(line).rest();
        assert_eq!(["", "--rest 2", "--rest 2 --paper", "--policy tsvd-hb"].map(rest), [1, 2, 0, 0]);
    }

    #[test]
    fn each_parameter_is_an_option() {
        let line = "--delay 10 --window 20ms --thread-cap 1 --test-cap 2 --run-cap 3 --seed 4";
        let experiment = experiment(
            "--policy static-random --history 7 --phase 8 --gap 0.25 --inferred 3 --decay 0.5 --chance 0.125 \
             --without phase --without window",
        );
        let parameters = Parameters { experiment: experiment.unwrap(), ..parse(line).unwrap() };
        let params = parameters.params(1);
        assert_eq!(params.policy, raddle_tsvd::Policy::StaticRandom);
        assert_eq!((params.delay, params.window), (10_000_000, 20_000_000));
        assert_eq!((params.history, params.buffer, params.inferred), (7, 8, 3));
        assert_eq!((params.gap, params.decay, params.chance), (ONE / 4, ONE / 2, ONE / 8));
        assert_eq!((params.thread_cap, params.test_cap, params.run_cap), (1_000_000, 2_000_000, 3_000_000));
        assert_eq!(params.seed, 5);
        assert_eq!(params.techniques, technique::HB_INFERENCE | technique::PARALLEL);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["--runs 0", "--delay -1", "--policy tsvd", "--paper", "--without joins"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
