//! Covered probes, against a runtime that logs each probe.
//!
//! Programs that gcc and clang have instrumented are linked with a small runtime of their own. It
//! logs each probe, and each call that may synchronise. Then each execution of a covered probe must
//! have one of a probe that stays, within the same segment, which announces the same bytes and is
//! as strong. Probes that are left out wrongly are noticed the same way.

mod common;

use std::collections::BTreeSet;
use std::process::Command;

use common::{Workshop, address_of};
use raddle_binary::Module;

/// Logs `kind address size return-address`; `s` begins a segment.
const RUNTIME: &str = r#"
#include <stdio.h>
#define PROBE(name, kind, size) \
    void __tsan_##name(void *p) { \
        printf("%c %lx %d %lx\n", kind, (unsigned long)p, size, (unsigned long)__builtin_return_address(0)); \
    }
PROBE(read1, 'r', 1) PROBE(read2, 'r', 2) PROBE(read4, 'r', 4) PROBE(read8, 'r', 8)
PROBE(write1, 'w', 1) PROBE(write2, 'w', 2) PROBE(write4, 'w', 4) PROBE(write8, 'w', 8)
PROBE(read16, 'r', 16) PROBE(write16, 'w', 16)
PROBE(unaligned_read2, 'r', 2) PROBE(unaligned_read4, 'r', 4) PROBE(unaligned_read8, 'r', 8)
PROBE(unaligned_write2, 'w', 2) PROBE(unaligned_write4, 'w', 4) PROBE(unaligned_write8, 'w', 8)
void __tsan_func_entry(void *p) { }
void __tsan_func_exit(void) { }
void __tsan_init(void) { }
void synchronise(void) { printf("s\n"); }
"#;

#[derive(Debug, Clone, Copy)]
struct Logged {
    write: bool,
    address: u64,
    size: u64,
    returns_to: u64,
}

impl Logged {
    fn covers(&self, other: &Logged) -> bool {
        self.address <= other.address
            && other.address + other.size <= self.address + self.size
            && (self.write || !other.write)
    }
}

/// A program, what its probes log by segment, and the return addresses of covered probes.
struct Built {
    _workshop: Workshop,
    segments: Vec<Vec<Logged>>,
    covered: BTreeSet<u64>,
}

fn build(source: &str, compiler: &str) -> Built {
    let workshop = Workshop::new();
    workshop.file("runtime.c", RUNTIME);
    workshop.file("program.c", source);
    workshop.sh(&format!("{compiler} -w -fsanitize=thread -fno-pie -c program.c -o program.o"));
    workshop.sh("gcc -w -O1 -fno-pie -no-pie runtime.c program.o -o out");
    let module = workshop.open("out");
    let covered = return_addresses(&module);
    let output = Command::new(workshop.path("out")).output().expect("the program");
    assert!(output.status.success(), "{compiler}: {:?}\n{source}", output.status);
    let mut segments = vec![Vec::new()];
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [kind, address, size, returns_to] = words[..] else {
            segments.push(Vec::new());
            continue;
        };
        let hex = |word| u64::from_str_radix(word, 16).unwrap();
        let size = size.parse().unwrap();
        let logged = Logged { write: kind == "w", address: hex(address), size, returns_to: hex(returns_to) };
        segments.last_mut().unwrap().push(logged);
    }
    Built { _workshop: workshop, segments, covered }
}

fn return_addresses(module: &Module) -> BTreeSet<u64> {
    module.covered_probes().iter().map(|probe| probe.address + u64::from(probe.length)).collect()
}

impl Built {
    /// Executions that nothing announces if these probes are left out.
    fn uncovered(&self, left_out: &BTreeSet<u64>) -> Vec<Logged> {
        let mut uncovered = Vec::new();
        for segment in &self.segments {
            let (gone, kept): (Vec<Logged>, Vec<Logged>) =
                segment.iter().partition(|logged| left_out.contains(&logged.returns_to));
            uncovered.extend(gone.into_iter().filter(|gone| !kept.iter().any(|kept| kept.covers(gone))));
        }
        uncovered
    }

    fn probes(&self) -> BTreeSet<u64> {
        self.segments.iter().flatten().map(|logged| logged.returns_to).collect()
    }
}

fn compilers() -> Vec<String> {
    let levels = ["-O0", "-O1", "-O2"];
    let clang = levels.map(|level| format!("clang-19 {level} -mllvm -tsan-instrument-read-before-write"));
    levels.iter().map(|level| format!("gcc {level}")).chain(clang).collect()
}

