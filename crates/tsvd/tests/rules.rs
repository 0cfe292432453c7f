//! Each rule of section 3.4, with the paper's figure as the scenario where it has one. Time is simulated.

use raddle_tsvd::{Delay, Host, ONE, PairState, Params, Point, Policy, TrapPair, Tsvd, Violation, technique};

const MS: u64 = 1_000_000;
const OBJECT: u64 = 0x7f00_1000;
const OTHER: u64 = 0x7f00_2000;

#[derive(Default)]
struct Log(Vec<Violation>);

impl Host for Log {
    fn violation(&mut self, violation: &Violation) {
        self.0.push(*violation);
    }
}

/// One process and what it reported.
struct World {
    tsvd: Box<Tsvd>,
    log: Log,
}

impl World {
    fn new(params: &Params) -> World {
        World { tsvd: Tsvd::boxed(params), log: Log::default() }
    }

    fn with(change: impl FnOnce(&mut Params)) -> World {
        let mut params = Params::default();
        change(&mut params);
        World::new(&params)
    }

    /// A call; if it is delayed, the trap is set.
    fn call(&mut self, ms: u64, point: Point) -> Option<Delay> {
        let delay = self.tsvd.on_call(ms * MS, &point, &mut self.log)?;
        assert!(self.tsvd.trap_set(&delay, u64::from(point.thread), &mut self.log));
        Some(delay)
    }

    /// A call whose delay, if any, ends before anything else happens.
    fn pass(&mut self, ms: u64, point: Point) -> bool {
        let delay = self.call(ms, point);
        delay.inspect(|delay| _ = self.wake(ms + delay.nanos / MS, delay)).is_some()
    }

    fn wake(&mut self, ms: u64, delay: &Delay) -> bool {
        self.tsvd.delay_done(ms * MS, delay, &mut self.log)
    }

    fn state(&self, a: u32, b: u32) -> Option<PairState> {
        let mut pairs = self.tsvd.pairs();
        pairs.find(|pair| (pair.site_a, pair.site_b) == (a, b)).map(|pair| pair.state)
    }

    fn probability(&self, a: u32, b: u32) -> u32 {
        let pair = self.tsvd.pairs().find(|pair| (pair.site_a, pair.site_b) == (a, b));
        pair.map_or(0, |pair| pair.probability)
    }

    fn seed(&mut self, a: u32, b: u32) {
        let pair = TrapPair { site_a: a, site_b: b, probability: ONE, state: PairState::Dangerous };
        assert!(self.tsvd.seed(&pair, &mut self.log));
    }
}

fn write(thread: u32, site: u32, object: u64) -> Point {
    Point { thread, site, object, write: true }
}

fn read(thread: u32, site: u32, object: u64) -> Point {
    Point { thread, site, object, write: false }
}

/// A world with no thread delayed but by a trap at site 9 that the caller sets.
fn trapped(point: Point) -> (World, Delay) {
    let mut world = World::with(|_| {});
    world.seed(point.site, 900);
    let delay = world.call(1, point).expect("its pair was seeded");
    (world, delay)
}

// 3.1, Figure 5: traps.

#[test]
fn figure_1_an_add_and_a_lookup_at_once_are_a_violation() {
    let (mut world, delay) = trapped(write(1, 9, OBJECT));
    assert!(world.call(50, read(2, 4, OBJECT)).is_none());
    assert!(world.wake(101, &delay));
    let [violation] = world.log.0[..] else { panic!("one violation: {:?}", world.log.0) };
    assert_eq!((violation.trapped, violation.caller), (write(1, 9, OBJECT), read(2, 4, OBJECT)));
    assert_eq!((violation.cookie, violation.repeated), (1, false));
    assert_eq!(world.state(4, 9), Some(PairState::Found));
}

#[test]
fn two_lookups_at_once_are_none() {
    let (mut world, delay) = trapped(read(1, 9, OBJECT));
    world.call(50, read(2, 4, OBJECT));
    assert!(!world.wake(101, &delay) && world.log.0.is_empty());
}

