//! The document itself: `raddle.findings/1`, as [`crate::model`] defines it.

use crate::model::Report;

pub(super) fn render(report: &Report) -> String {
    // Cannot fail: every map has string keys, and every type here can be serialised.
    let mut text = serde_json::to_string_pretty(report).expect("a report is always valid JSON");
    text.push('\n');
    text
}
