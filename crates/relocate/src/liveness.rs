//! Which registers and flags are looked at again, for each instruction of a function.
//!
//! The usual backward analysis, over the direct jumps of one function. Wherever the function is
//! left, by a call, a return, or a jump that is not to one of its own instructions, all registers
//! count as live: gcc's -fipa-ra lets a caller rely on a register that its callee leaves alone, and
//! assembly has conventions of its own. So a register is dead only if the function itself sets it
//! again on every way, before anybody else runs. Flags are dead at calls and returns: no
//! convention passes them on.

use std::ops::Range;

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, RflagsBits,
};

/// General registers by number, then vector registers (the first sixteen), then the status flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set(u64);

const VECTORS: u32 = 16;
const FLAGS: u32 = 32;
const STATUS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::CF | RflagsBits::PF;
const ALL_FLAGS: Set = Set((STATUS as u64) << FLAGS);

impl Set {
    pub const NONE: Set = Set(0);
    pub const ALL: Set = Set(ALL_FLAGS.0 | 0xffff_ffff);

    /// Registers beyond the first sixteen vectors, masks and segments are not kept.
    fn of(register: Register) -> Set {
        let full = register.full_register();
        if full.is_gpr() {
            return Set(1 << full.number());
        }
        let is_kept = full.is_vector_register() && full.number() < 16;
        Set(if is_kept { 1 << (VECTORS + full.number() as u32) } else { 0 })
    }

    fn flags(bits: u32) -> Set {
        Set(u64::from(bits & STATUS) << FLAGS)
    }

