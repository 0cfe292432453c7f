//! 3.4.3: concurrent phases.

use raddle_tsvd::{PairState, Params, Policy, technique};

use crate::world::{MS, OBJECT, OTHER, World, read, write};

/// A main thread fills a table, a thread that it starts warms up with `points` calls on something
/// else, and uses it.
fn handover(points: u64, params: &Params) -> World {
    let mut world = World::new(params);
    world.call(1, write(1, 1, OBJECT));
    for i in 0..points {
        world.call(2 + i, write(2, 7, OTHER));
    }
    world.call(40, read(2, 2, OBJECT));
    world
}

#[test]
fn accesses_in_sequential_phases_are_no_dangerous_pair() {
    assert_eq!(handover(15, &Params::paper(Policy::Tsvd)).state(1, 2), None);
    let buffer_still_holds_it = handover(14, &Params::paper(Policy::Tsvd));
    assert_eq!(buffer_still_holds_it.state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn one_of_the_two_in_a_concurrent_phase_is_enough() {
    let mut world = World::with(|_| {});
    world.call(1, read(3, 3, OTHER));
    // Concurrent: thread 3 was there just now.
    world.call(2, write(1, 1, OBJECT));
    for i in 0..20 {
        world.call(3 + i, read(2, 7, OTHER));
    }
    // Not concurrent.
    world.call(40, read(2, 2, OBJECT));
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
    assert!(world.tsvd.coverage(1).concurrent && !world.tsvd.coverage(2).concurrent);
}

#[test]
fn without_phases_any_near_miss_is_dangerous() {
    let params = Params { techniques: technique::PAPER & !technique::PHASE, ..Params::paper(Policy::Tsvd) };
    assert_eq!(handover(15, &params).state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn a_table_that_is_filled_before_its_users_start_is_no_dangerous_pair() {
    let pair = |created: Option<u64>, filled_by: u32| {
        let mut world = World::with(|_| {});
        world.call(1, write(filled_by, 1, OBJECT));
        if let Some(ms) = created {
            world.tsvd.on_fork(ms * MS, 1, 2, &mut world.log);
        }
        world.call(10, read(2, 2, OBJECT));
        world.state(1, 2)
    };
    assert_eq!(pair(Some(5), 1), None);
    assert_eq!(pair(None, 1), Some(PairState::Dangerous), "nobody told");
    assert_eq!(pair(Some(0), 1), Some(PairState::Dangerous), "filled after the thread was there");
    assert_eq!(pair(Some(5), 3), Some(PairState::Dangerous), "filled by one who did not create it");
}

#[test]
fn coverage_tells_hit_from_hit_in_a_concurrent_phase() {
    let world = handover(20, &Params::paper(Policy::Tsvd));
    let of = |site| (world.tsvd.coverage(site).hit, world.tsvd.coverage(site).concurrent);
    assert_eq!((of(1), of(7), of(2), of(3)), ((true, false), (true, true), (true, false), (false, false)));
    let stats = world.tsvd.stats();
    assert_eq!((stats.points, stats.concurrent), (22, 15));
}
