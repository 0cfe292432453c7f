//! Reads the logs that the processes of a session left.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_wire::log::{LogHeader, MAGIC, fatal};
use raddle_wire::record::{
    AddressKind, Decoded, DecodedCaught, DecodedEnd, HeldLock, LockKind, MisuseKind, Moment, decode_all,
};

use crate::places::Mapped;
use crate::say::{count, say};

/// One process image.
#[derive(Default)]
pub struct Process {
    pub pid: u32,
    pub executable: String,
    /// What it was started with, if that was asked for.
    pub command: Option<CommandLine>,
    pub instrumented: bool,
    /// It executed a copy of its code that contains raddle's probes.
    pub relocated: bool,
    pub fatal: Option<u64>,
    pub flushes: u64,
    pub races_seen: u64,
    pub threads_seen: u64,
    pub untracked: u64,
    pub lost: u64,
    /// It asked which of its code implements locks and which to ignore, and got no answer.
    pub without_plan: bool,
    /// In the order they were mapped.
    pub modules: Vec<Mapped>,
    pub stacks: HashMap<u64, LoggedStack>,
    pub threads: HashMap<u64, LoggedThread>,
    pub locks: HashMap<u64, LoggedLock>,
    pub races: Vec<LoggedRace>,
    pub violations: Vec<LoggedViolation>,
    pub edges: Vec<LoggedEdge>,
    pub expected: Vec<Expected>,
    pub misuses: Vec<Misuse>,
    /// What the program returns from `__tsan_default_options` and `__tsan_default_suppressions`.
    pub default_options: String,
    pub default_suppressions: String,
    pub expected_seen: Vec<u64>,
    /// Code that it executed instead of its own, in the order it was mapped.
    pub copies: Vec<MappedCopy>,
    /// Libraries that are not watched, and why: a number of `wire::relocated::left`.
    pub left: Vec<(u64, PathBuf)>,
    /// Creations and joins, in order: (true, parent, child) or (false, joiner, thread).
    pub fork_joins: Vec<(bool, u64, u64)>,
}

/// What a process was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub words: Vec<OsString>,
    pub environment: Vec<OsString>,
    pub folder: PathBuf,
}

/// Return addresses, and how many modules were mapped when they were logged.
pub struct LoggedStack {
    pub pcs: Vec<u64>,
    pub modules: usize,
    /// The first is in a copy of uninstrumented code.
    pub in_copy: bool,
}

/// A copy of uninstrumented code.
pub struct MappedCopy {
    pub path: PathBuf,
    /// Where it is mapped, and the bias that the object was loaded with.
    pub start: u64,
    pub bias: u64,
    /// How many modules were known when it was logged.
    pub modules: usize,
}

#[derive(Default)]
pub struct LoggedThread {
    pub parent: u64,
    pub stack: u64,
    pub name: Option<String>,
    pub ended: bool,
}

pub struct LoggedLock {
    pub address: u64,
    pub what: Option<LockKind>,
}

pub struct LoggedRace {
    pub now: DecodedEnd,
    pub before: DecodedEnd,
    pub place: AddressKind,
    pub modules: usize,
    /// Not a race: `before` has freed the block, and something orders the two.
    pub after_free: bool,
}

/// A thread-safety violation caught by `raddle tsvd`.
pub struct LoggedViolation {
    pub object: u64,
    pub now: DecodedCaught,
    pub before: DecodedCaught,
    pub modules: usize,
}

pub struct LoggedEdge {
    pub thread: u64,
    pub segment: u64,
    pub moment: Moment,
    pub acquired: HeldLock,
    pub held: Vec<HeldLock>,
}

/// The record, decoded.
pub struct Misuse {
    pub what: Option<MisuseKind>,
    pub thread: u64,
    pub lock: u64,
    pub stack: u64,
    pub taken: u64,
}

pub struct Expected {
    pub address: u64,
    pub stack: u64,
    pub description: String,
}

/// All processes of a session, ordered by process id.
pub fn read(dir: &Path) -> Result<Vec<Process>> {
    let mut processes: Vec<Process> = logs(dir)?.iter().filter_map(|path| read_log(path)).collect();
    crate::relocated::translate(&mut processes);
    Ok(processes)
}

fn logs(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(dir).with_context(|| format!("cannot read the session {}", dir.display()))?;
    let mut logs: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "log")).collect();
    logs.sort();
    Ok(logs)
}

