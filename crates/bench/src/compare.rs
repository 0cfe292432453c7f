//! Two records side by side.
//!
//! The comparison uses ratios to the native time, not seconds. So it works across two machines, or
//! for one machine on two days. Kernels that only one record has are not part of a mean.

use crate::results::{BenchResults, Quantity};
use crate::stats;
use crate::table::{self, Table};
use crate::tool::{CCompiler, Tool};

/// Smaller differences get no line. On a busy machine (the report states its noise) even larger
/// ones can be chance.
const NOTABLE: f64 = 0.05;

struct Change<'a> {
    kernel: &'a str,
    old: f64,
    new: f64,
}

pub fn markdown(old: &BenchResults, new: &BenchResults) -> String {
    let mut text = format!("Times native, {} against {}.\n", old.date, new.date);
    for (title, quantity) in [("Time", Quantity::Time), ("Peak memory", Quantity::Memory)] {
        text += &format!("\n### {title}\n\n{}", means(old, new, quantity).render());
        text += &format!("\nKernels that changed by {} or more:\n\n", table::percent(Some(NOTABLE)));
        text += &notable(old, new, quantity);
    }
    text
}

fn pairs<'a>(old: &'a BenchResults, new: &'a BenchResults) -> impl Iterator<Item = (&'a CCompiler, Tool)> {
    let of = |compiler: &'a CCompiler| {
        let mut tools: Vec<Tool> = old.tools(compiler).into_iter().chain(new.tools(compiler)).collect();
        tools.sort();
        tools.dedup();
        tools.into_iter().filter(|tool| *tool != Tool::Native).map(move |tool| (compiler, tool))
    };
    let only_new = new.compilers.iter().filter(|compiler| !old.compilers.contains(compiler));
    old.compilers.iter().chain(only_new).flat_map(of)
}

fn changes<'a>(
    old: &'a BenchResults,
    new: &BenchResults,
    compiler: &CCompiler,
    tool: Tool,
    quantity: Quantity,
) -> Vec<Change<'a>> {
    let change = |kernel: &'a String| {
        let ratio = |results: &BenchResults| results.times_native(kernel, compiler, tool, quantity);
        Some(Change { kernel, old: ratio(old)?, new: ratio(new)? })
    };
    old.kernels.iter().filter_map(change).collect()
}

fn means(old: &BenchResults, new: &BenchResults, quantity: Quantity) -> Table {
    let mut table = Table::new(["tool", "old", "new", "change", "kernels in both"]);
    for (compiler, tool) in pairs(old, new) {
        let changes = changes(old, new, compiler, tool, quantity);
        let before = stats::geometric_mean(changes.iter().map(|change| change.old));
        let after = stats::geometric_mean(changes.iter().map(|change| change.new));
        table.row([
            format!("{tool} ({compiler})"),
            table::ratio(before),
            table::ratio(after),
            difference(before, after),
            changes.len().to_string(),
        ]);
    }
    table
}

fn notable(old: &BenchResults, new: &BenchResults, quantity: Quantity) -> String {
    let mut lines = String::new();
    for (compiler, tool) in pairs(old, new) {
        for change in changes(old, new, compiler, tool, quantity) {
            if (change.new / change.old - 1.0).abs() >= NOTABLE {
                let (before, after) = (Some(change.old), Some(change.new));
                lines += &format!(
                    "- {} under {tool} ({compiler}): {} to {}, {}\n",
                    change.kernel,
                    table::ratio(before),
                    table::ratio(after),
                    difference(before, after),
                );
            }
        }
    }
    if lines.is_empty() { "none.\n".to_owned() } else { lines }
}

fn difference(old: Option<f64>, new: Option<f64>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => format!("{:+.1}%", (new / old - 1.0) * 100.0),
        _ => table::NONE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Scale;
    use crate::results::tests::{HB, results, series};

    fn record(kernels: &[(&str, f64)], native: f64) -> BenchResults {
        let names: Vec<&str> = kernels.iter().map(|(name, _)| *name).collect();
        let both = |&(name, ratio): &(&str, f64)| {
            [
                series(name, "gcc", Tool::Native, Scale::Full, &[(native, 100)]),
                series(name, "gcc", HB, Scale::Full, &[(native * ratio, 200)]),
            ]
        };
        results(&names, kernels.iter().flat_map(both).collect())
    }

    #[test]
    fn ratios_are_compared_and_not_seconds() {
        let text = markdown(
            &record(&[("lu", 4.0), ("sort", 9.0)], 0.5),
            &record(&[("lu", 2.0), ("sort", 9.0)], 3.0),
        );
        assert!(text.contains("| raddle-hb/1 (gcc) | 6.0 | 4.2 | -29.3% |               2 |"), "{text}");
        assert!(text.contains("- lu under raddle-hb/1 (gcc): 4.0 to 2.0, -50.0%"), "{text}");
        assert!(!text.contains("- sort"), "{text}");
    }

    #[test]
    fn kernels_of_one_record_only_take_no_part() {
        let text = markdown(
            &record(&[("lu", 4.0), ("gone", 99.0)], 1.0),
            &record(&[("lu", 4.0), ("fresh", 1.0)], 1.0),
        );
        assert!(text.contains("| raddle-hb/1 (gcc) | 4.0 | 4.0 |  +0.0% |               1 |"), "{text}");
        assert!(text.contains("none."), "{text}");
    }

    #[test]
    fn a_tool_that_only_one_record_has_is_still_listed() {
        let text = markdown(&results(&["lu"], Vec::new()), &record(&[("lu", 4.0)], 1.0));
        assert!(text.contains("| raddle-hb/1 (gcc) |   – |   – |      – |               0 |"), "{text}");
    }
}
