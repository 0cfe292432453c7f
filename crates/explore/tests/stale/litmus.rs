//! The classic litmus tests: what can come out is exactly what is said.

use std::collections::BTreeSet;

use raddle_explore::stale::AtomicOrder::{self, *};

use crate::machine::Do::{self, *};
use crate::machine::outcomes;

const X: usize = 0;
const Y: usize = 1;

/// Everything of so many bits, but for what is forbidden.
fn all_but(bits: u32, forbidden: &[&[u8]]) -> BTreeSet<Vec<u8>> {
    let all = (0..1 << bits).map(|n: u32| (0..bits).rev().map(|b| (n >> b & 1) as u8).collect());
    all.filter(|o: &Vec<u8>| !forbidden.contains(&o.as_slice())).collect()
}

#[track_caller]
fn assert_all_but(program: &[&[Do]], bits: u32, forbidden: &[&[u8]]) {
    assert_eq!(outcomes(program, 0), all_but(bits, forbidden));
}

fn store_buffering(
    store: AtomicOrder,
    load: AtomicOrder,
    fences: [Option<AtomicOrder>; 2],
) -> BTreeSet<Vec<u8>> {
    let side = |own, other, fence: Option<AtomicOrder>| -> Vec<Do> {
        [Some(Store(own, 1, store)), fence.map(Fence), Some(Load(other, load))]
            .into_iter()
            .flatten()
            .collect()
    };
    outcomes(&[&side(X, Y, fences[0]), &side(Y, X, fences[1])], 0)
}

#[test]
fn store_buffering_needs_seq_cst_on_both_sides() {
    let (all, ordered) = (all_but(2, &[]), all_but(2, &[&[0, 0]]));
    assert_eq!(store_buffering(Relaxed, Relaxed, [None, None]), all);
    assert_eq!(store_buffering(Release, Acquire, [None, None]), all);
    assert_eq!(store_buffering(SeqCst, Acquire, [None, None]), all);
    assert_eq!(store_buffering(Release, SeqCst, [None, None]), all);
    assert_eq!(store_buffering(SeqCst, SeqCst, [None, None]), ordered);
    assert_eq!(store_buffering(Relaxed, Relaxed, [Some(SeqCst), Some(SeqCst)]), ordered);
    assert_eq!(store_buffering(Relaxed, Relaxed, [Some(SeqCst), Some(AcqRel)]), all);
}

#[test]
fn store_buffering_with_a_fence_on_one_side_and_seq_cst_on_the_other() {
    let mixed = |store, load| {
        outcomes(
            &[&[Store(X, 1, Relaxed), Fence(SeqCst), Load(Y, Relaxed)], &[Store(Y, 1, store), Load(X, load)]],
            0,
        )
    };
    assert_eq!(mixed(SeqCst, SeqCst), all_but(2, &[&[0, 0]]));
    assert_eq!(mixed(SeqCst, Relaxed), all_but(2, &[]));
    assert_eq!(mixed(Relaxed, SeqCst), all_but(2, &[]));
}

#[test]
fn message_passing_needs_a_release_and_an_acquire() {
    let passing = |store, load| {
        outcomes(&[&[Store(X, 1, Relaxed), Store(Y, 1, store)], &[Load(Y, load), Load(X, Relaxed)]], 0)
    };
    for (store, load) in [(Relaxed, Relaxed), (Release, Relaxed), (Relaxed, Acquire), (Relaxed, SeqCst)] {
        assert_eq!(passing(store, load), all_but(2, &[]), "{store:?} {load:?}");
    }
    for (store, load) in [(Release, Acquire), (SeqCst, Acquire), (Release, SeqCst)] {
        assert_eq!(passing(store, load), all_but(2, &[&[1, 0]]), "{store:?} {load:?}");
    }
}

