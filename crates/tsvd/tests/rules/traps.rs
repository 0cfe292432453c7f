//! 3.1, Figure 5: traps.

use raddle_tsvd::PairState;

use crate::world::{MS, OBJECT, OTHER, World, read, trapped, write};

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

/// A host whose objects may look the same.
struct Doubtful(usize);

impl raddle_tsvd::Host for Doubtful {
    fn is_one_object(&mut self, _: &raddle_tsvd::Violation) -> bool {
        false
    }
    fn violation(&mut self, _: &raddle_tsvd::Violation) {
        self.0 += 1;
    }
}

#[test]
fn two_objects_that_look_like_one_are_no_violation() {
    let (world, delay) = trapped(write(1, 9, OBJECT));
    let mut host = Doubtful(0);
    world.tsvd.on_call(2 * MS, &write(2, 3, OBJECT), &mut host);
    assert_eq!((host.0, world.state(3, 9)), (0, Some(PairState::Dangerous)), "a near miss, not a catch");
    assert!(!world.tsvd.delay_done(101 * MS, &delay, &mut host), "nobody has come");
}
