//! The second tester (section 8 of the paper): delays in ordinary runs, for programs that cannot or
//! should not be scheduled.
//!
//! For each suspect, the program runs a few times as usual. The runtime delays the write until the
//! read arrives, the read until the write has been made, and other writes in the meantime
//! (`raddle_rt::trace::delays`). The program runs at native speed, with its files and sockets. But
//! a delay is not a guarantee, nothing can be replayed, and all that is known of a failure is how
//! it ended and what it printed.
//!
//! A few runs without delays come first. A program that fails in them shows nothing, and what they
//! print is usual too. The access itself confirms a suspect about freed memory: the release waits
//! for a reader of that very block. If the write and the read are under one lock, one of them waits
//! inside the critical section until its time is up. The paper delays before the critical section;
//! here such suspects stay open. A run that shows nothing refutes nothing: the read may have come
//! after the write at another time, or at other memory, than the one that matters.

use raddle_base::hash::fnv32;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_conseq::SiteKind;
use raddle_conseq::suspects::{Instead, Suspect};
use raddle_explore::{Outcome, Trace};
use raddle_finding::Kind;
use raddle_wire::config::{Config, ConfigMode, flag};
use raddle_wire::delays::{self, DelaysHeader};

use super::certainty::is_certain;
use super::ordinary_runs::{self, OUTSIDE, Ordinary, ended};
use super::stacks::Stacks;
use super::tester::{Again, Consequence, Expect, SuspectVerdict, Tested, is_about};
use raddle_harness::check::Check;
use raddle_harness::check::printed::{self, Stream};
use raddle_harness::crew::Notes;
use raddle_harness::describe::steps::pc_of;
use raddle_harness::places::Mapped;
use raddle_harness::verdict::{ExecutionFacts, Failure};
use raddle_harness::worker::Recipe;

/// How many runs without delays to compare with.
const PLAIN: u32 = 3;
/// How many runs with delays per suspect.
const RUNS: u32 = 3;
/// The longest delay, in milliseconds.
const LIMIT: u32 = 400;
/// A run may take this long, or this many times as long as a plain run.
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
    /// The number of runs with delays, per suspect.
    tried: Vec<u32>,
    longest: Duration,
    stacks: Stacks,
}

/// A finished run.
struct Run {
    ordinary: Ordinary,
    seen: Seen,
}

/// What the runtime reports about a run.
struct Seen {
    happened: bool,
    /// Program counters of the read and of the write, innermost first.
    stacks: [Vec<u64>; 2],
}

