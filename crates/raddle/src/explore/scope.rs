//! `--only` and `--skip`: where a thread may be preempted.
//!
//! A preemption is a switch away from a thread that could continue, at the operation that it was
//! about to make. If that operation is out of scope, the strategy sees a trace in which the thread
//! that continued was the only one that could. So the strategy makes no order that switches there.
//! A switch away from a thread that cannot continue costs nothing and is never out of scope.
//!
//! Only strategies that derive orders from traces respect a scope (preemption bounding, delay
//! bounding, depth first). Tails that choose at random would not, so they are not used with a
//! scope.

use std::collections::HashMap;

use raddle_binary::Patterns;
use raddle_explore::{Step, StepFlags, ThreadSet, Trace, TraceBuf, TraceView};
use raddle_finding::Frame;

use super::args::SearchArgs;
use raddle_harness::describe::steps::pc_of;
use raddle_harness::detection::session::patterns;
use raddle_harness::places::{Mapped, Places};

/// The strategies that respect a scope.
const STRATEGIES: [&str; 3] = ["preemption", "delay", "dfs"];

/// Refuses a scope with a strategy that would not respect it.
pub fn check(args: &SearchArgs) -> anyhow::Result<()> {
    let scoped = !args.only.is_empty() || !args.skip.is_empty();
    let strategy = args.strategy.as_str();
    anyhow::ensure!(
        !scoped || strategy == "portfolio" || STRATEGIES.contains(&strategy),
        "strategy {strategy} preempts at random and cannot keep to --only and --skip: use {}",
        STRATEGIES.join(", ")
    );
    Ok(())
}

pub struct Scope {
    only: Option<Patterns>,
    skip: Patterns,
}

impl Scope {
    pub fn new(only: &[String], skip: &[String]) -> Scope {
        Scope { only: (!only.is_empty()).then(|| patterns(only)), skip: patterns(skip) }
    }

    /// Whether nothing is out of scope.
    pub fn is_all(&self) -> bool {
        self.only.is_none() && self.skip == Patterns::default()
    }

    /// The program counters that are in scope.
    pub fn filter(&self, modules: &[Mapped], mut pcs: Vec<u64>) -> Vec<u64> {
        if !self.is_all() {
            let mut places = Places::new();
            pcs.retain(|pc| self.has(&places.frames(modules, *pc)));
        }
        pcs
    }

    /// `frames`: the frames at a place, inlined functions first.
    fn has(&self, frames: &[Frame]) -> bool {
        let touches = |patterns: &Patterns| {
            frames.iter().any(|frame| {
                let is = |value: &Option<String>, f: &dyn Fn(&str) -> bool| value.as_deref().is_some_and(f);
                is(&frame.function, &|v| patterns.matches_function(v))
                    || is(&frame.file, &|v| patterns.matches_file(v))
                    || is(&frame.module, &|v| patterns.matches_module(v.as_ref()))
            })
        };
        self.only.as_ref().is_none_or(touches) && !touches(&self.skip)
    }
}

/// Traces without the choices that are out of scope.
pub struct Scoped {
    scope: Scope,
    places: Places,
    known: HashMap<u32, bool>,
    trace: Trace,
}

