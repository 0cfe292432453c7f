//! `raddle list`, `show`, `triage` and `merge`: what hunts have found in this project, and what
//! people decided about it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use raddle_finding::{Finding, Format, RenderOptions, Report, render};
use raddle_store::{Decided, Decision, KnownFinding, Standing, Store, home};

use crate::exit;
use crate::report::TextTo;
use crate::report::args::Color;
use crate::report::source::SourceFiles;
use crate::report::terminal::Terminal;
use raddle_harness::say::{count, print, print_lines, say};

/// List the findings that hunts have confirmed in this project
///
/// Prints one line for each finding: its id, what it is, when it was first and last seen, and what
/// was decided about it.
///
/// Exit status: 0, or 2 if the store cannot be read.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// Also list findings that were fixed or accepted
    #[arg(long)]
    pub all: bool,
}

/// Show a finding of an earlier hunt in full
///
/// Exit status: 0, or 2 if there is no such finding.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// Id of the finding, or the beginning of its id; `raddle list` shows ids
    pub id: String,
}

/// Record a decision about a finding, which later hunts respect
///
/// If a finding comes back after --fixed, raddle reports a regression. Later reports leave out
/// findings that are benign or will not be fixed, and these do not set the exit status.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("decision").required(true).args(["fixed", "benign", "wontfix"])))]
pub struct TriageArgs {
    /// Id of the finding, or the beginning of its id; if several findings share it, add the part
    /// after the @ that `raddle list` shows
    pub id: String,

    /// It is fixed
    #[arg(long)]
    pub fixed: bool,

    /// It does no harm
    #[arg(long)]
    pub benign: bool,

    /// It will not be fixed
    #[arg(long)]
    pub wontfix: bool,

    /// The reason, for later readers
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// Merge stores of other machines, such as CI shards, into the store of this project
///
/// Merging a store twice changes nothing.
#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// Folders that contain a store.db, or such files
    #[arg(required = true, value_name = "STORE")]
    pub stores: Vec<PathBuf>,
}

/// The store of the project. None: no hunt has run in it.
pub fn open() -> Result<Option<Store>> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let kept_in = home::folder_for(&folder)?;
    let store = Store::open_existing(&kept_in)?;
    // If the user names a store, a missing store is a mistake, not an answer.
    anyhow::ensure!(
        store.is_some() || !home::is_named(),
        "{} names {}, and there is no store in it",
        home::OVERRIDE,
        kept_in.display()
    );
    Ok(store)
}

fn history() -> Result<Vec<KnownFinding>> {
    Ok(open()?.map(|store| store.history()).transpose()?.unwrap_or_default())
}

pub fn list(args: &ListArgs) -> Result<ExitCode> {
    let Some(store) = open()? else {
        let root = home::project_root(&std::env::current_dir().context("there is no current folder")?);
        say!("there is no store for the project {}: no hunt has run in it", root.display());
        return Ok(ExitCode::from(exit::CLEAN));
    };
    let all = store.history()?;
    let unreadable = store.unreadable()?;
    if unreadable > 0 {
        let what = count(unreadable as u64, "finding is", "findings are");
        say!("{what} not shown: a newer raddle wrote what this one cannot read");
    }
    let shown: Vec<&KnownFinding> = all.iter().filter(|r| args.all || is_of_interest(r)).collect();
    let text: String = shown.iter().map(|r| line(r)).collect();
    print_lines(&text);
    let hidden = all.len() - shown.len();
    if shown.is_empty() && hidden == 0 && unreadable == 0 {
        say!("no hunt has confirmed anything in this project");
    } else if hidden > 0 {
        say!(
            "{} fixed or accepted: `raddle list --all` shows all",
            count(hidden as u64, "finding is", "findings are")
        );
    }
    Ok(ExitCode::from(exit::CLEAN))
}

fn is_of_interest(record: &KnownFinding) -> bool {
    record.decided.is_none() || record.standing() == Standing::Regression
}

/// `deadlock-0123…  seen 3 times, first 2026-11-16, last 2026-11-17  a circle of threads …`
fn line(record: &KnownFinding) -> String {
    let decided = match (&record.decided, record.standing()) {
        (_, Standing::Regression) => ", a regression".to_owned(),
        (Some(d), _) => format!(", {}: {}", d.decision.name(), d.reason),
        (None, _) => String::new(),
    };
    raddle_finding::visible(&format!(
        "{}  {}, first {}, last {}{decided}  {}",
        record.finding.key(),
        count(record.times, "time", "times"),
        date(record.first_seen),
        date(record.last_seen),
        record.finding.message
    )) + "\n"
}

