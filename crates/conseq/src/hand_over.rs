//! Blocks that threads hand to each other, and the order that this implies. Beyond the paper.
//!
//! A producer allocates a block, fills it and puts its address into a queue; a consumer takes the
//! address out, uses the block and frees it. No signal need be involved, and locks do not order, so
//! Algorithm 1 would suspect every access of the producer of coming after the free. But the
//! consumer cannot free what it does not know: it knows the address only from what the producer
//! wrote, and the producer wrote it after its accesses.
//!
//! The question about an access and the free of its block is: *could the freeing thread know the
//! address before the access was made?* If not, the access comes first in every run that goes like
//! this one. A thread could know the address early if
//!
//! 1. it allocated the block, and does not make the access itself;
//! 2. it *read* the address, or one inside the block, from memory to which a thread that could know
//!    it early has written such an address, or to which the accessing thread has, before the
//!    access;
//! 3. it was created after the allocation by a thread that could know it early, or by the accessing
//!    thread before the access: addresses are passed as arguments, too;
//! 4. it joined a thread that could know it early, which may have returned the address;
//! 5. it read the address where no write of the trace has put it, or received a message: a pipe, or
//!    work of OpenMP. What carried the address there is unknown.
//!
//! If the block itself holds an address inside it, as a `std::string` does, that reveals nothing: a
//! thread must know the block to read it.
//!
//! The free is ordered after the access only if the freeing thread has also read the address.
//! Otherwise it got the address in another way. If the trace does not contain the allocation of a
//! block, nothing is known about its hand-over.
//!
//! This does not see an address that is stored in another form (a difference, two halves). Then the
//! freeing thread usually reads no address, and no order is claimed.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::{Cell, TraceEvent, TracedThread, What};

/// Nothing is claimed about a block that is mentioned more often than this.
const MENTIONS: usize = 4096;

/// An address inside a block, read or written.
#[derive(Clone, Copy, Debug)]
struct Mention {
    index: u32,
    thread: TracedThread,
    /// Where the address was stored.
    cell: u64,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Written,
    /// The last write of the trace to that place stored it.
    Read,
    /// No write in the trace stored it.
    Found,
}

struct Block {
    to: u64,
    allocated: u32,
    by: TracedThread,
    mentions: Vec<Mention>,
}

/// How a thread may get an address other than through memory.
#[derive(Clone, Copy, Debug)]
enum Contact {
    Fork { parent: TracedThread, child: TracedThread },
    Join { by: TracedThread, child: TracedThread },
    Message { to: TracedThread },
}

/// The blocks that were allocated and freed within the trace.
#[derive(Default)]
pub(crate) struct HandOvers {
    /// By the index of the free in the trace.
    blocks: FxHashMap<u32, Block>,
    /// With their indexes in the trace, in order.
    contacts: Vec<(u32, Contact)>,
    known: RefCell<FxHashMap<(u32, TracedThread), Known>>,
}

/// What was found out about a block, by the index of its free, and a thread that accesses it. Each
/// granule of the block asks. The answer depends on the access only by how often the thread has
/// told others before it.
struct Known {
    /// When the thread may tell others of the block, in order.
    tells: Vec<u32>,
    /// Who could know the address early, if the thread has told this often.
    early: FxHashMap<usize, FxHashSet<TracedThread>>,
}

impl HandOvers {
    pub(crate) fn of(events: &[TraceEvent]) -> HandOvers {
        let mut found = HandOvers::default();
        let mut live: BTreeMap<u64, Block> = BTreeMap::new();
        // Which addresses of blocks the trace has stored where.
        let mut kept: FxHashMap<u64, u64> = FxHashMap::default();
        for (i, e) in events.iter().enumerate() {
            let (index, thread) = (i as u32, e.thread);
            match e.what {
                What::Allocate { from, to } => {
                    live.insert(from, Block { to, allocated: index, by: thread, mentions: Vec::new() });
                }
                What::Free { from, .. } => {
                    if let Some(block) = live.remove(&from) {
                        found.blocks.insert(index, block);
                    }
                }
                What::Read(cell) => read(&mut live, &kept, index, thread, &cell),
                What::Write { cell, before, reads } => {
                    if let Some(value) = before.filter(|_| reads) {
                        read(&mut live, &kept, index, thread, &Cell { value, ..cell });
                    }
                    kept.remove(&cell.address);
                    if let Some(block) = mentioned(&mut live, &cell) {
                        kept.insert(cell.address, cell.value);
                        block.mentions.push(Mention { index, thread, cell: cell.address, how: How::Written });
                    }
                }
                What::Fork { child } => found.contacts.push((index, Contact::Fork { parent: thread, child })),
                What::Join { child } => found.contacts.push((index, Contact::Join { by: thread, child })),
                What::Receive { .. } if !is_signal(events, i) => {
                    found.contacts.push((index, Contact::Message { to: thread }));
                }
                _ => {}
            }
        }
        found
    }

