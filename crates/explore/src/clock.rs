//! Vector clocks in fixed storage. Their users have no allocator, so `raddle_base::clock` cannot be
//! used.

/// The number of threads with a clock.
pub const THREADS: usize = 64;

/// What has happened before, as a count of events for each thread. Most programs have a few
/// threads, so a clock knows how many of its counts are in use.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    counts: [u32; THREADS],
    /// Counts from here on are 0.
    used: u32,
    /// The time of the last seq_cst fence that happened before; 0: none.
    pub fenced: u32,
}

impl PartialEq for Clock {
    fn eq(&self, other: &Clock) -> bool {
        (self.counts, self.fenced) == (other.counts, other.fenced)
    }
}

impl Eq for Clock {}

impl Clock {
    /// Nothing has happened before.
    pub const EMPTY: Clock = Clock { counts: [0; THREADS], used: 0, fenced: 0 };

    /// Makes it [`Clock::EMPTY`].
    pub fn clear(&mut self) {
        self.counts[..self.used as usize].fill(0);
        (self.used, self.fenced) = (0, 0);
    }

    /// Makes it a copy of `other`.
    pub fn assign(&mut self, other: &Clock) {
        let used = self.used.max(other.used) as usize;
        self.counts[..used].copy_from_slice(&other.counts[..used]);
        (self.used, self.fenced) = (other.used, other.fenced);
    }

    /// Counts one more event of the thread. Returns its count.
    pub fn tick(&mut self, thread: usize) -> u32 {
        self.raise(thread, self.counts[thread] + 1);
        self.counts[thread]
    }

    /// The thread has had at least this many events.
    pub fn raise(&mut self, thread: usize, count: u32) {
        self.counts[thread] = self.counts[thread].max(count);
        self.used = self.used.max(thread as u32 + 1);
    }

    /// The number of the thread's next event.
    #[inline]
    pub fn next(&self, thread: usize) -> u32 {
        self.counts[thread] + 1
    }

    /// True if that event happened before. Event 0 of every thread happened before everything.
    #[inline]
    pub fn covers(&self, thread: usize, count: u32) -> bool {
        self.counts[thread] >= count
    }

    /// True if one of these events, one for each thread, happened before. 0 is no event.
    pub fn covers_any(&self, events: &[u32; THREADS]) -> bool {
        self.counts.iter().zip(events).any(|(have, event)| *event != 0 && have >= event)
    }

    /// Everything that happened before `other` happened before this, too.
    pub fn join(&mut self, other: &Clock) {
        let used = other.used as usize;
        for (mine, theirs) in self.counts[..used].iter_mut().zip(&other.counts[..used]) {
            *mine = (*mine).max(*theirs);
        }
        self.used = self.used.max(other.used);
        self.fenced = self.fenced.max(other.fenced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_base::rng::Rng;

    /// All counts, as if there were no `used`.
    fn counts(clock: &Clock) -> [u32; THREADS] {
        std::array::from_fn(|thread| clock.next(thread) - 1)
    }

    #[test]
    fn counts_that_are_not_in_use_are_no_different() {
        let mut random = Rng::new(1);
        let mut below = |n: usize| random.below(n as u32) as usize;
        let mut clocks = [Clock::EMPTY; 4];
        let mut plain = [[0; THREADS]; 4];
        for _ in 0..20_000 {
            let (a, b, thread) = (below(4), below(4), [below(3), below(THREADS)][below(2)]);
            let (other, theirs) = (clocks[b], plain[b]);
            match below(6) {
                0 => {
                    clocks[a].clear();
                    plain[a] = [0; THREADS];
                }
                1 => {
                    clocks[a].assign(&other);
                    plain[a] = theirs;
                }
                2 => {
                    plain[a][thread] += 1;
                    assert_eq!(clocks[a].tick(thread), plain[a][thread]);
                }
                3 => {
                    let count = below(50) as u32;
                    clocks[a].raise(thread, count);
                    plain[a][thread] = plain[a][thread].max(count);
                }
                _ => {
                    clocks[a].join(&other);
                    plain[a].iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = (*mine).max(theirs));
                }
            }
            assert_eq!(counts(&clocks[a]), plain[a]);
            assert_eq!(clocks[a] == clocks[b], plain[a] == plain[b]);
        }
    }
}
