//! Deviation 9: what need not be looked at.

use raddle_tsvd::{ApiPoint, ONE, PairState, TrapPair};

use crate::world::{MS, OBJECT, OTHER, World, read, write};

const US: u64 = 1_000;

/// Comes to a point so often, a microsecond apart, and says how often it went by.
fn visit(world: &mut World, start: u64, point: ApiPoint, times: u64) -> u64 {
    let mut passed = 0;
    for i in 0..times {
        if world.tsvd.passes(&point, false) {
            passed += 1;
        } else if let Some(delay) = world.tsvd.on_call(start + i * US, &point, &mut world.log) {
            world.tsvd.refuse(&delay);
        }
    }
    passed
}

/// A world in which thread 1 has a pass for this point.
fn hot(point: ApiPoint) -> World {
    let mut world = World::with(|_| {});
    // Two threads: nobody is alone.
    world.tsvd.on_call(MS, &read(9, 99, OTHER), &mut world.log);
    assert_eq!(visit(&mut world, 2 * MS, point, 500), 498, "the first two are looked at");
    world
}

#[test]
fn a_loop_goes_by_and_is_counted() {
    let world = hot(write(1, 1, OBJECT));
    assert_eq!(world.tsvd.stats().points, 501);
    assert!(world.tsvd.coverage(1).hit);
}

#[test]
fn a_pass_is_for_one_thread_one_site_and_one_object() {
    let world = hot(write(1, 1, OBJECT));
    assert!(!world.tsvd.passes(&write(2, 1, OBJECT), false));
    assert!(!world.tsvd.passes(&write(1, 2, OBJECT), false));
    assert!(!world.tsvd.passes(&write(1, 1, OTHER), false));
    assert!(world.tsvd.passes(&write(1, 1, OBJECT), false));
}

#[test]
fn calls_that_are_far_apart_are_all_looked_at() {
    let mut world = World::with(|_| {});
    for ms in 1..100 {
        assert!(!world.tsvd.passes(&write(1, 1, OBJECT), false));
        world.call(2 * ms, write(1, 1, OBJECT));
    }
}

#[test]
fn another_thread_sees_the_loop_and_the_loop_sees_it() {
    let mut world = hot(write(1, 1, OBJECT));
    let (came, at) = (read(2, 2, OBJECT), 3 * MS);
    assert!(world.tsvd.on_call(at, &came, &mut world.log).is_some(), "a near miss of what went by");
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
    assert!(!world.tsvd.passes(&write(1, 1, OBJECT), false));
}

