//! Probes that are left out or widened, against a runtime that logs each probe.
//!
//! Programs that gcc and clang have instrumented are linked with a small runtime of their own. It
//! logs each probe, and each call that may synchronise. Then each execution of a probe that is left
//! out must have one of a probe that stays, within the same segment, which announces the same bytes
//! and is as strong. And a widened probe must announce nothing that the plain probes do not announce
//! in that segment. Wrong changes are noticed the same way.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use common::{Workshop, address_of};
use raddle_binary::flow::ProbeChange;

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

/// Changes of probes, by their return addresses.
#[derive(Clone, Default)]
struct Changes {
    left_out: BTreeSet<u64>,
    /// The words that the others announce.
    words: BTreeMap<u64, u64>,
}

impl Changes {
    fn new(changes: &[ProbeChange]) -> Changes {
        let mut all = Changes::default();
        for change in changes {
            let returns_to = change.address + u64::from(change.length);
            if change.granules == 0 {
                all.left_out.insert(returns_to);
            } else {
                all.words.insert(returns_to, change.granules.into());
            }
        }
        all
    }
}

/// A program, what its probes log by segment, and their changes.
struct Built {
    _workshop: Workshop,
    segments: Vec<Vec<Logged>>,
    list: Vec<ProbeChange>,
    changes: Changes,
}

fn build(source: &str, compiler: &str) -> Built {
    let workshop = Workshop::new();
    workshop.file("runtime.c", RUNTIME);
    workshop.file("program.c", source);
    workshop.sh(&format!("{compiler} -w -fsanitize=thread -fno-pie -c program.c -o program.o"));
    workshop.sh("gcc -w -O1 -fno-pie -no-pie runtime.c program.o -o out");
    let list = workshop.open("out").probe_changes();
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
    let changes = Changes::new(&list);
    Built { _workshop: workshop, segments, list, changes }
}

impl Built {
    /// Executions that nothing announces if the probes are changed like this.
    fn uncovered(&self, changes: &Changes) -> Vec<Logged> {
        let mut uncovered = Vec::new();
        for segment in &self.segments {
            let (gone, mut kept): (Vec<Logged>, Vec<Logged>) =
                segment.iter().partition(|logged| changes.left_out.contains(&logged.returns_to));
            for logged in &mut kept {
                logged.size = changes.words.get(&logged.returns_to).map_or(logged.size, |words| words * 8);
            }
            uncovered.extend(gone.into_iter().filter(|gone| !kept.iter().any(|kept| kept.covers(gone))));
        }
        uncovered
    }

    /// Words that the probes announce if they are changed like this, and that are not accessed.
    fn invented(&self, changes: &Changes) -> Vec<Logged> {
        let mut invented = Vec::new();
        for segment in &self.segments {
            for logged in segment {
                let words = changes.words.get(&logged.returns_to).copied().unwrap_or(0);
                let announced = (0..words).map(|n| Logged { address: logged.address + 8 * n, ..*logged });
                let happens = |word: &Logged| segment.iter().any(|l| l.write == word.write && l.covers(word));
                invented.extend(announced.filter(|word| !happens(word)));
            }
        }
        invented
    }

    /// Merged probes whose access another one announces under a wrong program counter.
    fn misnamed(&self) -> Vec<&ProbeChange> {
        let is_right = |change: &&ProbeChange| {
            let returns_to = change.address + u64::from(change.length);
            self.segments.iter().all(|segment| {
                segment.iter().filter(|l| l.returns_to == returns_to).all(|own| {
                    (1..4).any(|n| {
                        let is_first = |l: &Logged| l.returns_to + n == change.announced_as;
                        segment.iter().any(|l| is_first(l) && l.address + 8 * n == own.address)
                    })
                })
            })
        };
        self.list.iter().filter(|change| change.announced_as != 0).filter(|c| !is_right(c)).collect()
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
                7 => "p->x",
                8 => "p->y",
                9 => "p->z",
                10 => "p->next->y",
                _ => "p->c[i & 3]",
            };
            let (to, from) = (place(next(12)), place(next(12)));
            // Functions with a jump table are left out.
            body += &match next(if function % 3 == 0 { 13 } else { 12 }) {
                0..=3 => format!("{to} += {from} + {};\n", next(9)),
                4 => format!("{to} = {from};\n"),
                5 => format!("{to} = p->x + p->y * p->z + v[2] - v[3];\n"),
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
        "void synchronise(void); struct s {{ long a; int b; short c[4]; struct s *next; long x, y, z; }};\n\
         int g; long v[8]; struct s x[3];\n{functions}\
         int main() {{ for (int i = 0; i < 3; i++) x[i].next = &x[(i + 1) % 3];\n\
         for (int round = 0; round < 3; round++) {{ {calls} synchronise(); }} return 0; }}\n"
    )
}

#[test]
fn what_changed_probes_of_random_programs_announce_is_what_happens() {
    let (mut covered, mut merged, mut all) = (0, 0, 0);
    for (number, compiler) in compilers().iter().enumerate() {
        for seed in 0..2 {
            let source = random_program(1 + seed + 10 * number as u64);
            let built = build(&source, compiler);
            let uncovered = built.uncovered(&built.changes);
            assert!(uncovered.is_empty(), "{compiler}: {uncovered:x?}\n{source}");
            let invented = built.invented(&built.changes);
            assert!(invented.is_empty(), "{compiler}: {invented:x?}\n{source}");
            let misnamed = built.misnamed();
            assert!(misnamed.is_empty(), "{compiler}: {misnamed:x?}\n{source}");
            covered += built.probes().intersection(&built.changes.left_out).count();
            merged += built.probes().iter().filter(|probe| built.changes.words.contains_key(probe)).count();
            all += built.probes().len();
        }
    }
    assert!(covered * 40 > all, "{covered} of {all} probes are left out");
    assert!(merged * 100 > all, "{merged} of {all} probes announce others too");
}

