//! The tests of a test program, of a CMake or Meson build folder, or of a command such as
//! `make check`. Each is hunted by itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::args::Args;
use super::detectors;
use super::prey::Prey;
use crate::conseq::suite::{StartedProgram, started};
use crate::explore;
use raddle_binary::{FileKind, inspect};
use raddle_harness::cases;
use raddle_harness::crew::Notes;
use raddle_harness::install::Runtime;
use raddle_harness::launch::{self, Surroundings};
use raddle_harness::say::count;
use raddle_harness::target;

/// The share of the time that a command may take to show which tests it starts.
const COMMAND: f64 = 0.25;

/// What is hunted, one by one.
#[derive(Default)]
pub struct Suite {
    pub preys: Vec<Prey>,
    /// The number of tests that are left out because their source says so.
    pub ignored: usize,
}

impl Suite {
    pub fn is_empty(&self) -> bool {
        self.preys.is_empty() && self.ignored == 0
    }

    pub fn ignored_in_words(&self) -> Option<String> {
        let what = || count(self.ignored as u64, "test is", "tests are");
        (self.ignored > 0).then(|| format!("{} ignored: --include-ignored takes them in", what()))
    }
}

/// Replaces each test program by its tests.
pub fn split(args: &Args, preys: Vec<Prey>) -> Suite {
    let mut all = Suite::default();
    for prey in preys {
        let found = tests_of(args, &prey).unwrap_or_else(|| Suite { preys: vec![prey], ..Suite::default() });
        all.preys.extend(found.preys);
        all.ignored += found.ignored;
    }
    all
}

/// The tests of a test program, such as one made with libtest or GoogleTest. `None`: it is not a
/// test program, or the user has chosen what to run.
fn tests_of(args: &Args, whole: &Prey) -> Option<Suite> {
    if args.whole || whole.words.len() > 1 {
        return None;
    }
    launch::surround(whole.surroundings.clone());
    let tests = listed_by(args, whole);
    launch::surround(Surroundings::default());
    tests
}

fn listed_by(args: &Args, whole: &Prey) -> Option<Suite> {
    let program = target::find(&whole.words).ok().filter(|p| p.has_runtime)?;
    let recipe = explore::recipe(
        &detectors::explore(args, &whole.words, &[], args.seed),
        program,
        Runtime::open().ok()?,
    );
    // Cargo builds a test program for each library and binary, even without tests.
    let tests = cases::list(&recipe, args.include_ignored).filter(|tests| args.cargo || !tests.are_none())?;
    let name = |case: &cases::Case| match &whole.name {
        Some(program) => format!("{program}: {}", case.name),
        None => case.name.clone(),
    };
    let prey = |case: &cases::Case| Prey {
        name: Some(name(case)),
        words: case.recipe(&recipe).words,
        surroundings: whole.surroundings.clone(),
        notes: whole.notes.clone(),
        skipped: whole.skipped,
        ..Prey::default()
    };
    Some(Suite { preys: tests.cases.iter().map(prey).collect(), ignored: tests.ignored.len() })
}

/// The instrumented programs that a command such as `make check` or a script starts, found by
/// running it once. The command itself comes last, for programs that cannot be hunted by
/// themselves. `None`: the command is a program to hunt directly, or it starts none.
pub fn started_by(args: &Args, whole: &Prey) -> Result<Option<Suite>> {
    if args.whole {
        return Ok(None);
    }
    let program = target::find(&whole.words)?;
    // A command found through the PATH is a tool.
    let is_tool = !whole.words[0].as_bytes().contains(&b'/');
    let is_script = matches!(inspect(&program.path).map(|f| f.kind), Ok(FileKind::Script { .. }));
    if program.has_runtime || !is_tool && !is_script {
        return Ok(None);
    }
    let options = detectors::explore(args, &whole.words, &[], args.seed);
    let recipe = explore::recipe(&options, program, Runtime::open()?);
    let seconds = args.limit().mul_f64(COMMAND).min(Duration::from_secs(600)).as_secs_f64();
    let mut started = started(&recipe, seconds, &Notes::quiet())?;
    started.retain(|one| !lists_tests(one));
    if started.is_empty() {
        return Ok(None);
    }
    let here = std::env::current_dir().unwrap_or_default();
    let mut suite = split(args, started.into_iter().map(|one| alone(one, &here)).collect());
    let name = words_in_text(&whole.words);
    suite.preys.push(Prey { name: Some(name), is_fallback: true, ..whole.clone() });
    Ok(Some(suite))
}

