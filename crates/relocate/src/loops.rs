//! One probe for all that an access of a loop touches.
//!
//! This is the idea of BigFoot (Rhodes, Flanagan and Freund, PLDI 2017): in a loop without
//! synchronisation, an access whose address advances by a constant needs no check in each
//! iteration. One check of the whole range, where the loop is left, finds the same races. BigFoot
//! proves it of Java's source; here it is machine code, with these deviations:
//!
//! 1. *Loops* are straight: the instructions from where a conditional jump backwards leads, to that
//!    jump. All other jumps inside go forwards, and nobody jumps into the middle. So an instruction
//!    that no jump passes over is executed in each iteration that gets beyond it.
//! 2. *Addresses* have one register that one instruction of the loop changes, by a constant, in
//!    each iteration; the other register stays as it is. Its value at the beginning of the loop is
//!    kept in a vector register that nobody uses. Each way out has the last value, and the number
//!    of iterations follows from both, so early exits are exact.
//! 3. *Ranges have no holes*: the accesses of one iteration must touch as many neighbouring bytes
//!    as the address advances. An address that stays as it is counts too if its access is executed
//!    in the first iteration, whatever happens. Other accesses keep their probes.
//! 4. *A copy of the loop* without these probes is what is executed, unless the process has a
//!    handler of a signal, which could synchronise in the middle of the loop, or unless the loop
//!    accesses 8 bytes or fewer at once and some copied code has atomic operations: what looks like
//!    a plain store could then be one that releases, which must not come late.
//! 5. *Loops of few iterations* cost more to check at the way out than in each iteration. The
//!    runtime counts how often a loop has touched little, and after some times its gate stays
//!    closed.
//!
//! A check comes later than its access, never earlier, and in the same segment, but for one case: a
//! handler that is installed while the loop runs, and that interrupts it and synchronises. Then a
//! race may be suspected where there is none. Something advances in each of these loops, and an
//! endless one would touch all memory there is: so the check comes. If the program ends or dies
//! while a thread is in the loop, or such a handler leaves it by `longjmp`, what the loop did is
//! not checked. A report names the instruction of the access, or of one of those that share its
//! range.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

use raddle_wire::relocated::LOOP_LENGTH_BITS;

use crate::access::InstructionAccess;
use crate::code::{Code, FunctionCode};
use crate::liveness::Set;
use crate::merge::Entries;

/// The maximum number of instructions in a loop.
const LONGEST: usize = 160;
/// The maximum number of checks at the ways out of a loop, all together.
const MOST_CHECKS: usize = 32;
/// Addresses that advance by more are not neighbours.
const LONGEST_STRIDE: i64 = 512;

/// The maximum number of ways out and checks there, of one loop.
pub const MOST_PARTS: u64 = 2 * MOST_CHECKS as u64 + 1;

/// At most so many loops have copies, with so many instructions.
pub fn at_most(code: &Code) -> (u64, u64) {
    let jumps = (0..code.instructions.len()).filter_map(|n| target(code, n).map(|to| (to, n)));
    let short = jumps.filter(|(to, n)| to <= n && n - to < LONGEST);
    short.fold((0, 0), |(loops, all), (to, n)| (loops + 1, all + (n - to + 1) as u64))
}

/// A loop that has a copy with fewer probes.
#[derive(Debug)]
pub struct Loop {
    /// The first instruction to the jump back to it.
    pub body: Range<usize>,
    /// Registers that advance, and vector registers for the values that they begin with.
    pub starts: Vec<(Register, Register)>,
    /// Accesses that have no probe in the copy.
    pub unprobed: HashSet<usize>,
    pub ranges: Vec<Strided>,
    /// All accesses that have no probe are of 16 bytes or more.
    pub is_of_vectors: bool,
}

/// Accesses that touch a range together, iteration by iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strided {
    /// The access that the report names.
    pub named: usize,
    pub write: bool,
    /// The register of the address that advances. None: the address stays as it is.
    pub advancing: Register,
    pub stride: i64,
    /// The first byte of an iteration, from the address without displacement at the loop's first
    /// instruction.
    pub low: i64,
    /// The number of neighbouring bytes of an iteration.
    pub len: i64,
}

impl Loop {
    /// Jumps that leave the loop, the one back to its beginning at last.
    pub fn exits<'a>(&'a self, code: &'a Code) -> impl Iterator<Item = usize> + 'a {
        self.body.clone().filter(move |n| leaves(code, &self.body, *n))
    }

