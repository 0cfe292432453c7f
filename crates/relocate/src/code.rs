//! The program's functions as instructions, and which of them can be copied.

use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};

use crate::access::{self, FrameUse, InstructionAccess};
use crate::program::RelocatedProgram;

/// Addresses of instructions are this much above those of the file, so that the copy can be below
/// the first address of a program that begins at 0.
pub const BIAS: u64 = 1 << 36;

pub struct FunctionCode {
    /// As in the file.
    pub range: Range<u64>,
    /// Its instructions, as indices.
    pub body: Range<usize>,
    pub can_be_copied: bool,
    /// A jump to the copy fits where it begins. Otherwise only direct calls reach the copy; calls
    /// through pointers execute the original.
    pub can_be_patched: bool,
}

pub struct Code {
    pub instructions: Vec<Instruction>,
    /// One for each instruction.
    pub accesses: Vec<InstructionAccess>,
    pub functions: Vec<FunctionCode>,
    /// The number of functions that could not even be decoded.
    pub undecoded: usize,
    /// By offset in the text: the index of the instruction that begins there.
    index: Vec<u32>,
    text: u64,
}

const NONE: u32 = u32::MAX;

impl Code {
    pub fn read(program: &RelocatedProgram) -> Code {
        let mut code = Code {
            instructions: Vec::with_capacity(program.code.len() / 4),
            accesses: Vec::new(),
            functions: Vec::new(),
            undecoded: 0,
            index: vec![NONE; program.code.len()],
            text: program.text + BIAS,
        };
        let mut infos = InstructionInfoFactory::new();
        for range in program.functions.iter().filter(|r| !r.contains(&program.entry)) {
            code.add(program, range, &mut infos);
        }
        code.leave_out_what_is_entangled();
        code
    }

    fn add(&mut self, program: &RelocatedProgram, range: &Range<u64>, infos: &mut InstructionInfoFactory) {
        let bytes = &program.code[(range.start - program.text) as usize..(range.end - program.text) as usize];
        let decoder = Decoder::with_ip(64, bytes, range.start + BIAS, DecoderOptions::NONE);
        let body: Vec<Instruction> = decoder.into_iter().collect();
        if body.iter().any(Instruction::is_invalid) {
            self.undecoded += 1;
            return;
        }
        let frame = FrameUse::of(&body);
        let first = self.instructions.len();
        let mut can_be_copied = true;
        let can_be_patched = has_room_for_jump(program, range);
        for (n, i) in body.iter().enumerate() {
            self.index[(i.ip() - self.text) as usize] = (first + n) as u32;
            let access = access::of(i, program, BIAS, frame, infos);
            let overwrites = access == InstructionAccess::Atomic && overwrites_address(i, infos);
            let stays = !is_movable(i) || leaves_shortly(i, range) || finds_itself(i, &body) || overwrites;
            can_be_copied &= !stays;
            self.accesses.push(access);
        }
        self.instructions.extend(body);
        let body = first..self.instructions.len();
        self.functions.push(FunctionCode { range: range.clone(), body, can_be_copied, can_be_patched });
    }

    /// The index of the instruction at `address`, in a function that can be copied.
    pub fn find(&self, address: u64) -> Option<usize> {
        let at = usize::try_from(address.checked_sub(self.text)?).ok()?;
        self.index.get(at).filter(|n| **n != NONE).map(|n| *n as usize)
    }

    fn function_at(&self, address: u64) -> Option<usize> {
        let after = self.functions.partition_point(|f| f.range.start + BIAS <= address);
        let n = after.checked_sub(1)?;
        (address < self.functions[n].range.end + BIAS).then_some(n)
    }

    /// A function that stays as it is, and one that jumps into its middle, or into whose middle it
    /// jumps, must be of one kind: the bytes at the beginning of a copied function are overwritten.
    fn leave_out_what_is_entangled(&mut self) {
        let pairs = self.jumps_into_functions();
        for (from, _) in &pairs {
            self.functions[*from].can_be_copied &= self.functions[*from].can_be_patched;
        }
        let mut again = true;
        while again {
            again = false;
            for (from, to) in &pairs {
                let whole = to.is_some_and(|to| self.functions[to].can_be_copied);
                if self.functions[*from].can_be_copied && !whole {
                    self.functions[*from].can_be_copied = false;
                    again = true;
                }
                if let (false, Some(to)) = (self.functions[*from].can_be_copied, to)
                    && self.functions[*to].can_be_copied
                {
                    self.functions[*to].can_be_copied = false;
                    again = true;
                }
            }
        }
        for f in self.functions.iter().filter(|f| !f.can_be_copied) {
            for i in &self.instructions[f.body.clone()] {
                self.index[(i.ip() - self.text) as usize] = NONE;
            }
        }
    }