/// Waits until every child of the session's processes has a log, or is no longer expected to have
/// one.
pub fn await_children(dir: &Path) {
    const LONGEST: Duration = Duration::from_secs(1);
    const NAP: Duration = Duration::from_millis(5);
    let begun = Instant::now();
    let awaits = |path: &PathBuf| header(path).is_some_and(|(_, h)| h.children_awaited.load(Relaxed) > 0);
    while logs(dir).is_ok_and(|logs| logs.iter().any(awaits)) && begun.elapsed() < LONGEST {
        std::thread::sleep(NAP);
    }
}

/// The executable of the process that writes this log.
pub fn executable(log: &Path) -> Option<PathBuf> {
    // It is in the first record, and no path is longer than this.
    const ENOUGH: usize = 8192;
    let (file, header) = header(log)?;
    let used = (header.used.load(Relaxed) as usize).min(ENOUGH);
    decode_all(&body(&file, used)?).into_iter().find_map(|record| match record {
        Decoded::Process { executable } => Some(PathBuf::from(OsString::from_vec(executable))),
        _ => None,
    })
}

/// The file and a copy of its header.
///
/// The header is read, not mapped. A mapped page that was never written needs disk space when it is
/// touched, and without space the access kills raddle with SIGBUS.
fn header(path: &Path) -> Option<(File, LogHeader)> {
    let file = File::open(path).ok()?;
    // SAFETY: numbers, for which zero is valid.
    let mut header = unsafe { std::mem::zeroed::<LogHeader>() };
    // SAFETY: all bytes of numbers without padding.
    let bytes =
        unsafe { std::slice::from_raw_parts_mut((&raw mut header).cast::<u8>(), size_of::<LogHeader>()) };
    file.read_exact_at(bytes, 0).ok()?;
    Some((file, header))
}

/// The first `used` bytes after the header, or as many as there are.
fn body(file: &File, used: usize) -> Option<Vec<u8>> {
    let len = usize::try_from(file.metadata().ok()?.len()).ok()?.checked_sub(size_of::<LogHeader>())?;
    let mut body = vec![0; used.min(len)];
    file.read_exact_at(&mut body, size_of::<LogHeader>() as u64).ok()?;
    Some(body)
}

fn read_log(path: &Path) -> Option<Process> {
    let (file, header) = match header(path) {
        Some(read) => read,
        // The runtime creates the file first and then extends it.
        None => return no_room(path),
    };
    if header.magic == 0 {
        return no_room(path);
    }
    if header.magic != MAGIC || header.version != raddle_wire::VERSION {
        return None;
    }
    let body = body(&file, header.used.load(Relaxed) as usize)?;
    let mut process = Process {
        pid: header.pid,
        instrumented: header.instrumented.load(Relaxed) != 0,
        relocated: header.relocated.load(Relaxed) != 0,
        flushes: header.flushes.load(Relaxed),
        races_seen: header.races_seen.load(Relaxed),
        threads_seen: header.threads.load(Relaxed),
        untracked: header.threads_untracked.load(Relaxed),
        lost: header.lost.load(Relaxed),
        without_plan: header.without_plan.load(Relaxed) != 0,
        ..Process::default()
    };
    decode_all(&body).into_iter().for_each(|record| process.add(record));
    Some(process)
}

