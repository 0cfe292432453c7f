//! Turns the raw findings of the runtimes into findings in terms of the source.

mod cycles;
mod misuses;
mod place;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;

use raddle_binary::Patterns;
use raddle_finding::{
    Access, AccessOp, Confidence, Finding, Frame, Kind, Location, Lock, Report, Stat, Taken, ThreadInfo,
};
use raddle_wire::record::{AccessKind, DecodedEnd, HeldLock, LockKind};

use super::{DetectionOptions, DetectorMode};
use crate::collect::{LoggedRace, Process};
use crate::detection::session::patterns;
use crate::gaps;
use crate::places::{GlobalPlace, Places};

/// All findings, not yet grouped.
pub fn report(command: &[OsString], processes: &[Process], options: &DetectionOptions) -> Report {
    let target: Vec<String> = command.iter().map(|w| w.to_string_lossy().into_owned()).collect();
    let mut report = Report::new("run", target);
    let mut places = Places::new();
    let ignored = patterns(&options.ignore);
    let several = processes.iter().filter(|p| p.instrumented).count() > 1;
    for process in processes {
        let (mode, history) = (options.mode, options.history);
        let starters = HashMap::new();
        let mut explain =
            Explain { process, places: &mut places, mode, history, ignored: &ignored, starters };
        let mut findings = explain.races();
        if options.lock_order {
            findings.extend(explain.cycles());
        }
        findings.extend(explain.missing_races());
        findings.extend(explain.misuses(options));
        if several {
            let note = format!("in process {} ({})", process.pid, process.executable);
            findings.iter_mut().for_each(|f| f.notes.push(note.clone()));
        }
        report.findings.append(&mut findings);
    }
    add_stats(&mut report.stats, processes, options);
    report
}

fn add_stats(stats: &mut BTreeMap<String, Stat>, processes: &[Process], options: &DetectionOptions) {
    let mode = match options.mode {
        DetectorMode::Hb => "hb",
        DetectorMode::Hybrid => "hybrid",
        DetectorMode::Fast => "fast",
    };
    let sum = |f: fn(&Process) -> u64| Stat::from(processes.iter().map(f).sum::<u64>());
    stats.insert("mode".into(), Stat::from(mode));
    stats.insert("history".into(), Stat::from(options.history as u64));
    stats.insert("processes".into(), Stat::from(processes.iter().filter(|p| p.instrumented).count() as u64));
    stats.insert("threads".into(), sum(|p| p.threads_seen));
    stats.insert("flushes".into(), sum(|p| p.flushes));
    stats.insert("races_seen".into(), sum(|p| p.races_seen));
    stats.insert("threads_untracked".into(), sum(|p| p.untracked));
    stats.insert("records_lost".into(), sum(|p| p.lost));
}

struct Explain<'a> {
    process: &'a Process,
    places: &'a mut Places,
    mode: DetectorMode,
    history: u8,
    ignored: &'a Patterns,
    /// Whether these files are known to order the threads that they start where raddle sees it.
    starters: HashMap<PathBuf, bool>,
}

/// The threads and locks that a finding mentions, collected while it is described.
#[derive(Default)]
struct Cast {
    threads: Vec<u64>,
    locks: Vec<(u64, Vec<(u64, u64)>)>,
}

impl Cast {
    fn thread(&mut self, id: u64) {
        if id <= u32::MAX as u64 && !self.threads.contains(&id) {
            self.threads.push(id);
        }
    }

    /// Records that `thread` took lock `id` at `stack`.
    fn lock(&mut self, id: u64, thread: u64, stack: u64) {
        let at = self.locks.iter().position(|l| l.0 == id).unwrap_or_else(|| {
            self.locks.push((id, Vec::new()));
            self.locks.len() - 1
        });
        if !self.locks[at].1.contains(&(thread, stack)) {
            self.locks[at].1.push((thread, stack));
        }
    }
}

