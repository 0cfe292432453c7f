//! The report of a hunt: confirmed findings with their explanation; suspicions as counts, and in
//! full on request.

use raddle_finding::subject::UserCommand;
use raddle_finding::{Confidence, Finding, Report, Settlement, Stat};
use raddle_hunt::{Confirmed, Counts, Detector, Ledger, Target, Verdict, explain};

use raddle_harness::say::count;

/// A confirmed finding for the report, with its explanation and detectors.
pub fn finding(confirmed: &Confirmed, ledger: &Ledger, command: &UserCommand) -> Finding {
    let mut finding = confirmed.finding.clone();
    finding.subject = Some(command.subject(&finding));
    let mut causes = ledger.confirmed().iter();
    let consequence = causes.find_map(|c| explain::explain_consequence(&finding, &c.finding));
    finding.explanation = Some(consequence.unwrap_or_else(|| explain::explain(&finding)));
    explain::only_the_race(&mut finding);
    finding.detectors = ledger.detectors(confirmed).into_iter().map(|d| d.name().to_owned()).collect();
    finding.notes.push(by_whom(&ledger.detectors(confirmed).into_iter().collect::<Vec<_>>(), confirmed));
    for target in ledger.consequences(confirmed) {
        let what = &target.finding.message;
        finding.notes.push(format!("`conseq` suspects that this comes of it, which was not seen: {what}"));
    }
    if finding.schedule.is_none() {
        finding.notes.push("seen in two ordinary runs; there is no schedule to replay".into());
    }
    finding
}

/// ``suspected by `run` and `conseq`, confirmed by `explore` ``
fn by_whom(all: &[Detector], confirmed: &Confirmed) -> String {
    let names = |of: Vec<Detector>| {
        let names: Vec<String> = of.into_iter().map(|d| format!("`{}`", d.name())).collect();
        names.join(" and ")
    };
    let saw = names(confirmed.by.iter().copied().collect());
    let suspected: Vec<Detector> = all.iter().copied().filter(|d| !confirmed.by.contains(d)).collect();
    match suspected.is_empty() {
        true => format!("confirmed by {saw}"),
        false => format!("suspected by {}, confirmed by {saw}", names(suspected)),
    }
}

/// `3 suspicions: 1 confirmed, 2 refuted, 0 open`; those that are explained are named if there are
/// any.
pub fn counts(counts: &Counts) -> String {
    let explained = match counts.explained {
        0 => String::new(),
        n => format!("{n} explained, "),
    };
    format!(
        "{}: {} confirmed, {} refuted, {explained}{} open",
        count(counts.all() as u64, "suspicion", "suspicions"),
        counts.confirmed,
        counts.refuted,
        counts.open
    )
}

/// The names of tests; only the first few if there are many.
pub fn names(of: &[String]) -> String {
    const MOST: usize = 8;
    let more = match of.len().saturating_sub(MOST) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let first: Vec<String> = of.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    format!("{}{more}", first.join(", "))
}

/// An unconfirmed suspicion, with what rules it out or what was tried, and the tests that raise it.
pub fn suspect(target: &Target, tests: &[String]) -> Finding {
    let mut finding = target.finding.clone();
    finding.confidence = Confidence::Suspected;
    finding.detectors = target.by.iter().map(|d| d.name().to_owned()).collect();
    let by: Vec<String> = finding.detectors.iter().map(|d| format!("`{d}`")).collect();
    let of = match tests.is_empty() {
        true => String::new(),
        false => format!(" in {}", names(tests)),
    };
    finding.notes = vec![format!("suspected by {}{of}", by.join(" and "))];
    finding.verdict = Some(match &target.verdict {
        Verdict::Refuted { .. } => Settlement::Refuted,
        Verdict::Open { .. } => Settlement::Open,
        Verdict::Confirmed { .. } => Settlement::Confirmed,
    });
    match &target.verdict {
        Verdict::Refuted { by } => finding.notes.push(format!("refuted: {by}")),
        Verdict::Open { tried } if target.explanation().is_some() => {
            finding.notes.push(format!("open, explained: {}", target.explanation().unwrap_or_default()));
            finding.notes.extend((!tried.is_empty()).then(|| format!("tried: {}", tried.join("; "))));
        }
        Verdict::Open { tried } if tried.is_empty() => finding.notes.push("open: nothing was tried".into()),
        Verdict::Open { tried } => finding.notes.push(format!("open; tried: {}", tried.join("; "))),
        Verdict::Confirmed { finding: id } => finding.notes.push(format!("confirmed: {id}")),
    }
    finding
}

