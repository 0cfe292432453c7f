//! `raddle run`: watch a program for data races.

pub mod args;

pub use args::{Args, Options};

use std::process::ExitCode;

/// Runs the target and reports what was found.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet: cannot run {:?} with {:?}", args.command, args.options);
}
