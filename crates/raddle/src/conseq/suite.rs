//! The campaign for a command that starts instrumented programs, such as `ctest`, `make check` or a
//! script.
//!
//! The command runs once as it would without raddle, and each of its instrumented processes records
//! how it was started. Each of these programs is then examined by itself, in its own folder, with
//! its own variables, for its share of the time. The results of the static analysis are cached by
//! build id, so a program that is started with several inputs is analysed once. There is one report
//! for all of them. A test program is likewise one campaign for all its tests, as `explore` finds
//! them (`explore::cases`).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use raddle_binary::{FileKind, inspect};
use raddle_finding::{Finding, Report, Stat, identity};
use raddle_wire::config::{Config, ConfigMode, flag};

use super::args::Args;
use super::campaign::{self, CampaignDeadlines};
use super::static_server::StaticServer;
use super::{LEFT_OUT, coverage, findings, not_instrumented};
use crate::report::args::ReportFormat;
use raddle_harness::cases::{self, Case};
use raddle_harness::collect::{self, Process};
use raddle_harness::crew::{Notes, in_words};
use raddle_harness::launch;
use raddle_harness::say::{count, say};
use raddle_harness::session_folder::SessionFolder;
use raddle_harness::target::{self, TargetError};
use raddle_harness::worker::{Recipe, apart, end};

/// Where libraries are searched. Raddle puts its own folder in front.
const LIBRARIES: &str = "LD_LIBRARY_PATH";
/// The share of the time that the command itself may take.
const COMMAND: f64 = 0.4;

/// The share of the time after which no part is examined. In the rest, what was found out about files
/// is written to disk, and the report is made.
const PARTS: f64 = 0.95;

/// How much more time a part must get to be examined once more. Much of a short time goes into
/// tracing.
const LONGER: f64 = 1.5;

/// A program that the command started.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StartedProgram {
    pub path: PathBuf,
    pub words: Vec<OsString>,
    pub folder: PathBuf,
    /// The variables that differ from raddle's own environment.
    pub environment: Vec<(String, String)>,
}

/// One program or test to examine by itself.
pub struct SuitePart {
    recipe: Recipe,
    /// Where its findings are: ``in `./a 1` ``.
    at: String,
    /// One test of a test program.
    is_test: bool,
}

/// The tests of a test program, to be examined one by one. `None`: it is not a test program or has
/// no tests to run, or the user has chosen what to run.
pub fn tests_of(args: &Args, recipe: &Recipe, notes: &Notes) -> Option<Vec<SuitePart>> {
    if args.whole || recipe.words.len() > 1 {
        return None;
    }
    let of = findings::words(recipe).join(" ");
    let part = |case: &Case| SuitePart {
        recipe: case.recipe(recipe),
        at: format!("in the test `{}` of `{of}`", case.name),
        is_test: true,
    };
    let tests = cases::list(recipe, args.include_ignored)?;
    if !tests.ignored.is_empty() {
        let what = count(tests.ignored.len() as u64, "test is", "tests are");
        notes.say(&format!("{what} ignored: --include-ignored takes them in"));
    }
    (!tests.cases.is_empty()).then(|| tests.cases.iter().map(part).collect())
}

/// Runs the command, and examines each program that it started.
pub fn run(args: &Args, halves: &StaticServer, recipe: &Recipe, notes: &Notes) -> Result<Report> {
    let begun = Instant::now();
    let started = started(recipe, args.seconds * COMMAND, notes)?;
    let recipes: Vec<Recipe> = started.into_iter().filter_map(|one| one.recipe(recipe, notes)).collect();
    let ran = begun.elapsed();
    if recipes.is_empty() {
        // A command found through PATH is a tool such as `make` or `ctest` that should start
        // something. Its own sites are of no interest.
        let tool = !recipe.words[0].as_bytes().contains(&b'/');
        let script = matches!(inspect(&recipe.program.path).map(|f| f.kind), Ok(FileKind::Script { .. }));
        return Err(match tool || script {
            true => TargetError::NothingInstrumented(recipe.program.path.display().to_string()).into(),
            false => not_instrumented(&recipe.program, halves.options()),
        });
    }
    let n = recipes.len();
    let program = |recipe: Recipe| {
        let at = format!("in `{}`", findings::words(&recipe).join(" "));
        vec![SuitePart { recipe, at, is_test: false }]
    };
    let parts =
        recipes.into_iter().flat_map(|r| tests_of(args, &r, notes).unwrap_or_else(|| program(r))).collect();
    let mut all = match each(args, halves, recipe, parts, (begun, Some(ran)), notes) {
        Err(error) if !raddle_harness::interrupt::came() => {
            let left = args.seconds - begun.elapsed().as_secs_f64();
            notes.say(&format!(
                "none of the programs that `{}` started could be looked at by itself: the command is looked at as a whole, with all that it \
                 starts",
                findings::words(recipe).join(" ")
            ));
            let whole =
                campaign::run_whole(args, halves, recipe, CampaignDeadlines::new(left.max(1.0)), notes);
            whole.map_err(|e| e.context(format!("{error:#}")))?
        }
        made => made?,
    };
    all.stats.insert("programs".into(), Stat::from(n as u64));
    Ok(all)
}

