//! What was examined, and how each suspect ended: numbers for programs, and sentences for a reader
//! who sees that nothing was found.

use std::collections::BTreeMap;
use std::time::Instant;

use raddle_finding::{Report, Stat};

use super::campaign::Phases;
use super::findings::Teller;
use super::tester::{Reason, SuspectVerdict};

/// The stats if nothing was executed.
pub fn add_empty_stats(report: &mut Report, begun: Instant) {
    report.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    for key in ["sites", "critical_reads", "suspects"] {
        report.stats.insert(key.into(), Stat::Int(0));
    }
}

impl Teller<'_> {
    pub(super) fn add_stats(&self, report: &mut Report, clock: &Phases) {
        let verdicts = &self.tested.verdicts;
        let count =
            |f: &dyn Fn(&SuspectVerdict) -> bool| Stat::from(verdicts.iter().filter(|v| f(v)).count() as u64);
        let (analysed, runs) = (self.analysed, &self.runs.runs);
        let mut add = |key: &str, value: Stat| drop(report.stats.insert(key.into(), value));
        add("seconds", Stat::Float(clock.begun.elapsed().as_secs_f64()));
        add("seconds_traced", Stat::Float(clock.traced));
        add("seconds_static", Stat::Float(clock.static_half));
        add("seconds_analysed", Stat::Float(clock.analysed));
        add("seconds_tested", Stat::Float(clock.tested));
        add("sites", Stat::from((analysed.sites.count() + analysed.guards.len()) as u64));
        add("functions_unfinished", Stat::from(analysed.sites.unfinished_functions()));
        add("critical_reads", Stat::from(analysed.sites.critical_reads() as u64));
        add("critical_reads_reached", Stat::from(analysed.reached as u64));
        add("invariants", Stat::from(analysed.guards.len() as u64));
        add("pairs_ruled_out_by_order", Stat::from(analysed.ruled_out.by_order));
        add("pairs_ruled_out_by_locks", Stat::from(analysed.ruled_out.by_locks));
        add("suspects", Stat::from(analysed.suspects.len() as u64));
        add("suspects_confirmed", count(&|v| matches!(v, SuspectVerdict::Confirmed(_))));
        add("suspects_shown", count(&|v| matches!(v, SuspectVerdict::Shown(_))));
        add("suspects_refuted", count(&|v| matches!(v, SuspectVerdict::Refuted(_))));
        add("refuted_harmless", count(&|v| *v == SuspectVerdict::Refuted(Reason::Harmless)));
        add("refuted_impossible", count(&|v| *v == SuspectVerdict::Refuted(Reason::Impossible)));
        add("refuted_infeasible", count(&|v| *v == SuspectVerdict::Refuted(Reason::Infeasible)));
        // Suspects that were not tested are open, too.
        let untested = analysed.suspects.len().saturating_sub(verdicts.len());
        let open = verdicts.iter().filter(|v| **v == SuspectVerdict::Open).count() + untested;
        add("suspects_open", Stat::from(open as u64));
        let pairs = self.pairs();
        let of = |end: PairEnd| pairs.values().filter(|e| **e == end).count() as u64;
        add("pairs", Stat::from(pairs.len() as u64));
        add("pairs_confirmed", Stat::from(of(PairEnd::Confirmed)));
        add("pairs_shown", Stat::from(of(PairEnd::Shown)));
        add("pairs_refuted", Stat::from(of(PairEnd::Refuted)));
        add("pairs_open", Stat::from(of(PairEnd::Open)));
        add("atomicity_violations", Stat::from(analysed.violations.len() as u64));
        add("executions", Stat::from(self.tested.executions));
        add("exhausted", Stat::Bool(self.tested.exhausted));
        add("scheduled", Stat::Bool(self.runs.scheduled));
        add("runs", Stat::from(runs.len() as u64));
        add("runs_correct", Stat::from(runs.iter().filter(|r| r.is_correct()).count() as u64));
        add("trace_events", Stat::from(analysed.events));
        add("trace_bytes", Stat::from(runs.iter().map(|r| r.bytes).sum::<u64>()));
        add("accesses", Stat::from(runs.iter().map(|r| r.accesses).sum::<u64>()));
    }
}

/// How a pair of accesses ended, from what became of its suspects, one for each error site. A later
/// one prevails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PairEnd {
    /// All of them are refuted.
    Refuted,
    Shown,
    /// One at least is open, and none is confirmed.
    Open,
    Confirmed,
}

impl PairEnd {
    /// `None`: the suspect was not tested.
    fn of(verdict: Option<&SuspectVerdict>) -> PairEnd {
        match verdict {
            Some(SuspectVerdict::Confirmed(_)) => PairEnd::Confirmed,
            Some(SuspectVerdict::Shown(_)) => PairEnd::Shown,
            Some(SuspectVerdict::Refuted(_)) => PairEnd::Refuted,
            Some(SuspectVerdict::Open) | None => PairEnd::Open,
        }
    }
}

/// The places of a pair: the read, and the kind and place of what it could get.
type PairKey = (u32, u8, u32);

/// How each pair ended.
fn ends_of_pairs<'v>(
    suspects: impl Iterator<Item = (PairKey, Option<&'v SuspectVerdict>)>,
) -> BTreeMap<PairKey, PairEnd> {
    let mut ends = BTreeMap::new();
    for (pair, verdict) in suspects {
        let end = PairEnd::of(verdict);
        ends.entry(pair).and_modify(|known: &mut PairEnd| *known = end.max(*known)).or_insert(end);
    }
    ends
}

