//! Logical threads and sets of them.

/// The maximum number of logical threads in one execution.
pub const MAX_THREADS: usize = 1024;

const WORDS: usize = MAX_THREADS / 64;

/// A logical thread. The runtime numbers them from 0; the same schedule gives the same numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct LogicalThread(pub u16);

impl LogicalThread {
    /// The index for tables with one entry per thread.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of threads. Only as many words are read as the highest member ever inserted needs, so that
/// sets of few threads cost a word or two: every word from `used` on is zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ThreadSet {
    words: [u64; WORDS],
    used: u32,
}

impl Default for ThreadSet {
    fn default() -> ThreadSet {
        ThreadSet::new()
    }
}

impl PartialEq for ThreadSet {
    fn eq(&self, other: &ThreadSet) -> bool {
        let n = self.used.max(other.used) as usize;
        self.words[..n] == other.words[..n]
    }
}

impl Eq for ThreadSet {}

impl ThreadSet {
    /// The empty set.
    pub const fn new() -> ThreadSet {
        ThreadSet { words: [0; WORDS], used: 0 }
    }

    /// The words that may be nonzero.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words[..self.used as usize]
    }

    /// A set from words as [`ThreadSet::words`] returns them; words past [`MAX_THREADS`] are
    /// ignored.
    pub fn from_words(words: &[u64]) -> ThreadSet {
        let mut set = ThreadSet::new();
        let n = words.len().min(WORDS);
        set.words[..n].copy_from_slice(&words[..n]);
        set.used = n as u32;
        set
    }

    /// Threads past [`MAX_THREADS`] are in no set.
    #[inline]
    pub fn contains(&self, t: LogicalThread) -> bool {
        self.words.get(t.index() / 64).is_some_and(|w| w >> (t.0 % 64) & 1 != 0)
    }

    /// Has no effect on a thread past [`MAX_THREADS`].
    #[inline]
    pub fn insert(&mut self, t: LogicalThread) {
        let word = t.index() / 64;
        if let Some(w) = self.words.get_mut(word) {
            *w |= 1 << (t.0 % 64);
            self.used = self.used.max(word as u32 + 1);
        }
    }

    /// Has no effect if the thread is not a member.
    #[inline]
    pub fn remove(&mut self, t: LogicalThread) {
        if let Some(w) = self.words.get_mut(t.index() / 64) {
            *w &= !(1 << (t.0 % 64));
        }
    }

    /// Removes all members.
    #[inline]
    pub fn clear(&mut self) {
        if self.used <= 1 {
            // Few programs have more than 64 threads, and this happens at every step.
            self.words[0] = 0;
            self.used = 0;
            return;
        }
        self.words[..self.used as usize].fill(0);
        self.used = 0;
    }

    /// `self = other`, touching only the words in use.
    #[inline]
    pub fn assign(&mut self, other: &ThreadSet) {
        if self.used <= 1 && other.used <= 1 {
            self.words[0] = other.words[0];
            self.used = other.used;
            return;
        }
        let n = other.used as usize;
        self.words[..n].copy_from_slice(&other.words[..n]);
        if self.used as usize > n {
            self.words[n..self.used as usize].fill(0);
        }
        self.used = other.used;
    }

    /// Whether it has no member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words().iter().all(|&w| w == 0)
    }

    /// How many members it has.
    #[inline]
    pub fn len(&self) -> u32 {
        self.words().iter().map(|w| w.count_ones()).sum()
    }

    /// Adds the members of `other`.
    pub fn union_with(&mut self, other: &ThreadSet) {
        for (a, b) in self.words.iter_mut().zip(other.words()) {
            *a |= b;
        }
        self.used = self.used.max(other.used);
    }

    /// Keeps the members that are also in `other`.
    pub fn intersect_with(&mut self, other: &ThreadSet) {
        for (a, b) in self.words[..self.used as usize].iter_mut().zip(&other.words) {
            *a &= b;
        }
    }

    /// Removes the members of `other`.
    pub fn subtract(&mut self, other: &ThreadSet) {
        for (a, b) in self.words[..self.used as usize].iter_mut().zip(&other.words) {
            *a &= !b;
        }
    }

    /// Whether the two have a member in common.
    #[inline]
    pub fn intersects(&self, other: &ThreadSet) -> bool {
        self.words().iter().zip(other.words()).any(|(a, b)| a & b != 0)
    }

    /// The smallest member.
    #[inline]
    pub fn first(&self) -> Option<LogicalThread> {
        self.iter().next()
    }

    /// The largest member.
    pub fn last(&self) -> Option<LogicalThread> {
        let (i, w) = self.words().iter().enumerate().rev().find(|(_, w)| **w != 0)?;
        Some(LogicalThread((i * 64) as u16 + 63 - w.leading_zeros() as u16))
    }

    /// The first member after `t`, wrapping around.
    #[inline]
    pub fn next_after(&self, t: LogicalThread) -> Option<LogicalThread> {
        let start = t.index() + 1;
        for (i, &w) in self.words().iter().enumerate().skip(start / 64) {
            let w = if i == start / 64 { w & (!0 << (start % 64)) } else { w };
            if w != 0 {
                return Some(LogicalThread((i * 64) as u16 + w.trailing_zeros() as u16));
            }
        }
        self.first()
    }

    /// The member with `n` smaller ones.
    #[inline]
    pub fn nth(&self, mut n: u32) -> Option<LogicalThread> {
        for (i, &word) in self.words().iter().enumerate() {
            let ones = word.count_ones();
            if n < ones {
                let mut w = word;
                for _ in 0..n {
                    w &= w - 1;
                }
                return Some(LogicalThread((i * 64) as u16 + w.trailing_zeros() as u16));
            }
            n -= ones;
        }
        None
    }

    /// The members in ascending order.
    #[inline]
    pub fn iter(&self) -> Members<'_> {
        Members::of(self.words())
    }
}

impl FromIterator<LogicalThread> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = LogicalThread>>(threads: I) -> ThreadSet {
        let mut set = ThreadSet::new();
        threads.into_iter().for_each(|t| set.insert(t));
        set
    }
}

/// The members of a set of threads, in ascending order.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    words: &'a [u64],
    base: u16,
    word: u64,
}

impl<'a> Members<'a> {
    #[inline]
    pub(crate) fn of(words: &'a [u64]) -> Members<'a> {
        let (word, rest) = words.split_first().map_or((0, words), |(w, rest)| (*w, rest));
        Members { words: rest, base: 0, word }
    }
}

impl Iterator for Members<'_> {
    type Item = LogicalThread;

    #[inline]
    fn next(&mut self) -> Option<LogicalThread> {
        while self.word == 0 {
            let (word, rest) = self.words.split_first()?;
            (self.word, self.words) = (*word, rest);
            self.base += 64;
        }
        let bit = self.word.trailing_zeros() as u16;
        self.word &= self.word - 1;
        Some(LogicalThread(self.base + bit))
    }
}
