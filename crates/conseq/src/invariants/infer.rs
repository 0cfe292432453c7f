//! Which invariants no sample contradicts, and which of them are more than chance.
//!
//! The first samples give candidates, and the first sample that contradicts a candidate removes it.
//! The rest is ranked by how unlikely it would be by chance:
//!
//! - One value: each *run* is one observation, because the reads of one run are seldom independent.
//!   A constant is like a coin that came up the same each time; a set or a range of `k` values
//!   needs `k` more observations.
//! - A pointer: only that it is never null, one of a few, or equal to another. Addresses are
//!   accidental, so a pointer has no range, no order and no linear relation.
//! - Two values: each *different* value is one observation. That `x == y` while `x` took `k` values
//!   has a chance of one in `ODDS` for each. A linear relation has two observations less, those
//!   that it was computed from. An order is a coin again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::sample::{KnownMemory, Reader, Sample, Samples, variable};
use super::shape::{Shape, Term, Variable};
use crate::event::{TraceEvent, What};

/// Something that held at every read of a place in all training runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Invariant {
    /// The read, as in [`TraceEvent::site`].
    pub site: u32,
    /// What is read there, if it is always the same variable.
    pub variable: Option<Variable>,
    /// What holds.
    pub shape: Shape,
    /// How many reads it was compared with.
    pub samples: u32,
    /// How unlikely it would be by chance, from 0 to 1.
    pub confidence: f64,
}

impl Invariant {
    /// The first time that it does not hold in a trace: the value that was read, and the value of
    /// the other side.
    pub fn broken(&self, events: &[TraceEvent]) -> Option<(i64, Option<i64>)> {
        let mut memory = KnownMemory::at_the_beginning(events);
        for e in events {
            if let What::Read(cell) = e.what
                && e.site == self.site
            {
                let x = variable(&cell).signed(cell.value);
                if self.shape.holds(x, &memory) == Some(false) {
                    return Some((x, self.shape.term().and_then(|t| t.value(&memory))));
                }
            }
            memory.pass(e);
        }
        None
    }

    /// Whether it is an equality, which somebody intended. That one value is larger, or is one of a
    /// few, may be chance.
    pub fn is_strong(&self) -> bool {
        matches!(self.shape, Shape::Equal(_) | Shape::Linear(..))
    }

    /// All variables in it.
    pub fn variables(&self) -> Vec<Variable> {
        let other = self.shape.term().map_or(&[][..], Term::variables);
        self.variable.iter().chain(other).copied().collect()
    }
}

/// Less certain invariants are not reported: Daikon's default.
pub const CONFIDENCE: f64 = 0.99;
/// Two values agree by chance once in this many times.
const ODDS: f64 = 16.0;
/// A sum of at least this much includes addresses.
const SUM_OF_ADDRESSES: u64 = 1 << 44;
/// The most values of a small set.
const FEW: usize = 3;

/// The invariants of all places, most certain first, without those that follow from others at the
/// same place. `is_address`: whether a number is an address of mapped memory in these runs.
pub fn infer(samples: &Samples, is_address: &dyn Fn(u64) -> bool) -> Vec<Invariant> {
    let mut found = Vec::new();
    let is_address = |n: i64| is_address(n as u64);
    for (site, reader) in &samples.readers {
        let mut here = relations(*site, reader, &samples.terms, &is_address);
        here.extend(alone(*site, reader, &is_address));
        here.retain(|i| i.confidence >= CONFIDENCE);
        found.extend(here);
    }
    let rank = |i: &Invariant| (i.confidence * -1e9) as i64;
    found.sort_by(|a, b| rank(a).cmp(&rank(b)).then(a.site.cmp(&b.site)));
    found
}

fn distinct(samples: &[Sample]) -> BTreeSet<i64> {
    samples.iter().map(|(x, _)| *x).collect()
}

/// The strongest statement about the value alone.
fn alone(site: u32, reader: &Reader, is_address: &dyn Fn(i64) -> bool) -> Option<Invariant> {
    let values = distinct(&reader.samples);
    let (low, high) = (*values.first()?, *values.last()?);
    let runs = f64::from(reader.runs);
    let coin = |observations: f64| 1.0 - 0.5f64.powf(observations.max(0.0));
    let (shape, confidence) = match values.len() {
        1 => (Shape::Constant(low), coin(runs)),
        n if n <= FEW => (Shape::OneOf(values.iter().copied().collect()), coin(runs / n as f64)),
        n if low > 0 || high < 0 || !values.contains(&0) => (Shape::NotNull, coin(runs - n as f64)),
        _ if values.iter().any(|x| is_address(*x)) => return None,
        n => (Shape::Range(low, high), coin(runs - 2.0 * n as f64)),
    };
    let samples = reader.samples.len() as u32;
    Some(Invariant { site, variable: reader.variable, shape, samples, confidence })
}

