//! Function ranges, ignore patterns and call sites.

mod common;

use std::ops::Range;

use common::{Workshop, address_of};
use raddle_binary::{Module, Patterns};

const PROGRAM: &str = r#"#include <stdlib.h>
#include "vendor/fast.h"
__attribute__((noinline)) int plain(int x) { return x * 3; }
__attribute__((noinline)) int user(int x) { return fast(x) + plain(x); }
int main(int argc, char **argv) {
    void *p = malloc(argc);
    __asm__ volatile("" : : "r"(p), "r"(argv) : "memory");
    free(p);
    return user(argc);
}
"#;
const HEADER: &str = "void mark(int);
static inline __attribute__((always_inline)) int fast(int x) { mark(x); return x + 1; }
";
const MARK: &str = "__attribute__((noinline)) void mark(int x) { __asm__ volatile(\"\" : : \"r\"(x)); }";

fn program(flags: &str) -> (Workshop, Module) {
    let workshop = Workshop::new();
    std::fs::create_dir(workshop.path("vendor")).unwrap();
    workshop.file("vendor/fast.h", HEADER);
    workshop.file("mark.c", MARK);
    let module = workshop.build("a.c", PROGRAM, &format!("gcc {flags} mark.c"));
    (workshop, module)
}

fn holds(ranges: &[Range<u64>], address: u64) -> bool {
    ranges.iter().any(|range| range.contains(&address))
}

fn by_function(pattern: &str) -> Patterns {
    Patterns { functions: vec![pattern.into()], ..Patterns::default() }
}

#[test]
fn functions_are_known_by_symbol_and_by_unwind_table() {
    let (workshop, module) = program("-O1");
    let plain = address_of(module.path(), "plain");
    let named = module.functions();
    let found = named.iter().find(|f| f.name.as_deref() == Some("plain")).unwrap();
    assert_eq!(found.range.start, plain);
    assert!(named.is_sorted_by_key(|f| f.range.start));
    workshop.sh("strip out");
    let nameless = workshop.open("out").functions();
    let same = nameless.iter().find(|f| f.range.start == plain).unwrap();
    assert_eq!((same.range.clone(), same.name.clone()), (found.range.clone(), None));
}

#[test]
fn a_function_pattern_finds_real_and_inlined_code() {
    let (_workshop, module) = program("-O2 -g");
    let ranges = module.match_ranges(&by_function("pl*n"));
    assert!(holds(&ranges, address_of(module.path(), "plain")));
    assert!(!holds(&ranges, address_of(module.path(), "user")));
    let call = module.call_sites(|name| name == "mark")[0].address;
    let inlined = module.match_ranges(&by_function("fast"));
    assert!(holds(&inlined, call), "fast has no code but what was inlined into user");
    assert!(!holds(&inlined, address_of(module.path(), "plain")));
    assert!(module.match_ranges(&by_function("nothing*")).is_empty());
}

#[test]
fn a_file_pattern_finds_what_was_inlined_from_it() {
    for flags in ["-O2 -g", "-O2 -g1", "-O2 -gdwarf-4"] {
        let (_workshop, module) = program(flags);
        let call = module.call_sites(|name| name == "mark")[0].address;
        let vendor = Patterns { files: vec!["vendor/*".into()], ..Patterns::default() };
        let ranges = module.match_ranges(&vendor);
        assert!(holds(&ranges, call), "{flags}: {call:x} in {ranges:x?}");
        assert!(!holds(&ranges, address_of(module.path(), "plain")), "{flags}");
        let main = Patterns { files: vec!["a.c".into()], ..Patterns::default() };
        assert!(holds(&module.match_ranges(&main), address_of(module.path(), "plain")), "{flags}");
    }
}

#[test]
fn a_module_pattern_takes_all_its_code() {
    let (_workshop, module) = program("-O2");
    let all = Patterns { modules: vec!["ou*".into()], ..Patterns::default() };
    assert!(holds(&module.match_ranges(&all), address_of(module.path(), "main")));
    let other = Patterns { modules: vec!["libother.so".into()], ..Patterns::default() };
    assert!(module.match_ranges(&other).is_empty());
}

#[test]
fn calls_are_followed_through_every_kind_of_stub() {
    for flags in ["", "-fno-plt", "-Wl,-z,now", "-fcf-protection=full -Wl,-z,ibtplt", "-no-pie", "-static"] {
        let (_workshop, module) = program(&format!("-O1 {flags}"));
        let main = module.functions().into_iter().find(|f| f.name.as_deref() == Some("main")).unwrap().range;
        let sites = module.call_sites(|name| name == "malloc");
        let in_main: Vec<_> = sites.iter().filter(|site| main.contains(&site.address)).collect();
        assert_eq!(in_main.len(), 1, "{flags}: {sites:x?}");
        assert!(!in_main[0].tail && in_main[0].return_address > in_main[0].address);
    }
}

#[test]
fn a_tail_call_is_told_from_a_call() {
    let source = "int last(int); int f(int x) { return last(x + 1); } int g(int x) { return last(x) + 1; }";
    let workshop = Workshop::new();
    let module = workshop.build("a.c", source, "gcc -O2 -shared -fPIC");
    let tails: Vec<bool> = module.call_sites(|name| name == "last").iter().map(|site| site.tail).collect();
    assert_eq!(tails.iter().filter(|tail| **tail).count(), 1);
    assert_eq!(tails.len(), 2);
}
