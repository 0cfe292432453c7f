//! Merges findings with the same id. Findings with different ids and one cause are merged later
//! ([`crate::cause`]).
//!
//! The rule, in the order it is applied:
//!
//! 1. Findings with the same id, and the same subject if they have one ([`crate::subject`]), are
//!    one finding. An id contains the kind, the variable and the places ([`crate::identity`]). For
//!    a data race on a known variable, the places are the two functions without their lines. So a
//!    counter raced from five pairs of lines in the same two functions is one finding: the fix is
//!    one lock or one atomic, and five reports of it bury the next bug.
//! 2. A data race with one end that could not be restored (an empty stack, because the history does
//!    not reach back far enough) joins a race on the same known variable that has the known end: it
//!    is nearly always the same race seen late.
//!
//! Never merged are: different kinds, different variables (another global, another allocation
//! site), and races on an unknown variable at different lines, since nothing says that they belong
//! together. Different fields of one struct and elements of one array are one variable.
//!
//! The merged finding is the complete member that shows most (most stacks, then lines, then
//! context), since the labels of threads and locks make sense only together. It gets all
//! occurrences, the stronger confidence, a schedule if any member has one, the notes of all, and a
//! note for each further pair of places, up to [`MAX_PLACES`].
//!
//! Suppress first, then group, then compare with the baseline: a suppression must be able to match
//! the stacks of a member that grouping would drop.

use std::collections::HashMap;

use crate::identity;
use crate::model::{Finding, Frame, Kind};
use crate::place::place;

/// How many further pairs of places are named; the others are only counted.
pub const MAX_PLACES: usize = 8;

