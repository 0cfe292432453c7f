//! A vector clock with O(1) copies: an immutable balanced tree with shared nodes.
//!
//! The TSVD paper (SOSP 2019) describes this clock for its variant TSVD-HB, whose runs have many
//! synchronisation events and few accesses. Threads hand clocks on far more often than they change
//! them, and mostly join a clock with the object it came from. So a clock is an immutable tree.
//! Handing it on copies a reference, an increment rebuilds one path, and a join stops wherever both
//! sides are the same node.
//!
//! # Guarantees
//! - `clone` is O(1), and no later change to either copy affects the other.
//! - `set` and `tick` build O(log threads) nodes and share all others.
//! - `join` and `leq` visit one pair of nodes if both sides are the same object, and otherwise only
//!   nodes that the two sides do not share.
//! - A join whose result equals one of its sides *is* that side (no node is built). So equal clocks
//!   stay, and become, pointer-equal, which makes later joins cheap.
//!
//! # Deviations from the paper
//! 1. The paper uses an AVL tree. Thread numbers are dense here ([`ThreadId`]), so this is a radix
//!    tree with eight children per node. It is balanced without rotations. Two clocks over the same
//!    threads always have the same shape, so a join meets shared nodes at the same place. Two AVL
//!    trees over the same threads may be balanced differently, and then a joint descent finds no
//!    shared nodes.

use super::{Epoch, ThreadId, VectorClock, lattice_order};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::array;
use core::cmp::Ordering;
use core::fmt;

/// Children of a node. Eight counts fill one cache line, and ten thousand threads need five levels.
const FANOUT: usize = 8;
const BITS: u32 = FANOUT.trailing_zeros();

/// A node is never all zero; an absent node stands for zeros. So the shape depends only on the
/// counts.
enum Node {
    Leaf([u64; FANOUT]),
    Branch([Link; FANOUT]),
}

type Link = Option<Arc<Node>>;

/// A vector clock with O(1) copies. The module documentation says what is shared.
#[derive(Clone, Default)]
pub struct PersistentClock {
    root: Link,
    /// Levels of branches above the leaves. Grows with the greatest thread number seen.
    levels: u32,
}

impl PersistentClock {
    /// The least clock: every count is zero.
    pub const fn new() -> Self {
        Self { root: None, levels: 0 }
    }

    pub fn get(&self, thread: ThreadId) -> u64 {
        if !fits(thread, self.levels) {
            return 0;
        }
        let (mut link, mut level) = (&self.root, self.levels);
        loop {
            match link.as_deref() {
                None => return 0,
                Some(Node::Leaf(counts)) => return counts[slot(thread, 0)],
                Some(Node::Branch(children)) => link = &children[slot(thread, level)],
            }
            level -= 1;
        }
    }

    pub fn set(&mut self, thread: ThreadId, count: u64) {
        if count == 0 && !fits(thread, self.levels) {
            return;
        }
        while !fits(thread, self.levels) {
            self.raise();
        }
        self.root = with_count(&self.root, self.levels, thread, count);
    }

    /// Advances `thread` by one and returns its new moment.
    pub fn tick(&mut self, thread: ThreadId) -> Epoch {
        let count = self.get(thread) + 1;
        self.set(thread, count);
        Epoch { thread, count }
    }

    /// The moment of `thread` as this clock knows it.
    pub fn epoch(&self, thread: ThreadId) -> Epoch {
        Epoch { thread, count: self.get(thread) }
    }

    /// Whether this clock has seen the moment.
    pub fn covers(&self, epoch: Epoch) -> bool {
        epoch.count <= self.get(epoch.thread)
    }

    /// Sets this clock to the join of both.
    pub fn join(&mut self, other: &Self) {
        self.join_counting(other);
    }

    /// Joins, and returns how many pairs of nodes were visited. Tests use this number to check the
    /// costs that the module promises.
    pub fn join_counting(&mut self, other: &Self) -> usize {
        let other = self.match_levels(other);
        let mut visits = 0;
        self.root = join_links(&self.root, &other.root, &mut visits);
        visits
    }

    /// Whether no count here exceeds the other's.
    pub fn leq(&self, other: &Self) -> bool {
        let mut this = self.clone();
        let other = this.match_levels(other);
        leq_links(&this.root, &other.root)
    }

    /// Whether neither clock is below the other.
    pub fn concurrent_with(&self, other: &Self) -> bool {
        !self.leq(other) && !other.leq(self)
    }

    /// Whether both are the same object, and therefore equal.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        same(&self.root, &other.root) && (self.root.is_none() || self.levels == other.levels)
    }

    /// Whether this is the least clock.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// The same clock as a plain vector.
    pub fn to_dense(&self) -> VectorClock {
        let mut epochs = Vec::new();
        collect(&self.root, self.levels, 0, &mut epochs);
        epochs.into_iter().collect()
    }

    /// Adds a level above the root.
    fn raise(&mut self) {
        if self.root.is_some() {
            let mut children: [Link; FANOUT] = Default::default();
            children[0] = self.root.take();
            self.root = Some(Arc::new(Node::Branch(children)));
        }
        self.levels += 1;
    }

    /// Raises the lower of the two clocks to the height of the other. Returns `other` at that
    /// height.
    fn match_levels(&mut self, other: &Self) -> Self {
        let mut other = other.clone();
        while self.levels < other.levels {
            self.raise();
        }
        while other.levels < self.levels {
            other.raise();
        }
        other
    }
}

