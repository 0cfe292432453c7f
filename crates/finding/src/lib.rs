//! What raddle found, and everything that happens to it between detection and the reader.
//!
//! A finding arrives symbolised, from whichever command made it, and passes through in this order:
//!
//! ```text
//! findings ─► suppress ─► group (assigns ids) ─► baseline ─► cause ─► render
//! ```
//!
//! - [`model`]: [`Report`], [`Finding`] and its parts. Their JSON is the contract
//!   `raddle.findings/1`.
//! - [`place`]: which frame of a stack represents it, the innermost frame of the user's code.
//! - [`identity`]: the id of a finding, the same from run to run.
//! - [`subject`]: distinguishes findings with one id in two programs.
//! - [`group`]: findings with one id are one finding.
//! - [`cause`]: merges races on one variable that share an end.
//! - [`library`]: races inside the C++ library.
//! - [`suppress`]: suppression files in ThreadSanitizer's format.
//! - [`baseline`]: what is already known, so that only what is new fails a build.
//! - [`mod@render`]: text, JSON, SARIF, JUnit, GitHub annotations, HTML, Markdown, Perfetto.
//!
//! Invariants:
//! - The crate is pure: it opens no file, reads no clock, starts no thread. Files come in as text
//!   with a name; the target's source comes in through [`render::Source`].
//! - The same report and options give the same bytes.
//! - Only this crate knows output formats. No other crate words or escapes a finding.
//! - Ids, the JSON document and the baseline file are formats: each is versioned or pinned by a
//!   golden test, and what an older version wrote can be read.
//! - In a grouped report no two findings share an id and a subject.
#![warn(missing_docs)]

pub mod baseline;
pub mod cause;
pub mod group;
pub mod identity;
mod kind;
pub mod library;
pub mod model;
pub mod place;
pub mod render;
#[cfg(test)]
mod sample;
mod stat;
pub mod subject;
pub mod suppress;

pub use model::*;
pub use render::{Format, RenderOptions, render, visible};
