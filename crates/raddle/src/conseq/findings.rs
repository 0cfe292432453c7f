//! The report on what was found.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use raddle_conseq::history::Point;
use raddle_conseq::suspects::{Instead, Suspect};
use raddle_explore::Trace;
use raddle_finding::{Access, AccessOp, Confidence, Finding, Frame, Kind, Lock, Report};

use super::analysis::Analysed;
use super::args::Args;
use super::campaign::Phases;
use super::stacks::Stacks;
use super::tester::{Again, Consequence, SuspectVerdict, Tested};
use super::traced_runs::{Runs, TracedOrders, came_again};
use raddle_harness::check::Check;
use raddle_harness::crew::Notes;
use raddle_harness::describe;
use raddle_harness::describe::steps::pc_of;
use raddle_harness::places::Places;
use raddle_harness::program::build_id;
use raddle_harness::schedule::{self, Expected, Head, Schedule};
use raddle_harness::schedule_files::{or_without, program_name, write_new};
use raddle_harness::verdict::Failure;
use raddle_harness::worker::Recipe;

pub fn report(
    args: &Args,
    runs: &Runs,
    analysed: &Analysed,
    tested: &Tested,
    (places, stacks): (Places, Stacks),
    clock: &Phases,
) -> Result<Report> {
    let mut teller = Teller { args, runs, analysed, tested, places, stacks, over: clock.over };
    let mut report = Report::new("conseq", words(&runs.recipe));
    let mut known: Vec<u32> = Vec::new();
    for (i, c) in tested.consequences.iter().enumerate() {
        if c.is_certain {
            known.push(c.failure.what);
            report.findings.push(teller.shown(i, c)?);
        } else if args.suspects && tested.verdicts.contains(&SuspectVerdict::Shown(i)) {
            report.suspects.push(teller.shown(i, c)?);
        }
    }
    for (run, failure) in runs.runs.iter().filter_map(|r| Some((r, r.failure.as_ref()?))) {
        if !known.contains(&failure.what) {
            known.push(failure.what);
            let mut finding = teller.without_analysis(failure)?;
            if run.has_forked && !came_again(&runs.runs, failure) {
                finding.confidence = Confidence::Suspected;
                finding.notes.insert(0, PROCESSES.into());
            }
            if finding.confidence == Confidence::Confirmed {
                report.findings.push(finding);
            } else if args.suspects {
                report.suspects.push(finding);
            }
        }
    }
    if args.suspects || args.no_test {
        let open = teller.open();
        report.suspects.extend(open);
    }
    if args.dismissed {
        let dismissed = teller.dismissed();
        report.suspects.extend(dismissed);
    }
    for violation in &analysed.violations {
        report.suspects.push(teller.violation(violation));
    }
    teller.add_stats(&mut report, clock);
    Ok(report)
}

/// The note on a failure of one traced run of a program that starts processes.
const PROCESSES: &str =
    "only one traced run came to it, and the program has started other processes, which nobody schedules";

/// The command. A program that another command started gets a path that works from anywhere.
pub fn words(recipe: &Recipe) -> Vec<String> {
    let mut words: Vec<String> = recipe.words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
    if recipe.folder.is_some() {
        words[0] = recipe.program.path.display().to_string();
    }
    words
}

pub(super) struct Teller<'a> {
    pub(super) args: &'a Args,
    pub(super) runs: &'a Runs,
    pub(super) analysed: &'a Analysed,
    pub(super) tested: &'a Tested,
    places: Places,
    stacks: Stacks,
    /// When the time is up.
    over: Instant,
}

impl<'a> Teller<'a> {
    /// The finding for a traced run that failed by itself.
    fn without_analysis(&mut self, failure: &Failure) -> Result<Finding> {
        let passing = passing(self.tested, failure);
        let mut finding = describe::finding(failure, passing, &mut self.places, &self.runs.modules);
        finding.kind = kind(failure.kind);
        if self.runs.scheduled {
            finding.schedule = or_without(self.write(failure, None, &[]));
            let note = match self.runs.orders {
                TracedOrders::NonPreemptive => "a traced run, in which nobody was preempted, came to this",
                TracedOrders::Fair => "a traced run came to this, in which any thread could run at any step",
            };
            finding.notes.push(note.into());
        } else {
            finding.notes.push("the program came to this by itself, with nobody's doing".into());
        }
        Ok(finding)
    }

