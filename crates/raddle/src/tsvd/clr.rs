//! .NET: what raddle tells the profiler of `raddle_clr`, and what the profiler left in a session's
//! folder.
//!
//! Each process numbers its own sites, since they are found as methods are compiled. Their names
//! are the same in every run, and by these names they get numbers here. They have their own
//! registry and traps, beside those of native code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use raddle_base::hash::fnv64;
use raddle_clr::lists::ApiLists;
use raddle_clr::record::{CallEnd, ClrRecord, ClrViolation, KnownPair, UserFrame, VERSION};
use raddle_clr::session::{LISTS, MODULES, PAIRS};
use raddle_finding::{Access, AccessOp, Confidence, Finding, Frame, Interleaving, Kind, ThreadInfo};
use raddle_tsvd::{Stats, TrapPair};

use super::coverage::{Coverage, Covered, PointCoverage};
use super::harvest;
use super::pair_store::StoredPairs;
use super::sites::{Numbered, Registry};
use super::traps::Traps;
use raddle_harness::say::say;

/// Prefixes of the variables that configure a profiler: those of .NET, and the names that later
/// versions prefer.
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
        // This takes precedence over the other, so a leftover value would keep this profiler out.
        command.env(format!("{prefix}_PROFILER_PATH_64"), library);
    }
}

/// Warns, since a process accepts only one profiler.
pub fn warn_of_other_profiler() {
    if let Some(other) = other_profiler() {
        say!(
            "another .NET profiler is configured, {other}: .NET processes are not watched; unset CORECLR_ENABLE_PROFILING to have them watched"
        );
    }
}

/// Says why no profiler can be loaded into a .NET program.
pub fn say_why_not(program: &Path, seen: &Clr) {
    if seen.processes > 0 {
        return;
    }
    if let Some(why) = why_not(program, &std::fs::read(program).unwrap_or_default()) {
        say!("{} is not watched as a .NET program: {why}", program.display());
    } else if let Some(variable) = forbids_profilers(|name| std::env::var(name).ok()) {
        say!("{variable} is 0, which keeps profilers out of .NET processes: unset it to have them watched");
    }
}

/// The variable that tells .NET, since version 6, to let no profiler in.
fn forbids_profilers(value: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    const VARIABLES: [&str; 4] = [
        "DOTNET_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_Profiler",
        "COMPlus_EnableDiagnostics",
        "COMPlus_EnableDiagnostics_Profiler",
    ];
    VARIABLES.into_iter().find(|name| value(name).is_some_and(|value| value.trim() == "0"))
}

fn why_not(program: &Path, text: &[u8]) -> Option<&'static str> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let has = |what: &[u8]| text.windows(what.len()).any(|window| window == what);
    if name == "mono" || name == "mono-sgen" {
        return Some("Mono has no profiling interface of the CLR; run it with `dotnet`");
    }
    // A section that the NativeAOT compiler makes.
    if has(b"\0__managedcode\0") {
        return Some(
            "NativeAOT has compiled it, so that there is no code to add points to; run a build without PublishAot",
        );
    }
    (name == "dotnet" && has(b"ld-musl")).then_some("its runtime is linked with musl; use one for glibc")
}

/// The profiler that is already configured.
pub fn other_profiler() -> Option<String> {
    PREFIXES.iter().find_map(|prefix| {
        let enabled = std::env::var(format!("{prefix}_ENABLE_PROFILING")).ok()?;
        let profiler = std::env::var(format!("{prefix}_PROFILER")).ok()?;
        (is_on(&enabled) && profiler != raddle_clr::CLASS).then_some(profiler)
    })
}

/// Numbers in the runtime's variables are hexadecimal.
fn is_on(value: &str) -> bool {
    let digits = value.trim().trim_start_matches("0x");
    u32::from_str_radix(digits, 16).is_ok_and(|number| number != 0)
}

/// Whether a site's name says that it is a .NET site: its file contains no native code.
pub fn is_site(name: &str) -> bool {
    let file = name.split(": ").next().unwrap_or_default();
    file.ends_with(".dll") || file.ends_with(".exe")
}

/// What the .NET processes of all runs left.
#[derive(Default)]
pub struct Clr {
    pub processes: usize,
    /// By number in the registry.
    pub covered: Vec<Covered>,
    pub stats: Stats,
    pub findings: Vec<Finding>,
    /// What is not watched, by reason: how often, and the first example.
    unseen: BTreeMap<String, (u64, String)>,
    modules: Vec<String>,
    /// The texts of the project's lists.
    lists: Vec<String>,
    registry: Registry,
    /// Where the sites of the registry are.
    places: Vec<UserFrame>,
    traps: Traps,
}

