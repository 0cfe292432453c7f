//! Merges races with one cause into one finding, which lists the others in [`Finding::also`].
//!
//! Two data races have one cause if they are on the same variable and have an end in the same
//! function: thirty functions that read a global which one function writes without a lock are one
//! mistake, and so are thirty functions that write under a lock what one function reads without it.
//! The relation is transitive. The variable is that of the id ([`identity::variable`]). Heap blocks
//! must also have one size, since one place may allocate for everybody. A race with a schedule
//! stays alone, since it is replayed by itself. The calls that a signal handler must not make have
//! one cause too, which is the handler.
//!
//! Each member keeps its own id, and the finding has the id of the member that it shows. So a
//! baseline is compared **before** races are merged: members that it has are left out, and a new
//! reader is reported although the cause is known.

use std::collections::HashMap;

use crate::identity;
use crate::model::{AccessOp, Finding, Frame, Kind, Location};
use crate::place::place;

/// Merges races with one cause. The findings must already be grouped ([`crate::group::group`]).
/// Merged findings are taken apart first, so doing it twice changes nothing.
pub fn together(findings: Vec<Finding>) -> Vec<Finding> {
    let findings: Vec<Finding> = findings.into_iter().flat_map(apart).collect();
    let mut cause_of: Vec<usize> = (0..findings.len()).collect();
    let mut first_with: HashMap<(String, String), usize> = HashMap::new();
    for (at, finding) in findings.iter().enumerate() {
        for end in shared_ends(finding) {
            let other = *first_with.entry(end).or_insert(at);
            let (a, b) = (root(&cause_of, at), root(&cause_of, other));
            cause_of[a.max(b)] = a.min(b);
        }
    }
    let mut causes: Vec<Vec<Finding>> = Vec::new();
    let mut slots: HashMap<usize, usize> = HashMap::new();
    for (at, finding) in findings.into_iter().enumerate() {
        let slot = *slots.entry(root(&cause_of, at)).or_insert(causes.len());
        if slot == causes.len() {
            causes.push(Vec::new());
        }
        causes[slot].push(finding);
    }
    causes.into_iter().map(one).collect()
}

/// The members of a finding, each as it was alone.
pub fn apart(mut finding: Finding) -> Vec<Finding> {
    let also = std::mem::take(&mut finding.also);
    let theirs = also.iter().fold(0u64, |sum, member| sum.saturating_add(member.occurrences));
    finding.occurrences = finding.occurrences.saturating_sub(theirs).max(1);
    std::iter::once(finding).chain(also).collect()
}

fn root(cause_of: &[usize], mut at: usize) -> usize {
    while cause_of[at] != at {
        at = cause_of[at];
    }
    at
}

/// The keys by which a finding belongs to others: its variable with each end. Empty if it stays
/// alone.
fn shared_ends(finding: &Finding) -> Vec<(String, String)> {
    if finding.kind == Kind::SignalUnsafeCall {
        return finding.handler.iter().map(|h| (h.clone(), String::new())).collect();
    }
    if finding.kind != Kind::DataRace || finding.schedule.is_some() {
        return Vec::new();
    }
    let Some(mut variable) = identity::variable(finding) else { return Vec::new() };
    if let Some(Location::Heap { size, .. }) = &finding.location {
        variable.push_str(&format!(" of {size}"));
    }
    let known = finding.accesses.iter().filter(|access| place(&access.stack).is_some());
    known.map(|access| (variable.clone(), identity::end(access, true))).collect()
}

/// The finding for one cause. It shows the surest member with most stacks, and among these the
/// first by signature: which member was seen first is chance.
fn one(mut members: Vec<Finding>) -> Finding {
    if members.len() == 1 {
        return members.remove(0);
    }
    members.sort_by_cached_key(|member| {
        let missing = member.accesses.iter().filter(|access| access.stack.is_empty()).count();
        (std::cmp::Reverse(member.confidence), missing, identity::signature(member))
    });
    let mut shown = members.remove(0);
    for member in &members {
        shown.occurrences = shown.occurrences.saturating_add(member.occurrences);
    }
    shown.also = members;
    shown
}

