//! What the header that a build's configuration writes would have said, where it is not there.

use std::rc::Rc;

use super::{Macro, Preprocessor};
use crate::c::token::{Kind, Punct, Sym, Token};

/// What a build's configuration finds on every system of today. Without it, a program would be
/// checked in the variant that it keeps for compilers without atomics or threads.
const FOUND_EVERYWHERE: &[&str] = &[
    "HAVE_ATOMIC",
    "HAVE_ATOMICS",
    "HAVE_ATOMIC_BUILTINS",
    "HAVE_C11_ATOMIC",
    "HAVE_C11_ATOMICS",
    "HAVE_GCC_ATOMICS",
    "HAVE_GCC_ATOMIC_BUILTINS",
    "HAVE_STDATOMIC",
    "HAVE_STDATOMIC_H",
    "HAVE_SYNC_BUILTINS",
    "HAVE_PTHREAD",
    "HAVE_PTHREADS",
    "HAVE_PTHREAD_H",
];

/// `config.h`, `my_config.h`, `my-config.h`.
pub(super) fn names_configuration(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    stem == "config" || stem.ends_with("_config") || stem.ends_with("-config")
}

/// Whether a header is named by the folder that the including file itself lies in:
/// `<lib/config.h>` in `include/lib/tls.h`. It is the program's own, then.
pub(super) fn shares_folder(from: &str, name: &str) -> bool {
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_string());
    match (folder(from), folder(name)) {
        (Some(from), Some(named)) => from == named || from.ends_with(&format!("/{named}")),
        _ => false,
    }
}

/// How names begin that a configuration defines for what it finds. `USE_`, `WITH_`, `ENABLE_` and
/// `CONFIG_` stand for choices, and the variant without may be the one that is built.
const FOUND_BY_BUILDS: &str = "HAVE_";

/// Tokens of a variant that are looked at.
const LONGEST_VARIANT: usize = 4_000;

impl Preprocessor<'_> {
    /// Defines what a configuration header that was not found would have defined.
    pub(super) fn configure(&mut self) {
        self.lacks_configuration = true;
        for name in FOUND_EVERYWHERE {
            let name = self.state.interner.intern(name);
            self.define_as_one(name);
        }
    }

    /// Defines a macro as 1 that is not defined otherwise.
    fn define_as_one(&mut self, name: Sym) {
        let one = self.make(Kind::Number, "1", crate::ir::Pos::default());
        let found = || Rc::new(Macro { params: None, variadic: false, body: [one].into() });
        self.state.macros.entry(name).or_insert_with(found);
    }

    /// Whether what follows an `#ifdef` is the variant that a build of today has: what the compiler
    /// offers itself, thread-local variables and atomics, with another variant for compilers that
    /// do not. Only where the configuration is not there, which defines the name.
    pub(super) fn would_be_configured(&mut self, rest: &[Token]) -> bool {
        let Some(name) = rest.first().filter(|_| self.lacks_configuration) else { return false };
        if !self.name(name).starts_with(FOUND_BY_BUILDS) || !self.is_modern_variant() {
            return false;
        }
        self.define_as_one(name.sym);
        true
    }

    /// Whether the text up to an `#else` names what compilers offer to threads.
    fn is_modern_variant(&self) -> bool {
        let Some(top) = self.streams.last() else { return false };
        let tokens = &top.tokens[top.at..];
        let (mut depth, mut is_modern) = (0, false);
        for pair in tokens.windows(2).take(LONGEST_VARIANT) {
            let [token, next] = pair else { return false };
            if token.kind == Kind::Ident {
                is_modern |= is_of_compilers(self.name(token));
            }
            if !(token.bol && token.is(Punct::Hash)) {
                continue;
            }
            match self.name(next) {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "else" | "elif" if depth == 0 => return is_modern,
                "endif" if depth == 0 => return false,
                "endif" => depth -= 1,
                _ => {}
            }
        }
        false
    }
}

fn is_of_compilers(name: &str) -> bool {
    matches!(name, "__thread" | "_Thread_local" | "thread_local" | "_Atomic")
        || ["__atomic_", "__sync_", "atomic_"].iter().any(|p| name.starts_with(p))
}
