//! What the traces show: invariants, and reads that could get another value.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use raddle_conseq::SiteKind;
use raddle_conseq::atomicity::{self, AtomicityViolation};
use raddle_conseq::event::{TraceEvent, What};
use raddle_conseq::history::{History, Point, Read};
use raddle_conseq::invariants::sample::variable;
use raddle_conseq::invariants::{self, KnownMemory, Samples, Term, Variable};
use raddle_conseq::suspects::{self, ErrorSite, Everything, Infeasible, Instead, Judge, Suspect};

use super::args::Args;
use super::sites::Sites;
use super::traced_runs::Runs;
use raddle_harness::check::Guard;
use raddle_harness::crew::Notes;
use raddle_harness::describe::steps::pc_of;
use raddle_harness::places::{Mapped, Places};

/// The least seconds to analyse the first trace, whatever has been used up before.
const AT_LEAST: f64 = 2.0;
/// The same as a share of the time, for a short one.
const SHARE: f64 = 0.1;
/// How many invariants are checked: the most certain ones.
const GUARDS: usize = 40;

pub struct Analysed {
    pub sites: Sites,
    pub guards: Vec<Guard>,
    pub suspects: Vec<Suspect>,
    /// The program counters of all accesses to the suspects' memory, sorted.
    pub points: Vec<u64>,
    pub events: u64,
    /// Pairs of accesses that another access could separate, if these were asked for.
    pub violations: Vec<AtomicityViolation>,
    pub ruled_out: RuledOut,
    /// The number of critical reads that some trace reaches.
    pub reached: usize,
}

/// The pairs of a read and a write that Algorithm 1 rules out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuledOut {
    pub by_order: u64,
    pub by_locks: u64,
}

impl RuledOut {
    fn add(&mut self, refused: &[u64; 4]) {
        let of = |r: Infeasible| refused[r as usize];
        self.by_order += of(Infeasible::TooEarly) + of(Infeasible::Overwritten);
        self.by_locks += of(Infeasible::OwnWriteFirst) + of(Infeasible::HiddenByLock);
    }
}

impl Analysed {
    /// The kind of a suspect's site; freed memory has no site of its own.
    pub fn kind(&self, s: &Suspect) -> Option<SiteKind> {
        match (s.site, s.instead) {
            (Some(ErrorSite::Invariant(_)), _) => Some(SiteKind::Invariant),
            (Some(site), _) => self.sites.site(site).map(|(site, _)| site.kind),
            (None, Instead::Freed(_)) => Some(SiteKind::Memory),
            (None, _) => None,
        }
    }
}

/// Error sites in the code, and those derived from the training runs.
struct Both<'a> {
    sites: &'a Sites,
    guards: &'a [Guard],
}

impl Judge for Both<'_> {
    fn sites(&self, read: &Read, value: u64, history: &History) -> Vec<Option<ErrorSite>> {
        let mut found = self.sites.sites(read, value, history);
        let x = variable(&read.point.cell).signed(value);
        let nothing = KnownMemory::default();
        for (i, guard) in self.guards.iter().enumerate() {
            // Whether a relation holds depends on the moment; another value is reason enough to
            // try.
            let breaks = guard.invariant.shape.holds(x, &nothing) != Some(true);
            if guard.invariant.site == read.point.site && breaks {
                found.push(Some(ErrorSite::Invariant(i as u32)));
            }
        }
        found
    }

    fn sites_if_freed(&self, access: &Point) -> Vec<Option<ErrorSite>> {
        self.sites.sites_if_freed(access)
    }

    fn is_loop(&self, site: ErrorSite) -> bool {
        self.sites.is_loop(site)
    }
}

