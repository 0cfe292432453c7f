//! Files in, findings out. Unchanged files are not lowered again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_finding::Finding;
use rustc_hash::{FxHashMap, FxHasher};

use crate::c::{self, Includes, Lowered, NoIncludes, PreprocessorLimits};
use crate::csharp;
use crate::entries::EntryKind;
use crate::explore::Budget;
use crate::ir::Unit;
use crate::plan::{CheckPlan, Job};
use crate::programs::{Member, programs};

/// One file of a program.
#[derive(Debug, Clone)]
pub struct Source {
    pub path: Arc<str>,
    pub text: Arc<[u8]>,
    /// Macros that a build passes by `-D` (with a value) and `-U` (without one).
    pub macros: Arc<[(String, Option<String>)]>,
    /// The build target it belongs to, if known. It decides which of two files of the same name is
    /// linked.
    pub group: Option<Arc<str>>,
}

impl Source {
    pub fn new(path: &str, text: impl AsRef<[u8]>) -> Self {
        Self { path: path.into(), text: text.as_ref().into(), macros: Arc::from([]), group: None }
    }

    /// Sets the macros that a build defines for it.
    pub fn with_macros(mut self, macros: Vec<(String, Option<String>)>) -> Self {
        self.macros = macros.into();
        self
    }

    /// Sets the build target that it belongs to.
    pub fn with_group(mut self, group: Option<&str>) -> Self {
        self.group = group.map(Into::into);
        self
    }

