//! The results of a search: files to replay, the state to resume from, the report.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_base::grouped::Grouped;
use raddle_explore::{Op, Progress};
use raddle_finding::{Confidence, Finding, Kind, Report, Stat};
use raddle_wire::explore::flag;

use super::args::Args;
use super::coverage::shortcomings;
use super::resume::Saved;
use super::search::Search;
use super::shrink::{self, Small};
use crate::report::args::ReportFormat;
use raddle_harness::crew::{Crew, Notes};
use raddle_harness::describe;
use raddle_harness::describe::steps::StepWords;
use raddle_harness::gaps::gap;
use raddle_harness::interrupt;
use raddle_harness::places::Places;
use raddle_harness::say::{count, say};
use raddle_harness::schedule::{self, Expected, Head, Schedule};
use raddle_harness::schedule_files::{or_without, program_name, write_new};
use raddle_harness::worker::Recipe;

/// How long one failure may be shrunk if no caller waits for it.
pub const SHRINK: Duration = Duration::from_secs(10);

pub struct Results<'a> {
    /// The recipe at the end of the search.
    pub recipe: Recipe,
    pub search: Search,
    pub build_id: String,
    pub notes: &'a Notes,
    pub seconds: f64,
    /// How long one failure may be shrunk.
    pub shrink: Duration,
    /// When to stop all executions, whatever is left to shrink or to see again.
    pub end: Option<Instant>,
}

