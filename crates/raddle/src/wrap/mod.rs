//! The compiler wrappers: `raddle cc`, `raddle c++`, `raddle rustc`, `raddle cargo`.
//!
//! gcc, clang and rustc already know how to call `__tsan_*` before each access. The wrappers
//! ask them to, and link raddle's runtime where theirs would go. Everything else about a
//! command line stays as the build system wrote it: raddle's words are added before or after
//! the user's, the user's are neither changed nor reordered, and the wrapper *becomes* the
//! compiler (`exec`), so that exit status, signals, stdout and stderr are the compiler's.
//!
//! What is added, and why each word is where it is:
//!
//! | when | words | place |
//! |---|---|---|
//! | a source is compiled | `-fsanitize=thread`, `-isystem …/include`, `-D__RADDLE__=1` | front: a later `-fno-sanitize=thread` for one file still wins |
//! | … and no `-g` is given | `-g1` | front: lines and inlined frames for reports, no variables |
//! | … by gcc | `-Wno-tsan` | front: gcc warns that fences are not modelled, which is not so here |
//! | … that is C or C++, by gcc | what [`gcc_calls`] lists | front: gcc expands `memset` and its like after it has instrumented |
//! | … by clang | `-mllvm -tsan-instrument-read-before-write` | front: each read is an access of its own for `explore` |
//! | gcc links | `-L…/shared` | front: gcc's own `-ltsan` then finds an empty linker script |
//! | clang links | `-fno-sanitize-link-runtime` | front: same purpose |
//! | an executable is linked | `raddle_rt.o` by `-Xlinker`, the dynamic list | front: interposed names are defined before any archive is searched, so a static malloc cannot clash |
//! | a library is linked | undefined symbols are allowed | end: the last such option wins over `-z defs` |
//!
//! With `--tsvd` nothing of this is added: only `-fno-inline` and what keeps gcc from cloning
//! functions, and `-g1`.
//!
//! `-Xlinker` rather than a plain path for the object, because after `-x c` gcc would compile
//! a plain path as C.
//!
//! Layers, each testable without the next: [`response`] and [`invocation`] read a command line
//! (no I/O but response files), [`cc`] decides what to add (no I/O), [`compiler`] finds and
//! knows the real compiler, and the `run` functions put these together and `exec`.

pub mod cargo;
pub mod cc;
pub mod compiler;
mod gcc_calls;
pub mod invocation;
mod options;
pub mod response;
pub mod rustc;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Becomes `command`. Returns only if that failed.
pub fn exec(mut command: Command) -> anyhow::Error {
    let error = command.exec();
    anyhow::Error::new(error).context(format!("cannot run {}", command.get_program().to_string_lossy()))
}

/// Whether an environment variable is set to anything but the empty string or `0`.
pub fn env_flag(name: &str) -> bool {
    is_set(std::env::var_os(name))
}

fn is_set(value: Option<OsString>) -> bool {
    value.is_some_and(|v| !v.is_empty() && v != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_empty_do_not_set_a_flag() {
        assert!(!is_set(None));
        assert!(!is_set(Some("".into())));
        assert!(!is_set(Some("0".into())));
        assert!(is_set(Some("1".into())));
        assert!(is_set(Some("yes".into())));
    }
}
