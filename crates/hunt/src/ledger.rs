//! All targets of a hunt, all confirmed findings, and how evidence changes them.

use std::collections::{BTreeMap, BTreeSet};

use raddle_base::grouped::Grouped;
use raddle_finding::{Confidence, Finding, identity};
use serde::{Deserialize, Serialize};

use crate::plan;
use crate::target::{Argument, Detector, Goal, Target, comes_of, lasting_id, same_cause};

/// The verdict on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Neither shown nor ruled out.
    Open {
        /// What was done to settle it, in sentences.
        tried: Vec<String>,
    },
    /// Ruled out.
    Refuted {
        /// What rules it out, in a sentence.
        by: String,
    },
    /// Shown twice.
    Confirmed {
        /// The id of the confirmed finding with the same cause.
        finding: String,
    },
}

/// A finding that was shown twice, and every detector that suspected it or saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmed {
    pub finding: Finding,
    pub by: BTreeSet<Detector>,
}

/// What a search of the program's schedules has covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    pub schedules: u64,
    /// Every schedule of the program was executed, up to equivalence.
    pub is_whole: bool,
    /// Each execution was watched for data races.
    pub watches_races: bool,
    /// Executions came to both ends of each race that ordinary runs suspect, on that variable.
    pub reaches_races: bool,
    /// Executions came to each place at which ordinary runs request a lock of a cycle, for that
    /// lock.
    pub reaches_locks: bool,
}

impl Space {
    /// Whether this search would have recognised an execution that shows such a thing.
    fn judges(&self, goal: Goal) -> bool {
        match goal {
            Goal::Race => self.watches_races,
            Goal::Deadlock | Goal::Lifetime | Goal::Failure | Goal::Progress => true,
            Goal::Misuse | Goal::Value | Goal::Rule => false,
        }
    }

    /// Whether it came to the places of all such suspicions of ordinary runs.
    fn reaches(&self, goal: Goal) -> bool {
        match goal {
            Goal::Race => self.reaches_races,
            Goal::Deadlock => self.reaches_locks,
            _ => true,
        }
    }

    fn refutes(&self, goal: Goal) -> bool {
        self.is_whole && self.judges(goal) && self.reaches(goal)
    }

    /// What a whole space says about a suspicion that is not [reached](Target::is_reached).
    fn does_not_reach(&self) -> String {
        format!(
            "all {} schedules that the program has with these arguments, but nothing shows that they come to these \
             places",
            Grouped(self.schedules)
        )
    }

    /// What a whole space says about something that [was seen](Target::was_seen).
    fn does_not_show(&self) -> String {
        format!(
            "all {} schedules that the program has with these arguments: none shows it, but a run has seen it, so \
             they do not come to it",
            Grouped(self.schedules)
        )
    }

    fn sentence(&self, goal: Goal) -> String {
        let what = match goal {
            Goal::Race => "the accesses are ordered",
            Goal::Deadlock => "the locks are never waited for in a circle",
            Goal::Lifetime => "the memory is alive when it is used",
            Goal::Progress => "every thread gets on",
            _ => "it does not happen",
        };
        match self.schedules {
            1 => format!("the program has one schedule under sequential consistency, and {what} in it"),
            n => format!(
                "in each of the {} schedules that the program has under sequential consistency, {what}",
                Grouped(n)
            ),
        }
    }
}

/// The number of targets per verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub confirmed: usize,
    pub refuted: usize,
    /// Neither confirmed nor refuted, but something speaks against each of them
    /// ([`Argument::Explains`]).
    pub explained: usize,
    pub open: usize,
}

impl Counts {
    pub fn all(&self) -> usize {
        self.confirmed + self.refuted + self.explained + self.open
    }

    pub fn add(&mut self, target: &Target) {
        match target.verdict {
            Verdict::Confirmed { .. } => self.confirmed += 1,
            Verdict::Refuted { .. } => self.refuted += 1,
            Verdict::Open { .. } if target.explanation().is_some() => self.explained += 1,
            Verdict::Open { .. } => self.open += 1,
        }
    }
}

/// Everything that is known.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    targets: Vec<Target>,
    confirmed: Vec<Confirmed>,
    /// In which ordinary runs each finding was seen, by id.
    witnessed: BTreeMap<String, BTreeSet<u32>>,
    /// The search that covers everything, once there is one.
    whole: Option<Space>,
}