    /// From the operand of `range` where the jump `exit` leaves the loop, without its displacement,
    /// to the first byte that the last iteration touched which got so far.
    pub fn last(&self, code: &Code, range: &Strided, exit: usize) -> i64 {
        let end = if exit + 1 == self.body.end { exit + 1 } else { exit };
        let advanced = advanced(code, &self.body, range.advancing, range.scale(code), end);
        range.low - advanced - if range.named < exit { 0 } else { range.stride }
    }
}

impl Strided {
    fn scale(&self, code: &Code) -> i64 {
        scale(&code.instructions[self.named], self.advancing)
    }
}

/// By how much a register of an address moves it.
fn scale(i: &Instruction, register: Register) -> i64 {
    if i.memory_index() == register { i64::from(i.memory_index_scale()) } else { 1 }
}

fn target(code: &Code, n: usize) -> Option<usize> {
    let i = &code.instructions[n];
    let is_jump =
        matches!(i.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch);
    (is_jump && i.op0_kind() == OpKind::NearBranch64).then(|| code.find(i.near_branch_target()))?
}

fn is_jump(i: &Instruction) -> bool {
    i.flow_control() != FlowControl::Next
}

fn leaves(code: &Code, body: &Range<usize>, n: usize) -> bool {
    is_jump(&code.instructions[n])
        && (n + 1 == body.end || target(code, n).is_none_or(|to| !body.contains(&to)))
}

/// What the instructions of `body` before `end` add to the address.
fn advanced(code: &Code, body: &Range<usize>, register: Register, scale: i64, end: usize) -> i64 {
    let steps = code.instructions[body.start..end].iter().filter_map(|i| step(i, register));
    scale * steps.sum::<i64>()
}

/// What the instruction adds to `register`, if that is all that it does.
fn step(i: &Instruction, register: Register) -> Option<i64> {
    if i.op_count() == 0 || i.op0_kind() != OpKind::Register || i.op0_register() != register {
        return None;
    }
    let is_constant =
        i.op_count() == 2 && matches!(i.op_kind(1), OpKind::Immediate8to64 | OpKind::Immediate32to64);
    match i.mnemonic() {
        Mnemonic::Inc => Some(1),
        Mnemonic::Dec => Some(-1),
        Mnemonic::Add if is_constant => Some(i.immediate(1) as i64),
        Mnemonic::Sub if is_constant => Some((i.immediate(1) as i64).wrapping_neg()),
        Mnemonic::Lea if i.memory_base() == register && i.memory_index() == Register::None => {
            Some(i.memory_displacement64() as i64)
        }
        _ => None,
    }
}

/// What a loop that is to have a copy may contain.
fn is_harmless(code: &Code, n: usize) -> bool {
    let i = &code.instructions[n];
    let flows = match i.flow_control() {
        FlowControl::Next => true,
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
            i.op0_kind() == OpKind::NearBranch64 && !i.is_jcx_short() && !i.is_loop() && !i.is_loopcc()
        }
        _ => false,
    };
    flows
        && matches!(
            code.accesses[n],
            InstructionAccess::None | InstructionAccess::Read { .. } | InstructionAccess::Write { .. }
        )
        && !i.has_lock_prefix()
        && !i.is_stack_instruction()
        && !matches!(
            i.mnemonic(),
            Mnemonic::Mfence
                | Mnemonic::Lfence
                | Mnemonic::Sfence
                | Mnemonic::Pause
                | Mnemonic::Xchg
                | Mnemonic::Syscall
                | Mnemonic::Cpuid
                | Mnemonic::Vzeroall
                | Mnemonic::Vzeroupper
                | Mnemonic::Fxsave
                | Mnemonic::Fxsave64
                | Mnemonic::Fxrstor
                | Mnemonic::Fxrstor64
                | Mnemonic::Xsave
                | Mnemonic::Xsave64
                | Mnemonic::Xsavec
                | Mnemonic::Xsavec64
                | Mnemonic::Xsaveopt
                | Mnemonic::Xsaveopt64
                | Mnemonic::Xrstor
                | Mnemonic::Xrstor64
        )
}

/// Looks for loops in one function.
pub struct Finder<'a> {
    pub code: &'a Code,
    pub function: &'a FunctionCode,
    pub entries: &'a Entries,
    /// What is looked at again, before each instruction of the function.
    pub live: &'a [Set],
    /// Vector registers that the program does not use.
    pub unused: &'a [Register],
    pub infos: &'a mut InstructionInfoFactory,
}

/// An access whose address advances.
struct Member {
    n: usize,
    write: bool,
    low: i64,
    high: i64,
}

/// Base, index and scale; the register that advances; how many ways lead out before; it is a write.
type Key = (Register, Register, u32, Register, usize, bool);

