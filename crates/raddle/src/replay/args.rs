//! The command line of `raddle replay`.

use std::path::PathBuf;

use crate::report;

/// Bring a failure back that `raddle explore` has found
///
/// Runs the program once more, with the interleaving in the file. A file names the command to run, so one that is not
/// of this user and this project wants --trust.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle replay queue_test-deadlock-1.raddle
  raddle replay --times 100 queue_test-deadlock-1.raddle
  raddle replay --gdb queue_test-deadlock-1.raddle
  raddle replay --trace steps.json queue_test-deadlock-1.raddle     # for ui.perfetto.dev

Exit status: 66 when the failure is back, 0 when the program does not fail, 2 when raddle could not do
its job.")]
pub struct Args {
    /// Replay so many times, each in a process of its own
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Replay",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "gdb")]
    pub times: u32,

    /// Open gdb at the failure
    #[arg(long, help_heading = "Replay")]
    pub gdb: bool,

    /// Write the steps to a file for chrome://tracing or ui.perfetto.dev
    #[arg(long, value_name = "FILE", help_heading = "Replay", conflicts_with = "gdb")]
    pub trace: Option<PathBuf>,

    /// Run what the file says although it is not of this user or of this project
    #[arg(long, help_heading = "Replay")]
    pub trust: bool,

    /// Another program than the one in the file: a rebuilt one, or one that has moved
    #[arg(long, value_name = "FILE", help_heading = "Replay")]
    pub program: Option<PathBuf>,

    /// With threads of the system, which a debugger sees all of
    #[arg(long, help_heading = "Replay")]
    pub os_threads: bool,

    /// How many seconds a thread may go on without a step before the execution counts as hung
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Replay",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub patience: u32,

    #[command(flatten)]
    pub report: report::Options,

    /// The file
    #[arg(value_name = "FILE.raddle")]
    pub file: PathBuf,
}
