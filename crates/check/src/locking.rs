//! Conditions that decide whether a lock is taken: `if (pool->is_shared) lock(&pool->lock);`.
//!
//! Where the state of an object is unknown, the object may never go the way without the lock. The
//! interpreter asks this to prefer the way with it.

use crate::interp::named::{Named, named};
use crate::ir::{Bin, Function, Instr, Program, SyncOp};

/// The maximum number of instructions in a function that does little more than lock or unlock, and
/// in the code that a condition guards.
const WRAPPER: u32 = 60;
const LONGEST: u32 = 40;

/// For each function whether it takes a lock that it does not release, the other way round, and
/// whether code or data holds its address.
#[derive(Debug, Default)]
pub struct Locking {
    locks: Vec<bool>,
    unlocks: Vec<bool>,
    address_taken: Vec<bool>,
}

fn addresses_taken(program: &Program) -> Vec<bool> {
    let mut out = vec![false; program.functions.len()];
    let in_code = program.code.iter().filter_map(|i| match i {
        Instr::FuncAddr(f) => Some(*f),
        _ => None,
    });
    let words = program.image.windows(8).chain(program.tls.windows(8));
    let in_data = words.filter_map(|w| program.function_at(u64::from_le_bytes(w.try_into().ok()?)));
    for f in in_code.chain(in_data) {
        out[f as usize] = true;
    }
    out
}

impl Locking {
    pub fn of(program: &Program) -> Self {
        let by_name = |wanted: &[Named]| -> Vec<bool> {
            let says = |name: &str| named(name).is_some_and(|n| wanted.contains(&n));
            program.functions.iter().map(|f| !f.defined && says(&f.name)).collect()
        };
        let mut out = Self {
            locks: by_name(&[Named::Lock, Named::ReadLock]),
            unlocks: by_name(&[Named::Unlock]),
            address_taken: addresses_taken(program),
        };
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

    /// Whether code or data holds the address of a function, so that nobody knows who calls it.
    pub fn is_address_taken(&self, function: u32) -> bool {
        self.address_taken[function as usize]
    }

    /// Whether the instruction takes a lock that stays taken after it.
    pub fn locks_at(&self, program: &Program, pc: u32) -> bool {
        self.any_locks(&program.code[pc as usize..=pc as usize])
    }

    /// Whether the instruction releases a lock that was taken before it.
    pub fn unlocks_at(&self, program: &Program, pc: u32) -> bool {
        self.any_unlocks(&program.code[pc as usize..=pc as usize])
    }

    /// The truth value of the condition at `pc` that leads to a lock which the other one goes
    /// without, if the condition is about the state of an object or about an argument of the entry.
    pub fn side(&self, program: &Program, pc: u32, entry: &Function) -> Option<bool> {
        let (to, side) = match program.code.get(pc as usize)? {
            Instr::JumpIf(to) => (*to, false),
            Instr::JumpIfNot(to) => (*to, true),
            _ => return None,
        };
        if to <= pc || to - pc > LONGEST {
            return None;
        }
        let guarded = program.code.get(pc as usize + 1..to as usize)?;
        // An `else` has its own path, and a loop would never end.
        let is_alone = !matches!(guarded.last()?, Instr::Jump(_))
            && guarded.iter().all(|i| i.jump_target().is_none_or(|t| t > pc));
        // Both sides must meet again: `if (is_shared && lock(m) != 0) return;`.
        let stays = guarded.last().is_some_and(|i| !matches!(i, Instr::Return))
            || guarded.iter().any(|i| i.jump_target().is_some_and(|t| t >= to));
        let locks = is_alone && stays && self.any_locks(guarded) && !self.any_unlocks(guarded);
        (locks && is_about_state(program, pc, entry)).then_some(side)
    }
}

/// Whether the condition at `pc` tests part of an object, a global, or an argument of the entry:
/// `pool->is_shared`, `!is_locked`. A function's result or a variable may be different each time.
fn is_about_state(program: &Program, pc: u32, entry: &Function) -> bool {
    let mut before = program.code[..pc as usize].iter().rev().filter(|i| !matches!(i, Instr::Nop)).peekable();
    let mut loaded = false;
    // Walks back from the condition to the start of what it reads.
    for _ in 0..LONGEST {
        match before.next() {
            Some(Instr::Un(..) | Instr::Conv(..)) if !loaded => {}
            // A comparison with a constant.
            Some(Instr::Bin(Bin::Eq | Bin::Ne | Bin::And, _)) if !loaded => {
                while before.next_if(|i| matches!(i, Instr::Conv(..))).is_some() {}
                if before.next_if(|i| matches!(i, Instr::Int(_) | Instr::Const(_))).is_none() {
                    return false;
                }
            }
            Some(Instr::Load(..) | Instr::LoadBits(..)) => loaded = true,
            Some(Instr::Field(_)) if loaded => {}
            Some(Instr::GlobalAddr(_)) => return loaded,
            Some(Instr::Get(n)) => return loaded || is_argument(program, pc, entry, *n),
            _ => return false,
        }
    }
    false
}

/// Whether a variable is an argument of the entry, used in the entry's own code, and never set.
fn is_argument(program: &Program, pc: u32, entry: &Function, n: u16) -> bool {
    let code = &program.code[entry.entry as usize..entry.end as usize];
    let is_set = code.iter().any(|i| matches!(i, Instr::Set(m) | Instr::Tee(m) if *m == n));
    (entry.entry..entry.end).contains(&pc) && u32::from(n) < entry.params && !is_set
}
