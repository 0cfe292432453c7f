//! Extension 4: a stretch without delays widens the window.

use raddle_tsvd::ONE;

use crate::world::{OBJECT, OTHER, World, write};

fn wide(part: u32) -> World {
    World::with(|params| params.widening = part)
}

/// Whether two calls are a near miss if the run began so many ms before the second.
fn near_miss(part: u32, apart: u64, begun: u64) -> bool {
    let mut world = wide(part);
    world.call(1000 - begun, write(1, 9, OTHER));
    world.call(1000 - apart, write(1, 1, OBJECT));
    world.call(1000, write(2, 2, OBJECT));
    world.state(1, 2).is_some()
}

#[test]
fn the_window_grows_to_half_of_the_time_without_delays() {
    assert!(near_miss(ONE / 2, 150, 300) && !near_miss(ONE / 2, 150, 299));
    assert!(near_miss(ONE / 2, 100, 101), "never below what it is");
    assert!(!near_miss(0, 150, 900), "the paper's does not grow");
}

#[test]
fn a_delay_makes_it_what_it_was() {
    let after = |quiet: u64| {
        let mut world = wide(ONE / 2);
        world.seed(8, 9);
        assert!(world.pass(1, write(1, 9, OTHER)), "to 101 ms");
        world.call(101 + quiet - 150, write(1, 1, OBJECT));
        world.call(101 + quiet, write(2, 2, OBJECT));
        world.state(1, 2).is_some()
    };
    assert_eq!((after(299), after(300)), (false, true));
}

#[test]
fn while_somebody_is_held_it_is_what_it_was() {
    let mut world = wide(ONE / 2);
    world.seed(8, 9);
    world.call(1, write(1, 7, OTHER));
    world.call(700, write(1, 1, OBJECT));
    let delay = world.call(840, write(3, 9, OTHER + 8)).unwrap();
    world.call(850, write(2, 2, OBJECT));
    assert_eq!(world.state(1, 2), None, "150 ms");
    world.wake(940, &delay);
}
