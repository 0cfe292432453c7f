//! What bad input gets: status 2, one sentence with the remedy, and nothing half-written.

mod common;

use common::{Bench, refused, stderr, succeed};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A request that is wrong in `options`, for a target that would leave a file if it were started.
#[track_caller]
fn refuses(bench: &Bench, options: &str, parts: &[&str]) {
    let sentence = bench.refused_run(&format!("-o report.txt {options}"), &["./race"]);
    for part in parts {
        assert!(sentence.contains(part), "`{part}` is not in: {sentence}");
    }
}

/// A target that cannot be watched.
#[track_caller]
fn refuses_target(bench: &Bench, target: &str, parts: &[&str]) {
    let sentence = bench.refused_run("-o report.txt", &[target]);
    for part in parts {
        assert!(sentence.contains(part), "`{part}` is not in: {sentence}");
    }
}

fn executable(bench: &Bench, name: &str, content: &[u8]) {
    let path = bench.path(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// A program that leaves the file `started`, built without raddle.
fn plain(bench: &Bench, compiler: &str, flags: &[&str], name: &str) {
    bench.source("race");
    let mut build = Command::new(compiler);
    build.args(["-g", "-pthread"]).args(flags).arg(bench.path("race.c")).arg("-o").arg(bench.path(name));
    succeed(&mut build);
}

#[test]
fn no_such_program() {
    let bench = Bench::new();
    refuses_target(&bench, "./absent", &["no program `./absent`"]);
    refuses_target(&bench, "absent-from-path", &["no program `absent-from-path`", "PATH"]);
    bench.file("here", "");
    refuses_target(&bench, "./here/below-a-file", &["no program"]);
    std::os::unix::fs::symlink("nowhere", bench.path("dangling")).unwrap();
    refuses_target(&bench, "./dangling", &["./dangling"]);
}

#[test]
fn not_executable() {
    let bench = Bench::with("race");
    std::fs::set_permissions(bench.path("race"), PermissionsExt::from_mode(0o644)).unwrap();
    refuses_target(&bench, "./race", &["`./race` is not executable", "chmod +x"]);
}

#[test]
fn built_with_another_version() {
    let bench = Bench::new();
    let mark = bench.file("mark.c", "const unsigned __raddle_runtime = 1;\n");
    plain(&bench, "gcc", &["-rdynamic", mark.to_str().unwrap()], "old");
    refuses_target(&bench, "./old", &["`./old` carries the runtime of another version", "build it again"]);
}

#[test]
fn a_folder() {
    let bench = Bench::new();
    refuses_target(&bench, "./", &["`./` is a folder"]);
    refuses_target(&bench, "/usr/bin", &["`/usr/bin` is a folder"]);
}

#[test]
fn statically_linked() {
    let bench = Bench::new();
    plain(&bench, "gcc", &["-static"], "static");
    refuses_target(&bench, "./static", &["statically linked", "without -static"]);
    plain(&bench, "gcc", &["-static-pie"], "static-pie");
    refuses_target(&bench, "./static-pie", &["statically linked"]);
}

#[test]
fn for_another_machine() {
    let bench = Bench::new();
    plain(&bench, "gcc", &[], "race");
    let bytes = std::fs::read(bench.path("race")).unwrap();
    let mut arm = bytes.clone();
    arm[18] = 183;
    executable(&bench, "arm", &arm);
    refuses_target(&bench, "./arm", &["64-bit ARM", "x86"]);
    let mut unknown = bytes;
    unknown[18..20].copy_from_slice(&[0xfe, 0xca]);
    executable(&bench, "unknown", &unknown);
    refuses_target(&bench, "./unknown", &["machine number 51966"]);
}

#[test]
fn for_32_bits() {
    let bench = Bench::new();
    // An ET_EXEC header for a 386, and one loadable segment.
    let mut bytes = vec![0u8; 84];
    bytes[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
    bytes[16..24].copy_from_slice(&[2, 0, 3, 0, 1, 0, 0, 0]);
    bytes[28] = 52; // Where the program headers are.
    bytes[40..46].copy_from_slice(&[52, 0, 32, 0, 1, 0]);
    bytes[52] = 1;
    executable(&bench, "old", &bytes);
    refuses_target(&bench, "./old", &["`./old` is a 32-bit program"]);
}

#[test]
fn damaged() {
    let bench = Bench::new();
    executable(&bench, "empty", b"");
    refuses_target(&bench, "./empty", &["empty"]);
    executable(&bench, "cut", b"\x7fELF\x02\x01\x01");
    refuses_target(&bench, "./cut", &["./cut"]);
}

#[test]
fn with_the_runtime_of_clang_inside() {
    let bench = Bench::new();
    plain(&bench, "clang-19", &["-fsanitize=thread"], "race");
    refuses_target(&bench, "./race", &["ThreadSanitizer runtime of clang", "raddle cc"]);
    succeed(Command::new("strip").arg(bench.path("race")));
    refuses_target(&bench, "./race", &["ThreadSanitizer runtime of clang"]);
}

/// The target runs, as it would without raddle, and then raddle says that it saw nothing.
#[test]
fn nothing_instrumented_in_the_whole_tree() {
    let bench = Bench::new();
    plain(&bench, "gcc", &[], "race");
    for command in [&["./race"][..], &["sh", "-c", "./race; ./race silent"]] {
        let _ = std::fs::remove_file(bench.path("started"));
        let sentence = refused(&mut bench.run_command("-o report.txt", command));
        assert!(sentence.contains("instrumented") && sentence.contains("raddle cc"), "{sentence}");
        assert!(bench.path("started").exists(), "the target runs first");
        assert!(!bench.path("report.txt").exists());
        bench.assert_nothing_left();
    }
}

#[test]
fn a_small_address_space() {
    let bench = Bench::with("race");
    plain(&bench, "gcc", &["-fsanitize=thread"], "gcc-race");
    for target in ["./race", "./gcc-race"] {
        let line =
            format!("ulimit -v 4000000; exec {} run -o report.txt -- {target}", env!("CARGO_BIN_EXE_raddle"));
        let mut shell = bench.command("sh");
        shell.args(["-c", &line]).env("TMPDIR", bench.path("tmp"));
        std::fs::create_dir_all(bench.path("tmp")).unwrap();
        let before = bench.files();
        let sentence = refused(&mut shell);
        assert!(sentence.contains("address space") && sentence.contains("ulimit -v"), "{sentence}");
        assert_eq!(bench.files(), before);
    }
}

#[test]
fn suppression_files() {
    let bench = Bench::with("race");
    bench.file("typo", "# known\nrace:a\n\nrace:b\n# more\nrace:c\nrce:d\nrace:e\n");
    refuses(&bench, "--suppressions typo", &["typo:7:", "`rce:`", "race_top"]);
    bench.file("bare", "\nrace\n");
    refuses(&bench, "--suppressions bare", &["bare:2:"]);
    bench.file("all", "race:\n");
    refuses(&bench, "--suppressions all", &["all:1:"]);
    bench.file("good", "race:x\n");
    refuses(&bench, "--suppressions good --suppressions typo", &["typo:7:"]);
    refuses(&bench, "--suppressions absent", &["absent"]);
    refuses(&bench, "--suppressions .", &["directory"]);
    std::fs::write(bench.path("bytes"), b"race:\xff\n").unwrap();
    refuses(&bench, "--suppressions bytes", &["bytes", "UTF-8"]);

    let mut run = bench.run_command("", &["./race"]);
    let sentence = refused(run.env("TSAN_OPTIONS", "suppressions=absent"));
    assert!(sentence.contains("absent"), "{sentence}");
    assert!(!bench.path("started").exists());
}

#[test]
fn baselines() {
    let bench = Bench::with("race");
    bench.file("cut", "{ \"schema\": \"raddle.baseline/1\",\n");
    refuses(&bench, "--baseline cut", &["cut:", "line 2"]);
    bench.file("other", "{ \"schema\": \"raddle.findings/1\", \"findings\": [] }");
    refuses(&bench, "--baseline other", &["other:", "raddle.baseline/1"]);
    bench.file("newer", "{ \"schema\": \"raddle.baseline/9\", \"findings\": [] }");
    refuses(&bench, "--baseline newer", &["newer:", "raddle.baseline/9"]);
    bench.file("without", "{ \"schema\": \"raddle.baseline/1\" }");
    refuses(&bench, "--baseline without", &["without:", "findings"]);
    refuses(&bench, "--baseline absent", &["absent"]);
}

#[test]
fn unwritable_outputs() {
    let bench = Bench::with("race");
    bench.file("file", "old");
    for option in ["-o", "--write-baseline"] {
        for place in ["absent/file", ".", "file/below", "/proc/raddle-report"] {
            let sentence = bench.refused_run(&format!("{option} {place}"), &["./race"]);
            assert!(sentence.contains(&format!("to {place}:")), "{sentence}");
            assert!(!sentence.contains(".raddle-"), "a name that the user never gave: {sentence}");
            let cause = sentence.trim_end().rsplit(": ").next().unwrap();
            assert_eq!(sentence.matches(cause).count(), 1, "the cause is said twice: {sentence}");
        }
    }
}

/// It shows only when it is written; there is no file to leave behind.
#[test]
fn a_full_disk() {
    let bench = Bench::with("race");
    let output = bench.run_command("-o /dev/full", &["./race"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("to /dev/full: "), "{}", stderr(&output));
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = bench.run_command("--format json", &["./race"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write the report to standard output: "), "{}", stderr(&output));
    bench.assert_nothing_left();
}

#[test]
fn a_refused_run_leaves_an_older_report_alone() {
    let bench = Bench::with("race");
    bench.file("report.txt", "of yesterday");
    refuses(&bench, "--suppressions absent", &["absent"]);
    assert_eq!(std::fs::read_to_string(bench.path("report.txt")).unwrap(), "of yesterday");
}

#[test]
fn option_values() {
    let bench = Bench::with("race");
    for (options, parts) in [
        ("--mode eager", &["--mode", "eager", "hybrid"][..]),
        ("--history 3", &["--history", "3"]),
        ("--history some", &["--history", "some"]),
        ("--memory-limit 2X", &["--memory-limit", "2X", "2G"]),
        ("--memory-limit 0", &["--memory-limit"]),
        ("--exit-code 256", &["--exit-code", "256"]),
        ("--fail-on never", &["--fail-on", "never", "confirmed"]),
        ("--format pdf", &["--format", "pdf", "sarif"]),
        ("--color maybe", &["--color", "maybe"]),
        ("--no-such-option", &["--no-such-option"]),
    ] {
        refuses(&bench, options, parts);
    }
    let sentence = refused(&mut bench.raddle("run"));
    assert!(sentence.contains("PROGRAM"), "{sentence}");
}
