//! Accesses through pointers that were read from shared memory: null, or freed by another thread.
//!
//! ```c
//! if (thd->proc_info) fputs(thd->proc_info, out);   // cleared between the two reads
//! ```
//!
//! The paper leaves these to ConMem. Here only the path from the pointer's read to its use is
//! followed, along copies and constant offsets. Each read is one site, at its first use.
//!
//! Freeing a block is also a use of its pointer: if another thread can store its own pointer in
//! between, the block is freed twice.
//!
//! ```c
//! cb->skb = skb; unlock(&m); free(cb->skb);   // by now the other thread's
//! ```

use raddle_binary::flow::{Query, SliceStart};

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

/// `free` and its C++ counterparts.
const RELEASES: [&str; 7] = ["free", "cfree", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm", "realloc"];

/// A call that frees a block.
pub(super) fn released(query: &Query, index: u32, name: &str) -> Option<Candidate> {
    if !RELEASES.contains(&name) {
        return None;
    }
    let block = |start: &SliceStart| matches!(start, SliceStart::Argument(_, 0));
    let starts = query.arguments(index, 0).into_iter().filter(block).map(|start| (start, 1)).collect();
    Some(Candidate::call(SiteKind::Memory, index, name, starts))
}
