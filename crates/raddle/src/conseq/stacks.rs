//! The call stacks of the suspects' accesses.
//!
//! A trace has only the innermost place of each access: unwinding at each of millions would cost
//! more than everything else. For the report, the plain executions are repeated with the accesses
//! in question as steps, and each step records its call stack.

use std::collections::HashMap;
use std::time::Instant;

use raddle_conseq::suspects::{Instead, Suspect};
use raddle_explore::{Next, Order, Tail};
use raddle_wire::explore::{Stack, flag};

use raddle_harness::crew::{Crew, Notes};
use raddle_harness::watch::Watch;
use raddle_harness::worker::Recipe;

/// By thread and place, innermost first. The first stack seen counts.
#[derive(Default)]
pub struct Stacks(HashMap<(u16, u32), Vec<u64>>);

impl Stacks {
    /// The points of `recipe` are the accesses. What cannot be executed in time is left out.
    pub fn of(recipe: &Recipe, deadline: Instant, notes: &Notes) -> Stacks {
        let mut stacks = Stacks::default();
        let flags = recipe.flags | flag::STACKS;
        let is_over = || Instant::now() >= deadline || raddle_harness::interrupt::came();
        let recipe = Recipe { slots: 1, flags, watch: Watch::default(), ..recipe.clone() };
        let mut crew = Crew::new(recipe, notes, &is_over);
        for next in [Next::Lowest, Next::Highest, Next::Round] {
            if is_over() {
                break;
            }
            crew.post(Order::free(0, Tail::NonPreemptive { next }));
            let turn = crew.turn(&mut |_, e| {
                for (step, stack) in e.steps.iter().zip(e.stacks) {
                    stacks.add(step.thread.0, step.op.site, stack);
                }
            });
            if turn.is_err() {
                break;
            }
        }
        crew.stop();
        stacks
    }

    /// Adds the stacks of a suspect's read and of its write or release, from an ordinary run.
    pub fn keep(&mut self, s: &Suspect, [read, write]: [Vec<u64>; 2]) {
        let other = match s.instead {
            Instead::Write(point) | Instead::Freed(point) => Some(point),
            Instead::Initial => None,
        };
        for (point, stack) in [(Some(s.read), read), (other, write)] {
            if let (Some(point), false) = (point, stack.is_empty()) {
                self.0.entry((point.thread(), point.site)).or_insert(stack);
            }
        }
    }

    fn add(&mut self, thread: u16, site: u32, stack: &Stack) {
        let callers = || stack.iter().copied().take_while(|pc| *pc != 0).collect::<Vec<u64>>();
        self.0.entry((thread, site)).or_insert_with(callers);
    }

    /// The program counters of the access at `pc`: its own, and those of its callers as far as they
    /// are known.
    pub fn at(&self, thread: u16, site: u32, pc: u64) -> Vec<u64> {
        match self.0.get(&(thread, site)) {
            // Which entry is the access itself depends on how the step was made.
            Some(stack) => match stack.iter().position(|at| *at == pc) {
                Some(own) => stack[own..].to_vec(),
                None => vec![pc],
            },
            None => vec![pc],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stack_of_a_place_is_kept_from_the_access_on() {
        let mut stacks = Stacks::default();
        let stack = |pcs: &[u64]| {
            let mut stack = Stack::default();
            stack[..pcs.len()].copy_from_slice(pcs);
            stack
        };
        stacks.add(1, 0x20, &stack(&[7, 0x1_0000_0020, 8, 9]));
        stacks.add(1, 0x20, &stack(&[0x1_0000_0020, 5]));
        assert_eq!(stacks.at(1, 0x20, 0x1_0000_0020), [0x1_0000_0020, 8, 9]);
        assert_eq!(stacks.at(2, 0x20, 0x1_0000_0020), [0x1_0000_0020], "another thread");
        assert_eq!(stacks.at(1, 0x20, 0x30), [0x30], "not on the stack");
    }
}
