//! The functions of a module as ranges of addresses.
//!
//! Symbols give names. `.eh_frame` gives the ranges of functions whose symbols were stripped or
//! never had a size (97 to 99% of the text of large programs lies in ranges known from it). The two
//! parts of a function that the compiler has split (`f` and `f.cold`) are two ranges.

use std::ops::Range;

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection as _};
use object::{Object as _, ObjectSection as _};

use crate::demangle::demangle;
use crate::module::Module;

/// What `.eh_frame` says about one range of code.
pub(crate) type UnwindEntry = gimli::FrameDescriptionEntry<gimli::EndianSlice<'static, LittleEndian>>;

/// A range of code that is one function, or one part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionRange {
    pub range: Range<u64>,
    /// The demangled name, if a symbol has it.
    pub name: Option<String>,
}

impl Module {
    /// All functions in symbols or unwind tables, sorted by address.
    pub fn functions(&self) -> Vec<FunctionRange> {
        let name = |raw: Option<&'static str>| raw.map(demangle);
        self.raw_functions()
            .into_iter()
            .map(|(range, raw)| FunctionRange { range, name: name(raw) })
            .collect()
    }

    /// Like [`Module::functions`], with raw names.
    pub(crate) fn raw_functions(&self) -> Vec<(Range<u64>, Option<&'static str>)> {
        let mut ranges = self.unwind_ranges();
        ranges.sort_by_key(|range| range.start);
        let mut functions = Vec::new();
        for symbol in self.symbols().functions() {
            let at = ranges.partition_point(|range| range.start < symbol.address);
            let unwind = ranges.get(at).filter(|range| range.start == symbol.address);
            let end = match (symbol.size, unwind) {
                (0, Some(range)) => range.end,
                _ => symbol.end(),
            };
            if end > symbol.address && self.is_code(symbol.address) {
                functions.push((symbol.address..end, Some(symbol.name)));
            }
        }
        let named = functions.len();
        for range in ranges {
            let at = functions[..named].partition_point(|(known, _)| known.start <= range.start);
            let covered = at.checked_sub(1).is_some_and(|at| functions[at].0.end > range.start);
            if !covered {
                functions.push((range, None));
            }
        }
        functions.sort_by_key(|(range, _)| range.start);
        functions
    }

    /// The ranges of `.eh_frame`.
    fn unwind_ranges(&self) -> Vec<Range<u64>> {
        let mut ranges = Vec::new();
        self.each_unwind_entry(|fde| {
            let range = fde.initial_address()..fde.initial_address().saturating_add(fde.len());
            if !range.is_empty() && self.is_code(range.start) {
                ranges.push(range);
            }
        });
        ranges
    }

    /// Visits the entries of `.eh_frame`, up to the first damaged one.
    pub(crate) fn each_unwind_entry(&self, mut visit: impl FnMut(&UnwindEntry)) {
        let Some(section) = self.elf.section_by_name(".eh_frame") else { return };
        let address = |name| self.elf.section_by_name(name).map_or(0, |section| section.address());
        let bases = BaseAddresses::default()
            .set_eh_frame(section.address())
            .set_text(address(".text"))
            .set_got(address(".got"));
        let frames = EhFrame::new(self.image.section(&self.elf, ".eh_frame"), LittleEndian);
        let mut entries = frames.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            let Ok(fde) = partial.parse(EhFrame::cie_from_offset) else { continue };
            visit(&fde);
        }
    }
}
