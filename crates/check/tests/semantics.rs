//! C as the interpreter runs it, against what a compiler would make of it: each program's `main`
//! returns a number.

use std::sync::Arc;

use raddle_check::c::{NoIncludes, PreprocessorLimits, lower_file, models};
use raddle_check::entries::entries;
use raddle_check::interp::value::is_unknown;
use raddle_check::interp::{Bounds, EntryStart, Facts, Machine, RunEnd, RunResult};
use raddle_check::ir::link::link;

fn run_seed(text: &str, seed: u64) -> RunResult {
    let lowered = lower_file("a.c", text.as_bytes(), &NoIncludes, PreprocessorLimits::default());
    assert_eq!(lowered.errors, 0, "parses: {text}");
    let models = models::unit();
    let program = link(&[&lowered.unit, &models]);
    let main = entries(&program, &Facts::of(&program, Arc::default()))
        .first()
        .map(|e| e.start.function)
        .expect("there is a main");
    let mut machine = Machine::new(&program, Bounds::default(), None);
    machine.run(EntryStart { function: main, in_the_middle: false }, seed)
}

/// The value of `main`'s result.
fn run(text: &str) -> i64 {
    let r = run_seed(text, 1);
    assert_eq!(r.end, RunEnd::Finished, "{text}");
    assert!(!is_unknown(r.result), "the result is known: {text}");
    r.result as i64
}

/// The value of an expression after some statements.
fn eval(body: &str) -> i64 {
    run(&format!("#include <stdlib.h>\n#include <string.h>\nint main(void) {{ {body} }}"))
}

#[test]
fn arithmetic_and_conversions() {
    assert_eq!(eval("return 7 / 2 * 10 + 7 % 4;"), 33);
    assert_eq!(eval("return -7 / 2;"), -3);
    assert_eq!(eval("unsigned char c = 250; c += 10; return c;"), 4);
    assert_eq!(eval("int x = 0x7fffffff; x++; return x < 0;"), 1);
    assert_eq!(eval("unsigned u = 0; u--; return u > 0;"), 1);
    assert_eq!(eval("return (int)3.9 + (int)(1.5f * 2);"), 6);
    assert_eq!(eval("return -1 < 0u;"), 0);
    assert_eq!(eval("return (char)200 < 0;"), 1);
    assert_eq!(eval("long x = 1L << 40; return x >> 38;"), 4);
    assert_eq!(eval("return ~5 & 0xff;"), 250);
    assert_eq!(eval("_Bool b = 42; return b;"), 1);
    assert_eq!(eval("double d = 10; d /= 4; return d * 2;"), 5);
    assert_eq!(eval("float f = 0.1f; return f == 0.1f;"), 1);
    assert_eq!(eval("return sizeof(long) * 10 + sizeof 'a' + sizeof(char[3]);"), 87);
}

#[test]
fn control_flow() {
    assert_eq!(eval("int s = 0; for (int i = 0; i < 5; i++) { if (i == 3) continue; s += i; } return s;"), 7);
    assert_eq!(eval("int i = 0; while (1) { if (++i > 9) break; } return i;"), 10);
    assert_eq!(eval("int i = 0; do i += 2; while (i < 5); return i;"), 6);
    assert_eq!(eval("int i = 0; again: i++; if (i < 4) goto again; return i;"), 4);
    assert_eq!(
        eval(
            "int x = 3, r = 0; switch (x) { case 1: r = 1; case 3: r += 3; case 4: r += 4; break; default: r = 9; } return r;"
        ),
        7
    );
    assert_eq!(
        eval("int x = 7; switch (x) { case 1 ... 5: return 1; case 6 ... 9: return 2; } return 3;"),
        2
    );
    assert_eq!(eval("int a = 0; return a || (a = 5) && a == 5;"), 1);
    assert_eq!(eval("int a = 3; return a > 2 ? a * 2 : 0;"), 6);
    assert_eq!(eval("int a = 0; return a ?: 8;"), 8);
    assert_eq!(eval("static void *t[] = { &&a, &&b }; goto *t[1]; a: return 1; b: return 2;"), 2);
    assert_eq!(eval("int x = ({ int y = 4; y * 2; }); return x;"), 8);
}

