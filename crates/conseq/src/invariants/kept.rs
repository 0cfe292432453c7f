//! Variables that a program keeps in order.
//!
//! An equality may hold in all training runs only because no thread was preempted: that as many jobs have ended as begun, while each job
//! begins and ends without a break. Where every access is atomic, or under one lock, the program has thought of other
//! threads, and what they can see in between may be all the same to it. Where it has not, the two were never meant to be seen apart.

use rustc_hash::FxHashMap;

use super::shape::Variable;
use crate::event::{Cell, Event, ThreadId, What};

/// How one variable was accessed while there were several threads.
#[derive(Default)]
struct Use {
    plain: bool,
    /// The locks that every access so far was under; none yet: it was not accessed.
    locks: Option<Vec<u64>>,
}

/// Is each of the variables accessed by atomic operations alone, or always under one and the same lock? What the only
/// thread does, before it has made others and after it has joined them, does not count. A lock that was tried for does not count as held: that
/// errs on the side of no.
pub fn is_kept_in_order(variables: &[Variable], events: &[Event]) -> bool {
    let mut uses: Vec<Use> = variables.iter().map(|_| Use::default()).collect();
    let mut held: FxHashMap<ThreadId, Vec<u64>> = FxHashMap::default();
    let mut others = 0u32;
    for e in events {
        let mine = held.entry(e.thread).or_default();
        match e.what {
            What::Fork { .. } => others += 1,
            What::Join { .. } => others = others.saturating_sub(1),
            What::Acquire { lock, .. } => mine.push(lock),
            What::Release { lock } => {
                if let Some(at) = mine.iter().rposition(|l| *l == lock) {
                    mine.remove(at);
                }
            }
            What::Read(cell) | What::Write { cell, .. } if others > 0 => {
                for (_, used) in variables.iter().zip(&mut uses).filter(|(v, _)| overlap(v, &cell)) {
                    used.add(&cell, mine);
                }
            }
            _ => {}
        }
    }
    uses.iter().all(Use::is_in_order)
}

fn overlap(v: &Variable, cell: &Cell) -> bool {
    v.address < cell.address + u64::from(cell.size) && cell.address < v.address + u64::from(v.size)
}

impl Use {
    fn add(&mut self, cell: &Cell, held: &[u64]) {
        self.plain |= !cell.atomic;
        match &mut self.locks {
            Some(locks) => locks.retain(|l| held.contains(l)),
            none => *none = Some(held.to_vec()),
        }
    }

    fn is_in_order(&self) -> bool {
        !self.plain || self.locks.as_ref().is_none_or(|locks| !locks.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Variable = Variable { address: 0x100, size: 4 };
    const Y: Variable = Variable { address: 0x200, size: 8 };
    const LOCK: u64 = 0x900;

    fn by(thread: ThreadId, what: What) -> Event {
        Event { thread, site: 1, what }
    }

    fn read(thread: ThreadId, v: Variable, atomic: bool) -> Event {
        by(thread, What::Read(Cell { address: v.address, size: v.size, value: 0, atomic }))
    }

    fn write(thread: ThreadId, v: Variable, atomic: bool) -> Event {
        let cell = Cell { address: v.address, size: v.size, value: 1, atomic };
        by(thread, What::Write { cell, before: None, reads: false })
    }

    fn locked(thread: ThreadId, lock: u64, e: Event) -> [Event; 3] {
        [by(thread, What::Acquire { lock, shared: false }), e, by(thread, What::Release { lock })]
    }

    fn with_others(events: &[Event]) -> Vec<Event> {
        let mut all = vec![write(0, X, false), by(0, What::Fork { child: 1 })];
        all.extend_from_slice(events);
        all.extend([by(0, What::Join { child: 1 }), read(0, X, false)]);
        all
    }

    #[test]
    fn one_lock_for_all_accesses() {
        let events =
            with_others(&[locked(0, LOCK, write(0, X, false)), locked(1, LOCK, read(1, X, false))].concat());
        assert!(is_kept_in_order(&[X], &events), "what main does alone does not count");
        let other =
            with_others(&[locked(0, LOCK, write(0, X, false)), locked(1, 0x908, read(1, X, false))].concat());
        assert!(!is_kept_in_order(&[X], &other), "two locks are none");
    }

    #[test]
    fn atomic_accesses() {
        let events = with_others(&[write(0, X, true), read(1, X, true), write(1, Y, true)]);
        assert!(is_kept_in_order(&[X, Y], &events));
        let mixed = with_others(&[write(0, X, true), read(1, X, false)]);
        assert!(!is_kept_in_order(&[X], &mixed));
    }

    #[test]
    fn one_variable_in_order_and_the_other_not() {
        let mut events = locked(1, LOCK, write(1, X, false)).to_vec();
        events.push(write(1, Y, false));
        assert!(is_kept_in_order(&[X], &with_others(&events)));
        assert!(!is_kept_in_order(&[X, Y], &with_others(&events)));
    }

    #[test]
    fn a_part_of_it_is_enough() {
        let upper = Variable { address: 0x204, size: 4 };
        assert!(!is_kept_in_order(&[Y], &with_others(&[write(1, upper, false)])));
        assert!(is_kept_in_order(
            &[Y],
            &with_others(&[write(1, Variable { address: 0x208, size: 4 }, false)])
        ));
    }
}