/// Adds `more` to `sum`.
pub fn add(sum: &mut Counts, more: Counts) {
    sum.confirmed += more.confirmed;
    sum.refuted += more.refuted;
    sum.explained += more.explained;
    sum.open += more.open;
}

pub fn put_counts(report: &mut Report, counts: &Counts) {
    for (key, n) in [
        ("suspicions", counts.all()),
        ("suspicions_confirmed", counts.confirmed),
        ("suspicions_refuted", counts.refuted),
        ("suspicions_explained", counts.explained),
        ("suspicions_open", counts.open),
    ] {
        report.stats.insert(key.into(), Stat::from(n as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::Kind;
    use raddle_hunt::Argument;

    #[test]
    fn a_finding_names_who_suspected_it_and_who_saw_it() {
        let mut ledger = Ledger::default();
        let found = || Finding::new(Kind::ExitStatus, Confidence::Confirmed, "it ends with 1");
        ledger.suspect(Detector::Run, found());
        ledger.confirm(Detector::Explore, found());
        let command = UserCommand { words: vec!["./t".into()], folder: "/p/b".into(), root: "/p".into() };
        let told = finding(&ledger.confirmed()[0], &ledger, &command);
        assert!(told.key().ends_with("@b/t"), "{}", told.key());
        assert_eq!(told.detectors, ["run", "explore"]);
        assert_eq!(told.notes[0], "suspected by `run`, confirmed by `explore`");
        assert!(told.explanation.is_some());
        assert_eq!(counts(&ledger.counts()), "1 suspicion: 1 confirmed, 0 refuted, 0 open");
    }

    #[test]
    fn the_first_names_stand_for_many() {
        let of = |n: usize| names(&(0..n).map(|i| i.to_string()).collect::<Vec<_>>());
        assert_eq!(of(2), "`0`, `1`");
        assert_eq!(of(8), "`0`, `1`, `2`, `3`, `4`, `5`, `6`, `7`");
        assert_eq!(of(11), "`0`, `1`, `2`, `3`, `4`, `5`, `6`, `7` and 3 more");
    }

    #[test]
    fn a_suspicion_says_what_was_tried() {
        let mut ledger = Ledger::default();
        ledger.suspect(
            Detector::Check,
            Finding::new(Kind::ExitStatus, Confidence::Suspected, "it ends with 1"),
        );
        ledger.tried("5 schedules", &|_| true);
        let target = &ledger.targets()[0];
        assert_eq!(suspect(target, &[]).notes, ["suspected by `check`", "open; tried: 5 schedules"]);
        ledger.suspect_but(
            Detector::Conseq,
            Finding::new(Kind::Output, Confidence::Suspected, "the output is wrong"),
            Argument::Explains("it was made to happen without harm".into()),
        );
        let explained = suspect(&ledger.targets()[1], &[]);
        assert_eq!(explained.notes[1], "open, explained: it was made to happen without harm");
        assert_eq!(explained.verdict, Some(Settlement::Open));
        let target = &ledger.targets()[0];
        assert_eq!(counts(&ledger.counts()), "2 suspicions: 0 confirmed, 0 refuted, 1 explained, 1 open");
        let of = ["a".to_owned(), "b".to_owned()];
        assert_eq!(suspect(target, &of).notes[0], "suspected by `check` in `a`, `b`");
    }
}
