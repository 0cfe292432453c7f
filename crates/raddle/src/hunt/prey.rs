//! Hunts one command: raises suspicions, settles them one after the other, and then searches at
//! large.

mod ordinary;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_finding::{Confidence, Finding, Kind, Report, Stat, group};
use raddle_hunt::plan::{self, Part};
use raddle_hunt::target::same_cause;
use raddle_hunt::{Detector, Goal, Ledger, Space, Target};

use super::args::Args;
use super::detectors;
use super::doubt::doubt;
use super::journal::Journal;
use super::since::Changes;
use crate::explore::ongoing::Ongoing;
use crate::explore::{self, Ending};
use crate::{check, conseq};
use raddle_harness::crew::{Notes, signal_name};
use raddle_harness::install::Runtime;
use raddle_harness::launch::{self, Surroundings};
use raddle_harness::relocated::{self, Prepared};
use raddle_harness::say::count;
use raddle_harness::target::{self, Program};
use raddle_harness::worker::Recipe;

/// The first turn of a search is short, so that easy findings are reported at once. Each later turn
/// is twice as long.
const FIRST_TURN: Duration = Duration::from_millis(500);
const LONGEST_TURN: Duration = Duration::from_secs(15);
/// The time after the deadline for what was found: a twentieth of the whole, within these bounds. A
/// hunt may be late by a tenth; the rest of that is for what ends it.
const GRACE: (Duration, Duration) = (Duration::from_millis(600), Duration::from_secs(2));
/// The longest that one ordinary run may take.
const LONGEST_RUN: Duration = Duration::from_secs(20);

/// What to hunt: a command, and the sources given for it.
#[derive(Clone, Debug, Default)]
pub struct Prey {
    /// Its name, if it is one of several.
    pub name: Option<String>,
    pub words: Vec<OsString>,
    pub sources: Vec<PathBuf>,
    /// What the user gave instead of a program: a source file and compiler options.
    pub given: Vec<OsString>,
    /// Where its suite runs it, and with which variables.
    pub surroundings: Surroundings,
    /// What its suite does for it and a hunt does not.
    pub notes: Vec<String>,
    /// The status by which it reports to its suite that it was skipped.
    pub skipped: Option<i32>,
    /// Hunt it only if what came before it could not be hunted by itself.
    pub is_fallback: bool,
}

/// The outcome for one command.
pub struct Outcome {
    pub ledger: Ledger,
    /// Sentences on what was covered and what could not be covered.
    pub coverage: Vec<String>,
    pub schedules: u64,
    pub exhausted: bool,
    /// It has no threads, or its threads have only one order: there was nothing to hunt.
    pub alone: bool,
    /// No run and no schedule ended by itself: nothing is known of the command.
    pub hung: bool,
}

pub struct Hunter<'a> {
    args: &'a Args,
    prey: &'a Prey,
    program: Program,
    runtime: Runtime,
    /// A copy of its code with probes, if it was built without them.
    copy: Option<Prepared>,
    /// When to begin nothing new.
    deadline: Instant,
    /// When every execution is given up, whatever its purpose.
    end: Instant,
    /// The longest that it took so far to shrink and describe what a part has found, beyond the
    /// time of that part. So much earlier the last part ends.
    afterwards: Duration,
    /// The most that is kept back for it.
    most_afterwards: Duration,
    journal: &'a mut Journal,
    out: Outcome,
    /// The number of ordinary runs so far, to tell processes apart.
    runs: u32,
    /// The number of instrumented processes in one run. A search controls only one of them.
    processes: u64,
    /// Races that the search has shown and no other detector suspects.
    alone: Vec<(Detector, Finding)>,
    /// The changes to look at first.
    changes: Option<&'a Changes>,
    /// How ordinary runs ended.
    endings: Vec<Ending>,
    /// The number of threads of the process that had most in an ordinary run.
    threads: u64,
    /// How long the longest ordinary run took that was not cut off.
    longest: Duration,
    /// Why a search with nothing left to try has not executed all schedules.
    not_complete: Option<String>,
}

