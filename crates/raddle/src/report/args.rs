//! The options of the report, the same for every command.

use clap::ValueEnum;
use std::path::PathBuf;

// Flattened into options of the same name, whose group is enough.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct ReportOptions {
    /// Format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text, help_heading = "Report")]
    pub format: ReportFormat,

    /// Write the report to this file [default: stdout; stderr for text of a command that runs a
    /// program]
    #[arg(short, long, value_name = "FILE", help_heading = "Report")]
    pub output: Option<PathBuf>,

    /// Colour the text report
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, help_heading = "Report")]
    pub color: Color,

    /// Print only the report and errors on stderr, no progress and no notes
    #[arg(short, long, help_heading = "Report")]
    pub quiet: bool,

    /// Show every frame of a stack, also those of libraries
    #[arg(short, long, help_heading = "Report")]
    pub verbose: bool,

    /// Exit status when there are findings
    #[arg(long, value_name = "N", default_value_t = crate::exit::FINDINGS, help_heading = "Report")]
    pub exit_code: u8,

    /// Lowest confidence that sets the exit status
    #[arg(long, value_enum, value_name = "CONFIDENCE", default_value_t = FailOn::Suspected,
          help_heading = "Report")]
    pub fail_on: FailOn,

    /// Suppress the findings that this file describes, in ThreadSanitizer's format (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub suppressions: Vec<PathBuf>,

    /// Suppress the findings listed in this file
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub baseline: Option<PathBuf>,

    /// Write this run's findings to a file for --baseline
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub write_baseline: Option<PathBuf>,

    /// Do not store the findings for the editor (also RADDLE_NO_STORE=1)
    #[arg(long, help_heading = "Report")]
    pub no_store: bool,
}

/// How the report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Readable text
    Text,
    /// JSON, schema raddle.findings/1
    Json,
    /// SARIF, for code scanning
    Sarif,
    /// JUnit XML, for CI test reports
    Junit,
    /// GitHub workflow commands, which annotate a pull request
    Github,
    /// One self-contained HTML page
    Html,
    /// Markdown, for a comment on a pull request
    Markdown,
    /// A trace of the interleavings, for ui.perfetto.dev
    Perfetto,
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
