//! Method bodies (ECMA-335 II.25.4): parses them, adds instructions, and builds them again.
//!
//! All branches become long ones, so that code can be added anywhere. A branch to an instruction
//! goes to what was added before it. If anything is not understood, the result is `None`, and the
//! method stays as it is.

use std::collections::HashSet;

/// An instruction, with the code added before and after it.
#[derive(Debug)]
pub struct Instruction {
    /// The offset in the original code.
    pub offset: u32,
    /// Codes of two bytes are 0xFExx; [`END`] follows the last instruction.
    pub code: u16,
    operand: Vec<u8>,
    targets: Vec<u32>,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

const END: u16 = u16::MAX;

/// The codes that are searched for or written.
pub mod code {
    pub const LOAD_ZERO: u16 = 0x16;
    pub const LOAD_ONE: u16 = 0x17;
    pub const LOAD_NULL: u8 = 0x14;
    pub const DUPLICATE: u8 = 0x25;
    pub const POP: u8 = 0x26;
    pub const CONVERT_TO_INT: u8 = 0x69;
    pub const CALL: u16 = 0x28;
    pub const CALL_INDIRECT: u8 = 0x29;
    pub const RETURN: u8 = 0x2A;
    pub const BRANCH_TRUE: u8 = 0x2D;
    pub const LOAD_REFERENCE: u8 = 0x50;
    pub const ADD: u8 = 0x58;
    pub const SWITCH: u16 = 0x45;
    pub const CALL_VIRTUAL: u16 = 0x6F;
    pub const LOAD_FIELD_ADDRESS: u16 = 0x7C;
    pub const LOAD_STATIC: u16 = 0x7E;
    pub const LOAD_STATIC_ADDRESS: u16 = 0x7F;
    pub const STORE_STATIC: u16 = 0x80;
    pub const LOAD_OBJECT: u8 = 0x71;
    pub const NEW_OBJECT: u16 = 0x73;
    pub const BOX: u8 = 0x8C;
    pub const LEAVE: u16 = 0xDD;
    pub const LEAVE_SHORT: u16 = 0xDE;
    pub const LOAD_FUNCTION: u16 = 0xFE06;
    pub const LOAD_VIRTUAL_FUNCTION: u16 = 0xFE07;
    pub const TAIL: u16 = 0xFE14;
    pub const CONSTRAINED: u16 = 0xFE16;
}

impl Instruction {
    fn new(offset: u32, code: u16) -> Instruction {
        Instruction { offset, code, operand: vec![], targets: vec![], before: vec![], after: vec![] }
    }

    pub fn is_call(&self) -> bool {
        matches!(self.code, code::CALL | code::CALL_VIRTUAL | code::NEW_OBJECT)
    }

    /// Whether it loads the address of a method.
    pub fn loads_function(&self) -> bool {
        matches!(self.code, code::LOAD_FUNCTION | code::LOAD_VIRTUAL_FUNCTION)
    }

    /// Makes it load the address of another method.
    pub fn load_other_function(&mut self, token: u32) {
        if self.code == code::LOAD_VIRTUAL_FUNCTION {
            // It takes the object from the stack, but the other one does not.
            self.before.push(code::POP);
        }
        self.code = code::LOAD_FUNCTION;
        self.operand = token.to_le_bytes().to_vec();
    }

    /// Whether it loads the address of a variable, a field or an element.
    pub fn loads_address(&self) -> bool {
        const ARGUMENT_SHORT: u16 = 0x0F;
        const LOCAL_SHORT: u16 = 0x12;
        const ELEMENT: u16 = 0x8F;
        const ARGUMENT: u16 = 0xFE0A;
        const LOCAL: u16 = 0xFE0D;
        let of_variable = [ARGUMENT_SHORT, LOCAL_SHORT, ARGUMENT, LOCAL].contains(&self.code);
        let of_field = matches!(self.code, code::LOAD_FIELD_ADDRESS | code::LOAD_STATIC_ADDRESS);
        of_variable || of_field || self.code == ELEMENT
    }

