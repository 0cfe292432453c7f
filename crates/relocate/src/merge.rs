//! One probe for neighbouring vector accesses of straight code.
//!
//! Vectorised loops and copied structures access neighbouring blocks of 16 bytes, and write where
//! they have read. A *window* is straight-line code that no jump enters or leaves, and in which the
//! registers of an address keep their values. Within a window, the accesses relative to one address
//! become few probes: neighbours of one kind get one probe for all their bytes, at the last of
//! them. A read gets none if a later write announces the same bytes.
//!
//! Nothing in a window can synchronise: whatever touches memory that threads share ends it. A
//! vector access of 16 bytes or more does not: no atomic variable is accessed so. So all accesses
//! of a window are in one segment, and an access that races with one of them races with it at its
//! probe. A probe comes later than its access, never earlier. So a program that dies in between can
//! lose a report, but nothing is reported that has not happened. No value read in a window becomes
//! an address before its probe, for a crash there would lose the race.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use iced_x86::{FlowControl, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

use crate::access::InstructionAccess;
use crate::code::{Code, FunctionCode};
use crate::emit::is_import;

/// The maximum number of bytes that one probe announces, which the runtime checks without its slow
/// path.
const MOST_BYTES: i64 = 64;
/// The maximum number of instructions in a window.
const LONGEST: usize = 128;

/// What happens to the probe of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Another probe announces the access.
    None,
    /// The probe announces these bytes instead: the displacement of the first, and the number of
    /// bytes.
    Wide { displacement: i64, len: u32 },
}

/// An address without its displacement.
type Base = (Register, Register, u32);

struct Member {
    /// The instruction.
    index: usize,
    write: bool,
    start: i64,
    end: i64,
}

/// Neighbours that one probe announces; the last of them has the probe.
struct Group {
    members: Vec<usize>,
    start: i64,
    end: i64,
}

impl Group {
    fn last(&self) -> usize {
        *self.members.last().unwrap_or_else(|| unreachable!("no group is empty"))
    }
}

/// Places that control may reach from elsewhere.
pub struct Entries {
    /// By address: the first and the last instruction that leads there.
    targets: HashMap<u64, (usize, usize)>,
    /// The first instructions of functions whose jump targets are not all known.
    unknown: HashSet<usize>,
}

impl Entries {
    /// `handlers`: the addresses where functions with landing pads begin.
    pub fn of(code: &Code, handlers: &HashSet<u64>) -> Entries {
        let mut targets: HashMap<u64, (usize, usize)> = HashMap::new();
        let mut unknown = HashSet::new();
        if code.undecoded > 0 {
            unknown.extend(0..code.functions.len());
        }
        for (number, function) in code.functions.iter().enumerate() {
            if handlers.contains(&function.range.start) {
                unknown.insert(number);
            }
            for n in function.body.clone() {
                let i = &code.instructions[n];
                match i.flow_control() {
                    FlowControl::IndirectBranch if !is_import(i) => {
                        unknown.insert(number);
                    }
                    _ if i.op_count() > 0 && i.op0_kind() == OpKind::NearBranch64 => {
                        let (first, last) = targets.entry(i.near_branch_target()).or_insert((n, n));
                        (*first, *last) = (n.min(*first), n.max(*last));
                    }
                    _ => {}
                }
                // The address of an instruction, which may be the target of a computed goto.
                if i.is_ip_rel_memory_operand() {
                    targets.insert(i.ip_rel_memory_address(), (0, usize::MAX));
                }
            }
        }
        // A part of a function that lies elsewhere may have a jump table that leads back.
        let pairs = code.jumps_into_functions();
        let mut again = true;
        while again {
            again = false;
            for (from, to) in pairs.iter().filter_map(|(from, to)| Some((*from, (*to)?))) {
                if unknown.contains(&from) != unknown.contains(&to) {
                    unknown.extend([from, to]);
                    again = true;
                }
            }
        }
        let unknown = unknown.into_iter().map(|number| code.functions[number].body.start).collect();
        Entries { targets, unknown }
    }

