//! Files in, findings out; what has not changed is not lowered again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_finding::{Finding, Kind};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::c::{self, Includes, Limits, Lowered, NoIncludes};
use crate::csharp;
use crate::entries::{self, EntryKind};
use crate::explore::{Budget, Explored, explore};
use crate::ignore::ignored_lines;
use crate::interp::raw::RawFinding;
use crate::ir::{Program, Unit, link};
use crate::programs::{Member, programs};
use crate::report;

/// One file of a program.
#[derive(Debug, Clone)]
pub struct Source {
    pub path: Arc<str>,
    pub text: Arc<[u8]>,
    /// Macros defined before it, or without a value undefined: what a build passes by `-D` and
    /// `-U`.
    pub macros: Arc<[(String, Option<String>)]>,
    /// The build target it belongs to, if that is known: decides which of two files of one name is
    /// linked.
    pub group: Option<Arc<str>>,
}

impl Source {
    pub fn new(path: &str, text: impl AsRef<[u8]>) -> Self {
        Self { path: path.into(), text: text.as_ref().into(), macros: Arc::from([]), group: None }
    }

    /// With the macros that a build defines for it.
    pub fn with_macros(mut self, macros: Vec<(String, Option<String>)>) -> Self {
        self.macros = macros.into();
        self
    }

    /// With the build target that it belongs to.
    pub fn with_group(mut self, group: Option<&str>) -> Self {
        self.group = group.map(Into::into);
        self
    }

    /// Lowers it by itself; [`Session::adopt`] takes the result. Files can be lowered on several
    /// threads that way.
    pub fn lower(&self, options: &Options) -> Lowered {
        c::lower_file_with(&self.path, &self.text, &self.macros, &*options.includes, options.limits)
    }

    fn hash(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut h = FxHasher::default();
        self.text.hash(&mut h);
        self.macros.hash(&mut h);
        h.finish()
    }
}

#[derive(Clone)]
pub struct Options {
    pub budget: Budget,
    pub limits: Limits,
    /// Where `#include` looks.
    pub includes: Arc<dyn Includes + Send + Sync>,
    /// Files larger than this are left out.
    pub largest_file: usize,
    /// Check only the programs that this file, or a file that includes it, is a part of: what an
    /// editor needs.
    pub focus: Option<Arc<str>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            budget: Budget::default(),
            limits: Limits::default(),
            includes: Arc::new(NoIncludes),
            largest_file: 16 << 20,
            focus: None,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    pub steps: u64,
    pub runs: u64,
    pub files: u64,
    pub files_left_out: u64,
    pub entries: u64,
    pub functions: u64,
    /// Functions that some run entered.
    pub functions_reached: u64,
    /// Places that start a thread or a timer, and how many of them some run came to.
    pub thread_starts: u64,
    pub thread_starts_reached: u64,
    /// Entries that the budget cut short, or left no room for.
    pub entries_cut_short: u64,
    pub entries_not_run: u64,
    /// Places in the source that could not be parsed.
    pub unparsed: u64,
    /// Files that were lowered, and not taken from the cache.
    pub lowered: u64,
}

/// For a code lens: a function that starts threads, and what was done about it.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedFunction {
    pub function: String,
    pub path: Arc<str>,
    pub line: u32,
    pub kind: EntryKind,
    pub threads: usize,
    pub interleavings: usize,
    pub runs: u32,
    /// By what it calls it may come to start a thread.
    pub may_start: bool,
    /// Why it was not checked, or not to the end.
    pub note: Option<String>,
}