    /// Whether it uses a static field.
    pub fn uses_static_field(&self) -> bool {
        matches!(self.code, code::LOAD_STATIC | code::LOAD_STATIC_ADDRESS | code::STORE_STATIC)
    }

    /// Whether control never reaches the next instruction from it: an unconditional branch, `ret`,
    /// `throw`, `leave`, the end of a handler.
    fn ends_block(&self) -> bool {
        const JUMP: u16 = 0x27;
        const BRANCH: u16 = 0x38;
        const THROW: u16 = 0x7A;
        const END_FINALLY: u16 = 0xDC;
        const END_FILTER: u16 = 0xFE11;
        const RETHROW: u16 = 0xFE1A;
        let ends = [JUMP, BRANCH, THROW, END_FINALLY, END_FILTER, RETHROW, code::LEAVE];
        self.code == u16::from(code::RETURN) || ends.contains(&self.code)
    }

    /// The target of a call.
    pub fn token(&self) -> u32 {
        self.operand.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// `constrained.`, `tail.` and the like: code added before a call must come before them.
    pub fn is_prefix(&self) -> bool {
        matches!(self.code, 0xFE12 | 0xFE13 | 0xFE14 | 0xFE16 | 0xFE19 | 0xFE1E)
    }

    /// Its length when written, without the added code.
    fn len(&self) -> usize {
        let code = match self.code {
            END => 0,
            0..=0xFF => 1,
            _ => 2,
        };
        code + match self.code {
            code::SWITCH => 4 + 4 * self.targets.len(),
            _ if !self.targets.is_empty() => 4,
            _ => self.operand.len(),
        }
    }
}

/// The length of a code's operand. None if there is no such code.
fn operand_len(code: u16) -> Option<usize> {
    Some(match code {
        0x00..=0x0D | 0x14..=0x1E | 0x25 | 0x26 | 0x2A | 0x46..=0x6E | 0x76 | 0x7A => 0,
        0x82..=0x8B | 0x8E | 0x90..=0xA2 | 0xB3..=0xBA | 0xC3 | 0xD1..=0xDC | 0xDF | 0xE0 => 0,
        0x0E..=0x13 | 0x1F | 0x2B..=0x37 | 0xDE => 1,
        0x20 | 0x22 | 0x27..=0x29 | 0x38..=0x44 | 0x6F..=0x75 | 0x79 | 0x7B..=0x81 => 4,
        0x8C | 0x8D | 0x8F | 0xA3..=0xA5 | 0xC2 | 0xC6 | 0xD0 | 0xDD => 4,
        0x21 | 0x23 => 8,
        0xFE00..=0xFE05 | 0xFE0F | 0xFE11 | 0xFE13 | 0xFE14 => 0,
        0xFE17 | 0xFE18 | 0xFE1A | 0xFE1D | 0xFE1E => 0,
        0xFE06 | 0xFE07 | 0xFE15 | 0xFE16 | 0xFE1C => 4,
        0xFE09..=0xFE0E => 2,
        0xFE12 | 0xFE19 => 1,
        _ => return None,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

/// An exception handler, or a `finally`.
#[derive(Debug)]
struct Clause {
    flags: u32,
    /// The start and end of the try block, then of the handler.
    places: [u32; 4],
    /// The caught class, or the offset of the filter.
    other: u32,
}

const FILTER: u32 = 1;

#[derive(Debug)]
pub struct Body {
    pub instructions: Vec<Instruction>,
    clauses: Vec<Clause>,
    /// Offsets that are reached other than from the previous instruction: targets of branches, and
    /// beginnings of handlers and filters.
    entries: HashSet<u32>,
    max_stack: u16,
    init_locals: bool,
    /// The token of the signature of its local variables; zero if it has none.
    pub locals: u32,
}

/// A body that was built.
pub struct Built {
    pub bytes: Vec<u8>,
    /// For each instruction, its old offset and its new one, including the code added before it.
    pub places: Vec<(u32, u32)>,
}

/// The additional stack that added code needs: the object, a site, and the arguments of the probe.
const MORE_STACK: u16 = 8;

impl Body {
    pub fn parse(bytes: &[u8]) -> Option<Body> {
        const TINY: u8 = 2;
        let first = *bytes.first()?;
        let mut body = Body {
            instructions: vec![],
            clauses: vec![],
            entries: HashSet::new(),
            max_stack: 8,
            init_locals: false,
            locals: 0,
        };
        let (start, len, has_clauses) = if first & 3 == TINY {
            (1, usize::from(first >> 2), false)
        } else {
            body.max_stack = u16_at(bytes, 2)?;
            body.init_locals = first & 0x10 != 0;
            body.locals = u32_at(bytes, 8)?;
            (usize::from(bytes.get(1)? >> 4) * 4, u32_at(bytes, 4)? as usize, first & 8 != 0)
        };
        let end = start.checked_add(len)?;
        body.parse_instructions(bytes.get(start..end)?)?;
        if has_clauses {
            body.parse_sections(bytes, end.next_multiple_of(4))?;
        }
        body.entries.extend(body.instructions.iter().flat_map(|instruction| &instruction.targets));
        for clause in &body.clauses {
            body.entries.insert(clause.places[2]);
            body.entries.extend((clause.flags & FILTER != 0).then_some(clause.other));
        }
        Some(body)
    }

    fn parse_instructions(&mut self, il: &[u8]) -> Option<()> {
        let mut at = 0;
        while at < il.len() {
            let mut instruction = Instruction::new(at as u32, u16::from(il[at]));
            at += 1;
            if instruction.code == 0xFE {
                instruction.code = 0xFE00 | u16::from(*il.get(at)?);
                at += 1;
            }
            at = instruction.parse_operand(il, at)?;
            self.instructions.push(instruction);
        }
        // So that the end has an offset.
        self.instructions.push(Instruction::new(at as u32, END));
        Some(())
    }

    fn parse_sections(&mut self, bytes: &[u8], mut at: usize) -> Option<()> {
        const EXCEPTIONS: u8 = 1;
        const FAT: u8 = 0x40;
        const MORE: u8 = 0x80;
        loop {
            let kind = *bytes.get(at)?;
            let fat = kind & FAT != 0;
            let size = if fat { u32_at(bytes, at)? as usize >> 8 } else { usize::from(*bytes.get(at + 1)?) };
            let each = if fat { 24 } else { 12 };
            if kind & EXCEPTIONS != 0 {
                for i in 0..size.checked_sub(4)? / each {
                    self.clauses.push(Clause::parse(bytes.get(at + 4 + i * each..)?, fat)?);
                }
            }
            if kind & MORE == 0 {
                return Some(());
            }
            at = (at + size.max(4)).next_multiple_of(4);
        }
    }

    /// Whether a branch or an exception leads to an instruction.
    pub fn is_target(&self, at: usize) -> bool {
        self.entries.contains(&self.instructions[at].offset)
    }

    /// The instructions that have certainly run when `at` runs, as far as that is obvious: those
    /// that lead to it without another entry, and those that the method begins with.
    pub fn ran_before(&self, at: usize) -> Vec<usize> {
        /// Instructions further away are not examined, so that huge methods take no time.
        const NEAR: usize = 128;
        // An exception may end this instruction, and a handler continue after it.
        let is_tried = |i: usize| {
            let offset = self.instructions[i].offset;
            self.clauses.iter().any(|clause| (clause.places[0]..clause.places[1]).contains(&offset))
        };
        let may_end =
            |i: usize| !self.instructions[i].targets.is_empty() || self.instructions[i].ends_block();
        let first = (0..at.min(NEAR)).take_while(|i| !may_end(*i) && !is_tried(*i)).count();
        let follows = |i: &usize| !self.is_target(i + 1) && !self.instructions[*i].ends_block();
        let leading = (first..at).rev().take(NEAR).take_while(follows).count();
        (0..first).chain(at - leading..at).collect()
    }

    /// The first prefix of a call, or the call itself. Code added before the call goes there.
    pub fn first_prefix(&self, at: usize) -> usize {
        (0..at).rev().take_while(|i| self.instructions[*i].is_prefix()).last().unwrap_or(at)
    }

    /// Builds the body. None if a branch target is not the beginning of an instruction.
    pub fn build(&self) -> Option<Built> {
        let mut places = Vec::with_capacity(self.instructions.len());
        let mut len = 0;
        for i in &self.instructions {
            places.push((i.offset, len as u32));
            len += i.before.len() + i.len() + i.after.len();
        }
        let place = |old: u32| places.binary_search_by_key(&old, |p| p.0).ok().map(|i| places[i].1);
        let flags = 0x3003 | if self.init_locals { 0x10 } else { 0 };
        let flags: u16 = flags | if self.clauses.is_empty() { 0 } else { 8 };
        let mut bytes = flags.to_le_bytes().to_vec();
        bytes.extend(self.max_stack.saturating_add(MORE_STACK).to_le_bytes());
        bytes.extend((len as u32).to_le_bytes());
        bytes.extend(self.locals.to_le_bytes());
        let header = bytes.len();
        for i in &self.instructions {
            bytes.extend(&i.before);
            i.write(&mut bytes, header, place)?;
            bytes.extend(&i.after);
        }
        if !self.clauses.is_empty() {
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes.extend((0x41 | ((4 + 24 * self.clauses.len()) as u32) << 8).to_le_bytes());
            for clause in &self.clauses {
                clause.write(&mut bytes, place)?;
            }
        }
        Some(Built { bytes, places })
    }
}

impl Instruction {
    /// Parses the operand after the code at `at`. Returns the offset of the next instruction. Short
    /// branches become long.
    fn parse_operand(&mut self, il: &[u8], mut at: usize) -> Option<usize> {
        if self.code == code::SWITCH {
            let count = u32_at(il, at)? as usize;
            let end = at.checked_add(4)?.checked_add(count.checked_mul(4)?)?;
            for i in 0..count {
                self.targets.push((end as u32).wrapping_add(u32_at(il, at + 4 + 4 * i)?));
            }
            return Some(end);
        }
        let len = operand_len(self.code)?;
        self.operand = il.get(at..at + len)?.to_vec();
        at += len;
        match self.code {
            0x2B..=0x37 | code::LEAVE_SHORT => {
                self.targets.push((at as u32).wrapping_add_signed(i32::from(self.operand[0] as i8)));
                self.code = if self.code == code::LEAVE_SHORT { code::LEAVE } else { self.code + 0x0D };
            }
            0x38..=0x44 | code::LEAVE => {
                self.targets.push((at as u32).wrapping_add(u32_at(&self.operand, 0)?));
            }
            _ => {}
        }
        Some(at)
    }

    fn write(&self, to: &mut Vec<u8>, header: usize, place: impl Fn(u32) -> Option<u32>) -> Option<()> {
        if self.code == END {
            return Some(());
        }
        if self.code > 0xFF {
            to.push(0xFE);
        }
        to.push(self.code as u8);
        if self.code == code::SWITCH {
            to.extend((self.targets.len() as u32).to_le_bytes());
        } else if self.targets.is_empty() {
            to.extend(&self.operand);
        }
        let end = (to.len() - header + 4 * self.targets.len()) as u32;
        for target in &self.targets {
            to.extend(place(*target)?.wrapping_sub(end).to_le_bytes());
        }
        Some(())
    }
}

impl Clause {
    fn parse(bytes: &[u8], fat: bool) -> Option<Clause> {
        let word = |at| u32_at(bytes, at);
        let short = |at| u16_at(bytes, at).map(u32::from);
        let byte = |at: usize| bytes.get(at).copied().map(u32::from);
        let (flags, tried, tried_len, handler, handler_len, other) = if fat {
            (word(0)?, word(4)?, word(8)?, word(12)?, word(16)?, word(20)?)
        } else {
            (short(0)?, short(2)?, byte(4)?, short(5)?, byte(7)?, word(8)?)
        };
        let places = [tried, tried.checked_add(tried_len)?, handler, handler.checked_add(handler_len)?];
        Some(Clause { flags, places, other })
    }

    fn write(&self, to: &mut Vec<u8>, place: impl Fn(u32) -> Option<u32>) -> Option<()> {
        let [tried, tried_end, handler, handler_end] = self.places;
        let [tried, tried_end] = [place(tried)?, place(tried_end)?];
        let [handler, handler_end] = [place(handler)?, place(handler_end)?];
        let other = if self.flags & FILTER != 0 { place(self.other)? } else { self.other };
        let words = [self.flags, tried, tried_end - tried, handler, handler_end - handler, other];
        to.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        Some(())
    }
}

/// A body without local variables or handlers.
pub fn plain_body(code: &[u8]) -> Vec<u8> {
    [&[0x03, 0x30, 8, 0][..], &(code.len() as u32).to_le_bytes(), &[0; 4], code].concat()
}

/// A body with local variables, which begin as zero.
pub fn body_with_locals(code: &[u8], locals: u32) -> Vec<u8> {
    let len = (code.len() as u32).to_le_bytes();
    [&[0x13, 0x30, 8, 0][..], &len, &locals.to_le_bytes(), code].concat()
}

pub fn load_int(value: u32) -> Vec<u8> {
    [&[0x20][..], &value.to_le_bytes()].concat()
}

/// Loads a native integer.
pub fn load_pointer(value: usize) -> Vec<u8> {
    [&[0x21][..], &(value as u64).to_le_bytes(), &[0xD3]].concat()
}

pub fn with_token(code: u8, token: u32) -> Vec<u8> {
    [&[code][..], &token.to_le_bytes()].concat()
}

pub fn load_local(index: u16) -> Vec<u8> {
    [&[0xFE, 0x0C][..], &index.to_le_bytes()].concat()
}

pub fn load_argument(index: u16) -> Vec<u8> {
    [&[0xFE, 0x09][..], &index.to_le_bytes()].concat()
}

pub fn store_local(index: u16) -> Vec<u8> {
    [&[0xFE, 0x0E][..], &index.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(built: &Built) -> &[u8] {
        let len = u32_at(&built.bytes, 4).unwrap() as usize;
        &built.bytes[12..12 + len]
    }

    #[test]
    fn a_tiny_body_becomes_a_fat_one() {
        // ldarg.0; call 0x0A000001; ret
        let body = Body::parse(&[7 << 2 | 2, 0x02, 0x28, 1, 0, 0, 0x0A, 0x2A]).unwrap();
        assert!(body.instructions[1].is_call() && body.instructions[1].token() == 0x0A00_0001);
        let built = body.build().unwrap();
        assert_eq!(code_of(&built), [0x02, 0x28, 1, 0, 0, 0x0A, 0x2A]);
        assert_eq!(built.places, [(0, 0), (1, 1), (6, 6), (7, 7)]);
    }

    #[test]
    fn branches_reach_what_was_added_before_their_targets() {
        // brtrue.s to the ret; nop; ret
        let mut body = Body::parse(&[4 << 2 | 2, 0x2D, 1, 0x00, 0x2A]).unwrap();
        body.instructions[2].before = vec![0x00, 0x00];
        let built = body.build().unwrap();
        assert_eq!(code_of(&built), [0x3A, 1, 0, 0, 0, 0x00, 0x00, 0x00, 0x2A]);
        assert_eq!(built.places[2], (3, 6));
    }

    #[test]
    fn switches_and_handlers_move_with_their_code() {
        // A fat body: ldc.i4.0; switch (L); L: leave.s E; pop; leave.s E; E: ret; catch around the
        // first leave.
        let code = [0x16, 0x45, 1, 0, 0, 0, 0, 0, 0, 0, 0xDE, 3, 0x26, 0xDE, 0, 0x2A];
        let mut bytes = vec![0x0B, 0x30, 1, 0, code.len() as u8, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(code);
        // A small section: try 10..12, handler 12..15.
        bytes.extend([0x01, 16, 0, 0, 0, 0, 10, 0, 2, 12, 0, 3, 5, 0, 0, 1]);
        let mut body = Body::parse(&bytes).unwrap();
        body.instructions[2].before = vec![0x00];
        let built = body.build().unwrap();
        let switch = u32_at(code_of(&built), 6).unwrap();
        assert_eq!(switch, 0, "to what was added");
        let section = 12 + code_of(&built).len().next_multiple_of(4);
        let clause: Vec<u32> = (0..6).map(|i| u32_at(&built.bytes, section + 4 + 4 * i).unwrap()).collect();
        assert_eq!(clause, [0, 10, 6, 16, 6, 0x0100_0005]);
    }

    #[test]
    fn what_leads_to_an_instruction_has_run() {
        // 0 nop; 1 brtrue.s to 4; 2 nop; 3 nop; 4 nop; 5 br.s to 6; 6 nop; 7 ret
        let code = [0x00, 0x2D, 2, 0x00, 0x00, 0x00, 0x2B, 0, 0x00, 0x2A];
        let body = Body::parse(&[&[(code.len() as u8) << 2 | 2], &code[..]].concat()).unwrap();
        assert!(body.ran_before(0).is_empty());
        assert_eq!(body.ran_before(3), [0, 1, 2], "a branch that is not taken");
        assert_eq!(body.ran_before(4), [0], "the target of a branch");
        assert_eq!(body.ran_before(7), [0, 6], "what always branches leads nowhere else");
    }

    #[test]
    fn what_an_exception_may_end_has_not_run_for_certain() {
        // nop; try { nop; leave.s E } catch { pop; nop; leave.s E } E: ret
        let code = [0x00, 0x00, 0xDE, 4, 0x26, 0x00, 0xDE, 0, 0x2A];
        let mut bytes = vec![0x0B, 0x30, 1, 0, code.len() as u8, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(code);
        bytes.resize(24, 0);
        bytes.extend([0x01, 16, 0, 0, 0, 0, 1, 0, 3, 4, 0, 4, 5, 0, 0, 1]);
        let body = Body::parse(&bytes).unwrap();
        assert_eq!(body.ran_before(2), [0, 1], "in the same block");
        assert_eq!(body.ran_before(4), [0, 3], "in the handler");
        assert_eq!(body.ran_before(6), [0], "behind it");
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        assert!(Body::parse(&[]).is_none());
        assert!(Body::parse(&[2 << 2 | 2, 0x28, 0]).is_none(), "an operand that is cut off");
        assert!(Body::parse(&[1 << 2 | 2, 0xF0]).is_none(), "no such code");
        let into_an_operand = Body::parse(&[7 << 2 | 2, 0x2B, 1, 0x20, 0, 0, 0, 0]).unwrap();
        assert!(into_an_operand.build().is_none());
        let whole = [0x0B, 0x30, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x2A, 0, 0, 0, 0x01, 16, 0, 0, 0, 0];
        for len in 0..whole.len() {
            assert!(Body::parse(&whole[..len]).is_none(), "cut off at {len}");
        }
    }
}
