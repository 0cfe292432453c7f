//! A record as Markdown, for a terminal and for the docs.

use std::fmt::Write as _;

use crate::kernel::Scale;
use crate::results::{BenchResults, Quantity};
use crate::stats;
use crate::table::{self, Table};
use crate::tool::{CCompiler, Tool};
use crate::verdict::{Bound, TARGETS, TargetVerdict};

const MEAN: &str = "**geometric mean**";

pub fn markdown(results: &BenchResults) -> String {
    let mut sections = vec![heading(results), verdicts(results)];
    for compiler in &results.compilers {
        sections.push(ratios(results, compiler, Quantity::Time));
        sections.push(ratios(results, compiler, Quantity::Memory));
    }
    sections.extend([against_peers(results), driver(results), noise(results), left_out(results)]);
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

fn heading(results: &BenchResults) -> String {
    let machine = &results.machine;
    let mut text = format!(
        "Measured on {} with `{}`: {} kernels, 2 threads each, {} whole rounds; {}, {} cores, {} GiB, load {:.1} at the start.\n",
        results.date,
        results.command,
        results.kernels.len(),
        results.rounds,
        machine.cpu,
        machine.cores,
        machine.memory_gib,
        machine.load,
    );
    for (program, version) in &machine.versions {
        let _ = writeln!(text, "- {program}: {version}");
    }
    if results.series.iter().any(|series| series.key.scale == Scale::Quick) {
        text.push_str("\n**A quick run: it shows that everything works, its figures mean nothing.**\n");
    }
    text
}

fn verdicts(results: &BenchResults) -> String {
    let mut table = Table::new(["target (geometric means, history 1)", "wanted", "measured", "verdict"]);
    for target in &TARGETS {
        let wanted = match target.bound {
            Bound::AtMost(bound) => format!("≤ {}", table::ratio(Some(bound))),
            Bound::AtLeast(bound) => format!("≥ {}", table::ratio(Some(bound))),
        };
        let (measured, verdict) = match target.judge(results) {
            TargetVerdict::Reached { value } => (Some(value), "reached".to_owned()),
            TargetVerdict::Missed { value, worst } => (Some(value), format!("**missed**, worst on {worst}")),
            TargetVerdict::Incomplete { value, kernels } => {
                (Some(value), format!("**incomplete**: {kernels} of {} kernels", results.kernels.len()))
            }
            TargetVerdict::NotMeasured => (None, "not measured".to_owned()),
        };
        table.row([target.statement.to_owned(), wanted, table::ratio(measured), verdict]);
    }
    format!("### Targets\n\n{}", table.render())
}

fn ratios(results: &BenchResults, compiler: &CCompiler, quantity: Quantity) -> String {
    let tools = results.tools(compiler);
    let others: Vec<Tool> = tools.into_iter().filter(|tool| *tool != Tool::Native).collect();
    let (title, unit) = match quantity {
        Quantity::Time | Quantity::Cpu => ("Time", "native, s"),
        Quantity::Memory => ("Peak memory", "native, MiB"),
    };
    let header = ["kernel".to_owned(), unit.to_owned()].into_iter().chain(others.iter().map(Tool::to_string));
    let mut table = Table::new(header);
    for kernel in &results.kernels {
        let native = results.find(kernel, compiler, Tool::Native);
        let native = match quantity {
            Quantity::Time | Quantity::Cpu => table::seconds(native.and_then(|series| series.seconds())),
            Quantity::Memory => table::mebibytes(native.and_then(|series| series.peak_kib())),
        };
        let cells =
            others.iter().map(|&tool| table::ratio(results.times_native(kernel, compiler, tool, quantity)));
        table.row([kernel.clone(), native].into_iter().chain(cells));
    }
    let mut mean = |title: &str, quantity| {
        let means =
            others.iter().map(|&tool| table::ratio(results.mean_times_native(compiler, tool, quantity)));
        table.row([title.to_owned(), String::new()].into_iter().chain(means));
    };
    mean(MEAN, quantity);
    if quantity == Quantity::Time {
        mean("mean of CPU time", Quantity::Cpu);
    }
    let reduced = others.iter().any(|tool| tool.is_valgrind());
    let note = "\nhelgrind and drd run a reduced size, and are ratios to the native run of that size.\n";
    format!("### {title}, {compiler}: times native\n\n{}{}", table.render(), if reduced { note } else { "" })
}

/// Raddle's cost relative to the compiler's own ThreadSanitizer.
fn against_peers(results: &BenchResults) -> String {
    let mut table = Table::new(["", "time", "peak memory", "kernels"]);
    let mut rows = 0;
    for compiler in &results.compilers {
        let peer = compiler.tsan();
        for tool in results.tools(compiler).into_iter().filter(|tool| tool.is_raddle()) {
            let mean = |quantity| {
                let quotients = results.quotients(compiler, (tool, peer), quantity);
                stats::geometric_mean(quotients.iter().map(|(_, quotient)| *quotient))
            };
            let kernels = results.quotients(compiler, (tool, peer), Quantity::Time).len();
            table.row([
                format!("{tool} of {peer}"),
                table::ratio(mean(Quantity::Time)),
                table::ratio(mean(Quantity::Memory)),
                kernels.to_string(),
            ]);
            rows += 1;
        }
    }
    if rows == 0 { String::new() } else { format!("### Raddle of its peers\n\n{}", table.render()) }
}

/// The cost of `raddle run` around the target, which the ratios leave out.
fn driver(results: &BenchResults) -> String {
    let around = |raddle: bool| {
        let series = results.series.iter().filter(|series| series.key.tool.is_raddle() == raddle);
        stats::median(series.filter_map(|series| series.driver_seconds()))
    };
    match (around(true), around(false)) {
        (Some(driver), Some(launcher)) => format!(
            "Outside the target, `raddle run` takes {} s (median; the launcher alone {} s).\n",
            table::seconds(Some(driver)),
            table::seconds(Some(launcher)),
        ),
        _ => String::new(),
    }
}

fn noise(results: &BenchResults) -> String {
    let spreads = results.series.iter().filter(|series| series.samples.len() > 1).filter_map(|series| {
        let times: Vec<f64> = series.samples.iter().map(|sample| sample.seconds).collect();
        stats::spread(&times)
    });
    let spreads: Vec<f64> = spreads.collect();
    let Some(median) = stats::median(spreads.iter().copied()) else { return String::new() };
    let widest = spreads.iter().copied().max_by(f64::total_cmp);
    format!(
        "Noise: the median time of a series lies {} above its least (median of {} series; at most {}).\n",
        table::percent(Some(median)),
        spreads.len(),
        table::percent(widest),
    )
}

fn left_out(results: &BenchResults) -> String {
    let mut text = String::new();
    for absent in &results.absent {
        let _ = writeln!(text, "- Not measured: {}: {}.", absent.what, absent.reason);
    }
    for failure in &results.failures {
        let key = &failure.key;
        let _ = writeln!(
            text,
            "- **Failed**: {} under {} ({}): {}.",
            key.kernel, key.tool, key.compiler, failure.reason
        );
    }
    for series in results.series.iter().filter(|series| series.reported) {
        let key = &series.key;
        let weight = if key.tool.may_report_falsely() { "Reports" } else { "**False reports**" };
        let _ = writeln!(
            text,
            "- {weight} of {} on {} ({}), which is correct.",
            key.tool, key.kernel, key.compiler
        );
    }
    if text.is_empty() { text } else { format!("### Left out, failed, or reported\n\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{HB, compiler, results, series};
    use crate::results::{Absent, Series, SeriesFailure, SeriesKey};

    fn gcc(kernel: &str, tool: Tool, scale: Scale, seconds: f64, kib: u64) -> Series {
        series(kernel, "gcc", tool, scale, &[(seconds, kib)])
    }

    fn sample_record() -> BenchResults {
        let mut record = results(
            &["lu", "sort"],
            vec![
                gcc("lu", Tool::Native, Scale::Full, 0.4, 20_480),
                gcc("lu", Tool::GccTsan, Scale::Full, 4.0, 102_400),
                gcc("lu", HB, Scale::Full, 2.0, 40_960),
                gcc("sort", Tool::Native, Scale::Full, 0.5, 20_480),
                gcc("sort", Tool::GccTsan, Scale::Full, 20.0, 102_400),
                gcc("sort", HB, Scale::Full, 5.0, 40_960),
                gcc("lu", Tool::Native, Scale::Reduced, 0.05, 10_240),
                gcc("lu", Tool::Helgrind, Scale::Reduced, 5.0, 102_400),
            ],
        );
        record.compilers.truncate(1);
        record
    }

    #[test]
    fn times_native_by_kernel_with_the_mean_at_the_foot() {
        let expected = "\
### Time, gcc: times native

| kernel             | native, s | gcc-tsan | helgrind | raddle-hb/1 |
| ------------------ | --------: | -------: | -------: | ----------: |
| lu                 |      0.40 |     10.0 |      100 |         5.0 |
| sort               |      0.50 |     40.0 |        – |        10.0 |
| **geometric mean** |           |     20.0 |      100 |         7.1 |
| mean of CPU time   |           |     20.0 |      100 |         7.1 |

helgrind and drd run a reduced size, and are ratios to the native run of that size.
";
        assert_eq!(ratios(&sample_record(), &compiler("gcc"), Quantity::Time), expected);
    }

    #[test]
    fn memory_is_in_mebibytes_and_times_native() {
        let text = ratios(&sample_record(), &compiler("gcc"), Quantity::Memory);
        assert!(
            text.contains("| lu                 |          20 |      5.0 |     10.0 |         2.0 |"),
            "{text}"
        );
    }

    #[test]
    fn the_verdict_table_shows_reached_missed_and_unmeasured_alike() {
        let text = markdown(&sample_record());
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(
            line("| time of hb to gcc's tsan").contains("≤ 0.60 |     0.35 |") && text.contains("reached")
        );
        assert!(line("| time of hb to clang's tsan").contains("not measured"));
        let helgrind = line("| time of helgrind to hb");
        assert!(
            helgrind.contains("20.0") && helgrind.contains("**incomplete**: 1 of 2 kernels"),
            "{helgrind}"
        );

        let mut slow = sample_record();
        slow.series[2].samples[0].seconds = 40.0;
        let text = markdown(&slow);
        assert!(text.contains("**missed**, worst on lu"), "{text}");
    }

    #[test]
    fn raddle_is_set_beside_its_peer() {
        let text = against_peers(&sample_record());
        assert!(text.contains("| raddle-hb/1 of gcc-tsan | 0.35 |        0.40 |       2 |"), "{text}");
        let mut peers_only = sample_record();
        peers_only.series.retain(|series| !series.key.tool.is_raddle());
        assert_eq!(against_peers(&peers_only), "");
    }

    #[test]
    fn what_is_missing_failed_or_reported_is_named() {
        let mut record = sample_record();
        assert_eq!(left_out(&record), "");
        record.absent.push(Absent { what: "drd".to_owned(), reason: "valgrind is not installed".to_owned() });
        let key = SeriesKey { tool: Tool::Drd, ..record.series[0].key.clone() };
        record.failures.push(SeriesFailure { key, reason: "wrong checksum".to_owned() });
        record.series[2].reported = true;
        let text = left_out(&record);
        assert!(text.contains("- Not measured: drd: valgrind is not installed."), "{text}");
        assert!(text.contains("- **Failed**: lu under drd (gcc): wrong checksum."), "{text}");
        assert!(text.contains("- **False reports** of raddle-hb/1 on lu (gcc)"), "{text}");
    }

    #[test]
    fn the_heading_has_the_command_the_date_and_the_machine() {
        let text = heading(&sample_record());
        for part in ["2026-01-31", "`raddle-bench run`", "A CPU", "2 cores", "8 GiB", "- gcc: gcc 12.2.0"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("quick run"));
        let mut quick = sample_record();
        quick.series[0].key.scale = Scale::Quick;
        assert!(heading(&quick).contains("A quick run"));
    }

    #[test]
    fn noise_is_told_where_there_is_more_than_one_round() {
        let mut record = sample_record();
        assert_eq!(noise(&record), "");
        record.series.push(series("x", "gcc", Tool::Native, Scale::Full, &[(1.0, 1), (1.5, 1), (3.0, 1)]));
        assert!(noise(&record).contains("lies 50% above its least (median of 1 series; at most 50%)"));
    }
}
