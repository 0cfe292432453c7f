//! `inspect` on what real compilers make.

mod common;

use common::Workshop;
use raddle_binary::{AddressWidth, Architecture, Error, FileKind, Inspection, Instrumentation, inspect};

const PROGRAM: &str = "int g; void f(void) { g++; } int main(void) { f(); return 0; }";

fn built(command: &str, source: &str) -> (Workshop, Inspection) {
    let workshop = Workshop::new();
    workshop.file("a.c", source);
    workshop.sh(&format!("{command} a.c -o out"));
    let inspection = inspect(&workshop.path("out")).unwrap();
    (workshop, inspection)
}

#[test]
fn kinds_of_linked_files() {
    let (_, pie) = built("gcc -pie -fPIE", PROGRAM);
    assert_eq!((pie.class, pie.machine), (Some(AddressWidth::Elf64), Some(Architecture::X86_64)));
    assert_eq!(pie.kind, FileKind::Pie);
    assert_eq!(pie.executable, Some(true));
    assert!(pie.interpreter.unwrap().contains("ld-linux"));
    assert_eq!(pie.needed, ["libc.so.6"]);
    assert!(!pie.static_linked);
    assert_eq!(pie.instrumentation, Instrumentation::None);
    assert_eq!(built("gcc -no-pie", PROGRAM).1.kind, FileKind::Exec);
    assert_eq!(built("gcc -shared -fPIC", PROGRAM).1.kind, FileKind::Shared);
    let (_, object) = built("gcc -c", PROGRAM);
    assert_eq!((object.kind, object.executable), (FileKind::Object, Some(false)));
}

#[test]
fn static_programs_are_told_from_dynamic_ones() {
    let (_, exec) = built("gcc -static", PROGRAM);
    assert_eq!((exec.kind, exec.static_linked), (FileKind::Exec, true));
    let (_, pie) = built("gcc -static-pie", PROGRAM);
    assert_eq!((pie.kind, pie.static_linked), (FileKind::Pie, true));
    assert!(!built("gcc -shared -fPIC -nostdlib", "int x;").1.static_linked, "a library is not a program");
}

#[test]
fn the_runtime_inside_is_known_by_its_marks() {
    assert_eq!(built("gcc -fsanitize=thread", PROGRAM).1.instrumentation, Instrumentation::GccTsan);
    for clang in ["clang-14", "clang-19"] {
        let (workshop, clang) = built(&format!("{clang} -fsanitize=thread"), PROGRAM);
        assert_eq!(clang.instrumentation, Instrumentation::ForeignRuntime);
        workshop.sh("strip out");
        let stripped = inspect(&workshop.path("out")).unwrap();
        assert_eq!(stripped.instrumentation, Instrumentation::ForeignRuntime);
    }
    let calls = "gcc -fsanitize=thread -c";
    assert_eq!(built(calls, PROGRAM).1.instrumentation, Instrumentation::CallsOnly);
    let library = "gcc -fsanitize=thread -fPIC -shared -nostdlib";
    assert_eq!(built(library, PROGRAM).1.instrumentation, Instrumentation::CallsOnly);
}

#[test]
fn raddle_is_known_by_symbol_and_by_note() {
    let raddle = |hash: Option<&[u8]>| Instrumentation::Raddle { hash: hash.map(<[u8]>::to_vec) };
    let object = "const char __raddle_runtime[4] = {1, 2, 3, 4}; void __tsan_init(void) {} int main(void) {}";
    let (workshop, by_object) = built("gcc -rdynamic", object);
    assert_eq!(
        by_object.instrumentation,
        raddle(Some(&[1, 2, 3, 4])),
        "raddle's own __tsan_init is no other's"
    );
    workshop.sh("strip out");
    assert_eq!(inspect(&workshop.path("out")).unwrap().instrumentation, raddle(Some(&[1, 2, 3, 4])));
    let function = "void __raddle_runtime(void) {} int main(void) {}";
    assert_eq!(built("gcc", function).1.instrumentation, raddle(None));
    let note = r#"__asm__(".pushsection .note.raddle,\"a\",@note\n.long 7,2,1\n.asciz \"raddle\"\n.balign 4\n"
        ".byte 9,8\n.balign 4\n.popsection"); int main(void) {}"#;
    assert_eq!(built("gcc", note).1.instrumentation, raddle(Some(&[9, 8])));
}

#[test]
fn the_build_id_is_read() {
    let (_, with) = built("gcc -Wl,--build-id=0xc0ffee", PROGRAM);
    assert_eq!(with.build_id, Some(vec![0xc0, 0xff, 0xee]));
    assert_eq!(built("gcc -Wl,--build-id=none", PROGRAM).1.build_id, None);
}

#[test]
fn what_cannot_be_read_is_an_error_with_a_sentence() {
    let workshop = Workshop::new();
    let missing = workshop.path("missing");
    let sentence = inspect(&missing).unwrap_err().to_string();
    assert_eq!(sentence, format!("{}: there is no such file", missing.display()));
    assert!(matches!(inspect(&workshop.path(".")), Err(Error::NotAFile { .. })));
    let empty = workshop.file("empty", "");
    assert!(matches!(inspect(&empty), Err(Error::Empty { .. })));
    assert!(matches!(inspect(&empty.join("below")), Err(Error::NoSuchFile { .. })));
}

#[test]
fn a_file_cut_short_says_what_is_missing() {
    let workshop = Workshop::new();
    workshop.file("a.c", PROGRAM);
    workshop.sh("gcc a.c -o out");
    let whole = std::fs::read(workshop.path("out")).unwrap();
    let sentence = |length: usize| {
        let cut = workshop.bytes("cut", &whole[..length]);
        let error = inspect(&cut).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{error}");
        error.to_string()
    };
    assert!(sentence(32).ends_with("cut short: its ELF header lies beyond its end"));
    assert!(sentence(whole.len() - 64).ends_with("its table of sections lies beyond its end"));
    for length in (64..whole.len()).step_by(997) {
        sentence(length);
    }
}
