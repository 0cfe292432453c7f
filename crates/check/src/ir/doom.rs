//! Finds code that leads to the end of the program or thread on every path: usage messages, fatal
//! errors.
//!
//! A branch on an unknown value would send every second run there, and a long `main` checks its
//! input dozens of times before it starts a thread. The interpreter uses this to prefer the other
//! side.

use super::{Function, Instr, Intrinsic, Program, SyncOp, cfg};

/// For each instruction of a program, where all paths from it lead.
#[derive(Debug, Default)]
pub struct Doom {
    /// To the end of the program or thread.
    pub ends: Vec<bool>,
    /// To that end, or to an exception that the function does not handle.
    pub throws: Vec<bool>,
}

impl Doom {
    pub fn of(program: &Program) -> Self {
        let ends = doomed(program, false);
        let can_throw = program.code.contains(&Instr::Throw);
        let throws = if can_throw { doomed(program, true) } else { ends.clone() };
        Self { ends, throws }
    }
}

fn doomed(program: &Program, by_exception: bool) -> Vec<bool> {
    let mut doomed = vec![false; program.code.len()];
    let mut noreturn = vec![false; program.functions.len()];
    // A function that never returns dooms every call of it. A few rounds reach nearly all callers.
    for _ in 0..6 {
        let mut changed = false;
        for (i, f) in program.functions.iter().enumerate().filter(|(_, f)| f.defined) {
            if noreturn[i] {
                continue;
            }
            changed |= doom_function(program, f, by_exception, &noreturn, &mut doomed);
            noreturn[i] = doomed[f.entry as usize];
            changed |= noreturn[i];
        }
        if !changed {
            break;
        }
    }
    doomed
}

/// Propagates through one function, backwards until nothing changes.
fn doom_function(
    program: &Program,
    f: &Function,
    by_exception: bool,
    noreturn: &[bool],
    doomed: &mut [bool],
) -> bool {
    let is_main = &*f.name == "main";
    let leaves = |pc: u32| !f.handlers.iter().any(|h| h.start <= pc && pc < h.end);
    let ends = |pc: u32| match program.code[pc as usize] {
        // A jump out of a function is for errors, too.
        Instr::Sync(SyncOp::ExitProcess | SyncOp::ExitThread | SyncOp::Jump) => true,
        Instr::Intrinsic(Intrinsic::Assume) => pc > 0 && program.code[pc as usize - 1] == Instr::Int(0),
        Instr::Throw => by_exception && leaves(pc),
        Instr::Call(callee, _) => noreturn[callee as usize] && (!by_exception || leaves(pc)),
        // `return 1;` in `main`
        Instr::Return => {
            is_main && pc > 0 && matches!(program.code[pc as usize - 1], Instr::Int(n) if n != 0)
        }
        _ => false,
    };
    let mut any = false;
    loop {
        let mut changed = false;
        for pc in (f.entry..f.end).rev() {
            if doomed[pc as usize] {
                continue;
            }
            let instr = program.code[pc as usize];
            let plain =
                instr.jump_target().is_none() && !instr.ends_block() && !matches!(instr, Instr::Switch(_));
            let onwards = if plain {
                doomed.get(pc as usize + 1).copied().unwrap_or(false)
            } else {
                let next = cfg::successors(&program.code, &program.switches, pc);
                !next.is_empty() && next.iter().all(|n| doomed[*n as usize])
            };
            if ends(pc) || onwards {
                doomed[pc as usize] = true;
                changed = true;
            }
        }
        any |= changed;
        if !changed {
            return any;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Linkage, Pos, SymbolRef, Unit, build::Builder, link};
    use super::*;

    #[test]
    fn the_side_that_ends_the_program_is_found_through_a_call() {
        let mut die = Builder::default();
        die.emit(Instr::Int(1));
        die.emit(Instr::Sync(SyncOp::ExitProcess));
        die.emit(Instr::Return);
        let mut f = Builder::default();
        let bad = f.label();
        f.emit(Instr::Unknown);
        f.jump_if(bad);
        f.emit(Instr::Int(0));
        f.emit(Instr::Return);
        f.place(bad);
        f.emit(Instr::Call(0, 0));
        f.emit(Instr::Return);
        let unit = Unit {
            functions: vec![
                f.finish("f".into(), Linkage::External, Pos::default()),
                die.finish("die".into(), Linkage::External, Pos::default()),
            ],
            symbols: vec![SymbolRef::OwnFunction(1)],
            ..Unit::default()
        };
        let p = link::link(&[&unit]);
        let d = Doom::of(&p).ends;
        let entry = p.functions[0].entry as usize;
        assert!(!d[entry] && !d[entry + 2], "the way that returns");
        assert!(d[entry + 4], "the way that does not");
    }
}