#[test]
fn one_that_comes_long_after_the_loop_began_is_seen_by_its_next_call() {
    let mut world = hot(write(1, 1, OBJECT));
    // No call without a pass for a second, as if the loop had gone on so long with one.
    let came = read(2, 2, OBJECT);
    world.tsvd.on_call(1002 * MS, &came, &mut world.log);
    assert_eq!(world.state(1, 2), None, "nobody has seen thread 1 for a second");
    assert!(!world.tsvd.passes(&write(1, 1, OBJECT), false));
    world.tsvd.on_call(1002 * MS + US, &write(1, 1, OBJECT), &mut world.log);
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn while_a_trap_is_set_nothing_goes_by_on_its_object() {
    let mut world = hot(write(1, 1, OBJECT));
    visit(&mut world, 2 * MS, read(1, 2, OTHER), 10);
    world.seed(50, 51);
    let delay = world.call(3, read(3, 50, OTHER)).expect("its pair was seeded");
    assert!(!world.tsvd.passes(&write(1, 1, OBJECT), false), "the first call is seen: it does not wait");
    assert!(visit(&mut world, 3 * MS, write(1, 1, OBJECT), 10) > 0);
    assert_eq!(visit(&mut world, 3 * MS, read(1, 2, OTHER), 10), 0);
    world.wake(103, &delay);
    assert!(visit(&mut world, 103 * MS, read(1, 2, OTHER), 10) > 0);
}

/// A delay of thread 2 at site 7, from 3 to 103 ms, in which thread 1 comes to its loop so often;
/// and then after it.
fn delayed_beside_a_loop(times: u64) -> World {
    let mut world = hot(write(1, 1, OBJECT));
    world.seed(1, 7);
    // A pair that was not delayed yet makes the loop's site dangerous: its delays are refused.
    let delay = world.call(3, write(2, 7, OTHER)).expect("its pair was seeded");
    visit(&mut world, 4 * MS, write(1, 1, OBJECT), times);
    world.wake(103, &delay);
    world.tsvd.on_call(104 * MS, &write(1, 1, OBJECT), &mut world.log);
    world
}

#[test]
fn a_loop_that_went_on_has_not_waited_and_one_that_stood_still_has() {
    assert_eq!(delayed_beside_a_loop(0).state(1, 7), Some(PairState::Ordered));
    assert_eq!(delayed_beside_a_loop(100).state(1, 7), Some(PairState::Dangerous));
}

#[test]
fn where_a_site_becomes_dangerous_its_next_call_may_be_delayed() {
    let mut world = hot(write(1, 1, OBJECT));
    // The same site, two other threads, another object.
    world.tsvd.on_call(3 * MS, &write(2, 1, OTHER), &mut world.log);
    let delay = world.tsvd.on_call(3 * MS, &write(3, 1, OTHER), &mut world.log);
    world.tsvd.refuse(&delay.expect("a near miss"));
    assert!(!world.tsvd.passes(&write(1, 1, OBJECT), false));
    assert!(world.tsvd.on_call(3 * MS, &write(1, 1, OBJECT), &mut world.log).is_some());
}

#[test]
fn what_a_loop_does_after_it_created_a_thread_is_not_before_that_thread() {
    let mut world = hot(write(1, 1, OBJECT));
    world.tsvd.on_fork(3 * MS, 1, 2, &mut world.log);
    visit(&mut world, 3 * MS + US, write(1, 1, OBJECT), 10);
    world.tsvd.on_call(4 * MS, &write(2, 2, OBJECT), &mut world.log);
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn settled_pairs_are_no_reason_to_look() {
    let mut world = World::with(|_| {});
    let pair = TrapPair { site_a: 1, site_b: 2, probability: ONE, state: PairState::Ordered, gap: 0 };
    assert!(world.tsvd.seed(&pair, &mut world.log));
    let (mut passed, (one, two)) = (0, (write(1, 1, OBJECT), write(2, 2, OBJECT)));
    for i in 0..1000 {
        passed += visit(&mut world, MS + 2 * i * US, one, 1);
        passed += visit(&mut world, MS + (2 * i + 1) * US, two, 1);
    }
    assert!(passed > 1900, "{passed} of 2000");
    let came = world.tsvd.on_call(4 * MS, &write(3, 3, OBJECT), &mut world.log);
    assert!(came.is_some(), "a third site is another pair");
    assert!(world.state(1, 3).is_some() && world.state(2, 3).is_some());
}

#[test]
fn a_hot_site_whose_delays_are_not_allowed_goes_by_for_a_while() {
    let mut world = World::with(|params| params.thread_cap = 0);
    world.seed(1, 50);
    world.tsvd.on_call(MS, &read(9, 99, OTHER), &mut world.log);
    let passed = visit(&mut world, MS, write(1, 1, OBJECT), 1000);
    assert!((900..990).contains(&passed), "{passed}");
}

#[test]
fn an_object_that_has_ended_leaves_nothing_to_the_next_at_its_address() {
    let mut world = hot(write(1, 1, OBJECT));
    let end = write(1, 3, OBJECT);
    visit(&mut world, 3 * MS, end, 3);
    assert!(world.tsvd.passes(&end, true));
    assert!(world.tsvd.on_call(3 * MS, &write(2, 2, OBJECT), &mut world.log).is_none());
    assert_eq!((world.state(1, 2), world.state(2, 3)), (None, None));
}

#[test]
fn objects_that_are_made_again_and_again_at_one_address_go_by() {
    const THIRD: u64 = 0x7f00_3000;
    let mut world = hot(write(1, 1, OBJECT));
    let mut passed = 0;
    for i in 0..100 {
        for (point, ends) in [(write(1, 4, THIRD), false), (write(1, 5, THIRD), true)] {
            if world.tsvd.passes(&point, ends) {
                passed += 1;
                continue;
            }
            assert!(world.tsvd.on_call(3 * MS + i * US, &point, &mut world.log).is_none());
            if ends {
                world.tsvd.object_gone(THIRD);
            }
        }
    }
    assert!(passed > 190, "{passed} of 200");
}

#[test]
fn the_only_thread_goes_by_where_it_was_seen_once() {
    let mut world = World::with(|_| {});
    world.tsvd.watch_threads();
    let points = [read(0, 1, OBJECT), read(0, 1, OTHER), write(0, 1, OBJECT)];
    assert!(!world.tsvd.passes(&points[0], false), "nothing is known of the site");
    world.call(1, points[0]);
    assert!(points.iter().all(|point| world.tsvd.passes(point, false)), "on any object");
    assert!(!world.tsvd.passes(&read(0, 2, OBJECT), false) && !world.tsvd.passes(&read(1, 1, OBJECT), false));
    world.tsvd.on_fork(2 * MS, 0, 1, &mut world.log);
    assert!(!world.tsvd.passes(&points[0], false));
    world.tsvd.thread_gone(1, &mut world.log);
    assert!(world.tsvd.passes(&points[0], false));
    assert_eq!(world.tsvd.stats().points, 5);
}

#[test]
fn a_thread_that_nobody_told_of_ends_that() {
    let mut world = World::with(|_| {});
    world.tsvd.watch_threads();
    world.call(1, read(0, 1, OBJECT));
    world.call(2, read(7, 2, OBJECT));
    assert!(!world.tsvd.passes(&read(0, 1, OBJECT), false));
}

#[test]
fn a_caller_that_wants_all_gets_all() {
    let mut world = hot(write(1, 1, OBJECT));
    world.tsvd.want_all(true);
    assert_eq!(visit(&mut world, 3 * MS, write(1, 1, OBJECT), 10), 0);
    world.tsvd.want_all(false);
    assert_eq!(visit(&mut world, 3 * MS, write(1, 1, OBJECT), 10), 9, "passes of before are void");
}
