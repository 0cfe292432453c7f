//! The parts of a hunt that control the threads: searches at large and of single targets, and
//! `conseq`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_finding::{Finding, Report, Stat};
use raddle_hunt::plan::{self, Part};
use raddle_hunt::{Argument, Detector, Goal, Space, Target};

use super::{Hunter, number};
use crate::conseq;
use crate::explore::ongoing::Ongoing;
use crate::explore::{Visited, machine_code};
use crate::hunt::detectors;
use raddle_harness::crew::Notes;
use raddle_harness::point_code;
use raddle_harness::say::count;

/// The first turn of a search is short, so that easy findings are reported at once. Each later turn
/// is twice as long.
const FIRST_TURN: Duration = Duration::from_millis(500);
const LONGEST_TURN: Duration = Duration::from_secs(15);
/// The least time for a search of one target.
const LEAST_DRIVEN: Duration = Duration::from_secs(2);
/// If no load had an older value to read in so many schedules, the program has no such loads.
const SHOW_OLDER_VALUES: u64 = 40;

impl Hunter<'_> {
    /// Controls the threads, if possible.
    pub(super) fn schedule(&mut self, instrumented: bool, notes: &Notes) -> Result<()> {
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        let begun = Instant::now();
        let limit = plan::share(Part::Settle, self.left());
        let recipe = match machine_code::prepare(self.recipe(&args), &args.search, &Notes::quiet()) {
            Ok(recipe) => recipe,
            Err(why) => return self.not_scheduled(&why),
        };
        self.is_scheduled_copy = recipe.copy.is_some();
        let mut search = match Ongoing::begin(args, recipe, self.first.as_ref(), limit, notes) {
            Ok(search) => search,
            Err(why) => return self.not_scheduled(&why),
        };
        let until = Instant::now() + limit;
        if instrumented {
            // It is ready, or nearly so, when consequences are looked for.
            conseq::is_analysed_by(&detectors::conseq(self.args, &self.prey.words, limit), Instant::now());
        }
        let mut turn = FIRST_TURN;
        search = match self.turns(search, until, &mut turn) {
            Ok(search) => search,
            Err(why) => return self.not_scheduled(&why),
        };
        self.corroborate();
        if self.out.alone {
            // Suspicions in a child process, or in the only schedule, can only be seen in ordinary
            // runs.
            self.watch_open_races();
            if self.processes > 1 {
                self.libraries();
            }
            self.say_why_alone();
            return Ok(());
        }
        if instrumented {
            self.consequences(notes);
        }
        self.libraries();
        if !search.is_finished() && instrumented {
            self.one_by_one(notes);
        }
        self.corroborate();
        self.watch_open_races();
        if instrumented {
            // A search that came to its end shows how much there is to try.
            let left = if search.is_finished() { begun.elapsed() * 2 } else { self.left() };
            self.older_values(left.max(LEAST_DRIVEN), notes);
        }
        self.settle_doubted(self.left() / 2);
        // The remaining time goes to a search without restrictions.
        let deadline = self.deadline;
        if let Err(why) = self.turns(search, deadline, &mut turn) {
            self.out.coverage.push(format!("the search at large broke off: {why:#}"));
        }
        if self.processes > 1 {
            self.out.coverage.push(format!(
                "{} were watched, and the threads of one of them were scheduled: no suspicion can be refuted",
                count(self.processes, "process", "processes")
            ));
        }
        if let Some(why) = self.not_complete.take() {
            self.out.coverage.push(format!(
                "the search ran out of schedules without being complete, so it refutes nothing: {why}"
            ));
        }
        let what = format!(
            "{} at large, with a scheduling point at each access that races",
            count(self.out.schedules, "schedule", "schedules")
        );
        self.out.ledger.tried(&what, &|t| t.goal() != Goal::Misuse);
        Ok(())
    }

    /// Searches until `until`, or until nothing is left, and takes in what it finds.
    fn turns<'n>(&mut self, search: Ongoing<'n>, until: Instant, turn: &mut Duration) -> Result<Ongoing<'n>> {
        let mut search = search;
        while !search.is_finished() && !self.is_over() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let left = left.min(self.left());
            let turn_ends = Instant::now() + (*turn).min(left);
            let (next, mut report) = search.turn((*turn).min(left), self.end)?;
            search = next;
            self.passing = search.passing().to_vec();
            self.took_until(turn_ends, !report.findings.is_empty());
            *turn = (*turn * 2).min(LONGEST_TURN);
            self.take(Detector::Explore, std::mem::take(&mut report.findings));
            self.searched(&report, search.visited());
            let what = format!("{} searched", count(self.out.schedules, "schedule", "schedules"));
            self.journal.borrow_mut().progress(self.prey, &self.out.ledger, &what);
        }
        Ok(search)
    }

    /// Searches for at most `limit` with the older values that C11 lets atomic loads read, and says
    /// what came of it.
    fn older_values(&mut self, limit: Duration, notes: &Notes) {
        let limit = plan::share(Part::OlderValues, self.left()).min(limit);
        if self.is_over() || self.is_scheduled_copy {
            return;
        }
        let said = match point_code::fence_instruction(&self.program.path) {
            Some(function) => Some(not_tried(&format!("{function} has a fence that is written as assembly"))),
            None => self.search_older_values(limit, notes),
        };
        self.out.coverage.extend(said);
    }

    /// The sentence for the report. `None`: no load of the program has an older value to read, as
    /// far as was seen.
    fn search_older_values(&mut self, limit: Duration, notes: &Notes) -> Option<String> {
        let args = detectors::older_values(self.args, &self.prey.words, self.seed());
        let recipe = self.recipe(&args);
        let until = Instant::now() + limit;
        let begun = Ongoing::begin(args, recipe, self.first.as_ref(), limit, notes);
        let mut search = match begun {
            Ok(search) => search,
            Err(why) => return Some(not_tried(&format!("{why:#}"))),
        };
        let (mut turn, mut schedules) = (FIRST_TURN, 0);
        while !search.is_finished() && !self.is_over() {
            let left = turn.min(until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            let turn_ends = Instant::now() + left;
            let (next, report) = match search.turn(left, self.end) {
                Ok(next) => next,
                Err(why) if schedules == 0 => return Some(not_tried(&format!("{why:#}"))),
                Err(why) => {
                    let made = count(schedules, "schedule", "schedules");
                    return Some(format!(
                        "the search with older values of atomics broke off after {made}: {why:#}"
                    ));
                }
            };
            search = next;
            self.took_until(turn_ends, !report.findings.is_empty());
            schedules = number(&report, "schedules");
            self.take(Detector::Explore, report.findings);
            if schedules >= SHOW_OLDER_VALUES && !search.visited().chooses_values() {
                return None;
            }
            turn = (turn * 2).min(LONGEST_TURN);
        }
        let made = count(schedules, "schedule", "schedules");
        match schedules {
            0 => Some(not_tried("there was no time")),
            _ if search.visited().chooses_values() => Some(format!(
                "{made} of a further search let atomic loads read older values, where C11 allows that"
            )),
            _ => None,
        }
    }

    /// Takes in what a search without restrictions says about the whole program.
    fn searched(&mut self, report: &Report, visited: &Visited) {
        let threads = number(report, "threads_max");
        self.out.schedules = number(report, "schedules");
        let is_at_its_end = report.stats.get("exhausted") == Some(&Stat::Bool(true));
        // The search controls one of several processes, and a suspicion may be about another.
        let is_whole = is_at_its_end && threads > 0 && self.processes <= 1 && !self.has_changed;
        self.not_complete = match report.stats.get("not_complete") {
            Some(Stat::Text(why)) => Some(why.clone()),
            _ => None,
        };
        // The thread in which libtest runs a test counts as a thread, but there is nothing to
        // interleave it with.
        self.out.alone = threads == 0 || is_whole && self.out.schedules == 1;
        self.out.exhausted = is_whole;
        // An execution records a limited number of races and drops the others.
        let has_left_out = report.stats.get("races_left_out") == Some(&Stat::Bool(true));
        let watches_races =
            (threads as usize) < raddle_explore::clock::THREADS && !has_left_out && !self.is_scheduled_copy;
        if is_whole {
            self.look_again();
            // A race that a run sees for certain outweighs a search that does not.
            let watches_races = self.watch_open_races() && watches_races;
            let schedules = self.out.schedules;
            let (reaches_races, reaches_locks) = (false, false);
            let space = Space { schedules, is_whole, watches_races, reaches_races, reaches_locks };
            self.whole = Some((space, visited.clone()));
            self.judge_by_whole();
        }
    }

    /// Runs `conseq`: what could go wrong at assertions, outputs and memory accesses, and what of
    /// it can be made to happen.
    fn consequences(&mut self, notes: &Notes) {
        if self.is_over() {
            return;
        }
        let part = match self.out.ledger.queue().is_empty() {
            true => Part::ConsequencesAlone,
            false => Part::Consequences,
        };
        let limit = plan::share(part, self.left());
        let args = detectors::conseq(self.args, &self.prey.words, limit);
        if !conseq::is_analysed_by(&args, Instant::now() + limit) {
            let why = match conseq::has_begun_to_analyse(&args) {
                true => "its machine code was not read to its end in the time for them",
                false => "its machine code was not read, as it waited for its turn behind other programs",
            };
            self.out.coverage.push(format!("consequences were not looked for: {why}"));
            return;
        }
        let limit = plan::share(part, self.left());
        let args = detectors::conseq(self.args, &self.prey.words, limit);
        // An execution that is running at the limit gets some more time, and so do those after it.
        let end_at = self.end.min(Instant::now() + limit + limit / 4);
        // A detector that fails, even through a bug of its own, must not lose the others' results.
        let report = catch_unwind(AssertUnwindSafe(|| conseq::report(&args, end_at, notes)))
            .unwrap_or_else(|_| Err(anyhow::anyhow!("raddle itself failed there; please report it")));
        self.took_until(end_at, report.as_ref().is_ok_and(|r| !r.findings.is_empty()));
        match report {
            Ok(report) => {
                self.take(Detector::Conseq, report.findings);
                report.suspects.into_iter().for_each(|s| self.suspect_consequence(s));
                self.journal.borrow_mut().progress(self.prey, &self.out.ledger, "looked for consequences");
            }
            Err(error) => self.out.coverage.push(format!("consequences were not looked for: {error:#}")),
        }
    }

    /// Takes in a suspect of `conseq`, with its reason if it has settled that itself.
    fn suspect_consequence(&mut self, suspect: Finding) {
        let last = |prefix: &str| suspect.notes.last()?.strip_prefix(prefix).map(str::to_owned);
        // The search controls one of several processes, and some of what it did may be left over.
        let is_sound = self.processes <= 1 && !self.has_changed;
        let argument = match (last(conseq::RULED_OUT), last(conseq::EXPLAINED)) {
            (Some(why), _) if is_sound => Some(Argument::Refutes(why)),
            (Some(why), _) | (None, Some(why)) => Some(Argument::Explains(why)),
            (None, None) => None,
        };
        let tried = last("tried in ");
        let id = raddle_finding::identity::id(&suspect);
        match argument {
            Some(argument) => self.out.ledger.suspect_but(Detector::Conseq, suspect, argument),
            None => self.out.ledger.suspect(Detector::Conseq, suspect),
        }
        if let Some(tried) = tried {
            self.out.ledger.tried(&tried, &|t| t.finding.id == id);
        }
    }

    /// Settles each open target by its own search, which preempts threads only in the functions
    /// that the target names.
    fn one_by_one(&mut self, notes: &Notes) {
        let mut open: Vec<Target> =
            self.out.ledger.queue().into_iter().filter(|t| is_driven_at(t)).cloned().collect();
        if let Some(changes) = self.changes {
            open.sort_by_key(|t| !changes.touches(&t.finding));
        }
        let all = plan::share(Part::OneByOne, self.left());
        let until = Instant::now() + all;
        // One or two schedules settle nothing.
        let least = LEAST_DRIVEN.max(self.longest * 8);
        open.truncate(plan::driven(all, open.len(), least));
        for (i, target) in open.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            if self.is_over() || left.is_zero() {
                break;
            }
            let limit = plan::turn(left, open.len() - i);
            if let Some(schedules) = self.drive_at(target, limit, notes) {
                let places: Vec<String> = target.functions().iter().map(|f| format!("`{f}`")).collect();
                let what = format!(
                    "{} aimed at it, in which threads are switched in {} only",
                    count(schedules, "schedule", "schedules"),
                    places.join(" and ")
                );
                self.out.ledger.tried(&what, &|t| t.finding.id == target.finding.id);
            }
        }
    }

    fn drive_at(&mut self, target: &Target, limit: Duration, notes: &Notes) -> Option<u64> {
        let only: Vec<String> = target.functions().iter().map(|f| format!("fun:{f}")).collect();
        let args = detectors::explore(self.args, &self.prey.words, &only, self.seed());
        let recipe = self.recipe(&args);
        let begun = Instant::now();
        let search = Ongoing::begin(args, recipe, self.first.as_ref(), limit, notes).ok()?;
        let left = limit.saturating_sub(begun.elapsed()).max(FIRST_TURN);
        let turn_ends = Instant::now() + left;
        let (_, report) = search.turn(left, self.end).ok()?;
        self.took_until(turn_ends, !report.findings.is_empty());
        let schedules = number(&report, "schedules");
        self.take(Detector::Explore, report.findings);
        Some(schedules)
    }

    /// The threads cannot be controlled. Fails if no run of it could be watched either: then
    /// nothing is known of it.
    fn not_scheduled(&mut self, why: &anyhow::Error) -> Result<()> {
        if raddle_harness::interrupt::came() {
            self.out.coverage.push("it was interrupted before its threads were scheduled".into());
            return Ok(());
        }
        self.delay(&format!("{why:#}"));
        let is_watched = self.processes > 0 || self.copy.is_some();
        anyhow::ensure!(is_watched, "{why:#}");
        Ok(())
    }
}

fn not_tried(why: &str) -> String {
    format!("older values of atomics were not tried: {why}")
}

/// Whether a search can be confined to the target's functions and would recognise its failure.
fn is_driven_at(target: &Target) -> bool {
    let judged = matches!(
        target.goal(),
        Goal::Race | Goal::Deadlock | Goal::Lifetime | Goal::Failure | Goal::Progress
    );
    judged && !target.functions().is_empty()
}
