//! The tests of a test program, as it lists them.
//!
//! What a program is made with (Rust's libtest, GoogleTest, Catch2) is told by names in its file.

use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use raddle_wire::explore::flag;

use crate::worker::{Recipe, apart, end};

/// What a test program is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harness {
    Libtest,
    GoogleTest,
    Catch2,
    Catch3,
}

/// A test: its name, and the arguments that run it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub name: String,
    arguments: Vec<String>,
    /// [`flag`]s of its worker.
    flags: u32,
}

/// How long a program may take to list its tests.
const PATIENCE: Duration = Duration::from_secs(10);

/// The tests of what is a test program, as it lists them.
pub fn list(recipe: &Recipe) -> Option<Vec<Case>> {
    let harness = Harness::of(&std::fs::read(&recipe.program.path).ok()?)?;
    let cases = harness.cases(&ask(recipe, harness.listing())?);
    (!cases.is_empty()).then_some(cases)
}

/// Do these arguments choose exactly one test of a program that is made with libtest?
pub fn is_one_of_libtest(recipe: &Recipe, arguments: &[OsString]) -> bool {
    let number = || {
        let content = std::fs::read(&recipe.program.path).ok()?;
        let harness = Harness::of(&content).filter(|h| *h == Harness::Libtest)?;
        let words: Vec<&str> = arguments.iter().map(|w| w.to_str()).collect::<Option<_>>()?;
        let listing = ask(recipe, &[&words[..], harness.listing()].concat())?;
        Some(harness.cases(&listing).len())
    };
    number() == Some(1)
}

impl Case {
    /// A test that needs no arguments.
    pub fn new(name: &str) -> Case {
        Case { name: name.into(), arguments: Vec::new(), flags: 0 }
    }

    /// This test alone.
    pub fn recipe(&self, of: &Recipe) -> Recipe {
        let mut words = of.words.clone();
        words.extend(self.arguments.iter().map(OsString::from));
        Recipe { words, flags: of.flags | self.flags, ..of.clone() }
    }
}

/// What the program prints when it is run with these arguments, not watched by anybody.
fn ask(recipe: &Recipe, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(&recipe.program.path);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(folder) = &recipe.folder {
        command.current_dir(folder);
    }
    command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
    apart(&mut command);
    let mut child = command.spawn().ok()?;
    let mut output = child.stdout.take()?;
    let reader = std::thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        output.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let Ok(reader) = reader else {
        end(&mut child);
        return None;
    };
    let begun = Instant::now();
    // Catch2 of version 2 ends with the number of tests as its status: a status says nothing.
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
    // A program that was killed may not have come to the end of its list.
    status.code().map(|_| listed)
}

impl Harness {
    /// By names that a test program of its kind cannot do without.
    fn of(content: &[u8]) -> Option<Harness> {
        let has = |name: &str| memchr(content, name.as_bytes());
        if has("_ZN7testing8internal23MakeAndRegisterTestInfo") {
            return Some(Harness::GoogleTest);
        }
        if has("_ZN5Catch7AutoRegC") {
            let version_2 = has("_ZN5Catch7AutoRegC1EPNS_12ITestInvokerE")
                || has("_ZN5Catch7AutoRegC2EPNS_12ITestInvokerE");
            return Some(if version_2 { Harness::Catch2 } else { Harness::Catch3 });
        }
        (has("RUST_TEST_THREADS") && has("--test-threads")).then_some(Harness::Libtest)
    }

    fn listing(self) -> &'static [&'static str] {
        match self {
            Harness::Libtest => &["--list", "--format", "terse"],
            Harness::GoogleTest => &["--gtest_list_tests"],
            Harness::Catch2 => &["--list-test-names-only"],
            Harness::Catch3 => &["--list-tests", "--verbosity", "quiet"],
        }
    }

    /// The tests in what the program printed.
    fn cases(self, listing: &str) -> Vec<Case> {
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
                    let counts = suite.ends_with('.') && !name.contains("DISABLED_");
                    counts.then(|| (name.clone(), vec![format!("--gtest_filter={name}")]))
                }
                // Seeded by the clock it would say so in another line each time.
                Harness::Catch2 | Harness::Catch3 => {
                    let name = line.trim();
                    let alone = || [escaped(name).as_str(), "--rng-seed", "1"].map(str::to_owned).to_vec();
                    (!name.is_empty()).then(|| (name.to_owned(), alone()))
                }
            };
            let flags = if self == Harness::Libtest { flag::LIBTEST } else { 0 };
            cases.extend(case.map(|(name, arguments)| Case { name, arguments, flags }));
        }
        cases
    }
}

/// Catch2 takes some characters of a name for patterns.
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

fn memchr(content: &[u8], name: &[u8]) -> bool {
    content.windows(name.len()).any(|w| w[0] == name[0] && w == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(harness: Harness, listing: &str) -> Vec<(String, String)> {
        harness.cases(listing).into_iter().map(|c| (c.name, c.arguments.join(" "))).collect()
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
        let listing = "Running main() from gtest_main.cc\nQueue.\n  Pops\n  DISABLED_Slow\nTyped/0.  # TypeParam = int\n  \
                       Works\nParams/Queue.\n  Holds/0  # GetParam() = 7\n";
        let expected = ["Queue.Pops", "Typed/0.Works", "Params/Queue.Holds/0"]
            .map(|name| pair(name, &format!("--gtest_filter={name}")));
        assert_eq!(names(Harness::GoogleTest, listing), expected);
    }

    #[test]
    fn tests_of_catch2_are_listed_and_their_names_are_taken_literally() {
        let listing = "a queue, full\nplain\n\n";
        let expected =
            [pair("a queue, full", "a queue\\, full --rng-seed 1"), pair("plain", "plain --rng-seed 1")];
        assert_eq!(names(Harness::Catch2, listing), expected);
    }

    #[test]
    fn a_program_is_told_by_its_names() {
        let of = |text: &str| Harness::of(text.as_bytes());
        assert_eq!(of("..RUST_TEST_THREADS..--test-threads.."), Some(Harness::Libtest));
        assert_eq!(of("_ZN7testing8internal23MakeAndRegisterTestInfoEPKc"), Some(Harness::GoogleTest));
        assert_eq!(of("_ZN5Catch7AutoRegC1EPNS_12ITestInvokerERKNS"), Some(Harness::Catch2));
        assert_eq!(of("_ZN5Catch7AutoRegC1ENS_6Detail10unique_ptr"), Some(Harness::Catch3));
        assert_eq!(of("RUST_TEST_THREADS in a text"), None);
    }
}
