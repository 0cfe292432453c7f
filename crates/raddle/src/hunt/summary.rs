//! The results of a hunt, over all its tests.
//!
//! A suspicion that several tests raise about one cause is one suspicion: a race in a library is
//! one, whichever tests reach it. It is confirmed if one of them confirms it. It is refuted only if
//! each of them refutes it, since a refutation is about one command.

use std::time::Duration;

use anyhow::Result;
use raddle_finding::place::place;
use raddle_finding::subject::{self, UserCommand};
use raddle_finding::{Access, Finding, Frame, Report, Stat, identity};
use raddle_hunt::target::same_cause;
use raddle_hunt::{Argument, Counts, Target, Verdict};
use raddle_store::Standing;

use super::args::Args;
use super::journal::Journal;
use super::prey::{CommandOutcome, Prey};
use super::{name, report};
use raddle_harness::say::count;

/// The results of everything that was hunted.
#[derive(Default)]
pub struct Summary {
    /// What was confirmed anywhere, one entry per cause.
    findings: Vec<Finding>,
    suspicions: Vec<Suspicion>,
    pub coverage: Vec<String>,
    /// Sentences, each with the tests to which it applies.
    said: Vec<(String, Vec<String>)>,
    schedules: u64,
    /// The number of tests that were run at least once.
    hunted: u64,
    /// Those of them for which there was time for one run only.
    looked_only: u64,
    exhausted: u64,
    without_threads: Vec<String>,
    hung: Vec<String>,
    /// Why tests could not be hunted.
    pub failed: Vec<String>,
    pub not_reached: u64,
    /// The number of commands all of whose programs were hunted by themselves.
    pub not_needed: usize,
}

/// What one or several tests suspect of one cause.
struct Suspicion {
    target: Target,
    tests: Vec<String>,
    /// The program of the first of these tests, without arguments.
    program: Option<String>,
}

impl Suspicion {
    /// Whether another test's suspicion is this one. Without a cause in common it is if the same
    /// program would fail at the same places. But then one can be real and the other not, so that
    /// neither is confirmed for the other.
    fn is(&self, other: &Target, program: Option<&String>) -> bool {
        let (a, b) = (&self.target, other);
        let is_confirmed = |t: &Target| matches!(t.verdict, Verdict::Confirmed { .. });
        let is_same_program = program.is_some() && self.program.as_ref() == program;
        is_one(&a.finding, &b.finding)
            || is_same_program
                && !is_confirmed(a)
                && !is_confirmed(b)
                && identity::id(&a.finding) == identity::id(&b.finding)
                && has_places_of(&a.finding, &b.finding)
    }
}

impl Summary {
    /// Whether everything so far was hunted to its end.
    pub fn has_hunted_each(&self) -> bool {
        self.hunted > 0
            && self.looked_only == 0
            && self.hung.is_empty()
            && self.failed.is_empty()
            && self.not_reached == 0
            && !raddle_harness::interrupt::came()
    }

    pub fn add(&mut self, prey: &Prey, outcome: CommandOutcome, command: &UserCommand) {
        self.hunted += 1;
        self.looked_only += u64::from(outcome.looked_only);
        self.exhausted += u64::from(outcome.exhausted);
        self.schedules += outcome.schedules;
        if outcome.alone {
            self.without_threads.push(name(prey));
        }
        if outcome.hung {
            self.hung.push(name(prey));
        }
        for confirmed in outcome.ledger.confirmed() {
            let mut finding = report::finding(confirmed, &outcome.ledger, command);
            // Another test may have shown the same cause.
            if !self.findings.iter().any(|f| same_cause(f, &finding) && subject::overlap(f, &finding)) {
                if let Some(name) = &prey.name {
                    finding.notes.insert(0, format!("in the test `{name}`"));
                }
                self.findings.push(finding);
            }
        }
        for sentence in outcome.coverage {
            match self.said.iter_mut().find(|(said, _)| *said == sentence) {
                Some((_, of)) => of.extend(prey.name.clone()),
                None => self.said.push((sentence, prey.name.iter().cloned().collect())),
            }
        }
        // What one test suspects was compared already.
        let (earlier, name) = (self.suspicions.len(), &prey.name);
        for target in outcome.ledger.targets() {
            let mut target = target.clone();
            target.finding.subject = Some(command.subject(&target.finding));
            self.suspect(earlier, target, name, command.words.first());
        }
    }

