//! An execution step by step, for the picture of a finding: every step with its place, and the
//! locks as bars.
//!
//! Racing accesses are not scheduling points. They are passed as [`Between`]s, each before a step.

use std::collections::HashMap;

use raddle_explore::{LogicalThread, Step, StepFlags};
use raddle_finding::{Frame, LockSpan, Timeline, TimelineStep};

use super::locks::{Holding, TakenLock};
use super::steps::StepWords;

/// How many of the last steps are shown. Nobody looks at a larger picture.
const STEPS: usize = 400;

/// Something that happened before step `at` and is not a step.
pub struct Between {
    pub at: usize,
    pub thread: LogicalThread,
    pub text: String,
    pub frame: Option<Frame>,
}

/// The timeline of the steps. It marks those for which `matters` is true, and inserts `between`.
pub fn timeline(
    words: &mut StepWords<'_>,
    steps: &[Step],
    matters: &dyn Fn(usize) -> bool,
    between: Vec<Between>,
) -> Timeline {
    let first = steps.len().saturating_sub(STEPS);
    let mut making = Making::default();
    making.out.left_out = first as u64;
    let mut between = between.into_iter().peekable();
    for (i, step) in steps.iter().enumerate() {
        while let Some(extra) = between.next_if(|extra| extra.at <= i) {
            making.add(None, extra.thread, extra.text, extra.frame, true);
        }
        let changed = making.holding.step(i, step);
        if i >= first {
            let (text, frame) = (words.step_or_call(i).text, words.frame_of(i));
            let preempts = step.flags.has(StepFlags::PREEMPTION);
            making.add(Some(i as u64), step.thread, text, frame, matters(i));
            making.last_preempts(preempts);
        }
        making.bars(words, changed);
    }
    between.for_each(|extra| making.add(None, extra.thread, extra.text, extra.frame, true));
    making.finish(words)
}

#[derive(Default)]
struct Making {
    out: Timeline,
    threads: Vec<LogicalThread>,
    frames: HashMap<Frame, usize>,
    holding: Holding,
    /// The bars by thread. Until all lanes are known, the thread's number takes the place of its
    /// lane.
    open: Vec<(TakenLock, usize)>,
}

impl Making {
    fn add(
        &mut self,
        step: Option<u64>,
        thread: LogicalThread,
        text: String,
        frame: Option<Frame>,
        matters: bool,
    ) {
        if !self.threads.contains(&thread) {
            self.threads.push(thread);
        }
        let frames = &mut self.out.frames;
        let frame = frame.map(|frame| {
            *self.frames.entry(frame).or_insert_with_key(|frame| {
                frames.push(frame.clone());
                frames.len() - 1
            })
        });
        let thread = usize::from(thread.0);
        let step = TimelineStep { thread, text, frame, step, matters, ..TimelineStep::default() };
        self.out.steps.push(step);
    }

    fn last_preempts(&mut self, preempts: bool) {
        if let Some(step) = self.out.steps.last_mut() {
            step.preempts = preempts;
        }
    }

    /// A lock that was taken gets a bar; one that was released ends its bar.
    fn bars(&mut self, words: &mut StepWords<'_>, changed: Option<TakenLock>) {
        let Some(held) = changed else { return };
        let here = self.out.steps.len().saturating_sub(1);
        let same = |(open, _): &(TakenLock, usize)| open.thread == held.thread && open.lock == held.lock;
        if let Some(at) = self.open.iter().position(same) {
            let (_, bar) = self.open.remove(at);
            self.out.held[bar].until = Some(here);
            return;
        }
        self.open.push((held, self.out.held.len()));
        self.out.held.push(LockSpan {
            lock: words.lock(held.lock),
            name: words.name(held.lock),
            thread: usize::from(held.thread.0),
            from: here,
            until: None,
            read: held.read,
        });
    }

    /// Orders the lanes by thread number, and drops bars that ended before the first step shown.
    fn finish(mut self, words: &StepWords<'_>) -> Timeline {
        self.threads.sort_unstable();
        let lanes = &self.threads;
        let lane = |thread: usize| lanes.iter().position(|t| usize::from(t.0) == thread);
        self.out.threads = lanes.iter().map(|t| words.thread(*t)).collect();
        for step in &mut self.out.steps {
            step.thread = lane(step.thread).unwrap_or_default();
        }
        self.out.held.retain_mut(|bar| match lane(bar.thread) {
            Some(thread) => {
                bar.thread = thread;
                bar.until != Some(0)
            }
            None => false,
        });
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Places;
    use raddle_explore::{Op, OpKind};

    fn step(thread: u16, kind: OpKind, object: u64) -> Step {
        Step::bare(LogicalThread(thread), Op::new(kind, object, 0))
    }

    fn of(steps: &[Step], between: Vec<Between>) -> Timeline {
        let mut places = Places::new();
        let mut words = StepWords::new(&mut places, &[], steps);
        timeline(&mut words, steps, &|i| i == 1, between)
    }

    #[test]
    fn locks_are_bars_and_accesses_stand_between_steps() {
        use OpKind::*;
        let steps = [step(2, Lock, 0x10), step(1, Lock, 0x20), step(2, Unlock, 0x10), step(1, Yield, 0)];
        let access =
            |at, text: &str| Between { at, thread: LogicalThread(2), text: text.into(), frame: None };
        let timeline = of(&steps, vec![access(1, "writes `x`"), access(4, "reads `x`")]);
        assert_eq!(timeline.threads, ["T1", "T2"]);
        let told: Vec<_> = timeline.steps.iter().map(|s| (s.thread, s.text.as_str(), s.matters)).collect();
        assert_eq!(
            told,
            [
                (1, "locks L1", false),
                (1, "writes `x`", true),
                (0, "locks L2", true),
                (1, "unlocks L1", false),
                (0, "yields", false),
                (1, "reads `x`", true),
            ]
        );
        let bars: Vec<_> =
            timeline.held.iter().map(|b| (b.lock.as_str(), b.thread, b.from, b.until)).collect();
        assert_eq!(bars, [("L1", 1, 0, Some(3)), ("L2", 0, 2, None)]);
    }

    #[test]
    fn only_the_end_of_a_long_execution_is_told() {
        let mut steps = vec![step(1, OpKind::Lock, 0x10), step(2, OpKind::Lock, 0x20)];
        steps.push(step(1, OpKind::Unlock, 0x10));
        steps.extend((0..STEPS).map(|_| step(2, OpKind::Yield, 0)));
        let timeline = of(&steps, Vec::new());
        assert_eq!((timeline.left_out, timeline.steps.len()), (3, STEPS));
        assert_eq!(timeline.threads, ["T2"]);
        let bars: Vec<_> = timeline.held.iter().map(|b| (b.lock.as_str(), b.from, b.until)).collect();
        assert_eq!(bars, [("L2", 0, None)]);
    }
}
