//! What a hunt stores and prints while it runs: each confirmed finding at once, verdicts at the end
//! of each command, and lines of progress.
//!
//! The order matters, since raddle may be killed at any moment. First `explore` writes the schedule
//! file. Then the store takes the finding with a copy of the schedule in one transaction. Then the
//! line is printed. So every printed line is about something that is stored.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use raddle_finding::Finding;
use raddle_finding::subject::UserCommand;
use raddle_hunt::{Counts, Ledger, Target};
use raddle_store::{Category, Sighting, Standing, Store, StoreError};
use serde::{Deserialize, Serialize};

use super::args::Args;
use super::live::LiveView;
use super::prey::Prey;
use super::report;
use crate::report::args::ReportFormat;
use raddle_harness::say::say;

/// The stored verdicts of a build.
#[derive(Default, Serialize, Deserialize)]
pub struct Verdicts {
    /// The number of hunts so far: each searches with its own seed.
    pub hunts: u64,
    pub targets: Vec<Target>,
}

pub struct Journal {
    store: Option<Store>,
    folder: PathBuf,
    begun: Instant,
    at: SystemTime,
    /// A person reads, so lines are printed.
    speaks: bool,
    live: LiveView,
    resumes: bool,
    /// What is stored of this hunt, by key.
    stored: BTreeMap<String, Stored>,
    last: Counts,
}

struct Stored {
    standing: Standing,
    /// With a schedule.
    replays: bool,
}

impl Journal {
    pub fn open(args: &Args) -> Journal {
        let folder = std::env::current_dir().unwrap_or_default();
        let off = args.report.no_store || std::env::var_os("RADDLE_NO_STORE").is_some_and(|v| !v.is_empty());
        let store = if off { None } else { opened(&folder) };
        Journal {
            store,
            folder,
            begun: Instant::now(),
            at: SystemTime::now(),
            speaks: args.report.format == ReportFormat::Text,
            live: LiveView::new(args.report.format == ReportFormat::Text),
            resumes: args.resume,
            stored: BTreeMap::new(),
            last: Counts::default(),
        }
    }

    /// The verdicts of earlier hunts of this build, if this hunt resumes them.
    pub fn recall(&self, key: &str) -> Verdicts {
        match &self.store {
            Some(store) if self.resumes => {
                let kept = store.kept(Category::Verdicts, key).ok().flatten();
                kept.and_then(|kept| serde_json::from_slice(&kept).ok()).unwrap_or_default()
            }
            _ => Verdicts::default(),
        }
    }

    pub fn remember(&mut self, key: &str, verdicts: &Verdicts) {
        let Some(store) = &self.store else { return };
        let kept = serde_json::to_vec(verdicts).expect("plain data");
        if let Err(why) = store.keep(Category::Verdicts, key, &kept, self.at) {
            say!("the verdicts are not kept for --resume: {why}");
        }
    }

    /// Stores what was newly confirmed before anything else happens.
    pub fn confirmed(&mut self, prey: &Prey, ledger: &Ledger) {
        for confirmed in ledger.confirmed() {
            let finding = report::finding(confirmed, ledger, &self.command(prey));
            let (key, replays) = (finding.key(), finding.schedule.is_some());
            match self.stored.get(&key) {
                Some(before) if before.replays || !replays => continue,
                // It was said when it was seen. Now it can be replayed, too.
                Some(_) => {
                    self.keep(prey, &finding);
                    self.stored.entry(key).and_modify(|before| before.replays = true);
                    continue;
                }
                None => {}
            }
            let standing = self.keep(prey, &finding);
            self.stored.insert(key, Stored { standing, replays });
            self.live.view().confirmed += usize::from(standing != Standing::Accepted);
            if self.speaks {
                let _room = self.live.make_room();
                let seconds = self.begun.elapsed().as_secs_f64();
                let how = match standing {
                    Standing::Regression => "confirmed again though it was said to be fixed",
                    Standing::Accepted => "confirmed again, and accepted by triage",
                    Standing::New | Standing::Known => "confirmed",
                };
                let name = named(prey);
                say!("{name}{how} after {seconds:.1} s: {}", finding.message);
            }
        }
    }

    fn keep(&mut self, prey: &Prey, finding: &Finding) -> Standing {
        let Some(store) = &mut self.store else { return Standing::Known };
        let schedule = finding.schedule.as_ref().and_then(|path| std::fs::read(path).ok());
        let target = words(prey);
        let path = prey.words.first().map(PathBuf::from).unwrap_or_default();
        let sighting = Sighting {
            finding,
            schedule: schedule.as_deref(),
            target: &target,
            folder: &self.folder,
            build: &raddle_harness::program::build_id(&path),
            at: self.at,
        };
        store.sight(&sighting).unwrap_or_else(|why| {
            say!("{} is not kept: {why}", finding.key());
            Standing::Known
        })
    }

    /// The hunted command, for the subjects of its findings.
    pub fn command(&self, prey: &Prey) -> UserCommand {
        let shown = if prey.given.is_empty() { words(prey) } else { in_text(&prey.given) };
        raddle_store::command(&shown, &self.folder)
    }

    /// The standing of a confirmed finding, by its key.
    pub fn standing(&self, key: &str) -> Standing {
        self.stored.get(key).map_or(Standing::Known, |stored| stored.standing)
    }

    /// Begins the next of several tests; the hunt ends at `until`.
    pub fn begin(&self, prey: &Prey, number: usize, of: usize, until: Instant) {
        let mut view = self.live.view();
        let done = std::mem::take(&mut view.present);
        report::add(&mut view.settled, done);
        (view.test, view.until) = ((number, of), Some(until));
        view.name = prey.name.clone().unwrap_or_default();
        view.what = "runs it once under the race detector".into();
    }

    /// Shows progress: a line when something was settled, and on a terminal the live line.
    pub fn progress(&mut self, prey: &Prey, ledger: &Ledger, what: &str) {
        let counts = ledger.counts();
        let mut view = self.live.view();
        (view.present, view.what) = (counts, what.to_owned());
        drop(view);
        if self.speaks && !self.live.is_shown() && counts != self.last {
            say!("{}{what}; {}", named(prey), report::counts(&counts));
        }
        self.last = counts;
    }
}

/// How a line about one of several tests begins.
fn named(prey: &Prey) -> String {
    prey.name.as_ref().map_or(String::new(), |n| format!("{n}: "))
}

fn words(prey: &Prey) -> Vec<String> {
    in_text(&prey.words)
}

fn in_text(words: &[OsString]) -> Vec<String> {
    words.iter().map(|w| w.to_string_lossy().into_owned()).collect()
}

fn opened(folder: &std::path::Path) -> Option<Store> {
    match Store::open_for_project(folder) {
        Ok(store) => Some(store),
        Err(StoreError::NoHome) => None,
        Err(why) => {
            say!("nothing is kept for later hunts: {why}");
            None
        }
    }
}
