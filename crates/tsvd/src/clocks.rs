//! Vector clocks as immutable balanced trees (3.5), in memory of fixed size.
//!
//! The same tree as `raddle_base`'s persistent clock, which explains the reasons: a radix tree with
//! eight children per node instead of the paper's AVL tree, so that two clocks have the same shape.
//! That clock allocates, and there is no allocator inside a target. Here nodes are numbered slots
//! of one array, with reference counts. The tests compare the two.
//!
//! When all nodes are in use, a change is dropped and counts as lost. A lost happens-before edge
//! only means a superfluous pair in the trap set.

const FANOUT: usize = 8;
/// Levels below the root: 8^4 threads.
const LEVELS: u32 = 3;
/// Threads with equal numbers modulo this share a count in a clock.
pub(crate) const CLOCK_THREADS: u32 = 1 << 12;
const NODES: usize = 1 << 15;

/// A clock: the number of its root, from one; zero is the least clock. A lasting copy is made by
/// [joining](Clocks::join) it to the least clock, and each copy must be
/// [released](Clocks::release).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ClockId(u32);

#[repr(C)]
struct Node {
    /// The reference count; in a free node, the next free one.
    refs: u32,
    /// Counts in a leaf, else numbers of nodes.
    slots: [u64; FANOUT],
}

#[repr(C)]
pub(crate) struct Clocks {
    /// The first node on the free list, and how many were ever used: those above are free too.
    free: u32,
    used: u32,
    pub lost: u64,
    nodes: [Node; NODES],
}

impl Clocks {
    pub(crate) fn get(&self, clock: ClockId, thread: u32) -> u64 {
        let mut node = clock.0;
        for level in (0..=LEVELS).rev() {
            let Some(index) = node.checked_sub(1) else { return 0 };
            let slot = self.nodes[index as usize].slots[place(thread, level)];
            if level == 0 {
                return slot;
            }
            node = slot as u32;
        }
        0
    }

    /// The clock with one count replaced. The old clock is released, and the caller owns the new
    /// one.
    pub(crate) fn set(&mut self, clock: ClockId, thread: u32, count: u64) -> ClockId {
        let Some(node) = self.with_count(clock.0, LEVELS, thread, count) else {
            self.lost += 1;
            return clock;
        };
        self.release(clock);
        ClockId(node)
    }

    /// The least clock above both. The first is released, as with [`Clocks::set`].
    pub(crate) fn join(&mut self, clock: ClockId, other: ClockId) -> ClockId {
        // By far the most common case: nothing has happened since the clock was passed on.
        if clock == other || other.0 == 0 {
            return clock;
        }
        let Some(node) = self.join_nodes(clock.0, other.0, LEVELS) else {
            self.lost += 1;
            return clock;
        };
        self.release(clock);
        ClockId(node)
    }

    pub(crate) fn release(&mut self, clock: ClockId) {
        self.release_node(clock.0, LEVELS);
    }

    fn retain_node(&mut self, node: u32) -> u32 {
        if let Some(index) = node.checked_sub(1) {
            self.nodes[index as usize].refs += 1;
        }
        node
    }

    fn release_node(&mut self, node: u32, level: u32) {
        let Some(index) = node.checked_sub(1) else { return };
        let index = index as usize;
        self.nodes[index].refs -= 1;
        if self.nodes[index].refs != 0 {
            return;
        }
        if level > 0 {
            let children = self.nodes[index].slots;
            children.into_iter().for_each(|child| self.release_node(child as u32, level - 1));
        }
        self.nodes[index].refs = self.free;
        self.free = node;
    }

    /// Makes a node with these slots, and takes over their references.
    fn make(&mut self, slots: [u64; FANOUT], level: u32) -> Option<u32> {
        let node = if self.free != 0 {
            let node = self.free;
            self.free = self.nodes[node as usize - 1].refs;
            node
        } else if (self.used as usize) < NODES {
            self.used += 1;
            self.used
        } else {
            if level > 0 {
                slots.into_iter().for_each(|child| self.release_node(child as u32, level - 1));
            }
            return None;
        };
        self.nodes[node as usize - 1] = Node { refs: 1, slots };
        Some(node)
    }

    fn slots(&self, node: u32) -> [u64; FANOUT] {
        node.checked_sub(1).map_or([0; FANOUT], |index| self.nodes[index as usize].slots)
    }

    /// Makes a node owned by the caller. Only the path to the count is new.
    fn with_count(&mut self, node: u32, level: u32, thread: u32, count: u64) -> Option<u32> {
        let (mut slots, changed) = (self.slots(node), place(thread, level));
        if level == 0 {
            slots[changed] = count;
            return self.make(slots, level);
        }
        let child = self.with_count(slots[changed] as u32, level - 1, thread, count)?;
        for (index, slot) in slots.iter().enumerate() {
            if index != changed {
                self.retain_node(*slot as u32);
            }
        }
        slots[changed] = u64::from(child);
        self.make(slots, level)
    }

