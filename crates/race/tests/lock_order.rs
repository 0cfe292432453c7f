//! Lock-order cycles: what is one, what rules it out, and where the search ends.

use raddle_race::lock_order::{Acquisition, Cycles, Edge, LockOrder, Moment, SearchLimits, UnknownSegment};
use raddle_race::{EventSource, LockId, LockMode, ThreadId};
use std::time::{Duration, Instant};

const A: u64 = 1;
const B: u64 = 2;
const C: u64 = 3;
const GATE: u64 = 9;

/// A run in the words of the tests: the context of an acquisition is its thread and lock.
#[derive(Default)]
struct Run {
    order: LockOrder,
}

fn context(thread: u32, lock: u64) -> EventSource {
    EventSource(u64::from(thread) * 100 + lock)
}

impl Run {
    fn take(&mut self, thread: u32, lock: u64, mode: LockMode, tried: bool) -> &mut Self {
        self.order.acquire(ThreadId(thread), LockId(lock), mode, tried, context(thread, lock));
        self
    }

    fn lock(&mut self, thread: u32, lock: u64) -> &mut Self {
        self.take(thread, lock, LockMode::Write, false)
    }

    fn unlock(&mut self, thread: u32, lock: u64) -> &mut Self {
        self.order.release(ThreadId(thread), LockId(lock));
        self
    }

    /// Takes all, in this order, and releases all.
    fn nest(&mut self, thread: u32, locks: &[(u64, LockMode)]) -> &mut Self {
        for &(lock, mode) in locks {
            self.take(thread, lock, mode, false);
        }
        for &(lock, _) in locks.iter().rev() {
            self.unlock(thread, lock);
        }
        self
    }

    fn write_nest(&mut self, thread: u32, locks: &[u64]) -> &mut Self {
        let locks: Vec<_> = locks.iter().map(|lock| (*lock, LockMode::Write)).collect();
        self.nest(thread, &locks)
    }

    fn start(&mut self, parent: u32, child: u32) -> &mut Self {
        self.order.thread_created(ThreadId(parent), ThreadId(child));
        self
    }

    fn join(&mut self, joiner: u32, child: u32) -> &mut Self {
        self.order.thread_joined(ThreadId(joiner), ThreadId(child));
        self
    }

    fn cycles(&self) -> Vec<Vec<u64>> {
        let Cycles { cycles, truncated } = self.order.cycles();
        assert!(!truncated);
        cycles.iter().map(|cycle| cycle.locks().into_iter().map(|lock| lock.0).collect()).collect()
    }
}

#[test]
fn opposite_orders_are_a_cycle_with_both_ends() {
    let mut run = Run::default();
    run.write_nest(1, &[A, B]).write_nest(2, &[B, A]);
    assert_eq!(run.cycles(), [[A, B]]);
    let cycle = &run.order.cycles().cycles[0];
    let ends: Vec<_> =
        cycle.edges.iter().map(|step| (step.edge.thread.0, step.held, step.edge.acquired)).collect();
    let taken = |thread, lock| Acquisition {
        lock: LockId(lock),
        mode: LockMode::Write,
        context: context(thread, lock),
    };
    assert_eq!(ends, [(1, taken(1, A), taken(1, B)), (2, taken(2, B), taken(2, A))]);
}

#[test]
fn one_order_is_no_cycle() {
    let mut run = Run::default();
    run.write_nest(1, &[A, B, C]).write_nest(2, &[A, B]).write_nest(3, &[B, C]).write_nest(4, &[A, C]);
    assert_eq!(run.cycles(), Vec::<Vec<u64>>::new());
    assert_eq!(run.order.edges().len(), 5, "thread 1 made two, the others one each");
}

#[test]
fn three_threads_and_three_locks() {
    let mut run = Run::default();
    run.write_nest(1, &[A, B]).write_nest(2, &[B, C]).write_nest(3, &[C, A]);
    assert_eq!(run.cycles(), [[A, B, C]]);
}

