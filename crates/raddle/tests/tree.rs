//! Trees of processes: every instrumented process is watched, whoever starts it.

mod common;

use common::{Bench, succeed};

/// Two programs with a race each.
fn two() -> Bench {
    let bench = Bench::with("race");
    bench.source("forks");
    bench.ok("cc --use clang-19 -g -O1 -pthread forks.c -o forks");
    bench
}

const ALL: &[&str] = &["counter", "first", "parent", "second"];

#[test]
fn a_shell_with_one_after_the_other() {
    let bench = two();
    let outcome = bench.run("", &["sh", "-c", "./race; ./forks; exit 3"]);
    outcome.assert_races(ALL);
    assert_eq!((outcome.stat("processes"), outcome.stat("target_status")), (4, 3));
}

#[test]
fn a_script() {
    let bench = two();
    bench.script("all.sh", "#!/bin/sh\n./race\n./forks\n");
    bench.run("", &["./all.sh"]).assert_races(ALL);
}

#[test]
fn make_with_two_jobs() {
    let bench = two();
    bench.file("Makefile", "check: race forks\n.PHONY: race forks\nrace forks:\n\t./$@ > /dev/null\n");
    bench.run("", &["make", "-j2", "check"]).assert_races(ALL);
}

/// A check that is not instrumented, or linked statically, does not matter among others that are.
#[test]
fn a_tree_with_strangers_in_it() {
    let bench = Bench::with("race");
    bench.file("stranger.c", "int main(void) { return 0; }\n");
    for flags in [&[][..], &["-static"]] {
        let mut build = bench.command("gcc");
        succeed(build.args(flags).args(["stranger.c", "-o", "stranger"]));
        bench.run("", &["sh", "-c", "./stranger && ./race && ./stranger"]).assert_races(&["counter"]);
    }
}

#[test]
fn from_python() {
    let bench = Bench::with("race");
    for start in ["subprocess.run(['./race'])", "os.system('./race')", "os.execv('./race', ['race'])"] {
        let script = format!("import os, subprocess; {start}");
        bench.run("", &["python3", "-c", &script]).assert_races(&["counter"]);
    }
}

/// Test runners like to start what they test with an environment of their own.
#[test]
fn with_an_empty_environment() {
    let bench = Bench::with("race");
    bench.run("", &["env", "-i", "./race"]).assert_races(&["counter"]);
    let script = "import subprocess; subprocess.run(['./race'], env={})";
    bench.run("", &["python3", "-c", script]).assert_races(&["counter"]);
}

#[test]
fn an_instrumented_parent_that_empties_the_environment() {
    let bench = Bench::with("race");
    bench.file(
        "parent.c",
        "#include <spawn.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
         int main(int argc, char **argv) {\n\
             char *none[] = {0}; pid_t pid;\n\
             if (argc > 2) { execve(argv[1], argv + 1, none); return 9; }\n\
             posix_spawn(&pid, argv[1], 0, 0, argv + 1, none); waitpid(pid, 0, 0); return 0;\n\
         }\n",
    );
    bench.ok("cc --use gcc -g parent.c -o parent");
    bench.run("", &["./parent", "./race"]).assert_races(&["counter"]);
    bench.run("", &["./parent", "./race", "0"]).assert_races(&["counter"]);
}

/// Neither the program nor whoever starts it knows of raddle: only a library is instrumented.
#[test]
fn an_instrumented_library_in_a_program_that_is_not() {
    let bench = Bench::new();
    bench.source("library");
    bench.source("host");
    bench.ok("cc --use gcc -g -O1 -shared -fPIC -pthread library.c -o library.so");
    succeed(bench.command("gcc").args(["host.c", "-o", "host"]));
    bench.run("", &["./host", "./library.so"]).assert_races(&["of_library"]);
    bench.run("", &["sh", "-c", "./host ./library.so"]).assert_races(&["of_library"]);
}

/// The project's own file without probes is named: silence about it would be taken for a verdict.
#[test]
fn what_is_not_instrumented_beside_what_is_gets_a_sentence() {
    let bench = Bench::new();
    bench.source("library");
    bench.source("host");
    let library = "-g -O1 -shared -fPIC -pthread library.c -o library.so";
    bench.ok("cc --use gcc -g host.c -o host");
    bench.ok(&format!("cc --use gcc {library}"));
    let both = bench.run("", &["./host", "./library.so"]);
    assert!(!both.stderr.contains("not instrumented"), "{}", both.stderr);
    succeed(bench.command("gcc").args(library.split(' ')));
    let one = bench.run("", &["./host", "./library.so"]);
    let said = "library.so is not instrumented: races in it are not seen; build it with raddle too";
    assert!(one.findings().is_empty() && one.stderr.contains(said), "{}", one.stderr);
}

