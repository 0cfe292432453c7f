//! The test programs of a crate or workspace, built with instrumentation by cargo: what `cargo raddle
//! hunt` and `cargo raddle explore` look at.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use raddle_harness::launch::Surroundings;
use serde::Deserialize;

/// A test program that cargo built.
#[derive(Debug)]
pub struct TestProgram {
    pub path: OsString,
    /// Its package's folder and variables, as under `cargo test`.
    pub surroundings: Surroundings,
}

/// The parts of a line of cargo's `--message-format=json` that are needed.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    executable: Option<String>,
    #[serde(default)]
    profile: Option<Profile>,
    #[serde(default)]
    manifest_path: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Profile {
    #[serde(default)]
    test: bool,
}

/// Builds the tests and returns their programs. `arguments` are cargo's: `--package`, `--release` …
pub fn build(arguments: &[OsString]) -> Result<Vec<TestProgram>> {
    let raddle = std::env::current_exe().context("cannot find the raddle binary")?;
    let mut command = Command::new(raddle);
    command.args(["cargo", "test", "--no-run", "--message-format=json-render-diagnostics"]).args(arguments);
    let out = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    anyhow::ensure!(out.status.success(), "the tests could not be built");
    let programs = listed(&String::from_utf8_lossy(&out.stdout));
    anyhow::ensure!(!programs.is_empty(), "cargo built no test program");
    Ok(programs)
}

/// The test programs that cargo names.
fn listed(messages: &str) -> Vec<TestProgram> {
    let read = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let tests =
        read.filter(|m| m.reason == "compiler-artifact" && m.profile.as_ref().is_some_and(|p| p.test));
    let program = |message: Message| {
        let folder = message.manifest_path.and_then(|p| Some(p.parent()?.to_owned()));
        let variable =
            |folder: &PathBuf| ("CARGO_MANIFEST_DIR".to_owned(), folder.to_string_lossy().into_owned());
        let environment = folder.iter().map(variable).collect();
        let surroundings = Surroundings { folder, environment, ..Surroundings::default() };
        Some(TestProgram { path: message.executable?.into(), surroundings })
    };
    tests.filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_programs_are_taken() {
        let messages = r#"{"reason":"compiler-artifact","profile":{"test":false},"executable":"/t/build-script"}
{"reason":"compiler-artifact","profile":{"test":true},"executable":"/t/a-1","manifest_path":"/w/a/Cargo.toml"}
{"reason":"compiler-artifact","profile":{"test":true},"executable":null}
not json
{"reason":"build-finished","success":true}"#;
        let programs = listed(messages);
        assert_eq!(programs.len(), 1);
        assert_eq!(programs[0].path, "/t/a-1");
        assert_eq!(programs[0].surroundings.folder, Some("/w/a".into()));
    }
}
