//! Rust's channels in a trace, and the order in which their two sides release them.
//!
//! A channel is a block that all senders and receivers share. Each side has a count, which its
//! handles lower when they are dropped. Who lowers a count to 0 goes on to exchange a flag, which
//! both sides share, and whoever finds it set frees the block. So the free comes after all that any
//! thread did with the channel before it dropped its handle, in every run. A count alone does not
//! show this: usually another thread than the last of its side frees the block. A rule for such
//! flags in general is no option, because the trace does not show whether a thread looks at what it
//! found (`closed_by_both_bad.c`). Of the library it is known.
//!
//! One function does this in `std::sync::mpsc` and in `crossbeam_channel`, and the debug
//! information names it. In the trace, each lowering and each exchange gets an arrival at a barrier
//! behind it, which only the last one leaves.

use std::collections::HashMap;

use raddle_conseq::event::{TraceEvent, What};

use raddle_harness::describe::steps::pc_of;
use raddle_harness::places::{Mapped, Places};

/// Adds the order of channels to a trace of a program with these modules.
pub fn recognise(events: &mut Vec<TraceEvent>, modules: &[Mapped], places: &mut Places) {
    let releases = |site: u32| {
        let frames = pc_of(modules, site).map(|pc| places.frames(modules, pc)).unwrap_or_default();
        frames.iter().filter_map(|f| f.function.as_deref()).any(is_releasing)
    };
    add_order(events, releases);
}

fn is_releasing(function: &str) -> bool {
    let is_of = |library: &str| {
        let rest = function.trim_start_matches('<').strip_prefix(library);
        let rest = rest.and_then(|r| r.strip_prefix("Sender<").or_else(|| r.strip_prefix("Receiver<")));
        rest.is_some_and(|r| r.contains(">::release"))
    };
    is_of("std::sync::mpmc::counter::") || is_of("crossbeam_channel::counter::")
}

/// `releases`: whether a place is in the function that releases a channel.
fn add_order(events: &mut Vec<TraceEvent>, mut releases: impl FnMut(u32) -> bool) {
    let mut known: HashMap<u32, bool> = HashMap::new();
    // The turns of each count or flag, as indexes into the trace, until the last one.
    let mut open: HashMap<u64, Vec<usize>> = HashMap::new();
    // The barrier of each event that is a turn, and how many arrivals it waits for.
    let mut arrivals: HashMap<usize, (u64, u32)> = HashMap::new();
    for (i, event) in events.iter().enumerate() {
        let Some((word, is_last)) = turn(event) else { continue };
        if !*known.entry(event.site).or_insert_with(|| releases(event.site)) {
            continue;
        }
        let turns = open.entry(word).or_default();
        turns.push(i);
        if is_last {
            let n = turns.len() as u32;
            arrivals.extend(turns.drain(..).map(|at| (at, (word, n))));
        }
    }
    if arrivals.is_empty() {
        return;
    }
    let mut ordered = Vec::with_capacity(events.len() + arrivals.len());
    for (i, event) in events.drain(..).enumerate() {
        ordered.push(event);
        if let Some((barrier, count)) = arrivals.get(&i).copied() {
            ordered.push(TraceEvent { what: What::Arrive { barrier, count }, ..event });
        }
    }
    *events = ordered;
}

