//! The constants that a program's code stores in each member and global.
//!
//! If `c->fd = -1` is the only store to `fd` in a program, `c->fd >= 0` holds only after a function
//! that nobody defines has changed it; see [`super::former_values`]. A place whose address goes
//! anywhere but into a load, a store of a constant or an unknown function may hold anything.

use rustc_hash::{FxHashMap, FxHashSet};

use super::named::named;
use super::value::{known_bin, known_conv, known_un};
use crate::ir::{AtomicInstr, Instr, MemberId, Program};

/// What the code names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoredPlace {
    Member(MemberId),
    /// A global, by its address.
    Global(u32),
}

#[derive(Debug, Default)]
pub struct StoredConstants {
    /// `None`: something else than constants.
    of: FxHashMap<StoredPlace, Option<Vec<u64>>>,
    /// Where each member that the code mentions lies in its record.
    offsets: FxHashMap<MemberId, FxHashSet<u32>>,
    /// What is stored at an offset of a variable that is copied as a whole. Its initialiser does
    /// not name the members.
    copied: FxHashMap<u32, Option<Vec<u64>>>,
}

/// What is done with an address.
enum AddressUse {
    Nothing,
    Stores(u64),
    Anything,
}

impl StoredConstants {
    pub fn of(program: &Program) -> Self {
        let mut out = Self::default();
        for (pc, member) in &program.members {
            let before = pc.checked_sub(1).map(|before| program.code[before as usize]);
            let offset = if let Some(Instr::Field(n)) = before { n } else { 0 };
            out.offsets.entry(*member).or_default().insert(offset);
            note(&mut out.of, StoredPlace::Member(*member), use_of_address(program, *pc));
        }
        for (pc, instr) in (1..).zip(&program.code) {
            if let Instr::GlobalAddr(address) = instr {
                note(&mut out.of, StoredPlace::Global(*address), use_of_address(program, pc));
            }
        }
        for f in program.functions.iter().filter(|f| f.defined) {
            out.note_copied(program, f.entry, f.end);
        }
        out
    }

    /// Notes the stores to variables of a function that are copied as a whole.
    fn note_copied(&mut self, program: &Program, entry: u32, end: u32) {
        let code = &program.code[entry as usize..end as usize];
        let copied: Vec<(u32, u32)> = code
            .windows(2)
            .filter_map(|pair| match pair {
                [Instr::FrameAddr(at), Instr::Copy(n) | Instr::CopyAtomic(n)] => Some((*at, at + n)),
                _ => None,
            })
            .collect();
        for (i, instr) in code.iter().enumerate() {
            let Instr::FrameAddr(at) = instr else { continue };
            let Some((start, _)) = copied.iter().find(|(start, end)| start <= at && at < end) else {
                continue;
            };
            let (offset, next) = match code.get(i + 1) {
                Some(Instr::Field(n)) => (at - start + n, i + 2),
                _ => (at - start, i + 1),
            };
            if !matches!(code.get(next), Some(Instr::Copy(_) | Instr::CopyAtomic(_) | Instr::Zero(_))) {
                note(&mut self.copied, offset, use_of_address(program, entry + next as u32));
            }
        }
    }

    /// The member or global that the load at a place reads.
    pub fn place_of_load(program: &Program, pc: u32) -> Option<StoredPlace> {
        let after = program.members.partition_point(|m| m.0 <= pc);
        let member = after.checked_sub(1).map(|i| program.members[i]).filter(|m| m.0 == pc);
        let before = pc.checked_sub(1).and_then(|before| program.code.get(before as usize));
        match (member, before) {
            (Some((_, id)), _) => Some(StoredPlace::Member(id)),
            (None, Some(Instr::GlobalAddr(address))) => Some(StoredPlace::Global(*address)),
            _ => None,
        }
    }

    /// All that the program's code stores at a place, if that is constants only.
    pub fn at(&self, place: StoredPlace) -> Option<Vec<u64>> {
        let mut out = self.of.get(&place).cloned().unwrap_or_else(|| Some(Vec::new()))?;
        if let StoredPlace::Member(id) = place {
            for offset in self.offsets.get(&id).into_iter().flatten() {
                if let Some(copied) = self.copied.get(offset) {
                    out.extend(copied.as_ref()?);
                }
            }
        }
        Some(out)
    }
}

fn note<K: std::hash::Hash + Eq>(of: &mut FxHashMap<K, Option<Vec<u64>>>, place: K, what: AddressUse) {
    let known = of.entry(place).or_insert_with(|| Some(Vec::new()));
    match (what, known) {
        (AddressUse::Stores(v), Some(constants)) if !constants.contains(&v) => constants.push(v),
        (AddressUse::Anything, known) => *known = None,
        _ => {}
    }
}

