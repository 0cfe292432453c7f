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
static struct pair hidden; long counts[8]; int ends[2]; __thread struct pair own, owns[4];
extern void unlock(void), fill(void *, int); extern long take_text(const char *); struct pair other;
static const char *const names[] = {"zero", "one", "two"}; static const int weights[] = {3, 5, 7, 9};
static const long rows[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}; static const struct pair table[] = {{1, 2}, {3, 4}};
extern long first(long), second(long); static long (*const handlers[])(long) = {first, second};

long g_word(struct word *p) { return take_word(*p); }
long g_global(void) { return take_pair(pair); }
long g_beside_a_long(long *p) { return take_two(*p, pair); }
long g_real(struct real *p) { return take_real(*p); }
long g_checked(struct some *p) { return p->a ? take_some(*p) : 0; }
long g_element(struct pair *p, int i) { return take_pair(p[i]); }
long b_wide(void) { return take_wide(wide); }
long b_through_pointer(struct wide *p) { return take_wide(*p); }
long b_many(struct many *p, int i) { return take_many(p[i]); }

long g_after_unlock(void) { unlock(); pair.a++; pair.b++; unlock(); return take_pair(pair); }
long g_after_write(void) { counts[0] = 1; return take_word(word); }
long g_after_own_writes(long x) { pair.a = x; pair.b = x; return take_pair(pair); }
long g_after_reads(void) { counts[1] = pair.a + pair.b; return take_pair(pair); }
long g_after_atomic(void) { __atomic_add_fetch(&pair.a, 1, 5); return take_pair(pair); }
long g_behind_jump(int n) { switch (n) { case 0: take_pair(other); break; case 1: take_pair(pair); break; case 2: take_pair(hidden); break; default: break; } return 1; }
long b_below(int n) { char room[n * 10]; fill(room, n); return take_wide(wide); }

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
long n_counted(void) { counts[0] = counts[0] + 1; return take_long(counts[0]); }
long n_old_value(void) { long old = counts[0]++; return take_long(old); }
long n_after_call(long *p) { unlock(); return take_long(*p) + take_long(p[1]); }
long n_name(int i) { return take_text(names[i]); }
long n_weight(int i) { return take_long(weights[i]) + take_long(weights[i + 1]); }
long n_row(int i, int j) { return take_long(rows[i][j]); }
long n_table(int i) { return take_pair(table[i]); }
long n_handler(int i) { return handlers[i](i); }
long n_aligned(void) { struct wide local __attribute__((aligned(64))); fill(&local, 1); return take_wide(local); }
long n_room(int n) { long room[n]; fill(room, n); return take_wide(*(struct wide *)room); }
long n_own_element(int i) { return take_pair(owns[i]); }
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

/// Programs with fixed addresses have them as numbers in their code.
#[test]
fn tables_at_fixed_addresses_are_constant() {
    let workshop = Workshop::new();
    let source = format!("{CALLS}\nint main(void) {{ return 0; }}");
    for flags in ["-O0", "-O2"] {
        let build = format!(
            "gcc -g -w -fsanitize=thread -no-pie -fno-pie -Wl,--unresolved-symbols=ignore-all {flags}"
        );
        assert_eq!(silent(&workshop.build("a.c", &source, &build)), expected(&["b_", "g_"]), "{flags}");
    }
}

/// Virtual tables are constant: offsets of bases, functions and the type's own description.
#[test]
fn reads_of_virtual_tables_are_none_of_structs() {
    let workshop = Workshop::new();
    let source = "#include <typeinfo>\nextern void use(long), name(const std::type_info &);\n\
        struct Base { long v = 1; virtual ~Base() {} virtual long get(long); long put(long); };\n\
        struct Mid : virtual Base { }; struct Low : Mid { };\n\
        void based(Mid *p) { p->put(1); }\nvoid called(Base *p) { use(p->get(2)); }\n\
        void described(Base *p) { name(typeid(*p)); }\n\
        void cast(Base *p) { if (Low *low = dynamic_cast<Low *>(p)) low->put(3); }\n\
        void member(Base *p, long (Base::*f)(long)) { use((p->*f)(4)); }";
    for compiler in ["g++", "clang++-19"] {
        for flags in ["-O0", "-O1", "-O2"] {
            let build =
                format!("{compiler} -g -w -fsanitize=thread -fPIC -nostdlib -nodefaultlibs -shared {flags}");
            let module = workshop.build("a.cpp", source, &build);
            assert_eq!(silent(&module), Vec::<String>::new(), "{compiler} {flags}");
        }
    }
}

/// A function with more probes than announcements are kept.
#[test]
fn a_long_function_without_calls_is_searched() {
    let workshop = Workshop::new();
    let body: String = (0..1_000).map(|i| format!("v[{i}] = v[{}] + 1;\n", i + 1)).collect();
    let source = format!(
        "struct pair {{ long a, b; }} pair; extern long take(struct pair); extern volatile long v[1001];\n\
         long many(void) {{ {body} return take(pair); }}"
    );
    let build = "gcc -g -w -fsanitize=thread -fPIC -nostdlib -shared -O0";
    assert_eq!(silent(&workshop.build("a.c", &source, build)), ["many"]);
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
