//! `cargo raddle …` and `raddle cargo …`: cargo with every crate of the target instrumented.
//!
//! Everything is passed through the environment, so cargo's arguments stay unchanged:
//!
//! - `RUSTC_WRAPPER` and `RUSTDOC` are raddle's; raddle's wrapper calls one that was set before.
//! - `CARGO_BUILD_TARGET` names the host. With a target given, even the host's own, cargo
//!   keeps build scripts and proc-macros apart from the program, and applies `RUSTFLAGS` to
//!   the program only; that is how raddle tells them apart too.
//! - `CARGO_TARGET_DIR` is `raddle` in the project's target folder, unless one was set, so that
//!   plain and instrumented builds do not undo each other.
//! - `CC_…` and `CXX_…` for the target are `raddle-cc` and `raddle-c++`, unless set, so that C
//!   code built by build scripts is instrumented as well.
//!
//! `run`, `test`, `bench` and `nextest` run under `raddle run`, which watches every instrumented
//! process of the tree and makes one report. Its options come before cargo's subcommand: `cargo
//! raddle --mode hybrid test -- --nocapture`. If another raddle already watches, as in `raddle
//! conseq -- cargo raddle test`, this adds nothing.

use super::cc::CARGO_TARGET;
use super::rustc::{CrateRefusal, NEXT_WRAPPER, SYSROOT};
use crate::shims;
use crate::sysroot::{self, TARGET, Toolchain};
use anyhow::Context;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Subcommands that run the program.
const WATCHED: &[&str] = &["run", "r", "test", "t", "bench", "nextest"];

/// Set if another raddle watches.
const SESSION: &str = match raddle_wire::SESSION_ENV.to_str() {
    Ok(name) => name,
    Err(_) => unreachable!(),
};

/// Runs cargo with `cargo_args`. If that runs a program, watches it with `options` (raw, for
/// `raddle run`).
pub fn run(options: &[OsString], cargo_args: &[OsString]) -> anyhow::Result<ExitCode> {
    let subcommand = subcommand(cargo_args).unwrap_or_default().to_owned();
    let runs = runs_a_program(&subcommand, cargo_args);
    let is_watched = runs && env(SESSION).is_none();
    if !runs && let Some(option) = options.first() {
        anyhow::bail!(
            "{} is an option of `raddle run`, and `cargo {}` runs nothing: leave it out, or use \
             run, test, bench or nextest",
            option.to_string_lossy(),
            subcommand.to_string_lossy()
        );
    }
    if let Some(target) = value_of("--target", cargo_args).filter(|t| t != TARGET) {
        anyhow::bail!(CrateRefusal::ForeignTarget(target.to_string_lossy().into_owned()));
    }
    let cargo = env("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = if is_watched {
        let mut command = Command::new(std::env::current_exe().context("cannot find raddle")?);
        command.arg("run").args(options).arg("--").arg(&cargo);
        command
    } else {
        Command::new(&cargo)
    };
    command.args(cargo_args);
    if let Some(folder) = target_folder(&cargo, cargo_args) {
        command.env("CARGO_TARGET_DIR", folder);
    }
    command.envs(wrappers(&shims::private()?, env));
    // Another toolchain would need another std; its rustc looks that up itself.
    if toolchain_word(cargo_args).is_none() {
        let rustc = env("RUSTC").unwrap_or_else(|| "rustc".into());
        command.env(SYSROOT, sysroot::ensure(&Toolchain::of(&rustc)?)?);
    }
    Err(super::exec(command))
}

/// The environment that replaces cargo's compilers by raddle's.
fn wrappers(shims: &Path, env: impl Fn(&str) -> Option<OsString>) -> Vec<(&'static str, OsString)> {
    let ours = shims.join("raddle-rustc");
    let mut settings = vec![
        ("RUSTC_WRAPPER", ours.clone().into()),
        ("RUSTDOC", shims.join("raddle-rustdoc").into()),
        ("CARGO_BUILD_TARGET", TARGET.into()),
        (CARGO_TARGET, TARGET.into()),
    ];
    let theirs = env("RUSTC_WRAPPER").or_else(|| env("CARGO_BUILD_RUSTC_WRAPPER"));
    if let Some(next) = theirs.filter(|w| *w != ours) {
        settings.push((NEXT_WRAPPER, next));
    }
    if let Some(rustdoc) = env("RUSTDOC").filter(|r| *r != shims.join("raddle-rustdoc")) {
        settings.push(("RADDLE_RUSTDOC", rustdoc));
    }
    // The names that the `cc` crate looks at, most specific first.
    let compilers = [
        (
            "CC_x86_64_unknown_linux_gnu",
            "CC_x86_64-unknown-linux-gnu",
            "TARGET_CC",
            "CC",
            "RADDLE_CC",
            "raddle-cc",
        ),
        (
            "CXX_x86_64_unknown_linux_gnu",
            "CXX_x86_64-unknown-linux-gnu",
            "TARGET_CXX",
            "CXX",
            "RADDLE_CXX",
            "raddle-c++",
        ),
    ];
    for (set, dashed, target, plain, real, shim) in compilers {
        if [set, dashed, target].iter().any(|name| env(name).is_some()) {
            continue;
        }
        settings.push((set, shims.join(shim).into()));
        if let Some(compiler) = env(plain).filter(|_| env(real).is_none()) {
            settings.push((real, compiler));
        }
    }
    settings
}