/// Relations to other terms.
fn relations(site: u32, reader: &Reader, terms: &[Term], is_address: &dyn Fn(i64) -> bool) -> Vec<Invariant> {
    let Some(variable) = reader.variable else { return Vec::new() };
    let mut found: Vec<Invariant> = Vec::new();
    for (i, term) in terms.iter().enumerate() {
        if term.variables().contains(&variable) {
            continue;
        }
        let pairs: Option<Vec<(i64, i64)>> =
            reader.samples.iter().map(|(x, others)| Some((*x, (*others.get(i)?)?))).collect();
        let Some(pairs) = pairs.filter(|p| !p.is_empty()) else { continue };
        // A sum of pointers is not an address, but counters do not add up to so much.
        let of_pointers = |y: i64| matches!(term, Term::Sum(_)) && y.unsigned_abs() >= SUM_OF_ADDRESSES;
        let pointers = pairs.iter().any(|(x, y)| is_address(*x) || is_address(*y) || of_pointers(*y));
        if let Some((shape, confidence)) = relation(&pairs, term)
            && (!pointers || matches!(shape, Shape::Equal(_)))
        {
            let samples = pairs.len() as u32;
            found.push(Invariant { site, variable: Some(variable), shape, samples, confidence });
        }
    }
    // An equality includes every order. Among several equalities, sums are the rarer ones.
    if found.iter().any(|i| i.is_strong() && i.confidence >= CONFIDENCE) {
        found.retain(Invariant::is_strong);
    }
    found
}

/// The strongest relation that all pairs have.
fn relation(pairs: &[(i64, i64)], term: &Term) -> Option<(Shape, f64)> {
    let distinct: BTreeSet<(i64, i64)> = pairs.iter().copied().collect();
    let chance = |observations: usize| 1.0 - ODDS.powi(-(observations as i32));
    if distinct.iter().all(|(x, y)| x == y) {
        // Two variables that never change agree by accident, and so do two flags often enough.
        return (distinct.len() > 2).then(|| (Shape::Equal(term.clone()), chance(distinct.len())));
    }
    if let Some((a, b)) = line(&distinct) {
        let observations = distinct.len().saturating_sub(2);
        return (observations > 0).then(|| (Shape::Linear(a, term.clone(), b), chance(observations)));
    }
    let coin = 1.0 - 0.5f64.powi(distinct.len() as i32);
    if distinct.iter().all(|(x, y)| x <= y) {
        return Some((Shape::AtMost(term.clone()), coin));
    }
    distinct.iter().all(|(x, y)| x >= y).then(|| (Shape::AtLeast(term.clone()), coin))
}

