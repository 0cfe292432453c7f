//! The types that cross the process boundary, against plain ones.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use raddle_explore::fingerprint::Fingerprinter;
use raddle_explore::visited::VisitedStates;
use raddle_explore::{
    Choice, LogicalThread, MAX_THREADS, Op, OpKind, Step, StepFlags, ThreadSet, TraceBuf, TraceFull,
    dependent,
};

fn ids() -> impl Strategy<Value = BTreeSet<u16>> {
    // Mostly few threads, sometimes many.
    prop_oneof![
        proptest::collection::btree_set(0..8u16, 0..8),
        proptest::collection::btree_set(0..MAX_THREADS as u16, 0..40)
    ]
}

fn set(ids: &BTreeSet<u16>) -> ThreadSet {
    ids.iter().map(|t| LogicalThread(*t)).collect()
}

fn members(set: &ThreadSet) -> BTreeSet<u16> {
    set.iter().map(|t| t.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn thread_sets_are_sets(a in ids(), b in ids(), t in 0..MAX_THREADS as u16) {
        let (x, y) = (set(&a), set(&b));
        prop_assert_eq!(members(&x), a.clone());
        prop_assert_eq!(x.len() as usize, a.len());
        prop_assert_eq!(x.is_empty(), a.is_empty());
        prop_assert_eq!(x.contains(LogicalThread(t)), a.contains(&t));
        prop_assert_eq!(x.first().map(|t| t.0), a.first().copied());
        prop_assert_eq!(x.last().map(|t| t.0), a.last().copied());
        prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
        let after = a.range(t + 1..).next().or(a.first()).copied();
        prop_assert_eq!(x.next_after(LogicalThread(t)).map(|t| t.0), after);
        for (n, id) in a.iter().enumerate() {
            prop_assert_eq!(x.nth(n as u32), Some(LogicalThread(*id)));
        }
        prop_assert_eq!(x.nth(a.len() as u32), None);
        let mut z = x;
        z.union_with(&y);
        prop_assert_eq!(members(&z), a.union(&b).copied().collect::<BTreeSet<_>>());
        let mut z = x;
        z.intersect_with(&y);
        prop_assert_eq!(members(&z), a.intersection(&b).copied().collect::<BTreeSet<_>>());
        let mut z = x;
        z.subtract(&y);
        prop_assert_eq!(members(&z), a.difference(&b).copied().collect::<BTreeSet<_>>());
        z.assign(&y);
        prop_assert!(z == y && ThreadSet::from_words(y.words()) == y);
        z.remove(LogicalThread(t));
        prop_assert!(!z.contains(LogicalThread(t)));
        z.clear();
        prop_assert!(z.is_empty() && z == ThreadSet::new());
    }

    #[test]
    fn steps_keep_their_sets(eligible in ids(), reluctant in ids()) {
        let mut steps = [Step::default(); 2];
        let mut wide = [0; 64];
        let mut trace = TraceBuf::new(&mut steps, &mut wide);
        let op = Op::new(OpKind::Lock, 8, 1);
        let (e, r) = (set(&eligible), set(&reluctant));
        trace.push_thread(LogicalThread(3), op, StepFlags::default(), &e, &r).expect("there is room");
        prop_assert_eq!(trace.len(), 1);
        let found: BTreeSet<u16> = steps[0].eligible(&wide).map(|t| t.0).collect();
        prop_assert_eq!(&found, &eligible);
        for t in &eligible {
            prop_assert_eq!(steps[0].is_reluctant(LogicalThread(*t), &wide), reluctant.contains(t));
        }
    }

    #[test]
    fn visited_states_are_a_map(entries in proptest::collection::vec((0u64..2000, 0u32..40), 0..3000)) {
        let mut visited = VisitedStates::new(1 << 16);
        let mut oracle: HashMap<u64, u32> = HashMap::new();
        for (state, cost) in entries {
            // Costs from 30 on are one; states differ above the bits that hold the cost.
            let (state, known) = (raddle_base::rng::mix(state), cost.min(30));
            let covered = oracle.get(&state).is_some_and(|c| *c <= known);
            prop_assert_eq!(visited.covers(state, cost), covered);
            prop_assert_eq!(visited.enter(state, cost), !covered);
            let least = oracle.entry(state).or_insert(known);
            *least = known.min(*least);
            prop_assert_eq!(visited.len(), oracle.len());
        }
    }

    #[test]
    fn dependence_is_symmetric(a in op(), b in op()) {
        prop_assert_eq!(dependent(&a, &b), dependent(&b, &a));
    }

    /// Exchanging two neighbours of different threads changes the fingerprint exactly if they
    /// depend on each other.
    #[test]
    fn fingerprints_know_the_order_of_dependent_steps_only(
        steps in proptest::collection::vec((0u16..3, op()), 2..12), at in 0usize..10,
    ) {
        let steps: Vec<Step> = steps.into_iter().map(|(t, op)| Step::bare(LogicalThread(t), op)).collect();
        let at = at % (steps.len() - 1);
        let mut exchanged = steps.clone();
        exchanged.swap(at, at + 1);
        let (a, b) = (&steps[at], &steps[at + 1]);
        prop_assume!(a.thread != b.thread);
        // In fingerprints these depend on everything, even on local steps.
        let global = [a, b].iter().any(|s| matches!(s.op.kind(), OpKind::Free | OpKind::Fence | OpKind::Other));
        let same = print(&steps) == print(&exchanged);
        prop_assert_eq!(same, !dependent(&a.op, &b.op) && !global, "{:?} {:?}", a, b);
    }
}

fn print(steps: &[Step]) -> u64 {
    let mut prints = Fingerprinter::new();
    prints.begin();
    for step in steps {
        let expected = prints.peek(step);
        assert_eq!(prints.step(step), expected);
    }
    prints.state()
}

fn op() -> impl Strategy<Value = Op> {
    use OpKind::*;
    let kinds = [
        Start,
        Exit,
        Create,
        Join,
        Lock,
        Unlock,
        ReadLock,
        WriteLock,
        CondWait,
        CondWake,
        CondSignal,
        SemPost,
        AtomicLoad,
        AtomicStore,
        AtomicRmw,
        Fence,
        DataRead,
        DataWrite,
        Io,
        Signal,
        Free,
        Other,
        Choose,
        Yield,
    ];
    let kind = proptest::sample::select(kinds.to_vec());
    (kind, 1u64..4, 0u64..4).prop_map(|(kind, object, other)| {
        let other = match kind {
            CondWait | CondWake => 800 + other,
            Free => 8 * (object + other + 1),
            DataRead | DataWrite => 0,
            _ => 0,
        };
        let object = if matches!(kind, Start | Exit | Create | Join | Signal) { object } else { 8 * object };
        Op::new(kind, object, 1).with_other(other)
    })
}

#[test]
fn what_depends_on_what() {
    use OpKind::*;
    let on = |kind, object| Op::new(kind, object, 1);
    assert!(dependent(&on(Lock, 8), &on(Unlock, 8)));
    assert!(!dependent(&on(Lock, 8), &on(Lock, 16)));
    assert!(!dependent(&on(DataRead, 8), &on(AtomicLoad, 8)));
    assert!(dependent(&on(DataRead, 8), &on(AtomicRmw, 8)));
    assert!(!dependent(&on(ReadLock, 8), &on(ReadLock, 8)));
    assert!(dependent(&on(Create, 2), &on(Start, 2)) && dependent(&on(Exit, 2), &on(Join, 2)));
    assert!(!dependent(&on(Exit, 8), &on(Lock, 8)), "thread 8 is not the lock at 8");
    assert!(dependent(&on(CondWait, 8).with_other(16), &on(Lock, 16)), "the mutex is given up");
    assert!(dependent(&on(Fence, 0), &on(DataRead, 8)));
    assert!(dependent(&on(Free, 8).with_other(64), &on(DataRead, 48)), "inside the block");
    assert!(!dependent(&on(Free, 8).with_other(64), &on(DataRead, 64)), "just behind it");
    assert!(
        dependent(&on(Free, 8).with_other(64), &on(Lock, 16)),
        "a lock of Rust's has no destruction of its own"
    );
    assert!(!dependent(&on(Free, 8).with_other(64), &on(Lock, 64)), "just behind it");
    assert!(!dependent(&on(Yield, 0), &on(Lock, 8)));
    assert!(dependent(&on(DataWrite, 8).with_other(16), &on(DataRead, 16)), "it spans two granules");
}

#[test]
fn choices_tell_threads_from_values() {
    assert_eq!(Choice::thread(LogicalThread(1023)).as_thread(), Some(LogicalThread(1023)));
    assert_eq!(Choice::thread(LogicalThread(5)).as_value(), None);
    assert_eq!(Choice::value(5).as_value(), Some(5));
    assert_eq!(Choice::value(5).as_thread(), None);
    assert_eq!(Choice::from_bits(Choice::value(7).to_bits()), Choice::value(7));
}

#[test]
fn a_full_trace_says_so() {
    let mut steps = [Step::default(); 1];
    let mut trace = TraceBuf::new(&mut steps, &mut []);
    let op = Op::new(OpKind::Yield, 0, 1);
    let many: ThreadSet = [0, 100].map(LogicalThread).into_iter().collect();
    let none = ThreadSet::new();
    let wide = trace.push_thread(LogicalThread(0), op, StepFlags::default(), &many, &none);
    assert_eq!(wide, Err(TraceFull), "no room for the set");
    assert_eq!(trace.push_value(LogicalThread(0), op, StepFlags::default(), 3, 1), Ok(()));
    assert_eq!(trace.push_value(LogicalThread(0), op, StepFlags::default(), 3, 1), Err(TraceFull));
}

#[test]
fn an_exchange_that_found_another_value_has_not_written() {
    let mut steps = [Step::default(); 3];
    let mut trace = TraceBuf::new(&mut steps, &mut []);
    let (one, none) = ([LogicalThread(0)].into_iter().collect(), ThreadSet::new());
    for kind in [OpKind::AtomicRmw, OpKind::AtomicStore, OpKind::AtomicRmw] {
        trace
            .push_thread(LogicalThread(0), Op::new(kind, 64, 1), StepFlags::CAN_CONTINUE, &one, &none)
            .unwrap();
    }
    // The second is no update, and there is no fourth.
    [0, 1, 3].into_iter().for_each(|at| trace.mark_update(at, StepFlags::UNCHANGED));
    trace.mark_update(2, StepFlags::SAME_VALUE);
    assert_eq!(steps.map(|s| s.wrote()), [false, true, true]);
    assert_eq!(steps.map(|s| s.changed()), [false, true, false]);
    assert!(steps[0].flags.has(StepFlags::CAN_CONTINUE), "other flags stay");
}