    /// Adds a suspicion of one more test to one of the `earlier` ones, or as a new one.
    fn suspect(
        &mut self,
        earlier: usize,
        mut target: Target,
        test: &Option<String>,
        program: Option<&String>,
    ) {
        match self.suspicions[..earlier].iter_mut().find(|s| s.is(&target, program)) {
            Some(known) => {
                known.tests.extend(test.clone());
                known.target.by.append(&mut target.by);
                known.target.argument = argument(&known.target).zip(argument(&target)).map(|(a, b)| a.and(b));
                known.target.verdict = both(&known.target.verdict, &target.verdict);
            }
            None => self.suspicions.push(Suspicion {
                target,
                tests: test.iter().cloned().collect(),
                program: program.cloned(),
            }),
        }
    }

    /// Takes over what was confirmed in one test for what others suspect of the same cause.
    fn settle_across_tests(&mut self) {
        for suspicion in &mut self.suspicions {
            let target = &mut suspicion.target;
            if let Some(shown) = self.findings.iter().find(|f| is_one(f, &target.finding)) {
                target.verdict = Verdict::Confirmed { finding: shown.id.clone() };
            }
        }
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.suspicions.iter().for_each(|s| counts.add(&s.target));
        counts
    }

    /// Fails if no test could be hunted.
    pub fn require_one(&self) -> Result<()> {
        let is_any = self.hunted > 0 || self.failed.is_empty();
        anyhow::ensure!(is_any, "nothing was hunted: {}", self.failed.join("; "));
        Ok(())
    }

    /// The exit status if nothing is confirmed. An interrupted hunt, or one in which nothing ended,
    /// has not shown that there is nothing to find.
    pub fn status_without_findings(&self) -> u8 {
        let nothing_ended = self.hung.len() as u64 == self.hunted;
        match raddle_harness::interrupt::came() || nothing_ended {
            true => crate::exit::FAILURE,
            false => crate::exit::CLEAN,
        }
    }

    pub fn report(mut self, args: &Args, preys: &[Prey], journal: &Journal, took: Duration) -> Report {
        self.settle_across_tests();
        let counts = self.counts();
        let words = if args.command.is_empty() { Vec::new() } else { args.command.clone() };
        let target = words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        let mut report = Report::new("hunt", target);
        let (mut accepted, mut regressions) = (0u64, 0u64);
        for mut finding in std::mem::take(&mut self.findings) {
            match journal.standing(&finding.key()) {
                Standing::Accepted => {
                    accepted += 1;
                    continue;
                }
                Standing::Regression => {
                    regressions += 1;
                    finding
                        .notes
                        .insert(0, "a regression: it was said to be fixed (`raddle show` says when)".into());
                }
                Standing::New | Standing::Known => {}
            }
            report.findings.push(finding);
        }
        if args.suspects {
            let unsettled =
                self.suspicions.iter().filter(|s| !matches!(s.target.verdict, Verdict::Confirmed { .. }));
            report.suspects = unsettled.map(|s| report::suspect(&s.target, &s.tests)).collect();
        }
        report::put_counts(&mut report, &counts);
        for (key, n) in [
            ("schedules", self.schedules),
            ("hunted", self.hunted),
            ("exhausted", self.exhausted),
            ("without_threads", self.without_threads.len() as u64),
            ("hung", self.hung.len() as u64),
            ("could_not", self.failed.len() as u64),
            ("looked_only", self.looked_only),
            ("not_reached", self.not_reached),
            ("accepted", accepted),
            ("regressions", regressions),
            ("seed", args.seed),
        ] {
            report.stats.insert(key.into(), Stat::from(n));
        }
        report.stats.insert("seconds".into(), Stat::Float(took.as_secs_f64()));
        report.stats.insert("interrupted".into(), Stat::Bool(raddle_harness::interrupt::came()));
        report.coverage = std::mem::take(&mut self.coverage);
        let told = |(sentence, of): &(String, Vec<String>)| match of[..] {
            [] => sentence.clone(),
            _ => format!("{}: {sentence}", report::names(of)),
        };
        report.coverage.extend(self.said.iter().map(told));
        report.coverage.extend(self.extent(preys.len()));
        report.coverage.extend(self.without_end());
        if raddle_harness::interrupt::came() {
            report.coverage.push("interrupted: what is said here is of what was done until then".into());
        }
        report.coverage.extend(self.failed.iter().map(|why| format!("not hunted: {why}")));
        if accepted > 0 {
            let what = count(accepted, "confirmed finding is", "confirmed findings are");
            report.coverage.push(format!("{what} left out, as `raddle triage` accepted them"));
        }
        let hint = match counts.open + counts.explained > 0 && !args.suspects {
            true => " (`--suspects` lists them)",
            false => "",
        };
        report.coverage.push(format!("{}{hint}", report::counts(&counts)));
        report
    }

