//! `raddle explore` and `raddle replay` in tests.

use crate::{Testbed, repository, stderr, succeed};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What one search did.
pub struct Searched {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
    pub report: Value,
}

impl Searched {
    pub fn kinds(&self) -> Vec<&str> {
        self.findings().iter().map(|f| f["kind"].as_str().unwrap()).collect()
    }

    pub fn findings(&self) -> &[Value] {
        self.report["findings"].as_array().unwrap()
    }

    pub fn stat(&self, key: &str) -> &Value {
        let value = &self.report["stats"][key];
        assert!(!value.is_null(), "no `{key}` in {}", self.report["stats"]);
        value
    }

    /// All schedules were made, whether or not that is all there is.
    pub fn is_at_its_end(&self) -> bool {
        self.stat("exhausted") == true || self.report["stats"].get("not_complete").is_some()
    }

    /// The file that replays the first finding.
    pub fn schedule(&self) -> &str {
        self.findings()[0]["schedule"].as_str().unwrap()
    }
}

impl Testbed {
    /// Builds a program of the corpus with gcc, by its path below `corpus/explore`; its name here
    /// is without folder and ending.
    pub fn build_explored(&self, program: &str) -> String {
        let file = repository("corpus/explore").join(program);
        self.build_file(&file)
    }

    /// Builds C from a text.
    pub fn build_text(&self, name: &str, text: &str) -> String {
        let file = self.file(&format!("{name}.c"), text);
        self.build_file(&file)
    }

    fn build_file(&self, file: &Path) -> String {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut build = self.raddle("cc --use gcc -g -O1 -pthread");
        build.arg(file).arg("-o").arg(self.path(&name));
        succeed(&mut build);
        format!("./{name}")
    }

    pub fn explore_command(&self, options: &str, target: &[&str]) -> Command {
        let mut command = self.raddle("explore");
        command.args(options.split_whitespace()).arg("--").args(target);
        command.env("TMPDIR", self.session_folder()).stdin(Stdio::null());
        command
    }

    pub fn session_folder(&self) -> PathBuf {
        let path = self.path("tmp");
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[track_caller]
    pub fn explore(&self, options: &str, target: &[&str]) -> Searched {
        let mut command = self.explore_command(&format!("--format json -o report.json {options}"), target);
        let output = within(Duration::from_secs(120), &mut command);
        self.searched(output)
    }

    #[track_caller]
    pub fn searched(&self, output: Output) -> Searched {
        let status = output.status.code().unwrap_or_else(|| panic!("raddle was killed: {:?}", output.status));
        let text = std::fs::read_to_string(self.path("report.json"))
            .unwrap_or_else(|e| panic!("no report ({e}), status {status}: {}", stderr(&output)));
        let left: Vec<_> = std::fs::read_dir(self.session_folder()).unwrap().collect();
        assert!(left.is_empty(), "the session's folder is left behind: {left:?}");
        Searched {
            status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: stderr(&output),
            report: serde_json::from_str(&text).unwrap(),
        }
    }

    #[track_caller]
    pub fn replay(&self, options: &str, file: &str) -> Searched {
        let mut command = self.raddle("replay --format json -o report.json");
        command.args(options.split_whitespace()).arg(file);
        command.env("TMPDIR", self.session_folder()).stdin(Stdio::null());
        let output = within(Duration::from_secs(120), &mut command);
        self.searched(output)
    }

    /// Raddle refuses, in one sentence that has these parts.
    #[track_caller]
    pub fn refuses_to_explore(&self, options: &str, target: &[&str], parts: &[&str]) {
        let output = within(Duration::from_secs(60), &mut self.explore_command(options, target));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let sentence = said.lines().last().unwrap_or_default();
        assert!(sentence.starts_with("raddle: "), "{said}");
        for part in parts {
            assert!(sentence.contains(part), "`{part}` is not in: {said}");
        }
    }

    /// A target without threads: said why, and not taken for explored.
    #[track_caller]
    pub fn explores_nothing(&self, target: &[&str], parts: &[&str]) {
        self.refuses_to_explore("", target, &["nothing was explored"]);
        let said = stderr(&within(Duration::from_secs(60), &mut self.explore_command("", target)));
        for part in parts {
            assert!(said.contains(part), "`{part}` is not in: {said}");
        }
    }
}

/// The output of a command that must end within `limit`.
#[track_caller]
pub fn within(limit: Duration, command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > limit {
            child.kill().unwrap();
            panic!("{command:?} was still running after {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}
