//! Random traces: few threads, bytes, locks and objects, so that they meet.

use super::t;
use proptest::collection::vec;
use proptest::prelude::*;
use raddle_race::*;
use std::collections::HashMap;

const THREADS: u32 = 4;
const BYTES: u64 = 4;
const SLOTS: u64 = 10;
const OBJECT: u64 = 100;

/// Any trace at all, also one that no program could make: locks held by two threads, unlocked by
/// strangers. A third are single events, most of which race; a third are critical sections, most of
/// which do not; and a third are messages through atomics, where each memory order decides a race.
pub fn any_trace(length: usize) -> impl Strategy<Value = Vec<Event>> {
    let chaos = vec((0..THREADS, 0u64..4, kind().prop_map(|kind| vec![kind])), 0..length);
    let order = vec((0..THREADS, 0u64..4, block()), 0..length / 2);
    prop_oneof![chaos, order, messages(length / 2)].prop_map(move |blocks| {
        let mut events = Vec::new();
        for (thread, context, block) in blocks {
            events.extend(block.into_iter().map(|kind| Event::new(t(thread), EventSource(context), kind)));
        }
        events.truncate(length);
        events
    })
}

type Block = (u32, u64, Vec<EventKind>);

/// Every sender writes a slot of its own and then modifies an atomic object; every receiver reads
/// the object and then the slot of an earlier sender. A fence may come between.
fn messages(length: usize) -> impl Strategy<Value = Vec<Block>> {
    let half =
        (0..THREADS, any::<bool>(), operation(), prop::option::of(order()), any::<prop::sample::Index>());
    vec(half, 0..length).prop_map(|halves| {
        let mut slots = 0;
        let mut blocks = Vec::new();
        for (thread, sends, op, fence, which) in halves {
            let op = EventKind::Atomic { bytes: ByteRange::new(OBJECT, 1), op };
            let slot = if sends || slots == 0 { slots } else { which.index(slots) };
            let data = access(ByteRange::new(SLOTS + slot as u64, 1), sends);
            let block = [Some(data), fence.map(EventKind::Fence), Some(op)].into_iter().flatten();
            slots += usize::from(sends);
            blocks.push((thread, 0, if sends { block.collect() } else { block.rev().collect() }));
        }
        blocks
    })
}

/// What one thread does in one go.
fn block() -> impl Strategy<Value = Vec<EventKind>> {
    let access = || (range(), any::<bool>()).prop_map(|(bytes, write)| access(bytes, write));
    let section = (0u64..2, 1u64..3, any::<bool>(), vec(access(), 1..4));
    prop_oneof![
        12 => section.prop_map(|(lock, locks, write, body)| critical_section(lock, locks, write, body)),
        1 => access().prop_map(|access| vec![access]),
        1 => kind().prop_map(|kind| vec![kind]),
        1 => (0u64..2).prop_map(|object| vec![EventKind::Signal(SyncId::Object(object))]),
        1 => (0u64..2).prop_map(|object| vec![EventKind::Wait(SyncId::Object(object))]),
    ]
}

fn access(bytes: ByteRange, write: bool) -> EventKind {
    if write { EventKind::Write { bytes, atomic: false } } else { EventKind::Read { bytes, atomic: false } }
}

/// One or two locks around some accesses; only reads if the locks are held for reading.
fn critical_section(lock: u64, locks: u64, write: bool, body: Vec<EventKind>) -> Vec<EventKind> {
    let locks = (lock..lock + locks).map(|lock| LockId(lock % 2));
    let body = body.into_iter().filter(|kind| write || matches!(kind, EventKind::Read { .. }));
    let lock = |id| if write { EventKind::WrLock(id) } else { EventKind::RdLock(id) };
    let unlock = |id| if write { EventKind::WrUnlock(id) } else { EventKind::RdUnlock(id) };
    locks.clone().map(lock).chain(body).chain(locks.rev().map(unlock)).collect()
}

/// A trace in which locks exclude, as in a real run: what a lock would not have let happen is left
/// out.
pub fn lawful_trace(length: usize) -> impl Strategy<Value = Vec<Event>> {
    any_trace(length).prop_map(|mut events| {
        let mut holders: HashMap<LockId, Vec<(ThreadId, LockMode)>> = HashMap::new();
        events.retain(|event| lawful(event, &mut holders));
        events
    })
}

fn lawful(event: &Event, holders: &mut HashMap<LockId, Vec<(ThreadId, LockMode)>>) -> bool {
    let (lock, mode, locks) = match event.kind {
        EventKind::WrLock(lock) => (lock, LockMode::Write, true),
        EventKind::RdLock(lock) => (lock, LockMode::Read, true),
        EventKind::WrUnlock(lock) => (lock, LockMode::Write, false),
        EventKind::RdUnlock(lock) => (lock, LockMode::Read, false),
        _ => return true,
    };
    let holders = holders.entry(lock).or_default();
    if locks {
        let free = holders.iter().all(|(thread, held)| *thread == event.thread || !held.excludes(mode));
        if free {
            holders.push((event.thread, mode));
        }
        return free;
    }
    let at = holders.iter().position(|holder| *holder == (event.thread, mode));
    at.map(|at| holders.remove(at)).is_some()
}

fn kind() -> impl Strategy<Value = EventKind> {
    let lock = || (0u64..2).prop_map(LockId);
    let sync = || (0u64..2).prop_map(SyncId::Object);
    let atomic = || prop::bool::weighted(0.15);
    prop_oneof![
        8 => (range(), atomic()).prop_map(|(bytes, atomic)| EventKind::Read { bytes, atomic }),
        8 => (range(), atomic()).prop_map(|(bytes, atomic)| EventKind::Write { bytes, atomic }),
        5 => lock().prop_map(EventKind::WrLock),
        5 => lock().prop_map(EventKind::WrUnlock),
        2 => lock().prop_map(EventKind::RdLock),
        2 => lock().prop_map(EventKind::RdUnlock),
        3 => sync().prop_map(EventKind::Signal),
        3 => sync().prop_map(EventKind::Wait),
        8 => (0..BYTES, operation())
            .prop_map(|(byte, op)| EventKind::Atomic { bytes: ByteRange::new(byte, 1), op }),
        2 => order().prop_map(EventKind::Fence),
        1 => lock().prop_map(|lock| EventKind::Annotate(Annotation::PureHappensBeforeMutex(lock))),
        1 => range().prop_map(|bytes| EventKind::Annotate(Annotation::PublishMemoryRange(bytes))),
    ]
}

fn range() -> impl Strategy<Value = ByteRange> {
    (0..BYTES, 1u64..3).prop_map(|(start, size)| ByteRange::new(start, size))
}

fn order() -> impl Strategy<Value = MemoryOrder> {
    use MemoryOrder::*;
    prop::sample::select(vec![Relaxed, Consume, Acquire, Release, AcqRel, SeqCst])
}

fn operation() -> impl Strategy<Value = AtomicOp> {
    prop_oneof![
        order().prop_map(AtomicOp::Load),
        order().prop_map(AtomicOp::Store),
        order().prop_map(AtomicOp::Rmw),
        (order(), order(), any::<bool>()).prop_map(|(success, failure, succeeded)| {
            AtomicOp::CompareExchange { success, failure, succeeded }
        }),
    ]
}
