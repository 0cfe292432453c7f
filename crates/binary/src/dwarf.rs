//! Debug information: loaded once, read lazily.
//!
//! `addr2line` keeps the index from address to unit and parses a unit's functions and lines when an
//! address first falls into it. Questions in the other direction, from a name to its addresses,
//! walk the entries of all units; [`DebugInfo::units`] parses the headers for them once. Split
//! DWARF (`.dwo`) is not followed: such a unit gives lines but no inline frames.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::{AttributeValue, EndianSlice, LittleEndian, SectionId, UnitOffset, UnitSectionOffset};

use crate::debug_file;
use crate::image::{Elf, Image};

pub(crate) type Reader = EndianSlice<'static, LittleEndian>;
pub(crate) type Unit = gimli::Unit<Reader>;
pub(crate) type DwarfEntry<'a> = gimli::DebuggingInformationEntry<'a, 'a, Reader>;

/// The debug information of one module.
pub(crate) struct DebugInfo {
    pub(crate) dwarf: Arc<gimli::Dwarf<Reader>>,
    pub(crate) context: addr2line::Context<Reader>,
    units: OnceCell<Vec<Unit>>,
    separate: Option<Elf>,
    // This field comes last, because all fields above borrow from it.
    _images: Vec<Image>,
}

/// What the debug information says about a function or variable, gathered along the chain from an
/// instance to its abstract origin to its declaration.
#[derive(Debug, Default, Clone)]
pub(crate) struct Declaration {
    pub(crate) name: Option<&'static str>,
    pub(crate) linkage_name: Option<&'static str>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
}

impl DebugInfo {
    /// Loads debug information from the sections of the module's own file, whose image the module
    /// keeps.
    pub(crate) fn inside(path: &Path, elf: &Elf, image: &Image) -> Option<Self> {
        Self::finish(path, elf, load_sections(elf, image), None, Vec::new())
    }

    /// Loads debug information from a debug file.
    pub(crate) fn beside(path: &Path, image: Image) -> Option<Self> {
        let elf = image.elf(path).ok()?;
        // The file is parsed twice, because one parse is borrowed while the other is kept. Parsing
        // is cheap.
        let kept = image.elf(path).ok();
        let dwarf = load_sections(&elf, &image);
        Self::finish(path, &elf, dwarf, kept, vec![image])
    }

    fn finish(
        path: &Path,
        elf: &Elf,
        mut dwarf: gimli::Dwarf<Reader>,
        separate: Option<Elf>,
        mut images: Vec<Image>,
    ) -> Option<Self> {
        if let Some((path, supplement)) = debug_file::find_supplement(path, elf)
            && let Ok(elf) = supplement.elf(&path)
        {
            dwarf.set_sup(load_sections(&elf, &supplement));
            images.push(supplement);
        }
        let dwarf = Arc::new(dwarf);
        let context = addr2line::Context::from_arc_dwarf(dwarf.clone()).ok()?;
        Some(Self { dwarf, context, units: OnceCell::new(), separate, _images: images })
    }

    /// Whether a function or a line is known for an address.
    pub(crate) fn describes(&self, address: u64) -> bool {
        self.context
            .find_frames(address)
            .skip_all_loads()
            .is_ok_and(|mut frames| frames.next().is_ok_and(|frame| frame.is_some()))
    }

    /// The debug file, if it differs from the module's own file.
    pub(crate) fn separate_file(&self) -> Option<&Elf> {
        self.separate.as_ref()
    }

    /// All units, in file order. Damaged ones are left out.
    pub(crate) fn units(&self) -> &[Unit] {
        self.units.get_or_init(|| {
            let mut units = Vec::new();
            let mut headers = self.dwarf.units();
            while let Ok(Some(header)) = headers.next() {
                units.extend(self.dwarf.unit(header));
            }
            units
        })
    }

    /// What the debug information says about the entry at `offset`.
    pub(crate) fn declaration(&self, unit: &Unit, offset: UnitOffset) -> Declaration {
        let mut found = Declaration::default();
        self.gather(unit, offset, &mut found, 8);
        found
    }