/// Reads the traces: one in any case, others until the deadline.
pub fn analyse(
    runs: &Runs,
    sites: Sites,
    args: &Args,
    places: &mut Places,
    (deadline, notes): (Instant, &Notes),
) -> Analysed {
    let all_reads = args.all_reads;
    let at_least = Duration::from_secs_f64(AT_LEAST.min(SHARE * args.seconds));
    let correct = || runs.runs.iter().filter(|r| r.is_correct());
    let guards = if sites.wants(SiteKind::Invariant) && !all_reads && runs.scheduled {
        guards(runs, places, deadline)
    } else {
        Vec::new()
    };
    let both = Both { sites: &sites, guards: &guards };
    let judge: &dyn Judge = if all_reads { &Everything } else { &both };
    let (mut all, mut points, mut events) = (Vec::<Suspect>::new(), Vec::new(), 0);
    let (mut known, mut told) = (HashSet::new(), HashMap::new());
    let mut violations: Vec<AtomicityViolation> = Vec::new();
    let mut ruled_out = RuledOut::default();
    for (i, run) in correct().enumerate() {
        if i > 0 && Instant::now() >= deadline {
            let n = correct().count();
            notes.say(&format!("{i} of {n} traces were analysed in time: give it more with --seconds"));
            break;
        }
        // The first trace gets some time in any case.
        let end = if i == 0 { deadline.max(Instant::now() + at_least) } else { deadline };
        let is_over = || Instant::now() >= end;
        let history = History::until(&run.events, &|site| sites.waits(site), &is_over);
        events += history.events as u64;
        if args.atomicity {
            let three = |v: &AtomicityViolation| (v.first.site, v.between.site, v.second.site);
            for violation in atomicity::find(&history) {
                if !violations.iter().any(|v| three(v) == three(&violation)) {
                    violations.push(violation);
                }
            }
        }
        // The search for suspects gets some time, too.
        let end = end.max(Instant::now() + at_least);
        let found = suspects::find(&history, judge, &|| Instant::now() >= end);
        if found.cut_short || history.events < run.events.len() {
            notes.say("not all of a trace was analysed in time, and there may be more suspects: give it more with --seconds");
        }
        ruled_out.add(&found.refused);
        for suspect in found.suspects {
            if known.contains(&suspect.key()) {
                continue;
            }
            let asked = told.entry(suspect.site);
            if *asked.or_insert_with(|| is_told(&suspect, &sites, &runs.modules, places)) {
                known.insert(suspect.key());
                points.extend(accesses_to(&history, suspect.read.cell.address, &runs.modules));
                all.push(suspect);
            }
        }
    }
    let about = all.iter().filter_map(|s| s.site?.invariant());
    points.extend(about.flat_map(|i| guards[i].accesses.iter().copied()));
    points.sort_unstable();
    points.dedup();
    let in_time = |i: usize| i == 0 || Instant::now() < deadline;
    let looked_at = correct().enumerate().take_while(|(i, _)| in_time(*i)).map(|(_, r)| r.events.as_slice());
    let reached = sites.reached(looked_at);
    Analysed { sites, guards, suspects: all, points, events, violations, ruled_out, reached }
}

/// False for what goes wrong inside Rust's own library, which is instrumented with the program: if
/// it matters, it shows where the library was called.
fn is_told(suspect: &Suspect, sites: &Sites, modules: &[Mapped], places: &mut Places) -> bool {
    suspect.site.and_then(|site| sites.pc(site)).is_none_or(|pc| is_own(modules, pc + 1, places))
}

fn is_own(modules: &[Mapped], pc: u64, places: &mut Places) -> bool {
    let own = |f: &raddle_finding::Frame| f.file.as_deref().is_none_or(|file| !file.starts_with("/rustc/"));
    places.frames(modules, pc).iter().any(own)
}

/// The places that access the memory at `address`.
fn accesses_to(history: &History, address: u64, modules: &[Mapped]) -> Vec<u64> {
    history.sites_at(address).filter_map(|site| pc_of(modules, site)).collect()
}

