//! Message passing through atomics: who may read the data is decided by memory orders and fences
//! alone.

mod common;
use common::*;
use raddle_race::MemoryOrder::*;
use raddle_race::*;

const DATA: u64 = 0;
const FLAG: u64 = 64;

const STORES: [MemoryOrder; 3] = [Relaxed, Release, SeqCst];
const LOADS: [MemoryOrder; 4] = [Relaxed, Consume, Acquire, SeqCst];
const ORDERS: [MemoryOrder; 6] = [Relaxed, Consume, Acquire, Release, AcqRel, SeqCst];

/// Thread 1 writes the data and sends; thread 2 receives and reads the data. The bodies say how.
fn message(
    send: impl FnOnce(&mut Trace) -> &mut Trace,
    receive: impl FnOnce(&mut Trace) -> &mut Trace,
) -> Trace {
    let mut trace = Trace::with_threads(3);
    trace.write(1, DATA);
    send(&mut trace);
    receive(&mut trace);
    trace.read(2, DATA);
    trace
}

#[track_caller]
fn assert_ordered(ordered: bool, trace: &Trace, what: &str) {
    for &mode in PRECISE {
        let found = racy_bytes(MachineConfig::new(mode), &trace.events);
        let expected = if ordered { [].into() } else { [DATA].into() };
        assert_eq!(found, expected, "{mode:?}, {what}");
    }
}

#[track_caller]
fn assert_passes(trace: &Trace) {
    assert_ordered(true, trace, "must synchronise");
}

#[track_caller]
fn assert_races(trace: &Trace) {
    assert_ordered(false, trace, "must not synchronise");
}

#[test]
fn store_and_load_of_every_order() {
    for store in STORES {
        for load in LOADS {
            let trace = message(|run| run.store(1, FLAG, store), |run| run.load(2, FLAG, load));
            let expected = matches!(store, Release | SeqCst) && load != Relaxed;
            assert_ordered(expected, &trace, &format!("{store:?} store, {load:?} load"));
        }
    }
}

#[test]
fn read_modify_writes_of_every_order_on_both_sides() {
    for send in ORDERS {
        for receive in ORDERS {
            let trace = message(|run| run.rmw(1, FLAG, send), |run| run.rmw(2, FLAG, receive));
            let releases = matches!(send, Release | AcqRel | SeqCst);
            let acquires = matches!(receive, Consume | Acquire | AcqRel | SeqCst);
            assert_ordered(releases && acquires, &trace, &format!("{send:?}, {receive:?}"));
        }
    }
}

#[test]
fn fences_of_every_order_around_relaxed_accesses() {
    for send in ORDERS {
        for receive in ORDERS {
            let trace = message(
                |run| run.fence(1, send).store(1, FLAG, Relaxed),
                |run| run.load(2, FLAG, Relaxed).fence(2, receive),
            );
            let releases = matches!(send, Release | AcqRel | SeqCst);
            let acquires = matches!(receive, Consume | Acquire | AcqRel | SeqCst);
            assert_ordered(releases && acquires, &trace, &format!("{send:?} fence, {receive:?} fence"));
        }
    }
}

#[test]
fn a_fence_meets_an_operation() {
    assert_passes(&message(
        |run| run.fence(1, Release).store(1, FLAG, Relaxed),
        |run| run.load(2, FLAG, Acquire),
    ));
    assert_passes(&message(
        |run| run.store(1, FLAG, Release),
        |run| run.load(2, FLAG, Relaxed).fence(2, Acquire),
    ));
}

#[test]
fn a_fence_on_the_wrong_side_of_its_access_is_none() {
    assert_races(&message(
        |run| run.store(1, FLAG, Relaxed).fence(1, Release),
        |run| run.load(2, FLAG, Acquire),
    ));
    assert_races(&message(
        |run| run.store(1, FLAG, Release),
        |run| run.fence(2, Acquire).load(2, FLAG, Relaxed),
    ));
}

#[test]
fn a_release_fence_releases_only_what_precedes_it() {
    let mut trace = Trace::with_threads(2);
    trace.fence(1, Release).write(1, DATA).store(1, FLAG, Relaxed).load(2, FLAG, Acquire).read(2, DATA);
    assert_races(&trace);
}

#[test]
fn a_fence_of_another_thread_does_not_help() {
    assert_races(&message(
        |run| run.fence(3, SeqCst).store(1, FLAG, Relaxed),
        |run| run.load(2, FLAG, Acquire),
    ));
    assert_races(&message(
        |run| run.store(1, FLAG, Release),
        |run| run.load(2, FLAG, Relaxed).fence(3, SeqCst),
    ));
}

#[test]
fn a_read_modify_write_of_any_order_and_thread_continues_the_sequence() {
    for order in ORDERS {
        let trace =
            message(|run| run.store(1, FLAG, Release).rmw(3, FLAG, order), |run| run.load(2, FLAG, Acquire));
        assert_passes(&trace);
    }
}

