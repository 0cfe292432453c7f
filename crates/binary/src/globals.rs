//! From an address in static memory to the variable that lies there.
//!
//! Symbol tables give names and sizes of all objects except the compiler's private ones. Debug
//! information adds the place of the declaration, and the function that a static local belongs to:
//! C calls it `counter.0` in the symbol table, but a reader knows it as `f::counter`. The index of
//! variables is built by one walk over all entries, at the first question.

use gimli::{AttributeValue, Operation, UnitOffset};

use crate::demangle::{demangle, demangle_without_parameters};
use crate::dwarf::{DebugInfo, DwarfEntry, Reader, Unit};
use crate::module::Module;
use crate::symbols::Symbol;

/// A variable in static memory, seen from an address inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSymbol {
    /// The demangled name, qualified: `bank::total`, `f::counter`.
    pub name: String,
    /// How far into the variable the address lies.
    pub offset: u64,
    /// The variable's size, or zero if it is not known.
    pub size: u64,
    /// Where it is declared.
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl Module {
    /// The global, static or static local variable at a virtual address, `.bss` included.
    pub fn data_symbol(&self, address: u64) -> Option<DataSymbol> {
        describe(address, self.symbols().data_at(address), &self.variables().fixed)
    }

    /// The thread-local variable at an offset into this module's block of thread-local storage.
    pub fn thread_local_symbol(&self, offset: u64) -> Option<DataSymbol> {
        describe(offset, self.symbols().thread_local_at(offset), &self.variables().thread_local)
    }
}

fn describe(address: u64, symbol: Option<Symbol>, variables: &[Variable]) -> Option<DataSymbol> {
    let after = variables.partition_point(|v| v.address <= address);
    let variable = variables[..after].last().filter(|variable| {
        // If debug information gives no size, a symbol at the same place does.
        let same = symbol.is_some_and(|symbol| symbol.address == variable.address);
        same || address == variable.address || address - variable.address < variable.size
    });
    match (variable, symbol) {
        (Some(variable), symbol) => {
            let measured = symbol.filter(|symbol| symbol.address == variable.address);
            Some(DataSymbol {
                name: variable.name.clone(),
                offset: address - variable.address,
                size: measured.map_or(variable.size, |symbol| symbol.size.max(variable.size)),
                file: variable.file.clone(),
                line: variable.line,
            })
        }
        (None, Some(symbol)) => Some(DataSymbol {
            name: without_number(&demangle(symbol.name)).to_string(),
            offset: address - symbol.address,
            size: symbol.size,
            file: None,
            line: None,
        }),
        (None, None) => None,
    }
}

/// `counter.0` is how gcc calls the static local `counter`.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((base, number)) if !base.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    }
}

/// A variable as the debug information knows it.
#[derive(Debug, Clone)]
struct Variable {
    address: u64,
    size: u64,
    name: String,
    file: Option<String>,
    line: Option<u32>,
}

/// All variables with a fixed place, sorted by it.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    fixed: Vec<Variable>,
    thread_local: Vec<Variable>,
}

enum VariableAddress {
    Fixed(u64),
    ThreadLocal(u64),
}

impl Variables {
    pub(crate) fn of(debug: &DebugInfo) -> Self {
        let mut variables = Self::default();
        for unit in debug.units() {
            variables.add_unit(debug, unit);
        }
        for list in [&mut variables.fixed, &mut variables.thread_local] {
            list.sort_by_key(|v| (v.address, v.size == 0));
            list.dedup_by_key(|v| v.address);
        }
        variables
    }

    fn add_unit(&mut self, debug: &DebugInfo, unit: &Unit) {
        let mut entries = unit.entries();
        let mut scopes: Vec<Scope> = Vec::new();
        let mut depth = 0;
        while let Ok(Some((step, entry))) = entries.next_dfs() {
            depth += step;
            scopes.retain(|scope| scope.depth < depth);
            match entry.tag() {
                gimli::DW_TAG_variable => {
                    if let Some(place) = place(debug, unit, entry) {
                        self.add(debug, unit, entry, &scopes, place);
                    }
                }
                gimli::DW_TAG_namespace
                | gimli::DW_TAG_subprogram
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_structure_type => {
                    scopes.extend(Scope::of(debug, unit, entry.offset(), depth))
                }
                _ => {}
            }
        }
    }

    fn add(
        &mut self,
        debug: &DebugInfo,
        unit: &Unit,
        entry: &DwarfEntry<'_>,
        scopes: &[Scope],
        place: VariableAddress,
    ) {
        let declaration = debug.declaration(unit, entry.offset());
        let name = match (declaration.linkage_name, declaration.name) {
            (Some(linkage), _) => demangle(linkage),
            (None, Some(name)) => {
                let from = scopes.iter().rposition(|scope| scope.whole_path).unwrap_or(0);
                let path = scopes[from..].iter().map(|scope| scope.name.as_str()).chain([name]);
                path.collect::<Vec<_>>().join("::")
            }
            (None, None) => return,
        };
        let size = variable_type(unit, entry).map_or(0, |at| type_size(unit, at, 16));
        let (list, address) = match place {
            VariableAddress::Fixed(address) => (&mut self.fixed, address),
            VariableAddress::ThreadLocal(offset) => (&mut self.thread_local, offset),
        };
        list.push(Variable { address, size, name, file: declaration.file, line: declaration.line });
    }
}

