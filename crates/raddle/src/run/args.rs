//! The command line of `raddle run`.

use crate::report;
use clap::ValueEnum;
use raddle_harness::detection;
use std::ffi::OsString;

/// Watch a program, and every instrumented process it starts, for data races
///
/// The program must have been built with `raddle cc`, `raddle c++`, `raddle rustc`, `cargo
/// raddle`, or plain `gcc -fsanitize=thread`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle run -- ./server --selftest
  raddle run --mode hybrid -- ctest --output-on-failure
  raddle run --format sarif -o races.sarif -- make check
  raddle run --write-baseline known.json -- ./tests    # once
  raddle run --baseline known.json -- ./tests          # from then on, only what is new

Exit status: 0 or the program's own when nothing is found, 66 when something is, 2 when raddle
could not do its job.")]
pub struct Args {
    #[command(flatten)]
    pub options: Options,

    /// The program and its arguments; put `--` before it if its name could be an option
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// The options of `raddle run`, which `cargo raddle` takes as well.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// What counts as a race
    #[arg(long, value_enum, default_value_t = Mode::Hb, help_heading = "Detection")]
    pub mode: Mode,

    /// How much of the past to keep for the stack of the earlier access: 0 none, 2 most
    #[arg(long, value_name = "0|1|2", default_value_t = 1, help_heading = "Detection",
          value_parser = clap::value_parser!(u8).range(0..=2))]
    pub history: u8,

    /// Do not report accesses of the thread that initialises memory before others see it
    #[arg(long, help_heading = "Detection")]
    pub init_state: bool,

    /// Flush the detector's state at this much memory, as in 512M or 2G [default: from the
    /// machine's and ulimit's limits]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Detection")]
    pub memory_limit: Option<u64>,

    /// Do not look for cycles in lock order
    #[arg(long, help_heading = "Detection")]
    pub no_lock_order: bool,

    /// Do not report locks that are taken twice, let go of by others, or destroyed while held
    #[arg(long, help_heading = "Detection")]
    pub no_mutex_bugs: bool,

    /// Do not report threads that have ended and were neither joined nor detached
    #[arg(long, help_heading = "Detection")]
    pub no_thread_leaks: bool,

    /// Do not report signal handlers that allocate memory, or leave another errno behind
    #[arg(long, help_heading = "Detection")]
    pub no_signal_bugs: bool,

    /// In hybrid mode, let mutexes that are used with a condition variable order accesses
    #[arg(long, help_heading = "Detection")]
    pub condvar_mutexes_order: bool,

    /// Leave out findings that touch fun:NAME, file:PATH or module:NAME, with * (may be repeated)
    #[arg(long, value_name = "PATTERN", value_parser = pattern, help_heading = "Selection")]
    pub ignore: Vec<String>,

    #[command(flatten)]
    pub report: report::Options,
}

impl Options {
    /// What the detector is to look for.
    pub fn detection(&self) -> detection::Options {
        detection::Options {
            mode: match self.mode {
                Mode::Hb => detection::Mode::Hb,
                Mode::Hybrid => detection::Mode::Hybrid,
                Mode::Fast => detection::Mode::Fast,
            },
            history: self.history,
            init_state: self.init_state,
            memory_limit: self.memory_limit,
            lock_order: !self.no_lock_order,
            mutex_bugs: !self.no_mutex_bugs,
            thread_leaks: !self.no_thread_leaks,
            signal_bugs: !self.no_signal_bugs,
            condvar_mutexes_order: self.condvar_mutexes_order,
            ignore: self.ignore.clone(),
        }
    }
}

/// The detector's state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Pure happens-before: no false report on correct code
    Hb,
    /// Locksets as well: finds races that this run happened to order, may report false ones
    Hybrid,
    /// Hybrid, but memory counts only from the second thread on: faster, misses some races
    Fast,
}

/// A number of bytes with an optional K, M, G or T (powers of 1024).
pub fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err("a size is a number with K, M, G or T, as in 2G".into()),
    };
    let number: u64 = digits.parse().map_err(|_| "a size is a number with K, M, G or T, as in 2G")?;
    number.checked_mul(1 << shift).filter(|n| *n > 0).ok_or_else(|| "out of range".into())
}

/// An empty pattern would match everything or nothing; nobody means either.
fn pattern(word: &str) -> Result<String, &'static str> {
    let body = ["fun:", "file:", "module:"].iter().find_map(|kind| word.strip_prefix(kind)).unwrap_or(word);
    if body.is_empty() { Err("the pattern is empty: * stands for anything") } else { Ok(word.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_say_something() {
        for good in ["fun:f", "file:*.c", "module:libz", "std::vector*", "*"] {
            assert_eq!(pattern(good).as_deref(), Ok(good));
        }
        for bad in ["", "fun:", "file:"] {
            assert!(pattern(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size("2g"), Ok(2 << 30));
        assert_eq!(parse_size("1GiB"), Ok(1 << 30));
        for bad in ["", "G", "2X", "-1", "0", "1.5G", "99999999999T"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
