//! What the compiler gets to see, by a compiler that only writes its arguments down.

mod common;

use common::{Bench, refused, succeed};
use std::path::PathBuf;

/// Answers what raddle asks, and otherwise notes its words and ends with status 7.
const RECORDER: &str = r#"#!/bin/sh
case "$*" in
    *-dM*) printf '#define __GNUC__ 12\n#define __x86_64__ 1\n#define __LP64__ 1\n#define __linux__ 1\n'; exit 0;;
esac
printf '%s\n' "$@" > "$(dirname "$0")/words"
echo "the compiler's own line"
exit 7
"#;

struct Recorder {
    bench: Bench,
    program: PathBuf,
}

impl Recorder {
    fn new() -> Recorder {
        let bench = Bench::new();
        // A path with a blank is one word.
        let program = bench.script("a recorder", RECORDER);
        Recorder { bench, program }
    }

    /// The words the compiler got for `raddle cc LINE`.
    fn words(&self, line: &str) -> Vec<String> {
        let output =
            self.bench.raddle(&format!("cc {line}")).env("RADDLE_CC", &self.program).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "the compiler's status is raddle's: {output:?}");
        assert_eq!(output.stdout, b"the compiler's own line\n", "nothing of raddle's on stdout");
        assert!(output.stderr.is_empty(), "nothing of raddle's on stderr: {output:?}");
        self.recorded()
    }

    fn recorded(&self) -> Vec<String> {
        let words = std::fs::read_to_string(self.bench.path("words")).unwrap();
        words.lines().map(str::to_owned).collect()
    }
}

/// Whether `part` stands in `words` in one piece.
fn contains(words: &[String], part: &[&str]) -> bool {
    words.windows(part.len()).any(|w| w == part)
}

#[test]
fn the_users_words_stay_in_one_piece_and_in_order() {
    let recorder = Recorder::new();
    for line in [
        "-O2 -c a.c -o a.o",
        "a.c -o a -lm -Wl,-z,now",
        "-shared -fPIC a.o -o liba.so -Wl,--no-undefined",
        "-DX=1 -I. -MD -MT x.o -MF x.d -c x.c",
    ] {
        let user: Vec<_> = line.split(' ').collect();
        assert!(contains(&recorder.words(line), &user), "{line}");
    }
}

