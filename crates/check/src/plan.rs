//! The programs of a set of files, checked one by one and put together.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use raddle_finding::{Finding, Kind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::c;
use crate::entries::{self, Entry, EntryKind};
use crate::explore::{Budget, Cut, Explored, LinkedProgram, explore};
use crate::guards::Guards;
use crate::ignore::ignored_lines;
use crate::interp::raw::RawFinding;
use crate::ir::{Program, SymbolRef, Unit, link};
use crate::programs::Member;
use crate::report;
use crate::session::{CheckOutcome, CheckedFunction, Source};

/// Up to this many programs get the whole budget each. More programs share what these would get.
const WITH_FULL_BUDGET: u64 = 20;

fn shared(budget: Budget, programs: usize) -> Budget {
    let steps = match programs as u64 {
        n if n > WITH_FULL_BUDGET => budget.steps.saturating_mul(WITH_FULL_BUDGET) / n,
        _ => budget.steps,
    };
    Budget { steps: steps.max(1), ..budget }
}

/// A program, or those of its entries that belong to one assembly.
pub(crate) struct Job {
    pub(crate) members: Vec<usize>,
    assembly: u32,
    /// The linked program, made by the first job that needs it.
    linked: Arc<OnceLock<LinkedProgram>>,
}

impl Job {
    pub(crate) fn new(
        members: Vec<usize>,
        assembly: u32,
        linked: Option<Arc<OnceLock<LinkedProgram>>>,
    ) -> Self {
        Self { members, assembly, linked: linked.unwrap_or_default() }
    }
}

/// The programs of a set of files, ready to be checked in any order and on any thread.
pub struct CheckPlan<'a> {
    sources: &'a [Source],
    budget: Budget,
    members: Vec<Member>,
    jobs: Vec<Job>,
    /// For each function, how many units mention it by name. Only if accesses without the lock
    /// that the rest of the program holds are wanted.
    mentions: Option<FxHashMap<Arc<str>, usize>>,
    out: CheckOutcome,
}

/// The result of checking one program.
#[derive(Debug, Clone, Default)]
pub struct CheckedProgram {
    findings: Vec<Finding>,
    /// Findings that rest on a guess.
    guesses: Vec<Finding>,
    steps: u64,
    runs: u64,
    entries: u64,
    entries_cut_short: u64,
    entries_out_of_room: u64,
    entries_not_run: u64,
    /// Own functions entered, by file and line.
    reached: Vec<Place>,
    /// Places that start threads, and whether a run reached them.
    starts: Vec<(Place, bool)>,
    checked: Vec<CheckedFunction>,
}

/// A file, and a line and column in it.
type Place = (Arc<str>, u32, u16);

fn place_of(program: &Program, pos: crate::ir::Pos) -> Place {
    let path = program.files.get(usize::from(pos.file)).map(|f| f.path.clone()).unwrap_or_default();
    (path, pos.line, pos.col)
}

impl<'a> CheckPlan<'a> {
    pub(crate) fn new(
        sources: &'a [Source],
        budget: Budget,
        members: Vec<Member>,
        jobs: Vec<Job>,
        guards: bool,
        out: CheckOutcome,
    ) -> Self {
        let mentions = guards.then(|| mentions(members.iter()));
        Self { sources, budget: shared(budget, jobs.len()), members, jobs, mentions, out }
    }

    /// The number of jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The file that represents a program: the one with its `main`, or the first.
    pub fn name(&self, job: usize) -> &str {
        &self.members[self.jobs[job].members[0]].path
    }

    fn link(&self, job: &Job) -> LinkedProgram {
        let models = c::models::unit();
        let own = job.members.iter().map(|i| &*self.members[*i].unit);
        let mut units: Vec<&Unit> = own.collect();
        // A unit with classes brings its library along.
        if units.iter().all(|u| u.classes.is_none()) {
            units.push(&models);
        }
        LinkedProgram::new(link::link(&units))
    }