impl Explain<'_> {
    fn races(&mut self) -> Vec<Finding> {
        let races: Vec<&LoggedRace> = self.process.races.iter().filter(|r| !self.is_expected(r)).collect();
        let findings: Vec<Finding> = races.into_iter().map(|r| self.race(r)).collect();
        findings.into_iter().filter(|f| !self.is_ignored(f)).collect()
    }

    /// Whether `ANNOTATE_EXPECT_RACE` expects this race.
    fn is_expected(&self, race: &LoggedRace) -> bool {
        let covers = |e: &DecodedEnd, a: u64| e.address <= a && a < e.address + e.size.max(1);
        self.process.expected.iter().any(|e| covers(&race.now, e.address) || covers(&race.before, e.address))
    }

    /// Whether one end is in ignored code. The runtime checks the executable; this checks the
    /// libraries.
    fn is_ignored(&self, finding: &Finding) -> bool {
        finding.accesses.iter().filter_map(|a| a.stack.first()).any(|frame| {
            let is = |value: &Option<String>, f: &dyn Fn(&str) -> bool| value.as_deref().is_some_and(f);
            is(&frame.function, &|v| self.ignored.matches_function(v))
                || is(&frame.file, &|v| self.ignored.matches_file(v))
                || is(&frame.module, &|v| self.ignored.matches_module(v.as_ref()))
        })
    }

    fn race(&mut self, race: &LoggedRace) -> Finding {
        let mut cast = Cast::default();
        let now = self.access(&race.now, &mut cast);
        let before = self.access(&race.before, &mut cast);
        let location = self.location(race, &mut cast);
        let (now, before) = match location {
            // No bytes are read or written: both ends are calls.
            Some(Location::Descriptor { .. }) => (
                Access { op: AccessOp::Call, size: 0, ..now },
                Access { op: AccessOp::Call, size: 0, ..before },
            ),
            _ => (now, before),
        };
        let in_copy = [&race.now, &race.before].iter().any(|end| self.process.may_be_in_copy(end.stack));
        let starter = [race.now.thread, race.before.thread].into_iter().find_map(|t| self.unknown_starter(t));
        let mut finding = if race.after_free {
            // It has happened, whatever the locks are.
            let message = after_free_message(&now, &before, location.as_ref());
            Finding::new(Kind::UseAfterFree, Confidence::Confirmed, message)
        } else {
            let confidence = match self.mode {
                DetectorMode::Hb if !in_copy && starter.is_none() => Confidence::Confirmed,
                DetectorMode::Hb | DetectorMode::Hybrid | DetectorMode::Fast => Confidence::Suspected,
            };
            let message = match location {
                Some(Location::Descriptor { number }) => {
                    let closed_first = op(race.before.kind) == AccessOp::Write;
                    descriptor_message(number, &now, &before, closed_first)
                }
                _ => race_message(&now, &before, location.as_ref()),
            };
            Finding::new(Kind::DataRace, confidence, message)
        };
        if in_copy && !race.after_free {
            finding.notes.push(crate::relocated::caveat().into());
        }
        if let Some((thread, library)) = starter.filter(|_| !in_copy && !race.after_free) {
            finding.notes.push(format!(
                "{library} has started {thread} and is not instrumented: how it orders its threads is not seen"
            ));
        }
        if before.stack.is_empty() && self.history > 0 {
            finding.notes.push(
                "the history no longer reaches back to the earlier access: a smaller input may help".into(),
            );
        }
        if !race.after_free && race.now.thread == race.before.thread && self.is_known_thread(race.now.thread)
        {
            finding.notes.push(
                "one thread ran both, as two OpenMP tasks or sections that nothing orders: two threads may run them at once".into(),
            );
        }
        finding.accesses = vec![now, before];
        finding.location = location;
        finding.occurrences = 1;
        self.introduce(&mut finding, cast);
        finding
    }

    /// The thread and the library, if a library that was not built with raddle has started it: how
    /// such a library orders its threads is not seen.
    fn unknown_starter(&mut self, thread: u64) -> Option<(String, String)> {
        let stack = self.process.stacks.get(&self.process.threads.get(&thread)?.stack)?;
        let pc = *stack.pcs.first()?;
        let modules = self.process.modules(stack.modules);
        let module = modules.iter().rev().find(|m| (m.low..m.high).contains(&pc))?;
        let known = self.starters.entry(module.path.clone()).or_insert_with(|| gaps::orders_threads(module));
        let library = module.path.file_name()?.to_string_lossy().into_owned();
        (!*known).then(|| (self.thread_label(thread), library))
    }

    fn is_known_thread(&self, id: u64) -> bool {
        id < u32::MAX as u64
    }

    fn access(&mut self, end: &DecodedEnd, cast: &mut Cast) -> Access {
        cast.thread(end.thread);
        for held in &end.locks {
            cast.lock(held.lock, end.thread, held.stack);
        }
        Access {
            op: op(end.kind),
            size: end.size,
            thread: self.thread_label(end.thread),
            locks: end.locks.iter().map(lock_label).collect(),
            stack: self.stack(end.stack),
            lock: None,
        }
    }

    /// Describes the threads and locks of a finding.
    fn introduce(&mut self, finding: &mut Finding, mut cast: Cast) {
        // Creators are described too, so that the chain back to main is complete.
        let mut i = 0;
        while i < cast.threads.len() {
            if let Some(t) = self.process.threads.get(&cast.threads[i]) {
                cast.thread(t.parent);
            }
            i += 1;
        }
        cast.threads.sort_unstable();
        finding.threads = cast.threads.iter().map(|id| self.thread(*id)).collect();
        finding.locks = cast.locks.iter().map(|(id, taken)| self.lock(*id, taken)).collect();
    }

    fn thread(&mut self, id: u64) -> ThreadInfo {
        let known = self.process.threads.get(&id);
        let parent = known.map(|t| t.parent).filter(|p| *p != u64::MAX && id != 0);
        ThreadInfo {
            label: self.thread_label(id),
            name: known.and_then(|t| t.name.clone()),
            created_by: parent.map(|p| self.thread_label(p)),
            stack: self.stack(known.map_or(0, |t| t.stack)),
            running: known.is_none_or(|t| !t.ended),
        }
    }

    fn thread_label(&self, id: u64) -> String {
        if id > u32::MAX as u64 - 1 {
            return "an unknown thread".into();
        }
        let name = self.process.threads.get(&id).and_then(|t| t.name.as_deref()).filter(|n| !n.is_empty());
        match (id, name) {
            (0, None) => "T0 (main)".into(),
            (_, Some(name)) => format!("T{id} ({name})"),
            (_, None) => format!("T{id}"),
        }
    }

    fn lock(&mut self, id: u64, taken: &[(u64, u64)]) -> Lock {
        let known = self.process.locks.get(&id);
        let name = known.and_then(|l| self.global(l.address, usize::MAX)).map(|g| g.label());
        Lock {
            label: format!("L{id}"),
            what: known.map_or("lock", |l| what(l.what)).into(),
            name,
            taken: taken
                .iter()
                .map(|(thread, stack)| Taken {
                    thread: self.thread_label(*thread),
                    stack: self.stack(*stack),
                })
                .collect(),
        }
    }

    fn stack(&mut self, id: u64) -> Vec<Frame> {
        let Some(stack) = self.process.stacks.get(&id) else { return Vec::new() };
        self.places.stack(self.process.modules(stack.modules), &stack.pcs)
    }

    /// The global variable at `address`, given the mappings known at that time.
    fn global(&mut self, address: u64, modules: usize) -> Option<GlobalPlace> {
        self.places.global(self.process.modules(modules), address)
    }

    fn missing_races(&mut self) -> Vec<Finding> {
        let missing: Vec<_> = self
            .process
            .expected
            .iter()
            .filter(|e| !self.process.expected_seen.contains(&e.address))
            .collect();
        let mut findings = Vec::new();
        for expected in missing {
            let stack = self.stack(expected.stack);
            let why = if expected.description.is_empty() {
                String::new()
            } else {
                format!(" ({})", expected.description)
            };
            let message = format!("a race was expected on an address and none was found{why}");
            let mut finding = Finding::new(Kind::ExpectedRaceMissing, Confidence::Confirmed, message);
            let thread = "T0 (main)".to_string();
            finding.accesses =
                vec![Access { op: AccessOp::Call, size: 0, thread, locks: vec![], stack, lock: None }];
            finding.occurrences = 1;
            findings.push(finding);
        }
        findings
    }
}

