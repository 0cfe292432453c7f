//! The control-flow graph of a function, and what is computed from it.
//!
//! The interpreter needs no graph to run, but two things do. One is the check that the operand
//! stack is balanced on all paths: a front end's mistake must not become a panic of the
//! interpreter. The other is the choice of entries, which asks what a function can reach.

use std::ops::Range;

use super::{Instr, SwitchTable, UnitFunction};

/// A basic block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BasicBlock {
    pub range: Range<u32>,
    /// Indices of the blocks that may follow.
    pub next: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cfg {
    pub blocks: Vec<BasicBlock>,
}

impl Cfg {
    pub fn of(code: &[Instr], switches: &[SwitchTable]) -> Self {
        let starts = leaders(code, switches);
        let block_at = |pc: u32| starts.partition_point(|s| *s <= pc) as u32 - 1;
        let blocks = starts
            .iter()
            .enumerate()
            .map(|(i, start)| {
                let end = starts.get(i + 1).copied().unwrap_or(code.len() as u32);
                let next = successors(code, switches, end - 1).into_iter().map(block_at).collect();
                BasicBlock { range: *start..end, next }
            })
            .collect();
        Self { blocks }
    }
}

fn leaders(code: &[Instr], switches: &[SwitchTable]) -> Vec<u32> {
    let mut is_leader = vec![false; code.len() + 1];
    is_leader[0] = true;
    for (pc, instr) in code.iter().enumerate() {
        let jumps = instr.jump_target().is_some() || instr.ends_block();
        if jumps {
            is_leader[pc + 1] = true;
            successors(code, switches, pc as u32).into_iter().for_each(|t| is_leader[t as usize] = true);
        }
    }
    (0..code.len() as u32).filter(|pc| is_leader[*pc as usize]).collect()
}

/// The instructions that may follow the one at `pc`; targets outside the code are left out.
pub fn successors(code: &[Instr], switches: &[SwitchTable], pc: u32) -> Vec<u32> {
    let instr = code[pc as usize];
    let mut next = Vec::new();
    next.extend(instr.jump_target());
    if let Instr::Switch(t) = instr
        && let Some(table) = switches.get(t as usize)
    {
        next.push(table.default);
        next.extend(table.cases.iter().map(|c| c.2));
    }
    if !instr.ends_block() {
        next.push(pc + 1);
    }
    next.retain(|t| (*t as usize) < code.len());
    next.sort_unstable();
    next.dedup();
    next
}

/// Why a function cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// An instruction pops from an empty stack.
    Underflow { pc: u32 },
    /// Two paths reach an instruction with different depths.
    Unbalanced { pc: u32 },
    /// A jump, local or table that does not exist.
    OutOfRange { pc: u32 },
    /// The code runs off its end.
    NoReturn,
}

/// The maximum depth of the operand stack, or why the function is malformed.
pub fn verify(f: &UnitFunction) -> Result<u32, Malformed> {
    let code = &f.code;
    if !code.last().is_some_and(|i| i.ends_block()) {
        return Err(Malformed::NoReturn);
    }
    let mut depth_at: Vec<Option<u32>> = vec![None; code.len()];
    let mut todo = vec![(0u32, 0u32)];
    // A handler begins with the exception on the stack.
    for h in &f.handlers {
        if h.target as usize >= code.len() {
            return Err(Malformed::OutOfRange { pc: h.target });
        }
        todo.push((h.target, 1));
    }
    let mut deepest = 0;
    while let Some((pc, depth)) = todo.pop() {
        match depth_at[pc as usize] {
            Some(known) if known == depth => continue,
            Some(_) => return Err(Malformed::Unbalanced { pc }),
            None => depth_at[pc as usize] = Some(depth),
        }
        let instr = code[pc as usize];
        operands_exist(f, pc, instr)?;
        let (pops, pushes) = instr.effect();
        let after = depth.checked_sub(pops).ok_or(Malformed::Underflow { pc })? + pushes;
        deepest = deepest.max(after);
        todo.extend(successors(code, &f.switches, pc).into_iter().map(|t| (t, after)));
    }
    Ok(deepest)
}

fn operands_exist(f: &UnitFunction, pc: u32, instr: Instr) -> Result<(), Malformed> {
    let in_code = |t: u32| (t as usize) < f.code.len();
    let fine = match instr {
        Instr::Jump(t) | Instr::JumpIf(t) | Instr::JumpIfNot(t) => in_code(t),
        Instr::Get(n) | Instr::Set(n) | Instr::Tee(n) => u32::from(n) < f.locals,
        Instr::Await(n) => n == u16::MAX || u32::from(n) < f.locals,
        Instr::Switch(t) => f
            .switches
            .get(t as usize)
            .is_some_and(|s| in_code(s.default) && s.cases.iter().all(|c| in_code(c.2))),
        _ => true,
    };
    if fine { Ok(()) } else { Err(Malformed::OutOfRange { pc }) }
}

#[cfg(test)]
mod tests {
    use super::super::{Bin, Linkage, Pos, Scalar, build::Builder};
    use super::*;

    fn diamond() -> UnitFunction {
        let mut b = Builder::default();
        let (other, end) = (b.label(), b.label());
        b.emit(Instr::Int(1));
        b.jump_if(other);
        b.emit(Instr::Int(2));
        b.jump(end);
        b.place(other);
        b.emit(Instr::Int(3));
        b.place(end);
        b.emit(Instr::Return);
        b.finish("f".into(), Linkage::External, Pos::default())
    }

    #[test]
    fn a_diamond_has_four_blocks_and_the_dead_tail() {
        let f = diamond();
        let cfg = Cfg::of(&f.code, &f.switches);
        assert_eq!(cfg.blocks.len(), 5);
        assert_eq!(cfg.blocks[0].next, [1, 2]);
        assert_eq!(cfg.blocks[1].next, [3]);
        assert_eq!(cfg.blocks[2].next, [3]);
        assert!(cfg.blocks[3].next.is_empty());
        assert_eq!(verify(&f), Ok(1));
    }

    #[test]
    fn underflow_and_imbalance_are_rejected() {
        let mut f = diamond();
        f.code[0] = Instr::Bin(Bin::Add, Scalar::I32);
        assert_eq!(verify(&f), Err(Malformed::Underflow { pc: 0 }));
        let mut f = diamond();
        f.code[2] = Instr::Nop;
        assert!(matches!(verify(&f), Err(Malformed::Unbalanced { .. } | Malformed::Underflow { .. })));
        let mut f = diamond();
        f.code[2] = Instr::Get(7);
        assert_eq!(verify(&f), Err(Malformed::OutOfRange { pc: 2 }));
    }
}