impl Ledger {
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    pub fn confirmed(&self) -> &[Confirmed] {
        &self.confirmed
    }

    /// A detector suspects something. A suspicion with the same cause as an earlier one joins it.
    pub fn suspect(&mut self, by: Detector, finding: Finding) {
        self.raise(by, finding, None);
    }

    /// A detector suspects something and says itself what speaks against it.
    pub fn suspect_but(&mut self, by: Detector, finding: Finding, argument: Argument) {
        self.raise(by, finding, Some(argument));
    }

    fn raise(&mut self, by: Detector, finding: Finding, argument: Option<Argument>) {
        if let Some(known) = self.targets.iter_mut().find(|t| same_cause(&t.finding, &finding)) {
            known.join(by, &finding, argument);
        } else {
            self.targets.push(Target::argued(by, finding, argument));
        }
        self.judge();
    }

    /// An execution showed it, and another one showed it again. Returns true if nothing with the
    /// same cause was confirmed before, or nothing that can be replayed.
    pub fn confirm(&mut self, by: Detector, mut finding: Finding) -> bool {
        finding.id = lasting_id(&finding);
        finding.confidence = Confidence::Confirmed;
        let is_news = match self.confirmed.iter_mut().find(|c| same_cause(&c.finding, &finding)) {
            Some(known) => {
                known.by.insert(by);
                // A finding that can be replayed is worth more than one that was only seen. It is
                // known by its id already.
                let is_better = known.finding.schedule.is_none() && finding.schedule.is_some();
                if is_better {
                    finding.id = std::mem::take(&mut known.finding.id);
                    known.finding = finding;
                }
                is_better
            }
            None => {
                self.confirmed.push(Confirmed { finding, by: BTreeSet::from([by]) });
                true
            }
        };
        self.judge();
        is_news
    }

    /// An ordinary run, number `process`, has seen it happen. Two runs confirm it; one alone makes
    /// a suspicion.
    pub fn witness(&mut self, by: Detector, finding: Finding, process: u32) -> bool {
        let seen = self.witnessed.entry(identity::id(&finding)).or_default();
        seen.insert(process);
        if seen.len() > 1 {
            return self.confirm(by, finding);
        }
        self.suspect(by, finding);
        false
    }

    /// Whether something is open that one run under this detector has seen for certain, so that a
    /// second run may confirm it.
    pub fn has_single_witness(&self, by: Detector) -> bool {
        let is_single = |t: &Target| self.witnessed.get(&t.finding.id).is_some_and(|seen| seen.len() == 1);
        let is_open = |t: &Target| matches!(t.verdict, Verdict::Open { .. }) && t.by.contains(&by);
        self.targets.iter().any(|t| is_open(t) && is_single(t))
    }

    /// What ordinary runs have raised and a search of all schedules may refute.
    pub fn raised_by_runs(&self) -> Vec<&Finding> {
        let is_refutable = |t: &&Target| {
            t.by.contains(&Detector::Run)
                && matches!(t.verdict, Verdict::Open { .. })
                && matches!(t.goal(), Goal::Race | Goal::Deadlock | Goal::Lifetime)
        };
        self.targets.iter().filter(is_refutable).map(|t| &t.finding).collect()
    }

    /// Ordinary runs after the search have not raised these again.
    pub fn has_gone(&mut self, gone: &[Finding]) {
        for target in &mut self.targets {
            target.is_gone |= gone.iter().any(|f| same_cause(f, &target.finding));
        }
        self.judge();
    }

    /// A search has ended.
    pub fn searched(&mut self, space: &Space) {
        if space.is_whole {
            self.whole = Some(space.clone());
        }
        self.judge();
    }

    /// Something was done to settle the open targets for which `applies` is true.
    pub fn tried(&mut self, what: &str, applies: &dyn Fn(&Target) -> bool) {
        for target in &mut self.targets {
            if !applies(target) {
                continue;
            }
            if let Verdict::Open { tried } = &mut target.verdict
                && !tried.iter().any(|t| t == what)
            {
                tried.push(what.to_owned());
            }
        }
    }

    /// Takes over the verdicts of an earlier hunt of the same build. Confirmed findings are hunted
    /// again.
    pub fn recall(&mut self, targets: Vec<Target>) {
        for old in targets.into_iter().filter(|t| matches!(t.verdict, Verdict::Refuted { .. })) {
            match self.targets.iter_mut().find(|t| same_cause(&t.finding, &old.finding)) {
                Some(known) => known.recall(old),
                None => self.targets.push(old),
            }
        }
        self.judge();
    }

