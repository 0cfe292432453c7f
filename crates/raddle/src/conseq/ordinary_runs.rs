//! Runs without a scheduler: the program as it is, with all its threads at once and with its files
//! and sockets.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_finding::Kind;
use raddle_wire::config::Config;

use raddle_harness::check::printed::Printed;
use raddle_harness::crew::signal_name;
use raddle_harness::launch;
use raddle_harness::session_folder::SessionFolder;
use raddle_harness::verdict::Usual;
use raddle_harness::worker::{Recipe, apart, end};

/// A finished run.
pub struct Ordinary {
    /// `None`: it was killed.
    pub status: Option<ExitStatus>,
    pub printed: Printed,
    pub stderr: String,
    pub took: Duration,
}

/// Starts what the recipe says, in a session with this config. `prepare` makes more files in its
/// folder, and `look` reads them after the run. The run is killed after `limit`, or when `is_over`.
pub fn run<F, R>(
    recipe: &Recipe,
    config: &Config,
    limit: Duration,
    is_over: &dyn Fn() -> bool,
    prepare: impl FnOnce(&Path) -> Result<F>,
    look: impl FnOnce(&Path, F) -> Result<R>,
) -> Result<(Ordinary, R)> {
    let folder = SessionFolder::new()?;
    folder.write_config(config)?;
    let files = prepare(folder.path())?;
    let mut command = launch::command(&recipe.program, &recipe.words, &recipe.runtime, folder.path());
    if let Some(folder) = &recipe.folder {
        command.current_dir(folder);
    }
    command.envs(recipe.environment.iter().map(|(k, v)| (k, v)));
    let (out, err) = (folder.path().join("stdout"), folder.path().join("stderr"));
    command.stdin(launch::input()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    apart(&mut command);
    let begun = Instant::now();
    let mut child =
        command.spawn().with_context(|| format!("cannot start {}", recipe.program.path.display()))?;
    let status = loop {
        match child.try_wait().context("cannot wait for the program")? {
            Some(status) => break Some(status),
            None if begun.elapsed() >= limit || is_over() || recipe.is_over() => {
                end(&mut child);
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let took = begun.elapsed();
    let (out, err) = (content(&out), content(&err));
    let seen = look(folder.path(), files)?;
    let stderr = String::from_utf8_lossy(&err).into_owned();
    Ok((Ordinary { status, printed: Printed::from_bytes(&out, &err), stderr, took }, seen))
}

fn content(path: &Path) -> Vec<u8> {
    const MOST: u64 = 16 << 20;
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(MOST).read_to_end(&mut bytes);
    }
    bytes
}

/// What is wrong with how a run ended. A run that took long or was killed from outside proves
/// nothing.
pub fn ended(run: &Ordinary, usual: &Usual) -> Option<(Kind, String)> {
    let status = run.status?;
    if status.signal().is_some_and(|s| OUTSIDE.contains(&s)) {
        return None;
    }
    if let Some(signal) = status.signal() {
        return Some(match (signal, assertion(&run.stderr)) {
            (libc::SIGABRT, Some(text)) => (Kind::Assertion, format!("assertion `{text}` fails")),
            _ => (Kind::Crash, format!("the program is ended by {}", signal_name(signal))),
        });
    }
    let code = status.code().unwrap_or(0);
    if code == 0 || code == usual.status {
        return None;
    }
    // A command reports by its status that something it started has failed.
    Some(match assertion(&run.stderr) {
        Some(text) => (Kind::Assertion, format!("assertion `{text}` fails")),
        None if usual.rust && code == 101 => (Kind::Assertion, "the program panics".into()),
        None => (Kind::ExitStatus, format!("the program ends with status {code}")),
    })
}

/// Signals that a program does not raise itself: an administrator's, or the kernel's when memory is
/// short.
pub const OUTSIDE: [i32; 5] = [libc::SIGKILL, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGXCPU];

/// ``ui: ui.c:7: ui: Assertion `url != 0' failed.``
fn assertion(stderr: &str) -> Option<&str> {
    let (_, after) = stderr.rsplit_once("Assertion `")?;
    after.split_once("' failed").map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(status: i32, stderr: &str) -> Ordinary {
        let status = Some(ExitStatus::from_raw(status));
        Ordinary { status, printed: Printed::default(), stderr: stderr.into(), took: Duration::ZERO }
    }

    #[test]
    fn endings_are_told() {
        let usual = Usual { status: 3, rust: true, ..Usual::default() };
        let kind = |r: &Ordinary| ended(r, &usual).map(|(kind, _)| kind);
        assert_eq!(kind(&run(0, "")), None);
        assert_eq!(kind(&run(3 << 8, "")), None, "as usual");
        assert_eq!(kind(&run(4 << 8, "")), Some(Kind::ExitStatus));
        assert_eq!(kind(&run(101 << 8, "")), Some(Kind::Assertion));
        assert_eq!(kind(&run(libc::SIGSEGV, "")), Some(Kind::Crash));
        let failed = ended(&run(libc::SIGABRT, "a: a.c:7: ui: Assertion `url != 0' failed.\n"), &usual);
        assert_eq!(failed, Some((Kind::Assertion, "assertion `url != 0` fails".into())));
        let inside = run(1 << 8, "srv: srv.c:7: go: Assertion `x' failed.\nAborted\n");
        assert_eq!(ended(&inside, &usual), Some((Kind::Assertion, "assertion `x` fails".into())));
        assert_eq!(kind(&run(libc::SIGKILL, "")), None, "somebody else's doing");
        assert_eq!(kind(&Ordinary { status: None, ..run(0, "") }), None, "it only took long");
    }
}
