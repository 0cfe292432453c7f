//! Instructions whose results differ from run to run.

mod common;

use common::Workshop;

const SOURCE: &str = r#"
long tsc(void) { unsigned a, d; __asm__ volatile("rdtsc" : "=a"(a), "=d"(d)); return a; }
long tscp(void) { unsigned a, d, c; __asm__ volatile("rdtscp" : "=a"(a), "=d"(d), "=c"(c)); return a; }
long pmc(void) { unsigned a, d; __asm__ volatile("rdpmc" : "=a"(a), "=d"(d) : "c"(0)); return a; }
long wide(void) { long n; __asm__ volatile("rdrand %0" : "=r"(n)); return n; }
int seed(void) { int n; __asm__ volatile("rdseed %0" : "=r"(n)); return n; }
long which(void) { long n; __asm__ volatile("rdpid %0" : "=r"(n)); return n; }
long number(void) { volatile long n = 0x310f310f; return n; }
void exchange(long *p) { __asm__ volatile("cmpxchg8b %0" : "+m"(*p) : : "rax", "rbx", "rcx", "rdx"); }
int main(void) { return 0; }
"#;

#[test]
fn instructions_are_found_and_operands_are_not() {
    let all = ["tsc", "tscp", "pmc", "wide", "seed", "which"];
    for command in ["gcc -O0", "gcc -O2"] {
        let found = Workshop::new().build("chance.c", SOURCE, command).unrepeatable_instructions();
        let mut names: Vec<_> = found.iter().map(|(_, name)| name.as_deref().unwrap_or("?")).collect();
        names.sort_unstable();
        let mut expected = all;
        expected.sort_unstable();
        assert_eq!(names, expected, "{command}");
    }
}

#[test]
fn they_are_found_in_a_file_without_symbols() {
    let found = Workshop::new().build("chance.c", SOURCE, "gcc -O2 -s").unrepeatable_instructions();
    assert!(found.len() >= 6 && found.iter().all(|(_, name)| name.is_none()), "{found:?}");
}
