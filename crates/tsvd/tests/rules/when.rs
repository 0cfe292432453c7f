//! 3.4.6: when.

use raddle_tsvd::{ONE, PairState, TrapPair, technique};

use crate::world::{MS, OBJECT, OTHER, World, read, write};

#[test]
fn planning_and_delaying_are_in_one_run_and_even_in_one_call() {
    let mut world = World::with(|_| {});
    assert!(world.call(1, write(1, 1, OBJECT)).is_none());
    assert_eq!(world.call(3, read(2, 2, OBJECT)).map(|delay| delay.nanos), Some(100 * MS));
    assert!(world.call(50, write(1, 1, OBJECT)).is_none());
    assert_eq!(world.log.0.len(), 1, "the second chance is enough");
}

#[test]
fn a_second_run_delays_at_the_first_occurrence() {
    let mut first = World::with(|_| {});
    first.pass(1, write(1, 1, OBJECT));
    first.pass(3, read(2, 2, OBJECT));
    assert!(first.log.0.is_empty(), "they met only once");
    let mut second = World::with(|_| {});
    for pair in first.tsvd.pairs() {
        assert_eq!(
            pair,
            TrapPair {
                site_a: 1,
                site_b: 2,
                probability: 9 * ONE / 10,
                state: PairState::Dangerous,
                gap: 2000
            }
        );
        assert!(second.tsvd.seed(&TrapPair { probability: ONE, ..pair }, &mut second.log));
    }
    assert!(second.call(1, write(1, 1, OBJECT)).is_some());
    second.call(3, read(2, 2, OBJECT));
    assert_eq!(second.log.0.len(), 1);
}

#[test]
fn what_an_earlier_run_reported_is_not_delayed_and_is_told_as_repeated() {
    let mut world = World::with(|_| {});
    let found = TrapPair { site_a: 1, site_b: 2, probability: 0, state: PairState::Found, gap: 0 };
    assert!(world.tsvd.seed(&found, &mut world.log));
    world.call(1, write(1, 1, OBJECT));
    assert!(world.call(2, write(2, 2, OBJECT)).is_none());
    world.seed(1, 1);
    assert!(world.call(10, write(1, 1, OBJECT)).is_some(), "for another pair");
    world.call(20, write(2, 2, OBJECT));
    assert!(world.log.0[0].repeated);
}

#[test]
fn several_threads_are_held_at_once() {
    let mut world = World::with(|_| {});
    world.seed(1, 1);
    assert!(world.call(1, write(1, 1, OBJECT)).is_some() && world.call(2, write(2, 1, OTHER)).is_some());
    let mut one_at_a_time = World::with(|params| params.techniques &= !technique::PARALLEL);
    one_at_a_time.seed(1, 1);
    assert!(one_at_a_time.call(1, write(1, 1, OBJECT)).is_some());
    assert!(one_at_a_time.call(2, write(2, 1, OTHER)).is_none());
}

#[test]
fn the_only_thread_there_is_is_not_held() {
    let mut world = World::with(|_| {});
    world.tsvd.watch_threads();
    world.seed(1, 2);
    assert!(world.call(1, write(0, 1, OBJECT)).is_none(), "no other thread yet");
    world.tsvd.on_fork(2 * MS, 0, 1, &mut world.log);
    let delay = world.call(3, write(0, 1, OBJECT)).expect("now there is one");
    world.wake(103, &delay);
    world.tsvd.thread_gone(1, &mut world.log);
    world.tsvd.thread_gone(1, &mut world.log);
    assert!(world.call(110, write(0, 1, OBJECT)).is_none(), "it has ended");
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous), "that says nothing about the pair");
}

#[test]
fn a_thread_that_nobody_told_of_counts_as_there() {
    let mut world = World::with(|_| {});
    world.tsvd.watch_threads();
    world.seed(1, 2);
    world.call(1, write(7, 3, OTHER));
    assert!(world.call(2, write(0, 1, OBJECT)).is_some());
}
