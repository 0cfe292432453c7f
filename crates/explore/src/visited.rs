//! The states that a bounded search has visited, each with the least cost at which it was reached.

use serde::{Deserialize, Serialize};

/// States with their costs. One word per state: the cost replaces the lowest bits of the
/// fingerprint, which leaves 59 bits to distinguish states. When the table has its full size and is
/// three quarters full, new states are no longer remembered: less is pruned, nothing is lost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VisitedStates {
    slots: Vec<u64>,
    used: usize,
    max_slots: usize,
}

const COST_BITS: u32 = 5;
const COST: u64 = (1 << COST_BITS) - 1;

impl VisitedStates {
    /// `max_states` is rounded up to a power of two.
    pub fn new(max_states: usize) -> VisitedStates {
        let max_slots = max_states.next_power_of_two().max(16);
        VisitedStates { slots: vec![0; max_slots.min(1024)], used: 0, max_slots }
    }

    /// The number of states remembered.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether no state is remembered.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slots.fill(0);
        self.used = 0;
    }

    /// Whether the state has been reached at this cost or less.
    #[inline]
    pub fn covers(&self, state: u64, cost: u32) -> bool {
        let slot = self.slots[self.find(state)];
        slot != 0 && slot & COST <= encode(cost)
    }

    /// The state is reached at this cost. False if it was reached before, at this cost or less.
    #[inline]
    pub fn enter(&mut self, state: u64, cost: u32) -> bool {
        let mut at = self.find(state);
        let slot = self.slots[at];
        if slot != 0 && slot & COST <= encode(cost) {
            return false;
        }
        if slot == 0 {
            if (self.used + 1) * 4 > self.slots.len() * 3 {
                if !self.grow() {
                    return true;
                }
                at = self.find(state);
            }
            self.used += 1;
        }
        self.slots[at] = (state & !COST) | encode(cost);
        true
    }

    #[inline]
    fn find(&self, state: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (state >> COST_BITS) as usize & mask;
        while self.slots[at] != 0 && (self.slots[at] ^ state) >> COST_BITS != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    #[cold]
    fn grow(&mut self) -> bool {
        if self.slots.len() >= self.max_slots {
            return false;
        }
        let size = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        for slot in old.into_iter().filter(|s| *s != 0) {
            let at = self.find(slot);
            self.slots[at] = slot;
        }
        true
    }
}

/// The cost as the lowest bits of a slot: never 0, which marks an empty slot. Costs from 30 on are
/// the same.
fn encode(cost: u32) -> u64 {
    u64::from(cost).min(COST - 1) + 1
}
