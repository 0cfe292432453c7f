//! Conditions that decide whether a lock is taken: `if (pool->is_shared) lock(&pool->lock);`.
//!
//! Where the state of an object is unknown, the way without the lock is one that the object may
//! never go. The interpreter asks this to prefer the way with it.

use crate::interp::named::{Named, named};
use crate::ir::{Instr, Program, SyncOp};

/// Instructions of a function that does little more than to lock or unlock, and of what a condition
/// guards.
const WRAPPER: u32 = 60;
const LONGEST: u32 = 40;

/// For each function whether it takes a lock that it does not release, and the other way round.
#[derive(Debug, Default)]
pub struct Locking {
    locks: Vec<bool>,
    unlocks: Vec<bool>,
}

impl Locking {
    pub fn of(program: &Program) -> Self {
        let by_name = |wanted: &[Named]| -> Vec<bool> {
            let says = |name: &str| named(name).is_some_and(|n| wanted.contains(&n));
            program.functions.iter().map(|f| !f.defined && says(&f.name)).collect()
        };
        let mut out =
            Self { locks: by_name(&[Named::Lock, Named::ReadLock]), unlocks: by_name(&[Named::Unlock]) };
        // The library's functions first, then wrappers of these, then wrappers of wrappers.
        for _ in 0..3 {
            for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| f.defined) {
                if f.end - f.entry < WRAPPER {
                    let code = &program.code[f.entry as usize..f.end as usize];
                    let (locks, unlocks) = (out.any_locks(code), out.any_unlocks(code));
                    out.locks[i] = locks && !unlocks;
                    out.unlocks[i] = unlocks && !locks;
                }
            }
        }
        out
    }

    fn any_locks(&self, code: &[Instr]) -> bool {
        code.iter().any(|i| match i {
            Instr::Sync(SyncOp::Lock | SyncOp::ReadLock | SyncOp::WriteLock) => true,
            Instr::Call(f, _) => self.locks[*f as usize],
            _ => false,
        })
    }

    fn any_unlocks(&self, code: &[Instr]) -> bool {
        code.iter().any(|i| match i {
            Instr::Sync(SyncOp::Unlock | SyncOp::RwUnlock) => true,
            Instr::Call(f, _) => self.unlocks[*f as usize],
            _ => false,
        })
    }

    /// The truth value of the condition at `pc` that leads to a lock which the other one goes
    /// without.
    pub fn side(&self, program: &Program, pc: u32) -> Option<bool> {
        let (to, side) = match program.code.get(pc as usize)? {
            Instr::JumpIf(to) => (*to, false),
            Instr::JumpIfNot(to) => (*to, true),
            _ => return None,
        };
        if to <= pc || to - pc > LONGEST {
            return None;
        }
        let guarded = program.code.get(pc as usize + 1..to as usize)?;
        // Both sides go on together: `if (is_shared && lock(m) != 0) return;`.
        let stays = guarded.last().is_some_and(|i| !matches!(i, Instr::Return))
            || guarded.iter().any(|i| i.jump_target().is_some_and(|t| t >= to));
        (stays && self.any_locks(guarded) && !self.any_unlocks(guarded)).then_some(side)
    }
}
