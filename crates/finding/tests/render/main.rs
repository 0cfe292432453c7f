//! The formats, on one rich report.

mod escaping;
mod golden;
mod sample;
mod sarif;
