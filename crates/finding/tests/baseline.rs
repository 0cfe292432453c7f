//! Files written by older versions must be read for ever.

use raddle_finding::baseline::Baseline;
use raddle_finding::{Confidence, Finding, Kind, Report};

const VERSION_1: &str = include_str!("baseline-v1.json");

#[test]
fn version_1_is_read() {
    let baseline = Baseline::load("baseline-v1.json", VERSION_1).unwrap();
    let entries: Vec<_> = baseline.entries().map(|entry| (entry.id.as_str(), entry.kind.as_str())).collect();
    assert_eq!(
        entries,
        [
            ("a-kind-of-tomorrow-0000000000000001", "a-kind-of-tomorrow"),
            ("data-race-3b140ee238330318", "data-race"),
            ("lock-order-dd4d3de36fead246", "lock-order"),
        ]
    );

    let mut report = Report::new("run", vec![]);
    let mut race = Finding::new(Kind::DataRace, Confidence::Confirmed, "worded otherwise");
    race.id = "data-race-3b140ee238330318".into();
    report.findings.push(race);
    let split = baseline.split(&report);
    assert_eq!((split.new.len(), split.known.len(), split.stale.len()), (0, 1, 2));
}

#[test]
fn version_1_is_what_is_written() {
    assert_eq!(Baseline::load("baseline-v1.json", VERSION_1).unwrap().write(), VERSION_1);
}
