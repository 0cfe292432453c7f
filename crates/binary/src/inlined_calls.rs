//! Calls that a compiler has inlined, from the debug information.
//!
//! Code that watches calls sees none of these. To say how many there are, each place at which a
//! function was inlined is counted once: a compiler that copies a loop's body writes an entry for
//! each copy, with the same place in the source. Rust's own libraries are compiled in advance, with
//! optimisation, so calls between their own functions say nothing about the program.

use std::collections::{HashMap, HashSet};

use gimli::{Reader as _, UnitOffset};

use crate::dwarf::{DebugInfo, DwarfEntry, Unit};
use crate::module::Module;

/// A call in the source for which there is no call in the code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InlinedCall {
    /// The raw name of the inlined function.
    pub callee: String,
    /// The raw name of the function that calls it in the source, which may be inlined itself.
    pub caller: Option<String>,
}

impl Module {
    /// The calls of functions with wanted names that a compiler has inlined. Without debug
    /// information none is known.
    pub fn inlined_calls(&self, wanted: impl Fn(&str) -> bool) -> Vec<InlinedCall> {
        let Some(debug) = self.debug() else { return Vec::new() };
        let mut calls = Vec::new();
        for unit in debug.units().iter().filter(|unit| !is_of_rust_itself(unit)) {
            add_calls(debug, unit, &wanted, &mut calls);
        }
        calls
    }
}

/// Whether it was compiled by those who built Rust.
fn is_of_rust_itself(unit: &Unit) -> bool {
    let folder = unit.comp_dir.as_ref().and_then(|folder| folder.to_slice().ok());
    folder.is_some_and(|folder| folder.starts_with(b"/rustc/") || folder.starts_with(b"/rust/deps/"))
}

/// The place of a call in the source: the function that contains it, file, line and column.
type CallPlace = (UnitOffset, Option<u64>, Option<u64>, Option<u64>);

fn add_calls(debug: &DebugInfo, unit: &Unit, wanted: &impl Fn(&str) -> bool, calls: &mut Vec<InlinedCall>) {
    let mut names: HashMap<UnitOffset, Option<&'static str>> = HashMap::new();
    let mut name = |at: UnitOffset| {
        *names.entry(at).or_insert_with(|| {
            let declaration = debug.declaration(unit, at);
            declaration.linkage_name.or(declaration.name)
        })
    };
    let mut counted: HashSet<(CallPlace, UnitOffset)> = HashSet::new();
    // The functions around the entry that is read, with their depths, innermost last.
    let mut around: Vec<(isize, UnitOffset)> = Vec::new();
    let (mut entries, mut depth) = (unit.entries(), 0);
    while let Ok(Some((step, entry))) = entries.next_dfs() {
        depth += step;
        while around.last().is_some_and(|(at, _)| *at >= depth) {
            around.pop();
        }
        match entry.tag() {
            gimli::DW_TAG_subprogram => around.push((depth, entry.offset())),
            gimli::DW_TAG_inlined_subroutine => {
                let callee = origin(entry).unwrap_or(entry.offset());
                let caller = around.last().map(|(_, at)| *at);
                let is_new = caller.is_none_or(|c| counted.insert((place(c, entry), callee)));
                if let Some(callee) = name(callee).filter(|callee| is_new && wanted(callee)) {
                    let caller = caller.and_then(&mut name).map(str::to_owned);
                    calls.push(InlinedCall { callee: callee.to_owned(), caller });
                }
                around.push((depth, callee));
            }
            _ => {}
        }
    }
}

fn place(caller: UnitOffset, call: &DwarfEntry<'_>) -> CallPlace {
    let number = |name| call.attr_value(name).ok().flatten().and_then(|value| value.udata_value());
    let file = match call.attr_value(gimli::DW_AT_call_file) {
        Ok(Some(gimli::AttributeValue::FileIndex(index))) => Some(index),
        _ => number(gimli::DW_AT_call_file),
    };
    (caller, file, number(gimli::DW_AT_call_line), number(gimli::DW_AT_call_column))
}

/// The function of which this is a copy, if it is described in the same unit.
fn origin(entry: &DwarfEntry<'_>) -> Option<UnitOffset> {
    match entry.attr_value(gimli::DW_AT_abstract_origin).ok()?? {
        gimli::AttributeValue::UnitRef(at) => Some(at),
        _ => None,
    }
}
