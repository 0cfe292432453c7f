//! Which target comes first, and how the time is divided.

use std::time::Duration;

use raddle_finding::{Confidence, Finding, Kind};

use crate::target::{Detector, Target, same_cause};

/// What a bug of this kind costs a user, from 1 to 10.
fn cost(kind: Kind) -> u32 {
    match kind {
        Kind::UseAfterFree | Kind::DoubleFree => 10,
        Kind::Deadlock | Kind::LockOrder | Kind::Crash | Kind::Assertion => 9,
        Kind::DataRace | Kind::ThreadSafetyViolation | Kind::Hang | Kind::Livelock => 8,
        Kind::ExitStatus | Kind::AtomicityViolation | Kind::UninitializedRead => 7,
        Kind::ErrorMessage | Kind::Output | Kind::Starvation => 4,
        _ => 2,
    }
}

/// How likely it is, from 1 to 10: what a run came close to ranks before what the source allows.
fn likelihood(target: &Target) -> u32 {
    let seen = if target.finding.confidence == Confidence::Confirmed { 4 } else { 0 };
    let by = |detector: &Detector| match detector {
        Detector::Explore => 3,
        Detector::Run | Detector::Tsvd => 2,
        Detector::Check | Detector::Conseq => 1,
    };
    (seen + target.by.iter().map(by).sum::<u32>()).clamp(1, 10)
}

/// The expected benefit of settling the target: its cost times its likelihood.
pub fn worth(target: &Target) -> u32 {
    cost(target.finding.kind) * likelihood(target)
}

/// The parts of a hunt, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Ordinary runs under the detector.
    Look,
    /// All targets at once.
    Settle,
    /// Ordinary runs for what only one detector has seen.
    Corroborate,
    /// Consequences.
    Consequences,
    /// Consequences, if nothing else is open: `conseq` aims at its own suspicions better than a
    /// search of one target does.
    ConsequencesAlone,
    /// Library calls, with delays.
    Libraries,
    /// Open targets one by one.
    OneByOne,
    /// Values that C11 lets atomic loads read although newer ones have been stored.
    OlderValues,
    /// Everything else.
    AtLarge,
}

impl Part {
    /// Its share of the time left when it begins. A part that ends early leaves its time to later
    /// parts.
    fn share(self) -> f64 {
        match self {
            Part::Look => 0.2,
            Part::Settle => 0.35,
            Part::Corroborate => 0.2,
            Part::Consequences => 0.4,
            Part::ConsequencesAlone => 0.6,
            Part::Libraries => 0.3,
            Part::OneByOne => 0.5,
            Part::OlderValues => 0.3,
            Part::AtLarge => 1.0,
        }
    }
}

/// How long a part may take with this much time left.
pub fn share(part: Part, left: Duration) -> Duration {
    left.mul_f64(part.share())
}

/// The time for one of `n` targets that are settled one after the other in `left`.
pub fn turn(left: Duration, n: usize) -> Duration {
    left / (n.max(1) as u32)
}

/// How many of `n` targets are settled one after the other in `left`, if a search needs at least
/// `least` to get anywhere. The first of them have more than one schedule each then, and the others
/// have none.
pub fn driven(left: Duration, n: usize, least: Duration) -> usize {
    let fit = left.as_nanos() / least.as_nanos().max(1);
    n.min(usize::try_from(fit).unwrap_or(n).max(1))
}

/// The share of the time of a suite in which its tests are run once each, before any is hunted.
pub const LOOKS: f64 = 0.4;

/// What one look at a test has shown.
#[derive(Clone, Debug)]
pub struct TestLook<'a> {
    /// It has to do with a change that is to be hunted first.
    pub is_concerned: bool,
    /// What is suspected and not settled.
    pub open: Vec<&'a Finding>,
    pub took: Duration,
}