impl Finder<'_> {
    pub fn all(&mut self) -> Vec<Loop> {
        if self.entries.is_unknown(self.function) {
            return Vec::new();
        }
        let mut found: Vec<Loop> = Vec::new();
        for n in self.function.body.clone() {
            let is_conditional = self.code.instructions[n].flow_control() == FlowControl::ConditionalBranch;
            let Some(first) = target(self.code, n).filter(|to| is_conditional && *to <= n) else { continue };
            let is_apart = found.last().is_none_or(|l| l.body.end <= first);
            if first >= self.function.body.start && n - first < LONGEST && is_apart {
                found.extend(self.one(first..n + 1));
            }
        }
        found
    }

    fn one(&mut self, body: Range<usize>) -> Option<Loop> {
        let code = self.code;
        let flags_matter = self.live[body.start - self.function.body.start].has_flags();
        if flags_matter || !body.clone().all(|n| is_harmless(code, n)) || !self.is_straight(&body) {
            return None;
        }
        let advancing = self.advancing(&body)?;
        let (mut ranges, mut unprobed) = self.ranges(&body, &advancing);
        drop_covered_reads(code, &body, &mut ranges);
        let accesses = body.clone().filter(|n| code.accesses[*n] != InstructionAccess::None).count();
        let exits = body.clone().filter(|n| leaves(code, &body, *n)).count();
        let mut registers: Vec<Register> = ranges.iter().map(|r| r.advancing).collect();
        registers.sort_unstable();
        registers.dedup();
        registers.retain(|r| *r != Register::None);
        // A loop in which nothing advances may be one that waits.
        if registers.is_empty() || 2 * unprobed.len() < accesses || exits * ranges.len() > MOST_CHECKS {
            return None;
        }
        let has_calls = body.clone().any(|n| match code.accesses[n] {
            InstructionAccess::Read { size } | InstructionAccess::Write { size } => {
                !matches!(size, 1 | 2 | 4 | 8 | 16) && !unprobed.contains(&n)
            }
            _ => false,
        });
        let spare = self.spare(&body, has_calls);
        if spare.len() < registers.len() {
            return None;
        }
        let starts = registers.into_iter().zip(spare).collect();
        let is_of_vectors = body.clone().all(|n| match code.accesses[n] {
            InstructionAccess::Read { size } | InstructionAccess::Write { size } => size >= 16,
            _ => true,
        });
        unprobed.shrink_to_fit();
        Some(Loop { body, starts, unprobed, ranges, is_of_vectors })
    }

    /// One jump goes backwards, and nobody jumps into the middle.
    fn is_straight(&self, body: &Range<usize>) -> bool {
        let last = body.end - 1;
        let goes_on = |n: usize| target(self.code, n).is_none_or(|to| to > n || to < body.start);
        let is_internal = |n: usize| self.entries.is_internal(self.code.instructions[n].ip(), body);
        (body.start..last).all(goes_on) && (body.start + 1..body.end).all(is_internal)
    }

    /// By how much registers advance in each iteration. Of the others in the map nothing is known;
    /// those that are not in it stay as they are.
    fn advancing(&mut self, body: &Range<usize>) -> Option<HashMap<Register, Option<i64>>> {
        let mut all: HashMap<Register, Option<i64>> = HashMap::new();
        for n in body.clone() {
            let i = &self.code.instructions[n];
            for used in self.infos.info(i).used_registers() {
                let full = used.register().full_register();
                if matches!(used.access(), OpAccess::Read | OpAccess::CondRead) || !full.is_gpr() {
                    continue;
                }
                if full == Register::RSP {
                    return None;
                }
                let is_first = !all.contains_key(&full);
                let step = step(i, full).filter(|_| is_first && is_in_each(self.code, body, n));
                all.insert(full, step);
            }
        }
        Some(all)
    }

    fn ranges(
        &self,
        body: &Range<usize>,
        advancing: &HashMap<Register, Option<i64>>,
    ) -> (Vec<Strided>, HashSet<usize>) {
        let mut groups: HashMap<Key, Vec<Member>> = HashMap::new();
        for n in body.clone().filter(|n| is_in_each(self.code, body, *n)) {
            let (write, size) = match self.code.accesses[n] {
                InstructionAccess::Read { size } => (false, size),
                InstructionAccess::Write { size } => (true, size),
                _ => continue,
            };
            let i = &self.code.instructions[n];
            let (base, index) = (i.memory_base(), i.memory_index());
            let exits = (body.start..n).filter(|e| leaves(self.code, body, *e)).count();
            let other = match (advancing.get(&base), advancing.get(&index)) {
                (Some(Some(_)), None) if index != base => base,
                (None, Some(Some(_))) => index,
                // No way out tells how often it was executed, but at least once if none comes
                // first.
                (None, None) if exits == 0 => Register::None,
                _ => continue,
            };
            let is_near = base != Register::RIP && !matches!(i.memory_segment(), Register::FS | Register::GS);
            if !is_near || is_jump(i) {
                continue;
            }
            let before = advanced(self.code, body, other, scale(i, other), n);
            let low = (i.memory_displacement64() as i64).wrapping_add(before);
            let key = (base, index, i.memory_index_scale(), other, exits, write);
            let high = low.wrapping_add(i64::from(size));
            groups.entry(key).or_default().push(Member { n, write, low, high });
        }
        let (mut ranges, mut unprobed) = (Vec::new(), HashSet::new());
        for ((.., other, _, _), mut members) in groups {
            members.sort_unstable_by_key(|m| (m.low, m.n));
            let stays = other == Register::None;
            let step = advancing.get(&other).copied().flatten().unwrap_or(0);
            let stride = scale(&self.code.instructions[members[0].n], other) * step;
            for neighbours in neighbours(&members) {
                let low = neighbours[0].low;
                let len = neighbours.iter().map(|m| m.high - low).max().unwrap_or(0);
                let has_holes = stride.abs() > len.min(LONGEST_STRIDE) || stride == 0 && !stays;
                if has_holes || i32::try_from(low).is_err() || len >= 1 << LOOP_LENGTH_BITS {
                    continue;
                }
                let named = neighbours.iter().map(|m| m.n).min().unwrap_or(neighbours[0].n);
                let write = neighbours[0].write;
                ranges.push(Strided { named, write, advancing: other, stride, low, len });
                unprobed.extend(neighbours.iter().map(|m| m.n));
            }
        }
        ranges.sort_unstable_by_key(|r| (r.stride == 0, r.named, r.low));
        (ranges, unprobed)
    }

    /// Vector registers that nobody misses in the loop and behind it. `has_calls`: accesses whose
    /// probes are calls keep theirs.
    fn spare(&mut self, body: &Range<usize>, has_calls: bool) -> Vec<Register> {
        let named: Set = self.code.instructions[body.clone()]
            .iter()
            .flat_map(|i| {
                (0..i.op_count()).filter(|o| i.op_kind(*o) == OpKind::Register).map(|o| i.op_register(o))
            })
            .collect();
        let live = self.live[body.start - self.function.body.start];
        // What they call keeps the upper eight only if the program uses one of them.
        let keeps_upper = self.unused.len() < 8;
        (0..16)
            .map(|n| Register::XMM0 + n)
            .filter(|r| !named.has(*r) && (self.unused.contains(r) || !live.has(*r)))
            .filter(|r| !has_calls || keeps_upper || r.number() < 8)
            .collect()
    }
}

