//! Finds all accesses to racy variables (sections 3.5 and 4.4.1 of the paper).
//!
//! The detector remembers little about each variable, and reports only some of the racing accesses.
//! So the program is executed with a scheduling point at every access, once at random and once
//! without a preemption. A variable is racy if the detector named an access to it, or if two of its
//! accesses are not ordered by synchronisation ([`raddle_explore::points`]). Every place that
//! accesses a racy variable becomes a scheduling point.
//!
//! Accesses that these executions do not reach show up in the search, which then restarts
//! (`Search::begin_anew`). The search would begin with the execution without a preemption, reduced
//! to the steps that are points. It gets that trace and need not execute it.
//!
//! These executions may fail like any other. Then there is a schedule in which every access is a
//! step. The random execution preempts anywhere, so with a scope its failure may be out of scope
//! and does not count.

use std::collections::{BTreeSet, HashSet};

use raddle_explore::points::Points;
use raddle_explore::{Next, OpKind, Order, Outcome, Step, Tail, Trace};
use raddle_wire::explore::{ExecutionEnd, flag};

use super::scope::Scope;
use super::search::Search;
use raddle_harness::crew::{Crew, Notes};
use raddle_harness::describe::steps::pc_of;
use raddle_harness::places::Mapped;
use raddle_harness::worker::{Ending, Recipe};

/// Adds all other accesses to the same variables to the detector's points. `search` sees the
/// executions.
pub fn complete(
    recipe: &mut Recipe,
    scope: &Scope,
    seed: u64,
    search: &mut Search,
    is_over: &(dyn Fn() -> bool + Sync),
) {
    let all = Recipe { flags: recipe.flags | flag::ALL_DATA, slots: 1, points: Vec::new(), ..recipe.clone() };
    // If something is wrong, it shows again when the search begins, and is reported then.
    let notes = Notes::quiet();
    let mut crew = Crew::new(all, &notes, is_over);
    let mut seen = Seen::default();
    let at_random = Tail::Pos { seed: seed.wrapping_mul(2) | 1 };
    for tail in [at_random, Tail::NonPreemptive { next: Next::Lowest }] {
        crew.post(Order::free(0, tail));
        while crew.in_flight() > 0 {
            let turn = crew.turn(&mut |_, e| {
                if scope.is_all() || tail != at_random {
                    search.look_at(&e);
                }
                seen.points.observe(e.view(Outcome::Passed));
                seen.steps.extend(e.steps.iter().filter(|s| is_data(s)));
                let ended = e.ending == Ending::Finished && e.slot.outcome() == Some(ExecutionEnd::Exit);
                seen.plain = (ended && tail != at_random).then(|| e.trace(Outcome::Passed));
            });
            if turn.is_err() || is_over() {
                return;
            }
        }
        if search.is_finished() {
            break;
        }
    }
    search.modules = crew.modules().to_vec();
    let found = seen.sites(&recipe.points, crew.modules());
    recipe.points.extend(scope.filter(crew.modules(), found));
    recipe.points.sort_unstable();
    recipe.points.dedup();
    if let Some(plain) = seen.plain.take().filter(|_| scope.is_all()) {
        search.strategy.begin_from(at_points(plain, &recipe.points).view());
    }
    recipe.donors = crew.recipe().donors;
    crew.stop();
}

#[derive(Default)]
struct Seen {
    points: Points,
    steps: Vec<Step>,
    /// The execution without a preemption, if it ended.
    plain: Option<Trace>,
}

/// The trace reduced to the steps at `points`.
fn at_points(mut trace: Trace, points: &[u64]) -> Trace {
    let sites: HashSet<u32> = points.iter().map(|pc| *pc as u32).collect();
    trace.steps.retain(|step| !is_data(step) || sites.contains(&step.op.site));
    trace
}

fn is_data(step: &Step) -> bool {
    matches!(step.op.kind(), OpKind::DataRead | OpKind::DataWrite)
}

impl Seen {
    /// The program counters of all accesses to racy variables.
    fn sites(&self, known: &[u64], modules: &[Mapped]) -> Vec<u64> {
        let known: HashSet<u32> = known.iter().map(|pc| *pc as u32).chain(self.points.needed()).collect();
        let racy: HashSet<u64> =
            self.steps.iter().filter(|s| known.contains(&s.op.site)).map(|s| s.op.object).collect();
        let sites: BTreeSet<u32> =
            self.steps.iter().filter(|s| racy.contains(&s.op.object)).map(|s| s.op.site).collect();
        sites.into_iter().filter_map(|site| pc_of(modules, site)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{LogicalThread, Op};

    #[test]
    fn every_access_to_a_racy_variable_is_a_point() {
        let modules =
            [Mapped { low: 0x5555_0000_0000, high: 0x5555_0001_0000, offset: 0, path: "/a".into() }];
        let access = |kind, object, site| Step::bare(LogicalThread(1), Op::new(kind, object, site));
        let steps = vec![
            access(OpKind::DataRead, 8, 0x10),
            access(OpKind::DataWrite, 8, 0x20),
            access(OpKind::DataRead, 16, 0x30),
        ];
        let seen = Seen { steps, ..Seen::default() };
        assert_eq!(seen.sites(&[0x5555_0000_0010], &modules), [0x5555_0000_0010, 0x5555_0000_0020]);
        assert!(seen.sites(&[], &modules).is_empty());
    }

    #[test]
    fn steps_that_are_no_points_are_left_out() {
        let step = |kind, site| Step::bare(LogicalThread(1), Op::new(kind, 8, site));
        let steps =
            vec![step(OpKind::DataRead, 0x10), step(OpKind::Lock, 0x20), step(OpKind::DataWrite, 0x30)];
        let trace = Trace { steps, wide: Vec::new(), outcome: Outcome::Passed, divergence: None };
        let left: Vec<u32> = at_points(trace, &[0x5555_0000_0030]).steps.iter().map(|s| s.op.site).collect();
        assert_eq!(left, [0x20, 0x30]);
    }
}
