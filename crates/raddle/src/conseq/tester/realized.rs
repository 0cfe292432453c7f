//! Which suspects came about in an execution: their reads got their values.
//!
//! A test may have hundreds of suspects and an execution tens of thousands of steps. So all
//! suspects are looked for in one pass over the steps, and a step is compared only with those whose
//! memory it accesses.

use std::collections::HashMap;

use raddle_conseq::suspects::{Instead, Suspect};
use raddle_explore::{OpKind, Step};

/// The suspects, by the memory that they are about.
pub struct Watchlist {
    /// Sorted by granule.
    places: Vec<Place>,
    /// The first of the places of each granule.
    first: HashMap<u64, usize>,
    suspects: usize,
}

/// The bytes of a granule that some suspects are about.
struct Place {
    granule: u64,
    bytes: u8,
    /// Each of these reads with what it would find instead, and the suspects that say so.
    reads: Vec<(u32, Instead, Vec<usize>)>,
}

/// What an execution has done to the bytes of a place so far.
#[derive(Clone, Copy, Default)]
struct State {
    /// The place in the program that wrote them last.
    last: Option<u32>,
    freed: bool,
}

impl Watchlist {
    pub fn of(suspects: &[Suspect]) -> Watchlist {
        let mut sorted: Vec<usize> = (0..suspects.len()).collect();
        let at = |i: usize| (suspects[i].read.cell.address & !7, bytes(&suspects[i]));
        sorted.sort_by_key(|i| at(*i));
        let mut places: Vec<Place> = Vec::new();
        for i in sorted {
            let (granule, bytes) = at(i);
            if places.last().is_none_or(|p| (p.granule, p.bytes) != (granule, bytes)) {
                places.push(Place { granule, bytes, reads: Vec::new() });
            }
            let s = &suspects[i];
            let Some(place) = places.last_mut() else { continue };
            let same = |(read, instead, _): &&mut (u32, Instead, Vec<usize>)| {
                *read == s.read.site && sites(instead) == sites(&s.instead)
            };
            match place.reads.iter_mut().find(same) {
                Some((.., of)) => of.push(i),
                None => place.reads.push((s.read.site, s.instead, vec![i])),
            }
        }
        let mut first = HashMap::new();
        for (at, place) in places.iter().enumerate() {
            first.entry(place.granule).or_insert(at);
        }
        Watchlist { places, first, suspects: suspects.len() }
    }

    /// The suspects that came about in these steps, sorted.
    pub fn realized(&self, steps: &[Step]) -> Vec<usize> {
        let mut states = vec![State::default(); self.places.len()];
        let mut came = vec![false; self.suspects];
        for step in steps {
            for at in self.accessed(step) {
                self.places[at].pass(step, &mut states[at], &mut came);
            }
        }
        (0..self.suspects).filter(|i| came[*i]).collect()
    }

    /// The places that the step may access.
    fn accessed(&self, step: &Step) -> std::ops::Range<usize> {
        let op = &step.op;
        let is_range = matches!(op.kind(), OpKind::Free | OpKind::DataRead | OpKind::DataWrite);
        if is_range && op.other > op.object {
            let begin = self.places.partition_point(|p| p.granule < op.object);
            return begin..self.places.partition_point(|p| p.granule <= op.other);
        }
        let Some(begin) = self.first.get(&op.object) else { return 0..0 };
        let n = self.places[*begin..].iter().take_while(|p| p.granule == op.object).count();
        *begin..begin + n
    }
}

impl Place {
    fn pass(&self, step: &Step, state: &mut State, came: &mut [bool]) {
        let op = &step.op;
        if !op.covers(self.granule, self.bytes) {
            return;
        }
        state.freed |= op.kind() == OpKind::Free;
        if op.is_memory_read() || state.freed {
            for (_, instead, of) in self.reads.iter().filter(|(read, ..)| *read == op.site) {
                let as_said = match instead {
                    Instead::Write(w) => state.last == Some(w.site),
                    Instead::Initial => state.last.is_none(),
                    Instead::Freed(_) => state.freed,
                };
                if as_said {
                    of.iter().for_each(|i| came[*i] = true);
                }
            }
        }
        if step.wrote() {
            state.last = Some(op.site);
        }
    }
}

