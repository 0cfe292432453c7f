//! Collects the findings for a report.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use raddle_finding::{Finding, Frame, Location, Report, SCHEMA, Settlement, Triage};
use raddle_store::{KnownFinding, Standing, Store, home};

/// Raddle does not write a longer report.
const LARGEST: u64 = 512 << 20;

pub fn gather(files: &[PathBuf], all: bool) -> Result<Report> {
    match files {
        [] => of_store(all),
        files => of_files(files),
    }
}

/// Merges several reports.
fn of_files(files: &[PathBuf]) -> Result<Report> {
    let mut reports = files.iter().map(|file| read(file)).collect::<Result<Vec<Report>>>()?;
    if reports.len() == 1 {
        return Ok(reports.remove(0));
    }
    let mut whole = Report::new("report", files.iter().map(|f| f.display().to_string()).collect());
    for report in reports {
        let target = report.target.join(" ");
        whole.findings.extend(report.findings.into_iter().map(|f| in_test(f, &target)));
        whole.suspects.extend(report.suspects.into_iter().map(|f| in_test(f, &target)));
        whole.coverage.extend(report.coverage.into_iter().map(|s| format!("{target}: {s}")));
    }
    // Shards may find the same.
    whole.findings.sort_by(|a, b| a.id.cmp(&b.id).then(b.confidence.cmp(&a.confidence)));
    whole.findings.dedup_by(|b, a| a.id == b.id && !a.id.is_empty());
    Ok(whole)
}

fn read(file: &Path) -> Result<Report> {
    let name = file.display();
    let meta = std::fs::metadata(file).with_context(|| format!("cannot read {name}"))?;
    anyhow::ensure!(meta.is_file() && meta.len() <= LARGEST, "{name} is not a report of raddle's");
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    let report: Report = serde_json::from_str(&text)
        .with_context(|| format!("{name} is not a report of raddle's: `--format json` writes one"))?;
    anyhow::ensure!(
        report.schema == SCHEMA,
        "{name} has the schema `{}`, and this raddle knows `{SCHEMA}`",
        report.schema.escape_debug()
    );
    Ok(report)
}

/// What hunts have confirmed, followed by what the other commands found last.
fn of_store(all: bool) -> Result<Report> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let mut report = Report::new("report", vec![home::project_root(&folder).display().to_string()]);
    let Some(store) = Store::open_existing(&home::folder_for(&folder)?)? else {
        anyhow::bail!(
            "there is no store for the project {}: nothing has run in it, so there is nothing to report",
            home::project_root(&folder).display()
        );
    };
    for record in store.history()? {
        let settled = record.decided.is_some() && record.standing() != Standing::Regression;
        if all || !settled {
            report.findings.push(of_record(record));
        }
    }
    let known: Vec<String> = report.findings.iter().map(|f| f.id.clone()).collect();
    for stored in store.findings()? {
        let mut finding = absolute(stored.finding, &stored.folder);
        if known.contains(&finding.id) || report.findings.iter().any(|f| f.id == finding.id) {
            continue;
        }
        if finding.detectors.is_empty() {
            finding.detectors = vec![stored.command];
        }
        report.findings.push(finding);
    }
    Ok(report)
}

fn of_record(record: KnownFinding) -> Finding {
    let standing = record.standing();
    let mut finding = in_test(record.finding, &record.target.join(" "));
    finding.verdict = Some(Settlement::Confirmed);
    finding.occurrences = record.times;
    finding.triage = record.decided.map(|decided| Triage {
        decision: match standing {
            Standing::Regression => "regression".into(),
            _ => decided.decision.name().into(),
        },
        reason: decided.reason,
    });
    absolute(finding, &record.folder)
}

fn in_test(mut finding: Finding, target: &str) -> Finding {
    if finding.test.is_none() && !target.is_empty() {
        finding.test = Some(target.to_owned());
    }
    finding
}

/// The finding with file names that do not depend on the current folder.
fn absolute(mut finding: Finding, folder: &Path) -> Finding {
    if std::env::current_dir().is_ok_and(|here| here == folder) {
        return finding;
    }
    let mut mend = |frame: &mut Frame| {
        if let Some(file) = frame.file.as_mut().filter(|file| !file.starts_with('/')) {
            *file = folder.join(&*file).to_string_lossy().into_owned();
        }
    };
    for access in &mut finding.accesses {
        access.stack.iter_mut().for_each(&mut mend);
    }
    for thread in &mut finding.threads {
        thread.stack.iter_mut().for_each(&mut mend);
    }
    for taken in finding.locks.iter_mut().flat_map(|lock| &mut lock.taken) {
        taken.stack.iter_mut().for_each(&mut mend);
    }
    if let Some(Location::Heap { stack, .. }) = &mut finding.location {
        stack.iter_mut().for_each(&mut mend);
    }
    let rows = finding.interleaving.iter_mut().flat_map(|table| &mut table.rows);
    rows.filter_map(|row| row.frame.as_mut()).for_each(&mut mend);
    finding.timeline.iter_mut().flat_map(|t| &mut t.frames).for_each(&mut mend);
    finding
}
