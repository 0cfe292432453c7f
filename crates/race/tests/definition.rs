//! The machines against the definition: the theorems stated in the essay of `machine`, on random
//! traces.

mod common;
use common::definition::Definition;
use common::random::{any_trace, lawful_trace};
use common::*;
use proptest::prelude::*;
use raddle_race::*;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

const LENGTH: usize = 40;

/// An event, by its position, and a byte on which it completes a race.
type Found = BTreeSet<(usize, u64)>;

fn machine_finds(config: MachineConfig, events: &[Event]) -> Found {
    let mut machine = RaceDetector::new(config);
    let mut found = Found::new();
    for (at, event) in events.iter().enumerate() {
        for race in machine.handle(event) {
            found.extend(race.bytes.bytes().map(|byte| (at, byte)));
        }
    }
    found
}

/// By 4.1: every access that races with an earlier one. `forget`: without those that were
/// superseded.
fn defined(definition: &Definition, events: &[Event], forget: bool) -> Found {
    let mut found = Found::new();
    for y in 0..events.len() {
        for byte in definition.bytes(y) {
            let superseded = |x: usize| (x + 1..y).any(|z| definition.supersedes(z, x, byte));
            if (0..y).any(|x| definition.races(x, y, byte) && !(forget && superseded(x))) {
                found.insert((y, byte));
            }
        }
    }
    found
}

/// For each byte the first event that completes a race on it.
fn firsts(found: &Found) -> BTreeMap<u64, usize> {
    let mut firsts = BTreeMap::new();
    for &(at, byte) in found {
        firsts.entry(byte).or_insert(at);
    }
    firsts
}

fn racy(found: &Found) -> BTreeSet<u64> {
    found.iter().map(|(_, byte)| *byte).collect()
}

fn config(mode: StateMachine) -> MachineConfig {
    MachineConfig::new(mode)
}

