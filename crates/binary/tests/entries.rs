//! Functions that are called through pointers: whose addresses are taken, and what of their code
//! can be moved.

mod common;

use common::{Workshop, address_of};
use raddle_binary::{CallBefore, Module, Movable};

fn taken(module: &Module, names: &[&str]) -> Vec<String> {
    module.calls(|name| names.contains(&name)).taken.into_iter().collect()
}

const POINTERS: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef void *(*any)();
any variable = (any)strtok;
any const table[] = {(any)setenv, (any)getenv};
__attribute__((noinline)) void *through(any f) { return f(0); }
__attribute__((noinline)) int own(int x) { return x * 3; }
int main(int argc, char **argv) {
    localtime(0);
    if (argc > 5) through((any)gmtime);
    if (argc > 6) through((any)own);
    through(table[argc]);
    return unsetenv("x");
}
"#;

#[test]
fn addresses_are_taken_by_data_and_by_code() {
    let workshop = Workshop::new();
    let names = ["strtok", "setenv", "getenv", "unsetenv", "localtime", "gmtime", "own"];
    let expected = ["getenv", "gmtime", "own", "setenv", "strtok"];
    for flags in ["-O0", "-O1 -fno-plt", "-O1 -no-pie", "-O1 -Wl,-z,now", "-O1 -Wl,-z,pack-relative-relocs"] {
        let module = workshop.build("a.c", POINTERS, &format!("gcc -w {flags}"));
        assert_eq!(taken(&module, &names), expected, "{flags}");
        let direct: Vec<String> =
            module.calls(|name| names.contains(&name)).sites.into_iter().map(|s| s.callee).collect();
        assert_eq!(direct, ["localtime", "unsetenv"], "{flags}");
    }
}

#[test]
fn virtual_functions_are_taken() {
    let workshop = Workshop::new();
    let source = "struct S { virtual int f(int); virtual ~S(); }; int S::f(int x) { return x; } S::~S() {}\n\
                  int main() { S s; S *volatile p = &s; return p->f(0); }";
    let module = workshop.build("a.cpp", source, "g++ -O0");
    assert_eq!(taken(&module, &["_ZN1S1fEi"]), ["_ZN1S1fEi"]);
}

/// A call through a variable is not the call of what the variable is first given.
#[test]
fn calls_through_variables_are_not_direct() {
    let workshop = Workshop::new();
    let source = "#include <stdlib.h>\nchar *(*variable)(const char *) = getenv;\n\
                  int main(void) { return variable(\"x\") != 0; }";
    for flags in ["-O1", "-O1 -no-pie"] {
        let module = workshop.build("a.c", source, &format!("gcc {flags}"));
        let calls = module.calls(|name| name == "getenv");
        assert_eq!((calls.sites.len(), calls.taken.len()), (0, 1), "{flags}: {calls:?}");
    }
}

#[test]
fn the_call_before_a_place_is_known_by_its_number() {
    let workshop = Workshop::new();
    let module = workshop.build("a.c", POINTERS, "gcc -w -O0 -no-pie");
    let site = &module.calls(|name| name == "through").sites[1];
    let expected = CallBefore { caller: Some("main".into()), nth: 3, callee: Some("through".into()) };
    assert_eq!(module.call_before(site.return_address), Some(expected));
    assert_eq!(module.call_before(site.return_address + 1), None, "in the middle of something");
    assert_eq!(module.call_before(site.address), None, "nothing returns there");
    assert_eq!(module.call_before(0), None);
}

/// Functions in assembly, each with its first instructions.
fn assembled(workshop: &Workshop, functions: &[(&str, &str)]) -> Module {
    let mut text = String::from(".text\n");
    for (name, body) in functions {
        text += &format!(
            ".balign 16\n.globl {name}\n.type {name}, @function\n{name}:\n{body}\n.size {name}, .-{name}\n"
        );
    }
    text += ".section .note.GNU-stack,\"\",@progbits\n";
    workshop.file("f.s", &text);
    workshop.build("m.c", "int main(void) { return 0; }", "gcc f.s")
}

fn movable(module: &Module, name: &str) -> Option<Movable> {
    let function = address_of(module.path(), name);
    assert!(module.definitions(&[name], |_| true)[0].contains(&function));
    module.movable(&[function])[0]
}

const FILL: &str = "mov $1, %eax\nmov $2, %ecx\nret";

#[test]
fn whole_instructions_move_and_an_endbr64_stays() {
    let workshop = Workshop::new();
    let prologue = format!("push %rbp\nmov %rsp, %rbp\nsub $16, %rsp\n{FILL}");
    let functions = [
        ("short", "xor %eax, %eax\nret".into()),
        ("plain", prologue.clone()),
        ("marked", format!("endbr64\n{prologue}")),
    ];
    let functions: Vec<(&str, &str)> = functions.iter().map(|(n, b)| (*n, b.as_str())).collect();
    let module = assembled(&workshop, &functions);
    for (name, skipped) in [("plain", 0), ("marked", 4)] {
        let moved = movable(&module, name).unwrap();
        assert_eq!(moved.address, address_of(module.path(), name) + skipped);
        let expected = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10];
        assert_eq!((moved.len, &moved.bytes[..8]), (8, &expected[..]), "{name}");
        assert_eq!((moved.code_len, &moved.code[..8], moved.relative), (8, &expected[..], [0; 3]));
    }
    // What follows a function that is too small is padding.
    let moved = movable(&module, "short").unwrap();
    assert_eq!((&moved.bytes[..3], moved.len >= 5), (&[0x31, 0xc0, 0xc3][..], true));
}

