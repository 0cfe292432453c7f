use super::*;
use crate::c::ast::{ExprKind, Stmt, StmtKind};
use crate::c::pp::{MacroState, NoIncludes, Preprocessor, PreprocessorLimits};

struct Parsed {
    items: Vec<Item>,
    errors: u32,
    interner: Interner,
    types: Types,
}

fn parse(text: &str) -> Parsed {
    let mut state = MacroState::default();
    let words = Words::new(&mut state.interner);
    let (out, state) = Preprocessor::new(state, &NoIncludes, PreprocessorLimits::default()).run(
        "a.c",
        text.as_bytes(),
        false,
    );
    let mut parser = Parser::new(&out.tokens, &state.interner, &words, Scopes::default());
    parser.run();
    let (items, errors) = (std::mem::take(&mut parser.items), parser.errors());
    let types = parser.scopes.types;
    Parsed { items, errors, interner: state.interner, types }
}

impl Parsed {
    fn functions(&self) -> Vec<(&str, &[Stmt])> {
        self.items
            .iter()
            .filter_map(|i| match i {
                Item::Function(f) => Some((&**self.interner.name(f.name), f.body.as_slice())),
                Item::Var(_) => None,
            })
            .collect()
    }

    fn names(&self) -> Vec<&str> {
        self.functions().into_iter().map(|f| f.0).collect()
    }
}

/// The kinds of the statements of the only function.
fn body(text: &str) -> (Vec<StmtKind>, u32) {
    let p = parse(&format!("typedef int T;\nint f(void) {{\n{text}\n}}\n"));
    let kinds =
        p.functions().first().map(|f| f.1.iter().map(|s| s.kind.clone()).collect()).unwrap_or_default();
    (kinds, p.errors)
}

#[test]
fn a_typedef_makes_a_cast_and_a_declaration() {
    let (s, errors) = body("int a, b; a = (T)(b); T * c; a * b;");
    assert_eq!(errors, 0);
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, _, value), .. }) = &s[1] else { panic!("{s:?}") };
    assert!(matches!(value.kind, ExprKind::Cast(..)));
    assert!(matches!(s[2], StmtKind::Decl(_)));
    assert!(matches!(&s[3], StmtKind::Expr(Expr { kind: ExprKind::Binary(..), .. })));
}

#[test]
fn a_local_hides_a_typedef() {
    let (s, errors) = body("int T = 3; T * T; { T; }");
    assert_eq!(errors, 0);
    assert!(matches!(&s[1], StmtKind::Expr(_)));
}

#[test]
fn undeclared_types_are_told_from_products() {
    let (s, _) = body("foo_t *p; foo_t x = g(); int a; a * a; foo_t *q = (foo_t *)p;");
    assert!(matches!(s[0], StmtKind::Decl(_)));
    assert!(matches!(s[1], StmtKind::Decl(_)));
    assert!(matches!(s[3], StmtKind::Expr(_)));
    let StmtKind::Decl(vars) = &s[4] else { panic!("{s:?}") };
    assert!(vars[0].init.is_some());
}

#[test]
fn half_a_statement_costs_one_statement() {
    let (s, errors) = body("int a; a = ;\na = 2;\nif (a > 1 {\na = 3;\n}\nreturn a;");
    assert!(errors > 0);
    assert!(matches!(s.last(), Some(StmtKind::Return(Some(_)))), "{s:?}");
    assert!(s.iter().any(|k| matches!(k, StmtKind::Error)));
}

#[test]
fn a_missing_semicolon_costs_nothing() {
    let (s, errors) = body("int a = 1\na = 2\nreturn a;");
    assert_eq!(errors, 2);
    assert_eq!(s.iter().filter(|k| matches!(k, StmtKind::Error)).count(), 0, "{s:?}");
    assert_eq!(s.len(), 3);
}

#[test]
fn a_missing_brace_costs_one_function() {
    let p = parse(
        "int f(void) {\n  if (x) {\n    y();\n}\n\nint g(void)\n{\n  return 1;\n}\n\nstatic int h(int a) { return a; }\n",
    );
    assert_eq!(p.names(), ["f", "g", "h"]);
    assert!(p.errors > 0);
}

#[test]
fn a_brace_too_many_costs_nothing() {
    let p = parse("int f(void) { } }\nint g(void) { return 1; }\n");
    assert_eq!(p.names(), ["f", "g"]);
}

