//! The ten common races of 6.3 and the three common false positives of 6.4.

mod common;
use common::*;
use raddle_race::*;

/// Objects lie on lines of their own, so that fast mode judges each alone.
const V: u64 = 0;
const W: u64 = 64;
const U: u64 = 128;

/// `v++`.
fn increment(trace: &mut Trace, thread: u32, byte: u64) {
    trace.read(thread, byte).write(thread, byte);
}

/// The main thread has initialised the variable, and then started two threads.
fn initialised(byte: u64) -> Trace {
    let mut trace = Trace::default();
    trace.write(MAIN, byte).start(MAIN, 1).start(MAIN, 2);
    trace
}

#[test]
fn race_6_3_1_simple() {
    let trace = initialised(V).then(|run| {
        increment(run, 1, V);
        increment(run, 2, V);
    });
    assert_racy(ALL, &trace, V);
}

#[test]
fn race_6_3_2_complex_type() {
    // m[123] = 1 and m[345] = 0 go to different nodes and share the root of the tree.
    let (root, node_1, node_2) = (V, W, U);
    let trace = initialised(root).then(|run| {
        run.read(1, root).write(1, node_1).write(1, root);
        run.read(2, root).write(2, node_2).write(2, root);
    });
    assert_racy(ALL, &trace, root);
}

#[test]
fn race_6_3_3_notification() {
    let trace = initialised(V).then(|run| {
        run.read(1, V).write(2, V).read(1, V);
    });
    assert_racy(ALL, &trace, V);
}

#[test]
fn race_6_3_4_publishing_objects_without_synchronisation() {
    let (pointer, object) = (V, W);
    let trace = initialised(pointer).then(|run| {
        run.read(2, pointer).write(1, object).write(1, pointer).read(2, pointer).read(2, object);
    });
    for &mode in PRECISE {
        let found = racy_bytes(MachineConfig::new(mode), &trace.events);
        assert_eq!(found, [pointer, object].into(), "the object races too: nothing published it");
    }
    // Fast mode does not see the initialisation of the object: only one thread had touched its
    // line.
    assert_racy(FAST, &trace, pointer);
}

#[test]
fn race_6_3_5_initialising_objects_without_synchronisation() {
    let trace = initialised(V).then(|run| {
        run.read(1, V).read(2, V).write(1, V).write(2, V);
    });
    assert_racy(ALL, &trace, V);
}

#[test]
fn race_6_3_6_write_during_a_reader_lock() {
    let trace = initialised(V).then(|run| {
        for thread in [1, 2] {
            run.reader_lock(thread, MU);
            increment(run, thread, V);
            run.reader_unlock(thread, MU);
        }
    });
    assert_racy(ALL, &trace, V);
}

#[test]
fn a_write_under_a_reader_lock_races_with_a_read_under_it_and_not_with_a_writer() {
    let reader = initialised(V).then(|run| {
        run.reader_lock(1, MU).write(1, V).reader_unlock(1, MU);
        run.reader_lock(2, MU).read(2, V).reader_unlock(2, MU);
    });
    assert_racy(ALL, &reader, V);
    let proper = initialised(V).then(|run| {
        run.lock(1, MU).write(1, V).unlock(1, MU);
        run.reader_lock(2, MU).read(2, V).reader_unlock(2, MU);
    });
    assert_silent(ALL, &proper);
    let mixed = initialised(V).then(|run| {
        run.reader_lock(1, MU).write(1, V).reader_unlock(1, MU);
        run.lock(2, MU).write(2, V).unlock(2, MU);
    });
    // The writer lock keeps the reader out, so happens-before orders the run. By 4.1 the write of
    // the reader is protected by no lock at all, so hybrid reports.
    assert_silent(HB, &mixed);
    assert_racy(HYBRID, &mixed, V);
}

#[test]
fn race_6_3_7_adjacent_bit_fields() {
    // x.a and x.b are four bits each of one byte: the bytes accessed are the same.
    let trace = initialised(V).then(|run| {
        increment(run, 1, V);
        increment(run, 2, V);
    });
    assert_racy(ALL, &trace, V);
    let apart = initialised(V).then(|run| {
        increment(run, 1, V);
        increment(run, 2, V + 1);
    });
    assert_silent(ALL, &apart);
}

#[test]
fn race_6_3_8_double_checked_locking() {
    let (inited, object) = (V, W);
    let trace = initialised(inited).then(|run| {
        run.read(1, inited).lock(1, MU).read(1, inited).write(1, object).write(1, inited).unlock(1, MU);
        run.read(2, inited);
    });
    assert_racy(ALL, &trace, inited);
    let used = trace.then(|run| {
        run.read(2, object);
    });
    for &mode in PRECISE {
        let found = racy_bytes(MachineConfig::new(mode), &used.events);
        assert_eq!(found, [inited, object].into(), "what the flag guards is not published either");
    }
}

