//! Failures that may come from what earlier executions left behind.
//!
//! An execution that was killed, or another test, may leave something behind with which every
//! execution fails, such as a file that is half written. Then a schedule that fails shows nothing.
//! The sign of it is that ordinary runs without raddle fail by now, though the first one did not.
//! Only runs without raddle are compared: under the detector a program is slower, and may fail for
//! that alone.
//!
//! But a program whose bug shows by itself, in half of its runs or in nearly all of them, gives the
//! same sign. So the sign decides nothing. A failure is the schedule's doing if one of these holds:
//!
//! 1. One run without raddle ends as the first one did, and the schedule fails after it. That it
//!    has failed before is not enough: whatever made it fail may have gone before the run. Short
//!    programs are run many times, since a bug that shows by itself can show in several runs in a
//!    row. A run that is cut off, or that fails in another way, shows nothing.
//! 2. The schedule fails and another one passes, again and again, each in a process of its own:
//!    see [`raddle_hunt::control`], which has the argument. A program that fails by chance may once
//!    end in that very order, so few experiments are made.
//!
//! Otherwise the failure stays open, and nothing is refuted. What is left of the time goes to
//! further rounds of both, with other schedules as the one that passes.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use raddle_finding::Finding;
use raddle_hunt::target::same_cause;
use raddle_hunt::{Detector, Goal};

use super::{Hunter, LONGEST_RUN};
use crate::explore::RunEnding;
use crate::replay::control::{Experiment, Shown};
use raddle_harness::launch;
use raddle_harness::say::count;

/// The least time for one run, or for one execution of the schedule, also when the hunt is over.
const LEAST: Duration = Duration::from_millis(400);
/// How long the first look for another schedule takes. Later ones take what is left of the time.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// How many experiments may fail. One in 256 succeeds by chance if half of all executions fail.
const MOST_UNSTEADY: u32 = 3;

/// A failure that may come from what was left behind, and what was done to find that out.
pub(super) struct Doubted {
    by: Detector,
    finding: Finding,
    /// Ordinary runs that failed.
    runs: u64,
    /// Other schedules that were tried.
    others: u64,
    /// Experiments in which the executions did not end as before.
    unsteady: u32,
    /// The schedule did not fail after an ordinary run that passed.
    is_gone: bool,
}