    /// Not all places are known that control may reach in the function.
    pub fn is_unknown(&self, function: &FunctionCode) -> bool {
        self.unknown.contains(&function.body.start)
    }

    /// Only jumps of `body` lead to the instruction at `address`.
    pub fn is_internal(&self, address: u64, body: &Range<usize>) -> bool {
        self.targets.get(&address).is_none_or(|(first, last)| body.contains(first) && body.contains(last))
    }
}

/// By instruction, the probes of `function` that differ from those of their accesses alone.
pub fn probes(
    code: &Code,
    function: &FunctionCode,
    entries: &Entries,
    infos: &mut InstructionInfoFactory,
) -> HashMap<usize, Probe> {
    let mut probes = HashMap::new();
    if entries.is_unknown(function) {
        return probes;
    }
    let mut open: HashMap<Base, Vec<Member>> = HashMap::new();
    let mut length = 0;
    for n in function.body.clone() {
        let i = &code.instructions[n];
        length += 1;
        if length > LONGEST || entries.targets.contains_key(&i.ip()) {
            open.drain().for_each(|(_, members)| close(&members, &mut probes));
            length = 0;
        }
        match member(code, n) {
            Some((base, member)) => open.entry(base).or_default().push(member),
            None if ends_window(code, n) => {
                open.drain().for_each(|(_, members)| close(&members, &mut probes));
                length = 0;
            }
            None => {}
        }
        if open.is_empty() {
            continue;
        }
        let written: Vec<Register> = infos
            .info(i)
            .used_registers()
            .iter()
            .filter(|r| !matches!(r.access(), OpAccess::Read | OpAccess::CondRead))
            .map(|r| r.register().full_register())
            .collect();
        open.retain(|(base, index, _), members| {
            let stays = !written.contains(base) && !written.contains(index);
            if !stays {
                close(members, &mut probes);
            }
            stays
        });
    }
    open.drain().for_each(|(_, members)| close(&members, &mut probes));
    probes
}

/// A plain access of 16, 32 or 64 bytes by a vector register.
fn member(code: &Code, n: usize) -> Option<(Base, Member)> {
    let (write, size) = match code.accesses[n] {
        InstructionAccess::Read { size } => (false, size),
        InstructionAccess::Write { size } => (true, size),
        _ => return None,
    };
    let i = &code.instructions[n];
    let is_vector =
        (0..i.op_count()).any(|o| i.op_kind(o) == OpKind::Register && i.op_register(o).is_vector_register());
    let is_near = i.memory_base() != Register::RIP && i.memory_segment() != Register::FS;
    if !matches!(size, 16 | 32 | 64) || !is_vector || !is_near || i.flow_control() != FlowControl::Next {
        return None;
    }
    let start = i.memory_displacement64() as i64;
    let base = (i.memory_base(), i.memory_index(), i.memory_index_scale());
    Some((base, Member { index: n, write, start, end: start + i64::from(size) }))
}

fn ends_window(code: &Code, n: usize) -> bool {
    let i = &code.instructions[n];
    // A value read into a vector register may become an address.
    let becomes_address = (1..i.op_count())
        .any(|o| i.op_kind(o) == OpKind::Register && i.op_register(o).is_vector_register())
        && i.op0_kind() == OpKind::Register
        && i.op0_register().is_gpr();
    code.accesses[n] != InstructionAccess::None
        || i.flow_control() != FlowControl::Next
        || i.has_lock_prefix()
        || becomes_address
        || matches!(
            i.mnemonic(),
            Mnemonic::Mfence
                | Mnemonic::Lfence
                | Mnemonic::Sfence
                | Mnemonic::Syscall
                | Mnemonic::Cpuid
                | Mnemonic::Div
                | Mnemonic::Idiv
        )
}

