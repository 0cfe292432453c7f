//! The errors that a user can meet, each one sentence with its remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The bench ran, and something it measured is broken.
pub const EXIT_FAILURES: u8 = 1;
/// The bench could not do its job.
pub const EXIT_CANNOT: u8 = 2;

#[derive(Debug)]
pub enum BenchError {
    /// Clap's: it prints itself, and its exit status is 0 if it is the help that was asked for.
    Arguments(clap::Error),
    Usage(String),
    UnknownKernel {
        name: String,
        known: Vec<String>,
    },
    UnknownTool {
        name: String,
        known: Vec<String>,
    },
    MalformedKernel {
        kernel: String,
        what: String,
    },
    MissingProgram {
        program: String,
        remedy: String,
    },
    /// A native build failed, so there is nothing to compare with.
    Build {
        kernel: String,
        tool: String,
        diagnostics: String,
    },
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    BadResults {
        path: PathBuf,
        what: String,
    },
    Launch(io::Error),
}

impl BenchError {
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BenchError {
        let path = path.to_owned();
        move |source| BenchError::File { action, path, source }
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchError::Arguments(error) => error.fmt(f),
            BenchError::Usage(what) => write!(f, "{what}; see `raddle-bench help`"),
            BenchError::UnknownKernel { name, known } => {
                write!(f, "no kernel is called `{name}`; there are {}", known.join(", "))
            }
            BenchError::UnknownTool { name, known } => {
                write!(f, "no tool is called `{name}`; there are {}", known.join(", "))
            }
            BenchError::MalformedKernel { kernel, what } => {
                write!(f, "the header of kernel `{kernel}` lacks {what}")
            }
            BenchError::MissingProgram { program, remedy } => {
                write!(f, "`{program}` was not found; {remedy}")
            }
            BenchError::Build { kernel, tool, diagnostics } => {
                write!(f, "kernel `{kernel}` does not build for {tool}:\n{diagnostics}")
            }
            BenchError::File { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            BenchError::BadResults { path, what } => {
                write!(f, "{} is no result of `raddle-bench run --json`: {what}", path.display())
            }
            BenchError::Launch(source) => write!(f, "cannot start the program to be measured: {source}"),
        }
    }
}

impl std::error::Error for BenchError {}
