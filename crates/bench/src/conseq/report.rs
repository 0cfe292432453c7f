//! The human-readable report of the bench.

use std::fmt::Write as _;

use super::suite::{ConseqRow, MODES, Overhead, SuiteRecord};
use crate::explore::speed_report::thousands;
use crate::table::{self, NONE, Table};

pub fn markdown(bench: &SuiteRecord) -> String {
    let machine = &bench.machine;
    let mut text = format!(
        "Measured on {} with `{}`; {}, {} cores, {} GiB, load {} at the start.\n",
        bench.date, bench.command, machine.cpu, machine.cores, machine.memory_gib, machine.load
    );
    for (program, version) in &machine.versions {
        let _ = writeln!(text, "- {program}: {version}");
    }
    text += &section("Found, and false (tables 3 and 4)", &found(bench));
    text += &verdict(bench);
    text += &section("Sites, reads, trace, time and tester (tables 5 and 6, section 10.4)", &price(bench));
    if bench.rows.iter().any(|r| !r.distances.is_empty()) {
        text += &section("MaxDistance (section 10.3)", &distances(bench));
    }
    if !bench.kernels.is_empty() {
        text += &section("Overhead of a traced run on kernels", &overhead(bench));
    }
    for failure in &bench.failures {
        let _ = writeln!(text, "- failed: {failure}");
    }
    text
}

fn section(title: &str, table: &str) -> String {
    format!("\n### {title}\n\n{table}")
}

fn found(bench: &SuiteRecord) -> String {
    let mut header =
        vec!["program", "expected", "conseq", "suspects", "refuted", "open", "base", "atomicity"];
    header.extend(["races hb", "races hybrid", "races fast"]);
    let mut table = Table::new(header);
    for row in &bench.rows {
        let number = |key: &str| format!("{}", row.stat(key));
        let verdict = match (&row.expected, row.is_found(), row.confirmed.is_empty()) {
            (Some(_), true, _) => "confirmed",
            (Some(_), false, true) => "**missed**",
            (Some(_), false, false) => "**another**",
            (None, _, true) => "silent",
            (None, _, false) => "**false**",
        };
        let mut cells =
            vec![row.program.clone(), row.expected.clone().unwrap_or(NONE.into()), verdict.into()];
        cells.extend(["suspects", "suspects_refuted", "suspects_open"].map(number));
        cells.extend([row.base.to_string(), row.atomicity.to_string()]);
        cells.extend(MODES.map(|m| row.races.get(m).copied().unwrap_or(0).to_string()));
        table.row(cells);
    }
    table.render()
}

/// The targets, and whether they were met.
fn verdict(bench: &SuiteRecord) -> String {
    let bad: Vec<&ConseqRow> = bench.rows.iter().filter(|r| r.expected.is_some()).collect();
    let good: Vec<&ConseqRow> = bench.rows.iter().filter(|r| r.expected.is_none()).collect();
    let found = bad.iter().filter(|r| r.is_found()).count();
    let false_ones = good.iter().filter(|r| !r.confirmed.is_empty()).count();
    let open: f64 = good.iter().map(|r| r.stat("suspects_open")).sum();
    let by =
        |count: &dyn Fn(&ConseqRow) -> u64, rows: &[&ConseqRow]| rows.iter().filter(|r| count(r) > 0).count();
    let races = |mode: &'static str| move |r: &ConseqRow| r.races.get(mode).copied().unwrap_or(0);
    let mut table = Table::new(["tool", "wrong programs with a report", "correct twins with a report"]);
    let (b, g) = (bad.len(), good.len());
    table.row(["conseq, confirmed".into(), format!("{found} of {b}"), format!("{false_ones} of {g}")]);
    let base = |r: &ConseqRow| r.base;
    let atomicity = |r: &ConseqRow| r.atomicity;
    let mut other = |name: &str, count: &dyn Fn(&ConseqRow) -> u64| {
        table.row([
            name.into(),
            format!("{} of {b}", by(count, &bad)),
            format!("{} of {g}", by(count, &good)),
        ]);
    };
    other("conseq, critical reads off, no test", &base);
    other("atomicity violations", &atomicity);
    for mode in MODES {
        other(&format!("raddle run, {mode}"), &races(mode));
    }
    let share = 100.0 * found as f64 / b.max(1) as f64;
    let average = open / g.max(1) as f64;
    format!(
        "\n{}\nPromised: at least 95% of the wrong programs confirmed: {share:.0}%, {}; no correct twin confirmed: {false_ones}, {}; less than one \
         suspect left open on a correct twin, on average: {average:.2}, {}.\n",
        table.render(),
        met(share >= 95.0),
        met(false_ones == 0),
        met(average < 1.0)
    )
}

fn met(yes: bool) -> &'static str {
    if yes { "met" } else { "**missed**" }
}

fn price(bench: &SuiteRecord) -> String {
    let mut table = Table::new([
        "program",
        "sites",
        "reads",
        "events",
        "trace, bytes",
        "static, s",
        "traced, s",
        "analysed, s",
        "tested, s",
        "executions",
    ]);
    for row in &bench.rows {
        let number = |key: &str| thousands(row.stat(key));
        let seconds = |key: &str| table::seconds(Some(row.stat(key)));
        let mut cells = vec![row.program.clone()];
        cells.extend(["sites", "critical_reads", "trace_events", "trace_bytes"].map(number));
        cells.extend(["seconds_static", "seconds_traced", "seconds_analysed", "seconds_tested"].map(seconds));
        cells.push(number("executions"));
        table.row(cells);
    }
    table.render()
}

