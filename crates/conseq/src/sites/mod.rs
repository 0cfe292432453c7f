//! Error sites (section 5 of the paper), one kind per file.
//!
//! Each kind examines one function and names its *candidates*: an instruction, and where its slice
//! begins. To add a kind, add a file with a function like the others, and a line in
//! [`Finder::sites`].

mod assert;
mod error;
mod invariant;
mod loops;
mod memory;
mod names;
mod output;
mod streams;
mod waits;

use raddle_binary::flow::{Dereference, FlowLoop, Query, SliceStart};

use crate::analysis::SiteKind;
use crate::options::Options;
use names::Names;

/// A site whose reads are not yet known.
pub(crate) struct Candidate {
    pub(crate) kind: SiteKind,
    pub(crate) index: u32,
    /// The called function, demangled. For a loop, it means that the wait is a call.
    pub(crate) callee: Option<String>,
    /// Where the slice begins, with the distances there.
    pub(crate) starts: Vec<(SliceStart, u32)>,
    /// For loops: the jump that leaves it.
    pub(crate) exit: Option<LoopExit>,
    /// For accesses: the read of the pointer.
    pub(crate) pointer: Option<Dereference>,
}

/// One exit of a loop.
pub(crate) struct LoopExit {
    pub(crate) nest: FlowLoop,
    pub(crate) branch: u32,
    pub(crate) stays_when_taken: bool,
    pub(crate) waits: bool,
}

impl Candidate {
    fn call(kind: SiteKind, index: u32, callee: &str, starts: Vec<(SliceStart, u32)>) -> Self {
        let callee = Some(raddle_binary::demangle(callee));
        Self { kind, index, callee, starts, exit: None, pointer: None }
    }
}

/// Finds sites of the requested kinds.
pub(crate) struct Finder<'o> {
    options: &'o Options,
    names: Names<'o>,
}

impl<'o> Finder<'o> {
    pub(crate) fn new(options: &'o Options) -> Self {
        Self { options, names: Names::new(&options.custom) }
    }

    fn wants(&self, kind: SiteKind) -> bool {
        self.options.kinds.contains(&kind)
    }

    /// Whether a function without any call can have a site.
    pub(crate) fn looks_at_everything(&self) -> bool {
        self.wants(SiteKind::Loop) || self.wants(SiteKind::Memory) || self.wants(SiteKind::Invariant)
    }

    /// The candidates of a function.
    pub(crate) fn sites(&self, query: &Query) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (index, callee) in query.calls() {
            let Some(name) = callee.name.filter(|_| callee.probe().is_none()) else { continue };
            let called = self.names.of(name);
            let site = assert::site(query, called, index, name)
                .or_else(|| error::site(query, called, index, name))
                .or_else(|| output::site(query, called, index, name))
                .or_else(|| memory::released(query, index, name))
                .or_else(|| waits::site(query, index, name));
            found.extend(site.filter(|site| self.wants(site.kind)));
        }
        if self.wants(SiteKind::Loop) {
            found.extend(loops::sites(query));
        }
        if self.wants(SiteKind::Memory) {
            found.extend(memory::sites(query));
        }
        if self.wants(SiteKind::Invariant) {
            found.extend(invariant::sites(query, &self.options.invariants));
        }
        found
    }
}
