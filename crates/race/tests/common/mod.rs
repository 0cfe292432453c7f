//! Traces that read like the paper's examples.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]

pub mod definition;
pub mod random;

use raddle_race::*;
use std::collections::BTreeSet;

pub fn t(thread: u32) -> ThreadId {
    ThreadId(thread)
}

pub const MAIN: u32 = 0;
pub const MU: u64 = 100;
pub const CV: u64 = 200;

/// A trace under construction. Every event has a context of its own: its position, from one.
#[derive(Clone, Default)]
pub struct Trace {
    pub events: Vec<Event>,
}

impl Trace {
    /// A run in which the main thread has started threads 1 to `threads`.
    pub fn with_threads(threads: u32) -> Self {
        let mut trace = Self::default();
        for thread in 1..=threads {
            trace.start(MAIN, thread);
        }
        trace
    }

    pub fn push(&mut self, thread: u32, kind: EventKind) -> &mut Self {
        let context = EventSource(self.events.len() as u64 + 1);
        self.events.push(Event::new(t(thread), context, kind));
        self
    }

    pub fn start(&mut self, parent: u32, child: u32) -> &mut Self {
        self.events.extend(Event::thread_started(t(parent), t(child), EventSource(0)));
        self
    }

    pub fn join(&mut self, joiner: u32, child: u32) -> &mut Self {
        self.events.extend(Event::thread_joined(t(joiner), t(child), EventSource(0)));
        self
    }

    pub fn read(&mut self, thread: u32, byte: u64) -> &mut Self {
        self.push(thread, EventKind::Read { bytes: ByteRange::new(byte, 1), atomic: false })
    }

    pub fn write(&mut self, thread: u32, byte: u64) -> &mut Self {
        self.push(thread, EventKind::Write { bytes: ByteRange::new(byte, 1), atomic: false })
    }

    pub fn lock(&mut self, thread: u32, lock: u64) -> &mut Self {
        self.push(thread, EventKind::WrLock(LockId(lock)))
    }

    pub fn unlock(&mut self, thread: u32, lock: u64) -> &mut Self {
        self.push(thread, EventKind::WrUnlock(LockId(lock)))
    }

    pub fn reader_lock(&mut self, thread: u32, lock: u64) -> &mut Self {
        self.push(thread, EventKind::RdLock(LockId(lock)))
    }

    pub fn reader_unlock(&mut self, thread: u32, lock: u64) -> &mut Self {
        self.push(thread, EventKind::RdUnlock(LockId(lock)))
    }

    pub fn signal(&mut self, thread: u32, object: u64) -> &mut Self {
        self.push(thread, EventKind::Signal(SyncId::Object(object)))
    }

    pub fn wait(&mut self, thread: u32, object: u64) -> &mut Self {
        self.push(thread, EventKind::Wait(SyncId::Object(object)))
    }

    pub fn note(&mut self, thread: u32, annotation: Annotation) -> &mut Self {
        self.push(thread, EventKind::Annotate(annotation))
    }

    pub fn atomic(&mut self, thread: u32, byte: u64, op: AtomicOp) -> &mut Self {
        self.push(thread, EventKind::Atomic { bytes: ByteRange::new(byte, 1), op })
    }

    pub fn load(&mut self, thread: u32, byte: u64, order: MemoryOrder) -> &mut Self {
        self.atomic(thread, byte, AtomicOp::Load(order))
    }

    pub fn store(&mut self, thread: u32, byte: u64, order: MemoryOrder) -> &mut Self {
        self.atomic(thread, byte, AtomicOp::Store(order))
    }

    pub fn rmw(&mut self, thread: u32, byte: u64, order: MemoryOrder) -> &mut Self {
        self.atomic(thread, byte, AtomicOp::Rmw(order))
    }

    pub fn fence(&mut self, thread: u32, order: MemoryOrder) -> &mut Self {
        self.push(thread, EventKind::Fence(order))
    }

    /// The same trace with more at its end.
    pub fn then(&self, more: impl FnOnce(&mut Self)) -> Self {
        let mut trace = self.clone();
        more(&mut trace);
        trace
    }
}

pub fn races_with(config: MachineConfig, trace: &Trace) -> Vec<Race> {
    RaceDetector::new(config).handle_all(&trace.events)
}

pub fn races(mode: StateMachine, trace: &Trace) -> Vec<Race> {
    races_with(MachineConfig::new(mode), trace)
}

/// The bytes on which races are reported.
pub fn racy_bytes(config: MachineConfig, events: &[Event]) -> BTreeSet<u64> {
    RaceDetector::new(config).handle_all(events).iter().flat_map(|race| race.bytes.bytes()).collect()
}

#[track_caller]
pub fn assert_racy(modes: &[StateMachine], trace: &Trace, byte: u64) {
    for &mode in modes {
        let found = racy_bytes(MachineConfig::new(mode), &trace.events);
        assert_eq!(found, BTreeSet::from([byte]), "{mode:?}");
    }
}

#[track_caller]
pub fn assert_silent(modes: &[StateMachine], trace: &Trace) {
    for &mode in modes {
        assert_eq!(races(mode, trace), [], "{mode:?}");
    }
}

pub const HB: &[StateMachine] = &[StateMachine::HappensBefore];
pub const HYBRID: &[StateMachine] = &[StateMachine::Hybrid];
pub const FAST: &[StateMachine] = &[StateMachine::Fast];
pub const PRECISE: &[StateMachine] = &[StateMachine::HappensBefore, StateMachine::Hybrid];
pub const ALL: &[StateMachine] = &[StateMachine::HappensBefore, StateMachine::Hybrid, StateMachine::Fast];
