//! Reads the logs that the processes of a session have left.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Context, Result};
use raddle_wire::log::{Header, MAGIC};
use raddle_wire::record::{Decoded, DecodedCaught, DecodedEnd, HeldLock, Place, decode_all};

use crate::places::Mapped;

/// One process image.
#[derive(Default)]
pub struct Process {
    pub pid: u32,
    pub executable: String,
    /// What it was started with, where that was asked for.
    pub command: Option<Command>,
    pub instrumented: bool,
    pub fatal: Option<u64>,
    pub flushes: u64,
    pub races_seen: u64,
    pub threads_seen: u64,
    pub untracked: u64,
    pub lost: u64,
    /// In the order they were mapped.
    pub modules: Vec<Mapped>,
    pub stacks: HashMap<u64, Stack>,
    pub threads: HashMap<u64, Thread>,
    pub locks: HashMap<u64, Lock>,
    pub races: Vec<Race>,
    pub violations: Vec<Violation>,
    pub edges: Vec<Edge>,
    pub expected: Vec<Expected>,
    pub misuses: Vec<Misuse>,
    pub expected_seen: Vec<u64>,
    /// Creations and joins, in order: (true, parent, child) or (false, joiner, thread).
    pub fork_joins: Vec<(bool, u64, u64)>,
}

/// What a process was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub words: Vec<OsString>,
    pub environment: Vec<OsString>,
    pub folder: PathBuf,
}

/// Return addresses, and how many modules were mapped when they were logged.
pub struct Stack {
    pub pcs: Vec<u64>,
    pub modules: usize,
}

#[derive(Default)]
pub struct Thread {
    pub parent: u64,
    pub stack: u64,
    pub name: Option<String>,
    pub ended: bool,
}

pub struct Lock {
    pub address: u64,
    pub what: u64,
}

pub struct Race {
    pub now: DecodedEnd,
    pub before: DecodedEnd,
    pub place: Place,
    pub modules: usize,
}

/// What `raddle tsvd` catches.
pub struct Violation {
    pub object: u64,
    pub now: DecodedCaught,
    pub before: DecodedCaught,
    pub modules: usize,
}

pub struct Edge {
    pub thread: u64,
    pub segment: u64,
    pub acquired: HeldLock,
    pub held: Vec<HeldLock>,
}

/// As the record has it.
pub struct Misuse {
    pub what: u64,
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

/// All processes of a session, in the order of their numbers.
pub fn read(dir: &Path) -> Result<Vec<Process>> {
    let entries =
        std::fs::read_dir(dir).with_context(|| format!("cannot read the session {}", dir.display()))?;
    let mut logs: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "log")).collect();
    logs.sort();
    Ok(logs.iter().filter_map(|path| read_log(path)).collect())
}

fn read_log(path: &Path) -> Option<Process> {
    let file = std::fs::File::open(path).ok()?;
    // SAFETY: a process of the session may still append to the log, which only makes later records visible or not;
    // nobody truncates it.
    let map = unsafe { memmap2::Mmap::map(&file) }.ok()?;
    if map.len() < size_of::<Header>() {
        return None;
    }
    // SAFETY: long enough, and aligned as mappings are; the counters are atomics.
    let header = unsafe { &*map.as_ptr().cast::<Header>() };
    if header.magic != MAGIC || header.version != raddle_wire::VERSION {
        return None;
    }
    let body = &map[size_of::<Header>()..];
    let used = (header.used.load(Relaxed) as usize).min(body.len());
    let mut process = Process {
        pid: header.pid,
        instrumented: header.instrumented.load(Relaxed) != 0,
        flushes: header.flushes.load(Relaxed),
        races_seen: header.races_seen.load(Relaxed),
        threads_seen: header.threads.load(Relaxed),
        untracked: header.threads_untracked.load(Relaxed),
        lost: header.lost.load(Relaxed),
        ..Process::default()
    };
    decode_all(&body[..used]).into_iter().for_each(|record| process.add(record));
    Some(process)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Strings with a zero behind each.
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
                self.command = Some(Command {
                    words: strings(&words),
                    environment: strings(&environment),
                    folder: OsString::from_vec(folder).into(),
                });
            }
            Decoded::Module { low, high, offset, path } => {
                let path = PathBuf::from(OsString::from_vec(path));
                self.modules.push(Mapped { low, high, offset, path });
            }
            Decoded::Stack { id, pcs } => drop(self.stacks.insert(id, Stack { pcs, modules })),
            Decoded::Thread { thread, parent, stack } => {
                self.threads.insert(thread, Thread { parent, stack, ..Thread::default() });
                if parent != u64::MAX {
                    self.fork_joins.push((true, parent, thread));
                }
            }
            Decoded::ThreadName { thread, name } => {
                self.threads.entry(thread).or_default().name = Some(text(name))
            }
            Decoded::ThreadEnd { thread } => self.threads.entry(thread).or_default().ended = true,
            Decoded::ThreadJoin { joiner, thread } => self.fork_joins.push((false, joiner, thread)),
            Decoded::Lock { lock, address, what } => drop(self.locks.insert(lock, Lock { address, what })),
            Decoded::Race { now, before, place } => self.races.push(Race { now, before, place, modules }),
            Decoded::LockEdge { thread, segment, acquired, held } => {
                self.edges.push(Edge { thread, segment, acquired, held });
            }
            Decoded::ExpectRace { address, stack, description, .. } => {
                self.expected.push(Expected { address, stack, description: text(description) });
            }
            Decoded::Misuse { what, thread, lock, stack, taken } => {
                self.misuses.push(Misuse { what, thread, lock, stack, taken });
            }
            Decoded::ExpectedSeen { address } => self.expected_seen.push(address),
            Decoded::Fatal { code, .. } => self.fatal = Some(code),
            Decoded::Violation { object, now, before } => {
                self.violations.push(Violation { object, now, before, modules });
            }
        }
    }

    /// The process has outlived the command that was run.
    pub fn is_running(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        state.is_some_and(|s| s != 'Z' && s != 'X')
    }

    /// What was mapped when `modules` of the mappings were known.
    pub fn modules(&self, modules: usize) -> &[Mapped] {
        &self.modules[..modules.min(self.modules.len())]
    }
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