    /// Follows references, nearer facts first. `hops` bounds circular references in damaged files.
    fn gather(&self, unit: &Unit, offset: UnitOffset, found: &mut Declaration, hops: u32) {
        let Ok(entry) = unit.entry(offset) else { return };
        let mut attributes = entry.attrs();
        let (mut next, mut file, mut line) = (None, None, None);
        while let Ok(Some(attribute)) = attributes.next() {
            let value = attribute.value();
            match attribute.name() {
                gimli::DW_AT_name => found.name = found.name.or_else(|| self.text(unit, value)),
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                    found.linkage_name = found.linkage_name.or_else(|| self.text(unit, value));
                }
                gimli::DW_AT_decl_file => file = file_index(value),
                gimli::DW_AT_decl_line => line = value.udata_value(),
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => next = Some(value),
                _ => {}
            }
        }
        if found.line.is_none() {
            found.line = line.and_then(|line| u32::try_from(line).ok());
        }
        if found.file.is_none() {
            found.file = file.and_then(|index| self.file_name(unit, index));
        }
        if hops == 0 {
            return;
        }
        match next {
            Some(AttributeValue::UnitRef(offset)) => self.gather(unit, offset, found, hops - 1),
            Some(AttributeValue::DebugInfoRef(offset)) => {
                if let Some((unit, offset)) = self.locate(offset) {
                    self.gather(unit, offset, found, hops - 1);
                }
            }
            _ => {}
        }
    }

    /// The unit that holds a place in `.debug_info`.
    pub(crate) fn locate(&self, offset: gimli::DebugInfoOffset) -> Option<(&Unit, UnitOffset)> {
        let start = |unit: &Unit| match unit.header.offset() {
            UnitSectionOffset::DebugInfoOffset(offset) => offset.0,
            UnitSectionOffset::DebugTypesOffset(offset) => offset.0,
        };
        let units = self.units();
        let after = units.partition_point(|unit| start(unit) <= offset.0);
        let unit = &units[after.checked_sub(1)?];
        Some((unit, offset.to_unit_offset(&unit.header)?))
    }

    pub(crate) fn text(&self, unit: &Unit, value: AttributeValue<Reader>) -> Option<&'static str> {
        std::str::from_utf8(self.dwarf.attr_string(unit, value).ok()?.slice()).ok()
    }

    /// The folders of the files that the units were compiled from, as given to the compiler.
    /// `#line` does not change them.
    pub(crate) fn source_folders(&self) -> BTreeSet<PathBuf> {
        let text = |value: &Option<Reader>| value.and_then(|v| std::str::from_utf8(v.slice()).ok());
        let folder = |unit: &Unit| {
            let path = Path::new(text(&unit.comp_dir)?).join(text(&unit.name)?);
            Path::new(&tidy_path(path.to_str()?)).parent().map(Path::to_path_buf)
        };
        self.units().iter().filter_map(folder).collect()
    }

    /// The path of a file in a unit's table, made absolute by its folders.
    pub(crate) fn file_name(&self, unit: &Unit, index: u64) -> Option<String> {
        let header = unit.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let name = self.text(unit, file.path_name())?;
        let folder = file.directory(header).and_then(|folder| self.text(unit, folder)).unwrap_or("");
        let root = unit.comp_dir.and_then(|root| std::str::from_utf8(root.slice()).ok()).unwrap_or("");
        Some(tidy_path(&Path::new(root).join(folder).join(name).to_string_lossy()))
    }
}

fn load_sections(elf: &Elf, image: &Image) -> gimli::Dwarf<Reader> {
    let load = |id: SectionId| {
        Ok::<_, std::convert::Infallible>(Reader::new(image.section(elf, id.name()), LittleEndian))
    };
    match gimli::Dwarf::load(load) {
        Ok(dwarf) => dwarf,
        Err(never) => match never {},
    }
}

fn file_index(value: AttributeValue<Reader>) -> Option<u64> {
    match value {
        AttributeValue::FileIndex(index) => Some(index),
        other => other.udata_value(),
    }
}

/// Removes `.` steps, and `..` steps with the folder before them, as the compiler was given them.
pub(crate) fn tidy_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            "" if !parts.is_empty() => {}
            other => parts.push(other),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::tidy_path;

    #[test]
    fn paths_are_tidied_without_touching_the_disk() {
        assert_eq!(tidy_path("/src/./a/../b.c"), "/src/b.c");
        assert_eq!(tidy_path("../x/b.c"), "../x/b.c");
        assert_eq!(tidy_path("/a//b.c"), "/a/b.c");
        assert_eq!(tidy_path("/../b.c"), "/../b.c");
        assert_eq!(tidy_path("b.c"), "b.c");
    }
}
