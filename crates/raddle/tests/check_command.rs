//! `raddle check` as a user meets it: paths, formats, exit status, selection, bounds.

mod common;

use common::check::{Checked, LOCKED, RACE};
use common::{Bench, refused, stderr};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("src/race.c", RACE);
    bench.file("src/locked.c", LOCKED);
    bench
}

#[test]
fn a_race_is_found_at_both_ends_and_the_status_says_so() {
    let checked = bench().check("src/race.c");
    assert_eq!(checked.status, 66);
    assert_eq!(checked.found(), ["data-race counter"]);
    let lines: Vec<i64> = checked.places(0).into_iter().map(|p| p.1).collect();
    assert!(lines.contains(&4) && lines.contains(&10), "{lines:?}");
    assert!(checked.places(0).iter().all(|p| p.0 == "src/race.c"));
    assert_eq!(checked.report["command"], "check");
    assert_eq!(checked.report["findings"][0]["confidence"], "suspected");
    assert!(checked.report["stats"]["seconds"].is_number());
    assert_eq!((checked.stat("files"), checked.stat("files_left_out")), (1, 0));
    assert!(checked.stat("steps") > 0);
}

#[test]
fn correct_code_ends_with_0_and_says_nothing_on_stderr() {
    let checked = bench().check("src/locked.c");
    assert_eq!((checked.status, checked.stderr.as_str()), (0, ""));
    assert_eq!(checked.found(), [""; 0]);
}

#[test]
fn a_suspicion_that_rests_on_a_guess_is_counted_and_listed_on_request() {
    let bench = Bench::new();
    bench.file("test_set_up.c", include_str!("../../../corpus/check/ok/test_barrier_of_a_set_up.c"));
    let usual = bench.check("test_set_up.c");
    assert_eq!((usual.status, usual.found().len(), usual.stat("guesses")), (0, 0, 1));
    let looked_at = usual.report["stats"]["looked_at"].to_string();
    assert!(looked_at.contains("1 suspicion rests on a guess: --all lists it"), "{looked_at}");
    let all = bench.check("--all test_set_up.c");
    assert_eq!((all.status, all.stat("guesses")), (66, 0));
    assert_eq!(all.found(), ["data-race expected"]);
    assert!(all.report["findings"][0]["notes"].to_string().contains("rests on a guess"));
}

#[test]
fn a_folder_without_a_path_is_the_current_one() {
    let bench = bench();
    for line in ["", ".", "src"] {
        let checked = bench.check(line);
        assert_eq!(checked.found(), ["data-race counter"], "{line}");
        assert_eq!(checked.stat("files"), 2);
        assert_eq!(checked.places(0)[0].0, "src/race.c");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let bench = bench();
    for i in 0..6 {
        bench.file(&format!("src/more{i}.c"), &RACE.replace("counter", &format!("counter{i}")));
    }
    let (one, four) = (bench.check("-j1 src"), bench.check("-j4 src"));
    assert_eq!(one.found().len(), 7);
    assert_eq!(one.report["findings"], four.report["findings"]);
    assert_eq!(one.stat("steps"), four.stat("steps"));
}

#[test]
fn every_format_goes_to_stdout_or_to_a_file() {
    let bench = bench();
    for (format, mark) in [
        ("text", "data race on `counter`"),
        ("json", "raddle.findings/1"),
        ("sarif", "\"2.1.0\""),
        ("junit", "<testsuites"),
        ("github", "::"),
        ("html", "<!DOCTYPE html>"),
        ("markdown", "## raddle check"),
        ("perfetto", "traceEvents"),
    ] {
        let output = bench.raddle(&format!("check --format {format} src/race.c")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.to_lowercase().contains(&mark.to_lowercase()), "{format}: {text}");
        assert_eq!(output.status.code(), Some(66), "{format}");
        let output = bench.raddle(&format!("check --format {format} -o out src/race.c")).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(66), 0), "{format}");
        assert!(
            std::fs::read_to_string(bench.path("out")).unwrap().to_lowercase().contains(&mark.to_lowercase())
        );
    }
}

#[test]
fn the_status_of_findings_can_be_chosen() {
    let bench = bench();
    assert_eq!(bench.check("--exit-code 3 src").status, 3);
    assert_eq!(bench.check("--fail-on suspected src").status, 66);
    // What the checker finds is suspected until a run confirms it.
    let checked = bench.check("--fail-on confirmed src");
    assert_eq!((checked.status, checked.found().len()), (0, 1));
}

#[test]
fn a_baseline_leaves_only_what_is_new() {
    let bench = bench();
    assert_eq!(bench.check("--write-baseline known.json src").status, 66);
    let checked = bench.check("--baseline known.json src");
    assert_eq!((checked.status, checked.stat("baseline")), (0, 1));
    bench.file("src/newer.c", &RACE.replace("counter", "newer"));
    let checked = bench.check("--baseline known.json src");
    assert_eq!((checked.status, checked.found()), (66, vec!["data-race newer".to_owned()]));
    // Lines above move; the finding is the same.
    bench.file("src/newer.c", "");
    bench.file("src/race.c", &format!("\n\n/* moved */\n{RACE}"));
    assert_eq!(bench.check("--baseline known.json src").status, 0);
}

