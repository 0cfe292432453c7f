//! What a search claims is so: where it ends, and no execution had a hidden race, brute force at
//! the granularity of single accesses reaches nothing else.
//!
//! Programs run as targets do: plain accesses are no scheduling points at first. An access that is
//! found to race becomes one, and the search begins anew.

mod sim;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::Strategy as Random;
use raddle_explore::strategy::{DelayBounding, DepthFirst, PreemptionBounding, States};
use raddle_explore::{Limits, Portfolio, Strategy};
use sim::Ins::*;
use sim::{Ins, Machine, Program, Result, Watch, brute_force, programs};

type Maker = (&'static str, fn() -> Box<dyn Strategy>);

const EXHAUSTIVE: [Maker; 5] = [
    ("preemption", || Box::new(PreemptionBounding::new(Limits::default()))),
    ("delay", || Box::new(DelayBounding::new(Limits::default()))),
    ("dfs", || Box::new(DepthFirst::new())),
    ("states", || Box::new(States::new())),
    ("portfolio", || Box::new(Portfolio::new(7, Limits::default()))),
];

/// What was reached in the last round, whether it may be called complete, and how many rounds it
/// took.
struct Searched {
    results: BTreeSet<Result>,
    complete: bool,
    rounds: u32,
}

/// A search that takes more executions is given up, and claims nothing.
const MOST: u64 = 3000;

fn search(program: &Program, make: fn() -> Box<dyn Strategy>) -> Searched {
    let mut machine = Machine::new();
    let mut watch = Watch::new();
    for rounds in 1.. {
        let mut strategy = make();
        let mut results = BTreeSet::new();
        (watch.early, watch.unordered) = (false, false);
        while let Some(order) = strategy.next() {
            let (trace, result) = machine.run_watched(program, &order, &mut watch);
            results.insert(result);
            if !watch.found.is_empty() {
                break;
            }
            strategy.observe(&order, machine.view(&trace));
            if machine.executed > MOST {
                return Searched { results, complete: false, rounds };
            }
        }
        assert!(!watch.unordered && !watch.forgot, "{program:?}");
        if watch.found.is_empty() {
            let progress = strategy.progress();
            assert!(progress.exhausted || progress.gave_up);
            return Searched { results, complete: !watch.early && progress.exhausted, rounds };
        }
        watch.points.extend(std::mem::take(&mut watch.found));
    }
    unreachable!("there are only so many places")
}

/// How many of the strategies claimed to be complete.
fn check(program: &Program) -> usize {
    let expected = brute_force(program);
    let mut claims = 0;
    for (name, make) in EXHAUSTIVE {
        let found = search(program, make);
        assert!(found.results.is_subset(&expected), "{name} on {program:?}");
        if found.complete {
            assert_eq!(found.results, expected, "{name} on {program:?}");
            claims += 1;
        }
    }
    claims
}

/// A variable is looked at first without the lock, and then again with it. What the second look
/// finds is not what the first thread is told by the flag.
fn double_checked() -> Program {
    let (a, b) = (0, 1);
    let init = |at: usize| {
        let end = at + 8;
        vec![
            Load(a, 0),
            JumpIfNot(0, 0, end),
            Lock(0),
            Load(a, 0),
            JumpIfNot(0, 0, end - 1),
            StoreConst(a, 1),
            StoreConst(b, 1),
            Unlock(0),
        ]
    };
    let mut one = vec![Load(b, 1), JumpIfNot(1, 0, 10)];
    one.extend(init(2));
    one.push(Load(b, 1));
    programs::start_all("double checked", vec![one, init(0)], &[0, 1], &[])
}

#[test]
fn races_that_the_first_executions_do_not_show_are_found() {
    let program = double_checked();
    assert_eq!(check(&program), EXHAUSTIVE.len());
    for (name, make) in EXHAUSTIVE {
        assert!(search(&program, make).rounds > 1, "{name}");
    }
}

#[test]
fn accesses_that_a_lock_orders_stay_no_points() {
    let program = programs::locked_counter(2, 2);
    for (name, make) in EXHAUSTIVE {
        let found = search(&program, make);
        assert_eq!((found.complete, found.rounds), (true, 1), "{name}");
    }
    assert_eq!(check(&program), EXHAUSTIVE.len());
}

#[test]
fn a_second_access_of_the_same_thread_to_a_racy_variable_is_found() {
    let writer = vec![StoreConst(0, 1), StoreConst(0, 2), StoreConst(0, 3)];
    let program = programs::start_all("in a row", vec![writer, vec![Load(0, 0)]], &[0, 1], &[]);
    assert_eq!(check(&program), EXHAUSTIVE.len());
}

/// Both orders of two critical sections reach the same memory. Only after one of them does what the
/// first thread did before race with what the second does after.
fn race_on_one_way() -> Program {
    let one = vec![StoreConst(0, 1), Lock(0), Unlock(0)];
    let two = vec![Lock(0), Unlock(0), Load(0, 0)];
    programs::start_all("race on one way", vec![one, two], &[0, 1], &[])
}

/// The detector's state must be part of a key.
#[test]
fn a_race_that_follows_one_way_to_a_state_is_found() {
    let program = race_on_one_way();
    assert_eq!(check(&program), EXHAUSTIVE.len());
    let states = || -> Box<dyn Strategy> { Box::new(States::new()) };
    assert!(search(&program, states).rounds > 1);
}

/// Rounds of loops add up.
#[test]
fn states_are_few_where_schedules_are_many() {
    let program = programs::locked_counter(2, 8);
    let states = || -> Box<dyn Strategy> { Box::new(States::new()) };
    let found = search(&program, states);
    assert!(found.complete && found.results == brute_force(&program), "{:?}", found.results);
    let dfs = || -> Box<dyn Strategy> { Box::new(DepthFirst::new()) };
    assert!(!search(&program, dfs).complete, "there are 12,870 orders of the critical sections");
}

#[test]
fn a_failure_with_others_under_way_is_no_complete_search() {
    // Whoever is first fails at once: that the second could have read 1 no execution shows.
    let one = vec![StoreConst(0, 1), Fail];
    let two = vec![Load(0, 0), JumpIfNot(0, 0, 3), Fail, StoreConst(1, 7)];
    let program = programs::start_all("both fail", vec![one, two], &[0, 1], &[]);
    assert_eq!(check(&program), 0);
}

/// Pieces of a thread's code; jumps go to the end of their piece.
#[derive(Clone, Debug)]
enum Piece {
    Plain(Ins),
    Locked(usize, Vec<Ins>),
    /// What is done if a cell has, or has not, the value.
    If(usize, i64, bool, Vec<Ins>),
    /// The same with a second look under the lock.
    Twice(usize, usize, Vec<Ins>),
}

fn assemble(pieces: &[Piece]) -> Vec<Ins> {
    let mut code = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Plain(ins) => code.push(*ins),
            Piece::Locked(lock, inside) => {
                code.push(Lock(*lock));
                code.extend(inside);
                code.push(Unlock(*lock));
            }
            Piece::If(cell, value, equal, inside) => {
                let end = code.len() + 2 + inside.len();
                code.push(Load(*cell, 3));
                code.push(if *equal { JumpIfNot(3, *value, end) } else { JumpIf(3, *value, end) });
                code.extend(inside);
            }
            Piece::Twice(cell, lock, inside) => {
                let unlock = code.len() + 5 + inside.len();
                code.extend([Load(*cell, 3), JumpIfNot(3, 0, unlock + 1), Lock(*lock)]);
                code.extend([Load(*cell, 3), JumpIfNot(3, 0, unlock)]);
                code.extend(inside);
                code.push(Unlock(*lock));
            }
        }
    }
    code
}

