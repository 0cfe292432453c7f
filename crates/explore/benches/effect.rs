//! Executions to the first failure, the mean of 20 seeds, by strategy: `cargo bench -p
//! raddle-explore --bench effect`. The programs are simulated; the figures for real ones are
//! `raddle-bench`'s.

#[path = "../tests/sim/mod.rs"]
mod sim;

use raddle_explore::{AnyStrategy, Limits, Portfolio, Strategy};
use sim::{Machine, Program, programs};

const MOST: u64 = 10_000;
const SEEDS: u64 = 20;

fn first_failure(machine: &mut Machine, program: &Program, strategy: &mut dyn Strategy) -> Option<u64> {
    for n in 1..=MOST {
        let order = strategy.next()?;
        let (trace, _) = machine.run(program, &order);
        if trace.outcome.is_failure() {
            return Some(n);
        }
        strategy.observe(&order, trace.view());
    }
    None
}

fn mean(program: &Program, make: &dyn Fn(u64) -> Box<dyn Strategy>) -> String {
    let mut machine = Machine::new();
    let found: Vec<u64> =
        (0..SEEDS).filter_map(|seed| first_failure(&mut machine, program, make(seed).as_mut())).collect();
    let mean = found.iter().sum::<u64>() as f64 / found.len().max(1) as f64;
    match found.len() as u64 {
        SEEDS => format!("{mean:.1}"),
        0 => "-".into(),
        n => format!("{mean:.0} ({n})"),
    }
}

fn main() {
    let mut all = programs::buggy();
    all.extend([
        programs::reorder(9),
        programs::twostage(19),
        programs::wronglock(7),
        programs::needle(10),
        programs::flicker_in_noise(10),
        programs::dining(5),
        programs::one_condition_large(),
    ]);
    // Names of strategies to restrict the table to; none is all. `--bench` is cargo's.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let names: Vec<&str> = AnyStrategy::NAMES
        .into_iter()
        .filter(|n| wanted.is_empty() || wanted.iter().any(|w| w == n))
        .collect();
    print!("{:18}{:>12}", "program", "portfolio");
    names.iter().for_each(|n| print!("{n:>12}"));
    println!();
    for program in all {
        let portfolio = mean(&program, &|seed| Box::new(Portfolio::new(seed, Limits::default())));
        print!("{:18}{portfolio:>12}", program.name);
        for name in &names {
            let make = |seed| AnyStrategy::by_name(name, seed, Limits::default()).expect(name);
            print!("{:>12}", mean(&program, &|seed| Box::new(make(seed))));
        }
        println!();
    }
}