#[test]
fn pointers_arrays_and_strings() {
    assert_eq!(eval("int a[] = { 1, 2, 3 }; int *p = a; p++; return *p + p[1] + 0[p];"), 7);
    assert_eq!(eval("int a[5]; return &a[4] - &a[1];"), 3);
    assert_eq!(eval("char s[] = \"abc\"; s[1] = 'x'; return strcmp(s, \"axc\") == 0 && sizeof s == 4;"), 1);
    assert_eq!(eval("int m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; return m[1][2] * 10 + m[0][1];"), 62);
    assert_eq!(
        eval("int n = 3; int v[n]; for (int i = 0; i < n; i++) v[i] = i * i; return v[2] + sizeof v;"),
        16
    );
    assert_eq!(
        eval("int *p = malloc(4 * sizeof *p); for (int i = 0; i < 4; i++) *p++ = i; return p[-1] + p[-2];"),
        5
    );
    assert_eq!(
        eval(
            "char *s = strdup(\"hello\"); strcat(strcpy(s, \"he\"), \"y\"); return strlen(s) * 10 + (strchr(s, 'y') - s);"
        ),
        32
    );
    assert_eq!(eval("int a = 1, b = 2, *p = &a, **q = &p; *q = &b; **q = 9; return b * 10 + a;"), 91);
    assert_eq!(eval("unsigned x = 0x01020304; return *(unsigned char *)&x;"), 4);
    assert_eq!(eval("int a[3] = { [2] = 5, [0] = 1 }; return a[0] + a[1] + a[2];"), 6);
    assert_eq!(
        eval("char b[8]; memset(b, 7, 8); memcpy(b, b + 4, 2); return b[1] + memcmp(b, b + 2, 4);"),
        7
    );
}

#[test]
fn records_unions_and_bit_fields() {
    assert_eq!(eval("struct p { int x, y; } a = { 1, 2 }, b = a; b.x = 5; return a.x * 10 + b.x;"), 15);
    assert_eq!(
        eval(
            "struct { struct { int a; }; union { int b; char c[4]; }; } s = { { 1 }, { 0x0102 } }; return s.a + s.c[1];"
        ),
        2
    );
    assert_eq!(
        eval(
            "struct { unsigned a : 3, b : 5; int c : 4; } s = { 9, 33, 0 }; s.c = -3; return s.a * 100 + s.b * 10 + s.c;"
        ),
        107
    );
    assert_eq!(
        eval(
            "struct n { int v; struct n *next; } c = { 3, 0 }, b = { 2, &c }, a = { 1, &b }; return a.next->next->v;"
        ),
        3
    );
    assert_eq!(
        eval(
            "struct s { char c; double d; short h; }; return sizeof(struct s) + __builtin_offsetof(struct s, h);"
        ),
        40
    );
    assert_eq!(eval("union { float f; unsigned u; } x; x.f = 1.0f; return x.u >> 23;"), 127);
    assert_eq!(
        eval("struct p { int x, y; } *q = &(struct p){ .y = 4, .x = 3 }; return q->x * 10 + q->y;"),
        34
    );
    assert_eq!(eval("struct a { int v[3]; } x = { { 1, 2, 3 } }, *p = &x; p->v[1] += 5; return x.v[1];"), 7);
}

#[test]
fn functions_by_value_and_by_pointer() {
    let record = "struct p { int x, y; }; static struct p swap(struct p a) { struct p r = { a.y, a.x }; a.x = 0; return r; }\n\
        int main(void) { struct p a = { 1, 2 }; struct p b = swap(swap(swap(a))); return b.x * 100 + b.y * 10 + a.x; }";
    assert_eq!(run(record), 211);
    let pointer = "static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; }\n\
        typedef int (*op)(int, int); static op ops[] = { add, &sub };\n\
        int main(void) { op f = ops[1]; return f(9, 4) * 10 + (*ops[0])(1, 2); }";
    assert_eq!(run(pointer), 53);
    assert_eq!(
        run(
            "static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } int main(void) { return fib(12); }"
        ),
        144
    );
    let varargs = "#include <stdarg.h>\nstatic int sum(int n, ...) { va_list a, b; va_start(a, n); va_copy(b, a); int s = 0;\n\
        while (n--) s += va_arg(a, int); s += va_arg(b, int); va_end(a); return s; }\n\
        int main(void) { return sum(3, 1, 2, 3); }";
    assert_eq!(run(varargs), 7);
    let kr = "int add(a, b) int a; int b; { return a + b; }\nint main() { return add(2, 3); }";
    assert_eq!(run(kr), 5);
    let statics =
        "static int next(void) { static int n = 5; return n++; } int main(void) { next(); return next(); }";
    assert_eq!(run(statics), 6);
    let sorted = "#include <stdlib.h>\nstatic int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n\
        int main(void) { int a[] = { 3, 1, 2 }; qsort(a, 3, sizeof *a, cmp); return a[0] * 100 + a[1] * 10 + a[2]; }";
    assert_eq!(run(sorted), 123);
}

