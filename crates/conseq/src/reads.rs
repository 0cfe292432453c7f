//! Critical reads: the slice of each site, by the rules of section 6.1 of the paper.
//!
//! | site | the slice begins with |
//! |---|---|
//! | assertion, error message | what decides whether the call runs; with Catch2 also arguments |
//! | output | the same, and each argument at distance 1 |
//! | loop | the jump that leaves it; only reads that are repeated in the loop are kept |
//! | memory | the pointer, along copies and constant offsets only; for a free, its argument |
//! | invariant | the read itself |
//!
//! The arguments of Catch2's calls are at distance 1. A loop's jump counts as a step of control, so
//! that distances of different kinds can be compared.

use raddle_binary::flow::{Deciding, Query, SliceLimits, SliceStart, Sliced, SlicedRead, slice, tested};

use crate::analysis::{Condition, CriticalRead, Relation};
use crate::options::{Callers, Options};
use crate::sites::Candidate;

/// The most steps of one search. A slice within the paper's distance takes some hundreds.
const MAX_STEPS: u32 = 5_000;

/// The reads on which a site depends. Their `site` is left 0.
pub(crate) fn critical_reads(query: &Query, candidate: &Candidate, options: &Options) -> Vec<CriticalRead> {
    if let Some(pointer) = &candidate.pointer {
        return vec![CriticalRead {
            address: pointer.read,
            instrumented: pointer.instrumented,
            site: 0,
            distance: 1,
            size: 8,
            atomic: pointer.atomic,
            variable: pointer.variable,
            local: false,
            relation: Relation::Pointer { offset: pointer.offset },
            also: Vec::new(),
        }];
    }
    let mut sliced = sliced(query, candidate, options, options.callers == Callers::Always);
    if sliced.reads.is_empty() && options.callers == Callers::WhenNeeded && candidate.exit.is_none() {
        sliced = self::sliced(query, candidate, options, true);
    }
    let branches = tested_branches(query, candidate, &sliced);
    let reads = sliced.reads.into_iter();
    reads.map(|found| critical_read(candidate, found, &branches)).collect()
}

fn sliced(query: &Query, candidate: &Candidate, options: &Options, callers: bool) -> Sliced {
    let limits =
        SliceLimits { distance: options.max_distance, depth: options.max_depth, steps: MAX_STEPS, callers };
    let within = candidate.exit.as_ref().map(|exit| &exit.nest);
    slice(query.program(), query.function().entry(), &candidate.starts, limits, within)
}

/// A branch of a slice, with the reads that it tests.
struct Tested {
    deciding: Deciding,
    distance: u32,
    reads: Vec<u64>,
    condition: Condition,
}

/// What the branches of a slice test, nearest first. Branches about which nothing is known are left
/// out.
fn tested_branches(query: &Query, candidate: &Candidate, sliced: &Sliced) -> Vec<Tested> {
    let of = |&(deciding, distance): &(Deciding, u32)| {
        let condition = condition(query, candidate, deciding)?;
        Some(Tested { deciding, distance, reads: condition.test.reads(), condition })
    };
    sliced.branches.iter().filter_map(of).collect()
}

fn critical_read(candidate: &Candidate, found: SlicedRead, branches: &[Tested]) -> CriticalRead {
    let tests = |tested: &&Tested| tested.reads.contains(&found.address);
    // The branch through which the slice came here, or else the nearest one.
    let own = branches.iter().filter(tests).find(|tested| Some(tested.deciding) == found.deciding);
    let first = own.or_else(|| branches.iter().find(tests));
    let also = branches.iter().filter(tests).filter(|other| {
        first.is_some_and(|first| first.distance == other.distance && first.condition != other.condition)
    });
    let also = also.map(|tested| tested.condition.clone()).collect();
    let relation = match (first, found.deciding) {
        (Some(first), _) => Relation::Tested(first.condition.clone()),
        (None, Some(_)) => Relation::Unknown,
        (None, None) => match candidate.starts.get(found.start).map(|start| start.0) {
            Some(SliceStart::Argument(_, index) | SliceStart::FloatArgument(_, index)) => {
                Relation::Argument { index }
            }
            Some(SliceStart::Slot(..)) => Relation::Argument { index: 0 },
            Some(SliceStart::Instruction(_)) if found.distance == 0 => Relation::Itself,
            _ => Relation::Unknown,
        },
    };
    CriticalRead {
        address: found.address,
        instrumented: found.instrumented,
        site: 0,
        distance: found.distance,
        size: found.size,
        atomic: found.atomic,
        variable: found.variable,
        local: found.local,
        relation,
        also,
    }
}

fn condition(query: &Query, candidate: &Candidate, deciding: Deciding) -> Option<Condition> {
    let exit =
        candidate.exit.as_ref().filter(|exit| exit.branch == deciding.branch && deciding.taken.is_none());
    let leads_when = exit.map(|exit| exit.stays_when_taken).or(deciding.taken)?;
    let function = query.program().function(deciding.function)?;
    let test = tested(query.program(), &function, deciding.branch)?;
    Some(Condition { branch: function.address_of(deciding.branch), leads_when, test })
}

/// What leads to a site, if one branch alone decides it.
pub(crate) fn site_condition(query: &Query, candidate: &Candidate) -> Option<Condition> {
    let function = query.function().entry();
    let deciding = match &candidate.exit {
        Some(exit) => vec![Deciding { function, branch: exit.branch, taken: None }],
        None => query.deciding(candidate.index),
    };
    match deciding[..] {
        [only] => condition(query, candidate, only).filter(|condition| !condition.test.reads().is_empty()),
        _ => None,
    }
}
