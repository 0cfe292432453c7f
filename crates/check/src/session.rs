//! Files in, findings out; what has not changed is not lowered again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_finding::{Finding, Kind};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::c::{self, Includes, Limits, Lowered, NoIncludes};
use crate::entries::{self, EntryKind};
use crate::explore::{Budget, Explored, explore};
use crate::ignore::ignored_lines;
use crate::interp::raw::RawFinding;
use crate::ir::{Linkage, Program, SymbolRef, Unit, link};
use crate::report;

/// One file of a program.
#[derive(Debug, Clone)]
pub struct Source {
    pub path: Arc<str>,
    pub text: Arc<[u8]>,
    /// Macros defined before it, or without a value undefined: what a build passes by `-D` and `-U`.
    pub macros: Arc<[(String, Option<String>)]>,
}

impl Source {
    pub fn new(path: &str, text: impl AsRef<[u8]>) -> Self {
        Self { path: path.into(), text: text.as_ref().into(), macros: Arc::from([]) }
    }

    /// With the macros that a build defines for it.
    pub fn with_macros(mut self, macros: Vec<(String, Option<String>)>) -> Self {
        self.macros = macros.into();
        self
    }

    /// Lowers it by itself; [`Session::adopt`] takes the result. Files can be lowered on several threads that way.
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
    /// Check only the programs that this file, or a file that includes it, is a part of: what an editor needs.
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
                format!("checked, {} threads, {} interleavings{cut}", self.threads, self.interleavings)
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
}

impl Session {
    pub fn new(options: Options) -> Self {
        Self { options, cache: FxHashMap::default() }
    }

    /// Checks files as one program. Setting `cancel` makes it return soon, with what it has.
    pub fn check(&mut self, sources: &[Source], cancel: Option<&AtomicBool>) -> Outcome {
        let mut out = Outcome::default();
        let cancelled = || cancel.is_some_and(|c| c.load(Ordering::Relaxed));
        let mut units: Vec<Arc<Unit>> = Vec::new();
        for s in sources {
            if cancelled() {
                return out;
            }
            if let Some(unit) = self.unit(s, &mut out) {
                units.push(unit);
            }
        }
        units.push(c::models::unit());
        for group in programs(&units).into_iter().filter(|group| self.concerns(group)) {
            if cancelled() {
                break;
            }
            self.check_program(&group, sources, cancel, &mut out);
        }
        drop_repeats(&mut out.findings);
        raddle_finding::identity::assign(&mut out.findings);
        self.apply_ignores(sources, &mut out);
        out
    }

    fn concerns(&self, group: &[&Unit]) -> bool {
        let Some(focus) = &self.options.focus else { return true };
        group.iter().any(|unit| unit.files.iter().any(|file| file.path == *focus))
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
        self.unfit(s).is_none() && self.cache.get(&s.path).is_none_or(|c| c.hash != s.hash())
    }

    /// Forgets a file; headers that changed make the files that include them stale.
    pub fn forget(&mut self, path: &str) {
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
        let head = &s.text[..s.text.len().min(8192)];
        if head.contains(&0) {
            return Some("is a binary file".into());
        }
        None
    }

    fn check_program(
        &self,
        units: &[&Unit],
        sources: &[Source],
        cancel: Option<&AtomicBool>,
        out: &mut Outcome,
    ) {
        let program = link::link(units);
        let entries = entries::entries(&program);
        let (explored, knowledge) = explore(&program, &entries, self.options.budget, cancel);
        out.stats.entries += explored.len() as u64;
        out.stats.steps += explored.iter().map(|e| e.steps).sum::<u64>();
        out.stats.runs += explored.iter().map(|e| u64::from(e.runs)).sum::<u64>();
        let count = |r: &RawFinding| {
            let pcs = || r.accesses.iter().filter_map(|a| a.stack.first().copied());
            let key = match r.kind {
                Kind::LockLeak => pcs().next().map(|p| (r.kind, p, p)),
                _ => pcs().min().zip(pcs().max()).map(|(a, b)| (r.kind, a, b)),
            };
            key.and_then(|k| knowledge.met.get(&k).copied()).unwrap_or(1)
        };
        let text = |path: &str, line: u32, column: u32| line_from(sources, path, line, column);
        let context = report::Context { occurrences: &count, text: &text, seed: self.options.budget.seed };
        out.findings.extend(report::findings(&program, &knowledge.findings, &context));
        out.checked.extend(lenses(&program, &explored, &entries, &knowledge.entered));
    }

