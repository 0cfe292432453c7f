//! Extension 5: patient delays.

use raddle_tsvd::{ONE, PairState};

use crate::world::{MS, OBJECT, World, write};

fn patient(patience: u32) -> World {
    World::with(|params| params.patience = patience)
}

/// How long the first delay is of a pair that came so many ms near in an earlier run.
fn length(patience: u32, apart: u32) -> u64 {
    let mut world = patient(patience);
    world.seed_at(1, 2, apart);
    world.call(1, write(1, 1, OBJECT)).unwrap().nanos / MS
}

#[test]
fn a_pair_that_stays_far_apart_is_waited_for_twice_as_long() {
    assert_eq!([20, 50, 60, 150, 250, 900].map(|apart| length(5, apart)), [100, 100, 120, 300, 500, 500]);
    assert_eq!([60, 900].map(|apart| length(0, apart)), [100, 100], "the paper's is always the same");
}

#[test]
fn a_long_gap_is_caught_that_a_usual_delay_misses() {
    let found = |patience: u32| {
        let mut world = patient(patience);
        world.seed_at(1, 2, 150);
        let delay = world.call(1, write(1, 1, OBJECT)).unwrap();
        if delay.nanos < 180 * MS {
            world.wake(101, &delay);
        }
        world.call(181, write(2, 2, OBJECT));
        world.log.0.len()
    };
    assert_eq!((found(5), found(0)), (1, 0));
}

#[test]
fn it_takes_from_the_probability_for_each_usual_delay_that_it_lasts() {
    let mut world = patient(5);
    world.seed_at(1, 2, 125);
    assert!(world.pass(1, write(1, 1, OBJECT)));
    assert_eq!(world.probability(1, 2), 7 * ONE / 10, "250 ms");
}

#[test]
fn a_near_pair_goes_first_and_what_it_costs_is_not_the_far_ones() {
    let mut world = patient(5);
    world.seed_at(1, 2, 150);
    world.seed_at(1, 3, 5);
    let delay = world.call(1, write(1, 1, OBJECT)).unwrap();
    assert_eq!(delay.nanos, 100 * MS);
    world.wake(101, &delay);
    assert_eq!((world.probability(1, 2), world.probability(1, 3)), (ONE, 9 * ONE / 10));
}

#[test]
fn the_caps_hold_for_it() {
    let mut world = World::with(|params| (params.patience, params.test_cap) = (5, 299 * MS));
    world.seed_at(1, 2, 150);
    assert!(world.call(1, write(1, 1, OBJECT)).is_none());
    assert_eq!((world.tsvd.stats().delayed, world.tsvd.stats().refused), (0, 1));
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous), "that says nothing about the pair");
}
