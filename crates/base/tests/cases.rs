//! Single facts about clocks, with their numbers.

use raddle_base::clock::{Epoch, PersistentClock, ThreadId, VectorClock};

const A: ThreadId = ThreadId(0);
const B: ThreadId = ThreadId(1);

#[test]
fn an_unknown_thread_is_at_zero() {
    assert_eq!(VectorClock::new().get(ThreadId(u32::MAX)), 0);
    assert_eq!(PersistentClock::new().get(ThreadId(u32::MAX)), 0);
}

#[test]
fn naming_a_thread_without_a_count_changes_nothing() {
    let mut clock = VectorClock::new();
    clock.set(ThreadId(9), 1);
    clock.set(ThreadId(9), 0);
    assert_eq!(clock, VectorClock::new());
    assert!(clock.is_empty());
    clock.tick(A);
    clock.clear();
    assert!(clock.is_empty());
}

#[test]
fn ticks_are_moments_of_their_thread() {
    let mut clock = VectorClock::new();
    assert_eq!(clock.tick(B), Epoch { thread: B, count: 1 });
    assert_eq!(clock.tick(B), Epoch { thread: B, count: 2 });
    assert_eq!(clock.epoch(A), Epoch { thread: A, count: 0 });
    assert_eq!(clock.iter().collect::<Vec<_>>(), [Epoch { thread: B, count: 2 }]);
    assert_eq!(clock.epoch(B).to_string(), "2@T1");
}

#[test]
fn the_greatest_thread_number_works() {
    let mut clock = PersistentClock::new();
    clock.set(ThreadId(u32::MAX), 7);
    clock.set(A, 1);
    assert_eq!((clock.get(ThreadId(u32::MAX)), clock.get(A), clock.get(B)), (7, 1, 0));
    clock.set(ThreadId(u32::MAX), 0);
    clock.set(A, 0);
    assert!(clock.is_empty());
    assert_eq!(clock, PersistentClock::new());
}

#[test]
fn a_send_and_a_receive_over_4096_threads_cost_one_path() {
    let all: PersistentClock = (0..4096).map(|t| Epoch { thread: ThreadId(t), count: 1 }).collect();
    let mut sender = all.clone();
    sender.tick(ThreadId(4000));
    // 4096 = 8^4: a root, two levels of branches, a leaf. Each branch on the path is met with its
    // eight children, of which seven are shared and looked at once.
    let mut receiver = all.clone();
    assert_eq!(receiver.join_counting(&sender), 1 + 8 + 8 + 8);
    assert!(receiver.ptr_eq(&sender), "the receiver learned all and had nothing of its own");
    assert_eq!(receiver.join_counting(&sender), 1);
}
