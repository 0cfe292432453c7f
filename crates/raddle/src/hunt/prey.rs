//! Hunts one command: raises suspicions, settles them one after the other, and then searches at
//! large.

mod leftovers;
mod ordinary;
mod schedule_files;
mod searches;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_explore::Trace;
use raddle_finding::{Confidence, Finding, Kind, Report, Stat, group};
use raddle_hunt::plan::{self, Part};
use raddle_hunt::target::same_cause;
use raddle_hunt::{Detector, Goal, Ledger, Space, Target};

use super::args::Args;
use super::detectors;
use super::doubt::doubt;
use super::journal::{Journal, Verdicts};
use super::since::Changes;
use crate::check;
use crate::explore::{self, FirstRun, RunEnding, Suspected, Visited};
use leftovers::Doubted;
use raddle_harness::crew::{Notes, signal_name};
use raddle_harness::install::Runtime;
use raddle_harness::launch::{self, Surroundings};
use raddle_harness::relocated::{self, Prepared};
use raddle_harness::target::{self, TargetProgram};
use raddle_harness::worker::Recipe;
use schedule_files::ScheduleFiles;

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
pub struct CommandOutcome {
    pub ledger: Ledger,
    /// Sentences on what was covered and what could not be covered.
    pub coverage: Vec<String>,
    pub schedules: u64,
    pub exhausted: bool,
    /// It has no threads, or its threads have only one order: there was nothing to hunt.
    pub alone: bool,
    /// No run and no schedule ended by itself: nothing is known of the command.
    pub hung: bool,
    /// There was time for the look only.
    pub looked_only: bool,
}

pub struct Hunter<'a> {
    args: &'a Args,
    prey: &'a Prey,
    program: TargetProgram,
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
    journal: &'a RefCell<Journal>,
    /// The number of earlier hunts of this build that this one resumes.
    hunts_before: u64,
    out: CommandOutcome,
    /// The number of ordinary runs so far, to tell processes apart.
    runs: u32,
    /// The number of instrumented processes in one run. A search controls only one of them.
    processes: u64,
    /// Races that the search has shown and no other detector suspects.
    alone: Vec<(Detector, Finding)>,
    /// The changes to look at first.
    changes: Option<&'a Changes>,
    /// How ordinary runs ended.
    endings: Vec<RunEnding>,
    /// The number of threads of the process that had most in an ordinary run.
    threads: u64,
    /// How long the longest ordinary run took that was not cut off.
    longest: Duration,
    /// Why a search with nothing left to try has not executed all schedules.
    not_complete: Option<String>,
    /// How the run without raddle ended that was made right after the look, before any search.
    plain_at_first: Option<RunEnding>,
    /// Ordinary runs fail by now, which the first did not.
    has_changed: bool,
    /// Failures that may come from what earlier executions left behind.
    doubted: Vec<Doubted>,
    /// Executions of the search at large that passed.
    passing: Vec<Trace>,
    /// Whether anything in it is instrumented.
    instrumented: bool,
    /// The first ordinary run, if searches can begin from it.
    first: Option<FirstRun>,
    /// The places of what ordinary runs suspect.
    suspected: Suspected,
    /// The search of all schedules, and what it has come to, once there is one.
    whole: Option<(Space, Visited)>,
    /// How long the look took.
    looked_for: Duration,
    files: ScheduleFiles,
    /// Searches execute a copy of its machine code.
    is_scheduled_copy: bool,
}