    /// A reference, owned by the caller, to a node with the greater count everywhere. It is one of
    /// the two nodes if that is enough, so that equal clocks stay, and become, the same.
    fn join_nodes(&mut self, a: u32, b: u32, level: u32) -> Option<u32> {
        if a == b || b == 0 {
            return Some(self.retain_node(a));
        }
        if a == 0 {
            return Some(self.retain_node(b));
        }
        let (x, y) = (self.slots(a), self.slots(b));
        let mut joined = [0; FANOUT];
        for i in 0..FANOUT {
            joined[i] = match level {
                0 => x[i].max(y[i]),
                _ => match self.join_nodes(x[i] as u32, y[i] as u32, level - 1) {
                    Some(child) => u64::from(child),
                    None => {
                        joined[..i].iter().for_each(|child| self.release_node(*child as u32, level - 1));
                        return None;
                    }
                },
            };
        }
        let whole = if joined == x { Some(a) } else { (joined == y).then_some(b) };
        let Some(whole) = whole else { return self.make(joined, level) };
        if level > 0 {
            joined.into_iter().for_each(|child| self.release_node(child as u32, level - 1));
        }
        Some(self.retain_node(whole))
    }
}

fn place(thread: u32, level: u32) -> usize {
    ((thread % CLOCK_THREADS) >> (FANOUT.trailing_zeros() * level)) as usize % FANOUT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::zeroed_box;
    use raddle_base::clock::{PersistentClock, ThreadId};
    use raddle_base::rng::Rng;

    fn clocks() -> Box<Clocks> {
        // SAFETY: plain numbers.
        unsafe { zeroed_box() }
    }

    /// Nodes in use.
    fn live(clocks: &Clocks) -> usize {
        let mut free = 0;
        let mut next = clocks.free;
        while next != 0 {
            free += 1;
            next = clocks.nodes[next as usize - 1].refs;
        }
        clocks.used as usize - free
    }

    #[test]
    fn it_agrees_with_the_clock_that_allocates() {
        const THREADS: [u32; 8] = [0, 1, 7, 8, 63, 64, 513, 4095];
        let (mut clocks, mut rng) = (clocks(), Rng::new(11));
        let mut ours = [ClockId::default(); 6];
        let mut theirs: [PersistentClock; 6] = Default::default();
        for _ in 0..3000 {
            let (i, j) = (rng.below(6) as usize, rng.below(6) as usize);
            match rng.below(3) {
                0 => {
                    let thread = THREADS[rng.below(8) as usize];
                    let epoch = theirs[i].tick(ThreadId(thread));
                    ours[i] = clocks.set(ours[i], thread, epoch.count);
                }
                1 => {
                    theirs[i].join(&theirs[j].clone());
                    ours[i] = clocks.join(ours[i], ours[j]);
                }
                _ => {
                    theirs[i] = theirs[j].clone();
                    let copy = clocks.join(ClockId::default(), ours[j]);
                    clocks.release(ours[i]);
                    ours[i] = copy;
                }
            }
            for thread in THREADS {
                assert_eq!(clocks.get(ours[i], thread), theirs[i].get(ThreadId(thread)));
            }
        }
        assert_eq!(clocks.lost, 0);
        ours.into_iter().for_each(|clock| clocks.release(clock));
        assert_eq!(live(&clocks), 0, "every node was given back");
    }

    #[test]
    fn a_join_with_itself_or_with_less_builds_nothing() {
        let mut clocks = clocks();
        let less = clocks.set(ClockId::default(), 3, 1);
        let copy = clocks.join(ClockId::default(), less);
        let more = clocks.set(copy, 9, 2);
        let nodes = live(&clocks);
        assert_eq!(clocks.join(more, less), more);
        assert_eq!(clocks.join(more, more), more);
        let less = clocks.join(less, more);
        assert_eq!(less, more, "the join is the greater clock itself");
        assert!(live(&clocks) <= nodes);
    }

    #[test]
    fn a_full_memory_loses_changes_and_nothing_else() {
        let mut clocks = clocks();
        clocks.used = NODES as u32 - 4;
        let clock = clocks.set(ClockId::default(), 1, 5);
        let other = clocks.set(ClockId::default(), 1, 9);
        assert_eq!((clocks.get(clock, 1), clocks.get(other, 1), clocks.lost), (5, 0, 1));
        clocks.release(clock);
        let other = clocks.set(other, 2, 9);
        assert_eq!(clocks.get(other, 2), 9, "there is room again");
    }
}
