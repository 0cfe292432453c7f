//! The search for cycles against the definition, by brute force: every sequence of acquisitions is
//! tried, and creation and joining are a graph whose closure is computed.

use proptest::collection::vec;
use proptest::prelude::*;
use raddle_race::lock_order::LockOrder;
use raddle_race::{EventSource, LockId, LockMode, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Op {
    Create(u32),
    Join(u32),
    Acquire { lock: u64, mode: LockMode, tried: bool, context: u64 },
    Release(u64),
}

type Step = (u32, Op);

/// A run of five threads: thread 0 exists, others act between their creation and their joining.
fn run() -> impl Strategy<Value = Vec<Step>> {
    let mode = prop_oneof![1 => Just(LockMode::Read), 3 => Just(LockMode::Write)];
    let acquire = (0u64..4, mode, prop::bool::weighted(0.1), 0u64..2)
        .prop_map(|(lock, mode, tried, context)| Op::Acquire { lock, mode, tried, context });
    let nest = vec(acquire.clone(), 2..4).prop_map(|mut ops| {
        let release =
            |op: &Op| if let Op::Acquire { lock, .. } = op { Op::Release(*lock) } else { op.clone() };
        let releases: Vec<Op> = ops.iter().rev().map(release).collect();
        ops.extend(releases);
        ops
    });
    let block = prop_oneof![
        3 => (1u32..5).prop_map(|child| vec![Op::Create(child)]),
        1 => (1u32..5).prop_map(|child| vec![Op::Join(child)]),
        8 => nest,
        1 => acquire.prop_map(|op| vec![op]),
        1 => (0u64..4).prop_map(|lock| vec![Op::Release(lock)]),
    ];
    (0u32..5, vec((0u32..5, block), 0..24)).prop_map(|(workers, blocks)| {
        let first = (1..=workers).map(|child| (0, vec![Op::Create(child)]));
        let blocks = first.chain(blocks);
        let steps = blocks.into_iter().flat_map(|(thread, ops)| ops.into_iter().map(move |op| (thread, op)));
        let (mut alive, mut created) = (BTreeSet::from([0]), BTreeSet::from([0]));
        let lawful = |(thread, op): &Step| match op {
            _ if !alive.contains(thread) => false,
            Op::Create(child) => created.insert(*child) && alive.insert(*child),
            Op::Join(child) => child != thread && alive.remove(child),
            _ => true,
        };
        steps.filter(lawful).collect()
    })
}

#[derive(Clone, Debug)]
struct Wait {
    at: usize,
    thread: u32,
    held: Vec<(u64, LockMode)>,
    wanted: (u64, LockMode, u64),
}

/// Every acquisition that waits while locks are held, by replaying the run.
fn waits(steps: &[Step]) -> Vec<Wait> {
    let mut held: BTreeMap<u32, Vec<(u64, LockMode)>> = BTreeMap::new();
    let mut waits = Vec::new();
    for (at, (thread, op)) in steps.iter().enumerate() {
        let held = held.entry(*thread).or_default();
        match *op {
            Op::Acquire { lock, mode, tried, context } => {
                let modes: BTreeMap<u64, LockMode> = held.iter().copied().collect();
                if !modes.contains_key(&lock) && !tried && !held.is_empty() {
                    let held = modes.into_iter().collect();
                    waits.push(Wait { at, thread: *thread, held, wanted: (lock, mode, context) });
                }
                held.push((lock, mode));
                // A lock taken in both modes counts as held for writing until it is released
                // altogether.
                let again = || held.iter().filter(|(other, _)| *other == lock);
                if let Some(strongest) = again().map(|(_, mode)| *mode).max() {
                    held.iter_mut()
                        .filter(|(other, _)| *other == lock)
                        .for_each(|(_, mode)| *mode = strongest);
                }
            }
            Op::Release(lock) => {
                if let Some(at) = held.iter().rposition(|(other, _)| *other == lock) {
                    held.remove(at);
                }
            }
            Op::Create(_) | Op::Join(_) => {}
        }
    }
    waits
}

/// `before[y]` holds every step that precedes step y by program order, creation and joining.
fn closure(steps: &[Step]) -> Vec<BTreeSet<usize>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for (y, (thread, op)) in steps.iter().enumerate() {
        let mut mine = BTreeSet::new();
        for (x, (other, earlier)) in steps[..y].iter().enumerate() {
            let created = matches!(earlier, Op::Create(child) if child == thread);
            // A thread's life begins with its creation, also if nothing else is seen of it.
            let lived = |child: &u32| child == other || matches!(earlier, Op::Create(born) if born == child);
            let joined = matches!(op, Op::Join(child) if lived(child));
            if other == thread || created || joined {
                mine.insert(x);
                mine.extend(before[x].iter().copied());
            }
        }
        before.push(mine);
    }
    before
}