/// A program of functions that read and write fields, elements and globals, by chance.
fn random_program(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let mut functions = String::new();
    for function in 0..6 {
        let mut body = String::new();
        let mut open = 0;
        for _ in 0..14 {
            let place = |n: u64| match n {
                0 => "p->a",
                1 => "p->b",
                2 => "p->next->a",
                3 => "v[i & 7]",
                4 => "v[(i + 1) & 7]",
                5 => "g",
                6 => "*q",
                _ => "p->c[i & 3]",
            };
            let (to, from) = (place(next(8)), place(next(8)));
            // Functions with a jump table are left out.
            body += &match next(if function % 3 == 0 { 13 } else { 12 }) {
                0..=3 => format!("{to} += {from} + {};\n", next(9)),
                4 | 5 => format!("{to} = {from};\n"),
                6 => format!("{to}++;\n"),
                7 => "synchronise();\n".to_string(),
                8 => {
                    open += 1;
                    format!("if ({from} & {}) {{\n", 1 + next(3))
                }
                9 if open > 0 => {
                    open -= 1;
                    "} else if (i > 2) { p = p->next; }\n".to_string()
                }
                10 => format!("for (int k = 0; k < {}; k++) {{ v[k & 7] += {from}; i++; }}\n", 1 + next(4)),
                11 => "p = p->next; q = &v[i & 7];\n".to_string(),
                _ => format!(
                    "switch ({from} & 7) {{ case 0: i++; break; case 1: {to} = 3; break; \
                     case 2: {to}--; case 3: v[2] = {from}; break; case 4: i += 2; break; case 5: g++; }}\n"
                ),
            };
        }
        body += &"}\n".repeat(open);
        functions += &format!("void f{function}(struct s *p, long *v, int *q, int i) {{\n{body}}}\n");
    }
    let calls: String = (0..6).map(|f| format!("f{f}(&x[{}], v, &g, {f});\n", f % 3)).collect();
    format!(
        "void synchronise(void); struct s {{ long a; int b; short c[4]; struct s *next; }};\n\
         int g; long v[8]; struct s x[3];\n{functions}\
         int main() {{ for (int i = 0; i < 3; i++) x[i].next = &x[(i + 1) % 3];\n\
         for (int round = 0; round < 3; round++) {{ {calls} synchronise(); }} return 0; }}\n"
    )
}

#[test]
fn each_covered_probe_of_random_programs_is_covered() {
    let (mut covered, mut all) = (0, 0);
    for (number, compiler) in compilers().iter().enumerate() {
        for seed in 0..2 {
            let source = random_program(1 + seed + 10 * number as u64);
            let built = build(&source, compiler);
            let uncovered = built.uncovered(&built.covered);
            assert!(uncovered.is_empty(), "{compiler}: {uncovered:x?}\n{source}");
            covered += built.probes().intersection(&built.covered).count();
            all += built.probes().len();
        }
    }
    assert!(covered * 40 > all, "{covered} of {all} probes are covered");
}

#[test]
fn probes_that_are_left_out_wrongly_are_noticed() {
    let built = build(&random_program(77), "gcc -O1");
    let wrong: BTreeSet<u64> = built.probes().difference(&built.covered).copied().collect();
    let noticed = |probe: &&u64| {
        let mut left_out = built.covered.clone();
        left_out.insert(**probe);
        !built.uncovered(&left_out).is_empty()
    };
    let seen = wrong.iter().filter(noticed).count();
    // Others announce the same by chance in this run.
    assert!(seen * 3 > wrong.len(), "{seen} of {}", wrong.len());
}

/// Code by hand: which of the probes at these labels are covered.
fn by_hand(body: &str) -> Vec<String> {
    let workshop = Workshop::new();
    let stubs = ["read4", "read8", "write4", "write8", "func_entry"]
        .map(|name| format!(".globl __tsan_{name}\n.type __tsan_{name}, @function\n__tsan_{name}: ret\n"))
        .concat();
    let source = format!(
        ".bss\nx: .zero 64\n.text\n{stubs}.globl f\n.type f, @function\nf:\n{body}\n.size f, . - f\n\
         .globl other\n.type other, @function\nother: ret\n.size other, . - other\n"
    );
    let module = workshop.build("code.s", &source, "gcc -nostartfiles -nostdlib -Wl,-e,f");
    let covered: BTreeSet<u64> = module.covered_probes().iter().map(|probe| probe.address).collect();
    let labels = ["p1", "p2", "p3"].into_iter().filter(|label| body.contains(&format!("{label}:")));
    labels.filter(|label| covered.contains(&address_of(module.path(), label))).map(str::to_string).collect()
}

#[test]
fn the_later_of_two_and_the_read_before_a_write_are_covered() {
    assert_eq!(
        by_hand("mov %rbx, %rdi\np1: call __tsan_read8\nmov %rbx, %rdi\np2: call __tsan_read8\nret"),
        ["p1"],
        "one of the two"
    );
    assert_eq!(
        by_hand("mov %rbx, %rdi\np1: call __tsan_read8\nmov %rbx, %rdi\np2: call __tsan_write8\nret"),
        ["p1"]
    );
    assert_eq!(
        by_hand("mov %rbx, %rdi\np1: call __tsan_write8\nmov %rbx, %rdi\np2: call __tsan_read4\nret"),
        ["p2"]
    );
    let branch = "mov %rbx, %rdi\np1: call __tsan_write8\ntest %eax, %eax\nje 1f\nret\n1: mov %rbx, %rdi\n";
    assert_eq!(by_hand(&format!("{branch}p2: call __tsan_read8\nret")), ["p2"], "in the next block");
}

