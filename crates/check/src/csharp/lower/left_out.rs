//! Counts of what lowering leaves out, and the sentences that report it.

use super::entry::MOST_MEMBERS;
use super::host_entry::MOST_ACTIONS;
use super::ui::MOST_EVENTS;
use crate::csharp::world::{MOST_ANCESTORS, MOST_OVERLOADS};

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Unlowered {
    /// Functions that are too long or too deep.
    pub functions: u32,
    /// Classes that derive from more others than are examined.
    pub deep_classes: u32,
    /// Classes with more methods of one name than are examined.
    pub crowded_classes: u32,
    /// Members, events and actions of large classes that no entry calls.
    pub members: u32,
}

impl Unlowered {
    /// One sentence for each kind of thing that was left out.
    pub fn sentences(&self) -> Vec<String> {
        let of = |n: u32, one: &str, more: String| match n {
            0 => None,
            1 => Some(one.to_string()),
            n => Some(format!("{n} {more}")),
        };
        let deep = format!("more than {MOST_ANCESTORS} others");
        let calls = format!(
            "it calls the first {MOST_MEMBERS} members of a class, {MOST_EVENTS} events of a window, \
             {MOST_ACTIONS} actions of a controller"
        );
        [
            of(
                self.functions,
                "1 function is too long or too deep",
                "functions are too long or too deep".into(),
            ),
            of(
                self.deep_classes,
                &format!("1 class derives from {deep}"),
                format!("classes derive from {deep} each"),
            ),
            of(
                self.crowded_classes,
                &format!("1 class has more than {MOST_OVERLOADS} methods of one name"),
                format!("classes have more than {MOST_OVERLOADS} methods of one name each"),
            ),
            of(
                self.members,
                &format!("1 member is not called: {calls}"),
                format!("members are not called: {calls}"),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_for_each_kind() {
        assert!(Unlowered::default().sentences().is_empty());
        let some = Unlowered { functions: 1, deep_classes: 2, crowded_classes: 1, members: 3 };
        let sentences = some.sentences();
        assert_eq!(sentences[0], "1 function is too long or too deep");
        assert_eq!(sentences[1], "2 classes derive from more than 64 others each");
        assert_eq!(sentences[2], "1 class has more than 128 methods of one name");
        assert!(sentences[3].starts_with("3 members are not called: it calls the first 40"));
    }
}