fn distances(bench: &SuiteRecord) -> String {
    let rows: Vec<&ConseqRow> = bench.rows.iter().filter(|r| !r.distances.is_empty()).collect();
    let most = rows.iter().map(|r| r.distances.len()).max().unwrap_or(0);
    let mut table = Table::new(["MaxDistance", "found", "suspects"]);
    for n in 0..most {
        let at = rows.iter().filter_map(|r| r.distances.get(n));
        let found = at.clone().filter(|(found, _)| *found).count();
        let suspects: u64 = at.map(|(_, suspects)| suspects).sum();
        table.row([(n + 1).to_string(), format!("{found} of {}", rows.len()), suspects.to_string()]);
    }
    table.render()
}

fn overhead(bench: &SuiteRecord) -> String {
    let mut table = Table::new([
        "kernel",
        "native, s",
        "traced, s",
        "times",
        "accesses",
        "events",
        "trace, bytes",
        "analysed, s",
        "10 million, s",
    ]);
    for k in &bench.kernels {
        table.row([
            k.kernel.clone(),
            table::seconds(Some(k.native)),
            table::seconds(Some(k.traced)),
            table::ratio(Some(k.traced / k.native)),
            thousands(k.accesses),
            thousands(k.events),
            thousands(k.bytes),
            table::seconds(Some(k.analysed)),
            table::seconds((k.events >= ENOUGH).then(|| ten_million(k))),
        ]);
    }
    table.render() + &promised_price(&bench.kernels)
}

/// With fewer events than this, the time of the analysis says nothing about its speed.
const ENOUGH: f64 = 100_000.0;

/// The seconds that ten million events would take.
fn ten_million(k: &Overhead) -> f64 {
    k.analysed / k.events * 1e7
}

/// The targets for overhead, and the worst result for each.
fn promised_price(kernels: &[Overhead]) -> String {
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let times = most(&mut kernels.iter().map(|k| k.traced / k.native));
    let analysed = most(&mut kernels.iter().filter(|k| k.events >= ENOUGH).map(ten_million));
    let within = kernels.iter().filter(|k| k.traced <= 15.0 * k.native).count();
    let met = |is: bool| if is { "met" } else { "**missed**" };
    format!(
        "\nPromised: a traced run within 15 times native: {within} of {}, at most {times:.1} times, {}; 10 million events analysed in under 10 s: at most {analysed:.1} s, {}.\n",
        kernels.len(),
        met(times <= 15.0),
        met(analysed < 10.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn row(program: &str, expected: Option<&str>, confirmed: &[&str]) -> ConseqRow {
        ConseqRow {
            program: program.into(),
            expected: expected.map(str::to_owned),
            confirmed: confirmed.iter().map(|k| (*k).to_owned()).collect(),
            replays: expected.is_some_and(|k| confirmed.contains(&k)),
            stats: BTreeMap::from([("suspects_open".to_owned(), 1.0)]),
            base: 3,
            atomicity: 0,
            races: BTreeMap::new(),
            distances: vec![(true, 2), (false, 4)],
        }
    }

    fn bench(rows: Vec<ConseqRow>) -> SuiteRecord {
        let machine = crate::machine::MachineInfo::look([]);
        SuiteRecord {
            schema: String::new(),
            date: "today".into(),
            command: "conseq".into(),
            machine,
            rows,
            kernels: Vec::new(),
            failures: vec!["x: broke".into()],
        }
    }

    #[test]
    fn what_was_promised_is_held_against_what_came_of_it() {
        let good = bench(vec![row("a_bad.c", Some("hang"), &["hang"]), row("a_ok.c", None, &[])]);
        let text = markdown(&good);
        assert!(text.contains("confirmed: 100%, met; no correct twin confirmed: 0, met"), "{text}");
        assert!(text.contains("on average: 1.00, **missed**") && text.contains("failed: x: broke"), "{text}");
        let bad = bench(vec![row("a_bad.c", Some("hang"), &["output"]), row("a_ok.c", None, &["output"])]);
        let text = markdown(&bad);
        assert!(
            text.contains("**another**")
                && text.contains("**false**")
                && text.contains("confirmed: 0%, **missed**"),
            "{text}"
        );
    }

    #[test]
    fn the_price_is_that_of_the_worst_kernel() {
        let kernel = |traced: f64, events: f64| Overhead {
            kernel: "k".into(),
            native: 1.0,
            traced,
            accesses: 0.0,
            events,
            bytes: 0.0,
            analysed: 1.0,
        };
        let text = promised_price(&[kernel(14.0, 2e6), kernel(3.0, 10.0)]);
        assert!(
            text.contains("2 of 2, at most 14.0 times, met") && text.contains("at most 5.0 s, met"),
            "{text}"
        );
        assert!(promised_price(&[kernel(16.0, 1e5)]).contains("0 of 1, at most 16.0 times, **missed**"));
    }

    #[test]
    fn distances_are_summed_up() {
        let text = markdown(&bench(vec![row("a_bad.c", Some("hang"), &["hang"])]));
        let line = |n: u32| text.lines().find(|l| l.starts_with(&format!("| {n} "))).unwrap().to_owned();
        assert!(line(1).contains("1 of 1") && line(2).contains("0 of 1"), "{text}");
    }
}