    fn and(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    fn without(self, other: Set) -> Set {
        Set(self.0 & !other.0)
    }

    pub fn has(self, register: Register) -> bool {
        self.0 & Set::of(register).0 != 0
    }

    pub fn with(self, registers: &[Register]) -> Set {
        self.and(registers.iter().copied().collect())
    }

    #[cfg(test)]
    pub fn with_flags(self) -> Set {
        self.and(ALL_FLAGS)
    }

    pub fn has_flags(self) -> bool {
        self.0 & ALL_FLAGS.0 != 0
    }
}

impl FromIterator<Register> for Set {
    fn from_iter<I: IntoIterator<Item = Register>>(registers: I) -> Set {
        registers.into_iter().fold(Set::NONE, |set, r| set.and(Set::of(r)))
    }
}

/// What one instruction does, and where control goes.
struct Step {
    uses: Set,
    sets: Set,
    /// Live behind it, whatever follows.
    leaves: Set,
    falls_through: bool,
    target: Option<usize>,
}

/// The live set before each instruction of `body`. `find` gives the place in `body` of the
/// instruction at an address.
pub fn before(
    body: &[Instruction],
    infos: &mut InstructionInfoFactory,
    find: impl Fn(u64) -> Option<usize>,
) -> Vec<Set> {
    let steps: Vec<Step> = body.iter().map(|i| step(i, infos, &find)).collect();
    let mut live = vec![Set::NONE; body.len()];
    let mut again = true;
    while again {
        again = false;
        for (n, step) in steps.iter().enumerate().rev() {
            let mut after = step.leaves;
            if step.falls_through {
                after = after.and(live.get(n + 1).copied().unwrap_or(Set::ALL));
            }
            if let Some(target) = step.target {
                after = after.and(live[target]);
            }
            let before = step.uses.and(after.without(step.sets));
            again |= before != live[n];
            live[n] = before;
        }
    }
    live
}

fn step(i: &Instruction, infos: &mut InstructionInfoFactory, find: &impl Fn(u64) -> Option<usize>) -> Step {
    let (mut uses, mut sets) = (Set::flags(i.rflags_read()), Set::NONE);
    if !may_keep_flags(i) {
        sets = sets.and(Set::flags(i.rflags_modified()));
    }
    let info = infos.info(i);
    for used in info.used_registers() {
        let register = used.register();
        match used.access() {
            OpAccess::Write if register.is_gpr() && register.size() >= 4 && !may_keep_register(i) => {
                sets = sets.and(Set::of(register));
            }
            OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess => {}
            _ => uses = uses.and(Set::of(register)),
        }
    }
    // Of what writes vector registers only the plain forms count.
    let sets_vector = i.op_count() > 0
        && i.op0_kind() == OpKind::Register
        && i.op0_register().is_vector_register()
        && info.op0_access() == OpAccess::Write
        && i.op_mask() == Register::None;
    if sets_vector {
        sets = sets.and(Set::of(i.op0_register()));
    }
    let step = Step { uses, sets, leaves: Set::NONE, falls_through: true, target: None };
    match i.flow_control() {
        FlowControl::Next if !sees_all(i) => step,
        FlowControl::ConditionalBranch if i.op0_kind() == OpKind::NearBranch64 => {
            let target = find(i.near_branch_target());
            Step { leaves: if target.is_some() { Set::NONE } else { Set::ALL }, target, ..step }
        }
        FlowControl::UnconditionalBranch if i.op0_kind() == OpKind::NearBranch64 => {
            let target = find(i.near_branch_target());
            let leaves = if target.is_some() { Set::NONE } else { Set::ALL };
            Step { leaves, target, falls_through: false, ..step }
        }
        FlowControl::Call | FlowControl::IndirectCall if i.mnemonic() == Mnemonic::Call => {
            leaving(Set::ALL.without(ALL_FLAGS))
        }
        FlowControl::Return if i.mnemonic() == Mnemonic::Ret => leaving(Set::ALL.without(ALL_FLAGS)),
        _ => leaving(Set::ALL),
    }
}

/// Nothing is known of what comes next, but for what it may look at.
fn leaving(live: Set) -> Step {
    Step { uses: live, sets: Set::NONE, leaves: Set::NONE, falls_through: false, target: None }
}

/// It looks at registers that no operand names.
fn sees_all(i: &Instruction) -> bool {
    matches!(
        i.mnemonic(),
        Mnemonic::Fxsave
            | Mnemonic::Fxsave64
            | Mnemonic::Xsave
            | Mnemonic::Xsave64
            | Mnemonic::Xsavec
            | Mnemonic::Xsavec64
            | Mnemonic::Xsaveopt
            | Mnemonic::Xsaveopt64
            | Mnemonic::Fxrstor
            | Mnemonic::Fxrstor64
            | Mnemonic::Xrstor
            | Mnemonic::Xrstor64
            | Mnemonic::Vzeroall
            | Mnemonic::Vzeroupper
    )
}

/// A search for a bit in nothing leaves its result as it was.
fn may_keep_register(i: &Instruction) -> bool {
    matches!(i.mnemonic(), Mnemonic::Bsf | Mnemonic::Bsr) || i.has_rep_prefix() || i.has_repne_prefix()
}

/// A shift or a repeated comparison may be one of nothing, which leaves the flags as they are.
fn may_keep_flags(i: &Instruction) -> bool {
    let last = i.op_count().checked_sub(1);
    let shifts = matches!(
        i.mnemonic(),
        Mnemonic::Shl
            | Mnemonic::Shr
            | Mnemonic::Sar
            | Mnemonic::Rol
            | Mnemonic::Ror
            | Mnemonic::Rcl
            | Mnemonic::Rcr
            | Mnemonic::Shld
            | Mnemonic::Shrd
    );
    let by_register = last.is_some_and(|n| i.op_kind(n) == OpKind::Register);
    shifts && by_register || i.has_rep_prefix() || i.has_repne_prefix()
}

/// Vector registers that no instruction of the program names, by none of their sizes. No function
/// has to preserve them for its caller and none is an argument or a result, so a probe may change
/// them. A caller that knows what its callee leaves alone (gcc's -fipa-ra) would name them itself.
pub fn unused_vectors(instructions: &[Instruction]) -> Vec<Register> {
    const NO_ARGUMENTS: Range<u32> = 8..16;
    let named = instructions.iter().fold(Set::NONE, |named, i| {
        let operands = (0..i.op_count()).filter(|o| i.op_kind(*o) == OpKind::Register);
        named.and(operands.map(|o| i.op_register(o)).collect())
    });
    NO_ARGUMENTS.rev().map(|n| Register::XMM0 + n).filter(|r| !named.has(*r)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};
    use object::{Object, ObjectSection};
    use std::process::Command;

    /// Code of the most bytes that one case has.
    const ROOM: usize = 256;

    /// The instructions of each text. `1:` and the like are labels of its own, `outside` is none.
    fn assembled(texts: &[&str]) -> Vec<Vec<Instruction>> {
        let folder = tempfile::tempdir().unwrap();
        let (source, file) = (folder.path().join("a.s"), folder.path().join("a.o"));
        let cases: String = texts.iter().map(|t| format!("{t}\nud2\n.balign {ROOM}\n")).collect();
        let text = format!(".text\n{cases}outside: ret\n.section .note.GNU-stack\n");
        std::fs::write(&source, text).unwrap();
        let built = Command::new("gcc").arg("-c").arg(&source).arg("-o").arg(&file).status().unwrap();
        assert!(built.success());
        let bytes = std::fs::read(&file).unwrap();
        let object = object::File::parse(&*bytes).unwrap();
        let code = object.section_by_name(".text").unwrap().data().unwrap().to_vec();
        let decode = |(n, part): (usize, &[u8])| {
            let decoder = Decoder::with_ip(64, part, (n * ROOM) as u64, DecoderOptions::NONE);
            decoder.into_iter().take_while(|i| i.mnemonic() != Mnemonic::Ud2).collect()
        };
        code.chunks(ROOM).take(texts.len()).enumerate().map(decode).collect()
    }

    /// The set before the first instruction of each.
    fn first(texts: &[&str]) -> Vec<Set> {
        let of = |body: Vec<Instruction>| {
            let find = |address: u64| body.iter().position(|i| i.ip() == address);
            before(&body, &mut InstructionInfoFactory::new(), find)[0]
        };
        assembled(texts).into_iter().map(of).collect()
    }

    fn expect(is_live: impl Fn(Set) -> bool, cases: &[(bool, &str)]) {
        let texts: Vec<&str> = cases.iter().map(|c| c.1).collect();
        for (set, (live, text)) in first(&texts).into_iter().zip(cases) {
            assert_eq!(is_live(set), *live, "{text}: {set:x?}");
        }
    }

    #[test]
    fn a_register_is_dead_if_it_is_set_before_anybody_looks() {
        expect(
            |s| s.has(Register::RCX),
            &[
                (false, "mov (%rdi),%rcx\nret"),
                (true, "mov (%rcx),%rcx\nret"),
                (true, "mov (%rdi,%rcx),%eax\nmov $1,%ecx\nret"),
                (true, "ret"),
                // 32 bits set the register, 16 and 8 do not.
                (false, "mov $1,%ecx\nret"),
                (true, "mov $1,%cx\nret"),
                (true, "mov $1,%ch\nmov %ecx,%eax\nret"),
                (true, "mov %cl,%al\nmov $1,%ecx\nret"),
                (true, "cmove %rdx,%rcx\nret"),
                (true, "bsf %rdx,%rcx\nret"),
                (true, "xchg %rdx,%rcx\nret"),
                (false, "xor %ecx,%ecx\nret"),
                (false, "pop %rcx\nret"),
                (true, "rep stosb\nmov $1,%ecx\nret"),
                (true, "shl %cl,%eax\nmov $1,%ecx\nret"),
                // Others run.
                (true, "call *%rdx\nmov $1,%ecx\nret"),
                (true, "call outside\nmov $1,%ecx\nret"),
                (true, "syscall\nmov $1,%ecx\nret"),
                (true, "nop\njmp outside"),
                (true, "test %eax,%eax\njz outside\nmov $1,%ecx\nret"),
                (true, "jmp *%rdx\nmov $1,%ecx\nret"),
                (true, "nop"),
            ],
        );
    }

    #[test]
    fn a_vector_register_is_dead_if_all_of_its_sixteen_bytes_are_set() {
        expect(
            |s| s.has(Register::XMM2),
            &[
                (false, "movups (%rdi),%xmm2\nret"),
                (false, "movsd (%rdi),%xmm2\nret"),
                (false, "movq %rax,%xmm2\nret"),
                (true, "movsd %xmm3,%xmm2\nret"),
                (true, "movhps (%rdi),%xmm2\nret"),
                (true, "movlps (%rdi),%xmm2\nret"),
                (true, "addps %xmm3,%xmm2\nret"),
                (true, "cvtsi2sd %eax,%xmm2\nret"),
                (true, "sqrtsd %xmm3,%xmm2\nret"),
                (true, "pinsrw $1,%eax,%xmm2\nret"),
                (false, "vmovaps (%rdi),%ymm2\nret"),
                (true, "vmovaps %ymm2,(%rdi)\nmovaps %xmm3,%xmm2\nret"),
                (true, "vmovups (%rdi),%zmm2{%k1}\nret"),
                (true, "vfmadd231pd %ymm1,%ymm0,%ymm2\nret"),
                (true, "vzeroupper\nret"),
                (true, "vzeroupper\nmovaps %xmm3,%xmm2\nret"),
                (true, "fxsave (%rdi)\nmovaps %xmm3,%xmm2\nret"),
                (true, "call outside\nmovaps %xmm3,%xmm2\nret"),
            ],
        );
    }

    #[test]
    fn flags_are_dead_if_all_are_set_or_the_function_is_left() {
        expect(
            Set::has_flags,
            &[
                (false, "1: add $1,%eax\njz 1b\nret"),
                (true, "1: mov $1,%eax\njz 1b\nret"),
                // Carry stays as it is.
                (true, "inc %eax\njc outside\nret"),
                (true, "inc %eax\njmp outside"),
                (false, "1: inc %eax\njz 1b\nret"),
                (true, "1: inc %eax\njz 1b\nadc %eax,%eax\nret"),
                // By nothing, perhaps.
                (true, "1: shl %cl,%eax\njz 1b\nret"),
                (false, "1: shl $2,%eax\njz 1b\nret"),
                (true, "1: repe cmpsb\njz 1b\nret"),
                (false, "call *%rax"),
                (false, "ret"),
                (true, "pushfq\nret"),
                (true, "jmp *%rax"),
                (true, "sete %al\nret"),
                (true, "cmovo %eax,%ecx\nret"),
            ],
        );
    }

    #[test]
    fn both_ways_of_a_branch_and_the_way_back_of_a_loop_count() {
        expect(
            |s| s.has(Register::RCX),
            &[
                (false, "test %edi,%edi\njz 1f\nmov $1,%ecx\nret\n1: mov $2,%ecx\nret"),
                (true, "test %edi,%edi\njz 1f\nmov $1,%ecx\nret\n1: ret"),
                (true, "test %edi,%edi\njz 1f\nret\n1: mov $2,%ecx\nret"),
                (false, "1: mov %esi,%edx\ndec %edi\njnz 1b\nmov $1,%ecx\nret"),
                (true, "1: dec %edi\nnop\njnz 1b\nret"),
                // Seen on the way back only.
                (true, "jmp 2f\n1: mov %ecx,%edx\n2: dec %edi\njnz 1b\nmov $1,%ecx\nret"),
                (true, "1: dec %edi\njz 2f\nmov (%rcx),%eax\njmp 1b\n2: mov $1,%ecx\nret"),
            ],
        );
    }

    #[test]
    fn vectors_that_are_named_or_passed_are_not_unused() {
        let body = assembled(&["movaps %xmm9,%xmm1\nvmovaps (%rdi),%ymm12"]).remove(0);
        let names = [15, 14, 13, 11, 10, 8].map(|n| Register::XMM0 + n as u32);
        assert_eq!(unused_vectors(&body), names);
    }
}
