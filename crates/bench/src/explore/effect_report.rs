//! The human-readable report of the effect bench.

use std::fmt::Write as _;

use super::effect::{DEFAULT_JOBS, DEFAULT_SECONDS, EffectRecord, EffectRow};
use super::speed_report::thousands;
use crate::table::{self, NONE, Table};

pub fn markdown(effect: &EffectRecord) -> String {
    let machine = &effect.machine;
    let mut text = format!(
        "Measured on {} with `{}`: executions to the first failure, all of them counted, in searches of {} schedules at most; the median of \
         {} seed(s) where lots are drawn; {}, {} cores, {} GiB, load {} at the start.\n",
        effect.date,
        effect.command,
        thousands(effect.schedules as f64),
        effect.seeds,
        machine.cpu,
        machine.cores,
        machine.memory_gib,
        machine.load
    );
    for (program, version) in &machine.versions {
        let _ = writeln!(text, "- {program}: {version}");
    }
    let _ = write!(
        text,
        "\n{}\n`{NONE}`: not found. `12 (2/3)`: two of three seeds found it, and 12 is their median. `> 500`: the time was over after \
         500. *default*: seconds of `raddle explore --jobs {DEFAULT_JOBS}` until it was found, of {DEFAULT_SECONDS} at most.\n\n{}",
        table(effect),
        verdict(effect)
    );
    text + &complaints(effect)
}

fn table(effect: &EffectRecord) -> String {
    let with_default = effect.rows.iter().any(|row| row.default.is_some());
    let mut header = vec!["program".to_owned()];
    header.extend(effect.strategies.iter().cloned());
    if with_default {
        header.push("default, s".to_owned());
    }
    let mut table = Table::new(header);
    for row in &effect.rows {
        let mut cells = vec![row.program.clone()];
        cells.extend(effect.strategies.iter().map(|strategy| cell(row, strategy, effect.schedules)));
        if with_default {
            cells.push(default_cell(row));
        }
        table.row(cells);
    }
    let mut last = vec![format!("**found, of {}**", effect.rows.len())];
    last.extend(effect.strategies.iter().map(|strategy| always_found(effect, strategy).to_string()));
    if with_default {
        last.push(effect.rows.iter().filter(|row| found_by_default(row)).count().to_string());
    }
    table.row(last);
    table.render()
}

fn cell(row: &EffectRow, strategy: &str, schedules: u64) -> String {
    let (found, runs) = row.found(strategy);
    match row.median(strategy) {
        Some(median) if found == runs => thousands(median),
        Some(median) => format!("{} ({found}/{runs})", thousands(median)),
        None => {
            // A search that ended by the clock says less than one that made all its schedules.
            let short = row.of(strategy).find(|run| run.executions <= schedules && !run.exhausted);
            short.map_or(NONE.to_owned(), |run| format!("> {}", thousands(run.executions as f64)))
        }
    }
}

fn default_cell(row: &EffectRow) -> String {
    let seconds = row.default.as_ref().filter(|run| run.found.is_some()).map(|run| run.seconds);
    table::seconds(seconds)
}

fn found_by_default(row: &EffectRow) -> bool {
    row.default.as_ref().is_some_and(|run| run.found.is_some())
}

/// Programs in which every seed found the failure.
fn always_found(effect: &EffectRecord, strategy: &str) -> usize {
    let always = |row: &&EffectRow| matches!(row.found(strategy), (found, runs) if runs > 0 && found == runs);
    effect.rows.iter().filter(always).count()
}

fn verdict(effect: &EffectRecord) -> String {
    let missed: Vec<&str> =
        effect.rows.iter().filter(|row| !found_by_default(row)).map(|row| row.program.as_str()).collect();
    let target = format!("Target: the default finds all within {DEFAULT_SECONDS} s each on two cores: ");
    if effect.rows.iter().all(|row| row.default.is_none()) {
        return target + "not measured.\n";
    }
    match missed.is_empty() {
        true => target + "met.\n",
        false => target + &format!("**missed** on {}.\n", missed.join(", ")),
    }
}

fn complaints(effect: &EffectRecord) -> String {
    if effect.failures.is_empty() {
        return String::new();
    }
    let line = |failure: &super::effect::SearchFailure| {
        format!("- {} under {}: {}.\n", failure.program, failure.strategy, failure.reason)
    };
    format!("\n### Failed, or claimed wrongly\n\n{}", effect.failures.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::super::effect::tests::run_of;
    use super::super::effect::{SCHEMA, SearchFailure, SearchRun};
    use super::*;

    fn effect(default: Option<u64>) -> EffectRecord {
        let early = SearchRun { executions: 501, ..run_of("delay", 1, None) };
        let row = EffectRow {
            program: "a_bad.c".to_owned(),
            expected: vec!["deadlock".to_owned()],
            runs: vec![
                run_of("dfs", 1, None),
                early,
                run_of("pct", 1, Some(4)),
                run_of("pct", 2, None),
                run_of("pos", 1, Some(1200)),
            ],
            default: Some(run_of("portfolio", 1, default)),
        };
        EffectRecord {
            schema: SCHEMA.to_owned(),
            date: "2026-01-31".to_owned(),
            command: "raddle-bench explore-effect".to_owned(),
            machine: crate::results::tests::results(&[], Vec::new()).machine,
            schedules: 10_000,
            seeds: 2,
            strategies: ["dfs", "delay", "pct", "pos"].map(str::to_owned).to_vec(),
            rows: vec![row],
            failures: Vec::new(),
        }
    }

    fn cells(text: &str, begin: &str) -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(begin)).unwrap();
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    }

    #[test]
    fn each_cell_says_what_was_found_and_how_often() {
        let text = markdown(&effect(Some(3)));
        assert_eq!(cells(&text, "| a_bad.c"), ["a_bad.c", "–", "> 501", "4 (1/2)", "1,200", "0.50"]);
        assert_eq!(cells(&text, "| **found"), ["**found, of 1**", "0", "0", "0", "1", "1"]);
        assert!(text.contains("on two cores: met."), "{text}");
    }

    #[test]
    fn what_the_default_does_not_find_is_named() {
        let text = markdown(&effect(None));
        assert!(text.contains("**missed** on a_bad.c."), "{text}");
        let mut without = effect(None);
        without.rows[0].default = None;
        assert!(markdown(&without).contains("not measured."));
    }

    #[test]
    fn complaints_are_listed() {
        let mut effect = effect(Some(1));
        effect.failures.push(SearchFailure {
            program: "a_bad.c".to_owned(),
            strategy: "dfs".to_owned(),
            reason: "it broke".to_owned(),
        });
        assert!(markdown(&effect).ends_with("- a_bad.c under dfs: it broke.\n"));
    }
}
