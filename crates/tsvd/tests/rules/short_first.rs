//! Extension 3: the first delay of a pair that came very near is short.

use raddle_tsvd::technique::SHORT_FIRST;

use crate::world::{MS, OBJECT, World, read, write};

/// How long the first delay is after a near miss so many ms apart.
fn first(techniques: u32, apart: u64) -> u64 {
    let mut world = World::extended(techniques);
    world.call(1, write(1, 1, OBJECT));
    world.call(1 + apart, read(2, 2, OBJECT)).unwrap().nanos / MS
}

#[test]
fn it_is_as_long_as_inference_needs_and_twice_the_gap() {
    assert_eq!([2, 10, 25, 40, 100].map(|apart| first(SHORT_FIRST, apart)), [54, 70, 100, 100, 100]);
    assert_eq!([2, 100].map(|apart| first(0, apart)), [100, 100], "the paper's is always the same");
}

#[test]
fn when_it_has_failed_the_next_is_whole() {
    let mut world = World::extended(SHORT_FIRST);
    world.call(1, write(1, 1, OBJECT));
    assert!(world.pass(3, read(2, 2, OBJECT)));
    let next = (0..20).find_map(|_| world.call(300, read(2, 2, OBJECT)));
    assert_eq!(next.map(|delay| delay.nanos), Some(100 * MS));
}

#[test]
fn a_pair_whose_gap_is_not_known_gets_a_whole_one() {
    let mut world = World::extended(SHORT_FIRST);
    world.seed(1, 2);
    assert_eq!(world.call(1, write(1, 1, OBJECT)).map(|delay| delay.nanos), Some(100 * MS));
}

#[test]
fn of_several_pairs_the_one_that_needs_most_says_how_long() {
    let mut world = World::extended(SHORT_FIRST);
    world.seed_at(1, 2, 20);
    world.seed_at(2, 3, 5);
    assert_eq!(world.call(1, read(2, 2, OBJECT)).map(|delay| delay.nanos), Some(90 * MS));
}
