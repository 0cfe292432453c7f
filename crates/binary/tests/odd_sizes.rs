//! Accesses of sizes for which LLVM has no probe.

mod common;

use common::Workshop;
use raddle_binary::{Address, Lookup};

const SOURCE: &str = r#"
struct Fields { unsigned a : 10, b : 10; unsigned char c; } fields;
struct Shorts { short a, b, c; } shorts, others;
struct Whole { unsigned a : 10, b : 22; } whole;
long double longest;
double usual;
int numbers[64];
void writes_field(void) { fields.a = 5; }
int reads_field(void) { return fields.b; }
struct Shorts returns(void) { return shorts; }
void adds_longest(void) { longest += 1; }
void adds_usual(void) { usual += 1; }
void writes_whole(void) { whole.a = 5; }
int sums(short *p) { return p[0] + p[1] + p[2]; }
int pairs(struct Shorts *p) { int x = p->a; return x + p->b; }
void adds_numbers(void) { for (int i = 0; i < 64; i++) numbers[i]++; }
int main(void) { struct Shorts s = others; return s.a + s.c + fields.c; }
"#;

/// The functions with such accesses, in a program whose probes stay undefined.
fn found(command: &str) -> Vec<String> {
    let options = "-g -fsanitize=thread -fno-sanitize-link-runtime -Wl,--unresolved-symbols=ignore-all";
    let options = if command.starts_with("gcc") { "-g -fsanitize=thread" } else { options };
    let module = Workshop::new().build("odd.c", SOURCE, &format!("{command} {options}"));
    let frames = |at: &u64| module.frames(Address::Virtual(*at), Lookup::Exact);
    let mut names: Vec<_> =
        module.odd_accesses().iter().flat_map(frames).filter_map(|frame| frame.function).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn clang_leaves_out_probes() {
    let usual = ["adds_longest", "reads_field", "writes_field"];
    assert_eq!(found("clang-19 -O0"), usual);
    assert_eq!(found("clang-19 -O2"), usual);
    let wide = ["adds_longest", "adds_numbers", "reads_field", "writes_field"];
    assert_eq!(found("clang-19 -O2 -mavx2"), wide);
}

#[test]
fn gcc_leaves_out_none() {
    for command in ["gcc -O0", "gcc -O2 -mavx2"] {
        assert_eq!(found(command), [""; 0], "{command}");
    }
}
