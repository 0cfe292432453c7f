//! `raddle diff`: what hunts of one build have confirmed and hunts of another have not.
//!
//! An absence is worth reporting only for a build that was hunted. Each hunt leaves its verdicts in
//! the store under the build and the command, even if nothing was confirmed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use raddle_store::{Category, KnownFinding, Store};

use super::decisions;
use crate::exit;
use raddle_harness::program::build_id;
use raddle_harness::say::{count, print, say};

/// Compare what hunts have confirmed in two builds
///
/// Prints one line for each finding: `new` was confirmed in the second build only, `gone` in the
/// first only, `both` in both. `gone` means that the hunts of the second build did not see it, not
/// that it is fixed: `raddle verify` looks for one finding.
///
/// Exit status: 0 when nothing is new, 66 when something is, 2 when a build was never hunted.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// The earlier build: a program, or the beginning of a build id
    #[arg(value_name = "OLD")]
    pub old: String,

    /// The later build
    #[arg(value_name = "NEW")]
    pub new: String,
}

pub fn run(args: &DiffArgs) -> Result<ExitCode> {
    let store = decisions::open()?.context("there is no store: no hunt has run in this project")?;
    let hunts = hunts(&store)?;
    let (old, new) = (find(&hunts, &args.old)?, find(&hunts, &args.new)?);
    anyhow::ensure!(old != new, "both are the same build, {old}");
    let records = store.history()?;
    let (before, after) = (seen(&store, &records, &old)?, seen(&store, &records, &new)?);
    let mut text = String::new();
    let (mut fresh, mut gone) = (0, 0);
    for (id, record) in before.iter().chain(after.iter().filter(|(id, _)| !before.contains_key(*id))) {
        let word = match (before.contains_key(id), after.contains_key(id)) {
            (true, true) => "both",
            (true, false) => {
                gone += 1;
                "gone"
            }
            _ => {
                fresh += 1;
                "new "
            }
        };
        text += &raddle_finding::visible(&format!(
            "{word}  {}  {}",
            record.finding.key(),
            record.finding.message
        ));
        text.push('\n');
    }
    print(&text);
    say!(
        "{}: {fresh} new, {gone} not seen in {} of the second build",
        count(before.len().max(after.len()).max(fresh + gone) as u64, "finding", "findings"),
        count(hunts[&new], "hunt", "hunts")
    );
    Ok(ExitCode::from(if fresh > 0 { exit::FINDINGS } else { exit::CLEAN }))
}

/// The hunts of each build, as far as they have left anything: one for each command.
fn hunts(store: &Store) -> Result<BTreeMap<String, u64>> {
    let mut hunts: BTreeMap<String, u64> = BTreeMap::new();
    for name in store.kept_names(Category::Verdicts)? {
        let build = name.split(' ').next().unwrap_or_default().to_owned();
        *hunts.entry(build).or_default() += 1;
    }
    // A hunt that was killed left its findings, but no verdicts.
    for build in store.builds()? {
        hunts.entry(build).or_default();
    }
    Ok(hunts)
}

/// The build that is meant.
fn find(hunts: &BTreeMap<String, u64>, name: &str) -> Result<String> {
    if Path::new(name).is_file() {
        let build = build_id(Path::new(name));
        anyhow::ensure!(hunts.contains_key(&build), "{name} was never hunted as it is built now ({build})");
        return Ok(build);
    }
    let found: BTreeSet<&String> = hunts.keys().filter(|build| build.starts_with(name)).collect();
    match found.len() {
        0 => anyhow::bail!("no build that was hunted begins with `{name}`, and it is no program either"),
        1 => Ok(found.into_iter().next().cloned().unwrap_or_default()),
        n => anyhow::bail!("{n} builds begin with `{name}`: give more of it"),
    }
}

/// What was seen in a build, by id: the same program in another folder has other subjects.
fn seen<'a>(
    store: &Store,
    records: &'a [KnownFinding],
    build: &str,
) -> Result<BTreeMap<String, &'a KnownFinding>> {
    let keys = store.seen_in(build)?;
    let of_build = records.iter().filter(|r| keys.contains(&r.finding.key()));
    Ok(of_build.map(|r| (r.finding.id.clone(), r)).collect())
}
