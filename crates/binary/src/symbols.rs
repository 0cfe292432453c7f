//! The symbol tables of a module, static, dynamic and those of its debug file, as one index.

use object::{Object as _, ObjectSymbol as _, SymbolKind};

use crate::image::Elf;

/// A named place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) address: u64,
    /// Zero if the table does not say, as for hand-written assembly.
    pub(crate) size: u64,
    pub(crate) name: &'static str,
}

impl Symbol {
    pub(crate) fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }
}

/// Symbols by address. Thread-local symbols are separate, because their addresses are offsets into
/// the module's block of thread-local storage.
#[derive(Default)]
pub(crate) struct SymbolIndex {
    functions: Vec<Symbol>,
    data: Vec<Symbol>,
    thread_local: Vec<Symbol>,
}

impl SymbolIndex {
    pub(crate) fn new<'a>(files: impl Iterator<Item = &'a Elf>) -> Self {
        let mut index = Self::default();
        for elf in files {
            // The static table comes first, because the first of two names for one place stays.
            for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
                if symbol.is_undefined() {
                    continue;
                }
                let Ok(name) = symbol.name() else { continue };
                let list = match symbol.kind() {
                    SymbolKind::Text => &mut index.functions,
                    SymbolKind::Data => &mut index.data,
                    SymbolKind::Tls => &mut index.thread_local,
                    _ => continue,
                };
                if !name.is_empty() {
                    list.push(Symbol { address: symbol.address(), size: symbol.size(), name });
                }
            }
        }
        for list in [&mut index.functions, &mut index.data, &mut index.thread_local] {
            // A stable sort with the sized symbols first, so that a sized name wins over a bare
            // label.
            list.sort_by_key(|s| (s.address, s.size == 0));
            list.dedup_by_key(|s| s.address);
        }
        index
    }

    pub(crate) fn functions(&self) -> &[Symbol] {
        &self.functions
    }

    pub(crate) fn function_at(&self, address: u64) -> Option<Symbol> {
        enclosing(&self.functions, address, true)
    }

    pub(crate) fn data_at(&self, address: u64) -> Option<Symbol> {
        enclosing(&self.data, address, false)
    }

    pub(crate) fn thread_local_at(&self, offset: u64) -> Option<Symbol> {
        enclosing(&self.thread_local, offset, false)
    }
}

/// The symbol whose range contains an address. A symbol without a size reaches to the next symbol
/// if it is code, and names only its own address if it is data.
fn enclosing(sorted: &[Symbol], address: u64, unsized_reaches: bool) -> Option<Symbol> {
    let after = sorted.partition_point(|s| s.address <= address);
    // An array may contain smaller aliases, so look back over a few enclosed symbols.
    sorted[..after].iter().rev().take(8).copied().find(|s| match s.size {
        0 => s.address == address || (unsized_reaches && sorted[after - 1] == *s),
        _ => address < s.end(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [Symbol; 4] = [
        Symbol { address: 0x100, size: 0x40, name: "array" },
        Symbol { address: 0x110, size: 4, name: "alias" },
        Symbol { address: 0x200, size: 0, name: "label" },
        Symbol { address: 0x300, size: 8, name: "last" },
    ];

    fn name(address: u64, code: bool) -> Option<&'static str> {
        enclosing(&TABLE, address, code).map(|s| s.name)
    }

    #[test]
    fn the_innermost_symbol_wins_and_the_outer_one_serves_the_rest() {
        assert_eq!(name(0x112, false), Some("alias"));
        assert_eq!(name(0x120, false), Some("array"));
        assert_eq!(name(0x140, false), None);
        assert_eq!(name(0xff, false), None);
    }

    #[test]
    fn labels_reach_to_the_next_symbol_in_code_only() {
        assert_eq!(name(0x210, true), Some("label"));
        assert_eq!(name(0x210, false), None);
        assert_eq!(name(0x200, false), Some("label"));
        assert_eq!(name(0x308, true), None);
    }
}