#[test]
fn philosophers() {
    let mut run = Run::default();
    let seats = 7;
    for seat in 0..seats {
        let (left, right) = (u64::from(seat), u64::from((seat + 1) % seats));
        run.write_nest(seat, &[left, right]);
    }
    assert_eq!(run.cycles(), [(0..u64::from(seats)).collect::<Vec<_>>()]);
}

#[test]
fn one_thread_cannot_deadlock_with_itself() {
    let mut run = Run::default();
    run.write_nest(1, &[A, B]).write_nest(1, &[B, A]);
    assert!(run.cycles().is_empty());
    let mut two_of_three = Run::default();
    two_of_three.write_nest(1, &[A, B]).write_nest(2, &[B, C]).write_nest(1, &[C, A]);
    assert!(two_of_three.cycles().is_empty());
}

#[test]
fn a_gate_lock_rules_a_cycle_out() {
    let mut run = Run::default();
    run.write_nest(1, &[GATE, A, B]).write_nest(2, &[GATE, B, A]);
    assert!(run.cycles().is_empty());
    run.write_nest(3, &[B, A]);
    assert_eq!(run.cycles(), [[A, B]], "thread 3 does not pass the gate");
}

#[test]
fn a_gate_between_two_of_three_is_enough() {
    let mut run = Run::default();
    run.write_nest(1, &[GATE, A, B]).write_nest(2, &[B, C]).write_nest(3, &[GATE, C, A]);
    assert!(run.cycles().is_empty());
}

#[test]
fn a_gate_held_for_reading_by_both_is_open() {
    use LockMode::{Read, Write};
    for (first, second, shut) in [(Read, Read, false), (Read, Write, true), (Write, Read, true)] {
        let mut run = Run::default();
        run.nest(1, &[(GATE, first), (A, Write), (B, Write)]);
        run.nest(2, &[(GATE, second), (B, Write), (A, Write)]);
        assert_eq!(run.cycles().is_empty(), shut, "{first:?}, {second:?}");
    }
}

#[test]
fn a_gate_released_before_the_second_lock_is_none() {
    let mut run = Run::default();
    for (thread, [first, second]) in [(1, [A, B]), (2, [B, A])] {
        run.lock(thread, GATE).lock(thread, first).unlock(thread, GATE).lock(thread, second);
        run.unlock(thread, second).unlock(thread, first);
    }
    assert_eq!(run.cycles(), [[A, B]]);
}

#[test]
fn threads_that_never_run_together_do_not_deadlock() {
    let mut run = Run::default();
    run.start(0, 1).write_nest(1, &[A, B]).join(0, 1).start(0, 2).write_nest(2, &[B, A]).join(0, 2);
    assert!(run.cycles().is_empty(), "1 was joined before 2 was created");
    let mut before_creation = Run::default();
    before_creation.write_nest(0, &[A, B]).start(0, 1).write_nest(1, &[B, A]);
    assert!(before_creation.cycles().is_empty());
    let mut after_join = Run::default();
    after_join.start(0, 1).write_nest(1, &[B, A]).join(0, 1).write_nest(0, &[A, B]);
    assert!(after_join.cycles().is_empty());
    let mut beside = Run::default();
    beside.start(0, 1).write_nest(0, &[A, B]).write_nest(1, &[B, A]).join(0, 1);
    assert_eq!(beside.cycles(), [[A, B]]);
}

#[test]
fn creation_and_joining_are_transitive() {
    let mut run = Run::default();
    run.start(0, 1)
        .start(1, 2)
        .write_nest(2, &[A, B])
        .join(1, 2)
        .join(0, 1)
        .start(0, 3)
        .write_nest(3, &[B, A]);
    assert!(run.cycles().is_empty());
    let mut not_joined = Run::default();
    not_joined.start(0, 1).start(1, 2).write_nest(2, &[A, B]).join(0, 1).start(0, 3).write_nest(3, &[B, A]);
    assert_eq!(not_joined.cycles(), [[A, B]], "the grandchild may still run");
}

