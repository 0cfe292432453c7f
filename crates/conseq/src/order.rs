//! Which event must precede which: vector clocks that locks do not advance.
//!
//! Section 7.1 of the paper: time-stamps follow from creation and joining of threads, barriers,
//! pipes; "ConSeq does not update time-stamps according to lock/unlock operations, because these
//! operations do not provide any execution-order guarantees". Only what orders events in *every*
//! run counts, as far as the trace shows it:
//!
//! 1. fork, join, barriers (each generation separately) and messages;
//! 2. a signal, and the wait on a condition variable that it ends;
//! 3. a semaphore's post, and the wait that takes it. A semaphore used as a lock (every thread that
//!    posts has waited) is treated as a lock;
//! 4. a flag that one thread waits for in a loop and another sets ([`HappensBefore::handed_over`],
//!    section 7.2, "ad-hoc synchronization"). A flag set only by threads that have waited for it is
//!    a lock made by hand, and creates no order ([`flags_as_locks`]);
//! 5. decrements of a reference count, before the last one (`counts`).

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use raddle_base::clock::{Epoch, ThreadId, VectorClock};

use crate::counts::Turn;
use crate::event::{TraceEvent, What};

/// A moment of a run: a thread, and how much of its history has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceMoment {
    pub thread: u16,
    count: u64,
    /// Which of [`HappensBefore`]'s clocks the thread had.
    clock: u32,
    /// The position in the trace, for two moments of one thread.
    pub index: u32,
}

#[derive(Default)]
struct Barrier {
    arrived: u32,
    gathering: VectorClock,
    /// The clock with which each generation continued.
    closed: Vec<VectorClock>,
    /// The generation that each thread waits for.
    waiting: FxHashMap<u16, usize>,
}

/// The clocks of all threads while the trace is read.
#[derive(Default)]
pub struct HappensBefore {
    now: Vec<VectorClock>,
    /// The index of each thread's current clock in `clocks`; `None`: it has changed.
    kept: Vec<Option<u32>>,
    clocks: Vec<VectorClock>,
    channels: FxHashMap<u64, VectorClock>,
    semaphores: FxHashMap<u64, VecDeque<VectorClock>>,
    barriers: FxHashMap<u64, Barrier>,
    /// The combined clocks of the threads that have decremented each reference count.
    counts: FxHashMap<u32, VectorClock>,
    /// Semaphores that are locks: they create no order.
    locks: FxHashSet<u64>,
}

impl HappensBefore {
    pub fn new(semaphores_as_locks: FxHashSet<u64>) -> HappensBefore {
        HappensBefore { locks: semaphores_as_locks, ..HappensBefore::default() }
    }

    fn clock(&mut self, thread: u16) -> &mut VectorClock {
        let i = usize::from(thread);
        while self.now.len() <= i {
            let mut fresh = VectorClock::default();
            fresh.set(ThreadId(self.now.len() as u32), 1);
            self.now.push(fresh);
            self.kept.push(None);
        }
        &mut self.now[i]
    }

    fn learn(&mut self, thread: u16, from: &VectorClock) {
        if self.clock(thread).join(from) {
            self.kept[usize::from(thread)] = None;
        }
    }

    /// What the thread knows, for others to learn. Its later events are not included.
    fn tell(&mut self, thread: u16) -> VectorClock {
        let told = self.clock(thread).clone();
        self.clock(thread).tick(ThreadId(thread.into()));
        self.kept[usize::from(thread)] = None;
        told
    }

    /// The moment of an event at `index`.
    pub fn stamp(&mut self, thread: u16, index: u32) -> TraceMoment {
        let count = self.clock(thread).get(ThreadId(thread.into()));
        let i = usize::from(thread);
        let clock = match self.kept[i] {
            Some(at) => at,
            None => {
                self.clocks.push(self.now[i].clone());
                let at = self.clocks.len() as u32 - 1;
                self.kept[i] = Some(at);
                at
            }
        };
        TraceMoment { thread, count, clock, index }
    }

    /// Whether `a` precedes `b` in every run that synchronises like this one.
    pub fn before(&self, a: TraceMoment, b: TraceMoment) -> bool {
        if a.thread == b.thread {
            return a.index < b.index;
        }
        let epoch = Epoch { thread: ThreadId(a.thread.into()), count: a.count };
        self.clocks.get(b.clock as usize).is_some_and(|c| c.covers(epoch))
    }

