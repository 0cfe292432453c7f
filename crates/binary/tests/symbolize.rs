//! Frames of programs built by gcc, clang and rustc.

mod common;

use common::{Workshop, address_of, frames_at_call, functions};
use raddle_binary::{Address, Error, Lookup, SourceFrame, Symbolizer};

/// Line numbers matter here: `mark` is called on line 3, `add` on line 5, `work` on line 7.
const INLINED: &str = "void mark(int *p);
static inline __attribute__((always_inline)) void add(int *p) {
    mark(p);
}
static inline __attribute__((always_inline)) void twice(int *p) { add(p); }
__attribute__((noinline)) int work(int *p) {
    twice(p);
    return *p;
}
__attribute__((noinline)) void mark(int *p) { __asm__ volatile(\"\" : : \"r\"(p) : \"memory\"); }
int main(int argc, char **argv) { (void)argv; return work(&argc); }
";

fn assert_inline_stack(frames: &[SourceFrame]) {
    assert_eq!(functions(frames), ["add", "twice", "work"]);
    let lines: Vec<_> = frames.iter().map(|f| (f.line, f.function_line, f.inlined)).collect();
    assert_eq!(lines[0], (Some(3), Some(2), true));
    assert_eq!(lines[1], (Some(5), Some(5), true));
    assert_eq!(lines[2], (Some(7), Some(6), false));
    assert!(frames.iter().all(|f| f.file.as_deref().is_some_and(|file| file.ends_with("/a.c"))));
    assert_eq!(frames[0].column, Some(5));
}

#[test]
fn inlined_functions_come_one_by_one_innermost_first() {
    for command in [
        "gcc -O2 -g",
        "gcc -O2 -gdwarf-4",
        "gcc -O2 -g -gz=zlib",
        "gcc -O2 -g -no-pie",
        "gcc -O0 -g",
        "clang-14 -O2 -g",
        "clang-19 -O2 -g",
    ] {
        eprintln!("{command}");
        let workshop = Workshop::new();
        let module = workshop.build("a.c", INLINED, command);
        assert_inline_stack(&frames_at_call(&module, "mark"));
    }
}

#[test]
fn a_file_offset_is_turned_into_an_address() {
    let workshop = Workshop::new();
    // Far apart in the file and in memory, so that taking one for the other would show.
    let module = workshop.build("a.c", INLINED, "gcc -O2 -g -Wl,-Ttext-segment=0x10000 -Wl,-z,separate-code");
    let address = module.call_sites(|name| name == "mark")[0].return_address;
    let text = std::process::Command::new("readelf").arg("-lW").arg(module.path()).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    let load = text.lines().find(|line| line.contains("LOAD") && line.contains("R E")).unwrap();
    let words: Vec<u64> = load
        .split_whitespace()
        .filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok())
        .collect();
    let offset = address - words[1] + words[0];
    assert_ne!(offset, address);
    assert_inline_stack(&module.frames(Address::FileOffset(offset), Lookup::Return));
    assert_eq!(module.load_bias(0x7000_0000 + words[1], words[0]), Some(0x7000_0000));
    assert_eq!(module.frames(Address::FileOffset(u64::MAX), Lookup::Exact), []);
}

#[test]
fn a_return_address_belongs_to_the_call_before_it() {
    let workshop = Workshop::new();
    let source = "#include <stdlib.h>
        __attribute__((noinline)) void fatal(void) { abort(); }
        __attribute__((noinline)) void other(void) { __asm__ volatile(\"\"); }
        int main(int argc, char **argv) { (void)argv; other(); if (argc > 1) fatal(); return 0; }";
    let module = workshop.build("a.c", source, "gcc -O1 -g -falign-functions=1 -fno-reorder-functions");
    let call = &module.call_sites(|name| name == "abort")[0];
    let names = |lookup| functions(&module.frames(Address::Virtual(call.return_address), lookup)).join(" ");
    assert_eq!(names(Lookup::Return), "fatal");
    assert_eq!(names(Lookup::Exact), "other", "the call is the last instruction of its function");
}

#[test]
fn cpp_names_are_those_of_the_source() {
    let source = r#"
        extern "C" __attribute__((noinline)) void mark() { __asm__ volatile(""); }
        namespace bank { struct Account { template <class T> __attribute__((noinline)) void put(T t, const char *why); }; }
        template <class T> void bank::Account::put(T, const char *) { auto inner = [] { mark(); }; inner(); }
        int main() { bank::Account a; a.put(1, "x"); }"#;
    for compiler in ["g++", "clang++-19"] {
        let workshop = Workshop::new();
        let module = workshop.build("a.cc", source, &format!("{compiler} -O0 -g"));
        let frames = frames_at_call(&module, "mark");
        let name = frames[0].function.as_deref().unwrap();
        assert!(name.contains("bank::Account::put<int>(int, char const*)"), "{compiler}: {name}");
        let module = workshop.build("a.cc", source, &format!("{compiler} -O2 -g"));
        let names = frames_at_call(&module, "mark");
        assert!(functions(&names).contains(&"bank::Account::put<int>(int, char const*)"), "{names:?}");
    }
}

#[test]
fn rust_names_have_no_hash_and_inlined_code_is_seen() {
    let source = r#"
        #[inline(never)] #[unsafe(no_mangle)] extern "C" fn mark(x: u32) -> u32 { std::hint::black_box(x) }
        #[inline(always)] fn inner(x: u32) -> u32 { mark(x) + 1 }
        mod deep { #[inline(never)] pub fn outer(x: u32) -> u32 { super::inner(x) } }
        fn main() { println!("{}", deep::outer(1)); }"#;
    for flags in
        ["-g -O", "-g -Csymbol-mangling-version=v0", "-g -Csymbol-mangling-version=legacy -Zunstable-options"]
    {
        let workshop = Workshop::new();
        let module = workshop.build_rust(source, flags);
        assert_eq!(
            functions(&frames_at_call(&module, "mark")),
            ["main::inner", "main::deep::outer"],
            "{flags}"
        );
    }
}

#[test]
fn without_debug_information_the_symbol_must_do() {
    let workshop = Workshop::new();
    let bare = SourceFrame { function: Some("work".into()), ..SourceFrame::default() };
    let module = workshop.build("a.c", INLINED, "gcc -O2");
    assert!(!module.has_debug_info());
    assert_eq!(frames_at_call(&module, "mark"), std::slice::from_ref(&bare));
    let library = workshop.build("a.c", INLINED, "gcc -O2 -shared -fPIC -fvisibility=default");
    let work = address_of(library.path(), "work");
    workshop.sh("strip out");
    let stripped = workshop.open("out");
    assert_eq!(stripped.frames(Address::Virtual(work), Lookup::Exact), [bare], "dynamic symbols stay");
}

#[test]
fn a_debug_file_beside_the_program_is_used_if_it_belongs() {
    let workshop = Workshop::new();
    let module = workshop.build("a.c", INLINED, "gcc -O2 -g");
    let address = module.call_sites(|name| name == "mark")[0].return_address;
    workshop.sh("objcopy --only-keep-debug out out.debug");
    workshop.sh("strip --strip-all out");
    workshop.sh("objcopy --add-gnu-debuglink=out.debug out");
    let frames = |workshop: &Workshop| workshop.open("out").frames(Address::Virtual(address), Lookup::Return);
    assert_inline_stack(&frames(&workshop));
    workshop.file("b.c", "int main(void) { return 7; }");
    workshop.sh("gcc -g b.c -o out.debug");
    assert_eq!(frames(&workshop), [], "another program's debug information is worse than none");
}

#[test]
fn split_debug_information_still_gives_the_function() {
    let workshop = Workshop::new();
    let module = workshop.build("a.c", INLINED, "gcc -O2 -g -gsplit-dwarf");
    let frames = frames_at_call(&module, "mark");
    assert_eq!(frames.last().unwrap().function.as_deref(), Some("work"), "{frames:?}");
}

#[test]
fn a_symbolizer_serves_many_modules_and_remembers_failures() {
    let workshop = Workshop::new();
    let one = workshop.build("a.c", INLINED, "gcc -O2 -g").path().to_path_buf();
    let address = address_of(&one, "main");
    let mut symbolizer = Symbolizer::new();
    let mut main = || symbolizer.frames(&one, Address::Virtual(address), Lookup::Exact);
    assert_eq!(functions(&main()), ["main"]);
    std::fs::remove_file(&one).unwrap();
    assert_eq!(functions(&main()), ["main"], "an opened module is kept");
    let none = workshop.path("none");
    assert_eq!(symbolizer.frames(&none, Address::Virtual(1), Lookup::Exact), []);
    assert!(matches!(symbolizer.module(&none), Err(Error::NoSuchFile { .. })));
}
