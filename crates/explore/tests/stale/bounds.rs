//! Threads' lives, and what happens where the model's room ends.

use raddle_explore::stale::{AtomicObject, AtomicOrder::*, HISTORY, PATIENCE, THREADS};

use crate::machine::Do::*;
use crate::machine::{Machine, Made};

fn at(address: u64, size: u8, value: u128) -> AtomicObject {
    AtomicObject { address, size, value }
}

#[test]
fn a_thread_begins_with_what_its_parent_knows_and_leaves_what_it_knows_to_who_joins_it() {
    let mut m = Machine::new(3);
    m.step(Made { thread: 0, what: Store(0, 1, Relaxed), back: 0 });
    assert_eq!(m.candidates(1, Load(0, Relaxed)), 2);
    m.model.create(0, 1);
    assert_eq!(m.candidates(1, Load(0, Relaxed)), 1);
    m.step(Made { thread: 1, what: Store(0, 2, Relaxed), back: 0 });
    assert_eq!(m.candidates(0, Load(0, Relaxed)), 2);
    m.model.join(0, 1);
    assert_eq!(m.candidates(0, Load(0, Relaxed)), 1);
}

#[test]
fn the_oldest_stores_are_forgotten() {
    let mut m = Machine::new(2);
    for value in 1..=20 {
        m.step(Made { thread: 0, what: Store(0, value, Relaxed), back: 0 });
    }
    assert_eq!(m.candidates(1, Load(0, Relaxed)), HISTORY);
    m.step(Made { thread: 1, what: Load(0, Relaxed), back: HISTORY - 1 });
    assert_eq!(m.registers[1], [20 - HISTORY as u8 + 1]);
}

#[test]
fn a_loop_that_waits_for_a_value_gets_it() {
    let mut m = Machine::new(2);
    m.step(Made { thread: 0, what: Store(0, 1, Relaxed), back: 0 });
    for _ in 0..PATIENCE {
        assert_eq!(m.candidates(1, Load(0, Relaxed)), 2);
        m.step(Made { thread: 1, what: Load(0, Relaxed), back: 1 });
    }
    assert_eq!(m.candidates(1, Load(0, Relaxed)), 1);
    m.step(Made { thread: 1, what: Load(0, Relaxed), back: 0 });
    // A further store may be missed again.
    m.step(Made { thread: 0, what: Store(0, 2, Relaxed), back: 0 });
    assert_eq!(m.candidates(1, Load(0, Relaxed)), 2);
}

#[test]
fn memory_that_is_freed_or_written_plainly_begins_anew() {
    let mut m = Machine::new(2);
    let stale = |m: &mut Machine, value| m.model.candidates(1, at(0x1000, 4, value), Relaxed);
    m.model.store(0, at(0x1000, 4, 0), Relaxed, 1);
    assert_eq!(stale(&mut m, 1), 2);
    m.model.forget(0x0f00, 0x1000);
    assert_eq!(stale(&mut m, 1), 2, "up to it, but not it");
    m.model.forget(0x1003, 0x1004);
    assert_eq!(stale(&mut m, 1), 1);
    m.model.store(0, at(0x1000, 4, 1), Relaxed, 2);
    assert_eq!(stale(&mut m, 2), 2);
    m.model.forget(0x0f00, 0x1001);
    assert_eq!(stale(&mut m, 2), 1);
    // Written unseen: the value is another.
    m.model.store(0, at(0x1000, 4, 2), Relaxed, 3);
    assert_eq!(stale(&mut m, 9), 1);
}

#[test]
fn objects_of_two_sizes_are_read_as_they_are_and_synchronise() {
    for (first, second) in
        [((0x1000, 8), (0x1000, 4)), ((0x1000, 8), (0x1004, 4)), ((0x1004, 4), (0x1000, 8))]
    {
        let mut m = Machine::new(2);
        m.step(Made { thread: 0, what: Store(3, 1, Relaxed), back: 0 });
        m.model.store(0, at(first.0, first.1, 0), Release, 1);
        let place = at(second.0, second.1, 1);
        assert_eq!(m.model.candidates(1, place, Relaxed), 1);
        assert_eq!(m.candidates(1, Load(3, Relaxed)), 2);
        assert_eq!(m.model.load(1, place, Relaxed, 0), 1);
        assert_eq!(m.candidates(1, Load(3, Relaxed)), 1, "{first:?} {second:?}");
    }
}