    /// How the program uses its locks, if that is wanted.
    fn guards<'p>(&self, job: &Job, subject: &'p LinkedProgram) -> Option<Guards<'p>> {
        let all = self.mentions.as_ref()?;
        // C# has its locks in statements, and no run of it starts without the callers' ones.
        if !subject.program.classes.all.is_empty() {
            return None;
        }
        let own = mentions(job.members.iter().map(|i| &self.members[*i]));
        let is_elsewhere = |name: &str| all.get(name) > own.get(name);
        Some(Guards::of(&subject.program, &subject.facts.locking, &is_elsewhere))
    }

    /// The budget of a job. If many assemblies make up one program and share the budget of twenty,
    /// an assembly with more entries gets more.
    fn budget_of(&self, job: &Job, own: usize, all: usize) -> Budget {
        if self.jobs.len() as u64 <= WITH_FULL_BUDGET || all == 0 {
            return self.budget;
        }
        let assemblies = self.jobs.iter().filter(|j| Arc::ptr_eq(&j.linked, &job.linked)).count();
        let together = self.budget.steps.saturating_mul(assemblies as u64);
        let share = (u128::from(together) * own as u128 / all as u128) as u64;
        Budget { steps: self.budget.steps.max(share), ..self.budget }
    }

    /// Checks one of the programs, or the part of it that belongs to one assembly.
    pub fn check(&self, job: usize, cancel: Option<&AtomicBool>) -> CheckedProgram {
        let job = &self.jobs[job];
        let subject = job.linked.get_or_init(|| self.link(job));
        let (program, sites) = (&subject.program, &subject.facts.sites);
        let entries: Vec<Entry> =
            subject.entries.iter().copied().filter(|e| e.assembly == job.assembly).collect();
        let (explored, mut knowledge) =
            explore(subject, &entries, self.budget_of(job, entries.len(), subject.entries.len()), cancel);
        knowledge.drop_settled_guesses();
        let knowledge = knowledge;
        let count = |r: &RawFinding| knowledge.met.get(&r.key).copied().unwrap_or(1);
        let text = |path: &str, line: u32, column: u32| line_from(self.sources, path, line, column);
        let context = report::ReportContext { occurrences: &count, text: &text, seed: self.budget.seed };
        let is_entered = |i: &usize| {
            let f = &program.functions[*i];
            knowledge.entered[*i] && !f.builtin && !f.outlined
        };
        let were_run: FxHashSet<Entry> = explored.iter().map(|x| x.entry).collect();
        let run = |e: &Entry| were_run.contains(e);
        let waived = |e: &Entry| {
            e.kind == EntryKind::Middle && entries::all_started(program, e.about, sites, &knowledge.started)
        };
        let seen = report::findings(program, &knowledge.findings, &context);
        let mut argued = self.guards(job, subject).map(|g| g.findings()).unwrap_or_default();
        argued.retain(|a| !seen.iter().any(|s| has_same_end(s, a)));
        CheckedProgram {
            entries_cut_short: cut_short_by(&explored, Cut::Steps),
            entries_out_of_room: cut_short_by(&explored, Cut::Room),
            entries_not_run: entries.iter().filter(|e| !run(e) && !waived(e)).count() as u64,
            reached: (0..program.functions.len())
                .filter(is_entered)
                .map(|i| place_of(program, program.functions[i].pos))
                .collect(),
            starts: sites
                .iter()
                .map(|pc| (place_of(program, program.pos_of[*pc as usize]), knowledge.started.contains(pc)))
                .collect(),
            findings: seen,
            guesses: {
                let shown = report::findings(program, &knowledge.guesses, &context);
                shown.into_iter().chain(argued).collect()
            },
            steps: explored.iter().map(|e| e.steps).sum(),
            runs: explored.iter().map(|e| u64::from(e.runs)).sum(),
            entries: explored.len() as u64,
            checked: lenses(program, &explored, &entries, &knowledge.entered),
        }
    }

    /// Combines the parts, in the order of the programs.
    pub fn finish(self, parts: Vec<CheckedProgram>) -> CheckOutcome {
        let mut out = self.out;
        let mut reached: FxHashSet<Place> = FxHashSet::default();
        let mut starts: FxHashMap<Place, bool> = FxHashMap::default();
        for part in parts {
            reached.extend(part.reached);
            for (place, came) in part.starts {
                *starts.entry(place).or_default() |= came;
            }
            out.stats.entries_cut_short += part.entries_cut_short;
            out.stats.entries_out_of_room += part.entries_out_of_room;
            out.stats.entries_not_run += part.entries_not_run;
            out.findings.extend(part.findings);
            out.guesses.extend(part.guesses);
            out.stats.steps += part.steps;
            out.stats.runs += part.runs;
            out.stats.entries += part.entries;
            out.checked.extend(part.checked);
        }
        out.stats.functions_reached = reached.len() as u64;
        out.stats.thread_starts = starts.len() as u64;
        out.stats.thread_starts_reached = starts.values().filter(|came| **came).count() as u64;
        out.starts_not_reached = starts.into_iter().filter(|s| !s.1).map(|s| (s.0.0, s.0.1)).collect();
        out.starts_not_reached.sort();
        drop_repeats(&mut out.findings);
        drop_repeats(&mut out.guesses);
        out.guesses.retain(|g| !out.findings.iter().any(|f| is_same(f, g)));
        raddle_finding::identity::assign(&mut out.findings);
        raddle_finding::identity::assign(&mut out.guesses);
        apply_ignores(self.sources, &mut out);
        out
    }
}

/// For each function, how many of the units mention it by name.
fn mentions<'m>(members: impl Iterator<Item = &'m Member>) -> FxHashMap<Arc<str>, usize> {
    let mut out = FxHashMap::default();
    for m in members {
        let names = m.unit.symbols.iter().filter_map(|s| match s {
            SymbolRef::Function(name) => Some(name),
            _ => None,
        });
        for name in names.collect::<FxHashSet<_>>() {
            *out.entry(name.clone()).or_default() += 1;
        }
    }
    out
}

fn cut_short_by(explored: &[Explored], bound: Cut) -> u64 {
    explored.iter().filter(|e| e.cut_short == Some(bound)).count() as u64
}

