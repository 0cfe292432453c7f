//! The second tester (section 8 of the paper): delays in ordinary runs, where the scheduler is not wanted or can not be had.
//!
//! For each suspect the program is run a few times as it is, while the runtime delays the write until the read arrives, the read until
//! the write has been made, and other writes meanwhile (`raddle_rt::trace::delays`). It is native speed, files and sockets and all; but
//! a delay is no promise, what happened can not be replayed, and of a failure only how it ended and what it printed is known.
//!
//! A few runs without delays come first: a program that fails in them shows nothing, and what they print is usual too. Not tried are
//! suspects about freed memory. Where the write and the read are under one lock, the one waits inside for the other until its
//! time is over: the paper delays before the critical section, here such suspects stay open. And a run that shows nothing refutes nothing: the read may
//! have come after the write at another time, or at other memory, than the one that matters.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::Ordering::Acquire;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_conseq::SiteKind;
use raddle_conseq::suspects::{Instead, Suspect};
use raddle_explore::{Outcome, Trace};
use raddle_finding::Kind;
use raddle_wire::config::{Config, Mode, flag};
use raddle_wire::delays::{self, Header};

use super::check::Check;
use super::printed::{self, Printed};
use super::tester::{Again, Consequence, Expect, Tested, Verdict, is_about};
use crate::explore::crew::{Notes, signal_name};
use crate::explore::verdict::{Facts, Failure, Usual};
use crate::explore::words::pc_of;
use crate::explore::worker::{Recipe, apart, end};
use crate::places::Mapped;
use crate::run::launch;

/// Runs without delays, to compare with.
const PLAIN: u32 = 3;
/// Runs with delays for each suspect.
const RUNS: u32 = 3;
/// How long one delay may be, in milliseconds.
const LIMIT: u32 = 400;
/// A run may take so long, or so many times what a plain one took.
const SHORTEST: Duration = Duration::from_secs(10);
const TIMES: u32 = 20;

pub struct Delayed<'a> {
    recipe: &'a Recipe,
    modules: &'a [Mapped],
    suspects: &'a [Suspect],
    kinds: Vec<Option<SiteKind>>,
    expect: Expect<'a>,
    notes: &'a Notes,
    deadline: Instant,
    printed: printed::Usual,
    runs: u64,
    longest: Duration,
}

/// A run that is over.
struct Run {
    /// None: it had to be ended.
    status: Option<ExitStatus>,
    printed: Printed,
    stderr: String,
    happened: bool,
}

