//! The compiler wrappers: `raddle cc`, `raddle c++`, `raddle rustc`, `raddle cargo`.
//!
//! gcc, clang and rustc can already call `__tsan_*` before each access. The wrappers ask them to,
//! and link raddle's runtime instead of theirs. Everything else on a command line stays as the
//! build system wrote it: raddle adds its words before or after the user's, and neither changes nor
//! reorders the user's words. The wrapper *becomes* the compiler (`exec`), so exit status, signals,
//! stdout and stderr are the compiler's.
//!
//! The table of what is added, and why each word is where it is. All words go in front of the
//! user's, except the last, which goes behind:
//!
//! ```text
//! when                    words                                     why
//! a source is compiled    -fsanitize=thread, -isystem …/include,    a later -fno-sanitize=thread
//!                         -D__RADDLE__=1                            for one file still wins
//! … and no -g is given    -g1                                       lines and inlined frames for
//!                                                                   reports, no variables
//! … by gcc                -Wno-tsan                                 gcc warns that fences are not
//!                                                                   modelled; here they are
//! … C or C++, by gcc      what `gcc_calls` lists                    gcc expands memset and the
//!                                                                   like after it has
//!                                                                   instrumented
//! … by clang              -mllvm -tsan-instrument-read-before-write each read is a separate
//!                                                                   access for `explore`
//! gcc links               -L…/shared                                gcc's own -ltsan then finds
//!                                                                   an empty linker script
//! clang links             -fno-sanitize-link-runtime                the same
//! an executable is linked raddle_rt.o by -Xlinker, the dynamic list interposed names are defined
//!                                                                   before any archive is
//!                                                                   searched, so a static malloc
//!                                                                   cannot clash
//! a library is linked     undefined symbols allowed (behind)        the last such option wins
//!                                                                   over -z defs
//! ```
//!
//! With `--tsvd` the wrapper adds none of these, only `-fno-inline`, the options that keep gcc from
//! cloning functions, and `-g1`.
//!
//! The object is passed by `-Xlinker` rather than as a plain path, because after `-x c` gcc would
//! compile a plain path as C.
//!
//! Layers, each testable without the next: [`response`] and [`invocation`] read a command line
//! (no I/O but response files), [`cc`] decides what to add (no I/O), [`compiler`] finds and
//! knows the real compiler, and the `run` functions put these together and `exec`.

pub mod cargo;
pub mod cc;
pub mod compiler;
mod compiler_words;
mod gcc_calls;
pub mod invocation;
mod options;
pub mod response;
pub mod rustc;
pub mod test_programs;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Executes `command` in place of this process. Returns only if that failed.
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
