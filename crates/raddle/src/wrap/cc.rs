//! `raddle cc` and `raddle c++`: what they add to a C or C++ command line.
//!
//! [`additions`] makes the whole decision and does no I/O. The table at the top of [`wrap`](super)
//! gives the reason for each word.

use super::compiler::{Compiler, Family};
use super::gcc_calls;
use super::invocation::{Invocation, LinkOutput, Stage};
use super::options::InputLanguage;
use super::response;
use crate::cli::Cli;
use clap::CommandFactory;
use raddle_harness::install::Runtime;
use raddle_harness::say::print;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Turns off the debug information that raddle adds if the user asked for none.
pub const NO_DEBUG_INFO: &str = "RADDLE_NO_DEBUG_INFO";

/// The same as `--tsvd`, for build systems that want one word.
pub const TSVD: &str = "RADDLE_TSVD";

/// Set by `cargo raddle` to the target it builds for.
pub const CARGO_TARGET: &str = "RADDLE_CARGO_TARGET";

/// Words to put before and after the user's.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Additions {
    pub front: Vec<OsString>,
    pub back: Vec<OsString>,
}

/// Why raddle will not do what a command line asks.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CommandRefusal {
    #[error(
        "a statically linked executable leaves no way to watch its synchronisation: link it \
         without -static (and -static-pie)"
    )]
    Static,
    #[error("-fsanitize={0} cannot be combined with race detection: build without it under raddle")]
    OtherSanitizer(String),
    #[error("{0} asks for another machine; raddle instruments x86-64 Linux programs only")]
    ForeignTarget(String),
}

/// Which of the two wrappers is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    C,
    Cxx,
}

/// Reads the command line, adds raddle's words, and becomes the compiler.
pub fn run(dialect: Dialect, args: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let (chosen, tsvd, args) = leading(args)?;
    if args == ["--help"] {
        print_help(dialect);
    }
    Err(super::exec(prepare(dialect, chosen, tsvd, args)?))
}

/// Somebody who asks for help wants raddle's words as well as the compiler's, which follow.
fn print_help(dialect: Dialect) {
    let name = match dialect {
        Dialect::C => "cc",
        Dialect::Cxx => "c++",
    };
    let mut cli = Cli::command();
    cli.build();
    let own = cli.find_subcommand_mut(name).expect("the command that runs");
    print(&format!("{}\nThe compiler's own help follows.\n\n", own.render_long_help()));
}

fn prepare(
    dialect: Dialect,
    chosen: Option<OsString>,
    tsvd: bool,
    args: Vec<OsString>,
) -> anyhow::Result<Command> {
    let tsvd = tsvd || super::env_flag(TSVD);
    let compiler = Compiler::find(dialect, chosen)?;
    let read = |path: &Path| std::fs::read(path).ok();
    let words = response::expand(&args, &read);
    let invocation = Invocation::parse(&words);
    let added = match invocation.stage {
        Stage::Query => Additions::default(),
        _ if is_for_host(|name| std::env::var_os(name)) => Additions::default(),
        _ => {
            let debug_info = !super::env_flag(NO_DEBUG_INFO);
            if tsvd {
                for_tsvd(&invocation, compiler.family()?, debug_info)
            } else {
                let family = compiler.family()?;
                let mut added = additions(&invocation, family, &Runtime::open()?, debug_info)?;
                if family == Family::Gcc && invocation.stage != Stage::Preprocess {
                    gcc_calls::leave_out(&mut added.front, &compiler, &words);
                }
                added
            }
        }
    };
    let mut command = compiler.command();
    command.args(added.front).args(args).args(added.back);
    Ok(command)
}

/// Whether a cargo build script is compiling C for the host, for another build script or a
/// proc-macro. `cargo raddle` names the target. Cargo keeps output for the target in a folder of
/// that name and output for the host elsewhere, even if host and target are the same machine.
fn is_for_host(env: impl Fn(&str) -> Option<OsString>) -> bool {
    match (env(CARGO_TARGET), env("OUT_DIR")) {
        (Some(target), Some(out)) => !Path::new(&out).components().any(|c| c.as_os_str() == target),
        _ => false,
    }
}

/// Takes `--use COMPILER` and `--tsvd` off the front of the command line.
fn leading(mut args: Vec<OsString>) -> anyhow::Result<(Option<OsString>, bool, Vec<OsString>)> {
    let (mut chosen, mut tsvd) = (None, false);
    loop {
        if args.first().is_some_and(|word| word == "--tsvd") {
            tsvd = true;
            args.remove(0);
            continue;
        }
        let (use_compiler, rest) = leading_use(args)?;
        args = rest;
        if use_compiler.is_none() {
            return Ok((chosen, tsvd, args));
        }
        chosen = use_compiler;
    }
}

