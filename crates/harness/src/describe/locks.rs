//! Which thread holds which lock, derived from the steps of an execution.

use std::collections::HashMap;

use raddle_explore::{LogicalThread, OpKind, Step};

/// A held lock, and the step that took it; none if it was taken before there were steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenLock {
    pub thread: LogicalThread,
    pub lock: u64,
    pub step: Option<usize>,
    pub read: bool,
}

/// The locks held after all these steps, the longest held first.
pub fn held(steps: &[Step]) -> Vec<TakenLock> {
    let mut holding = Holding::default();
    for (i, step) in steps.iter().enumerate() {
        holding.step(i, step);
    }
    holding.held
}

/// The locks held so far, step by step.
///
/// A `trylock` is taken to have succeeded when nobody else holds the lock at that moment.
#[derive(Default)]
pub struct Holding {
    held: Vec<TakenLock>,
    depth: HashMap<(LogicalThread, u64), u32>,
}

impl Holding {
    /// Processes step `i`. Returns the lock that this step takes or releases.
    pub fn step(&mut self, i: usize, step: &Step) -> Option<TakenLock> {
        use OpKind::*;
        let op = &step.op;
        match op.kind() {
            Lock | TimedLock | WriteLock => self.take(i, step.thread, op.object, false),
            ReadLock => self.take(i, step.thread, op.object, true),
            TryLock if !self.held.iter().any(|h| h.lock == op.object && h.thread != step.thread) => {
                self.take(i, step.thread, op.object, false)
            }
            // A wait that ends or times out holds its mutex again.
            CondWake | TimeOut | Spurious if op.other != 0 => self.take(i, step.thread, op.other, false),
            Unlock => self.give(step.thread, op.object),
            CondWait if op.other != 0 => self.give(step.thread, op.other),
            _ => None,
        }
    }

    fn take(&mut self, step: usize, thread: LogicalThread, lock: u64, read: bool) -> Option<TakenLock> {
        *self.depth.entry((thread, lock)).or_default() += 1;
        if self.held.iter().any(|h| h.thread == thread && h.lock == lock) {
            return None;
        }
        let held = TakenLock { thread, lock, step: Some(step), read };
        self.held.push(held);
        Some(held)
    }

    fn give(&mut self, thread: LogicalThread, lock: u64) -> Option<TakenLock> {
        let n = self.depth.entry((thread, lock)).or_default();
        *n = n.saturating_sub(1);
        if *n > 0 {
            return None;
        }
        let at = self.held.iter().position(|h| h.thread == thread && h.lock == lock)?;
        Some(self.held.remove(at))
    }
}

/// A cycle in the waits-for graph, if there is one. `waits` lists the threads that each thread
/// waits for.
pub fn cycle(waits: &[(LogicalThread, Vec<LogicalThread>)]) -> Option<Vec<LogicalThread>> {
    for (start, _) in waits {
        let mut path = vec![*start];
        if walk(waits, &mut path) {
            let at = path.last().and_then(|last| path.iter().position(|t| t == last))?;
            path.pop();
            return Some(path.split_off(at));
        }
    }
    None
}

/// Depth-first search. True when the path has reached a thread on itself; that thread is then its
/// last.
fn walk(waits: &[(LogicalThread, Vec<LogicalThread>)], path: &mut Vec<LogicalThread>) -> bool {
    let here = path[path.len() - 1];
    let next = waits.iter().find(|(t, _)| *t == here).map_or(&[][..], |(_, n)| n);
    for t in next {
        let closes = path.contains(t);
        path.push(*t);
        if closes || walk(waits, path) {
            return true;
        }
        path.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::Op;

    fn step(thread: u16, kind: OpKind, object: u64, other: u64) -> Step {
        Step::bare(LogicalThread(thread), Op::new(kind, object, 0).with_other(other))
    }

    fn names(steps: &[Step]) -> Vec<(u16, u64, usize)> {
        held(steps).iter().map(|h| (h.thread.0, h.lock, h.step.unwrap())).collect()
    }

    #[test]
    fn locks_are_held_from_lock_to_unlock() {
        use OpKind::*;
        let steps =
            [step(1, Lock, 10, 0), step(2, Lock, 20, 0), step(1, Unlock, 10, 0), step(2, ReadLock, 30, 0)];
        assert_eq!(names(&steps), [(2, 20, 1), (2, 30, 3)]);
    }

    #[test]
    fn a_wait_gives_its_mutex_up_and_takes_it_again() {
        use OpKind::*;
        let waits = [step(1, Lock, 10, 0), step(1, CondWait, 50, 10)];
        assert_eq!(names(&waits), []);
        let woken = [waits[0], waits[1], step(2, CondSignal, 50, 0), step(1, CondWake, 50, 10)];
        assert_eq!(names(&woken), [(1, 10, 3)]);
    }

    #[test]
    fn a_recursive_lock_is_held_until_the_last_unlock_and_a_trylock_may_fail() {
        use OpKind::*;
        let steps =
            [step(1, Lock, 10, 0), step(1, Lock, 10, 0), step(1, Unlock, 10, 0), step(2, TryLock, 10, 0)];
        assert_eq!(names(&steps), [(1, 10, 0)]);
    }

    #[test]
    fn circles() {
        let t = LogicalThread;
        let waits = vec![(t(0), vec![t(1)]), (t(1), vec![t(2)]), (t(2), vec![t(1)])];
        assert_eq!(cycle(&waits), Some(vec![t(1), t(2)]));
        assert_eq!(cycle(&[(t(0), vec![t(0)])]), Some(vec![t(0)]));
        assert_eq!(cycle(&[(t(0), vec![t(1)]), (t(1), vec![])]), None);
        assert_eq!(cycle(&[]), None);
    }
}