/// Finds `x == a * y + b` through all points, with whole numbers.
fn line(points: &BTreeSet<(i64, i64)>) -> Option<(i64, i64)> {
    let mut it = points.iter();
    let ((x0, y0), (x1, y1)) = (it.next()?, it.next()?);
    let (dx, dy) = (x1.checked_sub(*x0)?, y1.checked_sub(*y0)?);
    if dy == 0 || dx % dy != 0 || dx == 0 {
        return None;
    }
    let a = dx / dy;
    let b = x0.checked_sub(a.checked_mul(*y0)?)?;
    points.iter().all(|(x, y)| Some(*x) == a.checked_mul(*y).and_then(|p| p.checked_add(b))).then_some((a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Variable = Variable { address: 8, size: 4 };
    const Y: Term = Term::Cell(Variable { address: 16, size: 4 });

    fn samples(pairs: &[(i64, i64)], runs: u32) -> Samples {
        let mut samples = Samples { terms: vec![Term::Cell(X), Y], ..Samples::default() };
        let reader = samples.readers.entry(1).or_default();
        reader.variable = Some(X);
        reader.runs = runs;
        reader.samples = pairs.iter().map(|(x, y)| (*x, vec![Some(*x), Some(*y)])).collect();
        samples
    }

    fn shapes(pairs: &[(i64, i64)], runs: u32) -> Vec<Shape> {
        infer(&samples(pairs, runs), &|_| false).into_iter().map(|i| i.shape).collect()
    }

    #[test]
    fn where_memory_lies_says_nothing() {
        let is_address = |n: u64| n >= 1 << 40;
        let of = |pairs: &[(i64, i64)], runs| -> Vec<Shape> {
            infer(&samples(pairs, runs), &is_address).into_iter().map(|i| i.shape).collect()
        };
        const A: i64 = 1 << 40;
        let rising: Vec<_> = (0..8).map(|i| (A + i * i, i * i + 1)).collect();
        assert!(of(&rising, 1).is_empty(), "neither a line nor an order");
        assert_eq!(of(&rising, 30), [Shape::NotNull]);
        let with_null: Vec<_> = [(0, 5)].into_iter().chain(rising).collect();
        assert!(of(&with_null, 60).is_empty(), "no range");
        assert_eq!(of(&[(A, A), (A + 8, A + 8), (A + 16, A + 16)], 3), [Shape::Equal(Y)]);
        assert_eq!(of(&[(A, 1), (A, 9), (A, 4)], 9), [Shape::Constant(A)]);
        let sum = Term::Sum([24, 32].map(|address| Variable { address, size: 8 }).into());
        let of_pointers: Vec<_> = (0..8).map(|i| (i, (1 << 47) + i * i)).collect();
        let summed = Samples { terms: vec![Term::Cell(X), sum], ..samples(&of_pointers, 1) };
        assert!(infer(&summed, &|_| false).is_empty(), "nor to a sum of addresses");
        let below: Vec<_> = (0..8).map(|i| (i, A - i * i)).collect();
        assert!(of(&below, 1).is_empty(), "nor of a number to an address");
    }

    #[test]
    fn the_first_read_that_breaks_it_is_found() {
        use crate::event::Cell;
        let cell = |address, value| Cell { address, size: 4, value, atomic: false };
        let read = |value| TraceEvent { thread: 1, site: 1, what: What::Read(cell(8, value)) };
        let write = |value| TraceEvent {
            thread: 2,
            site: 2,
            what: What::Write { cell: cell(16, value), before: Some(0), reads: false },
        };
        let equal =
            Invariant { site: 1, variable: Some(X), shape: Shape::Equal(Y), samples: 3, confidence: 1.0 };
        assert_eq!(equal.broken(&[read(0), write(5), read(5)]), None);
        assert_eq!(equal.broken(&[read(0), write(5), read(4)]), Some((4, Some(5))));
        assert_eq!(equal.variables(), [X, Variable { address: 16, size: 4 }]);
    }

    #[test]
    fn a_constant_takes_many_runs_to_mean_something() {
        let always: Vec<_> = (0..20).map(|i| (3, i * i)).collect();
        assert!(shapes(&always, 6).is_empty());
        assert_eq!(shapes(&always, 7)[0], Shape::Constant(3));
    }

    #[test]
    fn an_equality_takes_few_values() {
        assert_eq!(shapes(&[(0, 0), (5, 5), (9, 9)], 3), [Shape::Equal(Y)]);
        assert!(shapes(&[(5, 5), (5, 5)], 3).is_empty(), "nothing ever changed");
        assert!(shapes(&[(0, 0), (1, 1), (0, 0), (1, 1)], 3).is_empty(), "two flags");
        assert!(shapes(&[(0, 0), (5, 5), (9, 8)], 3).is_empty());
    }

    #[test]
    fn a_line_takes_more_points_than_it_is_drawn_through() {
        assert!(shapes(&[(1, 0), (3, 1), (5, 2)], 2).is_empty());
        assert_eq!(shapes(&[(1, 0), (3, 1), (5, 2), (9, 4)], 2), [Shape::Linear(2, Y, 1)]);
        assert_eq!(line(&BTreeSet::from([(0, 0), (1, 2)])), None, "not whole");
    }

    #[test]
    fn an_order_is_told_where_there_is_nothing_better() {
        let pairs: Vec<_> = (0..8).map(|i| (i, i * i + 1)).collect();
        assert_eq!(shapes(&pairs, 1), [Shape::AtMost(Y)]);
    }

    #[test]
    fn sets_and_ranges_and_pointers_in_many_runs() {
        let of = |values: &[i64], runs| {
            let pairs: Vec<_> =
                values.iter().enumerate().map(|(i, x)| (*x, (i as i64 * 7919) % 13)).collect();
            let found = infer(&samples(&pairs, runs), &|_| false);
            found.into_iter().map(|i| i.shape).find(|s| s.term().is_none())
        };
        assert_eq!(of(&[1, 5, 1, 5, 1, 1], 20), Some(Shape::OneOf(vec![1, 5])));
        assert_eq!(of(&[7, 9, 11, 30, 2, 7], 20), Some(Shape::NotNull));
        assert_eq!(of(&[0, -2, 4, 9, 0, 3], 30), Some(Shape::Range(-2, 9)));
        assert_eq!(of(&[0, -2, 4, 9, 0, 3], 6), None);
    }
}
