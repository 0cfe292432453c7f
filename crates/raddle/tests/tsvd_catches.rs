//! `raddle tsvd`: what is caught, in programs of each kind, and what is not.

mod common;

use common::tsvd::{CALM, EAGER};
use common::{Bench, succeed};

const MAP: &str = r#"
#include <map>
#include <mutex>
std::map<int, int> shared;
static void put(int i) { shared[i] = i; }
static volatile int found;
static void look(int i) { found = shared.count(i); }
static void step(int me, int i) { if (me) put(i); else look(i); }
int main() { both(); return 7; }
"#;

#[test]
fn a_map_that_one_thread_writes_and_another_reads() {
    let bench = Bench::new();
    bench.build_pair("map.cpp", "g++ -O0 -g", MAP);
    let caught = bench.catch(EAGER, &["./map"]);
    let finding = caught.assert_caught("std::map `shared`");
    assert_eq!(caught.findings().len(), 1, "{}", caught.report);
    assert_eq!(finding["location"]["name"], "shared");
    let mut ends = caught.ends(0);
    ends.sort();
    assert_eq!(ends, ["look(int)", "put(int)"]);
    let accesses = finding["accesses"].as_array().unwrap();
    let mut ops: Vec<_> = accesses.iter().map(|a| a["op"].as_str().unwrap()).collect();
    ops.sort();
    assert_eq!(ops, ["read", "write"]);
    for access in accesses {
        let thread = access["thread"].as_str().unwrap();
        assert!(thread.contains("(first)") || thread.contains("(second)"), "{thread}");
        let functions: Vec<_> = access["stack"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["function"].as_str().unwrap_or("?"))
            .collect();
        assert!(functions[1].starts_with("step(") && functions[2].starts_with("run("), "{functions:?}");
        assert_eq!(access["stack"][0]["file"], "map.cpp");
    }
    assert_eq!(caught.stat("target_status"), 7);
    assert!(
        caught.stat("delays") >= 1 && caught.stat("points") == 2 && caught.stat("points_concurrent") == 2
    );
    let again = bench.catch(EAGER, &["./map"]);
    assert_eq!(again.assert_caught("std::map")["id"], finding["id"], "ten runs of one bug are one finding");
}

#[test]
fn the_same_under_a_lock_is_right_and_the_programs_own_status_is_passed_on() {
    let bench = Bench::new();
    let locked =
        MAP.replace("if (me)", "static std::mutex mu; std::lock_guard<std::mutex> guard(mu); if (me)");
    bench.build_pair("locked.cpp", "g++ -O0 -g", &locked);
    let caught = bench.tsvd(CALM, &["./locked"]);
    caught.assert_clean();
    assert_eq!(caught.status, 7);
}

#[test]
fn two_readers_and_two_objects_are_right() {
    let bench = Bench::new();
    let text = r#"
        #include <map>
        #include <vector>
        std::map<int, int> m; std::vector<int> own[2]; std::vector<int> v(2);
        static void step(int me, int i) { m.find(i); m.size(); own[me].push_back(i); v[me] = i; }
        int main() { both(); }
    "#;
    bench.build_pair("readers.cpp", "g++ -O0 -g", text);
    bench.tsvd(CALM, &["./readers"]).assert_clean();
}

#[test]
fn optimised_code_that_raddle_built() {
    let bench = Bench::new();
    let raddle = format!("{} c++ --tsvd -O2", env!("CARGO_BIN_EXE_raddle"));
    bench.build_pair("map.cpp", &raddle, MAP);
    let caught = bench.catch(EAGER, &["./map"]);
    caught.assert_caught("std::map `shared`");
    assert_eq!(caught.findings()[0]["accesses"][0]["stack"][0]["file"], "map.cpp", "{}", caught.report);
}

#[test]
fn the_standard_streams_may_be_shared_and_others_not() {
    let bench = Bench::new();
    let text = |stream: &str| {
        format!(
            "#include <iostream>\n#include <fstream>\nstd::ofstream file(\"/dev/null\");\n\
             static void step(int, int i) {{ {stream} << i << \"text\"; }}\nint main() {{ both(); }}\n"
        )
    };
    // In a library, copied into the executable, part of the executable.
    for flags in ["", "-no-pie", "-static-libstdc++"] {
        bench.build_pair("cout.cpp", &format!("g++ -O2 -g {flags}"), &text("std::cout"));
        let caught = bench.tsvd(CALM, &["./cout"]);
        assert_eq!((caught.findings().len(), caught.status), (0, 0), "{flags}: {}", caught.report);
        assert!(caught.stdout.contains("0text"));
    }
    bench.build_pair("file.cpp", "g++ -O2 -g", &text("file"));
    bench.catch(EAGER, &["./file"]).assert_caught("output stream `file`");
}