    fn apply_ignores(&self, sources: &[Source], out: &mut Outcome) {
        if out.findings.is_empty() {
            return;
        }
        let ignored: FxHashMap<&str, FxHashMap<u32, String>> = sources
            .iter()
            .map(|s| (&*s.path, ignored_lines(&s.text)))
            .filter(|(_, l)| !l.is_empty())
            .collect();
        let findings = std::mem::take(&mut out.findings);
        for f in findings {
            let reason = f
                .accesses
                .iter()
                .filter_map(|a| a.stack.first())
                .find_map(|frame| ignored.get(frame.file.as_deref()?)?.get(&frame.line?).cloned());
            match reason {
                Some(reason) => out.ignored.push((f, reason)),
                None => out.findings.push(f),
            }
        }
    }
}

/// Files with a `main` each are programs each, with the files that they use by name; what none of them uses is a
/// library. The models, which come last, belong to all.
fn programs(units: &[Arc<Unit>]) -> Vec<Vec<&Unit>> {
    let Some((models, own)) = units.split_last() else { return Vec::new() };
    let has_main = |u: &Unit| u.functions.iter().any(|f| &*f.name == "main");
    let mains: Vec<usize> = (0..own.len()).filter(|i| has_main(&own[*i])).collect();
    if mains.len() < 2 {
        return vec![units.iter().map(|u| &**u).collect()];
    }
    let definers = definers(own, &mains);
    let mut used = vec![false; own.len()];
    let mut out = Vec::new();
    for main in mains {
        let members = users_of(own, main, &definers);
        members.iter().for_each(|m| used[*m] = true);
        out.push(members.into_iter().map(|m| &*own[m]).chain([&**models]).collect());
    }
    let rest: Vec<&Unit> = (0..own.len()).filter(|i| !used[*i]).map(|i| &*own[i]).collect();
    if !rest.is_empty() {
        out.push(rest.into_iter().chain([&**models]).collect());
    }
    out
}

/// Which file defines a name that others can use. A file with a `main` of its own lends nothing to others.
fn definers(units: &[Arc<Unit>], mains: &[usize]) -> FxHashMap<Arc<str>, usize> {
    let mut out = FxHashMap::default();
    for (i, u) in units.iter().enumerate().filter(|(i, _)| !mains.contains(i)) {
        let functions = u.functions.iter().filter(|f| f.linkage != Linkage::Internal).map(|f| &f.name);
        let globals =
            u.globals.iter().filter(|g| g.linkage != Linkage::Internal && !g.declared_only).map(|g| &g.name);
        for name in functions.chain(globals) {
            out.entry(name.clone()).or_insert(i);
        }
    }
    out
}

/// A file and all files that it needs, directly or through others.
fn users_of(units: &[Arc<Unit>], first: usize, definers: &FxHashMap<Arc<str>, usize>) -> Vec<usize> {
    let mut members = vec![first];
    let mut at = 0;
    while at < members.len() {
        let unit = &units[members[at]];
        at += 1;
        let by_name = unit.symbols.iter().filter_map(|s| match s {
            SymbolRef::Function(name) | SymbolRef::Global(name, _) => Some(name),
            _ => None,
        });
        let declared = unit.globals.iter().filter(|g| g.declared_only).map(|g| &g.name);
        for name in by_name.chain(declared) {
            if let Some(definer) = definers.get(name)
                && !members.contains(definer)
            {
                members.push(*definer);
            }
        }
    }
    members
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
        if f.kind == Kind::DataRace {
            ends.iter_mut().for_each(|e| e.2 = None);
        }
        let place = f.message.split(':').next().unwrap_or_default().to_string();
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
    entries
        .iter()
        .map(|entry| {
            let own = explored.iter().find(|e| e.entry == *entry);
            let above = from_above.filter(|_| entered[entry.start.function as usize]);
            describe(entry, own.or(above))
        })
        .collect()
}
