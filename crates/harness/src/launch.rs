//! Starts the target with the runtime loaded, and waits for it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::detection::session::DetectionSession;
use crate::install::Runtime;
use crate::target::TargetProgram;

/// How the target ended.
#[derive(Debug, Clone, Copy)]
pub struct TargetStatus(ExitStatus);

impl TargetStatus {
    /// The code as a shell reports it: 128 plus the signal for a process that was killed.
    pub fn code(self) -> i32 {
        self.0.code().unwrap_or_else(|| 128 + self.0.signal().unwrap_or(0))
    }
}

/// The target's process, for the handler that forwards signals.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// The last signal that asked everything to end; 0 if none came.
static INTERRUPTED: AtomicI32 = AtomicI32::new(0);
/// The time limit, in milliseconds, of a target whose output is not shown. 0: the output is shown,
/// and there is no limit.
static QUIET: AtomicU64 = AtomicU64::new(0);
/// The file that targets get as their standard input. Without one, standard input is empty.
static INPUT: OnceLock<PathBuf> = OnceLock::new();
/// Where targets run, for a command that is part of a suite.
static SURROUNDINGS: Mutex<Surroundings> =
    Mutex::new(Surroundings { folder: None, environment: Vec::new(), unset: Vec::new() });
/// How often somebody other than the terminal has told raddle to end.
static REQUESTS: AtomicI32 = AtomicI32::new(0);
/// A target that has not ended after this many requests is killed, as in other tools.
const PATIENCE: i32 = 3;

/// Where a target runs and which variables it has, where that differs from raddle itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Surroundings {
    pub folder: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
    /// Variables that raddle has and the target must not have.
    pub unset: Vec<String>,
}

/// Puts every target that is started from now on into these surroundings.
pub fn surround(surroundings: Surroundings) {
    *SURROUNDINGS.lock().unwrap_or_else(PoisonError::into_inner) = surroundings;
}

/// What [`surround`] was given last.
pub fn surroundings() -> Surroundings {
    SURROUNDINGS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Surroundings {
    /// These variables also carry values of raddle's own. The two are joined where raddle sets
    /// them.
    const JOINED: [&str; 2] = ["LD_PRELOAD", "LD_LIBRARY_PATH"];

    fn variable(&self, name: &str) -> Option<OsString> {
        self.environment.iter().find(|(n, _)| n == name).map(|(_, value)| value.into())
    }

    /// Puts the command into the folder, and gives it the variables.
    pub fn apply(&self, command: &mut Command) {
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        for name in self.unset.iter().filter(|name| !Self::JOINED.contains(&name.as_str())) {
            command.env_remove(name);
        }
        let own = self.environment.iter().filter(|(name, _)| !Self::JOINED.contains(&name.as_str()));
        command.envs(own.map(|(name, value)| (name, value)));
    }

    /// The same for a command without raddle's runtime.
    pub fn apply_all(&self, command: &mut Command) {
        self.apply(command);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
    }
}

/// The signal that asked everything to end.
pub fn interrupted_by() -> Option<&'static str> {
    match INTERRUPTED.load(Ordering::Relaxed) {
        0 => None,
        libc::SIGINT => Some("SIGINT"),
        libc::SIGQUIT => Some("SIGQUIT"),
        libc::SIGHUP => Some("SIGHUP"),
        _ => Some("SIGTERM"),
    }
}

/// Forwards a signal to the target. Raddle stays to report its findings.
extern "C" fn pass_on(signal: i32, info: *const libc::siginfo_t, _: *const libc::c_void) {
    // SAFETY: the kernel's description.
    let by_kernel = unsafe { (*info).si_code } == libc::SI_KERNEL;
    // The terminal sends these to the target as well: it is in the same process group.
    let has_it = by_kernel && matches!(signal, libc::SIGINT | libc::SIGQUIT);
    let mut signal = signal;
    if matches!(signal, libc::SIGINT | libc::SIGQUIT | libc::SIGTERM | libc::SIGHUP) {
        INTERRUPTED.store(signal, Ordering::Relaxed);
        if !by_kernel && REQUESTS.fetch_add(1, Ordering::Relaxed) + 1 >= PATIENCE {
            signal = libc::SIGKILL;
        }
    }
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 && !has_it {
        // SAFETY: kill is safe in a handler.
        unsafe { libc::kill(child, signal) };
    }
}

