//! Section 4: caps.

use raddle_tsvd::{Params, technique};

use crate::world::{MS, OBJECT, World, write};

fn delays_until_refused(change: impl FnOnce(&mut Params), thread: impl Fn(u32) -> u32) -> u64 {
    let mut world = World::with(|params| {
        // So that the pair stays: the threads take turns, which looks like order.
        (params.decay, params.techniques) = (0, technique::PAPER & !technique::HB_INFERENCE);
        change(params);
    });
    world.seed(1, 1);
    for i in 0..20 {
        world.pass(1 + 200 * u64::from(i), write(thread(i), 1, OBJECT));
    }
    let stats = world.tsvd.stats();
    assert_eq!((stats.delayed, stats.refused), (stats.delays * 100 * MS, 20 - stats.delays));
    stats.delays
}

#[test]
fn delays_stop_at_the_cap_of_a_thread_of_a_test_and_of_a_run() {
    assert_eq!(delays_until_refused(|params| params.thread_cap = 350 * MS, |_| 1), 3);
    assert_eq!(delays_until_refused(|params| params.thread_cap = 350 * MS, |i| i % 2), 6);
    assert_eq!(delays_until_refused(|params| params.test_cap = 500 * MS, |i| i % 4), 5);
    assert_eq!(delays_until_refused(|params| params.run_cap = 700 * MS, |i| i % 4), 7);
}

#[test]
fn a_new_test_has_its_own_cap_within_that_of_the_run() {
    let mut world = World::with(|params| {
        (params.decay, params.test_cap, params.run_cap) = (0, 200 * MS, 300 * MS);
    });
    world.seed(1, 1);
    let tries = |world: &mut World, from: u64| {
        (0..5).filter(|i| world.pass(from + 200 * i, write(1, 1, OBJECT))).count()
    };
    assert_eq!(tries(&mut world, 1), 2);
    world.tsvd.new_test();
    assert_eq!(tries(&mut world, 2000), 1);
}

#[test]
fn sleep_that_was_cut_short_is_given_back() {
    let mut world = World::with(|params| (params.decay, params.thread_cap) = (0, 100 * MS));
    world.seed(1, 1);
    let delay = world.call(1, write(1, 1, OBJECT)).unwrap();
    world.wake(31, &delay);
    assert_eq!(world.tsvd.stats().delayed, 30 * MS);
}

#[test]
fn what_one_thread_asks_for_in_the_time_of_a_delay_is_refused_once() {
    let mut world = World::with(|params| params.run_cap = 0);
    world.seed(1, 2);
    for ms in 1..=250 {
        assert!(world.call(ms, write(1, 1, OBJECT)).is_none());
    }
    assert_eq!(world.tsvd.stats().refused, 3, "at 1, 101 and 201 ms");
    world.call(250, write(2, 1, OBJECT));
    assert_eq!(world.tsvd.stats().refused, 4, "another thread could have been held as well");
}