impl<'a> Hunter<'a> {
    pub fn new(
        args: &'a Args,
        prey: &'a Prey,
        limit: Duration,
        journal: &'a mut Journal,
        changes: Option<&'a Changes>,
    ) -> Result<Hunter<'a>> {
        let out = Outcome {
            ledger: Ledger::default(),
            coverage: Vec::new(),
            schedules: 0,
            exhausted: false,
            alone: false,
            hung: false,
        };
        let program = target::find(&prey.words)?;
        let (runtime, deadline) = (Runtime::open()?, Instant::now() + limit);
        let end = deadline + grace(limit);
        let mut hunter = Hunter {
            args,
            prey,
            program,
            runtime,
            copy: None,
            deadline,
            end,
            afterwards: Duration::ZERO,
            most_afterwards: limit / 8,
            journal,
            out,
            runs: 0,
            processes: 0,
            alone: Vec::new(),
            changes,
            endings: Vec::new(),
            threads: 0,
            longest: Duration::ZERO,
            not_complete: None,
        };
        hunter.out.ledger.recall(hunter.journal.recall(&hunter.key()));
        Ok(hunter)
    }

    /// The key under which verdicts are stored: the build and the words.
    fn key(&self) -> String {
        let words: Vec<String> = self.prey.words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        format!("{} {}", raddle_harness::program::build_id(&self.program.path), words.join(" "))
    }

    pub fn hunt(mut self) -> Result<Outcome> {
        launch::surround(self.prey.surroundings.clone());
        self.out.coverage.extend(self.prey.notes.iter().cloned());
        let notes = Notes::quiet();
        let instrumented = self.look()?;
        self.check_sources();
        if !instrumented {
            self.say_not_instrumented();
        }
        match self.has_no_threads() {
            true => {
                self.out.alone = true;
                self.say_why_alone();
            }
            false => self.schedule(instrumented, &notes)?,
        }
        self.say_usual_end();
        self.out.hung = self.out.schedules == 0 && !self.ended();
        let says_no_thread = |s: &String| s.contains("created no thread");
        self.out.coverage.extend(notes.sentences().into_iter().filter(|s| !says_no_thread(s)));
        if self.prey.name.is_some() {
            // In a suite, each sentence names the test. It need not repeat the program.
            let program = format!("`{}`", self.program.path.display());
            self.out.coverage.iter_mut().for_each(|s| *s = s.replace(&program, "it"));
        }
        self.journal.remember(&self.key(), self.out.ledger.targets());
        Ok(self.out)
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).saturating_sub(self.afterwards)
    }

    /// A part that could take until then has ended, with findings or without.
    fn took_until(&mut self, until: Instant, has_found: bool) {
        if has_found {
            let late = Instant::now().saturating_duration_since(until);
            self.afterwards = self.afterwards.max(late).min(self.most_afterwards);
        }
    }

    /// Whether an ordinary run ended by itself.
    fn ended(&self) -> bool {
        self.endings.iter().any(|e| *e != Ending::CutOff)
    }

    fn is_over(&self) -> bool {
        raddle_harness::interrupt::came() || self.left().is_zero()
    }

    /// How executions are started. None continues when the hunt is over.
    fn recipe(&self, args: &explore::Args) -> Recipe {
        let recipe = explore::recipe(args, self.program.clone(), self.runtime.clone());
        Recipe { end_at: Some(self.end), ..recipe }
    }

    fn seed(&self) -> u64 {
        self.args.seed + self.journal.hunts_before()
    }

    fn say_not_instrumented(&mut self) {
        let path = self.program.path.display();
        let what = match &self.copy {
            Some(copy) => format!("{}; {SEEN_IN_A_COPY}", relocated::coverage(copy.counts)),
            None => NOT_SEEN.into(),
        };
        self.out.coverage.push(format!("`{path}` is not instrumented: {what}; {BUILD_IT}"));
    }

    /// Whether the first run has shown that there is nothing to interleave and nothing else to
    /// settle.
    ///
    /// Only a search can tell whether a timer's handler interrupts the only thread. For a suite
    /// that would cost too much, since most tests have no threads.
    fn has_no_threads(&self) -> bool {
        if self.prey.name.is_none() {
            return false;
        }
        let ended = matches!(self.endings[..], [Ending::Status(_)]);
        let is_one = self.threads == 1 && self.processes == 1 && self.program.has_runtime;
        ended && is_one && self.out.ledger.targets().is_empty()
    }

    /// Suspicions from the source, if it was given.
    fn check_sources(&mut self) {
        for source in self.prey.sources.iter().filter(|s| s.extension().is_some_and(|e| e == "c")) {
            match check::report(&detectors::check(source)) {
                Ok(report) => {
                    group::group(report.findings)
                        .into_iter()
                        .for_each(|f| self.out.ledger.suspect(Detector::Check, f));
                }
                Err(error) => self.out.coverage.push(format!("the source was not checked: {error:#}")),
            }
        }
    }

    fn witness(&mut self, by: Detector, finding: Finding) {
        if self.out.ledger.witness(by, finding, self.runs) {
            self.journal.confirmed(self.prey, &self.out.ledger);
        }
    }

    fn confirm(&mut self, by: Detector, finding: Finding) {
        if self.out.ledger.confirm(by, finding) {
            self.journal.confirmed(self.prey, &self.out.ledger);
        }
    }

    /// Takes in what a search or a campaign has found. A finding is confirmed if it was seen again
    /// and can be replayed.
    fn take(&mut self, by: Detector, findings: Vec<Finding>) {
        for finding in group::group(findings) {
            if raddle_finding::library::is_its_own(&finding) {
                continue;
            }
            let finding = self.named(finding);
            match (finding.confidence, &finding.schedule) {
                (Confidence::Confirmed, Some(_)) => match doubt(&finding) {
                    None if !self.is_corroborated(&finding) => {
                        let id = raddle_finding::identity::id(&finding);
                        self.alone.push((by, finding.clone()));
                        self.out.ledger.suspect(by, finding);
                        self.out.ledger.tried(SEEN_BY_ONE, &|t| t.finding.id == id);
                    }
                    None => self.confirm(by, finding),
                    Some(why) => {
                        let id = raddle_finding::identity::id(&finding);
                        self.out.ledger.suspect(by, finding);
                        self.out.ledger.tried(why, &|t| t.finding.id == id);
                    }
                },
                _ => self.out.ledger.suspect(by, finding),
            }
        }
    }

    /// Whether more than one detector reports a race. A search knows only some of the operations
    /// that create order. `raddle run` knows more of them, and locksets do not depend on the
    /// schedule.
    fn is_corroborated(&self, finding: &Finding) -> bool {
        let others =
            |t: &Target| t.by.iter().any(|d| *d != Detector::Explore) && same_cause(&t.finding, finding);
        finding.kind != Kind::DataRace || self.out.ledger.targets().iter().any(others)
    }

    /// Adds the name of the test. A finding without a place in the program is identified by its
    /// test.
    fn named(&self, mut finding: Finding) -> Finding {
        if let Some(name) = self.prey.name.as_ref().filter(|_| finding.accesses.is_empty()) {
            finding.message = format!("the test `{name}` fails: {}", finding.message);
        }
        finding.test = self.prey.name.clone();
        finding
    }

    /// Reports an abnormal end that all ordinary runs have in common.
    ///
    /// A program that a signal ends each time needs no schedule: it fails in any order. But raddle
    /// was in the process, so it is run once more without raddle.
    fn say_usual_end(&mut self) {
        let Some(first) = self.endings.first().copied().filter(|e| self.endings.iter().all(|x| x == e))
        else {
            return;
        };
        let has_failure = |c: &raddle_hunt::Confirmed| Goal::of(c.finding.kind) == Goal::Failure;
        match first {
            Ending::Status(0) | Ending::CutOff => {}
            Ending::Status(status) if self.prey.skipped == Some(status) => {
                self.out.coverage.push(format!("it skipped itself in every ordinary run, by status {status}"))
            }
            Ending::Status(status) => self.out.coverage.push(format!(
                "it ends with status {status} in every ordinary run, so that counts as its usual end"
            )),
            Ending::Signal(_) if self.out.ledger.confirmed().iter().any(has_failure) => {}
            Ending::Signal(signal) => self.crash_each_time(signal),
        }
    }

    fn crash_each_time(&mut self, signal: i32) {
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        let name = signal_name(signal);
        if !FAULTS.contains(&signal) {
            // Another process sent it, and raddle cannot tell which.
            self.out.coverage.push(format!("it is ended by {name} in every ordinary run"));
            return;
        }
        match explore::run_plain(&self.recipe(&args), LONGEST_RUN.min(self.left().max(GRACE.1))) {
            // It may lack what its suite would have done for it.
            Ok(Ending::Signal(_)) if !self.prey.notes.is_empty() => {
                self.out.coverage.push(format!("it is ended by {name} in every ordinary run, without its fixtures"));
            }
            Ok(Ending::Signal(plain)) if plain == signal && self.endings.len() > 1 => {
                let message = format!("the program is ended by {name} in every run, without any interleaving");
                let finding = self.named(Finding::new(Kind::Crash, Confidence::Confirmed, message));
                self.confirm(Detector::Run, finding);
            }
            Ok(Ending::Signal(plain)) if plain == signal => {
                self.out.coverage.push(format!("it was ended by {name} in the one run that there was time for"));
            }
            _ => self.out.coverage.push(format!(
                "it is ended by {name} when raddle is in it, and not without: nothing is known of it beyond that point"
            )),
        }
    }

    /// Controls the threads, if possible.
    fn schedule(&mut self, instrumented: bool, notes: &Notes) -> Result<()> {
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        let limit = plan::share(Part::Settle, self.left());
        let recipe = self.recipe(&args);
        let mut search = match Ongoing::begin(args, recipe, limit, notes) {
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

    /// Says why there is nothing to interleave.
    fn say_why_alone(&mut self) {
        let input = if launch::input_file().is_none() { NO_INPUT } else { "" };
        self.out.coverage.push(match (self.out.exhausted, self.threads) {
            (true, _) => {
                "it has one schedule: its threads wait for each other, or have nothing in common that could \
                          come in another order"
                    .into()
            }
            // The threads of a single process belong to the test harness.
            (false, threads) if threads <= 1 || self.processes <= 1 => {
                format!("it created no thread with these arguments: there is nothing to interleave{input}")
            }
            (false, _) => {
                "only a child process of it creates threads: that was watched in ordinary runs and not \
                           scheduled, so hunt the child's own command for more"
                    .into()
            }
        });
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
            let (next, report) = search.turn((*turn).min(left), self.end)?;
            search = next;
            self.took_until(turn_ends, !report.findings.is_empty());
            *turn = (*turn * 2).min(LONGEST_TURN);
            self.searched(&report);
            self.take(Detector::Explore, report.findings);
            let what = format!("{} searched", count(self.out.schedules, "schedule", "schedules"));
            self.journal.progress(self.prey, &self.out.ledger, &what);
        }
        Ok(search)
    }

    /// Takes in what a search without restrictions says about the whole program.
    fn searched(&mut self, report: &Report) {
        let threads = number(report, "threads_max");
        self.out.schedules = number(report, "schedules");
        let is_at_its_end = report.stats.get("exhausted") == Some(&Stat::Bool(true));
        // The search controls one of several processes, and a suspicion may be about another.
        let is_whole = is_at_its_end && threads > 0 && self.processes <= 1;
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
        let watches_races = (threads as usize) < raddle_explore::clock::THREADS && !has_left_out;
        self.out.ledger.searched(&Space { schedules: self.out.schedules, is_whole, watches_races });
    }

    /// Runs `conseq`: what could go wrong at assertions, outputs and memory accesses, and what of
    /// it can be made to happen.
    fn consequences(&mut self, notes: &Notes) {
        if self.is_over() {
            return;
        }
        let limit = plan::share(Part::Consequences, self.left());
        let args = detectors::conseq(self.args, &self.prey.words, limit);
        if !conseq::is_analysed_by(&args, Instant::now() + limit) {
            let why = "consequences were not looked for: to read its machine code takes longer than the time for them";
            self.out.coverage.push(why.into());
            return;
        }
        let limit = plan::share(Part::Consequences, self.left());
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
                for suspect in report.suspects {
                    let tried =
                        suspect.notes.last().and_then(|n| n.strip_prefix("tried in ")).map(str::to_owned);
                    let id = raddle_finding::identity::id(&suspect);
                    self.out.ledger.suspect(Detector::Conseq, suspect);
                    if let Some(tried) = tried {
                        self.out.ledger.tried(&tried, &|t| t.finding.id == id);
                    }
                }
                self.journal.progress(self.prey, &self.out.ledger, "looked for consequences");
            }
            Err(error) => self.out.coverage.push(format!("consequences were not looked for: {error:#}")),
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
        let search = Ongoing::begin(args, recipe, limit, notes).ok()?;
        let left = limit.saturating_sub(begun.elapsed()).max(FIRST_TURN);
        let turn_ends = Instant::now() + left;
        let (_, report) = search.turn(left, self.end).ok()?;
        self.took_until(turn_ends, !report.findings.is_empty());
        let schedules = number(&report, "schedules");
        self.take(Detector::Explore, report.findings);
        Some(schedules)
    }

    /// The threads cannot be controlled.
    fn not_scheduled(&mut self, why: &anyhow::Error) -> Result<()> {
        match raddle_harness::interrupt::came() {
            true => self.out.coverage.push("it was interrupted before its threads were scheduled".into()),
            false => self.delay(&format!("{why:#}")),
        }
        Ok(())
    }
}

