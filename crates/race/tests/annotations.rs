//! Each annotation of section 5, with and without.

mod common;
use common::*;
use raddle_race::*;

const X: u64 = 0;
const Y: u64 = 64;

fn x() -> ByteRange {
    ByteRange::new(X, 1)
}

fn racing() -> Trace {
    Trace::with_threads(2).then(|run| _ = run.write(1, X).write(2, X))
}

/// Thread 1 writes, unlocks; thread 2 locks, writes: ordered by the lock alone. `first` comes
/// before all.
fn handed_over(first: Option<Annotation>) -> Trace {
    let mut trace = Trace::with_threads(2);
    if let Some(annotation) = first {
        trace.note(MAIN, annotation);
    }
    trace.write(1, X).lock(1, MU).unlock(1, MU).lock(2, MU).unlock(2, MU).write(2, X);
    trace
}

#[test]
fn happens_before_and_after_are_signal_and_wait() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, X).note(1, Annotation::HappensBefore(7)).note(2, Annotation::HappensAfter(7)).write(2, X);
    assert_silent(ALL, &trace);
    let mut wrong_object = Trace::with_threads(2);
    wrong_object.write(1, X).note(1, Annotation::HappensBefore(7));
    wrong_object.note(2, Annotation::HappensAfter(8)).write(2, X);
    assert_racy(PRECISE, &wrong_object, X);
    let mut meets_a_signal = Trace::with_threads(2);
    meets_a_signal.write(1, X).signal(1, 7).note(2, Annotation::HappensAfter(7)).write(2, X);
    assert_silent(ALL, &meets_a_signal);
}

#[test]
fn happens_before_covers_only_what_precedes_it() {
    let mut trace = Trace::with_threads(2);
    trace.note(1, Annotation::HappensBefore(7)).write(1, X).note(2, Annotation::HappensAfter(7)).write(2, X);
    assert_racy(PRECISE, &trace, X);
}

#[test]
fn pure_happens_before_mutex_applies_to_its_lock_only() {
    assert_racy(HYBRID, &handed_over(None), X);
    let pure = |lock| Annotation::PureHappensBeforeMutex(LockId(lock));
    assert_silent(HYBRID, &handed_over(Some(pure(MU))));
    assert_racy(HYBRID, &handed_over(Some(pure(MU + 1))), X);
    assert_eq!(races(StateMachine::HappensBefore, &handed_over(Some(pure(MU)))), [], "a no-op there");
}

#[test]
fn pure_happens_before_mutex_holds_from_the_annotation_on() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, X).lock(1, MU).unlock(1, MU);
    trace.note(2, Annotation::PureHappensBeforeMutex(LockId(MU))).lock(2, MU).unlock(2, MU).write(2, X);
    assert_racy(HYBRID, &trace, X);
}

#[test]
fn condvar_lock_wait_waits_for_the_condvar() {
    let wait = |condvar| Annotation::CondvarLockWait { condvar, mutex: LockId(MU) };
    let trace = |condvar| {
        Trace::with_threads(2)
            .then(|run| _ = run.write(1, X).signal(1, CV).note(2, wait(condvar)).write(2, X))
    };
    assert_silent(ALL, &trace(CV));
    assert_racy(PRECISE, &trace(MU), X);
}

#[test]
fn benign_races_are_not_reported_and_others_are() {
    let mut trace = Trace::with_threads(2);
    trace.note(1, Annotation::BenignRace(x())).write(1, X).write(2, X);
    assert_silent(ALL, &trace);
    trace.write(1, Y).write(2, Y);
    assert_racy(PRECISE, &trace, Y);
}

#[test]
fn only_the_benign_bytes_of_an_access_are_left_out() {
    let mut trace = Trace::with_threads(2);
    trace.note(1, Annotation::BenignRace(ByteRange::new(2, 1)));
    for thread in [1, 2] {
        trace.push(thread, EventKind::Write { bytes: ByteRange::new(0, 4), atomic: false });
    }
    let reported: Vec<_> = races(StateMachine::Hybrid, &trace).into_iter().map(|race| race.bytes).collect();
    assert_eq!(reported, [ByteRange::new(0, 2), ByteRange::new(3, 1)]);
}

#[test]
fn a_benign_race_is_the_objects_and_not_the_addresss() {
    let mut trace = Trace::with_threads(2);
    trace.note(1, Annotation::BenignRace(x())).push(1, EventKind::Alloc(x())).write(1, X).write(2, X);
    assert_racy(PRECISE, &trace, X);
}

#[test]
fn ignored_accesses_are_as_if_they_were_not() {
    use Annotation::*;
    let regions = [(IgnoreReadsBegin, IgnoreReadsEnd, false), (IgnoreWritesBegin, IgnoreWritesEnd, true)];
    for (begin, end, ignores_writes) in regions {
        for is_write in [false, true] {
            let access =
                |run: &mut Trace| if is_write { run.write(2, X) } else { run.read(2, X) }.events.len();
            let mut inside = Trace::with_threads(2);
            inside.write(1, X).note(2, begin.clone()).note(2, begin.clone()).note(2, end.clone());
            access(&mut inside);
            let silent = races(StateMachine::Hybrid, &inside).is_empty();
            assert_eq!(silent, !is_write || ignores_writes, "{begin:?}, write: {is_write}");
            let mut after = Trace::with_threads(2);
            after.write(1, X).note(2, begin.clone()).note(2, end.clone()).note(2, end.clone());
            access(&mut after);
            assert_racy(PRECISE, &after, X);
        }
    }
}

