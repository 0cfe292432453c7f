//! Where `raddle explore` says that it is complete, the program can end in no other way than those
//! it has seen: random racy programs in C and in Rust, held against brute force at the granularity
//! of single accesses.

mod common;
mod racy;

use std::collections::BTreeSet;
use std::ops::Range;

use common::{Bench, succeed};
use racy::Program;

/// The strategies that claim it.
const STRATEGIES: [&str; 4] = ["portfolio", "preemption", "delay", "dfs"];

const SEEDS: &str = "RADDLE_COMPLETE_SEEDS";

/// Why no search of racy machine code is complete. If it is the only reason, all interleavings have
/// been made.
const MACHINE_CODE: &str = "threads access the same memory without synchronisation, machine code does not say whether by \
     atomic operations, and results that no interleaving has were not tried";

/// Explores a program with each strategy. What the searches claimed: `complete`, each of them
/// rightly, or why they are not.
fn check(bench: &Bench, program: &Program, text: &str) -> Vec<String> {
    let expected = program.outcomes();
    let mut claims = Vec::new();
    for (i, strategy) in STRATEGIES.iter().enumerate() {
        bench.file("outcomes", "");
        let options = format!("--strategy {strategy} --seed {i} --schedules 2000");
        let found = bench.explore(&options, &["./racy"]);
        let seen: BTreeSet<u8> = std::fs::read(bench.path("outcomes")).unwrap().into_iter().collect();
        let told = format!("{strategy}: {}\n{text}", found.report["stats"]);
        assert!(found.kinds().is_empty() && found.stat("fork") == false, "{told}");
        assert!(seen.is_subset(&expected), "{seen:?} of {expected:?}\n{told}");
        let why = found.report["stats"]["not_complete"].as_str();
        if found.stat("exhausted") == true || why == Some(MACHINE_CODE) {
            assert_eq!(seen, expected, "{told}");
            claims.push("complete".into());
        } else {
            claims.push(why.unwrap_or("not at its end").into());
        }
    }
    claims
}

/// A search that claims nothing shows nothing. Most of the usual programs are small enough.
fn most_are_complete(claims: &[String]) {
    let complete = claims.iter().filter(|c| *c == "complete").count();
    println!("{complete} of {} searches were complete", claims.len());
    let wanted = if std::env::var_os(SEEDS).is_some() { 0 } else { claims.len() / 2 };
    assert!(complete > wanted, "{claims:#?}");
}

/// The seeds of the programs. `RADDLE_COMPLETE_SEEDS=100..150` asks for others, and more of them.
fn seeds(usual: Range<u64>) -> Range<u64> {
    let Ok(asked) = std::env::var(SEEDS) else { return usual };
    let (from, to) = asked.split_once("..").expect("RADDLE_COMPLETE_SEEDS is FROM..TO");
    from.parse().expect("a number")..to.parse().expect("a number")
}

fn c(compiler: &str, usual: Range<u64>) {
    let bench = Bench::new();
    let mut claims = Vec::new();
    for seed in seeds(usual) {
        let program = Program::random(seed);
        let text = program.c();
        let file = bench.file("racy.c", &text);
        let mut build = bench.raddle(&format!("cc --use {compiler} -g -O0 -pthread"));
        succeed(build.arg(file).arg("-o").arg(bench.path("racy")));
        claims.extend(check(&bench, &program, &text));
    }
    most_are_complete(&claims);
}

#[test]
fn racy_programs_in_c() {
    c("gcc", 0..5);
}

#[test]
fn racy_programs_in_c_by_clang() {
    c("clang-19", 8..11);
}

#[test]
fn racy_programs_in_rust() {
    let bench = Bench::new();
    let mut claims = Vec::new();
    for seed in seeds(12..15) {
        let program = Program::random(seed);
        let text = program.rust();
        let file = bench.file("racy.rs", &text);
        let mut build = bench.raddle("rustc --edition 2021 -g");
        succeed(build.arg(file).arg("-o").arg(bench.path("racy")));
        claims.extend(check(&bench, &program, &text));
    }
    most_are_complete(&claims);
}

/// Without optimisation the accesses of the machine code are those of the source.
#[test]
fn racy_programs_in_machine_code() {
    let bench = Bench::new();
    let mut claims = Vec::new();
    for seed in seeds(16..20) {
        let program = Program::random(seed);
        let text = program.c();
        let file = bench.file("racy.c", &text);
        let mut build = bench.command("gcc");
        succeed(build.args(["-g", "-O0", "-pthread"]).arg(file).arg("-o").arg(bench.path("racy")));
        claims.extend(check(&bench, &program, &text));
    }
    most_are_complete(&claims);
}
