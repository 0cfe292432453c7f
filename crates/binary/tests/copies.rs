//! Copies of a variable, by the code between their probes, and what `rbp` is there, on programs
//! built by gcc and clang.

mod common;

use common::Workshop;
use raddle_binary::{Address, CopyFinder, Module};

/// Calls written by hand, each followed by the probe of a read.
const SOURCE: &str = r#"
    void *malloc(unsigned long n);
    void __tsan_read8(void *at);
    void __tsan_write8(void *at);
    void raddle_part(void *at);
    void __tsan_atomic64_store(void *at);
    extern void (*pointer)(void *at);
    #define THEN_READS(p) __tsan_read8(p); __asm__ volatile("" ::: "memory")
    __attribute__((noinline)) void probe(void *p) { __tsan_write8(p); THEN_READS(p); }
    __attribute__((noinline)) void reads(void *p) { __tsan_read8(p); THEN_READS(p); }
    __attribute__((noinline)) void part(void *p) { raddle_part(p); THEN_READS(p); }
    __attribute__((noinline)) void through(void *p) { pointer(p); THEN_READS(p); }
    __attribute__((noinline)) void atomic(void *p) { __tsan_atomic64_store(p); THEN_READS(p); }
    __attribute__((noinline)) void *block(void) { void *p = malloc(8); THEN_READS(p); return p; }
"#;

const OTHERS: &str = r#"
    void *malloc(unsigned long n) { static char room[64]; return room + (n & 63); }
    void __tsan_read8(void *at) { *(long *)at = 0; }
    void __tsan_write8(void *at) { *(long *)at = 1; }
    void raddle_part(void *at) { *(long *)at = 2; }
    void __tsan_atomic64_store(void *at) { *(long *)at = 3; }
    void (*pointer)(void *at) = raddle_part;
"#;

/// The places behind the calls in the function. One through a register follows a load.
fn after_calls(module: &Module, function: &str) -> Vec<u64> {
    let range = module.functions().into_iter().find(|f| f.name.as_deref() == Some(function)).unwrap().range;
    let file = std::fs::read(module.path()).unwrap();
    // The program is linked so that a virtual address is a file offset plus a base.
    let base = 0x40_0000;
    let code = &file[(range.start - base) as usize..(range.end - base) as usize];
    let mut decoder = iced_x86::Decoder::with_ip(64, code, range.start, 0);
    decoder.iter().filter(|i| i.mnemonic() == iced_x86::Mnemonic::Call).map(|i| i.next_ip()).collect()
}

fn after_call(module: &Module, function: &str) -> u64 {
    after_calls(module, function)[0]
}

fn build(flags: &str) -> (Workshop, Module) {
    let workshop = Workshop::new();
    workshop.file("others.c", OTHERS);
    workshop.file("main.c", SOURCE);
    let link = "-nostdlib -static -no-pie -fno-pie -fcf-protection=none -Wl,-Ttext-segment=0x400000 -Wl,-e,block \
                -Wl,--eh-frame-hdr";
    workshop.sh(&format!("gcc -w -fno-builtin {link} {flags} main.c others.c -o out"));
    let module = workshop.open("out");
    (workshop, module)
}

#[test]
fn a_copy_begins_with_the_probe_of_a_write() {
    let (_workshop, module) = build("-O1");
    let finder = CopyFinder::of(&module);
    let says = |function: &str| {
        let calls = after_calls(&module, function);
        assert_eq!(calls.len(), 2, "{function}");
        finder.is_copy(&module, Address::Virtual(calls[0]), Address::Virtual(calls[1]))
    };
    assert!(says("probe"));
    assert!(says("part"), "a part of the runtime, which may be a probe");
    assert!(says("through"), "a call through a pointer");
    assert!(!says("reads"));
    assert!(!says("block"), "malloc");
    assert!(!says("atomic"), "makes the access itself");
    let at = Address::Virtual(after_call(&module, "probe"));
    assert!(!finder.is_copy(&module, at, at));
    assert!(!finder.is_copy(&module, at, Address::FileOffset(u64::MAX)), "not in the file");
}

/// Variables of a library that others may replace, so that code made with `-fPIC` loads their
/// addresses.
const COPIES: &str = r#"
    struct pair { int a, b; };
    extern struct pair from, to;
    struct pair from, to;
    struct pair *const fixed[2] = { &from, &to };
    extern __thread struct pair own;
    __thread struct pair own;
    extern "C" {
    void copies(void) { to = from; }
    void copies_there(struct pair *p) { to = *p; }
    void copies_here(struct pair *p) { *p = from; }
    void copies_at(long i) { *fixed[i] = from; }
    void copies_own(void) { to = own; }
    void writes_both(void) { to.a = 1; from.a = 2; }
    void writes_there(struct pair *p) { p->a = 1; from.b = 2; }
    void adds(void) { to.a += 1; from.a = 2; }
    int reads_both(void) { return to.a + from.b; }
    void moves_one(void) { int n = from.a; to.b = n; }
    }
"#;

fn copies_in(workshop: &Workshop, compiler: &str, flags: &str) -> Vec<String> {
    let link = match flags.contains("-fPIC") {
        true => "-shared -nostdlib",
        false => "-shared -nostdlib -Wl,-z,notext",
    };
    workshop.sh(&format!("{compiler} -w -c -fsanitize=thread {flags} copies.cc -o copies.o"));
    workshop.sh(&format!("{compiler} {flags} {link} copies.o -o copies.so"));
    let module = workshop.open("copies.so");
    let finder = CopyFinder::of(&module);
    let calls = module.call_sites(|name| name.starts_with("__tsan_read") || name.starts_with("__tsan_write"));
    let mut found: Vec<String> = calls
        .windows(2)
        .filter(|pair| pair[0].caller == pair[1].caller)
        .filter(|pair| {
            let [first, second] = [&pair[0], &pair[1]].map(|c| Address::Virtual(c.return_address));
            finder.is_copy(&module, first, second)
        })
        .map(|pair| pair[0].caller.clone().unwrap())
        .collect();
    found.sort();
    found
}

#[test]
fn copies_are_found_in_code_of_any_kind_and_nothing_else() {
    let workshop = Workshop::new();
    workshop.file("copies.cc", COPIES);
    let all = ["copies", "copies_at", "copies_here", "copies_own", "copies_there"];
    for level in ["-O0", "-O1", "-O2"] {
        for code in ["-fPIC", "-fPIC -fno-plt", "-fPIC -fvisibility=hidden"] {
            let flags = format!("{level} {code}");
            assert_eq!(copies_in(&workshop, "g++", &flags), all, "{flags}");
            // clang's probes stand right before each access.
            assert!(copies_in(&workshop, "clang++-19", &flags).is_empty(), "clang {flags}");
        }
    }
}

#[test]
fn rbp_is_the_frame_pointer_where_the_tables_say_so() {
    for (flags, expected) in [("-O0", true), ("-O1", false), ("-O2 -fno-omit-frame-pointer", true)] {
        let (_workshop, module) = build(flags);
        for function in ["block", "probe"] {
            let after = after_call(&module, function);
            assert_eq!(module.has_frame_pointer(Address::Virtual(after)), expected, "{flags} {function}");
        }
    }
    let (_workshop, without) = build("-O1 -fno-asynchronous-unwind-tables -fno-unwind-tables");
    let after = after_call(&without, "block");
    assert!(without.has_frame_pointer(Address::Virtual(after)), "nothing is known of it");
    assert!(without.has_frame_pointer(Address::FileOffset(u64::MAX)));
}