fn compatible(a: &Wait, b: &Wait, before: &[BTreeSet<usize>]) -> bool {
    let excludes = |x: &(u64, LockMode)| b.held.iter().any(|y| x.0 == y.0 && x.1.excludes(y.1));
    let ordered = before[a.at].contains(&b.at) || before[b.at].contains(&a.at);
    a.thread != b.thread && !ordered && !a.held.iter().any(excludes)
}

/// Locks and contexts of a cycle, beginning with the least lock.
type Key = Vec<(u64, u64)>;

fn brute_force(steps: &[Step]) -> BTreeSet<Key> {
    let (waits, before) = (waits(steps), closure(steps));
    let mut keys = BTreeSet::new();
    for wait in &waits {
        for &(lock, mode) in &wait.held {
            let key = vec![(lock, wait.wanted.2)];
            prolong(&waits, &before, vec![wait], key, mode, &mut keys);
        }
    }
    keys
}

/// Tries every wait as the next of the path. `mode`: how the first lock of the path is held.
fn prolong(
    waits: &[Wait],
    before: &[BTreeSet<usize>],
    path: Vec<&Wait>,
    key: Key,
    mode: LockMode,
    keys: &mut BTreeSet<Key>,
) {
    let (wanted, wanted_mode, _) = path[path.len() - 1].wanted;
    if wanted == key[0].0 {
        let least = key.iter().all(|(lock, _)| key[0].0 <= *lock);
        if least && wanted_mode.excludes(mode) {
            keys.insert(key);
        }
        return;
    }
    if key.iter().any(|(lock, _)| *lock == wanted) {
        return;
    }
    for next in waits {
        let held = next.held.iter().find(|(lock, mode)| *lock == wanted && wanted_mode.excludes(*mode));
        if held.is_some() && path.iter().all(|on| compatible(on, next, before)) {
            let path = path.iter().copied().chain([next]).collect();
            let key = key.iter().copied().chain([(wanted, next.wanted.2)]).collect();
            prolong(waits, before, path, key, mode, keys);
        }
    }
}

fn search(steps: &[Step]) -> BTreeSet<Key> {
    let mut order = LockOrder::new();
    for (thread, op) in steps {
        let thread = ThreadId(*thread);
        match *op {
            Op::Create(child) => order.thread_created(thread, ThreadId(child)),
            Op::Join(child) => order.thread_joined(thread, ThreadId(child)),
            Op::Acquire { lock, mode, tried, context } => {
                order.acquire(thread, LockId(lock), mode, tried, EventSource(context));
            }
            Op::Release(lock) => order.release(thread, LockId(lock)),
        }
    }
    let found = order.cycles();
    assert!(!found.truncated);
    let keys: Vec<Key> = found
        .cycles
        .iter()
        .map(|cycle| cycle.edges.iter().map(|e| (e.held.lock.0, e.edge.acquired.context.0)).collect())
        .collect();
    let distinct: BTreeSet<Key> = keys.iter().cloned().collect();
    assert_eq!(distinct.len(), keys.len(), "each cycle is reported once");
    distinct
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_search_finds_exactly_the_cycles_of_the_definition(steps in run()) {
        prop_assert_eq!(search(&steps), brute_force(&steps));
    }
}

#[test]
fn random_runs_are_not_trivial() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut two, mut longer, mut ruled_out) = (0, 0, 0);
    for _ in 0..2000 {
        let steps = run().new_tree(&mut runner).expect("a run").current();
        let cycles = brute_force(&steps);
        two += cycles.iter().filter(|key| key.len() == 2).count();
        longer += cycles.iter().filter(|key| key.len() > 2).count();
        let waits = waits(&steps);
        ruled_out += usize::from(cycles.is_empty() && waits.len() > 4);
    }
    assert!(two >= 50 && longer >= 10 && ruled_out >= 50, "{two} {longer} {ruled_out}");
}
