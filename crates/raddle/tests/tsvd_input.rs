//! `raddle tsvd`: bad input, what is said, and that the target is left as it was.

mod common;

use common::tsvd::{CALM, EAGER, TsvdRun};
use common::{Bench, look_again, refused, succeed};
use serde_json::Value;

const TOK: &str = r#"
#include <string.h>
static void step(int me, int i) { char s[] = "a,b"; strtok(s, ","); (void)me; (void)i; }
int main(void) { both(); return 0; }
"#;

#[test]
fn a_program_without_a_single_point() {
    let bench = Bench::new();
    bench.build_pair(
        "none.c",
        "gcc -O0",
        "static void step(int me, int i) { (void)me; (void)i; }\nint main(void) { return 0; }\n",
    );
    let said = refused(&mut bench.raddle("tsvd -- ./none"));
    assert!(said.contains("calls a function of the lists") && said.contains("raddle c++ --tsvd"), "{said}");
}

#[test]
fn programs_that_cannot_be_watched_are_refused_before_they_run() {
    let bench = Bench::new();
    bench.build_pair("tok.c", "gcc -O0 -static", TOK);
    assert!(refused(&mut bench.raddle("tsvd -- ./tok")).contains("statically linked"));
    assert!(refused(&mut bench.raddle("tsvd -- ./absent")).contains("there is no program"));
    assert!(refused(&mut bench.raddle("tsvd --policy tsvd -- true")).contains("--policy"));
    let mut best = bench.raddle("tsvd -- true");
    best.env("RADDLE_TSVD_EXPERIMENT", "--policy best");
    assert!(refused(&mut best).contains("best"));
    assert!(refused(&mut bench.raddle("tsvd --runs 0 -- true")).contains("runs"));
}

