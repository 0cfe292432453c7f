//! Rust programs built through `raddle rustc` and `cargo raddle`, and run.

mod common;

use common::{Bench, refused, stderr, succeed, symbols};
use std::path::Path;

const LOCKED: &str = "use std::sync::*;\n\
    fn main() {\n    let m = Arc::new(Mutex::new(0));\n    let n = m.clone();\n\
    std::thread::spawn(move || *n.lock().unwrap() += 1).join().unwrap();\n\
    println!(\"{}\", m.lock().unwrap());\n}\n";

fn assert_instrumented(program: &Path) {
    let symbols = symbols(program);
    assert!(symbols.contains(" T __tsan_init\n"), "{}", program.display());
    assert!(!symbols.contains("U __tsan_"), "{}", program.display());
}

#[test]
fn rustc_instruments_the_program_and_std() {
    let bench = Bench::new();
    bench.file("locked.rs", LOCKED);
    bench.ok("rustc --edition 2024 -O locked.rs -o locked");
    assert_instrumented(&bench.path("locked"));
    assert_eq!(succeed(&mut bench.command("./locked")), "1\n");
    // std's own code calls the runtime: this function is compiled nowhere but in std.
    let code = succeed(bench.command("objdump").args(["-d", "--demangle", "locked"]));
    let function = code.split("\n\n").find(|f| {
        f.lines().next().unwrap_or_default().contains("<std::sys::sync::mutex::futex::Mutex>::lock_contended")
            || f.lines()
                .next()
                .unwrap_or_default()
                .contains("<std::sys::sync::mutex::futex::Mutex::lock_contended")
    });
    assert!(function.expect("std's contended lock").contains("__tsan_atomic32"));
}

#[test]
fn rustc_refuses_what_cannot_be_watched() {
    let bench = Bench::new();
    bench.file("a.rs", "fn main() {}\n");
    for (line, hint) in [
        ("-C prefer-dynamic", "prefer-dynamic"),
        ("-C target-feature=+crt-static", "crt-static"),
        ("--target x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"),
    ] {
        let text = refused(&mut bench.raddle(&format!("rustc {line} a.rs")));
        assert!(text.contains(hint), "{text}");
    }
}

#[test]
fn rustc_answers_questions_untouched() {
    let bench = Bench::new();
    assert_eq!(bench.ok("rustc -vV"), succeed(bench.command("rustc").arg("-vV")));
    let wrapped = bench.ok("rustc rustc -vV");
    assert!(wrapped.lines().last().unwrap().starts_with("raddle: "), "marks cargo's fingerprints");
}

#[test]
fn shared_libraries_leave_the_runtime_to_the_executable() {
    let bench = Bench::new();
    bench.file("lib.rs", "#[unsafe(no_mangle)] pub extern \"C\" fn f(p: &mut i32) { *p = 1; }\n");
    bench.ok("rustc --edition 2024 --crate-type cdylib lib.rs -o lib.so");
    assert!(symbols(&bench.path("lib.so")).contains("U __tsan_"));
}

/// A workspace with a program, a proc-macro and a crate with C code that both of them use.
fn workspace(bench: &Bench) {
    bench.file(
        "Cargo.toml",
        "[workspace]\nmembers = [\"app\", \"mac\", \"five\"]\nresolver = \"3\"\n\
        [profile.release]\nlto = true\n",
    );
    bench.file(".cargo/config.toml", "[alias]\nunwatched = \"test\"\n");
    let package = |name: &str, rest: &str| {
        let head = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        bench.file(&format!("{name}/Cargo.toml"), &(head + rest));
    };
    package("app", "[dependencies]\nmac = { path = \"../mac\" }\nfive = { path = \"../five\" }\n");
    package("mac", "[lib]\nproc-macro = true\n[dependencies]\nfive = { path = \"../five\" }\n");
    package("five", "");
    bench.file(
        "app/src/lib.rs",
        "//! ```\n//! assert_eq!(app::two(), 2);\n//! ```\n\
        pub fn two() -> i32 { mac::two!() }\n#[test] fn unit() { assert_eq!(two(), 2); }\n",
    );
    bench.file("app/src/main.rs", "fn main() { println!(\"{} {}\", app::two(), five::five()); }\n");
    bench.file(
        "mac/src/lib.rs",
        "#[proc_macro] pub fn two(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n\
        assert_eq!(five::five(), 5); \"2\".parse().unwrap() }\n",
    );
    bench.file(
        "five/src/lib.rs",
        "unsafe extern \"C\" { fn c_five() -> i32; }\n\
        pub fn five() -> i32 { unsafe { c_five() } }\n",
    );
    bench.file("five/five.c", "static int value; int c_five(void) { value = 5; return value; }\n");
    bench.file("five/build.rs", BUILD_SCRIPT);
}

