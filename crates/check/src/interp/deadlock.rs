//! Deadlocks (section 3.4): a cycle in the wait-for graph, looked for whenever a thread blocks.
//!
//! Besides the cycle there is the stuck run: threads wait for notifications, semaphores or barriers
//! that nobody is left to give. That is a deadlock too, but it is only as certain as the run was.
//! If an unknown decided a branch on the way, the thread that would have notified may merely have
//! taken the wrong one, and nothing is reported.

use raddle_finding::Kind;

use super::Machine;
use super::thread::State;
use super::value::is_unknown;

impl Machine<'_> {
    /// The threads that a thread waits for, if it waits for particular ones.
    fn waits_for(&self, ti: usize) -> Vec<usize> {
        match self.threads[ti].state {
            State::Lock { lock, timed: false, shared } if !is_unknown(lock) => {
                let Some(o) = self.objects.get(&lock) else { return Vec::new() };
                let readers = if shared { &[][..] } else { &o.readers[..] };
                o.owner.iter().chain(readers).copied().collect()
            }
            State::Join { thread } => vec![thread],
            State::Interrupted { by } => vec![by],
            State::Once { once } => match self.objects.get(&once).map(|o| o.once) {
                Some(super::sync::OnceState::Running(who)) => vec![who],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Called when a thread has just blocked.
    pub(super) fn look_for_deadlock(&mut self, ti: usize) {
        let mut path = vec![ti];
        // A thread that joins an unknown thread may wait for another one.
        let is_sure =
            |t: &usize| !(self.threads[*t].vague && matches!(self.threads[*t].state, State::Join { .. }));
        if let Some(cycle) = self.cycle_through(ti, &mut path).filter(|c| c.iter().all(is_sure)) {
            // A handler in the cycle represents the thread under it.
            self.report_deadlock(Kind::Deadlock, &cycle);
            self.end = Some(super::RunEnd::Stuck);
        }
    }

    fn cycle_through(&self, target: usize, path: &mut Vec<usize>) -> Option<Vec<usize>> {
        let last = *path.last()?;
        for next in self.waits_for(last) {
            if next == target {
                return Some(path.clone());
            }
            if self.threads[next].ended() || path.contains(&next) {
                continue;
            }
            path.push(next);
            if let Some(cycle) = self.cycle_through(target, path) {
                return Some(cycle);
            }
            path.pop();
        }
        None
    }

    /// Reports a run in which no thread can run.
    pub(super) fn report_stuck(&mut self) {
        let live: Vec<usize> = (0..self.threads.len()).filter(|t| !self.threads[*t].ended()).collect();
        if live.is_empty() || self.approximate || !self.interrupts.is_empty() {
            return;
        }
        let certain = live.iter().all(|t| {
            let t = &self.threads[*t];
            let known = match t.state {
                State::Lock { lock, .. } => Self::is_certain(lock),
                State::Condition { condition, .. } => Self::is_certain(condition),
                State::Semaphore { semaphore, .. } => Self::is_certain(semaphore),
                State::Barrier { barrier } => Self::is_certain(barrier),
                State::Join { .. } | State::Interrupted { .. } | State::Once { .. } => true,
                _ => false,
            };
            known && !t.vague
        });
        // A lock whose owner has ended was already reported as leaked.
        let leaked = live.iter().any(|t| match self.threads[*t].state {
            State::Lock { lock, .. } => {
                self.objects.get(&lock).and_then(|o| o.owner).is_some_and(|o| self.threads[o].ended())
            }
            _ => false,
        });
        if certain && !leaked {
            // Threads that merely wait for another to end come last.
            let mut order = live;
            order.sort_by_key(|t| matches!(self.threads[*t].state, State::Join { .. }));
            self.report_deadlock(Kind::Deadlock, &order);
        }
    }
}