#[test]
fn a_try_lock_waits_for_nobody_and_is_waited_for() {
    let mut tried = Run::default();
    tried.write_nest(1, &[A, B]).lock(2, B).take(2, A, LockMode::Write, true);
    assert!(tried.cycles().is_empty());
    let mut held = Run::default();
    held.write_nest(1, &[A, B]).take(2, B, LockMode::Write, true).lock(2, A);
    assert_eq!(held.cycles(), [[A, B]]);
}

#[test]
fn readers_do_not_wait_for_readers() {
    use LockMode::{Read, Write};
    // Thread 1 holds A and wants B; thread 2 holds B and wants A: four modes, and each wait must be
    // real.
    for (a_held, b_wanted, b_held, a_wanted) in
        [(Read, Write, Write, Write), (Write, Read, Write, Read), (Read, Write, Read, Write)]
    {
        let mut run = Run::default();
        run.nest(1, &[(A, a_held), (B, b_wanted)]).nest(2, &[(B, b_held), (A, a_wanted)]);
        assert_eq!(run.cycles(), [[A, B]]);
    }
    for (a_held, b_wanted, b_held, a_wanted) in
        [(Read, Read, Read, Read), (Read, Write, Write, Read), (Write, Read, Read, Write)]
    {
        let mut run = Run::default();
        run.nest(1, &[(A, a_held), (B, b_wanted)]).nest(2, &[(B, b_held), (A, a_wanted)]);
        assert!(run.cycles().is_empty());
    }
}

#[test]
fn a_lock_taken_again_makes_no_edge_and_stays_held() {
    let mut run = Run::default();
    run.lock(1, A).lock(1, B).lock(1, A).unlock(1, A).lock(1, C);
    let last = run.order.edges().last().expect("an edge into C");
    assert_eq!(last.held.iter().map(|held| held.lock.0).collect::<Vec<_>>(), [A, B]);
    assert_eq!(run.order.edges().len(), 2, "A to B, and A and B to C");
    run.write_nest(2, &[B, A]);
    assert_eq!(run.cycles(), [[A, B]]);
}

#[test]
fn locks_may_be_released_in_any_order_and_by_mistake() {
    let mut run = Run::default();
    run.lock(1, A).lock(1, B).unlock(1, A).unlock(1, A).lock(1, C).unlock(1, B).unlock(1, C);
    let held: Vec<_> = run.order.edges()[1].held.iter().map(|held| held.lock.0).collect();
    assert_eq!(held, [B]);
}

#[test]
fn the_same_locks_in_the_same_contexts_are_one_cycle() {
    let mut run = Run::default();
    let place = |thread: u32, lock: u64| EventSource(u64::from(thread % 2) * 100 + lock);
    for thread in 0..20 {
        let locks = if thread % 2 == 0 { [A, B] } else { [B, A] };
        for _ in 0..3 {
            for lock in locks {
                let (id, lock) = (ThreadId(thread), LockId(lock));
                run.order.acquire(id, lock, LockMode::Write, false, place(thread, lock.0));
            }
            run.unlock(thread, A).unlock(thread, B);
        }
    }
    assert_eq!(run.cycles(), [[A, B]]);
    assert_eq!(run.order.edges().len(), 20, "the same edge again is not recorded");
    run.order.acquire(ThreadId(50), LockId(A), LockMode::Write, false, EventSource(1));
    run.order.acquire(ThreadId(50), LockId(B), LockMode::Write, false, EventSource(777));
    assert_eq!(run.cycles(), [[A, B], [A, B]], "B is taken in another place");
}

fn edge(thread: u32, held: &[u64], acquired: u64, segment: u32) -> Edge {
    let taken =
        |lock: u64| Acquisition { lock: LockId(lock), mode: LockMode::Write, context: context(thread, lock) };
    Edge {
        thread: ThreadId(thread),
        held: held.iter().copied().map(taken).collect(),
        acquired: taken(acquired),
        segment,
        moment: Moment::default(),
    }
}