    /// The finding for a consequence that was made to happen.
    fn shown(&mut self, i: usize, c: &Consequence) -> Result<Finding> {
        let mut finding = if c.is_by_delays() { self.delayed(c) } else { self.scheduled(i, c)? };
        // The scheduler cannot tell whether a loop would ever end, so it calls a hang suspected. Here
        // it is known what the loop waits for.
        finding.confidence = if c.is_certain { Confidence::Confirmed } else { Confidence::Suspected };
        // A note that the finding has already says why a remote one is not certain.
        let has_reason = c.is_remote && c.again == Again::Yes;
        if !c.is_certain && !has_reason {
            let why = match c.again {
                Again::No => {
                    "it did not happen again when the same choices were made again: something outside the schedule differs from run to run"
                }
                Again::NotTried if !c.is_by_delays() => "there was no time left to make it happen again",
                _ if c.failure.kind == Kind::Hang => {
                    "a thread waits in a call for which raddle does not stand in: another thread might have ended that"
                }
                _ if self.runs.recipe.copy.is_some() => {
                    "it was made to happen, and machine code does not say which accesses are atomic: a data race or a lost update behind it may be \
                     none, and it may be meant to differ"
                }
                _ if c.failure.kind == Kind::ExitStatus => {
                    "the program printed nothing of a failure, and there is no data race or lost update behind it: the status may be a result"
                }
                _ => {
                    "it was made to happen, and the program ended well: without a data race or a lost update behind it, it may be meant to differ"
                }
            };
            finding.notes.insert(0, why.into());
        }
        Ok(finding)
    }

    fn scheduled(&mut self, i: usize, c: &Consequence) -> Result<Finding> {
        let passing = passing(self.tested, &c.failure);
        let mut finding = describe::finding(&c.failure, passing, &mut self.places, &self.runs.modules);
        if let Some(timeline) = &mut finding.timeline {
            let recipe = &Recipe { quiet: c.quiet.to_vec(), ..self.tested.recipe.clone() };
            let modules = &self.runs.modules;
            let is_over = || raddle_harness::interrupt::came() || Instant::now() >= self.over;
            describe::values::add(timeline, &c.failure, recipe, modules, &Notes::default(), &is_over);
        }
        finding.kind = kind(c.failure.kind);
        finding.schedule = or_without(self.write(&c.failure, c.check.as_ref(), &c.quiet));
        let answers =
            |v: &SuspectVerdict| [SuspectVerdict::Confirmed(i), SuspectVerdict::Shown(i)].contains(v);
        let by_verdict = self.tested.verdicts.iter().position(answers);
        if let Some(s) = by_verdict.or(c.suspects.first().copied()).map(|i| &self.analysed.suspects[i]) {
            let (what, because) = (self.what(&c.failure, &finding), self.because(s));
            finding.message = format!("{what}: {because}");
            if finding.accesses.is_empty() {
                finding.accesses.extend(self.site(s));
            }
            let own = finding.accesses.len();
            self.add_ends(&mut finding, s);
            self.deeds(&mut finding, s, own);
        }
        Ok(finding)
    }

    /// A finding made by delays: only its end and its output are known.
    fn delayed(&mut self, c: &Consequence) -> Finding {
        let sentence = &c.failure.facts.sentence;
        let mut finding = Finding::new(c.failure.kind, Confidence::Confirmed, sentence.as_str());
        let Some(s) = c.suspects.first().map(|i| &self.analysed.suspects[*i]) else { return finding };
        finding.message = format!("{sentence}: {}", self.because(s));
        self.add_ends(&mut finding, s);
        if let Some(site) = self.site(s) {
            finding.accesses.insert(0, site);
        }
        finding.notes.push(
            "made to happen by delays in an ordinary run: there is no schedule to replay, and it need not happen again".into(),
        );
        finding.notes.extend(self.usual(s));
        finding
    }