/// Merges the probes of all accesses of a window that are relative to one address.
fn close(members: &[Member], probes: &mut HashMap<usize, Probe>) {
    if members.len() < 2 {
        return;
    }
    let writes = groups(members.iter().filter(|m| m.write));
    let is_covered =
        |m: &Member| writes.iter().any(|w| w.start <= m.start && m.end <= w.end && w.last() > m.index);
    let (covered, left): (Vec<&Member>, Vec<&Member>) =
        members.iter().filter(|m| !m.write).partition(|m| is_covered(m));
    probes.extend(covered.into_iter().map(|m| (m.index, Probe::None)));
    for group in writes.into_iter().chain(groups(left.into_iter())) {
        let last = group.last();
        probes.extend(group.members.iter().map(|m| (*m, Probe::None)));
        if group.members.len() > 1 {
            let len = (group.end - group.start) as u32;
            probes.insert(last, Probe::Wide { displacement: group.start, len });
        } else {
            probes.remove(&last);
        }
    }
}

/// Groups neighbours, in the order of access.
fn groups<'m>(members: impl Iterator<Item = &'m Member>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for m in members {
        let fits = |g: &&mut Group| {
            let (start, end) = (g.start.min(m.start), g.end.max(m.end));
            let touches = m.start <= g.end && g.start <= m.end;
            touches && end - start <= MOST_BYTES && (m.start - g.start) % 8 == 0
        };
        match groups.iter_mut().find(fits) {
            Some(g) => {
                (g.start, g.end) = (g.start.min(m.start), g.end.max(m.end));
                g.members.push(m.index);
            }
            None => groups.push(Group { members: vec![m.index], start: m.start, end: m.end }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::RelocatedProgram;
    use std::process::Command;

    const NONE: Option<Probe> = Some(Probe::None);

    fn wide(displacement: i64, len: u32) -> Option<Probe> {
        Some(Probe::Wide { displacement, len })
    }

    /// The probes of a function with these instructions, one for each vector access.
    fn merged(body: &str) -> Vec<Option<Probe>> {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("a.s"), folder.path().join("a"));
        let text = format!(
            ".text\n.globl main\n.type main,@function\nmain: ret\n.size main,.-main\n\
             .type f,@function\nf:\n{body}\nret\n.size f,.-f\n.section .note.GNU-stack\n"
        );
        std::fs::write(&source, text).unwrap();
        let built = Command::new("gcc").arg(&source).arg("-o").arg(&program).status().unwrap();
        assert!(built.success());
        let bytes = std::fs::read(&program).unwrap();
        let program = RelocatedProgram::read(&bytes, false).unwrap();
        let code = Code::read(&program);
        let entries = Entries::of(&code, &program.handlers);
        let is_f = |f: &&FunctionCode| f.body.clone().any(|n| member(&code, n).is_some());
        let function = code.functions.iter().find(is_f).unwrap();
        let probes = probes(&code, function, &entries, &mut InstructionInfoFactory::new());
        function
            .body
            .clone()
            .filter(|n| member(&code, *n).is_some())
            .map(|n| probes.get(&n).copied())
            .collect()
    }

    #[test]
    fn neighbours_get_one_probe_at_the_last() {
        let four = "movups (%rdi),%xmm0\nmovups 16(%rdi),%xmm1\naddps %xmm1,%xmm0\n\
                    movups 48(%rdi),%xmm1\nmovups 32(%rdi),%xmm2";
        // The third touches none of those before it.
        assert_eq!(merged(four), [NONE, NONE, None, wide(0, 48)]);
        let five = "movups %xmm0,(%rdi,%rcx,8)\nmovups %xmm0,16(%rdi,%rcx,8)\nmovups %xmm0,32(%rdi,%rcx,8)\n\
                    movups %xmm0,48(%rdi,%rcx,8)\nmovups %xmm0,64(%rdi,%rcx,8)";
        assert_eq!(merged(five), [NONE, NONE, NONE, wide(0, 64), None]);
    }

    #[test]
    fn a_read_is_announced_by_a_later_write() {
        let added = "movups (%rdi),%xmm0\naddps (%rsi),%xmm0\nmovups %xmm0,(%rdi)";
        assert_eq!(merged(added), [NONE, None, None]);
        // Not by an earlier write, nor by one of half of it.
        assert_eq!(merged("movups %xmm0,(%rdi)\nmovups (%rdi),%xmm1"), [None, None]);
        assert_eq!(merged("movups (%rdi),%xmm1\nmovups %xmm1,8(%rdi)"), [None, None]);
    }

    #[test]
    fn a_window_ends() {
        let (read, write) = ("movups (%rdi),%xmm0\n", "\nmovups %xmm0,(%rdi)");
        for between in [
            // Calls, and whatever may synchronise.
            "call main",
            "mfence",
            "lock incl (%rsp)",
            "mov %eax,(%rsi)",
            "mov (%rsi),%eax",
            "movsd (%rsi),%xmm3",
            "xchg %eax,(%rsi)",
            // Other code comes in, or leaves.
            "1:\ndec %ecx\njnz 1b",
            "jmp 1f\n1:",
            "test %eax,%eax\njz 1f\nnop\n1:",
            // Another address.
            "add $8,%rdi",
            "mov %esi,%edi",
            // A value that was read becomes an address.
            "movq %xmm0,%rax",
            "div %ecx",
        ] {
            assert_eq!(merged(&format!("{read}{between}{write}")), [None, None], "{between}");
        }
        for between in ["nop", "mov %rax,-8(%rsp)", "addps %xmm1,%xmm0", "add $8,%rsi"] {
            assert_eq!(merged(&format!("{read}{between}{write}")), [NONE, None], "{between}");
        }
    }

    #[test]
    fn functions_with_unknown_ways_keep_their_probes() {
        let jumps = "test %eax,%eax\njz 1f\njmp *%rax\n1:\nmovups (%rdi),%xmm0\nmovups %xmm0,(%rdi)";
        assert_eq!(merged(jumps), [None, None]);
    }

    /// Whether the probes announce what the accesses do: each byte that is written as written, no
    /// earlier, and no other; each byte that is read as read, or as written later.
    fn is_right(members: &[Member], probes: &HashMap<usize, Probe>) -> bool {
        let announced = |m: &Member| match probes.get(&m.index) {
            Some(Probe::None) => 0..0,
            Some(Probe::Wide { displacement, len }) => *displacement..displacement + i64::from(*len),
            None => m.start..m.end,
        };
        let is_announced = |byte: i64, from: usize, write: bool| {
            members.iter().any(|m| m.index >= from && m.write == write && announced(m).contains(&byte))
        };
        let is_accessed = |byte: i64, until: usize, write: bool| {
            members.iter().any(|m| m.index <= until && m.write == write && (m.start..m.end).contains(&byte))
        };
        members.iter().all(|m| {
            (m.start..m.end)
                .all(|b| is_announced(b, m.index, true) || !m.write && is_announced(b, m.index, false))
                && announced(m).all(|b| is_accessed(b, m.index, m.write))
        })
    }

    #[test]
    fn random_windows_are_announced_to_the_byte() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let (mut merged, mut noticed, mut harmless) = (0, 0, 0);
        for _ in 0..2000 {
            let members: Vec<Member> = (0..2 + random(12) as usize)
                .map(|index| {
                    let start = 8 * random(12) as i64 + [0, 0, 0, 4][random(4) as usize];
                    Member { index, write: random(2) == 0, start, end: start + (16 << random(2)) }
                })
                .collect();
            let mut probes = HashMap::new();
            close(&members, &mut probes);
            assert!(is_right(&members, &probes));
            merged += probes.len();
            // One probe too few, or one that announces too much, is noticed unless others say the
            // same.
            let wrong = random(members.len() as u64) as usize;
            let before = probes.insert(wrong, Probe::None);
            if before != Some(Probe::None) {
                *if is_right(&members, &probes) { &mut harmless } else { &mut noticed } += 1;
            }
            probes.insert(wrong, Probe::Wide { displacement: members[wrong].start - 8, len: 512 });
            assert!(!is_right(&members, &probes));
        }
        assert!(merged > 4000 && noticed > 10 * harmless, "{merged} {noticed} {harmless}");
    }
}
