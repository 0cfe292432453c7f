//! Runs a file through the preprocessor of a real compiler.
//!
//! compile_commands.json and the source are data from a repository that may be malicious. So:
//!
//! 1. Raddle or the user chooses the compiler, by its full path; the project never does.
//! 2. Its arguments are those that `raddle_check::c::commands` accepted, which only define macros
//!    and name folders and files to read. With `-E`, gcc runs nothing but itself and uses no
//!    precompiled header. clang would use one for `-include`, so it does not get that option.
//! 3. It has limits: processor time, memory, output size, and wall-clock time, since it may wait
//!    for a pipe.
//! 4. Its stderr is not shown: it would quote lines of files that the project chose.
//!
//! If anything goes wrong, the file is read without preprocessing.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_check::c::commands::CompileCommand;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, Signal, kill_process_group, setrlimit};
use thiserror::Error;

use super::args::Args;

const SECONDS_OF_CPU: u64 = 10;
const MEMORY: u64 = 1 << 30;
const LARGEST_OUTPUT: usize = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(30);

/// After this many files that reached a limit, no compiler is started any more.
const MOST_STUCK: u32 = 3;

/// Searched on the PATH in this order.
const COMPILERS: &[&str] = &["gcc", "cc", "clang"];

#[derive(Debug, Error)]
enum ChoiceError {
    #[error("there is no program {0} for --preprocessor")]
    Missing(String),
}

pub struct CompilerPreprocessor {
    program: PathBuf,
    is_gcc: bool,
    stuck: AtomicU32,
}

impl CompilerPreprocessor {
    /// The compiler to use, if one is wanted and exists.
    pub fn choose(args: &Args) -> Result<Option<CompilerPreprocessor>> {
        if args.raw {
            return Ok(None);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        if let Some(given) = &args.preprocessor {
            let found = if given.components().count() > 1 {
                std::path::absolute(given).ok().filter(|p| p.is_file())
            } else {
                on_path(given, &path)
            };
            let found = found.ok_or_else(|| ChoiceError::Missing(given.display().to_string()))?;
            return Ok(Some(CompilerPreprocessor::new(found)));
        }
        Ok(COMPILERS.iter().find_map(|name| on_path(Path::new(name), &path)).map(CompilerPreprocessor::new))
    }

    fn new(program: PathBuf) -> CompilerPreprocessor {
        let real = std::fs::canonicalize(&program).unwrap_or_else(|_| program.clone());
        let is_gcc = real.file_name().is_some_and(|n| n.to_string_lossy().contains("gcc"));
        CompilerPreprocessor { program, is_gcc, stuck: AtomicU32::new(0) }
    }

    /// The file's text after preprocessing, with `shown` in place of its own path. `None` if that
    /// fails.
    pub fn run(&self, real: &Path, shown: &Path, command: &CompileCommand) -> Option<Vec<u8>> {
        if self.stuck.load(Ordering::Relaxed) >= MOST_STUCK {
            return None;
        }
        let mut child = self.start(real, command)?;
        let output = drain(&mut child);
        if output.is_none() {
            // The whole process group: the driver and the compiler proper.
            if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            self.stuck.fetch_add(1, Ordering::Relaxed);
        }
        let is_whole = child.wait().is_ok_and(|s| s.success());
        let folder = Path::new(&command.directory);
        output.filter(|_| is_whole).map(|text| relabel(&text, real, shown, folder))
    }

    fn start(&self, real: &Path, command: &CompileCommand) -> Option<Child> {
        let mut line = std::process::Command::new(&self.program);
        line.args(["-E", "-x", "c", "-w", "-Wfatal-errors"]);
        let mut words = command.clone();
        if !self.is_gcc {
            words.before.clear();
        }
        line.args(words.arguments()).arg(real).current_dir(&command.directory);
        // These would make it write files.
        line.env_remove("DEPENDENCIES_OUTPUT").env_remove("SUNPRO_DEPENDENCIES");
        line.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let limit = |resource, most| {
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
                .map_err(std::io::Error::from)
        };
        // SAFETY: between fork and exec it makes two system calls and touches nothing else.
        unsafe {
            line.pre_exec(move || {
                limit(Resource::Cpu, SECONDS_OF_CPU)?;
                limit(Resource::As, MEMORY)
            });
        }
        line.spawn().ok()
    }
}

/// Everything that a child writes; `None` if it takes too long or writes too much.
fn drain(child: &mut Child) -> Option<Vec<u8>> {
    let mut pipe = child.stdout.take()?;
    let until = Instant::now() + PATIENCE;
    let mut text = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let left = until.checked_duration_since(Instant::now())?;
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let ready = poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&timeout));
        if matches!(ready, Ok(0)) {
            return None;
        }
        match pipe.read(&mut chunk) {
            Ok(0) => return Some(text),
            Ok(n) => text.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
        if text.len() > LARGEST_OUTPUT {
            return None;
        }
    }
}

