//! Random scripts: what threads try to do, one step after the other. After `tests/common/random.rs`
//! of `raddle-race`, for accesses of all sizes and for all that moves clocks in the runtime. Few
//! threads, granules, locks and objects, so that they meet. What cannot happen (a lock that is
//! taken, a barrier that is not full) is left out when it is played.

use proptest::collection::vec;
use proptest::prelude::*;
use raddle_race::AtomicOp::{self, Rmw};
use raddle_race::LockMode;
use raddle_race::MemoryOrder::{self, AcqRel};

/// Threads at the beginning; none of them has seen another.
pub const THREADS: usize = 4;
pub const LOCKS: u64 = 3;
pub const OBJECTS: u64 = 2;

/// Accesses meet in these granules: two of one cache line and two of the next, one of them at its
/// head.
const GRANULES: [u64; 4] = [0, 8, 64, 72];
/// Where messages are put, each in a granule of its own, and the atomic object that tells of them.
const SLOTS: u64 = 512;
const FLAG: u64 = 256;

#[derive(Clone, Debug)]
pub enum Step {
    Access {
        at: u64,
        size: u64,
        write: bool,
    },
    /// The same while the thread ignores what it reads or writes.
    Ignored {
        at: u64,
        size: u64,
        write: bool,
        reads: bool,
    },
    Atomic {
        at: u64,
        size: u64,
        op: AtomicOp,
    },
    Fence(MemoryOrder),
    Lock(u64, LockMode),
    Unlock(u64),
    /// Lets go of a lock that another thread holds. Not in random scripts: a machine that takes no
    /// part in it says that both hold the lock from now on.
    UnlockForAnother(u64),
    /// Lets go of the lock and takes it again.
    CondvarWait(u64),
    /// The lock orders from now on.
    OrderBy(u64),
    Signal(u64),
    Wait(u64),
    /// At the barrier for two. The thread passes before its next step.
    Arrive,
    Create,
    /// The thread with this number ends, if it is another and at liberty to.
    End {
        thread: usize,
        joined: bool,
    },
    Fresh {
        at: u64,
        size: u64,
    },
    Free {
        at: u64,
        size: u64,
    },
    Clear {
        at: u64,
        size: u64,
    },
    Flush,
    /// Releases until the thread has used up its sid.
    WearOut,
}

/// A thread's number, to be taken modulo the number of threads, and what it tries.
pub type Script = Vec<(usize, Step)>;

/// Of four kinds: single steps, most of which race; critical sections, some of which do; messages
/// through atomics, where each memory order decides a race; and scripts that keep to a rule, with a
/// lapse here and there.
pub fn any_script(length: usize) -> impl Strategy<Value = Script> {
    let chaos = vec((thread(), step().prop_map(|step| vec![step])), 0..length);
    let order = vec((thread(), block()), 0..length / 3);
    let ruled = prop_oneof![messages(Just(Rmw(AcqRel)), length / 3), disciplined(length / 3)];
    prop_oneof![chaos, order, messages(operation(), length / 3), ruled].prop_map(flatten)
}

/// The same with flushes and worn out sids, which are rare and dear.
pub fn long_lived_script(length: usize) -> impl Strategy<Value = Script> {
    let upheaval = (thread(), prop_oneof![2 => Just(Step::Flush), 1 => Just(Step::WearOut)]);
    (any_script(length), vec((any::<prop::sample::Index>(), upheaval), 1..4)).prop_map(
        |(mut script, upheavals)| {
            for (at, step) in upheavals {
                script.insert(at.index(script.len() + 1), step);
            }
            script
        },
    )
}

fn flatten(blocks: Vec<(usize, Vec<Step>)>) -> Script {
    blocks.into_iter().flat_map(|(thread, steps)| steps.into_iter().map(move |step| (thread, step))).collect()
}

fn thread() -> impl Strategy<Value = usize> {
    0..THREADS + 2
}

/// Every sender writes a slot of its own and then modifies the flag; every receiver reads the flag
/// and then the slot of an earlier sender. A fence may come between.
fn messages(
    op: impl Strategy<Value = AtomicOp>,
    length: usize,
) -> impl Strategy<Value = Vec<(usize, Vec<Step>)>> {
    let half = (thread(), any::<bool>(), op, prop::option::of(order()), any::<prop::sample::Index>());
    vec(half, 0..length).prop_map(|halves| {
        let mut slots = 0;
        let mut blocks = Vec::new();
        for (thread, sends, op, fence, which) in halves {
            let slot = if sends || slots == 0 { slots } else { which.index(slots) };
            let data = Step::Access { at: SLOTS + 8 * slot as u64, size: 8, write: sends };
            let op = Step::Atomic { at: FLAG, size: 4, op };
            let block = [Some(data), fence.map(Step::Fence), Some(op)].into_iter().flatten();
            slots += usize::from(sends);
            blocks.push((thread, if sends { block.collect() } else { block.rev().collect() }));
        }
        blocks
    })
}

