//! The parts of a hunt without scheduling: ordinary runs under the race detector, and runs with
//! delays.

use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_finding::{Confidence, Finding, group};
use raddle_hunt::plan::{self, Part};
use raddle_hunt::target::same_cause;
use raddle_hunt::{Detector, Goal, Space, Target};

use super::{Hunter, LONGEST_RUN, number};
use crate::explore::{WatchedRun, watch_once};
use crate::hunt::detectors;
use crate::hunt::doubt::doubt;
use crate::tsvd;
use raddle_harness::detection::DetectorMode;
use raddle_harness::relocated;
use raddle_harness::worker::Recipe;

/// The least that the first run gets, if that is not more than half of the time: one that is cut
/// off says little.
const LEAST_LOOK: Duration = Duration::from_secs(2);
/// How many ordinary runs to make if nothing can be scheduled. What two of them show is confirmed.
const RUNS: u32 = 3;
/// The most ordinary runs that try to see what only one detector has seen.
const MORE_RUNS: u32 = 8;

impl Hunter<'_> {
    /// One ordinary run under the detector. A copy of machine code cannot recognise atomic loads
    /// and stores, so locksets would suspect much that is correct.
    fn watch(&mut self, recipe: &Recipe, mode: DetectorMode, limit: Duration) -> Result<WatchedRun> {
        let begun = Instant::now();
        let watched = match &self.copy {
            Some(copy) => watch_once(recipe, Some(copy), DetectorMode::Hb, limit),
            None => watch_once(recipe, None, mode, limit),
        };
        let took = begun.elapsed();
        if took < limit {
            self.longest = self.longest.max(took);
        }
        watched
    }

    /// One ordinary run with locksets and lock orders. Returns whether anything in it is
    /// instrumented.
    pub(super) fn look(&mut self) -> Result<bool> {
        // A program that cannot be copied runs anyway: raddle sees its locks.
        self.copy = relocated::prepare(&self.program, false, relocated::Probes::All).ok().flatten();
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        let mut watched = self.watch(&self.recipe(&args), DetectorMode::Hybrid, self.longest_look())?;
        // A run that was cut off may not have reported it.
        let instrumented = watched.instrumented || self.program.has_runtime;
        self.out.coverage.extend(watched.unseen.clone());
        self.first = watched.first.take();
        self.watched(watched);
        self.journal.borrow_mut().progress(
            self.prey,
            &self.out.ledger,
            "ran it once under the race detector",
        );
        Ok(instrumented)
    }

    /// A second run, if the first look, which began then, took little time.
    ///
    /// What a run has seen for certain, such as a broken rule, needs no schedule. Another run
    /// confirms it. This one is under happens-before, which also finds a lock that is destroyed or
    /// made again while a thread uses it.
    pub(super) fn look_under_happens_before(&mut self, begun: Instant) -> Result<()> {
        let limit = self.longest_look();
        if begun.elapsed() < limit / 2 && !self.is_over() {
            let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
            let again = self.watch(&self.recipe(&args), DetectorMode::Hb, limit)?;
            self.watched(again);
        }
        Ok(())
    }

    fn longest_look(&self) -> Duration {
        let least = LEAST_LOOK.min(self.left() / 2);
        plan::share(Part::Look, self.left()).max(least).min(LONGEST_RUN)
    }

    /// Takes in an ordinary run.
    pub(super) fn watched(&mut self, watched: WatchedRun) {
        self.runs += 1;
        self.endings.push(watched.ending);
        self.threads = self.threads.max(watched.threads);
        self.processes = self.processes.max(number(&watched.report, "processes"));
        self.suspected.extend(watched.suspected);
        // Before its suspicions are raised: a search says nothing about places that it has not come
        // to.
        self.judge_by_whole();
        for finding in group::group(watched.report.findings) {
            match finding.confidence {
                Confidence::Suspected => self.out.ledger.suspect(Detector::Run, finding),
                Confidence::Confirmed => match doubt(&finding) {
                    None => self.witness(Detector::Run, finding),
                    Some(why) => {
                        let id = raddle_finding::identity::id(&finding);
                        self.out.ledger.suspect(Detector::Run, finding);
                        self.out.ledger.tried(why, &|t| t.finding.id == id);
                    }
                },
            }
        }
    }

    /// Runs it once more after a search of all schedules, for what ordinary runs have raised
    /// before.
    ///
    /// The program may depend on something that has changed since the look, such as a file that its
    /// first run made. Then no schedule comes to the places that the look has seen, and the search
    /// says nothing about them. Chance may also keep a run from raising a suspicion, so a few are
    /// made.
    pub(super) fn look_again(&mut self) {
        const LOOKS: u32 = 3;
        let mut gone: Vec<Finding> = self.out.ledger.raised_by_runs().into_iter().cloned().collect();
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        for _ in 0..LOOKS {
            if gone.is_empty() {
                break;
            }
            let limit = LONGEST_RUN.min(self.left().max(LEAST_LOOK));
            let Ok(watched) = self.watch(&self.recipe(&args), DetectorMode::Hybrid, limit) else { break };
            gone.retain(|f| !watched.report.findings.iter().any(|seen| same_cause(seen, f)));
            self.watched(watched);
        }
        self.out.ledger.has_gone(&gone);
    }

    /// Lets a search of all schedules judge the suspicions, as far as it has come to the places of
    /// those that ordinary runs have raised.
    pub(super) fn judge_by_whole(&mut self) {
        let Some((space, visited)) = &self.whole else { return };
        self.out.ledger.searched(&Space {
            reaches_races: visited.has_all(&self.suspected.races),
            reaches_locks: visited.has_all(&self.suspected.locks),
            ..space.clone()
        });
    }

    /// Tries to confirm races that only the search saw, and what one ordinary run saw for certain:
    /// more ordinary runs may take the same path.
    pub(super) fn corroborate(&mut self) {
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        let recipe = self.recipe(&args);
        let until = Instant::now() + plan::share(Part::Corroborate, self.left());
        for n in 1..=MORE_RUNS {
            let has_single_witness = self.out.ledger.has_single_witness(Detector::Run);
            let is_needed = !self.alone.is_empty() || has_single_witness;
            let is_late = n >= RUNS && Instant::now() >= until;
            if !is_needed || is_late || self.is_over() {
                return;
            }
            let limit = self.left().min(LONGEST_RUN);
            let mode = if has_single_witness { DetectorMode::Hb } else { DetectorMode::Hybrid };
            let Ok(watched) = self.watch(&recipe, mode, limit) else { return };
            self.watched(watched);
            for (by, finding) in std::mem::take(&mut self.alone) {
                match self.is_corroborated(&finding) {
                    true => self.confirm(by, finding),
                    false => self.alone.push((by, finding)),
                }
            }
        }
    }

    /// Races that locksets suspect and no schedule has shown, such as the fifth and later races of
    /// one execution, or those of a program that computes for long. What two runs see by
    /// happens-before is confirmed. Returns false if there was no such run and one was needed.
    pub(super) fn watch_open_races(&mut self) -> bool {
        let is_open = |t: &&Target| {
            t.goal() == Goal::Race && t.by.contains(&Detector::Run) && doubt(&t.finding).is_none()
        };
        if self.copy.is_some() || !self.out.ledger.queue().iter().any(is_open) {
            return true;
        }
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        let recipe = self.recipe(&args);
        for n in 1..=RUNS {
            let is_needed = n == 1 || self.out.ledger.has_single_witness(Detector::Run);
            let limit = self.left().min(LONGEST_RUN);
            if !is_needed || self.is_over() {
                return n > 1;
            }
            let Ok(watched) = self.watch(&recipe, DetectorMode::Hb, limit) else { return n > 1 };
            self.watched(watched);
        }
        self.out.ledger.tried("ordinary runs under happens-before", &|t| t.goal() == Goal::Race);
        true
    }

    /// Makes ordinary runs and runs with delays. What two of them show is confirmed; nothing is
    /// refuted.
    pub(super) fn delay(&mut self, why: &str) {
        self.out.coverage.push(format!(
            "`{}` was not scheduled ({why}): it was watched in ordinary runs and in runs with delays, so what two of them showed is confirmed \
             without a schedule to replay, and no suspicion can be refuted",
            self.program.path.display()
        ));
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        let share = plan::turn(plan::share(Part::Settle, self.left()), RUNS as usize).min(LONGEST_RUN);
        for _ in 0..RUNS {
            // One complete run says more than several that are cut off.
            let limit = if self.ended() { share } else { share.max(self.left() / 2).min(LONGEST_RUN) };
            if self.is_over() {
                break;
            }
            let recipe = self.recipe(&args);
            let Ok(watched) = self.watch(&recipe, DetectorMode::Hb, limit) else { break };
            self.watched(watched);
            self.journal.borrow_mut().progress(self.prey, &self.out.ledger, "ran it again");
        }
        self.libraries();
        self.out.ledger.tried("ordinary runs and runs with delays", &|_| true);
    }

    /// Watches calls of libraries that allow one caller at a time, with delays that bring two calls
    /// together. Each of these runs starts with what those before it have learned. What two pairs
    /// of runs catch is confirmed; if only one has caught something, more are made.
    pub(super) fn libraries(&mut self) {
        const PAIRS: u32 = 2;
        const MOST_PAIRS: u32 = 6;
        let runs = 2 * PAIRS as usize;
        let share = plan::turn(plan::share(Part::Libraries, self.left()), runs);
        // Half of the time is for other parts.
        let until = Instant::now() + self.left() / 2;
        // Without a folder, each pair of runs learns for itself.
        let learned = tempfile::tempdir().ok();
        let traps = learned.as_ref().map(|folder| folder.path().join("traps.json"));
        for pair in 0..MOST_PAIRS {
            let is_needed =
                pair < PAIRS || self.out.ledger.has_single_witness(Detector::Tsvd) && Instant::now() < until;
            if !is_needed || self.is_over() {
                break;
            }
            // A run that is cut off brings no calls together and catches nothing.
            let most = plan::turn(self.left(), 2 * runs);
            let limit = share.max(2 * self.longest).min(most).min(LONGEST_RUN);
            let report =
                match tsvd::report_quietly(&detectors::tsvd(&self.prey.words, traps.as_deref()), limit) {
                    Ok(report) => report,
                    Err(why) => return self.out.coverage.extend(tsvd::not_seen(&why)),
                };
            self.runs += 1;
            let known = &mut self.out.coverage;
            report.coverage.into_iter().for_each(|s| {
                if !known.contains(&s) {
                    known.push(s)
                }
            });
            for finding in group::group(report.findings) {
                self.witness(Detector::Tsvd, finding);
            }
        }
        self.out.ledger.tried("runs with delays", &|t| t.goal() == Goal::Misuse);
    }
}