    /// Targets that are neither confirmed nor refuted, most urgent first. Those against which
    /// something speaks come last.
    pub fn queue(&self) -> Vec<&Target> {
        let mut open: Vec<&Target> =
            self.targets.iter().filter(|t| matches!(t.verdict, Verdict::Open { .. })).collect();
        let urgency = |t: &&Target| {
            (t.explanation().is_some(), std::cmp::Reverse(plan::worth(t)), t.finding.id.clone())
        };
        open.sort_by_key(urgency);
        open
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.targets.iter().for_each(|t| counts.add(t));
        counts
    }

    /// The detectors behind a confirmed finding: those that saw it, and those that suspected its
    /// cause.
    pub fn detectors(&self, confirmed: &Confirmed) -> BTreeSet<Detector> {
        let suspected = self.targets.iter().filter(|t| same_cause(&t.finding, &confirmed.finding));
        suspected.flat_map(|t| t.by.iter().copied()).chain(confirmed.by.iter().copied()).collect()
    }

    /// Suspected consequences of a confirmed race. They stay open: a fix that orders the two
    /// accesses may still order them wrongly.
    pub fn consequences(&self, of: &Confirmed) -> Vec<&Target> {
        let is_open = |t: &&Target| matches!(t.verdict, Verdict::Open { .. }) && t.argument.is_none();
        self.targets.iter().filter(is_open).filter(|t| comes_of(&t.finding, &of.finding)).collect()
    }

    /// Updates all verdicts with the evidence so far.
    fn judge(&mut self) {
        for target in &mut self.targets {
            let shown = self.confirmed.iter().find(|c| same_cause(&c.finding, &target.finding));
            // A search that saw it but could not repeat it has not shown that it does not happen,
            // and neither has one that did not see what a run has seen.
            let was_seen = target.was_seen();
            let is_ruled_out = matches!(target.argument, Some(Argument::Refutes(_)));
            let is_outdated = self.whole.as_ref().is_some_and(|w| !w.refutes(target.goal())) && !is_ruled_out;
            let is_reached = target.is_reached();
            if matches!(target.verdict, Verdict::Refuted { .. }) && (!is_reached || was_seen || is_outdated) {
                // The source or a run has brought up other places since, or it was seen.
                target.verdict = Verdict::Open { tried: Vec::new() };
            }
            let judge = self.whole.as_ref().filter(|w| w.is_whole && w.judges(target.goal()));
            let judge = judge.filter(|_| !target.by.contains(&Detector::Explore));
            let is_reached = is_reached && judge.is_some_and(|w| w.reaches(target.goal()));
            if let Some(shown) = shown {
                target.verdict = Verdict::Confirmed { finding: shown.finding.id.clone() };
            } else if let (Verdict::Open { tried }, Some(whole)) = (&mut target.verdict, judge) {
                let why = if was_seen { whole.does_not_show() } else { whole.does_not_reach() };
                match is_reached && !was_seen {
                    true => target.verdict = Verdict::Refuted { by: whole.sentence(target.goal()) },
                    false if tried.contains(&why) => {}
                    false => tried.push(why),
                }
            } else if let (Verdict::Open { .. }, Some(Argument::Refutes(why))) =
                (&target.verdict, &target.argument)
                && !was_seen
            {
                target.verdict = Verdict::Refuted { by: why.clone() };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::{cycle, failure, race};
    use proptest::prelude::*;
    use raddle_finding::Kind;

    const WHOLE: Space = Space {
        schedules: 12,
        is_whole: true,
        watches_races: true,
        reaches_races: true,
        reaches_locks: true,
    };

    fn x() -> Finding {
        race(Some("x"), [("f", 1), ("g", 2)])
    }

    #[test]
    fn suspicions_of_one_cause_are_one_target() {
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Run, x());
        ledger.suspect(Detector::Check, race(Some("x"), [("g", 7), ("h", 2)]));
        ledger.suspect(Detector::Conseq, failure(Kind::Assertion, 9));
        assert_eq!(ledger.targets().len(), 2);
        assert_eq!(ledger.targets()[0].by, BTreeSet::from([Detector::Run, Detector::Check]));
    }

    #[test]
    fn a_confirmed_finding_names_who_suspected_it() {
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Run, cycle(Kind::LockOrder, [Some("a"), Some("b")], [1, 2]));
        assert!(ledger.confirm(Detector::Explore, cycle(Kind::Deadlock, [Some("b"), Some("a")], [1, 2])));
        assert!(!ledger.confirm(Detector::Conseq, cycle(Kind::Deadlock, [Some("b"), Some("a")], [1, 2])));
        let names: Vec<_> =
            ledger.detectors(&ledger.confirmed()[0]).into_iter().map(Detector::name).collect();
        assert_eq!(names, ["run", "conseq", "explore"]);
        assert_eq!(ledger.counts(), Counts { confirmed: 1, ..Counts::default() });
    }

    #[test]
    fn a_finding_keeps_its_id_when_it_can_be_replayed_too() {
        let mut ledger = Ledger::default();
        let seen = race(Some("x"), [("f", 1), ("h", 2)]);
        assert!(ledger.confirm(Detector::Run, seen.clone()));
        assert!(!ledger.confirm(Detector::Run, x()), "nothing is new");
        let replayed = Finding { schedule: Some("x.raddle".into()), ..x() };
        assert!(ledger.confirm(Detector::Explore, replayed.clone()));
        assert!(!ledger.confirm(Detector::Explore, replayed));
        let [known] = ledger.confirmed() else { panic!("one cause") };
        assert_eq!((known.finding.id.clone(), known.finding.schedule.is_some()), (identity::id(&seen), true));
        assert_ne!(identity::id(&x()), identity::id(&seen));
    }

    #[test]
    fn what_would_come_of_a_confirmed_race_stays_open_and_is_told_with_it() {
        let mut output = failure(Kind::Output, 9);
        output.accesses.extend(x().accesses.into_iter().rev());
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Run, x());
        ledger.suspect(Detector::Conseq, output.clone());
        ledger.confirm(Detector::Explore, x());
        assert_eq!(ledger.counts(), Counts { confirmed: 1, open: 1, ..Counts::default() });
        let race = ledger.confirmed()[0].clone();
        assert_eq!(ledger.consequences(&race)[0].finding.message, output.message);
        // What was itself seen is a separate finding.
        ledger.confirm(Detector::Conseq, output);
        assert_eq!(ledger.confirmed().len(), 2);
        assert!(ledger.consequences(&race).is_empty());
    }

