//! Time and peak memory of one process.
//!
//! The bench starts each run through a launcher, `raddle-bench measure -- PROGRAM …`. The launcher
//! starts the program as its own child, waits with `wait4`, and appends that child's usage as a
//! line to the file named by [`USAGE_FILE`]. Under raddle, `raddle run` runs the launcher, so the
//! figures are the target's and not the driver's. (`ru_maxrss` of the driver would not do: it
//! covers the driver alone, and the maximum of its children would include whatever else it starts.)
//!
//! One limit: Linux carries the peak of a process across `exec`, so no figure can be below the
//! launcher's own peak, about two megabytes. It is recorded as `launcher_kib` to show that it does
//! not matter.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// The environment variable that names the file for the usage.
pub const USAGE_FILE: &str = "RADDLE_BENCH_USAGE";

/// The resources that one process used.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ResourceUsage {
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub peak_kib: u64,
    pub launcher_kib: u64,
    /// The exit status, or 128 plus the signal's number.
    pub status: i32,
}

/// The launcher: runs the command and writes its usage. Returns the status to exit with.
pub fn launch(command: &[OsString], usage_file: &Path) -> Result<i32, BenchError> {
    let [program, arguments @ ..] = command else {
        return Err(BenchError::Usage("`measure` needs a program after `--`".to_owned()));
    };
    let begin = Instant::now();
    let child =
        Command::new(program).args(arguments).env_remove(USAGE_FILE).spawn().map_err(BenchError::Launch)?;
    let (status, usage) = wait_for(&child).map_err(BenchError::Launch)?;
    let seconds = begin.elapsed().as_secs_f64();

    let status = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
    let usage = ResourceUsage {
        seconds,
        cpu_seconds: time(usage.ru_utime) + time(usage.ru_stime),
        peak_kib: usage.ru_maxrss.try_into().unwrap_or(0),
        launcher_kib: own_peak_kib(),
        status,
    };
    let text = serde_json::to_string(&usage).expect("a usage is plain numbers");
    // One line for each run, because the launcher may run several times.
    let mut file = OpenOptions::new().append(true).create(true).open(usage_file);
    let written = file.as_mut().map_err(|error| io::Error::from(error.kind()));
    written.and_then(|file| writeln!(file, "{text}")).map_err(BenchError::file("write", usage_file))?;
    Ok(status)
}

fn wait_for(child: &Child) -> io::Result<(ExitStatus, libc::rusage)> {
    let pid: libc::pid_t = child.id().try_into().map_err(io::Error::other)?;
    let mut status = 0;
    loop {
        // SAFETY: rusage is plain integers, for which zero is a value; both pointers outlive the
        // call.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let waited = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
        if waited == pid {
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn own_peak_kib() -> u64 {
    // SAFETY: as in wait_for; RUSAGE_SELF cannot fail with a valid pointer.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    usage.ru_maxrss.try_into().unwrap_or(0)
}

fn time(value: libc::timeval) -> f64 {
    value.tv_sec as f64 + value.tv_usec as f64 / 1e6
}

/// A command to measure: `before -- launcher measure -- program`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MeasureJob {
    /// The command that runs the launcher: `raddle run …`, or nothing.
    pub before: Vec<OsString>,
    pub program: Vec<OsString>,
    pub environment: Vec<(&'static str, String)>,
}

/// The result of a [`MeasureJob`].
#[derive(Debug)]
pub struct MeasuredJob {
    pub usage: ResourceUsage,
    /// The time of the whole command, including launcher and driver.
    pub command_seconds: f64,
    /// The exit status of the whole command. Under raddle, this is raddle's own.
    pub command_status: i32,
    pub stdout: String,
}

/// Why a job gave no figures.
#[derive(Debug)]
pub enum Broken {
    TimedOut(Duration),
    /// The target ended before it could be measured.
    NoUsage {
        status: i32,
        stderr: String,
    },
    Io(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Io(error)
    }
}

/// Runs jobs through a launcher, one at a time, with their output in a folder of its own.
pub struct Meter {
    /// This program, or another copy of it.
    pub launcher: PathBuf,
    pub folder: PathBuf,
    pub limit: Duration,
}

impl Meter {
    pub fn run(&self, job: &MeasureJob) -> Result<MeasuredJob, Broken> {
        let [usage_file, stdout, stderr] =
            ["usage.json", "stdout", "stderr"].map(|name| self.folder.join(name));
        // A file of the previous run must not count for this one.
        match fs::remove_file(&usage_file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let launcher = [self.launcher.as_os_str().to_owned(), "measure".into(), "--".into()];
        let line: Vec<OsString> =
            job.before.iter().cloned().chain(launcher).chain(job.program.clone()).collect();
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).env_remove("TSAN_OPTIONS").env(USAGE_FILE, &usage_file);
        command.envs(job.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);

        let begin = Instant::now();
        let status = wait_within(command.process_group(0).spawn()?, self.limit)?;
        let command_seconds = begin.elapsed().as_secs_f64();
        let command_status = status.code().unwrap_or(-1);
        let usage = fs::read_to_string(&usage_file).ok().and_then(|text| serde_json::from_str(&text).ok());
        match usage {
            Some(usage) => {
                let stdout = String::from_utf8_lossy(&fs::read(&stdout)?).into_owned();
                Ok(MeasuredJob { usage, command_seconds, command_status, stdout })
            }
            None => {
                let stderr = String::from_utf8_lossy(&fs::read(&stderr)?).into_owned();
                Err(Broken::NoUsage { status: command_status, stderr })
            }
        }
    }
}

/// Waits for a child that leads a process group. At the limit, kills the whole group.
pub(crate) fn wait_within(mut child: Child, limit: Duration) -> Result<ExitStatus, Broken> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begin.elapsed() >= limit {
            let group = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
            // SAFETY: a plain system call. The child is not reaped yet, so the number still names
            // our own group.
            unsafe { libc::kill(-group, libc::SIGKILL) };
            child.wait()?;
            return Err(Broken::TimedOut(limit));
        }
        // The launcher takes the exact time. This loop only has to notice the end without using a
        // core.
        thread::sleep(Duration::from_millis(4));
    }
}
