//! Files that are not as one would wish: what can be said is said, and nothing panics.

mod common;

use std::collections::BTreeSet;

use common::Workshop;
use raddle_binary::{Error, Module};
use raddle_conseq::{Analysis, Callers, CustomNames, Note, Options, SiteKind, analyse};

const CHECKED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int state, level;
void complain(int n);
__attribute__((noinline)) void check(void) { if (state > 3) abort(); if (level) fprintf(stderr, "level\n"); }
int main(void) { check(); return 0; }
"#;

fn kinds(analysis: &Analysis, kind: SiteKind) -> usize {
    analysis.sites.iter().filter(|site| site.kind == kind).count()
}

#[test]
fn a_program_without_probes_has_sites_and_slices() {
    let workshop = Workshop::new();
    workshop.file("plain.c", CHECKED);
    workshop.sh("gcc -O1 -g plain.c -o plain");
    let analysis = analyse(&workshop.open("plain"), &Options::default());
    assert_eq!(analysis.notes, [Note::NotInstrumented]);
    assert_eq!((kinds(&analysis, SiteKind::Assert), kinds(&analysis, SiteKind::Error)), (1, 1));
    for site in &analysis.sites {
        let reads: Vec<_> = analysis.reads.iter().filter(|read| read.site == site.id).collect();
        assert_eq!(reads.len(), 1, "{site:?} {reads:?}");
        assert!(!reads[0].instrumented && reads[0].variable.is_some());
    }
}

#[test]
fn a_stripped_program_loses_names_and_nothing_else() {
    let workshop = Workshop::new();
    for flags in ["-O0", "-O2"] {
        let before = analyse(&workshop.build_c(CHECKED, flags), &Options::default());
        workshop.sh("strip out");
        let after = analyse(&workshop.open("out"), &Options::default());
        assert_eq!(after.notes, [Note::Stripped], "{flags}");
        let addresses = |analysis: &Analysis| {
            analysis.sites.iter().map(|site| (site.address, site.kind)).collect::<Vec<_>>()
        };
        assert_eq!(addresses(&before), addresses(&after), "{flags}");
        assert_eq!(before.reads, after.reads, "{flags}");
        assert!(before.sites.len() >= 2);
        assert!(after.sites.iter().all(|site| site.function.name.is_none()), "{flags}");
    }
}

#[test]
fn a_file_without_any_function_is_said_to_have_none() {
    let workshop = Workshop::new();
    // What a packer leaves: a start without symbol or unwind table.
    workshop.file("packed.s", ".globl _start\n.text\n_start: mov $60, %eax\n xor %edi, %edi\n syscall\n");
    workshop.sh("gcc -nostdlib -static -no-pie packed.s -o packed");
    workshop.sh("strip packed");
    let analysis = analyse(&workshop.open("packed"), &Options::default());
    assert_eq!(analysis.notes, [Note::NoFunctions, Note::NotInstrumented]);
    assert!(analysis.sites.is_empty() && analysis.reads.is_empty());
}

#[test]
fn hand_written_assembly_is_read_as_far_as_it_goes() {
    let workshop = Workshop::new();
    // Data in the text, a jump through a register, an odd stack, no unwind information, no size.
    let assembly = r#"
.text
.globl odd
.type odd, @function
odd:
    push %rbx
    lea table(%rip), %rax
    jmp *%rax
    .byte 0x06, 0x0e, 0x16, 0xff, 0xff
table:
    pop %rbx
    mov state(%rip), %ecx
    add %ecx, %esp
    cmp $3, %ecx
    jne 1f
    call abort
1:  ret
.size odd, . - odd
.globl endless
.type endless, @function
endless:
    jmp endless
.size endless, . - endless
"#;
    workshop.file("odd.s", assembly);
    workshop.file(
        "main.c",
        "int state; void odd(void); void endless(void); int main(void) { odd(); endless(); }",
    );
    workshop.sh("gcc -O1 main.c odd.s -o odd -no-pie");
    let analysis = analyse(&workshop.open("odd"), &Options::default());
    assert_eq!(analysis.notes, [Note::NotInstrumented]);
    // Behind a jump that cannot be followed nothing is claimed.
    assert_eq!(kinds(&analysis, SiteKind::Assert), 0, "{:?}", analysis.sites);
}

#[test]
fn files_for_other_machines_and_other_files_are_refused_with_a_sentence() {
    let workshop = Workshop::new();
    let mut foreign = std::fs::read(workshop.path("libprobes.so")).unwrap();
    foreign[18] = 183; // e_machine: AArch64
    std::fs::write(workshop.path("foreign"), foreign).unwrap();
    match Module::open(&workshop.path("foreign")) {
        Err(error @ Error::ForeignMachine { .. }) => assert!(error.to_string().contains("64-bit ARM")),
        other => panic!("{:?}", other.err()),
    }
    workshop.file("script", "#!/bin/sh\n");
    assert!(matches!(Module::open(&workshop.path("script")), Err(Error::NotElf { .. })));
}

