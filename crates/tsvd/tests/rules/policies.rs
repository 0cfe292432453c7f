//! 3.2, 3.3, 3.5: the other policies.

use raddle_tsvd::{PairState, Params, Policy};

use crate::world::{MS, OBJECT, World, write};

#[test]
fn dynamic_random_delays_one_point_in_twenty_for_a_random_time() {
    let params = Params {
        thread_cap: u64::MAX,
        test_cap: u64::MAX,
        run_cap: u64::MAX,
        ..Params::new(Policy::DynamicRandom)
    };
    let mut world = World::new(&params);
    let delays: Vec<u64> = (0..4000)
        .filter_map(|i| {
            let delay = world.call(1 + i * 200, write(1, (i % 7) as u32, OBJECT + i))?;
            world.wake(1 + i * 200 + 100, &delay);
            Some(delay.nanos)
        })
        .collect();
    assert!((150..250).contains(&delays.len()), "{}", delays.len());
    assert!(delays.iter().all(|nanos| (1..=100 * MS).contains(nanos)));
    let mean = delays.iter().sum::<u64>() / delays.len() as u64 / MS;
    assert!((40..60).contains(&mean), "uniform: {mean} ms");
}

#[test]
fn static_random_delays_a_cold_site_as_often_as_a_hot_one() {
    let params = Params {
        thread_cap: u64::MAX,
        test_cap: u64::MAX,
        run_cap: u64::MAX,
        ..Params::new(Policy::StaticRandom)
    };
    let mut world = World::new(&params);
    let mut delays = [0; 2];
    for i in 0..20_000 {
        let site = u32::from(i % 10 == 9);
        delays[site as usize] += u32::from(world.pass(1 + 200 * i, write(1, site, OBJECT)));
    }
    let (hot, cold) = (delays[0], delays[1]);
    assert!(hot > 500 && cold * 10 > hot * 8 && hot * 10 > cold * 8, "hot {hot}, cold {cold}");
}

#[test]
fn tsvd_hb_takes_unordered_conflicts_however_far_apart() {
    let mut world = World::new(&Params::new(Policy::TsvdHb));
    world.call(1, write(1, 1, OBJECT));
    world.call(60_000, write(2, 2, OBJECT));
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn tsvd_hb_knows_locks_forks_and_joins() {
    const LOCK: u64 = 0x10;
    let mut world = World::new(&Params::new(Policy::TsvdHb));
    world.call(1, write(1, 1, OBJECT));
    world.tsvd.on_fork(MS, 1, 2, &mut world.log);
    world.call(2, write(2, 2, OBJECT));
    world.tsvd.on_release(2, LOCK, &mut world.log);
    world.tsvd.on_acquire(3, LOCK, &mut world.log);
    world.call(3, write(3, 3, OBJECT));
    world.tsvd.on_join(MS, 1, 3, &mut world.log);
    world.call(4, write(1, 4, OBJECT));
    assert_eq!(world.tsvd.pairs().count(), 0, "each happens before the next, also beyond its neighbour");
    world.call(5, write(2, 5, OBJECT));
    assert_eq!(world.state(4, 5), Some(PairState::Dangerous));
    assert_eq!(world.state(2, 5), None, "its own");
}

#[test]
fn tsvd_hb_orders_nothing_by_what_came_after_a_release() {
    let mut world = World::new(&Params::new(Policy::TsvdHb));
    world.tsvd.on_release(1, 0x10, &mut world.log);
    world.call(1, write(1, 1, OBJECT));
    world.tsvd.on_acquire(2, 0x10, &mut world.log);
    world.call(2, write(2, 2, OBJECT));
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn a_site_beyond_the_table_is_passed_over() {
    let mut world = World::with(|_| {});
    world.call(1, write(1, raddle_tsvd::MAX_SITES, OBJECT));
    assert!(world.call(2, write(2, raddle_tsvd::MAX_SITES, OBJECT)).is_none());
    assert_eq!(world.tsvd.stats().points, 0);
}
