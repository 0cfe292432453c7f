//! Output: a wrong value could be printed, or a line could be missing.
//!
//! ```c
//! printf("%d bytes\n", bwritten);
//! ```
//!
//! The paper's rule: each argument is in the slice at distance 1, besides what decides whether the
//! call runs. Arguments are those of the System V calling convention. The stream itself does not
//! count.

use raddle_binary::flow::{Query, SliceStart};

use super::Candidate;
use super::names::Called;
use crate::analysis::SiteKind;

/// Without optimisation, separate functions construct `fmt::Arguments` and `fmt::Argument`.
fn wraps_arguments(name: &str) -> bool {
    name.contains("4core3fmt") && name.contains("Argument")
}

pub(super) fn site(query: &Query, called: Called, index: u32, name: &str) -> Option<Candidate> {
    let sink = called.prints?;
    let stream = sink.argument();
    let arguments = query.arguments(index, 0).into_iter();
    let mut starts = vec![(SliceStart::Control(index), 0)];
    starts.extend(
        arguments
            .filter(|start| !matches!(start, SliceStart::Argument(_, argument) if Some(*argument) == stream))
            .map(|start| (start, 1)),
    );
    if sink.is_formatted_by_rust() {
        starts.extend(query.frame_behind(index, wraps_arguments).into_iter().map(|start| (start, 1)));
    }
    Some(Candidate::call(SiteKind::Output, index, name, starts))
}
