//! Lock-order cycles, from the edges that a process logged.

use std::collections::HashSet;

use raddle_base::clock::ThreadId;
use raddle_finding::{Access, AccessOp, Confidence, Finding, Kind};
use raddle_race::lock_order::{Acquisition, Cycle, Edge, LockOrder, Moment};
use raddle_race::{EventSource, LockId, LockMode};
use raddle_wire::record::{self, HeldLock};

use super::{Cast, Explain};

/// The note on locks that one thread took in both orders.
const BY_ONE_THREAD: &str = "one thread happened to run both of these OpenMP tasks or sections: nothing orders them, and another run may \
                             give them to two";

impl Explain<'_> {
    pub fn cycles(&mut self) -> Vec<Finding> {
        if self.process.edges.is_empty() {
            return Vec::new();
        }
        let mut order = LockOrder::new();
        for (created, a, b) in &self.process.fork_joins {
            let (a, b) = (ThreadId(*a as u32), ThreadId(*b as u32));
            if *created {
                order.thread_created(a, b);
            } else {
                order.thread_joined(a, b);
            }
        }
        for edge in &self.process.edges {
            // An edge whose segment is unknown, because the record was lost, says nothing.
            let _ = order.edge(Edge {
                thread: ThreadId(edge.thread as u32),
                held: edge.held.iter().map(acquisition).collect(),
                acquired: acquisition(&edge.acquired),
                segment: edge.segment as u32,
                moment: moment(&edge.moment),
            });
        }
        let found = order.cycles();
        let mut findings: Vec<Finding> = found.cycles.iter().map(|c| self.cycle(c)).collect();
        if found.truncated {
            let note = "the search for cycles ended at its limit: there may be more";
            findings.iter_mut().for_each(|f| f.notes.push(note.into()));
        }
        findings
    }

    fn cycle(&mut self, cycle: &Cycle) -> Finding {
        let mut cast = Cast::default();
        let mut accesses = Vec::new();
        for step in &cycle.edges {
            let (edge, held) = (&step.edge, &step.held);
            let thread = edge.thread.0 as u64;
            cast.thread(thread);
            cast.lock(held.lock.0, thread, held.context.0);
            cast.lock(edge.acquired.lock.0, thread, edge.acquired.context.0);
            accesses.push(Access {
                op: AccessOp::Lock,
                size: 0,
                thread: self.thread_label(thread),
                locks: vec![format!("L{}", held.lock.0)],
                stack: self.stack(edge.acquired.context.0),
                lock: Some(format!("L{}", edge.acquired.lock.0)),
            });
        }
        let names: Vec<String> = cycle.locks().iter().map(|l| self.lock_name(l.0)).collect();
        let message = format!(
            "{} locks are taken in orders that can deadlock: {} → {}",
            names.len(),
            names.join(" → "),
            names[0]
        );
        let mut finding = Finding::new(Kind::LockOrder, Confidence::Suspected, message);
        finding.accesses = accesses;
        let threads: HashSet<ThreadId> = cycle.edges.iter().map(|step| step.edge.thread).collect();
        if threads.len() < cycle.edges.len() {
            finding.notes.push(BY_ONE_THREAD.into());
        }
        finding.occurrences = 1;
        self.introduce(&mut finding, cast);
        finding
    }

    /// The name of a global, or the lock's label.
    fn lock_name(&mut self, id: u64) -> String {
        let address = self.process.locks.get(&id).map(|l| l.address);
        let global = address.and_then(|a| self.global(a, usize::MAX));
        global.map_or_else(|| format!("L{id}"), |g| g.label())
    }
}

fn moment(logged: &record::Moment) -> Moment {
    let number = logged.number.checked_sub(1).map(|n| n as u32);
    Moment { number, context: logged.context as u32, before: logged.knows }
}

fn acquisition(held: &HeldLock) -> Acquisition {
    Acquisition {
        lock: LockId(held.lock),
        mode: if held.read != 0 { LockMode::Read } else { LockMode::Write },
        context: EventSource(held.stack),
    }
}
