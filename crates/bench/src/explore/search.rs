//! One search by `raddle explore`: its command line, and its report.

use std::fs::{self, File};
use std::io;
use std::mem;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::measure::{Broken, wait_within};

/// The exit status of raddle when something was found.
const FOUND: i32 = 66;
/// The time that a search may take beyond its own limit, for first runs and for minimising
/// failures.
const GRACE: Duration = Duration::from_secs(60);

/// The request for a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    pub strategy: String,
    pub seconds: f64,
    pub schedules: Option<u64>,
    pub seed: u64,
    pub jobs: u16,
    pub fork: bool,
    pub keep_going: bool,
    pub pinned: bool,
}

impl Request {
    pub fn new(strategy: &str, seconds: f64) -> Request {
        Request {
            strategy: strategy.to_owned(),
            seconds,
            schedules: None,
            seed: 1,
            jobs: 1,
            fork: false,
            keep_going: false,
            pinned: false,
        }
    }

    fn words(&self) -> Vec<String> {
        let mut words = vec!["--strategy".to_owned(), self.strategy.clone()];
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        option("--seconds", self.seconds.to_string());
        option("--seed", self.seed.to_string());
        option("--jobs", self.jobs.to_string());
        if let Some(schedules) = self.schedules {
            option("--schedules", schedules.to_string());
        }
        let flags = [(self.fork, "--fork"), (self.keep_going, "--keep-going")];
        words.extend(flags.iter().filter(|(on, _)| *on).map(|(_, name)| (*name).to_owned()));
        words
    }
}

/// The result of a search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SearchResult {
    pub schedules: u64,
    pub seconds: f64,
    /// The search had nothing left to try.
    pub exhausted: bool,
    /// One process for each schedule, by request or as a fallback.
    pub fork: bool,
    pub steps_max: u64,
    /// The schedule that failed first, counted from 1.
    pub first_failure: Option<u64>,
    /// The kinds of what was found.
    pub kinds: Vec<String>,
}

impl SearchResult {
    pub fn rate(&self) -> f64 {
        self.schedules as f64 / self.seconds
    }

    /// Reads the JSON report of a search.
    pub fn parse(text: &str) -> Result<SearchResult, String> {
        let report: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let stat = |key: &str| report["stats"].get(key).ok_or(format!("its statistics lack `{key}`"));
        let number = |key: &str| stat(key)?.as_u64().ok_or(format!("`{key}` is no number"));
        let yes = |key: &str| stat(key).map(|value| value == &Value::Bool(true));
        let findings = report["findings"].as_array().ok_or("it has no findings")?;
        let kind = |finding: &Value| finding["kind"].as_str().unwrap_or("unknown").to_owned();
        Ok(SearchResult {
            schedules: number("schedules")?,
            seconds: stat("seconds")?.as_f64().ok_or("`seconds` is no number")?,
            exhausted: yes("exhausted")?,
            fork: yes("fork")?,
            steps_max: number("steps_max")?,
            first_failure: report["stats"].get("first_failure").and_then(Value::as_u64),
            kinds: findings.iter().map(kind).collect(),
        })
    }
}

/// Runs searches, one at a time, in a folder of its own.
pub struct Explorer {
    pub raddle: PathBuf,
    pub folder: PathBuf,
}

impl Explorer {
    /// The reason of a failure contains no paths. Raddle's own output goes to the terminal.
    pub fn run(&self, program: &Path, request: &Request) -> Result<SearchResult, String> {
        let folder = self.folder.join("search");
        let cannot = |error: io::Error| format!("it could not be run: {error}");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(cannot)?;
        let (report, said) = (folder.join("report.json"), folder.join("stderr"));
        let mut command = Command::new(&self.raddle);
        command.arg("explore").args(request.words()).args(["--format", "json", "-o"]).arg(&report);
        command.arg("--").arg(program).current_dir(&folder).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&said).map_err(cannot)?);
        // A panic that symbolises its own stack would change the program.
        command.env_remove("RUST_BACKTRACE");
        if request.pinned {
            pin(&mut command);
        }
        let child = command.spawn().map_err(cannot)?;
        let limit = Duration::from_secs_f64(request.seconds) + GRACE;
        let status = wait_within(child, limit).map_err(|broken| match broken {
            Broken::TimedOut(limit) => format!("it ran longer than {} s", limit.as_secs()),
            Broken::NoUsage { status, .. } => format!("it ended with status {status}"),
            Broken::Io(error) => cannot(error),
        })?;
        if !matches!(status.code(), Some(0 | FOUND)) {
            eprint!("{}", fs::read_to_string(&said).unwrap_or_default());
            return Err(format!("it ended with status {}", status.code().unwrap_or(-1)));
        }
        let text = fs::read_to_string(&report).map_err(|_| "it left no report".to_owned())?;
        SearchResult::parse(&text).map_err(|what| format!("its report cannot be read: {what}"))
    }
}

/// Pins a command and all its children to one processor. This is the last one that this process may
/// use, because the first has most interrupts.
pub fn pin(command: &mut Command) {
    // SAFETY: between fork and exec; these are plain system calls on plain memory of the stack.
    unsafe {
        command.pre_exec(|| {
            let mut set: libc::cpu_set_t = mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            if libc::sched_getaffinity(0, size, &raw mut set) != 0 {
                return Err(io::Error::last_os_error());
            }
            let last = (0..8 * size).rev().find(|&cpu| libc::CPU_ISSET(cpu, &set));
            libc::CPU_ZERO(&mut set);
            libc::CPU_SET(last.unwrap_or(0), &mut set);
            match libc::sched_setaffinity(0, size, &raw const set) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"stats": {"schedules": 500, "seconds": 0.25, "exhausted": false, "fork": true,
        "steps_max": 17, "first_failure": 3}, "findings": [{"kind": "deadlock"}]}"#;

    #[test]
    fn a_report_is_read() {
        let search = SearchResult::parse(REPORT).unwrap();
        assert_eq!((search.rate(), search.fork, search.exhausted), (2000.0, true, false));
        assert_eq!((search.first_failure, search.kinds), (Some(3), vec!["deadlock".to_owned()]));
    }

    #[test]
    fn a_report_that_lacks_something_is_refused() {
        assert!(SearchResult::parse("{}").unwrap_err().contains("no findings"));
        let without = REPORT.replace("steps_max", "steps");
        assert_eq!(SearchResult::parse(&without).unwrap_err(), "its statistics lack `steps_max`");
        assert!(SearchResult::parse("no").is_err());
    }

    #[test]
    fn the_words_say_what_was_asked_for() {
        let mut request = Request::new("random", 1.5);
        assert_eq!(request.words().join(" "), "--strategy random --seconds 1.5 --seed 1 --jobs 1");
        (request.schedules, request.fork, request.keep_going) = (Some(9), true, true);
        assert!(request.words().join(" ").ends_with("--schedules 9 --fork --keep-going"));
    }

    #[test]
    fn what_is_pinned_sees_one_processor() {
        let mut command = Command::new("nproc");
        pin(&mut command);
        assert_eq!(String::from_utf8_lossy(&command.output().unwrap().stdout).trim(), "1");
    }
}
