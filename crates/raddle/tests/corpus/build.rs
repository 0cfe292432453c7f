//! Builds a corpus program with the wrappers and runs it under `raddle run`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;

use crate::expect::Program;

pub const RADDLE: &str = env!("CARGO_BIN_EXE_raddle");

/// An executable in a folder of its own.
pub struct Built {
    folder: tempfile::TempDir,
    executable: PathBuf,
    /// First arguments of the program.
    plugins: Vec<PathBuf>,
}

/// What `raddle run` said.
pub struct Outcome {
    pub status: i32,
    pub report: Value,
    output: Output,
}

impl Outcome {
    /// For a person who reads why a test failed.
    pub fn text(&self) -> String {
        let findings = serde_json::to_string_pretty(&self.report["findings"]).unwrap_or_default();
        format!("{findings}\n{}", String::from_utf8_lossy(&self.output.stderr))
    }
}

/// The compiler as it is called here, which must be there: nothing is skipped.
fn real(compiler: &str, cxx: bool) -> String {
    match (compiler, cxx) {
        ("gcc", false) => "gcc".into(),
        ("gcc", true) => "g++".into(),
        ("clang", false) => "clang-19".into(),
        ("clang", true) => "clang++-19".into(),
        (other, false) => other.into(),
        (other, true) => other.replace("clang-", "clang++-"),
    }
}

fn wrapper(compiler: &str, file: &Path) -> Command {
    let cxx = file.extension().is_some_and(|e| e == "cc");
    let mut command = Command::new(RADDLE);
    command.arg(if cxx { "c++" } else { "cc" });
    command.env(if cxx { "RADDLE_CXX" } else { "RADDLE_CC" }, real(compiler, cxx));
    command.args(["-g", "-pthread"]);
    command
}

pub fn finish(mut command: Command) -> Result<(), Failed> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)).into())
}

pub fn build(file: &Path, program: &Program, compiler: &str) -> Result<Built, Failed> {
    let folder = tempfile::tempdir()?;
    let executable = folder.path().join(file.file_stem().unwrap());
    let mut command = if compiler == "rustc" {
        let mut command = Command::new(RADDLE);
        // The flags are those of C unless the file says otherwise.
        let flags = program.flags.iter().filter(|f| !f.starts_with("-O1"));
        command.arg("rustc").args(["--edition", "2021", "-g", "-Copt-level=1"]).args(flags).arg(file);
        command
    } else {
        let mut command = wrapper(compiler, file);
        command.args(&program.flags).arg(file);
        command
    };
    command.arg("-o").arg(&executable).args(&program.libs);
    finish(command)?;
    Ok(Built::new(folder, executable))
}

impl Built {
    pub fn new(folder: tempfile::TempDir, executable: PathBuf) -> Built {
        Built { folder, executable, plugins: Vec::new() }
    }

    pub fn command(&self, program: &Program, mode: &str) -> Command {
        let mut command = Command::new(RADDLE);
        command.args(["run", "--mode", mode]).args(&program.run);
        command.current_dir(self.folder.path()).env_remove("TSAN_OPTIONS").env("RADDLE_NO_STORE", "1");
        command
    }

    pub fn target(&self, command: &mut Command, program: &Program) {
        command.arg("--").arg(&self.executable).args(&self.plugins).args(&program.args);
    }

    pub fn run(&self, program: &Program, mode: &str) -> Result<Outcome, Failed> {
        let report = self.folder.path().join(format!("{mode}.json"));
        let mut command = self.command(program, mode);
        command.args(["--format", "json", "-o"]).arg(&report);
        self.target(&mut command, program);
        let output = within(Duration::from_secs(program.timeout), command)?;
        let status =
            output.status.code().ok_or_else(|| format!("raddle itself was killed: {:?}", output.status))?;
        let text = std::fs::read_to_string(&report).map_err(|e| {
            format!("no report ({e}), status {status}: {}", String::from_utf8_lossy(&output.stderr))
        })?;
        Ok(Outcome { status, report: serde_json::from_str(&text)?, output })
    }
}

