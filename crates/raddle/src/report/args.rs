//! The options of the report, the same for every command.

use clap::ValueEnum;
use std::path::PathBuf;

// Flattened into options of the same name, whose group is enough.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// The format of the report
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Report")]
    pub format: Format,

    /// Write the report to this file rather than to stdout (the text of `run` goes to stderr)
    #[arg(short, long, value_name = "FILE", help_heading = "Report")]
    pub output: Option<PathBuf>,

    /// Colour in text: auto is on a terminal only
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, help_heading = "Report")]
    pub color: Color,

    /// The exit status when there are findings
    #[arg(long, value_name = "N", default_value_t = crate::exit::FINDINGS, help_heading = "Report")]
    pub exit_code: u8,

    /// Which findings set the exit status: suspected counts both kinds
    #[arg(long, value_enum, value_name = "CONFIDENCE", default_value_t = FailOn::Suspected,
          help_heading = "Report")]
    pub fail_on: FailOn,

    /// Leave out what this file, in ThreadSanitizer's format, suppresses (may be repeated)
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub suppressions: Vec<PathBuf>,

    /// Leave out the findings that this file lists
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub baseline: Option<PathBuf>,

    /// Write the findings of this run to a file for --baseline
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub write_baseline: Option<PathBuf>,

    /// Do not keep the findings for the editor; RADDLE_NO_STORE=1 does the same
    #[arg(long, help_heading = "Report")]
    pub no_store: bool,
}

/// How the report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// The document of schema raddle.findings/1
    Json,
    /// For code-scanning services
    Sarif,
    /// For continuous-integration test reports
    Junit,
    /// Workflow commands that annotate a pull request
    Github,
    /// One page with everything in it
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// The least confidence that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Confirmed,
    Suspected,
}