#[test]
fn operands_that_depend_on_the_place_are_listed_and_short_branches_become_long() {
    let workshop = Workshop::new();
    let module = assembled(
        &workshop,
        &[
            ("branches", &format!("test %rdi, %rdi\nje 1f\n{FILL}\n1: xor %eax, %eax\nret")),
            ("far", &format!("test %rdi, %rdi\nje.d32 branches\n{FILL}")),
            ("loads", &format!("mov there(%rip), %rax\n{FILL}\n.data\nthere: .quad 0\n.text")),
            ("jumps", "jmp.d32 branches"),
        ],
    );
    let target = |m: &Movable, at: usize, end: u64| {
        let distance = i32::from_le_bytes(m.code[at..at + 4].try_into().unwrap());
        m.address.wrapping_add(end).wrapping_add_signed(i64::from(distance))
    };
    let branches = address_of(module.path(), "branches");
    let m = movable(&module, "branches").unwrap();
    assert_eq!((m.len, m.code_len, m.relative), (5, 9, [5, 0, 0]));
    assert_eq!(m.code[3..5], [0x0f, 0x84]);
    assert_eq!(target(&m, 5, 9), branches + 3 + 2 + 11);
    let m = movable(&module, "far").unwrap();
    assert_eq!((m.len, m.code_len, m.relative, target(&m, 5, 9)), (9, 9, [5, 0, 0], branches));
    let m = movable(&module, "loads").unwrap();
    assert_eq!((m.len, m.relative, target(&m, 3, 7)), (7, [3, 0, 0], address_of(module.path(), "there")));
    let m = movable(&module, "jumps").unwrap();
    assert_eq!((m.len, m.relative, target(&m, 1, 5)), (5, [1, 0, 0], branches));
}

#[test]
fn what_can_not_be_moved_is_left() {
    let workshop = Workshop::new();
    let module = assembled(
        &workshop,
        &[
            ("calls", &format!("call main\n{FILL}")),
            ("loops", &format!("push %rbp\n1: mov %rsp, %rbp\ndec %edi\njne 1b\n{FILL}")),
            (
                "entered",
                &format!(
                    "push %rbp\n.globl second\n.type second, @function\nsecond: mov %rsp, %rbp\n.size second, .-second\n{FILL}"
                ),
            ),
            ("from_afar", &format!("push %rbp\n.Lmiddle: mov %rsp, %rbp\nmov %rsp, %rbp\n{FILL}")),
            ("afar", &format!("{FILL}\n.rept 200\nnop\n.endr\njmp .Lmiddle")),
            ("counts", &format!("jrcxz 1f\nnop\nnop\nnop\n1: {FILL}")),
            ("fine", &format!("push %rbp\nmov %rsp, %rbp\nmov %rsp, %rbp\n{FILL}")),
        ],
    );
    for name in ["calls", "loops", "entered", "from_afar", "counts"] {
        assert_eq!(movable(&module, name), None, "{name}");
    }
    assert!(movable(&module, "fine").is_some());
    assert_eq!(module.movable(&[0, u64::MAX]), [None, None]);
}

#[test]
fn functions_that_are_chosen_when_the_program_is_loaded_have_no_definition() {
    let workshop = Workshop::new();
    let source = "static int one(void) { return 1; }\nstatic void *choose(void) { return one; }\n\
                  int chosen(void) __attribute__((ifunc(\"choose\")));\nint plain(void) { return 2; }\n\
                  int main(void) { return chosen() + plain(); }";
    let module = workshop.build("a.c", source, "gcc -O1");
    let plain = address_of(module.path(), "plain");
    assert_eq!(module.definitions(&["chosen", "plain"], |_| true), [vec![], vec![plain]]);
    let exported = module.definitions(&["plain", "main"], |name| name == "main");
    assert!(exported[0].is_empty(), "it is not exported");
}

#[test]
fn every_call_is_told_with_who_calls_whom() {
    let workshop = Workshop::new();
    let source = "int (*volatile pointer)(void); __attribute__((noinline)) int leaf(void) { return 1; }\n\
                  __attribute__((noinline)) int both(void) { return leaf() + pointer(); }\nint main(void) { return both(); }";
    let module = workshop.build("a.c", source, "gcc -O0");
    let mut calls = Vec::new();
    module.each_call(|place, caller, callee| {
        if caller == Some("both") {
            calls.push((place, callee.map(str::to_string)));
        }
    });
    let called: Vec<_> = calls.iter().map(|(_, callee)| callee.as_deref()).collect();
    assert_eq!(called, [Some("leaf"), None]);
    for (nth, (place, _)) in calls.iter().enumerate() {
        let call = module.call_before(*place).unwrap();
        assert_eq!((call.caller.as_deref(), call.nth), (Some("both"), nth as u32 + 1));
    }
}

#[test]
fn exported_functions_are_those_that_others_find() {
    let workshop = Workshop::new();
    let source = "#include <stdlib.h>\nint variable;\nstatic int inner(void) { return rand(); }\nint outer(void) { return inner() + variable; }";
    let module = workshop.build("lib.c", source, "gcc -O0 -shared -fPIC");
    let names: Vec<&str> = module.exported_functions().collect();
    assert!(names.contains(&"outer"), "{names:?}");
    assert!(["inner", "variable", "rand"].iter().all(|name| !names.contains(name)), "{names:?}");
}
