//! The bench as its users run it, at the quick size. These need gcc, and fail without it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use raddle_bench::compile::Workshop;
use raddle_bench::kernel::{self, Kernel, Scale};
use raddle_bench::measure::{ResourceUsage, USAGE_FILE};
use raddle_bench::results::{BenchResults, Quantity};
use raddle_bench::tool::{CCompiler, Flavour, Tool};

const BENCH: &str = env!("CARGO_BIN_EXE_raddle-bench");

/// An empty folder of this test's own.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Runs the bench in a folder, where it leaves its record as `r.json`.
fn bench(folder: &Path, options: &str) -> (Output, Option<BenchResults>) {
    let words = options.split_whitespace();
    let output = Command::new(BENCH)
        .args(["run", "--json", "r.json"])
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = fs::read_to_string(folder.join("r.json")).ok();
    (output, text.map(|text| serde_json::from_str(&text).unwrap()))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A stand-in for raddle, of which only the contract of the command line is known here.
fn fake_raddle(folder: &Path, around_run: &str) -> String {
    let path = folder.join("raddle");
    let script = format!(
        "#!/bin/sh
case $1 in
--version) echo 'raddle 0.0.0-fake';;
cc) shift; exec \"$RADDLE_CC\" \"$@\";;
c++) shift; exec \"$RADDLE_CXX\" \"$@\";;
run) while [ \"$1\" != -- ]; do shift; done; shift; {around_run};;
esac
"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn one_kernel_natively_and_under_gccs_sanitizer() {
    let folder = folder("gcc_tsan");
    let (output, results) =
        bench(&folder, "--quick --kernels lu --tools gcc-tsan --compilers gcc --markdown r.md");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results = results.unwrap();
    let gcc = CCompiler::new("gcc").unwrap();
    let tsan = results.find("lu", &gcc, Tool::GccTsan).unwrap();
    assert_eq!((tsan.samples.len(), tsan.key.scale), (1, Scale::Quick));
    let memory = results.times_native("lu", &gcc, Tool::GccTsan, Quantity::Memory).unwrap();
    assert!(memory > 1.0, "shadow memory has to show, and {memory} times native is none");
    assert!(results.times_native("lu", &gcc, Tool::GccTsan, Quantity::Time).unwrap() > 0.0);

    let tables = fs::read_to_string(folder.join("r.md")).unwrap();
    assert_eq!(tables, text(&output.stdout));
    assert!(tables.contains("A quick run") && tables.contains("### Time, gcc: times native"), "{tables}");
    assert!(tables.contains("not measured"), "the targets that need raddle: {tables}");
}

#[test]
fn every_kernel_is_race_free_and_gives_the_native_checksum() {
    let folder = folder("race_free");
    let workshop = Workshop::new(&folder, None).unwrap();
    let gcc = CCompiler::new("gcc").unwrap();
    for kernel in kernel::all().unwrap() {
        let run = |flavour| {
            let binary = workshop.build(&kernel, &gcc, flavour).unwrap();
            let output = Command::new(binary)
                .args(kernel.arguments(Scale::Quick))
                .env("TSAN_OPTIONS", "atexit_sleep_ms=0")
                .output()
                .unwrap();
            assert!(output.status.success(), "{} {flavour:?}: {}", kernel.name, text(&output.stderr));
            text(&output.stdout)
        };
        let native = run(Flavour::Plain);
        assert!(native.starts_with("checksum "), "{}: {native}", kernel.name);
        assert_eq!(run(Flavour::Tsan), native, "{}", kernel.name);
    }
}

/// Else the test above would pass with a sanitizer that sees nothing.
#[test]
fn the_same_build_of_a_racy_program_is_caught() {
    let source = "/* bench: a race\n * full: 3 1\n * reduced: 2 1\n * quick: 1 1\n */\n#include \"kernel.h\"\n\
        #include <pthread.h>\n\
        static long count;\n\
        static void *add(void *unused) { count++; return unused; }\n\
        int main(void) { pthread_t a, b; pthread_create(&a, NULL, add, NULL); pthread_create(&b, NULL, add, NULL);\n\
        pthread_join(a, NULL); pthread_join(b, NULL); print_checksum(count); return 0; }\n";
    let workshop = Workshop::new(&folder("racy"), None).unwrap();
    let kernel = Kernel::parse("racy.c", source).unwrap();
    let binary = workshop.build(&kernel, &CCompiler::new("gcc").unwrap(), Flavour::Tsan).unwrap();
    let output = Command::new(binary).env("TSAN_OPTIONS", "atexit_sleep_ms=0").output().unwrap();
    assert_eq!(output.status.code(), Some(66), "{}", text(&output.stderr));
}