impl CheckedFunction {
    /// "checked, 3 threads, 12 interleavings", or why it was not.
    pub fn lens(&self) -> String {
        match &self.note {
            Some(note) if self.runs == 0 => format!("not checked: {note}"),
            note => {
                let cut = note.as_ref().map(|n| format!(" ({n})")).unwrap_or_default();
                let count = |n: usize, unit: &str| format!("{n} {unit}{}", if n == 1 { "" } else { "s" });
                let (threads, ways) =
                    (count(self.threads, "thread"), count(self.interleavings, "interleaving"));
                format!("checked, {threads}, {ways}{cut}")
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub findings: Vec<Finding>,
    pub stats: Stats,
    /// Files that were not checked, or not to their end, with a sentence each.
    pub left_out: Vec<(Arc<str>, String)>,
    /// Files with places that could not be parsed, with a sentence each. What such a place says was
    /// not checked.
    pub unparsed: Vec<(Arc<str>, String)>,
    pub checked: Vec<CheckedFunction>,
    /// Findings taken away by `raddle: ignore`, with the reason given.
    pub ignored: Vec<(Finding, String)>,
}

/// Checks files as one program.
pub fn check_sources(sources: &[Source], options: &Options) -> Outcome {
    Session::new(options.clone()).check(sources, None)
}

struct Cached {
    hash: u64,
    lowered: Lowered,
}

/// Keeps lowered files between checks.
pub struct Session {
    pub options: Options,
    cache: FxHashMap<Arc<str>, Cached>,
    csharp: csharp::Programs,
}

impl Session {
    pub fn new(options: Options) -> Self {
        Self { options, cache: FxHashMap::default(), csharp: csharp::Programs::default() }
    }

    /// Checks files, as one program or several. Setting `cancel` makes it return soon, with what it
    /// has.
    pub fn check(&mut self, sources: &[Source], cancel: Option<&AtomicBool>) -> Outcome {
        let plan = self.plan(sources, cancel);
        let is_wanted = |_: &usize| !cancel.is_some_and(|c| c.load(Ordering::Relaxed));
        let parts = (0..plan.len()).take_while(is_wanted).map(|i| plan.check(i, cancel)).collect();
        plan.finish(parts)
    }

    /// Lowers what has to be lowered, and finds out which programs there are. They can be checked
    /// apart from each other, on threads of the caller's: [`Plan::check`] each, then
    /// [`Plan::finish`].
    pub fn plan<'a>(&mut self, sources: &'a [Source], cancel: Option<&AtomicBool>) -> Plan<'a> {
        let mut out = Outcome::default();
        let mut members = Vec::new();
        let mut csharp = Vec::new();
        for s in sources {
            if cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                members.clear();
                csharp.clear();
                break;
            }
            if csharp::is_csharp(&s.path) {
                csharp.extend(self.csharp_file(s, &mut out));
            } else if let Some(unit) = self.unit(s, &mut out) {
                members.push(Member { path: s.path.clone(), group: s.group.clone(), unit });
            }
        }
        let mut programs = programs(&members);
        for (path, lowered) in self.csharp.of(&csharp) {
            let unit = lowered.unit.clone();
            let own = |f: &&crate::ir::UnitFunction| {
                f.pos.line > 0 && unit.files.get(usize::from(f.pos.file)).is_some_and(|file| !file.builtin)
            };
            out.stats.functions += unit.functions.iter().filter(own).count() as u64;
            if lowered.given_up > 0 {
                let why =
                    format!("checked only in part: {} functions are too long or too deep", lowered.given_up);
                out.left_out.push((path.clone(), why));
            }
            programs.push(vec![members.len()]);
            members.push(Member { path, group: None, unit });
        }
        programs.retain(|program| self.concerns(program, &members));
        Plan { sources, budget: shared(self.options.budget, programs.len()), members, programs, out }
    }

    fn concerns(&self, program: &[usize], members: &[Member]) -> bool {
        let Some(focus) = &self.options.focus else { return true };
        program.iter().any(|i| members[*i].unit.files.iter().any(|file| file.path == *focus))
    }

    /// Parses a C# file, or finds it in the cache.
    fn csharp_file(&mut self, s: &Source, out: &mut Outcome) -> Option<(Arc<csharp::File>, u64)> {
        out.stats.files += 1;
        let mut leave_out = |why: String| {
            out.stats.files_left_out += 1;
            out.left_out.push((s.path.clone(), why));
        };
        if let Some(why) = self.unfit(s) {
            leave_out(why);
            return None;
        }
        let hash = s.hash();
        let Some((file, parsed)) = self.csharp.file(s, hash) else {
            leave_out("could not be parsed at all".into());
            return None;
        };
        out.stats.lowered += u64::from(parsed);
        out.unparsed_places(&s.path, file.errors, file.first_error);
        Some((file, hash))
    }

    /// Lowers a file, or finds it in the cache.
    fn unit(&mut self, s: &Source, out: &mut Outcome) -> Option<Arc<Unit>> {
        out.stats.files += 1;
        if let Some(why) = self.unfit(s) {
            out.stats.files_left_out += 1;
            out.left_out.push((s.path.clone(), why));
            return None;
        }
        let hash = s.hash();
        if self.cache.get(&s.path).is_none_or(|c| c.hash != hash) {
            let lowered = s.lower(&self.options);
            out.stats.lowered += 1;
            self.cache.insert(s.path.clone(), Cached { hash, lowered });
        }
        let lowered = &self.cache.get(&s.path)?.lowered;
        out.unparsed_places(&s.path, lowered.errors, lowered.first_error);
        for why in &lowered.cut_short {
            out.left_out.push((s.path.clone(), format!("checked only in part: {why}")));
        }
        out.stats.functions += lowered.unit.functions.len() as u64;
        Some(lowered.unit.clone())
    }

    /// Takes a file that was lowered elsewhere, see [`Source::lower`].
    pub fn adopt(&mut self, s: &Source, lowered: Lowered) {
        self.cache.insert(s.path.clone(), Cached { hash: s.hash(), lowered });
    }