fn pass_signals_on() {
    // SAFETY: the handler reads and writes atomics, and calls kill.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = pass_on as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2]
        {
            let mut before = std::mem::zeroed::<libc::sigaction>();
            libc::sigaction(signal, &action, &mut before);
            // `nohup` holds for the target too. A shell's `&` ignores SIGINT, but `kill -INT` must
            // still work.
            if signal == libc::SIGHUP && before.sa_sigaction == libc::SIG_IGN {
                libc::sigaction(signal, &before, std::ptr::null_mut());
            }
        }
    }
}

/// If the driver is killed, the target ends too: nobody would read its findings. It gets a signal
/// that lets it clean up, like one that raddle forwards.
fn ends_with_raddle(command: &mut Command) {
    let raddle = std::process::id() as i32;
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            if libc::getppid() != raddle {
                // Raddle was killed before the `prctl`.
                libc::raise(libc::SIGTERM);
            }
            Ok(())
        });
    }
}

/// The program with the runtime loaded, as a process of the session in `dir`.
pub fn command(program: &TargetProgram, words: &[OsString], runtime: &Runtime, dir: &Path) -> Command {
    let mut command = Command::new(&program.path);
    command.arg0(&words[0]).args(&words[1..]);
    surroundings().apply(&mut command);
    command.env(OsStr::from_bytes(raddle_wire::SESSION_ENV.to_bytes()), dir);
    command.env("LD_LIBRARY_PATH", in_front(&runtime.library_folder(), "LD_LIBRARY_PATH"));
    if !program.has_runtime {
        command.env("LD_PRELOAD", in_front(&runtime.shared_library(), "LD_PRELOAD"));
    }
    crate::openmp::add_tool(&mut command);
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            libc::signal(libc::SIGQUIT, libc::SIG_DFL);
            bound_stack();
            Ok(())
        });
    }
    command
}

/// The same for `raddle tsvd`. There is no shadow memory, so the address layout stays as it is, and
/// the library interposes far fewer functions.
pub fn tsvd_command(
    program: &TargetProgram,
    words: &[OsString],
    runtime: &Runtime,
    library: &Path,
    dir: &Path,
) -> Command {
    let mut command = Command::new(&program.path);
    command.arg0(&words[0]).args(&words[1..]);
    surroundings().apply(&mut command);
    command.env(OsStr::from_bytes(raddle_wire::SESSION_ENV.to_bytes()), dir);
    if program.has_runtime {
        command.env("LD_LIBRARY_PATH", in_front(&runtime.library_folder(), "LD_LIBRARY_PATH"));
    } else {
        command.env("LD_PRELOAD", in_front(library, "LD_PRELOAD"));
    }
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            libc::signal(libc::SIGQUIT, libc::SIG_DFL);
            Ok(())
        });
    }
    command
}

pub fn run(
    program: &TargetProgram,
    words: &[OsString],
    runtime: &Runtime,
    session: &DetectionSession,
) -> Result<TargetStatus> {
    start(program, command(program, words, runtime, session.dir()))
}

/// Runs the command without raddle.
pub fn run_plain(program: &TargetProgram, words: &[OsString]) -> Result<TargetStatus> {
    let mut command = Command::new(&program.path);
    command.arg0(&words[0]).args(&words[1..]);
    surroundings().apply_all(&mut command);
    start(program, command)
}

