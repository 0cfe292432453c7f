//! What bad input gets: a bounded answer, a sentence for each file left out, never a crash, and
//! nothing is run that a project names.

mod common;

use common::check::{LOCKED, RACE};
use common::{Bench, refused};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;

#[test]
fn binary_files_are_left_out_and_the_rest_is_checked() {
    let bench = Bench::new();
    bench.file("race.c", RACE);
    bench.file("picture.c", "\u{7f}ELF\0\0\0\u{1}");
    let checked = bench.check(".");
    assert_eq!((checked.status, checked.found().len()), (66, 1));
    assert_eq!((checked.stat("files"), checked.stat("files_left_out")), (2, 1));
    checked.assert_says("picture.c is a binary file");
    assert!(checked.report["stats"]["left_out"].as_str().unwrap().contains("picture.c is a binary file"));
}

#[test]
fn when_every_file_is_left_out_that_is_a_failure_with_a_report() {
    let bench = Bench::new();
    bench.file("picture.c", "\0");
    let checked = bench.check("picture.c");
    assert_eq!((checked.status, checked.stat("files_left_out")), (2, 1));
    checked.assert_says("nothing was checked: every file was left out");
}

#[test]
fn fifty_megabytes_are_left_out_unless_the_bound_is_raised() {
    let bench = Bench::new();
    bench.file("race.c", RACE);
    let line = "static int f_generated(int x) { return x * 2 + 1; }\n";
    bench.file("big.c", &line.repeat((50 << 20) / line.len() + 1));
    let checked = bench.check(".");
    assert_eq!((checked.stat("files_left_out"), checked.found().len()), (1, 1));
    checked.assert_says("big.c is 50 MB; files above 16 MB are left out");
    let small = bench.check("--largest-file 100 .");
    assert_eq!((small.status, small.stat("files_left_out")), (2, 2));
}

#[test]
fn includes_in_a_cycle_end() {
    let bench = Bench::new();
    bench.file("a.h", "#include \"b.h\"\n#include \"b.h\"\n");
    bench.file("b.h", "#include \"a.h\"\n#include \"a.h\"\n");
    bench.file("self.c", &format!("{RACE}#include \"a.h\"\n"));
    bench.file("own.c", "#include \"own.c\"\n");
    let checked = bench.check(".");
    checked.assert_says("self.c checked only in part: includes nest deeper than");
    checked.assert_says("own.c checked only in part");
    assert_eq!(checked.found(), ["data-race counter"], "what stands before the cycle is checked");
}

#[test]
fn endless_macros_end() {
    let bench = Bench::new();
    let doubling: String = (1..60).map(|i| format!("#define M{i} M{} M{}\n", i - 1, i - 1)).collect();
    bench.file("macro.c", &format!("{RACE}#define M0 int x;\n{doubling}M59\n"));
    bench.file("itself.c", "#define F(x) F(F(x)) F(x)\nint y = F(F(F(1)));\n");
    let checked = bench.check(".");
    checked.assert_says("macro.c checked only in part");
    assert_eq!(checked.found(), ["data-race counter"]);
}

#[test]
fn links_that_loop_or_lead_away_are_named() {
    let bench = Bench::new();
    bench.file("src/race.c", RACE);
    symlink("..", bench.path("src/up")).unwrap();
    symlink("loop.c", bench.path("src/loop.c")).unwrap();
    symlink("/usr", bench.path("src/away")).unwrap();
    let checked = bench.check("src");
    assert_eq!(checked.found(), ["data-race counter"]);
    assert_eq!((checked.stat("files"), checked.stat("files_left_out")), (2, 1));
    checked.assert_says("src/loop.c is a link that leads to itself");
    checked.assert_says("src/up: is a link that leads out of the folder");
    checked.assert_says("src/away: is a link that leads out of the folder");
    bench.check(".").assert_says("src/up: is a link to a folder that it lies in");
}

#[test]
fn pipes_and_devices_are_not_opened() {
    let bench = Bench::new();
    bench.file("race.c", &format!("{RACE}#include \"pipe.h\"\n#include \"/dev/zero\"\n"));
    for name in ["pipe.c", "pipe.h"] {
        assert!(std::process::Command::new("mkfifo").arg(bench.path(name)).status().unwrap().success());
    }
    let checked = bench.check(".");
    assert_eq!(checked.found(), ["data-race counter"]);
    checked.assert_says("pipe.c is not a regular file");
}

#[test]
fn half_a_program_is_still_checked() {
    let bench = Bench::new();
    bench.file("half.c", &format!("#include <no/such/header.h>\nstruct broken {{ int a;\n}};\nunknown_t x = {{{{\n;\n{RACE}\nvoid f( {{ if (\n"));
    assert_eq!(bench.check("half.c").found(), ["data-race counter"]);
}

