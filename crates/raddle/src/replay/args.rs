//! The command line of `raddle replay`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::report;

/// Repeat a failure from its .raddle file
///
/// Runs the program with the schedule in the file. The file names the command to run, so a file of
/// another user or another project needs --trust.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle replay queue_test-deadlock-1.raddle
  raddle replay --times 100 queue_test-deadlock-1.raddle
  raddle replay --gdb queue_test-deadlock-1.raddle
  raddle replay --trace steps.json queue_test-deadlock-1.raddle     # for ui.perfetto.dev

Exit status: 66 the failure happened again, 0 it did not, 2 raddle could not do its job.")]
pub struct Args {
    /// Replay this many times, each in its own process
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Replay",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "gdb")]
    pub times: u32,

    /// Open gdb at the failure
    #[arg(long, help_heading = "Replay")]
    pub gdb: bool,

    /// Write the steps as a trace for ui.perfetto.dev or chrome://tracing
    #[arg(long, value_name = "FILE", help_heading = "Replay", conflicts_with = "gdb")]
    pub trace: Option<PathBuf>,

    /// Run the command in the file even if the file belongs to another user or project
    #[arg(long, help_heading = "Replay")]
    pub trust: bool,

    /// Run this program instead of the one in the file: a rebuilt one, or one that has moved
    #[arg(long, value_name = "FILE", help_heading = "Replay")]
    pub program: Option<PathBuf>,

    /// Use system threads, which a debugger shows
    #[arg(long, help_heading = "Replay")]
    pub os_threads: bool,

    /// Seconds without a step after which the execution counts as hung
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Replay",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub patience: u32,

    #[command(flatten)]
    pub report: report::ReportOptions,

    /// The file that `explore`, `conseq` or `hunt` wrote
    #[arg(value_name = "FILE.raddle")]
    pub file: PathBuf,

    /// With --gdb: more arguments for gdb, which then starts the program only on `run`
    ///
    /// A front end, such as an editor's debugger, starts
    /// `raddle replay --gdb FILE.raddle -- --interpreter=mi` instead of gdb.
    #[arg(value_name = "GDB ARGUMENT", last = true, requires = "gdb")]
    pub gdb_arguments: Vec<OsString>,
}