#[test]
fn edges_from_a_log_name_their_segments() {
    let (main, one, two) = (ThreadId(0), ThreadId(1), ThreadId(2));
    let mut order = LockOrder::new();
    order.thread_created(main, one);
    order.thread_joined(main, one);
    order.thread_created(main, two);
    assert_eq!((order.segment(main), order.segment(one)), (3, 0));
    let unknown = order.edge(edge(1, &[A], B, 1)).expect_err("thread 1 created and joined nobody");
    assert_eq!(unknown, UnknownSegment { thread: one, segment: 1 });
    assert_eq!(unknown.to_string(), "T1 has no segment 1: it has not created and joined that many threads");
    order.edge(edge(1, &[A], B, 0)).expect("known");
    order.edge(edge(2, &[B], A, 0)).expect("known");
    order.edge(edge(0, &[B], A, 0)).expect("known");
    order.edge(edge(0, &[B], A, 2)).expect("known");
    assert_eq!(order.cycles(), Cycles::default(), "each is ordered with thread 1");
    order.edge(edge(0, &[B], A, 1)).expect("known");
    assert_eq!(order.cycles().cycles.len(), 1, "while thread 1 ran, main took them the other way round");
}

/// A deterministic stream of numbers (an LCG): enough to scatter edges.
fn scatter(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) % below
}

#[track_caller]
fn assert_quick(order: &LockOrder) -> Cycles {
    let start = Instant::now();
    let cycles = order.cycles();
    let took = start.elapsed();
    // A second is the promise of an optimised build. Without optimisation, on a busy machine, only
    // a search that does not end is to be caught.
    let allowed = if cfg!(debug_assertions) { 200 } else { 1 };
    assert!(took < Duration::from_secs(allowed), "{took:?}");
    cycles
}

#[test]
fn ten_thousand_random_edges_end_in_time() {
    for locks in [20, 300, 3_000] {
        let mut order = LockOrder::new();
        let mut seed = locks;
        while order.edges().len() < 10_000 {
            let thread = scatter(&mut seed, 40) as u32;
            let [held, gate, wanted] = [0; 3].map(|_: u64| scatter(&mut seed, locks));
            order
                .edge(Edge {
                    acquired: Acquisition {
                        context: EventSource(seed),
                        ..edge(thread, &[], wanted, 0).acquired
                    },
                    ..edge(thread, &[held, gate], wanted, 0)
                })
                .expect("first segments are always known");
        }
        let found = assert_quick(&order);
        assert!(!found.cycles.is_empty() && found.truncated, "{locks} locks");
        assert!(
            found.cycles.windows(2).all(|pair| pair[0].edges.len() <= pair[1].edges.len()),
            "shortest first"
        );
    }
}

#[test]
fn ten_thousand_edges_in_order_need_no_search() {
    let mut order = LockOrder::with_limits(SearchLimits { steps: 1, cycles: 1 });
    let mut seed = 1;
    while order.edges().len() < 10_000 {
        let thread = scatter(&mut seed, 40) as u32;
        let held = scatter(&mut seed, 2_000);
        let wanted = held + 1 + scatter(&mut seed, 50);
        order.edge(edge(thread, &[held], wanted, 0)).expect("first segments are always known");
    }
    assert_eq!(assert_quick(&order), Cycles::default(), "nothing found, and nothing left to look at");
}

#[test]
fn five_thousand_threads_one_after_the_other_are_quick_and_silent() {
    let mut run = Run::default();
    for thread in 1..=5_000 {
        let locks = if thread % 2 == 0 { [A, B] } else { [B, A] };
        run.start(0, thread).write_nest(thread, &locks).join(0, thread);
    }
    // Six million pairs are ordered by joins, and more than the limit allows to look at.
    assert_eq!(assert_quick(&run.order), Cycles { cycles: Vec::new(), truncated: true });
}