/// Whether every access that supersedes another on the byte holds no further lock.
fn locksets_only_shrink(definition: &Definition, events: &[Event], byte: u64) -> bool {
    let positions = 0..events.len();
    positions.clone().all(|x| {
        positions.clone().all(|z| {
            !definition.supersedes(z, x, byte) || definition.locks(z).is_subset(&definition.locks(x))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Exactness, in both modes, for every event, whatever the history.
    #[test]
    fn a_race_is_found_exactly_if_its_first_access_is_not_superseded(
        events in any_trace(LENGTH),
        history in prop::sample::select(vec![SegmentStart::SyncOnly, SegmentStart::Contexts, SegmentStart::EachAccess]),
    ) {
        for mode in [StateMachine::HappensBefore, StateMachine::Hybrid] {
            let definition = Definition::new(&events, mode == StateMachine::HappensBefore);
            let expected = defined(&definition, &events, true);
            let every = MachineConfig { report_once: false, history, ..config(mode) };
            prop_assert_eq!(&machine_finds(every, &events), &expected, "{:?}", mode);
            let once = machine_finds(MachineConfig { history, ..config(mode) }, &events);
            prop_assert_eq!(firsts(&once), firsts(&expected), "{:?}, once", mode);
            prop_assert_eq!(once.len(), racy(&once).len(), "one report a byte");
        }
    }

    /// Soundness: a subset of 4.1, event by event.
    #[test]
    fn what_is_found_is_a_race_by_definition(events in any_trace(LENGTH)) {
        for mode in [StateMachine::HappensBefore, StateMachine::Hybrid] {
            let definition = Definition::new(&events, mode == StateMachine::HappensBefore);
            let all = defined(&definition, &events, false);
            prop_assert!(machine_finds(config(mode), &events).is_subset(&all));
        }
    }

    /// Completeness of pure happens-before: the first race on each byte, at the access that
    /// completes it.
    #[test]
    fn happens_before_finds_the_first_race_on_every_byte(events in lawful_trace(LENGTH)) {
        let definition = Definition::new(&events, true);
        let all = defined(&definition, &events, false);
        let found = machine_finds(config(StateMachine::HappensBefore), &events);
        prop_assert_eq!(firsts(&found), firsts(&all));
    }

    /// Completeness of hybrid where superseding loses no lock set.
    #[test]
    fn hybrid_is_complete_where_locksets_only_shrink(events in any_trace(LENGTH)) {
        let definition = Definition::new(&events, false);
        let all = firsts(&defined(&definition, &events, false));
        let found = firsts(&machine_finds(config(StateMachine::Hybrid), &events));
        let bytes: BTreeSet<u64> = (0..events.len()).flat_map(|event| definition.bytes(event)).collect();
        for byte in bytes {
            if locksets_only_shrink(&definition, &events, byte) {
                prop_assert_eq!(found.get(&byte), all.get(&byte), "byte {}", byte);
            }
        }
    }

    /// Hybrid finds all that pure happens-before finds, no later.
    #[test]
    fn happens_before_is_included_in_hybrid(events in any_trace(LENGTH)) {
        let pure = firsts(&machine_finds(config(StateMachine::HappensBefore), &events));
        let hybrid = firsts(&machine_finds(config(StateMachine::Hybrid), &events));
        for (byte, at) in pure {
            prop_assert!(hybrid.get(&byte).is_some_and(|first| *first <= at), "byte {}", byte);
        }
    }

    /// Whatever makes a machine forget makes it find no more.
    #[test]
    fn forgetting_never_makes_a_race(events in any_trace(LENGTH), bound in 1usize..4, flush_at in 0..LENGTH) {
        for mode in [StateMachine::HappensBefore, StateMachine::Hybrid] {
            let whole = racy(&machine_finds(config(mode), &events));
            let bounded = MachineConfig { set_bound: NonZeroUsize::new(bound), ..config(mode) };
            prop_assert!(racy(&machine_finds(bounded, &events)).is_subset(&whole));
            for granule in [InitializationUnit::Byte, InitializationUnit::EightBytes] {
                let initialization = MachineConfig { initialization_state: Some(granule), ..config(mode) };
                prop_assert!(racy(&machine_finds(initialization, &events)).is_subset(&whole));
            }
            let mut flushed = RaceDetector::new(config(mode));
            let (before, after) = events.split_at(flush_at.min(events.len()));
            let mut found = flushed.handle_all(before);
            flushed.flush();
            found.extend(flushed.handle_all(after));
            prop_assert!(found.iter().flat_map(|race| race.bytes.bytes()).all(|byte| whole.contains(&byte)));
        }
        let hybrid = racy(&machine_finds(config(StateMachine::Hybrid), &events));
        prop_assert!(racy(&machine_finds(config(StateMachine::Fast), &events)).is_subset(&hybrid));
    }

    /// A report names accesses that race by definition, with their own threads and kinds.
    #[test]
    fn reports_name_real_accesses(events in any_trace(LENGTH)) {
        let each = MachineConfig { history: SegmentStart::EachAccess, ..config(StateMachine::Hybrid) };
        let numbered: Vec<Event> = events
            .into_iter()
            .enumerate()
            .map(|(at, event)| Event { context: EventSource(at as u64), ..event })
            .collect();
        let definition = Definition::new(&numbered, false);
        for race in RaceDetector::new(each).handle_all(&numbered) {
            let at = |access: &RacingAccess| access.context.expect("history is kept").0 as usize;
            let current = at(&race.current);
            prop_assert!(!race.earlier.is_empty());
            for earlier in &race.earlier {
                prop_assert_eq!(numbered[at(earlier)].thread, earlier.thread);
                for byte in race.bytes.bytes() {
                    prop_assert!(definition.races(at(earlier), current, byte));
                }
            }
        }
    }
}

/// The paper's machine forgets a read without a lock when its thread then writes under one. This is
/// the example of the essay: a race by 4.1 that is not found, and that pure happens-before rightly
/// does not have.
#[test]
fn hybrid_loses_an_unprotected_read_behind_a_protected_write() {
    let mut trace = Trace::default();
    trace.read(1, 0).lock(1, MU).write(1, 0).unlock(1, MU).lock(2, MU).write(2, 0).unlock(2, MU);
    let definition = Definition::new(&trace.events, false);
    assert!(definition.races(0, 5, 0), "by definition the read races with thread 2's write");
    assert_silent(HYBRID, &trace);
    assert!(!Definition::new(&trace.events, true).races(0, 5, 0));
}

/// The same trace with atomics that synchronise nothing.
fn relaxed(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    for event in &mut events {
        match &mut event.kind {
            EventKind::Fence(order) => *order = MemoryOrder::Relaxed,
            EventKind::Atomic { op, .. } => {
                *op = match op {
                    AtomicOp::Load(_) => AtomicOp::Load(MemoryOrder::Relaxed),
                    AtomicOp::Store(_) => AtomicOp::Store(MemoryOrder::Relaxed),
                    AtomicOp::Rmw(_) => AtomicOp::Rmw(MemoryOrder::Relaxed),
                    AtomicOp::CompareExchange { succeeded, .. } => AtomicOp::CompareExchange {
                        success: MemoryOrder::Relaxed,
                        failure: MemoryOrder::Relaxed,
                        succeeded: *succeeded,
                    },
                }
            }
            _ => {}
        }
    }
    events
}

/// The traces must reach what the theorems speak of, or these tests would show little.
#[test]
fn random_traces_are_not_trivial() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut pure, mut only_hybrid, mut lost, mut hidden, mut by_atomics) = (0, 0, 0, 0, 0);
    for _ in 0..500 {
        let events = lawful_trace(LENGTH).new_tree(&mut runner).expect("a trace").current();
        let happens_before = racy(&machine_finds(config(StateMachine::HappensBefore), &events));
        let hybrid = racy(&machine_finds(config(StateMachine::Hybrid), &events));
        let all = racy(&defined(&Definition::new(&events, false), &events, false));
        let fast = racy(&machine_finds(config(StateMachine::Fast), &events));
        pure += happens_before.len();
        only_hybrid += hybrid.difference(&happens_before).count();
        lost += all.difference(&hybrid).count();
        hidden += hybrid.difference(&fast).count();
        let relaxed = racy(&machine_finds(config(StateMachine::HappensBefore), &relaxed(&events)));
        by_atomics += relaxed.difference(&happens_before).count();
    }
    let counts = [pure, only_hybrid, lost, hidden, by_atomics];
    assert!(counts.iter().all(|count| *count >= 10), "{counts:?}");
}
