//! The global state (paper, 4.2): lock sets, happens-before arcs, and the current segment of each
//! thread.

use crate::event::{EventSource, LockId, LockMode, SyncId};
use crate::lockset::HeldLocks;
use crate::machine::SegmentStart;
use crate::segment::Segment;
use raddle_base::clock::{Epoch, ThreadId, VectorClock};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub struct ThreadClocks {
    /// What happened before; its own count numbers the time since its last release.
    pub clock: Arc<VectorClock>,
    pub held: HeldLocks,
    /// None after a synchronisation event: the next access begins a segment.
    segment: Option<Arc<Segment>>,
    /// Nesting of IGNORE_READS and IGNORE_WRITES.
    pub ignoring_reads: u32,
    pub ignoring_writes: u32,
    pub name: Option<String>,
}

/// Counts start at one: every clock covers zero.
fn first_clock(thread: ThreadId) -> Arc<VectorClock> {
    Arc::new([Epoch { thread, count: 1 }].into_iter().collect())
}

impl ThreadClocks {
    fn new(thread: ThreadId) -> Self {
        Self {
            clock: first_clock(thread),
            held: HeldLocks::default(),
            segment: None,
            ignoring_reads: 0,
            ignoring_writes: 0,
            name: None,
        }
    }
}

/// The clocks that the next holder of a lock joins, where locks make arcs.
#[derive(Default)]
struct Unlocks {
    by_writers: VectorClock,
    by_readers: VectorClock,
}

pub struct Sync {
    /// Whether every lock makes the extended arcs of 4.4.1, or only those in `pure`.
    all_pure: bool,
    pure: BTreeSet<LockId>,
    /// Locks that make no arcs, even where all others do.
    impure: BTreeSet<LockId>,
    threads: BTreeMap<ThreadId, ThreadClocks>,
    signals: BTreeMap<SyncId, VectorClock>,
    unlocks: BTreeMap<LockId, Unlocks>,
    segments: u64,
}

impl Sync {
    pub fn new(all_pure: bool) -> Self {
        Self {
            all_pure,
            pure: BTreeSet::new(),
            impure: BTreeSet::new(),
            threads: BTreeMap::new(),
            signals: BTreeMap::new(),
            unlocks: BTreeMap::new(),
            segments: 0,
        }
    }

    pub fn thread(&mut self, thread: ThreadId) -> &mut ThreadClocks {
        self.threads.entry(thread).or_insert_with(|| ThreadClocks::new(thread))
    }

    pub fn name(&self, thread: ThreadId) -> Option<&str> {
        self.threads.get(&thread)?.name.as_deref()
    }

    /// GET-CURRENT-SEGMENT, for an access in `context`; begins one where the history asks for it
    /// (4.3).
    pub fn segment(&mut self, thread: ThreadId, context: EventSource, history: SegmentStart) -> Arc<Segment> {
        let serial = self.segments;
        let state = self.thread(thread);
        if let Some(segment) = &state.segment {
            let stays = match history {
                SegmentStart::SyncOnly => true,
                SegmentStart::Contexts => segment.context == context,
                SegmentStart::EachAccess => false,
            };
            if stays {
                return segment.clone();
            }
        }
        let segment = Arc::new(Segment {
            serial,
            thread,
            clock: state.clock.clone(),
            context,
            writer_locks: state.held.writer_set(),
            reader_locks: state.held.reader_set(),
        });
        state.segment = Some(segment.clone());
        self.segments += 1;
        segment
    }

    /// Joins `told` into the thread's clock.
    pub fn learn(&mut self, thread: ThreadId, told: &VectorClock) {
        let state = self.thread(thread);
        state.segment = None;
        if !told.leq(&state.clock) {
            Arc::make_mut(&mut state.clock).join(told);
        }
    }

    /// Increments the thread's own count: clocks that others got so far do not cover what it does
    /// from now on.
    pub fn advance(&mut self, thread: ThreadId) {
        let state = self.thread(thread);
        state.segment = None;
        Arc::make_mut(&mut state.clock).tick(thread);
    }

    pub fn signal(&mut self, thread: ThreadId, id: SyncId) {
        let clock = self.thread(thread).clock.clone();
        self.signals.entry(id).or_default().join(&clock);
        self.advance(thread);
    }

    /// By the definition, every earlier SIGNAL with the ID precedes a WAIT, not only the latest.
    pub fn wait(&mut self, thread: ThreadId, id: SyncId) {
        let told = self.signals.get(&id).cloned().unwrap_or_default();
        self.learn(thread, &told);
    }

    pub fn lock(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let mut told = VectorClock::new();
        if let Some(unlocks) = self.unlocks.get(&lock) {
            told.join(&unlocks.by_writers);
            if mode == LockMode::Write {
                told.join(&unlocks.by_readers);
            }
        }
        self.learn(thread, &told);
        self.thread(thread).held.acquire(lock, mode);
    }

    pub fn unlock(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let state = self.thread(thread);
        state.segment = None;
        state.held.release(lock, mode);
        if self.all_pure && !self.impure.contains(&lock) || self.pure.contains(&lock) {
            let clock = self.thread(thread).clock.clone();
            let unlocks = self.unlocks.entry(lock).or_default();
            match mode {
                LockMode::Write => unlocks.by_writers.join(&clock),
                LockMode::Read => unlocks.by_readers.join(&clock),
            };
            self.advance(thread);
        }
    }

    /// From now on the lock makes extended arcs, whatever the mode.
    pub fn make_pure(&mut self, lock: LockId) {
        self.pure.insert(lock);
        self.impure.remove(&lock);
    }

    /// From now on the lock makes no arcs, whatever the mode. Lock sets still count it.
    pub fn make_impure(&mut self, lock: LockId) {
        self.impure.insert(lock);
        self.pure.remove(&lock);
        self.unlocks.remove(&lock);
    }

    /// The lock is gone, or newly made: what carries its name from now on is another lock.
    pub fn forget_lock(&mut self, lock: LockId) {
        self.pure.remove(&lock);
        self.impure.remove(&lock);
        self.unlocks.remove(&lock);
        for state in self.threads.values_mut() {
            state.held.forget(lock);
            state.segment = None;
        }
    }

    /// Forgets all arcs and segments. Locks held, ignored regions and names are current state, and
    /// stay.
    pub fn flush(&mut self) {
        self.signals.clear();
        self.unlocks.clear();
        for (thread, state) in &mut self.threads {
            state.clock = first_clock(*thread);
            state.segment = None;
        }
    }
}
