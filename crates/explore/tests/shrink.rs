//! Failures become as small as they can be, and are explained by the orderings that matter.

mod sim;

use raddle_explore::explain::{explain, nearest};
use raddle_explore::shrink::shrink;
use raddle_explore::{LogicalThread, Next, Op, OpKind, Order, Outcome, Step, Tail, Trace};
use sim::{Machine, Program, programs};

/// A failing execution under random scheduling, with the given seed or one after it.
fn failing(program: &Program, machine: &mut Machine, seed: u64) -> Trace {
    (seed..seed + 20_000)
        .map(|seed| machine.run(program, &Order::free(0, Tail::Random { seed })).0)
        .find(|trace| trace.outcome.is_failure())
        .expect("some random schedule fails")
}

#[test]
fn the_minimum_is_reached() {
    for (program, preemptions) in [
        (programs::lost_update(), 1),
        (programs::abba(), 1),
        (programs::check_then_act(), 1),
        (programs::reorder(3), 1),
        (programs::twostage(2), 1),
        (programs::dining(3), 1),
        (programs::flicker(), 2),
        (programs::semaphore_order(), 1),
        (programs::needle(3), 1),
    ] {
        for seed in [0, 1_000_000, 2_000_000] {
            let mut machine = Machine::new();
            let trace = failing(&program, &mut machine, seed);
            let outcome = trace.outcome;
            let shrunk = shrink(trace, 3_000, &mut |order| Some(machine.run(&program, order).0));
            let view = shrunk.trace.view();
            assert_eq!(view.preemptions(), preemptions, "{} from seed {seed}", program.name);
            assert!(shrunk.fewest_preemptions, "{}: {} executions", program.name, shrunk.executions);
            let (again, _) = machine.run(&program, &Order::replay(view.choices()));
            assert_eq!((again.outcome, again.divergence), (outcome, None), "what is left still fails");
        }
    }
}

/// Threads that wait by yielding, round after round: a random execution has hundreds of preemptions,
/// and one of them loses an update.
#[test]
fn hundreds_of_preemptions_become_few_in_few_executions() {
    let program = programs::yielding_rounds(60);
    for seed in [0, 1_000_000, 2_000_000] {
        let mut machine = Machine::new();
        let trace = failing(&program, &mut machine, seed);
        assert!(trace.view().preemptions() > 200, "{}", trace.view().preemptions());
        let outcome = trace.outcome;
        let shrunk = shrink(trace, 300, &mut |order| Some(machine.run(&program, order).0));
        let view = shrunk.trace.view();
        assert!(view.preemptions() <= 4, "{} preemptions from seed {seed}", view.preemptions());
        let (again, _) = machine.run(&program, &Order::replay(view.choices()));
        assert_eq!((again.outcome, again.divergence), (outcome, None), "what is left still fails");
    }
}

#[test]
fn the_budget_is_kept() {
    let program = programs::needle(10);
    let mut machine = Machine::new();
    let order = Order::free(0, Tail::Pct { seed: 4, depth: 3, length: 90 });
    let seeds =
        (0..2000).map(|seed| Order { tail: Tail::Pct { seed, depth: 3, length: 90 }, ..order.clone() });
    let trace =
        seeds.map(|o| machine.run(&program, &o).0).find(|t| t.outcome.is_failure()).expect("PCT finds it");
    for budget in [0, 1, 10, 100] {
        let before = machine.executed;
        let shrunk = shrink(trace.clone(), budget, &mut |order| Some(machine.run(&program, order).0));
        assert_eq!(machine.executed - before, shrunk.executions);
        assert!(shrunk.executions <= budget);
        assert!(shrunk.trace.outcome == trace.outcome);
    }
}

