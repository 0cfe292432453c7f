//! Which steps of a recorded execution a reader needs.
//!
//! A search marks the steps between which it switched and those on the objects of the failure. In
//! unoptimised code, and in Rust's library around a thread, most of these are about the stack slots
//! of one thread, which say nothing about the order of two. The picture hides them behind "all
//! steps":
//!
//! - reads and writes of a word without a name that no other thread of the picture touches;
//! - in a race, what library code does, unless it is one of the two accesses.
//!
//! In a race, an access of the place of an end is one of the two only if it is of the racy object,
//! where the execution says which that is.

use std::collections::{HashMap, HashSet};

use crate::model::{Finding, Kind, Location};
use crate::place::is_user_code;

use super::picture::{Act, Moment};

/// What `raddle_harness::describe` calls the object of a race that has no name.
const RACY: &str = "the racy word";

/// Clears `matters` and `is_key` of steps that do not help.
pub(super) fn narrow(finding: &Finding, steps: &mut [Moment]) {
    let is_race = finding.kind == Kind::DataRace;
    if is_race && steps.iter().any(|step| step.is_key && is_racy(finding, step)) {
        steps.iter_mut().for_each(|step| step.is_key &= is_racy(finding, step));
    }
    let private = private_words(steps);
    for step in steps {
        let is_access = matches!(step.act, Act::Read | Act::Write);
        if is_access && word(&step.text).is_some_and(|word| private.contains(word)) {
            step.is_key = false;
            step.matters = false;
        }
        let is_library = step.frame.as_ref().is_some_and(|frame| !is_user_code(frame));
        if is_race && is_library && !step.is_key && (is_access || step.act == Act::Free) {
            step.matters = false;
        }
    }
}

fn is_racy(finding: &Finding, step: &Moment) -> bool {
    let is_named = match &finding.location {
        Some(Location::Global { name, .. }) => step.text.contains(&format!("`{name}")),
        _ => false,
    };
    is_named || step.text.ends_with(RACY)
}

/// `word 7` or `heap word 7`, the label of an address without a name.
fn word(text: &str) -> Option<&str> {
    let (_, object) = text.split_once(' ')?;
    let number = object.strip_prefix("heap ").unwrap_or(object).strip_prefix("word ")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(object)
}

/// The words that only one thread touches.
fn private_words(steps: &[Moment]) -> HashSet<String> {
    let mut lanes: HashMap<&str, Option<usize>> = HashMap::new();
    for step in steps {
        let Some(word) = word(&step.text) else { continue };
        let lane = lanes.entry(word).or_insert(Some(step.lane));
        *lane = lane.filter(|lane| *lane == step.lane);
    }
    lanes.into_iter().filter(|(_, lane)| lane.is_some()).map(|(word, _)| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::picture::picture;
    use crate::model::{Kind, Timeline, TimelineStep};
    use crate::sample::{access, finding, frame};
    use crate::{AccessOp, Finding};

    /// A recorded execution: thread, text, file.
    fn recorded(mut of: Finding, steps: &[(usize, &str, &str)]) -> Vec<(String, bool, bool)> {
        let frames = steps.iter().map(|(_, _, file)| frame("f", file, 9, 1)).collect();
        let steps = steps.iter().enumerate().map(|(i, (thread, text, _))| TimelineStep {
            thread: *thread,
            text: (*text).into(),
            frame: Some(i),
            step: Some(i as u64),
            matters: true,
            ..TimelineStep::default()
        });
        let steps = steps.collect();
        let threads = vec!["T0 (main)".into(), "T1".into(), "T2".into()];
        of.timeline = Some(Timeline { threads, steps, frames, ..Timeline::default() });
        let picture = picture(&of).unwrap();
        picture.steps.into_iter().map(|step| (step.text, step.matters, step.is_key)).collect()
    }

    #[test]
    fn a_race_shows_its_accesses_and_what_others_see() {
        let end = |op, thread| access(op, thread, vec![frame("f", "a.rs", 9, 1)]);
        let race = finding(Kind::DataRace, vec![end(AccessOp::Write, "T2"), end(AccessOp::Read, "T1")]);
        let std = "/rustc/0123/library/std/src/thread/mod.rs";
        let told = recorded(
            race,
            &[
                (1, "reads word 1", "a.rs"),
                (1, "stores `STEP`", "a.rs"),
                (1, "reads the racy word", "a.rs"),
                (1, "writes heap word 2", std),
                (2, "reads heap word 2", std),
                (2, "writes the racy word", "a.rs"),
            ],
        );
        let expected = [
            ("reads word 1", false, false),
            ("stores `STEP`", true, false),
            ("reads the racy word", true, true),
            ("writes heap word 2", false, false),
            ("reads heap word 2", false, false),
            ("writes the racy word", true, true),
        ];
        assert_eq!(told, expected.map(|(text, matters, key)| (text.to_owned(), matters, key)));
    }

    #[test]
    fn a_word_of_two_threads_is_shown_and_one_of_a_single_thread_is_not() {
        let told = recorded(
            finding(Kind::Deadlock, vec![]),
            &[
                (0, "reads word 1", "a.c"),
                (1, "writes heap word 2", "a.c"),
                (2, "reads heap word 2", "a.c"),
                (1, "frees heap word 3", "a.c"),
            ],
        );
        let shown: Vec<_> = told.iter().map(|(_, matters, _)| *matters).collect();
        assert_eq!(shown, [false, true, true, true]);
    }

    #[test]
    fn where_no_access_names_the_racy_object_those_of_its_lines_are_the_two() {
        let end = |op, thread| access(op, thread, vec![frame("f", "a.c", 9, 1)]);
        let race = finding(Kind::DataRace, vec![end(AccessOp::Write, "T2"), end(AccessOp::Read, "T1")]);
        let told = recorded(race, &[(1, "reads word 1", "a.c"), (2, "writes word 1", "a.c")]);
        assert!(told.iter().all(|(_, matters, key)| *matters && *key), "{told:?}");
    }
}
