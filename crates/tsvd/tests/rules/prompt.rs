//! Extension 6: a gap is blamed on a delay only if it ends soon after it. Figure 6 again: thread 1
//! is held at loc1 from 100 to 200 ms, and thread 2, whose last access was at 90, makes its next at
//! t2.

use raddle_tsvd::PairState::{self, Dangerous, Ordered};
use raddle_tsvd::technique::PROMPT;

use crate::world::{OBJECT, OTHER, World, read, write};

fn figure_6(techniques: u32, t2: u64) -> Option<PairState> {
    let mut world = World::extended(techniques);
    world.seed(1, 2);
    world.call(90, read(2, 8, OTHER));
    world.pass(100, write(1, 1, OBJECT));
    world.pass(t2, write(2, 2, OTHER));
    world.state(1, 2)
}

#[test]
fn who_goes_on_long_after_the_delay_has_not_waited_for_it() {
    assert_eq!(
        [201, 250, 251].map(|t2| figure_6(PROMPT, t2)),
        [Some(Ordered), Some(Ordered), Some(Dangerous)]
    );
    assert_eq!(
        [201, 390].map(|t2| figure_6(0, t2)),
        [Some(Ordered); 2],
        "the paper: any gap that is long enough"
    );
}

/// The same with a patient delay of 300 ms, from 100 to 400.
fn patient(t0: u64) -> Option<PairState> {
    let mut world = World::with(|params| {
        params.techniques |= PROMPT;
        params.patience = 5;
    });
    world.seed_at(1, 2, 150);
    world.call(t0, read(2, 8, OTHER));
    let delay = world.call(100, write(1, 1, OBJECT)).unwrap();
    world.wake(400, &delay);
    world.pass(401, write(2, 2, OTHER));
    world.state(1, 2)
}

#[test]
fn a_longer_delay_has_to_make_a_longer_gap() {
    assert_eq!(patient(90), Some(Ordered));
}

#[test]
fn half_a_usual_delay_is_nothing_beside_a_patient_one() {
    let mut world = World::with(|params| {
        params.techniques |= PROMPT;
        params.patience = 5;
    });
    world.seed_at(1, 2, 150);
    let delay = world.call(100, write(1, 1, OBJECT)).unwrap();
    world.call(300, read(2, 8, OTHER));
    world.wake(400, &delay);
    world.pass(401, write(2, 2, OTHER));
    assert_eq!(world.state(1, 2), Some(Dangerous), "101 ms");
}