/// `--tsvd`: instruments nothing, but keeps calls of small functions as calls, to the functions
/// they name and with the arguments they were written with, so that `raddle tsvd` finds them.
fn for_tsvd(invocation: &Invocation, family: Family, debug_info: bool) -> Additions {
    let mut front: Vec<OsString> = Vec::new();
    // Also if only the linker runs: with link-time optimisation, the linker inlines.
    if invocation.compiles() || matches!(invocation.stage, Stage::Link(_)) {
        front.push("-fno-inline".into());
        if family == Family::Gcc {
            front.extend(["-fno-ipa-sra", "-fno-ipa-cp", "-fno-ipa-icf"].map(OsString::from));
        }
    }
    let source = |l: &InputLanguage| {
        matches!(l, InputLanguage::CFamily | InputLanguage::Header | InputLanguage::Other)
    };
    if debug_info && !invocation.debug_info && invocation.languages.iter().any(source) {
        front.push("-g1".into());
    }
    Additions { front, back: Vec::new() }
}

/// Takes a leading `--use COMPILER` (or `--use=COMPILER`) off the command line.
fn leading_use(mut args: Vec<OsString>) -> anyhow::Result<(Option<OsString>, Vec<OsString>)> {
    let Some(first) = args.first().and_then(|a| a.to_str()) else {
        return Ok((None, args));
    };
    if let Some(joined) = first.strip_prefix("--use=") {
        let chosen = OsString::from(joined);
        return Ok((Some(chosen), args.split_off(1)));
    }
    if first != "--use" {
        return Ok((None, args));
    }
    anyhow::ensure!(args.len() > 1, "--use needs the name of a compiler, as in --use clang-19");
    let rest = args.split_off(2);
    Ok((args.pop(), rest))
}

/// What to add to `invocation`, for a compiler of this family.
pub fn additions(
    invocation: &Invocation,
    family: Family,
    runtime: &Runtime,
    debug_info: bool,
) -> Result<Additions, CommandRefusal> {
    refuse(invocation)?;
    let mut added = Additions::default();
    if invocation.compiles() {
        add_compile(invocation, family, runtime, debug_info, &mut added.front);
    }
    if let Stage::Link(output) = invocation.stage {
        add_link(invocation, output, family, runtime, &mut added);
    }
    Ok(added)
}

fn refuse(invocation: &Invocation) -> Result<(), CommandRefusal> {
    if let Some(option) = &invocation.foreign_target {
        return Err(CommandRefusal::ForeignTarget(option.clone()));
    }
    if let Some(name) = invocation.other_sanitizers.first() {
        return Err(CommandRefusal::OtherSanitizer(name.clone()));
    }
    if invocation.stage == Stage::Link(LinkOutput::StaticExecutable) {
        return Err(CommandRefusal::Static);
    }
    Ok(())
}

/// LLVM treats the write of `x++` as its read too. `raddle explore` would then not switch threads
/// before the read.
pub const READ_BEFORE_WRITE: &str = "-tsan-instrument-read-before-write";

fn add_compile(
    invocation: &Invocation,
    family: Family,
    runtime: &Runtime,
    debug_info: bool,
    front: &mut Vec<OsString>,
) {
    // Also for -E and -M: it defines __SANITIZE_THREAD__ (gcc) and __has_feature(thread_sanitizer)
    // (clang), which headers check.
    front.push("-fsanitize=thread".into());
    if family == Family::Gcc {
        front.push("-Wno-tsan".into());
    }
    let c_family = |l: &InputLanguage| matches!(l, InputLanguage::CFamily | InputLanguage::Header);
    if family == Family::Gcc && invocation.languages.iter().any(c_family) {
        front.extend(gcc_calls::options().map(OsString::from));
    }
    let source = |l: &InputLanguage| {
        matches!(l, InputLanguage::CFamily | InputLanguage::Header | InputLanguage::Other)
    };
    if family == Family::Clang && invocation.languages.iter().any(source) {
        front.extend(["-mllvm".into(), READ_BEFORE_WRITE.into()]);
    }
    if debug_info && !invocation.debug_info && invocation.languages.iter().any(source) {
        front.push("-g1".into());
    }
    if invocation.preprocesses() {
        front.push("-isystem".into());
        front.push(runtime.include().into());
        front.push("-D__RADDLE__=1".into());
    }
}

fn add_link(
    invocation: &Invocation,
    output: LinkOutput,
    family: Family,
    runtime: &Runtime,
    added: &mut Additions,
) {
    let front = &mut added.front;
    if !front.iter().any(|w| w == "-fsanitize=thread") {
        // With link-time optimisation, the code is instrumented now, not when it was compiled.
        front.push("-fsanitize=thread".into());
    }
    match family {
        Family::Gcc => front.push(joined("-L", runtime.empty_libtsan())),
        Family::Clang => front.push("-fno-sanitize-link-runtime".into()),
    }
    match output {
        LinkOutput::Executable => add_runtime(invocation, runtime, added),
        LinkOutput::SharedLibrary => added.back.push(allow_undefined(invocation).into()),
        LinkOutput::Relocatable | LinkOutput::StaticExecutable => {}
    }
}