/// The order in which the tests of a suite are hunted after one look at each.
///
/// Tests that suspect something come before those that do not, and quick ones before slow ones:
/// more of their schedules fit into the time. A test that suspects only what an earlier one
/// suspects comes after those that suspect something else.
pub fn order(tests: &[TestLook<'_>]) -> Vec<usize> {
    let mut by_cost: Vec<usize> = (0..tests.len()).collect();
    by_cost.sort_by_key(|i| tests[*i].took);
    let mut known: Vec<&Finding> = Vec::new();
    let mut rank = vec![2; tests.len()];
    for i in &by_cost {
        let open = &tests[*i].open;
        let new: Vec<&Finding> =
            open.iter().copied().filter(|f| !known.iter().any(|k| same_cause(k, f))).collect();
        rank[*i] = match (open.is_empty(), new.is_empty()) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        };
        known.extend(new);
    }
    by_cost.sort_by_key(|i| (!tests[*i].is_concerned, rank[*i]));
    by_cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::{failure, race};
    use proptest::prelude::*;

    #[test]
    fn what_costs_more_or_is_likelier_comes_first() {
        let run = Target::new(Detector::Run, race(Some("x"), [("f", 1), ("g", 2)]));
        let check = Target::new(Detector::Check, race(Some("x"), [("f", 1), ("g", 2)]));
        let output = Target::new(Detector::Conseq, failure(Kind::Output, 1));
        let assertion = Target::new(Detector::Conseq, failure(Kind::Assertion, 1));
        assert!(worth(&run) > worth(&check));
        assert!(worth(&assertion) > worth(&output));
        let mut both = run.clone();
        both.join(Detector::Check, &check.finding, None);
        assert!(worth(&both) > worth(&run));
    }

    #[test]
    fn quick_tests_with_something_new_to_settle_are_hunted_first() {
        let (x, y) = (race(Some("x"), [("f", 1), ("g", 2)]), race(Some("y"), [("f", 1), ("g", 2)]));
        let looked = |open: &[&'static str], millis: u64| TestLook {
            is_concerned: false,
            open: open.iter().map(|n| if *n == "x" { &x } else { &y }).collect(),
            took: Duration::from_millis(millis),
        };
        let mut tests = vec![
            looked(&[], 1),
            looked(&["x"], 9),
            looked(&["x"], 5),
            looked(&["x", "y"], 20),
            looked(&[], 0),
        ];
        assert_eq!(order(&tests), [2, 3, 1, 4, 0]);
        tests[0].is_concerned = true;
        assert_eq!(order(&tests), [0, 2, 3, 1, 4]);
    }

    proptest! {
        #[test]
        fn parts_never_take_more_than_there_is(millis in 1u64..10_000_000) {
            let mut left = Duration::from_millis(millis);
            for part in [Part::Look, Part::Settle, Part::Corroborate, Part::Consequences, Part::Libraries, Part::OneByOne, Part::AtLarge] {
                let share = share(part, left);
                prop_assert!(share <= left + Duration::from_micros(1));
                left = left.saturating_sub(share);
            }
            prop_assert!(left <= Duration::from_micros(10));
        }

        #[test]
        fn each_driven_target_has_the_least_time(millis in 0u64..100_000, n in 0usize..50, least in 0u64..9_000) {
            let (left, least) = (Duration::from_millis(millis), Duration::from_millis(least));
            let driven = driven(left, n, least);
            prop_assert!(driven <= n && (n == 0 || driven > 0));
            prop_assert!(driven <= 1 || turn(left, driven) >= least);
            prop_assert!(driven == n || turn(left, driven + 1) < least);
        }

        #[test]
        fn turns_fill_the_time(millis in 1u64..1_000_000, n in 1usize..50) {
            let mut left = Duration::from_millis(millis);
            for i in 0..n {
                let turn = turn(left, n - i);
                prop_assert!(turn <= left);
                left -= turn;
            }
            prop_assert!(left < Duration::from_micros(1));
        }
    }
}