#[test]
fn another_object_is_none() {
    let (mut world, delay) = trapped(write(1, 9, OBJECT));
    world.call(50, write(2, 4, OTHER));
    assert!(!world.wake(101, &delay) && world.log.0.is_empty());
}

#[test]
fn the_thread_itself_is_none() {
    // A signal handler that calls, say.
    let (mut world, delay) = trapped(write(1, 9, OBJECT));
    world.call(50, write(1, 4, OBJECT));
    assert!(!world.wake(101, &delay) && world.log.0.is_empty());
}

#[test]
fn a_trap_that_was_cleared_is_none() {
    let (mut world, delay) = trapped(write(1, 9, OBJECT));
    assert!(!world.wake(101, &delay));
    world.call(101, write(2, 4, OBJECT));
    assert!(world.log.0.is_empty());
}

#[test]
fn a_thread_that_ended_while_it_was_held_leaves_no_trap() {
    let (mut world, _) = trapped(write(1, 9, OBJECT));
    world.tsvd.thread_gone(1, &mut world.log);
    world.call(50, write(2, 4, OBJECT));
    assert!(world.log.0.is_empty());
}

#[test]
fn a_child_of_a_fork_has_no_traps_of_its_parent() {
    let (mut world, _) = trapped(write(1, 9, OBJECT));
    world.tsvd.forked();
    world.call(50, write(2, 4, OBJECT));
    assert!(world.log.0.is_empty());
}

#[test]
fn two_threads_that_set_their_traps_at_the_same_moment_are_caught_once() {
    let mut world = World::with(|_| {});
    world.seed(9, 9);
    let one = world.tsvd.on_call(MS, &write(1, 9, OBJECT), &mut world.log).unwrap();
    let two = world.tsvd.on_call(MS, &write(2, 9, OBJECT), &mut world.log).unwrap();
    assert!(world.tsvd.trap_set(&one, 0, &mut world.log) && world.log.0.is_empty());
    assert!(world.tsvd.trap_set(&two, 0, &mut world.log));
    assert_eq!(world.log.0.len(), 1, "neither saw a trap when it came");
    assert!(world.wake(101, &one) && world.wake(101, &two), "both were sprung");
}

