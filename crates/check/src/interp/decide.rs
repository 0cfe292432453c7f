//! Branches on unknowns: which side is wanted, and which can be taken.

use super::Machine;
use super::value::{is_unknown, number};
use super::witness::ConditionStatus;
use crate::ir::{Bin, Instr, Program, Scalar, SwitchTable};

/// A switch with more cases than this follows its value's witness, and assumes that case alone.
const MOST_CASES: usize = 64;

/// Before there are threads, one in this many branches on an unknown takes a side that throws.
const SELDOM: u64 = 12;

impl Machine<'_> {
    /// Decides a branch on an unknown, consistently with everything the run has assumed.
    #[cold]
    pub(super) fn decide(&mut self, ti: usize, unknown: u64, pc: u32) -> bool {
        self.approximate = true;
        let taken = match self.decide_as_before(ti, unknown, pc) {
            Some(taken) => taken,
            None => self.decide_anew(unknown, pc),
        };
        self.knowledge.sides.entry(pc).or_default()[usize::from(taken)] += 1;
        taken
    }

    fn decide_anew(&mut self, unknown: u64, pc: u32) -> bool {
        let (name, negated) = self.witness.strip(unknown);
        let truth = match self.witness.standing(name) {
            // An element of an object is not null, wherever it lies.
            _ if self.witness.is_in_object(name) => true,
            ConditionStatus::Decided(truth) => truth,
            ConditionStatus::Overdue(truth) => {
                self.witness.forget(name);
                self.witness.assume(name, !truth)
            }
            ConditionStatus::Open => {
                let wanted = self.wanted_side(pc) != negated;
                self.witness.assume(name, wanted)
            }
        };
        truth != negated
    }

    /// Usually the side that was taken less often, so that the runs cover both. It avoids the side
    /// that ends the program. Until a thread runs, it seldom takes the side that throws, because
    /// callers mostly pass valid arguments.
    pub(super) fn wanted_side(&mut self, pc: u32) -> bool {
        let alone = self.threads.len() == 1;
        // If earlier code made the object, it may never be used without its lock.
        let entry = &self.program.functions[self.start.function as usize];
        if self.is_state_unknown()
            && let Some(side) = self.locking.side(self.program, pc, entry)
        {
            return side;
        }
        if let Some(side) = self.joins_of_others.get(&pc) {
            return *side;
        }
        // Until a thread runs, there is nothing to see on any other path.
        if alone
            && let Some(side) = self.route.as_ref().and_then(|r| r.side(self.program, pc))
            && self.rng.below(16) > 0
        {
            return side;
        }
        let ends = self.doomed_side(pc, &self.doom.ends).map(|side| (side, 256));
        let throws = || self.doomed_side(pc, &self.doom.throws).map(|side| (side, SELDOM));
        let avoided = ends.or_else(|| alone.then(throws).flatten());
        let sides = self.knowledge.sides.entry(pc).or_default();
        match avoided {
            Some((side, of)) if self.rng.below(of) > 0 => !side,
            _ if sides[0] == sides[1] || self.rng.below(4) == 0 => self.rng.below(2) == 1,
            _ => sides[1] < sides[0],
        }
    }

    /// Whether code that was not run may have made the state that the entry finds. The state is
    /// fully known for `main` and for the entries that a front end has prepared.
    pub(super) fn is_state_unknown(&self) -> bool {
        let is_prepared = !self.program.classes.all.is_empty();
        let is_main = &*self.program.functions[self.start.function as usize].name == "main";
        self.start.in_the_middle || !is_prepared && !is_main
    }

    /// The truth value of the condition at `pc` that leads to a doomed place, if exactly one does.
    fn doomed_side(&self, pc: u32, doomed: &[bool]) -> Option<bool> {
        let (to, when) = jump_of(self.program, pc)?;
        match (doomed[to as usize], doomed[pc as usize + 1]) {
            (true, false) => Some(when),
            (false, true) => Some(!when),
            _ => None,
        }
    }

    /// The target of a switch.
    pub(super) fn switch_target(&mut self, ti: usize, table: &SwitchTable, v: u64) -> u32 {
        let v = if is_unknown(v) { self.switched_as_before(ti, table, v) } else { v };
        if is_unknown(v) {
            self.choose_case(table, v);
        }
        let v = (if is_unknown(v) { self.witness.value_of(number(v)) } else { v }) as i64;
        table.cases.iter().find(|(lo, hi, _)| *lo <= v && v <= *hi).map_or(table.default, |c| c.2)
    }

    /// Makes an unknown take a random case of a switch, and assumes that it does.
    fn choose_case(&mut self, table: &SwitchTable, v: u64) {
        self.approximate = true;
        let name = number(v);
        if let ConditionStatus::Overdue(_) = self.witness.standing(name) {
            self.witness.forget(name);
        }
        let n = table.cases.len();
        // One more for the default.
        if let Some((lo, ..)) = table.cases.get(self.rng.below(n as u64 + 1) as usize) {
            let wanted = self.bin(Bin::Eq, Scalar::I64, v, *lo as u64);
            self.assume_if_possible(wanted);
        } else if n <= MOST_CASES {
            for case in &table.cases {
                let other = self.outside(v, *case);
                self.assume_if_possible(other);
            }
        }
        let now = self.witness.value_of(name) as i64;
        match table.cases.iter().find(|(lo, hi, _)| *lo <= now && now <= *hi) {
            Some((lo, hi, _)) if lo == hi => {
                let same = self.bin(Bin::Eq, Scalar::I64, v, *lo as u64);
                self.assume_if_possible(same);
            }
            Some((lo, hi, _)) => {
                let above = self.bin(Bin::Ge, Scalar::I64, v, *lo as u64);
                let below = self.bin(Bin::Le, Scalar::I64, v, *hi as u64);
                self.assume_if_possible(above);
                self.assume_if_possible(below);
            }
            None => {
                for case in table.cases.iter().take(MOST_CASES) {
                    let other = self.outside(v, *case);
                    self.assume_if_possible(other);
                }
            }
        }
    }

    /// The condition that a value does not match a case.
    fn outside(&mut self, v: u64, (lo, hi, _): (i64, i64, u32)) -> u64 {
        if lo == hi {
            return self.bin(Bin::Ne, Scalar::I64, v, lo as u64);
        }
        let below = self.bin(Bin::Lt, Scalar::I64, v, lo as u64);
        let above = self.bin(Bin::Gt, Scalar::I64, v, hi as u64);
        self.bin(Bin::Or, Scalar::I64, below, above)
    }

    /// Assumes a condition if possible. Returns whether it then holds.
    pub(super) fn assume_if_possible(&mut self, condition: u64) -> bool {
        if !is_unknown(condition) {
            return condition != 0;
        }
        let (name, negated) = self.witness.strip(condition);
        self.witness.assume(name, !negated) != negated
    }
}

/// Where a conditional jump leads, and the truth value with which it jumps.
pub(super) fn jump_of(program: &Program, pc: u32) -> Option<(u32, bool)> {
    match program.code.get(pc as usize)? {
        Instr::JumpIf(to) => Some((*to, true)),
        Instr::JumpIfNot(to) => Some((*to, false)),
        _ => None,
    }
}