/// Assigns ids and merges. Groups are in the order of their first members.
pub fn group(mut findings: Vec<Finding>) -> Vec<Finding> {
    identity::assign(&mut findings);
    let mut groups: Vec<Vec<Finding>> = Vec::new();
    let mut by_key: HashMap<String, usize> = HashMap::new();
    for finding in findings {
        let at = *by_key.entry(finding.key()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(finding);
    }
    adopt_half_races(&mut groups);
    groups.into_iter().filter(|group| !group.is_empty()).map(merge).collect()
}

/// Rule 2: moves half-restored races into the groups that they belong to.
fn adopt_half_races(groups: &mut [Vec<Finding>]) {
    for half in 0..groups.len() {
        let Some((variable, known)) = half_race(&groups[half][0]) else { continue };
        let whole = (0..groups.len()).find(|&other| {
            groups[other].first().is_some_and(|finding| {
                finding.kind == Kind::DataRace
                    && finding.accesses.iter().all(|access| !access.stack.is_empty())
                    && identity::variable(finding).as_ref() == Some(&variable)
                    && finding.accesses.iter().any(|access| identity::end(access, true) == known)
            })
        });
        if let Some(whole) = whole {
            let members = std::mem::take(&mut groups[half]);
            groups[whole].extend(members);
        }
    }
}

/// The variable and the known end of a data race that has one end without a stack.
fn half_race(finding: &Finding) -> Option<(String, String)> {
    if finding.kind != Kind::DataRace || finding.accesses.len() != 2 {
        return None;
    }
    let known = match (finding.accesses[0].stack.is_empty(), finding.accesses[1].stack.is_empty()) {
        (false, true) => &finding.accesses[0],
        (true, false) => &finding.accesses[1],
        _ => return None,
    };
    Some((identity::variable(finding)?, identity::end(known, true)))
}

fn merge(members: Vec<Finding>) -> Finding {
    // The first of the richest: `max_by_key` alone would take the last.
    let best = (0..members.len()).rev().max_by_key(|&at| richness(&members[at])).unwrap_or(0);
    let mut merged = members[best].clone();
    let mut places: Vec<Vec<(String, u32)>> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    let shown = lines(&merged);
    merged.occurrences = 0;
    for member in &members {
        merged.occurrences = merged.occurrences.saturating_add(member.occurrences);
        merged.confidence = merged.confidence.max(member.confidence);
        if merged.schedule.is_none() {
            merged.schedule.clone_from(&member.schedule);
        }
        for note in &member.notes {
            if !merged.notes.contains(note) {
                merged.notes.push(note.clone());
            }
        }
        let lines = lines(member);
        if lines != shown && lines.len() == shown.len() && !places.contains(&lines) {
            places.push(lines);
            texts.push(further(member));
        }
    }
    let mut further: Vec<_> = places.into_iter().zip(texts).collect();
    further.sort();
    let beyond = further.len().saturating_sub(MAX_PLACES);
    merged.notes.extend(further.into_iter().take(MAX_PLACES).map(|(_, text)| text));
    if beyond > 0 {
        merged.notes.push(format!("and at {beyond} more pairs of places in the same functions"));
    }
    merged
}

/// How much a finding shows its reader: ends with a stack first, then frames with a line, then
/// context.
fn richness(finding: &Finding) -> (usize, usize, usize, usize) {
    let ends = finding.accesses.iter().filter(|access| !access.stack.is_empty()).count();
    let frames =
        finding.accesses.iter().flat_map(|access| &access.stack).filter(|frame| frame.line.is_some()).count();
    let created = finding.threads.iter().filter(|thread| !thread.stack.is_empty()).count();
    let taken =
        finding.locks.iter().flat_map(|lock| &lock.taken).filter(|taken| !taken.stack.is_empty()).count();
    (ends, usize::from(finding.location.is_some()), frames, created + taken)
}

/// The lines of the ends, sorted. Ends without a stack are left out, so that a half-restored race
/// adds no place.
fn lines(finding: &Finding) -> Vec<(String, u32)> {
    let mut lines: Vec<_> = finding
        .accesses
        .iter()
        .filter_map(|access| place(&access.stack))
        .map(|frame| (frame.file.clone().unwrap_or_default(), frame.line.unwrap_or_default()))
        .collect();
    lines.sort();
    lines
}

/// `also: write in bump (src/a.c:14) against read in show (src/b.c:9)`.
fn further(finding: &Finding) -> String {
    let mut ends: Vec<_> =
        finding.accesses.iter().filter_map(|access| Some((access.op, place(&access.stack)?))).collect();
    ends.sort_by_key(|(_, frame)| (frame.file.clone(), frame.line));
    let ends: Vec<_> = ends.iter().map(|(op, frame)| format!("{op} in {}", where_(frame))).collect();
    format!("also: {}", ends.join(" against "))
}

fn where_(frame: &Frame) -> String {
    let function = frame.function.as_deref().unwrap_or("an unknown function");
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{function} ({file}:{line})"),
        _ => function.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccessOp, Confidence, Location};
    use crate::sample::{access, finding, frame, global};

    fn race(variable: Option<&str>, bump: u32, show: u32) -> Finding {
        let mut race = finding(
            Kind::DataRace,
            vec![
                access(AccessOp::Write, "T2", vec![frame("bump", "a.c", bump, 10)]),
                access(AccessOp::Read, "T1", vec![frame("show", "b.c", show, 5)]),
            ],
        );
        race.location = variable.map(global);
        race
    }

    #[test]
    fn five_pairs_of_lines_on_one_counter_are_one_finding() {
        let pairs = [(12, 7), (12, 8), (14, 7), (14, 8), (20, 7)];
        let groups = group(pairs.map(|(bump, show)| race(Some("counter"), bump, show)).to_vec());
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].occurrences, 5);
        assert_eq!(
            groups[0].notes,
            [
                "also: write in bump (a.c:12) against read in show (b.c:8)",
                "also: write in bump (a.c:14) against read in show (b.c:7)",
                "also: write in bump (a.c:14) against read in show (b.c:8)",
                "also: write in bump (a.c:20) against read in show (b.c:7)",
            ]
        );
    }

    #[test]
    fn the_id_does_not_depend_on_which_pairs_were_seen() {
        let all = group(vec![race(Some("counter"), 12, 7), race(Some("counter"), 14, 9)]);
        let some = group(vec![race(Some("counter"), 20, 8)]);
        assert_eq!(all[0].id, some[0].id);
    }

    #[test]
    fn many_places_are_counted() {
        let groups = group((0..20).map(|line| race(Some("counter"), 12 + line, 7)).collect());
        assert_eq!(groups[0].notes.len(), MAX_PLACES + 1);
        assert_eq!(groups[0].notes[MAX_PLACES], "and at 11 more pairs of places in the same functions");
    }

    #[test]
    fn different_variables_and_kinds_stay_apart() {
        assert_eq!(group(vec![race(Some("a"), 12, 7), race(Some("b"), 12, 7)]).len(), 2);
        let mut other = race(Some("a"), 12, 7);
        other.kind = Kind::AtomicityViolation;
        assert_eq!(group(vec![race(Some("a"), 12, 7), other]).len(), 2);
        let heap = |line| {
            let mut heap = race(None, 12, 7);
            let stack = vec![frame("make", "a.c", line, 40)];
            heap.location = Some(Location::Heap { offset: 0, size: 8, thread: "T0".into(), stack });
            heap
        };
        assert_eq!(group(vec![heap(41), heap(42), heap(41)]).len(), 2);
    }

    #[test]
    fn an_unknown_variable_is_grouped_by_line_only() {
        let groups = group(vec![race(None, 12, 7), race(None, 14, 7), race(None, 12, 7)]);
        assert_eq!(groups.iter().map(|finding| finding.occurrences).collect::<Vec<_>>(), [2, 1]);
        assert!(groups.iter().all(|finding| finding.notes.is_empty()));
    }

    #[test]
    fn the_richest_member_is_shown_with_what_the_others_add() {
        let mut poor = race(Some("counter"), 12, 7);
        poor.schedule = Some("run.raddle".into());
        poor.notes = vec!["seen twice".into()];
        let mut rich = race(Some("counter"), 12, 7);
        rich.confidence = Confidence::Suspected;
        rich.accesses[0].stack.push(frame("main", "a.c", 90, 80));
        rich.notes = vec!["seen twice".into(), "seen late".into()];
        let groups = group(vec![poor, rich]);
        assert_eq!(groups[0].accesses[0].stack.len(), 2);
        assert_eq!(groups[0].confidence, Confidence::Confirmed);
        assert_eq!(groups[0].schedule.as_deref(), Some("run.raddle"));
        assert_eq!(groups[0].notes, ["seen twice", "seen late"]);
    }

    #[test]
    fn a_half_restored_race_joins_the_whole_one() {
        let mut half = race(Some("counter"), 12, 7);
        half.accesses[1].stack.clear();
        let groups = group(vec![half.clone(), race(Some("counter"), 12, 7)]);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].occurrences, 2);
        assert!(groups[0].accesses.iter().all(|access| !access.stack.is_empty()));
        assert!(groups[0].notes.is_empty());

        assert_eq!(group(vec![half.clone(), race(Some("other"), 12, 7)]).len(), 2);
        assert_eq!(group(vec![half.clone()]).len(), 1);
        half.location = None;
        assert_eq!(group(vec![half, race(None, 12, 7)]).len(), 2);
    }

    #[test]
    fn ids_are_unique_and_grouping_twice_changes_nothing() {
        let once = group(vec![
            race(Some("a"), 12, 7),
            race(Some("a"), 13, 7),
            race(Some("b"), 1, 2),
            race(None, 3, 4),
        ]);
        let mut ids: Vec<_> = once.iter().map(|finding| &finding.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 3);
        assert_eq!(group(once.clone()), once);
    }

    #[test]
    fn occurrences_do_not_overflow() {
        let mut many = race(None, 1, 2);
        many.occurrences = u64::MAX;
        assert_eq!(group(vec![many.clone(), many])[0].occurrences, u64::MAX);
    }
}
