//! The pilot: replay, divergence, fairness, and what each tail is known to do.

mod sim;

use std::collections::BTreeMap;

use raddle_explore::strategy::{DepthFirst, PreemptionBounding};
use raddle_explore::{
    Choice, Course, Limits, LogicalThread, Next, Op, OpKind, Order, Outcome, Pilot, Strategy, Tail,
    ThreadSet, View, Weight,
};
use sim::{Machine, Program, programs};

const LOWEST: Tail = Tail::NonPreemptive { next: Next::Lowest };

fn tails() -> Vec<Tail> {
    let mut tails =
        vec![LOWEST, Tail::NonPreemptive { next: Next::Highest }, Tail::NonPreemptive { next: Next::Round }];
    for seed in 0..10 {
        tails.extend([
            Tail::Random { seed },
            Tail::Pct { seed, depth: 3, length: 30 },
            Tail::Pos { seed },
            Tail::Surw { seed, object: 0 },
            Tail::Constrained { seed },
        ]);
    }
    tails
}

#[test]
fn replay_gives_the_same_execution() {
    let mut machine = Machine::new();
    let mut all = programs::buggy();
    all.extend([programs::spin(2), programs::locked_counter(3, 3)]);
    for program in all {
        for tail in tails() {
            let (trace, result) = machine.run(&program, &Order::free(0, tail));
            let (again, same_result) = machine.run(&program, &Order::replay(trace.view().choices()));
            assert_eq!(again.divergence, None, "{} after {tail:?}", program.name);
            assert_eq!(trace.view().first_difference(&again.view()), None, "{} after {tail:?}", program.name);
            assert_eq!(result, same_result);
            let (third, _) = machine.run(&program, &Order::free(0, tail));
            assert_eq!(trace, third, "the same seed gives the same execution");
        }
    }
}

#[test]
fn divergence_is_reported_at_its_step_and_the_run_ends() {
    let program = programs::lost_update();
    let mut machine = Machine::new();
    let (good, _) = machine.run(&program, &Order::free(0, LOWEST));
    let mut choices: Vec<Choice> = good.view().choices().collect();
    choices[4] = Choice::thread(LogicalThread(77));
    let (trace, _) = machine.run(&program, &Order::replay(choices.clone()));
    assert_eq!((trace.divergence, trace.outcome), (Some(4), Outcome::Passed));
    choices[3] = Choice::value(0);
    let (trace, _) = machine.run(&program, &Order::replay(choices));
    assert_eq!((trace.divergence, trace.outcome), (Some(3), Outcome::Passed));
}

#[test]
fn spin_loops_end_under_every_tail() {
    let mut machine = Machine::new();
    for program in [programs::spin(2), programs::bluetooth()] {
        for tail in tails() {
            let (trace, _) = machine.run(&program, &Order::free(0, tail));
            assert_ne!(trace.outcome, Outcome::StepLimit, "{} under {tail:?}", program.name);
        }
    }
    let (trace, _) = machine.run(&programs::spin_forever(), &Order::free(0, LOWEST));
    assert_eq!(trace.outcome, Outcome::StepLimit, "nobody ends this loop, and fairness does not hide it");
}

#[test]
fn searches_of_spin_loops_end() {
    let bounded = Limits { bound: 2, ..Limits::default() };
    let all: [(usize, Box<dyn Strategy>); 3] = [
        (1, Box::new(PreemptionBounding::new(Limits::default()))),
        (2, Box::new(PreemptionBounding::new(bounded))),
        (1, Box::new(DepthFirst::new())),
    ];
    for (spinners, mut strategy) in all {
        let program = programs::spin(spinners);
        let mut machine = Machine::new();
        while let Some(order) = strategy.next() {
            let (trace, _) = machine.run(&program, &order);
            assert_eq!(trace.outcome, Outcome::Passed);
            strategy.observe(&order, trace.view());
            assert!(machine.executed < 50_000, "{}", strategy.name());
        }
        println!("{} with {spinners}: {}", strategy.name(), machine.executed);
        assert!(strategy.progress().exhausted);
    }
}

#[test]
fn hundreds_of_threads() {
    let mut machine = Machine::new();
    let program = programs::reorder(300);
    for tail in [
        LOWEST,
        Tail::Pos { seed: 0 },
        Tail::Random { seed: 1 },
        Tail::Pct { seed: 2, depth: 3, length: 900 },
    ] {
        let (trace, _) = machine.run(&program, &Order::free(0, tail));
        assert_eq!(trace.view().threads(), 302);
        let (again, _) = machine.run(&program, &Order::replay(trace.view().choices()));
        assert_eq!(trace.view().first_difference(&again.view()), None);
    }
}