impl Seen {
    fn of(delays: &memmap2::MmapRaw) -> Seen {
        // SAFETY: the mapping begins with a header, whose changing fields are atomics.
        let header = unsafe { &*delays.as_ptr().cast::<DelaysHeader>() };
        let frames = |stack: &[AtomicU64]| {
            stack.iter().map(|pc| pc.load(Acquire)).take_while(|pc| *pc != 0).collect::<Vec<u64>>()
        };
        Seen {
            happened: header.happened.load(Acquire) != 0,
            stacks: [frames(&header.stacks[0]), frames(&header.stacks[1])],
        }
    }
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
        Delayed {
            recipe,
            modules,
            suspects,
            kinds,
            expect,
            notes,
            deadline,
            printed,
            runs: 0,
            tried: vec![0; suspects.len()],
            longest,
            stacks: Stacks::default(),
        }
    }

    pub fn run(mut self) -> Result<Tested> {
        let mut verdicts = vec![SuspectVerdict::Open; self.suspects.len()];
        let mut consequences: Vec<Consequence> = Vec::new();
        if !self.suspects.is_empty() && self.is_sound()? {
            for (i, verdict) in verdicts.iter_mut().enumerate() {
                if let Some((shown, stacks)) = self.test(i)? {
                    self.stacks.keep(&self.suspects[i], stacks);
                    let known = consequences.iter().position(|c| c.failure.what == shown.failure.what);
                    let at = known.unwrap_or(consequences.len());
                    match known {
                        Some(at) => consequences[at].suspects.push(i),
                        None => consequences.push(shown),
                    }
                    let (additions, usual) = (&self.expect.additions, &self.expect.usual);
                    // The order of accesses in such a run is unknown, so a consequence that ends
                    // well is not certain.
                    let c = &mut consequences[at];
                    c.is_certain = is_certain(c, self.suspects, &|_| false, additions, (usual, true));
                    *verdict =
                        if c.is_certain { SuspectVerdict::Confirmed(at) } else { SuspectVerdict::Shown(at) };
                }
            }
        }
        Ok(Tested {
            consequences,
            verdicts,
            tried: self.tried,
            executions: self.runs,
            exhausted: false,
            passing: Vec::new(),
            recipe: self.recipe.clone(),
            stacks: self.stacks,
        })
    }

    /// Makes a few runs that help the suspect to happen, until one shows its consequence.
    fn test(&mut self, i: usize) -> Result<Option<(Consequence, [Vec<u64>; 2])>> {
        for _ in 0..RUNS {
            if self.is_over() {
                break;
            }
            self.tried[i] += 1;
            let Some(run) = self.delay(&self.suspects[i])? else { break };
            if !run.seen.happened {
                continue;
            }
            if let Some(shown) = self.consequence(&run, i) {
                return Ok(Some((shown, run.seen.stacks)));
            }
        }
        Ok(None)
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || raddle_harness::interrupt::came()
    }

    /// Whether plain runs end well. What they print is usual.
    fn is_sound(&mut self) -> Result<bool> {
        for _ in 0..PLAIN {
            let run = self.start(&DelaysHeader::new(0, (0, 0), false, 0), &[])?.ordinary;
            self.longest = self.longest.max(run.took);
            if let Some((_, sentence)) = ended(&run, &self.expect.usual) {
                self.notes
                    .say(&format!("{sentence} in a run without delays: nothing can be tested with them"));
                return Ok(false);
            }
            self.printed.learn(&run.printed);
        }
        Ok(true)
    }

    /// A run that helps the suspect to happen; `None` if delays cannot do that.
    fn delay(&mut self, s: &Suspect) -> Result<Option<Run>> {
        let pc = |site| pc_of(self.modules, site);
        let (write, same) = match s.instead {
            Instead::Write(w) => (pc(w.site), w.thread() == s.read.thread()),
            Instead::Initial => (Some(0), false),
            Instead::Freed(f) => (pc(f.site), false),
        };
        let (Some(read), Some(write)) = (pc(s.read.site), write) else { return Ok(None) };
        // All accesses to the memory are points; delaying a read as well does no harm.
        let others: Vec<u64> =
            self.recipe.points.iter().copied().filter(|p| ![read, write].contains(p)).collect();
        let from = s.from.and_then(|w| pc(w.site)).filter(|p| ![read, write].contains(p));
        let others = if s.instead == Instead::Initial { from.into_iter().collect() } else { others };
        let frees = matches!(s.instead, Instead::Freed(_));
        let others = if frees { Vec::new() } else { others };
        let header = DelaysHeader {
            frees: frees.into(),
            ..DelaysHeader::new(LIMIT, (read, write), same, others.len() as u32)
        };
        self.start(&header, &others).map(Some)
    }

    fn start(&mut self, header: &DelaysHeader, others: &[u64]) -> Result<Run> {
        self.runs += 1;
        let config = Config::new(ConfigMode::HappensBefore, 2, flag::DELAYS);
        let limit = SHORTEST.max(self.longest * TIMES);
        let look = |_: &Path, delays: memmap2::MmapRaw| Ok(Seen::of(&delays));
        let (ordinary, seen) = ordinary_runs::run(
            self.recipe,
            &config,
            limit,
            &|| self.is_over(),
            |folder| file(folder, header, others),
            look,
        )?;
        Ok(Run { ordinary, seen })
    }

    /// The consequence of a run, if it is the suspect's.
    fn consequence(&self, run: &Run, i: usize) -> Option<Consequence> {
        let freed = matches!(self.suspects[i].instead, Instead::Freed(_));
        // A run that was killed from outside has not reached its own end or printed all its output.
        let own_end = |s: std::process::ExitStatus| s.signal().is_none_or(|s| !OUTSIDE.contains(&s));
        if !run.ordinary.status.is_some_and(own_end) && !freed {
            return None;
        }
        let unusual =
            |streams: &[Stream]| self.printed.unusual(&run.ordinary.printed, streams).map(Check::Printed);
        let printed = |streams: &[Stream]| unusual(streams).map(|check| (check.kind(), check.sentence()));
        let ended = ended(&run.ordinary, &self.expect.usual);
        let check = if ended.is_none() { unusual(&self.expect.streams) } else { None };
        let shown = ended.or_else(|| printed(&self.expect.streams));
        // This very block was freed and then accessed. That is wrong whether it does harm or not.
        let shown = if freed {
            let harm = shown.filter(|_| run.ordinary.status.is_some());
            let harm = harm.map_or(String::new(), |(_, sentence)| format!(", and {sentence}"));
            Some((Kind::UseAfterFree, format!("freed memory is accessed{harm}")))
        } else {
            shown
        };
        let (kind, sentence) = shown?;
        let mut failure = failure(kind, sentence, self.runs);
        // A status alone says little, so the output is added. It is not part of what identifies the
        // failure.
        if let (Kind::ExitStatus, Some((_, line))) = (kind, printed(&[Stream::Out, Stream::Err])) {
            failure.facts.sentence = format!("{}, and {line}", failure.facts.sentence);
        }
        let check = check.filter(|_| !freed);
        let complains = self.printed.complains(&run.ordinary.printed);
        let (suspects, again) = (vec![i], Again::NotTried);
        let (is_remote, is_certain, quiet) = (false, false, [].into());
        let consequence =
            Consequence { failure, check, suspects, again, complains, is_remote, is_certain, quiet };
        is_about(kind, self.kinds[i]).then_some(consequence)
    }
}