impl Scoped {
    pub fn new(scope: Scope) -> Scoped {
        let outcome = raddle_explore::Outcome::Passed;
        let trace = Trace { steps: Vec::new(), wide: Vec::new(), outcome, divergence: None };
        Scoped { scope, places: Places::new(), known: HashMap::new(), trace }
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    fn has(&mut self, site: u32, modules: &[Mapped]) -> bool {
        if let Some(known) = self.known.get(&site) {
            return *known;
        }
        let frames = pc_of(modules, site).map(|pc| self.places.frames(modules, pc)).unwrap_or_default();
        let has = self.scope.has(&frames);
        self.known.insert(site, has);
        has
    }

    /// The trace that the strategy sees.
    pub fn view(&mut self, of: TraceView<'_>, modules: &[Mapped]) -> TraceView<'_> {
        let next = next_of_each(of.steps);
        let mut steps = vec![Step::default(); of.steps.len()];
        let mut wide = vec![0; of.wide.len()];
        let mut to = TraceBuf::new(&mut steps, &mut wide);
        for (i, step) in of.steps.iter().enumerate() {
            let eligible = ThreadSet::from_words(step.eligible_words(of.wide));
            let reluctant = ThreadSet::from_words(step.reluctant_words(of.wide));
            // What the thread that ran was about to do here. Unknown if it never did it.
            let about = i.checked_sub(1).and_then(|before| next[before]).map(|n| of.steps[n].op.site);
            let free = !step.flags.has(StepFlags::CAN_CONTINUE) || step.flags.has(StepFlags::PREEMPTION);
            let shown = if free || about.is_none_or(|site| self.has(site, modules)) {
                eligible
            } else {
                let mut alone = ThreadSet::new();
                alone.insert(step.thread);
                alone
            };
            // The original trace fit into the same space.
            let _ = match step.is_value() {
                true => to.push_value(step.thread, step.op, step.flags, step.n_values, step.value),
                false => {
                    let flags = StepFlags(step.flags.0 & !StepFlags::WIDE.0);
                    to.push_thread(step.thread, step.op, flags, &shown, &reluctant)
                }
            };
        }
        let n = to.len();
        steps.truncate(n);
        self.trace = Trace { steps, wide, outcome: of.outcome, divergence: of.divergence };
        self.trace.view()
    }
}

/// For each step, the next one of the same thread.
fn next_of_each(steps: &[Step]) -> Vec<Option<usize>> {
    let mut next = vec![None; steps.len()];
    let mut latest = HashMap::new();
    for (i, step) in steps.iter().enumerate().rev() {
        next[i] = latest.insert(step.thread, i);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{LogicalThread, Op, OpKind, Outcome};

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_scope_is_what_only_names_less_what_skip_names() {
        let frame = |function: &str, file: &str| {
            vec![Frame { function: Some(function.into()), file: Some(file.into()), ..Frame::default() }]
        };
        let scope = Scope::new(&words("fun:update* file:src/*"), &words("fun:update_log"));
        assert!(scope.has(&frame("update_all", "a.c")) && scope.has(&frame("f", "src/b.c")));
        assert!(!scope.has(&frame("f", "a.c")) && !scope.has(&frame("update_log", "a.c")));
        let everything = Scope::new(&[], &[]);
        assert!(everything.is_all() && everything.has(&[]));
    }

    #[test]
    fn strategies_that_draw_lots_have_no_scope() {
        let with = |strategy: &str, only: &str| {
            let mut args = SearchArgs::defaults();
            args.strategy = strategy.into();
            args.only = words(only);
            check(&args)
        };
        assert!(with("portfolio", "f").is_ok() && with("dfs", "f").is_ok() && with("random", "").is_ok());
        assert!(with("random", "f").unwrap_err().to_string().contains("use preemption, delay, dfs"));
    }

    #[test]
    fn a_choice_out_of_scope_is_not_shown() {
        let both = ThreadSet::from_words(&[0b110]);
        let mut steps = vec![Step::default(); 3];
        let mut wide = [0; 8];
        let mut trace = TraceBuf::new(&mut steps, &mut wide);
        let can = StepFlags::CAN_CONTINUE;
        for (thread, flags, site) in [(1, StepFlags(0), 10), (1, can, 20), (1, can, 30)] {
            let op = Op::new(OpKind::AtomicLoad, 8, site);
            trace.push_thread(LogicalThread(thread), op, flags, &both, &ThreadSet::new()).unwrap();
        }
        let view = TraceView::new(&steps, &wide, Outcome::Passed, None);
        let mut scoped = Scoped::new(Scope::new(&[], &[]));
        scoped.known.extend([(20, false), (30, true)]);
        let shown = scoped.view(view, &[]);
        let eligible: Vec<usize> = shown.steps.iter().map(|s| s.eligible(shown.wide).count()).collect();
        // The first choice costs nothing, the second is out of scope, the third is in scope.
        assert_eq!(eligible, [2, 1, 2]);
        assert_eq!(shown.steps[1].op, steps[1].op);
    }
}
