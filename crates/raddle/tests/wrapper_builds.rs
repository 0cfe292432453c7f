//! Programs built with real compilers through the wrappers, and run.

mod common;

use common::{Bench, needed, succeed, symbols};

const COMPILERS: &[(&str, &str)] = &[("gcc", "g++"), ("clang-14", "clang++-14"), ("clang-19", "clang++-19")];

const MAIN: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <raddle/annotations.h>
int answer(void);
static int calls;
int main(int argc, char **argv) {
    calls++;
    if (argc > 1) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (!library) { puts(dlerror()); return 1; }
        calls += ((int (*)(void))dlsym(library, "answer"))() == 42;
    }
    printf("%d %d\n", calls, answer());
    return 0;
}
"#;
const ANSWER: &str = "static int value = 41; int answer(void) { value = 42; return value; }\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("main.c", MAIN);
    bench.file("answer.c", ANSWER);
    bench
}

/// The program carries raddle's runtime and does not ask for the compiler's.
fn assert_carries_runtime(bench: &Bench, program: &str) {
    let path = bench.path(program);
    let symbols = symbols(&path);
    assert!(symbols.contains(" T __tsan_init\n"), "{program}");
    // Mold lists weak ones, which a program may define, like the others.
    let missing = |line: &&str| line.contains("U __tsan_") && !line.contains("U __tsan_default_");
    assert_eq!(symbols.lines().find(missing), None, "{program}");
    assert!(!needed(&path).contains("tsan"), "{program}");
}

#[test]
fn in_one_step() {
    let bench = bench();
    for (cc, _) in COMPILERS {
        bench.ok(&format!("cc --use {cc} -O1 -x c main.c answer.c -o main -ldl"));
        assert_carries_runtime(&bench, "main");
        assert_eq!(succeed(&mut bench.command("./main")), "1 42\n", "{cc}");
    }
}

#[test]
fn in_steps_with_a_static_library() {
    let bench = bench();
    for (cc, _) in COMPILERS {
        bench.ok(&format!("cc --use {cc} -Werror -c main.c -o main.o"));
        bench.ok(&format!("cc --use {cc} -Werror -c answer.c -o answer.o"));
        assert!(symbols(&bench.path("answer.o")).contains("U __tsan_write4"), "{cc}");
        succeed(bench.command("ar").args(["rcs", "libanswer.a", "answer.o"]));
        bench.ok(&format!("cc --use {cc} -Werror main.o -L. -lanswer -ldl -o main"));
        assert_carries_runtime(&bench, "main");
        assert_eq!(succeed(&mut bench.command("./main")), "1 42\n", "{cc}");
    }
}

#[test]
fn with_shared_libraries_linked_and_loaded_later() {
    let bench = bench();
    for (cc, _) in COMPILERS {
        let strict = "-Wl,--no-undefined -Wl,-z,defs";
        bench.ok(&format!("cc --use {cc} -fPIC -shared answer.c -o libanswer.so {strict}"));
        assert!(symbols(&bench.path("libanswer.so")).contains("U __tsan_"), "{cc}");
        assert!(!needed(&bench.path("libanswer.so")).contains("tsan"), "{cc}");
        bench.ok(&format!("cc --use {cc} main.c -L. -lanswer -ldl -Wl,-rpath,$ORIGIN -o main"));
        assert_eq!(succeed(bench.command("./main").arg("./libanswer.so")), "2 42\n", "{cc}");
        // Nothing in this one refers to the library's names but the dynamic list.
        bench.ok(&format!("cc --use {cc} main.c answer.c -ldl -o main"));
        assert_eq!(succeed(bench.command("./main").arg("./libanswer.so")), "2 42\n", "{cc}");
    }
}

#[test]
fn cxx_with_threads_and_fences_under_werror() {
    let bench = bench();
    let source = "#include <atomic>\n#include <cstdio>\n#include <thread>\n\
        int main() { int x = 0; std::thread t([&] { x = 1; std::atomic_thread_fence(std::memory_order_seq_cst); });\n\
        t.join(); std::printf(\"%d\\n\", x); }\n";
    bench.file("t.cc", source);
    for (_, cxx) in COMPILERS {
        bench.ok(&format!("c++ --use {cxx} -O1 -Wall -Werror -pthread t.cc -o t"));
        assert_eq!(succeed(&mut bench.command("./t")), "1\n", "{cxx}");
        assert_carries_runtime(&bench, "t");
    }
}

