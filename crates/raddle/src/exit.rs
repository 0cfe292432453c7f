//! Every exit status raddle can end with, in one place.
//!
//! They are the same for all subcommands: a pipeline can distinguish "nothing found", "found
//! something" and "raddle could not do its job" without knowing which subcommand ran. `run` returns
//! the target's own status if there is no finding. The compiler wrappers become the compiler (by
//! `exec`), so they have its status.

use raddle_harness::say;
use std::process::ExitCode;

/// Nothing was found.
pub const CLEAN: u8 = 0;
/// There are findings. ThreadSanitizer's number; `--exit-code` changes it.
pub const FINDINGS: u8 = 66;
/// Raddle could not do its job: bad arguments, no such program, nothing instrumented.
pub const FAILURE: u8 = 2;

/// Prints the error and its causes as one sentence on stderr, and returns [`FAILURE`].
pub fn failure(error: &anyhow::Error) -> ExitCode {
    say::failure(format_args!("{error:#}"));
    ExitCode::from(FAILURE)
}
