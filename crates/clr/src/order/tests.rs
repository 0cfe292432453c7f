use super::*;
use crate::hand_overs::{CHANCE, EVENT};
use crate::point::now;

fn thread(number: u32) -> Known {
    Known::of_pool(number)
}

#[test]
fn a_common_lock_excludes() {
    let (mut one, mut two) = (thread(1), thread(2));
    one.lock(7);
    one.lock(8);
    one.lock(9);
    two.lock(9);
    assert!(two.is_ordered(1, 5, one.mark()), "the innermost");
    two.unlock(9);
    assert!(!two.is_ordered(1, 5, one.mark()));
    two.lock(7);
    assert!(two.is_ordered(1, 5, one.mark()), "the outermost");
    one.unlock(7);
    assert!(!two.is_ordered(1, 5, one.mark()));
    one.unlock(70);
    assert_eq!(one.locks, [8, 9]);
    assert!(!thread(3).is_ordered(1, 5, thread(2).mark()), "no lock is not a common lock");
}

#[test]
fn a_lock_that_was_taken_twice_is_released_twice() {
    let mut one = thread(1);
    one.lock(7);
    one.lock(7);
    one.unlock(7);
    assert_eq!(one.mark(), 7 << 32 | 7);
    one.unlock(7);
    assert_eq!(one.mark(), 0);
}

#[test]
fn who_waits_for_a_task_comes_after_it_and_after_nothing_else() {
    let (mut pool, mut waits) = (thread(11), thread(12));
    let key = task(1001);
    let first = pool.begin(1000, task(1000), 10);
    pool.end(first, 20);
    let second = pool.begin(1000, key, 30);
    pool.end(second, 40);
    waits.begin(2000, task(1002), 5);
    assert!(!waits.is_ordered(11, 35, 0), "it has not waited");
    waits.take_over(key);
    assert!(waits.is_ordered(11, 35, 0));
    assert!(!waits.is_ordered(11, 15, 0), "another task in the same thread");
    assert!(!waits.is_ordered(11, 45, 0), "what comes later");
}

#[test]
fn a_task_comes_after_what_its_creator_did_before() {
    let (mut parent, mut child) = (thread(21), thread(22));
    parent.begin(1000, task(1010), 10);
    child.begin(1000, task(1011), 30);
    assert!(!child.is_ordered(21, 15, 0));
    parent.hand_over(task(1011), 25);
    assert!(child.is_ordered(21, 15, 0), "although it has begun already");
    assert!(!child.is_ordered(21, 28, 0));
    let mut grandchild = thread(23);
    child.hand_over(task(1012), 40);
    grandchild.begin(1000, task(1012), 41);
    assert!(grandchild.is_ordered(21, 15, 0) && grandchild.is_ordered(22, 35, 0));
}

#[test]
fn a_continuation_comes_after_the_task_before_it() {
    let (mut one, mut two) = (thread(31), thread(32));
    continues(1020, 1021);
    let depth = one.begin(1000, task(1020), 10);
    one.end(depth, 20);
    let depth = two.begin_work(1000, 1021, 0, 30);
    assert!(two.is_ordered(31, 15, 0));
    assert!(!two.is_ordered(31, 25, 0));
    two.end(depth, 40);
    let mut three = thread(33);
    continues(1021, 1022);
    three.begin_work(1000, 1022, 0, 50);
    assert!(three.is_ordered(31, 15, 0) && three.is_ordered(32, 35, 0), "also the one before that");
}

#[test]
fn what_follows_a_cancelled_continuation_does_not_come_after_the_first_task() {
    let (mut one, mut two, mut three) = (thread(34), thread(35), thread(36));
    continues(1023, 1024);
    continues(1024, 1025);
    ends_after(1024, 1026);
    continues(1026, 1027);
    let depth = one.begin_work(1000, 1023, 0, 10);
    one.end(depth, 20);
    two.begin_work(1000, 1025, 0, 30);
    three.begin_work(1000, 1027, 0, 30);
    assert!(!two.is_ordered(34, 15, 0) && !three.is_ordered(34, 15, 0));
}

#[test]
fn between_pieces_a_thread_knows_nothing() {
    let mut pool = thread(41);
    pool.hand_over(task(1030), 10);
    assert!(handed_over(task(1030)).is_none());
    let outer = pool.begin(2000, task(1031), 10);
    let inner = pool.begin(1000, task(1032), 20);
    pool.end(inner, 30);
    assert_eq!(pool.pieces.len(), 1);
    pool.begin(1000, task(1033), 40);
    pool.end(outer, 50);
    assert!(pool.pieces.is_empty(), "an exception has ended the inner one");
    pool.begin(1000, task(1034), 60);
    pool.begin(1500, task(1035), 70);
    assert_eq!(pool.pieces.len(), 1, "the first one is no longer on the stack");
}

#[test]
fn a_semaphore_goes_with_its_flow_from_thread_to_thread() {
    let (mut one, mut two, mut other) = (thread(51), thread(52), thread(53));
    let (flow, semaphore) = (task(1040), 1 << 30 | 51);
    semaphores::made(semaphore);
    for _ in 0..3 {
        semaphores::waits(semaphore);
    }
    // It waits in its first part, in its caller's piece.
    one.begin(1000, task(1041), 1);
    one.pieces[0].awaits = Some(Awaits { task: 7, semaphore });
    one.suspends(true, 2);
    one.suspended(flow);
    two.begin(1000, flow, 3);
    two.done(8);
    assert_eq!(two.mark(), 0, "another task");
    assert!(one.mark() == 0 && two.is_ordered(51, 1, 0));
    one.suspends(true, 2);
    one.pieces[0].awaits = Some(Awaits { task: 7, semaphore });
    one.suspended(flow);
    two.done(7);
    assert_eq!(two.mark(), u64::from(semaphore));
    two.suspends(false, 4);
    assert_eq!(two.mark(), 0, "it is no longer the flow's thread");
    one.begin(900, flow, 5);
    assert_eq!(one.mark(), u64::from(semaphore));
    other.begin(1000, task(1042), 5);
    assert!(!other.is_ordered(51, 6, one.mark()));
    one.releases(semaphore, true);
    assert_eq!(one.mark(), 0);
    other.got(semaphore);
    assert!(other.is_ordered(51, 6, u64::from(semaphore)));
    other.suspends(true, 7);
    assert_eq!(other.mark(), 0, "whose it is from now on is not known");
}

