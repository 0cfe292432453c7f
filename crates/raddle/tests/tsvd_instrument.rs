//! `raddle instrument`: copies that watch themselves, and `raddle tsvd --collect`.

mod common;

use common::{Bench, look_again, refused, stderr, succeed};
use serde_json::Value;

const SHARED: &str = r#"
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
std::map<int, int> shared;
static std::mutex mu;
static void step(int, int i) { LOCK shared[i] = i; std::cout << i << "\n"; }
int main(int, char **argv) { both(); return argv[1] ? 5 : 0; }
"#;

const EAGER: &str = "--delay 400 --window 60000";

/// The report of `raddle tsvd --collect`, and its status.
fn collect(bench: &Bench, copy: &str) -> (Value, i32) {
    let output = bench.raddle(&format!("tsvd --format json --collect {copy}")).output().unwrap();
    let report =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    (report, output.status.code().unwrap())
}

/// Runs a copy and asks it, up to five times until something was caught: which thread draws a
/// delay, and whether another one comes by in that time, is luck.
#[track_caller]
fn catch(bench: &Bench, copy: &str, run: impl Fn()) -> Value {
    let look = || {
        run();
        collect(bench, copy)
    };
    let (report, status) = look_again(|(_, status): &(Value, i32)| *status == 66, look);
    assert_eq!(status, 66, "{copy}: {report}");
    report
}

#[test]
fn a_copy_runs_by_itself_and_is_asked_later() {
    for flags in ["-O0 -g", "-O0 -g -no-pie", "-O0 -g -Wl,-z,now -static-libstdc++"] {
        let bench = Bench::new();
        bench.build_pair("prog.cpp", &format!("g++ {flags} -DLOCK="), SHARED);
        bench.ok(&format!("instrument {EAGER} -o prog.tsvd ./prog"));
        // Nothing of raddle's is in the environment; another folder, and the program's own status.
        let report = catch(&bench, "prog.tsvd", || {
            let run = bench.command(bench.path("prog.tsvd")).arg("5").current_dir("/").output().unwrap();
            assert_eq!(run.status.code(), Some(5), "{flags}: {}", stderr(&run));
            assert!(String::from_utf8_lossy(&run.stdout).contains("39\n"));
        });
        let findings = report["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{flags}: {report}");
        assert_eq!(findings[0]["location"]["name"], "shared");
        assert_eq!(findings[0]["accesses"][0]["stack"][0]["function"], "step(int, int)");
        // What was reported is not reported again.
        let (again, status) = collect(&bench, "prog.tsvd");
        assert_eq!((again["findings"].as_array().unwrap().len(), status), (0, 0));
    }
}

#[test]
fn a_copy_of_a_program_that_is_right() {
    let bench = Bench::new();
    let lock = "-DLOCK=std::lock_guard<std::mutex>guard(mu);";
    bench.build_pair("prog.cpp", &format!("g++ -O0 -g {lock}"), SHARED);
    bench.ok("instrument --delay 20 --test-cap 400 -o prog.tsvd ./prog");
    succeed(&mut bench.command("./prog.tsvd"));
    succeed(&mut bench.command("./prog.tsvd"));
    let (report, status) = collect(&bench, "prog.tsvd");
    assert_eq!((report["findings"].as_array().unwrap().len(), status), (0, 0), "{report}");
    assert_eq!(report["stats"]["runs"], 2);
    assert!(report["stats"]["points"].as_i64().unwrap() > 0);
}

#[test]
fn a_copy_under_raddle_is_watched_once() {
    let bench = Bench::new();
    bench.build_pair("prog.cpp", "g++ -O0 -g -DLOCK=", SHARED);
    bench.ok(&format!("instrument {EAGER} -o prog.tsvd ./prog"));
    bench.catch(EAGER, &["./prog.tsvd"]).assert_caught("std::map `shared`");
    let (report, _) = collect(&bench, "prog.tsvd");
    assert_eq!(report["stats"]["processes"], 0, "{report}");
}