#[test]
fn message_passing_by_fences() {
    let passing = |release, acquire| {
        let writer = [Store(X, 1, Relaxed), Fence(release), Store(Y, 1, Relaxed)];
        outcomes(&[&writer, &[Load(Y, Relaxed), Fence(acquire), Load(X, Relaxed)]], 0)
    };
    for (release, acquire) in [(Release, Acquire), (AcqRel, AcqRel), (SeqCst, Acquire), (SeqCst, SeqCst)] {
        assert_eq!(passing(release, acquire), all_but(2, &[&[1, 0]]), "{release:?} {acquire:?}");
    }
    for (release, acquire) in [(Acquire, Acquire), (Release, Release)] {
        assert_eq!(passing(release, acquire), all_but(2, &[]), "{release:?} {acquire:?}");
    }
    // A fence behind the store, or before the load, is at the wrong place.
    let behind = [Store(X, 1, Relaxed), Store(Y, 1, Relaxed), Fence(Release)];
    assert_all_but(&[&behind, &[Load(Y, Relaxed), Fence(Acquire), Load(X, Relaxed)]], 2, &[]);
    let before = [Fence(Acquire), Load(Y, Relaxed), Load(X, Relaxed)];
    assert_all_but(&[&[Store(X, 1, Relaxed), Fence(Release), Store(Y, 1, Relaxed)], &before], 2, &[]);
}

#[test]
fn a_fence_meets_an_operation() {
    let fence = [Store(X, 1, Relaxed), Fence(Release), Store(Y, 1, Relaxed)];
    assert_all_but(&[&fence, &[Load(Y, Acquire), Load(X, Relaxed)]], 2, &[&[1, 0]]);
    let store = [Store(X, 1, Relaxed), Store(Y, 1, Release)];
    assert_all_but(&[&store, &[Load(Y, Relaxed), Fence(Acquire), Load(X, Relaxed)]], 2, &[&[1, 0]]);
}

/// C11 allows it; deviation 1.
#[test]
fn load_buffering_is_never_seen() {
    let side = |from, to| [Load(from, Relaxed), Store(to, 1, Relaxed)];
    assert_all_but(&[&side(X, Y), &side(Y, X)], 2, &[&[1, 1]]);
}

fn independent_reads(store: AtomicOrder, load: AtomicOrder, fence: Option<AtomicOrder>) -> BTreeSet<Vec<u8>> {
    let reader = |a, b| -> Vec<Do> {
        [Some(Load(a, load)), fence.map(Fence), Some(Load(b, load))].into_iter().flatten().collect()
    };
    outcomes(&[&[Store(X, 1, store)], &[Store(Y, 1, store)], &reader(X, Y), &reader(Y, X)], 0)
}

#[test]
fn independent_reads_of_independent_writes_agree_under_seq_cst_only() {
    let ordered = all_but(4, &[&[1, 0, 1, 0]]);
    assert_eq!(independent_reads(Release, Acquire, None), all_but(4, &[]));
    assert_eq!(independent_reads(SeqCst, SeqCst, None), ordered);
    assert_eq!(independent_reads(Relaxed, Relaxed, Some(SeqCst)), ordered);
    // C11 allowed this, C++20 does not.
    assert_eq!(independent_reads(Relaxed, SeqCst, None), ordered);
}

#[test]
fn reads_of_one_location_never_go_back() {
    let two = [Load(X, Relaxed), Load(X, Relaxed)];
    assert_all_but(&[&[Store(X, 1, Relaxed)], &two], 2, &[&[1, 0]]);
    // Two writers: the readers agree on an order.
    let found = outcomes(&[&[Store(X, 1, Relaxed)], &[Store(X, 2, Relaxed)], &two, &two], 0);
    assert!(found.contains(&vec![0, 1, 0, 2]) && found.contains(&vec![1, 2, 1, 2]));
    assert!(!found.contains(&vec![1, 2, 2, 1]) && !found.contains(&vec![2, 1, 1, 2]), "{found:?}");
    // Nor past an own write.
    let own = outcomes(&[&[Store(X, 1, Relaxed)], &[Store(X, 2, Relaxed), Load(X, Relaxed)]], 0);
    assert_eq!(own, BTreeSet::from([vec![1], vec![2]]));
}

