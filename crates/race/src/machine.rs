//! The state machines of *ThreadSanitizer – data race detection in practice* (WBIA 2009), section
//! 4.
//!
//! # The algorithm
//! A run is a sequence of events. Synchronisation events divide each thread into *segments*. SIGNAL
//! and WAIT order segments of different threads (happens-before, `≺`). Locking events give each
//! segment a writer lock set and a reader lock set. Two accesses to a byte *race* if at least one
//! writes, neither precedes the other, and the lock sets that protect them have no lock in common.
//! Each byte keeps two segment sets: the segments that wrote it, and those that have read it since.
//! An access removes the segments that precede it from the sets, adds its own segment, and is
//! compared with the rest.
//!
//! - [`StateMachine::Hybrid`] (4.2): as above. This mode predicts: an unlock and a later lock of
//!   the same mutex order nothing, because another run might have them the other way round.
//! - [`StateMachine::HappensBefore`] (4.4.1): an unlock followed by a lock of the same lock is an
//!   arc, too, unless both are a reader's. This mode reports only what this run did, and nothing on
//!   correct code.
//! - [`StateMachine::Fast`] (4.4.2): hybrid, but a cache line is watched only after a second thread
//!   has touched it.
//! - [`MachineConfig::initialization_state`]: the same idea as fast, for one byte or eight, in any
//!   mode.
//!
//! # What is proved
//! "Proved" means: argued here, and tested on random traces against a brute-force reading of 4.1,
//! which computes happens-before as the closure of a graph of events (`tests/definition.rs`).
//! Unless stated otherwise, sets are unbounded, and both fast mode and the initialization state are
//! off. `Z` *supersedes* `X` if both access the byte, `X ≺ Z`, and every access that conflicts with
//! `X` conflicts with `Z` (for plain accesses: `Z` writes, or `X` reads).
//! - **Exactness.** At an access `Y`, a race is found on a byte exactly when some earlier `X` races
//!   with `Y` by 4.1 and has not been superseded before `Y`. This holds with report-once off; with
//!   it on, it holds up to and including the first report on the byte.
//! - **Soundness.** So whatever is found is a race by 4.1. The converse fails in hybrid mode, by
//!   the paper's design: a thread reads without a lock and then writes under `L`; the write
//!   supersedes the read; another thread that writes under `L` raced with the read, and only the
//!   write is remembered. The machine loses a race by 4.1 only in this way: through a superseding
//!   access that holds a lock that the superseded one did not hold. On a byte where every
//!   superseding access holds no lock beyond those of the access it supersedes, found and defined
//!   coincide.
//! - **Completeness of pure happens-before.** In that mode, on a trace in which locks exclude (two
//!   threads hold one lock only if both are readers), the first race on a byte by 4.1 is found, at
//!   the access that completes it. Proof: suppose `X` races with `Y` and `Z` superseded `X`. Then
//!   `Z` does not precede `Y` (else `X ≺ Y`) and conflicts with it, and accesses that the extended
//!   arcs do not order have no lock in common.
//! - **Inclusions**, byte by byte, on any trace. Pure happens-before ⊆ hybrid: fewer arcs supersede
//!   less, so the same `X` survives and the same pair is concurrent; hybrid finds it no later. Also
//!   fast ⊆ hybrid, a bounded set ⊆ the unbounded one, with the initialization state ⊆ without, and
//!   with flushes ⊆ without. The history setting changes what reports say, never which accesses are
//!   reported.
//!
//! # Deviations from the paper
//! 1. An access of several bytes counts as that many accesses of one byte. It makes one report for
//!    each run of bytes on which it races with the same earlier accesses, not one for each byte.
//! 2. IS-RACE looks at all pairs in the sets; this machine looks only at pairs with the current
//!    access. If the first race on a byte ends its history, as in the paper, no other pair can race
//!    (debug builds assert this with IS-RACE as the paper has it). If it does not
//!    ([`MachineConfig::report_once`] off), old pairs are not reported again.
//! 3. REPORT-RACE prints all of SS_Wr, including writes that precede a read or share a lock with
//!    the current access. Here a report holds only accesses that take part in the race.
//! 4. The paper says that all of SS_Rd is `⋠` all of SS_Wr. A segment that writes and then reads is
//!    in both sets, so this is true only of different segments. Nothing depends on it.
//! 5. Atomic accesses do not race with each other, and are remembered separately from plain ones:
//!    see `segment_set`. The arcs of `atomics` exist in all modes. An acquire takes effect before
//!    its access is judged, a release after.
//! 6. Sets may be bounded; `segment_set` says which member is evicted.
//! 7. An unlock of a lock that is not held is ignored: see `lockset`.
//! 8. A free is a write to all its bytes ([`MachineConfig::free_is_write`]), so a free can race
//!    with an access. An allocation forgets the bytes, their atomic objects, and benign-race
//!    annotations.
//! 9. The paper mentions the initialization state without defining it. Here the accesses of the
//!    first thread to touch a granule are ignored until another thread touches it. This implies the
//!    cache lines of fast mode.
//! 10. PURE_HAPPENS_BEFORE_MUTEX takes effect at the annotation: earlier unlocks make no arcs.
//! 11. UNPUBLISH_MEMORY_RANGE makes arcs from the segments of all remembered accesses to the call.
//!     What such a thread did between its access and its next event that others could learn of is
//!     also ordered before the call, because a clock cannot tell the two apart.
//! 12. A flush forgets every access and every arc. It keeps the current state: locks held, names,
//!     ignored regions, and annotations of memory. Forgetting arcs is safe: an arc from before the
//!     flush orders only accesses from before the flush, which are gone as well.
//! 13. BENIGN_RACE and EXPECT_RACE take a size.
//! 14. IGNORE_WRITES ignores reads as well, as later versions of ThreadSanitizer do: libraries rely
//!     on it.

