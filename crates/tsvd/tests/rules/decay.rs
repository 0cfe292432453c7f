//! 3.4.5: decay.

use raddle_tsvd::{ONE, PairState};

use crate::world::{OBJECT, World, write};

#[test]
fn a_pair_enters_with_certainty_and_each_failed_delay_takes_a_tenth() {
    let mut world = World::with(|_| {});
    world.seed(1, 2);
    let (mut left, mut time) = (Vec::new(), 1);
    while world.state(1, 2) == Some(PairState::Dangerous) {
        left.push(world.probability(1, 2) / (ONE / 10));
        while !world.pass(time, write(1, 1, OBJECT)) {
            time += 1;
        }
        time += 200;
    }
    assert_eq!(left, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(world.state(1, 2), Some(PairState::Decayed));
    assert_eq!(world.tsvd.stats().delays, 10);
    assert!((0..100).all(|i| !world.pass(time + i, write(1, 1, OBJECT))), "it is not delayed any more");
}

#[test]
fn a_delay_at_either_end_decays_both() {
    let mut world = World::with(|_| {});
    world.seed(1, 2);
    world.pass(1, write(1, 1, OBJECT));
    world.pass(200, write(1, 2, OBJECT));
    assert_eq!(world.probability(1, 2), 8 * ONE / 10);
}

#[test]
fn a_new_pair_gives_its_location_certainty_again() {
    let mut world = World::with(|params| params.decay = 9 * ONE / 10);
    world.seed(1, 2);
    world.pass(1, write(1, 1, OBJECT));
    world.seed(1, 3);
    assert!(world.pass(300, write(1, 1, OBJECT)), "P of site 1 is that of its best pair");
    assert_eq!((world.state(1, 2), world.probability(1, 3)), (Some(PairState::Decayed), ONE / 10));
}

#[test]
fn without_decay_every_occurrence_is_delayed() {
    let mut world = World::with(|params| params.decay = 0);
    world.seed(1, 2);
    assert!((0..25).all(|i| world.pass(1 + 200 * i, write(1, 1, OBJECT))));
}

#[test]
fn a_delay_that_caught_one_pair_has_failed_the_others() {
    let mut world = World::with(|_| {});
    world.seed(1, 2);
    world.seed(1, 3);
    let delay = world.call(1, write(1, 1, OBJECT)).unwrap();
    world.call(50, write(2, 2, OBJECT));
    assert!(world.wake(101, &delay));
    assert_eq!((world.state(1, 2), world.probability(1, 3)), (Some(PairState::Found), 9 * ONE / 10));
}

#[test]
fn a_pair_that_was_reported_is_not_delayed_again() {
    let mut world = World::with(|_| {});
    world.seed(1, 2);
    let delay = world.call(1, write(1, 1, OBJECT)).unwrap();
    world.call(50, write(2, 2, OBJECT));
    world.wake(101, &delay);
    assert!(world.call(300, write(1, 1, OBJECT)).is_none() && world.call(301, write(2, 2, OBJECT)).is_none());
}