impl Teller<'_> {
    /// The pairs of a write, or a release, and a read that the suspects are about.
    fn pairs(&self) -> BTreeMap<PairKey, PairEnd> {
        let verdicts = &self.tested.verdicts;
        ends_of_pairs(self.analysed.suspects.iter().enumerate().map(|(i, s)| {
            let (read, kind, other, _) = s.key();
            ((read, kind, other), verdicts.get(i))
        }))
    }
}

/// The numbers as sentences.
pub fn sentences(stats: &BTreeMap<String, Stat>, lists_suspects: bool) -> Vec<String> {
    let n = |key: &str| match stats.get(key) {
        Some(Stat::Int(n)) => *n,
        _ => 0,
    };
    let mut all = vec![format!(
        "looked at: {}, {} ({} reached in {}); {} ruled out by order, {} by locks",
        some(n("sites"), "error site"),
        some(n("critical_reads"), "critical read"),
        n("critical_reads_reached"),
        some(n("runs"), "traced run"),
        some(n("pairs_ruled_out_by_order"), "pair"),
        n("pairs_ruled_out_by_locks"),
    )];
    let unfinished = n("functions_unfinished");
    if unfinished > 0 {
        let were = if unfinished == 1 { "was" } else { "were" };
        all.push(format!(
            "{} {were} not analysed in time, and there may be more error sites: give it more with --seconds",
            some(unfinished, "function"),
        ));
    }
    let (suspects, shown, open) = (n("suspects"), n("suspects_shown"), n("suspects_open"));
    let mut ends = vec![format!("{} confirmed", n("suspects_confirmed"))];
    let reasons = [
        ("refuted_harmless", "made to happen without harm"),
        ("refuted_impossible", "impossible in all interleavings"),
        ("refuted_infeasible", "could not be forced"),
    ];
    let reasons: Vec<String> =
        reasons.iter().filter(|(key, _)| n(key) > 0).map(|(key, why)| format!("{} {why}", n(key))).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    ends.push(format!("{} refuted{reasons}", n("suspects_refuted")));
    if shown > 0 {
        ends.push(format!("{shown} made to happen and not certainly wrong"));
    }
    ends.push(format!("{open} open"));
    let list = if open + shown > 0 && !lists_suspects { "; --suspects lists them" } else { "" };
    all.push(format!("{}: {}{list}", some(suspects, "suspect"), ends.join(", ")));
    let pairs = n("pairs");
    if pairs < suspects {
        let shown = match n("pairs_shown") {
            0 => String::new(),
            shown => format!("{shown} not certainly wrong, "),
        };
        all.push(format!(
            "these are {} of a write and a read, counted once for each error site: {} confirmed, {} refuted, {shown}{} open",
            some(pairs, "pair"),
            n("pairs_confirmed"),
            n("pairs_refuted"),
            n("pairs_open"),
        ));
    }
    all
}

fn some(n: i64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_each_suspect_ended_is_told() {
        let numbers = [
            ("sites", 7),
            ("critical_reads", 1),
            ("critical_reads_reached", 1),
            ("runs", 6),
            ("suspects", 5),
            ("suspects_confirmed", 1),
            ("suspects_refuted", 3),
            ("refuted_harmless", 2),
            ("refuted_impossible", 1),
            ("suspects_open", 1),
            ("pairs", 3),
            ("pairs_confirmed", 1),
            ("pairs_refuted", 1),
            ("pairs_open", 1),
        ];
        let stats = numbers.map(|(key, n)| (key.to_owned(), Stat::Int(n))).into();
        let said = sentences(&stats, false);
        assert_eq!(
            said[0],
            "looked at: 7 error sites, 1 critical read (1 reached in 6 traced runs); 0 pairs ruled out by order, 0 by locks"
        );
        assert_eq!(
            said[1],
            "5 suspects: 1 confirmed, 3 refuted (2 made to happen without harm, 1 impossible in all interleavings), 1 open; --suspects lists them"
        );
        assert!(!sentences(&stats, true)[1].contains("--suspects"));
        assert_eq!(
            said[2],
            "these are 3 pairs of a write and a read, counted once for each error site: 1 confirmed, 1 refuted, 1 open"
        );
        let left = |n| sentences(&[("functions_unfinished".to_owned(), Stat::Int(n))].into(), false);
        assert!(left(1)[1].starts_with("1 function was not analysed in time"));
        assert!(left(20)[1].starts_with("20 functions were not analysed in time"));
        assert_eq!(left(0).len(), 2);
    }

    #[test]
    fn a_pair_is_refuted_if_all_its_suspects_are() {
        use PairEnd::{Confirmed, Open, Refuted, Shown};
        let harmless = SuspectVerdict::Refuted(Reason::Harmless);
        let ends = |of: &[Option<SuspectVerdict>]| {
            let suspects = of.iter().map(|v| ((1, 1, 2), v.as_ref()));
            ends_of_pairs(suspects).into_values().collect::<Vec<_>>()
        };
        assert_eq!(ends(&[Some(harmless), Some(harmless)]), [Refuted]);
        assert_eq!(ends(&[Some(harmless), Some(SuspectVerdict::Open)]), [Open]);
        assert_eq!(ends(&[None, Some(harmless)]), [Open], "it was not tested");
        assert_eq!(ends(&[Some(SuspectVerdict::Shown(0)), Some(harmless)]), [Shown]);
        assert_eq!(ends(&[Some(SuspectVerdict::Open), Some(SuspectVerdict::Shown(0))]), [Open]);
        assert_eq!(ends(&[Some(SuspectVerdict::Confirmed(0)), Some(SuspectVerdict::Open)]), [Confirmed]);
        let two = [((1, 1, 2), Some(&harmless)), ((1, 2, 2), None)];
        assert_eq!(ends_of_pairs(two.into_iter()).len(), 2);
    }
}