#[test]
fn a_source_says_something_if_one_thread_has_set_it() {
    let mut waits = thread(62);
    waits.begin(1000, task(1050), 1);
    let mut is_ordered_after = |setters: &[u32], event: SignalState| {
        let number = 1060 + setters.len() as u64 * 2 + u64::from(event == SignalState::Made);
        let key = EVENT | number;
        keep(key, |kept| kept.event = event);
        for number in setters {
            let mut sets = thread(*number);
            sets.begin(1000, task(1051), 1);
            sets.sets(key, now());
        }
        waits.pieces[0].past = Past::default();
        waits.take_over(key);
        waits.is_ordered(61, 2, 0)
    };
    assert!(is_ordered_after(&[61], SignalState::Made));
    assert!(is_ordered_after(&[61, 61], SignalState::Made));
    assert!(!is_ordered_after(&[61, 63, 61], SignalState::Made), "two have set it");
    assert!(!is_ordered_after(&[], SignalState::Made));
    assert!(!is_ordered_after(&[61], SignalState::Unknown), "where it was made was not seen");
    assert!(!is_ordered_after(&[61], SignalState::Void), "somebody has tried to set it");
}

#[test]
fn a_class_is_ready_for_all_but_static_constructors() {
    let (mut one, mut two) = (thread(71), thread(72));
    let class = class_constructors::number(7, 71);
    class_constructors::note_site(7071, vec![class]);
    one.begin(2000, task(1070), 5);
    let depth = one.begin_class(1000, class, 10);
    two.begin(2000, task(1071), 5);
    assert!(!two.is_after_class(7071, 71, 15), "it has not ended");
    one.end(depth, 20);
    assert!(two.is_after_class(7071, 71, 15));
    assert!(!two.is_after_class(7071, 71, 7), "what the thread did before is chance");
    assert!(!two.is_after_class(7072, 71, 15), "another site");
    two.begin_class(1000, class_constructors::number(7, 72), 30);
    assert!(!two.is_after_class(7071, 71, 15), "it may use classes that are not ready");
}

#[test]
fn an_event_that_others_may_set_explains_a_gap_and_orders_nothing() {
    let (mut sets, mut waits) = (thread(81), thread(82));
    sets.begin(1000, task(1080), 10);
    waits.begin(1000, task(1081), 10);
    sets.hand_over(CHANCE | 1080, 20);
    assert!(!waits.has_waited_by_chance(81, 15));
    waits.waited_by_chance(CHANCE | 1080);
    assert!(waits.has_waited_by_chance(81, 15) && !waits.has_waited_by_chance(81, 25));
    assert!(!waits.is_ordered(81, 15, 0));
    waits.hand_over(task(1082), 30);
    let mut next = thread(83);
    next.begin(1000, task(1082), 40);
    assert!(next.is_ordered(82, 15, 0) && !next.is_ordered(81, 15, 0));
}

#[test]
fn who_has_ended_a_phase_may_be_in_the_next_one() {
    let (mut one, mut two) = (thread(91), thread(92));
    one.begin(1000, task(1090), 10);
    two.begin(1000, task(1091), 10);
    let phase = |number| phase_key(1090, number);
    one.hand_over(phase(0), 20);
    two.hand_over(phase(0), 25);
    // The first one goes on, and comes to the end of the next phase, before the second one wakes
    // up.
    one.take_over(phase(0));
    one.hand_over(phase(1), 40);
    two.take_over(phase(0));
    assert!(two.is_ordered(91, 15, 0) && !two.is_ordered(91, 30, 0));
    assert!(one.is_ordered(92, 22, 0) && !one.is_ordered(92, 30, 0));
}

#[test]
fn who_waits_for_task_run_comes_after_what_it_was_given_has_made() {
    let (mut creator, mut pool, mut other) = (thread(101), thread(102), thread(103));
    let (hash, promise, runs_in, flow) = (1100, 1101, 1102, 1103);
    creator.begin(2000, task(1104), 5);
    creator.hand_over(given(hash), 10);
    runs_given(hash, promise);
    let depth = pool.begin_given(1000, given(hash), runs_in, 20);
    assert_eq!(pool.begin_work(900, runs_in, 7, 21), 0, "the lambda is no piece of its own");
    assert!(pool.is_ordered(101, 8, 0) && !pool.is_ordered(101, 12, 0));
    pool.suspends(true, 30);
    pool.suspended(task(flow));
    made_by_given(hash, flow);
    pool.end(depth, 31);
    let depth = other.begin(1000, task(flow), 40);
    assert!(other.is_ordered(102, 25, 0) && other.is_ordered(101, 8, 0));
    other.end(depth, 50);
    creator.done(promise);
    assert!(creator.is_ordered(102, 25, 0) && creator.is_ordered(103, 45, 0));
    assert!(!creator.is_ordered(103, 55, 0) && !creator.is_ordered(102, 35, 0));
}
