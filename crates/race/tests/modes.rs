//! What the modes and options change: each difference is asserted.

mod common;
use common::*;
use raddle_race::*;
use std::num::NonZeroUsize;

const X: u64 = 0;

fn config(mode: StateMachine) -> MachineConfig {
    MachineConfig::new(mode)
}

/// 4.4.2: "we ignore all accesses to a cache line until we see an access from another thread".
#[test]
fn fast_hides_a_race_with_the_first_owners_past() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, X).write(2, X);
    assert_racy(PRECISE, &trace, X);
    assert_silent(FAST, &trace);
    trace.write(1, X);
    assert_racy(FAST, &trace, X);
}

#[test]
fn fast_keeps_the_access_that_makes_the_line_shared() {
    let mut trace = Trace::with_threads(3);
    trace.write(1, X).write(2, X).write(3, X);
    let [race] = races(StateMachine::Fast, &trace).try_into().expect("one race");
    assert_eq!((race.earlier[0].thread, race.current.thread), (t(2), t(3)));
}

#[test]
fn fast_goes_by_lines_of_64_bytes() {
    for (neighbour, same_line) in [(63, true), (64, false)] {
        let mut trace = Trace::with_threads(2);
        trace.read(2, neighbour).write(1, X).write(2, X);
        assert_eq!(!races(StateMachine::Fast, &trace).is_empty(), same_line, "byte {neighbour}");
    }
}

/// The false report of hybrid that fast avoids: an object initialised and then handed over under a
/// lock.
#[test]
fn fast_silences_initialisation_handed_over_under_a_lock() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, X).lock(1, MU).write(1, 128).unlock(1, MU);
    trace.lock(2, MU).read(2, 128).unlock(2, MU).write(2, X);
    assert_racy(HYBRID, &trace, X);
    assert_silent(FAST, &trace);
}

#[test]
fn fast_forgets_the_owner_of_a_fresh_line() {
    let line = ByteRange::new(0, 64);
    let owned_again = |bytes: ByteRange| {
        let mut trace = Trace::with_threads(2);
        trace.read(1, 40).read(2, 40).push(1, EventKind::Alloc(bytes));
        trace.write(1, bytes.start).write(2, bytes.start);
        races(StateMachine::Fast, &trace).is_empty()
    };
    assert!(owned_again(line), "the line is owned by thread 1 alone");
    for rest_is_another_object in [ByteRange::new(0, 32), ByteRange::new(48, 80)] {
        assert!(!owned_again(rest_is_another_object), "that one is shared, and the line with it");
    }
}

#[test]
fn the_initialization_state_is_kept_by_its_granule_in_any_mode() {
    for (granule, neighbour_shares) in
        [(InitializationUnit::Byte, false), (InitializationUnit::EightBytes, true)]
    {
        for mode in [StateMachine::HappensBefore, StateMachine::Hybrid, StateMachine::Fast] {
            let config = MachineConfig { initialization_state: Some(granule), ..config(mode) };
            let mut trace = Trace::with_threads(2);
            trace.write(1, X).write(2, X);
            assert_eq!(races_with(config, &trace), [], "the first thread's write is initialisation");
            let again = trace.then(|run| _ = run.write(1, X));
            assert_eq!(races_with(config, &again).len(), 1);
            let neighbour = Trace::with_threads(2).then(|run| _ = run.read(2, X + 7).write(1, X).write(2, X));
            assert_eq!(races_with(config, &neighbour).len(), usize::from(neighbour_shares));
        }
    }
}

#[test]
fn happens_before_misses_what_an_unrelated_critical_section_ordered() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, X).lock(1, MU).unlock(1, MU).lock(2, MU).unlock(2, MU).write(2, X);
    assert_silent(HB, &trace);
    assert_racy(HYBRID, &trace, X);
}

