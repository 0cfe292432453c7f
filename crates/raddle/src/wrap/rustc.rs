//! `raddle rustc`: compiles Rust crates with instrumentation, including std.
//!
//! It is called in two ways: as a compiler, `raddle rustc main.rs`; and as cargo's `RUSTC_WRAPPER`,
//! by the name `raddle-rustc`, with the real rustc as the first word. Then some calls are not for
//! crates of the target and pass through untouched:
//!
//! - host crates (build scripts, proc-macros and what they use): with a target given, cargo
//!   passes `--target` for the target's crates and for no others;
//! - questions (`-vV`, `--print`);
//! - probes that build scripts make to learn what the compiler can do. They must see a stable
//!   compiler, or crates switch to nightly features. Cargo sets `CARGO_CRATE_NAME` for its own
//!   calls only.
//!
//! `RUSTC_BOOTSTRAP` is set for the one rustc that needs it, for the same reason.
//!
//! All words are appended, and rustc takes the last of each `-C` option, so `@FILE` arguments pass
//! through and are only read for analysis. The words include `-C lto=off` (fat and thin link-time
//! optimisation run the instrumentation twice or drop it), `-C strip=none` (cargo strips line
//! tables from std in release builds), and line tables if there are none.

use super::cc;
use super::response;
use crate::sysroot::{self, TARGET, Toolchain};
use anyhow::Context;
use raddle_harness::install::{self, Runtime};
use raddle_harness::say::say;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Set by `cargo raddle`, so that not every rustc must look up the overlay.
pub const SYSROOT: &str = "RADDLE_RUST_SYSROOT";
/// The user's own `RUSTC_WRAPPER`, which raddle's replaces.
pub const NEXT_WRAPPER: &str = "RADDLE_NEXT_RUSTC_WRAPPER";

/// The wrapped tool: both take the same instrumentation options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RustTool {
    Rustc,
    /// rustdoc compiles doctests with its own `-C` and `-Z` options.
    Rustdoc,
}

/// Why raddle will not compile a crate.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CrateRefusal {
    #[error("-C prefer-dynamic uses a std that is not instrumented: build without it under raddle")]
    PreferDynamic,
    #[error("--target {0}: raddle instruments {TARGET} programs only")]
    ForeignTarget(String),
    #[error("--sysroot is raddle's to choose, for its instrumented std: build without it")]
    Sysroot,
    #[error("-C target-feature=+crt-static links statically, which leaves no way to watch synchronisation")]
    Static,
}

/// What a rustc command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crate {
    pub is_query: bool,
    pub target: Option<String>,
    pub types: Vec<String>,
    pub is_test: bool,
    pub has_line_tables: bool,
    pub wants_lto: bool,
    prefer_dynamic: bool,
    crt_static: bool,
    own_sysroot: bool,
}

impl Crate {
    /// Parses a command line without the compiler's own name.
    pub fn parse(args: &[OsString]) -> Crate {
        let mut krate = Crate::default();
        let words: Vec<_> = args.iter().map(|a| a.to_string_lossy()).collect();
        let mut words = words.iter().map(|w| w.as_ref());
        while let Some(word) = words.next() {
            let (name, joined) = split_option(word);
            let value = joined.or_else(|| takes_next_word(name).then(|| words.next()).flatten());
            krate.option(name, value.unwrap_or_default());
        }
        krate
    }

    fn option(&mut self, name: &str, value: &str) {
        match name {
            "--print" | "--version" | "-V" | "-vV" | "-Vv" | "--help" | "-h" | "--explain" => {
                self.is_query = true;
            }
            "--target" => self.target = Some(value.to_owned()),
            "--crate-type" => self.types.extend(value.split(',').map(str::to_owned)),
            "--test" => self.is_test = true,
            "--sysroot" => self.own_sysroot = true,
            "-g" => self.has_line_tables = true,
            "-C" | "--codegen" => self.codegen(value),
            _ => {}
        }
    }

    fn codegen(&mut self, text: &str) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let off = matches!(value, "no" | "off" | "n" | "false");
        match name {
            "debuginfo" => self.has_line_tables = !matches!(value, "0" | "none"),
            "lto" | "linker-plugin-lto" => self.wants_lto = !off,
            "prefer-dynamic" => self.prefer_dynamic = !off,
            "target-feature" if value.contains("+crt-static") => self.crt_static = true,
            "target-feature" if value.contains("-crt-static") => self.crt_static = false,
            _ => {}
        }
    }

    fn is_proc_macro(&self) -> bool {
        self.types.iter().any(|t| t == "proc-macro")
    }

    fn links_executable(&self) -> bool {
        self.is_test || self.types.is_empty() || self.types.iter().any(|t| t == "bin")
    }

    fn links_library(&self) -> bool {
        self.types.iter().any(|t| t == "dylib" || t == "cdylib")
    }

    fn refuse(&self) -> Result<(), CrateRefusal> {
        match &self.target {
            Some(target) if target != TARGET => Err(CrateRefusal::ForeignTarget(target.clone())),
            _ if self.prefer_dynamic => Err(CrateRefusal::PreferDynamic),
            _ if self.crt_static => Err(CrateRefusal::Static),
            _ if self.own_sysroot => Err(CrateRefusal::Sysroot),
            _ => Ok(()),
        }
    }
}

/// `--name=value`, `-Cvalue` or a bare name.
fn split_option(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
    }
    match word.get(..2) {
        Some(short @ ("-C" | "-Z" | "-L" | "-l" | "-o" | "-A" | "-W" | "-D" | "-F")) => {
            (short, Some(&word[2..]).filter(|v| !v.is_empty()))
        }
        _ => (word, None),
    }
}

