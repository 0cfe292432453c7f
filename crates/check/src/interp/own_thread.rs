//! A function that joins a thread, unless it is the calling thread's own.
//!
//! `if (thread == current_thread()) return ERROR;` at the beginning of such a function is about
//! threads that end themselves. Where the current thread is unknown, the two could be the same, and
//! the thread that ends another one would go on without the join. They are taken to differ.
//!
//! The condition must compare two values, neither a constant, outside of a loop, and decide whether
//! the function comes to a join at all. The function's name must say that it joins.

use super::named::{Named, named};
use crate::ir::{Bin, Function, Instr, Program, SyncOp};

/// For each instruction that decides whether a thread is joined, by whether it is the thread
/// itself: the truth value of the condition if it is another one.
pub fn joins_of_others(program: &Program) -> rustc_hash::FxHashMap<u32, bool> {
    let own = program.functions.iter().filter(|f| f.defined && !f.builtin && says_join(&f.name));
    own.flat_map(|f| (f.entry..f.end).filter_map(|pc| Some((pc, side_of_others(program, f, pc)?)))).collect()
}

fn says_join(name: &str) -> bool {
    named(name) == Some(Named::Joins)
}

fn side_of_others(program: &Program, f: &Function, pc: u32) -> Option<bool> {
    let (to, when) = match program.code.get(pc as usize)? {
        Instr::JumpIf(to) => (*to, true),
        Instr::JumpIfNot(to) => (*to, false),
        _ => return None,
    };
    let in_loop = (pc..f.end).any(|at| program.code[at as usize].jump_target().is_some_and(|t| t <= pc));
    if in_loop || to <= pc {
        return None;
    }
    // The condition holds on one of the sides: `==` on that of the thread itself.
    let equal_is_true = compares_two_values(&program.code[f.entry as usize..pc as usize])?;
    let (if_true, if_false) = if when { (to, pc + 1) } else { (pc + 1, to) };
    let joins = |from| comes_to_a_join(program, f, from);
    match (joins(if_true), joins(if_false)) {
        (true, false) if !equal_is_true => Some(true),
        (false, true) if equal_is_true => Some(false),
        _ => None,
    }
}

/// Whether the code ends with a comparison of two values, neither of which is a constant: true for
/// `==`, false for `!=`.
fn compares_two_values(code: &[Instr]) -> Option<bool> {
    let before = |code: &[Instr]| code.iter().rposition(|i| !matches!(i, Instr::Conv(..) | Instr::Nop));
    let at = before(code)?;
    let is_equal = match code[at] {
        Instr::Bin(Bin::Eq, _) => true,
        Instr::Bin(Bin::Ne, _) => false,
        _ => return None,
    };
    let second = super::handle_room::start_of_value(&code[..at])?;
    let first = super::handle_room::start_of_value(&code[..second])?;
    let is_constant =
        |code: &[Instr]| code.iter().all(|i| matches!(i, Instr::Int(_) | Instr::Const(_) | Instr::Conv(..)));
    (!is_constant(&code[first..second]) && !is_constant(&code[second..at])).then_some(is_equal)
}

/// Whether a join follows in the function, on some way from `from`.
fn comes_to_a_join(program: &Program, f: &Function, from: u32) -> bool {
    let mut seen = vec![false; (f.end - f.entry) as usize];
    let mut open = vec![from];
    while let Some(pc) = open.pop() {
        if !(f.entry..f.end).contains(&pc) || std::mem::replace(&mut seen[(pc - f.entry) as usize], true) {
            continue;
        }
        let instr = program.code[pc as usize];
        match instr {
            Instr::Sync(SyncOp::Join) => return true,
            Instr::Call(g, _) if says_join(&program.functions[g as usize].name) => return true,
            Instr::Switch(_) => return true,
            Instr::Return | Instr::Throw => continue,
            _ => {}
        }
        open.extend(instr.jump_target());
        if !matches!(instr, Instr::Jump(_)) {
            open.push(pc + 1);
        }
    }
    false
}