use crate::annotations::Annotations;
use crate::atomics::{Atomics, Modification};
use crate::event::{
    Annotation, AtomicOp, ByteRange, Event, EventKind, EventSource, LockMode, MemoryOrder, SyncId,
};
use crate::memory::ByteStates;
use crate::ownership::Ownership;
use crate::report::{Race, RacingAccess};
use crate::segment_set::SegmentAccess;
use crate::sync::Sync;
use raddle_base::clock::{ThreadId, VectorClock};
use std::num::NonZeroUsize;

/// Bytes in a cache line of fast mode.
const CACHE_LINE: u64 = 64;

/// Which state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateMachine {
    /// Reports what is unordered in this run. No false reports on correct code (4.4.1).
    HappensBefore,
    /// Also reports what locks ordered only by chance in this run (4.2).
    Hybrid,
    /// Hybrid that watches a cache line only after a second thread has touched it (4.4.2).
    Fast,
}

/// When segments begin besides after synchronisation events (4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentStart {
    /// 0: never. Reports do not say where the earlier access was.
    SyncOnly,
    /// 1: where the context changes.
    Contexts,
    /// 2: at each access.
    EachAccess,
}

/// What the initialization state is kept of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitializationUnit {
    /// Each byte has its own state.
    Byte,
    /// Each aligned group of eight bytes has one state.
    EightBytes,
}

/// How a machine behaves. [`MachineConfig::new`] gives the paper's hybrid defaults with unbounded
/// sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineConfig {
    /// Which of the three machines.
    pub mode: StateMachine,
    /// How precisely reports say where earlier accesses were.
    pub history: SegmentStart,
    /// The most members a segment set may have; the paper's implementation has four.
    pub set_bound: Option<NonZeroUsize>,
    /// If set, accesses by the first thread to touch a granule are ignored (deviation 9).
    pub initialization_state: Option<InitializationUnit>,
    /// "Once a data race is reported on ID, we ignore the consequent accesses to ID."
    pub report_once: bool,
    /// Whether freeing memory counts as a write to it (deviation 8). If not, it forgets the bytes.
    pub free_is_write: bool,
}

