//! `cargo raddle hunt`: the test programs of a crate or workspace, built by cargo.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::prey::Prey;
use raddle_harness::launch::Surroundings;

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

/// Builds the tests with instrumentation and returns their programs. `arguments` are cargo's:
/// `--package`, `--release` …
pub fn test_programs(arguments: &[OsString]) -> Result<Vec<Prey>> {
    let raddle = std::env::current_exe().context("cannot find the raddle binary")?;
    let mut command = Command::new(raddle);
    command.args(["cargo", "test", "--no-run", "--message-format=json-render-diagnostics"]).args(arguments);
    let out = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    anyhow::ensure!(out.status.success(), "the tests could not be built");
    let programs = listed(&String::from_utf8_lossy(&out.stdout));
    anyhow::ensure!(!programs.is_empty(), "cargo built no test program");
    Ok(programs)
}

/// What is said if the tests are configured for nextest, which a hunt through cargo does not read.
pub fn says_of_nextest(folder: &Path) -> Option<String> {
    let crates = folder.ancestors().filter(|f| f.join("Cargo.toml").is_file());
    let config = crates.map(|f| f.join(".config/nextest.toml")).find(|config| config.is_file())?;
    Some(format!(
        "{} was not read: `raddle hunt -- cargo raddle nextest run` hunts the tests as nextest runs them",
        config.display()
    ))
}

/// The test programs that cargo names. Each runs in its package's folder, as under `cargo test`.
fn listed(messages: &str) -> Vec<Prey> {
    let read = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let tests =
        read.filter(|m| m.reason == "compiler-artifact" && m.profile.as_ref().is_some_and(|p| p.test));
    let prey = |message: Message| {
        let folder = message.manifest_path.and_then(|p| Some(p.parent()?.to_owned()));
        let variable =
            |folder: &PathBuf| ("CARGO_MANIFEST_DIR".to_owned(), folder.to_string_lossy().into_owned());
        let environment = folder.iter().map(variable).collect();
        let surroundings = Surroundings { folder, environment, ..Surroundings::default() };
        Some(Prey { words: vec![message.executable?.into()], surroundings, ..Prey::default() })
    };
    tests.filter_map(prey).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_of_nextest_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (root, member) = (folder.path(), folder.path().join("a"));
        std::fs::create_dir_all(root.join(".config")).unwrap();
        std::fs::create_dir(&member).unwrap();
        std::fs::write(member.join("Cargo.toml"), "").unwrap();
        std::fs::write(root.join(".config/nextest.toml"), "").unwrap();
        assert_eq!(says_of_nextest(&member), None, "the folder above is no workspace");
        std::fs::write(root.join("Cargo.toml"), "").unwrap();
        let said = says_of_nextest(&member).unwrap();
        assert!(
            said.contains("/.config/nextest.toml was not read") && said.contains("cargo raddle nextest run")
        );
    }

    #[test]
    fn only_test_programs_are_taken() {
        let messages = r#"{"reason":"compiler-artifact","profile":{"test":false},"executable":"/t/build-script"}
{"reason":"compiler-artifact","profile":{"test":true},"executable":"/t/a-1","manifest_path":"/w/a/Cargo.toml"}
{"reason":"compiler-artifact","profile":{"test":true},"executable":null}
not json
{"reason":"build-finished","success":true}"#;
        let programs = listed(messages);
        assert_eq!(programs.len(), 1);
        assert_eq!(programs[0].words, ["/t/a-1"]);
        assert_eq!(programs[0].surroundings.folder, Some("/w/a".into()));
    }
}
