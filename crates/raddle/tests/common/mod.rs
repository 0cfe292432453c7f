//! What the tests of the command share: a folder of their own, and raddle with a cache in it.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod check;
pub mod explore;
pub mod run;
pub mod tsvd;

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A test's own folder.
pub struct Bench {
    folder: tempfile::TempDir,
    /// For what raddle keeps between runs; elsewhere, so that tests can tell that nothing was
    /// written here.
    state: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn state(&self) -> &Path {
        self.state.path()
    }

    /// Writes a file, with the folders above it.
    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Writes a file that can be run.
    pub fn script(&self, name: &str, content: &str) -> PathBuf {
        let path = self.file(name, content);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    /// A program started in this folder, without settings of whoever runs the tests.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env("XDG_CACHE_HOME", cache());
        command.env("XDG_STATE_HOME", self.state());
        for name in [
            "RADDLE_STORE",
            "RADDLE_NO_STORE",
            "RADDLE_CC",
            "RADDLE_CXX",
            "RADDLE_NO_DEBUG_INFO",
            "RADDLE_TSVD",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET",
            "CARGO_CRATE_NAME",
            "OUT_DIR",
            "CC",
            "CXX",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Raddle, with a command line split at spaces.
    pub fn raddle(&self, line: &str) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_raddle"));
        command.args(line.split_whitespace());
        command
    }

    /// Runs raddle, which must succeed.
    pub fn ok(&self, line: &str) -> String {
        succeed(&mut self.raddle(line))
    }
}

/// One cache for all tests, so that std is instrumented once.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Runs a command that must succeed; gives its stdout.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that must be refused by raddle: status 2, one sentence, nothing on stdout.
pub fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{command:?}\n{}", stderr(&output));
    assert!(output.stdout.is_empty(), "{command:?}");
    let text = stderr(&output);
    assert!(text.starts_with("raddle: ") && text.lines().count() == 1, "{text}");
    text
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The names of undefined (`U`) or defined symbols of an object, as `nm` shows them.
pub fn symbols(path: &Path) -> String {
    succeed(Command::new("nm").arg(path))
}

/// The libraries that a program asks the loader for.
pub fn needed(path: &Path) -> String {
    let text = succeed(Command::new("readelf").arg("-d").arg(path));
    text.lines().filter(|l| l.contains("NEEDED")).collect()
}
