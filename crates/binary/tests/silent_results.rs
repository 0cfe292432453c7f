//! Structs that a function returns, which gcc writes without a probe.

mod common;

use common::Workshop;
use raddle_binary::{Address, Lookup};

const SOURCE: &str = r#"
struct small { int a, b; } small, smalls[4];
struct real { double a, b; } real;
struct large { int v[10]; } large;
long number, numbers[4];
extern int input(void);
__attribute__((noinline)) struct small makes_small(int i) { struct small r = {i, input()}; return r; }
__attribute__((noinline)) struct real makes_real(int i) { struct real r = {i, input()}; return r; }
__attribute__((noinline)) struct large makes_large(int i) { struct large r; for (int k = 0; k < 10; k++) r.v[k] = input(); return r; }
void writes_small(int *p) { small = makes_small(*p); }
void writes_element(int *p) { smalls[*p & 3] = makes_small(*p); }
void writes_through_pointer(struct small *p) { *p = makes_small(p->a); }
void writes_real(int *p) { real = makes_real(*p); }
void writes_large(int *p) { large = makes_large(*p); }
long keeps_own(int *p) { struct small own = makes_small(*p); return own.a + own.b; }
void writes_member(int *p) { number = makes_small(*p).a; }
void writes_number(int *p) { number = input(); numbers[*p & 3] = input(); *p = input(); }
int main(void) { return 0; }
"#;

fn found(command: &str) -> Vec<String> {
    let options = "-g -fsanitize=thread -Wl,--unresolved-symbols=ignore-all";
    let options = if command.starts_with("gcc") {
        options.into()
    } else {
        format!("{options} -fno-sanitize-link-runtime")
    };
    let module = Workshop::new().build("results.c", SOURCE, &format!("{command} {options}"));
    let frames = |at: &u64| module.frames(Address::Virtual(*at), Lookup::Exact);
    let mut names: Vec<_> =
        module.silent_results().iter().flat_map(frames).filter_map(|frame| frame.function).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn gcc_leaves_out_probes() {
    let all = ["writes_element", "writes_large", "writes_real", "writes_small", "writes_through_pointer"];
    for command in ["gcc -O0", "gcc -O1", "gcc -O2"] {
        let mut found = found(command);
        found.retain(|name| name != "makes_large");
        assert_eq!(found, all, "{command}");
    }
}

#[test]
fn clang_leaves_out_none() {
    for command in ["clang-19 -O0", "clang-19 -O2"] {
        assert_eq!(found(command), [""; 0], "{command}");
    }
}