#[test]
fn probes_that_are_widened_wrongly_are_noticed() {
    let built = build(&random_program(78), "clang-19 -O1");
    let mut wrong = 0;
    let mut seen = 0;
    for probe in built.probes().difference(&built.changes.left_out) {
        let mut changes = built.changes.clone();
        *changes.words.entry(*probe).or_insert(1) += 1;
        wrong += 1;
        seen += usize::from(!built.invented(&changes).is_empty());
    }
    // The program accesses some neighbours elsewhere in the segment.
    assert!(wrong > 20 && seen * 3 > wrong, "{seen} of {wrong}");
}

#[test]
fn probes_that_are_left_out_wrongly_are_noticed() {
    let built = build(&random_program(77), "gcc -O1");
    let wrong: BTreeSet<u64> = built.probes().difference(&built.changes.left_out).copied().collect();
    let noticed = |probe: &&u64| {
        let mut changes = built.changes.clone();
        changes.left_out.insert(**probe);
        !built.uncovered(&changes).is_empty()
    };
    let seen = wrong.iter().filter(noticed).count();
    // Others announce the same by chance in this run.
    assert!(seen * 3 > wrong.len(), "{seen} of {}", wrong.len());
}

/// Code by hand: which of the probes at these labels are left out.
fn by_hand(body: &str) -> Vec<String> {
    changes_by_hand(body).into_iter().filter(|(_, words)| *words == 0).map(|(label, _)| label).collect()
}

/// Code by hand: which of the probes at these labels are changed, and how many words they announce.
fn changes_by_hand(body: &str) -> Vec<(String, u8)> {
    let workshop = Workshop::new();
    let stubs = ["read4", "read8", "write4", "write8", "func_entry"]
        .map(|name| format!(".globl __tsan_{name}\n.type __tsan_{name}, @function\n__tsan_{name}: ret\n"))
        .concat();
    let source = format!(
        ".bss\nx: .zero 64\n.text\n{stubs}.globl f\n.type f, @function\nf:\n{body}\n.size f, . - f\n\
         .globl other\n.type other, @function\nother: ret\n.size other, . - other\n"
    );
    let module = workshop.build("code.s", &source, "gcc -nostartfiles -nostdlib -Wl,-e,f");
    let words: BTreeMap<u64, u8> =
        module.probe_changes().iter().map(|change| (change.address, change.granules)).collect();
    let labels = ["p1", "p2", "p3"].into_iter().filter(|label| body.contains(&format!("{label}:")));
    labels
        .filter_map(|label| Some((label.to_string(), *words.get(&address_of(module.path(), label))?)))
        .collect()
}

#[test]
fn the_first_of_neighbouring_words_announces_them() {
    let two = |between: &str, second: &str| {
        changes_by_hand(&format!("mov %rbx, %rdi\np1: call __tsan_read8\n{between}\np2: call {second}\nret"))
    };
    let both = [("p1".to_string(), 2), ("p2".to_string(), 0)];
    let next = "lea 8(%rbx), %rdi";
    assert_eq!(two(next, "__tsan_read8"), both);
    assert_eq!(two(&format!("mov (%rbx), %rax\n{next}"), "__tsan_read8"), both, "its own object");
    assert_eq!(two(next, "__tsan_write8"), [], "a read is no write");
    assert_eq!(two(next, "__tsan_read4"), [], "half a word");
    assert_eq!(two("lea 16(%rbx), %rdi", "__tsan_read8"), [], "a word between");
    assert_eq!(two("lea 4(%rbx), %rdi", "__tsan_read8"), [], "they overlap");
    assert_eq!(two("lea 8(%rbx,%rax), %rdi", "__tsan_read8"), [], "another base");
    assert_eq!(two(&format!("call other\n{next}"), "__tsan_read8"), [], "a call between");
    assert_eq!(two(&format!("lock incl x(%rip)\n{next}"), "__tsan_read8"), [], "a locked instruction");
    assert_eq!(two(&format!("test %eax, %eax\nje 1f\n1: {next}"), "__tsan_read8"), [], "a jump's target");
    let three = "mov %rbx, %rdi\np1: call __tsan_write8\nlea 8(%rbx), %rdi\np2: call __tsan_write8\n\
                 lea 16(%rbx), %rdi\np3: call __tsan_write8\nret";
    assert_eq!(changes_by_hand(three), [("p1", 3), ("p2", 0), ("p3", 0)].map(|(p, n)| (p.to_string(), n)));
}

#[test]
fn a_program_that_may_die_between_announces_neighbours_one_by_one() {
    let two = |before: &str, between: &str| {
        changes_by_hand(&format!(
            "{before}\nmov %rbx, %rdi\np1: call __tsan_read8\n{between}\nlea 8(%rbx), %rdi\n\
             p2: call __tsan_read8\nret"
        ))
    };
    let both = [("p1".to_string(), 2), ("p2".to_string(), 0)];
    assert_eq!(two("", "mov x(%rip), %rax"), both, "a global");
    assert_eq!(two("", "mov (%r12), %rax"), [], "another object");
    assert_eq!(two("mov (%r12), %rax", "mov 16(%r12), %rax"), both, "one that was accessed before");
    assert_eq!(two("mov (%r12), %rax\ncall other", "mov 16(%r12), %rax"), [], "before a call");
    assert_eq!(two("", "div %rcx"), [], "a division");
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
    assert_eq!(two("lea 16(%rbx), %rdi", "__tsan_read8"), none, "another address");
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
