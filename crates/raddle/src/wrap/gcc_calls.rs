//! Options that keep gcc from expanding functions of the C library.
//!
//! gcc instruments first and expands `memset(p, 0, 24)` into stores later, so no probe sees them.
//! `run` would miss them, and `explore` would wrongly call a search complete. clang calls its
//! runtime for these.
//!
//! - A function that writes is not a builtin: each call by its own name stays a call, and the
//!   runtime interposes all of them.
//! - Headers in the runtime's include folder, searched before the library's own, keep calls that
//!   libstdc++ makes by `__builtin_memcpy` and those that `_FORTIFY_SOURCE` produces. A program's
//!   own `__builtin_memcpy` is left alone: every macro for it breaks some program.
//! - C without a prototype takes the function's type from the builtin. Without it, `strcpy` would
//!   return an `int`. So [`without_prototypes`] asks gcc first, and such a name stays a builtin.
//! - A function that only reads stays a builtin: gcc accepts
//!   `static const size_t n = strlen("abc")` as C. Two options keep gcc from expanding comparisons
//!   with short strings.
//! - `memcpy` and `memmove` of 1, 2, 4 and 8 bytes become assignments before gcc instruments, so
//!   they have probes. `string.h` in the include folder keeps it so.
//! - Copies and initialisations of structures have their own probes.

use super::compiler::Compiler;
use super::options;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;

/// Functions that write to their caller's memory and that gcc expands.
const WRITERS: [&str; 16] = [
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "bcopy",
    "bzero",
    "strcpy",
    "stpcpy",
    "strncpy",
    "stpncpy",
    "strcat",
    "strncat",
    "sprintf",
    "snprintf",
    "vsprintf",
    "vsnprintf",
];

/// The parameter exists since gcc 9, the first version that expands these comparisons.
const COMPARISONS: [&str; 2] = ["-fno-optimize-strlen", "--param=builtin-string-cmp-inline-length=0"];

pub fn options() -> impl Iterator<Item = String> {
    let calls = WRITERS.iter().map(|name| format!("-fno-builtin-{name}"));
    calls.chain(COMPARISONS.iter().map(|&word| word.to_owned()))
}

/// Removes from `added` the options for functions that the C sources in `words` use without a
/// prototype.
pub fn leave_out(added: &mut Vec<OsString>, compiler: &Compiler, words: &[OsString]) {
    let names = without_prototypes(compiler, added, words);
    added.retain(|word| {
        let name = word.to_str().and_then(|w| w.strip_prefix("-fno-builtin-"));
        name.is_none_or(|name| !names.contains(name))
    });
}

/// The functions that a C source declares without a prototype, or not at all. All functions if that
/// cannot be found out.
fn without_prototypes(compiler: &Compiler, added: &[OsString], words: &[OsString]) -> BTreeSet<&'static str> {
    let lines = Question::of(words);
    lines.into_iter().flat_map(|line| ask(compiler, added, &line).unwrap_or(WRITERS.into())).collect()
}

/// gcc's list of the declarations in one source. It includes those that no warning mentions, as
/// under `-w`, `-std=gnu89` or a pragma.
fn ask(compiler: &Compiler, added: &[OsString], line: &Question) -> Option<BTreeSet<&'static str>> {
    if !std::fs::metadata(Path::new(&line.source)).is_ok_and(|m| m.is_file()) {
        return None;
    }
    let list = tempfile::NamedTempFile::new().ok()?;
    let mut command = compiler.command();
    command.args(added).args(&line.words).args(["-fsyntax-only", "-w", "-Wno-error", "-aux-info"]);
    command.arg(list.path()).env_remove("DEPENDENCIES_OUTPUT").env_remove("SUNPRO_DEPENDENCIES");
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let list = std::fs::read(list.path()).ok()?;
    status.is_ok_and(|s| s.success()).then(|| unprototyped(&String::from_utf8_lossy(&list)))
}

/// Reads lines like `/* a.c:3:IC */ extern int strcpy (/* ??? */);`: `I` for implicit, `O` for
/// old style, `N` for a prototype.
fn unprototyped(list: &str) -> BTreeSet<&'static str> {
    let (mut without, mut with) = (BTreeSet::new(), BTreeSet::new());
    for (place, declaration) in list.lines().filter_map(|line| line.split_once(" */ ")) {
        let head = declaration.split('(').next().unwrap_or_default().trim_end();
        let name = head.rsplit([' ', '*']).next().unwrap_or_default();
        let Some(name) = WRITERS.iter().find(|writer| **writer == name) else { continue };
        let kind = place.rsplit(':').next().unwrap_or_default();
        if kind.starts_with('N') {
            with.insert(*name)
        } else {
            without.insert(*name)
        };
    }
    &without - &with
}

