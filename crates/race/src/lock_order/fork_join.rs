//! The order of segments by thread creation and joining.

use raddle_base::clock::{Epoch, PersistentClock, ThreadId};
use std::collections::BTreeMap;

/// For each thread the clocks of its segments. A program that creates threads one after the other
/// has as many segments as threads, each knowing almost what the one before knew: the clocks share
/// their nodes.
#[derive(Default)]
pub struct ForkJoin {
    segments: BTreeMap<ThreadId, Vec<PersistentClock>>,
}

impl ForkJoin {
    pub fn created(&mut self, parent: ThreadId, child: ThreadId) {
        let told = self.clock(parent).clone();
        self.clock(child).join(&told);
        self.begin(parent);
    }

    pub fn joined(&mut self, joiner: ThreadId, child: ThreadId) {
        let told = self.clock(child).clone();
        self.begin(joiner);
        self.clock(joiner).join(&told);
    }

    pub fn segment(&self, thread: ThreadId) -> u32 {
        self.segments.get(&thread).map_or(0, |clocks| clocks.len() as u32 - 1)
    }

    /// The segment, for comparing. A thread without any creation or join has only an implicit
    /// first segment.
    pub fn segment_clock(&self, thread: ThreadId, segment: u32) -> SegmentClock<'_> {
        let clock = self.segments.get(&thread).and_then(|clocks| clocks.get(segment as usize));
        SegmentClock { moment: moment(thread, segment), clock }
    }

    /// The present clock of the thread.
    fn clock(&mut self, thread: ThreadId) -> &mut PersistentClock {
        let clocks = self.segments.entry(thread).or_default();
        if clocks.is_empty() {
            clocks.push([moment(thread, 0)].into_iter().collect());
        }
        clocks.last_mut().expect("a thread has a first segment")
    }

    fn begin(&mut self, thread: ThreadId) {
        let mut next = self.clock(thread).clone();
        next.tick(thread);
        self.segments.entry(thread).or_default().push(next);
    }
}

/// A segment among the others.
pub struct SegmentClock<'a> {
    moment: Epoch,
    clock: Option<&'a PersistentClock>,
}

impl SegmentClock<'_> {
    /// Whether one of the segments, of different threads, precedes the other.
    pub fn ordered(&self, other: &Self) -> bool {
        self.precedes(other) || other.precedes(self)
    }

    fn precedes(&self, other: &Self) -> bool {
        other.clock.is_some_and(|clock| clock.covers(self.moment))
    }
}

/// Counts begin at one: a clock that has not heard of a thread has zero for it.
fn moment(thread: ThreadId, segment: u32) -> Epoch {
    Epoch { thread, count: u64::from(segment) + 1 }
}