/// The only record whose key begins so. An id alone will do where no two findings share it.
pub fn find(id: &str) -> Result<KnownFinding> {
    one(history()?, id)
}

fn one(all: Vec<KnownFinding>, id: &str) -> Result<KnownFinding> {
    let mut found: Vec<KnownFinding> = all.into_iter().filter(|r| r.finding.key().starts_with(id)).collect();
    if let Some(at) = found.iter().position(|r| r.finding.key() == id) {
        return Ok(found.swap_remove(at));
    }
    let exact = found.iter().filter(|r| r.finding.id == id).count();
    if exact == 1 {
        found.retain(|r| r.finding.id == id);
    }
    match found.len() {
        0 => anyhow::bail!("no finding has the id `{id}`: `raddle list --all` shows all"),
        1 => Ok(found.remove(0)),
        n => {
            let keys: Vec<String> = found.iter().map(|r| format!("`{}`", r.finding.key())).collect();
            anyhow::bail!("{n} findings begin with `{id}`, so give more of it: {}", keys.join(", "))
        }
    }
}

pub fn show(args: &ShowArgs) -> Result<ExitCode> {
    let record = find(&args.id)?;
    let mut report = Report::new("hunt", record.target.clone());
    report.findings = vec![told(&record)];
    let source = SourceFiles::of(&report);
    let root = std::env::current_dir().ok().map(|d| d.to_string_lossy().into_owned());
    let terminal = Terminal::new(TextTo::Stdout, Color::Auto, false);
    let options = RenderOptions {
        color: terminal.color,
        width: terminal.width,
        links: terminal.links.as_deref(),
        ascii: terminal.ascii,
        source: &|file: &str, line: u32| source.line(file, line),
        root: root.as_deref(),
        ..RenderOptions::default()
    };
    print(&render(&report, Format::Text, &options));
    Ok(ExitCode::from(exit::CLEAN))
}

/// The finding, with its history as notes.
fn told(record: &KnownFinding) -> Finding {
    let mut finding = record.finding.clone();
    finding.notes.push(format!(
        "confirmed {}, first {}, last {}, by `{}`",
        count(record.times, "time", "times"),
        date(record.first_seen),
        date(record.last_seen),
        record.target.join(" ")
    ));
    if let Some(decided) = &record.decided {
        finding.notes.push(format!(
            "decided on {}: {} ({})",
            date(decided.at),
            decided.decision.name(),
            decided.reason
        ));
    }
    if record.standing() == Standing::Regression {
        finding.notes.push("a regression: it was seen after it was said to be fixed".into());
    }
    finding
}

pub fn triage(args: &TriageArgs) -> Result<ExitCode> {
    anyhow::ensure!(!args.reason.trim().is_empty(), "--reason needs a text: somebody will want to know why");
    let record = find(&args.id)?;
    let decision = match (args.fixed, args.benign) {
        (true, _) => Decision::Fixed,
        (_, true) => Decision::Benign,
        _ => Decision::WontFix,
    };
    let decided = Decided { decision, reason: args.reason.clone(), at: SystemTime::now() };
    let store = open()?.context("there is no store")?;
    let key = record.finding.key();
    anyhow::ensure!(store.decide(&key, &decided)?, "`{key}` is no longer in the store");
    say!("{key} is {}", decision.name());
    Ok(ExitCode::from(exit::CLEAN))
}

pub fn merge(args: &MergeArgs) -> Result<ExitCode> {
    let folder = std::env::current_dir().context("there is no current folder")?;
    let mut ours = Store::open_for_project(&folder)?;
    let mut new = 0;
    for path in &args.stores {
        let theirs = if path.is_dir() { Store::open_existing(path) } else { Store::open_existing_file(path) };
        let theirs = theirs?.with_context(|| format!("there is no store in {}", path.display()))?;
        new += ours.merge(&theirs)?;
    }
    say!(
        "took in {}: {} new",
        count(args.stores.len() as u64, "store", "stores"),
        count(new as u64, "finding", "findings")
    );
    Ok(ExitCode::from(exit::CLEAN))
}

/// The day, as 2026-11-16, by the calendar that everybody uses; in UTC.
fn date(at: SystemTime) -> String {
    let days = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() / 86_400;
    // After Howard Hinnant's "chrono-compatible low-level date algorithms": years that begin in
    // March.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carried) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + carried)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let at = |seconds: u64| date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01");
        assert_eq!(at(951_782_400), "2000-02-29");
        assert_eq!(at(1_735_689_599), "2024-12-31");
        assert_eq!(at(1_735_689_600), "2025-01-01");
    }
}
