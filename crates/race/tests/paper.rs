//! The figures and examples of section 4 and appendix B, as event sequences.

mod common;
use common::*;
use raddle_race::*;

const X: u64 = 0;
const OBJ: u64 = 0;
const FLAG: u64 = 64;

/// Figure 1: three threads cut into seven segments by two arcs. `touch` is called where a segment
/// may access memory.
fn figure_1(mut touch: impl FnMut(u32, u32, &mut Trace)) -> Trace {
    let (h1, h2) = (1, 2);
    let mut trace = Trace::default();
    let run = &mut trace;
    touch(1, 1, run);
    run.signal(1, h1);
    touch(4, 1, run);
    touch(2, 2, run);
    run.wait(2, h1);
    touch(5, 2, run);
    run.signal(2, h2);
    touch(6, 2, run);
    touch(3, 3, run);
    run.wait(3, h2);
    touch(7, 3, run);
    trace
}

#[test]
fn figure_1_orders_exactly_these_segments() {
    let before = [(1, 4), (1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 7), (3, 7), (5, 6), (5, 7)];
    for a in 1..=7 {
        for b in a + 1..=7 {
            let trace = figure_1(|segment, thread, run| {
                if segment == a || segment == b {
                    run.write(thread, X);
                }
            });
            for mode in [StateMachine::HappensBefore, StateMachine::Hybrid] {
                let ordered = races(mode, &trace).is_empty();
                assert_eq!(ordered, before.contains(&(a, b)), "S{a} and S{b}, {mode:?}");
            }
        }
    }
}

/// Figure 2 and the definition beside it: which unlock and lock make an extended arc.
#[test]
fn figure_2_extended_arcs_are_all_but_reader_to_reader() {
    for unlock in [LockMode::Write, LockMode::Read] {
        for lock in [LockMode::Write, LockMode::Read] {
            let mut trace = Trace::default();
            trace.write(1, X);
            match unlock {
                LockMode::Write => trace.lock(1, MU).unlock(1, MU),
                LockMode::Read => trace.reader_lock(1, MU).reader_unlock(1, MU),
            };
            match lock {
                LockMode::Write => trace.lock(2, MU).unlock(2, MU),
                LockMode::Read => trace.reader_lock(2, MU).reader_unlock(2, MU),
            };
            trace.write(2, X);
            let arc = unlock.excludes(lock);
            assert_eq!(races(StateMachine::HappensBefore, &trace).is_empty(), arc, "{unlock:?} to {lock:?}");
            assert_racy(HYBRID, &trace, X);
        }
    }
}

#[test]
fn an_extended_arc_needs_the_same_lock() {
    let mut trace = Trace::default();
    trace.write(1, X).lock(1, MU).unlock(1, MU).lock(2, MU + 1).write(2, X).unlock(2, MU + 1);
    assert_racy(PRECISE, &trace, X);
}

/// 4.4.1: "In the hybrid mode, the tool will always report a data race on such code. In the pure
/// happens-before mode [...] if there is no race, the tool will be silent."
#[test]
fn flag_under_a_lock_is_reported_by_hybrid_and_not_by_happens_before() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, OBJ).lock(1, MU).write(1, FLAG).unlock(1, MU);
    trace.lock(2, MU).read(2, FLAG).unlock(2, MU).write(2, OBJ);
    assert_racy(HYBRID, &trace, OBJ);
    assert_silent(HB, &trace);
}

/// The same code, the flag true from the start, and the threads the other way round: a real race,
/// which pure happens-before sees only in this order.
#[test]
fn flag_under_a_lock_with_a_real_race() {
    let mut trace = Trace::with_threads(2);
    trace.lock(2, MU).read(2, FLAG).unlock(2, MU).write(2, OBJ);
    trace.write(1, OBJ).lock(1, MU).write(1, FLAG).unlock(1, MU);
    assert_racy(PRECISE, &trace, OBJ);
}

/// 4.5: no lock common to all three accesses, yet each two share one.
#[test]
fn three_threads_with_pairwise_common_locks_are_silent() {
    let mut trace = Trace::with_threads(3);
    for (thread, [first, second]) in [(1, [1, 2]), (2, [2, 3]), (3, [1, 3])] {
        trace.lock(thread, first).lock(thread, second).write(thread, OBJ);
        trace.unlock(thread, second).unlock(thread, first);
    }
    assert_silent(ALL, &trace);
}

/// Appendix B: both accesses, both threads, the locks of each.
#[test]
fn appendix_b_wrong_mutex() {
    let (mu1, mu2) = (133, 134);
    let mut trace = Trace::default();
    for (thread, lock) in [(1, mu1), (2, mu2)] {
        trace.lock(thread, lock);
        trace.push(thread, EventKind::Write { bytes: ByteRange::new(0x63F260, 4), atomic: false });
        trace.unlock(thread, lock);
    }
    for &mode in PRECISE {
        let [race] = races(mode, &trace).try_into().expect("one report for the four bytes");
        assert_eq!(race.bytes, ByteRange::new(0x63F260, 4));
        let [earlier] = race.earlier.try_into().expect("one concurrent write");
        for (access, thread, lock, context) in [(race.current, 2, mu2, 5), (earlier, 1, mu1, 2)] {
            assert_eq!(access.thread, t(thread));
            assert!(access.is_write && !access.atomic);
            assert_eq!(access.writer_locks.iter().collect::<Vec<_>>(), [LockId(lock)]);
            assert_eq!(access.context, Some(EventSource(context)));
        }
    }
}

/// REPORT-RACE: a write is reported with the concurrent writes and reads, a read only with the
/// writes.
#[test]
fn a_report_lists_the_accesses_that_take_part() {
    let mut trace = Trace::default();
    trace.read(1, X).read(2, X).lock(3, MU).read(3, X).unlock(3, MU).lock(4, MU).write(4, X);
    let [race] = races(StateMachine::Hybrid, &trace).try_into().expect("one race");
    let threads: Vec<_> = race.earlier.iter().map(|access| (access.thread, access.is_write)).collect();
    assert_eq!(threads, [(t(1), false), (t(2), false)], "thread 3 shares the lock");

    let mut trace = Trace::default();
    trace.read(1, X).write(2, X);
    let [race] = races(StateMachine::Hybrid, &trace).try_into().expect("one race");
    assert!(race.current.is_write && !race.earlier[0].is_write);

    let mut trace = Trace::default();
    trace.write(1, X).read(2, X).read(3, X);
    let [race] =
        races(StateMachine::Hybrid, &trace).try_into().expect("one race: then the byte is left alone");
    assert_eq!((race.current.is_write, race.earlier.len()), (false, 1));
}