    /// Whether the access of `thread` at `access` precedes the free at `free`, by `by`, in every
    /// run that goes like this one: the freeing thread got the address afterwards.
    pub(crate) fn orders(
        &self,
        (thread, access): (TracedThread, u32),
        (by, free): (TracedThread, u32),
    ) -> bool {
        let Some(block) = self.blocks.get(&free) else { return false };
        let has_read = || block.mentions.iter().any(|m| m.thread == by && m.how == How::Read);
        if by == block.by || thread == by || block.mentions.len() > MENTIONS || !has_read() {
            return false;
        }
        let mut known = self.known.borrow_mut();
        let known = known.entry((free, thread)).or_insert_with(|| self.tells(block, thread));
        let told = known.tells.partition_point(|index| *index < access);
        !known.early.entry(told).or_insert_with(|| self.early(block, thread, access, free)).contains(&by)
    }

    fn tells(&self, block: &Block, thread: TracedThread) -> Known {
        let written = block.mentions.iter().filter(|m| m.thread == thread && m.how == How::Written);
        let forks = self.contacts.iter().filter_map(|(index, contact)| match contact {
            Contact::Fork { parent, .. } if *parent == thread => Some(*index),
            _ => None,
        });
        let mut tells: Vec<u32> = written.map(|m| m.index).chain(forks).collect();
        tells.sort_unstable();
        Known { tells, early: FxHashMap::default() }
    }

    /// The threads that could know the address of the block before the access was made.
    fn early(&self, block: &Block, thread: TracedThread, access: u32, free: u32) -> FxHashSet<TracedThread> {
        let mut early: FxHashSet<TracedThread> = FxHashSet::default();
        if block.by != thread {
            early.insert(block.by);
        }
        let told = |early: &FxHashSet<TracedThread>, who: TracedThread, index: u32| {
            if who == thread { index < access } else { early.contains(&who) }
        };
        let alive = |index: u32| block.allocated < index && index < free;
        loop {
            let before = early.len();
            for (index, contact) in self.contacts.iter().filter(|(index, _)| alive(*index)) {
                match *contact {
                    Contact::Fork { parent, child } if told(&early, parent, *index) => {
                        early.insert(child);
                    }
                    // When the accessing thread is joined, its access is over.
                    Contact::Join { by, child } if child != thread && early.contains(&child) => {
                        early.insert(by);
                    }
                    Contact::Message { to } => drop(early.insert(to)),
                    _ => {}
                }
            }
            // Where a thread that could know the address early has written it.
            let writes = block.mentions.iter().filter(|m| m.how == How::Written);
            let mut written: FxHashSet<u64> =
                writes.clone().filter(|m| told(&early, m.thread, m.index)).map(|m| m.cell).collect();
            for m in &block.mentions {
                let learns = match m.how {
                    How::Written => false,
                    How::Read => written.contains(&m.cell),
                    How::Found => true,
                };
                if learns && m.thread != thread && early.insert(m.thread) {
                    written.extend(writes.clone().filter(|w| w.thread == m.thread).map(|w| w.cell));
                }
            }
            early.remove(&thread);
            if early.len() == before {
                return early;
            }
        }
    }
}

/// The block that the value of `cell` points into, or to whose end.
fn mentioned<'a>(live: &'a mut BTreeMap<u64, Block>, cell: &Cell) -> Option<&'a mut Block> {
    if cell.size != 8 {
        return None;
    }
    let (from, block) = live.range_mut(..=cell.value).next_back()?;
    let is_inside = (*from..block.to).contains(&cell.address);
    (cell.value <= block.to && !is_inside && block.mentions.len() <= MENTIONS).then_some(block)
}

fn read(
    live: &mut BTreeMap<u64, Block>,
    kept: &FxHashMap<u64, u64>,
    index: u32,
    thread: TracedThread,
    cell: &Cell,
) {
    if let Some(block) = mentioned(live, cell) {
        let how = if kept.get(&cell.address) == Some(&cell.value) { How::Read } else { How::Found };
        block.mentions.push(Mention { index, thread, cell: cell.address, how });
    }
}

