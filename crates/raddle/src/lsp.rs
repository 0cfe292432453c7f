//! `raddle lsp`: the language server on standard input and output, started by an editor.

use std::process::ExitCode;

use anyhow::{Context, Result};
use raddle_lsp::ConnectionEnd;

use crate::exit;

/// Language server: underlines races and deadlocks as you type
///
/// Speaks the Language Server Protocol on standard input and output. Your editor starts it:
/// docs/editors.md says how to configure it. It also shows what other commands found in the project.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// For editors that insist on naming the transport; there is no other
    #[arg(long, hide = true)]
    stdio: bool,
}

/// The protocol's exit status: 0 after an orderly end, 1 when the client just went away.
const ABRUPTLY: u8 = 1;

pub fn run(_: &Args) -> Result<ExitCode> {
    let ended = raddle_lsp::serve_stdio().context("the language server cannot go on")?;
    Ok(ExitCode::from(match ended {
        ConnectionEnd::Orderly => exit::CLEAN,
        ConnectionEnd::Abruptly => ABRUPTLY,
    }))
}
