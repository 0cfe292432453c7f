//! `raddle report` and `raddle view`: what is known about a project, in any format, or as a page in
//! the browser.
//!
//! ```text
//! gather    findings from the store of the project, or from JSON reports
//! browser   opens a page, if there is somebody to look at it
//! ```
//!
//! Both only report. Their exit status says whether that worked, not what was found.

mod browser;
mod gather;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use raddle_finding::{Format, RenderOptions, Report, render};
use raddle_store::home;

use crate::exit;
use crate::report::output::OutputFile;
use crate::report::source::SourceFiles;
use crate::report::terminal::Terminal;
use crate::report::{TextTo, args, editor, format, output};
use raddle_harness::say::{print, say};

/// Write a report of this project's findings in any format
///
/// Without FILE, the report has the findings that hunts have confirmed, with decisions about them,
/// and the findings of the last run of each other command. With FILE, it has the findings in these
/// reports.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle report --html -o report.html
  raddle report --format markdown shard1.json shard2.json   # a comment on a pull request
  raddle report --format perfetto -o trace.json run.json    # for ui.perfetto.dev

Places on the page open VS Code. RADDLE_EDITOR_URL names another editor:
  RADDLE_EDITOR_URL='idea://open?file={path}&line={line}&column={column}'

Exit status: 0, or 2 if nothing has run in the project, or a report cannot be read or written.")]
pub struct ReportArgs {
    /// JSON reports, written with `--format json`
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Format of the report
    #[arg(long, value_enum, default_value_t = args::ReportFormat::Text)]
    pub format: args::ReportFormat,

    /// The same as --format html
    #[arg(long, conflicts_with = "format")]
    pub html: bool,

    /// Write the report to this file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Include findings that were fixed or accepted
    #[arg(long)]
    pub all: bool,
}

/// Show this project's findings as a page in the browser
///
/// Writes the page and prints its path. Opens the browser if there is a display.
///
/// Exit status: 0, or 2 if nothing has run in the project, a report cannot be read, or the page
/// cannot be written.
#[derive(Debug, clap::Args)]
pub struct ViewArgs {
    /// JSON reports, written with `--format json` [default: the store of this project]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Include findings that were fixed or accepted
    #[arg(long)]
    pub all: bool,

    /// Only write the page and print its path
    #[arg(long)]
    pub print: bool,
}

pub fn report(args: &ReportArgs) -> Result<ExitCode> {
    let file = args.output.as_deref().map(|path| OutputFile::new("the report", path)).transpose()?;
    let format = if args.html { Format::Html } else { format(args.format) };
    let report = gather::gather(&args.files, args.all)?;
    let terminal = Terminal::new(TextTo::Stdout, args::Color::Auto, file.is_some());
    let text = rendered(&report, format, &terminal)?;
    match file {
        Some(file) => file.write(&text)?,
        None => output::print(&text, TextTo::Stdout)?,
    }
    Ok(ExitCode::from(exit::CLEAN))
}

pub fn view(args: &ViewArgs) -> Result<ExitCode> {
    let report = gather::gather(&args.files, args.all)?;
    let text = rendered(&report, Format::Html, &Terminal::PLAIN)?;
    let page = page()?;
    OutputFile::new("the page", &page)?.write(&text)?;
    print(&format!("{}\n", raddle_finding::visible(&page.display().to_string())));
    if !args.print
        && let Err(why) = browser::open(&page)
    {
        say!("{why}: open the file above");
    }
    Ok(ExitCode::from(exit::CLEAN))
}

/// Beside the store of the project, where the next page replaces it.
fn page() -> Result<PathBuf> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let folder = home::folder_for(&folder).unwrap_or_else(|_| std::env::temp_dir());
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {} for the page", folder.display()))?;
    Ok(folder.join("report.html"))
}

fn rendered(report: &Report, format: Format, terminal: &Terminal) -> Result<String> {
    // Program names in a report come from others, so they must not open further folders.
    let source = SourceFiles::of(&Report::new(&report.command, Vec::new()));
    let root = std::env::current_dir().ok().map(|d| d.to_string_lossy().into_owned());
    let editor = editor()?;
    let options = RenderOptions {
        color: terminal.color,
        width: terminal.width,
        source: &|file: &str, line: u32| source.line(file, line),
        root: root.as_deref(),
        editor: Some(&editor),
        links: terminal.links.as_deref(),
        ascii: terminal.ascii,
        ..RenderOptions::default()
    };
    Ok(render(report, format, &options))
}
