//! Reference counts, and the order that they imply. Beyond the paper.
//!
//! If several threads use a block, the last one to drop its reference often frees it: each thread
//! decrements a count, and the thread that brings it to zero frees the block (`std::shared_ptr`,
//! `Arc`, counts inside objects). Which thread that is differs from run to run, but it frees after
//! all others have dropped their references. No lock and no signal is involved, so Algorithm 1 does
//! not see this order, and would suspect every access before a decrement of coming after the free.
//!
//! A reference count is memory inside a block that is freed, which
//!
//! 1. atomic updates decremented without reaching zero: each of these *lets go*; and
//! 2. the thread that frees the block was the *last* to write, with 0: by an update or, as
//!    libstdc++ does if no other reference is left, by a plain store.
//!
//! A count outside the block that it guards, or one decremented under a lock, is not recognised.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::event::{TraceEvent, What};

/// What an event means for a reference count, given by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    LetsGo(u32),
    Last(u32),
}

/// The events that decrement a count, or are the last to do so, by their index in the trace.
#[derive(Default)]
pub(crate) struct Decrements {
    turns: FxHashMap<u32, Turn>,
}

/// A candidate for a count: memory that an atomic update decremented.
#[derive(Default)]
struct Lowered {
    let_go: Vec<u32>,
    zeroed: Option<(u16, u32)>,
}

impl Decrements {
    pub(crate) fn of(events: &[TraceEvent]) -> Decrements {
        let (mut counts, mut n) = (Decrements::default(), 0);
        let mut lowered: BTreeMap<u64, Lowered> = BTreeMap::new();
        for (i, e) in events.iter().enumerate() {
            let i = i as u32;
            match e.what {
                What::Write { cell, before, reads } => {
                    let lowers = cell.atomic && reads && before.is_some_and(|b| cell.value < b);
                    if lowers && cell.value != 0 {
                        lowered.entry(cell.address).or_default().let_go.push(i);
                    }
                    if let Some(count) = lowered.get_mut(&cell.address) {
                        count.zeroed = (cell.value == 0).then_some((e.thread, i));
                    }
                }
                What::Free { from, to } if from < to => {
                    let gone: Vec<u64> = lowered.range(from..to).map(|(address, _)| *address).collect();
                    for count in gone.iter().filter_map(|address| lowered.remove(address)) {
                        if let Some((_, last)) = count.zeroed.filter(|(thread, _)| *thread == e.thread) {
                            counts.turns.extend(count.let_go.iter().map(|at| (*at, Turn::LetsGo(n))));
                            counts.turns.insert(last, Turn::Last(n));
                            n += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        counts
    }

    pub(crate) fn turn(&self, index: usize) -> Option<Turn> {
        self.turns.get(&(index as u32)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Cell;

    const COUNT: u64 = 72;

    fn wrote(thread: u16, before: u64, value: u64, updates: bool) -> TraceEvent {
        let cell = Cell { address: COUNT, size: 4, value, atomic: updates };
        TraceEvent { thread, site: 1, what: What::Write { cell, before: Some(before), reads: updates } }
    }

    fn freed(thread: u16) -> TraceEvent {
        TraceEvent { thread, site: 2, what: What::Free { from: 64, to: 96 } }
    }

    fn turns(events: &[TraceEvent]) -> Vec<Option<Turn>> {
        let counts = Decrements::of(events);
        (0..events.len()).map(|i| counts.turn(i)).collect()
    }

    #[test]
    fn the_last_to_let_go_frees() {
        let events = [wrote(0, 1, 2, true), wrote(1, 2, 1, true), wrote(0, 1, 0, true), freed(0)];
        assert_eq!(turns(&events), [None, Some(Turn::LetsGo(0)), Some(Turn::Last(0)), None]);
    }

    #[test]
    fn the_last_may_write_without_an_update() {
        let events = [wrote(1, 2, 1, true), wrote(0, 1, 0, false), freed(0)];
        assert_eq!(turns(&events), [Some(Turn::LetsGo(0)), Some(Turn::Last(0)), None]);
    }

    #[test]
    fn a_number_that_somebody_else_brought_to_nothing_guards_nothing() {
        let another = [wrote(0, 2, 1, true), wrote(1, 1, 0, true), freed(0)];
        let left = [wrote(0, 2, 1, true), freed(0)];
        let plain = [wrote(1, 2, 1, false), wrote(0, 1, 0, false), freed(0)];
        for events in [&another[..], &left, &plain] {
            assert!(turns(events).iter().all(Option::is_none), "{events:?}");
        }
    }

    #[test]
    fn memory_that_is_used_again_is_another_count() {
        let once = [wrote(1, 2, 1, true), wrote(0, 1, 0, true), freed(0)];
        let twice = [once, once].concat();
        assert_eq!(turns(&twice)[3..5], [Some(Turn::LetsGo(1)), Some(Turn::Last(1))]);
    }
}