/// What tells two values apart that a read could find.
fn sites(instead: &Instead) -> (u8, u32) {
    match instead {
        Instead::Initial => (0, 0),
        Instead::Write(w) => (1, w.site),
        Instead::Freed(_) => (2, 0),
    }
}

/// The bytes of the granule that the suspect's read covers: writes to neighbours do not matter.
pub fn bytes(s: &Suspect) -> u8 {
    let cell = &s.read.cell;
    let low = if cell.size >= 8 { 0xff } else { (1u8 << cell.size) - 1 };
    low << (cell.address & 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_base::rng::Rng;
    use raddle_conseq::event::{Cell, TraceEvent, What};
    use raddle_conseq::history::History;
    use raddle_conseq::suspects::{Everything, find};
    use raddle_explore::{LogicalThread, Op, StepFlags};

    fn below(random: &mut Rng, n: u32) -> u64 {
        random.below(n).into()
    }

    /// The definition, for one suspect.
    fn is_realized(steps: &[Step], s: &Suspect) -> bool {
        let object = s.read.cell.address & !7;
        let (mut last, mut freed) = (None, false);
        for step in steps.iter().filter(|step| step.op.covers(object, bytes(s))) {
            let op = &step.op;
            freed |= op.kind() == OpKind::Free;
            let here = (op.is_memory_read() || freed) && op.site == s.read.site;
            let as_said = match s.instead {
                Instead::Write(w) => last == Some(w.site),
                Instead::Initial => last.is_none(),
                Instead::Freed(_) => freed,
            };
            if here && as_said {
                return true;
            }
            if step.wrote() {
                last = Some(op.site);
            }
        }
        false
    }

    /// Suspects of a trace in which two threads access three granules in all sizes, and free them.
    fn suspects(random: &mut Rng) -> Vec<Suspect> {
        let mut events = Vec::new();
        for _ in 0..60 {
            let size = 1u8 << below(random, 4);
            let address = 64 + 8 * below(random, 3) + (below(random, 8) & !(u64::from(size) - 1));
            let cell = Cell { address, size, value: below(random, 5), atomic: false };
            let what = match below(random, 9) {
                0 => What::Free { from: 64, to: 64 + 8 * (1 + below(random, 3)) },
                1..=4 => What::Read(cell),
                _ => What::Write { cell, before: Some(0), reads: false },
            };
            events.push(TraceEvent {
                thread: below(random, 2) as u16,
                site: 1 + below(random, 6) as u32,
                what,
            });
        }
        find(&History::of(&events, &|_| false), &Everything, &|| false).suspects
    }

    fn step(random: &mut Rng) -> Step {
        use OpKind::{AtomicRmw, DataRead, DataWrite, Free, Lock};
        let kind = [DataRead, DataRead, DataWrite, AtomicRmw, Lock, Free][below(random, 6) as usize];
        let object = 64 + 8 * below(random, 3);
        let site = 1 + below(random, 6) as u32;
        let mut op = Op::new(kind, object, site).with_bytes(object + below(random, 8), 1);
        if kind == Free && below(random, 4) > 0 {
            op = Op::new(DataRead, object, site);
        }
        if op.kind() == Free || below(random, 4) == 0 {
            op = op.with_other(object + 8 * (1 + below(random, 2)));
        }
        let mut step = Step::bare(LogicalThread(below(random, 2) as u16), op);
        step.flags = step.flags.with(StepFlags::UNCHANGED, kind == AtomicRmw && below(random, 2) == 0);
        step
    }

    #[test]
    fn one_pass_finds_what_a_pass_for_each_suspect_finds() {
        let mut random = Rng::new(7);
        let (mut came, mut did_not) = (0, 0);
        for _ in 0..400 {
            let suspects = suspects(&mut random);
            let watchlist = Watchlist::of(&suspects);
            let n = below(&mut random, 30);
            let steps: Vec<Step> = (0..n).map(|_| step(&mut random)).collect();
            let expected: Vec<usize> =
                (0..suspects.len()).filter(|i| is_realized(&steps, &suspects[*i])).collect();
            assert_eq!(watchlist.realized(&steps), expected, "{steps:?}");
            came += expected.len();
            did_not += suspects.len() - expected.len();
        }
        assert!(came > 500 && did_not > 5000, "{came} came about and {did_not} did not");
    }
}