    /// Adds the read and the other access, with their locks: the write or release that the read
    /// could follow, or the write that it could precede.
    pub(super) fn add_ends(&mut self, finding: &mut Finding, s: &Suspect) {
        let other = match s.instead {
            Instead::Write(w) => Some((w, AccessOp::Write)),
            Instead::Freed(f) => Some((f, AccessOp::Free)),
            // The write that comes too late, as the traced run had it.
            Instead::Initial => s.from.map(|w| (w, AccessOp::Write)),
        };
        let ends = [Some((s.read, AccessOp::Read)), other];
        let mut labels: Vec<(u64, String)> = Vec::new();
        for ((point, op), locks) in ends.into_iter().flatten().zip(&s.locks) {
            let mut end = self.end(&point, op);
            for lock in locks {
                // A lock without a name is identified by its address.
                let known =
                    labels.iter().find(|(address, _)| address == lock).map(|(_, label)| label.clone());
                let label = known.unwrap_or_else(|| self.lock(finding, *lock));
                labels.push((*lock, label.clone()));
                end.locks.push(label);
            }
            finding.accesses.push(end);
        }
    }

    /// The label of a lock; adds the lock to the finding.
    fn lock(&mut self, finding: &mut Finding, address: u64) -> String {
        let name = self.places.global(&self.runs.modules, address).map(|g| g.label());
        if let Some(known) = finding.locks.iter().find(|l| name.is_some() && l.name == name) {
            return known.label.clone();
        }
        let label = format!("L{}", finding.locks.len() + 1);
        finding.locks.push(Lock { label: label.clone(), what: "lock".into(), name, taken: Vec::new() });
        label
    }

    pub(super) fn end(&mut self, point: &Point, op: AccessOp) -> Access {
        let op = match (op, point.cell.atomic) {
            (AccessOp::Read, true) => AccessOp::AtomicRead,
            (AccessOp::Write, true) => AccessOp::AtomicWrite,
            (op, _) => op,
        };
        let pcs = self.pcs(point);
        let stack = self.places.stack(&self.runs.modules, &pcs);
        let thread = thread(point);
        Access { op, size: point.cell.size.into(), thread, locks: Vec::new(), lock: None, stack }
    }

    /// The access and its callers, as program counters.
    pub(super) fn pcs(&self, point: &Point) -> Vec<u64> {
        let pc = pc_of(&self.runs.modules, point.site);
        pc.map(|pc| self.stacks.at(point.thread(), point.site, pc)).unwrap_or_default()
    }

    /// The error site. The program may never have reached it, so its callers are those of the read
    /// that it depends on.
    pub(super) fn site(&mut self, s: &Suspect) -> Option<Access> {
        let pc = s.site.and_then(|i| self.analysed.sites.pc(i))? + 1;
        let mut pcs = vec![pc];
        let read = self.pcs(&s.read);
        let function = self.function(pc);
        // The site is in the read's own function, or in one that called it.
        if let Some(same) = read.iter().position(|at| self.function(*at) == function) {
            pcs.extend(&read[same + 1..]);
        }
        let stack = self.places.stack(&self.runs.modules, &pcs);
        Some(Access {
            op: AccessOp::Call,
            size: 0,
            thread: thread(&s.read),
            locks: Vec::new(),
            lock: None,
            stack,
        })
    }

    /// The name of the function that contains the code, whatever is inlined there.
    fn function(&mut self, pc: u64) -> Option<String> {
        self.places.frames(&self.runs.modules, pc).pop().and_then(|f| f.function)
    }