/// No jump of the loop passes over it.
fn is_in_each(code: &Code, body: &Range<usize>, n: usize) -> bool {
    (body.start..n).all(|from| target(code, from).is_none_or(|to| !(n + 1..body.end).contains(&to)))
}

/// Parts of `sorted` that touch each other.
fn neighbours(sorted: &[Member]) -> impl Iterator<Item = &[Member]> {
    let mut rest = sorted;
    std::iter::from_fn(move || {
        let mut high = rest.first()?.high;
        let end = rest.iter().position(|m| {
            let is_apart = m.low > high;
            high = high.max(m.high);
            is_apart
        });
        let (some, others) = rest.split_at(end.unwrap_or(rest.len()));
        rest = others;
        Some(some)
    })
}

/// A write stands for a read of the same bytes in the same iteration, unless the loop can be left
/// between them.
fn drop_covered_reads(code: &Code, body: &Range<usize>, ranges: &mut Vec<Strided>) {
    let operand = |r: &Strided| {
        let i = &code.instructions[r.named];
        (i.memory_base(), i.memory_index(), i.memory_index_scale())
    };
    let exits = |r: &Strided| (body.start..r.named).filter(|n| leaves(code, body, *n)).count();
    let writes: Vec<Strided> = ranges.iter().filter(|r| r.write).cloned().collect();
    ranges.retain(|r| {
        r.write
            || !writes.iter().any(|w| {
                operand(w) == operand(r)
                    && w.advancing == r.advancing
                    && exits(w) == exits(r)
                    && w.low <= r.low
                    && r.low + r.len <= w.low + w.len
            })
    });
}

#[cfg(test)]
mod tests;
