//! The values of all variables at each read, from traces.

use rustc_hash::{FxHashMap, FxHashSet};

use super::shape::{Term, Variable};
use crate::event::{Cell, TraceEvent, What};

/// What is known about memory at a moment of a trace.
#[derive(Clone, Debug, Default)]
pub struct KnownMemory {
    /// By granule of 8 bytes: the bytes, and which of them are known.
    granules: FxHashMap<u64, (u64, u8)>,
}

impl KnownMemory {
    /// Makes these bytes known. Bits beyond the size of `at` have no effect.
    pub fn store(&mut self, at: Variable, bits: u64) {
        self.put(at, bits, true);
    }

    /// The same for bytes that are not yet known.
    fn store_if_unknown(&mut self, at: Variable, bits: u64) {
        self.put(at, bits, false);
    }

    fn put(&mut self, at: Variable, bits: u64, over: bool) {
        for part in parts(at) {
            let (bytes, known) = self.granules.entry(part.granule).or_default();
            let new = if over { part.bytes() } else { part.bytes() & !*known };
            if new != 0 {
                let mask = mask(new);
                *bytes = *bytes & !mask | part.in_granule(bits) & mask;
                *known |= new;
            }
        }
    }

    /// The bits; `None` unless all bytes are known.
    pub fn bits(&self, at: Variable) -> Option<u64> {
        let mut bits = 0;
        for part in parts(at) {
            let (bytes, known) = self.granules.get(&part.granule)?;
            if part.bytes() & !known != 0 {
                return None;
            }
            bits |= part.of_granule(bytes & mask(part.bytes()));
        }
        Some(bits)
    }

    /// The same as a signed number.
    pub fn value(&self, at: Variable) -> Option<i64> {
        self.bits(at).map(|bits| at.signed(bits))
    }

    /// What memory held when a trace began, as far as the trace shows it.
    pub fn at_the_beginning(events: &[TraceEvent]) -> KnownMemory {
        let mut memory = KnownMemory::default();
        // Overwritten memory: a later read does not return the initial value.
        let mut written: FxHashSet<Variable> = FxHashSet::default();
        for e in events {
            match e.what {
                What::Read(cell) if !written.contains(&variable(&cell)) => {
                    memory.store_if_unknown(variable(&cell), cell.value);
                }
                What::Write { cell, before, .. } => {
                    if let Some(before) = before {
                        memory.store_if_unknown(variable(&cell), before);
                    }
                    written.insert(variable(&cell));
                }
                _ => {}
            }
        }
        memory
    }

    /// Takes in an event.
    pub fn pass(&mut self, e: &TraceEvent) {
        if let What::Write { cell, .. } = e.what {
            self.store(variable(&cell), cell.value);
        }
    }
}

/// The bytes of a variable that lie in one granule.
struct Part {
    granule: u64,
    /// Bytes of the granule before these.
    first: u8,
    /// Bytes of the variable before these.
    skipped: u8,
    len: u8,
}

/// Looks up a variable by its granules, mostly one, and not by its bytes: there are millions of
/// accesses.
fn parts(at: Variable) -> impl Iterator<Item = Part> {
    let (granule, first) = (at.address & !7, (at.address & 7) as u8);
    let len = at.size.min(8 - first);
    let beginning = Part { granule, first, skipped: 0, len };
    let end = Part { granule: granule.wrapping_add(8), first: 0, skipped: len, len: at.size - len };
    [beginning, end].into_iter().filter(|p| p.len > 0)
}

impl Part {
    /// A bit for each byte of the granule.
    fn bytes(&self) -> u8 {
        (0xff >> (8 - self.len)) << self.first
    }

    fn in_granule(&self, bits: u64) -> u64 {
        (bits >> (self.skipped * 8)) << (self.first * 8)
    }

    fn of_granule(&self, bytes: u64) -> u64 {
        (bytes >> (self.first * 8)) << (self.skipped * 8)
    }
}

/// All bits of these bytes.
fn mask(bytes: u8) -> u64 {
    if bytes == 0xff {
        return u64::MAX;
    }
    (0..8).filter(|i| bytes >> i & 1 != 0).map(|i| 0xff << (i * 8)).sum()
}