/// Every granule has its lock, which is held for reading or writing as it should be, but for one
/// time in twenty.
fn disciplined(length: usize) -> impl Strategy<Value = Vec<(usize, Vec<Step>)>> {
    let section = (thread(), 0..GRANULES.len(), any::<bool>(), prop::bool::weighted(0.05));
    vec(section, 0..length).prop_map(|sections| {
        let block = |granule: usize, write, lapse| {
            let access = Step::Access { at: GRANULES[granule], size: 8, write };
            if lapse { vec![access] } else { critical_section(granule as u64, 1, write, vec![access]) }
        };
        sections
            .into_iter()
            .map(|(thread, granule, write, lapse)| (thread, block(granule, write, lapse)))
            .collect()
    })
}

/// What one thread does in one go.
fn block() -> impl Strategy<Value = Vec<Step>> {
    let section = (0..LOCKS, 1..3u64, any::<bool>(), vec(access(), 1..4));
    prop_oneof![
        12 => section.prop_map(|(lock, locks, write, body)| critical_section(lock, locks, write, body)),
        1 => access().prop_map(|access| vec![access]),
        2 => step().prop_map(|step| vec![step]),
        1 => (0..OBJECTS).prop_map(|object| vec![Step::Signal(object)]),
        1 => (0..OBJECTS).prop_map(|object| vec![Step::Wait(object)]),
        2 => (access(), access()).prop_map(|(before, after)| vec![before, Step::Arrive, after]),
    ]
}

/// One or two locks around some accesses; only reads if the locks are held for reading.
fn critical_section(lock: u64, locks: u64, write: bool, body: Vec<Step>) -> Vec<Step> {
    let locks = (lock..lock + locks).map(|lock| lock % LOCKS);
    let mode = if write { LockMode::Write } else { LockMode::Read };
    let body = body.into_iter().filter(|step| write || matches!(step, Step::Access { write: false, .. }));
    locks
        .clone()
        .map(|lock| Step::Lock(lock, mode))
        .chain(body)
        .chain(locks.rev().map(Step::Unlock))
        .collect()
}

fn step() -> impl Strategy<Value = Step> {
    let mode = || prop_oneof![3 => Just(LockMode::Write), 1 => Just(LockMode::Read)];
    prop_oneof![
        16 => access(),
        1 => (place(), any::<bool>(), any::<bool>())
            .prop_map(|((at, size), write, reads)| Step::Ignored { at, size, write, reads }),
        8 => (aligned(), operation()).prop_map(|((at, size), op)| Step::Atomic { at, size, op }),
        2 => order().prop_map(Step::Fence),
        6 => (0..LOCKS, mode()).prop_map(|(lock, mode)| Step::Lock(lock, mode)),
        6 => (0..LOCKS).prop_map(Step::Unlock),
        1 => (0..LOCKS).prop_map(Step::CondvarWait),
        1 => (0..LOCKS).prop_map(Step::OrderBy),
        3 => (0..OBJECTS).prop_map(Step::Signal),
        3 => (0..OBJECTS).prop_map(Step::Wait),
        3 => Just(Step::Arrive),
        2 => Just(Step::Create),
        2 => (thread(), any::<bool>()).prop_map(|(thread, joined)| Step::End { thread, joined }),
        1 => block_of_memory().prop_map(|(at, size)| Step::Fresh { at, size }),
        1 => block_of_memory().prop_map(|(at, size)| Step::Free { at, size }),
        1 => block_of_memory().prop_map(|(at, size)| Step::Clear { at, size }),
    ]
}

fn access() -> impl Strategy<Value = Step> {
    (place(), any::<bool>()).prop_map(|((at, size), write)| Step::Access { at, size, write })
}

/// Whole granules and aligned parts of them mostly; a few that are not aligned, or longer.
fn place() -> impl Strategy<Value = (u64, u64)> {
    let odd = (prop::sample::select(GRANULES.to_vec()), 0..8u64, 1..20u64)
        .prop_map(|(at, by, size)| (at + by, size));
    prop_oneof![5 => aligned(), 1 => odd]
}

fn aligned() -> impl Strategy<Value = (u64, u64)> {
    let size = prop::sample::select(vec![1u64, 2, 4, 8, 8]);
    (prop::sample::select(GRANULES.to_vec()), size, 0..8u64)
        .prop_map(|(at, size, by)| (at + (by & !(size - 1)), size))
}

/// As the allocator would hand it out.
fn block_of_memory() -> impl Strategy<Value = (u64, u64)> {
    let start = prop::sample::select(vec![0u64, 0, 16, 64, 64]);
    (start, prop::sample::select(vec![1u64, 8, 16, 24, 64, 128]))
}

fn order() -> impl Strategy<Value = MemoryOrder> {
    use MemoryOrder::*;
    prop::sample::select(vec![Relaxed, Consume, Acquire, Release, AcqRel, SeqCst])
}

fn operation() -> impl Strategy<Value = AtomicOp> {
    prop_oneof![
        order().prop_map(AtomicOp::Load),
        order().prop_map(AtomicOp::Store),
        order().prop_map(Rmw),
        (order(), order(), any::<bool>()).prop_map(|(success, failure, succeeded)| {
            AtomicOp::CompareExchange { success, failure, succeeded }
        }),
    ]
}
