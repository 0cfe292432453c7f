//! Structs that are passed by value, which compilers read without a probe.

mod common;

use common::Workshop;
use raddle_binary::{Address, Lookup, Module};

/// Functions whose names say for which compilers they have a silent argument: `b_` for both, `g_`
/// for gcc alone, `n_` for neither.
const CALLS: &str = r#"
struct word { int x, y; };
struct pair { long a, b; };
struct real { double x, y; };
struct some { int a, b, c; };
struct wide { long a[5]; };
struct many { long a[64]; };
extern long take_word(struct word), take_pair(struct pair), take_real(struct real), take_some(struct some);
extern long take_wide(struct wide), take_many(struct many), take_long(long), take_two(long, struct pair);
extern long take_pointer(struct pair *), take_floats(double, double);
struct word word; struct pair pair; struct wide wide; static const struct pair constant = {1, 2};
static struct pair hidden; long counts[8]; int ends[2]; __thread struct pair own;

long g_word(struct word *p) { return take_word(*p); }
long g_global(void) { return take_pair(pair); }
long g_beside_a_long(long *p) { return take_two(*p, pair); }
long g_real(struct real *p) { return take_real(*p); }
long g_checked(struct some *p) { return p->a ? take_some(*p) : 0; }
long g_element(struct pair *p, int i) { return take_pair(p[i]); }
long b_wide(void) { return take_wide(wide); }
long b_through_pointer(struct wide *p) { return take_wide(*p); }
long b_many(struct many *p, int i) { return take_many(p[i]); }

long n_members(void) { return take_long(pair.a) + take_long(pair.b); }
long n_elements(int i) { return take_long(counts[i]) + take_long(counts[i + 2]); }
long n_in_loop(long *p, int n) { long s = 0; for (int i = 0; i < n; i++) s += take_long(p[i] + ends[1]); return s; }
long n_copy(void) { struct wide local = wide; local.a[0] = 1; return take_wide(local); }
long n_local(long x) { struct pair local = {x, x}; return take_pair(local); }
long n_parameter(struct wide w) { return take_wide(w); }
long n_constant(void) { return take_pair(constant); }
long n_own(void) { return take_pair(own); }
long n_address(void) { hidden.a = 1; return take_pointer(&hidden) + take_pointer(&pair); }
long n_floats(struct real *p) { return take_floats(p->x, p->y); }
long n_switch(int i) {
    switch (i) {
    case 0: return take_long(pair.a);
    case 1: return take_long(pair.b);
    case 2: return take_long(word.x);
    case 3: return take_long(word.y);
    case 4: return take_long(wide.a[1]);
    default: return take_long(wide.a[2]);
    }
}
"#;

/// The functions with such calls, sorted.
fn silent(module: &Module) -> Vec<String> {
    let name = |at| module.frames(Address::Virtual(at), Lookup::Exact).pop().and_then(|f| f.function);
    let mut names: Vec<String> = module.silent_arguments().into_iter().filter_map(name).collect();
    names.sort();
    names.dedup();
    names
}

fn expected(prefixes: &[&str]) -> Vec<String> {
    let lines = CALLS.lines().filter_map(|line| line.strip_prefix("long ")?.split('(').next());
    let mut names: Vec<String> =
        lines.filter(|name| prefixes.iter().any(|p| name.starts_with(p))).map(str::to_string).collect();
    names.sort();
    names
}

#[test]
fn what_gcc_passes_by_value_is_found() {
    let workshop = Workshop::new();
    for flags in ["-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-plt -fcf-protection"] {
        let build = format!("gcc -g -w -fsanitize=thread -fPIC -nostdlib -shared {flags}");
        let module = workshop.build("a.c", CALLS, &build);
        assert_eq!(silent(&module), expected(&["b_", "g_"]), "{flags}");
    }
}

#[test]
fn what_clang_passes_by_value_is_found() {
    let workshop = Workshop::new();
    for flags in ["-O0", "-O1", "-O2", "-Os"] {
        let build = format!("clang-19 -g -w -fsanitize=thread -fPIC -nostdlib -shared {flags}");
        let module = workshop.build("a.c", CALLS, &build);
        assert_eq!(silent(&module), expected(&["b_"]), "{flags}");
    }
}

/// The C++ library passes the identity of a thread by value.
#[test]
fn the_library_of_cpp_is_left_out() {
    let workshop = Workshop::new();
    let source = "#include <map>\n#include <string>\n#include <thread>\n#include <vector>\n\
        struct Job { long a, b; };\nJob job;\n__attribute__((noinline)) long run(Job j) { return j.a; }\n\
        struct Pool { Job job; std::vector<int> all; std::map<int, std::string> names;\n\
        __attribute__((noinline)) long next() { return run(job); }\n\
        __attribute__((noinline)) void quiet() { all.push_back(1); for (auto &n : names) all.push_back(n.first); } };\n\
        Pool pool;\nint main() { std::thread t([] { pool.quiet(); }); if (t.joinable()) t.join(); return pool.next(); }";
    for flags in ["-O0", "-O1"] {
        let build = format!("g++ -g -w -fsanitize=thread -Wl,--unresolved-symbols=ignore-all {flags}");
        let module = workshop.build("a.cpp", source, &build);
        assert_eq!(silent(&module), ["Pool::next()"], "{flags}");
    }
}

#[test]
fn rust_passes_nothing_without_a_probe() {
    let workshop = Workshop::new();
    let source = "#[derive(Clone, Copy)] struct Wide([u64; 5]); #[repr(C)] #[derive(Clone, Copy)] struct Pair(u64, u64);
        static mut WIDE: Wide = Wide([1; 5]); static mut PAIR: Pair = Pair(1, 2);
        #[inline(never)] fn wide(w: Wide) -> u64 { w.0[1] }
        #[inline(never)] extern \"C\" fn foreign(w: Pair) -> u64 { w.1 }
        fn main() { unsafe { std::process::exit((wide(WIDE) + foreign(PAIR)) as i32) } }";
    for flags in ["-g", "-g -O"] {
        assert_eq!(silent(&workshop.build_rust(source, flags)), Vec::<String>::new(), "{flags}");
    }
}
