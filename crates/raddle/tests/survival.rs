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
    for (signal, number) in [(Signal::TERM, 15), (Signal::HUP, 1), (Signal::INT, 2), (Signal::QUIT, 3)] {
        let bench = Bench::with("race");
        let child = bench.start("", &["./race", "wait"]);
        kill_process(pid(&child), signal).unwrap();
        let outcome = bench.outcome(child.wait_with_output().unwrap());
        outcome.assert_races(&["counter"]);
        assert_eq!(outcome.stat("target_status"), 128 + number);
        assert!(outcome.stderr.contains("this is what was seen until then"), "{}", outcome.stderr);
        assert_eq!(outcome.report["stats"]["interrupted"], true);
    }
}

/// It does not end by what it is asked for; after the third request it is made to.
#[test]
fn a_target_that_ignores_requests_to_end_is_killed_by_the_third() {
    let bench = Bench::new();
    bench.build_text(
        "deaf",
        "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n\
        int main(void) { signal(SIGTERM, SIG_IGN); puts(\"ready\"); fflush(stdout); for (;;) pause(); }\n",
    );
    let mut child = bench
        .run_command("--format json -o report.json", &["./deaf"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    while child.try_wait().unwrap().is_none() {
        kill_process(pid(&child), Signal::TERM).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let outcome = bench.outcome(child.wait_with_output().unwrap());
    assert_eq!((outcome.status, outcome.stat("target_status")), (128 + 9, 128 + 9), "{}", outcome.stderr);
}

/// `daemon(3)` forks inside the C library. What is left behind is named.
#[test]
fn a_daemon_is_known_and_named() {
    let bench = Bench::new();
    let text = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <unistd.h>\nstatic int counter;\n\
        static void *add(void *p) { counter++; return p; }\n\
        int main(void) { if (daemon(1, 0)) return 1; alarm(120);\n\
            pthread_t t; pthread_create(&t, 0, add, 0); pthread_join(t, 0); for (;;) pause(); }\n";
    bench.build_text("goes", text);
    let outcome = bench.run("", &["./goes"]);
    assert_eq!((outcome.status, outcome.stat("processes_left")), (0, 1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1 watched process still runs"), "{}", outcome.stderr);
    let (_, number) = outcome.stderr.split_once("/goes (process ").expect("its name and number");
    let number = number.split(')').next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(number).unwrap(), Signal::KILL).unwrap();
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