#[test]
fn what_no_copy_can_be_made_of() {
    let bench = Bench::new();
    bench.build_pair(
        "none.c",
        "gcc -O0",
        "static void step(int m, int i) { (void)m; (void)i; }\nint main(void) { both(); return 0; }\n",
    );
    assert!(
        refused(&mut bench.raddle("instrument -o copy ./none")).contains("calls no function of the lists")
    );
    assert!(refused(&mut bench.raddle("instrument -o copy ./absent")).contains("absent"));
    bench.script("script", "#!/bin/sh\n");
    assert!(refused(&mut bench.raddle("instrument -o copy ./script")).contains("it is no ELF file"));
    bench.build_pair("fixed.cpp", "g++ -O0 -static -DLOCK=", SHARED);
    assert!(refused(&mut bench.raddle("instrument -o copy ./fixed")).contains("statically linked"));
    assert!(!bench.path("copy").exists() && !bench.path("copy.raddle").exists());
    bench.build_pair("prog.cpp", "g++ -O0 -DLOCK=", SHARED);
    bench.file("mine.raddle/file", "kept");
    assert!(refused(&mut bench.raddle("instrument -o mine ./prog")).contains("raddle has not made it"));
    assert!(bench.path("mine.raddle/file").exists());
    assert!(refused(&mut bench.raddle("tsvd --collect prog")).contains("is not a copy"));
    bench.ok("instrument -o ok ./prog");
    let about = std::fs::read_to_string(bench.path("ok.raddle/about.json")).unwrap();
    bench.file("ok.raddle/about.json", &about.replace("\"runtime\": \"", "\"runtime\": \"0"));
    assert!(refused(&mut bench.raddle("tsvd --collect ok")).contains("another build of raddle"));
}

/// The program itself calls nothing; one library is linked, the other one is loaded while it runs.
#[test]
fn libraries_of_the_project_are_watched_too() {
    let bench = Bench::new();
    let library = "#include <string.h>\nvoid NAME(int me) { char text[] = \"a,b\"; strtok(text, \",\"); }\n";
    bench.file("linked.c", &library.replace("NAME", "linked"));
    bench.file("late.c", &library.replace("NAME", "late"));
    for name in ["linked", "late"] {
        let out = format!("lib{name}.so");
        succeed(bench.command("gcc").args([
            "-g",
            "-O0",
            "-shared",
            "-fPIC",
            "-o",
            &out,
            &format!("{name}.c"),
        ]));
    }
    let text = r#"
        #include <dlfcn.h>
        #include <string.h>
        void linked(int);
        static void (*call)(int);
        static void step(int me, int i) { if (call) call(me); else linked(me); }
        int main(int n, char **words) {
            void *library = words[1] ? dlopen(words[1], RTLD_NOW) : 0;
            if (library) call = (void (*)(int))dlsym(library, "late");
            both();
            return strlen(words[0]) == 0;
        }
    "#;
    bench.build_pair("prog.c", "gcc -O0 -g -L. -Wl,-rpath,$ORIGIN -llinked", text);
    bench.ok(&format!("instrument {EAGER} --library liblate.so -o prog.tsvd ./prog"));
    for (word, function) in [(None, "linked"), (Some("./liblate.so"), "late")] {
        let report = catch(&bench, "prog.tsvd", || {
            succeed(bench.command("./prog.tsvd").args(word));
        });
        assert_eq!(report["findings"][0]["accesses"][0]["stack"][0]["function"], function, "{report}");
        assert_eq!(report["findings"][0]["accesses"][0]["stack"][0]["file"], format!("{function}.c"));
    }
    // A library that was built anew is left alone, and what was planned for the old one is no
    // longer reported.
    bench.file("linked.c", &format!("int more(void) {{ return 1; }}\n{}", library.replace("NAME", "linked")));
    succeed(bench.command("gcc").args(["-g", "-O1", "-shared", "-fPIC", "-o", "liblinked.so", "linked.c"]));
    succeed(&mut bench.command("./prog.tsvd"));
    let output = bench.raddle("tsvd --collect prog.tsvd").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("liblinked.so has changed since prog.tsvd was made"),
        "{}",
        stderr(&output)
    );
}