/// Compiles C as the `cc` crate does, and asks for nightly features as `autocfg` does.
const BUILD_SCRIPT: &str = r##"
use std::{env::var, io::Write, process::{Command, Stdio}};
fn main() {
    let out = var("OUT_DIR").unwrap();
    let cc = var("CC_x86_64_unknown_linux_gnu").unwrap_or("cc".into());
    let object = format!("{out}/five.o");
    assert!(Command::new(cc).args(["-fPIC", "-c", "five.c", "-o", &object]).status().unwrap().success());
    assert!(Command::new("ar").args(["rcs", &format!("{out}/libfive.a"), &object]).status().unwrap().success());
    println!("cargo::rustc-link-search={out}\ncargo::rustc-link-lib=static=five");
    let mut probe = Command::new(var("RUSTC_WRAPPER").unwrap())
        .arg(var("RUSTC").unwrap())
        .args(["--crate-name", "probe", "--crate-type=lib", "--emit=metadata", "--out-dir", &out])
        .args(["--target", &var("TARGET").unwrap(), "-"])
        .stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    probe.stdin.take().unwrap().write_all(b"#![feature(test)]").unwrap();
    assert!(!probe.wait().unwrap().success(), "a build script saw a nightly compiler");
}
"##;

#[test]
fn cargo_keeps_host_and_target_apart() {
    let bench = Bench::new();
    workspace(&bench);
    bench.ok("cargo build --offline");
    let folder = bench.path("target/raddle/x86_64-unknown-linux-gnu/debug");
    assert_instrumented(&folder.join("app"));
    assert_eq!(succeed(&mut bench.command(folder.join("app"))), "2 5\n");
    let c_object = |folder: &Path| {
        let scripts = std::fs::read_dir(folder.join("build")).unwrap().flatten();
        scripts.map(|s| s.path().join("out/five.o")).find(|o| o.is_file()).unwrap()
    };
    assert!(symbols(&c_object(&folder)).contains("__tsan_write4"), "C code for the program");
    let host = bench.path("target/raddle/debug");
    assert!(!symbols(&c_object(&host)).contains("__tsan_"), "C code for the proc-macro");

    // Nothing is built twice, and doctests link.
    let output = bench.raddle("cargo build --offline").output().unwrap();
    assert!(!stderr(&output).contains("Compiling"), "{}", stderr(&output));
    let tests = bench.ok("cargo unwatched --offline");
    assert_eq!(tests.matches("1 passed").count(), 2, "a unit test and a doctest: {tests}");

    cargo_explore_makes_a_search_per_test(&bench);
}

/// In the folder that is built already: std takes a while.
fn cargo_explore_makes_a_search_per_test(bench: &Bench) {
    bench.file("app/tests/added.rs", ADDED);
    let output = bench.raddle("cargo explore --format json -- --offline").output().unwrap();
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report}");
    assert_eq!(findings[0]["kind"], "assertion", "{report}");
    assert!(report.to_string().contains("in the test `added: lost`"), "{report}");
    assert_eq!(report["stats"]["tests"], 3, "{report}");
    assert_eq!(report["stats"]["tests_without_threads_names"], "app: unit", "{report}");
    assert_eq!(report["stats"]["tests_not_reached"], 0, "{report}");
    let command: Vec<&str> = report["target"].as_array().unwrap().iter().flat_map(|w| w.as_str()).collect();
    assert_eq!(command, ["cargo", "raddle", "explore", "--offline"]);

    let text = refused(&mut bench.raddle("cargo explore --resume"));
    assert!(text.contains("one search per test"), "{text}");
}

/// Two tests with threads: one loses an update, and one reads a file of its package.
const ADDED: &str = "use std::sync::atomic::*;\n\
    static N: AtomicUsize = AtomicUsize::new(0);\n\
    fn add() { let n = N.load(Ordering::SeqCst); N.store(n + 1, Ordering::SeqCst); }\n\
    #[test] fn lost() {\n    std::thread::scope(|s| { s.spawn(add); s.spawn(add); });\n\
    assert_eq!(N.load(Ordering::SeqCst), 2);\n}\n\
    #[test] fn at_home() {\n\
    assert!(std::thread::spawn(|| std::fs::exists(\"tests/added.rs\").unwrap()).join().unwrap());\n}\n";

#[test]
fn cargo_in_release_keeps_lines_and_leaves_lto_off() {
    let bench = Bench::new();
    workspace(&bench);
    let output = bench.raddle("cargo build --offline --release").output().unwrap();
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("link-time optimisation is off").count(), 1, "{text}");
    let program = bench.path("target/raddle/x86_64-unknown-linux-gnu/release/app");
    assert_instrumented(&program);
    assert!(succeed(bench.command("readelf").arg("-SW").arg(&program)).contains(".debug_line"));
}

#[test]
fn cargo_refuses_with_a_sentence() {
    let bench = Bench::new();
    workspace(&bench);
    let text = refused(&mut bench.raddle("cargo --mode hybrid build"));
    assert!(text.contains("--mode") && text.contains("cargo build"), "{text}");
    let text = refused(&mut bench.raddle("cargo build --target x86_64-unknown-linux-musl"));
    assert!(text.contains("musl"), "{text}");
}
