//! What the static analysis knows of the program, and which values at a read lead to an error site
//! (section 7.2: "ConSeq also evaluates v' against the assertion/error-condition").

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use raddle_binary::Module;
use raddle_conseq::event::{TraceEvent, What};
use raddle_conseq::history::{History, Point, Read};
use raddle_conseq::suspects::{ErrorSite, Judge};
use raddle_conseq::{Analysis, CriticalRead, Note, Options, Relation, Site, SiteKind};

use super::listing;
use super::machine_code::BEHIND;
use super::static_server::StaticServer;
use raddle_harness::places::Mapped;

/// The sites of one file, and where it was loaded.
struct Part {
    path: PathBuf,
    analysis: Arc<Analysis>,
    bias: u64,
    /// How far behind the address of a read the program counter is that a trace has for it.
    behind: u64,
    /// The number of its first site among all sites.
    first: u32,
}

impl Part {
    /// The program counter of the read at this address of the file.
    fn pc_of_read(&self, address: u64) -> u64 {
        self.bias.wrapping_add(address).wrapping_add(self.behind)
    }
}

/// The sites of a program and of its libraries that were built like it.
pub struct Sites {
    parts: Vec<Part>,
    /// By the low half of the program counter: part and read.
    reads: HashMap<u32, Vec<(usize, usize)>>,
    /// Rust's prints, sorted: the low half of the call's program counter, how far before it reads
    /// count, and the site.
    prints: Vec<(u64, u64, u32)>,
    kinds: Vec<SiteKind>,
}

/// Rust passes what it prints by reference, as an array of references on the stack, and no slice of
/// registers sees beyond that. So reads this close before the call, in the same function, count as
/// printed.
const BEFORE_PRINT: u64 = 192;

fn is_print(callee: &str) -> bool {
    ["std::io::stdio::_print", "std::io::stdio::_eprint"].iter().any(|name| callee.starts_with(name))
}