/// How long findings may be shrunk and seen again after a hunt with this limit.
fn grace(limit: Duration) -> Duration {
    (limit / 20).clamp(GRACE.0, GRACE.1)
}

/// A number in `stats`; 0 if it is missing.
fn number(report: &Report, key: &str) -> u64 {
    match report.stats.get(key) {
        Some(Stat::Int(n)) => *n as u64,
        _ => 0,
    }
}

/// Signals that a program causes by its own actions.
const FAULTS: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP];

/// The note for a program that is neither instrumented nor watched through a copy of its code.
const NOT_SEEN: &str = "accesses to memory are not seen, so no race, no use of freed memory and no wrong value can be found, and \
    nothing is refuted";

/// The note for a program that was watched through a copy of its code.
const SEEN_IN_A_COPY: &str = "that was done in ordinary runs only, so a race in it stays open, nothing is refuted, and its schedules \
    have points at calls of locks and the like, not at accesses";

const BUILD_IT: &str =
    "for more, build it with `raddle cc`, `raddle c++`, `raddle rustc`, `cargo raddle` or `raddle build`";

/// The note for a program that did nothing and had no input.
const NO_INPUT: &str = " (its standard input was empty: --stdin FILE gives it one)";

/// The note for a race that is not corroborated.
const SEEN_BY_ONE: &str = "a schedule in which the accesses are not ordered as far as the search can tell, and which no run under the race detector confirms";

