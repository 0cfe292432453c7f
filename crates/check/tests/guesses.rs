//! Suspicions that no run has shown. Each program of `corpus/check/guess` has one, with its ends on
//! the lines that say so, and no finding; the correct ones beside them in `ok/` have none.

use std::path::Path;

use raddle_check::{CheckOptions, CheckOutcome, Source, check_sources};

fn corpus() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/check")
}

/// Programs whose guess is that an unknown function changes an object.
fn is_about_a_change(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("changed_"))
}

fn check(path: &Path) -> (String, CheckOutcome) {
    let text = std::fs::read_to_string(path).expect("a program of the corpus");
    let source = Source::new(&path.to_string_lossy(), text.clone().into_bytes());
    (text, check_sources(&[source], &CheckOptions { guards: true, ..CheckOptions::default() }))
}

#[test]
fn one_guess_with_its_ends_where_the_program_says() {
    let programs = std::fs::read_dir(corpus().join("guess")).expect("the programs");
    let mut seen = 0;
    for program in programs.flatten().map(|p| p.path()) {
        if is_about_a_change(&program) {
            continue;
        }
        seen += 1;
        let (text, out) = check(&program);
        let name = program.display();
        assert!(out.findings.is_empty(), "{name}: {:?}", out.findings);
        let [guess] = out.guesses.as_slice() else { panic!("{name}: {:?}", out.guesses) };
        let lines: Vec<u32> =
            (1..).zip(text.lines()).filter(|l| l.1.contains("// expect: ")).map(|l| l.0).collect();
        let mut ends: Vec<u32> = guess.accesses.iter().filter_map(|a| a.stack.first()?.line).collect();
        ends.sort_unstable();
        assert_eq!(ends, lines, "{name}: {}", guess.message);
        let [bare, guarded] = guess.accesses.as_slice() else { panic!("{name}: two ends") };
        assert!(bare.locks.is_empty() && !guarded.locks.is_empty(), "{name}");
    }
    assert!(seen >= 2, "{seen} programs");
}

#[test]
fn no_guess_where_the_lock_is_held_or_not_needed() {
    for name in [
        "guard_in_every_function.c",
        "guard_behind_a_message.c",
        "guard_not_needed_yet.c",
        "guard_not_needed_at_load.c",
        "guard_of_another_type.c",
        "guard_released_by_another.c",
    ] {
        let (_, out) = check(&corpus().join("ok").join(name));
        assert!(out.guesses.is_empty() && out.findings.is_empty(), "{name}: {:?}", out.guesses);
    }
}

#[test]
fn what_needs_that_an_unknown_function_changed_a_shared_object_is_a_guess() {
    let programs = std::fs::read_dir(corpus().join("guess")).expect("the programs");
    let mut seen = 0;
    for program in programs.flatten().map(|p| p.path()).filter(|p| is_about_a_change(p)) {
        seen += 1;
        let (text, out) = check(&program);
        let name = program.display();
        assert!(out.findings.is_empty(), "{name}: {:?}", out.findings);
        assert!(!out.guesses.is_empty(), "{name}");
        let lines: Vec<u32> =
            (1..).zip(text.lines()).filter(|l| l.1.contains("// expect: ")).map(|l| l.0).collect();
        for guess in &out.guesses {
            let mut ends = guess.accesses.iter().filter_map(|a| a.stack.first()?.line);
            assert!(ends.all(|end| lines.contains(&end)), "{name}: {}", guess.message);
        }
    }
    assert!(seen >= 1, "{seen} programs");
}
