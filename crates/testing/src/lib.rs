//! What the integration tests of all crates share. Only tests depend on it.
//!
//! - [`Folder`]: a folder of a test's own, files in it, and commands that must succeed there.
//! - [`Testbed`]: such a folder with raddle as a command. What it does for one subcommand is in the
//!   file of that name: [`run`], [`explore`], [`tsvd`], [`check`].
//! - [`dotnet`]: the SDK that `./test setup` installs, for tests that compile C#.
//!
//! - [`look_again`]: for what takes luck to be seen.
//!
//! A helper panics with what the command has said: that is the message of the failed test.

pub mod check;
pub mod dotnet;
pub mod explore;
pub mod run;
pub mod tsvd;

use std::ffi::OsStr;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file of this repository, by its path from the root.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A test's own folder, gone at its end.
pub struct Folder(tempfile::TempDir);

impl Default for Folder {
    fn default() -> Folder {
        Folder::new()
    }
}

impl Folder {
    /// An empty one.
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// What has this name in it, whether or not it exists.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a text file, with the folders above it.
    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        self.bytes(name, content.as_bytes())
    }

    /// Writes a file, with the folders above it.
    pub fn bytes(&self, name: &str, content: &[u8]) -> PathBuf {
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

    /// Runs a command line here, words split at blanks. It must succeed.
    #[track_caller]
    pub fn sh(&self, line: &str) {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a command"));
        command.args(words).current_dir(self.root());
        let output = command.output().unwrap_or_else(|e| panic!("`{line}` cannot be started: {e}"));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "`{line}` failed:\n{said}{}", stderr(&output));
    }
}

/// A test's own folder, and raddle.
pub struct Testbed {
    folder: Folder,
    /// For what raddle keeps between runs; elsewhere, so that tests can tell that nothing was
    /// written here.
    state: Folder,
    raddle: PathBuf,
    cache: PathBuf,
}

impl Deref for Testbed {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Testbed {
    /// `raddle` is the program. `cache` is shared by all tests, so that std is instrumented once.
    pub fn new(raddle: impl Into<PathBuf>, cache: impl Into<PathBuf>) -> Testbed {
        let (folder, state) = (Folder::new(), Folder::new());
        Testbed { folder, state, raddle: raddle.into(), cache: cache.into() }
    }

    /// Where raddle keeps what it has found.
    pub fn state(&self) -> &Path {
        self.state.root()
    }

    /// A program started in this folder, without settings of whoever runs the tests.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.root()).env("XDG_CACHE_HOME", &self.cache);
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
            "RADDLE_SESSION",
            "RADDLE_EDITOR_URL",
            "TSAN_OPTIONS",
            "LD_BIND_NOW",
            "OMP_NUM_THREADS",
        ] {
            command.env_remove(name);
        }
        // Raddle and gdb wrap their lines by it: tests look for whole sentences.
        command.env("COLUMNS", "1000");
        command
    }

    /// Raddle, with a command line split at spaces.
    pub fn raddle(&self, line: &str) -> Command {
        let mut command = self.command(&self.raddle);
        command.args(line.split_whitespace());
        command
    }

    /// Runs raddle, which must succeed; gives its stdout.
    pub fn ok(&self, line: &str) -> String {
        succeed(&mut self.raddle(line))
    }
}

/// How often a test looks for what takes luck.
pub const ATTEMPTS: u32 = 5;

/// Looks until `is_enough`, at most [`ATTEMPTS`] times, and gives the last look. Each look that was
/// not enough is said.
#[track_caller]
pub fn look_again<T>(is_enough: impl Fn(&T) -> bool, look: impl Fn() -> T) -> T {
    let place = std::panic::Location::caller();
    for attempt in 1..ATTEMPTS {
        let seen = look();
        if is_enough(&seen) {
            return seen;
        }
        eprintln!("{place}: look {attempt} of {ATTEMPTS} was not enough; once more");
    }
    look()
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

/// What a command has said there, as text.
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
