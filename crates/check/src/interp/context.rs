//! Call contexts and sets of held locks, each represented by a small number.
//!
//! For each access, the access history records the place, the call context and the held locks, with
//! four bytes for each. Contexts form a tree: a node is its parent and the call instruction.

use rustc_hash::FxHashMap;

/// A call context; 0 is "not computed yet", 1 the root of every thread.
pub type ContextId = u32;
pub const ROOT: ContextId = 1;

/// A lock that a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockHold {
    pub lock: u64,
    /// Held for reading: others may hold it too.
    pub shared: bool,
    /// Where it was taken.
    pub pc: u32,
    pub context: ContextId,
}

#[derive(Debug, Default)]
pub struct Contexts {
    /// Parent and call instruction; index 0 is not used.
    nodes: Vec<(ContextId, u32)>,
    children: FxHashMap<(ContextId, u32), ContextId>,
    locksets: Vec<Box<[LockHold]>>,
    lockset_numbers: FxHashMap<Box<[LockHold]>, u16>,
}

impl Contexts {
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.extend([(0, 0), (0, 0)]);
        self.children.clear();
        self.locksets.clear();
        self.locksets.push(Box::default());
        self.lockset_numbers.clear();
    }

    pub fn child(&mut self, parent: ContextId, call: u32) -> ContextId {
        let next = self.nodes.len() as ContextId;
        let id = *self.children.entry((parent, call)).or_insert(next);
        if id == next {
            self.nodes.push((parent, call));
        }
        id
    }

    /// The call instructions that lead to a context, innermost first.
    pub fn calls(&self, mut id: ContextId) -> Vec<u32> {
        let mut out = Vec::new();
        while id > ROOT && out.len() < 64 {
            let (parent, call) = self.nodes[id as usize];
            out.push(call);
            id = parent;
        }
        out
    }

    pub fn lockset(&mut self, held: &[LockHold]) -> u16 {
        if held.is_empty() {
            return 0;
        }
        if let Some(n) = self.lockset_numbers.get(held) {
            return *n;
        }
        let Ok(n) = u16::try_from(self.locksets.len()) else { return 0 };
        let set: Box<[LockHold]> = held.into();
        self.locksets.push(set.clone());
        self.lockset_numbers.insert(set, n);
        n
    }

    pub fn held(&self, lockset: u16) -> &[LockHold] {
        &self.locksets[usize::from(lockset)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_calls_are_the_same_context() {
        let mut c = Contexts::default();
        c.clear();
        let a = c.child(ROOT, 10);
        let b = c.child(a, 20);
        assert_eq!(c.child(a, 20), b);
        assert_ne!(c.child(ROOT, 20), b);
        assert_eq!(c.calls(b), [20, 10]);
    }

    #[test]
    fn equal_locksets_are_one() {
        let mut c = Contexts::default();
        c.clear();
        let held = [LockHold { lock: 8, shared: false, pc: 1, context: ROOT }];
        let n = c.lockset(&held);
        assert_eq!(c.lockset(&held), n);
        assert_eq!(c.held(n), held);
        assert_eq!(c.lockset(&[]), 0);
    }
}