/// Through the linkage table, through a slot, by a jump, at a fixed address, without symbols.
#[test]
fn hidden_state_of_the_c_library_in_programs_nobody_built_for_raddle() {
    let bench = Bench::new();
    let text = r#"
        #include <string.h>
        __attribute__((noinline)) static char *next(char *s) { return strtok(s, ","); }
        static void step(int me, int i) { char s[] = "a,b"; if (next(s)) strtok(0, ","); (void)me; (void)i; }
        int main(void) { both(); return 0; }
    "#;
    for flags in
        ["-O0", "-O2", "-O2 -fno-plt", "-O2 -no-pie -fno-pie", "-O2 -s", "-O2 -Wl,-z,now -fcf-protection"]
    {
        bench.build_pair("tok.c", &format!("gcc {flags}"), text);
        let caught = bench.catch(EAGER, &["./tok"]);
        caught.assert_caught("strtok's state");
        let stripped = caught.stderr.contains("is stripped");
        assert_eq!(stripped, flags.contains("-s"), "{flags}: {}", caught.stderr);
    }
}

#[test]
fn libraries_that_are_loaded_later() {
    let bench = Bench::new();
    bench.file(
        "plugin.c",
        "#include <stdlib.h>\nvoid work(int i) { if (i % 2) setenv(\"A\", \"1\", 1); else getenv(\"A\"); }\n",
    );
    succeed(bench.command("gcc").args(["-O1", "-g", "-shared", "-fPIC", "plugin.c", "-o", "plugin.so"]));
    let text = r#"
        #include <dlfcn.h>
        static void (*work)(int);
        static void step(int me, int i) { (void)i; work(me); }
        int main(void) {
            work = (void (*)(int))dlsym(dlopen("./plugin.so", RTLD_NOW), "work");
            both();
            return 0;
        }
    "#;
    bench.build_pair("host.c", "gcc -O1 -g -ldl", text);
    let caught = bench.catch(EAGER, &["./host"]);
    caught.assert_caught("the environment");
    assert_eq!(caught.ends(0), ["work", "work"]);
    // By a name that is searched in the program's own RUNPATH; a point of the program is the moment
    // to look at it.
    let text = text.replace("./plugin.so", "plugin.so").replace("(void)i;", "(void)i; readlocale();");
    let text = format!(
        "#include <locale.h>\nstatic void readlocale(void) {{ if (steps[0] < 0) localeconv(); }}\n{text}"
    );
    let text = text.replace("both();", "setlocale(LC_ALL, \"C\"); both();");
    bench.build_pair("named.c", "gcc -O1 -g -Wl,-rpath,$ORIGIN -ldl", &text);
    let caught = bench.catch(EAGER, &["./named"]);
    caught.assert_caught("the environment");
}

#[test]
fn children_that_fork_and_exec() {
    let bench = Bench::new();
    bench.build_pair("map.cpp", "g++ -O0 -g", MAP);
    let text = MAP.replace(
        "int main() { both(); return 7; }",
        "#include <sys/wait.h>\nint main() { if (fork() == 0) { both(); _exit(0); } wait(0); }",
    );
    bench.build_pair("forks.cpp", "g++ -O0 -g", &text);
    let caught = bench.catch(EAGER, &["sh", "-c", "./map; ./forks; exit 3"]);
    caught.assert_caught("std::map `shared`");
    let modules: Vec<_> =
        caught.findings().iter().map(|f| f["location"]["module"].as_str().unwrap().to_owned()).collect();
    assert!(caught.stat("processes") >= 3, "{}", caught.report);
    assert_eq!(caught.stat("target_status"), 3);
    // The two programs have the same functions and lines but for main, so theirs is one finding.
    assert!(!modules.is_empty());
    let only = bench.catch(EAGER, &["./forks"]);
    only.assert_caught("std::map `shared`");
}

#[test]
fn a_pair_that_meets_once_is_caught_in_the_second_run() {
    let bench = Bench::new();
    // Each run calls each site once, one thread after the other is well under way.
    let text = r#"
        #include <vector>
        #include <chrono>
        #include <thread>
        std::vector<int> shared;
        static void step(int, int) {}
        int main() {
            (void)both;
            std::thread a([] { shared.push_back(1); });
            std::thread b([] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); shared.push_back(2); });
            a.join();
            b.join();
        }
    "#;
    bench.build_pair("once.cpp", "g++ -O0 -g", text);
    let options = "--phase 64 ++ --delay 1500 --window 60000 --trap-file traps.json";
    let first = bench.tsvd(options, &["./once"]);
    assert!(first.findings().is_empty(), "{}", first.report);
    let kept = std::fs::read_to_string(bench.path("traps.json")).unwrap();
    assert!(kept.contains("raddle.traps/2") && kept.contains("push_back"), "{kept}");
    let second = bench.tsvd(options, &["./once"]);
    second.assert_caught("std::vector `shared`");
    // Both in one command.
    std::fs::remove_file(bench.path("traps.json")).unwrap();
    let both = bench.tsvd(&format!("{options} --runs 2"), &["./once"]);
    let finding = both.assert_caught("std::vector `shared`");
    assert!(finding["notes"].to_string().contains("caught in run 2"), "{finding}");
    assert_eq!(both.stat("runs"), 2);
}

