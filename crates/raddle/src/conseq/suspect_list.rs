//! A ranked list of suspects that were neither shown nor ruled out, on request.
//!
//! A suspect is a pair of accesses and a place where it would show. One write or one release is
//! often behind many suspects, and looking at it once is enough. So there is one entry per write or
//! release, with the worst that it could do and the number of other suspects. The most harmful
//! entries come first.

use std::collections::BTreeMap;

use raddle_conseq::SiteKind;
use raddle_conseq::atomicity::AtomicityViolation;
use raddle_conseq::suspects::{ErrorSite, Instead, Suspect};
use raddle_finding::{AccessOp, Confidence, Finding, Kind};

use super::args::Means;
use super::findings::Teller;
use super::tester::{Reason, SuspectVerdict};

/// How many places an entry names.
const NAMED: usize = 6;

/// How the last note of an entry begins if every interleaving was made, and none shows it.
pub const RULED_OUT: &str = "ruled out: ";
/// How the last note of an entry begins if the executions that were aimed at it speak against it.
pub const EXPLAINED: &str = "explained: ";

/// The write or release behind a suspect: its kind and its site.
type Cause = (u8, u32);

fn cause(s: &Suspect) -> Cause {
    match s.instead {
        Instead::Write(w) => (0, w.site),
        Instead::Freed(f) => (1, f.site),
        // The write that comes too late.
        Instead::Initial => (2, s.from.map_or(0, |w| w.site)),
    }
}

/// Lower is worse.
fn harm(kind: Kind) -> u8 {
    match kind {
        Kind::UseAfterFree | Kind::DoubleFree => 0,
        Kind::Crash => 1,
        Kind::Assertion => 2,
        Kind::Hang => 3,
        Kind::ErrorMessage => 4,
        Kind::Output => 5,
        _ => 6,
    }
}