#[test]
fn trap_files_that_are_none_or_of_another_version_or_build() {
    let bench = Bench::new();
    bench.build_pair("tok.c", "gcc -O0", TOK);
    bench.file("broken.json", "{ \"schema\": ");
    assert!(refused(&mut bench.raddle("tsvd --trap-file broken.json -- ./tok")).contains("is no trap file"));
    bench.file("newer.json", r#"{ "schema": "raddle.traps/9", "pairs": [] }"#);
    assert!(refused(&mut bench.raddle("tsvd --trap-file newer.json -- ./tok")).contains("another version"));
    let pair = r#"{ "sites": ["tok: gone > strtok #1", "tok: step > strtok #1"], "probability": 1.0 }"#;
    bench.file("other.json", &format!(r#"{{ "schema": "raddle.traps/1", "pairs": [{pair}] }}"#));
    let caught = bench.catch(&format!("{EAGER} --trap-file other.json"), &["./tok"]);
    let sentence = "1 of 1 pairs in the trap file name places that this build does not have";
    assert!(caught.stderr.contains(sentence), "{}", caught.stderr);
    caught.assert_caught("strtok");
}

#[test]
fn lists_of_a_project() {
    let bench = Bench::new();
    let text = r#"
        struct handle { int n; };
        __attribute__((noinline)) void handle_put(int i, struct handle *h) { h->n = i; }
        static struct handle shared;
        static void step(int me, int i) { (void)me; handle_put(i, &shared); }
        int main(void) { both(); return 0; }
    "#;
    bench.build_pair("own.c", "gcc -O0 -g", text);
    let list = "[[tsvd.list]]\nlibrary = \"ours\"\n[[tsvd.list.class]]\nname = \"handle\"\nobject = 1\nwrite = [\"handle_put\", \"handle_gone\"]\n";
    bench.file("raddle.toml", list);
    bench.file(".git/HEAD", "");
    let caught = bench.catch(EAGER, &["./own"]);
    caught.assert_caught("one handle `shared`");
    let sentence = "the pattern `handle_gone` of your list matches no call in the program";
    assert!(caught.stderr.contains(sentence), "{}", caught.stderr);
    bench.file("raddle.toml", &list.replace("object = 1", "object = 9"));
    assert!(refused(&mut bench.raddle("tsvd -- ./own")).contains("0 to 5"));
    bench.file("raddle.toml", "");
    bench.file("more.toml", list);
    bench.catch(&format!("{EAGER} --api more.toml"), &["./own"]).assert_caught("one handle `shared`");
    assert!(refused(&mut bench.raddle("tsvd --api absent.toml -- ./own")).contains("absent.toml"));
}

/// Floating-point arguments, many arguments, a variable number of them, results in memory,
/// exceptions.
#[test]
fn calls_arrive_as_they_were_made() {
    let bench = Bench::new();
    let text = r#"
        #include <cstdarg>
        #include <cstdio>
        #include <stdexcept>
        #include <string>
        struct Big { double a[6]; };
        extern "C" {
        __attribute__((noinline)) double api_many(void *o, int a, long b, double c, float d, int e, long f, double g, int h, int i) { return o != nullptr ? a + b + c + d + e + f + g + h * 10 + i * 100 : 0; }
        __attribute__((noinline)) double api_variadic(void *, const char *kinds, ...) {
            va_list list;
            va_start(list, kinds);
            double sum = 0;
            for (; *kinds; kinds++) sum += *kinds == 'd' ? va_arg(list, double) : va_arg(list, int);
            va_end(list);
            return sum;
        }
        }
        namespace api {
        __attribute__((noinline)) Big big(void *, double x) { return Big{{x, x + 1, x + 2, x + 3, x + 4, x + 5}}; }
        __attribute__((noinline)) int raise(void *, int i) { if (i % 2) throw std::runtime_error("odd"); return i; }
        __attribute__((noinline)) long double wide(void *, long double x) { return x * 2; }
        }
        static int object;
        static double sums[2];
        static void step(int, int) {}
        static double once(int i) {
            double s = api_many(&object, 1, 2, 3.5, 4.5f, 5, 6, 7.25, 8, i) + api_variadic(&object, "didid", 1.5, 2, 2.5, i, 0.25);
            Big b = api::big(&object, i);
            s += b.a[0] + b.a[5] + api::wide(&object, 1.5L);
            try { s += api::raise(&object, i); } catch (const std::runtime_error &e) { s += std::string(e.what()).size(); }
            return s;
        }
        static void *many(void *to) { for (int i = 0; i < 500; i++) *(double *)to += once(i); return 0; }
        int main() {
            (void)run; (void)both;
            pthread_t a, b;
            pthread_create(&a, 0, many, &sums[0]);
            pthread_create(&b, 0, many, &sums[1]);
            pthread_join(a, 0);
            pthread_join(b, 0);
            printf("%.3f %.3f\n", sums[0], sums[1]);
        }
    "#;
    let list = "[[tsvd.list]]\nlibrary = \"ours\"\n[[tsvd.list.class]]\nname = \"api\"\nread = [\"api_many\", \"api_variadic\", \"api::raise\"]\n[[tsvd.list.class.also]]\nread = [\"api::wide\"]\n[[tsvd.list.class.also]]\nobject = 1\nread = [\"api::big\"]\n";
    bench.file("more.toml", list);
    for flags in ["-O0", "-O2", "-O3 -march=native"] {
        bench.build_pair("calls.cpp", &format!("g++ {flags}"), text);
        let alone = succeed(&mut bench.command("./calls"));
        let caught = bench.tsvd(&format!("{CALM} --api more.toml"), &["./calls"]);
        caught.assert_clean();
        assert_eq!(caught.stdout, alone, "{flags}");
        assert!(caught.stat("points") >= 5, "{}", caught.report);
        assert!(caught.stat("calls") >= 5000, "{}", caught.report);
    }
}

#[test]
fn delays_stay_within_their_caps() {
    let bench = Bench::new();
    let locked = TOK.replace(
        "char s[]",
        "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); char s[]",
    );
    let locked = locked.replace("(void)me;", "pthread_mutex_unlock(&m); (void)me;");
    bench.build_pair("locked.c", "gcc -O0", &locked);
    for (cap, most) in [("--thread-cap 40", 80), ("--test-cap 60", 60), ("--run-cap 20", 20)] {
        let caught =
            bench.tsvd(&format!("--without hb-inference ++ --delay 20 --window 60000 {cap}"), &["./locked"]);
        caught.assert_clean();
        assert!(caught.stat("delay_ms") <= most, "{cap}: {}", caught.report);
        assert!(caught.stat("delays_refused") > 0, "{cap}: {}", caught.report);
        assert!(caught.stderr.contains("so that no test times out"), "{}", caught.stderr);
    }
}

#[test]
fn coverage_as_a_table_and_in_json() {
    let bench = Bench::new();
    let text = r#"
        #include <stdlib.h>
        static void step(int me, int i) { (void)me; (void)i; getenv("A"); }
        int main(int argc, char **argv) {
            (void)argv;
            getenv("B");
            both();
            if (argc > 1) setenv("A", "1", 1);
            return 0;
        }
    "#;
    bench.build_pair("covered.c", "gcc -O0 -g", text);
    let caught = bench.tsvd(&format!("{CALM} --coverage=covered.json"), &["./covered"]);
    caught.assert_clean();
    let covered: Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path("covered.json")).unwrap()).unwrap();
    assert_eq!(covered["schema"], "raddle.tsvd-coverage/1");
    assert_eq!(
        covered["total"],
        serde_json::json!({ "points": 3, "hit": 2, "concurrent": 1, "never_hit": 1 })
    );
    let points = covered["files"][0]["points"].as_array().unwrap();
    let concurrent: Vec<_> =
        points.iter().filter(|p| p["concurrent"] == true).map(|p| &p["function"]).collect();
    assert_eq!(concurrent, ["step"]);
    assert_eq!(points.iter().find(|p| p["hit"] == false).unwrap()["operation"], "setenv");
    let table = bench.tsvd(&format!("{CALM} --coverage"), &["./covered"]).stderr;
    assert!(table.lines().any(|l| l.starts_with("covered.c") && l.ends_with('1')), "{table}");
    assert_eq!((caught.stat("points"), caught.stat("points_concurrent"), caught.stat("sites")), (2, 1, 3));
}

#[test]
fn the_target_file_is_never_changed() {
    let bench = Bench::new();
    bench.build_pair("tok.c", "gcc -O0", TOK);
    let before = std::fs::read(bench.path("tok")).unwrap();
    bench.catch(EAGER, &["./tok"]).assert_caught("strtok");
    assert!(std::fs::read(bench.path("tok")).unwrap() == before);
}

#[test]
fn optimised_containers_are_missed_and_that_is_said() {
    let bench = Bench::new();
    let text = r#"
        #include <vector>
        #include <string.h>
        static std::vector<int> v[2];
        static void step(int me, int i) { char s[] = "a,b"; strtok(s, ","); v[me].push_back(i); }
        int main() { both(); }
    "#;
    bench.build_pair("fast.cpp", "g++ -O2", text);
    let caught = bench.catch(EAGER, &["./fast"]);
    assert!(
        caught.stderr.contains("std::vector or their kin") && caught.stderr.contains("raddle c++ --tsvd"),
        "{}",
        caught.stderr
    );
}

/// Nothing is left of a container but its destructor, which `atexit` gets.
#[test]
fn where_all_is_inlined_nothing_can_be_watched() {
    let bench = Bench::new();
    let build = |name: &str, includes: &str, rest: &str| {
        let text = format!(
            "#include <vector>\n#include <stdio.h>\n{includes}\nstatic std::vector<int> v;\n\
             static void step(int, int i) {{ v.push_back(i); }}\n\
             int main() {{ v.reserve(100000); both(); {rest} }}\n"
        );
        bench.build_pair(name, "g++ -O2", &text);
    };
    build("inlined.cpp", "", "printf(\"%zu\\n\", v.size());");
    let remedy = "raddle c++ --tsvd";
    // The program runs and prints before it is known that nothing was seen of it.
    let refused = |line: &str| {
        let output = bench.raddle(line).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains("nothing could be watched") && said.contains(remedy), "{line}: {said}");
    };
    refused("tsvd -- ./inlined");
    refused("tsvd -- sh -c ./inlined&&./inlined");
    // What it prints to may be shared: that is no point that is reached.
    build("prints.cpp", "#include <iostream>", "std::cout << v.size() << std::endl;");
    refused("tsvd -- ./prints");

    bench.build_pair("tok.c", "gcc -O0", TOK);
    let caught = bench.tsvd(CALM, &["sh", "-c", "./inlined && ./tok"]);
    assert!(caught.stat("points") > 0 && caught.stderr.contains(remedy), "{}", caught.stderr);
}

