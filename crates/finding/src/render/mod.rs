//! Renders a report: one format per file, one entry point, [`render`].
//!
//! | format | for |
//! |---|---|
//! | [`text`](Format::Text) | a person at a terminal |
//! | [`json`](Format::Json) | programs: the contract `raddle.findings/1` |
//! | [`sarif`](Format::Sarif) | code-scanning services and editors (SARIF 2.1.0) |
//! | [`junit`](Format::Junit) | CI servers that count tests |
//! | [`github`](Format::Github) | annotations in a GitHub workflow |
//! | [`html`](Format::Html) | a page to attach or to publish |
//! | [`markdown`](Format::Markdown) | a comment on a pull request |
//! | [`perfetto`](Format::Perfetto) | a timeline viewer, such as Perfetto's |
//!
//! `story` words everything about a finding once; the formats decide only how it looks. Names come
//! from the target and its debug information, so from strangers. Each format escapes them in its
//! own file and is tested with the worst of them.

mod commands;
mod github;
mod html;
mod json;
mod junit;
mod markdown;
mod perfetto;
mod picture;
mod relevance;
mod sarif;
mod steps;
mod story;
mod text;

use std::fmt;
use std::str::FromStr;

use crate::model::{Frame, Report};

pub use steps::{StoryStep, steps};
pub use text::visible;

/// An output format. Its name is what `--format` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// For a terminal.
    Text,
    /// The document `raddle.findings/1`.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, the form in which CI systems read test results.
    Junit,
    /// Workflow commands that annotate a pull request on GitHub.
    Github,
    /// A self-contained page.
    Html,
    /// A summary for a pull request.
    Markdown,
    /// A trace of each schedule, for Perfetto and for Chrome.
    Perfetto,
}

/// How to render; the default opens no source, uses no colour and fits 100 columns.
#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    /// ANSI colours; only `text` has any.
    pub color: bool,
    /// Columns; only `text` wraps. Never narrower than [`MIN_WIDTH`].
    pub width: usize,
    /// Where source lines come from.
    pub source: &'a dyn SourceReader,
    /// The folder that file names are relative to. SARIF and GitHub find files only by relative
    /// names.
    pub root: Option<&'a str>,
    /// The URL that opens a place in an editor, with `{path}`, `{line}` and `{column}`. Only `html`
    /// has links. `None`: no links.
    pub editor: Option<&'a str>,
    /// The same for places in `text`, if the terminal has links. `None`: no links.
    pub links: Option<&'a str>,
    /// Only ASCII in `text`, for a terminal that shows nothing else.
    pub ascii: bool,
    /// Every frame of a stack in `text`, not only those of the user's code.
    pub all_frames: bool,
}

/// [`RenderOptions::editor`] of VS Code.
pub const VSCODE: &str = "vscode://file{path}:{line}:{column}";

/// Access to the target's source, which this crate does not open itself.
pub trait SourceReader {
    /// The line, counted from 1, without its line break; `None` if it is unavailable.
    fn line(&self, file: &str, line: u32) -> Option<String>;
}

/// No source at all.
pub struct NoSource;

/// An unknown format name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat {
    /// The name that was asked for.
    pub found: String,
}

/// With less, wrapping would cost more than it gives.
pub const MIN_WIDTH: usize = 40;

/// The whole report, ending in a line break.
pub fn render(report: &Report, format: Format, options: &RenderOptions<'_>) -> String {
    match format {
        Format::Text => text::render(report, options),
        Format::Json => json::render(report),
        Format::Sarif => sarif::render(report, options),
        Format::Junit => junit::render(report, options),
        Format::Github => github::render(report, options),
        Format::Html => html::render(report, options),
        Format::Markdown => markdown::render(report, options),
        Format::Perfetto => perfetto::render(report),
    }
}

/// The closing line of a report: `2 findings (1 confirmed, 1 suspected), 3 suppressed`.
pub fn summary(report: &Report) -> String {
    story::summary(report)
}

impl Format {
    /// In the order in which help lists them.
    pub const ALL: [Format; 8] = [
        Format::Text,
        Format::Json,
        Format::Sarif,
        Format::Junit,
        Format::Github,
        Format::Html,
        Format::Markdown,
        Format::Perfetto,
    ];

    /// The name that `--format` takes and [`FromStr`] reads.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Sarif => "sarif",
            Format::Junit => "junit",
            Format::Github => "github",
            Format::Html => "html",
            Format::Markdown => "markdown",
            Format::Perfetto => "perfetto",
        }
    }
}

impl RenderOptions<'_> {
    /// `file` relative to the root, if it is below it.
    fn relative<'f>(&self, file: &'f str) -> &'f str {
        let below = self.root.and_then(|root| {
            let rest = file.strip_prefix(root.trim_end_matches('/'))?;
            rest.strip_prefix('/').filter(|rest| !rest.is_empty())
        });
        let file = below.unwrap_or(file);
        file.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(file)
    }
}

/// The URL of a frame by `template`.
fn place_url(frame: &Frame, template: &str, options: &RenderOptions<'_>) -> Option<String> {
    let (file, line) = (frame.file.as_deref()?, story::line(frame)?);
    let path = match (file.starts_with('/'), options.root) {
        (true, _) => sarif::percent(file),
        (false, Some(root)) => sarif::percent(&format!("{}/{file}", root.trim_end_matches('/'))),
        (false, None) => return None,
    };
    let column = story::column(frame).unwrap_or(1).to_string();
    // The path last: it may contain what looks like a part of the template.
    let url = template.replace("{line}", &line.to_string()).replace("{column}", &column);
    Some(url.replace("{path}", &path))
}

impl Default for RenderOptions<'_> {
    fn default() -> Self {
        RenderOptions {
            color: false,
            width: 100,
            source: &NoSource,
            root: None,
            editor: Some(VSCODE),
            links: None,
            ascii: false,
            all_frames: false,
        }
    }
}

impl fmt::Debug for RenderOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderOptions")
            .field("color", &self.color)
            .field("width", &self.width)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl SourceReader for NoSource {
    fn line(&self, _file: &str, _line: u32) -> Option<String> {
        None
    }
}

impl<F: Fn(&str, u32) -> Option<String>> SourceReader for F {
    fn line(&self, file: &str, line: u32) -> Option<String> {
        self(file, line)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat { found: name.to_owned() })
    }
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Format::ALL.map(Format::name).join(", ");
        write!(f, "`{}` is not an output format; expected one of {names}", self.found.escape_debug())
    }
}

impl std::error::Error for UnknownFormat {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert_eq!(
            "JSON".parse::<Format>().unwrap_err().to_string(),
            "`JSON` is not an output format; expected one of text, json, sarif, junit, github, html, markdown, perfetto"
        );
    }

    #[test]
    fn files_are_shown_relative_to_the_root() {
        let options = RenderOptions { root: Some("/src/"), ..RenderOptions::default() };
        for (file, shown) in [
            ("/src/a.c", "a.c"),
            ("/src/lib/a.c", "lib/a.c"),
            ("/srcs/a.c", "/srcs/a.c"),
            ("/src/", "/src/"),
            ("./a.c", "a.c"),
            ("a.c", "a.c"),
        ] {
            assert_eq!(options.relative(file), shown);
        }
        assert_eq!(RenderOptions::default().relative("/src/a.c"), "/src/a.c");
    }

    #[test]
    fn an_empty_report_renders_in_every_format() {
        for format in Format::ALL {
            let text = render(&Report::new("run", vec![]), format, &RenderOptions::default());
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{format}: {text:?}");
        }
    }
}