#[test]
fn a_kernel_called_wrongly_says_so() {
    let folder = folder("usage");
    let workshop = Workshop::new(&folder, None).unwrap();
    let kernel = &kernel::select(&["sort".to_owned()]).unwrap()[0];
    let binary = workshop.build(kernel, &CCompiler::new("gcc").unwrap(), Flavour::Plain).unwrap();
    for wrong in [&[][..], &["10"], &["ten", "1"], &["10", "-1"]] {
        let output = Command::new(&binary).args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn the_launcher_measures_the_program_and_hands_its_status_on() {
    let file = folder("measure").join("usage.json");
    let measure = |program: &[&str]| {
        let status = Command::new(BENCH)
            .args(["measure", "--"])
            .args(program)
            .env(USAGE_FILE, &file)
            .output()
            .unwrap();
        // Each run adds a line.
        let usages = fs::read_to_string(&file).unwrap();
        let usage: ResourceUsage = serde_json::from_str(usages.lines().last().unwrap()).unwrap();
        (status.status.code(), usage)
    };
    let (status, usage) = measure(&["sh", "-c", "sleep 0.2; exit 7"]);
    assert_eq!((status, usage.status), (Some(7), 7));
    assert!(usage.seconds >= 0.2 && usage.cpu_seconds < 0.2, "{usage:?}");

    let (_, usage) = measure(&["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"]);
    assert!((65_536..150_000).contains(&usage.peak_kib), "{usage:?}");
    assert!(usage.launcher_kib < 16_384, "{usage:?}");

    let (status, usage) = measure(&["sh", "-c", "kill -9 $$"]);
    assert_eq!((status, usage.status), (Some(137), 137));
}

#[test]
fn raddle_is_built_with_and_run_around_the_launcher() {
    let folder = folder("fake_raddle");
    let raddle = fake_raddle(&folder, "exec \"$@\"");
    let options = format!("--quick --kernels bfs --tools raddle --compilers gcc --raddle {raddle}");
    let (output, results) = bench(&folder, &options);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results = results.unwrap();
    assert_eq!(results.tools(&CCompiler::new("gcc").unwrap()).len(), 7);
    assert_eq!(results.machine.versions["raddle"], "raddle 0.0.0-fake");
    assert!(!results.command.contains('/'), "{}", results.command);
}

#[test]
fn a_report_in_hb_is_a_false_one_and_fails_the_bench_but_in_hybrid_it_is_a_note() {
    let folder = folder("false_reports");
    let raddle = fake_raddle(&folder, "\"$@\"; exit 66");
    let options = |tool| format!("--quick --kernels lu --tools {tool} --compilers gcc --raddle {raddle}");
    let (output, _) = bench(&folder, &options("raddle-hb/1"));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("**False reports** of raddle-hb/1 on lu (gcc)"));
    let (output, _) = bench(&folder, &options("raddle-hybrid/1"));
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("- Reports of raddle-hybrid/1 on lu (gcc)"));
}

#[test]
fn a_tool_that_breaks_the_program_gets_no_figure() {
    let cases = [
        ("wrong", "echo checksum 0000; exec \"$@\"", "its checksum differs from the native one"),
        ("crash", "\"$@\"; exit 3", "the command ended with status 3"),
        ("never", "exit 2", "the target was never measured, and the command ended with status 2"),
        ("slow", "sleep 60", "it ran longer than 1 s"),
    ];
    for (name, around, reason) in cases {
        let folder = folder(&format!("broken_{name}"));
        let raddle = fake_raddle(&folder, around);
        let options =
            format!("--quick --limit 1 --kernels lu --tools raddle-fast/0 --compilers gcc --raddle {raddle}");
        let (output, results) = bench(&folder, &options);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let results = results.unwrap();
        assert_eq!(results.failures[0].reason, reason);
        assert!(results.tools(&CCompiler::new("gcc").unwrap()) == [Tool::Native], "{name}");
        assert!(
            text(&output.stdout).contains(&format!("**Failed**: lu under raddle-fast/0 (gcc): {reason}."))
        );
    }
}

#[test]
fn what_was_named_and_is_absent_stops_the_bench() {
    let folder = folder("absent");
    for options in ["--tools raddle-hb --raddle /no/such/raddle", "--compilers gcc-1", "--compilers clang-1"]
    {
        let (output, results) = bench(&folder, &format!("--quick --kernels lu {options}"));
        assert_eq!((output.status.code(), results.is_some()), (Some(2), false), "{options}");
        assert!(text(&output.stderr).contains("was not found"), "{options}: {}", text(&output.stderr));
    }
}

#[test]
fn records_are_compared_and_others_refused() {
    let folder = folder("compare");
    let (output, _) = bench(&folder, "--quick --kernels lu --tools gcc-tsan --compilers gcc");
    assert!(output.status.success());
    let compare = |old: &str, new: &str| {
        Command::new(BENCH).args(["compare", old, new]).current_dir(&folder).output().unwrap()
    };
    let same = compare("r.json", "r.json");
    assert!(same.status.success() && text(&same.stdout).contains("+0.0%"), "{}", text(&same.stdout));

    let record = fs::read_to_string(folder.join("r.json")).unwrap();
    fs::write(folder.join("later.json"), record.replace("raddle.bench/1", "raddle.bench/2")).unwrap();
    fs::write(folder.join("other.json"), "[1, 2]").unwrap();
    for (file, complaint) in [
        ("later.json", "its schema is `raddle.bench/2`"),
        ("other.json", "no schema"),
        ("none.json", "cannot read"),
    ] {
        let refused = compare("r.json", file);
        assert_eq!(refused.status.code(), Some(2), "{file}");
        assert!(text(&refused.stderr).contains(complaint), "{file}: {}", text(&refused.stderr));
    }
}
