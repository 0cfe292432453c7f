//! A clock that knows few threads, as pairs of sid and epoch.
//!
//! Sids that others imply ([`chain`]) are left out. A thread keeps its own clock in this form
//! beside the one with a lane for each sid, and updates it as it learns. So a release copies three
//! words.

use super::chain;
use super::clock::{SidClock, lanes};

/// The number of pairs that fit.
pub const FEW: usize = 6;

/// Special values of the number of pairs.
const MANY: u8 = 0xff;
const UNKNOWN: u8 = 0xfe;

#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct Pairs {
    pub epochs: [u16; FEW],
    /// The generation in which the pairs were correct.
    pub generation: u32,
    pub sids: [u8; FEW],
    n: u8,
}

impl Pairs {
    pub const EMPTY: Pairs = Pairs { epochs: [0; FEW], generation: 0, sids: [0; FEW], n: 0 };

    /// Everything that `clock` knows; `own` comes first, unless it is 0.
    pub fn of(clock: &SidClock, own: usize, generation: u32) -> Pairs {
        let mut it = Pairs { generation, ..Pairs::EMPTY };
        if own != 0 {
            it.note(own, clock.0[own]);
        }
        for sid in (1..lanes()).filter(|s| clock.0[*s] != 0) {
            it.note(sid, clock.0[sid]);
        }
        it
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// There are more than fit: the pairs are invalid.
    #[inline]
    pub fn are_too_many(&self) -> bool {
        self.n == MANY
    }

    /// The pairs are unknown until [`Pairs::of`] computes them.
    #[inline]
    pub fn are_unknown(&self) -> bool {
        self.n == UNKNOWN
    }

    pub fn forget(&mut self) {
        self.n = UNKNOWN;
    }

    pub fn give_up(&mut self) {
        self.n = MANY;
    }

    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, u16)> + '_ {
        let n = if self.n as usize > FEW { 0 } else { self.n as usize };
        self.sids[..n].iter().zip(&self.epochs[..n]).map(|(s, e)| (*s as usize, *e))
    }

    /// Adds an epoch of one sid. The first pair stays the first.
    pub fn note(&mut self, sid: usize, epoch: u16) {
        let mut i = 0;
        while i < self.len() {
            let there = self.sids[i] as usize;
            if there == sid {
                self.epochs[i] = self.epochs[i].max(epoch);
                return;
            }
            if chain::covers(there, sid) {
                return;
            }
            if chain::covers(sid, there) {
                self.remove(i);
            } else {
                i += 1;
            }
        }
        if i == FEW {
            self.n = MANY;
        } else if self.n as usize == i {
            (self.sids[i], self.epochs[i]) = (sid as u8, epoch);
            self.n += 1;
        }
    }

    fn len(&self) -> usize {
        if self.n as usize > FEW { 0 } else { self.n as usize }
    }

    fn remove(&mut self, i: usize) {
        let n = self.len();
        self.sids.copy_within(i + 1..n, i);
        self.epochs.copy_within(i + 1..n, i);
        self.n -= 1;
    }

    pub fn retain(&mut self, stays: impl Fn(usize) -> bool) {
        let mut i = 0;
        while i < self.len() {
            if stays(self.sids[i] as usize) {
                i += 1;
            } else {
                self.remove(i);
            }
        }
    }
}