#[test]
fn globals_and_their_initial_values() {
    let text = "struct s { const char *name; int n; struct s *other; int list[3]; };\nextern struct s a, b;\n\
        struct s a = { \"one\", 1, &b, { 1, 2 } }, b = { .n = 2, .other = &a, .list[2] = 7 };\n\
        static int *const p = &b.list[1]; int big[4] = { [1 ... 2] = 5 }; double d = 1.0 / 4; enum { X = 3, Y }; int tentative;\n\
        int tentative; int main(void) { return a.name[0] + a.other->n + b.other->list[1] + p[1] + big[2] + (int)(d * 8) + Y + tentative; }";
    assert_eq!(run(text), i64::from(b'o') + 2 + 2 + 7 + 5 + 2 + 4);
}

#[test]
fn typedef_names_decide_what_an_expression_is() {
    assert_eq!(run("typedef int T; int main(void) { int b = 3; return (T)(b) + (T)-b; }"), 0);
    assert_eq!(run("int main(void) { int a = 4, b = 3; b * a; return (b)*a; }"), 12);
    assert_eq!(
        run(
            "typedef struct { int v; } T; int main(void) { T * a; T x = { 5 }; a = &x; int T = 2; return a->v * T; }"
        ),
        10
    );
    assert_eq!(run("static int f(int x) { return x; } int main(void) { return (f)(3); }"), 3);
}

#[test]
fn gnu_and_c11_forms() {
    assert_eq!(eval("return _Generic(1.0, int: 1, double: 2, default: 3);"), 2);
    assert_eq!(eval("typeof(1L) x = 5; __auto_type y = x; return sizeof y + x;"), 13);
    assert_eq!(eval("_Static_assert(1, \"fine\"); _Alignas(16) int x = 3; return x;"), 3);
    assert_eq!(eval("return __builtin_expect(4, 1) + __builtin_constant_p(3);"), 5);
    assert_eq!(
        eval("return __builtin_clzl(1) + __builtin_ctz(8) * 100 + __builtin_popcount(255) * 1000;"),
        8363
    );
    assert_eq!(
        eval("return __builtin_bswap32(0x01020304) == 0x04030201 && __builtin_clz(1) == 31 && ffs(12) == 3;"),
        1
    );
    assert_eq!(eval("int r; return __builtin_add_overflow(3, 4, &r) + r;"), 7);
    assert_eq!(eval("int x = 0; __asm__ volatile (\"nop\" ::: \"memory\"); return x + 1;"), 1);
    assert_eq!(eval("int x __attribute__((unused)) = 6; return x;"), 6);
    assert_eq!(eval("const char *s = \"a\" \"b\" \"\\x43\"; return s[2];"), 67);
    assert_eq!(eval("return 'a' == 97 && L'b' == 98 && 0b101 == 5 && 1'000 == 1000;"), 1);
}

#[test]
fn atomics_compute() {
    let with = |body: &str| run(&format!("#include <stdatomic.h>\nint main(void) {{ {body} }}"));
    assert_eq!(with("atomic_int x = 5; int o = atomic_fetch_add(&x, 3); x += 2; return x * 10 + o;"), 105);
    assert_eq!(
        with(
            "atomic_int x = 5; int e = 4; int ok = atomic_compare_exchange_strong(&x, &e, 9); return ok * 100 + e * 10 + x;"
        ),
        55
    );
    assert_eq!(
        with(
            "int x = 6; int a = __atomic_add_fetch(&x, 1, __ATOMIC_RELAXED); return a * 10 + __sync_val_compare_and_swap(&x, 7, 1) + x;"
        ),
        78
    );
    assert_eq!(with("int x = 6, y, z = 2; __atomic_exchange(&x, &z, &y, 5); return x * 10 + y;"), 26);
    assert_eq!(
        with(
            "atomic_flag f = ATOMIC_FLAG_INIT; int a = atomic_flag_test_and_set(&f); return a * 10 + atomic_flag_test_and_set(&f);"
        ),
        1
    );
    assert_eq!(with("int x = 12; return __atomic_nand_fetch(&x, 10, 5) * 0 + (x & 0xf);"), 7);
    assert_eq!(with("_Atomic int x = 3; return x++ + ++x;"), 8);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = "#include <pthread.h>\n#include <stdlib.h>\nstatic int n; static pthread_mutex_t m;\n\
        static void *f(void *a) { for (int i = 0; i < 20; i++) { pthread_mutex_lock(&m); n = n * 3 + (int)(long)a; pthread_mutex_unlock(&m); } return 0; }\n\
        int main(void) { pthread_t t[3]; for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, f, (void *)(i + rand()));\n\
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return n; }";
    let runs = |seed| {
        let r = run_seed(text, seed);
        (r.steps, r.fingerprint, r.result)
    };
    assert_eq!(runs(7), runs(7));
    let different = (1..20).map(runs).collect::<std::collections::HashSet<_>>();
    assert!(different.len() > 5, "seeds differ");
}

