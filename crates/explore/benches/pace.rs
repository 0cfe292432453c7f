//! What a choice costs in the target and a step in the driver: `cargo bench -p raddle-explore`.
//!
//! The driver must keep up with 60,000 executions a second of 55 steps: 300 ns a step, of which a
//! strategy should take a fifth.

#[path = "../tests/sim/mod.rs"]
mod sim;

use std::hint::black_box;
use std::time::Instant;

use raddle_explore::{
    AnyStrategy, Course, Limits, LogicalThread, Next, Op, OpKind, Order, Pilot, Portfolio, Step, Strategy,
    Tail, ThreadSet, Trace, TraceBuf, View,
};
use sim::{Machine, Program, programs};

/// Nanoseconds for one of `n`, the best of five.
fn best_of(n: u64, mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64 / n as f64
    };
    (0..5).map(|_| once(&mut run)).fold(f64::INFINITY, f64::min)
}

fn choices(threads: u16) {
    let enabled: ThreadSet = (0..threads).map(LogicalThread).collect();
    let none = ThreadSet::new();
    let pending: Vec<Op> = (0..threads).map(|t| Op::new(OpKind::Lock, u64::from(t % 2 + 1) * 8, 1)).collect();
    let view = View { enabled: &enabled, reluctant: &none, pending: &pending };
    let tails = [
        ("nonpreemptive", Tail::NonPreemptive { next: Next::Lowest }),
        ("random", Tail::Random { seed: 1 }),
        ("pct", Tail::Pct { seed: 1, depth: 3, length: 55 }),
        ("pos", Tail::Pos { seed: 1 }),
        ("surw", Tail::Surw { seed: 1, object: 0 }),
        ("constrained", Tail::Constrained { seed: 1 }),
    ];
    let mut pilot = Box::new(Pilot::new());
    let mut steps = vec![Step::default(); 55];
    let mut wide = vec![0; 55 * 64];
    for (name, tail) in tails {
        let executions = 20_000 / u64::from(threads);
        let ns = best_of(executions * 55, || {
            for _ in 0..executions {
                pilot.begin(&Course::tail(tail));
                let mut trace = TraceBuf::new(&mut steps, &mut wide);
                for _ in 0..55 {
                    black_box(pilot.choose(&[], black_box(&view)));
                    pilot.record(&view, &mut trace).expect("there is room");
                }
            }
        });
        println!("choice and record, {threads:3} threads, {name:14} {ns:7.1} ns");
    }
}

/// The executions that a strategy asks for, made beforehand so that only the strategy is timed.
fn recorded(program: &Program, mut strategy: impl Strategy, n: usize) -> Vec<(Order, Trace)> {
    let mut machine = Machine::new();
    let mut made = Vec::new();
    while made.len() < n
        && let Some(order) = strategy.next()
    {
        let (trace, _) = machine.run(program, &order);
        strategy.observe(&order, trace.view());
        made.push((order, trace));
    }
    made
}

fn observations(name: &str, make: impl Fn() -> Box<dyn Strategy>, made: &[(Order, Trace)]) {
    let steps: usize = made.iter().map(|(_, t)| t.steps.len()).sum();
    let ns = best_of(steps as u64, || {
        let mut strategy = make();
        for (order, trace) in made {
            black_box(strategy.next());
            strategy.observe(order, trace.view());
        }
    });
    let mean = steps / made.len().max(1);
    println!("next and observe, {name:12} {ns:7.1} ns a step ({} executions of {mean} steps)", made.len());
}

fn main() {
    choices(3);
    choices(100);
    let n = 20_000;
    let small = programs::locked_counter(3, 5);
    for name in AnyStrategy::NAMES {
        let make = || AnyStrategy::by_name(name, 1, Limits::default()).expect(name);
        observations(name, || Box::new(make()), &recorded(&small, make(), n));
    }
    let make = || Portfolio::new(1, Limits::default());
    observations("portfolio", || Box::new(make()), &recorded(&small, make(), n));
    // Long executions, and many threads.
    let long = programs::locked_counter(4, 200);
    observations("long", || Box::new(make()), &recorded(&long, make(), 200));
    let many = programs::twostage(99);
    observations("many", || Box::new(make()), &recorded(&many, make(), 200));
}