#[test]
fn nonsense_between_functions_is_skipped() {
    let p =
        parse("int f(void) { return 1; }\n??? blah ( ; }\nMACRO_THING(a, b)\nint g(void) { return 2; }\n");
    assert_eq!(p.names(), ["f", "g"]);
}

#[test]
fn declarators_of_every_kind() {
    let p = parse(
        "int *a[3]; int (*b)[3]; int (*c)(int, char *); int (*d[2])(void); int *(*e(int x))[4]; \
         unsigned long long g; const volatile int *const h; struct s; struct s *i; enum e { A = 2, B } j[B]; \
         int (*(*k)(void))(int); static _Thread_local int l; _Atomic(int) m; char n[] = \"abc\"; int o[] = { 1, 2, [5] = 3 };",
    );
    assert_eq!(p.errors, 0);
    let sizes: Vec<(&str, Option<u64>)> = p
        .items
        .iter()
        .filter_map(|i| match i {
            Item::Var(v) => Some((&**p.interner.name(v.name), p.types.size(v.ty))),
            Item::Function(_) => None,
        })
        .collect();
    let size = |n: &str| sizes.iter().find(|s| s.0 == n).and_then(|s| s.1);
    assert_eq!(size("a"), Some(24));
    assert_eq!(size("b"), Some(8));
    assert_eq!(size("d"), Some(16));
    assert_eq!(size("j"), Some(12));
    assert_eq!(size("n"), Some(4));
    assert_eq!(size("o"), Some(24));
}

#[test]
fn openmp_clauses_are_read() {
    let p = parse(
        "int f(void) { int s, i, t;\n#pragma omp parallel for private(t) reduction(+ : s) nowait num_threads(4)\n\
         for (i = 0; i < 3; i++) s += i;\n#pragma omp critical(name)\ns = 1;\n#pragma omp barrier\nreturn s; }",
    );
    let functions = p.functions();
    let directives: Vec<_> = functions[0]
        .1
        .iter()
        .filter_map(|s| match &s.kind {
            StmtKind::Omp(d, body) => Some((d, body.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(directives.len(), 3);
    let (first, has_body) = &directives[0];
    assert_eq!(first.kind, crate::c::ast::OmpKind::ParallelFor);
    assert!(*has_body && first.nowait && first.num_threads.is_some());
    assert_eq!((first.private.len(), first.reduction.len()), (1, 1));
    assert!(directives[1].0.name.is_some());
    assert!(!directives[2].1, "a barrier stands alone");
}

#[test]
fn macros_that_nobody_defines_around_a_declaration_are_skipped() {
    let p = parse(
        "typedef struct t t_t;\n\
         EXPORT t_t *new_t(int);\nEXPORT int n;\nEXPORT const char *name(void);\nEXPORT other *o(void);\n\
         static FORCEINLINE int a(t_t *t) { return 1; }\nint CALL b(t_t *t) { return 2; }\n\
         t_t *CALL\nc(t_t *t) { return t; }\nextern void (CALL *hook)(t_t *);\n\
         int d(void) NORETURN;\nint e ALIGNED(8) = 3;\nEXPORT void d2(t_t *t) NOTHROW { }\n",
    );
    assert_eq!(p.errors, 0);
    assert_eq!(p.names(), ["a", "b", "c", "d2"]);
}

#[test]
fn an_unknown_type_in_capitals_stays_a_type() {
    let p = parse("HANDLE h;\nHANDLE const k;\nHANDLE *open_it(DWORD n) { return 0; }\nint MAX = 3;\n");
    assert_eq!(p.errors, 0);
    assert_eq!(p.names(), ["open_it"]);
    assert_eq!(p.items.iter().filter(|i| matches!(i, Item::Var(_))).count(), 3);
}

#[test]
fn an_attribute_that_nobody_defines_makes_no_specifier_of_the_type() {
    let p =
        parse("static count_t a CACHE_ALIGNED;\nCOUNT b CACHE_ALIGNED;\nEXPORT count_t c CACHE_ALIGNED;\n");
    assert_eq!(p.errors, 0);
    let name = |i: &Item| match i {
        Item::Var(v) => p.interner.name(v.name).to_string(),
        Item::Function(_) => String::new(),
    };
    let names: Vec<String> = p.items.iter().map(name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn a_declaration_that_is_not_understood_hides_no_type() {
    let p = parse("typedef int t;\nFoo t * int;\nint f(t *x) { return *x; }\n");
    assert_eq!(p.names(), ["f"]);
}