#[test]
fn a_read_that_happened_before_binds_later_ones() {
    // What thread 1 has read of X, thread 2 cannot unread once it has acquired Y.
    let relay = |store| [Load(X, Relaxed), Store(Y, 1, store)];
    let last = |load| [Load(Y, load), Load(X, Relaxed)];
    let write: &[Do] = &[Store(X, 1, Relaxed)];
    assert_all_but(&[write, &relay(Release), &last(Acquire)], 3, &[&[1, 1, 0]]);
    assert_all_but(&[write, &relay(Relaxed), &last(Acquire)], 3, &[]);
    assert_all_but(&[write, &relay(Release), &last(Relaxed)], 3, &[]);
}

/// The outcome in which both first stores win needs another modification order; deviation 1.
#[test]
fn two_stores_on_each_side_come_out_in_the_order_of_the_execution() {
    let found = outcomes(
        &[&[Store(X, 1, Relaxed), Store(Y, 2, Relaxed)], &[Store(Y, 1, Relaxed), Store(X, 2, Relaxed)]],
        2,
    );
    assert_eq!(found, BTreeSet::from([vec![1, 2], vec![2, 1], vec![2, 2]]));
}

#[test]
fn a_read_modify_write_carries_a_release_on_and_a_store_does_not() {
    let write = [Store(X, 1, Relaxed), Store(Y, 1, Release)];
    let read = [Load(Y, Acquire), Load(X, Relaxed)];
    let stale = |relay: Do| {
        let found = outcomes(&[&write, &[relay], &read], 0);
        let registers = if matches!(relay, Add(..)) { 1 } else { 0 };
        // The reader sees the relayed value, and not the data, though the release came first.
        let after_release = |o: &Vec<u8>| registers == 0 || o[0] == 1;
        found.iter().any(|o| after_release(o) && o[registers] >= 2 && o[registers + 1] == 0)
    };
    assert!(!stale(Add(Y, 1, Relaxed)));
    assert!(stale(Store(Y, 2, Relaxed)));
    // The same thread's later store does not carry it either: C++20 took that out.
    let twice = [Store(X, 1, Relaxed), Store(Y, 1, Release), Store(X, 2, Relaxed), Store(Y, 2, Relaxed)];
    let found = outcomes(&[&twice, &read], 0);
    assert!(found.contains(&vec![2, 0]) && !found.contains(&vec![1, 0]), "{found:?}");
}

#[test]
fn read_modify_writes_read_the_newest() {
    let add = [Add(X, 1, Relaxed)];
    let found = outcomes(&[&add, &add, &add], 1);
    assert!(found.iter().all(|o| o[3] == 3 && BTreeSet::from_iter(&o[..3]).len() == 3), "{found:?}");
    assert_eq!(found.len(), 6);
}

#[test]
fn locks_order_what_they_guard() {
    let guarded = [Take(7), Load(X, Relaxed), Store(X, 1, Relaxed), Give(7)];
    // Both critical sections as a whole, one after the other: who comes second sees the first.
    let found = outcomes(&[&guarded, &guarded], 0);
    assert!(found.contains(&vec![0, 1]) && found.contains(&vec![1, 0]));
    let unguarded = [Load(X, Relaxed), Store(X, 1, Relaxed)];
    let mut sequential = crate::machine::Machine::new(2);
    for what in guarded {
        sequential.step(crate::machine::Made { thread: 0, what, back: 0 });
    }
    assert_eq!(sequential.candidates(1, unguarded[0]), 2);
    sequential.step(crate::machine::Made { thread: 1, what: Take(7), back: 0 });
    assert_eq!(sequential.candidates(1, unguarded[0]), 1);
}
