//! The tests of a test program, or of a build folder of CMake's: each is hunted by itself.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::args::Args;
use super::detectors;
use super::prey::Prey;
use crate::explore;
use raddle_harness::cases;
use raddle_harness::install::Runtime;
use raddle_harness::target;

/// The tests of what is a test program of libtest, GoogleTest or Catch2. None: it is not one, or
/// the user has chosen.
pub fn tests_of(args: &Args, whole: &Prey) -> Option<Vec<Prey>> {
    if args.whole || whole.words.len() > 1 {
        return None;
    }
    let program = target::find(&whole.words).ok().filter(|p| p.has_runtime)?;
    let recipe = explore::recipe(
        &detectors::explore(args, &whole.words, &[], args.seed),
        program,
        Runtime::open().ok()?,
    );
    let tests = cases::list(&recipe)?;
    let prey = |case: &cases::Case| Prey {
        name: Some(case.name.clone()),
        words: case.recipe(&recipe).words,
        ..Prey::default()
    };
    Some(tests.iter().map(prey).collect())
}

/// One of several equal parts of a suite, as `--shard 3/8` names it: every eighth test, from the
/// third on.
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

/// The tests of a shard; all of them without one.
pub fn part(preys: Vec<Prey>, shard: Option<Shard>) -> Vec<Prey> {
    let Some(Shard { number, of }) = shard else { return preys };
    preys.into_iter().skip(number - 1).step_by(of).collect()
}

/// `ctest --show-only=json-v1`, as far as it is needed.
#[derive(Deserialize)]
struct Listing {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    name: String,
    /// Absent where the program was not built.
    #[serde(default)]
    command: Vec<String>,
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
    let tests = listing.tests.into_iter().filter(|t| !t.command.is_empty());
    let prey = |t: Test| Prey {
        name: Some(t.name),
        words: t.command.into_iter().map(OsString::from).collect(),
        ..Prey::default()
    };
    Ok(tests.map(prey).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_ctest_have_a_name_and_a_command() {
        let json = br#"{"kind":"ctestInfo","version":{"major":1,"minor":0},
            "tests":[{"name":"a","command":["/b/a","-x"],"properties":[]},{"name":"not built"}]}"#;
        let preys = listed(json).unwrap();
        assert_eq!(preys.len(), 1);
        assert_eq!((preys[0].name.as_deref(), preys[0].words.len()), (Some("a"), 2));
        assert!(listed(b"no json").is_err());
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
