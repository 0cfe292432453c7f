//! Selectively uniform random walk: *Selectively uniform concurrency testing* (Zhao, Wolff, Mathur,
//! Roychoudhury, ASPLOS 2025).
//!
//! The interesting operations are drawn for each execution: those on one object that several
//! threads use, or, once in four, all of them. The last trace seen says how many each thread makes,
//! and who creates whom; before there is one, every thread has the same weight.

use serde::{Deserialize, Serialize};

use super::sampler::Seeds;
use super::{Progress, Strategy};
use crate::choice::{Tail, Weight};
use crate::op::OpKind;
use crate::order::Order;
use crate::thread::LogicalThread;
use crate::trace::TraceView;
use raddle_base::rng::Rng;

/// The profile is renewed from one trace in this many.
const PROFILE_EVERY: u64 = 16;

/// SURW that draws the interesting object anew for each execution.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SurwSampling {
    seeds: Seeds,
    seen: u64,
    profile: Profile,
}

/// How often each thread touches each object that more than one thread touches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Profile {
    parents: Vec<LogicalThread>,
    totals: Vec<u32>,
    /// By object, the threads that touch it and how often.
    shared: Vec<(u64, Vec<(LogicalThread, u32)>)>,
}

impl SurwSampling {
    /// All randomness comes from `seed`.
    pub fn new(seed: u64) -> SurwSampling {
        SurwSampling { seeds: Seeds::new(seed), seen: 0, profile: Profile::default() }
    }
}

impl Strategy for SurwSampling {
    fn name(&self) -> &'static str {
        "surw"
    }

    fn next(&mut self) -> Option<Order> {
        let (id, seed) = self.seeds.draw();
        let mut rng = Rng::new(seed ^ 0x7e57);
        let shared = &self.profile.shared;
        let chosen = if shared.is_empty() || rng.one_in(4) {
            None
        } else {
            shared.get(rng.below(shared.len() as u32) as usize)
        };
        let object = chosen.map_or(0, |(object, _)| *object);
        let mut order = Order::free(id, Tail::Surw { seed, object });
        order.weights = self.profile.weights(chosen.map(|(_, counts)| counts.as_slice()));
        Some(order)
    }

    fn observe(&mut self, _order: &Order, trace: TraceView<'_>) {
        self.seeds.observed();
        self.witness(trace);
    }

    fn witness(&mut self, trace: TraceView<'_>) {
        if self.seen.is_multiple_of(PROFILE_EVERY) {
            self.profile = Profile::of(trace);
        }
        self.seen += 1;
    }

    fn progress(&self) -> Progress {
        self.seeds.progress()
    }

    fn resume(&mut self) {
        self.seeds.resume();
    }
}

impl Profile {
    fn of(trace: TraceView<'_>) -> Profile {
        let n = trace.threads();
        let mut parents: Vec<LogicalThread> = (0..n).map(|i| LogicalThread(i as u16)).collect();
        let mut totals = vec![0; n];
        let mut touched: Vec<(u64, LogicalThread)> = Vec::new();
        for step in trace.steps.iter().filter(|s| !s.is_value()) {
            totals[step.thread.index()] += 1;
            if step.op.kind() == OpKind::Create
                && let Some(p) = parents.get_mut(step.op.object as usize)
            {
                *p = step.thread;
            }
            touched.extend(step.op.keys().into_iter().filter(|k| *k != 0).map(|k| (k, step.thread)));
        }
        touched.sort_unstable();
        let shared = touched
            .chunk_by(|a, b| a.0 == b.0)
            .map(|of| {
                let counts = of.chunk_by(|a, b| a.1 == b.1).map(|c| (c[0].1, c.len() as u32)).collect();
                (of[0].0, counts)
            })
            .filter(|(_, counts): &(u64, Vec<_>)| counts.len() > 1)
            .filter(|(object, _)| object >> 62 == 0)
            .collect();
        Profile { parents, totals, shared }
    }

    fn weights(&self, counts: Option<&[(LogicalThread, u32)]>) -> Vec<Weight> {
        let mut weights: Vec<Weight> =
            self.parents.iter().map(|p| Weight { parent: *p, ..Weight::default() }).collect();
        match counts {
            None => weights.iter_mut().zip(&self.totals).for_each(|(w, n)| w.count = *n),
            Some(counts) => counts.iter().for_each(|(t, n)| weights[t.index()].count = *n),
        }
        weights
    }
}