#[test]
fn nothing_is_executed_when_the_time_is_over() {
    let program = programs::yielding_rounds(20);
    let mut machine = Machine::new();
    let trace = failing(&program, &mut machine, 0);
    for time in [0, 7, 90] {
        let (mut asked, mut made) = (0, 0);
        let shrunk = shrink(trace.clone(), 1_000_000, &mut |order| {
            asked += 1;
            (made < time).then(|| {
                made += 1;
                machine.run(&program, order).0
            })
        });
        assert_eq!((asked, made, shrunk.executions), (time + 1, time, time));
        assert!(!shrunk.fewest_preemptions && shrunk.trace.outcome == trace.outcome);
    }
}

fn passing(program: &Program, machine: &mut Machine) -> Trace {
    let (trace, _) = machine.run(program, &Order::free(0, Tail::NonPreemptive { next: Next::Lowest }));
    assert!(!trace.outcome.is_failure());
    trace
}

#[test]
fn a_lost_update_is_two_writes_in_the_wrong_order() {
    let program = programs::lost_update();
    let mut machine = Machine::new();
    let trace = failing(&program, &mut machine, 0);
    let shrunk = shrink(trace, 3_000, &mut |order| Some(machine.run(&program, order).0));
    let pass = passing(&program, &mut machine);
    let explanation = explain(shrunk.trace.view(), pass.view());
    let [ordering] = explanation.orderings[..] else { panic!("{explanation:#?}") };
    assert_eq!((ordering.first.op.kind(), ordering.then.op.kind()), (OpKind::DataWrite, OpKind::DataWrite));
    assert_ne!(ordering.first.thread, ordering.then.thread);
    assert!(ordering.first.step < ordering.then.step);
    let initial = explanation.reads.iter().any(|r| r.from.is_none() && r.passing_from.is_some());
    assert!(initial, "one of the threads read the initial value: {explanation:#?}");
}

#[test]
fn a_reordering_is_a_read_before_a_write() {
    let program = programs::reorder(2);
    let mut machine = Machine::new();
    let trace = failing(&program, &mut machine, 0);
    let shrunk = shrink(trace, 3_000, &mut |order| Some(machine.run(&program, order).0));
    let pass = passing(&program, &mut machine);
    let explanation = explain(shrunk.trace.view(), pass.view());
    let found = explanation.orderings.iter().any(|o| {
        o.first.op.site == 2002 && o.then.op.site == 1002 // The checker reads b before a setter writes it.
    });
    assert!(found, "{explanation:#?}");
    assert!(explanation.orderings.len() <= 3, "few: {explanation:#?}");
}

/// A step that only the passing execution has, such as leaving a barrier last, is no reason to say
/// that the thread would have gone on.
#[test]
fn a_thread_that_has_ended_does_not_come_after_anything() {
    let (main, child) = (LogicalThread(0), LogicalThread(1));
    let trace = |steps: &[(LogicalThread, OpKind)]| Trace {
        steps: steps.iter().map(|(thread, kind)| Step::bare(*thread, Op::new(*kind, 1, 0))).collect(),
        wide: Vec::new(),
        outcome: Outcome::Passed,
        divergence: None,
    };
    let failing = trace(&[(child, OpKind::Exit), (main, OpKind::Join)]);
    let passing = trace(&[(child, OpKind::Yield), (child, OpKind::Exit), (main, OpKind::Join)]);
    let explanation = explain(failing.view(), passing.view());
    assert!(explanation.orderings.is_empty(), "{explanation:#?}");
}

#[test]
fn the_nearest_passing_execution_differs_least() {
    let program = programs::lost_update();
    let mut machine = Machine::new();
    let fail = failing(&program, &mut machine, 0);
    let near = passing(&program, &mut machine);
    // The same failing execution explains nothing, however near it is.
    let traces = [fail.clone(), near.clone()];
    assert_eq!(nearest(fail.view(), traces.iter().map(|t| t.view())), Some(1));
    assert_eq!(nearest(fail.view(), []), None);
    let itself = explain(fail.view(), fail.view());
    assert!(itself.orderings.is_empty() && itself.reads.is_empty());
}