impl<'a> Hunter<'a> {
    pub fn new(
        args: &'a Args,
        prey: &'a Prey,
        limit: Duration,
        journal: &'a RefCell<Journal>,
        changes: Option<&'a Changes>,
    ) -> Result<Hunter<'a>> {
        let out = CommandOutcome {
            ledger: Ledger::default(),
            coverage: Vec::new(),
            schedules: 0,
            exhausted: false,
            alone: false,
            hung: false,
            looked_only: false,
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
            hunts_before: 0,
            out,
            runs: 0,
            processes: 0,
            alone: Vec::new(),
            changes,
            endings: Vec::new(),
            threads: 0,
            longest: Duration::ZERO,
            not_complete: None,
            plain_at_first: None,
            has_changed: false,
            doubted: Vec::new(),
            passing: Vec::new(),
            instrumented: false,
            first: None,
            suspected: Suspected::default(),
            whole: None,
            looked_for: Duration::ZERO,
            files: ScheduleFiles::begin(&args.schedules_to),
            is_scheduled_copy: false,
        };
        let before = journal.borrow().recall(&hunter.key());
        hunter.hunts_before = before.hunts;
        hunter.out.ledger.recall(before.targets);
        Ok(hunter)
    }

    /// The key under which verdicts are stored: the build and the words.
    fn key(&self) -> String {
        let words: Vec<String> = self.prey.words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        format!("{} {}", raddle_harness::program::build_id(&self.program.path), words.join(" "))
    }

    /// Hunts it from the first look to the end.
    pub fn hunt(mut self) -> Result<CommandOutcome> {
        self.begin()?;
        self.settle()
    }

    /// The first part: one look, in an ordinary run.
    pub fn begin(&mut self) -> Result<()> {
        let begun = Instant::now();
        launch::surround(self.prey.surroundings.clone());
        self.out.coverage.extend(self.prey.notes.iter().cloned());
        self.instrumented = self.look()?;
        self.check_sources();
        if !self.instrumented {
            self.say_not_instrumented();
        }
        self.out.alone = self.has_no_threads();
        if !self.out.alone && !self.is_over() {
            // Before any further run: the fewer there are, the less they have left behind.
            let limit = plan::share(Part::Look, self.left()).min(LONGEST_RUN);
            self.plain_at_first = self.run_plain(limit);
            self.look_under_happens_before(begun)?;
        }
        self.looked_for = begun.elapsed();
        Ok(())
    }

    /// Whether there is nothing to do after the look.
    pub fn is_alone(&self) -> bool {
        self.out.alone
    }

    /// How long the look took.
    pub fn looked_for(&self) -> Duration {
        self.looked_for
    }

    /// What is suspected and not settled yet.
    pub fn open(&self) -> Vec<&Finding> {
        self.out.ledger.queue().into_iter().map(|t| &t.finding).collect()
    }

    /// Gives it this much time from now on. Other tests may have changed what it finds, so that the
    /// look no longer shows how it usually ends.
    pub fn allow(&mut self, limit: Duration) {
        self.first = None;
        self.deadline = Instant::now() + limit;
        self.end = self.deadline + grace(limit);
        self.most_afterwards = limit / 8;
    }

    /// The other parts.
    pub fn settle(mut self) -> Result<CommandOutcome> {
        launch::surround(self.prey.surroundings.clone());
        let notes = Notes::quiet();
        match self.out.alone {
            true => self.say_why_alone(),
            false => self.schedule(self.instrumented, &notes)?,
        }
        self.settle_doubted(self.left());
        self.say_doubted();
        self.say_usual_end();
        let says_no_thread = |s: &String| s.contains("created no thread");
        self.out.coverage.extend(notes.sentences().into_iter().filter(|s| !says_no_thread(s)));
        Ok(self.finish())
    }

    /// Ends it after the look, as there is no time for more.
    pub fn stop(mut self) -> CommandOutcome {
        self.out.looked_only = true;
        self.out.ledger.tried("one ordinary run", &|_| true);
        self.finish()
    }

    fn finish(mut self) -> CommandOutcome {
        self.out.hung = self.out.schedules == 0 && !self.ended();
        if self.prey.name.is_some() {
            // In a suite, each sentence names the test. It need not repeat the program.
            let program = format!("`{}`", self.program.path.display());
            self.out.coverage.iter_mut().for_each(|s| *s = s.replace(&program, "it"));
        }
        self.files.remove_unused(&self.out.ledger);
        let targets = self.out.ledger.targets().to_vec();
        let verdicts = Verdicts { hunts: self.hunts_before + 1, targets };
        self.journal.borrow_mut().remember(&self.key(), &verdicts);
        self.out
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
        self.endings.iter().any(|e| *e != RunEnding::CutOff)
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
        self.args.seed + self.hunts_before
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
        let ended = matches!(self.endings[..], [RunEnding::Status(_)]);
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
            self.journal.borrow_mut().confirmed(self.prey, &self.out.ledger);
        }
    }

    fn confirm(&mut self, by: Detector, finding: Finding) {
        if self.out.ledger.confirm(by, finding) {
            self.journal.borrow_mut().confirmed(self.prey, &self.out.ledger);
        }
    }

    /// Takes in what a search or a campaign has found. A finding is confirmed if it was seen again
    /// and can be replayed.
    fn take(&mut self, by: Detector, findings: Vec<Finding>) {
        self.files.note(&findings);
        for finding in group::group(findings) {
            if raddle_finding::library::is_its_own(&finding) {
                continue;
            }
            let finding = self.named(finding);
            match (finding.confidence, &finding.schedule) {
                (Confidence::Confirmed, Some(_)) => {
                    let doubt = doubt(&finding).map(str::to_owned);
                    match doubt.or_else(|| self.may_be_leftover(by, &finding)) {
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
                            self.out.ledger.tried(&why, &|t| t.finding.id == id);
                        }
                    }
                }
                _ => {
                    let (id, doubt) = (raddle_finding::identity::id(&finding), doubt(&finding));
                    self.out.ledger.suspect(by, finding);
                    if let Some(why) = doubt {
                        self.out.ledger.tried(why, &|t| t.finding.id == id);
                    }
                }
            }
        }
    }

    /// How it ends without raddle. `None` if it cannot be started.
    fn run_plain(&self, limit: Duration) -> Option<RunEnding> {
        let args = detectors::explore(self.args, &self.prey.words, &[], self.seed());
        explore::run_plain(&self.recipe(&args), limit).ok()
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
        let has_status = |c: &raddle_hunt::Confirmed| c.finding.kind == Kind::ExitStatus;
        match first {
            RunEnding::Status(0) | RunEnding::CutOff => {}
            RunEnding::Status(status) if self.prey.skipped == Some(status) => {
                self.out.coverage.push(format!("it skipped itself in every ordinary run, by status {status}"))
            }
            RunEnding::Status(_) if self.out.ledger.confirmed().iter().any(has_status) => {}
            RunEnding::Status(status) => self.out.coverage.push(format!(
                "it ends with status {status} in every ordinary run, so that counts as its usual end"
            )),
            RunEnding::Signal(_) if self.out.ledger.confirmed().iter().any(has_failure) => {}
            RunEnding::Signal(signal) => self.crash_each_time(signal),
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
            Ok(RunEnding::Signal(_)) if !self.prey.notes.is_empty() => {
                self.out.coverage.push(format!("it is ended by {name} in every ordinary run, without its fixtures"));
            }
            Ok(RunEnding::Signal(plain)) if plain == signal && self.endings.len() > 1 => {
                let message = format!("the program is ended by {name} in every run, without any interleaving");
                let finding = self.named(Finding::new(Kind::Crash, Confidence::Confirmed, message));
                self.confirm(Detector::Run, finding);
            }
            Ok(RunEnding::Signal(plain)) if plain == signal => {
                self.out.coverage.push(format!("it was ended by {name} in the one run that there was time for"));
            }
            _ => self.out.coverage.push(format!(
                "it is ended by {name} when raddle is in it, and not without: nothing is known of it beyond that point"
            )),
        }
    }

    /// Says why there is nothing to interleave.
    fn say_why_alone(&mut self) {
        // A test of a suite gets no input there either.
        let may_want_input = self.prey.name.is_none() && launch::input_file().is_none();
        let input = if may_want_input { NO_INPUT } else { "" };
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
const SEEN_IN_A_COPY: &str = "a race in it stays open, as machine code does not say which accesses are atomic, and consequences were not \
    looked for";

const BUILD_IT: &str =
    "for more, build it with `raddle cc`, `raddle c++`, `raddle rustc`, `cargo raddle` or `raddle build`";

/// The note for a program that did nothing and had no input.
const NO_INPUT: &str = " (its standard input was empty: --stdin FILE gives it one)";

/// The note for a race that is not corroborated.
const SEEN_BY_ONE: &str = "a schedule in which the accesses are not ordered as far as the search can tell, and which no run under the race detector confirms";

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
        let journal = RefCell::new(Journal::open(&args));
        let prey = Prey { words: args.command.clone(), ..Prey::default() };
        let limit = Duration::from_secs(12);
        let mut hunter = Hunter::new(&args, &prey, limit, &journal, None).unwrap();
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
        let journal = RefCell::new(Journal::open(&args));
        let prey = Prey { words: args.command.clone(), ..Prey::default() };
        let limit = Duration::from_secs(800);
        let mut hunter = Hunter::new(&args, &prey, limit, &journal, None).unwrap();
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