/// What becomes of the address that is on the top of the stack before an instruction.
fn use_of_address(program: &Program, from: u32) -> AddressUse {
    // The values above the address, where they are constants.
    let mut above: Vec<Option<u64>> = Vec::new();
    for instr in &program.code[from as usize..] {
        let (pops, pushes) = instr.effect();
        if pops as usize > above.len() {
            return consumed(program, instr, &above);
        }
        let is_branch = instr.jump_target().is_some() || instr.ends_block();
        if is_branch {
            return AddressUse::Anything;
        }
        let args = above.split_off(above.len() - pops as usize);
        let result = match (instr, args.as_slice()) {
            (Instr::Int(n), _) => Some(i64::from(*n) as u64),
            (Instr::Const(n), _) => program.constants.get(*n as usize).copied(),
            (Instr::Conv(from, to), [Some(v)]) => Some(known_conv(*from, *to, *v)),
            (Instr::Un(op, ty), [Some(v)]) => Some(known_un(*op, *ty, *v)),
            (Instr::Bin(op, ty), [Some(a), Some(b)]) => Some(known_bin(*op, *ty, *a, *b)),
            (Instr::StoreTee(..), [_, v]) => *v,
            _ => None,
        };
        above.resize(above.len() + pushes as usize, None);
        if pushes == 1
            && let Some(last) = above.last_mut()
        {
            *last = result;
        }
    }
    AddressUse::Anything
}

/// What an instruction does with an address that it pops, with these values above it.
fn consumed(program: &Program, instr: &Instr, above: &[Option<u64>]) -> AddressUse {
    match (instr, above) {
        (Instr::Load(..) | Instr::LoadBits(..) | Instr::Atomic(AtomicInstr::Load, ..), []) => {
            AddressUse::Nothing
        }
        (
            Instr::Store(ty, _) | Instr::StoreTee(ty, _) | Instr::Atomic(AtomicInstr::Store, ty, _),
            [Some(v)],
        ) => AddressUse::Stores(ty.wrap(*v)),
        // What an unknown function does is what is asked.
        (Instr::Call(f, _), _) => {
            let f = &program.functions[*f as usize];
            let is_unknown = !f.defined && named(&f.name).is_none();
            if is_unknown { AddressUse::Nothing } else { AddressUse::Anything }
        }
        _ => AddressUse::Anything,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::link;
    use crate::{CheckOptions, Source};

    /// The constants stored in the member of a name in a C text.
    fn stored(text: &str, member: &str) -> Option<Vec<u64>> {
        let unit = Source::new("a.c", text).lower(&CheckOptions::default());
        let program = link::link(&[&unit.unit]);
        let id = program.member_names.iter().find(|(_, name)| &***name == member).map(|(id, _)| *id);
        let mut out = StoredConstants::of(&program).at(StoredPlace::Member(id.expect("a member")))?;
        out.sort_unstable();
        Some(out)
    }

    const RECORD: &str = "struct c { int first; int fd; int on; }; int f(void); void g(int *); ";

    #[test]
    fn constants_only() {
        let text = format!(
            "{RECORD} void h(struct c *c) {{ c->fd = -1; c->on = c->first = 0; if (c->fd) c->on = 2; }}"
        );
        assert_eq!(stored(&text, "fd"), Some(vec![u64::MAX]));
        assert_eq!(stored(&text, "on"), Some(vec![0, 2]));
        assert_eq!(stored(&text, "first"), Some(vec![0]));
    }

    #[test]
    fn other_stores_and_addresses_that_go_elsewhere() {
        for body in
            ["c->fd = f();", "c->fd++;", "int *p = &c->fd; *p = 3;", "own(&c->fd);", "c->fd = c->on ? 1 : 2;"]
        {
            let text = format!(
                "{RECORD} void own(int *p) {{ *p = f(); }} void h(struct c *c) {{ c->fd = 1; {body} }}"
            );
            assert_eq!(stored(&text, "fd"), None, "{body}");
        }
        let text = format!("{RECORD} void h(struct c *c) {{ c->fd = 1; g(&c->fd); }}");
        assert_eq!(stored(&text, "fd"), Some(vec![1]), "an unknown function");
    }

    #[test]
    fn initialisers_of_what_is_copied() {
        for body in ["*c = (struct c){.fd = f()};", "struct c new = {0, f(), 3}; *c = new;"] {
            let text = format!("{RECORD} void h(struct c *c) {{ if (c->fd && c->on) return; {body} }}");
            assert_eq!(stored(&text, "fd"), None, "{body}");
            assert_ne!(stored(&text, "on"), None, "{body}");
        }
        let text =
            format!("{RECORD} void h(struct c *c) {{ if (c->fd) return; *c = (struct c){{.fd = 7}}; }}");
        assert_eq!(stored(&text, "fd"), Some(vec![7]));
    }
}