fn access() -> impl Random<Value = Ins> {
    prop_oneof![
        3 => (0..3usize, 0..3usize).prop_map(|(c, r)| Load(c, r)),
        3 => (0..3usize, 1..3i64).prop_map(|(c, k)| StoreConst(c, k)),
        2 => (0..3usize, 0..3usize, 0..3i64).prop_map(|(c, r, k)| Store(c, r, k)),
        1 => (0..4usize, 0..3usize, 1..3i64).prop_map(|(c, r, k)| Rmw(c, r, k)),
        1 => (0..4usize, 0..3usize, 1..3i64, 0..3usize).prop_map(|(c, x, k, y)| Cas(c, x, k, y)),
    ]
}

fn piece() -> impl Random<Value = Piece> {
    let few = || prop::collection::vec(access(), 1..3);
    prop_oneof![
        4 => access().prop_map(Piece::Plain),
        2 => (0..2usize, few()).prop_map(|(l, inside)| Piece::Locked(l, inside)),
        2 => (0..3usize, 0..2i64, any::<bool>(), few()).prop_map(|(c, k, e, inside)| Piece::If(c, k, e, inside)),
        2 => (0..3usize, 0..2usize, few()).prop_map(|(c, l, inside)| Piece::Twice(c, l, inside)),
    ]
}

fn program(threads: std::ops::Range<usize>, pieces: usize) -> impl Random<Value = Program> {
    let code = prop::collection::vec(piece(), 1..=pieces);
    let fails = prop::option::weighted(0.2, (0..3usize, 0..3i64));
    (prop::collection::vec((code, fails), threads)).prop_map(|codes| {
        let threads: Vec<usize> = (0..codes.len()).collect();
        let code = |(pieces, fails): &(Vec<Piece>, Option<(usize, i64)>)| {
            let mut code = assemble(pieces);
            code.extend(fails.map(|(r, k)| Assert(r, k)));
            code
        };
        programs::start_all("random", codes.iter().map(code).collect(), &threads, &[])
    })
}

/// The same random programs each time: how long a search takes depends on them, and no test may
/// fail by chance.
fn config(cases: u32) -> ProptestConfig {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(2009);
    ProptestConfig {
        cases,
        rng_seed,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn two_threads(program in program(2..3, 3)) {
        check(&program);
    }
}

proptest! {
    #![proptest_config(config(20))]

    #[test]
    fn three_threads(program in program(3..4, 2)) {
        check(&program);
    }
}

#[test]
fn most_random_programs_are_searched_completely() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(config(1));
    let programs = (0..40).map(|_| program(2..3, 3).new_tree(&mut runner).unwrap().current());
    let claims: usize = programs.map(|p| check(&p)).sum();
    assert!(claims > 80, "{claims} of 160");
}
