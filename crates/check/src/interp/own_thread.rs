//! A function that joins a thread, unless it is the calling thread's own.
//!
//! `if (thread == current_thread()) return ERROR;` in a function that joins is about threads that
//! end themselves, and `if (!pthread_equal(id, no_thread)) pthread_join(id, 0);` about ones that were
//! never started. Where the other value is unknown, the two could be the same, and the caller would
//! go on without the join. They are taken to differ.
//!
//! The condition must be `pthread_equal` or `thrd_equal`, or, in a function whose name says that it
//! joins, a comparison with what a function returns whose name says that it is the current thread. It
//! must stand outside of a loop and decide whether the function comes to a join at all.

use super::handle_room::start_of_value;
use super::named::{Named, named, words};
use crate::ir::{Bin, Function, Instr, Program, SyncOp, Un};

/// For each instruction that decides whether a thread is joined, by whether it is the thread
/// itself: the truth value of the condition if it is another one.
pub fn joins_of_others(program: &Program) -> rustc_hash::FxHashMap<u32, bool> {
    let own = program.functions.iter().filter(|f| f.defined && !f.builtin);
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
    // The condition holds on one of the sides: `==` on that of the thread itself.
    let equal_is_true = compares_threads(program, f, pc)?;
    let in_loop = (pc..f.end).any(|at| program.code[at as usize].jump_target().is_some_and(|t| t <= pc));
    if in_loop || to <= pc {
        return None;
    }
    let (if_true, if_false) = if when { (to, pc + 1) } else { (pc + 1, to) };
    let joins = |from| comes_to_a_join(program, f, from);
    match (joins(if_true), joins(if_false)) {
        (true, false) if !equal_is_true => Some(true),
        (false, true) if equal_is_true => Some(false),
        _ => None,
    }
}

/// Whether the condition at `pc` compares threads: true if it holds for equal ones.
fn compares_threads(program: &Program, f: &Function, pc: u32) -> Option<bool> {
    let code = &program.code[f.entry as usize..pc as usize];
    let at = code.iter().rposition(is_value)?;
    match code[at] {
        Instr::Un(Un::IsZero, _) => is_thread_equal(program, &code[..at]).then_some(false),
        Instr::Un(Un::Truth, _) => is_thread_equal(program, &code[..at]).then_some(true),
        Instr::Call(..) => is_thread_equal(program, code).then_some(true),
        _ if says_join(&f.name) => compares_with_own_thread(program, code),
        _ => None,
    }
}

fn is_thread_equal(program: &Program, code: &[Instr]) -> bool {
    match code.iter().rfind(|i| is_value(i)) {
        Some(Instr::Call(f, _)) => {
            matches!(&*program.functions[*f as usize].name, "pthread_equal" | "thrd_equal")
        }
        _ => false,
    }
}

/// Whether the code ends with a comparison with the current thread: true for `==`, false for `!=`.
fn compares_with_own_thread(program: &Program, code: &[Instr]) -> Option<bool> {
    let at = code.iter().rposition(is_value)?;
    let is_equal = match code[at] {
        Instr::Bin(Bin::Eq, _) => true,
        Instr::Bin(Bin::Ne, _) => false,
        _ => return None,
    };
    let second = start_of_value(&code[..at])?;
    let first = start_of_value(&code[..second])?;
    let is_own = |code: &[Instr]| match code.iter().rfind(|i| is_value(i)) {
        Some(Instr::Call(f, _)) => names_own_thread(&program.functions[*f as usize].name),
        _ => false,
    };
    (is_own(&code[first..second]) || is_own(&code[second..at])).then_some(is_equal)
}

fn is_value(i: &Instr) -> bool {
    !matches!(i, Instr::Conv(..) | Instr::Nop)
}

/// `pj_thread_this`, `g_thread_self`, `GetCurrentThread`.
fn names_own_thread(name: &str) -> bool {
    let words = words(name);
    let any = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    any(&["thread", "pthread", "thrd"]) && any(&["this", "self", "current", "own"])
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