#[test]
fn random_bytes_never_crash_it() {
    let bench = Bench::new();
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    for i in 0..20 {
        let bytes: Vec<u8> = (0..3000)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                (x % 255) as u8 + 1
            })
            .collect();
        std::fs::write(bench.path(&format!("{i}.c")), bytes).unwrap();
    }
    let output = bench.raddle("check --format json .").output().unwrap();
    assert_eq!(output.status.signal(), None);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("places that could not be parsed"), "{said}");
    assert!(said.contains("nothing was checked: of 0 functions none is main"), "{said}");
}

#[test]
fn what_is_not_c_or_has_no_entry_is_not_silently_clean() {
    let bench = Bench::new();
    for name in ["notes.txt", "lib.rs", "main.go"] {
        bench.file(name, "int main(void) { return 0; }\n");
        let output = bench.raddle(&format!("check {name}")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains("is neither C nor C# by its name"), "{said}");
    }
    bench.file("quiet.c", "static int twice(int a) { return 2 * a; }\n");
    let output = bench.raddle("check quiet.c").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("of 1 function none is main"), "{said}");
    // No function is an entry, but --all has a suspicion without one, ignored or not.
    let bare = include_str!("../../../corpus/check/guess/guard_missing_in_one_function.c");
    let ignored = bare.replace("--; // expect", "--; // raddle: ignore one thread pops");
    for (text, arguments, status) in [(bare, "", 2), (bare, "--all", 66), (&*ignored, "--all", 0)] {
        bench.file("queue.c", text);
        let output = bench.raddle(&format!("check {arguments} queue.c")).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments}: {output:?}");
    }
}

#[test]
fn a_report_says_what_was_looked_at() {
    let bench = Bench::new();
    bench.file("race.c", &format!("{RACE}\nint never_called(void) {{ return 1; }}\n"));
    let text = bench.raddle("check race.c").output().unwrap();
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("looked at 1 of 1 file, "), "{text}");
    assert!(text.contains(", 1 entry, 1 of 1 thread start"), "{text}");
    let json = bench.raddle("check --format json race.c").output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let stat = |key: &str| json["stats"][key].as_u64();
    assert_eq!((stat("thread_starts"), stat("thread_starts_reached")), (Some(1), Some(1)));
    assert!(stat("functions_reached") < stat("functions"), "{json}");
}

/// A project whose race can only be seen with `-DRACY` and the header in `inc`.
fn project(bench: &Bench, flags: &str) {
    bench.file("inc/work.h", &RACE[..RACE.find("int main").unwrap()]);
    let main = &RACE[RACE.find("int main").unwrap()..];
    bench.file("src/a.c", &format!("#ifdef RACY\n#include <work.h>\n{main}#endif\n"));
    let folder = bench.path("");
    let entry = serde_json::json!([{ "directory": folder.join("build"), "file": "../src/a.c",
        "command": format!("/usr/bin/cc {flags} -c ../src/a.c -o a.o") }]);
    bench.file("build/compile_commands.json", &entry.to_string());
}

#[test]
fn macros_and_folders_of_compile_commands_are_used() {
    let bench = Bench::new();
    project(&bench, "-I../inc");
    assert_eq!(bench.check("src").found(), [""; 0]);
    project(&bench, "-I../inc -DRACY -O2 -Wall");
    for line in ["src", "--raw src", "--preprocessor gcc src/a.c"] {
        let checked = bench.check(line);
        assert_eq!(checked.found(), ["data-race counter"], "{line}");
        assert_eq!(checked.stat("files_preprocessed"), i64::from(!line.contains("raw")), "{line}");
        let places = checked.places(0);
        assert!(places.iter().any(|p| p.0 == "src/a.c" && p.1 == 6), "{line}: {places:?}");
        assert!(places.iter().any(|p| p.0.ends_with("inc/work.h") && p.1 == 4), "{line}: {places:?}");
    }
}

#[test]
fn files_before_the_source_are_read() {
    let bench = Bench::new();
    project(&bench, "-I../inc -include config.h");
    bench.file("build/config.h", "#define RACY 1\n");
    assert_eq!(bench.check("src").found(), ["data-race counter"]);
}

#[test]
fn nothing_that_compile_commands_names_is_run() {
    let bench = Bench::new();
    let evil = bench.script("evil", "#!/bin/sh\ntouch \"$(dirname \"$0\")/was-run\"\nexit 0\n");
    bench.file("args", "-fplugin=./evil.so");
    bench.file("my.specs", "*cpp:\n%(evil)\n");
    bench.script("bin/cc1", "#!/bin/sh\ntouch \"$(dirname \"$0\")/../was-run\"\n");
    let dangerous = "-B../bin/ -fplugin=../evil.so -specs=../my.specs -wrapper ../evil @../args -Xclang -load \
        --sysroot=/nowhere -no-integrated-cpp -o ../written.o -MD -MF ../written.d -dumpdir ../x -save-temps";
    project(&bench, &format!("-I../inc -DRACY {dangerous}"));
    let json = std::fs::read_to_string(bench.path("build/compile_commands.json")).unwrap();
    bench.file("build/compile_commands.json", &json.replace("/usr/bin/cc", &evil.display().to_string()));
    let before = tree(&bench);
    let checked = bench.check("src");
    assert_eq!(checked.found(), ["data-race counter"]);
    checked.assert_says("flags that could run or load something were not used:");
    assert_eq!(tree(&bench), before, "nothing was written");
}