/// The memory that an access touches.
pub fn variable(cell: &Cell) -> Variable {
    Variable { address: cell.address, size: cell.size }
}

/// What a read returned, and the values of all terms at that moment.
pub(crate) type Sample = (i64, Vec<Option<i64>>);

/// The samples of one reading place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    /// What it reads, if that is always the same.
    pub variable: Option<Variable>,
    pub samples: Vec<Sample>,
    /// How many runs they come from.
    pub runs: u32,
    last_run: u32,
}

/// What all runs have shown, for [`infer()`](super::infer()).
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// What a read may be related to.
    pub(crate) terms: Vec<Term>,
    /// By [`TraceEvent::site`].
    pub(crate) readers: FxHashMap<u32, Reader>,
}

/// The most variables that are related to others; those with most accesses come first.
const VARIABLES: usize = 24;
/// The most arrays that are summed.
const ARRAYS: usize = 8;
/// The most elements of an array.
const ELEMENTS: usize = 256;
/// The most samples per place and run.
const SAMPLES: usize = 256;

impl Samples {
    /// Samples the traces of correct runs.
    pub fn of(runs: &[&[TraceEvent]]) -> Samples {
        let mut samples = Samples { terms: terms(runs), ..Samples::default() };
        for (i, run) in runs.iter().enumerate() {
            samples.take(i as u32 + 1, run);
        }
        samples
    }

    fn take(&mut self, run: u32, events: &[TraceEvent]) {
        let mut memory = KnownMemory::at_the_beginning(events);
        let mut taken: FxHashMap<u32, usize> = FxHashMap::default();
        for e in events {
            if let What::Read(cell) = e.what {
                let n = taken.entry(e.site).or_default();
                *n += 1;
                if *n <= SAMPLES {
                    self.sample(run, e.site, &cell, &memory);
                }
            }
            memory.pass(e);
        }
    }

    fn sample(&mut self, run: u32, site: u32, cell: &Cell, memory: &KnownMemory) {
        let at = variable(cell);
        let fresh = || Reader { variable: Some(at), ..Reader::default() };
        let reader = self.readers.entry(site).or_insert_with(fresh);
        if reader.variable != Some(at) {
            reader.variable = None;
        }
        if reader.last_run != run {
            (reader.last_run, reader.runs) = (run, reader.runs + 1);
        }
        let others = match reader.variable {
            Some(_) => self.terms.iter().map(|t| t.value(memory)).collect(),
            None => Vec::new(),
        };
        reader.samples.push((at.signed(cell.value), others));
    }
}

/// What values may be related to: variables that more than one thread touches, and arrays.
fn terms(runs: &[&[TraceEvent]]) -> Vec<Term> {
    // The first thread that touched it, whether others did, and how often it was touched.
    let mut threads: FxHashMap<Variable, (u16, bool, u32)> = FxHashMap::default();
    let mut by_site: FxHashMap<u32, FxHashSet<Variable>> = FxHashMap::default();
    for e in runs.iter().flat_map(|r| r.iter()) {
        let (cell, writes) = match e.what {
            What::Read(cell) => (cell, false),
            What::Write { cell, .. } => (cell, true),
            _ => continue,
        };
        let at = variable(&cell);
        let known = threads.entry(at).or_insert((e.thread, false, 0));
        known.1 |= known.0 != e.thread;
        known.2 += 1;
        let elements = by_site.entry(e.site).or_default();
        if writes && elements.len() < ELEMENTS {
            elements.insert(at);
        }
    }
    let mut shared: Vec<(u32, Variable)> =
        threads.iter().filter(|(_, (_, others, _))| *others).map(|(v, (_, _, n))| (*n, *v)).collect();
    shared.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut arrays: Vec<Term> =
        by_site.into_values().filter_map(|of| array(of.into_iter().collect())).collect();
    arrays.sort_unstable();
    arrays.dedup();
    arrays.truncate(ARRAYS);
    let cells = shared.into_iter().take(VARIABLES).map(|(_, v)| Term::Cell(v));
    cells.chain(arrays).collect()
}