/// Some calls are seen, so something was watched; the inlined ones are counted, and those by the
/// container's own methods are not.
#[test]
fn calls_that_are_inlined_are_counted() {
    let bench = Bench::new();
    let text = "#include <vector>\nstatic std::vector<int> v;\n\
                __attribute__((optimize(\"O0\"))) static void seen(int i) { v.push_back(i); }\n\
                static void step(int, int i) { if (i % 2) v.push_back(i); else v.emplace_back(i); }\n\
                int main() { v.reserve(100000); seen(1); both(); return v.empty(); }\n";
    bench.build_pair("some.cpp", "g++ -O2 -g", text);
    let caught = bench.tsvd(CALM, &["./some"]);
    let said = caught.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("a compiler has inlined") && said.contains("`std::vector::emplace_back`"),
        "{said}"
    );
    assert!(said.contains("which are not seen; a build without inlining shows them"), "{said}");

    bench.build_pair("all.cpp", "g++ -O0 -g", text);
    let caught = bench.tsvd(CALM, &["./all"]);
    assert!(!caught.stderr.contains("inlined"), "{}", caught.stderr);
}

#[test]
fn how_much_was_watched_is_said() {
    let bench = Bench::new();
    let text = "#include <string.h>\nstatic void step(int m, int i) { (void)m; (void)i; }\nint main(int n, char **a) {\n\
                char s[] = \"a,b\"; if (n > 1) strtok(s, a[1]); return 0; }\n";
    bench.build_pair("rare.c", "gcc -O0", text);
    let said = |arguments: &str| {
        let output = bench.raddle(&format!("tsvd --no-store -- ./rare {arguments}")).output().unwrap();
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let none = said("");
    assert!(
        none.contains("watched 1 point in 1 file: none was reached, so nothing could be found"),
        "{none}"
    );
    let one = said(",");
    assert!(one.contains("watched 1 point in 1 file: 1 reached by 1 call, 0 of them"), "{one}");
}

/// Millions of calls: each is counted, whether it was let by or not, and arrives with its
/// arguments. Stubs let calls by that were counted in advance, up to 32 for each point of a thread.
#[test]
fn calls_in_hot_loops_are_counted_and_arrive() {
    let bench = Bench::new();
    let text = r#"
        #include <assert.h>
        struct handle { long n; };
        typedef struct handle handle;
        #define OUT __attribute__((noinline))
        OUT long h_put(handle *h, long a, double x) { h->n += a; assert(x == 0.5); return h->n; }
        OUT long h_fifth(long a, long b, long c, long d, long e, handle *h) { return h->n += a + b + c + d + e; }
        OUT void h_init(handle *h) { h->n = 0; }
        OUT void h_end(handle *h) { assert(h->n >= 0); h->n = -1; }
        enum { N = 200000 };
        static void loop(void) {
            static __thread handle own;
            for (long i = 0; i < N; i++) {
                handle made;
                h_init(&made);
                long before = own.n, next = h_put(&own, 3, 0.5);
                assert(next == before + 3 && h_fifth(1, 2, 3, 4, 5, &own) == next + 15);
                h_end(&made);
            }
        }
        static void *other(void *a) { loop(); return a; }
        static void step(int me, int i) { (void)me; (void)i; }
        int main(void) {
            (void)both;
            loop();
            pthread_t a, b;
            pthread_create(&a, 0, other, 0);
            pthread_create(&b, 0, other, 0);
            pthread_join(a, 0);
            pthread_join(b, 0);
            loop();
            return 0;
        }
    "#;
    let list = "[[tsvd.list]]\nlibrary = \"handles\"\n[[tsvd.list.class]]\nname = \"handle\"\nwrite = [\"h_put\", \"h_init\", \"h_end\"]\n\
                [[tsvd.list.class.also]]\nobject = 5\nwrite = [\"h_fifth\"]\n";
    bench.file("lists.toml", list);
    for compiler in ["gcc -O0", "gcc -O2 -fno-plt", "gcc -O1 -fpie -pie"] {
        bench.build_pair("hot.c", compiler, text);
        let caught = bench.tsvd(&format!("{CALM} --api lists.toml"), &["./hot"]);
        caught.assert_clean();
        let (calls, made) = (caught.stat("calls"), 4 * 4 * 200_000);
        assert!((made..made + 4 * 4 * 32).contains(&calls), "{compiler}: {}", caught.report);
    }
}

#[test]
fn two_contracts_on_one_line_are_two_findings() {
    let bench = Bench::new();
    let text = r#"
        #include <string.h>
        #include <time.h>
        static void step(int me, int i) {
            (void)me; time_t t = i; char s[] = "a,b";
            if (strtok(s, ",") && localtime(&t)) usleep(100);
            strtok(s, ",");
        }
        int main(void) { both(); return 0; }
    "#;
    bench.build_pair("line.c", "gcc -g -O0", text);
    let traps = "--trap-file traps.json --runs 3 --share 1000";
    let on_the_line =
        |finding: &&Value| finding["accesses"].as_array().unwrap().iter().all(|a| a["stack"][0]["line"] == 7);
    // Both must be caught in one of five tries, and either takes luck.
    let attempt = || {
        let _ = std::fs::remove_file(bench.path("traps.json"));
        bench.tsvd(&format!("{EAGER} {traps}"), &["./line"])
    };
    let has_both = |caught: &TsvdRun| caught.findings().iter().filter(on_the_line).count() == 2;
    let caught = look_again(has_both, attempt);
    assert_eq!(caught.status, 66, "{}", caught.stderr);
    let findings: Vec<&Value> = caught.findings().iter().filter(on_the_line).collect();
    assert_eq!(findings.len(), 2, "{}", caught.report);
    let contracts: Vec<&str> = findings.iter().map(|f| f["contract"].as_str().unwrap()).collect();
    assert!(contracts.contains(&"strtok's state"), "{contracts:?}");
    // Where there is one contract, places say all.
    let others = caught.findings().iter().filter(|f| !on_the_line(f));
    assert!(others.map(|f| &f["contract"]).all(Value::is_null), "{}", caught.report);
}

#[test]
fn a_class_is_listed_once() {
    let bench = Bench::new();
    bench.build_pair("tok.c", "gcc -O0", TOK);
    let class = "[[tsvd.list.class]]\nname = \"handle\"\nwrite = [\"h_put\"]\n";
    bench.file("twice.toml", &format!("[[tsvd.list]]\nlibrary = \"handles\"\n{class}{class}"));
    let said = refused(&mut bench.raddle("tsvd --api twice.toml -- ./tok"));
    assert!(said.contains("class `handle`: the list has another class of this name"), "{said}");
    let list = format!("[[tsvd.list]]\nlibrary = \"handles\"\n{class}");
    bench.file("lists.toml", &format!("{list}{list}"));
    let said = refused(&mut bench.raddle("tsvd --api lists.toml -- ./tok"));
    assert!(said.contains("another class of this name"), "two lists of one library: {said}");
}

/// The program's functions are named like zlib's own.
#[test]
fn names_that_a_library_has_too_do_not_hide_calls() {
    if !std::path::Path::new("/usr/lib/x86_64-linux-gnu/libz.so.1").exists() {
        eprintln!("zlib is not installed");
        return;
    }
    let bench = Bench::new();
    let text = r#"
        typedef struct { char bytes[112]; } z_stream;
        int deflateReset(z_stream *);
        static z_stream shared;
        __attribute__((noinline)) int gz_reset(z_stream *s) { return deflateReset(s); }
        __attribute__((noinline)) int compress(z_stream *s) { return gz_reset(s) + deflateReset(s); }
        static void step(int me, int i) { (void)me; (void)i; compress(&shared); }
        int main(void) { both(); return 0; }
    "#;
    bench.build_pair("names.c", "gcc -O0 -g -l:libz.so.1", text);
    let caught = bench.catch(EAGER, &["./names"]);
    caught.assert_caught("one z_stream `shared`");
    assert_eq!(caught.stat("sites"), 2, "{}", caught.report);
}

/// A test that expects something within two seconds fails by a delay of three; the verdict is that
/// of the command without delays.
#[test]
fn a_test_that_fails_by_a_delay_alone_passes() {
    let bench = Bench::new();
    let text = r#"
        #include <string.h>
        #include <time.h>
        #include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static void step(int me, int i) {
            struct timespec before, after;
            char text[] = "a,b";
            pthread_mutex_lock(&lock);
            clock_gettime(CLOCK_MONOTONIC, &before);
            strtok(text, ",");
            clock_gettime(CLOCK_MONOTONIC, &after);
            pthread_mutex_unlock(&lock);
            double seconds = after.tv_sec - before.tv_sec + (after.tv_nsec - before.tv_nsec) * 1e-9;
            if (seconds > 2) _exit(3);
        }
        int main(int n, char **words) { both(); return n > 1 ? 4 : 0; }
    "#;
    bench.build_pair("timed.c", "gcc -O1", text);
    let options = "--without short-first ++ --delay 3000 --window 60000 --fresh";
    let passes = bench.tsvd(options, &["./timed"]);
    assert_eq!((passes.status, passes.stat("target_status")), (0, 0), "{}", passes.stderr);
    assert_eq!(passes.stat("target_status_delayed"), 3);
    assert!(passes.stderr.contains("failed with 1 delay, and passes without"), "{}", passes.stderr);
    let fails = bench.tsvd(options, &["./timed", "badly"]);
    assert_eq!((fails.status, fails.stat("target_status_delayed")), (4, 3), "{}", fails.stderr);
    assert!(fails.stderr.contains("it also fails without delays (status 4)"), "{}", fails.stderr);
    let first = bench.tsvd(&format!("{options} --no-retry"), &["./timed"]);
    assert_eq!((first.status, first.stat("target_status")), (3, 3), "{}", first.stderr);
}
