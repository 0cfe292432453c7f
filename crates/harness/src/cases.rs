//! The tests of a test program, as the program lists them.
//!
//! Names in the program's file tell its framework: Rust's libtest and its imitations, GoogleTest,
//! Catch2, doctest, Boost.Test.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use raddle_wire::explore::flag;

use crate::worker::{Recipe, apart, end};

/// The framework of a test program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harness {
    Libtest,
    GoogleTest,
    Catch2,
    Catch3,
    Doctest,
    BoostTest,
}

/// Where a program prints the list of its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Output,
    Error,
}

/// A test: its name, and the arguments that run it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub name: String,
    arguments: Vec<String>,
    /// [`flag`]s of its worker.
    flags: u32,
    /// Its source says that it does not run unless it is asked for.
    is_ignored: bool,
}

/// The tests of a test program.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tests {
    pub cases: Vec<Case>,
    /// The names of tests that are left out because their source says so: `#[ignore]` of libtest,
    /// `DISABLED_` of GoogleTest, `disabled` of Boost.Test. The program would not run them either.
    pub ignored: Vec<String>,
}

impl Tests {
    /// Whether the program has no test, not even an ignored one.
    pub fn are_none(&self) -> bool {
        self.cases.is_empty() && self.ignored.is_empty()
    }
}

/// How long a program may take to list its tests.
const PATIENCE: Duration = Duration::from_secs(10);

/// The tests of a program; `None` if it is not a test program.
pub fn list(recipe: &Recipe, with_ignored: bool) -> Option<Tests> {
    let harness = Harness::of(&std::fs::read(&recipe.program.path).ok()?)?;
    let mut cases = harness.cases(&ask(recipe, harness.listing(), harness.stream())?);
    if harness == Harness::Libtest && !cases.is_empty() {
        let words = [harness.listing(), &["--ignored"]].concat();
        let ignored = harness.cases(&ask(recipe, &words, Stream::Output).unwrap_or_default());
        let names: HashSet<&str> = ignored.iter().map(|case| case.name.as_str()).collect();
        for case in cases.iter_mut().filter(|case| names.contains(case.name.as_str())) {
            case.is_ignored = true;
            case.arguments.insert(0, "--ignored".into());
        }
    }
    let (ignored, cases) = cases.into_iter().partition(|case: &Case| case.is_ignored && !with_ignored);
    Some(Tests { cases, ignored: ignored.into_iter().map(|case: Case| case.name).collect() })
}

/// Whether these arguments select exactly one test of a libtest program.
pub fn is_one_of_libtest(recipe: &Recipe, arguments: &[OsString]) -> bool {
    let number = || {
        let content = std::fs::read(&recipe.program.path).ok()?;
        let harness = Harness::of(&content).filter(|h| *h == Harness::Libtest)?;
        let words: Vec<&str> = arguments.iter().map(|w| w.to_str()).collect::<Option<_>>()?;
        let listing = ask(recipe, &[&words[..], harness.listing()].concat(), Stream::Output)?;
        Some(harness.cases(&listing).len())
    };
    number() == Some(1)
}

impl Case {
    /// A test that needs no arguments.
    pub fn new(name: &str) -> Case {
        Case { name: name.into(), arguments: Vec::new(), flags: 0, is_ignored: false }
    }

    /// A recipe that runs this test alone.
    pub fn recipe(&self, of: &Recipe) -> Recipe {
        let mut words = of.words.clone();
        words.extend(self.arguments.iter().map(OsString::from));
        Recipe { words, flags: of.flags | self.flags, ..of.clone() }
    }
}