/// Whether a probe is that of an exchange that does not compare: `__tsan_atomic32_exchange`.
fn is_exchange(probe: &str) -> bool {
    let width = probe.strip_prefix("__tsan_atomic").and_then(|rest| rest.strip_suffix("_exchange"));
    width.is_some_and(|width| width.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A value that points into the first page is a null pointer.
const FIRST_PAGE: u64 = 4096;

impl Sites {
    /// The sites of all files of the process that have probes, as far as they can depend on a read
    /// that the traces come by. Functions with such reads are analysed first, and others until the
    /// deadline. If no site does, all sites: the user is told whether there are any.
    /// `copied`: the file that has probes in a copy of its code.
    pub fn of<'a>(
        (modules, copied): (&[Mapped], Option<&Path>),
        (halves, options): (&StaticServer, &Options),
        traces: impl Iterator<Item = &'a [TraceEvent]>,
        deadline: Instant,
    ) -> Sites {
        let executed: BTreeSet<u32> =
            traces.flatten().filter(|event| is_read(event)).map(|event| event.site).collect();
        let near = Sites::near((modules, copied), (halves, options), Some(&executed), deadline);
        if near.reads.is_empty() {
            Sites::near((modules, copied), (halves, options), None, deadline)
        } else {
            near
        }
    }

    /// The sites that can depend on one of these reads, or all.
    fn near(
        (modules, copied): (&[Mapped], Option<&Path>),
        (halves, options): (&StaticServer, &Options),
        executed: Option<&BTreeSet<u32>>,
        deadline: Instant,
    ) -> Sites {
        let mut first_mapping: BTreeMap<&Path, &Mapped> = BTreeMap::new();
        for m in modules {
            let known = first_mapping.entry(&m.path).or_insert(m);
            if m.low < known.low {
                *known = m;
            }
        }
        let mut sites = Sites {
            parts: Vec::new(),
            reads: HashMap::new(),
            prints: Vec::new(),
            kinds: options.kinds.clone(),
        };
        let mut first = 0;
        for (path, mapped) in first_mapping {
            if is_of_the_system(path) {
                continue;
            }
            let Ok(module) = Module::open(path) else { continue };
            let Some(bias) = module.load_bias(mapped.low, mapped.offset) else { continue };
            // A site is the lower half of an address. That of another file names some function
            // here, which does no harm.
            let address = |site: &u32| u64::from(site.wrapping_sub(bias as u32));
            let executed: Option<Vec<u64>> = executed.map(|sites| sites.iter().map(address).collect());
            let Ok(analysis) = halves.analysis(path, options, executed, deadline) else { continue };
            let is_instrumented = !analysis.notes.contains(&Note::NotInstrumented);
            if !is_instrumented && copied != Some(path) {
                continue;
            }
            let behind = if is_instrumented { 0 } else { BEHIND };
            for site in analysis.sites.iter().filter(|s| s.callee.as_deref().is_some_and(is_print)) {
                let low = bias.wrapping_add(site.address) & 0xffff_ffff;
                let before = site.address.wrapping_sub(site.function.address).min(BEFORE_PRINT);
                sites.prints.push((low, before, first + site.id));
            }
            let n = analysis.sites.len() as u32;
            sites.parts.push(Part { path: path.into(), analysis, bias, behind, first });
            first += n;
        }
        sites.prints.sort_unstable();
        for (p, part) in sites.parts.iter().enumerate() {
            for (r, read) in part.analysis.reads.iter().enumerate() {
                let pc = part.pc_of_read(read.address);
                sites.reads.entry(pc as u32).or_default().push((p, r));
            }
        }
        sites
    }

    /// The places of exchanges that write whatever they replace, other than those that compare.
    /// Calls through a register are not among them.
    pub fn exchanges(&self) -> HashSet<u32> {
        let mut found = HashSet::new();
        for part in &self.parts {
            let Ok(module) = Module::open(&part.path) else { continue };
            let calls = module.call_sites(is_exchange).into_iter().filter(|call| !call.tail);
            found.extend(calls.map(|call| part.bias.wrapping_add(call.return_address) as u32));
        }
        found
    }

    /// Whether this kind was asked for.
    pub fn wants(&self, kind: SiteKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether a trace reaches a critical read.
    pub fn is_reached(&self, events: &[TraceEvent]) -> bool {
        self.reads.is_empty() || events.iter().any(|e| is_read(e) && self.reads.contains_key(&e.site))
    }

    /// How many critical reads these traces reach.
    pub fn reached<'a>(&self, traces: impl Iterator<Item = &'a [TraceEvent]>) -> usize {
        let mut met = HashSet::new();
        for e in traces.flatten() {
            if is_read(e) && self.reads.contains_key(&e.site) {
                met.insert(e.site);
            }
        }
        met.len()
    }

    /// Sentences about files of which not all functions were analysed.
    pub fn unfinished(&self) -> Vec<String> {
        let notes = self.parts.iter().flat_map(|p| p.analysis.notes.iter().map(move |note| (p, note)));
        let unfinished = notes.filter(|(_, note)| matches!(note, Note::Unfinished { .. }));
        unfinished.map(|(part, note)| listing::sentence(note, &part.path)).collect()
    }

    /// How many functions were not analysed in time.
    pub fn unfinished_functions(&self) -> u64 {
        let notes = self.parts.iter().flat_map(|p| &p.analysis.notes);
        let left = notes.map(|note| match note {
            Note::Unfinished { functions } => *functions as u64,
            _ => 0,
        });
        left.sum()
    }

    pub fn count(&self) -> usize {
        self.parts.iter().map(|p| p.analysis.sites.len()).sum()
    }

    /// The number of places in the program that are critical reads of some site.
    pub fn critical_reads(&self) -> usize {
        self.reads.len()
    }

    /// A site in the code, and its part of the program.
    fn find(&self, site: ErrorSite) -> Option<(&Part, &Site)> {
        let ErrorSite::Code(number) = site else { return None };
        let part = self.parts.iter().rev().find(|p| p.first <= number)?;
        Some((part, part.analysis.sites.get((number - part.first) as usize)?))
    }

    /// A site in the code, and its file.
    pub fn site(&self, site: ErrorSite) -> Option<(&Site, &Path)> {
        self.find(site).map(|(part, site)| (site, part.path.as_path()))
    }

    /// The program counter of a site in the code.
    pub fn pc(&self, site: ErrorSite) -> Option<u64> {
        self.find(site).map(|(part, site)| part.bias.wrapping_add(site.address))
    }

    /// Whether the read belongs to a loop that only waits.
    pub fn waits(&self, site: u32) -> bool {
        let is = |(p, r): &(usize, usize)| {
            let analysis = &self.parts[*p].analysis;
            analysis.sites.get(analysis.reads[*r].site as usize).is_some_and(|s| s.waits)
        };
        self.reads.get(&site).is_some_and(|of| of.iter().any(is))
    }

    /// The program counters of all such reads, sorted. As scheduling points, they let other threads
    /// run while a loop waits.
    pub fn waiting_reads(&self) -> Vec<u64> {
        let reads = self.parts.iter().flat_map(|part| part.analysis.reads.iter().map(move |r| (part, r)));
        let waits =
            |part: &Part, r: &CriticalRead| part.analysis.sites.get(r.site as usize).is_some_and(|s| s.waits);
        let mut pcs: Vec<u64> =
            reads.filter(|(part, r)| waits(part, r)).map(|(part, r)| part.pc_of_read(r.address)).collect();
        pcs.sort_unstable();
        pcs.dedup();
        pcs
    }

    fn matters(
        &self,
        part: &Part,
        critical: &CriticalRead,
        read: &Read,
        value: u64,
        history: &History,
    ) -> bool {
        let Some(site) = part.analysis.sites.get(critical.site as usize) else { return false };
        let with = |value: u64| {
            critical.leads(&|address| {
                if address == critical.address {
                    return Some(value);
                }
                let other = part.pc_of_read(address) as u32;
                history.value_near(other, read.point.thread(), read.point.index())
            })
        };
        match (&critical.relation, site.kind) {
            // An output may be wrong or missing: what counts is that it differs.
            (Relation::Tested(_), SiteKind::Output) => {
                let (now, then) = (with(read.point.cell.value), with(value));
                now.is_none() || then.is_none() || now != then
            }
            // A wait that the run did not enter.
            (Relation::Tested(_), SiteKind::Loop) if site.callee.is_some() => {
                with(value) == Some(true) && with(read.point.cell.value) == Some(false)
            }
            (Relation::Tested(_), kind) if kind != SiteKind::Memory => with(value) != Some(false),
            (Relation::Pointer { offset }, _) => {
                let to = value.wrapping_add_signed(*offset);
                to < FIRST_PAGE || history.was_freed(to)
            }
            // A block that is freed elsewhere is freed twice if it is freed here as well: because
            // the pointer is that of the block, or because a test now leads here that did not
            // before.
            (relation, SiteKind::Memory) if site.callee.is_some() => {
                let is_freed = history.was_freed_from(value);
                let is_tested = matches!(relation, Relation::Tested(_));
                let leads = |value| is_tested && with(value) == Some(true);
                is_freed || leads(value) && !leads(read.point.cell.value)
            }
            (_, SiteKind::Memory) => false,
            _ => true,
        }
    }
}

/// Whether an event reads memory.
fn is_read(event: &TraceEvent) -> bool {
    matches!(event.what, What::Read(_) | What::Write { reads: true, .. })
}

fn is_of_the_system(path: &Path) -> bool {
    ["/usr/lib", "/lib", "/lib64", "/usr/lib64"].iter().any(|folder| path.starts_with(folder))
}

impl Judge for Sites {
    fn sites(&self, read: &Read, value: u64, history: &History) -> Vec<Option<ErrorSite>> {
        let of = self.reads.get(&read.point.site).map_or(&[][..], Vec::as_slice);
        let at = u64::from(read.point.site);
        let after = &self.prints[self.prints.partition_point(|(call, ..)| *call <= at)..];
        let near = after.iter().take_while(|(call, ..)| call.saturating_sub(BEFORE_PRINT) < at);
        let printed = near.filter(|(call, before, _)| call.saturating_sub(*before) < at);
        let printed: Vec<_> = printed.map(|(_, _, site)| Some(ErrorSite::Code(*site))).collect();
        let critical = of.iter().filter_map(|(p, r)| {
            let part = &self.parts[*p];
            let critical = &part.analysis.reads[*r];
            let matters = self.matters(part, critical, read, value, history);
            matters.then_some(Some(ErrorSite::Code(part.first + critical.site)))
        });
        let mut found: Vec<Option<ErrorSite>> = critical.chain(printed).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn sites_if_freed(&self, _access: &Point) -> Vec<Option<ErrorSite>> {
        if self.kinds.contains(&SiteKind::Memory) { vec![None] } else { Vec::new() }
    }

    fn is_loop(&self, site: ErrorSite) -> bool {
        // A wait is a call, and no value keeps it going.
        self.site(site).is_some_and(|(s, _)| s.kind == SiteKind::Loop && s.callee.is_none())
    }
}
