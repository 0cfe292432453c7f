//! `raddle build -- make -j2`: any build, with raddle's compilers in front of the PATH.
//!
//! A folder gets one script for each C and C++ compiler on the PATH, by its own name, which calls
//! `raddle cc --use` with the compiler's path. So a build that says `gcc-12` gets gcc 12, and
//! nothing is looked up twice. What names its compiler by an absolute path goes past it, and the
//! caller is told when nothing came through at all.
//!
//! The folder stays: CMake and configure scripts write down where they found the compiler, and the
//! build that they have made ready calls it there, hours later and with or without raddle.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::exit;
use raddle_harness::install::cache;
use raddle_harness::say::{count, say};

/// Run a build command with raddle's compilers in front of the PATH
///
/// Replaces C and C++ compilers under their usual names; for cargo, use `cargo raddle`. Nothing
/// else about the build changes, and the exit status is that of the build.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  raddle build -- make -j2
  raddle build -- sh -c './configure && make'
  raddle build -- cmake -B build && raddle build -- cmake --build build")]
pub struct BuildArgs {
    /// The build and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// The variable that names the file in which each call of a compiler leaves a byte.
const CALLS: &str = "RADDLE_BUILD_CALLS";
/// How the names of folders with scripts begin.
const FOLDER: &str = "build-";

pub fn run(args: &BuildArgs) -> Result<ExitCode> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let raddle = std::env::current_exe().context("cannot find the raddle binary")?;
    let root = cache::root()?;
    let compilers = compilers(&path, &root);
    anyhow::ensure!(!compilers.is_empty(), "there is no C or C++ compiler on the PATH");
    let folder = root.join(name_of(&raddle, &compilers));
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (name, real) in &compilers {
        write(&folder, name, real, &raddle)?;
    }
    let calls = tempfile::NamedTempFile::new().context("cannot make a temporary file")?;
    let mut in_front = folder.into_os_string();
    in_front.push(":");
    in_front.push(&path);
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]).env("PATH", in_front).env(CALLS, calls.path());
    let status =
        command.status().with_context(|| format!("cannot start {}", args.command[0].to_string_lossy()))?;
    let called = std::fs::metadata(calls.path()).map_or(0, |m| m.len());
    match called {
        // The build has said itself why it came to no compiler.
        0 if !status.success() => {}
        0 => say!(
            "no compiler was called through the PATH, so nothing was instrumented. If everything was already built, clean it first; if the build \
             names its compiler by an absolute path, set CC=\"raddle cc\" and CXX=\"raddle c++\""
        ),
        n => say!("{} went through raddle", count(n, "call of a compiler", "calls of compilers")),
    }
    Ok(ExitCode::from(status.code().map_or(exit::FAILURE, |c| c as u8)))
}

/// `cc` or `c++` for a compiler's name, with or without a version.
fn dialect(name: &str) -> Option<&'static str> {
    let base = match name.rsplit_once('-') {
        Some((base, version)) if version.chars().all(|c| c.is_ascii_digit() || c == '.') => base,
        _ => name,
    };
    match base {
        "cc" | "gcc" | "clang" | "c99" | "c11" => Some("cc"),
        "c++" | "g++" | "clang++" => Some("c++"),
        _ => None,
    }
}

/// The folder for these compilers, which others do not share.
fn name_of(raddle: &Path, compilers: &BTreeMap<String, PathBuf>) -> String {
    let mut hash = Sha256::new_with_prefix(raddle.as_os_str().as_bytes());
    for (name, real) in compilers {
        hash.update([b"\0", name.as_bytes(), b"\0", real.as_os_str().as_bytes()].concat());
    }
    format!("{FOLDER}{}", cache::hex(&hash.finalize()[..8]))
}

/// The compilers on the PATH by name; the first of a name counts. Scripts that an outer `raddle
/// build` has put there, below `cache`, are none.
fn compilers(path: &OsStr, cache: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let is_ours = |folder: &PathBuf| folder.parent() == Some(cache);
    for folder in std::env::split_paths(path).filter(|f| !is_ours(f)) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if dialect(&name).is_some() && entry.path().is_file() {
                found.entry(name).or_insert_with(|| entry.path());
            }
        }
    }
    found
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn write(folder: &Path, name: &str, real: &Path, raddle: &Path) -> Result<()> {
    let path = folder.join(name);
    let dialect = dialect(name).unwrap_or("cc");
    let text = format!(
        "#!/bin/sh\n[ -z \"${CALLS}\" ] || printf . >> \"${CALLS}\"\nexec {} {dialect} --use {} \"$@\"\n",
        quoted(raddle),
        quoted(real)
    );
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    // By rename, since another build may be using the old one.
    let fresh = folder.join(format!(".{name}-{}", std::process::id()));
    std::fs::write(&fresh, text).with_context(|| format!("cannot write {}", fresh.display()))?;
    std::fs::set_permissions(&fresh, PermissionsExt::from_mode(0o755))
        .context("cannot make a script executable")?;
    std::fs::rename(&fresh, &path).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_name() {
        let of = |name: &str| dialect(name);
        assert_eq!((of("gcc"), of("gcc-12"), of("clang-19")), (Some("cc"), Some("cc"), Some("cc")));
        assert_eq!((of("g++"), of("c++"), of("clang++-19")), (Some("c++"), Some("c++"), Some("c++")));
        for other in ["gcc-ar", "clang-format", "ccache", "clang-tidy-19", "g++-foo", "cc1"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn scripts_of_an_outer_build_are_no_compilers() {
        let (root, mine) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ours = root.path().join("build-1");
        std::fs::create_dir(&ours).unwrap();
        for folder in [ours.as_path(), mine.path()] {
            std::fs::write(folder.join("cc"), "").unwrap();
        }
        let path = std::env::join_paths([ours.as_path(), mine.path()]).unwrap();
        assert_eq!(compilers(&path, root.path())["cc"], mine.path().join("cc"));
        let other = BTreeMap::from([("cc".to_owned(), PathBuf::from("/other/cc"))]);
        let raddle = Path::new("/r");
        assert_ne!(name_of(raddle, &compilers(&path, root.path())), name_of(raddle, &other));
    }

    #[test]
    fn paths_are_quoted_for_the_shell() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