#[test]
fn damaged_code_and_tables_do_not_panic() {
    let workshop = Workshop::new();
    workshop.build_c(CHECKED, "-O2");
    let good = std::fs::read(workshop.path("out")).unwrap();
    // Every so many bytes one is changed, at ever other places: code, unwind tables, relocations,
    // symbols.
    let mut opened = 0;
    for seed in 0..60_usize {
        let mut bad = good.clone();
        for at in (64 + seed * 7..bad.len()).step_by(97 + seed) {
            bad[at] = bad[at].wrapping_mul(31).wrapping_add(seed as u8);
        }
        if let Ok(module) = Module::from_bytes(&workshop.path("bad"), bad) {
            opened += 1;
            let analysis = analyse(&module, &Options { callers: Callers::Always, ..Options::default() });
            assert!(analysis.reads.iter().all(|read| (read.site as usize) < analysis.sites.len()));
        }
    }
    assert!(opened > 5, "{opened} of 60 could be opened");
}

#[test]
fn custom_names_and_kinds_are_what_was_asked_for() {
    let workshop = Workshop::new();
    let source = "int state, total; void tr_err(const char *); void emit(int); void nsAssert(int);\n\
        __attribute__((noinline)) void f(void) { if (state) tr_err(\"bad\"); emit(total); if (state > 4) nsAssert(1); }\n\
        void tr_err(const char *s) { __asm__ volatile(\"\" : : \"r\"(s)); }\n\
        void emit(int n) { __asm__ volatile(\"\" : : \"r\"(n)); }\n\
        void nsAssert(int n) { __asm__ volatile(\"\" : : \"r\"(n)); }\n\
        int main(void) { f(); return 0; }\n";
    let module = workshop.build_c(source, "-O1 -fno-inline");
    assert!(analyse(&module, &Options::default()).sites.is_empty());
    let custom = CustomNames {
        assert: vec!["nsAssert".into()],
        error: vec!["tr_*".into()],
        output: vec!["emit".into()],
    };
    let all = Options { custom, ..Options::default() };
    let found = analyse(&module, &all);
    // The compiler may well have made two calls of one.
    let found: BTreeSet<_> =
        found.sites.iter().map(|site| (site.kind, site.callee.as_deref().unwrap_or_default())).collect();
    let wanted = [(SiteKind::Assert, "nsAssert"), (SiteKind::Error, "tr_err"), (SiteKind::Output, "emit")];
    assert_eq!(found, BTreeSet::from(wanted));
    let only = Options { kinds: vec![SiteKind::Output], ..all };
    let found = analyse(&module, &only).sites;
    assert!(!found.is_empty() && found.iter().all(|site| site.kind == SiteKind::Output));
}

#[test]
fn a_distance_and_callers_limit_what_is_found() {
    let workshop = Workshop::new();
    let source = "#include <stdlib.h>\nint a, b, c;\n\
        __attribute__((noinline)) void must(int x) { if (x > 2) abort(); }\n\
        __attribute__((noinline)) void f(void) { if (a) if (b) if (c) abort(); must(b); }\n\
        int main(void) { f(); return 0; }\n";
    let module = workshop.build_c(source, "-O1");
    let reads = |options: Options| analyse(&module, &options).reads.len();
    let with = |max_distance, callers| {
        reads(Options { max_distance, callers, kinds: vec![SiteKind::Assert], ..Options::default() })
    };
    assert_eq!(with(1, Callers::Never), 1);
    assert_eq!(with(2, Callers::Never), 2);
    assert_eq!(with(4, Callers::Never), 3);
    assert_eq!(with(4, Callers::WhenNeeded), 4, "`must` is given what `f` has read");
    assert_eq!(with(0, Callers::Always), 0);
}

#[test]
fn reads_with_invariants_are_their_own_sites() {
    let workshop = Workshop::new();
    let source = "#include <stdlib.h>\nint a, b;\n\
        __attribute__((noinline)) int f(void) { if (a) return b; return 0; }\n\
        int main(void) { return f(); }\n";
    let module = workshop.build_c(source, "-O1");
    let probes = module.call_sites(|name| name == "__tsan_read4");
    let reads: Vec<u64> = probes.iter().map(|probe| probe.return_address).collect();
    assert_eq!(reads.len(), 2);
    let options =
        Options { kinds: vec![SiteKind::Invariant], invariants: reads.clone(), ..Options::default() };
    let found = analyse(&module, &options);
    assert_eq!(found.sites.len(), 2);
    let of = |site: u32| found.reads.iter().filter(move |read| read.site == site);
    for site in &found.sites {
        let own: Vec<_> = of(site.id).filter(|read| read.distance == 0).collect();
        assert_eq!(own.len(), 1, "{site:?}");
        assert!(reads.contains(&own[0].address));
    }
    assert_eq!(found.reads.len(), 3, "whether b is read depends on a");
}
