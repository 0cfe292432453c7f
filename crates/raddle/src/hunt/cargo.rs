//! `cargo raddle hunt`: the test programs of a crate or workspace, as cargo builds them.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::prey::Prey;

/// One line of cargo's `--message-format=json`, as far as it is needed.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    executable: Option<String>,
    #[serde(default)]
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Profile {
    #[serde(default)]
    test: bool,
}

/// Builds the tests with instrumentation, and gives their programs. `arguments` are cargo's:
/// `--package`, `--release` …
pub fn test_programs(arguments: &[OsString]) -> Result<Vec<Prey>> {
    let raddle = std::env::current_exe().context("cannot find the raddle binary")?;
    let mut command = Command::new(raddle);
    command.args(["cargo", "test", "--no-run", "--message-format=json-render-diagnostics"]).args(arguments);
    let out = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    anyhow::ensure!(out.status.success(), "the tests could not be built");
    let programs = listed(&String::from_utf8_lossy(&out.stdout));
    anyhow::ensure!(!programs.is_empty(), "cargo built no test program");
    let prey = |path: &String| Prey { words: vec![OsStr::new(path).into()], ..Prey::default() };
    Ok(programs.iter().map(prey).collect())
}

fn listed(messages: &str) -> Vec<String> {
    let read = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let tests =
        read.filter(|m| m.reason == "compiler-artifact" && m.profile.as_ref().is_some_and(|p| p.test));
    tests.filter_map(|m| m.executable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_programs_are_taken() {
        let messages = r#"{"reason":"compiler-artifact","profile":{"test":false},"executable":"/t/build-script"}
{"reason":"compiler-artifact","profile":{"test":true},"executable":"/t/a-1"}
{"reason":"compiler-artifact","profile":{"test":true},"executable":null}
not json
{"reason":"build-finished","success":true}"#;
        assert_eq!(listed(messages), ["/t/a-1"]);
    }
}
