//! Takes one file through preprocessor, parser and lowering.

use std::sync::Arc;

use super::models;
use super::parse::{Parser, Scopes, Words};
use super::pp::{Includes, MacroState, NoIncludes, Preprocessor, PreprocessorLimits};
use crate::ir::{SourceFile, Unit};

/// What every file starts from: built-in declarations and macros.
#[derive(Clone)]
struct Front {
    state: MacroState,
    words: Words,
    scopes: Scopes,
}

thread_local! {
    // Macros and types are shared by `Rc`, so each lowering thread makes its own. That takes a few
    // milliseconds.
    static BASE: (Front, Arc<Unit>) = Front::build();
}

/// A lowered file, and what the reader should know about it.
#[derive(Debug, Clone)]
pub struct Lowered {
    pub unit: Arc<Unit>,
    /// The number of places that could not be parsed.
    pub errors: u32,
    /// The line of the first of them, if it is in this file.
    pub first_error: Option<u32>,
    /// Limits that were reached. The rest of the file was left out.
    pub cut_short: Vec<String>,
    /// Includes that were not found.
    pub missing: Vec<Arc<str>>,
}

/// The models, as a unit to link against.
pub(super) fn model_unit() -> Arc<Unit> {
    BASE.with(|b| b.1.clone())
}

/// Lowers one file. Never fails; what it cannot understand becomes unknown.
pub fn lower_file(path: &str, text: &[u8], includes: &dyn Includes, limits: PreprocessorLimits) -> Lowered {
    lower_file_with(path, text, &[], includes, limits)
}

/// Lowers one file with macros defined (or, without a value, undefined) before it, like `-D` and
/// `-U`.
pub fn lower_file_with(
    path: &str,
    text: &[u8],
    macros: &[(String, Option<String>)],
    includes: &dyn Includes,
    limits: PreprocessorLimits,
) -> Lowered {
    let mut front = BASE.with(|b| b.0.clone());
    front.state.from_build = !macros.is_empty();
    for (name, value) in macros {
        front = front.define(name, value.as_deref());
    }
    let (out, unit, errors, first_error) = front.lower(path, text, includes, limits, false);
    Lowered { unit: Arc::new(unit), errors, first_error, cut_short: out.cut_short, missing: out.missing }
}

impl Front {
    fn build() -> (Self, Arc<Unit>) {
        let mut state = MacroState::default();
        let words = Words::new(&mut state.interner);
        let front = Self { state, words, scopes: Scopes::default() };
        let front = front.declare("<prelude>", models::prelude_text());
        let (_, unit, ..) = front.clone().lower(
            "<models>",
            models::model_text().as_bytes(),
            &NoIncludes,
            PreprocessorLimits::default(),
            true,
        );
        let front = front.declare("<models>", &models::model_text());
        (front, Arc::new(unit))
    }

    /// Takes over the declarations of a text.
    fn declare(self, path: &str, text: &str) -> Self {
        let (out, state) = Preprocessor::new(self.state, &NoIncludes, PreprocessorLimits::default()).run(
            path,
            text.as_bytes(),
            true,
        );
        let mut parser = Parser::new(&out.tokens, &state.interner, &self.words, self.scopes);
        parser.run();
        let scopes = parser.scopes;
        Self { state, words: self.words, scopes }
    }

    fn define(self, name: &str, value: Option<&str>) -> Self {
        let line = match value {
            Some(value) => format!("#define {name} {value}\n"),
            None => format!("#undef {name}\n"),
        };
        let (_, state) = Preprocessor::new(self.state, &NoIncludes, PreprocessorLimits::default()).run(
            "<macros>",
            line.as_bytes(),
            true,
        );
        Self { state, ..self }
    }

    fn lower(
        self,
        path: &str,
        text: &[u8],
        includes: &dyn Includes,
        limits: PreprocessorLimits,
        builtin: bool,
    ) -> (super::pp::Preprocessed, Unit, u32, Option<u32>) {
        let (mut out, state) = Preprocessor::new(self.state, includes, limits).run(path, text, builtin);
        let mut parser = Parser::new(&out.tokens, &state.interner, &self.words, self.scopes);
        parser.run();
        let errors = parser.errors();
        let first_error = parser.first_error().filter(|p| p.file == 0).map(|p| p.line);
        let (items, scopes) = (parser.items, parser.scopes);
        let files: Vec<SourceFile> = std::mem::take(&mut out.files);
        let (unit, cut_short) = super::lower::lower(&items, scopes, &state.interner, files, builtin);
        out.cut_short.extend(cut_short);
        out.tokens = Vec::new();
        (out, unit, errors, first_error)
    }
}