#[test]
fn a_store_of_the_same_thread_continues_the_sequence() {
    assert_passes(&message(
        |run| run.store(1, FLAG, Release).store(1, FLAG, Relaxed),
        |run| run.load(2, FLAG, Acquire),
    ));
}

#[test]
fn a_store_of_another_thread_ends_the_sequence() {
    for order in STORES {
        assert_races(&message(
            |run| run.store(1, FLAG, Release).store(3, FLAG, order),
            |run| run.load(2, FLAG, Acquire),
        ));
    }
    // It does not revive: a later relaxed store of the first thread is contiguous with nothing.
    assert_races(&message(
        |run| run.store(1, FLAG, Release).store(3, FLAG, Relaxed).store(1, FLAG, Relaxed),
        |run| run.load(2, FLAG, Acquire),
    ));
}

#[test]
fn an_acquire_learns_from_all_heads() {
    let mut trace = Trace::with_threads(3);
    trace.write(1, DATA).write(3, DATA + 8);
    trace.rmw(1, FLAG, Release).rmw(3, FLAG, Release).load(2, FLAG, Acquire).read(2, DATA).read(2, DATA + 8);
    assert_passes(&trace);
}

#[test]
fn a_failed_compare_exchange_is_a_load_with_the_order_for_failure() {
    for failure in LOADS {
        let op = AtomicOp::CompareExchange { success: AcqRel, failure, succeeded: false };
        let receives = message(|run| run.store(1, FLAG, Release), |run| run.atomic(2, FLAG, op));
        assert_ordered(failure != Relaxed, &receives, &format!("{failure:?}"));
    }
    let failed = AtomicOp::CompareExchange { success: SeqCst, failure: SeqCst, succeeded: false };
    let sends = message(|run| run.atomic(1, FLAG, failed), |run| run.load(2, FLAG, Acquire));
    assert_races(&sends);
    let succeeded = AtomicOp::CompareExchange { success: AcqRel, failure: Relaxed, succeeded: true };
    let sends = message(|run| run.atomic(1, FLAG, succeeded), |run| run.load(2, FLAG, Acquire));
    assert_passes(&sends);
}

#[test]
fn a_spin_lock_of_atomics_protects() {
    let mut trace = Trace::with_threads(3);
    for thread in [1, 2, 3, 1] {
        trace.rmw(thread, FLAG, Acquire).read(thread, DATA).write(thread, DATA).store(thread, FLAG, Release);
    }
    assert_passes(&trace);
}

#[test]
fn sequential_consistency_orders_no_other_object() {
    // Store buffering: both threads may read the old value, and the data they then write is theirs
    // alone by luck. No value was passed, so nothing synchronises.
    let mut trace = Trace::with_threads(2);
    trace.write(1, DATA).store(1, FLAG, SeqCst).load(2, FLAG + 8, SeqCst).read(2, DATA);
    assert_races(&trace);
}

#[test]
fn atomic_accesses_race_with_plain_ones_only() {
    for order in [Relaxed, SeqCst] {
        let mut trace = Trace::with_threads(2);
        trace.store(1, DATA, order).store(2, DATA, order).rmw(1, DATA, order).load(2, DATA, order);
        assert_passes(&trace);
    }
    let mut plain_write = Trace::with_threads(2);
    plain_write.load(1, DATA, SeqCst).write(2, DATA);
    assert_races(&plain_write);
    let mut plain_read = Trace::with_threads(2);
    plain_read.store(1, DATA, SeqCst).read(2, DATA);
    assert_races(&plain_read);
    let mut reads = Trace::with_threads(2);
    reads.load(1, DATA, SeqCst).read(2, DATA);
    assert_passes(&reads);
}

/// `segment_set`, deviation 1: an atomic store after it does not hide a plain initialisation.
#[test]
fn a_plain_initialisation_races_with_an_atomic_read_behind_an_atomic_store() {
    let mut trace = Trace::with_threads(2);
    trace.write(1, DATA).store(1, DATA, Relaxed).load(2, DATA, Relaxed);
    assert_races(&trace);
    let mut released = Trace::with_threads(2);
    released.write(1, DATA).store(1, DATA, Release).load(2, DATA, Acquire);
    assert_passes(&released);
}

#[test]
fn an_access_marked_atomic_synchronises_nothing() {
    let mut trace = Trace::with_threads(2);
    let flag = ByteRange::new(FLAG, 1);
    trace.write(1, DATA).push(1, EventKind::Write { bytes: flag, atomic: true });
    trace.push(2, EventKind::Read { bytes: flag, atomic: true }).read(2, DATA);
    assert_races(&trace);
}

#[test]
fn a_fresh_object_has_no_release_sequence() {
    assert_races(&message(
        |run| run.store(1, FLAG, Release).push(3, EventKind::Alloc(ByteRange::new(FLAG, 8))),
        |run| run.load(2, FLAG, Acquire),
    ));
}