/// After so many parts in a row that were put off and come to no end again, the others are left out.
/// Their time goes to parts whose suspects can be tested.
const IN_VAIN: usize = 4;

/// Examines each part with an equal share of the time left since `begun`. A part that comes to no
/// end in its usual traced runs is put off. If the others have left time, up to half of it goes to
/// those that were put off, and the rest to parts with open suspects. `command`: how long the command took
/// that started them. An error if no part could be examined.
pub fn each(
    args: &Args,
    halves: &StaticServer,
    of: &Recipe,
    parts: Vec<SuitePart>,
    (begun, command): (Instant, Option<Duration>),
    notes: &Notes,
) -> Result<Report> {
    let mut all = Report::new("conseq", findings::words(of));
    coverage::add_empty_stats(&mut all, begun);
    let n = parts.len();
    let left = || args.seconds * PARTS - begun.elapsed().as_secs_f64();
    let examined = Mutex::new(Tally::default());
    let suite = Suite { args, halves, parts: &parts, command, notes, left: &left, tally: &examined };
    let begun_with = suite.look_at_each();
    if begun_with < n {
        notes.say(&format!(
            "{begun_with} of {n} programs or tests were looked at: give it more time with --seconds"
        ));
    }
    suite.go_on();
    let Tally { mut done, alone, left_out, last, .. } =
        examined.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|examined| examined.part);
    let n_done = done.len();
    for Examined { part, report, .. } in done {
        add(&mut all, report, &parts[part].at, parts[part].is_test);
    }
    let tests = parts.iter().filter(|p| p.is_test).count() as u64;
    if tests > 0 {
        all.stats.insert("tests".into(), Stat::from(tests));
    }
    if alone > 0 && tests > 0 {
        notes.say(&format!("{alone} of {n} tests create no thread: there is nothing to interleave in them"));
    }
    match (n_done, last) {
        (0, Some(error)) => {
            return Err(error.context("none of the programs that were started could be looked at by itself"));
        }
        (0, None) if alone > 0 => bail!("no thread was created: there is nothing to interleave"),
        _ => {}
    }
    if left_out > 0 {
        all.stats.insert(LEFT_OUT.into(), Stat::from(left_out));
        all.coverage.push(format!(
            "{left_out} of {n} programs could not be looked at by itself: it may need what the command sets up around it. Give raddle a command that \
             starts that program alone"
        ));
    }
    all.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    Ok(all)
}

/// A suite whose parts are examined, one after the other: tests share files, ports and whatever a
/// process has.
struct Suite<'a> {
    args: &'a Args,
    halves: &'a StaticServer,
    parts: &'a [SuitePart],
    command: Option<Duration>,
    notes: &'a Notes,
    /// The seconds that are left.
    left: &'a (dyn Fn() -> f64 + Sync),
    tally: &'a Mutex<Tally>,
}

/// What is known of the parts of a suite.
#[derive(Default)]
struct Tally {
    done: Vec<Examined>,
    /// Parts that came to no end, and the time that each took.
    put_off: Vec<(usize, f64)>,
    /// How many create no thread.
    alone: u64,
    left_out: u64,
    /// The last reason for that.
    last: Option<anyhow::Error>,
}