fn add_runtime(invocation: &Invocation, runtime: &Runtime, added: &mut Additions) {
    let object = runtime.object();
    // `raddle rustc` may have been told to link with `raddle cc`.
    if invocation.linker_inputs.iter().any(|i| OsStr::new(i) == object.as_os_str()) {
        return;
    }
    added.front.extend(["-Xlinker".into(), object.into()]);
    for word in dynamic_list(runtime) {
        added.front.extend(["-Xlinker".into(), word]);
    }
    // glibc before 2.34 has these as separate libraries. If they are not needed, they leave no
    // trace.
    added.back.extend(
        ["-Wl,--push-state,--as-needed", "-lm", "-ldl", "-lpthread", "-Wl,--pop-state"].map(OsString::from),
    );
}

/// The linker options that export what later-loaded libraries must bind to.
pub fn dynamic_list(runtime: &Runtime) -> [OsString; 2] {
    ["--dynamic-list".into(), runtime.dynamic_list().into()]
}

/// The option that lets a library leave `__tsan_*` to the executable.
///
/// It is `-z undefs`, except for gold, which does not know it. gold's option would work for bfd and
/// lld too, but mold then resolves the symbols to nothing and the library crashes.
fn allow_undefined(invocation: &Invocation) -> &'static str {
    match invocation.linker.as_deref() {
        Some("gold") => "-Wl,--unresolved-symbols=ignore-all",
        _ => "-Wl,-z,undefs",
    }
}