/// The word of a count that is lowered, or of a flag that is set, and whether that is the last
/// turn.
fn turn(event: &TraceEvent) -> Option<(u64, bool)> {
    let What::Write { cell, before: Some(before), reads: true } = event.what else { return None };
    match (cell.atomic, cell.size) {
        (true, 8) if before.checked_sub(1) == Some(cell.value) => Some((cell.address, cell.value == 0)),
        (true, 1) if cell.value == 1 => Some((cell.address, before == 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_conseq::event::Cell;
    use raddle_conseq::history::History;
    use raddle_conseq::suspects::{Everything, Instead, find};

    const BLOCK: u64 = 64;
    const SENDERS: u64 = BLOCK + 8;
    const FLAG: u64 = BLOCK + 16;
    const DATA: u64 = BLOCK + 24;
    /// Where the library releases a channel.
    const RELEASE: u32 = 7;

    fn event(thread: u16, site: u32, what: What) -> TraceEvent {
        TraceEvent { thread, site, what }
    }

    fn update(thread: u16, site: u32, (address, size): (u64, u8), before: u64, value: u64) -> TraceEvent {
        let cell = Cell { address, size, value, atomic: true };
        event(thread, site, What::Write { cell, before: Some(before), reads: true })
    }

    fn read(thread: u16, site: u32) -> TraceEvent {
        event(thread, site, What::Read(Cell { address: DATA, size: 8, value: 3, atomic: false }))
    }

    /// Two senders and a receiver of one channel, whose last sender is thread 2. `late`: an access
    /// of thread 1 after it has dropped its sender.
    fn channel(site: u32, late: bool) -> Vec<TraceEvent> {
        let mut events = vec![
            event(0, 0, What::Fork { child: 1 }),
            event(0, 0, What::Fork { child: 2 }),
            read(1, 11),
            update(1, site, (SENDERS, 8), 2, 1),
            read(2, 12),
            update(2, site, (SENDERS, 8), 1, 0),
            update(2, site, (FLAG, 1), 0, 1),
            update(0, site, (FLAG, 1), 1, 1),
            event(0, 20, What::Free { from: BLOCK, to: BLOCK + 32 }),
        ];
        if late {
            events.insert(5, read(1, 13));
        }
        events
    }

    /// The places that could access the block after it has been freed.
    fn loose(mut events: Vec<TraceEvent>) -> Vec<u32> {
        add_order(&mut events, |site| site == RELEASE);
        let history = History::of(&events, &|_| false);
        let found = find(&history, &Everything, &|| false).suspects;
        let freed = found.iter().filter(|s| matches!(s.instead, Instead::Freed(_)));
        let mut sites: Vec<u32> = freed.map(|s| s.read.site).filter(|site| *site > 10).collect();
        sites.sort_unstable();
        sites
    }

    #[test]
    fn who_frees_a_channel_comes_after_all_that_released_it() {
        assert!(loose(channel(RELEASE, false)).is_empty());
        assert_eq!(loose(channel(RELEASE, true)), [13], "after its release");
        assert_eq!(loose(channel(RELEASE + 1, false)), [11, 12], "another function");
    }

    #[test]
    fn a_count_that_nobody_brought_to_nothing_orders_nothing() {
        let mut events = channel(RELEASE, false);
        events.remove(5);
        assert_eq!(loose(events), [11], "the last sender still sets the flag");
    }

    #[test]
    fn memory_that_is_used_again_is_another_channel() {
        let mut events = [channel(RELEASE, false), channel(RELEASE, false)].concat();
        add_order(&mut events, |site| site == RELEASE);
        let counts: Vec<u32> = events
            .iter()
            .filter_map(|e| match e.what {
                What::Arrive { count, .. } => Some(count),
                _ => None,
            })
            .collect();
        assert_eq!(counts, [2; 8]);
    }

    #[test]
    fn names_of_the_library_alone_count() {
        for name in [
            "std::sync::mpmc::counter::Sender<std::sync::mpmc::list::Channel<i32>>::release",
            "<std::sync::mpmc::counter::Receiver<C>>::release::<F>",
            "std::sync::mpmc::counter::Receiver<C>::release<C, F>",
            "crossbeam_channel::counter::Sender<C>::release",
        ] {
            assert!(is_releasing(name), "{name}");
        }
        for name in [
            "mine::std::sync::mpmc::counter::Sender<C>::release",
            "std::sync::mpmc::counter::Sender<C>::acquire",
        ] {
            assert!(!is_releasing(name), "{name}");
        }
    }
}
