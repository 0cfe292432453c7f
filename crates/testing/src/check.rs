//! `raddle check` in tests.

use crate::{Testbed, stderr};
use serde_json::Value;
use std::process::Output;

/// A program with one race, on `counter`.
pub const RACE: &str = "#include <pthread.h>
int counter;
static void *work(void *arg) {
    counter++;
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    counter++;
    pthread_join(t, 0);
    return 0;
}
";

/// The same with a lock.
pub const LOCKED: &str = "#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    return 0;
}
";

/// What one `raddle check --format json` did.
pub struct Checked {
    /// Its exit status.
    pub status: i32,
    pub stderr: String,
    pub report: Value,
}

impl Testbed {
    /// Checks; there must be a report, whatever the status.
    #[track_caller]
    pub fn check(&self, line: &str) -> Checked {
        let output = self.raddle(&format!("check --format json {line}")).output().unwrap();
        Checked::of(&output)
    }

    /// `raddle check --preprocessor PREPROCESSOR LINE`.
    pub fn check_through(&self, preprocessor: &std::path::Path, line: &str) -> Checked {
        let mut check = self.raddle("check --format json --preprocessor");
        let output = check.arg(preprocessor).args(line.split_whitespace()).output().unwrap();
        Checked::of(&output)
    }
}

impl Checked {
    #[track_caller]
    pub fn of(output: &Output) -> Checked {
        let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
            panic!("{e}\n{}\n{}", String::from_utf8_lossy(&output.stdout), stderr(output))
        });
        Checked { status: output.status.code().expect("no signal"), stderr: stderr(output), report }
    }

    /// Kind and variable, as in `data-race counter`, sorted.
    pub fn found(&self) -> Vec<String> {
        let text = |v: &Value| v.as_str().unwrap_or("?").to_owned();
        let findings = self.report["findings"].as_array().unwrap();
        let mut out: Vec<String> = findings
            .iter()
            .map(|f| format!("{} {}", text(&f["kind"]), text(&f["location"]["name"])))
            .collect();
        out.sort();
        out
    }

    pub fn stat(&self, key: &str) -> i64 {
        self.report["stats"][key].as_i64().unwrap_or_else(|| panic!("no `{key}` in {}", self.report["stats"]))
    }

    #[track_caller]
    pub fn assert_says(&self, sentence: &str) {
        assert!(self.stderr.contains(sentence), "no `{sentence}` in:\n{}", self.stderr);
    }

    /// The places of a finding's ends: file and line.
    pub fn places(&self, finding: usize) -> Vec<(String, i64)> {
        let accesses = self.report["findings"][finding]["accesses"].as_array().unwrap();
        let place = |a: &Value| {
            let frame = &a["stack"][0];
            (frame["file"].as_str().unwrap_or("").to_owned(), frame["line"].as_i64().unwrap_or(0))
        };
        accesses.iter().map(place).collect()
    }
}
