//! Happens-before of one trace, and the pairs of its steps that a search must try in the other
//! order.

use rustc_hash::FxHashMap;

use crate::op::{Class, Op, OpKind, dependent};
use crate::step::Step;

/// The most threads that are supported: a set of threads is one word.
pub(super) const THREADS: usize = 64;

/// A set of threads.
pub(super) type Set = u64;

pub(super) fn one(thread: usize) -> Set {
    1 << thread
}

/// The steps of each thread on one object, by index.
type History = Vec<(usize, Vec<u32>)>;

/// Whether the order of two operations of different threads can matter. Besides
/// [`dependent`]: an execution has a limited number of spurious wake-ups, so each may take that of
/// another thread that waits.
pub(super) fn depends(a: &Op, b: &Op) -> bool {
    let is_spurious = |op: &Op| op.kind() == OpKind::Spurious;
    let waits = |op: &Op| matches!(op.kind(), OpKind::CondWake | OpKind::FutexWait | OpKind::Spurious);
    dependent(a, b) || is_spurious(a) && waits(b) || waits(a) && is_spurious(b)
}

/// Clocks of the steps of a trace. The tables are reused for the next trace.
#[derive(Debug, Default)]
pub(super) struct Reversals {
    threads: usize,
    /// For each step, `threads` numbers: how many steps of each thread happen before it, itself
    /// included.
    clocks: Vec<u32>,
    /// For each step, its number among those of its thread, from 1 on.
    ordinals: Vec<u32>,
    /// For each thread, its steps.
    by_thread: Vec<Vec<u32>>,
    objects: FxHashMap<u64, History>,
    /// Steps that depend on all others, accesses to ranges, and spurious wake-ups.
    others: Vec<u32>,
}

impl Reversals {
    /// Ready for a trace of so many threads.
    pub(super) fn begin(&mut self, threads: usize) {
        self.threads = threads;
        self.clocks.clear();
        self.ordinals.clear();
        self.by_thread.iter_mut().for_each(Vec::clear);
        self.by_thread.resize_with(threads, Vec::new);
        self.objects.clear();
        self.others.clear();
    }

    fn clock(&self, i: usize) -> &[u32] {
        &self.clocks[i * self.threads..(i + 1) * self.threads]
    }

    /// Whether step `i` happens before step `k`, or is it.
    fn is_before(&self, i: usize, k: usize, steps: &[Step]) -> bool {
        self.clock(k)[steps[i].thread.index()] >= self.ordinals[i]
    }

    /// Goes on to step `j`, the next of the trace. `found` gets the earlier steps of other threads
    /// that depend on it and do not happen before its thread's last step.
    pub(super) fn pass(&mut self, j: usize, steps: &[Step], found: &mut Vec<usize>) {
        found.clear();
        let step = &steps[j];
        let t = step.thread.index();
        let last = self.by_thread[t].last().map(|i| *i as usize);
        let mut clock: [u32; THREADS] = [0; THREADS];
        if let Some(last) = last {
            clock[..self.threads].copy_from_slice(self.clock(last));
        }
        self.collect(j, steps, &clock, found);
        for i in found.iter() {
            for (mine, theirs) in clock.iter_mut().zip(self.clock(*i)) {
                *mine = (*mine).max(*theirs);
            }
        }
        self.by_thread[t].push(j as u32);
        clock[t] = self.by_thread[t].len() as u32;
        self.ordinals.push(clock[t]);
        self.clocks.extend_from_slice(&clock[..self.threads]);
        self.note(j, step);
    }