impl MachineConfig {
    /// A bound or an initialization state must be set afterwards.
    pub fn new(mode: StateMachine) -> Self {
        Self {
            mode,
            history: SegmentStart::Contexts,
            set_bound: None,
            initialization_state: None,
            report_once: true,
            free_is_write: true,
        }
    }

    fn ownership(&self) -> Option<Ownership> {
        match (self.initialization_state, self.mode) {
            (Some(InitializationUnit::Byte), _) => Some(Ownership::new(1)),
            (Some(InitializationUnit::EightBytes), _) => Some(Ownership::new(8)),
            (None, StateMachine::Fast) => Some(Ownership::new(CACHE_LINE)),
            (None, StateMachine::HappensBefore | StateMachine::Hybrid) => None,
        }
    }
}

/// A race detector: feed it events, in the order in which they were observed.
pub struct RaceDetector {
    config: MachineConfig,
    sync: Sync,
    atomics: Atomics,
    memory: ByteStates,
    ownership: Option<Ownership>,
    annotations: Annotations,
    flushes: u64,
}

impl RaceDetector {
    /// A machine that has seen no event.
    pub fn new(config: MachineConfig) -> Self {
        Self {
            config,
            sync: Sync::new(config.mode == StateMachine::HappensBefore),
            atomics: Atomics::default(),
            memory: ByteStates::default(),
            ownership: config.ownership(),
            annotations: Annotations::default(),
            flushes: 0,
        }
    }

    /// Takes in one event and returns the races that it completes.
    pub fn handle(&mut self, event: &Event) -> Vec<Race> {
        let Event { thread, context, ref kind } = *event;
        match *kind {
            EventKind::Read { bytes, atomic } => return self.access(thread, context, bytes, false, atomic),
            EventKind::Write { bytes, atomic } => return self.access(thread, context, bytes, true, atomic),
            EventKind::Atomic { bytes, op } => return self.atomic(thread, context, bytes, op),
            EventKind::Free(bytes) if self.config.free_is_write => {
                return self.access(thread, context, bytes, true, false);
            }
            EventKind::Free(bytes) | EventKind::Alloc(bytes) => self.reset(bytes),
            EventKind::WrLock(lock) => self.sync.lock(thread, lock, LockMode::Write),
            EventKind::RdLock(lock) => self.sync.lock(thread, lock, LockMode::Read),
            EventKind::WrUnlock(lock) => self.sync.unlock(thread, lock, LockMode::Write),
            EventKind::RdUnlock(lock) => self.sync.unlock(thread, lock, LockMode::Read),
            EventKind::Signal(id) => self.sync.signal(thread, id),
            EventKind::Wait(id) => self.sync.wait(thread, id),
            EventKind::Fence(order) => self.fence(thread, order),
            EventKind::Annotate(ref annotation) => self.annotate(thread, annotation),
        }
        Vec::new()
    }