fn takes_next_word(name: &str) -> bool {
    const LONG: &[&str] = &[
        "--allow",
        "--cap-lints",
        "--cfg",
        "--check-cfg",
        "--codegen",
        "--color",
        "--crate-name",
        "--crate-type",
        "--crate-version",
        "--deny",
        "--diagnostic-width",
        "--edition",
        "--emit",
        "--env-set",
        "--error-format",
        "--explain",
        "--extern",
        "--forbid",
        "--force-warn",
        "--json",
        "--out-dir",
        "--print",
        "--remap-path-prefix",
        "--sysroot",
        "--target",
        "--test-args",
        "--test-run-directory",
        "--warn",
    ];
    const SHORT: &[&str] = &["-A", "-C", "-D", "-F", "-L", "-W", "-Z", "-l", "-o"];
    LONG.contains(&name) || SHORT.contains(&name)
}

/// What to append for a crate of the target.
pub fn additions(
    krate: &Crate,
    tool: RustTool,
    runtime: &Runtime,
    overlay: &Path,
) -> Result<Vec<OsString>, CrateRefusal> {
    krate.refuse()?;
    let mut words: Vec<OsString> =
        ["-Zsanitizer=thread", "-Zexternal-clangrt", "-Cunsafe-allow-abi-mismatch=sanitizer", "--sysroot"]
            .map(OsString::from)
            .into();
    words.push(overlay.into());
    words.extend(["-Clto=off", "-Clinker-plugin-lto=no", "-Cstrip=none"].map(OsString::from));
    words.push(format!("-Cllvm-args={}", cc::READ_BEFORE_WRITE).into());
    if !krate.has_line_tables {
        words.push("-Cdebuginfo=line-tables-only".into());
    }
    if krate.links_executable() || tool == RustTool::Rustdoc {
        // Before the crate's own objects, so that no archive defines an interposed name first.
        words.push(linker_word("-Zpre-link-arg=", runtime.object().as_os_str()));
        for word in cc::dynamic_list(runtime) {
            words.push("-Clink-arg=-Xlinker".into());
            words.push(linker_word("-Clink-arg=", &word));
        }
    } else if krate.links_library() {
        words.push("-Clink-arg=-Wl,-z,undefs".into());
    }
    Ok(words)
}

fn linker_word(option: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

/// Parses the command line, adds raddle's words if it is for the target, and executes rustc.
pub fn run(tool: RustTool, mut args: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let wrapped =
        (tool == RustTool::Rustc && args.first().is_some_and(|a| is_compiler(a))).then(|| args.remove(0));
    if let Some(program) = wrapped.as_ref().filter(|_| args == ["-vV"]) {
        return marked_version(program);
    }
    Err(super::exec(prepare(tool, wrapped, &args)?))
}

fn prepare(tool: RustTool, wrapped: Option<OsString>, args: &[OsString]) -> anyhow::Result<Command> {
    let by_cargo = wrapped.is_some() || tool == RustTool::Rustdoc;
    let program = wrapped.unwrap_or_else(|| real(tool));
    let read = |path: &Path| std::fs::read(path).ok();
    let krate = Crate::parse(&response::expand(args, &read));

    let mut command = match std::env::var_os(NEXT_WRAPPER).filter(|w| !w.is_empty()) {
        Some(next) if by_cargo && tool == RustTool::Rustc => {
            let mut command = Command::new(next);
            command.arg(&program);
            command
        }
        _ => Command::new(&program),
    };
    command.args(args);
    let from_cargo_itself = std::env::var_os("CARGO_CRATE_NAME").is_some() || tool == RustTool::Rustdoc;
    let for_target = !by_cargo || (krate.target.is_some() && from_cargo_itself);
    if krate.is_query || krate.is_proc_macro() || !for_target {
        return Ok(command);
    }
    let overlay = match std::env::var_os(SYSROOT) {
        Some(path) => PathBuf::from(path),
        None => sysroot::ensure(&Toolchain::of(&program)?)?,
    };
    let added = additions(&krate, tool, &Runtime::open()?, &overlay)?;
    if krate.wants_lto && krate.links_executable() {
        say!("link-time optimisation is off in an instrumented build");
    }
    command.args(added).env("RUSTC_BOOTSTRAP", "1");
    Ok(command)
}

/// The tool behind the wrapper if it is not named.
fn real(tool: RustTool) -> OsString {
    let (variable, default) = match tool {
        RustTool::Rustc => ("RADDLE_RUSTC", "rustc"),
        RustTool::Rustdoc => ("RADDLE_RUSTDOC", "rustdoc"),
    };
    std::env::var_os(variable).filter(|v| !v.is_empty()).unwrap_or_else(|| default.into())
}

/// Whether a first word names a compiler, as it does when cargo calls a wrapper.
fn is_compiler(word: &OsStr) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
    name == "clippy-driver" || (name.starts_with("rustc") && !name.ends_with(".rs"))
}

/// `rustc -vV` with one more line that names this runtime.
///
/// Cargo stores that text in each crate's fingerprint, so a new raddle rebuilds and relinks what an
/// older one made. Cargo itself reads only the lines it knows.
fn marked_version(program: &OsStr) -> anyhow::Result<ExitCode> {
    let context = || format!("cannot run {}", program.to_string_lossy());
    let status = Command::new(program).arg("-vV").status().with_context(context)?;
    if !status.success() {
        return Ok(ExitCode::from(status.code().map_or(1, |c| c as u8)));
    }
    raddle_harness::say::print(&format!(
        "raddle: {} {}\n",
        env!("CARGO_PKG_VERSION"),
        install::content_hash()
    ));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
#[path = "rustc_tests.rs"]
mod tests;