    /// Earlier steps that depend on step `j` and are not in `clock`.
    fn collect(&self, j: usize, steps: &[Step], clock: &[u32; THREADS], found: &mut Vec<usize>) {
        let step = &steps[j];
        let t = step.thread.index();
        let is_new = |i: usize| self.ordinals[i] > clock[steps[i].thread.index()];
        let mut take = |all: &[u32]| {
            for i in all.iter().rev().map(|i| *i as usize) {
                if !is_new(i) {
                    break;
                }
                if depends(&steps[i].op, &step.op) {
                    found.push(i);
                }
            }
        };
        if step.op.class() == Class::Local {
            return;
        }
        if is_among_others(step) {
            let all = self.by_thread.iter().enumerate().filter(|(u, _)| *u != t);
            all.for_each(|(_, all)| take(all));
        } else {
            for key in step.op.keys().into_iter().filter(|k| *k != 0) {
                let Some(history) = self.objects.get(&key) else { continue };
                history.iter().filter(|(u, _)| *u != t).for_each(|(_, all)| take(all));
            }
            for i in self.others.iter().map(|i| *i as usize) {
                if steps[i].thread != step.thread && is_new(i) && depends(&steps[i].op, &step.op) {
                    found.push(i);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
    }

    fn note(&mut self, j: usize, step: &Step) {
        if is_among_others(step) {
            self.others.push(j as u32);
            return;
        }
        if step.op.class() == Class::Local {
            return;
        }
        let t = step.thread.index();
        let [a, b] = step.op.keys();
        for key in [a, b].into_iter().filter(|k| *k != 0) {
            let history = self.objects.entry(key).or_default();
            let at = history.iter().position(|(u, _)| *u == t).unwrap_or_else(|| {
                history.push((t, Vec::new()));
                history.len() - 1
            });
            if history[at].1.last() != Some(&(j as u32)) {
                history[at].1.push(j as u32);
            }
        }
    }

    /// What an execution that makes step `j` before step `i` begins with, from the state before
    /// step `i`: any of these threads. First come all steps up to `j` that do not need `i`, and then
    /// `j`. The result is never empty.
    pub(super) fn initials(&self, i: usize, j: usize, steps: &[Step]) -> Set {
        // The first step of each thread among these, by its ordinal.
        let mut first: [u32; THREADS] = [0; THREADS];
        let mut seen: Set = 0;
        let mut initials: Set = 0;
        for k in (i + 1..=j).filter(|k| *k == j || !self.is_before(i, *k, steps)) {
            let t = steps[k].thread.index();
            if seen & one(t) != 0 {
                continue;
            }
            let clock = self.clock(k);
            let is_led = members(seen).any(|u| clock[u] >= first[u]);
            seen |= one(t);
            first[t] = self.ordinals[k];
            if !is_led {
                initials |= one(t);
            }
        }
        initials
    }

    /// Whether step `j` cannot come before step `i` in any execution: `i` ends what keeps `j` from
    /// being made, and nothing else can.
    pub(super) fn is_fixed(&self, i: usize, j: usize, steps: &[Step]) -> bool {
        let (before, after) = (&steps[i].op, &steps[j].op);
        if matches!(
            (before.kind(), after.kind()),
            (OpKind::Exit, OpKind::Join) | (OpKind::Create, OpKind::Start)
        ) {
            return true;
        }
        let Some(mutex) = released(before).filter(|m| taken(after) == Some(*m)) else { return false };
        // The thread has taken this lock itself, so no other can until it lets go.
        let t = steps[i].thread.index();
        let own = self.objects.get(&mutex).and_then(|h| h.iter().find(|(u, _)| *u == t));
        let last = own.and_then(|(_, all)| all.iter().rev().find(|k| **k < i as u32));
        last.is_some_and(|k| taken(&steps[*k as usize].op) == Some(mutex))
    }
}

/// The mutex that it takes, and waits for if need be.
fn taken(op: &Op) -> Option<u64> {
    match op.kind() {
        OpKind::Lock => Some(op.object),
        OpKind::CondWake => Some(op.other),
        _ => None,
    }
}

/// The mutex that it lets go.
fn released(op: &Op) -> Option<u64> {
    match op.kind() {
        OpKind::Unlock => Some(op.object),
        OpKind::CondWait => Some(op.other),
        _ => None,
    }
}

pub(super) fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let t = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (t < THREADS).then_some(t)
    })
}

/// Whether its objects are not all that it depends on.
fn is_among_others(step: &Step) -> bool {
    let op = &step.op;
    let is_wide = op.other != 0 && matches!(op.kind(), OpKind::DataRead | OpKind::DataWrite);
    let is_counted = matches!(op.kind(), OpKind::Free | OpKind::Spurious);
    op.class() == Class::Global || is_counted || is_wide
}
