//! Reads of variables for which an invariant was inferred from earlier runs.
//!
//! The dynamic half names these reads, and each is its own site. The paper's rule: no
//! customisation, the read instruction itself is sliced.

use raddle_binary::flow::{Query, SliceStart};

use super::Candidate;
use crate::analysis::SiteKind;

pub(super) fn sites(query: &Query, reads: &[u64]) -> Vec<Candidate> {
    let own = reads.iter().filter(|address| {
        // A probe's return address follows its call, so the last one of a function may be the
        // function's end.
        query.program().outline_at(**address - 1).is_some_and(|outline| {
            outline.range.start == query.function().entry()
                || query.function().index_of(**address - 1).is_some()
        })
    });
    own.filter_map(|address| query.read_at(*address))
        .map(|index| Candidate {
            kind: SiteKind::Invariant,
            index,
            callee: None,
            starts: vec![(SliceStart::Instruction(index), 0)],
            exit: None,
            pointer: None,
        })
        .collect()
}
