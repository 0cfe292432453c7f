//! Explores each test of a test program by itself.
//!
//! A program made with Rust's libtest, GoogleTest and the like runs many tests in one process.
//! Exploring it as a whole would interleave the threads of different tests, and take the snapshot
//! before the first test. So raddle asks the program for its tests and makes one search per test,
//! with a snapshot at the test's first thread and its share of the time. All searches go into one
//! report.
//!
//! Names in the program's file tell its framework. A command with arguments is explored as it is:
//! the user has chosen. `cargo raddle explore` explores the tests of every test program that cargo
//! builds.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use raddle_finding::{Finding, Report, Stat};
use raddle_wire::explore::flag;

use super::args::Args;
use crate::report::args::ReportFormat;
use crate::wrap::test_programs::{self, TestProgram};
use raddle_harness::cases;
use raddle_harness::crew::Notes;
use raddle_harness::install::Runtime;
use raddle_harness::interrupt;
use raddle_harness::launch::{self, Surroundings};
use raddle_harness::say::{count, say};
use raddle_harness::target;
use raddle_harness::worker::{Recipe, Trouble};

/// A test that is explored by itself.
pub struct Test {
    name: String,
    recipe: Recipe,
    /// Where it runs.
    surroundings: Surroundings,
}

/// What is explored test by test.
#[derive(Default)]
pub struct Suite {
    tests: Vec<Test>,
    /// The names of tests that are left out because their source says so.
    ignored: Vec<String>,
}

/// The tests of the program, if it is to be explored test by test.
pub fn of(args: &Args, recipe: &Recipe) -> Option<Suite> {
    if args.search.whole || args.search.resume || args.command.len() > 1 {
        return None;
    }
    let test = |case: cases::Case| Test {
        recipe: case.recipe(recipe),
        surroundings: Surroundings::default(),
        name: case.name,
    };
    let listed = cases::list(recipe, args.search.include_ignored).filter(|tests| !tests.are_none())?;
    Some(Suite { tests: listed.cases.into_iter().map(test).collect(), ignored: listed.ignored })
}

/// The tests of a crate or workspace. The words of `args` are cargo's.
pub fn of_cargo(args: &Args, runtime: &Runtime) -> Result<Suite> {
    anyhow::ensure!(
        !args.search.resume && !args.search.whole,
        "`cargo raddle explore` makes one search per test: --resume and --whole are for one program, \
         with `raddle explore`"
    );
    let programs = test_programs::build(&args.command)?;
    let mut all = Suite::default();
    for program in &programs {
        launch::surround(program.surroundings.clone());
        let found = of_program(args, program, runtime);
        launch::surround(Surroundings::default());
        let found = found?;
        let file = program_name(Path::new(&program.path));
        let name = |test: String| if programs.len() == 1 { test } else { format!("{file}: {test}") };
        all.tests.extend(found.tests.into_iter().map(|test| Test { name: name(test.name), ..test }));
        all.ignored.extend(found.ignored.into_iter().map(name));
    }
    let is_none = all.tests.is_empty() && all.ignored.is_empty();
    anyhow::ensure!(!is_none, "none of the test programs that cargo built has a test");
    Ok(all)
}

/// The tests of one test program of cargo's. Cargo builds one for each library and binary, even
/// without tests. A program that does not list its tests is one test.
fn of_program(args: &Args, program: &TestProgram, runtime: &Runtime) -> Result<Suite> {
    let words = vec![program.path.clone()];
    let found = target::find(&words)?;
    let recipe = Recipe { words, ..super::recipe(args, found, runtime.clone()) };
    let test =
        |name: String, recipe: Recipe| Test { name, recipe, surroundings: program.surroundings.clone() };
    Ok(match cases::list(&recipe, args.search.include_ignored) {
        Some(listed) => {
            let alone = |case: cases::Case| test(case.name.clone(), case.recipe(&recipe));
            Suite { tests: listed.cases.into_iter().map(alone).collect(), ignored: listed.ignored }
        }
        None => Suite { tests: vec![test("the whole program".into(), recipe)], ignored: Vec::new() },
    })
}

/// The name of a test program without the hash that cargo appends.
fn program_name(path: &Path) -> String {
    let name = path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    let is_hash = |end: &str| end.len() == 16 && end.bytes().all(|b| b.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((stem, end)) if is_hash(end) => stem.to_owned(),
        _ => name,
    }
}

/// [`flag`]s for a command with arguments. If these select one test of libtest, the harness is not
/// part of the program either.
pub fn flags(args: &Args, recipe: &Recipe) -> u32 {
    let chooses = !args.search.whole && args.command.len() > 1;
    if chooses && cases::is_one_of_libtest(recipe, &args.command[1..]) { flag::LIBTEST } else { 0 }
}