/// A call site of a process.
#[derive(Clone, Default)]
struct Site {
    callee: String,
    write: bool,
    /// In the registry. `None`: there are too many.
    number: Option<u32>,
}

impl Clr {
    /// `lists`: files like `raddle.toml` and their contents.
    pub fn new(lists: &[(PathBuf, String)], traps: Traps) -> Result<Clr> {
        let mut catalogue = ApiLists::shipped();
        for (path, text) in lists {
            catalogue.add_project(text).map_err(|why| anyhow!("{}: {why}", path.display()))?;
        }
        let lists = lists.iter().map(|(_, text)| text.clone()).collect();
        Ok(Clr { lists, traps, ..Clr::default() })
    }

    /// Writes what processes need into a session's folder.
    pub fn prepare(&mut self, folder: &Path, modules: &[String]) -> Result<()> {
        let write = |name: &str, text: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        for (n, text) in self.lists.iter().enumerate() {
            write(&format!("{LISTS}.{n}"), text.as_bytes())?;
        }
        let pairs: Vec<KnownPair> =
            self.traps.pairs_by_name(&self.registry).into_iter().map(known_pair).collect();
        write(PAIRS, &serde_json::to_vec(&pairs)?)?;
        write(MODULES, modules.join("\n").as_bytes())
    }

    /// Reads a session's folder. `run`: which run, if there are several.
    pub fn read(&mut self, folder: &Path, run: Option<u32>) {
        let mut pairs = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "clr") {
                pairs.extend(self.read_process(&path, run));
            }
        }
        self.traps.learn(&self.registry, &pairs);
    }

    pub fn warn(&self) {
        for (why, (times, first)) in &self.unseen {
            say!("not watched in .NET programs: {why}: {}", example(*times, first));
        }
    }

    /// The number of modules with points.
    pub fn files(&self) -> usize {
        self.modules.len()
    }

    /// What to keep, for the file and the store.
    pub fn keep(&mut self) -> StoredPairs {
        self.traps.keep(&self.registry)
    }

    pub fn add_coverage(&self, coverage: &mut Coverage) {
        for ((place, site), covered) in self.places.iter().zip(&self.registry.sites).zip(&self.covered) {
            let file = place.file.clone().unwrap_or_else(|| place.module.clone());
            coverage.add(
                file,
                PointCoverage {
                    line: place.line,
                    function: Some(place.method.clone()),
                    operation: short_name(&site.callee),
                    hit: covered.hit,
                    concurrent: covered.concurrent,
                },
            );
        }
    }

    /// Reads what a process left. Returns the pairs that it knew, by the registry's numbers.
    fn read_process(&mut self, path: &Path, run: Option<u32>) -> Vec<TrapPair> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // The last line may be incomplete if the process was killed while it wrote.
        let mut records = text.lines().map_while(|line| serde_json::from_str::<ClrRecord>(line).ok());
        if !matches!(records.next(), Some(ClrRecord::Begin { version: VERSION, .. })) {
            return Vec::new();
        }
        self.processes += 1;
        let mut sites: Vec<Site> = Vec::new();
        for record in records {
            match record {
                ClrRecord::Begin { .. } => {}
                ClrRecord::Site { callee, write, place, name, .. } => {
                    let number = self.number(&name, &callee, place);
                    sites.push(Site { callee, write, number });
                }
                ClrRecord::Unseen { what, why } => self.unseen.entry(why).or_insert((0, what)).0 += 1,
                ClrRecord::Violation(violation) => self.findings.extend(finding(&violation, &sites, run)),
            }
        }
        self.read_tables(&path.with_extension("clr-state"), &sites)
    }

    /// The number of a site in the registry.
    fn number(&mut self, name: &str, callee: &str, place: UserFrame) -> Option<u32> {
        if !self.modules.contains(&place.module) {
            self.modules.push(place.module.clone());
        }
        let path = PathBuf::from(&place.module);
        let address = fnv64(name.as_bytes());
        let number = self.registry.number(&path, address, || Numbered {
            path: path.clone(),
            address,
            len: 0,
            operation: 0,
            tail: false,
            callee: callee.into(),
            name: name.into(),
        })?;
        if self.places.len() < self.registry.sites.len() {
            self.places.push(place);
            self.covered.push(Covered::default());
        }
        Some(number)
    }

    fn read_tables(&mut self, path: &Path, sites: &[Site]) -> Vec<TrapPair> {
        let mut covered = vec![Covered::default(); sites.len()];
        let harvest = harvest::of_process(path, &mut covered);
        let stats = &harvest.stats;
        self.stats.points += stats.points;
        self.stats.concurrent += stats.concurrent;
        self.stats.delays += stats.delays;
        self.stats.delayed += stats.delayed;
        self.stats.refused += stats.refused;
        for (site, covered) in sites.iter().zip(covered) {
            if let Some(known) = site.number.and_then(|number| self.covered.get_mut(number as usize)) {
                known.hit |= covered.hit;
                known.concurrent |= covered.concurrent;
            }
        }
        let number = |site: u32| sites.get(site as usize)?.number;
        let pairs = harvest.pairs.into_iter().filter_map(|pair| {
            let (a, b) = (number(pair.site_a)?, number(pair.site_b)?);
            Some(TrapPair { site_a: a.min(b), site_b: a.max(b), ..pair })
        });
        pairs.collect()
    }
}