impl Hunter<'_> {
    /// Why the failure may come from what was left behind. `None`: the schedule causes it. A
    /// failure that may come from it is looked at again later.
    pub(super) fn may_be_leftover(&mut self, by: Detector, finding: &Finding) -> Option<String> {
        let is_known = |c: &raddle_hunt::Confirmed| same_cause(&c.finding, finding);
        if !matches!(Goal::of(finding.kind), Goal::Failure | Goal::Value)
            || self.out.ledger.confirmed().iter().any(is_known)
            || self.plain_at_first != Some(RunEnding::Status(0))
        {
            return None;
        }
        let mut doubted =
            Doubted { by, finding: finding.clone(), runs: 0, others: 0, unsteady: 0, is_gone: false };
        if self.is_the_schedules_doing(&mut doubted, Instant::now() + FIRST_LOOK) {
            return None;
        }
        self.has_changed = true;
        let why = doubted.why();
        let id = raddle_finding::identity::id(finding);
        if !self.doubted.iter().any(|d| raddle_finding::identity::id(&d.finding) == id) {
            self.doubted.push(doubted);
        }
        Some(why)
    }

    /// Looks again at failures that may come from what was left behind, for at most this long.
    pub(super) fn settle_doubted(&mut self, limit: Duration) {
        let begun = Instant::now();
        let all = std::mem::take(&mut self.doubted);
        let n = all.len();
        for (i, mut doubted) in all.into_iter().enumerate() {
            let share = limit.saturating_sub(begun.elapsed()) / (n - i) as u32;
            let is_settled =
                !self.is_over() && self.is_the_schedules_doing(&mut doubted, Instant::now() + share);
            match is_settled {
                true => self.confirm(doubted.by, doubted.finding),
                false => self.doubted.push(doubted),
            }
        }
    }

    /// Says what is still in doubt at the end.
    pub(super) fn say_doubted(&mut self) {
        for doubted in &self.doubted {
            let id = raddle_finding::identity::id(&doubted.finding);
            self.out.ledger.tried(&doubted.why(), &|t| t.finding.id == id);
        }
        if !self.doubted.is_empty() {
            self.out.coverage.push(HAS_CHANGED.into());
        }
    }

    /// Looks for the answer until then.
    fn is_the_schedules_doing(&mut self, doubted: &mut Doubted, until: Instant) -> bool {
        let Some(schedule) = doubted.finding.schedule.clone() else { return false };
        let end = self.end.max(Instant::now() + LEAST);
        let is_shown = self.passes_by_itself(doubted, Path::new(&schedule), end)
            || self.decides(doubted, Path::new(&schedule), until.min(self.end), end);
        launch::surround(self.prey.surroundings.clone());
        is_shown
    }

    /// Whether a run without raddle ends as the first one did and the schedule fails after it.
    fn passes_by_itself(&self, doubted: &mut Doubted, schedule: &Path, end: Instant) -> bool {
        const RUNS: Range<u32> = 4..24;
        const ENOUGH: Duration = Duration::from_secs(1);
        let begun = Instant::now();
        for run in 0..RUNS.end {
            let left = end.saturating_duration_since(Instant::now());
            if run >= RUNS.start && begun.elapsed() > ENOUGH || left.is_zero() {
                break;
            }
            match self.run_plain(LONGEST_RUN.min(left)) {
                Some(RunEnding::Status(0)) => {
                    let experiment = Experiment::open(schedule, end.max(Instant::now() + LEAST));
                    doubted.is_gone = !experiment.is_ok_and(|experiment| experiment.fails());
                    return !doubted.is_gone;
                }
                Some(RunEnding::CutOff) | None => break,
                Some(_) => doubted.runs += 1,
            }
        }
        false
    }

    /// Whether the schedule decides how the program ends.
    fn decides(&self, doubted: &mut Doubted, schedule: &Path, until: Instant, end: Instant) -> bool {
        let Ok(mut experiment) = Experiment::open(schedule, end) else { return false };
        let mut known = if doubted.others == 0 { &self.passing[..] } else { &[] };
        while doubted.unsteady < MOST_UNSTEADY && Instant::now() < until {
            let before = experiment.others;
            let shown = experiment.schedule_decides(known, doubted.others, until);
            doubted.others += experiment.others - before;
            known = &[];
            match shown {
                Shown::Decides => return true,
                Shown::NonePassed => break,
                Shown::Unsteady => doubted.unsteady += 1,
            }
        }
        false
    }
}

impl Doubted {
    /// What is known of it, as something that was tried.
    fn why(&self) -> String {
        let runs = count(self.runs, "ordinary run", "ordinary runs");
        let others = count(self.others, "other schedule", "other schedules");
        let what = match self.runs {
            _ if self.unsteady > 0 => {
                "when it was executed in turns with another one that had passed, the two did not end as before".into()
            }
            _ if self.is_gone => "it did not fail after an ordinary run without raddle that passed".into(),
            0 => "there was no time to see whether ordinary runs without raddle fail by now".into(),
            _ if self.others == 0 => format!("by now {runs} without raddle failed too, which the first did not"),
            _ => format!(
                "by now {runs} without raddle failed too, which the first did not, and none of {others} passed"
            ),
        };
        format!(
            "a schedule in which it fails, but {what}: executions that were ended, or other tests, may have left files behind"
        )
    }
}

/// The sentence about such a program: what its executions do depends on what others did before.
const HAS_CHANGED: &str = "something other than the schedule decides by now how it ends, as far as was tried, so no suspicion is refuted";

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::{Confidence, Kind};

    #[test]
    fn a_doubt_says_what_was_tried_and_nothing_else() {
        let finding = Finding::new(Kind::Assertion, Confidence::Confirmed, "it fails");
        let none = || Doubted {
            by: Detector::Explore,
            finding: finding.clone(),
            runs: 0,
            others: 0,
            unsteady: 0,
            is_gone: false,
        };
        assert!(none().why().contains("there was no time"));
        let runs = Doubted { runs: 4, ..none() }.why();
        assert!(runs.contains("4 ordinary runs") && !runs.contains("schedules"), "{runs}");
        let both = Doubted { runs: 4, others: 70, ..none() }.why();
        assert!(
            both.contains("4 ordinary runs") && both.contains("none of 70 other schedules passed"),
            "{both}"
        );
        let gone = Doubted { others: 70, is_gone: true, ..none() }.why();
        assert!(gone.contains("did not fail after") && !gone.contains("70"), "{gone}");
        let unsteady = Doubted { runs: 4, others: 70, unsteady: 1, ..none() }.why();
        assert!(unsteady.contains("in turns") && !unsteady.contains("none of"), "{unsteady}");
    }
}