#[test]
fn questions_go_through_untouched() {
    let recorder = Recorder::new();
    for line in ["--version", "-print-search-dirs", "-dumpmachine", "-v", "-Wl,--version", "-### a.c"] {
        assert_eq!(recorder.words(line), line.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn response_files_are_read_and_passed_as_they_are() {
    let recorder = Recorder::new();
    recorder.bench.file("args", "-shared 'a b.o'\n-o liba.so");
    let words = recorder.words("@args");
    assert!(words.contains(&"@args".to_owned()));
    assert_eq!(words.last().unwrap(), "-Wl,-z,undefs", "known to be a library");
}

#[test]
fn an_executable_gets_the_runtime_before_the_users_objects() {
    let recorder = Recorder::new();
    let words = recorder.words("main.o libjemalloc.a -o main");
    let at = |end: &str| words.iter().position(|w| w.ends_with(end)).unwrap();
    assert!(at("/raddle_rt.o") < at("main.o"));
    assert!(at("/shared") < at("main.o"));
    assert_eq!(words[at("/raddle_rt.o") - 1], "-Xlinker");
}

#[test]
fn refusals_do_not_call_the_compiler() {
    let recorder = Recorder::new();
    for (line, hint) in [
        ("-static a.c", "-static"),
        ("-static-pie a.o -o a", "-static"),
        ("-fsanitize=address a.c", "address"),
        ("-m32 a.c", "x86-64"),
    ] {
        let mut command = recorder.bench.raddle(&format!("cc {line}"));
        let text = refused(command.env("RADDLE_CC", &recorder.program));
        assert!(text.contains(hint), "{text}");
        assert!(!recorder.bench.path("words").exists(), "{line}");
    }
}

#[test]
fn debug_information_is_added_unless_chosen_or_declined() {
    let recorder = Recorder::new();
    assert!(recorder.words("-c a.c").contains(&"-g1".to_owned()));
    assert!(!recorder.words("-g3 -c a.c").contains(&"-g1".to_owned()));
    let mut command = recorder.bench.raddle("cc -c a.c");
    command.env("RADDLE_CC", &recorder.program).env("RADDLE_NO_DEBUG_INFO", "1");
    assert_eq!(command.status().unwrap().code(), Some(7));
    assert!(!recorder.recorded().contains(&"-g1".to_owned()));
}

#[test]
fn the_compiler_is_chosen_by_use_then_variable() {
    let recorder = Recorder::new();
    let mut command = recorder.bench.raddle("cc --use");
    command.arg(&recorder.program).args(["-c", "a.c"]);
    assert_eq!(command.env("RADDLE_CC", "/nonexistent").status().unwrap().code(), Some(7));
    let text = refused(recorder.bench.raddle("cc -c a.c").env("RADDLE_CC", "/nonexistent"));
    assert!(text.contains("RADDLE_CC"), "{text}");
    refused(&mut recorder.bench.raddle("cc --use"));
    // Several words: env stands for ccache.
    recorder.bench.script("recorder", RECORDER);
    let words = "env ./recorder";
    assert_eq!(recorder.bench.raddle("cc -c a.c").env("RADDLE_CC", words).status().unwrap().code(), Some(7));
}

#[test]
fn the_compiler_may_have_options_quotes_and_blanks() {
    let recorder = Recorder::new();
    let path = recorder.program.to_str().unwrap();
    let run = |value: &str| {
        let _ = std::fs::remove_file(recorder.bench.path("words"));
        let status = recorder.bench.raddle("cc -c a.c").env("RADDLE_CC", value).status().unwrap();
        assert_eq!(status.code(), Some(7), "{value}");
        recorder.recorded()
    };
    for value in [
        format!("{path} -O1 -DX='a b'"),
        format!("'{path}' -O1 '-DX=a b'"),
        format!("{} -O1 -DX=a\\ b", path.replace(' ', "\\ ")),
        format!("env \"{path}\" -O1 \"-DX=a b\""),
        format!("env {path} -O1 -DX=\"a b\""),
    ] {
        let words = run(&value);
        assert_eq!(words[..2], ["-O1", "-DX=a b"], "{value}");
        assert!(contains(&words, &["-c", "a.c"]), "{value}: {words:?}");
    }
    let mut command = recorder.bench.raddle("cc --use");
    command.arg(format!("{path} -O1")).args(["-c", "a.c"]);
    assert_eq!(command.status().unwrap().code(), Some(7));
    assert_eq!(recorder.recorded()[0], "-O1");

    let refused_with = |value: &str| refused(recorder.bench.raddle("cc -c a.c").env("RADDLE_CC", value));
    let text = refused_with(&format!("'{path} -O1"));
    assert!(text.contains("a quote without its end"), "{text}");
    let text = refused_with("/no such/gcc -O1");
    assert!(text.contains("\"/no\"") && text.contains("quote a path that has blanks"), "{text}");
}

#[test]
fn raddle_does_not_become_itself() {
    let bench = Bench::new();
    let text = refused(bench.raddle("cc -c a.c").env("RADDLE_CC", env!("CARGO_BIN_EXE_raddle")));
    assert!(text.contains("raddle itself"), "{text}");
}

#[test]
fn shims_are_the_wrappers_by_name() {
    let recorder = Recorder::new();
    recorder.bench.ok("shims bin");
    for (shim, variable) in [("bin/raddle-cc", "RADDLE_CC"), ("bin/raddle-c++", "RADDLE_CXX")] {
        let mut command = recorder.bench.command(recorder.bench.path(shim));
        let status = command.args(["-c", "a.c"]).env(variable, &recorder.program).status().unwrap();
        assert_eq!(status.code(), Some(7));
        assert!(contains(&recorder.recorded(), &["-c", "a.c"]));
        std::fs::remove_file(recorder.bench.path("words")).unwrap();
    }
}

#[test]
fn a_family_once_asked_is_remembered() {
    let bench = Bench::new();
    let once = RECORDER.replace("*-dM*) ", "*-dM*) echo asked >> \"$(dirname \"$0\")/asked\"; ");
    let program = bench.script("recorder", &once);
    for _ in 0..3 {
        bench.raddle("cc -c a.c").env("RADDLE_CC", &program).status().unwrap();
    }
    assert_eq!(std::fs::read_to_string(bench.path("asked")).unwrap(), "asked\n");
}

#[test]
fn version_and_help() {
    let bench = Bench::new();
    assert_eq!(bench.ok("--version"), format!("raddle {}\n", env!("CARGO_PKG_VERSION")));
    let help = bench.ok("--help");
    for word in ["run", "cc", "c++", "rustc", "cargo", "shims", "doctor", "lsp", "Exit status"] {
        assert!(help.contains(word), "{word}");
    }
    assert!(bench.ok("help cc").contains("RADDLE_CC"));
    for (wrapper, compiler) in [("cc", "gcc"), ("c++", "g++")] {
        let both = bench.ok(&format!("{wrapper} --use {compiler} --help"));
        let theirs = both.find(&format!("Usage: {compiler} [options]"));
        assert!(
            both.find("RADDLE_CC") < theirs && both.contains(&format!("Usage: raddle {wrapper} ")),
            "{both}"
        );
    }
    let mut cargo = bench.command(env!("CARGO_BIN_EXE_cargo-raddle"));
    assert!(succeed(cargo.args(["raddle", "--version"])).starts_with("raddle "));
    assert_eq!(bench.raddle("nonsense").output().unwrap().status.code(), Some(2));
}
