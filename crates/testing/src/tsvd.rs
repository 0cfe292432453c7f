//! `raddle tsvd` in tests.

use crate::explore::within;
use crate::{Testbed, look_again, stderr, succeed};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Two threads that take steps until both have taken enough: whichever is delayed, the other one
/// comes by.
const PAIR: &str = r#"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <pthread.h>
#include <unistd.h>
#ifdef __cplusplus
#include <atomic>
using std::atomic_int;
#else
#include <stdatomic.h>
#endif
static atomic_int steps[2];
static void step(int me, int i);
static void *run(void *arg) {
    int me = arg != 0;
    pthread_setname_np(pthread_self(), me ? "second" : "first");
    while (steps[me] < 40 || steps[1 - me] < 40) {
        step(me, steps[me]);
        steps[me]++;
        usleep(1000);
    }
    return 0;
}
static void both(void) {
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
"#;

/// Long delays and a wide window, so that a slow machine sees what a fast one does; `CALM` is for
/// programs that are right. What is before `++` is for experiments ([`Testbed::tsvd_command`]).
pub const EAGER: &str = "--without short-first ++ --delay 400 --window 60000";
pub const CALM: &str = "--delay 20 --window 60000 --test-cap 600";

/// What one `raddle tsvd` did.
pub struct TsvdRun {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
    pub report: Value,
}

impl Testbed {
    /// Writes `pair.h` and a source that includes it, and builds it; the program has the name of
    /// the source.
    pub fn build_pair(&self, source: &str, compiler: &str, text: &str) {
        self.file("pair.h", PAIR);
        self.file(source, &format!("#include \"pair.h\"\n{text}"));
        let name = source.split('.').next().unwrap();
        let mut words = compiler.split_whitespace();
        let mut build = self.command(words.next().unwrap());
        let (options, libraries): (Vec<_>, Vec<_>) = words.partition(|w| !w.starts_with("-l"));
        succeed(build.args(options).args([source, "-pthread", "-o", name]).args(libraries));
    }

    /// Options before `++` go where experiments have them, and not on the command line.
    pub fn tsvd_command(&self, options: &str, target: &[&str]) -> Command {
        let mut command = self.raddle("tsvd --format json -o report.json");
        let (experiment, options) = options.split_once("++").unwrap_or(("", options));
        command.env("RADDLE_TSVD_EXPERIMENT", experiment.trim());
        command.args(options.split_whitespace()).arg("--").args(target);
        command.env("TMPDIR", self.session_folder()).stdin(Stdio::null());
        command
    }

    #[track_caller]
    pub fn tsvd(&self, options: &str, target: &[&str]) -> TsvdRun {
        let output = within(Duration::from_secs(120), &mut self.tsvd_command(options, target));
        let status = output.status.code().unwrap_or_else(|| panic!("raddle was killed: {:?}", output.status));
        let text = std::fs::read_to_string(self.path("report.json"))
            .unwrap_or_else(|e| panic!("no report ({e}), status {status}: {}", stderr(&output)));
        let left: Vec<_> = std::fs::read_dir(self.session_folder()).unwrap().collect();
        assert!(left.is_empty(), "the session's folder is left behind: {left:?}");
        TsvdRun {
            status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: stderr(&output),
            report: serde_json::from_str(&text).unwrap(),
        }
    }
}

impl Testbed {
    /// Runs `raddle tsvd` until it catches something, at most [`crate::ATTEMPTS`] times. Which
    /// thread draws a delay, and whether another one comes by in that time, is luck.
    #[track_caller]
    pub fn catch(&self, options: &str, target: &[&str]) -> TsvdRun {
        look_again(|caught: &TsvdRun| caught.status == 66, || self.tsvd(options, target))
    }
}

impl TsvdRun {
    pub fn findings(&self) -> &[Value] {
        self.report["findings"].as_array().unwrap()
    }

    pub fn stat(&self, key: &str) -> i64 {
        self.report["stats"][key].as_i64().unwrap_or_else(|| panic!("no `{key}` in {}", self.report["stats"]))
    }

    /// The function that each end of a finding calls from.
    pub fn ends(&self, finding: usize) -> Vec<String> {
        let accesses = self.findings()[finding]["accesses"].as_array().unwrap();
        accesses.iter().map(|a| a["stack"][0]["function"].as_str().unwrap_or("?").to_owned()).collect()
    }

    /// One violation, or several of which each has this part in its message.
    #[track_caller]
    pub fn assert_caught(&self, part: &str) -> &Value {
        assert_eq!(self.status, 66, "{}\n{}", self.stderr, self.report);
        for finding in self.findings() {
            assert_eq!(finding["kind"], "thread-safety-violation");
            assert_eq!(finding["confidence"], "confirmed");
            assert_eq!(finding["accesses"].as_array().unwrap().len(), 2);
            let message = finding["message"].as_str().unwrap();
            assert!(message.contains(part), "no `{part}` in: {message}");
        }
        &self.findings()[0]
    }

    #[track_caller]
    pub fn assert_clean(&self) {
        assert!(self.findings().is_empty(), "{}", self.report);
        assert_eq!(self.status, self.stat("target_status") as i32, "{}", self.stderr);
        assert!(self.stat("points") > 0, "nothing was watched: {}\n{}", self.report, self.stderr);
    }
}