/// Whether a test runner such as nextest has only asked the program for its tests.
fn lists_tests(started: &StartedProgram) -> bool {
    started.words.get(1..4).is_some_and(|w| w == ["--list", "--format", "terse"])
}

/// A program that a command has started, as a target of its own with a name as short as possible.
fn alone(started: StartedProgram, here: &Path) -> Prey {
    let mut words = started.words;
    words[0] = started.path.into_os_string();
    let mut shown = words.clone();
    if let Ok(below) = Path::new(&words[0]).strip_prefix(here) {
        shown[0] = below.into();
    }
    let surroundings = Surroundings {
        folder: Some(started.folder),
        environment: started.environment,
        ..Surroundings::default()
    };
    Prey { name: Some(words_in_text(&shown)), words, surroundings, ..Prey::default() }
}

fn words_in_text(words: &[OsString]) -> String {
    words.iter().map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// One of several equal parts of a suite. `--shard 3/8` is every eighth test, beginning with the
/// third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let (number, of) = text.split_once('/').ok_or("two numbers, as in 3/8")?;
        let parse = |text: &str| text.parse::<usize>().map_err(|_| "two numbers, as in 3/8");
        let shard = Shard { number: parse(number)?, of: parse(of)? };
        match shard.number >= 1 && shard.number <= shard.of {
            true => Ok(shard),
            false => Err("a part from 1 to the number of parts, as in 3/8".into()),
        }
    }
}

/// The tests of a shard; all tests if there is none.
pub fn part(preys: Vec<Prey>, shard: Option<Shard>) -> Vec<Prey> {
    let Some(Shard { number, of }) = shard else { return preys };
    preys.into_iter().skip(number - 1).step_by(of).collect()
}

/// The parts of `ctest --show-only=json-v1` that are needed.
#[derive(Deserialize)]
struct Listing {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    name: String,
    /// Absent if the program was not built.
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    value: serde_json::Value,
}

impl Test {
    fn property(&self, name: &str) -> Option<&serde_json::Value> {
        self.properties.iter().find(|p| p.name == name).map(|p| &p.value)
    }

    fn is_disabled(&self) -> bool {
        self.property("DISABLED").and_then(serde_json::Value::as_bool).unwrap_or(false)
    }

    /// The elements of a property that is a list.
    fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.property(name).and_then(serde_json::Value::as_array);
        values.into_iter().flatten().filter_map(serde_json::Value::as_str)
    }

    fn surroundings(&self) -> Surroundings {
        let folder = self.property("WORKING_DIRECTORY").and_then(serde_json::Value::as_str);
        let pairs = self.list("ENVIRONMENT").filter_map(|v| v.split_once('='));
        let mut environment: Vec<(String, String)> =
            pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut unset = Vec::new();
        // `reset` undoes all earlier changes and restores the value of `ENVIRONMENT`.
        let changes: Vec<&str> = self.list("ENVIRONMENT_MODIFICATION").collect();
        let is_reset = |name: &str, change: &&str| {
            change.strip_prefix(name).is_some_and(|rest| rest.starts_with("=reset:"))
        };
        for (i, change) in changes.iter().enumerate() {
            let name = change.split_once('=').map_or("", |(name, _)| name);
            if changes[i..].iter().any(|later| is_reset(name, later)) {
                continue;
            }
            modify((&mut environment, &mut unset), change, &|name| std::env::var(name).ok());
        }
        Surroundings { folder: folder.map(PathBuf::from), environment, unset }
    }

    /// What CTest would do for the test and a hunt does not.
    fn notes(&self) -> Vec<String> {
        let of = |fixture: &str| format!("CTest sets up the fixture `{fixture}` for it, and a hunt does not");
        self.list("FIXTURES_REQUIRED").map(of).collect()
    }

    fn skipped(&self) -> Option<i32> {
        self.property("SKIP_RETURN_CODE")?.as_i64()?.try_into().ok()
    }
}