/// Finds a program by its name. Relative folders on the PATH are skipped: they depend on the
/// current folder, which may be in the project.
fn on_path(name: &Path, path: &std::ffi::OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |p: &PathBuf| p.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    std::env::split_paths(path).filter(|f| f.is_absolute()).map(|f| f.join(name)).find(runs)
}

/// Line markers name files as the compiler found them. This makes them relative to where raddle was
/// started.
fn relabel(text: &[u8], real: &Path, shown: &Path, folder: &Path) -> Vec<u8> {
    let here = std::env::current_dir().unwrap_or_default();
    let mut known: std::collections::HashMap<Vec<u8>, Vec<u8>> = std::collections::HashMap::new();
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|b| *b == b'\n') {
        let Some((before, name, after)) = marker(line) else {
            out.extend_from_slice(line);
            continue;
        };
        let new = known.entry(name.to_vec()).or_insert_with(|| rename(name, real, shown, folder, &here));
        out.extend_from_slice(before);
        out.extend_from_slice(new);
        out.extend_from_slice(after);
    }
    out
}

/// Splits `# 12 "name" 1 3` around the name, which stays escaped.
fn marker(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let rest = line.strip_prefix(b"# ").filter(|r| r.first().is_some_and(u8::is_ascii_digit))?;
    let open = line.len() - rest.len() + rest.iter().position(|b| *b == b'"')? + 1;
    let close = line.iter().rposition(|b| *b == b'"').filter(|c| *c >= open)?;
    Some((&line[..open], &line[open..close], &line[close..]))
}

fn rename(name: &[u8], real: &Path, shown: &Path, folder: &Path, here: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(name));
    if path == real {
        return shown.as_os_str().as_bytes().to_vec();
    }
    if name.starts_with(b"<") || name.contains(&b'\\') {
        return name.to_vec();
    }
    let full = folder.join(path);
    let plain = std::fs::canonicalize(&full).unwrap_or(full);
    plain.strip_prefix(here).unwrap_or(&plain).as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_and_nothing_else() {
        let parts = |l: &'static str| marker(l.as_bytes()).map(|m| String::from_utf8_lossy(m.1).into_owned());
        assert_eq!(parts("# 12 \"a b.c\" 1 3\n").as_deref(), Some("a b.c"));
        assert_eq!(parts("# 0 \"\"\n").as_deref(), Some(""));
        for line in
            ["#pragma omp parallel\n", "x = \"# 1 \";\n", "# 12\n", "# 1 \"\n", "\n", "# define A \"x\"\n"]
        {
            assert_eq!(parts(line), None, "{line}");
        }
    }

    #[test]
    fn the_file_itself_gets_the_name_that_the_reader_gave_it() {
        let text = b"# 0 \"/p/src/a.c\"\nint x;\n# 1 \"<built-in>\"\n# 7 \"/p/src/a.c\" 2\nint y;\n";
        let out = relabel(text, Path::new("/p/src/a.c"), Path::new("src/a.c"), Path::new("/p"));
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "# 0 \"src/a.c\"\nint x;\n# 1 \"<built-in>\"\n# 7 \"src/a.c\" 2\nint y;\n");
    }

    #[test]
    fn relative_folders_on_the_path_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("gcc");
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = std::env::join_paths([Path::new("."), Path::new("bin"), dir.path()]).unwrap();
        assert_eq!(on_path(Path::new("gcc"), &path), Some(program));
        assert_eq!(on_path(Path::new("gcc"), std::ffi::OsStr::new(".:bin:")), None);
    }
}
