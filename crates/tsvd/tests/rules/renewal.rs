//! Extension 2: one near miss is worth one delay at each end.

use raddle_tsvd::ApiPoint;
use raddle_tsvd::technique::{RENEWAL, WINDOW};

use crate::world::{OBJECT, OTHER, World, read, write};

/// A near miss, whose second access is delayed at once and in vain.
fn after_a_near_miss(techniques: u32) -> World {
    let mut world = World::extended(techniques);
    world.call(1, write(1, 1, OBJECT));
    assert!(world.pass(3, read(2, 2, OBJECT)));
    world
}

/// Whether one of many calls is delayed: a pair that has failed once is not, now and then.
fn delayed_within(world: &mut World, ms: u64, point: ApiPoint) -> bool {
    (0..20).any(|_| world.pass(ms, point))
}

#[test]
fn a_site_whose_partner_does_not_come_again_is_delayed_once() {
    let delays = |mut world: World| (0..40).filter(|i| world.pass(300 + 200 * i, read(2, 2, OBJECT))).count();
    assert_eq!(delays(after_a_near_miss(RENEWAL)), 0);
    assert_eq!(delays(after_a_near_miss(0)), 9, "the paper: till nothing is left of its probability");
}

#[test]
fn the_other_end_has_a_delay_of_its_own() {
    let mut world = after_a_near_miss(RENEWAL);
    assert!(delayed_within(&mut world, 300, write(3, 1, OTHER)));
    assert!(!delayed_within(&mut world, 500, write(3, 1, OTHER)));
}

#[test]
fn another_near_miss_is_another_delay() {
    let mut world = after_a_near_miss(RENEWAL);
    assert!(!delayed_within(&mut world, 300, read(2, 2, OBJECT)));
    world.pass(500, write(3, 1, OBJECT));
    assert!(delayed_within(&mut world, 599, read(2, 2, OBJECT)), "99 ms after the write");
}

/// When the calls of a site are delayed, one every 50 ms, whose partner, of an earlier run, does
/// not come in 2 s.
fn delayed_at(techniques: u32) -> Vec<u64> {
    delayed_in(World::extended(techniques))
}

fn delayed_in(mut world: World) -> Vec<u64> {
    world.seed(1, 2);
    let (mut times, mut ms) = (Vec::new(), 100);
    while ms < 2000 {
        let delayed = delayed_within(&mut world, ms, write(1, 1, OBJECT));
        times.extend(delayed.then_some(ms));
        ms += if delayed { 100 } else { 50 };
    }
    times
}

#[test]
fn a_partner_of_an_earlier_run_that_may_yet_come_is_waited_for_at_doubling_times() {
    // The run began at 100: the first delay ends when it has lasted 100 ms.
    assert_eq!(delayed_at(RENEWAL), [100, 300, 700, 1500]);
    assert_eq!(delayed_at(0).len(), 10);
    let without_a_window = World::with(|params| params.techniques = (params.techniques | RENEWAL) & !WINDOW);
    assert_eq!(delayed_in(without_a_window), [100, 300, 700, 1500]);
}

#[test]
fn a_partner_that_has_come_is_not_waited_for() {
    let mut world = World::extended(RENEWAL);
    world.seed(1, 2);
    assert!(world.pass(1, write(1, 1, OBJECT)));
    // It comes, elsewhere, and is held itself.
    assert!(delayed_within(&mut world, 400, read(2, 2, OTHER)));
    assert!(delayed_within(&mut world, 900, write(3, 1, OBJECT)), "at 202 ms it may again");
    assert!((0..40).all(|i| !world.pass(2000 + 200 * i, write(3, 1, OBJECT))), "it has come");
}

#[test]
fn one_end_of_a_pair_is_held_at_a_time() {
    let both = |techniques: u32| {
        let mut world = World::extended(techniques);
        world.seed(1, 2);
        assert!(world.call(1, write(1, 1, OBJECT)).is_some());
        world.call(2, write(2, 2, OTHER)).is_some()
    };
    assert!(!both(RENEWAL), "it could neither come nor be seen to wait");
    assert!(both(0));
}

#[test]
fn another_pair_is_held_beside_it() {
    let mut world = World::extended(RENEWAL);
    world.seed(1, 2);
    world.seed(3, 4);
    let one = world.call(1, write(1, 1, OBJECT)).unwrap();
    assert!(world.call(2, write(2, 3, OTHER)).is_some());
    world.wake(101, &one);
    assert!(world.call(102, write(1, 2, OBJECT)).is_some(), "and the other end after it");
}

#[test]
fn a_site_that_conflicts_with_itself_has_two_ends() {
    let mut world = World::extended(RENEWAL);
    world.call(1, write(1, 1, OBJECT));
    assert!(world.pass(3, write(2, 1, OBJECT)), "the one that comes second is delayed in vain");
    assert!(delayed_within(&mut world, 300, write(3, 1, OTHER)), "and the next one, which may come first");
    assert!(!delayed_within(&mut world, 600, write(3, 1, OTHER)));
}