/// What the program prints when it runs with these arguments, unwatched.
fn ask(recipe: &Recipe, arguments: &[&str], stream: Stream) -> Option<String> {
    let mut command = Command::new(&recipe.program.path);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match stream {
        Stream::Output => command.stdout(Stdio::piped()),
        Stream::Error => command.stderr(Stdio::piped()),
    };
    crate::launch::surroundings().apply_all(&mut command);
    if let Some(folder) = &recipe.folder {
        command.current_dir(folder);
    }
    command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
    apart(&mut command);
    let mut child = command.spawn().ok()?;
    let mut output: Box<dyn Read + Send> = match stream {
        Stream::Output => Box::new(child.stdout.take()?),
        Stream::Error => Box::new(child.stderr.take()?),
    };
    let reader = std::thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        output.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let Ok(reader) = reader else {
        end(&mut child);
        return None;
    };
    let begun = Instant::now();
    // Catch2 version 2 returns the number of tests as its status, so the status says nothing.
    let status = loop {
        if let Some(status) = child.try_wait().ok()? {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            end(&mut child);
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let listed = reader.join().ok()?.ok()?;
    // A program that was killed may not have finished its list.
    status.code().map(|_| listed)
}

impl Harness {
    /// Recognises the framework by names that its test programs cannot do without.
    fn of(content: &[u8]) -> Option<Harness> {
        let has = |name: &str| memchr::memmem::find(content, name.as_bytes()).is_some();
        if has("_ZN7testing8internal23MakeAndRegisterTestInfo") {
            return Some(Harness::GoogleTest);
        }
        if has("_ZN5Catch7AutoRegC") {
            let version_2 = has("_ZN5Catch7AutoRegC1EPNS_12ITestInvokerE")
                || has("_ZN5Catch7AutoRegC2EPNS_12ITestInvokerE");
            return Some(if version_2 { Harness::Catch2 } else { Harness::Catch3 });
        }
        if has("_ZN7doctest6detail7regTestE") {
            return Some(Harness::Doctest);
        }
        if has("_ZN5boost9unit_test14unit_test_mainE") {
            return Some(Harness::BoostTest);
        }
        (has("RUST_TEST_THREADS") && has("--test-threads")).then_some(Harness::Libtest)
    }

    fn stream(self) -> Stream {
        if self == Harness::BoostTest { Stream::Error } else { Stream::Output }
    }

    fn listing(self) -> &'static [&'static str] {
        match self {
            Harness::Libtest => &["--list", "--format", "terse"],
            Harness::GoogleTest => &["--gtest_list_tests"],
            Harness::Catch2 => &["--list-test-names-only"],
            Harness::Catch3 => &["--list-tests", "--verbosity", "quiet"],
            Harness::Doctest => &["--list-test-cases", "--no-colors=true"],
            Harness::BoostTest => &["--list_content=HRF", "--color_output=no"],
        }
    }

    /// Parses what the program printed.
    fn cases(self, listing: &str) -> Vec<Case> {
        if self == Harness::BoostTest {
            return boost_cases(listing);
        }
        let mut suite = "";
        let mut cases = Vec::new();
        for line in listing.lines() {
            let text = line.split(" # ").next().unwrap_or(line).trim_end();
            let case = match self {
                Harness::Libtest => line.strip_suffix(": test").map(|name| {
                    let alone = ["--exact", "--test-threads=1", name].map(str::to_owned).to_vec();
                    (name.to_owned(), alone)
                }),
                Harness::GoogleTest if !line.starts_with(' ') => {
                    suite = text.trim_start();
                    None
                }
                Harness::GoogleTest => {
                    let name = format!("{suite}{}", text.trim_start());
                    suite.ends_with('.').then(|| (name.clone(), vec![format!("--gtest_filter={name}")]))
                }
                // With a seed from the clock, it would print another line each time.
                Harness::Catch2 | Harness::Catch3 => {
                    let name = line.trim();
                    let alone = || [escaped(name).as_str(), "--rng-seed", "1"].map(str::to_owned).to_vec();
                    (!name.is_empty()).then(|| (name.to_owned(), alone()))
                }
                Harness::Doctest => {
                    let is_frame = line.starts_with("[doctest] ") || line.starts_with("=====");
                    let alone = || [doctest_filter(line), "--case-sensitive=true".into()].to_vec();
                    (!is_frame && !line.is_empty()).then(|| (line.to_owned(), alone()))
                }
                Harness::BoostTest => None,
            };
            let flags = if self == Harness::Libtest { flag::LIBTEST } else { 0 };
            cases.extend(case.map(|(name, mut arguments)| {
                let is_ignored = self == Harness::GoogleTest && is_disabled(&name);
                if is_ignored {
                    arguments.push("--gtest_also_run_disabled_tests".into());
                }
                Case { name, arguments, flags, is_ignored }
            }));
        }
        cases
    }
}

/// The tests in Boost.Test's list. The list is a tree with four spaces per level, and a star
/// follows what is enabled; a test that is named runs even if it is not. Boost.Test's signal handlers would turn a crash into a status, so they
/// are off.
fn boost_cases(listing: &str) -> Vec<Case> {
    let depth = |line: &str| (line.len() - line.trim_start().len()) / 4;
    let lines: Vec<&str> = listing.lines().filter(|l| !l.trim().is_empty()).collect();
    let mut path: Vec<&str> = Vec::new();
    let mut cases = Vec::new();
    // Everything below this level is disabled.
    let mut disabled = None;
    for (i, line) in lines.iter().enumerate() {
        let level = depth(line);
        let (name, is_enabled) = match line.split_once('*') {
            Some((name, _)) => (name.trim(), true),
            None => (line.trim(), false),
        };
        path.truncate(level);
        path.push(name);
        let is_below = disabled.is_some_and(|d| level > d);
        if !is_below {
            disabled = (!is_enabled).then_some(level);
        }
        let is_test = lines.get(i + 1).is_none_or(|next| depth(next) <= level);
        if is_test {
            let name = path.join("/");
            let arguments = vec![format!("--run_test={name}"), "--catch_system_errors=no".into()];
            cases.push(Case { name, arguments, flags: 0, is_ignored: is_below || !is_enabled });
        }
    }
    cases
}

/// Whether GoogleTest leaves out a test of this name: `DISABLED_` begins its own name or that of its
/// suite, after what an instantiation puts before it.
fn is_disabled(name: &str) -> bool {
    name.split(['.', '/']).any(|part| part.starts_with("DISABLED_"))
}

/// A doctest filter that matches one name. A comma would begin another filter, and how to escape it
/// depends on the version; `?` matches any character.
fn doctest_filter(name: &str) -> String {
    let plain = |c: char| if matches!(c, ',' | '\\' | '"') { '?' } else { c };
    format!("--test-case={}", name.chars().map(plain).collect::<String>())
}

/// Escapes characters that Catch2 would take for patterns.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if matches!(c, ',' | '[' | ']' | '*' | '"' | '~' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(harness: Harness, listing: &str) -> Vec<(String, String)> {
        harness
            .cases(listing)
            .into_iter()
            .filter(|c| !c.is_ignored)
            .map(|c| (c.name, c.arguments.join(" ")))
            .collect()
    }

    fn ignored(harness: Harness, listing: &str) -> Vec<(String, String)> {
        harness
            .cases(listing)
            .into_iter()
            .filter(|c| c.is_ignored)
            .map(|c| (c.name, c.arguments.join(" ")))
            .collect()
    }

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.into(), b.into())
    }

    #[test]
    fn tests_of_rust_are_listed() {
        let listing = "queue::tests::pops: test\nbench_it: benchmark\n\n1 test, 1 benchmark\n";
        let alone = "--exact --test-threads=1 queue::tests::pops";
        assert_eq!(names(Harness::Libtest, listing), [pair("queue::tests::pops", alone)]);
    }

    #[test]
    fn tests_of_googletest_are_listed() {
        let listing = "Running main() from gtest_main.cc\nQueue.\n  Pops\n  DISABLED_Slow\n  RunsDISABLED_Check\nTyped/0.  # TypeParam = int\n  \
                       Works\nParams/Queue.\n  Holds/0  # GetParam() = 7\n";
        let expected = ["Queue.Pops", "Queue.RunsDISABLED_Check", "Typed/0.Works", "Params/Queue.Holds/0"]
            .map(|name| pair(name, &format!("--gtest_filter={name}")));
        assert_eq!(names(Harness::GoogleTest, listing), expected);
        let alone = "--gtest_filter=Queue.DISABLED_Slow --gtest_also_run_disabled_tests";
        assert_eq!(ignored(Harness::GoogleTest, listing), [pair("Queue.DISABLED_Slow", alone)]);
    }

    #[test]
    fn tests_of_catch2_are_listed_and_their_names_are_taken_literally() {
        let listing = "a queue, full\nplain\n\n";
        let expected =
            [pair("a queue, full", "a queue\\, full --rng-seed 1"), pair("plain", "plain --rng-seed 1")];
        assert_eq!(names(Harness::Catch2, listing), expected);
    }

    #[test]
    fn tests_of_doctest_are_listed() {
        let listing = "[doctest] listing all test case names\n=====\na queue, full\nplain\n=====\n\
                       [doctest] unskipped test cases passing the current filters: 2\n";
        let expected = [
            pair("a queue, full", "--test-case=a queue? full --case-sensitive=true"),
            pair("plain", "--test-case=plain --case-sensitive=true"),
        ];
        assert_eq!(names(Harness::Doctest, listing), expected);
    }

    #[test]
    fn tests_of_boost_are_listed_and_disabled_ones_are_not() {
        let listing =
            "plain*\ns*\n    races*: slow\n    off \n    many*\n        _0*\n        _1*\nall_off \n    a*\n";
        let expected = ["plain", "s/races", "s/many/_0", "s/many/_1"]
            .map(|name| pair(name, &format!("--run_test={name} --catch_system_errors=no")));
        assert_eq!(names(Harness::BoostTest, listing), expected);
        let off: Vec<String> =
            ignored(Harness::BoostTest, listing).into_iter().map(|(name, _)| name).collect();
        assert_eq!(off, ["s/off", "all_off/a"]);
    }

    #[test]
    fn a_program_is_told_by_its_names() {
        let of = |text: &str| Harness::of(text.as_bytes());
        assert_eq!(of("..RUST_TEST_THREADS..--test-threads.."), Some(Harness::Libtest));
        assert_eq!(of("_ZN7testing8internal23MakeAndRegisterTestInfoEPKc"), Some(Harness::GoogleTest));
        assert_eq!(of("_ZN5Catch7AutoRegC1EPNS_12ITestInvokerERKNS"), Some(Harness::Catch2));
        assert_eq!(of("_ZN5Catch7AutoRegC1ENS_6Detail10unique_ptr"), Some(Harness::Catch3));
        assert_eq!(of("_ZN7doctest6detail7regTestERKNS0_8TestCaseE"), Some(Harness::Doctest));
        assert_eq!(of("_ZN5boost9unit_test14unit_test_mainEPFbvEiPPc"), Some(Harness::BoostTest));
        assert_eq!(of("RUST_TEST_THREADS in a text"), None);
    }
}
