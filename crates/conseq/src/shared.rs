//! Reduces a trace with all accesses to those of shared memory.
//!
//! The recorder does not know which memory only one thread uses; this removes those accesses
//! afterwards. There are millions of accesses, most of them near the one before. So granules of 8
//! bytes are bits of pages, and the page of the last access is kept at hand.

use rustc_hash::FxHashMap;

use crate::event::{TraceEvent, What};

/// The number of granules per page: one bit each.
const GRANULES: usize = 512;

type Page = [u64; GRANULES / 64];

/// Memory that more than one thread touches.
#[derive(Default)]
pub struct SharedMemory {
    pages: FxHashMap<u64, Page>,
}

/// The number of the page, and the position of the granule in it.
fn place(address: u64) -> (u64, usize, u64) {
    let granule = address / 8;
    let bit = granule as usize % GRANULES;
    (granule / GRANULES as u64, bit / 64, 1 << (bit % 64))
}

impl SharedMemory {
    /// The granules at these addresses.
    pub fn new(granules: impl IntoIterator<Item = u64>) -> SharedMemory {
        let mut shared = SharedMemory::default();
        for address in granules {
            let (page, word, bit) = place(address);
            shared.pages.entry(page).or_default()[word] |= bit;
        }
        shared
    }

    /// Removes accesses to all other memory. Other events stay.
    pub fn choose(&self, events: &mut Vec<TraceEvent>) {
        let (mut last, mut granules) = (u64::MAX, None);
        events.retain(|e| {
            let (What::Read(cell) | What::Write { cell, .. }) = e.what else { return true };
            let (page, word, bit) = place(cell.address);
            if page != last {
                (last, granules) = (page, self.pages.get(&page));
            }
            granules.is_some_and(|g: &Page| g[word] & bit != 0)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Cell;

    fn event(what: What) -> TraceEvent {
        TraceEvent { thread: 1, site: 1, what }
    }

    fn read(address: u64) -> TraceEvent {
        event(What::Read(Cell { address, size: 1, value: 0, atomic: false }))
    }

    fn write(address: u64) -> TraceEvent {
        let cell = Cell { address, size: 1, value: 0, atomic: false };
        event(What::Write { cell, before: None, reads: false })
    }

    #[test]
    fn accesses_to_shared_granules_stay_and_so_does_what_is_no_access() {
        let lock = event(What::Release { lock: 4096 });
        let shared = SharedMemory::new([0x1000, 0x1ff8, 0x7fff_f000]);
        let mut events = vec![
            read(0x1000),
            read(0x1007),
            read(0x1008),
            lock,
            write(0x1ffc),
            write(0x2000),
            read(0x7fff_f001),
            write(0xff8),
            read(0x1001),
        ];
        shared.choose(&mut events);
        let left = [read(0x1000), read(0x1007), lock, write(0x1ffc), read(0x7fff_f001), read(0x1001)];
        assert_eq!(events, left);
    }

    #[test]
    fn where_nothing_is_shared_no_access_is_left() {
        let mut events = vec![read(8), event(What::Fork { child: 1 }), write(16)];
        SharedMemory::default().choose(&mut events);
        assert_eq!(events, [event(What::Fork { child: 1 })]);
    }
}
