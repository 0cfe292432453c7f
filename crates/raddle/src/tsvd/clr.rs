//! .NET: what the profiler of `raddle_clr` has left in the folder of a session.
//!
//! Its sites are numbered by each process for itself, since they are found as methods are compiled. So they are no part
//! of the registry, and what a run has learned of their pairs is not kept for the next one.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use raddle_clr::record::{End, Place, Record, VERSION, Violation};
use raddle_finding::{Access, Confidence, Finding, Frame, Interleaving, Kind, Op, Thread};
use raddle_tsvd::Stats;

use super::coverage::Covered;
use super::harvest;
use raddle_harness::say::{count, say};

/// Variables by which a runtime is told of a profiler: those of .NET, and the names that later versions prefer.
const PREFIXES: [&str; 2] = ["CORECLR", "DOTNET"];

/// Makes every .NET process of the tree load the profiler, unless the user has another one.
pub fn set_profiler(command: &mut Command, library: &Path) {
    if other_profiler().is_some() {
        return;
    }
    for prefix in PREFIXES {
        command.env(format!("{prefix}_ENABLE_PROFILING"), "1");
        command.env(format!("{prefix}_PROFILER"), raddle_clr::CLASS);
        command.env(format!("{prefix}_PROFILER_PATH"), library);
    }
}

/// A process takes one profiler.
pub fn warn_of_other_profiler() {
    if let Some(other) = other_profiler() {
        say!(
            "another .NET profiler is configured, {other}: .NET processes are not watched; unset CORECLR_ENABLE_PROFILING to have them watched"
        );
    }
}

/// The profiler that is configured already.
fn other_profiler() -> Option<String> {
    PREFIXES.iter().find_map(|prefix| {
        let enabled = std::env::var_os(format!("{prefix}_ENABLE_PROFILING"))?;
        let profiler = std::env::var(format!("{prefix}_PROFILER")).ok()?;
        (enabled == OsStr::new("1") && profiler != raddle_clr::CLASS).then_some(profiler)
    })
}

/// What the .NET processes of all runs have left.
#[derive(Default)]
pub struct Clr {
    pub processes: usize,
    pub covered: Vec<Covered>,
    pub stats: Stats,
    pub findings: Vec<Finding>,
    /// Methods and calls that are not watched.
    pub unseen: usize,
    modules: Vec<String>,
}

/// A call site of a process.
#[derive(Clone, Default)]
struct Site {
    callee: String,
    write: bool,
}

impl Clr {
    /// Reads what is in the folder of a session. `run`: which, if there are several.
    pub fn read(&mut self, folder: &Path, run: Option<u32>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "clr") {
                self.read_process(&path, run);
            }
        }
    }

    pub fn warn(&self) {
        if self.unseen > 0 {
            say!(
                "{} of .NET programs could not be watched",
                count(self.unseen as u64, "call or method", "calls or methods")
            );
        }
    }

    /// Modules with points.
    pub fn files(&self) -> usize {
        self.modules.len()
    }

    fn read_process(&mut self, path: &Path, run: Option<u32>) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // The last line may be cut off: the process was killed as it wrote.
        let mut records = text.lines().map_while(|line| serde_json::from_str::<Record>(line).ok());
        if !matches!(records.next(), Some(Record::Begin { version: VERSION, .. })) {
            return;
        }
        self.processes += 1;
        let mut sites: Vec<Site> = Vec::new();
        for record in records {
            match record {
                Record::Begin { .. } => {}
                Record::Site { callee, write, place, .. } => {
                    sites.push(Site { callee, write });
                    if !self.modules.contains(&place.module) {
                        self.modules.push(place.module);
                    }
                }
                Record::Unseen { .. } => self.unseen += 1,
                Record::Violation(violation) => self.findings.extend(finding(&violation, &sites, run)),
            }
        }
        self.read_tables(&path.with_extension("clr-state"), sites.len());
    }

    fn read_tables(&mut self, path: &Path, sites: usize) {
        let mut covered = vec![Covered::default(); sites];
        if let Some(stats) = harvest::of_process(path, &mut covered) {
            self.stats.points += stats.points;
            self.stats.concurrent += stats.concurrent;
            self.stats.delays += stats.delays;
            self.stats.delayed += stats.delayed;
            self.stats.refused += stats.refused;
        }
        self.covered.extend(covered);
    }
}

/// `List.Add` of `System.Collections.Generic.List`1.Add`.
fn short_name(name: &str) -> String {
    let plain: String = name.split('`').enumerate().fold(String::new(), |all, (i, part)| {
        all + if i == 0 { part } else { part.trim_start_matches(|c: char| c.is_ascii_digit()) }
    });
    let words: Vec<&str> = plain.split('.').collect();
    words[words.len().saturating_sub(2)..].join(".")
}

fn short_class(name: &str) -> String {
    name.split('`').next().and_then(|name| name.rsplit('.').next()).unwrap_or(name).to_owned()
}

fn finding(violation: &Violation, sites: &[Site], run: Option<u32>) -> Option<Finding> {
    let [now, before] = &violation.ends;
    let site = |end: &End| sites.get(end.site as usize);
    let called = [short_name(&site(now)?.callee), short_name(&site(before)?.callee)];
    let message = format!(
        "two threads use one {} at once: T{} calls {} while T{} is about to call {}",
        short_class(&violation.class),
        now.thread,
        called[0],
        before.thread,
        called[1]
    );
    let mut finding = Finding::new(Kind::ThreadSafetyViolation, Confidence::Confirmed, message);
    let access = |end: &End, site: &Site| Access {
        op: if site.write { Op::Write } else { Op::Read },
        size: 0,
        thread: format!("T{}", end.thread),
        locks: vec![],
        lock: None,
        stack: end.stack.iter().map(frame).collect(),
    };
    finding.accesses = vec![access(now, site(now)?), access(before, site(before)?)];
    let deed = |what: &str, i: usize| format!("{what} {} ({})", called[i], finding.accesses[i].op);
    finding.interleaving = Some(Interleaving {
        deeds: vec![deed("calls", 0), deed("is about to call", 1)],
        ..Interleaving::default()
    });
    let class = short_class(&violation.class);
    finding.notes.push(format!("the contract of {class}: {} ({})", violation.rule, violation.documentation));
    finding.notes.extend(run.map(|run| format!("caught in run {run}")));
    finding.threads = [now, before].map(thread).into();
    Some(finding)
}

fn thread(end: &End) -> Thread {
    Thread { label: format!("T{}", end.thread), name: None, created_by: None, stack: vec![], running: true }
}

fn frame(place: &Place) -> Frame {
    let module = place.module.rsplit('/').next().map(str::to_owned);
    Frame {
        function: Some(place.method.clone()),
        file: place.file.clone(),
        line: place.line,
        module,
        ..Frame::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        assert_eq!(short_name("System.Collections.Generic.List`1.Add"), "List.Add");
        assert_eq!(short_class("System.Collections.Generic.Dictionary`2"), "Dictionary");
    }
}
