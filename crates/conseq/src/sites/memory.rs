//! Accesses through pointers that were read from shared memory: null, or freed by another thread.
//!
//! ```c
//! if (thd->proc_info) fputs(thd->proc_info, out);   // cleared between the two reads
//! ```
//!
//! The paper leaves these to ConMem. The only way followed here is from the pointer's read to its use,
//! along copies and constant offsets; each read is one site, at its first use.

use raddle_binary::flow::Query;

use super::Candidate;
use crate::analysis::SiteKind;

pub(super) fn sites(query: &Query) -> Vec<Candidate> {
    let uses = query.dereferences().into_iter();
    uses.map(|pointer| Candidate {
        kind: SiteKind::Memory,
        index: pointer.index,
        callee: None,
        starts: Vec::new(),
        exit: None,
        pointer: Some(pointer),
    })
    .collect()
}
