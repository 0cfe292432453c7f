//! Instructions that the debug information puts inside an atomic operation of C++ or Rust.
//!
//! `std::atomic` and Rust's `Atomic…` are classes of the library whose functions the compiler
//! inlines. The debug information says which instructions came from which function, and usually the
//! value of the memory-order parameter. C has no such functions: there only the type of a variable
//! tells (`atomic_types`).

use std::collections::HashMap;
use std::ops::Range;

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, Expression, LittleEndian, Operation, Unit,
    UnitOffset,
};

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'u, 'a> = DebuggingInformationEntry<'u, 'u, Slice<'a>>;

/// The code of an atomic operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operations {
    pub range: Range<u64>,
    /// The memory order is known to be relaxed. Otherwise it is another one, or not known.
    pub is_relaxed: bool,
}

/// All atomic operations, sorted; they do not overlap.
pub fn find(dwarf: &Dwarf<Slice<'_>>) -> Vec<Operations> {
    let mut found = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if let Ok(unit) = dwarf.unit(header) {
            let first = found.len();
            let mut reader = UnitReader { dwarf, unit: &unit, known: HashMap::new(), has_fence: false };
            reader.add(&mut found);
            // A fence makes relaxed operations order accesses, and fences are not seen.
            if reader.has_fence {
                found[first..].iter_mut().for_each(|o| o.is_relaxed = false);
            }
        }
    }
    flatten(found)
}

/// Removes overlaps. Of the ranges that begin together, the innermost comes last and says more.
fn flatten(mut found: Vec<Operations>) -> Vec<Operations> {
    found.sort_by_key(|o| (o.range.start, std::cmp::Reverse(o.range.end)));
    let mut flat: Vec<Operations> = Vec::with_capacity(found.len());
    for o in found {
        match flat.last_mut() {
            // A call inside a call: `load` of `AtomicU32` and `atomic_load`. A call that is only
            // part of the other, such as the load in a compare-exchange loop, does not decide for
            // it.
            Some(last) if o.range == last.range => last.is_relaxed |= o.is_relaxed,
            Some(last) if o.range.end <= last.range.end => {}
            Some(last) if o.range.start < last.range.end => {
                flat.push(Operations { range: flat[flat.len() - 1].range.end..o.range.end, ..o })
            }
            _ => flat.push(o),
        }
    }
    flat
}

struct UnitReader<'t, 'a> {
    dwarf: &'t Dwarf<Slice<'a>>,
    unit: &'t Unit<Slice<'a>>,
    /// Functions by their abstract entries: whether they are atomic operations, and relaxed ones.
    known: HashMap<UnitOffset, Option<Function>>,
    /// Whether one of them is a fence.
    has_fence: bool,
}

#[derive(Clone, Copy)]
struct Function {
    is_relaxed: bool,
}

/// A function whose parameters are being read.
struct Open {
    depth: isize,
    first: usize,
}

impl<'t, 'a> UnitReader<'t, 'a> {
    fn add(&mut self, found: &mut Vec<Operations>) {
        let mut entries = self.unit.entries();
        let mut depth = 0;
        let mut open: Option<Open> = None;
        while let Ok(Some((moved, entry))) = entries.next_dfs() {
            depth += moved;
            if open.as_ref().is_some_and(|o| depth <= o.depth) {
                open = None;
            }
            match entry.tag() {
                gimli::DW_TAG_inlined_subroutine | gimli::DW_TAG_subprogram => {
                    open = None;
                    let Some(function) = self.atomic_operation(entry) else { continue };
                    let first = found.len();
                    found.extend(
                        self.ranges(entry)
                            .into_iter()
                            .map(|range| Operations { range, is_relaxed: function.is_relaxed }),
                    );
                    open = Some(Open { depth, first });
                }
                gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable => {
                    let Some(o) = open.as_ref().filter(|o| depth == o.depth + 1) else { continue };
                    if self.is_order(entry) && self.constant(entry) == Some(0) {
                        found[o.first..].iter_mut().for_each(|o| o.is_relaxed = true);
                    }
                }
                _ => {}
            }
        }
    }

