//! Where a replay first differs from the schedule.

use std::collections::HashMap;

use raddle_explore::trace::choice_of;
use raddle_explore::{Step, Trace};

use raddle_harness::describe::steps::StepWords;
use raddle_harness::places::{Mapped, Places};

/// A sentence about the first step that differs; `None` if no step does.
pub fn tell(expected: &[Step], made: &Trace, places: &mut Places, modules: &[Mapped]) -> Option<String> {
    let at = first(expected, made)?;
    let mut side = |steps: &[Step]| {
        let mut words = StepWords::new(places, modules, steps);
        match steps.get(at) {
            Some(step) => {
                let place = words.place(&step.op).map_or(String::new(), |p| format!(" ({p})"));
                format!("{} {}{place}", words.thread(step.thread), words.step(step))
            }
            None => "the end".into(),
        }
    };
    let (was, is) = (side(expected), side(&made.steps));
    Some(format!(
        "the replay left the schedule at step {}: expected was \"{was}\", what came was \"{is}\"",
        at + 1
    ))
}

fn first(expected: &[Step], made: &Trace) -> Option<usize> {
    let mut moved = Moved::default();
    let same = |(a, b): &(&Step, &Step)| {
        let (x, y) = (&a.op, &b.op);
        let op = (x.kind(), x.site) == (y.kind(), y.site);
        let objects = moved.same(x.object, y.object) && moved.same(x.other, y.other);
        op && objects && a.thread == b.thread && choice_of(a) == choice_of(b)
    };
    let common = expected.iter().zip(&made.steps).take_while(same).count();
    // If an execution is cut off, its last step may not have been recorded. That makes no
    // difference.
    (common < expected.len() || made.steps.len() > expected.len()).then_some(common)
}

/// The stack of the first thread, in an address space without randomisation.
///
/// The arguments and the environment lie above the frames, so a longer variable moves the locals of
/// `main`: the same local has another address in the replay.
const FIRST_STACK: std::ops::Range<u64> = 0x7fff_f800_0000..0x8000_0000_0000;

/// Which addresses of the first stack correspond to each other in two executions.
#[derive(Default)]
struct Moved {
    there: HashMap<u64, u64>,
    back: HashMap<u64, u64>,
}

impl Moved {
    fn same(&mut self, expected: u64, made: u64) -> bool {
        if !(FIRST_STACK.contains(&expected) && FIRST_STACK.contains(&made)) {
            return expected == made;
        }
        let there = *self.there.entry(expected).or_insert(made);
        let back = *self.back.entry(made).or_insert(expected);
        there == made && back == expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{LogicalThread, Op, OpKind, Outcome};

    fn steps(kinds: &[(u16, OpKind)]) -> Vec<Step> {
        kinds.iter().map(|(t, kind)| Step::bare(LogicalThread(*t), Op::new(*kind, 64, 0))).collect()
    }

    fn told(expected: &[(u16, OpKind)], made: &[(u16, OpKind)]) -> Option<String> {
        let made = Trace { steps: steps(made), wide: vec![], outcome: Outcome::Passed, divergence: None };
        tell(&steps(expected), &made, &mut Places::new(), &[])
    }

    #[test]
    fn the_first_step_that_differs_is_named() {
        use OpKind::*;
        assert_eq!(told(&[(1, Lock), (2, Lock)], &[(1, Lock), (2, Lock)]), None);
        assert_eq!(
            told(&[(1, Lock), (2, Lock)], &[(1, Lock), (1, Unlock)]).unwrap(),
            "the replay left the schedule at step 2: expected was \"T2 locks L1\", what came was \"T1 unlocks L1\""
        );
        let short = told(&[(1, Lock), (1, Unlock)], &[(1, Lock)]).unwrap();
        assert!(short.ends_with("expected was \"T1 unlocks L1\", what came was \"the end\""), "{short}");
    }

    #[test]
    fn locals_of_main_may_lie_elsewhere_but_stay_apart() {
        let reads = |objects: &[u64]| -> Vec<Step> {
            let read = |o: &u64| Step::bare(LogicalThread(0), Op::new(OpKind::DataRead, *o, 0));
            objects.iter().map(read).collect()
        };
        let differs = |expected: &[u64], made: &[u64]| {
            let made = Trace { steps: reads(made), wide: vec![], outcome: Outcome::Passed, divergence: None };
            first(&reads(expected), &made)
        };
        let (a, b) = (0x7fff_ffff_e518, 0x7fff_ffff_e520);
        assert_eq!(differs(&[a, b, a], &[a - 16, b - 16, a - 16]), None);
        assert_eq!(differs(&[a, b, a], &[a - 16, b - 16, b - 16]), Some(2));
        assert_eq!(differs(&[a, b], &[a - 16, a - 16]), Some(1), "two locals became one");
        assert_eq!(differs(&[0x7a00_0000_0020], &[0x7a00_0000_0030]), Some(0), "the heap does not move");
        assert_eq!(differs(&[a], &[0x7a00_0000_0030]), Some(0));
    }
}
