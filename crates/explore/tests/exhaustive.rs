//! Exhaustive strategies reach exactly what brute force reaches, with pruning and without.

mod sim;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::Strategy as Random;
use raddle_explore::strategy::{DelayBounding, DepthFirst, PreemptionBounding};
use raddle_explore::{AnyStrategy, Limits, Portfolio, Strategy};
use sim::Ins::*;
use sim::{Ins, Machine, Program, Result, brute_force, programs};

/// Everything a strategy reaches until it is exhausted, and how many executions it took.
fn explore(program: &Program, strategy: &mut dyn Strategy) -> (BTreeSet<Result>, u64) {
    let mut machine = Machine::new();
    let mut results = BTreeSet::new();
    while let Some(order) = strategy.next() {
        let (trace, result) = machine.run(program, &order);
        assert_eq!(trace.divergence, None);
        results.insert(result);
        strategy.observe(&order, trace.view());
        assert!(machine.executed < 200_000, "{} on {}", strategy.name(), program.name);
    }
    assert!(strategy.progress().exhausted);
    (results, machine.executed)
}

/// The same random programs each time: how long a search takes depends on them, and no test may
/// fail by chance.
fn config(cases: u32) -> ProptestConfig {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(2008);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

fn pruning(prune: bool) -> Limits {
    Limits { prune, ..Limits::default() }
}

fn exhaustive() -> Vec<(&'static str, Box<dyn Strategy>)> {
    vec![
        ("preemption, pruned", Box::new(PreemptionBounding::new(pruning(true)))),
        ("delay, pruned", Box::new(DelayBounding::new(pruning(true)))),
        ("sleep sets", Box::new(DepthFirst::new())),
        ("portfolio", Box::new(Portfolio::new(3, pruning(true)))),
    ]
}

fn check(program: &Program, unpruned: bool) {
    let expected = brute_force(program);
    let mut strategies = exhaustive();
    if unpruned {
        strategies.push(("preemption, all", Box::new(PreemptionBounding::new(pruning(false)))));
        strategies.push(("delay, all", Box::new(DelayBounding::new(pruning(false)))));
        strategies.push(("dfs, all", Box::new(DepthFirst::without_sleep_sets())));
    }
    for (name, mut strategy) in strategies {
        let (results, _) = explore(program, strategy.as_mut());
        assert_eq!(results, expected, "{name} on {:?}", program);
    }
}

#[test]
fn known_programs() {
    for program in [
        programs::lost_update(),
        programs::abba(),
        programs::check_then_act(),
        programs::lost_wakeup(),
        programs::semaphore_order(),
        programs::spurious_wakeup(),
    ] {
        check(&program, true);
    }
    // Too many schedules to make them all; with pruning few.
    for program in [programs::reorder(3), programs::dining(3), programs::one_condition(2, 1)] {
        check(&program, false);
    }
}

#[test]
fn without_pruning_every_schedule_is_made_once() {
    // Two threads of two steps and their start and exit, and main's: counted by brute force over
    // paths.
    fn paths(program: &Program, state: &sim::State, n: usize) -> u64 {
        if state.is_over() {
            return 1;
        }
        let enabled = (0..n).filter(|t| state.is_enabled(program, *t));
        enabled
            .map(|t| {
                let mut next = state.clone();
                next.step(program, t, &mut |_| 0);
                paths(program, &next, n)
            })
            .sum()
    }
    let program = programs::lost_update();
    let expected = paths(&program, &sim::State::new(&program), program.threads.len());
    let all: [Box<dyn Strategy>; 3] = [
        Box::new(PreemptionBounding::new(pruning(false))),
        Box::new(DelayBounding::new(pruning(false))),
        Box::new(DepthFirst::without_sleep_sets()),
    ];
    for mut strategy in all {
        assert_eq!(explore(&program, strategy.as_mut()).1, expected);
    }
}

#[test]
fn pruning_saves_executions() {
    let program = programs::locked_counter(2, 2);
    let (_, all) = explore(&program, &mut PreemptionBounding::new(pruning(false)));
    let (_, pruned) = explore(&program, &mut PreemptionBounding::new(pruning(true)));
    let (_, asleep) = explore(&program, &mut DepthFirst::new());
    // Four critical sections of two threads: 6 orders that differ; each execution ends in a class
    // of its own but for the few that had to be begun to see that they lead nowhere new.
    println!("all {all}, pruned {pruned}, sleep sets {asleep}");
    assert!(pruned * 20 < all && asleep * 20 < all, "all {all}, pruned {pruned}, sleep sets {asleep}");
}

#[test]
fn a_bound_has_what_it_should() {
    // Of three philosophers one must be preempted; the other two block by themselves.
    for (program, needed) in [
        (programs::lost_update(), 1),
        (programs::abba(), 1),
        (programs::dining(3), 1),
        (programs::flicker(), 2),
        (programs::spurious_wakeup(), 1),
    ] {
        for bound in 0..=needed {
            let limits = Limits { bound, ..Limits::default() };
            let (results, _) = explore(&program, &mut PreemptionBounding::new(limits));
            let fails = results.iter().any(|r| r.outcome != "Passed");
            assert_eq!(fails, bound >= needed, "{} with bound {bound}", program.name);
        }
    }
}

/// In a bound, pruning loses no result that the bound has without it.
fn check_bound(program: &Program, bound: u32) {
    let limits = |prune| Limits { bound, prune, ..Limits::default() };
    let pairs: [(Box<dyn Strategy>, Box<dyn Strategy>); 2] = [
        (Box::new(PreemptionBounding::new(limits(false))), Box::new(PreemptionBounding::new(limits(true)))),
        (Box::new(DelayBounding::new(limits(false))), Box::new(DelayBounding::new(limits(true)))),
    ];
    for (mut all, mut pruned) in pairs {
        let (expected, n_all) = explore(program, all.as_mut());
        let (results, n_pruned) = explore(program, pruned.as_mut());
        assert_eq!(results, expected, "{} {bound} on {program:?}", all.name());
        assert!(n_pruned <= n_all);
    }
}

#[test]
fn a_full_frontier_is_begun_again() {
    let program = programs::locked_counter(2, 2);
    let tight = Limits { items: 10, ..Limits::default() };
    let (results, _) = explore(&program, &mut PreemptionBounding::new(tight));
    assert_eq!(results, brute_force(&program));
}

#[test]
fn a_full_table_of_states_loses_nothing() {
    let program = programs::lost_update();
    let (_, roomy) = explore(&program, &mut PreemptionBounding::new(Limits::default()));
    let tight = Limits { states: 0, ..Limits::default() };
    let (results, n) = explore(&program, &mut PreemptionBounding::new(tight));
    assert_eq!(results, brute_force(&program));
    assert!(n > roomy, "with so little room less is pruned");
}

#[test]
fn estimates_are_of_the_right_size() {
    let program = programs::locked_counter(2, 2);
    let mut strategy = DepthFirst::without_sleep_sets();
    let (_, total) = explore(&program, &mut DepthFirst::without_sleep_sets());
    let mut machine = Machine::new();
    for _ in 0..total / 2 {
        let order = strategy.next().expect("half of them are left");
        let (trace, _) = machine.run(&program, &order);
        strategy.observe(&order, trace.view());
    }
    let progress = strategy.progress();
    let estimate = progress.estimate.expect("something is done");
    assert!(estimate > total as f64 / 20.0 && estimate < total as f64 * 20.0, "{estimate} of {total}");
    let fraction = progress.fraction.expect("a tree knows");
    assert!(fraction > 0.0 && fraction < 1.0);
}

/// One instruction of a random program: two locks, two cells, a condition variable, a semaphore.
fn instruction() -> impl Random<Value = Vec<Ins>> {
    prop_oneof![
        3 => (0..2usize, 0..2usize).prop_map(|(c, r)| vec![Load(c, r)]),
        3 => (0..2usize, 0..2usize, 1..3i64).prop_map(|(c, r, k)| vec![Store(c, r, k)]),
        2 => (0..2usize, 0..2usize).prop_map(|(c, r)| vec![Rmw(c, r, 1)]),
        2 => (0..2usize, 0..2usize).prop_map(|(m, c)| vec![Lock(m), Load(c, 0), Store(c, 0, 1), Unlock(m)]),
        1 => (0..2usize).prop_map(|m| vec![Lock(m), Lock(1 - m), Unlock(1 - m), Unlock(m)]),
        1 => (0..2usize).prop_map(|m| vec![TryLock(m, 1)]),
        1 => Just(vec![Lock(0), Wait(0, 0), Unlock(0)]),
        1 => Just(vec![Signal(0)]),
        1 => Just(vec![Broadcast(0)]),
        1 => Just(vec![SemWait(0)]),
        1 => Just(vec![SemPost(0)]),
        1 => (0..2usize, 0..3i64).prop_map(|(r, k)| vec![Assert(r, k)]),
    ]
}

fn program(threads: usize, longest: usize) -> impl Random<Value = Program> {
    let code = proptest::collection::vec(instruction(), 1..=longest).prop_map(|c| c.concat());
    (proptest::collection::vec(code, threads), any::<bool>()).prop_map(move |(codes, spurious)| {
        let all: Vec<usize> = (0..threads).collect();
        Program { spurious, ..programs::start_all("random", codes, &all, &[Load(0, 0), Load(1, 1)]) }
    })
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn pruning_loses_nothing_two_threads(program in program(2, 3)) {
        check(&program, false);
    }

    #[test]
    fn pruning_loses_nothing_three_threads(program in program(3, 1)) {
        check(&program, false);
    }

    #[test]
    fn pruning_loses_nothing_in_a_bound(program in program(2, 2), bound in 0u32..3) {
        check_bound(&program, bound);
    }
}

/// Threads that work a little, wait in a spin loop for a flag that the next one sets, and work
/// again.
fn spinning(threads: usize) -> impl Random<Value = Program> {
    // Nothing that can block for ever: the others would spin for ever, which brute force does not
    // call an end.
    let harmless = |c: &Vec<Ins>| {
        !matches!(c[..], [Lock(_), Wait(..), ..] | [Lock(_), Lock(_), ..] | [SemWait(_)] | [TryLock(..)])
    };
    let work = move || {
        let instruction = instruction().prop_filter("it can block", harmless);
        proptest::collection::vec(instruction, 0..=1).prop_map(|c| c.concat())
    };
    proptest::collection::vec((work(), any::<bool>(), work()), threads).prop_map(move |parts| {
        let codes = parts.into_iter().enumerate().map(|(t, (before, spins, after))| {
            let mut code = before;
            code.push(StoreConst(4 + (t + 1) % threads, 1));
            let at = code.len();
            if spins {
                code.extend([Load(4 + t, 3), JumpIf(3, 1, at + 4), Yield, Jump(at)]);
            }
            code.extend(after);
            code
        });
        let all: Vec<usize> = (0..threads).collect();
        programs::start_all("spinning", codes.collect(), &all, &[Load(0, 0), Load(1, 1)])
    })
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn fairness_and_pruning_lose_nothing(program in spinning(2)) {
        let expected = brute_force(&program);
        let (results, _) = explore(&program, &mut PreemptionBounding::new(pruning(true)));
        prop_assert_eq!(results, expected);
    }
}

#[test]
fn names_are_known() {
    for name in AnyStrategy::NAMES {
        let strategy = AnyStrategy::by_name(name, 1, Limits::default()).expect("it is listed");
        assert_eq!(strategy.name(), name);
    }
    assert!(AnyStrategy::by_name("best", 1, Limits::default()).is_none());
}