    fn ranges(&self, entry: &Entry<'_, 'a>) -> Vec<Range<u64>> {
        let mut all = Vec::new();
        let Ok(mut ranges) = self.dwarf.die_ranges(self.unit, entry) else { return all };
        while let Ok(Some(r)) = ranges.next() {
            if r.begin < r.end && r.begin != 0 {
                all.push(r.begin..r.end);
            }
        }
        all
    }

    /// The entry that `entry` is an instance of.
    fn origin(&self, entry: &Entry<'_, 'a>) -> Option<UnitOffset> {
        [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification].into_iter().find_map(|name| {
            match entry.attr_value(name) {
                Ok(Some(AttributeValue::UnitRef(at))) => Some(at),
                _ => None,
            }
        })
    }

    fn atomic_operation(&mut self, entry: &Entry<'_, 'a>) -> Option<Function> {
        let of = self.origin(entry).unwrap_or(entry.offset());
        if let Some(known) = self.known.get(&of) {
            return *known;
        }
        let linkage = self.text(entry, &[gimli::DW_AT_linkage_name, gimli::DW_AT_MIPS_linkage_name]);
        self.has_fence |= linkage.as_deref().is_some_and(is_fence);
        let function = linkage
            .filter(|l| l.contains("atomic") || l.contains("_Sp_counted_base"))
            .and_then(|l| judge(&l, &self.text(entry, &[gimli::DW_AT_name])?));
        self.known.insert(of, function);
        function
    }

    /// The first of these attributes, of the entry or of the entry that it is an instance of.
    fn text(&self, entry: &Entry<'_, 'a>, names: &[gimli::DwAt]) -> Option<String> {
        let own = |e: &Entry<'_, 'a>| {
            let value = names.iter().find_map(|name| e.attr_value(*name).ok().flatten())?;
            Some(self.dwarf.attr_string(self.unit, value).ok()?.to_string_lossy().into_owned())
        };
        if let Some(text) = own(entry) {
            return Some(text);
        }
        // A concrete instance, its abstract one, the declaration in the class.
        let mut at = self.origin(entry)?;
        for _ in 0..3 {
            let entry = self.unit.entry(at).ok()?;
            if let Some(text) = own(&entry) {
                return Some(text);
            }
            at = self.origin(&entry)?;
        }
        None
    }

    fn is_order(&self, entry: &Entry<'_, 'a>) -> bool {
        self.text(entry, &[gimli::DW_AT_name]).is_some_and(|n| n == "order" || n == "__m")
    }

    /// The value of a variable that is constant.
    fn constant(&self, entry: &Entry<'_, 'a>) -> Option<u64> {
        if let Ok(Some(value)) = entry.attr_value(gimli::DW_AT_const_value) {
            return value.udata_value().or_else(|| value.sdata_value().map(|v| v as u64));
        }
        let location = entry.attr_value(gimli::DW_AT_location).ok()??;
        if let AttributeValue::Exprloc(expression) = location {
            return self.constant_of(expression);
        }
        let mut list = self.dwarf.attr_locations(self.unit, location).ok()??;
        let mut all = None;
        while let Ok(Some(at)) = list.next() {
            let value = self.constant_of(at.data)?;
            if all.is_some_and(|v| v != value) {
                return None;
            }
            all = Some(value);
        }
        all
    }

    fn constant_of(&self, expression: Expression<Slice<'a>>) -> Option<u64> {
        let mut operations = expression.operations(self.unit.encoding());
        let value = match operations.next().ok()?? {
            Operation::UnsignedConstant { value } => value,
            Operation::SignedConstant { value } => value as u64,
            _ => return None,
        };
        matches!(operations.next(), Ok(Some(Operation::StackValue))).then_some(value)
    }
}

