//! The code that a user wants to ignore, as ranges of addresses.
//!
//! A pattern is a name with `*` for any run of characters. A function matches by its demangled
//! name, with and without parameter types, and by its mangled name. A file matches by its whole
//! path or any trailing part that begins at a folder (`vendor/*.c`). A module matches by its path
//! in the same way. Debug information reveals code that was inlined from a matching function or
//! file: through the inlined function's ranges and, for files, also through the line table, which
//! serves units that only have lines.

use std::ops::Range;
use std::path::Path;

use crate::demangle::{demangle, demangle_without_parameters};
use crate::dwarf::{DebugInfo, Unit};
use crate::module::Module;

/// What to match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patterns {
    pub functions: Vec<String>,
    pub files: Vec<String>,
    pub modules: Vec<String>,
}

impl Patterns {
    /// Whether the patterns match the whole module at `path`.
    pub fn matches_module(&self, path: &Path) -> bool {
        self.modules.iter().any(|pattern| matches_path(pattern, &path.to_string_lossy()))
    }

    /// Whether the patterns match a source file.
    pub fn matches_file(&self, path: &str) -> bool {
        self.files.iter().any(|pattern| matches_path(pattern, path))
    }

    /// Whether the patterns match a function, by its name in the symbol table or the debug
    /// information.
    pub fn matches_function(&self, raw: &str) -> bool {
        if self.functions.is_empty() {
            return false;
        }
        let spellings = [demangle(raw), demangle_without_parameters(raw), raw.to_string()];
        self.functions.iter().any(|pattern| spellings.iter().any(|name| matches_glob(pattern, name)))
    }
}

/// Whether `pattern` matches the whole of `text`. `*` stands for any run of characters.
pub fn matches_glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn matches_path(pattern: &str, path: &str) -> bool {
    let tails = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    std::iter::once(path).chain(tails).any(|tail| matches_glob(pattern, tail))
}

impl Module {
    /// The virtual addresses of all code that the patterns match, sorted and merged.
    pub fn match_ranges(&self, patterns: &Patterns) -> Vec<Range<u64>> {
        if patterns.matches_module(self.path()) {
            return merged(self.executable_ranges());
        }
        let mut ranges = Vec::new();
        if !patterns.functions.is_empty() {
            let functions = self.raw_functions().into_iter();
            ranges.extend(
                functions
                    .filter(|(_, name)| name.is_some_and(|name| patterns.matches_function(name)))
                    .map(|(range, _)| range),
            );
        }
        if let Some(debug) =
            self.debug().filter(|_| !(patterns.functions.is_empty() && patterns.files.is_empty()))
        {
            for unit in debug.units() {
                add_functions(debug, unit, patterns, &mut ranges);
                if !patterns.files.is_empty() {
                    add_lines(debug, unit, patterns, &mut ranges);
                }
            }
        }
        // Code that the linker has discarded keeps its debug information, at address zero.
        ranges.retain(|range| self.is_code(range.start));
        merged(ranges)
    }
}

/// Adds the ranges of real and inlined functions of a unit that match by name or file.
fn add_functions(debug: &DebugInfo, unit: &Unit, patterns: &Patterns, ranges: &mut Vec<Range<u64>>) {
    let mut entries = unit.entries();
    while let Ok(Some((_, entry))) = entries.next_dfs() {
        if !matches!(entry.tag(), gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine) {
            continue;
        }
        let Ok(mut places) = debug.dwarf.die_ranges(unit, entry) else { continue };
        let mut own = Vec::new();
        while let Ok(Some(place)) = places.next() {
            own.push(place.begin..place.end);
        }
        if own.is_empty() {
            continue;
        }
        let declaration = debug.declaration(unit, entry.offset());
        let name = declaration.linkage_name.or(declaration.name);
        if name.is_some_and(|name| patterns.matches_function(name))
            || declaration.file.is_some_and(|file| patterns.matches_file(&file))
        {
            ranges.append(&mut own);
        }
    }
}

/// Adds the code that a unit's line table attributes to matching files.
fn add_lines(debug: &DebugInfo, unit: &Unit, patterns: &Patterns, ranges: &mut Vec<Range<u64>>) {
    let Some(program) = unit.line_program.clone() else { return };
    let files = program.header().file_names().len() as u64 + 1;
    let wanted: Vec<bool> = (0..files)
        .map(|index| debug.file_name(unit, index).is_some_and(|file| patterns.matches_file(&file)))
        .collect();
    if !wanted.contains(&true) {
        return;
    }
    let mut rows = program.rows();
    let mut open: Option<u64> = None;
    while let Ok(Some((_, row))) = rows.next_row() {
        let matches = wanted.get(row.file_index() as usize).copied().unwrap_or(false) && !row.end_sequence();
        match (open, matches) {
            (None, true) => open = Some(row.address()),
            (Some(start), false) => {
                ranges.push(start..row.address());
                open = None;
            }
            _ => {}
        }
    }
}

/// Sorts ranges and joins those that touch.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything_and_the_rest_is_exact() {
        assert!(matches_glob("worker", "worker"));
        assert!(!matches_glob("worker", "worker2"));
        assert!(matches_glob("std::*::lock*", "std::sync::Mutex::lock(int)"));
        assert!(matches_glob("*", ""));
        assert!(!matches_glob("a*a", "a"), "the two ends may not share a character");
        assert!(matches_glob("a*b*c", "a-b-b-c"));
        assert!(!matches_glob("", "x"));
    }

    #[test]
    fn paths_match_from_any_folder_on() {
        let patterns = Patterns { files: vec!["vendor/*.c".into()], ..Patterns::default() };
        assert!(patterns.matches_file("/src/vendor/zip.c"));
        assert!(!patterns.matches_file("/src/myvendor/zip.c"));
        let modules = Patterns { modules: vec!["libfoo.so*".into()], ..Patterns::default() };
        assert!(modules.matches_module(Path::new("/usr/lib/libfoo.so.1")));
    }

    #[test]
    fn functions_match_in_three_spellings() {
        for pattern in ["bank::deposit", "bank::deposit(int)", "_ZN4bank7depositEi", "*deposit*"] {
            let patterns = Patterns { functions: vec![pattern.into()], ..Patterns::default() };
            assert!(patterns.matches_function("_ZN4bank7depositEi"), "{pattern}");
            assert!(!patterns.matches_function("_ZN4bank8withdrawEi"), "{pattern}");
        }
    }

    #[test]
    fn ranges_that_touch_become_one() {
        assert_eq!(merged(vec![8..9, 0..4, 4..6, 5..5, 1..2]), vec![0..6, 8..9]);
    }
}
