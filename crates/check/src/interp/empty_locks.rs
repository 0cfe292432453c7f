//! Functions that are named like locks and do nothing.
//!
//! A portable program has a variant for systems without threads, whose functions for locks are
//! empty: `static int mutex_lock(mutex *m) { return 0; }`. If nothing says which system it is, that
//! variant is read. The calls that start threads are still there, but nobody defines what they
//! call. In the variant that is built, both are defined. So if a program starts threads only by
//! functions that nobody defines, its empty functions for locks are taken by their names, too.
//!
//! A program that starts a thread through a known library has what is built, and its empty locks
//! are empty.

use super::named::{Named, named};
use crate::ir::{Function, Instr, Program};

/// For each function whether it is a lock by its name alone. `starts` are the places that start
/// threads.
pub fn empty_locks(program: &Program, starts: &[u32]) -> Vec<bool> {
    let is_unknown_start = |pc: &u32| match program.code.get(*pc as usize) {
        Some(Instr::Call(f, _)) => !program.functions[*f as usize].defined,
        _ => false,
    };
    let lacks_threads = !starts.is_empty() && starts.iter().all(is_unknown_start);
    let is_lock = |f: &Function| {
        lacks_threads && f.defined && !f.builtin && f.params > 0 && does_nothing(program, f) && locks(&f.name)
    };
    program.functions.iter().map(is_lock).collect()
}

fn locks(name: &str) -> bool {
    matches!(named(name), Some(Named::Lock | Named::ReadLock | Named::Unlock))
}

/// Whether a function only returns a constant.
fn does_nothing(program: &Program, f: &Function) -> bool {
    let is_idle = |i: &Instr| {
        matches!(
            i,
            Instr::Nop | Instr::Get(_) | Instr::Drop | Instr::Int(_) | Instr::Conv(..) | Instr::Return
        )
    };
    program.code[f.entry as usize..f.end as usize].iter().all(is_idle)
}