    /// Whether a file would have to be lowered.
    pub fn is_stale(&self, s: &Source) -> bool {
        !csharp::is_csharp(&s.path)
            && self.unfit(s).is_none()
            && self.cache.get(&s.path).is_none_or(|c| c.hash != s.hash())
    }

    /// Forgets a file; headers that changed make the files that include them stale.
    pub fn forget(&mut self, path: &str) {
        self.csharp.forget(path);
        self.cache.retain(|p, c| &**p != path && !c.lowered.unit.files.iter().any(|f| &*f.path == path));
    }

    fn unfit(&self, s: &Source) -> Option<String> {
        if s.text.len() > self.options.largest_file {
            return Some(format!(
                "is {} MB; files above {} MB are left out",
                s.text.len() >> 20,
                self.options.largest_file >> 20
            ));
        }
        let is_wide = csharp::is_csharp(&s.path) && csharp::is_utf16(&s.text);
        (!is_text(&s.text) && !is_wide).then(|| "is a binary file".into())
    }
}

/// Whether a file looks like source: a binary file has a zero byte early on.
pub fn is_text(text: &[u8]) -> bool {
    !text[..text.len().min(8192)].contains(&0)
}

/// Programs that are given the whole budget each. More of them share what these have.
const WITH_FULL_BUDGET: u64 = 20;

fn shared(budget: Budget, programs: usize) -> Budget {
    let steps = match programs as u64 {
        n if n > WITH_FULL_BUDGET => budget.steps.saturating_mul(WITH_FULL_BUDGET) / n,
        _ => budget.steps,
    };
    Budget { steps: steps.max(1), ..budget }
}

/// The programs of a set of files, ready to be checked in any order and on any thread.
pub struct Plan<'a> {
    sources: &'a [Source],
    budget: Budget,
    members: Vec<Member>,
    programs: Vec<Vec<usize>>,
    out: Outcome,
}

/// What checking one program gave.
#[derive(Debug, Clone, Default)]
pub struct Part {
    findings: Vec<Finding>,
    steps: u64,
    runs: u64,
    entries: u64,
    entries_cut_short: u64,
    entries_not_run: u64,
    /// Own functions entered, by file and line.
    reached: Vec<Place>,
    /// Places that start threads, and whether a run came to them.
    starts: Vec<(Place, bool)>,
    checked: Vec<CheckedFunction>,
}

/// A file, and a line and column in it.
type Place = (Arc<str>, u32, u16);

fn place_of(program: &Program, pos: crate::ir::Pos) -> Place {
    let path = program.files.get(usize::from(pos.file)).map(|f| f.path.clone()).unwrap_or_default();
    (path, pos.line, pos.col)
}

impl Plan<'_> {
    /// How many programs there are.
    pub fn len(&self) -> usize {
        self.programs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// The file that stands for a program: the one with its `main`, or the first.
    pub fn name(&self, program: usize) -> &str {
        &self.members[self.programs[program][0]].path
    }

    /// Checks one of the programs.
    pub fn check(&self, program: usize, cancel: Option<&AtomicBool>) -> Part {
        let models = c::models::unit();
        let own = self.programs[program].iter().map(|i| &*self.members[*i].unit);
        let mut units: Vec<&Unit> = own.collect();
        // A unit with classes brings its library along.
        if units.iter().all(|u| u.classes.is_none()) {
            units.push(&models);
        }
        let program = link::link(&units);
        let entries = entries::entries(&program);
        let (explored, knowledge) = explore(&program, &entries, self.budget, cancel);
        let count = |r: &RawFinding| knowledge.met.get(&r.key).copied().unwrap_or(1);
        let text = |path: &str, line: u32, column: u32| line_from(self.sources, path, line, column);
        let context = report::Context { occurrences: &count, text: &text, seed: self.budget.seed };
        let is_entered = |i: &usize| knowledge.entered[*i] && !program.functions[*i].builtin;
        let sites = entries::start_sites(&program);
        let run = |e: &entries::Entry| explored.iter().any(|x| x.entry == *e);
        let waived = |e: &entries::Entry| {
            e.kind == EntryKind::Middle && entries::all_started(&program, e.about, &sites, &knowledge.started)
        };
        Part {
            entries_cut_short: explored.iter().filter(|e| e.cut_short).count() as u64,
            entries_not_run: entries.iter().filter(|e| !run(e) && !waived(e)).count() as u64,
            reached: (0..program.functions.len())
                .filter(is_entered)
                .map(|i| place_of(&program, program.functions[i].pos))
                .collect(),
            starts: sites
                .iter()
                .map(|pc| (place_of(&program, program.pos_of[*pc as usize]), knowledge.started.contains(pc)))
                .collect(),
            findings: report::findings(&program, &knowledge.findings, &context),
            steps: explored.iter().map(|e| e.steps).sum(),
            runs: explored.iter().map(|e| u64::from(e.runs)).sum(),
            entries: explored.len() as u64,
            checked: lenses(&program, &explored, &entries, &knowledge.entered),
        }
    }

    /// Puts the parts together, in the order of the programs.
    pub fn finish(self, parts: Vec<Part>) -> Outcome {
        let mut out = self.out;
        let mut reached: FxHashSet<Place> = FxHashSet::default();
        let mut starts: FxHashMap<Place, bool> = FxHashMap::default();
        for part in parts {
            reached.extend(part.reached);
            for (place, came) in part.starts {
                *starts.entry(place).or_default() |= came;
            }
            out.stats.entries_cut_short += part.entries_cut_short;
            out.stats.entries_not_run += part.entries_not_run;
            out.findings.extend(part.findings);
            out.stats.steps += part.steps;
            out.stats.runs += part.runs;
            out.stats.entries += part.entries;
            out.checked.extend(part.checked);
        }
        out.stats.functions_reached = reached.len() as u64;
        out.stats.thread_starts = starts.len() as u64;
        out.stats.thread_starts_reached = starts.values().filter(|came| **came).count() as u64;
        drop_repeats(&mut out.findings);
        raddle_finding::identity::assign(&mut out.findings);
        apply_ignores(self.sources, &mut out);
        out
    }
}