/// Applies one element of `ENVIRONMENT_MODIFICATION`, such as `PATH=path_list_prepend:/x`.
fn modify(
    (environment, unset): (&mut Vec<(String, String)>, &mut Vec<String>),
    change: &str,
    usual: &dyn Fn(&str) -> Option<String>,
) {
    let Some((name, operation)) = change.split_once('=') else { return };
    let Some((operation, value)) = operation.split_once(':') else { return };
    let own = environment.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.clone());
    let is_unset = unset.iter().any(|n| n == name);
    let before = own.or_else(|| usual(name).filter(|_| !is_unset)).unwrap_or_default();
    let join = |first: &str, between: &str, second: &str| match first.is_empty() || second.is_empty() {
        true => format!("{first}{second}"),
        false => format!("{first}{between}{second}"),
    };
    let now = match operation {
        "set" => value.to_owned(),
        "string_append" => join(&before, "", value),
        "string_prepend" => join(value, "", &before),
        "path_list_append" => join(&before, ":", value),
        "path_list_prepend" => join(value, ":", &before),
        "cmake_list_append" => join(&before, ";", value),
        "cmake_list_prepend" => join(value, ";", &before),
        "unset" => {
            environment.retain(|(n, _)| n != name);
            unset.push(name.to_owned());
            return;
        }
        _ => return,
    };
    unset.retain(|n| n != name);
    environment.retain(|(n, _)| n != name);
    environment.push((name.to_owned(), now));
}

/// Every test that CTest knows in a build folder.
pub fn of_ctest(folder: &Path) -> Result<Vec<Prey>> {
    let out = Command::new("ctest")
        .args(["--show-only=json-v1", "--test-dir"])
        .arg(folder)
        .output()
        .context("cannot start ctest, which lists the tests")?;
    anyhow::ensure!(out.status.success(), "ctest knows no tests in {}", folder.display());
    let preys = listed(&out.stdout)
        .with_context(|| format!("cannot read what ctest lists for {}", folder.display()))?;
    anyhow::ensure!(!preys.is_empty(), "there is no test in {}", folder.display());
    Ok(preys)
}

fn listed(json: &[u8]) -> Result<Vec<Prey>> {
    let listing: Listing = serde_json::from_slice(json)?;
    let tests = listing.tests.into_iter().filter(|t| !t.command.is_empty() && !t.is_disabled());
    let prey = |t: Test| Prey {
        surroundings: t.surroundings(),
        notes: t.notes(),
        skipped: t.skipped(),
        name: Some(t.name),
        words: t.command.into_iter().map(OsString::from).collect(),
        ..Prey::default()
    };
    Ok(tests.map(prey).collect())
}

/// The status by which tests report to Meson that they were skipped.
const MESON_SKIPPED: i32 = 77;

/// The parts of a test in `meson introspect --tests` that are needed.
#[derive(Deserialize)]
struct MesonTest {
    name: String,
    cmd: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    workdir: Option<PathBuf>,
}

/// Every test that Meson knows in a build folder.
pub fn of_meson(folder: &Path) -> Result<Vec<Prey>> {
    let out = Command::new("meson")
        .args(["introspect", "--tests"])
        .arg(folder)
        .output()
        .context("cannot start meson, which lists the tests")?;
    anyhow::ensure!(out.status.success(), "meson knows no tests in {}", folder.display());
    let preys = listed_by_meson(&out.stdout, folder)
        .with_context(|| format!("cannot read what meson lists for {}", folder.display()))?;
    anyhow::ensure!(!preys.is_empty(), "there is no test in {}", folder.display());
    Ok(preys)
}