/// A command line for one C source, without the options that write files.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    source: OsString,
    words: Vec<OsString>,
}

impl Question {
    /// One question for each input that may be C.
    fn of(words: &[OsString]) -> Vec<Question> {
        let mut options: Vec<OsString> = Vec::new();
        // Each with the number of options before it.
        let mut sources: Vec<(usize, OsString)> = Vec::new();
        let mut language: Option<String> = None;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let text = word.to_string_lossy();
            let value = if options::takes_next_word(&text) { rest.next() } else { None };
            if text == "-" || !text.starts_with('-') {
                if may_be_c(&text, language.as_deref()) {
                    sources.push((options.len(), word.clone()));
                }
                continue;
            }
            if let Some(joined) = text.strip_prefix("-x") {
                let name = value.map_or(joined.into(), |v| v.to_string_lossy());
                language = (name != "none").then(|| name.into_owned());
            }
            if !writes(&text, value.map(OsString::as_os_str)) {
                options.push(word.clone());
                options.extend(value.cloned());
            }
        }
        let question = |(before, source): (usize, OsString)| {
            let mut words = options.clone();
            words.insert(before, source.clone());
            Question { source, words }
        };
        sources.into_iter().map(question).collect()
    }
}

fn may_be_c(path: &str, language: Option<&str>) -> bool {
    match language {
        Some(name) => matches!(name, "c" | "cpp-output" | "objective-c" | "objective-c-cpp-output"),
        None => path == "-" || [".c", ".i", ".m", ".mi"].iter().any(|ending| path.ends_with(ending)),
    }
}

/// Whether an option names or requests an output.
fn writes(option: &str, value: Option<&OsStr>) -> bool {
    const EXACT: [&str; 9] = [
        "-c",
        "-S",
        "-w",
        "--coverage",
        "-coverage",
        "-ftest-coverage",
        "-fprofile-arcs",
        "-fstack-usage",
        "-v",
    ];
    const PREFIX: [&str; 12] = [
        "-o",
        "-M",
        "-Wp,-M",
        "-save-temps",
        "--save-temps",
        "-fdump-",
        "-fcallgraph-info",
        "-fdiagnostics-format",
        "-aux-info",
        "-time=",
        "-Werror",
        "-pass-exit-codes",
    ];
    let dependencies = |v: &OsStr| v.to_string_lossy().starts_with("-M");
    EXACT.contains(&option)
        || PREFIX.iter().any(|prefix| option.starts_with(prefix))
        || (option == "-Xpreprocessor" && value.is_some_and(dependencies))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_without_a_prototype() {
        let list = "/* compiled from: . */\n\
            /* a.c:2:OC */ extern void *memset (/* ??? */);\n\
            /* a.c:3:NF */ extern char *f (char *p); /* (p) char *p; */\n\
            /* a.c:3:IC */ extern int strcpy (/* ??? */);\n\
            /* /usr/include/string.h:43:NC */ extern void *memcpy (void *, const void *, size_t);\n\
            /* a.c:9:OC */ extern void *memcpy (/* ??? */);\n";
        assert_eq!(unprototyped(list), BTreeSet::from(["memset", "strcpy"]));
    }

    #[test]
    fn a_question_for_each_c_source_writes_nothing() {
        let of = |line: &str| -> Vec<String> {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let text = |q: Question| q.words.join(OsStr::new(" ")).into_string().unwrap();
            Question::of(&words).into_iter().map(text).collect()
        };
        let line = "-O2 -MD -MF a.d -MT a.o -Wp,-MMD,b.d -DX=1 -I inc -c a.c b.c c.cc -o a.o -Werror";
        assert_eq!(of(line), ["-O2 -DX=1 -I inc a.c", "-O2 -DX=1 -I inc b.c"]);
        assert_eq!(of("-x c++ a.c"), [""; 0]);
        assert_eq!(of("-xc - -x none a.o"), ["-xc - -x none"]);
        assert_eq!(of("x.cc x.o -lx"), [""; 0]);
    }
}