#[test]
fn a_recursive_lock_protects_until_its_last_unlock() {
    let mut trace = Trace::with_threads(2);
    trace.lock(1, MU).lock(1, MU).unlock(1, MU).write(1, X).unlock(1, MU);
    trace.lock(2, MU).write(2, X).unlock(2, MU);
    assert_silent(ALL, &trace);
    let mut outside = Trace::with_threads(2);
    outside.lock(1, MU).lock(1, MU).unlock(1, MU).unlock(1, MU).write(1, X);
    outside.lock(2, MU).write(2, X).unlock(2, MU);
    assert_racy(PRECISE, &outside, X);
}

#[test]
fn creating_and_joining_threads_orders() {
    let mut trace = Trace::default();
    trace.write(MAIN, X).start(MAIN, 1).write(1, X).join(MAIN, 1).write(MAIN, X);
    trace.start(MAIN, 2).write(2, X).join(MAIN, 2).read(MAIN, X);
    assert_silent(ALL, &trace);
    let mut too_early = Trace::default();
    too_early.start(MAIN, 1).write(MAIN, X).write(1, X);
    assert_racy(PRECISE, &too_early, X);
}

/// 4.3: what a report can say of the earlier access.
#[test]
fn history_decides_which_context_is_told() {
    let mut trace = Trace::default();
    let write = EventKind::Write { bytes: ByteRange::new(X, 1), atomic: false };
    let other = EventKind::Write { bytes: ByteRange::new(X + 8, 1), atomic: false };
    for (thread, context, kind) in [(1, 10, &other), (1, 10, &write), (1, 11, &write), (2, 20, &write)] {
        trace.events.push(Event::new(t(thread), EventSource(context), kind.clone()));
    }
    let told = |history| {
        let [race] = races_with(MachineConfig { history, ..config(StateMachine::Hybrid) }, &trace)
            .try_into()
            .expect("one race");
        assert_eq!(race.current.context, Some(EventSource(20)), "the current one is always known");
        race.earlier[0].context
    };
    assert_eq!(told(SegmentStart::SyncOnly), None);
    assert_eq!(told(SegmentStart::Contexts), Some(EventSource(11)));
    assert_eq!(told(SegmentStart::EachAccess), Some(EventSource(11)));
}

#[test]
fn a_segment_has_the_context_of_its_first_access() {
    let mut trace = Trace::default();
    let write = |byte| EventKind::Write { bytes: ByteRange::new(byte, 1), atomic: false };
    for (thread, context, kind) in [(1, 10, write(8)), (1, 10, write(X)), (2, 20, write(X))] {
        trace.events.push(Event::new(t(thread), EventSource(context), kind));
    }
    let [race] = races(StateMachine::Hybrid, &trace).try_into().expect("one race");
    assert_eq!(race.earlier[0].context, Some(EventSource(10)));
}

/// 6.1: with room for few segments the oldest is forgotten, and its race with it.
#[test]
fn a_bounded_set_forgets_its_oldest_member() {
    let readers = 5;
    let mut trace = Trace::with_threads(readers + 1);
    trace.read(1, X);
    for reader in 2..=readers {
        trace.lock(reader, u64::from(reader)).read(reader, X).unlock(reader, u64::from(reader));
    }
    // The writer holds the locks of all readers but the first, with whom alone it races.
    for reader in 2..=readers {
        trace.lock(readers + 1, u64::from(reader));
    }
    trace.write(readers + 1, X);
    let bounded =
        |bound| MachineConfig { set_bound: NonZeroUsize::new(bound), ..config(StateMachine::Hybrid) };
    assert_eq!(races_with(bounded(5), &trace).len(), 1);
    assert_eq!(races_with(bounded(4), &trace), []);
    assert_racy(HYBRID, &trace, X);
}

#[test]
fn a_byte_is_reported_once_unless_asked() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, X).write(2, X).write(1, X).write(2, X);
    assert_eq!(races(StateMachine::Hybrid, &trace).len(), 1);
    let every = MachineConfig { report_once: false, ..config(StateMachine::Hybrid) };
    assert_eq!(races_with(every, &trace).len(), 3);
    let fresh =
        trace.then(|run| _ = run.push(1, EventKind::Alloc(ByteRange::new(X, 1))).write(1, X).write(2, X));
    assert_eq!(races(StateMachine::Hybrid, &fresh).len(), 2, "a fresh object has its own races");
}

