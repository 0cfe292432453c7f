//! What every command does with what it found: the options of the report, where it goes, and how
//! raddle ends.
//!
//! ```text
//! args      --format, -o, --exit-code, --fail-on, --suppressions, --baseline …
//! settle    suppressions, grouping, baseline, formats, exit status
//! keeper    findings kept for the editor
//! output    files that are checked before the work and written in one piece after it
//! source    lines of source, from files that may be quoted
//! ```

pub mod args;
mod keeper;
pub mod output;
mod settle;
pub mod source;

pub use args::Options;
pub use settle::{Settler, TextTo};
