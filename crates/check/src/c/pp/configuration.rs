//! What the header that a build's configuration writes would have said, where it is not there.

use std::rc::Rc;

use super::{Macro, Preprocessor};
use crate::c::token::{Punct, Sym, Token, TokenKind};

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

    /// Whether it is `#ifdef HAVE_CONFIG_H` or the like, which every build defines that writes such
    /// a header. Not if a build has said what it defines.
    pub(super) fn asks_for_configuration(&mut self, word: &str, rest: &[Token]) -> bool {
        let is_plain = |t: &Token| t.kind == TokenKind::Ident || t.is(Punct::LParen) || t.is(Punct::RParen);
        if self.state.from_build || self.is_configured || !rest.iter().all(is_plain) {
            return false;
        }
        let names: Vec<&Token> = rest.iter().filter(|t| t.kind == TokenKind::Ident).collect();
        let name = match (word, names.as_slice()) {
            ("ifdef" | "if", [name]) => *name,
            ("if", [defined, name]) if defined.sym == self.names.defined => *name,
            _ => return false,
        };
        // What the program itself defines, as 0, counts.
        let asks = self.name(name) == "HAVE_CONFIG_H" && !self.is_defined(name.sym);
        if asks {
            self.define_as_one(name.sym);
        }
        asks
    }

    /// Defines a macro as 1 that is not defined otherwise.
    fn define_as_one(&mut self, name: Sym) {
        let one = self.make(TokenKind::Number, "1", crate::ir::Pos::default());
        let found = || Rc::new(Macro { params: None, variadic: false, body: [one].into() });
        self.state.macros.entry(name).or_insert_with(found);
    }

    /// Whether what follows an `#ifdef` is the variant that a build of today has: what the compiler
    /// offers itself, thread-local variables and atomics, with another variant for compilers that
    /// do not. Only where the configuration is not there, which defines the name.
    ///
    /// A name that stands for a choice counts only if it speaks of thread-local variables and the
    /// other variant is made of thread-specific values: then both give each thread its own object,
    /// and the second replaces what the compiler lacks. A plain variable in its place may be what
    /// is built.
    pub(super) fn would_be_configured(&mut self, rest: &[Token]) -> bool {
        let Some(name) = rest.first().filter(|_| self.lacks_configuration) else { return false };
        let Some((first, other)) = self.two_variants() else { return false };
        let is_found = self.name(name).starts_with(FOUND_BY_BUILDS) && self.any(first, is_of_compilers);
        let replaces = chooses_thread_local(self.name(name))
            && self.any(first, is_thread_local)
            && self.any(other, is_thread_specific);
        if is_found || replaces {
            self.define_as_one(name.sym);
        }
        is_found || replaces
    }

    fn any(&self, tokens: (usize, usize), wanted: fn(&str) -> bool) -> bool {
        let tokens = self.streams.last().map_or(&[][..], |top| &top.tokens[tokens.0..tokens.1]);
        tokens.iter().any(|t| t.kind == TokenKind::Ident && wanted(self.name(t)))
    }

    /// The text up to an `#else` and from there to the `#endif`, as ranges of tokens. The second
    /// ends where no more tokens are looked at.
    fn two_variants(&self) -> Option<((usize, usize), (usize, usize))> {
        let top = self.streams.last()?;
        let (mut depth, mut turn) = (0, None);
        let end = top.tokens.len().min(top.at + LONGEST_VARIANT);
        for i in top.at..end.saturating_sub(1) {
            if !(top.tokens[i].bol && top.tokens[i].is(Punct::Hash)) {
                continue;
            }
            match self.name(&top.tokens[i + 1]) {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "else" | "elif" if depth == 0 => turn = turn.or(Some(i)),
                "endif" if depth == 0 => return turn.map(|turn| ((top.at, turn), (turn, i))),
                "endif" => depth -= 1,
                _ => {}
            }
        }
        turn.map(|turn| ((top.at, turn), (turn, end)))
    }
}

/// Whether a name stands for the choice of thread-local variables: `CONFIG_LIB_TLS`, `USE_THREAD`.
/// One that begins with an underscore belongs to the compiler, and `NO_LOCKS` or `DEBUG` chooses
/// more than this variant. `NO_TLS` and `DISABLE_TLS` choose the other one.
fn chooses_thread_local(name: &str) -> bool {
    let is_word = |word: &str| name.split('_').any(|w| w == word);
    let speaks_of_it = name.contains("TLS") || name.contains("THREAD");
    let denies = ["NO", "NOT", "WITHOUT", "DISABLE", "SINGLE"].into_iter().any(is_word);
    speaks_of_it && !denies && !name.starts_with('_')
}

fn is_thread_local(name: &str) -> bool {
    matches!(name, "__thread" | "_Thread_local" | "thread_local")
}

fn is_thread_specific(name: &str) -> bool {
    matches!(name, "pthread_getspecific" | "tss_get")
}

fn is_of_compilers(name: &str) -> bool {
    is_thread_local(name)
        || name == "_Atomic"
        || ["__atomic_", "__sync_", "atomic_"].iter().any(|p| name.starts_with(p))
}