    /// Takes in many events and returns all races.
    pub fn handle_all<'a>(&mut self, events: impl IntoIterator<Item = &'a Event>) -> Vec<Race> {
        events.into_iter().flat_map(|event| self.handle(event)).collect()
    }

    /// Forgets every access and every arc, to have the memory back (6.2.1).
    pub fn flush(&mut self) {
        self.sync.flush();
        self.atomics.clear();
        self.memory.clear();
        if let Some(ownership) = &mut self.ownership {
            ownership.clear();
        }
        self.flushes += 1;
    }

    /// How often [`RaceDetector::flush`] was called.
    pub fn flushes(&self) -> u64 {
        self.flushes
    }

    /// The races that the program announced (EXPECT_RACE) and that did not come.
    pub fn unmet_expectations(&self) -> Vec<ByteRange> {
        self.annotations.unmet()
    }

    /// The name that the thread gave itself (THREAD_NAME).
    pub fn thread_name(&self, thread: ThreadId) -> Option<&str> {
        self.sync.name(thread)
    }

    /// HANDLE-READ-OR-WRITE-EVENT for each byte.
    fn access(
        &mut self,
        thread: ThreadId,
        context: EventSource,
        bytes: ByteRange,
        is_write: bool,
        atomic: bool,
    ) -> Vec<Race> {
        let state = self.sync.thread(thread);
        if state.ignoring_writes > 0 || !is_write && state.ignoring_reads > 0 {
            return Vec::new();
        }
        self.learn_published(thread, bytes);
        let segment = self.sync.segment(thread, context, self.config.history);
        let current = SegmentAccess { segment, atomic };
        let mut races = Vec::new();
        for byte in bytes.bytes() {
            if self.ownership.as_mut().is_none_or(|ownership| ownership.touch(byte, thread)) {
                let earlier = self.access_byte(byte, &current, is_write);
                if !earlier.is_empty() && self.annotations.reportable(byte) {
                    add_byte(&mut races, byte, earlier, || {
                        RacingAccess::current(&current, is_write, context)
                    });
                }
            }
        }
        races
    }

    /// Updates the byte's sets and returns the accesses that race with the current one.
    fn access_byte(&mut self, byte: u64, current: &SegmentAccess, is_write: bool) -> Vec<RacingAccess> {
        let state = self.memory.byte(byte);
        if state.raced && self.config.report_once {
            return Vec::new();
        }
        state.update(current, is_write, self.config.set_bound);
        let contexts_known = self.config.history != SegmentStart::SyncOnly;
        let earlier: Vec<RacingAccess> = state
            .racing_with(current, is_write)
            .map(|(member, write)| RacingAccess::earlier(member, write, contexts_known))
            .collect();
        debug_assert!(
            !self.config.report_once || state.is_race() != earlier.is_empty(),
            "deviation 2: without earlier races only the current access can race"
        );
        if !earlier.is_empty() {
            state.raced = true;
        }
        earlier
    }

    /// An atomic operation: acquire, access, release, in this order (deviation 5).
    fn atomic(
        &mut self,
        thread: ThreadId,
        context: EventSource,
        bytes: ByteRange,
        op: AtomicOp,
    ) -> Vec<Race> {
        let (read, write) = match op {
            AtomicOp::Load(order) => (Some(order), None),
            AtomicOp::Store(order) => (None, Some((order, Modification::Store))),
            AtomicOp::Rmw(order) => (Some(order), Some((order, Modification::ReadModifyWrite))),
            AtomicOp::CompareExchange { success, succeeded: true, .. } => {
                (Some(success), Some((success, Modification::ReadModifyWrite)))
            }
            AtomicOp::CompareExchange { failure, succeeded: false, .. } => (Some(failure), None),
        };
        if let Some(order) = read {
            let told = self.atomics.read(thread, bytes.start, order);
            if order.acquires() {
                self.sync.learn(thread, &told);
            }
        }
        let races = self.access(thread, context, bytes, write.is_some(), true);
        if let Some((order, kind)) = write {
            let now = self.sync.thread(thread).clock.clone();
            if self.atomics.modify(thread, bytes.start, order, kind, &now) {
                self.sync.advance(thread);
            }
        }
        races
    }

    fn fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        if order.acquires() {
            let told = self.atomics.acquire_fence(thread);
            self.sync.learn(thread, &told);
        }
        if order.releases() {
            let now = self.sync.thread(thread).clock.clone();
            self.atomics.release_fence(thread, &now);
            self.sync.advance(thread);
        }
    }

    fn annotate(&mut self, thread: ThreadId, annotation: &Annotation) {
        let state = self.sync.thread(thread);
        match *annotation {
            Annotation::HappensBefore(object) => self.sync.signal(thread, SyncId::Object(object)),
            Annotation::HappensAfter(object) => self.sync.wait(thread, SyncId::Object(object)),
            Annotation::CondvarLockWait { condvar, .. } => self.sync.wait(thread, SyncId::Object(condvar)),
            Annotation::PureHappensBeforeMutex(lock) => self.sync.make_pure(lock),
            Annotation::NotHappensBeforeMutex(lock) => self.sync.make_impure(lock),
            Annotation::BenignRace(bytes) => self.annotations.add_benign(bytes),
            Annotation::ExpectRace(bytes) => self.annotations.add_expected(bytes),
            Annotation::IgnoreReadsBegin => state.ignoring_reads += 1,
            Annotation::IgnoreReadsEnd => state.ignoring_reads = state.ignoring_reads.saturating_sub(1),
            Annotation::IgnoreWritesBegin => state.ignoring_writes += 1,
            Annotation::IgnoreWritesEnd => state.ignoring_writes = state.ignoring_writes.saturating_sub(1),
            Annotation::RwlockCreate(lock) | Annotation::RwlockDestroy(lock) => self.sync.forget_lock(lock),
            Annotation::RwlockAcquired(lock, mode) => self.sync.lock(thread, lock, mode),
            Annotation::RwlockReleased(lock, mode) => self.sync.unlock(thread, lock, mode),
            Annotation::PublishMemoryRange(bytes) => self.publish(thread, bytes),
            Annotation::UnpublishMemoryRange(bytes) => self.unpublish(thread, bytes),
            Annotation::NewMemory(bytes) => self.reset(bytes),
            Annotation::ThreadName(ref name) => state.name = Some(name.clone()),
        }
    }

    /// A SIGNAL whose WAITs are the accesses to come.
    fn publish(&mut self, thread: ThreadId, bytes: ByteRange) {
        let clock = self.sync.thread(thread).clock.clone();
        for byte in bytes.bytes() {
            self.memory.byte(byte).published.join(&clock);
        }
        self.sync.advance(thread);
    }

    fn learn_published(&mut self, thread: ThreadId, bytes: ByteRange) {
        let mut told = VectorClock::new();
        for state in self.memory.known(bytes) {
            told.join(&state.published);
        }
        // Only news ends the segment: a published byte is read often.
        if !told.leq(&self.sync.thread(thread).clock) {
            self.sync.learn(thread, &told);
        }
    }

    /// A WAIT whose SIGNALs were the accesses so far (deviation 11).
    fn unpublish(&mut self, thread: ThreadId, bytes: ByteRange) {
        let mut told = VectorClock::new();
        for state in self.memory.known(bytes) {
            for member in state.writers.iter().chain(state.readers.iter()) {
                told.join(&member.segment.clock);
            }
        }
        for known in told.iter() {
            // A period that this call learns of must end here, or it would learn its future too.
            if self.sync.thread(known.thread).clock.epoch(known.thread) == known {
                self.sync.advance(known.thread);
            }
        }
        self.sync.learn(thread, &told);
        self.memory.unpublish(bytes);
    }

    fn reset(&mut self, bytes: ByteRange) {
        self.memory.reset(bytes);
        self.atomics.reset(bytes);
        self.annotations.reset(bytes);
        if let Some(ownership) = &mut self.ownership {
            ownership.reset(bytes);
        }
    }
}

/// Adds a racy byte to the reports of one access: to the last one if it continues it (deviation 1).
fn add_byte(
    races: &mut Vec<Race>,
    byte: u64,
    earlier: Vec<RacingAccess>,
    current: impl FnOnce() -> RacingAccess,
) {
    match races.last_mut() {
        Some(last) if last.bytes.end() == byte && last.earlier == earlier => last.bytes.size += 1,
        _ => races.push(Race { bytes: ByteRange::new(byte, 1), current: current(), earlier }),
    }
}