impl Results<'_> {
    /// Stores an interrupted search; removes the file of a finished one.
    pub fn keep_for_later(&self, path: &Path, resumed: bool) -> Result<()> {
        let exhausted = self.search.strategy.progress().exhausted;
        if exhausted || !(interrupt::came() || resumed) {
            if exhausted && resumed {
                let _ = std::fs::remove_file(path);
            }
            return Ok(());
        }
        let saved = Saved {
            build_id: self.build_id.clone(),
            command: self.words(),
            strategy: self.search.strategy.clone(),
            points: self.recipe.points.clone(),
            donors: self.recipe.donors,
            flags: self.recipe.flags,
            usual: self.search.usual,
            most: self.search.most,
            schedules: self.search.schedules,
            round: self.search.round,
            gaps: self.search.lasting_gaps() | self.search.gaps,
            called: self.search.called.clone(),
            seconds: self.seconds,
        };
        saved.write(path)?;
        self.notes.say(&format!("stopped; `--resume` goes on from {}", path.display()));
        Ok(())
    }

    fn words(&self) -> Vec<String> {
        self.recipe.words.iter().map(|w| w.to_string_lossy().into_owned()).collect()
    }

    /// Shrinks each failure, writes its file, and describes it.
    pub fn report(&mut self, args: &Args, races: Vec<Finding>) -> Result<Report> {
        let mut report = Report::new("explore", self.words());
        let failures = self.search.take_failures();
        let mut passing = std::mem::take(&mut self.search.passing);
        let end = self.end;
        let is_over = move || end.is_some_and(|end| Instant::now() >= end);
        let mut places = Places::new();
        let mut crew: Option<Crew<'_>> = None;
        for failure in failures {
            // For long executions, looking up the places alone takes long.
            if is_over() {
                self.search.gaps |= gap::UNREPEATED;
                break;
            }
            let original = failure.clone();
            // With other accesses as steps, schedules have a different meaning.
            let points = failure.points.as_deref().unwrap_or(&self.recipe.points).to_vec();
            let other = |r: &Recipe| (r.flags ^ failure.flags) & flag::ALL_DATA != 0 || r.points != points;
            if crew.as_ref().is_none_or(|c| other(c.recipe())) {
                let flags = self.recipe.flags | failure.flags;
                let recipe = Recipe { slots: 1, flags, points, ..self.recipe.clone() };
                crew.replace(Crew::new(recipe, self.notes, &is_over)).into_iter().for_each(Crew::stop);
            }
            let Some(crew) = &mut crew else { continue };
            let small = shrink::shrink(failure, &self.search.usual, crew, &mut passing, self.shrink)
                .unwrap_or(Small { failure: original, fewest: false, again: false });
            let small = shrink::once_more(small, &self.search.usual, crew.recipe(), self.notes, &is_over);
            if !small.again {
                self.search.gaps |= gap::UNREPEATED;
            }
            if !small.again && !self.search.came_back && !self.begins_clean() {
                // It may come from what earlier executions left behind. It only counts as a gap in
                // coverage.
                self.search.unrepeated.push(small.failure.facts.sentence);
                continue;
            }
            let mut finding = describe::finding(&small.failure, &passing, &mut places, &self.search.modules);
            if let Some(timeline) = &mut finding.timeline {
                let (recipe, modules) = (crew.recipe(), &self.search.modules);
                describe::values::add(timeline, &small.failure, recipe, modules, self.notes, &is_over);
            }
            if !small.again {
                // Only what was seen again is confirmed.
                finding.confidence = Confidence::Suspected;
            }
            let is_at_its_end = self.search.strategy.progress().exhausted;
            if small.failure.kind == Kind::ExitStatus && passing.is_empty() && is_at_its_end {
                finding.confidence = Confidence::Suspected;
                finding.notes.push(ENDS_SO_ANYWAY.into());
            }
            finding.schedule = or_without(self.write(&small, &args.search.schedules_to));
            finding.notes.extend(notes(&small, &self.search, is_over()));
            report.findings.push(finding);
        }
        crew.into_iter().for_each(Crew::stop);
        self.search.passing = passing;
        if args.report.format == ReportFormat::Text {
            self.say_how_far(&mut places);
        }
        report.findings.extend(races);
        self.add_stats(&mut report);
        Ok(report)
    }

    /// Whether each execution was a process from the start of the program, with files that no other
    /// execution had changed. Then a failure is the program's own, even if it does not come back.
    fn begins_clean(&self) -> bool {
        self.recipe.flags & flag::FORK_AT_START != 0 && self.search.gaps & gap::OUTSIDE == 0
    }

    /// Prints how much has been searched.
    fn say_how_far(&self, places: &mut Places) {
        if !self.search.alone {
            say!("{}: {}", self.search.strategy.name(), self.progress_in_words());
            say!("{}", self.memory_in_words(places));
        }
        for sentence in &self.search.unrepeated {
            say!("{}", unrepeated(sentence));
        }
        if self.search.became_another {
            say!(
                "the program calls `exec` after its first thread: it was explored up to there, and the other program was \
                 not; explore that program itself"
            );
        }
        if self.search.is_full_of_races {
            say!(
                "an execution keeps its first {} races: there may be more, which are seen once these are fixed",
                raddle_wire::explore::RACES
            );
        }
        if self.search.cut_off > 0 {
            say!(
                "{} cut off after {} steps while still working: the rest of {} was not explored; --max-steps allows more",
                count(self.search.cut_off, "execution", "executions"),
                self.recipe.max_steps,
                if self.search.cut_off == 1 { "it" } else { "them" }
            );
        }
    }

    /// Why a search with nothing left to try is not complete.
    fn shortcomings(&self, progress: &Progress) -> Vec<String> {
        if self.search.alone { Vec::new() } else { shortcomings(&self.search, &self.recipe, progress) }
    }

    /// How far the strategy is. Claims completeness only if the search has no gaps.
    fn progress_in_words(&self) -> String {
        let progress = self.search.strategy.progress();
        if let Some(first) = self.search.first_failure.filter(|_| self.search.stopped_at_failure) {
            return format!("stopped at the first failure, in schedule {}", Grouped(first.max(1)));
        }
        let short = self.shortcomings(&progress);
        let mut words = match progress.exhausted && !short.is_empty() {
            false => progress.to_string(),
            true => {
                let made = count(progress.schedules, "execution", "executions");
                format!("not complete, though nothing is left to try after {made}: {}", short.join("; "))
            }
        };
        if let Some(why) = self.search.strategy.gave_up() {
            words += &format!(": states cannot be recognised, since {why}");
        }
        match self.search.round {
            0 => {}
            n => {
                words += &format!(
                    "; begun anew {}, as accesses that race became scheduling points, {} in all",
                    count(n, "time", "times"),
                    count(self.search.schedules, "schedule", "schedules")
                )
            }
        }
        words
    }

    fn is_c11(&self) -> bool {
        self.recipe.flags & flag::C11 != 0
    }

    /// The memory model, and whether a weaker one would have been worth the time (4.5).
    fn memory_in_words(&self, places: &mut Places) -> String {
        if self.is_c11() {
            return "explored with the values that C11 lets atomic loads read".into();
        }
        let begin = "explored under sequential consistency";
        let overtaking = self.search.overtaking.filter(|_| self.recipe.copy.is_none());
        let Some((load, store)) = overtaking else { return begin.into() };
        let mut words = StepWords::new(places, &self.search.modules, &[]);
        let mut place = |op: &Op| words.place(op).map_or_else(|| "somewhere".into(), |p| format!("at {p}"));
        let load = place(&load);
        let store = store.map_or("another".into(), |s| format!("the one {}", place(&s)));
        format!(
            "{begin}; on real machines the load {load} may come before an earlier store of its thread, {store}, and then read what \
             it reads in no interleaving: `--memory c11` explores that"
        )
    }

    /// Writes the file to replay, under a free name.
    fn write(&self, small: &Small, folder: &Path) -> Result<PathBuf> {
        let head = Head {
            format: schedule::FORMAT.into(),
            version: schedule::VERSION,
            command: self.words(),
            folder: schedule::folder().to_string_lossy().into_owned(),
            environment: schedule::environment(),
            unset: schedule::unset(),
            input: schedule::input(),
            build_id: self.build_id.clone(),
            flags: self.recipe.flags | small.failure.flags,
            max_steps: self.recipe.max_steps,
            donors: self.recipe.donors,
            points: small
                .failure
                .points
                .as_deref()
                .unwrap_or(&self.recipe.points)
                .iter()
                .map(|p| format!("{p:x}"))
                .collect(),
            quiet: schedule::quiet_in_words(&self.recipe.quiet),
            expected: Expected {
                kind: small.failure.kind.name().into(),
                number: small.failure.what,
                message: small.failure.facts.sentence.clone(),
                usual_status: self.search.usual.status,
                usual_panics: self.search.usual.panics,
                usual_output: self.search.usual.output.map(|hash| format!("{hash:x}")),
                check: None,
            },
        };
        let text = Schedule { head, steps: small.failure.trace.steps.clone() }.write();
        let name = format!("{}-{}", program_name(&self.recipe), small.failure.kind);
        write_new(folder, &name, &text)
    }

    fn add_stats(&self, report: &mut Report) {
        let progress = self.search.strategy.progress();
        let has_findings = !report.findings.is_empty();
        let mut add = |key: &str, value: Stat| drop(report.stats.insert(key.into(), value));
        let alone = self.search.alone;
        add("schedules", Stat::from(self.search.schedules.max(u64::from(alone))));
        if let Some(first) = self.search.first_failure.filter(|_| has_findings) {
            add("first_failure", Stat::from(first));
        }
        add("strategy", Stat::from(self.search.strategy.name()));
        add("bound", progress.bound.map_or(Stat::from("none"), |b| Stat::Int(i64::from(b))));
        let short = self.shortcomings(&progress);
        add("exhausted", Stat::Bool((progress.exhausted && short.is_empty()) || alone));
        if progress.exhausted && !short.is_empty() {
            add("not_complete", Stat::from(short.join("; ").as_str()));
        }
        add("races_left_out", Stat::Bool(self.search.is_full_of_races));
        add("begun_anew", Stat::from(self.search.round));
        add("threads_max", Stat::from(self.search.most.threads));
        add("steps_max", Stat::from(self.search.most.steps));
        add("preemptions_max", Stat::from(self.search.most.preemptions));
        add("seconds", Stat::Float(self.seconds));
        add("points", Stat::from(self.recipe.points.len() as u64));
        add("pruned", Stat::from(progress.pruned));
        add("diverged", Stat::from(progress.lost));
        add("cut_off", Stat::from(self.search.cut_off));
        add("memory_model", Stat::from(if self.is_c11() { "c11" } else { "sc" }));
        if !self.is_c11() {
            add("beyond_sc", Stat::Bool(self.search.overtaking.is_some()));
        }
        add("fork", Stat::Bool(self.recipe.flags & flag::FORK != 0));
        add("interrupted", Stat::Bool(interrupt::came()));
        if let Some(why) = &self.search.broke_off {
            add("broke_off", Stat::from(why.as_str()));
        }
    }
}