/// Ends what does not end by itself. The driver passes the signal on to its target.
fn within(limit: Duration, mut command: Command) -> Result<Output, Failed> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let begun = Instant::now();
    while child.try_wait()?.is_none() {
        if begun.elapsed() > limit {
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            std::thread::sleep(Duration::from_secs(1));
            let _ = child.kill();
            return Err(format!("{command:?} was still running after {limit:?}").into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(child.wait_with_output()?)
}

/// A program of several files.
pub struct MultiCase {
    pub name: String,
    folder: PathBuf,
    pub main: PathBuf,
    pub program: Program,
    parts: Vec<(String, PathBuf)>,
}

/// Folders with a `case.toml`: `main`, and any of `lib` (archive), `shared` (linked), `plugin` (its
/// path is an argument).
pub fn multi_cases(folder: &Path) -> Result<Vec<MultiCase>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    folders.sort();
    folders.into_iter().map(|f| multi_case(&f).map_err(|e| format!("{}: {e}", f.display()))).collect()
}

fn multi_case(folder: &Path) -> Result<MultiCase, String> {
    let read = |p: &Path| std::fs::read_to_string(p).map_err(|e| format!("{}: {e}", p.display()));
    let mut main = None;
    let mut parts = Vec::new();
    let mut directives = String::new();
    for (key, value) in read(&folder.join("case.toml"))?.lines().filter_map(|l| l.split_once(" = ")) {
        let words: Vec<&str> = value.split(['[', ']', '"', ',', ' ']).filter(|w| !w.is_empty()).collect();
        match key {
            "main" => main = words.first().map(|w| folder.join(w)),
            "lib" | "shared" | "plugin" => {
                parts.extend(words.iter().map(|w| (key.to_string(), folder.join(w))))
            }
            "lang" => {}
            "flags" | "libs" => directives += &format!("//@ {key}: {}\n", words.join(" ")),
            other => return Err(format!("unknown key `{other}`")),
        }
    }
    let main = main.ok_or("no main")?;
    // Marks say the line, and the files of a case have no marks on the same lines of different
    // files.
    let mut program = Program::parse_part(&directives)?;
    for source in parts.iter().map(|(_, p)| p).chain([&main]) {
        program.add(&read(source)?)?;
    }
    program.finish()?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(MultiCase { name, folder: folder.into(), main, program, parts })
}

impl MultiCase {
    /// Whose lines count.
    pub fn files(&self) -> Vec<PathBuf> {
        self.parts.iter().map(|(_, p)| p.clone()).chain([self.main.clone()]).collect()
    }

    pub fn build(&self, compiler: &str) -> Result<Built, Failed> {
        let out = tempfile::tempdir()?;
        let executable = out.path().join("main");
        let mut link = wrapper(compiler, &self.main);
        link.args(&self.program.flags).arg("-I").arg(&self.folder).arg(&self.main).arg("-o").arg(&executable);
        for (kind, source) in &self.parts {
            let stem = source.file_stem().unwrap().to_string_lossy();
            let shared = out.path().join(format!("{stem}.so"));
            let mut compile = wrapper(compiler, source);
            let is_c = source.extension().is_some_and(|e| e == "c");
            compile
                .args(self.program.flags.iter().filter(|f| !is_c || !f.starts_with("-std=c++")))
                .arg("-fPIC")
                .arg("-I")
                .arg(&self.folder)
                .arg(source);
            match kind.as_str() {
                "lib" => {
                    let object = out.path().join(format!("{stem}.o"));
                    compile.arg("-c").arg("-o").arg(&object);
                    finish(compile)?;
                    let archive = out.path().join(format!("lib{stem}.a"));
                    let mut ar = Command::new("ar");
                    ar.arg("rcs").arg(&archive).arg(&object);
                    finish(ar)?;
                    link.arg(&archive);
                }
                kind => {
                    compile.arg("-shared").arg("-o").arg(&shared);
                    finish(compile)?;
                    if kind == "shared" {
                        link.arg(&shared).arg(format!("-Wl,-rpath,{}", out.path().display()));
                    }
                }
            }
        }
        link.args(&self.program.libs);
        finish(link)?;
        let plugins = self.parts.iter().filter(|(kind, _)| kind == "plugin");
        let plugins =
            plugins.map(|(_, p)| out.path().join(p.file_stem().unwrap()).with_extension("so")).collect();
        Ok(Built { folder: out, executable, plugins })
    }
}