impl Suite<'_> {
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the numbers below `n` to `work` in turn, until it refuses one. Returns how many it took.
    fn in_turn(&self, n: usize, work: &dyn Fn(usize) -> bool) -> usize {
        (0..n).take_while(|i| work(*i)).count()
    }

    /// The share of one of so many parts in the time that is left.
    fn share(&self, left: f64, parts: usize) -> f64 {
        left / parts as f64
    }

    /// Examines each part once, and returns how many there was time for.
    fn look_at_each(&self) -> usize {
        let n = self.parts.len();
        self.in_turn(n, &|i| {
            let has_time = !raddle_harness::interrupt::came() && (self.left)() > 0.0;
            if has_time {
                self.look_at(i, self.share((self.left)(), n - i), n > 1);
            }
            has_time
        })
    }

    /// Examines a part, and returns whether that was possible. `is_first`: one that comes to no end
    /// is put off.
    fn look_at(&self, i: usize, seconds: f64, is_first: bool) -> bool {
        let (part, n) = (&self.parts[i], self.parts.len());
        self.announce(part, &format!("{} of {n}", i + 1));
        let budget = CampaignDeadlines::new(seconds).within(self.command);
        let budget = if is_first { budget.brief() } else { budget };
        let begun = Instant::now();
        match campaign::run(self.args, self.halves, &part.recipe, budget, self.notes) {
            Ok(report) => {
                self.tally().done.push(Examined { part: i, seconds, report });
                return true;
            }
            Err(error) if campaign::is_alone(&error) && (part.is_test || campaign::ended_well(&error)) => {
                self.tally().alone += 1;
                if !part.is_test {
                    self.notes.say(&format!("{error:#}"));
                }
            }
            Err(error) if is_first && campaign::is_endless(&error) => {
                self.tally().put_off.push((i, begun.elapsed().as_secs_f64()));
            }
            Err(error) => self.leave_out(i, error),
        }
        false
    }

    /// One part that cannot be examined must not keep the others from being examined. A program
    /// that ends before its first thread with a failing status may need what the command sets up
    /// around it.
    fn leave_out(&self, i: usize, error: anyhow::Error) {
        self.notes.say(&format!("{}: {error:#}", self.parts[i].at));
        let mut tally = self.tally();
        tally.left_out += 1;
        tally.last = Some(error);
    }

    fn announce(&self, part: &SuitePart, how: &str) {
        if part.is_test && self.args.report.format == ReportFormat::Text {
            say!("{how}, {}", part.at);
        }
    }

    /// Uses the time that is left after each part was looked at once: at most half of it for parts
    /// that were put off, and the rest for those with open suspects.
    fn go_on(&self) {
        let kept = (self.left)() / 2.0;
        let mut put_off = std::mem::take(&mut self.tally().put_off);
        put_off.sort_unstable_by_key(|(part, _)| *part);
        let in_vain = AtomicUsize::new(0);
        self.in_turn(put_off.len(), &|at| {
            let (i, had) = put_off[at];
            let left = (self.left)() - kept;
            // Longer executions take longer. It is better to come to the end of a few parts than of
            // none.
            let seconds = self.share(left, put_off.len() - at).max(LONGER * had).min(left);
            let is_hopeless = in_vain.load(Relaxed) >= IN_VAIN;
            if seconds < had || is_hopeless || raddle_harness::interrupt::came() {
                self.leave_out(i, campaign::no_time_for(&self.parts[i].recipe));
            } else if self.look_at(i, seconds, false) {
                in_vain.store(0, Relaxed);
            } else {
                in_vain.fetch_add(1, Relaxed);
            }
            true
        });
        let mut open: Vec<(i64, usize, f64)> =
            self.tally().done.iter().map(|e| (e.open(), e.part, e.seconds)).filter(|e| e.0 > 0).collect();
        // If there is not enough time for all, it goes to those with most to settle.
        open.sort_unstable_by_key(|(open, part, _)| (std::cmp::Reverse(*open), *part));
        self.in_turn(open.len(), &|at| {
            let (_, i, had) = open[at];
            if let Some(seconds) = once_more((self.left)(), had, open.len() - at)
                && !raddle_harness::interrupt::came()
            {
                let part = &self.parts[i];
                self.announce(part, "again, with the time that is left");
                let budget = CampaignDeadlines::new(seconds).within(self.command);
                if let Ok(report) = campaign::run(self.args, self.halves, &part.recipe, budget, self.notes)
                    && let Some(examined) = self.tally().done.iter_mut().find(|e| e.part == i)
                {
                    examined.improve(report);
                }
            }
            true
        });
    }
}

/// The share of one of so many parts with open suspects in what is `left`, if that is worth it after
/// what the part `had`.
fn once_more(left: f64, had: f64, parts: usize) -> Option<f64> {
    let seconds = left / parts as f64;
    (seconds > LONGER * had).then_some(seconds)
}

/// A part and what was found in it.
struct Examined {
    part: usize,
    /// The time that it had.
    seconds: f64,
    report: Report,
}

impl Examined {
    fn open(&self) -> i64 {
        open_suspects(&self.report)
    }

    /// Takes a second report if that leaves fewer suspects open. What only one of them found is
    /// kept in either case.
    fn improve(&mut self, mut second: Report) {
        if open_suspects(&second) < self.open() {
            std::mem::swap(&mut self.report, &mut second);
        }
        let known: Vec<String> = self.report.findings.iter().map(identity::id).collect();
        self.report
            .findings
            .extend(second.findings.into_iter().filter(|f| !known.contains(&identity::id(f))));
    }
}