/// The elements that one place writes, if their distances are equal.
fn array(mut elements: Vec<Variable>) -> Option<Term> {
    elements.sort_unstable();
    let step = |w: &[Variable]| w[1].address - w[0].address;
    let first = elements.windows(2).map(step).next()?;
    let even = elements.windows(2).all(|w| step(w) == first && w[0].size == w[1].size);
    (even && elements.len() > 2).then_some(Term::Sum(elements))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(address: u64, value: u64) -> Cell {
        Cell { address, size: 4, value, atomic: false }
    }

    fn read(thread: u16, site: u32, address: u64, value: u64) -> TraceEvent {
        TraceEvent { thread, site, what: What::Read(cell(address, value)) }
    }

    fn write(thread: u16, site: u32, address: u64, value: u64, before: u64) -> TraceEvent {
        TraceEvent {
            thread,
            site,
            what: What::Write { cell: cell(address, value), before: Some(before), reads: false },
        }
    }

    #[test]
    fn memory_knows_what_it_was_told() {
        let mut m = KnownMemory::default();
        let at = |address, size| Variable { address, size };
        m.store(at(8, 4), 0xffff_fffe);
        assert_eq!((m.value(at(8, 4)), m.value(at(8, 8)), m.bits(at(8, 2))), (Some(-2), None, Some(0xfffe)));
        m.store(at(6, 4), 0x0403_0201);
        assert_eq!(m.bits(at(8, 2)), Some(0x0403), "across two granules");
    }

    #[test]
    fn memory_is_as_if_each_byte_were_kept() {
        let (mut m, mut bytes) = (KnownMemory::default(), std::collections::HashMap::new());
        for i in 0..400u64 {
            let random = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let at = Variable { address: random >> 20 & 31, size: 1 << (random >> 30 & 3) };
            let (bits, over) = (random.rotate_left(17), random >> 40 & 1 != 0);
            m.put(at, bits, over);
            for b in 0..u64::from(at.size) {
                let byte = (bits >> (b * 8)) as u8;
                let there = bytes.entry(at.address + b).or_insert(byte);
                *there = if over { byte } else { *there };
            }
            for size in [1u8, 2, 4, 8] {
                let wanted = (0..u64::from(size)).rev().try_fold(0, |bits, b| {
                    bytes.get(&(at.address + b)).map(|byte| bits << 8 | u64::from(*byte))
                });
                assert_eq!(m.bits(Variable { address: at.address, size }), wanted);
            }
        }
    }

    #[test]
    fn what_was_there_at_the_beginning_is_seen_later() {
        let events = [write(1, 1, 8, 5, 3), read(2, 2, 8, 5), read(2, 2, 16, 7)];
        let m = KnownMemory::at_the_beginning(&events);
        let value = |a| m.value(Variable { address: a, size: 4 });
        assert_eq!((value(8), value(16), value(24)), (Some(3), Some(7), None));
    }

    #[test]
    fn samples_have_the_values_of_the_moment() {
        let events = [
            read(2, 9, 8, 0),
            write(1, 1, 8, 5, 0),
            read(2, 2, 8, 5),
            write(1, 1, 8, 6, 0),
            read(2, 2, 8, 6),
        ];
        let samples = Samples::of(&[&events, &events]);
        assert_eq!(samples.terms, [Term::Cell(Variable { address: 8, size: 4 })]);
        let reader = &samples.readers[&2];
        assert_eq!((reader.runs, reader.samples.len()), (2, 4));
        assert_eq!(reader.samples[1], (6, vec![Some(6)]));
    }

    #[test]
    fn elements_at_equal_distances_are_an_array() {
        let parts: Vec<TraceEvent> = (0..4).map(|i| write(i, 7, 64 + 16 * u64::from(i), 1, 0)).collect();
        let samples = Samples::of(&[&parts]);
        assert!(matches!(&samples.terms[..], [Term::Sum(of)] if of.len() == 4));
        let uneven = [write(1, 7, 64, 1, 0), write(1, 7, 80, 1, 0), write(1, 7, 88, 1, 0)];
        assert!(Samples::of(&[&uneven]).terms.is_empty());
    }

    #[test]
    fn a_place_that_reads_many_addresses_has_no_variable() {
        let events = [read(1, 2, 8, 5), read(2, 2, 16, 5)];
        assert_eq!(Samples::of(&[&events]).readers[&2].variable, None);
    }
}