fn tree(bench: &Bench) -> String {
    common::succeed(std::process::Command::new("find").arg(bench.path("")).arg("-print"))
}

#[test]
fn a_compiler_beside_the_project_is_not_taken() {
    let bench = Bench::new();
    project(&bench, "-I../inc -DRACY");
    bench.script("gcc", "#!/bin/sh\ntouch was-run\n");
    let path = format!(".:{}", std::env::var("PATH").unwrap());
    let output = bench.raddle("check src").env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(66));
    assert!(!bench.path("was-run").exists());
}

#[test]
fn a_compile_commands_that_lies_is_passed_over() {
    let bench = Bench::new();
    bench.file("src/race.c", RACE);
    let lies = r#"[{"directory": "/no/such", "file": "gone.c", "command": "cc gone.c"},
        {"directory": "..", "file": "src/race.c", "command": "cc -std=c99@x -include /no/such.h -I/proc/self/mem src/race.c"},
        {"directory": 3, "file": null}, "cc", null]"#;
    for text in [lies, "", "{}", "[[[[", "\0\0"] {
        bench.file("build/compile_commands.json", text);
        let checked = bench.check("src");
        assert_eq!(checked.found(), ["data-race counter"], "{text}");
        assert!(!checked.stderr.is_empty(), "{text}");
    }
    bench.file("given.json", "{");
    let text = refused(&mut bench.raddle("check --compile-commands given.json src"));
    assert!(text.contains("given.json"), "{text}");
}

#[test]
fn a_preprocessor_that_writes_without_end_is_given_up() {
    let bench = Bench::new();
    project(&bench, "-I../inc -DRACY");
    let endless = bench.script("endless", "#!/bin/sh\nexec yes 'int x;'\n");
    let checked = bench.check_through(&endless, "src");
    assert_eq!(checked.found(), ["data-race counter"], "read as it is");
    checked.assert_says("no file could be preprocessed; all were read as they are");
}

#[test]
fn the_corpus_gives_the_same_through_a_compiler() {
    let bench = Bench::new();
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/check");
    let mut entries = Vec::new();
    for name in [
        "bad/deadlock_ab_ba.c",
        "bad/cond_lost_wakeup.c",
        "bad/c11_counter.c",
        "bad/omp_sum.c",
        "bad/sem_deadlock.c",
        "bad/signal_handler_counter.c",
        "ok/rwlock.c",
        "ok/omp_reduction.c",
        "ok/thread_pool.c",
    ] {
        let text = std::fs::read_to_string(corpus.join(name)).unwrap();
        bench.file(name, &text);
        entries
            .push(serde_json::json!({ "directory": "..", "file": name, "command": "cc -fopenmp -pthread" }));
    }
    let raw = bench.check(".");
    assert_eq!(raw.stat("files_preprocessed"), 0);
    bench.file("build/compile_commands.json", &serde_json::Value::from(entries).to_string());
    let through = bench.check(".");
    assert_eq!(through.stat("files_preprocessed"), 9, "{}", through.stderr);
    assert_eq!(raw.found(), through.found());
    assert_eq!(raw.found().len(), 6, "{:?}", raw.found());
}

#[test]
fn a_locked_program_stays_silent_through_a_compiler() {
    let bench = Bench::new();
    bench.file("a.c", LOCKED);
    bench.file("compile_commands.json", r#"[{"directory": ".", "file": "a.c", "command": "cc -c a.c"}]"#);
    let checked = bench.check("a.c");
    assert_eq!((checked.status, checked.stat("files_preprocessed")), (0, 1), "{}", checked.stderr);
}

#[test]
fn a_time_limit_ends_the_check_and_the_report_says_so() {
    let bench = Bench::new();
    bench.file("race.c", RACE);
    bench.file("other.c", RACE);
    let checked = bench.check("--seconds 0.000001 .");
    assert_eq!(checked.status, 2);
    checked.assert_says("race.c was not read: the time limit (--seconds) had passed");
    let looked = checked.report["stats"]["looked_at"].as_str().unwrap();
    assert!(looked.contains("0 of 2 files"), "{looked}");
    let whole = bench.check("--seconds 100000 .");
    assert_eq!((whole.status, whole.stat("programs"), whole.stat("programs_not_checked")), (66, 2, 0));
    let looked = whole.report["stats"]["looked_at"].as_str().unwrap();
    assert!(!looked.contains("time limit"), "{looked}");
}
