//! Real command lines of build systems, and their meaning.

use super::*;

fn parse(line: &str) -> Invocation {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    Invocation::parse(&words)
}

const EXE: Stage = Stage::Link(LinkOutput::Executable);
const SHARED: Stage = Stage::Link(LinkOutput::SharedLibrary);
const MERGED: Stage = Stage::Link(LinkOutput::Relocatable);
const STATIC: Stage = Stage::Link(LinkOutput::StaticExecutable);

#[test]
fn stages_of_real_command_lines() {
    let table: &[(&str, Stage)] = &[
        // By hand.
        ("main.c", EXE),
        ("-O2 -pthread main.c util.o -o main -lm", EXE),
        ("-c main.c", Stage::Compile),
        ("-S -o - main.c", Stage::Compile),
        ("-E main.c", Stage::Preprocess),
        ("-E -c main.c", Stage::Preprocess),
        ("-c -E main.c", Stage::Preprocess),
        ("-M main.c", Stage::Preprocess),
        ("-MM -MG -MT x.o main.c", Stage::Preprocess),
        ("-xc -", EXE),
        ("-x c - -o /dev/null", EXE),
        ("-x c -fsyntax-only -", Stage::Compile),
        ("all.h", Stage::Compile),
        ("-x c++-header all -o all.gch", Stage::Compile),
        ("all.h main.c", EXE),
        ("-x c prog -x none lib.o", EXE),
        ("foo.o -static-libgcc -static-libstdc++ -o foo", EXE),
        // CMake: compiler identification, ABI detection, try_compile, targets, libraries.
        ("CMakeCCompilerId.c", EXE),
        (
            "-v -o CMakeFiles/cmTC_1.dir/CMakeCCompilerABI.c.o -c /usr/share/cmake/Modules/CMakeCCompilerABI.c",
            Stage::Compile,
        ),
        ("-v CMakeFiles/cmTC_1.dir/CMakeCCompilerABI.c.o -o cmTC_1", EXE),
        (
            "-DHAVE_X -I/src/include -O3 -DNDEBUG -std=gnu11 -MD -MT CMakeFiles/a.dir/a.c.o -MF CMakeFiles/a.dir/a.c.o.d -o CMakeFiles/a.dir/a.c.o -c /src/a.c",
            Stage::Compile,
        ),
        (
            "-fPIC -O3 -shared -Wl,-soname,liba.so.1 -o liba.so.1.0 CMakeFiles/a.dir/a.c.o -Wl,-rpath,/x: libb.so -lpthread",
            SHARED,
        ),
        ("-O3 -Wl,--dependency-file=CMakeFiles/p.dir/link.d CMakeFiles/p.dir/p.cpp.o -o p libq.a", EXE),
        ("-fPIC -shared -Wl,--no-undefined -Wl,-z,defs -o libx.so x.o", SHARED),
        // autoconf and automake.
        ("--version", Stage::Query),
        ("-v", Stage::Query),
        ("-V", Stage::Query),
        ("-qversion", Stage::Query),
        ("conftest.c", EXE),
        ("-o conftest -g -O2 conftest.c -lpthread", EXE),
        ("-c -g -O2 conftest.c", Stage::Compile),
        ("-E conftest.c", Stage::Preprocess),
        ("-DHAVE_CONFIG_H -I. -g -O2 -MT x.o -MD -MP -MF .deps/x.Tpo -c -o x.o x.c", Stage::Compile),
        // libtool.
        (
            "-shared -fPIC -DPIC .libs/a.o .libs/b.o -lpthread -O2 -Wl,-soname -Wl,libz.so.0 -o .libs/libz.so.0.0.0",
            SHARED,
        ),
        (
            "-fPIC -DPIC -shared -nostdlib /usr/lib/crti.o /usr/lib/crtbeginS.o .libs/a.o -lstdc++ -lm -lc -lgcc_s /usr/lib/crtendS.o -o .libs/libz.so",
            SHARED,
        ),
        ("-print-search-dirs", Stage::Query),
        ("-print-prog-name=ld", Stage::Query),
        ("-print-multi-os-directory", Stage::Query),
        ("-shared conftest.o -v -Wl,-soname -Wl,conftest -o conftest", SHARED),
        ("-r -o .libs/all.o a.o b.o", MERGED),
        ("-nostdlib -r a.o b.o -o ab.o", MERGED),
        // Meson, Bazel, ninja.
        ("-Wl,--version", Stage::Query),
        ("-dumpversion", Stage::Query),
        ("-dumpmachine", Stage::Query),
        ("--print-file-name=libc.a", Stage::Query),
        ("-xc -E -v -", Stage::Preprocess),
        ("-dM -E -x c++ /dev/null", Stage::Preprocess),
        ("-### main.c", Stage::Query),
        ("-Q --help=optimizers", Stage::Query),
        // rustc and Go call a linker by its compiler.
        (
            "-m64 /tmp/rustcX/symbols.o a.rcgu.o -Wl,--as-needed -Wl,-Bstatic libstd.rlib -Wl,-Bdynamic -lgcc_s -lc -L /x -o a -Wl,--gc-sections -pie -nodefaultlibs",
            EXE,
        ),
        // Linking without an object of one's own.
        ("-lfoo -o x", EXE),
        ("-l foo -o x", EXE),
        ("-Xlinker whole.o -o x", EXE),
        // Static.
        ("-static main.c", STATIC),
        ("-static-pie main.o -o main", STATIC),
        ("-static -c main.c", Stage::Compile),
        ("-static -shared a.o -o a.so", SHARED),
        // Nothing to do.
        ("", Stage::Query),
        ("-O2", Stage::Query),
        ("-o main.c", Stage::Query),
        ("-include config.h", Stage::Query),
    ];
    for (line, stage) in table {
        assert_eq!(parse(line).stage, *stage, "cc {line}");
    }
}

