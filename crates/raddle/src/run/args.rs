//! The command line of `raddle run`.

use crate::option_values::size;
use crate::report;
use clap::ValueEnum;
use raddle_harness::detection;
use raddle_harness::relocated::Probes;
use raddle_harness::relocated::libraries::Libraries;
use std::ffi::OsString;
use std::str::FromStr;

/// Find data races and lock-order cycles in one run of a program and the processes it starts
///
/// Build the program with `raddle cc`, `raddle c++`, `raddle rustc`, `cargo raddle` or plain
/// `gcc -fsanitize=thread`. If it was built in another way, raddle watches a copy of its machine
/// code, and the races that it reports are only suspected.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle run -- ./server --selftest
  raddle run --mode hybrid -- ctest --output-on-failure
  raddle run --format sarif -o races.sarif -- make check
  raddle run --write-baseline known.json -- ./tests    # once
  raddle run --baseline known.json -- ./tests          # afterwards: only new findings

Exit status: the program's own when there are no findings, 66 findings, 2 raddle could not do its
job.")]
pub struct Args {
    #[command(flatten)]
    pub options: DetectorOptions,

    /// The program and its arguments, after `--`
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// The options of `raddle run`, which `cargo raddle` takes as well.
#[derive(Clone, Debug, clap::Args)]
pub struct DetectorOptions {
    /// Definition of a race
    #[arg(long, value_enum, default_value_t = ModeArg::Hb, help_heading = "Detection")]
    pub mode: ModeArg,

    /// Which code that was not built with raddle to watch, through a copy of it: `yes` (the program
    /// and its libraries), `auto` (the same, but only if the program starts threads and no other
    /// programs), `no` (none), `program` (the program without its libraries), `all` (every library,
    /// also of a program that was built with raddle), or names, as in libz.so*,libfoo*
    #[arg(long, value_name = "WHAT", default_value = "auto", help_heading = "Detection")]
    pub instrument: Instrument,

    /// How much history to keep for the stack of the earlier access: 0 none, 2 most
    #[arg(long, value_name = "0|1|2", default_value_t = 1, help_heading = "Detection",
          value_parser = clap::value_parser!(u8).range(0..=2))]
    pub history: u8,

    /// Do not report the first thread's accesses to memory before another thread uses it
    #[arg(long, help_heading = "Detection")]
    pub init_state: bool,

    /// Flush the detector's state at this much memory, for example 2G [default: from the limits of
    /// the machine]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Detection")]
    pub memory_limit: Option<u64>,

    /// Do not report lock-order cycles
    #[arg(long, help_heading = "Detection")]
    pub no_lock_order: bool,

    /// Do not report misuse of locks: locked twice, unlocked by another thread, destroyed while
    /// held
    #[arg(long, help_heading = "Detection")]
    pub no_mutex_bugs: bool,

    /// Do not report threads that ended and were neither joined nor detached
    #[arg(long, help_heading = "Detection")]
    pub no_thread_leaks: bool,

    /// Do not report signal handlers that call unsafe functions or change errno
    #[arg(long, help_heading = "Detection")]
    pub no_signal_bugs: bool,

    /// In hybrid mode, treat a mutex used with a condition variable as ordering accesses
    #[arg(long, help_heading = "Detection")]
    pub condvar_mutexes_order: bool,

    /// Do not watch accesses in fun:NAME, file:PATH or module:NAME; * is a wildcard (repeatable)
    #[arg(long, value_name = "PATTERN", value_parser = pattern, help_heading = "Selection")]
    pub ignore: Vec<String>,

    #[command(flatten)]
    pub report: report::ReportOptions,
}

/// For tests and benchmarks: if it is set, no probe is left out.
const KEEP_PROBES: &str = "RADDLE_KEEP_PROBES";

impl DetectorOptions {
    /// What the detector is to look for.
    pub fn detection(&self) -> detection::DetectionOptions {
        detection::DetectionOptions {
            mode: match self.mode {
                ModeArg::Hb => detection::DetectorMode::Hb,
                ModeArg::Hybrid => detection::DetectorMode::Hybrid,
                ModeArg::Fast => detection::DetectorMode::Fast,
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
            leave_out_covered: self.leaves_out_covered(),
        }
    }

    /// Which probes the copy of a program has that was not built with raddle. A probe that stands
    /// for others must stand for all that the detector wants to know of them: the first access, or
    /// each.
    pub fn probes(&self) -> Probes {
        let counts_each = self.history == 2 || self.mode == ModeArg::Fast || self.init_state;
        if self.leaves_out_covered() && !counts_each { Probes::Merged } else { Probes::All }
    }

    /// A report may name the line of the covering probe. That line may be one that is not to be
    /// reported, where the covered one is.
    fn leaves_out_covered(&self) -> bool {
        self.ignore.is_empty()
            && self.report.suppressions.is_empty()
            && std::env::var_os(KEEP_PROBES).is_none()
    }
}

/// The detector's state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Happens-before: no false reports on correct code
    Hb,
    /// Happens-before and locksets: also finds races that this run happened to order; may report
    /// false ones
    Hybrid,
    /// Hybrid that ignores memory until a second thread uses it: faster, misses some races
    Fast,
}

/// What is watched of programs and libraries that were not built with raddle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instrument {
    /// The program, if it starts threads and no other programs, and its libraries.
    Auto,
    /// The program and its libraries in any case.
    Yes,
    No,
    /// The program only.
    Program,
    /// Also libraries that are usually left out, and those of programs that were built with raddle.
    All,
    /// The program, and libraries with one of these names.
    Named(Vec<String>),
}

impl Instrument {
    pub fn libraries(&self) -> Libraries {
        match self {
            Instrument::Auto | Instrument::Yes => Libraries::Usual,
            Instrument::No | Instrument::Program => Libraries::None,
            Instrument::All => Libraries::All,
            Instrument::Named(names) => Libraries::Named(names.clone()),
        }
    }
}

impl FromStr for Instrument {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Instrument, Self::Err> {
        Ok(match word {
            "auto" => Instrument::Auto,
            "yes" => Instrument::Yes,
            "no" | "none" => Instrument::No,
            "program" => Instrument::Program,
            "all" => Instrument::All,
            names if names.split(',').all(|n| n.starts_with("lib") || n.contains(['.', '*'])) => {
                Instrument::Named(names.split(',').map(str::to_owned).collect())
            }
            _ => {
                return Err(
                    "it is auto, yes, no, program, all, or names of libraries with commas between them, as in libz.so*,libfoo*",
                );
            }
        })
    }
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
    fn what_to_watch() {
        let named = |names: &[&str]| Instrument::Named(names.iter().map(|n| n.to_string()).collect());
        for (word, meant) in [
            ("auto", Instrument::Auto),
            ("none", Instrument::No),
            ("all", Instrument::All),
            ("libz.so*,plugin.so", named(&["libz.so*", "plugin.so"])),
        ] {
            assert_eq!(word.parse(), Ok(meant));
        }
        for bad in ["", "everything", "libz,"] {
            assert!(bad.parse::<Instrument>().is_err(), "{bad}");
        }
    }
}
