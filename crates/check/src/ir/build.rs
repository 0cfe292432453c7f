//! A builder for one function's code: labels, patches, places.

use std::sync::Arc;

use super::{Handler, Instr, Linkage, MemberId, Pos, SwitchTable, UnitFunction};

/// A jump target that may not be known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(u32);

const UNPLACED: u32 = u32::MAX;

#[derive(Debug, Default)]
pub struct Builder {
    pub code: Vec<Instr>,
    pos_of: Vec<Pos>,
    /// The position of each label. Jumps hold label numbers until [`Builder::finish`].
    labels: Vec<u32>,
    switches: Vec<SwitchTable>,
    /// Start, end and target of each handler, as labels.
    handlers: Vec<[Label; 3]>,
    members: Vec<(u32, MemberId)>,
    pub locals: u32,
    pub frame_size: u32,
    /// The source position of the instructions emitted next.
    pub pos: Pos,
}

impl Builder {
    pub fn at(pos: Pos) -> Self {
        Self { pos, ..Self::default() }
    }

    pub fn emit(&mut self, instr: Instr) {
        self.code.push(instr);
        self.pos_of.push(self.pos);
    }

    /// Notes that the top of the stack is now the address of a member.
    pub fn is_member(&mut self, member: MemberId) {
        self.members.push((self.code.len() as u32, member));
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(UNPLACED);
        Label(self.labels.len() as u32 - 1)
    }

    pub fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.code.len() as u32;
    }

    pub fn jump(&mut self, label: Label) {
        self.emit(Instr::Jump(label.0));
    }

    pub fn jump_if(&mut self, label: Label) {
        self.emit(Instr::JumpIf(label.0));
    }

    pub fn jump_if_not(&mut self, label: Label) {
        self.emit(Instr::JumpIfNot(label.0));
    }

    pub fn switch(&mut self, cases: Vec<(i64, i64, Label)>, default: Label) {
        let cases = cases.into_iter().map(|(lo, hi, l)| (lo, hi, l.0)).collect();
        self.switches.push(SwitchTable { cases, default: default.0 });
        self.emit(Instr::Switch(self.switches.len() as u32 - 1));
    }

    /// An exception thrown between two labels continues at a third. Inner handlers come first.
    pub fn handle(&mut self, start: Label, end: Label, target: Label) {
        self.handlers.push([start, end, target]);
    }

    /// Allocates a local. `None` if the function has more than the instruction format can name.
    pub fn local(&mut self) -> Option<u16> {
        let slot = u16::try_from(self.locals).ok()?;
        self.locals += 1;
        Some(slot)
    }

    /// Allocates frame memory, aligned to 8 so that no two variables share a granule of the access
    /// history.
    pub fn frame(&mut self, size: u64) -> u32 {
        let at = self.frame_size;
        let size = u32::try_from(size.next_multiple_of(8)).unwrap_or(u32::MAX / 4);
        self.frame_size = at.saturating_add(size.max(8)).min(1 << 28);
        at
    }

    /// True if control cannot reach the end of the code so far.
    pub fn ends_block(&self) -> bool {
        let end = self.code.len() as u32;
        self.code.last().is_some_and(|i| i.ends_block()) && !self.labels.contains(&end)
    }

    pub fn finish(mut self, name: Arc<str>, linkage: Linkage, pos: Pos) -> UnitFunction {
        // A label that was never placed (a goto to nowhere, in half-written source) leads to the
        // end.
        let end = self.code.len() as u32;
        self.pos = Pos { line: pos.line, ..pos };
        self.emit(Instr::Int(0));
        self.emit(Instr::Return);
        let labels = self.labels;
        let at = |l: u32| if labels[l as usize] == UNPLACED { end } else { labels[l as usize] };
        for instr in &mut self.code {
            match instr {
                Instr::Jump(l) | Instr::JumpIf(l) | Instr::JumpIfNot(l) => *l = at(*l),
                _ => {}
            }
        }
        for table in &mut self.switches {
            table.default = at(table.default);
            table.cases.iter_mut().for_each(|c| c.2 = at(c.2));
        }
        let handlers = self
            .handlers
            .iter()
            .map(|[start, end, target]| Handler { start: at(start.0), end: at(end.0), target: at(target.0) })
            .collect();
        UnitFunction {
            name,
            linkage,
            pos,
            end_line: pos.line,
            params: 0,
            param_objects: Vec::new(),
            variadic: false,
            locals: self.locals,
            frame_size: self.frame_size,
            code: self.code,
            pos_of: self.pos_of,
            switches: self.switches,
            outlined: false,
            load_hook: false,
            handlers,
            members: self.members,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_resolved_and_lost_ones_lead_to_the_end() {
        let mut b = Builder::default();
        let (loop_start, lost) = (b.label(), b.label());
        b.place(loop_start);
        b.emit(Instr::Int(1));
        b.jump_if(lost);
        b.jump(loop_start);
        let f = b.finish("f".into(), Linkage::External, Pos::default());
        assert_eq!(f.code[1], Instr::JumpIf(3));
        assert_eq!(f.code[2], Instr::Jump(0));
        assert_eq!(f.code[4], Instr::Return);
    }

    #[test]
    fn frame_variables_never_share_eight_bytes() {
        let mut b = Builder::default();
        assert_eq!((b.frame(1), b.frame(9), b.frame(8)), (0, 8, 24));
    }
}
