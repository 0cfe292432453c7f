//! The formats, on one rich report.

mod escaping;
mod golden;
mod page;
mod sample;
mod sarif;