fn op(kind: AccessKind) -> AccessOp {
    match kind {
        AccessKind::Read => AccessOp::Read,
        AccessKind::Write => AccessOp::Write,
        AccessKind::AtomicRead => AccessOp::AtomicRead,
        AccessKind::AtomicWrite => AccessOp::AtomicWrite,
        AccessKind::Free => AccessOp::Free,
        AccessKind::Allocate => AccessOp::Allocate,
    }
}

fn what(kind: Option<LockKind>) -> &'static str {
    match kind {
        Some(LockKind::Mutex) => "mutex",
        Some(LockKind::Rwlock) => "rwlock",
        Some(LockKind::Spinlock) => "spinlock",
        Some(LockKind::StdMutex) => "std::sync::Mutex",
        Some(LockKind::StdRwlock) => "std::sync::RwLock",
        Some(LockKind::Annotated) => "annotated lock",
        Some(LockKind::OpenMp) => "OpenMP lock",
        None => "lock",
    }
}

fn lock_label(held: &HeldLock) -> String {
    if held.read != 0 { format!("L{} (read)", held.lock) } else { format!("L{}", held.lock) }
}

/// The sentence for a data race.
pub fn race_message(now: &Access, before: &Access, location: Option<&Location>) -> String {
    let on = match location {
        Some(Location::Global { name, .. }) => format!(" on `{name}`"),
        Some(Location::Heap { size, .. }) => {
            format!(" on a heap block of {}", crate::say::count(*size, "byte", "bytes"))
        }
        Some(Location::Stack { thread }) => format!(" on the stack of {thread}"),
        Some(Location::Tls { thread }) => format!(" on thread-local storage of {thread}"),
        _ => String::new(),
    };
    format!("data race{on}: {} and then {} are not ordered", end(before), end(now))
}

/// The sentence for a race between using and closing a descriptor.
fn descriptor_message(number: u64, now: &Access, before: &Access, closed_first: bool) -> String {
    let (closes, uses) = if closed_first { (before, now) } else { (now, before) };
    let by = |a: &Access| match raddle_finding::place::place(&a.stack).and_then(|f| f.function.as_deref()) {
        Some(function) => format!("{} in {function}", a.thread),
        None => a.thread.clone(),
    };
    format!(
        "data race on file descriptor {number}: {} closes it and {} uses it, and nothing orders the two",
        by(closes),
        by(uses)
    )
}

/// The sentence for a use after free.
fn after_free_message(now: &Access, before: &Access, location: Option<&Location>) -> String {
    let of = match location {
        Some(Location::Heap { size, .. }) => format!(" of a heap block of {size} bytes"),
        _ => String::new(),
    };
    format!("use after free{of}: {} comes after {}", end(now), end(before))
}

fn end(a: &Access) -> String {
    match raddle_finding::place::place(&a.stack).and_then(|f| f.function.as_deref()) {
        Some(function) => format!("{} in {function}", a.op),
        None => a.op.to_string(),
    }
}