/// `3, such as App.Main`. Names in obfuscated programs may contain anything.
fn example(times: u64, first: &str) -> String {
    let first = first.escape_debug();
    if times == 1 { format!("{first}") } else { format!("{times}, such as {first}") }
}

fn known_pair((sites, pair): ([String; 2], TrapPair)) -> KnownPair {
    KnownPair { sites, probability: pair.probability, gap: pair.gap, state: pair.state.into() }
}

/// `List.Add` for `System.Collections.Generic.List`1.Add`.
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

fn finding(violation: &ClrViolation, sites: &[Site], run: Option<u32>) -> Option<Finding> {
    let [now, before] = &violation.ends;
    let site = |end: &CallEnd| sites.get(end.site as usize);
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
    let access = |end: &CallEnd, site: &Site| Access {
        op: if site.write { AccessOp::Write } else { AccessOp::Read },
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

fn thread(end: &CallEnd) -> ThreadInfo {
    ThreadInfo {
        label: format!("T{}", end.thread),
        name: None,
        created_by: None,
        stack: vec![],
        running: true,
    }
}

fn frame(place: &UserFrame) -> Frame {
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
    fn programs_without_the_interface_are_told() {
        let told = |name: &str, text: &[u8]| why_not(Path::new(name), text);
        assert!(told("/usr/bin/mono", b"").is_some_and(|why| why.contains("Mono")));
        assert!(told("app", b"..\0__managedcode\0..").is_some_and(|why| why.contains("NativeAOT")));
        assert!(told("/x/dotnet", b"/lib/ld-musl-x86_64.so.1").is_some_and(|why| why.contains("musl")));
        assert_eq!((told("/x/dotnet", b"ELF"), told("app", b"ld-musl")), (None, None));
    }

    #[test]
    fn a_variable_that_keeps_profilers_out_is_named() {
        let set = |name: &'static str, value: &'static str| {
            forbids_profilers(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(set("COMPlus_EnableDiagnostics", "0"), Some("COMPlus_EnableDiagnostics"));
        assert_eq!((set("DOTNET_EnableDiagnostics", "1"), set("OTHER", "0")), (None, None));
    }

    #[test]
    fn profiling_is_on_as_the_runtime_reads_it() {
        assert!(is_on("1") && is_on("0x1") && is_on("01"));
        assert!(!is_on("0") && !is_on("") && !is_on("yes"));
    }

    #[test]
    fn sites_of_dotnet_are_told_by_their_files() {
        assert!(is_site("App.dll: App.Main~0001 calls System.Collections.Generic.List`1.Add #1"));
        assert!(!is_site("libx.so: f calls g #1") && !is_site("tests: f calls a.dll #1"));
    }

    #[test]
    fn what_is_not_watched_has_an_example() {
        assert_eq!(example(1, "App.Main"), "App.Main");
        assert_eq!(example(3, "App.\u{1}\n"), "3, such as App.\\u{1}\\n");
    }

    #[test]
    fn names_are_short() {
        assert_eq!(short_name("System.Collections.Generic.List`1.Add"), "List.Add");
        assert_eq!(short_class("System.Collections.Generic.Dictionary`2"), "Dictionary");
    }
}