#[test]
fn a_flush_forgets_accesses_and_keeps_locks() {
    for mode in [StateMachine::HappensBefore, StateMachine::Hybrid] {
        let run = |before: &dyn Fn(&mut Trace), after: &dyn Fn(&mut Trace)| {
            let mut machine = RaceDetector::new(config(mode));
            let (mut first, mut second) = (Trace::with_threads(2), Trace::default());
            before(&mut first);
            after(&mut second);
            assert_eq!(machine.handle_all(&first.events), []);
            machine.flush();
            assert_eq!(machine.flushes(), 1);
            machine.handle_all(&second.events).len()
        };
        assert_eq!(run(&|run| _ = run.write(1, X), &|run| _ = run.write(2, X)), 0, "6.2.1: missed");
        assert_eq!(run(&|_| {}, &|run| _ = run.write(1, X).write(2, X)), 1, "and works on");
        let locked = run(&|run| _ = run.lock(1, MU), &|run| {
            run.write(1, X).unlock(1, MU).lock(2, MU).write(2, X);
        });
        assert_eq!(locked, 0, "thread 1 holds the lock throughout");
    }
}

#[test]
fn a_free_is_a_write_unless_asked() {
    let mut trace = Trace::with_threads(2);
    let block = ByteRange::new(X, 16);
    trace.read(1, X + 3).push(2, EventKind::Free(block));
    let [race] = races(StateMachine::HappensBefore, &trace).try_into().expect("the free races with the read");
    assert_eq!(race.bytes, ByteRange::new(X + 3, 1));
    assert!(race.current.is_write && !race.earlier[0].is_write);
    let ignored = MachineConfig { free_is_write: false, ..config(StateMachine::HappensBefore) };
    assert_eq!(races_with(ignored, &trace), []);
    let reused = trace.then(|run| _ = run.push(2, EventKind::Alloc(block)).write(2, X + 3).write(2, X));
    assert_eq!(races(StateMachine::HappensBefore, &reused).len(), 1, "the new block has no past");
}

/// Deviation 1: one report for each run of bytes with the same earlier accesses.
#[test]
fn bytes_with_different_pasts_are_reported_apart() {
    let mut trace = Trace::default();
    let write = |start, size| EventKind::Write { bytes: ByteRange::new(start, size), atomic: false };
    trace.push(1, write(0, 2)).push(2, write(2, 2)).push(3, write(0, 8));
    let found: Vec<_> = races(StateMachine::Hybrid, &trace)
        .into_iter()
        .map(|race| (race.bytes, race.earlier[0].thread))
        .collect();
    assert_eq!(found, [(ByteRange::new(0, 2), t(1)), (ByteRange::new(2, 2), t(2))]);
}

#[test]
fn an_access_of_no_bytes_and_one_at_the_top_of_memory_are_harmless() {
    let mut trace = Trace::default();
    for thread in [1, 2] {
        for bytes in [ByteRange::new(X, 0), ByteRange::new(u64::MAX - 1, 100)] {
            trace.push(thread, EventKind::Write { bytes, atomic: false });
        }
    }
    let [race] = races(StateMachine::Hybrid, &trace).try_into().expect("one race");
    assert_eq!(race.bytes, ByteRange::new(u64::MAX - 1, 1));
}

#[test]
fn a_range_without_another_is_what_is_left() {
    let range = ByteRange::new(10, 10);
    let without = |start, size| -> Vec<_> {
        range.without(ByteRange::new(start, size)).map(|piece| (piece.start, piece.size)).collect()
    };
    assert_eq!(without(0, 10), [(10, 10)]);
    assert_eq!(without(20, 5), [(10, 10)]);
    assert_eq!(without(12, 0), [(10, 10)]);
    assert_eq!(without(5, 20), []);
    assert_eq!(without(12, 3), [(10, 2), (15, 5)]);
    assert_eq!(without(5, 8), [(13, 7)]);
    assert_eq!(without(18, 8), [(10, 8)]);
}