/// `raddle` in the project's target folder; `None` if the user chose a folder, or if cargo has no
/// project (it then says so itself).
fn target_folder(cargo: &OsStr, cargo_args: &[OsString]) -> Option<PathBuf> {
    let chosen = |arg: &OsString| arg.to_string_lossy().starts_with("--target-dir");
    if env("CARGO_TARGET_DIR").is_some() || cargo_args.iter().any(chosen) {
        return None;
    }
    let mut command = Command::new(cargo);
    command.args(toolchain_word(cargo_args));
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    if let Some(manifest) = value_of("--manifest-path", cargo_args) {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = command.stderr(Stdio::null()).output().ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(Path::new(metadata.get("target_directory")?.as_str()?).join("raddle"))
}

/// A leading `+TOOLCHAIN`.
fn toolchain_word(args: &[OsString]) -> Option<&OsString> {
    args.first().filter(|a| a.to_string_lossy().starts_with('+'))
}

/// Cargo's subcommand: the first word that is neither an option nor a toolchain.
fn subcommand(args: &[OsString]) -> Option<&OsStr> {
    // These options before the subcommand take a value.
    const WITH_VALUE: &[&str] = &["--color", "--config", "-C", "-Z", "--explain"];
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if WITH_VALUE.contains(&text.as_ref()) {
            words.next();
        } else if !text.starts_with(['-', '+']) {
            return Some(word);
        }
    }
    None
}

/// Whether cargo runs what it builds.
fn runs_a_program(subcommand: &OsStr, args: &[OsString]) -> bool {
    let mut own = args.iter().take_while(|a| *a != "--");
    let builds_only = own.clone().any(|a| a == "--no-run" || a == "--help" || a == "-h");
    // `nextest list` and the like do not run tests.
    let after = own.by_ref().skip_while(|a| *a != subcommand).nth(1);
    let is_run = subcommand != "nextest" || after.is_some_and(|a| a == "run" || a == "r");
    WATCHED.iter().any(|w| subcommand == *w) && is_run && !builds_only
}

/// The value of `--name VALUE` or `--name=VALUE`, before a `--`.
fn value_of(name: &str, args: &[OsString]) -> Option<OsString> {
    let mut words = args.iter().take_while(|a| *a != "--");
    while let Some(word) = words.next() {
        if word == name {
            return words.next().cloned();
        }
        let text = word.to_string_lossy();
        if let Some(value) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.into());
        }
    }
    None
}

fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|v| !v.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn subcommands() {
        let of = |line: &str| subcommand(&words(line)).map(|w| w.to_str().unwrap().to_owned());
        assert_eq!(of("test -- --nocapture").as_deref(), Some("test"));
        assert_eq!(of("+nightly -v --color always run x").as_deref(), Some("run"));
        assert_eq!(of("--config a.b=1 build").as_deref(), Some("build"));
        assert_eq!(of("--version"), None);
    }

    #[test]
    fn what_runs_nothing_is_not_watched() {
        let runs = |line: &str| {
            let words = words(line);
            runs_a_program(subcommand(&words).unwrap(), &words)
        };
        for line in ["test", "t -p x", "run -- --no-run", "bench", "nextest run", "+nightly test -- -h"] {
            assert!(runs(line), "{line}");
        }
        for line in ["build", "test --no-run", "bench --no-run -- x", "nextest list", "nextest", "run --help"]
        {
            assert!(!runs(line), "{line}");
        }
    }

    #[test]
    fn values() {
        let of = |line: &str| value_of("--manifest-path", &words(line));
        assert_eq!(of("test --manifest-path a/Cargo.toml"), Some("a/Cargo.toml".into()));
        assert_eq!(of("test --manifest-path=b"), Some("b".into()));
        assert_eq!(of("run -- --manifest-path c"), None);
    }

    #[test]
    fn the_users_wrapper_and_compilers_are_kept() {
        let shims = Path::new("/s");
        let with = |pairs: &'static [(&str, &str)]| {
            let env =
                move |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
            wrappers(shims, env)
        };
        let value = |settings: &[(&str, OsString)], name: &str| {
            settings.iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_str().unwrap().to_owned())
        };
        let plain = with(&[]);
        assert_eq!(value(&plain, "RUSTC_WRAPPER").as_deref(), Some("/s/raddle-rustc"));
        assert_eq!(value(&plain, "CC_x86_64_unknown_linux_gnu").as_deref(), Some("/s/raddle-cc"));
        assert_eq!(value(&plain, NEXT_WRAPPER), None);
        assert_eq!(value(&plain, "RADDLE_CC"), None);

        let set = with(&[("RUSTC_WRAPPER", "sccache"), ("CC", "clang"), ("TARGET_CXX", "g++-12")]);
        assert_eq!(value(&set, NEXT_WRAPPER).as_deref(), Some("sccache"));
        assert_eq!(value(&set, "RADDLE_CC").as_deref(), Some("clang"));
        assert_eq!(value(&set, "CXX_x86_64_unknown_linux_gnu"), None);

        let nested = with(&[("RUSTC_WRAPPER", "/s/raddle-rustc")]);
        assert_eq!(value(&nested, NEXT_WRAPPER), None, "it must not call itself");
    }
}