/// Pointers to functions of a system library, of the program itself and of its own library: a
/// table, a virtual table, a thread's beginning.
const POINTERS: &str = r#"
#include <mutex>
#include <zlib.h>
#include "cache.h"
struct Table : Cache { __attribute__((noinline)) int put(int key) override { values[key % 64] = key; return key; } int values[64]; };
typedef int (*code)(z_streamp, int);
static const code table[] = {deflate, inflate};
// What is shared was never made ready: threads that really meet in it cannot crash.
static z_stream ready, stream;
static Table shared, own[2];
static Cache *volatile caches[2];
static unsigned char in[100], out[2][1000];
static volatile int which;
static std::mutex mu;
static void pack(int me) {
    z_stream *s = &stream;
    s->next_in = in; s->avail_in = sizeof in; s->next_out = out[me]; s->avail_out = sizeof out[me];
    table[which](s, Z_SYNC_FLUSH);
}
static void step(int me, int i) {
    LOCK
    if (HOW == 0) pack(me);
    if (HOW == 1) caches[me]->put(i);
    if (HOW == 2) through(caches[me], i);
}
int main(int n, char **) {
    if (table[which] != deflate || table[1] != inflate) return 9;
    deflateInit(&ready, 6);
    caches[0] = n > 1 ? &own[0] : &shared;
    caches[1] = n > 1 ? &own[1] : &shared;
    both();
    return 7;
}
"#;

#[test]
fn calls_through_pointers_in_a_copy() {
    let bench = Bench::new();
    bench.file(
        "cache.h",
        "struct Cache { virtual int put(int key) = 0; };\nint through(Cache *cache, int i);\n",
    );
    bench.file(
        "through.cpp",
        "#include \"cache.h\"\nint through(Cache *cache, int i) { return cache->put(i) + 1; }\n",
    );
    bench.file(
        "raddle.toml",
        "[[tsvd.list]]\nlibrary = \"ours\"\n[[tsvd.list.class]]\nname = \"Table\"\nwrite = [\"Table::put\"]\n",
    );
    let library = ["-g", "-O1", "-shared", "-fPIC", "-o", "libthrough.so", "through.cpp"];
    succeed(bench.command("g++").args(library));
    let build = |name: &str, flags: &str, how: &str, lock: &str| {
        let text = POINTERS.replace("HOW", how).replace("LOCK", lock);
        let compiler = format!("g++ -g {flags} -L. -Wl,-rpath,$ORIGIN -lthrough -l:libz.so.1");
        bench.build_pair(&format!("{name}.cpp"), &compiler, &text);
        let options = if lock.is_empty() { EAGER } else { "--delay 20 --test-cap 400" };
        bench.ok(&format!("instrument {options} -o {name}.tsvd ./{name}"));
    };
    let run = |copy: &str, arguments: &[&str]| {
        let run = bench.command(bench.path(copy)).args(arguments).current_dir("/").output().unwrap();
        assert_eq!(run.status.code(), Some(7), "{copy}: {}", stderr(&run));
    };
    for (how, flags, function, callee) in [
        ("0", "-O0", "pack", "deflate"),
        ("1", "-O1 -no-pie", "step", "Table::put"),
        ("2", "-O0", "through", "Table::put"),
    ] {
        build("wrong", flags, how, "");
        let report = catch(&bench, "wrong.tsvd", || run("wrong.tsvd", &[]));
        let findings = report["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{how}: {report}");
        assert!(findings[0]["message"].as_str().unwrap().contains(callee), "{how}: {report}");
        for end in findings[0]["accesses"].as_array().unwrap() {
            // One that was inlined is named without its parameters.
            let named = end["stack"][0]["function"].as_str().unwrap();
            assert_eq!(named.split('(').next(), Some(function), "{how}: {report}");
        }
        // The numbers of places hold from run to run.
        let again = catch(&bench, "wrong.tsvd", || run("wrong.tsvd", &[]));
        assert_eq!(again["findings"][0]["id"], findings[0]["id"], "{how}: {again}");
    }
    build("right", "-O1", "1", "std::lock_guard<std::mutex> guard(mu);");
    for arguments in [&[][..], &["apart"]] {
        run("right.tsvd", arguments);
        let (report, status) = collect(&bench, "right.tsvd");
        assert_eq!((report["findings"].as_array().unwrap().len(), status), (0, 0), "{report}");
        assert!(report["stats"]["calls"].as_i64().unwrap() >= 80, "{report}");
        assert_eq!(report["stats"]["points"], 2, "deflateInit and put: {report}");
    }
}