#[test]
fn a_null_pointer_ends_the_run() {
    assert_eq!(run_seed("int main(void) { int *p = 0; return *p; }", 1).end, RunEnd::Crashed);
    assert_eq!(
        run_seed("struct s { int a, b; }; int main(void) { struct s *p = 0; p->b = 1; return 0; }", 1).end,
        RunEnd::Crashed
    );
}

#[test]
fn openmp_computes() {
    let text = "int main(void) { int s = 0, a[10];\n#pragma omp parallel for reduction(+ : s)\n\
        for (int i = 0; i < 10; i++) { a[i] = i; s += a[i]; }\n int n = 0;\n\
        #pragma omp parallel num_threads(2)\n{\n#pragma omp critical\nn++;\n}\nreturn s * 10 + n; }";
    assert_eq!(run(text), 452);
}

#[test]
fn jumps_come_back_to_where_they_were_set() {
    let jump = |body: &str| {
        run(&format!(
            "#include <setjmp.h>\njmp_buf env; void f(int n) {{ if (n) f(n - 1); else longjmp(env, 5); }}\n{body}"
        ))
    };
    assert_eq!(jump("int main(void) { int v = setjmp(env); if (v == 0) f(3); return v; }"), 5);
    assert_eq!(
        jump(
            "int main(void) { volatile int n = 0; if (setjmp(env) < 1) { n += 10; longjmp(env, 0); } return n; }"
        ),
        10
    );
    assert_eq!(
        jump(
            "int main(void) { int v = 0; switch (setjmp(env)) { case 0: f(1); v = 1; break; case 5: v = 7; } return v; }"
        ),
        7
    );
    // A copy of the buffer is as good.
    assert_eq!(
        jump("int main(void) { jmp_buf b; if (setjmp(b) == 0) { env[0] = b[0]; f(0); } return 3; }"),
        3
    );
}

#[test]
fn a_jump_into_a_function_that_has_returned_ends_the_run() {
    let text = "#include <setjmp.h>\njmp_buf env; void set(void) { setjmp(env); }\n\
        int main(void) { set(); longjmp(env, 1); return 9; }";
    let r = run_seed(text, 1);
    assert_eq!(r.end, RunEnd::Finished);
    assert_ne!(r.result, 9);
}

#[test]
fn signal_sets_and_pipes_hold_what_was_put_in() {
    assert_eq!(
        eval(
            "sigset_t s; sigemptyset(&s); sigaddset(&s, 3); return sigismember(&s, 3) * 10 + sigismember(&s, 4);"
        ),
        10
    );
    assert_eq!(
        eval(
            "sigset_t s, o; sigfillset(&s); sigdelset(&s, 2); sigprocmask(SIG_SETMASK, &s, 0); sigemptyset(&s); \
              sigprocmask(SIG_BLOCK, &s, &o); return sigismember(&o, 2) * 10 + sigismember(&o, 1);"
        ),
        1
    );
    assert_eq!(
        eval(
            "int p[2]; char c[9]; pipe(p); write(p[1], \"abc\", 3); return read(p[0], c, 2) * 10 + read(p[0], c, 9);"
        ),
        21
    );
}

#[test]
fn a_scan_writes_what_its_format_says() {
    let known = |format: &str, ask: &str| {
        run_seed(
            &format!(
                "#include <stdio.h>\nint main(void) {{ int a = 1, b = 2; long c = 3; char s[4] = \"xyz\"; \
            sscanf(\"..\", \"{format}\", &a, &c, s); return {ask}; }}"
            ),
            1,
        )
        .result
    };
    assert!(is_unknown(known("%d", "a")));
    assert_eq!(known("%*d%%", "a"), 1);
    assert!(is_unknown(known("%d %ld", "(int)c")));
    assert!(is_unknown(known("%5d,%li %3[^]a]", "s[0]")));
    assert_eq!(known("%d", "b"), 2);
}