    /// How much was executed. None if something else says so.
    fn extent(&self, preys: usize) -> Option<String> {
        if preys > 1 {
            let looked = match self.looked_only {
                0 => String::new(),
                n => format!("{n} run once and no more, "),
            };
            return Some(format!(
                "{}: {} hunted, {} with nothing to interleave, {looked}{} not reached in the time",
                count((preys - self.not_needed) as u64, "test", "tests"),
                self.hunted - self.without_threads.len() as u64 - self.looked_only,
                self.without_threads.len(),
                self.not_reached
            ));
        }
        if !self.without_threads.is_empty() || !self.hung.is_empty() {
            return None;
        }
        Some(if self.exhausted > 0 {
            format!(
                "all {} that the program has under sequential consistency were executed",
                count(self.schedules, "schedule", "schedules")
            )
        } else {
            format!("{} executed", count(self.schedules, "schedule was", "schedules were"))
        })
    }

    /// Says which tests did not end.
    fn without_end(&self) -> Option<String> {
        match &self.hung[..] {
            [] => None,
            [name] => Some(format!(
                "`{name}` came to its end in no run, so nothing is known of it: give it more time, or a command that \
                 ends by itself"
            )),
            names => Some(format!(
                "{} came to their end in no run, so nothing is known of them ({}): give them more time, or commands \
                 that end by themselves",
                count(names.len() as u64, "test", "tests"),
                report::names(names)
            )),
        }
    }
}

/// Whether findings of two tests have one cause. A race of which one end is not known may be
/// another.
fn is_one(a: &Finding, b: &Finding) -> bool {
    let is_known = |f: &Finding| f.accesses.iter().all(|access| !access.stack.is_empty());
    is_known(a) && is_known(b) && same_cause(a, b) && subject::overlap(a, b)
}

/// Whether all ends of two findings have the same stacks, in order. The place of a failure alone is
/// often a helper that all tests share.
fn has_places_of(a: &Finding, b: &Finding) -> bool {
    let lines = |f: &Finding| -> Vec<Vec<_>> {
        let owned = |f: &Frame| (f.function.clone(), f.file.clone(), f.line);
        f.accesses.iter().map(|access| access.stack.iter().map(owned).collect()).collect()
    };
    let is_known =
        |a: &Access| place(&a.stack).is_some_and(|frame| frame.file.is_some() && frame.line.is_some());
    !a.accesses.is_empty() && a.accesses.iter().all(is_known) && lines(a) == lines(b)
}

/// What speaks against a suspicion of one test. What rules it out there is an argument too, for a
/// cause that another test leaves open.
fn argument(target: &Target) -> Option<Argument> {
    match &target.verdict {
        Verdict::Refuted { by } => Some(Argument::Refutes(by.clone())),
        Verdict::Open { .. } | Verdict::Confirmed { .. } => target.argument.clone(),
    }
}