/// What orders the threads of such a library is not seen, so nothing about them is confirmed.
#[test]
fn threads_that_an_uninstrumented_library_starts_only_suspect() {
    let bench = Bench::new();
    bench.file(
        "pool.c",
        "#include <pthread.h>\n\
         static void *(*todo)(void *); static int state;\n\
         static void *runs(void *a) { while (!__atomic_load_n(&state, __ATOMIC_ACQUIRE)); todo(a);\n\
             __atomic_store_n(&state, 2, __ATOMIC_RELEASE); return a; }\n\
         void pool_runs(void *(*work)(void *)) {\n\
             static pthread_t t; pthread_create(&t, 0, runs, 0); pthread_detach(t);\n\
             todo = work; __atomic_store_n(&state, 1, __ATOMIC_RELEASE);\n\
             while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) < 2); }\n",
    );
    bench.file(
        "uses.c",
        "#include <pthread.h>\nvoid pool_runs(void *(*work)(void *)); int by_pool, by_own;\n\
         static void *in_pool(void *a) { by_pool++; return a; }\n\
         static void *own(void *a) { by_own++; return a; }\n\
         int main(void) {\n\
             pthread_t t; pool_runs(in_pool); by_pool++;\n\
             pthread_create(&t, 0, own, 0); by_own++; pthread_join(t, 0); return 0; }\n",
    );
    succeed(bench.command("gcc").args("-g -shared -fPIC -pthread pool.c -o libpool.so".split(' ')));
    bench.ok("cc --use gcc -g -O1 -pthread uses.c -o uses -L. -lpool -Wl,-rpath,$ORIGIN");
    let outcome = bench.run("", &["./uses"]);
    let of = |variable: &str| {
        let is = |f: &&serde_json::Value| f["location"]["name"] == variable;
        outcome.findings().iter().find(is).unwrap_or_else(|| panic!("{}", outcome.stderr)).clone()
    };
    let (pool, own) = (of("by_pool"), of("by_own"));
    assert_eq!((&pool["confidence"], &own["confidence"]), (&"suspected".into(), &"confirmed".into()));
    assert!(pool["notes"].to_string().contains("libpool.so has started T1"), "{pool}");
}

#[test]
fn a_binary_of_plain_gcc_gets_raddles_runtime_for_libtsan() {
    let bench = Bench::new();
    bench.source("maps");
    succeed(bench.command("gcc").args(["-fsanitize=thread", "-g", "-pthread", "maps.c", "-o", "maps"]));
    for command in [&["./maps"][..], &["sh", "-c", "./maps"]] {
        let outcome = bench.run("", command);
        outcome.assert_races(&["counter"]);
        assert!(!outcome.stderr.contains("ThreadSanitizer"), "{}", outcome.stderr);
        let runtimes: Vec<&str> =
            outcome.stdout.lines().filter(|l| l.contains("tsan") || l.contains("raddle")).collect();
        let cache = common::cache();
        let ours = |l: &str| l.starts_with(cache.to_str().unwrap());
        assert!(!runtimes.is_empty() && runtimes.iter().all(|l| ours(l)), "{runtimes:?}");
    }
}

/// A process that outlives the target goes on undisturbed.
#[test]
fn a_daemon_survives_the_end_of_the_session() {
    let bench = Bench::with("race");
    bench.file(
        "daemon.c",
        "#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n\
         static int x; static void *bump(void *p) { x++; return p; }\n\
         int main(void) {\n\
             while (access(\"go\", F_OK)) usleep(1000);\n\
             pthread_t a, b; pthread_create(&a, 0, bump, 0); pthread_create(&b, 0, bump, 0);\n\
             pthread_join(a, 0); pthread_join(b, 0);\n\
             fclose(fopen(\"survived\", \"w\")); return 0;\n\
         }\n",
    );
    bench.ok("cc --use gcc -g -O1 -pthread daemon.c -o daemon");
    bench.run("", &["sh", "-c", "./daemon > /dev/null 2>&1 & ./race"]).assert_races(&["counter"]);
    bench.file("go", "");
    let begun = std::time::Instant::now();
    while !bench.path("survived").exists() {
        assert!(begun.elapsed().as_secs() < 300, "the daemon has died or hangs");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// What the target prints and reads is its own.
#[test]
fn input_and_output_pass_through() {
    let bench = Bench::with("race");
    let line = format!(
        "echo in | {} run -- sh -c 'cat; ./race; echo out; echo err >&2'",
        env!("CARGO_BIN_EXE_raddle")
    );
    let output = bench.command("sh").args(["-c", &line]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "in\nout\n");
    assert!(common::stderr(&output).starts_with("err\nconfirmed data race"), "{}", common::stderr(&output));
}