    /// The thread has waited for a value that was written at `from`: ad-hoc synchronisation.
    pub fn handed_over(&mut self, from: TraceMoment, to: u16) {
        if let Some(clock) = self.clocks.get(from.clock as usize).cloned() {
            self.learn(to, &clock);
            // The writer's own moment, and what it did until then.
            let mut moment = VectorClock::default();
            moment.set(ThreadId(from.thread.into()), from.count);
            self.learn(to, &moment);
        }
        // What the writer does later is not ordered before.
        self.tell(from.thread);
    }

    /// Takes in an operation of the thread on a reference count.
    pub(crate) fn count(&mut self, thread: u16, turn: Turn) {
        match turn {
            Turn::LetsGo(n) => {
                let told = self.tell(thread);
                self.counts.entry(n).or_default().join(&told);
            }
            Turn::Last(n) => {
                if let Some(told) = self.counts.remove(&n) {
                    self.learn(thread, &told);
                }
            }
        }
    }

    /// Takes in the order that an event implies.
    pub fn pass(&mut self, e: &TraceEvent) {
        let me = e.thread;
        match e.what {
            What::Fork { child } => {
                let told = self.tell(me);
                self.learn(child, &told);
            }
            What::Join { child } => {
                let told = self.tell(child);
                self.learn(me, &told);
            }
            What::Send { channel } => {
                let told = self.tell(me);
                self.channels.insert(channel, told);
            }
            What::Receive { channel } => {
                if let Some(told) = self.channels.get(&channel).cloned() {
                    self.learn(me, &told);
                }
            }
            What::Post { semaphore } if !self.locks.contains(&semaphore) => {
                let told = self.tell(me);
                self.semaphores.entry(semaphore).or_default().push_back(told);
            }
            What::Wait { semaphore } if !self.locks.contains(&semaphore) => {
                let told = self.semaphores.entry(semaphore).or_default().pop_front();
                if let Some(told) = told {
                    self.learn(me, &told);
                }
            }
            What::Arrive { barrier, count } => self.arrive(me, barrier, count),
            What::Leave { barrier } => self.leave(me, barrier),
            _ => {}
        }
    }

    fn arrive(&mut self, me: u16, at: u64, count: u32) {
        let told = self.tell(me);
        let barrier = self.barriers.entry(at).or_default();
        barrier.gathering.join(&told);
        barrier.arrived += 1;
        if barrier.arrived < count {
            barrier.waiting.insert(me, barrier.closed.len());
            return;
        }
        barrier.arrived = 0;
        let all = std::mem::take(&mut barrier.gathering);
        barrier.closed.push(all.clone());
        self.learn(me, &all);
    }

    fn leave(&mut self, me: u16, at: u64) {
        let Some(barrier) = self.barriers.get_mut(&at) else { return };
        let Some(generation) = barrier.waiting.remove(&me) else { return };
        if let Some(all) = barrier.closed.get(generation).cloned() {
            self.learn(me, &all);
        }
    }
}

/// Semaphores that only threads post which have waited: they exclude, they do not order.
pub fn semaphores_as_locks(events: &[TraceEvent]) -> FxHashSet<u64> {
    let mut held: FxHashMap<(u64, u16), u32> = FxHashMap::default();
    let (mut waited, mut given) = (FxHashSet::default(), FxHashSet::default());
    for e in events {
        match e.what {
            What::Wait { semaphore } => {
                waited.insert(semaphore);
                *held.entry((semaphore, e.thread)).or_default() += 1;
            }
            What::Post { semaphore } => match held.get_mut(&(semaphore, e.thread)) {
                Some(n) if *n > 0 => *n -= 1,
                _ => drop(given.insert(semaphore)),
            },
            _ => {}
        }
    }
    waited.retain(|s| !given.contains(s));
    waited
}

