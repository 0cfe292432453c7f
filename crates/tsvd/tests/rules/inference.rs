//! 3.4.4, Figure 6: order inferred from delays. Thread 1 is held at loc1 (site 1) from 100 to 200
//! ms; thread 2 makes an access at t0 and its next at t2 (site 2).

use raddle_tsvd::{ONE, PairState, Params, Policy, technique};

use crate::world::{MS, OBJECT, OTHER, World, read, write};

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
    Figure6 { params: Params::paper(Policy::Tsvd), t0, t2 }.play().state(1, 2)
}

#[test]
fn figure_6_a_thread_that_waited_for_a_delay_is_ordered_after_it() {
    assert_eq!(figure_6(90, 201), Some(PairState::Ordered));
}

#[test]
fn figure_6_the_gap_must_last_half_a_delay() {
    assert_eq!(figure_6(91, 201), Some(PairState::Ordered));
    assert_eq!(figure_6(151, 201), Some(PairState::Ordered), "50 ms");
    let params = Params { gap: 8 * ONE / 10, ..Params::paper(Policy::Tsvd) };
    assert_eq!(Figure6 { params, t0: 91, t2: 201 }.play().state(1, 2), Some(PairState::Ordered));
    assert_eq!(Figure6 { params, t0: 99, t2: 178 }.play().state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn figure_6_the_gap_must_meet_the_end_of_the_delay() {
    assert_eq!(figure_6(90, 170), Some(PairState::Dangerous), "it went on while loc1 was held");
    let params = Params { inferred: 0, ..Params::paper(Policy::Tsvd) };
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
    let params =
        Params { techniques: technique::PAPER & !technique::HB_INFERENCE, ..Params::paper(Policy::Tsvd) };
    assert_eq!(Figure6 { params, t0: 90, t2: 201 }.play().state(1, 2), Some(PairState::Dangerous));
}

#[test]
fn an_ordered_pair_is_not_dangerous_again_in_this_run() {
    let mut world = Figure6 { params: Params::paper(Policy::Tsvd), t0: 90, t2: 201 }.play();
    world.pass(1000, write(3, 1, OTHER));
    assert!(!world.pass(1001, write(4, 2, OTHER)), "a near miss");
    assert_eq!(world.state(1, 2), Some(PairState::Ordered));
}

/// A thread of a pool had nothing to do while thread 1 was held, and then got a new piece of work.
fn new_work_at(begin: u64) -> Option<PairState> {
    let mut world = World::with(|_| {});
    world.seed(1, 2);
    world.call(90, read(2, 8, OTHER));
    let delay = world.call(100, write(1, 1, OBJECT)).unwrap();
    world.tsvd.work_begins(begin * MS, 2);
    world.wake(200, &delay);
    world.pass(201, write(2, 2, OTHER));
    world.state(1, 2)
}

#[test]
fn work_that_began_late_has_not_waited_for_a_delay() {
    assert_eq!(new_work_at(199), Some(PairState::Dangerous));
    assert_eq!(new_work_at(110), Some(PairState::Ordered), "it began early, and waited");
}