#[test]
fn nothing_is_covered_by_less_or_by_something_else() {
    let two = |between: &str, second: &str| {
        by_hand(&format!("mov %rbx, %rdi\np1: call __tsan_read8\n{between}\np2: call {second}\nret"))
    };
    let again = "mov %rbx, %rdi";
    let none = Vec::<String>::new();
    assert_eq!(two("lea 8(%rbx), %rdi", "__tsan_read8"), none, "another address");
    assert_eq!(two(&format!("call other\n{again}"), "__tsan_read8"), none, "a call between");
    assert_eq!(two(&format!("lock incl x(%rip)\n{again}"), "__tsan_read8"), none, "a locked instruction");
    assert_eq!(two(&format!("mov (%rax), %rbx\n{again}"), "__tsan_read8"), none, "another value");
    assert_eq!(two(again, "__tsan_read4"), ["p2"], "less is covered");
    assert_eq!(two(again, "__tsan_write4"), none, "weaker, and narrower");
    assert_eq!(two("mov %rbx, %rdi\nadd %eax, %edi", "__tsan_read8"), none, "a computed address");
}

#[test]
fn a_program_that_may_die_between_keeps_the_first_probe() {
    let two = |between: &str| {
        by_hand(&format!(
            "mov %rbx, %rdi\np1: call __tsan_read8\n{between}\nmov %rbx, %rdi\np2: call __tsan_write8\nret"
        ))
    };
    let none = Vec::<String>::new();
    assert_eq!(two("mov (%rbx), %rax\nadd $1, %rax"), ["p1"], "the value is only used");
    assert_eq!(two("mov (%rbx), %rax\nmov (%rax), %rax"), none, "the value is an address");
    assert_eq!(two("mov (%rbx), %rax\nmov 8(%r12,%rax,4), %rax"), none, "or a part of one");
    assert_eq!(two("mov (%rbx), %rcx\ndiv %rcx"), none, "or a divisor");
    assert_eq!(two("test %rax, %rax\nje 1f\n1:"), none, "another block");
}

#[test]
fn where_control_flow_is_not_known_nothing_is_covered() {
    let none = Vec::<String>::new();
    let twice = "mov %rbx, %rdi\np1: call __tsan_write8\n";
    let again = "mov %rbx, %rdi\np2: call __tsan_read8\n";
    assert_eq!(by_hand(&format!("{twice}{again}ret")), ["p2"]);
    assert_eq!(by_hand(&format!("{twice}{again}jmp *%rax")), none, "an indirect jump");
    assert_eq!(by_hand(&format!("{twice}1: {again}lea 1b(%rip), %rax\nret")), none, "a block's address");
    assert_eq!(by_hand(&format!("{twice}1: {again}test %eax, %eax\nje 1b\nret")), none, "a loop");
    assert_eq!(by_hand(&format!("{twice}{again}.byte 0x06\nret")), none, "no instruction");
    let entered = format!("{twice}g: {again}ret\n.size f, . - f\n.globl h\n.type h, @function\nh: jmp g");
    assert_eq!(by_hand(&entered), none, "a jump from elsewhere");
}

#[test]
fn spilled_addresses_are_followed_unless_the_frame_is_shared() {
    let spill = |before: &str, between: &str| {
        by_hand(&format!(
            "push %rbx\nsub $32, %rsp\n{before}\nmov %rdi, 8(%rsp)\np1: call __tsan_write8\n{between}\n\
             mov 8(%rsp), %rdi\np2: call __tsan_read8\nadd $32, %rsp\npop %rbx\nret"
        ))
    };
    let none = Vec::<String>::new();
    assert_eq!(spill("", ""), ["p2"]);
    assert_eq!(spill("", "mov %rax, (%rbx)"), ["p2"], "a store elsewhere");
    assert_eq!(spill("", "mov %rax, 8(%rsp)"), none, "a store to it");
    assert_eq!(spill("", "movb $1, 12(%rsp)"), none, "to a part of it");
    assert_eq!(spill("", "movups %xmm0, (%rsp)"), none, "a wide one that reaches it");
    assert_eq!(spill("", "mov %rax, (%rsp,%rcx,8)"), none, "one that may");
    assert_eq!(spill("lea 16(%rsp), %rbx", "mov %rax, (%rbx)"), none, "a pointer into the frame");
    assert_eq!(spill("", "test %eax, %eax\nje other"), none, "a part of the function elsewhere");
}