/// A process that created a log and wrote nothing to it: the disk was full, or it was killed just
/// then.
fn no_room(path: &Path) -> Option<Process> {
    const LITTLE: u64 = 64 << 10;
    let disk = rustix::fs::statvfs(path).ok()?;
    if disk.f_bavail.saturating_mul(disk.f_frsize) >= LITTLE {
        return None;
    }
    let pid = path.file_name()?.to_str()?.split('.').next()?.parse().ok()?;
    Some(Process { pid, fatal: Some(fatal::NO_ROOM), ..Process::default() })
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits zero-terminated strings.
fn strings(bytes: &[u8]) -> Vec<OsString> {
    let whole = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    whole.split(|b| *b == 0).map(|s| OsString::from_vec(s.to_vec())).collect()
}

impl Process {
    fn add(&mut self, record: Decoded) {
        let modules = self.modules.len();
        match record {
            Decoded::Process { executable } => self.executable = text(executable),
            Decoded::Command { words, environment, folder } => {
                self.command = Some(CommandLine {
                    words: strings(&words),
                    environment: strings(&environment),
                    folder: OsString::from_vec(folder).into(),
                });
            }
            Decoded::Module { low, high, offset, path } => {
                let path = PathBuf::from(OsString::from_vec(path));
                self.modules.push(Mapped { low, high, offset, path });
            }
            Decoded::Stack { id, pcs } => {
                drop(self.stacks.insert(id, LoggedStack { pcs, modules, in_copy: false }))
            }
            Decoded::Thread { thread, parent, stack } => {
                self.threads.insert(thread, LoggedThread { parent, stack, ..LoggedThread::default() });
                if parent != u64::MAX {
                    self.fork_joins.push((true, parent, thread));
                }
            }
            Decoded::ThreadName { thread, name } => {
                self.threads.entry(thread).or_default().name = Some(text(name))
            }
            Decoded::ThreadEnd { thread } => self.threads.entry(thread).or_default().ended = true,
            Decoded::ThreadJoin { joiner, thread } => self.fork_joins.push((false, joiner, thread)),
            Decoded::Lock { lock, address, what } => {
                self.locks.insert(lock, LoggedLock { address, what });
            }
            Decoded::Race { now, before, place } => {
                self.races.push(LoggedRace { now, before, place, modules, after_free: false });
            }
            Decoded::UseAfterFree { now, before, place } => {
                self.races.push(LoggedRace { now, before, place, modules, after_free: true });
            }
            Decoded::LockEdge { thread, segment, moment, acquired, held } => {
                self.edges.push(LoggedEdge { thread, segment, moment, acquired, held });
            }
            Decoded::ExpectRace { address, stack, description, .. } => {
                self.expected.push(Expected { address, stack, description: text(description) });
            }
            Decoded::Misuse { what, thread, lock, stack, taken } => {
                self.misuses.push(Misuse { what, thread, lock, stack, taken });
            }
            Decoded::Defaults { options, suppressions } => {
                self.default_options = text(options);
                self.default_suppressions = text(suppressions);
            }
            Decoded::ExpectedSeen { address } => self.expected_seen.push(address),
            Decoded::Copy { start, bias } => {
                let file = self.modules.iter().rev().find(|m| m.low == start && m.offset == 0);
                self.copies.extend(file.map(|m| MappedCopy { path: m.path.clone(), start, bias, modules }));
            }
            Decoded::Left { why, path } => self.left.push((why, OsString::from_vec(path).into())),
            Decoded::Fatal { code, .. } => self.fatal = Some(code),
            Decoded::Violation { object, now, before } => {
                self.violations.push(LoggedViolation { object, now, before, modules });
            }
        }
    }

    /// Whether the process has outlived the command.
    pub fn is_running(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        // A process that is exiting has already returned its memory.
        let memory = std::fs::read_to_string(format!("/proc/{}/statm", self.pid)).unwrap_or_default();
        state.is_some_and(|s| s != 'Z' && s != 'X') && !memory.starts_with("0 ")
    }

    /// Whether an access with this stack may have been made by a copy of uninstrumented code.
    pub fn may_be_in_copy(&self, stack: u64) -> bool {
        self.relocated && self.stacks.get(&stack).is_none_or(|s| s.in_copy || s.pcs.is_empty())
    }

    /// What was mapped when `modules` mappings were known.
    pub fn modules(&self, modules: usize) -> &[Mapped] {
        &self.modules[..modules.min(self.modules.len())]
    }
}

/// Names the processes that have outlived the command, and returns their number.
pub fn say_who_is_left(processes: &[Process]) -> usize {
    let left: Vec<String> = processes
        .iter()
        .filter(|p| p.is_running())
        .map(|p| format!("{} (process {})", p.executable, p.pid))
        .collect();
    if !left.is_empty() {
        let count = count(left.len() as u64, "watched process still runs", "watched processes still run");
        say!(
            "{count}, and what happens there from now on is not reported: {}. To watch a daemon to its end, start it in the foreground",
            left.join(", ")
        );
    }
    left.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_in_zeros_and_may_be_empty() {
        let of =
            |bytes: &[u8]| strings(bytes).into_iter().map(|s| s.into_string().unwrap()).collect::<Vec<_>>();
        assert_eq!(of(b"./a\0\0-v\0"), ["./a", "", "-v"]);
        assert_eq!(of(b"\0"), [""]);
        assert!(of(b"").is_empty());
    }
}