    /// Lowers the file by itself; [`Session::adopt`] takes the result. This allows lowering files
    /// on several threads.
    pub fn lower(&self, options: &CheckOptions) -> Lowered {
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
pub struct CheckOptions {
    pub budget: Budget,
    pub limits: PreprocessorLimits,
    /// Where `#include` looks.
    pub includes: Arc<dyn Includes + Send + Sync>,
    /// Larger files are left out.
    pub largest_file: usize,
    /// Check only the programs that contain this file, or a file that includes it. Editors need
    /// this.
    pub focus: Option<Arc<str>>,
    /// Also look for accesses without the lock that the rest of the program holds. They are
    /// guesses.
    pub guards: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            budget: Budget::default(),
            limits: PreprocessorLimits::default(),
            includes: Arc::new(NoIncludes),
            largest_file: 16 << 20,
            focus: None,
            guards: false,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CheckStats {
    pub steps: u64,
    pub runs: u64,
    pub files: u64,
    pub files_left_out: u64,
    pub entries: u64,
    pub functions: u64,
    /// Functions that some run entered.
    pub functions_reached: u64,
    /// The number of places that start a thread or a timer, and how many of them some run reached.
    pub thread_starts: u64,
    pub thread_starts_reached: u64,
    /// The number of entries that the step budget cut short, that the bounds on memory and threads
    /// cut short, and that got no share of the step budget.
    pub entries_cut_short: u64,
    pub entries_out_of_room: u64,
    pub entries_not_run: u64,
    /// Places in the source that could not be parsed.
    pub unparsed: u64,
    /// Files that were lowered, not taken from the cache.
    pub lowered: u64,
}

/// A function that starts threads, and how it was checked. For a code lens.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedFunction {
    pub function: String,
    pub path: Arc<str>,
    pub line: u32,
    pub kind: EntryKind,
    pub threads: usize,
    pub interleavings: usize,
    pub runs: u32,
    /// True if the functions it calls may start a thread.
    pub may_start: bool,
    /// Why it was not checked, or not completely.
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

const GUESS: &str = "rests on a guess about code that was not run: that no caller of the entry holds the \
                     lock, that earlier code left the lock free, that a barrier which this code initialised does not order the accesses, \
                     that a join of an unknown thread meant another one, that a function which \
                     nobody defines changed an object that several threads use, or that a function needs the \
                     lock that others hold";

#[derive(Debug, Clone, Default)]
pub struct CheckOutcome {
    pub findings: Vec<Finding>,
    /// Suspicions that hold only if a guess about code that was not run is right: that no caller of
    /// a start in the middle holds a lock, that a barrier which it initialised orders nothing,
    /// that a join of an unknown handle meant another thread, that an unknown function changed a
    /// shared object, or that a function needs the lock which the rest of the program holds around
    /// the same data.
    pub guesses: Vec<Finding>,
    pub stats: CheckStats,
    /// Files that were not checked, or not completely, with a sentence each.
    pub left_out: Vec<(Arc<str>, String)>,
    /// Files with places that could not be parsed, with a sentence each. Such places were not
    /// checked.
    pub unparsed: Vec<(Arc<str>, String)>,
    /// The file and line of each place that starts a thread but that no run reached.
    pub starts_not_reached: Vec<(Arc<str>, u32)>,
    pub checked: Vec<CheckedFunction>,
    /// Findings suppressed by `raddle: ignore`, with the given reason.
    pub ignored: Vec<(Finding, String)>,
}

/// Checks files as one program.
pub fn check_sources(sources: &[Source], options: &CheckOptions) -> CheckOutcome {
    Session::new(options.clone()).check(sources, None)
}

struct Cached {
    hash: u64,
    lowered: Lowered,
}

/// Keeps lowered files between checks.
pub struct Session {
    pub options: CheckOptions,
    cache: FxHashMap<Arc<str>, Cached>,
    csharp: csharp::Programs,
}

impl Session {
    pub fn new(options: CheckOptions) -> Self {
        Self { options, cache: FxHashMap::default(), csharp: csharp::Programs::default() }
    }

    /// Checks files, as one program or several. Setting `cancel` makes it return soon, with the
    /// results so far.
    pub fn check(&mut self, sources: &[Source], cancel: Option<&AtomicBool>) -> CheckOutcome {
        let plan = self.plan(sources, cancel);
        let is_wanted = |_: &usize| !cancel.is_some_and(|c| c.load(Ordering::Relaxed));
        let parts = (0..plan.len()).take_while(is_wanted).map(|i| plan.check(i, cancel)).collect();
        plan.finish(parts)
    }

    /// Lowers stale files and determines the programs. The caller can check programs separately, on
    /// its own threads: [`CheckPlan::check`] for each, then [`CheckPlan::finish`].
    pub fn plan<'a>(&mut self, sources: &'a [Source], cancel: Option<&AtomicBool>) -> CheckPlan<'a> {
        let mut out = CheckOutcome::default();
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
        let mut jobs: Vec<Job> = programs(&members).into_iter().map(|p| Job::new(p, 0, None)).collect();
        for (path, lowered) in self.csharp.of(&csharp) {
            let unit = lowered.unit.clone();
            let own = |f: &&crate::ir::UnitFunction| {
                f.pos.line > 0
                    && !f.outlined
                    && unit.files.get(usize::from(f.pos.file)).is_some_and(|file| !file.builtin)
            };
            out.stats.functions += unit.functions.iter().filter(own).count() as u64;
            let in_part = |why: &String| (path.clone(), format!("checked only in part: {why}"));
            out.left_out.extend(lowered.left_out.iter().map(in_part));
            // The entries of each assembly are checked separately, within the whole program.
            let linked = Arc::default();
            let assemblies = unit.entry_points.iter().map(|e| e.assembly + 1).max().unwrap_or(1);
            jobs.extend((0..assemblies).map(|a| Job::new(vec![members.len()], a, Some(Arc::clone(&linked)))));
            members.push(Member { path, group: None, unit });
        }
        jobs.retain(|job| self.concerns(&job.members, &members));
        CheckPlan::new(sources, self.options.budget, members, jobs, self.options.guards, out)
    }

    fn concerns(&self, program: &[usize], members: &[Member]) -> bool {
        let Some(focus) = &self.options.focus else { return true };
        program.iter().any(|i| members[*i].unit.files.iter().any(|file| file.path == *focus))
    }

    /// Parses a C# file, or finds it in the cache.
    fn csharp_file(&mut self, s: &Source, out: &mut CheckOutcome) -> Option<(Arc<csharp::File>, u64)> {
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
    fn unit(&mut self, s: &Source, out: &mut CheckOutcome) -> Option<Arc<Unit>> {
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

    /// Takes a file that was lowered elsewhere; see [`Source::lower`].
    pub fn adopt(&mut self, s: &Source, lowered: Lowered) {
        self.cache.insert(s.path.clone(), Cached { hash: s.hash(), lowered });
    }

    /// Whether a file must be lowered.
    pub fn is_stale(&self, s: &Source) -> bool {
        !csharp::is_csharp(&s.path)
            && self.unfit(s).is_none()
            && self.cache.get(&s.path).is_none_or(|c| c.hash != s.hash())
    }

    /// Forgets a file. If it is a header, the files that include it become stale.
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

/// Whether a file looks like source. A binary file has an early zero byte.
pub fn is_text(text: &[u8]) -> bool {
    !text[..text.len().min(8192)].contains(&0)
}

impl CheckOutcome {
    /// Counts the places of a file that could not be parsed.
    fn unparsed_places(&mut self, path: &Arc<str>, errors: u32, first: Option<u32>) {
        self.stats.unparsed += u64::from(errors);
        if errors > 0 {
            let line = first.map(|l| format!(", the first in line {l}")).unwrap_or_default();
            let places = if errors == 1 { "place" } else { "places" };
            self.unparsed
                .push((path.clone(), format!("has {errors} {places} that could not be parsed{line}")));
        }
    }

    /// Suppresses the findings for which `reason` gives a reason for the file and line of an end.
    pub fn ignore(&mut self, reason: impl Fn(&str, u32) -> Option<String>) {
        for list in [&mut self.findings, &mut self.guesses] {
            for f in std::mem::take(list) {
                let ends = f.accesses.iter().filter_map(|a| a.stack.first());
                match ends.filter_map(|e| reason(e.file.as_deref()?, e.line?)).next() {
                    Some(reason) => self.ignored.push((f, reason)),
                    None => list.push(f),
                }
            }
        }
    }

    /// Makes findings of the guesses, each with a note that says what it rests on.
    pub fn list_guesses(&mut self) {
        for mut f in std::mem::take(&mut self.guesses) {
            f.notes.push(GUESS.into());
            self.findings.push(f);
        }
        raddle_finding::identity::assign(&mut self.findings);
    }
}
