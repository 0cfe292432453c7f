//! Variables by address.

mod common;

use common::{Workshop, address_of};
use raddle_binary::DataSymbol;

const C: &str = "int table[10] = {1};
static volatile long in_bss;
__thread int before[4];
__thread int mine = 5;
int count(void) {
    static int counter = 3;
    return ++counter;
}
int main(void) { in_bss = count(); return table[0] + (int)in_bss + mine + before[1]; }
";

fn told(symbol: &DataSymbol) -> (&str, u64, u64, Option<u32>) {
    (symbol.name.as_str(), symbol.offset, symbol.size, symbol.line)
}

#[test]
fn globals_statics_and_static_locals_have_name_offset_and_line() {
    for command in ["gcc -g", "gcc -g -gdwarf-4 -O1", "clang-14 -g", "clang-19 -g"] {
        let workshop = Workshop::new();
        let module = workshop.build("a.c", C, command);
        let counter = if command.starts_with("gcc") { "counter.0" } else { "count.counter" };
        let at = |symbol: &str| address_of(module.path(), symbol);
        let table = module.data_symbol(at("table") + 22).unwrap();
        assert_eq!(told(&table), ("table", 22, 40, Some(1)), "{command}");
        assert!(table.file.unwrap().ends_with("/a.c"));
        let bss = module.data_symbol(at("in_bss")).unwrap();
        assert_eq!(told(&bss), ("in_bss", 0, 8, Some(2)), "{command}");
        let local = module.data_symbol(at(counter) + 1).unwrap();
        assert_eq!(told(&local), ("count::counter", 1, 4, Some(6)), "{command}");
        assert_eq!(module.data_symbol(at("main")), None, "code is not data");
        assert_eq!(module.data_symbol(0), None);
    }
}

#[test]
fn without_debug_information_names_and_sizes_stay() {
    let workshop = Workshop::new();
    let module = workshop.build("a.c", C, "gcc");
    let at = |symbol: &str| address_of(module.path(), symbol);
    assert_eq!(told(&module.data_symbol(at("table") + 39).unwrap()), ("table", 39, 40, None));
    assert_eq!(told(&module.data_symbol(at("counter.0")).unwrap()), ("counter", 0, 4, None));
}

#[test]
fn thread_local_variables_are_found_by_their_offset() {
    for command in ["gcc -g", "clang-19 -g"] {
        let workshop = Workshop::new();
        let module = workshop.build("a.c", C, command);
        let at = |symbol: &str| address_of(module.path(), symbol);
        let mine = module.thread_local_symbol(at("mine") + 2).unwrap();
        assert_eq!(told(&mine), ("mine", 2, 4, Some(4)), "{command}");
        let before = module.thread_local_symbol(at("before") + 15).unwrap();
        assert_eq!(told(&before), ("before", 15, 16, Some(3)), "{command}");
        assert_eq!(module.thread_local_symbol(1 << 20), None);
    }
}

#[test]
fn cpp_names_are_qualified() {
    let source = "namespace bank { int total; struct Teller { static int seen; }; int Teller::seen = 1;
        struct Vault { int open() { static int opened = 2; return ++opened; } }; }
        int main() { bank::Vault v; return bank::total + bank::Teller::seen + v.open(); }";
    for compiler in ["g++", "clang++-19"] {
        let workshop = Workshop::new();
        let module = workshop.build("a.cc", source, &format!("{compiler} -g"));
        let name = |symbol: &str| module.data_symbol(address_of(module.path(), symbol)).unwrap().name;
        assert_eq!(name("_ZN4bank5totalE"), "bank::total");
        assert_eq!(name("_ZN4bank6Teller4seenE"), "bank::Teller::seen");
        let opened = name("_ZZN4bank5Vault4openEvE6opened");
        assert!(opened.starts_with("bank::Vault::open") && opened.ends_with("::opened"), "{opened}");
    }
}

#[test]
fn rust_statics_are_qualified() {
    let source =
        "mod bank { pub static TOTAL: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1); }
        fn main() { println!(\"{:?}\", bank::TOTAL); }";
    let workshop = Workshop::new();
    let module = workshop.build_rust(source, "-g -Csymbol-mangling-version=v0");
    let nm = std::process::Command::new("nm").arg(module.path()).output().unwrap();
    let text = String::from_utf8(nm.stdout).unwrap();
    let line = text.lines().find(|line| line.ends_with("4bank5TOTAL")).expect("the static's symbol");
    let address = u64::from_str_radix(&line[..16], 16).unwrap();
    let total = module.data_symbol(address + 4).unwrap();
    assert_eq!(told(&total), ("main::bank::TOTAL", 4, 8, Some(1)));
}
