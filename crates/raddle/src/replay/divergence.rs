//! Where a replay first did otherwise than the schedule says.

use raddle_explore::trace::choice_of;
use raddle_explore::{Step, Trace};

use raddle_harness::describe::steps::Words;
use raddle_harness::places::{Mapped, Places};

/// One sentence on the first step that differs; nothing if none does.
pub fn tell(expected: &[Step], made: &Trace, places: &mut Places, modules: &[Mapped]) -> Option<String> {
    let at = first(expected, made)?;
    let mut side = |steps: &[Step]| {
        let mut words = Words::new(places, modules, steps);
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
    let same = |(a, b): &(&Step, &Step)| {
        let (x, y) = (&a.op, &b.op);
        let op = (x.kind(), x.site, x.object, x.other) == (y.kind(), y.site, y.object, y.other);
        op && a.thread == b.thread && choice_of(a) == choice_of(b)
    };
    let common = expected.iter().zip(&made.steps).take_while(same).count();
    // Where an execution is cut off its last step may not have been recorded; that makes no
    // difference.
    (common < expected.len() || made.steps.len() > expected.len()).then_some(common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{Op, OpKind, Outcome, ThreadId};

    fn steps(kinds: &[(u16, OpKind)]) -> Vec<Step> {
        kinds.iter().map(|(t, kind)| Step::bare(ThreadId(*t), Op::new(*kind, 64, 0))).collect()
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
}
