//! What a called function is known to do, by name; looked up once per name.

use std::cell::RefCell;
use std::collections::HashMap;

use raddle_binary::Patterns;

use super::streams::{Sink, sink};
use super::{assert, error};
use crate::options::CustomNames;

/// What a call of a function can be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Called {
    /// It reports that something does not hold.
    pub(super) asserts: bool,
    /// It decides itself whether something holds.
    pub(super) checks: bool,
    /// It always reports an error.
    pub(super) complains: bool,
    /// It prints; the stream says whether that is an error message.
    pub(super) prints: Option<Sink>,
}

/// Names of the language and of the project.
pub(super) struct Names<'o> {
    custom: &'o CustomNames,
    known: RefCell<HashMap<String, Called>>,
}

impl<'o> Names<'o> {
    pub(super) fn new(custom: &'o CustomNames) -> Self {
        Self { custom, known: RefCell::default() }
    }

    /// What a function is known to do, by its raw name.
    pub(super) fn of(&self, name: &str) -> Called {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let plain = name.split('@').next().unwrap_or(name);
        let called = Called {
            asserts: assert::reports(plain) || matches(&self.custom.assert, plain),
            checks: assert::checks(plain),
            complains: error::complains(plain) || matches(&self.custom.error, plain),
            prints: sink(plain).or_else(|| matches(&self.custom.output, plain).then_some(Sink::Elsewhere)),
        };
        self.known.borrow_mut().insert(name.to_string(), called);
        called
    }
}

fn matches(patterns: &[String], name: &str) -> bool {
    if patterns.is_empty() {
        return false;
    }
    Patterns { functions: patterns.to_vec(), ..Patterns::default() }.matches_function(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_language_and_of_the_project() {
        let custom = CustomNames {
            assert: vec!["nsDebug::Assertion".into()],
            error: vec!["tr_err".into(), "*Warning".into()],
            output: vec!["BinLog::Write".into()],
        };
        let names = Names::new(&custom);
        assert!(names.of("__assert_fail").asserts);
        assert!(names.of("_ZN7nsDebug9AssertionEPKc").asserts, "a name without parameters is enough");
        assert!(names.of("tr_err").complains && names.of("NS_Warning").complains);
        assert_eq!(names.of("_ZN6BinLog5WriteEv").prints, Some(Sink::Elsewhere));
        assert_eq!(names.of("compute"), Called::default());
        assert_eq!(names.of("compute"), Called::default(), "the second answer is the first");
    }
}