/// The verdict on what two tests suspect of one cause.
fn both(a: &Verdict, b: &Verdict) -> Verdict {
    match (a, b) {
        (Verdict::Confirmed { .. }, _) => a.clone(),
        (_, Verdict::Confirmed { .. }) => b.clone(),
        (Verdict::Open { tried }, Verdict::Open { tried: more }) => {
            let new = more.iter().filter(|t| !tried.contains(t));
            Verdict::Open { tried: tried.iter().chain(new).cloned().collect() }
        }
        (Verdict::Open { .. }, Verdict::Refuted { .. }) => a.clone(),
        (Verdict::Refuted { .. }, Verdict::Open { .. }) => b.clone(),
        (Verdict::Refuted { by }, Verdict::Refuted { by: also }) => {
            let by = if by.contains(also.as_str()) { by.clone() } else { format!("{by}; {also}") };
            Verdict::Refuted { by }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::{AccessOp, Confidence, Kind};
    use raddle_hunt::Detector;

    /// A failure in `must` at this line, called by `main` at that one.
    fn failure(subject: &str, [must, main]: [u32; 2]) -> Target {
        let frame = |function: &str, line: u32| Frame {
            function: Some(function.into()),
            file: Some("/src/a.c".into()),
            line: Some(line),
            ..Frame::default()
        };
        let access = Access {
            op: AccessOp::Call,
            size: 0,
            thread: "T0".into(),
            locks: vec![],
            lock: None,
            stack: vec![frame("must", must), frame("main", main)],
        };
        let mut finding = Finding::new(Kind::Assertion, Confidence::Suspected, "an assertion can fail");
        finding.accesses = vec![access];
        finding.subject = Some(subject.into());
        Target::new(Detector::Conseq, finding)
    }

    #[test]
    fn what_fails_with_the_same_stacks_of_one_program_is_one_suspicion() {
        let known =
            Suspicion { target: failure("p -x", [3, 9]), tests: vec!["x".into()], program: Some("p".into()) };
        let (p, q) = (String::from("p"), String::from("q"));
        assert!(known.is(&failure("p -y", [3, 9]), Some(&p)));
        assert!(!known.is(&failure("p -y", [4, 9]), Some(&p)), "another line");
        assert!(!known.is(&failure("p -y", [3, 8]), Some(&p)), "another caller");
        assert!(!known.is(&failure("q", [3, 9]), Some(&q)), "another program");
        assert!(!known.is(&failure("q", [3, 9]), None));
        let mut lost = failure("p -x", [3, 9]);
        lost.finding.accesses[0].stack.clear();
        let known = Suspicion { target: lost.clone(), tests: vec![], program: Some("p".into()) };
        assert!(!known.is(&lost, Some(&p)));
    }

    #[test]
    fn what_one_command_confirms_does_not_settle_the_open_suspicion_of_another() {
        let mut shown = failure("p -y", [3, 9]);
        shown.verdict = Verdict::Confirmed { finding: shown.finding.id.clone() };
        let p = String::from("p");
        for both in [[failure("p -x", [3, 9]), shown.clone()], [shown.clone(), failure("p -x", [3, 9])]] {
            let mut summary = Summary { findings: vec![shown.finding.clone()], ..Summary::default() };
            both.into_iter().enumerate().for_each(|(i, t)| summary.suspect(i, t, &None, Some(&p)));
            summary.settle_across_tests();
            let counts = summary.counts();
            assert_eq!((counts.confirmed, counts.open), (1, 1));
        }
    }

    #[test]
    fn one_test_confirms_for_all_and_refutes_for_itself() {
        let open = |what: &str| Verdict::Open { tried: vec![what.into()] };
        let refuted = || Verdict::Refuted { by: "all schedules".into() };
        let confirmed = || Verdict::Confirmed { finding: "x".into() };
        assert_eq!(both(&open("a"), &confirmed()), confirmed());
        assert_eq!(both(&confirmed(), &refuted()), confirmed());
        assert_eq!(both(&refuted(), &open("a")), open("a"));
        assert_eq!(both(&open("a"), &refuted()), open("a"));
        assert_eq!(both(&refuted(), &refuted()), refuted());
        assert_eq!(both(&open("a"), &open("b")), Verdict::Open { tried: vec!["a".into(), "b".into()] });
        assert_eq!(both(&open("a"), &open("a")), open("a"));
    }
}
