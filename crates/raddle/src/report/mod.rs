//! What every command does with its findings: the options of the report, where it goes, and how
//! raddle ends.
//!
//! ```text
//! args      --format, -o, --exit-code, --fail-on, --suppressions, --baseline …
//! settle    suppressions, grouping, baseline, formats, exit status
//! keeper    findings kept for the editor
//! output    files that are checked before the work and written in one piece after it
//! source    lines of source, from files that may be quoted
//! terminal  colours, width, links and characters of the terminal
//! ```

pub mod args;
mod keeper;
pub mod output;
mod settle;
pub mod source;
pub mod terminal;

pub use args::ReportOptions;
pub use settle::{Settler, TextTo, format};

use anyhow::Result;

/// The variable with the editor URL for places on an HTML page.
const EDITOR: &str = "RADDLE_EDITOR_URL";

/// The URL that opens a place in an editor, with `{path}`, `{line}` and `{column}`.
pub fn editor() -> Result<String> {
    let Some(url) = editor_of_user() else {
        return Ok(raddle_finding::render::VSCODE.into());
    };
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    anyhow::ensure!(
        !scheme.is_empty() && scheme.chars().all(plain) && rest.contains("{path}"),
        "{EDITOR} is no address with a place for the file, such as vscode://file{{path}}:{{line}}"
    );
    Ok(url)
}

/// The URL that the user has set.
fn editor_of_user() -> Option<String> {
    let url = std::env::var_os(EDITOR).filter(|url| !url.is_empty())?;
    Some(url.to_string_lossy().into_owned())
}
