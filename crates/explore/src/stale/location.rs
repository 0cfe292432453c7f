//! One atomic object: the last stores to it, newest last.

use super::{AtomicOrder, HISTORY, THREADS};
use crate::clock::Clock;

#[derive(Clone, Copy)]
pub struct AtomicStore {
    pub value: u128,
    pub thread: u16,
    /// The event of that thread; 0: the initial value, which happened before everything.
    pub count: u32,
    /// When a seq_cst operation first wrote or read it; 0: never.
    pub sc_at: u32,
    /// What an acquire that reads it comes after.
    pub sync: Clock,
    /// The first event of each thread that read it; 0: none.
    pub first_read: [u32; THREADS],
}

impl AtomicStore {
    pub const fn initial(value: u128) -> AtomicStore {
        AtomicStore { value, thread: 0, count: 0, sc_at: 0, sync: Clock::EMPTY, first_read: [0; THREADS] }
    }

    /// True if the store, or a read of it, has happened before.
    fn is_seen(&self, clock: &Clock) -> bool {
        clock.covers(self.thread as usize, self.count) || clock.covers_any(&self.first_read)
    }
}

#[derive(Clone, Copy)]
pub struct AtomicLocation {
    pub size: u8,
    /// Accessed in more than one size: not modelled, see deviation 5.
    pub mixed: bool,
    first: u8,
    len: u8,
    stores: [AtomicStore; HISTORY],
    /// How often in a row each thread has read something older than the newest store.
    pub stale: [u8; THREADS],
}

impl AtomicLocation {
    pub const EMPTY: AtomicLocation = AtomicLocation {
        size: 0,
        mixed: false,
        first: 0,
        len: 0,
        stores: [AtomicStore::initial(0); HISTORY],
        stale: [0; THREADS],
    };

    /// Forgets everything but the current value.
    pub fn begin(&mut self, size: u8, value: u128) {
        (self.size, self.mixed, self.first, self.len) = (size, false, 0, 1);
        self.stores[0] = AtomicStore::initial(value);
        self.stale = [0; THREADS];
    }

    fn at(&self, back: usize) -> usize {
        (self.first as usize + self.len as usize - 1 - back) % HISTORY
    }

    /// The store `back` positions before the newest.
    pub fn store(&mut self, back: usize) -> &mut AtomicStore {
        let at = self.at(back);
        &mut self.stores[at]
    }

    pub fn newest(&self) -> &AtomicStore {
        &self.stores[self.at(0)]
    }

    pub fn stores(&self) -> impl Iterator<Item = &AtomicStore> {
        (0..self.len as usize).map(|back| &self.stores[self.at(back)])
    }

    pub fn push(&mut self, store: AtomicStore) {
        if self.len as usize == HISTORY {
            self.first = (self.first + 1) % HISTORY as u8;
        } else {
            self.len += 1;
        }
        *self.store(0) = store;
    }

    /// The number of stores, newest first, that a thread with this clock may read. The first that
    /// it has seen is the last that it may read.
    pub fn readable(&self, clock: &Clock, fences: &Clock, order: AtomicOrder) -> usize {
        let sc = order == AtomicOrder::SeqCst;
        let seen = |s: &AtomicStore| {
            s.is_seen(clock)
                || (s.sc_at != 0 && (sc || s.sc_at < clock.fenced))
                || (sc && fences.fenced != 0 && s.is_seen(fences))
        };
        self.stores().position(seen).map_or(self.len as usize, |i| i + 1)
    }
}