/// An enclosing entry that is part of the present entry's name.
struct Scope {
    depth: isize,
    name: String,
    /// A function's linkage name has its whole path, so the enclosing entries add nothing.
    whole_path: bool,
}

impl Scope {
    fn of(debug: &DebugInfo, unit: &Unit, offset: UnitOffset, depth: isize) -> Option<Self> {
        let declaration = debug.declaration(unit, offset);
        match declaration.linkage_name {
            Some(linkage) => {
                Some(Self { depth, name: demangle_without_parameters(linkage), whole_path: true })
            }
            None => declaration.name.map(|name| Self { depth, name: name.to_string(), whole_path: false }),
        }
    }
}

/// The place of a variable, if it is the same for the whole run.
fn place(debug: &DebugInfo, unit: &Unit, entry: &DwarfEntry<'_>) -> Option<VariableAddress> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location).ok()?? else {
        return None;
    };
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next().ok()??;
    let second = operations.next().ok()?;
    let value = match first {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } | Operation::ConstantIndex { index } => {
            debug.dwarf.address(unit, index).ok()?
        }
        Operation::UnsignedConstant { value } => value,
        _ => return None,
    };
    match (first, second) {
        (_, Some(Operation::TLS)) => Some(VariableAddress::ThreadLocal(value)),
        // Linkers write address zero for a variable that they have discarded.
        (Operation::Address { .. } | Operation::AddressIndex { .. }, None) if value != 0 => {
            Some(VariableAddress::Fixed(value))
        }
        _ => None,
    }
}

/// The type of a variable, which may be in its declaration instead. Types in other units are not
/// looked up; the symbol table has the sizes of those variables.
fn variable_type(unit: &Unit, entry: &DwarfEntry<'_>) -> Option<UnitOffset> {
    if let Some(at) = reference(entry, gimli::DW_AT_type) {
        return Some(at);
    }
    let origin = reference(entry, gimli::DW_AT_specification)
        .or_else(|| reference(entry, gimli::DW_AT_abstract_origin))?;
    reference(&unit.entry(origin).ok()?, gimli::DW_AT_type)
}

fn reference(
    entry: &gimli::DebuggingInformationEntry<'_, '_, Reader>,
    name: gimli::DwAt,
) -> Option<UnitOffset> {
    match entry.attr_value(name).ok()?? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

/// The size of a type, or zero if it is not known. `hops` bounds circular types in damaged files.
pub(crate) fn type_size(unit: &Unit, at: UnitOffset, hops: u32) -> u64 {
    let Ok(entry) = unit.entry(at) else { return 0 };
    let own = entry.attr_value(gimli::DW_AT_byte_size).ok().flatten().and_then(|v| v.udata_value());
    if let Some(size) = own {
        return size;
    }
    let Some(inner) = reference(&entry, gimli::DW_AT_type).filter(|_| hops > 0) else { return 0 };
    let inner = type_size(unit, inner, hops - 1);
    match entry.tag() {
        gimli::DW_TAG_array_type => inner.saturating_mul(array_length(unit, at).unwrap_or(0)),
        _ => inner,
    }
}

/// The number of elements over all dimensions.
fn array_length(unit: &Unit, at: UnitOffset) -> Option<u64> {
    let mut tree = unit.entries_tree(Some(at)).ok()?;
    let mut dimensions = tree.root().ok()?.children();
    let mut length = 1u64;
    while let Some(dimension) = dimensions.next().ok()? {
        let entry = dimension.entry();
        let number = |name| entry.attr_value(name).ok().flatten().and_then(|v| v.udata_value());
        let count = number(gimli::DW_AT_count)
            .or_else(|| number(gimli::DW_AT_upper_bound).map(|last| last.wrapping_add(1)))?;
        length = length.saturating_mul(count);
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(address: u64, size: u64, name: &str) -> Variable {
        Variable { address, size, name: name.into(), file: Some("a.c".into()), line: Some(3) }
    }

    #[test]
    fn debug_information_names_and_symbols_measure() {
        let symbol = Symbol { address: 0x100, size: 16, name: "counter.0" };
        let found = describe(0x108, Some(symbol), &[variable(0x100, 0, "f::counter")]).unwrap();
        assert_eq!((found.name.as_str(), found.offset, found.size), ("f::counter", 8, 16));
        assert_eq!(found.line, Some(3));
        let bare = describe(0x108, Some(symbol), &[]).unwrap();
        assert_eq!((bare.name.as_str(), bare.offset, bare.line), ("counter", 8, None));
    }

    #[test]
    fn a_neighbour_is_not_taken_for_the_variable() {
        let variables = [variable(0x100, 4, "a")];
        assert_eq!(describe(0x104, None, &variables), None);
        let symbol = Symbol { address: 0x104, size: 4, name: "b" };
        assert_eq!(describe(0x106, Some(symbol), &variables).unwrap().name, "b");
    }

    #[test]
    fn only_numbers_are_cut_from_names() {
        assert_eq!(without_number("counter.12"), "counter");
        assert_eq!(without_number("v1.x"), "v1.x");
        assert_eq!(without_number(".0"), ".0");
    }
}
