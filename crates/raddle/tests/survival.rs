//! However a target ends, what was found before it is told.

mod common;

use common::Bench;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::process::Child;

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

#[track_caller]
fn race_then(then: &[&str], target_status: i64) {
    let bench = Bench::with("race");
    let command: Vec<&str> = std::iter::once(&"./race").chain(then).copied().collect();
    let outcome = bench.run("", &command);
    outcome.assert_races(&["counter"]);
    assert_eq!(outcome.stat("target_status"), target_status);
}

#[test]
fn abort() {
    race_then(&["abort"], 128 + 6);
}

#[test]
fn exit_without_handlers() {
    race_then(&["_exit"], 3);
}

#[test]
fn a_bad_access() {
    race_then(&["segv"], 128 + 11);
}

#[test]
fn kill_9() {
    race_then(&["kill"], 128 + 9);
    race_then(&["kill-in-thread"], 128 + 9);
}

#[test]
fn exec_of_a_program_that_is_not_instrumented() {
    race_then(&["exec", "/bin/sh", "-c", "exit 4"], 4);
}

#[test]
fn exec_of_an_instrumented_program() {
    let bench = Bench::with("race");
    bench.build("heap");
    let outcome = bench.run("", &["./race", "exec", "./heap"]);
    assert_eq!(outcome.status, 66);
    assert_eq!(outcome.findings().len(), 2, "one of each: {:#}", outcome.report["findings"]);
    assert_eq!(outcome.stat("processes"), 2);
}

#[test]
fn children_of_fork_each_have_their_race() {
    let bench = Bench::with("forks");
    let outcome = bench.run("", &["./forks"]);
    outcome.assert_races(&["first", "parent", "second"]);
    assert_eq!(outcome.stat("processes"), 3);
}

#[test]
fn exit_while_threads_run() {
    let bench = Bench::with("running");
    let outcome = bench.run("", &["./running"]);
    outcome.assert_races(&["counter"]);
    assert_eq!(outcome.stat("target_status"), 7);
}

#[test]
fn a_signal_to_the_driver_is_passed_on() {
    for (signal, number) in [(Signal::TERM, 15), (Signal::HUP, 1)] {
        let bench = Bench::with("race");
        let child = bench.start("", &["./race", "wait"]);
        kill_process(pid(&child), signal).unwrap();
        let outcome = bench.outcome(child.wait_with_output().unwrap());
        outcome.assert_races(&["counter"]);
        assert_eq!(outcome.stat("target_status"), 128 + number);
    }
}

/// The terminal sends the signal to everybody in the foreground.
#[test]
fn control_c() {
    let bench = Bench::with("race");
    let child = bench.start("", &["./race", "wait"]);
    kill_process_group(pid(&child), Signal::INT).unwrap();
    let outcome = bench.outcome(child.wait_with_output().unwrap());
    outcome.assert_races(&["counter"]);
    assert_eq!(outcome.stat("target_status"), 128 + 2);
}

#[test]
fn control_c_in_a_tree() {
    let bench = Bench::with("race");
    let child = bench.start("", &["sh", "-c", "./race wait; exit 1"]);
    kill_process_group(pid(&child), Signal::INT).unwrap();
    bench.outcome(child.wait_with_output().unwrap()).assert_races(&["counter"]);
}