impl<'a> Delayed<'a> {
    pub fn new(
        recipe: &'a Recipe,
        modules: &'a [Mapped],
        suspects: &'a [Suspect],
        kinds: Vec<Option<SiteKind>>,
        expect: Expect<'a>,
        notes: &'a Notes,
        deadline: Instant,
    ) -> Delayed<'a> {
        let (printed, longest) = (expect.printed.clone(), Duration::ZERO);
        Delayed { recipe, modules, suspects, kinds, expect, notes, deadline, printed, runs: 0, longest }
    }

    pub fn run(mut self) -> Result<Tested> {
        let mut verdicts = vec![Verdict::Open; self.suspects.len()];
        let mut consequences: Vec<Consequence> = Vec::new();
        if !self.suspects.is_empty() && self.is_sound()? {
            for (i, verdict) in verdicts.iter_mut().enumerate() {
                if let Some(failure) = self.test(i)? {
                    let known = consequences.iter().position(|c| c.failure.what == failure.what);
                    *verdict = Verdict::Confirmed(known.unwrap_or(consequences.len()));
                    match known {
                        Some(at) => consequences[at].suspects.push(i),
                        None => consequences.push(consequence(failure, i)),
                    }
                }
            }
        }
        Ok(Tested {
            consequences,
            verdicts,
            executions: self.runs,
            exhausted: false,
            passing: Vec::new(),
            recipe: self.recipe.clone(),
        })
    }

    /// A few runs in which the suspect is helped to happen, until one shows what it is about.
    fn test(&mut self, i: usize) -> Result<Option<Failure>> {
        for _ in 0..RUNS {
            if self.is_over() {
                break;
            }
            let Some(run) = self.delay(&self.suspects[i])? else { break };
            let shown = self.consequence(&run, i).filter(|_| run.happened);
            if shown.is_some() {
                return Ok(shown);
            }
        }
        Ok(None)
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || crate::explore::interrupted()
    }

    /// Whether plain runs end well. What they print is usual.
    fn is_sound(&mut self) -> Result<bool> {
        for _ in 0..PLAIN {
            let begun = Instant::now();
            let run = self.start(&Header::new(0, (0, 0), false, 0), &[])?;
            self.longest = self.longest.max(begun.elapsed());
            if let Some((_, sentence)) = ended(&run, &self.expect.usual) {
                self.notes
                    .say(&format!("{sentence} in a run without delays: nothing can be tested with them"));
                return Ok(false);
            }
            self.printed.learn(&run.printed);
        }
        Ok(true)
    }

    /// A run in which the suspect is helped to happen; none if delays can not do that.
    fn delay(&mut self, s: &Suspect) -> Result<Option<Run>> {
        let pc = |site| pc_of(self.modules, site);
        let (write, same) = match s.instead {
            Instead::Write(w) => (pc(w.site), w.thread() == s.read.thread()),
            Instead::Initial => (Some(0), false),
            Instead::Freed(_) => return Ok(None),
        };
        let (Some(read), Some(write)) = (pc(s.read.site), write) else { return Ok(None) };
        // All accesses to the memory are points; to hold back a read as well does no harm.
        let others: Vec<u64> =
            self.recipe.points.iter().copied().filter(|p| ![read, write].contains(p)).collect();
        let from = s.from.and_then(|w| pc(w.site)).filter(|p| ![read, write].contains(p));
        let others = if s.instead == Instead::Initial { from.into_iter().collect() } else { others };
        let header = Header::new(LIMIT, (read, write), same, others.len() as u32);
        self.start(&header, &others).map(Some)
    }

    fn start(&mut self, header: &Header, others: &[u64]) -> Result<Run> {
        self.runs += 1;
        let folder = tempfile::Builder::new()
            .prefix("raddle-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .tempdir()
            .context("cannot make a folder for the session: set TMPDIR to a folder that is writable")?;
        let delays = session(folder.path(), header, others)?;
        let recipe = self.recipe;
        let mut command = launch::command(&recipe.program, &recipe.words, &recipe.runtime, folder.path());
        if let Some(folder) = &recipe.folder {
            command.current_dir(folder);
        }
        command.envs(recipe.environment.iter().map(|(k, v)| (k, v)));
        let (out, err) = (folder.path().join("stdout"), folder.path().join("stderr"));
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
        apart(&mut command);
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}", recipe.program.path.display()))?;
        let limit = Instant::now() + SHORTEST.max(self.longest * TIMES);
        let status = loop {
            match child.try_wait().context("cannot wait for the program")? {
                Some(status) => break Some(status),
                None if Instant::now() >= limit || self.is_over() => {
                    end(&mut child);
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let (out, err) = (content(&out), content(&err));
        // SAFETY: the mapping begins with a header, whose changing fields are atomics.
        let happened = unsafe { (*delays.as_ptr().cast::<Header>()).happened.load(Acquire) != 0 };
        let stderr = String::from_utf8_lossy(&err).into_owned();
        Ok(Run { status, printed: Printed::from_bytes(&out, &err), stderr, happened })
    }

    /// What a run came to, if that is what the suspect is about.
    fn consequence(&self, run: &Run, i: usize) -> Option<Failure> {
        let (kind, sentence) = ended(run, &self.expect.usual).or_else(|| {
            let line = self.printed.unusual(&run.printed, &self.expect.streams)?;
            let check = Check::Printed(line);
            Some((check.kind(), check.sentence()))
        })?;
        is_about(kind, self.kinds[i]).then(|| failure(kind, sentence, self.runs))
    }
}

/// The files of a run: what is to be delayed is shared with the program.
fn session(folder: &Path, header: &Header, others: &[u64]) -> Result<memmap2::MmapRaw> {
    let mut page = Config::new(Mode::HappensBefore, 2, flag::DELAYS).as_bytes().to_vec();
    page.resize(4096, 0);
    std::fs::write(folder.join("config"), page).context("cannot write the session's config")?;
    let file = File::options().read(true).write(true).create_new(true).open(folder.join(delays::FILE))?;
    file.set_len(header.bytes() as u64).context("cannot make the file of delays: a full disk")?;
    let memory = memmap2::MmapRaw::map_raw(&file)?;
    // SAFETY: the file is as long as header and table; nobody else has it yet.
    unsafe {
        std::ptr::copy_nonoverlapping(header, memory.as_mut_ptr().cast::<Header>(), 1);
        let table = memory.as_mut_ptr().add(size_of::<Header>()).cast::<u64>();
        std::ptr::copy_nonoverlapping(others.as_ptr(), table, others.len());
    }
    Ok(memory)
}

fn content(path: &Path) -> Vec<u8> {
    const MOST: u64 = 16 << 20;
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(MOST).read_to_end(&mut bytes);
    }
    bytes
}

/// What is wrong with how a run ended. That one took long proves nothing.
fn ended(run: &Run, usual: &Usual) -> Option<(Kind, String)> {
    let status = run.status?;
    if let Some(signal) = status.signal() {
        return Some(match (signal, assertion(&run.stderr)) {
            (libc::SIGABRT, Some(text)) => (Kind::Assertion, format!("assertion `{text}` fails")),
            _ => (Kind::Crash, format!("the program is ended by {}", signal_name(signal))),
        });
    }
    let code = status.code().unwrap_or(0);
    if code == 0 || code == usual.status {
        return None;
    }
    let panics = usual.rust && code == 101;
    Some(match panics {
        true => (Kind::Assertion, "the program panics".into()),
        false => (Kind::ExitStatus, format!("the program ends with status {code}")),
    })
}

/// ``ui: ui.c:7: ui: Assertion `url != 0' failed.``
fn assertion(stderr: &str) -> Option<&str> {
    let (_, after) = stderr.rsplit_once("Assertion `")?;
    after.split_once("' failed").map(|(text, _)| text)
}

fn failure(kind: Kind, sentence: String, after: u64) -> Failure {
    let what = sentence.bytes().fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    let facts = Facts { sentence, thread: 0, address: 0, ends: Vec::new(), stacks: Vec::new(), seen: None };
    let outcome = Outcome::Failed { what };
    let trace = Trace { steps: Vec::new(), wide: Vec::new(), outcome, divergence: None };
    Failure { kind, what, facts, trace, after, flags: 0 }
}

fn consequence(failure: Failure, suspect: usize) -> Consequence {
    Consequence { failure, check: None, suspects: vec![suspect], again: Again::NotTried }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(status: i32, stderr: &str) -> Run {
        let status = Some(ExitStatus::from_raw(status));
        Run { status, printed: Printed::default(), stderr: stderr.into(), happened: true }
    }

    #[test]
    fn endings_are_told() {
        let usual = Usual { status: 3, rust: true, ..Usual::default() };
        let kind = |r: &Run| ended(r, &usual).map(|(kind, _)| kind);
        assert_eq!(kind(&run(0, "")), None);
        assert_eq!(kind(&run(3 << 8, "")), None, "as usual");
        assert_eq!(kind(&run(4 << 8, "")), Some(Kind::ExitStatus));
        assert_eq!(kind(&run(101 << 8, "")), Some(Kind::Assertion));
        assert_eq!(kind(&run(libc::SIGSEGV, "")), Some(Kind::Crash));
        let failed = ended(&run(libc::SIGABRT, "a: a.c:7: ui: Assertion `url != 0' failed.\n"), &usual);
        assert_eq!(failed, Some((Kind::Assertion, "assertion `url != 0` fails".into())));
        assert_eq!(kind(&Run { status: None, ..run(0, "") }), None, "it only took long");
    }

    #[test]
    fn the_file_of_delays_has_its_table() {
        let folder = tempfile::tempdir().unwrap();
        let memory = session(folder.path(), &Header::new(5, (1, 2), false, 2), &[7, 9]).unwrap();
        let bytes = std::fs::read(folder.path().join(delays::FILE)).unwrap();
        assert_eq!(bytes.len(), memory.len());
        assert_eq!(bytes[size_of::<Header>()..], [7u64.to_le_bytes(), 9u64.to_le_bytes()].concat());
    }
}