/// The note for a status in which no schedule differs.
const ENDS_SO_ANYWAY: &str = "every schedule ends with this status, and the run before the search did not: something that no schedule decides, such as an \
    address, makes the difference";

fn notes(small: &Small, search: &Search, out_of_time: bool) -> Vec<String> {
    let preemptions = small.failure.trace.view().preemptions();
    let mut notes = vec![format!(
        "found after {} of strategy {}; {}{}",
        count(small.failure.after, "schedule", "schedules"),
        search.strategy.name(),
        count(preemptions as u64, "preemption", "preemptions"),
        if small.fewest && preemptions > 0 { ", and with fewer it does not happen" } else { "" }
    )];
    if small.failure.kind == Kind::NonDeterminism {
        notes.push(format!("the first schedule printed `{}`", search.printed));
    }
    if !small.again && out_of_time {
        notes.push("there was no time to see it again".into());
    } else if !small.again {
        notes.push("it did not happen again when the same choices were made again: something outside the schedule differs from run to run".into());
    }
    notes
}

/// The sentence for a failure that was seen but is not a finding.
pub fn unrepeated(sentence: &str) -> String {
    format!(
        "a failure was seen and did not come back when the same choices were made again, so it is no finding ({sentence}): something \
         outside the schedule differs from run to run"
    )
}