fn joined(option: &str, path: impl AsRef<OsStr>) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(family: Family, line: &str) -> Result<(String, String), CommandRefusal> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let runtime = Runtime::at("/rt".into());
        let added = additions(&Invocation::parse(&words), family, &runtime, true)?;
        let text = |w: Vec<OsString>| w.join(OsStr::new(" ")).into_string().unwrap();
        Ok((text(added.front), text(added.back)))
    }

    #[test]
    fn for_tsvd_calls_stay_calls_and_nothing_is_instrumented() {
        let front = |family, line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let added = for_tsvd(&Invocation::parse(&words), family, true);
            assert!(added.back.is_empty());
            added.front.join(OsStr::new(" ")).into_string().unwrap()
        };
        let gcc = "-fno-inline -fno-ipa-sra -fno-ipa-cp -fno-ipa-icf";
        assert_eq!(front(Family::Gcc, "-O2 -c a.cc"), format!("{gcc} -g1"));
        assert_eq!(front(Family::Gcc, "-g3 a.cc -o a"), gcc);
        assert_eq!(front(Family::Gcc, "a.o -o a"), gcc);
        assert_eq!(front(Family::Clang, "-c a.cc"), "-fno-inline -g1");
        assert_eq!(front(Family::Clang, "-c a.s"), "");
    }

    #[test]
    fn the_leading_words_are_taken_in_any_order() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let (chosen, tsvd, rest) = leading(words("--tsvd --use clang++ -c --tsvd")).unwrap();
        assert_eq!((chosen, tsvd, rest), (Some("clang++".into()), true, words("-c --tsvd")));
        let (chosen, tsvd, rest) = leading(words("--use=g++ --tsvd a.cc")).unwrap();
        assert_eq!((chosen, tsvd, rest), (Some("g++".into()), true, words("a.cc")));
        assert!(!leading(words("-c a.cc")).unwrap().1);
    }

    const INCLUDE: &str = "-isystem /rt/include -D__RADDLE__=1";
    const READS: &str = "-mllvm -tsan-instrument-read-before-write";
    const RUNTIME: &str = "-Xlinker /rt/raddle_rt.o -Xlinker --dynamic-list -Xlinker /rt/dynamic.list";
    const LIBS: &str = "-Wl,--push-state,--as-needed -lm -ldl -lpthread -Wl,--pop-state";

    fn calls() -> String {
        gcc_calls::options().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn compiling() {
        let gcc = |line| added(Family::Gcc, line).unwrap();
        let clang = |line| added(Family::Clang, line).unwrap();
        let calls = calls();
        assert_eq!(gcc("-c a.c").0, format!("-fsanitize=thread -Wno-tsan {calls} -g1 {INCLUDE}"));
        assert!(calls.contains("-fno-builtin-memset") && !calls.contains("-fno-builtin-strlen"));
        assert_eq!(clang("-c a.c").0, format!("-fsanitize=thread {READS} -g1 {INCLUDE}"));
        assert_eq!(clang("-g -c a.c").0, format!("-fsanitize=thread {READS} {INCLUDE}"));
        assert_eq!(clang("-E a.c").0, format!("-fsanitize=thread {READS} -g1 {INCLUDE}"));
        assert_eq!(gcc("-c a.f90").0, "-fsanitize=thread -Wno-tsan -g1");
        assert_eq!(clang("-c a.S").0, format!("-fsanitize=thread {INCLUDE}"));
        assert_eq!(clang("-c a.s"), Default::default(), "clang -Werror rejects unused options");
        assert_eq!(gcc("-c a.c").1, "");
    }

    #[test]
    fn linking_an_executable() {
        let (front, back) = added(Family::Gcc, "a.o -o a").unwrap();
        assert_eq!(front, format!("-fsanitize=thread -L/rt/shared {RUNTIME}"));
        assert_eq!(back, LIBS);
        let (front, back) = added(Family::Clang, "a.o -o a").unwrap();
        assert_eq!(front, format!("-fsanitize=thread -fno-sanitize-link-runtime {RUNTIME}"));
        assert_eq!(back, LIBS);
    }

    #[test]
    fn compiling_and_linking_in_one_step() {
        let (front, back) = added(Family::Gcc, "-g a.c -o a").unwrap();
        let calls = calls();
        assert_eq!(front, format!("-fsanitize=thread -Wno-tsan {calls} {INCLUDE} -L/rt/shared {RUNTIME}"));
        assert_eq!(back, LIBS);
    }

    #[test]
    fn linking_a_library() {
        let (front, back) = added(Family::Gcc, "-shared a.o -o a.so -Wl,-z,defs").unwrap();
        assert_eq!(front, "-fsanitize=thread -L/rt/shared");
        assert_eq!(back, "-Wl,-z,undefs");
        let (_, back) = added(Family::Clang, "-shared -fuse-ld=gold a.o").unwrap();
        assert_eq!(back, "-Wl,--unresolved-symbols=ignore-all");
        let (_, back) = added(Family::Gcc, "-r a.o b.o -o c.o").unwrap();
        assert_eq!(back, "");
    }

    #[test]
    fn the_runtime_is_linked_once() {
        let (front, back) = added(Family::Gcc, "a.o -Xlinker /rt/raddle_rt.o -o a").unwrap();
        assert_eq!((front.as_str(), back.as_str()), ("-fsanitize=thread -L/rt/shared", ""));
    }

    #[test]
    fn refusals_name_the_remedy() {
        assert_eq!(added(Family::Gcc, "-static a.c"), Err(CommandRefusal::Static));
        assert_eq!(added(Family::Gcc, "-static-pie a.o"), Err(CommandRefusal::Static));
        assert!(added(Family::Gcc, "-static -c a.c").is_ok(), "nothing is linked");
        let address = CommandRefusal::OtherSanitizer("address".into());
        assert_eq!(added(Family::Clang, "-fsanitize=address -c a.c"), Err(address));
        let foreign = CommandRefusal::ForeignTarget("-m32".into());
        assert_eq!(added(Family::Clang, "-m32 -c a.c"), Err(foreign));
    }

    #[test]
    fn debug_information_can_be_declined() {
        let words = ["-c", "a.c"].map(OsString::from);
        let runtime = Runtime::at("/rt".into());
        let added = additions(&Invocation::parse(&words), Family::Clang, &runtime, false).unwrap();
        assert!(!added.front.contains(&"-g1".into()));
    }

    #[test]
    fn c_code_of_build_scripts_for_the_host_stays_plain() {
        let env = |target: Option<&str>, out: Option<&str>| {
            let (target, out) = (target.map(OsString::from), out.map(OsString::from));
            is_for_host(move |name| if name == CARGO_TARGET { target.clone() } else { out.clone() })
        };
        let triple = Some("x86_64-unknown-linux-gnu");
        assert!(env(triple, Some("/p/target/raddle/debug/build/zstd-sys-1/out")));
        let target = "/p/target/raddle/x86_64-unknown-linux-gnu/debug/build/zstd-sys-1/out";
        assert!(!env(triple, Some(target)));
        assert!(!env(None, Some("/p/target/debug/build/x/out")), "not under cargo raddle");
        assert!(!env(triple, None), "not a build script");
    }

    #[test]
    fn use_is_taken_only_from_the_front() {
        let of = |line: &str| leading_use(line.split_whitespace().map(OsString::from).collect()).unwrap();
        assert_eq!(of("--use clang-19 -c a.c"), (Some("clang-19".into()), vec!["-c".into(), "a.c".into()]));
        assert_eq!(of("--use=gcc a.c"), (Some("gcc".into()), vec!["a.c".into()]));
        assert_eq!(of("-c --use"), (None, vec!["-c".into(), "--use".into()]));
        assert_eq!(of(""), (None, vec![]));
        assert!(leading_use(vec!["--use".into()]).is_err());
    }
}
