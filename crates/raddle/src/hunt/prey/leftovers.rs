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
//! 1. One run without raddle does not fail, and the schedule still does after it. Whatever made the
//!    runs before it fail may be over. Short programs are run many times, since a bug that shows by
//!    itself can show in several runs in a row.
//! 2. The schedule fails and another one passes, again and again, each in a process of its own:
//!    see [`raddle_hunt::control`], which has the argument.
//!
//! Otherwise the failure stays open, and nothing is refuted. What is left of the time goes to
//! further rounds of both, with other schedules as the one that passes.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use raddle_finding::{Finding, Kind};
use raddle_hunt::target::same_cause;
use raddle_hunt::{Detector, Goal};

use super::{GRACE, Hunter, LONGEST_RUN};
use crate::explore::RunEnding;
use crate::hunt::verify;
use crate::replay::control;
use raddle_harness::launch;

/// How often a failure is looked at in all. After some hundred runs that all failed, and as many
/// schedules of which none passed, more of them would show nothing else.
const ROUNDS: u64 = 12;

impl Hunter<'_> {
    /// Why the failure may come from what was left behind. `None`: the schedule causes it. A failure
    /// that may come from it is looked at again later.
    pub(super) fn may_be_leftover(&mut self, by: Detector, finding: &Finding) -> Option<&'static str> {
        let is_known = |c: &raddle_hunt::Confirmed| same_cause(&c.finding, finding);
        if !matches!(Goal::of(finding.kind), Goal::Failure | Goal::Value)
            || self.out.ledger.confirmed().iter().any(is_known)
            || self.plain_at_first != Some(RunEnding::Status(0))
            || self.is_the_schedules_doing(finding, true)
        {
            return None;
        }
        self.has_changed = true;
        let id = raddle_finding::identity::id(finding);
        if !self.doubted.iter().any(|(_, f)| raddle_finding::identity::id(f) == id) {
            self.doubted.push((by, finding.clone()));
        }
        Some(FAILS_ANYWAY)
    }

    /// Looks again at failures that may come from what was left behind, while there is time.
    pub(super) fn settle_doubted(&mut self) {
        for _ in 0..ROUNDS {
            if self.doubted.is_empty() || self.is_over() {
                break;
            }
            for (by, finding) in std::mem::take(&mut self.doubted) {
                match !self.is_over() && self.is_the_schedules_doing(&finding, false) {
                    true => self.confirm(by, finding),
                    false => self.doubted.push((by, finding)),
                }
            }
        }
        if !self.doubted.is_empty() {
            self.out.coverage.push(HAS_CHANGED.into());
        }
    }

    /// `has_just_failed`: the search has just seen the schedule fail twice.
    fn is_the_schedules_doing(&mut self, finding: &Finding, has_just_failed: bool) -> bool {
        let round = self.looks_for_leftovers;
        self.looks_for_leftovers += 1;
        let Some(schedule) = finding.schedule.as_deref().map(Path::new) else { return false };
        if self.passes_by_itself(finding.kind, schedule, has_just_failed) {
            return true;
        }
        let decides = control::schedule_decides(schedule, round, self.end).unwrap_or(false);
        launch::surround(self.prey.surroundings.clone());
        decides
    }

    /// Whether a run without raddle passes and the schedule fails after it.
    fn passes_by_itself(&self, kind: Kind, schedule: &Path, has_just_failed: bool) -> bool {
        const RUNS: Range<u32> = 4..24;
        const ENOUGH: Duration = Duration::from_secs(1);
        let begun = Instant::now();
        for run in 0..RUNS.end {
            if run >= RUNS.start && begun.elapsed() > ENOUGH {
                break;
            }
            let limit = LONGEST_RUN.min(self.left().max(GRACE.1));
            if !self.run_plain(limit).is_some_and(|ending| is_end_of(kind, ending)) {
                return has_just_failed && run == 0 || verify::leads_to_failure(schedule).unwrap_or(false);
            }
        }
        false
    }
}

/// Whether a run without raddle that ends so may have failed in this way. A shell that ran the
/// program, or a handler in it, may have turned the signal into a status.
fn is_end_of(kind: Kind, ending: RunEnding) -> bool {
    match (kind, ending) {
        (_, RunEnding::CutOff | RunEnding::Status(0)) => false,
        (Kind::ExitStatus, ending) => matches!(ending, RunEnding::Status(_)),
        (Kind::Crash, RunEnding::Status(status)) => status > 128,
        (Kind::Assertion, RunEnding::Signal(signal)) => signal == libc::SIGABRT,
        _ => true,
    }
}

/// The note for a failure that may come from what was left behind.
const FAILS_ANYWAY: &str = "a schedule in which it fails, but by now ordinary runs without raddle fail too, which the first did not, \
    and no schedule was found that still passes: executions that were ended, or other tests, may have left files behind";

/// The sentence about such a program: what its executions do depends on what others did before.
const HAS_CHANGED: &str = "by now it fails in ordinary runs and in every schedule that was tried, which its first run did not, so no suspicion is refuted";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_as_a_failure_does_if_it_ends_badly_and_in_its_way() {
        use RunEnding::{CutOff, Signal, Status};
        for kind in [Kind::Assertion, Kind::Crash, Kind::ExitStatus, Kind::Output] {
            assert!(!is_end_of(kind, Status(0)) && !is_end_of(kind, CutOff), "{kind:?}");
        }
        assert!(is_end_of(Kind::Assertion, Signal(libc::SIGABRT)) && is_end_of(Kind::Assertion, Status(101)));
        assert!(!is_end_of(Kind::Assertion, Signal(libc::SIGSEGV)));
        assert!(is_end_of(Kind::Crash, Signal(libc::SIGSEGV)) && is_end_of(Kind::Crash, Status(139)));
        assert!(!is_end_of(Kind::Crash, Status(1)));
        assert!(is_end_of(Kind::ExitStatus, Status(1)));
        assert!(!is_end_of(Kind::ExitStatus, Signal(libc::SIGABRT)));
        assert!(is_end_of(Kind::Output, Status(1)));
    }
}