    #[test]
    fn what_a_search_has_seen_is_not_refuted_by_it() {
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Explore, failure(Kind::Assertion, 9));
        ledger.suspect(Detector::Conseq, failure(Kind::Assertion, 11));
        ledger.searched(&WHOLE);
        assert_eq!(ledger.counts(), Counts { refuted: 1, open: 1, ..Counts::default() });
    }

    #[test]
    fn one_process_is_not_enough() {
        let mut ledger = Ledger::default();
        assert!(!ledger.witness(Detector::Run, x(), 0));
        assert!(!ledger.witness(Detector::Run, x(), 0));
        assert!(ledger.confirmed().is_empty() && ledger.has_single_witness(Detector::Run));
        assert!(ledger.witness(Detector::Run, x(), 1));
        assert_eq!(ledger.confirmed()[0].finding.confidence, Confidence::Confirmed);
        assert!(!ledger.has_single_witness(Detector::Run));
        let mut suspected = Ledger::default();
        suspected.suspect(Detector::Run, x());
        assert!(!suspected.has_single_witness(Detector::Run), "a suspicion was seen by nobody");
        let mut called = Ledger::default();
        called.witness(Detector::Tsvd, x(), 0);
        assert!(called.has_single_witness(Detector::Tsvd));
        assert!(!called.has_single_witness(Detector::Run), "a run under another detector cannot see it");
    }

    #[test]
    fn a_whole_space_refutes_what_it_was_watched_for() {
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Run, x());
        ledger.suspect(Detector::Conseq, failure(Kind::Output, 3));
        ledger.searched(&Space { is_whole: false, ..WHOLE });
        ledger.searched(&Space { watches_races: false, ..WHOLE });
        assert_eq!(ledger.counts().open, 2);
        ledger.searched(&WHOLE);
        let Verdict::Refuted { by } = &ledger.targets()[0].verdict else { panic!("not refuted") };
        assert!(by.starts_with("in each of the 12 schedules"), "{by}");
        assert_eq!(ledger.counts(), Counts { refuted: 1, open: 1, ..Counts::default() });
    }

    #[test]
    fn a_whole_space_does_not_refute_what_a_run_has_seen() {
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Run, x());
        ledger.searched(&WHOLE);
        assert_eq!(ledger.counts(), Counts { refuted: 1, ..Counts::default() });
        let seen = Finding { confidence: Confidence::Confirmed, ..x() };
        assert!(!ledger.witness(Detector::Run, seen.clone(), 1));
        let Verdict::Open { tried } = &ledger.targets()[0].verdict else { panic!("not open") };
        assert!(tried[0].contains("a run has seen it"), "{tried:?}");
        assert!(ledger.has_single_witness(Detector::Run));
        assert!(ledger.witness(Detector::Run, seen, 2));
        assert_eq!(ledger.counts(), Counts { confirmed: 1, ..Counts::default() });
    }

    #[test]
    fn a_whole_space_does_not_refute_what_it_has_not_come_to() {
        let cycle = cycle(Kind::LockOrder, [Some("a"), Some("b")], [1, 2]);
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Run, x());
        ledger.suspect(Detector::Run, cycle);
        ledger.searched(&Space { reaches_races: false, ..WHOLE });
        assert_eq!(ledger.counts(), Counts { refuted: 1, open: 1, ..Counts::default() });
        let Verdict::Open { tried } = &ledger.targets()[0].verdict else { panic!("not open") };
        assert!(tried[0].ends_with("nothing shows that they come to these places"), "{tried:?}");
        // A later run raises a cycle at places that the search has not come to.
        ledger.searched(&Space { reaches_locks: false, ..WHOLE });
        assert!(matches!(ledger.targets()[1].verdict, Verdict::Open { .. }));
    }

    #[test]
    fn a_whole_space_does_not_refute_a_race_on_an_object_that_it_cannot_recognise() {
        let mut ledger = Ledger::default();
        ledger.searched(&WHOLE);
        ledger.suspect(Detector::Run, race(None, [("f", 1), ("g", 2)]));
        assert_eq!(ledger.counts(), Counts { open: 1, ..Counts::default() });
        // One race of several at the same lines.
        let mut both = Ledger::default();
        both.searched(&WHOLE);
        both.suspect(Detector::Run, Finding { also: vec![race(None, [("f", 1), ("g", 2)])], ..x() });
        assert_eq!(both.counts(), Counts { open: 1, ..Counts::default() });
    }

    #[test]
    fn a_whole_space_does_not_refute_what_only_the_source_shows() {
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Check, x());
        ledger.searched(&WHOLE);
        ledger.searched(&WHOLE);
        let Verdict::Open { tried } = &ledger.targets()[0].verdict else { panic!("not open") };
        assert!(tried[0].ends_with("nothing shows that they come to these places"), "{tried:?}");
        assert_eq!(tried.len(), 1);
        // A run comes to one of the two places only.
        ledger.suspect(Detector::Run, race(Some("x"), [("f", 1), ("g", 7)]));
        assert_eq!(ledger.counts(), Counts { open: 1, ..Counts::default() });
        ledger.suspect(Detector::Run, x());
        assert_eq!(ledger.counts(), Counts { refuted: 1, ..Counts::default() });
        // The source has another place to show, too.
        let mut other = Ledger::default();
        other.searched(&WHOLE);
        other.suspect(Detector::Run, x());
        assert_eq!(other.counts().refuted, 1);
        other.suspect(Detector::Check, race(Some("x"), [("f", 1), ("h", 9)]));
        assert_eq!(other.counts(), Counts { open: 1, ..Counts::default() });
    }

    #[test]
    fn a_whole_space_does_not_refute_what_runs_no_longer_raise() {
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Run, x());
        ledger.suspect(Detector::Conseq, failure(Kind::Assertion, 9));
        assert_eq!(ledger.raised_by_runs(), [&Finding { id: identity::id(&x()), ..x() }]);
        ledger.has_gone(&[x()]);
        ledger.searched(&WHOLE);
        assert_eq!(ledger.counts(), Counts { refuted: 1, open: 1, ..Counts::default() });
        // A run raises it after all.
        ledger.suspect(Detector::Run, x());
        assert_eq!(ledger.counts(), Counts { refuted: 2, ..Counts::default() });
    }

    #[test]
    fn what_was_tried_is_noted_once_and_only_where_it_applies() {
        let mut ledger = Ledger::default();
        ledger.suspect(Detector::Run, x());
        ledger.suspect(Detector::Conseq, failure(Kind::Output, 3));
        ledger.tried("one", &|t| t.goal() == Goal::Race);
        ledger.tried("one", &|_| true);
        let tried = |t: &Target| match &t.verdict {
            Verdict::Open { tried } => tried.clone(),
            _ => vec![],
        };
        assert_eq!(tried(&ledger.targets()[0]), ["one"]);
        assert_eq!(tried(&ledger.targets()[1]), ["one"]);
    }

    #[test]
    fn refutations_are_recalled_and_confirmations_are_not() {
        let mut first = Ledger::default();
        first.suspect(Detector::Run, x());
        first.searched(&WHOLE);
        let mut second = Ledger::default();
        second.recall(first.targets().to_vec());
        assert_eq!(second.counts().refuted, 1);
        first.confirm(Detector::Explore, x());
        let mut third = Ledger::default();
        third.recall(first.targets().to_vec());
        assert_eq!(third.counts().all(), 0);
    }

    #[test]
    fn an_argument_settles_only_the_suspicion_that_it_is_about() {
        let (refutes, explains) = (|| Argument::Refutes("r".into()), || Argument::Explains("e".into()));
        let of = |arguments: &[Option<Argument>]| {
            let mut ledger = Ledger::default();
            for argument in arguments {
                ledger.raise(Detector::Conseq, failure(Kind::Output, 3), argument.clone());
            }
            ledger.counts()
        };
        assert_eq!(of(&[Some(refutes())]), Counts { refuted: 1, ..Counts::default() });
        assert_eq!(of(&[Some(explains())]), Counts { explained: 1, ..Counts::default() });
        let open = Counts { open: 1, ..Counts::default() };
        for argument in [refutes(), explains()] {
            assert_eq!(of(&[Some(argument.clone()), None]), open, "another one joins it");
            assert_eq!(of(&[None, Some(argument)]), open);
        }
        let explained = Counts { explained: 1, ..Counts::default() };
        assert_eq!(of(&[Some(refutes()), Some(explains())]), explained);
        assert_eq!(of(&[Some(explains()), Some(refutes())]), explained);
    }

    #[test]
    fn what_was_seen_outweighs_an_argument() {
        let mut ledger = Ledger::default();
        ledger.suspect_but(Detector::Conseq, x(), Argument::Refutes("never".into()));
        assert_eq!(ledger.counts().refuted, 1);
        ledger.confirm(Detector::Explore, x());
        assert_eq!(ledger.counts(), Counts { confirmed: 1, ..Counts::default() });
        let mut seen = Ledger::default();
        seen.suspect_but(Detector::Explore, x(), Argument::Refutes("never".into()));
        assert_eq!(seen.counts(), Counts { explained: 1, ..Counts::default() });
    }

    #[test]
    fn explained_suspicions_are_settled_after_the_others() {
        let mut ledger = Ledger::default();
        ledger.suspect_but(Detector::Run, x(), Argument::Explains("ordered".into()));
        ledger.suspect(Detector::Conseq, failure(Kind::Output, 3));
        let kinds: Vec<Kind> = ledger.queue().iter().map(|t| t.finding.kind).collect();
        assert_eq!(kinds, [Kind::Output, Kind::DataRace]);
    }

    #[test]
    fn a_recalled_refutation_by_an_argument_is_reopened_by_another_suspicion() {
        let mut first = Ledger::default();
        first.suspect_but(Detector::Conseq, failure(Kind::Output, 3), Argument::Refutes("r".into()));
        let mut second = Ledger::default();
        second.recall(first.targets().to_vec());
        assert_eq!(second.counts().refuted, 1);
        second.suspect(Detector::Check, failure(Kind::Output, 3));
        assert_eq!(second.counts(), Counts { open: 1, ..Counts::default() });
    }

    #[derive(Clone, Debug)]
    enum Evidence {
        Suspect(usize),
        Argue(usize, bool),
        Confirm(usize),
        Witness(usize, u32),
        Searched(bool, bool),
    }

    fn causes() -> Vec<Finding> {
        vec![
            x(),
            race(Some("y"), [("f", 1), ("g", 2)]),
            cycle(Kind::LockOrder, [Some("a"), Some("b")], [1, 2]),
            failure(Kind::Assertion, 9),
            failure(Kind::Output, 9),
        ]
    }

    fn evidence() -> impl Strategy<Value = Evidence> {
        prop_oneof![
            (0usize..5).prop_map(Evidence::Suspect),
            (0usize..5, any::<bool>()).prop_map(|(i, refutes)| Evidence::Argue(i, refutes)),
            (0usize..5).prop_map(Evidence::Confirm),
            (0usize..5, 0u32..3).prop_map(|(i, p)| Evidence::Witness(i, p)),
            (any::<bool>(), any::<bool>()).prop_map(|(w, r)| Evidence::Searched(w, r)),
        ]
    }

    fn take_in(ledger: &mut Ledger, evidence: &Evidence) {
        let causes = causes();
        match evidence {
            Evidence::Suspect(i) => ledger.suspect(Detector::Run, causes[*i].clone()),
            Evidence::Argue(i, true) => {
                ledger.suspect_but(Detector::Conseq, causes[*i].clone(), Argument::Refutes("r".into()));
            }
            Evidence::Argue(i, false) => {
                ledger.suspect_but(Detector::Conseq, causes[*i].clone(), Argument::Explains("e".into()));
            }
            Evidence::Confirm(i) => drop(ledger.confirm(Detector::Explore, causes[*i].clone())),
            Evidence::Witness(i, p) => drop(ledger.witness(Detector::Tsvd, causes[*i].clone(), *p)),
            Evidence::Searched(whole, races) => {
                ledger.searched(&Space { schedules: 5, is_whole: *whole, watches_races: *races, ..WHOLE });
            }
        }
    }

    /// The verdict on each target, by id and without its words.
    fn verdicts(ledger: &Ledger) -> BTreeMap<String, u8> {
        let number = |t: &Target| match t.verdict {
            Verdict::Open { .. } if t.explanation().is_some() => 3,
            Verdict::Open { .. } => 0,
            Verdict::Refuted { .. } => 1,
            Verdict::Confirmed { .. } => 2,
        };
        ledger.targets().iter().map(|t| (t.finding.id.clone(), number(t))).collect()
    }

    proptest! {
        // The crate also allows searches that watch for different things. Here there is only one
        // search, since a later whole space replaces the one before.
        #[test]
        fn the_order_of_evidence_changes_no_verdict(
            mut all in proptest::collection::vec(evidence(), 0..12), seed in any::<u64>(), races in any::<bool>()
        ) {
            all.retain(|e| !matches!(e, Evidence::Searched(true, r) if *r != races));
            let mut forwards = Ledger::default();
            all.iter().for_each(|e| take_in(&mut forwards, e));
            let mut shuffled = all.clone();
            let n = shuffled.len();
            for i in 0..n {
                shuffled.swap(i, (seed as usize).wrapping_mul(i + 31) % n.max(1));
            }
            let mut other = Ledger::default();
            shuffled.iter().for_each(|e| take_in(&mut other, e));
            // A witness makes no target once its cause is confirmed. Targets that exist in both
            // have one verdict.
            let (a, b) = (verdicts(&forwards), verdicts(&other));
            for (id, verdict) in &a {
                if let Some(v) = b.get(id) {
                    prop_assert_eq!(v, verdict);
                }
            }
            let ids = |l: &Ledger| l.confirmed().iter().map(|c| c.finding.id.clone()).collect::<BTreeSet<_>>();
            prop_assert_eq!(ids(&forwards), ids(&other));
        }

        #[test]
        fn what_is_confirmed_was_shown_twice_and_stays_confirmed(
            all in proptest::collection::vec(evidence(), 0..16)
        ) {
            let mut ledger = Ledger::default();
            let mut confirmed = 0;
            for e in &all {
                take_in(&mut ledger, e);
                prop_assert!(ledger.confirmed().len() >= confirmed);
                confirmed = ledger.confirmed().len();
            }
            for (i, cause) in causes().iter().enumerate() {
                let is = ledger.confirmed().iter().any(|c| c.finding.id == identity::id(cause));
                let shown = all.iter().any(|e| matches!(e, Evidence::Confirm(j) if *j == i));
                let runs: BTreeSet<u32> = all.iter().filter_map(|e| match e {
                    Evidence::Witness(j, p) if *j == i => Some(*p),
                    _ => None,
                }).collect();
                prop_assert_eq!(is, shown || runs.len() > 1);
            }
            let counts = ledger.counts();
            prop_assert_eq!(counts.all(), ledger.targets().len());
            prop_assert_eq!(ledger.queue().len(), counts.open + counts.explained);
        }
    }
}
