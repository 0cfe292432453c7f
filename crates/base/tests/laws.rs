//! The laws of clocks, for random clocks: both kinds form a join-semilattice with `leq` as its
//! order, and the persistent clock is the dense one seen through another representation.

use proptest::collection::vec;
use proptest::prelude::*;
use raddle_base::clock::{Epoch, PersistentClock, ThreadId, VectorClock};

/// Sparse thread numbers, so that trees of different heights meet, and small counts, so that they
/// tie.
fn dense() -> impl Strategy<Value = VectorClock> {
    let thread = prop_oneof![0u32..4, 0u32..80, 500u32..530];
    vec((thread, 0u64..4), 0..12).prop_map(|pairs| {
        pairs.into_iter().map(|(thread, count)| Epoch { thread: ThreadId(thread), count }).collect()
    })
}

fn joined(a: &VectorClock, b: &VectorClock) -> VectorClock {
    let mut result = a.clone();
    result.join(b);
    result
}

fn joined_tree(a: &PersistentClock, b: &PersistentClock) -> PersistentClock {
    let mut result = a.clone();
    result.join(b);
    result
}

#[derive(Clone, Debug)]
enum Op {
    Set(usize, u32, u64),
    Tick(usize, u32),
    Copy(usize, usize),
    Join(usize, usize),
}

fn op() -> impl Strategy<Value = Op> {
    let thread = prop_oneof![0u32..10, 60u32..70];
    prop_oneof![
        (0usize..4, thread.clone(), 0u64..5).prop_map(|(c, t, n)| Op::Set(c, t, n)),
        (0usize..4, thread).prop_map(|(c, t)| Op::Tick(c, t)),
        (0usize..4, 0usize..4).prop_map(|(a, b)| Op::Copy(a, b)),
        (0usize..4, 0usize..4).prop_map(|(a, b)| Op::Join(a, b)),
    ]
}

proptest! {
    #[test]
    fn join_is_idempotent_commutative_associative(a in dense(), b in dense(), c in dense()) {
        prop_assert_eq!(joined(&a, &a), a.clone());
        prop_assert_eq!(joined(&a, &b), joined(&b, &a));
        prop_assert_eq!(joined(&joined(&a, &b), &c), joined(&a, &joined(&b, &c)));
        prop_assert_eq!(joined(&a, &VectorClock::new()), a);
    }

    #[test]
    fn leq_is_the_order_of_the_lattice(a in dense(), b in dense(), c in dense()) {
        let ab = joined(&a, &b);
        prop_assert!(a.leq(&ab) && b.leq(&ab));
        prop_assert_eq!(a.leq(&b), ab == b);
        prop_assert!(!(a.leq(&c) && b.leq(&c)) || ab.leq(&c), "join is the least upper bound");
        prop_assert!(!(a.leq(&b) && b.leq(&c)) || a.leq(&c), "transitive");
        prop_assert_eq!(a.leq(&b) && b.leq(&a), a == b);
        prop_assert_eq!(a.concurrent_with(&b), a.partial_cmp(&b).is_none());
    }

    #[test]
    fn join_says_whether_it_learned(a in dense(), b in dense()) {
        let mut result = a.clone();
        prop_assert_eq!(result.join(&b), !b.leq(&a));
    }

    #[test]
    fn a_clock_covers_exactly_the_moments_below_it(a in dense(), thread in 0u32..80, count in 1u64..5) {
        let moment = Epoch { thread: ThreadId(thread), count };
        let alone: VectorClock = [moment].into_iter().collect();
        prop_assert_eq!(a.covers(moment), alone.leq(&a));
        prop_assert_eq!(PersistentClock::from(&a).covers(moment), a.covers(moment));
    }

    #[test]
    fn the_tree_agrees_with_the_vector(a in dense(), b in dense()) {
        let (ta, tb) = (PersistentClock::from(&a), PersistentClock::from(&b));
        prop_assert_eq!(ta.to_dense(), a.clone());
        prop_assert_eq!(joined_tree(&ta, &tb).to_dense(), joined(&a, &b));
        prop_assert_eq!(ta.leq(&tb), a.leq(&b));
        prop_assert_eq!(ta.partial_cmp(&tb), a.partial_cmp(&b));
        prop_assert_eq!(ta == tb, a == b);
        prop_assert_eq!(ta.is_empty(), a.is_empty());
    }

    /// Copies are values: whatever is done to one is not seen through another.
    #[test]
    fn the_tree_agrees_with_the_vector_over_histories(ops in vec(op(), 0..60)) {
        let mut trees = vec![PersistentClock::new(); 4];
        let mut vectors = vec![VectorClock::new(); 4];
        for op in ops {
            match op {
                Op::Set(c, t, n) => {
                    trees[c].set(ThreadId(t), n);
                    vectors[c].set(ThreadId(t), n);
                }
                Op::Tick(c, t) => prop_assert_eq!(trees[c].tick(ThreadId(t)), vectors[c].tick(ThreadId(t))),
                Op::Copy(a, b) => {
                    trees[a] = trees[b].clone();
                    vectors[a] = vectors[b].clone();
                }
                Op::Join(a, b) => {
                    let (tree, vector) = (trees[b].clone(), vectors[b].clone());
                    trees[a].join(&tree);
                    vectors[a].join(&vector);
                }
            }
            for (tree, vector) in trees.iter().zip(&vectors) {
                prop_assert_eq!(&tree.to_dense(), vector);
            }
        }
    }

    #[test]
    fn joining_the_same_object_looks_at_one_node(a in dense()) {
        let tree = PersistentClock::from(&a);
        let mut copy = tree.clone();
        prop_assert!(copy.ptr_eq(&tree));
        prop_assert_eq!(copy.join_counting(&tree), 1);
        prop_assert!(copy.ptr_eq(&tree));
    }

    /// A join that teaches one side nothing returns that side itself, so sharing is never lost.
    #[test]
    fn a_join_equal_to_one_side_is_that_side(a in dense(), b in dense()) {
        let ta = PersistentClock::from(&a);
        let above = joined_tree(&ta, &PersistentClock::from(&b));
        prop_assert!(joined_tree(&above, &ta).ptr_eq(&above));
    }
}