fn listed_by_meson(json: &[u8], build: &Path) -> Result<Vec<Prey>> {
    let tests: Vec<MesonTest> = serde_json::from_slice(json)?;
    let build = std::path::absolute(build)?;
    let prey = |t: MesonTest| Prey {
        name: Some(t.name),
        words: t.cmd.into_iter().map(OsString::from).collect(),
        surroundings: Surroundings {
            folder: Some(t.workdir.unwrap_or_else(|| build.clone())),
            environment: t.env.into_iter().collect(),
            ..Surroundings::default()
        },
        skipped: Some(MESON_SKIPPED),
        ..Prey::default()
    };
    Ok(tests.into_iter().filter(|t| !t.cmd.is_empty()).map(prey).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_ctest_have_a_name_and_a_command() {
        let json = br#"{"kind":"ctestInfo","version":{"major":1,"minor":0},
            "tests":[{"name":"a","command":["/b/a","-x"],"properties":[
                {"name":"ENVIRONMENT","value":["CASE=7"]},{"name":"WORKING_DIRECTORY","value":"/w"}]},
            {"name":"off","command":["/b/a"],"properties":[{"name":"DISABLED","value":true}]},
            {"name":"not built"}]}"#;
        let preys = listed(json).unwrap();
        assert_eq!(preys.len(), 1);
        assert_eq!((preys[0].name.as_deref(), preys[0].words.len()), (Some("a"), 2));
        let around = &preys[0].surroundings;
        assert_eq!((around.folder.as_deref(), around.environment.len()), (Some(Path::new("/w")), 1));
        assert!(listed(b"no json").is_err());
    }

    #[test]
    fn what_ctest_changes_and_prepares_is_done_or_said() {
        let json = br#"{"tests":[{"name":"a","command":["/b/a"],"properties":[
            {"name":"ENVIRONMENT","value":["S=1","R=1"]},
            {"name":"ENVIRONMENT_MODIFICATION","value":["S=string_append:2","P=path_list_prepend:/x","R=set:2","R=reset:",
                "N=set:a:b","odd","S=odd:3"]},
            {"name":"FIXTURES_REQUIRED","value":["db"]},{"name":"SKIP_RETURN_CODE","value":77},
            {"name":"WILL_FAIL","value":true},{"name":"TIMEOUT","value":7.0}]}]}"#;
        let prey = listed(json).unwrap().remove(0);
        assert_eq!(prey.skipped, Some(77));
        assert_eq!(prey.notes, ["CTest sets up the fixture `db` for it, and a hunt does not"]);
        let of = |name: &str| {
            prey.surroundings.environment.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
        };
        assert_eq!((of("S"), of("R"), of("N")), (Some("12"), Some("1"), Some("a:b")));
        assert!(of("P").is_some_and(|p| p.starts_with("/x")));
        let (mut environment, mut unset) = (vec![], vec![]);
        let usual = |name: &str| (name == "PATH").then(|| "/bin".to_owned());
        for change in [
            "PATH=path_list_append:/y",
            "PATH=path_list_prepend:/x",
            "Q=path_list_append:/y",
            "U=set:1",
            "U=unset:",
        ] {
            modify((&mut environment, &mut unset), change, &usual);
        }
        assert_eq!(unset, ["U"]);
        let pair = |n: &str, v: &str| (n.to_owned(), v.to_owned());
        assert_eq!(environment, [pair("PATH", "/x:/bin:/y"), pair("Q", "/y")]);
    }

    #[test]
    fn tests_of_meson_run_in_the_build_folder_or_their_own() {
        let json = br#"[{"cmd":["/b/a","-x"],"env":{"CASE":"7"},"name":"a","workdir":null,"suite":["s"]},
            {"cmd":["/b/b"],"env":{},"name":"b","workdir":"/w","timeout":30}]"#;
        let preys = listed_by_meson(json, Path::new("/b")).unwrap();
        let folders: Vec<_> = preys.iter().filter_map(|p| p.surroundings.folder.clone()).collect();
        assert_eq!(folders, [PathBuf::from("/b"), PathBuf::from("/w")]);
        assert_eq!(preys[0].surroundings.environment, [("CASE".to_owned(), "7".to_owned())]);
        assert!(listed_by_meson(b"{}", Path::new("/b")).is_err());
    }

    #[test]
    fn a_started_program_is_named_by_its_words() {
        let started = StartedProgram {
            path: "/p/build/t".into(),
            words: vec!["./t".into(), "-n".into()],
            folder: "/p/build".into(),
            environment: vec![],
        };
        let prey = alone(started, Path::new("/p"));
        assert_eq!(prey.name.as_deref(), Some("build/t -n"));
        assert_eq!(prey.words, ["/p/build/t", "-n"]);
    }

    #[test]
    fn shards_are_disjoint_and_together_everything() {
        let prey = |n: usize| Prey { name: Some(n.to_string()), ..Prey::default() };
        let mut seen: Vec<usize> = (1..=3)
            .flat_map(|n| part((0..10).map(prey).collect(), Some(format!("{n}/3").parse().unwrap())))
            .map(|p| p.name.unwrap().parse().unwrap())
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
        for bad in ["0/3", "4/3", "3", "a/b", ""] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
