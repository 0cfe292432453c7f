//! Results in any order, and searches that are stopped and go on.

mod sim;

use std::collections::{BTreeSet, VecDeque};

use raddle_base::rng::Rng;
use raddle_explore::strategy::{DelayBounding, DepthFirst, PreemptionBounding};
use raddle_explore::{AnyStrategy, Limits, Order, Portfolio, Strategy};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sim::{Machine, Program, Result, brute_force, programs};

/// Explores with up to `window` orders in flight, whose results come back in a random order.
fn scattered(program: &Program, strategy: &mut dyn Strategy, window: usize) -> BTreeSet<Result> {
    let mut machine = Machine::new();
    let mut rng = Rng::new(window as u64);
    let mut flying = Vec::new();
    let mut results = BTreeSet::new();
    loop {
        while flying.len() < window
            && let Some(order) = strategy.next()
        {
            let (trace, result) = machine.run(program, &order);
            results.insert(result);
            flying.push((order, trace));
        }
        if flying.is_empty() {
            break;
        }
        let (order, trace) = flying.swap_remove(rng.below(flying.len() as u32) as usize);
        strategy.observe(&order, trace.view());
        assert!(machine.executed < 200_000);
    }
    assert!(strategy.progress().exhausted);
    results
}

#[test]
fn results_may_come_in_any_order() {
    for program in
        [programs::check_then_act(), programs::abba(), programs::lost_wakeup(), programs::dining(3)]
    {
        let expected = brute_force(&program);
        for window in [2, 7, 64] {
            let all: [Box<dyn Strategy>; 4] = [
                Box::new(PreemptionBounding::new(Limits::default())),
                Box::new(DelayBounding::new(Limits::default())),
                Box::new(DepthFirst::new()),
                Box::new(Portfolio::new(5, Limits::default())),
            ];
            for mut strategy in all {
                let results = scattered(&program, strategy.as_mut(), window);
                assert_eq!(results, expected, "{} on {}, {window} in flight", strategy.name(), program.name);
            }
        }
    }
}

fn stored<S: Serialize + DeserializeOwned>(strategy: &S) -> S {
    let bytes = postcard::to_allocvec(strategy).expect("plain data");
    postcard::from_bytes(&bytes).expect("what was written can be read")
}

/// The orders of a search, stopped and resumed every `every` executions.
fn orders<S: Strategy + Serialize + DeserializeOwned>(
    program: &Program,
    mut strategy: S,
    every: usize,
    most: usize,
) -> Vec<Order> {
    let mut machine = Machine::new();
    let mut orders = Vec::new();
    while orders.len() < most
        && let Some(order) = strategy.next()
    {
        let (trace, _) = machine.run(program, &order);
        strategy.observe(&order, machine.view(&trace));
        orders.push(order);
        if orders.len().is_multiple_of(every) {
            strategy = stored(&strategy);
            strategy.resume();
        }
    }
    orders
}

#[test]
fn a_resumed_search_goes_on_as_if_never_stopped() {
    let program = programs::check_then_act();
    for name in AnyStrategy::NAMES {
        let make = || AnyStrategy::by_name(name, 3, Limits::default()).expect(name);
        let through = orders(&program, make(), usize::MAX, 400);
        let stopped = orders(&program, make(), 7, 400);
        assert_eq!(through, stopped, "{name}");
    }
    let make = || Portfolio::new(3, Limits::default());
    assert_eq!(orders(&program, make(), usize::MAX, 400), orders(&program, make(), 7, 400));
}

#[test]
fn what_was_in_flight_is_made_again() {
    let program = programs::check_then_act();
    let expected = brute_force(&program);
    let mut machine = Machine::new();
    let mut strategy = AnyStrategy::Preemption(PreemptionBounding::new(Limits::default()));
    let mut results = BTreeSet::new();
    let mut flying = VecDeque::new();
    let mut stops = 0;
    loop {
        while flying.len() < 5
            && let Some(order) = strategy.next()
        {
            flying.push_back(order);
        }
        let Some(order) = flying.pop_front() else { break };
        let (trace, result) = machine.run(&program, &order);
        results.insert(result);
        strategy.observe(&order, trace.view());
        if machine.executed.is_multiple_of(6) && stops < 10 {
            // Four orders or so are lost with the process.
            flying.clear();
            stops += 1;
            strategy = stored(&strategy);
            strategy.resume();
        }
    }
    assert_eq!(results, expected);
    assert!(stops > 0 && strategy.progress().exhausted);
}

#[test]
fn a_single_schedule_ends_the_portfolio_at_once() {
    let program = Program {
        codes: vec![vec![sim::Ins::Lock(0), sim::Ins::Unlock(0)]],
        threads: vec![0],
        ..Program::default()
    };
    assert_eq!(orders(&program, Portfolio::new(1, Limits::default()), usize::MAX, 100).len(), 1);
}

#[test]
fn orders_that_are_not_followed_are_tried_again_and_then_counted() {
    let program = programs::lost_update();
    let mut machine = Machine::new();
    let mut strategy = PreemptionBounding::new(Limits::default());
    let mut n = 0;
    while let Some(order) = strategy.next() {
        let (mut trace, _) = machine.run(&program, &order);
        // The fourth order never succeeds.
        if n >= 3 && strategy.progress().lost == 0 {
            trace.divergence = Some(1);
        }
        n += 1;
        strategy.observe(&order, trace.view());
    }
    let progress = strategy.progress();
    assert_eq!((progress.lost, progress.exhausted), (1, true));
}
