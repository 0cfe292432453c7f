//! Vector clocks in fixed storage. Their users have no allocator, so `raddle_base::clock` cannot be
//! used.

/// The number of threads with a clock.
pub const THREADS: usize = 64;

/// What has happened before, as a count of events for each thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    counts: [u32; THREADS],
    /// The time of the last seq_cst fence that happened before; 0: none.
    pub fenced: u32,
}

impl Clock {
    /// Nothing has happened before.
    pub const EMPTY: Clock = Clock { counts: [0; THREADS], fenced: 0 };

    /// Counts one more event of the thread. Returns its count.
    pub fn tick(&mut self, thread: usize) -> u32 {
        self.counts[thread] += 1;
        self.counts[thread]
    }

    /// The thread has had at least this many events.
    pub fn raise(&mut self, thread: usize, count: u32) {
        self.counts[thread] = self.counts[thread].max(count);
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
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = (*mine).max(*theirs);
        }
        self.fenced = self.fenced.max(other.fenced);
    }
}
