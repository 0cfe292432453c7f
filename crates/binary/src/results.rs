//! How large a function's result is, by the debug information of its own file.
//!
//! Rust returns what is larger than two registers through a hidden first argument, and its calling convention says nothing
//! else about it: who looks at the arguments of a call has to know.

use std::collections::{HashMap, HashSet};

use gimli::AttributeValue;

use crate::dwarf::{DebugInfo, Entry, Unit};
use crate::globals::type_size;
use crate::module::Module;

/// Types may be named through this many others.
const HOPS: u32 = 8;

impl Module {
    /// The sizes of the results of these functions, given by their raw names. Functions without a result, and those of
    /// which nothing is known, are not in it.
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

/// Of the entry itself: a definition that refers to its declaration leaves both name and type to it.
fn linkage_name(debug: &DebugInfo, unit: &Unit, entry: &Entry<'_>) -> Option<&'static str> {
    debug.text(unit, entry.attr_value(gimli::DW_AT_linkage_name).ok()??)
}

fn result_size(debug: &DebugInfo, unit: &Unit, entry: &Entry<'_>) -> Option<u64> {
    let size = match entry.attr_value(gimli::DW_AT_type).ok()?? {
        AttributeValue::UnitRef(at) => type_size(unit, at, HOPS),
        AttributeValue::DebugInfoRef(offset) => {
            let (unit, at) = debug.locate(offset)?;
            type_size(unit, at, HOPS)
        }
        _ => 0,
    };
    // Zero is also what is not known.
    (size > 0).then_some(size)
}