    /// Who jumps into the middle of whom; None: between two instructions, or where none is known.
    pub fn jumps_into_functions(&self) -> Vec<(usize, Option<usize>)> {
        let mut pairs = Vec::new();
        for (n, f) in self.functions.iter().enumerate() {
            for i in &self.instructions[f.body.clone()] {
                let is_jump = matches!(
                    i.flow_control(),
                    FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
                );
                if !is_jump || i.op0_kind() != OpKind::NearBranch64 {
                    continue;
                }
                let target = i.near_branch_target();
                match self.function_at(target) {
                    Some(_) if self.find(target).is_none() => pairs.push((n, None)),
                    Some(to) if to != n && self.functions[to].range.start + BIAS != target => {
                        pairs.push((n, Some(to)))
                    }
                    _ => {}
                }
            }
        }
        pairs
    }
}

/// A jump to the copy fits into the function, or into the padding behind it.
fn has_room_for_jump(program: &RelocatedProgram, function: &Range<u64>) -> bool {
    const JUMP: u64 = 5;
    let next = program.functions.partition_point(|r| r.start <= function.start);
    let next = program.functions.get(next).map_or(program.text_end(), |r| r.start);
    let end = function.start + JUMP;
    let at = |a: u64| (a - program.text) as usize;
    end <= next && is_padding(&program.code[at(function.end.min(end))..at(end)])
}

/// The beginning of a sequence of `nop`s, or traps.
fn is_padding(bytes: &[u8]) -> bool {
    bytes.first().is_none_or(|b| matches!(b, 0x90 | 0xcc | 0x66 | 0x0f | 0x2e))
        && Decoder::new(64, bytes, DecoderOptions::NONE)
            .into_iter()
            .all(|i| i.is_invalid() || matches!(i.mnemonic(), Mnemonic::Nop | Mnemonic::Int3))
}

/// The encoder can put it elsewhere.
fn is_movable(i: &Instruction) -> bool {
    let is_next = i.is_call_near() && i.near_branch_target() == i.next_ip();
    let is_relative = matches!(i.mnemonic(), Mnemonic::Xbegin);
    let is_far = i.is_call_far() || i.is_jmp_far() || i.is_call_far_indirect() || i.is_jmp_far_indirect();
    let jumps = matches!(i.flow_control(), FlowControl::IndirectBranch | FlowControl::IndirectCall);
    // Of the stack pointer a jump would see another value.
    let by_rsp = jumps && i.op0_kind() == OpKind::Register && i.op0_register() == Register::RSP;
    // Probes are calls, which need the direction flag clear.
    let sets_direction = i.mnemonic() == Mnemonic::Std;
    !is_next && !is_relative && !is_far && !by_rsp && !sets_direction
}

/// A call into the middle of its own function, to a `pop`: the function wants its own address, and
/// reads data beside its code by it, which the copy does not have there.
fn finds_itself(i: &Instruction, body: &[Instruction]) -> bool {
    let inside = |target: u64| {
        let (Some(first), Some(last)) = (body.first(), body.last()) else { return false };
        first.ip() < target && target < last.next_ip()
    };
    let is_start = |target: u64| {
        let at = body.binary_search_by_key(&target, Instruction::ip);
        at.is_ok_and(|n| body[n].mnemonic() != Mnemonic::Pop)
    };
    i.is_call_near() && inside(i.near_branch_target()) && !is_start(i.near_branch_target())
}

/// `loop` or `jrcxz` to another function, which the encoder would make several instructions of.
fn leaves_shortly(i: &Instruction, function: &Range<u64>) -> bool {
    let is_short = i.is_jcx_short() || i.is_loop() || i.is_loopcc();
    is_short && !(function.start + BIAS..function.end + BIAS).contains(&i.near_branch_target())
}

/// After the instruction its operands no longer give the address that it has accessed.
fn overwrites_address(i: &Instruction, infos: &mut InstructionInfoFactory) -> bool {
    let of_address = [i.memory_base().full_register(), i.memory_index().full_register()];
    infos.info(i).used_registers().iter().any(|r| {
        let reads = matches!(r.access(), OpAccess::Read | OpAccess::CondRead);
        !reads && r.register().is_gpr() && of_address.contains(&r.register().full_register())
    })
}
