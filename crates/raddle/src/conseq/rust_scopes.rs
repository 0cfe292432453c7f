//! Rust's scoped threads in a trace, and the order that their scope implies.
//!
//! `std::thread::scope` joins no thread. It counts them: a thread is counted before it starts, and
//! counts itself down when all that it does for the scope is done. The scope parks until it reads
//! 0. So everything that its threads did comes before what follows the scope, in every run. Without
//! this order, every access behind a scope would be a suspect with every access inside of it.
//!
//! The standard library counts down in one function, which the debug information names. The word
//! that it lowers is of one scope, and the scope is the last to read it without changing it; before
//! that, a program may print it (`Debug`). In the trace, a count down gets a post behind it, and
//! the last read, of 0, as many waits. A thread that a scoped thread starts by `std::thread::spawn`
//! is not counted, and is not ordered.

use std::collections::{HashMap, HashSet};

use raddle_conseq::event::{TraceEvent, What};

use raddle_harness::describe::steps::pc_of;
use raddle_harness::places::{Mapped, Places};

/// The function of the library that counts a thread down.
const COUNTS_DOWN: &str = "std::thread::scoped::ScopeData::decrement_num_running_threads";

/// Adds the order of scopes to a trace of a program with these modules.
pub fn recognise(events: &mut Vec<TraceEvent>, modules: &[Mapped], places: &mut Places) {
    let counts_down = |site: u32| {
        let frames = pc_of(modules, site).map(|pc| places.frames(modules, pc)).unwrap_or_default();
        frames.iter().filter_map(|f| f.function.as_deref()).any(is_counting_down)
    };
    add_order(events, counts_down);
}

fn is_counting_down(function: &str) -> bool {
    // Rust's newer mangling has the type in angle brackets.
    function.replace(['<', '>'], "") == COUNTS_DOWN
}

/// `counts_down`: whether a place is where the library counts a scoped thread down.
fn add_order(events: &mut Vec<TraceEvent>, mut counts_down: impl FnMut(u32) -> bool) {
    let lowered: Vec<(u64, u32)> = events.iter().filter_map(lowers).collect();
    let places: HashSet<u32> = lowered.iter().map(|(_, site)| *site).collect();
    let places: HashSet<u32> = places.into_iter().filter(|site| counts_down(*site)).collect();
    // How many threads of each scope have counted down.
    let mut done: HashMap<u64, u32> =
        lowered.into_iter().filter(|(_, site)| places.contains(site)).map(|(word, _)| (word, 0)).collect();
    if done.is_empty() {
        return;
    }
    let read = |e: &TraceEvent| match e.what {
        What::Read(cell) if cell.atomic => Some((cell.address, cell.value)),
        _ => None,
    };
    let reads = events.iter().enumerate().filter_map(|(i, e)| Some((read(e)?.0, i)));
    let last: HashMap<u64, usize> = reads.filter(|(word, _)| done.contains_key(word)).collect();
    let mut ordered = Vec::with_capacity(events.len());
    for (i, event) in events.drain(..).enumerate() {
        ordered.push(event);
        if let Some((word, site)) = lowers(&event)
            && places.contains(&site)
        {
            *done.entry(word).or_default() += 1;
            ordered.push(TraceEvent { what: What::Post { semaphore: word }, ..event });
        } else if let Some((word, 0)) = read(&event)
            && last.get(&word) == Some(&i)
        {
            let wait = TraceEvent { what: What::Wait { semaphore: word }, ..event };
            ordered.extend((0..done[&word]).map(|_| wait));
        }
    }
    *events = ordered;
}

/// The word that an atomic update lowers by one, and the place.
fn lowers(event: &TraceEvent) -> Option<(u64, u32)> {
    let What::Write { cell, before: Some(before), reads: true } = event.what else { return None };
    (cell.atomic && cell.size == 8 && before.checked_sub(1) == Some(cell.value))
        .then_some((cell.address, event.site))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_conseq::event::Cell;
    use raddle_conseq::history::History;
    use raddle_conseq::suspects::{Everything, find};

    const COUNT: u64 = 64;
    const DATA: u64 = 128;
    /// Where the library counts a thread down.
    const DOWN: u32 = 7;

    fn event(thread: u16, site: u32, what: What) -> TraceEvent {
        TraceEvent { thread, site, what }
    }

    fn cell(address: u64, value: u64) -> Cell {
        Cell { address, size: 8, value, atomic: address == COUNT }
    }

    fn down(thread: u16, to: u64, site: u32) -> TraceEvent {
        let what = What::Write { cell: cell(COUNT, to), before: Some(to + 1), reads: true };
        event(thread, site, what)
    }

    fn write(thread: u16, site: u32, value: u64) -> TraceEvent {
        event(thread, site, What::Write { cell: cell(DATA, value), before: Some(0), reads: false })
    }

    fn read(thread: u16, address: u64, value: u64) -> TraceEvent {
        let site = if address == COUNT { 5 } else { 6 };
        event(thread, site, What::Read(cell(address, value)))
    }

    /// The values that the last read could get instead.
    fn instead(mut events: Vec<TraceEvent>) -> Vec<u64> {
        add_order(&mut events, |site| site == DOWN);
        let found = find(&History::of(&events, &|_| false), &Everything, &|| false).suspects;
        found.iter().filter(|s| s.read.cell.address == DATA).map(|s| s.value).collect()
    }

    fn fork(child: u16) -> TraceEvent {
        event(0, 1, What::Fork { child })
    }

    #[test]
    fn what_follows_a_scope_comes_after_all_of_its_threads() {
        let scope = |site| {
            let first = [fork(1), fork(2), read(0, COUNT, 2), write(1, 11, 3), down(1, 1, site)];
            let second = [down(2, 0, site), read(0, COUNT, 0), read(0, DATA, 3)];
            [&first[..], &second].concat()
        };
        assert!(instead(scope(DOWN)).is_empty());
        assert_eq!(instead(scope(8)), [0], "another count, of which only the last step is known");
    }

    #[test]
    fn a_thread_that_is_not_of_the_scope_is_not_ordered() {
        let events = [fork(1), fork(2), write(1, 11, 3), down(1, 0, DOWN), read(0, COUNT, 0)];
        let late = [write(2, 12, 4), read(0, DATA, 4)];
        assert_eq!(instead([&events[..], &late].concat()), [3]);
        let without = [&events[..], &[read(0, DATA, 3), write(2, 12, 4)]].concat();
        assert_eq!(instead(without), [4], "it may come before");
    }

    #[test]
    fn a_program_that_prints_a_scope_does_not_wait_for_it() {
        let printed = [fork(1), write(1, 11, 3), down(1, 0, DOWN), read(0, COUNT, 0), read(0, DATA, 3)];
        assert!(instead(printed.to_vec()).is_empty());
        let again = [&printed[..], &[read(0, COUNT, 0)]].concat();
        assert_eq!(instead(again), [0], "it is the last read that waits");
    }

    #[test]
    fn names_of_the_library_alone_count() {
        assert!(is_counting_down("std::thread::scoped::ScopeData::decrement_num_running_threads"));
        assert!(is_counting_down("<std::thread::scoped::ScopeData>::decrement_num_running_threads"));
        assert!(!is_counting_down("mine::ScopeData::decrement_num_running_threads"));
    }
}
