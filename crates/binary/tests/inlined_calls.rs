//! Calls that a compiler has inlined.

mod common;

use common::Workshop;
use raddle_binary::Module;

const TEXT: &str = "struct Box { volatile int n; void put(int i) { n = n + i; } void twice(int i) { put(i); put(i); } };\n\
    Box box;\n\
    __attribute__((noinline)) void far(int i) { box.n = i; }\n\
    int main(int n, char **) {\n\
      for (int i = 0; i < n; i++) box.put(i);\n\
      box.put(7);\n\
      box.twice(n);\n\
      far(n);\n\
      return box.n;\n\
    }\n";

/// The callers of `Box::put`, by how the compiler calls them.
fn callers(module: &Module) -> Vec<String> {
    let calls = module.inlined_calls(|name| name.contains("3put"));
    let mut callers: Vec<String> = calls.into_iter().filter_map(|call| call.caller).collect();
    callers.sort();
    callers
}

#[test]
fn each_place_of_a_call_counts_once() {
    let workshop = Workshop::new();
    for compiler in ["g++ -O2 -funroll-loops", "clang++-19 -O2"] {
        let module = workshop.build("inlined.cc", TEXT, &format!("{compiler} -g"));
        assert_eq!(callers(&module), ["_ZN3Box5twiceEi", "_ZN3Box5twiceEi", "main", "main"], "{compiler}");
        assert!(module.inlined_calls(|name| name.contains("3far")).is_empty(), "{compiler}");
    }
}

#[test]
fn a_call_is_not_inlined() {
    let workshop = Workshop::new();
    for flags in ["-O0 -g", "-O2 -fno-inline -g", "-O2"] {
        let module = workshop.build("called.cc", TEXT, &format!("g++ {flags}"));
        assert!(callers(&module).is_empty(), "{flags}");
    }
}

/// Rust's own libraries were optimised when they were built.
#[test]
fn calls_within_rusts_own_libraries_do_not_count() {
    let text =
        "fn main() { let mut v = Vec::new(); v.push(std::env::args().count()); println!(\"{v:?}\"); }\n";
    let workshop = Workshop::new();
    let pushes = |flags: &str| {
        let module = workshop.build("main.rs", text, &format!("rustc --edition 2024 -g {flags}"));
        module.inlined_calls(|name| name.contains("4push17h")).len()
    };
    assert_eq!(pushes("-Copt-level=0"), 0);
    assert_eq!(pushes("-Copt-level=3"), 1);
}
