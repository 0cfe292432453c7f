//! Tests each compiler on the PATH by building and running a small program.

use super::{Check, Status};
use crate::sysroot::{self, TARGET, Toolchain};
use crate::wrap::compiler::lookup;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "\
#include <pthread.h>
static int value;
static void *work(void *p) { value++; return p; }
int main(void) {
    pthread_t t;
    if (pthread_create(&t, 0, work, 0) || pthread_join(t, 0)) return 1;
    return value - 1;
}
";

/// Every C compiler found, and Rust.
pub fn checks() -> Vec<Check> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut checks: Vec<Check> = names(&path).iter().map(|name| c_compiler(name)).collect();
    if checks.is_empty() {
        checks.push(Check::warn("C compiler", "neither gcc nor clang found", "apt install gcc g++"));
    }
    checks.push(rust());
    require_one(checks)
}

/// A broken compiler is a warning if another one works, and a failure otherwise.
fn require_one(mut checks: Vec<Check>) -> Vec<Check> {
    if checks.iter().all(|c| c.status != Status::Ok) {
        checks.iter_mut().for_each(|c| c.status = Status::Fail);
    }
    checks
}

/// The names `gcc`, `gcc-N`, `clang` and `clang-N` on the PATH, one for each real file.
fn names(path: &OsStr) -> Vec<String> {
    let mut names = BTreeSet::new();
    for folder in std::env::split_paths(path) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        names.extend(entries.filter_map(|e| e.file_name().into_string().ok()).filter(|n| is_compiler(n)));
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| {
        let file = lookup(OsStr::new(name), path).next();
        file.is_some_and(|f| seen.insert(std::fs::canonicalize(&f).unwrap_or(f)))
    });
    names.into_iter().collect()
}

fn is_compiler(name: &str) -> bool {
    ["gcc", "clang"].iter().any(|family| match name.strip_prefix(family) {
        Some("") => true,
        Some(rest) => {
            rest.strip_prefix('-').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        }
        None => false,
    })
}

fn c_compiler(name: &str) -> Check {
    match try_c(name) {
        Ok(()) => Check::ok(name, format!("{}; builds and runs with raddle's runtime", version(name))),
        Err(reason) => Check::warn(
            name,
            format!("does not work with raddle: {reason}"),
            "use another compiler, by RADDLE_CC",
        ),
    }
}

fn version(name: &str) -> String {
    let output = Command::new(name).arg("--version").output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

fn try_c(name: &str) -> Result<(), String> {
    let folder = raddle_harness::session_folder::SessionFolder::new().map_err(|e| format!("{e:#}"))?;
    let (source, program) = (folder.path().join("a.c"), folder.path().join("a"));
    std::fs::write(&source, PROGRAM).map_err(|e| e.to_string())?;
    let raddle = std::env::current_exe().map_err(|e| e.to_string())?;
    let words = ["cc", "--use", name, "-O1", "-pthread"].map(OsString::from);
    let build = Command::new(raddle).args(words).arg(&source).arg("-o").arg(&program).output();
    expect_success(build)?;
    expect_success(Command::new(&program).output())
}

/// The first line of the error, if it failed.
fn expect_success(result: std::io::Result<Output>) -> Result<(), String> {
    let output = result.map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(stderr.lines().next().map_or_else(|| output.status.to_string(), str::to_owned))
}

fn rust() -> Check {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let toolchain = match Toolchain::of(&rustc) {
        Ok(toolchain) => toolchain,
        Err(error) => return Check::warn("rustc", error.to_string(), "install Rust by rustup"),
    };
    let name = toolchain.verbose_version.lines().next().unwrap_or_default().to_owned();
    if let Err(error) = toolchain.lld() {
        return Check::warn("rustc", format!("{name}: {error}"), "use a toolchain of rustup's");
    }
    if !std_has_bitcode(&toolchain.sysroot) {
        let detail = format!("{name}: its std carries no bitcode, so it cannot be instrumented");
        return Check::warn("rustc", detail, "use a toolchain of rustup's");
    }
    Check::ok("rustc", format!("{name}; std can be instrumented"))
}

fn std_has_bitcode(sysroot: &Path) -> bool {
    let folder = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| e.path()).any(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib") && sysroot::has_bitcode(&path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_compilers() {
        for name in ["gcc", "gcc-12", "clang", "clang-19"] {
            assert!(is_compiler(name), "{name}");
        }
        for name in ["gcc-ar-12", "gcc-ranlib", "clang++", "clang-format", "clangd", "gcc-", "cc"] {
            assert!(!is_compiler(name), "{name}");
        }
    }

    #[test]
    fn one_file_by_two_names_is_tried_once() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("gcc-12");
        std::fs::write(&real, "").unwrap();
        std::fs::set_permissions(&real, PermissionsExt::from_mode(0o755)).unwrap();
        symlink(&real, folder.path().join("gcc")).unwrap();
        assert_eq!(names(folder.path().as_os_str()), ["gcc"]);
    }

    #[test]
    fn one_working_compiler_is_enough() {
        let (good, bad) = (Check::ok("gcc", "12"), Check::warn("clang", "no", "x"));
        let statuses = |c: Vec<Check>| c.into_iter().map(|c| c.status).collect::<Vec<_>>();
        assert_eq!(statuses(require_one(vec![good, bad.clone()])), [Status::Ok, Status::Warn]);
        assert_eq!(statuses(require_one(vec![bad.clone(), bad])), [Status::Fail, Status::Fail]);
    }

    #[test]
    fn the_first_line_tells_why() {
        let failed = Command::new("sh").args(["-c", "echo one >&2; echo two >&2; exit 3"]).output();
        assert_eq!(expect_success(failed), Err("one".into()));
        assert!(expect_success(Command::new("true").output()).is_ok());
        assert!(expect_success(Command::new("/nonexistent").output()).is_err());
    }
}
