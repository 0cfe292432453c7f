//! Every exit status raddle can end with, in one place.
//!
//! The same everywhere: a pipeline can tell "nothing found" from "found something" from
//! "raddle could not do its job" without knowing which subcommand ran. `run` passes on the
//! target's own status when there is no finding; the compiler wrappers become the compiler
//! (by `exec`), so its status is theirs.

use raddle_harness::say;
use std::process::ExitCode;

/// Nothing was found.
pub const CLEAN: u8 = 0;
/// There are findings. ThreadSanitizer's number; `--exit-code` changes it.
pub const FINDINGS: u8 = 66;
/// Raddle could not do its job: bad arguments, no such program, nothing instrumented.
pub const FAILURE: u8 = 2;

/// Prints the error as one sentence on stderr, with its causes behind it, and gives [`FAILURE`].
pub fn failure(error: &anyhow::Error) -> ExitCode {
    say::failure(format_args!("{error:#}"));
    ExitCode::from(FAILURE)
}