#[test]
fn other_outputs() {
    let bench = bench();
    bench.file("macros.c", "#if defined(__SANITIZE_THREAD__) && defined(__RADDLE__)\nboth\n#endif\n");
    assert!(bench.ok("cc --use gcc -E macros.c").contains("both"));
    bench.file("feature.c", "#if __has_feature(thread_sanitizer) && __RADDLE__\nboth\n#endif\n");
    assert!(bench.ok("cc --use clang-19 -E feature.c").contains("both"));
    for (cc, _) in COMPILERS {
        assert!(bench.ok(&format!("cc --use {cc} -S -o - answer.c")).contains("__tsan_write4"), "{cc}");
        let rule = bench.ok(&format!("cc --use {cc} -M main.c"));
        assert!(rule.starts_with("main.o:") && rule.contains("raddle/annotations.h"), "{cc}: {rule}");
        assert!(bench.ok(&format!("cc --use {cc} -MM main.c")).starts_with("main.o: main.c"), "{cc}");
        bench.ok(&format!("cc --use {cc} -c main.c answer.c"));
        bench.ok(&format!("cc --use {cc} -r main.o answer.o -nostdlib -o both.o"));
        bench.ok(&format!("cc --use {cc} both.o -ldl -o main"));
        assert_carries_runtime(&bench, "main");
    }
}

#[test]
fn assembler_goes_through_under_werror() {
    let bench = bench();
    bench.file("plain.s", ".globl f\nf: ret\n.section .note.GNU-stack,\"\",@progbits\n");
    bench.file("cpp.S", "#define NAME g\n.globl NAME\nNAME: ret\n");
    for (cc, _) in COMPILERS {
        bench.ok(&format!("cc --use {cc} -Werror -c plain.s cpp.S"));
    }
}

#[test]
fn response_files() {
    let bench = bench();
    bench.file("args", "-O1 'main.c' \"answer.c\"\n-o main -ldl");
    bench.ok("cc @args");
    assert_carries_runtime(&bench, "main");
}

#[test]
fn one_file_can_be_left_plain() {
    let bench = bench();
    bench.ok("cc --use gcc -c answer.c -fno-sanitize=thread -o answer.o");
    assert!(!symbols(&bench.path("answer.o")).contains("__tsan_"));
    bench.ok("cc --use gcc main.c answer.o -fno-sanitize=all -ldl -o main");
    assert_carries_runtime(&bench, "main");
}

#[test]
fn other_linkers() {
    let bench = bench();
    let everywhere = ["bfd", "gold", "mold"];
    let pairs = COMPILERS.iter().flat_map(|(cc, _)| everywhere.map(|linker| (*cc, linker)));
    for (cc, linker) in pairs.chain([("clang-19", "lld")]) {
        let cc = format!("cc --use {cc} -fuse-ld={linker}");
        bench.ok(&format!("{cc} -fPIC -shared answer.c -o libanswer.so -Wl,-z,defs"));
        assert!(symbols(&bench.path("libanswer.so")).contains("U __tsan_"), "{cc}");
        bench.ok(&format!("{cc} main.c answer.c -ldl -o main"));
        assert_carries_runtime(&bench, "main");
        assert_eq!(succeed(bench.command("./main").arg("./libanswer.so")), "2 42\n", "{cc}");
    }
}

#[test]
fn paths_with_spaces() {
    let bench = Bench::new();
    bench.file("a.c", "int main(void) { return 0; }\n");
    let cache = bench.path("my cache, mine");
    succeed(bench.raddle("cc a.c -o a").env("XDG_CACHE_HOME", &cache));
    assert_carries_runtime(&bench, "a");
}

#[test]
fn a_linker_script_serves_a_link_by_hand() {
    let bench = bench();
    bench.ok("cc --use gcc -c main.c answer.c");
    let runtime = std::fs::read_dir(common::cache().join("raddle")).unwrap().flatten();
    let exe = runtime.map(|e| e.path().join("exe")).find(|p| p.is_dir()).unwrap();
    let mut link = bench.command("gcc");
    succeed(
        link.args(["-fsanitize=thread", "main.o", "answer.o", "-ldl", "-lm", "-o", "main"])
            .arg("-L")
            .arg(exe),
    );
    assert_carries_runtime(&bench, "main");
}

#[test]
fn doctor_tries_the_compilers() {
    let bench = Bench::new();
    let output = bench.raddle("doctor --format json").output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], "raddle.doctor/1");
    let gcc = report["checks"].as_array().unwrap().iter().find(|c| c["name"] == "gcc").unwrap();
    assert_eq!(gcc["status"], "ok", "{gcc}");
    let works = report["works"].as_bool().unwrap();
    assert_eq!(output.status.code(), Some(if works { 0 } else { 2 }));
}
