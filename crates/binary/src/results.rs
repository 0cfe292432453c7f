//! The size of a function's result, from the debug information of its own file.
//!
//! Rust returns results that are larger than two registers through a hidden first argument, and its
//! calling convention does not reveal this. Code that reads the arguments of a call has to know it.

use std::collections::{HashMap, HashSet};

use gimli::AttributeValue;

use crate::dwarf::{DebugInfo, DwarfEntry, Unit};
use crate::globals::type_size;
use crate::module::Module;

/// The most types that a type may be named through.
const HOPS: u32 = 8;

impl Module {
    /// The sizes of the results of these functions, by their raw names. Functions without a result,
    /// and unknown functions, are absent.
    pub fn result_sizes(&self, wanted: &HashSet<&str>) -> HashMap<String, u64> {
        let mut sizes = HashMap::new();
        let Some(debug) = self.debug().filter(|_| !wanted.is_empty()) else { return sizes };
        for unit in debug.units() {
            let mut entries = unit.entries();
            while let Ok(Some((_, entry))) = entries.next_dfs() {
                if entry.tag() == gimli::DW_TAG_subprogram
                    && let Some(name) = linkage_name(debug, unit, entry).filter(|name| wanted.contains(name))
                    && let Some(size) = result_size(debug, unit, entry)
                {
                    sizes.insert(name.to_owned(), size);
                }
            }
        }
        sizes
    }
}

/// The name of the entry itself. A definition that refers to its declaration leaves both name and
/// type to the declaration.
fn linkage_name(debug: &DebugInfo, unit: &Unit, entry: &DwarfEntry<'_>) -> Option<&'static str> {
    debug.text(unit, entry.attr_value(gimli::DW_AT_linkage_name).ok()??)
}

fn result_size(debug: &DebugInfo, unit: &Unit, entry: &DwarfEntry<'_>) -> Option<u64> {
    let size = match entry.attr_value(gimli::DW_AT_type).ok()?? {
        AttributeValue::UnitRef(at) => type_size(unit, at, HOPS),
        AttributeValue::DebugInfoRef(offset) => {
            let (unit, at) = debug.locate(offset)?;
            type_size(unit, at, HOPS)
        }
        _ => 0,
    };
    // Zero also means that the size is not known.
    (size > 0).then_some(size)
}
