//! Extension 1: joins.

use raddle_tsvd::technique::JOINS;

use crate::world::{MS, OBJECT, World, read, write};

/// Thread 1 writes; thread 0 joins it, or does not, and reads.
fn after_the_join(techniques: u32, joins: bool) -> World {
    let mut world = World::extended(techniques);
    world.call(10, write(1, 1, OBJECT));
    if joins {
        world.tsvd.on_join(12 * MS, 0, 1, &mut world.log);
    }
    world.call(14, read(0, 2, OBJECT));
    world
}

#[test]
fn what_a_joined_thread_did_is_no_near_miss() {
    assert_eq!(after_the_join(JOINS, true).state(1, 2), None);
    assert!(after_the_join(JOINS, false).state(1, 2).is_some(), "nobody has joined it");
    assert!(after_the_join(0, true).state(1, 2).is_some(), "the paper looks at no synchronisation");
}

#[test]
fn a_third_thread_has_not_joined_it() {
    let mut world = after_the_join(JOINS, true);
    world.call(16, read(3, 3, OBJECT));
    assert!(world.state(1, 3).is_some());
}

#[test]
fn what_a_thread_had_joined_happens_before_those_it_creates_later() {
    let mut world = World::extended(JOINS);
    world.tsvd.on_fork(MS, 0, 1, &mut world.log);
    world.tsvd.on_fork(2 * MS, 0, 2, &mut world.log);
    world.call(10, write(1, 1, OBJECT));
    world.tsvd.on_join(12 * MS, 0, 1, &mut world.log);
    world.tsvd.on_fork(13 * MS, 0, 3, &mut world.log);
    world.call(14, read(3, 3, OBJECT));
    assert_eq!(world.state(1, 3), None);
    world.call(15, read(2, 2, OBJECT));
    assert!(world.state(1, 2).is_some(), "that one was there before the join");
}
