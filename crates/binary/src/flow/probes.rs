//! The calls by which instrumented code announces its accesses, and which load belongs to which
//! call.
//!
//! A compiler puts the call of `__tsan_read4` before the load, and its later passes move the two
//! apart. They are matched by the form of the address. If the forms differ, they are matched by
//! distance: the closest probe before the load that has its size, with no other load in between.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::form::Form;
use super::function::MachineFunction;
use super::places::{RDI, RSI};

/// The number of blocks searched on the way back to a probe.
const MAX_BLOCKS: usize = 64;
/// The most instructions between a load and a probe that are matched by distance.
const NEAR: u32 = 12;

/// What a probe announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Announced {
    pub(crate) reads: bool,
    /// The size in bytes. 0 if the call gives it at run time.
    pub(crate) size: u8,
    pub(crate) atomic: bool,
}

/// Parses the name of a probe, without `__tsan_`. `None` for probes that announce no access.
pub(crate) fn announced(name: &str) -> Option<Announced> {
    if let Some(rest) = name.strip_prefix("atomic") {
        let digits = rest.find('_').filter(|at| *at > 0)?;
        let bits: u32 = rest[..digits].parse().ok()?;
        let reads = &rest[digits..] != "_store";
        return Some(Announced { reads, size: u8::try_from(bits / 8).ok()?, atomic: true });
    }
    let plain = name.strip_prefix("unaligned_").or_else(|| name.strip_prefix("volatile_")).unwrap_or(name);
    let (reads, rest) = if let Some(rest) = plain.strip_prefix("read_write") {
        (true, rest)
    } else if let Some(rest) = plain.strip_prefix("read") {
        (true, rest)
    } else if let Some(rest) = plain.strip_prefix("write") {
        (false, rest)
    } else if plain == "vptr_read" {
        (true, "8")
    } else if plain == "vptr_update" {
        (false, "8")
    } else {
        return None;
    };
    let digits = rest.strip_suffix("_pc").unwrap_or(rest);
    let size = if digits == "_range" { 0 } else { digits.parse().ok()? };
    Some(Announced { reads, size, atomic: false })
}

/// The plain probes of one function, by what they announce.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    by_form: HashMap<Form, Vec<u32>>,
    sizes: HashMap<u32, Announced>,
    /// Probes of whole objects: where they begin, and their lengths.
    ranges: Vec<(Form, i64, u32)>,
}

impl Probes {
    /// Collects them; `form_of` gives the form of a register before an instruction.
    pub(crate) fn new(function: &MachineFunction, form_of: impl Fn(u32, u8) -> Form) -> Self {
        let mut probes = Self::default();
        for (&index, callee) in &function.callees {
            let Some(announced) = callee.probe().and_then(announced).filter(|a| !a.atomic) else { continue };
            let form = form_of(index, RDI);
            let length = form_of(index, RSI);
            if announced.size == 0 && announced.reads && length.terms.is_empty() {
                probes.ranges.push((form.clone(), length.constant, index));
            }
            probes.by_form.entry(form).or_default().push(index);
            probes.sizes.insert(index, announced);
        }
        probes
    }

    /// The probe that announced a load of `size` bytes at `index` from the address `form`.
    pub(crate) fn announcing(
        &self,
        function: &MachineFunction,
        index: u32,
        form: &Form,
        size: u32,
    ) -> Option<u32> {
        match self.by_form.get(form) {
            Some(candidates) => self.nearest(function, index, candidates),
            None => self.enclosing(form, size).or_else(|| self.adjacent(function, index, size)),
        }
    }

    /// Like [`Probes::announcing`], but only for a probe of exactly that address.
    pub(crate) fn announcing_exactly(
        &self,
        function: &MachineFunction,
        index: u32,
        form: &Form,
    ) -> Option<u32> {
        self.nearest(function, index, self.by_form.get(form)?)
    }

    /// A probe of an object that contains the loaded bytes.
    fn enclosing(&self, form: &Form, size: u32) -> Option<u32> {
        let holds = |(start, length, _): &&(Form, i64, u32)| {
            let within = form.constant.wrapping_sub(start.constant);
            start.terms == form.terms && within >= 0 && within + i64::from(size) <= *length
        };
        self.ranges.iter().find(holds).map(|(_, _, probe)| *probe)
    }

    /// The closest of the candidates on the paths to `index`. Reads come before writes, because
    /// some compilers announce a read and a write of one place by the write alone.
    fn nearest(&self, function: &MachineFunction, index: u32, candidates: &[u32]) -> Option<u32> {
        let reads = |probe: &u32| self.sizes.get(probe).is_some_and(|announced| announced.reads);
        let wanted: Vec<u32> =
            match candidates.iter().copied().filter(|probe| reads(probe)).collect::<Vec<_>>() {
                none if none.is_empty() => candidates.to_vec(),
                some => some,
            };
        if let [only] = wanted[..] {
            return Some(only);
        }
        let mut entered = HashSet::default();
        let mut work = VecDeque::from([(function.block_of(index), index)]);
        while let Some((block, end)) = work.pop_front() {
            let first = function.blocks[block as usize].first;
            let here = wanted.iter().copied().filter(|probe| (first..end).contains(probe)).max();
            if here.is_some() {
                return here;
            }
            for &before in function.graph.predecessors(block) {
                if entered.len() < MAX_BLOCKS && entered.insert(before) {
                    work.push_back((before, function.blocks[before as usize].end));
                }
            }
        }
        wanted.first().copied()
    }

    fn adjacent(&self, function: &MachineFunction, index: u32, size: u32) -> Option<u32> {
        let mut at = index;
        for _ in 0..NEAR {
            let block = function.block_of(at);
            at = if at > function.blocks[block as usize].first {
                at - 1
            } else {
                let [before] = function.graph.predecessors(block) else { return None };
                function.last_of(*before)
            };
            if let Some(announced) = self.sizes.get(&at) {
                return (announced.reads && u32::from(announced.size) == size).then_some(at);
            }
            if super::function::is_call(&function.code[at as usize]) {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(reads: bool, size: u8) -> Option<Announced> {
        Some(Announced { reads, size, atomic: false })
    }

    #[test]
    fn names_of_gcc_clang_and_rustc() {
        assert_eq!(announced("read4"), plain(true, 4));
        assert_eq!(announced("write16"), plain(false, 16));
        assert_eq!(announced("unaligned_read8"), plain(true, 8));
        assert_eq!(announced("volatile_write2"), plain(false, 2));
        assert_eq!(announced("read_write8"), plain(true, 8));
        assert_eq!(announced("unaligned_read_write4"), plain(true, 4));
        assert_eq!(announced("read_range"), plain(true, 0));
        assert_eq!(announced("vptr_read"), plain(true, 8));
        assert_eq!(announced("read1_pc"), plain(true, 1));
    }

    #[test]
    fn atomics_read_unless_they_store() {
        let atomic = |reads, size| Some(Announced { reads, size, atomic: true });
        assert_eq!(announced("atomic32_load"), atomic(true, 4));
        assert_eq!(announced("atomic64_fetch_add"), atomic(true, 8));
        assert_eq!(announced("atomic8_store"), atomic(false, 1));
        assert_eq!(announced("atomic128_compare_exchange_val"), atomic(true, 16));
        assert_eq!(announced("atomic_thread_fence"), None);
    }

    #[test]
    fn other_probes_announce_nothing() {
        for name in ["func_entry", "func_exit", "init", "memcpy", "", "read", "readx"] {
            assert_eq!(announced(name), None, "{name}");
        }
    }
}