/// Whether the received message is the signal of a condition variable, which carries nothing: the
/// thread acquires its mutex at once.
fn is_signal(events: &[TraceEvent], at: usize) -> bool {
    let (e, next) = (&events[at], events.get(at + 1));
    next.is_some_and(|n| n.thread == e.thread && n.site == e.site && matches!(n.what, What::Acquire { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 0x1000;
    const QUEUE: u64 = 64;
    const OTHER: u64 = 72;

    fn event(thread: u16, what: What) -> TraceEvent {
        TraceEvent { thread, site: 1, what }
    }

    fn at(address: u64, value: u64) -> Cell {
        Cell { address, size: 8, value, atomic: false }
    }

    fn put(thread: u16, cell: u64) -> TraceEvent {
        event(thread, What::Write { cell: at(cell, BLOCK), before: Some(0), reads: false })
    }

    fn take(thread: u16, cell: u64) -> TraceEvent {
        event(thread, What::Read(at(cell, BLOCK)))
    }

    fn allocate(thread: u16) -> TraceEvent {
        event(thread, What::Allocate { from: BLOCK, to: BLOCK + 32 })
    }

    fn access(thread: u16) -> TraceEvent {
        event(thread, What::Read(at(BLOCK + 8, 7)))
    }

    fn free(thread: u16) -> TraceEvent {
        event(thread, What::Free { from: BLOCK, to: BLOCK + 32 })
    }

    fn fork(thread: u16, child: u16) -> TraceEvent {
        event(thread, What::Fork { child })
    }

    /// Whether the first access to the block is ordered before the free, which is the last event.
    fn orders(events: &[TraceEvent]) -> bool {
        let is_access = |e: &&TraceEvent| matches!(e.what, What::Read(c) if c.address == BLOCK + 8);
        let i = events.iter().position(|e| is_access(&e)).unwrap_or_else(|| panic!("no access"));
        let last = events.len() - 1;
        HandOvers::of(events).orders((events[i].thread, i as u32), (events[last].thread, last as u32))
    }

    #[test]
    fn who_takes_a_block_frees_it_after_who_put_it_there() {
        assert!(orders(&[fork(0, 1), allocate(0), access(0), put(0, QUEUE), take(1, QUEUE), free(1)]));
        // An access after the block was handed over.
        assert!(!orders(&[fork(0, 1), allocate(0), put(0, QUEUE), access(0), take(1, QUEUE), free(1)]));
        // A thread that frees without having read the address.
        assert!(!orders(&[fork(0, 1), allocate(0), access(0), put(0, QUEUE), free(1)]));
        // A thread that frees what it allocated itself.
        assert!(!orders(&[fork(0, 1), allocate(1), access(0), put(0, QUEUE), take(1, QUEUE), free(1)]));
    }

    #[test]
    fn a_second_way_to_the_block_is_one_too_many() {
        let early = [fork(0, 1), allocate(0), put(0, OTHER), access(0), put(0, QUEUE)];
        let looks = |cell| [&early[..], &[take(1, cell), take(1, QUEUE), free(1)]].concat();
        assert!(orders(&looks(QUEUE)));
        assert!(!orders(&looks(OTHER)));
        // The same memory, before and after the access.
        let twice =
            [fork(0, 1), allocate(0), put(0, QUEUE), access(0), put(0, QUEUE), take(1, QUEUE), free(1)];
        assert!(!orders(&twice));
        // An argument.
        assert!(!orders(&[allocate(0), fork(0, 1), access(0), put(0, QUEUE), take(1, QUEUE), free(1)]));
    }

    #[test]
    fn a_block_that_points_to_itself_tells_nobody() {
        let inside = What::Write { cell: at(BLOCK + 16, BLOCK + 24), before: Some(0), reads: false };
        let looks = event(1, What::Read(at(BLOCK + 16, BLOCK + 24)));
        let itself = [fork(0, 1), allocate(0), event(0, inside), access(0), put(0, QUEUE), take(1, QUEUE)];
        assert!(orders(&[&itself[..], &[looks, free(1)]].concat()));
    }

    #[test]
    fn a_block_goes_through_several_hands() {
        let begin =
            [fork(0, 1), fork(0, 2), allocate(0), put(0, QUEUE), take(1, QUEUE), access(1), put(1, OTHER)];
        assert!(orders(&[&begin[..], &[take(2, OTHER), free(2)]].concat()));
        // The last thread may have taken it from the first.
        assert!(!orders(&[&begin[..], &[take(2, QUEUE), take(2, OTHER), free(2)]].concat()));
        // The first access, with the hand-overs after it.
        let chain =
            [fork(0, 1), fork(0, 2), allocate(0), access(0), put(0, QUEUE), take(1, QUEUE), put(1, OTHER)];
        assert!(orders(&[&chain[..], &[take(2, OTHER), free(2)]].concat()));
    }

    #[test]
    fn what_comes_another_way_is_not_known() {
        // No write in the trace stored the address there.
        let found =
            [fork(0, 1), allocate(0), access(0), put(0, QUEUE), take(1, OTHER), take(1, QUEUE), free(1)];
        assert!(!orders(&found));
        // A message may carry it; a signal does not.
        let (receive, lock) = (What::Receive { channel: 8 }, What::Acquire { lock: 9, shared: false });
        let begin = [fork(0, 1), allocate(0), access(0), put(0, QUEUE), event(1, receive)];
        assert!(!orders(&[&begin[..], &[take(1, QUEUE), free(1)]].concat()));
        assert!(orders(&[&begin[..], &[event(1, lock), take(1, QUEUE), free(1)]].concat()));
        // A thread that the first one told, and that is joined.
        let told =
            [fork(0, 1), fork(0, 2), allocate(0), put(0, OTHER), take(2, OTHER), access(0), put(0, QUEUE)];
        let join = event(1, What::Join { child: 2 });
        assert!(!orders(&[&told[..], &[join, take(1, QUEUE), free(1)]].concat()));
    }
}