#[test]
fn a_mutex_that_makes_no_arcs_still_keeps_its_holders_apart() {
    for mode in ALL {
        let mut held = Trace::with_threads(2);
        held.note(MAIN, Annotation::NotHappensBeforeMutex(LockId(MU)));
        held.lock(1, MU).write(1, X).unlock(1, MU).lock(2, MU).write(2, X).unlock(2, MU);
        assert_silent(&[*mode], &held);
        let mut beside = Trace::with_threads(2);
        beside.note(MAIN, Annotation::NotHappensBeforeMutex(LockId(MU)));
        beside.write(1, X).lock(1, MU).unlock(1, MU).lock(2, MU).unlock(2, MU).write(2, X);
        if *mode != StateMachine::Fast {
            assert_racy(&[*mode], &beside, X);
        }
    }
}

#[test]
fn ignoring_is_the_threads_own_and_not_its_synchronisation() {
    let mut other = Trace::with_threads(2);
    other.note(1, Annotation::IgnoreWritesBegin).write(2, X).write(MAIN, X);
    assert_racy(PRECISE, &other, X);
    let mut synchronises = Trace::with_threads(2);
    synchronises.write(1, X).note(1, Annotation::IgnoreWritesBegin).signal(1, 7).wait(2, 7).write(2, X);
    assert_silent(ALL, &synchronises);
}

#[test]
fn a_custom_lock_is_a_lock() {
    use Annotation::*;
    let lock = LockId(9);
    let section = |run: &mut Trace, thread, mode| {
        run.note(thread, RwlockAcquired(lock, mode))
            .write(thread, X)
            .note(thread, RwlockReleased(lock, mode));
    };
    let guarded = |mode| {
        Trace::with_threads(2).then(|run| {
            run.note(MAIN, RwlockCreate(lock));
            section(run, 1, mode);
            section(run, 2, mode);
        })
    };
    assert_silent(ALL, &guarded(LockMode::Write));
    assert_racy(PRECISE, &guarded(LockMode::Read), X);
}

#[test]
fn a_destroyed_lock_is_held_by_nobody_and_orders_nothing() {
    use Annotation::*;
    let lock = LockId(MU);
    let mut held = Trace::with_threads(2);
    held.lock(1, MU).note(1, RwlockDestroy(lock)).write(1, X);
    held.note(2, RwlockCreate(lock)).lock(2, MU).write(2, X).unlock(2, MU);
    assert_racy(PRECISE, &held, X);
}

#[test]
fn published_memory_may_be_accessed_by_all() {
    let publish = Annotation::PublishMemoryRange(x());
    let mut trace = Trace::with_threads(2);
    trace.write(1, X).write(1, Y).note(1, publish.clone()).read(2, X).read(2, Y);
    assert_silent(ALL, &trace);
    let mut not_touched = Trace::with_threads(2);
    not_touched.write(1, X).write(1, Y).note(1, publish.clone()).read(2, Y);
    assert_racy(PRECISE, &not_touched, Y);
    let mut written_after = Trace::with_threads(2);
    written_after.note(1, publish.clone()).write(1, X).read(2, X);
    assert_racy(PRECISE, &written_after, X);
    let mut readers_do_not_see_each_other = Trace::with_threads(3);
    readers_do_not_see_each_other.write(1, X).note(1, publish).write(2, X).write(3, X);
    assert_racy(PRECISE, &readers_do_not_see_each_other, X);
}

#[test]
fn unpublished_memory_belongs_to_the_caller() {
    let unpublish = Annotation::UnpublishMemoryRange(x());
    let mut trace = Trace::with_threads(3);
    trace.read(1, X).read(2, X).note(3, unpublish.clone()).write(3, X);
    assert_silent(ALL, &trace);
    let mut accessed_after = Trace::with_threads(3);
    accessed_after.read(1, X).note(3, unpublish.clone()).read(1, X).write(3, X);
    assert_racy(PRECISE, &accessed_after, X);
    let mut not_the_caller = Trace::with_threads(3);
    not_the_caller.read(1, X).note(3, unpublish.clone()).write(2, X);
    assert_racy(PRECISE, &not_the_caller, X);
    let mut ends_publication = Trace::with_threads(2);
    ends_publication.write(1, Y).note(1, Annotation::PublishMemoryRange(x()));
    ends_publication.note(1, unpublish).read(2, X).read(2, Y);
    assert_racy(PRECISE, &ends_publication, Y);
}

#[test]
fn new_memory_has_no_past() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, X).note(2, Annotation::NewMemory(x())).write(2, X);
    assert_silent(ALL, &trace);
    let mut elsewhere = Trace::with_threads(2);
    elsewhere.write(1, X).note(2, Annotation::NewMemory(ByteRange::new(X + 1, 8))).write(2, X);
    assert_racy(PRECISE, &elsewhere, X);
}

#[test]
fn an_expected_race_is_not_reported_and_a_missing_one_is_told() {
    for &mode in PRECISE {
        let mut machine = RaceDetector::new(MachineConfig::new(mode));
        let mut trace = Trace::with_threads(2);
        trace.note(1, Annotation::ExpectRace(x())).note(1, Annotation::ExpectRace(ByteRange::new(Y, 1)));
        trace.write(1, X).write(2, X).write(1, Y);
        assert_eq!(machine.handle_all(&trace.events), []);
        assert_eq!(machine.unmet_expectations(), [ByteRange::new(Y, 1)]);
    }
    assert_racy(PRECISE, &racing(), X);
}

#[test]
fn a_thread_has_the_name_it_gave_itself() {
    let mut machine = RaceDetector::new(MachineConfig::new(StateMachine::Hybrid));
    let mut trace = Trace::with_threads(1);
    trace.note(1, Annotation::ThreadName("worker".into()));
    machine.handle_all(&trace.events);
    assert_eq!(machine.thread_name(t(1)), Some("worker"));
    assert_eq!(machine.thread_name(t(MAIN)), None);
}
