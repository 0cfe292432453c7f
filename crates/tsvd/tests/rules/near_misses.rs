//! 3.4.2: near misses.

use raddle_tsvd::{ApiPoint, PairState, technique};

use crate::world::{MS, OBJECT, OTHER, World, read, write};

/// Whether two calls, the second so many ms after the first, make a dangerous pair.
fn near_miss(first: ApiPoint, second: ApiPoint, apart: u64) -> bool {
    let mut world = World::with(|_| {});
    world.call(1000, first);
    world.call(1000 + apart, second);
    world.state(first.site.min(second.site), first.site.max(second.site)).is_some()
}

#[test]
fn conflicting_calls_within_the_window_are_a_near_miss() {
    assert!(near_miss(write(1, 1, OBJECT), read(2, 2, OBJECT), 0));
    assert!(near_miss(read(1, 1, OBJECT), write(2, 2, OBJECT), 100));
    assert!(near_miss(write(1, 1, OBJECT), write(2, 1, OBJECT), 100), "one site with itself");
    assert!(!near_miss(write(1, 1, OBJECT), write(2, 2, OBJECT), 101));
}

#[test]
fn reads_or_one_thread_or_two_objects_are_none() {
    assert!(!near_miss(read(1, 1, OBJECT), read(2, 2, OBJECT), 1));
    assert!(!near_miss(write(1, 1, OBJECT), write(1, 2, OBJECT), 1));
    assert!(!near_miss(write(1, 1, OBJECT), write(2, 2, OTHER), 1));
}

#[test]
fn the_last_five_accesses_of_an_object_are_looked_at() {
    let mut world = World::with(|_| {});
    for (time, site) in (0..6).enumerate() {
        world.call(1 + time as u64, read(1, site, OBJECT));
    }
    // The write is made by another thread, so that all are conflicts.
    world.call(10, write(2, 50, OBJECT));
    let partners: Vec<u32> = world.tsvd.pairs().map(|pair| pair.site_a).collect();
    assert_eq!((partners.len(), partners.contains(&0)), (5, false));
}

#[test]
fn an_object_at_the_address_of_one_that_is_gone_is_another() {
    let mut world = World::with(|_| {});
    world.call(1, write(1, 1, OBJECT));
    world.pass(2, write(2, 9, OBJECT));
    world.tsvd.object_gone(OBJECT);
    world.pass(3, write(3, 3, OBJECT));
    assert_eq!(
        (world.state(1, 9), world.state(3, 9), world.state(1, 3)),
        (Some(PairState::Dangerous), None, None)
    );
}

#[test]
fn without_windowing_any_time_ago_is_near() {
    let mut world = World::with(|params| params.techniques &= !technique::WINDOW);
    world.call(1, write(1, 1, OBJECT));
    world.call(60_000, write(2, 2, OBJECT));
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn each_window_and_each_history_can_be_set() {
    let mut world = World::with(|params| (params.window, params.history) = (5 * MS, 1));
    world.call(1, write(1, 1, OBJECT));
    world.call(7, write(2, 2, OBJECT));
    assert_eq!(world.state(1, 2), None, "6 ms are too far");
    world.call(8, read(1, 3, OBJECT));
    assert_eq!((world.state(1, 3), world.state(2, 3)), (None, Some(PairState::Dangerous)));
}
