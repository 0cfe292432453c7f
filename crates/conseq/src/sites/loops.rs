//! Loops that might not end: each conditional jump that leaves a loop.
//!
//! ```c
//! while (pending) step();
//! ```
//!
//! Loops are those of Bourdoncle's decomposition, including nested ones. Exits that lead to certain
//! failure are left out: they belong to the assertion's site. The slice keeps only what is repeated
//! inside the loop, because nothing else could keep the loop going.

use raddle_binary::flow::{Query, SliceStart};

use super::{Candidate, LoopExit};
use crate::analysis::SiteKind;

pub(super) fn sites(query: &Query) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    // Inner loops come last, and a jump that leaves two loops at once is an exit of the inner one.
    for nest in query.loops().into_iter().rev() {
        for exit in &nest.exits {
            if found.iter().any(|other| other.index == exit.branch) {
                continue;
            }
            found.push(Candidate {
                kind: SiteKind::Loop,
                index: exit.branch,
                callee: None,
                starts: vec![(SliceStart::Branch(exit.branch), 1)],
                exit: Some(LoopExit {
                    nest: nest.clone(),
                    branch: exit.branch,
                    stays_when_taken: exit.stays_when_taken,
                    waits: nest.waits,
                }),
                pointer: None,
            });
        }
    }
    found
}
