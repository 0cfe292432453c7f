use super::*;

struct Map(&'static [(&'static str, &'static str)]);

impl Includes for Map {
    fn find(&self, _: &str, name: &str, _: bool) -> Option<(Arc<str>, Arc<[u8]>)> {
        self.0.iter().find(|f| f.0 == name).map(|f| (f.0.into(), f.1.as_bytes().into()))
    }
}

fn run_with(text: &str, includes: &dyn Includes, limits: PreprocessorLimits) -> (String, Preprocessed) {
    let (out, state) =
        Preprocessor::new(MacroState::default(), includes, limits).run("a.c", text.as_bytes(), false);
    let text: Vec<_> = out.tokens.iter().map(|t| state.interner.name(t.sym).to_string()).collect();
    (text.join(" "), out)
}

fn run(text: &str) -> String {
    run_with(text, &NoIncludes, PreprocessorLimits::default()).0
}

#[test]
fn object_and_function_macros() {
    assert_eq!(run("#define N 3\n#define SQ(x) ((x)*(x))\nSQ(N+1) SQ"), "( ( 3 + 1 ) * ( 3 + 1 ) ) SQ");
}

#[test]
fn a_macro_is_not_expanded_in_itself() {
    assert_eq!(run("#define f(x) f(x+1)\nf(f(2))"), "f ( f ( 2 + 1 ) + 1 )");
    assert_eq!(run("#define a b\n#define b a\na b"), "a b");
}

#[test]
fn stringify_paste_and_variadics() {
    assert_eq!(run("#define S(x) #x\nS(a \"b\")"), r#""a \"b\"""#);
    assert_eq!(run("#define P(a,b) a##b\nP(x,1) P(,y) P(z,)"), "x1 y z");
    let v = "#define L(f, ...) g(f, ## __VA_ARGS__)\nL(1) L(1,2,3)";
    assert_eq!(run(v), "g ( 1 ) g ( 1 , 2 , 3 )");
    assert_eq!(run("#define L(f, a...) g(f, a)\nL(1,2,3)"), "g ( 1 , 2 , 3 )");
    assert_eq!(run("#define L(f, ...) g(f __VA_OPT__(,) __VA_ARGS__)\nL(1) L(1,2)"), "g ( 1 ) g ( 1 , 2 )");
}

#[test]
fn conditionals_nest() {
    let text = "#define A 2\n#if A > 1 && defined(A)\nx\n#if 0\ny\n#else\nz\n#endif\n#elif 1\nw\n#else\nv\n#endif\nu";
    assert_eq!(run(text), "x z u");
    assert_eq!(run("#ifdef NO\n#error x\n#elif 1\nyes\n#endif"), "yes");
    assert_eq!(run("#if (1 ? 2 : 3) == 2 && !UNKNOWN(3) && 1/0 == 0\nok\n#endif"), "ok");
}

#[test]
fn includes_are_taken_in_and_missing_ones_noted() {
    let files = Map(&[("a.h", "#pragma once\nint a;")]);
    let (text, out) = run_with(
        "#include \"a.h\"\n#include \"a.h\"\n#include <no.h>\nb",
        &files,
        PreprocessorLimits::default(),
    );
    assert_eq!(text, "int a ; b");
    assert_eq!(out.missing.len(), 1);
    assert_eq!(&*out.files[out.tokens[0].pos.file as usize].path, "a.h");
}

#[test]
fn a_cycle_of_includes_is_cut() {
    let files = Map(&[("a.h", "#include \"b.h\"\nint a;"), ("b.h", "#include \"a.h\"\nint b;")]);
    let (_, out) = run_with("#include \"a.h\"\n", &files, PreprocessorLimits::default());
    assert_eq!(out.cut_short.len(), 1, "{:?}", out.cut_short);
}

#[test]
fn macros_that_double_each_time_are_cut() {
    let mut text = String::from("#define M0 x x\n");
    for i in 1..64 {
        text += &format!("#define M{i} M{} M{}\n", i - 1, i - 1);
    }
    let limits = PreprocessorLimits { expansions: 100_000, ..PreprocessorLimits::default() };
    let (_, out) = run_with(&(text + "M63"), &NoIncludes, limits);
    assert_eq!(out.cut_short.len(), 1);
}

#[test]
fn line_markers_set_the_place() {
    let (_, out) = run_with("# 10 \"x.c\"\na\nb\n#line 50\nc", &NoIncludes, PreprocessorLimits::default());
    let at: Vec<_> =
        out.tokens.iter().map(|t| (out.files[t.pos.file as usize].path.to_string(), t.pos.line)).collect();
    assert_eq!(at, [("x.c".into(), 10), ("x.c".into(), 11), ("x.c".into(), 50)]);
}

#[test]
fn an_expansion_has_the_place_of_its_use() {
    let (_, out) = run_with("#define X a + b\n\n  X", &NoIncludes, PreprocessorLimits::default());
    assert!(out.tokens.iter().all(|t| t.pos.line == 3 && t.pos.col == 3));
}

#[test]
fn omp_pragmas_survive_and_others_vanish() {
    let (text, out) = run_with(
        "#pragma omp parallel for\n#pragma GCC ivdep\nx",
        &NoIncludes,
        PreprocessorLimits::default(),
    );
    assert_eq!(text, "omp parallel for omp x");
    assert_eq!(out.tokens[0].kind, TokenKind::PragmaOmp);
    assert_eq!(out.tokens[3].kind, TokenKind::PragmaEnd);
}

#[test]
fn half_directives_do_no_harm() {
    for text in
        ["#", "#define", "#define F(", "#include", "#if", "#if (", "#elif 1", "#endif", "#include <x", "F("]
    {
        run(text);
    }
    run("#define F(x) x\nF(1, (2");
}

#[test]
fn a_configuration_that_is_not_there_has_what_every_system_has() {
    let text = "#include \"config.h\"\n#if HAVE_STDATOMIC_H && defined(HAVE_PTHREAD)\nyes\n#endif";
    assert_eq!(run(text), "yes");
    assert_eq!(run("#include \"other.h\"\n#ifdef HAVE_ATOMIC\nyes\n#else\nno\n#endif"), "no");
    let empty = Map(&[("config.h", "")]);
    let text = "#include \"config.h\"\n#ifdef HAVE_ATOMIC\nyes\n#else\nno\n#endif";
    assert_eq!(run_with(text, &empty, PreprocessorLimits::default()).0, "no");
}

#[test]
fn a_configuration_that_was_read_or_is_not_the_programs_own_adds_nothing() {
    let have = "#ifdef HAVE_ATOMIC\nyes\n#else\nno\n#endif";
    let read = Map(&[("config.h", "")]);
    let run_read = |text: &str| run_with(text, &read, PreprocessorLimits::default()).0;
    assert_eq!(run_read(&format!("#include \"config.h\"\n#include \"my_config.h\"\n{have}")), "no");
    for other in ["<config.h>", "<libconfig.h>", "\"libconfig.h\"", "\"configure_all.h\""] {
        assert_eq!(run(&format!("#include {other}\n{have}")), "no", "{other}");
    }
    for own in ["config.h", "my_config.h", "lib/my-config.h"] {
        assert_eq!(run(&format!("#include \"{own}\"\n{have}")), "yes", "{own}");
    }
}

#[test]
fn without_a_configuration_the_variant_of_todays_compilers_is_taken() {
    let variants =
        "#ifdef HAVE_X_TLS\n# if 1\n__thread\n# endif\n#else\nkeys\n#endif\n#ifdef HAVE_X_TLS\nagain\n#endif";
    assert_eq!(run(&format!("#include \"config.h\"\n{variants}")), "__thread again");
    assert_eq!(run(variants), "keys");
    // Neither is what nobody configures, nor what has no other variant, nor what is of no compiler.
    for text in [
        "#ifdef X_TLS\n__thread\n#else\n#endif",
        "#ifdef USE_TLS\n__thread\n#else\n#endif",
        "#ifdef WITH_TLS\n__thread\n#else\n#endif",
        "#ifdef ENABLE_TLS\n__thread\n#else\n#endif",
        "#ifdef CONFIG_TLS\n__thread\n#else\n#endif",
        "#ifdef HAVE_TLS\n__thread\n#endif",
        "#ifdef HAVE_X\nx\n#else\n#endif",
    ] {
        assert_eq!(run(&format!("#include \"config.h\"\n{text}")), "", "{text}");
    }
}

#[test]
fn the_name_that_says_that_there_is_a_configuration_is_defined() {
    let have = "#ifdef HAVE_ATOMIC\nyes\n#else\nno\n#endif";
    for asks in ["ifdef HAVE_CONFIG_H", "if HAVE_CONFIG_H", "if defined(HAVE_CONFIG_H)"] {
        assert_eq!(
            run(&format!("#{asks}\n#include \"config.h\"\n#else\nnone\n#endif\n{have}")),
            "yes",
            "{asks}"
        );
    }
    for other in ["ifndef HAVE_CONFIG_H", "if !defined(HAVE_CONFIG_H)", "ifdef HAVE_CONFIG"] {
        assert_eq!(run(&format!("#{other}\n#include \"none.h\"\n#endif\n{have}")), "no", "{other}");
    }
    let defined = "#define HAVE_CONFIG_H 0\n#if HAVE_CONFIG_H\n#include \"config.h\"\n#endif";
    assert_eq!(run(&format!("{defined}\n{have}")), "no", "the program's own");
}

#[test]
fn a_configuration_in_the_folder_of_the_header_that_asks_for_it_is_the_programs_own() {
    use super::configuration::shares_folder;
    assert!(shares_folder("include/lib/tls.h", "lib/config.h"));
    assert!(shares_folder("lib/tls.h", "lib/config.h"));
    assert!(!shares_folder("include/glib/tls.h", "lib/config.h"));
    assert!(!shares_folder("src/a.c", "lib/config.h"));
    assert!(!shares_folder("a.c", "config.h"));
}

/// Finds a header by its name without the folder.
struct WithoutFolder;
impl Includes for WithoutFolder {
    fn find(&self, _: &str, name: &str, _: bool) -> Option<(Arc<str>, Arc<[u8]>)> {
        let text: &[u8] = b"#include \"vendor/util.h\"\nyes";
        name.ends_with("util.h").then(|| ("src/util.h".into(), text.into()))
    }
}

#[test]
fn a_header_found_without_its_folder_is_not_the_one_that_asks_for_it() {
    let (text, out) = run_with("#include \"util.h\"", &WithoutFolder, PreprocessorLimits::default());
    assert_eq!(text, "yes");
    assert_eq!(out.missing, ["vendor/util.h".into()]);
}