impl Teller<'_> {
    /// The open suspects, one entry for each cause, the worst first.
    pub(super) fn open(&mut self) -> Vec<Finding> {
        let mut by_cause: BTreeMap<Cause, Vec<usize>> = BTreeMap::new();
        for (i, s) in self.analysed.suspects.iter().enumerate() {
            let is_open = self.tested.verdicts.get(i).is_none_or(|v| *v == SuspectVerdict::Open);
            // Without critical reads, a suspect is only a pair of accesses.
            if is_open && self.analysed.kind(s).is_some() && !self.is_about_addresses(s) {
                by_cause.entry(cause(s)).or_default().push(i);
            }
        }
        let mut entries: Vec<Finding> = by_cause.into_values().map(|of| self.entry(of)).collect();
        entries.sort_by_key(|f| (harm(f.kind), std::cmp::Reverse(f.occurrences)));
        entries
    }

    /// The causes of which every suspect is refuted, with the reasons.
    pub(super) fn dismissed(&mut self) -> Vec<Finding> {
        let mut by_cause: BTreeMap<Cause, Vec<usize>> = BTreeMap::new();
        for (i, s) in self.analysed.suspects.iter().enumerate() {
            by_cause.entry(cause(s)).or_default().push(i);
        }
        let mut entries = Vec::new();
        for mut of in by_cause.into_values() {
            let reasons: Option<Vec<Reason>> = of.iter().map(|i| self.reason(*i)).collect();
            let suspects = &self.analysed.suspects;
            of.retain(|i| {
                self.analysed.kind(&suspects[*i]).is_some() && !self.is_about_addresses(&suspects[*i])
            });
            if let Some(reasons) = reasons.filter(|_| !of.is_empty()) {
                let mut entry = self.entry(of);
                entry.notes.pop();
                entry.notes.push(self.why_dismissed(&reasons));
                entries.push(entry);
            }
        }
        entries
    }

    /// Why a suspect is refuted, if it is.
    fn reason(&self, i: usize) -> Option<Reason> {
        match self.tested.verdicts.get(i) {
            Some(SuspectVerdict::Refuted(reason)) => Some(*reason),
            _ => None,
        }
    }

    fn why_dismissed(&self, reasons: &[Reason]) -> String {
        if reasons.iter().all(|r| *r == Reason::Impossible) {
            return format!("{RULED_OUT}the read gets that value in no interleaving of the program");
        }
        let ways = [
            (Reason::Harmless, "the read was made to get that value, and nothing went wrong"),
            (Reason::Infeasible, "executions aimed at it never brought that value to the read"),
            (Reason::Impossible, "the read gets that value in no interleaving"),
        ];
        let ways: Vec<&str> =
            ways.iter().filter(|(reason, _)| reasons.contains(reason)).map(|(_, why)| *why).collect();
        format!("{EXPLAINED}{}", ways.join("; or "))
    }

    /// An invariant about addresses says nothing to a reader.
    fn is_about_addresses(&self, s: &Suspect) -> bool {
        const ADDRESSES: u64 = 1 << 32;
        let invariant = s.site.and_then(ErrorSite::invariant);
        let guard = invariant.and_then(|i| self.analysed.guards.get(i));
        guard.is_some() && (s.value > ADDRESSES || s.read.cell.value > ADDRESSES)
    }

    /// The entry for one cause, with everything that it could do.
    fn entry(&mut self, mut of: Vec<usize>) -> Finding {
        let suspects = &self.analysed.suspects;
        of.sort_by_key(|i| harm(self.consequence(&suspects[*i]).0));
        let first = &suspects[of[0]];
        let (kind, what) = self.consequence(first);
        let message = format!("{what}: {}", self.because(first));
        let mut finding = Finding::new(kind, Confidence::Suspected, message);
        finding.occurrences = of.len() as u64;
        self.add_ends(&mut finding, first);
        if let Some(site) = self.site(first) {
            // The place that goes wrong comes first, as in a finding that has happened.
            finding.accesses.insert(0, site);
        }
        finding.notes.extend(self.usual(first));
        finding.notes.extend(self.more(&of[1..]));
        finding.notes.push(self.tried(&of));
        finding
    }

    /// What else the cause could do.
    fn more(&mut self, others: &[usize]) -> Option<String> {
        let mut places: Vec<String> = Vec::new();
        for s in others.iter().map(|i| &self.analysed.suspects[*i]) {
            let pc = s.site.and_then(|i| self.analysed.sites.pc(i));
            let place = match pc {
                Some(pc) => self.place_of(pc + 1),
                None => self.place(&s.read),
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let rest = if places.len() > NAMED { ", …" } else { "" };
        places.truncate(NAMED);
        let n = others.len();
        (n > 0).then(|| {
            format!("the same cause matters to {n} more read(s) or place(s): {}{rest}", places.join(", "))
        })
    }

    /// What was done to bring it about.
    fn tried(&self, of: &[usize]) -> String {
        if self.args.no_test {
            return "not tried: --no-test".into();
        }
        // Suspects of one write and one read share their executions.
        let executions = of.iter().filter_map(|i| self.tested.tried.get(*i)).max().map_or(0, |n| *n);
        let by_delays = !self.runs.scheduled || self.args.tester == Means::Delays;
        match (executions, by_delays) {
            (0, _) => "not tried: the time was over (--seconds)".into(),
            (n, true) => format!(
                "tried in {n} run(s) with delays, which have not brought it about and do not rule it out"
            ),
            (n, false) => format!(
                "tried in {n} execution(s) aimed at it and a search of {}, none of which brought it about; not all interleavings have been made",
                self.tested.executions
            ),
        }
    }

    /// What a suspect could lead to.
    fn consequence(&self, s: &Suspect) -> (Kind, String) {
        let site = self.analysed.kind(s).unwrap_or(SiteKind::Memory);
        let callee = s.site.and_then(|i| self.analysed.sites.site(i)?.0.callee.clone());
        let by = callee.map_or(String::new(), |c| format!(" ({c})"));
        match site {
            SiteKind::Assert => (Kind::Assertion, format!("an assertion{by} can fail")),
            SiteKind::Error => (Kind::ErrorMessage, format!("an error message{by} can appear")),
            SiteKind::Output => (Kind::Output, format!("the output{by} can be wrong or missing")),
            SiteKind::Loop => (Kind::Hang, "a loop can go on for ever".into()),
            SiteKind::Memory if matches!(s.instead, Instead::Freed(_)) => {
                (Kind::UseAfterFree, "freed memory can be accessed".into())
            }
            SiteKind::Memory if !by.is_empty() => {
                (Kind::DoubleFree, format!("a block can be freed twice{by}"))
            }
            SiteKind::Memory => (Kind::Crash, "a pointer can be wrong where it is used".into()),
            SiteKind::Invariant => {
                let guard = s.site.and_then(ErrorSite::invariant).and_then(|i| self.analysed.guards.get(i));
                let text = guard.map_or("", |g| g.text.as_str());
                (Kind::Invariant, format!("`{text}`, which held in all training runs, can fail to hold"))
            }
        }
    }

    /// The finding for two accesses that another could separate.
    pub(super) fn violation(&mut self, v: &AtomicityViolation) -> Finding {
        let (first, second, between) = (self.place(&v.first), self.place(&v.second), self.place(&v.between));
        let message = format!("{}: {between} can come between {first} and {second}", v.pattern.describe());
        let mut finding = Finding::new(Kind::AtomicityViolation, Confidence::Suspected, message);
        let (first, between, second) = v.pattern.ops();
        let op = |writes| if writes { AccessOp::Write } else { AccessOp::Read };
        finding.accesses = [(v.first, first), (v.between, between), (v.second, second)]
            .map(|(point, writes)| self.end(&point, op(writes)))
            .into();
        finding
    }
}