/// Whether a search can be confined to the target's functions and would recognise its failure.
fn is_driven_at(target: &Target) -> bool {
    let judged = matches!(
        target.goal(),
        Goal::Race | Goal::Deadlock | Goal::Lifetime | Goal::Failure | Goal::Progress
    );
    judged && !target.functions().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use raddle_harness::crew::{Crew, CrewError};

    /// Every part of a hunt starts its executions by this recipe; `conseq` gets the same end.
    #[test]
    fn no_execution_goes_on_when_the_hunt_is_over() {
        let line = ["raddle", "hunt", "--no-store", "--", "/bin/true"];
        let crate::cli::Command::Hunt(args) = crate::cli::Cli::try_parse_from(line).unwrap().command else {
            panic!("not hunt")
        };
        let mut journal = Journal::open(&args);
        let prey = Prey { words: args.command.clone(), ..Prey::default() };
        let limit = Duration::from_secs(12);
        let mut hunter = Hunter::new(&args, &prey, limit, &mut journal, None).unwrap();
        assert_eq!(hunter.end, hunter.deadline + grace(limit));
        let explored = detectors::explore(&args, &prey.words, &[], 1);
        assert_eq!(hunter.recipe(&explored).end_at, Some(hunter.end));
        hunter.end = Instant::now();
        let (notes, never) = (Notes::quiet(), || false);
        let ready = Crew::new(hunter.recipe(&explored), &notes, &never).get_ready();
        let why = ready.expect_err("it was begun").downcast::<CrewError>().unwrap();
        assert!(matches!(why, CrewError::Stopped(_)), "{why}");
    }

    #[test]
    fn what_it_took_to_describe_findings_is_kept_back_for_the_next() {
        let line = ["raddle", "hunt", "--no-store", "--", "/bin/true"];
        let crate::cli::Command::Hunt(args) = crate::cli::Cli::try_parse_from(line).unwrap().command else {
            panic!("not hunt")
        };
        let mut journal = Journal::open(&args);
        let prey = Prey { words: args.command.clone(), ..Prey::default() };
        let limit = Duration::from_secs(800);
        let mut hunter = Hunter::new(&args, &prey, limit, &mut journal, None).unwrap();
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        hunter.took_until(ago(30), false);
        assert_eq!(hunter.afterwards, Duration::ZERO, "a part without findings describes nothing");
        hunter.took_until(ago(30), true);
        hunter.took_until(ago(10), true);
        assert_eq!(hunter.afterwards.as_secs(), 30);
        assert!(hunter.left() <= limit - Duration::from_secs(30));
        hunter.took_until(ago(300), true);
        assert_eq!(hunter.afterwards, limit / 8, "most of the time is the hunt's");
    }

    #[test]
    fn a_hunt_is_late_by_less_than_a_tenth() {
        for seconds in [10, 12, 60, 1800] {
            let limit = Duration::from_secs(seconds);
            assert!(grace(limit) < limit / 10, "{seconds}");
        }
    }
}
