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
//! Two sides that share a block may have a *gate* in place of a count, or behind one count for each
//! side, as Rust's channels do: each side sets a flag in an atomic step when it is done, and who
//! finds it set frees the block. A gate is memory inside a block that is freed, which exactly two
//! atomic updates changed or left alone: the first one by a thread that found 0, the second by the
//! thread that frees the block, which found what the first had left. The first lets go, the second is
//! the last. In a block with a gate the two threads at the gate are the last of their counts.
//!
//! A count outside the block that it guards, or one decremented under a lock, is not recognised.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::event::{Cell, TraceEvent, What};

/// What an event means to a count, which has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    LetsGo(u32),
    Last(u32),
}

/// The events that let go of a count, or are the last to do so, by their place in the trace.
#[derive(Default)]
pub(crate) struct Counts {
    turns: FxHashMap<u32, Turn>,
}

/// What may be a count: memory that was lowered in an atomic step.
#[derive(Default)]
struct Lowered {
    let_go: Vec<u32>,
    zeroed: Option<(u16, u32)>,
}

/// What may be a gate: memory that was raised from 0 in an atomic step.
struct Gate {
    first: (u16, u32),
    second: Option<(u16, u32)>,
    /// Something else was done to it.
    is_spoiled: bool,
}

impl Gate {
    /// The threads at the gate, if `by` has found it set, and the events that they passed it by.
    fn passed_by(&self, by: u16) -> Option<[(u16, u32); 2]> {
        let second = self.second.filter(|(thread, _)| *thread == by && !self.is_spoiled)?;
        Some([self.first, second])
    }
}

/// Takes in an update of what may be a gate.
fn pass(gates: &mut BTreeMap<u64, Gate>, cell: &Cell, found: Option<u64>, at: (u16, u32)) {
    let Some(gate) = gates.get_mut(&cell.address) else {
        if found == Some(0) && cell.value != 0 {
            gates.insert(cell.address, Gate { first: at, second: None, is_spoiled: false });
        }
        return;
    };
    let leaves = found == Some(cell.value) && gate.first.0 != at.0 && gate.second.is_none();
    gate.is_spoiled |= !leaves;
    gate.second = Some(at);
}

impl Counts {
    pub(crate) fn of(events: &[TraceEvent]) -> Counts {
        let (mut counts, mut n) = (Counts::default(), 0);
        let mut lowered: BTreeMap<u64, Lowered> = BTreeMap::new();
        let mut gates: BTreeMap<u64, Gate> = BTreeMap::new();
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
                    let found = before.filter(|_| reads && cell.atomic);
                    pass(&mut gates, &cell, found, (e.thread, i));
                }
                What::Free { from, to } if from < to => {
                    let gone: Vec<u64> = lowered.range(from..to).map(|(address, _)| *address).collect();
                    let passed: Vec<u64> = gates.range(from..to).map(|(address, _)| *address).collect();
                    let mut last_ones = vec![e.thread];
                    let passed = passed.iter().filter_map(|address| gates.remove(address));
                    for [first, second] in passed.filter_map(|gate| gate.passed_by(e.thread)) {
                        counts.turns.insert(first.1, Turn::LetsGo(n));
                        counts.turns.insert(second.1, Turn::Last(n));
                        last_ones.push(first.0);
                        n += 1;
                    }
                    for count in gone.iter().filter_map(|address| lowered.remove(address)) {
                        let is_last = |thread: &u16| last_ones.contains(thread);
                        if let Some((_, last)) = count.zeroed.filter(|(thread, _)| is_last(thread)) {
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

    const COUNT: u64 = 72;

    fn wrote(thread: u16, before: u64, value: u64, updates: bool) -> TraceEvent {
        let cell = Cell { address: COUNT, size: 4, value, atomic: updates };
        TraceEvent { thread, site: 1, what: What::Write { cell, before: Some(before), reads: updates } }
    }

    fn freed(thread: u16) -> TraceEvent {
        TraceEvent { thread, site: 2, what: What::Free { from: 64, to: 96 } }
    }

    fn turns(events: &[TraceEvent]) -> Vec<Option<Turn>> {
        let counts = Counts::of(events);
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

    const GATE: u64 = 80;

    fn passed(thread: u16, found: u64) -> TraceEvent {
        let cell = Cell { address: GATE, size: 1, value: 1, atomic: true };
        TraceEvent { thread, site: 3, what: What::Write { cell, before: Some(found), reads: true } }
    }

    #[test]
    fn who_finds_a_gate_passed_is_the_last() {
        let turn = |events: &[TraceEvent]| turns(events)[..2].to_vec();
        let both = [Some(Turn::LetsGo(0)), Some(Turn::Last(0))];
        assert_eq!(turn(&[passed(1, 0), passed(2, 1), freed(2)]), both);
        // The first frees, or one who has not been there.
        assert_eq!(turn(&[passed(1, 0), passed(2, 1), freed(1)]), [None, None]);
        assert_eq!(turn(&[passed(1, 0), passed(2, 1), freed(3)]), [None, None]);
        // Alone, or with a third.
        assert_eq!(turn(&[passed(1, 0), passed(1, 1), freed(1)]), [None, None]);
        assert_eq!(turn(&[passed(1, 0), passed(2, 1), passed(3, 1), freed(3)]), [None, None]);
    }

    #[test]
    fn each_side_of_a_gate_has_a_count() {
        let events = [wrote(1, 2, 1, true), wrote(2, 1, 0, true), passed(2, 0), passed(3, 1), freed(3)];
        let found = turns(&events);
        assert_eq!(found[..2], [Some(Turn::LetsGo(1)), Some(Turn::Last(1))]);
        assert_eq!(found[2..4], [Some(Turn::LetsGo(0)), Some(Turn::Last(0))]);
        // Somebody else has brought it to zero.
        let other = [wrote(1, 2, 1, true), wrote(4, 1, 0, true), passed(2, 0), passed(3, 1), freed(3)];
        assert_eq!(turns(&other)[..2], [None, None]);
    }
}
