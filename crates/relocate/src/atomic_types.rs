//! Finds global variables of atomic types, from the debug information.
//!
//! It knows `_Atomic` of C, `std::atomic` and related classes, and `Atomic…` of Rust, also as
//! elements of arrays and members of structures. Only addresses count, not sizes.

use std::collections::BTreeSet;

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, LittleEndian, Operation, Unit, UnitOffset,
};

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'u, 'a> = DebuggingInformationEntry<'u, 'u, Slice<'a>>;

/// The maximum nesting of types.
const DEEPEST: u32 = 24;
/// The maximum number of elements examined in one array.
const MOST_ELEMENTS: u64 = 4096;
/// The maximum total number of atomic variables.
const MOST: usize = 1 << 16;

/// The addresses of atomic variables in the file.
pub fn variables(dwarf: &Dwarf<Slice<'_>>) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if let Ok(unit) = dwarf.unit(header) {
            let mut types = Types { dwarf, unit: &unit, found: &mut found };
            types.add_variables();
        }
    }
    found
}

struct Types<'t, 'a> {
    dwarf: &'t Dwarf<Slice<'a>>,
    unit: &'t Unit<Slice<'a>>,
    found: &'t mut BTreeSet<u64>,
}

impl<'t, 'a> Types<'t, 'a> {
    fn add_variables(&mut self) {
        let mut entries = self.unit.entries();
        while let Ok(Some((_, entry))) = entries.next_dfs() {
            if entry.tag() != gimli::DW_TAG_variable || self.found.len() > MOST {
                continue;
            }
            if let (Some(address), Some(of)) = (self.address(entry), self.type_of(entry)) {
                self.add(of, address, 0);
            }
        }
    }

    /// The address of a variable with a fixed place.
    fn address(&self, entry: &Entry<'_, 'a>) -> Option<u64> {
        let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location).ok()?? else {
            return None;
        };
        match expression.operations(self.unit.encoding()).next().ok()?? {
            Operation::Address { address } => Some(address),
            Operation::AddressIndex { index } => self.dwarf.address(self.unit, index).ok(),
            _ => None,
        }
    }

    /// The type of an entry, even if it was declared elsewhere.
    fn type_of(&self, entry: &Entry<'_, 'a>) -> Option<UnitOffset> {
        let refers = |e: &Entry<'_, 'a>, name| match e.attr_value(name) {
            Ok(Some(AttributeValue::UnitRef(at))) => Some(at),
            _ => None,
        };
        refers(entry, gimli::DW_AT_type).or_else(|| {
            let declared = self.unit.entry(refers(entry, gimli::DW_AT_specification)?).ok()?;
            refers(&declared, gimli::DW_AT_type)
        })
    }

    /// Adds the atomic parts of a variable of the type at `of` that lies at `address`.
    fn add(&mut self, of: UnitOffset, address: u64, depth: u32) {
        let Ok(entry) = self.unit.entry(of) else { return };
        if depth > DEEPEST || self.found.len() > MOST {
            return;
        }
        match entry.tag() {
            gimli::DW_TAG_atomic_type => drop(self.found.insert(address)),
            gimli::DW_TAG_typedef | gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => {
                if let Some(inner) = self.type_of(&entry) {
                    self.add(inner, address, depth + 1);
                }
            }
            gimli::DW_TAG_array_type => self.add_elements(&entry, address, depth),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                if self.has_atomic_name(&entry) {
                    self.found.insert(address);
                } else {
                    self.add_members(of, address, depth);
                }
            }
            _ => {}
        }
    }

    fn has_atomic_name(&self, entry: &Entry<'_, 'a>) -> bool {
        let Ok(Some(name)) = entry.attr_value(gimli::DW_AT_name) else { return false };
        let Ok(name) = self.dwarf.attr_string(self.unit, name) else { return false };
        let name = name.to_string_lossy();
        ["atomic<", "atomic_flag", "__atomic_base<", "__atomic_float<"].iter().any(|a| name.starts_with(a))
            || name.strip_prefix("Atomic").is_some_and(|rest| {
                ["Bool", "Ptr<", "I8", "I16", "I32", "I64", "Isize", "U8", "U16", "U32", "U64", "Usize"]
                    .iter()
                    .any(|kind| rest.starts_with(kind))
            })
    }

    fn add_members(&mut self, of: UnitOffset, address: u64, depth: u32) {
        let mut members = Vec::new();
        let Ok(mut tree) = self.unit.entries_tree(Some(of)) else { return };
        let Ok(root) = tree.root() else { return };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            let is_part = matches!(entry.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance);
            let offset = match entry.attr_value(gimli::DW_AT_data_member_location) {
                Ok(Some(value)) => value.udata_value(),
                // The members of a union begin where it does; static ones have no offset.
                Ok(None) if entry.attr_value(gimli::DW_AT_external).ok().flatten().is_none() => Some(0),
                _ => None,
            };
            if let (true, Some(offset), Some(of)) = (is_part, offset, self.type_of(entry)) {
                members.push((of, offset));
            }
        }
        members.into_iter().for_each(|(of, offset)| self.add(of, address.wrapping_add(offset), depth + 1));
    }

    fn add_elements(&mut self, array: &Entry<'_, 'a>, address: u64, depth: u32) {
        let Some(of) = self.type_of(array) else { return };
        let Some(size) = self.size(of, 0).filter(|size| *size > 0) else { return };
        let count = self.count(array.offset()).min(MOST_ELEMENTS);
        let before = self.found.len();
        for n in 0..count {
            self.add(of, address + n * size, depth + 1);
            if self.found.len() == before {
                // Nothing in an element is atomic.
                return;
            }
        }
    }

    fn size(&self, of: UnitOffset, depth: u32) -> Option<u64> {
        let entry = self.unit.entry(of).ok()?;
        if let Ok(Some(size)) = entry.attr_value(gimli::DW_AT_byte_size) {
            return size.udata_value();
        }
        let inner = (depth < DEEPEST).then(|| self.type_of(&entry)).flatten()?;
        let elements = if entry.tag() == gimli::DW_TAG_array_type { self.count(of) } else { 1 };
        Some(self.size(inner, depth + 1)? * elements)
    }

    /// The number of elements of an array, over all its dimensions.
    fn count(&self, array: UnitOffset) -> u64 {
        let Ok(mut tree) = self.unit.entries_tree(Some(array)) else { return 0 };
        let Ok(root) = tree.root() else { return 0 };
        let mut children = root.children();
        let mut count = 1u64;
        while let Ok(Some(child)) = children.next() {
            let number = |name| child.entry().attr_value(name).ok().flatten().and_then(|v| v.udata_value());
            let dimension = number(gimli::DW_AT_count)
                .or_else(|| number(gimli::DW_AT_upper_bound).map(|last| last.wrapping_add(1)));
            count = count.saturating_mul(dimension.unwrap_or(0));
        }
        count
    }
}