/// The invariants of the training runs, with what is needed to check them.
fn guards(runs: &Runs, places: &mut Places, deadline: Instant) -> Vec<Guard> {
    let traces: Vec<&[TraceEvent]> =
        runs.runs.iter().filter(|r| r.is_correct()).map(|r| r.events.as_slice()).collect();
    if Instant::now() >= deadline {
        return Vec::new();
    }
    let found = invariants::infer(&Samples::of(&traces), &|n| is_address(&runs.modules, n));
    let accessed = accessed(&traces);
    let mut guards = Vec::new();
    for invariant in found {
        let Some(pc) = pc_of(&runs.modules, invariant.site) else { continue };
        if guards.len() >= GUARDS {
            break;
        }
        if !is_own(&runs.modules, pc, places) {
            continue;
        }
        let mut accesses = sites_of(&accessed, &invariant.variables(), &runs.modules);
        accesses.push(pc);
        let x = invariant.variable.map_or("the value read".into(), |v| name(v, places, &runs.modules));
        let text = invariant.shape.describe(&x, &mut |term| match term {
            Term::Cell(v) => name(*v, places, &runs.modules),
            Term::Sum(of) => format!("sum({}[])", array_name(of, places, &runs.modules)),
        });
        // Nobody can say whether an invariant on unnamed memory was intended, and a library's
        // internal variables have nothing to do with those of the program.
        let is_of_library = |v: &Variable| is_of_library(&name(*v, places, &runs.modules));
        if !text.contains("0x") && !invariant.variables().iter().any(is_of_library) {
            guards.push(Guard { invariant, text, accesses });
        }
    }
    guards
}

/// Whether a variable belongs to Rust's or C++'s standard library.
fn is_of_library(name: &str) -> bool {
    ["std::", "core::", "alloc::"].iter().any(|library| name.starts_with(library))
}

/// Whether a number is an address of mapped memory: the program's own, what follows it, or where
/// the kernel puts heap, stacks and libraries.
fn is_address(modules: &[Mapped], n: u64) -> bool {
    const MAPPED: std::ops::Range<u64> = 0x7000_0000_0000..0x8000_0000_0000;
    const BEHIND: u64 = 1 << 30;
    // If a program is linked to a fixed address near zero, what follows it may well be numbers.
    let behind = |m: &Mapped| if m.low >> 32 == 0 { 0 } else { BEHIND };
    MAPPED.contains(&n) || modules.iter().any(|m| (m.low..m.high + behind(m)).contains(&n))
}

/// The places that access each granule of shared memory in any trace.
type Accessed = HashMap<u64, BTreeSet<u32>>;

fn accessed(traces: &[&[TraceEvent]]) -> Accessed {
    let mut accessed = Accessed::new();
    for e in traces.iter().flat_map(|t| t.iter()) {
        if let What::Read(cell) | What::Write { cell, .. } = e.what {
            accessed.entry(cell.address & !7).or_default().insert(e.site);
        }
    }
    accessed
}

/// The places that access these variables.
fn sites_of(accessed: &Accessed, of: &[Variable], modules: &[Mapped]) -> Vec<u64> {
    let sites: BTreeSet<u32> =
        of.iter().filter_map(|v| accessed.get(&(v.address & !7))).flatten().copied().collect();
    sites.into_iter().filter_map(|s| pc_of(modules, s)).collect()
}

fn name(v: Variable, places: &mut Places, modules: &[Mapped]) -> String {
    places.global(modules, v.address).map_or_else(|| format!("{:#x}", v.address), |g| g.label())
}

fn array_name(of: &[Variable], places: &mut Places, modules: &[Mapped]) -> String {
    let first = of.first().and_then(|v| places.global(modules, v.address));
    first.map_or_else(|| "array".into(), |g| g.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_library_are_not_the_programs() {
        assert!(is_of_library("std::sys::pal::unix::stack_overflow::thread_info::SPIN_LOCK"));
        assert!(!is_of_library("my_std::count") && !is_of_library("count"));
    }

    #[test]
    fn numbers_are_told_from_addresses() {
        let at = |low: u64, high: u64| Mapped { low, high, offset: 0, path: "a".into() };
        let modules = [at(0x5555_5555_4000, 0x5555_5556_0000)];
        for address in [0x5555_5555_4010, 0x5555_5557_0000, 0x7a00_0000_0010, 0x7fff_ffff_e000] {
            assert!(is_address(&modules, address), "{address:#x}");
        }
        for number in [0, 7, 1 << 33, u64::MAX] {
            assert!(!is_address(&modules, number), "{number:#x}");
        }
        let fixed = [at(0x40_0000, 0x41_0000)];
        assert!(is_address(&fixed, 0x40_1000) && !is_address(&fixed, 0x42_0000));
    }
}
