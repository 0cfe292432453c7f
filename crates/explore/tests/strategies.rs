//! Each strategy finds the bugs of the simulated programs.

mod sim;

use raddle_explore::{AnyStrategy, Limits, Next, Order, Portfolio, Strategy, Tail};
use sim::{Machine, Program, programs};

/// The number of the first failing execution.
fn first_failure(program: &Program, strategy: &mut dyn Strategy, most: u64) -> Option<u64> {
    let mut machine = Machine::new();
    for n in 1..=most {
        let order = strategy.next()?;
        let (trace, _) = machine.run(program, &order);
        assert_eq!(trace.divergence, None, "{}: an order of {} diverged", program.name, strategy.name());
        if trace.outcome.is_failure() {
            return Some(n);
        }
        strategy.observe(&order, machine.view(&trace));
    }
    None
}

#[test]
fn every_strategy_finds_every_bug() {
    for name in AnyStrategy::NAMES {
        for program in programs::buggy() {
            let mut strategy = AnyStrategy::by_name(name, 7, Limits::default()).expect(name);
            let found = first_failure(&program, &mut strategy, 10_000);
            // Aim gives up when no single switch promises anything; here two must come together.
            // A search of states gives up where threads yield.
            let given_up = name == "aim" && program.name == "one_condition" || strategy.progress().gave_up;
            assert!(found.is_some() || given_up, "{name} does not find {}", program.name);
        }
    }
}

#[test]
fn the_portfolio_needs_few_executions() {
    // For the first four the limit is the best published mean for the SCTBench program of that
    // shape. Not so for wronglock: the published mean is 1, and on the program as it is written
    // here the portfolio takes about 3. The rest are regression limits, somewhat above what was
    // measured.
    let cases = [
        (programs::reorder(9), 6.0),
        (programs::reorder(99), 6.0),
        (programs::twostage(99), 56.0),
        (programs::bluetooth(), 9.0),
        (programs::wronglock(7), 4.0),
        (programs::abba(), 4.0),
        (programs::check_then_act(), 4.0),
        (programs::lost_wakeup(), 8.0),
        (programs::needle(10), 26.0),
    ];
    for (program, most) in cases {
        let counts: Vec<u64> = (0..20)
            .map(|seed| {
                let mut portfolio = Portfolio::new(seed, Limits::default());
                first_failure(&program, &mut portfolio, 200).unwrap_or(200)
            })
            .collect();
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        println!("{:20} mean {mean:6.1}  {counts:?}", program.name);
        assert!(mean <= most, "{}: mean {mean} of {counts:?}, at most {most} expected", program.name);
    }
}

#[test]
fn a_plain_execution_that_is_known_is_not_made_first() {
    let plain = Tail::NonPreemptive { next: Next::Lowest };
    for program in [programs::reorder(9), programs::twostage(99), programs::bluetooth()] {
        let (known, _) = Machine::new().run(&program, &Order::free(0, plain));
        let count = |begin: bool| {
            let mut portfolio = Portfolio::new(7, Limits::default());
            if begin {
                portfolio.begin_from(known.view());
            }
            first_failure(&program, &mut portfolio, 200).expect(&program.name)
        };
        assert!(count(true) < count(false), "{}: {} and {}", program.name, count(true), count(false));
    }
}

#[test]
fn the_portfolio_accounts_for_what_it_does() {
    let program = programs::locked_counter(2, 3);
    let mut machine = Machine::new();
    let mut portfolio = Portfolio::new(1, Limits::default());
    let mut made = std::collections::BTreeMap::new();
    while let Some(order) = portfolio.next() {
        let (trace, _) = machine.run(&program, &order);
        *made.entry(portfolio.maker(&order)).or_insert(0) += 1;
        portfolio.observe(&order, trace.view());
    }
    for share in portfolio.shares() {
        assert_eq!(share.schedules, made.get(share.name).copied().unwrap_or(0), "{}", share.name);
        assert!(share.new <= share.schedules);
    }
    let progress = portfolio.progress();
    assert_eq!((progress.schedules, progress.exhausted), (machine.executed, true));
    assert!(progress.to_string().starts_with("complete after"), "{progress}");
    assert!(made.len() >= 5, "several had their turn: {made:?}");
}

#[test]
fn samplers_with_other_seeds_make_other_schedules() {
    let program = programs::locked_counter(3, 3);
    let mut machine = Machine::new();
    for name in ["random", "pct", "pos", "surw", "rff"] {
        let mut first = |seed| {
            let mut strategy = AnyStrategy::by_name(name, seed, Limits::default()).expect(name);
            let order = strategy.next().expect("samplers never end");
            machine.run(&program, &order).0.steps
        };
        assert_eq!(first(1), first(1), "{name}");
        assert!((2..6).any(|seed| first(seed) != first(1)), "{name}");
    }
}