fn open_suspects(report: &Report) -> i64 {
    match report.stats.get("suspects_open") {
        Some(Stat::Int(n)) => *n,
        _ => 0,
    }
}

/// Runs the command for at most `seconds`. Returns each instrumented program that it started, in
/// the order in which they started.
///
/// If `notes` are quiet, the command's output is not shown.
pub fn started(recipe: &Recipe, seconds: f64, notes: &Notes) -> Result<Vec<StartedProgram>> {
    let folder = session()?;
    let mut command = launch::command(&recipe.program, &recipe.words, &recipe.runtime, folder.path());
    command.stdin(Stdio::null());
    if notes.is_quiet() {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    } else {
        // Standard output is for the report.
        let stderr = std::io::stderr().as_fd().try_clone_to_owned();
        command.stdout(File::from(stderr.context("cannot pass on standard error")?));
    }
    apart(&mut command);
    let mut child =
        command.spawn().with_context(|| format!("cannot start {}", recipe.program.path.display()))?;
    let limit = Instant::now() + Duration::from_secs_f64(seconds);
    let ended = loop {
        match child.try_wait().context("cannot wait for the command")? {
            Some(status) => break Some(status),
            None if Instant::now() >= limit || raddle_harness::interrupt::came() => {
                end(&mut child);
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    say_how_it_ended(recipe, ended, seconds, notes);
    let mut processes = collect::read(folder.path())?;
    processes.sort_by_key(|p| p.pid);
    let own: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let mut seen = Vec::new();
    let library = recipe.runtime.library_folder();
    for one in processes.iter().filter_map(|p| StartedProgram::of(p, &own, &library)) {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    Ok(seen)
}

fn session() -> Result<SessionFolder> {
    let folder = SessionFolder::new()?;
    folder.write_config(&Config::new(ConfigMode::Explore, 0, flag::COMMANDS))?;
    Ok(folder)
}

fn say_how_it_ended(recipe: &Recipe, ended: Option<ExitStatus>, seconds: f64, notes: &Notes) {
    let name = recipe.program.path.display();
    match ended {
        Some(status) if status.success() => {}
        Some(status) => notes.say(&format!(
            "`{name}` ended with {} when it was run as it is: what fails without raddle's doing is no correct run to start from",
            in_words(status)
        )),
        None => notes.say(&format!(
            "`{name}` did not end in {seconds:.0} s, and was ended: what it had started by then is looked at; --seconds gives it more"
        )),
    }
}

impl StartedProgram {
    /// `library`: the folder that raddle has put in front of the library path.
    fn of(process: &Process, own: &BTreeMap<OsString, OsString>, library: &Path) -> Option<StartedProgram> {
        let command = process.command.as_ref().filter(|c| !c.words.is_empty())?;
        let differs = |(name, value): &(String, String)| {
            let raddles = ["RADDLE_SESSION", "LD_PRELOAD", "PWD", "OLDPWD", "SHLVL", "_"];
            !raddles.contains(&name.as_str())
                && own.get(OsStr::new(name)).is_none_or(|v| v != OsStr::new(value))
        };
        let pairs = command.environment.iter().filter_map(|pair| {
            let (name, value) = pair.to_str()?.split_once('=')?;
            let mut value = value.to_owned();
            if name == LIBRARIES {
                let folders = value.split(':').filter(|f| !f.is_empty() && Path::new(f) != library);
                value = folders.collect::<Vec<_>>().join(":");
            }
            (name != LIBRARIES || !value.is_empty()).then(|| (name.to_owned(), value))
        });
        Some(StartedProgram {
            path: PathBuf::from(&process.executable),
            words: command.words.clone(),
            folder: command.folder.clone(),
            environment: pairs.filter(differs).collect(),
        })
    }

    /// `None`: it is gone, or belongs to another raddle.
    fn recipe(self, like: &Recipe, notes: &Notes) -> Option<Recipe> {
        let program = match target::find(&[self.path.clone().into_os_string()]) {
            Ok(program) => program,
            Err(error) => {
                notes.say(&error.to_string());
                return None;
            }
        };
        let folder = Some(self.folder).filter(|f| Path::is_dir(f));
        let (words, mut environment) = (self.words, self.environment);
        environment.retain(|(name, _)| name != LIBRARIES);
        program.has_runtime.then(|| Recipe { program, words, folder, environment, ..like.clone() })
    }
}

/// Merges the report of one part into those before it.
fn add(all: &mut Report, mut report: Report, at: &str, is_test: bool) {
    let tell = |f: &mut Finding| f.notes.insert(0, at.to_owned());
    report.findings.iter_mut().chain(&mut report.suspects).for_each(tell);
    all.findings.append(&mut report.findings);
    all.suspects.append(&mut report.suspects);
    all.coverage.append(&mut report.coverage);
    for (key, new) in report.stats {
        // The tests of a program share its sites.
        let common = is_test && ["sites", "critical_reads"].contains(&key.as_str());
        match (all.stats.get_mut(&key), new) {
            (Some(Stat::Int(old)), Stat::Int(new)) if common => *old = (*old).max(new),
            (Some(Stat::Int(old)), Stat::Int(new)) => *old += new,
            (Some(Stat::Float(old)), Stat::Float(new)) => *old += new,
            (Some(Stat::Bool(old)), Stat::Bool(new)) => *old &= new,
            (Some(_), _) => {}
            (None, new) => drop(all.stats.insert(key, new)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::Confidence;
    use raddle_harness::collect::CommandLine;

    #[test]
    fn of_the_environment_what_differs_is_kept() {
        let command = CommandLine {
            words: vec!["./t".into(), "-v".into()],
            environment: [
                "HOME=/h",
                "CASE=7",
                "RADDLE_SESSION=/s",
                "PWD=/elsewhere",
                "odd",
                "LD_LIBRARY_PATH=/raddle:/w/.libs",
            ]
            .map(OsString::from)
            .into(),
            folder: "/w".into(),
        };
        let process = Process { executable: "/w/t".into(), command: Some(command), ..Process::default() };
        let own = BTreeMap::from([(OsString::from("HOME"), OsString::from("/h"))]);
        let of = |process: &Process| StartedProgram::of(process, &own, Path::new("/raddle"));
        let started = of(&process).unwrap();
        let kept = [("CASE", "7"), (LIBRARIES, "/w/.libs")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(started.environment, kept);
        assert_eq!((started.path, started.folder), ("/w/t".into(), "/w".into()));
        assert_eq!(of(&Process::default()), None);
    }

    fn one(suspects: u64, exhausted: bool) -> Report {
        let mut report = Report::new("conseq", vec!["a".into()]);
        report.findings.push(Finding::new(raddle_finding::Kind::Assertion, Confidence::Confirmed, "x"));
        for key in ["suspects", "sites"] {
            report.stats.insert(key.into(), Stat::from(suspects));
        }
        report.stats.insert("exhausted".into(), Stat::Bool(exhausted));
        report
    }

    fn examined(part: usize, seconds: f64, open: u64) -> Examined {
        let mut report = one(open, false);
        report.stats.insert("suspects_open".into(), Stat::from(open));
        Examined { part, seconds, report }
    }

    #[test]
    fn time_that_others_leave_is_shared_by_those_with_open_suspects() {
        assert_eq!(once_more(20.0, 4.0, 2), Some(10.0));
        assert_eq!(once_more(20.0, 4.0, 1), Some(20.0));
        assert_eq!(once_more(6.0, 4.0, 1), None, "it had almost as much before");
    }

    #[test]
    fn what_either_examination_found_is_kept() {
        use raddle_finding::Kind::{Assertion, Deadlock};
        let mut first = examined(0, 4.0, 3);
        let mut worse = examined(0, 4.0, 9).report;
        worse.findings[0].kind = Deadlock;
        first.improve(worse);
        assert_eq!((first.open(), first.report.findings.len()), (3, 2));
        first.improve(examined(0, 9.0, 1).report);
        let kinds: Vec<_> = first.report.findings.iter().map(|f| f.kind).collect();
        assert_eq!((first.open(), kinds), (1, vec![Assertion, Deadlock]));
    }

    #[test]
    fn reports_are_put_together() {
        let mut all = Report::new("conseq", vec!["ctest".into()]);
        add(&mut all, one(2, true), "in `./a 1`", false);
        add(&mut all, one(3, false), "in `./a 2`", false);
        assert_eq!((&all.stats["suspects"], &all.stats["sites"]), (&Stat::from(5u64), &Stat::from(5u64)));
        assert_eq!(all.stats["exhausted"], Stat::Bool(false));
        assert_eq!(all.findings[1].notes, ["in `./a 2`"]);
        let mut all = Report::new("conseq", vec!["./t".into()]);
        add(&mut all, one(2, true), "in the test `a` of `./t`", true);
        add(&mut all, one(3, true), "in the test `b` of `./t`", true);
        assert_eq!((&all.stats["suspects"], &all.stats["sites"]), (&Stat::from(5u64), &Stat::from(3u64)));
    }
}