    /// What the two ends did in the traced run, for the captions of the table.
    fn deeds(&self, finding: &mut Finding, s: &Suspect, own: usize) {
        let Some(table) = &mut finding.interleaving else { return };
        table.deeds.resize(own, "is where it shows".into());
        let size = s.read.cell.size;
        table.deeds.push(format!("read {} in the traced run", value(s.read.cell.value, size, s.value)));
        match s.instead {
            Instead::Write(w) => {
                table.deeds.push(format!("wrote {}", value(w.cell.value, w.cell.size, s.read.cell.value)))
            }
            Instead::Freed(_) => table.deeds.push("freed it".into()),
            Instead::Initial => {
                let wrote = s.from.map(|w| value(w.cell.value, w.cell.size, s.value));
                table.deeds.extend(wrote.map(|v| format!("wrote {v} before that in the traced run")));
            }
        }
    }

    /// ``assertion `url != 0` at ui.c:57 can fail``.
    fn what(&self, failure: &Failure, finding: &Finding) -> String {
        let sentence = &failure.facts.sentence;
        let place = finding.accesses.first().and_then(|a| raddle_finding::place::place(&a.stack));
        let at = place.and_then(|f| {
            let (file, line) = (f.file.as_deref()?, f.line?);
            Some(format!(" at {}:{line}", file.rsplit('/').next().unwrap_or(file)))
        });
        let at = at.unwrap_or_default();
        let assertion = sentence.split_once(" failed").map(|(a, _)| a).filter(|a| a.starts_with("assertion"));
        match (failure.kind, assertion) {
            (Kind::Assertion, Some(assertion)) => format!("{assertion}{at} can fail"),
            (Kind::Crash | Kind::UseAfterFree | Kind::DoubleFree | Kind::Assertion, _) => {
                format!("{sentence}{at}")
            }
            (Kind::Hang | Kind::Livelock | Kind::Starvation, _) => format!("the program can hang{at}"),
            _ => sentence.clone(),
        }
    }

    /// `ui.c:55 may read NULL written by loader.c:31`.
    pub(super) fn because(&mut self, s: &Suspect) -> String {
        let read = self.place(&s.read);
        let value = value(s.value, s.read.cell.size, s.read.cell.value);
        match s.instead {
            Instead::Write(w) => format!("{read} may read {value} written by {}", self.place(&w)),
            Instead::Initial => {
                let before = s.from.map_or(String::new(), |w| format!(", before {}", self.place(&w)));
                format!("{read} may come too early{before}, and read {value}")
            }
            Instead::Freed(f) => format!("{read} may access what {} has freed", self.place(&f)),
        }
    }

    /// What the read accesses and what it got in the traced run, if no table of steps shows it.
    pub(super) fn usual(&mut self, s: &Suspect) -> Option<String> {
        if matches!(s.instead, Instead::Freed(_)) {
            return None;
        }
        let cell = &s.read.cell;
        let of = self.places.global(&self.runs.modules, cell.address).map(|g| format!("of `{}` ", g.label()));
        let got = value(cell.value, cell.size, s.value);
        Some(format!("the read {}got {got} in the traced run", of.unwrap_or_default()))
    }

    /// The line of an access. One in a library's own function is where the program called it, if
    /// that is known.
    pub(super) fn place(&mut self, point: &Point) -> String {
        let Some(pc) = pc_of(&self.runs.modules, point.site) else { return "somewhere".into() };
        let mut frames = self.places.stack(&self.runs.modules, &[pc]);
        if !frames.iter().any(raddle_finding::place::is_user_code) {
            let stack = self.pcs(point);
            frames = self.places.stack(&self.runs.modules, &stack);
        }
        line_of(&frames, pc)
    }

    pub(super) fn place_of(&mut self, pc: u64) -> String {
        line_of(&self.places.stack(&self.runs.modules, &[pc]), pc)
    }