#[test]
fn sqlite_connections_by_their_threading_mode() {
    if !std::path::Path::new("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0").exists() {
        eprintln!("SQLite is not installed");
        return;
    }
    let bench = Bench::new();
    // SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, with NOMUTEX or FULLMUTEX.
    let text = |flags: &str| {
        format!(
            "#include <stdlib.h>\ntypedef struct sqlite3 sqlite3;\ntypedef struct sqlite3_stmt sqlite3_stmt;\n\
             int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);\n\
             int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);\n\
             int sqlite3_step(sqlite3_stmt *);\nint sqlite3_changes(sqlite3 *);\n\
             static sqlite3 *db; static sqlite3_stmt *stmt;\n\
             static void step(int me, int i) {{ (void)i; if (me) sqlite3_changes(db); else sqlite3_step(stmt); }}\n\
             int main(void) {{ if (sqlite3_open_v2(\":memory:\", &db, {flags}, 0)) abort();\n\
             if (sqlite3_prepare_v2(db, \"select 1\", -1, &stmt, 0)) abort(); both(); return 0; }}\n"
        )
    };
    bench.build_pair("multi.c", "gcc -O1 -g -l:libsqlite3.so.0", &text("0x8006"));
    bench.catch(EAGER, &["./multi"]).assert_caught("SQLite connection");
    bench.build_pair("serialized.c", "gcc -O1 -g -l:libsqlite3.so.0", &text("0x10006"));
    let caught = bench.tsvd(CALM, &["./serialized"]);
    assert_eq!((caught.findings().len(), caught.status), (0, 0), "{}", caught.report);
}

#[test]
fn rust_collections_behind_unsafe_code() {
    assert_rust_map("usize", "i");
}

/// What `insert` returns then does not fit into registers, and the map is the second argument.
#[test]
fn rust_collections_whose_results_are_returned_through_memory() {
    assert_rust_map("String", "i.to_string()");
}

/// Two threads insert values of a type into one map, each at its own keys.
#[track_caller]
fn assert_rust_map(value: &str, make: &str) {
    let bench = Bench::new();
    let text = r#"
        use std::{thread, time::Duration, collections::HashMap, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
        static STEPS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        #[inline(never)]
        fn put(map: &mut HashMap<usize, VALUE>, i: usize) { map.insert(i, MAKE); }
        fn main() {
            let map: &'static mut HashMap<usize, VALUE> = Box::leak(Box::default());
            for i in 0..16 { map.insert(i, MAKE); }
            let at = map as *mut _ as usize;
            let work = move |me: usize| while STEPS[0].load(SeqCst).min(STEPS[1].load(SeqCst)) < 40 {
                let i = STEPS[me].fetch_add(1, SeqCst);
                put(unsafe { &mut *(at as *mut HashMap<usize, VALUE>) }, me * 8 + i % 8);
                thread::sleep(Duration::from_millis(1));
            };
            let (a, b) = (thread::spawn(move || work(0)), thread::spawn(move || work(1)));
            a.join().unwrap();
            b.join().unwrap();
        }
    "#;
    bench.file("maps.rs", &text.replace("VALUE", value).replace("MAKE", make));
    succeed(bench.command("rustc").args(["-g", "--edition", "2024", "maps.rs"]));
    let caught = bench.catch(EAGER, &["./maps"]);
    caught.assert_caught("HashMap");
    assert!(caught.ends(0).iter().all(|f| f.ends_with("maps::put")), "{:?}", caught.ends(0));
}

/// A deferred task runs in the thread that asks for its result, unless it is forced to run at once.
#[test]
fn tasks_that_are_forced_to_run_at_once() {
    let bench = Bench::new();
    let text = r#"
        #include <future>
        #include <vector>
        #include <cstdio>
        std::vector<int> shared;
        static std::atomic<int> done;
        static void step(int, int) {}
        static void work(int i) {
            for (int n = 0; n < 40 || done < 2; n++) {
                shared.push_back(i);
                if (n == 40) done++;
                if (std::getenv("ALONE")) done = 2;
                usleep(1000);
            }
        }
        int main() {
            (void)both;
            printf("%u\n", std::thread::hardware_concurrency() >= 4);
            auto a = std::async(std::launch::deferred, work, 1);
            auto b = std::async(std::launch::deferred, work, 2);
            a.get();
            b.get();
        }
    "#;
    bench.build_pair("tasks.cpp", "g++ -O0 -g", text);
    let caught = bench.catch(&format!("{EAGER} --force-async"), &["./tasks"]);
    caught.assert_caught("std::vector `shared`");
    assert_eq!(caught.stdout, "1\n");
    let mut alone = bench.tsvd_command(CALM, &["./tasks"]);
    assert_eq!(alone.env("ALONE", "1").status().unwrap().code(), Some(0));
}

/// Such a program has the runtime inside, or in libtsan's place.
#[test]
fn programs_that_were_instrumented_for_races() {
    let bench = Bench::new();
    bench.build_pair("inside.cpp", &format!("{} c++ -O0 -g", env!("CARGO_BIN_EXE_raddle")), MAP);
    bench.catch(EAGER, &["./inside"]).assert_caught("std::map `shared`");
    bench.build_pair("plain.cpp", "g++ -O0 -g -fsanitize=thread", MAP);
    bench.catch(EAGER, &["./plain"]).assert_caught("std::map `shared`");
}
