//! What is read off traces besides the search: places that need no point, and store buffers that
//! could matter.

mod sim;

use raddle_explore::points::Points;
use raddle_explore::relaxed::{Overtaking, overtakings};
use raddle_explore::{LogicalThread, Op, OpKind, Order, Outcome, Step, Tail, Trace};
use sim::{Machine, Program, programs};

fn points(program: &Program) -> Points {
    let mut points = Points::new();
    let mut machine = Machine::new();
    for seed in 0..50 {
        let (trace, _) = machine.run(program, &Order::free(0, Tail::Random { seed }));
        points.observe(trace.view());
    }
    points
}

#[test]
fn accesses_under_a_lock_need_no_point() {
    let locked = points(&programs::locked_counter(3, 2));
    assert!(locked.needed().is_empty());
    // Four accesses in the code, and the last look of the main thread, which joins order.
    assert_eq!(locked.not_needed().len(), 5);
}

#[test]
fn accesses_that_nothing_orders_need_one() {
    let racy = points(&programs::lost_update());
    assert_eq!(racy.needed(), [1001, 1002]);
    assert_eq!(racy.not_needed().len(), 1, "the main thread's, after the joins");
    // The wrong lock orders nothing.
    assert!(points(&programs::wronglock(2)).needed().len() >= 5);
}

const X: u64 = 8;
const Y: u64 = 16;
const Z: u64 = 24;

/// An execution, as threads and what they do.
fn trace(steps: &[(u16, OpKind, u64)]) -> Trace {
    let step =
        |&(t, kind, object): &(u16, OpKind, u64)| Step::bare(LogicalThread(t), Op::new(kind, object, 1));
    Trace {
        steps: steps.iter().map(step).collect(),
        wide: vec![],
        outcome: Outcome::Passed,
        divergence: None,
    }
}

use OpKind::{AtomicLoad as Load, AtomicRmw as Rmw, AtomicStore as Store, Fence, Lock, Unlock};

#[test]
fn store_buffering() {
    // Whichever comes first, the second thread's load could have overtaken its store.
    let sb = trace(&[(1, Store, X), (1, Load, Y), (2, Store, Y), (2, Load, X)]);
    assert_eq!(overtakings(sb.view()), [Overtaking { store: Some(2), load: 3, missed: 0 }]);
    let other = trace(&[(1, Store, X), (2, Store, Y), (2, Load, X), (1, Load, Y)]);
    assert!(overtakings(other.view()).is_empty(), "what either load reads another interleaving explains too");
}

#[test]
fn fences_and_locks_and_read_modify_writes_prevent_it() {
    for (kind, object) in [(Fence, 0), (Rmw, Z), (Lock, Z), (Unlock, Z)] {
        let one = |t| (t, kind, object);
        let both = [(1, Store, X), one(1), (1, Load, Y), (2, Store, Y), one(2), (2, Load, X)];
        assert!(overtakings(trace(&both).view()).is_empty(), "{kind:?}");
        // In thread 2 alone it does not help: thread 1's load still overtakes its store, and thread
        // 2 would see it.
        let found = overtakings(trace(&[both[0], both[2], both[3], both[4], both[5]]).view());
        assert_eq!(found, [Overtaking { store: None, load: 4, missed: 0 }], "{kind:?}");
    }
    let rmw = trace(&[(1, Rmw, X), (1, Load, Y), (2, Rmw, Y), (2, Load, X)]);
    assert!(overtakings(rmw.view()).is_empty());
}

#[test]
fn message_passing_is_safe() {
    let mp = trace(&[(1, Store, X), (1, Store, Y), (2, Load, Y), (2, Load, X)]);
    assert!(overtakings(mp.view()).is_empty());
    // Even after an unrelated store: the first load orders the second.
    let mp = trace(&[(1, Store, X), (1, Store, Y), (2, Store, Z), (2, Load, Y), (2, Load, X)]);
    assert!(overtakings(mp.view()).is_empty());
}

#[test]
fn a_load_of_an_own_store_misses_nothing() {
    let own = trace(&[(1, Store, X), (1, Load, Y), (2, Store, Y), (2, Store, X), (2, Load, X)]);
    assert!(overtakings(own.view()).is_empty());
}

#[test]
fn a_third_thread_can_carry_the_order() {
    // Thread 1 writes x and then reads y too early for thread 2's write, which thread 3 learns of
    // by z. Nothing but program order in thread 1 puts its write before thread 3's load; the store
    // in thread 3 has no part in it.
    let chain = trace(&[
        (1, Store, X),
        (1, Load, Y),
        (2, Store, Y),
        (2, Store, Z),
        (3, Store, 32),
        (3, Load, Z),
        (3, Load, X),
    ]);
    assert_eq!(overtakings(chain.view()), [Overtaking { store: None, load: 6, missed: 0 }]);
}