    /// Writes the file to replay and returns its name.
    fn write(&self, failure: &Failure, check: Option<&Check>, quiet: &[u64]) -> Result<PathBuf> {
        let recipe = &self.tested.recipe;
        let folder = recipe.folder.clone().unwrap_or_else(schedule::folder);
        let environment = schedule::environment();
        let points = failure.points.as_deref().unwrap_or(&recipe.points);
        let head = Head {
            format: schedule::FORMAT.into(),
            version: schedule::VERSION,
            command: words(recipe),
            folder: folder.to_string_lossy().into_owned(),
            environment: environment.into_iter().chain(recipe.environment.iter().cloned()).collect(),
            unset: schedule::unset(),
            input: schedule::input(),
            build_id: build_id(&recipe.program.path),
            flags: recipe.flags,
            max_steps: recipe.max_steps,
            donors: recipe.donors,
            points: points.iter().map(|p| format!("{p:x}")).collect(),
            quiet: schedule::quiet_in_words(quiet),
            expected: Expected {
                kind: failure.kind.name().into(),
                number: failure.what,
                message: failure.facts.sentence.clone(),
                usual_status: self.runs.usual.status,
                usual_panics: self.runs.usual.panics,
                usual_output: None,
                check: check.cloned(),
            },
        };
        let text = Schedule { head, steps: failure.trace.steps.clone() }.write();
        let name = format!("{}-{}", program_name(recipe), word(failure.kind));
        write_new(&self.args.schedules_to, &name, &text)
    }
}

/// `ui.c:55`, or what else is known of the frame that represents the stack of `pc`.
fn line_of(frames: &[Frame], pc: u64) -> String {
    let Some(frame) = raddle_finding::place::place(frames) else { return format!("{pc:#x}") };
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => {
            let name = file.rsplit('/').next().unwrap_or(file);
            format!("{name}:{line}")
        }
        _ => match (&frame.function, &frame.module, frame.offset) {
            (Some(function), ..) => function.clone(),
            // The same form as in the stacks of the report.
            (None, Some(module), Some(offset)) => format!("{module}+{offset:#x}"),
            _ => format!("{pc:#x}"),
        },
    }
}

/// What a failure is compared with to explain it. A failure with many steps is not compared: that
/// would take longer than everything else.
fn passing<'t>(tested: &'t Tested, failure: &Failure) -> &'t [Trace] {
    const LONG: usize = 20_000;
    if failure.trace.steps.len() > LONG { &[] } else { &tested.passing }
}

fn thread(point: &Point) -> String {
    if point.thread() == 0 { "T0 (main)".into() } else { format!("T{}", point.thread()) }
}

/// An execution that goes on for ever hangs, whatever its threads do in the meantime.
fn kind(kind: Kind) -> Kind {
    match kind {
        Kind::Livelock | Kind::Starvation => Kind::Hang,
        other => other,
    }
}

/// The kind of site, for the name of a file.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Assertion => "assert",
        Kind::ErrorMessage => "error",
        Kind::Output => "output",
        Kind::Hang | Kind::Livelock | Kind::Starvation => "loop",
        Kind::Crash | Kind::UseAfterFree | Kind::DoubleFree => "memory",
        Kind::Deadlock => "deadlock",
        Kind::ExitStatus => "exit-status",
        _ => "invariant",
    }
}

/// A value as its reader would write it. `beside` is another value of the same memory, and shows
/// whether these are pointers.
fn value(value: u64, size: u8, beside: u64) -> String {
    const ADDRESSES: u64 = 1 << 32;
    match (value, size) {
        (0, 8) if beside > ADDRESSES && beside >> 47 == 0 => "NULL".into(),
        (v, 8) if v > ADDRESSES => format!("{v:#x}"),
        (v, 4) => (v as u32 as i32).to_string(),
        (v, _) => v.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_their_reader_would() {
        let address = 0x7a00_0000_0010;
        assert_eq!(value(0xffff_ffff, 4, 0), "-1");
        assert_eq!(value(0, 8, address), "NULL");
        assert_eq!(value(0, 8, 3), "0", "a number, not a pointer");
        assert_eq!(value(address, 8, 0), "0x7a0000000010");
        assert_eq!(value(3, 1, 0), "3");
    }
}
