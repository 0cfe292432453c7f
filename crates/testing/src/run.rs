//! `raddle run` in tests: targets built from `tests/programs`, runs, and what must hold after every
//! run.

use crate::{Testbed, refused, repository, stderr};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What one `raddle run --format json` did.
pub struct DetectedRun {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
    pub report: Value,
}

impl DetectedRun {
    pub fn ids(&self) -> BTreeSet<String> {
        self.findings().iter().map(|f| f["id"].as_str().unwrap().to_owned()).collect()
    }

    /// The names of the variables that are raced on, sorted.
    pub fn variables(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.findings().iter().filter_map(|f| f["location"]["name"].as_str()).collect();
        names.sort_unstable();
        names
    }

    pub fn findings(&self) -> &[Value] {
        self.report["findings"].as_array().unwrap()
    }

    pub fn stat(&self, key: &str) -> i64 {
        self.report["stats"][key].as_i64().unwrap_or_else(|| panic!("no `{key}` in {}", self.report["stats"]))
    }

    /// The status with findings, and races on exactly these variables.
    #[track_caller]
    pub fn assert_races(&self, variables: &[&str]) {
        assert_eq!(self.status, 66, "{}", self.stderr);
        assert_eq!(self.variables(), variables, "{:#}", self.report["findings"]);
    }
}

impl Testbed {
    /// Copies a program of `tests/programs` here.
    pub fn source(&self, name: &str) {
        let from = repository("crates/raddle/tests/programs").join(format!("{name}.c"));
        std::fs::copy(from, self.path(&format!("{name}.c"))).unwrap();
    }

    /// Builds a program of `tests/programs` with `raddle cc`, by gcc.
    pub fn build(&self, name: &str) {
        self.source(name);
        self.ok(&format!("cc --use gcc -g -O1 -pthread {name}.c -o {name}"));
    }

    /// `raddle run OPTIONS -- COMMAND`. The session's folder has a place where it is missed if it
    /// stays.
    pub fn run_command(&self, options: &str, command: &[&str]) -> Command {
        let mut run = self.raddle("run");
        run.args(options.split_whitespace()).arg("--").args(command);
        run.env("TMPDIR", self.temporary()).env_remove("TSAN_OPTIONS").env_remove("LD_PRELOAD");
        run.stdin(Stdio::null());
        run
    }

    fn temporary(&self) -> std::path::PathBuf {
        let path = self.path("tmp");
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// Runs with a JSON report and reads it.
    #[track_caller]
    pub fn run(&self, options: &str, command: &[&str]) -> DetectedRun {
        let mut run = self.run_command(&format!("--format json -o report.json {options}"), command);
        self.outcome(run.output().unwrap())
    }

    /// What a run with `--format json -o report.json` did.
    #[track_caller]
    pub fn outcome(&self, output: Output) -> DetectedRun {
        let status = output.status.code().unwrap_or_else(|| panic!("raddle was killed: {:?}", output.status));
        let text = std::fs::read_to_string(self.path("report.json"))
            .unwrap_or_else(|e| panic!("no report ({e}), status {status}: {}", stderr(&output)));
        self.assert_nothing_left();
        DetectedRun {
            status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: stderr(&output),
            report: serde_json::from_str(&text).unwrap(),
        }
    }

    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let left: Vec<_> = std::fs::read_dir(self.temporary()).unwrap().collect();
        assert!(left.is_empty(), "the session's folder is left behind: {left:?}");
    }

    /// Raddle refuses before the target is started: one sentence, status 2, not one file more or
    /// less.
    #[track_caller]
    pub fn refused_run(&self, options: &str, command: &[&str]) -> String {
        let mut run = self.run_command(options, command);
        let before = self.files();
        let sentence = refused(&mut run);
        assert_eq!(self.files(), before, "{sentence}");
        sentence
    }

    /// All files and folders here with their content.
    pub fn files(&self) -> BTreeSet<(String, Option<Vec<u8>>)> {
        let mut found = BTreeSet::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path.clone());
                }
                found.insert((path.display().to_string(), std::fs::read(&path).ok()));
            }
        }
        found
    }

    /// Starts a run, in a process group of its own, and waits for the file `ready` of its target.
    pub fn start(&self, options: &str, command: &[&str]) -> Child {
        let options = format!("--format json -o report.json {options}");
        let mut run = self.run_command(&options, command);
        // SAFETY: only an async-signal-safe call between fork and exec. Tests that were started by
        // nohup ignore SIGHUP, and what they start would, too.
        unsafe {
            run.pre_exec(|| {
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut child = run.process_group(0).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while !self.path("ready").exists() {
            assert!(child.try_wait().unwrap().is_none(), "the run ended before its target was ready");
            assert!(begun.elapsed() < Duration::from_secs(300), "the target does not get ready");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }
}