fn apply_ignores(sources: &[Source], out: &mut CheckOutcome) {
    if out.findings.is_empty() && out.guesses.is_empty() {
        return;
    }
    let ignored: FxHashMap<&str, FxHashMap<u32, String>> =
        sources.iter().map(|s| (&*s.path, ignored_lines(&s.text))).filter(|(_, l)| !l.is_empty()).collect();
    out.ignore(|path, line| ignored.get(path)?.get(&line).cloned());
}

/// The text of a line from a column on.
fn line_from(sources: &[Source], path: &str, line: u32, column: u32) -> Option<String> {
    let source = sources.iter().find(|s| &*s.path == path)?;
    let bytes = source.text.split(|b| *b == b'\n').nth(line.checked_sub(1)? as usize)?;
    let rest = bytes.get(column.checked_sub(1)? as usize..)?;
    rest.is_ascii().then(|| String::from_utf8_lossy(rest).into_owned())
}

/// Whether two findings say the same of the same places.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let tops = |f: &Finding| -> FxHashSet<_> {
        f.accesses.iter().map(|a| a.stack.first().map(|s| (s.file.clone(), s.line, s.column))).collect()
    };
    a.kind == b.kind && tops(a) == tops(b)
}

/// Whether a race that a run has shown has an end in the function that lacks a lock.
fn has_same_end(seen: &Finding, argued: &Finding) -> bool {
    let function = |a: &raddle_finding::Access| a.stack.first().map(|s| (s.file.clone(), s.function.clone()));
    let bare = argued.accesses.first().and_then(function);
    seen.kind == Kind::DataRace && seen.accesses.iter().any(|a| function(a) == bare)
}

/// Drops repeats: programs that share files find the same things in them.
fn drop_repeats(findings: &mut Vec<Finding>) {
    let mut races: Vec<(String, FxHashSet<_>)> = Vec::new();
    let mut seen = FxHashSet::default();
    findings.retain(|f| {
        let mut ends: Vec<_> = f
            .accesses
            .iter()
            .map(|a| {
                a.stack.first().map(|s| (s.file.clone(), s.function.clone(), s.line)).unwrap_or_default()
            })
            .collect();
        ends.sort();
        // A collection is identified by where it was made, whichever of its members is used.
        let place = match f.kind {
            Kind::ThreadSafetyViolation => f.message.split("made at ").nth(1).unwrap_or(&f.message),
            _ => &f.message,
        };
        let place = place.split(": ").next().unwrap_or_default().to_string();
        if matches!(f.kind, Kind::DataRace | Kind::ThreadSafetyViolation) {
            // As within one program: findings with a common end have a common cause.
            let ends: FxHashSet<_> = ends.into_iter().map(|e| (e.0, e.1)).collect();
            let known = races.iter_mut().find(|(p, known)| *p == place && !known.is_disjoint(&ends));
            let is_new = known.is_none();
            match known {
                Some((_, known)) => known.extend(ends),
                None => races.push((place, ends)),
            }
            return is_new;
        }
        seen.insert((f.kind, place, ends))
    });
}

fn lenses(
    program: &Program,
    explored: &[Explored],
    entries: &[Entry],
    entered: &[bool],
) -> Vec<CheckedFunction> {
    let describe = |entry: &Entry, e: Option<&Explored>| {
        let f = &program.functions[entry.start.function as usize];
        let path = program.files.get(usize::from(f.pos.file)).map(|p| p.path.clone()).unwrap_or_default();
        let note = match e {
            None => Some("the step budget was used up before it".to_string()),
            Some(e) => e.cut_short.map(|cut| match cut {
                Cut::Steps => "cut short by the step budget".to_string(),
                Cut::Room => "cut short by the bound on memory and threads".to_string(),
            }),
        };
        CheckedFunction {
            function: f.name.to_string(),
            path,
            line: f.pos.line,
            kind: entry.kind,
            threads: e.map_or(0, |e| e.threads),
            interleavings: e.map_or(0, |e| e.interleavings),
            runs: e.map_or(0, |e| e.runs),
            may_start: entry.may_start,
            note,
        }
    };
    // A function that a more certain entry has run gets the best figures of those entries.
    let from_above = explored.iter().max_by_key(|e| (e.threads, e.interleavings));
    let mut by_entry: FxHashMap<Entry, &Explored> = FxHashMap::default();
    for e in explored {
        by_entry.entry(e.entry).or_insert(e);
    }
    let not_middle: FxHashSet<u32> =
        entries.iter().filter(|e| e.kind != EntryKind::Middle).map(|e| e.start.function).collect();
    // A function that is an entry anyway is listed once, unless it was also started in the middle.
    let is_named = |entry: &&Entry| {
        entry.kind != EntryKind::Middle
            || by_entry.contains_key(*entry)
            || !not_middle.contains(&entry.start.function)
    };
    entries
        .iter()
        .filter(is_named)
        .map(|entry| {
            let own = by_entry.get(entry).copied();
            let above = from_above.filter(|_| entered[entry.about as usize]);
            describe(entry, own.or(above))
        })
        .collect()
}
