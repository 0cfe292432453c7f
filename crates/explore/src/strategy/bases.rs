//! Executions that items of a frontier branch off from, shared between the items.

use serde::{Deserialize, Serialize};

use crate::choice::Choice;

/// Choices of executions, each kept as long as some item refers to it. Numbers rather than
/// pointers, so that a stored frontier holds each execution once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Bases {
    all: Vec<Base>,
    free: Vec<u32>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Base {
    choices: Vec<Choice>,
    users: u32,
}

/// Refers to an execution; [`NO_BASE`] to the empty one.
pub(super) type BaseId = u32;

pub(super) const NO_BASE: BaseId = u32::MAX;

impl Bases {
    /// Keeps an execution, with no users yet.
    pub(super) fn add(&mut self, choices: impl Iterator<Item = Choice>) -> BaseId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.all.push(Base::default());
            (self.all.len() - 1) as u32
        });
        let base = &mut self.all[id as usize];
        base.choices.clear();
        base.choices.extend(choices);
        id
    }

    pub(super) fn hold(&mut self, id: BaseId) {
        if id != NO_BASE {
            self.all[id as usize].users += 1;
        }
    }

    /// Drops one user; the last one frees it.
    pub(super) fn release(&mut self, id: BaseId) {
        if id == NO_BASE {
            return;
        }
        let base = &mut self.all[id as usize];
        base.users -= 1;
        if base.users == 0 {
            // Keep the room for the next, unless it is more than most need.
            base.choices.shrink_to(256);
            self.free.push(id);
        }
    }

    /// The first `keep` choices, and one more.
    pub(super) fn prefix(&self, id: BaseId, keep: u32, then: Option<Choice>) -> Vec<Choice> {
        let mut prefix = Vec::with_capacity(keep as usize + 1);
        if id != NO_BASE {
            prefix.extend_from_slice(&self.all[id as usize].choices[..keep as usize]);
        }
        prefix.extend(then);
        prefix
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
    }
}