/// How often each order of the operations of some threads comes up, over many seeds.
fn orders_of(program: &Program, seeds: u64, order: impl Fn(u64) -> Order) -> BTreeMap<Vec<u16>, u64> {
    let mut machine = Machine::new();
    let mut counts = BTreeMap::new();
    for seed in 0..seeds {
        let (trace, _) = machine.run(program, &order(seed));
        let writes =
            trace.steps.iter().filter(|s| s.op.kind() == OpKind::DataWrite).map(|s| s.thread.0).collect();
        *counts.entry(writes).or_insert(0) += 1;
    }
    counts
}

#[test]
fn surw_is_uniform_over_the_interesting_operations() {
    // One write against four: a random walk puts the single one early, a uniform walk anywhere.
    let codes = vec![vec![sim::Ins::StoreConst(0, 1)], vec![sim::Ins::StoreConst(0, 2); 4]];
    let program = programs::start_all("uneven", codes, &[0, 1], &[]);
    let object = 0x1000;
    let parent = LogicalThread(0);
    let weight = |count| Weight { count, parent, reserved: 0 };
    let counts = orders_of(&program, 5000, |seed| {
        let mut order = Order::free(0, Tail::Surw { seed: seed * 77, object });
        order.weights = vec![weight(0), weight(1), weight(4)];
        order
    });
    assert_eq!(counts.len(), 5, "every place for the single write");
    for (order, n) in &counts {
        assert!((850..1150).contains(n), "{order:?} came {n} times of 5000");
    }
}

#[test]
fn pct_with_depth_one_runs_by_priority() {
    let program = programs::locked_counter(3, 2);
    let mut machine = Machine::new();
    for seed in 0..50 {
        let (trace, _) = machine.run(&program, &Order::free(0, Tail::Pct { seed, depth: 1, length: 100 }));
        // Without points of change a thread gives way only to one above it that was born or
        // unblocked meanwhile: of the workers, who are never unblocked by each other's steps in the
        // middle of a section, each keeps its rank.
        let mut first: Vec<LogicalThread> = Vec::new();
        for s in trace.steps.iter().filter(|s| s.op.kind() == OpKind::Unlock) {
            if first.last() != Some(&s.thread) {
                assert!(!first.contains(&s.thread), "a thread came back: seed {seed}");
                first.push(s.thread);
            }
        }
    }
}

#[test]
fn reluctant_threads_run_last_but_do_run() {
    let enabled: ThreadSet = [0, 1].map(LogicalThread).into_iter().collect();
    let reluctant: ThreadSet = [0].map(LogicalThread).into_iter().collect();
    let pending = [Op::new(OpKind::TimeOut, 8, 1), Op::new(OpKind::Lock, 16, 2)];
    let view = View { enabled: &enabled, reluctant: &reluctant, pending: &pending };
    let mut pilot = Box::new(Pilot::new());
    pilot.begin(&Course::tail(LOWEST));
    assert_eq!(pilot.choose(&[], &view), LogicalThread(1));
    let alone = View { enabled: &reluctant, ..view };
    pilot.begin(&Course::tail(LOWEST));
    assert_eq!(pilot.choose(&[], &alone), LogicalThread(0), "nobody else is there");
    pilot.begin(&Course::tail(Tail::Random { seed: 1 }));
    let timed_out = (0..1000).filter(|_| pilot.choose(&[], &view) == LogicalThread(0)).count();
    assert!((20..200).contains(&timed_out), "{timed_out} of 1000");
}

#[test]
fn constraints_bring_about_what_they_ask_for() {
    use raddle_explore::Constraint;
    let program = programs::reorder(5);
    let mut machine = Machine::new();
    // The setter's code is 1, its first write at 1001; the checker's reads are at 2001 and 2002.
    let from = |object, write, read| Constraint { object, write, read, wanted: 1, bytes: 0 };
    let mut order = Order::free(0, LOWEST);
    order.constraints = vec![from(0, 1001, 2001), from(0x1008, 0, 2002)];
    for seed in 0..200 {
        order.tail = Tail::Constrained { seed };
        let (trace, _) = machine.run(&program, &order);
        assert!(trace.outcome.is_failure(), "both constraints together are the bug; seed {seed}");
    }
    order.constraints = vec![Constraint { wanted: 0, ..from(0x1000, 0, 2001) }];
    let read_first = (0..200).filter(|seed| {
        order.tail = Tail::Constrained { seed: *seed };
        let (trace, _) = machine.run(&program, &order);
        let first = trace.steps.iter().find(|s| s.op.object == 0x1000);
        first.is_some_and(|s| s.op.kind() == OpKind::DataRead)
    });
    assert_eq!(read_first.count(), 0, "the initial value is not to be read");
}

#[test]
fn tails_cross_the_boundary_as_words() {
    for tail in tails() {
        assert_eq!(Tail::from_words(&tail.to_words()), Some(tail));
    }
    assert_eq!(Tail::from_words(&Default::default()), None);
}