#[test]
fn the_limits_are_said_when_they_are_hit() {
    let pairs = |limits| {
        let mut order = LockOrder::with_limits(limits);
        for pair in 0..10 {
            order.edge(edge(1, &[2 * pair], 2 * pair + 1, 0)).expect("known");
            order.edge(edge(2, &[2 * pair + 1], 2 * pair, 0)).expect("known");
        }
        let found = order.cycles();
        (found.cycles.len(), found.truncated)
    };
    let steps = SearchLimits::default().steps;
    assert_eq!(pairs(SearchLimits { steps, cycles: 10 }), (10, false));
    assert_eq!(pairs(SearchLimits { steps, cycles: 9 }), (9, true));
    let (found, truncated) = pairs(SearchLimits { steps: 20, cycles: 10 });
    assert!(found < 10 && truncated);
}

/// An edge of a task, with its number, and the numbers of the edges that come before it.
fn of_task(thread: u32, task: u32, (number, before): (u32, &[u32]), held: &[u64], acquired: u64) -> Edge {
    let mut bits = [0; 4];
    for n in before {
        bits[*n as usize / 64] |= 1 << (n % 64);
    }
    let moment = Moment { number: Some(number), context: task, before: bits };
    Edge { moment, ..edge(thread, held, acquired, 0) }
}

fn cycles_of(edges: &[Edge]) -> usize {
    let mut order = LockOrder::new();
    edges.iter().for_each(|edge| order.edge(edge.clone()).expect("first segments are always known"));
    order.cycles().cycles.len()
}

#[test]
fn tasks_of_one_thread_are_threads_of_their_own() {
    let forth = of_task(1, 5, (70, &[]), &[1], 2);
    let back = |task, before: &[u32]| of_task(1, task, (71, before), &[2], 1);
    assert_eq!(cycles_of(&[forth.clone(), back(6, &[])]), 1);
    assert_eq!(cycles_of(&[forth.clone(), back(6, &[70])]), 0, "it comes after the other");
    assert_eq!(cycles_of(&[forth.clone(), back(5, &[70])]), 0, "the same task");
    assert_eq!(cycles_of(&[forth.clone(), back(0, &[3])]), 1, "the thread, which goes on meanwhile");
    let gated = |task, number, [held, wanted]: [u64; 2]| of_task(1, task, (number, &[]), &[9, held], wanted);
    assert_eq!(cycles_of(&[gated(5, 1, [1, 2]), gated(6, 2, [2, 1])]), 0);
}

#[test]
fn what_openmp_orders_is_ordered_on_two_threads_too() {
    let forth = of_task(1, 5, (7, &[]), &[1], 2);
    let back = |before: &[u32]| of_task(2, 6, (8, before), &[2], 1);
    assert_eq!(cycles_of(&[forth.clone(), back(&[])]), 1);
    assert_eq!(cycles_of(&[forth.clone(), back(&[7])]), 0);
    // The code of the region itself is judged by threads, as any code is.
    let of_region = |edge: Edge| Edge { moment: Moment { context: 0, ..edge.moment }, ..edge };
    assert_eq!(cycles_of(&[of_region(forth.clone()), of_region(back(&[7]))]), 1);
    // A task's edge for which there was no number left may come after the other.
    let unknown = |edge: Edge| Edge { moment: Moment { number: None, ..edge.moment }, ..edge };
    assert_eq!(cycles_of(&[forth.clone(), unknown(back(&[]))]), 0);
    assert_eq!(cycles_of(&[unknown(forth.clone()), of_region(back(&[]))]), 0);
    // What is no part of OpenMP is judged by threads.
    let plain = |edge: Edge| Edge { moment: Moment::default(), ..edge };
    assert_eq!(cycles_of(&[forth.clone(), plain(back(&[]))]), 1);
    let same_thread = Edge { thread: ThreadId(1), ..back(&[]) };
    assert_eq!(cycles_of(&[forth, plain(same_thread)]), 0);
}