/// Makes the file that tells the runtime what to delay.
fn file(folder: &Path, header: &DelaysHeader, others: &[u64]) -> Result<memmap2::MmapRaw> {
    let file = File::options().read(true).write(true).create_new(true).open(folder.join(delays::FILE))?;
    file.set_len(header.bytes() as u64).context("cannot make the file of delays: a full disk")?;
    let memory = memmap2::MmapRaw::map_raw(&file)?;
    // SAFETY: the file is as long as header and table; nobody else has it yet.
    unsafe {
        std::ptr::copy_nonoverlapping(header, memory.as_mut_ptr().cast::<DelaysHeader>(), 1);
        let table = memory.as_mut_ptr().add(size_of::<DelaysHeader>()).cast::<u64>();
        std::ptr::copy_nonoverlapping(others.as_ptr(), table, others.len());
    }
    Ok(memory)
}

/// A failure without steps.
pub fn failure(kind: Kind, sentence: String, after: u64) -> Failure {
    let what = fnv32(sentence.as_bytes());
    let facts = ExecutionFacts {
        sentence,
        thread: 0,
        address: 0,
        ends: Vec::new(),
        stacks: Vec::new(),
        seen: None,
        said: None,
    };
    let outcome = Outcome::Failed { what };
    let trace = Trace { steps: Vec::new(), wide: Vec::new(), outcome, divergence: None };
    Failure { kind, what, facts, trace, after, flags: 0, points: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_delays_has_its_table() {
        let folder = tempfile::tempdir().unwrap();
        let memory = file(folder.path(), &DelaysHeader::new(5, (1, 2), false, 2), &[7, 9]).unwrap();
        let bytes = std::fs::read(folder.path().join(delays::FILE)).unwrap();
        assert_eq!(bytes.len(), memory.len());
        assert_eq!(bytes[size_of::<DelaysHeader>()..], [7u64.to_le_bytes(), 9u64.to_le_bytes()].concat());
    }
}