/// The places that the further members of a finding add, each once.
pub fn further_places(finding: &Finding) -> Vec<(AccessOp, &Frame)> {
    // Calls of one function are told apart by their lines.
    let coarse = finding.kind == Kind::DataRace;
    let shown: Vec<String> = finding.accesses.iter().map(|access| identity::end(access, coarse)).collect();
    let mut named: Vec<String> = Vec::new();
    let mut places = Vec::new();
    for access in finding.also.iter().flat_map(|member| &member.accesses) {
        let end = identity::end(access, coarse);
        if let Some(frame) = place(&access.stack)
            && !shown.contains(&end)
            && !named.contains(&end)
        {
            named.push(end);
            places.push((access.op, frame));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::group;
    use crate::model::Confidence;
    use crate::sample::{access, finding, frame, global};

    fn race(variable: &str, writer: &str, reader: &str) -> Finding {
        let mut race = finding(
            Kind::DataRace,
            vec![
                access(AccessOp::Write, "T2", vec![frame(writer, "a.c", 12, 10)]),
                access(AccessOp::Read, "T1", vec![frame(reader, "b.c", 7, 5)]),
            ],
        );
        race.location = Some(global(variable));
        race
    }

    fn causes(findings: Vec<Finding>) -> Vec<Finding> {
        together(group(findings))
    }

    #[test]
    fn the_calls_of_one_handler_are_one_finding_that_lists_them() {
        let call = |handler: &str, line: u32| {
            let stack = vec![frame("log_line", "a.c", line, 10), frame(handler, "a.c", 40, 35)];
            let mut call = finding(Kind::SignalUnsafeCall, vec![access(AccessOp::Call, "T1", stack)]);
            call.handler = Some(handler.into());
            call
        };
        let found =
            causes(vec![call("on_term", 12), call("on_term", 13), call("on_int", 20), call("on_term", 14)]);
        assert_eq!(found.iter().map(|f| f.also.len()).collect::<Vec<_>>(), [2, 0]);
        assert_eq!(further_places(&found[0]).len(), 2);
        let ids =
            |f: &Finding| std::iter::once(f.id.clone()).chain(f.also.iter().map(|a| a.id.clone())).collect();
        let mut all: Vec<String> = found.iter().flat_map::<Vec<String>, _>(ids).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4, "each call keeps its id, which a baseline may have");
    }

    #[test]
    fn one_writer_and_thirty_readers_are_one_finding_that_lists_the_readers() {
        let found = causes((0..30).map(|i| race("now", "tick", &format!("reader{i}"))).collect());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].also.len(), found[0].occurrences), (29, 30));
        assert_eq!(further_places(&found[0]).len(), 29);
        assert!(further_places(&found[0]).iter().all(|(op, _)| *op == AccessOp::Read));
    }

    #[test]
    fn one_reader_and_two_writers_are_one_finding() {
        assert_eq!(causes(vec![race("now", "tick", "show"), race("now", "reset", "show")]).len(), 1);
    }

    #[test]
    fn other_variables_and_functions_that_share_nothing_stay_apart() {
        assert_eq!(causes(vec![race("a", "tick", "show"), race("b", "tick", "print")]).len(), 2);
        assert_eq!(causes(vec![race("a", "tick", "show"), race("a", "tock", "print")]).len(), 2);
        let mut unknown = [race("a", "tick", "show"), race("a", "tick", "print")];
        unknown.iter_mut().for_each(|finding| finding.location = None);
        assert_eq!(causes(unknown.to_vec()).len(), 2);
        let mut replayed = race("a", "tick", "print");
        replayed.schedule = Some("run.raddle".into());
        assert_eq!(causes(vec![race("a", "tick", "show"), replayed]).len(), 2);
    }

    #[test]
    fn heap_blocks_of_other_sizes_stay_apart() {
        let heap = |reader, size| {
            let mut race = race("", "fill", reader);
            let stack = vec![frame("make", "a.c", 44, 40)];
            race.location = Some(Location::Heap { offset: 0, size, thread: "T0".into(), stack });
            race
        };
        assert_eq!(causes(vec![heap("a", 16), heap("b", 16), heap("c", 32)]).len(), 2);
    }

    #[test]
    fn a_chain_is_one_cause_whatever_the_order() {
        let chain = [race("x", "a", "b"), race("x", "c", "d"), race("x", "b", "c")];
        let found = causes(chain.to_vec());
        assert_eq!(found.len(), 1);
        let turned = causes(chain.into_iter().rev().collect());
        assert_eq!(found, turned);
    }

    #[test]
    fn the_surest_is_shown_and_every_member_keeps_its_id() {
        let mut suspected = race("x", "a", "b");
        suspected.confidence = Confidence::Suspected;
        let confirmed = race("x", "a", "c");
        let alone: Vec<String> =
            group(vec![suspected.clone(), confirmed.clone()]).into_iter().map(|finding| finding.id).collect();
        let found = causes(vec![suspected, confirmed]);
        assert_eq!(found[0].confidence, Confidence::Confirmed);
        assert_eq!(found[0].id, alone[1]);
        assert_eq!(found[0].also[0].id, alone[0]);
    }

    #[test]
    fn twice_changes_nothing() {
        let once =
            causes(vec![race("x", "a", "b"), race("x", "a", "c"), race("x", "a", "b"), race("y", "a", "b")]);
        assert_eq!(together(once.clone()), once);
    }
}