fn fits(thread: ThreadId, levels: u32) -> bool {
    u64::from(thread.0) >> (BITS * (levels + 1)) == 0
}

fn slot(thread: ThreadId, level: u32) -> usize {
    (u64::from(thread.0) >> (BITS * level)) as usize % FANOUT
}

fn same(a: &Link, b: &Link) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// The tree with one count replaced; only the path to it is new.
fn with_count(link: &Link, level: u32, thread: ThreadId, count: u64) -> Link {
    let place = slot(thread, level);
    if level == 0 {
        let mut counts = match link.as_deref() {
            Some(Node::Leaf(counts)) => *counts,
            _ => [0; FANOUT],
        };
        counts[place] = count;
        return (counts != [0; FANOUT]).then(|| Arc::new(Node::Leaf(counts)));
    }
    let mut children = match link.as_deref() {
        Some(Node::Branch(children)) => children.clone(),
        _ => Default::default(),
    };
    children[place] = with_count(&children[place], level - 1, thread, count);
    children.iter().any(Option::is_some).then(|| Arc::new(Node::Branch(children)))
}

fn join_links(a: &Link, b: &Link, visits: &mut usize) -> Link {
    *visits += 1;
    let (left, right) = match (a, b) {
        (None, other) | (other, None) => return other.clone(),
        (Some(left), Some(right)) if Arc::ptr_eq(left, right) => return a.clone(),
        (Some(left), Some(right)) => (left, right),
    };
    match (&**left, &**right) {
        (Node::Leaf(x), Node::Leaf(y)) => {
            let joined: [u64; FANOUT] = array::from_fn(|i| x[i].max(y[i]));
            if joined == *x {
                a.clone()
            } else if joined == *y {
                b.clone()
            } else {
                Some(Arc::new(Node::Leaf(joined)))
            }
        }
        (Node::Branch(x), Node::Branch(y)) => {
            let joined: [Link; FANOUT] = array::from_fn(|i| join_links(&x[i], &y[i], visits));
            if joined.iter().zip(x).all(|(j, x)| same(j, x)) {
                a.clone()
            } else if joined.iter().zip(y).all(|(j, y)| same(j, y)) {
                b.clone()
            } else {
                Some(Arc::new(Node::Branch(joined)))
            }
        }
        _ => unreachable!("both trees were brought to one height"),
    }
}

fn leq_links(a: &Link, b: &Link) -> bool {
    match (a, b) {
        (None, _) => true,
        // A node that is present has a count above zero.
        (Some(_), None) => false,
        (Some(a), Some(b)) if Arc::ptr_eq(a, b) => true,
        (Some(a), Some(b)) => match (&**a, &**b) {
            (Node::Leaf(x), Node::Leaf(y)) => x.iter().zip(y).all(|(x, y)| x <= y),
            (Node::Branch(x), Node::Branch(y)) => x.iter().zip(y).all(|(x, y)| leq_links(x, y)),
            _ => unreachable!("both trees were brought to one height"),
        },
    }
}

fn collect(link: &Link, level: u32, base: u64, into: &mut Vec<Epoch>) {
    match link.as_deref() {
        None => {}
        Some(Node::Leaf(counts)) => {
            let known = counts.iter().enumerate().filter(|(_, count)| **count != 0);
            into.extend(
                known.map(|(i, count)| Epoch { thread: ThreadId((base + i as u64) as u32), count: *count }),
            );
        }
        Some(Node::Branch(children)) => {
            for (i, child) in children.iter().enumerate() {
                collect(child, level - 1, base + ((i as u64) << (BITS * level)), into);
            }
        }
    }
}

impl PartialEq for PersistentClock {
    fn eq(&self, other: &Self) -> bool {
        self.ptr_eq(other) || (self.leq(other) && other.leq(self))
    }
}

impl Eq for PersistentClock {}

impl PartialOrd for PersistentClock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        lattice_order(self.leq(other), other.leq(self))
    }
}

impl FromIterator<Epoch> for PersistentClock {
    fn from_iter<I: IntoIterator<Item = Epoch>>(epochs: I) -> Self {
        let mut clock = Self::new();
        for Epoch { thread, count } in epochs {
            clock.set(thread, count);
        }
        clock
    }
}

impl From<&VectorClock> for PersistentClock {
    fn from(dense: &VectorClock) -> Self {
        dense.iter().collect()
    }
}

impl fmt::Debug for PersistentClock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("PersistentClock").field(&self.to_dense()).finish()
    }
}