#[test]
fn neighbours_are_not_mixed() {
    let mut m = Machine::new(2);
    m.model.store(0, at(0x1000, 4, 0), Relaxed, 1);
    m.model.store(0, at(0x1004, 4, 0), Relaxed, 1);
    m.model.store(0, at(0x1008, 1, 0), Relaxed, 1);
    for place in [at(0x1000, 4, 1), at(0x1004, 4, 1), at(0x1008, 1, 1)] {
        assert_eq!(m.model.candidates(1, place, Relaxed), 2);
    }
}

#[test]
fn beyond_the_room_every_access_synchronises() {
    let mut m = Machine::new(2);
    let place = |i: u64, value| at(0x10_0000 + 32 * i, 8, value);
    for i in 0..2000 {
        m.model.store(0, place(i, 0), Relaxed, 1);
    }
    assert_eq!(m.model.candidates(1, place(0, 1), Relaxed), 2);
    assert_eq!(m.model.candidates(1, place(1999, 1), Relaxed), 1);
    // All of thread 0's stores up to the last came before this.
    assert_eq!(m.model.load(1, place(1999, 1), Relaxed, 0), 1);
    assert_eq!(m.model.candidates(1, place(0, 1), Relaxed), 1);
    m.model.reset();
    m.model.store(0, place(1999, 0), Relaxed, 1);
    assert_eq!(m.model.candidates(1, place(1999, 1), Relaxed), 2);
}

/// A location that is modelled only later, as other memory was freed, still has what was released
/// at it before. Without that, an access that the release orders looks like a race.
#[test]
fn a_release_beyond_the_room_is_not_lost_when_there_is_room_again() {
    let place = |i: u64, value| at(0x10_0000 + 32 * i, 8, value);
    // Whether a load by another thread knows of the release: a relaxed one, and an acquire.
    let known_by = |i: u64| {
        let mut m = Machine::new(2);
        for i in 0..2000 {
            m.model.store(0, place(i, 0), Relaxed, 1);
        }
        let written = m.model.clock(0).unwrap().next(0);
        m.model.store(0, place(i, 1), Release, 2);
        m.model.forget(0x10_0000, 0x10_0000 + 32 * 1900);
        [Relaxed, Acquire].map(|order| {
            assert_eq!(m.model.load(1, place(i, 2), order, 0), 2);
            m.model.clock(1).unwrap().covers(0, written)
        })
    };
    let known: Vec<[bool; 2]> = (1900..1920).map(known_by).collect();
    assert!(known.contains(&[false, true]), "none is modelled by now: {known:?}");
    assert!(known.iter().all(|[_, by_acquire]| *by_acquire), "{known:?}");
}

#[test]
fn locks_beyond_the_room_count_as_one() {
    let mut m = Machine::new(2);
    m.step(Made { thread: 0, what: Store(0, 1, Relaxed), back: 0 });
    for lock in 1..=1000 {
        m.model.release(0, lock);
    }
    m.model.acquire(1, 1000);
    assert_eq!(m.candidates(1, Load(0, Relaxed)), 1);
}

#[test]
fn with_too_many_threads_the_newest_is_all_there_is() {
    let mut m = Machine::new(2);
    m.step(Made { thread: 0, what: Store(0, 1, Relaxed), back: 0 });
    assert_eq!(m.candidates(THREADS - 1, Load(0, Relaxed)), 2);
    m.model.create(0, THREADS);
    assert_eq!(m.candidates(THREADS - 1, Load(0, Relaxed)), 1);
    let place = m.place(0);
    assert_eq!(m.model.load(THREADS + 5, place, SeqCst, 0), 1);
    m.model.reset();
    m.model.store(0, at(0x1000, 4, 0), Relaxed, 1);
    assert_eq!(m.candidates(1, Load(0, Relaxed)), 2);
}