#[test]
fn sources_are_told_from_values() {
    assert!(parse("-o main.c main.o").languages.is_empty());
    assert!(parse("-MF x.c -MT y.c main.o").languages.is_empty());
    assert!(parse("-Xclang foo.c main.o").languages.is_empty());
    assert_eq!(parse("-include pre.h -c main.c").languages, [InputLanguage::CFamily]);
    assert_eq!(parse("a.c b.cc c.s d.o").languages, [InputLanguage::CFamily, InputLanguage::Assembler]);
    assert_eq!(parse("-x assembler boot.txt").languages, [InputLanguage::Assembler]);
    assert_eq!(parse("-xc++ a -x none b").linker_inputs, ["b"]);
}

#[test]
fn what_gets_which_flags() {
    assert!(parse("-c a.c").compiles() && parse("-c a.c").preprocesses());
    assert!(!parse("-c a.s").compiles());
    assert!(parse("-c a.S").preprocesses());
    assert!(parse("-c a.f90").compiles() && !parse("-c a.f90").preprocesses());
    assert!(!parse("a.o -o a").compiles());
}

#[test]
fn debug_information_of_the_user() {
    assert!(parse("-g -c a.c").debug_info);
    assert!(parse("-g0 -c a.c").debug_info);
    assert!(parse("-O2 -ggdb3 -c a.c").debug_info);
    assert!(!parse("-O2 -c a.c").debug_info);
    assert!(!parse("-o -g -c a.c").debug_info, "the value of -o");
}

#[test]
fn sanitizers_besides_thread() {
    assert!(parse("-fsanitize=thread a.c").other_sanitizers.is_empty());
    assert_eq!(parse("-fsanitize=address,undefined a.c").other_sanitizers, ["address", "undefined"]);
    assert!(parse("-fsanitize=address -fno-sanitize=address a.c").other_sanitizers.is_empty());
    assert!(parse("-fsanitize=address,leak -fno-sanitize=all a.c").other_sanitizers.is_empty());
    assert!(parse("-fsanitize-recover=all a.c").other_sanitizers.is_empty());
}

#[test]
fn foreign_machines() {
    assert_eq!(parse("-m32 a.c").foreign_target.as_deref(), Some("-m32"));
    assert_eq!(parse("-m32 -m64 a.c").foreign_target, None);
    assert_eq!(parse("--target=x86_64-pc-linux-gnu a.c").foreign_target, None);
    assert_eq!(
        parse("-target aarch64-linux-gnu a.c").foreign_target.as_deref(),
        Some("--target=aarch64-linux-gnu")
    );
    assert!(parse("--target=x86_64-apple-darwin a.c").foreign_target.is_some());
}

#[test]
fn linkers_and_their_inputs() {
    assert_eq!(parse("-fuse-ld=gold a.o").linker.as_deref(), Some("gold"));
    let line = parse("a.o -lfoo -l bar -Xlinker /x/raddle_rt.o libz.a");
    assert_eq!(line.linker_inputs, ["a.o", "-lfoo", "-lbar", "/x/raddle_rt.o", "libz.a"]);
}

#[test]
fn odd_words_do_not_upset_it() {
    // A missing value at the end, an empty word, bytes that are not UTF-8.
    use std::os::unix::ffi::OsStringExt;
    assert_eq!(parse("-o").stage, Stage::Query);
    let words = vec![OsString::from(""), OsString::from_vec(vec![0xff, b'.', b'c'])];
    assert_eq!(Invocation::parse(&words).languages, [InputLanguage::CFamily]);
}
