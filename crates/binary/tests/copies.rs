//! What stands before a point, and what `rbp` is there, on programs built by gcc.

mod common;

use common::Workshop;
use raddle_binary::{Address, Module};

const SOURCE: &str = r#"
    void *malloc(unsigned long n);
    void __tsan_write8(void *at);
    void raddle_part(void *at);
    void __tsan_atomic64_store(void *at);
    extern void (*pointer)(void *at);
    __attribute__((noinline)) void probe(void *p) { __tsan_write8(p); __asm__ volatile("" ::: "memory"); }
    __attribute__((noinline)) void part(void *p) { raddle_part(p); __asm__ volatile("" ::: "memory"); }
    __attribute__((noinline)) void through(void *p) { pointer(p); __asm__ volatile("" ::: "memory"); }
    __attribute__((noinline)) void atomic(void *p) { __tsan_atomic64_store(p); __asm__ volatile("" ::: "memory"); }
    __attribute__((noinline)) void *block(void) { void *p = malloc(8); __asm__ volatile("" ::: "memory"); return p; }
"#;

const OTHERS: &str = r#"
    void *malloc(unsigned long n) { static char room[64]; return room + (n & 63); }
    void __tsan_write8(void *at) { *(long *)at = 1; }
    void raddle_part(void *at) { *(long *)at = 2; }
    void __tsan_atomic64_store(void *at) { *(long *)at = 3; }
    void (*pointer)(void *at) = raddle_part;
"#;

/// The place behind the only call in the function.
fn after_call(module: &Module, function: &str) -> (Vec<u8>, u64) {
    let range = module.functions().into_iter().find(|f| f.name.as_deref() == Some(function)).unwrap().range;
    let file = std::fs::read(module.path()).unwrap();
    // The program is linked so that a virtual address is a file offset plus a base.
    let base = 0x40_0000;
    let code = &file[(range.start - base) as usize..(range.end - base) as usize];
    let at = code.windows(5).position(|w| {
        let target = i32::from_le_bytes(w[1..].try_into().unwrap());
        w[0] == 0xe8 && (-0x1000..0x1000).contains(&target)
    });
    let at = at.unwrap_or_else(|| code.windows(2).position(|w| w[0] == 0xff).unwrap() - 3);
    (code[at..at + 5].to_vec(), range.start + at as u64 + 5)
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
fn only_the_call_of_a_known_function_is_that_of_no_probe() {
    let (_workshop, module) = build("-O1");
    let says = |function: &str| {
        let (call, after) = after_call(&module, function);
        module.calls_no_probe(&call, Address::Virtual(after))
    };
    assert!(says("block"), "malloc");
    assert!(says("atomic"), "makes the access itself");
    assert!(!says("probe"), "a probe");
    assert!(!says("part"), "a part of the runtime");
    assert!(!says("through"), "a call through a pointer");
    let (call, after) = after_call(&module, "block");
    assert!(!module.calls_no_probe(&call, Address::Virtual(after + 1)), "not the beginning of a function");
    assert!(!module.calls_no_probe(&call[1..], Address::Virtual(after)), "no call");
    assert!(!module.calls_no_probe(&call, Address::FileOffset(u64::MAX)), "not in the file");
}

#[test]
fn rbp_is_the_frame_pointer_where_the_tables_say_so() {
    for (flags, expected) in [("-O0", true), ("-O1", false), ("-O2 -fno-omit-frame-pointer", true)] {
        let (_workshop, module) = build(flags);
        for function in ["block", "probe"] {
            let (_, after) = after_call(&module, function);
            assert_eq!(module.has_frame_pointer(Address::Virtual(after)), expected, "{flags} {function}");
        }
    }
    let (_workshop, without) = build("-O1 -fno-asynchronous-unwind-tables -fno-unwind-tables");
    let (_, after) = after_call(&without, "block");
    assert!(without.has_frame_pointer(Address::Virtual(after)), "nothing is known of it");
    assert!(without.has_frame_pointer(Address::FileOffset(u64::MAX)));
}
