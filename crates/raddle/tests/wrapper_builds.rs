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

/// Each writes `ok` and is built by gcc as it is written.
const WITHOUT_PROTOTYPES: &[&str] = &[
    "int main(void) { static char room[32]; char *p = strcpy(room, \"job\"); char *q = mempcpy(room, \"jo\", 2);\n\
     char *r = memcpy(room, \"xy\", 3); char *s = stpcpy(room, \"qq\"); char on[8]; char *t = memset(on, 0, 8);\n\
     puts(p == room && q == room + 2 && r == room && s == room + 2 && t == on ? \"ok\" : \"cut\"); return 0; }\n",
    "#pragma GCC diagnostic ignored \"-Wimplicit-function-declaration\"\n\
     int puts(const char *); int main(void) { char b[8]; char *p = strcpy(b, \"ok\"); return puts(p) < 0; }\n",
    // <string.h> declares mempcpy for _GNU_SOURCE only.
    "#include <stdio.h>\n#include <string.h>\n\
     int main(void) { char b[8]; char *p = mempcpy(b, \"ok\", 3); puts(p - 3); return 0; }\n",
    // Old style: the length is converted to the builtin's type.
    "#include <stdio.h>\nvoid *memcpy(); char b[8];\n\
     int main(void) { char *p = memcpy(b, \"ok\", 3); puts(p); return 0; }\n",
];

#[test]
fn calls_without_a_prototype_have_the_builtins_type() {
    let bench = Bench::new();
    for (number, source) in WITHOUT_PROTOTYPES.iter().enumerate() {
        bench.file("old.c", source);
        for options in ["-w", "-w -O2", "-w -std=gnu89 -O1", "-w -O2 -D_FORTIFY_SOURCE=2"] {
            bench.ok(&format!("cc --use gcc {options} -MD -MF old.d -c old.c -o old.o"));
            let rule = std::fs::read_to_string(bench.path("old.d")).unwrap();
            assert!(rule.starts_with("old.o:"), "{rule}");
            bench.ok(&format!("cc --use gcc {options} old.c -o old"));
            assert_eq!(succeed(&mut bench.command("./old")), "ok\n", "{number} {options}");
        }
    }
    assert!(!bench.path("old.s").exists() && !bench.path("a.out").exists());
}

#[test]
fn a_source_without_prototypes_changes_only_the_names_it_uses_so() {
    let bench = Bench::new();
    let source = "#include <stddef.h>\nvoid *memset(void *, int, size_t);\n\
        void f(char *p) { memset(p, 0, 24); strcpy(p, \"abc\"); }\n";
    bench.file("part.c", source);
    bench.ok("cc --use gcc -w -O2 -c part.c -o part.o");
    let symbols = symbols(&bench.path("part.o"));
    assert!(symbols.contains("U memset") && !symbols.contains("U strcpy"), "{symbols}");
}

/// What a program may do with a builtin.
const BUILTINS: &[(&str, &str)] = &[
    (
        "macro.c",
        "#define memcpy __builtin_memcpy\n#include <string.h>\n\
        int main(void) { char a[3]; memcpy(a, \"ab\", 3); return a[1] - 98; }\n",
    ),
    (
        "prototype.c",
        "void *__builtin_memcpy(void *, const void *, unsigned long);\n\
        int main(void) { char a[3]; __builtin_memcpy(a, \"ab\", 3); return a[1] - 98; }\n",
    ),
    (
        "label.c",
        "int main(void) { char b[16] = \"abcdefgh\"; const char *q = \"wxyz\"; char *p = b; unsigned long n = 1;\n\
        __builtin_memcpy(p, ({ const char *z = q; lab: if (0) goto lab; z; }), 4);\n\
        __builtin_memcpy(p++, q++, n++); return p - b != 1 || n != 2 || b[3] != 'z'; }\n",
    ),
    (
        "nested.c",
        "int main(void) { char b[64]; __builtin_memcpy(b, __builtin_memcpy(b, __builtin_memcpy(b,\n\
        __builtin_memcpy(b, __builtin_memcpy(b, __builtin_memcpy(b, __builtin_memcpy(b, __builtin_memcpy(b,\n\
        __builtin_memcpy(b, __builtin_memcpy(b, \"abc\", 4), 4), 4), 4), 4), 4), 4), 4), 4), 4); return b[3]; }\n",
    ),
    (
        "braces.c",
        "struct p { int a, b; };\n\
        int main(void) { struct p b; __builtin_memcpy(&b, &(struct p){1, 2}, sizeof(struct p)); return b.b - 2; }\n",
    ),
    (
        "commas.cc",
        "#include <cstring>\ntemplate <class A, class B> struct two {\n\
        static constexpr int n = 4; static const char *s() { return \"hell\"; } };\n\
        int main() { char b[8] = {}; memcpy(b, two<int, int>::s(), two<int, int>::n);\n\
        __builtin_memcpy(b, two<int, char>::s(), two<int, char>::n); int x = 0, y = 0;\n\
        __builtin_memset(&x, [&, y] { return y; }(), two<int, int>::n);\n\
        std::memcpy(&x, (const char[]){\"\\2\\0\\0\"}, 4); return x - 2 + std::strcmp(b, \"hell\"); }\n",
    ),
    (
        "constant.cc",
        "#include <algorithm>\n#include <array>\n#include <bitset>\n#include <string>\n\
        #include <string_view>\n#include <unordered_map>\n#include <valarray>\n#include <vector>\n#include <fstream>\n\
        #if __cplusplus >= 202002L\n\
        constexpr int sum() { std::array<int, 4> a{1, 2, 3, 4}, b{}; std::copy(a.begin(), a.end(), b.begin());\n\
        std::ranges::copy(a, b.begin()); std::array<char, 4> c{}; std::fill(c.begin(), c.end(), 1);\n\
        std::string s(\"a string that is too long for its own room\"); s += s; return b[3] + c[3] + (s.size() > 80); }\n\
        static_assert(sum() == 6);\n\
        constexpr int mine(const char *p) { if (__builtin_is_constant_evaluated()) return p[0];\n\
        int x = 0; __builtin_memcpy(&x, p, 1); return x; }\n\
        static_assert(mine(\"a\") == 'a');\n#endif\n\
        int main() { std::unordered_map<int, int> m; m[1] = 2; m.clear(); std::bitset<200> b; b.set(); b.reset();\n\
        std::vector<bool> v(9, true); std::valarray<int> w(3); std::string s(3, 'a'); return s.size() - 3; }\n",
    ),
];

#[test]
fn programs_with_builtins_of_their_own_are_built_as_by_gcc() {
    let bench = Bench::new();
    for (name, source) in BUILTINS {
        bench.file(name, source);
        let (wrapper, standards): (_, &[&str]) = match name.ends_with(".cc") {
            true => ("c++ --use g++", &["c++11", "c++20"]),
            false => ("cc --use gcc", &["gnu89", "gnu17"]),
        };
        for options in ["-O0", "-O2", "-O2 -D_FORTIFY_SOURCE=2"] {
            for standard in standards {
                bench.ok(&format!("{wrapper} -std={standard} {options} {name} -o program"));
                succeed(&mut bench.command("./program"));
            }
        }
    }
    bench.file(
        "option.c",
        "#include <string.h>\nint main(void) { char a[3]; memcpy(a, \"ab\", 3); return a[1] - 98; }\n",
    );
    bench.ok("cc --use gcc -O2 -Dmemcpy=__builtin_memcpy option.c -o program");
    succeed(&mut bench.command("./program"));
}