#[test]
fn race_6_3_9_during_destruction() {
    let object = V;
    let mut trace = Trace::default();
    trace.write(1, object).start(1, 2);
    let waiting = trace.then(|run| {
        run.read(2, object).join(1, 2).write(1, object);
    });
    assert_silent(ALL, &waiting);
    let racing = trace.then(|run| {
        run.read(2, object).write(1, object);
    });
    assert_racy(ALL, &racing, object);
}

#[test]
fn race_6_3_10_on_vptr() {
    let (vptr, semaphore) = (V, 300);
    // obj->F() reads the pointer; A::~A() writes it and only then waits for Done().
    let racing = initialised(vptr).then(|run| {
        run.read(1, vptr).write(2, vptr).signal(1, semaphore).wait(2, semaphore);
    });
    assert_racy(ALL, &racing, vptr);
    let waiting_first = initialised(vptr).then(|run| {
        run.read(1, vptr).signal(1, semaphore).wait(2, semaphore).write(2, vptr);
    });
    assert_silent(ALL, &waiting_first);
}

/// 6.4.1, in the order in which the waiter finds the condition true and never waits.
fn condition_variable(annotated: bool) -> Trace {
    let (object, condition) = (V, W);
    initialised(condition).then(|run| {
        run.write(1, object).lock(1, MU).write(1, condition).signal(1, CV).unlock(1, MU);
        run.lock(2, MU).read(2, condition);
        if annotated {
            run.note(2, Annotation::CondvarLockWait { condvar: CV, mutex: LockId(MU) });
        }
        run.unlock(2, MU).write(2, object);
    })
}

#[test]
fn false_positive_6_4_1_condition_variable() {
    assert_racy(HYBRID, &condition_variable(false), V);
    assert_silent(HB, &condition_variable(false));
    assert_silent(ALL, &condition_variable(true));
}

/// 6.4.2.
fn message_queue(annotated: bool) -> Trace {
    let (message, queue) = (V, W);
    initialised(queue).then(|run| {
        run.write(1, message).lock(1, MU).write(1, queue);
        if annotated {
            run.note(1, Annotation::HappensBefore(message));
        }
        run.unlock(1, MU).lock(2, MU).read(2, queue);
        if annotated {
            run.note(2, Annotation::HappensAfter(message));
        }
        run.write(2, queue).unlock(2, MU).write(2, message);
    })
}

#[test]
fn false_positive_6_4_2_message_queue() {
    assert_racy(HYBRID, &message_queue(false), V);
    assert_silent(HB, &message_queue(false));
    assert_silent(ALL, &message_queue(true));
}

/// 6.4.3: two threads use an object and then drop their references; the last one deletes it.
fn reference_counting(annotated: bool, unref: impl Fn(&mut Trace, u32, u64)) -> Trace {
    let (object, count) = (V, W);
    initialised(object).then(|run| {
        for thread in [1, 2] {
            run.read(thread, object);
            if annotated {
                run.note(thread, Annotation::HappensBefore(count));
            }
            unref(run, thread, count);
        }
        if annotated {
            run.note(2, Annotation::HappensAfter(count));
        }
        run.push(2, EventKind::Free(ByteRange::new(object, 1)));
    })
}

#[test]
fn false_positive_6_4_3_reference_counting_with_a_mutex() {
    let unref = |run: &mut Trace, thread: u32, count: u64| {
        run.lock(thread, MU);
        increment(run, thread, count);
        run.unlock(thread, MU);
    };
    assert_racy(HYBRID, &reference_counting(false, unref), V);
    assert_silent(HB, &reference_counting(false, unref));
    assert_silent(ALL, &reference_counting(true, unref));
}

#[test]
fn false_positive_6_4_3_reference_counting_with_atomics() {
    let with = |order| {
        move |run: &mut Trace, thread: u32, count: u64| {
            run.rmw(thread, count, order);
        }
    };
    // Relaxed is what "atomics" were to the paper's detector, which knew no memory orders.
    let relaxed = with(MemoryOrder::Relaxed);
    assert_racy(PRECISE, &reference_counting(false, relaxed), V);
    assert_silent(ALL, &reference_counting(true, relaxed));
    // With the orders the counter needs, nothing has to be annotated.
    assert_silent(ALL, &reference_counting(false, with(MemoryOrder::AcqRel)));
}