fn apply_ignores(sources: &[Source], out: &mut Outcome) {
    if out.findings.is_empty() {
        return;
    }
    let ignored: FxHashMap<&str, FxHashMap<u32, String>> =
        sources.iter().map(|s| (&*s.path, ignored_lines(&s.text))).filter(|(_, l)| !l.is_empty()).collect();
    out.ignore(|path, line| ignored.get(path)?.get(&line).cloned());
}

impl Outcome {
    /// Counts places of a file that could not be parsed.
    fn unparsed_places(&mut self, path: &Arc<str>, errors: u32, first: Option<u32>) {
        self.stats.unparsed += u64::from(errors);
        if errors > 0 {
            let line = first.map(|l| format!(", the first in line {l}")).unwrap_or_default();
            let places = if errors == 1 { "place" } else { "places" };
            self.unparsed
                .push((path.clone(), format!("has {errors} {places} that could not be parsed{line}")));
        }
    }

    /// Takes the findings away for which `reason` gives one for the file and line of an end.
    pub fn ignore(&mut self, reason: impl Fn(&str, u32) -> Option<String>) {
        for f in std::mem::take(&mut self.findings) {
            let ends = f.accesses.iter().filter_map(|a| a.stack.first());
            match ends.filter_map(|e| reason(e.file.as_deref()?, e.line?)).next() {
                Some(reason) => self.ignored.push((f, reason)),
                None => self.findings.push(f),
            }
        }
    }
}

/// The text of a line from a column on.
fn line_from(sources: &[Source], path: &str, line: u32, column: u32) -> Option<String> {
    let source = sources.iter().find(|s| &*s.path == path)?;
    let bytes = source.text.split(|b| *b == b'\n').nth(line.checked_sub(1)? as usize)?;
    let rest = bytes.get(column.checked_sub(1)? as usize..)?;
    rest.is_ascii().then(|| String::from_utf8_lossy(rest).into_owned())
}

/// Programs that share files find the same things in them.
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
        let place = f.message.split(':').next().unwrap_or_default().to_string();
        if f.kind == Kind::DataRace {
            // As within one program: what has an end in common has its cause in common.
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
    entries: &[entries::Entry],
    entered: &[bool],
) -> Vec<CheckedFunction> {
    let describe = |entry: &entries::Entry, e: Option<&Explored>| {
        let f = &program.functions[entry.start.function as usize];
        let path = program.files.get(usize::from(f.pos.file)).map(|p| p.path.clone()).unwrap_or_default();
        let note = match e {
            None => Some("the step budget was used up before it".to_string()),
            Some(e) if e.cut_short => Some("cut short by the step budget".to_string()),
            Some(_) => None,
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
    // A function that a surer entry has run is accounted for by that entry's best.
    let from_above = explored.iter().max_by_key(|e| (e.threads, e.interleavings));
    // A function that is an entry anyway is named once, unless it was started in the middle
    // besides.
    let is_named = |entry: &&entries::Entry| {
        entry.kind != EntryKind::Middle
            || explored.iter().any(|e| e.entry == **entry)
            || !entries
                .iter()
                .any(|e| e.kind != EntryKind::Middle && e.start.function == entry.start.function)
    };
    entries
        .iter()
        .filter(is_named)
        .map(|entry| {
            let own = explored.iter().find(|e| e.entry == *entry);
            let above = from_above.filter(|_| entered[entry.start.function as usize]);
            describe(entry, own.or(above))
        })
        .collect()
}