#[test]
fn a_pair_found_twice_is_told_as_repeated() {
    let (mut world, _) = trapped(write(1, 9, OBJECT));
    world.call(50, write(2, 4, OBJECT));
    world.call(60, write(3, 4, OBJECT));
    assert_eq!(world.log.0.iter().map(|v| v.repeated).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn who_springs_a_trap_is_not_held_itself() {
    let (mut world, _) = trapped(write(1, 9, OBJECT));
    world.seed(4, 5);
    assert!(world.call(50, write(2, 4, OBJECT)).is_none());
    assert!(world.call(60, write(2, 4, OTHER)).is_some(), "elsewhere it would be");
}

// 3.4.2: near misses.

/// Whether two calls, the second so many ms after the first, make a dangerous pair.
fn near_miss(first: Point, second: Point, apart: u64) -> bool {
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

// 3.4.3: concurrent phases.

/// A main thread fills a table, a thread that it starts warms up with `points` calls on something else, and uses it.
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
    assert_eq!(handover(15, &Params::default()).state(1, 2), None);
    let buffer_still_holds_it = handover(14, &Params::default());
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
    let params = Params { techniques: technique::ALL & !technique::PHASE, ..Params::default() };
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
    let world = handover(20, &Params::default());
    let of = |site| (world.tsvd.coverage(site).hit, world.tsvd.coverage(site).concurrent);
    assert_eq!((of(1), of(7), of(2), of(3)), ((true, false), (true, true), (true, false), (false, false)));
    let stats = world.tsvd.stats();
    assert_eq!((stats.points, stats.concurrent), (22, 15));
}

// 3.4.4, Figure 6: order inferred from delays. Thread 1 is held at loc1 (site 1) from 100 to 200 ms; thread 2 makes an
// access at t0 and its next at t2 (site 2).

struct Figure6 {
    params: Params,
    t0: u64,
    t2: u64,
}

impl Figure6 {
    fn play(&self) -> World {
        let mut world = World::new(&self.params);
        world.seed(1, 2);
        world.seed(1, 3);
        world.call(self.t0, read(2, 8, OTHER));
        let delay = world.call(100, write(1, 1, OBJECT)).expect("loc1 is in the trap set");
        if self.t2 < 200 {
            world.pass(self.t2, write(2, 2, OTHER));
            world.wake(200, &delay);
        } else {
            world.wake(200, &delay);
            world.pass(self.t2, write(2, 2, OTHER));
        }
        world
    }
}

fn figure_6(t0: u64, t2: u64) -> Option<PairState> {
    Figure6 { params: Params::default(), t0, t2 }.play().state(1, 2)
}

#[test]
fn figure_6_a_thread_that_waited_for_a_delay_is_ordered_after_it() {
    assert_eq!(figure_6(90, 201), Some(PairState::Ordered));
}

#[test]
fn figure_6_the_gap_must_last_half_a_delay() {
    assert_eq!(figure_6(91, 201), Some(PairState::Ordered));
    assert_eq!(figure_6(151, 201), Some(PairState::Ordered), "50 ms");
    let params = Params { gap: 8 * ONE / 10, ..Params::default() };
    assert_eq!(Figure6 { params, t0: 91, t2: 201 }.play().state(1, 2), Some(PairState::Ordered));
    assert_eq!(Figure6 { params, t0: 99, t2: 178 }.play().state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn figure_6_the_gap_must_meet_the_end_of_the_delay() {
    assert_eq!(figure_6(90, 170), Some(PairState::Dangerous), "it went on while loc1 was held");
    let params = Params { inferred: 0, ..Params::default() };
    let mut world = Figure6 { params, t0: 90, t2: 201 }.play();
    world.seed(1, 5);
    world.pass(500, read(2, 8, OTHER));
    world.pass(900, write(2, 5, OTHER));
    assert_eq!(world.state(1, 5), Some(PairState::Dangerous), "nobody was held in this gap");
}

#[test]
fn figure_6_short_gaps_infer_nothing() {
    let mut world = World::with(|_| {});
    world.seed(1, 2);
    let delay = world.call(100, write(1, 1, OBJECT)).unwrap();
    world.call(190, read(2, 8, OTHER));
    world.wake(200, &delay);
    world.pass(201, write(2, 2, OTHER));
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn figure_6_the_first_access_of_a_thread_ends_no_gap() {
    let mut world = World::with(|_| {});
    world.seed(1, 2);
    world.pass(100, write(1, 1, OBJECT));
    world.pass(201, write(2, 2, OTHER));
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn figure_6_a_thread_held_itself_has_not_waited_for_another() {
    let mut world = World::with(|_| {});
    world.seed(1, 2);
    world.seed(2, 2);
    world.seed(8, 8);
    let one = world.call(100, write(1, 1, OBJECT)).unwrap();
    let two = world.call(110, write(2, 8, OTHER)).unwrap();
    world.wake(200, &one);
    world.wake(210, &two);
    world.pass(211, write(2, 2, OTHER));
    assert_eq!(world.state(1, 2), Some(PairState::Dangerous), "its gap began at 210");
}

#[test]
fn figure_6_the_next_k_accesses_are_ordered_too() {
    let mut world = World::with(|_| {});
    for site in 2..12 {
        world.seed(1, site);
    }
    world.call(90, read(2, 90, OTHER));
    world.pass(100, write(1, 1, OBJECT));
    // Each is delayed once it is found not to be ordered, which ends the series.
    let mut time = 201;
    for site in 2..12 {
        time += if world.pass(time, write(2, site, OTHER)) { 101 } else { 1 };
    }
    let ordered: Vec<u32> =
        (2..12).filter(|site| world.state(1, *site) == Some(PairState::Ordered)).collect();
    assert_eq!(ordered, [2, 3, 4, 5, 6, 7], "the access that waited and five more");
}

#[test]
fn figure_6_the_delay_that_ended_last_takes_the_blame() {
    let mut world = World::with(|_| {});
    for site in [1, 3] {
        world.seed(site, site);
        world.seed(2, site);
    }
    world.call(90, read(2, 8, OTHER));
    let first = world.call(100, write(1, 1, OBJECT)).unwrap();
    let last = world.call(120, write(3, 3, OTHER + 8)).unwrap();
    world.wake(200, &first);
    world.wake(220, &last);
    world.pass(221, write(2, 2, OTHER));
    assert_eq!(
        (world.state(1, 2), world.state(2, 3)),
        (Some(PairState::Dangerous), Some(PairState::Ordered))
    );
}

#[test]
fn without_inference_nothing_is_ordered() {
    let params = Params { techniques: technique::ALL & !technique::HB_INFERENCE, ..Params::default() };
    assert_eq!(Figure6 { params, t0: 90, t2: 201 }.play().state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn an_ordered_pair_is_not_dangerous_again_in_this_run() {
    let mut world = Figure6 { params: Params::default(), t0: 90, t2: 201 }.play();
    world.pass(1000, write(3, 1, OTHER));
    assert!(!world.pass(1001, write(4, 2, OTHER)), "a near miss");
    assert_eq!(world.state(1, 2), Some(PairState::Ordered));
}

// 3.4.5: decay.

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

// 3.4.6: when.

#[test]
fn planning_and_delaying_are_in_one_run_and_even_in_one_call() {
    let mut world = World::with(|_| {});
    assert!(world.call(1, write(1, 1, OBJECT)).is_none());
    assert_eq!(world.call(3, read(2, 2, OBJECT)).map(|delay| delay.nanos), Some(100 * MS));
    assert!(world.call(50, write(1, 1, OBJECT)).is_none());
    assert_eq!(world.log.0.len(), 1, "the second chance is enough");
}

#[test]
fn a_second_run_delays_at_the_first_occurrence() {
    let mut first = World::with(|_| {});
    first.pass(1, write(1, 1, OBJECT));
    first.pass(3, read(2, 2, OBJECT));
    assert!(first.log.0.is_empty(), "they met only once");
    let mut second = World::with(|_| {});
    for pair in first.tsvd.pairs() {
        assert_eq!(
            pair,
            TrapPair { site_a: 1, site_b: 2, probability: 9 * ONE / 10, state: PairState::Dangerous }
        );
        assert!(second.tsvd.seed(&TrapPair { probability: ONE, ..pair }, &mut second.log));
    }
    assert!(second.call(1, write(1, 1, OBJECT)).is_some());
    second.call(3, read(2, 2, OBJECT));
    assert_eq!(second.log.0.len(), 1);
}

#[test]
fn what_an_earlier_run_reported_is_not_delayed_and_is_told_as_repeated() {
    let mut world = World::with(|_| {});
    let found = TrapPair { site_a: 1, site_b: 2, probability: 0, state: PairState::Found };
    assert!(world.tsvd.seed(&found, &mut world.log));
    world.call(1, write(1, 1, OBJECT));
    assert!(world.call(2, write(2, 2, OBJECT)).is_none());
    world.seed(1, 1);
    assert!(world.call(10, write(1, 1, OBJECT)).is_some(), "for another pair");
    world.call(20, write(2, 2, OBJECT));
    assert!(world.log.0[0].repeated);
}

#[test]
fn several_threads_are_held_at_once() {
    let mut world = World::with(|_| {});
    world.seed(1, 1);
    assert!(world.call(1, write(1, 1, OBJECT)).is_some() && world.call(2, write(2, 1, OTHER)).is_some());
    let mut one_at_a_time = World::with(|params| params.techniques &= !technique::PARALLEL);
    one_at_a_time.seed(1, 1);
    assert!(one_at_a_time.call(1, write(1, 1, OBJECT)).is_some());
    assert!(one_at_a_time.call(2, write(2, 1, OTHER)).is_none());
}

// Section 4: caps.

fn delays_until_refused(change: impl FnOnce(&mut Params), thread: impl Fn(u32) -> u32) -> u64 {
    let mut world = World::with(|params| {
        // So that the pair stays: the threads take turns, which looks like order.
        (params.decay, params.techniques) = (0, technique::ALL & !technique::HB_INFERENCE);
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

// 3.2, 3.3, 3.5: the other policies.

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
    world.tsvd.on_join(1, 3, &mut world.log);
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