#[test]
fn suppressions_are_those_of_run() {
    let bench = bench();
    bench.file("rules", "race:^counter$\n");
    let checked = bench.check("--suppressions rules src");
    assert_eq!((checked.status, checked.stat("suppressed")), (0, 1));
}

#[test]
fn a_comment_with_a_reason_ignores_a_line_also_in_a_header() {
    let bench = Bench::new();
    let line = "    counter++;\n    return arg;";
    let ignored = "    counter++; // raddle: ignore it is a statistic\n    return arg;";
    bench.file("a.c", &RACE.replace(line, ignored));
    let checked = bench.check("a.c");
    assert_eq!((checked.status, checked.stat("ignored")), (0, 1));
    bench.file("a.c", &RACE.replace(line, &ignored.replace("it is a statistic", "")));
    assert_eq!(bench.check("a.c").status, 66, "without a reason it does not count");

    let (head, tail) = RACE.split_at(RACE.find("int main").unwrap());
    bench.file("work.h", &head.replace(line, ignored));
    bench.file("a.c", &format!("#include \"work.h\"\n{tail}"));
    let checked = bench.check("a.c");
    assert_eq!((checked.status, checked.stat("ignored")), (0, 1));
}

#[test]
fn files_of_one_program_are_linked_and_other_mains_stay_apart() {
    let bench = Bench::new();
    bench.file("lib/shared.c", "int shared; void bump(void) { shared++; }\n");
    let user = "#include <pthread.h>\nvoid bump(void);\nstatic void *work(void *a) { bump(); return a; }\n";
    let racy = "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); bump(); pthread_join(t, 0); return 0; }\n";
    let fine = "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); bump(); return 0; }\n";
    bench.file("one.c", &format!("{user}{fine}"));
    bench.file("two.c", &format!("{user}{fine}"));
    assert_eq!(bench.check(".").found(), [""; 0]);
    bench.file("two.c", &format!("{user}{racy}"));
    let checked = bench.check(".");
    assert_eq!(checked.found(), ["data-race shared"]);
    assert!(checked.places(0).iter().all(|p| p.0 == "lib/shared.c"), "{:?}", checked.places(0));
}

#[test]
fn bounds_are_kept() {
    let bench = Bench::new();
    bench.file(
        "loop.c",
        "#include <pthread.h>\nstatic void *w(void *a) { for (;;); }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); for (;;); }\n",
    );
    let checked = bench.check("--steps 1000 --total-steps 20000 loop.c");
    let steps = checked.stat("steps");
    assert!((1000..=22_000).contains(&steps), "{steps}");
    assert!(bench.check("--total-steps 50000 loop.c").stat("steps") > steps);
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let bench = bench();
    let report = |line: &str| {
        let mut report = bench.check(line).report;
        report["stats"]["seconds"] = 0.into();
        report
    };
    assert_eq!(report("--seed 7 src"), report("--seed 7 src"));
    assert_ne!(report("--seed 7 src")["stats"]["steps"], report("--seed 8 src")["stats"]["steps"]);
}

#[test]
fn what_cannot_be_done_is_refused_in_one_sentence() {
    let bench = bench();
    bench.file("empty/readme", "");
    for (line, part) in [
        ("check nowhere", "there is no nowhere"),
        ("check empty", "there is no C or C# file in empty"),
        ("check --steps 0 src", "--steps"),
        ("check --heap 0 src", "--heap"),
        ("check --format xml src", "xml"),
        ("check --baseline nowhere src", "baseline"),
        ("check --compile-commands nowhere src", "nowhere"),
        ("check --preprocessor ./nowhere src", "nowhere"),
        ("check -o empty src", "it is a folder"),
    ] {
        let text = refused(&mut bench.raddle(line));
        assert!(text.contains(part), "{line}: {text}");
    }
}

#[test]
fn the_help_names_bounds_and_exit_status() {
    let text = bench().ok("check --help");
    for part in
        ["--steps", "--total-steps", "--heap", "--seed", "--baseline", "Exit status", "raddle: ignore"]
    {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn a_closed_pipe_is_no_crash() {
    let bench = bench();
    let mut child = bench
        .raddle("check --format html src")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(66), ""));
}

#[test]
fn the_paper_s_cases_are_accurate() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/check");
    let bench = Bench::new();
    let mut cases = 0;
    for (folder, expected) in [("bad", 66), ("ok", 0)] {
        let mut paths: Vec<_> =
            std::fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.retain(|p| p.file_name().unwrap().to_string_lossy().starts_with("paper_"));
        for path in paths {
            let mut raddle = bench.raddle("check --format json");
            let checked = Checked::of(&raddle.arg(&path).output().unwrap());
            assert_eq!(checked.status, expected, "{}: {:?}", path.display(), checked.found());
            cases += 1;
        }
    }
    assert_eq!(cases, 10);
}