/// Runs `work`. Targets started in it show no output, have [`input`] as their standard input, and
/// are killed after `limit`.
pub fn quietly<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1);
    QUIET.store(millis, Ordering::Relaxed);
    let done = work();
    QUIET.store(0, Ordering::Relaxed);
    done
}

/// Whether targets are started [`quietly`].
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed) > 0
}

/// Waits for a target of [`quietly`], up to its limit. Then it is killed with everything it has
/// started: nobody else would end that.
fn wait_quietly(child: &mut Child, limit: Duration) -> std::io::Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > limit {
            return Ok(crate::worker::end(child));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Makes a file the standard input of every target that is not connected to the user's terminal.
/// Each execution reads it from the beginning. Only the first call has an effect.
pub fn feed(path: PathBuf) {
    let _ = INPUT.set(path);
}

/// The file of [`feed`].
pub fn input_file() -> Option<&'static Path> {
    INPUT.get().map(PathBuf::as_path)
}

/// The standard input of a target: the file of [`feed`], or nothing.
pub fn input() -> Stdio {
    input_file().and_then(|path| File::open(path).ok()).map_or_else(Stdio::null, Stdio::from)
}

/// Starts the command and waits for it, forwarding signals.
pub fn start(program: &TargetProgram, mut command: Command) -> Result<TargetStatus> {
    pass_signals_on();
    ends_with_raddle(&mut command);
    let quiet = QUIET.load(Ordering::Relaxed);
    if quiet > 0 {
        command.stdin(input()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    }
    let mut child = command.spawn().with_context(|| format!("cannot start {}", program.path.display()))?;
    CHILD.store(child.id() as i32, Ordering::Relaxed);
    // A signal that came before there was a child to forward it to.
    let early = INTERRUPTED.load(Ordering::Relaxed);
    if early != 0 {
        // SAFETY: a plain system call; the child has not been waited for.
        unsafe { libc::kill(child.id() as i32, early) };
    }
    let waited = match quiet {
        0 => child.wait(),
        millis => wait_quietly(&mut child, Duration::from_millis(millis)),
    };
    let status = waited.context("cannot wait for the target")?;
    CHILD.store(0, Ordering::Relaxed);
    Ok(TargetStatus(status))
}

/// Without a stack limit, the kernel lays out memory from the bottom, where the shadow is.
fn bound_stack() {
    const MOST: libc::rlim_t = 1 << 30;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain system calls on a local.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_STACK, &mut limit) == 0 && limit.rlim_cur > MOST {
            limit.rlim_cur = MOST;
            libc::setrlimit(libc::RLIMIT_STACK, &limit);
        }
    }
}

/// The variable's value with the path in front.
fn in_front(path: &Path, variable: &str) -> OsString {
    let mut value = path.as_os_str().to_owned();
    let old = surroundings().variable(variable).or_else(|| std::env::var_os(variable));
    if let Some(old) = old.filter(|v| !v.is_empty()) {
        value.push(":");
        value.push(old);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No other test of this crate starts a target here, so none is quiet by chance.
    #[test]
    fn what_a_quiet_target_has_started_is_killed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (pid, shell) = (folder.path().join("pid"), PathBuf::from("/bin/sh"));
        let program = crate::target::find(&[shell.clone().into()]).unwrap();
        let text = || std::fs::read_to_string(&pid).unwrap_or_default();
        // On a busy machine the shell may not get that far at first.
        for seconds in [1, 10, 100] {
            let mut command = Command::new(&shell);
            command.arg("-c").arg(format!("sleep 600 & echo $! > {}; wait", pid.display()));
            quietly(Duration::from_secs(seconds), || start(&program, command)).unwrap();
            if text().ends_with('\n') {
                break;
            }
        }
        let pid = text();
        assert!(pid.trim().parse::<u32>().is_ok(), "{pid}");
        let ended = || {
            let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            status.map_or(true, |s| s.contains(") Z "))
        };
        let begun = Instant::now();
        while !ended() {
            assert!(begun.elapsed() < Duration::from_secs(60), "process {pid} still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