/// The result for a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coverage {
    ToTheEnd,
    InPart,
    WithoutThreads,
    Failed,
    NotReached,
    Ignored,
}

/// The results of the tests, by name.
#[derive(Default)]
pub struct Covered(Vec<(String, Coverage)>);

impl Covered {
    fn names(&self, of: Coverage) -> Vec<&str> {
        self.0.iter().filter(|(_, c)| *c == of).map(|(name, _)| name.as_str()).collect()
    }

    /// The number of tests, without those that are ignored.
    fn number(&self) -> usize {
        self.0.len() - self.names(Coverage::Ignored).len()
    }

    /// Whether no test had interleavings to explore.
    pub fn is_nothing(&self) -> bool {
        self.names(Coverage::ToTheEnd).is_empty() && self.names(Coverage::InPart).is_empty()
    }

    /// The last line of the report: `5 tests: 1 explored to the end, 1 in part, 2 without threads,
    /// 1 not reached (a::b)`.
    pub fn in_words(&self) -> String {
        const NAMES: usize = 8;
        let part = |of, words: &str, named: bool| {
            let names = self.names(of);
            let (first, more) = names.split_at(names.len().min(NAMES));
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            let list = if named { format!(" ({}{more})", first.join(", ")) } else { String::new() };
            (!names.is_empty()).then(|| format!("{} {words}{list}", names.len()))
        };
        let parts = [
            part(Coverage::ToTheEnd, "explored to the end", false),
            part(Coverage::InPart, "explored in part", true),
            part(Coverage::WithoutThreads, "without threads", false),
            part(Coverage::Failed, "could not be explored", true),
            part(Coverage::NotReached, "not reached: --seconds allows more time", true),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        let ignored = part(Coverage::Ignored, "ignored, which --include-ignored takes in", true);
        let ignored = ignored.map_or(String::new(), |part| format!("; {part}"));
        format!("{}{parts}{ignored}", count(self.number() as u64, "test", "tests"))
    }

    fn add_stats(&self, stats: &mut std::collections::BTreeMap<String, Stat>) {
        for (key, of) in [
            ("tests_to_the_end", Coverage::ToTheEnd),
            ("tests_in_part", Coverage::InPart),
            ("tests_without_threads", Coverage::WithoutThreads),
            ("tests_could_not", Coverage::Failed),
            ("tests_not_reached", Coverage::NotReached),
            ("tests_ignored", Coverage::Ignored),
        ] {
            let names = self.names(of);
            stats.insert(key.into(), Stat::from(names.len() as u64));
            stats.insert(format!("{key}_names"), Stat::Text(names.join("\n")));
        }
        stats.insert("tests".into(), Stat::from(self.number() as u64));
    }
}

/// Explores each test and merges the reports. A first pass, in at most a third of the time, finds
/// the tests that have threads; these get the rest of the time.
pub fn explore_each(args: &Args, suite: Suite, notes: &Notes) -> Result<(Report, Covered)> {
    let begun = Instant::now();
    let Suite { tests, ignored } = suite;
    let limit = args.search.limit();
    let left = || limit - begun.elapsed().as_secs_f64();
    let is_over = || interrupt::came() || left() <= 0.0;
    let mut covered = Covered(tests.iter().map(|t| (t.name.clone(), Coverage::NotReached)).collect());
    let mut with_threads = Vec::new();
    for (i, test) in tests.iter().enumerate() {
        let soon = || is_over() || left() < limit * 2.0 / 3.0;
        launch::surround(test.surroundings.clone());
        match (!soon()).then(|| starts_no_thread(&test.recipe, &soon)).transpose()? {
            Some(true) => covered.0[i].1 = Coverage::WithoutThreads,
            _ => with_threads.push(i),
        }
    }
    let mut all: Option<Report> = None;
    for (n, i) in with_threads.iter().enumerate() {
        let test = &tests[*i];
        if is_over() {
            break;
        }
        if args.report.format == ReportFormat::Text {
            say!("test {} of {}: {}", i + 1, tests.len(), test.name);
        }
        let share = left() / (with_threads.len() - n) as f64;
        launch::surround(test.surroundings.clone());
        match super::explore(args, test.recipe.clone(), share, notes) {
            Ok(report) => {
                let whole = report.stats.get("exhausted") == Some(&Stat::Bool(true));
                let alone = report.stats.get("threads_max") == Some(&Stat::from(0u64));
                covered.0[*i].1 = match (alone, whole) {
                    (true, _) => Coverage::WithoutThreads,
                    (_, true) => Coverage::ToTheEnd,
                    _ => Coverage::InPart,
                };
                all = Some(add(all, report, &test.name));
            }
            // One test that cannot be explored must not keep the others from being explored.
            Err(error) => {
                covered.0[*i].1 = Coverage::Failed;
                notes.say(&format!("test {}: {error:#}", test.name));
            }
        }
    }
    launch::surround(Surroundings::default());
    let failed = covered.names(Coverage::Failed).len();
    anyhow::ensure!(
        all.is_some() || failed == 0 || failed < with_threads.len(),
        "none of the {} could be explored",
        count(tests.len() as u64, "test", "tests")
    );
    let nothing_to_do = all.is_none();
    let mut all = all.unwrap_or_else(|| Report::new("explore", Vec::new()));
    all.target = args.command_line();
    // What is ignored runs in no test run either, so that it does not count for completeness.
    let whole = covered.0.iter().all(|(_, c)| matches!(c, Coverage::ToTheEnd | Coverage::WithoutThreads));
    all.stats.insert("exhausted".into(), Stat::Bool(whole));
    covered.0.extend(ignored.into_iter().map(|name| (name, Coverage::Ignored)));
    let alone = covered.names(Coverage::WithoutThreads).len() as i64;
    match all.stats.get_mut("schedules") {
        Some(Stat::Int(n)) if !nothing_to_do => *n += alone,
        _ => drop(all.stats.insert("schedules".into(), Stat::Int(alone))),
    }
    covered.add_stats(&mut all.stats);
    all.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    Ok((all, covered))
}

/// Runs the test to its first thread, or to its end if it has none.
fn starts_no_thread(recipe: &Recipe, is_over: &(dyn Fn() -> bool + Sync)) -> Result<bool> {
    Ok(match recipe.start(is_over)? {
        Err(trouble) => matches!(trouble, Trouble::NoThreads(_)),
        Ok(worker) => {
            worker.stop();
            false
        }
    })
}

/// Merges one test's report into those before it.
fn add(all: Option<Report>, mut report: Report, test: &str) -> Report {
    report.findings.iter_mut().for_each(|f| tell_of(f, test));
    let Some(mut all) = all else { return report };
    all.findings.append(&mut report.findings);
    for (key, new) in report.stats {
        let most = ["threads_max", "steps_max", "preemptions_max"].contains(&key.as_str());
        match (all.stats.get_mut(&key), new) {
            (Some(Stat::Int(old)), Stat::Int(new)) if most => *old = (*old).max(new),
            // The number of the first failing schedule counts within its test.
            (Some(Stat::Int(_)), Stat::Int(_)) if ["bound", "first_failure"].contains(&key.as_str()) => {}
            (Some(Stat::Int(old)), Stat::Int(new)) => *old += new,
            (Some(Stat::Float(old)), Stat::Float(new)) => *old += new,
            (Some(Stat::Bool(old)), Stat::Bool(new)) if key == "exhausted" => *old &= new,
            (Some(Stat::Bool(old)), Stat::Bool(new)) => *old |= new,
            (Some(_), _) => {}
            (None, new) => drop(all.stats.insert(key, new)),
        }
    }
    all
}

/// Adds the name of the test to a finding. A failure without a function is identified by its test:
/// the same status in two tests is two failures.
fn tell_of(finding: &mut Finding, test: &str) {
    finding.notes.insert(0, format!("in the test `{test}`"));
    let frames = finding.accesses.iter_mut().flat_map(|a| &mut a.stack);
    let mut any = false;
    for frame in frames {
        any = true;
        if frame.function.is_none() && frame.module.is_none() {
            frame.function = Some(test.to_owned());
        }
    }
    if !any {
        finding.message = format!("the test `{test}` fails: {}", finding.message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_put_together() {
        let report = |schedules: u64, exhausted: bool| {
            let mut report = Report::new("explore", vec!["./t".into()]);
            report.stats.insert("schedules".into(), Stat::from(schedules));
            report.stats.insert("threads_max".into(), Stat::from(schedules));
            report.stats.insert("exhausted".into(), Stat::Bool(exhausted));
            report
        };
        let all = add(Some(add(None, report(3, true), "a")), report(5, false), "a");
        assert_eq!(all.stats["schedules"], Stat::from(8u64));
        assert_eq!(all.stats["threads_max"], Stat::from(5u64));
        assert_eq!(all.stats["exhausted"], Stat::Bool(false));
    }

    #[test]
    fn a_test_program_is_called_as_in_the_manifest() {
        let name = |path| program_name(Path::new(path));
        assert_eq!(name("/t/debug/deps/queue_test-0123456789abcdef"), "queue_test");
        assert_eq!(name("/t/debug/deps/two-part"), "two-part");
    }
}