/// Whether a function with these names is an atomic operation. Functions that only call such
/// functions need not be known. Functions that do more (`compare_exchange` writes to its parameter)
/// must not be.
fn judge(linkage: &str, name: &str) -> Option<Function> {
    const CLASSES: [&str; 8] = [
        "St13__atomic_base",
        "St14__atomic_float",
        "St12__atomic_ref",
        "St13__atomic_impl",
        "St11atomic_flag",
        "St6atomicI",
        "St10atomic_refI",
        "St16_Sp_counted_base",
    ];
    let name = name.split('<').next().unwrap_or(name);
    if linkage.contains("4core4sync6atomic") {
        let name = name.strip_prefix("atomic_").unwrap_or(name);
        return (is_operation(name) || ["add", "sub", "and", "or", "xor", "nand"].contains(&name))
            .then_some(Function { is_relaxed: false });
    }
    let qualified = linkage.strip_prefix("_ZN")?.trim_start_matches(['V', 'K']);
    if !CLASSES.iter().any(|class| qualified.starts_with(class)) {
        return None;
    }
    match name {
        "_M_get_use_count" => Some(Function { is_relaxed: true }),
        "test" | "clear" if qualified.starts_with("St11") => Some(Function { is_relaxed: false }),
        _ if !qualified.starts_with("St16") && is_operation(name) => Some(Function { is_relaxed: false }),
        _ => None,
    }
}

fn is_fence(linkage: &str) -> bool {
    linkage.contains("19atomic_thread_fence") || linkage.contains("4core4sync6atomic5fence")
}

fn is_operation(name: &str) -> bool {
    matches!(name, "load" | "store" | "swap" | "exchange")
        || name.starts_with("fetch_") && !name.contains("update")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_atomic(linkage: &str, name: &str) -> bool {
        judge(linkage, name).is_some()
    }

    #[test]
    fn operations_are_known_by_their_classes() {
        assert!(is_atomic("_ZNKSt13__atomic_baseIiE4loadESt12memory_order", "load"));
        assert!(is_atomic(
            "_ZNSt13__atomic_impl4loadIiEENSt15remove_volatileIT_E4typeEPKS2_St12memory_order",
            "load<int>"
        ));
        assert!(is_atomic("_ZNVKSt6atomicIbE4loadESt12memory_order", "load"));
        assert!(is_atomic("_RNvMs1v_NtNtCsgEmfK2I1SDS_4core4sync6atomicNtB6_11AtomicUsize4load", "load"));
        assert!(is_atomic("_ZN4core4sync6atomic11atomic_load17hd23c22ba312e7b7dE", "atomic_load<usize>"));
        assert!(
            judge(
                "_ZNKSt16_Sp_counted_baseILN9__gnu_cxx12_Lock_policyE2EE16_M_get_use_countEv",
                "_M_get_use_count"
            )
            .is_some_and(|f| f.is_relaxed)
        );
    }

    #[test]
    fn constructors_and_containers_of_atomics_are_not_operations() {
        assert!(!is_atomic("_ZNSt6atomicIiEC2Ei", "atomic"));
        assert!(!is_atomic("_ZNSt6vectorISt6atomicIiESaIS1_EE5clearEv", "clear"));
        assert!(!is_atomic("_ZN4core4sync6atomic11AtomicUsize3new17h0E", "new"));
        assert!(!is_atomic("_ZN3app4Atom4loadEv", "load"));
    }

    #[test]
    fn fences_are_known_by_their_names() {
        assert!(is_fence("_ZSt19atomic_thread_fenceSt12memory_order"));
        assert!(is_fence("_ZN4core4sync6atomic5fence17hd23c22ba312e7b7dE"));
        assert!(is_fence("_RNvNtNtCsgEmfK2I1SDS_4core4sync6atomic5fence"));
        assert!(!is_fence("_ZN4core4sync6atomic11atomic_load17hd23c22ba312e7b7dE"));
    }

    #[test]
    fn nested_calls_are_one_range() {
        let o = |range, is_relaxed| Operations { range, is_relaxed };
        let flat = flatten(vec![o(10..20, false), o(10..20, true), o(30..34, false), o(12..14, false)]);
        assert_eq!(flat, [o(10..20, true), o(30..34, false)]);
        assert_eq!(flatten(vec![o(10..20, false), o(10..14, true)]), [o(10..20, false)]);
    }
}