/// The addresses of flags that are used as locks: every thread that sets one has waited for it. Such
/// as `now` of a ticket lock. Who comes first is decided in each run anew, and if the lock is wrong,
/// nobody waits for the other. `waits`: whether a place is the read of a loop that only waits.
pub fn flags_as_locks(events: &[TraceEvent], waits: &dyn Fn(u32) -> bool) -> FxHashSet<u64> {
    let mut last: FxHashMap<u16, (u32, u64, u64)> = FxHashMap::default();
    let mut waited: FxHashSet<(u64, u16)> = FxHashSet::default();
    let mut given: FxHashSet<u64> = FxHashSet::default();
    for e in events {
        match e.what {
            What::Read(cell) => {
                let before = last.insert(e.thread, (e.site, cell.address, cell.value));
                let is_again =
                    |(site, address, value)| (site, address) == (e.site, cell.address) && value != cell.value;
                if waits(e.site) || before.is_some_and(is_again) {
                    waited.insert((cell.address, e.thread));
                }
            }
            What::Write { cell, .. } if !waited.contains(&(cell.address, e.thread)) => {
                given.insert(cell.address);
            }
            _ => {}
        }
    }
    waited.into_iter().map(|(address, _)| address).filter(|address| !given.contains(address)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, what: What) -> TraceEvent {
        TraceEvent { thread, site: 0, what }
    }

    /// Passes the events, and returns the moments of the marks (`Free` of nothing).
    fn stamps(events: &[TraceEvent]) -> (HappensBefore, Vec<TraceMoment>) {
        let mut order = HappensBefore::new(semaphores_as_locks(events));
        let mut stamps = Vec::new();
        for (i, e) in events.iter().enumerate() {
            if matches!(e.what, What::Free { .. }) {
                stamps.push(order.stamp(e.thread, i as u32));
            }
            order.pass(e);
        }
        (order, stamps)
    }

    const MARK: What = What::Free { from: 0, to: 0 };

    #[test]
    fn fork_and_join_order_and_locks_do_not() {
        let events = [
            event(0, MARK),
            event(0, What::Fork { child: 1 }),
            event(0, What::Acquire { lock: 8, shared: false }),
            event(0, MARK),
            event(0, What::Release { lock: 8 }),
            event(1, What::Acquire { lock: 8, shared: false }),
            event(1, MARK),
            event(1, What::Release { lock: 8 }),
            event(0, What::Join { child: 1 }),
            event(0, MARK),
        ];
        let (order, s) = stamps(&events);
        assert!(order.before(s[0], s[2]) && order.before(s[0], s[1]));
        assert!(!order.before(s[1], s[2]) && !order.before(s[2], s[1]));
        assert!(order.before(s[2], s[3]) && !order.before(s[3], s[2]));
    }

    #[test]
    fn each_generation_of_a_barrier_orders_for_itself() {
        let arrive = What::Arrive { barrier: 8, count: 2 };
        let events = [
            event(1, MARK),
            event(1, arrive),
            event(2, arrive),
            // The last thread to arrive continues, and reaches the next barrier before the other
            // has left the first.
            event(2, MARK),
            event(2, arrive),
            event(1, What::Leave { barrier: 8 }),
            event(1, MARK),
            event(1, arrive),
            event(2, What::Leave { barrier: 8 }),
            event(2, MARK),
        ];
        let (order, s) = stamps(&events);
        assert!(order.before(s[0], s[1]));
        assert!(!order.before(s[1], s[2]) && !order.before(s[2], s[1]), "the same phase");
        assert!(order.before(s[2], s[3]) && order.before(s[0], s[2]));
    }

    #[test]
    fn a_semaphore_orders_unless_it_is_a_lock() {
        let (post, wait) = (What::Post { semaphore: 8 }, What::Wait { semaphore: 8 });
        let (order, s) = stamps(&[event(1, MARK), event(1, post), event(2, wait), event(2, MARK)]);
        assert!(order.before(s[0], s[1]));
        let events = [event(1, wait), event(1, MARK), event(1, post), event(2, wait), event(2, MARK)];
        let (order, s) = stamps(&events);
        assert!(!order.before(s[0], s[1]));
    }

    #[test]
    fn a_message_orders_what_came_before_it_and_nothing_later() {
        let (send, receive) = (What::Send { channel: 8 }, What::Receive { channel: 8 });
        let events = [event(1, MARK), event(1, send), event(1, MARK), event(2, receive), event(2, MARK)];
        let (order, s) = stamps(&events);
        assert!(order.before(s[0], s[2]) && !order.before(s[1], s[2]));
    }

    #[test]
    fn a_value_handed_over_orders_its_writer_up_to_then() {
        let mut order = HappensBefore::default();
        let write = order.stamp(1, 0);
        order.handed_over(write, 2);
        let (later, read) = (order.stamp(1, 1), order.stamp(2, 2));
        assert!(order.before(write, read) && !order.before(later, read));
    }
}
